"""Rounding and arithmetic against exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loom.reference import numerics
from loom.reference.formats import FORMATS, decode, encode, round_to

NARROW = ("f16", "bf16", "f8E4M3", "f8E5M2")


def all_values(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Every finite value of a format with its code, sorted."""
    form = FORMATS[name]
    codes = np.arange(1 << form.bits, dtype=np.uint32).astype(form.storage)
    values = decode(codes, form).astype(np.float64)
    finite = np.isfinite(values) & ~((codes >> (form.bits - 1)).astype(bool) & (values == 0))
    order = np.argsort(values[finite])
    return values[finite][order], codes[finite][order]


@pytest.mark.parametrize("name", NARROW)
def test_every_code_survives_a_round_trip(name: str) -> None:
    form = FORMATS[name]
    codes = np.arange(1 << form.bits, dtype=np.uint32).astype(form.storage)
    values = decode(codes, form)
    back = encode(values, form)
    nan = np.isnan(values)
    assert (back[~nan] == codes[~nan]).all()
    assert np.isnan(decode(back[nan], form)).all()


@pytest.mark.parametrize("name", NARROW)
def test_rounding_picks_the_nearest_and_ties_to_even(name: str) -> None:
    values, codes = all_values(name)
    middle = (values[:-1] + values[1:]) / 2
    form = FORMATS[name]
    rounded = round_to(middle, form).astype(np.float64)
    lower_even = codes[:-1] % 2 == 0
    expected = np.where(lower_even, values[:-1], values[1:])
    assert (rounded == expected).all()
    nudged = np.nextafter(middle, np.inf)
    assert (round_to(nudged, form).astype(np.float64) == values[1:]).all()


def test_overflow() -> None:
    wide = np.array([1e9, -1e9, np.inf, 464.0, 465.0])
    assert round_to(wide, FORMATS["f8E4M3"]).tolist() == [448.0, -448.0, 448.0, 448.0, 448.0]
    assert round_to(np.array([61439.0, 61440.0]), FORMATS["f8E5M2"]).tolist() == [57344.0, math.inf]
    assert math.isnan(round_to(np.array([math.nan]), FORMATS["f8E4M3"])[0])


floats32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=300, deadline=None)
@given(floats32, floats32, floats32)
def test_fma_f32_is_rounded_once(a: float, b: float, c: float) -> None:
    result = numerics.fused_multiply_add(*(np.array([x], np.float32) for x in (a, b, c)), FORMATS["f32"])[0]
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not math.isfinite(result):
        assert abs(exact) > Fraction(3.4028234e38)
        return
    below, above = np.nextafter(result, np.float32(-np.inf)), np.nextafter(result, np.float32(np.inf))
    distance = abs(Fraction(float(result)) - exact)
    for other in (below, above):
        if np.isfinite(other):
            assert distance <= abs(Fraction(float(other)) - exact)


floats64 = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=300, deadline=None)
@given(floats64, floats64, floats64)
def test_fma_f64_is_rounded_once(a: float, b: float, c: float) -> None:
    result = float(numerics.fused_multiply_add(*(np.array([x]) for x in (a, b, c)), FORMATS["f64"])[0])
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        assert result == float(exact)
    except OverflowError:
        assert math.isinf(result)


@settings(max_examples=200, deadline=None)
@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["f16", "bf16", "f32", "f64"]))
def test_integers_to_floats_round_once(value: int, name: str) -> None:
    form = FORMATS[name]
    result = float(numerics.integer_to_float(np.array([value], np.int64), form, True).astype(np.float64)[0])
    if not math.isfinite(result):
        assert abs(value) >= 65520
        return
    code = int(encode(numerics.integer_to_float(np.array([value], np.int64), form, True), form)[0])
    for neighbour in (code - 1, code + 1):
        if not 0 <= neighbour < 1 << form.bits:
            continue
        other = float(decode(np.array([neighbour], form.storage), form).astype(np.float64)[0])
        if math.isfinite(other):
            assert abs(Fraction(result) - value) <= abs(Fraction(other) - value)


@settings(max_examples=300, deadline=None)
@given(st.integers(-128, 127), st.integers(-128, 127))
def test_signed_division(a: int, b: int) -> None:
    form = FORMATS["i8"]
    x, y = np.array([a], np.int8), np.array([b], np.int8)
    quotient, undefined = numerics.INTEGER["divsi"](x, y, form)
    assert bool(undefined[0]) == (b == 0 or (a == -128 and b == -1))
    if undefined[0]:
        return
    assert int(quotient[0]) == int(a / b)
    assert int(numerics.INTEGER["remsi"](x, y, form)[0][0]) == a - b * int(a / b)
    assert int(numerics.INTEGER["floordivsi"](x, y, form)[0][0]) == a // b
    assert int(numerics.INTEGER["ceildivsi"](x, y, form)[0][0]) == -((-a) // b)


def test_float_to_integer_bounds() -> None:
    form = FORMATS["i32"]
    values = np.array([2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, math.nan, 1.9, -1.9])
    result, undefined = numerics.float_to_integer(values, form, True)
    assert undefined.tolist() == [False, True, False, True, True, False, False]
    assert result[[0, 2, 5, 6]].tolist() == [2147483647, -2147483648, 1, -1]


def test_minimum_and_minnum() -> None:
    form = FORMATS["f32"]
    a = np.array([math.nan, 1.0, -0.0, 0.0], np.float32)
    b = np.array([1.0, math.nan, 0.0, -0.0], np.float32)
    low = numerics.FLOAT["minimumf"](a, b, form)
    assert np.isnan(low[:2]).all()
    assert np.signbit(low[2:]).all()
    assert numerics.FLOAT["minnumf"](a, b, form)[:2].tolist() == [1.0, 1.0]


def test_a_fresh_nan_is_positive_on_every_host() -> None:
    form = FORMATS["f32"]
    infinity = np.array([np.inf], np.float32)
    zero = np.array([0.0], np.float32)
    for name, operands in (("subf", (infinity, infinity)), ("divf", (zero, zero)), ("sqrtf", (-infinity,))):
        result = numerics.FLOAT[name](*operands, form)
        assert np.isnan(result[0]) and not np.signbit(result[0]), name
    fma = numerics.fused_multiply_add(zero, infinity, zero, form)
    assert np.isnan(fma[0]) and not np.signbit(fma[0])
    given_nan = np.array([-np.nan], np.float32)
    assert np.signbit(numerics.FLOAT["addf"](given_nan, zero, form)[0]) == np.signbit(given_nan[0])
