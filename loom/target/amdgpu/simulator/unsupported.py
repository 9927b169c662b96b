"""Which instructions are simulated, and why the others are not. Reaching one of those is a fault that says so."""

from __future__ import annotations

import re

from loom.low.semantics.memory import memory_operation
from loom.low.semantics.table import find_operation
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.simulator.instruction_sets import ENDS_BLOCK, LANE_EXCHANGES, NO_EFFECT, SYSTEM
from loom.target.amdgpu.simulator.memory_forms import is_special

_REASONS: tuple[tuple[str, str], ...] = (
    (
        r"^ds_(ordered_count|bvh_stack|gws|(add|sub)_gs_reg)|ordered_add",
        "counters of the graphics pipeline, global wave sync and ray tracing",
    ),
    (r"^lds_param_load|^ds_param_load", "attribute interpolation of pixel shaders"),
    (r"^(image|exp|v_interp)", "image and pixel instructions of the graphics pipeline"),
    (r"^s_subvector_loop", "no published manual of this generation defines it, and no compiler produces it"),
    (
        r"^s_(rfe|setvskip|cbranch_(g_fork|i_fork|join))",
        "trap handlers and skip modes, which compute code does not use",
    ),
    (r"^s_sendmsghalt", "halts the wave for the driver"),
    (r"^s_alloc_vgpr", "dynamic registers, which a kernel of fixed allocation has not"),
    (r"^s_(get_barrier_state|barrier_(init|join|leave))", "named barriers"),
    (r"^global_load_tr_b64$", "no published source tells which lanes exchange which bytes"),
    (
        r"^s_(buffer_|scratch_)?(atomic|store)|^s_scratch|^s_atc",
        "scalar stores and atomics, which no compiler of gfx9.4 produces",
    ),
    (r"^s_set_gpr_idx_(idx|mode)", "register indexing by mode, which no compiler of gfx9.4 produces"),
    (r"^scratch_load_lds", "loads from scratch into LDS, which no compiler produces"),
    (r"^v_mfma.*xf32", "published sources disagree on how it reduces its inputs and rounds its sums"),
    (r"^v_screen_partition", "screen tiles of the graphics pipeline"),
)
"""Patterns of mnemonics and why they are left out."""


def reason_unsupported(mnemonic: str) -> str | None:
    """Why an instruction is not simulated, or None when it should be."""
    for pattern, reason in _REASONS:
        if re.search(pattern, mnemonic):
            return reason
    return None


def is_simulated(row: InstructionRow, wave: int) -> bool:
    """Whether the simulator executes a row in waves of ``wave`` lanes."""
    name = row.mnemonic
    if name in NO_EFFECT or name in ENDS_BLOCK or name in SYSTEM:
        return True
    if name.startswith("s_cbranch"):
        return reason_unsupported(name) is None
    if is_special(row.semantic):
        return reason_unsupported(name) is None
    if row.memory is not None and row.semantic not in LANE_EXCHANGES:
        return row.memory.kind in ("cache", "prefetch") or memory_operation(row.semantic) is not None
    return find_operation(row.semantic, wave, row.generation) is not None
