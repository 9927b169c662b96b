"""Semantic operations that convert from and to floats of 8, 6 and 4 bits (gfx12, gfx942, gfx950), and their relatives.

Where a result is narrower than its register the other bits are kept; operations take the old register first.
"""

from __future__ import annotations

from collections.abc import Callable

from loom.low.semantics.expression import Expr, ashr, bitcast, bits, const, halves, icmp, select, smax, smin, trunc
from loom.low.semantics.floats import bfloat_to_single, fabs, flush_input, fneg, is_nan
from loom.low.semantics.operation import ACCUMULATING, Context, define
from loom.low.semantics.small_floats import (
    FORMATS,
    encode_small,
    next_random,
    scale_field,
    scaled_value,
)
from loom.low.semantics.vector_float import pack_byte

Build = Callable[..., Expr]


def _insert(old: Expr, part: Expr, width: int, place: int) -> Expr:
    """Put ``width`` bits at position ``place`` (in units of the width) of an old word."""
    mask = ((1 << width) - 1) << (width * place)
    return (old & ~mask) | ((part & ((1 << width) - 1)) << (width * place))


def _into_old(names: str, signature: str, build: Build) -> None:
    """Declare operations whose first input is the old destination."""
    define(names, signature, build)
    ACCUMULATING.update(names.split())


def _half_place(c: Context) -> int:
    return c.modifier("op_sel") >> 3 & 1


def _byte_place(c: Context) -> int:
    return c.modifier("op_sel") >> 2 & 3


def _source_byte(c: Context, word: Expr) -> Expr:
    return word >> (8 * (c.modifier("op_sel") & 3))


def _single(c: Context, value: Expr) -> Expr:
    return flush_input(c, value)


def _plain_source(c: Context, source: int) -> None:
    if (c.modifier("neg") | c.modifier("abs")) >> source & 1:
        raise ValueError("input modifiers of a packed source are not simulated")


def _half_source(c: Context, word: Expr, kind: str) -> Expr:
    """The low half of a word as a number: ``f16`` itself, ``bf16`` as single precision."""
    low = trunc(word, "i16")
    value = bitcast(low, "f16") if kind == "f16" else bfloat_to_single(low)
    if c.modifier("abs") & 1:
        value = fabs(value)
    return fneg(value) if c.modifier("neg") & 1 else value


def _packed_sources(words: list[Expr], kind: str) -> list[Expr]:
    if kind == "f32":
        return [bitcast(w, "f32") for w in words]
    return [bitcast(h, "f16") if kind == "f16" else bfloat_to_single(h) for w in words for h in halves(w)]


