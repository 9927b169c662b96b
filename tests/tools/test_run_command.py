"""``loom-raise run``: arguments, results, faults and exit codes."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from loom.diagnostics import LoomError
from loom.tools import loom_raise
from loom.tools.common import run_tool
from loom.tools.raise_commands.run import parse_argument
from tests.kernel_text import kernel_text, metadata

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
        (["--workgroups=1", "--workgroup-size=256", "--arg=i32:99999999999"], 2), ([f"--workgroups={'9' * 5000}", "--workgroup-size=256"], 2),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i8:-5", "fb"), ("u8:250", "fa"), ("i16:-30000", "d08a"), ("u16:65535", "ffff"), ("i32:-2147483648", "00000080"),
        ("i32:0xffffffff", "ffffffff"), ("u32:0x10", "10000000"), ("i64:-1", "ff" * 8), ("u64:0xfffffffffffffffe", "fe" + "ff" * 7),
        ("f16:1.5", "003e"), ("bf16:1", "803f"), ("bf16:-inf", "80ff"), ("f32:0x10", struct.pack("<f", 16).hex()),
        ("f32:inf", "0000807f"), ("f32:-0.0", "00000080"), ("f64:-2.25", struct.pack("<d", -2.25).hex()), ("null", "00" * 8),
        # 1 + 2^-8 lies between two bf16 values and goes to the even one, a little more to the upper one
        ("bf16:1.00390625", "803f"), ("bf16:1.00391", "813f"),
    ],
)  # fmt: skip
def test_numbers(text: str, expected: str) -> None:
    assert parse_argument(text) == bytes.fromhex(expected)


@pytest.mark.parametrize(
    "text",
    [
        "i32:2147483648", "i8:200", "i8:0x1ff", "u32:-1", "i32:nan", "i32:1.5", "i32:", "i32", "f32:1e40", "f16:65520", "bf16:3.4e38",
        "f64:1e400", "f32:x", "f32:", "f32:0x" + "f" * 400, "i32:" + "9" * 5000, "null:x", "", "buffer", "buffer:", "buffer::x", "buffer:x:",
    ],
)  # fmt: skip
def test_no_numbers(text: str) -> None:
    with pytest.raises(LoomError) as caught:
        parse_argument(text)
    assert int(caught.value.exit_code) == 2
    assert caught.value.diagnostics[0].code in ("RUN/002", "RUN/003", "BUFFER/002")


Inside = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inside(capfd: pytest.CaptureFixture[str]) -> Inside:
    """The command in this process: what a process of its own would print and return."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = run_tool(loom_raise.run, ["run", *arguments])
        output, errors = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, code, output, errors)

    return call


def doubled(
    inside: Inside, folder: Path, array: np.ndarray, output: str, *more: str
) -> tuple[subprocess.CompletedProcess[str], np.ndarray]:
    """Run y = 2 x + y with zeros for y over ``array``."""
    np.save(folder / "x.npy", array)
    np.save(folder / "y.npy", np.zeros_like(array))
    return inside(
        str(SAXPY), "--workgroups=1", "--workgroup-size=256", "--device=amdgpu-sim", f"--arg=buffer:{folder}/x.npy",
        f"--arg=buffer:{folder}/y.npy:{output}", "--arg=f32:2", f"--arg=u32:{array.size}", *more,
    ), 2 * array  # fmt: skip


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4).T, np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4)),
        np.arange(12, dtype=">f4"), np.array(3.5, np.float32), np.arange(12, dtype=np.float32)[::3],
    ],
)  # fmt: skip
def test_files_mean_their_values_however_they_are_stored(inside: Inside, tmp_path: Path, array: np.ndarray) -> None:
    done, expected = doubled(inside, tmp_path, array, f"{tmp_path}/out.npy")
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "out.npy")
    np.testing.assert_array_equal(found, expected)
    assert found.shape == array.shape and found.dtype == np.dtype("<f4")


def test_the_output_has_the_name_that_was_given(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    os.symlink("real", tmp_path / "link")
    for name in ("plain", "new/folder/out.bin", "link"):
        done, expected = doubled(inside, tmp_path, np.arange(4, dtype=np.float32), f"{tmp_path}/{name}")
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(tmp_path / name), expected)
    assert sorted(os.listdir(tmp_path)) == ["link", "new", "plain", "real", "x.npy", "y.npy"]
    assert os.readlink(tmp_path / "link") == "real"


