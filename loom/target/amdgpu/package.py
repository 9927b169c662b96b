"""Compiled kernels to a code object: descriptor fields, metadata, and the ELF file.

Field positions: LLVM's AMDGPU usage guide, "Kernel Descriptor" (``compute_pgm_rsrc1`` … ``kernel_code_properties``)
and "Code Object V5
Metadata". A lifted kernel with ``allocation(fixed)`` keeps the fields it was found with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loom.diagnostics import LoomError
from loom.target.amdgpu.encoder import encode
from loom.target.amdgpu.foreign_abi import foreign_code, foreign_descriptor, foreign_modes, foreign_resources
from loom.target.amdgpu.islands import insert_islands, needs_islands

if TYPE_CHECKING:
    from loom.target.amdgpu.code_object import CodeObject
    from loom.target.amdgpu.kernel import KernelBackend

DENORMS_KEPT = 0xF0
"""``FLOAT_MODE`` of our own kernels: round to nearest even, denormals of all widths kept."""

_PROPERTY_BITS = {
    "amdgpu.dispatch_ptr": 1,
    "amdgpu.queue_ptr": 2,
    "amdgpu.kernarg_segment_ptr": 3,
    "amdgpu.dispatch_id": 4,
    "amdgpu.private_segment_size": 6,
}
"""Bits of ``kernel_code_properties`` that ask for a user SGPR."""

_WAVE32_BIT = 10
_PREFETCH_BYTES = 128
"""Bytes per step of ``INST_PREF_SIZE``."""


def descriptor_fields(backend: KernelBackend, code_bytes: int) -> dict[str, int]:
    """The kernel descriptor's fields by LLVM's names, the code offset excepted."""
    attributes = backend.op.attributes
    foreign = foreign_descriptor(attributes) if backend.allocation_mode == "fixed" else None
    if foreign is not None:
        return dict(foreign)
    processor, resources = backend.processor, backend.resources
    generation = processor.generation
    built = backend.trace.built
    assert built is not None
    entry = built.entry
    modes = foreign_modes(attributes) or {}
    granule = processor.vgpr_encoding_granule(backend.wave_size)
    vgprs = resources.vgprs
    rsrc3 = 0
    if generation == "gfx9.4":
        accumulators = -(-vgprs // 4) * 4
        rsrc3 = accumulators // 4 - 1
        vgprs = accumulators + resources.agprs
    rsrc1 = max(0, -(-vgprs // granule) - 1)
    if generation == "gfx9.4":
        # SGPRs are counted in steps of 16, of two units each; VCC, FLAT_SCRATCH and XNACK_MASK take six.
        rsrc1 |= (-(-(resources.sgprs + 6) // 16) - 1) * 2 << 6
    rsrc1 |= (modes.get("float_mode", DENORMS_KEPT) & 0xFF) << 12
    if generation != "gfx12":
        rsrc1 |= modes.get("dx10_clamp", 1) << 21 | modes.get("ieee_mode", 1) << 23
    if generation != "gfx9.4":
        rsrc1 |= 1 << 29 | 1 << 30 | 1 << 31  # work-group processor mode, ordered memory, forward progress
        prefetch = min(63 if generation == "gfx11" else 255, -(-code_bytes // _PREFETCH_BYTES))
        rsrc3 |= prefetch << 4
    scratch = resources.scratch_bytes
    rsrc2 = (1 if scratch else 0) | entry.user_sgprs << 1
    for axis, used in enumerate(entry.workgroup_ids):
        rsrc2 |= int(used) << (7 + axis)
    rsrc2 |= (entry.workitem_dimensions - 1) << 11
    properties = 1 << _WAVE32_BIT if backend.wave_size == 32 else 0
    for key in entry.user_keys:
        properties |= 1 << _PROPERTY_BITS[key]
    return {
        "compute_pgm_rsrc1": rsrc1,
        "compute_pgm_rsrc2": rsrc2,
        "compute_pgm_rsrc3": rsrc3,
        "group_segment_fixed_size": resources.lds_bytes,
        "kernarg_preload": 0,
        "kernarg_size": resources.kernarg.size,
        "kernel_code_properties": properties,
        "private_segment_fixed_size": scratch,
    }


def kernel_metadata(backend: KernelBackend, fields: Mapping[str, int]) -> dict[str, Any]:
    """The kernel's entry in ``amdhsa.kernels``."""
    resources = backend.resources
    foreign = foreign_resources(backend.op.attributes) if backend.allocation_mode == "fixed" else {}
    size = resources.workgroup_size
    items = size[0] * size[1] * size[2] if size is not None else foreign.get("max_flat_workgroup_size", 1024)
    entry: dict[str, Any] = {
        ".name": backend.name,
        ".symbol": f"{backend.name}.kd",
        ".kernarg_segment_size": fields["kernarg_size"],
        ".kernarg_segment_align": max(4, resources.kernarg.alignment),
        ".group_segment_fixed_size": fields["group_segment_fixed_size"],
        ".private_segment_fixed_size": fields["private_segment_fixed_size"],
        ".wavefront_size": backend.wave_size,
        ".sgpr_count": foreign.get("sgpr_count", resources.sgprs + 2 * resources.uses_vcc),
        ".vgpr_count": foreign.get("vgpr_count", resources.vgprs),
        ".sgpr_spill_count": foreign.get("sgpr_spill_count", resources.sgpr_spills),
        ".vgpr_spill_count": foreign.get("vgpr_spill_count", resources.vgpr_spills),
        ".max_flat_workgroup_size": foreign.get("max_flat_workgroup_size", items),
        ".uses_dynamic_stack": False,
        ".args": [_argument(e.offset, e.size, e.kind, e.name) for e in resources.kernarg.entries],
    }
    if backend.processor.generation == "gfx9.4":
        entry[".agpr_count"] = foreign.get("agpr_count", resources.agprs)
    else:
        entry[".workgroup_processor_mode"] = fields["compute_pgm_rsrc1"] >> 29 & 1
    if size is not None:
        entry[".reqd_workgroup_size"] = list(size)
    return entry


