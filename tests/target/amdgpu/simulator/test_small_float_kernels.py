"""Small floats and matrix operations from assembly text to numbers: modifiers, register counts and modes by hand-made values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from loom.device.protocol import Completed
from tests.target.amdgpu.simulator.asm import Assembler

U = np.uint32
F = np.float32


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


GFX9 = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""


def gfx9(
    asm: Assembler, body: str, results: list[str], processor: str = "gfx950", vgprs: int = 32, first: int = 32
) -> np.ndarray:
    """Run a body on one wave; gives the named registers, a row each."""
    stores = "".join(f"  global_store_dword v1, {r}, s[6:7] offset:{256 * k}\n" for k, r in enumerate(results))
    text = GFX9 + body + "  s_nop 15\n  s_nop 15\n" + stores + "  s_endpgm\n"
    outcome, out = asm.run(
        text, np.zeros(4, U), 64 * len(results), processor=processor, wave=64, vgprs=vgprs, accumulators_from=first
    )
    assert isinstance(outcome, Completed), outcome
    return out.reshape(len(results), 64)


def fill(first: int, count: int, words: list[int]) -> str:
    return "".join(f"  v_mov_b32_e32 v{first + k}, {words[k % len(words)]:#x}\n" for k in range(count))


#: 1.0 in every place: e4m3, e5m2, e2m3, e3m2, e2m1, each with its number of registers.
ONES = {
    0: (8, [0x38383838]), 1: (8, [0x3C3C3C3C]), 2: (6, [0x08208208, 0x82082082, 0x20820820]),
    3: (6, [0x0C30C30C, 0xC30C30C3, 0x30C30C30]), 4: (4, [0x22222222]),
}  # fmt: skip


@pytest.mark.parametrize(("cbsz", "blgp"), [(0, 0), (4, 2), (3, 1), (2, 4)])
@pytest.mark.parametrize(("shape", "depth"), [("16x16x128", 128), ("32x32x64", 64)])
def test_formats_of_a_matrix_instruction(asm: Assembler, cbsz: int, blgp: int, shape: str, depth: int) -> None:
    """A format of fewer bits takes fewer registers; B ends with the last register that the kernel allocates."""
    (na, a), (nb, b) = ONES[cbsz], ONES[blgp]
    results = 4 if depth == 128 else 16
    vgprs = 64
    first_b = vgprs - nb
    body = fill(32, na, a) + fill(first_b, nb, b) + fill(8, results, [0x41200000])
    body += f"  s_nop 4\n  v_mfma_f32_{shape}_f8f6f4 v[8:{7 + results}], v[32:{31 + na}], v[{first_b}:{vgprs - 1}], v[8:{7 + results}]"
    body += f" cbsz:{cbsz} blgp:{blgp}\n"
    got = gfx9(asm, body, ["v8", f"v{7 + results}"], vgprs=vgprs, first=vgprs)
    assert (got.view(F) == 10 + depth).all()


def test_scales_of_a_matrix_instruction(asm: Assembler) -> None:
    """op_sel and op_sel_hi name the byte: 2 of A's scales (4.0), 1 of B's (0.5)."""
    body = (
        fill(32, 4, ONES[4][1])
        + fill(40, 8, ONES[0][1])
        + fill(8, 4, [0])
        + fill(20, 1, [0x00810000])
        + fill(21, 1, [0x00007E00])
    )
    body += "  s_nop 4\n  v_mfma_scale_f32_16x16x128_f8f6f4 v[8:11], v[32:35], v[40:47], v[8:11], v20, v21 op_sel:[0,1,0] op_sel_hi:[1,0,0] cbsz:4\n"
    got = gfx9(asm, body, ["v8", "v11"], vgprs=64, first=64)
    assert (got.view(F) == 128 * 4 * 0.5).all()


def test_sparse_indices(asm: Assembler) -> None:
    """abid picks the set of indices: B holds k mod 4 in each group of four, A ones."""
    ones = [0x3C003C00]
    quads = [0x3C000000, 0x42004000]  # halves 0, 1, 2, 3
    for abid, pair in ((0, (0, 1)), (1, (1, 3)), (2, (0, 2)), (3, (2, 3))):
        # Set 0 to 3 of two groups each: (0, 1), (1, 3), (0, 2), (2, 3).
        index = 0b1110_1110_1000_1000_1101_1101_0100_0100
        body = fill(8, 2, ones) + fill(12, 4, quads) + fill(16, 4, [0]) + fill(20, 1, [index])
        body += f"  s_nop 4\n  v_smfmac_f32_16x16x32_f16 v[16:19], v[8:9], v[12:15], v20 abid:{abid}\n"
        got = gfx9(asm, body, ["v16", "v19"])
        assert (got.view(F) == 8 * sum(pair)).all(), abid


def test_results_in_accumulation_registers(asm: Assembler) -> None:
    body = fill(8, 2, [0x3C003C00]) + fill(12, 4, [0x3C003C00]) + fill(20, 1, [0x44444444])
    body += "  v_accvgpr_write_b32 a0, 1.0\n  v_accvgpr_write_b32 a1, 2.0\n  v_accvgpr_write_b32 a2, 4.0\n  v_accvgpr_write_b32 a3, 0.5\n"
    body += "  s_nop 4\n  v_smfmac_f32_16x16x32_f16 a[0:3], v[8:9], v[12:15], v20\n  s_nop 15\n  s_nop 15\n"
    body += "  v_accvgpr_read_b32 v16, a0\n  v_accvgpr_read_b32 v17, a3\n"
    got = gfx9(asm, body, ["v16", "v17"], vgprs=64).view(F)
    assert (got[0] == 17).all() and (got[1] == 16.5).all()


def test_bytes_of_a_destination(asm: Assembler) -> None:
    """Conversions keep the bytes that they do not write; op_sel says where they write and read."""
    body = fill(4, 1, [0x3FC00000]) + fill(5, 1, [0xC0000000]) + fill(6, 1, [0x3F800000])  # 1.5, -2.0, scale 1
    body += (
        fill(8, 4, [0x11223344])
        + """
  v_cvt_pk_fp8_f32 v8, v4, v5 op_sel:[0,0,1]
  v_cvt_sr_bf8_f32 v9, v4, 0 op_sel:[0,0,0,1]
  v_cvt_scalef32_pk_fp4_f32 v10, v4, v5, v6 op_sel:[0,0,1,0]
  s_nop 1
  v_cvt_scalef32_pk_f32_fp8 v[12:13], v8, v6 op_sel:[1,0,0]
  v_cvt_scalef32_f32_bf8 v14, v9, v6 op_sel:[0,1,0]
  v_cvt_scalef32_pk_f32_fp4 v[16:17], v10, v6 op_sel:[1,0,0]
