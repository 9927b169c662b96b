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


def has_asm_form(function: Operation) -> bool:
    """Whether every instruction of a Low function has an asm mnemonic in its descriptor set."""
    found = descriptor_set(str(function.attributes.get("descriptor_set")))
    if found is None:
        return False
    return all(
        (d := found.lookup(str(op.attributes["key"]))) is not None and d.mnemonic is not None
        for op in function.walk()
        if op.name == "low.op"
    )


def asm_printer(function: Operation) -> LinePrinter | None:
    """Return what prints the ops of a function's body as asm lines; None when one of them has no asm form."""
    if not has_asm_form(function):
        return None
    found = descriptor_set(str(function.attributes.get("descriptor_set")))
    assert found is not None

    def line(printer: Printer, op: Operation) -> bool:
        word = _WORDS.get(op.name)
        if op.name == "low.return":
            printer.out.append("return" + "".join(f"{',' if n else ''} {printer.names[v]}" for n, v in enumerate(op.operands)))
            return True
        if word is not None:
            if op.results:
                printer.out.append(", ".join([printer.names[r] for r in op.results]) + " = ")
            printer.out.append(word)
            for step in program_of(op.definition).print:
                step(printer, op)
            return True
        if op.name == "low.op":
            _instruction(printer, op, found)
            return True
        return False

    return line


def _instruction(printer: Printer, op: Operation, descriptors: DescriptorSet) -> None:
    descriptor = descriptors.lookup(str(op.attributes["key"]))
    assert descriptor is not None and descriptor.mnemonic is not None
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
