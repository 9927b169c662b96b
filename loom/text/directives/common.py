"""What several constructs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loom.ir.core import Block, Operation, Value

if TYPE_CHECKING:
    from loom.text.printer import Printer


def entry_of(op: Operation, name: str) -> Block:
    """The first block of a region."""
    return op.region(name).blocks[0]


def typed_values(printer: Printer, values: list[Value]) -> str:
    """``%a: T, %b: U``."""
    return ", ".join([f"{printer.names[v]}: {printer.type(v.type)}" for v in values])
