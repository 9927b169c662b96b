"""What a fault says: kind, message, place and nearest buffer, from the record that the launch left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.engine import CompiledKernel
from loom.target.amdgpu.simulator.launch import RunResult
from loom.target.amdgpu.simulator.memory import Allocation, Arena

Size = tuple[int, int, int]


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


def describe_fault(compiled: CompiledKernel, result: RunResult, groups: Size, budget: int, arena: Arena) -> LaunchFault:
    """What stopped a launch.

    Args:
        compiled: The kernel.
        result: Its outcome; ``status`` says that it was stopped.
        groups: Workgroups of the grid.
        budget: Instructions that a wave might execute.
        arena: The device's memory as it was then.
    """
    x = result.fault_group % groups[0]
    y = result.fault_group // groups[0] % groups[1]
    z = result.fault_group // (groups[0] * groups[1])

    def fault(found: _Found, at: MachineInstruction, register: str | None = None) -> LaunchFault:
        lane = result.fault_lane if result.fault_lane >= 0 and found.in_lane else None
        return LaunchFault(
            found.kind, found.message, at.pc, describe(at), (x, y, z), result.fault_wave, lane, found.address,
            found.nearest, register,
        )  # fmt: skip

    if result.status == L.RUN_OVER_BUDGET:
        kind, message = _never_met(compiled, result, budget)
        at = compiled.code[compiled.translation.blocks[result.fault_resume][0]]
        return fault(_Found(kind, message, in_lane=False), at)
    instruction = compiled.code[compiled.translation.sites[result.fault_site]]
    if result.fault_kind == L.STATIC_FAULT:
        static = compiled.translation.faults[result.fault_site]
        return fault(_Found(static.kind, static.message, in_lane=False), instruction, static.register)
    return fault(_FOUND[result.fault_kind](compiled, result, arena), instruction)


@dataclass(frozen=True, slots=True)
class _Found:
    """Kind and message of a fault, with the address (or LDS or scratch offset) that it is about."""

    kind: str
    message: str
    address: int | None = None
    nearest: dict[str, Any] | None = None
    in_lane: bool = True


def _memory(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    """An access outside every buffer, or to a freed one."""
    address, size = result.fault_address, result.fault_size
    near = arena.nearest(address)
    text = f"{size} bytes at {address:#x}"
    if near is None:
        return _Found("out_of_bounds", f"{text} are outside every buffer: there is none", address)
    if not near.alive and near.address <= address and address + size <= near.address + near.size:
        return _Found("freed_memory", f"{text} lie in '{near.name}', which has been freed", address, _nearest(near))
    return _Found(
        "out_of_bounds", f"{text} are outside every buffer; nearest is '{near.name}'", address, _nearest(near)
    )


def _misaligned(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    offset = result.fault_address - result.lds_base
    if 0 <= offset < result.lds_size:
        text = f"{result.fault_size} bytes at LDS offset {offset:#x} are not aligned as the instruction needs"
        return _Found("misaligned_access", text, offset)
    text = f"{result.fault_size} bytes at {result.fault_address:#x} are not aligned as the instruction needs"
    near = arena.nearest(result.fault_address)
    return _Found("misaligned_access", text, result.fault_address, None if near is None else _nearest(near))


def _jump(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    near = arena.nearest(result.fault_address)
    text = f"the jump goes to {result.fault_address:#x}, where no known function or block starts"
    return _Found("bad_program_counter", text, result.fault_address, None if near is None else _nearest(near))


def _lds(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    offset = result.fault_address - result.lds_base
    text = f"{result.fault_size} bytes at LDS offset {offset:#x} are beyond the {result.lds_size} bytes allocated"
    return _Found("lds_out_of_bounds", text, offset)


def _scratch(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    text = (
        f"{result.fault_size} bytes at scratch offset {result.fault_address:#x} are beyond the lane's "
        f"{result.scratch_size} bytes"
    )
    return _Found("scratch_out_of_bounds", text, result.fault_address)


def _race(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    offset = result.fault_address
    text = f"two waves access LDS offset {offset:#x}, at least one of them writing, with no barrier between"
    return _Found("lds_race", text, offset)


def _register(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    text = f"M0 makes the move reach register {result.fault_address}, beyond those that the kernel allocates"
    return _Found("unallocated_register", text)


def _format(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    text = f"buffer format {result.fault_address} is none of this target, or its values as 16 bits are not defined"
    return _Found("unsupported_format", text)


def _resource(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    text = "the buffer resource asks for swizzled addresses or for the lane's number in the index"
    return _Found("unsupported_resource", text)


def _at_barrier(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    """An access that conflicts with one that a barrier found under way."""
    other = compiled.code[compiled.translation.sites[result.other_site]]
    assert other.row.memory is not None
    by = f"by wave {result.other_wave} with '{other.mnemonic}' at {other.pc:#x}, and no wait covers the"
    address = result.fault_address
    if other.row.memory.space != "lds":
        text = f"the bytes at {address:#x} were stored {by} store before the barrier that publishes it"
        return _Found("uncovered_store", text, address)
    offset = address - result.lds_base
    return _Found(
        "outstanding_load", f"LDS offset {offset:#x} was read {by} load before the barrier in between", offset
    )


def _unreleased(compiled: CompiledKernel, result: RunResult, arena: Arena) -> _Found:
    store = compiled.code[compiled.translation.sites[result.other_site]]
    text = (
        f"the bytes at {result.fault_address:#x} were stored by wave {result.other_wave} of another workgroup with "
        f"'{store.mnemonic}' at {store.pc:#x}, and that wave has not waited for its stores since: what this "
        "wave acquired before the load was not released"
    )
    return _Found("uncovered_store", text, result.fault_address)


_FOUND: dict[int, Callable[[CompiledKernel, RunResult, Arena], _Found]] = {
    L.FAULT_OUT_OF_BOUNDS: _memory,
    L.FAULT_LDS: _lds,
    L.FAULT_SCRATCH: _scratch,
    L.FAULT_MISALIGNED: _misaligned,
    L.FAULT_BAD_PC: _jump,
    L.FAULT_RACE: _race,
    L.FAULT_REGISTER: _register,
    L.FAULT_FORMAT: _format,
    L.FAULT_RESOURCE: _resource,
    L.FAULT_UNCOVERED: _at_barrier,
    L.FAULT_UNRELEASED: _unreleased,
}


def _nearest(near: Allocation) -> dict[str, Any]:
    return {
        "name": near.name,
        "begin": f"{near.address:#x}",
        "end": f"{near.address + near.size:#x}",
        "size": near.size,
        "freed": not near.alive,
    }


def _never_met(compiled: CompiledKernel, result: RunResult, budget: int) -> tuple[str, str]:
    """Kind and message of a launch that used up its budget: a barrier where waves wait, or an endless loop."""
    waiting: dict[int, list[int]] = {}
    ended: list[int] = []
    for wave, (status, resume) in enumerate(result.wave_states):
        if status == L.AT_BARRIER:
            # The wave resumes behind the barrier, which ends the block in front.
            waiting.setdefault(compiled.code[compiled.translation.blocks[resume][0] - 1].pc, []).append(wave)
        elif status == L.ENDED:
            ended.append(wave)
    spent = f"wave {result.fault_wave} executed more than {budget} instructions"
    if result.stalled:
        running = [wave for wave, (status, _) in enumerate(result.wave_states) if status == L.RUNNING]
        spent = f"{_waves(running)} loop{'s' if len(running) == 1 else ''} without changing a register or memory"
        if result.others:
            spent += f" (so do waves of {result.others} other workgroups)"
        if result.not_started:
            spent += f"; {result.not_started} workgroups could not begin meanwhile, for want of memory for their state"
    if not waiting:
        return "instruction_budget", f"{spent}, for ever" if result.stalled else f"{spent}; it may loop for ever"
    places = "; ".join(f"{_waves(waves)} at the barrier at {pc:#x}" for pc, waves in sorted(waiting.items()))
    gone = f"; ended: {_waves(ended)}" if ended else ""
    return (
        "barrier_not_reached",
        f"a barrier opens when every wave that has not ended is there; waiting: {places}{gone}; {spent} "
        "without reaching it",
    )


def describe(instruction: MachineInstruction) -> str:
    """The instruction's assembly text."""
    if "word" in instruction.modifiers:
        return f".long {instruction.modifiers['word']:#010x}"
    return str(instruction)


def _waves(numbers: Sequence[int]) -> str:
    """``wave 3``, ``waves 0, 2, 5``; long lists are cut."""
    shown = ", ".join(map(str, numbers[:8])) + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")
    return f"wave{'s' if len(numbers) > 1 else ''} {shown}"
