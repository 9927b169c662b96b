"""Floating-point building blocks: arithmetic under the denormal and rounding modes, minimum and maximum, conversions.

Every arithmetic result that is not a number is the canonical quiet NaN (sign clear, top fraction bit set), so that
results
do not depend on which operand a host's instruction happens to prefer. Half precision is computed in single precision,
which has enough bits that the second rounding changes nothing (24 >= 2 * 11 + 2; Figueroa, 1995); its fused
multiply-add goes through double precision with a round-to-odd step.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from loom.low.semantics.expression import (
    Expr,
    bitcast,
    bits,
    const,
    fcmp,
    icmp,
    node,
    resize,
    select,
    smax,
    smin,
    trunc,
    zext,
)

if TYPE_CHECKING:
    from loom.low.semantics.operation import Context

FRACTION = {"f16": 10, "f32": 23, "f64": 52}
QUIET_NAN = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}
INFINITY = {"f16": 0x7C00, "f32": 0x7F800000, "f64": 0x7FF0000000000000}
SIGN = {"f16": 0x8000, "f32": 0x80000000, "f64": 0x8000000000000000}


def number(type_: str, value: float) -> Expr:
    """A floating-point constant."""
    code, unsigned = {"f16": ("e", "H"), "f32": ("f", "I"), "f64": ("d", "Q")}[type_]
    return const(type_, struct.unpack(f"<{unsigned}", struct.pack(f"<{code}", value))[0])


def fneg(a: Expr) -> Expr:
    """Flip the sign bit."""
    return bitcast(bits(a) ^ SIGN[a.type], a.type)


def fabs(a: Expr) -> Expr:
    """Clear the sign bit."""
    return bitcast(bits(a) & (SIGN[a.type] - 1), a.type)


def is_nan(a: Expr) -> Expr:
    """Whether a value is not a number."""
    if a.type == "f16":
        return icmp("ugt", bits(a) & 0x7FFF, 0x7C00)
    return fcmp("uno", a, a)


def is_signaling(a: Expr) -> Expr:
    """Whether a value is a signaling NaN."""
    quiet = 1 << (FRACTION[a.type] - 1)
    return is_nan(a) & icmp("eq", bits(a) & quiet, 0)


def is_infinite(a: Expr) -> Expr:
    """Whether a value is an infinity."""
    return icmp("eq", bits(fabs(a)), INFINITY[a.type])


def is_zero(a: Expr) -> Expr:
    """Whether a value is a zero of either sign."""
    return icmp("eq", bits(fabs(a)), 0)


def is_denormal(a: Expr) -> Expr:
    """Whether a value is subnormal (zero is not)."""
    magnitude = bits(fabs(a))
    return icmp("ne", magnitude, 0) & icmp("ult", magnitude, 1 << FRACTION[a.type])


def quiet(a: Expr) -> Expr:
    """A NaN with its quiet bit set; other values unchanged."""
    return select(is_nan(a), bitcast(bits(a) | (1 << (FRACTION[a.type] - 1)), a.type), a)


def canonical(a: Expr) -> Expr:
    """Replace any NaN by the canonical one."""
    return select(is_nan(a), const(a.type, QUIET_NAN[a.type]), a)


def flush(a: Expr) -> Expr:
    """Replace subnormal values by zero of the same sign."""
    magnitude = bits(fabs(a))
    return select(icmp("ult", magnitude, 1 << FRACTION[a.type]), bitcast(bits(a) & SIGN[a.type], a.type), a)


def _denormals(c: Context, type_: str) -> int:
    return c.mode.denorm32 if type_ == "f32" else c.mode.denorm64


def flush_input(c: Context, a: Expr) -> Expr:
    """An operand as arithmetic reads it under the denormal mode (bit 0: inputs kept)."""
    return a if _denormals(c, a.type) & 1 else flush(a)


def flush_output(c: Context, a: Expr) -> Expr:
    """A result under the denormal mode (bit 1: results kept)."""
    return a if _denormals(c, a.type) & 2 else flush(a)


def _rounding(c: Context, type_: str) -> int:
    return c.mode.round32 if type_ == "f32" else c.mode.round64


def widen(a: Expr) -> Expr:
    """Half to single precision (exact)."""
    return node("fpext", "f32", a)


def to_f64(a: Expr) -> Expr:
    """Half or single to double precision (exact)."""
    if a.type == "f64":
        return a
    return node("fpext", "f64", widen(a) if a.type == "f16" else a)


def narrow_half(a: Expr, rounding: int = 0) -> Expr:
    """Single to half precision; NaN gives the canonical NaN."""
    rounded = node("fptrunc", "f16", a)
    if rounding:
        back = widen(rounded)
        rounded = _step(rounded, fcmp("ogt", a, back), fcmp("olt", a, back), rounding)
    return select(is_nan(a), const("f16", QUIET_NAN["f16"]), rounded)


def round_odd_to_single(a: Expr) -> Expr:
    """Double precision to single, rounding to odd, for values whose final rounding is to half precision."""
    pattern = bits(a)
    sticky = select(icmp("ne", pattern & 0x1FFFFFFF, 0), const("i64", 0x20000000), const("i64", 0))
    return node("fptrunc", "f32", bitcast((pattern & ~0x1FFFFFFF) | sticky, "f64"))


def narrow_half_f64(a: Expr, rounding: int = 0) -> Expr:
    """Double to half precision with one rounding."""
    tiny = fcmp("olt", fabs(a), number("f64", 2.0**-100))
    return narrow_half(
        select(tiny, node("fptrunc", "f32", node("fmul", "f64", a, number("f64", 2.0**-20))), round_odd_to_single(a)),
        rounding,
    )


def narrow_single(a: Expr, rounding: int = 0) -> Expr:
    """Double to single precision; NaN gives the canonical NaN."""
    rounded = node("fptrunc", "f32", a)
    if rounding:
        back = node("fpext", "f64", rounded)
        rounded = _step(rounded, fcmp("ogt", a, back), fcmp("olt", a, back), rounding)
    return canonical(rounded)


def _step(rounded: Expr, above: Expr, below: Expr, rounding: int) -> Expr:
    """Correct a nearest-even result to a directed rounding, given whether the exact value lies above or below it.

    ``rounding``: 1 towards +infinity, 2 towards -infinity, 3 towards zero.
    """
    pattern = bits(rounded)
    negative = icmp("ne", pattern & SIGN[rounded.type], 0)
    magnitude = pattern & (SIGN[rounded.type] - 1)
    zero = icmp("eq", magnitude, 0)
    smallest_up = const(pattern.type, 1)
    smallest_down = const(pattern.type, SIGN[rounded.type] | 1)
    # Next value upwards and downwards in the ordering of floating-point numbers.
    up = select(zero, smallest_up, select(negative, pattern - 1, pattern + 1))
    down = select(zero, smallest_down, select(negative, pattern + 1, pattern - 1))
    if rounding == 1:
        stepped = select(above, up, pattern)
    elif rounding == 2:
        stepped = select(below, down, pattern)
    else:
        positive_over = below & ~negative & ~zero
        negative_over = above & negative & ~zero
        stepped = select(positive_over, down, select(negative_over, up, pattern))
    return bitcast(stepped, rounded.type)


def _directed(op: str, result: Expr, operands: list[Expr], rounding: int) -> Expr:
    """Directed rounding of a single- or double-precision operation, from its nearest-even result and the error."""
    type_ = result.type
    if type_ == "f32":
        wide = [to_f64(o) for o in operands]
        value = to_f64(result)
        # Products of single-precision numbers are exact in double precision.
        if op == "fmul":
            error = node("fsub", "f64", node("fmul", "f64", wide[0], wide[1]), value)
        elif op == "fma":
            error = fma_error(operands[0], operands[1], operands[2], result)
        else:
            error = _sum_error(wide[0], wide[1], value)
    elif op == "fmul":
        error = _product_error(operands[0], operands[1], result)
    elif op == "fma":
        error = fma_error(operands[0], operands[1], operands[2], result)
    else:
        error = _sum_error(operands[0], operands[1], result)
    nothing = number("f64", 0.0)
    stepped = _step(result, fcmp("ogt", error, nothing), fcmp("olt", error, nothing), rounding)
    if rounding == 2 and op != "fmul":
        stepped = select(fcmp("oeq", error, nothing), _cancelled_zero(stepped, op, operands), stepped)
    infinite = icmp("eq", bits(fabs(result)), INFINITY[type_])
    overflow = infinite
    for operand in operands:
        overflow = overflow & icmp("ne", bits(fabs(operand)), INFINITY[type_])
    largest = bitcast((bits(result) & SIGN[type_]) | (INFINITY[type_] - 1), type_)
    negative = icmp("ne", bits(result) & SIGN[type_], 0)
    towards = {1: negative, 2: ~negative, 3: const("i1", 1)}[rounding]
    return select(infinite | is_nan(result), select(overflow & towards, largest, result), stepped)


_TINY_PRODUCT = 2.0**-900


def fma_error(a: Expr, b: Expr, d: Expr, result: Expr) -> Expr:
    """``(a * b + d) - result`` (``f64``), ``result`` being the rounded sum; exact in its sign."""
    if a.type == "f32":
        return _sum_error(node("fmul", "f64", to_f64(a), to_f64(b)), to_f64(d), to_f64(result))
    product = node("fmul", "f64", a, b)
    main = _sum_error(product, d, result)
    low = _product_error(a, b, product)
    # A tiny product's error is scaled, so only its sign counts; it is below every nonzero main part.
    tiny = fcmp("olt", fabs(product), number("f64", _TINY_PRODUCT))
    combined = node("fadd", "f64", main, low)
    return select(tiny, select(fcmp("une", main, number("f64", 0.0)), main, low), combined)


def _product_error(a: Expr, b: Expr, product: Expr) -> Expr:
    """The sign of ``a * b - product`` in double precision; exact in value too unless the product is tiny."""
    plain = node("fma", "f64", a, b, fneg(product))
    scale = number("f64", 2.0**600)
    a_smaller = fcmp("olt", fabs(a), fabs(b))
    small = select(a_smaller, a, b)
    large = select(a_smaller, b, a)
    scaled = node("fma", "f64", node("fmul", "f64", small, scale), large, fneg(node("fmul", "f64", product, scale)))
    vanished = is_zero(product) & ~is_zero(a) & ~is_zero(b)
    sign = bitcast(((bits(a) ^ bits(b)) & SIGN["f64"]) | bits(number("f64", 1.0)), "f64")
    tiny = fcmp("olt", fabs(product), number("f64", _TINY_PRODUCT))
    return select(vanished, sign, select(tiny, scaled, plain))


def _cancelled_zero(value: Expr, op: str, operands: list[Expr]) -> Expr:
    """Rounding down, an exact sum of zero from terms of different signs is -0."""
    type_ = value.type
    first = bits(operands[0]) ^ bits(operands[1]) if op == "fma" else bits(operands[0])
    differ = icmp("ne", (first ^ bits(operands[-1])) & SIGN[type_], 0)
    return select(differ & icmp("eq", bits(value), 0), const(type_, SIGN[type_]), value)


def _directed_half(op: str, values: list[Expr], rounding: int) -> Expr:
    """Directed rounding to half precision: exact sum and error in double precision, then one step."""
    wide = [to_f64(v) for v in values]
    if op == "fmul":
        total, error = node("fmul", "f64", *wide), number("f64", 0.0)
    else:
        first = node("fmul", "f64", wide[0], wide[1]) if op == "fma" else wide[0]
        total = node("fadd", "f64", first, wide[-1])
        error = _sum_error(first, wide[-1], total)
    rounded = narrow_half(round_odd_to_single(total))
    difference = node("fsub", "f64", total, to_f64(rounded))
    nothing = number("f64", 0.0)
    level = fcmp("oeq", difference, nothing)
    above = fcmp("ogt", difference, nothing) | (level & fcmp("ogt", error, nothing))
    below = fcmp("olt", difference, nothing) | (level & fcmp("olt", error, nothing))
    stepped = _step(rounded, above, below, rounding)
    if rounding == 2 and op != "fmul":
        exact = level & fcmp("oeq", error, nothing)
        stepped = select(exact, _cancelled_zero(stepped, op, values), stepped)
    return select(is_nan(rounded), rounded, stepped)


def _sum_error(a: Expr, b: Expr, total: Expr) -> Expr:
    """``(a + b) - total`` where ``total`` is ``a + b`` rounded (to any precision); exact in its sign."""
    exact = node("fadd", "f64", a, b)
    virtual = node("fsub", "f64", exact, a)
    low = node(
        "fadd", "f64", node("fsub", "f64", a, node("fsub", "f64", exact, virtual)), node("fsub", "f64", b, virtual)
    )
    return node("fadd", "f64", node("fsub", "f64", exact, total), low)


def limit_half(c: Context, result: Expr, *operands: Expr) -> Expr:
    """Under FP16_OVFL a half that overflows is the largest one; an infinity that comes from an operand stays."""
    if not c.mode.fp16_overflow:
        return result
    overflow = is_infinite(result)
    for operand in operands:
        overflow = overflow & ~is_infinite(operand)
    return select(overflow, bitcast((bits(result) & SIGN["f16"]) | 0x7BFF, "f16"), result)


def single_to_half(c: Context, a: Expr) -> Expr:
    """Single to half precision under the modes; a NaN keeps its sign and the upper bits of its payload."""
    return _half_of(c, a, limit_half(c, narrow_half(flush_input(c, a), c.mode.round64), a))


def single_to_half_truncated(c: Context, a: Expr) -> Expr:
    """``single_to_half`` rounding towards zero whatever the mode says; ``FP16_OVFL`` does not matter."""
    return _half_of(c, a, narrow_half(flush_input(c, a), 3))


def _half_of(c: Context, a: Expr, value: Expr) -> Expr:
    payload = ((bits(a) >> 16) & 0x8000) | 0x7E00 | ((bits(a) >> 13) & 0x3FF)
    return flush_output(c, select(is_nan(a), bitcast(trunc(payload, "i16"), "f16"), value))


def _arithmetic(c: Context, op: str, *operands: Expr) -> Expr:
    type_ = operands[0].type
    values = [flush_input(c, o) for o in operands]
    rounding = _rounding(c, type_)
    if type_ == "f16":
        if rounding:
            half = _directed_half(op, values, rounding)
        elif op == "fma":
            a, b, d = (to_f64(v) for v in values)
            half = narrow_half(round_odd_to_single(node("fadd", "f64", node("fmul", "f64", a, b), d)))
        else:
            half = narrow_half(node(op, "f32", *(widen(v) for v in values)))
        return flush_output(c, limit_half(c, half, *values))
    result = node(op, type_, *values)
    if rounding:
        result = _directed(op, result, values, rounding)
    return flush_output(c, canonical(result))


def fadd(c: Context, a: Expr, b: Expr) -> Expr:
    """Sum."""
    return _arithmetic(c, "fadd", a, b)


def fsub(c: Context, a: Expr, b: Expr) -> Expr:
    """Difference."""
    return _arithmetic(c, "fadd", a, fneg(b))


def fmul(c: Context, a: Expr, b: Expr) -> Expr:
    """Product."""
    return _arithmetic(c, "fmul", a, b)


def ffma(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
    """Fused multiply-add."""
    return _arithmetic(c, "fma", a, b, d)


def fmad(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
    """Multiply, round, add, round."""
    return fadd(c, fmul(c, a, b), d)


def fmul_legacy(c: Context, a: Expr, b: Expr) -> Expr:
    """Product in which a zero of either operand gives +0, whatever the other is."""
    zero = is_zero(flush_input(c, a)) | is_zero(flush_input(c, b))
    return select(zero, number(a.type, 0.0), fmul(c, a, b))


def ffma_legacy(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
    """Fused multiply-add whose product follows :func:`fmul_legacy`."""
    zero = is_zero(flush_input(c, a)) | is_zero(flush_input(c, b))
    return select(zero, fadd(c, number(a.type, 0.0), d), ffma(c, a, b, d))


def _comparable(a: Expr) -> Expr:
    return widen(a) if a.type == "f16" else a


def compare(c: Context, predicate: str, a: Expr, b: Expr) -> Expr:
    """Comparison under the denormal mode."""
    a, b = flush_input(c, a), flush_input(c, b)
    return fcmp(predicate, _comparable(a), _comparable(b))


def _less(a: Expr, b: Expr) -> Expr:
    """``a < b`` with -0 below +0 (both ordered)."""
    below = fcmp("olt", _comparable(a), _comparable(b))
    equal = fcmp("oeq", _comparable(a), _comparable(b))
    signed_a = icmp("ne", bits(a) & SIGN[a.type], 0)
    signed_b = icmp("ne", bits(b) & SIGN[b.type], 0)
    return below | (equal & signed_a & ~signed_b)


def minimum_number(c: Context, a: Expr, b: Expr) -> Expr:
    """IEEE 754-2008 minNum: a quiet NaN loses against a number; in IEEE mode a signaling NaN gives a quiet NaN; -0 <
    +0.
    """
    return _number_choice(c, a, b, lambda x, y: _less(x, y))


def maximum_number(c: Context, a: Expr, b: Expr) -> Expr:
    """IEEE 754-2008 maxNum, see :func:`minimum_number`."""
    return _number_choice(c, a, b, lambda x, y: _less(y, x))


def _number_choice(c: Context, a: Expr, b: Expr, prefer: object) -> Expr:
    assert callable(prefer)
    a, b = flush_input(c, a), flush_input(c, b)
    chosen = select(is_nan(b), a, select(is_nan(a), b, select(prefer(b, a), b, a)))
    chosen = select(is_nan(chosen), const(a.type, QUIET_NAN[a.type]), chosen)
    if c.mode.ieee and c.generation != "gfx12":
        chosen = select(is_signaling(a) | is_signaling(b), const(a.type, QUIET_NAN[a.type]), chosen)
    return flush_output(c, chosen)


def minimum_ieee(c: Context, a: Expr, b: Expr) -> Expr:
    """IEEE 754-2019 minimum: any NaN gives a NaN; -0 < +0."""
    a, b = flush_input(c, a), flush_input(c, b)
    chosen = select(_less(b, a), b, a)
    return flush_output(c, select(is_nan(a) | is_nan(b), const(a.type, QUIET_NAN[a.type]), chosen))


def maximum_ieee(c: Context, a: Expr, b: Expr) -> Expr:
    """IEEE 754-2019 maximum: any NaN gives a NaN; -0 < +0."""
    a, b = flush_input(c, a), flush_input(c, b)
    chosen = select(_less(a, b), b, a)
    return flush_output(c, select(is_nan(a) | is_nan(b), const(a.type, QUIET_NAN[a.type]), chosen))


def apply_output_modifier(value: Expr, omod: int) -> Expr:
    """Multiply by 2, 4 or 0.5 (``omod`` 1, 2, 3); the result's subnormals are flushed, as the ISA says for output
    modifiers.
    """
    if not omod:
        return value
    factor = {1: 2.0, 2: 4.0, 3: 0.5}[omod]
    if value.type == "f16":
        return flush(narrow_half(node("fmul", "f32", widen(value), number("f32", factor))))
    return flush(canonical(node("fmul", value.type, value, number(value.type, factor))))


def apply_clamp(value: Expr, dx10_clamp: bool) -> Expr:
    """Clamp to [0, 1]; a NaN becomes 0 under the DX10 clamp mode and stays otherwise. -0 becomes +0."""
    type_ = value.type
    zero, one = number(type_, 0.0), number(type_, 1.0)
    x = _comparable(value)
    positive = fcmp("ogt", x, _comparable(zero))
    result = select(positive, select(fcmp("ogt", x, _comparable(one)), one, value), zero)
    return result if dx10_clamp else select(is_nan(value), value, result)


def float_to_int(a: Expr, width: int, signed: bool) -> Expr:
    """Round towards zero with saturation; NaN gives 0. ``a`` is ``f32`` or ``f64``; the result has ``width`` bits."""
    type_ = f"i{width}"
    if signed:
        low, high = -(2.0 ** (width - 1)), 2.0 ** (width - 1)
        least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
    else:
        low, high = 0.0, 2.0**width
        least, most = 0, (1 << width) - 1
    # The host conversion must stay in range; an unsigned one goes through a wider signed type.
    inside = fcmp("oge", a, number(a.type, low)) & fcmp("olt", a, number(a.type, high))
    safe = select(inside, a, number(a.type, 0.0))
    raw = "i64" if width == 32 and not signed else type_
    if width < 32:
        raw = "i32"
    converted = node("fptosi", raw, safe) if signed or raw == "i64" or width < 32 else node("fptoui", raw, safe)
    value = trunc(converted, type_) if raw != type_ else converted
    upper = select(fcmp("oge", a, number(a.type, high)), const(type_, most), const(type_, 0))
    saturated = select(fcmp("olt", a, number(a.type, low)), const(type_, least), upper)
    return select(inside, value, saturated)


def _integral(op: str, a: Expr) -> Expr:
    if a.type == "f16":
        return narrow_half(node(op, "f32", widen(a)))
    return canonical(node(op, a.type, a))


def integral(c: Context, op: str, a: Expr) -> Expr:
    """``floor``, ``ceil``, ``ftrunc`` or ``rint`` under the denormal mode."""
    return flush_output(c, _integral(op, flush_input(c, a)))


def fraction(c: Context, a: Expr) -> Expr:
    """``a - floor(a)``, at most the largest value below one."""
    a = flush_input(c, a)
    if a.type == "f16":
        wide = widen(a)
        value = narrow_half(node("fsub", "f32", wide, node("floor", "f32", wide)))
    else:
        value = canonical(node("fsub", a.type, a, node("floor", a.type, a)))
    below_one = {"f16": 0x3BFF, "f32": 0x3F7FFFFF, "f64": 0x3FEFFFFFFFFFFFFF}[a.type]
    at_least_one = fcmp("oge", _comparable(value), _comparable(number(a.type, 1.0)))
    return flush_output(c, select(at_least_one, const(a.type, below_one), value))


def exponent_field(a: Expr) -> Expr:
    """The biased exponent as ``i32`` (``i64`` values truncated)."""
    fraction_bits = FRACTION[a.type]
    exponent_mask = INFINITY[a.type] >> fraction_bits
    return resize((bits(a) >> fraction_bits) & exponent_mask, "i32")


def frexp(a: Expr) -> tuple[Expr, Expr]:
    """Significand in [0.5, 1) with the sign, and exponent (``i32``); zero, infinities and NaN give (a, 0)."""
    type_ = a.type
    fraction_bits = FRACTION[type_]
    integer = f"i{a.width}"
    magnitude = bits(fabs(a))
    bias = (INFINITY[type_] >> fraction_bits) >> 1
    special = icmp("uge", magnitude, INFINITY[type_]) | icmp("eq", magnitude, 0)
    denormal = icmp("ult", magnitude, 1 << fraction_bits)
    shift = node("ctlz", integer, magnitude) - (a.width - 1 - fraction_bits)
    shifted = select(denormal, magnitude << shift, magnitude)
    fraction_part = shifted & ((1 << fraction_bits) - 1)
    mantissa = (bits(a) & SIGN[type_]) | fraction_part | ((bias - 1) << fraction_bits)
    biased = resize(magnitude >> fraction_bits, "i32")
    exponent = select(denormal, const("i32", 1) - resize(shift, "i32"), biased) - (bias - 1)
    return (
        select(special, canonical(a), bitcast(mantissa, type_)),
        select(special, const("i32", 0), exponent),
    )


def ldexp(c: Context, a: Expr, exponent: Expr) -> Expr:
    """``a * 2**exponent`` rounded once (to nearest even); ``exponent`` is a signed ``i32``."""
    a = flush_input(c, a)
    limited = smin(smax(exponent, const("i32", -2200)), const("i32", 2200))
    # In double precision the scaling of half and single values is exact within range; two steps keep each factor
    # normal.
    wide = to_f64(a)
    if a.type == "f64":
        return flush_output(c, canonical(scale_double(a, limited)))
    bounded = smin(smax(limited, const("i32", -600)), const("i32", 600))
    scaled = node("fmul", "f64", wide, power_of_two(bounded))
    if a.type == "f32":
        return flush_output(c, narrow_single(scaled))
    return flush_output(c, narrow_half_f64(scaled))


def power_of_two(exponent: Expr) -> Expr:
    """``2**exponent`` as ``f64`` for an ``i32`` exponent in -1022…1023."""
    return bitcast(Expr("sext", "i64", (exponent + 1023,)) << 52, "f64")


def scale_double(a: Expr, exponent: Expr) -> Expr:
    """``a * 2**exponent`` in double precision, rounded once."""
    # The significand is brought near one, where scaling is exact; then at most one multiplication leaves the normal
    # range.
    mantissa, own = frexp(a)
    total = smin(smax(own + exponent, const("i32", -1200)), const("i32", 1200))
    first = smin(smax(total, const("i32", -1000)), const("i32", 1000))
    rest = total - first
    scaled = node("fmul", "f64", node("fmul", "f64", mantissa, power_of_two(first)), power_of_two(rest))
    special = icmp("uge", bits(fabs(a)), INFINITY["f64"]) | is_zero(a)
    return select(special, a, scaled)


def extend_half(a: Expr) -> Expr:
    """Half to single precision; a NaN keeps its payload and becomes quiet."""
    pattern = zext(bits(a), "i32")
    payload = ((pattern & 0x8000) << 16) | 0x7FC00000 | ((pattern & 0x3FF) << 13)
    return select(is_nan(a), bitcast(payload, "f32"), widen(a))


def bfloat_to_single(a: Expr) -> Expr:
    """The 16 bits of a bfloat16 value to single precision."""
    return bitcast(zext(a, "i32") << 16, "f32")


def single_to_bfloat(a: Expr) -> Expr:
    """Single precision to the 16 bits of bfloat16, to nearest even; NaN becomes quiet."""
    pattern = bits(a)
    rounded = pattern + 0x7FFF + ((pattern >> 16) & 1)
    return trunc(select(is_nan(a), pattern | 0x00400000, rounded) >> 16, "i16")
