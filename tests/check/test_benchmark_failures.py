"""What goes wrong after the gate is the failure of its row; the others go on, and the document is complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loom.check.benchmark import BenchmarkRun, Request, _Workbench, run_benchmarks
from loom.check.benchmark_output import rows, snapshot
from loom.check.execute import Files
from loom.check.executor import ReferenceExecutor, RunOptions
from loom.check.measure import Policy
from loom.text import parse_module

#: The kernel wants zeros and leaves ones: its gate passes, its second repetition on the same inputs does not.
TEXT = """
kernel.def @once() {
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
} launch(%out: buffer) {
  %o = index.constant 0 : offset
  %v = buffer.view %out[%o] : buffer -> view<1xi32>
  %x = view.load %v[0] : view<1xi32> -> i32
  %none = scalar.constant 0 : i32
  %fresh = scalar.cmpi eq, %x, %none : i32
  kernel.assert %fresh "used before" : i1
  %one_word = scalar.constant 1 : i32
  view.store %one_word, %v[0] : i32, view<1xi32>
  kernel.return
}

func.def pure @twice(%x: i32) -> (i32) {
  %y = scalar.addi %x, %x : i32
  func.return %y : i32
}

check.case @breaks {
  %t = check.generate.fill value(0) : tensor<1xi32>
  kernel.launch @once(%t) : (tensor<1xi32>)
  check.return
}

check.case @holds {
  %x = check.literal value(4) : i32
  %y = func.call @twice(%x) : (i32) -> (i32)
  %e = check.literal value(8) : i32
  check.expect.equal actual(%y) expected(%e) : i32
  check.return
}

check.benchmark<@breaks> @first

check.benchmark<@holds> @second
"""


def run(**settings: Any) -> BenchmarkRun:
    module = parse_module(TEXT, "rows.loom")
    options = RunOptions()
    policy = Policy(iterations=3, warmup_iterations=0, ring_count=1)
    files = Files(Path(), Path())
    request = Request(policy=policy, **settings)
    return run_benchmarks(module, lambda: ReferenceExecutor(module, options), options, files, request)


def test_a_kernel_that_fails_while_it_is_measured() -> None:
    outcome = run()
    document = snapshot(outcome)
    first, second = document["work_items"]
    assert (first["state"], second["state"]) == ("failed", "measured")
    assert first["failure"]["entry"]["code"] == "REFERENCE/009"
    assert first["failure"]["entry"]["location"]["line"] == 11
    assert "timing_ns" not in first and second["timing_ns"]["count"] == 3
    assert [failure["code"] for failure in document["failures"]] == ["REFERENCE/009"]
    assert document["failed_samples"] == []  # its gate had passed
    assert outcome.exit_code == 1
    kinds = [row["row"] for row in rows(outcome)]
    assert kinds == ["run", "plan", "device", "sample", "benchmark", "sample", "benchmark", "failure", "summary"]


def test_a_comparison_with_one_that_fails() -> None:
    outcome = run(compare=("first", "second"), repetitions=1)
    assert [item.state for item in outcome.items] == ["failed", "planned"]
    assert outcome.comparisons == [] and outcome.exit_code == 1


def test_a_bundle_that_cannot_be_written(tmp_path: Path) -> None:
    place = tmp_path / "taken"
    place.write_text("a file")
    outcome = run(benchmark_names=("second",), bundle_dir=place)
    (failure,) = outcome.failures
    assert (failure.kind, failure.code) == ("file", "CHECK/063")
    assert str(place) in failure.message
    assert outcome.exit_code == 1
    assert snapshot(outcome)["work_items"][0]["failure"]["entry"]["code"] == "CHECK/063"


def test_a_defect_is_exit_code_4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOM_DEBUG", raising=False)

    def broken(self: _Workbench, item: Any) -> None:
        raise ZeroDivisionError("not meant")

    monkeypatch.setattr(_Workbench, "sampler", broken)
    outcome = run()
    assert outcome.exit_code == 4
    assert [failure.code for failure in outcome.failures] == ["INTERNAL/001", "INTERNAL/001"]
    assert snapshot(outcome)["summary"]["failed_count"] == 2
