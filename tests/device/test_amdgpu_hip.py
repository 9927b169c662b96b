"""The HIP device against a recording library that the test builds and that executes on the simulator.

No GPU is needed: what is tested is the sequence of calls, the structures passed, and that bytes arrive where they belong.
"""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loom.check.benchmark import BenchmarkRun
from loom.device.amdgpu_hip import (
    DEVICE_TO_HOST,
    HOST_TO_DEVICE,
    LIBRARY_VARIABLE,
    DeviceProperties,
    HipDevice,
    hip_is_present,
)
from loom.device.amdgpu_sim import open_simulator
from loom.device.protocol import Completed, Faulted
from loom.diagnostics import LoomError

HERE = Path(__file__).resolve().parent
SAXPY = HERE.parent / "native" / "asm" / "gfx1100" / "saxpy_asm.hsaco"


def elf_size(address: int) -> int:
    """Bytes of the ELF file in memory: its section headers stand at the end."""
    header = ctypes.string_at(address, 64)
    (sections,) = struct.unpack_from("<Q", header, 40)
    entry, count = struct.unpack_from("<HH", header, 58)
    return int(sections) + int(entry) * int(count)


class Recorder:
    """Answers the library's calls from a simulator and keeps their names and arguments."""

    def __init__(self) -> None:
        self.simulator = open_simulator()
        self.calls: list[tuple[str, tuple[int, ...]]] = []
        self.buffers: dict[int, Any] = {}
        self.modules: dict[int, Any] = {}
        self.functions: dict[int, tuple[Any, str]] = {}
        self.events = 0
        self.fail: dict[str, int] = {}
        self.segment = b""

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def __call__(self, name: bytes, words: Any, count: int) -> int:
        arguments = tuple(words[i] for i in range(count))
        text = name.decode()
        self.calls.append((text, arguments))
        if text in self.fail:
            return self.fail[text]
        answer = getattr(self, f"on_{text}", None)
        return 0 if answer is None else int(answer(*arguments) or 0)

    # what the simulator does for each call

    def on_hipGetDeviceCount(self, count: int) -> None:
        ctypes.c_int.from_address(count).value = 1

    def on_hipRuntimeGetVersion(self, version: int) -> None:
        ctypes.c_int.from_address(version).value = 70051831

    def on_hipGetDevicePropertiesR0600(self, out: int, device: int) -> None:
        ctypes.memmove(out, b"Recorded GPU\0", 13)
        ctypes.c_size_t.from_address(out + 288).value = 16 << 30

    def on_hipMalloc(self, pointer: int, size: int) -> None:
        buffer = self.simulator.allocate(size)
        self.buffers[buffer.address] = buffer
        ctypes.c_uint64.from_address(pointer).value = buffer.address

    def on_hipFree(self, pointer: int) -> None:
        self.simulator.free(self.buffers.pop(pointer))

    def _at(self, address: int) -> tuple[Any, int]:
        for start, buffer in self.buffers.items():
            if start <= address < start + max(buffer.size, 1):
                return buffer, address - start
        raise AssertionError(f"no buffer at {address:#x}")

    def on_hipMemcpy(self, target: int, source: int, size: int, kind: int) -> None:
        if kind == HOST_TO_DEVICE:
            buffer, offset = self._at(target)
            self.simulator.write(buffer, ctypes.string_at(source, size), offset)
        else:
            assert kind == DEVICE_TO_HOST
            buffer, offset = self._at(source)
            ctypes.memmove(target, self.simulator.read(buffer, offset, size), size)

    def on_hipModuleLoadData(self, module: int, image: int) -> None:
        handle = 0x1000 + len(self.modules)
        self.modules[handle] = self.simulator.load(ctypes.string_at(image, elf_size(image)))
        ctypes.c_uint64.from_address(module).value = handle

    def on_hipModuleGetFunction(self, function: int, module: int, name: int) -> int:
        kernel = ctypes.string_at(name).decode()
        if kernel not in self.modules[module].kernels:
            return 500
        handle = 0x2000 + len(self.functions)
        self.functions[handle] = (self.modules[module], kernel)
        ctypes.c_uint64.from_address(function).value = handle
        return 0

    def on_hipModuleLaunchKernel(self, function: int, *rest: int) -> int:
        gx, gy, gz, bx, by, bz, shared, stream, parameters, extra = rest
        assert (stream, parameters) == (0, 0)
        entries = (ctypes.c_uint64 * 5).from_address(extra)
        assert (entries[0], entries[2], entries[4]) == (1, 2, 3)
        size = ctypes.c_size_t.from_address(entries[3]).value
        self.segment = ctypes.string_at(entries[1], size)
        executable, kernel = self.functions[function]
        outcome = self.simulator.launch(executable, kernel, (gx, gy, gz), (bx, by, bz), self.segment, shared)
        return 0 if isinstance(outcome, Completed) else 719

    def on_hipEventCreate(self, event: int) -> None:
        self.events += 1
        ctypes.c_uint64.from_address(event).value = 0x3000 + self.events

    def on_hipEventElapsedTime(self, milliseconds: int, start: int, stop: int) -> None:
        assert stop == start + 1
        ctypes.c_float.from_address(milliseconds).value = 0.25

    def on_hipEventDestroy(self, event: int) -> None:
        self.events -= 1


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    compiler = next((c for c in ("cc", "gcc", "clang", "clang-22") if shutil.which(c)), None)
    if compiler is None:
        import os

        if os.environ.get("LOOM_REQUIRE_ORACLES") == "1":
            pytest.fail("no C compiler is present and LOOM_REQUIRE_ORACLES=1")
        pytest.skip("not verified here: a C compiler is absent")
    target = tmp_path_factory.mktemp("hip") / "libamdhip64.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", str(HERE / "hip_recorder.c"), "-o", str(target)]
    subprocess.run(command, check=True)
    return target


