"""Allocated Low code to a machine program: physical registers, copies, branches.

Copies under a partial EXEC. The old value that a masked write passes through must be whole in all lanes, so a copy
that such a write needs
in front of it is made with EXEC set to all ones. Branch arguments are copied by plain masked moves: lanes that have
left a loop keep
what they left with. Lifted code spells out every such lane by pass-through values; there, branch arguments are
copied in all
lanes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from loom.diagnostics import error
from loom.low.allocate import Allocation, copy_moves, sequentialize
from loom.low.code import BRANCH, COPY, JUMP, OP, RETURN, CodeBlock, Instruction, LowCode, Ref
from loom.low.interface import Move
from loom.target.amdgpu.backend import AmdgpuTarget
from loom.target.amdgpu.machine import (
    BranchTarget,
    Inline,
    MachineBlock,
    MachineInstruction,
    MachineProgram,
    Operand,
    Register,
)
from loom.target.amdgpu.operation import DEFINITION, Operation, RegisterSlot
from loom.target.amdgpu.tables import find_row

INVERSE = {
    "s_cbranch_scc0": "s_cbranch_scc1",
    "s_cbranch_scc1": "s_cbranch_scc0",
    "s_cbranch_vccz": "s_cbranch_vccnz",
    "s_cbranch_vccnz": "s_cbranch_vccz",
    "s_cbranch_execz": "s_cbranch_execnz",
    "s_cbranch_execnz": "s_cbranch_execz",
}


_VECTOR_MOVES = {"vgpr": "v_mov_b32", "agpr": "v_accvgpr_mov_b32"}
"""Moves within a file of vector registers."""

WRITTEN_JUMPS = ("s_swappc_b64", "s_setpc_b64")
"""Calls and returns that a lifted kernel writes out; the branch behind them only says where they go."""

WRITTEN_ENDS = ("s_endpgm", "s_setpc_b64", "s_swappc_b64", "s_rfe", "s_call")
"""Instructions behind which control does not go on; ``low.return`` adds nothing to them."""


@dataclass(slots=True)
class Emitted:
    """A machine program and where its instructions came from.

    Attributes:
        program: The program; waits and hazard nops are not in it yet.
        source: By ``id`` of a machine instruction the Low instruction it encodes.
        copies: Moves that were emitted.
        barrier_memory: By ``id`` of a barrier which memory it publishes, where the text says.
        moves: ``id`` of the machine instructions that are copies of the allocator's; their ``source`` is the copy,
            or the tied instruction.
    """

    program: MachineProgram
    source: dict[int, Instruction] = field(default_factory=dict)
    copies: int = 0
    barrier_memory: dict[int, str] = field(default_factory=dict)
    moves: set[int] = field(default_factory=set)


class Emitter:
    """Emits one kernel."""

    def __init__(
        self,
        code: LowCode,
        target: AmdgpuTarget,
        allocation: Allocation | None,
        processor: str,
        whole_wave: bool = False,
    ) -> None:
        self.code = code
        self.target = target
        self.allocation = allocation
        self.wave_size = target.wave_size
        self.mask_units = target.wave_size // 32
        self.fixed = allocation is None
        self.whole_wave = whole_wave
        self.result = Emitted(MachineProgram(code.name, processor, target.wave_size, []))
        self._files: dict[str, tuple[str, int | None]] = {}
        self._lane_base = 0
        if allocation is not None:
            self._lane_base = allocation.high_water.get("vgpr", 0)
        self.full_exec = _exec_states(code)

    # Registers

    def location(self, ref: Ref) -> tuple[str, int]:
        """Register file and physical index of a reference's first unit."""
        register, offset, _ = ref
        known = self._files.get(register.register_class)
        if known is None:
            file = self.target.file_of(register.register_class)
            known = self._files[register.register_class] = (file.file, file.location)
        name, single = known
        if self.allocation is not None:
            return name, self.allocation.location[register.index] + offset
        if single is not None:
            return name, single + (register.location or 0) + offset
        if register.location is None:
            raise error(
                f"%{register.name or register.index} has no location, but allocation(fixed) gives every value one",
                "BACKEND/031",
                hint="write it in the type: reg<amdgpu.vgpr @ 4>; or use allocation(virtual)",
            )
        return name, register.location + offset

    def register(self, ref: Ref, half: int | None, units: int | None = None) -> Register:
        """The machine register of a reference; ``units`` overrides its width (lane masks in wave32)."""
        file, index = self.location(ref)
        count = ref[2] if units is None else units
        if file == "sgpr" and index >= 106:
            return Register("vcc", index - 106, count)
        if file == "exec":
            return Register("exec", index, count)
        if file in ("scc", "m0", "vccz", "execz"):
            return Register(file)
        if file == "null":
            return Register("null", 0, count)
        return Register(file, index, count, half)

    # Program

    def emit(self) -> Emitted:
        """Emit every block."""
        blocks = self.code.blocks
        bodies: list[list[MachineInstruction]] = []
        for block in blocks:
            body: list[MachineInstruction] = []
            for position, instruction in enumerate(block.instructions):
                kind = instruction.kind
                full = self.full_exec[block.index][position]
                if self.allocation is not None:
                    listed = self.allocation.tie_copies.get(instruction.position)
                    if listed:
                        moves: list[Move] = []
                        for copy in listed:
                            file, source = self.location(copy.source)
                            target = self.allocation.location[copy.temporary.index]
                            moves.extend(Move(file, target + unit, source + unit) for unit in range(copy.source[2]))
                        self._moves(body, moves, instruction, full)
                if kind == OP:
                    self._operation(body, instruction, full)
                elif kind == COPY:
                    self._copy(body, instruction, full or not self.whole_wave)
            bodies.append(body)
        self._terminators(blocks, bodies)
        return self.result

    def _operation(self, body: list[MachineInstruction], instruction: Instruction, full: bool) -> None:
        machine = self._machine(instruction.payload, instruction)
        machine.location = instruction.location
        self.result.source[id(machine)] = instruction
        if instruction.origin in ("spill", "reload") and not full and instruction.traits.memory_space == "scratch":
            self._whole_wave(body, [machine], instruction)
        else:
            body.append(machine)
        origin = instruction.origin
        memory = (
            getattr(origin, "attributes", {}).get("memory")
            if origin is not None and not isinstance(origin, str)
            else None
        )
        if memory is None and origin is not None and not isinstance(origin, str):
            inner = origin.attributes.get("immediates")
            memory = inner.get("memory") if isinstance(inner, dict) else None
        if memory is not None:
            self.result.barrier_memory[id(machine)] = str(memory)

    def _machine(self, payload: Operation, instruction: Instruction) -> MachineInstruction:
        row = payload.row
        operands: list[Operand] = []
        defs, uses = instruction.defs, instruction.uses
        for slot, entry in zip(row.slots, payload.operands, strict=True):
            if isinstance(entry, RegisterSlot):
                ref = defs[entry.index] if entry.kind == DEFINITION else uses[entry.index]
                units = min(self.mask_units, ref[2]) if slot.type == "mask" else None
                operands.append(self.register(ref, entry.half, units))
            elif isinstance(entry, Register) and entry.bank in ("exec", "vcc") and slot.units_for(self.wave_size) == 1:
                operands.append(Register(entry.bank, entry.index, 1))
            elif isinstance(entry, Register) and entry.bank == "vgpr" and entry.index < 0:
                operands.append(Register("vgpr", self._lane_base - 1 - entry.index))
            else:
                operands.append(entry)
        y = None if payload.y is None else self._machine(payload.y, instruction)
        return MachineInstruction(row, payload.form, tuple(operands), dict(payload.modifiers), payload.raw, y=y)

    # Copies

    def _copy(self, body: list[MachineInstruction], instruction: Instruction, full: bool) -> None:
        if self.allocation is None:
            for definition, use in zip(instruction.defs, instruction.uses, strict=True):
                if self.location(definition) != self.location(use):
                    raise error(
                        f"%{use[0].name or use[0].index} would have to be copied to "
                        f"%{definition[0].name or definition[0].index}, "
                        "but allocation(fixed) emits nothing that is not written",
                        "BACKEND/032",
                        instruction.location,
                        hint="give both the same register, or write the move",
                    )
            return
        for definition, use in zip(instruction.defs, instruction.uses, strict=True):
            if self.location(definition)[0] != self.location(use)[0]:
                raise error(
                    f"cannot copy reg<{use[0].register_class}> to reg<{definition[0].register_class}>",
                    "BACKEND/033",
                    instruction.location,
                    hint="use the instruction that moves between the banks (v_mov_b32, v_readfirstlane_b32, s_mov_b32)",
                )
        self._moves(body, copy_moves(self.allocation, instruction), instruction, full)

    def _moves(
        self, body: list[MachineInstruction], moves: Sequence[Move], instruction: Instruction, full: bool
    ) -> None:
        if not moves:
            return
        assert self.allocation is not None

        def scratch(file: str) -> int:
            assert self.allocation is not None
            found = self.allocation.free_register(file, instruction.position, self.target.allocatable(file))
            if found < 0:
                raise error(
                    f"no {file} register is free to exchange two values",
                    "BACKEND/034",
                    instruction.location,
                    hint="keep fewer values alive here, or copy one of them before",
                )
            self.allocation.high_water[file] = max(self.allocation.high_water.get(file, 0), found + 1)
            return found

        ordered = sequentialize(moves, scratch)
        scalar: list[MachineInstruction] = []
        vector: list[MachineInstruction] = []
        k = 0
        while k < len(ordered):
            move = ordered[k]
            if move.file == "sgpr":
                following = ordered[k + 1] if k + 1 < len(ordered) else None
                low, pair = move, False
                if following is not None and following.file == "sgpr":
                    if following.target == move.target + 1 and following.source == move.source + 1:
                        pair = move.target % 2 == 0 and move.source % 2 == 0
                    elif following.target == move.target - 1 and following.source == move.source - 1:
                        low = following
                        pair = low.target % 2 == 0 and low.source % 2 == 0
                if pair:
                    scalar.append(
                        machine_instruction(
                            self.target.generation,
                            "s_mov_b64",
                            (_scalar(low.target, 2), _scalar(low.source, 2)),
                        )
                    )
                    k += 2
                    continue
                scalar.append(
                    machine_instruction(
                        self.target.generation, "s_mov_b32", (_scalar(move.target, 1), _scalar(move.source, 1))
                    )
                )
            elif move.file in _VECTOR_MOVES:
                vector.append(
                    machine_instruction(
                        self.target.generation,
                        _VECTOR_MOVES[move.file],
                        (Register(move.file, move.target), Register(move.file, move.source)),
                    )
                )
            else:
                raise error(
                    f"values of the {move.file} register cannot be copied",
                    "BACKEND/033",
                    instruction.location,
                    hint="use the value before the register is written again",
                )
            k += 1
        for made in (*scalar, *vector):
            made.location = instruction.location
            self.result.source[id(made)] = instruction
            self.result.moves.add(id(made))
        self.result.copies += len(scalar) + len(vector)
        body.extend(scalar)
        if vector and not full:
            self._whole_wave(body, vector, instruction)
        else:
            body.extend(vector)

    def _whole_wave(
        self, body: list[MachineInstruction], instructions: Sequence[MachineInstruction], at: Instruction
    ) -> None:
        """Run instructions for all lanes, EXEC kept aside; SCC is not touched."""
        assert self.allocation is not None
        candidates = [*self.target.allocatable("sgpr"), 106, 107]
        spare = self.allocation.free_register("sgpr", at.position, candidates, self.mask_units)
        if spare < 0:
            raise error(
                "no scalar register is free to keep EXEC in",
                "BACKEND/034",
                at.location,
                hint="keep fewer scalar values alive here",
            )
        if spare < 106:
            high = self.allocation.high_water
            high["sgpr"] = max(high.get("sgpr", 0), spare + self.mask_units)
        mnemonic = f"s_mov_b{32 * self.mask_units}"
        exec_register = Register("exec", 0, self.mask_units)
        kept = _scalar(spare, self.mask_units)
        generation = self.target.generation
        wrapped = [
            machine_instruction(generation, mnemonic, (kept, exec_register)),
            machine_instruction(generation, mnemonic, (exec_register, Inline(193))),
            *instructions,
            machine_instruction(generation, mnemonic, (exec_register, kept)),
        ]
        for made in (wrapped[0], wrapped[1], wrapped[-1]):
            made.location = at.location
            self.result.source[id(made)] = at
            self.result.moves.add(id(made))
        body.extend(wrapped)

    # Branches

    def _terminators(self, blocks: Sequence[CodeBlock], bodies: list[list[MachineInstruction]]) -> None:
        forward: dict[int, CodeBlock] = {}
        for block, body in zip(blocks, bodies, strict=True):
            last = block.instructions[-1]
            if body or last.kind != JUMP or block.index == 0:
                continue
            is_edge = any(i.kind == COPY for i in block.instructions) or len(block.instructions) > 1
            if not self.fixed or is_edge:
                forward[block.index] = last.targets[0]

        def resolve(block: CodeBlock) -> CodeBlock:
            seen = set()
            while block.index in forward and block.index not in seen:
                seen.add(block.index)
                block = forward[block.index]
            return block

        kept = [block for block in blocks if block.index not in forward]
        program = self.result.program
        for order, block in enumerate(kept):
            body = bodies[block.index]
            following = kept[order + 1] if order + 1 < len(kept) else None
            last = block.instructions[-1]
            if self.fixed and body and following is not None and body[-1].row.issue_class == "branch":
                # A branch that is written out goes to the next block: lifted code keeps those that need not be there.
                slots = body[-1].row.slots
                if len(slots) == 1 and slots[0].type == "label":
                    body[-1].operands = (BranchTarget(following.label),)
            if last.kind == RETURN:
                # An end that is written out with operands of its own stays the only one.
                if not (body and body[-1].row.mnemonic.startswith(WRITTEN_ENDS)):
                    self._append(body, last, "s_endpgm", ())
            elif last.kind == JUMP:
                target = resolve(last.targets[0])
                # Calls and returns of lifted code are written out; its entry block holds live-ins only.
                elsewhere = self.fixed and (body[-1].row.mnemonic in WRITTEN_JUMPS if body else block.index == 0)
                if target is not following and not elsewhere:
                    self._append(body, last, "s_branch", (BranchTarget(target.label),))
            elif last.kind == BRANCH:
                taken, other = resolve(last.targets[0]), resolve(last.targets[1])
                mnemonic = last.payload
                if taken is other and not self.fixed:
                    if taken is not following:
                        self._append(body, last, "s_branch", (BranchTarget(taken.label),))
                elif other is following:
                    self._append(body, last, mnemonic, (BranchTarget(taken.label),))
                elif taken is following:
                    self._append(body, last, INVERSE[mnemonic], (BranchTarget(other.label),))
                else:
                    self._append(body, last, mnemonic, (BranchTarget(taken.label),))
                    self._append(body, last, "s_branch", (BranchTarget(other.label),))
            program.blocks.append(MachineBlock(block.label, body))

    def _append(
        self, body: list[MachineInstruction], source: Instruction, mnemonic: str, operands: tuple[Operand, ...]
    ) -> None:
        row = find_row(self.target.generation, mnemonic)
        if row is None:
            raise error(f"{self.target.processor.name} has no instruction {mnemonic}", "BACKEND/004", source.location)
        if len(row.slots) > len(operands):
            operands = (*operands, *default_operands(row, len(operands)))
        made = MachineInstruction(row, None, operands, location=source.location)
        self.result.source[id(made)] = source
        body.append(made)


