"""Arithmetic, minimum and maximum, conversions and comparisons against rational arithmetic, with edge operands and all rounding modes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from loom.low.semantics.operation import Mode
from loom.low.semantics.table import evaluate
from tests.low.semantics import reference_math as ref

EDGES = {
    "f16": [0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x3C01, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0x3555,
            0x6400, 0x1400],
    "f32": [0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x7F7FFFFF, 0xFF7FFFFF,
            0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x3EAAAAAB, 0x4B800000, 0x1F800000],
    "f64": [0, 1 << 63, 1, (1 << 63) | 1, (1 << 52) - 1, 1 << 52, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001,
            0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001,
            0x3FD5555555555555, 0x4330000000000000],
}  # fmt: skip


def operands(kind: str, count: int, seed: int) -> list[tuple[int, ...]]:
    """Edge combinations and random patterns, some with nearby exponents so that cancellation happens."""
    rng = np.random.default_rng(seed)
    w = ref.width(kind)
    edges = EDGES[kind]
    rows = list(itertools.product(edges, repeat=2)) if count == 2 else []
    if count == 2:
        rows = [tuple(r) for r in rows]
    else:
        rows = [tuple(int(rng.choice(len(edges))) for _ in range(count)) for _ in range(400)]
        rows = [tuple(edges[i] for i in r) for r in rows]
    fraction_bits, exponent_bits = ref.FORMATS[kind]
    for _ in range(400):
        if rng.integers(2):
            rows.append(tuple(int(rng.integers(0, 1 << w, dtype=np.uint64)) for _ in range(count)))
        else:
            near = [int(rng.integers(0, 1 << fraction_bits)) for _ in range(count)]
            base = (1 << (exponent_bits - 1)) - 1
            rows.append(
                tuple(
                    f | ((base + int(rng.integers(-3, 4))) << fraction_bits) | (int(rng.integers(2)) << (w - 1))
                    for f in near
                )
            )
    while len(rows) % 32:
        rows.append(rows[0])
    return rows


def run(name: str, kind: str, rows: list[tuple[int, ...]], result_kind: str | None = None, mode: Mode | None = None,
        modifiers: dict[str, int] | None = None) -> list[int]:  # fmt: skip
    """Evaluate an operation on many rows of operands, 32 at a time."""
    out: list[int] = []
    wide = result_kind or kind
    for start in range(0, len(rows), 32):
        columns = list(zip(*rows[start : start + 32], strict=True))
        inputs = []
        for column in columns:
            if ref.width(kind) == 64:
                low = np.array([v & 0xFFFFFFFF for v in column], dtype=np.uint32)
                high = np.array([v >> 32 for v in column], dtype=np.uint32)
                inputs.append([low, high])
            else:
                inputs.append(np.array(column, dtype=np.uint32))
        found = evaluate(name, inputs, mode=mode, modifiers=modifiers, old=[0])["results"][0]
        words = [np.broadcast_to(w, (32,)) for w in found]
        for lane in range(32):
            value = int(words[0][lane])
            if len(words) == 2:
                value |= int(words[1][lane]) << 32
            out.append(value & ((1 << ref.width(wide)) - 1))
    return out


def check(name: str, kind: str, expected: Callable[..., int], count: int, result_kind: str | None = None,
          mode: Mode | None = None, modifiers: dict[str, int] | None = None) -> None:  # fmt: skip
    rows = operands(kind, count, 11)
    got = run(name, kind, rows, result_kind, mode, modifiers)
    wrong = [
        (tuple(hex(v) for v in row), hex(g), hex(expected(*row)))
        for row, g in zip(rows, got, strict=True)
        if g != expected(*row)
    ]
    assert wrong[:3] == []


KINDS = ["f16", "f32", "f64"]


@pytest.mark.parametrize("rounding", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_sum_product_fma(kind: str, rounding: int) -> None:
    mode = Mode(round32=rounding, round64=rounding)
    check(f"v_add_{kind}", kind, lambda a, b: ref.add(a, b, kind, rounding), 2, mode=mode)
    check(f"v_mul_{kind}", kind, lambda a, b: ref.mul(a, b, kind, rounding), 2, mode=mode)
    check(f"v_fma_{kind}", kind, lambda a, b, c: ref.fma(a, b, c, kind, rounding), 3, mode=mode)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_differences_and_accumulation(kind: str) -> None:
    flip = 1 << (ref.width(kind) - 1)
    check(f"v_sub_{kind}", kind, lambda a, b: ref.add(a, b ^ flip, kind), 2)
    check(f"v_subrev_{kind}", kind, lambda a, b: ref.add(b, a ^ flip, kind), 2)
    check(f"v_fmac_{kind}", kind, lambda d, a, b: ref.fma(a, b, d, kind), 3)
    check(f"v_fmaak_{kind}", kind, lambda a, b, k: ref.fma(a, b, k, kind), 3)
    check(f"v_fmamk_{kind}", kind, lambda a, k, b: ref.fma(a, k, b, kind), 3)
    check(f"v_mad_{kind}", kind, lambda a, b, c: ref.add(ref.mul(a, b, kind), c, kind), 3)
    check(f"v_mac_{kind}", kind, lambda d, a, b: ref.add(ref.mul(a, b, kind), d, kind), 3)


def flush(bits: int, kind: str) -> int:
    fraction_bits, exponent_bits = ref.FORMATS[kind]
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    return bits if exponent else bits & (1 << (ref.width(kind) - 1))


@pytest.mark.parametrize("kind", KINDS)
def test_denormal_modes(kind: str) -> None:
    """0 flushes both ways, 1 keeps inputs, 2 keeps results (the kernel descriptor's encoding)."""
    for setting in (0, 1, 2):
        mode = Mode(denorm32=setting, denorm64=setting)
        inputs = (lambda v: v) if setting & 1 else (lambda v: flush(v, kind))
        results = (lambda v: v) if setting & 2 else (lambda v: flush(v, kind))
        check(f"v_add_{kind}", kind, lambda a, b, i=inputs, o=results: o(ref.add(i(a), i(b), kind)), 2, mode=mode)
        check(f"v_mul_{kind}", kind, lambda a, b, i=inputs, o=results: o(ref.mul(i(a), i(b), kind)), 2, mode=mode)


def number_choice(a: int, b: int, kind: str, larger: bool) -> int:
    """IEEE 754-2008 minNum/maxNum under the IEEE mode: a signaling NaN gives a quiet NaN."""
    fraction_bits = ref.FORMATS[kind][0]
    for v in (a, b):
        if ref.is_nan(v, kind) and not v >> (fraction_bits - 1) & 1:
            return ref.QUIET[kind]
    if ref.is_nan(a, kind):
        return ref.QUIET[kind] if ref.is_nan(b, kind) else b
    if ref.is_nan(b, kind):
        return a
    pick = max if larger else min
    return pick((a, b), key=lambda v: ref.order_key(v, kind))


def ieee_choice(a: int, b: int, kind: str, larger: bool) -> int:
    if ref.is_nan(a, kind) or ref.is_nan(b, kind):
        return ref.QUIET[kind]
    return (max if larger else min)((a, b), key=lambda v: ref.order_key(v, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_minimum_and_maximum(kind: str) -> None:
    low = lambda a, b: number_choice(a, b, kind, False)  # noqa: E731
    high = lambda a, b: number_choice(a, b, kind, True)  # noqa: E731
    for name in ("min", "min_num"):
        check(f"v_{name}_{kind}", kind, low, 2)
    for name in ("max", "max_num"):
        check(f"v_{name}_{kind}", kind, high, 2)
    check(f"v_minimum_{kind}", kind, lambda a, b: ieee_choice(a, b, kind, False), 2)
    check(f"v_maximum_{kind}", kind, lambda a, b: ieee_choice(a, b, kind, True), 2)
    if kind == "f64":
        return
    check(f"v_min3_{kind}", kind, lambda a, b, c: low(low(a, b), c), 3)
    check(f"v_max3_{kind}", kind, lambda a, b, c: high(high(a, b), c), 3)
    check(f"v_minmax_{kind}", kind, lambda a, b, c: high(low(a, b), c), 3)
    check(f"v_maxmin_{kind}", kind, lambda a, b, c: low(high(a, b), c), 3)

    def median(a: int, b: int, c: int) -> int:
        if any(ref.is_nan(v, kind) for v in (a, b, c)):
            return low(low(a, b), c)
        return sorted((a, b, c), key=lambda v: ref.order_key(v, kind))[1]

    check(f"v_med3_{kind}", kind, median, 3)


def integral(bits: int, kind: str, function: Callable[[Fraction], int]) -> int:
    value = ref.decode(bits, kind)
    if isinstance(value, float):
        return ref.encode(value, kind)
    result = function(value)
    return ref.encode(Fraction(result), kind, zero_sign=int(ref.negative(bits, kind)))


def half_even(value: Fraction) -> int:
    return round(value)


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_to_integers(kind: str) -> None:
    for name, function in (
        ("floor", math.floor), ("ceil", math.ceil), ("trunc", math.trunc), ("rndne", half_even)
    ):  # fmt: skip
        rows = operands(kind, 1, 5) + [(v,) for v in EDGES[kind]]
        while len(rows) % 32:
            rows.append(rows[0])
        got = run(f"v_{name}_{kind}", kind, rows)
        assert got == [integral(r[0], kind, function) for r in rows]


def one_column(kind: str) -> list[tuple[int, ...]]:
    rows = operands(kind, 1, 5) + [(v,) for v in EDGES[kind]]
    while len(rows) % 32:
        rows.append(rows[0])
    return rows


def saturate(value: Fraction | float, width: int, signed: bool) -> int:
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return (high if value > 0 else low) & ((1 << width) - 1)
    return min(max(math.trunc(value), low), high) & ((1 << width) - 1)


@pytest.mark.parametrize(
    ("name", "kind", "width", "signed"),
    [
        ("v_cvt_i32_f32", "f32", 32, True), ("v_cvt_u32_f32", "f32", 32, False), ("v_cvt_i32_f64", "f64", 32, True),
        ("v_cvt_u32_f64", "f64", 32, False), ("v_cvt_i16_f16", "f16", 16, True), ("v_cvt_u16_f16", "f16", 16, False),
    ],
)  # fmt: skip
def test_float_to_integer(name: str, kind: str, width: int, signed: bool) -> None:
    rows = one_column(kind)
    got = run(name, kind, rows, f"x{width}")
    assert got == [saturate(ref.decode(r[0], kind), width, signed) for r in rows]


def signed32(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


@pytest.mark.parametrize("rounding", [0, 1, 2, 3])
def test_integer_to_float(rounding: int) -> None:
    rng = np.random.default_rng(3)
    values = [0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x01000001, 0x01000003] + [
        int(v) for v in rng.integers(0, 1 << 32, 57)
    ]
    rows = [(v,) for v in values]
    mode = Mode(round32=rounding)
    assert run("v_cvt_f32_u32", "f32", rows, mode=mode) == [ref.encode(Fraction(v), "f32", rounding) for v in values]
    assert run("v_cvt_f32_i32", "f32", rows, mode=mode) == [
        ref.encode(Fraction(signed32(v)), "f32", rounding) for v in values
    ]
    assert run("v_cvt_f64_u32", "f32", rows, "f64") == [ref.encode(Fraction(v), "f64") for v in values]
    assert run("v_cvt_f64_i32", "f32", rows, "f64") == [ref.encode(Fraction(signed32(v)), "f64") for v in values]


def convert(bits: int, source: str, target: str, rounding: int = 0) -> int:
    value = ref.decode(bits, source)
    if ref.is_nan(bits, source):
        # Sign and upper payload bits survive, the NaN becomes quiet.
        a, b = ref.FORMATS[source][0], ref.FORMATS[target][0]
        fraction = bits & ((1 << a) - 1)
        moved = fraction << (b - a) if b > a else fraction >> (a - b)
        sign = bits >> (ref.width(source) - 1)
        return sign << (ref.width(target) - 1) | ref.QUIET[target] | moved
    return ref.encode(value, target, rounding)


@pytest.mark.parametrize("rounding", [0, 1, 2, 3])
def test_conversions_between_formats(rounding: int) -> None:
    mode = Mode(round32=rounding, round64=rounding)
    for name, source, target in (
        ("v_cvt_f16_f32", "f32", "f16"), ("v_cvt_f32_f16", "f16", "f32"), ("v_cvt_f32_f64", "f64", "f32"),
        ("v_cvt_f64_f32", "f32", "f64"),
    ):  # fmt: skip
        rows = one_column(source)
        got = run(name, source, rows, target, mode)
        assert got == [convert(r[0], source, target, rounding) for r in rows], name


@pytest.mark.parametrize("mode", [Mode(), Mode(round64=1, fp16_overflow=True)])
def test_packed_round_to_zero(mode: Mode) -> None:
    """A NaN keeps its payload as in v_cvt_f16_f32; neither the rounding mode nor FP16_OVFL counts."""
    rows = operands("f32", 2, 9)
    rows[:2] = [(0x7F812345, 0xFFC0FFFF), (0x7F800000, 0x477FE001)]
    got = run("v_cvt_pk_rtz_f16_f32", "f32", rows, "x32", mode)

    def half(v: int) -> int:
        if ref.is_nan(v, "f32"):
            return v >> 16 & 0x8000 | 0x7E00 | v >> 13 & 0x1FF
        return ref.encode(ref.decode(v, "f32"), "f16", 3)

    assert got == [half(a) | half(b) << 16 for a, b in rows]


COMPARISONS: dict[str, Callable[[Fraction | float, Fraction | float], bool]] = {
    "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "f": lambda a, b: False, "t": lambda a, b: True,
    "lg": lambda a, b: a < b or a > b, "neq": lambda a, b: a != b, "nlt": lambda a, b: not a < b,
    "nle": lambda a, b: not a <= b, "ngt": lambda a, b: not a > b, "nge": lambda a, b: not a >= b,
    "nlg": lambda a, b: not (a < b or a > b),
    "o": lambda a, b: a == a and b == b, "u": lambda a, b: not (a == a and b == b),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_comparisons(kind: str) -> None:
    rows = operands(kind, 2, 21)[:512]
    for name, function in COMPARISONS.items():
        for prefix in ("v_cmp", "v_cmpx"):
            for start in range(0, len(rows), 32):
                part = rows[start : start + 32]
                columns = list(zip(*part, strict=True))
                inputs = []
                for column in columns:
                    if kind == "f64":
                        inputs.append([np.array([v & 0xFFFFFFFF for v in column], dtype=np.uint32),
                                       np.array([v >> 32 for v in column], dtype=np.uint32)])  # fmt: skip
                    else:
                        inputs.append(np.array(column, dtype=np.uint32))
                exec_mask = 0xF0F0FFFF
                found = evaluate(f"{prefix}_{name}_{kind}", inputs, exec_mask=exec_mask)
                mask = int(found["results"][0][0][0]) if prefix == "v_cmp" else found["state"]["exec"]
                expected = sum(
                    1 << i for i, (a, b) in enumerate(part)
                    if exec_mask >> i & 1 and function(ref.decode(a, kind), ref.decode(b, kind))
                )  # fmt: skip
                assert mask == expected, (prefix, name)


@pytest.mark.parametrize("kind", KINDS)
def test_class(kind: str) -> None:
    fraction_bits, exponent_bits = ref.FORMATS[kind]

    def class_of(v: int) -> int:
        sign = v >> (ref.width(kind) - 1)
        exponent = v >> fraction_bits & ((1 << exponent_bits) - 1)
        fraction = v & ((1 << fraction_bits) - 1)
        if exponent == (1 << exponent_bits) - 1:
            if fraction:
                return 1 if fraction >> (fraction_bits - 1) else 0
            return 2 if sign else 9
        if exponent == 0:
            if fraction == 0:
                return 5 if sign else 6
            return 4 if sign else 7
        return 3 if sign else 8

    values = (EDGES[kind] * 2)[:32]
    for selector in [1 << i for i in range(10)] + [0x3FF, 0, 0x155]:
        if kind == "f64":
            first: object = [np.array([v & 0xFFFFFFFF for v in values], dtype=np.uint32),
                             np.array([v >> 32 for v in values], dtype=np.uint32)]  # fmt: skip
        else:
            first = np.array(values, dtype=np.uint32)
        found = evaluate(f"v_cmp_class_{kind}", [first, selector])
        expected = sum(1 << i for i, v in enumerate(values) if selector >> class_of(v) & 1)
        assert int(found["results"][0][0][0]) == expected


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(
    ("omod", "factor"), [(0, Fraction(1)), (1, Fraction(2)), (2, Fraction(4)), (3, Fraction(1, 2))]
)
@pytest.mark.parametrize("clamp", [0, 1])
def test_output_modifiers(kind: str, omod: int, factor: Fraction, clamp: int) -> None:
    one = ref.encode(Fraction(1), kind)

    def expected(a: int, b: int) -> int:
        total = ref.add(a, b, kind)
        if omod:
            value = ref.decode(total, kind)
            scaled = value * float(factor) if isinstance(value, float) else value * factor
            sign = int(ref.negative(total, kind))
            total = flush(ref.encode(scaled, kind, zero_sign=sign), kind)
        if clamp:
            if ref.is_nan(total, kind) or ref.negative(total, kind):
                return 0
            return min(total, one)
        return total

    check(f"v_add_{kind}", kind, expected, 2, modifiers={"omod": omod, "clamp": clamp})
