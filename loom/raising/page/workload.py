"""The page of one workload: ladder, listings, charts, errors, provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from loom.diagnostics import LoomError
from loom.raising.ladder.rungs import LOW_RUNGS
from loom.raising.ladder.stages import Ladder
from loom.raising.ladder.verdict import Row
from loom.raising.page.charts import grouped_bars, histogram, number
from loom.raising.page.listings import code_lines, low_lines, native_lines, source_lines

#: Stages of a workload, and those of each form, in the order of the ladder.
_STAGES = ("capture", "oracle", "relaxed", "accept")
_FORM_STAGES = ("raise", "compare", "benchmark", "packet")

_RESOURCES = ("vector registers", "scalar registers", "local memory", "scratch", "code")


def workload_page(ladder: Ladder, rows: list[Row], acceptance: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the template needs."""
    from loom.raising.page.build import gate_entries, row_entry

    workload = ladder.workload
    shape = workload.shapes[0].name
    comparisons = {rung: _comparison(ladder, rung) for rung in ladder.rungs()}
    native_run = _json_file(ladder, "capture", None, "native/run.json")
    native_text = _text_file(ladder, "capture", None, "capture/listing.s")
    oracle_text = _text_file(ladder, "oracle", None, "oracle.loom")
    return {
        "workload": workload.document,
        "kernel": workload.kernel,
        "identity": workload.identity,
        "shape": shape,
        "rows": [row_entry(row, False) for row in rows],
        "accepted": bool(acceptance and acceptance["accepted"]),
        "gates": gate_entries(acceptance) if acceptance else [],
        "packets": [packet for packet in (_packet(ladder, form.name) for form in workload.forms) if packet],
        "native_lines": native_lines(native_text),
        "low_lines": low_lines(oracle_text),
        "forms": [_form(ladder, form.name) for form in workload.forms],
        "charts": _charts(ladder, shape, native_run),
        "metrics": _metrics(workload.forms, comparisons),
        "questions": [
            f"{rung}: {question['text']}"
            for rung, comparison in comparisons.items()
            if comparison
            for question in comparison["questions"]
        ],
        "errors": _errors(workload.forms, comparisons, shape),
        "readme": _readme(ladder),
        "native_hash": _hash(ladder),
        "device_text": _device_text(native_run),
        "records": _records(ladder),
    }


def _stage(ladder: Ladder, stage: str, form: str | None) -> dict[str, Any] | None:
    try:
        return ladder.results.read_stage(ladder.workload.name, stage, form)
    except LoomError:
        return None


def _comparison(ladder: Ladder, rung: str) -> dict[str, Any] | None:
    document = _stage(ladder, "compare", rung)
    return document["comparison"] if document else None


def _bytes_file(ladder: Ladder, stage: str, form: str | None, name: str) -> bytes | None:
    document = _stage(ladder, stage, form)
    digest = document["files"].get(name) if document else None
    return ladder.results.store.blobs.get(digest) if digest else None


def _text_file(ladder: Ladder, stage: str, form: str | None, name: str) -> str:
    data = _bytes_file(ladder, stage, form, name)
    return data.decode("utf-8", "replace") if data is not None else ""


def _json_file(ladder: Ladder, stage: str, form: str | None, name: str) -> dict[str, Any]:
    data = _bytes_file(ladder, stage, form, name)
    document = json.loads(data) if data is not None else {}
    return document if isinstance(document, dict) else {}


def _form(ladder: Ladder, name: str) -> dict[str, Any]:
    lines, used = code_lines(_json_file(ladder, "raise", name, "form.report.json"))
    return {
        "name": name,
        "source_lines": source_lines(_text_file(ladder, "raise", name, "source.loom"), used),
        "code_lines": lines,
    }


def _counts(run: Mapping[str, Any], shape: str) -> Mapping[str, Any]:
    for item in run.get("runs", ()):
        if item["shape"] == shape:
            counts: Mapping[str, Any] = item.get("counts") or {}
            return counts
    return {}


