"""Calls put in place: a kernel and its functions as one program without calls, each call with a copy of its own.

Control is followed instruction by instruction, once for every chain of calls that leads to an instruction. Along the
way go the values that began as the program counter: through additions, moves, and lanes of vector registers, where
return addresses are kept. They tell where each ``s_swappc`` and ``s_setpc`` goes: into a function, back, or (a tail
call) on to another function in place of the current one. Where such a value is used for anything else, or a target
is not known, the kernel is refused: the code does not stay where it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loom.diagnostics import LoomError, error
from loom.raising.lift.calls import CALL, DIRECT_CALL, INLINE_HINT, PROGRAM_COUNTER, RETURN, CodeRegion
from loom.target.amdgpu.access import AGPR, SGPR, reads_and_writes, state_units
from loom.target.amdgpu.decoder import decoder
from loom.target.amdgpu.machine import (
    BranchTarget,
    Inline,
    Literal,
    MachineBlock,
    MachineInstruction,
    MachineProgram,
    Operand,
    Register,
)
from loom.target.amdgpu.tables import find_row

DEEPEST = 24
"""Calls within calls before recursion is assumed."""
LARGEST = 100_000
"""Instructions that the copies may come to."""

_ADD = frozenset(("s_add_u32", "s_add_co_u32"))
_ADD_WITH_CARRY = frozenset(("s_addc_u32", "s_add_co_ci_u32"))
_MOVE = frozenset(("s_mov_b32", "s_mov_b64"))
_SIGN_EXTEND = "s_sext_i32_i16"
_WRITE_LANE, _READ_LANE = "v_writelane_b32", "v_readlane_b32"
_SCC = state_units(("scc",))[0]
_WORD = 0xFFFFFFFF

Context = tuple[int, ...]
"""Return addresses of the calls that are under way, the outermost first."""
Node = tuple[int, Context]
Place = int | tuple[int, int]
"""A register unit, or a vector register's lane."""
Facts = dict[Place, int | None]
"""32-bit parts of code addresses by place; ``None``: one of several."""


@dataclass(slots=True)
class _Step:
    """Where control goes from an instruction: by a jump, and to the next instruction."""

    instruction: MachineInstruction
    jump: Node | None = None
    following: Node | None = None


def _lane(instruction: MachineInstruction) -> int | None:
    operand = instruction.operand("src1")
    return operand.value if isinstance(operand, Inline) and isinstance(operand.value, int) else None


def _merge(known: Facts, other: Facts) -> bool:
    """Make ``known`` hold on both ways; whether it changed."""
    changed = False
    for place in {*known, *other}:
        if place in known and place in other and known[place] == other[place]:
            continue
        if place not in known or known[place] is not None:
            known[place] = None
            changed = True
    return changed


