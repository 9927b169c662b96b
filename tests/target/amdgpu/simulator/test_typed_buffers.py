"""Typed buffer loads and stores: every format against its arithmetic definition, computed with rational numbers here."""

from __future__ import annotations

import math
import re
import struct
import subprocess
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from loom.device.protocol import Completed, Faulted
from tests.low.semantics.reference_math import decode, encode
from tests.target.amdgpu.simulator.asm import Assembler

LANES = 32


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def format_names(mc: str) -> dict[int, str]:
    """LLVM's names of the unified formats: ``{1: "8_unorm", …}``; it leaves the default format 1 unwritten."""
    lines = "\n".join(f"tbuffer_load_format_x v0, off, s[0:3], 0 format:{n}" for n in range(64))
    printed = subprocess.run(
        [mc, "-triple=amdgcn", "-mcpu=gfx1100"], input=lines, capture_output=True, text=True, check=True
    ).stdout
    names = {}
    for number, line in enumerate(x for x in printed.splitlines() if "tbuffer" in x):
        found = re.search(r"BUF_FMT_(\w+)", line)
        names[number] = found.group(1).lower() if found else "8_unorm"
    return names


def fields(name: str) -> tuple[str, list[tuple[int, int]]]:
    """Number type and (lowest bit, width) of X, Y, Z, W. Names list the highest field first."""
    layout, _, kind = name.rpartition("_")
    at, result = 0, []
    for width in reversed([int(w) for w in layout.split("_")]):
        result.append((at, width))
        at += width
    return kind, result


def small_value(code: int, mantissa: int) -> float:
    """An unsigned float with 5 bits of exponent and a bias of 15."""
    exponent, fraction = code >> mantissa, code & ((1 << mantissa) - 1)
    if exponent == 31:
        return math.nan if fraction else math.inf
    if exponent == 0:
        return fraction * 2.0 ** (-14 - mantissa)
    return (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - 15)


def number(raw: int, width: int, kind: str) -> Fraction | float:
    """What the bits of a component mean."""
    signed = raw - (1 << width) if raw >> (width - 1) else raw
    if kind == "float":
        if width in (10, 11):
            return small_value(raw, width - 5)
        return decode(raw, f"f{width}")
    if kind == "unorm":
        return Fraction(raw, (1 << width) - 1)
    if kind == "snorm":
        return max(Fraction(signed, (1 << (width - 1)) - 1), Fraction(-1))
    return Fraction(signed if kind[0] == "s" else raw)


def loaded(raw: bytes, name: str, component: int, short: bool) -> int | None:
    """A component in a register; None stands for any NaN."""
    kind, places = fields(name)
    if component >= len(places):
        return 0
    low, width = places[component]
    bits = int.from_bytes(raw, "little") >> low & ((1 << width) - 1)
    if kind in ("uint", "sint"):
        value = bits - (1 << width) if kind == "sint" and bits >> (width - 1) else bits
        return value & (0xFFFF if short else 0xFFFFFFFF)
    value_ = number(bits, width, kind)
    if isinstance(value_, float) and math.isnan(value_):
        return None
    # Single precision becomes half by truncation, everything else to nearest even.
    return encode(value_, "f16" if short else "f32", 3 if short and width == 32 else 0)


