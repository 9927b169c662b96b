"""What is read of one instruction before its row says what it must be, and what stands around it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loom.target.amdgpu.assembler.expressions import Cursor
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import Operand
from loom.target.amdgpu.processors import Processor

Lookup = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Deferred:
    """A literal whose value is known when all labels are: ``evaluate(address of the literal)`` gives its 32 bits."""

    evaluate: Callable[[Lookup, int], int]


@dataclass(slots=True)
class Parsed:
    """What stands in one operand position before the row says what it must be."""

    column: int
    operand: Operand | None = None
    integer: int | None = None
    real: str | None = None
    label: Callable[[Lookup], int] | None = None
    negate: bool = False
    absolute: bool = False
    extend: bool = False
    symbolic: int | None = None
    forced_literal: bool = False
    name: str | None = None
    deferred: Deferred | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """An instruction that is being read: where, of which row, with which symbols, for which processor."""

    cursor: Cursor
    row: InstructionRow
    lookup: Lookup
    target: Processor

    def number(self) -> int:
        """The value of the expression that stands here."""
        return self.cursor.expression(self.lookup)
