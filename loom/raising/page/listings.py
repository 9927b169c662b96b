"""Listings whose lines know what belongs to them: a native instruction, its Low operation, a source line, its code.

A line's keys are words; lines of any column that share one are shown together. ``nK`` is the K-th native instruction,
``lK`` line K of the raised source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loom.report.summary import kernels_of

_INSTRUCTION = re.compile(r"^\s+[a-z][a-z0-9_]+(\s|$)")
_ADDRESS = re.compile(r"//\s*(?:0x)?([0-9A-Fa-f]+):?")
_LOW_INSTRUCTION = re.compile(r"^\s+(?:%[\w$-]+(?:,\s*%[\w$-]+)*\s*=\s*)?low\.(?:op<|br\b|cond_br\b|return\b)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a listing: what stands in its margin, its text, and its keys separated by spaces."""

    label: str
    text: str
    keys: str = ""


def is_instruction(line: str) -> bool:
    """Whether a line of assembly text is an instruction: indented, and no directive, label or comment."""
    return bool(_INSTRUCTION.match(line)) and not line.lstrip().startswith((".", "//", ";"))


def native_lines(text: str) -> list[Line]:
    """The native listing; the K-th instruction has the key ``nK``."""
    lines, count = [], 0
    for line in text.splitlines():
        if is_instruction(line):
            lines.append(Line(str(count), line.strip(), f"n{count}"))
            count += 1
        elif line.strip():
            lines.append(Line("", line.rstrip()))
    return lines


def low_lines(text: str) -> list[Line]:
    """The oracle's text; its instructions come in native order, one operation each."""
    lines, count = [], 0
    for position, line in enumerate(text.splitlines(), 1):
        if _LOW_INSTRUCTION.match(line):
            lines.append(Line(str(position), line.rstrip(), f"n{count}"))
            count += 1
        else:
            lines.append(Line(str(position), line.rstrip()))
    return lines


def code_lines(report: Mapping[str, Any]) -> tuple[list[Line], set[int]]:
    """A form's machine code as its compile report lists it, and the source lines that it came from."""
    lines: list[Line] = []
    used: set[int] = set()
    block = None
    for kernel in kernels_of(report):
        for entry in kernel.get("listing", ()):
            if entry["block"] != block:
                block = entry["block"]
                lines.append(Line("", f"{block}:"))
            location = entry["location"]
            origin = int(location["line"]) if location else None
            if origin:
                used.add(origin)
            lines.append(Line(str(origin or ""), str(entry["text"]), f"l{origin}" if origin else ""))
    return lines, used


def source_lines(text: str, used: set[int]) -> list[Line]:
    """A form's source; lines that gave instructions have the key ``lK``."""
    return [
        Line(str(position), line.rstrip(), f"l{position}" if position in used else "")
        for position, line in enumerate(text.splitlines(), 1)
    ]
