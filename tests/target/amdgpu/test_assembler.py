"""The assembler against LLVM MC and lld on whole files, and its diagnostics."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loom.diagnostics import LoomError
from loom.target.amdgpu import code_object
from loom.target.amdgpu.assembler import assemble, parse_instruction
from loom.target.amdgpu.encoder import encode_instruction

_KERNEL = """
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel {name}
		.amdhsa_next_free_vgpr {vgprs}
		.amdhsa_next_free_sgpr {sgprs}
{extra}
	.end_amdhsa_kernel
"""

_MACROS = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.globl k
	.p2align 8
	.type k,@function
	.set STEP, 4
	BASE = STEP * 2 + 1      // 9
.macro load2 dst, addr, offset=0, cache:vararg
	global_load_b32 v\\dst, v\\addr, s[0:1] offset:\\offset \\cache
	global_load_b32 v[\\dst+1], v\\addr, s[0:1] offset:(\\offset)+STEP \\cache
.endm
.macro count n
	s_mov_b32 s\\n, \\n
	.if \\n > 0
	count (\\n-1)
	.endif
.endm
k:
	load2 2, 0
	load2 4, 0, 16, glc slc
	load2 dst=6, addr=1, offset=BASE*4
	.rept 3
	v_add_f32 v2, v2, v3     ; three of these
	.endr
	.irp r, 8, 9, 10
	v_mov_b32 v\\r, 0x40490fdb
	.endr
	.irpc d, 12
	v_mov_b32_e32 v2\\d, \\d\\().0
	.endr
	.ifdef NOTHING
	s_trap 2
	.elseif STEP == 4
	s_nop STEP-1
	.else
	s_trap 3
	.endif
1:	s_sub_u32 s4, s4, 1
	s_cmp_lg_u32 s4, 0
	s_cbranch_scc1 1b
	s_cbranch_vccz 1f
	s_mov_b32 s5, (end-k)/4
	s_mov_b32 s6, end-k
	/* a comment */ s_branch end /* and
	one over lines */
1:	s_waitcnt vmcnt(0) & lgkmcnt(0)
	v_cmp_gt_u32 vcc_lo, s9, v0
	v_cndmask_b32 v0, v1, v2, vcc_lo
	v_mov_b32_dpp v1, v2 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:0
	v_add_f32_e64 v0, -|v1|, s2 clamp mul:2
	v_dual_add_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5
	s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4)
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, "01pip")
	v_pk_fma_f16 v0, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[1,0,0]
end:
	s_endpgm
.Lend:
	.size k, .Lend-k
	.p2alignl 6, 0xbf9f0000
	.fill 4, 4, 0xbf9f0000
	.long 0x12345678, end-k
	.short 1, 2
	.byte 3, 0, 0, -1
	.balign 4
	.quad 0x1122334455667788
	.float 1.5
	.asciz "abc"
"""


def _reference(
    source: str, directory: Path, processor: str, oracle: Callable[[str], str], version: int = 5
) -> code_object.CodeObject:
    """What llvm-mc and lld make of a source."""
    (directory / "in.s").write_text(source, encoding="utf-8")
    subprocess.run(
        [oracle("llvm-mc-22"), "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", f"--amdhsa-code-object-version={version}", "-filetype=obj",
         "-o", str(directory / "out.o"), str(directory / "in.s")], check=True, capture_output=True)  # fmt: skip
    subprocess.run(
        [oracle("ld.lld-22"), "-shared", "-o", str(directory / "out.hsaco"), str(directory / "out.o")],
        check=True,
        capture_output=True,
    )
    return code_object.read((directory / "out.hsaco").read_bytes())


def test_macros_expressions_and_data(oracle: Callable[[str], str], tmp_path: Path) -> None:
    source = _MACROS + _KERNEL.format(name="k", vgprs=32, sgprs=16, extra=_NO_PROGRESS)
    expected = _reference(source, tmp_path, "gfx1100", oracle)
    made = assemble(source, "macros.s")
    assert made.text == expected.text
    assert made.kernels[0].code == expected.kernels[0].code
    assert replace(made.kernels[0].descriptor, code_entry_offset=0) == replace(
        expected.kernels[0].descriptor, code_entry_offset=0
    )


# The default of this directive on gfx11 changed from 0 (LLVM 19, which made tests/native) to 1; this tool keeps 0 there.
_NO_PROGRESS = ".amdhsa_forward_progress 0"

