"""What a kernel of a code object takes: instruction bytes, registers, local memory, scratch; read from the ELF file.

Instruction bytes are those of the kernel's symbol; padding behind the last instruction of a kernel is not part of it.
"""

from __future__ import annotations

import io
from typing import Any

from loom.diagnostics import error
from loom.store.canonical import sha256

#: Note type of the AMDGPU metadata, msgpack encoded (LLVM, AMDGPUUsage: NT_AMDGPU_METADATA).
_METADATA_NOTE = 32

#: Our name → key of a kernel in the metadata.
_KEYS = {
    "vector registers": ".vgpr_count",
    "scalar registers": ".sgpr_count",
    "static local memory": ".group_segment_fixed_size",
    "scratch": ".private_segment_fixed_size",
    "spilled vector registers": ".vgpr_spill_count",
    "spilled scalar registers": ".sgpr_spill_count",
    "argument segment": ".kernarg_segment_size",
    "wave size": ".wavefront_size",
}


def _open(code_object: bytes) -> Any:
    """Read an ELF file. Raises ``RESOURCES/001`` (exit code 2) for other bytes."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        return ELFFile(io.BytesIO(code_object))
    except (ELFError, UnicodeDecodeError, IndexError) as failure:
        raise error(f"not a code object: {failure}", "RESOURCES/001") from None


def kernel_resources(code_object: bytes, kernel: str) -> dict[str, Any]:
    """Return a kernel's resources by name; ``instructions`` is the SHA-256 of its instruction bytes, ``code`` their
    number.

    Raises ``RESOURCES/001`` (exit code 2) for bytes that are no ELF file and ``RESOURCES/002`` for an absent kernel.
    """
    elf = _open(code_object)
    raw = _symbol_bytes(elf, kernel)
    resources: dict[str, Any] = {"instructions": sha256(raw), "code": len(raw)}
    entry = kernel_metadata(code_object, kernel)
    for name, key in _KEYS.items():
        if key in entry:
            resources[name] = entry[key]
    return resources


def kernel_names(code_object: bytes) -> list[str]:
    """The kernels that the metadata lists, in order."""
    return [str(entry[".name"]) for entry in _kernels(_open(code_object))]


def kernel_metadata(code_object: bytes, kernel: str) -> dict[str, Any]:
    """A kernel's metadata, empty where there is none."""
    for entry in _kernels(_open(code_object)):
        if entry.get(".name") == kernel:
            return dict(entry)
    return {}


def _symbol_bytes(elf: Any, kernel: str) -> bytes:
    names = []
    for table in (elf.get_section_by_name(".symtab"), elf.get_section_by_name(".dynsym")):
        if table is None:
            continue
        for symbol in table.iter_symbols():
            if symbol["st_info"]["type"] == "STT_FUNC":
                names.append(symbol.name)
                if symbol.name == kernel:
                    section = elf.get_section(symbol["st_shndx"])
                    start = symbol["st_value"] - section["sh_addr"]
                    return bytes(section.data()[start : start + symbol["st_size"]])
    raise error(f"no kernel '{kernel}'", "RESOURCES/002", hint=f"kernels: {', '.join(sorted(set(names)))}")


def _metadata(elf: Any) -> dict[str, Any]:
    """The code object's metadata (a msgpack note), empty where there is none."""
    import msgpack

    for segment in elf.iter_segments("PT_NOTE"):
        for note in segment.iter_notes():
            if note["n_name"] == "AMDGPU" and note["n_type"] in (_METADATA_NOTE, "NT_AMDGPU_METADATA"):
                description = note["n_descdata"] if "n_descdata" in note else note["n_desc"]
                data = description if isinstance(description, bytes) else description.encode("latin-1")
                return dict(msgpack.unpackb(data))
    return {}


def _kernels(elf: Any) -> list[dict[str, Any]]:
    return list(_metadata(elf).get("amdhsa.kernels", ()))


def processor_of(code_object: bytes) -> str:
    """``family:processor`` of a code object, from its metadata's target. Raises ``RESOURCES/003`` where it names
    none."""
    words = str(_metadata(_open(code_object)).get("amdhsa.target", "")).partition(":")[0].split("-")
    if words[-1].startswith("gfx"):
        return f"amdgpu:{words[-1]}"
    raise error("the code object names no processor", "RESOURCES/003")
