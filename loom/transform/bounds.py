"""What an access of a view covers, and on which sides facts do not prove that it stays inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loom.ir import Operation, Value, VectorType, ViewType
from loom.ir.facts import FactAnalysis


@dataclass(frozen=True, slots=True)
class UnprovenSide:
    """One side of one axis of an access: its first element, the axis' extent, and how many elements are covered."""

    op: Operation
    view: Value
    axis: int
    side: str
    index: Value | int
    extent: Value | int
    covered: int


def accessed_view(op: Operation) -> Value | None:
    """The view that a load, store or atomic with an index for each axis touches; None for every other operation.

    Masked, gathering and fragment accesses are left out: what they touch does not follow from their indices alone.
    """
    if "indices" not in op.attributes or ".fragment" in op.name or op.name.endswith((".mask", ".subview")):
        return None
    if "gather" in op.name or "scatter" in op.name:
        return None
    if not {"reads", "writes"} & op.definition.traits:
        return None
    for value in op.operands:
        if isinstance(value.type, ViewType):
            return value
    return None


def footprint(op: Operation, rank: int) -> list[int]:
    """Elements that one access covers along each axis of the view: a vector covers the last ones."""
    covered = [1] * rank
    if not op.name.startswith("vector."):
        return covered
    moved = next((r.type for r in op.results if isinstance(r.type, VectorType)), None)
    if moved is None:
        moved = next((v.type for v in op.operands if isinstance(v.type, VectorType)), None)
    if isinstance(moved, VectorType) and moved.is_static:
        for distance, extent in enumerate(reversed(moved.dims)):
            if distance < rank and isinstance(extent, int):
                covered[rank - 1 - distance] = extent
    return covered


def unproven_sides(op: Operation, analysis: FactAnalysis) -> Iterator[UnprovenSide]:
    """Yield the sides of an access that facts leave open, lower side of an axis first."""
    view = accessed_view(op)
    if view is None or not isinstance(view.type, ViewType):
        return
    indices = op.index_list("indices")
    extents = view.type.dims
    if len(indices) != len(extents):
        return
    for axis, (index, extent, covered) in enumerate(zip(indices, extents, footprint(op, len(extents)), strict=True)):
        if analysis.prove("ge", (index, 0), at=op) is not True:
            yield UnprovenSide(op, view, axis, "lower", index, extent, covered)
        if not analysis.at_least(extent, index, covered, op):
            yield UnprovenSide(op, view, axis, "upper", index, extent, covered)