_DESCRIPTORS = [
    ("gfx1100", 12, 12, _NO_PROGRESS),
    ("gfx1100", 100, 30, f"{_NO_PROGRESS}\n.amdhsa_wavefront_size32 0\n.amdhsa_group_segment_fixed_size 1024\n.amdhsa_private_segment_fixed_size 64\n.amdhsa_enable_private_segment 1"),
    ("gfx1151", 1, 1, f"{_NO_PROGRESS}\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_user_sgpr_dispatch_ptr 1\n.amdhsa_system_vgpr_workitem_id 2\n.amdhsa_system_sgpr_workgroup_id_y 1"),
    ("gfx11-generic", 50, 20, ".amdhsa_inst_pref_size 3\n.amdhsa_shared_vgpr_count 0\n.amdhsa_forward_progress 1"),
    ("gfx1201", 200, 100, ".amdhsa_inst_pref_size 17\n.amdhsa_fp16_overflow 1\n.amdhsa_float_round_mode_32 2"),
    ("gfx1200", 8, 8, ".amdhsa_workgroup_processor_mode 0\n.amdhsa_memory_ordered 0\n.amdhsa_uses_dynamic_stack 1"),
    ("gfx942", 128, 40, ".amdhsa_accum_offset 64\n.amdhsa_user_sgpr_kernarg_segment_ptr 1"),
    ("gfx942", 512, 100, ".amdhsa_accum_offset 256\n.amdhsa_tg_split 1\n.amdhsa_reserve_vcc 0"),
    ("gfx950", 17, 3, ".amdhsa_accum_offset 20\n.amdhsa_ieee_mode 0\n.amdhsa_dx10_clamp 0\n.amdhsa_exception_int_div_zero 1"),
    ("gfx9-4-generic", 4, 1, ".amdhsa_accum_offset 4\n.amdhsa_user_sgpr_count 8\n.amdhsa_user_sgpr_queue_ptr 1\n.amdhsa_kernarg_size 40"),
]  # fmt: skip


@pytest.mark.parametrize(("processor", "vgprs", "sgprs", "extra"), _DESCRIPTORS)
def test_descriptors_are_llvms(
    processor: str, vgprs: int, sgprs: int, extra: str, oracle: Callable[[str], str], tmp_path: Path
) -> None:
    source = (
        f'\t.amdgcn_target "amdgcn-amd-amdhsa--{processor}"\n\t.text\n\t.globl k\n\t.p2align 8\n\t.type k,@function\nk:\n\ts_endpgm\n'
        + _KERNEL.format(name="k", vgprs=vgprs, sgprs=sgprs, extra=extra)
    )
    version = 6 if processor.endswith("generic") else 5
    expected = _reference(source, tmp_path, processor, oracle, version)
    made = assemble(source, "d.s")
    assert replace(made.kernels[0].descriptor, code_entry_offset=0) == replace(
        expected.kernels[0].descriptor, code_entry_offset=0
    )
    assert (made.processor, made.xnack, made.sramecc, made.abi_version) == (
        expected.processor,
        expected.xnack,
        expected.sramecc,
        expected.abi_version,
    )


@pytest.mark.parametrize("target", ["gfx942:sramecc+:xnack-", "gfx942:xnack+", "gfx950:sramecc-"])
def test_target_id_settings(target: str, oracle: Callable[[str], str], tmp_path: Path) -> None:
    source = f'\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n\t.text\nk:\n\ts_endpgm\n' + _KERNEL.format(
        name="k", vgprs=4, sgprs=4, extra=".amdhsa_accum_offset 4"
    )
    made = assemble(source, "t.s")
    assert made.target_id == f"amdgcn-amd-amdhsa--{target}"
    (tmp_path / "made.hsaco").write_bytes(code_object.write(made))
    done = subprocess.run(
        [oracle("llvm-readobj-22"), "-h", str(tmp_path / "made.hsaco")], capture_output=True, text=True, check=True
    )
    for name, setting in (("XNACK", made.xnack), ("SRAMECC", made.sramecc)):
        assert f"EF_AMDGPU_FEATURE_{name}_{str(setting).upper()}_V4" in done.stdout


def test_compiled_assembly(oracle: Callable[[str], str], tmp_path: Path) -> None:
    """What clang writes with -S assembles to what clang writes with -c."""
    clang = oracle("clang-22")
    source = Path(__file__).resolve().parents[2] / "native/clang/src/softmax.cl"
    for processor in ("gfx1100", "gfx1201", "gfx942"):
        common = [
            clang,
            "-target",
            "amdgcn-amd-amdhsa",
            f"-mcpu={processor}",
            "-O3",
            "-nogpulib",
            "-cl-std=CL2.0",
            "-mcode-object-version=5",
            str(source),
        ]
        subprocess.run([*common, "-S", "-o", str(tmp_path / "a.s")], check=True, capture_output=True)
        made = assemble((tmp_path / "a.s").read_text(encoding="utf-8"), "a.s")
        expected = _reference((tmp_path / "a.s").read_text(encoding="utf-8"), tmp_path, processor, oracle)
        assert [k.name for k in made.kernels] == [k.name for k in expected.kernels]
        for ours, theirs in zip(made.kernels, expected.kernels, strict=True):
            assert ours.code == theirs.code
            assert replace(ours.descriptor, code_entry_offset=0) == replace(theirs.descriptor, code_entry_offset=0)
            assert ours.metadata == theirs.metadata


