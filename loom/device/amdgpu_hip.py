"""A real AMD GPU through the HIP runtime library, by ``ctypes``.

Function names, enumerators and the layout of ``hipDeviceProp_t``'s head are those of ROCm's ``hip_runtime_api.h``
(module
API and event API, HIP 5 to 7). Kernel arguments are passed as one packed segment with
``HIP_LAUNCH_PARAM_BUFFER_POINTER``; the
runtime fills the hidden arguments behind it. The library is ``libamdhip64.so``, or what ``LOOM_HIP_LIBRARY`` names.

A kernel that never ends cannot be stopped from outside: after ``LOOM_HIP_TIMEOUT`` seconds the launch is a fault and
the device is given up, since every further call would wait for that kernel.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from loom.device.protocol import (
    Completed,
    DeviceBuffer,
    Executable,
    Fault,
    Faulted,
    KernelArgument,
    KernelInfo,
    Outcome,
)
from loom.diagnostics import ExitCode, error

LIBRARY_VARIABLE = "LOOM_HIP_LIBRARY"
TIMEOUT_VARIABLE = "LOOM_HIP_TIMEOUT"

#: Seconds that a launch may take where the environment says nothing.
DEFAULT_TIMEOUT = 60.0

#: Seconds of polling without a pause; then longer and longer pauses, up to a millisecond.
_SPIN, _LONGEST_PAUSE = 0.001, 0.001
_LIBRARY_NAMES = ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5")

#: ``hipMemcpyKind``.
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2

#: Markers of the ``extra`` array of ``hipModuleLaunchKernel``.
LAUNCH_PARAM_BUFFER_POINTER = 0x01
LAUNCH_PARAM_BUFFER_SIZE = 0x02
LAUNCH_PARAM_END = 0x03

HIP_SUCCESS = 0
HIP_ERROR_NOT_READY = 600

#: Room for ``hipDeviceProp_t``; the structure has grown from release to release and stays below this.
PROPERTIES_BYTES = 8192


class DeviceProperties(ctypes.Structure):
    """The head of ``hipDeviceProp_t`` (R0600): name, UUID, LUID, node mask, then the total memory in bytes."""

    _fields_ = (
        ("name", ctypes.c_char * 256),
        ("uuid", ctypes.c_char * 16),
        ("luid", ctypes.c_char * 8),
        ("luidDeviceNodeMask", ctypes.c_uint),
        ("totalGlobalMem", ctypes.c_size_t),
        ("rest", ctypes.c_char * (PROPERTIES_BYTES - 296)),
    )


#: Argument types of the functions used; all return ``hipError_t`` but ``hipGetErrorString``.
_P, _U = ctypes.c_void_p, ctypes.c_uint
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "hipInit": (_U,),
    "hipGetDeviceCount": (ctypes.POINTER(ctypes.c_int),),
    "hipSetDevice": (ctypes.c_int,),
    "hipRuntimeGetVersion": (ctypes.POINTER(ctypes.c_int),),
    "hipDriverGetVersion": (ctypes.POINTER(ctypes.c_int),),
    "hipMalloc": (ctypes.POINTER(_P), ctypes.c_size_t),
    "hipFree": (_P,),
    "hipMemcpy": (_P, _P, ctypes.c_size_t, ctypes.c_int),
    "hipModuleLoadData": (ctypes.POINTER(_P), _P),
    "hipModuleUnload": (_P,),
    "hipModuleGetFunction": (ctypes.POINTER(_P), _P, ctypes.c_char_p),
    "hipModuleLaunchKernel": (_P, _U, _U, _U, _U, _U, _U, _U, _P, ctypes.POINTER(_P), ctypes.POINTER(_P)),
    "hipDeviceSynchronize": (),
    "hipEventCreate": (ctypes.POINTER(_P),),
    "hipEventRecord": (_P, _P),
    "hipEventQuery": (_P,),
    "hipEventElapsedTime": (ctypes.POINTER(ctypes.c_float), _P, _P),
    "hipEventDestroy": (_P,),
}


def library_path() -> str | None:
    """The HIP library of this machine, or None."""
    chosen = os.environ.get(LIBRARY_VARIABLE)
    if chosen:
        return chosen
    found = ctypes.util.find_library("amdhip64")
    if found:
        return found
    folders = [os.environ.get("ROCM_PATH", "/opt/rocm")]
    for folder in folders:
        for name in _LIBRARY_NAMES:
            path = os.path.join(folder, "lib", name)
            if os.path.exists(path):
                return path
    return None


def _load(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    for name, arguments in SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = ctypes.c_int
    library.hipGetErrorString.argtypes = (ctypes.c_int,)
    library.hipGetErrorString.restype = ctypes.c_char_p
    return library


def hip_is_present() -> bool:
    """Whether the library loads and names at least one device; never raises."""
    path = library_path()
    if path is None:
        return False
    try:
        library = _load(path)
        count = ctypes.c_int(0)
        return library.hipInit(0) == HIP_SUCCESS and library.hipGetDeviceCount(count) == HIP_SUCCESS and count.value > 0
    except (OSError, AttributeError):
        return False


class HipDevice:
    """Device 0 (or ``ordinal``) of the HIP runtime."""

    name = "amdgpu-hip"

    def __init__(self, ordinal: int = 0) -> None:
        path = library_path()
        if path is None:
            raise error(
                "the HIP runtime (libamdhip64.so) is not installed",
                "DEVICE/002",
                exit_code=ExitCode.UNAVAILABLE,
                hint="use --device=amdgpu-sim",
            )
        try:
            self._hip = _load(path)
        except (OSError, AttributeError) as problem:
            raise error(
                f"cannot use the HIP runtime '{path}': {problem}", "DEVICE/002", exit_code=ExitCode.UNAVAILABLE
            ) from None
        self._ordinal = ordinal
        self._events: list[Mapping[str, Any]] = []
        self._modules: list[ctypes.c_void_p] = []
        self._allocated: dict[int, DeviceBuffer] = {}
        self._closed = False
        self._timeout = _timeout()
        self._lost: str | None = None
        self._failed = False
        self._call("hipInit", 0)
        self._call("hipSetDevice", ordinal)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _status(self, name: str, *arguments: Any) -> int:
        return int(getattr(self._hip, name)(*arguments))

    def _describe(self, status: int) -> str:
        text = self._hip.hipGetErrorString(status)
        return text.decode(errors="replace") if text else f"error {status}"

    def _call(self, name: str, *arguments: Any) -> None:
        if self._lost is not None:
            raise error(f"the device is lost: {self._lost}", "DEVICE/016", exit_code=ExitCode.UNAVAILABLE)
        status = self._status(name, *arguments)
        if status != HIP_SUCCESS:
            raise error(f"{name} failed: {self._describe(status)}", "DEVICE/010", exit_code=ExitCode.UNAVAILABLE)

    # --- the protocol -------------------------------------------------------------------------------------------------

    def load(self, code_object: bytes) -> Executable:
        """Load a code object as a HIP module. Raises ``DEVICE/011`` for bytes that the runtime refuses."""
        from loom.device.code_object import read_kernels

        kernels = read_kernels(code_object)
        data = ctypes.create_string_buffer(code_object, len(code_object))
        module = ctypes.c_void_p()
        status = self._status("hipModuleLoadData", ctypes.byref(module), ctypes.cast(data, ctypes.c_void_p))
        if status != HIP_SUCCESS:
            raise error(f"the device refuses the code object: {self._describe(status)}", "DEVICE/011")
        self._modules.append(module)
        return Executable(hashlib.sha256(code_object).hexdigest(), kernels, module)

    def allocate(self, size: int, name: str = "") -> DeviceBuffer:
        """Allocate device memory (HIP aligns to at least 256 bytes)."""
        pointer = ctypes.c_void_p()
        self._call("hipMalloc", ctypes.byref(pointer), max(size, 1))
        buffer = DeviceBuffer(int(pointer.value or 0), size, name)
        self._allocated[buffer.address] = buffer
        return buffer

    def _range(self, buffer: DeviceBuffer, offset: int, size: int) -> None:
        if offset < 0 or size < 0 or offset + size > buffer.size:
            raise error(f"bytes [{offset}, {offset + size}) are outside the buffer of {buffer.size}", "DEVICE/012")

    def read(self, buffer: DeviceBuffer, offset: int = 0, size: int | None = None) -> bytes:
        """Copy from the device; waits for the copy."""
        count = buffer.size - offset if size is None else size
        self._range(buffer, offset, count)
        data = ctypes.create_string_buffer(max(count, 1))
        if count:
            source = ctypes.c_void_p(buffer.address + offset)
            self._call("hipMemcpy", ctypes.cast(data, ctypes.c_void_p), source, count, DEVICE_TO_HOST)
        return data.raw[:count]

    def write(self, buffer: DeviceBuffer, data: bytes | bytearray | memoryview, offset: int = 0) -> None:
        """Copy to the device; waits for the copy."""
        raw = bytes(data)
        self._range(buffer, offset, len(raw))
        if raw:
            source = ctypes.create_string_buffer(raw, len(raw))
            target = ctypes.c_void_p(buffer.address + offset)
            self._call("hipMemcpy", target, ctypes.cast(source, ctypes.c_void_p), len(raw), HOST_TO_DEVICE)

    def free(self, buffer: DeviceBuffer) -> None:
        """Release device memory."""
        if self._allocated.pop(buffer.address, None) is None or self._lost is not None:
            return
        if self._failed:  # the error of a kernel sticks to every later call and is known already
            self._status("hipFree", ctypes.c_void_p(buffer.address))
        else:
            self._call("hipFree", ctypes.c_void_p(buffer.address))

    def launch(
        self,
        executable: Executable,
        kernel: str,
        workgroups: Sequence[int],
        workgroup_size: Sequence[int],
        kernarg: bytes,
        dynamic_lds: int = 0,
    ) -> Outcome:
        """Launch between two events and wait; a failure of the launch or of the kernel is a fault."""
        if kernel not in executable.kernels:
            raise error(f"the code object has no kernel '{kernel}'", "DEVICE/013")
        function = ctypes.c_void_p()
        self._call("hipModuleGetFunction", ctypes.byref(function), executable.handle, kernel.encode())
        explicit = explicit_size(executable.kernels[kernel], len(kernarg))
        segment = ctypes.create_string_buffer(kernarg[:explicit], max(explicit, 1))
        size = ctypes.c_size_t(explicit)
        extra = (ctypes.c_void_p * 5)(
            LAUNCH_PARAM_BUFFER_POINTER,
            ctypes.cast(segment, ctypes.c_void_p),
            LAUNCH_PARAM_BUFFER_SIZE,
            ctypes.cast(ctypes.byref(size), ctypes.c_void_p),
            LAUNCH_PARAM_END,
        )
        start, stop = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("hipEventCreate", ctypes.byref(start))
        self._call("hipEventCreate", ctypes.byref(stop))
        try:
            self._call("hipEventRecord", start, None)
            counts, sizes = _triple(workgroups), _triple(workgroup_size)
            status = self._status("hipModuleLaunchKernel", function, *counts, *sizes, dynamic_lds, None, None, extra)
            if status != HIP_SUCCESS:
                return Faulted(Fault("launch_refused", self._describe(status), kernel))
            self._call("hipEventRecord", stop, None)
            status = self._wait(stop)
            if status == HIP_ERROR_NOT_READY:
                self._lost = f"kernel '{kernel}' did not end within {self._timeout:g} seconds"
                return Faulted(Fault("timeout", f"not finished after {self._timeout:g} seconds", kernel))
            if status != HIP_SUCCESS:
                self._failed = True
                return Faulted(Fault("device_error", self._describe(status), kernel))
            elapsed = ctypes.c_float(0.0)
            self._call("hipEventElapsedTime", ctypes.byref(elapsed), start, stop)
        finally:
            if self._lost is None:
                self._status("hipEventDestroy", start)
                self._status("hipEventDestroy", stop)
        duration = round(elapsed.value * 1e6)
        self._events.append({"kernel": kernel, "duration_ns": duration})
        return Completed(None, duration)

    def _wait(self, event: ctypes.c_void_p) -> int:
        """Poll until the event is reached; ``HIP_ERROR_NOT_READY`` where that took too long."""
        start = time.monotonic()
        pause = 1e-5
        while True:
            status = self._status("hipEventQuery", event)
            waited = time.monotonic() - start
            if status != HIP_ERROR_NOT_READY or waited > self._timeout:
                return status
            if waited > _SPIN:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    @property
    def events(self) -> Sequence[Mapping[str, Any]] | None:
        """Durations of past launches between two device events."""
        return self._events

    def identity(self) -> dict[str, Any]:
        """The GPU's name and memory, and the runtime's versions."""
        properties = DeviceProperties()
        function = getattr(self._hip, "hipGetDevicePropertiesR0600", None)
        record: dict[str, Any] = {"kind": "gpu", "ordinal": self._ordinal, "timing": "device_events"}
        if function is not None:
            function.argtypes = (ctypes.POINTER(DeviceProperties), ctypes.c_int)
            function.restype = ctypes.c_int
            if function(ctypes.byref(properties), self._ordinal) == HIP_SUCCESS:
                record["name"] = properties.name.decode(errors="replace")
                record["memory_bytes"] = int(properties.totalGlobalMem)
        for key, name in (("runtime_version", "hipRuntimeGetVersion"), ("driver_version", "hipDriverGetVersion")):
            version = ctypes.c_int(0)
            if self._status(name, ctypes.byref(version)) == HIP_SUCCESS:
                record[key] = version.value
        return record

    def close(self) -> None:
        """Free what is left and unload the modules; a device that refuses, or is lost, is left as it is."""
        if self._closed:
            return
        self._closed = True
        if self._lost is None:
            for buffer in self._allocated.values():
                self._status("hipFree", ctypes.c_void_p(buffer.address))
            for module in self._modules:
                self._status("hipModuleUnload", module)
        self._allocated.clear()
        self._modules.clear()


def _timeout() -> float:
    """Seconds that a launch may take. Raises ``DEVICE/017`` for a value that is no positive number."""
    text = os.environ.get(TIMEOUT_VARIABLE)
    if not text:
        return DEFAULT_TIMEOUT
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise error(f"{TIMEOUT_VARIABLE}='{text}' is no positive number of seconds", "DEVICE/017")
    return seconds


def explicit_size(kernel: KernelInfo, given: int) -> int:
    """Bytes of the segment that hold explicit arguments; the runtime appends the hidden ones."""
    ends = [argument.offset + argument.size for argument in kernel.arguments if is_explicit(argument)]
    return min(given, max(ends, default=0)) if kernel.arguments else given


def is_explicit(argument: KernelArgument) -> bool:
    """Whether the caller gives the argument."""
    return not argument.kind.startswith("hidden_")


def _triple(values: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = [*values, 1, 1][:3]
    return x, y, z


def open_hip(**options: Any) -> HipDevice:
    """Open a GPU. ``ordinal`` chooses among several; options of the simulator are ignored."""
    return HipDevice(int(options.get("ordinal", 0)))
