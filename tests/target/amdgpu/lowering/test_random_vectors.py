"""Random vector programs against NumPy: packed arithmetic, lanes moved between registers, halves and bytes."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import numpy as np
import pytest

from .harness import kernel, run

LANES = 64
PROGRAMS = int(os.environ.get("LOOM_RANDOM_PROGRAMS", "40"))
TYPES: dict[str, type[np.integer]] = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
WIDTHS = (1, 2, 3, 4, 8)
Array = np.ndarray
Kind = tuple[int, str]

BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": lambda a, b: np.minimum(unsigned(a), unsigned(b)).view(a.dtype),
    "maxui": lambda a, b: np.maximum(unsigned(a), unsigned(b)).view(a.dtype),
}
SHIFTS: dict[str, Callable[[Array, Array], Array]] = {
    "shli": np.left_shift,
    "shrsi": np.right_shift,
    "shrui": lambda a, b: np.right_shift(unsigned(a), unsigned(b)).view(a.dtype),
}
COMPARES: dict[str, Callable[[Array, Array], Array]] = {
    "slt": np.less,
    "eq": np.equal,
    "uge": lambda a, b: unsigned(a) >= unsigned(b),
}


def unsigned(a: Array) -> Array:
    return np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}")


class Program:
    """Writes a program; every value is computed for all lanes (first axis) as it is written."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        self.values: dict[Kind, list[tuple[str, Array]]] = {}

    def keep(self, kind: Kind, name: str, value: Array) -> None:
        assert value.shape == (LANES, kind[0]) and value.dtype == TYPES[kind[1]]
        self.values.setdefault(kind, []).append((name, value))

    def emit(self, kind: Kind, text: str, value: Array) -> None:
        self.names += 1
        self.lines.append(f"  %r{self.names} = {text}")
        self.keep(kind, f"r{self.names}", value)

    def pick(self, kind: Kind) -> tuple[str, Array]:
        if not self.values.get(kind):
            number = self.rng.choice([0, 1, 3, -1, 100, -128])
            self.names += 1
            name = f"r{self.names}"
            self.lines.append(f"  %s{name} = scalar.constant {number} : {kind[1]}")
            self.lines.append(f"  %{name} = vector.splat %s{name} : {text(kind)}")
            self.keep(kind, name, np.full((LANES, kind[0]), number, TYPES[kind[1]]))
        return self.rng.choice(self.values[kind][-5:])

    def statement(self) -> None:
        rng = self.rng
        kind = (
            rng.choice(sorted(self.values)) if rng.random() < 0.9 else (rng.choice(WIDTHS), rng.choice(sorted(TYPES)))
        )
        width, element = kind
        x, a = self.pick(kind)
        choice = rng.choice(
            ["binary"] * 5 + ["shift", "select", "cast", "shuffle", "slice", "concat", "interleave", "insert"]
        )
        if choice == "binary":
            op, (y, b) = rng.choice(sorted(BINARY)), self.pick(kind)
            self.emit(kind, f"vector.{op} %{x}, %{y} : {text(kind)}", BINARY[op](a, b))
        elif choice == "shift":
            op, amount = rng.choice(sorted(SHIFTS)), rng.randrange(int(element[1:]))
            n = self.names
            self.lines.append(f"  %k{n} = scalar.constant {amount} : {element}")
            self.lines.append(f"  %ks{n} = vector.splat %k{n} : {text(kind)}")
            shifted = SHIFTS[op](a, np.full_like(a, amount))
            self.emit(kind, f"vector.{op} %{x}, %ks{n} : {text(kind)}", shifted)
        elif choice == "select":
            op, (y, b), (z, c) = rng.choice(sorted(COMPARES)), self.pick(kind), self.pick(kind)
            n = self.names
            self.lines.append(f"  %c{n} = vector.cmpi {op}, %{x}, %{y} : {text(kind)} -> vector<{width}xi1>")
            chosen = np.where(COMPARES[op](a, b), c, a)
            self.emit(kind, f"vector.select %c{n}, %{z}, %{x} : {text(kind)}", chosen)
        elif choice == "cast":
            other = (width, rng.choice([t for t in sorted(TYPES) if t != element]))
            if int(other[1][1:]) < int(element[1:]):
                op, result = "trunci", a.astype(TYPES[other[1]])
            elif rng.random() < 0.5:
                op, result = "extsi", a.astype(TYPES[other[1]])
            else:
                op, result = "extui", unsigned(a).astype(TYPES[other[1]])
            self.emit(other, f"vector.{op} %{x} : {text(kind)} to {text(other)}", result)
        elif choice == "shuffle":
            order = [rng.randrange(width) for _ in range(width)]
            self.emit(kind, f"vector.shuffle<{order}> %{x} : {text(kind)}", a[:, order])
        elif choice == "slice" and width > 1:
            count = rng.choice([w for w in WIDTHS if w < width])
            first = rng.randrange(width - count + 1)
            piece = (count, element)
            self.emit(piece, f"vector.slice %{x}[{first}] : {text(kind)} -> {text(piece)}", a[:, first : first + count])
        elif choice in ("concat", "interleave") and 2 * width in WIDTHS:
            (y, b), double = self.pick(kind), (2 * width, element)
            joined = np.concatenate([a, b], 1)
            if choice == "interleave":
                joined = np.stack([a, b], 2).reshape(LANES, -1)
            types = f"{text(kind)}, {text(kind)} -> {text(double)}"
            self.emit(double, f"vector.{choice}<0> %{x}, %{y} : {types}", joined)
        elif choice == "insert":
            (y, b), source, place = self.pick(kind), rng.randrange(width), rng.randrange(width)
            n = self.names
            self.lines.append(f"  %e{n} = vector.extract %{x}[{source}] : {text(kind)} -> {element}")
            changed = b.copy()
            changed[:, place] = a[:, source]
            self.emit(kind, f"vector.insert %e{n} into %{y}[{place}] : {element}, {text(kind)}", changed)


