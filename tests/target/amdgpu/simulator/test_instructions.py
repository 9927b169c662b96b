"""What only machine code shows: masked writes, dual issue, control flow, LDS and memory atomics, apertures, hardware state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from loom.device.protocol import Completed
from tests.target.amdgpu.simulator.asm import Assembler

U = np.uint32
LANES = np.arange(32, dtype=U)
INPUT = (np.arange(64, dtype=U) * 3 + 11).astype(U)
HEAD = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_b32 v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
"""
TAIL = """
  global_store_b32 v1, v3, s[6:7]
  s_endpgm
"""


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def lanes(asm: Assembler, body: str, **options: object) -> np.ndarray:
    """Run ``body`` between loading the input into v2 and storing v3."""
    wave = int(options.get("wave", 32))  # type: ignore[call-overload]
    outcome, out = asm.run(HEAD + body + TAIL, INPUT, wave, **options)  # type: ignore[arg-type]
    assert isinstance(outcome, Completed), outcome
    return out


X = INPUT[:32]


def test_masked_writes_keep_inactive_lanes(asm: Assembler) -> None:
    body = """
  v_mov_b32 v3, 7
  s_mov_b32 exec_lo, 0x0ff0
  v_add_nc_u32 v3, v2, v3
  s_mov_b32 exec_lo, -1
"""
    assert lanes(asm, body).tolist() == [int(x) + 7 if 4 <= i < 12 else 7 for i, x in enumerate(X)]


def test_masked_compare_clears_inactive_bits_and_readlane_ignores_exec(asm: Assembler) -> None:
    body = """
  s_mov_b32 exec_lo, 0x00ff00ff
  v_cmp_ge_u32 vcc_lo, v2, v2
  v_readlane_b32 s8, v2, 9
  s_mov_b32 exec_lo, -1
  v_mov_b32 v3, s8
  v_cndmask_b32 v3, 5, v3, vcc_lo
"""
    assert lanes(asm, body).tolist() == [int(X[9]) if 0x00FF00FF >> i & 1 else 5 for i in range(32)]


def test_writelane_ignores_exec(asm: Assembler) -> None:
    body = "  v_mov_b32 v3, 1\n  s_mov_b32 exec_lo, 0\n  v_writelane_b32 v3, 99, 4\n  s_mov_b32 exec_lo, -1\n"
    assert lanes(asm, body).tolist() == [99 if i == 4 else 1 for i in range(32)]


def test_dpp_with_destination_equal_to_source(asm: Assembler) -> None:
    body = "  v_mov_b32 v3, v2\n  v_mov_b32_dpp v3, v3 row_shr:1 row_mask:0xf bank_mask:0xf\n"
    assert lanes(asm, body).tolist() == [int(X[i] if i % 16 == 0 else X[i - 1]) for i in range(32)]
    body = "  v_mov_b32 v3, v2\n  v_mov_b32_dpp v3, v3 row_shr:1 row_mask:0x1 bank_mask:0x5 bound_ctrl:1\n"
    want = [
        int(X[i]) if i >= 16 or (i >> 2) % 4 not in (0, 2) else 0 if i % 16 == 0 else int(X[i - 1]) for i in range(32)
    ]
    assert lanes(asm, body).tolist() == want


def test_dual_issue_reads_before_it_writes(asm: Assembler) -> None:
    body = """
  v_mov_b32 v4, 3.0
  v_mov_b32 v5, 4.0
  v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v5, v4
  v_sub_f32 v3, v4, v5
"""
    assert lanes(asm, body).view(np.float32).tolist() == [1.0] * 32


def test_op_sel_halves(asm: Assembler) -> None:
    body = "  v_mov_b32 v3, 0x55550000\n  v_add_nc_u16 v3, v2, v2 op_sel:[0,0,1]\n"
    assert lanes(asm, body).tolist() == [(2 * int(x) & 0xFFFF) << 16 for x in X]


def test_sixty_four_bit_shift_and_carry(asm: Assembler) -> None:
    body = """
  v_mov_b32 v4, v2
  v_mov_b32 v5, 1
  v_lshlrev_b64 v[6:7], 36, v[4:5]
  v_add_co_u32 v6, vcc_lo, v6, -1
  v_add_co_ci_u32 v3, vcc_lo, v7, 0, vcc_lo
"""
    want = []
    for x in X.tolist():
        wide = (x | 1 << 32) << 36 & (1 << 64) - 1
        want.append((wide >> 32) + (1 if (wide & 0xFFFFFFFF) + 0xFFFFFFFF >> 32 else 0) & 0xFFFFFFFF)
    assert lanes(asm, body).tolist() == want


