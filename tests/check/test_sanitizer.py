"""``--sanitizer=access`` on the simulator: an access inside its buffer but outside its view is a fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loom.tools.common import run_tool
from loom.tools.iree_test_loom import run

PROGRAM = """kernel.def @k(%n: index) {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%n: index, %in: buffer, %out: buffer) {
  %lane = kernel.workitem.id<x> : index
  %o = index.constant 0 : offset
  %iv = buffer.view %in[%o] : buffer -> view<[%n]xi32>
  %ov = buffer.view %out[%o] : buffer -> view<64xi32>
  %x = view.load %iv[%lane] : view<[%n]xi32> -> i32
  view.store %x, %ov[%lane] : i32, view<64xi32>
  kernel.return
}

check.case public @c {
  %n = check.param.choice values([64, 40]) name("n") : index
  %in = check.generate.iota offset(0) step(3) : tensor<64xi32>
  %out = check.generate.fill value(-1) : tensor<64xi32>
  kernel.launch @k[%n](%n, %in, %out) : [index](index, tensor<64xi32>, tensor<64xi32>)
  check.expect.equal actual(%out) expected(%in) : tensor<64xi32>
  EVENT
  check.return
}
"""


def outcomes(tmp_path: Path, capfd: pytest.CaptureFixture[str], *flags: str, event: str = "") -> tuple[int, list[bool]]:
    path = tmp_path / "program.loom"
    path.write_text(PROGRAM.replace("  EVENT\n", event))
    code = run_tool(run, [str(path), "--device=amdgpu-sim", *flags])
    document = json.loads(capfd.readouterr().out)
    return code, [sample["passed"] for sample in document["samples"]]


def test_without_the_sanitizer_the_buffer_is_the_bound(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert outcomes(tmp_path, capfd) == (0, [True, True])


def test_with_it_the_view_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert outcomes(tmp_path, capfd, "--sanitizer=access") == (1, [True, False])


def test_findings_that_are_expected_are_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    event = '  check.expect.event<device> {count = 0, type = "asan_report"}\n'
    assert outcomes(tmp_path, capfd, "--sanitizer=access", event=event) == (1, [True, False])
