"""Exact values of the scalar types in plain Python: wrapping integers, correctly rounded floats.

Every finite value of a float type is a Python float, so a value of type T is represented by the float that equals it;
:func:`round_float` rounds an exact rational or a float to T. Integers are represented as signed.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from loom.ir.types import FloatType, IndexType, IntegerType, OffsetType, Type

if TYPE_CHECKING:
    from fractions import Fraction

# name → (exponent bits, mantissa bits). IEEE 754 binary formats; bf16 is f32 cut to 16 bits; f8 of OCP 8-bit floating
# point specification 1.0 (E4M3: no infinities, one NaN; E5M2: IEEE-like).
FLOAT_FORMATS = {"f64": (11, 52), "f32": (8, 23), "f16": (5, 10), "bf16": (8, 7), "f8E5M2": (5, 2), "f8E4M3": (4, 3)}


def integer_width(type_: Type) -> int:
    """Bit width of an integer type; index and offset count as 64."""
    if isinstance(type_, IntegerType):
        return type_.width
    if isinstance(type_, IndexType | OffsetType):
        return 64
    raise ValueError(f"{type_} is not an integer type")


def wrap_signed(value: int, width: int) -> int:
    """Return the signed value of the low ``width`` bits."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def wrap_unsigned(value: int, width: int) -> int:
    """Return the unsigned value of the low ``width`` bits."""
    return value & ((1 << width) - 1)


def largest_finite(name: str) -> float:
    """Return the largest finite value of a float type."""
    exponent_bits, mantissa_bits = FLOAT_FORMATS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    if name == "f8E4M3":
        return float(448)
    return math.ldexp(2.0 - 2.0**-mantissa_bits, bias)


def round_float(value: float | Fraction, name: str, *, saturate: bool = False) -> float:
    """Round to the nearest value of the float type, ties to even; overflow gives an infinity.

    ``f8E4M3`` has no infinities: overflow gives NaN, or with ``saturate`` (what ``fptrunc`` does) the largest finite
    value.
    """
    if isinstance(value, float):
        if math.isnan(value) or value == 0.0:
            return value
        if math.isinf(value):
            if name != "f8E4M3":
                return value
            return math.copysign(448.0, value) if saturate else math.nan
        if name == "f64":
            return value
        if name == "f32":
            try:
                return float(struct.unpack("<f", struct.pack("<f", value))[0])
            except OverflowError:
                return math.copysign(math.inf, value)
    elif value == 0:
        return 0.0
    from fractions import Fraction  # loads decimal, which most runs do not need

    exact = Fraction(value)
    exponent_bits, mantissa_bits = FLOAT_FORMATS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    unit = Fraction(2) ** (exponent - mantissa_bits)
    quotient = magnitude / unit
    whole = quotient.numerator // quotient.denominator
    rest = quotient - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1):
        whole += 1
    rounded = whole * unit
    sign = -1.0 if exact < 0 else 1.0
    if rounded > Fraction(largest_finite(name)):
        if name == "f8E4M3":
            return sign * 448.0 if saturate else math.nan
        return sign * math.inf
    return math.copysign(float(rounded), sign)


def float_bits(value: float, name: str) -> int:
    """Return the bit pattern of a value of the float type (NaN: the quiet one with the sign kept)."""
    exponent_bits, mantissa_bits = FLOAT_FORMATS[name]
    sign = 1 if math.copysign(1.0, value) < 0 else 0
    width = 1 + exponent_bits + mantissa_bits
    top = ((1 << exponent_bits) - 1) << mantissa_bits
    if math.isnan(value):
        body = top | ((1 << mantissa_bits) - 1 if name == "f8E4M3" else 1 << (mantissa_bits - 1))
    elif math.isinf(value):
        body = top
    elif value == 0.0:
        body = 0
    else:
        bias = (1 << (exponent_bits - 1)) - 1
        fraction, exponent = math.frexp(abs(value))
        exponent -= 1
        if exponent < 1 - bias:
            body = round(math.ldexp(abs(value), mantissa_bits - (1 - bias)))
        else:
            mantissa = round(math.ldexp(fraction * 2.0 - 1.0, mantissa_bits))
            body = ((exponent + bias) << mantissa_bits) + mantissa
    return (sign << (width - 1)) | body


def float_of_bits(bits: int, name: str) -> float:
    """Return the value of a bit pattern of the float type."""
    exponent_bits, mantissa_bits = FLOAT_FORMATS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    sign = -1.0 if bits >> (exponent_bits + mantissa_bits) & 1 else 1.0
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        if name == "f8E4M3":
            if mantissa == (1 << mantissa_bits) - 1:
                return math.nan
        elif mantissa:
            return math.nan
        else:
            return sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)


def normalize(value: int | float | bool, type_: Type) -> int | float:
    """Return a literal as the value it means in a scalar type: integers signed (i1: 0 or 1), floats rounded."""
    if isinstance(type_, FloatType):
        return round_float(float(value), type_.name)
    if isinstance(type_, IntegerType) and type_.width == 1:
        return int(value) & 1
    return wrap_signed(int(value), integer_width(type_))
