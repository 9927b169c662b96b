"""``loom-raise execute``: where its results go, and what it refuses before it runs anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loom.tools import loom_raise
from loom.tools.common import run_tool

ROOT = Path(__file__).resolve().parents[2]
WORKLOAD = ROOT / "workloads/saxpy/workload.yaml"
NATIVE = ROOT / "workloads/saxpy/native/saxpy_asm.hsaco"


def execute(code: Path, output: str) -> int:
    arguments = ["execute", str(code), f"--workload={WORKLOAD}", "--device=amdgpu-sim", f"--output={output}"]
    return run_tool(loom_raise.run, arguments)


def test_results_of_every_shape(tmp_path: Path) -> None:
    assert execute(NATIVE, f"{tmp_path}/out") == 0
    document = json.loads((tmp_path / "out/run.json").read_text())
    assert [run["outcome"] for run in document["runs"]] == ["completed"] * 4
    assert (tmp_path / "out/outputs/odd.y.bin").stat().st_size == 4 * 1000


def test_a_place_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("a device was opened")

    monkeypatch.setattr("loom.device.registry.open_device", opened)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"old")
    for output in ("", "file"):
        assert execute(NATIVE, output) == 2
        assert "TOOL/004" in capfd.readouterr().err
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() == b"old"


def test_what_is_wrong_with_the_code_object_names_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.hsaco").write_bytes(b"hello")
    assert execute(tmp_path / "x.hsaco", f"{tmp_path}/out") == 2
    assert f"{tmp_path}/x.hsaco: error: " in capfd.readouterr().err
    assert not (tmp_path / "out").exists()
