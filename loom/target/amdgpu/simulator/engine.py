"""Compiling a kernel's translation and running it over workgroups.

A :class:`CompiledKernel` is host code for one kernel under one :class:`Settings`; :func:`run_kernel` sets up the
launch block and the
state blocks and calls it from one thread for each share of the workgroups.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.compile import Library, compile_text, has_hardware_fma
from loom.target.amdgpu.simulator.helpers import Helper, helper_text
from loom.target.amdgpu.simulator.publication import ENTRIES, ENTRY_BYTES, publication_text
from loom.target.amdgpu.simulator.release import TABLE_BYTES, acquires, release_text
from loom.target.amdgpu.simulator.runtime import runtime_declarations, runtime_text
from loom.target.amdgpu.simulator.scheduler import scheduler_text
from loom.target.amdgpu.simulator.static_check import StaticChecker
from loom.target.amdgpu.simulator.translate import Settings, StaticFault, Translation, Translator

Bytes = npt.NDArray[np.uint8]

LARGE_KERNEL = 4000
"""Instructions from which code is generated quickly rather than well."""


@dataclass(slots=True)
class CompiledKernel:
    """Host code of a kernel, and the tables to read its counters with."""

    code: Sequence[MachineInstruction]
    translation: Translation
    settings: Settings
    library: Library
    entry_table: npt.NDArray[np.int32]
    entry_block: int
    watched: bool = False
    releases: bool = False

    @property
    def run(self) -> Any:
        """``run(launch, begin, end)``: 0 completed, 1 fault, 2 budget exceeded."""
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
        return prototype(self.library.addresses["loom.run"])


def helper_objects(helpers: set[Helper], wave: int) -> list[bytes]:
    """Objects that define the helpers; helpers of one access share an object, so the cache is shared by kernels."""
    fma = has_hardware_fma()
    groups: dict[tuple[str, str], set[Helper]] = {}
    for helper in helpers:
        groups.setdefault((helper.space, helper.suffix), set()).add(helper)
    objects = []
    for _, group in sorted(groups.items()):
        members = set(group)
        for helper in group:
            if helper.wide:
                members.add(_narrow(helper))
        ordered = sorted(members, key=lambda h: h.name)
        text = runtime_declarations(wave) + "".join(helper_text(h, fma) for h in ordered)
        objects.append(compile_text(text))
    return objects


def _narrow(helper: Helper) -> Helper:
    return Helper(
        helper.space, helper.suffix, helper.wave, False, helper.returning, helper.flush32, helper.flush64, helper.race
    )


def compile_kernel(
    code: Sequence[MachineInstruction],
    entries: Sequence[int],
    entry: int,
    text_size: int,
    settings: Settings,
    extra_faults: Mapping[int, StaticFault] | None = None,
    apart: bool = False,
) -> CompiledKernel:
    """Translate and compile a kernel.

    Args:
        code: Instructions by ascending ``pc``, byte offsets in the text section; the kernel's entry first.
        entries: Offsets where control may enter: functions, and whatever the symbol table names.
        entry: Offset of the kernel's first instruction.
        text_size: Bytes of the text section.
        extra_faults: Faults found elsewhere (hazards), by instruction number.
        apart: Whether waves of a workgroup reach memory through different caches.
    """
    translator = Translator(code, entries, settings, {})
    faults = dict(extra_faults or {})
    checker = StaticChecker(code, translator.result.blocks, settings.generation, entries)
    faults.update(checker.run())
    translator.static_faults = faults
    translator.watch(frozenset(checker.unread | (checker.unpublished if apart else set())))
    translator.releases = apart and any(map(acquires, code))
    translation = translator.translate()
    level = 2 if len(code) < LARGE_KERNEL else 0
    objects = [compile_text(translation.text, level)]
    wave = settings.wave
    objects.append(compile_text(runtime_text(wave) + scheduler_text(wave)))
    objects += helper_objects(translation.helpers, wave)
    if translator.watched:
        objects.append(compile_text(publication_text(wave)))
    if translator.releases:
        objects.append(compile_text(release_text(wave)))
    if not settings.hardware_fma:
        from loom.target.amdgpu.simulator.soft_fma import soft_fma_text

        objects.append(compile_text(soft_fma_text(wave)))
    library = Library(objects, ["loom.run"])
    table = np.full(max(1, -(-text_size // 4)), -1, dtype=np.int32)
    for number, (first, _) in enumerate(translation.blocks):
        offset = code[first].pc
        if 0 <= offset < text_size:
            table[offset // 4] = number
    return CompiledKernel(
        code,
        translation,
        settings,
        library,
        table,
        int(table[entry // 4]),
        bool(translator.watched),
        translator.releases,
    )


@dataclass(slots=True)
class LaunchPlan:
    """Everything a launch needs, as numbers."""

    groups: tuple[int, int, int]
    group_size: tuple[int, int, int]
    scalar_registers: Mapping[int, int]
    group_registers: tuple[int, int, int, bool]
    wave_id_register: int
    workitem_dimensions: int
    lds_bytes: int
    scratch_bytes: int
    code_base: int
    text_size: int
    buffers: Sequence[tuple[int, int]]
    threads: int = 1
    slice_instructions: int = 1 << 22
    budget: int = 1 << 36


@dataclass(slots=True)
class RunResult:
    """Counters of a finished or stopped launch; ``status`` 0 completed, 1 fault, 2 budget.

    ``wave_states``: status, and block to resume at, of the waves of the workgroup that stopped, as far as they are
    known to have started.

    ``stalled``: the launch was stopped because a state of the waves that run has come back.
    """

    status: int
    counts: npt.NDArray[np.int64]
    lanes: npt.NDArray[np.int64]
    waves: int
    fault_kind: int = 0
    fault_site: int = 0
    fault_lane: int = -1
    fault_size: int = 0
    fault_address: int = 0
    fault_wave: int = 0
    fault_group: int = 0
    fault_resume: int = 0
    stalled: bool = False
    other_wave: int = 0
    other_site: int = 0
    wave_states: list[tuple[int, int]] = field(default_factory=list)
    lds_base: int = 0
    lds_size: int = 0


def _aligned(size: int) -> tuple[Bytes, int]:
    """Zeroed memory at a 64-byte boundary: the array that owns it, and its address."""
    raw = np.zeros(size + 128, dtype=np.uint8)
    address = raw.ctypes.data
    return raw, (address + 63) & ~63


def _view(address: int, size: int) -> Bytes:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def lane_ids(
    group_size: tuple[int, int, int], wave: int, dimensions: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
    """The packed work-item ids of every wave (10 bits a dimension) and every wave's initial EXEC."""
    x, y, z = group_size
    total = x * y * z
    waves = -(-total // wave)
    index = np.arange(waves * wave, dtype=np.uint32)
    packed: npt.NDArray[Any] = index % x
    if dimensions > 1:
        packed = packed | ((index // x % y) << 10)
    if dimensions > 2:
        packed = packed | ((index // (x * y)) << 20)
    valid = (index < total).reshape(waves, wave)
    ids = np.where(index < total, packed, 0).astype(np.uint32).reshape(waves, wave)
    weights = np.uint64(1) << np.arange(wave, dtype=np.uint64)
    execs = (valid.astype(np.uint64) * weights).sum(axis=1, dtype=np.uint64)
    return ids, execs


class _Worker:
    """Memory and result of one thread's share of a launch."""

    def __init__(
        self,
        kernel: CompiledKernel,
        plan: LaunchPlan,
        ids: npt.NDArray[np.uint32],
        execs: npt.NDArray[np.uint64],
        alone: bool,
    ) -> None:
        settings = kernel.settings
        wave = settings.wave
        waves = self.waves = ids.shape[0]
        self.one_slice = plan.budget <= plan.slice_instructions
        registers = settings.vector_count + settings.accumulator_count
        self.state_size = L.VGPRS + registers * wave * 4
        self.state_size = -(-self.state_size // 64) * 64
        self.keep: list[Any] = []
        states, states_at = _aligned(self.state_size * waves)
        lds, lds_at = _aligned(plan.lds_bytes + 64)
        scratch_wave = plan.scratch_bytes * wave
        scratch, scratch_at = _aligned(scratch_wave * waves + 64)
        launch, launch_at = _aligned(L.L_SIZE)
        template, template_at = _aligned(L.VGPRS)
        self.counts = np.zeros(max(1, len(kernel.translation.blocks)), dtype=np.int64)
        self.lanes = np.zeros(max(1, len(kernel.translation.sites)), dtype=np.int64)
        hints = np.zeros(2 * max(1, len(kernel.translation.sites)), dtype=np.int64)
        buffers = np.array(sorted(plan.buffers), dtype=np.int64).reshape(-1, 2)
        used = np.zeros(waves, dtype=np.int64)
        self.keep += [states, lds, scratch, launch, template, hints, buffers, used, ids, execs, kernel.entry_table]
        self.launch_address = launch_at
        self.states_address = states_at
        header = _view(template_at, L.VGPRS)
        words = header.view(np.uint32)
        quads = header.view(np.uint64)
        words[L.SGPRS // 4 :] = L.POISON_WORD
        words[L.SGPRS // 4 + L.VCC] = 0
        words[L.SGPRS // 4 + L.VCC + 1] = 0
        words[L.SGPRS // 4 + L.M0] = 0
        words[L.RESUME // 4] = kernel.entry_block
        quads[L.LDS_BASE // 8] = lds_at
        quads[L.LDS_SIZE // 8] = plan.lds_bytes
        quads[L.SCRATCH_SIZE // 8] = plan.scratch_bytes
        quads[L.CODE_BASE // 8] = plan.code_base
        quads[L.HINTS // 8] = hints.ctypes.data
        quads[L.COUNTS // 8] = self.counts.ctypes.data
        quads[L.LANES // 8] = self.lanes.ctypes.data
        quads[L.BUFFERS // 8] = buffers.ctypes.data
        quads[L.BUFFER_COUNT // 8] = len(buffers)
        quads[L.ENTRY_TABLE // 8] = kernel.entry_table.ctypes.data
        quads[L.CODE_SIZE // 8] = plan.text_size
        quads[L.STATE_SIZE // 8] = self.state_size
        if kernel.watched:
            table, table_at = _aligned(ENTRIES * ENTRY_BYTES)
            self.keep.append(table)
            quads[L.WATCHED // 8] = table_at
        if kernel.releases:
            table, table_at = _aligned(TABLE_BYTES)
            self.keep.append(table)
            quads[L.RELEASES // 8] = table_at
        for index, value in plan.scalar_registers.items():
            words[L.SGPRS // 4 + index] = value
        block = _view(launch_at, L.L_SIZE)
        b32, b64 = block.view(np.uint32), block.view(np.uint64)
        signed = block.view(np.int32)
        for axis in range(3):
            b32[L.L_GROUPS // 4 + axis] = plan.groups[axis]
        b32[L.L_WAVES // 4] = waves
        b64[L.L_STATE_SIZE // 8] = self.state_size
        b64[L.L_STATES // 8] = states_at
        b64[L.L_TEMPLATE // 8] = template_at
        b64[L.L_LANE_IDS // 8] = ids.ctypes.data
        b64[L.L_LANE_ID_BYTES // 8] = wave * 4
        b64[L.L_EXECS // 8] = execs.ctypes.data
        b64[L.L_LDS // 8] = lds_at
        b64[L.L_LDS_SIZE // 8] = -(-plan.lds_bytes // 64) * 64
        signed[L.L_GROUP_X // 4], signed[L.L_GROUP_Y // 4], signed[L.L_GROUP_Z // 4] = plan.group_registers[:3]
        b32[L.L_PACKED_YZ // 4] = int(plan.group_registers[3])
        b64[L.L_POISON_END // 8] = self.state_size
        b64[L.L_SCRATCH // 8] = scratch_at
        b64[L.L_SCRATCH_WAVE // 8] = scratch_wave
        b64[L.L_SLICE // 8] = plan.slice_instructions
        b64[L.L_LIMIT // 8] = plan.budget
        progress = np.array(self._progress(kernel, alone), dtype=np.uint64)
        self.keep.append(progress)
        b64[L.L_PROGRESS // 8] = progress.ctypes.data
        b64[L.L_PROGRESS_COUNT // 8] = len(progress)
        signed[L.L_WAVE_ID_REGISTER // 4] = plan.wave_id_register
        b64[L.L_EXECUTED // 8] = used.ctypes.data
        if settings.race:
            shadow, shadow_at = _aligned(8 * plan.lds_bytes + 64)
            self.keep.append(shadow)
            quads[L.SHADOW // 8] = shadow_at
            b64[L.L_SHADOW // 8] = shadow_at
            b64[L.L_SHADOW_SIZE // 8] = -(-8 * plan.lds_bytes // 64) * 64
        self.block = block
        self.status = 0

    def _progress(self, kernel: CompiledKernel, alone: bool) -> list[int]:
        """Addresses of the counters that rise when a wave changes memory; and, where other threads run workgroups at
        the same time, when it looks at memory that these may change."""
        sites = kernel.translation.sites
        counters: list[int] = []
        for site, number in enumerate(sites):
            memory = kernel.code[number].row.memory
            if memory is None:
                continue
            looks = not alone and memory.kind == "load" and memory.space in ("global", "flat", "buffer")
            if looks or memory.kind in ("store", "atomic", "load_lds"):
                counters.append(self.lanes.ctypes.data + 8 * site)
        if not alone:
            for block, (first, last) in enumerate(kernel.translation.blocks):
                if any(i.row.issue_class == "smem" for i in kernel.code[first:last]):
                    counters.append(self.counts.ctypes.data + 8 * block)
        return counters

    def fault(self, result: RunResult) -> None:
        """Copy the fault record out of the wave's state block."""
        b32 = self.block.view(np.uint32)
        result.stalled = bool(b32[L.L_STALLED // 4])
        result.fault_wave = int(b32[L.L_FAULT_WAVE // 4])
        result.fault_group = int(b32[L.L_FAULT_GROUP // 4])
        header = _view(self.states_address + result.fault_wave * self.state_size, L.VGPRS)
        words = header.view(np.uint32)
        result.fault_kind = int(words[L.FAULT_KIND // 4])
        result.fault_resume = int(words[L.RESUME // 4])
        # Within the first time slice, waves behind the one that stopped may not have started.
        for wave in range(result.fault_wave + 1 if self.one_slice else self.waves):
            state = _view(self.states_address + wave * self.state_size, L.VGPRS).view(np.uint32)
            result.wave_states.append((int(state[L.STATUS // 4]), int(state[L.RESUME // 4])))
        result.fault_site = int(words[L.FAULT_SITE // 4])
        result.fault_lane = int(header.view(np.int32)[L.FAULT_LANE // 4])
        result.fault_size = int(words[L.FAULT_SIZE // 4])
        quads = header.view(np.uint64)
        result.fault_address = int(quads[L.FAULT_ADDRESS // 8])
        result.other_wave = int(words[L.FAULT_OTHER_WAVE // 4])
        result.other_site = int(words[L.FAULT_OTHER_SITE // 4])
        result.lds_base, result.lds_size = int(quads[L.LDS_BASE // 8]), int(quads[L.LDS_SIZE // 8])


def run_kernel(kernel: CompiledKernel, plan: LaunchPlan) -> RunResult:
    """Run all workgroups; with several threads each takes a contiguous share, and the first fault in group order is
    reported.
    """
    ids, execs = lane_ids(plan.group_size, kernel.settings.wave, plan.workitem_dimensions)
    total = plan.groups[0] * plan.groups[1] * plan.groups[2]
    threads = max(1, min(plan.threads, total))
    workers = [_Worker(kernel, plan, ids, execs, threads == 1) for _ in range(threads)]
    run = kernel.run
    bounds = [total * i // threads for i in range(threads + 1)]

    def work(index: int) -> None:
        workers[index].status = run(workers[index].launch_address, bounds[index], bounds[index + 1])

    if threads == 1:
        work(0)
    else:
        running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    counts = sum((w.counts for w in workers[1:]), workers[0].counts.copy())
    lanes = sum((w.lanes for w in workers[1:]), workers[0].lanes.copy())
    result = RunResult(0, counts, lanes, ids.shape[0] * total)
    for worker in workers:
        if worker.status:
            result.status = worker.status
            worker.fault(result)
            break
    return result
