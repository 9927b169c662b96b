"""Which accesses of a source kernel are proven to stay inside of their view, for the compile report.

A proof comes from facts: assumptions, signatures, static extents, conditions and loop bounds around the access. An
access without one
still compiles; ``--sanitizer=access`` and the reference device check it as it runs.
"""

from __future__ import annotations

from typing import Any

from loom.ir import Operation, Value, VectorType, ViewType
from loom.ir.facts import FactAnalysis


def _view_of(op: Operation) -> Value | None:
    for value in op.operands:
        if isinstance(value.type, ViewType):
            return value
    return None


def _footprint(op: Operation, rank: int) -> list[int]:
    """Elements that one access covers along each axis of the view: a vector covers the last ones."""
    covered = [1] * rank
    if not op.name.startswith("vector.") or "gather" in op.name or "scatter" in op.name:
        return covered
    moved = next((r.type for r in op.results if isinstance(r.type, VectorType)), None)
    if moved is None:
        moved = next((v.type for v in op.operands if isinstance(v.type, VectorType)), None)
    if isinstance(moved, VectorType) and moved.is_static:
        for distance, extent in enumerate(reversed(moved.dims)):
            if distance < rank and isinstance(extent, int):
                covered[rank - 1 - distance] = extent
    return covered


def unproven_accesses(kernel: Operation) -> tuple[int, list[dict[str, Any]]]:
    """Accesses of a ``kernel.def`` whose bounds do not follow.

    Returns:
        Number of accesses looked at, and a row for each axis of an access that is not proven: ``op``, ``location``,
        ``axis``, ``side``
        (``upper`` or ``lower``), ``view``.
    """
    analysis = FactAnalysis()
    rows: list[dict[str, Any]] = []
    count = 0
    for op in kernel.walk():
        if "indices" not in op.attributes or ".fragment" in op.name or op.name.endswith(".mask"):
            continue
        view = _view_of(op)
        if view is None or not isinstance(view.type, ViewType):
            continue
        indices = op.index_list("indices")
        extents = view.type.dims
        if len(indices) != len(extents):
            continue
        count += 1
        for axis, (index, extent, covered) in enumerate(
            zip(indices, extents, _footprint(op, len(extents)), strict=True)
        ):
            sides = []
            if analysis.prove("ge", (index, 0), at=op) is not True:
                sides.append("lower")
            if not analysis.at_least(extent, index, covered, op):
                sides.append("upper")
            location = op.location
            rows.extend(
                {
                    "op": op.name,
                    "location": None
                    if location is None
                    else {"file": location.file, "line": location.line, "column": location.column},
                    "axis": axis,
                    "side": side,
                    "view": view.name or "",
                }
                for side in sides
            )
    return count, rows
