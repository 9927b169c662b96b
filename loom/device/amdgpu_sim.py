"""The simulator as a device: ``amdgpu-sim``.

Python API: ``open_device("amdgpu-sim", threads=…, budget=…, sanitizers=("race",))``; see docs/simulator.md.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from loom.device.code_object import read_kernels
from loom.device.protocol import (
    Completed,
    DeviceBuffer,
    Executable,
    ExecutionCounts,
    Fault,
    Faulted,
    Outcome,
)
from loom.diagnostics import error

SANITIZERS = ("race",)
OPTIONS = frozenset(("threads", "budget", "sanitizers"))

#: Code objects that a device keeps. Host code of a kernel takes a dozen memory mappings, of which Linux grants a
#: process 65,530 by default.
KEPT_OBJECTS = 64


class SimulatorDevice:
    """Runs AMDGPU code objects on the host, functionally; it never yields a time."""

    name = "amdgpu-sim"
    progress: Callable[[int, int], None] | None = None
    """Called a few times a second during a launch with the workgroups that have begun and all; an exception ends it."""

    def __init__(self, threads: int | None = None, budget: int | None = None, sanitizers: Iterable[str] = ()) -> None:
        from loom.target.amdgpu.simulator.memory import Arena
        from loom.target.amdgpu.simulator.program import DEFAULT_BUDGET, default_threads

        for name, value in (("threads", threads), ("budget", budget)):
            if value is not None and not 0 < value < 1 << 63:
                raise error(f"the simulator's {name} must be at least 1, not {value}", "DEVICE/003")
        self.threads = threads or default_threads()
        self.budget = budget or DEFAULT_BUDGET
        self.sanitizers = tuple(sanitizers)
        for sanitizer in self.sanitizers:
            if sanitizer not in SANITIZERS:
                raise error(
                    f"the simulator has no sanitizer '{sanitizer}'",
                    "DEVICE/003",
                    hint=f"known: {', '.join(SANITIZERS)}",
                )
        self._arena = Arena()
        self._loaded: OrderedDict[str, Executable] = OrderedDict()

    def load(self, code_object: bytes) -> Executable:
        """Place the code object into device memory. Kernels are compiled when they are first launched.

        The most recent :data:`KEPT_OBJECTS` stay ready for the same bytes; older ones live as long as the caller keeps
        what this returns.
        """
        from loom.target.amdgpu.simulator.program import SimulatedObject

        digest = hashlib.sha256(code_object).hexdigest()
        found = self._loaded.get(digest)
        if found is None:
            kernels = read_kernels(code_object)
            found = Executable(digest, kernels, SimulatedObject(code_object, self._arena))
            self._loaded[digest] = found
            if len(self._loaded) > KEPT_OBJECTS:
                self._loaded.popitem(last=False)
        self._loaded.move_to_end(digest)
        return found

    def allocate(self, size: int, name: str = "") -> DeviceBuffer:
        """Device memory, zero filled, on pages of its own."""
        found = self._arena.allocate(size, name)
        return DeviceBuffer(found.address, size, found.name)

    def _range(self, buffer: DeviceBuffer, offset: int, size: int) -> int:
        known = self._arena.find(buffer.address)
        if known is None or not known.alive:
            raise error(f"'{buffer.name}' is not allocated on this device", "DEVICE/014")
        if offset < 0 or size < 0 or offset + size > known.size:
            raise error(f"bytes {offset} to {offset + size} are outside the buffer of {known.size}", "DEVICE/012")
        return buffer.address + offset

    def read(self, buffer: DeviceBuffer, offset: int = 0, size: int | None = None) -> bytes:
        """Copy bytes to the host."""
        count = buffer.size - offset if size is None else size
        return ctypes.string_at(self._range(buffer, offset, count), count)

    def write(self, buffer: DeviceBuffer, data: bytes | bytearray | memoryview, offset: int = 0) -> None:
        """Copy bytes to the device."""
        raw = memoryview(data).tobytes()
        ctypes.memmove(self._range(buffer, offset, len(raw)), raw, len(raw))

    def free(self, buffer: DeviceBuffer) -> None:
        """Release a buffer; its addresses are never used again, so stale pointers fault."""
        self._range(buffer, 0, 0)
        known = self._arena.find(buffer.address)
        assert known is not None
        self._arena.free(known)

    def launch(
        self,
        executable: Executable,
        kernel: str,
        workgroups: Sequence[int],
        workgroup_size: Sequence[int],
        kernarg: bytes,
        dynamic_lds: int = 0,
    ) -> Outcome:
        """Run a kernel to its end or its first fault."""
        info = executable.kernels.get(kernel)
        if info is None:
            raise error(
                f"the code object has no kernel '{kernel}'",
                "DEVICE/013",
                hint=f"kernels: {', '.join(sorted(executable.kernels)) or 'none'}",
            )
        groups, size = _three(workgroups, "workgroup counts"), _three(workgroup_size, "workgroup size")
        _check_launch(info, groups, size, dynamic_lds, executable.handle.object.processor.lds_bytes)
        explicit = max((a.offset + a.size for a in info.arguments if not a.kind.startswith("hidden_")), default=0)
        if len(kernarg) < explicit:
            raise error(
                f"{len(kernarg)} bytes of kernel arguments; kernel '{kernel}' takes {explicit}", "DEVICE/018",
                hint="hidden arguments need not be given",
            )  # fmt: skip
        fault, counts = executable.handle.launch(
            kernel, groups, size, kernarg, info.arguments, info.kernarg_size, dynamic_lds, self.threads, self.budget,
            "race" in self.sanitizers, self.progress,
        )  # fmt: skip
        counted = ExecutionCounts(
            counts.instructions, counts.useful, counts.waves, counts.by_class, counts.by_mnemonic, counts.bytes_read,
            counts.bytes_written,
        )  # fmt: skip
        if fault is None:
            return Completed(counted)
        return Faulted(
            Fault(
                fault.kind, fault.message, kernel, fault.pc, fault.instruction, fault.workgroup, fault.wave, fault.lane,
                fault.address, fault.nearest_buffer, fault.register,
            ),
            counted,
        )  # fmt: skip

    @property
    def events(self) -> Sequence[Mapping[str, Any]] | None:
        """None: the simulator has no clock."""
        return None

    def identity(self) -> dict[str, Any]:
        """Kind, name and version; nothing about the host, on which results do not depend."""
        from loom import __version__

        return {"kind": "simulator", "name": "loom AMDGPU simulator", "version": __version__, "timing": "none"}

    def close(self) -> None:
        """Release all device memory."""
        self._loaded.clear()
        self._arena.close()


def _three(values: Sequence[int], what: str) -> tuple[int, int, int]:
    if not 1 <= len(values) <= 3 or any(v < 1 for v in values):
        raise error(f"{what} {tuple(values)}", "DEVICE/015", hint="one to three positive numbers: X[,Y[,Z]]")
    x, y, z = [*(int(v) for v in values), 1, 1][:3]
    return x, y, z


def _check_launch(
    info: Any, groups: tuple[int, int, int], size: tuple[int, int, int], dynamic_lds: int, lds: int
) -> None:
    total = size[0] * size[1] * size[2]
    if total > 1024 or total > info.max_workgroup_size:
        limit = min(1024, info.max_workgroup_size)
        raise error(f"a workgroup of {total} work items; kernel '{info.name}' takes at most {limit}", "DEVICE/015")
    if info.required_workgroup_size is not None and size != info.required_workgroup_size:
        raise error(
            f"kernel '{info.name}' needs workgroups of {info.required_workgroup_size}, not {size}", "DEVICE/015"
        )
    # The dispatch packet holds the work items along each axis as 32 bits.
    for axis, count, items in zip("xyz", groups, size, strict=True):
        if count * items >= 1 << 32:
            raise error(
                f"{count} workgroups of {items} work items along {axis}; a grid has less than 2**32 work items a side",
                "DEVICE/015",
            )
    if groups[0] * groups[1] * groups[2] >= 1 << 32:
        raise error(f"{groups[0] * groups[1] * groups[2]} workgroups; a grid has less than 2**32", "DEVICE/015")
    if dynamic_lds < 0 or info.static_lds + dynamic_lds > lds:
        raise error(f"{info.static_lds + dynamic_lds} bytes of LDS; a workgroup has at most {lds}", "DEVICE/015")


def open_simulator(**options: Any) -> SimulatorDevice:
    """Open the simulator. Options: ``threads``, ``budget`` (instructions a wave), ``sanitizers`` (names).

    Raises:
        LoomError: ``DEVICE/003`` for a value that an option cannot have, or an option that there is not.
    """
    unknown = sorted(options.keys() - OPTIONS)
    if unknown:
        raise error(
            f"the simulator has no option '{unknown[0]}'", "DEVICE/003", hint=f"known: {', '.join(sorted(OPTIONS))}"
        )
    return SimulatorDevice(**options)
