"""``--pipeline=@symbol``: the passes that a ``pass.pipeline`` of the module lists, and no others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LOOP = """pass.pipeline<module> @flat {
  pass.run<specialize>
  pass.run<unroll>
  pass.run<simplify>
}

pass.pipeline<module> @looped {
  pass.run<specialize>
  pass.run<simplify>
}

pass.pipeline<module> @foreign {
  pass.run<canonicalize>
}

pass.pipeline<module> @options {
  pass.run<unroll> {factor = 4}
}

kernel.def @k() {
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
} launch(%out: buffer) {
  %o = index.constant 0 : offset
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %four = index.constant 4 : index
  %v = buffer.view %out[%o] : buffer -> view<4xi32>
  scf.for %i = [%zero to %four step %one] unroll {
    %x = index.cast %i : index to i32
    view.store %x, %v[%i] : i32, view<4xi32>
  }
  kernel.return
}

check.case public @c {
  %t = check.generate.fill value(-1) : tensor<4xi32>
  %e = check.generate.iota offset(0) step(1) : tensor<4xi32>
  kernel.launch @k(%t) : (tensor<4xi32>)
  check.expect.equal actual(%t) expected(%e) : tensor<4xi32>
  check.return
}
check.benchmark<@c>
"""


def run(folder: Path, tool: str, *flags: str) -> tuple[int, dict[str, Any], str]:
    path = folder / "loop.loom"
    path.write_text(LOOP)
    command = [sys.executable, "-m", f"loom.tools.{tool}", str(path), "--device=amdgpu-sim", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout), done.stderr


def executed(folder: Path, pipeline: str) -> dict[str, int]:
    code, document, _ = run(folder, "iree_benchmark_loom", f"--pipeline={pipeline}")
    assert code == 0
    (launch,) = document["work_items"][0]["compiler_evidence"]["executed"]
    return dict(launch["by_class"])


def test_the_listed_passes_run_and_no_others(tmp_path: Path) -> None:
    """Four rounds of a loop branch back three times at least; unrolled, only the end of the program is left."""
    looped, flat = executed(tmp_path, "@looped"), executed(tmp_path, "@flat")
    assert looped["branch"] >= 3 + 1
    assert flat["branch"] == 1
    assert executed(tmp_path, "specialize,unroll,simplify") == flat


@pytest.mark.parametrize(
    ("name", "code", "line", "says"),
    [
        ("@foreign", "PASS/004", 13, "unknown pass 'canonicalize'"),
        ("@options", "PASS/004", 17, "pass 'unroll' takes no options"),
        ("@nothing", "PASS/003", 39, "pipelines of this module: @flat, @looped, @foreign, @options"),
        ("@k", "PASS/003", 39, "pipelines of this module: @flat, @looped, @foreign, @options"),
    ],
)
def test_what_cannot_run_is_an_issue_with_its_place(tmp_path: Path, name: str, code: str, line: int, says: str) -> None:
    status, document, stderr = run(tmp_path, "iree_test_loom", f"--pipeline={name}")
    (issue,) = document["samples"][0]["issues"]
    assert (status, issue["kind"], issue["code"]) == (1, "compile", code)
    assert issue["location"]["line"] == line
    assert says in stderr


def test_a_name_that_is_no_pass_is_bad_usage(tmp_path: Path) -> None:
    status, document, stderr = run(tmp_path, "iree_test_loom", "--pipeline=specialize,canonicalize")
    assert (status, document["planning_issues"][0]["code"]) == (2, "PASS/001")
    assert "passes: link, specialize" in stderr
