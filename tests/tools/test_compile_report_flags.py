"""``--compile-report`` and ``--compile-report-output`` of the commands that compile and run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
AXPY = CORPUS / "appendix" / "01_axpy.loom"
BUMP = CORPUS / "appendix" / "06_bump.loom"
PHASES = CORPUS / "checks" / "phases.loom"


def run(tool: str, *arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", f"loom.tools.{tool}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_the_test_command_writes_the_report_apart_from_its_document(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    flags = ("--device=amdgpu-sim", "--compile-report=summary", f"--compile-report-output={target}")
    code, stdout, _ = run("iree_test_loom", str(AXPY), *flags)
    assert code == 0
    assert json.loads(stdout)["sample_count"] == 4
    report = json.loads(target.read_text())
    assert report["function"] == "axpy"
    # The summary and the loom-compile command agree on the bytes of code.
    code, compiled, _ = run("loom_compile", str(AXPY), "--root=@axpy", "--compile-report=summary", "--compile-report-output=-", f"--output={tmp_path / 'a.hsaco'}")  # fmt: skip
    assert code == 0
    assert json.loads(compiled)["emission"]["code_byte_count"] == report["emission"]["code_byte_count"] > 0


def test_details_hold_rows_and_several_kernels_make_a_list(tmp_path: Path) -> None:
    target = tmp_path / "reports.json"
    flags = ("--device=amdgpu-sim", "--compile-report=details", f"--compile-report-output={target}")
    assert run("iree_test_loom", str(PHASES), "--case=@interleaved", *flags)[0] == 0
    reports: list[dict[str, Any]] = json.loads(target.read_text())
    assert [report["function"] for report in reports] == ["add", "double"]
    assert all(report["source_low"]["rows"] for report in reports)


def test_text_and_what_compiles_nothing() -> None:
    code, stdout, stderr = run("iree_test_loom", str(AXPY), "--device=amdgpu-sim", "--compile-report=text-summary")
    assert code == 0
    assert json.loads(stdout)["failed_sample_count"] == 0
    assert "axpy" in stderr
    code, stdout, stderr = run("iree_test_loom", str(AXPY), "--device=reference", "--compile-report=summary")
    assert code == 0
    assert "no compile report: nothing was compiled" in stderr
    assert run("iree_test_loom", str(AXPY), "--compile-report=all")[0] == 2


def test_the_run_command() -> None:
    arguments = ("--root=@bump", "--pipeline=none", "--kernel-input-buffer=64xi32=1", "--kernel-input-value=i32=9")
    flags = ("--device=amdgpu-sim", "--compile-report=summary", "--expected-kernel-buffer=64xi32=10")
    code, stdout, stderr = run("iree_run_loom", str(BUMP), *arguments, *flags)
    assert code == 0
    assert stdout.startswith("SUCCESS")
    report, _ = json.JSONDecoder().raw_decode(stderr[stderr.index("{") :])
    assert report["function"] == "bump"


def test_the_benchmark_command_puts_it_into_the_compile_row(tmp_path: Path) -> None:
    code, stdout, _ = run("iree_benchmark_loom", str(AXPY), "--device=amdgpu-sim", "--compile-report=summary")
    assert code == 0
    (row,) = json.loads(stdout)["compiles"]
    assert row["compile_report"]["function"] == "axpy"
    target = tmp_path / "report.txt"
    flags = ("--device=amdgpu-sim", "--compile-report=text-details", f"--compile-report-output={target}")
    assert run("iree_benchmark_loom", str(AXPY), *flags)[0] == 0
    assert "axpy" in target.read_text()


def test_a_report_does_not_share_stdout_with_a_document(tmp_path: Path) -> None:
    """Either would spoil the other; sent apart, both are there."""
    for tool in ("iree_test_loom", "iree_benchmark_loom"):
        flags = ("--device=amdgpu-sim", "--compile-report=summary", "--compile-report-output=-")
        code, stdout, stderr = run(tool, str(AXPY), *flags)
        assert code == 2 and "--output=FILE" in stderr
        json.loads(stdout)
        code, stdout, _ = run(tool, str(AXPY), *flags, f"--output={tmp_path / 'document.json'}")
        assert code == 0
        assert json.loads(stdout)["function"] == "axpy"
        assert json.loads((tmp_path / "document.json").read_text())["schema"].startswith("loom.")
