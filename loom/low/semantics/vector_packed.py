"""Semantic operations on packed halves, dot products, mixed precision and matrices (AMD RDNA3 and CDNA3 ISA)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loom.low.semantics.expression import (
    Expr,
    ashr,
    bitcast,
    bits,
    halves,
    sext,
    shuffle,
    smax,
    smin,
    trunc,
    umax,
    umin,
    zext,
)
from loom.low.semantics.floats import (
    bfloat_to_single,
    fabs,
    fadd,
    ffma,
    flush_output,
    fmul,
    fneg,
    maximum_ieee,
    maximum_number,
    minimum_ieee,
    minimum_number,
    narrow_half,
    single_to_bfloat,
    widen,
)
from loom.low.semantics.operation import ACCUMULATING, Context, define
from loom.low.semantics.small_floats import decode_small
from loom.low.semantics.vector_integer import add_sub, multiply_add, saturated

Pair = tuple[Expr, Expr]


def _each(function: Callable[..., Expr]) -> Callable[..., Pair]:
    def build(c: Context, *pairs: Pair) -> Pair:
        return function(c, *(p[0] for p in pairs)), function(c, *(p[1] for p in pairs))

    return build


def _declare_packed() -> None:
    for name, function, count in (
        ("add", fadd, 2), ("mul", fmul, 2), ("fma", ffma, 3),
        ("min", minimum_number, 2), ("max", maximum_number, 2), ("min_num", minimum_number, 2),
        ("max_num", maximum_number, 2), ("minimum", minimum_ieee, 2), ("maximum", maximum_ieee, 2),
    ):  # fmt: skip
        define(f"v_pk_{name}_f16", "v2f16 = " + " ".join(["v2f16"] * count), _each(function))
    for name, function, count in (("add", fadd, 2), ("mul", fmul, 2), ("fma", ffma, 3)):
        define(f"v_pk_{name}_f32", "v2f32 = " + " ".join(["v2f32"] * count), _each(function))
    define(
        "v_pk_minimum3_f16", "v2f16 = v2f16 v2f16 v2f16",
        _each(lambda c, a, b, d: minimum_ieee(c, minimum_ieee(c, a, b), d)),
    )  # fmt: skip
    define(
        "v_pk_maximum3_f16", "v2f16 = v2f16 v2f16 v2f16",
        _each(lambda c, a, b, d: maximum_ieee(c, maximum_ieee(c, a, b), d)),
    )  # fmt: skip
    # ``op_sel`` picks a half of each source; ``op_sel_hi`` means nothing here.
    define("v_pk_mov_b32", "v2f32 = v2f32 v2f32", lambda c, a, b: (a[0], b[0]))
    define("v_pk_fmac_f16", "v2f16 = v2f16 v2f16 v2f16", _each(lambda c, d, a, b: ffma(c, a, b, d)))
    ACCUMULATING.add("v_pk_fmac_f16")
    for signed, kind in ((True, "i"), (False, "u")):
        t = "v2i16 = v2i16 v2i16"
        define(f"v_pk_add_{kind}16", t, _each(add_sub("add", signed)))
        define(f"v_pk_sub_{kind}16", t, _each(add_sub("sub", signed)))
        define(f"v_pk_mad_{kind}16", t + " v2i16", _each(multiply_add("i16", signed)))
        define(f"v_pk_min_{kind}16", t, _each(lambda c, a, b, f=smin if signed else umin: f(a, b)))
        define(f"v_pk_max_{kind}16", t, _each(lambda c, a, b, f=smax if signed else umax: f(a, b)))
    define("v_pk_mul_lo_u16", "v2i16 = v2i16 v2i16", _each(lambda c, a, b: a * b))
    define("v_pk_lshlrev_b16", "v2i16 = v2i16 v2i16", _each(lambda c, n, a: a << n))
    define("v_pk_lshrrev_b16", "v2i16 = v2i16 v2i16", _each(lambda c, n, a: a >> n))
    define("v_pk_ashrrev_i16", "v2i16 = v2i16 v2i16", _each(lambda c, n, a: ashr(a, n)))


def _mixed(value: Expr, source: int, c: Context) -> Expr:
    """A source of V_FMA_MIX: single precision, or the half that ``op_sel`` names where ``op_sel_hi`` is set."""
    if c.modifiers.get("op_sel_hi", 0) >> source & 1:
        low, high = halves(value)
        single = widen(bitcast(high if c.modifier("op_sel") >> source & 1 else low, "f16"))
    else:
        single = bitcast(value, "f32")
    if c.modifier("neg_hi") >> source & 1 or c.modifier("abs") >> source & 1:
        single = fabs(single)  # the encoding's neg_hi field holds abs
    if (c.modifier("neg_lo") | c.modifier("neg")) >> source & 1:
        single = fneg(single)
    return single


def _mix(c: Context, *sources: Expr) -> Expr:
    return ffma(c, *(_mixed(s, i, c) for i, s in enumerate(sources)))


def _half_result(c: Context, value: Expr) -> Expr:
    from loom.low.semantics.floats import apply_clamp

    result = flush_output(c, narrow_half(value, c.mode.round64))
    return apply_clamp(result, c.mode.dx10_clamp) if c.modifier("clamp") else result


def _insert_half(old: Expr, value: Expr, high: bool) -> Expr:
    word = zext(bits(value), "i32")
    return (old & 0xFFFF) | (word << 16) if high else (old & -65536) | word


def _declare_mixed() -> None:
    define("v_fma_mix_f32 v_mad_mix_f32", "f32 = i32 i32 i32", _mix)
    for suffix, high in (("lo", False), ("hi", True)):
        define(
            f"v_fma_mix{suffix}_f16 v_mad_mix{suffix}_f16",
            "i32 = i32 i32 i32 i32",
            lambda c, old, a, b, d, h=high: _insert_half(old, _half_result(c, _mix(c, a, b, d)), h),
        )
        ACCUMULATING.update((f"v_fma_mix{suffix}_f16", f"v_mad_mix{suffix}_f16"))


def _fields(word: Expr, width: int, signed: bool) -> list[Expr]:
    count = 32 // width
    kind = f"i{width}" if width != 4 else "i8"
    result = []
    for i in range(count):
        part = (word >> (width * i)) & ((1 << width) - 1)
        if width == 4:
            result.append(ashr(part << 28, 28) if signed else part)
        else:
            result.append(sext(trunc(part, kind), "i32") if signed else part)
    return result


def _integer_dot(width: int, a_signed: bool | None, b_signed: bool | None, signed_sum: bool) -> Callable[..., Expr]:
    """Sum of products; None: the ``neg_lo`` modifier tells whether that source is signed (the ``iu`` forms)."""

    def build(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
        flags = c.modifier("neg_lo")
        x = _fields(a, width, bool(flags & 1) if a_signed is None else a_signed)
        y = _fields(b, width, bool(flags & 2) if b_signed is None else b_signed)
        if not c.modifier("clamp"):
            total = d
            for p, q in zip(x, y, strict=True):
                total = total + p * q
            return total
        extend = sext if signed_sum else zext
        wide = extend(d, "i64")
        for p, q in zip(x, y, strict=True):
            wide = wide + sext(p * q, "i64") if signed_sum else wide + zext(p * q, "i64")
        return saturated(wide, "i32", signed_sum)

    return build


def _half_dot(c: Context, a: Pair, b: Pair, d: Expr) -> Expr:
    """d + a.low * b.low + a.high * b.high in single precision, each step fused, the high product first."""
    x, y = ([widen(v) for v in p] for p in (a, b))
    return ffma(c, x[0], y[0], ffma(c, x[1], y[1], d))


def _bfloat_modified(word: Expr, source: int, c: Context) -> list[Expr]:
    parts = list(halves(word))
    low = parts[c.modifier("op_sel") >> source & 1]
    high = parts[c.modifiers.get("op_sel_hi", 7) >> source & 1]
    result = []
    for value, neg in ((low, c.modifier("neg_lo")), (high, c.modifier("neg_hi"))):
        single = bfloat_to_single(value)
        result.append(fneg(single) if neg >> source & 1 else single)
    return result


def _declare_dots() -> None:
    define("v_dot2_f32_f16", "f32 = v2f16 v2f16 f32", _half_dot)
    names = "v_dot2acc_f32_f16 v_dot2c_f32_f16"
    define(names, "f32 = f32 v2f16 v2f16", lambda c, d, a, b: _half_dot(c, a, b, d))
    ACCUMULATING.update(names.split())

    def half_result(c: Context, a: Pair, b: Pair, d: Expr) -> Expr:
        return ffma(c, a[1], b[1], ffma(c, a[0], b[0], d))

    define("v_dot2_f16_f16", "f16 = v2f16 v2f16 f16", half_result)

    def bfloat_dot(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
        x, y = _bfloat_modified(a, 0, c), _bfloat_modified(b, 1, c)
        return ffma(c, x[0], y[0], ffma(c, x[1], y[1], d))

    define("v_dot2_f32_bf16", "f32 = i32 i32 f32", bfloat_dot)

    define("v_dot2acc_f32_bf16 v_dot2c_f32_bf16", "f32 = f32 i32 i32", lambda c, d, a, b: bfloat_dot(c, a, b, d))
    ACCUMULATING.update(("v_dot2acc_f32_bf16", "v_dot2c_f32_bf16"))

    def bfloat_result(c: Context, a: Expr, b: Expr, d: Expr) -> Expr:
        x, y = _bfloat_modified(a, 0, c), _bfloat_modified(b, 1, c)
        return single_to_bfloat(ffma(c, x[1], y[1], ffma(c, x[0], y[0], bfloat_to_single(d))))

    define("v_dot2_bf16_bf16", "i16 = i32 i32 i16", bfloat_result)
    define("v_dot4_i32_iu8", "i32 = i32 i32 i32", _integer_dot(8, None, None, True))
    define("v_dot8_i32_iu4", "i32 = i32 i32 i32", _integer_dot(4, None, None, True))
    define("v_dot4_i32_i8", "i32 = i32 i32 i32", _integer_dot(8, True, True, True))
    define("v_dot8_i32_i4", "i32 = i32 i32 i32", _integer_dot(4, True, True, True))
    define("v_dot4_u32_u8", "i32 = i32 i32 i32", _integer_dot(8, False, False, False))
    define("v_dot8_u32_u4", "i32 = i32 i32 i32", _integer_dot(4, False, False, False))
    define("v_dot2_i32_i16", "i32 = i32 i32 i32", _integer_dot(16, True, True, True))
    define("v_dot2_u32_u16", "i32 = i32 i32 i32", _integer_dot(16, False, False, False))
    for name, width in (("v_dot4c_i32_i8", 8), ("v_dot8c_i32_i4", 4), ("v_dot2c_i32_i16", 16)):
        define(name, "i32 = i32 i32 i32", lambda c, d, a, b, w=width: _integer_dot(w, True, True, True)(c, a, b, d))
        ACCUMULATING.add(name)


def _declare_small_floats() -> None:
    """OCP 8-bit floats (gfx12, gfx9.4): conversions and dot products."""
    for kind in ("fp8", "bf8"):
        for byte in range(1):
            define(
                f"v_cvt_f32_{kind}", "f32 = i32",
                lambda c, a, k=kind, b=byte: decode_small(c, a >> (8 * _byte_select(c, b)), k),
            )  # fmt: skip
        define(
            f"v_cvt_pk_f32_{kind}", "v2f32 = i32",
            lambda c, a, k=kind: _pair_from_half(c, a, k),
        )  # fmt: skip
        for other in ("fp8", "bf8"):
            define(
                f"v_dot4_f32_{kind}_{other}", "f32 = i32 i32 f32",
                lambda c, a, b, d, x=kind, y=other: _small_dot(c, a, b, d, x, y),
            )  # fmt: skip


def _byte_select(c: Context, default: int) -> int:
    # op_sel bits 1:0 choose the byte, bit 1 first.
    selector = c.modifier("op_sel")
    return ((selector & 1) << 1 | selector >> 1 & 1) if selector else default


def _pair_from_half(c: Context, word: Expr, kind: str) -> tuple[Expr, Expr]:
    start = 16 if c.modifier("op_sel") & 1 else 0
    return (
        decode_small(c, word >> start, kind),
        decode_small(c, word >> (start + 8), kind),
    )


def _small_dot(c: Context, a: Expr, b: Expr, d: Expr, kind_a: str, kind_b: str) -> Expr:
    total = d
    for i in range(4):
        x = decode_small(c, a >> (8 * i), kind_a)
        y = decode_small(c, b >> (8 * i), kind_b)
        total = ffma(Context(c.wave), x, y, total)
    return total


# Matrix operations. Each result element is a chain of fused (integer: wrapping) multiply-adds over k ascending,
# starting with
# the element of C: the ISA leaves the order of accumulation open, this is the order this implementation documents.


def _wmma_sources(c: Context, register: int, replicated: bool) -> tuple[int, ...]:
    """The lane that holds row ``m`` of A for the result register ``register``, a lane each."""
    rows = []
    for lane in range(c.wave):
        if replicated:
            groups = c.wave // 16
            rows.append(register * groups + lane // 16)
        else:
            rows.append(register + 8 * (lane // 16))
    return tuple(rows)


def unpack_k(c: Context, words: list[Expr], kind: str, signed: bool) -> list[Expr]:
    """A lane's values of k; ``signed`` matters to integers."""
    values: list[Expr] = []
    for word in words:
        if kind == "f16":
            values.extend(widen(bitcast(h, "f16")) for h in halves(word))
        elif kind == "bf16":
            values.extend(bfloat_to_single(h) for h in halves(word))
        elif kind == "i8":
            values.extend(_fields(word, 8, signed))
        elif kind == "i4":
            values.extend(_fields(word, 4, signed))
        elif kind in ("fp8", "bf8"):
            values.extend(decode_small(c, word >> (8 * i), kind) for i in range(4))
    return values


