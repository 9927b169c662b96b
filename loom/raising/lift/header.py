"""The header of a lifted kernel: entry registers, kernarg layout, descriptor, geometry."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from loom.ir import Attribute
from loom.raising.lift.build import LiveIn
from loom.raising.lift.units import EXEC, M0, VGPR
from loom.target.amdgpu.abi import KernargEntry
from loom.target.amdgpu.simulator.kernel_entry import KernelEntryState, parse_descriptor

_USER_NAMES = {
    "private_segment_buffer": "private_segment_buffer",
    "dispatch_ptr": "dispatch",
    "queue_ptr": "queue",
    "kernarg_segment_ptr": "kernarg",
    "dispatch_id": "dispatch_id",
    "flat_scratch_init": "flat_scratch_init",
    "private_segment_size": "private_segment_size",
}


def descriptor_fields(raw: bytes) -> dict[str, Attribute]:
    """The fields of a 64-byte kernel descriptor that emission must reproduce, by LLVM's names."""
    group, private, kernarg = struct.unpack_from("<III", raw, 0)
    rsrc3, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", raw, 44)
    return {
        "compute_pgm_rsrc1": rsrc1,
        "compute_pgm_rsrc2": rsrc2,
        "compute_pgm_rsrc3": rsrc3,
        "group_segment_fixed_size": group,
        "kernarg_preload": preload,
        "kernarg_size": kernarg,
        "kernel_code_properties": properties,
        "private_segment_fixed_size": private,
    }


def entry_live_ins(raw: bytes, generation: str) -> tuple[KernelEntryState, list[LiveIn]]:
    """The registers that the hardware sets before the first instruction, as the descriptor says.

    Source: LLVM's AMDGPU usage guide, "Initial Kernel Execution State".
    """
    state = parse_descriptor(raw, generation)
    live_ins: list[LiveIn] = []
    register = 0
    for name, first, count in state.user_registers:
        live_ins.append(LiveIn(f"amdgpu.{name}", first, count, _USER_NAMES.get(name, name)))
        register = max(register, first + count)
    length, start = state.preload
    if length:
        live_ins.append(LiveIn("amdgpu.kernarg_preload", register, length, f"kernarg_words_{start}"))
    x, y, z, packed = state.group_registers(generation)
    if packed:
        live_ins.append(LiveIn("amdgpu.workgroup_id.x", x, 1, "workgroup_id_x"))
        live_ins.append(LiveIn("amdgpu.workgroup_id.packed.yz", y, 1, "workgroup_id_yz"))
    else:
        for axis, where in zip("xyz", (x, y, z), strict=True):
            if where >= 0:
                live_ins.append(LiveIn(f"amdgpu.workgroup_id.{axis}", where, 1, f"workgroup_id_{axis}"))
    # Work-item ids: one register each before gfx90a and gfx11, ten bits each in v0 since.
    key = {1: "x", 2: "packed.xy", 3: "packed.xyz"}[state.workitem_dimensions]
    live_ins.append(LiveIn(f"amdgpu.workitem_id.{key}", VGPR, 1, f"workitem_id_{key.rpartition('.')[2]}"))
    live_ins.append(LiveIn("amdgpu.m0", M0, 1, "m0"))
    live_ins.append(LiveIn("amdgpu.exec", EXEC, state.wave // 32, "entry_exec"))
    return state, live_ins


def abi_layout(
    raw: bytes,
    entries: Sequence[KernargEntry],
    kernarg_size: int,
    kernarg_alignment: int,
    resources: Mapping[str, Any],
) -> dict[str, Attribute]:
    """The ``abi_layout`` dictionary of a lifted kernel (docs/lift.md)."""
    arguments: dict[str, Attribute] = {}
    for index, entry in enumerate(entries):
        argument: dict[str, Attribute] = {"kind": entry.kind, "offset": entry.offset, "size": entry.size}
        if entry.name:
            argument["name"] = entry.name
        arguments[f"arg{index}"] = argument
    layout: dict[str, Attribute] = {
        "arguments": arguments,
        "descriptor": descriptor_fields(raw),
        "kernarg_alignment": kernarg_alignment,
        "kernarg_size": kernarg_size,
    }
    counts: dict[str, Attribute] = {name: int(value) for name, value in resources.items() if isinstance(value, int)}
    if counts:
        layout["resources"] = counts
    return layout