@pytest.mark.parametrize(
    ("setup", "branch", "taken"),
    [
        ("s_cmp_eq_u32 s0, s0", "s_cbranch_scc1", True), ("s_cmp_eq_u32 s0, s0", "s_cbranch_scc0", False),
        ("s_mov_b32 vcc_lo, 0", "s_cbranch_vccz", True), ("s_mov_b32 vcc_lo, 4", "s_cbranch_vccz", False),
        ("s_mov_b32 vcc_lo, 4", "s_cbranch_vccnz", True), ("s_mov_b32 vcc_lo, 0", "s_cbranch_vccnz", False),
        ("s_nop 0", "s_cbranch_execnz", True), ("s_nop 0", "s_cbranch_execz", False), ("s_nop 0", "s_branch", True),
    ],
)  # fmt: skip
def test_branches(asm: Assembler, setup: str, branch: str, taken: bool) -> None:
    body = f"  v_mov_b32 v3, 1\n  {setup}\n  {branch} .Lskip\n  v_mov_b32 v3, 2\n.Lskip:\n"
    assert lanes(asm, body).tolist() == [1 if taken else 2] * 32


def test_execz_branch_over_an_empty_mask(asm: Assembler) -> None:
    body = """
  v_mov_b32 v3, 1
  s_mov_b32 s8, exec_lo
  s_mov_b32 exec_lo, 0
  s_cbranch_execz .Lskip
  s_trap 2
.Lskip:
  s_mov_b32 exec_lo, s8
"""
    assert lanes(asm, body).tolist() == [1] * 32


def test_scc_vccz_and_execz_as_sources(asm: Assembler) -> None:
    body = """
  s_cmp_eq_u32 s0, s0
  v_mov_b32 v4, src_scc
  s_cmp_lg_u32 s0, s0
  v_mov_b32 v5, src_scc
  v_lshl_or_b32 v3, v4, 1, v5
"""
    assert lanes(asm, body).tolist() == [2] * 32


def test_call_and_return_through_registers(asm: Assembler) -> None:
    body = """
  s_getpc_b64 s[8:9]
.Lhere:
  s_add_u32 s8, s8, .Lfunction-.Lhere
  s_addc_u32 s9, s9, 0
  v_mov_b32 v3, v2
  s_swappc_b64 s[10:11], s[8:9]
  s_swappc_b64 s[10:11], s[8:9]
  s_branch .Ldone
.Lfunction:
  v_add_nc_u32 v3, v3, 5
  s_setpc_b64 s[10:11]
.Ldone:
"""
    assert lanes(asm, body).tolist() == (X + 10).tolist()


def test_call_instruction(asm: Assembler) -> None:
    body = """
  v_mov_b32 v3, v2
  s_call_b64 s[10:11], .Lfunction
  s_branch .Ldone
.Lfunction:
  v_add_nc_u32 v3, v3, 1
  s_setpc_b64 s[10:11]
.Ldone:
"""
    assert lanes(asm, body).tolist() == (X + 1).tolist()


ATOMICS: dict[str, Callable[[int, int], int]] = {
    "add_u32": lambda m, d: m + d, "sub_u32": lambda m, d: m - d, "min_u32": min, "max_u32": max,
    "min_i32": lambda m, d: min(signed(m), signed(d)), "max_i32": lambda m, d: max(signed(m), signed(d)),
    "and_b32": lambda m, d: m & d, "or_b32": lambda m, d: m | d, "xor_b32": lambda m, d: m ^ d,
    "inc_u32": lambda m, d: 0 if m >= d else m + 1, "dec_u32": lambda m, d: d if m == 0 or m > d else m - 1,
}  # fmt: skip


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def apply_in_lane_order(function: Callable[[int, int], int], start: int, data: list[int]) -> tuple[list[int], int]:
    old, value = [], start
    for d in data:
        old.append(value)
        value = function(value, d) & 0xFFFFFFFF
    return old, value


