"""Scalar and index operations, and the lanewise half of the vector dialect, which shares their code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from loom.dialect.scalar import CONVERSIONS, FLOAT_TESTS
from loom.ir import Operation
from loom.reference import numerics
from loom.reference.execution import HANDLERS, Frame, Handler, Interpreter, form_of, handles
from loom.reference.formats import FORMATS, Array, ElementFormat, decode, encode, parse_number
from loom.reference.predicates import check_predicates
from loom.reference.values import Mask

INDEX = FORMATS["index"]


def poison_of(frame: Frame, op: Operation) -> Array | None:
    """The union of the operands' poison, for operations that work element by element."""
    if not frame.poison:
        return None
    total: Array | None = None
    for operand in op.operands:
        total = numerics.either(total, frame.poison.get(operand))
    return total


def _lanewise(function: Callable[..., Any]) -> Handler:
    """A handler for ``function(op, form of the first operand, *operands) -> array or (array, undefined)``."""

    def handler(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
        operands = [frame.values[operand] for operand in op.operands]
        outcome = function(op, form_of(op.operands[0].type), *operands)
        undefined = poison_of(frame, op)
        if isinstance(outcome, tuple):
            outcome, extra = outcome
            undefined = numerics.either(undefined, extra)
        frame.set(op.results[0], outcome, undefined)

    return handler


def _flags(op: Operation, name: str) -> frozenset[str]:
    value = op.attributes.get(name)
    return frozenset(map(str, value)) if isinstance(value, tuple) else frozenset()


def _integer(name: str) -> Callable[..., Any]:
    function = numerics.INTEGER[name]
    if name in numerics.FLAGGED:
        return lambda op, form, *operands: function(*operands, form, _flags(op, "overflow"))
    return lambda op, form, *operands: function(*operands, form)


def _float(name: str) -> Callable[..., Any]:
    function = numerics.FLOAT[name]
    return lambda op, form, *operands: function(*operands, form)


def _test(name: str) -> Callable[..., Any]:
    function = {"isnanf": np.isnan, "isinff": np.isinf, "isfinitef": np.isfinite}[name]
    return lambda op, form, operand: function(operand)


def _clamp(op: Operation, form: ElementFormat, value: Array, low: Array, high: Array) -> Array:
    return numerics.clamp(str(op.attributes["mode"]), value, low, high)


def _gelu(op: Operation, form: ElementFormat, operand: Array) -> Array:
    scale: Any = op.attributes.get("scale")
    return numerics.gelu(str(op.attributes["form"]), operand, float(1.702 if scale is None else scale), form)


def _compare_integers(op: Operation, form: ElementFormat, a: Array, b: Array) -> Array:
    return numerics.compare_integers(str(op.attributes["predicate"]), a, b)


def _compare_floats(op: Operation, form: ElementFormat, a: Array, b: Array) -> Array:
    return numerics.compare_floats(str(op.attributes["predicate"]), a, b)


def convert(name: str, values: Array, source: ElementFormat, target: ElementFormat) -> numerics.Result:
    """A numeric conversion of carrier arrays between element formats (all but ``bitcast`` of unequal widths)."""
    if name in ("sitofp", "uitofp"):
        return numerics.integer_to_float(values, target, name == "sitofp"), None
    if name in ("fptosi", "fptoui"):
        return numerics.float_to_integer(values, target, name == "fptosi")
    if name in ("extf", "fptrunc"):
        return numerics.float_to_float(values, target), None
    if name == "bitcast":
        return decode(encode(values, source), target), None
    return numerics.resize_integer(values, target, name == "extsi"), None


def _conversion(name: str) -> Callable[..., Any]:
    return lambda op, form, operand: convert(name, operand, form, form_of(op.results[0].type))


def _register_lanewise() -> None:
    functions: dict[str, Callable[..., Any]] = {
        **{name: _integer(name) for name in numerics.INTEGER},
        **{name: _float(name) for name in numerics.FLOAT},
        **{name: _test(name) for name in FLOAT_TESTS},
        **{name: _conversion(name) for name in CONVERSIONS},
        "clampf": _clamp,
        "geluf": _gelu,
        "cmpi": _compare_integers,
        "cmpf": _compare_floats,
    }
    for name, function in functions.items():
        HANDLERS[f"scalar.{name}"] = _lanewise(function)
        if name != "bitcast":
            HANDLERS[f"vector.{name}"] = _lanewise(function)


_register_lanewise()


@handles("scalar.constant", "index.constant")
def _constant(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = interp.caches.get(op)
    if value is None:
        value = interp.caches[op] = parse_number(op.attributes["value"], form_of(op.results[0].type)).reshape(1)
    frame.set(op.results[0], value)


@handles("scalar.poison")
def _poison(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    frame.set(op.results[0], np.zeros(1, form_of(op.results[0].type).carrier), np.ones(1, np.bool_))


@handles("scalar.assume", "index.assume", "low.assume", "sanitizer.assert.value")
def _assume(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    predicates = op.attributes.get("predicates")
    assert isinstance(predicates, tuple)
    check_predicates(interp, frame, op, predicates, op.operands, mask, op.name)
    for result, operand in zip(op.results, op.operands, strict=False):
        frame.set(result, frame.values[operand], frame.poison.get(operand))


# --- index ------------------------------------------------------------------------------------------------------------

_INDEX_INTEGER = {
    "andi": "andi",
    "ori": "ori",
    "xori": "xori",
    "shli": "shli",
    "shrui": "shrui",
    "shrsi": "shrsi",
    "rotli": "rotli",
    "rotri": "rotri",
    "ctlzi": "ctlzi",
    "cttzi": "cttzi",
    "ctpopi": "ctpopi",
    "min": "minsi",
    "max": "maxsi",
}


def _add(op: Operation, form: ElementFormat, a: Array, b: Array) -> Any:
    total = a + b
    return (total, total < 0) if form.name == "offset" else total


def _subtract(op: Operation, form: ElementFormat, a: Array, b: Array) -> Any:
    difference = a - b
    return (difference, difference < 0) if form.name == "offset" else difference


def _divide(op: Operation, form: ElementFormat, a: Array, b: Array) -> Any:
    undefined = (a < 0) | (b <= 0)
    return a // np.where(b <= 0, 1, b), undefined


def _remainder(op: Operation, form: ElementFormat, a: Array, b: Array) -> Any:
    undefined = (a < 0) | (b <= 0)
    return a % np.where(b <= 0, 1, b), undefined


def _scale(op: Operation, form: ElementFormat, index: Array, stride: Array) -> Any:
    total = index * stride
    return total, (index < 0) | (total < 0)


def _register_index() -> None:
    functions: dict[str, Callable[..., Any]] = {
        "add": _add,
        "sub": _subtract,
        "mul": lambda op, form, a, b: a * b,
        "madd": lambda op, form, a, b, c: a * b + c,
        "div": _divide,
        "rem": _remainder,
        "scale": _scale,
        "cmp": _compare_integers,
        **{name: _integer(integer) for name, integer in _INDEX_INTEGER.items()},
    }
    for name, function in functions.items():
        HANDLERS[f"index.{name}"] = _lanewise(function)


_register_index()


def cast_index(values: Array, source: ElementFormat, target: ElementFormat) -> numerics.Result:
    """``index.cast``: into index sign-extends (i1: 0 or 1), into offset zero-extends, out keeps the low bits."""
    if source.kind == "index" and target.kind == "index":
        return values, values < 0
    if source.kind == "index":
        return numerics.resize_integer(values, target, True), None
    signed = target.name == "index" and source.name != "i1"
    wide = numerics.resize_integer(values, INDEX, signed)
    undefined = wide < 0 if target.name == "offset" and source.bits == 64 else None
    return wide, undefined


HANDLERS["index.cast"] = _lanewise(lambda op, form, operand: cast_index(operand, form, form_of(op.results[0].type)))
