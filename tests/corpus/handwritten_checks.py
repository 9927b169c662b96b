"""Expected values of the programs of ``tests/corpus/checks`` that are written by hand; each function follows what one
program does, with NumPy.
"""

from __future__ import annotations

import numpy as np

from tests.corpus.check_values import store, wrap


def write_shapes() -> None:
    """Rows of ``vector_shapes.loom``; -1 where the program leaves the output alone."""
    v = np.arange(10, 18)
    out = np.full((20, 8), -1, np.int32)
    even, odd, middle = v[::2], v[1::2], v[3:7]
    out[0] = 7
    out[1] = 3 + 7 * np.arange(8)
    out[2, :2] = [7, 3]
    out[3, :2] = [v[2], v[7]]
    out[4] = v
    out[4, 2] = 7
    out[5, :4] = middle
    out[6, :6] = [*middle, 7, 3]
    out[7] = v[::-1]
    out[8] = [*even, *odd]
    out[9, ::2], out[9, 1::2] = odd, even
    out[10, :4], out[10, 4:] = even[3], even
    out[11] = np.where(1 + 2 * np.arange(8) < 12, v, 0)
    out[12, :2] = [v.sum() + 7, 17]
    out[13, :4] = 5 * even
    out[14, :2] = [v[7], v[3]]
    out[15, :4] = even
    nibbles = v & 15
    word = sum(int(n) << (4 * i) for i, n in enumerate(nibbles))
    out[16, 0] = out[19, 0] = wrap(word, 32)
    out[17] = nibbles
    fields = [(word >> (2 * i)) & 3 for i in range(8)]
    out[18] = [f - 4 if f >= 2 else f for f in fields]
    store("vector_shapes.npy", out)


def write_arithmetic() -> None:
    floats = np.zeros(16, np.float32)
    x = np.arange(1, 9)
    floats[0] = (x * x).sum() + 0.5
    floats[1:5] = 100 + (x * x).reshape(4, 2).sum(1)
    floats[5:8] = [np.clip(x, 2, 6).sum() + 0.5, 6, 2]
    store("vector_arithmetic_floats.npy", floats)
    b = np.arange(-2, 14)
    u = b & 255
    ints = np.zeros(16, np.int32)
    ints[0:4] = (b * b).reshape(4, 4).sum(1)
    ints[4:8] = (u * b).reshape(4, 4).sum(1)
    ints[8:12] = (u * u).reshape(4, 4).sum(1)
    ints[12:16] = [1, 2, 225, 2]  # (-1)^2, 1 + 1, 15^2, 1 + 1
    store("vector_arithmetic_ints.npy", ints)


def write_memory() -> None:
    x = np.arange(64).reshape(8, 8)
    kept = np.arange(8)[None, :] < np.arange(8)[:, None]
    out = np.stack([np.where(kept, x, -7), np.where(kept, x, -1), x[:, ::-1], x[:, ::-1]])
    store("vector_memory.npy", out.astype(np.int32))
    lane = np.arange(16)
    views = np.concatenate([115 - lane, (100 + lane).reshape(4, 4).T.ravel()])
    store("views.npy", views.astype(np.int32))
    item = np.arange(64)
    store("atomics_start.npy", np.array([0, -1000, 1000, 0, 0, 0, -1, 0], np.int32))
    ored = int(np.bitwise_or.reduce(item))
    xored = int(np.bitwise_xor.reduce(item))
    store("atomics.npy", np.array([item.sum(), 63, 0, xored, ored, 64, 77, 1], np.int32))


def write_index() -> None:
    i = np.arange(16, dtype=np.int64)
    a = i - 10
    rows = [
        i + 3, a, 3 * a, 10 * i + 3, np.minimum(a, 3), np.maximum(a, 3), i // 3, i % 3, i & 10, i | 10, i ^ 10,
        i << 3, (a.view(np.uint64) >> np.uint64(3)).view(np.int64), a >> 3, 4 * i + 4, a, (a < 3).astype(np.int64),
        (a.view(np.uint64) < 3).astype(np.int64), (i == 3).astype(np.int64), a & 255,
    ]  # fmt: skip
    store("index.npy", np.stack(rows))


def write_geometry() -> None:
    out = np.zeros((6, 16, 8), np.int32)
    for group in range(6):
        gx, gy = group % 3, group // 3
        for item in range(16):
            wx, wy, wz = item % 4, item // 4 % 2, item // 8
            out[group, item] = [wx, wy, wz, gx, gy, gx * 4 + wx, gy * 2 + wy, 2 * 4 + 0]
    store("geometry.npy", out)


