"""Which accesses of a source kernel are proven to stay inside of their view, for the compile report.

A proof comes from facts: assumptions, signatures, static extents, conditions and loop bounds around the access. An
access without one still compiles; ``--sanitizer=access`` and the reference device check it as it runs.
"""

from __future__ import annotations

from typing import Any

from loom.ir import Operation
from loom.ir.facts import FactAnalysis
from loom.transform.bounds import accessed_view, unproven_sides


def unproven_accesses(kernel: Operation) -> tuple[int, list[dict[str, Any]]]:
    """Accesses of a ``kernel.def`` whose bounds do not follow.

    Returns:
        Number of accesses looked at, and a row for each side of an axis that is not proven: ``op``, ``location``,
        ``axis``, ``side`` (``upper`` or ``lower``), ``view``.
    """
    analysis = FactAnalysis()
    rows: list[dict[str, Any]] = []
    count = 0
    for op in kernel.walk():
        if accessed_view(op) is None:
            continue
        count += 1
        location = op.location
        place = None
        if location is not None:
            place = {"file": location.file, "line": location.line, "column": location.column}
        rows.extend(
            {"op": op.name, "location": place, "axis": side.axis, "side": side.side, "view": side.view.name or ""}
            for side in unproven_sides(op, analysis)
        )
    return count, rows
