"""Sparse, scaled and broadcast matrix operations against dense NumPy products of matrices unpacked by the ISA's layout tables.

Values are chosen so that every product and sum is exact: the order of accumulation does not matter here.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from loom.low.semantics.matrix_sparse import SMFMAC, SWMMAC
from loom.low.semantics.operation import Mode
from loom.low.semantics.table import evaluate

U = np.uint32


def codes_of(
    kind: str, rng: np.random.Generator, shape: tuple[int, ...], signed: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Random codes of a kind whose values are small integers (halves for the smallest formats), and these values."""
    integers = rng.integers(-3, 4, shape)
    if kind == "f16":
        return integers.astype(np.float16).view(np.uint16).astype(np.int64), integers.astype(float)
    if kind == "bf16":
        return (integers.astype(np.float32).view(U) >> 16).astype(np.int64), integers.astype(float)
    if kind in ("i8", "i4"):
        bits = int(kind[1:])
        codes = rng.integers(0, 1 << bits, shape)
        values = np.where(codes >> (bits - 1), codes - (1 << bits), codes) if signed else codes
        return codes, values.astype(float)
    # e4m3, e5m2, e2m3, e3m2, e2m1: value (1 + f / 2^m) 2^(e - bias) for the exponents around one, and subnormals.
    bits, fraction, bias = {"fp8": (8, 3, 7), "bf8": (8, 2, 15), "fp6": (6, 3, 1), "bf6": (6, 2, 3), "fp4": (4, 1, 1)}[
        kind
    ]
    low, high = (bias - 1, bias + 2) if bits == 8 else (0, min(4, (1 << (bits - 1 - fraction))))
    exponent = rng.integers(low, high, shape)
    part = rng.integers(0, 1 << fraction, shape)
    sign = rng.integers(0, 2, shape)
    codes = sign << (bits - 1) | exponent << fraction | part
    magnitude = np.where(
        exponent == 0, part * 2.0 ** (1 - bias - fraction), (1 + part * 2.0**-fraction) * 2.0 ** (exponent - bias)
    )
    return codes, np.where(sign, -magnitude, magnitude)


