"""Rules about plain values: constants, conversions, assumptions, keyed operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from loom.ir import (
    I1,
    EncodingAttribute,
    EncodingType,
    FloatType,
    IndexType,
    IntegerType,
    OffsetType,
    Operation,
    Predicate,
    Ref,
    RegisterType,
    ShapedType,
    Type,
    VectorType,
    element_type,
)
from loom.ir.numbers import largest_finite, round_float
from loom.ir.suggest import did_you_mean

Report = Callable[..., None]
Rule = Callable[[Operation, Report], None]

AUXILIARY_KEYS = (
    "schema", "scale", "secondary_scale", *(f"scale{n}" for n in range(2, 8)), "zero_point", "minimum", "bias",
    "sum_correction", "codebook", "sparsity", "metadata", "indices", "offsets", "mask", "signs", "residual", "amax",
    "thresholds", "centroids", "outliers",
)  # fmt: skip


def like_group(name: str) -> Callable[[Operation], Any]:
    """Inference of variadic results: they have the types of an operand group (one result when it has one)."""

    def infer(op: Operation) -> Type | None:
        values = op.operand_group(name)
        return values[0].type if len(values) == 1 else None

    return infer


def assume_results(op: Operation) -> Type | None:
    """Inference of an assumption's result when it has one."""
    values = op.operand_group("values")
    return values[0].type if len(values) == 1 else None


def as_many_results(name: str) -> Rule:
    """There are as many results as operands of a group (their types are fixed by the declaration)."""

    def rule(op: Operation, report: Report) -> None:
        values = op.operand_group(name)
        if len(values) != len(op.results):
            report("OP/025", f"{op.name} has {len(values)} operands but {len(op.results)} results")

    return rule


def literal_problem(value: Any, type_: Type) -> str | None:
    """Return why a literal is not a value of a scalar type, None when it is one."""
    if isinstance(type_, IntegerType):
        if isinstance(value, bool):
            return None if type_ is I1 else f"'{str(value).lower()}' is a value of i1, not of {type_}"
        if isinstance(value, float):
            return f"a float is not a value of {type_}"
        if not -(1 << (type_.width - 1)) <= value < (1 << type_.width):
            return f"{value} does not fit {type_}, signed or unsigned"
        return None
    if isinstance(type_, FloatType):
        if isinstance(value, bool):
            return f"'{str(value).lower()}' is not a value of {type_}"
        if math.isfinite(value) and math.isinf(round_float(value, type_.name, saturate=True)):
            return f"{value} does not fit {type_}, whose largest value is {largest_finite(type_.name)}"
        return None
    if isinstance(type_, IndexType | OffsetType):
        if isinstance(value, bool | float):
            return f"a value of {type_} is an integer"
        low = 0 if isinstance(type_, OffsetType) else -(1 << 63)
        return None if low <= value < (1 << 63) else f"{value} does not fit {type_}"
    return f"{type_} has no literals"


def generated_problem(value: Any, element: Type) -> str | None:
    """As :func:`literal_problem` for the numbers of a generator: it rounds floats to its elements, beyond the largest
    to an infinity (f8E4M3: to the largest)."""
    if isinstance(element, FloatType) and not isinstance(value, bool):
        return None
    return literal_problem(value, element)


def scalar_constant(op: Operation, report: Report) -> None:
    """The literal of a constant, fill or check literal is a value of the (element) type."""
    type_ = op.results[0].type
    check = generated_problem if op.name == "check.generate.fill" else literal_problem
    problem = check(op.attributes["value"], element_type(type_))
    if problem is None and op.name == "check.generate.fill":
        value = op.attributes["value"]
        element = element_type(type_)
        if isinstance(element, IntegerType) and element.width > 1 and isinstance(value, int):
            half = 1 << (element.width - 1)
            if not -half <= value < half:
                report("CHECK/006", f"{value} is outside of the signed range of {element}")
        return
    if problem is not None:
        hint = "index.constant makes values of 'index' and 'offset'" if op.name == "scalar.constant" else None
        report("OP/016", problem, hint if isinstance(element_type(type_), IndexType | OffsetType) else None)


