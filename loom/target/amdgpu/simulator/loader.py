"""Loading a code object into device memory: segments, relocations, symbols.

Device addresses are the place of the image plus the ELF file's virtual addresses. Relocations are those of LLVM's
AMDGPU usage guide
that a dynamic loader meets.
"""

from __future__ import annotations

import ctypes
import io
import re
from dataclasses import dataclass, field
from typing import Any

from loom.diagnostics import error
from loom.target.amdgpu.processors import BY_MACH, Processor
from loom.target.amdgpu.simulator.memory import Allocation, Arena

_CLANG = re.compile(rb"clang version (\d+)\.")
_RELATIVE64 = 13  # R_AMDGPU_RELATIVE64
_ABS64 = 3  # R_AMDGPU_ABS64
_ABS32_LO, _ABS32_HI, _ABS32 = 1, 2, 6


@dataclass(slots=True)
class Symbol:
    """A symbol: ``value`` is its virtual address."""

    name: str
    value: int
    size: int
    kind: str


@dataclass(slots=True)
class LoadedObject:
    """A code object in device memory.

    Attributes:
        image: The device memory that holds it, from virtual address 0 on.
        text: Bytes of the text section, and ``text_address``, its virtual address.
        compiler: Major version of the oldest clang that the object names in its ``.comment``, where it names one.
    """

    processor: Processor
    image: Allocation
    text: bytes
    text_address: int
    symbols: dict[str, Symbol] = field(default_factory=dict)
    compiler: int | None = None

    def functions(self) -> list[Symbol]:
        """Function symbols by address."""
        found = [s for s in self.symbols.values() if s.kind == "STT_FUNC"]
        return sorted(found, key=lambda s: s.value)


def load_code_object(data: bytes, arena: Arena) -> LoadedObject:
    """Place a code object into device memory.

    Raises:
        LoomError: ``SIMULATOR/020`` for bytes that are no AMDGPU code object, ``SIMULATOR/021`` for an unknown
        processor.
    """
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        elf = ELFFile(io.BytesIO(data))
        return _load(elf, arena)
    except (ELFError, UnicodeDecodeError, ValueError, KeyError, IndexError, OverflowError) as problem:
        raise error(f"not a code object: {problem}", "SIMULATOR/020", hint="give an AMDGPU ELF file") from None


def _load(elf: Any, arena: Arena) -> LoadedObject:
    flags = int(elf.header["e_flags"])
    processor = BY_MACH.get(flags & 0xFF)
    if elf.header["e_machine"] != "EM_AMDGPU" or processor is None:
        raise error(
            f"the code object is for a processor that is not simulated (e_flags {flags:#x})",
            "SIMULATOR/021",
            hint="simulated: " + ", ".join(p.name for p in BY_MACH.values()),
        )
    loads = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
    extent = max((int(s["p_vaddr"] + s["p_memsz"]) for s in loads), default=0)
    image = arena.allocate(extent, "code object", own=True)
    for segment in loads:
        contents = segment.data()
        ctypes.memmove(image.address + int(segment["p_vaddr"]), contents, len(contents))
    symbols: dict[str, Symbol] = {}
    for table in (".dynsym", ".symtab"):
        section = elf.get_section_by_name(table)
        if section is None:
            continue
        for symbol in section.iter_symbols():
            if symbol.name and symbol["st_shndx"] != "SHN_UNDEF":
                symbols[symbol.name] = Symbol(
                    symbol.name, int(symbol["st_value"]), int(symbol["st_size"]), str(symbol["st_info"]["type"])
                )
    _relocate(elf, image.address, symbols)
    text = elf.get_section_by_name(".text")
    if text is None:
        raise error("the code object has no text section", "SIMULATOR/020")
    return LoadedObject(processor, image, bytes(text.data()), int(text["sh_addr"]), symbols, _compiler(elf))


def _compiler(elf: Any) -> int | None:
    section = elf.get_section_by_name(".comment")
    named = [] if section is None else _CLANG.findall(bytes(section.data()))
    return min(map(int, named), default=None)


def _relocate(elf: Any, base: int, symbols: dict[str, Symbol]) -> None:
    from elftools.elf.relocation import RelocationSection

    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection) or not section["sh_flags"] & 2:
            continue
        table = elf.get_section(section["sh_link"])
        for relocation in section.iter_relocations():
            kind = int(relocation["r_info_type"])
            addend = int(relocation["r_addend"]) if relocation.is_RELA() else 0
            value = base + addend
            if kind != _RELATIVE64:
                name = table.get_symbol(relocation["r_info_sym"]).name if table is not None else ""
                known = symbols.get(name)
                if known is None:
                    raise error(f"the code object needs the symbol '{name}', which it does not define", "SIMULATOR/022")
                value += known.value
            where = base + int(relocation["r_offset"])
            if kind in (_RELATIVE64, _ABS64):
                ctypes.memmove(where, (value & (1 << 64) - 1).to_bytes(8, "little"), 8)
            elif kind in (_ABS32_LO, _ABS32):
                ctypes.memmove(where, (value & 0xFFFFFFFF).to_bytes(4, "little"), 4)
            elif kind == _ABS32_HI:
                ctypes.memmove(where, (value >> 32 & 0xFFFFFFFF).to_bytes(4, "little"), 4)
            else:
                raise error(f"relocation type {kind} is not supported", "SIMULATOR/022")
