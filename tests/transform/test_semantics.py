"""Passes change no result: every corpus program, transformed and then interpreted, still passes its own checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.check.execute import Files
from loom.check.executor import ReferenceExecutor, RunOptions
from loom.check.testing import run_tests
from loom.ir import Module
from loom.text import parse_module
from loom.transform.pipeline import PipelineOptions, run_default_pipeline
from loom.transform.target import resolve_target

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
PROGRAMS = sorted([*(CORPUS / "appendix").glob("*.loom"), *(CORPUS / "checks").glob("*.loom")])
CONFIG = {"tuning.repeat": 4}


def with_transformed_kernels(path: Path) -> tuple[Module, int]:
    """The module with every kernel replaced by what the pipeline makes of it, and how many there were."""
    module = parse_module(path.read_text(), str(path))
    libraries = tuple(
        parse_module(other.read_text(), str(other)) for other in path.parent.glob(f"{path.stem}.library/*.loom")
    )
    count = 0
    for op in list(module.operations):
        if op.name != "kernel.def":
            continue
        options = PipelineOptions(
            default_target=resolve_target("amdgpu", "gfx1100"), root=op.symbol, config=CONFIG, libraries=libraries
        )
        result = run_default_pipeline(module, options)
        assert op.symbol is not None
        made = result.module.symbol(op.symbol)
        assert made is not None and len(made.region("body").blocks) == 1
        for inner in made.walk():
            assert not inner.name.startswith(("func.", "template.", "config.get", "cfg.")), inner.name
        module.body.insert_before(op, made.clone())
        op.erase()
        count += 1
    return module, count


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_transformed_program_passes_its_checks(path: Path) -> None:
    module, kernels = with_transformed_kernels(path)
    if not kernels:
        assert "kernel.def" not in path.read_text().replace("low.kernel.def", "")
        return
    options = RunOptions(config=CONFIG)
    document = run_tests(
        module, lambda: ReferenceExecutor(module, options), options, Files(path.parent, path.parent)
    ).to_json()
    assert document["planning_issues"] == []
    assert [sample for sample in document["samples"] if not sample["passed"]] == []


LOOPS = """kernel.def @k() {{
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
}} launch(%lower: index, %upper: index, %data: buffer, %out: buffer) {{
  %o = index.constant 0 : offset
  %step = index.constant {step} : index
  %f = index.constant {number} : index
  %in = buffer.view %data[%o] : buffer -> view<64xi32>
  %v = buffer.view %out[%o] : buffer -> view<1xi32>
  %x = scalar.constant 1 : i32
  %three = scalar.constant 3 : i32
  %r = scf.for %i = [%lower to %upper step %step](%a = %x : i32) -> (i32) {clause} {{
    %e = view.load %in[%i] : view<64xi32> -> i32
    %p = scalar.muli %a, %three : i32
    %b = scalar.addi %p, %e : i32
    scf.yield %b : i32
  }}
  view.store %r, %v[0] : i32, view<1xi32>
  kernel.return
}}

check.case public @c {{
  %lower = check.literal value({lower}) : index
  %upper = check.literal value({upper}) : index
  %data = check.generate.iota offset(7) step(5) : tensor<64xi32>
  %out = check.generate.fill value(-1) : tensor<1xi32>
  kernel.launch @k(%lower, %upper, %data, %out) : (index, index, tensor<64xi32>, tensor<1xi32>)
  %expected = check.generate.fill value({expected}) : tensor<1xi32>
  check.expect.equal actual(%out) expected(%expected) : tensor<1xi32>
  check.return
}}
"""


@pytest.mark.parametrize(
    "clause", ["unroll(%f)", "pipeline(%f)", "pipeline(%f) unroll(%f)", "unroll(%f) schedule(recurrence)"]
)
@pytest.mark.parametrize("number", [1, 2, 3, 5])
@pytest.mark.parametrize("bounds", [(0, 0, 1), (0, 1, 1), (3, 5, 1), (0, 7, 1), (2, 20, 3), (5, 64, 7), (9, 4, 2)])
def test_loops_with_unknown_bounds_keep_their_results(
    clause: str, number: int, bounds: tuple[int, int, int], tmp_path: Path
) -> None:
    lower, upper, step = bounds
    value = 1
    for i in range(lower, upper, step):
        value = value * 3 + (7 + 5 * i)
    expected = (value + 2**31) % 2**32 - 2**31
    path = tmp_path / "loop.loom"
    path.write_text(LOOPS.format(clause=clause, number=number, lower=lower, upper=upper, step=step, expected=expected))
    test_transformed_program_passes_its_checks(path)
