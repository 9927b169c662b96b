"""Checks compiled into a kernel: accesses that are not proven to stay inside of their view, assumptions, operations
without a defined result, and ``kernel.assert``.
"""

from __future__ import annotations

from loom.ir import (
    I1,
    INDEX,
    Block,
    Builder,
    IndexType,
    IntegerType,
    Module,
    Operation,
    Predicate,
    Ref,
    Region,
    Value,
)
from loom.ir.facts import FactAnalysis
from loom.transform.bounds import UnprovenSide, unproven_sides
from loom.transform.folding import constant_of
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


def check_assumptions(module: Module, context: PassContext) -> int:
    """Check the predicates of every ``index.assume`` and ``scalar.assume`` on integers; return how many ops.

    Assumes are checked where the ``value`` sanitizer is on, ``sanitizer.assert.value`` always. Predicates on floats
    are left to the reference device.
    """
    names = ("index.assume", "scalar.assume") if "value" in context.sanitizer else ()
    count = 0
    for kernel in module.operations:
        if kernel.name != "kernel.def":
            continue
        for op in list(kernel.region("body").walk()):
            predicates = op.attributes.get("predicates")
            asserted = op.name == "sanitizer.assert.value"
            if (op.name not in names and not asserted) or not isinstance(predicates, tuple):
                continue
            builder = Builder.before(op)
            broken = [
                value
                for predicate in predicates
                if isinstance(predicate, Predicate) and (value := _broken(builder, op, predicate)) is not None
            ]
            if broken:
                condition = broken[0]
                for other in broken[1:]:
                    condition = builder.create("scalar.ori", [condition, other], [I1]).results[0]
                _trap_if(builder, condition, f"{op.name} does not hold")
                count += 1
            if asserted:
                op.erase()
    return count


# Predicate of two arguments → the comparison that says it is violated.
_VIOLATIONS = {"eq": "ne", "ne": "eq", "lt": "sge", "le": "sgt", "gt": "sle", "ge": "slt", "min": "slt", "max": "sgt"}


def _broken(builder: Builder, op: Operation, predicate: Predicate) -> Value | None:
    """Whether a predicate is violated, as a value; None where it is not one over integers."""
    values = [op.operands[a.index] if isinstance(a, Ref) else a for a in predicate.arguments]
    types = {v.type for v in values if isinstance(v, Value)}
    if len(types) != 1 or any(isinstance(v, float) for v in values):
        return None
    kind = types.pop()
    if not isinstance(kind, IndexType | IntegerType):
        return None
    dialect = "index.cmp" if isinstance(kind, IndexType) else "scalar.cmpi"

    def as_value(number: Value | int) -> Value:
        return builder.constant(number, kind) if isinstance(number, int) else number

    def compare(name: str, a: Value | int, b: Value | int) -> Value:
        return builder.create(dialect, [as_value(a), as_value(b)], [I1], {"predicate": name}).results[0]

    def either(a: Value, b: Value) -> Value:
        return builder.create("scalar.ori", [a, b], [I1]).results[0]

    numbers: list[Value | int] = [v if isinstance(v, Value) else int(v) for v in values]
    if predicate.name in _VIOLATIONS:
        return compare(_VIOLATIONS[predicate.name], numbers[0], numbers[1])
    if predicate.name == "range":
        return either(compare("slt", numbers[0], numbers[1]), compare("sgt", numbers[0], numbers[2]))
    family = "index" if isinstance(kind, IndexType) else "scalar"
    if predicate.name == "pow2":
        suffix = "" if family == "index" else "i"
        less = builder.create(f"{family}.sub{suffix}", [as_value(numbers[0]), as_value(1)], [kind]).results[0]
        common = builder.create(f"{family}.andi", [as_value(numbers[0]), less], [kind]).results[0]
        return either(compare("sle", numbers[0], 0), compare("ne", common, 0))
    if predicate.name == "mul" and isinstance(numbers[1], int) and numbers[1] > 0:
        name = "index.rem" if family == "index" else "scalar.remsi"
        rest = builder.create(name, [as_value(numbers[0]), as_value(numbers[1])], [kind]).results[0]
        return compare("ne", rest, 0)
    return None


_DIVISIONS = frozenset(
    f"scalar.{name}" for name in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi")
) | {"index.div", "index.rem"}
_SHIFTS = frozenset(f"{family}.{name}" for family in ("scalar", "index") for name in ("shli", "shrui", "shrsi"))


def check_operations(module: Module, context: PassContext) -> int:
    """Check scalar divisors against zero and shift counts against the width; return how many operations.

    Does nothing unless the ``operation`` sanitizer is on.
    """
    if "operation" not in context.sanitizer:
        return 0
    count = 0
    for kernel in module.operations:
        if kernel.name != "kernel.def":
            continue
        for op in list(kernel.region("body").walk()):
            if op.name not in _DIVISIONS and op.name not in _SHIFTS:
                continue
            kind = op.operands[1].type
            dialect = "scalar.cmpi" if isinstance(kind, IntegerType) else "index.cmp"
            if op.name in _DIVISIONS:
                limit, name, text = 0, "eq", "divides by zero"
            else:
                limit, name, text = kind.width if isinstance(kind, IntegerType) else 64, "uge", "shifts by its width"
            known = constant_of(op.operands[1])
            if isinstance(known, int) and (known != 0 if op.name in _DIVISIONS else 0 <= known < limit):
                continue
            builder = Builder.before(op)
            bad = builder.create(
                dialect, [op.operands[1], builder.constant(limit, kind)], [I1], {"predicate": name}
            ).results[0]
            _trap_if(builder, bad, f"{op.name} {text}")
            count += 1
    return count


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
    return constant_of(op.operand("condition")) is False


def _trap_if(builder: Builder, condition: Value, message: str | None) -> None:
    block = Block()
    inside = Builder.at_end(block, builder.location)
    inside.create(
        "kernel.assert", [inside.constant(False, I1)], [], {"message": message} if message is not None else {}
    )
    inside.create("scf.yield", [])
    builder.create("scf.if", [condition], [], {}, [Region([block]), Region()])
