"""The 8-bit formats in software: ``f8E4M3`` (finite, bias 7) and ``f8E5M2`` (bias 15)."""

from __future__ import annotations

import math

from loom.target.amdgpu.lowering.context import Lowering
from loom.target.amdgpu.lowering.emitter import Operand

# format → (mantissa bits, exponent bias, largest finite code, NaN code)
FORMATS: dict[str, tuple[int, int, int, int]] = {"f8E4M3": (3, 7, 0x7E, 0x7F), "f8E5M2": (2, 15, 0x7B, 0x7E)}


def f8_to_f32(lw: Lowering, word: Operand, kind: str) -> Operand:
    """The low byte as single precision: move exponent and mantissa into place and scale by the difference of the
    biases.
    """
    i, e = lw.i, lw.e
    mantissa, bias, _, _ = FORMATS[kind]
    magnitude = i.and_(word, 0x7F)
    moved = i.shl(magnitude, 23 - mantissa)
    scale = (127 + 127 - bias) << 23
    value: Operand = e.op("v_mul_f32", scale, moved)[0]
    if kind == "f8E4M3":
        value = lw.t.select_word(lw.t.compare32("eq", magnitude, 0x7F, False), 0x7FC00000, value)
    else:
        # Exponent 31 is infinity or NaN, with the mantissa kept.
        special = i.or_(0x7F800000, i.shl(i.and_(magnitude, 3), 21))
        value = lw.t.select_word(lw.t.compare32("ge", magnitude, 0x7C, False), special, value)
    return i.or_(value, i.shl(i.and_(word, 0x80), 24))


def f32_to_f8(lw: Lowering, word: Operand, kind: str) -> Operand:
    """Single precision rounded to nearest even; ``f8E4M3`` saturates, ``f8E5M2`` overflows to infinity."""
    i, e = lw.i, lw.e
    mantissa, bias, largest, nan = FORMATS[kind]
    magnitude = i.and_(word, 0x7FFFFFFF)
    # Normal results: round in place, then move the exponent.
    shift = 23 - mantissa
    lowest = i.bit_field(magnitude, shift, 1)
    rounded = i.add(i.add(magnitude, lowest), (1 << (shift - 1)) - 1)
    normal = i.sub(i.shr(rounded, shift), (127 - bias) << mantissa)
    # Subnormal results: adding this constant lines the mantissa up and rounds.
    align = (127 + 23 - bias - mantissa + 1) << 23
    lined = e.op("v_add_f32", align, magnitude)[0]
    subnormal = i.sub(lined, align)
    tiny = lw.t.compare32("lt", magnitude, (127 - bias + 1) << 23, False)
    code = lw.t.select_word(tiny, subnormal, normal)
    code = i.binary("min_u", code, largest) if kind == "f8E4M3" else i.binary("min_u", code, 124)
    code = lw.t.select_word(lw.t.compare32("gt", magnitude, 0x7F800000, False), nan, code)
    return i.or_(code, i.shr(i.and_(word, 0x80000000), 24))


def encode_constant(value: float, kind: str) -> int:
    """A constant in an 8-bit format, by the same rules."""
    mantissa, bias, largest, nan = FORMATS[kind]
    sign = 0x80 if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return nan | sign
    magnitude = abs(value)
    top = largest if kind == "f8E4M3" else 0x7C
    if math.isinf(magnitude):
        return top | sign
    if magnitude == 0:
        return sign
    exponent = max(math.frexp(magnitude)[1] - 1, 1 - bias)
    steps = round(magnitude / 2.0 ** (exponent - mantissa))
    code = steps + ((exponent + bias - 1) << mantissa)
    return min(code, top) | sign
