"""Integer division: by constants with shifts and multiplications, by values through a float reciprocal.

Sources: constant divisors as in Warren, "Hacker's Delight", chapter 10; by values the Newton iteration on a scaled
single-precision reciprocal, whose estimate is at most two too small (the bound LLVM's AMDGPU code generator relies
on).
"""

from __future__ import annotations

from loom.target.amdgpu.lowering.context import Lowering
from loom.target.amdgpu.lowering.emitter import MASK32, Operand
from loom.target.amdgpu.lowering.integers import Pair

_SCALE = 0x4F7FFFFE
"""The largest float below 2^32 minus what keeps the estimate from above: 2^32 - 512."""


def magic(divisor: int, bits: int) -> tuple[int, int, bool]:
    """Multiplier, shift and whether the multiplier needs 33 bits, for unsigned dividends below ``2^bits``.

    ``n // divisor == (n * multiplier) >> (32 + shift)``; with the flag set the multiplier is meant plus 2^32.
    """
    top = (1 << bits) - 1
    for shift in range(33):
        multiplier = -(-(1 << (32 + shift)) // divisor)
        excess = multiplier * divisor - (1 << (32 + shift))
        if excess * top < (1 << (32 + shift)):
            if multiplier < (1 << 32):
                return multiplier, shift, False
            return multiplier - (1 << 32), shift, True
    raise AssertionError("no multiplier")


def divide_unsigned(
    lw: Lowering, a: Operand, b: Operand, quotient: bool = True, remainder: bool = True
) -> tuple[Operand, Operand]:
    """Quotient and remainder of unsigned words (what is not asked for may be any word)."""
    i = lw.i
    if isinstance(b, int):
        b &= MASK32
        if b == 0:
            return MASK32, a
        if isinstance(a, int):
            return (a & MASK32) // b, (a & MASK32) % b
        if b & (b - 1) == 0:
            lw.note("shift and mask")
            shift = b.bit_length() - 1
            return i.shr(a, shift) if quotient else 0, i.and_(a, b - 1) if remainder else 0
        if i.bits(a) < b.bit_length():
            return 0, a
        lw.note("division by a constant: multiply and shift")
        q = _by_constant(lw, a, b)
        return q, i.sub(a, i.mul(q, b)) if remainder else 0
    lw.note("single-precision reciprocal, corrected twice")
    e = lw.e
    as_float = e.op("v_cvt_f32_u32", b)[0]
    estimate = e.op("v_rcp_iflag_f32", as_float)[0]
    scaled = e.op("v_mul_f32", _SCALE, estimate)[0]
    reciprocal: Operand = e.op("v_cvt_u32_f32", scaled)[0]
    error = i.mul(i.negate(b), reciprocal)
    reciprocal = i.add(reciprocal, i.binary("mulhi_u", reciprocal, error))
    q = i.binary("mulhi_u", a, reciprocal)
    r = i.sub(a, i.mul(q, b))
    for last in (False, True):
        again = lw.t.compare32("ge", r, b, signed=False)
        if quotient:
            q = lw.t.select_word(again, i.add(q, 1), q)
        if remainder or not last:
            r = lw.t.select_word(again, i.sub(r, b), r)
    return q, r


def _by_constant(lw: Lowering, a: Operand, b: int) -> Operand:
    i = lw.i
    bits = i.bits(a)
    multiplier, shift, wide = magic(b, bits)
    if wide and b % 2 == 0:
        # An even divisor: halve both first, which makes room for the multiplier.
        zeros = (b & -b).bit_length() - 1
        multiplier, shift, wide = magic(b >> zeros, bits - zeros)
        a = i.shr(a, zeros)
    high = i.binary("mulhi_u", a, multiplier)
    if not wide:
        return i.shr(high, shift)
    # (a + high) may need 33 bits: average first.
    half = i.shr(i.sub(a, high), 1)
    return i.shr(i.add(half, high), shift - 1)


def divide_signed(lw: Lowering, a: Operand, b: Operand, quotient: bool, remainder: bool) -> tuple[Operand, Operand]:
    """Quotient (toward zero) and remainder (sign of the dividend) of signed words."""
    i = lw.i
    sign_a = i.sar(a, 31)
    if isinstance(b, int):
        value = b - (1 << 32) if b >> 31 else b
        magnitude = abs(value)
        if magnitude & (magnitude - 1) == 0 and magnitude:
            lw.note("shift and mask")
            shift = magnitude.bit_length() - 1
            bias = i.shr(sign_a, 32 - shift) if shift else 0
            biased = i.add(a, bias)
            q = i.sar(biased, shift)
            r = i.sub(a, i.shl(q, shift))
            return (i.negate(q) if value < 0 else q), r
        sign_b: Operand = MASK32 if value < 0 else 0
        absolute_b: Operand = magnitude
    else:
        sign_b = i.sar(b, 31)
        absolute_b = i.sub(i.xor(b, sign_b), sign_b)
    absolute_a = i.sub(i.xor(a, sign_a), sign_a)
    q, r = divide_unsigned(lw, absolute_a, absolute_b, quotient, remainder)
    sign_q = i.xor(sign_a, sign_b)
    if quotient:
        q = i.sub(i.xor(q, sign_q), sign_q)
    if remainder:
        r = i.sub(i.xor(r, sign_a), sign_a)
    return q, r


def multiply_high64(lw: Lowering, a: Pair, b: Pair) -> Pair:
    """The upper 64 bits of the 128-bit product of unsigned pairs."""
    i = lw.i
    low = i.multiply_wide(a[0], b[0])
    middle = i.multiply_wide(a[1], b[0], (low[1], 0))
    cross = i.multiply_wide(a[0], b[1], (middle[0], 0))
    return i.multiply_wide(a[1], b[1], _sum3(lw, (middle[1], 0), (cross[1], 0)))


def _sum3(lw: Lowering, a: Pair, b: Pair) -> Pair:
    return lw.i.add64(a, b)


def divide_unsigned64(lw: Lowering, a: Pair, b: Pair, remainder: bool, divisor: int | None = None) -> tuple[Pair, Pair]:
    """Quotient and remainder of unsigned pairs."""
    i, e = lw.i, lw.e
    if divisor is not None and divisor > 0 and divisor & (divisor - 1) == 0:
        lw.note("shift and mask")
        shift = divisor.bit_length() - 1
        q = i.shift64("shr", a, shift)
        mask = divisor - 1
        return q, (i.and_(a[0], mask & MASK32), i.and_(a[1], mask >> 32))
    # A reciprocal of the divisor as a 64-bit fraction, from single precision.
    lw.note("64-bit reciprocal from single precision, corrected twice")
    low, high = e.op("v_cvt_f32_u32", b[0])[0], e.op("v_cvt_f32_u32", b[1])[0]
    whole = e.op("v_fma_f32", high, 0x4F800000, low)[0]
    estimate = e.op("v_rcp_f32", whole)[0]
    scaled = e.op("v_mul_f32", 0x5F7FFFFC, estimate)[0]
    upper = e.op("v_trunc_f32", e.op("v_mul_f32", 0x2F800000, scaled)[0])[0]
    lower = e.op("v_fma_f32", upper, 0xCF800000, scaled)[0]
    reciprocal: Pair = (e.op("v_cvt_u32_f32", lower)[0], e.op("v_cvt_u32_f32", upper)[0])
    negative = i.sub64((0, 0), b)
    for _ in range(2):
        error = i.mul64(negative, reciprocal)
        reciprocal = i.add64(reciprocal, multiply_high64(lw, reciprocal, error))
    q = multiply_high64(lw, a, reciprocal)
    r = i.sub64(a, i.mul64(b, q))
    for last in (False, True):
        again = lw.t.compare64("ge", r, b, signed=False)
        bigger = i.add64(q, (1, 0))
        q = _pair(lw.t.select(again, bigger, q))
        if remainder or not last:
            r = _pair(lw.t.select(again, i.sub64(r, b), r))
    return q, r


def _pair(words: tuple[Operand, ...]) -> Pair:
    return words[0], words[1]


def divide_signed64(lw: Lowering, a: Pair, b: Pair, remainder: bool) -> tuple[Pair, Pair]:
    """Quotient (toward zero) and remainder of signed pairs."""
    i = lw.i
    sign_a, sign_b = i.sar(a[1], 31), i.sar(b[1], 31)

    def flip(value: Pair, sign: Operand) -> Pair:
        return i.sub64((i.xor(value[0], sign), i.xor(value[1], sign)), (sign, sign))

    q, r = divide_unsigned64(lw, flip(a, sign_a), flip(b, sign_b), remainder)
    return flip(q, i.xor(sign_a, sign_b)), flip(r, sign_a)
