"""Floats of 8, 6 and 4 bits: decoding, encoding with nearest-even or stochastic rounding, block scales.

Formats (OCP "Microscaling Formats" and CDNA4 ISA, "Small Float Data Formats"): ``fp8`` e4m3, ``bf8`` e5m2, ``fp6``
e2m3, ``bf6`` e3m2, ``fp4`` e2m1. gfx942 has 8-bit formats of its own ("FNUZ": bias larger by one, no infinities, no
negative zero, 0x80 the only NaN); the mode tells. A scale is the exponent field of a single-precision number (E8M0,
255 is NaN): values are multiplied by 2^(scale - 127) on the way to wider formats, and divided by it on the way to
narrower ones.

Rules that the ISA leaves to AMD's host model of these conversions (HIP's OCP header, read for facts): stochastic
rounding adds the upper bits of the random word below the last bit kept, denormalized first, and truncates; NaN becomes
the largest code of a format that has none; NaN keeps the sign. gfx12 does otherwise, as AMD measured on a gfx1201 (its
emulator rocjitsu, ``conversion.h``): NaNs of 8 bits are negative whatever their sign, encoded and decoded, and an
infinity stays one (``bf8``) or becomes NaN (``fp8``) under ``FP16_OVFL``, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from loom.low.semantics.expression import (
    Expr,
    bitcast,
    bits,
    const,
    icmp,
    node,
    select,
    smax,
    trunc,
    zext,
)
from loom.low.semantics.floats import (
    fabs,
    is_infinite,
    is_nan,
    narrow_half_f64,
    narrow_single,
    number,
    power_of_two,
    single_to_bfloat,
    to_f64,
)
from loom.low.semantics.operation import Context

FRACTION_OF = {"f32": 23, "f16": 10, "bf16": 7}
"""Fraction bits of the formats that small floats are made from."""


@dataclass(frozen=True, slots=True)
class SmallFormat:
    """One format.

    Attributes:
        bits: Width.
        fraction: Fraction bits.
        bias: Exponent bias.
        largest: Code of the largest finite number.
        overflow: Code of what lies beyond: infinity or NaN, or the largest number where there is neither.
        nan: Code of NaN.
        unsigned_specials: NaN has no sign, and neither has zero (FNUZ).
    """

    bits: int
    fraction: int
    bias: int
    largest: int
    overflow: int
    nan: int
    unsigned_specials: bool = False

    @property
    def least_exponent(self) -> int:
        """Exponent of the smallest normal number."""
        return 1 - self.bias


FORMATS = {
    "fp8": SmallFormat(8, 3, 7, 0x7E, 0x7F, 0x7F),
    "bf8": SmallFormat(8, 2, 15, 0x7B, 0x7C, 0x7E),
    "fp6": SmallFormat(6, 3, 1, 0x1F, 0x1F, 0x1F),
    "bf6": SmallFormat(6, 2, 3, 0x1F, 0x1F, 0x1F),
    "fp4": SmallFormat(4, 1, 1, 0x7, 0x7, 0x7),
    "f16": SmallFormat(16, 10, 15, 0x7BFF, 0x7C00, 0x7E00),
}
_FNUZ = {
    "fp8": SmallFormat(8, 3, 8, 0x7F, 0x80, 0x80, True),
    "bf8": SmallFormat(8, 2, 16, 0x7F, 0x80, 0x80, True),
}


def format_of(c: Context, kind: str) -> SmallFormat:
    """The format a name stands for under the mode."""
    return _FNUZ[kind] if c.mode.fnuz and kind in _FNUZ else FORMATS[kind]


def decode_small(c: Context, code: Expr, kind: str) -> Expr:
    """The low bits of an ``i32`` as single precision, exactly."""
    shape = format_of(c, kind)
    sign_bit = 1 << (shape.bits - 1)
    word = code & ((1 << shape.bits) - 1)
    magnitude = word & (sign_bit - 1)
    sign = (word & sign_bit) << (32 - shape.bits)
    # Scale through a multiplication, which turns subnormals into normal numbers exactly.
    shifted = bitcast(magnitude << (23 - shape.fraction), "f32")
    value = bits(node("fmul", "f32", shifted, number("f32", 2.0 ** (127 - shape.bias))))
    nan = const("i32", 0xFFC00000 if c.generation == "gfx12" else 0x7FC00000)
    if shape.unsigned_specials:
        return bitcast(select(icmp("eq", word, 0x80), nan, value | sign), "f32")
    if kind == "fp8":
        value = select(icmp("eq", magnitude, 0x7F), nan, value)
    elif kind == "bf8":
        value = select(icmp("ugt", magnitude, 0x7C), nan, value)
        value = select(icmp("eq", magnitude, 0x7C), const("i32", 0x7F800000), value)
    return bitcast(value | sign, "f32")


def scale_field(word: Expr) -> Expr:
    """The exponent field of a single-precision operand, ``i32``: a block's scale."""
    return (word >> 23) & 255


