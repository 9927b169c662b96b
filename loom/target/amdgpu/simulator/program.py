"""A loaded code object as something to run: kernels decoded, compiled on first use, launched.

:class:`SimulatedObject` is what the device and other callers inside the product use; it has no command line and
writes no files but
the compilation cache.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loom.diagnostics import error
from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.counts import LaunchCounts
from loom.target.amdgpu.simulator.dispatch import (
    dispatch_packet,
    fill_hidden,
    hidden_values,
    queue_record,
    user_registers,
)
from loom.target.amdgpu.simulator.kernel_entry import KernelEntryState, parse_descriptor
from loom.target.amdgpu.simulator.launch_fault import LaunchFault, describe_fault
from loom.target.amdgpu.simulator.loader import LoadedObject, load_code_object
from loom.target.amdgpu.simulator.memory import Allocation, Arena

Size = tuple[int, int, int]

PRELOAD_PROLOGUE = 256
"""Bytes in front of a kernel that takes preloaded arguments (LLVM's AMDGPU usage guide, "Preloaded Kernel Arguments").
"""

DEFAULT_BUDGET = 1 << 34
"""Instructions that a wave may execute before the launch is stopped."""


@dataclass(slots=True)
class _Kernel:
    name: str
    entry: KernelEntryState
    descriptor_address: int
    code_offset: int
    code: list[MachineInstruction]
    entries: list[int]
    compiled: dict[Any, Any]


class SimulatedObject:
    """A code object in the simulator's memory."""

    def __init__(self, data: bytes, arena: Arena) -> None:
        self.arena = arena
        self.object: LoadedObject = load_code_object(data, arena)
        self.generation = self.object.processor.generation
        self._kernels: dict[str, _Kernel] = {}
        self._queue = self._system_buffer(queue_record(), "queue")

    def _system_buffer(self, data: bytes, name: str) -> Allocation:
        import ctypes

        found = self.arena.allocate(len(data), name, own=True)
        ctypes.memmove(found.address, data, len(data))
        return found

    def kernel(self, name: str) -> _Kernel:
        """Decode a kernel and whatever it may call. Raises ``SIMULATOR/030`` for an unknown name."""
        found = self._kernels.get(name)
        if found is not None:
            return found
        loaded = self.object
        descriptor = loaded.symbols.get(f"{name}.kd")
        if descriptor is None:
            known = sorted(n[:-3] for n in loaded.symbols if n.endswith(".kd"))
            raise error(f"the code object has no kernel '{name}'", "SIMULATOR/030", hint=f"kernels: {', '.join(known)}")
        import ctypes

        raw = ctypes.string_at(loaded.image.address + descriptor.value, 64)
        entry = parse_descriptor(raw, self.generation)
        if loaded.processor.name == "gfx942":
            entry = replace(entry, mode=replace(entry.mode, fnuz=True))
        start = descriptor.value + entry.entry_offset - loaded.text_address
        # A kernel with preloaded arguments begins with 256 bytes for firmware that cannot preload; the rest is the
        # kernel.
        skip = PRELOAD_PROLOGUE if entry.preload[0] and self.generation == "gfx9.4" else 0
        if start % 4 or not 0 <= start + skip < len(loaded.text):
            raise error(
                f"the descriptor of kernel '{name}' has its entry at {start:#x} of the text section, which has "
                f"{len(loaded.text):#x} bytes",
                "SIMULATOR/032",
                hint="the code object is damaged",
            )
        code, entries = self._decode(start, skip, entry.wave)
        start += skip
        found = _Kernel(name, entry, loaded.image.address + descriptor.value, start, code, entries, {})
        self._kernels[name] = found
        return found

    def _decode(self, start: int, skip: int, wave: int) -> tuple[list[MachineInstruction], list[int]]:
        """The kernel's instructions first, then those of the functions that it may call."""
        from loom.target.amdgpu.simulator.calls import call_targets
        from loom.target.amdgpu.simulator.decode import decode_range

        loaded = self.object
        kernels = {n[:-3] for n in loaded.symbols if n.endswith(".kd")}
        functions = {
            s.value - loaded.text_address: s.size for s in loaded.functions() if s.name not in kernels and s.size
        }
        sizes = {s.value - loaded.text_address: s.size for s in loaded.functions() if s.size}
        size = sizes.get(start, len(loaded.text) - start) - skip
        start += skip
        code = decode_range(loaded.text, start, size, loaded.processor, wave)
        entries = [start]
        pending = [code]
        while pending:
            part = pending.pop()
            targets = call_targets(part)
            inside = {t for t in targets or () if start <= t < start + size}
            entries.extend(sorted(inside - set(entries)))
            # A call that the code does not resolve may reach any function.
            unknown = targets is None or not targets - inside <= functions.keys()
            wanted = functions if unknown else (targets or set()) - inside
            for offset in sorted(wanted):
                if offset not in entries:
                    entries.append(offset)
                    more = decode_range(loaded.text, offset, functions[offset], loaded.processor, wave)
                    pending.append(more)
                    code = code + more
        return code, entries

    def compiled(self, kernel: _Kernel, full: bool, race: bool) -> Any:
        """Host code for a kernel; ``full`` when every wave starts with all lanes active."""
        from loom.target.amdgpu.simulator.compile import has_hardware_fma
        from loom.target.amdgpu.simulator.engine import compile_kernel
        from loom.target.amdgpu.simulator.hazard_check import hazard_faults
        from loom.target.amdgpu.simulator.kernel_cache import identity
        from loom.target.amdgpu.simulator.translate import Settings

        key = (full, race)
        found = kernel.compiled.get(key)
        if found is None:
            entry = kernel.entry
            settings = Settings(
                self.generation, entry.wave, entry.vector_count, entry.scalar_count, entry.accumulator_count,
                entry.mode, full, has_hardware_fma(), race,
            )  # fmt: skip
            loaded = self.object
            processor, apart, start = loaded.processor.name, entry.workgroup_processor_mode, kernel.code_offset
            places = [(i.pc, i.size) for i in kernel.code]
            found = compile_kernel(
                kernel.code, kernel.entries, start, len(loaded.text), settings,
                lambda: hazard_faults(kernel.code, kernel.entries, processor, entry.wave, loaded.compiler), apart,
                identity(loaded.text, places, kernel.entries, start, settings, processor, loaded.compiler, apart),
            )  # fmt: skip
            kernel.compiled[key] = found
        return found

    def launch(
        self,
        name: str,
        groups: Size,
        group_size: Size,
        kernarg: bytes,
        arguments: Sequence[Any],
        kernarg_size: int,
        dynamic_lds: int = 0,
        threads: int = 1,
        budget: int = DEFAULT_BUDGET,
        race: bool = False,
        report: Callable[[int, int], None] | None = None,
    ) -> tuple[LaunchFault | None, LaunchCounts]:
        """Run a kernel over a grid.

        Args:
            kernarg: The explicit arguments; hidden ones are filled from ``arguments`` (entries with offset, size,
            kind).
            threads: Host threads; results do not depend on it, except for the order of atomics on global memory.
            budget: Instructions that a wave may execute.
            race: Whether the LDS race sanitizer watches.
            report: Called a few times a second with the workgroups that have begun and all.

        Raises:
            LoomError: ``SIMULATOR/031`` where the descriptor asks for more LDS than there is.
        """
        from loom.target.amdgpu.simulator.launch import LaunchPlan, run_kernel

        kernel = self.kernel(name)
        entry = kernel.entry
        total = group_size[0] * group_size[1] * group_size[2]
        lds = entry.static_lds + dynamic_lds
        if lds > self.object.processor.lds_bytes:
            raise error(
                f"the descriptor of kernel '{name}' asks for {entry.static_lds} bytes of LDS, the launch for "
                f"{dynamic_lds}; a workgroup has at most {self.object.processor.lds_bytes}",
                "SIMULATOR/031",
            )
        # The segment is 16-byte aligned and whole 16-byte pieces of it may be loaded.
        segment = bytearray(-(-max(kernarg_size, len(kernarg), 16) // 16) * 16)
        segment[: len(kernarg)] = kernarg
        fill_hidden(segment, arguments, hidden_values(groups, group_size, dynamic_lds, self._queue.address))
        scratch = entry.scratch + (4096 if entry.dynamic_stack else 0)
        scratch = -(-scratch // 4) * 4
        kernarg_buffer = self._system_buffer(bytes(segment), "kernel arguments")
        packet = self._system_buffer(
            dispatch_packet(groups, group_size, kernel.descriptor_address, kernarg_buffer.address, lds, scratch),
            "dispatch packet",
        )
        try:
            compiled = self.compiled(kernel, total % entry.wave == 0, race)
            addresses = {
                "dispatch_ptr": packet.address,
                "queue_ptr": self._queue.address,
                "kernarg_segment_ptr": kernarg_buffer.address,
                "dispatch_id": 1,
                "flat_scratch_init": 0,
                "private_segment_size": scratch,
            }
            plan = LaunchPlan(
                groups,
                group_size,
                user_registers(entry, addresses, bytes(segment)),
                entry.group_registers(self.generation),
                L.TTMP + 8 if self.generation == "gfx12" else -1,
                entry.workitem_dimensions,
                lds,
                scratch,
                self.object.image.address + self.object.text_address,
                len(self.object.text),
                self.arena.ranges(),
                threads,
                budget=budget,
                slice_instructions=min(1 << 22, max(budget, 1)),
            )
            result = run_kernel(compiled, plan, report)
            fault = describe_fault(compiled, result, groups, budget, self.arena) if result.status else None
        finally:
            self.arena.free(kernarg_buffer)
            self.arena.free(packet)
        return fault, compiled.count_table.counts(result.counts, result.lanes, result.waves)


def default_threads() -> int:
    """Host threads for a launch: ``LOOM_SIMULATOR_THREADS``, else all processors of this process."""
    chosen = os.environ.get("LOOM_SIMULATOR_THREADS")
    if chosen:
        if not chosen.isdecimal() or int(chosen) < 1:
            raise error(f"LOOM_SIMULATOR_THREADS is '{chosen}'", "SIMULATOR/033", hint="give a number of threads")
        return int(chosen)
    return max(1, len(os.sched_getaffinity(0)))
