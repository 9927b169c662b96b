"""Profiling: the last batch is replayed once more, apart from what was timed, and the device's counts are kept.

Shapes and state words are those of the public tool's ``profile_replay``, ``profile_summary`` and ``profile_counter``
rows.
The simulator counts exactly what was executed. No device here gives hardware counters or dispatch timestamps under a
profiler: such a request is answered by ``unavailable`` and the reason, never by a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loom.check.executor import LaunchRecord
from loom.diagnostics import LoomError

#: Families of profiling data that can be asked for.
FAMILIES = (
    "queue-events", "host-execution", "device-queue-events", "dispatch-events", "memory-events", "device-metrics",
    "command-region-events", "counters", "counter-ranges", "executable-metadata", "executable-traces",
)  # fmt: skip

#: What is collected where no family is named.
DEFAULT_FAMILIES = ("dispatch-events", "executable-metadata")

_COUNTER_FAMILIES = frozenset({"counters", "counter-ranges"})

_NO_COUNTERS = {
    "host": "the reference interpreter runs on the host and counts nothing",
    "gpu": "hardware counters are not read through the HIP runtime",
}


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """Which data are asked for: families, and counters by name (empty: all that there are)."""

    families: tuple[str, ...] = DEFAULT_FAMILIES
    counters: tuple[str, ...] = ()

    @property
    def wants_counters(self) -> bool:
        """Whether counter values are asked for, by family or by name."""
        return bool(self.counters or _COUNTER_FAMILIES & set(self.families))

    def to_json(self) -> dict[str, Any]:
        """The request as plain JSON values."""
        record: dict[str, Any] = {"data_family_names": list(self.families)}
        if self.wants_counters:
            record["counter_set_count"] = 1 if self.counters else 0
            if self.counters:
                names = list(self.counters)
                record["counter_sets"] = [{"name": "requested", "counter_count": len(names), "counter_names": names}]
        return record


@dataclass(slots=True)
class Profile:
    """The replay of one work item and what came of it."""

    request: ProfileRequest
    batch_size: int
    executed: bool = False
    reason: str | None = None
    error: str | None = None
    launches: list[dict[str, Any]] = field(default_factory=list)

    def begin(self, identity: Mapping[str, Any]) -> bool:
        """Whether there is anything to replay for: only a device that counts."""
        self.reason = _NO_COUNTERS.get(str(identity.get("kind")))
        return self.reason is None

    def fail(self, failure: LoomError) -> None:
        """The replay itself failed."""
        diagnostic = failure.diagnostics[0]
        self.reason = self.error = f"{diagnostic.message} [{diagnostic.code}]"

    def finish(self, launches: Sequence[LaunchRecord]) -> None:
        """Take the counts of the replayed launches."""
        self.executed = True
        self.launches = [
            {"kernel": launch.kernel, "counters": flat_counters(launch.counts or {})} for launch in launches
        ]

    # --- documents ----------------------------------------------------------------------------------------------------

    def _state(self, kind: str, decoded: str, decoded_rows: Mapping[str, int]) -> dict[str, Any]:
        """What became of the request: ``decoded``, or ``unavailable`` with a word and a reason."""
        record: dict[str, Any] = {"type": kind, "request": self.request.to_json()}
        if self.executed:
            return {**record, "state": "decoded", "state_code": decoded, "decoded_rows": dict(decoded_rows)}
        code = "profile_error" if self.error is not None else "profile_not_executed"
        return {**record, "state": "unavailable", "state_code": code, "reason": self.reason}

    def replay(self) -> dict[str, Any]:
        """The replay: another execution than the timed one, so its figures explain and do not measure."""
        summary: dict[str, Any] = {
            "requested": True,
            "executed": self.executed,
            "data_family_names": list(self.request.families),
            "launch_count": len(self.launches),
        }
        if not self.executed:
            summary["unavailable"] = self.reason
        return {
            "measurement_relationship": "distinct_execution",
            "state": "executed" if self.executed else "unavailable",
            "summary": summary,
            "dispatch_timing": {"available": False, "reason": self.reason or "a simulator has no clock"},
            "warnings": ["dispatch_distribution_unavailable"],
        }

    def summaries(self) -> Iterator[dict[str, Any]]:
        """A state, then the totals of each kernel."""
        totals: dict[str, dict[str, int]] = {}
        for launch in self.launches:
            total = totals.setdefault(launch["kernel"], {"launch_count": 0})
            total["launch_count"] += 1
            for name in ("instructions", "useful_instructions", "waves"):
                total[name] = total.get(name, 0) + launch["counters"].get(name, 0)
        code = "decoded_profile_summary" if totals else "decoded_empty_profile_summary"
        yield self._state("profile_summary_state", code, {"total": len(totals), "summary": len(totals)})
        for kernel, total in totals.items():
            yield {"type": "summary", "source": "executed instruction counts", "kernel": kernel, **total}

    def counters(self) -> Iterator[dict[str, Any]]:
        """A state, then each counter of each kernel summed over the batch; counters that do not exist say so."""
        if not self.request.wants_counters and not self.executed:
            return
        totals: dict[tuple[str, str], int] = {}
        for launch in self.launches:
            for name, value in launch["counters"].items():
                if not self.request.counters or name in self.request.counters:
                    key = (launch["kernel"], name)
                    totals[key] = totals.get(key, 0) + value
        code = "decoded_counter_report" if totals else "decoded_empty_counter_report"
        yield self._state("counter_decode_state", code, {"total": len(totals), "counters": len(totals)})
        for (kernel, name), value in totals.items():
            yield {"type": "counter", "kernel": kernel, "name": name, "value": value}
        known = {name for _, name in totals}
        for name in self.request.counters:
            if name not in known:
                reason = self.reason or "the device has no counter of this name"
                yield {"type": "counter", "name": name, "state": "unavailable", "reason": reason}


def flat_counters(counts: Mapping[str, Any]) -> dict[str, int]:
    """Nested counts as ``group.name``: ``by_class.valu``, ``bytes_read.global.b32``."""
    flat: dict[str, int] = {}
    for name, value in counts.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}.{inner}": number for inner, number in value.items()})
        else:
            flat[name] = value
    return flat
