"""Structured issues: what a run reports instead of stopping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loom.diagnostics import Diagnostic, Location, LoomError


@dataclass(slots=True)
class Issue:
    """One problem of a case or sample.

    ``kind``: ``planning`` (the case cannot be run as written), ``generation`` (a value source failed), ``compile`` (the
    compiler refused), ``execution`` (undefined behaviour, a fault, an unavailable device), ``expectation`` (a
    comparison
    failed), ``file`` (a file cannot be read or written), ``internal`` (a defect of this program).
    """

    kind: str
    code: str
    message: str
    location: Location | None = None
    hint: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The issue as plain JSON values."""
        record: dict[str, Any] = {"kind": self.kind, "code": self.code, "message": self.message}
        if self.location is not None:
            place = self.location
            record["location"] = {"file": place.file, "line": place.line, "column": place.column}
        if self.hint:
            record["hint"] = self.hint
        if self.details:
            record["details"] = dict(self.details)
        return record


def from_diagnostic(diagnostic: Diagnostic, kind: str) -> Issue:
    """An issue of a diagnostic."""
    details = {"notes": list(diagnostic.notes)} if diagnostic.notes else {}
    return Issue(kind, diagnostic.code, diagnostic.message, diagnostic.location, diagnostic.hint, details)


def from_error(failure: LoomError, kind: str, location: Location | None = None) -> list[Issue]:
    """Issues of a :class:`LoomError`; ``location`` stands in where a diagnostic has none."""
    issues = [from_diagnostic(diagnostic, kind) for diagnostic in failure.diagnostics]
    for issue in issues:
        if issue.location is None:
            issue.location = location
    return issues


def from_defect(failure: Exception, location: Location | None = None) -> Issue:
    """An issue of an exception that should not have left its room; ``LOOM_DEBUG=1`` lets it through instead."""
    import os

    if os.environ.get("LOOM_DEBUG") == "1":
        raise failure
    detail = " ".join(str(failure).split())[:300]
    return Issue(
        "internal",
        "INTERNAL/001",
        f"internal error: {type(failure).__name__}: {detail}",
        location,
        "set LOOM_DEBUG=1 for a traceback",
    )
