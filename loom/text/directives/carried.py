"""Values carried through regions: bindings and the head of a counted loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loom.ir.core import Block, Operation, Value
from loom.ir.definition import OpDefinition
from loom.ir.types import INDEX, Type
from loom.text.directives.common import entry_of
from loom.text.steps import Directive, OpState, ParseStep, PrintStep

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


# %a = %init : T, %b = %c : U — carried values; grouped as (%a = %x, %b = %y : T, U) as well


def _read_bindings(p: Parser, state: OpState, block: Block, position: int) -> None:
    names: list[tuple[str, int]] = []
    values: list[Value] = []
    pending = 0
    if state.mark < 0:
        state.mark = len(p.defined)
    types: list[Type] = []
    while p.tokens[p.i] != ")":
        at = p.i
        token = p.tokens[at]
        if token[0] != "%" or len(token) == 1:
            p.expected("a carried value")
        p.i += 1
        p.accept_literal("=")
        names.append((token, at))
        values.append(p.value())
        pending += 1
        if p.tokens[p.i] == ":":
            p.i += 1
            for k in range(pending):
                where = p.i
                t = p.type()
                p.operand_type(values[len(types)], t, where, "init")
                types.append(t)
                if k + 1 < pending:
                    p.accept_literal(",")
            pending = 0
        if p.tokens[p.i] != ",":
            break
        p.i += 1
    if pending:
        p.expected(":")
    for (token, at), t in zip(names, types, strict=True):
        p.define(token, block.add_argument(t), at)
    state.groups[position] = values


def _bindings_text(printer: Printer, names: list[Value], values: list[Value]) -> str:
    return ", ".join(
        [
            f"{printer.names[a]} = {printer.names[v]} : {printer.type(a.type)}"
            for a, v in zip(names, values, strict=False)
        ]
    )


def _make_bindings(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    region, group = arguments
    region_position = definition.region_positions[region]
    position = definition.operand_positions[group]

    def parse(p: Parser, state: OpState) -> None:
        block = Block()
        state.regions[region_position] = block
        _read_bindings(p, state, block, position)

    def show(printer: Printer, op: Operation) -> None:
        printer.out.append(_bindings_text(printer, entry_of(op, region).arguments, op.operand_group(group)))

    return parse, show


# %iv = [%lo to %hi step %st](%a = %i : T) — the head of a counted loop


def _make_loop(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    (region,) = arguments
    region_position = definition.region_positions[region]
    lower, upper, step, inits = (definition.operand_positions[n] for n in ("lower", "upper", "step", "inits"))

    def parse(p: Parser, state: OpState) -> None:
        at = p.i
        token = p.tokens[at]
        if token[0] != "%" or len(token) == 1:
            p.expected("an induction variable")
        p.i += 1
        p.accept_literal("=")
        p.accept_literal("[")
        state.groups[lower] = p.value()
        p.accept_literal("to")
        state.groups[upper] = p.value()
        p.accept_literal("step")
        state.groups[step] = p.value()
        p.accept_literal("]")
        block = Block()
        state.regions[region_position] = block
        state.mark = len(p.defined)
        # Bounds that are defined further down (in a dominating block) have no type yet: they are coordinates.
        bounds = [state.groups[k] for k in (lower, upper, step)]
        known = next((v.type for v in bounds if v.type is not None), INDEX)
        for v in bounds:
            if v.type is None:
                v.retype(known)
        induction = block.add_argument(known)
        if p.tokens[p.i] == "(":
            p.i += 1
            _read_bindings(p, state, block, inits)
            p.accept_literal(")")
        p.define(token, induction, at)

    def show(printer: Printer, op: Operation) -> None:
        names = printer.names
        values = entry_of(op, region).arguments
        printer.out.append(
            f"{names[values[0]]} = [{names[op.operand('lower')]} to {names[op.operand('upper')]} "
            f"step {names[op.operand('step')]}]"
        )
        carried = op.operand_group("inits")
        if carried:
            printer.out.append(f"({_bindings_text(printer, values[1:], carried)})")

    return parse, show


DIRECTIVES = {
    "bindings": Directive(
        _make_bindings, lambda token: token[0] == "%", lambda op, arguments: bool(op.operand_group(arguments[1]))
    ),
    "loop": Directive(_make_loop),
}
"""By the name in formats."""
