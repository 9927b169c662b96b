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
    text = AXPY.read_text().replace("value(3.25)", "value(3.5)")
    path.write_text(text)
    code, document, stderr = run(str(path), "--device=reference", *FAST)
    assert code == 1
    line = next(k for k, line in enumerate(text.split("\n"), 1) if "check.expect.equal" in line)
    assert f"@axpy_tail count=300: gate failed: {path}:{line}:3: check.expect.equal: 300 of 300" in stderr
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
    ("replacement", "code", "column"),
    [
        ("@axpy_tail {count = 301}", "CHECK/003", 1),
        ("@axpy_tail {width = 300}", "CHECK/002", 17),
    ],
)
def test_unplannable_benchmarks(tmp_path: Path, replacement: str, code: str, column: int) -> None:
    path = tmp_path / "bad.loom"
    path.write_text(AXPY.read_text().replace("@axpy_tail {count = 300}", replacement))
    status, document, stderr = run(str(path), "--device=reference")
    assert status == 2
    (failure,) = document["failures"]
    assert failure["code"] == code
    assert failure["location"] == {"file": str(path), "line": 35, "column": column}
    assert f"{path}:35:{column}: error:" in stderr
    assert document["summary"]["failure_count"] == 1 and document["work_items"] == []


def test_comparison(tmp_path: Path) -> None:
    path = tmp_path / "two.loom"
    path.write_text(AXPY.read_text() + "check.benchmark<@axpy_case> @axpy_other {count = 128}\n")
    arguments = ("--device=reference", "--compare=@axpy_tail,@axpy_other", "--interleave=ABABA", *FAST)
    code, document, _ = run(str(path), *arguments)
    assert code == 0
    assert len(document["repetitions"]) == 4
    assert [row["repetition"] for row in document["comparisons"]] == [0, 1]
    baseline, other = (entry["candidate_id"] for entry in document["benchmarks"])
    for row in document["comparisons"]:
        assert row["ratio_p50"] * row["speedup_p50"] == pytest.approx(1.0)
        assert (row["baseline"], row["candidate"], row["candidate_id"]) == (baseline, other, other)
        assert (row["candidate_index"], row["sample_id"]) == (1, "axpy_case#0")
    assert [row["candidate_index"] for row in document["repetitions"]] == [0, 1, 0, 1]
    assert run_raw(str(path), "--device=reference", "--compare=@axpy_tail")[0] == 2
    pair = "--compare=@axpy_tail,@axpy_other"
    for refused in ("--interleave=AC", "--benchmark=@axpy_tail", "--case=@axpy_case", "--sample-compilation=both"):
        assert run_raw(str(path), pair, refused)[0] == 2


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
    "flag",
    [
        "--iterations=0",
        "--batch-size=0",
        "--warmup-iterations=-1",
        "--profile-data=traces",
        "--sample-compilation=never",
        "--profile-final-batch=maybe",
    ],
)
def test_bad_policies(flag: str) -> None:
    assert run_raw(str(AXPY), flag)[0] == 2


def test_a_bad_policy_still_gives_a_document() -> None:
    code, document, stderr = run(str(AXPY), "--compare=@axpy_tail,@other", "--interleave=ABC")
    assert (code, document["failures"][0]["code"]) == (2, "TOOL/001")
    assert "pattern 'ABC' does not fit 2 candidates" in stderr


def test_at_most_max_batches_are_taken() -> None:
    code, document, _ = run(str(AXPY), "--max-batches=2", "--input-ring-min-bytes=0")
    (item,) = document["work_items"]
    assert (code, item["stop_reason"], item["timing_ns"]["count"]) == (0, "max_batches", 2)


def test_a_skipped_benchmark_is_said(tmp_path: Path) -> None:
    path = tmp_path / "skips.loom"
    needs = 'check.case public @axpy_case {\n  check.requires<target.feature> {feature = "mfma"}'
    path.write_text(AXPY.read_text().replace("check.case public @axpy_case {", needs))
    code, document, stderr = run(str(path), *FAST)
    assert (code, document["summary"]["skipped_count"]) == (0, 1)
    assert "@axpy_tail sample 0: skipped: target.feature" in stderr


