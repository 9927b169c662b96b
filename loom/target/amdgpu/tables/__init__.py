"""The instruction tables, read lazily from the generated files beside this one.

    table("gfx11").row("v_add_f32")     one row, made on first use
    table("gfx11").mnemonics()          every mnemonic
    table("gfx11").rows()               every row (materialises all of them)

Reading a file takes a few milliseconds; rows are built when they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from loom.diagnostics import error
from loom.target.amdgpu.formats import formats
from loom.target.amdgpu.instruction import Encoding, InstructionRow, MemoryEffect, ModifierField, OperandSlot

FILES = {"gfx11": "gfx11.json", "gfx12": "gfx12.json", "gfx9.4": "gfx9_4.json"}


class Table:
    """The rows of one generation."""

    def __init__(self, generation: str) -> None:
        document = json.loads((Path(__file__).parent / FILES[generation]).read_text(encoding="utf-8"))
        self.generation = generation
        self.processors: tuple[str, ...] = tuple(document["processors"])
        #: Acceptance classes: for each the set of legal source codes as bits; bit 256 stands for all VGPRs.
        self.accept: tuple[int, ...] = tuple(int(text, 16) for text in document["accept"])
        #: LLVM's names: ``hwreg`` and ``message`` by number, ``format`` a list.
        self.names: dict[str, Any] = document["names"]
        self._raw: dict[str, list[Any]] = {raw[0]: raw for raw in document["rows"]}
        self._rows: dict[str, InstructionRow] = {}
        self._aliases: dict[str, str] | None = None
        self._processor_sets: dict[int, tuple[str, ...]] = {}
        self._formats = formats(generation)

    def mnemonics(self) -> tuple[str, ...]:
        """Every mnemonic of the generation, sorted."""
        return tuple(self._raw)

    def __contains__(self, mnemonic: str) -> bool:
        return mnemonic in self._raw

    def encodings(self) -> Iterator[tuple[str, int, str, int]]:
        """(mnemonic, index of the encoding, format, opcode) of everything, without materialising rows."""
        for mnemonic, raw in self._raw.items():
            for index, encoding in enumerate(raw[2]):
                yield mnemonic, index, encoding[1], encoding[2]

    def row(self, mnemonic: str) -> InstructionRow:
        """The row called ``mnemonic`` (LLVM's name or an alias, without encoding suffix).

        Raises:
            LoomError: ``AMDGPU/002`` if the generation has no such instruction.
        """
        found = self._rows.get(mnemonic)
        if found is not None:
            return found
        raw = self._raw.get(mnemonic)
        if raw is None:
            alias = self.alias(mnemonic)
            if alias is not None:
                return self.row(alias)
            raise error(f"{self.generation} has no instruction '{mnemonic}'", "AMDGPU/002")
        found = self._make(raw)
        self._rows[mnemonic] = found
        return found

    def alias(self, name: str) -> str | None:
        """The mnemonic an alias stands for, ``None`` if the name is not an alias."""
        if self._aliases is None:
            self._aliases = {alias: raw[0] for raw in self._raw.values() for alias in raw[1]}
        return self._aliases.get(name)

    def rows(self) -> Iterator[InstructionRow]:
        """Every row, sorted by mnemonic."""
        for mnemonic in self._raw:
            yield self.row(mnemonic)

    def _processors_of(self, mask: int) -> tuple[str, ...]:
        found = self._processor_sets.get(mask)
        if found is None:
            found = tuple(name for index, name in enumerate(self.processors) if mask >> index & 1)
            self._processor_sets[mask] = found
        return found

    def _make(self, raw: list[Any]) -> InstructionRow:
        mnemonic, aliases, encodings, slots, uses, defs, memory, counters, issue_class, latency, semantic = raw
        everywhere = 0
        made = []
        for form, fmt, opcode, suffix, base, dont_care, fields, modifiers, mask in encodings:
            everywhere |= mask
            made.append(
                Encoding(
                    form=form,
                    format=fmt,
                    opcode=opcode,
                    suffix=suffix,
                    slot_fields=tuple(fields),
                    modifiers=tuple(self._modifier(fmt, *modifier) for modifier in modifiers),
                    processors=self._processors_of(mask),
                    base=int(base, 16),
                    dont_care=int(dont_care, 16),
                )
            )
        return InstructionRow(
            mnemonic=mnemonic,
            aliases=tuple(aliases),
            generation=self.generation,
            encodings=tuple(made),
            slots=tuple(
                OperandSlot(n, role, tuple(kinds), units, kind, tied) for n, role, kinds, units, kind, tied in slots
            ),
            implicit_uses=tuple(uses),
            implicit_defs=tuple(defs),
            memory=_memory(memory),
            counters=tuple(counters),
            issue_class=issue_class,
            latency=latency,
            processors=self._processors_of(everywhere),
            semantic=semantic,
        )

    def _modifier(self, fmt: str, name: str, mask: int, default: int) -> ModifierField:
        field = self._formats[fmt].fields.get(name)
        signed = field is not None and field.signed and mask >> (field.width - 1) & 1 == 1
        return ModifierField(name, mask.bit_length(), signed, default, mask)


def _memory(raw: list[Any] | None) -> MemoryEffect | None:
    if not raw:
        return None
    space, kind, size, address, data, result = raw
    return MemoryEffect(space, kind, size, tuple(address), tuple(data), result)


@cache
def table(generation: str) -> Table:
    """The table of a generation (``gfx11``, ``gfx12``, ``gfx9.4``), read once."""
    return Table(generation)


def find_row(generation: str, mnemonic: str) -> InstructionRow | None:
    """The row called ``mnemonic`` (or by an alias) in a generation, ``None`` if there is none."""
    found = table(generation)
    if mnemonic in found:
        return found.row(mnemonic)
    alias = found.alias(mnemonic)
    return found.row(alias) if alias is not None else None


def rows(generation: str) -> Iterator[InstructionRow]:
    """Every row of a generation, sorted by mnemonic."""
    return table(generation).rows()
