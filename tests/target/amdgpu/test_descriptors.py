"""Public mnemonics against rows: every name of the language reference's table, and what the suffixes mean."""

from __future__ import annotations

import pytest

import loom
from loom.diagnostics import LoomError
from loom.ir.targets import descriptor_set
from loom.target.amdgpu.descriptors import decode_waitcnt, encode_waitcnt, resolve, row_of, variant_of
from loom.target.amdgpu.machine import OFF, Immediate, Inline, Literal, Register

#: Section 5.7 of the language reference: what gfx11 has.
GFX11 = """
buffer_atomic_add_f32_rtn buffer_atomic_add_u32_rtn buffer_atomic_and_b32_rtn buffer_atomic_max_f32_rtn
buffer_atomic_max_i32_rtn buffer_atomic_max_u32_rtn buffer_atomic_min_f32_rtn buffer_atomic_min_i32_rtn
buffer_atomic_min_u32_rtn buffer_atomic_or_b32_rtn buffer_atomic_sub_u32_rtn buffer_atomic_swap_b32_rtn
buffer_atomic_xor_b32_rtn buffer_atomic_add_f32 buffer_atomic_add_u32 buffer_atomic_and_b32
buffer_atomic_max_f32 buffer_atomic_max_i32 buffer_atomic_max_u32 buffer_atomic_min_f32 buffer_atomic_min_i32
buffer_atomic_min_u32 buffer_atomic_or_b32 buffer_atomic_sub_u32 buffer_atomic_xor_b32
buffer_atomic_cmpswap_b32_rtn s_barrier s_wait_idle buffer_load_b128 buffer_load_b128_off_zero buffer_load_b96
buffer_load_dword buffer_load_dword_off_zero buffer_load_dwordx2_off_zero buffer_load_dwordx2
buffer_load_dwordx3 buffer_load_i16 buffer_load_u8 buffer_store_b128 buffer_store_b128_off_zero
buffer_store_b64_off_zero buffer_store_b64 buffer_store_b96 buffer_store_dword buffer_store_dword_off_zero
buffer_store_dwordx3 ds_add_f32 ds_add_u32 ds_and_b32 ds_max_f32 ds_max_i32 ds_max_u32 ds_min_f32 ds_min_i32
ds_min_u32 ds_or_b32 ds_sub_u32 ds_write_b32 ds_xor_b32 ds_add_rtn_f32 ds_add_rtn_u32 ds_and_rtn_b32
ds_bpermute_b32 ds_max_rtn_f32 ds_max_rtn_i32 ds_max_rtn_u32 ds_min_rtn_f32 ds_min_rtn_i32 ds_min_rtn_u32
ds_or_rtn_b32 ds_permute_b32 ds_sub_rtn_u32 ds_wrxchg_rtn_b32 ds_xor_rtn_b32 ds_cmpst_rtn_b32 ds_load_u16_d16
ds_load_u16_d16_hi ds_read2_b32 ds_read_addtid_b32 ds_read_b128 ds_read_b32 ds_read_u16 ds_swizzle_b32
ds_read_b64 ds_write2_b32 ds_write_addtid_b32 ds_write_b128 ds_write_b16 ds_write_b64 flat_atomic_add_u32_rtn
flat_atomic_add_u32 flat_atomic_cmpswap_b32_rtn global_atomic_add_f32_rtn_saddr global_atomic_add_u32_rtn_saddr
global_atomic_and_b32_rtn_saddr global_atomic_max_f32_rtn_saddr global_atomic_max_i32_rtn_saddr
global_atomic_max_u32_rtn_saddr global_atomic_min_f32_rtn_saddr global_atomic_min_i32_rtn_saddr
global_atomic_min_u32_rtn_saddr global_atomic_or_b32_rtn_saddr global_atomic_sub_u32_rtn_saddr
global_atomic_swap_b32_rtn_saddr global_atomic_xor_b32_rtn_saddr global_atomic_add_f32_saddr
global_atomic_add_u32_saddr global_atomic_and_b32_saddr global_atomic_max_f32_saddr global_atomic_max_i32_saddr
global_atomic_max_u32_saddr global_atomic_min_f32_saddr global_atomic_min_i32_saddr global_atomic_min_u32_saddr
global_atomic_or_b32_saddr global_atomic_sub_u32_saddr global_atomic_xor_b32_saddr
global_atomic_cmpswap_b32_rtn_saddr global_load_b128_saddr global_load_b128_vaddr global_load_b128
global_load_b32_saddr global_load_i8_saddr global_load_u16_saddr global_load_b32_vaddr global_load_b64_saddr
global_load_b96_saddr global_load_dword_saddr global_load_sshort_saddr global_load_ubyte_saddr
global_load_ushort_saddr global_load_dwordx2_saddr global_load_dwordx3_saddr global_load_dwordx4_saddr
global_load_i16_saddr global_load_u8_saddr global_store_b128 global_store_b128_saddr global_store_b128_vaddr
global_store_b32_saddr global_store_b8_saddr global_store_b32_vaddr global_store_b64 global_store_b64_saddr
global_store_b96_saddr global_store_dword_saddr global_store_dwordx2_saddr global_store_dwordx3_saddr
global_store_dwordx4_saddr global_store_short_saddr s_add_u32 s_and_b32 s_ashr_i32 s_lshl_b32 s_lshr_b32
s_max_i32 s_min_i32 s_or_b32 s_sub_u32 s_xor_b32 s_add_u32_rhs_inline s_lshl_b32_rhs_inline s_addc_u32 s_and_b64
s_or_b64 s_xor_b64 s_and_saveexec_b64 s_buffer_load_b512 s_buffer_load_dword s_cmp_eq_i32 s_cmp_lg_i32
s_cmp_lt_i32 s_cmp_eq_u64 s_cmp_lg_u64 s_cselect_b32 s_load_dword s_load_dword_offset_only s_load_dwordx2
s_load_dwordx2_offset_only s_load_dwordx4 s_lshl_b64 s_mov_b32 s_mov_b32_m0_imm s_mov_b32_m0 s_mov_b64_exec
s_mov_b64_exec_read s_mul_hi_u32 s_mul_i32 s_waitcnt s_waitcnt_depctr s_waitcnt_vscnt s_xor_b64_exec
v_add_co_ci_u32 v_addc_co_u32 v_add_co_u32 v_add_f32 v_add_u32 v_max_f32 v_min_f32 v_mul_f32 v_sub_f32
v_sub_nc_u32 v_sub_u32 v_add_f32_lit v_add_u32_lit v_add_u32_src0_inline v_and_b32_lit v_and_b32_src0_inline
v_ashrrev_i32_lit v_ashrrev_i32_src0_inline v_lshlrev_b32_lit v_lshlrev_b32_src0_inline v_lshrrev_b32_lit
v_lshrrev_b32_src0_inline v_max_f32_lit v_min_f32_lit v_mul_f32_lit v_or_b32_lit v_xor_b32_lit
v_xor_b32_src0_inline v_add_f32_src0_inline v_mul_f32_src0_inline v_and_b32 v_lshlrev_b32 v_max_i32 v_min_i32
v_min_u32 v_mul_hi_u32 v_mul_lo_u32 v_or_b32 v_xor_b32 v_cmp_eq_i32 v_cmp_ge_i32 v_cmp_ge_u32 v_cmp_gt_f32
v_cmp_lt_f32 v_cmp_lt_i32 v_cmp_lt_u32 v_cmp_ne_i32 v_cmp_eq_i32_src1_inline v_cmp_gt_i32_src1_inline
v_cmp_lt_i32_src1_inline v_cmp_slt_i32_src1_inline v_cmp_slt_i32 v_cndmask_b32 v_cndmask_b32_src0_inline
v_cndmask_b32_src0_lit_src1_inline v_cndmask_b32_src0_lit v_cndmask_b32_src1_lit v_cndmask_b32_src1_inline
v_cos_f32 v_cvt_f32_i32 v_cvt_f32_u32 v_log_f32 v_mov_b32_copy v_rcp_f32 v_rsq_f32 v_sin_f32 v_sqrt_f32
v_cvt_f16_f32 v_cvt_f32_f16 v_cvt_pk_u16_u32 v_dot2_f32_bf16 v_dot2_f32_f16 v_dot4_i32_i8 v_dot4_u32_u8
v_dot8_i32_i4 v_dot8_u32_u4 v_dot4_i32_iu8_s8u8 v_dot4_i32_iu8_u8s8 v_dot8_i32_iu4_s4u4 v_dot8_i32_iu4_u4s4
v_fma_f32 v_mad_u32_u24 v_fmaak_f32 v_fmac_f32 v_lshl_add_u32_shift_imm v_lshlrev_b32_vop3_imm
v_mad_u32_u24_src0_lit v_mad_u32_u24_src1_lit v_mad_u32_u24_src2_lit v_mov_b32 v_mov_b32_dpp16
v_readfirstlane_b32 v_wmma_bf16_16x16x16_bf16 v_wmma_f16_16x16x16_f16 v_wmma_f32_16x16x16_bf16
v_wmma_f32_16x16x16_f16 v_wmma_i32_16x16x16_iu4 v_wmma_f32_16x16x16_f16_acc_zero v_wmma_i32_16x16x16_iu8
v_perm_b32 flat_load_dword s_sub_u32_rhs_inline s_min_u32 s_max_u32 s_lshr_b32_rhs_inline s_lshr_b64
s_ashr_i32_rhs_inline s_dcache_inv s_gl1_inv s_icache_inv s_set_inst_prefetch_distance s_cmp_le_i32 s_cmp_gt_i32
s_cmp_ge_i32 s_cmp_lt_u32 s_cmp_le_u32 s_cmp_gt_u32 s_cmp_ge_u32 v_mul_u32_u24 v_mul_u32_u24_src0_inline
v_mul_u32_u24_lit v_max_u32 v_or_b32_src0_inline v_lshrrev_b32 v_ashrrev_i32 v_sub_f32_lit v_sub_f32_src0_inline
v_min_f32_src0_inline v_max_f32_src0_inline v_exp_f32 v_cmp_eq_i32_src0_inline v_cmp_ne_i32_src0_inline
v_cmp_ne_i32_src1_inline v_cmp_lt_i32_src0_inline v_cmp_le_i32 v_cmp_le_i32_src0_inline v_cmp_le_i32_src1_inline
v_cmp_gt_i32 v_cmp_gt_i32_src0_inline v_cmp_ge_i32_src0_inline v_cmp_ge_i32_src1_inline v_cmp_lt_u32_src0_inline
v_cmp_lt_u32_src1_inline v_cmp_le_u32 v_cmp_le_u32_src0_inline v_cmp_le_u32_src1_inline v_cmp_gt_u32
v_cmp_gt_u32_src0_inline v_cmp_gt_u32_src1_inline v_cmp_ge_u32_src0_inline v_cmp_ge_u32_src1_inline v_cmp_eq_f32
v_cmp_ge_f32 v_cmp_le_f32 v_cmp_lg_f32 v_cmp_o_f32 v_cmp_nlg_f32 v_cmp_nle_f32 v_cmp_nlt_f32 v_cmp_nge_f32
v_cmp_ngt_f32 v_cmp_neq_f32 v_cmp_u_f32 s_load_dwordx8 s_load_dwordx16 s_load_dwordx4_offset_only
s_load_dwordx8_offset_only s_load_dwordx16_offset_only s_buffer_load_b64 s_buffer_load_b128 s_buffer_load_b256
buffer_load_b64 buffer_load_i8 buffer_load_u16 buffer_load_short_d16 buffer_store_b8 buffer_store_short
global_load_b64_vaddr global_load_b96_vaddr global_load_u8_vaddr global_load_i8_vaddr global_load_u16_vaddr
global_load_i16_vaddr global_load_short_d16_vaddr global_load_short_d16_saddr global_store_b64_vaddr
global_store_b96_vaddr global_store_b8_vaddr global_store_short_vaddr scratch_load_u8_vaddr
scratch_load_i8_vaddr scratch_load_u16_vaddr scratch_load_i16_vaddr scratch_load_b32_vaddr
scratch_load_b64_vaddr scratch_load_b96_vaddr scratch_load_b128_vaddr scratch_load_u8_offset_only
scratch_load_i8_offset_only scratch_load_u16_offset_only scratch_load_i16_offset_only
scratch_load_b32_offset_only scratch_load_b64_offset_only scratch_load_b96_offset_only
scratch_load_b128_offset_only scratch_store_b32_vaddr scratch_store_b64_vaddr scratch_store_b96_vaddr
scratch_store_b128_vaddr scratch_store_b32_offset_only scratch_store_b64_offset_only
scratch_store_b96_offset_only scratch_store_b128_offset_only ds_read_b96 ds_write_b96 ds_read2_b64
ds_read2st64_b32 ds_read2st64_b64 ds_write2_b64 ds_write2st64_b32 ds_write2st64_b64
v_wmma_f32_16x16x16_bf16_acc_zero v_wmma_f16_16x16x16_f16_acc_zero v_wmma_bf16_16x16x16_bf16_acc_zero
v_wmma_i32_16x16x16_iu8_acc_zero v_wmma_i32_16x16x16_iu4_acc_zero
""".split()