@pytest.mark.parametrize("data", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\x76\x00" + b"(" * 118, b"PK\x03\x04"])
def test_a_damaged_file_is_bad_input(inside: Inside, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad.npy").write_bytes(data)
    done = inside(str(SAXPY), "--workgroups=1", "--workgroup-size=256", f"--arg=buffer:{tmp_path}/bad.npy")
    assert done.returncode == 2 and "bad.npy" in done.stderr and "numpy.save" in done.stderr


def test_a_faulted_run_keeps_the_output_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "out.npy").write_bytes(b"precious")
    done = saxpy(tmp_path, 1024)
    assert done.returncode == 1 and "not written" in done.stderr
    assert (tmp_path / "out.npy").read_bytes() == b"precious"


def test_outputs_that_cannot_be_written_are_refused_before_the_run(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    for output in (str(tmp_path), f"{tmp_path}/file/out.npy"):
        done, _ = doubled(inside, tmp_path, np.arange(4, dtype=np.float32), output)
        assert done.returncode == 2 and "cannot write" in done.stderr and done.stdout == ""
    again = f"--arg=buffer:{tmp_path}/x.npy:{tmp_path}/o.npy"
    done, _ = doubled(inside, tmp_path, np.arange(4, dtype=np.float32), f"{tmp_path}/./o.npy", again)
    assert done.returncode == 2 and "output of two arguments" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["file", "x.npy", "y.npy"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_loses_the_file_but_not_the_counts(inside: Inside, tmp_path: Path) -> None:
    done, _ = doubled(inside, tmp_path, np.arange(4, dtype=np.float32), "/dev/full", "--json")
    assert done.returncode == 2 and "No space left on device" in done.stderr
    assert json.loads(done.stdout)["outcome"] == "completed"


def two_numbers(second: int) -> str:
    """Metadata of a kernel of two numbers, the second at some offset."""
    number = "{{ .offset: {}, .size: 8, .value_kind: by_value }}"
    return metadata(number.format(0), number.format(second))


@pytest.mark.parametrize(("second", "code"), [(8, 0), (-8, 2), (4, 2), (9, 2), (80_000_000_000, 2)])
def test_arguments_lie_beside_each_other_in_their_segment(
    inside: Inside, tmp_path: Path, second: int, code: int
) -> None:
    (tmp_path / "k.s").write_text(kernel_text(body="", kernels=two_numbers(second)))
    done = inside(str(tmp_path / "k.s"), "--workgroups=1", "--workgroup-size=32", "--arg=u64:1", "--arg=u64:2")
    assert done.returncode == code, done.stderr
    refusal = "DEVICE/021" if second < 0 else "RUN/007"  # a negative offset is no metadata
    assert (refusal in done.stderr) == (code != 0)


def bundled(*objects: tuple[str, bytes]) -> bytes:
    """A clang offload bundle: magic, count, then offset, size and length of the name of each entry, and its name."""
    names = [f"hipv4-amdgcn-amd-amdhsa--{processor}".encode() for processor, _ in objects]
    at = 32 + sum(24 + len(name) for name in names)
    table, body = b"", b""
    for name, (_, data) in zip(names, objects, strict=True):
        table += struct.pack("<QQQ", at + len(body), len(data), len(name)) + name
        body += data
    return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(objects)) + table + body


def test_a_bundle_is_as_good_as_the_object_in_it(inside: Inside, tmp_path: Path) -> None:
    found = SAXPY.read_bytes()
    other = bytearray(found)
    other[48] = 0x46  # e_flags: EF_AMDGPU_MACH_AMDGCN_GFX1101
    path = tmp_path / "x.hipfb"
    arguments = ["--workgroups=1", "--workgroup-size=256", "--arg=null", "--arg=null", "--arg=f32:1", "--arg=u32:0"]
    path.write_bytes(bundled(("gfx1100", found)))
    assert inside(str(path), *arguments).returncode == 0
    path.write_bytes(bundled(("gfx1100", found), ("gfx1101", bytes(other))))
    done = inside(str(path), *arguments)
    assert done.returncode == 2 and "gfx1100, gfx1101" in done.stderr and "--processor" in done.stderr
    assert inside(str(path), "--processor=gfx1101", *arguments).returncode == 0
    assert inside(str(path), "--processor=gfx1201", *arguments).returncode == 2


def test_an_object_that_is_not_linked_says_so(inside: Inside, tmp_path: Path) -> None:
    data = bytearray(SAXPY.read_bytes())
    data[16] = 1  # e_type: ET_REL
    (tmp_path / "x.o").write_bytes(data)
    done = inside(str(tmp_path / "x.o"), "--workgroups=1", "--workgroup-size=256")
    assert done.returncode == 2 and "is not linked" in done.stderr and "ld.lld" in done.stderr


def test_an_object_without_kernels_says_so(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "k.s").write_text(kernel_text(body="", kernels="amdhsa.kernels: []"))
    done = inside(str(tmp_path / "k.s"), "--workgroups=1", "--workgroup-size=32")
    assert done.returncode == 2 and "has no kernel [" in done.stderr


def test_what_is_wrong_with_a_file_names_the_file(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "x.hsaco").write_bytes(b"hello")
    (tmp_path / "k.s").write_text('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx803"\n')
    for name in ("x.hsaco", "k.s"):
        done = inside(str(tmp_path / name), "--workgroups=1", "--workgroup-size=32")
        assert done.returncode == 2 and f"{tmp_path / name}: error: " in done.stderr


@pytest.mark.parametrize(("threads", "workgroups"), [(1, 1), (2, 4)])
def test_an_interrupt_ends_a_launch_at_once(tmp_path: Path, threads: int, workgroups: int) -> None:
    """A loop that stores is no stalled one: only its budget would end it, after a minute or more."""
    loop = "\ts_load_b64 s[4:5], s[0:1], 0x0\n\tv_mov_b32 v1, 0\n\ts_waitcnt lgkmcnt(0)\n.Lloop:\n\tv_add_nc_u32 v2, v2, 1\n\tglobal_store_b32 v1, v2, s[4:5]\n\ts_branch .Lloop"
    (tmp_path / "k.s").write_text(kernel_text(body=loop, kernels=two_numbers(8)))
    np.save(tmp_path / "x.npy", np.zeros(4, np.uint32))
    command = [
        sys.executable, "-m", "loom.tools.loom_raise", "run", str(tmp_path / "k.s"), f"--workgroups={workgroups}",
        "--workgroup-size=32", f"--threads={threads}", f"--arg=buffer:{tmp_path}/x.npy:{tmp_path}/out.npy", "--arg=u64:0",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as running:
        try:
            assert running.stderr is not None and "amdgpu-sim" in running.stderr.readline()
            time.sleep(2)  # by now the kernel is compiled and loops
            assert running.poll() is None
            running.send_signal(signal.SIGINT)
            output, errors = running.communicate(timeout=45)
        finally:
            running.kill()
    assert running.returncode == -signal.SIGINT  # a shell says 130
    assert output == "" and errors == ""
    assert not (tmp_path / "out.npy").exists()
