"""Semantic operations of the vector unit on integers and bits (AMD RDNA3 ISA, "Vector ALU operations")."""

from __future__ import annotations

from collections.abc import Callable

from loom.low.semantics.expression import (
    Expr,
    ashr,
    ballot,
    const,
    icmp,
    lane_bit,
    lane_number,
    node,
    resize,
    select,
    sext,
    smax,
    smin,
    trunc,
    umax,
    umin,
    zext,
)
from loom.low.semantics.operation import Context, define
from loom.low.semantics.scalar import (
    bit_field,
    bit_field_mask,
    find_leading,
    find_sign,
    find_trailing,
    multiply_high,
    plain,
)


def saturated(value: Expr, type_: str, signed: bool) -> Expr:
    """Clamp a value computed in a wider type to ``type_``; ``value`` is signed in the wider type."""
    narrow = int(type_[1:])
    wide = value.type
    if signed:
        low, high = -(1 << (narrow - 1)), (1 << (narrow - 1)) - 1
    else:
        low, high = 0, (1 << narrow) - 1
    return trunc(smin(smax(value, const(wide, low)), const(wide, high)), type_)


_WIDER = {"i8": "i32", "i16": "i32", "i32": "i64"}


def add_sub(op: str, signed: bool) -> Callable[[Context, Expr, Expr], Expr]:
    """Sum or difference that wraps, or saturates under the clamp modifier."""

    def build(c: Context, a: Expr, b: Expr) -> Expr:
        if not c.modifier("clamp"):
            return node(op, a.type, a, b)
        extend = sext if signed else zext
        wide = _WIDER[a.type]
        return saturated(node(op, wide, extend(a, wide), extend(b, wide)), a.type, signed)

    return build


