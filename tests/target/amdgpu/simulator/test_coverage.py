"""Every compute instruction of gfx11 is simulated, or has its reason; and what the kernels of the suite reach."""

from __future__ import annotations

from loom.low.semantics.memory import memory_operation
from loom.low.semantics.table import find_operation
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.simulator.instruction_sets import ENDS_BLOCK, NO_EFFECT
from loom.target.amdgpu.simulator.unsupported import reason_unsupported
from loom.target.amdgpu.tables import table

#: Instructions that the translation itself carries out.
SYSTEM = {
    "s_round_mode", "s_denorm_mode", "s_setreg_b32", "s_setreg_imm32_b32", "s_getpc_b64", "s_getreg_b32", "s_memtime",
    "s_memrealtime", "s_get_shader_cycles_u64", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64", "s_movrels_b32", "s_movrels_b64",
    "s_movreld_b32", "s_movreld_b64", "v_movrels_b32", "v_movreld_b32",
}  # fmt: skip


def simulated(row: InstructionRow, generation: str) -> bool:
    name = row.mnemonic
    if name in NO_EFFECT or name in ENDS_BLOCK or name in SYSTEM or name.startswith("s_cbranch"):
        return True
    if row.memory is not None and row.semantic not in ("ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32"):
        return row.memory.kind in ("cache", "prefetch") or memory_operation(row.semantic) is not None
    wave = 64 if generation == "gfx9.4" else 32
    return find_operation(row.semantic, wave, generation) is not None


def test_every_row_of_gfx11_is_simulated_or_excused() -> None:
    missing = [r.mnemonic for r in table("gfx11").rows() if not simulated(r, "gfx11")]
    assert [m for m in missing if reason_unsupported(m) is None] == []
    assert len(missing) <= 55, len(missing)


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
