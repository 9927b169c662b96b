"""Delta debugging on the object model: take operations away as long as the module stays interesting.

A candidate is made of the module's printed text, read anew, changed in one place, and printed again; so a candidate
is always something that a user could have written. Whoever asks decides what is interesting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loom import parse, print_module, verify
from loom.diagnostics import LoomError
from loom.ir import Builder, Module, Operation, Value

Interesting = Callable[[str], bool]


@dataclass(slots=True)
class Reduction:
    """A minimized module: its text, operations before and after, and how many candidates were tried."""

    text: str
    before: int
    after: int
    tried: int


def count_operations(text: str) -> int:
    """Number of operations of a module's text."""
    return sum(1 for _ in parse(text, "<reduce>").walk())


def minimize(text: str, interesting: Interesting, budget: int = 400) -> Reduction:
    """Return the smallest module found that ``interesting`` accepts; ``text`` itself must be accepted.

    At most ``budget`` candidates are tried. Steps, coarse to fine: top-level symbols, halves and quarters of a
    block's removable operations, single operations, values replaced by an operand or a constant.
    """
    before = count_operations(text)
    tried = 0
    best = print_module(parse(text, "<reduce>"))
    if not interesting(best):
        best = text
    progress = True
    while progress and tried < budget:
        progress = False
        for change in _changes(best):
            if tried >= budget:
                break
            candidate = _apply(best, change)
            if candidate is None or candidate == best or len(candidate) > len(best):
                continue
            tried += 1
            if interesting(candidate):
                best = candidate
                progress = True
                break
    return Reduction(best, before, count_operations(best), tried)


#: A change: its kind, and the positions (in walk order) of the operations it is about.
Change = tuple[str, tuple[int, ...]]


def _changes(text: str) -> Iterator[Change]:
    """Every change worth trying, coarse ones first."""
    module = parse(text, "<reduce>")
    operations = list(module.walk())
    position = {id(op): index for index, op in enumerate(operations)}
    top = [op for op in module.operations]
    for op in reversed(top):
        if len(top) > 1:
            yield "erase", (position[id(op)],)
    removable = [index for index, op in enumerate(operations) if op.parent_op is not None and not _is_terminator(op)]
    size = len(removable) // 2
    while size >= 2:
        for start in range(len(removable) - size, -1, -size):
            yield "erase", tuple(removable[start : start + size])
        size //= 2
    for index in reversed(removable):
        yield "erase", (index,)
    for index in reversed(removable):
        op = operations[index]
        if len(op.results) == 1 and op.results[0].has_uses:
            yield "forward", (index,)
            if "constant" not in op.name:
                yield "constant", (index,)
    for index in reversed(removable):
        if operations[index].regions:
            yield "inline", (index,)


def _is_terminator(op: Operation) -> bool:
    block = op.results[0].block if op.results else op.parent
    return block is not None and block.terminator is op


def _apply(text: str, change: Change) -> str | None:
    """Make a candidate's text, or ``None`` where the change cannot be made."""
    module = parse(text, "<reduce>")
    operations = list(module.walk())
    kind, positions = change
    try:
        for index in sorted(positions, reverse=True):
            if not _MAKERS[kind](operations[index]):
                return None
        printed = print_module(module)
        verify(parse(printed, "<reduce>"))
        return printed
    except (LoomError, ValueError, KeyError, IndexError, TypeError):
        return None


def _erase(op: Operation) -> bool:
    if any(value.has_uses for value in op.results):
        return False
    op.erase()
    return True


def _forward(op: Operation) -> bool:
    """Replace a result by the first operand of its type."""
    result = op.results[0]
    for operand in op.operands:
        if operand.type is result.type:
            return _replace(op, operand)
    return False


def _constant(op: Operation) -> bool:
    """Replace a result by zero, where its type has one."""
    builder = Builder.before(op)
    for zero in (0, 0.0):
        try:
            return _replace(op, builder.constant(zero, op.results[0].type))
        except (ValueError, LoomError, TypeError):
            continue
    return False


def _replace(op: Operation, value: Value) -> bool:
    op.replace_with([value])
    return True


def _inline(op: Operation) -> bool:
    """Put the body of a structured operation in its place: a loop or condition taken once, without its own
    arguments.
    """
    if op.results or len(op.regions) < 1 or len(op.regions[0].blocks) != 1:
        return False
    block = op.regions[0].blocks[0]
    if block.arguments:
        return False
    for inner in list(block.operations):
        if inner is block.terminator and not inner.results and inner.name.endswith(".yield"):
            continue
        inner.move_before(op)
    op.erase()
    return True


_MAKERS: dict[str, Callable[[Operation], bool]] = {
    "erase": _erase,
    "forward": _forward,
    "constant": _constant,
    "inline": _inline,
}


def keep_root(module: Module, root: str) -> None:
    """Take away checks, benchmarks and scenarios: what a compile of ``root`` never looks at."""
    for op in list(module.operations):
        if op.name.startswith("check."):
            op.erase()
    if module.symbol(root.lstrip("@")) is None:
        raise ValueError(f"the module has no '{root}'")
