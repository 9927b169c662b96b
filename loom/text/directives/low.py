"""Functions on registers: target, instruction keys, results, immediates, body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loom.ir.attributes import SymbolRef, Word
from loom.ir.core import Operation
from loom.ir.definition import OpDefinition
from loom.ir.targets import DescriptorSet, descriptor_set
from loom.text.steps import Directive, OpState, ParseStep, PrintStep

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


# target<set.key>(@t) — the target of a function on registers; older: target(@t) with the set behind `asm`


def _make_low_target(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    def parse(p: Parser, state: OpState) -> None:
        p.accept_literal("target")
        if p.tokens[p.i] == "<":
            p.i += 1
            state.attributes["descriptor_set"] = p.bare_word()
            p.accept_literal(">")
        elif p.tokens[p.i] != "(":
            p.expected("<")
        if p.tokens[p.i] == "(":
            p.i += 1
            state.attributes["target"] = p.symbol_reference()
            p.accept_literal(")")

    def show(printer: Printer, op: Operation) -> None:
        key = op.attributes.get("descriptor_set")
        target = op.attributes.get("target")
        printer.out.append("target" if key is None else f"target<{key}>")
        if isinstance(target, SymbolRef):
            printer.out.append(f"(@{target})")

    return parse, show


# amdgpu.v_add_u32 — the key of an instruction


def _make_low_key(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    """The op holds one key whichever name was written; an instruction that the target lists under another name in
    exactly this form prints that name."""

    def parse(p: Parser, state: OpState) -> None:
        state.attributes["key"] = p.bare_word()

    def show(printer: Printer, op: Operation) -> None:
        key = str(op.attributes["key"])
        if printer.low_set is not None:
            from loom.text.asm_printer import listed_key

            key = listed_key(op, key, printer.low_set)
        printer.out.append(key)

    return parse, show


# reg<…>, %a as reg<…> — the results of an instruction


def _make_low_results(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    position = definition.result_positions["results"]

    def parse(p: Parser, state: OpState) -> None:
        bracket = p.tokens[p.i] == "("
        if bracket:
            p.i += 1
        p.result_type_list(state, position)
        if bracket:
            p.accept_literal(")")

    def show(printer: Printer, op: Operation) -> None:
        ties: Any = op.attributes.get("ties") or (None,) * len(op.results)
        printer.out.append(
            ", ".join(
                [
                    printer.type(r.type) if t is None else f"{printer.names[op.operands[t]]} as {printer.type(r.type)}"
                    for r, t in zip(op.results, ties, strict=True)
                ]
            )
        )

    return parse, show


# {imm = v, form = e64, raw = 7} — the immediates of an instruction


def _make_immediates(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    def parse(p: Parser, state: OpState) -> None:
        if p.tokens[p.i] != "{":
            return
        entries = p.dictionary()
        for name in ("form", "raw"):
            if name in entries:
                state.attributes[name] = entries.pop(name)
        if entries:
            state.attributes["immediates"] = entries

    def show(printer: Printer, op: Operation) -> None:
        entries: dict[str, Any] = dict(op.attributes.get("immediates") or {})  # type: ignore[arg-type]
        for name in ("form", "raw"):
            value = op.attributes.get(name)
            if value is not None:
                entries[name] = value
        if entries:
            inner = ", ".join([f"{k} = {printer.attribute(entries[k])}" for k in sorted(entries)])
            printer.out.append(" {" + inner + "}")

    return parse, show


# {…} or asm {…} — the body of a function on registers


def printed_set(function: Operation) -> DescriptorSet | None:
    """The set whose names a function's instructions print in.

    None where registers are fixed: that is code read from a machine, which keeps the names of the disassembly.
    """
    if function.attributes.get("allocation", "virtual") != "virtual":
        return None
    return descriptor_set(str(function.attributes.get("descriptor_set")))


def _make_low_body(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    def parse(p: Parser, state: OpState) -> None:
        if p.tokens[p.i] != "asm":
            p.region(state, 0)
            return
        at = p.i
        p.i += 1
        if p.tokens[p.i] == "<":
            p.i += 1
            state.attributes["descriptor_set"] = p.bare_word()
            p.accept_literal(">")
        state.attributes["spelling"] = Word("asm")
        from loom.text.asm_parser import read_asm_body

        read_asm_body(p, state, at)

    def show(printer: Printer, op: Operation) -> None:
        asm = None
        if not printer.plain_names:
            from loom.text.asm_printer import asm_printer

            printer.low_set = printed_set(op)
            if op.attributes.get("spelling") == "asm":
                asm = asm_printer(op)
                if asm is not None:
                    printer.out.append("asm ")
        printer.region(op, op.regions[0], definition.regions[0], asm)
        printer.low_set = None

    return parse, show


DIRECTIVES = {
    "low_target": Directive(_make_low_target),
    "low_key": Directive(_make_low_key),
    "low_results": Directive(_make_low_results, present=lambda op, arguments: bool(op.results)),
    "immediates": Directive(_make_immediates, lambda token: token == "{"),
    "low_body": Directive(_make_low_body),
}
"""By the name in formats."""
