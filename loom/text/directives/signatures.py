"""Signatures: arguments of regions and results of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loom.ir.core import Block, Operation, Value
from loom.ir.definition import OpDefinition
from loom.ir.suggest import did_you_mean
from loom.ir.types import Type
from loom.text.directives.common import entry_of, typed_values
from loom.text.steps import Directive, OpState, ParseStep, PrintStep

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


# (%a: T, %b: U) — the arguments of a region


def _make_arguments(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    (name,) = arguments
    position = definition.region_positions[name]
    isolated = definition.regions[position].isolated

    def parse(p: Parser, state: OpState) -> None:
        if isolated:
            state.scopes.append(p.open_scope())
        elif state.mark < 0:
            state.mark = len(p.defined)
        block = Block()
        state.regions[position] = block
        p.accept_literal("(")
        p.arguments(block)

    def show(printer: Printer, op: Operation) -> None:
        printer.out.append(f"({typed_values(printer, entry_of(op, name).arguments)})")

    return parse, show


# (%w: T) launch(%a: U) — two lists of arguments of one region


def _make_program_arguments(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    (name,) = arguments
    position = definition.region_positions[name]

    def parse(p: Parser, state: OpState) -> None:
        state.scopes.append(p.open_scope())
        block = Block()
        state.regions[position] = block
        p.accept_literal("(")
        p.arguments(block)
        state.attributes["workload_count"] = len(block.arguments)
        p.accept_literal("launch")
        p.accept_literal("(")
        p.arguments(block)

    def show(printer: Printer, op: Operation) -> None:
        values = entry_of(op, name).arguments
        count = op.attributes.get("workload_count", 0)
        assert isinstance(count, int)
        printer.out.append(f"({typed_values(printer, values[:count])}) launch({typed_values(printer, values[count:])})")

    return parse, show


# (T, %n: index, %a as T) — the results of a signature


def _tied_argument(p: Parser, state: OpState) -> int:
    """Read ``%a as``; return the position of the argument whose storage a result reuses."""
    block = state.regions[0]
    arguments = block.arguments if isinstance(block, Block) else []
    token = p.tokens[p.i]
    value = p.scope.get(token)
    for position, argument in enumerate(arguments):
        if argument is value:
            p.i += 2
            return position
    p.fail(
        "PARSE/001",
        f"a tied result must name an argument of the function, not {token}",
        p.i,
        hint=did_you_mean(token, [f"%{a.name}" for a in arguments if a.name]),
    )


def _make_result_types(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    def parse(p: Parser, state: OpState) -> None:
        p.accept_literal("(")
        types: list[Type] = []
        values: list[Value | None] = []
        ties: dict[int, int] = {}
        while p.tokens[p.i] != ")":
            token = p.tokens[p.i]
            if token[0] == "%" and len(token) > 1 and p.tokens[p.i + 1] == ":":
                at = p.i
                p.i += 2
                if token in p.signature[-len(types) :] and types:
                    p.report(p.diagnose("NAME/002", f"{token} already names a result", at))
                made = Value(p.type(), None, len(types))
                p.define(token, made, at)
                p.signature.append(token)
                values.append(made)
                types.append(made.type)
            else:
                if token[0] == "%" and p.tokens[p.i + 1] == "as":
                    ties[len(types)] = _tied_argument(p, state)
                types.append(p.type())
                values.append(None)
                p.signature.append("")
            if p.tokens[p.i] != ",":
                break
            p.i += 1
        p.accept_literal(")")
        state.attributes["result_types"] = tuple(types)
        if ties:
            state.attributes["result_ties"] = tuple(ties.get(n) for n in range(len(types)))
        if any(v is not None for v in values):
            state.attributes["result_values"] = tuple(values)

    def show(printer: Printer, op: Operation) -> None:
        types: Any = op.attributes.get("result_types", ())
        values: Any = op.attributes.get("result_values") or (None,) * len(types)
        ties: Any = op.attributes.get("result_ties") or (None,) * len(types)
        arguments_ = op.regions[0].blocks[0].arguments
        parts = []
        for t, v, tie in zip(types, values, ties, strict=True):
            text = printer.type(t)
            if v is not None:
                text = f"{printer.names[v]}: {text}"
            elif tie is not None:
                text = f"{printer.names[arguments_[tie]]} as {text}"
            parts.append(text)
        printer.out.append(f"({', '.join(parts)})")

    return parse, show


DIRECTIVES = {
    "arguments": Directive(
        _make_arguments, lambda token: token == "(", lambda op, arguments: bool(entry_of(op, arguments[0]).arguments)
    ),
    "program_arguments": Directive(_make_program_arguments),
    "result_types": Directive(
        _make_result_types, lambda token: token == "(", lambda op, arguments: bool(op.attributes.get("result_types"))
    ),
}
"""By the name in formats."""
