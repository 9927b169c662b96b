"""How a wave starts: user registers, identifiers, hidden arguments, modes, LDS and scratch, in every variant a descriptor can ask for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from loom.device.protocol import Completed
from loom.target.amdgpu.simulator import layout as L
from tests.target.amdgpu.simulator.asm import Assembler

INPUT = np.arange(64, dtype=np.uint32)


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def store(registers: list[str], kernarg: int, wait: str = "s_waitcnt lgkmcnt(0)") -> str:
    """Lane 0 stores scalar registers to the output, one after the other."""
    lines = [f"  s_load_b64 s[30:31], s[{kernarg}:{kernarg + 1}], 0x8", "  v_mov_b32 v10, 0", f"  {wait}"]
    for index, register in enumerate(registers):
        lines.append(f"  v_mov_b32 v11, {register}")
        lines.append(f"  global_store_b32 v10, v11, s[30:31] offset:{4 * index}")
    return "\n".join([*lines, "  s_endpgm", ""])


def run(asm: Assembler, body: str, words: int, **options: object) -> list[int]:
    outcome, out = asm.run(body, INPUT, words, **options)  # type: ignore[arg-type]
    assert isinstance(outcome, Completed), outcome
    return out.tolist()


def test_user_registers_in_their_order(asm: Assembler) -> None:
    """Dispatch pointer, queue pointer, kernarg pointer, dispatch id, private segment size; then the workgroup id."""
    directives = [
        ".amdhsa_user_sgpr_dispatch_ptr 1", ".amdhsa_user_sgpr_queue_ptr 1", ".amdhsa_user_sgpr_dispatch_id 1",
        ".amdhsa_user_sgpr_private_segment_size 1",
    ]  # fmt: skip
    body = """
  s_load_b32 s20, s[0:1], 0x4
  s_load_b32 s21, s[0:1], 0x18
  s_load_b64 s[22:23], s[2:3], 0x40
  s_load_b64 s[24:25], s[0:1], 0x28
""" + store(["s20", "s21", "s22", "s23", "s24", "s4", "s6", "s8", "s9"], 4)
    got = run(asm, body, 9, directives=directives, scratch=64, groups=(3,), size=(32,))
    assert got[0] == 32 | 1 << 16  # packet: workgroup size x, y
    assert got[1] == 64  # packet: private segment size
    assert got[2] == L.SHARED_APERTURE >> 32 and got[3] == L.PRIVATE_APERTURE >> 32  # queue
    assert got[4] == got[5]  # packet's kernarg address is the kernarg pointer
    assert got[6] == 1  # dispatch id, low word
    assert got[7] == 64 and got[8] in (0, 1, 2)


@pytest.mark.parametrize("axes", ["x", "xy", "xyz", "z"])
def test_workgroup_ids(asm: Assembler, axes: str) -> None:
    directives = [f".amdhsa_system_sgpr_workgroup_id_{a} {int(a in axes)}" for a in "xyz"]
    moves = "".join(f"  s_mov_b32 s{20 + i}, s{2 + i}\n" for i in range(len(axes)))
    # Each workgroup stores at its own place, found from an atomic counter.
    body = (
        f"""
{moves}
  s_load_b64 s[30:31], s[0:1], 0x8
  v_mov_b32 v10, 0
  v_mov_b32 v12, 1
  s_waitcnt lgkmcnt(0)
  v_cmpx_eq_u32 0, v0
  global_atomic_add_u32 v13, v10, v12, s[30:31] glc
  s_waitcnt vmcnt(0)
  v_mul_u32_u24 v13, {4 * len(axes)}, v13
"""
        + "".join(
            f"  v_mov_b32 v11, s{20 + i}\n  global_store_b32 v13, v11, s[30:31] offset:{4 + 4 * i}\n"
            for i in range(len(axes))
        )
        + "  s_endpgm\n"
    )
    groups = (2, 3, 4)
    out = run(asm, body, 1 + 24 * len(axes), directives=directives, groups=groups)
    assert out[0] == 24
    seen = sorted(tuple(out[1 + i * len(axes) : 1 + (i + 1) * len(axes)]) for i in range(24))
    want = sorted(
        tuple({"x": x, "y": y, "z": z}[a] for a in axes) for x in range(2) for y in range(3) for z in range(4)
    )
    assert seen == want


@pytest.mark.parametrize("dimensions", [0, 1, 2])
def test_packed_workitem_ids(asm: Assembler, dimensions: int) -> None:
    body = """
  s_load_b64 s[30:31], s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  v_mbcnt_lo_u32_b32 v1, -1, 0
  v_lshlrev_b32 v1, 2, v1
  global_store_b32 v1, v0, s[30:31]
  s_endpgm
