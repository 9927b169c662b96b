"""Wait states of gfx942 and gfx950 against LLVM's hazard recognizer, the checker against both."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from loom.raising.lift.native import native_kernel
from loom.target.amdgpu.assembler import parse_instruction
from loom.target.amdgpu.checker import check_hazards
from loom.target.amdgpu.code_object import read
from loom.target.amdgpu.hazards import HazardScan, resolve_hazards
from loom.target.amdgpu.machine import Immediate, MachineBlock, MachineInstruction, MachineProgram
from tests.target.amdgpu.llvm_hazards import llvm_wait_states

NATIVE = Path(__file__).parents[2] / "native"
OBJECTS = sorted((*NATIVE.glob("clang/gfx942/*.hsaco"), *NATIVE.glob("extra/gfx942*.hsaco")))

TEMPLATES = """
v_add_u32 V, V, V
v_mov_b32 V, S
v_mov_b32 V, V
v_add_f32_dpp V, V, V quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
v_mov_b32_dpp V, V row_shr:1 row_mask:0xf bank_mask:0xf
v_add_f16_sdwa V, V, V dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD
v_mov_b32_sdwa V, V dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1
v_fma_f16 V, V, V, V op_sel:[0,0,0,1]
v_exp_f32 V, V
v_rcp_f64 V2, V2
v_readlane_b32 S, V, S
v_readfirstlane_b32 S, V
v_writelane_b32 V, S, 3
v_writelane_b32 V, 7, S
v_cmp_gt_u32 vcc, V, V
v_cmp_gt_u32_e64 S2, V, V
v_cmpx_gt_u32 vcc, V, V
v_cndmask_b32 V, V, V, vcc
v_cndmask_b32_e64 V, V, V, S2
v_addc_co_u32 V, vcc, V, V, vcc
v_div_fmas_f32 V, V, V, V
v_div_scale_f32 V, vcc, v1, v1, V
s_mov_b32 S, S
s_mov_b32 m0, S
s_mov_b64 exec, S2
s_sendmsg sendmsg(MSG_INTERRUPT)
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3
s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 2), S
s_getreg_b32 S, hwreg(HW_REG_MODE, 0, 2)
global_load_dword V, V2, off
global_load_dwordx4 V4, V, S2
global_store_dwordx4 V2, V4, off
global_store_dwordx3 V2, V3, off
global_store_dwordx2 V2, V2, off
buffer_store_dwordx4 V4, V, S4, 0 offen
buffer_store_dwordx4 V4, V, S4, S offen
buffer_load_dword V, V, S4, S offen
scratch_load_dword V, off, S
scratch_store_dwordx4 off, V4, S
flat_load_dword V, V2
flat_atomic_cmpswap_x2 V2, V4
global_atomic_add_u32 V, V2, V, off sc0
global_load_lds_dword V2, off
buffer_load_dword V, S4, 0 offen lds
ds_read_b32 V, V
ds_write_b32 V, V
ds_write_addtid_b32 V
s_load_dword S, S2, 0x10
s_load_dwordx4 S4, s[8:9], 0x10
v_dot2_f32_f16 V, V, V, V
v_dot4_i32_i8 V, V, V, V
v_dot2c_f32_f16 V, V, V
v_fmac_f32 V, V, V
v_fma_f64 V2, V2, V2, V2
v_pk_fma_f32 V2, V2, V2, V2
v_accvgpr_write_b32 A, V
v_accvgpr_read_b32 V, A
v_accvgpr_mov_b32 A, A
global_store_dword V2, A, off
v_mfma_f32_4x4x4_16b_f16 A4, V2, V2, A4
v_mfma_f32_4x4x4_16b_f16 V4, V2, V2, V4
v_mfma_f32_16x16x16_f16 V4, V2, V2, V4
v_mfma_f32_16x16x16_f16 A4, V2, V2, A4
v_mfma_f32_16x16x16_f16 V4, A2, V2, V4
v_mfma_f32_32x32x8_f16 v[0:15], V2, V2, v[0:15]
v_mfma_f32_32x32x8_f16 v[16:31], V2, V2, v[0:15]
v_mfma_f32_32x32x8_f16 V16, V2, V2, 0
v_mfma_f32_32x32x4_2b_f16 V32, V2, V2, 0
v_mfma_f32_4x4x1_16b_f32 V4, V, V, V4
v_mfma_f32_16x16x4_f32 V4, V, V, V4
v_mfma_f32_32x32x2_f32 V16, V, V, 0
v_mfma_f64_16x16x4_f64 v[0:7], V2, V2, v[0:7]
v_mfma_f64_16x16x4_f64 v[8:15], V2, V2, v[0:7]
v_mfma_f64_4x4x4_4b_f64 V2, V2, V2, V2
v_smfmac_f32_16x16x32_f16 V4, V2, V4, V
v_mfma_i32_16x16x32_i8 V4, V2, V2, V4
""".strip().splitlines()
"""Instructions that some rule speaks of; ``V4`` is any tuple of four of the first VGPRs, and so on."""

ONLY_GFX950 = """
v_permlane32_swap_b32 V, V
v_permlane16_swap_b32 V, V
v_cvt_scalef32_pk_fp8_f32 V, V, V, V op_sel:[0,0,0,1]
v_mfma_f32_16x16x128_f8f6f4 V4, V8, V8, V4
v_mfma_f32_16x16x128_f8f6f4 V4, V6, V6, V4 cbsz:2 blgp:2
v_mfma_f32_32x32x16_f16 V16, V4, V4, 0
v_mfma_f32_16x16x32_f16 V4, V4, V4, V4
""".strip().splitlines()

LENGTH = 40


def instruction(template: str, cpu: str, rng: random.Random) -> MachineInstruction:
    def register(match: re.Match[str]) -> str:
        bank, units = match[0][0].lower(), int(match[0][1:] or 1)
        step = {1: 1, 2: 2}.get(units, 4 if bank == "s" else 2)
        first = rng.randrange(0, 8, step)
        return f"{bank}{first}" if units == 1 else f"{bank}[{first}:{first + units - 1}]"

    name, _, operands = template.partition(" ")
    return parse_instruction(f"{name} " + re.sub(r"\b[VAS]\d*\b", register, operands), cpu, wave_size=64)


def sequence(cpu: str, seed: int) -> list[MachineInstruction]:
    """A run of a few kinds of instructions on few registers, so that they meet."""
    rng = random.Random(seed)
    every = TEMPLATES + (ONLY_GFX950 if cpu == "gfx950" else [])
    few = rng.sample(every, 6)
    return [instruction(rng.choice(few if rng.random() < 0.8 else every), cpu, rng) for _ in range(LENGTH)]


def program(instructions: list[MachineInstruction], cpu: str) -> MachineProgram:
    return MachineProgram("k", cpu, 64, [MachineBlock("entry", instructions)])


def derived(instructions: list[MachineInstruction], cpu: str) -> list[int]:
    [found] = HazardScan(program(instructions, cpu), "gfx9.4").run()
    return [0 if hazard is None else hazard.states for hazard in found]


def test_blocks_of_native_kernels_get_the_wait_states_that_llvm_gives_them(oracle: Callable[[str], str]) -> None:
    oracle("llc-22"), oracle("llvm-mc-22")
    blocks: dict[tuple[str, ...], list[MachineInstruction]] = {}
    for path in OBJECTS:
        data = path.read_bytes()
        for kernel in read(data).kernels:
            for block in native_kernel(data, kernel.name).program.blocks:
                straight = [i for i in block.instructions if i.row.issue_class not in ("branch", "wait")]
                if straight:
                    blocks.setdefault(tuple(map(str, straight)), straight)
    runs = list(blocks.values())
    ours = [derived(run, "gfx942") for run in runs]
    for run, mine, theirs in zip(runs, ours, llvm_wait_states(runs, "gfx942"), strict=True):
        assert mine == theirs, [str(i) for i in run]
    assert sum(map(sum, ours)) > 150


@pytest.mark.parametrize("cpu", ["gfx942", "gfx950"])
def test_random_sequences_get_the_wait_states_that_llvm_gives_them(oracle: Callable[[str], str], cpu: str) -> None:
    oracle("llc-22"), oracle("llvm-mc-22")
    runs = [sequence(cpu, seed) for seed in range(40)]
    total = 0
    for seed, (run, theirs) in enumerate(zip(runs, llvm_wait_states(runs, cpu), strict=True)):
        # Ours may ask for more: LLVM looks at the nearest matrix operation that wrote a register of a tuple, ours at
        # the one that wrote each register. None of these seeds leads there.
        assert derived(run, cpu) == theirs, (seed, [str(i) for i in run])
        total += sum(theirs)
    assert total > 2000


@pytest.mark.parametrize("cpu", ["gfx942", "gfx950", "gfx9-4-generic"])
def test_the_checker_accepts_what_is_derived_and_misses_every_state_that_is_taken_away(cpu: str) -> None:
    for seed in range(12):
        made = program(sequence("gfx950" if cpu != "gfx942" else cpu, seed), cpu)
        assert check_hazards(made, "gfx9.4") != []
        assert resolve_hazards(made, "gfx9.4") > 0
        assert check_hazards(made, "gfx9.4") == []
        [block] = made.blocks
        whole = block.instructions
        for number, nop in enumerate(whole):
            if nop.row.mnemonic != "s_nop":
                continue
            [operand] = nop.operands
            assert isinstance(operand, Immediate)
            shorter = [MachineInstruction(nop.row, None, (Immediate(operand.value - 1),))] if operand.value else []
            block.instructions = [*whole[:number], *shorter, *whole[number + 1 :]]
            assert check_hazards(made, "gfx9.4") != [], (seed, number)
        block.instructions = whole


def test_a_branch_in_the_middle_of_a_block_is_the_shorter_way() -> None:
    """The result of a matrix operation of 4 passes may be stored 7 wait states later. Behind it stand the conditional
    branch and, on the other way only, another branch."""

    def lines(*text: str) -> list[MachineInstruction]:
        return [parse_instruction(line, "gfx942", wave_size=64) for line in text]

    from loom.target.amdgpu.machine import BranchTarget
    from loom.target.amdgpu.tables import find_row

    def branch(name: str, label: str) -> MachineInstruction:
        row = find_row("gfx9.4", name)
        assert row is not None
        return MachineInstruction(row, None, (BranchTarget(label),))

    matrix = lines("v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]")
    store = lines("global_store_dword v[8:9], v0, off", "s_endpgm")
    blocks = [
        MachineBlock("loop", [*matrix, branch("s_cbranch_scc1", "out"), branch("s_branch", "loop")]),
        MachineBlock("out", store),
    ]
    made = MachineProgram("k", "gfx942", 64, blocks)
    assert [f.message for f in check_hazards(made, "gfx9.4")] == [
        "needs a matrix result 7 wait states behind v_mfma_f32_16x16x16_f16, 1 stand between"
    ]
    assert resolve_hazards(made, "gfx9.4") == 1
    assert made.blocks[1].instructions[0].operands == (Immediate(5),)  # s_nop 5 is six wait states
    assert check_hazards(made, "gfx9.4") == []


def test_flags_of_a_zero_mask_are_late_as_data() -> None:
    """AMD's CDNA 3 ISA document: five wait states from a vector write of VCC to a vector read of VCCZ."""
    lines = ["v_cmp_gt_u32 vcc, v0, v1", "v_mov_b32 v2, src_vccz"]
    made = program([parse_instruction(line, "gfx942", wave_size=64) for line in lines], "gfx942")
    assert len(check_hazards(made, "gfx9.4")) == 1
    assert resolve_hazards(made, "gfx9.4") == 1
    assert made.blocks[0].instructions[1].operands == (Immediate(4),)
    assert check_hazards(made, "gfx9.4") == []


def test_many_wait_states_are_several_nops() -> None:
    """A double-precision matrix result is stored 18 wait states later; one s_nop makes 16."""
    lines = ["v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], 0", "global_store_dwordx2 v[12:13], v[0:1], off"]
    made = program([parse_instruction(line, "gfx942", wave_size=64) for line in lines], "gfx942")
    assert resolve_hazards(made, "gfx9.4") == 2
    assert [i.operands for i in made.blocks[0].instructions[1:3]] == [(Immediate(15),), (Immediate(1),)]
    assert check_hazards(made, "gfx9.4") == []