@pytest.fixture
def recorder(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    made = Recorder()
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_int)
    failures: list[BaseException] = []

    def guarded(name: bytes, words: Any, count: int) -> int:
        try:
            return made(name, words, count)
        except BaseException as problem:  # an exception must not leave a callback unseen
            failures.append(problem)
            return 999

    callback = kind(guarded)
    loaded = ctypes.CDLL(str(library))
    loaded.hip_recorder_set(callback)
    monkeypatch.setenv(LIBRARY_VARIABLE, str(library))
    yield made
    loaded.hip_recorder_set(ctypes.cast(None, kind))
    assert failures == []


def test_structure_layout(library: Path) -> None:
    loaded = ctypes.CDLL(str(library))
    loaded.hip_recorder_total_memory_offset.restype = ctypes.c_size_t
    assert DeviceProperties.totalGlobalMem.offset == loaded.hip_recorder_total_memory_offset()
    assert ctypes.sizeof(DeviceProperties) == 8192


def test_presence(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hip_is_present()
    recorder.fail["hipInit"] = 100
    assert not hip_is_present()
    monkeypatch.setenv(LIBRARY_VARIABLE, "/nonexistent/libamdhip64.so")
    assert not hip_is_present()
    with pytest.raises(LoomError) as failure:
        HipDevice()
    assert failure.value.exit_code == 3


def saxpy(device: HipDevice, recorder: Recorder, count: int, groups: int) -> tuple[Any, np.ndarray]:
    data = SAXPY.read_bytes()
    executable = device.load(data)
    x, y = (device.allocate(4 * count, name) for name in "xy")
    device.write(x, np.arange(count, dtype=np.float32).tobytes())
    device.write(y, np.full(count, 3.0, np.float32).tobytes())
    kernarg = struct.pack("<QQfI", x.address, y.address, 2.0, count)
    outcome = device.launch(executable, "saxpy_asm", (groups,), (256, 1, 1), kernarg)
    values = np.frombuffer(device.read(y), np.float32)
    device.free(x)
    device.free(y)
    return outcome, values


def test_saxpy_runs_through_the_library(recorder: Recorder) -> None:
    device = HipDevice()
    outcome, values = saxpy(device, recorder, 1000, 4)
    assert outcome == Completed(None, 250_000)
    assert values.tolist() == (np.arange(1000, dtype=np.float32) * 2 + 3).tolist()
    assert len(recorder.segment) == 24
    device.close()
    assert recorder.names == [
        "hipInit", "hipSetDevice", "hipModuleLoadData", "hipMalloc", "hipMalloc", "hipMemcpy", "hipMemcpy",
        "hipModuleGetFunction", "hipEventCreate", "hipEventCreate", "hipEventRecord", "hipModuleLaunchKernel",
        "hipEventRecord", "hipEventQuery", "hipEventElapsedTime", "hipEventDestroy", "hipEventDestroy",
        "hipMemcpy", "hipFree", "hipFree", "hipModuleUnload",
    ]  # fmt: skip
    launch = dict(recorder.calls)["hipModuleLaunchKernel"]
    assert launch[1:8] == (4, 1, 1, 256, 1, 1, 0)
    assert recorder.events == 0
    assert device.events == [{"kernel": "saxpy_asm", "duration_ns": 250_000}]


def test_identity(recorder: Recorder) -> None:
    identity = HipDevice().identity()
    assert identity["name"] == "Recorded GPU"
    assert identity["memory_bytes"] == 16 << 30
    assert identity["kind"] == "gpu"
    assert identity["runtime_version"] == 70051831


def test_a_failing_kernel_is_a_fault(recorder: Recorder) -> None:
    device = HipDevice()
    recorder.fail["hipEventQuery"] = 719
    outcome, _ = saxpy(device, recorder, 8, 1)
    assert isinstance(outcome, Faulted)
    assert (outcome.fault.kind, outcome.fault.message) == ("device_error", "unspecified launch failure")
    assert recorder.events == 0
    recorder.fail = {"hipModuleLaunchKernel": 1}
    outcome, _ = saxpy(device, recorder, 8, 1)
    assert isinstance(outcome, Faulted) and outcome.fault.kind == "launch_refused"


@pytest.mark.parametrize(
    ("call", "act"),
    [
        ("hipMalloc", lambda device, data: device.allocate(16)),
        ("hipModuleLoadData", lambda device, data: device.load(data)),
    ],
)
def test_refused_calls(recorder: Recorder, call: str, act: Callable[[HipDevice, bytes], Any]) -> None:
    device = HipDevice()
    recorder.fail[call] = 2
    with pytest.raises(LoomError, match="recorded error"):
        act(device, SAXPY.read_bytes())


def test_bounds_of_copies(recorder: Recorder) -> None:
    device = HipDevice()
    buffer = device.allocate(8)
    device.write(buffer, b"abcdefgh")
    assert device.read(buffer, 2, 3) == b"cde"
    device.write(buffer, b"XY", 6)
    assert device.read(buffer) == b"abcdefXY"
    for wrong in (lambda: device.write(buffer, b"123", 6), lambda: device.read(buffer, 4, 5)):
        with pytest.raises(LoomError):
            wrong()
    device.close()
    assert recorder.names[-1] == "hipFree"


def test_the_alias_prefers_a_gpu(recorder: Recorder) -> None:
    from loom.device.registry import open_device, resolve_device

    assert resolve_device("amdgpu") == "amdgpu-hip"
    lines: list[str] = []
    assert open_device("amdgpu", lines.append).name == "amdgpu-hip"
    assert lines == ["device 'amdgpu' is amdgpu-hip"]


AXPY = HERE.parent / "corpus" / "appendix" / "01_axpy.loom"


def case_document(text: str) -> dict[str, Any]:
    """The ``loom.test.v0`` document of a module's cases on the device, with its exit code."""
    import loom.target
    from loom.check.device_executor import open_executor
    from loom.check.execute import Files
    from loom.check.executor import RunOptions
    from loom.check.testing import run_tests
    from loom.text import parse_module

    loom.target.register_targets()
    module = parse_module(text, "case.loom")
    options = RunOptions()
    run = run_tests(module, lambda: open_executor("amdgpu-hip", module, options), options, Files(HERE, HERE))
    return {**run.to_json(), "exit_code": int(run.exit_code)}


def benchmark_axpy(iterations: int, warmup: int, ring: int, **request: Any) -> BenchmarkRun:
    """The dispatches of AXPY's benchmark on the device, timed."""
    import loom.target
    from loom.check.benchmark import Request, run_benchmarks
    from loom.check.device_executor import open_executor
    from loom.check.execute import Files
    from loom.check.executor import RunOptions
    from loom.check.measure import Policy
    from loom.text import parse_module

    loom.target.register_targets()
    module = parse_module(AXPY.read_text(), str(AXPY))
    options = RunOptions()
    policy = Policy(measure="dispatch_complete", iterations=iterations, warmup_iterations=warmup, ring_count=ring)
    return run_benchmarks(
        module,
        lambda: open_executor("amdgpu-hip", module, options),
        options,
        Files(AXPY.parent, AXPY.parent),
        Request(policy=policy, **request),
    )


def test_cases_pass_on_the_device(recorder: Recorder) -> None:
    document = case_document(AXPY.read_text())
    assert (document["sample_count"], document["failed_sample_count"]) == (4, 0)
    assert document["device"]["name"] == "Recorded GPU"
    assert recorder.names.count("hipModuleLaunchKernel") == 4
    assert recorder.names.count("hipMalloc") == recorder.names.count("hipFree")


def test_dispatches_are_timed_by_device_events(recorder: Recorder) -> None:
    from loom.check.benchmark_output import snapshot

    run = benchmark_axpy(3, 1, 2, require_measurement=True)
    (item,) = snapshot(run)["work_items"]
    assert run.exit_code == 0
    assert item["measurement"]["clock"] == "device_events"
    assert item["timing_ns"]["p50"] == 250_000.0
    assert item["data_cache"]["input_ring_count"] == 2


def check_faulted(document: dict[str, Any], code: str) -> list[dict[str, Any]]:
    """Every one of the four samples is there; the first failed with ``code`` at the launch."""
    assert (document["schema"], document["sample_count"], document["exit_code"]) == ("loom.test.v0", 4, 1)
    first = document["samples"][0]
    assert (first["passed"], [issue["code"] for issue in first["issues"]]) == (False, [code])
    assert first["issues"][0]["kind"] == "execution"
    assert first["issues"][0]["location"] == {"file": "case.loom", "line": 30, "column": 3}
    return list(document["samples"])


def test_a_fault_is_an_issue_although_the_device_answers_no_more(recorder: Recorder) -> None:
    """After a failed kernel HIP gives the same error to every call: copies and frees must not hide the fault."""
    answer = recorder.on_hipModuleLaunchKernel

    def launch(*arguments: int) -> int:
        recorder.fail |= dict.fromkeys(("hipEventQuery", "hipMemcpy", "hipMalloc", "hipFree", "hipModuleUnload"), 719)
        return answer(*arguments)

    recorder.on_hipModuleLaunchKernel = launch  # type: ignore[method-assign]
    samples = check_faulted(case_document(AXPY.read_text()), "FAULT/device_error")
    assert "kernel 'axpy' faulted: unspecified launch failure" in samples[0]["issues"][0]["message"]
    assert [issue["code"] for sample in samples[1:] for issue in sample["issues"]] == ["DEVICE/010"] * 3


def test_a_kernel_that_never_ends_is_an_issue(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event is never reached: the launch is a fault in time, and no later call waits for the device."""
    monkeypatch.setenv("LOOM_HIP_TIMEOUT", "0.02")
    recorder.fail["hipEventQuery"] = 600  # hipErrorNotReady
    samples = check_faulted(case_document(AXPY.read_text()), "FAULT/timeout")
    assert "not finished after 0.02 seconds" in samples[0]["issues"][0]["message"]
    assert [issue["code"] for sample in samples[1:] for issue in sample["issues"]] == ["DEVICE/016"] * 3
    last = max(place for place, name in enumerate(recorder.names) if name == "hipEventQuery")
    assert not {"hipFree", "hipEventDestroy", "hipModuleUnload", "hipMemcpy"} & set(recorder.names[last:])
    monkeypatch.setenv("LOOM_HIP_TIMEOUT", "soon")
    with pytest.raises(LoomError, match="LOOM_HIP_TIMEOUT='soon' is no positive number"):
        HipDevice()


def test_a_slow_kernel_is_waited_for(recorder: Recorder) -> None:
    polls = iter([600] * 5)
    recorder.on_hipEventQuery = lambda event: next(polls, 0)  # type: ignore[attr-defined]
    outcome, values = saxpy(HipDevice(), recorder, 8, 1)
    assert isinstance(outcome, Completed)
    assert values.tolist() == [2.0 * i + 3.0 for i in range(8)]
    assert recorder.names.count("hipEventQuery") == 6


def test_hardware_counters_are_unavailable(recorder: Recorder) -> None:
    """A time is measured; the counters that were asked for are not read, which the rows say, and nothing is replayed."""
    from loom.check.benchmark_output import rows
    from loom.check.profile import ProfileRequest

    run = benchmark_axpy(2, 0, 1, profile=ProfileRequest(("counters",), ("SQ_WAVES",)))
    assert (run.exit_code, run.items[0].state) == (0, "measured")
    assert recorder.names.count("hipModuleLaunchKernel") == 1 + 2
    found = {row["row"]: row for row in rows(run)}
    assert found["profile_replay"]["profile_replay"]["summary"]["unavailable"].startswith(
        "hardware counters are not read"
    )
    assert (found["profile_counter"]["counter"]["name"], found["profile_counter"]["counter"]["state"]) == (
        "SQ_WAVES",
        "unavailable",
    )
