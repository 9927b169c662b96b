"""What spellings need once a whole file is read.

Calls of kernels become launches, families are declared, instructions that have several names get one key.
"""

from __future__ import annotations

from loom.ir.attributes import SymbolRef, Word
from loom.ir.builder import Builder
from loom.ir.core import Block, Module, Operation, Region, Value
from loom.ir.targets import descriptor_set, set_of_selector


def modernize(module: Module) -> None:
    """Rewrite older forms in place."""
    kernels: dict[str, Operation] = {}
    calls: list[Operation] = []
    families: dict[str, Operation] = {}
    declared: set[str] = set()
    for op in module.body.operations:
        name = op.definition.name
        if name in ("kernel.def", "kernel.decl") and op.symbol:
            kernels[op.symbol] = op
            if op.attributes.pop("public", None) and "export" not in op.attributes:
                op.attributes["export"] = op.symbol
        elif name == "check.case":
            for inner in op.regions[0].blocks[0].operations:
                if inner.definition.name == "func.call":
                    calls.append(inner)
        elif name in ("template.def", "template.ukernel"):
            family = op.attributes.get("family")
            if isinstance(family, SymbolRef):
                families.setdefault(str(family), op)
        elif name.startswith("low."):
            if "target" in op.attributes and "descriptor_set" not in op.attributes:
                _complete_target(module, op)
            _one_key_each(op)
        if op.symbol:
            declared.add(op.symbol)
    for call in calls:
        callee = call.attributes.get("callee")
        if isinstance(callee, SymbolRef) and callee in kernels:
            _launch(call, kernels[callee])
    for family, first in families.items():
        if family not in declared and _was_older(first):
            _declare_family(family, first)


def _complete_target(module: Module, op: Operation) -> None:
    """Older Low functions name their target only; its record tells the descriptor set."""
    record = module.symbol(str(op.attributes["target"]))
    if record is None or not record.name.endswith(".target"):
        return
    key = set_of_selector(record.definition.dialect, str(record.attributes["selector"]))
    if key is not None:
        op.attributes["descriptor_set"] = Word(key)


def _one_key_each(function: Operation) -> None:
    """Give every instruction the key of its descriptor, so that equal programs are equal in whatever names they use."""
    found = descriptor_set(str(function.attributes.get("descriptor_set")))
    if found is None:
        return
    keys: dict[str, Word] = {}
    for op in function.walk():
        if op.name in ("low.op", "low.const"):
            written = str(op.attributes["key"])
            if written not in keys:
                descriptor = found.lookup(written)
                keys[written] = Word(descriptor.key if descriptor is not None else written)
            op.attributes["key"] = keys[written]


def _was_older(op: Operation) -> bool:
    location = op._location
    if not isinstance(location, tuple):
        return False
    source, start, _ = location
    return source.tokens[start] in ("func.template", "func.ukernel")


def _launch(call: Operation, kernel: Operation) -> None:
    parameters = kernel.regions[1].blocks[0].arguments
    workload = kernel.regions[0].blocks[0].arguments
    by_name = {p.name: v for p, v in zip(parameters, call.operands, strict=False)}
    values: list[Value] = []
    for w in workload:
        found = by_name.get(w.name)
        if found is None:
            return
        values.append(found)
    made = Builder.before(call).create(
        "kernel.launch",
        {"workload": values, "arguments": list(call.operands)},
        attributes={"callee": call.attributes["callee"]},
    )
    made.comments, made.blank_before = call.comments, call.blank_before
    call.erase()


def _declare_family(family: str, first: Operation) -> None:
    block = Block()
    mapping: dict[Value, Value] = {}
    for a in first.regions[0].blocks[0].arguments:
        mapping[a] = block.add_argument(a.type.substitute(mapping), a.name)
    attributes = {"sym_name": family}
    if "result_types" in first.attributes:
        attributes["result_types"] = first.attributes["result_types"]  # type: ignore[assignment]
    Builder.before(first).create("template.decl", attributes=attributes, regions=[Region([block])])
