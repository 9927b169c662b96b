"""Reading and writing ELF files of the AMDGPU kind, and nothing more.

The reader trusts nothing: every offset is checked against the file, so malformed input is a :class:`LoomError`
(``OBJECT/001`` …).
Layout facts: the ELF specification and LLVM's AMDGPU usage guide, "Code Object".
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from loom.diagnostics import LoomError, error

MACHINE_AMDGPU = 224
OSABI_AMDGPU_HSA = 64
TYPE_RELOCATABLE = 1
TYPE_SHARED = 3
NOTE_METADATA = 32
SYMBOL_OBJECT = 1
SYMBOL_FUNCTION = 2

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_PROGRAM = struct.Struct("<IIQQQQQQ")

_SHT_PROGBITS, _SHT_SYMTAB, _SHT_STRTAB, _SHT_HASH, _SHT_DYNAMIC, _SHT_NOTE, _SHT_NOBITS, _SHT_DYNSYM = (
    1,
    2,
    3,
    5,
    6,
    7,
    8,
    11,
)


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its header fields that matter and its bytes (empty for NOBITS)."""

    name: str
    kind: int
    flags: int
    address: int
    data: bytes
    link: int = 0
    entry_size: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol; ``section`` is an index into the sections, ``value`` an address (an offset in relocatable files)."""

    name: str
    value: int
    size: int
    kind: int
    binding: int
    visibility: int
    section: int


@dataclass(frozen=True, slots=True)
class ElfFile:
    """A parsed file."""

    kind: int
    machine: int
    osabi: int
    abi_version: int
    flags: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

    def section(self, name: str) -> Section | None:
        """The first section with a name."""
        return next((item for item in self.sections if item.name == name), None)

    def notes(self) -> list[tuple[str, int, bytes]]:
        """(owner, type, description) of every note."""
        result = []
        for section in self.sections:
            if section.kind != _SHT_NOTE:
                continue
            data, at = section.data, 0
            while at + 12 <= len(data):
                name_size, size, kind = struct.unpack_from("<III", data, at)
                start = at + 12
                body = start + (name_size + 3 & ~3)
                if body + size > len(data):
                    raise error("a note runs past the end of its section", "OBJECT/004")
                name = data[start : start + name_size].rstrip(b"\0").decode("utf-8", "replace")
                result.append((name, kind, data[body : body + size]))
                at = body + (size + 3 & ~3)
        return result


def is_elf(data: bytes) -> bool:
    """Whether the bytes begin like an ELF file."""
    return data[:4] == b"\x7fELF"


def parse(data: bytes) -> ElfFile:
    """Parse a 64-bit little-endian ELF file.

    Raises:
        LoomError: ``OBJECT/001`` not such a file, ``OBJECT/002`` truncated, ``OBJECT/003`` malformed tables.
    """
    if not is_elf(data):
        raise error("this is no ELF file: it does not begin with 7f 45 4c 46", "OBJECT/001")
    if len(data) < _HEADER.size:
        raise error(f"the ELF header is cut off: {len(data)} of {_HEADER.size} bytes", "OBJECT/002")
    if data[4] != 2 or data[5] != 1:
        raise error("only 64-bit little-endian ELF files are AMDGPU code objects", "OBJECT/001")
    (ident, kind, machine, _, _, _, section_offset, flags, _, _, _, entry_size, count, name_index) = (
        _HEADER.unpack_from(data)
    )
    if count and entry_size != _SECTION.size:
        raise error(f"section headers of {entry_size} bytes; {_SECTION.size} are expected", "OBJECT/003")
    if section_offset + count * _SECTION.size > len(data):
        raise error(
            f"the section table ends at {section_offset + count * _SECTION.size:#x}, "
            f"the file at {len(data):#x}: it is truncated",
            "OBJECT/002",
        )
    headers = [_SECTION.unpack_from(data, section_offset + index * _SECTION.size) for index in range(count)]
    bodies = []
    for header in headers:
        offset, size = header[4], header[5]
        if header[1] in (0, _SHT_NOBITS):
            bodies.append(b"")
            continue
        if offset + size > len(data):
            raise error(
                f"a section ends at {offset + size:#x}, the file at {len(data):#x}: it is truncated", "OBJECT/002"
            )
        bodies.append(data[offset : offset + size])
    if count and name_index >= count:
        raise error("the section name table does not exist", "OBJECT/003")
    names = bodies[name_index] if count else b""
    sections = tuple(
        Section(_string(names, header[0]), header[1], header[2], header[3], body, header[6], header[9])
        for header, body in zip(headers, bodies, strict=True)
    )
    return ElfFile(kind, machine, ident[7], ident[8], flags, sections, _symbols(sections))


def _string(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    if offset > len(table) or (end < 0 and offset < len(table)):
        raise error("a name lies outside of its string table", "OBJECT/003")
    return table[offset:end].decode("utf-8", "replace")


def _symbols(sections: Sequence[Section]) -> tuple[Symbol, ...]:
    chosen = [s for s in sections if s.kind == _SHT_SYMTAB] or [s for s in sections if s.kind == _SHT_DYNSYM]
    result = []
    for table in chosen[:1]:
        if table.link >= len(sections):
            raise error("the symbol table has no string table", "OBJECT/003")
        strings = sections[table.link].data
        for at in range(_SYMBOL.size, len(table.data) - _SYMBOL.size + 1, _SYMBOL.size):
            name, info, other, section, value, size = _SYMBOL.unpack_from(table.data, at)
            result.append(Symbol(_string(strings, name), value, size, info & 15, info >> 4, other & 3, section))
    return tuple(result)


@dataclass(frozen=True, slots=True)
class SymbolToWrite:
    """A dynamic symbol: in ``.text`` (kind function) or ``.rodata`` (kind object), at an offset from the section's
    start."""

    name: str
    kind: int
    offset: int
    size: int
    visibility: int = 0


def _align(value: int, alignment: int) -> int:
    return (value + alignment - 1) // alignment * alignment


def _hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        if high:
            value ^= high >> 24
        value &= ~high
    return value


def text_address(rodata_size: int, symbol_count: int, names_size: int, note_size: int) -> tuple[int, int]:
    """Addresses of ``.rodata`` and ``.text`` in a file with these sizes; :func:`write` uses the same rule."""
    note = 64 + 56 * 6
    dynsym = _align(note + note_size, 8)
    hashes = dynsym + _SYMBOL.size * (symbol_count + 1)
    strings = hashes + 4 * (2 + 1 + symbol_count + 1)
    rodata = _align(strings + names_size, 64)
    return rodata, _align(rodata + rodata_size, 256) + 0x1000


def names_size(symbols: Sequence[SymbolToWrite]) -> int:
    """Size of the dynamic string table for these symbols."""
    return 1 + sum(len(symbol.name.encode()) + 1 for symbol in symbols)


def write(
    text: bytes, rodata: bytes, symbols: Sequence[SymbolToWrite], metadata: bytes, flags: int, abi_version: int
) -> bytes:
    """Write a loadable code object.

    Segments: read-only (note, dynamic symbols, hash, strings, ``.rodata``), executable (``.text``, 256-byte
    aligned), dynamic. One
    hash bucket serves the few symbols a code object has.

    Args:
        text: Contents of ``.text``.
        rodata: Contents of ``.rodata``: the kernel descriptors.
        symbols: Dynamic symbols.
        metadata: MessagePack bytes for the AMDGPU metadata note; empty for none.
        flags: ``e_flags``.
        abi_version: ``EI_ABIVERSION``: 3 for V5, 4 for V6.
    """
    note = b"" if not metadata else struct.pack("<III", 7, len(metadata), NOTE_METADATA) + b"AMDGPU\0\0" + metadata
    note += b"\0" * (-len(note) % 4)
    note_at = 64 + 56 * 6
    dynsym_at = _align(note_at + len(note), 8)
    strings = b"\0"
    rodata_at, text_at = text_address(len(rodata), len(symbols), names_size(symbols), len(note))
    entries = [bytes(_SYMBOL.size)]
    for symbol in symbols:
        function = symbol.kind == SYMBOL_FUNCTION
        section, base = (6, text_at) if function else (5, rodata_at)
        entries.append(
            _SYMBOL.pack(
                len(strings), 1 << 4 | symbol.kind, symbol.visibility, section, base + symbol.offset, symbol.size
            )
        )
        strings += symbol.name.encode() + b"\0"
    dynsym = b"".join(entries)
    count = len(entries)
    hash_at = dynsym_at + len(dynsym)
    chain = [index + 1 if 0 < index < count - 1 else 0 for index in range(count)]
    hashes = struct.pack(f"<III{count}I", 1, count, 1 if count > 1 else 0, *chain)
    strings_at = hash_at + len(hashes)
    text_offset = text_at - 0x1000
    dynamic_offset = _align(text_offset + len(text), 8)
    dynamic_at = dynamic_offset + 0x2000
    dynamic = b"".join(
        struct.pack("<qQ", tag, value)
        for tag, value in (
            (6, dynsym_at),
            (11, _SYMBOL.size),
            (5, strings_at),
            (10, len(strings)),
            (4, hash_at),
            (0, 0),
        )
    )
    section_names = b"\0.note\0.dynsym\0.hash\0.dynstr\0.rodata\0.text\0.dynamic\0.shstrtab\0"

    def name(text_name: bytes) -> int:
        return section_names.index(b"\0" + text_name + b"\0") + 1

    names_offset = dynamic_offset + len(dynamic)
    headers_offset = _align(names_offset + len(section_names), 8)
    sections = [
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (name(b".note"), _SHT_NOTE, 2, note_at, note_at, len(note), 0, 0, 4, 0),
        (name(b".dynsym"), _SHT_DYNSYM, 2, dynsym_at, dynsym_at, len(dynsym), 4, 1, 8, _SYMBOL.size),
        (name(b".hash"), _SHT_HASH, 2, hash_at, hash_at, len(hashes), 2, 0, 4, 4),
        (name(b".dynstr"), _SHT_STRTAB, 2, strings_at, strings_at, len(strings), 0, 0, 1, 0),
        (name(b".rodata"), _SHT_PROGBITS, 2, rodata_at, rodata_at, len(rodata), 0, 0, 64, 0),
        (name(b".text"), _SHT_PROGBITS, 6, text_at, text_offset, len(text), 0, 0, 256, 0),
        (name(b".dynamic"), _SHT_DYNAMIC, 3, dynamic_at, dynamic_offset, len(dynamic), 4, 0, 8, 16),
        (name(b".shstrtab"), _SHT_STRTAB, 0, 0, names_offset, len(section_names), 0, 0, 1, 0),
    ]
    read_end = rodata_at + len(rodata)
    programs = [
        (6, 4, 64, 64, 64, 56 * 6, 56 * 6, 8),
        (1, 4, 0, 0, 0, read_end, read_end, 0x1000),
        (1, 5, text_offset, text_at, text_at, len(text), len(text), 0x1000),
        (1, 6, dynamic_offset, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 0x1000),
        (2, 6, dynamic_offset, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8),
        (4, 4, note_at, note_at, note_at, len(note), len(note), 4),
    ]
    ident = b"\x7fELF" + bytes((2, 1, 1, OSABI_AMDGPU_HSA, abi_version)) + bytes(7)
    header = _HEADER.pack(
        ident,
        TYPE_SHARED,
        MACHINE_AMDGPU,
        1,
        0,
        64,
        headers_offset,
        flags,
        64,
        56,
        len(programs),
        64,
        len(sections),
        len(sections) - 1,
    )
    out = bytearray(headers_offset)

    def put(at: int, data: bytes) -> None:
        out[at : at + len(data)] = data

    put(0, header)
    for index, program in enumerate(programs):
        put(64 + 56 * index, _PROGRAM.pack(*program))
    for at, data in (
        (note_at, note),
        (dynsym_at, dynsym),
        (hash_at, hashes),
        (strings_at, strings),
        (rodata_at, rodata),
        (text_offset, text),
        (dynamic_offset, dynamic),
        (names_offset, section_names),
    ):
        put(at, data)
    return bytes(out) + b"".join(_SECTION.pack(*section) for section in sections)


__all__ = ["ElfFile", "LoomError", "Section", "Symbol", "SymbolToWrite", "is_elf", "parse", "write"]