"""
    out = run(asm, body, 32, directives=[f".amdhsa_system_vgpr_workitem_id {dimensions}"], size=(4, 4, 2))
    want = []
    for i in range(32):
        x, y, z = i % 4, i // 4 % 4, i // 16
        want.append(x | (y << 10 if dimensions > 0 else 0) | (z << 20 if dimensions > 1 else 0))
    assert out == want


def test_partial_wave_starts_with_the_items_there_are(asm: Assembler) -> None:
    body = store(["exec_lo", "exec_hi"], 0)
    assert run(asm, body, 2, size=(5,))[0] == 0b11111
    assert run(asm, body, 2, size=(37,), wave=64) == [0xFFFFFFFF, 0b11111]


def test_gfx12_workgroup_ids_in_trap_registers(asm: Assembler) -> None:
    body = """
  s_load_b64 s[30:31], s[0:1], 0x8
  v_mov_b32 v10, 0
  s_wait_kmcnt 0x0
  v_mov_b32 v11, ttmp9
  v_mov_b32 v12, ttmp7
  global_store_b64 v10, v[11:12], s[30:31]
  s_endpgm
"""
    assert run(asm, body, 2, processor="gfx1201", groups=(1, 1, 1)) == [0, 0]
    out = run(asm, body, 2, processor="gfx1201", groups=(3, 2, 4), device_options={"threads": 1})
    assert out == [2, 1 | 3 << 16]  # the last workgroup's store stays


def test_gfx942_workgroup_id_and_ids(asm: Assembler) -> None:
    body = """
  s_load_dwordx2 s[30:31], s[0:1], 0x8
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, s2
  s_waitcnt lgkmcnt(0)
  v_lshl_or_b32 v2, v2, 8, v0
  global_store_dword v1, v2, s[30:31]
  s_endpgm
"""
    assert run(asm, body, 64, processor="gfx942", wave=64, groups=(3,)) == [2 << 8 | i for i in range(64)]


HIDDEN = """
      - { .offset: 16, .size: 4, .value_kind: hidden_block_count_x }
      - { .offset: 20, .size: 4, .value_kind: hidden_block_count_y }
      - { .offset: 24, .size: 4, .value_kind: hidden_block_count_z }
      - { .offset: 28, .size: 2, .value_kind: hidden_group_size_x }
      - { .offset: 30, .size: 2, .value_kind: hidden_group_size_y }
      - { .offset: 32, .size: 2, .value_kind: hidden_group_size_z }
      - { .offset: 34, .size: 2, .value_kind: hidden_remainder_x }
      - { .offset: 40, .size: 8, .value_kind: hidden_global_offset_x }
      - { .offset: 48, .size: 2, .value_kind: hidden_grid_dims }
      - { .offset: 52, .size: 4, .value_kind: hidden_dynamic_lds_size }
      - { .offset: 56, .size: 4, .value_kind: hidden_shared_base }
      - { .offset: 60, .size: 4, .value_kind: hidden_private_base }
""".strip("\n")


def test_hidden_arguments(asm: Assembler) -> None:
    body = "  s_load_b256 s[8:15], s[0:1], 0x10\n  s_load_b128 s[16:19], s[0:1], 0x30\n" + store(
        ["s8", "s9", "s10", "s11", "s12", "s14", "s16", "s17", "s18", "s19"], 0
    )
    out = run(asm, body, 10, hidden=HIDDEN, groups=(2, 3, 4), size=(8, 2, 2), dynamic_lds=512)
    assert out[:3] == [2, 3, 4]
    assert out[3] == 8 | 2 << 16 and out[4] == 2
    assert out[5] == 0 and out[6] & 0xFFFF == 3 and out[7] == 512
    assert out[8:] == [L.SHARED_APERTURE >> 32, L.PRIVATE_APERTURE >> 32]


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_denormal_mode_of_the_descriptor(asm: Assembler, mode: int) -> None:
    body = """
  v_mov_b32 v4, 0x00400000
  v_mov_b32 v5, 0x00800001
  v_mov_b32 v6, 0x80800000
  v_add_f32 v4, v4, v4
  v_add_f32 v5, v5, v6
  v_readlane_b32 s20, v4, 0
  v_readlane_b32 s21, v5, 0
