"""Programs of the corpus compiled for subgroups of 64 (tests/check/test_device.py runs them with 32)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import loom.target
from loom.check.device_executor import open_executor
from loom.check.execute import Files
from loom.check.executor import RunOptions
from loom.check.testing import run_tests
from loom.text import parse_module

CORPUS = Path(__file__).resolve().parents[3] / "corpus"
TARGET = "amdgpu.target<gfx11-generic> @sixty_four {subgroup_size = 64}\n\n"
#: Minutes of compile time on a busy machine.
LONG = ("scalar_floats_f32", "scalar_floats_f64", "scalar_integers_i64", "vector_floats_f32", "vector_integers_i64")
NAMES = (
    "appendix/01_axpy",
    "appendix/02_row_softmax",
    "appendix/03_tiled_matmul",
    "appendix/04_lane_exchange",
    "appendix/07_template_family",
    "appendix/09_packet_math",
    "appendix/11_histogram",
    "checks/atomics",
    "checks/control_flow",
    "checks/encodings",
    "checks/geometry",
    "checks/index",
    "checks/scalar_conversions",
    "checks/scalar_integers_i8",
    "checks/vector_arithmetic",
    "checks/vector_conversions",
    "checks/vector_memory",
    "checks/vector_shapes",
    "checks/views",
    "checks/workgroups",
    *(pytest.param(f"checks/{name}", marks=pytest.mark.full) for name in LONG),
)


def for_64(text: str) -> str:
    """The program with a target of 64 lanes for its kernels."""
    return TARGET + re.sub(r"^(\s*)kernel\.def (?!target)", r"\1kernel.def target(@sixty_four) ", text, flags=re.M)


@pytest.mark.parametrize("name", NAMES)
def test_program_with_subgroups_of_64(name: str) -> None:
    loom.target.register_targets()
    path = CORPUS / f"{name}.loom"
    text = for_64(path.read_text("utf-8"))
    assert "kernel.def target(@sixty_four)" in text
    module = parse_module(text, str(path))
    used = RunOptions(config={}, libraries=())
    run = run_tests(module, lambda: open_executor("amdgpu-sim", module, used), used, Files(path.parent, path.parent))
    document: dict[str, Any] = run.to_json()
    assert document["planning_issues"] == []
    assert document["sample_count"] > 0
    assert [sample for sample in document["samples"] if not sample["passed"]] == []