@pytest.mark.parametrize("name", [*ATOMICS, "swap_b32"])
@pytest.mark.parametrize("returning", [True, False])
def test_global_atomics(asm: Assembler, name: str, returning: bool) -> None:
    function = ATOMICS.get(name, lambda m, d: d)
    glc = " glc" if returning else ""
    target = "v3, " if returning else ""
    body = f"""
  v_mov_b32 v3, 0
  v_mov_b32 v4, 128
  global_atomic_{name} {target}v4, v2, s[6:7]{glc}
  s_waitcnt vmcnt(0)
"""
    outcome, out = asm.run(HEAD + body + TAIL, INPUT, 64)
    assert isinstance(outcome, Completed), outcome
    old, final = apply_in_lane_order(function, 0, X.tolist())
    assert out[32] == final
    assert out[:32].tolist() == (old if returning else [0] * 32)


LDS_NAMES = {**{n: n for n in ATOMICS}, "storexchg_rtn_b32": "swap"}


@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("returning", [True, False])
def test_lds_atomics(asm: Assembler, name: str, returning: bool) -> None:
    operation, _, type_ = name.rpartition("_")
    spelled = f"ds_{operation}_rtn_{type_}" if returning else f"ds_{name}"
    target = "v5, " if returning else ""
    body = f"""
  v_mov_b32 v4, 8
  v_mov_b32 v5, 0x1234
  ds_store_b32 v4, v5
  s_waitcnt lgkmcnt(0)
  {spelled} {target}v4, v2
  s_waitcnt lgkmcnt(0)
  ds_load_b32 v6, v4
  s_waitcnt lgkmcnt(0)
  v_xor_b32 v3, v5, v6
"""
    old, final = apply_in_lane_order(ATOMICS[name], 0x1234, X.tolist())
    want = [(o if returning else 0x1234) ^ final for o in old]
    assert lanes(asm, body, lds=64).tolist() == want


def test_sixty_four_bit_atomics(asm: Assembler) -> None:
    body = """
  v_mov_b32 v4, v2
  v_mov_b32 v5, 1
  v_mov_b32 v6, 0
  v_mov_b32 v7, 128
  global_atomic_add_u64 v[8:9], v7, v[4:5], s[6:7] glc
  s_waitcnt vmcnt(0)
  v_mov_b32 v3, v9
"""
    outcome, out = asm.run(HEAD + body + TAIL, INPUT, 64)
    assert isinstance(outcome, Completed)
    total, highs = 0, []
    for x in X.tolist():
        highs.append(total >> 32)
        total += x | 1 << 32
    assert out[:32].tolist() == highs
    assert int(out[32]) | int(out[33]) << 32 == total


def test_compare_and_swap(asm: Assembler) -> None:
    """Data first, then the value compared; lanes act in order, so each finds what the one before left."""
    body = """
  v_add_nc_u32 v4, v0, 1
  v_mov_b32 v5, v0
  v_mov_b32 v7, 128
  global_atomic_cmpswap_b32 v3, v7, v[4:5], s[6:7] glc
  s_waitcnt vmcnt(0)
"""
    outcome, out = asm.run(HEAD + body + TAIL, INPUT, 64)
    assert isinstance(outcome, Completed)
    assert out[32] == 32 and out[:32].tolist() == list(range(32))
    lds = """
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  ds_store_b32 v4, v5
  s_waitcnt lgkmcnt(0)
  v_add_nc_u32 v6, v0, 1
  ds_cmpstore_rtn_b32 v3, v4, v6, v0
  s_waitcnt lgkmcnt(0)
"""
    assert lanes(asm, lds, lds=64).tolist() == list(range(32))


@pytest.mark.parametrize("kind", ["f32"])
def test_float_atomics(asm: Assembler, kind: str) -> None:
    values = np.linspace(-3, 4, 64).astype(np.float32)
    body = """
  v_mov_b32 v4, 128
  global_atomic_add_f32 v3, v4, v2, s[6:7] glc
  s_waitcnt vmcnt(0)
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  ds_store_b32 v5, v6
  s_waitcnt lgkmcnt(0)
  ds_add_rtn_f32 v7, v5, v2
  ds_max_f32 v5, v2
  s_waitcnt lgkmcnt(0)
"""
    outcome, out = asm.run(HEAD + body + TAIL, values, 64, lds=64)
    assert isinstance(outcome, Completed), outcome
    running = [np.float32(0)]
    for v in values[:32]:
        running.append(np.float32(running[-1] + v))
    assert np.array_equal(out[:32].view(np.float32), np.array(running[:32]))
    assert out[32:33].view(np.float32)[0] == running[32]


