"""Random structured programs, run lane by lane in Python and on the simulator: divergence, merges, loops, effects."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from .harness import kernel, run

LANES = 64
PROGRAMS = int(os.environ.get("LOOM_RANDOM_PROGRAMS", "40"))

Environment = dict[str, int]
#: Runs a piece of the program for one lane: its values, and its word of memory.
Step = Callable[[Environment, list[int]], None]
BITS = {"i32": 32, "i64": 64, "i1": 1}

BINARY: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
}
COMPARES: dict[str, Callable[[int, int], bool]] = {
    "slt": lambda a, b: a < b,
    "sge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


def wrap(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


class Program:
    """Writes a program and keeps, beside the text, what it does."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        self.budget = self.rng.randrange(10, 40)
        #: Values that are visible here, innermost scope last.
        self.scope: list[list[tuple[str, str]]] = [[("a", "i32"), ("b", "i32"), ("u", "i32")]]

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def define(self, type: str) -> str:
        name = self.name()
        self.scope[-1].append((name, type))
        return name

    def emit(self, text: str) -> None:
        self.lines.append("  " * (len(self.scope)) + text)

    def pick(self, type: str, steps: list[Step]) -> str:
        visible = [name for scope in self.scope for name, t in scope if t == type]
        if visible and self.rng.random() < 0.85:
            return self.rng.choice(visible[-8:])
        name = self.define(type)
        if type == "i1":
            x, y = self.pick("i32", steps), self.pick("i32", steps)
            compare = self.rng.choice(sorted(COMPARES))
            self.emit(f"%{name} = scalar.cmpi {compare}, %{x}, %{y} : i32")
            test = COMPARES[compare]

            def decide(env: Environment, memory: list[int]) -> None:
                env[name] = int(test(env[x], env[y]))

            # The operands may have been defined by ``pick`` behind the name: keep the order of the text.
            steps.append(decide)
            return name
        number = self.rng.choice([0, 1, 2, 3, 7, -1, 100, 65537, -300])
        self.emit(f"%{name} = scalar.constant {number} : {type}")

        def constant(env: Environment, memory: list[int]) -> None:
            env[name] = number

        steps.append(constant)
        return name

    def block(self, depth: int, yields: list[str]) -> tuple[list[Step], list[str]]:
        """Statements of one region; names of the values that it gives."""
        steps: list[Step] = []
        for _ in range(self.rng.randrange(1, 5)):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement(depth, steps)
        return steps, [self.pick(type, steps) for type in yields]

    def statement(self, depth: int, steps: list[Step]) -> None:
        kinds = ["binary", "binary", "cast", "compare", "logic", "select", "memory"]
        if depth < 4:
            kinds += ["if", "if", "for", "while", "switch"]
        getattr(self, self.rng.choice(kinds) + "_")(depth, steps)

    def binary_(self, depth: int, steps: list[Step], type: str | None = None) -> None:
        type = type or self.rng.choice(["i32", "i32", "i64"])
        x, y = self.pick(type, steps), self.pick(type, steps)
        op = self.rng.choice(sorted(BINARY) if type != "i1" else ["andi", "ori", "xori"])
        name, bits = self.define(type), BITS[type]
        self.emit(f"%{name} = scalar.{op} %{x}, %{y} : {type}")

        def step(env: Environment, memory: list[int]) -> None:
            env[name] = wrap(BINARY[op](env[x], env[y]), bits)

        steps.append(step)

    def logic_(self, depth: int, steps: list[Step]) -> None:
        self.binary_(depth, steps, "i1")

    def cast_(self, depth: int, steps: list[Step]) -> None:
        source, result = self.rng.choice([("i32", "i64"), ("i64", "i32"), ("i1", "i32")])
        x = self.pick(source, steps)
        name = self.define(result)
        op = {"i64": "trunci", "i32": "extsi", "i1": "extui"}[source]
        self.emit(f"%{name} = scalar.{op} %{x} : {source} to {result}")

        def step(env: Environment, memory: list[int]) -> None:
            env[name] = wrap(env[x], BITS[result])

        steps.append(step)

    def compare_(self, depth: int, steps: list[Step]) -> None:
        type = self.rng.choice(["i32", "i64"])
        x, y = self.pick(type, steps), self.pick(type, steps)
        compare = self.rng.choice(sorted(COMPARES))
        name = self.define("i1")
        self.emit(f"%{name} = scalar.cmpi {compare}, %{x}, %{y} : {type}")

        def step(env: Environment, memory: list[int]) -> None:
            env[name] = int(COMPARES[compare](env[x], env[y]))

        steps.append(step)

    def select_(self, depth: int, steps: list[Step]) -> None:
        type = self.rng.choice(["i32", "i64", "i1"])
        c, x, y = self.pick("i1", steps), self.pick(type, steps), self.pick(type, steps)
        name = self.define(type)
        self.emit(f"%{name} = scf.select %{c}, %{x}, %{y} : {type}")

        def step(env: Environment, memory: list[int]) -> None:
            env[name] = env[x] if env[c] else env[y]

        steps.append(step)

    def memory_(self, depth: int, steps: list[Step]) -> None:
        x = self.pick("i32", steps)
        old, new = self.define("i32"), self.define("i32")
        view = self.rng.choice(["one", "other"])
        self.emit(f"%{old} = view.load %{view}[%item] : view<{LANES}xi32> -> i32")
        self.emit(f"%{new} = scalar.addi %{old}, %{x} : i32")
        view = self.rng.choice(["one", "other"])
        self.emit(f"view.store %{new}, %{view}[%item] : i32, view<{LANES}xi32>")

        def step(env: Environment, memory: list[int]) -> None:
            env[old] = memory[0]
            memory[0] = env[new] = wrap(memory[0] + env[x], 32)

        steps.append(step)

    def results(self) -> list[str]:
        return [self.rng.choice(["i32", "i64", "i1", "i32"]) for _ in range(self.rng.randrange(0, 3))]

    def region(self, depth: int, types: list[str], words: str = "scf.yield") -> tuple[list[Step], list[str]]:
        """A region with its terminator; the caller has opened the brace."""
        steps, given = self.block(depth + 1, types)
        values = ", ".join("%" + n for n in given)
        self.emit(f"{words} {values} : {', '.join(types)}" if given else words)
        return steps, given

    def bind(self, types: list[str]) -> tuple[list[str], str, str]:
        """Names of an op's results, the text before ``=``, and the text of their types."""
        names = [self.name() for _ in types]
        left = ", ".join("%" + n for n in names) + " = " if names else ""
        return names, left, f" -> ({', '.join(types)})" if names else ""

    def if_(self, depth: int, steps: list[Step]) -> None:
        c, types = self.pick("i1", steps), self.results()
        names, left, right = self.bind(types)
        self.emit(f"{left}scf.if %{c}{right} {{")
        arms = []
        for arm in range(2):
            self.scope.append([])
            arms.append(self.region(depth, types))
            self.scope.pop()
            if arm == 0:
                self.emit("} else {")
        self.emit("}")
        self.scope[-1].extend(zip(names, types, strict=True))

        def step(env: Environment, memory: list[int]) -> None:
            inner, given = arms[0 if env[c] else 1]
            for s in inner:
                s(env, memory)
            for name, value in zip(names, [env[g] for g in given], strict=True):
                env[name] = value

        steps.append(step)

    def small(self, steps: list[Step], limit: int) -> tuple[str, Callable[[Environment], int]]:
        """An i32 in [0, limit], a power of two less one; and its value."""
        x, mask, name = self.pick("i32", steps), self.name(), self.name()
        self.emit(f"%{mask} = scalar.constant {limit} : i32")
        self.emit(f"%{name} = scalar.andi %{x}, %{mask} : i32")
        return name, lambda env: env[x] & limit

    def carried(self, types: list[str], steps: list[Step]) -> tuple[list[str], list[str], str]:
        starts = [self.pick(type, steps) for type in types]
        inner = [self.name() for _ in types]
        text = ", ".join(f"%{n} = %{s} : {t}" for n, s, t in zip(inner, starts, types, strict=True))
        return starts, inner, text

    def for_(self, depth: int, steps: list[Step]) -> None:
        types = self.results() or ["i32"]
        count, value = self.small(steps, self.rng.choice([1, 3, 7]))
        starts, inner, text = self.carried(types, steps)
        bound, at, word = self.name(), self.name(), self.name()
        self.emit(f"%{bound} = index.cast %{count} : i32 to index")
        names, left, right = self.bind(types)
        self.emit(f"{left}scf.for %{at} = [%from to %{bound} step %by]({text}){right} {{")
        self.scope.append([*zip(inner, types, strict=True), (word, "i32")])
        self.emit(f"%{word} = index.cast %{at} : index to i32")
        body, given = self.region(depth, types)
        self.scope.pop()
        self.emit("}")
        self.scope[-1].extend(zip(names, types, strict=True))

        def step(env: Environment, memory: list[int]) -> None:
            values = [env[s] for s in starts]
            for k in range(value(env)):
                env.update(zip(inner, values, strict=True))
                env[word] = k
                for s in body:
                    s(env, memory)
                values = [env[g] for g in given]
            env.update(zip(names, values, strict=True))

        steps.append(step)

    def while_(self, depth: int, steps: list[Step]) -> None:
        types = ["i32", *self.results()]
        count, value = self.small(steps, self.rng.choice([1, 3, 7]))
        starts, inner, text = self.carried(types[1:], steps)
        counter = self.name()
        names, left, right = self.bind(types)
        self.emit(f"{left}scf.while(%{counter} = %{count} : i32{', ' + text if text else ''}){right} {{")
        self.scope.append([(counter, "i32"), *zip(inner, types[1:], strict=True)])
        before, passed = self.block(depth + 1, types[1:])
        chosen = self.pick("i1", before)
        some, more = self.name(), self.name()
        self.emit(f"%{some} = scalar.cmpi sgt, %{counter}, %none : i32")
        self.emit(f"%{more} = scalar.ori %{some}, %{some} : i1")
        if self.rng.random() < 0.6:
            self.lines[-1] = self.lines[-1].replace(f"ori %{some}, %{some}", f"andi %{some}, %{chosen}")
        else:
            chosen = ""
        self.emit(f"scf.condition %{more}, {', '.join('%' + n for n in [counter, *passed])} : i1, {', '.join(types)}")
        self.scope.pop()
        arguments = [self.name() for _ in types]
        self.emit("} do(" + ", ".join(f"%{n}: {t}" for n, t in zip(arguments, types, strict=True)) + ") {")
        self.scope.append(list(zip(arguments, types, strict=True)))
        body, given = self.block(depth + 1, types[1:])
        less = self.name()
        self.emit(f"%{less} = scalar.subi %{arguments[0]}, %unit : i32")
        self.emit(f"scf.yield {', '.join('%' + n for n in [less, *given])} : {', '.join(types)}")
        self.scope.pop()
        self.emit("}")
        self.scope[-1].extend(zip(names, types, strict=True))

        def step(env: Environment, memory: list[int]) -> None:
            values = [value(env), *(env[s] for s in starts)]
            while True:
                env.update(zip([counter, *inner], values, strict=True))
                for s in before:
                    s(env, memory)
                values = [env[counter], *(env[p] for p in passed)]
                if env[counter] <= 0 or (chosen and not env[chosen]):
                    break
                env.update(zip(arguments, values, strict=True))
                for s in body:
                    s(env, memory)
                values = [env[arguments[0]] - 1, *(env[g] for g in given)]
            env.update(zip(names, values, strict=True))

        steps.append(step)

    def switch_(self, depth: int, steps: list[Step]) -> None:
        types = self.results()
        word, value = self.small(steps, 3)
        selector = self.name()
        self.emit(f"%{selector} = index.cast %{word} : i32 to index")
        cases: list[int | None] = [*sorted(self.rng.sample(range(4), self.rng.randrange(1, 4))), None]
        names, left, right = self.bind(types)
        self.emit(f"{left}scf.switch %{selector}{right} {{")
        arms: dict[int | None, tuple[list[Step], list[str]]] = {}
        for case in cases:
            self.emit("default {" if case is None else f"case {case} {{")
            self.scope.append([])
            arms[case] = self.region(depth, types)
            self.scope.pop()
            self.emit("}")
        self.emit("}")
        self.scope[-1].extend(zip(names, types, strict=True))

        def step(env: Environment, memory: list[int]) -> None:
            chosen = value(env)
            inner, given = arms[chosen if chosen in arms else None]
            for s in inner:
                s(env, memory)
            for name, result in zip(names, [env[g] for g in given], strict=True):
                env[name] = result

        steps.append(step)


