"""Triton kernels for the simulator's tests, compiled offline: ``python src/triton_kernels.py`` in this folder, with triton installed."""

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def layer_norm(x, w, b, y, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < n
    v = tl.load(x + row * n + c, mask=m, other=0.0)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(m, v - mean, 0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(y + row * n + c, d * inverse * tl.load(w + c, mask=m, other=0.0) + tl.load(b + c, mask=m, other=0.0), mask=m)


@triton.jit
def prefix_sum(x, y, n, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    m = c < n
    tl.store(y + c, tl.cumsum(tl.load(x + c, mask=m, other=0), axis=0), mask=m)


@triton.jit
def bin_counts(x, bins, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    tl.atomic_add(bins + (tl.load(x + o, mask=m, other=0) & 15), 1, mask=m)


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    v = tl.load(x + o, mask=m).to(tl.float32)
    e = tl.exp(-1.702 * v)
    tl.store(y + o, (v / (1.0 + e)).to(tl.bfloat16), mask=m)


@triton.jit
def matmul_bf16(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    om = tl.program_id(0) * BM + tl.arange(0, BM)
    on = tl.program_id(1) * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a + om[:, None] * K + (k + ok)[None, :], mask=(om[:, None] < M) & ((k + ok)[None, :] < K), other=0.0)
        right = tl.load(b + (k + ok)[:, None] * N + on[None, :], mask=((k + ok)[:, None] < K) & (on[None, :] < N), other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + om[:, None] * N + on[None, :], acc, mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def sort_rows(x, y, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + o, tl.sort(tl.load(x + o)))


KERNELS = [
    (layer_norm, {"x": "*fp32", "w": "*fp32", "b": "*fp32", "y": "*fp32", "n": "i32", "eps": "fp32"}, {"BLOCK": 512}),
    (prefix_sum, {"x": "*i32", "y": "*i32", "n": "i32"}, {"BLOCK": 512}),
    (bin_counts, {"x": "*i32", "bins": "*i32", "n": "i32"}, {"BLOCK": 256}),
    (gelu, {"x": "*fp16", "y": "*bf16", "n": "i32"}, {"BLOCK": 512}),
    (matmul_bf16, {"a": "*bf16", "b": "*bf16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}, {"BM": 32, "BN": 32, "BK": 32}),
    (sort_rows, {"x": "*i32", "y": "*i32"}, {"BLOCK": 64}),
]

if __name__ == "__main__":
    target = GPUTarget("hip", "gfx1100", 32)
    folder = Path(__file__).resolve().parents[1]
    for function, types, constants in KERNELS:
        signature = {**types, **{name: "constexpr" for name in constants}}
        source = ASTSource(function, signature, constexprs=constants)
        compiled = triton.compile(source, target=target, options={"num_warps": 4})
        name = function.fn.__name__
        (folder / f"triton-{name}.hsaco").write_bytes(compiled.asm["hsaco"])
        print(name, compiled.metadata.shared, file=sys.stderr)