@pytest.mark.parametrize("size", ["b64", "b96", "b128"])
def test_wide_lds_and_inactive_lanes(asm: Assembler, size: str) -> None:
    words = int(size[1:]) // 32
    stores = "".join(f"  v_add_nc_u32 v{8 + k}, {k * 100}, v2\n" for k in range(words))
    body = f"""
{stores}
  v_mul_u32_u24 v4, {4 * words}, v0
  ds_store_{size} v4, v[8:{7 + words}]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v12, 1
  v_mov_b32 v13, 1
  v_mov_b32 v14, 1
  v_mov_b32 v15, 1
  s_mov_b32 exec_lo, 0xfffffffe
  v_xor_b32 v5, 31, v0
  v_mul_u32_u24 v5, {4 * words}, v5
  ds_load_{size} v[12:{11 + words}], v5
  s_waitcnt lgkmcnt(0)
  s_mov_b32 exec_lo, -1
  v_mov_b32 v3, v{11 + words}
"""
    want = [1 if i == 0 else int(X[31 - i]) + 100 * (words - 1) for i in range(32)]
    assert lanes(asm, body, lds=1024).tolist() == want


def test_two_address_lds(asm: Assembler) -> None:
    body = """
  v_lshlrev_b32 v4, 2, v0
  v_not_b32 v5, v2
  ds_store_2addr_stride64_b32 v4, v2, v5 offset1:1
  s_waitcnt lgkmcnt(0)
  ds_load_2addr_stride64_b32 v[6:7], v4 offset0:1
  s_waitcnt lgkmcnt(0)
  v_sub_nc_u32 v3, v6, v7
"""
    want = [(~int(x) - int(x)) & 0xFFFFFFFF for x in X]
    assert lanes(asm, body, lds=1024).tolist() == want


def test_sub_dword_memory(asm: Assembler) -> None:
    body = """
  global_load_i8 v4, v1, s[4:5] offset:1
  global_load_u16 v5, v1, s[4:5]
  v_mov_b32 v6, 0x11112222
  global_load_d16_hi_b16 v6, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_b8 v1, v2, s[6:7] offset:130
  global_store_d16_hi_b16 v1, v6, s[6:7] offset:128
  v_add_nc_u32 v3, v4, v5
  v_add_nc_u32 v3, v3, v6
"""
    data = (INPUT * 0x01234567).astype(U)
    outcome, out = asm.run(HEAD + body + TAIL, data, 64)
    assert isinstance(outcome, Completed), outcome
    for i in range(32):
        x = int(data[i])
        byte = x >> 8 & 0xFF
        want = (byte - 256 if byte > 127 else byte) + (x & 0xFFFF) + (x & 0xFFFF) * 65536 + 0x2222
        assert out[i] == want & 0xFFFFFFFF
        assert out[32 + i] == (x & 0xFFFF) | (x & 0xFF) << 16


def test_flat_apertures(asm: Assembler) -> None:
    """The same flat instruction reaches LDS, scratch and memory by the upper half of the address."""
    body = """
  v_lshlrev_b32 v4, 2, v0
  ds_store_b32 v4, v2
  s_waitcnt lgkmcnt(0)
  v_not_b32 v6, v2
  scratch_store_b32 off, v6, off
  s_waitcnt_vscnt null, 0
  s_mov_b64 s[8:9], src_shared_base
  s_mov_b64 s[10:11], src_private_base
  v_mov_b32 v5, s9
  v_cmp_gt_u32 vcc_lo, 8, v0
  v_mov_b32 v8, s11
  v_cndmask_b32 v5, v5, v8, vcc_lo
  v_cndmask_b32 v4, v4, 0, vcc_lo
  v_add_co_u32 v9, s12, s4, v1
  v_add_co_ci_u32 v10, s12, s5, 0, s12
  v_cmp_lt_u32 vcc_lo, 23, v0
  v_cndmask_b32 v4, v4, v9, vcc_lo
  v_cndmask_b32 v5, v5, v10, vcc_lo
  flat_load_b32 v3, v[4:5]
  s_waitcnt vmcnt(0) lgkmcnt(0)
"""
    want = [(~int(x) & 0xFFFFFFFF) if i < 8 else int(x) for i, x in enumerate(X)]
    assert lanes(asm, body, lds=256, scratch=16).tolist() == want


