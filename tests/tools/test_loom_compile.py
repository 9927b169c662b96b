"""``loom-compile`` and ``loom-compile-report`` as commands."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from loom.target.amdgpu.code_object import read
from loom.tools.common import run_tool
from loom.tools.loom_compile import run as compile_run
from loom.tools.loom_compile_report import run as report_run

BUMP = """amdgpu.target<gfx11-generic> @gfx11 {subgroup_size = 32}

low.kernel.def target<amdgpu.gfx11.generic.core>(@gfx11) export("bump") workgroup_size(64, 1, 1) @bump(%bias: reg<amdgpu.sgpr>) asm {
  %lane = live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %words = resource<hal_binding> {index = 0, source_type = hal.buffer, extent = 256} : reg<amdgpu.sgpr x2>
  %address = v_lshlrev_b32_src0_inline %lane, 2
  %before = global_load_b32_saddr %address, %words
  %after = v_add_u32 %bias, %before
  global_store_b32_saddr %address, %after, %words
  return
}
"""

SOURCE = """kernel.def export("fill") @fill(%n: index) {
  %one = index.constant 1 : index
  %lanes = index.constant 32 : index
  kernel.launch.config workgroups(%n, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%data: buffer) {
  %i = kernel.workitem.dispatch.id<x> : index
  %count = index.constant 1024 : index
  %origin = index.constant 0 : offset
  %view = buffer.view %data[%origin] : buffer -> view<[%count]xf32>
  %v = scalar.constant 1.5 : f32
  view.store %v, %view[%i] : f32, view<[%count]xf32>
  kernel.return
}
"""


@pytest.fixture
def bump(tmp_path: Path) -> Path:
    path = tmp_path / "bump.loom"
    path.write_text(BUMP)
    return path


def test_prepared_low_becomes_a_generic_code_object(bump: Path, tmp_path: Path) -> None:
    out, manifest = tmp_path / "bump.hsaco", tmp_path / "manifest.json"
    arguments = [
        str(bump),
        "--pipeline=none",
        f"--output={out}",
        "--verify",
        "--artifact-manifest=summary",
        f"--emit-artifact-manifest={manifest}",
    ]
    assert run_tool(compile_run, arguments) == 0
    code_object = read(out.read_bytes())
    kernel = code_object.kernel("bump")
    assert code_object.processor == "gfx11-generic"
    assert out.read_bytes()[8] == 4  # EI_ABIVERSION of code object V6, which generic targets need
    assert kernel.workgroup_size == (64, 1, 1)
    assert [(a.offset, a.size, a.kind) for a in kernel.arguments] == [(0, 8, "global_buffer"), (8, 4, "by_value")]
    # s_load_b128 s[0:3], s[0:1], null as LLVM encodes it.
    assert kernel.code[:8] == struct.pack("<II", 0xF4080000, 0xF8000000)
    document = json.loads(manifest.read_text())
    entry = document["kernels"][0]
    assert entry["added_by_emitter"]["waits"] == 2 and entry["added_by_emitter"]["abi"] == 1
    assert entry["kernarg"]["size"] == 16


def test_a_source_kernel_needs_the_pipeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fill.loom"
    path.write_text(SOURCE)
    assert run_tool(compile_run, [str(path), "--pipeline=none", f"--output={tmp_path / 'x'}"]) == 2
    assert "fill.loom:1:1" in capsys.readouterr().err
    assert run_tool(compile_run, [str(path), f"--output={tmp_path / 'x'}", "--verify"]) == 0
    assert read((tmp_path / "x").read_bytes()).kernel().name == "fill"


def test_an_op_that_is_not_prepared_is_named_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.loom"
    path.write_text(BUMP.replace("  return\n", "  low.scf.if %lane {\n  }\n  return\n"))
    assert run_tool(compile_run, [str(path), "--pipeline=none", f"--output={tmp_path / 'x'}"]) == 2
    assert "bad.loom:10:" in capsys.readouterr().err


def test_an_unknown_kernel_lists_nothing_to_compile(
    bump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tool(compile_run, [str(bump), "--pipeline=none", "--root=@nope", f"--output={tmp_path / 'x'}"]) == 2
    assert "nope" in capsys.readouterr().err


def test_reports_are_written_shown_and_compared(bump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, again = tmp_path / "a.json", tmp_path / "b.json"
    for path in (report, again):
        assert (
            run_tool(
                compile_run,
                [
                    str(bump),
                    "--pipeline=none",
                    f"--output={tmp_path / 'x'}",
                    "--compile-report=details",
                    f"--compile-report-output={path}",
                ],
            )
            == 0
        )
    assert run_tool(report_run, ["show", str(report)]) == 0
    assert "kernel bump" in capsys.readouterr().out
    assert run_tool(report_run, ["diff", str(report), str(again)]) == 0
    assert capsys.readouterr().out == "no difference\n"
    worse = json.loads(again.read_text())
    worse["entries"]["rows"][0]["emission"]["instruction_count"] += 5
    again.write_text(json.dumps(worse))
    assert run_tool(report_run, ["diff", str(report), str(again), "--format=json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["changes"][0]["question"] == "scheduling" and document["worse"] is True
    worse["identity"]["target"] = "gfx1200"
    again.write_text(json.dumps(worse))
    assert run_tool(report_run, ["diff", str(report), str(again)]) == 2
    assert run_tool(report_run, ["diff", str(report), str(again), "--force"]) == 1
    assert run_tool(report_run, ["suggest", str(report)]) == 0


@pytest.mark.parametrize("mode", ["summary", "text-summary", "text-details"])
def test_every_report_form_can_be_written(bump: Path, tmp_path: Path, mode: str) -> None:
    path = tmp_path / "report"
    assert (
        run_tool(
            compile_run,
            [
                str(bump),
                "--pipeline=none",
                f"--output={tmp_path / 'x'}",
                f"--compile-report={mode}",
                f"--compile-report-output={path}",
            ],
        )
        == 0
    )
    text = path.read_text()
    assert ("bump" in text) and (text.startswith("{") == (mode == "summary"))


def test_modules_are_shown_before_and_after_a_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fill.loom"
    path.write_text(SOURCE)
    assert (
        run_tool(compile_run, [str(path), f"--output={tmp_path / 'x'}", "--dump-before=simplify", "--dump-after=hoist"])
        == 0
    )
    err = capsys.readouterr().err
    assert "before:simplify" in err and "after:hoist" in err and "view.store" in err


def test_the_listing_names_source_lines(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "fill.loom"
    path.write_text(SOURCE)
    assert run_tool(compile_run, [str(path), "--format=listing"]) == 0
    out = capsysbinary.readouterr().out.decode()
    assert "fill.loom:11" in out and "global_store_b32" in out
