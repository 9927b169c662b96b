"""Registers in LLVM's syntax: single ones, ranges, lists, and those with names."""

from __future__ import annotations

import re

from loom.diagnostics import Location
from loom.target.amdgpu.assembler.expressions import Cursor, failure
from loom.target.amdgpu.assembler.reading import Lookup
from loom.target.amdgpu.machine import PAIRED, SOURCE_NAMES, Register
from loom.target.amdgpu.processors import Processor

_REGISTER = re.compile(r"(v|s|a|ttmp)(\d+)(\.[lh])?")
_BANKS = {"v": "vgpr", "s": "sgpr", "a": "agpr", "ttmp": "ttmp"}
_HALVES = {None: None, ".l": 0, ".h": 1}

NAMED = {
    **{name: (name, 0, 2) for name in PAIRED},
    **{f"{name}_{half}": (name, index, 1) for name in PAIRED for index, half in enumerate(("lo", "hi"))},
    **{spelling: (name, 0, 1) for name, source in SOURCE_NAMES.items() for spelling in (name, source)},
    "m0": ("m0", 0, 1),
    "null": ("null", 0, 1),
    "off": ("off", 0, 0),
}
"""Registers that exist once: bank, index, units."""


def register_follows(cursor: Cursor) -> bool:
    """Whether a register stands behind the next token."""
    token = cursor.tokens[cursor.at + 1]
    if token.text in _BANKS:
        return cursor.tokens[cursor.at + 2].text == "["
    return token.kind == "name" and (token.text in NAMED or _REGISTER.fullmatch(token.text) is not None)


def read_register(cursor: Cursor, lookup: Lookup, target: Processor) -> Register | None:
    """The register that stands here, ``None`` if there is none."""
    text = cursor.token.text
    named = NAMED.get(text)
    if named is not None:
        cursor.next()
        return Register(*named)
    match = _REGISTER.fullmatch(text)
    if match is not None:
        token = cursor.next()
        bank = _BANKS[match[1]]
        half = _HALVES[match[3]]
        index = int(match[2])
        _check_range(target, bank, index, 1, token.column, cursor.location)
        return Register(bank, index, 1, half)
    if text in _BANKS and cursor.tokens[cursor.at + 1].text == "[":
        token = cursor.next()
        cursor.next()
        first = cursor.expression(lookup)
        last = cursor.expression(lookup) if cursor.accept(":") else first
        cursor.expect("]")
        half = None
        if cursor.token.text in (".l", ".h"):
            half = int(cursor.next().text == ".h")
        if last < first:
            raise failure(f"the register range {first}:{last} runs backwards", cursor.location, token.column, "ASM/004")
        _check_range(target, _BANKS[text], first, last - first + 1, token.column, cursor.location)
        return Register(_BANKS[text], first, last - first + 1, half)
    return None


def _check_range(target: Processor, bank: str, index: int, units: int, column: int, location: Location) -> None:
    limit = {"sgpr": target.addressable_sgprs, "ttmp": 16}.get(bank, 256)
    if index < 0 or index + units > limit:
        letter = {"sgpr": "s", "vgpr": "v", "agpr": "a", "ttmp": "ttmp"}[bank]
        raise failure(
            f"{letter}{index + units - 1} does not exist: {target.name} has {letter}0 to {letter}{limit - 1}",
            location,
            column,
            "ASM/004",
        )


def read_register_list(cursor: Cursor, lookup: Lookup, target: Processor) -> Register:
    """``[v1, v2, …]``: consecutive registers one by one."""
    column = cursor.next().column
    found: list[Register] = []
    while True:
        register = read_register(cursor, lookup, target)
        if register is None:
            raise cursor.fail("expected a register in the list", "ASM/004")
        found.append(register)
        if not cursor.accept(","):
            break
    cursor.expect("]")
    first = found[0]
    if any(item.bank != first.bank or item.index != first.index + at for at, item in enumerate(found)):
        raise failure("the registers of a list must be consecutive", cursor.location, column, "ASM/004")
    return Register(first.bank, first.index, len(found))
