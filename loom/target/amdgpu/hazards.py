"""Hazards that the hardware does not resolve, per processor, and the instructions that do.

Facts from LLVM's hazard recognizer for the AMDGPU target (which processors have a hazard, distances, and what ends it):

* **VALU use of a TRANS result** (gfx1100–1103): a vector instruction reads a VGPR that a transcendental one wrote,
  with at most five vector instructions and one transcendental in between: ``s_waitcnt_depctr`` with ``va_vdst(0)``.
* **VALU partial forwarding** (gfx11, wave64): a vector instruction reads one VGPR written in front of a scalar write of
  EXEC and one written behind it, the second at most four vector instructions ago and the first at most two more
  (the writer of the second not counted): ``va_vdst(0)``.
* **VALU mask write** (gfx11, wave64): an instruction overwrites a register that a vector instruction reads as a lane
  mask: ``sa_sdst(0)`` behind a scalar write, ``va_vcc(0)`` or ``va_sdst(0)`` behind a vector one. (LLVM knows cases in
  which the hazard ends sooner; they are not used here.)
* **WMMA after WMMA** (gfx11, gfx12): the A or B matrix is the result of the WMMA right in front: ``v_nop``.
* **Permutation behind v_cmpx** (gfx11, gfx12): see ``permutations``.
* **VALU read of SGPR** (gfx12): see ``scalar_reads``.
* **Wait states** (gfx9.4): see ``wait_states``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from loom.target.amdgpu.access import EXEC_UNITS, is_vector_unit, reads_and_writes, state_units, units_of
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import Immediate, MachineInstruction, MachineProgram, Register
from loom.target.amdgpu.operation import SCALAR_CLASSES, VECTOR_CLASSES
from loom.target.amdgpu.permutations import permutations_behind_compares
from loom.target.amdgpu.scalar_reads import scalar_read_waits
from loom.target.amdgpu.tables import find_row
from loom.target.amdgpu.wait_states import WaitStateScan, nops
from loom.target.amdgpu.waits import successors_of

_FIELDS = {"va_vdst": 0xF000, "va_sdst": 0x0E00, "va_vcc": 0x0002, "sa_sdst": 0x0001}
"""Bits of ``s_waitcnt_depctr`` that count what is under way: vector results, scalar results of vector instructions, VCC
of vector instructions, results of scalar instructions. A field of ones does not wait."""
_VCC = frozenset(state_units(("vcc",)))

TRANS_VALU_DISTANCE = 5
TRANS_TRANS_DISTANCE = 1
FORWARD_DISTANCE = 4
"""Vector instructions between the writer behind the EXEC write and the reader, at most."""
FORWARD_SPAN = 2
"""Vector instructions between the two writers, at most."""
_EXEC_WRITES = 15
"""Writes of EXEC behind a result that are told apart; more change nothing within the distance that matters."""

_TRANS_PROCESSORS = frozenset(("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx11-generic"))

_MASK_READERS = (
    "v_cndmask",
    "v_add_co_ci",
    "v_sub_co_ci",
    "v_subrev_co_ci",
    "v_div_fmas",
    "v_div_scale",
    "v_dual_cndmask",
)


@dataclass(frozen=True, slots=True)
class Hazard:
    """A hazard in front of (or right behind) an instruction.

    Attributes:
        name: Its name.
        fix: What resolves it: fields of a wait joined by ``+``, or an instruction (``v_nop``, ``s_nop``).
        behind: Whether the fix goes behind the instruction.
        states: For ``s_nop``: wait states that are missing.
        moved: A register that is to be moved onto itself besides.
        also: Another hazard at the same instruction.
    """

    name: str
    fix: str
    behind: bool = False
    states: int = 0
    moved: Register | None = None
    also: Hazard | None = None

    @property
    def remedy(self) -> str:
        """What to insert, in words."""
        words = [f"s_nop {value}" for value in nops(self.states)] or [self.fix]
        if self.moved is not None:
            words = [word for word in words if word] + [f"v_mov_b32 v{self.moved.index}, v{self.moved.index}"]
        return " and ".join(words)


def _is_valu(instruction: MachineInstruction) -> bool:
    return instruction.row.issue_class in VECTOR_CLASSES


def _is_trans(instruction: MachineInstruction) -> bool:
    return instruction.row.issue_class == "trans"


def _ends_vector_wait(instruction: MachineInstruction) -> bool:
    """Whether the instruction makes the hardware wait for vector results: memory instructions, exports,
    ``va_vdst(0)``."""
    row = instruction.row
    if row.memory is not None and row.memory.space in ("global", "flat", "scratch", "buffer", "lds", "gds"):
        return True
    if row.mnemonic == "s_waitcnt_depctr":
        return _waits_for("va_vdst", instruction)
    return False


_HALF_SLOTS: dict[int, tuple[InstructionRow, tuple[bool, ...]]] = {}


def _names_half(row: InstructionRow, index: int) -> bool:
    """Whether a slot names half a register in some form (true16 codecs, see ``formats``); nothing said means the
    lower one."""
    found = _HALF_SLOTS.get(id(row))
    if found is None:
        slots = tuple(
            any(e.slot_fields[i].rpartition(":")[2].startswith(("vh", "vo.", "sh", "so.")) for e in row.encodings)
            for i in range(len(row.slots))
        )
        found = _HALF_SLOTS[id(row)] = (row, slots)
    return found[1][index]


def _halves(instruction: MachineInstruction, results: bool) -> set[int]:
    """Halves of VGPRs that an instruction writes or reads: twice the number, plus one for the upper half."""
    found: set[int] = set()
    half: MachineInstruction | None = instruction
    while half is not None:
        for index, (slot, operand) in enumerate(zip(half.row.slots, half.operands, strict=True)):
            if not (slot.is_def if results else slot.is_use) or not isinstance(operand, Register):
                continue
            if operand.bank == "vgpr":
                if operand.half is not None or _names_half(half.row, index):
                    found.add(2 * operand.index + (operand.half or 0))
                else:
                    found.update(range(2 * operand.index, 2 * (operand.index + operand.units)))
        half = half.y
    return found


def _is_exec_write(instruction: MachineInstruction) -> bool:
    """Whether a scalar instruction writes EXEC."""
    if instruction.row.issue_class != "salu":
        return False
    _, writes = reads_and_writes(instruction)
    return any(unit in EXEC_UNITS for unit in writes)


def _units_read_as_mask(instruction: MachineInstruction) -> frozenset[int]:
    """Scalar units that a vector instruction reads as a lane mask."""
    row = instruction.row
    if not row.mnemonic.startswith(_MASK_READERS):
        return frozenset()
    read: set[int] = set(state_units(tuple(name for name in row.implicit_uses if name == "vcc")))
    for slot, operand in zip(row.slots, instruction.operands, strict=True):
        if slot.type == "mask" and slot.is_use and isinstance(operand, Register):
            read.update(units_of(operand))
    return frozenset(read)


def _waits_for(field: str, instruction: MachineInstruction) -> bool:
    """Whether an ``s_waitcnt_depctr`` waits until a field's count is zero."""
    if instruction.row.mnemonic != "s_waitcnt_depctr":
        return False
    mask = _FIELDS[field]
    return all(o.value & mask == 0 for o in instruction.operands if isinstance(o, Immediate))


