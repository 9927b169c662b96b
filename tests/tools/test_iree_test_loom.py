"""The command line of ``iree-test-loom``: documents, exit codes, messages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
AXPY = CORPUS / "appendix" / "01_axpy.loom"


def run(*arguments: str, stdin: str | None = None) -> tuple[int, dict[str, Any] | None, str]:
    """Run the command; its exit code, its JSON document (None for other output) and stderr."""
    command = [sys.executable, "-m", "loom.tools.iree_test_loom", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=120)
    document = json.loads(done.stdout) if done.stdout.strip() else None
    return done.returncode, document, done.stderr


def test_passing_module() -> None:
    code, document, stderr = run(str(AXPY), "--device=reference")
    assert code == 0
    assert document is not None
    assert (document["schema"], document["case_count"], document["sample_count"]) == ("loom.test.v0", 1, 4)
    assert document["device"]["kind"] == "host"
    assert "4 of 4 samples passed" in stderr


def test_case_and_sample() -> None:
    code, document, _ = run(str(AXPY), "--device=reference", "--case=@axpy_case", "--sample=3")
    assert code == 0
    assert document is not None
    assert [sample["parameters"] for sample in document["samples"]] == [{"count": 300}]


def test_unknown_case_is_bad_input_with_a_complete_document() -> None:
    code, document, stderr = run(str(AXPY), "--device=reference", "--case=@nothing")
    assert code == 2
    assert document is not None
    assert document["planning_issues"][0]["code"] == "CHECK/050"
    assert "@axpy_case" in stderr


def test_failing_sample(tmp_path: Path) -> None:
    path = tmp_path / "wrong.loom"
    path.write_text(AXPY.read_text().replace("value(3.25)", "value(3.5)"))
    code, document, stderr = run(str(path), "--device=reference")
    assert code == 1
    assert document is not None
    assert document["failed_sample_count"] == 4
    issue = document["samples"][1]["issues"][0]
    assert issue["details"]["failed_element_count"] == 127
    assert issue["location"]["file"] == str(path)
    assert "FAILED @axpy_case sample 0" in stderr


@pytest.mark.parametrize("text", ["kernel.def {", "not a module at all", "check.case @c { check.nothing\n}"])
def test_text_that_does_not_parse(text: str) -> None:
    code, document, stderr = run("-", "--device=reference", stdin=text)
    assert code == 2
    assert document is not None
    assert document["planning_issue_count"] >= 1
    assert document["samples"] == []
    assert "<stdin>:1:" in stderr
    assert "Traceback" not in stderr


def test_missing_files() -> None:
    code, document, stderr = run("/nonexistent/x.loom")
    assert code == 2
    assert document is not None and document["planning_issue_count"] == 1
    assert "cannot read" in stderr
    code, document, _ = run(str(AXPY), "--library=/nonexistent/y.loom")
    assert code == 2
    assert document is not None and document["planning_issue_count"] == 1


def test_devices() -> None:
    code, document, stderr = run(str(AXPY), "--device=no-such-device")
    assert code == 3
    assert document is not None and document["planning_issues"][0]["code"] == "DEVICE/001"
    assert "known devices: amdgpu, amdgpu-hip, amdgpu-sim, reference" in stderr
    code, document, _ = run(str(AXPY))
    assert code == 1
    assert document is not None and document["samples"][0]["issues"][0]["code"] == "CHECK/014"


@pytest.mark.parametrize(
    ("flag", "says"),
    [
        ("--sample=-2", "they count from 0"),
        ("--operation-budget=0", "must be positive"),
        ("--max-samples-per-case=0", "must be positive"),
        ("--sanitizer=memory", "none, or all, access, value, operation, race"),
        ("--xfail=@nothing", "cases: @axpy_case"),
        ("--allow-failure=@nothing:CHECK/040", "cases: @axpy_case"),
    ],
)
def test_flags_that_mean_nothing_are_bad_input(flag: str, says: str) -> None:
    code, document, stderr = run(str(AXPY), "--device=reference", flag)
    assert code == 2
    assert document is not None and document["planning_issue_count"] == 1
    assert says in stderr


def test_stderr_has_every_issue_of_a_sample_and_a_hint_once(tmp_path: Path) -> None:
    path = tmp_path / "two.loom"
    path.write_text("""check.case @c {
  %p = check.param.choice values([1, 2]) name("p") : i32
  %a = check.generate.fill value(3) : tensor<2xi32>
  %b = check.generate.fill value(4) : tensor<2xi32>
  check.expect.equal actual(%a) expected(%b) : tensor<2xi32>
  check.expect<nothing> actual(%a) expected(%b) : tensor<2xi32>
  check.return
}
""")
    code, document, stderr = run(str(path))
    assert code == 1 and document is not None
    heads = [line.split(": ")[0:2] for line in stderr.splitlines() if line.startswith("FAILED")]
    assert heads == [[f"FAILED @c sample {n}", f"{path}:{line}:3"] for n in (0, 1) for line in (5, 6)]
    assert stderr.count("hint: providers: bitwise, close, equal, ulp") == 1
    assert stderr.splitlines()[-1] == "0 of 2 samples passed"


def test_a_dry_run_of_bad_input_is_still_a_dry_run() -> None:
    for tool in ("iree_test_loom", "iree_benchmark_loom"):
        command = [sys.executable, "-m", f"loom.tools.{tool}", "-", "--dry-run"]
        done = subprocess.run(command, capture_output=True, text=True, input="check.case {", timeout=120)
        document = json.loads(done.stdout)
        assert done.returncode == 2
        assert document.get("dry_run", document.get("summary", {}).get("dry_run")) is True


def test_functions_need_no_device() -> None:
    code, document, _ = run(str(CORPUS / "appendix" / "12_gcd_scenario.loom"))
    assert code == 0
    assert document is not None and document["sample_count"] == 19


def test_config_and_library() -> None:
    program = str(CORPUS / "appendix" / "08_configuration.loom")
    assert run(program, "--device=reference", "--config=tuning.repeat=4")[0] == 0
    code, document, _ = run(program, "--device=reference")
    assert code == 1
    assert document is not None and document["samples"][0]["issues"][0]["code"] == "REFERENCE/016"
    library = CORPUS / "checks" / "linking.library" / "arithmetic.loom"
    linking = str(CORPUS / "checks" / "linking.loom")
    assert run(linking, "--device=reference", f"--library={library}")[0] == 0
    assert run(linking, "--device=reference")[0] == 1


def test_config_file(tmp_path: Path) -> None:
    program = str(CORPUS / "appendix" / "08_configuration.loom")
    path = tmp_path / "c.jsonc"
    path.write_text('{\n  // how often\n  "tuning": {"repeat": 4, "unused": 1}\n}\n')
    assert run(program, "--device=reference", f"--config-file={path}")[0] == 0
    assert run(program, "--device=reference", f"--config-file={path}", "--config=tuning.repeat=5")[0] == 1
    path.write_text("{")
    code, _, stderr = run(program, "--device=reference", f"--config-file={path}")
    assert code == 2
    assert "c.jsonc:1" in stderr


def test_dry_run() -> None:
    code, document, _ = run(str(AXPY), "--device=reference", "--dry-run")
    assert code == 0
    assert document is not None
    assert document["planned_cases"] == [{"case": "axpy_case", "sample_count": 4, "parameters": ["count"]}]


def test_bad_flags() -> None:
    assert run(str(AXPY), "--sanitizer=nothing")[0] == 2
    assert run(str(AXPY), "--max-samples-per-case=0")[0] == 2
    assert run(str(AXPY), "--no-such-flag")[0] == 2


def test_json_diagnostics() -> None:
    _, _, stderr = run("-", "--diagnostic-format=json", stdin="kernel.def {")
    assert json.loads(stderr)


def test_endless_kernels_end(tmp_path: Path) -> None:
    path = tmp_path / "endless.loom"
    path.write_text("""
func.def pure @forever(%x: i32) -> (i32) {
  cfg.br ^again(%x: i32)
^again(%y: i32):
  cfg.br ^again(%y: i32)
}

check.case @c {
  %x = check.literal value(1) : i32
  %y = func.call @forever(%x) : (i32) -> (i32)
  check.return
}
""")
    code, document, _ = run(str(path), "--operation-budget=1000")
    assert code == 1
    assert document is not None and document["samples"][0]["issues"][0]["code"] == "REFERENCE/007"


def test_a_module_that_does_not_verify_is_bad_input_with_a_complete_document() -> None:
    """A step of zero would never end; it is refused before anything runs."""
    text = """kernel.def @k() {
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
} launch(%out: buffer) {
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  scf.for %i = [%zero to %one step %zero] {
  }
  kernel.return
}

check.case public @endless {
  %out = check.generate.fill value(0) : tensor<1xi32>
  kernel.launch @k(%out) : (tensor<1xi32>)
  check.return
}
"""
    code, document, stderr = run("-", "--device=amdgpu-sim", stdin=text)
    assert code == 2
    assert document is not None
    assert [issue["code"] for issue in document["planning_issues"]] == ["OP/006"]
    assert "<stdin>:7:3" in stderr
