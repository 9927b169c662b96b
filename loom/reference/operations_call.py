"""Calls, template selection, configuration, encodings, and the less common control flow."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from loom.diagnostics import ExitCode, error
from loom.dialect.rules.values import literal_problem
from loom.ir import Operation, Type
from loom.ir.attributes import EncodingAttribute, Predicate, Ref
from loom.reference.execution import Frame, Interpreter, form_of, handles, merge_value
from loom.reference.formats import Array, parse_number
from loom.reference.operations_memory import index_values
from loom.reference.predicates import holds
from loom.reference.values import EncodingValue, Mask, all_lanes, any_lane, both


def _arguments(frame: Frame, op: Operation) -> list[tuple[Any, Array | None]]:
    return [(frame.values[operand], frame.poison.get(operand)) for operand in op.operands]


@handles("func.call", "template.call")
def _call(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    function = interp.symbol(str(op.attributes["callee"]), op)
    for result, value in zip(
        op.results, interp.call(function, _arguments(frame, op), frame.batch, mask, op), strict=True
    ):
        frame.set(result, *value)


# --- templates --------------------------------------------------------------------------------------------------------


def _signature(function: Operation) -> tuple[list[Type], Any]:
    return [argument.type for argument in function.regions[-1].blocks[0].arguments], function.attributes.get(
        "result_types"
    )


def _same_types(function: Operation, op: Operation) -> bool:
    """Whether a candidate's parameter and result types are those of the call; types that name values by their text."""
    parameters, results = _signature(function)
    wanted = [operand.type for operand in op.operands]
    if len(parameters) != len(wanted):
        return False
    pairs: list[tuple[Any, Any]] = list(zip(parameters, wanted, strict=True))
    listed = results if isinstance(results, tuple) else ()
    types = [getattr(entry, "type", entry) for entry in listed]
    if len(types) == len(op.results):
        pairs += [(a, b.type) for a, b in zip(types, op.results, strict=True)]
    return all(
        a is b or (type(a) is type(b) and (bool(a.values) or bool(b.values))) for a, b in pairs if isinstance(a, Type)
    )


def _conditions_hold(frame: Frame, candidate: Operation, op: Operation, mask: Mask) -> bool:
    """Whether the ``where`` of a candidate holds for the values at the call, in every active lane."""
    predicates = candidate.attributes.get("where")
    for predicate in predicates if isinstance(predicates, tuple) else ():
        assert isinstance(predicate, Predicate)
        arguments: list[Array] = []
        for argument in predicate.arguments:
            if isinstance(argument, Ref):
                if argument.index >= len(op.operands):
                    return False
                arguments.append(frame.values[op.operands[argument.index]])
            else:
                arguments.append(np.asarray([argument]))
        if not all_lanes(holds(predicate.name, arguments), mask):
            return False
    return True


def _capabilities_hold(interp: Interpreter, candidate: Operation) -> bool:
    requires = candidate.attributes.get("requires")
    for requirement in requires if isinstance(requires, tuple) else ():
        if not isinstance(requirement, EncodingAttribute):
            return False
        values = [value for _, value in requirement.parameters]
        if requirement.family != "target.subgroup.size" or values != [interp.target.subgroup_size]:
            return False
    return True