#: The rest of the section, with a generation that has it.
ELSEWHERE = """
buffer_atomic_pk_add_bf16_rtn:gfx12 buffer_atomic_pk_add_f16:gfx12 ds_pk_add_f16:gfx12 ds_pk_add_rtn_bf16:gfx12
flat_atomic_pk_add_bf16_rtn:gfx12 flat_atomic_pk_add_f16:gfx12 global_atomic_pk_add_bf16_rtn_saddr:gfx12
global_atomic_pk_add_f16_saddr:gfx12 global_inv:gfx12 global_load_lds_dword_saddr:gfx9.4
global_load_lds_dwordx4_saddr:gfx9.4 global_load_lds_sshort_saddr:gfx9.4 global_load_lds_ushort_saddr:gfx9.4
global_load_lds_dword:gfx9.4 global_load_lds_dwordx3:gfx9.4 global_load_lds_ubyte:gfx9.4 s_buffer_load_b96:gfx12
s_buffer_load_i16:gfx12 s_buffer_load_u8:gfx12 s_buffer_prefetch_data:gfx12 s_buffer_store_dwordx4:gfx9.4
s_load_b96:gfx12 s_load_i8:gfx12 s_load_u16:gfx12 s_scratch_load_dwordx2:gfx9.4 s_scratch_store_dwordx2:gfx9.4
s_store_dwordx2:gfx9.4 s_store_dword:gfx9.4 s_store_dwordx4:gfx9.4 s_wait_loadcnt:gfx12 s_wait_storecnt:gfx12
v_cvt_pk_bf16_f32:gfx9.4 v_dot4_f32_bf8_bf8:gfx12 v_dot4_f32_bf8_fp8:gfx12 v_dot4_f32_fp8_bf8:gfx12
v_dot4_f32_fp8_fp8:gfx12 v_mfma_f32_16x16x16_bf16:gfx9.4 v_mfma_f32_16x16x16_f16:gfx9.4
v_mfma_i32_16x16x32_i8:gfx9.4 v_mfma_f32_16x16x32_f16:gfx9.4 v_mfma_f32_16x16x4_f32:gfx9.4
v_mfma_f32_32x32x16_bf16:gfx9.4 v_mfma_f32_32x32x16_f16:gfx9.4 v_mfma_i32_32x32x32_i8:gfx9.4
v_mfma_f32_32x32x8_f16:gfx9.4 v_mov_b32_sdwa:gfx9.4 v_smfmac_f32_16x16x128_fp8_fp8:gfx9.4
v_smfmac_f32_16x16x32_bf16:gfx9.4 v_smfmac_f32_16x16x64_bf8_bf8:gfx9.4 v_smfmac_f32_32x32x16_bf16:gfx9.4
v_swmmac_f32_16x16x32_f16:gfx12 v_swmmac_i32_16x16x64_iu4:gfx12 v_wmma_f32_16x16x16_bf8_bf8:gfx12
v_wmma_f32_16x16x16_bf8_fp8:gfx12 v_wmma_f32_16x16x16_fp8_bf8:gfx12 v_wmma_f32_16x16x16_fp8_fp8:gfx12
v_wmma_i32_16x16x32_iu4:gfx12
""".split()


