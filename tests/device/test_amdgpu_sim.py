"""The simulator's device: memory, launches that are refused, determinism, the cache of compiled code."""

from __future__ import annotations

import gc
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.code_object import read_kernels
from loom.device.protocol import Completed, Outcome
from loom.device.registry import open_device
from loom.diagnostics import LoomError
from loom.target.amdgpu.simulator import launch
from tests.target.amdgpu.simulator.asm import Assembler

NATIVE = Path(__file__).resolve().parents[1] / "native"
SAXPY = (NATIVE / "asm/gfx1100/saxpy_asm.hsaco").read_bytes()


def launch_saxpy(device: SimulatorDevice, n: int = 1000) -> tuple[Outcome, np.ndarray, np.ndarray]:
    executable = device.load(SAXPY)
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    a, b = device.allocate(x.nbytes, "x"), device.allocate(y.nbytes, "y")
    device.write(a, x.tobytes())
    device.write(b, y.tobytes())
    kernarg = struct.pack("<QQfI", a.address, b.address, 2.0, n)
    outcome = device.launch(executable, "saxpy_asm", (-(-n // 256),), (256,), kernarg)
    got = np.frombuffer(device.read(b), np.float32)
    device.free(a)
    device.free(b)
    return outcome, got, 2 * x + y


def test_kernels_of_a_code_object() -> None:
    info = read_kernels(SAXPY)["saxpy_asm"]
    assert [(a.offset, a.size, a.kind) for a in info.arguments] == [
        (0, 8, "global_buffer"), (8, 8, "global_buffer"), (16, 4, "by_value"), (20, 4, "by_value"),
    ]  # fmt: skip
    assert info.wave_size == 32 and info.required_workgroup_size == (256, 1, 1)


def test_memory() -> None:
    device = SimulatorDevice(threads=1)
    buffer = device.allocate(100, "b")
    assert buffer.address % 256 == 0
    device.write(buffer, b"abc", 10)
    assert device.read(buffer, 9, 5) == b"\0abc\0"
    for bad in (lambda: device.read(buffer, 90, 20), lambda: device.write(buffer, b"x" * 101)):
        with pytest.raises(LoomError) as refused:
            bad()
        assert refused.value.diagnostics[0].code == "DEVICE/012"
    device.free(buffer)
    with pytest.raises(LoomError):
        device.read(buffer)
    other = device.allocate(100)
    assert other.address != buffer.address  # addresses of freed memory stay unused
    device.close()


@pytest.mark.parametrize(
    ("kernel", "groups", "size", "lds"),
    [("no", (1,), (256,), 0), ("saxpy_asm", (0,), (256,), 0), ("saxpy_asm", (1,), (128,), 0),
     ("saxpy_asm", (1, 1, 1, 1), (256,), 0), ("saxpy_asm", (1,), (256,), 1 << 20)],
)  # fmt: skip
def test_launches_that_are_refused(kernel: str, groups: tuple[int, ...], size: tuple[int, ...], lds: int) -> None:
    device = SimulatorDevice(threads=1)
    executable = device.load(SAXPY)
    with pytest.raises(LoomError) as refused:
        device.launch(executable, kernel, groups, size, bytes(24), lds)
    assert refused.value.diagnostics[0].code.startswith("DEVICE/")


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"not an object at all", SAXPY[:300]])
def test_bytes_that_are_no_code_object(data: bytes) -> None:
    with pytest.raises(LoomError) as refused:
        SimulatorDevice(threads=1).load(data)
    assert int(refused.value.exit_code) == 2


def test_counts() -> None:
    device = SimulatorDevice(threads=1)
    outcome, got, want = launch_saxpy(device)
    assert isinstance(outcome, Completed) and outcome.counts is not None
    np.testing.assert_array_equal(got, want)
    counts = outcome.counts
    # 1,000 of 1,024 items are active; 32 waves run 17 instructions each, 4 of them waits, no-ops and hints.
    assert counts.waves == 32 and counts.instructions == 32 * 17 and counts.useful_instructions == 32 * 13
    assert counts.bytes_read["global.b32"] == 8000 and counts.bytes_written == {"global.b32": 4000}
    assert counts.by_mnemonic["v_fmac_f32"] == 32
    assert sum(counts.by_class.values()) == counts.instructions == sum(counts.by_mnemonic.values())


def test_thread_counts_give_the_same_bytes() -> None:
    results = [launch_saxpy(SimulatorDevice(threads=t), 5000)[1].tobytes() for t in (1, 2, 5)]
    assert results[0] == results[1] == results[2]


def test_cache_survives_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A truncated, a foreign and an empty file in the cache are made anew."""
    monkeypatch.setenv("LOOM_CACHE_DIR", str(tmp_path))
    launch_saxpy(SimulatorDevice(threads=1))
    files = sorted(p for p in tmp_path.rglob("*") if p.is_file())
    assert files
    before = {p: p.read_bytes() for p in files}
    for number, path in enumerate(files):
        path.write_bytes([before[path][:50], b"", b"x" * 100, before[path][:-1]][number % 4])
    _, got, want = launch_saxpy(SimulatorDevice(threads=1))
    np.testing.assert_array_equal(got, want)
    assert {p: p.read_bytes() for p in files} == before


def test_unwritable_cache_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("LOOM_CACHE_DIR", str(blocker))
    _, got, want = launch_saxpy(SimulatorDevice(threads=1))
    np.testing.assert_array_equal(got, want)


def test_concurrent_processes_share_the_cache(tmp_path: Path) -> None:
    script = (
        "from tests.device.test_amdgpu_sim import launch_saxpy, SimulatorDevice\n"
        "import numpy\n_, got, want = launch_saxpy(SimulatorDevice(threads=1))\n"
        "assert numpy.array_equal(got, want)\n"
    )
    environment = {**os.environ, "LOOM_CACHE_DIR": str(tmp_path)}
    root = Path(__file__).resolve().parents[2]
    running = [subprocess.Popen([sys.executable, "-c", script], env=environment, cwd=root) for _ in range(3)]
    assert [p.wait(timeout=120) for p in running] == [0, 0, 0]


def test_failure_of_the_code_generator_is_an_error_not_the_end() -> None:
    from loom.target.amdgpu.simulator.compile import compile_text

    with pytest.raises(LoomError) as failed:
        compile_text("define void @f() {\n  this is no instruction\n}\n")
    assert failed.value.diagnostics[0].code == "SIMULATOR/010" and int(failed.value.exit_code) == 4


@pytest.mark.parametrize("features", ["-fma,-fma4", "-avx512f,-avx512vl,-avx512bw,-avx512dq,-fma"])
def test_results_do_not_depend_on_host_features(features: str, tmp_path: Path) -> None:
    """Without fused multiply-add, and without 512-bit vectors, the same bits."""
    script = (
        "import hashlib, numpy\n"
        "from tests.target.amdgpu.simulator.native_suite import CASES, NATIVE, run\n"
        "from loom.device.amdgpu_sim import SimulatorDevice\n"
        "device = SimulatorDevice(threads=1)\ndigest = hashlib.sha256()\n"
        "for case in CASES:\n"
        "    if case.kernel in ('saxpy_asm', 'softmax_bfly', 'pk_fma', 'dot2') and 'gfx1100' in case.file:\n"
        "        launch = case.make(300, numpy.random.default_rng(1))\n"
        "        outcome, after = run(device, device.load((NATIVE / case.file).read_bytes()), case.kernel, launch)\n"
        "        digest.update(b''.join(a.tobytes() for a in after))\n"
        "print(digest.hexdigest())\n"
    )
    root = Path(__file__).resolve().parents[2]
    outputs = []
    for extra in ("", features):
        environment = {**os.environ, "LOOM_CACHE_DIR": str(tmp_path), "LOOM_SIMULATOR_FEATURES": extra}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, cwd=root, capture_output=True, text=True, check=True
        )
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]


def test_old_code_objects_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last few stay with the device, and one that the caller holds still runs; of the others no mapping is left."""
    monkeypatch.setattr("loom.device.amdgpu_sim.KEPT_OBJECTS", 2)
    device = SimulatorDevice()
    values = np.arange(64, dtype=np.float32)
    x, y = (device.allocate(256, name) for name in "xy")
    device.write(x, values.tobytes())
    kernarg = struct.pack("<QQfI", x.address, y.address, 2.0, 64)

    def run(executable: object) -> list[float]:
        device.write(y, np.full(64, 3.0, np.float32).tobytes())
        assert isinstance(device.launch(executable, "saxpy_asm", (1,), (256,), kernarg), Completed)  # type: ignore[arg-type]
        return np.frombuffer(device.read(y), np.float32).tolist()

    def mappings() -> int:
        gc.collect()
        return sum(1 for _ in open("/proc/self/maps"))

    held = device.load(SAXPY)
    wanted = (2 * values + 3).tolist()
    assert run(held) == wanted
    counts = []
    for number in range(8):
        assert run(device.load(SAXPY + bytes(number + 1))) == wanted  # other bytes, the same kernel
        counts.append(mappings())
    # Five more kernels of a dozen mappings each would be sixty; the allocator of the process may take one or the other.
    assert counts[-1] < counts[2] + 12
    assert run(held) == wanted
    assert device.load(SAXPY) is not held
    assert device.load(SAXPY) is device.load(SAXPY)


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(LoomError) as refused:
        action()
    (diagnostic,) = refused.value.diagnostics
    return f"{diagnostic.code} {diagnostic.message}"


def test_grids_that_no_dispatch_packet_holds() -> None:
    device = SimulatorDevice(threads=1)
    executable = device.load(SAXPY)
    for groups, what in (
        ((1 << 24,), "16777216 workgroups of 256 work items along x"),
        ((1, 1 << 32), "4294967296 workgroups of 1 work items along y"),
        ((1 << 16, 1 << 16), "4294967296 workgroups; a grid has less than 2**32"),
    ):
        assert what in refusal(lambda groups=groups: device.launch(executable, "saxpy_asm", groups, (256,), bytes(24)))


def test_arguments_that_are_too_few_bytes() -> None:
    device = SimulatorDevice(threads=1)
    executable = device.load(SAXPY)
    message = refusal(lambda: device.launch(executable, "saxpy_asm", (1,), (256,), bytes(20)))
    assert message.startswith("DEVICE/018") and "20 bytes of kernel arguments; kernel 'saxpy_asm' takes 24" in message


def test_options_and_values_that_are_none() -> None:
    assert "no option 'thread'" in refusal(lambda: open_device("amdgpu-sim", thread=2))
    device = SimulatorDevice(threads=1)
    buffer = device.allocate(8)
    with pytest.raises(TypeError):
        device.write(buffer, 5)  # type: ignore[arg-type]
    device.close()
    assert "the device is closed" in refusal(lambda: device.allocate(8))


def test_a_number_of_threads_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("abc", "0", "-1"):
        monkeypatch.setenv("LOOM_SIMULATOR_THREADS", value)
        assert f"LOOM_SIMULATOR_THREADS is '{value}'" in refusal(SimulatorDevice)
    monkeypatch.setenv("LOOM_SIMULATOR_THREADS", "3")
    assert SimulatorDevice().threads == 3


def test_a_damaged_descriptor() -> None:
    """The descriptor's LDS size (bytes 0-3) and entry offset (bytes 16-23) are what the hardware uses."""
    device = SimulatorDevice(threads=1)
    at = device.load(SAXPY).handle.object.symbols["saxpy_asm.kd"].value  # its section lies in the file as in memory
    for offset, value, what in (
        (0, struct.pack("<I", 100_000), "asks for 100000 bytes of LDS"),
        (16, struct.pack("<q", 1 << 40), "has its entry at"),
        (16, struct.pack("<q", -(1 << 20)), "has its entry at -"),
    ):
        data = bytearray(SAXPY)
        data[at + offset : at + offset + len(value)] = value
        assert what in refusal(
            lambda data=data: device.launch(device.load(bytes(data)), "saxpy_asm", (1,), (256,), bytes(24))
        )


class Enough(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_of_the_progress_ends_the_launch(oracle: Callable[[str], str], threads: int) -> None:
    """All threads have stopped when it comes out, so the memory may go."""
    code = Assembler(oracle).build(".Lloop:\n  s_add_u32 s4, s4, 1\n  s_branch .Lloop\n")
    device = SimulatorDevice(threads=threads)

    def stop(begun: int, total: int) -> None:
        assert total == 2
        raise Enough

    device.progress = stop
    before = threading.active_count()
    with pytest.raises(Enough):
        device.launch(device.load(code), "k", (2,), (32,), bytes(16))
    assert threading.active_count() == before
    device.close()


def test_progress_counts_workgroups(oracle: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    body = "  s_mov_b32 s4, 0x80000\n.Lloop:\n  s_sub_u32 s4, s4, 1\n  s_cmp_lg_u32 s4, 0\n  s_cbranch_scc1 .Lloop\n  s_endpgm\n"
    device = SimulatorDevice(threads=1)
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(launch, "_REPORT_SECONDS", 0.0)
    device.progress = lambda begun, total: seen.append((begun, total))
    outcome = device.launch(device.load(Assembler(oracle).build(body)), "k", (256,), (32,), bytes(16))
    assert isinstance(outcome, Completed)
    begun = [b for b, _ in seen]
    assert {total for _, total in seen} == {256} and begun == sorted(begun) and begun[:2] == [0, 1]