def index_constant(op: Operation, report: Report) -> None:
    """The literal fits index or offset."""
    problem = literal_problem(op.attributes["value"], op.results[0].type)
    if problem is not None:
        report("OP/016", problem)


def config_value(op: Operation, report: Report) -> None:
    """The value of a configuration key or global is one of its type."""
    value = op.attributes.get("value")
    type_ = op.attributes["type"]
    if value is None or not isinstance(type_, Type):
        return
    if isinstance(type_, EncodingType):
        if not isinstance(value, EncodingAttribute):
            report("OP/016", f"a value of {type_} is an encoding")
        return
    if not isinstance(value, int | float):
        report("OP/016", f"a value of {type_} is a number")
        return
    problem = literal_problem(value, element_type(type_))
    if problem is not None:
        report("OP/016", problem)


def index_cast(op: Operation, report: Report) -> None:
    """One side is index or offset, the other an integer or the other of the two."""
    source, target = op.operands[0].type, op.results[0].type
    sides = (source, target)
    if any(isinstance(t, FloatType) for t in sides) or not any(isinstance(t, IndexType | OffsetType) for t in sides):
        report("OP/017", f"index.cast does not convert {source} to {target}", "one side is 'index' or 'offset'")
    elif source is target:
        report("OP/017", f"index.cast from {source} to itself")


def _bits(type_: Type) -> int:
    return type_.width if isinstance(type_, IntegerType | FloatType) else 0


def conversion(name: str) -> Rule:
    """Widths and shapes of a conversion."""

    def rule(op: Operation, report: Report) -> None:
        source, target = op.operands[0].type, op.results[0].type
        shaped = isinstance(source, VectorType)
        a, b = element_type(source), element_type(target)
        if name == "bitcast":
            _bitcast(op, source, target, report)
            return
        if shaped and isinstance(source, VectorType) and isinstance(target, VectorType) and source.dims != target.dims:
            report("OP/019", f"{op.name} keeps the shape; {source} and {target} differ")
            return
        grows = {"extf": True, "extsi": True, "extui": True, "fptrunc": False, "trunci": False}.get(name)
        if grows is None:
            return
        if (_bits(b) > _bits(a)) is not grows or _bits(a) == _bits(b):
            way = "wider" if grows else "narrower"
            report("OP/017", f"{op.name} converts to a {way} type; {a} to {b} is not")

    return rule


def _bitcast(op: Operation, source: Type, target: Type, report: Report) -> None:
    if isinstance(source, VectorType) and isinstance(target, VectorType):
        if not (source.is_static and target.is_static):
            if source.dims != target.dims or _bits(source.element) != _bits(target.element):
                report("OP/017", f"{op.name} of a dynamic shape keeps shape and element width")
            return
        if source.element_count * _bits(source.element) != target.element_count * _bits(target.element):
            report("OP/017", f"{op.name} preserves the total number of bits; {source} and {target} differ")
    elif _bits(source) != _bits(target):
        report("OP/017", f"{op.name} preserves the number of bits; {source} and {target} differ")


def gelu(op: Operation, report: Report) -> None:
    """Only the logistic form has a scale, and it may be left out."""
    if "scale" in op.attributes and op.attributes["form"] != "logistic":
        report("OP/024", "'scale' belongs to the 'logistic' form only")


def _number(argument: Any) -> bool:
    return isinstance(argument, int | float) and not isinstance(argument, bool)


