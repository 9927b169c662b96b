"""Reading the corpus: files, and the diagnostics that the invalid ones must give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import loom
from loom.diagnostics import Diagnostic, LoomError
from loom.ir.targets import register_descriptor_sets
from loom.ir.verifier import check

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
register_descriptor_sets("test", "tests.text.low_core:provide")

VALID = sorted([*(CORPUS / "appendix").glob("*.loom"), *(CORPUS / "valid").glob("*.loom")])
INVALID = sorted((CORPUS / "invalid").glob("*.loom"))
_EXPECTED = re.compile(r"// ERROR: ([A-Z]+/\d{3}) ?(.*?)(?= // ERROR: |$)")


@dataclass(frozen=True)
class InvalidCase:
    """One module with mistakes."""

    name: str
    text: str
    expected: tuple[tuple[int, str, str], ...]


def invalid_cases() -> Iterator[InvalidCase]:
    """Yield the modules of the invalid files."""
    for path in INVALID:
        for number, text in enumerate(path.read_text(encoding="utf-8").split("// ====\n"), 1):
            expected = tuple(
                (line_number, match[1], match[2].strip())
                for line_number, line in enumerate(text.split("\n"), 1)
                for match in _EXPECTED.finditer(line)
            )
            yield InvalidCase(f"{path.stem}-{number}", text, expected)


def diagnostics_of(text: str, filename: str = "case.loom") -> list[Diagnostic]:
    """Return what parser and verifier say of a text."""
    try:
        module = loom.parse(text, filename)
    except LoomError as failure:
        return list(failure.diagnostics)
    return check(module)
