"""Conversions from and to floats of 8, 6 and 4 bits, against tables of all their values and exact rounding, both made here."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from loom.low.semantics.operation import Mode
from loom.low.semantics.table import evaluate
from tests.low.semantics.reference_math import decode, encode

U = np.uint32
#: exponent bits, fraction bits, bias, codes of infinity and of NaN among the magnitudes.
OCP = {
    "fp8": (4, 3, 7, {}, {0x7F}), "bf8": (5, 2, 15, {0x7C}, {0x7D, 0x7E, 0x7F}), "fp6": (2, 3, 1, {}, set()),
    "bf6": (3, 2, 3, {}, set()), "fp4": (2, 1, 1, {}, set()),
}  # fmt: skip
FNUZ = {"fp8": (4, 3, 8, {}, set()), "bf8": (5, 2, 16, {}, set())}
WIDTH = {"fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}


def magnitudes(kind: str, fnuz: bool) -> list[float]:
    """The value of every code without its sign; NaN and infinity where the format has them."""
    exponent_bits, fraction_bits, bias, infinities, nans = (FNUZ if fnuz else OCP)[kind]
    values = []
    for code in range(1 << (exponent_bits + fraction_bits)):
        exponent, fraction = code >> fraction_bits, code & ((1 << fraction_bits) - 1)
        if code in nans:
            values.append(math.nan)
        elif code in infinities:
            values.append(math.inf)
        elif exponent == 0:
            values.append(fraction * 2.0 ** (1 - bias - fraction_bits))
        else:
            values.append((1 + fraction * 2.0**-fraction_bits) * 2.0 ** (exponent - bias))
    return values


def value_of(code: int, kind: str, fnuz: bool = False) -> float:
    sign = code >> (WIDTH[kind] - 1)
    if fnuz and code == 0x80:
        return math.nan
    magnitude = magnitudes(kind, fnuz)[code & ((1 << (WIDTH[kind] - 1)) - 1)]
    return math.copysign(magnitude, -1.0 if sign else 1.0)


def special_code(kind: str, nan: bool, negative: bool, fnuz: bool, overflow_mode: bool) -> int:
    """Codes of NaN and of what lies beyond the largest number (CDNA4 ISA, the table of FP16_OVFL)."""
    sign = (1 << (WIDTH[kind] - 1)) if negative else 0
    if kind in ("fp6", "bf6", "fp4"):
        return sign | ((1 << (WIDTH[kind] - 1)) - 1)
    if nan:
        return 0x80 if fnuz else sign | {"fp8": 0x7F, "bf8": 0x7E}[kind]
    if overflow_mode:
        return sign | (0x7F if fnuz else {"fp8": 0x7E, "bf8": 0x7B}[kind])
    return 0x80 if fnuz else sign | {"fp8": 0x7F, "bf8": 0x7C}[kind]


def expected(
    value: float, kind: str, *, scale: int = 127, random: int | None = None, source_fraction: int = 23, fnuz: bool = False,
    overflow_mode: bool = False,
) -> int:  # fmt: skip
    """The code of a value divided by 2^(scale - 127)."""
    negative = math.copysign(1.0, value) < 0
    if math.isnan(value) or scale == 255:
        return special_code(kind, True, negative, fnuz, overflow_mode)
    if math.isinf(value):
        return special_code(kind, False, negative, fnuz, overflow_mode)
    finite = [Fraction(m) for m in magnitudes(kind, fnuz) if math.isfinite(m)]
    x = abs(Fraction(value)) / Fraction(2) ** (scale - 127)
    fraction_bits = (FNUZ if fnuz else OCP)[kind][1]
    # The spacing of the codes around x, also beyond the largest.
    step = finite[1]
    while step * (1 << (fraction_bits + 1)) <= x:
        step *= 2
    units = x / step
    if random is None:
        count = round(units)  # halves to even
    else:
        extra = source_fraction - fraction_bits
        count = (math.floor(units * (1 << extra)) + (random >> (32 - extra))) >> extra
    rounded = count * step
    code = finite.index(rounded) if rounded <= finite[-1] else special_code(kind, False, False, fnuz, overflow_mode)
    if fnuz and code in (0, 0x80):
        return code
    return code | ((1 << (WIDTH[kind] - 1)) if negative else 0)


def singles(seed: int, count: int) -> np.ndarray:
    """Single-precision patterns: edges, values around the ranges of the formats, ties, random patterns."""
    rng = np.random.default_rng(seed)
    edges = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 448.0, 464.0, 463.9, 480.0, -465.0, 57344.0, 61440.0, 240.0, 248.0,
             7.5, 7.75, 8.0, 28.0, 30.0, 6.0, 5.0, 2.5, 3.5, 0.25, 0.75, 0.0625, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-17,
             3 * 2.0**-18, 1e-30, 1e-42, 1e30, 1.0625, 1.1875, 1.125]  # fmt: skip
    values = np.array(edges, np.float32)
    spread = (rng.standard_normal(count) * np.exp2(rng.integers(-12, 12, count))).astype(np.float32)
    patterns = rng.integers(0, 1 << 32, count, dtype=np.uint64).astype(U).view(np.float32)
    pick = rng.integers(0, 3, count)
    return np.where(pick == 0, rng.choice(values, count), np.where(pick == 1, spread, patterns)).astype(np.float32)


def halves(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    edges = np.array(
        [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7BFF, 0x0001, 0x83FF, 0x5F00, 0x5F40], np.uint16
    )
    pick = rng.integers(0, 2, count).astype(bool)
    return np.where(pick, rng.choice(edges, count), rng.integers(0, 1 << 16, count).astype(np.uint16)).astype(np.uint16)


def number_of(pattern: int, kind: str) -> float:
    if kind == "f32":
        return float(struct.unpack("<f", struct.pack("<I", pattern))[0])
    if kind == "bf16":
        return float(struct.unpack("<f", struct.pack("<I", pattern << 16))[0])
    return float(struct.unpack("<e", struct.pack("<H", pattern))[0])


FRACTION = {"f32": 23, "f16": 10, "bf16": 7}
SCALES = np.array([127, 120, 130, 0, 254, 255, 126, 128, 112, 140, 100, 150, 64, 200, 127, 127], U)


def scale_words(seed: int, count: int) -> np.ndarray:
    """Single-precision numbers whose exponents are the scales; fraction and sign do not matter."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 1 << 23, count).astype(U) | (rng.integers(0, 2, count).astype(U) << 31)
    return (np.resize(SCALES, count) << 23).astype(U) | noise


