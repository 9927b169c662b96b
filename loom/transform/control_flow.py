"""Structured control flow whose outcome is known, and carried values that carry nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from loom.ir import Block, Operation, Value
from loom.transform.folding import constant_of


def simplify_control_flow(op: Operation) -> bool:
    """Simplify one scf operation; return whether it was replaced or changed."""
    rule = _RULES.get(op.name)
    return rule(op) if rule is not None else False


def yielded(block: Block) -> list[Value]:
    """The values that the block's terminator gives to the operation around it."""
    terminator = block.terminator
    assert terminator is not None
    return terminator.operand_group("values")


def inline_block(op: Operation, block: Block, arguments: Sequence[Value]) -> list[Value]:
    """Move the operations of ``block``, its arguments replaced, before ``op``; return the values its terminator gave.

    ``op`` itself stays, without what was in ``block``.
    """
    for argument, value in zip(block.arguments, arguments, strict=True):
        argument.replace_all_uses_with(value)
    values = yielded(block)
    terminator = block.terminator
    assert terminator is not None
    terminator.erase()
    for inner in block.operations:
        inner.move_before(op)
    return values


def trip_count(op: Operation) -> int | None:
    """How often an ``scf.for`` runs when its bounds are constants, else None."""
    lower, upper, step = (constant_of(op.operand(name)) for name in ("lower", "upper", "step"))
    if not isinstance(lower, int) or not isinstance(upper, int) or not isinstance(step, int) or step <= 0:
        return None
    return max(0, -(-(upper - lower) // step))


def _simplify_if(op: Operation) -> bool:
    condition = constant_of(op.operand("condition"))
    if condition is not None:
        taken = 0 if condition else 1
        if taken < len(op.regions) and op.regions[taken].blocks:
            op.replace_with(inline_block(op, op.regions[taken].blocks[0], ()))
        else:
            op.erase()
        return True
    return _drop_unused_results(op, [r.blocks[0] for r in op.regions if r.blocks])


def _simplify_switch(op: Operation) -> bool:
    selector = constant_of(op.operand("selector"))
    if isinstance(selector, int):
        keys = op.attributes["keys"]
        assert isinstance(keys, tuple)
        region = op.regions[keys.index(selector)] if selector in keys else op.regions[-1]
        op.replace_with(inline_block(op, region.blocks[0], ()))
        return True
    return _drop_unused_results(op, [r.blocks[0] for r in op.regions])


def _drop_unused_results(op: Operation, blocks: Sequence[Block]) -> bool:
    """Remove results nobody uses, with what the regions yield for them."""
    unused = [i for i, r in enumerate(op.results) if not r.has_uses]
    if not unused:
        return False
    for block in blocks:
        terminator = block.terminator
        assert terminator is not None
        terminator.set_operand_group("values", [v for i, v in enumerate(yielded(block)) if i not in unused])
    op.results = [r for i, r in enumerate(op.results) if i not in unused]
    for i, r in enumerate(op.results):
        r.index = i
    return True


def _simplify_for(op: Operation) -> bool:
    count = trip_count(op)
    if count == 0 or op.operand("lower") is op.operand("upper"):
        op.replace_with(op.operand_group("inits"))
        return True
    body = op.body("body")
    if count == 1:
        op.replace_with(inline_block(op, body, [op.operand("lower"), *op.operand_group("inits")]))
        return True
    return _drop_idle_carried_values(op)


def _drop_idle_carried_values(op: Operation) -> bool:
    """Remove carried values of an ``scf.for`` that never change or that only feed themselves."""
    body = op.body("body")
    inits = op.operand_group("inits")
    values = yielded(body)
    dropped: list[int] = []
    for i, (init, value) in enumerate(zip(inits, values, strict=True)):
        argument = body.arguments[i + 1]
        if value is argument or value is init:
            # The same value in every round: what the loop starts with is what it carries and gives.
            argument.replace_all_uses_with(init)
            op.results[i].replace_all_uses_with(init)
            dropped.append(i)
        elif not op.results[i].has_uses and not argument.type_users and set(argument.users) <= {body.terminator}:
            others = [j for j, v in enumerate(values) if v is argument and j != i]
            if not others:
                dropped.append(i)
    if not dropped:
        return False
    terminator = body.terminator
    assert terminator is not None
    terminator.set_operand_group("values", [v for i, v in enumerate(yielded(body)) if i not in dropped])
    op.set_operand_group("inits", [v for i, v in enumerate(op.operand_group("inits")) if i not in dropped])
    for i in reversed(dropped):
        body.erase_argument(i + 1)
    op.results = [r for i, r in enumerate(op.results) if i not in dropped]
    for i, r in enumerate(op.results):
        r.index = i
    return True


def _simplify_lookup(op: Operation) -> bool:
    selector = constant_of(op.operand("selector"))
    if not isinstance(selector, int):
        return False
    keys = op.attributes["keys"]
    assert isinstance(keys, tuple)
    width = len(op.results)
    if selector in keys:
        row = keys.index(selector) * width
        values = op.operand_group("rows")[row : row + width]
    else:
        values = op.operand_group("defaults")
    op.replace_with(values)
    return True


_RULES: Mapping[str, Callable[[Operation], bool]] = {
    "scf.if": _simplify_if,
    "scf.for": _simplify_for,
    "scf.switch": _simplify_switch,
    "scf.lookup": _simplify_lookup,
}
