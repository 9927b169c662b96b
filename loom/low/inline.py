"""Inlining of calls between functions on registers.

A helper's body takes the place of the call; its scheduling contract comes along as an explicit scope, so that a
locked body keeps its
order and a phased one its phases while everything around is scheduled freely.
"""

from __future__ import annotations

from loom.ir import Block, Module, Operation, Value, Word, lookup
from loom.transform.rejection import rejection

_DEEPEST = 64
_CONTRACTS = ("locked", "phased", "constrained")
"""Schedules of a helper that come along as a scope."""


def inline_low_calls(module: Module, function: Operation, depth: dict[Operation, int] | None = None) -> int:
    """Inline every ``low.func.call`` in the blocks of ``function``; returns how many.

    A call inside of a structured op waits until that op has become blocks: a callee of several blocks has no place
    there. ``depth`` says how deep each call is nested, for a caller that flattens and comes back.

    Raises:
        LoomError: ``INLINE/001`` for recursion, ``INLINE/002`` for a callee without a body, ``INLINE/003`` for one that
            must not be inlined or is not virtual.
    """
    count = 0
    depth = {} if depth is None else depth
    body = function.region("body")
    while True:
        calls = [op for block in body.blocks for op in block.operations if op.name == "low.func.call"]
        if not calls:
            return count
        for call in calls:
            level = depth.get(call, 0)
            if level > _DEEPEST:
                raise rejection(
                    call,
                    f"calls of @{call.attributes['callee']} never end",
                    "INLINE/001",
                    "recursion cannot be compiled; write a loop (low.scf.while, or blocks)",
                )
            callee = helper_of(module, call)
            for made in inline_call(call, callee):
                depth[made] = level + 1
            count += 1


def helper_of(module: Module, call: Operation) -> Operation:
    """The ``low.func.def`` that a call names, checked for what inlining needs."""
    name = str(call.attributes["callee"])
    callee = module.symbol(name)
    if callee is None or callee.name != "low.func.def":
        raise rejection(
            call,
            f"@{name} is declared but not defined",
            "INLINE/002",
            "give the module that defines it with --library",
        )
    if callee.attributes.get("inlining") == "noinline":
        raise rejection(
            call, f"@{name} says noinline, but helpers of this target are always inlined", "INLINE/003", "drop noinline"
        )
    if (callee.attributes.get("allocation") or "virtual") != "virtual":
        raise rejection(
            call,
            f"@{name} has allocated registers, which cannot be inlined",
            "INLINE/003",
            "write it with allocation(virtual)",
        )
    for op in callee.walk():
        if op.name in ("low.resource", "low.live_in"):
            missing = f"@{name} is a helper, which sees its arguments only"
            raise rejection(op, missing, "INLINE/003", "pass the register as an argument")
    return callee


def inline_call(call: Operation, callee: Operation) -> list[Operation]:
    """Replace ``call`` by the body of ``callee``; returns the calls inside of it."""
    body = callee.region("body")
    mapping: dict[Value, Value] = dict(zip(body.blocks[0].arguments, call.operands, strict=True))
    schedule = str(callee.attributes.get("schedule") or "free")
    inner: list[Operation] = []
    here = call.parent
    assert here is not None and here.parent is not None
    region = here.parent
    if len(body.blocks) == 1:
        results: list[Value] = []
        _mark(call, "low.schedule.begin", schedule)
        for op in body.blocks[0].operations:
            if op.name == "low.return":
                results = [mapping.get(v, v) for v in op.operands]
                break
            copy = op.clone(mapping)
            if copy._location is None:
                copy.location = call.location
            here.insert_before(call, copy)
            inner += _calls_in(copy)
        _mark(call, "low.schedule.end", schedule)
        call.replace_with(results)
        return inner
    # Several blocks: the code behind the call becomes a block whose arguments are the results.
    following = call.next
    assert following is not None
    rest = here.split_before(following, f"{here.label or 'entry'}_after_{callee.symbol}")
    for result in call.results:
        argument = rest.add_argument(result.type, result.name)
        result.replace_all_uses_with(argument)
    blocks: dict[Block, Block] = {}
    at = region.blocks.index(rest)
    for number, block in enumerate(body.blocks):
        if number == 0:
            blocks[block] = here
            continue
        made = Block(label=f"{callee.symbol}_{block.label or number}_{at}")
        made.parent = region
        region.blocks.insert(at, made)
        at += 1
        blocks[block] = made
        for argument in block.arguments:
            mapping[argument] = made.add_argument(argument.type, argument.name)
    _mark(call, "low.schedule.begin", schedule)
    call_location = call.location
    call.remove()
    copies: list[Operation] = []
    for block in body.blocks:
        target = blocks[block]
        for op in block.operations:
            if op.name == "low.return":
                if schedule in _CONTRACTS:
                    end = _marker("low.schedule.end", schedule)
                    target.append(end)
                branch = Operation(
                    _definition("low.br"), [mapping.get(v, v) for v in op.operands], (), {}, (), [rest], op._location
                )
                target.append(branch)
                copies.append(branch)
                continue
            copy = op.clone(mapping)
            copy.successors = [blocks.get(b, b) for b in op.successors]
            if copy._location is None:
                copy.location = call_location
            target.append(copy)
            copies.append(copy)
            inner += _calls_in(copy)
    for copy in copies:
        for op in copy.walk():
            for i, value in enumerate(op.operands):
                replacement = mapping.get(value)
                if replacement is not None:
                    op.set_operand(i, replacement)
    call.drop_uses()
    return inner


def _calls_in(op: Operation) -> list[Operation]:
    """The calls an operation is or holds."""
    return [inner for inner in op.walk() if inner.name == "low.func.call"]


def _definition(name: str):  # type: ignore[no-untyped-def]
    definition = lookup(name)
    assert definition is not None, name
    return definition


def _marker(name: str, schedule: str) -> Operation:
    return Operation(_definition(name), (), (), {"mode": Word(schedule)} if name.endswith("begin") else {})


def _mark(call: Operation, name: str, schedule: str) -> None:
    """Open or close a scope around an inlined body that has an ordering contract."""
    if schedule in _CONTRACTS and call.parent is not None:
        call.parent.insert_before(call, _marker(name, schedule))
