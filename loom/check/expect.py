"""Expectations: comparing what a run left behind with what was expected.

A comparison returns None when it passes, else a dictionary for the report: how many elements fail, the first few of
them
(index, actual, expected), the largest absolute and relative error, and how NaNs and infinities are involved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from loom.reference.formats import Array, ElementFormat, encode

#: How many failing elements a report lists.
FIRST_DIFFERENCES = 8

Failure = dict[str, Any]


def json_number(value: Any) -> Any:
    """A number as JSON has it: non-finite floats as text."""
    if isinstance(value, np.bool_ | bool):
        return bool(value)
    if isinstance(value, np.integer | int):
        return int(value)
    number = float(value)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return number


def _index(flat: int, shape: tuple[int, ...]) -> list[int]:
    return [int(i) for i in np.unravel_index(flat, shape)] if shape else []


def _describe(wrong: Array, actual: Array, expected: Array, form: ElementFormat) -> Failure:
    places = np.flatnonzero(wrong.ravel())
    a, e = np.ravel(actual), np.ravel(expected)
    bits_a, bits_e = encode(a[places[:FIRST_DIFFERENCES]], form), encode(e[places[:FIRST_DIFFERENCES]], form)
    first = [
        {
            "index": _index(int(place), actual.shape),
            "actual": json_number(a[place]),
            "expected": json_number(e[place]),
            "actual_bits": f"{int(bits_a[i]):#0{2 + 2 * form.bytes}x}",
            "expected_bits": f"{int(bits_e[i]):#0{2 + 2 * form.bytes}x}",
        }
        for i, place in enumerate(places[:FIRST_DIFFERENCES])
    ]
    failure: Failure = {
        "failed_element_count": int(places.size),
        "element_count": int(a.size),
        "first_differences": first,
    }
    failure.update(_errors(a, e, form))
    return failure


def _errors(actual: Array, expected: Array, form: ElementFormat) -> Failure:
    """Largest errors over all finite pairs, and counts of the non-finite."""
    if not form.is_float:
        if form.name == "i1":
            return {"max_absolute_error": 1}
        exact = np.abs(actual.astype(object) - expected.astype(object))
        return {"max_absolute_error": int(exact.max())}
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(e)
    with np.errstate(all="ignore"):
        absolute = np.abs(a[finite] - e[finite])
        relative = absolute / np.abs(e[finite])
    relative = relative[np.isfinite(relative)]
    return {
        "max_absolute_error": json_number(absolute.max()) if absolute.size else None,
        "max_relative_error": json_number(relative.max()) if relative.size else None,
        "nan_actual_count": int(np.isnan(a).sum()),
        "nan_expected_count": int(np.isnan(e).sum()),
        "nan_mismatch_count": int((np.isnan(a) != np.isnan(e)).sum()),
        "infinity_mismatch_count": int(((np.isinf(a) | np.isinf(e)) & (a != e) & ~np.isnan(a) & ~np.isnan(e)).sum()),
    }


def _shape_failure(actual: Array, expected: Array) -> Failure | None:
    if actual.shape == expected.shape:
        return None
    return {"reason": "shape_mismatch", "actual_shape": list(actual.shape), "expected_shape": list(expected.shape)}


def equal(actual: Array, expected: Array, form: ElementFormat) -> Failure | None:
    """Integers equal; floats as :func:`close` with zero tolerances and ``nan(different)``, so -0 equals +0."""
    if form.is_float:
        return close(actual, expected, form, 0.0, 0.0, "different")
    failure = _shape_failure(actual, expected)
    if failure is not None:
        return failure
    wrong = np.asarray(actual != expected)
    return {"reason": "value_mismatch", **_describe(wrong, actual, expected, form)} if wrong.any() else None


def bitwise(actual: Array, expected: Array, form: ElementFormat) -> Failure | None:
    """The stored bytes are the same."""
    failure = _shape_failure(actual, expected)
    if failure is not None:
        return failure
    shape = actual.shape
    wrong = (encode(np.ravel(actual), form) != encode(np.ravel(expected), form)).reshape(shape)
    return {"reason": "bit_mismatch", **_describe(wrong, actual, expected, form)} if wrong.any() else None


def close(actual: Array, expected: Array, form: ElementFormat, atol: float, rtol: float, nan: str) -> Failure | None:
    """abs(a - e) <= atol + rtol * abs(e) in float64; equal infinities match; two NaNs only under ``nan(same)``."""
    failure = _shape_failure(actual, expected)
    if failure is not None:
        return failure
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        within = np.abs(a - e) <= atol + rtol * np.abs(e)
    finite = np.isfinite(a) & np.isfinite(e)
    matches = np.where(finite, within, a == e)
    if nan == "same":
        matches = matches | (np.isnan(a) & np.isnan(e))
    wrong = ~matches
    if not wrong.any():
        return None
    return {
        "reason": "value_mismatch",
        **_describe(wrong, actual, expected, form),
        "atol": atol,
        "rtol": rtol,
        "nan": nan,
    }


def shape(actual: tuple[int, ...], expected: tuple[int, ...]) -> Failure | None:
    """Every dimension equals the listed value."""
    if tuple(actual) == tuple(expected):
        return None
    return {"reason": "shape_mismatch", "actual_shape": list(actual), "expected_shape": list(expected)}


def _ulp(actual: Array, expected: Array, form: ElementFormat, attributes: Mapping[str, Any]) -> Failure | None:
    """At most ``limit`` representable values apart; NaN only matches NaN."""
    limit = int(attributes["limit"])
    if not form.is_float:
        raise ValueError("ulp compares floats")
    failure = _shape_failure(actual, expected)
    if failure is not None:
        return failure
    places = [_ordered_bits(np.atleast_1d(values), form) for values in (actual, expected)]
    distance = np.abs(places[0] - places[1])
    nan = np.isnan(np.atleast_1d(actual)), np.isnan(np.atleast_1d(expected))
    wrong = np.where(nan[0] | nan[1], nan[0] != nan[1], distance > limit).reshape(actual.shape)
    if not wrong.any():
        return None
    return {"reason": "value_mismatch", **_describe(wrong, actual, expected, form), "limit": limit}


def _ordered_bits(values: Array, form: ElementFormat) -> Array:
    """Float bits as integers that count representable values in order."""
    bits = encode(values, form).astype(np.int64)
    sign = np.int64(1) << np.int64(form.bits - 1) if form.bits < 64 else np.iinfo(np.int64).min
    negative = (bits & sign) != 0
    return np.where(negative, -(bits & ~sign), bits)


#: ``check.expect<provider>``: comparison functions of (actual, expected, format, attributes).
PROVIDERS: dict[str, Callable[[Array, Array, ElementFormat, Mapping[str, Any]], Failure | None]] = {
    "ulp": _ulp,
    "equal": lambda actual, expected, form, attributes: equal(actual, expected, form),
    "bitwise": lambda actual, expected, form, attributes: bitwise(actual, expected, form),
    "close": lambda actual, expected, form, attributes: close(
        actual,
        expected,
        form,
        float(attributes.get("atol", 0.0)),
        float(attributes.get("rtol", 0.0)),
        str(attributes.get("nan", "different")),
    ),
}