def modified_words(words: list[Expr], source: int, c: Context, kind: str) -> list[Expr]:
    """Words of half-precision pairs with the negations of ``neg_lo`` and ``neg_hi``."""
    if kind not in ("f16", "bf16"):
        return words
    flip = (0x8000 if c.modifier("neg_lo") >> source & 1 else 0) | (
        0x80000000 if c.modifier("neg_hi") >> source & 1 else 0
    )
    return [w ^ flip for w in words] if flip else words


def _wmma(kind_a: str, kind_b: str, accumulate: str, replicated: bool) -> Callable[..., Any]:
    """Wave matrix multiply-accumulate, 16 x 16 results.

    gfx11 (``replicated``): lanes 16 and up repeat the operands of lanes 0-15, result register ``r`` of lane ``l`` is
    row
    ``2 r + l // 16`` (wave64: ``4 r + l // 16``). gfx12: lanes 16-31 hold the second half of k, result rows ``r + 8
    (l // 16)``.
    """

    def build(c: Context, a: list[Expr], b: list[Expr], d: list[Expr]) -> list[Expr]:
        flags = c.modifier("neg_lo")
        a_k = unpack_k(c, modified_words(a, 0, c, kind_a), kind_a, bool(flags & 1))
        b_k = unpack_k(c, modified_words(b, 1, c, kind_b), kind_b, bool(flags & 2))
        if not replicated:
            a_k, b_k = _spread_k(c, a_k), _spread_k(c, b_k)
        packed = accumulate in ("f16", "bf16")
        results: list[Expr] = []
        count = len(d)
        for register in range(count):
            if packed and replicated:
                results.append(_packed_element(c, a_k, b_k, d[register], accumulate, register))
                continue
            if packed:
                pair = []
                for half, old in enumerate(halves(d[register])):
                    start = widen(bitcast(old, "f16")) if accumulate == "f16" else bfloat_to_single(old)
                    value = _chain(c, a_k, b_k, start, _wmma_sources(c, 2 * register + half, False), accumulate)
                    pair.append(narrow_element(value, accumulate))
                results.append(zext(pair[0], "i32") | (zext(pair[1], "i32") << 16))
                continue
            sources = _wmma_sources(c, register, replicated)
            if accumulate == "i32":
                extended = c.modifier("clamp")
                total = sext(d[register], "i64") if extended else d[register]
                for x, y in zip(a_k, b_k, strict=True):
                    product = shuffle(x, sources) * y
                    total = total + (sext(product, "i64") if extended else product)
                results.append(saturated(total, "i32", True) if extended else total)
            else:
                start = _accumulator(c, bitcast(d[register], "f32"))
                results.append(_chain(c, a_k, b_k, start, sources, accumulate))
        return [bitcast(r, "i32") for r in results]

    return build


