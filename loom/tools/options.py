"""Configuration values on the command line: ``--config=key=value`` and ``--config-file=FILE``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from loom.diagnostics import Location, error
from loom.tools.common import read_text

#: A string, or a comment of a ``.jsonc`` file.
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def config_value(text: str) -> bool | int | float | str:
    """A value as written behind ``key=``: ``true``, an integer (also hexadecimal), a float, else the text itself."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _flatten(prefix: str, value: Any, into: dict[str, Any]) -> None:
    """Join nested keys with dots."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(f"{prefix}.{key}" if prefix else str(key), inner, into)
    else:
        into[prefix] = value


def read_config_file(path: str) -> dict[str, Any]:
    """Configuration values of a JSON file (comments allowed), nested keys joined by dots.

    Raises ``TOOL/006`` for text that is not a JSON object, naming the line.
    """
    text = read_text(path)

    def blank(found: re.Match[str]) -> str:
        part = found.group(0)
        return part if part.startswith('"') else re.sub(r"[^\n]", " ", part)

    try:
        document = json.loads(_STRING_OR_COMMENT.sub(blank, text))
    except json.JSONDecodeError as problem:
        place = Location(path, problem.lineno, problem.colno)
        raise error(f"not JSON: {problem.msg}", "TOOL/006", place) from None
    if not isinstance(document, dict):
        raise error(f"'{path}' holds no JSON object", "TOOL/006", hint='write {"tuning": {"lanes": 64}}')
    values: dict[str, Any] = {}
    _flatten("", document, values)
    return values


def read_config(assignments: Sequence[str], files: Sequence[str]) -> dict[str, Any]:
    """All configuration values: files in order, then ``key=value`` assignments; later ones win.

    Raises ``TOOL/001`` for an assignment without key or value.
    """
    values: dict[str, Any] = {}
    for path in files:
        values.update(read_config_file(path))
    for assignment in assignments:
        key, separator, text = assignment.partition("=")
        if not separator or not key or not text:
            raise error(f"--config: '{assignment}' is no key=value", "TOOL/001", hint="for example tuning.lanes=64")
        values[key.removeprefix("@")] = config_value(text)
    return values
