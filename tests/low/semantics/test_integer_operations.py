"""Integer, bit, packed and scalar operations against definitions in Python's unbounded integers."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from loom.low.semantics.operation import OPERATIONS
from loom.low.semantics.table import evaluate

EDGES = [0, 1, 2, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001,
         0xFFFFFFFE, 0xFFFFFFFF, 0xAAAAAAAA, 0x00FF00FF, 0x0000FFFF]  # fmt: skip
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def s(value: int, bits: int = 32) -> int:
    """Signed reading of a bit pattern."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def reverse(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def leading(value: int, bits: int) -> int:
    return M32 if value == 0 else bits - value.bit_length()


def trailing(value: int) -> int:
    return M32 if value == 0 else (value & -value).bit_length() - 1


def sign_bits(value: int, bits: int) -> int:
    same = value ^ ((1 << bits) - 1) if value >> (bits - 1) else value
    return leading(same, bits)


def field(value: int, offset: int, width: int, bits: int, signed: bool) -> int:
    if width == 0:
        return 0
    width = min(width, bits - offset)
    part = value >> offset & ((1 << width) - 1)
    return s(part, width) if signed else part


def byte(value: int, i: int) -> int:
    return value >> (8 * i) & 0xFF


def permute_bytes(a: int, b: int, selector: int) -> int:
    wide = a << 32 | b
    result = 0
    for i in range(4):
        k = byte(selector, i)
        if k >= 13:
            v = 0xFF
        elif k == 12:
            v = 0
        elif k >= 8:
            v = 0xFF if wide >> (16 * (k - 8) + 15) & 1 else 0
        else:
            v = wide >> (8 * k) & 0xFF
        result |= v << (8 * i)
    return result


def median(a: int, b: int, c: int) -> int:
    return sorted((a, b, c))[1]


def sad(a: int, b: int, masked: bool = False) -> int:
    return sum(abs(byte(a, i) - byte(b, i)) for i in range(4) if not masked or byte(b, i))


def quads(data: int, reference: int, sums: int, masked: bool) -> int:
    result = 0
    for i in range(4):
        result |= ((sad(data >> (8 * i) & M32, reference, masked) + (sums >> (16 * i) & 0xFFFF)) & 0xFFFF) << (16 * i)
    return result


