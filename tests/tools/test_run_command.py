"""``loom-raise run``: arguments, results, faults and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SAXPY = ROOT / "tests/native/asm/gfx1100/saxpy_asm.hsaco"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "loom.tools.loom_raise", "run", *arguments], capture_output=True, text=True, cwd=ROOT
    )


def saxpy(folder: Path, n: int, *more: str, device: str = "amdgpu-sim") -> subprocess.CompletedProcess[str]:
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    return run(
        str(SAXPY), "--kernel=saxpy_asm", "--workgroups=4", "--workgroup-size=256", f"--device={device}",
        f"--arg=buffer:{folder}/x.npy", f"--arg=buffer:{folder}/y.npy:{folder}/out.npy", "--arg=f32:2.5", f"--arg=u32:{n}", *more,
    )  # fmt: skip


def test_result_and_summary(tmp_path: Path) -> None:
    done = saxpy(tmp_path, 1000, "--json")
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), 2.5 * np.arange(1000, dtype=np.float32) + 1)
    document = json.loads(done.stdout)
    assert document["outcome"] == "completed" and document["device"]["kind"] == "simulator"
    assert document["counts"]["instructions"] == 544 and document["counts"]["useful_instructions"] == 416
    assert document["counts"]["bytes_read"]["global.b32"] == 8000


def test_fault_exits_with_1_and_names_everything(tmp_path: Path) -> None:
    done = saxpy(tmp_path, 1024, "--json")
    assert done.returncode == 1
    fault = json.loads(done.stdout)["fault"]
    assert fault["kind"] == "out_of_bounds" and fault["kernel"] == "saxpy_asm"
    assert fault["workgroup"] == [3, 0, 0] and fault["wave"] == 7 and fault["lane"] == 8
    assert "global_load_b32" in fault["instruction"] and fault["nearest_buffer"]["size"] == 4000
    text = saxpy(tmp_path, 1024)
    nearest = fault["nearest_buffer"]
    assert text.returncode == 1
    for line in (
        f"pc: {fault['pc']}", f"instruction: {fault['instruction']}", "workgroup: 3, 0, 0", "wave: 7", "lane: 8",
        f"address: {fault['address']}",
        f"nearest buffer: {nearest['name']}, {nearest['begin']} to {nearest['end']} (4000 bytes)",
    ):  # fmt: skip
        assert line in text.stdout


def test_amdgpu_says_which_device_it_is(tmp_path: Path) -> None:
    done = saxpy(tmp_path, 1000, device="amdgpu")
    assert done.returncode == 0 and "amdgpu-sim" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--workgroups=0", "--workgroup-size=256"], 2), (["--workgroups=1", "--workgroup-size=1,2,3,4"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--arg=i32:99999999999"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--arg=what:1"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--arg=buffer:/no/such.npy"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--kernel=other"], 2), (["--workgroups=1", "--workgroup-size=256"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--device=nowhere"], 3),
        (["--workgroups=1", "--workgroup-size=256", "--device=amdgpu-sim", "--budget=-1"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--device=amdgpu-sim", "--threads=0"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--arg=null", "--arg=null", "--arg=f16:1", "--arg=u32:0"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--arg=null", "--arg=i32:0", "--arg=f32:1", "--arg=u32:0"], 2),
        (["--workgroups=1", "--workgroup-size=256", "--arg=null", "--arg=null", "--arg=null", "--arg=u32:0"], 2),
    ],
)  # fmt: skip
def test_bad_input(arguments: list[str], code: int) -> None:
    done = run(str(SAXPY), *arguments)
    assert done.returncode == code
    assert "Traceback" not in done.stderr and "error" in done.stderr


def test_a_file_that_is_no_code_object(tmp_path: Path) -> None:
    path = tmp_path / "x.hsaco"
    path.write_bytes(b"hello")
    done = run(str(path), "--workgroups=1", "--workgroup-size=1")
    assert done.returncode == 2 and "Traceback" not in done.stderr


@pytest.mark.parametrize("source", ["tests/native/asm/gfx1100/saxpy_asm.s", "workloads/saxpy/oracle.loom"])
def test_assembly_and_prepared_low(tmp_path: Path, source: str) -> None:
    np.save(tmp_path / "x.npy", np.arange(1000, dtype=np.float32))
    np.save(tmp_path / "y.npy", np.ones(1000, np.float32))
    done = run(
        source, "--workgroups=4", "--workgroup-size=256", "--device=amdgpu-sim", f"--arg=buffer:{tmp_path}/x.npy",
        f"--arg=buffer:{tmp_path}/y.npy:{tmp_path}/out.npy", "--arg=f32:2.5", "--arg=u32:1000",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), 2.5 * np.arange(1000, dtype=np.float32) + 1)


def test_arguments_by_value(tmp_path: Path, oracle: Callable[[str], str]) -> None:
    """A vector of four floats comes from a file; a pointer in its place would be read as its bytes, so it is refused."""
    source = tmp_path / "k.cl"
    source.write_text(
        "typedef float f4 __attribute__((ext_vector_type(4)));\n"
        "kernel void k(global float *out, f4 v, short s) { out[0] = v.w; out[1] = v.x; out[2] = s; }\n"
    )
    command = [oracle("clang-22"), "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-O2", "-nogpulib"]
    subprocess.run([*command, str(source), "-o", str(tmp_path / "k.co")], check=True, capture_output=True)
    np.save(tmp_path / "out.npy", np.zeros(3, np.float32))
    np.save(tmp_path / "v.npy", np.array([1, 2, 3, 4], np.float32))
    head = [str(tmp_path / "k.co"), "--kernel=k", "--workgroups=1", "--workgroup-size=32", "--device=amdgpu-sim"]
    head.append(f"--arg=buffer:{tmp_path}/out.npy:{tmp_path}/out.npy")
    done = run(*head, f"--arg=value:{tmp_path}/v.npy", "--arg=i16:-7")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "out.npy").tolist() == [4, 1, -7]
    refused = run(*head, f"--arg=buffer:{tmp_path}/v.npy", "--arg=i16:-7")
    assert refused.returncode == 2 and "has 16 bytes" in refused.stderr and "value:" in refused.stderr