def write_subgroups() -> None:
    v = np.random.default_rng(3).integers(-50, 50, 64).astype(np.int64)
    store("subgroups_input.npy", v.astype(np.int32))
    out = np.full((24, 64), -5, np.int64)
    masks = np.zeros((6, 64), np.int64)
    for item in range(64):
        base, lane = item // 32 * 32, item % 32
        own = v[base : base + 32]
        odd = [bool(x & 1) for x in own]
        out[0:4, item] = [lane, item // 32, 2, 32]
        out[4, item] = own.sum()
        out[5, item] = own[lane // 8 * 8 : lane // 8 * 8 + 8].max()
        out[6, item] = own[lane % 8 :: 8].sum()
        out[7, item], out[8, item] = own[: lane + 1].sum(), own[:lane].sum()
        out[9, item] = own[lane : lane // 16 * 16 + 16].max()
        place, cluster = lane % 8, lane // 8 * 8
        out[10, item] = own[cluster + (place ^ 3)]
        out[11, item] = own[lane - 3] if place >= 3 else -1
        out[12, item] = own[lane + 3] if place + 3 < 8 else -1
        out[13, item] = own[cluster + 3]
        out[14, item], out[15, item] = own[5], own[0]
        out[16, item], out[17, item] = any(odd), all(odd)
        ballot = sum(1 << i for i in range(32) if odd[i])
        masks[0, item], masks[1, item] = ballot, (1 << 32) - 1
        masks[2, item] = ballot if odd[lane] else ballot ^ ((1 << 32) - 1)
        out[18, item] = all(odd) or not any(odd)
        masks[3, item] = (1 << 32) - 1 if out[18, item] else 0
        if odd[lane]:
            out[19, item] = own[odd].sum()
            out[20, item] = own[odd.index(True)]
            masks[4, item] = ballot
            out[21, item] = 1
        pair = lane // 2 * 2
        out[22, item], out[23, item] = own[pair] + own[pair + 1], 6
    store("subgroups.npy", out.astype(np.int32))
    store("subgroups_masks.npy", masks)


def write_workgroups() -> None:
    v = np.arange(1, 289).reshape(3, 96)
    total = v.sum(1, keepdims=True)
    running = np.cumsum(v, axis=1)
    rows = [total + 0 * v, v.min(1, keepdims=True) + 0 * v, running, total - running]
    store("workgroups.npy", np.stack([r.ravel() for r in rows]).astype(np.int32))


def collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n = 3 * n + 1 if n & 1 else n // 2
        steps += 1
    return steps


def write_control_flow() -> None:
    i = np.arange(32)
    branch = np.where(i % 2 == 1, np.where(i < 4, 100, 2 * i), -i)
    rows = [
        i * (i - 1) // 2,
        np.array([int(x).bit_count() for x in i]),
        branch,
        np.where(i % 2 == 1, 2000, 1000) + i,
        np.array([collatz(int(x) + 1) for x in i]),
        np.where(i < 16, -1, 1),
        i + 7,
        i * 16,
    ]
    store("control_flow.npy", np.stack(rows).astype(np.int32))


def random_words(seed: int, count: int) -> list[int]:
    """xoroshiro128** from the reference's description, written out a second time."""
    mask = (1 << 64) - 1
    state = []
    z = seed
    for _ in range(2):
        z = (z + 0x9E3779B97F4A7C15) & mask
        x = z
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        state.append(x ^ (x >> 31))
    s0, s1 = state

    def rotate(value: int, places: int) -> int:
        return ((value << places) | (value >> (64 - places))) & mask

    words = []
    for _ in range(count):
        words.append((rotate((s0 * 5) & mask, 7) * 9) & mask)
        t = s1 ^ s0
        s0, s1 = rotate(s0, 24) ^ t ^ ((t << 16) & mask), rotate(t, 37)
    return words


def write_rules() -> None:
    words = random_words(42, 8)
    store("random_words.npy", np.array([w % 1000001 for w in words], np.int64))
    store("random_unit.npy", np.array([(w >> 11) * 2.0**-53 for w in words]))
    store("rules_iota.npy", np.array([0.1 + place * 0.2 for place in (0, 1, 0, 1)]))
    store("rules_bytes.npy", np.arange(-128, 128).astype(np.int8))
    a = np.arange(6.0).reshape(2, 3)
    store("oracle.npy", (a @ np.full((3, 2), 2.0) + 1.0).astype(np.float32))


def write_fragments() -> None:
    generator = np.random.default_rng(9)
    a = generator.integers(-128, 128, (16, 16)).astype(np.int8)
    b = generator.integers(-128, 128, (16, 16)).astype(np.int8)
    store("fragments_a.npy", a.view(np.int32))  # a row of A in four words
    store("fragments_b.npy", np.ascontiguousarray(b.T).view(np.int32))  # a column of B in four words
    store("fragments_bytes.npy", a.astype(np.int32) @ b.astype(np.int32))
    matrix = generator.integers(-3, 4, (16, 16))
    store("fragments_matrix.npy", matrix.astype(np.float16))
    store("fragments_cube.npy", (matrix @ matrix @ matrix).astype(np.float32))


def write_encodings() -> None:
    payload = np.arange(-64, 64).reshape(4, 32)
    scale = np.array([0.25, 0.5, 0.75, 1.0])[:, None]
    store("encodings_numbers.npy", (payload * scale).astype(np.float32))
    store("encodings_again.npy", np.clip(np.rint(payload * 1.5), -128, 127).astype(np.int8))


def write_transforms() -> None:
    """Rows times the Hadamard matrix of order four (Sylvester's construction); times 1/2 it is orthonormal."""
    pair = np.array([[1, 1], [1, -1]])
    rows = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    plain = (rows @ np.kron(pair, pair)).astype(np.float32)
    store("transforms_plain.npy", plain)
    store("transforms_scaled.npy", plain / np.float32(2))


def write_low() -> None:
    left, right = np.arange(1, 49, dtype=np.uint32), np.arange(100, 148, dtype=np.uint32)
    turned = (left >> 8) | (left << 24)
    store("low_rotate.npy", (turned + right).view(np.int32))


def exits(item: int) -> int:
    """What workitem ``item`` of early_exit.loom leaves behind."""
    if item >= 30:
        return 0
    if item < 10:
        if item < 5:
            return 7
        if item == 8:
            return 8
        return 111
    return 7 if item > 20 else 109


def write_early_exit() -> None:
    store("early_exit.npy", np.array([exits(item) for item in range(64)], dtype=np.int32))


def write() -> None:
    """Write all of them."""
    write_shapes()
    write_arithmetic()
    write_memory()
    write_index()
    write_geometry()
    write_subgroups()
    write_workgroups()
    write_control_flow()
    write_rules()
    write_fragments()
    write_encodings()
    write_transforms()
    write_low()
    write_early_exit()
