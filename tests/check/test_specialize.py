"""Kernels compiled for the values of each launch give what the cases expect, and hold these values as constants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loom.target
from loom.check.device_executor import DeviceExecutor, open_executor
from loom.check.execute import Files
from loom.check.executor import RunOptions
from loom.check.specialize import bind_launch, specialized_key
from loom.check.tensor import empty
from loom.check.testing import run_tests
from loom.ir.verifier import verify
from loom.reference.formats import FORMATS
from loom.text import parse_module, print_module

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
PROGRAMS = [
    *sorted((CORPUS / "appendix").glob("*.loom")),
    *(CORPUS / "checks" / f"{name}.loom" for name in ("phases", "geometry", "views", "control_flow", "rules")),
]

KERNEL = """kernel.def @k(%n: index, %unused: f32) {
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%n, %one, %one) workgroup_size(%one, %one, %one) : index
} launch(%b: buffer, %flag: i1, %half: f16, %count: index, %bytes: offset, %small: i8) {
  %v = buffer.view %b[%bytes] : buffer -> view<[%count]xi8>
  scf.if %flag {
    view.store %small, %v[0] : i8, view<[%count]xi8>
  }
  %wide = scalar.extf %half : f16 to f32
  kernel.return
}
"""


def test_scalars_become_constants_of_their_types() -> None:
    loom.target.register_targets()
    module = parse_module(KERNEL, "k.loom")
    workload = [np.array([3], np.int64), np.array([0.5], np.float32)]
    arguments = [
        empty((8,), FORMATS["i8"]), np.array([True]), np.array([-1.5], np.float16), np.array([8], np.int64),
        np.array([0], np.int64), np.array([-7], np.int8),
    ]  # fmt: skip
    bind_launch(module, "k", workload, arguments)
    verify(module)
    lines = [line.strip() for line in print_module(module).splitlines()]
    constants = sorted(line.partition(" = ")[2] for line in lines if ".constant" in line)
    assert constants == sorted(
        [
            "index.constant 3 : index", "scalar.constant 0.5 : f32", "index.constant 1 : index",
            "scalar.constant true : i1", "scalar.constant -1.5 : f16", "index.constant 8 : index",
            "index.constant 0 : offset", "scalar.constant -7 : i8",
        ]
    )  # fmt: skip
    again = parse_module(KERNEL, "k.loom").symbol("k")
    mine = module.symbol("k")
    assert again is not None and mine is not None
    for region in ("config", "body"):  # the interface stays
        wanted = [parameter.type for parameter in again.region(region).blocks[0].arguments]
        assert [parameter.type for parameter in mine.region(region).blocks[0].arguments] == wanted
        assert not any(p.users for p in mine.region(region).blocks[0].arguments if str(p.type) != "buffer")


def test_keys_tell_bits_apart() -> None:
    zero, minus = np.array([0.0], np.float32), np.array([-0.0], np.float32)
    assert specialized_key("k", [], [zero]) != specialized_key("k", [], [minus])
    assert specialized_key("k", [zero], []) == specialized_key("k", [zero], [])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_pass(path: Path) -> None:
    loom.target.register_targets()
    module = parse_module(path.read_text(), str(path))
    options = RunOptions(config={"tuning.repeat": 4})

    def executor() -> DeviceExecutor:
        made = open_executor("amdgpu-sim", module, options)
        made.specialize = True
        return made

    document = run_tests(module, executor, options, Files(path.parent, path.parent)).to_json()
    assert document["planning_issues"] == []
    assert [sample for sample in document["samples"] if not sample["passed"]] == []
