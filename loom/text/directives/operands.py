"""Operands that are written with their types, their roles or their alignments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loom.ir.attributes import Word
from loom.ir.core import Operation, Value
from loom.ir.definition import OpDefinition
from loom.text.directives.common import typed_values
from loom.text.steps import Directive, OpState, ParseStep, PrintStep

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


# (%a: T, %b: U) — operands with their types


def _make_typed(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    (group,) = arguments
    position = definition.operand_positions[group]

    def parse(p: Parser, state: OpState) -> None:
        p.accept_literal("(")
        values: list[Value] = []
        while p.tokens[p.i] != ")":
            value = p.value()
            p.accept_literal(":")
            at = p.i
            p.operand_type(value, p.type(), at, group)
            values.append(value)
            if p.tokens[p.i] != ",":
                break
            p.i += 1
        p.accept_literal(")")
        state.groups[position] = values

    def show(printer: Printer, op: Operation) -> None:
        printer.out.append(f"({typed_values(printer, op.operand_group(group))})")

    return parse, show


# {schema = %s : encoding<schema>, scale = %v : vector<1xi32>} — operands by role


def _make_keyed(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    position = definition.operand_positions["auxiliary"]

    def parse(p: Parser, state: OpState) -> None:
        p.accept_literal("{")
        entries: dict[str, Value] = {}
        while p.tokens[p.i] != "}":
            key = p.bare_word()
            if key in entries:
                p.fail("PARSE/010", f"'{key}' is given twice", p.i - 1)
            p.accept_literal("=")
            value = p.value()
            p.accept_literal(":")
            at = p.i
            p.operand_type(value, p.type(), at, key)
            entries[key] = value
            if p.tokens[p.i] != ",":
                break
            p.i += 1
        p.accept_literal("}")
        keys = sorted(entries)
        state.groups[position] = [entries[k] for k in keys]
        state.attributes["auxiliary_keys"] = tuple(Word(k) for k in keys)

    def show(printer: Printer, op: Operation) -> None:
        keys: Any = op.attributes.get("auxiliary_keys", ())
        parts = [
            f"{k} = {printer.names[v]} : {printer.type(v.type)}"
            for k, v in zip(keys, op.operand_group("auxiliary"), strict=True)
        ]
        printer.out.append("{" + ", ".join(parts) + "}")

    return parse, show


# align(16) %n0, align(256) %n1 — the entries of a packing


def _make_pack(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    def parse(p: Parser, state: OpState) -> None:
        values: list[Value] = []
        alignments: list[int] = []
        while p.tokens[p.i] != "]":
            p.accept_literal("align")
            p.accept_literal("(")
            alignments.append(p.integer("align"))
            p.accept_literal(")")
            values.append(p.value())
            if p.tokens[p.i] != ",":
                break
            p.i += 1
        state.groups[0] = values
        state.attributes["alignments"] = tuple(alignments)

    def show(printer: Printer, op: Operation) -> None:
        alignments: Any = op.attributes["alignments"]
        printer.out.append(
            ", ".join([f"align({a}) {printer.names[v]}" for a, v in zip(alignments, op.operands, strict=True)])
        )

    return parse, show


def _make_pack_type(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    """One type for the total and every offset."""

    def parse(p: Parser, state: OpState) -> None:
        state.types[0] = [p.type()] * (len(state.groups[0]) + 1)

    def show(printer: Printer, op: Operation) -> None:
        printer.out.append(printer.type(op.results[0].type))

    return parse, show


DIRECTIVES = {
    "typed": Directive(
        _make_typed, lambda token: token == "(", lambda op, arguments: bool(op.operand_group(arguments[0]))
    ),
    "keyed": Directive(
        _make_keyed, lambda token: token == "{", lambda op, arguments: bool(op.operand_group("auxiliary"))
    ),
    "pack": Directive(_make_pack),
    "pack_type": Directive(_make_pack_type),
}
"""By the name in formats."""