""" + store(["s20", "s21"], 0)
    out = run(asm, body, 2, directives=[f".amdhsa_float_denorm_mode_32 {mode}"])
    # Bit 0 keeps subnormal inputs, bit 1 subnormal results.
    assert out == [0x00800000 if mode & 1 else 0, 1 if mode & 2 else 0]


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_rounding_mode_of_the_descriptor(asm: Assembler, mode: int) -> None:
    body = """
  v_mov_b32 v4, 0x2f800000
  v_add_f32 v5, 1.0, v4
  v_sub_f32 v6, -1.0, v4
  v_readlane_b32 s20, v5, 0
  v_readlane_b32 s21, v6, 0
""" + store(["s20", "s21"], 0)
    out = run(asm, body, 2, directives=[f".amdhsa_float_round_mode_32 {mode}"])
    one, minus = 0x3F800000, 0xBF800000
    assert out == {0: [one, minus], 1: [one + 1, minus], 2: [one, minus + 1], 3: [one, minus]}[mode]


def test_dx10_clamp_of_the_descriptor(asm: Assembler) -> None:
    body = """
  v_mov_b32 v4, 0x7fc00000
  v_add_f32 v5, v4, v4 clamp
  v_readlane_b32 s20, v5, 0
""" + store(["s20"], 0)
    assert run(asm, body, 1, directives=[".amdhsa_dx10_clamp 1"]) == [0]
    assert run(asm, body, 1, directives=[".amdhsa_dx10_clamp 0"]) == [0x7FC00000]


def test_ieee_mode_of_the_descriptor(asm: Assembler) -> None:
    body = """
  v_mov_b32 v4, 0x7f800001
  v_min_f32 v5, 1.0, v4
  v_readlane_b32 s20, v5, 0
""" + store(["s20"], 0)
    assert run(asm, body, 1, directives=[".amdhsa_ieee_mode 1"]) == [0x7FC00000]
    assert run(asm, body, 1, directives=[".amdhsa_ieee_mode 0"]) == [0x3F800000]


@pytest.mark.parametrize("mode", [0, 1])
def test_workgroup_processor_and_compute_unit_mode(asm: Assembler, mode: int) -> None:
    body = "  v_lshlrev_b32 v1, 2, v0\n  ds_store_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n" + store(["s2"], 0)
    assert run(asm, body, 1, lds=512, size=(128,), directives=[f".amdhsa_workgroup_processor_mode {mode}"]) == [0]


def test_registers_lds_and_scratch_start_poisoned(asm: Assembler) -> None:
    body = """
  v_mov_b32 v4, 0
  ds_load_b32 v5, v4
  scratch_load_b32 v6, v4, off
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_readlane_b32 s20, v20, 3
  v_readlane_b32 s21, v5, 3
  v_readlane_b32 s22, v6, 3
""" + store(["s20", "s21", "s22", "s35"], 0)
    assert run(asm, body, 4, lds=64, scratch=16) == [L.POISON_WORD] * 4


def test_preloaded_arguments_of_gfx942(asm: Assembler) -> None:
    """The words behind the kernarg pointer hold the first arguments, and the 256 bytes for older firmware are skipped."""
    body = """
  s_trap 2
  .fill 63, 4, 0xbf800000
  v_mov_b32 v1, 0
  v_mov_b32 v2, s2
  v_mov_b32 v3, s3
  global_store_dwordx2 v1, v[2:3], s[4:5]
  s_endpgm
"""
    directives = [".amdhsa_user_sgpr_kernarg_preload_length 4", ".amdhsa_user_sgpr_kernarg_preload_offset 0"]
    low, high = run(asm, body, 2, processor="gfx942", wave=64, directives=directives)
    address = low | high << 32
    assert address % 4096 == 0 and address >> 40
