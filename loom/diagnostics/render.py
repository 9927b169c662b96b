"""Diagnostics as text with the source line and a caret, or as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom.diagnostics.core import Diagnostic

_LONGEST_EXCERPT = 160


def _excerpt(line: str, column: int) -> tuple[str, int]:
    """Cut a long source line around ``column`` (one-based); return the cut text and the caret's zero-based offset."""
    offset = max(column - 1, 0)
    if len(line) <= _LONGEST_EXCERPT:
        return line, offset
    start = max(0, offset - _LONGEST_EXCERPT // 2)
    return line[start : start + _LONGEST_EXCERPT], offset - start


def render_text(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str] | None = None) -> str:
    """Render diagnostics for a terminal.

    ``sources`` maps file names to their text; where a file is present the offending line and a caret are shown.
    """
    lines_of: dict[str, list[str]] = {}
    out: list[str] = []
    for diagnostic in diagnostics:
        location = diagnostic.location
        prefix = f"{location}: " if location is not None else ""
        out.append(f"{prefix}{diagnostic.severity.value}: {diagnostic.message} [{diagnostic.code}]")
        if location is not None and location.line and sources and location.file in sources:
            if location.file not in lines_of:
                text = sources[location.file].replace("\r\n", "\n").replace("\r", "\n")
                lines_of[location.file] = text.removeprefix("\ufeff").split("\n")
            lines = lines_of[location.file]
            if location.line <= len(lines):
                text, caret = _excerpt(lines[location.line - 1], location.column)
                width = 1
                if location.end_line == location.line and location.end_column > location.column:
                    width = min(location.end_column - location.column, max(len(text) - caret, 1))
                indent = "".join("\t" if c == "\t" else " " for c in text[:caret])
                # Control characters of a hostile file must not reach the terminal.
                out.append("  " + "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text))
                out.append(f"  {indent}^{'~' * (width - 1)}")
        if diagnostic.hint:
            out.append(f"  hint: {diagnostic.hint}")
        out.extend(f"  note: {note}" for note in diagnostic.notes)
    return "\n".join(out)


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """Render diagnostics as one JSON document, ``{"diagnostics": [...]}``."""
    rows: list[dict[str, object]] = []
    for diagnostic in diagnostics:
        row: dict[str, object] = {
            "severity": diagnostic.severity.value,
            "code": diagnostic.code,
            "message": diagnostic.message,
        }
        if diagnostic.location is not None:
            row["file"] = diagnostic.location.file
            row["line"] = diagnostic.location.line
            row["column"] = diagnostic.location.column
            row["end_line"] = diagnostic.location.end_line
            row["end_column"] = diagnostic.location.end_column
        if diagnostic.hint:
            row["hint"] = diagnostic.hint
        if diagnostic.notes:
            row["notes"] = list(diagnostic.notes)
        rows.append(row)
    import json

    return json.dumps({"diagnostics": rows}, indent=2)
