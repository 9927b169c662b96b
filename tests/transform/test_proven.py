"""Comparisons and minima that facts decide."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Body = Callable[..., list[str]]


def decided(body_after: Body, facts: str, expression: str) -> str:
    """The result of ``expression`` over %a and %b under ``facts``, as the returned name or constant."""
    body = f"%a, %b = index.assume %x, %y [{facts.replace('%a', '%x').replace('%b', '%y')}] : index, index\n{expression}\nfunc.return %r : {'i1' if 'cmp' in expression else 'index'}"
    result = "i1" if "cmp" in expression else "index"
    lines = body_after(f"(%x: index, %y: index) -> ({result})", body, "use-facts", "simplify")
    returned = lines[-1].split()[1]
    for line in lines:
        if line.startswith(f"{returned} = ") and "constant" in line:
            return line.split("constant ")[1].split(" ")[0]
    return returned


@pytest.mark.parametrize(
    ("facts", "expression", "expected"),
    [
        ("range(%a, 0, 63), range(%b, 64, 100)", "%r = index.cmp slt, %a, %b : index", "true"),
        ("range(%a, 0, 63), range(%b, 64, 100)", "%r = index.cmp sge, %a, %b : index", "false"),
        ("range(%a, 0, 63), range(%b, 64, 100)", "%r = index.cmp ult, %a, %b : index", "true"),
        ("range(%a, 0, 64), range(%b, 64, 100)", "%r = index.cmp slt, %a, %b : index", "%r"),
        ("range(%a, -5, 63), range(%b, 64, 100)", "%r = index.cmp ult, %a, %b : index", "%r"),
        ("lt(%a, %b)", "%r = index.cmp slt, %a, %b : index", "true"),
        ("lt(%a, %b)", "%r = index.cmp slt, %b, %a : index", "false"),
        ("range(%a, 0, 4), range(%b, 9, 20)", "%r = index.min %a, %b : index", "%a"),
        ("range(%a, 0, 4), range(%b, 9, 20)", "%r = index.max %a, %b : index", "%b"),
        ("range(%a, 0, 9), range(%b, 9, 20)", "%r = index.rem %a, %b : index", "%r"),
        ("range(%a, 0, 8), range(%b, 9, 20)", "%r = index.rem %a, %b : index", "%a"),
    ],
)
def test_facts_decide(facts: str, expression: str, expected: str, body_after: Body) -> None:
    assert decided(body_after, facts, expression) == expected
