"""Transcendental, division and matrix operations: within the ISA's error, exact where the ISA is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from loom.low.semantics.table import evaluate

F = np.float32


def run(name: str, x: np.ndarray, *more: Any) -> np.ndarray:
    out = []
    for start in range(0, len(x), 32):
        part = np.resize(x[start : start + 32], 32)
        kind = np.uint16 if part.dtype == np.float16 else np.uint32
        words = part.view(kind).astype(np.uint32)
        found = evaluate(name, [words, *more], old=[0])["results"][0][0]
        out.append(np.broadcast_to(found, (32,)).astype(kind).view(part.dtype)[: len(x[start : start + 32])])
    return np.concatenate(out)


FUNCTIONS: dict[str, tuple[Callable[[float], float], float, float]] = {
    "exp": (lambda x: 2.0**x, -120.0, 120.0), "log": (math.log2, 1e-30, 1e30), "rcp": (lambda x: 1 / x, 1e-30, 1e30),
    "rsq": (lambda x: 1 / math.sqrt(x), 1e-30, 1e30), "sqrt": (math.sqrt, 1e-30, 1e30),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_single_precision_within_one_unit(name: str) -> None:
    function, low, high = FUNCTIONS[name]
    rng = np.random.default_rng(1)
    if low > 0:
        x = np.exp2(rng.uniform(math.log2(low), math.log2(high), 2048)).astype(F)
    else:
        x = rng.uniform(low, high, 2048).astype(F)
    got = run(f"v_{name}_f32", x)
    want = np.array([function(float(v)) for v in x])
    error = np.abs(got.astype(np.float64) - want) / np.spacing(np.abs(want).astype(F)).astype(np.float64)
    # A logarithm near zero is stated in absolute terms.
    assert error[np.abs(want) > 1e-3].max() <= 1.0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_half_precision_is_correctly_rounded(name: str) -> None:
    function, _, _ = FUNCTIONS[name]
    x = np.arange(1, 0x7C00, 7, dtype=np.uint16).view(np.float16)
    if name == "exp":
        x = x[x < 15]
    got = run(f"v_{name}_f16", x)
    want = np.array([function(float(v)) for v in x])
    with np.errstate(over="ignore"):
        assert np.array_equal(got, want.astype(np.float16))


def test_special_values() -> None:
    inf, nan = math.inf, math.nan
    table = {
        "exp": [(0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0), (128.0, inf), (-150.0, 0.0), (1.0, 2.0)],
        "log": [(0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf), (-1.0, nan), (8.0, 3.0)],
        "rcp": [(0.0, inf), (-0.0, -inf), (inf, 0.0), (-inf, -0.0), (2.0, 0.5)],
        "rsq": [(0.0, inf), (-0.0, -inf), (inf, 0.0), (-1.0, nan), (4.0, 0.5)],
        "sqrt": [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-1.0, nan), (9.0, 3.0)],
        "sin": [(0.0, 0.0), (0.25, 1.0), (0.5, 0.0), (0.75, -1.0), (inf, nan), (-0.25, -1.0), (300.0, 0.0)],
        "cos": [(0.0, 1.0), (0.25, 0.0), (0.5, -1.0), (1.0, 1.0), (inf, nan), (300.0, 1.0)],
    }
    for name, cases in table.items():
        for x, want in cases:
            got = float(run(f"v_{name}_f32", np.array([x], F))[0])
            assert (
                math.isnan(got) if math.isnan(want) else got == want and math.copysign(1, got) == math.copysign(1, want)
            ), (name, x, got)
        assert math.isnan(float(run(f"v_{name}_f32", np.array([nan], F))[0]))


def test_single_precision_flushes_subnormals() -> None:
    tiny = np.array([1e-40, -1e-40], F)
    assert run("v_rcp_f32", tiny).tolist() == [math.inf, -math.inf]
    assert run("v_exp_f32", np.array([-126.0, -126.5], F)).tolist() == [2.0**-126, 0.0]


@pytest.mark.parametrize(("name", "shift"), [("sin", 0.0), ("cos", 0.25)])
def test_circular_functions(name: str, shift: float) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-256, 256, 2048).astype(F)
    got = run(f"v_{name}_f32", x).astype(np.float64)
    turns = x.astype(np.float64) + shift
    assert np.abs(got - np.sin(2 * np.pi * (turns - np.rint(turns)))).max() < 2.0**-23
    half = rng.uniform(-4, 4, 512).astype(np.float16)
    got = run(f"v_{name}_f16", half).astype(np.float64)
    turns = half.astype(np.float64) + shift
    assert np.abs(got - np.sin(2 * np.pi * (turns - np.rint(turns)))).max() < 2.0**-11


def bits(x: np.ndarray) -> np.ndarray:
    return x.astype(F).view(np.uint32)


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The compiler's division sequence: scale, reciprocal, two Newton steps, fmas, fixup."""
    one = bits(np.ones(32))
    d, _ = evaluate("v_div_scale_f32", [bits(b), bits(b), bits(a)])["results"]
    n, flag = evaluate("v_div_scale_f32", [bits(a), bits(b), bits(a)])["results"]
    flag_bits = int(flag[0][0])
    d_word, n_word = d[0], n[0]
    fma = lambda x, y, z, **m: evaluate("v_fma_f32", [x, y, z], modifiers=m)["results"][0][0]  # noqa: E731
    r = evaluate("v_rcp_f32", [d_word])["results"][0][0]
    e = fma(d_word, r, one, neg=1)
    r = fma(e, r, r)
    q = evaluate("v_mul_f32", [n_word, r])["results"][0][0]
    t = fma(d_word, q, n_word, neg=1)
    q = fma(t, r, q)
    t = fma(d_word, q, n_word, neg=1)
    q = evaluate("v_div_fmas_f32", [t, r, q], state={"vcc": flag_bits})["results"][0][0]
    return evaluate("v_div_fixup_f32", [q, bits(b), bits(a)])["results"][0][0].view(F)


