"""Every identity holds on both sides and for edge values: the simplified function gives what Python's integers give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loom.check.execute import Files
from loom.check.executor import ReferenceExecutor, RunOptions
from loom.check.testing import run_tests
from loom.text import parse_module
from loom.transform.simplify import simplify_body

VALUES = (0, 1, 2, 3, 7, 8, 9, 100, 2**31 - 1, -1, -2, -8, -100, -(2**31))


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def unsigned(value: int) -> int:
    return value % 2**32


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# op → (value in Python's integers, whether it is defined for these operands)
MEANING: dict[str, tuple[Callable[[int, int], int], Callable[[int, int], bool]]] = {
    "addi": (lambda a, b: a + b, lambda a, b: True),
    "subi": (lambda a, b: a - b, lambda a, b: True),
    "muli": (lambda a, b: a * b, lambda a, b: True),
    "andi": (lambda a, b: a & b, lambda a, b: True),
    "ori": (lambda a, b: a | b, lambda a, b: True),
    "xori": (lambda a, b: a ^ b, lambda a, b: True),
    "shli": (lambda a, b: a << b, lambda a, b: 0 <= b < 32),
    "shrui": (lambda a, b: unsigned(a) >> b, lambda a, b: 0 <= b < 32),
    "shrsi": (lambda a, b: a >> b, lambda a, b: 0 <= b < 32),
    "divui": (lambda a, b: unsigned(a) // unsigned(b), lambda a, b: b != 0),
    "remui": (lambda a, b: unsigned(a) % unsigned(b), lambda a, b: b != 0),
    "divsi": (truncated, lambda a, b: b != 0 and (a, b) != (-(2**31), -1)),
    "remsi": (lambda a, b: a - b * truncated(a, b), lambda a, b: b != 0 and (a, b) != (-(2**31), -1)),
    "minsi": (min, lambda a, b: True),
    "maxsi": (max, lambda a, b: True),
    "minui": (lambda a, b: min(a, b, key=unsigned), lambda a, b: True),
    "maxui": (lambda a, b: max(a, b, key=unsigned), lambda a, b: True),
}


@pytest.mark.parametrize("name", MEANING)
@pytest.mark.parametrize("constant", [0, 1, -1, 2, 8, 3, None])
def test_identities_hold(name: str, constant: int | None) -> None:
    """``x op c``, ``c op x`` and, for None, ``x op x``, simplified and then run on the reference device."""
    meaning, defined = MEANING[name]
    text = ""
    for side in ("right", "left") if constant is not None else ("both",):
        operands = {"right": "%x, %c", "left": "%c, %x", "both": "%x, %x"}[side]
        define = f"  %c = scalar.constant {constant} : i32\n" if constant is not None else ""
        text += f"func.def pure @{side}(%x: i32) -> (i32) {{\n{define}  %r = scalar.{name} {operands} : i32\n"
        text += "  func.return %r : i32\n}\n"
        for number, x in enumerate(VALUES):
            pair = {"right": (x, constant), "left": (constant, x), "both": (x, x)}[side]
            if not defined(*pair):  # type: ignore[arg-type]
                continue
            expected = wrapped(meaning(*pair))  # type: ignore[arg-type]
            text += f"""check.case public @{side}{number} {{
  %x = check.literal value({x}) : i32
  %r = func.call pure @{side}(%x) : (i32) -> (i32)
  %e = check.literal value({expected}) : i32
  check.expect.equal actual(%r) expected(%e) : i32
  check.return
}}
"""
    module = parse_module(text, "identities.loom")
    for op in module.operations:
        if op.name == "func.def":
            simplify_body(op)
    options = RunOptions()
    run = run_tests(module, lambda: ReferenceExecutor(module, options), options, Files(Path(), Path())).to_json()
    assert run["planning_issues"] == []
    assert [(s["case"], s["issues"]) for s in run["samples"] if not s["passed"]] == []
