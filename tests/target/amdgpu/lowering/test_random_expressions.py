"""Random integer programs: every selection and fusion rule against Python's integers."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from .harness import kernel, run

LANES = 64
PROGRAMS = int(os.environ.get("LOOM_RANDOM_PROGRAMS", "40"))


def wrap(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def rotate(value: int, count: int, bits: int) -> int:
    value &= (1 << bits) - 1
    count %= bits
    return (value << count | value >> (bits - count)) if count else value


def leading(value: int, bits: int) -> int:
    return bits - (value & ((1 << bits) - 1)).bit_length()


def trailing(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return (value & -value).bit_length() - 1 if value else bits


def truncated(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


BINARY = {
    "addi": lambda a, b, n: a + b,
    "subi": lambda a, b, n: a - b,
    "muli": lambda a, b, n: a * b,
    "andi": lambda a, b, n: a & b,
    "ori": lambda a, b, n: a | b,
    "xori": lambda a, b, n: a ^ b,
    "minsi": lambda a, b, n: min(a, b),
    "maxsi": lambda a, b, n: max(a, b),
    "minui": lambda a, b, n: min(a & ((1 << n) - 1), b & ((1 << n) - 1)),
    "maxui": lambda a, b, n: max(a & ((1 << n) - 1), b & ((1 << n) - 1)),
    "rotli": lambda a, b, n: rotate(a, b & ((1 << n) - 1), n),
    "rotri": lambda a, b, n: rotate(a, -(b & ((1 << n) - 1)), n),
}
SHIFTS = {
    "shli": lambda a, b, n: a << b,
    "shrui": lambda a, b, n: (a & ((1 << n) - 1)) >> b,
    "shrsi": lambda a, b, n: a >> b,
}
DIVIDES = {
    "divui": lambda a, b, n: (a & ((1 << n) - 1)) // (b & ((1 << n) - 1)),
    "remui": lambda a, b, n: (a & ((1 << n) - 1)) % (b & ((1 << n) - 1)),
    "divsi": lambda a, b, n: truncated(a, b),
    "remsi": lambda a, b, n: a - b * truncated(a, b),
}
UNARY = {
    "negi": lambda a, n: -a,
    "absi": abs,
    "ctpopi": lambda a, n: (a & ((1 << n) - 1)).bit_count(),
    "ctlzi": leading,
    "cttzi": trailing,
    "signi": lambda a, n: (a > 0) - (a < 0),
}
COMPARES = {
    "slt": lambda a, b, n: a < b, "uge": lambda a, b, n: a & ((1 << n) - 1) >= b & ((1 << n) - 1), "eq": lambda a, b, n: a == b,
    "sge": lambda a, b, n: a >= b, "ult": lambda a, b, n: (a & ((1 << n) - 1)) < (b & ((1 << n) - 1)), "ne": lambda a, b, n: a != b,
}  # fmt: skip
COMPARES["uge"] = lambda a, b, n: (a & ((1 << n) - 1)) >= (b & ((1 << n) - 1))


def program(seed: int):
    """A kernel's body, and a function that computes the same for one lane's inputs."""
    rng = random.Random(seed)
    lines: list[str] = []
    steps = []
    values = {8: [], 16: [], 32: ["a", "b", "u"], 64: []}
    inputs = {"a": 32, "b": 32, "u": 32}

    def fresh(bits: int) -> str:
        name = f"v{len(steps)}"
        values[bits].append(name)
        return name

    def pick(bits: int) -> str:
        if not values[bits] or rng.random() < 0.15:
            number = rng.choice(
                [0, 1, 2, 3, 5, 7, 8, 16, 31, 100, 127, -1, -2, -128, 255 if bits > 8 else 77, rng.getrandbits(bits)]
            )
            number = wrap(number, bits)
            name = f"v{len(steps)}"
            lines.append(f"  %{name} = scalar.constant {number} : i{bits}")
            steps.append((name, lambda env, number=number: number))
            return name
        return rng.choice(values[bits][-6:])

    for _ in range(rng.randrange(6, 28)):
        bits = rng.choice([8, 16, 32, 32, 32, 64])
        kind = rng.random()
        if kind < 0.45:
            name = rng.choice(sorted(BINARY))
            x, y = pick(bits), pick(bits)
            r = fresh(bits)
            lines.append(f"  %{r} = scalar.{name} %{x}, %{y} : i{bits}")
            steps.append((r, lambda e, f=BINARY[name], x=x, y=y, n=bits: wrap(f(e[x], e[y], n), n)))
        elif kind < 0.62:
            name = rng.choice(sorted(SHIFTS))
            x, amount = pick(bits), rng.randrange(bits)
            k = f"v{len(steps)}"
            lines.append(f"  %{k} = scalar.constant {amount} : i{bits}")
            steps.append((k, lambda e, amount=amount: amount))
            r = fresh(bits)
            lines.append(f"  %{r} = scalar.{name} %{x}, %{k} : i{bits}")
            steps.append((r, lambda e, f=SHIFTS[name], x=x, b=amount, n=bits: wrap(f(e[x], b, n), n)))
        elif kind < 0.68:
            name = rng.choice(sorted(DIVIDES))
            x, number = pick(bits), rng.choice([3, 5, 7, 10, 16, 100, 127])
            k = f"v{len(steps)}"
            lines.append(f"  %{k} = scalar.constant {number} : i{bits}")
            steps.append((k, lambda e, number=number: number))
            r = fresh(bits)
            lines.append(f"  %{r} = scalar.{name} %{x}, %{k} : i{bits}")
            steps.append((r, lambda e, f=DIVIDES[name], x=x, b=number, n=bits: wrap(f(e[x], b, n), n)))
        elif kind < 0.78:
            name = rng.choice(sorted(UNARY))
            x = pick(bits)
            r = fresh(bits)
            lines.append(f"  %{r} = scalar.{name} %{x} : i{bits}")
            unary = UNARY[name]
            if name == "absi":
                steps.append((r, lambda e, x=x, n=bits: wrap(abs(e[x]), n)))
            else:
                steps.append((r, lambda e, f=unary, x=x, n=bits: wrap(f(e[x], n), n)))
        elif kind < 0.9:
            source = rng.choice([b for b in (8, 16, 32, 64) if b != bits])
            x = pick(source)
            name = "trunci" if bits < source else rng.choice(["extsi", "extui"])
            r = fresh(bits)
            lines.append(f"  %{r} = scalar.{name} %{x} : i{source} to i{bits}")
            if name == "extui":
                steps.append((r, lambda e, x=x, s=source, n=bits: wrap(e[x] & ((1 << s) - 1), n)))
            else:
                steps.append((r, lambda e, x=x, n=bits: wrap(e[x], n)))
        else:
            name = rng.choice(sorted(COMPARES))
            x, y = pick(bits), pick(bits)
            p, q = pick(bits), pick(bits)
            c = f"c{len(steps)}"
            lines.append(f"  %{c} = scalar.cmpi {name}, %{x}, %{y} : i{bits}")
            r = fresh(bits)
            lines.append(f"  %{r} = scf.select %{c}, %{p}, %{q} : i{bits}")
            steps.append(
                (r, lambda e, f=COMPARES[name], x=x, y=y, p=p, q=q, n=bits: e[p] if f(e[x], e[y], n) else e[q])
            )
    # Everything of the end goes into one 64-bit word.
    total = "zero"
    lines.append("  %zero = scalar.constant 0 : i64")
    parts = []
    for bits in (8, 16, 32, 64):
        for name in values[bits][-3:]:
            wide = name
            if bits < 64:
                wide = f"w{len(parts)}"
                lines.append(f"  %{wide} = scalar.extsi %{name} : i{bits} to i64")
            mixed, spun = f"m{len(parts)}", f"s{len(parts)}"
            lines.append(f"  %{mixed} = scalar.xori %{total}, %{wide} : i64")
            if not parts:
                lines.append("  %seven = scalar.constant 7 : i64")
            lines.append(f"  %{spun} = scalar.rotli %{mixed}, %seven : i64")
            total = spun
            parts.append(name)
    lines.append(f"  view.store %{total}, %out[%item] : i64, view<{LANES}xi64>")

    def compute(a: int, b: int, u: int) -> int:
        env = {"a": a, "b": b, "u": u}
        for name, step in steps:
            env[name] = step(env)
        result = 0
        for name in parts:
            result = wrap(rotate(result ^ env[name], 7, 64), 64)
        return result

    assert set(inputs) <= {"a", "b", "u"}
    head = f"""  %va = buffer.view %x[%origin] : buffer -> view<{LANES}xi32>
  %vb = buffer.view %y[%origin] : buffer -> view<{LANES}xi32>
  %out = buffer.view %z[%origin] : buffer -> view<{LANES}xi64>
  %a = view.load %va[%item] : view<{LANES}xi32> -> i32
  %b = view.load %vb[%item] : view<{LANES}xi32> -> i32
"""
    return head + "\n".join(lines), compute


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_integer_programs(seed):
    body, compute = program(seed)
    text = kernel(body, "%u: i32, %x: buffer, %y: buffer, %z: buffer")
    rng = np.random.default_rng(seed)
    a = rng.integers(-(2**31), 2**31, LANES, np.int64).astype(np.int32)
    b = rng.integers(-300, 300, LANES).astype(np.int32)
    u = np.int32(rng.integers(-1000, 1000))
    (_, _, got), _ = run(text, a, b, np.zeros(LANES, np.int64), u, wave=32 if seed % 2 else 64)
    expected = [compute(int(x), int(y), int(u)) for x, y in zip(a, b, strict=True)]
    assert got.tolist() == expected
