"""Floating-point arithmetic from rational numbers: the tests' own definition of what an operation must give."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

#: fraction bits, exponent bits
FORMATS = {"f16": (10, 5), "f32": (23, 8), "f64": (52, 11)}
QUIET = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}


def width(kind: str) -> int:
    return int(kind[1:])


def decode(bits: int, kind: str) -> Fraction | float:
    """A bit pattern's value: a Fraction, or a float for infinities, NaN and negative zero."""
    fraction_bits, exponent_bits = FORMATS[kind]
    sign = bits >> (fraction_bits + exponent_bits)
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        if fraction:
            return math.nan
        return -math.inf if sign else math.inf
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == 0:
        value = Fraction(fraction, 1) * Fraction(2) ** (1 - bias - fraction_bits)
        if fraction == 0 and sign:
            return -0.0
    else:
        value = Fraction(fraction + (1 << fraction_bits)) * Fraction(2) ** (exponent - bias - fraction_bits)
    return -value if sign else value


def encode(value: Fraction | float, kind: str, rounding: int = 0, zero_sign: int = 0) -> int:
    """Round to a format. 0 nearest even, 1 up, 2 down, 3 towards zero."""
    fraction_bits, exponent_bits = FORMATS[kind]
    top = fraction_bits + exponent_bits
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if isinstance(value, float):
        if math.isnan(value):
            return QUIET[kind]
        if math.isinf(value):
            return infinity | (1 << top if value < 0 else 0)
        if value == 0:
            return 1 << top if math.copysign(1, value) < 0 else 0
        value = Fraction(value)
    if value == 0:
        return zero_sign << top
    sign = value < 0
    magnitude = -value if sign else value
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    scaled = magnitude / Fraction(2) ** (exponent - fraction_bits)
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    up = False
    if rest:
        if rounding == 0:
            up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1 == 1)
        elif rounding == 1:
            up = not sign
        elif rounding == 2:
            up = sign
    whole += up
    pattern = whole + ((exponent + bias - 1) << fraction_bits) if whole >> fraction_bits else whole
    if pattern >= infinity:
        towards_finite = rounding == 3 or (rounding == 1 and sign) or (rounding == 2 and not sign)
        pattern = infinity - 1 if towards_finite else infinity
    return pattern | (int(sign) << top)


def is_nan(bits: int, kind: str) -> bool:
    value = decode(bits, kind)
    return isinstance(value, float) and math.isnan(value)


def negative(bits: int, kind: str) -> bool:
    return bool(bits >> (width(kind) - 1))


def fma(a: int, b: int, c: int, kind: str, rounding: int = 0) -> int:
    """Fused multiply-add on bit patterns; every NaN result is the canonical one."""
    x, y, z = (decode(v, kind) for v in (a, b, c))
    special = any(isinstance(v, float) and (math.isnan(v) or math.isinf(v)) for v in (x, y, z))
    if special:
        fx, fy, fz = (_small(v) for v in (x, y, z))
        product = math.nan if (math.isinf(fx) and fy == 0) or (math.isinf(fy) and fx == 0) else fx * fy
        return encode(product + fz, kind)
    fx, fy, fz = (Fraction(v) for v in (x, y, z))
    exact = fx * fy + fz
    if exact == 0:
        product_sign = negative(a, kind) != negative(b, kind)
        if fx * fy == 0 and fz == 0:
            sign = 1 if product_sign and negative(c, kind) else 0
            if product_sign != negative(c, kind):
                sign = 1 if rounding == 2 else 0
            return sign << (width(kind) - 1)
        return (1 if rounding == 2 else 0) << (width(kind) - 1)
    return encode(exact, kind, rounding)


def _small(value: Fraction | float) -> float:
    """A float with the same sign and class: enough where an infinity or a NaN decides."""
    if isinstance(value, float):
        return value
    return 0.0 if value == 0 else math.copysign(1.0, value)


def add(a: int, b: int, kind: str, rounding: int = 0) -> int:
    one = encode(Fraction(1), kind)
    return fma(a, one, b, kind, rounding)


def mul(a: int, b: int, kind: str, rounding: int = 0) -> int:
    x, y = decode(a, kind), decode(b, kind)
    sign = negative(a, kind) != negative(b, kind)
    for v in (x, y):
        if isinstance(v, float) and math.isnan(v):
            return QUIET[kind]
    if any(isinstance(v, float) and math.isinf(v) for v in (x, y)):
        if _small(x) == 0 or _small(y) == 0:
            return QUIET[kind]
        return encode(-math.inf if sign else math.inf, kind)
    exact = Fraction(x) * Fraction(y)
    return encode(exact, kind, rounding, int(sign)) if exact else int(sign) << (width(kind) - 1)


def order_key(bits: int, kind: str) -> int:
    """Total order of the numbers, -0 below +0."""
    w = width(kind)
    magnitude = bits & ((1 << (w - 1)) - 1)
    return -magnitude - 1 if bits >> (w - 1) else magnitude


def to_float(bits: int, kind: str) -> float:
    code, unsigned = {"f16": ("e", "H"), "f32": ("f", "I"), "f64": ("d", "Q")}[kind]
    return float(struct.unpack(f"<{code}", struct.pack(f"<{unsigned}", bits))[0])
