"""More kernels: clang at -O0 and -O2, both wave sizes, three generations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from tests.target.amdgpu.simulator.extra_suite import CASES
from tests.target.amdgpu.simulator.native_suite import NATIVE, Case, check

#: The optimized objects and a few kernels at -O0 run by default; the rest of -O0, which is slow to compile, in the long run.
QUICK = [c for c in CASES if ".O0" not in c.file or c.kernel in ("calls", "generic_pointer", "double_math")]
LONG = [c for c in CASES if c not in QUICK]


@pytest.fixture(scope="module")
def device() -> SimulatorDevice:
    return SimulatorDevice(threads=1)


def run(device: SimulatorDevice, case: Case) -> None:
    executable = device.load((NATIVE / case.file).read_bytes())
    for n in case.sizes:
        check(device, case, n, executable)


@pytest.mark.parametrize("case", QUICK, ids=lambda c: c.name)
def test_equals_numpy(device: SimulatorDevice, case: Case) -> None:
    run(device, case)


@pytest.mark.full
@pytest.mark.parametrize("case", LONG, ids=lambda c: c.name)
def test_equals_numpy_unoptimized(device: SimulatorDevice, case: Case) -> None:
    run(device, case)


def test_documentation_example(device: SimulatorDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python example of docs/simulator.md runs as it stands."""
    import numpy as np

    root = Path(__file__).resolve().parents[4]
    monkeypatch.chdir(root)
    text = (root / "docs/simulator.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, object] = {}
    exec(block, names)
    np.testing.assert_array_equal(names["result"], 2.5 * np.arange(1000, dtype=np.float32))  # type: ignore[arg-type]
