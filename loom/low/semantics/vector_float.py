"""Semantic operations of the vector unit on floating-point numbers: arithmetic, division helpers, conversions,
comparisons.
"""

from __future__ import annotations

from collections.abc import Callable

from loom.low.semantics import transcendental
from loom.low.semantics.expression import (
    Expr,
    ballot,
    bitcast,
    bits,
    const,
    fcmp,
    icmp,
    lane_bit,
    node,
    resize,
    select,
    sext,
    smax,
    smin,
    trunc,
    zext,
)
from loom.low.semantics.floats import (
    FRACTION,
    INFINITY,
    QUIET_NAN,
    SIGN,
    bfloat_to_single,
    compare,
    exponent_field,
    extend_half,
    fabs,
    fadd,
    ffma,
    ffma_legacy,
    float_to_int,
    flush_input,
    flush_output,
    fma_error,
    fmad,
    fmul,
    fmul_legacy,
    fneg,
    fraction,
    frexp,
    fsub,
    integral,
    is_denormal,
    is_infinite,
    is_nan,
    is_signaling,
    is_zero,
    ldexp,
    maximum_ieee,
    maximum_number,
    minimum_ieee,
    minimum_number,
    narrow_half,
    narrow_single,
    number,
    quiet,
    scale_double,
    single_to_bfloat,
    single_to_half,
    single_to_half_truncated,
    to_f64,
)
from loom.low.semantics.operation import ACCUMULATING, Context, define
from loom.low.semantics.scalar import FLOAT_COMPARES

_FLOATS = ("f16", "f32", "f64")


