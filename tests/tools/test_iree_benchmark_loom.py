"""The command line of ``iree-benchmark-loom``: gates, documents, comparisons, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

AXPY = Path(__file__).resolve().parents[1] / "corpus" / "appendix" / "01_axpy.loom"
FAST = ("--iterations=5", "--input-ring-min-bytes=0")


def run_raw(*arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "loom.tools.iree_benchmark_loom", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def run(*arguments: str) -> tuple[int, dict[str, Any], str]:
    code, stdout, stderr = run_raw(*arguments)
    return code, json.loads(stdout), stderr


def test_host_times_are_labelled() -> None:
    code, document, stderr = run(str(AXPY), "--device=reference", *FAST)
    assert code == 0
    assert document["device"]["timing"] == "host"
    (item,) = document["work_items"]
    assert (item["state"], item["stop_reason"]) == ("measured", "iterations")
    assert item["measurement"]["clock"] == "host_monotonic"
    assert item["timing_ns"]["count"] == 5
    assert (
        0 < item["timing_ns"]["min"] <= item["timing_ns"]["p50"] <= item["timing_ns"]["p90"] <= item["timing_ns"]["max"]
    )
    assert item["sample"]["parameters"] == {"count": 300}
    launch = item["launches"][0]
    assert launch["workload"] == [300]
    assert launch["launch_config"] == {"workgroup_count": [3, 1, 1], "workgroup_size": [128, 1, 1]}
    assert document["benchmarks"][0]["benchmark"] == "axpy_tail"
    assert "host time" in stderr


def test_dispatch_complete() -> None:
    code, document, _ = run(str(AXPY), "--device=reference", "--measure=dispatch_complete", *FAST)
    assert code == 0
    assert document["work_items"][0]["policy"]["measure"] == "dispatch_complete"
    assert document["work_items"][0]["measurement"]["clock"] == "host_monotonic"


def test_a_failing_gate_is_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "wrong.loom"
    path.write_text(AXPY.read_text().replace("value(3.25)", "value(3.5)"))
    code, document, _ = run(str(path), "--device=reference", *FAST)
    assert code == 1
    (item,) = document["work_items"]
    assert item["state"] == "failed"
    assert "timing_ns" not in item
    assert item["failure"]["entry"]["code"] == "CHECK/040"
    assert document["failed_samples"][0]["sample_ordinal"] == 0
    assert document["summary"]["failed_count"] == 1


def test_unassigned_parameters_keep_their_expansion(tmp_path: Path) -> None:
    path = tmp_path / "all.loom"
    path.write_text(AXPY.read_text().replace(" @axpy_tail {count = 300}", ""))
    code, document, _ = run(str(path), "--device=reference", *FAST)
    assert code == 0
    assert [b["benchmark"] for b in document["benchmarks"]] == ["axpy"] * 4
    assert [i["sample"]["parameters"]["count"] for i in document["work_items"]] == [1, 127, 128, 300]
    assert len({b["candidate_id"] for b in document["benchmarks"]}) == 4
    one = run(str(path), "--device=reference", "--sample=2", *FAST)[1]
    assert [i["sample"]["parameters"]["count"] for i in one["work_items"]] == [128]


def test_unknown_benchmark() -> None:
    code, document, stderr = run(str(AXPY), "--device=reference", "--benchmark=@none")
    assert code == 2
    assert document["failures"][0]["code"] == "CHECK/060"
    assert document["work_items"] == []
    assert "@axpy_tail" in stderr


@pytest.mark.parametrize(
    ("replacement", "code"),
    [
        ("@axpy_tail {count = 301}", "CHECK/007"),
        ("@axpy_tail {width = 300}", "CHECK/006"),
    ],
)
def test_unplannable_benchmarks(tmp_path: Path, replacement: str, code: str) -> None:
    path = tmp_path / "bad.loom"
    path.write_text(AXPY.read_text().replace("@axpy_tail {count = 300}", replacement))
    status, document, _ = run(str(path), "--device=reference")
    assert status == 1
    assert [failure["code"] for failure in document["failures"]] == [code]


def test_comparison(tmp_path: Path) -> None:
    path = tmp_path / "two.loom"
    path.write_text(AXPY.read_text() + "check.benchmark<@axpy_case> @axpy_other {count = 128}\n")
    arguments = ("--device=reference", "--compare=@axpy_tail,@axpy_other", "--interleave=ABABA", *FAST)
    code, document, _ = run(str(path), *arguments)
    assert code == 0
    assert len(document["repetitions"]) == 4
    assert [row["repetition"] for row in document["comparisons"]] == [0, 1]
    for row in document["comparisons"]:
        assert row["ratio_p50"] * row["speedup_p50"] == pytest.approx(1.0)
    assert run_raw(str(path), "--device=reference", "--compare=@axpy_tail")[0] == 2
    assert run_raw(str(path), "--compare=@axpy_tail,@axpy_other", "--interleave=AC")[0] == 2


def test_json_lines() -> None:
    code, text, _ = run_raw(str(AXPY), "--device=reference", "--output-format=jsonl", *FAST)
    assert code == 0
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["kind"] for row in rows] == ["run", "plan", "device", "sample", "benchmark", "summary"]
    assert len({row["run_id"] for row in rows}) == 1
    assert rows[3]["candidate_id"] == rows[4]["candidate_id"]
    assert rows[4]["candidate_index"] == 0


def test_failures_are_rows_too() -> None:
    code, text, _ = run_raw(str(AXPY), "--device=reference", "--output-format=jsonl", "--benchmark=@none")
    assert code == 2
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["kind"] for row in rows][-2:] == ["failure", "summary"]


def test_dry_run() -> None:
    code, document, _ = run(str(AXPY), "--device=reference", "--dry-run")
    assert code == 0
    assert document["summary"]["dry_run"] is True
    assert [item["state"] for item in document["work_items"]] == ["planned"]


def test_output_file_and_bundles(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    bundles = tmp_path / "bundles"
    code, stdout, _ = run_raw(
        str(AXPY), "--device=reference", f"--output={target}", f"--artifact-bundle-dir={bundles}",
        "--artifact-bundle-policy=full", *FAST,
    )  # fmt: skip
    assert (code, stdout) == (0, "")
    document = json.loads(target.read_text())
    folder = bundles / document["benchmarks"][0]["candidate_id"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["parameters"] == {"count": 300}
    assert set(manifest["files"]) == {"module.loom", "gate.json"}
    assert json.loads((folder / "gate.json").read_text())["passed"] is True


@pytest.mark.parametrize(
    "flag", ["--iterations=0", "--batch-size=0", "--warmup-iterations=-1", "--profile-data=traces"]
)
def test_bad_policies(flag: str) -> None:
    assert run_raw(str(AXPY), flag)[0] == 2


def test_absent_device() -> None:
    code, document, _ = run(str(AXPY), "--device=no-such-device")
    assert code == 3
    assert document["failures"][0]["code"] == "DEVICE/001"


def test_missing_file() -> None:
    code, document, stderr = run("/nonexistent.loom")
    assert code == 2
    assert document["failures"][0]["code"] == "TOOL/003"
    assert "Traceback" not in stderr
