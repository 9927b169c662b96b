"""What a diagnostic is, and the one exception that carries diagnostics between rooms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class ExitCode(IntEnum):
    """Process exit codes that every command shares."""

    SUCCESS = 0
    EVIDENCE_FAILED = 1
    BAD_INPUT = 2
    UNAVAILABLE = 3
    INTERNAL = 4


class Severity(StrEnum):
    """How serious a diagnostic is; only errors change an exit code."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Location:
    """A span of a source file. Lines and columns count from one; a column counts characters, not bytes."""

    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message to the user: where, what, why, and what to do about it.

    ``code`` is stable across releases and has the form ``GROUP/NNN``.
    """

    message: str
    code: str
    location: Location | None = None
    severity: Severity = Severity.ERROR
    hint: str | None = None
    notes: tuple[str, ...] = field(default=())


class LoomError(Exception):
    """One or more diagnostics that end the current piece of work.

    Raised by every room for input it refuses; tools turn it into rendered diagnostics and ``exit_code``.
    """

    def __init__(
        self, diagnostics: Diagnostic | Sequence[Diagnostic], exit_code: ExitCode = ExitCode.BAD_INPUT
    ) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = (
            (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        )
        self.exit_code = exit_code
        super().__init__("; ".join(d.message for d in self.diagnostics))


def error(
    message: str,
    code: str,
    location: Location | None = None,
    *,
    hint: str | None = None,
    notes: Sequence[str] = (),
    exit_code: ExitCode = ExitCode.BAD_INPUT,
) -> LoomError:
    """Make a :class:`LoomError` of a single error diagnostic, ready to raise."""
    return LoomError(Diagnostic(message, code, location, Severity.ERROR, hint, tuple(notes)), exit_code)
