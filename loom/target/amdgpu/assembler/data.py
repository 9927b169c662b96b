"""Directives that put bytes into a section: data, alignment, fill, strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from loom.diagnostics import Location, error
from loom.target.amdgpu.assembler.assembly import SECTION_STRIDE, Assembly, Fixup, end_of_line
from loom.target.amdgpu.assembler.expressions import Cursor, Unresolved, failure, float_bits, unquote

_INTEGERS = {
    ".byte": 1,
    ".short": 2,
    ".hword": 2,
    ".2byte": 2,
    ".value": 2,
    ".long": 4,
    ".int": 4,
    ".4byte": 4,
    ".word": 2,
    ".quad": 8,
    ".8byte": 8,
}
_FLOATS = {".float": 32, ".single": 32, ".double": 64, ".half": 16}


def _integers(assembly: Assembly, size: int, cursor: Cursor) -> None:
    while True:
        section, offset = assembly.section, len(assembly.section.data)
        start = cursor.at
        location = cursor.location
        try:
            value = cursor.expression(assembly.lookup)
            later = value >= SECTION_STRIDE and size >= 4
        except Unresolved:
            later, value = True, 0
        if later:
            cursor.at = start
            while cursor.token.text != "," and not cursor.done:
                cursor.next()
            tokens = [*cursor.tokens[start : cursor.at], cursor.tokens[-1]]

            def make(tokens: list[Any] = tokens, size: int = size, location: Location = location) -> bytes:
                try:
                    value = Cursor(tokens, location).expression(assembly.lookup)
                except Unresolved as missing:
                    raise error(f"'{missing.name}' is not defined", "ASM/009", location) from None
                return (value & (1 << 8 * size) - 1).to_bytes(size, "little")

            assembly.fixups.append(Fixup(section, offset, make))
            value = 0
        elif not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
            raise cursor.fail(f"{value} does not fit {size} bytes", "ASM/018")
        assembly.section.data += (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        if not cursor.accept(","):
            break
    end_of_line(cursor)


def _floats(assembly: Assembly, width: int, cursor: Cursor) -> None:
    while True:
        sign = "-" if cursor.accept("-") else ""
        token = cursor.next()
        if token.kind not in ("float", "number"):
            raise failure("expected a number", cursor.location, token.column)
        assembly.section.data += float_bits(sign + token.text, width).to_bytes(width // 8, "little")
        if not cursor.accept(","):
            break
    end_of_line(cursor)


def _align(assembly: Assembly, name: str, cursor: Cursor) -> None:
    value = assembly.evaluate(cursor)
    power = name.startswith(".p2align")
    if (power and not 0 <= value <= 16) or (not power and (value < 0 or value & (value - 1) or value > 65536)):
        raise cursor.fail(f"{value} is no alignment", "ASM/018")
    alignment = (1 << value if power else value) or 1
    width = {"l": 4, "w": 2}.get(name[-1] if name[-1] in "lw" else "", 1)
    pattern: bytes | None = None
    most = alignment
    if cursor.accept(",") and cursor.token.text != ",":
        pattern = (
            (assembly.evaluate(cursor) & (1 << 8 * width) - 1).to_bytes(width, "little") if not cursor.done else None
        )
    if cursor.accept(","):
        most = assembly.evaluate(cursor)
    missing = -len(assembly.section.data) % alignment
    if missing > most:
        return
    if pattern is None:
        pattern = b"\x00\x00\x80\xbf" if assembly.section.name == ".text" and missing % 4 == 0 else b"\0"
    assembly.pad(missing, pattern, cursor)


def _fill(assembly: Assembly, name: str, cursor: Cursor) -> None:
    count = assembly.evaluate(cursor)
    size, value = 1, 0
    if name == ".fill":
        if cursor.accept(","):
            size = assembly.evaluate(cursor)
        if cursor.accept(","):
            value = assembly.evaluate(cursor)
    elif cursor.accept(","):
        value = assembly.evaluate(cursor)
    end_of_line(cursor)
    if not 0 <= size <= 8:
        raise cursor.fail(f"a fill unit of {size} bytes", "ASM/018")
    assembly.pad(max(count, 0) * size, (value & (1 << 8 * max(size, 1)) - 1).to_bytes(max(size, 1), "little"), cursor)


def _strings(assembly: Assembly, terminated: bool, cursor: Cursor) -> None:
    while True:
        token = cursor.next()
        if token.kind != "string":
            raise failure("expected a string", cursor.location, token.column)
        assembly.section.data += unquote(token.text) + (b"\0" if terminated else b"")
        if not cursor.accept(","):
            break
    end_of_line(cursor)


def _origin(assembly: Assembly, cursor: Cursor) -> None:
    target = assembly.evaluate(cursor)
    base = (assembly.section.index + 1) * SECTION_STRIDE
    offset = target - base if target >= SECTION_STRIDE else target
    assembly.pad(offset - len(assembly.section.data), b"\0", cursor)


T = TypeVar("T")
CarryOut = Callable[[Assembly, Cursor], None]


def _each(values: Mapping[str, T], carry_out: Callable[[Assembly, T, Cursor], None]) -> dict[str, CarryOut]:
    """A directive for every name, with what the name says put in."""

    def with_value(value: T) -> CarryOut:
        return lambda assembly, cursor: carry_out(assembly, value, cursor)

    return {name: with_value(value) for name, value in values.items()}


def _by_name(*names: str) -> dict[str, str]:
    return {name: name for name in names}


DATA: dict[str, CarryOut] = {
    **_each(_INTEGERS, _integers),
    **_each(_FLOATS, _floats),
    **_each(_by_name(".p2align", ".p2alignl", ".p2alignw", ".balign", ".balignl", ".balignw", ".align"), _align),
    **_each(_by_name(".fill", ".space", ".skip", ".zero"), _fill),
    **_each({".ascii": False, ".asciz": True, ".string": True}, _strings),
    ".org": _origin,
}
"""By name."""