def test_division_sequence_is_correctly_rounded() -> None:
    rng = np.random.default_rng(3)
    for low, high in ((-3, 3), (-60, 60), (-126, 127)):
        for _ in range(20):
            a = (rng.uniform(1, 2, 32) * np.exp2(rng.integers(low, high, 32)) * rng.choice([-1, 1], 32)).astype(F)
            b = (rng.uniform(1, 2, 32) * np.exp2(rng.integers(low, high, 32)) * rng.choice([-1, 1], 32)).astype(F)
            with np.errstate(over="ignore", under="ignore"):
                want = a / b
            assert np.array_equal(divide(a, b), want)
    # Quotients whose 24 bits lie in the middle between two subnormals, though the exact ones do not.
    a = np.resize(np.array([-3.998733, 1.1754944e-38, -1.1754944e-38, 1e-38], F), 32)
    b = np.resize(np.array([3.4028235e38, -6.7290306, -6.7290306, 3], F), 32)
    assert np.array_equal(divide(a, b).view(np.uint32), (a / b).view(np.uint32))


def test_division_of_special_values() -> None:
    inf, nan = math.inf, math.nan
    rows = [(1, 0, inf), (-1, 0, -inf), (0, 0, nan), (inf, inf, nan), (inf, 2, inf), (2, inf, 0), (0, -3, -0.0), (nan, 1, nan),
            (1, nan, nan)]  # fmt: skip
    a = np.resize(np.array([r[0] for r in rows], F), 32)
    b = np.resize(np.array([r[1] for r in rows], F), 32)
    got = divide(a, b)
    for i, (_, _, want) in enumerate(rows):
        assert math.isnan(got[i]) if math.isnan(want) else got[i] == want
    assert math.copysign(1, got[6]) == -1


