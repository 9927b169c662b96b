"""Source codes and register fields: which number stands for which register or constant, per generation.

Facts: the table of scalar source operands in AMD's instruction set documents. ``m0`` and ``null`` differ between the
generations, and only
gfx9.4 has ``flat_scratch`` and ``xnack_mask``.
"""

from __future__ import annotations

from functools import cache

from loom.target.amdgpu.machine import Inline, Operand, Register

LITERAL_CODE = 255

_SPECIAL_SOURCES = {
    235: "shared_base",
    236: "shared_limit",
    237: "private_base",
    238: "private_limit",
    239: "pops_exiting_wave_id",
    251: "vccz",
    252: "execz",
    253: "scc",
    254: "lds_direct",
}


def sgpr_count(generation: str) -> int:
    """Number of plain SGPRs that can be named."""
    return 102 if generation == "gfx9.4" else 106


def sgpr_alignment(units: int) -> int:
    """Alignment of the first register of a scalar tuple: pairs are even, longer tuples start at a multiple of four."""
    return 1 if units == 1 else 2 if units == 2 else 4


@cache
def scalar_operand(generation: str, code: int, units: int) -> Operand | None:
    """What source code 0…254 means in an operand of ``units`` registers.

    Returns:
        The register or inline constant; ``None`` if there is no such thing: a reserved code, a misaligned tuple, or
        one that
        runs past the end of its bank. 255 (a literal follows) is not a register and gives ``None`` too.
    """
    alignment = sgpr_alignment(units)
    count = sgpr_count(generation)
    if code < count:
        return Register("sgpr", code, units) if code % alignment == 0 and code + units <= count else None
    gfx9 = generation == "gfx9.4"
    if code < 108:
        bank = {102: "flat_scratch", 104: "xnack_mask", 106: "vcc"}[code & ~1]
        return _pair(bank, code & 1, units)
    if code < 124:
        index = code - 108
        return Register("ttmp", index, units) if index % alignment == 0 and index + units <= 16 else None
    if code in (124, 125):
        if code == (124 if gfx9 else 125):
            return Register("m0") if units == 1 else None
        return None if gfx9 else Register("null", 0, units)
    if code < 128:
        return _pair("exec", code & 1, units)
    if code <= 208 or 240 <= code <= 248:
        return Inline(code)
    name = _SPECIAL_SOURCES.get(code)
    if name is None:
        return None
    if gfx9 is False and code in (251, 252):
        return None
    return Register(name, 0, units)


def _pair(bank: str, half: int, units: int) -> Register | None:
    if units == 1:
        return Register(bank, half, 1)
    return Register(bank, 0, 2) if units == 2 and half == 0 else None
