"""Expectations: which pairs pass, and what a failure tells."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loom.check import expect
from loom.reference.formats import FORMATS

F32, F64, I32 = FORMATS["f32"], FORMATS["f64"], FORMATS["i32"]


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_equal_ignores_the_sign_of_zero_and_bitwise_does_not() -> None:
    assert expect.equal(floats(-0.0), floats(0.0), F32) is None
    assert expect.bitwise(floats(-0.0), floats(0.0), F32) is not None


def test_equal_rejects_nan_and_matches_infinities() -> None:
    assert expect.equal(floats(math.nan), floats(math.nan), F32) is not None
    assert expect.equal(floats(math.inf, -math.inf), floats(math.inf, -math.inf), F32) is None
    assert expect.equal(floats(math.inf), floats(-math.inf), F32) is not None


@pytest.mark.parametrize(
    ("actual", "passes"), [(1.0, True), (1.1, True), (1.1000001, False), (0.9, True), (0.89, False)]
)
def test_close_is_inclusive_in_float64(actual: float, passes: bool) -> None:
    result = expect.close(np.array([actual]), np.array([1.0]), F64, 0.05, 0.05000000000000009, "different")
    assert (result is None) is passes


def test_close_never_matches_a_single_nan() -> None:
    pair = floats(math.nan, 1.0), floats(math.nan, math.nan)
    failure = expect.close(*pair, F32, 1e9, 0.0, "same")
    assert failure is not None
    assert failure["failed_element_count"] == 1
    assert failure["nan_mismatch_count"] == 1
    assert expect.close(floats(math.nan), floats(math.nan), F32, 0.0, 0.0, "same") is None
    assert expect.close(floats(math.nan), floats(math.nan), F32, 0.0, 0.0, "different") is not None


def test_an_infinite_tolerance_does_not_hide_an_infinity() -> None:
    assert expect.close(floats(math.inf), floats(1.0), F32, 1e30, 1e30, "same") is not None


def test_failures_list_first_differences_and_errors() -> None:
    actual = np.zeros((4, 5), np.float32)
    expected = np.zeros((4, 5), np.float32)
    actual[1, 2], actual[3, 4] = 0.5, -2.0
    expected[3, 4] = 2.0
    failure = expect.close(actual, expected, F32, 0.0, 0.0, "different")
    assert failure is not None
    assert (failure["failed_element_count"], failure["element_count"]) == (2, 20)
    assert [entry["index"] for entry in failure["first_differences"]] == [[1, 2], [3, 4]]
    assert failure["first_differences"][0]["actual_bits"] == "0x3f000000"
    assert (failure["max_absolute_error"], failure["max_relative_error"]) == (4.0, 2.0)


def test_integer_failure() -> None:
    failure = expect.equal(np.array([-(2**31), 5], np.int32), np.array([2**31 - 1, 5], np.int32), I32)
    assert failure is not None
    assert failure["max_absolute_error"] == 2**32 - 1


def test_shapes_must_agree() -> None:
    failure = expect.equal(floats(1.0, 1.0), floats(1.0), F32)
    assert failure == {"reason": "shape_mismatch", "actual_shape": [2], "expected_shape": [1]}
    assert expect.shape((4, 2), (4, 2)) is None
    assert expect.shape((4, 2), (2, 4)) is not None


def test_ulp_provider_counts_representable_values() -> None:
    ulp = expect.PROVIDERS["ulp"]
    one_up = np.nextafter(floats(1.0), floats(2.0))
    assert ulp(one_up, floats(1.0), F32, {"limit": 1}) is None
    assert ulp(one_up, floats(1.0), F32, {"limit": 0}) is not None
    assert ulp(floats(-0.0), floats(0.0), F32, {"limit": 0}) is None
