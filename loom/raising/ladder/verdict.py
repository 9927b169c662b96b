"""The verdict on everything that ran: a row for each rung of each workload, and a line for each that failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loom.diagnostics import LoomError
from loom.raising.ladder.stages import Ladder

PASSED, FAILED, UNAVAILABLE, DIFFERENT = "passed", "failed", "unavailable", "different"
#: A rung below the last form that is worse than the native kernel: a question, not a failure.
REGRESSION = "regression"


@dataclass(frozen=True, slots=True)
class Row:
    """One rung. ``executed`` is (native, form) of the first shape; ``bytes`` is ``different`` where another program
    is the aim.
    """

    workload: str
    rung: str
    raises: str
    bytes: str
    numerical: str
    compiler: str
    physical: str
    kind: str
    reason: str
    executed: tuple[float, float] | None

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {
            "workload": self.workload,
            "form": self.rung,
            "raises": self.raises,
            "bytes_equal": self.bytes,
            "numerically_equal": self.numerical,
            "compiler_evidence": self.compiler,
            "physical": self.physical,
            "class": self.kind,
            "reason": self.reason,
            "executed": {"native": self.executed[0], "form": self.executed[1]} if self.executed else None,
        }


_LOW_RAISES = {
    "oracle": "nothing: the same instructions as prepared Low",
    "relaxed_allocation": "register allocation",
    "relaxed_schedule": "instruction order, waits and hazards",
}


def rows_of(ladder: Ladder) -> list[Row]:
    """The rows of one workload, from the bottom rung up; a rung without a result is a failed one."""
    raises = {**_LOW_RAISES, **{form.name: form.raises for form in ladder.workload.forms}}
    rows = []
    for rung in ladder.rungs():
        try:
            comparison = ladder.results.read_stage(ladder.workload.name, "compare", rung)["comparison"]
        except LoomError:
            nothing = (UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE)
            name, reason = ladder.workload.name, "its stages did not finish"
            rows.append(Row(name, rung, raises[rung], *nothing, UNAVAILABLE, reason, None))
            continue
        last = bool(ladder.workload.forms) and rung == ladder.workload.forms[-1].name
        rows.append(_row(ladder.workload.name, rung, raises[rung], comparison, last))
    return rows


def _row(workload: str, rung: str, raises: str, comparison: Mapping[str, Any], last: bool) -> Row:
    same = comparison["bytes_equal"]
    wanted = rung == "oracle"
    bytes_equal = UNAVAILABLE if same is None else PASSED if same else FAILED if wanted else DIFFERENT
    equal = comparison["numerically_equal"]
    refused = comparison["class"] == "unavailable" and not comparison["shapes"]
    numerical = FAILED if equal is False or refused else PASSED if equal else UNAVAILABLE
    counted = [row for row in comparison["compiler"] if row["metric"] == "executed instructions"]
    known = [row for row in counted if row["native"] is not None and row["form"] is not None]
    compiler = UNAVAILABLE
    if comparison["class"] == "regression":
        compiler = FAILED if last else REGRESSION
    elif known:
        compiler = PASSED
    physical = comparison["physical"]
    measured = UNAVAILABLE
    if physical["status"] == "measured":
        measured = PASSED if physical["form_ns"] <= 1.05 * physical["native_ns"] else FAILED
    executed = (float(known[0]["native"]), float(known[0]["form"])) if known else None
    return Row(
        workload,
        rung,
        raises,
        bytes_equal,
        numerical,
        compiler,
        measured,
        comparison["class"],
        comparison["reason"],
        executed,
    )


def failures(rows: list[Row], acceptance: Mapping[str, Any] | None, workload: str) -> list[str]:
    """One line for each rung and gate that failed or has no result."""
    lines = []
    for row in rows:
        if row.kind == "unavailable":
            lines.append(f"{row.workload} {row.rung}: unavailable: {row.reason}")
        elif FAILED in (row.bytes, row.numerical, row.compiler, row.physical):
            lines.append(f"{row.workload} {row.rung}: {row.kind}: {row.reason or 'the instruction bytes differ'}")
    if acceptance is None:
        lines.append(f"{workload}: no acceptance: its stages did not finish")
    elif not acceptance["accepted"]:
        for name, gate in acceptance["gates"].items():
            if gate["status"] == FAILED or (gate["status"] == UNAVAILABLE and name != "physical"):
                lines.append(f"{workload} acceptance, {name}: {gate['status']}: {gate['reason']}")
    return lines
