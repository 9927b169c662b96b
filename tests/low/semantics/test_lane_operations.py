"""Operations that move values between lanes: DPP, permlane, readlane, bpermute, swizzle, swaps; and lane counting."""

from __future__ import annotations

import numpy as np
import pytest

from loom.low.semantics.table import evaluate

LANES = np.arange(32, dtype=np.uint32)
VALUES = (LANES * 1000 + 7).astype(np.uint32)
OLD = np.full(32, 0xAAAAAAAA, dtype=np.uint32)


def dpp(control: int, exec_mask: int = 0xFFFFFFFF, **modifiers: int) -> tuple[list[int], int]:
    found = evaluate("v_mov_b32", [VALUES], exec_mask=exec_mask,
                     modifiers={"dpp_ctrl": control, "row_mask": 15, "bank_mask": 15, **modifiers})  # fmt: skip
    return np.broadcast_to(found["results"][0][0], (32,)).tolist(), found["write_mask"]


CONTROLS = {
    "quad_perm 3 2 1 0": (0b00011011, lambda i: (i & ~3) + 3 - (i & 3)),
    "row_shl 1": (0x101, lambda i: i + 1 if i % 16 < 15 else None),
    "row_shr 3": (0x113, lambda i: i - 3 if i % 16 >= 3 else None),
    "row_ror 5": (0x125, lambda i: (i & ~15) + (i - 5) % 16),
    "row_mirror": (0x140, lambda i: (i & ~15) + 15 - i % 16),
    "row_half_mirror": (0x141, lambda i: (i & ~7) + 7 - i % 8),
    "row_share 6": (0x156, lambda i: (i & ~15) + 6),
    "row_xmask 9": (0x169, lambda i: i ^ 9),
}


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize("exec_mask", [0xFFFFFFFF, 0x0F0FFFF1])
@pytest.mark.parametrize("bound_ctrl", [0, 1])
@pytest.mark.parametrize("fi", [0, 1])
def test_dpp(name: str, exec_mask: int, bound_ctrl: int, fi: int) -> None:
    control, source = CONTROLS[name]
    got, written = dpp(control, exec_mask, bound_ctrl=bound_ctrl, fi=fi)
    for lane in range(32):
        if not exec_mask >> lane & 1:
            assert not written >> lane & 1
            continue
        at = source(lane)
        valid = at is not None and (fi or exec_mask >> at & 1)
        if valid:
            assert got[lane] == VALUES[at] and written >> lane & 1
        elif bound_ctrl:
            assert got[lane] == 0 and written >> lane & 1
        else:
            assert not written >> lane & 1


def test_row_and_bank_masks() -> None:
    _, written = dpp(0x140, row_mask=2)
    assert written == 0xFFFF0000
    _, written = dpp(0x140, bank_mask=0b0101)
    assert written == 0x0F0F0F0F


def test_dpp8() -> None:
    selectors = sum(((7 * i + 3) % 8) << (3 * i) for i in range(8))
    found = evaluate("v_mov_b32", [VALUES], modifiers={"dpp8": selectors, "fi": 0})
    assert found["results"][0][0].tolist() == [int(VALUES[(i & ~7) + (7 * (i & 7) + 3) % 8]) for i in range(32)]


def test_dpp_modifies_only_the_first_source() -> None:
    found = evaluate("v_sub_nc_u32", [VALUES, LANES], modifiers={"dpp_ctrl": 0x140, "row_mask": 15, "bank_mask": 15})
    mirror = (LANES & ~np.uint32(15)) + 15 - LANES % 16
    assert found["results"][0][0].tolist() == (VALUES[mirror] - LANES).tolist()