def text(kind: Kind) -> str:
    return f"vector<{kind[0]}x{kind[1]}>"


@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_vector_programs(seed: int) -> None:
    made, given = Program(seed), np.random.default_rng(seed)
    head, arguments, arrays = [], [], []
    for kind in made.rng.sample([(w, t) for w in (2, 3, 4, 8) for t in TYPES], 3):
        size = np.dtype(TYPES[kind[1]])
        data = given.integers(np.iinfo(size).min, np.iinfo(size).max, (LANES, kind[0]), endpoint=True, dtype=size)
        name = f"a{len(arrays)}"
        arrays.append(data)
        arguments.append(f"%b{name}: buffer")
        view = f"view<{LANES}x{kind[0]}x{kind[1]}>"
        head.append(f"  %v{name} = buffer.view %b{name}[%origin] : buffer -> {view}")
        head.append(f"  %{name} = vector.load %v{name}[%item, %first] : {view} -> {text(kind)}")
        made.keep(kind, name, data)
    for _ in range(made.rng.randrange(6, 26)):
        made.statement()
    outputs = []
    kinds = sorted(made.values, key=lambda kind: made.names - len(made.values[kind]))
    for kind in kinds[:5]:
        for name, value in made.values[kind][-2:]:
            out, view = f"o{len(outputs)}", f"view<{LANES}x{kind[0]}x{kind[1]}>"
            arguments.append(f"%{out}: buffer")
            head.append(f"  %v{out} = buffer.view %{out}[%origin] : buffer -> {view}")
            made.lines.append(f"  vector.store %{name}, %v{out}[%item, %first] : {text(kind)}, {view}")
            outputs.append(value)
    body = "\n".join(["  %first = index.constant 0 : index", *head, *made.lines])
    blank = [np.zeros_like(value) for value in outputs]
    results, _ = run(kernel(body, ", ".join(arguments)), *arrays, *blank, wave=32 if seed % 2 else 64)
    for value, got in zip(outputs, results[len(arrays) :], strict=True):
        assert got.tolist() == value.tolist()