VECTOR: dict[str, Callable[..., int]] = {
    "v_mov_b32": lambda a: a, "v_mov_b64": lambda a: a, "v_not_b32": lambda a: ~a, "v_bfrev_b32": lambda a: reverse(a, 32),
    "v_and_b32": lambda a, b: a & b, "v_or_b32": lambda a, b: a | b, "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b), "v_and_or_b32": lambda a, b, c: a & b | c, "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xor3_b32": lambda a, b, c: a ^ b ^ c, "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c, "v_bfm_b32": lambda w, o: ((1 << (w & 31)) - 1) << (o & 31),
    "v_bfe_u32": lambda a, o, w: field(a, o & 31, w & 31, 32, False),
    "v_bfe_i32": lambda a, o, w: field(a, o & 31, w & 31, 32, True),
    "v_bcnt_u32_b32": lambda a, b: a.bit_count() + b, "v_clz_i32_u32": lambda a: leading(a, 32), "v_ctz_i32_b32": trailing,
    "v_cls_i32": lambda a: sign_bits(a, 32), "v_alignbit_b32": lambda a, b, n: (a << 32 | b) >> (n & 31),
    "v_alignbyte_b32": lambda a, b, n: (a << 32 | b) >> (8 * (n & 3)), "v_perm_b32": permute_bytes,
    "v_lerp_u8": lambda a, b, c: sum((byte(a, i) + byte(b, i) + (byte(c, i) & 1) >> 1) << (8 * i) for i in range(4)),
    "v_lshlrev_b32": lambda n, a: a << (n & 31), "v_lshrrev_b32": lambda n, a: a >> (n & 31),
    "v_ashrrev_i32": lambda n, a: s(a) >> (n & 31), "v_lshlrev_b64": lambda n, a: a << (n & 63),
    "v_lshrrev_b64": lambda n, a: a >> (n & 63), "v_ashrrev_i64": lambda n, a: s(a, 64) >> (n & 63),
    "v_lshl_add_u32": lambda a, n, b: (a << (n & 31)) + b, "v_add_lshl_u32": lambda a, b, n: (a + b & M32) << (n & 31),
    "v_lshl_or_b32": lambda a, n, b: a << (n & 31) | b, "v_lshl_add_u64": lambda a, n, b: (a << (n & 7)) + b,
    "v_add_nc_u32": lambda a, b: a + b, "v_sub_nc_u32": lambda a, b: a - b, "v_subrev_nc_u32": lambda a, b: b - a,
    "v_add_nc_i32": lambda a, b: a + b, "v_sub_nc_i32": lambda a, b: a - b, "v_add3_u32": lambda a, b, c: a + b + c,
    "v_mul_lo_u32": lambda a, b: a * b, "v_mul_hi_u32": lambda a, b: a * b >> 32, "v_mul_hi_i32": lambda a, b: s(a) * s(b) >> 32,
    "v_mul_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_i32_i24": lambda a, b: s(a, 24) * s(b, 24),
    "v_mul_hi_u32_u24": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_mul_hi_i32_i24": lambda a, b: s(a, 24) * s(b, 24) >> 32,
    "v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_mad_i32_i24": lambda a, b, c: s(a, 24) * s(b, 24) + c,
    "v_mad_u32_u16": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c,
    "v_mad_i32_i16": lambda a, b, c: s(a, 16) * s(b, 16) + c,
    "v_min_i32": lambda a, b: min(s(a), s(b)), "v_max_i32": lambda a, b: max(s(a), s(b)),
    "v_min_u32": min, "v_max_u32": max, "v_min3_u32": min, "v_max3_u32": max,
    "v_min3_i32": lambda *v: min(map(s, v)), "v_max3_i32": lambda *v: max(map(s, v)), "v_med3_u32": median,
    "v_med3_i32": lambda *v: median(*map(s, v)), "v_minmax_u32": lambda a, b, c: max(min(a, b), c),
    "v_maxmin_u32": lambda a, b, c: min(max(a, b), c), "v_minmax_i32": lambda a, b, c: max(min(s(a), s(b)), s(c)),
    "v_maxmin_i32": lambda a, b, c: min(max(s(a), s(b)), s(c)), "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_sad_u16": lambda a, b, c: abs((a & 0xFFFF) - (b & 0xFFFF)) + abs((a >> 16) - (b >> 16)) + c,
    "v_sad_u8": lambda a, b, c: sad(a, b) + c, "v_sad_hi_u8": lambda a, b, c: (sad(a, b) << 16) + c,
    "v_msad_u8": lambda a, b, c: sad(a, b, True) + c, "v_qsad_pk_u16_u8": lambda a, b, c: quads(a, b, c, False),
    "v_mqsad_pk_u16_u8": lambda a, b, c: quads(a, b, c, True),
    "v_cvt_i32_i16": lambda a: s(a, 16), "v_cvt_u32_u16": lambda a: a & 0xFFFF,
    "v_cvt_pk_i16_i32": lambda a, b: clamp(s(a), -32768, 32767) & 0xFFFF | (clamp(s(b), -32768, 32767) & 0xFFFF) << 16,
    "v_cvt_pk_u16_u32": lambda a, b: min(a, 65535) | min(b, 65535) << 16,
    "v_dot4_u32_u8": lambda a, b, c: sum(byte(a, i) * byte(b, i) for i in range(4)) + c,
    "v_dot4_i32_i8": lambda a, b, c: sum(s(byte(a, i), 8) * s(byte(b, i), 8) for i in range(4)) + c,
    "v_dot8_u32_u4": lambda a, b, c: sum((a >> 4 * i & 15) * (b >> 4 * i & 15) for i in range(8)) + c,
    "v_dot8_i32_i4": lambda a, b, c: sum(s(a >> 4 * i, 4) * s(b >> 4 * i, 4) for i in range(8)) + c,
    "v_dot2_u32_u16": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + (a >> 16) * (b >> 16) + c,
    "v_dot2_i32_i16": lambda a, b, c: s(a, 16) * s(b, 16) + s(a >> 16, 16) * s(b >> 16, 16) + c,
}  # fmt: skip