def _charts(ladder: Ladder, shape: str, native_run: Mapping[str, Any]) -> list[str]:
    names = ["native"]
    runs = [_counts(native_run, shape)]
    resources = [_json_file(ladder, "capture", None, "native/resources.json")]
    for form in ladder.workload.forms:
        run = _json_file(ladder, "raise", form.name, "form/run.json")
        if run:
            names.append(form.name)
            runs.append(_counts(run, shape))
            resources.append(_json_file(ladder, "raise", form.name, "form/resources.json"))
    classes = sorted({key for counts in runs for key in counts.get("by_class", {})})
    traffic = sorted(
        {f"{way} {key}" for counts in runs for way in ("read", "written") for key in counts.get(f"bytes_{way}", {})}
    )
    charts = [
        grouped_bars(
            ["all", "useful", *classes],
            [
                (
                    name,
                    [
                        counts.get("instructions"),
                        counts.get("useful_instructions"),
                        *(counts.get("by_class", {}).get(key, 0) for key in classes),
                    ],
                )
                for name, counts in zip(names, runs, strict=True)
            ],
            "executed instructions by class",
        )
    ]
    if traffic:
        charts.append(
            grouped_bars(
                traffic,
                [
                    (name, [counts.get(f"bytes_{k.split(' ')[0]}", {}).get(k.split(" ", 1)[1], 0) for k in traffic])
                    for name, counts in zip(names, runs, strict=True)
                ],
                "bytes moved, by direction, space and width",
            )
        )
    charts.append(
        grouped_bars(
            _RESOURCES,
            [(name, [entry.get(key) for key in _RESOURCES]) for name, entry in zip(names, resources, strict=True)],
            "resources and code size",
        )
    )
    return charts


def _metrics(forms: Any, comparisons: Mapping[str, Any]) -> list[dict[str, Any]]:
    table: dict[tuple[str, str | None], dict[str, Any]] = {}
    for form in forms:
        for row in (comparisons.get(form.name) or {}).get("compiler", ()):
            entry = table.setdefault((row["metric"], row["shape"]), {"native": row["native"], "cells": {}})
            entry["cells"][form.name] = row
    rows = []
    for (metric, shape), entry in table.items():
        cells = []
        for form in forms:
            row = entry["cells"].get(form.name)
            value = "–" if row is None or row["form"] is None else number(row["form"])
            cells.append({"value": value, "verdict": row["verdict"] if row else "unknown"})
        native = "–" if entry["native"] is None else number(entry["native"])
        rows.append({"metric": metric, "shape": shape or "", "native": native, "cells": cells})
    return rows


def _errors(forms: Any, comparisons: Mapping[str, Any], shape: str) -> list[str]:
    charts = []
    for form in forms:
        for row in (comparisons.get(form.name) or {}).get("shapes", ()):
            if row["name"] != shape:
                continue
            for name, output in row["outputs"].items():
                bins = [(item["ulps"], item["elements"]) for item in output["histogram"]]
                largest = output["largest_error"]
                error = f", largest error {largest:.3g}" if largest is not None else ""
                charts.append(histogram(bins, f"{form.name}: {name}, {output['elements']:,} elements{error}"))
    return charts


def _packet(ladder: Ladder, name: str) -> dict[str, Any] | None:
    document = _stage(ladder, "packet", name)
    packet = document["packet"] if document else None
    if packet is None:
        return None
    blobs = ladder.results.store.blobs
    return {
        "name": name,
        "reason": packet["values"]["reason"],
        "before": packet["module"]["reduced_from"],
        "after": packet["module"]["operations"],
        "module": blobs.get(packet["module"]["blob"]).decode("utf-8", "replace"),
        "evidence_name": packet["evidence"]["name"],
        "evidence": blobs.get(packet["evidence"]["blob"]).decode("utf-8", "replace"),
        "command": " ".join(packet["command"]),
    }


def _readme(ladder: Ladder) -> str:
    path = ladder.workload.folder / "README.md"
    if not path.is_file():
        return ""
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(path.read_text(encoding="utf-8")))


def _hash(ladder: Ladder) -> str:
    document = _stage(ladder, "capture", None)
    return str(document["files"].get("native.hsaco", "")) if document else ""


def _device_text(run: Mapping[str, Any]) -> str:
    device = run.get("device") or {}
    return ", ".join(f"{key}: {value}" for key, value in device.items() if isinstance(value, (str, int))) or "–"


def _records(ladder: Ladder) -> list[dict[str, str]]:
    rows = []
    places: list[tuple[str, str | None]] = [(stage, None) for stage in _STAGES]
    for rung in ladder.rungs():
        stages = [stage for stage in _FORM_STAGES if rung not in LOW_RUNGS or stage == "compare"]
        places.extend((stage, rung) for stage in stages)
    for stage, form in places:
        document = _stage(ladder, stage, form)
        for step, digest in (document or {}).get("records", {}).items():
            rows.append({"stage": stage, "form": form or "", "step": step, "id": digest})
    return rows
