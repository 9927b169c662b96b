"""Kernels that execute many instructions of one family each, with NumPy's results: the text of each instruction beside its definition.

Every lane reads 64-bit words x, y and z of three buffers; an :class:`Op` says what to execute and what the register pairs it
names hold afterwards. Registers: v[2:3] x, v[4:5] y, v[6:7] z, v[10:13] results; scalar families get the first lane's words in
s[20:21], s[22:23], s[24:25] and give s[30:31] and SCC. Definitions are AMD's RDNA 3 instruction set document's, written with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64
i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
f16, f32, f64 = np.float16, np.float32, np.float64
Words = Any  # arrays of unsigned 64-bit words
Define = Callable[..., Any]


@dataclass(frozen=True)
class Op:
    """Instructions, separated by semicolons, and the values of (``register``, type) pairs from the words x, y, z.

    ``results`` maps a register pair's first register to (NumPy type, definition). ``tolerance`` is absolute and relative.
    """

    text: str
    results: tuple[tuple[int, Any, Define], ...]
    tolerance: float = 0.0


@dataclass
class Family:
    """A kernel: a name, what inputs it takes, what it executes."""

    name: str
    ops: list[Op]
    inputs: Callable[[Any, int], list[Any]]
    scalar: bool = False
    lds: int = 0
    scratch: int = 0
    before: str = ""


def view(words: Words, kind: Any, index: int = 0) -> Any:
    """Element ``index`` of each 64-bit word, as a NumPy type."""
    per = 8 // np.dtype(kind).itemsize
    return np.ascontiguousarray(words).view(kind).reshape(-1, per)[:, index]


def words_of(*parts: Any) -> Words:
    """64-bit words from elements of 32 bits (low, high) or 64 bits."""
    first = np.asarray(parts[0])
    if first.dtype.itemsize == 8:
        return first.view(u64)
    high = parts[1] if len(parts) > 1 else np.zeros(len(first), u32)
    return first.view(u32).astype(u64) | np.asarray(high).view(u32).astype(u64) << u64(32)


def integers(rng: Any, n: int) -> list[Any]:
    """Random words; some small, some with equal halves, some zero."""
    made = []
    for k in range(3):
        words = rng.integers(0, 1 << 64, n, dtype=u64)
        words[k::7] &= u64(0x1F0000001F)
        words[(k + 1) % 11 :: 11] = u64(0)
        words[k::13] = ~u64(0)
        made.append(words)
    made[1][::5] = made[0][::5]
    return made


def singles(rng: Any, n: int) -> list[Any]:
    """Single-precision numbers in the low words."""
    return [words_of((rng.standard_normal(n) * 100).astype(f32)) for _ in range(3)]


def special_singles(rng: Any, n: int) -> list[Any]:
    """Numbers, zeros, infinities, subnormals, quiet and signalling NaNs; y often equals x."""
    pool = np.array(
        [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 1, 0x80000001, 0x3F800000, 0xC0000000], u32
    )
    x, y = (
        np.where(rng.random(n) < 0.6, rng.choice(pool, n), rng.standard_normal(n).astype(f32).view(u32))
        for _ in range(2)
    )
    y[::4] = x[::4]
    mask = rng.integers(0, 1 << 10, n).astype(u32)
    return [words_of(x.astype(u32)), words_of(y.astype(u32)), words_of(mask)]


def special_halves(rng: Any, n: int) -> list[Any]:
    pool = np.array([0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 1, 0x8001, 0x3C00, 0xC000], u16)
    x, y = (
        np.where(rng.random(n) < 0.6, rng.choice(pool, n), rng.standard_normal(n).astype(f16).view(u16))
        for _ in range(2)
    )
    y[::4] = x[::4]
    mask = rng.integers(0, 1 << 10, n).astype(u32)
    return [words_of(x.astype(u32)), words_of(y.astype(u32)), words_of(mask)]


def special_doubles(rng: Any, n: int) -> list[Any]:
    pool = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.0, -2.0], f64)
    x, y = (np.where(rng.random(n) < 0.6, rng.choice(pool, n), rng.standard_normal(n)) for _ in range(2))
    y[::4] = x[::4]
    mask = rng.integers(0, 1 << 10, n).astype(u32)
    return [words_of(x), words_of(y), words_of(mask)]


def halves(rng: Any, n: int) -> list[Any]:
    """Two half-precision numbers in the low words."""
    return [
        words_of(np.ascontiguousarray(rng.standard_normal((n, 2)).astype(f16) * f16(8)).view(u32).reshape(n))
        for _ in range(3)
    ]


def small_halves(rng: Any, n: int) -> list[Any]:
    """Two small whole numbers in half precision: sums of products are exact."""
    return [
        words_of(np.ascontiguousarray(rng.integers(-8, 9, (n, 2)).astype(f16)).view(u32).reshape(n)) for _ in range(3)
    ]


def doubles(rng: Any, n: int) -> list[Any]:
    return [words_of(rng.standard_normal(n) * 100) for _ in range(3)]


def one(register: int, kind: Any, define: Define) -> tuple[tuple[int, Any, Define], ...]:
    return ((register, kind, define),)


def w32(text: str, define: Define, kind: Any = u32, **options: Any) -> Op:
    """An instruction of 32-bit words; ``define`` takes the low words of x, y, z as ``kind``."""
    return Op(text, one(10, kind, lambda x, y, z: define(*(view(w, kind) for w in (x, y, z)))), **options)


def _shift(amount: Any, bits: int) -> Any:
    return amount & u32(bits - 1)


def bytes_of(words: Any) -> Any:
    return np.ascontiguousarray(words).view(u8).reshape(len(words), -1).astype(i64)


def sad(a: Any, b: Any, masked: bool = False) -> Any:
    """Sum of the absolute differences of bytes; ``masked``: where the byte of ``b`` is not zero."""
    x, y = bytes_of(a.astype(u32)), bytes_of(b.astype(u32))
    difference = np.abs(x - y)
    return (np.where(y == 0, 0, difference) if masked else difference).sum(axis=1)


def quad(a: Any, b: Any, c: Any, masked: bool) -> Any:
    """Four sums over bytes that begin one later each, added to the four halves of ``c``."""
    total = u64(0)
    for i in range(4):
        word = (a >> u64(8 * i)).astype(u32)
        total = total | ((sad(word, b, masked).astype(u64) + (c >> u64(16 * i) & u64(0xFFFF))) & u64(0xFFFF)) << u64(
            16 * i
        )
    return total


def leading(values: Any, bits: int) -> Any:
    """Leading zeros, -1 for zero."""
    return np.array([bits - int(v).bit_length() if v else -1 for v in values.tolist()], i32)


def trailing(values: Any) -> Any:
    return np.array([(int(v) & -int(v)).bit_length() - 1 if v else -1 for v in values.tolist()], i32)


def sign_bits(values: Any, bits: int) -> Any:
    """Leading bits that equal the sign, -1 where all do."""
    found = []
    for v in values.tolist():
        u = ~v if v < 0 else v
        found.append(bits - u.bit_length() if u else -1)
    return np.array(found, i32)


def popcount(values: Any) -> Any:
    return np.array([int(v).bit_count() for v in values.tolist()], u32)


def pack(low: Any, high: Any) -> Any:
    return low.astype(i64).astype(u64) & u64(0xFFFF) | (high.astype(i64).astype(u64) & u64(0xFFFF)) << u64(16)


def middle(a: Any, b: Any, c: Any) -> Any:
    return np.sort(np.stack([a, b, c]), axis=0)[1]


def s24(v: Any) -> Any:
    return (v.astype(i64) << 40 & -1).astype(i64) >> 40


def clip(v: Any, low: int, high: int) -> Any:
    return np.clip(v.astype(f64), low, high)


VECTOR_32 = [
    w32("v_xor3_b32 v10, v2, v4, v6", lambda a, b, c: a ^ b ^ c), w32("v_xnor_b32 v10, v2, v4", lambda a, b, c: ~(a ^ b)),
    w32("v_not_b32 v10, v2", lambda a, b, c: ~a), w32("v_alignbit_b32 v10, v2, v4, v6", lambda a, b, c: (
        (a.astype(u64) << u64(32) | b) >> (c & u32(31)).astype(u64)).astype(u32)),
    w32("v_bfi_b32 v10, v2, v4, v6", lambda a, b, c: a & b | ~a & c),
    w32("v_bfm_b32 v10, v2, v4", lambda a, b, c: (((u64(1) << _shift(a, 32).astype(u64)) - u64(1)) << _shift(b, 32).astype(u64)).astype(u32)),
    w32("v_bcnt_u32_b32 v10, v2, v4", lambda a, b, c: popcount(a) + b),
    w32("v_max_u32 v10, v2, v4", lambda a, b, c: np.maximum(a, b)), w32("v_min_u32 v10, v2, v4", lambda a, b, c: np.minimum(a, b)),
    w32("v_min_i32 v10, v2, v4", lambda a, b, c: np.minimum(a, b), i32),
    w32("v_max3_u32 v10, v2, v4, v6", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    w32("v_min3_u32 v10, v2, v4, v6", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    w32("v_max3_i32 v10, v2, v4, v6", lambda a, b, c: np.maximum(np.maximum(a, b), c), i32),
    w32("v_min3_i32 v10, v2, v4, v6", lambda a, b, c: np.minimum(np.minimum(a, b), c), i32),
    w32("v_med3_u32 v10, v2, v4, v6", middle), w32("v_med3_i32 v10, v2, v4, v6", middle, i32),
    w32("v_maxmin_u32 v10, v2, v4, v6", lambda a, b, c: np.minimum(np.maximum(a, b), c)),
    w32("v_minmax_u32 v10, v2, v4, v6", lambda a, b, c: np.maximum(np.minimum(a, b), c)),
    w32("v_maxmin_i32 v10, v2, v4, v6", lambda a, b, c: np.minimum(np.maximum(a, b), c), i32),
    w32("v_minmax_i32 v10, v2, v4, v6", lambda a, b, c: np.maximum(np.minimum(a, b), c), i32),
    w32("v_add_nc_i32 v10, v2, v4", lambda a, b, c: a + b), w32("v_sub_nc_i32 v10, v2, v4", lambda a, b, c: a - b),
    w32("v_add_nc_i32 v10, v2, v4 clamp", lambda a, b, c: np.clip(a.astype(i64) + b, -(1 << 31), (1 << 31) - 1).astype(i32), i32),
    w32("v_mul_hi_i32 v10, v2, v4", lambda a, b, c: (a.astype(i64) * b >> 32).astype(i32), i32),
    w32("v_mul_i32_i24 v10, v2, v4", lambda a, b, c: (s24(a) * s24(b)).astype(u64)), w32("v_mul_hi_i32_i24 v10, v2, v4", lambda a, b, c: (
        (s24(a) * s24(b)) >> 32).astype(u64)),
    w32("v_mul_hi_u32_u24 v10, v2, v4", lambda a, b, c: ((a & u32(0xFFFFFF)).astype(u64) * (b & u32(0xFFFFFF)) >> u64(32))),
    w32("v_mad_i32_i24 v10, v2, v4, v6", lambda a, b, c: (s24(a) * s24(b) + c.astype(i64)).astype(u64)),
    w32("v_sad_u8 v10, v2, v4, v6", lambda a, b, c: sad(a, b).astype(u64) + c),
    w32("v_sad_hi_u8 v10, v2, v4, v6", lambda a, b, c: (sad(a, b).astype(u64) << u64(16)) + c),
    w32("v_msad_u8 v10, v2, v4, v6", lambda a, b, c: sad(a, b, True).astype(u64) + c),
    w32("v_sad_u32 v10, v2, v4, v6", lambda a, b, c: np.where(a > b, a - b, b - a) + c),
    w32("v_sad_u16 v10, v2, v4, v6", lambda a, b, c: sum(
        np.abs((a >> u32(s) & u32(0xFFFF)).astype(i64) - (b >> u32(s) & u32(0xFFFF)).astype(i64)) for s in (0, 16)).astype(u64) + c),
    w32("v_lerp_u8 v10, v2, v4, v6", lambda a, b, c: (
        (bytes_of(a) + bytes_of(b) + (bytes_of(c) & 1)) >> 1).astype(u8).view(u32).reshape(-1)),
    w32("v_clz_i32_u32 v10, v2", lambda a, b, c: leading(a, 32)), w32("v_ctz_i32_b32 v10, v2", lambda a, b, c: trailing(a)),
    w32("v_cls_i32 v10, v2", lambda a, b, c: sign_bits(a, 32), i32),
    w32("v_cvt_f32_ubyte0 v10, v2", lambda a, b, c: bytes_of(a)[:, 0].astype(f32).view(u32)),
    w32("v_cvt_f32_ubyte1 v10, v2", lambda a, b, c: bytes_of(a)[:, 1].astype(f32).view(u32)),
    w32("v_cvt_f32_ubyte2 v10, v2", lambda a, b, c: bytes_of(a)[:, 2].astype(f32).view(u32)),
    w32("v_cvt_f32_ubyte3 v10, v2", lambda a, b, c: bytes_of(a)[:, 3].astype(f32).view(u32)),
    w32("v_cvt_off_f32_i4 v10, v2", lambda a, b, c: (((a & u32(15)).astype(i32) ^ 8) - 8).astype(f32).__truediv__(f32(16)).view(u32)),
    w32("v_cvt_pk_i16_i32 v10, v2, v4", lambda a, b, c: pack(clip(a, -32768, 32767), clip(b, -32768, 32767)), i32),
    w32("v_cvt_pk_u16_u32 v10, v2, v4", lambda a, b, c: pack(clip(a, 0, 65535), clip(b, 0, 65535))),
    w32("v_mov_b32 v10, 0; v_sat_pk_u8_i16 v10, v2", lambda a, b, c: (
        np.clip((a & u32(0xFFFF)).astype(u16).view(i16).astype(i64), 0, 255) | np.clip((a >> u32(16)).astype(u16).view(i16).astype(i64), 0, 255) << 8
    ).astype(u64)),
    w32("v_dot8_u32_u4 v10, v2, v4, v6", lambda a, b, c: sum(
        (a >> u32(4 * k) & u32(15)).astype(u64) * (b >> u32(4 * k) & u32(15)) for k in range(8)) + c),
    w32("v_dot8_i32_iu4 v10, v2, v4, v6 neg_lo:[1,1,0]", lambda a, b, c: sum(
        (((a >> u32(4 * k) & u32(15)).astype(i64) ^ 8) - 8) * (((b >> u32(4 * k) & u32(15)).astype(i64) ^ 8) - 8)
        for k in range(8)).astype(u64) + c),
    w32("v_mov_b32 v10, v4; v_mov_b32 v12, v2; v_swap_b32 v10, v12", lambda a, b, c: a),
    w32("v_mov_b32_dpp v10, v2 row_share:3 row_mask:0xf bank_mask:0xf", lambda a, b, c: a.reshape(-1, 16)[:, 3].repeat(16)),
    w32("v_mov_b32 v10, v4; v_mov_b32_dpp v10, v2 row_shl:1 row_mask:0xf bank_mask:0xf", lambda a, b, c: np.where(
        np.arange(len(a)) % 16 == 15, b, np.roll(a, -1))),
    w32("v_mov_b32 v10, v4; v_mov_b32_dpp v10, v2 row_xmask:1 row_mask:0x1 bank_mask:0x5", lambda a, b, c: np.where(
        (np.arange(len(a)) // 16 % 2 == 0) & (np.arange(len(a)) // 4 % 2 == 0), a[np.arange(len(a)) ^ 1], b)),
    w32("v_mov_b32 v10, v4; v_mov_b32_dpp v10, v2 row_ror:4 row_mask:0xf bank_mask:0xf fi:1", lambda a, b, c: np.roll(
        a.reshape(-1, 16), 4, axis=1).reshape(-1)),
    w32("v_add3_u32_e64_dpp v10, v2, v4, v6 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", lambda a, b, c: a[np.arange(len(a)) ^ 1] + b + c),
    w32("v_add3_u32_e64_dpp v10, v2, v4, v6 dpp8:[7,6,5,4,3,2,1,0]", lambda a, b, c: a[np.arange(len(a)) ^ 7] + b + c),
    w32("s_mov_b32 m0, 0; s_nop 0; v_mov_b32 v11, v4; s_mov_b32 m0, 1; s_nop 0; v_movrels_b32 v10, v10", lambda a, b, c: b),
    w32("s_mov_b32 m0, 2; v_mov_b32 v12, v6; v_movreld_b32 v10, v2; v_mov_b32 v10, v12", lambda a, b, c: a),
]  # fmt: skip


def w64(text: str, define: Define, kind: Any = u64, **options: Any) -> Op:
    """An instruction of 64-bit words."""
    return Op(text, one(10, kind, lambda x, y, z: define(*(view(w, kind) for w in (x, y, z)))), **options)


VECTOR_64 = [
    w64("v_qsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]", lambda a, b, c: quad(a, b.astype(u32), c, False)),
    w64("v_mqsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]", lambda a, b, c: quad(a, b.astype(u32), c, True)),
    Op("v_mov_b32 v16, v6; v_mov_b32 v17, v7; v_mov_b32 v18, v2; v_mov_b32 v19, v3; v_mqsad_u32_u8 v[10:13], v[2:3], v4, v[16:19]", tuple(
        (10 + i, u32, lambda x, y, z, i=i: sad((x >> u64(8 * i)).astype(u32), y.astype(u32), True).astype(u64) + view((z, z, x, x)[i], u32, i & 1))
        for i in range(4))),
    w64("v_mad_i64_i32 v[10:11], s30, v2, v4, v[6:7]", lambda a, b, c: (view(a, i32).astype(i64) * view(b, i32) + c.view(i64)).view(u64)),
    w32("v_subrev_co_u32 v10, vcc_lo, v2, v4", lambda a, b, c: b - a),
]  # fmt: skip


def h16(text: str, define: Define, kind: Any = u16, **options: Any) -> Op:
    """An instruction of 16-bit words: low halves."""
    return Op(
        "v_mov_b32 v10, 0; " + text,
        one(10, kind, lambda x, y, z: define(*(view(w, kind) for w in (x, y, z)))),
        **options,
    )


def _per_half(define: Define, kind: Any) -> Define:
    def both(x: Any, y: Any, z: Any) -> Any:
        low, high = (np.asarray(define(*(view(w, kind, k) for w in (x, y, z)))).astype(kind).view(u16) for k in (0, 1))
        return low.astype(u32) | high.astype(u32) << u32(16)

    return both


def p16(text: str, define: Define, kind: Any = u16) -> Op:
    """A packed instruction."""
    return Op(text, one(10, u32, _per_half(define, kind)))


_L3 = "v10.l, v2.l, v4.l, v6.l"
_L2 = "v10.l, v2.l, v4.l"
VECTOR_16 = [
    h16(f"v_add_nc_u16 {_L2}", lambda a, b, c: a + b), h16(f"v_add_nc_i16 {_L2}", lambda a, b, c: a + b),
    h16(f"v_sub_nc_i16 {_L2}", lambda a, b, c: a - b), h16(f"v_and_b16 {_L2}", lambda a, b, c: a & b),
    h16(f"v_or_b16 {_L2}", lambda a, b, c: a | b), h16(f"v_xor_b16 {_L2}", lambda a, b, c: a ^ b),
    h16("v_not_b16 v10.l, v2.l", lambda a, b, c: ~a), h16(f"v_lshlrev_b16 {_L2}", lambda a, b, c: b << (a & u16(15))),
    h16(f"v_lshrrev_b16 {_L2}", lambda a, b, c: b >> (a & u16(15))),
    h16(f"v_ashrrev_i16 {_L2}", lambda a, b, c: b >> (a & i16(15)), i16),
    h16(f"v_max_i16 {_L2}", lambda a, b, c: np.maximum(a, b), i16), h16(f"v_min_i16 {_L2}", lambda a, b, c: np.minimum(a, b), i16),
    h16(f"v_max_u16 {_L2}", lambda a, b, c: np.maximum(a, b)), h16(f"v_min_u16 {_L2}", lambda a, b, c: np.minimum(a, b)),
    h16(f"v_mad_u16 {_L3}", lambda a, b, c: a * b + c), h16(f"v_mad_i16 {_L3}", lambda a, b, c: a * b + c),
    *[h16(f"v_{n}3_{t}16 {_L3}", f, k) for t, k in (("u", u16), ("i", i16)) for n, f in (
        ("max", lambda a, b, c: np.maximum(np.maximum(a, b), c)), ("min", lambda a, b, c: np.minimum(np.minimum(a, b), c)), ("med", middle))],
    w32("v_mad_u32_u16 v10, v2.l, v4.l, v6", lambda a, b, c: (a & u32(0xFFFF)) * (b & u32(0xFFFF)) + c),
    w32("v_mad_i32_i16 v10, v2.l, v4.l, v6", lambda a, b, c: (view(words_of(a), i16).astype(i64) * view(words_of(b), i16) + c).astype(u64)),
    w32("v_cvt_u32_u16 v10, v2.h", lambda a, b, c: a >> u32(16)),
    w32("v_cvt_i32_i16 v10, v2.l", lambda a, b, c: view(words_of(a), i16).astype(i32)),
    w32("v_mov_b32 v10, v4; v_swap_b16 v10.l, v10.h", lambda a, b, c: b >> u32(16) | b << u32(16)),
    p16("v_pk_add_i16 v10, v2, v4", lambda a, b, c: a + b), p16("v_pk_sub_i16 v10, v2, v4", lambda a, b, c: a - b),
    p16("v_pk_sub_u16 v10, v2, v4", lambda a, b, c: a - b), p16("v_pk_mad_i16 v10, v2, v4, v6", lambda a, b, c: a * b + c),
    p16("v_pk_mul_lo_u16 v10, v2, v4", lambda a, b, c: a * b), p16("v_pk_max_u16 v10, v2, v4", lambda a, b, c: np.maximum(a, b)),
    p16("v_pk_min_u16 v10, v2, v4", lambda a, b, c: np.minimum(a, b)), p16("v_pk_min_i16 v10, v2, v4", lambda a, b, c: np.minimum(a, b), i16),
    p16("v_pk_lshlrev_b16 v10, v2, v4", lambda a, b, c: b << (a & u16(15))), p16("v_pk_lshrrev_b16 v10, v2, v4", lambda a, b, c: b >> (a & u16(15))),
]  # fmt: skip


def wide_fma(a: Any, b: Any, c: Any) -> Any:
    """One rounding, through extended precision."""
    return a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)


def face(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any, Any]:
    """Cube map: face, s, t, twice the major axis."""
    big_z, big_y = (abs(z) >= abs(x)) & (abs(z) >= abs(y)), abs(y) >= abs(x)

    def pick(a: Any, b: Any, c: Any) -> Any:
        return np.where(big_z, a, np.where(big_y, b, c)).astype(f32)

    return (
        pick(np.where(z < 0, 5, 4), np.where(y < 0, 3, 2), np.where(x < 0, 1, 0)),
        pick(np.where(z < 0, -x, x), x, np.where(x < 0, z, -z)),
        pick(-y, np.where(y < 0, -z, z), -y), pick(2 * z, 2 * y, 2 * x),
    )  # fmt: skip


def s1(text: str, define: Define, tolerance: float = 0.0, kind: Any = f32) -> Op:
    """An instruction of single precision with a result of ``kind``."""
    return Op(text, one(10, kind, lambda x, y, z: define(*(view(w, f32) for w in (x, y, z)))), tolerance)


def _signed_norm(v: Any) -> Any:
    return np.rint(np.clip(v.astype(f64), -1, 1) * 32767)


def _norm(v: Any) -> Any:
    return np.rint(np.clip(v.astype(f64), 0, 1) * 65535)


_MAX = np.finfo(f32).max
SINGLE = [
    s1("v_ceil_f32 v10, v2", lambda a, b, c: np.ceil(a)), s1("v_floor_f32 v10, v2", lambda a, b, c: np.floor(a)),
    s1("v_rndne_f32 v10, v2", lambda a, b, c: np.rint(a)), s1("v_fract_f32 v10, v2", lambda a, b, c: a - np.floor(a)),
    s1("v_rsq_f32 v10, |v2|", lambda a, b, c: 1 / np.sqrt(np.abs(a).astype(f64)), 2e-7), s1("v_log_f32 v10, |v2|", lambda a, b, c: np.log2(np.abs(a).astype(f64)), 2e-6),
    s1("v_sin_f32 v10, v2", lambda a, b, c: np.where(abs(a) > 256, 0, np.sin(2 * np.pi * a.astype(f64))), 2e-6), s1("v_cos_f32 v10, v2", lambda a, b, c: np.where(abs(a) > 256, 1, np.cos(2 * np.pi * a.astype(f64))), 2e-6),
    s1("v_min_f32 v10, v2, v4", lambda a, b, c: np.minimum(a, b)), s1("v_mul_dx9_zero_f32 v10, v2, v4", lambda a, b, c: a * b),
    s1("v_mul_f32 v10, -|v2|, v4 mul:4", lambda a, b, c: -abs(a) * b * f32(4)), s1("v_add_f32 v10, |v2|, -v4 clamp div:2", lambda a, b, c: np.clip((abs(a) - b) / 2, 0, 1)),
    s1("v_fmaak_f32 v10, v2, v4, 0x41200000", lambda a, b, c: wide_fma(a, b, np.full_like(a, 10)).astype(f32)),
    s1("v_mov_b32 v10, v6; v_fmac_dx9_zero_f32 v10, v2, v4", lambda a, b, c: wide_fma(a, b, c).astype(f32)),
    s1("v_fma_dx9_zero_f32 v10, v2, v4, v6", lambda a, b, c: wide_fma(a, b, c).astype(f32)),
    s1("v_min3_f32 v10, v2, v4, v6", lambda a, b, c: np.minimum(np.minimum(a, b), c)), s1("v_med3_f32 v10, v2, v4, v6", middle),
    s1("v_maxmin_f32 v10, v2, v4, v6", lambda a, b, c: np.minimum(np.maximum(a, b), c)),
    s1("v_minmax_f32 v10, v2, v4, v6", lambda a, b, c: np.maximum(np.minimum(a, b), c)),
    s1("v_mullit_f32 v10, v2, v4, v6", lambda a, b, c: np.where(c > 0, a * b, -_MAX)),
    *[s1(f"v_cube{n}_f32 v10, v2, v4, v6", lambda a, b, c, k=k: face(a, b, c)[k]) for k, n in enumerate(("id", "sc", "tc", "ma"))],
    s1("v_cvt_f64_f32 v[10:11], v2", lambda a, b, c: a.astype(f64), kind=f64), s1("v_cvt_floor_i32_f32 v10, v2", lambda a, b, c: np.floor(a), kind=i32),
    s1("v_cvt_nearest_i32_f32 v10, v2", lambda a, b, c: np.floor(a.astype(f64) + 0.5), kind=i32),
    s1("v_cvt_pk_i16_f32 v10, v2, v4", lambda a, b, c: pack(np.trunc(clip(a, -32768, 32767)), np.trunc(clip(b, -32768, 32767))), kind=u32),
    s1("v_cvt_pk_u16_f32 v10, v2, v4", lambda a, b, c: pack(np.trunc(clip(a, 0, 65535)), np.trunc(clip(b, 0, 65535))), kind=u32),
    s1("v_cvt_pk_norm_i16_f32 v10, v2, v4", lambda a, b, c: pack(_signed_norm(a), _signed_norm(b)), kind=u32),
    s1("v_cvt_pk_norm_u16_f32 v10, v2, v4", lambda a, b, c: pack(_norm(a), _norm(b)), kind=u32),
    s1("v_cvt_pk_rtz_f16_f32 v10, v2, v4", lambda a, b, c: toward_zero(a).astype(u64) | toward_zero(b).astype(u64) << u64(16), kind=u32),
]  # fmt: skip


def toward_zero(values: Any) -> Any:
    """Half-precision bits, rounded toward zero; finite, normal inputs."""
    near = values.astype(f16)
    over = np.abs(near.astype(f64)) > np.abs(values.astype(f64))
    return near.view(u16) - over.astype(u16)


def h1(text: str, define: Define, tolerance: float = 0.0, kind: Any = f16) -> Op:
    """An instruction of half precision; computed in double precision, rounded once."""
    return Op(
        "v_mov_b32 v10, 0; " + text,
        one(10, kind, lambda x, y, z: define(*(view(w, f16).astype(f64) for w in (x, y, z)))),
        tolerance,
    )


HALF = [
    h1("v_ceil_f16 v10.l, v2.l", lambda a, b, c: np.ceil(a)), h1("v_trunc_f16 v10.l, v2.l", lambda a, b, c: np.trunc(a)),
    h1("v_rndne_f16 v10.l, v2.l", lambda a, b, c: np.rint(a)), h1("v_fract_f16 v10.l, v2.l", lambda a, b, c: np.minimum(a - np.floor(a), 1 - 2.0**-11)),
    h1("v_exp_f16 v10.l, v2.l", lambda a, b, c: np.exp2(a), 1e-3), h1("v_log_f16 v10.l, |v2.l|", lambda a, b, c: np.log2(np.abs(a)), 1e-3),
    h1("v_rsq_f16 v10.l, |v2.l|", lambda a, b, c: 1 / np.sqrt(np.abs(a)), 1e-3), h1("v_sin_f16 v10.l, v2.l", lambda a, b, c: np.sin(2 * np.pi * a), 2e-3),
    h1("v_cos_f16 v10.l, v2.l", lambda a, b, c: np.cos(2 * np.pi * a), 2e-3),
    h1("v_frexp_mant_f16 v10.l, v2.l", lambda a, b, c: np.frexp(a)[0]), h1("v_frexp_exp_i16_f16 v10.l, v2.l", lambda a, b, c: np.frexp(a)[1], kind=i16),
    h1(f"v_max_f16 {_L2}", lambda a, b, c: np.maximum(a, b)), h1(f"v_min_f16 {_L2}", lambda a, b, c: np.minimum(a, b)),
    h1(f"v_mul_f16 {_L2}", lambda a, b, c: a * b), h1(f"v_sub_f16 {_L2}", lambda a, b, c: a - b), h1(f"v_subrev_f16 {_L2}", lambda a, b, c: b - a),
    h1("v_ldexp_f16 v10.l, v2.l, 3", lambda a, b, c: a * 8), h1("v_fmaak_f16 v10.l, v2.l, v4.l, 0x4200", lambda a, b, c: a * b + 3),
    h1("v_fmamk_f16 v10.l, v2.l, 0x4200, v4.l", lambda a, b, c: a * 3 + b), h1(f"v_fma_f16 {_L3}", lambda a, b, c: a * b + c),
    h1(f"v_max3_f16 {_L3}", lambda a, b, c: np.maximum(np.maximum(a, b), c)), h1(f"v_min3_f16 {_L3}", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    h1(f"v_med3_f16 {_L3}", middle), h1(f"v_maxmin_f16 {_L3}", lambda a, b, c: np.minimum(np.maximum(a, b), c)),
    h1(f"v_minmax_f16 {_L3}", lambda a, b, c: np.maximum(np.minimum(a, b), c)),
    h1("v_cvt_i16_f16 v10.l, v2.l", lambda a, b, c: np.trunc(a), kind=i16), h1("v_cvt_u16_f16 v10.l, v2.l", lambda a, b, c: np.trunc(np.maximum(a, 0)), kind=u16),
    h1("v_cvt_norm_i16_f16 v10.l, v2.l", lambda a, b, c: _signed_norm(a), kind=i16), h1("v_cvt_norm_u16_f16 v10.l, v2.l", lambda a, b, c: _norm(a), kind=u16),
    Op("v_cvt_pk_norm_i16_f16 v10, v2.l, v4.l", one(10, u32, lambda x, y, z: pack(_signed_norm(view(x, f16)), _signed_norm(view(y, f16))))),
    Op("v_cvt_pk_norm_u16_f16 v10, v2.l, v4.l", one(10, u32, lambda x, y, z: pack(_norm(view(x, f16)), _norm(view(y, f16))))),
    Op("v_mov_b32 v10, v6; v_pk_fmac_f16 v10, v2, v4", one(10, u32, _per_half(
        lambda a, b, c: a.astype(f64) * b.astype(f64) + c.astype(f64), f16))),
    Op("v_mov_b32 v10, 0; v_fma_mixlo_f16 v10, v2, v4, v6 op_sel_hi:[1,1,1]", one(10, f16, lambda x, y, z: (
        view(x, f16).astype(f64) * view(y, f16) + view(z, f16)).astype(f16))),
    Op("v_mov_b32 v10, 0; v_fma_mixhi_f16 v10, v2, v4, v6 op_sel:[1,0,1] op_sel_hi:[1,1,1]", one(10, u32, lambda x, y, z: (
        view(x, f16, 1).astype(f64) * view(y, f16) + view(z, f16, 1)).astype(f16).view(u16).astype(u32) << u32(16))),
]  # fmt: skip
SMALL_HALF = [
    Op("v_dot2_f32_f16 v10, v2, v4, 1.0", one(10, f32, lambda x, y, z: sum(view(x, f16, k).astype(f64) * view(y, f16, k) for k in (0, 1)) + 1)),
    Op("v_mov_b32 v10, 0; v_dot2_f16_f16 v10.l, v2, v4, v6.l", one(10, f16, lambda x, y, z: sum(
        view(x, f16, k).astype(f64) * view(y, f16, k) for k in (0, 1)) + view(z, f16))),
    h1("v_cvt_f16_i16 v10.l, v2.l", lambda a, b, c: a.astype(f16).view(i16).astype(f64)),
    h1("v_cvt_f16_u16 v10.l, v2.l", lambda a, b, c: a.astype(f16).view(u16).astype(f64)),
    h1("v_div_fixup_f16 v10.l, v2.l, 1.0, v2.l", lambda a, b, c: a),
]  # fmt: skip


def bfloats(rng: Any, n: int) -> list[Any]:
    """Two small whole numbers as bfloat16."""
    made = []
    for _ in range(3):
        values = rng.integers(-8, 9, (n, 2)).astype(f32).view(u32) >> u32(16)
        made.append(words_of(values[:, 0] | values[:, 1] << u32(16)))
    return made


def bf(words: Any, half: int) -> Any:
    return (view(words, u16, half).astype(u32) << u32(16)).view(f32).astype(f64)


BFLOAT = [
    Op("v_dot2_f32_bf16 v10, v2, v4, 1.0", one(10, f32, lambda x, y, z: sum(bf(x, k) * bf(y, k) for k in (0, 1)) + 1)),
    Op("v_mov_b32 v10, 0; v_dot2_bf16_bf16 v10.l, v2, v4, v6.l", one(10, u16, lambda x, y, z: (
        (sum(bf(x, k) * bf(y, k) for k in (0, 1)) + bf(z, 0)).astype(f32).view(u32) >> u32(16)).astype(u16))),
]  # fmt: skip


def d1(text: str, define: Define, kind: Any = f64, tolerance: float = 0.0) -> Op:
    """An instruction of double precision."""
    return Op(text, one(10, kind, lambda x, y, z: define(*(view(w, f64) for w in (x, y, z)))), tolerance)


DOUBLE = [
    d1("v_ceil_f64 v[10:11], v[2:3]", lambda a, b, c: np.ceil(a)), d1("v_trunc_f64 v[10:11], v[2:3]", lambda a, b, c: np.trunc(a)),
    d1("v_rndne_f64 v[10:11], v[2:3]", lambda a, b, c: np.rint(a)), d1("v_fract_f64 v[10:11], v[2:3]", lambda a, b, c: a - np.floor(a)),
    d1("v_rsq_f64 v[10:11], |v[2:3]|", lambda a, b, c: 1 / np.sqrt(np.abs(a)), tolerance=1e-7),
    d1("v_sqrt_f64 v[10:11], |v[2:3]|", lambda a, b, c: np.sqrt(np.abs(a)), tolerance=1e-6),
    d1("v_frexp_mant_f64 v[10:11], v[2:3]", lambda a, b, c: np.frexp(a)[0]), d1("v_frexp_exp_i32_f64 v10, v[2:3]", lambda a, b, c: np.frexp(a)[1], i32),
    d1("v_ldexp_f64 v[10:11], v[2:3], -5", lambda a, b, c: a / 32), d1("v_min_f64 v[10:11], v[2:3], v[4:5]", lambda a, b, c: np.minimum(a, b)),
    d1("v_cvt_f32_f64 v10, v[2:3]", lambda a, b, c: a.astype(f32), f32), d1("v_cvt_i32_f64 v10, v[2:3]", lambda a, b, c: np.trunc(a), i32),
    d1("v_cvt_u32_f64 v10, |v[2:3]|", lambda a, b, c: np.trunc(np.abs(a)), u32),
    Op("v_cvt_f64_i32 v[10:11], v2", one(10, f64, lambda x, y, z: view(x, i32).astype(f64))),
    Op("v_cvt_f64_u32 v[10:11], v2", one(10, f64, lambda x, y, z: view(x, u32).astype(f64))),
]  # fmt: skip

CLASSES = (
    (0, "signalling"),
    (1, "quiet"),
    (2, "-inf"),
    (3, "-normal"),
    (4, "-subnormal"),
    (5, "-0"),
    (6, "+0"),
    (7, "+subnormal"),
    (8, "+normal"),
    (9, "+inf"),
)


def class_bit(bits: Any, exponent: int, mantissa: int) -> Any:
    """The bit of ``v_cmp_class``'s mask that describes a number."""
    width = 1 + exponent + mantissa
    found = []
    for v in bits.tolist():
        negative, e, m = v >> width - 1, v >> mantissa & (1 << exponent) - 1, v & (1 << mantissa) - 1
        if e == (1 << exponent) - 1:
            bit = (1 if m >> mantissa - 1 else 0) if m else (2 if negative else 9)
        elif e == 0:
            bit = (5 if negative else 6) if m == 0 else (4 if negative else 7)
        else:
            bit = 3 if negative else 8
        found.append(bit)
    return np.array(found)