HEAD = f"""  %one = buffer.view %z[%origin] : buffer -> view<{LANES}xi32>
  %other = buffer.view %z[%origin] : buffer -> view<{LANES}xi32>
  %va = buffer.view %x[%origin] : buffer -> view<{LANES}xi32>
  %vb = buffer.view %y[%origin] : buffer -> view<{LANES}xi32>
  %a = view.load %va[%item] : view<{LANES}xi32> -> i32
  %b = view.load %vb[%item] : view<{LANES}xi32> -> i32
  %from = index.constant 0 : index
  %by = index.constant 1 : index
  %none = scalar.constant 0 : i32
  %unit = scalar.constant 1 : i32
"""


def program(seed: int) -> tuple[str, Callable[[int, int, int, int], int]]:
    """A kernel's body, and what it leaves in memory for one lane's inputs."""
    made = Program(seed)
    steps: list[Step] = []
    while made.budget > 0:
        made.budget -= 1
        made.statement(0, steps)
    made.cast_(0, steps)
    for name, type in list(made.scope[0])[-6:]:
        word = name
        if type != "i32":
            word = made.define("i32")
            made.emit(f"%{word} = scalar.{'extui' if type == 'i1' else 'trunci'} %{name} : {type} to i32")

            def narrow(env: Environment, memory: list[int], name: str = name, word: str = word) -> None:
                env[word] = wrap(env[name], 32)

            steps.append(narrow)
        made.scope.append([(word, "i32")])
        made.rng.seed(seed)
        old, new = made.name(), made.name()
        made.emit(f"%{old} = view.load %one[%item] : view<{LANES}xi32> -> i32")
        made.emit(f"%{new} = scalar.addi %{old}, %{word} : i32")
        made.emit(f"view.store %{new}, %other[%item] : i32, view<{LANES}xi32>")

        def keep(env: Environment, memory: list[int], word: str = word) -> None:
            memory[0] = wrap(memory[0] + env[word], 32)

        steps.append(keep)
        made.scope.pop()

    def compute(a: int, b: int, u: int, start: int) -> int:
        memory = [start]
        env = {"a": a, "b": b, "u": u}
        for step in steps:
            step(env, memory)
        return memory[0]

    return HEAD + "\n".join(made.lines), compute


def inputs(seed: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(seed)
    yield rng.integers(-(2**31), 2**31, LANES, np.int64).astype(np.int32)
    yield rng.integers(-3, 12, LANES).astype(np.int32)
    yield np.arange(LANES, dtype=np.int32)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_control_flow(seed: int) -> None:
    body, compute = program(seed)
    a, b, start = inputs(seed)
    u = np.int32(seed % 11)
    text = kernel(body, "%u: i32, %x: buffer, %y: buffer, %z: buffer")
    (_, _, got), _ = run(text, a, b, start, u, wave=32 if seed % 2 else 64)
    expected = [compute(int(x), int(y), int(u), int(z)) for x, y, z in zip(a, b, start, strict=True)]
    assert got.tolist() == expected