"""
    )
    got = gfx9(asm, body, ["v8", "v9", "v10", "v12", "v13", "v14", "v16", "v17"])
    # 1.5 and -2.0: e4m3 0x3C and 0xC0, e5m2 0x3E; e2m1 3 and 12.
    assert got[:3, 0].tolist() == [0xC03C3344, 0x113E3344, 0x1122C344]
    assert got[3:, 0].view(F).tolist() == [1.5, -2.0, 1.5, 1.5, -2.0]


@pytest.mark.parametrize(("processor", "largest", "beyond"), [("gfx950", 0x7E, 0x7F), ("gfx942", 0x7F, 0x80)])
def test_overflow_mode(asm: Assembler, processor: str, largest: int, beyond: int) -> None:
    """FP16_OVFL in MODE stops 8-bit results at the largest number; gfx942's format has another largest and NaN."""
    body = (
        fill(4, 1, [0x49742400])
        + fill(8, 2, [0])
        + """
  v_cvt_pk_fp8_f32 v8, v4, v4
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1
  s_nop 4
  v_cvt_pk_fp8_f32 v9, v4, v4
  s_getreg_b32 s8, hwreg(HW_REG_MODE, 23, 1)
  v_mov_b32_e32 v10, s8
"""
    )
    got = gfx9(asm, body, ["v8", "v9", "v10"], processor)
    assert got[:, 0].tolist() == [beyond * 0x101, largest * 0x101, 1]


def test_conversions_of_gfx12(asm: Assembler) -> None:
    body = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v4, 0x3fc00000
  v_mov_b32 v5, 0xc0000000
  v_mov_b32 v8, 0x11223344
  v_mov_b32 v9, 0x11223344
  v_mov_b32 v10, 0x11223344
  v_cvt_pk_fp8_f32 v8, v4, v5 op_sel:[0,0,1]
  v_cvt_sr_bf8_f32 v9, v4, 0 byte_sel:2
  v_cvt_sr_fp8_f32 v10, -v4, v5 byte_sel:1
  s_wait_kmcnt 0x0
  global_store_b32 v1, v8, s[6:7]
  global_store_b32 v1, v9, s[6:7] offset:128
  global_store_b32 v1, v10, s[6:7] offset:256
  s_endpgm
"""
    outcome, out = asm.run(body, np.zeros(4, U), 96, processor="gfx1201")
    assert isinstance(outcome, Completed), outcome
    assert out.reshape(3, 32)[:, 0].tolist() == [0xC03C3344, 0x113E3344, 0x1122BC44]


def test_sparse_matrix_of_gfx12(asm: Assembler) -> None:
    """index_key picks the half of the index register."""
    for key, pair in ((0, (0, 1)), (1, (1, 3))):
        index = 0xDDDD4444
        body = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
""" + "".join(f"  v_mov_b32 v{8 + k}, 0x3c003c00\n" for k in range(4))
        body += "".join(f"  v_mov_b32 v{12 + k}, {(0x3C000000, 0x42004000)[k % 2]:#x}\n" for k in range(8))
        body += "".join(f"  v_mov_b32 v{20 + k}, 1.0\n" for k in range(8)) + f"  v_mov_b32 v28, {index:#x}\n"
        body += f"  v_swmmac_f32_16x16x32_f16 v[20:27], v[8:11], v[12:19], v28 index_key:{key}\n"
        body += "  v_nop\n" * 8 + "  s_wait_kmcnt 0x0\n  global_store_b32 v1, v27, s[6:7]\n  s_endpgm\n"
        outcome, out = asm.run(body, np.zeros(4, U), 32, processor="gfx1201")
        assert isinstance(outcome, Completed), outcome
        assert (out.view(F) == 1 + 8 * sum(pair)).all()


def test_a_wave_of_64_lanes_has_no_matrix_operation_here(asm: Assembler) -> None:
    """gfx12's matrices in waves of 64 lanes lie in another way: a fault, not a wrong number."""
    text = "  v_wmma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]\n  s_endpgm\n"
    outcome, _ = asm.run(text, np.zeros(4, U), 4, processor="gfx1201", wave=64)
    assert not isinstance(outcome, Completed) and outcome.fault.kind in (
        "unsupported_instruction",
        "unknown_instruction",
    )