WIDTH = {"f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8, "i4": 4, "fp6": 6, "bf6": 6, "fp4": 4}


def pack(codes: np.ndarray, kind: str, words: int | None = None) -> list[np.ndarray]:
    """Registers from a lane's codes (lane, item), items from the lowest bits up."""
    width = WIDTH[kind]
    result = []
    for row in codes:
        whole = sum(int(c) << (width * i) for i, c in enumerate(row))
        count = -(-len(row) * width // 32)
        result.append([whole >> (32 * k) & 0xFFFFFFFF for k in range(count)])
    registers = np.array(result, dtype=np.uint64).astype(U).T
    extra = [] if words is None else [np.full(len(codes), 0xDEADBEEF, U)] * (words - len(registers))
    return [*registers, *extra]


def cdna_rows(size: int, register: int, lane: int) -> tuple[int, int]:
    """Row and column of a 32-bit result (CDNA3 ISA): 16 rows as 4 a lane, 32 rows in groups of 4 a half of the wave."""
    if size == 16:
        return 4 * (lane // 16) + register, lane % 16
    return 8 * (register // 4) + 4 * (lane // 32) + register % 4, lane % 32


def gathered(size: int, rows: list[np.ndarray]) -> np.ndarray:
    result = np.zeros((size, size))
    for register, word in enumerate(rows):
        for lane in range(64):
            result[cdna_rows(size, register, lane)] = word[lane]
    return result


def random_sparse(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Two ascending positions of four, for each group of four values of k: (row, group, 2)."""
    pairs = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])
    return pairs[rng.integers(0, len(pairs), shape)]


def k_of_lane(size: int, depth: int, kind: str, lane: int) -> list[int]:
    """Values of k that a lane of B holds, in the order of its items (CDNA4 ISA, tables of section 7.5.1)."""
    run = 128 // WIDTH[kind]  # four registers
    group = lane // size
    first = [run * group + i for i in range(run)]
    return first if depth // (64 // size) == run else first + [depth // 2 + k for k in first]


@pytest.mark.parametrize(("name", "fnuz"), [(n, f) for n in SMFMAC for f in (False, True) if not f or n.endswith("f8")])
def test_smfmac(name: str, fnuz: bool) -> None:
    found = re.match(r"v_smfmac_(f32|i32)_(\d+)x\d+x(\d+)_([a-z0-9]+?)(?:_([a-z0-9]+))?$", name)
    assert found
    kind_a, kind_b = found.group(4), found.group(5) or found.group(4)
    size, depth = int(found.group(2)), int(found.group(3))
    rng = np.random.default_rng(len(name) + depth)
    halve = 0.25 if fnuz else 1.0  # the bias is larger by one in A and in B
    codes_a, values_a = codes_of(kind_a, rng, (size, depth // 2))
    codes_b, values_b = codes_of(kind_b, rng, (depth, size))
    places = random_sparse(rng, (size, depth // 4))
    dense = np.zeros((size, depth))
    for row in range(size):
        for group in range(depth // 4):
            for j in range(2):
                dense[row, 4 * group + places[row, group, j]] = values_a[row, 2 * group + j]
    want = dense @ values_b * halve
    groups = 64 // size
    stored = depth // 2 // groups
    set_bits = 2 * stored
    for cbsz, abid in ((0, 0), (0, 1), (0, 3), (1, 3)):
        sets = 32 // set_bits
        chosen = 0 if cbsz else abid % sets
        a_lanes = np.zeros((64, stored), dtype=np.int64)
        b_lanes = np.zeros((64, 2 * stored), dtype=np.int64)
        index = rng.integers(0, 1 << 32, 64, dtype=np.uint64)
        for lane in range(64):
            ks = k_of_lane(size, depth, kind_a, lane)
            b_lanes[lane] = codes_b[ks, lane % size]
            field = 0
            for item in range(0, len(ks), 4):
                group = ks[item] // 4
                for j in range(2):
                    a_lanes[lane, item // 2 + j] = codes_a[lane % size, 2 * group + j]
                    field |= int(places[lane % size, group, j]) << 2 * (item // 2 + j)
            mask = ((1 << set_bits) - 1) << (set_bits * chosen)
            index[lane] = int(index[lane]) & ~mask & 0xFFFFFFFF | field << (set_bits * chosen)
        count = size * size // 64
        c = rng.integers(-50, 50, (count, 64))
        words = c.astype(np.float32).view(U) if found.group(1) == "f32" else c.astype(np.int32).view(U)
        results = evaluate(
            name, [list(words), pack(a_lanes, kind_a), pack(b_lanes, kind_b), index.astype(U)], wave=64, generation="gfx9.4",
            modifiers={"cbsz": cbsz, "abid": abid}, mode=Mode(fnuz=fnuz),
        )["results"][0]  # fmt: skip
        view = np.float32 if found.group(1) == "f32" else np.int32
        got = gathered(size, [w.view(view) for w in results])
        np.testing.assert_array_equal(got, gathered(size, list(c)) + want)


@pytest.mark.parametrize("name", SWMMAC)
@pytest.mark.parametrize("signs", [0, 1, 3])
def test_swmmac(name: str, signs: int) -> None:
    kind_a, kind_b, accumulator, _ = SWMMAC[name]
    found = re.search(r"x(\d+)_(?:iu4|iu8|f16|bf16|fp8|bf8)", name)
    assert found
    depth = int(found.group(1))
    rng = np.random.default_rng(depth + signs)
    integer = kind_a in ("i4", "i8")
    codes_a, values_a = codes_of(kind_a, rng, (16, depth // 2), bool(signs & 1))
    codes_b, values_b = codes_of(kind_b, rng, (depth, 16), bool(signs & 2))
    if kind_a in ("f16", "bf16"):
        values_a = values_a * (-1.0 if signs & 1 else 1.0)
        values_b = values_b * (-1.0 if signs & 2 else 1.0)
    places = random_sparse(rng, (16, depth // 4))
    dense = np.zeros((16, depth))
    for row in range(16):
        for group in range(depth // 4):
            for j in range(2):
                dense[row, 4 * group + places[row, group, j]] = values_a[row, 2 * group + j]
    want = dense @ values_b
    for key in (0, 1) if depth == 32 else (0,):
        half = depth // 2
        a_lanes = np.stack([codes_a[lane % 16, lane // 16 * half // 2 :][: half // 2] for lane in range(32)])
        b_lanes = np.stack([codes_b[lane // 16 * half :, lane % 16][:half] for lane in range(32)])
        index = rng.integers(0, 1 << 32, 32, dtype=np.uint64)
        for lane in range(32):
            groups = places[lane % 16, lane // 16 * half // 4 :][: half // 4].reshape(-1)
            field = sum(int(p) << 2 * i for i, p in enumerate(groups))
            mask = ((1 << 2 * len(groups)) - 1) << 16 * key
            index[lane] = int(index[lane]) & ~mask & 0xFFFFFFFF | field << 16 * key
        c = rng.integers(-20, 20, (16, 16))
        registers = []
        for register in range(8):
            registers.append(np.array([c[register + 8 * (lane // 16), lane % 16] for lane in range(32)]))
        if accumulator == "f32":
            words = [r.astype(np.float32).view(U) for r in registers]
        elif accumulator == "i32":
            words = [r.astype(np.int32).view(U) for r in registers]
        else:
            convert = (
                (lambda r: r.astype(np.float16).view(np.uint16).astype(U))
                if accumulator == "f16"
                else (lambda r: r.astype(np.float32).view(U) >> 16)
            )
            words = [convert(registers[2 * k]) | convert(registers[2 * k + 1]) << 16 for k in range(4)]
        modifiers = {"index_key": key, "neg_lo": signs, "neg_hi": 0 if integer else signs}
        inputs = [words, pack(a_lanes, kind_a), pack(b_lanes, kind_b), index.astype(U)]
        results = evaluate(name, inputs, wave=32, generation="gfx12", modifiers=modifiers)["results"][0]
        got = np.zeros((16, 16))
        for register in range(8):
            if accumulator == "f32":
                row = results[register].view(np.float32)
            elif accumulator == "i32":
                row = results[register].view(np.int32)
            else:
                short = (results[register // 2] >> U(16 * (register % 2)) & U(0xFFFF)).astype(U)
                row = (
                    short.astype(np.uint16).view(np.float16)
                    if accumulator == "f16"
                    else (short << U(16)).view(np.float32)
                )
            for lane in range(32):
                got[register + 8 * (lane // 16), lane % 16] = row[lane]
        exact = c + want
        if accumulator == "f16":
            exact = exact.astype(np.float16).astype(float)
        elif accumulator == "bf16":
            pattern = exact.astype(np.float32).view(U)
            exact = ((pattern + 0x7FFF + (pattern >> 16 & 1)) & U(0xFFFF0000)).view(np.float32).astype(float)
        np.testing.assert_array_equal(got, exact)


def test_swmmac_saturates() -> None:
    """v_swmmac_i32_16x16x32_iu8 with clamp: sums stop at the ends of the range."""
    ones = [np.full(32, 0x7F7F7F7F, U)] * 2
    minus = [np.full(32, 0x80808080, U)] * 4
    index = np.full(32, 0x4444, U)
    for start, words, limit in (
        (0x80000010, minus, 0x80000000),
        (0x7FFFFFF0, [w ^ U(0xFFFFFFFF) for w in minus], 0x7FFFFFFF),
    ):
        results = evaluate(
            "v_swmmac_i32_16x16x32_iu8", [[np.full(32, start, U)] * 8, ones, words, index], wave=32, generation="gfx12",
            modifiers={"neg_lo": 3, "clamp": 1},
        )["results"][0]  # fmt: skip
        assert all((w == limit).all() for w in results)


KINDS = ("fp8", "bf8", "fp6", "bf6", "fp4")
PAIRS = [("fp8", "fp8"), ("bf8", "fp6"), ("fp6", "fp4"), ("bf6", "bf6"), ("fp4", "fp8"), ("fp4", "fp4")]


def scaled_k(depth: int, kind: str, size: int, lane: int) -> list[int]:
    """Values of k that a lane holds (CDNA4 ISA, "Dense Matrix Layouts: 8-bit and Smaller")."""
    group = lane // size
    if WIDTH[kind] < 8:
        return [32 * group + i for i in range(32)]
    return [16 * group + i for i in range(16)] + [depth // 2 + 16 * group + i for i in range(16)]


@pytest.mark.parametrize(("kind_a", "kind_b"), PAIRS)
@pytest.mark.parametrize(("size", "depth"), [(16, 128), (32, 64)])
@pytest.mark.parametrize("scaled", [False, True])
def test_f8f6f4(kind_a: str, kind_b: str, size: int, depth: int, scaled: bool) -> None:
    """v_mfma_f32_16x16x128_f8f6f4 v_mfma_f32_32x32x64_f8f6f4 v_mfma_scale_f32_16x16x128_f8f6f4
    v_mfma_scale_f32_32x32x64_f8f6f4
    """
    rng = np.random.default_rng(size + len(kind_a + kind_b))
    codes_a, values_a = codes_of(kind_a, rng, (size, depth))
    codes_b, values_b = codes_of(kind_b, rng, (depth, size))
    a_lanes = np.stack([codes_a[lane % size, scaled_k(depth, kind_a, size, lane)] for lane in range(64)])
    b_lanes = np.stack([codes_b[scaled_k(depth, kind_b, size, lane), lane % size] for lane in range(64)])
    count = size * size // 64
    c = rng.integers(-8, 8, (count, 64))
    inputs = [pack(a_lanes, kind_a, 8), pack(b_lanes, kind_b, 8), list(c.astype(np.float32).view(U))]
    modifiers = {"cbsz": KINDS.index(kind_a), "blgp": KINDS.index(kind_b)}
    name = f"v_mfma_f32_{size}x{size}x{depth}_f8f6f4"
    if scaled:
        # Bytes 2 of A's register and 1 of B's, 2^-2 … 2^2, a scale for each 32 values of k of a row.
        blocks = depth // 32
        scale_a, scale_b = rng.integers(125, 130, (size, blocks)), rng.integers(125, 130, (size, blocks))
        for side, scales in ((values_a, scale_a), (values_b.T, scale_b)):
            side *= np.repeat(2.0 ** (scales - 127), 32, axis=1)
        noise = rng.integers(0, 1 << 32, (2, 64), dtype=np.uint64)
        registers = []
        for which, (scales, byte) in enumerate(((scale_a, 2), (scale_b, 1))):
            words = [
                int(noise[which, lane]) & ~(255 << 8 * byte) | int(scales[lane % size, lane // size]) << 8 * byte
                for lane in range(64)
            ]
            registers.append(np.array(words, dtype=np.uint64).astype(U))
        inputs += registers
        modifiers |= {"op_sel": 0b10, "op_sel_hi": 0b01}
        name = name.replace("v_mfma", "v_mfma_scale")
    else:
        modifiers |= {"op_sel_hi": 0}
    results = evaluate(name, inputs, wave=64, generation="gfx9.4", modifiers=modifiers)["results"][0]
    got = gathered(size, [w.view(np.float32) for w in results])
    np.testing.assert_array_equal(got, gathered(size, list(c)) + values_a @ values_b)


@pytest.mark.parametrize(
    ("a", "b", "want"), [(254, 254, np.inf), (0, 0, 5.0), (254, 0, 5.0 + 128), (255, 127, np.nan), (127, 255, np.nan)]
)
def test_extreme_scales(a: int, b: int, want: float) -> None:
    """Scales whose product leaves single precision, cancels, or is not a number."""
    ones = [np.full(64, 0x38383838, U)] * 8  # fp8 1.0
    five = [np.full(64, 5.0, np.float32).view(U)] * 4
    results = evaluate(
        "v_mfma_scale_f32_16x16x128_f8f6f4", [ones, ones, five, np.full(64, a, U), np.full(64, b, U)], wave=64,
        generation="gfx9.4", modifiers={"op_sel_hi": 0},
    )["results"][0]  # fmt: skip
    np.testing.assert_array_equal(results[0].view(np.float32), np.full(64, want, np.float32))


@pytest.mark.parametrize(
    ("cbsz", "abid", "blgp"),
    [(0, 0, 1), (0, 0, 2), (0, 0, 3), (0, 0, 4), (0, 0, 6), (0, 0, 7), (1, 1, 0), (2, 3, 0), (1, 0, 5)],
)
def test_broadcasts(cbsz: int, abid: int, blgp: int) -> None:
    """v_mfma_f32_16x16x1_4b_f32 with blocks of A broadcast and lanes of B permuted (CDNA4 ISA, 7.1.6)."""
    rng = np.random.default_rng(cbsz + 8 * abid + 64 * blgp)
    a, b = (rng.integers(-9, 9, 64).astype(np.float32) for _ in range(2))
    c = rng.integers(-9, 9, (16, 64)).astype(np.float32)
    results = evaluate(
        "v_mfma_f32_16x16x1_4b_f32", [[a.view(U)], [b.view(U)], list(c.view(U))], wave=64, generation="gfx9.4",
        modifiers={"cbsz": cbsz, "abid": abid, "blgp": blgp},
    )["results"][0]  # fmt: skip
    block = 64 >> cbsz
    shuffled_a = np.array([a[lane % block + block * abid] for lane in range(64)])
    order = {
        0: lambda x: x, 1: lambda x: x % 32, 2: lambda x: x % 32 + 32, 3: lambda x: (x + 16) % 64, 4: lambda x: x % 16,
        5: lambda x: x % 16 + 16, 6: lambda x: x % 16 + 32, 7: lambda x: x % 16 + 48,
    }[blgp]  # fmt: skip
    shuffled_b = np.array([b[order(lane)] for lane in range(64)])
    for register in range(16):
        block_number, inner = register // 4, register % 4
        for lane in range(64):
            row = 4 * (lane // 16) + inner
            want = c[register, lane] + shuffled_a[row + 16 * block_number] * shuffled_b[lane % 16 + 16 * block_number]
            assert results[register].view(np.float32)[lane] == want


def test_double_precision_keeps_its_lanes() -> None:
    """v_mfma_f64_16x16x4_f64: the broadcast fields of A do nothing, that of B negates A, B and C."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(-9, 9, (2, 64)).astype(np.float64)
    c = rng.integers(-9, 9, (4, 64)).astype(np.float64)

    def words(values: np.ndarray) -> list[np.ndarray]:
        return list(np.ascontiguousarray(values).view(U).reshape(64, 2).T.copy())

    results = evaluate(
        "v_mfma_f64_16x16x4_f64", [words(a), words(b), [w for row in c for w in words(row)]], wave=64, generation="gfx9.4",
        modifiers={"cbsz": 1, "abid": 1, "blgp": 5},
    )["results"][0]  # fmt: skip
    for register in range(4):
        pair = np.stack(results[2 * register : 2 * register + 2], axis=1).copy().view(np.float64)[:, 0]
        for lane in range(64):
            row, column = 4 * register + lane // 16, lane % 16
            dot = sum(-a[row + 16 * k] * b[column + 16 * k] for k in range(4))
            assert pair[lane] == dot - c[register, lane]
