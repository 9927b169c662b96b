"""Measurement policy with a clock of its own: batches, stop reasons, rings, interleaving."""

from __future__ import annotations

import pytest

from loom.check.measure import (
    Measurement,
    Policy,
    Sampler,
    compare,
    interleave_order,
    is_stable,
    percentile,
    ring_size,
    run_alone,
    run_interleaved,
    statistics,
)


class Clock:
    """Time that passes only where told: ``costs`` gives the nanoseconds of each repetition."""

    def __init__(self, costs: list[int]) -> None:
        self.costs, self.time, self.log = costs, 0, []

    def now(self) -> int:
        return self.time

    def repetition(self, number: int) -> None:
        self.time += self.costs[number % len(self.costs)]
        self.log.append(number)


def measure(clock: Clock, **policy: object) -> Measurement:
    return run_alone(Sampler(Policy(**policy), clock.repetition, clock.now))  # type: ignore[arg-type]


def test_iterations_and_batches() -> None:
    clock = Clock([1000])
    result = measure(clock, iterations=5, warmup_iterations=3, batch_size=4)
    assert result.batches == [1000.0] * 5
    assert result.stop_reason == "iterations"
    assert len(clock.log) == 3 + 5 * 4


def test_minimum_time_and_warm_up_time() -> None:
    clock = Clock([500_000])
    result = measure(clock, iterations=1, warmup_iterations=0, min_time_ms=5.0, warmup_time_ms=2.0)
    assert (len(result.batches), result.stop_reason) == (10, "min_time")
    assert len(clock.log) == 14


def test_stability_rule_adds_batches() -> None:
    costs = [2000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000]
    result = measure(Clock(costs), iterations=3, warmup_iterations=0, stable_ppm=1000)
    assert result.stop_reason == "stable"
    assert len(result.batches) == 10  # nine of ten must be at the median
    noisy = measure(Clock([1000, 5000]), iterations=3, warmup_iterations=0, stable_ppm=1000, max_batches=20)
    assert (noisy.stop_reason, len(noisy.batches)) == ("max_batches", 20)
    assert "p90 stayed above the stability limit" in noisy.warnings(Policy(stable_ppm=1000))


def test_percentiles_are_nearest_rank() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    assert (percentile(values, 0.5), percentile(values, 0.9), percentile(values, 0.1)) == (5.0, 9.0, 1.0)
    assert statistics([3.0, 1.0, 2.0])["mean"] == 2.0
    assert is_stable([10.0] * 9 + [99.0], 0)
    assert not is_stable([10.0] * 8 + [99.0] * 2, 0)


@pytest.mark.parametrize(
    ("policy", "size", "expected"),
    [
        (Policy(ring_count=3), 10, 3),
        (Policy(ring_min_bytes=1000), 300, 4),
        (Policy(ring_min_bytes=1000), 5000, 1),
        (Policy(ring_min_bytes=1 << 30), 1, 256),
        (Policy(), 0, 1),
    ],
)
def test_ring(policy: Policy, size: int, expected: int) -> None:
    assert ring_size(policy, size) == expected


def test_interleaving_order() -> None:
    assert interleave_order("ABABA", 2) == [0, 1, 0, 1, 0]
    assert interleave_order("round_robin", 3) == [0, 1, 2]
    for pattern, count in (("ABC", 2), ("AAA", 2), ("", 1)):
        with pytest.raises(ValueError):
            interleave_order(pattern, count)


def test_interleaved_samplers_take_turns() -> None:
    log: list[str] = []
    clock = Clock([1])

    def repetition(name: str, cost: int) -> object:
        def run(number: int) -> None:
            log.append(name)
            clock.time += cost

        return run

    policy = Policy(iterations=4, warmup_iterations=1)
    samplers = [Sampler(policy, repetition(n, c), clock.now) for n, c in (("a", 100), ("b", 200))]  # type: ignore[arg-type]
    first, second = run_interleaved(samplers, "ABABA")
    assert "".join(log) == "ab" + "ababa" * 2
    assert (len(first.batches), len(second.batches)) == (6, 4)
    assert compare(first, second) == {"ratio_p50": 2.0, "speedup_p50": 0.5}


def test_device_durations_win_over_the_host_clock() -> None:
    clock = Clock([1000])

    def repetition(number: int) -> int:
        clock.time += 1000
        return 40

    result = run_alone(Sampler(Policy(iterations=2, batch_size=2), repetition, clock.now))
    assert (result.batches, result.clock) == ([40.0, 40.0], "device_events")