def multiply_add(type_: str, signed: bool) -> Callable[[Context, Expr, Expr, Expr], Expr]:
    """``a * b + c`` in ``type_``, saturating under the clamp modifier."""

    def build(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
        if not c.modifier("clamp"):
            return a * b + d
        extend = sext if signed else zext
        return saturated(extend(a, "i64") * extend(b, "i64") + extend(d, "i64"), type_, signed)

    return build


def low24(value: Expr, signed: bool) -> Expr:
    """The low 24 bits, extended."""
    return ashr(value << 8, 8) if signed else value & 0xFFFFFF


def _clamp32(c: Context, wide: Expr, signed: bool) -> Expr:
    return saturated(wide, "i32", signed) if c.modifier("clamp") else trunc(wide, "i32")


def median(a: Expr, b: Expr, d: Expr, low: Callable[[Expr, Expr], Expr], high: Callable[[Expr, Expr], Expr]) -> Expr:
    """Middle of three."""
    return high(low(a, b), low(high(a, b), d))


def _declare_logic() -> None:
    for name, function in (
        ("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b),
        ("xnor", lambda a, b: ~(a ^ b)),
    ):  # fmt: skip
        define(f"v_{name}_b32", "i32 = i32 i32", plain(function))
        if name != "xnor":
            define(f"v_{name}_b16", "i16 = i16 i16", plain(function))
    define("v_not_b32", "i32 = i32", plain(lambda a: ~a))
    define("v_not_b16", "i16 = i16", plain(lambda a: ~a))
    define("v_mov_b32", "i32 = i32", plain(lambda a: a))
    define("v_mov_b64", "i64 = i64", plain(lambda a: a))
    define("v_mov_b16", "i16 = i16", plain(lambda a: a))
    define("v_bfrev_b32", "i32 = i32", lambda c, a: node("bitreverse", "i32", a))
    define("v_and_or_b32", "i32 = i32 i32 i32", plain(lambda a, b, d: (a & b) | d))
    define("v_or3_b32", "i32 = i32 i32 i32", plain(lambda a, b, d: a | b | d))
    define("v_xor3_b32", "i32 = i32 i32 i32", plain(lambda a, b, d: a ^ b ^ d))
    define("v_xad_u32", "i32 = i32 i32 i32", plain(lambda a, b, d: (a ^ b) + d))
    define("v_bfi_b32", "i32 = i32 i32 i32", plain(lambda a, b, d: (a & b) | (~a & d)))
    define("v_bfm_b32", "i32 = i32 i32", plain(lambda w, o: bit_field_mask(w & 31, o & 31, "i32")))
    define("v_bfe_u32", "i32 = i32 i32 i32", plain(lambda a, o, w: bit_field(a, o, w & 31, False)))
    define("v_bfe_i32", "i32 = i32 i32 i32", plain(lambda a, o, w: bit_field(a, o, w & 31, True)))
    define("v_cndmask_b32", "i32 = f32 f32 mask", lambda c, a, b, m: select(lane_bit(m), b, a))
    define("v_cndmask_b16", "i16 = i16 i16 mask", lambda c, a, b, m: select(lane_bit(m), b, a))
    define("v_bcnt_u32_b32", "i32 = i32 i32", lambda c, a, b: node("ctpop", "i32", a) + b)
    define("v_clz_i32_u32 v_ffbh_u32", "i32 = i32", lambda c, a: find_leading(a, "i32"))
    define("v_ctz_i32_b32 v_ffbl_b32", "i32 = i32", lambda c, a: find_trailing(a, "i32"))
    define("v_cls_i32 v_ffbh_i32", "i32 = i32", lambda c, a: find_sign(a, "i32"))
    define("v_alignbit_b32", "i32 = i32 i32 i32", lambda c, a, b, n: _align(a, b, n & 31))
    define("v_alignbyte_b32", "i32 = i32 i32 i32", lambda c, a, b, n: _align(a, b, (n & 3) << 3))
    define("v_perm_b32", "i32 = i32 i32 i32", lambda c, a, b, s: _byte_permute(a, b, s))
    define("v_lerp_u8", "i32 = i32 i32 i32", lambda c, a, b, d: _lerp(a, b, d))
    define("v_nop v_pipeflush", "=", lambda c: ())


def _align(high: Expr, low: Expr, amount: Expr) -> Expr:
    wide = (zext(high, "i64") << 32) | zext(low, "i64")
    return trunc(wide >> zext(amount, "i64"), "i32")


def _byte_permute(high: Expr, low: Expr, selector: Expr) -> Expr:
    """Bytes 0-3 of ``low``, 4-7 of ``high`` by selector; 8-11 sign of bytes 1, 3, 5, 7; 12 zero; above 12 all ones."""
    wide = (zext(high, "i64") << 32) | zext(low, "i64")
    result = const("i32", 0)
    for position in range(4):
        s = (selector >> (8 * position)) & 0xFF
        byte = resize((wide >> (zext(s & 7, "i64") << 3)) & 0xFF, "i32")
        # Selector 8 + k names the sign bit of byte 2 k + 1.
        sign_source = ((s & 3) << 4) + 15
        sign = select(icmp("ne", (wide >> zext(sign_source, "i64")) & 1, 0), const("i32", 0xFF), const("i32", 0))
        value = select(icmp("ult", s, 8), byte, select(icmp("ult", s, 12), sign, const("i32", 0)))
        value = select(icmp("ugt", s, 12), const("i32", 0xFF), value)
        result = result | (value << (8 * position))
    return result


def _lerp(a: Expr, b: Expr, d: Expr) -> Expr:
    result = const("i32", 0)
    for position in range(4):
        x, y, r = ((v >> (8 * position)) & 0xFF for v in (a, b, d))
        result = result | (((x + y + (r & 1)) >> 1) << (8 * position))
    return result


def _declare_shifts() -> None:
    define("v_lshlrev_b32", "i32 = i32 i32", plain(lambda n, a: a << n))
    define("v_lshrrev_b32", "i32 = i32 i32", plain(lambda n, a: a >> n))
    define("v_ashrrev_i32", "i32 = i32 i32", plain(lambda n, a: ashr(a, n)))
    define("v_lshlrev_b16", "i16 = i16 i16", plain(lambda n, a: a << n))
    define("v_lshrrev_b16", "i16 = i16 i16", plain(lambda n, a: a >> n))
    define("v_ashrrev_i16", "i16 = i16 i16", plain(lambda n, a: ashr(a, n)))
    define("v_lshlrev_b64", "i64 = i32 i64", plain(lambda n, a: a << n))
    define("v_lshrrev_b64", "i64 = i32 i64", plain(lambda n, a: a >> n))
    define("v_ashrrev_i64", "i64 = i32 i64", plain(lambda n, a: ashr(a, n)))
    define("v_lshl_add_u32", "i32 = i32 i32 i32", plain(lambda a, n, b: (a << n) + b))
    define("v_add_lshl_u32", "i32 = i32 i32 i32", plain(lambda a, b, n: (a + b) << n))
    define("v_lshl_or_b32", "i32 = i32 i32 i32", plain(lambda a, n, b: (a << n) | b))
    define("v_lshl_add_u64", "i64 = i64 i32 i64", plain(lambda a, n, b: (a << (n & 7)) + b))


def _declare_arithmetic() -> None:
    define("v_add_nc_u32 v_add_u32", "i32 = i32 i32", add_sub("add", False))
    define("v_sub_nc_u32 v_sub_u32", "i32 = i32 i32", add_sub("sub", False))
    define("v_subrev_nc_u32 v_subrev_u32", "i32 = i32 i32", lambda c, a, b: add_sub("sub", False)(c, b, a))
    define("v_add_nc_i32 v_add_i32", "i32 = i32 i32", add_sub("add", True))
    define("v_sub_nc_i32 v_sub_i32", "i32 = i32 i32", add_sub("sub", True))
    define("v_add_nc_u16 v_add_u16", "i16 = i16 i16", add_sub("add", False))
    define("v_sub_nc_u16 v_sub_u16", "i16 = i16 i16", add_sub("sub", False))
    define("v_subrev_u16", "i16 = i16 i16", lambda c, a, b: add_sub("sub", False)(c, b, a))
    define("v_add_nc_i16 v_add_i16", "i16 = i16 i16", add_sub("add", True))
    define("v_sub_nc_i16 v_sub_i16", "i16 = i16 i16", add_sub("sub", True))
    define("v_mad_legacy_i16", "i16 = i16 i16 i16", multiply_add("i16", True))
    define("v_mad_legacy_u16", "i16 = i16 i16 i16", multiply_add("i16", False))
    define("v_bitop3_b32", "i32 = i32 i32 i32", _truth_table)
    define("v_bitop3_b16", "i16 = i16 i16 i16", _truth_table)
    define("v_add3_u32", "i32 = i32 i32 i32", plain(lambda a, b, d: a + b + d))
    define("v_mul_lo_u32 v_mul_lo_i32", "i32 = i32 i32", plain(lambda a, b: a * b))
    define("v_mul_hi_u32", "i32 = i32 i32", plain(lambda a, b: multiply_high(a, b, False)))
    define("v_mul_hi_i32", "i32 = i32 i32", plain(lambda a, b: multiply_high(a, b, True)))
    define("v_mul_lo_u16", "i16 = i16 i16", plain(lambda a, b: a * b))
    for signed, kind in ((True, "i"), (False, "u")):
        extend = sext if signed else zext
        define(
            f"v_mul_{kind}32_{kind}24",
            "i32 = i32 i32",
            lambda c, a, b, s=signed, x=extend: _clamp32(c, x(low24(a, s), "i64") * x(low24(b, s), "i64"), s),
        )
        define(
            f"v_mul_hi_{kind}32_{kind}24",
            "i32 = i32 i32",
            lambda c, a, b, s=signed, x=extend: resize((x(low24(a, s), "i64") * x(low24(b, s), "i64")) >> 32, "i32"),
        )
        define(
            f"v_mad_{kind}32_{kind}24",
            "i32 = i32 i32 i32",
            lambda c, a, b, d, s=signed, x=extend: _clamp32(
                c, x(low24(a, s), "i64") * x(low24(b, s), "i64") + x(d, "i64"), s
            ),
        )
        define(f"v_mad_{kind}16", "i16 = i16 i16 i16", multiply_add("i16", signed))
        define(
            f"v_mad_{kind}32_{kind}16",
            "i32 = i16 i16 i32",
            lambda c, a, b, d, s=signed, x=extend: _clamp32(c, x(a, "i64") * x(b, "i64") + x(d, "i64"), s),
        )
        names = f"v_mad_{kind}64_{kind}32 v_mad_co_{kind}64_{kind}32"
        define(names, "i64 mask = i32 i32 i64 | exec", lambda c, a, b, d, e, s=signed: _multiply_wide(c, a, b, d, e, s))
        define(
            f"v_mad_nc_{kind}64_{kind}32",
            "i64 = i32 i32 i64",
            lambda c, a, b, d, x=extend: x(a, "i64") * x(b, "i64") + d,
        )
    define("v_add_co_u32", "i32 mask = i32 i32 | exec", lambda c, a, b, e: _carry(c, "add", a, b, None, e))
    define("v_sub_co_u32", "i32 mask = i32 i32 | exec", lambda c, a, b, e: _carry(c, "sub", a, b, None, e))
    define("v_subrev_co_u32", "i32 mask = i32 i32 | exec", lambda c, a, b, e: _carry(c, "sub", b, a, None, e))
    define(
        "v_add_co_ci_u32 v_addc_co_u32",
        "i32 mask = i32 i32 mask | exec",
        lambda c, a, b, k, e: _carry(c, "add", a, b, k, e),
    )
    define(
        "v_sub_co_ci_u32 v_subb_co_u32",
        "i32 mask = i32 i32 mask | exec",
        lambda c, a, b, k, e: _carry(c, "sub", a, b, k, e),
    )
    define(
        "v_subrev_co_ci_u32 v_subbrev_co_u32",
        "i32 mask = i32 i32 mask | exec",
        lambda c, a, b, k, e: _carry(c, "sub", b, a, k, e),
    )


def _truth_table(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
    """Bitwise function of three operands; the modifier holds the result of each combination, a the highest bit."""
    table = c.modifier("bitop3")
    result = const(a.type, 0)
    for row in range(8):
        if table >> row & 1:
            term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (d if row & 1 else ~d)
            result = result | term
    return result


def _carry(c: Context, op: str, a: Expr, b: Expr, carry: Expr | None, exec_mask: Expr) -> tuple[Expr, Expr]:
    # Unsigned comparison instead of a wider type: carry out of a + b is a + b < a; of the carry in, one more test.
    if op == "add":
        total = a + b
        out = icmp("ult", total, a)
        if carry is not None:
            one = zext(lane_bit(carry), "i32")
            with_carry = total + one
            out = out | icmp("ult", with_carry, total)
            total = with_carry
    else:
        total = a - b
        out = icmp("ult", a, b)
        if carry is not None:
            one = zext(lane_bit(carry), "i32")
            with_carry = total - one
            out = out | icmp("ult", total, one)
            total = with_carry
    if c.modifier("clamp"):
        limit = const("i32", -1 if op == "add" else 0)
        total = select(out, limit, total)
    return total, ballot(out, c.wave) & exec_mask


def _multiply_wide(c: Context, a: Expr, b: Expr, d: Expr, exec_mask: Expr, signed: bool) -> tuple[Expr, Expr]:
    """Product plus ``d``, and bit 64 of the exact sum: a carry, or the sign of signed numbers (ISAs' pseudo-code)."""
    extend = sext if signed else zext
    product = extend(a, "i64") * extend(b, "i64")
    total = product + d
    wrapped = (total ^ product) & (total ^ d)
    overflow = icmp("slt", wrapped, 0) if signed else icmp("ult", total, product)
    carry = icmp("slt", total ^ wrapped, 0) if signed else overflow
    if c.modifier("clamp"):
        top = const("i64", (1 << 63) - 1)
        limit = select(icmp("slt", d, 0), const("i64", -(1 << 63)), top) if signed else const("i64", -1)
        total = select(overflow, limit, total)
    return total, ballot(carry, c.wave) & exec_mask


def _declare_selection() -> None:
    for width in (16, 32):
        t = f"i{width}"
        for kind, low, high in (("i", smin, smax), ("u", umin, umax)):
            n = f"{kind}{width}"
            define(f"v_min_{n}", f"{t} = {t} {t}", plain(low))
            define(f"v_max_{n}", f"{t} = {t} {t}", plain(high))
            define(f"v_min3_{n}", f"{t} = {t} {t} {t}", plain(lambda a, b, d, f=low: f(f(a, b), d)))
            define(f"v_max3_{n}", f"{t} = {t} {t} {t}", plain(lambda a, b, d, f=high: f(f(a, b), d)))
            define(f"v_med3_{n}", f"{t} = {t} {t} {t}", plain(lambda a, b, d, x=low, y=high: median(a, b, d, x, y)))
            if width == 32:
                define(f"v_minmax_{n}", "i32 = i32 i32 i32", plain(lambda a, b, d, x=low, y=high: y(x(a, b), d)))
                define(f"v_maxmin_{n}", "i32 = i32 i32 i32", plain(lambda a, b, d, x=low, y=high: x(y(a, b), d)))


def _bytes(value: Expr) -> list[Expr]:
    return [(value >> (8 * i)) & 0xFF for i in range(4)]


def _distance(a: Expr, b: Expr) -> Expr:
    return umax(a, b) - umin(a, b)


def _declare_differences() -> None:
    def total(c: Context, pairs: list[tuple[Expr, Expr]], start: Expr) -> Expr:
        wide = zext(start, "i64")
        for a, b in pairs:
            wide = wide + zext(_distance(a, b), "i64")
        return _clamp32(c, wide, False)

    define("v_sad_u32", "i32 = i32 i32 i32", lambda c, a, b, d: total(c, [(a, b)], d))
    define(
        "v_sad_u16",
        "i32 = i32 i32 i32",
        lambda c, a, b, d: total(c, [(a & 0xFFFF, b & 0xFFFF), (a >> 16, b >> 16)], d),
    )
    define(
        "v_sad_u8", "i32 = i32 i32 i32", lambda c, a, b, d: total(c, list(zip(_bytes(a), _bytes(b), strict=True)), d)
    )

    def sad_high(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
        value = const("i32", 0)
        for x, y in zip(_bytes(a), _bytes(b), strict=True):
            value = value + _distance(x, y)
        wide = (zext(value, "i64") << 16) + zext(d, "i64")
        return _clamp32(c, wide, False)

    define("v_sad_hi_u8", "i32 = i32 i32 i32", sad_high)

    def masked(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
        wide = zext(d, "i64")
        for x, y in zip(_bytes(a), _bytes(b), strict=True):
            wide = wide + zext(select(icmp("eq", y, 0), const("i32", 0), _distance(x, y)), "i64")
        return _clamp32(c, wide, False)

    define("v_msad_u8", "i32 = i32 i32 i32", masked)

    def windows(data: Expr) -> list[Expr]:
        return [trunc(data >> (8 * i), "i32") for i in range(4)]

    def quad(function: Callable[[Context, Expr, Expr, Expr], Expr]) -> Callable[..., Expr]:
        def build(c: Context, data: Expr, reference: Expr, sums: Expr) -> Expr:
            result = const("i64", 0)
            for i, window in enumerate(windows(data)):
                start = resize((sums >> (16 * i)) & 0xFFFF, "i32")
                value = function(c, window, reference, start)
                short = umin(value, const("i32", 0xFFFF)) if c.modifier("clamp") else value & 0xFFFF
                result = result | (zext(short, "i64") << (16 * i))
            return result

        return build

    def sad8(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
        value = d
        for x, y in zip(_bytes(a), _bytes(b), strict=True):
            value = value + _distance(x, y)
        return value

    def msad8(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
        value = d
        for x, y in zip(_bytes(a), _bytes(b), strict=True):
            value = value + select(icmp("eq", y, 0), const("i32", 0), _distance(x, y))
        return value

    define("v_qsad_pk_u16_u8", "i64 = i64 i32 i64", quad(sad8))
    define("v_mqsad_pk_u16_u8", "i64 = i64 i32 i64", quad(msad8))

    def wide_sums(c: Context, data: Expr, reference: Expr, sums: list[Expr]) -> list[Expr]:
        result = []
        for start, window in zip(sums, windows(data), strict=True):
            total_ = zext(msad8(c, window, reference, const("i32", 0)), "i64") + zext(start, "i64")
            result.append(_clamp32(c, total_, False))
        return result

    define("v_mqsad_u32_u8", "i32x4 = i64 i32 i32x4", wide_sums)


def _declare_lanes() -> None:
    define("v_mbcnt_lo_u32_b32", "i32 = i32 i32", lambda c, m, b: _bits_below(c, m, b, False))
    define("v_mbcnt_hi_u32_b32", "i32 = i32 i32", lambda c, m, b: _bits_below(c, m, b, True))


def _bits_below(c: Context, mask: Expr, base: Expr, high: bool) -> Expr:
    lane = lane_number()
    if high:
        position = select(icmp("ult", lane, 32), const("i32", 0), lane - 32)
        all_below = const("i1", 0)
    else:
        position = lane
        all_below = icmp("uge", lane, 32)
    below = (const("i32", 1) << position) - 1
    return node("ctpop", "i32", mask & select(all_below, const("i32", -1), below)) + base


_declare_logic()
_declare_shifts()
_declare_arithmetic()
_declare_selection()
_declare_differences()
_declare_lanes()
