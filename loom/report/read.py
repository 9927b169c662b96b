"""Reading compile reports back, and whether two of them may be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from loom.diagnostics import ExitCode, error

SCHEMA = "loom.compile-report.v0"

IDENTITY_FIELDS = ("target", "wave_size", "functions", "kernarg", "workgroup_size")
"""Fields of ``identity`` that two reports must share before their numbers may be compared."""


def parse_report(text: str, name: str) -> dict[str, Any]:
    """Parse a report.

    Raises:
        LoomError: ``REPORT/001`` for text that is no JSON, ``REPORT/002`` for another schema.
    """
    try:
        document = json.loads(text)
    except ValueError as failure:
        raise error(f"'{name}' is not JSON: {failure}", "REPORT/001") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else None
        raise error(
            f"'{name}' is no compile report (schema {found!r})",
            "REPORT/002",
            hint=f"loom-compile --compile-report=details writes {SCHEMA}",
        )
    return document


def identity_differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Identity fields in which two reports differ, with both values."""
    first, second = a.get("identity", {}), b.get("identity", {})
    return [
        f"{field}: {first.get(field)!r} and {second.get(field)!r}"
        for field in IDENTITY_FIELDS
        if first.get(field) != second.get(field)
    ]


def require_same_identity(a: Mapping[str, Any], b: Mapping[str, Any], force: bool) -> list[str]:
    """Refuse reports of different identity unless forced; returns the differences.

    Raises:
        LoomError: ``REPORT/003`` (exit code 2) listing the fields that differ.
    """
    differences = identity_differences(a, b)
    if differences and not force:
        raise error(
            "the reports are of different things: " + "; ".join(differences),
            "REPORT/003",
            hint="compare reports of one kernel and target, or use --force",
            exit_code=ExitCode.BAD_INPUT,
        )
    return differences
