"""Every native kernel gives NumPy's result at several sizes, tails included."""

from __future__ import annotations

import csv

import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from tests.target.amdgpu.simulator.native_suite import CASES, NATIVE, Case, check


@pytest.fixture(scope="module")
def device() -> SimulatorDevice:
    return SimulatorDevice(threads=2)


def test_every_kernel_of_the_index_has_a_case() -> None:
    with open(NATIVE / "index.tsv", encoding="utf-8") as file:
        listed = {(row["file"], row["kernel"]) for row in csv.DictReader(file, delimiter="\t")}
    assert listed == {(c.file, c.kernel) for c in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_equals_numpy(device: SimulatorDevice, case: Case) -> None:
    executable = device.load((NATIVE / case.file).read_bytes())
    for n in case.sizes:
        outcome = check(device, case, n, executable)
        assert outcome.counts is not None and outcome.counts.instructions > 0
