"""What cannot be compiled: one form for every refusal.

A refusal names four things: the op, its place, the capability that is missing, and the nearest form that works.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom.diagnostics import LoomError, error
from loom.ir import Operation


def rejection(op: Operation, missing: str, code: str, nearest: str, notes: Sequence[str] = ()) -> LoomError:
    """The error for an op that cannot be compiled, ready to raise.

    Args:
        op: The op; its name opens the message, its location is the error's.
        missing: What the compiler or the target cannot do here.
        code: ``GROUP/NNN``.
        nearest: The nearest form that works, as an instruction to the author.
        notes: Further facts, for example other places.
    """
    name = op.name if op.symbol is None else f"{op.name} @{op.symbol}"
    return error(f"{name}: {missing}", code, op.location, hint=nearest, notes=notes)


class NoForm(ValueError):
    """A combination of types or values that has no lowering, raised where the op is not at hand.

    Args:
        missing: What there is none of.
        nearest: The nearest form that works.
    """

    def __init__(self, missing: str, nearest: str) -> None:
        super().__init__(missing)
        self.nearest = nearest
