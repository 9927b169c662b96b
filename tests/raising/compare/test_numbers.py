"""Two results under a workload's policy: what counts as equal, and how far apart they are, counted by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from loom.raising.compare.numbers import compare_output
from loom.store.workload import Argument

BITWISE = {"policy": "bitwise"}


def compare(kind: str, policy: dict[str, Any], want: np.ndarray, have: np.ndarray) -> dict[str, Any]:
    return compare_output(Argument("y", "buffer", kind, want.shape), policy, want.tobytes(), have.tobytes())


def counts(document: dict[str, Any]) -> dict[str, int]:
    return {row["ulps"]: row["elements"] for row in document["histogram"] if row["elements"]}


def test_bins_of_the_histogram() -> None:
    """A distance of n units is n more in the bit pattern of a positive number (IEEE 754 order)."""
    distances = [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 64, 65, 256, 257, 1024, 1025, 65536, 65537, 10**8]
    want = np.full(len(distances) + 1, 1.0, "<f4")
    have = want.copy()
    have.view("<u4")[:-1] += np.array(distances, "<u4")
    have[-1] = math.nan
    document = compare("f32", BITWISE, want, have)
    assert [row["ulps"] for row in document["histogram"]] == [
        "0", "1", "2", "≤ 4", "≤ 8", "≤ 16", "≤ 64", "≤ 256", "≤ 1k", "≤ 64k", "> 64k", "NaN"
    ]  # fmt: skip
    assert [row["elements"] for row in document["histogram"]] == [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 1]
    assert document["mismatches"] == len(distances)


def test_integers_are_as_far_apart_as_their_difference() -> None:
    want = np.array([0, -5, 2**31 - 1, -(2**31)], "<i4")
    have = np.array([0, 5, -(2**31), -(2**31) + 1], "<i4")
    assert counts(compare("i32", BITWISE, want, have)) == {"0": 1, "1": 1, "≤ 16": 1, "> 64k": 1}
    large = np.array([2**62, 2**62, 2**63 - 1], "<i8")
    near = np.array([2**62 + 1, 2**62 - 2, -(2**63)], "<i8")
    assert counts(compare("i64", BITWISE, large, near)) == {"1": 1, "2": 1, "> 64k": 1}
    assert counts(compare("u8", BITWISE, np.array([0, 255], "u1"), np.array([255, 254], "u1"))) == {"1": 1, "≤ 256": 1}


def test_bitwise_tells_zeros_and_nan_payloads_apart() -> None:
    want = np.array([0.0, 1.0, math.nan], "<f4")
    have = np.array([-0.0, 1.0, math.nan], "<f4")
    have.view("<u4")[2] ^= 1
    document = compare("f32", BITWISE, want, have)
    assert (document["equal"], document["mismatches"], document["elements"]) == (False, 2, 3)
    assert compare("f32", BITWISE, want, want)["equal"] is True


@pytest.mark.parametrize(
    ("want", "have", "equal"),
    [
        (100.0, 100.75, True),  # 0.5 + 0.0025 * 100 = 0.75
        (100.0, 100.8, False),
        (math.inf, math.inf, True),
        (math.inf, 5.0, False),
        (5.0, math.inf, False),
        (math.inf, -math.inf, False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (1.0, math.nan, False),
    ],
)
def test_close(want: float, have: float, equal: bool) -> None:
    policy = {"policy": "close", "atol": 0.5, "rtol": 0.0025}
    document = compare("f64", policy, np.array([want]), np.array([have]))
    assert document["equal"] is equal
    assert bool(document["first"]) is not equal


@pytest.mark.parametrize(("units", "equal"), [(2, True), (3, False)])
def test_ulp(units: int, equal: bool) -> None:
    want = np.array([1.0, math.nan, 0.0], "<f2")
    have = np.array([1.0, math.nan, -0.0], "<f2")
    have.view("<u2")[0] += units
    document = compare("f16", {"policy": "ulp", "ulp": 2}, want, have)
    assert document["equal"] is equal and document["largest_ulps"] == units
    lone = compare("f16", {"policy": "ulp", "ulp": 60000}, want, np.array([math.nan, 1.0, 0.0], "<f2"))
    assert lone["mismatches"] == 2
