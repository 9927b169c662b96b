"""Containers of code objects: clang offload bundles and HIP fat binaries.

Layout facts: clang's documentation, "Clang Offload Bundler" (binary bundles, compressed bundles).
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from loom.diagnostics import error
from loom.target.amdgpu import elf

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
_MOST_ENTRIES = 4096
_LARGEST = 1 << 31


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """One entry: its target (``hipv4-amdgcn-amd-amdhsa--gfx1100``) and its bytes."""

    identifier: str
    data: bytes

    @property
    def is_amdgpu(self) -> bool:
        """Whether the entry is for an AMD GPU and not empty."""
        return "amdgcn" in self.identifier and bool(self.data)

    @property
    def processor(self) -> str:
        """The processor in the identifier, without target features."""
        return self.identifier.rpartition("--")[2].split(":")[0] or self.identifier.rpartition("-")[2].split(":")[0]


def is_bundle(data: bytes) -> bool:
    """Whether the bytes begin like a bundle, compressed or not."""
    return data.startswith((MAGIC, COMPRESSED_MAGIC))


def entries(data: bytes) -> tuple[BundleEntry, ...]:
    """The entries of a bundle.

    Raises:
        LoomError: ``OBJECT/020`` malformed or truncated, ``OBJECT/021`` compressed by a method that Python cannot
            undo here.
    """
    if data.startswith(COMPRESSED_MAGIC):
        data = _decompress(data)
    if not data.startswith(MAGIC):
        raise error("this is no offload bundle", "OBJECT/020")
    at = len(MAGIC)
    if len(data) < at + 8:
        raise error("the offload bundle is cut off in its header", "OBJECT/020")
    (count,) = struct.unpack_from("<Q", data, at)
    at += 8
    if count > _MOST_ENTRIES:
        raise error(f"an offload bundle with {count} entries is not credible", "OBJECT/020")
    result = []
    for _ in range(count):
        if at + 24 > len(data):
            raise error("the offload bundle is cut off in its table", "OBJECT/020")
        offset, size, name_size = struct.unpack_from("<QQQ", data, at)
        at += 24
        if at + name_size > len(data) or offset + size > len(data):
            raise error("an entry of the offload bundle lies outside of the file", "OBJECT/020")
        name = data[at : at + name_size].decode("utf-8", "replace")
        at += name_size
        result.append(BundleEntry(name, data[offset : offset + size]))
    return tuple(result)


def _decompress(data: bytes) -> bytes:
    if len(data) < 8:
        raise error("the compressed offload bundle is cut off in its header", "OBJECT/020")
    version, method = struct.unpack_from("<HH", data, 4)
    header = {1: 20, 2: 24, 3: 32}.get(version)
    if header is None or len(data) < header:
        raise error(f"compressed offload bundle of version {version}; 1 to 3 are known", "OBJECT/020")
    if method == 1:
        raise error(
            "the offload bundle is compressed with zstd, which this Python cannot undo",
            "OBJECT/021",
            hint="unpack it with 'clang-offload-bundler --unbundle', or compile with --no-offload-compress",
        )
    if method != 0:
        raise error(f"the offload bundle is compressed with the unknown method {method}", "OBJECT/020")
    try:
        engine = zlib.decompressobj()
        plain = engine.decompress(data[header:], _LARGEST)
    except zlib.error as failure:
        raise error(f"the compressed offload bundle is damaged: {failure}", "OBJECT/020") from None
    return plain


def fat_binary_entries(file: elf.ElfFile) -> tuple[BundleEntry, ...]:
    """The entries of all bundles in a host program's ``.hip_fatbin`` section; empty if it has none.

    Raises:
        LoomError: what :func:`entries` raises.
    """
    section = file.section(".hip_fatbin")
    if section is None:
        return ()
    result: list[BundleEntry] = []
    data = section.data
    at = 0
    while 0 <= at < len(data):
        starts = [found for found in (data.find(MAGIC, at), data.find(COMPRESSED_MAGIC, at)) if found >= 0]
        if not starts:
            break
        start = min(starts)
        result.extend(entries(data[start:]))
        at = start + 4
        following = data.find(MAGIC, start + len(MAGIC))
        at = following if following >= 0 else len(data)
    return tuple(result)
