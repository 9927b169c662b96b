"""Making operations in code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from loom.ir.attributes import Attribute
from loom.ir.core import Block, Operation, Region, Value
from loom.ir.definition import OpDefinition
from loom.ir.registry import lookup
from loom.ir.types import Type

OperandArgument: TypeAlias = "Value | Sequence[Value] | None"


class Builder:
    """Creates operations at an insertion point: before ``anchor`` in ``block``, at its end when ``anchor`` is None.

    ``location`` is given to ops that are created without one.
    """

    __slots__ = ("anchor", "block", "location")

    def __init__(self, block: Block | None = None, anchor: Operation | None = None, location: Any = None) -> None:
        self.block = block
        self.anchor = anchor
        self.location = location

    @classmethod
    def before(cls, op: Operation) -> Builder:
        """A builder that inserts right before ``op`` and uses its location."""
        return cls(op.parent, op, op._location)

    @classmethod
    def after(cls, op: Operation) -> Builder:
        """A builder that inserts right after ``op`` and uses its location."""
        return cls(op.parent, op.next, op._location)

    @classmethod
    def at_end(cls, block: Block, location: Any = None) -> Builder:
        """A builder that appends to ``block``."""
        return cls(block, None, location)

    @classmethod
    def at_start(cls, block: Block, location: Any = None) -> Builder:
        """A builder that inserts before the present first op of ``block``."""
        return cls(block, block.first, location)

    def insert(self, op: Operation) -> Operation:
        """Insert a detached op at the insertion point."""
        if self.block is not None:
            self.block.insert_before(self.anchor, op)
        return op

    def create(
        self,
        name: str | OpDefinition,
        operands: Sequence[Value] | Mapping[str, OperandArgument] = (),
        result_types: Sequence[Type] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] | None = None,
        successors: Sequence[Block] = (),
        location: Any = None,
        result_names: Sequence[str | None] = (),
    ) -> Operation:
        """Create and insert an op.

        ``operands`` is a flat sequence, or a mapping from declared names to a value, a list (groups) or None
        (absent); an op with several groups needs the mapping. ``result_types`` may be left out where the declaration
        infers them. Regions left out are made empty (one block each; optional ones without). Raises ``ValueError``
        for an unknown op, missing operands or types that cannot be inferred.
        """
        definition = lookup(name) if isinstance(name, str) else name
        if definition is None:
            raise ValueError(f"unknown operation {name}")
        segments: tuple[int, ...] | None = None
        flat: list[Value] = []
        if isinstance(operands, Mapping):
            sizes: list[int] = []
            unknown = set(operands) - set(definition.operand_positions)
            if unknown:
                raise ValueError(f"{definition.name} has no operand {sorted(unknown)[0]!r}")
            for declared in definition.operands:
                given = operands.get(declared.name)
                values = [] if given is None else [given] if isinstance(given, Value) else list(given)
                if declared.count == "one" and len(values) != 1:
                    raise ValueError(f"{definition.name} needs one operand {declared.name!r}")
                flat.extend(values)
                sizes.append(len(values))
            if definition.needs_segments:
                segments = tuple(sizes)
        else:
            flat = list(operands)
            if definition.needs_segments:
                if len(flat) == len(definition.operands):
                    segments = (1,) * len(flat)
                elif not flat:
                    segments = (0,) * len(definition.operands)
                else:
                    raise ValueError(f"{definition.name} has several operand groups: give operands by name")
        if regions is None:
            regions = [Region() if r.optional else Region([Block()]) for r in definition.regions]
        op = Operation(
            definition,
            flat,
            (),
            dict(attributes) if attributes else {},
            regions,
            successors,
            location if location is not None else self.location,
            segments,
        )
        if result_types is None:
            result_types = infer_result_types(op)
        for i, t in enumerate(result_types):
            op.results.append(Value(t, op, i, result_names[i] if i < len(result_names) else None))
        return self.insert(op)

    def constant(self, value: Attribute, type_: Type, name: str | None = None) -> Value:
        """Create the constant op that fits ``type_`` and return its result."""
        from loom.ir.types import IndexType, OffsetType, VectorType

        if isinstance(type_, IndexType | OffsetType):
            op = "index.constant"
        elif isinstance(type_, VectorType):
            op = "vector.constant"
        else:
            op = "scalar.constant"
        return self.create(op, (), [type_], {"value": value}, result_names=(name,)).results[0]


def infer_result_types(op: Operation) -> list[Type]:
    """Return the result types that the declaration infers for an op whose results do not exist yet."""
    types: list[Type] = []
    for declared in op.definition.results:
        rule = declared.infer
        if rule is None:
            if declared.count != "one":
                continue
            raise ValueError(f"{op.name}: the type of result {declared.name!r} must be given")
        if isinstance(rule, str):
            inferred: Type | None = op.operand(rule).type
        elif isinstance(rule, Type):
            inferred = rule
        else:
            inferred = rule(op)
        if inferred is None:
            raise ValueError(f"{op.name}: the type of result {declared.name!r} cannot be inferred")
        types.append(inferred)
    return types