def random_words(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint64).astype(U)


def prng(word: int) -> int:
    return (word << 1 & 0xFFFFFFFF) ^ (197 if word >> 31 else 0)


def run(name: str, inputs: list, modifiers: dict[str, int] | None = None, **options) -> list[np.ndarray]:  # type: ignore[no-untyped-def, type-arg]
    found = evaluate(
        name, inputs, wave=64, generation=options.pop("generation", "gfx9.4"), modifiers=modifiers or {}, **options
    )
    return [np.broadcast_to(w, (64,)) for w in found["results"][0]]


OLD = random_words(99, 64)


def insert(old: int, part: int, width: int, place: int) -> int:
    mask = ((1 << width) - 1) << (width * place)
    return old & ~mask & 0xFFFFFFFF | part << (width * place)


@pytest.mark.parametrize("fnuz", [False, True])
@pytest.mark.parametrize("overflow_mode", [False, True])
@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_pairs_of_singles(kind: str, fnuz: bool, overflow_mode: bool) -> None:
    """v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32"""
    mode = Mode(fnuz=fnuz, fp16_overflow=overflow_mode)
    a, b = singles(1, 64), singles(2, 64)
    for op_sel in (0, 8):
        (got,) = run(f"v_cvt_pk_{kind}_f32", [OLD, a.view(U), b.view(U)], {"op_sel": op_sel, "neg": 2}, mode=mode)
        for lane in range(64):
            options = {"fnuz": fnuz, "overflow_mode": overflow_mode}
            low, high = expected(float(a[lane]), kind, **options), expected(-float(b[lane]), kind, **options)
            assert int(got[lane]) == insert(int(OLD[lane]), low | high << 8, 16, op_sel >> 3), (kind, a[lane], b[lane])


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("wave", [32, 64])
def test_pairs_into_a_half_of_gfx12(half: int, wave: int) -> None:
    a, b = singles(3, wave), singles(4, wave)
    for kind in ("fp8", "bf8"):
        found = evaluate(
            f"v_cvt_pk_{kind}_f32", [a.view(U), b.view(U)], wave=wave, generation="gfx12", old=[OLD[:wave]],
            result_halves=(half,),
        )  # fmt: skip
        got = found["results"][0][0]
        for lane in range(wave):
            nan = {"fp8": 0xFF, "bf8": 0xFE}[kind]
            low, high = (nan if np.isnan(v[lane]) else expected(float(v[lane]), kind) for v in (a, b))
            assert int(got[lane]) == insert(int(OLD[lane]), low | high << 8, 16, half)


