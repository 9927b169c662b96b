"""Printing Low bodies in the structured asm spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loom.ir.attributes import format_attribute
from loom.ir.core import Operation
from loom.ir.targets import Descriptor, DescriptorSet, descriptor_set
from loom.text.asm_parser import STRUCTURAL, infer_result
from loom.text.format import program_of

if TYPE_CHECKING:
    from loom.text.printer import LinePrinter, Printer

_WORDS = {name: word for word, name in STRUCTURAL.items()}


def asm_descriptor(op: Operation, descriptors: DescriptorSet) -> Descriptor | None:
    """Return the descriptor by which an instruction can be written as an asm line; None when it has no such form.

    The asm form of an instruction may be narrower than its canonical one: operands, results and immediates must be
    exactly what a reader of the line would expect.
    """
    by_key = descriptors.lookup(str(op.attributes["key"]))
    if by_key is None or by_key.mnemonic is None:
        return None
    descriptor = descriptors.by_mnemonic(by_key.mnemonic)
    if descriptor is None or descriptor.key != by_key.key:
        return None
    ties: Any = op.attributes.get("ties") or ()
    extra = sum(t is not None for t in ties)
    least = sum(not o.optional for o in descriptor.operands)
    if len(op.results) != len(descriptor.results):
        return None
    if not least <= len(op.operands) <= len(descriptor.operands) + extra:
        return None
    immediates: Any = op.attributes.get("immediates") or {}
    names = {i.name for i in descriptor.immediates}
    if any(i.default is None and i.name not in immediates for i in descriptor.immediates):
        return None
    return descriptor if names.issuperset(immediates) else None


def listed_key(op: Operation, key: str, descriptors: DescriptorSet) -> str:
    """Return the key under which the target lists an instruction: its asm mnemonic where the op has that form."""
    descriptor = descriptors.lookup(key)
    if descriptor is None or descriptor.mnemonic is None or descriptor.key != key:
        return key
    family, _, name = key.partition(".")
    if "." in name or name == descriptor.mnemonic or asm_descriptor(op, descriptors) is None:
        return key
    return f"{family}.{descriptor.mnemonic}"


def asm_printer(function: Operation) -> LinePrinter | None:
    """Return what prints the ops of a function's body as asm lines; None when its descriptor set is unknown.

    Instructions without an asm form are left to the canonical spelling, which may stand in an asm body.
    """
    found = descriptor_set(str(function.attributes.get("descriptor_set")))
    if found is None:
        return None

    def line(printer: Printer, op: Operation) -> bool:
        word = _WORDS.get(op.name)
        if op.name == "low.return":
            printer.out.append(
                "return" + "".join(f"{',' if n else ''} {printer.names[v]}" for n, v in enumerate(op.operands))
            )
            return True
        if word is not None:
            if op.results:
                printer.out.append(", ".join([printer.names[r] for r in op.results]) + " = ")
            printer.out.append(word)
            for step in program_of(op.definition).print:
                step(printer, op)
            return True
        if op.name == "low.op":
            descriptor = asm_descriptor(op, found)
            if descriptor is not None:
                _instruction(printer, op, descriptor)
                return True
        return False

    return line


def _instruction(printer: Printer, op: Operation, descriptor: Descriptor) -> None:
    assert descriptor.mnemonic is not None
    out = printer.out
    if op.results:
        out.append(", ".join([printer.names[r] for r in op.results]) + " = ")
    out.append(descriptor.mnemonic)
    if op.operands:
        out.append(" " + ", ".join([printer.names[v] for v in op.operands]))
    immediates: dict[str, Any] = dict(op.attributes.get("immediates") or {})  # type: ignore[arg-type]
    positional: list[str] = []
    for declared in descriptor.immediates:
        if declared.positional and declared.name in immediates:
            positional.append(format_attribute(immediates.pop(declared.name)))
    if positional:
        out.append((", " if op.operands else " ") + ", ".join(positional))
    named: list[str] = []
    for declared in descriptor.immediates:
        if declared.name in immediates:
            named.append(f"{declared.name} = {format_attribute(immediates.pop(declared.name))}")
    named.extend(f"{k} = {format_attribute(immediates[k])}" for k in sorted(immediates))
    for name in ("form", "raw"):
        value = op.attributes.get(name)
        if value is not None:
            named.append(f"{name} = {format_attribute(value)}")
    if named:
        out.append(" {" + ", ".join(named) + "}")
    if not _types_follow(op, descriptor):
        ties: Any = op.attributes.get("ties") or (None,) * len(op.results)
        out.append(
            " : "
            + ", ".join(
                [
                    printer.type(r.type) if t is None else f"{printer.names[op.operands[t]]} as {printer.type(r.type)}"
                    for r, t in zip(op.results, ties, strict=True)
                ]
            )
        )


def _types_follow(op: Operation, descriptor: Descriptor) -> bool:
    """Whether a reader would infer exactly the op's result types and ties."""
    if len(descriptor.results) != len(op.results):
        return False
    ties: Any = op.attributes.get("ties") or (None,) * len(op.results)
    for declared, result, tie in zip(descriptor.results, op.results, ties, strict=True):
        made, inferred_tie = infer_result(descriptor, declared, op.operands)
        if made is not result.type or inferred_tie != tie:
            return False
    return True
