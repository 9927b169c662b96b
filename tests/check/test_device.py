"""The corpus through the default pipeline on the simulator, and what a device executor does besides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import loom.target
from loom.check.benchmark import Request, run_benchmarks
from loom.check.benchmark_output import snapshot
from loom.check.device_executor import open_executor, wrapper_text
from loom.check.execute import Files
from loom.check.executor import RunOptions
from loom.check.measure import Policy
from loom.check.testing import run_tests
from loom.text import parse_module
from tests.check.helpers import kernel, launch_case, only_issue

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
APPENDIX = sorted((CORPUS / "appendix").glob("*.loom"))
CHECKS = sorted((CORPUS / "checks").glob("*.loom"))
#: Programs of many hundred operations a kernel: minutes of compile time on a busy machine.
LARGE = ("floats", "integers")


def options(libraries: tuple[Any, ...] = (), **more: Any) -> RunOptions:
    loom.target.register_targets()
    return RunOptions(config={"tuning.repeat": 4}, libraries=libraries, **more)


def run_device(text: str, path: Path | None = None, chosen: RunOptions | None = None) -> dict[str, Any]:
    module = parse_module(text, str(path) if path is not None else "test.loom")
    folder = path.parent if path is not None else Path()
    libraries = []
    if path is not None:
        libraries = [parse_module(o.read_text(), str(o)) for o in path.parent.glob(f"{path.stem}.library/*.loom")]
    used = chosen or options(tuple(libraries))
    run = run_tests(module, lambda: open_executor("amdgpu-sim", module, used), used, Files(folder, folder))
    document = run.to_json()
    document["exit_code"] = int(run.exit_code)
    return document


def check_passes(path: Path) -> None:
    document = run_device(path.read_text(), path)
    assert document["planning_issues"] == []
    assert [sample for sample in document["samples"] if not sample["passed"]] == []
    assert document["device"]["kind"] == "simulator"


@pytest.mark.parametrize("path", APPENDIX, ids=lambda path: path.stem)
def test_appendix_program(path: Path) -> None:
    check_passes(path)


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[pytest.mark.full] if any(word in p.stem for word in LARGE) else []) for p in CHECKS],
    ids=lambda path: path.stem,
)
def test_check_program(path: Path) -> None:
    check_passes(path)


FUNCTIONS = """
func.def pure @mix(%x: i32, %wide: i64, %f: f32, %at: index, %yes: i1) -> (i64, i1, vector<2xf32>, index) {
  %word = scalar.extsi %x : i32 to i64
  %sum = scalar.addi %word, %wide : i64
  %zero = scalar.constant 0 : i32
  %negative = scalar.cmpi slt, %x, %zero : i32
  %both = scalar.andi %negative, %yes : i1
  %pair = vector.from_elements %f, %f : vector<2xf32>
  %one = index.constant 1 : index
  %next = index.add %at, %one : index
  func.return %sum, %both, %pair, %next : i64, i1, vector<2xf32>, index
}

func.def pure @sum(%x: i32, %wide: i64, %f: f32, %at: index, %yes: i1) -> (i64) {
  %a, %b, %c, %d = func.call pure @mix(%x, %wide, %f, %at, %yes) : (i32, i64, f32, index, i1) -> (i64, i1, vector<2xf32>, index)
  func.return %a : i64
}

check.case @call {
  %x = check.param.choice values([-5, 7]) name("x") : i32
  %wide = check.literal value(8589934592) : i64
  %f = check.literal value(1.5) : f32
  %at = check.literal value(41) : index
  %yes = check.literal value(true) : i1
  %expected_at = check.literal value(42) : index
  %a, %b, %c, %d = func.call @mix(%x, %wide, %f, %at, %yes) : (i32, i64, f32, index, i1) -> (i64, i1, vector<2xf32>, index)
  check.expect.equal actual(%d) expected(%expected_at) : index
  check.return
}

