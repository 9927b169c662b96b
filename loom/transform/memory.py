"""What memory a view can reach, and reuse of values that are already in registers."""

from __future__ import annotations

from typing import Any

from loom.ir import Block, Module, Operation, Value, ViewType
from loom.transform.passes import PassContext

_THROUGH = {"buffer.view": 0, "view.subview": 0, "view.refine": 0, "buffer.assume.alignment": None,
            "buffer.assume.memory_space": 0, "buffer.assume.same_root": 0}  # fmt: skip


def root_of(value: Value) -> Value:
    """Follow a view or buffer to where it comes from: an argument, an allocation, a noalias result, or a join of
    several.
    """
    while True:
        op = value.defining_op
        if op is None or op.name not in _THROUGH:
            return value
        position = _THROUGH[op.name]
        value = op.operands[value.index if position is None else position]


def may_alias(a: Value, b: Value) -> bool:
    """Whether two roots may be the same memory.

    Different allocations, an allocation and an argument, and results of one ``buffer.assume.noalias`` are disjoint.
    """
    if a is b:
        return True
    first, second = a.defining_op, b.defining_op
    first_name = first.name if first is not None else ""
    second_name = second.name if second is not None else ""
    fresh = ("buffer.alloca", "kernel.workgroup.storage")
    if (first_name in fresh) or (second_name in fresh):
        # A fresh root differs from every other root, joins (loop arguments, selects) excepted.
        other = b if first_name in fresh else a
        other_op = other.defining_op
        if other_op is None:
            return other.block is not None and other.block.parent_op is not None and _is_join(other)
        return other_op.name.startswith("scf.")
    return not (first is second and first_name == "buffer.assume.noalias")


def _is_join(value: Value) -> bool:
    block = value.block
    owner = block.parent_op if block is not None else None
    return owner is not None and owner.name.startswith("scf.")


def accessed_view(op: Operation) -> Value | None:
    """The view that an operation reads or writes, when it touches exactly one."""
    views = [v for v in op.operands if isinstance(v.type, ViewType)]
    return views[0] if len(views) == 1 else None


def share_loads(module: Module, context: PassContext) -> int:
    """Within each block, reuse a load's or store's value for a later load of the same elements; return replacements."""
    count = 0
    for symbol in module.operations:
        if symbol.name not in ("kernel.def", "func.def"):
            continue
        for region in symbol.regions:
            for block in region.blocks:
                count += _share_in(block)
    return count


def _location_key(op: Operation) -> Any:
    """What a plain load or store touches; two ops with the same key touch the same elements."""
    view = op.operand("view")
    return (op.name.split(".")[0], view, tuple(op.operand_group("indices")), op.attributes.get("indices"))


def _share_in(block: Block) -> int:
    count = 0
    known: dict[Any, tuple[Value, Value]] = {}
    for op in block.operations:
        for region in op.regions:
            for inner in region.blocks:
                count += _share_in(inner)
        traits = op.definition.traits
        if op.regions:
            if any(_touches(inner) for inner in op.walk() if inner is not op):
                known.clear()
            continue
        if op.name in ("view.load", "vector.load") and not op.attributes.get("volatile"):
            key = (*_location_key(op), op.results[0].type)
            found = known.get(key)
            if found is not None:
                op.replace_with([found[0]])
                count += 1
            else:
                known[key] = (op.results[0], root_of(op.operand("view")))
        elif op.name in ("view.store", "vector.store") and not op.attributes.get("volatile"):
            root = root_of(op.operand("view"))
            known = {k: v for k, v in known.items() if not may_alias(v[1], root)}
            stored = op.operand("value")
            known[(*_location_key(op), stored.type)] = (stored, root)
        elif "writes" in traits or "convergent" in traits or "call" in traits or op.name.startswith("kernel.barrier"):
            known.clear()
    return count


def _touches(op: Operation) -> bool:
    traits = op.definition.traits
    return "writes" in traits or "call" in traits or op.name.startswith("kernel.barrier")
