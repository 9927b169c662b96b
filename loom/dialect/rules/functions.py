"""Rules about functions, kernels, launches and collective operations."""

from __future__ import annotations

from typing import Any

from loom.dialect.rules.memory import kind_fits
from loom.dialect.rules.values import Report, check_predicates
from loom.ir import (
    BufferType,
    FloatType,
    IndexType,
    IntegerType,
    OffsetType,
    Operation,
    ScalarType,
    Type,
    Value,
    ViewType,
    bit_width,
    element_type,
)


def signature_types(op: Operation) -> list[Type]:
    """Return the types that a signature's predicates count: arguments, then results."""
    results: Any = op.attributes.get("result_types", ())
    return [a.type for a in op.regions[0].blocks[0].arguments] + list(results)


def function(op: Operation, report: Report) -> None:
    """The predicates of the signature fit; a pure body touches no memory but private memory of its own."""
    where: Any = op.attributes.get("where", ())
    check_predicates(where, signature_types(op), report)
    if op.attributes.get("pure") and not op.definition.has_trait("declaration"):
        _pure_body(op, report)


_EFFECTS = {"writes": "writes memory", "reads": "reads memory", "barrier": "orders memory"}


def _pure_body(op: Operation, report: Report) -> None:
    """Report the first operation with an effect that a caller could see."""
    for inner in op.walk():
        found = next((what for trait, what in _EFFECTS.items() if inner.definition.has_trait(trait)), None)
        memory = [value for value in inner.operands if _is_memory(value)]
        if found is None or (memory and all(_is_own(value) for value in memory)):
            continue
        place = inner.location
        line = f" in line {place.line}" if place is not None else ""
        hint = "drop 'pure'; a pure function may use a buffer.alloca<private> of its own"
        report("SYMBOL/007", f"@{op.symbol} is pure, but {inner.name}{line} {found}", hint)
        return


def _is_memory(value: Value) -> bool:
    return isinstance(value.type, BufferType | ViewType)


def _is_own(value: Value) -> bool:
    """Whether a buffer or view is private memory that the same function allocates."""
    source = value.defining_op
    while source is not None and source.operands and source.name != "buffer.alloca" and _is_memory(source.operands[0]):
        source = source.operands[0].defining_op
    return source is not None and source.name == "buffer.alloca" and source.attributes["memory_space"] == "private"


def _device_type(type_: Type) -> bool:
    return isinstance(type_, BufferType | IndexType | OffsetType | IntegerType | FloatType)


def kernel(op: Operation, report: Report) -> None:
    """Parameter types, a pure launch region, fitting predicates."""
    workload = op.regions[0].blocks[0].arguments
    parameters = op.regions[1].blocks[0].arguments
    for a in workload:
        if not isinstance(a.type, ScalarType):
            report("KERNEL/002", f"workload value %{a.name} must be a scalar, not {a.type}")
    for a in parameters:
        if not _device_type(a.type):
            report(
                "KERNEL/002",
                f"launch parameter %{a.name} cannot be {a.type}",
                "a device takes buffers, index, offset, integers and floats",
            )
    if op.attributes.get("linkage") and not op.attributes.get("export"):
        report("OP/024", "'linkage' needs 'export'")
    where: Any = op.attributes.get("where", ())
    check_predicates(where, [a.type for a in workload], report)
    launch: Any = op.attributes.get("launch_where", ())
    check_predicates(launch, [a.type for a in parameters], report)
    if op.definition.has_trait("declaration"):
        return
    for inner in op.regions[0].blocks[0].operations:
        if inner.definition.is_terminator:
            continue
        pure = inner.definition.is_pure and not inner.definition.has_trait("device")
        called = inner.name in ("template.apply", "template.call") or (
            inner.name == "func.call" and inner.attributes.get("pure")
        )
        if inner.name in ("scf.if", "scf.for", "scf.switch"):
            pure = all(i.definition.is_pure or i.name.startswith("scf.") for r in inner.regions for i in r.walk())
        if not (pure or called):
            report(
                "KERNEL/001",
                f"{inner.name} has effects; the launch region of @{op.symbol} is computed on the host and must be pure",
            )
            return


def launch_config(op: Operation, report: Report) -> None:
    """Three extents each, positive where they are known."""
    for name in ("workgroups", "workgroup_size", "cluster_size"):
        values = op.operand_group(name)
        if len(values) != 3 and not (name == "cluster_size" and not values):
            report("OP/001", f"'{name}' takes x, y and z, {len(values)} values given")
            continue
        for axis, v in zip("xyz", values, strict=False):
            definer = v.defining_op
            if definer is not None and definer.name == "index.constant":
                value = definer.attributes["value"]
                if isinstance(value, int) and value <= 0:
                    report("KERNEL/003", f"'{name}' along {axis} must be positive, not {value}")


def barrier(op: Operation, report: Report) -> None:
    """Orderings and scopes of the two memories."""
    space, scope, ordering = (op.attributes[n] for n in ("memory_space", "scope", "ordering"))
    if space == "workgroup" and ordering != "acq_rel":
        report("OP/021", f"a barrier on workgroup memory is 'acq_rel', not '{ordering}'")
    elif space == "global" and scope != "workgroup":
        report("OP/021", f"a barrier on global memory has scope 'workgroup', not '{scope}'")
    elif space == "global" and ordering not in ("acquire", "release", "acq_rel"):
        report("OP/021", f"a barrier on global memory cannot be '{ordering}'", "acquire, release or acq_rel")


def collective(op: Operation, report: Report) -> None:
    """The kind fits the value; a stride needs a size."""
    kind_fits(op, element_type(op.operands[0].type), report)
    if "cluster_stride" in op.attributes and "cluster_size" not in op.attributes:
        report("OP/024", "'cluster_stride' needs 'cluster_size'")


def async_copy(op: Operation, report: Report) -> None:
    """Equal static footprints; the token goes to exactly one group."""
    source, destination = op.operand("source").type, op.operand("destination").type
    assert isinstance(source, ViewType) and isinstance(destination, ViewType)
    if source.is_static and destination.is_static and not op.name.startswith("kernel.async.gather"):
        a, b = bit_width(source), bit_width(destination)
        if a != b:
            report("OP/019", f"{op.name} moves equal footprints; {source} has {a // 8} bytes, {destination} {b // 8}")
    groups = [user for user in op.results[0].users if user.name == "kernel.async.group"]
    uses = sum(v is op.results[0] for g in groups for v in g.operands)
    if uses != 1:
        report("KERNEL/004", f"the token of {op.name} must go to exactly one group, it goes to {uses}")


def async_group(op: Operation, report: Report) -> None:
    """No token twice."""
    if len(set(op.operands)) != len(op.operands):
        report("KERNEL/004", "a token is listed twice in a group")
