"""Where EXEC is the mask the kernel was entered with: forward data flow over scalar instructions.

A vector write under the entry mask replaces its register wholly, as far as the kernel can tell: lanes outside of the
entry mask are never switched on. Under any other mask the old value shows through in the lanes that are off. The
analysis knows the idioms of structured control flow (save, narrow, restore), and answers *partial* whenever it is not
sure.
"""

from __future__ import annotations

from loom.raising.lift.effects import Effects
from loom.raising.lift.flow import Flow
from loom.raising.lift.units import EXEC, first_unit, mask_of
from loom.target.amdgpu.machine import MachineInstruction, Operand, Register

ENTRY = 2
"""EXEC equals the entry mask."""
SUBSET = 1
"""EXEC is contained in the entry mask."""
UNKNOWN = 0


class MaskState:
    """What is known at one point: EXEC, and which scalar registers hold the entry mask or a part of it."""

    __slots__ = ("entry", "execution", "subset")

    def __init__(self, execution: int, entry: int, subset: int) -> None:
        self.execution = execution
        self.entry = entry
        self.subset = subset

    def key(self) -> tuple[int, int, int]:
        """All three as a comparable value."""
        return (self.execution, self.entry, self.subset)

    def copy(self) -> MaskState:
        """An independent copy."""
        return MaskState(self.execution, self.entry, self.subset)

    def meet(self, other: MaskState) -> MaskState:
        """What holds whichever way control came."""
        either = (self.entry | self.subset) & (other.entry | other.subset)
        entry = self.entry & other.entry
        return MaskState(min(self.execution, other.execution), entry, either & ~entry)


def _level(operand: Operand, state: MaskState) -> int:
    """How the value of a source operand relates to the entry mask."""
    if operand.__class__ is not Register:
        code = getattr(operand, "code", None)
        return SUBSET if code == 128 else UNKNOWN  # the constant 0 is the empty mask
    unit = first_unit(operand)
    if unit < 0:
        return UNKNOWN
    if unit == EXEC:
        return state.execution
    mask = mask_of(unit, operand.units)
    if state.entry & mask == mask:
        return ENTRY
    return SUBSET if (state.entry | state.subset) & mask == mask else UNKNOWN


_WIDTHS = ("_b32", "_b64")


def _base(mnemonic: str) -> str:
    return mnemonic[:-4] if mnemonic.endswith(_WIDTHS) else mnemonic


def _combine(name: str, a: int, b: int) -> int:
    """Level of a bitwise combination."""
    if name == "and":
        return max(a, b) if min(a, b) == ENTRY else (SUBSET if max(a, b) >= SUBSET else UNKNOWN)
    if name in ("andn2", "and_not1"):
        return SUBSET if a >= SUBSET else UNKNOWN
    if name == "or":
        if min(a, b) == UNKNOWN:
            return UNKNOWN
        return ENTRY if max(a, b) == ENTRY else SUBSET
    if name == "xor":
        return SUBSET if min(a, b) >= SUBSET else UNKNOWN
    return UNKNOWN


def step(instruction: MachineInstruction, effects: Effects, state: MaskState, wave_size: int) -> None:
    """Advance ``state`` over one instruction."""
    written = effects.def_mask
    mnemonic = instruction.row.mnemonic
    if not written & ((1 << 256) - 1):
        return
    base = _base(mnemonic)
    operands = instruction.operands
    new_level = UNKNOWN
    new_execution: int | None = None
    if base.startswith("s_") and base.endswith("_saveexec"):
        name = base[2:-9]
        source = _level(operands[1], state)
        before = state.execution
        new_level = before
        if name in ("and", "andn2", "and_not1", "or", "xor"):
            a, b = source, before
            if name in ("andn2", "and_not1"):  # andn2: s & ~exec on older sets, and_not1: the same operand order
                new_execution = SUBSET if source >= SUBSET else UNKNOWN
            else:
                new_execution = _combine(name, a, b)
        elif name in ("andn1", "and_not0"):
            new_execution = SUBSET if before >= SUBSET else UNKNOWN
        else:
            new_execution = UNKNOWN
    elif base == "s_mov":
        new_level = _level(operands[1], state)
    elif base in ("s_and", "s_or", "s_xor", "s_andn2", "s_and_not1"):
        new_level = _combine(base[2:], _level(operands[1], state), _level(operands[2], state))
    elif mnemonic.startswith("v_cmpx"):
        new_execution = SUBSET if state.execution >= SUBSET else UNKNOWN
    elif mnemonic.startswith(("v_cmp_",)):
        new_level = SUBSET if state.execution >= SUBSET else UNKNOWN
    scalar = written & ((1 << EXEC) - 1)
    state.entry &= ~scalar
    state.subset &= ~scalar
    pair = mask_of(EXEC, 2)
    if written & pair:
        if new_execution is None:
            whole = effects.defs and effects.defs[0].unit == EXEC and effects.defs[0].count == wave_size // 32
            new_execution = new_level if whole else UNKNOWN
        state.execution = new_execution
    if effects.defs and effects.defs[0].unit < EXEC and effects.defs[0].slot >= 0:
        mask = mask_of(effects.defs[0].unit, effects.defs[0].count)
        if new_level == ENTRY:
            state.entry |= mask
        elif new_level == SUBSET:
            state.subset |= mask


def partial_points(flow: Flow) -> list[list[bool]]:
    """For every block and instruction, whether EXEC may differ from the entry mask just before the instruction."""
    blocks = flow.blocks
    start: dict[int, MaskState] = {flow.order[0]: MaskState(ENTRY, 0, 0)}
    position = {index: i for i, index in enumerate(flow.order)}
    pending = {flow.order[0]}
    while pending:
        index = min(pending, key=position.__getitem__)
        pending.discard(index)
        state = start[index].copy()
        block = blocks[index]
        for instruction, effects in zip(block.instructions, block.effects, strict=True):
            if effects.def_mask & ((1 << 256) - 1):
                step(instruction, effects, state, flow.wave_size)
        for successor in block.successors:
            known = start.get(successor)
            merged = state if known is None else known.meet(state)
            if known is None or merged.key() != known.key():
                start[successor] = merged.copy()
                pending.add(successor)
    answer: list[list[bool]] = []
    for block in blocks:
        first = start.get(block.index)
        state = MaskState(UNKNOWN, 0, 0) if first is None else first.copy()
        row: list[bool] = []
        for instruction, effects in zip(block.instructions, block.effects, strict=True):
            row.append(state.execution != ENTRY)
            if effects.def_mask & ((1 << 256) - 1):
                step(instruction, effects, state, flow.wave_size)
        answer.append(row)
    return answer
