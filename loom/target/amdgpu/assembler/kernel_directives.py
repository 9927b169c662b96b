"""``.amdhsa_kernel`` blocks: directive values to a kernel descriptor.

Defaults and formulas: LLVM's AMDGPU usage guide, ".amdhsa_kernel" (table of directives) and "Kernel Descriptor".
"""

from __future__ import annotations

from loom.diagnostics import Location, error
from loom.target.amdgpu.kernel_descriptor import FIELDS, USER_SGPRS, KernelDescriptor
from loom.target.amdgpu.processors import Processor

_SIZES = {
    "group_segment_fixed_size": "group_segment_fixed_size",
    "private_segment_fixed_size": "private_segment_fixed_size",
    "kernarg_size": "kernarg_size",
}
_RENAMED = {
    "fp16_overflow": "fp16_overflow",
    "round_robin_scheduling": "round_robin_scheduling",
    "enable_private_segment": "enable_private_segment",
    "system_sgpr_private_segment_wavefront_offset": "enable_private_segment",
    "float_round_mode_32": "float_round_mode_32",
    "user_sgpr_kernarg_preload_length": "user_sgpr_kernarg_preload_length",
    "user_sgpr_kernarg_preload_offset": "user_sgpr_kernarg_preload_offset",
}
_COMPUTED = frozenset(
    (
        "next_free_vgpr",
        "next_free_sgpr",
        "reserve_vcc",
        "reserve_flat_scratch",
        "reserve_xnack_mask",
        "accum_offset",
        "user_sgpr_count",
        "named_barrier_count",
    )
)


def is_known(name: str, target: Processor) -> bool:
    """Whether ``.amdhsa_NAME`` exists for the processor."""
    return name in _SIZES or name in _COMPUTED or name in _RENAMED or name in FIELDS[target.generation]


def make_descriptor(
    values: dict[str, tuple[int, Location]], target: Processor, location: Location, xnack: bool
) -> KernelDescriptor:
    """The descriptor for the values of a block (names without ``.amdhsa_``).

    Raises:
        LoomError: ``ASM/010`` for a missing or impossible value.
    """
    generation = target.generation
    gfx9 = generation == "gfx9.4"
    plain = {name: value for name, (value, _) in values.items()}
    for needed in ("next_free_vgpr", "next_free_sgpr") + (("accum_offset",) if gfx9 else ()):
        if needed not in plain:
            raise error(f".amdhsa_{needed} is missing", "ASM/010", location)
    fields: dict[str, int] = {"float_denorm_mode_16_64": 3, "system_sgpr_workgroup_id_x": 1}
    if generation != "gfx12":
        fields |= {"dx10_clamp": 1, "ieee_mode": 1}
    if not gfx9:
        fields |= {"workgroup_processor_mode": 1, "memory_ordered": 1, "wavefront_size32": 1}
    if generation == "gfx12":
        fields["forward_progress"] = 1
    wave32 = bool(plain.get("wavefront_size32", fields.get("wavefront_size32", 0)))
    granule = target.vgpr_encoding_granule(32 if wave32 else 64)
    fields["granulated_workitem_vgpr_count"] = max(plain["next_free_vgpr"] + granule - 1, granule) // granule - 1
    if gfx9:
        sgprs = plain["next_free_sgpr"]
        # VCC, XNACK and the architected flat scratch registers lie behind the named ones; the last group covers those
        # before it.
        extra = (
            6
            if plain.get("reserve_flat_scratch", 1)
            else 4
            if plain.get("reserve_xnack_mask", int(xnack))
            else 2 * plain.get("reserve_vcc", 1)
        )
        fields["granulated_wavefront_sgpr_count"] = max(sgprs + extra + 7, 8) // 8 - 1
        offset = plain["accum_offset"]
        if not 4 <= offset <= 256 or offset % 4:
            raise error(
                f".amdhsa_accum_offset is a multiple of 4 from 4 to 256, not {offset}",
                "ASM/010",
                values["accum_offset"][1],
            )
        fields["granulated_accum_offset"] = offset // 4 - 1
    descriptor = KernelDescriptor(**{attribute: plain.get(name, 0) for name, attribute in _SIZES.items()})
    for name, value in plain.items():
        if name not in _SIZES and name not in _COMPUTED:
            fields[_RENAMED.get(name, name)] = value
    counted = sum(size for name, size in USER_SGPRS if fields.get(name)) + plain.get(
        "user_sgpr_kernarg_preload_length", 0
    )
    count = plain.get("user_sgpr_count", counted)
    if count < counted:
        raise error(
            f".amdhsa_user_sgpr_count is {count}, but the user SGPRs switched on take {counted}",
            "ASM/010",
            values["user_sgpr_count"][1],
        )
    fields["user_sgpr_count"] = count
    for name, value in fields.items():
        place = FIELDS[generation].get(name)
        where = values.get(name, (0, location))[1]
        if place is None:
            raise error(f".amdhsa_{name} does not exist on {target.name}", "ASM/010", where)
        if not 0 <= value < 1 << place[2]:
            raise error(f".amdhsa_{name} ranges from 0 to {(1 << place[2]) - 1}, not {value}", "ASM/010", where)
        descriptor = descriptor.with_field(name, value, generation)
    return descriptor
