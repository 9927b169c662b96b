"""A loaded code object as something to run: kernels decoded, compiled on first use, launched.

:class:`SimulatedObject` is what the device and other callers inside the product use; it has no command line and
writes no files but
the compilation cache.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from loom.diagnostics import error
from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.dispatch import (
    dispatch_packet,
    fill_hidden,
    hidden_values,
    queue_record,
    user_registers,
)
from loom.target.amdgpu.simulator.kernel_entry import KernelEntryState, parse_descriptor
from loom.target.amdgpu.simulator.loader import LoadedObject, load_code_object
from loom.target.amdgpu.simulator.memory import Allocation, Arena
from loom.target.amdgpu.simulator.memory_forms import counted_bytes

Size = tuple[int, int, int]

FAULT_NAMES = {
    L.FAULT_OUT_OF_BOUNDS: "out_of_bounds",
    L.FAULT_LDS: "lds_out_of_bounds",
    L.FAULT_SCRATCH: "scratch_out_of_bounds",
    L.FAULT_MISALIGNED: "misaligned_access",
    L.FAULT_BAD_PC: "bad_program_counter",
    L.FAULT_RACE: "lds_race",
    L.FAULT_REGISTER: "unallocated_register",
    L.FAULT_FORMAT: "unsupported_format",
    L.FAULT_RESOURCE: "unsupported_resource",
    L.FAULT_UNCOVERED: "uncovered_store",
    L.FAULT_UNRELEASED: "uncovered_store",
}

PRELOAD_PROLOGUE = 256
"""Bytes in front of a kernel that takes preloaded arguments (LLVM's AMDGPU usage guide, "Preloaded Kernel Arguments").
"""

DEFAULT_BUDGET = 1 << 34
"""Instructions that a wave may execute before the launch is stopped."""


@dataclass(frozen=True, slots=True)
class LaunchCounts:
    """Executed instructions (once a wave) and bytes moved (by active lanes)."""

    instructions: int
    useful: int
    waves: int
    by_class: dict[str, int]
    by_mnemonic: dict[str, int]
    bytes_read: dict[str, int]
    bytes_written: dict[str, int]


@dataclass(frozen=True, slots=True)
class LaunchFault:
    """A fault with everything that is known about it; ``address`` is a device address, or an LDS or scratch offset."""

    kind: str
    message: str
    pc: int | None
    instruction: str | None
    workgroup: Size | None
    wave: int | None
    lane: int | None
    address: int | None
    nearest_buffer: dict[str, Any] | None
    register: str | None


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

        found = self.arena.allocate(len(data), name)
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
            if not any(i.row.mnemonic in ("s_swappc_b64", "s_call_b64") for i in part):
                continue
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
                self.generation, entry.wave, entry.vector_count, entry.accumulator_count, entry.mode, full,
                has_hardware_fma(), race,
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
    ) -> tuple[LaunchFault | None, LaunchCounts]:
        """Run a kernel over a grid.

        Args:
            kernarg: The explicit arguments; hidden ones are filled from ``arguments`` (entries with offset, size,
            kind).
            threads: Host threads; results do not depend on it, except for the order of atomics on global memory.
            budget: Instructions that a wave may execute.
            race: Whether the LDS race sanitizer watches.
        """
        from loom.target.amdgpu.simulator.launch import LaunchPlan, run_kernel

        kernel = self.kernel(name)
        entry = kernel.entry
        total = group_size[0] * group_size[1] * group_size[2]
        waves = -(-total // entry.wave)
        lds = entry.static_lds + dynamic_lds
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
            result = run_kernel(compiled, plan)
        finally:
            self.arena.free(kernarg_buffer)
            self.arena.free(packet)
        counts = self._counts(compiled, result)
        if not result.status:
            return None, counts
        return self._fault(kernel, compiled, result, groups, waves, budget), counts

    def _counts(self, compiled: Any, result: Any) -> LaunchCounts:
        return count_launch(compiled, result)

    def _fault(self, kernel: _Kernel, compiled: Any, result: Any, groups: Size, waves: int, budget: int) -> LaunchFault:
        x = result.fault_group % groups[0]
        y = result.fault_group // groups[0] % groups[1]
        z = result.fault_group // (groups[0] * groups[1])
        group = (x, y, z)
        if result.status == L.RUN_OVER_BUDGET:
            kind, message = self._never_met(kernel, compiled, result, budget)
            at = kernel.code[compiled.translation.blocks[result.fault_resume][0]]
            return LaunchFault(
                kind, message, at.pc, describe(at), group, result.fault_wave, None, None, None, None
            )  # fmt: skip
        number = compiled.translation.sites[result.fault_site]
        instruction = kernel.code[number]
        text = describe(instruction)
        static = compiled.translation.faults.get(result.fault_site)
        if static is not None and result.fault_kind == L.STATIC_FAULT:
            return LaunchFault(
                static.kind, static.message, instruction.pc, text, group, result.fault_wave, None, None, None,
                static.register,
            )  # fmt: skip
        kind = FAULT_NAMES.get(result.fault_kind, "fault")
        lane = result.fault_lane if result.fault_lane >= 0 else None
        address = result.fault_address
        nearest = None
        size = result.fault_size
        if result.fault_kind in (L.FAULT_OUT_OF_BOUNDS, L.FAULT_MISALIGNED, L.FAULT_BAD_PC):
            near = self.arena.nearest(address)
            message = f"{size} bytes at {address:#x}"
            if near is not None:
                nearest = {
                    "name": near.name,
                    "begin": f"{near.address:#x}",
                    "end": f"{near.address + near.size:#x}",
                    "size": near.size,
                    "freed": not near.alive,
                }
                inside = near.address <= address and address + size <= near.address + near.size
                if inside and not near.alive:
                    kind = "freed_memory"
                    message += f" lie in '{near.name}', which has been freed"
                elif result.fault_kind == L.FAULT_MISALIGNED:
                    message += " are not aligned as the instruction needs"
                elif result.fault_kind == L.FAULT_BAD_PC:
                    message = f"the jump goes to {address:#x}, where no known function or block starts"
                else:
                    message += f" are outside every buffer; nearest is '{near.name}'"
        elif result.fault_kind == L.FAULT_LDS:
            address -= self._lds_base(result)
            message = f"{size} bytes at LDS offset {address:#x} are beyond the {result.lds_size} bytes allocated"
        elif result.fault_kind == L.FAULT_SCRATCH:
            message = f"{size} bytes at scratch offset {address:#x} are beyond the lane's {kernel.entry.scratch} bytes"
        elif result.fault_kind == L.FAULT_REGISTER:
            message = f"M0 makes the move reach register {address}, beyond those that the kernel allocates"
        elif result.fault_kind == L.FAULT_RESOURCE:
            message = "the buffer resource asks for swizzled addresses or for the lane's number in the index"
        elif result.fault_kind == L.FAULT_FORMAT:
            message = f"buffer format {address} is none of this target, or its values as 16 bits are not defined"
        elif result.fault_kind == L.FAULT_UNCOVERED:
            kind, message, address = self._at_barrier(compiled, result)
        elif result.fault_kind == L.FAULT_UNRELEASED:
            store = compiled.code[compiled.translation.sites[result.other_site]]
            message = (
                f"the bytes at {address:#x} were stored by wave {result.other_wave} of another workgroup with "
                f"'{store.mnemonic}' at {store.pc:#x}, and that wave has not waited for its stores since: what this "
                "wave acquired before the load was not released"
            )
        else:
            message = f"two waves access LDS offset {address:#x}, at least one of them writing, with no barrier between"
        return LaunchFault(kind, message, instruction.pc, text, group, result.fault_wave, lane, address, nearest, None)

    def _at_barrier(self, compiled: Any, result: Any) -> tuple[str, str, int]:
        """Kind, message and address of an access that conflicts with one that a barrier found under way."""
        other = compiled.code[compiled.translation.sites[result.other_site]]
        by = f"by wave {result.other_wave} with '{other.mnemonic}' at {other.pc:#x}, and no wait covers the"
        if other.row.memory.space != "lds":
            text = f"the bytes at {result.fault_address:#x} were stored {by} store before the barrier that publishes it"
            return "uncovered_store", text, result.fault_address
        offset = result.fault_address - self._lds_base(result)
        return "outstanding_load", f"LDS offset {offset:#x} was read {by} load before the barrier in between", offset

    @staticmethod
    def _never_met(kernel: _Kernel, compiled: Any, result: Any, budget: int) -> tuple[str, str]:
        """Kind and message of a launch that used up its budget: a barrier where waves wait, or an endless loop."""
        waiting: dict[int, list[int]] = {}
        ended: list[int] = []
        for wave, (status, resume) in enumerate(result.wave_states):
            if status == L.AT_BARRIER:
                # The wave resumes behind the barrier, which ends the block in front.
                waiting.setdefault(kernel.code[compiled.translation.blocks[resume][0] - 1].pc, []).append(wave)
            elif status == L.ENDED:
                ended.append(wave)
        spent = f"wave {result.fault_wave} executed more than {budget} instructions"
        if result.stalled:
            running = [wave for wave, (status, _) in enumerate(result.wave_states) if status == L.RUNNING]
            spent = f"{_waves(running)} loop{'s' if len(running) == 1 else ''} without changing a register or memory"
            if result.others:
                spent += f" (so do waves of {result.others} other workgroups)"
            if result.not_started:
                spent += (
                    f"; {result.not_started} workgroups could not begin meanwhile, for want of memory for their state"
                )
        if not waiting:
            return "instruction_budget", f"{spent}, for ever" if result.stalled else f"{spent}; it may loop for ever"
        places = "; ".join(f"{_waves(waves)} at the barrier at {pc:#x}" for pc, waves in sorted(waiting.items()))
        gone = f"; ended: {_waves(ended)}" if ended else ""
        return (
            "barrier_not_reached",
            f"a barrier opens when every wave that has not ended is there; waiting: {places}{gone}; {spent} "
            "without reaching it",
        )

    @staticmethod
    def _lds_base(result: Any) -> int:
        return int(result.lds_base)


def describe(instruction: MachineInstruction) -> str:
    """The instruction's assembly text."""
    if "word" in instruction.modifiers:
        return f".long {instruction.modifiers['word']:#010x}"
    return str(instruction)


def count_launch(compiled: Any, result: Any) -> LaunchCounts:
    """Turn block counters and lane counters into counts by class, mnemonic and width."""
    from loom.target.amdgpu.simulator.instruction_sets import NOP_CLASSES

    code = compiled.code
    mnemonics: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    useful = 0
    total = 0
    scalar_reads: Counter[str] = Counter()
    for (first, last), times in zip(compiled.translation.blocks, result.counts.tolist(), strict=False):
        if not times:
            continue
        for number in range(first, last):
            instruction = code[number]
            row = instruction.row
            name = row.mnemonic
            total += times
            issue = row.issue_class
            if name in NOP_CLASSES:
                issue = "nop"
            elif name.startswith(("s_waitcnt", "s_wait_")):
                issue = "wait"
            classes[issue] += times
            mnemonics[name if instruction.y is None else f"{name}::{instruction.y.row.mnemonic}"] += times
            if issue not in ("nop", "wait"):
                useful += times
            if row.memory is not None and row.memory.space == "constant" and row.memory.kind == "load":
                scalar_reads[f"constant.b{row.memory.bytes * 8}"] += times * row.memory.bytes
    read: Counter[str] = Counter(scalar_reads)
    written: Counter[str] = Counter()
    for site, lanes in zip(compiled.translation.sites, result.lanes.tolist(), strict=False):
        memory = code[site].row.memory
        if not lanes or memory is None:
            continue
        size = counted_bytes(code[site].row)
        key = f"{memory.space}.b{size * 8}"
        if memory.kind in ("load", "load_lds", "atomic"):
            read[key] += lanes * size
        if memory.kind in ("store", "atomic"):
            written[key] += lanes * size
    return LaunchCounts(
        total, useful, result.waves, dict(sorted(classes.items())), dict(sorted(mnemonics.items())),
        dict(sorted(read.items())), dict(sorted(written.items())),
    )  # fmt: skip


def default_threads() -> int:
    """Host threads for a launch: ``LOOM_SIMULATOR_THREADS``, else all processors of this process."""
    chosen = os.environ.get("LOOM_SIMULATOR_THREADS")
    if chosen and chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    return max(1, len(os.sched_getaffinity(0)))


def _waves(numbers: Sequence[int]) -> str:
    """``wave 3``, ``waves 0, 2, 5``; long lists are cut."""
    shown = ", ".join(map(str, numbers[:8])) + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")
    return f"wave{'s' if len(numbers) > 1 else ''} {shown}"