def _accumulator(c: Context, value: Expr) -> Expr:
    # For the third source neg_hi is the absolute value, neg_lo the negation.
    if c.modifier("neg_hi") >> 2 & 1:
        value = fabs(value)
    return fneg(value) if c.modifier("neg_lo") >> 2 & 1 else value


def _spread_k(c: Context, values: list[Expr]) -> list[Expr]:
    """gfx12 operands: lane l < 16 holds k in groups of 8 starting at 0, lane l + 16 the next 8; give each lane all of
    k.
    """
    low = tuple(lane & 15 for lane in range(c.wave))
    high = tuple((lane & 15) + 16 for lane in range(c.wave))
    return [shuffle(v, low) for v in values] + [shuffle(v, high) for v in values]


def _chain(c: Context, a_k: list[Expr], b_k: list[Expr], start: Expr, sources: tuple[int, ...], kind: str) -> Expr:
    plain = Context(c.wave)
    total = start
    for x, y in zip(a_k, b_k, strict=True):
        total = ffma(plain, shuffle(x, sources), y, total)
    return total


def narrow_element(value: Expr, kind: str) -> Expr:
    """A single-precision sum as 16 bits of the accumulator's format."""
    return bitcast(narrow_half(value), "i16") if kind == "f16" else single_to_bfloat(value)


