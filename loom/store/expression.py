"""Arithmetic over named parameters, as workload files use it for shapes, values and launch geometry."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from loom.diagnostics import Location, error

Number = int | float

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) else a / b,
    ast.Mod: lambda a, b: a % b,
}
_FUNCTIONS: dict[str, Callable[[Number, Number], Number]] = {
    "cdiv": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
}


def evaluate(text: str | Number, names: Mapping[str, Number], location: Location | None = None) -> Number:
    """Evaluate an expression over ``names``; ``/`` of two integers rounds down, ``cdiv`` rounds up.

    Raises ``WORKLOAD/003`` for anything that is not arithmetic over known names, and for a division by zero.
    """
    if not isinstance(text, str):
        return text
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError) as failure:
        reason = failure.msg if isinstance(failure, SyntaxError) else str(failure)
        hint = f"names: {', '.join(sorted(names))}; operators + - * / %; functions {', '.join(sorted(_FUNCTIONS))}"
        raise error(f"cannot evaluate '{text}': {reason}", "WORKLOAD/003", location, hint=hint) from None


def _value(node: ast.expr, names: Mapping[str, Number]) -> Number:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ValueError(f"no parameter '{node.id}'")
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2 and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return function(_value(node.args[0], names), _value(node.args[1], names))
    raise ValueError(f"'{ast.unparse(node)}' is not arithmetic")
