"""LDS counters, direct loads, conditional exchange, loads into LDS, transposing loads and block transfers, by hand models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from loom.device.protocol import Completed, Faulted
from tests.target.amdgpu.simulator.asm import Assembler

U = np.uint32


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def words(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint64).astype(U)


GFX11 = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""
GFX12 = GFX11.replace("s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0x0")
GFX9 = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""


@pytest.mark.parametrize("processor", ["gfx1100", "gfx1201", "gfx942"])
def test_append_and_consume(asm: Assembler, processor: str) -> None:
    """Active lanes all get the old value; the counter moves by their number; others keep their register."""
    wave = 64 if processor == "gfx942" else 32
    store, read = ("ds_write_b32", "ds_read_b32") if wave == 64 else ("ds_store_b32", "ds_load_b32")
    wait = "s_wait_dscnt 0x0" if processor == "gfx1201" else "s_waitcnt lgkmcnt(0)"
    exec_set = "s_mov_b64 exec, 0xfff0ff" if wave == 64 else "s_mov_b32 exec_lo, 0xfff0ff"
    exec_all = "s_mov_b64 exec, -1" if wave == 64 else "s_mov_b32 exec_lo, -1"
    output = "global_store_dword" if wave == 64 else "global_store_b32"
    head = {"gfx1100": GFX11, "gfx1201": GFX12, "gfx942": GFX9}[processor]
    body = (
        head
        + f"""
  v_mov_b32 v2, 1000
  v_mov_b32 v3, 8
  v_mov_b32 v4, 7
  v_mov_b32 v5, 7
  {store} v3, v2 offset:4
  {wait}
  s_mov_b32 m0, 8
  {exec_set}
  ds_append v4 offset:4
  ds_append v5 offset:4
  {wait}
  {exec_all}
  ds_consume v6 offset:4
  {wait}
  {read} v7, v3 offset:4
  {wait}
  {output} v1, v4, s[6:7]
  {output} v1, v5, s[6:7] offset:256
  {output} v1, v6, s[6:7] offset:512
  {output} v1, v7, s[6:7] offset:768
  s_endpgm
"""
    )
    outcome, out = asm.run(body, np.zeros(4, U), 256, processor=processor, wave=wave, lds=64)
    assert isinstance(outcome, Completed), outcome
    active = [bool(0xFFF0FF >> lane & 1) for lane in range(wave)]
    assert out[:wave].tolist() == [1000 if a else 7 for a in active]
    assert out[64 : 64 + wave].tolist() == [1000 + sum(active) if a else 7 for a in active]
    assert out[128 : 128 + wave].tolist() == [1000 + 2 * sum(active)] * wave
    assert out[192 : 192 + wave].tolist() == [1000 + 2 * sum(active) - wave] * wave


def test_append_beyond_lds_is_a_fault(asm: Assembler) -> None:
    body = GFX11 + "  s_mov_b32 m0, 64\n  ds_append v4 offset:4\n  s_waitcnt lgkmcnt(0)\n  s_endpgm\n"
    outcome, _ = asm.run(body, np.zeros(4, U), 4, lds=64)
    assert isinstance(outcome, Faulted) and outcome.fault.kind == "lds_out_of_bounds"


@pytest.mark.parametrize(
    ("m0", "want"),
    [(2 << 16 | 8, 0x81FE03F2), (0 << 16 | 11, 0x81), (4 << 16 | 11, 0xFFFFFF81), (1 << 16 | 10, 0x81FE), (5 << 16 | 10, 0xFFFF81FE),
     (5 << 16 | 8, 0x03F2)],
)  # fmt: skip
@pytest.mark.parametrize("processor", ["gfx1100", "gfx1201"])
def test_direct_load(asm: Assembler, processor: str, m0: int, want: int) -> None:
    """One value for all lanes: M0 holds the address and the type."""
    gfx12 = processor == "gfx1201"
    body = (
        (GFX12 if gfx12 else GFX11)
        + f"""
  v_mov_b32 v2, 0x81fe03f2
  v_mov_b32 v3, 0
  v_mov_b32 v4, 5
  ds_store_b32 v3, v2 offset:8
  {"s_wait_dscnt 0x0" if gfx12 else "s_waitcnt lgkmcnt(0)"}
  s_mov_b32 m0, {m0:#x}
  s_mov_b32 exec_lo, 0xffff0
  {"ds_direct_load v4 wait_va_vdst:0" if gfx12 else "lds_direct_load v4 wait_vdst:0"}
  {"s_wait_expcnt 0x0" if gfx12 else "s_waitcnt expcnt(0)"}
  s_mov_b32 exec_lo, -1
  global_store_b32 v1, v4, s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body, np.zeros(4, U), 32, processor=processor, lds=16)
    assert isinstance(outcome, Completed), outcome
    assert out.tolist() == [want if 0xFFFF0 >> lane & 1 else 5 for lane in range(32)]