def test_uncomparable_benchmarks_are_failures_with_their_counts(tmp_path: Path) -> None:
    path = tmp_path / "two.loom"
    path.write_text(AXPY.read_text() + "check.benchmark<@axpy_case> @all\n")
    code, document, stderr = run(str(path), "--compare=@axpy_tail,@all", *FAST)
    assert (code, document["failures"][0]["code"]) == (1, "CHECK/062")
    assert "@axpy_tail 1, @all 4" in stderr
    assert {item["state"] for item in document["work_items"]} == {"failed"}


def test_absent_device() -> None:
    code, document, _ = run(str(AXPY), "--device=no-such-device")
    assert code == 3
    assert document["failures"][0]["code"] == "DEVICE/001"


def test_missing_file() -> None:
    code, document, stderr = run("/nonexistent.loom")
    assert code == 2
    assert document["failures"][0]["code"] == "TOOL/003"
    assert "Traceback" not in stderr


def rows_of(*arguments: str) -> list[dict[str, Any]]:
    code, text, _ = run_raw(*arguments, "--output-format=jsonl")
    assert code == 0
    return [json.loads(line) for line in text.splitlines()]


def test_a_profile_replay_is_apart_from_the_measurement() -> None:
    """Two repetitions of 12 waves (3 workgroups of 128): the replay counts them, and nothing about time."""
    rows = rows_of(str(AXPY), "--device=amdgpu-sim", "--batch-size=2", "--profile-data=counters")
    (replay,) = [row for row in rows if row["row"] == "profile_replay"]
    assert replay["row"] == replay["kind"]
    assert (replay["benchmark"], replay["case"], replay["work_item_index"]) == ("axpy_tail", "axpy_case", 0)
    assert (replay["sample_id"], replay["candidate_index"], replay["batch_size"]) == ("axpy_case#0", 0, 2)
    content = replay["profile_replay"]
    assert content["measurement_relationship"] == "distinct_execution"
    assert (content["summary"]["executed"], content["summary"]["launch_count"]) == (True, 2)
    assert content["dispatch_timing"] == {"available": False, "reason": "a simulator has no clock"}
    state, total = [row["profile_summary"] for row in rows if row["row"] == "profile_summary"]
    assert (state["state"], state["state_code"]) == ("decoded", "decoded_profile_summary")
    assert state["request"]["data_family_names"] == ["counters"]
    assert (total["launch_count"], total["waves"]) == (2, 24)
    counters = {
        row["counter"].get("name"): row["counter"].get("value") for row in rows if row["row"] == "profile_counter"
    }
    # 300 loads of each of the two operands and 300 stores, 4 bytes each, twice
    assert (counters["bytes_read.global.b32"], counters["bytes_written.global.b32"]) == (4800, 2400)


def test_counters_that_do_not_exist_are_unavailable() -> None:
    wanted = ("--profile-counter=waves", "--profile-counter=SQ_WAVES")
    rows = rows_of(str(AXPY), "--device=amdgpu-sim", *wanted)
    counters = [row["counter"] for row in rows if row["row"] == "profile_counter"]
    assert counters[0]["state"] == "decoded"
    assert counters[0]["request"]["counter_sets"][0]["counter_names"] == ["waves", "SQ_WAVES"]
    assert [(c["name"], c.get("value"), c.get("state")) for c in counters[1:]] == [
        ("waves", 12, None),
        ("SQ_WAVES", None, "unavailable"),
    ]
    rows = rows_of(str(AXPY), "--device=reference", *wanted, *FAST)
    (replay,) = [row["profile_replay"] for row in rows if row["row"] == "profile_replay"]
    assert (replay["state"], replay["summary"]["executed"]) == ("unavailable", False)
    assert "counts nothing" in replay["summary"]["unavailable"]
    states = [row["counter"] for row in rows if row["row"] == "profile_counter"]
    assert {s["state"] for s in states} == {"unavailable"} and states[0]["state_code"] == "profile_not_executed"
    (summary,) = [row["profile_summary"] for row in rows if row["row"] == "profile_summary"]
    assert (summary["state"], summary["state_code"]) == ("unavailable", "profile_not_executed")


