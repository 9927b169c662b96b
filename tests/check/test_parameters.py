"""Parameter domains and the order of their product."""

from __future__ import annotations

import pytest

from loom.check.parameters import (
    ParameterError,
    assignment,
    assignments,
    choice,
    linear,
    powers_of_two,
    sample_count,
    seeds,
)


def test_the_first_parameter_varies_fastest() -> None:
    domains = [choice([1, 2, 3]), choice(["x", "y"])]
    assert [values for _, values in assignments(domains, 100)] == [
        [1, "x"], [2, "x"], [3, "x"], [1, "y"], [2, "y"], [3, "y"],
    ]  # fmt: skip
    assert assignment(domains, 4) == [2, "y"]


def test_no_parameters_make_one_sample() -> None:
    assert sample_count([]) == 1
    assert list(assignments([], 5)) == [(0, [])]


def test_the_product_is_capped() -> None:
    assert len(list(assignments([seeds(0, 1000), seeds(0, 1000)], 4096))) == 4096


def test_ranges() -> None:
    assert list(linear(1, 10, 4, False).values) == [1, 5, 9]
    assert list(linear(3, 5, None, False).values) == [3, 4, 5]
    assert list(linear(0.0, 1.0, 0.25, True).values) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert list(powers_of_two(3, 40).values) == [4, 8, 16, 32]
    assert list(seeds(-1, 3).values) == [-1, 0, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: choice([]),
        lambda: linear(2, 1, None, False),
        lambda: linear(0, 4, 0, False),
        lambda: linear(0.0, 1.0, None, True),
        lambda: powers_of_two(5, 7),
        lambda: seeds(0, 0),
    ],
)
def test_empty_domains_are_refused(make: object) -> None:
    with pytest.raises(ParameterError):
        make()  # type: ignore[operator]


def test_float_assignments_need_only_be_near() -> None:
    domain = linear(0.0, 1.0, 0.1, True)
    assert domain.find(0.30000000000000004) == pytest.approx(0.3)
    with pytest.raises(ParameterError):
        domain.find(0.35)


def test_long_ranges_cost_nothing() -> None:
    """More values than memory holds: they are counted, picked and found without being made."""
    floats = linear(0.0, 1e9, 1e-4, True)
    assert len(floats.values) == 10**13 + 1
    assert floats.values[25] == 25 * 1e-4
    assert list(floats.values[:3]) == [0.0, 1e-4, 2e-4]
    assert floats.values[-1] == pytest.approx(1e9)
    assert floats.find(123456.0) == pytest.approx(123456.0)
    integers = linear(-3, 10**12, 7, False)
    assert integers.find(4) == 4
    assert assignment([integers, floats], 2)[0] == 11
    for domain, absent in ((floats, 0.5e-4), (floats, -1e-4), (integers, 5), (integers, -10), (floats, float("inf"))):
        with pytest.raises(ParameterError, match="is not among its values"):
            domain.find(absent)
    with pytest.raises(ParameterError, match="more than"):
        linear(-(1 << 62), 1 << 62, 1, False)
    with pytest.raises(IndexError):
        floats.values[len(floats.values)]
