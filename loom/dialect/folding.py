"""Constant folding of scalar, index and lanewise ops.

A fold gets a Python value (or None) for each operand and returns the result's value. A vector constant is a splat,
so lanewise ops fold on vectors as on scalars. What has no defined result is left alone: division by zero, shifts by
the width or more, conversions out of range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from loom.ir.core import Operation
from loom.ir.numbers import float_bits, float_of_bits, integer_width, normalize, round_float, wrap_signed, wrap_unsigned
from loom.ir.types import FloatType, IndexType, IntegerType, OffsetType, Type, VectorType, element_type

if TYPE_CHECKING:
    from fractions import Fraction

Fold = Callable[[Operation, Sequence[Any]], Sequence[Any] | None]


def _values(op: Operation, constants: Sequence[Any]) -> list[Any] | None:
    """Return the operands' normalized constants, None when one is missing."""
    found: list[Any] = []
    for value, operand in zip(constants, op.operands, strict=True):
        if not isinstance(value, int | float):
            return None
        found.append(normalize(value, element_type(operand.type)))
    return found


def _answer(value: int | float, type_: Type) -> Any:
    """Return a value in the form that constants are written in: true and false for i1."""
    if isinstance(type_, IntegerType) and type_.width == 1:
        return bool(value & 1)  # type: ignore[operator]
    return value


def _truncated_quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _signed_division(function: Callable[[int, int], int]) -> Callable[[int, int, int], int | None]:
    def divide(a: int, b: int, width: int) -> int | None:
        if b == 0 or (b == -1 and a == -(1 << (width - 1))):
            return None
        return function(a, b)

    return divide


def _unsigned_division(function: Callable[[int, int], int]) -> Callable[[int, int, int], int | None]:
    def divide(a: int, b: int, width: int) -> int | None:
        return function(wrap_unsigned(a, width), wrap_unsigned(b, width)) if b else None

    return divide


def _shift(function: Callable[[int, int, int], int]) -> Callable[[int, int, int], int | None]:
    def shift(a: int, b: int, width: int) -> int | None:
        return function(a, b, width) if 0 <= b < width else None

    return shift


def _rotate_left(a: int, b: int, width: int) -> int:
    count = wrap_unsigned(b, width) % width
    bits = wrap_unsigned(a, width)
    return bits << count | bits >> (width - count)