def default_operands(row: Any, start: int) -> tuple[Operand, ...]:
    """Zero for every field from slot ``start`` on (``s_endpgm``, where the table gives it a field)."""
    from loom.target.amdgpu.machine import Immediate

    return tuple(Immediate(0) for _ in row.slots[start:])


def machine_instruction(
    generation: str, mnemonic: str, operands: Sequence[Operand], modifiers: dict[str, int] | None = None
) -> MachineInstruction:
    """A machine instruction of a row by name, operands in slot order."""
    row = find_row(generation, mnemonic)
    if row is None:
        raise error(f"{generation} has no instruction {mnemonic}", "BACKEND/004")
    return MachineInstruction(row, None, tuple(operands), dict(modifiers or {}))


def _scalar(index: int, units: int) -> Register:
    return Register("vcc", index - 106, units) if index >= 106 else Register("sgpr", index, units)


def _keeps_exec(instruction: Instruction) -> bool:
    """Whether an instruction is a plain copy of EXEC to other registers."""
    payload = instruction.payload
    return (
        str(payload).startswith("s_mov_b")
        and "exec" not in instruction.traits.state_defs
        and any(o.__class__ is Register and o.bank == "exec" for o in payload.operands)
    )


def _exec_states(code: LowCode) -> list[list[bool]]:
    """For every block and instruction whether EXEC is, in front of it, what the kernel was entered with."""
    count = len(code.blocks)
    entry = [True] * count
    saved: set[int] = {
        r.index
        for i in code.instructions()
        for r, _, _ in i.defs
        if i.kind == OP and ("saveexec" in str(i.payload) or _keeps_exec(i))
    }

    def run(block: CodeBlock, state: bool, result: list[bool] | None, lost: set[int]) -> bool:
        for instruction in block.instructions:
            if result is not None:
                result.append(state)
            if not state and instruction.kind == OP and _keeps_exec(instruction):
                lost.update(r.index for r, _, _ in instruction.defs)
            if instruction.kind == OP and "exec" in instruction.traits.state_defs:
                name = str(instruction.payload)
                if "saveexec" in name:
                    if not state:
                        lost.update(r.index for r, _, _ in instruction.defs)
                    state = False
                elif name.startswith(("s_mov_b", "s_or_b")) and any(
                    r.index in saved and r.index not in lost for r, _, _ in instruction.uses
                ):
                    state = True
                else:
                    state = False
        return state

    lost: set[int] = set()
    changed = True
    while changed:
        changed = False
        before = len(lost)
        for block in code.blocks:
            out = run(block, entry[block.index], None, lost)
            for successor in block.successors:
                if not out and entry[successor.index]:
                    entry[successor.index] = False
                    changed = True
        changed = changed or len(lost) != before
    states: list[list[bool]] = []
    for block in code.blocks:
        result: list[bool] = []
        run(block, entry[block.index], result, lost)
        states.append(result)
    return states