def as_float(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def stored(value: int, width: int, kind: str) -> int | None:
    """A register's value as the bits of a component; None stands for any NaN."""
    if kind == "uint":
        return min(value, (1 << width) - 1)
    if kind == "sint":
        signed = value - (1 << 32) if value >> 31 else value
        return max(-(1 << (width - 1)), min(signed, (1 << (width - 1)) - 1)) & ((1 << width) - 1)
    x = as_float(value)
    if kind == "float":
        if width == 32:
            return value
        if math.isnan(x):
            return None
        if width == 16:
            exact: Fraction | float = x if math.isinf(x) or x == 0 else Fraction(x)
            return encode(exact, "f16", 3)
        codes = [small_value(c, width - 5) for c in range(31 << (width - 5))]
        if math.isinf(x) and x > 0:
            return 31 << (width - 5)
        return max(0, bisect_right(codes, max(x, 0.0)) - 1)
    if math.isnan(x):
        return 0
    low, high = {"unorm": (0, 1), "snorm": (-1, 1)}.get(kind, (0 if kind[0] == "u" else -(1 << (width - 1)), None))
    top = (1 << (width - (kind[0] == "s"))) - 1
    scale = top if kind.endswith("norm") else 1
    high = top if high is None else high
    limited = high if x > high else low if x < low else Fraction(x)
    return round(Fraction(limited) * scale) & ((1 << width) - 1)  # Python rounds halves to even


EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F,
         0x7C007C00, 0xFC00FC00, 0x7E007C01, 0x03FF0001, 0x8001FFFE, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000]  # fmt: skip


def raw_input(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 32, LANES * 4, dtype=np.uint64).astype(np.uint32)
    chosen = rng.integers(0, 2, LANES * 4).astype(bool)
    return np.where(chosen, rng.choice(np.array(EDGES, np.uint32), LANES * 4), words)


FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.4999, 127.5, 254.5, 255.5, 256.0, 32767.5, 65504.0, 65520.0, 1e6, -1e6,
          1e30, -1e30, math.inf, -math.inf, math.nan, 1e-7, 6e-8, 3e-5, -3e-5, 1 / 255, 0.5 / 255, 1.5 / 255, 0.5 / 127, 2.0**-24]  # fmt: skip

HEAD = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s16, s4
  s_mov_b32 s17, s5
  s_mov_b32 s18, 512
  s_mov_b32 s19, 0x31016fac
  s_mov_b32 s20, s6
  s_mov_b32 s21, s7
  s_mov_b32 s22, -1
  s_mov_b32 s23, 0x31016fac
  s_mov_b32 s24, 0
  global_load_b128 v[12:15], v1, s[4:5]
  s_waitcnt vmcnt(0)
"""


def head(gfx12: bool) -> str:
    text = HEAD
    if gfx12:
        text = text.replace("s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0x0").replace(
            "s_waitcnt vmcnt(0)", "s_wait_loadcnt 0x0"
        )
    return text


@pytest.mark.parametrize(("processor", "short"), [("gfx1100", False), ("gfx1100", True), ("gfx1201", False)])
def test_every_load_format(asm: Assembler, processor: str, short: bool) -> None:
    names = format_names(asm.mc)
    data = raw_input(1)
    gfx12 = processor == "gfx1201"
    wait = "s_wait_loadcnt 0x0" if gfx12 else "s_waitcnt vmcnt(0)"
    zero = "null" if gfx12 else "0"
    numbers = [n for n in range(1, 64) if not (short and names[n].startswith("32") and not names[n].endswith("float"))]
    operation, target = ("tbuffer_load_d16_format_xyzw", "v[8:9]") if short else ("tbuffer_load_format_xyzw", "v[8:11]")
    body = head(gfx12) + "  v_mov_b32 v10, 0\n  v_mov_b32 v11, 0\n"
    for n in numbers:
        body += f"""
  {operation} {target}, v1, s[16:19], {zero} format:{n} offen
  {wait}
  global_store_b128 v1, v[8:11], s[6:7]
  s_add_u32 s6, s6, 512
  s_addc_u32 s7, s7, 0
