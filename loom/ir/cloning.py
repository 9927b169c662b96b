"""Copying operations with everything inside of them."""

from __future__ import annotations

from collections.abc import Mapping

from loom.ir.attributes import Attribute
from loom.ir.core import Block, Operation, Region, Value
from loom.ir.types import Type


def map_attribute(value: Attribute, mapping: Mapping[Value, Value]) -> Attribute:
    """Rewrite the types inside an attribute value by ``mapping``."""
    if isinstance(value, Type):
        return value.substitute(mapping)
    if isinstance(value, tuple) and any(isinstance(v, Type | tuple) for v in value):
        return tuple(map_attribute(v, mapping) for v in value)
    return value


def clone_operation(root: Operation, mapping: dict[Value, Value], blocks: dict[Block, Block]) -> Operation:
    """Copy without recursion, so that nesting depth is no limit."""

    def shell(op: Operation) -> Operation:
        copy = Operation(
            op.definition,
            [mapping.get(v, v) for v in op.operands],
            (),
            dict(op.attributes),
            [Region() for _ in op.regions],
            [blocks.get(b, b) for b in op.successors],
            op._location,
            op.segments,
            op.result_segments,
        )
        copy.comments, copy.blank_before = op.comments, op.blank_before
        for i, r in enumerate(op.results):
            made = Value(r.type.substitute(mapping), copy, i, r.name)
            copy.results.append(made)
            mapping[r] = made
        return copy

    top = shell(root)
    stack: list[tuple[Operation, Operation]] = [(root, top)]
    late: list[tuple[Operation, Operation]] = []
    while stack:
        old, new = stack.pop()
        for old_region, new_region in zip(old.regions, new.regions, strict=True):
            new_region.trailing_comments = old_region.trailing_comments
            for block in old_region.blocks:
                copy_block = new_region.add_block(Block(label=block.label))
                copy_block.label_written = block.label_written
                copy_block.comments, copy_block.blank_before = block.comments, block.blank_before
                copy_block.location = block.location
                blocks[block] = copy_block
                for a in block.arguments:
                    mapping[a] = copy_block.add_argument(a.type.substitute(mapping), a.name)
            for block in old_region.blocks:
                for op in block.operations:
                    copy = shell(op)
                    blocks[block].append(copy)
                    late.append((op, copy))
                    if op.regions:
                        stack.append((op, copy))
        if old.regions and any(isinstance(v, Type | tuple) for v in new.attributes.values()):
            for key, value in new.attributes.items():
                new.attributes[key] = map_attribute(value, mapping)
    # Operands that were copied before their definition (later blocks, later siblings) are filled in now.
    for op, copy in late:
        for i, v in enumerate(op.operands):
            replacement = mapping.get(v)
            if replacement is not None and copy.operands[i] is not replacement:
                copy.set_operand(i, replacement)
        copy.successors = [blocks.get(b, b) for b in op.successors]
        for r, made in zip(op.results, copy.results, strict=True):
            if r.type.values:
                made.retype(r.type.substitute(mapping))
    return top
