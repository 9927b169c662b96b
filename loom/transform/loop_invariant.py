"""Loop-invariant code motion."""

from __future__ import annotations

from loom.ir import Block, Module, Operation, Value
from loom.transform.passes import PassContext

_LOOPS = frozenset({"scf.for", "scf.while"})


def hoist(module: Module, context: PassContext) -> int:
    """Move pure operations whose operands do not change in a loop before the loop, innermost loops first."""
    moved = 0
    for symbol in module.operations:
        loops = [op for op in symbol.walk() if op.name in _LOOPS]
        for loop in reversed(loops):
            moved += _hoist_from(loop)
    return moved


def _defined_inside(value: Value, loop: Operation) -> bool:
    block = value.block
    while block is not None:
        op = block.parent_op
        if op is loop:
            return True
        block = op.parent if op is not None else None
    return False


def _hoist_from(loop: Operation) -> int:
    moved = 0

    def visit(block: Block) -> None:
        nonlocal moved
        for op in block.operations:
            if op.regions:
                if op.name not in _LOOPS:
                    for region in op.regions:
                        for inner in region.blocks:
                            visit(inner)
                continue
            if not op.definition.is_pure or op.definition.is_terminator or not op.results:
                continue
            if "convergent" in op.definition.traits:
                continue
            named = [v for r in op.results for v in r.type.values]
            if any(_defined_inside(v, loop) for v in op.operands) or any(_defined_inside(v, loop) for v in named):
                continue
            op.move_before(loop)
            moved += 1

    for region in loop.regions:
        for block in region.blocks:
            visit(block)
    return moved
