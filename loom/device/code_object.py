"""What a launch needs to know about the kernels of an AMDGPU code object, from its metadata.

Source: LLVM's AMDGPU usage guide, "Code Object Metadata".
"""

from __future__ import annotations

import io
from typing import Any

from loom.device.protocol import KernelArgument, KernelInfo
from loom.diagnostics import error

_METADATA_NOTE = 32  # NT_AMDGPU_METADATA


def read_metadata(code_object: bytes) -> dict[str, Any]:
    """The metadata note as plain values.

    Raises:
        LoomError: ``DEVICE/020`` for bytes that are no ELF file, ``DEVICE/021`` when the note is absent or damaged.
    """
    import msgpack
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        elf = ELFFile(io.BytesIO(code_object))
        segments = list(elf.iter_segments())
    except (ELFError, UnicodeDecodeError, ValueError, KeyError, IndexError, OverflowError) as problem:
        raise error(f"not a code object: {problem}", "DEVICE/020", hint="give an AMDGPU ELF file") from None
    for segment in segments:
        if segment["p_type"] != "PT_NOTE":
            continue
        found = _find_note(segment.data())
        if found is not None:
            try:
                value = msgpack.unpackb(found, strict_map_key=False)
            except (ValueError, msgpack.exceptions.UnpackException) as problem:
                raise error(f"the code object's metadata is damaged: {problem}", "DEVICE/021") from None
            if isinstance(value, dict):
                return value
    raise error("the code object has no AMDGPU metadata", "DEVICE/021", hint="code object version 3 or newer is needed")


def _find_note(data: bytes) -> bytes | None:
    """The metadata among the notes of a segment: name size, description size, type, then both, padded to four bytes."""
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = (int.from_bytes(data[at + 4 * i : at + 4 * i + 4], "little") for i in range(3))
        name_at = at + 12
        body_at = name_at + (name_size + 3 & ~3)
        name = data[name_at : name_at + name_size].rstrip(b"\0")
        if name == b"AMDGPU" and kind == _METADATA_NOTE:
            return data[body_at : body_at + size]
        at = body_at + (size + 3 & ~3)
    return None


def read_kernels(code_object: bytes) -> dict[str, KernelInfo]:
    """Every kernel by name. Raises what :func:`read_metadata` raises."""
    kernels = {}
    for entry in read_metadata(code_object).get("amdhsa.kernels", []):
        name = str(entry[".name"])
        arguments = tuple(
            KernelArgument(int(a[".offset"]), int(a[".size"]), str(a[".value_kind"]), str(a.get(".name", "")))
            for a in entry.get(".args", [])
        )
        required = entry.get(".reqd_workgroup_size")
        kernels[name] = KernelInfo(
            name,
            arguments,
            int(entry.get(".kernarg_segment_size", 0)),
            int(entry.get(".wavefront_size", 64)),
            int(entry.get(".group_segment_fixed_size", 0)),
            int(entry.get(".private_segment_fixed_size", 0)),
            (int(required[0]), int(required[1]), int(required[2])) if required else None,
            int(entry.get(".max_flat_workgroup_size", 1024)),
        )
    return kernels