def _packed_element(c: Context, a_k: list[Expr], b_k: list[Expr], old: Expr, kind: str, register: int) -> Expr:
    """gfx11 16-bit results: one element in the half that ``op_sel`` bit 2 names; the other half is kept."""
    high = bool(c.modifier("op_sel") >> 2 & 1)
    part = halves(old)[1 if high else 0]
    start = widen(bitcast(part, "f16")) if kind == "f16" else bfloat_to_single(part)
    value = _chain(c, a_k, b_k, start, _wmma_sources(c, register, True), kind)
    word = zext(narrow_element(value, kind), "i32")
    return (old & 0xFFFF) | (word << 16) if high else (old & -65536) | word


WMMA_GFX11 = {
    "v_wmma_f32_16x16x16_f16": ("f16", "f16", "f32", 8),
    "v_wmma_f32_16x16x16_bf16": ("bf16", "bf16", "f32", 8),
    "v_wmma_f16_16x16x16_f16": ("f16", "f16", "f16", 8),
    "v_wmma_bf16_16x16x16_bf16": ("bf16", "bf16", "bf16", 8),
    "v_wmma_i32_16x16x16_iu8": ("i8", "i8", "i32", 4),
    "v_wmma_i32_16x16x16_iu4": ("i4", "i4", "i32", 2),
}
"""Matrix operations of gfx11: kinds of A, B and the accumulator, words of A."""


