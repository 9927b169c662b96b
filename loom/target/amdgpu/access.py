"""Which register units a machine instruction reads and writes."""

from __future__ import annotations

from functools import cache

from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import OFF, MachineInstruction, Register

AGPR, SGPR, TTMP, OTHER = 512, 1024, 1200, 1300
"""First unit number of each bank; VGPRs begin at 0. VCC follows the scalar registers as units 1130 and 1131."""

_SINGLE = {"exec": OTHER, "m0": OTHER + 2, "scc": OTHER + 3, "flat_scratch": OTHER + 4, "xnack_mask": OTHER + 6}
EXEC_UNITS = frozenset((OTHER, OTHER + 1))
"""The two halves of EXEC."""
_STATE = {"exec": (OTHER, OTHER + 1), "m0": (OTHER + 2,), "scc": (OTHER + 3,), "vcc": (SGPR + 106, SGPR + 107)}


@cache
def units_of(register: Register) -> tuple[int, ...]:
    """Unit numbers of a register; empty for ``off``, ``null`` and the apertures."""
    bank = register.bank
    if bank == "vgpr":
        first = register.index
    elif bank == "sgpr":
        first = SGPR + register.index
    elif bank == "vcc":
        first = SGPR + 106 + register.index
    elif bank == "agpr":
        first = AGPR + register.index
    elif bank == "ttmp":
        first = TTMP + register.index
    elif bank in _SINGLE:
        first = _SINGLE[bank] + register.index
    else:
        return ()
    return tuple(range(first, first + max(1, register.units)))


def is_vector_unit(unit: int) -> bool:
    """Whether a unit is a VGPR."""
    return unit < AGPR


def state_units(names: tuple[str, ...]) -> tuple[int, ...]:
    """Units of state that is read or written without being written out."""
    return tuple(unit for name in names for unit in _STATE.get(name, ()))


RETURN_BITS = ("glc", "sc0")
"""Cache bits that make an atomic return the old value (gfx11, gfx9.4); gfx12 uses bit 0 of ``th``."""


def atomic_returns(instruction: MachineInstruction) -> bool:
    """Whether a memory atomic gives the old value back."""
    row = instruction.row
    for name in RETURN_BITS:
        if any(modifier.name == name for modifier in row.modifiers):
            return bool(instruction.modifiers.get(name, 0))
    if any(modifier.name == "th" for modifier in row.modifiers):
        return bool(instruction.modifiers.get("th", 0) & 1)
    memory = row.memory
    at = row.slot_index(memory.result) if memory is not None and memory.result is not None else -1
    return at >= 0 and isinstance(instruction.operands[at], Register) and instruction.operands[at] is not OFF


_Shape = tuple[tuple[tuple[bool, bool], ...], tuple[int, ...], tuple[int, ...], int]
_SHAPES: dict[int, tuple[InstructionRow, _Shape]] = {}


def _shape(row: InstructionRow) -> _Shape:
    """Roles of the slots, implicit units, slot that is data and result of an atomic.

    Kept by identity, since hashing a row is slow.
    """
    found = _SHAPES.get(id(row))
    if found is None:
        found = _SHAPES[id(row)] = (row, _make_shape(row))
    return found[1]


def _make_shape(row: InstructionRow) -> _Shape:
    memory = row.memory
    shared = -1
    if memory is not None and memory.kind == "atomic" and memory.result is not None and memory.result in memory.data:
        shared = row.slot_index(memory.result)
    return (
        tuple((slot.is_def, slot.is_use) for slot in row.slots),
        state_units(row.implicit_uses),
        state_units(row.implicit_defs),
        shared,
    )


def reads_and_writes(instruction: MachineInstruction) -> tuple[list[int], list[int]]:
    """Units read and units written, implicit ones and the second half of a pair included.

    A buffer atomic that does not return the old value writes no register.
    """
    shape, uses, defs, shared = _shape(instruction.row)
    silent = shared if shared >= 0 and not atomic_returns(instruction) else -1
    reads, writes = list(uses), list(defs)
    for number, ((is_def, is_use), operand) in enumerate(zip(shape, instruction.operands, strict=True)):
        if operand.__class__ is Register:
            units = units_of(operand)
            if is_use:
                reads.extend(units)
            if is_def and number != silent:
                writes.extend(units)
    if instruction.y is not None:
        more_reads, more_writes = reads_and_writes(instruction.y)
        reads.extend(more_reads)
        writes.extend(more_writes)
    return reads, writes