_ERRORS = [
    ("v_add_f33 v0, v1, v2", "ASM/003", 1, "no instruction 'v_add_f33'"),
    ("v_add_f32 v0, v1", "ASM/007", 1, "takes 3 operands"),
    ("v_add_f32 v0, v1, v256", "ASM/004", 19, "v256 does not exist"),
    ("s_mov_b32 s106, 0", "ASM/004", 11, "s106 does not exist"),
    ("s_mov_b64 s[1:2], 0", "ENCODE/001", 1, "misaligned"),
    ("s_load_b128 s[2:5], s[0:1], 0", "ENCODE/001", 1, "starts at a multiple of 4"),
    ("v_add_f32 v0, s1, v1 quux:3", "ASM/006", 1, "no modifier 'quux'"),
    ("s_nop )", "ASM/001", 7, "expected an expression"),
    ("s_waitcnt vmcnt(99)", "ASM/005", 11, "vmcnt ranges from 0 to 63"),
    ("v_fma_f32 v0, s1, s2, s3", "ENCODE/003", 1, "the limit is 2"),
    ("v_fma_f32 v0, 0x1234567, 0x7654321, v0", "ENCODE/004", 1, "two different literals"),
    ("v_add_f32_dpp v0, 0x1234567, v1 row_shl:1", "ENCODE/004", 1, "literal"),
    ("s_branch nowhere", "ASM/009", 1, "'nowhere' is not defined"),
    ("v_mfma_f32_4x4x1_16b_f32 v[0:3], v4, v5, v[0:3]", "ASM/003", 1, "exists on gfx9.4"),
    ("s_add_f32 s0, s1, s2", "ENCODE/005", 1, "not available on gfx1100; it is on gfx1150, gfx1151"),
    (".macro broken", "ASM/011", 1, "not closed by '.endm'"),
    (".frobnicate 3", "ASM/017", 1, "unknown directive"),
    (".long 0x123456789", "ASM/018", 18, "does not fit 4 bytes"),
    ("v_mov_b32 v0, 1/0", "ASM/002", 16, "division by zero"),
    ("v_add_f16 v200.l, v1.l, v2.h", "", 0, ""),
    ("v_dual_add_f32 v0, v1, v2 :: v_dual_mul_f32 v2, v4, v5", "ENCODE/007", 1, "one even and one odd register"),
    (
        "global_load_b32 v0, v1, s[0:1] offset:5000",
        "ENCODE/002",
        1,
        "offset of global_load_b32 ranges from -4096 to 4095",
    ),
]


@pytest.mark.parametrize(("line", "code", "column", "message"), _ERRORS, ids=[e[0] for e in _ERRORS])
def test_errors_say_where_and_which_rule(line: str, code: str, column: int, message: str) -> None:
    source = f'.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n\n{line}\n'
    if not code:
        assemble(source, "e.s")  # e64 carries any register
        return
    with pytest.raises(LoomError) as caught:
        assemble(source, "e.s")
    first = caught.value.diagnostics[0]
    assert (first.code, first.location.file, first.location.line, first.location.column) == (code, "e.s", 3, column)  # type: ignore[union-attr]
    assert message in first.message + (first.hint or "")


def test_shortest_encoding_is_chosen() -> None:
    def size(text: str) -> int:
        return len(encode_instruction(parse_instruction(text, "gfx1100"), "gfx1100"))

    assert size("v_add_f32 v0, v1, v2") == 4
    assert size("v_add_f32 v0, v1, s2") == 8  # a scalar second source needs e64
    assert size("v_add_f32 v0, 0x3f9d70a4, v2") == 8  # e32 with a literal
    assert size("v_add_f32_e64 v0, v1, v2") == 8
    assert size("v_mov_b32 v0, 1.0") == 4
    assert size("v_mov_b32 v0, 0x3f800000") == 4  # the same constant by its bits
    assert size("v_add_f16 v0.l, v1.l, v2.h") == 4
    assert size("v_add_f16 v200.l, v1.l, v2.h") == 8  # halves of v128 and up


def test_names_of_other_generations_are_understood() -> None:
    pairs = (("global_load_dword v0, v1, s[0:1]", "global_load_b32"), ("ds_read_b64 v[0:1], v2", "ds_load_b64"))
    for text, name in pairs:
        assert parse_instruction(text, "gfx1100").mnemonic == name
