"""Checks compiled into a kernel: accesses that are not proven to stay inside of their view, and ``kernel.assert``."""

from __future__ import annotations

from loom.ir import I1, INDEX, Block, Builder, Module, Operation, Region, Value
from loom.ir.facts import FactAnalysis
from loom.transform.bounds import UnprovenSide, unproven_sides
from loom.transform.passes import PassContext


def check_accesses(module: Module, context: PassContext) -> int:
    """Put a check in front of every access that facts do not prove; return how many.

    Does nothing unless the ``access`` sanitizer is on. A failed check ends the kernel with a fault at the access.
    """
    if "access" not in context.sanitizer:
        return 0
    count = 0
    for kernel in module.operations:
        if kernel.name != "kernel.def":
            continue
        analysis = FactAnalysis()
        open_sides = [
            (op, sides) for op in kernel.region("body").walk() if (sides := list(unproven_sides(op, analysis)))
        ]
        for op, sides in open_sides:
            builder = Builder.before(op)
            bad = [_violated(builder, side) for side in sides]
            condition = bad[0]
            for other in bad[1:]:
                condition = builder.create("scalar.ori", [condition, other], [I1]).results[0]
            axes = ", ".join(sorted({str(side.axis) for side in sides}))
            _trap_if(builder, condition, f"{op.name} leaves its view on axis {axes}")
            count += 1
    return count


def _violated(builder: Builder, side: UnprovenSide) -> Value:
    """Whether the access passes that side of its axis."""

    def as_value(number: Value | int) -> Value:
        return builder.constant(number, INDEX) if isinstance(number, int) else number

    index = as_value(side.index)
    if side.side == "lower":
        return builder.create("index.cmp", [index, as_value(0)], [I1], {"predicate": "slt"}).results[0]
    last = index
    if side.covered > 1:
        last = builder.create("index.add", [index, as_value(side.covered - 1)], [INDEX]).results[0]
    return builder.create("index.cmp", [last, as_value(side.extent)], [I1], {"predicate": "sge"}).results[0]


def guard_asserts(module: Module, context: PassContext) -> int:
    """Turn ``kernel.assert %c`` into a branch around an assert of ``false``, the form that lowering takes."""
    count = 0
    for kernel in module.operations:
        if kernel.name != "kernel.def":
            continue
        for op in list(kernel.region("body").walk()):
            if op.name != "kernel.assert" or _is_trap(op):
                continue
            builder = Builder.before(op)
            failed = builder.create("scalar.xori", [op.operand("condition"), builder.constant(True, I1)], [I1]).results[
                0
            ]
            message = op.attributes.get("message")
            _trap_if(builder, failed, message if isinstance(message, str) else None)
            op.erase()
            count += 1
    return count


def _is_trap(op: Operation) -> bool:
    from loom.transform.folding import constant_of

    return constant_of(op.operand("condition")) is False


def _trap_if(builder: Builder, condition: Value, message: str | None) -> None:
    block = Block()
    inside = Builder.at_end(block, builder.location)
    inside.create(
        "kernel.assert", [inside.constant(False, I1)], [], {"message": message} if message is not None else {}
    )
    inside.create("scf.yield", [])
    builder.create("scf.if", [condition], [], {}, [Region([block]), Region()])
