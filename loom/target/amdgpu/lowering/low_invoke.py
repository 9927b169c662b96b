"""``low.invoke``: a helper on registers, put in place of its call. Types map exactly, preconditions must be proven."""

from __future__ import annotations

from loom.ir import (
    Block,
    BufferType,
    Operation,
    Predicate,
    Ref,
    RegisterType,
    Type,
    Value,
    Word,
)
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.control_flow import branch, enter, new_block
from loom.target.amdgpu.lowering.emitter import SGPR, VGPR, Operand
from loom.target.amdgpu.lowering.values import IndexValue, is_index, is_truth, word_count
from loom.target.amdgpu.structured import expand


def _argument(lw: Lowering, op: Operation, value: Value, wanted: RegisterType, position: int) -> Value:
    """A source value in the register that the helper's parameter names."""
    e = lw.e
    words: tuple[Operand, ...]
    if isinstance(value.type, BufferType):
        root = lw.buffer(value).root
        if root.base is None:
            raise lw.reject(
                op,
                f"argument {position} is a buffer in {root.space} memory; helpers take global buffers",
                40,
                "load the values first, and pass these",
            )
        words = (root.base,)
        count = 2
    elif is_truth(value.type):
        if wanted.register_class == SGPR and wanted.units == e.mask_units and lw.is_divergent(value):
            return lw.t.as_mask(lw.truth(value))
        words, count = lw.words(value), 1
    elif is_index(value.type):
        words, count = tuple(lw.index_pair(value)), 2
    else:
        words, count = lw.words(value), word_count(value.type)
    scalar = wanted.register_class == SGPR
    bank = VGPR if lw.is_divergent(value) else SGPR
    if wanted.register_class not in (SGPR, VGPR) or wanted.units != count:
        raise lw.reject(
            op,
            f"argument {position} of type {value.type} is {count} word{'s' * (count != 1)}; the helper takes {wanted}",
            41,
            f"declare the parameter as reg<{bank}{f' x{count}' if count > 1 else ''}>",
        )
    if scalar and lw.is_divergent(value):
        raise lw.reject(
            op,
            f"argument {position} differs between lanes, the helper takes it in a scalar register",
            42,
            "declare the parameter as reg<amdgpu.vgpr>, or broadcast the value first",
        )
    return (
        e.join(list(words), vector=not scalar)
        if len(words) > 1
        else (e.to_scalar(words[0]) if scalar else e.to_vector(words[0]))
    )


def _result(lw: Lowering, op: Operation, value: Value, register: Value) -> None:
    type_: Type = value.type
    e = lw.e
    units = register.type.units  # type: ignore[attr-defined]
    if is_truth(type_):
        if register.type.register_class == SGPR and lw.is_divergent(value):  # type: ignore[attr-defined]
            lw.set(value, lw.t.of_mask(register))
        else:
            lw.set(value, lw.t.from_bit(register))
        return
    if is_index(type_):
        if units != 2:
            raise lw.reject(
                op,
                f"a result of type {type_} is two words; the helper gives {register.type}",
                41,
                "declare the helper's result as two units of its class, or take an i32",
            )
        lw.set(value, IndexValue(tuple(e.parts(register))))
        return
    if units != word_count(type_):
        raise lw.reject(
            op,
            f"a result of type {type_} is {word_count(type_)} words; the helper gives {register.type}",
            41,
            f"take a result of {units} word{'s' * (units != 1)}, or declare {word_count(type_)} units in the helper",
        )
    lw.set(value, tuple(e.parts(register)))


def _prove(lw: Lowering, op: Operation, callee: Operation) -> None:
    """Every ``where`` predicate of the helper, from the caller's facts."""
    for predicate in _where(callee):
        if not _holds(lw, op, predicate):
            arguments = ", ".join(
                f"%{op.operands[a.index].name or a.index}"
                if isinstance(a, Ref) and a.index < len(op.operands)
                else str(a)
                for a in predicate.arguments
            )
            raise lw.reject(
                op,
                f"the precondition {predicate.name}({arguments}) of @{callee.symbol} is not proven here",
                43,
                "state it with index.assume or scalar.assume, or guard the call",
            )


def _state(lw: Lowering, callee: Operation, parameters: list[Value], mapping: dict[Value, Value]) -> None:
    """Say inside of the helper what was proven of its parameters: a ``low.assume``."""
    predicates = [
        p for p in _where(callee) if all(a.index < len(parameters) for a in p.arguments if isinstance(a, Ref))
    ]
    named = list(dict.fromkeys(a.index for p in predicates for a in p.arguments if isinstance(a, Ref)))
    if not named:
        return
    stated = tuple(
        Predicate(p.name, tuple(Ref(named.index(a.index)) if isinstance(a, Ref) else a for a in p.arguments))
        for p in predicates
    )
    values = [mapping[parameters[i]] for i in named]
    op = lw.e.create("low.assume", values, [v.type for v in values], {"predicates": stated}, segments=(len(values), 0))
    for i, result in zip(named, op.results, strict=True):
        result.name = parameters[i].name
        mapping[parameters[i]] = result


def _where(callee: Operation) -> list[Predicate]:
    predicates = callee.attributes.get("where")
    return [p for p in predicates if isinstance(p, Predicate)] if isinstance(predicates, tuple) else []