"""
    outcome, out = asm.run(body + "  s_endpgm\n", data, 128 * len(numbers), processor=processor)
    assert isinstance(outcome, Completed), outcome
    assert len(numbers) == (55 if short else 63)
    raw = data.tobytes()
    for row, n in zip(out.reshape(len(numbers), LANES, 4), numbers, strict=True):
        for lane in range(LANES):
            registers = row[lane].view(np.uint16) if short else row[lane]
            for component in range(4):
                got = int(registers[component])
                want = loaded(raw[16 * lane : 16 * lane + 16], names[n], component, short)
                if want is None:
                    nan = got & 0x7FFF if short else got & 0x7FFFFFFF
                    assert nan > (0x7C00 if short else 0x7F800000), (names[n], lane, component, hex(got))
                else:
                    assert got == want, (names[n], lane, component, hex(got), hex(want))


@pytest.mark.parametrize("integers", [False, True])
def test_every_store_format(asm: Assembler, integers: bool) -> None:
    names = format_names(asm.mc)
    numbers = [n for n in range(1, 64) if integers == names[n].endswith("int")]
    if integers:
        values = raw_input(2)
    else:
        rng = np.random.default_rng(5)
        values = np.resize(np.array(FLOATS, np.float32), 128).view(np.uint32).copy()
        values[64:96] = (rng.standard_normal(32) * 300).astype(np.float32).view(np.uint32)
        values[96:] = rng.random(32).astype(np.float32).view(np.uint32)
    body = head(False)
    for n in numbers:
        body += f"  tbuffer_store_format_xyzw v[12:15], v1, s[20:23], s24 format:{n} offen\n  s_add_u32 s24, s24, 512\n"
    outcome, out = asm.run(body + "  s_endpgm\n", values, 128 * len(numbers))
    assert isinstance(outcome, Completed), outcome
    for row, n in zip(out.reshape(len(numbers), LANES, 4), numbers, strict=True):
        kind, places = fields(names[n])
        for lane in range(LANES):
            bits = int.from_bytes(row[lane].tobytes(), "little")
            for component, (low, width) in enumerate(places):
                got = bits >> low & ((1 << width) - 1)
                want = stored(int(values[4 * lane + component]), width, kind)
                if want is None:
                    assert math.isnan(number(got, width, "float")), (names[n], lane)
                else:
                    assert got == want, (names[n], lane, component, hex(got), hex(want))


def test_fewer_components_and_halves(asm: Assembler) -> None:
    """Loads of 1 to 3 components leave the other registers alone; stores repeat the first component."""
    data = raw_input(3)
    body = (
        head(False)
        + "".join(f"  v_mov_b32 v{k}, 0x1234{k:04x}\n" for k in range(8, 12))
        + """
  tbuffer_load_d16_format_xyz v[8:9], v1, s[16:19], 0 format:[BUF_FMT_16_16_16_16_UINT] offen
  buffer_load_d16_hi_format_x v10, v1, s[16:19], 0 offen
  tbuffer_load_format_x v11, v1, s[16:19], 0 format:[BUF_FMT_8_8_UINT] offen
  s_waitcnt vmcnt(0)
  global_store_b128 v1, v[8:11], s[6:7]
  s_mov_b32 s24, 512
  tbuffer_store_format_xy v[12:13], v1, s[20:23], s24 format:[BUF_FMT_8_8_8_8_UINT] offen
  s_mov_b32 s24, 1024
  tbuffer_store_d16_format_xyz v[12:13], v1, s[20:23], s24 format:[BUF_FMT_16_16_16_16_UINT] offen
  s_endpgm
