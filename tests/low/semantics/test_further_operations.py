"""Operations that the tests by family do not reach, each with its definition here."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from loom.low.semantics.operation import OPERATIONS, Mode
from loom.low.semantics.table import evaluate
from loom.low.semantics.transpose import TRANSPOSES
from tests.low.semantics import reference_math as ref
from tests.low.semantics.test_float_arithmetic import (
    COMPARISONS,
    EDGES,
    check,
    ieee_choice,
    number_choice,
    one_column,
    operands,
    run,
    saturate,
)
from tests.low.semantics.test_integer_operations import byte, s, sad, words

U = np.uint32
F = np.float32
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def single(bits: int) -> float:
    return ref.to_float(bits, "f32")


def pattern(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_scalar_comparisons(kind: str) -> None:
    """s_cmp_*_f16 s_cmp_*_f32"""
    rows = operands(kind, 2, 5)
    for name, function in COMPARISONS.items():
        if name in ("t", "f"):
            continue
        for a, b in rows[::5]:
            found = evaluate(f"s_cmp_{name}_{kind}", [a, b])
            assert found["state"]["scc"] == int(function(ref.decode(a, kind), ref.decode(b, kind))), (
                name,
                hex(a),
                hex(b),
            )


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_class_into_exec(kind: str) -> None:
    """v_cmpx_class_*: zeros of both signs and infinities."""
    values = (EDGES[kind] * 2)[:32]
    first: Any = np.array([v & M32 for v in values], U)
    if kind == "f64":
        first = [first, np.array([v >> 32 for v in values], U)]
    infinity = ref.encode(math.inf, kind)
    sign = 1 << (ref.width(kind) - 1)
    found = evaluate(f"v_cmpx_class_{kind}", [first, 0x60 | 0x204], exec_mask=0x00FFFFFF)
    want = sum(1 << i for i, v in enumerate(values) if v & ~sign in (0, infinity))
    assert found["state"]["exec"] == want & 0x00FFFFFF


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_minimum_of_three(kind: str) -> None:
    """v_minimum3 v_maximum3 v_minimummaximum v_maximumminimum"""
    low, high = (lambda a, b, g=g: ieee_choice(a, b, kind, g) for g in (False, True))
    check(f"v_minimum3_{kind}", kind, lambda a, b, c: low(low(a, b), c), 3)
    check(f"v_maximum3_{kind}", kind, lambda a, b, c: high(high(a, b), c), 3)
    check(f"v_minimummaximum_{kind}", kind, lambda a, b, c: high(low(a, b), c), 3)
    check(f"v_maximumminimum_{kind}", kind, lambda a, b, c: low(high(a, b), c), 3)


def zero(bits: int) -> bool:
    return bits & 0x7FFFFFFF == 0


def test_products_in_which_zero_wins() -> None:
    """v_mul_legacy_f32 v_fma_legacy_f32 v_fmac_legacy_f32"""
    check("v_mul_legacy_f32", "f32", lambda a, b: 0 if zero(a) or zero(b) else ref.mul(a, b, "f32"), 2)
    fused = lambda a, b, c: ref.add(0, c, "f32") if zero(a) or zero(b) else ref.fma(a, b, c, "f32")  # noqa: E731
    check("v_fma_legacy_f32", "f32", fused, 3)
    check("v_fmac_legacy_f32", "f32", lambda d, a, b: fused(a, b, d), 3)


def test_product_for_lighting() -> None:
    """v_mullit_f32"""
    least = pattern(-float(np.finfo(np.float32).max))

    def lit(a: int, b: int, c: int) -> int:
        stop = b == least or b == 0xFF800000 or ref.is_nan(b, "f32") or ref.is_nan(c, "f32") or single(c) <= 0
        return least if stop else ref.mul(a, b, "f32")

    check(
        "v_mullit_f32", "f32", lambda a, b, c: 0 if (zero(a) or zero(b)) and lit(a, b, c) != least else lit(a, b, c), 3
    )


def test_accumulating_double() -> None:
    """v_fmac_f64"""
    check("v_fmac_f64", "f64", lambda d, a, b: ref.fma(a, b, d, "f64"), 3)


def test_cube_faces() -> None:
    """v_cubeid_f32 v_cubesc_f32 v_cubetc_f32 v_cubema_f32"""

    def cube(x: float, y: float, z: float) -> tuple[float, float, float, float]:
        if abs(z) >= abs(x) and abs(z) >= abs(y):
            return 5.0 if z < 0 else 4.0, -x if z < 0 else x, -y, 2 * z
        if abs(y) >= abs(x):
            return 3.0 if y < 0 else 2.0, x, -z if y < 0 else z, 2 * y
        return 1.0 if x < 0 else 0.0, z if x < 0 else -z, -y, 2 * x

    rng = np.random.default_rng(1)
    values = rng.choice(np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.25, -7.0, math.inf, -math.inf], F), (3, 320))
    for start in range(0, 320, 32):
        x, y, z = (v[start : start + 32].view(U) for v in values)
        for position, name in enumerate(("id", "sc", "tc", "ma")):
            got = evaluate(f"v_cube{name}_f32", [x, y, z])["results"][0][0].view(F)
            for lane in range(32):
                want = cube(*(float(v[start + lane]) for v in values))[position]
                assert got[lane] == want, (name, lane)


@pytest.mark.parametrize(("name", "signed"), [("v_cvt_f16_i16", True), ("v_cvt_f16_u16", False)])
def test_halves_from_integers(name: str, signed: bool) -> None:
    values = np.arange(0, 1 << 16, 61)
    values = np.resize(values, len(values) // 32 * 32)
    for start in range(0, len(values), 32):
        part = values[start : start + 32]
        got = evaluate(name, [part.astype(U)], old=[0])["results"][0][0]
        for v, g in zip(part.tolist(), got.tolist(), strict=True):
            assert g == ref.encode(Fraction(s(v, 16) if signed else v), "f16")


def test_small_integers_to_single() -> None:
    """v_cvt_f32_ubyte0 v_cvt_f32_ubyte1 v_cvt_f32_ubyte2 v_cvt_f32_ubyte3 v_cvt_off_f32_i4 v_cvt_f32_bf16"""
    rng = np.random.default_rng(2)
    value = np.array(words(rng, 32), U)
    for k in range(4):
        got = evaluate(f"v_cvt_f32_ubyte{k}", [value])["results"][0][0].view(F)
        assert got.tolist() == [float(byte(int(v), k)) for v in value]
    got = evaluate("v_cvt_off_f32_i4", [np.arange(32, dtype=U)])["results"][0][0].view(F)
    assert got.tolist() == [s(v, 4) / 16 for v in range(32)]
    for op_sel in (0, 1):
        got = evaluate("v_cvt_f32_bf16", [value], modifiers={"op_sel": op_sel})["results"][0][0]
        assert got.tolist() == [(int(v) >> 16 * op_sel & 0xFFFF) << 16 for v in value]


@pytest.mark.parametrize(
    ("name", "function"),
    [("v_cvt_floor_i32_f32", math.floor), ("v_cvt_nearest_i32_f32", lambda v: math.floor(v + Fraction(1, 2)))],
)
def test_rounding_conversions(name: str, function: Callable[[Fraction], int]) -> None:
    rows = [
        (pattern(v),)
        for v in (
            0.5,
            -0.5,
            1.5,
            -1.5,
            2.5,
            -2.5,
            1e9,
            -1e9,
            3e9,
            -3e9,
            0.49,
            -0.51,
            7.999,
            math.nan,
            math.inf,
            -math.inf,
        )
    ]
    got = run(name, "f32", rows * 2, "x32")
    for (v,), g in zip(rows * 2, got, strict=True):
        value = ref.decode(v, "f32")
        assert g == saturate(function(value) if isinstance(value, Fraction) else value, 32, True), single(v)


def normalized(value: Fraction | float, signed: bool) -> int:
    """[-1, 1] or [0, 1] to 16 bits, nearest even; NaN gives 0."""
    if isinstance(value, float) and math.isnan(value):
        return 0
    top = 32767 if signed else 65535
    low = -1 if signed else 0
    limited = (
        Fraction(max(low, min(1, value)))
        if not isinstance(value, float)
        else Fraction(1 if value > 0 else low)
        if value
        else Fraction(0)
    )
    return round(limited * top) & 0xFFFF


@pytest.mark.parametrize("signed", [True, False])
def test_normalized_conversions(signed: bool) -> None:
    """v_cvt_norm_i16_f16 v_cvt_norm_u16_f16 v_cvt_pk_norm_i16_f32 v_cvt_pk_norm_u16_f32 v_cvt_pk_norm_i16_f16 v_cvt_pk_norm_u16_f16"""
    letter = "i" if signed else "u"
    halves = one_column("f16") + [(ref.encode(Fraction(k, 64), "f16"),) for k in range(-64, 64)]
    got = run(f"v_cvt_norm_{letter}16_f16", "f16", halves, "x16")
    assert got == [normalized(ref.decode(v, "f16"), signed) for (v,) in halves]
    for kind in ("f32", "f16"):
        rows = operands(kind, 2, 6) + [
            (ref.encode(Fraction(k, 99), kind), ref.encode(Fraction(-k, 77), kind)) for k in range(32)
        ]
        got = run(f"v_cvt_pk_norm_{letter}16_{kind}", kind, rows, "x32")
        assert got == [
            normalized(ref.decode(a, kind), signed) | normalized(ref.decode(b, kind), signed) << 16 for a, b in rows
        ]


def to_brain(bits: int) -> int:
    if ref.is_nan(bits, "f32"):
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def half_of(bits: int) -> int:
    if ref.is_nan(bits, "f32"):
        return (bits >> 16 & 0x8000) | 0x7E00 | (bits >> 13 & 0x3FF)
    return ref.encode(ref.decode(bits, "f32"), "f16")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("v_cvt_pk_bf16_f32", to_brain), ("v_cvt_pk_f16_f32", half_of),
        ("v_cvt_pk_i16_f32", lambda v: saturate(ref.decode(v, "f32"), 16, True)),
        ("v_cvt_pk_u16_f32", lambda v: saturate(ref.decode(v, "f32"), 16, False)),
    ],
)  # fmt: skip
def test_pairs_from_singles(name: str, function: Callable[[int], int]) -> None:
    rows = operands("f32", 2, 7)
    got = run(name, "f32", rows, "x32")
    assert got == [function(a) | function(b) << 16 for a, b in rows]


@pytest.mark.parametrize("name", ["v_cvt_floor_i32_f32", "v_cvt_nearest_i32_f32"])
def test_rounding_conversions_of_nan(name: str) -> None:
    """0 by the ISA; a gfx1201 saturates by the sign. A flushed subnormal below zero is 0, not -1."""
    values = np.resize(np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x80000001], U), 32)
    for generation, want in (("gfx11", [0, 0, 0, 0]), ("gfx12", [0x7FFFFFFF, 0x80000000] * 2)):
        found = evaluate(name, [values], generation=generation, mode=Mode(denorm32=0))["results"][0][0]
        assert found[:5].tolist() == [*want, 0]


@pytest.mark.parametrize("rounding", [0, 1, 2, 3])
def test_byte_into_word(rounding: int) -> None:
    """v_cvt_pk_u8_f32 rounds as the mode says (measured by AMD on a gfx1201)."""
    whole = (round, math.ceil, math.floor, math.trunc)[rounding]
    rng = np.random.default_rng(3)
    edges = [0, 0.5, 1.5, 2.5, 254.5, 255.4, 300, -1, 127.6, math.inf, -math.inf, math.nan, -0.4, 1e-45, 3e9, -3e9]
    values = np.resize(np.array(edges, F), 32)
    place, old = np.array(words(rng, 32), U), np.array(words(rng, 32), U)
    got = evaluate("v_cvt_pk_u8_f32", [values.view(U), place, old], mode=Mode(round32=rounding))["results"][0][0]
    for lane in range(32):
        x = float(values[lane])
        code = 0 if math.isnan(x) else int(max(0, min(255, whole(x) if math.isfinite(x) else x)))
        shift = 8 * (int(place[lane]) & 3)
        assert int(got[lane]) == int(old[lane]) & ~(255 << shift) & M32 | code << shift


@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_pairs_to_singles(kind: str) -> None:
    """v_cvt_pk_f32_fp8 v_cvt_pk_f32_bf8"""
    rng = np.random.default_rng(4)
    value = np.array(words(rng, 32), U)
    for op_sel in (0, 1):
        found = evaluate(f"v_cvt_pk_f32_{kind}", [value], modifiers={"op_sel": op_sel})["results"][0]
        for k in range(2):
            part = (value >> U(16 * op_sel + 8 * k)) & U(255)
            alone = small_value(part, kind)
            np.testing.assert_array_equal(found[k].view(F), alone)


def small_value(codes: np.ndarray, kind: str) -> np.ndarray:
    fraction, bias = (3, 7) if kind == "fp8" else (2, 15)
    result = []
    for code in codes.tolist():
        magnitude = code & 0x7F
        e, m = magnitude >> fraction, magnitude & ((1 << fraction) - 1)
        value = math.ldexp(m, 1 - bias - fraction) if e == 0 else math.ldexp(m + (1 << fraction), e - bias - fraction)
        if (kind == "fp8" and magnitude == 0x7F) or (kind == "bf8" and magnitude > 0x7C):
            value = math.nan
        elif kind == "bf8" and magnitude == 0x7C:
            value = math.inf
        result.append(-value if code & 0x80 else value)
    return np.array(result, F)


def test_division_fixup_of_halves() -> None:
    """v_div_fixup_f16"""

    def fixup(q: int, b: int, a: int) -> int:
        sign = (a ^ b) & 0x8000
        if ref.is_nan(a, "f16") or ref.is_nan(b, "f16"):
            return -1
        zero_a, zero_b, inf_a, inf_b = (v & 0x7FFF == w for v, w in ((a, 0), (b, 0), (a, 0x7C00), (b, 0x7C00)))
        if (zero_a and zero_b) or (inf_a and inf_b):
            return -1
        if zero_b or inf_a:
            return sign | 0x7C00
        if inf_b or zero_a:
            return sign
        return sign | q & 0x7FFF

    rows = operands("f16", 3, 8)
    for row, got in zip(rows, run("v_div_fixup_f16", "f16", rows), strict=True):
        want = fixup(*row)
        if want >= 0 and not ref.is_nan(want, "f16"):
            assert got == want, [hex(v) for v in row]
        elif want < 0:
            assert ref.is_nan(got, "f16")


def fused(pairs: list[tuple[int, int]], start: int, kind: str) -> int:
    total = start
    for a, b in pairs:
        total = ref.fma(a, b, total, kind)
    return total


def test_dot_products_of_pairs() -> None:
    """v_dot2_f16_f16: low product first, each step rounded to a half; v_dot2_bf16_bf16 v_dot2acc_f32_bf16: in single precision."""
    rng = np.random.default_rng(5)
    a, b, c = (rng.standard_normal((32, 2)).astype(np.float16).view(U)[:, 0] for _ in range(3))
    got = evaluate("v_dot2_f16_f16", [a, b, c], old=[0])["results"][0][0]
    for lane in range(32):
        x, y = int(a[lane]), int(b[lane])
        pairs = [(x & 0xFFFF, y & 0xFFFF), (x >> 16, y >> 16)]
        assert int(got[lane]) & 0xFFFF == fused(pairs, int(c[lane]) & 0xFFFF, "f16")
    brain = [(rng.standard_normal((2, 32)).astype(F).view(U) >> 16).astype(U) for _ in range(2)]
    x, y = (v[0] | v[1] << U(16) for v in brain)
    z = (rng.standard_normal(32).astype(F).view(U) >> 16).astype(U)
    got = evaluate("v_dot2_bf16_bf16", [x, y, z], old=[0])["results"][0][0]
    acc = evaluate("v_dot2acc_f32_bf16", [z << U(16), x, y])["results"][0][0]
    for lane in range(32):
        low, high = ((int(brain[0][k][lane]) << 16, int(brain[1][k][lane]) << 16) for k in range(2))
        assert int(got[lane]) & 0xFFFF == to_brain(fused([low, high], int(z[lane]) << 16, "f32"))
        assert int(acc[lane]) == fused([high, low], int(z[lane]) << 16, "f32")


@pytest.mark.parametrize("first", ["fp8", "bf8"])
@pytest.mark.parametrize("second", ["fp8", "bf8"])
def test_dot_products_of_small_floats(first: str, second: str) -> None:
    """v_dot4_f32_fp8_fp8 v_dot4_f32_fp8_bf8 v_dot4_f32_bf8_fp8 v_dot4_f32_bf8_bf8"""
    rng = np.random.default_rng(6)
    a, b = ((rng.integers(0, 1 << 32, 32, dtype=np.uint64).astype(U) & U(0xBFBFBFBF)) for _ in range(2))
    c = rng.standard_normal(32).astype(F)
    got = evaluate(f"v_dot4_f32_{first}_{second}", [a, b, c.view(U)])["results"][0][0]
    for lane in range(32):
        pairs = []
        for k in range(4):
            x = small_value(np.array([byte(int(a[lane]), k)]), first)[0]
            y = small_value(np.array([byte(int(b[lane]), k)]), second)[0]
            pairs.append((pattern(float(x)), pattern(float(y))))
        assert int(got[lane]) == fused(pairs, pattern(float(c[lane])), "f32")


@pytest.mark.parametrize("signs", [0, 1, 2, 3])
@pytest.mark.parametrize(("name", "width"), [("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)])
def test_dot_products_of_either_sign(name: str, width: int, signs: int) -> None:
    rng = np.random.default_rng(7)
    a, b, c = (np.array(words(rng, 32), U) for _ in range(3))
    for clamp in (0, 1):
        got = evaluate(name, [a, b, c], modifiers={"neg_lo": signs, "clamp": clamp})["results"][0][0]
        for lane in range(32):
            total = s(int(c[lane]))
            for k in range(32 // width):
                x, y = ((int(v[lane]) >> width * k) & ((1 << width) - 1) for v in (a, b))
                total += (s(x, width) if signs & 1 else x) * (s(y, width) if signs & 2 else y)
            if clamp:
                total = max(-(1 << 31), min(total, (1 << 31) - 1))
            assert int(got[lane]) == total & M32


@pytest.mark.parametrize(("name", "width"), [("v_dot4c_i32_i8", 8), ("v_dot8c_i32_i4", 4), ("v_dot2c_i32_i16", 16)])
def test_accumulating_dot_products(name: str, width: int) -> None:
    rng = np.random.default_rng(8)
    d, a, b = (np.array(words(rng, 32), U) for _ in range(3))
    got = evaluate(name, [d, a, b])["results"][0][0]
    for lane in range(32):
        total = int(d[lane])
        for k in range(32 // width):
            total += s(int(a[lane]) >> width * k, width) * s(int(b[lane]) >> width * k, width)
        assert int(got[lane]) == total & M32


@pytest.mark.parametrize("kind", ["f16", "f64"])
def test_parts_of_a_number(kind: str) -> None:
    """v_fract_f16 v_fract_f64 v_frexp_mant_f16 v_frexp_mant_f64 v_frexp_exp_i16_f16 v_frexp_exp_i32_f64 v_ldexp_f16 v_ldexp_f64"""
    rows = [r for r in one_column(kind) if not ref.is_nan(r[0], kind)]
    rows = rows[: len(rows) // 32 * 32]
    below_one = {"f16": 0x3BFF, "f64": 0x3FEFFFFFFFFFFFFF}[kind]
    mantissa = run(f"v_frexp_mant_{kind}", kind, rows)
    exponent = run(
        "v_frexp_exp_i16_f16" if kind == "f16" else "v_frexp_exp_i32_f64", kind, rows, "x16" if kind == "f16" else "x32"
    )
    fraction = run(f"v_fract_{kind}", kind, rows)
    for (v,), m, e, f in zip(rows, mantissa, exponent, fraction, strict=True):
        value = ref.decode(v, kind)
        if isinstance(value, float) and math.isinf(value):
            assert (m, e) == (v, 0)
            continue
        number, power = math.frexp(float(value))
        assert ref.decode(m, kind) == number or number == 0
        assert s(e, 16 if kind == "f16" else 32) == power
        exact = Fraction(value) - math.floor(value)
        assert f & ((1 << (ref.width(kind) - 1)) - 1) == min(ref.encode(exact, kind), below_one)
    for shift in (-1100, -40, -3, 0, 1, 9, 300):
        operand = np.full(32, shift & (0xFFFF if kind == "f16" else M32), U)
        for start in range(0, len(rows), 32):
            part = [r[0] for r in rows[start : start + 32]]
            first: Any = np.array([v & M32 for v in part], U)
            if kind == "f64":
                first = [first, np.array([v >> 32 for v in part], U)]
            found = evaluate(f"v_ldexp_{kind}", [first, operand], old=[0])["results"][0]
            for lane, v in enumerate(part):
                got = sum(int(w[lane]) << 32 * k for k, w in enumerate(found)) & ((1 << ref.width(kind)) - 1)
                value = ref.decode(v, kind)
                if isinstance(value, float):
                    assert got == v
                else:
                    sign = int(ref.negative(v, kind))
                    assert got == ref.encode(value * Fraction(2) ** shift, kind, zero_sign=sign), (hex(v), shift)


def test_wide_multiply_add_without_carry() -> None:
    """v_mad_nc_u64_u32 v_mad_nc_i64_i32"""
    rng = np.random.default_rng(9)
    for name, read in (("v_mad_nc_u64_u32", lambda v, n: v), ("v_mad_nc_i64_i32", s)):
        a, b, low, high = (np.array(words(rng, 32), U) for _ in range(4))
        found = evaluate(name, [a, b, [low, high]])["results"][0]
        for lane in range(32):
            want = read(int(a[lane]), 32) * read(int(b[lane]), 32) + (int(low[lane]) | int(high[lane]) << 32)
            assert int(found[0][lane]) | int(found[1][lane]) << 32 == want & M64


def test_masked_sums_of_differences() -> None:
    """v_mqsad_u32_u8"""
    rng = np.random.default_rng(10)
    low, high, reference = (np.array(words(rng, 32), U) for _ in range(3))
    sums = [np.array(words(rng, 32), U) for _ in range(4)]
    found = evaluate("v_mqsad_u32_u8", [[low, high], reference, sums])["results"][0]
    for lane in range(32):
        data = int(low[lane]) | int(high[lane]) << 32
        for k in range(4):
            want = sad(data >> 8 * k & M32, int(reference[lane]), True) + int(sums[k][lane])
            assert int(found[k][lane]) == want & M32


def test_bytes_and_halves_packed() -> None:
    """v_pack_b32_f16 v_sat_pk_u8_i16 v_bitop3_b16. Packing halves is floating-point: it flushes and quiets."""
    rng = np.random.default_rng(11)
    a, b, c = (np.array(words(rng, 32), U) for _ in range(3))
    a[:4] = 0x7C017C01, 0x8001FC02, 0x7C00FC00, 0x7E03FFFF

    def packed(v: int, flush: bool) -> int:
        if v & 0x7FFF > 0x7C00:
            return v | 0x200
        return v & 0x8000 if flush and v & 0x7C00 == 0 else v

    for op_sel in range(4):
        for flush in (False, True):
            mode = Mode(denorm64=0 if flush else 3)
            got = evaluate("v_pack_b32_f16", [a, b], modifiers={"op_sel": op_sel}, mode=mode)["results"][0][0]
            for lane in range(32):
                low, high = (int(v[lane]) >> 16 * (op_sel >> i & 1) & 0xFFFF for i, v in enumerate((a, b)))
                assert int(got[lane]) == packed(low, flush) | packed(high, flush) << 16
    got = evaluate("v_sat_pk_u8_i16", [a], old=[0])["results"][0][0]
    for lane in range(32):
        low, high = (max(0, min(s(int(a[lane]) >> shift, 16), 255)) for shift in (0, 16))
        assert int(got[lane]) == low | high << 8
    for table in (0xE8, 0x96, 0x1B):
        got = evaluate("v_bitop3_b16", [a, b, c], modifiers={"bitop3": table, "op_sel": 0}, old=[0])["results"][0][0]
        for lane in range(32):
            want = 0
            for bit in range(16):
                row = (int(a[lane]) >> bit & 1) << 2 | (int(b[lane]) >> bit & 1) << 1 | int(c[lane]) >> bit & 1
                want |= (table >> row & 1) << bit
            assert int(got[lane]) & 0xFFFF == want


PACKED: dict[str, Callable[..., Any]] = {
    "add": lambda k: lambda a, b: ref.add(a, b, k), "mul": lambda k: lambda a, b: ref.mul(a, b, k),
    "fma": lambda k: lambda a, b, c: ref.fma(a, b, c, k),
    "min": lambda k: lambda a, b: number_choice(a, b, k, False), "max": lambda k: lambda a, b: number_choice(a, b, k, True),
    "min_num": lambda k: lambda a, b: number_choice(a, b, k, False), "max_num": lambda k: lambda a, b: number_choice(a, b, k, True),
    "minimum": lambda k: lambda a, b: ieee_choice(a, b, k, False), "maximum": lambda k: lambda a, b: ieee_choice(a, b, k, True),
    "minimum3": lambda k: lambda a, b, c: ieee_choice(ieee_choice(a, b, k, False), c, k, False),
    "maximum3": lambda k: lambda a, b, c: ieee_choice(ieee_choice(a, b, k, True), c, k, True),
}  # fmt: skip


@pytest.mark.parametrize("name", PACKED)
def test_packed_halves(name: str) -> None:
    """v_pk_*_f16 with exchanged and negated halves."""
    function = PACKED[name]("f16")
    count = len(OPERATIONS[f"v_pk_{name}_f16"].inputs)
    rows = operands("f16", count, 12)[:512]
    for start in range(0, len(rows), 32):
        lows = rows[start : start + 32]
        highs = lows[::-1]
        inputs = [np.array([x[i] | y[i] << 16 for x, y in zip(lows, highs, strict=True)], U) for i in range(count)]
        for swap, negate in ((0, 0), (1, 1)):
            modifiers = {"op_sel": swap, "op_sel_hi": 7 ^ swap, "neg_lo": negate, "neg_hi": 2 * negate}
            got = evaluate(f"v_pk_{name}_f16", inputs, modifiers=modifiers)["results"][0][0]
            for lane in range(32):
                low, high = list(lows[lane]), list(highs[lane])
                if swap:
                    low[0], high[0] = high[0], low[0]
                if negate:
                    low[0], high[1] = low[0] ^ 0x8000, high[1] ^ 0x8000
                assert int(got[lane]) == function(*low) | function(*high) << 16, (name, lane)


def test_packed_accumulation() -> None:
    """v_pk_fmac_f16"""
    rows = operands("f16", 3, 13)[:32]
    inputs = [np.array([r[i] | r[(i + 1) % 3] << 16 for r in rows], U) for i in range(3)]
    got = evaluate("v_pk_fmac_f16", inputs)["results"][0][0]
    for lane, (d, a, b) in enumerate(rows):
        assert int(got[lane]) == ref.fma(a, b, d, "f16") | ref.fma(b, d, a, "f16") << 16


@pytest.mark.parametrize("name", ["add", "mul", "fma", "mov"])
def test_packed_singles(name: str) -> None:
    """v_pk_add_f32 v_pk_mul_f32 v_pk_fma_f32 v_pk_mov_b32"""
    full = f"v_pk_{name}_{'b32' if name == 'mov' else 'f32'}"
    count = len(OPERATIONS[full].inputs)
    rows = operands("f32", count, 14)[:256]
    for start in range(0, len(rows), 32):
        lows, highs = rows[start : start + 32], rows[start : start + 32][::-1]
        inputs = [[np.array([r[i] for r in part], U) for part in (lows, highs)] for i in range(count)]
        for op_sel, op_sel_hi in ((0, 7), (1, 6), (7, 0)):
            found = evaluate(full, inputs, modifiers={"op_sel": op_sel, "op_sel_hi": op_sel_hi})["results"][0]
            for lane in range(32):
                both = lows[lane], highs[lane]
                first, second = ([both[chosen >> i & 1][i] for i in range(count)] for chosen in (op_sel, op_sel_hi))
                values = (PACKED[name]("f32")(*v) for v in (first, second)) if name != "mov" else first
                want = list(values)
                assert [int(found[0][lane]), int(found[1][lane])] == want


def test_double_precision_roots() -> None:
    """v_sqrt_f64 v_rsq_f64: a start for Newton's method, within 2^-20; the exact cases are exact."""
    x = np.array([1.0, 4.0, 0.25, 1e300, 1e-300, 2.0, 3.0, 12345.678] * 4)
    bits = x.view(np.uint64)
    pair = [(bits & np.uint64(M32)).astype(U), (bits >> np.uint64(32)).astype(U)]
    for name, want in (("sqrt", np.sqrt(x)), ("rsq", 1 / np.sqrt(x))):
        found = evaluate(f"v_{name}_f64", [pair])["results"][0]
        got = (found[0].astype(np.uint64) | found[1].astype(np.uint64) << np.uint64(32)).view(np.float64)
        assert (np.abs(got / want - 1) < 2.0**-20).all()
        assert got[:3].tolist() == want[:3].tolist()
    for name, cases in (
        ("sqrt", [(0.0, 0.0), (math.inf, math.inf), (-1.0, math.nan)]),
        ("rsq", [(0.0, math.inf), (math.inf, 0.0), (-1.0, math.nan)]),
    ):
        for value, want_ in cases:
            word = int(np.array([value]).view(np.uint64)[0])
            found = evaluate(f"v_{name}_f64", [[word & M32, word >> 32]])["results"][0]
            got_ = float(np.array([int(found[0][0]) | int(found[1][0]) << 32], np.uint64).view(np.float64)[0])
            assert math.isnan(got_) if math.isnan(want_) else got_ == want_


