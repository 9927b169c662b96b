"""What a comparison hands to its expectations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loom.ir.attributes import Word
from loom.ir.core import Block, Operation
from loom.ir.definition import OpDefinition
from loom.text.directives.common import entry_of, typed_values
from loom.text.steps import Directive, OpState, ParseStep, PrintStep

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


# (), or [actual(%x: T), expected(%y: T)] — what a comparison hands to its expectations


def _make_compare_results(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    def parse(p: Parser, state: OpState) -> None:
        block = Block()
        state.regions[0] = block
        state.mark = len(p.defined)
        if p.tokens[p.i] == "(":
            p.i += 1
            p.accept_literal(")")
            return
        p.accept_literal("[")
        sides: list[Word] = []
        while p.tokens[p.i] != "]":
            token = p.tokens[p.i]
            if token not in ("actual", "expected"):
                p.bad_word("side", token, ("actual", "expected"))
            p.i += 1
            before = len(block.arguments)
            p.accept_literal("(")
            p.arguments(block)
            sides.extend([Word(token)] * (len(block.arguments) - before))
            if p.tokens[p.i] != ",":
                break
            p.i += 1
        p.accept_literal("]")
        state.attributes["bindings"] = tuple(sides)

    def show(printer: Printer, op: Operation) -> None:
        sides: Any = op.attributes.get("bindings", ())
        if not sides:
            printer.out.append("()")
            return
        values = entry_of(op, "body").arguments
        parts = []
        for side in ("actual", "expected"):
            chosen = [v for v, s in zip(values, sides, strict=True) if s == side]
            if chosen:
                parts.append(f"{side}({typed_values(printer, chosen)})")
        printer.out.append(f"[{', '.join(parts)}]")

    return parse, show


DIRECTIVES = {
    "compare_results": Directive(_make_compare_results),
}
"""By the name in formats."""