def test_scratch_is_private_to_lanes(asm: Assembler) -> None:
    body = """
  v_and_b32 v4, 12, v1
  scratch_store_b32 v4, v2, off
  s_waitcnt_vscnt null, 0
  scratch_load_b32 v3, v4, off
  s_waitcnt vmcnt(0)
"""
    assert lanes(asm, body, scratch=16).tolist() == X.tolist()


def test_buffer_range_check_returns_zero(asm: Assembler) -> None:
    body = """
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_mov_b32 s10, 64
  s_mov_b32 s11, 0x31014000
  buffer_load_b32 v3, v1, s[8:11], 0 offen
  s_waitcnt vmcnt(0)
"""
    assert lanes(asm, body).tolist() == [int(x) if i < 16 else 0 for i, x in enumerate(X)]


def test_structured_buffer(asm: Assembler) -> None:
    body = """
  s_mov_b32 s8, s4
  s_or_b32 s9, s5, 0x00080000
  s_mov_b32 s10, 20
  s_mov_b32 s11, 0x01014000
  buffer_load_b32 v3, v0, s[8:11], 0 idxen offset:4
  s_waitcnt vmcnt(0)
"""
    assert lanes(asm, body).tolist() == [int(INPUT[2 * i + 1]) if i < 20 else 0 for i in range(32)]


def test_scalar_loads(asm: Assembler) -> None:
    body = """
  s_mov_b32 s8, 8
  s_load_b64 s[10:11], s[4:5], s8 offset:0x4
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s10
  v_mov_b32 v5, s11
  v_sub_nc_u32 v3, v5, v4
"""
    assert lanes(asm, body).tolist() == [int(INPUT[4] - INPUT[3])] * 32


def test_denormal_and_round_modes_change_at_run_time(asm: Assembler) -> None:
    body = """
  v_mov_b32 v4, 0x00400000
  s_denorm_mode 0
  v_add_f32 v5, v4, v4
  s_denorm_mode 15
  v_add_f32 v6, v4, v4
  s_round_mode 0x1
  v_add_f32 v7, 1.0, v4
  s_round_mode 0x0
  v_add_f32 v8, 1.0, v4
  v_sub_f32 v7, v7, v8
  v_xor_b32 v3, v5, v6
  v_xor_b32 v3, v3, v7
"""
    ulp = int(np.float32(2**-23).view(U))
    assert lanes(asm, body).tolist() == [0x00800000 ^ ulp] * 32


def test_mode_through_setreg_and_getreg(asm: Assembler) -> None:
    body = """
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 2
  s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 4)
  v_mov_b32 v3, s8
"""
    assert lanes(asm, body).tolist() == [2] * 32


def test_wave64_uses_both_halves_of_masks(asm: Assembler) -> None:
    body = """
  v_cmp_lt_u32 vcc, 39, v0
  v_cndmask_b32 v3, v2, 1, vcc
  s_and_saveexec_b64 s[8:9], vcc
  v_add_nc_u32 v3, v3, v0
  s_mov_b64 exec, s[8:9]
"""
    got = lanes(asm, body, wave=64).tolist()
    assert got == [int(INPUT[i]) if i <= 39 else 1 + i for i in range(64)]


def test_clause_and_nops_are_counted_apart(asm: Assembler) -> None:
    outcome, _ = asm.run("  s_nop 0\n  s_nop 0\n  v_mov_b32 v1, 0\n  s_waitcnt vmcnt(0)\n  s_endpgm\n", INPUT, 1)
    assert isinstance(outcome, Completed) and outcome.counts is not None
    counts = outcome.counts
    assert (counts.instructions, counts.useful_instructions, counts.waves) == (5, 2, 1)
    assert counts.by_class["nop"] == 2 and counts.by_class["wait"] == 1 and counts.by_class["valu"] == 1


def test_bytes_count_active_lanes(asm: Assembler) -> None:
    body = HEAD + "  s_mov_b32 exec_lo, 0xff\n  global_store_b64 v1, v[2:3], s[6:7]\n  s_endpgm\n"
    outcome, _ = asm.run(body, INPUT, 64)
    assert isinstance(outcome, Completed) and outcome.counts is not None
    assert outcome.counts.bytes_read["global.b32"] == 128 and outcome.counts.bytes_written == {"global.b64": 64}


