"""From blocks and branches to structured control flow, so that everything behind it sees one block a region.

A reducible control flow graph gets the loops and branches that it has (:mod:`loom.transform.reduce_cfg`). Any other,
and one with a loop that nothing leaves, becomes a loop over a block number with a switch inside; the entry block stays
in front of it.
"""

from __future__ import annotations

from loom.ir import (
    I1,
    INDEX,
    Block,
    Builder,
    FloatType,
    IndexType,
    IntegerType,
    OffsetType,
    Operation,
    Region,
    Type,
    Value,
    VectorType,
)
from loom.ir.dominance import remove_unreachable
from loom.transform.reduce_cfg import is_reducible, reduce_cfg
from loom.transform.rejection import rejection

_RETURNS = frozenset({"func.return", "template.return", "kernel.return"})


def structurize(function: Operation, region: Region) -> bool:
    """Turn a region of several blocks into one block; return whether there was anything to do.

    Raises:
        LoomError: ``STRUCTURE/001`` when a value that has no placeholder (a view, a buffer) lives across branches.
    """
    if len(region.blocks) <= 1:
        return False
    remove_unreachable(region)
    if is_reducible(region):
        entry = region.blocks[0]
        first = entry.first
        assert first is not None
        reduce_cfg(region, lambda type_: placeholder(Builder.before(first), type_, entry), _unsupported)
    else:
        _form_dispatch(function, region)
    return True


def _top_in(op: Operation, region: Region) -> Operation:
    """The operation directly in a block of ``region`` that ``op`` stands in."""
    while op.parent is not None and op.parent.parent is not region:
        outer = op.parent_op
        if outer is None:
            break
        op = outer
    return op


def _outer_users(value: Value, region: Region) -> list[Operation]:
    return [_top_in(user, region) for user in value.users]


def _unsupported(block: Block) -> Exception:
    first = block.first
    assert first is not None
    return rejection(
        first,
        "a view, buffer or shape lives across the branches from here",
        "STRUCTURE/001",
        "make it in the entry block, or write the loop with scf.for, scf.while and scf.if",
    )


def placeholder(builder: Builder, type_: Type, block: Block) -> Value:
    """A value for a place that nobody reads before it is written."""
    if isinstance(type_, VectorType) and type_.is_static:
        return builder.constant(0.0 if isinstance(type_.element, FloatType) else 0, type_)
    if isinstance(type_, IndexType | OffsetType):
        return builder.constant(0, type_)
    if type_ is I1:
        return builder.constant(False, type_)
    if isinstance(type_, IntegerType):
        return builder.constant(0, type_)
    if isinstance(type_, FloatType):
        return builder.constant(0.0, type_)
    raise _unsupported(block)


def _form_dispatch(function: Operation, region: Region) -> None:
    """Loop over a block number, switch on it, and keep what lives across blocks in carried values."""
    entry, *blocks = region.blocks
    number = {block: i for i, block in enumerate(blocks)}
    returns = [b for b in region.blocks if b.last is not None and b.last.name in _RETURNS]
    template = returns[0].last if returns else None
    result_types = [v.type for v in template.operands] if template is not None else []
    crossing: list[Value] = []
    for block in blocks:
        own = [*block.arguments, *(r for op in block.operations for r in op.results)]
        for v in own:
            if v in block.arguments or any(u.parent is not block for u in _outer_users(v, region)):
                if v.type.values:
                    raise _unsupported(block)
                crossing.append(v)
    enter = entry.terminator
    assert enter is not None
    if enter.name in _RETURNS:
        return
    builder = Builder.before(enter)
    slots = {v: i for i, v in enumerate(crossing)}
    types: list[Type] = [INDEX, *result_types, *(v.type for v in crossing)]
    done = len(blocks)
    placeholders = [placeholder(builder, t, entry) for t in types[1:]]

    def leave(at: Builder, branch: Operation, state: list[Value]) -> list[Value]:
        """The carried values after ``branch``, whose block started with ``state``."""
        after = list(state)
        if branch.name in _RETURNS:
            after[0] = at.constant(done, INDEX)
            after[1 : 1 + len(result_types)] = branch.operands
            return after
        if branch.name == "cfg.br":
            target = branch.successors[0]
            after[0] = at.constant(number[target], INDEX)
            for argument, value in zip(target.arguments, branch.operand_group("arguments"), strict=True):
                after[1 + len(result_types) + slots[argument]] = value
            return after
        chosen = [at.constant(number[s], INDEX) for s in branch.successors]
        after[0] = at.create("scf.select", [branch.operand("condition"), *chosen], [INDEX]).results[0]
        return after

    start = leave(builder, enter, [builder.constant(done, INDEX), *placeholders])
    before_block, after_block = Block(), Block()
    loop = builder.create("scf.while", start, types, {}, [Region([before_block]), Region([after_block])])
    state = [before_block.add_argument(t) for t in types]
    test = Builder.at_end(before_block, function._location)
    more = test.create("index.cmp", [state[0], test.constant(done, INDEX)], [I1], {"predicate": "ne"}).results[0]
    test.create("scf.condition", {"condition": more, "values": state})
    current = [after_block.add_argument(t) for t in types]
    cases: list[Region] = []
    for block in blocks:
        case = Block()
        branch = block.terminator
        assert branch is not None
        first = 1 + len(result_types)
        local: dict[Value, Value] = {v: current[first + i] for v, i in slots.items()}
        defined = {*block.arguments, *(r for op in block.operations for r in op.results)}
        mapping = {v: c for v, c in local.items() if v not in defined or v in block.arguments}
        for op in block.operations:
            if op is not branch:
                case.append(op.clone(mapping))
        at = Builder.at_end(case, branch._location)
        copy = branch.clone(mapping)
        values = [*current[:first], *(mapping.get(v, current[first + slots[v]]) for v in crossing)]
        after = leave(at, copy, values)
        at.create("scf.yield", after)
        copy.drop_uses()
        cases.append(Region([case]))
    default = Block()
    Builder.at_end(default, function._location).create("scf.yield", current)
    step = Builder.at_end(after_block, function._location)
    switch = step.create(
        "scf.switch",
        [current[0]],
        types,
        {"keys": tuple(range(len(blocks)))},
        [*cases, Region([default])],
    )
    step.create("scf.yield", switch.results)
    final = Builder.before(enter)
    return_name = {"func.def": "func.return", "template.def": "template.return"}.get(function.name, "kernel.return")
    final.create(return_name, loop.results[1 : 1 + len(result_types)])
    enter.erase()
    for block in blocks:
        for op in reversed(block.operations):
            op.drop_uses()
            op.remove()
        region.blocks.remove(block)