@dataclass(slots=True)
class _Inliner:
    text: bytes
    offset: int
    processor: str
    wave_size: int
    kernel: str
    generation: str
    entry: dict[Node, Facts] = field(default_factory=dict)
    steps: dict[Node, _Step] = field(default_factory=dict)

    # Following control

    def follow(self) -> None:
        decode = decoder(self.processor, self.wave_size).decode
        start: Node = (self.offset, ())
        self.entry[start] = {}
        pending = [start]
        while pending:
            node = pending.pop()
            at, context = node
            instruction = decode(self.text, at)
            facts = dict(self.entry[node])
            step = self._step(instruction, at, context, facts)
            self.steps[node] = step
            if len(self.steps) > LARGEST:
                raise self._refusal(instruction, at, f"its copies come to more than {LARGEST} instructions")
            for successor in (step.jump, step.following):
                if successor is None:
                    continue
                known = self.entry.get(successor)
                if known is None:
                    self.entry[successor] = dict(facts)
                    pending.append(successor)
                elif _merge(known, facts):
                    pending.append(successor)

    def _step(self, instruction: MachineInstruction, at: int, context: Context, facts: Facts) -> _Step:
        mnemonic = instruction.row.mnemonic
        following = at + instruction.size
        branch = next((o for o in instruction.operands if isinstance(o, BranchTarget)), None)
        if mnemonic in (CALL, RETURN, DIRECT_CALL):
            target = self._address(instruction.operands[-1], facts) if branch is None else following + branch.offset
            if target is None or not 0 <= target < len(self.text):
                what = "where it goes is not known" if mnemonic == RETURN else "the target of the call is not known"
                raise self._refusal(instruction, at, what)
            if mnemonic != RETURN:
                if len(context) >= DEEPEST:
                    raise self._refusal(instruction, at, f"calls nest more than {DEEPEST} deep")
                link = instruction.operands[0]
                assert isinstance(link, Register)
                self._write_pair(link, following, facts)
                return _Step(instruction, (target, (*context, following)))
            back = bool(context) and target == context[-1]
            return _Step(instruction, (target, context[:-1] if back else context))
        self._transfer(instruction, at, facts)
        jump = None if branch is None else (following + branch.offset, context)
        ends = mnemonic.startswith("s_endpgm") or mnemonic == "s_branch"
        return _Step(instruction, jump, None if ends else (following, context))

    # Code addresses

    @staticmethod
    def _address(operand: Operand, facts: Facts) -> int | None:
        if not isinstance(operand, Register) or operand.bank != "sgpr":
            return None
        low, high = (facts.get(SGPR + operand.index + unit) for unit in (0, 1))
        if low is None or high is None:
            return None
        value = high << 32 | low
        return value - (1 << 64) if value >> 63 else value

    @staticmethod
    def _write_pair(register: Register, value: int, facts: Facts) -> None:
        facts[SGPR + register.index] = value & _WORD
        facts[SGPR + register.index + 1] = value >> 32 & _WORD

    def _transfer(self, instruction: MachineInstruction, at: int, facts: Facts) -> None:
        """Change ``facts`` as the instruction does."""
        mnemonic = instruction.row.mnemonic
        reads, writes = reads_and_writes(instruction)
        known = [unit for unit in reads if unit in facts]
        made: Facts = {}
        if mnemonic == PROGRAM_COUNTER:
            target = instruction.operands[0]
            assert isinstance(target, Register)
            self._write_pair(target, at + instruction.size, made)
        elif mnemonic == _WRITE_LANE:
            lane, vector = _lane(instruction), writes[0]
            source = instruction.operand("src0")
            if lane is not None:
                facts.pop((vector, lane), None)
                if known and isinstance(source, Register):
                    facts[vector, lane] = facts[known[0]]
                return
        elif mnemonic == _READ_LANE:
            lane, vector = _lane(instruction), next(unit for unit in reads if unit < AGPR)
            if lane is not None and (vector, lane) in facts:
                made[writes[0]] = facts[vector, lane]
        elif known:
            made = self._arithmetic(instruction, at, writes, facts)
        for unit in writes:
            facts.pop(unit, None)
            if unit < AGPR:
                for place in [p for p in facts if isinstance(p, tuple) and p[0] == unit]:
                    del facts[place]
        facts.update(made)

    def _arithmetic(self, instruction: MachineInstruction, at: int, writes: list[int], facts: Facts) -> Facts:
        """What an instruction that reads parts of code addresses makes of them."""
        mnemonic = instruction.row.mnemonic
        operands = instruction.operands
        values = [self._value(operand, facts) for operand in operands[1:]]
        if mnemonic in _MOVE and isinstance(operands[1], Register):
            return {
                w: facts[SGPR + operands[1].index + n]
                for n, w in enumerate(writes)
                if SGPR + operands[1].index + n in facts
            }
        if mnemonic == _SIGN_EXTEND:
            value = values[0]
            return {writes[0]: None if value is None else (value & 0xFFFF) - ((value & 0x8000) << 1) & _WORD}
        if mnemonic in _ADD or mnemonic in _ADD_WITH_CARRY:
            carry = facts.get(_SCC) if mnemonic in _ADD_WITH_CARRY else 0
            if None in values or carry is None:
                return dict.fromkeys(writes)
            total = sum(value for value in values if value is not None) + carry
            return {w: total >> 32 if w == _SCC else total & _WORD for w in writes}
        raise self._refusal(
            instruction, at, "it uses an address computed from the program counter, which changes as code moves"
        )

    @staticmethod
    def _value(operand: Operand, facts: Facts) -> int | None:
        if isinstance(operand, Literal):
            return operand.bits
        if isinstance(operand, Inline):
            return operand.bits("u32")
        if isinstance(operand, Register) and operand.bank == "sgpr":
            return facts.get(SGPR + operand.index)
        return None

    def _refusal(self, instruction: MachineInstruction, at: int, what: str) -> LoomError:
        return error(
            f"kernel '{self.kernel}' cannot be relaxed: {instruction.row.mnemonic} at pc {at - self.offset:#x}: {what}",
            "LIFT/011",
            hint=INLINE_HINT,
        )

    # The program

    def program(self) -> MachineProgram:
        order: list[Node] = []
        placed: set[Node] = set()
        starts: list[Node] = [(self.offset, ())]
        leaders: set[Node] = {(self.offset, ())}
        while starts:
            node: Node | None = starts.pop()
            if node in placed:
                continue
            assert node is not None
            leaders.add(node)
            while node is not None and node not in placed:
                placed.add(node)
                order.append(node)
                step = self.steps[node]
                if step.jump is not None:
                    starts.append(step.jump)
                    leaders.add(step.jump)
                node = step.following
            if node is not None:
                leaders.add(node)
        labels = {node: f"b{number}" for number, node in enumerate(n for n in order if n in leaders)}
        program = MachineProgram(self.kernel, self.processor, self.wave_size, [])
        for position, node in enumerate(order):
            if node in leaders:
                program.blocks.append(MachineBlock(labels[node]))
            step = self.steps[node]
            body = program.blocks[-1].instructions
            after = order[position + 1] if position + 1 < len(order) else None
            body.extend(self._placed(step, None if step.jump is None else labels[step.jump]))
            if step.following is not None and step.following != after:
                body.append(self._make("s_branch", step.instruction, BranchTarget(labels[step.following])))
        return program

    def _placed(self, step: _Step, label: str | None) -> list[MachineInstruction]:
        instruction = step.instruction
        mnemonic = instruction.row.mnemonic
        if mnemonic == PROGRAM_COUNTER:
            return [self._zero(instruction)]
        if mnemonic in (CALL, RETURN, DIRECT_CALL):
            assert label is not None
            jump = self._make("s_branch", instruction, BranchTarget(label))
            return [jump] if mnemonic == RETURN else [self._zero(instruction), jump]
        instruction.pc -= self.offset
        if label is not None:
            instruction.operands = tuple(
                BranchTarget(label) if isinstance(o, BranchTarget) else o for o in instruction.operands
            )
        return [instruction]

    def _zero(self, instruction: MachineInstruction) -> MachineInstruction:
        """Nothing looks at the address any more."""
        zero = Inline.integer(0)
        assert zero is not None
        return self._make("s_mov_b64", instruction, instruction.operands[0], zero)

    def _make(self, mnemonic: str, at: MachineInstruction, *operands: Operand) -> MachineInstruction:
        row = find_row(self.generation, mnemonic)
        assert row is not None
        return MachineInstruction(row, row.encodings[0].form, operands, pc=at.pc - self.offset)


