"""Are two results equal under the workload's policy, and how far apart are they."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loom.raising.buffers import TypedBuffer, compare_buffers, ulp_distances
from loom.raising.execute import typed
from loom.store.workload import Argument

#: Upper ends of the error histogram's bins, in units in the last place.
_BINS = (0, 1, 2, 4, 8, 16, 64, 256, 1024, 65536)


def compare_output(argument: Argument, policy: Mapping[str, Any], expected: bytes, actual: bytes) -> dict[str, Any]:
    """Compare one output buffer of one shape under ``policy``.

    ``bitwise``: the same bytes. ``close``: |a - e| <= atol + rtol * |e| in f64. ``ulp``: at most ``ulp`` units in the
    last place apart. Returns the entry of a comparison's ``outputs``.
    """
    want, have = typed(argument, expected), typed(argument, actual)
    kind = policy["policy"]
    atol, rtol = (float(policy.get("atol", 0)), float(policy.get("rtol", 0))) if kind == "close" else (0.0, 0.0)
    found = compare_buffers(have, want, atol, rtol, keep=8)
    mismatches = found.mismatches
    if kind == "bitwise":
        mismatches = _different_elements(want, have)
    elif kind == "ulp" and mismatches:
        mismatches = _beyond(want, have, int(policy["ulp"]))
    return {
        "policy": dict(policy),
        "equal": mismatches == 0,
        "elements": found.count,
        "mismatches": mismatches,
        "largest_error": found.largest_error,
        "largest_ulps": found.largest_ulps,
        "histogram": histogram(want, have),
        "first": [
            {"index": list(m.index), "expected": m.expected, "actual": m.actual, "ulps": m.ulps} for m in found.first
        ]
        if mismatches
        else [],
    }


def _different_elements(want: TypedBuffer, have: TypedBuffer) -> int:
    import numpy

    width = len(want.data) // max(want.count, 1)
    a, b = (numpy.frombuffer(buffer.data, dtype=f"V{width}") for buffer in (want, have))
    return int(numpy.count_nonzero(a != b))


def _beyond(want: TypedBuffer, have: TypedBuffer, limit: int) -> int:
    """Elements more than ``limit`` units apart; a NaN agrees with a NaN only."""
    import numpy

    a, b = want.values(), have.values()
    nan_a, nan_b = numpy.isnan(a), numpy.isnan(b)
    far = ulp_distances(have, want) > limit
    return int(numpy.count_nonzero(numpy.where(nan_a | nan_b, nan_a != nan_b, far)))


def _short(value: int) -> str:
    return f"{value // 1024}k" if value >= 1024 else str(value)


def histogram(want: TypedBuffer, have: TypedBuffer) -> list[dict[str, Any]]:
    """Count elements by their distance in units in the last place; integers by their absolute difference."""
    import numpy

    if want.element[0] == "i":
        a, b = want.values(), have.values()
        # Subtracted as integers of their own width: f64 would merge neighbours beyond 2^53.
        larger, smaller = (bound(a, b).view(f"u{a.itemsize}") for bound in (numpy.maximum, numpy.minimum))
        distance = larger - smaller
        lone = numpy.zeros(want.count, dtype=bool)
    else:
        distance = ulp_distances(have, want)
        nan_a = numpy.isnan(want.values().astype(numpy.float64))
        nan_b = numpy.isnan(have.values().astype(numpy.float64))
        distance = numpy.where(nan_a & nan_b, numpy.uint64(0), distance)
        lone = nan_a ^ nan_b
    rows = []
    # Bin k holds the distances above the end of bin k - 1, up to and including its own.
    bins = numpy.searchsorted(numpy.array(_BINS, dtype=numpy.uint64), distance[~lone].astype(numpy.uint64))
    counts = numpy.bincount(bins, minlength=len(_BINS) + 1)
    for position, high in enumerate(_BINS):
        single = position == 0 or high == _BINS[position - 1] + 1
        rows.append({"ulps": str(high) if single else f"≤ {_short(high)}", "elements": int(counts[position])})
    rows.append({"ulps": f"> {_short(_BINS[-1])}", "elements": int(counts[-1])})
    rows.append({"ulps": "NaN", "elements": int(numpy.count_nonzero(lone))})
    return rows