def _resolved_behind(instructions: list[MachineInstruction], position: int, units: frozenset[int], fix: str) -> bool:
    """Whether the wait behind a write is there already, in front of whatever reads what was written."""
    for at in range(position + 1, len(instructions)):
        later = instructions[at]
        if _waits_for(fix, later):
            return True
        reads, _ = reads_and_writes(later)
        if not units.isdisjoint(reads):
            return False
    return False


def _is_wmma(instruction: MachineInstruction) -> bool:
    return instruction.row.mnemonic.startswith(("v_wmma", "v_swmmac"))


_State = tuple[
    frozenset[tuple[int, int, int]],  # TRANS results: (half of a VGPR, VALUs since, TRANS since)
    frozenset[int],  # result of the WMMA that is the last vector instruction
    frozenset[int],  # scalar units read as lane masks (wave64)
    frozenset[tuple[int, int, int]],  # vector results (wave64): (VGPR, VALUs since, scalar writes of EXEC since)
]
_EMPTY: _State = (frozenset(), frozenset(), frozenset(), frozenset())


class HazardScan:
    """Finds hazards by a forward walk over the control-flow graph."""

    def __init__(
        self,
        program: MachineProgram,
        generation: str,
        starts: Iterable[int] = (0,),
        successors: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """``starts``: blocks where control may begin, a kernel's first and those of functions; ``successors``: for each
        block those that control may reach next, by default what branches say."""
        self.program = program
        self.starts = tuple(starts)
        self.successors = successors
        self.generation = generation
        self.trans = generation == "gfx11" and program.processor in _TRANS_PROCESSORS
        self.wave64 = generation == "gfx11" and program.wave_size == 64
        self.active = generation in ("gfx11", "gfx12")

    def run(self) -> list[list[Hazard | None]]:
        """For every instruction the hazard to resolve, or ``None``."""
        if self.generation == "gfx9.4":
            return [
                [None if lack is None else Hazard(lack.rule, "s_nop", states=lack.states) for lack in block]
                for block in WaitStateScan(self.program).run()
            ]
        found = self._scan()
        if self.active:
            for block, sources in zip(found, permutations_behind_compares(self.program), strict=True):
                for index, source in enumerate(sources):
                    if source is not None:
                        known = block[index] or Hazard("vcmpx_permlane", "")
                        block[index] = replace(known, moved=source)
        if self.generation == "gfx12":
            for block, needed in zip(found, scalar_read_waits(self.program), strict=True):
                for index, fields in enumerate(needed):
                    met = block[index]
                    if fields and (met is None or not met.fix):
                        moved = None if met is None else met.moved
                        block[index] = Hazard("valu_read_sgpr", "+".join(fields), moved=moved)
        return found

    def _scan(self) -> list[list[Hazard | None]]:
        program = self.program
        if not self.active or not self._any_candidate():
            return [[None] * len(block.instructions) for block in program.blocks]
        successors = successors_of(program) if self.successors is None else self.successors
        entry: list[_State | None] = [None] * len(program.blocks)
        work = list(self.starts)
        for index in work:
            entry[index] = _EMPTY
        while work:
            index = work.pop()
            state = entry[index]
            assert state is not None
            out = self._walk(index, state, None)
            for successor in successors[index]:
                known = entry[successor]
                merged = out
                if known is not None:
                    merged = (known[0] | out[0], known[1] | out[1], known[2] | out[2], known[3] | out[3])
                if merged != known:
                    entry[successor] = merged
                    work.append(successor)
        result: list[list[Hazard | None]] = []
        for index in range(len(program.blocks)):
            found: list[Hazard | None] = []
            self._walk(index, entry[index] or _EMPTY, found)
            result.append(found)
        return result

    def _any_candidate(self) -> bool:
        for instruction in self.program.instructions():
            if (self.trans and _is_trans(instruction)) or _is_wmma(instruction):
                return True
            if self.wave64 and (instruction.row.mnemonic.startswith(_MASK_READERS) or _is_exec_write(instruction)):
                return True
        return False

    def _walk(self, index: int, state: _State, result: list[Hazard | None] | None) -> _State:
        trans, wmma, masks, results = state
        instructions = self.program.blocks[index].instructions
        for position, instruction in enumerate(instructions):
            hazard: Hazard | None = None
            valu = _is_valu(instruction)
            if valu and (trans or wmma):
                if wmma and _is_wmma(instruction):
                    sources = self._matrix_sources(instruction)
                    if any(unit in wmma for unit in sources):
                        hazard = Hazard("wmma", "v_nop")
                if trans and hazard is None:
                    reads = _halves(instruction, results=False)
                    live = {
                        unit
                        for unit, valus, others in trans
                        if valus <= TRANS_VALU_DISTANCE and others <= TRANS_TRANS_DISTANCE
                    }
                    if not live.isdisjoint(reads):
                        hazard = Hazard("valu_trans_use", "va_vdst")
                        trans = results = frozenset()
            if self.wave64:
                masks, behind = self._mask_write(instructions, position, masks)
                results, forwarded = self._partial_forwarding(instruction, results)
                found = [one for one in (hazard, forwarded, behind) if one is not None]
                for one in reversed(found):
                    hazard = one if one is found[-1] else replace(one, also=hazard)
                if forwarded is not None:
                    trans = frozenset()
            if _ends_vector_wait(instruction):
                trans = results = frozenset()
            if valu:
                is_trans = _is_trans(instruction)
                if trans:
                    trans = frozenset(
                        (unit, valus + 1, others + is_trans)
                        for unit, valus, others in trans
                        if valus < TRANS_VALU_DISTANCE and others + is_trans <= TRANS_TRANS_DISTANCE
                    )
                if self.trans and is_trans:
                    trans = trans | {(half, 0, 0) for half in _halves(instruction, results=True)}
                wmma = frozenset()
                if _is_wmma(instruction):
                    _, writes = reads_and_writes(instruction)
                    wmma = frozenset(unit for unit in writes if is_vector_unit(unit))
            if result is not None:
                result.append(hazard)
        return trans, wmma, masks, results

    @staticmethod
    def _partial_forwarding(
        instruction: MachineInstruction, results: frozenset[tuple[int, int, int]]
    ) -> tuple[frozenset[tuple[int, int, int]], Hazard | None]:
        """Vector results behind the instruction, and whether it reads one from either side of a write of EXEC."""
        if _is_exec_write(instruction):
            return frozenset((u, age, min(execs + 1, _EXEC_WRITES)) for u, age, execs in results), None
        if not _is_valu(instruction):
            return results, None
        _, writes = reads_and_writes(instruction)
        sources = {
            operand: frozenset(units_of(operand))
            for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True)
            if slot.is_use and isinstance(operand, Register) and operand.bank == "vgpr"
        }
        read = [
            (operand, age, execs)
            for operand, units in sources.items()
            for unit, age, execs in results
            if unit in units and len(sources) > 1
        ]
        hazard: Hazard | None = None
        if any(
            late_age <= FORWARD_DISTANCE
            and early > late
            and 0 <= early_age - late_age - 1 <= FORWARD_SPAN
            and first != second
            for first, late_age, late in read
            for second, early_age, early in read
        ):
            hazard, results = Hazard("valu_partial_forwarding", "va_vdst"), frozenset()
        oldest = FORWARD_DISTANCE + FORWARD_SPAN
        written = {unit for unit in writes if is_vector_unit(unit)}
        kept = {(u, age + 1, execs) for u, age, execs in results if u not in written and age <= oldest}
        return frozenset(kept | {(unit, 0, 0) for unit in written}), hazard

    @staticmethod
    def _matrix_sources(instruction: MachineInstruction) -> Iterable[int]:
        for name in ("src0", "src1"):
            at = instruction.row.slot_index(name)
            operand = instruction.operands[at] if at >= 0 else None
            if isinstance(operand, Register):
                yield from units_of(operand)

    @staticmethod
    def _mask_write(
        instructions: list[MachineInstruction], position: int, masks: frozenset[int]
    ) -> tuple[frozenset[int], Hazard | None]:
        """Scalar registers read as masks, and whether this instruction overwrites one before its old value is read."""
        instruction = instructions[position]
        row = instruction.row
        vector = row.issue_class in VECTOR_CLASSES
        if row.mnemonic == "s_waitcnt_depctr":
            return (frozenset() if _waits_for("sa_sdst", instruction) else masks), None
        if not vector and row.issue_class not in SCALAR_CLASSES:
            return masks, None
        if not masks and not vector:
            return masks, None
        _, writes = reads_and_writes(instruction)
        hit = masks.intersection(writes)
        read = _units_read_as_mask(instruction) if vector else frozenset()
        hazard: Hazard | None = None
        if hit and not hit & read:
            fix = "sa_sdst" if not vector else "va_vcc" if hit <= _VCC else "va_sdst"
            if not _resolved_behind(instructions, position, hit, fix):
                hazard = Hazard("valu_mask_write", fix, behind=True)
        return (masks - hit) | read, hazard


