"""Build a packet from a ladder whose form diverges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loom.diagnostics import LoomError
from loom.raising.ladder.step import Step, by_bytes, by_meaning
from loom.raising.reduce.minimize import count_operations
from loom.report.show import render_listing
from loom.store.schema import validate

if TYPE_CHECKING:
    from loom.raising.ladder.stages import Ladder

#: Lines of a listing that a packet holds.
_LISTING_LINES = 400


def build_packet(ladder: Ladder, rung: str, comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return the packet document of a form that diverges or that the compiler rejects."""
    from loom.raising.ladder.stages import compile_command

    form = ladder.workload.form(rung)
    store = ladder.results.store
    raised = ladder.results.read_stage(ladder.workload.name, "raise", rung)
    source = store.blobs.get(raised["files"]["source.loom"])
    minimal = _reduce(ladder, rung, source)
    values = _values(comparison)
    passing = _last_passing(ladder, rung)
    packet = {
        "schema": "loom.packet.v0",
        "workload": ladder.workload.name,
        "identity": ladder.workload.identity,
        "form": rung,
        "module": {
            "blob": store.blobs.put(minimal),
            "operations": _operations(minimal),
            "reduced_from": _operations(source),
        },
        "command": list(compile_command(form, ladder.workload)),
        "values": values,
        "references": {
            "oracle": ladder.stage_files("oracle", None)["oracle.loom"],
            "last_passing_form": passing,
            "last_passing": _source_of(ladder, passing),
        },
        "evidence": _evidence(ladder, rung, minimal, raised, comparison),
    }
    validate(packet, "packet")
    return packet


def _operations(text: bytes) -> int:
    try:
        return count_operations(text.decode("utf-8"))
    except (LoomError, UnicodeDecodeError):
        return 0


def _reduce(ladder: Ladder, rung: str, source: bytes) -> bytes:
    """The minimized source, or the source itself where reduction finds nothing to hold on to."""
    form = ladder.workload.form(rung)
    inputs = {
        "form.loom": by_meaning(source, form.source),
        "workload.yaml": ladder.workload_file(form),
        **ladder.evidence("native", "native"),
    }
    command = (
        "loom-raise",
        "reduce",
        "form.loom",
        "--workload=workload.yaml",
        f"--form={rung}",
        "--native=native",
        f"--device={ladder.config.device}",
        "--output=minimal.loom",
    )
    step = Step("packet", "reduce", command, inputs, ("minimal.loom",), answers=frozenset({0, 1, 2}), form=rung)
    result = ladder.run_step(step)
    if "minimal.loom" in result.outputs:
        return ladder.results.store.blobs.get(result.outputs["minimal.loom"])
    return source


def _values(comparison: Mapping[str, Any]) -> dict[str, Any]:
    for shape in comparison["shapes"]:
        if shape["outcome"] == "faulted":
            return {"shape": shape["name"], "output": None, "reason": comparison["reason"], "first": [shape["fault"]]}
        for name, output in shape["outputs"].items():
            if not output["equal"]:
                return {
                    "shape": shape["name"],
                    "output": name,
                    "reason": comparison["reason"],
                    "first": output["first"],
                }
    return {"shape": None, "output": None, "reason": comparison["reason"], "first": []}


def _last_passing(ladder: Ladder, rung: str) -> str | None:
    """The rung nearest below this one whose results agree with the native kernel's."""
    rungs = ladder.rungs()
    for name in reversed(rungs[: rungs.index(rung)]):
        try:
            comparison = ladder.results.read_stage(ladder.workload.name, "compare", name)["comparison"]
        except LoomError:
            continue
        if comparison["numerically_equal"]:
            return name
    return None


def _source_of(ladder: Ladder, rung: str | None) -> str | None:
    if rung is None:
        return None
    from loom.raising.ladder.rungs import LOW_RUNGS

    if rung in LOW_RUNGS:
        return ladder.stage_files("oracle" if rung == "oracle" else "relaxed", None)[f"{rung}.loom"]
    return ladder.stage_files("raise", rung)["source.loom"]


def _evidence(
    ladder: Ladder, rung: str, minimal: bytes, raised: Mapping[str, Any], comparison: Mapping[str, Any]
) -> dict[str, Any]:
    """The smallest thing that shows it: the diagnostic of a rejection, the fault, or the listing of the minimized
    module.
    """
    store = ladder.results.store
    if raised.get("rejected"):
        text = str(raised["rejected"]) + "\n"
        return {"kind": "diagnostic", "name": "rejection.txt", "blob": store.blobs.put(text.encode())}
    for shape in comparison["shapes"]:
        if shape["outcome"] == "faulted":
            text = json.dumps(shape["fault"], indent=1, sort_keys=True) + "\n"
            return {"kind": "fault", "name": "fault.json", "blob": store.blobs.put(text.encode())}
    form = ladder.workload.form(rung)
    compiled = ladder.run_step(
        Step(
            "packet",
            "compile_minimal",
            (
                "loom-compile",
                "minimal.loom",
                "--format=amdgpu-hsaco",
                f"--target={ladder.workload.target}",
                "--pipeline=default",
                f"--root={form.root}",
                "--output=minimal.hsaco",
                "--compile-report=details",
                "--compile-report-output=minimal.report.json",
            ),
            {"minimal.loom": by_bytes(minimal, "minimal.loom")},
            ("minimal.hsaco", "minimal.report.json"),
            answers=frozenset({0, 2}),
            form=rung,
        )
    )
    if compiled.exit_code:
        return {"kind": "diagnostic", "name": "rejection.txt", "blob": store.blobs.put(compiled.message.encode())}
    report = json.loads(store.blobs.get(compiled.outputs["minimal.report.json"]))
    lines = render_listing(report).splitlines(keepends=True)[:_LISTING_LINES]
    return {"kind": "listing", "name": "minimal.s", "blob": store.blobs.put("".join(lines).encode())}