def _unsigned(choose: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
    return lambda a, b, width: choose(wrap_unsigned(a, width), wrap_unsigned(b, width))


INTEGER_BINARY: dict[str, Callable[[int, int, int], int | None]] = {
    "addi": lambda a, b, w: a + b,
    "subi": lambda a, b, w: a - b,
    "muli": lambda a, b, w: a * b,
    "shli": _shift(lambda a, b, w: a << b),
    "divsi": _signed_division(_truncated_quotient),
    "divui": _unsigned_division(lambda a, b: a // b),
    "remsi": _signed_division(lambda a, b: a - b * _truncated_quotient(a, b)),
    "remui": _unsigned_division(lambda a, b: a % b),
    "ceildivsi": _signed_division(lambda a, b: -(-a // b)),
    "ceildivui": _unsigned_division(lambda a, b: -(-a // b)),
    "floordivsi": _signed_division(lambda a, b: a // b),
    "minsi": lambda a, b, w: min(a, b),
    "maxsi": lambda a, b, w: max(a, b),
    "minui": _unsigned(min),
    "maxui": _unsigned(max),
    "andi": lambda a, b, w: a & b,
    "ori": lambda a, b, w: a | b,
    "xori": lambda a, b, w: a ^ b,
    "shrsi": _shift(lambda a, b, w: a >> b),
    "shrui": _shift(lambda a, b, w: wrap_unsigned(a, w) >> b),
    "rotli": _rotate_left,
    "rotri": lambda a, b, w: _rotate_left(a, -b, w),
}
INTEGER_UNARY: dict[str, Callable[[int, int], int]] = {
    "negi": lambda a, w: -a,
    "absi": lambda a, w: abs(a),
    "ctlzi": lambda a, w: w - wrap_unsigned(a, w).bit_length(),
    "cttzi": lambda a, w: (bits & -bits).bit_length() - 1 if (bits := wrap_unsigned(a, w)) else w,
    "ctpopi": lambda a, w: wrap_unsigned(a, w).bit_count(),
    "signi": lambda a, w: (a > 0) - (a < 0),
}


def _sum(a: float, b: float) -> float | Fraction:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    from fractions import Fraction

    exact = Fraction(a) + Fraction(b)
    # An exact zero has the sign that IEEE 754 gives it: the operands' common one, else plus.
    return exact if exact else a + b


def _product(a: float, b: float) -> float | Fraction:
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0.0 or b == 0.0:
        return a * b
    from fractions import Fraction

    return Fraction(a) * Fraction(b)


def _quotient(a: float, b: float) -> float | Fraction:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    if b == 0.0:
        return math.nan if a == 0.0 else sign * math.inf
    if math.isinf(a):
        return math.nan if math.isinf(b) else sign * math.inf
    if math.isinf(b) or a == 0.0:
        return sign * 0.0
    from fractions import Fraction

    return Fraction(a) / Fraction(b)


def _fused(a: float, b: float, c: float) -> float | Fraction:
    if not all(map(math.isfinite, (a, b, c))) or a == 0.0 or b == 0.0:
        return a * b + c
    from fractions import Fraction

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return exact
    return (
        0.0
        if c != 0.0 or math.copysign(1.0, a * b if a * b else math.copysign(1.0, a) * b) != math.copysign(1.0, c)
        else c
    )


def _minimum(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return a if math.copysign(1.0, a) < 0 else b
    return min(a, b)


def _number_minimum(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else _minimum(a, b)


def _maximum(a: float, b: float) -> float:
    return -_minimum(-a, -b)


def _number_maximum(a: float, b: float) -> float:
    return -_number_minimum(-a, -b)


def _remainder(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0.0:
        return math.nan
    return math.fmod(a, b)


def _round_half_away(a: float) -> float:
    if not math.isfinite(a):
        return a
    floor = math.floor(abs(a))
    whole = floor + (abs(a) - floor >= 0.5)
    return math.copysign(float(whole), a)


def _integral(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda a: math.copysign(float(function(a)), a) if math.isfinite(a) else a


def _square_root(a: float, name: str) -> float | None:
    if math.isnan(a) or a < 0.0:
        return math.nan
    if math.isinf(a) or a == 0.0:
        return a
    if name == "f64":
        return math.sqrt(a)
    # A binary64 square root carries more than twice the digits of the narrower types, so rounding it again is exact.
    return round_float(math.sqrt(a), name)


FLOAT_BINARY: dict[str, Callable[[float, float], float | Fraction]] = {
    "addf": _sum,
    "subf": lambda a, b: _sum(a, -b),
    "mulf": _product,
    "divf": _quotient,
    "minimumf": _minimum,
    "maximumf": _maximum,
    "minnumf": _number_minimum,
    "maxnumf": _number_maximum,
    "remf": _remainder,
    "copysignf": lambda a, b: math.copysign(a, b),
}
FLOAT_UNARY: dict[str, Callable[[float], float]] = {
    "negf": lambda a: -a,
    "absf": abs,
    "ceilf": _integral(math.ceil),
    "floorf": _integral(math.floor),
    "truncf": _integral(math.trunc),
    "roundf": _round_half_away,
    "roundevenf": _integral(round),
    "signf": lambda a: a if math.isnan(a) or a == 0.0 else math.copysign(1.0, a),
}
FLOAT_TESTS: dict[str, Callable[[float], bool]] = {
    "isnanf": math.isnan,
    "isinff": math.isinf,
    "isfinitef": math.isfinite,
}
# Adding or subtracting these on the right (or on either side where the op commutes) changes nothing.
_NEUTRAL = {
    "addi": 0,
    "subi": 0,
    "ori": 0,
    "xori": 0,
    "shli": 0,
    "shrsi": 0,
    "shrui": 0,
    "muli": 1,
    "divsi": 1,
    "divui": 1,
}


def lanewise(name: str) -> Fold | None:
    """Return the fold of a lanewise op, None for those whose exact value plain arithmetic does not give."""
    if name in INTEGER_BINARY:
        return _fold_integer_binary(name, INTEGER_BINARY[name])
    if name in INTEGER_UNARY:
        return _fold_integer_unary(INTEGER_UNARY[name])
    if name == "fmai":
        return _fold_integer_multiply_add
    if name in FLOAT_BINARY:
        return _fold_float_binary(FLOAT_BINARY[name])
    if name in FLOAT_UNARY:
        return _fold_float_unary(FLOAT_UNARY[name])
    if name in FLOAT_TESTS:
        return _fold_test(FLOAT_TESTS[name])
    if name == "fmaf":
        return _fold_fused
    if name == "sqrtf":
        return _fold_square_root
    return None


def _fold_integer_binary(name: str, function: Callable[[int, int, int], int | None]) -> Fold:
    neutral = _NEUTRAL.get(name)
    commutes = name in ("addi", "muli", "ori", "xori")

    def fold(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
        values = _values(op, constants)
        type_ = element_type(op.results[0].type)
        width = integer_width(type_)
        if values is None:
            if neutral is not None:
                for constant, other in ((constants[1], 0), (constants[0] if commutes else None, 1)):
                    if constant is not None and int(constant) == neutral:
                        return [op.operands[other]]
            return None
        result = function(values[0], values[1], width)
        return None if result is None else [_answer(wrap_signed(result, width), type_)]

    return fold


def _fold_integer_unary(function: Callable[[int, int], int]) -> Fold:
    def fold(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
        values = _values(op, constants)
        if values is None:
            return None
        type_ = element_type(op.results[0].type)
        width = integer_width(type_)
        return [_answer(wrap_signed(function(values[0], width), width), type_)]

    return fold


def _fold_integer_multiply_add(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    values = _values(op, constants)
    if values is None:
        return None
    type_ = element_type(op.results[0].type)
    return [_answer(wrap_signed(values[0] * values[1] + values[2], integer_width(type_)), type_)]


def _float_name(op: Operation) -> str:
    type_ = element_type(op.results[0].type)
    assert isinstance(type_, FloatType)
    return type_.name


def _fold_float_binary(function: Callable[[float, float], float | Fraction]) -> Fold:
    def fold(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
        values = _values(op, constants)
        return None if values is None else [round_float(function(*values), _float_name(op))]

    return fold


def _fold_float_unary(function: Callable[[float], float]) -> Fold:
    def fold(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
        values = _values(op, constants)
        return None if values is None else [round_float(function(*values), _float_name(op))]

    return fold


def _fold_test(function: Callable[[float], bool]) -> Fold:
    def fold(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
        values = _values(op, constants)
        return None if values is None else [bool(function(*values))]

    return fold


def _fold_fused(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    values = _values(op, constants)
    return None if values is None else [round_float(_fused(*values), _float_name(op))]


def _fold_square_root(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    values = _values(op, constants)
    if values is None:
        return None
    root = _square_root(values[0], _float_name(op))
    return None if root is None else [root]


def clamp(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    """Fold of clampf."""
    values = _values(op, constants)
    if values is None:
        return None
    value, low, high = values
    mode = op.attributes["mode"]
    if mode == "ieee":
        return [_minimum(_maximum(value, low), high)]
    if mode == "number":
        return [_number_minimum(_number_maximum(value, low), high)]
    value = low if value < low else value
    return [high if value > high else value]


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def compare_values(predicate: str, a: int, b: int, width: int) -> bool:
    """Evaluate an integer comparison predicate on values of ``width`` bits."""
    if predicate in ("eq", "ne"):
        return _COMPARE[predicate](wrap_unsigned(a, width), wrap_unsigned(b, width))
    wrap = wrap_signed if predicate[0] == "s" else wrap_unsigned
    return _COMPARE[predicate[1:]](wrap(a, width), wrap(b, width))


def compare_integers(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    """Fold of cmpi; a value compared with itself is known too."""
    predicate = str(op.attributes["predicate"])
    values = _values(op, constants)
    if values is None:
        if op.operands[0] is op.operands[1]:
            return [predicate in ("eq", "sle", "sge", "ule", "uge")]
        return None
    width = integer_width(element_type(op.operands[0].type))
    return [compare_values(predicate, values[0], values[1], width)]


compare_index = compare_integers


def compare_floats(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    """Fold of cmpf."""
    values = _values(op, constants)
    if values is None:
        return None
    predicate = str(op.attributes["predicate"])
    a, b = values
    unordered = math.isnan(a) or math.isnan(b)
    if predicate == "ord":
        return [not unordered]
    if predicate == "uno":
        return [unordered]
    if unordered:
        return [predicate[0] == "u"]
    return [_COMPARE[predicate[1:]](a, b)]


def convert(name: str) -> Fold:
    """Return the fold of a conversion."""

    def fold(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
        values = _values(op, constants)
        if values is None:
            return None
        value = values[0]
        source, target = element_type(op.operands[0].type), element_type(op.results[0].type)
        if name == "bitcast":
            return _fold_bitcast(op, value, source, target)
        if name in ("sitofp", "uitofp"):
            assert isinstance(target, FloatType)
            width = integer_width(source)
            exact = wrap_unsigned(value, width) if name == "uitofp" or width == 1 else value
            if name == "sitofp" and width == 1:
                exact = -exact
            from fractions import Fraction

            return [round_float(Fraction(exact), target.name)]
        if name in ("fptosi", "fptoui"):
            if not math.isfinite(value):
                return None
            whole, width = math.trunc(value), integer_width(target)
            low, high = (-(1 << (width - 1)), 1 << (width - 1)) if name == "fptosi" else (0, 1 << width)
            return [_answer(wrap_signed(whole, width), target)] if low <= whole < high else None
        if name in ("extf", "fptrunc"):
            assert isinstance(target, FloatType)
            return [round_float(value, target.name, saturate=True)]
        width = integer_width(source)
        if name == "extui":
            value = wrap_unsigned(value, width)
        elif name == "extsi" and width == 1:
            value = -value
        return [_answer(wrap_signed(value, integer_width(target)), target)]

    return fold


def _fold_bitcast(op: Operation, value: int | float, source: Type, target: Type) -> Sequence[Any] | None:
    if isinstance(op.operands[0].type, VectorType):
        a, b = op.operands[0].type, op.results[0].type
        if not isinstance(b, VectorType) or a.dims != b.dims:
            return None
    if isinstance(source, FloatType):
        if math.isnan(value):
            return None
        bits = float_bits(float(value), source.name)
    else:
        bits = wrap_unsigned(int(value), integer_width(source))
    if isinstance(target, FloatType):
        result = float_of_bits(bits, target.name)
        # A NaN's payload would be lost in a literal.
        return None if math.isnan(result) else [result]
    return [_answer(wrap_signed(bits, integer_width(target)), target)]


def splat(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    """A splat of a constant is a vector constant."""
    value = constants[0]
    if value is None or isinstance(element_type(op.results[0].type), IndexType | OffsetType):
        return None
    return [value]


# index

_INDEX: dict[str, Callable[[int, int], int | None]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
    "div": lambda a, b: a // b if a >= 0 and b > 0 else None,
    "rem": lambda a, b: a % b if a >= 0 and b > 0 else None,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "shli": lambda a, b: a << b if 0 <= b < 64 else None,
    "shrui": lambda a, b: wrap_unsigned(a, 64) >> b if 0 <= b < 64 else None,
    "shrsi": lambda a, b: a >> b if 0 <= b < 64 else None,
    "rotli": lambda a, b: _rotate_left(a, b, 64),
    "rotri": lambda a, b: _rotate_left(a, -b, 64),
}
_INDEX_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1, "ori": 0, "xori": 0, "shli": 0, "shrui": 0, "shrsi": 0}


def _index_answer(value: int, type_: Type) -> list[int] | None:
    if isinstance(type_, OffsetType):
        return [value] if 0 <= value < (1 << 63) else None
    return [wrap_signed(value, 64)]


def index_binary(name: str) -> Fold:
    """Return the fold of a two-operand index op."""
    function = _INDEX[name]
    neutral = _INDEX_NEUTRAL.get(name)

    def fold(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
        a, b = constants
        if a is None or b is None:
            if neutral is not None and b is not None and b == neutral:
                return [op.operands[0]]
            if neutral is not None and name in ("add", "mul", "ori", "xori") and a is not None and a == neutral:
                return [op.operands[1]]
            if name == "mul" and (a == 0 or b == 0):
                return [0]
            return None
        result = function(a, b)
        return None if result is None else _index_answer(result, op.results[0].type)

    return fold


def index_unary(name: str) -> Fold:
    """Return the fold of a one-operand index op."""
    function = INTEGER_UNARY[name]

    def fold(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
        return None if constants[0] is None else [function(constants[0], 64)]

    return fold


def index_madd(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    """Fold of a * b + c."""
    a, b, c = constants
    if a is not None and b is not None and c is not None:
        return [wrap_signed(a * b + c, 64)]
    return [op.operands[2]] if a == 0 or b == 0 else None


def index_scale(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    """Fold of index * stride."""
    a, b = constants
    if a is None or b is None:
        return None
    return _index_answer(a * b, op.results[0].type) if a >= 0 else None


def index_cast(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    """Fold of a cast."""
    value = constants[0]
    if not isinstance(value, int):
        return None
    source, target = op.operands[0].type, op.results[0].type
    if isinstance(source, IntegerType):
        width = source.width
        signed = int(value) & 1 if width == 1 else wrap_signed(value, width)
        if isinstance(target, OffsetType):
            signed = wrap_unsigned(value, width) if width < 64 else signed
        return _index_answer(signed, target)
    if isinstance(target, IntegerType):
        if target.width == 1:
            return [bool(value & 1)]
        return [wrap_signed(value, target.width)]
    return _index_answer(value, target) if 0 <= value < (1 << 63) else None
