"""Predicates of ``assume`` and ``where``, evaluated on run-time values; a false one is undefined behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from loom.ir import Operation, Value
from loom.ir.attributes import Predicate, Ref
from loom.reference.formats import Array
from loom.reference.values import Mask

if TYPE_CHECKING:
    from loom.reference.execution import Frame, Interpreter


def holds(predicate: str, arguments: Sequence[Array]) -> Array:
    """Whether the predicate holds, for each lane; comparisons are signed."""
    first = arguments[0]
    second = arguments[1] if len(arguments) > 1 else first
    if predicate == "eq":
        result = first == second
    elif predicate == "ne":
        result = first != second
    elif predicate == "lt":
        result = first < second
    elif predicate in ("le", "max"):
        result = first <= second
    elif predicate == "gt":
        result = first > second
    elif predicate in ("ge", "min"):
        result = first >= second
    elif predicate == "mul":
        result = (first % np.where(second == 0, 1, second) == 0) & (second != 0)
    elif predicate == "pow2":
        result = (first > 0) & ((first & (first - 1)) == 0)
    elif predicate == "range":
        result = (first >= second) & (first <= arguments[2])
    elif predicate == "finite":
        result = np.isfinite(first)
    else:
        raise ValueError(f"unknown predicate '{predicate}'")
    return np.asarray(result)


def check_predicates(
    interp: Interpreter,
    frame: Frame,
    op: Operation,
    predicates: Sequence[Any],
    values: Sequence[Value],
    mask: Mask,
    what: str,
) -> None:
    """Raise ``REFERENCE/005`` at ``op`` for the first predicate that is false in an active lane.

    A predicate that refers to a value not in ``values`` (a declared result) is not checked.
    """
    for predicate in predicates:
        if not isinstance(predicate, Predicate):
            continue
        if any(isinstance(a, Ref) and a.index >= len(values) for a in predicate.arguments):
            continue
        arguments: list[Array] = []
        for argument in predicate.arguments:
            if isinstance(argument, Ref):
                arguments.append(interp.defined(frame, values[argument.index], op, mask, "predicate"))
            else:
                arguments.append(np.asarray([argument]))
        satisfied = holds(predicate.name, arguments)
        wrong = ~satisfied if mask is None else ~satisfied & mask
        if wrong.any():
            lane = int(np.argmax(wrong))
            shown = ", ".join(str(a[lane if a.shape[0] > 1 else 0]) for a in arguments)
            interp.fail(
                op,
                "REFERENCE/005",
                f"{what}: {predicate.name}({shown}) does not hold",
                frame=frame,
                lane=lane if wrong.shape[0] > 1 else None,
                hint="a wrong assumption is undefined behaviour in compiled code",
            )
