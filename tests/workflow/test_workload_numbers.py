"""What the native kernels of the workloads compute, against NumPy: the oracle of every ladder has an oracle itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy
import pytest

from loom.device.registry import open_device
from loom.raising.execute import run_workload
from loom.raising.inputs import buffer_bytes
from loom.store.workload import Shape, Workload, load_workload

Array = numpy.ndarray[Any, Any]
_TYPES = {"f16": "<f2", "f32": "<f4"}


def buffers(workload: Workload, shape: Shape) -> dict[str, Array]:
    return {
        a.name: numpy.frombuffer(buffer_bytes(a, workload.folder), _TYPES[a.type]).reshape(a.shape)
        for a in shape.arguments
        if a.kind == "buffer"
    }


def saxpy(b: Mapping[str, Array], p: Mapping[str, Any]) -> tuple[Array, float]:
    # The product of two f32 is exact in f64, and so are the roundings that follow but for double rounding.
    return (p["a"] * b["x"].astype("f8") + b["y"].astype("f8")).astype("f4"), 1e-7


def softmax(b: Mapping[str, Array], p: Mapping[str, Any]) -> tuple[Array, float]:
    y = b["y"].astype("f8").copy()
    x = b["x"][:, : p["ncols"]].astype("f8")
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    y[:, : p["ncols"]] = e / e.sum(axis=1, keepdims=True)
    return y, 2e-6


def reduce(b: Mapping[str, Array], p: Mapping[str, Any]) -> tuple[Array, float]:
    x = numpy.zeros(-(-p["n"] // 1024) * 1024)
    x[: p["n"]] = b["x"]
    return x.reshape(-1, 1024).sum(axis=1), 1e-6


def sgemm(b: Mapping[str, Array], p: Mapping[str, Any]) -> tuple[Array, float]:
    return b["a"].astype("f8") @ b["b"].astype("f8"), 1e-4


def wmma(b: Mapping[str, Array], p: Mapping[str, Any]) -> tuple[Array, float]:
    return b["a"].astype("f8") @ b["bt"].astype("f8").T, 1e-4


def pkswap(b: Mapping[str, Array], p: Mapping[str, Any]) -> tuple[Array, float]:
    a = b["x"].astype("f8")
    s = a[:, ::-1]
    return (-s * a[:, :1] + s).astype("f2"), 0.0


_EXPECTED: dict[str, Callable[[Mapping[str, Array], Mapping[str, Any]], tuple[Array, float]]] = {
    "saxpy": saxpy,
    "softmax": softmax,
    "reduce": reduce,
    "sgemm": sgemm,
    "wmma": wmma,
    "pkswap": pkswap,
}


def test_every_workload_is_covered(repository: Path) -> None:
    assert {path.parent.name for path in (repository / "workloads").glob("*/workload.yaml")} == set(_EXPECTED)


@pytest.mark.parametrize("name", sorted(_EXPECTED))
def test_the_native_kernel_computes_what_its_workload_says(repository: Path, name: str) -> None:
    workload = load_workload(repository / "workloads" / name / "workload.yaml")
    device = open_device("amdgpu-sim")
    try:
        runs = run_workload(device, workload.artifact.read_bytes(), workload.kernel, workload)
    finally:
        device.close()
    for shape, run in zip(workload.shapes, runs, strict=True):
        assert run.outcome["outcome"] == "completed", run.outcome
        before = buffers(workload, shape)
        expected, tolerance = _EXPECTED[name](before, shape.parameters)
        (output,) = workload.outputs
        actual = numpy.frombuffer(run.outputs[output], before[output].dtype).reshape(before[output].shape)
        # Relative to the values that were added, where a sum may cancel.
        scale = 1.0 if name != "softmax" else 0.0
        numpy.testing.assert_allclose(
            actual.astype("f8"), expected.astype("f8"), rtol=tolerance, atol=tolerance * scale, err_msg=shape.name
        )
        json.dumps(run.document(), allow_nan=False)
