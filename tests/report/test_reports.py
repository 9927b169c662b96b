"""Compile reports: what they count, how they are compared, what they suggest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import loom
from loom.diagnostics import LoomError
from loom.report.diff import diff_reports, render_diff
from loom.report.read import parse_report, require_same_identity
from loom.report.show import render_listing, render_text
from loom.report.suggest import suggest
from loom.report.summary import TABLES, summary_of
from loom.target.amdgpu.compile import CompileOptions, compile_module

KERNEL = """amdgpu.target<gfx1100> @t
low.kernel.def target<amdgpu.rdna3.core>(@t) export("k") workgroup_size(64, 1, 1) workgroup_count(10, 1, 1) @k(%n: reg<amdgpu.sgpr>) {
  %id = low.live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %src = low.resource<hal_binding> {index = 0, source_type = hal.buffer} : reg<amdgpu.sgpr x2>
  %off = low.op<amdgpu.v_lshlrev_b32>(%id) {src0 = 4} : (reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  %q = low.op<amdgpu.global_load_b128>(%off, %src) : (reg<amdgpu.vgpr>, reg<amdgpu.sgpr x2>) -> reg<amdgpu.vgpr x4>
  %a = low.slice %q[0] : reg<amdgpu.vgpr x4> -> reg<amdgpu.vgpr>
  %b = low.slice %q[3] : reg<amdgpu.vgpr x4> -> reg<amdgpu.vgpr>
  %e = low.op<amdgpu.v_exp_f32>(%a) : (reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  %r = low.op<amdgpu.v_add_f32>(%n, %e) : (reg<amdgpu.sgpr>, reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  %s = low.op<amdgpu.v_add_f32>(%r, %b) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  low.op<amdgpu.global_store_b32>(%off, %s, %src) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>, reg<amdgpu.sgpr x2>)
  low.return
}
"""


def report_of(text: str, details: bool = True) -> dict[str, Any]:
    """The report of a compile without passes, as a reader of its JSON sees it."""
    module = loom.parse(text, "kernel.loom")
    options = CompileOptions(pipeline="none", report=details, check=True)
    document: dict[str, Any] = json.loads(json.dumps(compile_module(module, options).report))
    return document


def test_counts_and_bytes_are_those_of_the_kernel() -> None:
    report = report_of(KERNEL)
    mix = report["static_instruction_mix"]
    # v_lshlrev, two v_add; v_exp; s_load_b64 for the binding and s_load_b32 for %n are one s_load_b128; a load and a store.
    assert mix["vector_alu_count"] == 3
    assert mix["transcendental_count"] == 1
    assert mix["scalar_memory_count"] == 1
    assert mix["vector_memory_count"] == 2
    assert mix["total_count"] == sum(
        v
        for k, v in mix.items()
        if k
        not in (
            "total_count",
            "dual_issue_count",
            "wmma_count",
            "mfma_count",
            "dot_count",
            "barrier_count",
            "atomic_count",
        )
    )
    memory = report["economics"]["memory"]
    assert memory["per_workitem_issued"] == {"constant.load": 16, "global.load": 16, "global.store": 4}
    # 640 work-items move 16 and 4 bytes; 20 waves of 32 lanes load 16 bytes of arguments.
    assert memory["dispatch_issued"] == {"constant.load": 320, "global.load": 10240, "global.store": 2560}
    assert memory["source_low"] == {"global.load": 16, "global.store": 4}
    assert report["memory"] == {"private_bytes": 0, "workgroup_bytes": 0, "kernarg_bytes": 16}


def test_waits_name_their_producers_and_places() -> None:
    report = report_of(KERNEL)
    reasons = {(r["counter"], r["producer"]): r["count"] for r in report["wait_reason_summary_rows"]}
    assert reasons == {("lgkmcnt", "s_load_b128"): 1, ("vmcnt", "global_load_b128"): 1}
    row = next(r for r in report["wait_action_rows"] if "vmcnt" in r["counters"])
    assert row["before"] == "v_exp_f32"
    assert row["causes"][0]["location"]["line"] == 6


def test_delays_and_barriers_are_no_waits() -> None:
    barrier = "  low.op<amdgpu.s_barrier>() : ()\n  low.return"
    mix = report_of(KERNEL.replace("  low.return", barrier))["static_instruction_mix"]
    assert mix["barrier_count"] == 1
    parts = [
        v for k, v in mix.items() if k not in ("total_count", "wmma_count", "mfma_count", "dot_count", "atomic_count")
    ]
    assert sum(parts) == mix["total_count"]
    assert mix["hint_count"] > 0


def test_residency_and_registers() -> None:
    report = report_of(KERNEL)
    assert report["residency"]["waves"] == 16
    resources = report["target_resources"]
    assert resources["vector"]["final"]["register_count"] == 5
    assert resources["vector"]["scheduled_pressure"]["peak_live_units"] == 5


CHAIN = """amdgpu.target<gfx1100> @t
low.kernel.def target<amdgpu.rdna3.core>(@t) export("k") workgroup_size(32, 1, 1) @k() {
  %id = low.live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %dst = low.resource<hal_binding> {index = 0, source_type = hal.buffer} : reg<amdgpu.sgpr x2>
  %a = low.op<amdgpu.v_lshlrev_b32>(%id) {src0 = 2} : (reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  %b = low.op<amdgpu.v_and_b32>(%a) {src0 = 60} : (reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  %c = low.op<amdgpu.v_or_b32>(%b) {src0 = 4} : (reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  low.op<amdgpu.global_store_b32>(%c, %c, %dst) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>, reg<amdgpu.sgpr x2>)
  low.return
}
"""


def test_a_chain_of_instructions_needs_one_register() -> None:
    """Each result may take the register whose last reader makes it, so one lives at a time."""
    vector = report_of(CHAIN)["target_resources"]["vector"]
    assert vector["final"]["register_count"] == 1
    assert vector["scheduled_pressure"]["peak_live_units"] == 1


RAISED = sorted((Path(__file__).parents[2] / "workloads").glob("*/raised/*.loom"))


@pytest.mark.parametrize("path", RAISED, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_no_more_registers_live_than_there_are(path: Path) -> None:
    report = compile_module(loom.parse(path.read_text(), path.name), CompileOptions(report=True)).report
    assert report is not None
    for bank in ("vector", "scalar"):
        resources = report["target_resources"][bank]
        assert 0 < resources["scheduled_pressure"]["peak_live_units"] <= resources["final"]["register_count"]
    for row in report["allocation_high_water_rows"]:
        assert row["fragmentation"] >= 0
        blocks = [r["peak_live_units"] for r in report["pressure_rows"] if r["class"] == row["class"]]
        assert row["peak_live_units"] == max(blocks)


def test_rows_lead_from_the_source_to_instructions() -> None:
    rows = {row["line"]: row for row in report_of(KERNEL)["source_low"]["rows"]}
    assert rows[9]["mnemonics"] == {"v_exp_f32": 1}
    assert rows[6]["machine_count"] == 1


def test_the_summary_is_the_report_without_tables() -> None:
    report = report_of(KERNEL)
    short = summary_of(report)
    assert not set(TABLES) & set(short)
    assert short["static_instruction_mix"] == report["static_instruction_mix"]
    assert "listing" not in report_of(KERNEL, details=False)


def test_text_and_listing_name_kernel_and_source() -> None:
    report = report_of(KERNEL)
    text = render_text(report, details=True)
    assert "kernel k" in text and "source to Low" in text and "kernel.loom:6" in text
    listing = render_listing(report)
    assert "// kernel.loom:6" in listing and "global_load_b128" in listing


def test_a_report_does_not_differ_from_itself() -> None:
    report = report_of(KERNEL)
    assert diff_reports(report, report) == []
    assert render_diff([]) == "no difference\n"


def test_differences_raise_their_question() -> None:
    narrow = KERNEL.replace("global_load_b128", "global_load_b64").replace("x4", "x2").replace("%q[3]", "%q[1]")
    changes = {c.metric: c for c in diff_reports(report_of(KERNEL), report_of(narrow))}
    moved = changes["bytes global.load"]
    assert (moved.before, moved.after, moved.question, moved.worse) == (16, 8, "memory traffic", False)
    assert changes["VGPRs"].question == "allocation"
    assert changes["VGPRs"].after < changes["VGPRs"].before


def test_reports_of_different_things_are_compared_only_by_force() -> None:
    report, other = report_of(KERNEL), report_of(KERNEL.replace("workgroup_size(64", "workgroup_size(128"))
    with pytest.raises(LoomError) as caught:
        require_same_identity(report, other, force=False)
    assert caught.value.diagnostics[0].code == "REPORT/003"
    assert "workgroup_size" in caught.value.diagnostics[0].message
    assert len(require_same_identity(report, other, force=True)) == 1


@pytest.mark.parametrize(
    ("text", "code"), [("{", "REPORT/001"), ('{"schema": "x"}', "REPORT/002"), ("[]", "REPORT/002")]
)
def test_what_is_no_report_is_refused(text: str, code: str) -> None:
    with pytest.raises(LoomError) as caught:
        parse_report(text, "file")
    assert caught.value.diagnostics[0].code == code


def test_waits_for_the_pipeline_are_no_waits_for_memory() -> None:
    text = KERNEL.replace(
        "  low.return",
        "".join("  low.op<amdgpu.s_waitcnt_depctr>() {simm16 = 65534} : ()\n" for _ in range(5)) + "  low.return",
    )
    plain, padded = report_of(KERNEL), report_of(text)
    mix = padded["static_instruction_mix"]
    assert mix["hazard_count"] == plain["static_instruction_mix"]["hazard_count"] + 5
    assert mix["wait_count"] == plain["static_instruction_mix"]["wait_count"]
    assert "waits" not in {s.rule for s in suggest(padded)}
    changes = {c.metric: c for c in diff_reports(plain, padded)}
    assert "waits" not in changes
    assert changes["waits for the pipeline"].worse and changes["waits for the pipeline"].question == "scheduling"


def test_narrow_accesses_are_pointed_out() -> None:
    loads = "".join(
        f"  %l{n} = low.op<amdgpu.global_load_b32>(%off, %src) {{offset = {64 * n}}} : (reg<amdgpu.vgpr>, reg<amdgpu.sgpr x2>) -> reg<amdgpu.vgpr>\n"
        f"  low.op<amdgpu.global_store_b32>(%off, %l{n}, %src) {{offset = {64 * n + 2048}}} : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>, reg<amdgpu.sgpr x2>)\n"
        for n in range(5)
    )
    text = KERNEL.replace("  low.return", loads + "  low.return")
    rules = {s.rule: s for s in suggest(report_of(text))}
    assert rules["narrow-access"].question == "memory traffic"
    assert "narrow-access" not in {s.rule for s in suggest(report_of(KERNEL))}