@pytest.mark.parametrize("name", GFX11)
def test_every_public_mnemonic_names_a_gfx11_row(name: str) -> None:
    assert row_of("gfx11", name) is not None or variant_of("gfx11", name) is not None


@pytest.mark.parametrize("entry", ELSEWHERE)
def test_the_other_mnemonics_name_rows_of_their_generation(entry: str) -> None:
    name, generation = entry.split(":")
    assert row_of(generation, name) is not None or variant_of(generation, name) is not None


def constants(key: str, **immediates: object) -> dict[str, object]:
    """Constants in slots and modifiers of a resolved instruction, by name, with its mnemonic."""
    half = resolve("gfx11", key, immediates, 32, None).halves[0]
    found: dict[str, object] = {half.row.slots[i].name: operand for i, operand in half.fixed.items()}
    return {"row": half.row.mnemonic, **found, **half.modifiers}


@pytest.mark.parametrize(
    ("key", "immediates", "expected"),
    [
        ("amdgpu.v_lshlrev_b32_src0_inline", {"imm32": 2}, {"row": "v_lshlrev_b32", "src0": Inline(130)}),
        ("amdgpu.v_lshlrev_b32.src0_inline", {"imm32": 2}, {"row": "v_lshlrev_b32", "src0": Inline(130)}),
        ("amdgpu.v_add_f32_lit", {"imm32": 0x40490FDB}, {"row": "v_add_f32", "src0": Literal(0x40490FDB)}),
        ("amdgpu.v_mul_f32_src0_inline", {"imm32": 0x3F800000}, {"row": "v_mul_f32", "src0": Inline(242)}),
        ("amdgpu.v_mov_b32", {"imm32": 0x12345678}, {"row": "v_mov_b32", "src0": Literal(0x12345678)}),
        ("amdgpu.v_mov_b32_copy", {}, {"row": "v_mov_b32"}),
        ("amdgpu.s_mov_b32", {"imm32": 66051}, {"row": "s_mov_b32", "ssrc0": Literal(66051)}),
        ("amdgpu.s_add_u32_rhs_inline", {"imm32": 4}, {"row": "s_add_u32", "ssrc1": Inline(132)}),
        ("amdgpu.v_add_u32", {}, {"row": "v_add_nc_u32"}),
        ("amdgpu.v_cmp_slt_i32", {}, {"row": "v_cmp_lt_i32"}),
        ("amdgpu.v_cmp_eq_i32_src1_inline", {"rhs": 0}, {"row": "v_cmp_eq_i32", "src1": Inline(128)}),
        ("amdgpu.ds_read_b32", {"offset": 16}, {"row": "ds_load_b32", "offset": 16}),
        ("amdgpu.ds_read2st64_b32", {"offset1": 1}, {"row": "ds_load_2addr_stride64_b32", "offset1": 1}),
        ("amdgpu.global_load_b32_vaddr", {}, {"row": "global_load_b32", "saddr": OFF}),
        ("amdgpu.global_load_b32_saddr", {"offset": 8}, {"row": "global_load_b32", "offset": 8}),
        ("amdgpu.s_load_dword_offset_only", {"offset": 4}, {"row": "s_load_b32", "soffset": OFF, "offset": 4}),
        ("amdgpu.global_atomic_add_u32_rtn_saddr", {}, {"row": "global_atomic_add_u32", "glc": 1}),
        ("amdgpu.global_atomic_add_u32_saddr", {}, {"row": "global_atomic_add_u32", "vdst": OFF}),
        ("amdgpu.v_wmma_f32_16x16x16_f16_acc_zero", {}, {"row": "v_wmma_f32_16x16x16_f16", "src2": Inline(128)}),
        ("amdgpu.v_dot4_i32_i8", {}, {"row": "v_dot4_i32_iu8", "neg_lo": 3}),
        ("amdgpu.v_dot4_i32_iu8_u8s8", {}, {"row": "v_dot4_i32_iu8", "neg_lo": 2}),
        ("amdgpu.s_mov_b64_exec", {}, {"row": "s_mov_b64", "sdst": Register("exec", 0, 2)}),
        ("amdgpu.s_waitcnt", {"vmcnt": 0}, {"row": "s_waitcnt", "simm16": Immediate(0x03F7)}),
        ("amdgpu.s_waitcnt", {"lgkmcnt": 0}, {"row": "s_waitcnt", "simm16": Immediate(0xFC07)}),
        ("amdgpu.s_waitcnt", {"simm16": 5}, {"row": "s_waitcnt", "simm16": Immediate(5)}),
        ("amdgpu.v_add_f32", {"src0": 1.0}, {"row": "v_add_f32", "src0": Inline(242)}),
        ("amdgpu.v_add_f32", {"src0": "literal", "literal": 7}, {"row": "v_add_f32", "src0": Literal(7)}),
    ],
)
def test_constants_stand_where_the_name_says(
    key: str, immediates: dict[str, object], expected: dict[str, object]
) -> None:
    assert constants(key, **immediates) == expected


