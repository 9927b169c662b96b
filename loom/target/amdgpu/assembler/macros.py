"""Macro layer: comments, ``.macro``, ``.rept``, ``.irp``, ``.irpc``. Conditionals need symbol values and are
evaluated by the assembler."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from loom.diagnostics import Location
from loom.target.amdgpu.assembler.expressions import failure


@dataclass(frozen=True, slots=True)
class Line:
    """A source line without comments, and where it came from."""

    text: str
    location: Location


@dataclass(slots=True)
class Macro:
    """A macro: parameters with defaults (``None``: none), whether the last takes the rest, body."""

    name: str
    parameters: list[tuple[str, str | None, bool]]
    takes_rest: bool
    body: list[Line] = field(default_factory=list)
    calls: int = 0


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def strip_comments(source: str, file_name: str) -> list[Line]:
    """Split into lines and blank out comments (``//``, ``;``, ``/* */``), keeping columns."""
    lines = []
    inside = False
    for number, raw in enumerate(source.split("\n"), 1):
        if not inside and '"' not in raw and "/*" not in raw:
            text = raw.split("//", 1)[0].split(";", 1)[0]
            if text.lstrip().startswith("#"):
                text = ""
            lines.append(Line(text.rstrip().replace("\t", " "), Location(file_name, number, 1)))
            continue
        out = []
        at = 0
        while at < len(raw):
            if inside:
                end = raw.find("*/", at)
                inside = end < 0
                stop = len(raw) if end < 0 else end + 2
                out.append(" " * (stop - at))
                at = stop
                continue
            char = raw[at]
            if char == '"':
                match = _STRING.match(raw, at)
                stop = match.end() if match else len(raw)
                out.append(raw[at:stop])
                at = stop
            elif raw.startswith("/*", at):
                inside = True
                out.append("  ")
                at += 2
            elif char == ";" or raw.startswith("//", at) or (char == "#" and not raw[:at].strip()):
                break
            else:
                out.append(char)
                at += 1
        lines.append(Line("".join(out).rstrip().replace("\t", " "), Location(file_name, number, 1)))
    return lines


def collect(
    lines: Sequence[Line], start: int, openers: tuple[str, ...], closer: tuple[str, ...]
) -> tuple[list[Line], int]:
    """The body from ``start`` to the matching closing directive; returns it and the index behind the closer.

    Raises:
        LoomError: ``ASM/011`` if the block is not closed.
    """
    depth = 1
    for index in range(start, len(lines)):
        words = lines[index].text.split(None, 1)
        word = words[0].lower() if words else ""
        if word in openers:
            depth += 1
        elif word in closer:
            depth -= 1
            if depth == 0:
                return list(lines[start:index]), index + 1
    first = lines[start - 1]
    raise failure(f"'{first.text.split()[0]}' is not closed by '{closer[0]}'", first.location, 0, "ASM/011")


def split_arguments(text: str, by_space: bool = True) -> list[str]:
    """Arguments of a macro call: separated by commas or blanks outside of strings, brackets and parentheses."""
    arguments: list[str] = []
    current = ""
    depth = 0
    at = 0
    while at < len(text):
        char = text[at]
        match = _STRING.match(text, at) if char == '"' else None
        if match:
            current += match.group()
            at = match.end()
            continue
        depth += (char in "([") - (char in ")]")
        following = text[at:].lstrip()
        if (depth == 0 and char == ",") or (
            depth == 0
            and char == " "
            and by_space
            and current.strip()
            and following
            and not _continues(current, following)
        ):
            arguments.append(current.strip())
            current = ""
        else:
            current += char
        at += 1
    if current.strip() or arguments:
        arguments.append(current.strip())
    return arguments


def _continues(before: str, after: str) -> bool:
    return before.rstrip()[-1:] in "+-*/%&|^<>=,(" or after[:1] in "+*/%&|^<>=,)"


def expand(macro: Macro, arguments: list[str], call: Line) -> list[Line]:
    """The lines of a macro call.

    Raises:
        LoomError: ``ASM/012`` for missing or unknown arguments.
    """
    values: dict[str, str] = {name: default for name, default, _ in macro.parameters if default is not None}
    names = [name for name, _, _ in macro.parameters]
    position = 0
    for number, argument in enumerate(arguments):
        keyword = re.match(r"([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", argument)
        if keyword and keyword[1] in names:
            values[keyword[1]] = keyword[2]
            continue
        if position >= len(names):
            raise failure(f"macro {macro.name} takes {len(names)} arguments", call.location, 0, "ASM/012")
        if macro.takes_rest and position == len(names) - 1:
            values[names[position]] = ", ".join(arguments[number:])
            break
        if argument or names[position] not in values:
            values[names[position]] = argument
        position += 1
    for name, _, required in macro.parameters:
        if required and not values.get(name):
            raise failure(f"macro {macro.name} needs '{name}'", call.location, 0, "ASM/012")
    macro.calls += 1
    return [Line(substitute(line.text, values, names, macro.calls - 1), call.location) for line in macro.body]


def substitute(text: str, values: dict[str, str], names: Sequence[str], number: int | None = None) -> str:
    """Replace ``\\name``, ``\\@`` and ``\\()`` in a line."""

    def replace(match: re.Match[str]) -> str:
        word = match[1]
        if word == "@":
            return str(number or 0)
        if word == "()":
            return ""
        return _unquoted(values.get(word, "")) if word in names else match[0]

    return re.sub(r"\\(@|\(\)|[A-Za-z_]\w*)", replace, text)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == '"' else text


def parse_header(text: str, location: Location) -> Macro:
    """The header of a ``.macro``: name, then parameters with ``=default``, ``:req``, ``:vararg``."""
    match = re.match(r"\s*\.macro\s+([A-Za-z_.$][\w.$]*)\s*,?\s*(.*)$", text, re.IGNORECASE)
    if match is None:
        raise failure("a macro needs a name", location, 0, "ASM/012")
    parameters: list[tuple[str, str | None, bool]] = []
    takes_rest = False
    for part in split_arguments(re.sub(r"\s*([=:])\s*", r"\1", match[2])):
        piece = re.fullmatch(r"([A-Za-z_]\w*)(?::(req|vararg))?(?:=(.*))?", part)
        if piece is None:
            raise failure(f"'{part}' is no macro parameter", location, 0, "ASM/012")
        takes_rest = takes_rest or piece[2] == "vararg"
        parameters.append((piece[1], piece[3], piece[2] == "req"))
    return Macro(match[1], parameters, takes_rest)
