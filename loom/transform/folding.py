"""Constants of values, and folding one operation by its declaration."""

from __future__ import annotations

from typing import Any

from loom.ir import Builder, Operation, Value


def constant_of(value: Value) -> Any:
    """Return the Python value of a constant, or None when ``value`` is not one."""
    owner = value.owner
    if isinstance(owner, Operation) and "constant" in owner.definition.traits:
        return owner.attributes.get("value")
    return None


def fold_operation(op: Operation) -> bool:
    """Replace ``op`` by what its declared fold gives; return whether it was replaced.

    A fold may give constants for some results only; the op goes when every result is replaced.
    """
    fold = op.definition.fold
    if fold is None or "constant" in op.definition.traits:
        return False
    outcome = fold(op, [constant_of(v) for v in op.operands])
    if outcome is None:
        return False
    builder: Builder | None = None
    remaining = False
    changed = False
    for result, replacement in zip(op.results, outcome, strict=True):
        if replacement is None:
            remaining = True
            continue
        if not isinstance(replacement, Value):
            if builder is None:
                builder = Builder.before(op)
            replacement = builder.constant(replacement, result.type, result.name)
        if replacement is result:
            remaining = True
            continue
        if result.has_uses:
            result.replace_all_uses_with(replacement)
            changed = True
    if not remaining:
        op.erase()
        return True
    return changed