def fix_instructions(hazard: Hazard, generation: str) -> list[MachineInstruction]:
    """The instructions that resolve a hazard."""
    if hazard.moved is not None:
        row = find_row(generation, "v_mov_b32")
        assert row is not None
        move = MachineInstruction(row, "e32", (hazard.moved, hazard.moved))
        rest = replace(hazard, moved=None)
        return [*(fix_instructions(rest, generation) if hazard.fix else ()), move]
    if hazard.fix in ("v_nop", "s_nop"):
        row = find_row(generation, hazard.fix)
        assert row is not None
        operands = [(Immediate(value),) for value in nops(hazard.states)] if hazard.fix == "s_nop" else [()]
        return [MachineInstruction(row, None, listed) for listed in operands]
    name = "s_waitcnt_depctr" if generation == "gfx11" else "s_wait_alu"
    row = find_row(generation, name) or find_row(generation, "s_waitcnt_depctr")
    assert row is not None
    mask = sum(_FIELDS[field] for field in hazard.fix.split("+"))
    return [MachineInstruction(row, None, (Immediate(0xFFFF & ~mask),))]


def resolve_hazards(program: MachineProgram, generation: str) -> int:
    """Insert what resolves every hazard; returns the number of instructions inserted."""
    found = HazardScan(program, generation).run()
    inserted = 0
    for block, hazards in zip(program.blocks, found, strict=True):
        if not any(hazards):
            continue
        result: list[MachineInstruction] = []
        for instruction, hazard in zip(block.instructions, hazards, strict=True):
            if hazard is None:
                result.append(instruction)
                continue
            front: list[MachineInstruction] = []
            behind: list[MachineInstruction] = []
            more: Hazard | None = hazard
            while more is not None:
                (behind if more.behind else front).extend(fix_instructions(more, generation))
                more = more.also
            for fix in (*front, *behind):
                fix.location = instruction.location
            inserted += len(front) + len(behind)
            result.extend((*front, instruction, *behind))
        block.instructions = result
    return inserted