def test_a_number_that_is_no_inline_constant_is_refused() -> None:
    with pytest.raises(LoomError) as caught:
        constants("amdgpu.v_lshlrev_b32_src0_inline", imm32=65)
    assert caught.value.diagnostics[0].code == "BACKEND/020"


def test_an_unknown_instruction_names_the_nearest() -> None:
    with pytest.raises(LoomError) as caught:
        constants("amdgpu.v_ad_f32")
    assert caught.value.diagnostics[0].code == "BACKEND/021"
    assert "v_add_f32" in (caught.value.diagnostics[0].hint or "")


def test_waitcnt_fields_are_llvms() -> None:
    # llvm-mc gfx1100: s_waitcnt vmcnt(0) is 0x03f7, lgkmcnt(0) 0xfc07, vmcnt(3) expcnt(1) lgkmcnt(2) 0x0c21.
    assert encode_waitcnt("gfx11", 0, 7, 63) == 0x03F7
    assert encode_waitcnt("gfx11", 63, 7, 0) == 0xFC07
    assert encode_waitcnt("gfx11", 3, 1, 2) == 0x0C21
    # llvm-mc gfx942: s_waitcnt vmcnt(0) is 0x0f70, lgkmcnt(0) 0xc07f.
    assert encode_waitcnt("gfx9.4", 0, 7, 15) == 0x0F70
    assert encode_waitcnt("gfx9.4", 63, 7, 0) == 0xC07F
    for vm in (0, 5, 17, 63):
        assert decode_waitcnt("gfx9.4", encode_waitcnt("gfx9.4", vm, 3, 9)) == {"vmcnt": vm, "expcnt": 3, "lgkmcnt": 9}


