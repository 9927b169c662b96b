"""The rarer kinds of memory instructions, by semantic name."""

from __future__ import annotations

import re

from loom.low.semantics.buffer_formats import format_access
from loom.low.semantics.transpose import TRANSPOSES
from loom.target.amdgpu.instruction import InstructionRow

COUNTERS = {"ds_append": "add", "ds_consume": "sub"}
"""LDS counters: every active lane gets the old value, the counter moves by the number of active lanes."""

BLOCK = re.compile(r"^(global|scratch)_(load|store)_block$")
BLOCK_REGISTERS = 32
"""Registers of a block transfer; M0 has a bit for each."""


def is_special(semantic: str) -> bool:
    """Whether a memory instruction is one of these kinds."""
    return (
        semantic in COUNTERS
        or semantic in TRANSPOSES
        or lds_load_kind(semantic) is not None
        or BLOCK.match(semantic) is not None
        or format_access(semantic) is not None
    )


def lds_load_kind(semantic: str) -> str | None:
    """The plain load whose data ``global_load_lds_b32`` and its relatives put into LDS; None for other names."""
    space, found, type_ = semantic.partition("_load_lds_")
    return f"{space}_load_{type_}" if found and space in ("global", "scratch") else None


def counted_bytes(row: InstructionRow) -> int:
    """Bytes that one access of one lane moves, as the lane counters see it: several accesses count each on its own."""
    assert row.memory is not None
    if row.semantic in TRANSPOSES:
        return 4 * TRANSPOSES[row.semantic].words
    if BLOCK.match(row.semantic):
        return row.memory.bytes // BLOCK_REGISTERS
    return row.memory.bytes // (2 if "2addr" in row.semantic else 1)
