"""Kernels of tests/native/extra (compiled at -O0 and -O2, in both wave sizes) and what NumPy says they compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.target.amdgpu.simulator import op_suite
from tests.target.amdgpu.simulator.native_suite import Case, Launch, ceil, f16, f32, i32, normal, u32

i64, u64, f64 = np.int64, np.uint64, np.float64


def doubles(n: int, rng: Any) -> Launch:
    x, y = rng.standard_normal(n) * 100, rng.standard_normal(n) + 3
    wide = np.longdouble
    quotient = x / y
    fused = (x.astype(wide) * y.astype(wide) + quotient.astype(wide)).astype(f64)
    want = fused + np.floor(x) - np.maximum(x, y)
    # The fused multiply-add is checked exactly elsewhere; extended precision may differ in the last place.
    return Launch([x, y, np.zeros(n), u32(n)], (ceil(n, 128),), (128,), {2: want}, tolerance=1e-12)


def longs(n: int, rng: Any) -> Launch:
    x, y = (rng.integers(-(1 << 62), 1 << 62, n) for _ in range(2))
    shift = (y & 63).astype(u64)
    with np.errstate(over="ignore"):
        want = (
            x * y + (x.astype(u64) << shift).astype(i64) - (y >> (shift >> u64(1)).astype(i64))
            + (x.astype(u64) >> u64(7)).astype(i64) + np.where(x < y, x ^ y, x & y)
            + np.fmod(x, (y & 1023) + 1)
        )  # fmt: skip
    return Launch([x, y, np.zeros(n, i64), u32(n)], (ceil(n, 128),), (128,), {2: want})


def single_division(n: int, rng: Any) -> Launch:
    """OpenCL's division without -cl-fp32-correctly-rounded: 2.5 units in the last place."""
    x, y = normal(rng, n), normal(rng, n)
    scale = np.exp2(rng.integers(-20, 20, n)).astype(f32)
    x = (x * scale).astype(f32)
    want = x.astype(f64) / y.astype(f64)
    return Launch([x, y, np.zeros(n, f32), u32(n)], (ceil(n, 128),), (128,), {2: want}, tolerance=3.0e-7)


