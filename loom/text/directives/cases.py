"""Alternatives by key: the regions of a switch and the rows of a lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loom.ir.core import Operation, Region, Value
from loom.ir.definition import OpDefinition
from loom.text.steps import Directive, OpState, ParseStep, PrintStep

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


# {case 0 {…} default {…}} — the regions of a switch


def _make_cases(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    implicit = definition.regions[0].implicit

    def parse(p: Parser, state: OpState) -> None:
        p.accept_literal("{")
        keys: list[int] = []
        regions: list[Region] = []
        while p.tokens[p.i] == "case":
            p.i += 1
            keys.append(p.integer("case"))
            regions.append(p.plain_region(definition, implicit))
        p.accept_literal("default")
        regions.append(p.plain_region(definition, implicit))
        p.accept_literal("}")
        state.regions = regions
        state.attributes["keys"] = tuple(keys)

    def show(printer: Printer, op: Operation) -> None:
        keys: Any = op.attributes["keys"]
        printer.out.append("{")
        printer.indent += 1
        for key, region in zip((*keys, None), op.regions, strict=True):
            printer.new_line()
            printer.out.append("default " if key is None else f"case {key} ")
            printer.region(op, region, definition.regions[0])
        printer.indent -= 1
        printer.new_line()
        printer.out.append("}")

    return parse, show


# {0 = (%a), 2 = (%b)} — the rows of a lookup


def _make_rows(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    position = definition.operand_positions["rows"]

    def parse(p: Parser, state: OpState) -> None:
        p.accept_literal("{")
        keys: list[int] = []
        values: list[Value] = []
        while p.tokens[p.i] != "}":
            keys.append(p.integer("key"))
            p.accept_literal("=")
            p.accept_literal("(")
            values.extend(p.value_list())
            p.accept_literal(")")
            if p.tokens[p.i] != ",":
                break
            p.i += 1
        p.accept_literal("}")
        state.groups[position] = values
        state.attributes["keys"] = tuple(keys)

    def show(printer: Printer, op: Operation) -> None:
        keys: Any = op.attributes["keys"]
        rows = op.operand_group("rows")
        width = len(rows) // len(keys) if keys else 0
        printer.out.append("{")
        printer.indent += 1
        for n, key in enumerate(keys):
            printer.new_line()
            row = ", ".join([printer.names[v] for v in rows[n * width : (n + 1) * width]])
            printer.out.append(f"{key} = ({row}){',' if n + 1 < len(keys) else ''}")
        printer.indent -= 1
        if keys:
            printer.new_line()
        printer.out.append("}")

    return parse, show


DIRECTIVES = {
    "cases": Directive(_make_cases),
    "rows": Directive(_make_rows),
}
"""By the name in formats."""
