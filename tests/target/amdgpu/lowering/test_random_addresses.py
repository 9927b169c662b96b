"""Random index arithmetic in front of loads and stores, against NumPy: offsets, immediates, scaling, what facts allow."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from .harness import kernel, run

LANES = 64
GROUPS = 3
PROGRAMS = int(os.environ.get("LOOM_RANDOM_PROGRAMS", "40"))
TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}

#: A value of the program: its name, and what it is in every (group, item, turn).
Node = tuple[str, np.ndarray]


class Indices:
    """Writes index expressions and computes them for all lanes."""

    def __init__(self, rng: random.Random, lines: list[str]) -> None:
        self.rng = rng
        self.lines = lines
        self.names = 0

    def emit(self, text: str, value: np.ndarray) -> Node:
        self.names += 1
        name = f"n{self.names}"
        self.lines.append(f"  %{name} = {text}")
        return name, value

    def constant(self, number: int) -> Node:
        return self.emit(f"index.constant {number} : index", np.int64(number))

    def tree(self, leaves: list[Node], depth: int) -> Node:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(leaves)
        a, x = self.tree(leaves, depth - 1)
        op = rng.choice(["add", "add", "sub", "mul", "mul", "shli", "div", "rem", "andi", "min", "max", "madd", "or"])
        if op in ("add", "sub", "min", "max"):
            b, y = (
                self.tree(leaves, depth - 1) if rng.random() < 0.6 else self.constant(rng.choice([1, 3, 4, 100, 5000]))
            )
            functions = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum}
            return self.emit(f"index.{op} %{a}, %{b} : index", functions[op](x, y))
        if op == "madd":
            b, y = self.constant(rng.choice([2, 3, 8, 12, 33]))
            c, z = self.tree(leaves, depth - 1)
            return self.emit(f"index.madd %{a}, %{b}, %{c} : index", x * y + z)
        if op in ("div", "rem", "andi", "or") and x.min() < 0:
            op = "mul"
        b, y = self.constant(rng.choice([1, 2, 3]) if op == "shli" else rng.choice([1, 2, 3, 4, 5, 7, 8, 16, 31, 48]))
        if op == "shli":
            return self.emit(f"index.shli %{a}, %{b} : index", x << y)
        if op == "mul":
            return self.emit(f"index.mul %{a}, %{b} : index", x * y)
        if op == "div":
            return self.emit(f"index.div %{a}, %{b} : index", x // y)
        if op == "rem":
            return self.emit(f"index.rem %{a}, %{b} : index", x % y)
        return self.emit(f"index.{'ori' if op == 'or' else op} %{a}, %{b} : index", (x | y) if op == "or" else (x & y))

    def bounded(self, leaves: list[Node], limit: int) -> Node:
        """An expression from 0 to less than ``limit``."""
        for _ in range(50):
            mark = len(self.lines)
            a, x = self.tree(leaves, self.rng.randrange(1, 5))
            low, high = int(np.min(x)), int(np.max(x))
            if low < 0 or self.rng.random() < 0.3:
                b, shift = self.constant(abs(low) + self.rng.choice([0, 0, 1, 17]))
                a, x = self.emit(f"index.add %{a}, %{b} : index", x + shift)
                high = int(np.max(x))
            if int(np.min(x)) >= 0 and high < limit:
                return a, x
            del self.lines[mark:]
        return self.emit("index.add %item, %item : index", 2 * next(v for n, v in leaves if n == "item"))


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_addresses(seed: int) -> None:
    rng = random.Random(seed)
    turns = rng.choice([1, 2, 5])
    shape = (GROUPS, LANES, turns)
    given = np.random.default_rng(seed)
    words = given.integers(0, 50, LANES).astype(np.int32)
    u = np.int32(rng.choice([0, 1, 3, 40]))
    lines: list[str] = []
    made = Indices(rng, lines)
    leaves: list[Node] = [
        ("item", np.broadcast_to(np.arange(LANES)[None, :, None], shape)),
        ("group", np.broadcast_to(np.arange(GROUPS)[:, None, None], shape)),
        ("k", np.broadcast_to(np.arange(turns)[None, None, :], shape)),
        ("ui", np.full(shape, int(u))),
        ("wi", np.broadcast_to(words.astype(np.int64)[None, :, None], shape)),
        ("wm", np.broadcast_to((words & 15).astype(np.int64)[None, :, None], shape)),
    ]
    expected = np.zeros(shape[:2], np.int64)
    views, sources = [], []
    total = "s"
    for access in range(rng.randrange(1, 4)):
        type_ = rng.choice(sorted(TYPES))
        width = rng.choice([1, 1, 2, 4, 8])
        size = np.dtype(TYPES[type_]).itemsize
        rank = rng.choice([1, 2])
        column, y = made.bounded(leaves, 3000 if rank == 1 else 60)
        columns = int(np.max(y)) + width + rng.randrange(3)
        row, x, rows = "", np.int64(0), 1
        if rank == 2:
            row, x = made.bounded(leaves, 40)
            rows = int(np.max(x)) + 1
        base = size * width * rng.choice([0, 0, 1, 4, 300])
        data = given.integers(-100, 100, base // size + rows * columns).astype(TYPES[type_])
        kind = f"view<{f'{rows}x' if rank == 2 else ''}{columns}x{type_}>"
        views.append(f"  %base{access} = index.constant {base} : offset")
        views.append(f"  %view{access} = buffer.view %x{access}[%base{access}] : buffer -> {kind}")
        at = f"%{row}, %{column}" if rank == 2 else f"%{column}"
        parts = []
        if width == 1:
            parts = [f"p{access}_0"]
            lines.append(f"  %{parts[0]} = view.load %view{access}[{at}] : {kind} -> {type_}")
        else:
            lines.append(f"  %q{access} = vector.load %view{access}[{at}] : {kind} -> vector<{width}x{type_}>")
            for lane in range(width):
                parts.append(f"p{access}_{lane}")
                lines.append(f"  %{parts[-1]} = vector.extract %q{access}[{lane}] : vector<{width}x{type_}> -> {type_}")
        for lane, part in enumerate(parts):
            wide = part
            if type_ != "i64":
                wide = f"w{access}_{lane}"
                lines.append(f"  %{wide} = scalar.extsi %{part} : {type_} to i64")
            following = f"t{access}_{lane}"
            scaled = f"m{access}_{lane}"
            lines.append(f"  %{scaled} = scalar.muli %{total}, %three : i64")
            lines.append(f"  %{following} = scalar.addi %{scaled}, %{wide} : i64")
            total = following
        sources.append((data, base // size + np.asarray(x) * columns + y, width))
    for turn in range(turns):
        for data, place, width in sources:
            spot = np.broadcast_to(place, shape)[:, :, turn]
            for lane in range(width):
                expected = expected * 3 + data[spot + lane].astype(np.int64)
    stride, first = rng.choice([1, 2, 3]), rng.choice([0, 1, 9])
    count = GROUPS * LANES * stride + first
    body = "\n".join(
        [
            "  %group = kernel.workgroup.id<x> : index",
            "  %ui = index.cast %u : i32 to index",
            f"  %words = buffer.view %b[%origin] : buffer -> view<{LANES}xi32>",
            f"  %word = view.load %words[%item] : view<{LANES}xi32> -> i32",
            "  %wi = index.cast %word : i32 to index",
            "  %fifteen = scalar.constant 15 : i32",
            "  %low = scalar.andi %word, %fifteen : i32",
            "  %wm = index.cast %low : i32 to index",
            "  %from = index.constant 0 : index",
            "  %by = index.constant 1 : index",
            f"  %turns = index.constant {turns} : index",
            "  %zero = scalar.constant 0 : i64",
            "  %three = scalar.constant 3 : i64",
            *views,
            f"  %out = buffer.view %z[%origin] : buffer -> view<{count}xi64>",
            "  %sum = scf.for %k = [%from to %turns step %by](%s = %zero : i64) -> (i64) {",
            *lines,
            f"  scf.yield %{total} : i64",
            "  }",
            f"  %lanes = index.constant {LANES} : index",
            f"  %stride = index.constant {stride} : index",
            f"  %first = index.constant {first} : index",
            "  %slot = index.madd %group, %lanes, %item : index",
            "  %place = index.madd %slot, %stride, %first : index",
            f"  view.store %sum, %out[%place] : i64, view<{count}xi64>",
        ]
    )
    buffers = ", ".join(f"%x{k}: buffer" for k in range(len(sources)))
    text = kernel(body, f"%u: i32, %b: buffer, {buffers}, %z: buffer", groups=(GROUPS, 1, 1))
    arrays = [data for data, _, _ in sources]
    results, _ = run(
        text, words, *arrays, np.zeros(count, np.int64), u, wave=32 if seed % 2 else 64, groups=(GROUPS, 1, 1)
    )
    assert results[-1][first::stride].tolist() == expected.reshape(-1).tolist()