_FLOAT_COMPARES: dict[str, Define] = {
    "f": lambda a, b: np.zeros(len(a), bool), "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "lg": lambda a, b: (a < b) | (a > b), "ge": lambda a, b: a >= b,
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)), "u": lambda a, b: np.isnan(a) | np.isnan(b), "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)), "ngt": lambda a, b: ~(a > b), "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b), "nlt": lambda a, b: ~(a < b), "t": lambda a, b: np.ones(len(a), bool),
}  # fmt: skip
_INTEGER_COMPARES: dict[str, Define] = {
    "f": lambda a, b: np.zeros(len(a), bool), "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ne": lambda a, b: a != b, "ge": lambda a, b: a >= b, "t": lambda a, b: np.ones(len(a), bool),
}  # fmt: skip
_TYPES = {"f16": f16, "f32": f32, "f64": f64, "i16": i16, "u16": u16, "i32": i32, "u32": u32, "i64": i64, "u64": u64}


def _compare_ops(suffix: str) -> list[Op]:
    kind = _TYPES[suffix]
    size = np.dtype(kind).itemsize
    a, b = {2: ("v2.l", "v4.l"), 4: ("v2", "v4"), 8: ("v[2:3]", "v[4:5]")}[size]
    ops = []
    compares = _FLOAT_COMPARES if suffix[0] == "f" else _INTEGER_COMPARES
    tests: list[tuple[str, str, Define]] = [
        (name, b, lambda x, y, z, f=f: f(view(x, kind), view(y, kind)))
        for name, f in compares.items()
        if not (size == 2 and suffix[0] != "f" and name in ("f", "t"))
    ]
    if suffix[0] == "f":
        bits, shape = {"f16": (u16, (5, 10)), "f32": (u32, (8, 23)), "f64": (u64, (11, 52))}[suffix]
        mask = "v6.l" if suffix == "f16" else "v6"
        tests.append(
            ("class", mask, lambda x, y, z: view(z, u32) >> class_bit(view(x, bits), *shape).astype(u32) & u32(1))
        )
    for name, other, define in tests:
        ops.append(
            Op(f"v_cmp_{name}_{suffix} vcc_lo, {a}, {other}; v_cndmask_b32 v10, 0, 1, vcc_lo", one(10, u32, define))
        )
        ops.append(Op(
            f"s_mov_b32 s30, exec_lo; v_mov_b32 v10, 0; v_cmpx_{name}_{suffix} {a}, {other}; v_mov_b32 v10, 1; s_mov_b32 exec_lo, s30",
            one(10, u32, define),
        ))  # fmt: skip
    return ops


FAMILIES = [
    Family("vector_32", VECTOR_32, integers, before="v_mov_b32 v11, 0"), Family("vector_64", VECTOR_64, integers),
    Family("vector_16", VECTOR_16, integers), Family("single", SINGLE, singles), Family("half", HALF, halves),
    Family("small_half", SMALL_HALF, small_halves), Family("bfloat", BFLOAT, bfloats), Family("double_ops", DOUBLE, doubles),
    *[Family(f"compare_{t}", _compare_ops(t), {"f16": special_halves, "f32": special_singles, "f64": special_doubles}.get(t, integers)) for t in _TYPES],
]  # fmt: skip