def _holds(lw: Lowering, op: Operation, predicate: Predicate) -> bool:
    def bounds(argument: object) -> tuple[int, int] | None:
        if isinstance(argument, Ref):
            return lw.interval(op.operands[argument.index]) if argument.index < len(op.operands) else None
        return (argument, argument) if isinstance(argument, int) else None

    first = bounds(predicate.arguments[0])
    name = predicate.name
    if first is None:
        return False
    if name == "pow2":
        return first[0] == first[1] > 0 and first[0] & (first[0] - 1) == 0
    if len(predicate.arguments) < 2:
        return False
    second = bounds(predicate.arguments[1])
    if second is None:
        return False
    if name == "mul":
        reference = predicate.arguments[0]
        if second[0] == 0 or not isinstance(reference, Ref):
            return False
        return lw.ranges.multiple(op.operands[reference.index]) % second[0] == 0
    if name == "range":
        third = bounds(predicate.arguments[2])
        return third is not None and first[0] >= second[1] and first[1] <= third[0]
    table = {
        "eq": first[0] == first[1] == second[0] == second[1],
        "ne": first[1] < second[0] or first[0] > second[1],
        "lt": first[1] < second[0],
        "le": first[1] <= second[0],
        "gt": first[0] > second[1],
        "ge": first[0] >= second[1],
        "min": first[0] >= second[1],
        "max": first[1] <= second[0],
    }
    return table.get(name, False)


def _target_usable(lw: Lowering, op: Operation, callee: Operation) -> None:
    from loom.target.amdgpu.descriptor_set.sets import SETS

    key = str(callee.attributes.get("descriptor_set", ""))
    generation = SETS.get(key)
    exact = key in (lw.target.descriptor_set, "amdgpu.gfx11.generic.core")
    if generation != lw.e.generation or not exact:
        raise lw.reject(
            op,
            f"@{callee.symbol} is written for {key}; {lw.target.selector} has {lw.target.descriptor_set}",
            44,
            "a kernel may use helpers of its own set or of its generation's generic set",
        )


def _invoke(lw: Lowering, op: Operation) -> None:
    name = str(op.attributes["callee"])
    callee = lw.module.symbol(name)
    if callee is None or callee.name != "low.func.def":
        raise lw.reject(
            op, f"@{name} is no low.func.def of this module", 45, "define the helper, or link the library that has it"
        )
    if str(callee.attributes.get("inlining", "")) == "noinline":
        raise lw.reject(op, f"@{name} is noinline; helpers are always inlined on AMDGPU", 46, "drop noinline")
    if str(callee.attributes.get("allocation", "virtual")) != "virtual":
        raise lw.reject(
            op,
            f"@{name} has fixed registers; helpers are allocated with their caller",
            46,
            "write the helper with allocation(virtual)",
        )
    _target_usable(lw, op, callee)
    _prove(lw, op, callee)
    body = _expanded(lw, op, callee).regions[0]
    parameters = body.blocks[0].arguments
    if len(parameters) != len(op.operands):
        raise lw.reject(
            op,
            f"@{name} takes {len(parameters)} arguments, {len(op.operands)} are given",
            41,
            "give one argument for each parameter of the helper",
        )
    mapping: dict[Value, Value] = {}
    for position, (parameter, value) in enumerate(zip(parameters, op.operands, strict=True)):
        wanted = parameter.type
        assert isinstance(wanted, RegisterType)
        mapping[parameter] = _argument(lw, op, value, wanted, position)
    _state(lw, callee, parameters, mapping)
    schedule = str(callee.attributes.get("schedule", "free"))
    ordered = schedule in ("locked", "phased")
    if ordered:
        lw.e.create("low.schedule.begin", [], [], {"mode": Word(schedule)})
    results = _inline(lw, op, body.blocks, mapping)
    if ordered:
        lw.e.create("low.schedule.end", [], [])
    for value, register in zip(op.results, results, strict=True):
        _result(lw, op, value, register)


def _expanded(lw: Lowering, op: Operation, callee: Operation) -> Operation:
    """The helper as blocks and branches: what it calls is in place, structured ops are flattened."""
    found = lw.helpers.get(callee)
    if found is None:
        for inner in callee.walk():
            if inner.name in ("low.resource", "low.live_in"):
                raise lw.reject(op, f"{inner.name} in a helper of low.invoke", 48, "pass the register as an argument")
        found = lw.helpers[callee] = callee.clone()
        expand(lw.module, found)
    return found


def _inline(lw: Lowering, op: Operation, blocks: list[Block], mapping: dict[Value, Value]) -> list[Value]:
    """Clone a helper's blocks here; returns the values it returns."""
    e = lw.e
    targets: dict[Block, Block] = {}
    for block in blocks[1:]:
        made = new_block(lw, block.label or "helper")
        targets[block] = made
        for argument in block.arguments:
            mapping[argument] = e.define(made.add_argument(argument.type, argument.name))
    several = len(blocks) > 1
    join = new_block(lw, "return") if several else None
    returned: list[Value] = []
    made_ops: list[Operation] = []
    for block in blocks:
        if block in targets:
            enter(lw, targets[block])
        for inner in block.operations:
            if inner.name == "low.return":
                values = [mapping.get(v, v) for v in inner.operands]
                if join is None:
                    returned = values
                else:
                    if not join.arguments:
                        returned = [e.define(join.add_argument(v.type)) for v in values]
                    made_ops.append(branch(lw, join, values))
                continue
            copy = inner.clone(mapping, targets)
            copy.location = op.location
            copy.successors = [targets.get(b, b) for b in inner.successors]
            e.block.insert_before(e.anchor, copy)
            made_ops.append(copy)
            for value in copy.results:
                e.depth[value] = len(e.scopes) - 1
    for made_op in made_ops:
        # A block may be laid out in front of the one that defines what it uses.
        for position, value in enumerate(made_op.operands):
            if value in mapping:
                made_op.set_operand(position, mapping[value])
    if join is not None:
        enter(lw, join)
    return returned


HANDLERS: dict[str, Handler] = {"low.invoke": _invoke}
