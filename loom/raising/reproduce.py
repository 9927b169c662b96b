"""Re-execute a record from the store and hold the result against what it recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from loom.diagnostics import ExitCode, error
from loom.raising.ladder.step import InputFile, execute, python_command, tool_module
from loom.store.actions import Store
from loom.store.canonical import sha256
from loom.store.records import Record
from loom.store.source_hash import source_hash

#: A time may leave the recorded spread by this factor before it counts as different: clocks and frequencies drift.
_SPREAD_SLACK = 1.25


@dataclass(slots=True)
class Reproduction:
    """What a second execution gave. ``differing`` maps a file name to (recorded, now), ``None`` for a file that is
    absent.
    """

    record: Record
    exit_code: int
    same_tool: bool
    matching: list[str] = field(default_factory=list)
    differing: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def reproduced(self) -> bool:
        """Whether the exit code and every output are what the record says."""
        return not self.differing and self.exit_code == self.record.deterministic["exit_code"]

    def to_json(self) -> dict[str, Any]:
        """The reproduction as JSON values."""
        return {
            "record": self.record.id,
            "command": list(self.record.deterministic["command"]),
            "reproduced": self.reproduced,
            "same_tool": self.same_tool,
            "exit_code": {"recorded": self.record.deterministic["exit_code"], "now": self.exit_code},
            "matching": self.matching,
            "differing": {name: {"recorded": old, "now": new} for name, (old, new) in self.differing.items()},
            "notes": self.notes,
        }


def reproduce(store: Store, name: str) -> Reproduction:
    """Run a record's command again on its stored inputs.

    Outputs are compared bit for bit, or for a measurement by its times within the recorded spread. Raises
    ``STORE/00x`` where the record or an input is absent or damaged, and ``REPRODUCE/001`` (exit code 3) where the
    command cannot run here.
    """
    record = store.records.get(name)
    facts = record.deterministic
    command = tuple(facts["command"])
    inputs = {
        file: InputFile(store.blobs.get(item["blob"]), item["blob"], item.get("origin", ""))
        for file, item in record.observed["inputs"].items()
    }
    configuration = facts["configuration"]
    same_tool = source_hash(tool_module(command)) == facts["tool"]["source_hash"]
    every = frozenset(range(-64, 256))
    code, produced, stderr = execute(
        python_command(command), inputs, tuple(configuration["outputs"]), configuration["stdout"] or None, every
    )
    if code == int(ExitCode.UNAVAILABLE):
        last = stderr.strip().splitlines()[-1:] or [""]
        raise error(f"cannot run here: {last[0]}", "REPRODUCE/001", exit_code=ExitCode.UNAVAILABLE)
    result = Reproduction(record, code, same_tool)
    if not same_tool:
        result.notes.append("the tool's sources are not those of the record")
    recorded = facts["outputs"]
    for file in sorted({*recorded, *produced}):
        old, new = recorded.get(file), sha256(produced[file]) if file in produced else None
        if old == new:
            result.matching.append(file)
        elif facts.get("reproduces") == "within_spread" and old is not None and new is not None:
            _judge_spread(result, file, store.blobs.get(old), produced[file])
        else:
            result.differing[file] = (old, new)
    return result


def _judge_spread(result: Reproduction, file: str, old: bytes, new: bytes) -> None:
    """Compare the times of two measurements."""
    then, now = _times(json.loads(old)), _times(json.loads(new))
    for place in sorted({*then, *now}):
        low, high = then.get(place, (0.0, 0.0))
        time = now.get(place, (0.0, 0.0))[0]
        if place not in then or place not in now or not low / _SPREAD_SLACK <= time <= high * _SPREAD_SLACK:
            result.differing[file] = (sha256(old), sha256(new))
            result.notes.append(f"{place}: {time:g} ns now, recorded {low:g} to {high:g} ns")
    if file not in result.differing:
        result.matching.append(file)


def _times(document: Any) -> dict[str, tuple[float, float]]:
    """Work item → (p50, p90) of its operation time in nanoseconds."""
    times = {}
    for item in document.get("work_items", ()):
        timing = (item.get("measurement") or {}).get("operation_timing_ns") or item.get("timing_ns") or {}
        if "p50" in timing:
            low = float(timing.get("min", timing["p50"]))
            times[f"work item {item.get('work_item_index')}"] = (low, float(timing.get("p90", timing["p50"])))
    return times
