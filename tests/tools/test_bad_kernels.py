"""Kernels that fault or never end, and cases that cannot be made: on every device here, with both commands, the document is
complete, the issue has its place, and the exit code says that the evidence is no."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAD = """kernel.def @k() {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%out: buffer) {
  %i = kernel.workitem.id<x> : index
  %o = index.constant 0 : offset
  %one = index.constant 1 : index
"""
TAIL = """  kernel.return
}

check.case public @good {
  %t = check.generate.fill value(1) : tensor<4xi32>
  check.expect.equal actual(%t) expected(%t) : tensor<4xi32>
  check.return
}

check.case public @bad_case {
  %t = VALUE
  kernel.launch @k(%t) : (tensor<64xi32>)
  check.return
}

check.benchmark<@bad_case> @bad

check.benchmark<@good> @fine
"""
FILL = "check.generate.fill value(0) : tensor<64xi32>"
FAULT = """  %v = buffer.view %out[%o] : buffer -> view<100000xi32>
  %far = index.constant 90000 : index
  %j = index.add %far, %i : index
  %x = view.load %v[%j] : view<100000xi32> -> i32
  view.store %x, %v[%i] : i32, view<100000xi32>
"""
ENDLESS = """  %v = buffer.view %out[%o] : buffer -> view<64xi32>
  %none = scalar.constant 0 : i32
  %last = scf.while(%n = %i : index) -> (index) {
    %x = view.load %v[0] : view<64xi32> -> i32
    %again = scalar.cmpi eq, %x, %none : i32
    scf.condition %again, %n : i1, index
  } do(%m: index) {
    %next = index.add %m, %one : index
    scf.yield %next : index
  }
"""

#: Kernel body, value source, and for each device the issue's kind and code.
BAD = {
    "fault": (
        FAULT,
        FILL,
        {"reference": ("execution", "REFERENCE/002"), "amdgpu-sim": ("execution", "FAULT/out_of_bounds")},
    ),
    "endless": (
        ENDLESS,
        FILL,
        {"reference": ("execution", "REFERENCE/007"), "amdgpu-sim": ("execution", "FAULT/instruction_budget")},
    ),
    "missing_file": (
        "",
        'check.file.read.npy path("absent.npy") : tensor<64xi32>',
        dict.fromkeys(("reference", "amdgpu-sim"), ("file", "CHECK/024")),
    ),
    "out_of_range": (
        "",
        "check.generate.iota offset(2147483647) step(1) period(2) : tensor<64xi32>",
        dict.fromkeys(("reference", "amdgpu-sim"), ("generation", "CHECK/021")),
    ),
}


def run(tool: str, path: Path, *flags: str) -> tuple[int, dict[str, Any], str]:
    command = [sys.executable, "-m", f"loom.tools.{tool}", str(path), "--operation-budget=20000", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout), done.stderr


def module(folder: Path, name: str) -> Path:
    body, source, _ = BAD[name]
    path = folder / f"{name}.loom"
    path.write_text(HEAD + body + TAIL.replace("VALUE", source))
    return path


@pytest.mark.parametrize("device", ["reference", "amdgpu-sim"])
@pytest.mark.parametrize("name", [name for name in BAD if name != "out_of_range"])
def test_iree_test_loom(name: str, device: str, tmp_path: Path) -> None:
    path = module(tmp_path, name)
    code, document, stderr = run("iree_test_loom", path, f"--device={device}")
    assert code == 1
    assert (document["schema"], document["case_count"], document["sample_count"]) == ("loom.test.v0", 2, 2)
    assert (document["failed_sample_count"], document["planning_issue_count"]) == (1, 0)
    good, bad = document["samples"]
    assert good["passed"] and not bad["passed"]
    (issue,) = bad["issues"]
    assert (issue["kind"], issue["code"]) == BAD[name][2][device]
    assert issue["location"]["file"] == str(path) and issue["location"]["line"] > 1
    assert "FAILED @bad_case sample 0" in stderr and "Traceback" not in stderr


@pytest.mark.parametrize("device", ["reference", "amdgpu-sim"])
@pytest.mark.parametrize("name", [name for name in BAD if name != "out_of_range"])
def test_iree_benchmark_loom(name: str, device: str, tmp_path: Path) -> None:
    """The gate of the bad one fails and it is not measured; the other one is as it always is."""
    path = module(tmp_path, name)
    flags = (f"--device={device}", "--iterations=1", "--input-ring-count=1", "--profile-final-batch")
    code, document, stderr = run("iree_benchmark_loom", path, *flags)
    assert code == 1
    bad, good = document["work_items"]
    assert (bad["state"], good["state"]) == ("failed", "measured" if device == "reference" else "unavailable")
    entry = bad["failure"]["entry"]
    assert (entry["kind"], entry["code"]) == BAD[name][2][device]
    assert "timing_ns" not in bad and "profile_replay" not in bad
    assert [failed["benchmark"] for failed in document["failed_samples"]] == ["bad"]
    assert (document["summary"]["failed_count"], document["summary"]["work_item_count"]) == (1, 2)
    assert "@bad (no parameters): gate failed" in stderr and "Traceback" not in stderr
    lines = run_lines(path, *flags)
    assert [row["row"] for row in lines][:3] == ["run", "plan", "device"] and lines[-1]["row"] == "summary"


def run_lines(path: Path, *flags: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "loom.tools.iree_benchmark_loom", str(path), "--operation-budget=20000", *flags]
    done = subprocess.run([*command, "--output-format=jsonl"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("tool", ["iree_test_loom", "iree_benchmark_loom"])
def test_values_that_no_type_holds_do_not_verify(tool: str, tmp_path: Path) -> None:
    path = module(tmp_path, "out_of_range")
    code, document, stderr = run(tool, path, "--device=reference")
    assert code == 2
    problems = document.get("planning_issues", document.get("failures"))
    assert [problem["code"] for problem in problems] == ["CHECK/006"]
    assert f"{path}:19:" in stderr