def test_the_asm_view_has_the_results_that_the_text_names() -> None:
    found = descriptor_set("amdgpu.gfx11.generic.core")
    assert found is not None
    for mnemonic, count in (("s_add_u32", 1), ("s_cmp_lt_i32", 1), ("s_and_saveexec_b64", 2), ("v_add_co_u32", 2), ("s_mov_b64_exec", 0)):
        descriptor = found.by_mnemonic(mnemonic)
        assert descriptor is not None and len(descriptor.results) == count, mnemonic


PROGRAM = """
amdgpu.target<gfx1100> @t
low.kernel.def target<amdgpu.rdna3.core>(@t) workgroup_size(32, 1, 1) @k() {
  %id = low.live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  BODY
  low.return
}
"""


@pytest.mark.parametrize(
    "line",
    [
        "%r = low.op<amdgpu.v_add_f32>(%id) {src0 = 1.0} : (reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>",
        "%r = low.op<amdgpu.v_cmp_lt_u32>(%id, %id) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>) -> reg<amdgpu.sgpr>",
        "%r = low.op<amdgpu.v_cmp_lt_u32>(%id, %id) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>) -> reg<amdgpu.vcc>",
        "%r = low.op<amdgpu.s_mov_b32>() {ssrc0 = 3} : () -> reg<amdgpu.m0>",
    ],
)
def test_the_table_form_verifies(line: str) -> None:
    loom.verify(loom.parse(PROGRAM.replace("BODY", line)))


def test_too_many_operands_are_refused() -> None:
    line = "%r = low.op<amdgpu.v_mov_b32>(%id, %id) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>"
    with pytest.raises(LoomError):
        loom.verify(loom.parse(PROGRAM.replace("BODY", line)))