@pytest.mark.parametrize("fnuz", [False, True])
@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_stochastic_bytes(kind: str, fnuz: bool) -> None:
    """v_cvt_sr_fp8_f32 v_cvt_sr_bf8_f32"""
    a, r = singles(5, 64), random_words(6, 64)
    r[:8] = [0, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0xFFF, 0x1000, 0x7FF, 0x800]
    for place in range(4):
        (got,) = run(f"v_cvt_sr_{kind}_f32", [OLD, a.view(U), r], {"op_sel": place << 2}, mode=Mode(fnuz=fnuz))
        for lane in range(64):
            code = expected(float(a[lane]), kind, random=int(r[lane]), fnuz=fnuz)
            assert int(got[lane]) == insert(int(OLD[lane]), code, 8, place), (a[lane], hex(r[lane]))


def test_stochastic_halves() -> None:
    """v_cvt_sr_f16_f32 v_cvt_sr_bf16_f32"""
    a, r = singles(7, 64), random_words(8, 64)
    for place in (0, 1):
        (half,) = run("v_cvt_sr_f16_f32", [OLD, a.view(U), r], {"op_sel": place << 3})
        (brain,) = run("v_cvt_sr_bf16_f32", [OLD, a.view(U), r], {"op_sel": place << 3})
        for lane in range(64):
            x = float(a[lane])
            got = [int(w[lane]) >> 16 * place & 0xFFFF for w in (half, brain)]
            kept = [int(w[lane]) >> 16 * (1 - place) & 0xFFFF for w in (half, brain)]
            assert kept == [int(OLD[lane]) >> 16 * (1 - place) & 0xFFFF] * 2
            if math.isnan(x):
                assert got[0] & 0x7FFF > 0x7C00 and got[1] & 0x7FFF > 0x7F80
                continue
            for result, kind, fraction in ((got[0], "f16", 10), (got[1], "bf16", 7)):
                exponent_bits = 15 - fraction
                sign = int(math.copysign(1, x) < 0) << 15
                if math.isinf(x):
                    assert result == sign | (((1 << exponent_bits) - 1) << fraction)
                    continue
                least = 2 - (1 << (exponent_bits - 1)) - fraction
                exact = abs(Fraction(x))
                exponent = least
                while Fraction(2) ** (exponent + fraction + 1) <= exact:
                    exponent += 1
                extra = 23 - fraction
                units = math.floor(exact / Fraction(2) ** exponent * (1 << extra)) + (int(r[lane]) >> (32 - extra))
                code = (exponent - least << fraction) + (units >> extra)
                assert result == sign | min(code, ((1 << exponent_bits) - 1) << fraction), (kind, x)