def _median(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
    """Middle of three; with a NaN among them, the minimum of all three (RDNA3 ISA, V_MED3_F32)."""
    low = minimum_number(c, minimum_number(c, a, b), d)
    middle = maximum_number(c, minimum_number(c, a, b), minimum_number(c, maximum_number(c, a, b), d))
    return select(is_nan(a) | is_nan(b) | is_nan(d), low, middle)


def _declare_arithmetic() -> None:
    for t in _FLOATS:
        define(f"v_add_{t}", f"{t} = {t} {t}", fadd)
        define(f"v_mul_{t}", f"{t} = {t} {t}", fmul)
        define(f"v_fma_{t}", f"{t} = {t} {t} {t}", ffma)
        define(f"v_min_{t} v_min_num_{t}", f"{t} = {t} {t}", minimum_number)
        define(f"v_max_{t} v_max_num_{t}", f"{t} = {t} {t}", maximum_number)
        define(f"v_minimum_{t}", f"{t} = {t} {t}", minimum_ieee)
        define(f"v_maximum_{t}", f"{t} = {t} {t}", maximum_ieee)
        for name, op in (("floor", "floor"), ("ceil", "ceil"), ("trunc", "ftrunc"), ("rndne", "rint")):
            define(f"v_{name}_{t}", f"{t} = {t}", lambda c, a, o=op: integral(c, o, a))
        define(f"v_fract_{t}", f"{t} = {t}", fraction)
        define(f"v_frexp_mant_{t}", f"{t} = {t}", lambda c, a: frexp(flush_input(c, a))[0])
        define(f"v_rcp_{t}", f"{t} = {t}", lambda c, a: transcendental.reciprocal(a))
        define(f"v_rsq_{t}", f"{t} = {t}", lambda c, a: transcendental.reciprocal_sqrt(a))
        define(f"v_sqrt_{t}", f"{t} = {t}", lambda c, a: transcendental.square_root(a))
        if t != "f64":
            define(f"v_sub_{t}", f"{t} = {t} {t}", fsub)
            define(f"v_subrev_{t}", f"{t} = {t} {t}", lambda c, a, b: fsub(c, b, a))
            define(f"v_exp_{t}", f"{t} = {t}", lambda c, a: transcendental.exp2(a))
            define(f"v_log_{t}", f"{t} = {t}", lambda c, a: transcendental.log2(a))
            define(f"v_sin_{t}", f"{t} = {t}", lambda c, a: transcendental.sine(a))
            define(f"v_cos_{t}", f"{t} = {t}", lambda c, a: transcendental.cosine(a))
            define(f"v_mad_{t}", f"{t} = {t} {t} {t}", fmad)
            define(f"v_fmaak_{t}", f"{t} = {t} {t} {t}", ffma)
            define(f"v_madak_{t}", f"{t} = {t} {t} {t}", fmad)
            define(f"v_fmamk_{t}", f"{t} = {t} {t} {t}", lambda c, a, k, b: ffma(c, a, k, b))
            define(f"v_madmk_{t}", f"{t} = {t} {t} {t}", lambda c, a, k, b: fmad(c, a, k, b))
            for suffix in (f"min3_{t}", f"min3_num_{t}"):
                define(
                    f"v_{suffix}", f"{t} = {t} {t} {t}",
                    lambda c, a, b, d: minimum_number(c, minimum_number(c, a, b), d),
                )  # fmt: skip
            for suffix in (f"max3_{t}", f"max3_num_{t}"):
                define(
                    f"v_{suffix}", f"{t} = {t} {t} {t}",
                    lambda c, a, b, d: maximum_number(c, maximum_number(c, a, b), d),
                )  # fmt: skip
            define(f"v_med3_{t} v_med3_num_{t}", f"{t} = {t} {t} {t}", _median)
            define(
                f"v_minmax_{t} v_minmax_num_{t}", f"{t} = {t} {t} {t}",
                lambda c, a, b, d: maximum_number(c, minimum_number(c, a, b), d),
            )  # fmt: skip
            define(
                f"v_maxmin_{t} v_maxmin_num_{t}", f"{t} = {t} {t} {t}",
                lambda c, a, b, d: minimum_number(c, maximum_number(c, a, b), d),
            )  # fmt: skip
            define(
                f"v_minimum3_{t}", f"{t} = {t} {t} {t}", lambda c, a, b, d: minimum_ieee(c, minimum_ieee(c, a, b), d)
            )
            define(
                f"v_maximum3_{t}", f"{t} = {t} {t} {t}", lambda c, a, b, d: maximum_ieee(c, maximum_ieee(c, a, b), d)
            )
            define(
                f"v_minimummaximum_{t}", f"{t} = {t} {t} {t}",
                lambda c, a, b, d: maximum_ieee(c, minimum_ieee(c, a, b), d),
            )  # fmt: skip
            define(
                f"v_maximumminimum_{t}", f"{t} = {t} {t} {t}",
                lambda c, a, b, d: minimum_ieee(c, maximum_ieee(c, a, b), d),
            )  # fmt: skip
        define(f"v_fmac_{t}", f"{t} = {t} {t} {t}", lambda c, d, a, b: ffma(c, a, b, d))
        ACCUMULATING.add(f"v_fmac_{t}")
    for t in ("f16", "f32"):
        define(f"v_mac_{t}", f"{t} = {t} {t} {t}", lambda c, d, a, b: fmad(c, a, b, d))
        ACCUMULATING.add(f"v_mac_{t}")
    names = "v_mul_dx9_zero_f32 v_mul_legacy_f32"
    define(names, "f32 = f32 f32", fmul_legacy)
    define("v_fma_dx9_zero_f32 v_fma_legacy_f32", "f32 = f32 f32 f32", ffma_legacy)
    define("v_fmac_dx9_zero_f32 v_fmac_legacy_f32", "f32 = f32 f32 f32", lambda c, d, a, b: ffma_legacy(c, a, b, d))
    ACCUMULATING.update(("v_fmac_dx9_zero_f32", "v_fmac_legacy_f32"))
    define("v_rcp_iflag_f32", "f32 = f32", lambda c, a: transcendental.reciprocal(a))
    for t in ("f16", "f32", "f64"):
        define(
            f"v_frexp_exp_{'i16' if t == 'f16' else 'i32'}_{t}",
            f"{'i16' if t == 'f16' else 'i32'} = {t}",
            lambda c, a, t=t: resize(frexp(flush_input(c, a))[1], "i16" if t == "f16" else "i32"),
        )
    define("v_ldexp_f32", "f32 = f32 i32", ldexp)
    define("v_ldexp_f64", "f64 = f64 i32", ldexp)
    define("v_ldexp_f16", "f16 = f16 i16", lambda c, a, e: ldexp(c, a, sext(e, "i32")))
    define("v_trig_preop_f64", "f64 = f64 i32", lambda c, a, s: _trig_preop(a, s))
    for name, select_axis in (("cubeid", "id"), ("cubesc", "sc"), ("cubetc", "tc"), ("cubema", "ma")):
        define(f"v_{name}_f32", "f32 = f32 f32 f32", lambda c, x, y, z, k=select_axis: _cube(c, k, x, y, z))


def _cube(c: Context, kind: str, x: Expr, y: Expr, z: Expr) -> Expr:
    """Cube-map face helpers: the axis with the largest magnitude, z before y before x on ties."""
    ax, ay, az = fabs(x), fabs(y), fabs(z)
    z_major = fcmp("oge", az, ax) & fcmp("oge", az, ay)
    y_major = fcmp("oge", ay, ax)

    def pick(for_z: Expr, for_y: Expr, for_x: Expr) -> Expr:
        return select(z_major, for_z, select(y_major, for_y, for_x))

    def below_zero(value: Expr) -> Expr:
        return fcmp("olt", value, number("f32", 0.0))

    if kind == "ma":
        return fmul(c, pick(z, y, x), number("f32", 2.0))
    if kind == "id":
        faces = [
            select(below_zero(v), number("f32", 2 * i + 1.0), number("f32", 2.0 * i)) for i, v in enumerate((x, y, z))
        ]
        return pick(faces[2], faces[1], faces[0])
    if kind == "sc":
        return pick(select(below_zero(z), fneg(x), x), x, select(below_zero(x), z, fneg(z)))
    return pick(fneg(y), select(below_zero(y), fneg(z), z), fneg(y))


def _two_over_pi_bits() -> int:
    """The first 1201 bits of 2/pi after the binary point, as an integer (Machin's formula in integer arithmetic)."""
    precision = 1201 + 80
    one = 1 << precision

    def arctangent_inverse(n: int) -> int:
        power = one // n
        total, k, sign = power, 1, -1
        while power:
            power //= n * n
            k += 2
            total += sign * (power // k)
            sign = -sign
        return total

    pi = 4 * (4 * arctangent_inverse(5) - arctangent_inverse(239))
    return ((2 << (2 * precision)) // pi) >> 80


def _trig_preop(a: Expr, segment: Expr) -> Expr:
    """A 53-bit segment of 2/pi, chosen by the operand's exponent (RDNA3 ISA, V_TRIG_PREOP_F64)."""
    table = _two_over_pi_bits()
    exponent = exponent_field(a)
    shift = (segment & 31) * 53
    shift = shift + select(icmp("ugt", exponent, 1077), exponent - 1077, const("i32", 0))
    # Fetch 53 bits from a constant of 1201 bits, word by word; beyond the end there are zeros.
    words = [
        (table << 64 >> (1201 + 64 - 32 * (i + 1))) & 0xFFFFFFFF if 32 * (i + 1) <= 1201 + 64 else 0 for i in range(40)
    ]
    first = shift >> 5
    fetched = [const("i64", 0), const("i64", 0), const("i64", 0)]
    for index in range(37):
        hit = icmp("eq", first, index)
        for k in range(3):
            fetched[k] = select(hit, const("i64", words[index + k]), fetched[k])
    offset = zext(shift & 31, "i64")
    top = ((fetched[0] << 32) | fetched[1]) << offset
    low = (fetched[2] << offset) >> 32
    mantissa = (top | low) >> 11
    value = node("uitofp", "f64", mantissa)
    scale = const("i32", -53) - shift + select(icmp("uge", exponent, 1968), const("i32", 128), const("i32", 0))
    return scale_double(value, scale)


def _declare_division() -> None:
    for t in ("f32", "f64"):
        define(f"v_div_scale_{t}", f"{t} mask = {t} {t} {t} | exec", _div_scale)
        define(f"v_div_fmas_{t}", f"{t} = {t} {t} {t} | vcc", _div_fmas)
        define(f"v_div_fixup_{t}", f"{t} = {t} {t} {t}", _div_fixup)
    define("v_div_fixup_f16", "f16 = f16 f16 f16", _div_fixup)


def _div_scale(c: Context, s0: Expr, s1: Expr, s2: Expr, exec_mask: Expr) -> tuple[Expr, Expr]:
    """Scale numerator or denominator of a division away from overflow; s1 is the denominator, s2 the numerator.

    RDNA3 ISA, V_DIV_SCALE_F32: the result is s0 (one of the two), scaled by 2**64 (f64: 2**128) where needed; the
    mask tells
    V_DIV_FMAS to scale back.
    """
    t = s0.type
    wide_step = 64 if t == "f32" else 128
    limit = 96 if t == "f32" else 768
    top_exponent = 23 if t == "f32" else 53
    e1, e2 = exponent_field(s1), exponent_field(s2)
    # The scaling keeps denormals, whatever the mode.

    def up(v: Expr) -> Expr:
        return ldexp(Context(c.wave), v, const("i32", wide_step))

    same_as_denominator = _same(s0, s1)
    same_as_numerator = _same(s0, s2)
    invalid = is_zero(s2) | is_zero(s1)
    far = icmp("sge", e2 - e1, limit)
    denominator_tiny = is_denormal(s1)
    one = Expr("fdiv", t, (number(t, 1.0), s1))
    quotient = Expr("fdiv", t, (s2, s1))
    inverse_tiny = is_denormal(one)
    quotient_tiny = is_denormal(quotient)
    numerator_small = icmp("sle", e2, top_exponent)
    result = s0
    flag = const("i1", 0)
    # Lowest priority first.
    result = select(numerator_small, up(s0), result)
    only_numerator = select(same_as_numerator, up(s0), s0)
    result = select(quotient_tiny, only_numerator, result)
    flag = select(quotient_tiny, const("i1", 1), flag)
    # A denominator whose reciprocal is subnormal is scaled down: up would overflow it.
    down = ldexp(Context(c.wave), s0, const("i32", -wide_step))
    result = select(inverse_tiny, down, result)
    flag = select(inverse_tiny, const("i1", 0), flag)
    both = inverse_tiny & quotient_tiny
    result = select(both, select(same_as_denominator, down, s0), result)
    flag = select(both, const("i1", 1), flag)
    result = select(denominator_tiny, up(s0), result)
    flag = select(denominator_tiny, const("i1", 0), flag)
    result = select(far, select(same_as_denominator, up(s0), s0), result)
    flag = select(far, const("i1", 1), flag)
    result = select(invalid, const(t, QUIET_NAN[t]), result)
    flag = select(invalid, const("i1", 0), flag)
    return result, ballot(flag, c.wave) & exec_mask


def _same(a: Expr, b: Expr) -> Expr:
    return icmp("eq", bits(a), bits(b))


def _div_fmas(c: Context, a: Expr, b: Expr, d: Expr, vcc: Expr) -> Expr:
    """Fused multiply-add; lanes whose VCC bit is set undo V_DIV_SCALE.

    A large addend (the quotient's estimate) means that the denominator had been scaled up, a small one the numerator,
    so the
    factor is 2**64 or 2**-64 (f64: 2**128 or 2**-128). The sum is rounded once, after scaling: quotients are correctly
    rounded where they are subnormal, too (LLVM's expansion of IEEE division relies on it).
    """
    step, bias = (64, 127) if a.type == "f32" else (128, 1023)
    plain = ffma(c, a, b, d)
    large = icmp("ugt", exponent_field(d), bias)
    exact = Context(c.wave)
    scaled = ldexp(exact, plain, select(large, const("i32", step), const("i32", -step)))
    if (c.mode.round32 if a.type == "f32" else c.mode.round64) == 0:
        # A sum scaled down to the middle between two subnormals: what it lost in its own rounding decides.
        error, nothing = fma_error(a, b, d, plain), number("f64", 0.0)
        up = number("f64", 2.0**step)
        rest = node("fsub", "f64", to_f64(plain), node("fmul", "f64", to_f64(scaled), up))
        above = fcmp("ogt", rest, nothing)
        outwards = select(above, const("i1", 1), const("i1", 0)) ^ icmp("ne", bits(plain) & SIGN[a.type], 0)
        beside = bitcast(select(outwards, bits(scaled) + 1, bits(scaled) - 1), a.type)
        tie = fcmp("oeq", node("fsub", "f64", node("fmul", "f64", to_f64(beside), up), to_f64(plain)), rest)
        further = select(above, fcmp("ogt", error, nothing), fcmp("olt", rest, nothing) & fcmp("olt", error, nothing))
        scaled = select(tie & further & ~large, beside, scaled)
    return select(lane_bit(vcc), flush_output(c, scaled), plain)


def _div_fixup(c: Context, s0: Expr, s1: Expr, s2: Expr) -> Expr:
    """Final division result: s0 the quotient, s1 the denominator, s2 the numerator (RDNA3 ISA, V_DIV_FIXUP_F32)."""
    t = s0.type
    sign = (bits(s1) ^ bits(s2)) & SIGN[t]
    nan = const(t, QUIET_NAN[t])
    infinity = bitcast(sign | INFINITY[t], t)
    zero = bitcast(sign, t)
    magnitude = bitcast((bits(s0) & (SIGN[t] - 1)) | sign, t)
    # The Newton steps turn an overflowing quotient into a NaN, although neither operand is one.
    result = select(is_nan(s0), infinity, magnitude)
    if t != "f16":
        e1, e2 = exponent_field(s1), exponent_field(s2)
        bias, low = (255, -150) if t == "f32" else (2047, -1075)
        result = select(icmp("eq", e1, bias), infinity, result)
        underflow = icmp("slt", e2 - e1, low)
        result = select(underflow, zero, result)
    result = select(is_infinite(s1) | is_zero(s2), zero, result)
    result = select(is_zero(s1) | is_infinite(s2), infinity, result)
    result = select((is_zero(s1) & is_zero(s2)) | (is_infinite(s1) & is_infinite(s2)), nan, result)
    result = select(is_nan(s1), quiet(s1), result)
    return select(is_nan(s2), quiet(s2), result)


def _declare_conversions() -> None:
    define("v_cvt_f32_i32", "f32 = i32", lambda c, a: _from_int(c, a, True, "f32"))
    define("v_cvt_f32_u32", "f32 = i32", lambda c, a: _from_int(c, a, False, "f32"))
    define("v_cvt_f64_i32", "f64 = i32", lambda c, a: node("sitofp", "f64", a))
    define("v_cvt_f64_u32", "f64 = i32", lambda c, a: node("uitofp", "f64", a))
    define("v_cvt_f16_i16", "f16 = i16", lambda c, a: _from_int(c, sext(a, "i32"), True, "f16"))
    define("v_cvt_f16_u16", "f16 = i16", lambda c, a: _from_int(c, zext(a, "i32"), False, "f16"))
    define("v_cvt_i32_f32", "i32 = f32", lambda c, a: float_to_int(a, 32, True))
    define("v_cvt_u32_f32", "i32 = f32", lambda c, a: float_to_int(a, 32, False))
    define("v_cvt_i32_f64", "i32 = f64", lambda c, a: float_to_int(a, 32, True))
    define("v_cvt_u32_f64", "i32 = f64", lambda c, a: float_to_int(a, 32, False))
    define("v_cvt_i16_f16", "i16 = f16", lambda c, a: float_to_int(extend_half(a), 16, True))
    define("v_cvt_u16_f16", "i16 = f16", lambda c, a: float_to_int(extend_half(a), 16, False))

    def half_up(a: Expr) -> Expr:
        return node("floor", "f64", node("fadd", "f64", to_f64(a), number("f64", 0.5)))

    define("v_cvt_nearest_i32_f32 v_cvt_rpi_i32_f32", "i32 = f32", _to_whole(half_up))
    define("v_cvt_floor_i32_f32 v_cvt_flr_i32_f32", "i32 = f32", _to_whole(lambda a: node("floor", "f32", a)))
    define("v_cvt_f16_f32", "f16 = f32", single_to_half)
    define("v_cvt_f32_f16", "f32 = f16", lambda c, a: flush_output(c, extend_half(flush_input(c, a))))
    define("v_cvt_f32_f64", "f32 = f64", _to_single)
    define("v_cvt_f64_f32", "f64 = f32", _to_double)
    for i in range(4):
        define(f"v_cvt_f32_ubyte{i}", "f32 = i32", lambda c, a, i=i: node("uitofp", "f32", (a >> (8 * i)) & 0xFF))
    define(
        "v_cvt_off_f32_i4", "f32 = i32",
        lambda c, a: node("fmul", "f32", node("sitofp", "f32", _sign4(a)), number("f32", 1 / 16)),
    )  # fmt: skip
    define("v_cvt_i32_i16", "i32 = i16", lambda c, a: sext(a, "i32"))
    define("v_cvt_u32_u16", "i32 = i16", lambda c, a: zext(a, "i32"))
    define("v_cvt_norm_i16_f16", "i16 = f16", lambda c, a: _normalized(extend_half(a), True))
    define("v_cvt_norm_u16_f16", "i16 = f16", lambda c, a: _normalized(extend_half(a), False))
    define("v_cvt_pk_norm_i16_f32 v_cvt_pknorm_i16_f32", "v2i16 = f32 f32", _pair(lambda a: _normalized(a, True)))
    define("v_cvt_pk_norm_u16_f32 v_cvt_pknorm_u16_f32", "v2i16 = f32 f32", _pair(lambda a: _normalized(a, False)))
    define(
        "v_cvt_pk_norm_i16_f16 v_cvt_pknorm_i16_f16", "v2i16 = f16 f16",
        _pair(lambda a: _normalized(extend_half(a), True)),
    )  # fmt: skip
    define(
        "v_cvt_pk_norm_u16_f16 v_cvt_pknorm_u16_f16", "v2i16 = f16 f16",
        _pair(lambda a: _normalized(extend_half(a), False)),
    )  # fmt: skip
    define("v_cvt_pk_i16_f32", "v2i16 = f32 f32", _pair(lambda a: float_to_int(a, 16, True)))
    define("v_cvt_pk_u16_f32", "v2i16 = f32 f32", _pair(lambda a: float_to_int(a, 16, False)))
    define(
        "v_cvt_pk_i16_i32", "v2i16 = i32 i32",
        _pair(lambda a: trunc(smin(smax(a, const("i32", -32768)), const("i32", 32767)), "i16")),
    )  # fmt: skip
    define(
        "v_cvt_pk_u16_u32", "v2i16 = i32 i32",
        _pair(lambda a: trunc(Expr("umin", "i32", (a, const("i32", 65535))), "i16")),
    )  # fmt: skip
    names = "v_cvt_pk_rtz_f16_f32 v_cvt_pkrtz_f16_f32"
    define(names, "v2f16 = f32 f32", _pair_under_mode(single_to_half_truncated))
    define("v_cvt_pk_bf16_f32", "v2i16 = f32 f32", _pair(single_to_bfloat))
    define("v_cvt_pk_u8_f32", "i32 = f32 i32 i32", pack_byte)
    define("v_pack_b32_f16", "v2f16 = f16 f16", _pair_under_mode(lambda c, a: quiet(flush_input(c, a))))
    define("v_sat_pk_u8_i16", "i16 = i32", lambda c, a: _saturate_bytes(a))


def _to_whole(rounded: Callable[[Expr], Expr]) -> Callable[..., Expr]:
    """A conversion that rounds first. NaN gives 0, as the ISA says; a gfx1201 gives the limit on the side of its sign
    (AMD's measurements in rocjitsu, ``conversion.h``).
    """

    def convert(c: Context, a: Expr) -> Expr:
        whole = float_to_int(rounded(flush_input(c, a)), 32, True)
        if c.generation != "gfx12":
            return whole
        limit = select(icmp("ne", bits(a) >> 31, 0), const("i32", -(1 << 31)), const("i32", (1 << 31) - 1))
        return select(is_nan(a), limit, whole)

    return convert


def _from_int(c: Context, a: Expr, signed: bool, type_: str) -> Expr:
    op = "sitofp" if signed else "uitofp"
    rounding = c.mode.round32 if type_ == "f32" else c.mode.round64
    if type_ == "f16":
        return narrow_half(node(op, "f32", a), rounding)
    return narrow_single(node(op, "f64", a), rounding) if rounding else node(op, "f32", a)


def _to_single(c: Context, a: Expr) -> Expr:
    value = narrow_single(flush_input(c, a), c.mode.round32)
    payload = ((bits(a) >> 32) & 0x80000000) | 0x7FC00000 | ((bits(a) >> 29) & 0x7FFFFF)
    return flush_output(c, select(is_nan(a), bitcast(trunc(payload, "i32"), "f32"), value))


def _to_double(c: Context, a: Expr) -> Expr:
    pattern = zext(bits(a), "i64")
    payload = ((pattern & 0x80000000) << 32) | 0x7FF8000000000000 | ((pattern & 0x7FFFFF) << 29)
    return select(is_nan(a), bitcast(payload, "f64"), to_f64(flush_input(c, a)))


def _sign4(a: Expr) -> Expr:
    return Expr("ashr", "i32", (a << 28, const("i32", 28)))


def _pair(function: Callable[[Expr], Expr]) -> Callable[..., tuple[Expr, Expr]]:
    return lambda c, a, b: (function(a), function(b))


def _pair_under_mode(function: Callable[[Context, Expr], Expr]) -> Callable[..., tuple[Expr, Expr]]:
    return lambda c, a, b: (function(c, a), function(c, b))


def _normalized(a: Expr, signed: bool) -> Expr:
    """[-1, 1] or [0, 1] to the whole range of 16 bits, to nearest even."""
    scale = 32767.0 if signed else 65535.0
    low = number("f32", -1.0 if signed else 0.0)
    one = number("f32", 1.0)
    limited = select(fcmp("ogt", a, one), one, select(fcmp("olt", a, low), low, a))
    scaled = node("rint", "f64", node("fmul", "f64", to_f64(limited), number("f64", scale)))
    return trunc(float_to_int(scaled, 32, True), "i16")


def pack_byte(c: Context, a: Expr, position: Expr, old: Expr) -> Expr:
    """Single precision to an unsigned byte at a byte position of an old word, rounded as the mode says.

    The ISA leaves the rounding open; AMD measured it on a gfx1201 (rocjitsu, ``conversion.h``), and gfx90c rounds to
    nearest in the default mode, too.
    """
    op = ("rint", "ceil", "floor", "ftrunc")[c.mode.round32]
    byte = float_to_int(node(op, "f32", flush_input(c, a)), 32, True)
    byte = smin(smax(byte, const("i32", 0)), const("i32", 255))
    shift = (position & 3) << 3
    return (old & ~(const("i32", 0xFF) << shift)) | (byte << shift)


def _saturate_bytes(a: Expr) -> Expr:
    low, high = sext(trunc(a, "i16"), "i32"), Expr("ashr", "i32", (a, const("i32", 16)))

    def clamp(v: Expr) -> Expr:
        return smin(smax(v, const("i32", 0)), const("i32", 255))

    return trunc(clamp(low) | (clamp(high) << 8), "i16")


def _declare_compares() -> None:
    for t in _FLOATS:
        for name, predicate in FLOAT_COMPARES.items():

            def test(c: Context, a: Expr, b: Expr, p: str | None = predicate) -> Expr:
                return const("i1", p == "true") if p in (None, "true") else compare(c, str(p), a, b)

            _compare(f"{name}_{t}", f"{t} {t}", test)
        second = "i32" if t != "f16" else "i16"
        _compare(f"class_{t}", f"{t} {second}", lambda c, a, k: _class(c, a, resize(k, "i32")))
    signed = {"f": None, "lt": "slt", "eq": "eq", "le": "sle", "gt": "sgt", "ne": "ne", "ge": "sge", "t": "true"}
    for bits_ in (16, 32, 64):
        for kind in "iu":
            for name, predicate in signed.items():
                p = predicate if kind == "i" or predicate in (None, "true", "eq", "ne") else f"u{str(predicate)[1:]}"

                def test_integer(c: Context, a: Expr, b: Expr, p: str | None = p) -> Expr:
                    return const("i1", p == "true") if p in (None, "true") else icmp(str(p), a, b)

                _compare(f"{name}_{kind}{bits_}", f"i{bits_} i{bits_}", test_integer)


def _compare(name: str, inputs: str, test: Callable[..., Expr]) -> None:
    if name.startswith("t_f"):
        _compare("tru_f" + name[3:], inputs, test)  # gfx9's spelling
    define(f"v_cmp_{name}", f"mask = {inputs} | exec", lambda c, a, b, e: ballot(test(c, a, b), c.wave) & e)
    define(f"v_cmpx_{name}", f"| exec = {inputs} | exec", lambda c, a, b, e: (ballot(test(c, a, b), c.wave) & e,))


def _class(c: Context, a: Expr, selector: Expr) -> Expr:
    """Whether the value's class is among the ten that the selector's bits name."""
    magnitude = bits(fabs(a))
    negative = icmp("ne", bits(a) & SIGN[a.type], 0)
    signaling = is_signaling(a)
    quiet_nan = is_nan(a) & ~signaling
    infinite = icmp("eq", magnitude, INFINITY[a.type])
    zero = icmp("eq", magnitude, 0)
    denormal = is_denormal(a)
    normal = icmp("uge", magnitude, 1 << FRACTION[a.type]) & icmp("ult", magnitude, INFINITY[a.type])
    classes = [
        signaling, quiet_nan, negative & infinite, negative & normal, negative & denormal, negative & zero,
        ~negative & zero, ~negative & denormal, ~negative & normal, ~negative & infinite,
    ]  # fmt: skip
    result = const("i1", 0)
    for position, member in enumerate(classes):
        result = result | (member & icmp("ne", (selector >> position) & 1, 0))
    return result


def _mullit(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
    """Product for lighting: -MAX where b, or the third operand, is not above zero or is special (RDNA3 ISA,
    V_MULLIT_F32).
    """
    largest = const("f32", 0xFF7FFFFF)
    refused = _same(b, largest) | is_infinite(b) & icmp("ne", bits(b) & SIGN["f32"], 0) | is_nan(b)
    not_above = ~fcmp("ogt", d, number("f32", 0.0))
    return select(refused | not_above, largest, fmul_legacy(c, a, b))


def _declare_scalar_results() -> None:
    """gfx12: transcendental operations with a scalar operand and a scalar result, and IEEE 754-2019 minimum and
    maximum.
    """
    functions = {
        "exp": transcendental.exp2, "log": transcendental.log2, "rcp": transcendental.reciprocal,
        "rsq": transcendental.reciprocal_sqrt, "sqrt": transcendental.square_root,
    }  # fmt: skip
    for t in ("f16", "f32"):
        for name, function in functions.items():
            define(f"v_s_{name}_{t}", f"{t} = {t}", lambda c, a, f=function: f(a))
        define(f"s_minimum_{t}", f"{t} = {t} {t}", minimum_ieee)
        define(f"s_maximum_{t}", f"{t} = {t} {t}", maximum_ieee)
    define("v_mullit_f32", "f32 = f32 f32 f32", _mullit)
    define("v_cvt_f32_bf16", "f32 = i16", lambda c, a: bfloat_to_single(a))
    define("v_exp_legacy_f32", "f32 = f32", lambda c, a: transcendental.exp2(a))
    define("v_log_legacy_f32", "f32 = f32", lambda c, a: transcendental.log2(a))
    define("v_cvt_pk_f16_f32", "v2f16 = f32 f32", lambda c, a, b: (single_to_half(c, a), single_to_half(c, b)))
    define("v_fma_legacy_f16", "f16 = f16 f16 f16", ffma)
    define("v_mad_legacy_f16", "f16 = f16 f16 f16", fmad)
    define("v_div_fixup_legacy_f16", "f16 = f16 f16 f16", _div_fixup)


_declare_arithmetic()
_declare_scalar_results()
_declare_division()
_declare_conversions()
_declare_compares()
