"""Inlining of every call: functions, exact template calls, and applied families after their selection."""

from __future__ import annotations

from loom.ir import Builder, IndexType, Module, OffsetType, Operation, Predicate, Ref, ScalarType, Value
from loom.transform.passes import PassContext
from loom.transform.rejection import rejection
from loom.transform.selection import select_implementation
from loom.transform.simplify import simplify_body
from loom.transform.structurize import structurize

_CALLS = frozenset({"func.call", "template.call", "template.apply"})
_KERNELS = frozenset({"kernel.def"})
# Far above any honest nesting of helpers; reached only by recursion through template families.
_DEEPEST = 256


def inline(module: Module, context: PassContext) -> int:
    """Inline all calls in kernels, callees first simplified and made structured; drop the definitions then.

    Raises:
        LoomError: ``INLINE/001`` for recursion, ``INLINE/002`` for a callee that only is declared; selection's own
            errors.
    """
    count = 0
    for op in list(module.operations):
        if op.name in ("func.def", "template.def", *_KERNELS):
            for region in op.regions:
                structurize(op, region)
    callers = [op for op in module.operations if op.name in _KERNELS or op.name == "func.def"]
    kernels = [op for op in callers if op.name in _KERNELS]
    for caller in kernels or callers:
        depth = 0
        simplify_body(caller)
        while True:
            calls = [op for op in caller.walk() if op.name in _CALLS]
            if not calls:
                break
            depth += 1
            if depth > _DEEPEST:
                raise rejection(
                    calls[0],
                    f"calls inside @{caller.symbol} never end",
                    "INLINE/001",
                    "recursion cannot be compiled; write a loop",
                )
            for call in calls:
                _inline_call(module, call, context)
                count += 1
            simplify_body(caller)
    for op in list(module.operations):
        if op.name.startswith("template.") or (op.name.startswith("func.") and (kernels or op not in callers)):
            op.erase()
    return count


def _inline_call(module: Module, call: Operation, context: PassContext) -> None:
    if call.name == "template.apply":
        callee: Operation | None = select_implementation(module, call, context.target)
    else:
        callee = module.symbol(str(call.attributes["callee"]))
    if callee is None or "declaration" in callee.definition.traits:
        name = call.attributes.get("callee", call.attributes.get("family"))
        raise rejection(
            call,
            f"@{name} is declared but not defined",
            "INLINE/002",
            "give the module that defines it with --library",
        )
    arguments = state_preconditions(callee, call)
    mapping: dict[Value, Value] = dict(zip(callee.body("body").arguments, arguments, strict=True))
    results: list[Value] = []
    for op in callee.body("body").operations:
        if op.definition.is_terminator:
            results = [mapping.get(v, v) for v in op.operands]
            break
        assert call.parent is not None
        call.parent.insert_before(call, op.clone(mapping))
    call.replace_with(results)


def state_preconditions(callee: Operation, call: Operation) -> list[Value]:
    """Return the call's arguments as the callee may see them: with its ``where`` facts attached by assumes."""
    arguments = list(call.operand_group("arguments"))
    predicates = callee.attributes.get("where")
    if not isinstance(predicates, tuple):
        return arguments
    builder = Builder.before(call)
    for wanted, name in ((IndexType | OffsetType, "index.assume"), (ScalarType, "scalar.assume")):
        stated: list[Predicate] = []
        positions: list[int] = []
        for predicate in predicates:
            assert isinstance(predicate, Predicate)
            refs = [a.index for a in predicate.arguments if isinstance(a, Ref)]
            if any(i >= len(arguments) for i in refs):
                continue
            is_index = all(isinstance(arguments[i].type, IndexType | OffsetType) for i in refs)
            if is_index != (name == "index.assume") or not all(isinstance(arguments[i].type, wanted) for i in refs):
                continue
            for i in refs:
                if i not in positions:
                    positions.append(i)
            stated.append(
                Predicate(
                    predicate.name,
                    tuple(Ref(positions.index(a.index)) if isinstance(a, Ref) else a for a in predicate.arguments),
                )
            )
        if stated:
            operands = [arguments[i] for i in positions]
            made = builder.create(name, {"values": operands}, [v.type for v in operands], {"predicates": tuple(stated)})
            for i, result in zip(positions, made.results, strict=True):
                result.name = arguments[i].name
                arguments[i] = result
    return arguments