def _declare_matrices() -> None:
    for name, (kind_a, kind_b, accumulator, words) in WMMA_GFX11.items():
        for wave in (32, 64):
            results = 8 if wave == 32 else 4
            define(
                f"{name}.w{wave}",
                f"i32x{results} = i32x{words} i32x{words} i32x{results}",
                _wmma(kind_a, kind_b, accumulator, True),
            )
    gfx12 = {
        "v_wmma_f32_16x16x16_f16": ("f16", "f16", "f32", 4),
        "v_wmma_f32_16x16x16_bf16": ("bf16", "bf16", "f32", 4),
        "v_wmma_f16_16x16x16_f16": ("f16", "f16", "f16", 4),
        "v_wmma_bf16_16x16x16_bf16": ("bf16", "bf16", "bf16", 4),
        "v_wmma_i32_16x16x16_iu8": ("i8", "i8", "i32", 2),
        "v_wmma_i32_16x16x16_iu4": ("i4", "i4", "i32", 1),
        "v_wmma_i32_16x16x32_iu4": ("i4", "i4", "i32", 2),
        **{f"v_wmma_f32_16x16x16_{a}_{b}": (a, b, "f32", 2) for a in ("fp8", "bf8") for b in ("fp8", "bf8")},
    }
    for name, (kind_a, kind_b, accumulator, words) in gfx12.items():
        results = 4 if accumulator in ("f16", "bf16") else 8
        define(
            f"{name}.gfx12.w32",
            f"i32x{results} = i32x{words} i32x{words} i32x{results}",
            _wmma(kind_a, kind_b, accumulator, False),
        )


_declare_packed()
_declare_mixed()
_declare_dots()
_declare_small_floats()
_declare_matrices()
