"""gfx942 and gfx950 with ``tg_split``: a workgroup has no LDS, so that flat accesses count and return as other accesses to memory do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from loom.device.protocol import Faulted
from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator.static_check import StaticChecker
from loom.target.amdgpu.simulator.translate import StaticFault, split_blocks
from tests.target.amdgpu.simulator.asm import Assembler
from tests.target.amdgpu.simulator.mir import function, resolve

FLAT = "implicit $exec, implicit $flat_scr"
BODY = [
    f"$vgpr10 = FLAT_LOAD_DWORD $vgpr0_vgpr1, 0, 0, {FLAT}",
    f"$vgpr11 = FLAT_LOAD_DWORD $vgpr2_vgpr3, 0, 0, {FLAT}",
    "$vgpr12 = V_MOV_B32_e32 $vgpr10, implicit $exec",
    "$vgpr13 = V_MOV_B32_e32 $vgpr11, implicit $exec",
]


def faults(code: list[MachineInstruction], split: bool) -> list[StaticFault]:
    entries = (code[0].pc,)
    return list(StaticChecker(code, split_blocks(code, entries), "gfx9.4", entries, split).run().values())


def test_flat_accesses_of_a_split_workgroup_need_one_counter(oracle: Callable[[str], str]) -> None:
    llc = oracle("llc-22")
    codes = {}
    for split in (False, True):
        options = [f"-mattr={'+' if split else '-'}tgsplit"]
        (codes[split],) = resolve(llc, "gfx942", [function("f0", [BODY])], 64, "si-insert-waitcnts", options)
    # LLVM takes the code for a function, which waits for everything at its entry.
    codes = {split: code[1:] for split, code in codes.items()}
    waits = {split: [str(i) for i in code if i.row.mnemonic == "s_waitcnt"] for split, code in codes.items()}
    assert waits[False] == ["s_waitcnt vmcnt(0) lgkmcnt(0)"], waits
    assert waits[True] == ["s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"], waits
    assert faults(codes[False], False) == faults(codes[True], True) == []
    assert faults(codes[True], False)
    for number, instruction in enumerate(codes[True]):
        if instruction.row.mnemonic == "s_waitcnt":
            assert len(faults([*codes[True][:number], *codes[True][number + 1 :]], True)) == 1


@pytest.mark.parametrize(("split", "kind"), [(1, None), (0, "outstanding_load")])
def test_the_descriptor_says_whether_workgroups_are_split(
    oracle: Callable[[str], str], split: int, kind: str | None
) -> None:
    body = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s4
  v_mov_b32 v3, s5
  flat_load_dword v4, v[2:3]
  s_waitcnt vmcnt(0)
  v_mov_b32 v5, v4
  s_endpgm
"""
    outcome, _ = Assembler(oracle).run(
        body, np.zeros(1, np.uint32), 1, processor="gfx942", wave=64, directives=(f".amdhsa_tg_split {split}",)
    )
    assert (outcome.fault.kind if isinstance(outcome, Faulted) else None) == kind