def test_random_sequence() -> None:
    """v_prng_b32"""
    words = random_words(10, 64)
    words[:4] = [0, 1, 0x80000000, 0xFFFFFFFF]
    (got,) = run("v_prng_b32", [words])
    assert got.tolist() == [prng(int(w)) for w in words]


@pytest.mark.parametrize("kind", ["fp8", "bf8", "fp4"])
def test_scaled_pairs(kind: str) -> None:
    """v_cvt_scalef32_pk_fp8_f32 v_cvt_scalef32_pk_bf8_f32 v_cvt_scalef32_pk_fp4_f32 v_cvt_scalef32_pk_fp8_f16
    v_cvt_scalef32_pk_bf8_f16 v_cvt_scalef32_pk_fp4_f16 v_cvt_scalef32_pk_fp8_bf16 v_cvt_scalef32_pk_bf8_bf16
    v_cvt_scalef32_pk_fp4_bf16
    """
    width = WIDTH[kind]
    s = scale_words(11, 64)
    for place in range(2 if width == 8 else 4):
        op_sel = place << (3 if width == 8 else 2)
        a, b = singles(12, 64), singles(13, 64)
        (got,) = run(f"v_cvt_scalef32_pk_{kind}_f32", [OLD, a.view(U), b.view(U), s], {"op_sel": op_sel})
        for lane in range(64):
            scale = int(s[lane]) >> 23 & 255
            low, high = (expected(float(v[lane]), kind, scale=scale) for v in (a, b))
            assert int(got[lane]) == insert(int(OLD[lane]), low | high << width, 2 * width, place)
        for source in ("f16", "bf16"):
            pairs = halves(14, 128).reshape(2, 64)
            word = pairs[0].astype(U) | pairs[1].astype(U) << 16
            (got,) = run(f"v_cvt_scalef32_pk_{kind}_{source}", [OLD, word, s], {"op_sel": op_sel})
            for lane in range(64):
                scale = int(s[lane]) >> 23 & 255
                low, high = (expected(number_of(int(p[lane]), source), kind, scale=scale) for p in pairs)
                assert int(got[lane]) == insert(int(OLD[lane]), low | high << width, 2 * width, place)


@pytest.mark.parametrize("kind", ["fp8", "bf8"])
@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
def test_scaled_stochastic_bytes(kind: str, source: str) -> None:
    """v_cvt_scalef32_sr_fp8_f32 v_cvt_scalef32_sr_bf8_f32 v_cvt_scalef32_sr_fp8_f16 v_cvt_scalef32_sr_bf8_f16
    v_cvt_scalef32_sr_fp8_bf16 v_cvt_scalef32_sr_bf8_bf16
    """
    s, r = scale_words(15, 64), random_words(16, 64)
    patterns = singles(17, 64).view(U) if source == "f32" else halves(18, 64).astype(U)
    for place in (0, 3):
        (got,) = run(f"v_cvt_scalef32_sr_{kind}_{source}", [OLD, patterns, r, s], {"op_sel": place << 2, "neg": 1})
        for lane in range(64):
            value = -number_of(int(patterns[lane]), source)
            scale = int(s[lane]) >> 23 & 255
            code = expected(value, kind, scale=scale, random=int(r[lane]), source_fraction=FRACTION[source])
            assert int(got[lane]) == insert(int(OLD[lane]), code, 8, place), (value, scale, hex(r[lane]))


