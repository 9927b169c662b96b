"""Directives of one line: sections, symbols, the target, data; those that have no meaning in a code object are passed
over."""

from __future__ import annotations

import re
from collections.abc import Callable

from loom.target.amdgpu.assembler.assembly import Assembly
from loom.target.amdgpu.assembler.data import DATA
from loom.target.amdgpu.assembler.expressions import Cursor, failure, unquote
from loom.target.amdgpu.assembler.macros import Line
from loom.target.amdgpu.code_object import ABI_V5, ABI_V6
from loom.target.amdgpu.processors import processor as find_processor

_IGNORED = frozenset(
    (
        ".file",
        ".loc",
        ".ident",
        ".addrsig",
        ".addrsig_sym",
        ".local",
        ".hidden",
        ".protected",
        ".internal",
        ".cfi_startproc",
        ".cfi_endproc",
        ".cfi_sections",
        ".altmacro",
        ".noaltmacro",
        ".amdgpu_hsa_kernel",
        ".previous",
        ".popsection",
        ".reloc",
    )
)


def directive(assembly: Assembly, name: str, cursor: Cursor, line: Line, column: int) -> None:
    """Carry out a directive.

    Raises:
        LoomError: ``ASM/017`` for an unknown one; ``ASM/…`` for what it does not take.
    """
    if name in _IGNORED:
        return
    if name in DATA:
        DATA[name](assembly, cursor)
    elif name in _SYMBOLS:
        _SYMBOLS[name](assembly, cursor, line)
    elif name in (".error", ".err"):
        text = cursor.token.text if cursor.token.kind == "string" else '".err"'
        raise failure(unquote(text).decode("utf-8", "replace"), line.location, column, "ASM/016")
    else:
        raise failure(f"unknown directive '{name}'", line.location, column, "ASM/017")


def read_name(cursor: Cursor) -> str:
    """A name, bare or in quotes."""
    token = cursor.next()
    if token.kind == "string":
        return unquote(token.text).decode("utf-8", "replace")
    if token.kind != "name":
        cursor.at -= token.kind != "end"
        raise cursor.fail("expected a name")
    return token.text


def _version(assembly: Assembly, cursor: Cursor, line: Line) -> None:
    value = assembly.evaluate(cursor)
    versions = {4: 2, 5: ABI_V5, 6: ABI_V6}
    if value not in versions:
        raise cursor.fail(f"code object version {value}; 4, 5 and 6 are known", "ASM/010")
    assembly.abi_version = versions[value]


def _set_target(assembly: Assembly, cursor: Cursor, line: Line) -> None:
    column = cursor.token.column
    text = read_name(cursor)
    match = re.fullmatch(r"amdgcn-(?:amd|unknown|)-amdhsa-(?:unknown)?-?([\w-]+)((?::\w+[+-])*)", text)
    if match is None:
        raise failure(f"'{text}' is no amdhsa target", cursor.location, column, "ASM/013")
    target = find_processor(match[1].lstrip("-"))
    if assembly.target is not None and assembly.target is not target:
        raise failure(
            f"the source is for {target.name}, not {assembly.target.name}", cursor.location, column, "ASM/013"
        )
    assembly.target = target
    for setting in match[2].split(":")[1:]:
        value = "on" if setting.endswith("+") else "off"
        if setting[:-1] == "xnack":
            assembly.xnack = value
        elif setting[:-1] == "sramecc":
            assembly.sramecc = value


def _section(assembly: Assembly, cursor: Cursor, line: Line) -> None:
    assembly.section = assembly.section_of(read_name(cursor))


def _known_section(name: str) -> Directive:
    def carry_out(assembly: Assembly, cursor: Cursor, line: Line) -> None:
        assembly.section = assembly.section_of(name)

    return carry_out


def _binding(assembly: Assembly, cursor: Cursor, line: Line) -> None:
    read_name(cursor)


def _type(assembly: Assembly, cursor: Cursor, line: Line) -> None:
    symbol = read_name(cursor)
    if any(token.text in ("function", "@function", "STT_FUNC") for token in cursor.tokens):
        assembly.functions.add(symbol)


def _size(assembly: Assembly, cursor: Cursor, line: Line) -> None:
    symbol = read_name(cursor)
    cursor.expect(",")
    column = cursor.token.column
    assembly.sizes[symbol] = (line.text[column:], line.location, column, len(assembly.section.data))


def _set(assembly: Assembly, cursor: Cursor, line: Line) -> None:
    symbol = read_name(cursor)
    cursor.expect(",")
    assembly.assign(symbol, cursor)


def _forget_macro(assembly: Assembly, cursor: Cursor, line: Line) -> None:
    assembly.macros.pop(read_name(cursor), None)


Directive = Callable[[Assembly, Cursor, Line], None]
_SYMBOLS: dict[str, Directive] = {
    **{name: _known_section(name) for name in (".text", ".rodata", ".data", ".bss")},
    **dict.fromkeys((".section", ".pushsection"), _section),
    **dict.fromkeys((".globl", ".global", ".weak"), _binding),
    **dict.fromkeys((".set", ".equ", ".equiv"), _set),
    ".type": _type,
    ".size": _size,
    ".purgem": _forget_macro,
    ".amdgcn_target": _set_target,
    ".amdhsa_code_object_version": _version,
}