def test_lowest_zero_of_64() -> None:
    """s_ctz_not_i32_b64"""
    for value, want in ((0, 0), (1, 1), (M32, 32), (M64, M32), (M64 >> 1, 63)):
        assert int(evaluate("s_ctz_not_i32_b64", [[value & M32, value >> 32]])["results"][0][0][0]) == want


def test_permute_that_fetches_inactive_lanes() -> None:
    """ds_bpermute_fi_b32"""
    rng = np.random.default_rng(15)
    data, address = np.array(words(rng, 32), U), rng.integers(0, 128, 32).astype(U)
    got = evaluate("ds_bpermute_fi_b32", [address, data], exec_mask=1, modifiers={"offset": 8})["results"][0][0]
    assert got.tolist() == [int(data[(int(a) + 8 >> 2) & 31]) for a in address]


@pytest.mark.parametrize("name", TRANSPOSES)
def test_transposed_elements(name: str) -> None:
    """The lanes of a group hold a matrix row by row; afterwards each holds a column."""
    shape = {"ds_load_b64_tr_b16": (64, 16, 16), "ds_load_b64_tr_b8": (64, 8, 16), "ds_load_b64_tr_b4": (64, 4, 16),
             "ds_load_b96_tr_b6": (96, 6, 16), "global_load_tr_b128": (128, 16, 8)}[name]  # fmt: skip
    total, bits, group = shape
    rng = np.random.default_rng(16)
    registers = [np.array(words(rng, 64), U) for _ in range(total // 32)]
    found = evaluate(name, [registers], wave=64)["results"][0]
    for first in range(0, 64, group):
        whole = sum(
            int(registers[k][first + lane]) << (32 * k + total * lane)
            for lane in range(group)
            for k in range(total // 32)
        )
        rows = total // bits
        for column in range(group):
            want = sum(
                (whole >> bits * (group * row + column) & ((1 << bits) - 1)) << bits * row for row in range(rows)
            )
            assert sum(int(w[first + column]) << 32 * k for k, w in enumerate(found)) == want