HALF: dict[str, Callable[..., int]] = {
    "v_and_b16": lambda a, b: a & b, "v_or_b16": lambda a, b: a | b, "v_xor_b16": lambda a, b: a ^ b, "v_not_b16": lambda a: ~a,
    "v_mov_b16": lambda a: a, "v_lshlrev_b16": lambda n, a: a << (n & 15), "v_lshrrev_b16": lambda n, a: a >> (n & 15),
    "v_ashrrev_i16": lambda n, a: s(a, 16) >> (n & 15), "v_add_nc_u16": lambda a, b: a + b, "v_sub_nc_u16": lambda a, b: a - b,
    "v_subrev_u16": lambda a, b: b - a, "v_add_nc_i16": lambda a, b: a + b, "v_sub_nc_i16": lambda a, b: a - b,
    "v_mul_lo_u16": lambda a, b: a * b, "v_mad_u16": lambda a, b, c: a * b + c, "v_mad_i16": lambda a, b, c: a * b + c,
    "v_min_u16": min, "v_max_u16": max, "v_min_i16": lambda a, b: min(s(a, 16), s(b, 16)),
    "v_max_i16": lambda a, b: max(s(a, 16), s(b, 16)), "v_min3_u16": min, "v_max3_u16": max, "v_med3_u16": median,
    "v_min3_i16": lambda *v: min(s(x, 16) for x in v), "v_max3_i16": lambda *v: max(s(x, 16) for x in v),
    "v_med3_i16": lambda *v: median(*(s(x, 16) for x in v)),
}  # fmt: skip

PACKED: dict[str, Callable[..., int]] = {
    "v_pk_add_u16": lambda a, b: a + b, "v_pk_add_i16": lambda a, b: a + b, "v_pk_sub_u16": lambda a, b: a - b,
    "v_pk_sub_i16": lambda a, b: a - b, "v_pk_mul_lo_u16": lambda a, b: a * b, "v_pk_mad_u16": lambda a, b, c: a * b + c,
    "v_pk_mad_i16": lambda a, b, c: a * b + c, "v_pk_min_u16": min, "v_pk_max_u16": max,
    "v_pk_min_i16": lambda a, b: min(s(a, 16), s(b, 16)), "v_pk_max_i16": lambda a, b: max(s(a, 16), s(b, 16)),
    "v_pk_lshlrev_b16": lambda n, a: a << (n & 15), "v_pk_lshrrev_b16": lambda n, a: a >> (n & 15),
    "v_pk_ashrrev_i16": lambda n, a: s(a, 16) >> (n & 15),
}  # fmt: skip


def words(rng: np.random.Generator, count: int) -> list[int]:
    picks = rng.integers(0, 2, count)
    return [int(rng.choice(EDGES)) if p else int(rng.integers(0, 1 << 32)) for p in picks]


def operand(type_: str, rng: np.random.Generator) -> tuple[Any, list[int]]:
    """The argument for ``evaluate`` and its value in each lane."""
    if type_ in ("i64", "f64"):
        low, high = words(rng, 32), words(rng, 32)
        arrays = [np.array(low, dtype=np.uint32), np.array(high, dtype=np.uint32)]
        return arrays, [a | b << 32 for a, b in zip(low, high, strict=True)]
    values = words(rng, 32)
    return np.array(values, dtype=np.uint32), values


def results(found: dict[str, Any], position: int = 0) -> list[int]:
    parts = [np.broadcast_to(w, (32,)) for w in found["results"][position]]
    return [sum(int(p[lane]) << (32 * k) for k, p in enumerate(parts)) for lane in range(32)]


