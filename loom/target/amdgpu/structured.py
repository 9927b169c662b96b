"""Structured Low control flow as blocks and branches, and calls in their place.

``low.scf.if``, ``low.scf.for`` and ``low.scf.while`` branch on SCC, so they are uniform; divergent flow is written
with EXEC
instructions. A counted loop compares and steps its counter by scalar instructions. Unrolling is not done here: a
request for it is a hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loom.ir import Block, Module, Operation, RegisterType, Value, Word, lookup
from loom.low.inline import inline_low_calls
from loom.transform.rejection import rejection

_SCC = RegisterType("amdgpu.scc", 1)
STRUCTURED = ("low.scf.if", "low.scf.for", "low.scf.while")


def expand(module: Module, function: Operation) -> None:
    """Leave nothing in ``function`` but blocks and branches: no structured op and no call.

    Blocks come first: the body of a callee may itself be blocks, which have no place inside of a structured op.

    Raises:
        LoomError: what :func:`flatten` and :func:`loom.low.inline.inline_low_calls` refuse.
    """
    depth: dict[Operation, int] = {}
    flatten(function)
    while inline_low_calls(module, function, depth):
        flatten(function)


def flatten(function: Operation) -> int:
    """Replace every structured op in ``function`` by blocks; returns how many.

    Raises:
        LoomError: ``BACKEND/015`` for a counter that is not one scalar register.
    """
    count = 0
    while True:
        op = next((o for o in function.walk() if o.name in STRUCTURED and o.parent_op is function), None)
        if op is None:
            return count
        count += 1
        {"low.scf.if": _flatten_if, "low.scf.for": _flatten_for, "low.scf.while": _flatten_while}[op.name](op, count)


def _make(
    block: Block,
    name: str,
    operands: Sequence[Value],
    types: Sequence[RegisterType] = (),
    attributes: dict[str, Any] | None = None,
    successors: Sequence[Block] = (),
    location: Any = None,
) -> Operation:
    definition = lookup(name)
    assert definition is not None, name
    made = Operation(definition, list(operands), list(types), attributes or {}, (), list(successors), location)
    block.append(made)
    return made


def _instruction(
    block: Block, mnemonic: str, operands: Sequence[Value], types: Sequence[RegisterType], location: Any
) -> Operation:
    return _make(block, "low.op", operands, types, {"key": Word(f"amdgpu.{mnemonic}")}, (), location)


def _branch(block: Block, target: Block, values: Sequence[Value], location: Any) -> None:
    _make(block, "low.br", values, (), {}, [target], location)


def _rest_of(op: Operation, number: int) -> tuple[Block, Block]:
    """The block that ends in front of ``op``, and the one with what follows it; its arguments are the op's results."""
    here = op.parent
    assert here is not None and op.next is not None
    rest = here.split_before(op.next, f"rest{number}")
    for result in op.results:
        result.replace_all_uses_with(rest.add_argument(result.type, result.name))
    op.remove()
    return here, rest


def _insert(after: Block, label: str) -> Block:
    """A new empty block right behind ``after``."""
    region = after.parent
    assert region is not None
    made = Block(label=label)
    made.parent = region
    region.blocks.insert(region.blocks.index(after) + 1, made)
    return made


def _move(source: Block, target: Block) -> Operation:
    """Move the operations of a region's block to the end of ``target``; returns the terminator, detached."""
    for op in list(source.operations):
        target.append(op.remove())
    last = target.last
    assert last is not None
    return last.remove()


def _flatten_if(op: Operation, number: int) -> None:
    location = op.location
    here, rest = _rest_of(op, number)
    then = _insert(here, f"then{number}")
    other = _insert(then, f"else{number}")
    _make(here, "low.cond_br", [op.operands[0]], (), {}, [then, other], location)
    for block, region in zip((then, other), op.regions, strict=False):
        if region.blocks:
            ender = _move(region.blocks[0], block)
            _branch(block, rest, list(ender.operands), location)
            ender.drop_uses()
    if other.last is None:
        _branch(other, rest, (), location)
    op.drop_uses()


def _flatten_for(op: Operation, number: int) -> None:
    location = op.location
    lower, upper, step = (op.operand(name) for name in ("lower", "upper", "step"))
    if lower.type != RegisterType("amdgpu.sgpr", 1):
        raise rejection(
            op,
            f"it counts in reg<amdgpu.sgpr>, not in {lower.type}",
            "BACKEND/015",
            "write the loop with blocks, or count in one scalar register",
        )
    initial = op.operand_group("inits")
    here, rest = _rest_of(op, number)
    test = _insert(here, f"test{number}")
    body = _insert(test, f"body{number}")
    leave = _insert(body, f"exit{number}")
    source = op.region("body").blocks[0]
    for argument in source.arguments:
        argument.replace_all_uses_with(test.add_argument(argument.type, argument.name))
    counter, carried = test.arguments[0], test.arguments[1:]
    _branch(here, test, [lower, *initial], location)
    compare = "s_cmp_lt_i32" if op.attributes.get("signed") else "s_cmp_lt_u32"
    more = _instruction(test, compare, [counter, upper], [_SCC], location)
    _make(test, "low.cond_br", [more.results[0]], (), {}, [body, leave], location)
    ender = _move(source, body)
    values = list(ender.operands)
    ender.drop_uses()
    following = _instruction(body, "s_add_u32", [counter, step], [RegisterType("amdgpu.sgpr", 1), _SCC], location)
    _branch(body, test, [following.results[0], *values], location)
    _branch(leave, rest, carried, location)
    op.drop_uses()


def _flatten_while(op: Operation, number: int) -> None:
    location = op.location
    initial = op.operand_group("inits")
    here, rest = _rest_of(op, number)
    test = _insert(here, f"test{number}")
    body = _insert(test, f"body{number}")
    leave = _insert(body, f"exit{number}")
    before, after = op.region("before").blocks[0], op.region("after").blocks[0]
    for argument in before.arguments:
        argument.replace_all_uses_with(test.add_argument(argument.type, argument.name))
    _branch(here, test, initial, location)
    condition = _move(before, test)
    flag, values = condition.operands[0], list(condition.operands[1:])
    condition.drop_uses()
    _make(test, "low.cond_br", [flag], (), {}, [body, leave], location)
    for argument, value in zip(after.arguments, values, strict=True):
        argument.replace_all_uses_with(value)
    ender = _move(after, body)
    _branch(body, test, list(ender.operands), location)
    ender.drop_uses()
    _branch(leave, rest, values, location)
    op.drop_uses()
