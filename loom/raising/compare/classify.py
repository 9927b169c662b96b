"""The class of a form: identical, an alternative schedule, a semantic divergence, a regression, or unavailable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loom.raising.compare.evidence import METRICS, Evidence, Metric
from loom.raising.compare.numbers import compare_output
from loom.store.schema import validate
from loom.store.workload import Workload, refuse_foreign_identity

NO_CLOCK = "the device is a simulator: it counts what executes and has no clock"

_QUESTIONS = {
    "scheduling": "Why does the program execute {form:g} {unit} where the {other} one executes {base:g}?",
    "waits": "Which producer forces {form:g} waits where the {other} program needs {base:g}?",
    "memory_traffic": "Which accesses move {form:g} bytes where the {other} program moves {base:g}?",
    "allocation": "Which values live at once need {form:g} {unit}, where the {other} program needs {base:g}?",
}


@dataclass(frozen=True, slots=True)
class Policy:
    """How much worse compiler evidence may be before it counts as a regression: a factor on the base value."""

    tolerance: float = 1.10


def compare(
    workload: Workload,
    form: str,
    native: Evidence,
    candidate: Evidence | None,
    previous_name: str | None = None,
    previous: Evidence | None = None,
    policy: Policy | None = None,
    rejection: str = "",
) -> dict[str, Any]:
    """Compare a form's evidence with the native program's and the previous form's; return a comparison document.

    ``candidate`` is ``None`` where the form gave no program; ``rejection`` then says why. Raises ``WORKLOAD/004``
    (exit code 2) where evidence belongs to another workload.
    """
    for evidence, what in ((native, "native"), (candidate, form), (previous, previous_name or "")):
        if evidence is not None:
            refuse_foreign_identity(
                {"identity": workload.identity}, {"identity": evidence.identity}, f"{what} and {workload.name}"
            )
    base = {
        "schema": "loom.comparison.v0",
        "workload": workload.name,
        "identity": workload.identity,
        "form": form,
        "previous": previous_name,
    }
    if candidate is None:
        document: dict[str, Any] = {
            **base,
            "class": "unavailable",
            "reason": rejection or "the form gave no program",
            "bytes_equal": None,
            "numerically_equal": None,
            "shapes": [],
            "compiler": [],
            "physical": {"status": "unavailable", "reason": "the form gave no program"},
            "questions": [],
        }
        validate(document, "comparison")
        return document
    shapes = _shapes(workload, native, candidate)
    reason, equal = _agreement(shapes)
    native_code, own_code = native.resources.get("instructions"), candidate.resources.get("instructions")
    same_bytes = None if native_code is None or own_code is None else native_code == own_code
    rows, questions = _compiler_evidence(workload, native, candidate, previous, policy or Policy())
    if equal is None:
        kind = "unavailable"
    elif not equal:
        kind = "semantic_divergence"
    elif same_bytes:
        kind, reason = "identical", "the same instruction bytes"
    elif questions:
        kind, reason = "regression", f"results agree; {len(questions)} metrics are worse"
    else:
        kind, reason = "alternative_schedule", "another program with the same results"
    document = {
        **base,
        "class": kind,
        "reason": reason,
        "bytes_equal": same_bytes,
        "numerically_equal": equal,
        "shapes": shapes,
        "compiler": rows,
        "physical": _physical(workload, native, candidate),
        "questions": questions if kind == "regression" else [],
    }
    validate(document, "comparison")
    return document


def _shapes(workload: Workload, native: Evidence, candidate: Evidence) -> list[dict[str, Any]]:
    rows = []
    for shape in workload.shapes:
        row: dict[str, Any] = {
            "name": shape.name,
            "kind": shape.kind,
            "outcome": candidate.outcome(shape.name),
            "outputs": {},
        }
        if row["outcome"] == "faulted":
            row["fault"] = candidate.runs[shape.name]["fault"]
        if row["outcome"] == "completed" and native.outcome(shape.name) == "completed":
            for name, policy in workload.outputs.items():
                expected, actual = native.outputs[shape.name, name], candidate.outputs[shape.name, name]
                row["outputs"][name] = compare_output(shape.argument(name), policy, expected, actual)
        rows.append(row)
    return rows


def _agreement(shapes: list[dict[str, Any]]) -> tuple[str, bool | None]:
    """The first thing that differs, and whether nothing does; ``None`` where what ran agrees and not everything ran."""
    absent = ""
    for shape in shapes:
        if shape["outcome"] == "faulted":
            fault = shape["fault"]
            return f"shape '{shape['name']}' faults: {fault.get('kind')}: {fault.get('message')}", False
        if shape["outcome"] != "completed" or not shape["outputs"]:
            absent = absent or f"shape '{shape['name']}' was not run on both sides"
        for name, output in shape["outputs"].items():
            if not output["equal"]:
                first = output["first"][0] if output["first"] else None
                at = f", first at {first['index']}: {first['actual']} for {first['expected']}" if first else ""
                count = f"{output['mismatches']} of {output['elements']} elements"
                return f"shape '{shape['name']}': {count} of {name} differ{at}", False
    return absent, None if absent else True


def _compiler_evidence(
    workload: Workload, native: Evidence, candidate: Evidence, previous: Evidence | None, policy: Policy
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for metric in METRICS:
        places = [(s.name, s.kind) for s in workload.shapes] if metric.per_shape else [(None, "production")]
        for place, kind in places:
            mine = candidate.metric(metric.name, place)
            base = native.metric(metric.name, place)
            before = previous.metric(metric.name, place) if previous is not None else None
            if mine is None and base is None:
                continue
            verdict = "unknown"
            if mine is not None and base is not None:
                verdict = "equal" if mine == base else "better" if mine < base else "worse"
            rows.append(
                {
                    "metric": metric.name,
                    "unit": metric.unit,
                    "shape": place,
                    "native": base,
                    "previous": before,
                    "form": mine,
                    "verdict": verdict,
                }
            )
            worse_than_native = _worse(mine, base, metric, policy.tolerance)
            worse_than_previous = _worse(mine, before, metric, policy.tolerance)
            if metric.about and kind == "production" and (worse_than_native or worse_than_previous):
                other, value = ("native", base) if worse_than_native else ("previous", before)
                questions.append(_question(metric, place, mine, value, other))
    return rows, _first_of_each(questions)


def _worse(mine: float | None, base: float | None, metric: Metric, tolerance: float) -> bool:
    return mine is not None and base is not None and mine > max(base * tolerance, base + metric.slack)


def _question(metric: Metric, place: str | None, mine: float | None, base: float | None, other: str) -> dict[str, Any]:
    text = _QUESTIONS[metric.about].format(form=mine, base=base, unit=metric.unit, other=other)
    where = f" (shape '{place}')" if place else ""
    return {"about": metric.about, "metric": metric.name, "text": text + where}


def _first_of_each(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One question a metric: the first shape that raises it stands for the others."""
    kept: dict[str, dict[str, Any]] = {}
    for question in questions:
        kept.setdefault(question["metric"], question)
    return list(kept.values())


def _physical(workload: Workload, native: Evidence, candidate: Evidence) -> dict[str, Any]:
    shape = workload.shapes[0].name
    mine, base = candidate.runs.get(shape, {}).get("duration_ns"), native.runs.get(shape, {}).get("duration_ns")
    if mine is None or base is None:
        return {"status": "unavailable", "reason": NO_CLOCK}
    return {"status": "measured", "reason": f"shape '{shape}'", "native_ns": float(base), "form_ns": float(mine)}


def summary(document: Mapping[str, Any]) -> str:
    """One line for a terminal."""
    return f"{document['workload']} {document['form']}: {document['class']}" + (
        f" ({document['reason']})" if document["reason"] else ""
    )
