"""The 64-byte kernel descriptor of each generation.

Layout and fields: LLVM's AMDGPU usage guide, "Kernel Descriptor". A field is known by the name of its ``.amdhsa_``
directive where it has one.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from loom.diagnostics import error

SIZE = 64
_LAYOUT = struct.Struct("<III4xq20xIIIHH4x")

# field → (word, shift, width); words: 1, 2, 3 = compute_pgm_rsrc1..3, 4 = kernel_code_properties, 5 = kernarg_preload
_COMMON = {
    "granulated_workitem_vgpr_count": (1, 0, 6),
    "granulated_wavefront_sgpr_count": (1, 6, 4),
    "priority": (1, 10, 2),
    "float_round_mode_32": (1, 12, 2),
    "float_round_mode_16_64": (1, 14, 2),
    "float_denorm_mode_32": (1, 16, 2),
    "float_denorm_mode_16_64": (1, 18, 2),
    "fp16_overflow": (1, 26, 1),
    "enable_private_segment": (2, 0, 1),
    "user_sgpr_count": (2, 1, 5),
    "system_sgpr_workgroup_id_x": (2, 7, 1),
    "system_sgpr_workgroup_id_y": (2, 8, 1),
    "system_sgpr_workgroup_id_z": (2, 9, 1),
    "system_sgpr_workgroup_info": (2, 10, 1),
    "system_vgpr_workitem_id": (2, 11, 2),
    "granulated_lds_size": (2, 15, 9),
    "exception_fp_ieee_invalid_op": (2, 24, 1),
    "exception_fp_denorm_src": (2, 25, 1),
    "exception_fp_ieee_div_zero": (2, 26, 1),
    "exception_fp_ieee_overflow": (2, 27, 1),
    "exception_fp_ieee_underflow": (2, 28, 1),
    "exception_fp_ieee_inexact": (2, 29, 1),
    "exception_int_div_zero": (2, 30, 1),
    "user_sgpr_private_segment_buffer": (4, 0, 1),
    "user_sgpr_dispatch_ptr": (4, 1, 1),
    "user_sgpr_queue_ptr": (4, 2, 1),
    "user_sgpr_kernarg_segment_ptr": (4, 3, 1),
    "user_sgpr_dispatch_id": (4, 4, 1),
    "user_sgpr_flat_scratch_init": (4, 5, 1),
    "user_sgpr_private_segment_size": (4, 6, 1),
    "wavefront_size32": (4, 10, 1),
    "uses_dynamic_stack": (4, 11, 1),
    "user_sgpr_kernarg_preload_length": (5, 0, 7),
    "user_sgpr_kernarg_preload_offset": (5, 7, 9),
}
_RDNA = {
    "workgroup_processor_mode": (1, 29, 1),
    "memory_ordered": (1, 30, 1),
    "forward_progress": (1, 31, 1),
}
_CLAMP_AND_IEEE = {"dx10_clamp": (1, 21, 1), "ieee_mode": (1, 23, 1)}

FIELDS: dict[str, dict[str, tuple[int, int, int]]] = {
    "gfx11": {**_COMMON, **_RDNA, **_CLAMP_AND_IEEE, "shared_vgpr_count": (3, 0, 4), "inst_pref_size": (3, 4, 6)},
    "gfx12": {**_COMMON, **_RDNA, "round_robin_scheduling": (1, 21, 1), "inst_pref_size": (3, 4, 8)},
    "gfx9.4": {**_COMMON, **_CLAMP_AND_IEEE, "granulated_accum_offset": (3, 0, 6), "tg_split": (3, 16, 1)},
}
"""Bit fields of the descriptor by generation."""

# Registers that each user SGPR feature takes, in the order in which they are laid out (usage guide, "Initial Kernel
# Execution State").
USER_SGPRS = (
    ("user_sgpr_private_segment_buffer", 4),
    ("user_sgpr_dispatch_ptr", 2),
    ("user_sgpr_queue_ptr", 2),
    ("user_sgpr_kernarg_segment_ptr", 2),
    ("user_sgpr_dispatch_id", 2),
    ("user_sgpr_flat_scratch_init", 2),
    ("user_sgpr_private_segment_size", 1),
)


@dataclass(frozen=True, slots=True)
class KernelDescriptor:
    """What the hardware needs to start a kernel.

    ``group_segment_fixed_size`` and ``private_segment_fixed_size`` are bytes (per work-group and per work-item),
    ``kernarg_size`` bytes;
    ``code_entry_offset`` is the distance from the descriptor to the first instruction. The rest are register words,
    see :meth:`field`.
    """

    group_segment_fixed_size: int = 0
    private_segment_fixed_size: int = 0
    kernarg_size: int = 0
    code_entry_offset: int = 0
    compute_pgm_rsrc3: int = 0
    compute_pgm_rsrc1: int = 0
    compute_pgm_rsrc2: int = 0
    kernel_code_properties: int = 0
    kernarg_preload: int = 0

    @classmethod
    def from_bytes(cls, data: bytes) -> KernelDescriptor:
        """Read a descriptor; reserved bytes are not looked at.

        Raises:
            LoomError: ``OBJECT/010`` if there are fewer than 64 bytes.
        """
        if len(data) < SIZE:
            raise error(f"a kernel descriptor has {SIZE} bytes, here are {len(data)}", "OBJECT/010")
        return cls(*_LAYOUT.unpack(data[:SIZE]))

    def to_bytes(self) -> bytes:
        """The 64 bytes."""
        return _LAYOUT.pack(
            self.group_segment_fixed_size,
            self.private_segment_fixed_size,
            self.kernarg_size,
            self.code_entry_offset,
            self.compute_pgm_rsrc3,
            self.compute_pgm_rsrc1,
            self.compute_pgm_rsrc2,
            self.kernel_code_properties,
            self.kernarg_preload,
        )

    def _word(self, number: int) -> int:
        return (
            self.compute_pgm_rsrc1,
            self.compute_pgm_rsrc2,
            self.compute_pgm_rsrc3,
            self.kernel_code_properties,
            self.kernarg_preload,
        )[number - 1]

    def field(self, name: str, generation: str) -> int:
        """A bit field by name; 0 if the generation has no such field."""
        place = FIELDS[generation].get(name)
        if place is None:
            return 0
        word, shift, width = place
        return self._word(word) >> shift & ((1 << width) - 1)

    def with_field(self, name: str, value: int, generation: str) -> KernelDescriptor:
        """A copy with a bit field changed.

        Raises:
            LoomError: ``OBJECT/011`` if the generation has no such field or the value does not fit.
        """
        place = FIELDS[generation].get(name)
        if place is None:
            raise error(f"the kernel descriptor of {generation} has no field '{name}'", "OBJECT/011")
        word, shift, width = place
        if not 0 <= value < 1 << width:
            raise error(f"{name} is {value}; it ranges from 0 to {(1 << width) - 1}", "OBJECT/011")
        changed = self._word(word) & ~(((1 << width) - 1) << shift) | value << shift
        attribute = (
            "compute_pgm_rsrc1",
            "compute_pgm_rsrc2",
            "compute_pgm_rsrc3",
            "kernel_code_properties",
            "kernarg_preload",
        )[word - 1]
        return replace(self, **{attribute: changed})

    @property
    def wave_size(self) -> int:
        """32 or 64."""
        return 32 if self.kernel_code_properties >> 10 & 1 else 64
