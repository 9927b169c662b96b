"""The state of an assembly: sections, symbols, what is made again when all labels are known, and kernels so far."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from loom.diagnostics import Location, error
from loom.target.amdgpu.assembler import macros
from loom.target.amdgpu.assembler.expressions import Cursor, Unresolved, failure
from loom.target.amdgpu.assembler.instructions import InstructionParser
from loom.target.amdgpu.assembler.macros import Line, Macro
from loom.target.amdgpu.kernel_descriptor import SIZE as DESCRIPTOR_SIZE
from loom.target.amdgpu.processors import Processor
from loom.target.amdgpu.processors import processor as find_processor

SIZE_LIMIT = 1 << 28
SECTION_STRIDE = 1 << 40
"""Distance of the ranges that sections have until the layout is known."""


@dataclass(slots=True)
class Section:
    """Bytes under a name; ``index`` counts sections as they appear."""

    name: str
    index: int
    data: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class Label:
    """A place in a section."""

    section: Section
    offset: int


@dataclass(slots=True)
class Fixup:
    """Bytes that depend on labels: made again when all labels are known."""

    section: Section
    offset: int
    make: Callable[[], bytes]


class Assembly:
    """One source file on its way to a code object. ``process`` assembles lines; blocks hand it their bodies."""

    def __init__(
        self,
        source: str,
        file_name: str,
        processor: str | None,
        wave_size: int | None,
        process: Callable[[Assembly, list[Line]], None],
    ) -> None:
        self._process = process
        self.file_name = file_name
        self.raw_lines = source.split("\n")
        self.lines = macros.strip_comments(source, file_name)
        self.target: Processor | None = find_processor(processor) if processor is not None else None
        self.xnack: str | None = None
        self.sramecc: str | None = None
        self.wave_size = wave_size
        if wave_size is None and re.search(r"\.amdhsa_wavefront_size32\s+0\b", source):
            self.wave_size = 64
        self.parser: InstructionParser | None = None
        self.sections: dict[str, Section] = {}
        self.section = self.section_of(".text")
        self.labels: dict[str, Label] = {}
        self.values: dict[str, int] = {}
        self.local_counts: dict[str, int] = {}
        self.functions: set[str] = set()
        self.sizes: dict[str, tuple[str, Location, int, int]] = {}
        self.macros: dict[str, Macro] = {}
        self.fixups: list[Fixup] = []
        self.kernels: list[tuple[str, dict[str, tuple[int, Location]], Location]] = []
        self.metadata: dict[str, Any] = {}
        self.abi_version: int | None = None
        self.layout: tuple[int, int] | None = None
        self.expanded = 0

    def process(self, lines: list[Line]) -> None:
        """Assemble lines where the assembly stands."""
        self._process(self, lines)

    def section_of(self, name: str) -> Section:
        """The section of that name, new or known."""
        return self.sections.setdefault(name, Section(name, len(self.sections)))

    def lookup(self, name: str) -> int:
        """Value of a symbol; labels are addresses in their section's own range until the layout is known."""
        if name == ".":
            return self.address(Label(self.section, len(self.section.data)))
        if name in self.values:
            return self.values[name]
        label = self.labels.get(name)
        if label is None:
            raise Unresolved(name)
        return self.address(label)

    def address(self, label: Label) -> int:
        """Address of a label; in its section's own range until the layout is known."""
        if self.layout is not None:
            base = {".text": self.layout[1], ".rodata": self.layout[0] + DESCRIPTOR_SIZE * len(self.kernels)}.get(
                label.section.name
            )
            if base is not None:
                return base + label.offset
        return (label.section.index + 1) * SECTION_STRIDE + label.offset

    def lookup_number(self, name: str) -> int:
        """Value of a symbol that is a number, not a place; what instructions are parsed with."""
        if name in self.values:
            return self.values[name]
        raise Unresolved(name)

    def evaluate(self, cursor: Cursor) -> int:
        """An expression that must have a value now."""
        column = cursor.token.column
        try:
            return cursor.expression(self.lookup)
        except Unresolved as missing:
            raise failure(f"'{missing.name}' has no value yet", cursor.location, column, "ASM/009") from None

    def define(self, name: str | None, number: str | None, location: Location, column: int) -> None:
        """Define a label here, by its name or by its number."""
        if number is not None:
            self.local_counts[number] = self.local_counts.get(number, 0) + 1
            name = f".Llocal.{number}.{self.local_counts[number]}"
        assert name is not None
        if name in self.labels or name in self.values:
            raise failure(f"'{name}' is defined already", location, column, "ASM/015")
        self.labels[name] = Label(self.section, len(self.section.data))

    def local_name(self, match: re.Match[str]) -> str:
        """The label that ``1b`` or ``1f`` means here."""
        count = self.local_counts.get(match[1], 0) + (match[2] == "f")
        return f".Llocal.{match[1]}.{count}"

    def assign(self, name: str, cursor: Cursor) -> None:
        """Give a symbol the value of the expression that stands here."""
        value = self.evaluate(cursor)
        if name in self.labels:
            raise cursor.fail(f"'{name}' is a label", "ASM/015")
        self.values[name] = value
        end_of_line(cursor)

    def known_target(self, location: Location) -> Processor:
        """The processor. Raises ``ASM/013`` where nothing has named it yet."""
        if self.target is None:
            raise error(
                "the processor is not known",
                "ASM/013",
                location,
                hint="begin with .amdgcn_target or name it on the command line",
            )
        return self.target

    def pad(self, count: int, pattern: bytes, cursor: Cursor) -> None:
        """Add ``count`` bytes of a pattern. Raises ``ASM/018`` for what no section holds."""
        if count < 0 or len(self.section.data) + count > SIZE_LIMIT:
            raise cursor.fail(f"cannot add {count} bytes here", "ASM/018")
        self.section.data += (pattern * (count // len(pattern) + 1))[:count]


def end_of_line(cursor: Cursor) -> None:
    """Refuse what stands behind the end of a directive."""
    if not cursor.done:
        raise cursor.fail(f"unexpected '{cursor.token.text}'")