def test_read_and_write_lane() -> None:
    assert int(evaluate("v_readlane_b32", [VALUES, 37])["results"][0][0][0]) == VALUES[5]
    assert int(evaluate("v_readfirstlane_b32", [VALUES], exec_mask=0xFFFFF000)["results"][0][0][0]) == VALUES[12]
    assert int(evaluate("v_readfirstlane_b32", [VALUES], exec_mask=0)["results"][0][0][0]) == VALUES[0]
    got = evaluate("v_writelane_b32", [VALUES, 99, 35])["results"][0][0].tolist()
    want = VALUES.tolist()
    want[3] = 99
    assert got == want


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("op_sel", [0, 1, 2, 3])
def test_permlane16(across: bool, op_sel: int) -> None:
    """op_sel bit 0: read inactive lanes; bit 1: an inactive source gives 0 instead of the old value."""
    low, high = 0x13579BDF, 0x02468ACE
    exec_mask = 0xFFFF00FF
    name = "v_permlanex16_b32" if across else "v_permlane16_b32"
    got = evaluate(name, [OLD, VALUES, low, high], exec_mask=exec_mask, modifiers={"op_sel": op_sel})["results"][0][0]
    selectors = [(low if i < 8 else high) >> (4 * (i % 8)) & 15 for i in range(16)]
    for lane in range(32):
        source = ((lane & 16) ^ (16 if across else 0)) + selectors[lane % 16]
        active = exec_mask >> source & 1
        want = VALUES[source] if active or op_sel & 1 else 0 if op_sel & 2 else OLD[lane]
        assert got[lane] == want


def test_permlane16_var() -> None:
    selector = ((LANES * 5 + 3) % 16).astype(np.uint32)
    for name, flip in (("v_permlane16_var_b32", 0), ("v_permlanex16_var_b32", 16)):
        got = evaluate(name, [OLD, VALUES, selector])["results"][0][0].tolist()
        assert got == [int(VALUES[((i & 16) ^ flip) + (i * 5 + 3) % 16]) for i in range(32)]


def test_permlane64() -> None:
    wide = np.arange(64, dtype=np.uint32)
    assert evaluate("v_permlane64_b32", [wide], wave=64)["results"][0][0].tolist() == [(i + 32) % 64 for i in range(64)]
    assert evaluate("v_permlane64_b32", [VALUES])["results"][0][0].tolist() == VALUES.tolist()


def test_backward_permute() -> None:
    """Addresses wrap, lower bits are ignored, the offset adds, inactive sources give zero."""
    address = ((31 - LANES) * 4 + 1).astype(np.uint32)
    exec_mask = 0xFFFFFFF0
    got = evaluate("ds_bpermute_b32", [address, VALUES], exec_mask=exec_mask, modifiers={"offset": 8})["results"][0][0]
    for lane in range(32):
        source = (31 - lane + 2) % 32
        assert got[lane] == (VALUES[source] if exec_mask >> source & 1 else 0)


def test_forward_permute() -> None:
    """Several writers of one lane: the highest wins; lanes without a writer get zero."""
    address = ((LANES % 8) * 4).astype(np.uint32)
    exec_mask = 0x00FFFFFF
    got = evaluate("ds_permute_b32", [address, VALUES], exec_mask=exec_mask)["results"][0][0].tolist()
    assert got == [int(VALUES[16 + i]) if i < 8 else 0 for i in range(32)]


@pytest.mark.parametrize("generation", ["gfx11", "gfx12", "gfx9.4"])
@pytest.mark.parametrize("name", ["ds_bpermute_b32", "ds_bpermute_fi_b32", "ds_permute_b32"])
def test_permutes_of_64_lanes(name: str, generation: str) -> None:
    """gfx11 permutes within each half of the wave, the others across it (ISA documents; LLVM 22 shuffles a wave with one
    ``ds_bpermute_b32`` on gfx12 and needs ``v_permlane64_b32`` besides on gfx11)."""
    lanes = np.arange(64, dtype=np.uint32)
    values, named = lanes * 1000 + 7, (lanes * 13 + 5) % 64
    reached = (lanes & 32) | (named & 31) if generation == "gfx11" else named
    want = values[reached]
    if name == "ds_permute_b32":
        want = np.zeros(64, np.uint32)
        want[reached] = values
    found = evaluate(name, [named * 4, values], wave=64, generation=generation)
    assert found["results"][0][0].tolist() == want.tolist()


