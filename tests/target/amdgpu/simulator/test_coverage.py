"""Every compute instruction of each generation is simulated, or has its reason."""

from __future__ import annotations

import pytest

from loom.low.semantics.table import find_operation
from loom.target.amdgpu.simulator.unsupported import is_simulated, reason_unsupported
from loom.target.amdgpu.tables import table

#: Rows of each generation, and how many of them are left out.
COUNTS = {"gfx11": (1115, 13), "gfx12": (1165, 9), "gfx9.4": (1246, 87)}


@pytest.mark.parametrize("generation", COUNTS)
def test_every_row_is_simulated_or_excused(generation: str) -> None:
    rows = list(table(generation).rows())
    missing = [r.mnemonic for r in rows if not is_simulated(r, 64 if generation == "gfx9.4" else 32)]
    assert [m for m in missing if reason_unsupported(m) is None] == []
    excused = [r.mnemonic for r in rows if reason_unsupported(r.mnemonic) is not None]
    assert sorted(excused) == sorted(missing), "a simulated row has a reason not to be"
    assert (len(rows), len(missing)) == COUNTS[generation]


def test_operand_counts_agree_with_the_rows() -> None:
    """Sources and results of a row are the operation's, up to the old destination and VCC, which some rows do not name."""
    wrong = []
    for row in table("gfx11").rows():
        operation = find_operation(row.semantic, 32, "gfx11")
        if operation is None or row.memory is not None:
            continue
        sources = sum(s.is_use for s in row.slots)
        results = sum(s.is_def for s in row.slots)
        if results != len(operation.results) or len(operation.inputs) - sources not in (0, 1):
            wrong.append(row.mnemonic)
    assert wrong == []
