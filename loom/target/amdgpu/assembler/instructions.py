"""Instructions in LLVM's syntax: mnemonic, operands, modifiers, and the machine instruction that they make."""

from __future__ import annotations

from functools import cache

from loom.diagnostics import Location, error
from loom.target.amdgpu.assembler.conversion import convert
from loom.target.amdgpu.assembler.expressions import Cursor, Unresolved, failure, tokenize
from loom.target.amdgpu.assembler.modifiers import at_modifier, read_modifier
from loom.target.amdgpu.assembler.operands import read_operand
from loom.target.amdgpu.assembler.reading import Deferred, Lookup, Parsed, Reading
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import OFF, Literal, MachineInstruction, Operand, Register
from loom.target.amdgpu.printer import always_gds
from loom.target.amdgpu.processors import processor as find_processor
from loom.target.amdgpu.tables import FILES, Table, table

_SUFFIXES = (("_e64_dpp", "e64_dpp"), ("_e32", "e32"), ("_e64", "e64"), ("_dpp", "dpp"), ("_sdwa", "sdwa"))


class InstructionParser:
    """Parses instructions of one processor."""

    def __init__(self, processor: str, wave_size: int) -> None:
        self.target = find_processor(processor)
        self.generation = self.target.generation
        self.table: Table = table(self.generation)
        self.wave_size = wave_size

    def parse(
        self, text: str, location: Location, lookup: Lookup, start: int = 0
    ) -> tuple[MachineInstruction, dict[int, Deferred]]:
        """Parse one instruction; deferred literals by operand index.

        Raises:
            LoomError: ``ASM/…`` with line and column.
        """
        cursor = Cursor(tokenize(text, location, start), location)
        first, deferred = self._one(cursor, lookup)
        if cursor.accept("::"):
            second, _ = self._one(cursor, lookup)
            first.y = second
            first.form = second.form = "vopd"
        if not cursor.done:
            raise cursor.fail(f"unexpected '{cursor.token.text}' behind the instruction")
        return first, deferred

    def _one(self, cursor: Cursor, lookup: Lookup) -> tuple[MachineInstruction, dict[int, Deferred]]:
        token = cursor.next()
        location = Location(cursor.location.file, cursor.location.line, token.column + 1)
        row, form = self._find(token.text, location)
        reading = Reading(cursor, row, lookup, self.target)
        operands: list[Parsed] = []
        modifiers: dict[str, int] = {}
        if row.slots and not cursor.done and cursor.token.text != "::" and not at_modifier(cursor):
            operands.append(read_operand(reading))
            while cursor.accept(","):
                if at_modifier(cursor):
                    break
                operands.append(read_operand(reading))
        while not cursor.done and cursor.token.text != "::":
            cursor.accept(",")
            read_modifier(reading, modifiers)
        return _build(row, form, operands, modifiers, location, cursor)

    def _find(self, name: str, location: Location) -> tuple[InstructionRow, str | None]:
        lowered = name.lower()
        if lowered in self.table:
            return self.table.row(lowered), None
        for suffix, form in _SUFFIXES:
            if lowered.endswith(suffix) and lowered.removesuffix(suffix) in self.table:
                return self.table.row(lowered.removesuffix(suffix)), form
        stem, form_of = lowered, None
        for suffix, form in _SUFFIXES:
            if lowered.endswith(suffix):
                stem, form_of = lowered.removesuffix(suffix), form
                break
        alias = _foreign_name(self.generation, stem)
        if alias is not None:
            return self.table.row(alias), form_of
        where = [generation for generation in FILES if stem in table(generation)]
        hint = f"it exists on {', '.join(where)}" if where else None
        raise error(f"{self.target.name} has no instruction '{name}'", "ASM/003", location, hint=hint)