@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
def test_scaled_stochastic_pairs(source: str) -> None:
    """v_cvt_scalef32_sr_pk_fp4_f32 v_cvt_scalef32_sr_pk_fp4_f16 v_cvt_scalef32_sr_pk_fp4_bf16"""
    s, r = scale_words(19, 64), random_words(20, 64)
    if source == "f32":
        pairs = np.stack([singles(21, 64).view(U), singles(22, 64).view(U)])
        words = [pairs[0], pairs[1]]
    else:
        pairs = halves(23, 128).reshape(2, 64).astype(U)
        words = [pairs[0] | pairs[1] << 16]
    (got,) = run(f"v_cvt_scalef32_sr_pk_fp4_{source}", [OLD, words, r, s], {"op_sel": 8})
    for lane in range(64):
        scale, first = int(s[lane]) >> 23 & 255, int(r[lane])
        codes = [
            expected(number_of(int(p[lane]), source), "fp4", scale=scale, random=word, source_fraction=FRACTION[source])
            for p, word in zip(pairs, (first, prng(first)), strict=True)
        ]
        assert int(got[lane]) == insert(int(OLD[lane]), codes[0] | codes[1] << 4, 8, 2)


def packed(codes: list[int], width: int) -> list[int]:
    whole = sum(code << (width * i) for i, code in enumerate(codes))
    return [whole >> (32 * k) & 0xFFFFFFFF for k in range(len(codes) * width // 32)]


@pytest.mark.parametrize("kind", ["fp6", "bf6"])
@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
def test_blocks_of_six_bits(kind: str, source: str) -> None:
    """v_cvt_scalef32_pk32_fp6_f16 v_cvt_scalef32_pk32_bf6_f16 v_cvt_scalef32_pk32_fp6_bf16 v_cvt_scalef32_pk32_bf6_bf16
    v_cvt_scalef32_sr_pk32_fp6_f32 v_cvt_scalef32_sr_pk32_bf6_f32 v_cvt_scalef32_sr_pk32_fp6_f16 v_cvt_scalef32_sr_pk32_bf6_f16
    v_cvt_scalef32_sr_pk32_fp6_bf16 v_cvt_scalef32_sr_pk32_bf6_bf16 v_cvt_scalef32_2xpk16_fp6_f32 v_cvt_scalef32_2xpk16_bf6_f32
    """
    s, r = scale_words(24, 64), random_words(25, 64)
    if source == "f32":
        values = np.stack([singles(30 + k, 64).view(U) for k in range(32)])
        words = list(values)
        plain = run(f"v_cvt_scalef32_2xpk16_{kind}_f32", [words[:16], words[16:], s])
        order = [k // 2 + 16 * (k % 2) for k in range(32)]
    else:
        values = np.stack([halves(70 + k, 64).astype(U) for k in range(32)])
        words = [values[2 * k] | values[2 * k + 1] << 16 for k in range(16)]
        plain = run(f"v_cvt_scalef32_pk32_{kind}_{source}", [words, s])
        order = list(range(32))
    stochastic = run(f"v_cvt_scalef32_sr_pk32_{kind}_{source}", [words, r, s])
    for lane in range(64):
        scale, word = int(s[lane]) >> 23 & 255, int(r[lane])
        numbers = [number_of(int(v[lane]), source) for v in values]
        want = packed([expected(numbers[k], kind, scale=scale) for k in order], 6)
        assert [int(w[lane]) for w in plain] == want
        codes = []
        for x in numbers:
            codes.append(expected(x, kind, scale=scale, random=word, source_fraction=FRACTION[source]))
            word = prng(word)
        assert [int(w[lane]) for w in stochastic] == packed(codes, 6)


def widened(code: int, kind: str, scale: int, target: str, fnuz: bool = False) -> int | None:
    """A small float times its scale, rounded to nearest even; None for NaN."""
    value = value_of(code, kind, fnuz)
    if math.isnan(value) or scale == 255:
        return None
    if math.isinf(value) or value == 0:
        exact: Fraction | float = value
    else:
        exact = Fraction(value) * Fraction(2) ** (scale - 127)
    if target == "bf16":
        # As a single-precision number whose low half is rounded off; both roundings are exact or the same here.
        pattern = encode(exact, "f32")
        return (
            (pattern + 0x7FFF + (pattern >> 16 & 1)) >> 16 if not math.isinf(decode(pattern, "f32")) else pattern >> 16
        )
    return encode(exact, target)


def same(got: int, want: int | None, target: str) -> bool:
    if want is not None:
        return got == want
    return got & 0x7FFFFFFF > 0x7F800000 if target == "f32" else got & 0x7FFF > (0x7C00 if target == "f16" else 0x7F80)


@pytest.mark.parametrize("kind", ["fp8", "bf8", "fp4"])
def test_scaled_bytes_widened(kind: str) -> None:
    """v_cvt_scalef32_f32_fp8 v_cvt_scalef32_f32_bf8 v_cvt_scalef32_f16_fp8 v_cvt_scalef32_f16_bf8
    v_cvt_scalef32_pk_f32_fp8 v_cvt_scalef32_pk_f32_bf8 v_cvt_scalef32_pk_f32_fp4 v_cvt_scalef32_pk_f16_fp8
    v_cvt_scalef32_pk_f16_bf8 v_cvt_scalef32_pk_f16_fp4 v_cvt_scalef32_pk_bf16_fp8 v_cvt_scalef32_pk_bf16_bf8
    v_cvt_scalef32_pk_bf16_fp4
    """
    width = WIDTH[kind]
    for seed in range(4):
        words, s = random_words(200 + seed, 64), scale_words(210 + seed, 64)
        words[:3] = [0x7F7C007D, 0xFF80FC7E, 0x8001807F]
        for op_sel in range(2 if width == 8 else 4):
            for target in ("f32", "f16", "bf16"):
                got = run(f"v_cvt_scalef32_pk_{target}_{kind}", [words, s], {"op_sel": op_sel})
                for lane in range(64):
                    scale = int(s[lane]) >> 23 & 255
                    part = int(words[lane]) >> 2 * width * op_sel
                    for k in range(2):
                        code = part >> width * k & ((1 << width) - 1)
                        word = int(got[k][lane]) if target == "f32" else int(got[0][lane]) >> 16 * k & 0xFFFF
                        assert same(word, widened(code, kind, scale, target), target), (
                            hex(code),
                            scale,
                            target,
                            hex(word),
                        )
        if width == 8:
            for byte in range(4):
                (single,) = run(f"v_cvt_scalef32_f32_{kind}", [words, s], {"op_sel": byte})
                (half,) = run(f"v_cvt_scalef32_f16_{kind}", [OLD, words, s], {"op_sel": byte | 8})
                for lane in range(64):
                    scale, code = int(s[lane]) >> 23 & 255, int(words[lane]) >> 8 * byte & 255
                    assert same(int(single[lane]), widened(code, kind, scale, "f32"), "f32")
                    assert same(int(half[lane]) >> 16, widened(code, kind, scale, "f16"), "f16")
                    assert int(half[lane]) & 0xFFFF == int(OLD[lane]) & 0xFFFF


@pytest.mark.parametrize("kind", ["fp6", "bf6"])
def test_blocks_widened(kind: str) -> None:
    """v_cvt_scalef32_pk32_f32_fp6 v_cvt_scalef32_pk32_f32_bf6 v_cvt_scalef32_pk32_f16_fp6 v_cvt_scalef32_pk32_f16_bf6
    v_cvt_scalef32_pk32_bf16_fp6 v_cvt_scalef32_pk32_bf16_bf6
    """
    words = [random_words(230 + k, 64) for k in range(6)]
    s = scale_words(240, 64)
    for target in ("f32", "f16", "bf16"):
        got = run(f"v_cvt_scalef32_pk32_{target}_{kind}", [words, s])
        for lane in range(64):
            whole = sum(int(w[lane]) << 32 * k for k, w in enumerate(words))
            scale = int(s[lane]) >> 23 & 255
            for k in range(32):
                word = int(got[k][lane]) if target == "f32" else int(got[k // 2][lane]) >> 16 * (k % 2) & 0xFFFF
                assert same(word, widened(whole >> 6 * k & 63, kind, scale, target), target)


def test_shifted_bytes() -> None:
    """v_ashr_pk_i8_i32 v_ashr_pk_u8_i32"""
    a, b, n = random_words(40, 64), random_words(41, 64), random_words(42, 64)
    a[:4], b[:4] = [127 << 8, 128 << 8, 0x80000000, 255], [0xFFFFFF80, 0xFFFFFF7F, 256, 0]
    n[:4] = [8, 40, 24, 0]
    for name, low, high in (("i8", -128, 127), ("u8", 0, 255)):
        for op_sel in (0, 8):
            (got,) = run(f"v_ashr_pk_{name}_i32", [OLD, a, b, n], {"op_sel": op_sel})
            for lane in range(64):
                parts = [
                    max(low, min((int(v[lane]) ^ 0x80000000) - 0x80000000 >> (int(n[lane]) & 31), high)) & 255
                    for v in (a, b)
                ]
                assert int(got[lane]) == insert(int(OLD[lane]), parts[0] | parts[1] << 8, 16, op_sel >> 3)


def test_accumulated_byte() -> None:
    """v_cvt_pkaccum_u8_f32"""
    a = np.resize(
        np.array([0, 0.5, 1.5, 2.5, 254.5, 255.5, 300, -1, math.inf, -math.inf, math.nan, 127.49], np.float32), 64
    )
    place = random_words(43, 64)
    (got,) = run("v_cvt_pkaccum_u8_f32", [OLD, a.view(U), place])
    for lane in range(64):
        x = float(a[lane])
        byte = 0 if math.isnan(x) else int(max(0, min(round(x) if math.isfinite(x) else x, 255)))
        assert int(got[lane]) == insert(int(OLD[lane]), byte, 8, int(place[lane]) & 3)


def test_half_overflow_mode() -> None:
    """FP16_OVFL stops finite halves at 65504 and leaves infinities of the operands alone."""
    inputs = np.array([0x7BFF, 0x7C00, 0xFBFF, 0x7E00], U)
    found = evaluate(
        "v_add_f16", [np.resize(inputs, 32), np.resize(inputs, 32)], mode=Mode(fp16_overflow=True), old=[0]
    )
    assert (found["results"][0][0][:3] & 0xFFFF).tolist() == [0x7BFF, 0x7C00, 0xFBFF]
    single = np.array([1e6, -1e6, math.inf, 65519.0], np.float32).view(U)
    found = evaluate("v_cvt_f16_f32", [np.resize(single, 32)], mode=Mode(fp16_overflow=True), old=[0])
    assert (found["results"][0][0][:4] & 0xFFFF).tolist() == [0x7BFF, 0xFBFF, 0x7C00, 0x7BFF]


@pytest.mark.parametrize("kind, nan, infinity", [("fp8", 0xFF, 0x7F), ("bf8", 0xFE, 0x7C)])
def test_specials_of_gfx12(kind: str, nan: int, infinity: int) -> None:
    """NaNs lose their sign for a set one, both ways, and infinities stay under FP16_OVFL (measured by AMD on a gfx1201)."""
    values = np.resize(np.array([0x7FC00000, 0xFFC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF], U), 32)
    largest = {"fp8": 0x7E, "bf8": 0x7B}[kind]
    for mode, beyond in ((Mode(), infinity), (Mode(fp16_overflow=True), largest)):
        found = evaluate(f"v_cvt_pk_{kind}_f32", [values, values], generation="gfx12", mode=mode, old=[0])["results"][
            0
        ][0]
        assert (found[:5] & 0xFF).tolist() == [nan, nan, infinity, infinity | 0x80, beyond]
    codes = np.resize(np.array([0x7F, 0xFF, 0x38, 0xB8], U), 32)
    found = evaluate(f"v_cvt_f32_{kind}", [codes], generation="gfx12")["results"][0][0]
    assert found[:2].tolist() == [0xFFC00000, 0xFFC00000]
    assert found[2:4].view(np.float32).tolist() == ([1, -1] if kind == "fp8" else [0.5, -0.5])
