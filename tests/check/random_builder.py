"""The text of a random program under construction: pools of values by type, in nested scopes."""

from __future__ import annotations

from typing import Any

#: (operation, four numbers that choose operands and variants, steps of the regions).
Step = tuple[int, int, int, int, int, list[Any]]

INTS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
TOTAL = 128


def vec(n: int, e: str) -> str:
    return f"vector<{n}x{e}>"


def parts(t: str) -> tuple[int, str]:
    if t.startswith("vector<"):
        n, e = t[7:-1].split("x", 1)
        return int(n), e
    return 0, t


def pre(t: str) -> str:
    return "vector" if t.startswith("vector") else "scalar"


EDGE_I = [
    0,
    1,
    -1,
    2,
    7,
    31,
    127,
    128,
    255,
    256,
    -128,
    32767,
    -32768,
    65535,
    2**31 - 1,
    -(2**31),
    2**32 - 1,
    2**63 - 1,
    -(2**63),
    12345,
    64,
    65,
    -16,
    -17,
]
EDGE_F = [
    "0.0",
    "-0.0",
    "1.0",
    "-1.0",
    "0.5",
    "2.0",
    "4.0",
    "65504.0",
    "1e-07",
    "3.25",
    "-0.15915494",
    "inf",
    "-inf",
    "1e+30",
]


class Builder:
    def __init__(self, size: int) -> None:
        self.lines: list[str] = []
        self.n = 0
        self.indent = 1
        self.pools: list[dict[str, list[str]]] = [{}]
        self.uniform = True
        self.size = size

    def fresh(self) -> str:
        self.n += 1
        return f"%v{self.n}"

    def raw(self, s: str) -> None:
        self.lines.append("  " * self.indent + s)

    def emit(self, text: str) -> str:
        r = self.fresh()
        self.raw(f"{r} = {text}")
        return r

    def all(self, t: str) -> list[str]:
        return [v for p in self.pools for v in p.get(t, ())]

    def push(self, t: str, v: str) -> None:
        self.pools[-1].setdefault(t, []).append(v)

    def const(self, t: str, k: int | float | str) -> str:
        _n, e = parts(t)
        if e == "index":
            return self.emit(f"index.constant {k} : index")
        if e[0] == "i":
            v = k
            w = BITS[e]
            v &= (1 << w) - 1
            if v >= 1 << (w - 1):
                v -= 1 << w
        else:
            v = k if isinstance(k, str) else repr(float(k))
        return self.emit(f"{pre(t)}.constant {v} : {t}")

    def get(self, t: str, i: int) -> str:
        have = self.all(t)
        n, e = parts(t)
        if n and (not have or i % 5 == 0):
            r = self.emit(f"vector.from_elements {', '.join(self.get(e, i + q) for q in range(n))} : {t}")
            self.push(t, r)
            return r
        if have:
            return have[-1 - i % len(have)]
        if t == "index":
            r = self.emit(f"index.cast {self.get('i32', i)} : i32 to index")
        elif t == "i64":
            x = self.emit(f"scalar.extsi {self.get('i32', i)} : i32 to i64")
            y = self.emit(f"scalar.extui {self.get('i32', i + 1)} : i32 to i64")
            s = self.emit(f"scalar.shli {x}, {self.const('i64', 29)} : i64")
            r = self.emit(f"scalar.xori {s}, {y} : i64")
        elif t in ("i8", "i16"):
            r = self.emit(f"scalar.trunci {self.get('i32', i)} : i32 to {t}")
        elif t == "f64":
            x = self.emit(f"scalar.extf {self.get('f32', i)} : f32 to f64")
            r = self.emit(f"scalar.mulf {x}, {self.const('f64', '1.1')} : f64")
        elif t in ("f16", "bf16"):
            r = self.emit(f"scalar.fptrunc {self.get('f32', i)} : f32 to {t}")
        else:
            raise AssertionError(t)
        self.push(t, r)
        return r

    def small_divisor(self, value: str) -> str:
        low = self.emit(f"index.andi {value}, {self.const('index', 2**40 - 1)} : index")
        return self.emit(f"index.ori {low}, {self.const('index', 1)} : index")

    def cond(self, i: int, j: int, k: int) -> str:
        kind = k % 7
        if kind == 6:
            t = FLOATS[i % 4]
            p = ("olt", "ole", "oeq", "ugt", "uno", "one", "une", "ord", "ueq", "oge")[j % 10]
            return self.emit(f"scalar.cmpf {p}, {self.get(t, i)}, {self.get(t, j)} : {t}")
        t = ("i32", "i32", "i64", "i16", "i8", "index")[kind]
        p = ("eq", "ne", "slt", "sle", "ult", "uge", "sgt", "sge", "ule", "ugt")[(i + j) % 10]
        d = "index" if t == "index" else "scalar"
        return self.emit(f"{d}.cmp{'' if t == 'index' else 'i'} {p}, {self.get(t, i)}, {self.get(t, j)} : {t}")


VECS = [vec(n, e) for e in ("i32", "f32", "i8", "i16", "f16", "i64", "bf16", "f64") for n in (2, 3, 4, 8)] + [
    vec(16, "i8"),
    vec(16, "f16"),
    vec(16, "i32"),
    vec(5, "i32"),
    vec(1, "i32"),
    vec(7, "i8"),
]


def int_type(q: int) -> str:
    c = ["i32", "i32", "i64", "i64", "i16", "i8"] + [v for v in VECS if parts(v)[1][0] == "i"]
    return c[q % len(c)]


def float_type(q: int) -> str:
    c = ["f32", "f32", "f64", "f16", "bf16"] + [v for v in VECS if parts(v)[1][0] != "i"]
    return c[q % len(c)]
