"""Every kernel of tests/native with launches of several sizes and what NumPy says they compute."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loom.device.protocol import Completed, DeviceBuffer, Executable, Outcome

NATIVE = Path(__file__).resolve().parents[3] / "native"
f16, f32, i32, u32 = np.float16, np.float32, np.int32, np.uint32


@dataclass
class Launch:
    """One launch: arguments (arrays are buffers) in order, grid, and the expected arrays by argument position."""

    arguments: list[Any]
    groups: tuple[int, ...]
    size: tuple[int, ...]
    expected: dict[int, Any]
    tolerance: float = 0.0
    dynamic_lds: int = 0


@dataclass
class Case:
    """A kernel and its launches; ``make(n, rng)`` builds one for a size."""

    file: str
    kernel: str
    make: Callable[[int, np.random.Generator], Launch]
    sizes: tuple[int, ...] = field(default=(1, 255, 256, 1000))

    @property
    def name(self) -> str:
        return f"{self.file}:{self.kernel}"


def pack(arguments: list[Any], addresses: list[int]) -> bytes:
    """Kernel arguments with natural alignment: 8 bytes for buffers, the NumPy type's size for scalars."""
    data = bytearray()
    addresses = list(addresses)
    for value in arguments:
        if isinstance(value, np.ndarray):
            data += b"\0" * (-len(data) % 8) + struct.pack("<Q", addresses.pop(0))
        else:
            raw = np.asarray(value).tobytes()
            data += b"\0" * (-len(data) % len(raw)) + raw
    return bytes(data)


def run(device: Any, executable: Executable, kernel: str, launch: Launch) -> tuple[Outcome, list[np.ndarray]]:
    """Run a launch; gives the outcome and the buffers' contents afterwards."""
    buffers: list[DeviceBuffer] = []
    arrays = [a for a in launch.arguments if isinstance(a, np.ndarray)]
    for array in arrays:
        buffer = device.allocate(array.nbytes, f"argument {len(buffers)}")
        device.write(buffer, array.tobytes())
        buffers.append(buffer)
    kernarg = pack(launch.arguments, [b.address for b in buffers])
    outcome = device.launch(executable, kernel, launch.groups, launch.size, kernarg, launch.dynamic_lds)
    after = [
        np.frombuffer(device.read(b), dtype=a.dtype).reshape(a.shape) for b, a in zip(buffers, arrays, strict=True)
    ]
    for buffer in buffers:
        device.free(buffer)
    return outcome, after


def check(device: Any, case: Case, n: int, executable: Executable) -> Completed:
    """Run one size of a case and compare with NumPy."""
    launch = case.make(n, np.random.default_rng(n))
    outcome, after = run(device, executable, case.kernel, launch)
    assert isinstance(outcome, Completed), outcome
    for position, want in launch.expected.items():
        got = after[position]
        want = np.asarray(want).reshape(got.shape)
        if launch.tolerance:
            np.testing.assert_allclose(
                got.astype(np.float64), want.astype(np.float64), rtol=launch.tolerance, atol=launch.tolerance
            )
        else:
            np.testing.assert_array_equal(got, want.astype(got.dtype))
    return outcome


