"""The generators of the check language: fill, iota and random.uniform, bit for bit as documented."""

from __future__ import annotations

from typing import Any

import numpy as np

from loom.check.entropy import MASK, uniform_words
from loom.reference.formats import Array, ElementFormat, round_to


class GeneratorError(ValueError):
    """A generator whose parameters or elements do not fit the element type."""


def _signed_bounds(form: ElementFormat) -> tuple[int, int]:
    if form.name == "i1":
        return -1, 1
    return -(1 << (form.bits - 1)), (1 << (form.bits - 1)) - 1


def _check_range(value: int, form: ElementFormat, what: str) -> int:
    low, high = _signed_bounds(form)
    if not low <= value <= high:
        raise GeneratorError(f"{what} is {value}, outside of the signed range [{low}, {high}] of {form.name}")
    return value


def _integer(value: Any, form: ElementFormat, what: str) -> int:
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, int):
        raise GeneratorError(f"{what} of a tensor of {form.name} must be an integer, not {value}")
    return _check_range(value, form, what)


def _float_elements(values: Array, form: ElementFormat) -> Array:
    """float64 → the type; types narrower than f32 go through f32."""
    with np.errstate(all="ignore"):
        if form.bits < 32:
            return round_to(values.astype(np.float32), form)
        return round_to(values, form)


def fill(count: int, form: ElementFormat, value: Any) -> Array:
    """``count`` times ``value``. Raises :class:`GeneratorError` for an integer out of range or a float for integers."""
    if form.is_float:
        return np.repeat(_float_elements(np.array([float(value)]), form), count)
    number = _integer(value, form, "value")
    if form.name == "i1":
        return np.full(count, bool(number), np.bool_)
    return np.full(count, number, form.carrier)


def iota(count: int, form: ElementFormat, offset: Any, step: Any, period: int | None = None) -> Array:
    """Element i = offset + (i mod period) * step; integers exactly, floats in float64 and then rounded."""
    if period is not None and period <= 0:
        raise GeneratorError(f"period must be positive, not {period}")
    places = np.arange(count, dtype=np.int64)
    if period is not None:
        places %= period
    if form.is_float:
        return _float_elements(float(offset) + places.astype(np.float64) * float(step), form)
    start, stride = _integer(offset, form, "offset"), _integer(step, form, "step")
    last = min(count, period) - 1 if period is not None else count - 1
    if last >= 0:
        for place in (0, last):
            _check_range(start + place * stride, form, f"element {place}")
    with np.errstate(over="ignore"):
        values = np.int64(start) + places * np.int64(stride)
    return (values & 1).astype(np.bool_) if form.name == "i1" else values.astype(form.carrier)


def random_uniform(count: int, form: ElementFormat, seed: int, low: Any, high: Any) -> Array:
    """Uniform elements from the documented generator: integers inclusive of both bounds, floats in [low, high)."""
    words = uniform_words(seed & MASK, count)
    if form.is_float:
        unit = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return _float_elements(float(low) + unit * (float(high) - float(low)), form)
    first, last = _integer(low, form, "lower bound"), _integer(high, form, "upper bound")
    if last < first:
        raise GeneratorError(f"the upper bound {last} is below the lower bound {first}")
    span = last - first + 1
    if span > MASK:
        raise GeneratorError("the range has more than 2^64 - 1 values")
    picked = (words % np.uint64(span)) + np.uint64(first & MASK)
    values = picked.view(np.int64)
    return (values & 1).astype(np.bool_) if form.name == "i1" else values.astype(form.carrier)