def test_profiling_can_be_forbidden() -> None:
    rows = rows_of(str(AXPY), "--device=amdgpu-sim", "--profile-counter=waves", "--profile-final-batch=false")
    assert not [row for row in rows if row["row"].startswith("profile")]


def test_profile_artifacts(tmp_path: Path) -> None:
    assert run_raw(str(AXPY), "--device=amdgpu-sim", f"--profile-artifacts-dir={tmp_path}")[0] == 0
    (entry,) = json.loads((tmp_path / "profiles.json").read_text())
    assert entry["launches"][0]["counters"]["waves"] == 12
    assert entry["profile_replay"]["summary"]["data_family_names"] == ["dispatch-events", "executable-metadata"]


def test_samples_are_compiled_once_or_each(tmp_path: Path) -> None:
    """Four samples: one code object for all, one for each, or both ways, with results that pass the gate."""
    path = tmp_path / "all.loom"
    path.write_text(AXPY.read_text().replace(" @axpy_tail {count = 300}", ""))

    def compiled(mode: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        code, document, _ = run(str(path), "--device=amdgpu-sim", f"--sample-compilation={mode}")
        assert code == 0
        return document["work_items"], document["compiles"]

    items, compiles = compiled("once")
    assert (len(items), len(compiles)) == (4, 1)
    assert {item["sample_compilation"] for item in items} == {"once"}
    items, compiles = compiled("per_sample")
    assert (len(items), len({entry["artifact_sha256"] for entry in compiles})) == (4, 4)
    items, compiles = compiled("both")
    assert [item["sample_compilation"] for item in items] == ["once", "per_sample"] * 4
    assert len(compiles) == 5
    executed = [item["compiler_evidence"]["executed"][0]["useful_instructions"] for item in items]
    assert all(each < once for once, each in zip(executed[::2], executed[1::2], strict=True))


@pytest.mark.parametrize(
    "text", ["kernel.def {", "check.case @c {\n  %x = check.nothing\n}", "check.benchmark<@none> @b"]
)
def test_modules_that_do_not_verify(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.loom"
    path.write_text(text + "\n")
    code, document, stderr = run(str(path), "--device=reference")
    assert code == 2
    assert document["failures"][0]["location"]["line"] >= 1
    assert document["summary"]["failure_count"] == len(document["failures"]) > 0
    assert f"{path}:" in stderr and "Traceback" not in stderr


@pytest.mark.parametrize(
    ("mode", "parts"),
    [("none", None), ("summary", set()), ("details", {"static_instruction_counts"}),
     ("analysis", {"static_instruction_counts", "report"})],
)  # fmt: skip
def test_artifact_manifests(mode: str, parts: set[str] | None, tmp_path: Path) -> None:
    flags = (f"--artifact-bundle-dir={tmp_path}", "--artifact-bundle-policy=debug", f"--artifact-manifest={mode}")
    code, document, _ = run(str(AXPY), "--device=amdgpu-sim", *flags)
    assert code == 0
    folder = tmp_path / document["benchmarks"][0]["candidate_id"]
    listed = json.loads((folder / "manifest.json").read_text())["files"]
    assert {"axpy.hsaco", "axpy.report.json", "module.loom"} <= set(listed)
    assert (folder / "axpy.hsaco").read_bytes()[:4] == b"\x7fELF"
    if parts is None:
        assert "axpy.manifest.json" not in listed
        return
    manifest = json.loads((folder / "axpy.manifest.json").read_text())
    assert {"static_instruction_counts", "report"} & set(manifest) == parts
    assert listed["axpy.manifest.json"]["size"] == (folder / "axpy.manifest.json").stat().st_size
