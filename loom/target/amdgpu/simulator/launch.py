"""Memory and outcome of a launch; :func:`run_kernel` runs a compiled kernel over all workgroups, in several threads."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.engine import CompiledKernel
from loom.target.amdgpu.simulator.publication import ENTRIES, ENTRY_BYTES
from loom.target.amdgpu.simulator.release import TABLE_BYTES
from loom.target.amdgpu.simulator.turns import Stopped, Together, Workgroup, take_turns

Bytes = npt.NDArray[np.uint8]

ASIDE_BYTES = 256 << 20
"""Memory for the state of workgroups that are put aside, in all."""


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
    """Counters of a finished or stopped launch; ``status`` as the scheduler gives it, see ``RUN_COMPLETED``.

    ``wave_states``: status, and block to resume at, of the waves of the workgroup that stopped, as far as they are
    known to have started.

    ``stalled``: the launch was stopped because a state of all that still runs has come back; ``others``: workgroups
    that wait like the one that is named; ``not_started``: those that could not begin meanwhile, for want of memory.
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
    others: int = 0
    not_started: int = 0
    other_wave: int = 0
    other_site: int = 0
    wave_states: list[tuple[int, int]] = field(default_factory=list)
    lds_base: int = 0
    lds_size: int = 0
    scratch_size: int = 0


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


class _ThreadMemory:
    """What the workgroups of one thread share: counters, and the tables of stores."""

    def __init__(self, kernel: CompiledKernel, plan: LaunchPlan) -> None:
        self.counts = np.zeros(max(1, len(kernel.translation.blocks)), dtype=np.int64)
        self.lanes = np.zeros(max(1, len(kernel.translation.sites)), dtype=np.int64)
        self.hints = np.zeros(2 * max(1, len(kernel.translation.sites)), dtype=np.int64)
        self.buffers = np.array(sorted(plan.buffers), dtype=np.int64).reshape(-1, 2)
        self.watched, self.watched_at = _aligned(ENTRIES * ENTRY_BYTES if kernel.watched else 0)
        self.releases, self.releases_at = _aligned(TABLE_BYTES if kernel.releases else 0)
        self.changing = [
            site
            for site, number in enumerate(kernel.translation.sites)
            if (memory := kernel.code[number].row.memory) is not None and memory.kind in ("store", "atomic", "load_lds")
        ]
        self.progress = np.array([self.lanes.ctypes.data + 8 * site for site in self.changing], dtype=np.uint64)