@pytest.mark.parametrize("name", VECTOR)
def test_vector(name: str) -> None:
    operation = OPERATIONS[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    mask = M64 if operation.results[0] == "i64" else M32
    for _ in range(8):
        arguments, values = zip(*(operand(t, rng) for t in operation.inputs), strict=True)
        got = results(evaluate(name, list(arguments)))
        assert got == [VECTOR[name](*v) & mask for v in zip(*values, strict=True)]


@pytest.mark.parametrize("high", [0, 1])
@pytest.mark.parametrize("name", HALF)
def test_half(name: str, high: int) -> None:
    """Sources and destination in the low or the high half; the other half of the destination is kept."""
    operation = OPERATIONS[name]
    rng = np.random.default_rng(3)
    for _ in range(8):
        arguments, values = zip(*(operand(t, rng) for t in operation.inputs), strict=True)
        old = np.array(words(rng, 32), dtype=np.uint32)
        op_sel = 15 if high else 0
        got = results(evaluate(name, list(arguments), old=[old], modifiers={"op_sel": op_sel}))
        for lane in range(32):
            sources = [v[lane] >> (16 * high) & 0xFFFF for v in values]
            value = HALF[name](*sources) & 0xFFFF
            kept = int(old[lane])
            assert got[lane] == (kept & 0xFFFF | value << 16 if high else kept & 0xFFFF0000 | value)


@pytest.mark.parametrize("name", PACKED)
def test_packed(name: str) -> None:
    operation = OPERATIONS[name]
    rng = np.random.default_rng(4)
    for op_sel, op_sel_hi in ((0, 7), (7, 0), (1, 6), (2, 5)):
        arguments, values = zip(*(operand(t, rng) for t in operation.inputs), strict=True)
        got = results(evaluate(name, list(arguments), modifiers={"op_sel": op_sel, "op_sel_hi": op_sel_hi}))
        for lane in range(32):
            low = [v[lane] >> (16 * (op_sel >> i & 1)) & 0xFFFF for i, v in enumerate(values)]
            high = [v[lane] >> (16 * (op_sel_hi >> i & 1)) & 0xFFFF for i, v in enumerate(values)]
            assert got[lane] == PACKED[name](*low) & 0xFFFF | (PACKED[name](*high) & 0xFFFF) << 16


@pytest.mark.parametrize(
    ("name", "width", "signed", "function"),
    [
        ("v_add_nc_u32", 32, False, lambda a, b: a + b), ("v_sub_nc_u32", 32, False, lambda a, b: a - b),
        ("v_add_nc_i32", 32, True, lambda a, b: a + b), ("v_sub_nc_i32", 32, True, lambda a, b: a - b),
        ("v_pk_add_u16", 16, False, lambda a, b: a + b), ("v_pk_sub_i16", 16, True, lambda a, b: a - b),
        ("v_mad_u32_u24", 32, False, None), ("v_dot4_u32_u8", 32, False, None), ("v_dot4_i32_i8", 32, True, None),
    ],
)  # fmt: skip
def test_saturation(name: str, width: int, signed: bool, function: Callable[[int, int], int] | None) -> None:
    operation = OPERATIONS[name]
    rng = np.random.default_rng(5)
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    for _ in range(8):
        arguments, values = zip(*(operand(t, rng) for t in operation.inputs), strict=True)
        got = results(evaluate(name, list(arguments), modifiers={"clamp": 1}))
        for lane in range(32):
            lanes = [v[lane] for v in values]
            if function is None:
                # The addend is signed where the sum is.
                lanes[2] = s(lanes[2]) if signed else lanes[2]
                want = clamp(VECTOR[name](*lanes), low, high) & M32
            elif width == 32:
                pair = [s(v) if signed else v for v in lanes]
                want = clamp(function(*pair), low, high) & M32
            else:
                want = 0
                for half in range(2):
                    pair = [s(v >> 16 * half, 16) if signed else v >> 16 * half & 0xFFFF for v in lanes]
                    want |= (clamp(function(*pair), low, high) & 0xFFFF) << 16 * half
            assert got[lane] == want


@pytest.mark.parametrize(
    ("name", "carries", "function"),
    [
        ("v_add_co_u32", False, lambda a, b, k: a + b), ("v_sub_co_u32", False, lambda a, b, k: a - b),
        ("v_subrev_co_u32", False, lambda a, b, k: b - a), ("v_add_co_ci_u32", True, lambda a, b, k: a + b + k),
        ("v_sub_co_ci_u32", True, lambda a, b, k: a - b - k), ("v_subrev_co_ci_u32", True, lambda a, b, k: b - a - k),
    ],
)  # fmt: skip
def test_carries(name: str, carries: bool, function: Callable[[int, int, int], int]) -> None:
    rng = np.random.default_rng(6)
    exec_mask = 0xFFFF00FF
    for _ in range(16):
        (a, x), (b, y) = operand("i32", rng), operand("i32", rng)
        mask = int(rng.integers(0, 1 << 32))
        found = evaluate(name, [a, b, mask] if carries else [a, b], exec_mask=exec_mask)
        totals = [function(p, q, mask >> i & 1) for i, (p, q) in enumerate(zip(x, y, strict=True))]
        assert results(found) == [t & M32 for t in totals]
        out = sum(1 << i for i, t in enumerate(totals) if not 0 <= t <= M32 and exec_mask >> i & 1)
        assert int(found["results"][1][0][0]) == out


def test_wide_multiply_add() -> None:
    rng = np.random.default_rng(7)
    for name, read in (("v_mad_u64_u32", lambda v, n: v), ("v_mad_i64_i32", s)):
        (a, x), (b, y), (c, z) = operand("i32", rng), operand("i32", rng), operand("i64", rng)
        found = evaluate(name, [a, b, c])
        totals = [read(p, 32) * read(q, 32) + read(r, 64) for p, q, r in zip(x, y, z, strict=True)]
        assert results(found) == [t & M64 for t in totals]
        # Bit 64 of the exact sum: for signed numbers its sign.
        assert int(found["results"][1][0][0]) == sum((t >> 64 & 1) << i for i, t in enumerate(totals))


INTEGER_COMPARES: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "f": lambda a, b: False, "t": lambda a, b: True,
}  # fmt: skip


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("kind", ["i", "u"])
def test_integer_comparisons(kind: str, bits: int) -> None:
    rng = np.random.default_rng(8)
    for name, function in INTEGER_COMPARES.items():
        (a, x), (b, y) = operand(f"i{bits}", rng), operand(f"i{bits}", rng)
        mask = (1 << bits) - 1
        y = [p if i % 4 == 0 else q for i, (p, q) in enumerate(zip(x, y, strict=True))]
        if bits == 64:
            b = [np.array([v & M32 for v in y], dtype=np.uint32), np.array([v >> 32 for v in y], dtype=np.uint32)]
        else:
            b = np.array(y, dtype=np.uint32)
        read = (lambda v: s(v, bits)) if kind == "i" else (lambda v, m=mask: v & m)
        want = sum(1 << i for i, (p, q) in enumerate(zip(x, y, strict=True)) if function(read(p), read(q)))
        assert int(evaluate(f"v_cmp_{name}_{kind}{bits}", [a, b])["results"][0][0][0]) == want
        exec_mask = 0x0F0F0F0F
        found = evaluate(f"v_cmpx_{name}_{kind}{bits}", [a, b], exec_mask=exec_mask)
        assert found["state"]["exec"] == want & exec_mask


