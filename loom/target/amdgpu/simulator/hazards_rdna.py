"""Hazards of gfx11 and gfx12 that are faults by rules of their own rather than by the scan that inserts waits.

Facts from LLVM's hazard recognizer for the AMDGPU target:

* **Mask write** (gfx11, waves of 64 lanes): a vector instruction reads a scalar register as a lane mask; the register
  is overwritten; a read behind may see the old value, unless a vector instruction wrote it and a scalar one reads it.
  What was written by a scalar instruction needs ``sa_sdst(0)``, what was written by a vector instruction
  ``va_sdst(0)``, or ``va_vcc(0)`` for VCC. LLVM puts the wait right behind the first write, whatever reads it, and then
  takes the mask's read for settled: later writes need none. A scalar load over the mask settles the read without a
  wait of this kind. Mesa puts the wait in front of the read. So here a wait settles the mask that was overwritten
  before it, a write alone does not, and it is missed where the read stands.
* **v_cmpx and permlane** (gfx11, gfx12): a lane permutation with no vector instruction between it and a ``v_cmpx``
  that wrote EXEC; ``v_nop`` does not count.
* **Giving registers back** (gfx11, gfx12): the message that deallocates a wave's VGPRs needs ``s_nop`` right in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom.target.amdgpu.access import EXEC_UNITS, SGPR, TTMP, reads_and_writes, units_of
from loom.target.amdgpu.machine import Immediate, MachineInstruction, Register
from loom.target.amdgpu.operation import SCALAR_CLASSES, VECTOR_CLASSES

_VCC = frozenset((SGPR + 106, SGPR + 107))
_FIELDS = {"va_sdst": 0x0E00, "va_vcc": 0x0002, "sa_sdst": 0x0001}
"""Bits of ``s_waitcnt_depctr`` that are zero where it waits."""
_VECTOR_RESULTS = 0xF000
_MASK_READERS = ("v_cndmask", "v_add_co_ci", "v_sub_co_ci", "v_subrev_co_ci", "v_div_fmas")
_DEALLOC_VGPRS = 3
_PERMUTATIONS = ("v_permlane16_", "v_permlanex16_", "v_permlane64_")


@dataclass(frozen=True, slots=True)
class MaskState:
    """What may be the case at a point of the program.

    Attributes:
        masks: Scalar units that a vector instruction has read as lane masks and nothing has written since.
        written: Such units, written since, each with the fields of the first and of the last write: a wait for either
            settles it, another write does not.
        compared: Whether a ``v_cmpx`` is the last vector instruction.
    """

    masks: frozenset[int] = frozenset()
    written: frozenset[tuple[int, str, str]] = frozenset()
    compared: bool = False

    def __or__(self, other: MaskState) -> MaskState:
        return MaskState(self.masks | other.masks, self.written | other.written, self.compared or other.compared)


def _masks_read(instruction: MachineInstruction) -> frozenset[int]:
    row = instruction.row
    if not row.mnemonic.startswith(_MASK_READERS):
        return frozenset()
    found: set[int] = set(_VCC) if "vcc" in row.implicit_uses else set()
    for slot, operand in zip(row.slots, instruction.operands, strict=True):
        if slot.type == "mask" and slot.is_use and isinstance(operand, Register):
            found.update(units_of(operand))
    return frozenset(found)


def _immediate(instruction: MachineInstruction) -> int:
    return next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0xFFFF)


def _waited_fields(instruction: MachineInstruction) -> frozenset[str]:
    value = _immediate(instruction)
    return frozenset(name for name, mask in _FIELDS.items() if value & mask == 0)


def _field(unit: int, vector: bool) -> str:
    """What a read of a scalar unit waits for behind a write."""
    if not vector:
        return "sa_sdst"
    return "va_vcc" if unit in _VCC else "va_sdst"


def step(state: MaskState, instruction: MachineInstruction, masked: bool) -> tuple[MaskState, str | None]:
    """The state behind an instruction, and what it misses; ``masked``: the mask-write hazard exists here."""
    row = instruction.row
    vector = row.issue_class in VECTOR_CLASSES
    if row.mnemonic == "s_waitcnt_depctr":
        fields = _waited_fields(instruction)
        left = frozenset(w for w in state.written if fields.isdisjoint(w[1:]))
        return MaskState(state.masks, left, state.compared), None
    missing: str | None = None
    compared = state.compared
    if vector:
        if compared and row.mnemonic.startswith(_PERMUTATIONS):
            missing = "a lane permutation right behind v_cmpx needs a vector instruction (no v_nop) between"
        if row.mnemonic != "v_nop":
            compared = row.mnemonic.startswith("v_cmpx")
    loads = row.issue_class == "smem"
    if not masked or not (vector or loads or row.issue_class in SCALAR_CLASSES):
        return MaskState(state.masks, state.written, compared), missing
    reads, writes = reads_and_writes(instruction)
    if loads:
        return MaskState(state.masks.difference(writes), state.written, compared), missing
    read = frozenset(reads)
    late = sorted({last for unit, _, last in state.written if unit in read and (vector or last == "sa_sdst")})
    if late:
        missing = (
            f"it reads a scalar register that was a lane mask and has been overwritten: "
            f"s_waitcnt_depctr with {' and '.join(f'{f}(0)' for f in late)} must stand between"
        )
    changed = frozenset(unit for unit in writes if SGPR <= unit < TTMP)
    written = frozenset(w for w in state.written if w[0] not in changed)
    written |= {(unit, _field(unit, vector), _field(unit, vector)) for unit in state.masks & changed}
    written |= {(unit, first, _field(unit, vector)) for unit, first, _ in state.written if unit in changed}
    return MaskState((state.masks - changed) | _masks_read(instruction), written, compared), missing


FORWARD_DISTANCE = 4
"""Vector instructions between the writer behind the EXEC write and the reader, at most."""
FORWARD_SPAN = 2
"""Vector instructions between the two writers, at most."""


def forwards_partially(code: Sequence[MachineInstruction], number: int, before: Sequence[Sequence[int]]) -> bool:
    """Whether on one path an instruction reads results from both sides of a scalar write of EXEC, close together.

    The scan that inserts waits merges paths, and so may take one result from one path and the other from another.

    Args:
        code: The kernel.
        number: The instruction.
        before: For each instruction those that may come right before it.
    """
    instruction = code[number]
    sources = {
        frozenset(units_of(operand))
        for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True)
        if slot.is_use and isinstance(operand, Register) and operand.bank == "vgpr"
    }
    if len(sources) < 2:
        return False
    start: tuple[int, frozenset[tuple[frozenset[int], int]], int | None] = (0, frozenset(), None)
    work = [(n, *start) for n in before[number]]
    seen = set(work)
    while work:
        at, passed, written, execs = work.pop()
        earlier = code[at]
        row = earlier.row
        vector = row.issue_class in VECTOR_CLASSES
        if row.memory is not None and row.memory.space != "constant":
            continue
        if row.mnemonic == "s_waitcnt_depctr" and _immediate(earlier) & _VECTOR_RESULTS == 0:
            continue
        writes = frozenset(reads_and_writes(earlier)[1])
        if vector:
            known = {source for source, _ in written}
            written |= {(source, passed) for source in sources if source not in known and source & writes}
        elif row.issue_class == "salu" and execs is None and written and writes & EXEC_UNITS:
            execs = passed
        if execs is not None:
            behind = min((p for _, p in written if p < execs), default=None)
            front = min((p for _, p in written if p >= execs), default=None)
            if behind is None or behind > FORWARD_DISTANCE or execs - behind - 1 > FORWARD_SPAN:
                continue
            if front is not None:
                if front - behind - 1 <= FORWARD_SPAN:
                    return True
                continue
        passed += vector
        if passed > FORWARD_DISTANCE + FORWARD_SPAN + 2 or (passed > FORWARD_DISTANCE + 1 and not written):
            continue
        for n in before[at]:
            state = (n, passed, written, execs)
            if state not in seen:
                seen.add(state)
                work.append(state)
    return False


def unguarded_messages(code: Sequence[MachineInstruction]) -> dict[int, str]:
    """Messages that deallocate VGPRs without a no-op right in front."""
    return {
        number: "s_nop must stand right in front of the message that deallocates the wave's registers"
        for number, instruction in enumerate(code)
        if instruction.row.mnemonic == "s_sendmsg"
        and instruction.operands == (Immediate(_DEALLOC_VGPRS),)
        and (number == 0 or code[number - 1].row.mnemonic != "s_nop")
    }


def missing_waits(
    code: Sequence[MachineInstruction],
    blocks: Sequence[tuple[int, int]],
    successors: Sequence[Sequence[int]],
    entries: Sequence[int],
    masked: bool,
) -> dict[int, str]:
    """Numbers of the instructions that need a wait in front, with what is missing.

    ``blocks`` are ranges of instruction numbers, ``entries`` the blocks where control may come from elsewhere.
    """
    if not masked and not any(i.row.mnemonic.startswith(_PERMUTATIONS) for i in code):
        return {}
    states: list[MaskState | None] = [None] * len(blocks)
    work = list(entries)
    for block in work:
        states[block] = MaskState()
    while work:
        block = work.pop()
        state = states[block] or MaskState()
        for number in range(*blocks[block]):
            state, _ = step(state, code[number], masked)
        for successor in successors[block]:
            known = states[successor]
            merged = state if known is None else known | state
            if merged != known:
                states[successor] = merged
                work.append(successor)
    found: dict[int, str] = {}
    for block, start in enumerate(states):
        if start is None:
            continue
        state = start
        for number in range(*blocks[block]):
            state, missing = step(state, code[number], masked)
            if missing is not None:
                found[number] = missing
    return found
