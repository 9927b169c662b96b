"""What a dispatch gives a kernel besides its explicit arguments: hidden arguments, dispatch packet, queue, user
registers.

Source: LLVM's AMDGPU usage guide, "Code Object V5 Metadata" (value kinds) and "Initial Kernel Execution State"; the
HSA runtime
specification for the dispatch packet.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.kernel_entry import KernelEntryState

QUEUE_BYTES = 256
_GROUP_APERTURE_OFFSET, _PRIVATE_APERTURE_OFFSET = 0x40, 0x44  # amd_queue_t
_WORDS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}

Size = tuple[int, int, int]


def hidden_values(groups: Size, group_size: Size, dynamic_lds: int, queue: int) -> dict[str, int]:
    """The value of every hidden argument kind; kinds that are not listed are zero (no printf, hostcall or heap)."""
    values = {
        "hidden_grid_dims": 3 if groups[2] * group_size[2] > 1 else 2 if groups[1] * group_size[1] > 1 else 1,
        "hidden_dynamic_lds_size": dynamic_lds,
        "hidden_private_base": L.PRIVATE_APERTURE >> 32,
        "hidden_shared_base": L.SHARED_APERTURE >> 32,
        "hidden_queue_ptr": queue,
    }
    for axis, name in enumerate("xyz"):
        values[f"hidden_block_count_{name}"] = groups[axis]
        values[f"hidden_group_size_{name}"] = group_size[axis]
        values[f"hidden_remainder_{name}"] = 0
        values[f"hidden_global_offset_{name}"] = 0
    return values


def fill_hidden(kernarg: bytearray, arguments: Iterable[Any], values: Mapping[str, int]) -> None:
    """Write the hidden arguments into a kernarg segment; ``arguments`` have ``offset``, ``size`` and ``kind``."""
    for argument in arguments:
        if argument.kind.startswith("hidden_") and argument.size in _WORDS:
            struct.pack_into(_WORDS[argument.size], kernarg, argument.offset, values.get(argument.kind, 0))


def dispatch_packet(groups: Size, group_size: Size, kernel_object: int, kernarg: int, lds: int, scratch: int) -> bytes:
    """An AQL kernel dispatch packet."""
    dimensions = 3 if groups[2] * group_size[2] > 1 else 2 if groups[1] * group_size[1] > 1 else 1
    grid = [g * s for g, s in zip(groups, group_size, strict=True)]
    return struct.pack(
        "<HHHHHHIIIIIQQQQ", 2, dimensions, *group_size, 0, *grid, scratch, lds, kernel_object, kernarg, 0, 0
    )


def queue_record() -> bytes:
    """The parts of ``amd_queue_t`` that kernels read: the upper halves of the LDS and scratch apertures."""
    data = bytearray(QUEUE_BYTES)
    struct.pack_into("<I", data, _GROUP_APERTURE_OFFSET, L.SHARED_APERTURE >> 32)
    struct.pack_into("<I", data, _PRIVATE_APERTURE_OFFSET, L.PRIVATE_APERTURE >> 32)
    return bytes(data)


def user_registers(entry: KernelEntryState, addresses: Mapping[str, int], kernarg: bytes) -> dict[int, int]:
    """Initial values of the user SGPRs; ``addresses`` gives the pointers by name. Preloaded arguments follow the
    pointers.
    """
    result: dict[int, int] = {}
    last = 0
    for name, register, count in entry.user_registers:
        value = addresses.get(name, 0)
        for word in range(count):
            result[register + word] = value >> (32 * word) & 0xFFFFFFFF
        last = register + count
    length, offset = entry.preload
    for word in range(length):
        at = 4 * (offset + word)
        result[last + word] = int.from_bytes(kernarg[at : at + 4].ljust(4, b"\0"), "little")
    return result