class WorkgroupMemory(Workgroup):
    """State blocks, LDS and scratch of one workgroup at a time, and the launch block that the scheduler reads."""

    def __init__(
        self,
        kernel: CompiledKernel,
        plan: LaunchPlan,
        thread: _ThreadMemory,
        ids: npt.NDArray[np.uint32],
        execs: npt.NDArray[np.uint64],
    ) -> None:
        settings = kernel.settings
        wave = settings.wave
        waves = self.waves = ids.shape[0]
        self.run_code = kernel.run
        self.thread = thread
        self.one_slice = plan.budget <= plan.slice_instructions
        self.state_size = _state_size(kernel)
        scratch_wave = plan.scratch_bytes * wave
        states, states_at = _aligned(self.state_size * waves)
        lds, lds_at = _aligned(plan.lds_bytes + 64)
        scratch, scratch_at = _aligned(scratch_wave * waves + 64)
        launch, launch_at = _aligned(L.L_SIZE)
        template, template_at = _aligned(L.VGPRS)
        used = np.zeros(waves, dtype=np.int64)
        self.keep: list[Any] = [states, lds, scratch, launch, template, used, ids, execs, kernel.entry_table]
        self.states_address = states_at
        self.launch_address = launch_at
        self.contents = [_view(lds_at, plan.lds_bytes), _view(scratch_at, scratch_wave * waves)]
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
        quads[L.HINTS // 8] = thread.hints.ctypes.data
        quads[L.COUNTS // 8] = thread.counts.ctypes.data
        quads[L.LANES // 8] = thread.lanes.ctypes.data
        quads[L.BUFFERS // 8] = thread.buffers.ctypes.data
        quads[L.BUFFER_COUNT // 8] = len(thread.buffers)
        quads[L.ENTRY_TABLE // 8] = kernel.entry_table.ctypes.data
        quads[L.CODE_SIZE // 8] = plan.text_size
        quads[L.STATE_SIZE // 8] = self.state_size
        quads[L.WATCHED // 8] = thread.watched_at
        quads[L.RELEASES // 8] = thread.releases_at
        for index, value in plan.scalar_registers.items():
            words[L.SGPRS // 4 + index] = value
        block = self.block = _view(launch_at, L.L_SIZE)
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
        b64[L.L_PROGRESS // 8] = thread.progress.ctypes.data
        b64[L.L_PROGRESS_COUNT // 8] = len(thread.progress)
        signed[L.L_WAVE_ID_REGISTER // 4] = plan.wave_id_register
        b64[L.L_EXECUTED // 8] = used.ctypes.data
        block.view(np.int64)[L.L_CURRENT // 8] = L.NO_GROUP
        if settings.race:
            shadow, shadow_at = _aligned(8 * plan.lds_bytes + 64)
            self.keep.append(shadow)
            quads[L.SHADOW // 8] = shadow_at
            b64[L.L_SHADOW // 8] = shadow_at
            b64[L.L_SHADOW_SIZE // 8] = -(-8 * plan.lds_bytes // 64) * 64

    def run(self, begin: int, end: int) -> int:
        """Run workgroups, or go on with the one put aside; gives ``RUN_COMPLETED`` or one of its successors."""
        return int(self.run_code(self.launch_address, begin, end))

    @property
    def current(self) -> int:
        """The workgroup that was put aside or stopped."""
        return int(self.block.view(np.int64)[L.L_CURRENT // 8])

    @property
    def spins(self) -> int:
        """How the workgroup that was put aside spends its time: ``COMPUTES``, ``POLLS`` or ``STALLED``."""
        return int(self.block.view(np.int32)[L.L_SPINS // 4])

    def _waves(self) -> list[Bytes]:
        return [_view(self.states_address + w * self.state_size, self.state_size) for w in range(self.waves)]

    def state(self) -> list[Bytes]:
        """All that its further course depends on, memory aside: the waves' registers and places, LDS and scratch."""
        header = [L.RESUME, L.STATUS, L.SCC, L.SIGNALLED]
        parts = [wave[at : at + 4] for wave in self._waves() for at in header]
        return [*parts, *(wave[L.SGPRS :] for wave in self._waves()), *self.contents]

    def changes(self) -> int:
        """Lanes that have changed memory so far, in all workgroups of the thread."""
        return int(self.thread.lanes[self.thread.changing].sum())

    def fault(self, result: RunResult, stalled: bool) -> None:
        """Copy the fault record out of the wave's state block; ``stalled``: the first wave that runs is to blame."""
        waves = [wave.view(np.uint32) for wave in self._waves()]
        b32 = self.block.view(np.uint32)
        result.stalled = stalled
        if stalled:
            status = [int(wave[L.STATUS // 4]) for wave in waves]
            result.fault_wave = status.index(L.RUNNING)
        else:
            result.fault_wave = int(b32[L.L_FAULT_WAVE // 4])
        result.fault_group = self.current
        words = waves[result.fault_wave]
        result.fault_kind = int(words[L.FAULT_KIND // 4])
        result.fault_resume = int(words[L.RESUME // 4])
        # Within the first time slice, waves behind the one that stopped may not have started.
        for state in waves[: result.fault_wave + 1 if self.one_slice else self.waves]:
            result.wave_states.append((int(state[L.STATUS // 4]), int(state[L.RESUME // 4])))
        result.fault_site = int(words[L.FAULT_SITE // 4])
        result.fault_lane = int(words.view(np.int32)[L.FAULT_LANE // 4])
        result.fault_size = int(words[L.FAULT_SIZE // 4])
        quads = words[: L.VGPRS // 4].view(np.uint64)
        result.fault_address = int(quads[L.FAULT_ADDRESS // 8])
        result.other_wave = int(words[L.FAULT_OTHER_WAVE // 4])
        result.other_site = int(words[L.FAULT_OTHER_SITE // 4])
        result.lds_base, result.lds_size = int(quads[L.LDS_BASE // 8]), int(quads[L.LDS_SIZE // 8])
        result.scratch_size = int(quads[L.SCRATCH_SIZE // 8])


def _nothing() -> None:
    """What the threads of a launch report: the one that waits for them does it."""


def _state_size(kernel: CompiledKernel) -> int:
    registers = kernel.settings.vector_count + kernel.settings.accumulator_count
    return -(-(L.VGPRS + registers * kernel.settings.wave * 4) // 64) * 64


Report = Callable[[int, int], None]
"""Gets the number of workgroups that have begun, and of all; called now and then, a few times a second."""

_REPORT_SECONDS = 0.1


def run_kernel(kernel: CompiledKernel, plan: LaunchPlan, report: Report | None = None) -> RunResult:
    """Run all workgroups; with several threads each takes a contiguous share, and the first fault in group order is
    reported. A kernel that is watched for what workgroups release to each other runs in one thread.

    An exception of ``report``, or an interrupt, ends the launch: all threads have stopped when it comes out of here.
    """
    ids, execs = lane_ids(plan.group_size, kernel.settings.wave, plan.workitem_dimensions)
    total = plan.groups[0] * plan.groups[1] * plan.groups[2]
    threads = 1 if kernel.releases else max(1, min(plan.threads, total))
    memories = [_ThreadMemory(kernel, plan) for _ in range(threads)]
    bounds = [total * i // threads for i in range(threads + 1)]
    waves = ids.shape[0]
    each = waves * (_state_size(kernel) + plan.scratch_bytes * kernel.settings.wave) + plan.lds_bytes * (
        9 if kernel.settings.race else 1
    )
    together = Together(threads, [_view(begin, end - begin) for begin, end in plan.buffers])
    limit = max(2, ASIDE_BYTES // threads // max(each, 1))
    stopped: list[Stopped | None] = [None] * threads

    reported = time.monotonic()

    def tell() -> None:
        nonlocal reported
        if report is not None and time.monotonic() - reported > _REPORT_SECONDS:
            report(together.begun, total)
            reported = time.monotonic()

    def work(index: int) -> None:
        def make() -> Workgroup:
            return WorkgroupMemory(kernel, plan, memories[index], ids, execs)

        own = tell if threads == 1 else _nothing
        stopped[index] = take_turns(make, bounds[index], bounds[index + 1], limit, together, own)

    if threads == 1:
        work(0)
    else:
        running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
        for thread in running:
            thread.start()
        try:
            for thread in running:
                while thread.is_alive():
                    thread.join(_REPORT_SECONDS)
                    tell()
        finally:
            together.cancelled = True
            for thread in running:
                thread.join()
    counts = sum((m.counts for m in memories[1:]), memories[0].counts.copy())
    lanes = sum((m.lanes for m in memories[1:]), memories[0].lanes.copy())
    result = RunResult(L.RUN_COMPLETED, counts, lanes, waves * together.begun)
    stops = [stop for stop in stopped if stop is not None]
    if stops:
        first = stops[0]
        assert isinstance(first.workgroup, WorkgroupMemory)
        result.status = first.status
        first.workgroup.fault(result, first.stalled)
        if first.stalled:
            result.others = sum(stop.others + 1 for stop in stops if stop.stalled) - 1
            result.not_started = sum(stop.not_started for stop in stops)
    return result