def integer_division(n: int, rng: Any) -> Launch:
    x = rng.integers(-(1 << 31), 1 << 31, n).astype(i32)
    y = rng.integers(-1000, 1000, n).astype(i32)
    y[: n // 8] = 0
    safe = np.where(y == 0, 1, y).astype(i64)
    wide = x.astype(i64)
    quotient = np.trunc(wide / safe).astype(i64)
    want = np.where(y == 0, -1, quotient * 3 + (wide - quotient * safe)).astype(u64).astype(u32).view(i32)
    return Launch([x, y, np.zeros(n, i32), u32(n)], (ceil(n, 128),), (128,), {2: want})


def collatz(n: int, rng: Any) -> Launch:
    x = rng.integers(1, 10000, n).astype(u32)
    want = []
    for v in x.tolist():
        count = 0
        while v != 1:
            if v & 1:
                if v > 0x50000000:
                    break
                v = 3 * v + 1
            else:
                v >>= 1
            count += 1
        want.append(count)
    return Launch([x, np.zeros(n, u32), u32(n)], (ceil(n, 64),), (64,), {1: want})


def scratch_sort(n: int, rng: Any) -> Launch:
    x = rng.integers(-1000, 1000, (n, 16)).astype(i32)
    return Launch([x, np.zeros_like(x), u32(n)], (ceil(n, 64),), (64,), {1: np.sort(x, axis=1)})


def calls(n: int, rng: Any) -> Launch:
    x = rng.integers(0, 1 << 32, n).astype(u32)

    def mix(a: Any, b: int) -> Any:
        return (a ^ u32(b * 2654435761 & 0xFFFFFFFF)) + (a >> u32(3))

    v = x.copy()
    with np.errstate(over="ignore"):
        for k in range(4):
            more = mix(mix(v, k), k + 1)
            v = np.where((np.arange(n) & 3) + 1 > k, more, v)
    return Launch([x, np.zeros_like(x), u32(n)], (ceil(n, 64),), (64,), {1: v})


def scan(n: int, rng: Any) -> Launch:
    x = rng.integers(0, 1000, n).astype(u32)
    want = np.concatenate([np.cumsum(x[i : i + 256]) for i in range(0, n, 256)])
    return Launch([x, np.zeros_like(x), u32(n)], (ceil(n, 256),), (256,), {1: want})


def histogram(n: int, rng: Any) -> Launch:
    x = rng.integers(0, 1 << 20, n).astype(u32)
    return Launch([x, np.zeros(64, u32), u32(n)], (4,), (256,), {1: np.bincount(x & 63, minlength=64)})


def atomics(n: int, rng: Any) -> Launch:
    x = rng.integers(0, 1 << 32, n).astype(u32)
    a = np.array([0xFFFFFFFF, 0, 0xFFFFFFFF, 0, 0, 0, 100, 0], u32)
    b = np.array([7, 0], u64)
    want = a.copy()
    want[0], want[1] = x.min(), x.max()
    want[2], want[3] = np.bitwise_and.reduce(x), np.bitwise_or.reduce(x)
    want[4] = np.bitwise_xor.reduce(x)
    want[5] = (-int(x.astype(u64).sum())) & 0xFFFFFFFF
    want[6] = 100 + n
    want[7] = n  # each item replaces its own number by the next one, in order on one thread
    wide = [7 + sum(int(v) << 20 for v in x.tolist()), max(int(v) << 30 for v in x.tolist())]
    want_b = np.array([w & (1 << 64) - 1 for w in wide], u64)
    # The counter hands out each value once, in order of workgroup, wave and lane.
    return Launch(
        [a, b, x, np.zeros(n, u32), u32(n)], (ceil(n, 64),), (64,), {0: want, 1: want_b, 3: 100 + np.arange(n)}
    )


def float_atomic(n: int, rng: Any) -> Launch:
    x = rng.integers(-1000, 1000, n).astype(f32)
    return Launch([np.zeros(1, f32), x, u32(n)], (ceil(n, 64),), (64,), {0: [x.sum()]})


def generic_pointer(n: int, rng: Any) -> Launch:
    x = rng.integers(0, 1000, n).astype(i32)
    i = np.arange(n)
    t = i % 64
    own = np.where(t & 1, 5, 3)
    v = np.where(t % 3 == 0, (t ^ 1) * 7, np.where(t % 3 == 1, x, own))
    own_after = np.where(t % 3 == 2, own + 1, own)
    after = np.where(t % 3 == 1, x + 1, x)
    return Launch([x, np.zeros_like(x), u32(n)], (n // 64,), (64,), {0: after, 1: v + own_after})


def half_conversions(n: int, rng: Any) -> Launch:
    x = (rng.standard_normal(n) * 100).astype(f32)
    short = np.trunc(x).astype(np.int16)
    byte = np.trunc(x).astype(i32).astype(np.uint8)
    return Launch(
        [x, np.zeros(n, f16), np.zeros(n, np.int16), np.zeros(n, np.uint8), u32(n)], (ceil(n, 64),), (64,),
        {1: x.astype(f16), 2: short, 3: byte},
    )  # fmt: skip


def early_end(n: int, rng: Any) -> Launch:
    x = rng.integers(0, 1000, 256).astype(i32)
    t = np.arange(128)
    want = np.full(256, -1, i32)
    want[:128] = x[t ^ 33] + n
    return Launch([x, np.full(256, -1, i32), u32(n)], (1,), (256,), {1: want})


def grid3(n: int, rng: Any) -> Launch:
    size, groups = (4, 3, 5), (2, n, 3)
    w, h, d = (g * s for g, s in zip(groups, size, strict=True))
    z, y, x = np.meshgrid(np.arange(d), np.arange(h), np.arange(w), indexing="ij")
    return Launch([np.zeros((d, h, w), u32), u32(w), u32(h)], groups, size, {0: x + 1000 * y + 1000000 * z})


def dispatch_packet(n: int, rng: Any) -> Launch:
    """Words 1 to 5 of the packet: workgroup size x and y, z, grid size; the sixth, scratch bytes, depends on the compiler."""
    y = np.zeros(5, u32)
    return Launch([y], (n,), (64,), {0: [64 | 1 << 16, 1, 64 * n, 1, 1]})


_MAKERS = {
    "double_math": (doubles, (1, 300)), "long_math": (longs, (1, 300)), "single_division": (single_division, (1, 1000)),
    "integer_division": (integer_division, (8, 1000)), "collatz": (collatz, (1, 200)),
    "scratch_sort": (scratch_sort, (1, 100)), "calls": (calls, (1, 200)), "scan": (scan, (1, 255, 1000)),
    "histogram": (histogram, (1, 3000)), "atomics": (atomics, (1, 200)), "float_atomic": (float_atomic, (1, 200)),
    "generic_pointer": (generic_pointer, (64, 192)), "half_conversions": (half_conversions, (1, 200)),
    "early_end": (early_end, (1,)), "grid3": (grid3, (1, 2)), "dispatch_packet": (dispatch_packet, (1, 3)),
}  # fmt: skip

OBJECTS = (
    "gfx1100-w32.O0", "gfx1100-w32.O2", "gfx1100-w64.O0", "gfx1100-w64.O2", "gfx1201.O2", "gfx942.O2",
)  # fmt: skip

CASES = [
    Case(f"extra/{name}.hsaco", kernel, make, sizes) for name in OBJECTS for kernel, (make, sizes) in _MAKERS.items()
]


def mfma(size: int) -> Any:
    """C = A Bt^T in half precision with single-precision sums; integers, so exact."""

    def make(n: int, rng: Any) -> Launch:
        rows, columns, depth = size, 2 * size, 16 * n
        a, b = (rng.integers(-8, 8, (r, depth)).astype(f16) for r in (rows, columns))
        want = a.astype(f64) @ b.astype(f64).T
        return Launch([a, b, np.zeros((rows, columns), f32), u32(columns), u32(depth)], (2, 1), (64,), {2: want})

    return make


def wmma_gfx12(n: int, rng: Any) -> Launch:
    """gfx12 layout: lane l holds row l mod 16, k in two groups of 8; results of row r + 8 (l div 16)."""
    a, b = (rng.integers(-8, 8, (n, 16, 16)).astype(f16) for _ in range(2))

    def lanes(matrix: Any) -> Any:
        return np.stack([np.concatenate([m[:, :8], m[:, 8:]]) for m in matrix]).astype(f16)

    total = sum(a[k].astype(f64) @ b[k].astype(f64).T for k in range(n))
    lane = np.arange(32)
    want = np.stack([total[r + 8 * (lane // 16), lane % 16] for r in range(8)], axis=1)
    return Launch([lanes(a), lanes(b), np.zeros((32, 8), f32), u32(n)], (1,), (32,), {2: want})


CASES += [
    Case("extra/gfx942-mma.O2.hsaco", "mfma_f16_32x32", mfma(32), (1, 3)),
    Case("extra/gfx942-mma.O2.hsaco", "mfma_f16_16x16", mfma(16), (1, 3)),
    Case("extra/gfx1201-mma.O2.hsaco", "wmma_f16", wmma_gfx12, (1, 3)),
]


def bf16_value(words: Any) -> Any:
    return (np.asarray(words).astype(u32) << 16).view(f32)


def wmma_halves(bfloat: bool) -> Any:
    """Two products in one register: low halves A B^T, high halves B A^T. Small integers, so every sum is exact."""

    def make(n: int, rng: Any) -> Launch:
        a, b = (rng.integers(-3, 4, (16, 16)).astype(f32) for _ in range(2))

        def code(matrix: Any) -> Any:
            both = np.concatenate([matrix, matrix])  # lanes 16-31 repeat
            return (both.view(u32) >> 16).astype(np.uint16) if bfloat else both.astype(f16).view(np.uint16)

        low, high = a @ b.T, b @ a.T
        want = np.zeros((32, 16), f32)
        for lane in range(32):
            for r in range(8):
                row, column = 2 * r + lane // 16, lane % 16
                want[lane, 2 * r], want[lane, 2 * r + 1] = low[row, column], high[row, column]
        coded = (want.view(u32) >> 16).astype(np.uint16) if bfloat else want.astype(f16).view(np.uint16)
        return Launch([code(a), code(b), np.zeros((32, 16), np.uint16)], (1,), (32,), {2: coded})

    return make


def wmma_nibbles(n: int, rng: Any) -> Launch:
    a, b = rng.integers(-8, 8, (16, 16)), rng.integers(0, 16, (16, 16))

    def code(matrix: Any) -> Any:
        both = np.concatenate([matrix, matrix]).astype(u64) & u64(15)
        return sum(both[:, k] << u64(4 * k) for k in range(16)).astype(u64)

    total = a @ b.T
    lane = np.arange(32)
    want = np.stack([total[2 * r + lane // 16, lane % 16] for r in range(8)], axis=1)
    return Launch([code(a), code(b), np.zeros((32, 8), i32)], (1,), (32,), {2: want})


def inline_asm(n: int, rng: Any) -> Launch:
    x = rng.integers(0, 1 << 32, 64).astype(u32)
    t = np.arange(64)
    swapped = np.frombuffer(t.astype(">u4").tobytes(), "<u4")
    shifted = ((x.astype(u64) << u64(32) | t.astype(u64)) >> u64(8)).astype(u32)
    want = swapped.astype(u64) + shifted.astype(u64) * u64(3) + x[t ^ 5].astype(u64) * u64(5)
    return Launch([x, np.zeros(64, u32)], (1,), (64,), {1: want.astype(u32)})


_NULL = np.uint64(0)


def layer_norm(n: int, rng: Any) -> Launch:
    x, w, b = normal(rng, 3, n), normal(rng, n), normal(rng, n)
    wide = x.astype(f64)
    mean, variance = wide.mean(axis=1, keepdims=True), wide.var(axis=1, keepdims=True)
    want = (wide - mean) / np.sqrt(variance + 1e-5) * w + b
    return Launch(
        [x, w, b, np.zeros_like(x), i32(n), f32(1e-5), _NULL, _NULL], (3,), (128,), {3: want}, 2e-5, dynamic_lds=16
    )


def prefix_sum(n: int, rng: Any) -> Launch:
    x = rng.integers(-100, 100, n).astype(i32)
    return Launch([x, np.zeros_like(x), i32(n), _NULL, _NULL], (1,), (128,), {1: np.cumsum(x)}, dynamic_lds=64)


def bin_counts(n: int, rng: Any) -> Launch:
    x = rng.integers(0, 1000, n).astype(i32)
    want = np.bincount(x & 15, minlength=16)
    return Launch([x, np.zeros(16, i32), i32(n), _NULL, _NULL], (ceil(n, 256),), (128,), {1: want})


def gelu(n: int, rng: Any) -> Launch:
    x = rng.standard_normal(n).astype(f16)
    want = x.astype(f64) / (1 + np.exp(-1.702 * x.astype(f64)))
    rounded = want.astype(f32).view(u32)
    bits = ((rounded + 0x7FFF + ((rounded >> 16) & 1)) >> 16).astype(np.uint16)
    # Compared as bit patterns: one unit of bfloat16 apart at most, where the sum lies near a rounding boundary.
    return Launch([x, np.zeros(n, np.uint16), i32(n), _NULL, _NULL], (ceil(n, 512),), (128,), {1: bits}, tolerance=1.0)


def matmul_bf16(n: int, rng: Any) -> Launch:
    m, columns, k = 40, 48, 24 * n  # no multiple of the 32 x 32 tile
    a, b = (rng.integers(-4, 5, s).astype(f32) for s in ((m, k), (k, columns)))
    coded = [(v.view(u32) >> 16).astype(np.uint16) for v in (a, b)]
    return Launch(
        [*coded, np.zeros((m, columns), f32), i32(m), i32(columns), i32(k), _NULL, _NULL], (2, 2), (128,), {2: a @ b},
        dynamic_lds=4096,
    )  # fmt: skip


def sort_rows(n: int, rng: Any) -> Launch:
    x = rng.integers(-1000, 1000, (n, 64)).astype(i32)
    return Launch([x, np.zeros_like(x), _NULL, _NULL], (n,), (128,), {1: np.sort(x, axis=1)}, dynamic_lds=256)


CASES += [
    Case("extra/gfx1100-matrix.O2.hsaco", "wmma_half", wmma_halves(False), (1, 2)),
    Case("extra/gfx1100-matrix.O2.hsaco", "wmma_bfloat", wmma_halves(True), (1, 2)),
    Case("extra/gfx1100-matrix.O2.hsaco", "wmma_nibbles", wmma_nibbles, (1, 2)),
    Case("extra/gfx1100-matrix.O2.hsaco", "inline_asm", inline_asm, (1, 2)),
    Case("extra/triton-layer_norm.hsaco", "layer_norm", layer_norm, (1, 300, 512)),
    Case("extra/triton-prefix_sum.hsaco", "prefix_sum", prefix_sum, (1, 300, 512)),
    Case("extra/triton-bin_counts.hsaco", "bin_counts", bin_counts, (1, 700)),
    Case("extra/triton-gelu.hsaco", "gelu", gelu, (1, 700)),
    Case("extra/triton-matmul_bf16.hsaco", "matmul_bf16", matmul_bf16, (1, 3)),
    Case("extra/triton-sort_rows.hsaco", "sort_rows", sort_rows, (1, 3)),
]


def mfma_lanes(per_lane: int, encode: Any, result: Any) -> Any:
    """16 x 16 products of n blocks: lane l holds row (column) l mod 16 and ``per_lane`` consecutive k from per_lane (l div 16) on; the
    result's rows are 4 (l div 16) + r, in double precision 4 r + l div 16."""

    def make(n: int, rng: Any) -> Launch:
        a, b = (rng.integers(-8, 8, (n, 16, 4 * per_lane)) for _ in range(2))
        lane = np.arange(64)

        def lanes(matrix: Any) -> Any:
            picked = [[matrix[k, lane % 16, per_lane * (lane // 16) + j] for j in range(per_lane)] for k in range(n)]
            return encode(np.ascontiguousarray(np.array(picked).transpose(0, 2, 1)))

        total = sum(a[k] @ b[k].T for k in range(n))
        rows = [4 * r + lane // 16 if result is f64 else 4 * (lane // 16) + r for r in range(4)]
        want = np.stack([total[row, lane % 16] for row in rows], axis=1)
        return Launch([lanes(a), lanes(b), np.zeros((64, 4), result), u32(n)], (1,), (64,), {2: want.astype(result)})

    return make


def _bf16(values: Any) -> Any:
    return (values.astype(f32).view(u32) >> 16).astype(np.uint16)


for _processor in ("gfx942", "gfx950"):
    CASES += [
        Case(f"extra/{_processor}-mma.O2.hsaco", "mfma_f32", mfma_lanes(1, lambda v: v.astype(f32), f32), (1, 3)),
        Case(f"extra/{_processor}-mma.O2.hsaco", "mfma_f64", mfma_lanes(1, lambda v: v.astype(f64), f64), (1, 3)),
        Case(f"extra/{_processor}-mma.O2.hsaco", "mfma_bf16", mfma_lanes(4, _bf16, f32), (1, 3)),
        Case(f"extra/{_processor}-mma.O2.hsaco", "mfma_i8", mfma_lanes(8, lambda v: v.astype(np.int8), i32), (1, 3)),
    ]
CASES += [
    Case("extra/gfx950-mma.O2.hsaco", "mfma_f16_32x32", mfma(32), (1, 3)),
    Case("extra/gfx950-mma.O2.hsaco", "mfma_f16_16x16", mfma(16), (1, 3)),
]
CASES += op_suite.CASES