def _argument(offset: int, size: int, kind: str, name: str) -> dict[str, Any]:
    argument: dict[str, Any] = {".offset": offset, ".size": size, ".value_kind": kind}
    if name:
        argument[".name"] = name
    if kind in ("global_buffer", "dynamic_shared_pointer"):
        argument[".address_space"] = "global" if kind == "global_buffer" else "local"
    return argument


def _own_code(code_object: CodeObject, backends: Sequence[KernelBackend]) -> CodeObject:
    """Let the symbols of lifted kernels cover their own code, and give the functions emitted beside it their own."""
    from loom.target.amdgpu.code_object import Function

    kernels = []
    functions: list[Function] = []
    for kernel, backend in zip(code_object.kernels, backends, strict=True):
        place = foreign_code(backend.op.attributes) if backend.allocation_mode == "fixed" else None
        if place is not None:
            for number, (offset, size) in enumerate(place.functions):
                functions.append(Function(f"{kernel.name}.function{number}", kernel.offset + offset, size))
            own = kernel.code[place.entry : place.entry + place.size]
            kernel = replace(kernel, offset=kernel.offset + place.entry, code=own)
        kernels.append(kernel)
    return replace(code_object, kernels=tuple(kernels), functions=tuple(functions))


def _encode(backend: KernelBackend) -> bytes:
    """The kernel's bytes; branches that do not reach are led over islands, unless the text is encoded as it stands."""
    try:
        return encode(backend.program)
    except LoomError as failure:
        if backend.allocation_mode == "fixed" or not needs_islands(failure):
            raise
    backend.added["islands"] = insert_islands(backend.program, backend.processor.generation)
    return encode(backend.program)


def package_kernels(backends: Sequence[KernelBackend]) -> bytes:
    """Encode the kernels and write them as one code object.

    Raises:
        LoomError: ``ENCODE/…`` for an instruction that no encoding fits.
    """
    from loom.target.amdgpu.code_object import Kernel, build, write
    from loom.target.amdgpu.kernel_descriptor import KernelDescriptor

    kernels = []
    for backend in backends:
        code = _encode(backend)
        fields = descriptor_fields(backend, len(code))
        descriptor = KernelDescriptor(**fields)
        metadata = kernel_metadata(backend, fields)
        kernels.append(Kernel(backend.name, code, descriptor, metadata, 0, backend.processor.generation))
    name = backends[0].processor.name
    code_object = build(name, kernels)
    for kernel, backend in zip(code_object.kernels, backends, strict=True):
        backend.code_offset = kernel.offset
    code_object = _own_code(code_object, backends)
    document = {"amdhsa.target": code_object.target_id, "amdhsa.version": [1, 2]}
    return write(replace(code_object, metadata=document))
