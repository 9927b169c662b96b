"""What symbols hold and which are imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loom.ir.core import Operation
from loom.ir.definition import OpDefinition
from loom.ir.types import Type
from loom.text.attribute_kinds import predicates_text
from loom.text.steps import Directive, OpState, ParseStep, PrintStep

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


# T, or %v: T where [preds] — what a configuration key holds


def _make_config_type(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    def parse(p: Parser, state: OpState) -> None:
        token = p.tokens[p.i]
        if token[0] == "%" and len(token) > 1:
            p.i += 1
            p.accept_literal(":")
            state.attributes["value_name"] = token[1:]
            p.signature = [token]
        state.attributes["type"] = p.type()
        if p.tokens[p.i] == "where":
            p.i += 1
            p.accept_literal("[")
            state.attributes["where"] = p.predicate_list(state)
            p.accept_literal("]")
        p.signature = []

    def show(printer: Printer, op: Operation) -> None:
        name = op.attributes.get("value_name")
        type_ = op.attributes["type"]
        assert isinstance(type_, Type)
        where = op.attributes.get("where")
        if printer.plain_names and name is not None:
            name = "value"
        if where and name is None:
            name = "value"
        if name is not None:
            printer.out.append(f"%{name}: ")
        printer.out.append(printer.type(type_))
        if where:
            printer.out.append(f" where [{predicates_text(printer, op, where, [f'%{name}'])}]")

    return parse, show


# [@a, @b] — the symbols of an import; the brackets may be left out


def _make_imported(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    def parse(p: Parser, state: OpState) -> None:
        bracket = p.tokens[p.i] == "["
        if bracket:
            p.i += 1
        symbols = [p.symbol_reference()]
        while p.tokens[p.i] == ",":
            p.i += 1
            symbols.append(p.symbol_reference())
        if bracket:
            p.accept_literal("]")
        state.attributes["symbols"] = tuple(symbols)

    def show(printer: Printer, op: Operation) -> None:
        symbols: Any = op.attributes["symbols"]
        printer.out.append("[" + ", ".join(f"@{s}" for s in symbols) + "]")

    return parse, show


DIRECTIVES = {
    "config_type": Directive(_make_config_type),
    "imported": Directive(
        _make_imported, lambda token: token[0] in "[@", lambda op, arguments: bool(op.attributes.get("symbols"))
    ),
}
"""By the name in formats."""
