"""What a launch needs to know about the kernels of an AMDGPU code object, from its metadata.

Source: LLVM's AMDGPU usage guide, "Code Object Metadata".
"""

from __future__ import annotations

import io
from typing import Any, TypeVar

from loom.device.protocol import KernelArgument, KernelInfo
from loom.diagnostics import LoomError, error

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
            except (ValueError, TypeError, msgpack.exceptions.UnpackException) as problem:
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
    """Every kernel by name. Raises what :func:`read_metadata` raises, ``DEVICE/021`` for fields that are not as the
    guide says, too."""
    kernels = {}
    for entry in _list(read_metadata(code_object), "amdhsa.kernels", "the code object"):
        name = _field(entry, ".name", str, "a kernel")
        where = f"kernel '{name}'"
        required = [
            _number(size, ".reqd_workgroup_size", where) for size in _list(entry, ".reqd_workgroup_size", where)
        ]
        if len(required) not in (0, 3):
            raise _wrong(f"{where}: .reqd_workgroup_size has {len(required)} numbers, not three")
        kernels[name] = KernelInfo(
            name,
            tuple(_argument(a, f"argument {n} of {where}") for n, a in enumerate(_list(entry, ".args", where))),
            _field(entry, ".kernarg_segment_size", int, where, 0),
            _field(entry, ".wavefront_size", int, where, 64),
            _field(entry, ".group_segment_fixed_size", int, where, 0),
            _field(entry, ".private_segment_fixed_size", int, where, 0),
            (required[0], required[1], required[2]) if required else None,
            _field(entry, ".max_flat_workgroup_size", int, where, 1024),
        )
    return kernels


def _argument(entry: Any, where: str) -> KernelArgument:
    return KernelArgument(
        _field(entry, ".offset", int, where),
        _field(entry, ".size", int, where),
        _field(entry, ".value_kind", str, where),
        _field(entry, ".name", str, where, ""),
    )


def _wrong(what: str) -> LoomError:
    return error(
        f"the code object's metadata is wrong: {what}",
        "DEVICE/021",
        hint="see LLVM's AMDGPU usage guide, code object metadata",
    )


def _list(entry: Any, key: str, where: str) -> list[Any]:
    found = entry.get(key, []) if isinstance(entry, dict) else None
    if not isinstance(found, list):
        raise _wrong(f"{where}: {key} is no list")
    return found


def _number(value: Any, key: str, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(f"{where}: {key} is {value!r}, not a number")
    return value


_Value = TypeVar("_Value", int, str)


def _field(entry: Any, key: str, kind: type[_Value], where: str, default: _Value | None = None) -> _Value:
    """A field of a map; without ``default`` it has to be there."""
    value = entry.get(key, default) if isinstance(entry, dict) else None
    if value is None:
        raise _wrong(f"{where} has no {key}")
    if kind is int:
        return kind(_number(value, key, where))
    if not isinstance(value, str):
        raise _wrong(f"{where}: {key} is {value!r}, not a string")
    return kind(value)