def ceil(a: int, b: int) -> int:
    return -(-a // b)


def normal(rng: np.random.Generator, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(f32)


def fma(a: Any, b: Any, c: Any) -> Any:
    """Single-precision fused multiply-add through extended precision."""
    exact = np.asarray(a).astype(np.longdouble) * np.asarray(b).astype(np.longdouble) + np.asarray(c).astype(
        np.longdouble
    )
    return exact.astype(f32)


def saxpy(n: int, rng: np.random.Generator) -> Launch:
    x, y = normal(rng, n), normal(rng, n)
    return Launch([x, y, f32(2.5), u32(n)], (ceil(n, 256),), (256,), {1: fma(f32(2.5), x, y)})


def saxpy4(n: int, rng: np.random.Generator) -> Launch:
    x, y = normal(rng, n, 4), normal(rng, n, 4)
    return Launch([x, y, f32(-0.75), u32(n)], (ceil(n, 256),), (256,), {1: fma(f32(-0.75), x, y)})


def saxpy_grid(n: int, rng: np.random.Generator) -> Launch:
    x, y = normal(rng, n), normal(rng, n)
    return Launch([x, y, f32(1.5), u32(n), u32(512)], (2,), (256,), {1: fma(f32(1.5), x, y)})


def triton_saxpy(n: int, rng: np.random.Generator) -> Launch:
    x, y = normal(rng, n), normal(rng, n)
    null = np.uint64(0)
    return Launch([x, y, f32(3.0), i32(n), null, null], (ceil(n, 1024),), (128,), {1: fma(f32(3.0), x, y)})


def mubuf_copy(n: int, rng: np.random.Generator) -> Launch:
    x = normal(rng, n)
    return Launch([x, np.zeros(n, f32), u32(n), u32(0)], (ceil(n, 256),), (256,), {1: x})


def half_fma(a: Any, b: Any, c: Any) -> Any:
    """Half-precision fused multiply-add: exact in extended precision, then one rounding."""
    return (a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)).astype(f16)


def pk_fp16(n: int, rng: np.random.Generator) -> Launch:
    count = 128 * n
    x, y, z = (rng.standard_normal((count, 4, 2)).astype(f16) for _ in range(3))
    r = z.copy()
    r[:, 0] = half_fma(x[:, 0], y[:, 0], z[:, 0])
    # op_sel [1,0,0] and op_sel_hi [0,1,1]: the first operand's halves swapped.
    r[:, 1] = half_fma(x[:, 1, ::-1], y[:, 1], z[:, 1])
    # neg_lo on the first source, neg_hi on the second: both halves negate the product.
    r[:, 2] = half_fma(-x[:, 2], y[:, 2], z[:, 2])
    product = (x[:, 3] * y[:, 3]).astype(f16)
    clamped = np.clip((z[:, 3] + product).astype(f16), 0, 1)
    # Mixed: low halves of x and y, the whole register of the result as single precision.
    word = r[:, 0].copy().view(f32)[:, 0]
    mixed = fma(x[:, 0, 0].astype(f32), y[:, 0, 0].astype(f32), word).astype(f16)
    packed = np.stack([mixed, product[:, 1]], axis=1)
    largest = np.maximum(clamped, packed)
    low = np.minimum(largest[:, 0], x[:, 3, 0])
    high = np.minimum(largest[:, 1], x[:, 3, 0])
    r[:, 3] = np.stack([low, high], axis=1)
    return Launch([x, y, z], (n,), (128,), {2: r})


def wave_sum(x: np.ndarray) -> np.ndarray:
    """Sum of 256 in the order of the DPP tree and then eight waves."""
    v = x.reshape(-1, 32)
    lanes = np.arange(32)
    for partner in (lanes ^ 1, lanes ^ 2, (lanes & ~7) + 7 - (lanes & 7), (lanes & ~15) + 15 - (lanes & 15)):
        v = (v[:, partner] + v).astype(f32)
    totals = (v[:, 0] + v[:, 16]).astype(f32).reshape(-1, 8)
    eight = np.arange(8)
    for partner in (eight ^ 1, eight ^ 2, 7 - eight):
        totals = (totals[:, partner] + totals).astype(f32)
    return totals[:, 0]


def reduce_dpp2(n: int, rng: np.random.Generator) -> Launch:
    x = normal(rng, n * 256)
    return Launch([x, np.zeros(n, f32)], (n,), (256,), {1: wave_sum(x)})


def dpp_reduce(n: int, rng: np.random.Generator) -> Launch:
    x = rng.integers(-1000, 1000, n * 64).astype(i32)
    rows = x.reshape(-1, 16).copy()
    for shift in (1, 2, 4, 8):
        rows[:, shift:] = rows[:, shift:] + rows[:, :-shift]
    v = rows.reshape(-1, 2, 16)
    return Launch([x, np.zeros_like(x)], (n,), (64,), {1: (v + v[:, ::-1, :]).reshape(-1)})


def dpp_quad(n: int, rng: np.random.Generator) -> Launch:
    x = normal(rng, n * 64)
    v = x.reshape(-1, 16)
    lane = np.arange(16)
    a, b = v[:, lane ^ 1], v[:, lane ^ 2]
    mirror, half = v[:, 15 - lane], v[:, (lane & 8) + 7 - (lane & 7)]
    rotated = v[:, (lane - 1) & 15]
    s = (fma(a, b, mirror) - half).astype(f32)
    return Launch([x, np.zeros_like(x)], (n,), (64,), {1: (rotated + s).astype(f32)})


def bperm(n: int, rng: np.random.Generator) -> Launch:
    x = rng.integers(-1000, 1000, n * 64).astype(i32)
    v = x.reshape(-1, 32)
    lane = np.arange(32)
    backward = v[:, lane ^ 5]
    forward = np.zeros_like(v)
    forward[:, (lane * 7) & 31] = v
    swizzled = v[:, lane ^ 1]
    return Launch([x, np.zeros_like(x)], (n,), (64,), {1: backward + forward * 3 + swizzled * 5})


def lanes(n: int, rng: np.random.Generator) -> Launch:
    x = rng.integers(0, 100, n * 64).astype(i32)
    v = x.reshape(-1, 32)
    first = v[:, 0]
    chosen = v[np.arange(len(v)), first & 31]
    bits = v > chosen[:, None]
    below = np.cumsum(bits, axis=1) - bits
    masks = (bits.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=1)
    return Launch(
        [x, np.zeros_like(x), np.zeros(n, np.uint64)], (n,), (64,), {1: below + first[:, None], 2: masks[::2]}
    )


def permlane16(n: int, rng: np.random.Generator) -> Launch:
    x = rng.integers(0, 1000, 64).astype(i32)
    s0, s1 = 0x76543210 ^ (n * 0x1111), 0xFEDCBA98
    v = x.reshape(-1, 16)

    def pick(low: int, high: int) -> list[int]:
        word = low | high << 32
        return [word >> (4 * i) & 15 for i in range(16)]

    own = v[:, pick(s0, s1)]
    other = v.reshape(-1, 2, 16)[:, ::-1, :].reshape(-1, 16)[:, pick(s1, s0)]
    lane = np.arange(64)
    selectors = [0x1234 >> (3 * i) & 7 for i in range(8)]
    eight = x[(lane & ~7) + np.array(selectors)[lane & 7]]
    return Launch(
        [x, np.zeros_like(x), u32(s0), u32(s1)], (1,), (64,), {1: own.reshape(-1) + eight + other.reshape(-1)}
    )


def wmma_f16(n: int, rng: np.random.Generator) -> Launch:
    rows, columns, depth = 32, 48, 16 * n
    a, b = rng.standard_normal((rows, depth)).astype(f16), rng.standard_normal((columns, depth)).astype(f16)
    want = a.astype(np.float64) @ b.astype(np.float64).T
    return Launch(
        [a, b, np.zeros((rows, columns), f32), u32(columns), u32(depth)], (3, 2), (32,), {2: want}, tolerance=1e-4
    )


def bfloat(x: np.ndarray) -> np.ndarray:
    bits = x.view(u32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def wmma_bf16(n: int, rng: np.random.Generator) -> Launch:
    rows, columns, depth = 16, 32, 16 * n
    a, b = bfloat(normal(rng, rows, depth)), bfloat(normal(rng, columns, depth))
    wide = [(v.astype(u32) << 16).view(f32).astype(np.float64) for v in (a, b)]
    return Launch(
        [a, b, np.zeros((rows, columns), f32), u32(columns), u32(depth)], (2, 1), (32,), {2: wide[0] @ wide[1].T},
        tolerance=1e-4,
    )  # fmt: skip


def wmma_iu8(n: int, rng: np.random.Generator) -> Launch:
    a, b = (rng.integers(-128, 128, (n, 32, 16)).astype(np.int8) for _ in range(2))
    total = np.zeros((16, 16), np.int64)
    for k in range(n):
        total += a[k, :16].astype(np.int64) @ b[k, :16].astype(np.int64).T
    want = np.zeros((32, 8), i32)
    for lane in range(32):
        for r in range(8):
            want[lane, r] = total[2 * r + lane // 16, lane % 16]
    # Lanes 16-31 repeat lanes 0-15, as the instruction requires.
    a[:, 16:], b[:, 16:] = a[:, :16], b[:, :16]
    return Launch([a, b, np.zeros((32, 8), i32), u32(n)], (1,), (32,), {2: want})


def pk_fma(n: int, rng: np.random.Generator) -> Launch:
    a, b, c = (rng.standard_normal((n, 2)).astype(f16) for _ in range(3))
    r = half_fma(a, b, c)
    want = half_fma(np.minimum(a, b), r, np.maximum(r, a))
    return Launch([a, b, c, u32(n)], (ceil(n, 256),), (256,), {2: want})


def pk_swap(n: int, rng: np.random.Generator) -> Launch:
    a = rng.standard_normal((n, 2)).astype(f16)
    s = a[:, ::-1]
    return Launch([a, np.zeros_like(a), u32(n)], (ceil(n, 256),), (256,), {1: half_fma(-s, a[:, :1], s)})


def half_math(n: int, rng: np.random.Generator) -> Launch:
    a = (rng.random(n) * 10 + 0.1).astype(f16)
    wide = a.astype(np.float64)
    root, inverse = np.sqrt(wide).astype(f16), (1 / wide).astype(f16)
    r = (half_fma(inverse, f16(2.0), root) + np.floor(a)).astype(f16)
    f = fma(a.astype(f32), r.astype(f32), f32(1.0))
    return Launch([a, np.zeros_like(a), np.zeros(n, f32), u32(n)], (ceil(n, 256),), (256,), {1: r, 2: f})


def pk_i16(n: int, rng: np.random.Generator) -> Launch:
    a, b = (rng.integers(-32768, 32768, (n, 2)).astype(np.int16) for _ in range(2))
    x, y = a.astype(np.int64), b.astype(np.int64)
    want = (x * y + (x << 3) + (y >> 2) + np.maximum(x, y)).astype(np.uint64).astype(np.uint16).view(np.int16)
    return Launch([a, b, np.zeros_like(a), u32(n)], (ceil(n, 256),), (256,), {2: want})


def dot2(n: int, rng: np.random.Generator) -> Launch:
    a, b = (rng.standard_normal((n, 2)).astype(f16) for _ in range(2))
    c = normal(rng, n)
    high = fma(a[:, 1].astype(f32), b[:, 1].astype(f32), c)
    return Launch([a, b, c, u32(n)], (ceil(n, 256),), (256,), {2: fma(a[:, 0].astype(f32), b[:, 0].astype(f32), high)})


def dot4_i8(n: int, rng: np.random.Generator) -> Launch:
    x, y = (rng.integers(-128, 128, (n, 4)).astype(np.int8) for _ in range(2))
    z = rng.integers(-1000, 1000, n).astype(i32)
    signed = (x.astype(np.int64) * y).sum(axis=1)
    unsigned = (x.view(np.uint8).astype(np.int64) * y.view(np.uint8)).sum(axis=1)
    return Launch([x, y, z, u32(n)], (ceil(n, 256),), (256,), {2: signed + z + unsigned + 1})


def bf16_cvt(n: int, rng: np.random.Generator) -> Launch:
    x = normal(rng, n)
    return Launch([x, np.zeros(n, np.uint16), u32(n)], (ceil(n, 256),), (256,), {1: bfloat(x)})


def tree_sum(values: np.ndarray) -> np.ndarray:
    """Pairwise sum of 256 columns, the upper half onto the lower."""
    v = values.astype(f32)
    d = v.shape[1] // 2
    while d:
        v = (v[:, :d] + v[:, d : 2 * d]).astype(f32)
        d //= 2
    return v[:, 0]


def reduce_sum(n: int, rng: np.random.Generator) -> Launch:
    x = normal(rng, n)
    groups = ceil(n, 1024)
    padded = np.zeros(groups * 1024, f32)
    padded[:n] = x
    parts = padded.reshape(groups, 4, 256)
    partial = np.zeros((groups, 256), f32)
    for k in range(4):
        partial = (partial + parts[:, k]).astype(f32)
    return Launch([x, np.zeros(groups, f32), u32(n)], (groups,), (256,), {1: tree_sum(partial)})


def reduce_max(n: int, rng: np.random.Generator) -> Launch:
    x = rng.integers(-(1 << 31), 1 << 31, n).astype(i32)
    start = np.array([-(1 << 31)], i32)
    return Launch([x, start, u32(n)], (64,), (256,), {1: [x.max()]})


def product(m: int, n: int, k: int, rng: np.random.Generator, groups: tuple[int, ...], size: tuple[int, ...]) -> Launch:
    """C = A @ B in single precision, accumulated by fused multiply-adds over ascending k: exact."""
    a, b = normal(rng, m, k), normal(rng, k, n)
    c = np.zeros((m, n), f32)
    for j in range(k):
        c = fma(a[:, j : j + 1], b[j : j + 1, :], c)
    return Launch([a, b, np.zeros((m, n), f32), u32(m), u32(n), u32(k)], groups, size, {2: c})


def sgemm16(n: int, rng: np.random.Generator) -> Launch:
    return product(16 * n, 32, 16 * n, rng, (2, n), (16, 16))


def sgemm64(n: int, rng: np.random.Generator) -> Launch:
    return product(64 * n, 128, 16 * n, rng, (2, n), (256,))


def softmax(n: int, rng: np.random.Generator) -> Launch:
    x = normal(rng, 3, n)
    wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return Launch(
        [x, np.zeros_like(x), u32(n)], (3,), (256,), {1: wide / wide.sum(axis=1, keepdims=True)}, tolerance=2e-6
    )


def triton_softmax(n: int, rng: np.random.Generator) -> Launch:
    launch = softmax(n, rng)
    null = np.uint64(0)
    x = launch.arguments[0]
    return Launch(
        [x, np.zeros_like(x), i32(n), i32(n), null, null],
        (3,),
        (128,),
        launch.expected,
        launch.tolerance,
        dynamic_lds=16,
    )


def triton_rowsum(n: int, rng: np.random.Generator) -> Launch:
    x = normal(rng, 3, n)
    null = np.uint64(0)
    want = x.astype(np.float64).sum(axis=1)
    return Launch([x, np.zeros(3, f32), i32(n), i32(n), null, null], (3,), (128,), {1: want}, 1e-5 * n, dynamic_lds=16)


def triton_matmul(n: int, rng: np.random.Generator) -> Launch:
    m, columns, k = 64, 128, 32 * n
    a, b = rng.standard_normal((m, k)).astype(f16), rng.standard_normal((k, columns)).astype(f16)
    null = np.uint64(0)
    want = a.astype(np.float64) @ b.astype(np.float64)
    return Launch(
        [a, b, np.zeros((m, columns), f32), i32(m), i32(columns), i32(k), i32(k), i32(columns), i32(columns), null, null],
        (1, 2), (128,), {2: want}, 1e-3, dynamic_lds=8192,
    )  # fmt: skip


def _cases() -> list[Case]:
    asm, clang = "asm/gfx1100/{}.hsaco", "clang/gfx1100/{}.O3.hsaco"
    cases = [
        Case(asm.format("saxpy_asm"), "saxpy_asm", saxpy),
        Case(asm.format("mubuf_copy_asm"), "mubuf_copy_asm", mubuf_copy),
        Case(asm.format("pk_fp16_asm"), "pk_fp16_asm", pk_fp16, (1, 3)),
        Case(asm.format("reduce_dpp2_asm"), "reduce_dpp2_asm", reduce_dpp2, (1, 5)),
        Case(asm.format("sgemm_pipe_asm"), "sgemm_pipe_asm", sgemm64, (1, 2)),
    ]
    for kernel, make in (("dpp_reduce", dpp_reduce), ("dpp_quad", dpp_quad), ("bperm", bperm), ("lanes", lanes)):
        cases.append(Case(clang.format("dpp"), kernel, make, (1, 3)))
    cases.append(Case(clang.format("dpp"), "permlane16", permlane16, (0, 5)))
    for kernel, make in (("wmma_f16", wmma_f16), ("wmma_bf16", wmma_bf16), ("wmma_iu8", wmma_iu8)):
        cases.append(Case(clang.format("mma"), kernel, make, (1, 3)))
    for kernel, make in (
        ("pk_fma", pk_fma), ("pk_swap", pk_swap), ("half_math", half_math), ("pk_i16", pk_i16), ("dot2", dot2),
        ("dot4_i8", dot4_i8), ("bf16_cvt", bf16_cvt),
    ):  # fmt: skip
        cases.append(Case(clang.format("packed16"), kernel, make))
    cases.append(Case(clang.format("reduce_lds"), "reduce_sum", reduce_sum, (1, 1023, 3000)))
    cases.append(Case(clang.format("reduce_lds"), "reduce_max_i32", reduce_max, (1, 20000)))
    for processor in ("gfx1100", "gfx1201", "gfx942"):
        file = f"clang/{processor}/{{}}.O3.hsaco"
        for kernel, make in (("saxpy", saxpy), ("saxpy4", saxpy4), ("saxpy_grid", saxpy_grid)):
            cases.append(Case(file.format("saxpy"), kernel, make))
        cases.append(Case(file.format("sgemm_lds"), "sgemm16", sgemm16, (1, 3)))
        cases.append(Case(file.format("sgemm_lds"), "sgemm64", sgemm64, (1, 2)))
        for kernel in ("softmax_row", "softmax_bfly"):
            cases.append(Case(file.format("softmax"), kernel, softmax, (1, 256, 1000)))
    triton = "triton/gfx1100/{}.hsaco"
    cases.append(Case(triton.format("saxpy_f32"), "saxpy", triton_saxpy, (1, 1024, 3000)))
    cases.append(Case(triton.format("softmax_row_1024"), "softmax_row", triton_softmax, (1, 700, 1024)))
    cases.append(Case(triton.format("rowsum"), "rowsum", triton_rowsum, (1, 512, 1300)))
    cases.append(Case(triton.format("matmul_f16_64x64x32"), "matmul", triton_matmul, (1, 3)))
    return cases


CASES = _cases()