def inline_calls(
    text: bytes, offset: int, processor: str, generation: str, wave_size: int, kernel: str
) -> MachineProgram:
    """The kernel at ``offset`` of ``text`` with every function that it calls in the place of the call.

    Raises:
        LoomError: ``LIFT/011`` for a call or jump whose target is not known, calls without an end, and code addresses
            that are used otherwise, with instruction and pc (from the start of the kernel).
    """
    inliner = _Inliner(text, offset, processor, wave_size, kernel, generation)
    inliner.follow()
    return inliner.program()


def check_calls(region: CodeRegion, text: bytes, offset: int, processor: str, wave_size: int, kernel: str) -> None:
    """Hold the jumps of a region, which follow from how calls look, against where they lead.

    Raises:
        LoomError: ``LIFT/002`` where a jump leads elsewhere: a tail call, which looks like a return.
    """
    inliner = _Inliner(text, offset, processor, wave_size, kernel, "")
    try:
        inliner.follow()
    except LoomError:
        return  # an address goes ways that are not followed here: the region stands as it is
    for (at, _), step in inliner.steps.items():
        if step.instruction.row.mnemonic not in (CALL, RETURN) or step.jump is None:
            continue
        target = step.jump[0]
        if region.jumps.get(at - region.start) != target - region.start:
            what = f"{step.instruction.row.mnemonic} at pc {at - offset:#x}"
            raise error(
                f"kernel '{kernel}' cannot be lifted: {what} is a call in place of a return: it goes on to the "
                f"function at pc {target - offset:#x}, which others call too",
                "LIFT/002",
                hint=f"{INLINE_HINT}; relaxed (--relax=allocation, --relax=schedule) every call gets a copy of its own",
            )