def _pack_codes(codes: list[Expr], width: int) -> list[Expr]:
    words = [const("i32", 0)] * (len(codes) * width // 32)
    for number, code in enumerate(codes):
        at, shift = divmod(number * width, 32)
        words[at] = words[at] | (code << shift)
        if shift + width > 32:
            words[at + 1] = words[at + 1] | (code >> (32 - shift))
    return words


def _unpack_codes(words: list[Expr], width: int) -> list[Expr]:
    codes = []
    for number in range(len(words) * 32 // width):
        at, shift = divmod(number * width, 32)
        code = words[at] >> shift
        if shift + width > 32:
            code = code | (words[at + 1] << (32 - shift))
        codes.append(code & ((1 << width) - 1))
    return codes


def _declare_plain() -> None:
    """V_CVT_PK and V_CVT_SR without scale."""
    for kind in ("fp8", "bf8"):

        def pair(c: Context, a: Expr, b: Expr, k: str = kind) -> Expr:
            return encode_small(c, _single(c, a), k) | (encode_small(c, _single(c, b), k) << 8)

        _into_old(
            f"v_cvt_pk_{kind}_f32", "i32 = i32 f32 f32",
            lambda c, old, a, b, f=pair: _insert(old, f(c, a, b), 16, _half_place(c)),
        )  # fmt: skip
        for wave in (32, 64):
            # On gfx12 the destination is a register half of its own.
            define(
                f"v_cvt_pk_{kind}_f32.gfx12.w{wave}", "i16 = f32 f32", lambda c, a, b, f=pair: trunc(f(c, a, b), "i16")
            )
        _into_old(
            f"v_cvt_sr_{kind}_f32", "i32 = i32 f32 i32",
            lambda c, old, a, r, k=kind: _insert(old, encode_small(c, _single(c, a), k, None, r), 8, _byte_place(c)),
        )  # fmt: skip
    _into_old(
        "v_cvt_sr_f16_f32", "i32 = i32 f32 i32",
        lambda c, old, a, r: _insert(old, encode_small(c, _single(c, a), "f16", None, r), 16, _half_place(c)),
    )  # fmt: skip

    def to_bfloat(c: Context, a: Expr, r: Expr) -> Expr:
        pattern = bits(_single(c, a))
        finite = icmp("ult", pattern & 0x7FFFFFFF, 0x7F800000)
        rounded = select(finite, pattern + (r >> 16), pattern)
        return select(is_nan(a), pattern | 0x00400000, rounded) >> 16

    _into_old(
        "v_cvt_sr_bf16_f32", "i32 = i32 f32 i32",
        lambda c, old, a, r: _insert(old, to_bfloat(c, a, r), 16, _half_place(c)),
    )  # fmt: skip
    define("v_prng_b32", "i32 = i32", lambda c, a: next_random(a))


def _declare_to_small() -> None:
    """V_CVT_SCALEF32 to 8 and 4 bits: pairs, and single stochastic results."""
    for kind in ("fp8", "bf8", "fp4"):
        width = FORMATS[kind].bits
        place = _half_place if width == 8 else _byte_place

        def from_singles(
            c: Context,
            old: Expr,
            a: Expr,
            b: Expr,
            s: Expr,
            k: str = kind,
            w: int = width,
            at: Callable[[Context], int] = place,
        ) -> Expr:
            scale = scale_field(s)
            low, high = (encode_small(c, _single(c, v), k, scale) for v in (a, b))
            return _insert(old, low | (high << w), 2 * w, at(c))

        _into_old(f"v_cvt_scalef32_pk_{kind}_f32", "i32 = i32 f32 f32 i32", from_singles)
        for source in ("f16", "bf16"):

            def from_halves(
                c: Context, old: Expr, a: Expr, s: Expr, k: str = kind, w: int = width, src: str = source,
                at: Callable[[Context], int] = place,
            ) -> Expr:  # fmt: skip
                _plain_source(c, 0)
                scale = scale_field(s)
                low, high = (encode_small(c, v, k, scale) for v in _packed_sources([a], src))
                return _insert(old, low | (high << w), 2 * w, at(c))

            _into_old(f"v_cvt_scalef32_pk_{kind}_{source}", "i32 = i32 i32 i32", from_halves)
    for kind in ("fp8", "bf8"):
        _into_old(
            f"v_cvt_scalef32_sr_{kind}_f32", "i32 = i32 f32 i32 i32",
            lambda c, old, a, r, s, k=kind: _insert(
                old, encode_small(c, _single(c, a), k, scale_field(s), r), 8, _byte_place(c)
            ),
        )  # fmt: skip
        for source in ("f16", "bf16"):
            _into_old(
                f"v_cvt_scalef32_sr_{kind}_{source}", "i32 = i32 i32 i32 i32",
                lambda c, old, a, r, s, k=kind, src=source: _insert(
                    old, encode_small(c, _half_source(c, a, src), k, scale_field(s), r, src), 8, _byte_place(c)
                ),
            )  # fmt: skip
    for source, signature in (("f32", "i32x2"), ("f16", "i32x1"), ("bf16", "i32x1")):

        def two_random(c: Context, old: Expr, a: list[Expr], r: Expr, s: Expr, src: str = source) -> Expr:
            _plain_source(c, 0)
            first, second = _packed_sources(a, src)
            if src == "f32":
                first, second = _single(c, first), _single(c, second)
            scale = scale_field(s)
            low = encode_small(c, first, "fp4", scale, r, src)
            high = encode_small(c, second, "fp4", scale, next_random(r), src)
            return _insert(old, low | (high << 4), 8, _byte_place(c))

        _into_old(f"v_cvt_scalef32_sr_pk_fp4_{source}", f"i32 = i32 {signature} i32 i32", two_random)


def _declare_blocks() -> None:
    """V_CVT_SCALEF32 of 32 six-bit values, both ways."""
    for kind in ("fp6", "bf6"):
        for source, count in (("f32", 32), ("f16", 16), ("bf16", 16)):

            def plain(c: Context, a: list[Expr], s: Expr, k: str = kind, src: str = source) -> list[Expr]:
                scale = scale_field(s)
                return _pack_codes([encode_small(c, v, k, scale) for v in _packed_sources(a, src)], 6)

            def stochastic(c: Context, a: list[Expr], r: Expr, s: Expr, k: str = kind, src: str = source) -> list[Expr]:
                scale = scale_field(s)
                codes = []
                for value in _packed_sources(a, src):
                    kept = _single(c, value) if src == "f32" else value
                    codes.append(encode_small(c, kept, k, scale, r, src))
                    r = next_random(r)
                return _pack_codes(codes, 6)

            if source != "f32":
                define(f"v_cvt_scalef32_pk32_{kind}_{source}", f"i32x6 = i32x{count} i32", plain)
            define(f"v_cvt_scalef32_sr_pk32_{kind}_{source}", f"i32x6 = i32x{count} i32 i32", stochastic)

            def widened(c: Context, a: list[Expr], s: Expr, k: str = kind, to: str = source) -> list[Expr]:
                scale = scale_field(s)
                values = [scaled_value(c, code, k, scale, to) for code in _unpack_codes(a, 6)]
                return values if to == "f32" else _pack_codes(values, 16)

            define(f"v_cvt_scalef32_pk32_{source}_{kind}", f"i32x{count} = i32x6 i32", widened)

        def interleaved(c: Context, a: list[Expr], b: list[Expr], s: Expr, k: str = kind) -> list[Expr]:
            scale = scale_field(s)
            pairs = [v for x, y in zip(a, b, strict=True) for v in (x, y)]
            return _pack_codes([encode_small(c, _single(c, bitcast(v, "f32")), k, scale) for v in pairs], 6)

        define(f"v_cvt_scalef32_2xpk16_{kind}_f32", "i32x6 = i32x16 i32x16 i32", interleaved)


def _declare_from_small() -> None:
    """V_CVT_SCALEF32 from 8 and 4 bits."""
    for kind in ("fp8", "bf8"):
        define(
            f"v_cvt_scalef32_f32_{kind}", "i32 = i32 i32",
            lambda c, a, s, k=kind: scaled_value(c, _source_byte(c, a), k, scale_field(s), "f32"),
        )  # fmt: skip
        _into_old(
            f"v_cvt_scalef32_f16_{kind}", "i32 = i32 i32 i32",
            lambda c, old, a, s, k=kind: _insert(
                old, scaled_value(c, _source_byte(c, a), k, scale_field(s), "f16"), 16, _half_place(c)
            ),
        )  # fmt: skip
    for kind in ("fp8", "bf8", "fp4"):
        width = FORMATS[kind].bits
        places = 1 if width == 8 else 3
        for target in ("f32", "f16", "bf16"):

            def pair(
                c: Context, a: Expr, s: Expr, k: str = kind, w: int = width, last: int = places, to: str = target
            ) -> list[Expr]:
                part = a >> (2 * w * (c.modifier("op_sel") & last))
                scale = scale_field(s)
                low, high = (scaled_value(c, part >> shift, k, scale, to) for shift in (0, w))
                return [low, high] if to == "f32" else [low | (high << 16)]

            words = 2 if target == "f32" else 1
            define(f"v_cvt_scalef32_pk_{target}_{kind}", f"i32x{words} = i32 i32", pair)


def _declare_bytes() -> None:
    """Shifts and conversions into bytes (gfx9.4)."""
    for name, low, high in (("i8", -128, 127), ("u8", 0, 255)):

        def shifted(c: Context, old: Expr, a: Expr, b: Expr, n: Expr, least: int = low, most: int = high) -> Expr:
            first, second = (smin(smax(ashr(v, n & 31), const("i32", least)), const("i32", most)) & 255 for v in (a, b))
            return _insert(old, first | (second << 8), 16, _half_place(c))

        _into_old(f"v_ashr_pk_{name}_i32", "i32 = i32 i32 i32 i32", shifted)
    _into_old("v_cvt_pkaccum_u8_f32", "i32 = i32 f32 i32", lambda c, old, a, b: pack_byte(c, a, b, old))


_declare_plain()
_declare_to_small()
_declare_blocks()
_declare_from_small()
_declare_bytes()
