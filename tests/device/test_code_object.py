"""Metadata of code objects that is damaged: a sentence with the kernel and the field, whatever is wrong."""

from __future__ import annotations

import struct
from typing import Any

import msgpack
import pytest

from loom.device.code_object import read_kernels
from loom.diagnostics import LoomError


def code_object(metadata: bytes) -> bytes:
    """The least ELF file that holds a note: a header, one program header, the note."""
    note = struct.pack("<III", 7, len(metadata), 32) + b"AMDGPU\0\0" + metadata + b"\0" * (-len(metadata) % 4)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01\x40\x04" + bytes(7), 3, 224, 1, 0, 64, 0, 0x41, 64, 56, 1, 64, 0, 0
    )
    return header + struct.pack("<IIQQQQQQ", 4, 4, 120, 120, 120, len(note), len(note), 4) + note


ARGUMENT = {".offset": 0, ".size": 8, ".value_kind": "global_buffer"}
KERNEL: dict[str, Any] = {".name": "k", ".args": [ARGUMENT], ".kernarg_segment_size": 8, ".wavefront_size": 32}


def kernels(**changes: Any) -> bytes:
    return code_object(msgpack.packb({"amdhsa.kernels": [{**KERNEL, **changes}]}))


def test_a_sound_object() -> None:
    (kernel,) = read_kernels(kernels()).values()
    assert (kernel.name, kernel.wave_size, kernel.kernarg_size) == ("k", 32, 8)
    assert [(a.offset, a.size, a.kind, a.name) for a in kernel.arguments] == [(0, 8, "global_buffer", "")]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (kernels(**{".name": None}), "a kernel has no .name"),
        (kernels(**{".name": 3}), "a kernel: .name is 3, not a string"),
        (kernels(**{".args": 5}), "kernel 'k': .args is no list"),
        (kernels(**{".args": [{**ARGUMENT, ".size": "eight"}]}), "argument 0 of kernel 'k': .size is 'eight', not a number"),
        (kernels(**{".args": [{".size": 8, ".value_kind": "by_value"}]}), "argument 0 of kernel 'k' has no .offset"),
        (kernels(**{".args": [ARGUMENT, {".offset": 8, ".size": 8}]}), "argument 1 of kernel 'k' has no .value_kind"),
        (kernels(**{".args": ["x"]}), "argument 0 of kernel 'k' has no .offset"),
        (kernels(**{".reqd_workgroup_size": [64]}), "kernel 'k': .reqd_workgroup_size has 1 numbers, not three"),
        (kernels(**{".reqd_workgroup_size": [64, 1, -1]}), "kernel 'k': .reqd_workgroup_size is -1, not a number"),
        (kernels(**{".wavefront_size": [32]}), "kernel 'k': .wavefront_size is [32], not a number"),
        (code_object(msgpack.packb({"amdhsa.kernels": {"k": 1}})), "the code object: amdhsa.kernels is no list"),
        (code_object(msgpack.packb({"amdhsa.kernels": ["k"]})), "a kernel has no .name"),
        (code_object(b"\x81\x90\x01"), "the code object's metadata is damaged"),  # a map whose key is a list
        (code_object(b"\x82\xa1a"), "the code object's metadata is damaged"),
    ],
)  # fmt: skip
def test_damaged_metadata(data: bytes, what: str) -> None:
    with pytest.raises(LoomError) as refused:
        read_kernels(data)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "DEVICE/021" and what in diagnostic.message