def test_results_do_not_depend_on_the_number_of_threads(asm: Assembler) -> None:
    body = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshl_or_b32 v1, s2, 5, v0
  v_lshlrev_b32 v1, 2, v1
  s_waitcnt lgkmcnt(0)
  v_mul_lo_u32 v3, v1, v1
  global_store_b32 v1, v3, s[6:7]
  s_endpgm
"""
    results = [
        asm.run(body, INPUT, 32 * 50, groups=(50,), device_options={"threads": t})[1].tolist() for t in (1, 2, 3)
    ]
    assert results[0] == results[1] == results[2] == [(4 * i) ** 2 for i in range(32 * 50)]


def test_register_relative_moves(asm: Assembler) -> None:
    body = """
  v_mov_b32 v8, 100
  v_mov_b32 v9, v2
  s_mov_b32 m0, 1
  v_movrels_b32 v4, v8
  s_mov_b32 exec_lo, 0xffff
  v_movreld_b32 v9, v8
  s_mov_b32 exec_lo, -1
  s_mov_b32 s9, 7
  s_movrels_b32 s12, s8
  s_movreld_b32 s13, s12
  v_add_nc_u32 v3, v4, v10
  v_add_nc_u32 v3, s14, v3
"""
    got = lanes(asm, body)
    poison = 0xDEADBEEF
    assert got.tolist() == [(int(x) + (100 if i < 16 else poison) + 7) & 0xFFFFFFFF for i, x in enumerate(X)]


def test_register_relative_move_beyond_the_allocation(asm: Assembler) -> None:
    from loom.device.protocol import Faulted

    outcome, _ = asm.run("  s_mov_b32 m0, 90\n  v_movrels_b32 v4, v8\n  s_endpgm\n", INPUT, 1)
    assert isinstance(outcome, Faulted) and outcome.fault.kind == "unallocated_register"


GFX9_HEAD = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
"""
GFX9_TAIL = """
  s_nop 4
  global_store_dword v1, v3, s[6:7]
  s_endpgm
"""
WIDE = (np.arange(64, dtype=np.uint64) * 0x91827364 + 0x8F).astype(U)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("v_add_u32_sdwa v3, v2, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD",
         lambda x, i, old: (x >> 8 & 0xFF) + i),
        ("v_add_u32_sdwa v3, sext(v2), v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_0",
         lambda x, i, old: signed8(x >> 24) + i),
        ("v_or_b32_sdwa v3, v2, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0",
         lambda x, i, old: old & 0xFFFF | (x & 0xFFFF | i) << 16),
        ("v_or_b32_sdwa v3, v2, v0 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:BYTE_0",
         lambda x, i, old: old & 0xFF00FFFF | (x & 0xFF | i) << 16),
        ("v_mov_b32_sdwa v3, v2 dst_sel:BYTE_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_1",
         lambda x, i, old: signed8(x >> 8)),
        ("v_mov_b32_sdwa v3, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1", lambda x, i, old: x & 0xFFFF0000),
    ],
)  # fmt: skip
def test_sub_dword_addressing(asm: Assembler, text: str, model: Callable[[int, int, int], int]) -> None:
    body = GFX9_HEAD + f"  v_mov_b32 v3, 0x12345678\n  s_nop 4\n  {text}\n" + GFX9_TAIL
    outcome, out = asm.run(body, WIDE, 64, processor="gfx942", wave=64)
    assert isinstance(outcome, Completed), outcome
    assert out.tolist() == [model(int(x), i, 0x12345678) & 0xFFFFFFFF for i, x in enumerate(WIDE)]


def signed8(value: int) -> int:
    value &= 0xFF
    return value - 256 if value > 127 else value


def test_accumulation_registers(asm: Assembler) -> None:
    body = (
        GFX9_HEAD
        + "  v_accvgpr_write_b32 a3, v2\n  s_nop 4\n  v_accvgpr_read_b32 v3, a3\n  v_not_b32 v3, v3\n"
        + GFX9_TAIL
    )
    outcome, out = asm.run(body, WIDE, 64, processor="gfx942", wave=64, vgprs=64)
    assert isinstance(outcome, Completed), outcome
    assert out.tolist() == [~int(x) & 0xFFFFFFFF for x in WIDE]


def test_short_results_of_gfx9_clear_the_upper_half(asm: Assembler) -> None:
    body = GFX9_HEAD + "  v_mov_b32 v3, 0x12345678\n  v_add_u16 v3, v2, v2\n" + GFX9_TAIL
    outcome, out = asm.run(body, WIDE, 64, processor="gfx942", wave=64)
    assert isinstance(outcome, Completed), outcome
    assert out.tolist() == [2 * int(x) & 0xFFFF for x in WIDE]