def scaled_value(c: Context, code: Expr, kind: str, scale: Expr, target: str) -> Expr:
    """A small float times its block's scale, as the bits of ``f32``, ``f16`` or ``bf16`` (``i32``, zero-extended)."""
    exact = node("fmul", "f64", to_f64(decode_small(c, code, kind)), power_of_two(scale - 127))
    exact = select(icmp("eq", scale, 255), number("f64", float("nan")), exact)
    if target == "f16":
        return zext(bits(narrow_half_f64(exact)), "i32")
    single = narrow_single(exact)
    return bits(single) if target == "f32" else zext(single_to_bfloat(single), "i32")


def encode_small(
    c: Context, value: Expr, kind: str, scale: Expr | None = None, random: Expr | None = None, source: str = "f32"
) -> Expr:
    """A ``f32`` or ``f16`` value as a code (``i32``).

    ``scale``: the block's scale (``i32``, 0 to 255), which divides the value. ``random``: a random word for stochastic
    rounding; else to nearest even. ``source`` is the format the value had before it was widened (``bf16`` comes as
    ``f32``): it tells how many random bits count.
    """
    shape = format_of(c, kind)
    sign_bit = 1 << (shape.bits - 1)
    wide = to_f64(value)
    nan = is_nan(wide)
    infinite = is_infinite(wide)
    magnitude = fabs(wide)
    if scale is not None:
        magnitude = node("fmul", "f64", magnitude, power_of_two(const("i32", 127) - scale))
        nan = nan | icmp("eq", scale, 255)
    special = nan | infinite
    magnitude = select(special, number("f64", 0.0), magnitude)
    exponent = trunc(bits(magnitude) >> 52, "i32") - 1023
    exponent = smax(exponent, const("i32", shape.least_exponent))
    # In units of the last bit kept: below 2^(fraction + 1).
    units = node("fmul", "f64", magnitude, power_of_two(const("i32", shape.fraction) - exponent))
    if random is None:
        kept = node("fptosi", "i32", node("rint", "f64", units))
    else:
        extra = FRACTION_OF[source] - shape.fraction
        fine = node("fptosi", "i32", node("fmul", "f64", units, number("f64", 2.0**extra)))
        kept = (fine + (random >> (32 - extra))) >> extra
    code = ((exponent - shape.least_exponent) << shape.fraction) + kept
    clamps = c.mode.fp16_overflow and kind in ("fp8", "bf8", "f16")
    beyond = const("i32", shape.largest if clamps else shape.overflow)
    code = select(infinite | icmp("ugt", code, shape.largest), beyond, code)
    if c.generation == "gfx12":
        code = select(infinite, const("i32", shape.overflow), code)
    code = select(nan, const("i32", shape.nan), code)
    negative = icmp("ne", bits(wide) >> 63, 0)
    if c.generation == "gfx12":
        negative = negative | nan
    if shape.unsigned_specials:
        negative = negative & icmp("ne", code, 0) & icmp("ne", code, 0x80)
    return select(negative, code | sign_bit, code)


def next_random(word: Expr) -> Expr:
    """V_PRNG_B32: one step of the pseudo-random sequence."""
    return (word << 1) ^ select(icmp("ne", word >> 31, 0), const("i32", 197), const("i32", 0))