@pytest.mark.parametrize(
    ("offset", "source"),
    [
        (0x8000 | 0b00011011, lambda i: (i & ~3) + 3 - (i & 3)),  # quad permutation
        (0x041F, lambda i: i ^ 1), (0x401F, lambda i: i ^ 16), (0x0010, lambda i: i & 16),
        (0x00FF & 0x1F | 3 << 5, lambda i: i | 3),
        (0xC000 | 1 << 5, lambda i: (i + 1) % 32), (0xC400 | 1 << 5, lambda i: (i - 1) % 32),
    ],
)  # fmt: skip
def test_swizzle(offset: int, source: object) -> None:
    assert callable(source)
    got = evaluate("ds_swizzle_b32", [VALUES], modifiers={"offset": offset})["results"][0][0].tolist()
    assert got == [int(VALUES[source(i)]) for i in range(32)]
    exec_mask = 0xFFFF0FFF
    got = evaluate("ds_swizzle_b32", [VALUES], exec_mask=exec_mask, modifiers={"offset": offset})["results"][0][
        0
    ].tolist()
    assert got == [int(VALUES[source(i)]) if exec_mask >> source(i) & 1 else 0 for i in range(32)]


def test_bits_below() -> None:
    mask, base = 0xF0F0A5A5, 100
    got = np.broadcast_to(evaluate("v_mbcnt_lo_u32_b32", [mask, base])["results"][0][0], (32,)).tolist()
    assert got == [(mask & ((1 << i) - 1)).bit_count() + base for i in range(32)]
    wide = evaluate("v_mbcnt_lo_u32_b32", [mask, base], wave=64)["results"][0][0].tolist()
    assert wide == [(mask & ((1 << min(i, 32)) - 1)).bit_count() + base for i in range(64)]
    high = evaluate("v_mbcnt_hi_u32_b32", [mask, base], wave=64)["results"][0][0].tolist()
    assert high == [(mask & ((1 << max(i - 32, 0)) - 1)).bit_count() + base for i in range(64)]


def test_swaps() -> None:
    wide = np.arange(64, dtype=np.uint32)
    for width in (16, 32):
        first, second = wide, wide + 1000
        a, b = (r[0].tolist() for r in evaluate(f"v_permlane{width}_swap_b32", [first, second], wave=64)["results"])
        want_a = [int(second[i - width]) if i & width else int(first[i]) for i in range(64)]
        want_b = [int(second[i]) if i & width else int(first[i + width]) for i in range(64)]
        assert (a, b) == (want_a, want_b)
    a, b = (r[0].tolist() for r in evaluate("v_swap_b32", [VALUES, LANES])["results"])
    assert (a, b) == (LANES.tolist(), VALUES.tolist())
    halves = evaluate("v_swap_b16", [VALUES, LANES], old=[VALUES, LANES])["results"]
    assert halves[0][0].tolist() == ((VALUES & 0xFFFF0000) | (LANES & 0xFFFF)).tolist()
    assert halves[1][0].tolist() == ((LANES & 0xFFFF0000) | (VALUES & 0xFFFF)).tolist()


def test_conditional_move_takes_modifiers() -> None:
    a, b = np.full(32, 0x3F800000, np.uint32), np.full(32, 0x40000000, np.uint32)
    got = evaluate("v_cndmask_b32", [a, b, 0x0000FFFF], modifiers={"neg": 1})["results"][0][0].tolist()
    assert got == [0x40000000] * 16 + [0xBF800000] * 16
    half = evaluate("v_cndmask_b16", [a, b, 0xFFFF0000], old=[VALUES], modifiers={"op_sel": 8})["results"][0][
        0
    ].tolist()
    want = [int(VALUES[i] & 0xFFFF) | (0x0000 << 16) for i in range(32)]
    assert half == want  # both sources' low halves are zero