"""
    )
    # The resource's format is 16_float (13): set it where the head leaves 22 (32_float).
    body = body.replace("s_mov_b32 s19, 0x31016fac", f"s_mov_b32 s19, {0x31000FAC | 13 << 12:#x}")
    outcome, out = asm.run(body, data, 128 * 3)
    assert isinstance(outcome, Completed), outcome
    first, second, third = out.reshape(3, LANES, 4)
    for lane in range(LANES):
        words = data[4 * lane : 4 * lane + 4].tolist()
        halves = [words[0] & 0xFFFF, words[0] >> 16, words[1] & 0xFFFF]
        assert first[lane].tolist() == [
            words[0], 0x12340000 | halves[2], (words[0] & 0xFFFF) << 16 | 10, words[0] & 0xFF,
        ]  # fmt: skip
        x, y = (min(w, 255) for w in words[:2])
        assert int(second[lane][0]) == x | y << 8 | x << 16 | x << 24
        assert third[lane][:2].tolist() == [words[0], (words[1] & 0xFFFF) | (words[0] & 0xFFFF) << 16]


def test_resource_format_selectors_and_range(asm: Assembler) -> None:
    """The resource names the format and where each component comes from; out of range is 0, a selected 1 stays 1."""
    data = raw_input(4)
    # X from W, Y constant 1, Z constant 0, W from X; 8_8_8_8_UINT (46) and UNORM (42); 20 of 32 records are in range.
    select = 7 | 1 << 3 | 0 << 6 | 4 << 9
    body = (
        head(False)
        + f"""
  s_or_b32 s17, s17, {4 << 16:#x}
  s_mov_b32 s18, 20
  s_mov_b32 s19, {46 << 12 | select:#x}
  buffer_load_format_xyzw v[8:11], v0, s[16:19], 0 idxen
  s_waitcnt vmcnt(0)
  global_store_b128 v1, v[8:11], s[6:7]
  s_mov_b32 s19, {42 << 12 | select:#x}
  buffer_load_format_xyzw v[8:11], v0, s[16:19], 0 idxen
  s_waitcnt vmcnt(0)
  global_store_b128 v1, v[8:11], s[6:7] offset:512
  s_or_b32 s21, s21, {4 << 16:#x}
  s_mov_b32 s22, 20
  s_mov_b32 s23, {46 << 12 | 0xFAC:#x}
  s_mov_b32 s24, 1024
  buffer_store_format_xyzw v[12:15], v0, s[20:23], s24 idxen
  s_endpgm
"""
    )
    outcome, out = asm.run(body, data, 128 * 2 + 32)
    assert isinstance(outcome, Completed), outcome
    raw = data.tobytes()
    for lane in range(LANES):
        x, _, _, w = raw[4 * lane : 4 * lane + 4] if lane < 20 else (0, 0, 0, 0)
        assert out[4 * lane : 4 * lane + 4].tolist() == [w, 1, 0, x]
        unit = [encode(Fraction(v, 255), "f32") for v in (w, 255, 0, x)]
        assert out[128 + 4 * lane : 132 + 4 * lane].tolist() == unit
        if lane < 20:
            want = bytes(min(int(v), 255) for v in data[4 * lane : 4 * lane + 4])
            assert out[256 + lane].tobytes() == want
    assert out[276:].tobytes() == bytes(48)  # a fresh buffer holds zeros: nothing was stored


def gfx9_head(word: int) -> str:
    """Input (1024 bytes, with ``word`` as the last of its resource) and output addresses, v1 4 bytes and v2 16 a lane."""
    return f"""
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_lshlrev_b32_e32 v2, 4, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s16, s4
  s_mov_b32 s17, s5
  s_mov_b32 s18, 1024
  s_mov_b32 s19, {word:#x}
"""


def test_split_formats_of_gfx9(asm: Assembler) -> None:
    """gfx942 spells layout and number type apart, and its resource holds them in other bits."""
    data = np.resize(raw_input(6), 256)
    body = (
        gfx9_head(0x4DFAC)
        + """
  tbuffer_load_format_xyzw v[8:11], v1, s[16:19], 0 format:[BUF_DATA_FORMAT_2_10_10_10,BUF_NUM_FORMAT_SNORM] offen
  buffer_load_format_xyzw v[12:15], v1, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v2, v[8:11], s[6:7]
  global_store_dwordx4 v2, v[12:15], s[6:7] offset:1024
  s_endpgm
"""
    )
    # 0x4d000: data format 9 (2_10_10_10), number format 5 (sint).
    outcome, out = asm.run(body, data, 512, processor="gfx942", wave=64)
    assert isinstance(outcome, Completed), outcome
    for lane in range(64):
        raw = data[lane : lane + 1].tobytes()
        for component in range(4):
            assert int(out[4 * lane + component]) == loaded(raw, "2_10_10_10_snorm", component, False)
            assert int(out[256 + 4 * lane + component]) == loaded(raw, "2_10_10_10_sint", component, False)


def test_an_unknown_format_is_a_fault(asm: Assembler) -> None:
    body = head(False) + "  tbuffer_load_format_x v8, v1, s[16:19], 0 format:70 offen\n  s_endpgm\n"
    outcome, _ = asm.run(body, raw_input(1), 1)
    assert isinstance(outcome, Faulted) and outcome.fault.kind == "unsupported_format" and "70" in outcome.fault.message


def test_an_unbound_resource_gives_zeros(asm: Assembler) -> None:
    body = (
        head(False)
        + """
  s_mov_b32 s19, 0
  buffer_load_format_xy v[12:13], v1, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  global_store_b64 v1, v[12:13], s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body, raw_input(1), 128)
    assert isinstance(outcome, Completed), outcome
    assert all(out[4 * lane : 4 * lane + 2].tolist() == [0, 0] for lane in range(LANES))


def test_split_formats_as_halves(asm: Assembler) -> None:
    """gfx942's D16 forms, typed and by resource, both ways."""
    data = np.resize(raw_input(8), 256)
    body = (
        gfx9_head(0x50FAC)
        + """
  v_mov_b32_e32 v8, 0
  v_mov_b32_e32 v9, 0
  v_mov_b32_e32 v10, 0x12345678
  v_mov_b32_e32 v11, 0x12345678
  tbuffer_load_format_d16_xyzw v[8:9], v1, s[16:19], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_SSCALED] offen
  buffer_load_format_d16_hi_x v10, v1, s[16:19], 0 offen
  buffer_load_format_d16_x v11, v1, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v2, v[8:11], s[6:7]
  s_mov_b32 s16, s6
  s_mov_b32 s17, s7
  s_mov_b32 s18, -1
  s_mov_b32 s24, 1024
  tbuffer_store_format_d16_xyzw v[8:9], v1, s[16:19], s24 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_SSCALED] offen
  s_mov_b32 s24, 1280
  buffer_store_format_d16_hi_x v10, v1, s[16:19], s24 offen
  s_endpgm
"""
    )
    # 0x50000: data format 10 (8_8_8_8), number format 0 (unorm).
    outcome, out = asm.run(body, data, 256 + 128, processor="gfx942", wave=64)
    assert isinstance(outcome, Completed), outcome
    for lane in range(64):
        raw = data[lane : lane + 1].tobytes()
        halves = out[4 * lane : 4 * lane + 4].view(np.uint16).tolist()
        scaled = [loaded(raw, "8_8_8_8_sscaled", k, True) for k in range(4)]
        unit = loaded(raw, "8_8_8_8_unorm", 0, True)
        assert halves == [*scaled, 0x5678, unit, unit, 0x1234]
        assert out[256 + lane].tobytes() == raw  # small integers survive as halves
        assert out[320 + lane].tobytes() == bytes([raw[0]] * 4)  # the one component given fills the others


@pytest.mark.parametrize(("register", "bits"), [("s17", 1 << 31), ("s17", 1 << 30), ("s19", 1 << 23)])
def test_a_swizzled_resource_is_a_fault(asm: Assembler, register: str, bits: int) -> None:
    body = (
        head(False)
        + f"  s_or_b32 {register}, {register}, {bits:#x}\n  buffer_load_b32 v8, v1, s[16:19], 0 offen\n  s_endpgm\n"
    )
    outcome, _ = asm.run(body, raw_input(1), 1)
    assert isinstance(outcome, Faulted) and outcome.fault.kind == "unsupported_resource"


def test_gfx9_cache_swizzling_changes_nothing(asm: Assembler) -> None:
    """Bit 62 of gfx942's resource concerns banks of the cache only."""
    body = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s16, s4
  s_or_b32 s17, s5, 0x40000000
  s_mov_b32 s18, 256
  s_mov_b32 s19, 0x27000
  buffer_load_dword v8, v1, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  global_store_dword v1, v8, s[6:7]
  s_endpgm
"""
    data = np.resize(raw_input(9), 64)
    outcome, out = asm.run(body, data, 64, processor="gfx942", wave=64)
    assert isinstance(outcome, Completed), outcome
    assert (out == data).all()
