"""Which register units a machine instruction reads and writes."""

from __future__ import annotations

from functools import cache

from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import MachineInstruction, Register

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


_Shape = tuple[tuple[tuple[bool, bool], ...], tuple[int, ...], tuple[int, ...]]
_SHAPES: dict[int, tuple[InstructionRow, _Shape]] = {}


def _shape(row: InstructionRow) -> _Shape:
    """Roles of the slots and implicit units of a row; kept by identity, since hashing a row is slow."""
    found = _SHAPES.get(id(row))
    if found is None:
        found = _SHAPES[id(row)] = (row, _make_shape(row))
    return found[1]


def _make_shape(row: InstructionRow) -> _Shape:
    return (
        tuple((slot.is_def, slot.is_use) for slot in row.slots),
        state_units(row.implicit_uses),
        state_units(row.implicit_defs),
    )


def reads_and_writes(instruction: MachineInstruction) -> tuple[list[int], list[int]]:
    """Units read and units written, implicit ones and the second half of a pair included."""
    shape, uses, defs = _shape(instruction.row)
    reads, writes = list(uses), list(defs)
    for (is_def, is_use), operand in zip(shape, instruction.operands, strict=True):
        if operand.__class__ is Register:
            units = units_of(operand)
            if is_use:
                reads.extend(units)
            if is_def:
                writes.extend(units)
    if instruction.y is not None:
        more_reads, more_writes = reads_and_writes(instruction.y)
        reads.extend(more_reads)
        writes.extend(more_writes)
    return reads, writes
