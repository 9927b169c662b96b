"""Measuring: warm-up, batches, when to stop, and the statistics of what was seen.

Times are nanoseconds. A sample of the distribution is one batch divided by its size.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Policy:
    """How to measure.

    ``measure`` is ``case_end_to_end`` (inputs to the device, calls, results back) or ``dispatch_complete`` (launch
    until
    complete, without copies). ``iterations`` batches of ``batch_size`` repetitions are taken at least, until
    ``min_time_ms``
    have passed; up to ``max_batches`` batches are added while the 90th percentile exceeds the median by more than
    ``stable_ppm`` millionths (0: no such rule). ``ring_count`` sets of inputs are used in turn, 0 for as many as make
    up
    ``ring_min_bytes``.
    """

    measure: str = "case_end_to_end"
    iterations: int = 10
    warmup_iterations: int = 2
    batch_size: int = 1
    min_time_ms: float = 0.0
    warmup_time_ms: float = 0.0
    max_batches: int = 1000
    stable_ppm: int = 0
    ring_count: int = 0
    ring_min_bytes: int = 32 * 1024 * 1024

    def to_json(self) -> dict[str, Any]:
        """The policy as plain JSON values."""
        return {
            "measure": self.measure,
            "iterations": self.iterations,
            "warmup_iterations": self.warmup_iterations,
            "batch_size": self.batch_size,
            "min_time_ms": self.min_time_ms,
            "warmup_time_ms": self.warmup_time_ms,
            "max_batches": self.max_batches,
            "stable_p90_to_p50_ppm": self.stable_ppm,
            "input_ring_count": self.ring_count,
            "input_ring_min_bytes": self.ring_min_bytes,
        }


#: Input sets at most, however small one is.
LARGEST_RING = 256


def ring_size(policy: Policy, input_bytes: int) -> int:
    """Sets of inputs to cycle through, so that one repetition does not find the previous one's in a cache."""
    if policy.ring_count > 0:
        return policy.ring_count
    if input_bytes <= 0:
        return 1
    return max(1, min(LARGEST_RING, math.ceil(policy.ring_min_bytes / input_bytes)))


def percentile(ordered: Sequence[float], fraction: float) -> float:
    """Nearest-rank percentile of sorted values."""
    rank = max(1, math.ceil(fraction * len(ordered)))
    return ordered[rank - 1]


def statistics(values: Sequence[float]) -> dict[str, Any]:
    """Count, extremes, mean and percentiles of nanoseconds."""
    ordered = sorted(values)
    return {
        "count": len(ordered),
        "min": ordered[0],
        "max": ordered[-1],
        "mean": sum(ordered) / len(ordered),
        "p10": percentile(ordered, 0.1),
        "p50": percentile(ordered, 0.5),
        "p90": percentile(ordered, 0.9),
    }


@dataclass(slots=True)
class Measurement:
    """Batch times of one work item and why it ended."""

    batches: list[float] = field(default_factory=list)
    stop_reason: str = ""
    clock: str = "host_monotonic"

    def to_json(self, policy: Policy) -> dict[str, Any]:
        """Statistics a repetition; ``warnings`` tell what makes the figures doubtful."""
        timing = statistics(self.batches)
        return {
            "operation_timing_ns": timing,
            "timing_ns": timing,
            "stop_reason": self.stop_reason,
            "batch_count": len(self.batches),
            "clock": self.clock,
            "timing_interpretation": {"warnings": self.warnings(policy)},
        }

    def warnings(self, policy: Policy) -> list[str]:
        """Reasons to distrust the figures."""
        found: list[str] = []
        timing = statistics(self.batches)
        if len(self.batches) < 5:
            found.append(f"only {len(self.batches)} batches")
        if timing["p50"] * policy.batch_size < 1000:
            found.append("a batch takes less than a microsecond: raise --batch-size")
        if policy.stable_ppm and not is_stable(self.batches, policy.stable_ppm):
            found.append("p90 stayed above the stability limit")
        return found


