"""Launches of every gfx1100 kernel under tests/native, with deterministic inputs: what each is run on.

Shapes are small and have tails where the kernel allows them, so that masks, loops and branches are taken both ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loom.raising.buffers import TypedBuffer
from loom.raising.execution import Argument, NullPointer, ScalarValue

NATIVE = Path(__file__).parents[1] / "native"


@dataclass(frozen=True)
class NativeLaunch:
    """One launch: object file, kernel, arguments in order, work-groups, work-group size, dynamic LDS."""

    file: str
    kernel: str
    arguments: tuple[Argument, ...]
    workgroups: tuple[int, int, int]
    workgroup_size: tuple[int, int, int]
    dynamic_lds: int = 0

    @property
    def path(self) -> Path:
        return NATIVE / self.file

    @property
    def name(self) -> str:
        return f"{Path(self.file).parts[0]}-{self.kernel}"


def _random(seed: int, count: int, element: str) -> TypedBuffer:
    generator = np.random.default_rng(seed)
    if element[0] == "i":
        info = np.iinfo(element.replace("i", "int"))
        data = generator.integers(info.min, info.max, count, dtype=info.dtype, endpoint=True)
    elif element == "bf16":
        data = (generator.standard_normal(count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        data = generator.standard_normal(count).astype({"f16": np.float16, "f32": np.float32}[element])
    return TypedBuffer((count,), element, data.tobytes())


def _zero(count: int, element: str) -> TypedBuffer:
    size = {"f16": 2, "bf16": 2, "i16": 2, "f32": 4, "i32": 4, "i64": 8}[element]
    return TypedBuffer((count,), element, bytes(count * size))


def _u32(*values: int) -> list[ScalarValue]:
    return [ScalarValue("i32", value.to_bytes(4, "little")) for value in values]


def _f32(value: float) -> ScalarValue:
    return ScalarValue("f32", np.float32(value).tobytes())


def _launches() -> list[NativeLaunch]:
    rows: list[NativeLaunch] = []

    def add(file, kernel, arguments, groups, size, lds=0):
        groups = (*groups, 1, 1)[:3]
        size = (*size, 1, 1)[:3]
        rows.append(NativeLaunch(file, kernel, tuple(arguments), groups, size, lds))

    f32, i32 = (lambda s, n: _random(s, n, "f32")), (lambda s, n: _random(s, n, "i32"))
    f16 = lambda s, n: _random(s, n, "f16")  # noqa: E731
    asm, clang, triton = "asm/gfx1100/{}.hsaco", "clang/gfx1100/{}.O3.hsaco", "triton/gfx1100/{}.hsaco"
    add(
        asm.format("mubuf_copy_asm"), "mubuf_copy_asm", [f32(1, 1000), _zero(1024, "f32"), *_u32(1000, 0)], (4,), (256,)
    )
    add(asm.format("pk_fp16_asm"), "pk_fp16_asm", [f16(2, 2048), f16(3, 2048), f16(4, 2048)], (2,), (128,))
    add(asm.format("reduce_dpp2_asm"), "reduce_dpp2_asm", [f32(5, 1024), _zero(4, "f32")], (4,), (256,))
    add(asm.format("saxpy_asm"), "saxpy_asm", [f32(6, 1000), f32(7, 1000), _f32(1.5), *_u32(1000)], (4,), (256,))
    gemm = [f32(8, 64 * 48), f32(9, 48 * 128), _zero(64 * 128, "f32")]
    add(asm.format("sgemm_pipe_asm"), "sgemm_pipe_asm", [*gemm, *_u32(64, 128, 48)], (2, 1), (256,))

    dpp = clang.format("dpp")
    for kernel in ("dpp_reduce", "bperm"):
        add(dpp, kernel, [i32(10, 192), _zero(192, "i32")], (3,), (64,))
    add(dpp, "dpp_quad", [f32(11, 192), _zero(192, "f32")], (3,), (64,))
    add(dpp, "lanes", [i32(12, 192), _zero(192, "i32"), _zero(192, "i64")], (3,), (64,))
    add(dpp, "permlane16", [i32(13, 64), _zero(64, "i32"), *_u32(0x76543210, 0xFEDCBA98)], (1,), (64,))
    mma = clang.format("mma")
    for kernel, element in (("wmma_f16", "f16"), ("wmma_bf16", "bf16")):
        a, b = _random(14, 32 * 48, element), _random(15, 32 * 48, element)
        add(mma, kernel, [a, b, _zero(32 * 32, "f32"), *_u32(32, 48)], (2, 2), (32,))
    add(mma, "wmma_iu8", [i32(16, 3 * 128), i32(17, 3 * 128), _zero(256, "i32"), *_u32(3)], (1,), (32,))
    packed, n = clang.format("packed16"), 700
    add(packed, "pk_fma", [f16(18, 2 * n), f16(19, 2 * n), f16(20, 2 * n), *_u32(n)], (3,), (256,))
    add(packed, "pk_swap", [f16(21, 2 * n), _zero(2 * n, "f16"), *_u32(n)], (3,), (256,))
    add(packed, "half_math", [f16(22, n), _zero(n, "f16"), _zero(n, "f32"), *_u32(n)], (3,), (256,))
    words = [_random(23 + i, 2 * n, "i16") for i in range(3)]
    add(packed, "pk_i16", [*words, *_u32(n)], (3,), (256,))
    add(packed, "dot2", [f16(26, 2 * n), f16(27, 2 * n), f32(28, n), *_u32(n)], (3,), (256,))
    add(packed, "dot4_i8", [i32(29, n), i32(30, n), i32(31, n), *_u32(n)], (3,), (256,))
    add(packed, "bf16_cvt", [f32(32, n), _zero(n, "i16"), *_u32(n)], (3,), (256,))
    reduce = clang.format("reduce_lds")
    add(reduce, "reduce_sum", [f32(33, 2000), _zero(2, "f32"), *_u32(2000)], (2,), (256,))
    add(reduce, "reduce_max_i32", [i32(34, 2000), i32(35, 1), *_u32(2000)], (4,), (256,))
    saxpy = clang.format("saxpy")
    add(saxpy, "saxpy", [f32(36, n), f32(37, n), _f32(-0.75), *_u32(n)], (3,), (256,))
    add(saxpy, "saxpy4", [f32(38, 4 * n), f32(39, 4 * n), _f32(2.25), *_u32(n)], (3,), (256,))
    add(saxpy, "saxpy_grid", [f32(40, 2000), f32(41, 2000), _f32(0.5), *_u32(2000, 512)], (2,), (256,))
    sgemm = clang.format("sgemm_lds")
    small = [f32(42, 32 * 48), f32(43, 48 * 48), _zero(32 * 48, "f32"), *_u32(32, 48, 48)]
    add(sgemm, "sgemm16", small, (3, 2), (16, 16))
    add(sgemm, "sgemm64", [*gemm, *_u32(64, 128, 48)], (2, 1), (256,))
    softmax = clang.format("softmax")
    for kernel in ("softmax_row", "softmax_bfly"):
        add(softmax, kernel, [f32(44, 3 * 500), _zero(3 * 500, "f32"), *_u32(500)], (3,), (256,))

    tail = [NullPointer(), NullPointer()]
    product = [f16(45, 128 * 96), f16(46, 96 * 64), _zero(128 * 64, "f32"), *_u32(128, 64, 96, 96, 64, 64), *tail]
    add(triton.format("matmul_f16_64x64x32"), "matmul", product, (2, 1), (128,), 8192)
    rows_ = [f32(47, 5 * 1200), _zero(5, "f32"), *_u32(1100, 1200), *tail]
    add(triton.format("rowsum"), "rowsum", rows_, (5,), (128,), 16)
    add(
        triton.format("saxpy_f32"), "saxpy", [f32(48, 2500), f32(49, 2500), _f32(3.5), *_u32(2500), *tail], (3,), (128,)
    )
    row = [f32(50, 4 * 1000), _zero(4 * 1000, "f32"), *_u32(900, 1000), *tail]
    add(triton.format("softmax_row_1024"), "softmax_row", row, (4,), (128,), 16)
    return rows


LAUNCHES = _launches()
