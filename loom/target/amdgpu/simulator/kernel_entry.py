"""How a wave starts: what the kernel descriptor says about registers, modes and identifiers.

Source: LLVM's AMDGPU usage guide, "Kernel Descriptor" and "Initial Kernel Execution State".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from loom.low.semantics.operation import Mode
from loom.target.amdgpu.simulator import layout as L

DESCRIPTOR_BYTES = 64
SCALARS = 106
"""Scalar registers in front of VCC. From gfx10 on every wave has them all; gfx9 allocates them in pieces of 16."""


@dataclass(frozen=True, slots=True)
class KernelEntryState:
    """The descriptor's contents as the simulator needs them. Counts are registers, sizes bytes.

    ``workgroup_processor_mode``: waves of a workgroup may run on different compute units (gfx9.4: ``tg_split``).
    """

    wave: int
    vector_count: int
    scalar_count: int
    accumulator_count: int
    static_lds: int
    scratch: int
    kernarg_size: int
    entry_offset: int
    mode: Mode
    user_registers: tuple[tuple[str, int, int], ...]
    user_count: int
    group_ids: tuple[bool, bool, bool]
    workitem_dimensions: int
    workgroup_processor_mode: bool
    dynamic_stack: bool
    preload: tuple[int, int]

    def group_registers(self, generation: str) -> tuple[int, int, int, bool]:
        """Scalar registers that take the workgroup ids (-1: none), and whether y and z are packed into one."""
        if generation == "gfx12":
            # Architected work-group ids: ttmp9 is x, ttmp7 holds y and z.
            return L.TTMP + 9, L.TTMP + 7, -1, True
        register = self.user_count
        found = []
        for enabled in self.group_ids:
            found.append(register if enabled else -1)
            register += int(enabled)
        return found[0], found[1], found[2], False


_USER_REGISTERS = (
    ("private_segment_buffer", 0, 4),
    ("dispatch_ptr", 1, 2),
    ("queue_ptr", 2, 2),
    ("kernarg_segment_ptr", 3, 2),
    ("dispatch_id", 4, 2),
    ("flat_scratch_init", 5, 2),
    ("private_segment_size", 6, 1),
)


def parse_descriptor(data: bytes, generation: str) -> KernelEntryState:
    """Read a 64-byte kernel descriptor. Raises ValueError when it is too short."""
    if len(data) < DESCRIPTOR_BYTES:
        raise ValueError(f"a kernel descriptor of {len(data)} bytes")
    lds, scratch, kernarg, _, entry = struct.unpack_from("<IIIIq", data, 0)
    resource3, resource1, resource2, properties, preload = struct.unpack_from("<IIIHH", data, 44)
    wave = 32 if generation != "gfx9.4" and properties >> 10 & 1 else 64
    granule = 8 if generation == "gfx9.4" or wave == 32 else 4
    total = ((resource1 & 0x3F) + 1) * granule
    accumulators = 0
    scalars = SCALARS
    if generation == "gfx9.4":
        scalars = min(SCALARS, ((resource1 >> 6 & 15) // 2 + 1) * 16)
        offset = ((resource3 & 0x3F) + 1) * 4
        accumulators = max(0, total - offset)
        total = min(total, offset)
    user = []
    register = 0
    for name, bit, size in _USER_REGISTERS:
        if properties >> bit & 1:
            user.append((name, register, size))
            register += size
    modern = generation == "gfx12"
    apart = bool(resource3 >> 16 & 1 if generation == "gfx9.4" else resource1 >> 29 & 1)
    mode = Mode(
        resource1 >> 12 & 3, resource1 >> 14 & 3, resource1 >> 16 & 3, resource1 >> 18 & 3,
        modern or bool(resource1 >> 21 & 1), modern or bool(resource1 >> 23 & 1),
        fp16_overflow=bool(resource1 >> 26 & 1),
    )  # fmt: skip
    return KernelEntryState(
        wave, total, scalars, accumulators, lds, scratch, kernarg, entry, mode, tuple(user), resource2 >> 1 & 31,
        (bool(resource2 >> 7 & 1), bool(resource2 >> 8 & 1), bool(resource2 >> 9 & 1)),
        (resource2 >> 11 & 3) + 1, apart, bool(properties >> 11 & 1),
        (preload & 0x7F, preload >> 7),
    )  # fmt: skip
