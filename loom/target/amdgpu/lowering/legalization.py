"""What lowering had to make of source ops that are no single instruction, for the compile report.

A handler says which way it took with :meth:`Legalizations.note`; where it says nothing, the type of the result does.
An op that became nothing, or one instruction without a note, has no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from loom.ir import FloatType, IntegerType, Operation, Type, VectorType

MATH = frozenset(
    (
        "divf", "sqrtf", "remf", "powf", "expf", "exp2f", "expm1f", "logf", "log2f", "log10f", "log1pf", "rsqrtf",
        "sinf", "cosf", "tanf", "sinturnsf", "costurnsf", "asinf", "acosf", "atanf", "atan2f", "sinhf", "coshf",
        "tanhf", "asinhf", "acoshf", "atanhf", "erff", "erfcf", "cbrtf", "geluf", "logisticf", "siluf", "softplusf",
    )
)  # fmt: skip
"""Functions that the hardware approximates at best; their rows say how exact the chosen sequence is."""

_ACCESSES = ("view.", "vector.load", "vector.store", "vector.gather", "vector.scatter", "vector.fragment.")
"""Accesses without a note are told by the memory rows of the report."""

BY_TYPE = {
    "i64": "pairs of 32-bit words",
    "f64": "double-precision instructions and word pairs",
    "i8": "32-bit words",
    "i16": "32-bit words",
    "i1": "lane masks",
    "bf16": "single precision, rounded once",
    "f8E4M3": "single precision, rounded once",
    "f8E5M2": "single precision, rounded once",
    "index": "32-bit words where bounds allow, else pairs",
    "offset": "32-bit words where bounds allow, else pairs",
}
"""How ops on an element type are carried out where no instruction takes that type."""


@dataclass(slots=True)
class Legalizations:
    """Rows in the making.

    Attributes:
        notes: Ways that the op in hand took.
        totals: Source op → [how many, Low ops].
        rows: (op, type, flags, notes, location) → [source ops, Low ops].
    """

    notes: list[str] = field(default_factory=list)
    totals: dict[str, list[int]] = field(default_factory=dict)
    rows: dict[tuple[str, Type | None, tuple[str, ...], tuple[str, ...], Any], list[int]] = field(default_factory=dict)

    def note(self, way: str) -> None:
        """Say which way the op in hand is lowered."""
        if way not in self.notes:
            self.notes.append(way)

    def finish(self, op: Operation, made: int) -> None:
        """Count an op that became ``made`` Low ops, with the notes since the last one."""
        total = self.totals.setdefault(op.name, [0, 0])
        total[0] += 1
        total[1] += made
        notes = self.notes
        if notes:
            self.notes = []
        if not made or (not notes and (made == 1 or op.name.startswith(_ACCESSES))):
            return
        found = self.rows.setdefault((op.name, _type_of(op), _flags(op), tuple(notes), op.location), [0, 0])
        found[0] += 1
        found[1] += made

    def selections(self) -> list[dict[str, Any]]:
        """By source op how many were lowered and how many Low ops they became, in order of first use."""
        return [{"source_op": name, "count": count, "low_count": made} for name, (count, made) in self.totals.items()]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """``math_legalization`` and ``target_legalization``, in source order."""
        tables: dict[str, list[dict[str, Any]]] = {"math_legalization": [], "target_legalization": []}
        for (name, type_, flags, notes, location), (count, made) in self.rows.items():
            table = "math_legalization" if name.rpartition(".")[2] in MATH else "target_legalization"
            place = None
            if location is not None:
                place = {"file": location.file, "line": location.line, "column": location.column}
            tables[table].append(
                {
                    "op": name,
                    "type": str(type_) if type_ is not None else "",
                    "flags": list(flags),
                    "strategy": "; ".join(notes) if notes else _way_by_type(type_),
                    "count": count,
                    "low_count": made,
                    "location": place,
                }
            )
        return tables


def _flags(op: Operation) -> tuple[str, ...]:
    flags = op.attributes.get("fastmath")
    return tuple(str(f) for f in flags) if isinstance(flags, Iterable) and not isinstance(flags, str) else ()


def _type_of(op: Operation) -> Type | None:
    """The type an op computes in: its first result's, else its first operand's."""
    values = [*op.results, *op.operands]
    return values[0].type if values else None


def _way_by_type(type_: Type | None) -> str:
    element = type_.element if isinstance(type_, VectorType) else type_
    name = str(element) if isinstance(element, FloatType | IntegerType) or str(element) in BY_TYPE else ""
    if name in BY_TYPE:
        return BY_TYPE[name]
    return "element by element" if isinstance(type_, VectorType) else "several instructions"