@handles("template.apply")
def _apply(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    family = str(op.attributes["family"])
    survivors: list[tuple[float, Operation]] = []
    for candidate in interp.symbols().values():
        if candidate.name != "template.def" or str(candidate.attributes.get("family")) != family:
            continue
        target = candidate.attributes.get("target")
        if target is not None and not interp.accepts_target(str(target)):
            continue
        if not (_same_types(candidate, op) and _capabilities_hold(interp, candidate)):
            continue
        if _conditions_hold(frame, candidate, op, mask):
            priority: Any = candidate.attributes.get("priority")
            survivors.append((float("-inf") if priority is None else float(priority), candidate))
    if not survivors:
        interp.fail(op, "REFERENCE/015", f"no implementation of '@{family}' applies here", frame=frame)
    best = max(priority for priority, _ in survivors)
    chosen = [candidate for priority, candidate in survivors if priority == best]
    if len(chosen) > 1:
        names = ", ".join(f"@{candidate.symbol}" for candidate in chosen)
        interp.fail(
            op,
            "REFERENCE/015",
            f"implementations {names} of '@{family}' apply with equal priority",
            frame=frame,
            hint="give one of them a higher priority(…)",
        )
    for result, value in zip(
        op.results, interp.call(chosen[0], _arguments(frame, op), frame.batch, mask, op), strict=True
    ):
        frame.set(result, *value)


# --- configuration ----------------------------------------------------------------------------------------------------


def config_value(interp: Interpreter, key: str, op: Operation) -> Any:
    """The value bound to a configuration key, checked against the conditions of its declaration.

    Raises ``REFERENCE/016`` (bad input) where nothing binds the key or the value breaks a condition.
    """
    declared = interp.symbols().get(key)
    if key in interp.config:
        value = _bound(interp.config[key], op.results[0].type, key, op)
    elif declared is not None and declared.name == "config.def":
        value = declared.attributes["value"]
    else:
        raise error(
            f"configuration value '{key}' is not given",
            "REFERENCE/016",
            op.location,
            hint=f"pass --config={key}=VALUE",
        )
    if declared is not None:
        predicates = declared.attributes.get("where")
        for predicate in predicates if isinstance(predicates, tuple) else ():
            assert isinstance(predicate, Predicate)
            arguments = [
                np.asarray([value if isinstance(argument, Ref) else argument]) for argument in predicate.arguments
            ]
            if not bool(holds(predicate.name, arguments).all()):
                listed = ", ".join(str(a[0]) for a in arguments)
                raise error(
                    f"configuration value '{key}': {predicate.name}({listed}) does not hold",
                    "REFERENCE/016",
                    op.location,
                    exit_code=ExitCode.BAD_INPUT,
                )
    return value


def _bound(value: Any, type_: Type, key: str, op: Operation) -> Any:
    """A binding of the command line or of a file (a number, or its text) as a value of the key's type.

    Raises ``REFERENCE/016`` (bad input) where it is none.
    """
    if isinstance(value, EncodingAttribute):
        return value
    if isinstance(value, str):
        for convert in (lambda text: int(text, 0), float):
            with suppress(ValueError):
                value = convert(value)
                break
    problem = "it is no number" if not isinstance(value, int | float) else literal_problem(value, type_)
    if problem is not None:
        raise error(
            f"configuration value '{key}' is '{value}': {problem}",
            "REFERENCE/016",
            op.location,
            hint=f"bind it to a value of type {type_}",
            exit_code=ExitCode.BAD_INPUT,
        )
    return value


@handles("config.get")
def _config(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = config_value(interp, str(op.attributes["key"]), op)
    if isinstance(value, EncodingAttribute):
        frame.set(op.results[0], EncodingValue(value, {}))
        return
    frame.set(op.results[0], parse_number(value, form_of(op.results[0].type)).reshape(1))


# --- encodings --------------------------------------------------------------------------------------------------------


@handles("encoding.layout.dense")
def _dense(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    frame.set(op.results[0], EncodingValue(EncodingAttribute("dense"), {}))


@handles("encoding.layout.strided", "encoding.layout.assume.strided")
def _strided(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    frame.set(op.results[0], EncodingValue(None, {}, tuple(index_values(interp, frame, op, mask, "strides"))))


@handles("encoding.define")
def _define(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    attribute = op.attributes["encoding"]
    assert isinstance(attribute, EncodingAttribute)
    frame.set(op.results[0], EncodingValue(attribute, keyed_operands(frame, op)))


def keyed_operands(frame: Frame, op: Operation) -> dict[str, Any]:
    """The auxiliary operands of an op by key."""
    keys: Any = op.attributes.get("auxiliary_keys") or ()
    return {str(key): frame.values[value] for key, value in zip(keys, op.operand_group("auxiliary"), strict=True)}


@handles("encoding.assume.spec")
def _assume_spec(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    attribute = op.attributes["encoding"]
    assert isinstance(attribute, EncodingAttribute)
    known: EncodingValue = frame.values[op.operands[0]]
    frame.set(op.results[0], EncodingValue(attribute, known.operands, known.strides))


@handles("encoding.layout.assume.dense")
def _assume_dense(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    frame.set(op.results[0], frame.values[op.operands[0]])


@handles("encoding.isa")
def _isa(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    known: EncodingValue = frame.values[op.operands[0]]
    category = str(op.attributes["category"])
    family = "strided" if known.strides is not None else known.attribute.family if known.attribute else ""
    frame.set(op.results[0], np.array([family == category or family.startswith(category + ".")]))


# --- switch and lookup ------------------------------------------------------------------------------------------------


@handles("scf.switch")
def _switch(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    selector = interp.defined(frame, op.operands[0], op, mask, "selector")
    keys: Any = op.attributes["keys"]
    *cases, default = op.regions
    rest: Mask = mask
    merged: list[tuple[Any, Array | None]] | None = None
    for key, region in [*zip(keys, cases, strict=True), (None, default)]:
        if not any_lane(rest):
            break
        chosen = np.ones(1, np.bool_) if key is None else selector == key
        if not any_lane(both(chosen, rest)) and key is not None:
            continue
        block = region.blocks[0]
        lanes: Mask = rest if all_lanes(chosen, rest) else both(chosen, rest)
        interp.run_block(block, frame, lanes)
        values = interp.terminator_values(block, frame)
        if merged is None:
            merged = values
        else:
            spread = np.broadcast_to(lanes if lanes is not None else np.ones(1, np.bool_), (frame.batch.lanes,))
            merged = [merge_value(spread, new, old) for new, old in zip(values, merged, strict=True)]
        rest = both(~chosen, rest)
        if rest is not None and rest.shape[0] == 1 and not rest[0]:
            break
    for result, value in zip(op.results, merged or [], strict=True):
        frame.set(result, *value)


@handles("scf.lookup")
def _lookup(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    selector = interp.defined(frame, op.operands[0], op, mask, "selector")
    keys: Any = op.attributes["keys"]
    defaults = op.operand_group("defaults")
    rows = op.operand_group("rows")
    width = len(defaults)
    chosen = [(frame.values[value], frame.poison.get(value)) for value in defaults]
    for position, key in enumerate(keys):
        row: Sequence[Any] = rows[position * width : (position + 1) * width]
        hit = selector == key
        chosen = [
            merge_value(hit, (frame.values[value], frame.poison.get(value)), old)
            for value, old in zip(row, chosen, strict=True)
        ]
    for result, value in zip(op.results, chosen, strict=True):
        frame.set(result, *value)