def test_conditional_exchange(asm: Assembler) -> None:
    """Each word is replaced, without its top bit, where the new word's top bit is set; the old pair comes back."""
    data = words(64, 3)
    body = (
        GFX11
        + """
  v_lshlrev_b32 v2, 3, v0
  global_load_b64 v[4:5], v2, s[4:5]
  v_not_b32 v6, v2
  v_add_nc_u32 v7, 77, v2
  ds_store_b64 v2, v[6:7]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  ds_condxchg32_rtn_b64 v[8:9], v2, v[4:5]
  s_waitcnt lgkmcnt(0)
  ds_load_b64 v[10:11], v2
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v2, 4, v0
  global_store_b128 v2, v[8:11], s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body, data, 128, lds=256)
    assert isinstance(outcome, Completed), outcome
    for lane in range(32):
        old = [~(8 * lane) & 0xFFFFFFFF, 77 + 8 * lane]
        given = data[2 * lane : 2 * lane + 2].tolist()
        new = [g & 0x7FFFFFFF if g >> 31 else o for g, o in zip(given, old, strict=True)]
        assert out[4 * lane : 4 * lane + 4].tolist() == old + new


def test_register_relative_moves_on_both_sides(asm: Assembler) -> None:
    body = (
        GFX11
        + "".join(f"  v_add_nc_u32 v{k}, {k}, v1\n" for k in range(4, 20))
        + """
  s_mov_b32 m0, 3
  v_movrelsd_b32 v4, v8
  s_mov_b32 m0, 0x20005
  v_movrelsd_2_b32 v4, v8
  s_mov_b32 exec_lo, 0x00ffff00
  v_swaprel_b32 v12, v14
  s_mov_b32 exec_lo, -1
  s_mov_b32 s20, 100
  s_mov_b32 s21, 101
  s_mov_b32 s22, 102
  s_mov_b32 m0, 0x10002
  s_movrelsd_2_b32 s20, s20
  v_mov_b32 v20, s21
  v_mov_b32 v21, s20
"""
        + "".join(f"  global_store_b32 v1, v{k}, s[6:7] offset:{128 * (k - 4)}\n" for k in range(4, 22))
        + "  s_endpgm\n"
    )
    outcome, out = asm.run(body, np.zeros(4, U), 18 * 32)
    assert isinstance(outcome, Completed), outcome
    model = {k: [k + 4 * lane for lane in range(32)] for k in range(4, 20)}
    model[7] = list(model[11])  # M0 = 3 on both sides
    model[6] = list(model[13])  # source + 5, target + 2
    for lane in range(8, 24):  # target 12 + 2, source 14 + 5
        model[14][lane], model[19][lane] = model[19][lane], model[14][lane]
    model[20], model[21] = [102] * 32, [100] * 32
    for k in range(4, 22):
        assert out[32 * (k - 4) : 32 * (k - 3)].tolist() == model[k], k


def test_a_relative_move_beyond_the_allocation_is_a_fault(asm: Assembler) -> None:
    body = GFX11 + "  s_mov_b32 m0, 0x200000\n  v_swaprel_b32 v4, v8\n  s_endpgm\n"
    outcome, _ = asm.run(body, np.zeros(4, U), 4)
    assert isinstance(outcome, Faulted) and outcome.fault.kind == "unallocated_register"


LDS_LOADS = [
    ("gfx942", "dword", 4, False), ("gfx950", "dwordx3", 12, False), ("gfx950", "dwordx4", 16, False),
    ("gfx942", "ubyte", 1, False), ("gfx942", "sbyte", 1, True), ("gfx950", "ushort", 2, False), ("gfx950", "sshort", 2, True),
]  # fmt: skip


@pytest.mark.parametrize(("processor", "type_", "size", "signed"), LDS_LOADS)
@pytest.mark.parametrize("space", ["global", "buffer"])
def test_loads_into_lds(asm: Assembler, processor: str, type_: str, size: int, signed: bool, space: str) -> None:
    """Lane i's data lands at M0 + offset + 4 i (16 i for three and four words); inactive lanes write nothing."""
    data = words(256, 5)
    wide = size >= 12
    stride = 16 if wide else 4
    load = (
        f"global_load_lds_{type_} v2, s[4:5] offset:16"
        if space == "global"
        else f"buffer_load_{type_} v2, s[8:11], 0 offen offset:16 lds"
    )
    clear = "".join(f"  ds_write_b32 v4, v3 offset:{o}\n" for o in range(0, 2048, 256))
    dump = "".join(
        f"  ds_read_b32 v6, v4 offset:{o}\n  s_waitcnt lgkmcnt(0)\n  global_store_dword v4, v6, s[6:7] offset:{o}\n"
        for o in range(0, 2048, 256)
    )
    body = (
        GFX9
        + f"""
  v_lshlrev_b32_e32 v4, 2, v0
  v_mul_u32_u24_e32 v2, 13, v0
  v_mov_b32_e32 v3, 0x5a5a5a5a
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_mov_b32 s10, 700
  s_mov_b32 s11, 0x27000
{clear}  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, 64
  s_mov_b32 exec_lo, 0xff00ffff
  s_mov_b32 exec_hi, 0xff00ff00
  s_nop 0
  {load}
  s_mov_b64 exec, -1
  s_waitcnt vmcnt(0)
{dump}  s_endpgm
"""
    )
    outcome, out = asm.run(body, data, 512, processor=processor, wave=64, lds=2048)
    assert isinstance(outcome, Completed), outcome
    want = np.full(512, 0x5A5A5A5A, U)
    raw = data.tobytes()
    for lane in range(64):
        if not 0xFF00FF00FF00FFFF >> lane & 1:
            continue
        at = 13 * lane + 16
        piece = raw[at : at + size] if space == "global" or at + size <= 700 else bytes(size)
        if size < 4:
            piece = (int.from_bytes(piece, "little", signed=signed) & 0xFFFFFFFF).to_bytes(4, "little")
        place = (64 + 16 + stride * lane) // 4
        want[place : place + len(piece) // 4] = np.frombuffer(piece, U)
    assert out.tolist() == want.tolist()


def test_a_load_beyond_lds_is_a_fault(asm: Assembler) -> None:
    body = (
        GFX9
        + """
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
  s_endpgm
"""
    )
    outcome, _ = asm.run(body, words(64), 4, processor="gfx942", wave=64, lds=128)
    assert isinstance(outcome, Faulted) and outcome.fault.kind == "lds_out_of_bounds" and outcome.fault.lane == 32


def bits_of(raw: bytes, index: int, width: int) -> int:
    return int.from_bytes(raw, "little") >> (index * width) & ((1 << width) - 1)


@pytest.mark.parametrize(
    ("name", "size", "bits"), [("b64_tr_b16", 8, 16), ("b64_tr_b8", 8, 8), ("b64_tr_b4", 8, 4), ("b96_tr_b6", 12, 6)]
)
def test_transposing_lds_reads(asm: Assembler, name: str, size: int, bits: int) -> None:
    """In 16 lanes, k rows of 16 elements lie one behind the other; lane c gets column c (CDNA4 ISA, 11.4)."""
    data = words(256, 9)
    count = size * 8 // bits
    registers = "v[6:7]" if size == 8 else "v[6:8]"
    zeros = "".join(f"  v_mov_b32_e32 v{k}, 0\n" for k in range(6, 10))
    body = (
        GFX9
        + f"""
  v_lshlrev_b32_e32 v2, 4, v0
  global_load_dwordx4 v[10:13], v2, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b128 v2, v[10:13]
{zeros}  v_mul_u32_u24_e32 v3, {size}, v0
  s_waitcnt lgkmcnt(0)
  ds_read_{name} {registers}, v3 offset:16
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v2, v[6:9], s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body, data, 256, processor="gfx950", wave=64, lds=1024)
    assert isinstance(outcome, Completed), outcome
    raw = data.tobytes()
    for lane in range(64):
        group = lane // 16
        block = raw[16 + 16 * size * group : 16 + 16 * size * (group + 1)]
        column = lane % 16
        want = sum(bits_of(block, 16 * row + column, bits) << (bits * row) for row in range(count))
        assert out[4 * lane : 4 * lane + size // 4].tobytes() == want.to_bytes(size, "little"), lane


def test_transposing_global_load(asm: Assembler) -> None:
    """Measured on gfx1201: in 8 lanes, lane i gets element i of each lane's 16 bytes."""
    data = words(256, 11)
    body = (
        GFX12
        + """
  v_mul_u32_u24_e32 v2, 20, v0
  v_lshlrev_b32 v3, 4, v0
  global_load_tr_b128 v[6:9], v2, s[4:5] offset:8
  s_wait_loadcnt 0x0
  global_store_b128 v3, v[6:9], s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body, data, 128, processor="gfx1201")
    assert isinstance(outcome, Completed), outcome
    raw = data.tobytes()
    for lane in range(32):
        first = lane // 8 * 8
        want = b"".join(raw[8 + 20 * (first + j) + 2 * (lane % 8) :][:2] for j in range(8))
        assert out[4 * lane : 4 * lane + 4].tobytes() == want, lane


MASK = 0x80F00A05


@pytest.mark.parametrize("space", ["global", "scratch"])
def test_block_transfers(asm: Assembler, space: str) -> None:
    """32 registers to and from memory, each where M0 has its bit; the others stay as they are."""
    data = words(32 * 32, 13)
    fill = "".join(f"  v_mov_b32 v{k}, {k}\n" for k in range(16, 48))
    dump = "".join(f"  global_store_b32 v2, v{16 + k}, s[6:7] offset:{4 * k}\n" for k in range(32))
    access = {
        "global": "global_load_block v[16:47], v2, s[4:5]",
        "scratch": """s_mov_b32 m0, 0x80f0ffff
  v_mov_b32 v3, 4
  scratch_store_block v3, v[16:47], off
  s_wait_storecnt 0x0
"""
        + "".join(f"  v_add_nc_u32 v{k}, 100, v{k}\n" for k in range(16, 48))
        + f"  s_mov_b32 m0, {MASK:#x}\n  scratch_load_block v[16:47], v3, off",
    }[space]
    body = (
        GFX12
        + f"""
  v_lshlrev_b32 v2, 7, v0
{fill}  s_mov_b32 m0, {MASK:#x}
  {access}
  s_wait_loadcnt 0x0
{dump}  s_endpgm
"""
    )
    outcome, out = asm.run(body, data, 1024, processor="gfx1201", scratch=256, vgprs=64)
    assert isinstance(outcome, Completed), outcome
    for lane in range(32):
        for k in range(32):
            got = int(out[32 * lane + k])
            if space == "global":
                want = int(data[32 * lane + k]) if MASK >> k & 1 else 16 + k
            else:
                want = 16 + k if MASK >> k & 1 else 116 + k
            assert got == want, (lane, k)
    if space == "global":
        bytes_moved = outcome.counts.bytes_read
        assert bytes_moved["global.b32"] == 32 * 4 * MASK.bit_count()


def test_global_block_store(asm: Assembler) -> None:
    fill = "".join(f"  v_add_nc_u32 v{k}, {k}, v0\n" for k in range(16, 48))
    body = (
        GFX12
        + f"""
  v_lshlrev_b32 v2, 7, v0
{fill}  s_mov_b32 m0, {MASK:#x}
  global_store_block v2, v[16:47], s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body, np.zeros(4, U), 1024, processor="gfx1201", vgprs=64)
    assert isinstance(outcome, Completed), outcome
    want = [16 + k + lane if MASK >> k & 1 else 0 for lane in range(32) for k in range(32)]
    assert out.tolist() == want


def test_first_signal_of_a_barrier(asm: Assembler) -> None:
    """Of the waves that signal a barrier one learns that it came first, at each barrier; plain signals count, too."""
    body = (
        GFX12.replace("v_lshlrev_b32 v1, 2, v0", "v_and_b32 v0, 0x3ff, v0\n  v_lshlrev_b32 v1, 2, v0")
        + """
  v_mov_b32 v2, 0
  v_readfirstlane_b32 s9, v0
  s_cmp_lt_u32 s9, 64
  s_cbranch_scc1 .Lplain
  s_barrier_signal_isfirst -1
  s_cselect_b32 s8, 1, 0
  s_branch .Ljoin
.Lplain:
  s_mov_b32 s8, 0
  s_barrier_signal -1
.Ljoin:
  s_barrier_wait -1
  s_mov_b32 s10, 3
.Lloop:
  s_barrier_signal_isfirst -1
  s_cselect_b32 s9, 4, 0
  s_add_co_u32 s8, s8, s9
  s_barrier_wait -1
  s_sub_co_u32 s10, s10, 1
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 .Lloop
  v_mov_b32 v2, s8
  global_store_b32 v1, v2, s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body, np.zeros(4, U), 2 * 256, processor="gfx1201", size=(256,), groups=(1,))
    assert isinstance(outcome, Completed), outcome
    per_wave = out[:256].reshape(8, 32)
    assert (per_wave == per_wave[:, :1]).all()
    counts = per_wave[:, 0].tolist()
    # The first barrier: waves 0 and 1 signal plainly and run first, so nobody hears that it is the first.
    assert sum(c & 1 for c in counts) == 0
    # Each of the three others has one first.
    assert sum(c >> 2 for c in counts) == 3


@pytest.mark.parametrize(
    "processor, wave, names", [
        ("gfx1100", 32, ("ds_store_b32", "ds_load_b32", "ds_load_2addr_b32", "ds_add_rtn_u32", "s_load_b64", "global_store_b32")),
        ("gfx942", 64, ("ds_write_b32", "ds_read_b32", "ds_read2_b32", "ds_add_rtn_u32", "s_load_dwordx2", "global_store_dword")),
    ],
)  # fmt: skip
def test_lds_addresses_wrap(asm: Assembler, processor: str, wave: int, names: tuple[str, ...]) -> None:
    """A base below zero and a constant above: compilers split ``array[63 - i]`` so (LLVM's ds-sub-offset.ll)."""
    store, load, load2, add, scalar, put = names
    carry = "_nc" if wave == 32 else ""
    body = f"""
  {scalar} s[6:7], s[0:1], 0x8
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_sub{carry}_u32 v2, 0, v1
  v_add{carry}_u32 v3, 0x64, v0
  {store} v1, v3
  {store} v1, v3 offset:{4 * wave}
  s_waitcnt lgkmcnt(0)
  s_barrier
  {load} v4, v2 offset:{4 * (wave - 1)}
  {load2} v[6:7], v2 offset0:{wave - 1} offset1:{wave}
  s_waitcnt lgkmcnt(0)
  {add} v8, v2, v0 offset:{4 * (wave - 1)}
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v1, 4, v0
  {put} v1, v4, s[6:7]
  {put} v1, v6, s[6:7] offset:4
  {put} v1, v7, s[6:7] offset:8
  {put} v1, v8, s[6:7] offset:12
  s_endpgm
"""
    outcome, out = asm.run(body, np.zeros(4, U), 4 * wave, processor=processor, wave=wave, lds=8 * wave)
    assert isinstance(outcome, Completed), outcome
    mirrored = 100 + wave - 1 - np.arange(wave)
    second = 100 + (wave - np.arange(wave)) % wave
    np.testing.assert_array_equal(out.reshape(wave, 4), np.stack([mirrored, mirrored, second, mirrored], 1))
    beyond = body.replace(f"offset:{4 * (wave - 1)}\n  {load2}", f"offset:{4 * (wave - 2)}\n  {load2}")
    faulted, _ = asm.run(beyond, np.zeros(4, U), 4 * wave, processor=processor, wave=wave, lds=8 * wave)
    assert isinstance(faulted, Faulted)
    assert (faulted.fault.kind, faulted.fault.lane, faulted.fault.address) == (
        "lds_out_of_bounds",
        wave - 1,
        0xFFFFFFFC,
    )
