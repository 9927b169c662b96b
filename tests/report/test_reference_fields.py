"""Every field of a compile report that the language reference names is there and means what it says."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

import loom
from loom.report.show import render_text
from loom.report.suggest import suggest
from loom.target.amdgpu.compile import CompileOptions, compile_module
from loom.transform.target import resolve_target

#: The paths that section 4.5 of the reference lists, and the type each has in JSON.
SUMMARY_FIELDS = {
    "function": str,
    "lowered": bool,
    "target_export": str,
    "emission.code_byte_count": int,
    "static_instruction_mix.vector_alu_count": int,
    "static_instruction_mix.matrix_count": int,
    "static_instruction_mix.wmma_count": int,
    "static_instruction_mix.mfma_count": int,
    "allocation.spill_count": int,
    "allocation.spill_plan_count": int,
    "allocation.materialized_copy_count": int,
    "allocation.materialized_spill_store_count": int,
    "allocation.materialized_reload_count": int,
    "economics.memory.source_low": dict,
    "economics.memory.dispatch_issued": dict,
    "economics.memory.per_workitem_issued": dict,
    "target_resources.scalar.final.register_count": int,
    "target_resources.vector.final.register_count": int,
    "target_resources.scalar.scheduled_pressure.peak_live_units": int,
    "target_resources.vector.scheduled_pressure.peak_live_units": int,
    "memory.private_bytes": int,
    "entries.rows": list,
    "wait_reason_summary_rows": list,
}
TABLES = {
    "pressure_rows": list,
    "pressure_origin_rows": list,
    "allocation_high_water_rows": list,
    "spill_rows": list,
    "schedule_band_summary_rows": list,
    "wait_action_rows": list,
    "math_legalization": list,
    "target_legalization": list,
    "target_capability_rows": list,
    "source_low.rows": list,
    "source_low.memory_rows": list,
    "source_low.selection_summaries": list,
    "source_low.memory.strategies": list,
    "source_low.memory.arguments": list,
    "source_low.memory.roots": list,
    "source_low.memory.argument_packets": list,
}

#: Twenty vectors of 16 words live across a barrier: 320 vector registers are not there.
CROWDED = 20


def source() -> str:
    loads = "\n".join(
        f"  %at{k} = index.constant {16 * k} : index\n"
        f"  %v{k} = vector.load %in[%item, %at{k}] : view<64x320xf32, align(16)> -> vector<16xf32>"
        for k in range(CROWDED)
    )
    stores = "\n".join(
        f"  vector.store %v{k}, %out[%item, %at{k}] : vector<16xf32>, view<64x320xf32, align(16)>"
        for k in range(CROWDED)
    )
    return f"""kernel.def @crowded() {{
  %one = index.constant 1 : index
  %size = index.constant 64 : index
  %groups = index.constant 3 : index
  kernel.launch.config workgroups(%groups, %one, %one) workgroup_size(%size, %one, %one) : index
}} launch(%n: i32, %wide: i64, %source: buffer, %target: buffer, %sums: buffer) {{
  %item = kernel.workitem.id<x> : index
  %origin = index.constant 0 : offset
  %in = buffer.view %source[%origin] : buffer -> view<64x320xf32, align(16)>
  %out = buffer.view %target[%origin] : buffer -> view<64x320xf32, align(16)>
  %scalars = buffer.view %sums[%origin] : buffer -> view<64xf32>
  %longs = buffer.view %sums[%origin] : buffer -> view<64xi64>
{loads}
  kernel.barrier<global> scope(workgroup) ordering(acq_rel)
{stores}
  %x = view.load %scalars[%item] : view<64xf32> -> f32
  %e = scalar.expf %x : f32
  %f = scalar.expf<afn> %e : f32
  %q = scalar.divf %f, %x : f32
  view.store %q, %scalars[%item] : f32, view<64xf32>
  %c = scalar.constant 1000003 : i32
  %lane = index.cast %item : index to i32
  %m = scalar.addi %n, %lane : i32
  %d = scalar.divui %m, %c : i32
  %dw = scalar.extui %d : i32 to i64
  %p = scalar.muli %dw, %wide : i64
  view.store %p, %longs[%item] : i64, view<64xi64>
  kernel.return
}}
"""


@functools.cache
def report() -> dict[str, Any]:
    """The detailed report, as a reader of its JSON sees it."""
    options = CompileOptions(target=resolve_target("amdgpu", "gfx1100"), report=True, check=True)
    compilation = compile_module(loom.parse(source(), "crowded.loom"), options)
    document: dict[str, Any] = json.loads(json.dumps(compilation.report))
    return document


def at(document: Any, path: str) -> Any:
    for name in path.split("."):
        document = document[name]
    return document


def line_of(text: str) -> int:
    return next(k for k, line in enumerate(source().split("\n"), 1) if text in line)


@pytest.mark.parametrize("path", [*SUMMARY_FIELDS, *TABLES])
def test_the_field_is_there(path: str) -> None:
    expected = {**SUMMARY_FIELDS, **TABLES}[path]
    found = at(report(), path)
    assert type(found) is expected
    if expected in (list, dict):
        # The kernel is made so that every table has a row.
        assert found
    if path != "entries.rows":
        assert at(report()["entries"]["rows"][0], path) == found


def test_math_rows_say_how_exact_a_function_is() -> None:
    rows = {(r["op"], r["location"]["line"]): r for r in report()["math_legalization"]}
    exact = rows["scalar.expf", line_of("%e = scalar.expf")]
    fast = rows["scalar.expf", line_of("%f = scalar.expf")]
    assert exact["strategy"] == "single-precision sequence within 1 ULP" and exact["flags"] == []
    assert fast["strategy"] == "hardware approximation" and fast["flags"] == ["afn"]
    # v_exp_f32 takes a power of two: one product in front of it.
    assert fast["low_count"] == 2 < exact["low_count"]
    assert rows["scalar.divf", line_of("%q =")]["strategy"] == "correctly rounded sequence"


def test_target_rows_say_what_became_of_ops_without_an_instruction() -> None:
    rows = {r["op"]: r for r in report()["target_legalization"]}
    assert rows["scalar.divui"]["strategy"] == "division by a constant: multiply and shift"
    assert rows["scalar.divui"]["location"] == {"file": "crowded.loom", "line": line_of("%d ="), "column": 3}
    assert rows["scalar.muli"]["strategy"] == "pairs of 32-bit words"
    assert "scalar.addi" not in rows


def test_live_and_spilled_values_lead_to_the_source() -> None:
    document = report()
    assert document["allocation"]["spill_count"] > 0
    spills = document["spill_rows"]
    assert len(spills) == document["allocation"]["spill_plan_count"]
    for row in [*spills, *document["pressure_origin_rows"]]:
        assert row["op"], row
        assert row["location"]["file"] == "crowded.loom" and row["location"]["line"] > 0
    loads = {line_of(f"%v{k} = "): f"v{k}" for k in range(CROWDED)}
    vectors = [r for r in document["pressure_origin_rows"] if r["class"] == "vgpr" and r["op"] == "global_load_b128"]
    assert len(vectors) > 8
    assert all(loads[r["location"]["line"]] in r["value"] for r in vectors)
    marks = {r["class"]: r for r in document["allocation_high_water_rows"]}
    # The final count comes from the machine program, the mark from the allocator.
    assert marks["vgpr"]["register_count"] == document["target_resources"]["vector"]["final"]["register_count"] <= 256
    assert marks["vgpr"]["highest"][0]["op"]


def test_memory_is_told_by_strategy_argument_and_root() -> None:
    memory = report()["source_low"]["memory"]
    strategies = {(s["space"], s["kind"], s["bits"]): s for s in memory["strategies"]}
    # 20 vectors of 64 bytes are 80 packets of 16 bytes.
    assert strategies["global", "load", 128]["count"] == strategies["global", "store", 128]["count"] == 80
    assert strategies["global", "store", 128]["bytes"] == 80 * 16
    arguments = {a["name"]: a for a in memory["arguments"]}
    # Bindings come first, 8 bytes each, then direct arguments (docs/contracts.md).
    assert [(a["offset"], a["size"]) for a in memory["arguments"]] == [(0, 8), (8, 8), (16, 8), (24, 4), (28, 8)]
    assert arguments["source"]["bytes"] == {"load": 1280}
    assert arguments["target"]["bytes"] == {"store": 1280}
    assert arguments["sums"]["bytes"] == {"load": 4, "store": 12}
    roots = {(r["space"], r["root"]): r for r in memory["roots"]}
    assert roots["global", "sums"]["packets"] == 3
    assert roots["constant", "kernarg"]["argument"] is None
    packets = memory["argument_packets"]
    assert sorted(name for p in packets for name in p["arguments"]) == sorted(arguments)
    assert sum(p["bytes"] for p in packets) == roots["constant", "kernarg"]["bytes"]["load"]


def test_selections_count_source_ops() -> None:
    selections = {s["source_op"]: s for s in report()["source_low"]["selection_summaries"]}
    assert selections["vector.load"]["count"] == CROWDED
    # Four packets each, and what the addresses need.
    assert selections["vector.load"]["low_count"] >= 4 * CROWDED
    assert selections["kernel.barrier"]["count"] == 1


def test_the_dispatch_is_the_workitems_times_the_bytes_of_one() -> None:
    memory = report()["economics"]["memory"]
    one, all_ = memory["per_workitem_issued"], memory["dispatch_issued"]
    # Three groups of 64 lanes, which are two waves each; scalar loads count once a wave.
    for key, number in one.items():
        assert all_[key] == number * (6 if key.startswith("constant") else 192)


ROWS = """kernel.def @k() {{
  %one = index.constant 1 : index
  %size = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%size, %one, %one) : index
}} launch(%n: index, %m: index, %b: buffer) {{
  %item = kernel.workitem.id<x> : index
  %origin = index.constant 0 : offset
  {rows}
  %v = buffer.view %b[%origin] : buffer -> view<[%k]xf32>
  %at = index.madd %m, %k, %item : index
  %x = view.load %v[%at] : view<[%k]xf32> -> f32
  %y = scalar.divf{flags} %x, %x : f32
  view.store %y, %v[%at] : f32, view<[%k]xf32>
  kernel.return
}}
"""


def rules_of(rows: str, flags: str) -> dict[str, str]:
    text = ROWS.format(rows=rows, flags=flags)
    made = compile_module(loom.parse(text, "rows.loom"), CompileOptions(report=True, check=True))
    return {s.rule: s.evidence for s in suggest(json.loads(json.dumps(made.report)))}


def test_suggestions_rest_on_the_legalization_rows() -> None:
    found = rules_of("%k = index.assume %n [min(%n, 1)] : index", "")
    assert "scalar.divf accurately" in found["exact-math"]
    assert "at line 10" in found["wide-indices"]
    narrow = "%k, %m2 = index.assume %n, %m [range(%n, 1, 1000), range(%m, 0, 1000)] : index, index"
    better = rules_of(narrow, "<afn>")
    assert "exact-math" not in better
    # %m itself is still unbounded in the product; bounding it is what the suggestion asks for.
    assert "wide-indices" in better
    text = ROWS.replace("%m, %k, %item", "%m2, %k, %item").format(rows=narrow, flags="<afn>")
    made = compile_module(loom.parse(text, "rows.loom"), CompileOptions(report=True, check=True))
    assert {"exact-math", "wide-indices"}.isdisjoint(s.rule for s in suggest(json.loads(json.dumps(made.report))))


def test_the_text_shows_the_new_tables() -> None:
    text = render_text(report(), details=True)
    for title in ("math legalization", "target legalization", "memory by root", "spills"):
        assert f"\n  {title}\n" in text