def is_stable(batches: Sequence[float], ppm: int) -> bool:
    """Whether the 90th percentile is within ``ppm`` millionths of the median."""
    ordered = sorted(batches)
    median = percentile(ordered, 0.5)
    return percentile(ordered, 0.9) <= median * (1.0 + ppm / 1e6)


Repetition = Callable[[int], "int | None"]
"""Runs repetition number ``n``; returns the device's own nanoseconds for it, or None where the host's clock counts."""


class Sampler:
    """Takes batches of one work item; several samplers can be interleaved."""

    def __init__(self, policy: Policy, repetition: Repetition, now: Callable[[], int] = time.perf_counter_ns) -> None:
        self.policy = policy
        self.repetition = repetition
        self.now = now
        self.measurement = Measurement()
        self.number = 0
        self.spent = 0.0

    def warm_up(self) -> None:
        """Repetitions that do not count."""
        start = self.now()
        done = 0
        while done < self.policy.warmup_iterations or (self.now() - start) < self.policy.warmup_time_ms * 1e6:
            self.repetition(self.number)
            self.number += 1
            done += 1

    def take(self) -> None:
        """One batch."""
        device = 0
        counted = True
        start = self.now()
        for _ in range(self.policy.batch_size):
            nanoseconds = self.repetition(self.number)
            self.number += 1
            if nanoseconds is None:
                counted = False
            else:
                device += nanoseconds
        host = self.now() - start
        self.spent += host
        if counted:
            self.measurement.clock = "device_events"
        self.measurement.batches.append((device if counted else host) / self.policy.batch_size)

    def finished(self) -> bool:
        """Whether enough was seen; sets the stop reason."""
        batches, policy = self.measurement.batches, self.policy
        if len(batches) >= policy.max_batches:
            self.measurement.stop_reason = "max_batches"
        elif len(batches) < policy.iterations or self.spent < policy.min_time_ms * 1e6:
            return False
        elif policy.stable_ppm:
            if not is_stable(batches, policy.stable_ppm):
                return False
            self.measurement.stop_reason = "stable"
        else:
            self.measurement.stop_reason = "min_time" if policy.min_time_ms else "iterations"
        return True


def run_alone(sampler: Sampler) -> Measurement:
    """Measure one work item by itself."""
    sampler.warm_up()
    while not sampler.finished():
        sampler.take()
    return sampler.measurement


def interleave_order(pattern: str, count: int) -> list[int]:
    """The order of candidates in one round: letters A, B, … of a pattern, or each once for ``round_robin``.

    Raises ``ValueError`` for a letter without a candidate, or a candidate that the pattern leaves out.
    """
    if pattern == "round_robin":
        return list(range(count))
    order = [ord(letter) - ord("A") for letter in pattern.upper()]
    if not order or any(not 0 <= place < count for place in order):
        raise ValueError(f"pattern '{pattern}' does not fit {count} candidates")
    missing = set(range(count)) - set(order)
    if missing:
        raise ValueError(f"pattern '{pattern}' leaves out candidate {chr(ord('A') + min(missing))}")
    return order


def run_interleaved(samplers: Sequence[Sampler], pattern: str) -> list[Measurement]:
    """Measure candidates in turn, so that drift of clocks and temperature meets all alike; each until it is
    finished."""
    order = interleave_order(pattern, len(samplers))
    for sampler in samplers:
        sampler.warm_up()
    finished = [False] * len(samplers)
    while not all(finished):
        for place in order:
            samplers[place].take()
        finished = [sampler.finished() for sampler in samplers]
    return [sampler.measurement for sampler in samplers]


def compare(baseline: Measurement, candidate: Measurement) -> dict[str, float]:
    """Ratio of medians (candidate over baseline) and its inverse."""
    first = statistics(baseline.batches)["p50"]
    second = statistics(candidate.batches)["p50"]
    return {"ratio_p50": second / first if first else math.inf, "speedup_p50": first / second if second else math.inf}