def check_predicates(predicates: Sequence[Predicate], types: Sequence[Type], report: Report) -> None:
    """Check predicates against the types of the values that they refer to by index."""
    for p in predicates:
        for a in p.arguments:
            if isinstance(a, Ref) and not 0 <= a.index < len(types):
                report("OP/022", f"'{p.name}' refers to a value that is not there")
                return
        subject = p.arguments[0] if p.arguments else None
        subject_type = types[subject.index] if isinstance(subject, Ref) else None
        if p.name == "finite":
            if subject_type is None or not isinstance(element_type(subject_type), FloatType):
                report("OP/022", "'finite' speaks of a float")
            continue
        for a in p.arguments:
            if isinstance(a, Ref):
                t = types[a.index]
                if not isinstance(t, IntegerType | IndexType | OffsetType | FloatType | RegisterType):
                    report("OP/022", f"'{p.name}' speaks of numbers, not of {t}")
                    return
        if p.name in ("mul", "min", "max", "pow2", "range") and not isinstance(subject, Ref):
            report("OP/022", f"the first argument of '{p.name}' is the value that it speaks of")
        elif p.name == "mul" and _number(p.arguments[1]) and p.arguments[1] <= 0:  # type: ignore[operator]
            report("OP/022", f"'mul' needs a positive number, not {p.arguments[1]}")
        elif p.name == "range":
            low, high = p.arguments[1:]
            if _number(low) and _number(high) and low > high:  # type: ignore[operator]
                report("OP/022", f"the range [{low}, {high}] is empty")


def assume(op: Operation, report: Report) -> None:
    """The results are the values; the predicates fit."""
    values = op.operand_group("values")
    if op.results or op.definition.results:
        if len(values) != len(op.results):
            report("OP/025", f"{op.name} has {len(values)} values but {len(op.results)} results")
            return
        for v, r in zip(values, op.results, strict=True):
            if v.type is not r.type:
                report("OP/003", f"result {r.index} of {op.name} must have its value's type {v.type}, not {r.type}")
                return
    predicates: Any = op.attributes["predicates"]
    check_predicates(predicates, [v.type for v in op.operands], report)


def keyed(op: Operation, report: Report) -> None:
    """Keyed operands have known roles; a fragment's predicates fit."""
    keys: Any = op.attributes.get("auxiliary_keys", ())
    values = op.operand_group("auxiliary")
    if len(keys) != len(values):
        report("OP/024", f"{op.name} has {len(values)} keyed operands but {len(keys)} keys")
        return
    for key, value in zip(keys, values, strict=True):
        if key not in AUXILIARY_KEYS:
            report("OP/006", f"'{key}' is not a role of a keyed operand", f"one of {', '.join(AUXILIARY_KEYS[:8])}, …")
        elif key == "schema" and not isinstance(value.type, EncodingType):
            report("OP/002", f"'schema' is an encoding, not {value.type}")
    where: Any = op.attributes.get("where")
    if where:
        check_predicates(where, [v.type for v in op.operands], report)


def encoding_definition(op: Operation, report: Report) -> None:
    """The roles of run-time parameters are known, and a storage family is not given the wrong role."""
    keyed(op, report)
    encoding = op.attributes["encoding"]
    role = op.results[0].type
    if not isinstance(encoding, EncodingAttribute) or not isinstance(role, EncodingType):
        return
    if encoding.family.startswith("transform.") and role.role not in (None, "transform"):
        report("OP/024", f"#{encoding.family} describes a transform, not a {role.role}")
    if encoding.family in ("dense", "strided") and role.role not in (None, "layout", "storage"):
        report("OP/024", f"#{encoding.family} describes a layout, not a {role.role}")


def fold_select(op: Operation, constants: Sequence[Any]) -> Sequence[Any] | None:
    """A select with a known condition, or of one value twice, is that value."""
    if_true, if_false = op.operands[1:]
    if constants[0] is not None:
        return [if_true if constants[0] else if_false]
    return [if_true] if if_true is if_false else None


def element_is(name: str) -> Rule:
    """The operand is the result's element type."""

    def rule(op: Operation, report: Report) -> None:
        operand, made = op.operand(name).type, op.results[0].type
        if isinstance(made, ShapedType) and operand is not made.element:
            report("OP/003", f"'{name}' of {op.name} must be the vector's element type {made.element}, not {operand}")

    return rule


def target_record(op: Operation, report: Report) -> None:
    """A target may add keys of its own, but not one that is nearly a declared one."""
    extra: Any = op.attributes.get("attributes") or {}
    declared = [n for n in op.definition.attribute_table if n not in ("attributes", "selector", "sym_name")]
    for key in extra:
        hint = None if key.startswith("memory_space_") else did_you_mean(key, declared)
        if hint is not None:
            report("OP/007", f"{op.name} has no attribute '{key}'", hint)
