"""What is fixed when a kernel is compiled becomes constants: config values, target facts, a constant workgroup size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from loom.dialect.rules.values import literal_problem
from loom.ir import Builder, FloatType, IndexType, IntegerType, Module, OffsetType, Operation, Predicate, Type
from loom.transform.folding import constant_of
from loom.transform.passes import PassContext
from loom.transform.rejection import rejection

_DIMENSIONS = ("x", "y", "z")


def specialize(module: Module, context: PassContext) -> int:
    """Replace ``config.get``, target queries and constant launch sizes; return the number of replacements."""
    table = module.symbols
    changes = 0
    for symbol in module.operations:
        if not symbol.regions:
            continue
        for op in symbol.walk():
            if op.name == "config.get":
                key = str(op.attributes["key"])
                value = config_value(table.get(key), key, context, op)
                op.replace_with([Builder.before(op).constant(value, op.results[0].type, op.results[0].name)])
                changes += 1
            elif op.name in ("target.subgroup.size", "kernel.subgroup.size"):
                size = context.target.subgroup_size
                op.replace_with([Builder.before(op).constant(size, op.results[0].type, op.results[0].name)])
                changes += 1
    for kernel in module.operations:
        if kernel.name == "kernel.def":
            changes += _bind_workgroup_size(kernel, context)
    return changes


def config_value(record: Operation | None, key: str, context: PassContext, user: Operation) -> Any:
    """The value of a config key: a binding of the command line, else the module's definition.

    Raises:
        LoomError: ``CONFIG/001`` when nothing gives a value, ``CONFIG/002`` for a binding of the wrong type,
            ``CONFIG/003`` when a
            declared predicate does not hold.
    """
    if key in context.config:
        value = convert_config(context.config[key], user.results[0].type, key, user)
    elif record is not None and record.name == "config.def":
        value = record.attributes["value"]
    else:
        raise rejection(
            user,
            f"config value '{key}' is not bound",
            "CONFIG/001",
            f"give --config={key}=VALUE, or a config.def",
        )
    predicates = record.attributes.get("where") if record is not None else None
    for predicate in predicates if isinstance(predicates, tuple) else ():
        assert isinstance(predicate, Predicate)
        if not holds(predicate, value):
            raise rejection(
                record or user,
                f"{key} = {value} does not satisfy '{_text(predicate)}'",
                "CONFIG/003",
                "choose a value that the declaration allows",
            )
    return value


def convert_config(value: object, type_: Type, key: str, user: Operation) -> Any:
    """Convert a binding (text or a JSON value) to the Python value of ``type_``; ``CONFIG/002`` when it does not
    fit.
    """
    try:
        if isinstance(type_, IntegerType) and type_.width == 1:
            if isinstance(value, bool):
                return value
            return {"true": True, "false": False, "1": True, "0": False}[str(value)]
        if isinstance(type_, IntegerType | IndexType | OffsetType):
            number = int(str(value), 0)
            if isinstance(value, bool) or literal_problem(number, type_) is not None:
                raise ValueError
            return number
        if isinstance(type_, FloatType):
            return float(str(value))
    except (ValueError, KeyError):
        raise rejection(
            user,
            f"'{value}' is no value of type {type_} for config '{key}'",
            "CONFIG/002",
            f"bind it to a value of type {type_}",
        ) from None
    return value


_PREDICATES: Mapping[str, Callable[..., bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "mul": lambda a, n: n != 0 and a % n == 0,
    "min": lambda a, n: a >= n,
    "max": lambda a, n: a <= n,
    "pow2": lambda a: a > 0 and a & (a - 1) == 0,
    "range": lambda a, low, high: low <= a <= high,
    "finite": lambda a: a == a and abs(a) != float("inf"),
}


def holds(predicate: Predicate, value: Any) -> bool:
    """Whether a predicate over one value (its references all name it) holds for ``value``."""
    arguments = [a if isinstance(a, int | float) else value for a in predicate.arguments]
    return _PREDICATES[predicate.name](*arguments)


def _text(predicate: Predicate) -> str:
    arguments = [str(a) if isinstance(a, int | float) else "value" for a in predicate.arguments]
    return f"{predicate.name}({', '.join(arguments)})"


def workgroup_size(kernel: Operation) -> tuple[int | None, int | None, int | None]:
    """The kernel's workgroup size along x, y and z where it is constant."""
    config = kernel.body("config").terminator
    if config is None:
        return None, None, None
    sizes = [constant_of(v) for v in config.operand_group("workgroup_size")]
    sizes += [1] * (3 - len(sizes))
    return sizes[0], sizes[1], sizes[2]


def _bind_workgroup_size(kernel: Operation, context: PassContext) -> int:
    sizes = workgroup_size(kernel)
    total = 1 if None not in sizes else None
    for s in sizes:
        total = total * s if total is not None and s is not None else None
    changes = 0
    for op in kernel.region("body").walk():
        value: int | None = None
        if op.name == "kernel.workgroup.size":
            value = sizes[_DIMENSIONS.index(str(op.attributes["dimension"]))]
        elif op.name == "kernel.subgroup.count" and total is not None:
            value = -(-total // context.target.subgroup_size)
        elif op.name == "kernel.workitem.id" and sizes[_DIMENSIONS.index(str(op.attributes["dimension"]))] == 1:
            value = 0
        if value is not None:
            op.replace_with([Builder.before(op).constant(value, op.results[0].type, op.results[0].name)])
            changes += 1
    return changes