check.scenario @agrees {
  check.trial[4](%trial: index, %entropy: check.entropy) {
    %wide = check.entropy.read %entropy[0] : check.entropy -> i64
    %x = scalar.trunci %wide : i64 to i32
    %f = check.literal value(0.5) : f32
    %yes = check.literal value(true) : i1
    check.compare<@sum>(%x, %wide, %f, %trial, %yes) : (i32, i64, f32, index, i1) -> [actual(%a: i64), expected(%b: i64)] {
      check.expect.equal actual(%a) expected(%b) : i64
    }
  }
  check.return
}
"""


def test_functions_run_as_kernels_of_one_workitem() -> None:
    document = run_device(FUNCTIONS)
    assert [sample["issues"] for sample in document["samples"]] == [[]] * 6


def test_wrapper_text_parses() -> None:
    module = parse_module(FUNCTIONS, "x.loom")
    function = module.symbol("mix")
    assert function is not None
    text = wrapper_text(function, "call.mix", function)
    wrapped = parse_module(FUNCTIONS + text, "y.loom")
    assert wrapped.symbol("call.mix") is not None


def test_faults_are_issues_with_kernel_and_address() -> None:
    text = kernel("""  %v = buffer.view %out[%origin] : buffer -> view<100000xi32>
  %far = index.constant 90000 : index
  %x = view.load %v[%far] : view<100000xi32> -> i32
  view.store %x, %v[%i] : i32, view<100000xi32>""")
    document = run_device(text + launch_case())
    issue = only_issue(document)
    assert document["exit_code"] == 1
    assert issue["code"] == "FAULT/out_of_bounds"
    assert any("kernel: k" in note for note in issue["details"]["notes"])


def test_endless_kernels_are_stopped() -> None:
    text = kernel("""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %x = scf.while(%a = %zero : index) -> (index) {
    %w = view.load %v[0] : view<4xi32> -> i32
    %none = scalar.constant 0 : i32
    %always = scalar.cmpi eq, %w, %none : i32
    scf.condition %always, %a : i1, index
  } do(%b: index) {
    %n = index.add %b, %one : index
    scf.yield %n : index
  }""")
    issue = only_issue(run_device(text + launch_case(), chosen=options(budget=200_000)))
    assert issue["code"] == "FAULT/instruction_budget"


def test_compile_rejections_are_issues() -> None:
    text = """
func.decl @absent(%x: i32) -> (i32)
""" + kernel("""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %x = view.load %v[%i] : view<4xi32> -> i32
  %y = func.call @absent(%x) : (i32) -> (i32)
  view.store %y, %v[%i] : i32, view<4xi32>""")
    document = run_device(text + launch_case())
    assert document["exit_code"] == 1
    assert only_issue(document)["kind"] == "compile"


def test_a_simulator_gives_counts_and_no_time() -> None:
    path = CORPUS / "appendix" / "01_axpy.loom"
    module = parse_module(path.read_text(), str(path))
    used = options()
    files = Files(path.parent, path.parent)
    request = Request(policy=Policy(), require_measurement=True)
    run = run_benchmarks(module, lambda: open_executor("amdgpu-sim", module, used), used, files, request)
    assert run.exit_code == 3
    (item,) = snapshot(run)["work_items"]
    assert item["state"] == "unavailable"
    assert "simulator" in item["measurement"]["unavailable"]
    assert "timing_ns" not in item
    evidence = item["compiler_evidence"]
    assert evidence["static_instruction_counts"]["axpy"]["vmem"] >= 3
    (executed,) = evidence["executed"]
    # 300 workitems load two words and store one each.
    assert executed["bytes_read"]["global.b32"] == 300 * 2 * 4
    assert executed["bytes_written"]["global.b32"] == 300 * 4
    request.require_measurement = False
    assert (
        run_benchmarks(module, lambda: open_executor("amdgpu-sim", module, used), used, files, request).exit_code == 0
    )
