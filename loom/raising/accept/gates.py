"""The three gates of a workload: numerical, compiler, physical."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loom.ir import Module
from loom.raising.accept.source import low_uses, missing_checks
from loom.store.schema import validate
from loom.store.workload import Workload, refuse_foreign_identity


def _gate(status: str, reason: str) -> dict[str, str]:
    return {"status": status, "reason": reason}


def accept(
    workload: Workload,
    form: str | None,
    module: Module | None,
    comparison: Mapping[str, Any] | None,
    test: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Judge the last form of a workload; return an acceptance document.

    ``module`` is its source, ``comparison`` its comparison document, ``test`` what ``iree-test-loom`` printed
    (``loom.test.v0``).
    Raises ``WORKLOAD/004`` where the comparison belongs to another workload.
    """
    if comparison is not None:
        refuse_foreign_identity({"identity": workload.identity}, {"identity": comparison["identity"]}, "the comparison")
    missing = missing_checks(module, workload.shapes) if module is not None else []
    gates = {
        "numerical": _numerical(module, comparison, test, missing),
        "compiler": _compiler(module, comparison),
        "physical": _physical(comparison),
    }
    document = {
        "schema": "loom.acceptance.v0",
        "workload": workload.name,
        "identity": workload.identity,
        "form": form,
        "accepted": gates["numerical"]["status"] == "passed"
        and gates["compiler"]["status"] == "passed"
        and gates["physical"]["status"] != "failed",
        "gates": gates,
        "shapes": [
            {
                "name": shape.name,
                "kind": shape.kind,
                "case": shape.case,
                "benchmark": shape.benchmark,
                "status": _shape_status(shape.name, comparison, missing),
            }
            for shape in workload.shapes
        ],
        "executed": executed(comparison),
    }
    validate(document, "acceptance")
    return document


def executed(comparison: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Executed instructions of each shape, native against form."""
    return [
        {"shape": row["shape"], "native": row["native"], "form": row["form"]}
        for row in (comparison or {}).get("compiler", ())
        if row["metric"] == "executed instructions"
    ]


def _shape_status(name: str, comparison: Mapping[str, Any] | None, missing: list[str]) -> str:
    rows = {row["name"]: row for row in (comparison or {}).get("shapes", ())}
    row = rows.get(name)
    equal = row is not None and bool(row["outputs"]) and all(output["equal"] for output in row["outputs"].values())
    return "passed" if equal and not any(f"'{name}'" in text for text in missing) else "failed"


def _numerical(
    module: Module | None,
    comparison: Mapping[str, Any] | None,
    test: Mapping[str, Any] | None,
    missing: list[str],
) -> dict[str, str]:
    if comparison is None:
        return _gate("unavailable", "no form has been raised yet")
    if not comparison["numerically_equal"]:
        return _gate("failed", comparison["reason"])
    if module is None:
        return _gate("failed", "the source cannot be read")
    if missing:
        return _gate("failed", "; ".join(missing))
    if test is None:
        return _gate("unavailable", "the cases beside the source were not run")
    failed, samples = int(test["failed_sample_count"]), int(test["sample_count"])
    issues = int(test.get("planning_issue_count", 0))
    if failed or issues or not samples:
        return _gate("failed", f"{failed} of {samples} samples of its cases fail, {issues} planning issues")
    shapes = len(comparison["shapes"])
    return _gate("passed", f"{shapes} shapes equal the native kernel's results; {samples} samples of its cases pass")


def _compiler(module: Module | None, comparison: Mapping[str, Any] | None) -> dict[str, str]:
    if comparison is None:
        return _gate("unavailable", "no form has been raised yet")
    if comparison["class"] == "unavailable":
        return _gate("failed", comparison["reason"])
    if module is None:
        return _gate("failed", "the source cannot be read")
    uses = low_uses(module)
    if uses:
        first = uses[0]
        more = f" and {len(uses) - 1} more" if len(uses) > 1 else ""
        return _gate(
            "failed",
            f"the source holds {first.operation} (line {first.line}: {first.reason}){more}: a rung, not source",
        )
    scratch = [row for row in comparison["compiler"] if row["metric"] == "scratch" and row["form"]]
    if scratch:
        return _gate("failed", f"{scratch[0]['form']:g} bytes of scratch: registers spill")
    if comparison["class"] == "regression":
        return _gate("failed", "; ".join(question["text"] for question in comparison["questions"]))
    rows = [row for row in executed(comparison) if row["native"] and row["form"]]
    if not rows:
        return _gate("unavailable", "the device counts no instructions")
    worst = max(row["form"] / row["native"] for row in rows)
    return _gate("passed", f"executes at most {worst:.2f} times the native kernel's instructions; no low.*, no spill")


def _physical(comparison: Mapping[str, Any] | None) -> dict[str, str]:
    if comparison is None:
        return _gate("unavailable", "no form has been raised yet")
    physical = comparison["physical"]
    if physical["status"] != "measured":
        return _gate("unavailable", physical["reason"])
    ratio = physical["form_ns"] / physical["native_ns"]
    return _gate("passed" if ratio <= 1.05 else "failed", f"{ratio:.3f} times the native kernel's duration")