def test_double_division_sequence() -> None:
    rng = np.random.default_rng(4)
    a = rng.standard_normal(32) * 10.0 ** rng.integers(-250, 250, 32)
    b = rng.standard_normal(32) * 10.0 ** rng.integers(-250, 250, 32)
    # Quotients whose 53 bits lie in the middle between two subnormals, though the exact ones do not.
    a[:8], b[:8] = np.finfo(float).tiny * np.array([-1, 1, -1, 1, 1, -1, 1, 1]), np.resize([2.1484280455588345, 1.5], 8)

    def words(x: np.ndarray) -> list[np.ndarray]:
        pattern = x.view(np.uint64)
        return [(pattern & 0xFFFFFFFF).astype(np.uint32), (pattern >> np.uint64(32)).astype(np.uint32)]

    def go(name: str, *v: Any, **m: Any) -> Any:
        return evaluate(name, list(v), **m)["results"]

    d = go("v_div_scale_f64", words(b), words(b), words(a))[0]
    n, flag = go("v_div_scale_f64", words(a), words(b), words(a))
    fma = lambda x, y, z, neg=0: go("v_fma_f64", x, y, z, modifiers={"neg": neg})[0]  # noqa: E731
    one = words(np.ones(32))
    r = go("v_rcp_f64", d)[0]
    for _ in range(2):
        r = fma(fma(d, r, one, 1), r, r)
    q = go("v_mul_f64", n, r)[0]
    t = fma(d, q, n, 1)
    q = go("v_div_fmas_f64", t, r, q, state={"vcc": int(flag[0][0])})[0]
    out = go("v_div_fixup_f64", q, words(b), words(a))[0]
    got = (out[0].astype(np.uint64) | out[1].astype(np.uint64) << np.uint64(32)).view(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        assert np.array_equal(got, a / b)


def test_trig_preop_gives_bits_of_two_over_pi() -> None:
    from fractions import Fraction

    # 2/pi to 1,250 bits by the Bailey-Borwein-Plouffe-free way: a long rational from Machin's formula with math on integers.
    one = 1 << 1400

    def atan_inverse(n: int) -> int:
        total = term = one // n
        k = 1
        while term:
            term = -(term // (n * n)) if term > 0 else (-term) // (n * n)
            k += 2
            total += term // k if term > 0 else -(-term // k)
        return total

    pi = Fraction(4 * (4 * atan_inverse(5) - atan_inverse(239)), one)
    two_over_pi = 2 / pi
    x = np.resize(np.array([1.0, 1e10, 1e100, 1e300]), 32)
    pattern = x.view(np.uint64)
    words = [(pattern & 0xFFFFFFFF).astype(np.uint32), (pattern >> np.uint64(32)).astype(np.uint32)]
    for segment in (0, 1, 2):
        out = evaluate("v_trig_preop_f64", [words, segment])["results"][0]
        got = (out[0].astype(np.uint64) | out[1].astype(np.uint64) << np.uint64(32)).view(np.float64)
        for i in range(4):
            exponent = int(pattern[i] >> np.uint64(52)) & 0x7FF
            shift = segment * 53 + max(0, exponent - 1077)
            scaled = two_over_pi * 2 ** (shift + 53)
            mantissa = (scaled.numerator // scaled.denominator) & ((1 << 53) - 1)
            want = math.ldexp(float(mantissa), -53 - shift + (128 if exponent >= 1968 else 0))
            assert got[i] == want, (segment, i)


def chain(a: list[float], b: list[float], c: float) -> float:
    """Fused multiply-adds in order, single precision."""
    total = np.longdouble(c)
    for x, y in zip(a, b, strict=True):
        total = np.longdouble(F(np.longdouble(x) * np.longdouble(y) + total))
    return float(total)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_matrix_single_precision(kind: str) -> None:
    """gfx11, wave32: lanes hold rows of A and columns of B; the sum runs over k in ascending order, each step fused."""
    rng = np.random.default_rng(5)
    values = rng.standard_normal((2, 16, 16)).astype(F)
    if kind == "f16":
        coded = values.astype(np.float16)
        shorts, numbers = coded.view(np.uint16), coded.astype(np.float64)
    else:
        shorts = (values.view(np.uint32) >> 16).astype(np.uint16)
        numbers = (shorts.astype(np.uint32) << 16).view(F).astype(np.float64)
    c = rng.standard_normal((16, 16)).astype(F)

    def pack(matrix: np.ndarray) -> list[np.ndarray]:
        rows = np.concatenate([matrix, matrix])  # lanes 16-31 repeat
        return [(rows[:, 2 * k].astype(np.uint32) | rows[:, 2 * k + 1].astype(np.uint32) << 16) for k in range(8)]

    lane = np.arange(32)
    c_words = [c[2 * r + lane // 16, lane % 16].view(np.uint32) for r in range(8)]
    found = evaluate(f"v_wmma_f32_16x16x16_{kind}", [pack(shorts[0]), pack(shorts[1]), c_words])["results"][0]
    for r in range(8):
        for i in range(32):
            row, column = 2 * r + i // 16, i % 16
            want = chain(numbers[0, row].tolist(), numbers[1, column].tolist(), float(c[row, column]))
            assert found[r].view(F)[i] == F(want)


@pytest.mark.parametrize(("kind", "width"), [("iu8", 8), ("iu4", 4)])
@pytest.mark.parametrize("signs", [0, 1, 2, 3])
def test_matrix_integer(kind: str, width: int, signs: int) -> None:
    rng = np.random.default_rng(6)
    raw = rng.integers(0, 1 << width, (2, 16, 16))

    def number(matrix: np.ndarray, signed: int) -> np.ndarray:
        return np.where(signed & (matrix >> (width - 1) & 1), matrix - (1 << width), matrix)

    def pack(matrix: np.ndarray) -> list[np.ndarray]:
        rows = np.concatenate([matrix, matrix]).astype(np.uint64)
        each = 32 // width
        return [
            sum(rows[:, each * w + i] << np.uint64(width * i) for i in range(each)).astype(np.uint32)
            for w in range(16 // each)
        ]

    c = rng.integers(-(1 << 31), 1 << 31, (16, 16))
    lane = np.arange(32)
    c_words = [c[2 * r + lane // 16, lane % 16].astype(np.int64).astype(np.uint32) for r in range(8)]
    total = number(raw[0], signs & 1) @ number(raw[1], signs >> 1).T + c
    for clamp in (0, 1):
        found = evaluate(
            f"v_wmma_i32_16x16x16_{kind}",
            [pack(raw[0]), pack(raw[1]), c_words],
            modifiers={"neg_lo": signs, "clamp": clamp},
        )["results"][0]
        want = np.clip(total, -(1 << 31), (1 << 31) - 1) if clamp else total
        for r in range(8):
            assert np.array_equal(found[r], want[2 * r + lane // 16, lane % 16].astype(np.int64).astype(np.uint32))


def test_dot_products() -> None:
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((32, 2)).astype(np.float16) for _ in range(2))
    c = rng.standard_normal(32).astype(F)
    words = [v.view(np.uint32)[:, 0] for v in (a, b)]
    got = evaluate("v_dot2_f32_f16", [*words, c.view(np.uint32)])["results"][0][0].view(F)
    acc = evaluate("v_dot2acc_f32_f16", [c.view(np.uint32), *words])["results"][0][0].view(F)
    for i in range(32):
        x, y = a[i].astype(float).tolist(), b[i].astype(float).tolist()
        want = F(chain(x[::-1], y[::-1], float(c[i])))  # the high product is added first
        assert got[i] == want == acc[i]
    brain = [(rng.standard_normal((32, 2)).astype(F).view(np.uint32) >> 16).astype(np.uint32) for _ in range(2)]
    packed = [v[:, 0] | v[:, 1] << 16 for v in brain]
    numbers = [(v << 16).view(F) for v in brain]
    got = evaluate("v_dot2_f32_bf16", [*packed, c.view(np.uint32)])["results"][0][0].view(F)
    for i in range(32):
        want = F(chain(numbers[0][i][::-1].tolist(), numbers[1][i][::-1].tolist(), float(c[i])))
        assert got[i] == want


def test_mixed_precision() -> None:
    rng = np.random.default_rng(8)
    halves = rng.standard_normal((3, 32, 2)).astype(np.float16)
    singles = rng.standard_normal((3, 32)).astype(F)
    for select in range(8):  # op_sel_hi: which sources are halves
        for high in (0, 7):
            words, numbers = [], []
            for i in range(3):
                if select >> i & 1:
                    words.append(halves[i].view(np.uint32)[:, 0])
                    numbers.append(halves[i][:, high >> i & 1].astype(np.longdouble))
                else:
                    words.append(singles[i].view(np.uint32))
                    numbers.append(singles[i].astype(np.longdouble))
            modifiers = {"op_sel": high, "op_sel_hi": select}
            want = (numbers[0] * numbers[1] + numbers[2]).astype(F)
            assert np.array_equal(evaluate("v_fma_mix_f32", words, modifiers=modifiers)["results"][0][0].view(F), want)
            old = np.full(32, 0x12345678, np.uint32)
            short = want.astype(np.float16).view(np.uint16).astype(np.uint32)
            low = evaluate("v_fma_mixlo_f16", [old, *words], modifiers=modifiers)["results"][0][0]
            assert np.array_equal(low, 0x12340000 | short)
            top = evaluate("v_fma_mixhi_f16", [old, *words], modifiers=modifiers)["results"][0][0]
            assert np.array_equal(top, 0x5678 | short << 16)


def test_frexp_ldexp_and_fraction() -> None:
    x = np.array([1.0, -3.5, 0.0, 1e-40, 6.0e4, 0.75, -0.0, 1e38], F)
    mantissa, exponent = np.frexp(x)
    got = run("v_frexp_mant_f32", x)
    assert np.array_equal(got, mantissa)
    words = np.resize(x, 32).view(np.uint32)
    found = evaluate("v_frexp_exp_i32_f32", [words])["results"][0][0].view(np.int32)[: len(x)]
    assert found.tolist() == exponent.tolist()
    for k in (-149, -30, -1, 0, 1, 20, 200):
        with np.errstate(over="ignore", under="ignore"):
            want = np.ldexp(x.astype(np.float64), k).astype(F)
        assert np.array_equal(run("v_ldexp_f32", x, k & 0xFFFFFFFF), want)
    fraction = run("v_fract_f32", np.array([1.25, -0.25, -1e-9, 5.0], F))
    assert fraction.tolist() == [0.25, 0.75, float(np.float32(1 - 2**-24)), 0.0]


CDNA = [
    ("v_mfma_f32_32x32x8_f16", 32, 8, 1, "f16"), ("v_mfma_f32_16x16x16_f16", 16, 16, 1, "f16"),
    ("v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, "f16"), ("v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, "f32"),
    ("v_mfma_f32_16x16x4_f32", 16, 4, 1, "f32"), ("v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, "f32"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "size", "depth", "blocks", "kind"), CDNA)
def test_matrix_of_cdna(name: str, size: int, depth: int, blocks: int, kind: str) -> None:
    """Identity and counting matrices show where each element must lie."""
    rng = np.random.default_rng(9)
    a = rng.integers(-8, 8, (blocks, size, depth)).astype(F)
    b = rng.integers(-8, 8, (blocks, depth, size)).astype(F)
    groups = 64 // (size * blocks)
    per_lane = depth // groups
    lanes_a, lanes_b = np.zeros((64, per_lane), F), np.zeros((64, per_lane), F)
    for lane in range(64):
        row, block, group = lane % size, lane // size % blocks, lane // (size * blocks)
        lanes_a[lane] = a[block, row, group * per_lane : (group + 1) * per_lane]
        lanes_b[lane] = b[block, group * per_lane : (group + 1) * per_lane, row]

    def pack(values: np.ndarray) -> list[np.ndarray]:
        if kind == "f32":
            return [values[:, k].copy().view(np.uint32) for k in range(per_lane)]
        words = values.astype(np.float16).view(np.uint32)
        return [words[:, k].copy() for k in range(words.shape[1])]

    want = a.astype(float) @ b.astype(float)
    count = size * size * blocks // 64
    c = [np.full(64, 0.5, F).view(np.uint32)] * count
    first, second = pack(lanes_a), pack(lanes_b)
    inputs = [v if len(v) > 1 else v[0] for v in (first, second)]
    found = evaluate(name, [*inputs, c], wave=64, generation="gfx9.4")["results"][0]
    for register in range(count):
        for lane in range(64):
            if size == 32:
                inner = register % 16
                row, block = inner % 4 + 8 * (inner // 4) + 4 * (lane // 32), register // 16
            elif size == 16:
                row, block = register % 4 + 4 * (lane // 16), register // 4
            else:
                row, block = register, lane // 4
            assert found[register].view(F)[lane] == want[block, row, lane % size] + 0.5


@pytest.mark.parametrize(
    ("kind", "exponent", "fraction", "bias", "fnuz"),
    [("fp8", 4, 3, 7, False), ("bf8", 5, 2, 15, False), ("fp8", 4, 3, 8, True), ("bf8", 5, 2, 16, True)],
)
def test_small_floats(kind: str, exponent: int, fraction: int, bias: int, fnuz: bool) -> None:
    """All 256 patterns of both kinds, in the OCP formats and in gfx942's."""
    from loom.low.semantics.operation import Mode

    def value(byte: int) -> float:
        sign = -1.0 if byte & 0x80 else 1.0
        e, m = byte >> fraction & ((1 << exponent) - 1), byte & ((1 << fraction) - 1)
        if fnuz:
            if byte == 0x80:
                return math.nan
        elif kind == "fp8" and byte & 0x7F == 0x7F:
            return math.nan
        elif kind == "bf8" and e == 31:
            return math.nan if m else sign * math.inf
        return sign * (
            math.ldexp(m, 1 - bias - fraction) if e == 0 else math.ldexp(m + (1 << fraction), e - bias - fraction)
        )

    for start in range(0, 256, 32):
        words = np.arange(start, start + 32, dtype=np.uint32)
        got = evaluate(f"v_cvt_f32_{kind}", [words], mode=Mode(fnuz=fnuz))["results"][0][0].view(F)
        for i, g in enumerate(got.tolist()):
            want = value(start + i)
            assert math.isnan(g) if math.isnan(want) else g == want and math.copysign(1, g) == math.copysign(1, want)
