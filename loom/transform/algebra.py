"""Identities that hold for every value of the other operand: one rule a function, found by op name in one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from loom.ir import Builder, FloatType, IndexType, Operation, Value, VectorType, element_type
from loom.transform.folding import constant_of

Rule = Callable[[Operation], "Value | None"]


def simplify_operation(op: Operation) -> bool:
    """Replace a single-result op by an equal, simpler value; return whether that happened."""
    if len(op.results) != 1:
        return False
    for rule in RULES.get(op.name, ()):
        value = rule(op)
        if value is not None:
            if value.owner is op:
                continue
            op.replace_with([value])
            return True
    return False


def _is(value: Value, expected: int) -> bool:
    constant = constant_of(value)
    return isinstance(constant, int) and not isinstance(constant, bool) and constant == expected


def _is_float(value: Value, expected: float) -> bool:
    constant = constant_of(value)
    if not isinstance(constant, float | int) or isinstance(constant, bool):
        return False
    return float(constant) == expected and math.copysign(1.0, float(constant)) == math.copysign(1.0, expected)


def _make(op: Operation, name: str, *operands: Value) -> Value:
    """Create ``name`` before ``op`` with the type of its result."""
    return Builder.before(op).create(name, operands, [op.results[0].type]).results[0]


def _constant(op: Operation, value: Any, like: Value | None = None) -> Value:
    return Builder.before(op).constant(value, (like or op.results[0]).type)


def _family(op: Operation) -> str:
    return op.name.split(".", 1)[0]


def _power_of_two(value: Value) -> int | None:
    """The exponent when ``value`` is a constant 2^k with k >= 0."""
    constant = constant_of(value)
    if isinstance(constant, int) and not isinstance(constant, bool) and constant > 0 and constant & (constant - 1) == 0:
        return constant.bit_length() - 1
    return None


def right_neutral(neutral: int) -> Rule:
    """``x op neutral`` is x."""
    return lambda op: op.operands[0] if _is(op.operands[1], neutral) else None


def absorbing(constant: int) -> Rule:
    """``x op constant`` is that constant, whichever side it stands on."""

    def rule(op: Operation) -> Value | None:
        for v in op.operands[:2]:
            if _is(v, constant):
                return v
        return None

    return rule


def _same_operands_give(constant: int) -> Rule:
    return lambda op: _constant(op, constant) if op.operands[0] is op.operands[1] else None


def _idempotent(op: Operation) -> Value | None:
    return op.operands[0] if op.operands[0] is op.operands[1] else None


def _divide_by_power_of_two(op: Operation) -> Value | None:
    """Unsigned (or, for index, never negative) division by 2^k is a shift."""
    exponent = _power_of_two(op.operands[1])
    if exponent is None:
        return None
    return _make(op, f"{_family(op)}.shrui", op.operands[0], _constant(op, exponent, op.operands[1]))


def _remainder_of_power_of_two(op: Operation) -> Value | None:
    exponent = _power_of_two(op.operands[1])
    if exponent is None:
        return None
    return _make(op, f"{_family(op)}.andi", op.operands[0], _constant(op, (1 << exponent) - 1, op.operands[1]))


def _remainder_of_one(op: Operation) -> Value | None:
    return _constant(op, 0) if _is(op.operands[1], 1) else None


def _join_constants(op: Operation) -> Value | None:
    """``(x + c) + d`` is ``x + (c + d)``, in wrapping arithmetic; offsets do not wrap, so index and integers only."""
    outer = constant_of(op.operands[1])
    inner = op.operands[0].defining_op
    if not isinstance(outer, int) or inner is None or inner.name != op.name or op.attributes or inner.attributes:
        return None
    if not isinstance(op.results[0].type, IndexType):
        return None
    constant = constant_of(inner.operands[1])
    if not isinstance(constant, int):
        return None
    total = constant * outer if op.name == "index.mul" else constant + outer
    if not -(1 << 63) <= total < 1 << 63:
        return None
    return _make(op, op.name, inner.operands[0], _constant(op, total))


def _constant_to_the_right(op: Operation) -> Value | None:
    """Commutative ops carry a constant as their second operand, so that other rules need to look in one place."""
    if constant_of(op.operands[0]) is None or constant_of(op.operands[1]) is not None:
        return None
    first, second = op.operands[0], op.operands[1]
    op.set_operand(0, second)
    op.set_operand(1, first)
    return None


def _multiply_add(op: Operation) -> Value | None:
    a, b, c = op.operands
    for x, y in ((a, b), (b, a)):
        if _is(x, 0):
            return c
        if _is(x, 1):
            return _make(op, "index.add", y, c)
    if _is(c, 0):
        return _make(op, "index.mul", a, b)
    left, right = constant_of(a), constant_of(b)
    if isinstance(left, int) and isinstance(right, int) and -(1 << 63) <= left * right < 1 << 63:
        return _make(op, "index.add", c, _constant(op, left * right))
    return None


def _add_of_negative_zero(op: Operation) -> Value | None:
    """``x + -0.0`` is x for every x; ``x + 0.0`` only where the sign of zero does not matter."""
    x, y = op.operands
    if _is_float(y, -0.0):
        return x
    flags = op.attributes.get("fastmath") or op.attributes.get("flags") or ()
    if isinstance(flags, tuple) and ("nsz" in flags or "fast" in flags) and _is_float(y, 0.0):
        return x
    return None


def _subtract_zero(op: Operation) -> Value | None:
    return op.operands[0] if _is_float(op.operands[1], 0.0) else None


def _multiply_by_one(op: Operation) -> Value | None:
    x, y = op.operands
    return x if _is_float(y, 1.0) else y if _is_float(x, 1.0) else None


def _divide_by_float_power_of_two(op: Operation) -> Value | None:
    """``x / 2^k`` is ``x * 2^-k``, exactly, as long as 2^-k is a normal number of the type."""
    type_ = element_type(op.results[0].type)
    constant = constant_of(op.operands[1])
    if not isinstance(constant, float) or not isinstance(type_, FloatType) or not math.isfinite(constant):
        return None
    lowest = {"f32": -126, "f64": -1022}.get(type_.name)
    mantissa, exponent = math.frexp(constant)
    if lowest is None or abs(mantissa) != 0.5 or not lowest < 1 - exponent < -lowest:
        return None
    reciprocal = _constant(op, 1.0 / constant, op.operands[1])
    if isinstance(op.results[0].type, VectorType) and reciprocal.type is not op.results[0].type:
        return None
    attributes = dict(op.attributes)
    return (
        Builder.before(op)
        .create(f"{_family(op)}.mulf", [op.operands[0], reciprocal], [op.results[0].type], attributes)
        .results[0]
    )


_REFLEXIVE = {"eq": 1, "sle": 1, "sge": 1, "ule": 1, "uge": 1, "ne": 0, "slt": 0, "sgt": 0, "ult": 0, "ugt": 0}


def _compare_with_itself(op: Operation) -> Value | None:
    if op.operands[0] is not op.operands[1] or isinstance(op.results[0].type, VectorType):
        return None
    return _constant(op, bool(_REFLEXIVE[str(op.attributes["predicate"])]))


def _cast_of_cast(op: Operation) -> Value | None:
    """A value widened to index and narrowed to its own type again is unchanged."""
    inner = op.operands[0].defining_op
    if inner is None or inner.name != "index.cast" or inner.operands[0].type is not op.results[0].type:
        return None
    if isinstance(inner.results[0].type, IndexType):
        return inner.operands[0]
    return None


def _same_type(op: Operation) -> Value | None:
    return op.operands[0] if op.operands[0].type is op.results[0].type else None


_ADD = (_constant_to_the_right, right_neutral(0), _join_constants)
_MUL = (_constant_to_the_right, right_neutral(1), absorbing(0))
_BOTH: Mapping[str, tuple[Rule, ...]] = {
    "addi": _ADD,
    "muli": _MUL,
    "subi": (right_neutral(0), _same_operands_give(0)),
    "andi": (_constant_to_the_right, absorbing(0), right_neutral(-1), _idempotent),
    "ori": (_constant_to_the_right, right_neutral(0), _idempotent),
    "xori": (_constant_to_the_right, right_neutral(0), _same_operands_give(0)),
    "shli": (right_neutral(0), absorbing_left := (lambda op: op.operands[0] if _is(op.operands[0], 0) else None)),
    "shrui": (right_neutral(0), absorbing_left),
    "shrsi": (right_neutral(0), absorbing_left),
    "divui": (right_neutral(1), _divide_by_power_of_two),
    "divsi": (right_neutral(1),),
    "remui": (_remainder_of_one, _remainder_of_power_of_two),
    "remsi": (_remainder_of_one,),
    "minsi": (_idempotent,),
    "maxsi": (_idempotent,),
    "minui": (_idempotent,),
    "maxui": (_idempotent,),
    "addf": (_constant_to_the_right, _add_of_negative_zero),
    "subf": (_subtract_zero,),
    "mulf": (_constant_to_the_right, _multiply_by_one),
    "divf": (lambda op: op.operands[0] if _is_float(op.operands[1], 1.0) else None, _divide_by_float_power_of_two),
    "bitcast": (_same_type,),
}

RULES: Mapping[str, tuple[Rule, ...]] = {
    **{f"scalar.{name}": rules for name, rules in _BOTH.items()},
    **{f"vector.{name}": rules for name, rules in _BOTH.items()},
    "index.add": _ADD,
    "index.sub": (right_neutral(0), _same_operands_give(0)),
    "index.mul": (*_MUL, _join_constants),
    "index.madd": (_multiply_add,),
    "index.div": (right_neutral(1), _divide_by_power_of_two),
    "index.rem": (_remainder_of_one, _remainder_of_power_of_two),
    "index.min": (_idempotent,),
    "index.max": (_idempotent,),
    "index.andi": (_constant_to_the_right, absorbing(0), right_neutral(-1), _idempotent),
    "index.ori": (_constant_to_the_right, right_neutral(0), _idempotent),
    "index.xori": (_constant_to_the_right, right_neutral(0), _same_operands_give(0)),
    "index.shli": (right_neutral(0),),
    "index.shrui": (right_neutral(0),),
    "index.shrsi": (right_neutral(0),),
    "index.cmp": (_compare_with_itself,),
    "scalar.cmpi": (_compare_with_itself,),
    "index.cast": (_same_type, _cast_of_cast),
}
