"""Register units: every 32-bit register that a wave can name is one small integer, a set of them one Python integer.

Sets as bit masks make data flow over hundreds of registers cheap: liveness of a block is a handful of operations on
integers.
"""

from __future__ import annotations

from loom.ir.types import RegisterType
from loom.target.amdgpu.machine import Register

VCC = 106
TTMP = 108
M0 = 124
SCC = 125
EXEC = 126
FLAT_SCRATCH = 128
XNACK_MASK = 130
VGPR = 256
AGPR = 512

_FIRST_UNIT = {
    "sgpr": 0,
    "vcc": VCC,
    "ttmp": TTMP,
    "m0": M0,
    "scc": SCC,
    "exec": EXEC,
    "flat_scratch": FLAT_SCRATCH,
    "xnack_mask": XNACK_MASK,
    "vgpr": VGPR,
    "agpr": AGPR,
}

#: Banks of more than one register: their values carry a location.
INDEXED_BANKS = frozenset(("sgpr", "ttmp", "vgpr", "agpr"))

#: Bank of a unit, by its first unit, highest first.
_BANKS_DOWN = sorted(((first, bank) for bank, first in _FIRST_UNIT.items()), reverse=True)


def first_unit(register: Register) -> int:
    """The first unit of a register, -1 where the operand is no register that holds a value (``null``, ``off``, …)."""
    first = _FIRST_UNIT.get(register.bank, -1)
    return -1 if first < 0 else first + register.index


def bank_of(unit: int) -> tuple[str, int]:
    """The bank that a unit belongs to, and its index there."""
    for first, bank in _BANKS_DOWN:
        if unit >= first:
            return bank, unit - first
    raise ValueError(f"no register unit {unit}")


def register_type(unit: int, count: int, wave_size: int) -> RegisterType:
    """The type of a value that lies in ``count`` units from ``unit``.

    VCC and EXEC as lane masks are classes of their own, one unit in the text whatever the wave size. VCC used in any
    other width is part of the scalar file, behind the last plain register.
    """
    bank, index = bank_of(unit)
    if bank == "vcc":
        if index == 0 and count == wave_size // 32:
            return RegisterType("amdgpu.vcc", 1)
        return RegisterType("amdgpu.sgpr", count, VCC + index)
    if bank in INDEXED_BANKS:
        return RegisterType(f"amdgpu.{bank}", count, index)
    if bank == "exec" and index == 0 and count == wave_size // 32:
        return RegisterType("amdgpu.exec", 1)
    return RegisterType(f"amdgpu.{bank}", count, index or None)


def type_units(type_: RegisterType, wave_size: int) -> tuple[int, int]:
    """The first unit and the count of a register type with a physical location."""
    bank = type_.register_class.removeprefix("amdgpu.")
    if bank in ("vcc", "exec") and type_.location is None and type_.units == 1:
        return _FIRST_UNIT[bank], wave_size // 32
    return _FIRST_UNIT[bank] + (type_.location or 0), type_.units


def mask_of(unit: int, count: int) -> int:
    """The bit mask of ``count`` units from ``unit``."""
    return ((1 << count) - 1) << unit


def units_in(mask: int) -> list[int]:
    """The units of a mask, ascending."""
    units = []
    while mask:
        low = mask & -mask
        units.append(low.bit_length() - 1)
        mask ^= low
    return units


def describe(unit: int) -> str:
    """A unit as assembly writes it: ``v7``, ``s3``, ``vcc_hi``."""
    bank, index = bank_of(unit)
    return str(Register(bank, index, 1))
