"""Folding, sharing of equal operations, control flow with a known outcome, and dead code, until nothing changes."""

from __future__ import annotations

import struct
from typing import Any

from loom.ir import Block, Module, Operation
from loom.transform.algebra import simplify_operation
from loom.transform.control_flow import simplify_control_flow
from loom.transform.folding import fold_operation
from loom.transform.passes import PassContext

_ROUNDS = 32


def simplify(module: Module, context: PassContext) -> int:
    """Simplify every function-like body of the module to a fixed point; return the number of changes."""
    return sum(simplify_body(op) for op in list(module.operations) if op.regions)


def simplify_body(root: Operation) -> int:
    """Simplify everything inside ``root``; return the number of changes."""
    total = 0
    for _ in range(_ROUNDS):
        changes = 0
        for region in root.regions:
            for block in region.blocks:
                changes += _simplify_block(block, {})
        changes += eliminate_dead_code(root)
        total += changes
        if not changes:
            break
    return total


def attribute_key(value: Any) -> Any:
    """A hashable key under which two attribute values are equal exactly when they mean the same.

    Python's own equality would join ``0.0`` with ``-0.0`` and ``1`` with ``True``, and part a NaN from itself.
    """
    if isinstance(value, float):
        return ("float", struct.pack("<d", value))
    if isinstance(value, dict):
        return tuple(sorted((k, attribute_key(v)) for k, v in value.items()))
    if isinstance(value, tuple):
        return tuple(attribute_key(v) for v in value)
    return (value.__class__.__name__, value)


def operation_key(op: Operation) -> Any:
    """A key that two pure operations share exactly when they compute the same."""
    # The values themselves, not their ids: a key must keep its values alive, or a new value could take an old one's id.
    operands = tuple(op.operands)
    if "commutative" in op.definition.traits and len(operands) == 2 and id(operands[0]) > id(operands[1]):
        operands = (operands[1], operands[0])
    return (
        op.definition.name,
        operands,
        op.segments,
        tuple(r.type for r in op.results),
        tuple(sorted((k, attribute_key(v)) for k, v in op.attributes.items())) if op.attributes else (),
    )


def _simplify_block(block: Block, known: dict[Any, Operation]) -> int:
    """Fold and share within ``block``; ``known`` holds operations of enclosing blocks that dominate it."""
    changes = 0
    scope = dict(known)
    for op in block.operations:
        if op.parent is None:
            continue
        if fold_operation(op) or simplify_operation(op) or (not op.regions and simplify_control_flow(op)):
            changes += 1
            continue
        if op.regions:
            if simplify_control_flow(op):
                changes += 1
                continue
            isolated = any(r.isolated for r in op.definition.regions)
            for region in op.regions:
                for inner in region.blocks:
                    changes += _simplify_block(inner, {} if isolated else scope)
            continue
        if not op.definition.is_pure or not op.results:
            continue
        key = operation_key(op)
        earlier = scope.get(key)
        # A collective in a branch runs with fewer lanes than the same one outside.
        alike = "convergent" not in op.definition.traits or (earlier is not None and earlier.parent is op.parent)
        if earlier is not None and earlier.parent is not None and alike:
            op.replace_with(earlier.results)
            changes += 1
        else:
            scope[key] = op
    return changes


def is_removable(op: Operation) -> bool:
    """Whether the op may go once nothing uses its results: pure, or a read that nobody can observe."""
    traits = op.definition.traits
    if op.definition.is_terminator:
        return False
    if op.regions:
        return op.name in _REMOVABLE_WITH_REGIONS and all(
            is_removable(inner) or inner.definition.is_terminator for region in op.regions for inner in region.walk()
        )
    if op.definition.is_pure:
        return True
    return "reads" in traits and "writes" not in traits and not op.attributes.get("volatile")


_REMOVABLE_WITH_REGIONS = frozenset({"scf.if", "scf.for", "scf.switch"})


def eliminate_dead_code(root: Operation) -> int:
    """Erase removable operations without users inside ``root``, users before definitions; return how many."""
    removed = 0
    work: list[Operation] = []

    def sweep(block: Block) -> None:
        nonlocal removed
        op = block.last
        while op is not None:
            before = op.previous
            for region in op.regions:
                for inner in reversed(region.blocks):
                    sweep(inner)
            if not any(r.has_uses for r in op.results) and is_removable(op):
                work.extend(v.owner for v in op.operands if isinstance(v.owner, Operation))
                op.erase()
                removed += 1
            op = before

    for region in root.regions:
        for block in reversed(region.blocks):
            sweep(block)
    while work:
        op = work.pop()
        if op.parent is None or any(r.has_uses for r in op.results) or not is_removable(op):
            continue
        work.extend(v.owner for v in op.operands if isinstance(v.owner, Operation))
        op.erase()
        removed += 1
    return removed
