"""Dense matrix operations of every generation against NumPy products of matrices laid out as the ISA's tables say.

Values are small integers, so that products and sums are exact whatever the order.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from loom.low.semantics.matrix_cdna import SHAPES
from loom.low.semantics.operation import OPERATIONS
from loom.low.semantics.table import evaluate
from tests.low.semantics.test_matrix_variants import codes_of, pack

U = np.uint32
MFMA = [n for n in SHAPES.split() if "_f64_" not in n]


def place(size: int, register: int, lane: int) -> tuple[int, int, int]:
    """Row, column and block of a result (CDNA3 ISA, "Matrix layouts")."""
    if size == 32:
        return register % 4 + 8 * (register % 16 // 4) + 4 * (lane // 32), lane % 32, register // 16
    if size == 16:
        return register % 4 + 4 * (lane // 16), lane % 16, register // 4
    return register, lane % 4, lane // 4


def words_of(codes: np.ndarray, kind: str) -> list[np.ndarray]:
    if kind == "f32":
        return [codes[:, k].astype(np.float32).view(U) for k in range(codes.shape[1])]
    return pack(codes, kind)


@pytest.mark.parametrize("name", MFMA)
def test_mfma(name: str) -> None:
    found = re.match(r"v_mfma_(f32|i32)_(\d+)x\d+x(\d+)(?:_(\d+)b)?_([a-z0-9]+?)(?:_([a-z0-9]+))?$", name)
    assert found
    accumulate, size, depth, blocks = found.group(1), int(found.group(2)), int(found.group(3)), int(found.group(4) or 1)
    kind_a, kind_b = found.group(5), found.group(6) or found.group(5)
    rng = np.random.default_rng(size + depth + blocks)
    sides = []
    for kind in (kind_a, kind_b):
        if kind == "f32":
            values = rng.integers(-9, 9, (blocks, size, depth)).astype(float)
            sides.append((values, values))
        else:
            sides.append(codes_of(kind, rng, (blocks, size, depth)))
    groups = 64 // (size * blocks)
    per_lane = depth // groups
    inputs = []
    for (codes, _), kind in zip(sides, (kind_a, kind_b), strict=True):
        lanes = np.stack([
            codes[lane // size % blocks, lane % size, lane // (size * blocks) * per_lane :][:per_lane] for lane in range(64)
        ])  # fmt: skip
        inputs.append(words_of(lanes, kind))
    want = np.einsum("bik,bjk->bij", sides[0][1], sides[1][1])
    count = size * size * blocks // 64
    c = rng.integers(-100, 100, (count, 64))
    start = c.astype(np.float32).view(U) if accumulate == "f32" else c.astype(np.int32).view(U)
    results = evaluate(name, [*inputs, list(start)], wave=64, generation="gfx9.4")["results"][0]
    for register in range(count):
        got = results[register].view(np.float32 if accumulate == "f32" else np.int32)
        for lane in range(64):
            row, column, block = place(size, register, lane)
            assert got[lane] == want[block, row, column] + c[register, lane], (register, lane)


def test_double_precision_blocks() -> None:
    """v_mfma_f64_4x4x4_4b_f64: four products of 4 by 4; lane l holds row (column) l mod 4 of block l div 4 mod 4, k = l div 16."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(-9, 9, (2, 4, 4, 4)).astype(float)
    c = rng.integers(-9, 9, 64).astype(float)
    lanes = np.arange(64)
    a_lanes = a[lanes // 4 % 4, lanes % 4, lanes // 16]
    b_lanes = b[lanes // 4 % 4, lanes // 16, lanes % 4]

    def words(v: np.ndarray) -> list[np.ndarray]:
        return list(np.ascontiguousarray(v).view(U).reshape(64, 2).T.copy())

    found = evaluate(
        "v_mfma_f64_4x4x4_4b_f64", [words(a_lanes), words(b_lanes), words(c)], wave=64, generation="gfx9.4"
    )
    got = np.stack(found["results"][0], axis=1).copy().view(np.float64)[:, 0]
    for lane in range(64):
        assert got[lane] == (a[lane // 4 % 4] @ b[lane // 4 % 4])[lane // 16, lane % 4] + c[lane]


WMMA = [n for n in OPERATIONS if n.startswith("v_wmma")]
KINDS = {"f16": "f16", "bf16": "bf16", "iu8": "i8", "iu4": "i4", "fp8": "fp8", "bf8": "bf8"}


def encoded(values: np.ndarray, kind: str) -> np.ndarray:
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16).astype(U)
    return (values.astype(np.float32).view(U) >> 16).astype(U)


def decoded(codes: np.ndarray, kind: str) -> np.ndarray:
    if kind == "f16":
        return codes.astype(np.uint16).view(np.float16).astype(float)
    return (codes.astype(U) << U(16)).view(np.float32).astype(float)


@pytest.mark.parametrize("op_sel", [0, 4])
@pytest.mark.parametrize("name", WMMA)
def test_wmma(name: str, op_sel: int) -> None:
    """gfx11 repeats A and B in each 16 lanes and spreads rows over them; gfx12 splits k over the two halves of the wave."""
    found = re.match(r"v_wmma_(f32|f16|bf16|i32)_16x16x(\d+)_([a-z0-9]+?)(?:_([a-z0-9]+?))?(\.gfx12)?\.w(32|64)$", name)
    assert found
    accumulate, depth, wave, gfx12 = found.group(1), int(found.group(2)), int(found.group(6)), bool(found.group(5))
    kind_a, kind_b = KINDS[found.group(3)], KINDS[found.group(4) or found.group(3)]
    rng = np.random.default_rng(depth + wave)
    (codes_a, a), (codes_b, b) = (codes_of(k, rng, (16, depth), True) for k in (kind_a, kind_b))
    want = a @ b.T
    lanes = range(wave)
    if gfx12:
        half = depth // 2
        parts = [np.stack([c[lane % 16, lane // 16 * half :][:half] for lane in lanes]) for c in (codes_a, codes_b)]
    else:
        parts = [np.stack([c[lane % 16] for lane in lanes]) for c in (codes_a, codes_b)]
    c = rng.integers(-60, 60, (16, 16)).astype(float)
    short = accumulate in ("f16", "bf16")
    groups = wave // 16

    def row_of(element: int, lane: int) -> int:
        return element + 8 * (lane // 16) if gfx12 else groups * element + lane // 16

    elements = 256 // wave
    columns = np.array([[c[row_of(e, lane), lane % 16] for lane in lanes] for e in range(elements)])
    noise = rng.integers(0, 1 << 32, (elements, wave), dtype=np.uint64).astype(U)
    if not short:
        start = columns.astype(np.float32).view(U) if accumulate == "f32" else columns.astype(np.int32).view(U)
    elif gfx12:
        codes = encoded(columns, accumulate)
        start = codes[0::2] | codes[1::2] << U(16)
    else:
        # One element a register, in the half that op_sel names; the other half stays.
        codes = encoded(columns, accumulate)
        start = noise & U(0xFFFF) | codes << U(16) if op_sel else noise & U(0xFFFF0000) | codes
    modifiers = {"neg_lo": 3 if kind_a in ("i8", "i4") else 0, "op_sel": op_sel if short and not gfx12 else 0}
    results = evaluate(
        name.split(".")[0], [pack(parts[0], kind_a), pack(parts[1], kind_b), list(start)], wave=wave,
        generation="gfx12" if gfx12 else "gfx11", modifiers=modifiers,
    )["results"][0]  # fmt: skip
    for element in range(elements):
        if not short:
            got = results[element].view(np.float32 if accumulate == "f32" else np.int32).astype(float)
        elif gfx12:
            got = decoded(results[element // 2] >> U(16 * (element % 2)) & U(0xFFFF), accumulate)
        else:
            got = decoded(results[element] >> U(16 if op_sel else 0) & U(0xFFFF), accumulate)
            kept = U(0xFFFF) if op_sel else U(0xFFFF0000)
            assert (results[element] & kept == start[element] & kept).all()
        for lane in lanes:
            exact = want[row_of(element, lane), lane % 16] + c[row_of(element, lane), lane % 16]
            if accumulate == "bf16":
                pattern = np.array([exact], np.float32).view(U)
                exact = float(((pattern + 0x7FFF + (pattern >> 16 & 1)) & U(0xFFFF0000)).view(np.float32)[0])
            elif accumulate == "f16":
                exact = float(np.float16(exact))
            assert got[lane] == exact, (element, lane)
