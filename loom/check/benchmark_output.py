"""The benchmark documents: one snapshot, or JSON lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from loom.check.benchmark import BenchmarkRun, WorkItem

SCHEMA = "loom.benchmark.v0"


def _work_item(item: WorkItem, run: BenchmarkRun) -> dict[str, Any]:
    record: dict[str, Any] = {
        "work_item_index": item.index,
        "state": item.state,
        "policy": run.policy.to_json(),
        "sample_compilation": item.compilation,
        "sample": {"sample_ordinal": item.ordinal, "parameters": item.parameters},
        "launches": [launch.to_json() for launch in item.gate.launches] if item.gate is not None else [],
        "data_cache": item.data_cache,
    }
    if item.measurement is not None:
        measured = item.measurement.to_json(run.policy)
        record["measurement"] = measured
        record["timing_ns"] = measured["timing_ns"]
        record["stop_reason"] = measured["stop_reason"]
        record["timing_interpretation"] = measured["timing_interpretation"]
    if item.unavailable is not None:
        record["measurement"] = {"unavailable": item.unavailable}
        record["stop_reason"] = "unavailable"
    if item.gate is not None and item.gate.issues:
        record["failure"] = {"entry": item.gate.issues[0].to_json(), "issue_count": len(item.gate.issues)}
    elif item.failure is not None:
        record["failure"] = {"entry": item.failure.to_json(), "issue_count": 1}
    if item.profile is not None:
        record["profile_replay"] = item.profile.replay()
    evidence = _compiler_evidence(item)
    if evidence:
        record["compiler_evidence"] = evidence
    return record


def _compiler_evidence(item: WorkItem) -> dict[str, Any]:
    """Static counts of each kernel's code and counts of what its launches executed."""
    evidence: dict[str, Any] = {}
    if item.static_counts:
        evidence["static_instruction_counts"] = item.static_counts
    executed = [
        {"kernel": launch.kernel, **launch.counts}
        for launch in (item.gate.launches if item.gate is not None else [])
        if launch.counts is not None
    ]
    if executed:
        evidence["executed"] = executed
    return evidence


def _summary(run: BenchmarkRun) -> dict[str, Any]:
    states = [item.state for item in run.items]
    return {
        "module": run.module,
        "work_item_count": len(run.items),
        "measured_count": states.count("measured"),
        "unavailable_count": states.count("unavailable"),
        "failed_count": states.count("failed"),
        "skipped_count": len(run.skipped),
        "failure_count": len(run.failures),
        "dry_run": run.dry_run,
    }


def _benchmark_row(item: WorkItem) -> dict[str, Any]:
    return {
        "candidate_id": item.candidate_id,
        "benchmark": item.benchmark.name,
        "case": item.benchmark.case.name,
        "work_item_index": item.index,
    }


def snapshot(run: BenchmarkRun) -> dict[str, Any]:
    """The whole run as one document."""
    return {
        "schema": SCHEMA,
        "summary": _summary(run),
        "device": dict(run.device),
        "work_items": [_work_item(item, run) for item in run.items],
        "benchmarks": [_benchmark_row(item) for item in run.items],
        "compiles": run.compiles,
        "failed_samples": [
            {
                "benchmark": item.benchmark.name,
                "case": item.benchmark.case.name,
                "sample_ordinal": item.ordinal,
                "issues": [issue.to_json() for issue in item.gate.issues],
            }
            for item in run.items
            if item.gate is not None and item.gate.issues
        ],
        "skipped": run.skipped,
        "failures": [issue.to_json() for issue in run.failures],
        "repetitions": run.repetitions,
        "comparisons": run.comparisons,
        "profiles": [
            {"candidate_id": item.candidate_id, **launch}
            for item in run.items
            if item.profile
            for launch in item.profile.launches
        ],
    }


def rows(run: BenchmarkRun) -> Iterator[dict[str, Any]]:
    """The run as rows, each with the ``run_id`` and its kind: in ``row``, as the public tool does, and in ``kind``."""
    document = snapshot(run)
    identity = json.dumps([document["summary"], document["benchmarks"]], sort_keys=True)
    run_id = hashlib.sha256(identity.encode()).hexdigest()[:16]

    def row(kind: str, **content: Any) -> dict[str, Any]:
        return {"row": kind, "kind": kind, "run_id": run_id, **content}

    yield row("run", schema=SCHEMA, module=run.module)
    yield row("plan", work_item_count=len(run.items), policy=run.policy.to_json(), dry_run=run.dry_run)
    identity_row = {("device_kind" if key == "kind" else key): value for key, value in document["device"].items()}
    yield row("device", **identity_row)
    for entry in run.compiles:
        yield row("compile", **entry)
    for item, work in zip(run.items, document["work_items"], strict=True):
        common = item.identity
        passed = item.gate is not None and not item.gate.issues
        issues = [issue.to_json() for issue in item.gate.issues] if item.gate is not None else []
        yield row("sample", **common, case=item.benchmark.case.name, passed=passed, issues=issues)
        yield row("benchmark", **common, benchmark=item.benchmark.name, case=item.benchmark.case.name, **work)
    for repetition in run.repetitions:
        yield row("benchmark.repetition", **repetition)
    for comparison in run.comparisons:
        yield row("comparison", **comparison)
    for item in run.items:
        yield from (row(kind, **content) for kind, content in _profile_rows(item))
    for failure in document["failures"]:
        content = {key: value for key, value in failure.items() if key != "kind"}
        yield row("failure", issue_kind=failure["kind"], **content)
    yield row("summary", **document["summary"])


def _profile_rows(item: WorkItem) -> Iterator[tuple[str, dict[str, Any]]]:
    """One ``profile_replay`` row, then what it found: of each kind a row with its state, then a row an entry."""
    profile = item.profile
    if profile is None:
        return
    common = {
        **item.identity,
        "work_item_index": item.index,
        "benchmark": item.benchmark.name,
        "case": item.benchmark.case.name,
        "batch_size": profile.batch_size,
    }
    yield "profile_replay", {**common, "profile_replay": profile.replay()}
    for summary in profile.summaries():
        yield "profile_summary", {**common, "profile_summary": summary}
    for counter in profile.counters():
        yield "profile_counter", {**common, "counter": counter}


def jsonl(run: BenchmarkRun) -> str:
    """The rows as JSON lines."""
    return "".join(json.dumps(row, sort_keys=False) + "\n" for row in rows(run))