def test_dpp_broadcasts_of_gfx9(asm: Assembler) -> None:
    body = (
        GFX9_HEAD
        + "  v_mov_b32 v3, 5\n  s_nop 4\n  v_mov_b32_dpp v3, v2 row_bcast:15 row_mask:0xa bank_mask:0xf\n"
        + GFX9_TAIL
    )
    outcome, out = asm.run(body, WIDE, 64, processor="gfx942", wave=64)
    assert isinstance(outcome, Completed), outcome
    want = [int(WIDE[(i & ~15) - 1]) if (i >> 4) in (1, 3) else 5 for i in range(64)]
    assert out.tolist() == want


def test_truth_table_of_gfx950(asm: Assembler) -> None:
    body = GFX9_HEAD + "  v_mov_b32 v4, 0x0f0f0f0f\n  v_bitop3_b32 v3, v2, v4, v0 bitop3:0xca\n" + GFX9_TAIL
    outcome, out = asm.run(body, WIDE, 64, processor="gfx950", wave=64)
    assert isinstance(outcome, Completed), outcome
    assert out.tolist() == [int(x) & 0x0F0F0F0F | ~int(x) & i & 0xFFFFFFFF for i, x in enumerate(WIDE)]


@pytest.mark.parametrize("processor, wave", [("gfx1100", 32), ("gfx942", 64)])
def test_literals_of_64_bit_operands(asm: Assembler, processor: str, wave: int) -> None:
    """Signed operands extend the sign of a literal, all others take zeros (LLVM moves 0xffffffff with one s_mov_b64)."""
    scalar, put = ("s_load_b64", "global_store_b64") if wave == 32 else ("s_load_dwordx2", "global_store_dwordx2")
    lines = [
        f"  {scalar} s[6:7], s[0:1], 0x8",
        "  v_mov_b32 v1, 0",
        "  v_mov_b32 v4, -1",
        "  v_mov_b32 v5, -1",
        "  s_mov_b64 s[4:5], -1",
    ]
    lines.append("  s_mov_b32 s8, 0x200010")
    scalars = [
        ("s_mov_b64 s[2:3], 0xffffffff", 0xFFFFFFFF), ("s_and_b64 s[2:3], s[4:5], 0x80000000", 0x80000000),
        ("s_lshl_b64 s[2:3], 0xfffffff0, 4", 0xFFFFFFF00), ("s_ashr_i64 s[2:3], 0x80000000, 4", 0xFFFFFFFFF8000000),
        ("s_bfe_i64 s[2:3], 0x80000000, s8", 0xFFFFFFFFFFFF8000), ("s_bfe_u64 s[2:3], 0x80000000, s8", 0x8000),
    ]  # fmt: skip
    lines.append("  s_waitcnt lgkmcnt(0)")
    for k, (text, _) in enumerate(scalars):
        lines += [f"  {text}", "  v_mov_b32 v2, s2", "  v_mov_b32 v3, s3", f"  {put} v1, v[2:3], s[6:7] offset:{8 * k}"]
    wanted = [value for _, value in scalars]
    if wave == 32:
        vectors = [
            ("v_lshrrev_b64 v[2:3], 4, 0xfffffff0", 0xFFFFFFF), ("v_ashrrev_i64 v[2:3], 4, 0xfffffff0", 0xFFFFFFFFFFFFFFFF),
            ("v_mad_u64_u32 v[2:3], null, 0, 0, 0x80000000", 0x80000000),
            ("v_mad_i64_i32 v[2:3], null, 0, 0, 0x80000000", 0xFFFFFFFF80000000),
        ]  # fmt: skip
        for k, (text, _) in enumerate(vectors, len(scalars)):
            lines += [f"  {text}", f"  {put} v1, v[2:3], s[6:7] offset:{8 * k}"]
        wanted += [value for _, value in vectors]
    outcome, out = asm.run(
        "\n".join([*lines, "  s_endpgm"]), np.zeros(4, np.uint32), 2 * len(wanted), processor=processor, wave=wave
    )
    assert isinstance(outcome, Completed), outcome
    assert [hex(v) for v in out.view(np.uint64)] == [hex(v) for v in wanted]
