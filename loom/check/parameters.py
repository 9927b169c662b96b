"""Parameters of a case: their values, and the order of the cartesian product."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

#: Values of one parameter at most; only as many samples run as ``--max-samples-per-case`` allows.
MOST_VALUES = 1 << 48


class ParameterError(ValueError):
    """A parameter without values, or a benchmark value outside a parameter's domain."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of one parameter. ``tolerance`` is how near a float assignment must come to one of them."""

    values: Sequence[Any]
    tolerance: float = 0.0

    def find(self, value: Any) -> Any:
        """The domain's value that ``value`` means. Raises :class:`ParameterError` where there is none."""
        for candidate in self._near(value):
            same_kind = isinstance(candidate, bool) == isinstance(value, bool)
            if same_kind and (candidate == value or abs(candidate - value) <= self.tolerance):
                return candidate
        raise ParameterError(f"{value} is not among its values ({preview(self.values)})")

    def _near(self, value: Any) -> Sequence[Any]:
        """The values that may be meant: of a range, which may be long, only those around it."""
        if isinstance(value, bool) or not isinstance(self.values, range | Steps):
            return self.values
        low, step = self.values[0], self.values[1] - self.values[0] if len(self.values) > 1 else 1
        place = round((value - low) / step) if math.isfinite(value) else 0
        return [self.values[n] for n in (place - 1, place, place + 1) if 0 <= n < len(self.values)]


@dataclass(frozen=True, slots=True)
class Steps(Sequence[float]):
    """The values low, low + step, … of a float range, computed when asked for: there may be more than memory holds."""

    low: float
    step: float
    size: int

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> list[float]: ...
    def __getitem__(self, place: int | slice) -> float | list[float]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(self.size))]
        if not -self.size <= place < self.size:
            raise IndexError(place)
        return self.low + (place % self.size) * self.step


def preview(values: Sequence[Any], limit: int = 8) -> str:
    """The first few values as text."""
    shown = ", ".join(str(value) for value in values[:limit])
    return shown + (f", … ({len(values)} values)" if len(values) > limit else "")


def choice(values: Sequence[Any]) -> Domain:
    """The listed values in order."""
    if not values:
        raise ParameterError("a choice needs at least one value")
    tolerance = 1e-12 if any(isinstance(value, float) for value in values) else 0.0
    return Domain(tuple(values), tolerance)


def seeds(base: int, count: int) -> Domain:
    """base, base + 1, … (``count`` of them)."""
    if count <= 0:
        raise ParameterError(f"a seed parameter needs a positive count, not {count}")
    return Domain(range(base, base + count))


def linear(low: Any, high: Any, step: Any, is_float: bool) -> Domain:
    """low, low + step, … up to and with high; integers step by one by default, floats need a step."""
    if step is None:
        if is_float:
            raise ParameterError("a float range needs step(…)")
        step = 1
    if not step > 0:
        raise ParameterError(f"the step must be positive, not {step}")
    if high < low:
        raise ParameterError(f"the range {low} to {high} is empty")
    count = math.floor((high - low) / step) + 1 if is_float else (high - low) // step + 1
    if count > MOST_VALUES:
        raise ParameterError(f"the range {low} to {high} has {count} values, more than {MOST_VALUES}")
    if not is_float:
        return Domain(range(low, high + 1, step))
    return Domain(Steps(low, step, count), 1e-9 * step + 1e-12)


def powers_of_two(low: int, high: int) -> Domain:
    """The powers of two in [low, high]."""
    values = [1 << i for i in range(63) if low <= 1 << i <= high]
    if not values:
        raise ParameterError(f"no power of two lies in {low} to {high}")
    return Domain(tuple(values))


def sample_count(domains: Sequence[Domain]) -> int:
    """Size of the product; one without parameters."""
    return math.prod(len(domain.values) for domain in domains)


def assignment(domains: Sequence[Domain], ordinal: int) -> list[Any]:
    """Values of sample ``ordinal``: the first parameter varies fastest."""
    chosen: list[Any] = []
    for domain in domains:
        ordinal, place = divmod(ordinal, len(domain.values))
        chosen.append(domain.values[place])
    return chosen


def assignments(domains: Sequence[Domain], limit: int) -> Iterator[tuple[int, list[Any]]]:
    """The first ``limit`` samples as (ordinal, values)."""
    for ordinal in range(min(sample_count(domains), limit)):
        yield ordinal, assignment(domains, ordinal)
