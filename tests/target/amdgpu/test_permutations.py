"""Lane permutations behind ``v_cmpx``: found on every way to them, and resolved by a move of what they read.

Expectations are LLVM's (``GCNHazardRecognizer::fixVcmpxPermlaneHazards``): any vector instruction but ``v_nop`` ends it.
"""

from __future__ import annotations

import pytest

from loom.target.amdgpu.assembler import parse_instruction
from loom.target.amdgpu.hazards import HazardScan, resolve_hazards
from loom.target.amdgpu.machine import MachineBlock, MachineProgram, Register

COMPARE = "v_cmpx_eq_u32_e32 v0, v1"
PERMUTE = "v_permlanex16_b32 v2, v7, s0, s1"


def program(*blocks: list[str], processor: str = "gfx1100") -> MachineProgram:
    made = [
        MachineBlock(f"b{number}", [parse_instruction(line, processor, wave_size=32) for line in lines])
        for number, lines in enumerate(blocks)
    ]
    return MachineProgram("k", processor, 32, made)


@pytest.mark.parametrize(
    ("between", "missing"),
    [
        ([], True),
        (["v_nop"], True),
        (["s_mov_b32 s2, s3", "s_waitcnt_depctr 0xfff"], True),
        (["v_mov_b32_e32 v3, v4"], False),
        (["v_nop", "v_add_f32_e32 v3, v4, v5", "v_nop"], False),
        ([COMPARE], True),
    ],
)
def test_what_stands_between(between: list[str], missing: bool) -> None:
    made = program([COMPARE, *between, PERMUTE, "s_endpgm"])
    hazards = [hazard for hazard in HazardScan(made, "gfx11").run()[0] if hazard is not None]
    assert [(hazard.name, hazard.moved) for hazard in hazards] == [("vcmpx_permlane", Register("vgpr", 7))] * missing
    assert resolve_hazards(made, "gfx11") == int(missing)
    mnemonics = [instruction.row.mnemonic for instruction in made.blocks[0].instructions]
    assert mnemonics[-3 if missing else -2 :][:2] == (["v_mov_b32", "v_permlanex16_b32"] if missing else mnemonics[-2:])
    assert resolve_hazards(made, "gfx11") == 0
    if missing:
        move = made.blocks[0].instructions[-3]
        assert [operand.index for operand in move.operands if isinstance(operand, Register)] == [7, 7]


def test_on_one_of_two_ways() -> None:
    """The comparison ends a loop's block: it is met again from the way back, not from the way in."""
    made = program(
        ["s_cbranch_scc0 b2"],
        ["v_mov_b32_e32 v3, v4", COMPARE],
        [PERMUTE, PERMUTE, "s_endpgm"],
    )
    found = HazardScan(made, "gfx11").run()
    assert [[hazard is not None for hazard in block] for block in found] == [
        [False],
        [False, False],
        [True, False, False],
    ]


def test_other_generations() -> None:
    assert HazardScan(program([COMPARE, PERMUTE, "s_endpgm"], processor="gfx1200"), "gfx12").run()[0][1] is not None