def _build(
    row: InstructionRow,
    form: str | None,
    parsed: list[Parsed],
    modifiers: dict[str, int],
    location: Location,
    cursor: Cursor,
) -> tuple[MachineInstruction, dict[int, Deferred]]:
    slots = list(row.slots)
    if row.encodings[0].format in ("SMEM", "SMEMS"):
        parsed = _scalar_memory(row, parsed, modifiers)
    if len(parsed) == len(slots) - 1:
        if (slots and slots[0].name == "vdst" and "off" in slots[0].kinds) or (
            modifiers.get("lds") and slots and slots[0].name == "vdata"
        ):
            parsed.insert(0, Parsed(location.column - 1, OFF))
        elif row.mnemonic == "s_endpgm":
            parsed.append(Parsed(location.column - 1, integer=0))
    if len(parsed) != len(slots):
        names = ", ".join(slot.name for slot in slots) or "none"
        raise error(f"{row.mnemonic} takes {len(slots)} operands ({names}), not {len(parsed)}", "ASM/007", location)
    operands: list[Operand] = []
    deferred: dict[int, Deferred] = {}
    for index, (slot, item) in enumerate(zip(slots, parsed, strict=True)):
        operand = convert(row, slot, item, cursor.location)
        if isinstance(operand, Deferred):
            deferred[index] = operand
            operand = Literal(0x80000000)
        operands.append(operand)
        source = {"src0": 1, "src1": 2, "src2": 4}.get(slot.name, 0)
        for name, wanted in (("neg", item.negate), ("abs", item.absolute), ("sext", item.extend)):
            if wanted:
                if not source:
                    raise failure(
                        f"{slot.name} of {row.mnemonic} takes no '{name}'", cursor.location, item.column, "ASM/006"
                    )
                modifiers[name] = modifiers.get(name, 0) | source
    _check_modifiers(row, modifiers, location)
    chosen = _form(row, form, modifiers, location)
    return MachineInstruction(row, chosen, tuple(operands), modifiers, 0, location), deferred


def _check_modifiers(row: InstructionRow, modifiers: dict[str, int], location: Location) -> None:
    if not modifiers:
        return
    known = {modifier.name for modifier in row.modifiers}
    if "gds" not in known and always_gds(row.encodings[0], row.generation):
        modifiers.pop("gds", None)
    for name in modifiers:
        if name not in known:
            raise error(
                f"{row.mnemonic} has no modifier '{name}'",
                "ASM/006",
                location,
                hint=f"it has: {', '.join(sorted(known)) or 'none'}",
            )


def _form(row: InstructionRow, form: str | None, modifiers: dict[str, int], location: Location) -> str | None:
    if form is None:
        if len(row.encodings) == 1:
            return row.encodings[0].form
        # A constant offset written out, 0 included, asks for the form that has one (gfx9.4 scalar memory).
        return "" if "offset" in modifiers and row.encoding("sgpr") is not None else None
    if form in ("dpp", "e64_dpp"):
        form = {"dpp": "", "e64_dpp": "e64_"}[form] + ("dpp8" if "dpp8" in modifiers else "dpp16")
    if row.encoding(form) is None:
        raise error(f"{row.mnemonic} has no encoding '{form}'", "ASM/003", location)
    return form


def _scalar_memory(row: InstructionRow, parsed: list[Parsed], modifiers: dict[str, int]) -> list[Parsed]:
    names = [slot.name for slot in row.slots]
    if "soffset" not in names:
        return parsed
    at = names.index("soffset")
    if at >= len(parsed):
        return parsed
    item = parsed[at]
    if item.integer is not None:
        modifiers["offset"] = item.integer
        if "prefetch" in row.mnemonic and at + 1 < len(parsed):
            parsed.pop(at)
        else:
            parsed[at] = Parsed(item.column, OFF)
    if at < len(parsed) and parsed[at].operand in (Register("null"), Register("off", 0, 0)):
        parsed[at] = Parsed(item.column, OFF)
    return parsed


@cache
def _foreign_name(generation: str, name: str) -> str | None:
    """The mnemonic that means what ``name`` means on another generation (``global_load_dword`` for
    ``global_load_b32``)."""
    for other in FILES:
        if other != generation and name in table(other):
            semantic = table(other).row(name).semantic
            own = table(generation)
            if semantic in own:
                return semantic
            for mnemonic in own.mnemonics():
                if own.row(mnemonic).semantic == semantic:
                    return mnemonic
    return None


def parse_instruction(text: str, processor: str, wave_size: int | None = None) -> MachineInstruction:
    """Parse one instruction without labels; ``form`` is ``None`` where the text leaves it open.

    Raises:
        LoomError: ``ASM/…``.
    """
    size = wave_size or find_processor(processor).wave_sizes[0]

    def lookup(name: str) -> int:
        raise Unresolved(name)

    return InstructionParser(processor, size).parse(text, Location("<text>", 1), lookup)[0]
