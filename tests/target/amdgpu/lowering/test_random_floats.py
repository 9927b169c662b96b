"""Random floating-point programs against NumPy: exactly rounded, nothing contracted or reassociated, signs and NaNs kept."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import numpy as np
import pytest

from .harness import kernel, run

LANES = 64
PROGRAMS = int(os.environ.get("LOOM_RANDOM_PROGRAMS", "40"))
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
WORDS = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}
Array = np.ndarray


def least(a: Array, b: Array) -> Array:
    """Minimum with -0 less than +0; NaN where either is NaN."""
    both = np.where(a == b, np.where(np.signbit(a), a, b), np.minimum(a, b))
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), both)


def least_number(a: Array, b: Array) -> Array:
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, least(a, b)))


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "minimumf": least,
    "maximumf": lambda a, b: -least(-a, -b),
    "minnumf": least_number,
    "maxnumf": lambda a, b: -least_number(-a, -b),
    "copysignf": np.copysign,
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "negf": np.negative,
    "absf": np.abs,
    "sqrtf": np.sqrt,
    "floorf": np.floor,
    "ceilf": np.ceil,
    "roundevenf": np.rint,
}
COMPARES: dict[str, Callable[[Array, Array], Array]] = {
    "oeq": lambda a, b: a == b,
    "olt": lambda a, b: a < b,
    "oge": lambda a, b: a >= b,
    "une": lambda a, b: a != b,
    "ult": lambda a, b: ~(a >= b),
    "uge": lambda a, b: ~(a < b),
    "ord": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 3.0, -4.0, 6.0e-8, 65504.0]


@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_float_programs(seed: int) -> None:
    rng, given = random.Random(seed), np.random.default_rng(seed)
    lines: list[str] = []
    values: dict[str, list[tuple[str, Array]]] = {}
    arrays = []
    head, arguments = [], []
    for type_, numpy_type in TYPES.items():
        values[type_] = []
        for k in range(2):
            data = np.exp2(given.uniform(-6, 6, LANES)) * given.choice([-1, 1], LANES)
            data[: len(SPECIAL)] = given.permutation(SPECIAL)
            array = data.astype(numpy_type)
            arrays.append(array)
            name = f"{type_}_{k}"
            arguments.append(f"%b{name}: buffer")
            head.append(f"  %v{name} = buffer.view %b{name}[%origin] : buffer -> view<{LANES}x{type_}>")
            head.append(f"  %{name} = view.load %v{name}[%item] : view<{LANES}x{type_}> -> {type_}")
            values[type_].append((name, array))
    uniform = np.float32(rng.choice([1.5, -0.25, 3.0]))
    values["f32"].append(("u", np.full(LANES, uniform)))
    count = 0

    def fresh() -> str:
        nonlocal count
        count += 1
        return f"r{count}"

    def pick(type_: str) -> tuple[str, Array]:
        if rng.random() < 0.12:
            name, number = fresh(), rng.choice([0.0, 1.0, -2.0, 0.5, 4.0, 3.25, 100.0])
            lines.append(f"  %{name} = scalar.constant {number} : {type_}")
            return name, np.full(LANES, number, TYPES[type_])
        return rng.choice(values[type_][-7:])

    for _ in range(rng.randrange(8, 30)):
        type_ = rng.choice(sorted(TYPES))
        kind, (x, a), name = rng.random(), pick(type_), fresh()
        if kind < 0.6:
            op, (y, b) = rng.choice(["addf", "subf", "mulf", *sorted(BINARY)]), pick(type_)
            if op == "copysignf" and np.isnan(b).any():
                op = "addf"  # the sign of a NaN is open
            result = BINARY[op](a, b)
            lines.append(f"  %{name} = scalar.{op} %{x}, %{y} : {type_}")
        elif kind < 0.75:
            op = rng.choice(["negf", "absf", *sorted(UNARY)])
            result = UNARY[op](a)
            lines.append(f"  %{name} = scalar.{op} %{x} : {type_}")
        elif kind < 0.88:
            compare, (y, b), (p, c), (q, d) = rng.choice(sorted(COMPARES)), pick(type_), pick(type_), pick(type_)
            result = np.where(COMPARES[compare](a, b), c, d)
            lines.append(f"  %c{name} = scalar.cmpf {compare}, %{x}, %{y} : {type_}")
            lines.append(f"  %{name} = scf.select %c{name}, %{p}, %{q} : {type_}")
        else:
            wanted = rng.choice([t for t in sorted(TYPES) if t != type_])
            op = "extf" if int(wanted[1:]) > int(type_[1:]) else "fptrunc"
            result = a.astype(TYPES[wanted])
            lines.append(f"  %{name} = scalar.{op} %{x} : {type_} to {wanted}")
            type_ = wanted
        assert result.dtype == TYPES[type_]
        values[type_].append((name, result))
    outputs = []
    for type_ in TYPES:
        for k, (name, value) in enumerate(values[type_][-3:]):
            arguments.append(f"%o{type_}_{k}: buffer")
            head.append(f"  %w{type_}_{k} = buffer.view %o{type_}_{k}[%origin] : buffer -> view<{LANES}x{type_}>")
            lines.append(f"  view.store %{name}, %w{type_}_{k}[%item] : {type_}, view<{LANES}x{type_}>")
            outputs.append((type_, value))
    text = kernel("\n".join([*head, *lines]), ", ".join(["%u: f32", *arguments]))
    blank = [np.zeros(LANES, TYPES[type_]) for type_, _ in outputs]
    results, _ = run(text, *arrays, *blank, uniform, wave=32 if seed % 2 else 64)
    for (type_, value), got in zip(outputs, results[len(arrays) :], strict=True):
        numbers = ~np.isnan(value)
        assert (np.isnan(got) == ~numbers).all()
        word = WORDS[type_]
        assert got.view(word)[numbers].tolist() == value.view(word)[numbers].tolist()