def wide_quad(value: int, bits: int) -> int:
    return sum(0xF << 4 * g for g in range(bits // 4) if value >> 4 * g & 0xF)


def quad_mask(value: int, bits: int) -> int:
    return sum(1 << g for g in range(bits // 4) if value >> 4 * g & 0xF)


def scalar_table() -> dict[str, Callable[..., tuple[int | None, int | None]]]:
    """Scalar operations: (result, SCC), None where there is none; the last argument is SCC before."""
    table: dict[str, Callable[..., tuple[int | None, int | None]]] = {}
    for bits in (32, 64):
        mask = (1 << bits) - 1
        logic = {
            "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "nand": lambda a, b: ~(a & b),
            "nor": lambda a, b: ~(a | b), "xnor": lambda a, b: ~(a ^ b), "and_not1": lambda a, b: a & ~b,
            "or_not1": lambda a, b: a | ~b,
        }  # fmt: skip
        for name, f in logic.items():
            table[f"s_{name}_b{bits}"] = lambda a, b, c, f=f, m=mask: (f(a, b) & m, int(f(a, b) & m != 0))
        unary = {
            f"s_not_b{bits}": lambda a, m=mask: ~a & m, f"s_wqm_b{bits}": lambda a, n=bits: wide_quad(a, n),
            f"s_quadmask_b{bits}": lambda a, n=bits: quad_mask(a, n),
            f"s_bcnt0_i32_b{bits}": lambda a, n=bits: n - a.bit_count(), f"s_bcnt1_i32_b{bits}": lambda a: a.bit_count(),
        }  # fmt: skip
        for name, g in unary.items():
            table[name] = lambda a, c, g=g: (g(a), int(g(a) != 0))
        plain = {
            f"s_mov_b{bits}": lambda a: a, f"s_brev_b{bits}": lambda a, n=bits: reverse(a, n),
            f"s_ctz_i32_b{bits}": trailing, f"s_clz_i32_u{bits}": lambda a, n=bits: leading(a, n),
            "s_cls_i32" if bits == 32 else "s_cls_i32_i64": lambda a, n=bits: sign_bits(a, n),
        }  # fmt: skip
        for name, g in plain.items():
            table[name] = lambda a, c, g=g: (g(a), None)
        top = bits - 1
        shifts = {
            f"s_lshl_b{bits}": lambda a, n, t=top: a << (n & t), f"s_lshr_b{bits}": lambda a, n, t=top: a >> (n & t),
            f"s_ashr_i{bits}": lambda a, n, t=top: s(a, t + 1) >> (n & t),
            f"s_bfe_u{bits}": lambda a, k, t=top: field(a, k & t, k >> 16 & 127, t + 1, False),
            f"s_bfe_i{bits}": lambda a, k, t=top: field(a, k & t, k >> 16 & 127, t + 1, True),
        }  # fmt: skip
        for name, g in shifts.items():
            table[name] = lambda a, n, c, g=g, m=mask: (g(a, n) & m, int(g(a, n) & m != 0))
        table[f"s_bfm_b{bits}"] = lambda w, o, c, t=top, m=mask: (((1 << (w & t)) - 1) << (o & t) & m, None)
        table[f"s_cselect_b{bits}"] = lambda a, b, c: (a if c else b, None)
        table[f"s_cmov_b{bits}"] = lambda old, a, c: (a if c else old, None)
        table[f"s_bitset0_b{bits}"] = lambda old, n, c, t=top, m=mask: (old & ~(1 << (n & t)) & m, None)
        table[f"s_bitset1_b{bits}"] = lambda old, n, c, t=top: (old | 1 << (n & t), None)
        table[f"s_bitcmp0_b{bits}"] = lambda a, n, c, t=top: (None, int(not a >> (n & t) & 1))
        table[f"s_bitcmp1_b{bits}"] = lambda a, n, c, t=top: (None, a >> (n & t) & 1)
    table["s_add_u32"] = lambda a, b, c: (a + b & M32, a + b >> 32)
    table["s_sub_u32"] = lambda a, b, c: (a - b & M32, int(a < b))
    table["s_addc_u32"] = lambda a, b, c: (a + b + c & M32, a + b + c >> 32)
    table["s_subb_u32"] = lambda a, b, c: (a - b - c & M32, int(a - b - c < 0))
    table["s_add_i32"] = lambda a, b, c: (a + b & M32, int(not -(1 << 31) <= s(a) + s(b) < 1 << 31))
    table["s_sub_i32"] = lambda a, b, c: (a - b & M32, int(not -(1 << 31) <= s(a) - s(b) < 1 << 31))
    table["s_add_u64"] = lambda a, b, c: (a + b & M64, None)
    table["s_sub_u64"] = lambda a, b, c: (a - b & M64, None)
    table["s_mul_u64"] = lambda a, b, c: (a * b & M64, None)
    table["s_mul_i32"] = lambda a, b, c: (a * b & M32, None)
    table["s_mul_hi_u32"] = lambda a, b, c: (a * b >> 32, None)
    table["s_mul_hi_i32"] = lambda a, b, c: (s(a) * s(b) >> 32 & M32, None)
    table["s_abs_i32"] = lambda a, c: (abs(s(a)) & M32, int(a != 0))
    table["s_absdiff_i32"] = lambda a, b, c: (abs(s(s(a) - s(b))) & M32, int(a != b))
    table["s_min_i32"] = lambda a, b, c: (min(s(a), s(b)) & M32, int(s(a) < s(b)))
    table["s_min_u32"] = lambda a, b, c: (min(a, b), int(a < b))
    table["s_max_i32"] = lambda a, b, c: (max(s(a), s(b)) & M32, int(s(a) >= s(b)))
    table["s_max_u32"] = lambda a, b, c: (max(a, b), int(a >= b))
    for n in (1, 2, 3, 4):
        table[f"s_lshl{n}_add_u32"] = lambda a, b, c, n=n: ((a << n) + b & M32, int((a << n) + b > M32))
    table["s_sext_i32_i8"] = lambda a, c: (s(a, 8) & M32, None)
    table["s_sext_i32_i16"] = lambda a, c: (s(a, 16) & M32, None)
    table["s_bitreplicate_b64_b32"] = lambda a, c: (sum(3 << 2 * i for i in range(32) if a >> i & 1), None)
    for name, x, y in (("ll", 0, 0), ("lh", 0, 16), ("hh", 16, 16), ("hl", 16, 0)):
        table[f"s_pack_{name}_b32_b16"] = lambda a, b, c, x=x, y=y: (a >> x & 0xFFFF | (b >> y & 0xFFFF) << 16, None)
    table["s_movk_i32"] = lambda k, c: (k, None)
    table["s_cmovk_i32"] = lambda old, k, c: (k if c else old, None)
    table["s_addk_i32"] = lambda a, b, c: (a + b & M32, int(not -(1 << 31) <= s(a) + s(b) < 1 << 31))
    table["s_mulk_i32"] = lambda a, b, c: (a * b & M32, None)
    compares = {"eq": "__eq__", "lg": "__ne__", "gt": "__gt__", "ge": "__ge__", "lt": "__lt__", "le": "__le__"}
    for name, method in compares.items():
        for prefix in ("s_cmp", "s_cmpk"):
            table[f"{prefix}_{name}_i32"] = lambda a, b, c, f=method: (None, int(getattr(s(a), f)(s(b))))
            table[f"{prefix}_{name}_u32"] = lambda a, b, c, f=method: (None, int(getattr(a, f)(b)))
    table["s_cmp_eq_u64"] = lambda a, b, c: (None, int(a == b))
    table["s_cmp_lg_u64"] = lambda a, b, c: (None, int(a != b))
    return table


SCALAR = scalar_table()


@pytest.mark.parametrize("name", SCALAR)
def test_scalar(name: str) -> None:
    operation = OPERATIONS[name]
    rng = np.random.default_rng(9)
    for _ in range(60):
        values = []
        arguments: list[Any] = []
        for type_ in operation.inputs:
            low, high = words(rng, 2)
            if rng.integers(4) == 0 and values:
                low = values[0] & M32
            if type_ == "i64":
                arguments.append([low, high])
                values.append(low | high << 32)
            else:
                arguments.append(low)
                values.append(low)
        scc = int(rng.integers(2))
        found = evaluate(name, arguments, state={"scc": scc})
        want, flag = SCALAR[name](*values, scc)
        if want is not None:
            got = sum(int(w[0]) << (32 * k) for k, w in enumerate(found["results"][0]))
            assert got == want, [hex(v) for v in values]
        if flag is not None:
            assert found["state"]["scc"] == flag, [hex(v) for v in values]


@pytest.mark.parametrize("bits", [32, 64])
def test_saveexec(bits: int) -> None:
    mask = (1 << bits) - 1
    rng = np.random.default_rng(10)
    functions = {
        "and": lambda a, e: a & e, "or": lambda a, e: a | e, "xor": lambda a, e: a ^ e, "nand": lambda a, e: ~(a & e),
        "nor": lambda a, e: ~(a | e), "xnor": lambda a, e: ~(a ^ e), "and_not1": lambda a, e: a & ~e,
        "or_not1": lambda a, e: a | ~e, "and_not0": lambda a, e: ~a & e, "or_not0": lambda a, e: ~a | e,
    }  # fmt: skip
    for name, function in functions.items():
        low, high, e0, e1 = words(rng, 4)
        value = (low | high << 32) & mask
        before = (e0 | e1 << 32) & mask
        found = evaluate(
            f"s_{name}_saveexec_b{bits}", [low if bits == 32 else [low, high]], wave=bits, exec_mask=before
        )
        new = function(value, before) & mask
        assert sum(int(w[0]) << 32 * k for k, w in enumerate(found["results"][0])) == before
        assert found["state"] == {"scc": int(new != 0), "exec": new}
        if name in ("and_not0", "and_not1"):
            found = evaluate(
                f"s_{name}_wrexec_b{bits}", [low if bits == 32 else [low, high]], wave=bits, exec_mask=before
            )
            assert sum(int(w[0]) << 32 * k for k, w in enumerate(found["results"][0])) == new
            assert found["state"] == {"scc": int(new != 0), "exec": new}


@pytest.mark.parametrize("table_", [0x00, 0xFF, 0xE8, 0x96, 0x1B, 0xCA])
def test_bitwise_truth_table(table_: int) -> None:
    rng = np.random.default_rng(12)
    (a, x), (b, y), (c, z) = (operand("i32", rng) for _ in range(3))
    got = results(evaluate("v_bitop3_b32", [a, b, c], modifiers={"bitop3": table_}))
    for lane in range(32):
        want = 0
        for bit in range(32):
            row = (x[lane] >> bit & 1) << 2 | (y[lane] >> bit & 1) << 1 | z[lane] >> bit & 1
            want |= (table_ >> row & 1) << bit
        assert got[lane] == want


def test_lowest_zero() -> None:
    for value, want in ((0, 0), (1, 1), (0xFFFF, 16), (M32, M32)):
        assert int(evaluate("s_ctz_not_i32_b32", [value])["results"][0][0][0]) == want
