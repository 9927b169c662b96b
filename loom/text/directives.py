"""Constructs of formats that have code of their own: signatures, bindings, loops, keyed operands, switch cases, …"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loom.ir.attributes import SymbolRef, Word
from loom.ir.core import Block, Operation, Region, Value
from loom.ir.definition import OpDefinition
from loom.ir.suggest import did_you_mean
from loom.ir.targets import DescriptorSet, descriptor_set
from loom.ir.types import INDEX, Type
from loom.text.attribute_kinds import predicates_text
from loom.text.format import Directive, OpState, ParseStep, PrintStep, register_directive

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


def _entry(op: Operation, name: str) -> Block:
    return op.region(name).blocks[0]


def _typed(printer: Printer, values: list[Value]) -> str:
    return ", ".join([f"{printer.names[v]}: {printer.type(v.type)}" for v in values])


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
        printer.out.append(f"({_typed(printer, _entry(op, name).arguments)})")

    return parse, show


register_directive(
    "arguments",
    Directive(
        _make_arguments,
        lambda token: token == "(",
        lambda op, arguments: bool(_entry(op, arguments[0]).arguments),
    ),
)


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
        values = _entry(op, name).arguments
        count = op.attributes.get("workload_count", 0)
        assert isinstance(count, int)
        printer.out.append(f"({_typed(printer, values[:count])}) launch({_typed(printer, values[count:])})")

    return parse, show


register_directive("program_arguments", Directive(_make_program_arguments))


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


register_directive(
    "result_types",
    Directive(
        _make_result_types, lambda token: token == "(", lambda op, arguments: bool(op.attributes.get("result_types"))
    ),
)


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
        printer.out.append(_bindings_text(printer, _entry(op, region).arguments, op.operand_group(group)))

    return parse, show


register_directive(
    "bindings",
    Directive(
        _make_bindings, lambda token: token[0] == "%", lambda op, arguments: bool(op.operand_group(arguments[1]))
    ),
)


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
        values = _entry(op, region).arguments
        printer.out.append(
            f"{names[values[0]]} = [{names[op.operand('lower')]} to {names[op.operand('upper')]} "
            f"step {names[op.operand('step')]}]"
        )
        carried = op.operand_group("inits")
        if carried:
            printer.out.append(f"({_bindings_text(printer, values[1:], carried)})")

    return parse, show


register_directive("loop", Directive(_make_loop))


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
        printer.out.append(f"({_typed(printer, op.operand_group(group))})")

    return parse, show


register_directive(
    "typed",
    Directive(_make_typed, lambda token: token == "(", lambda op, arguments: bool(op.operand_group(arguments[0]))),
)


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


register_directive(
    "keyed",
    Directive(_make_keyed, lambda token: token == "{", lambda op, arguments: bool(op.operand_group("auxiliary"))),
)


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


register_directive("pack", Directive(_make_pack))


def _make_pack_type(definition: OpDefinition, arguments: tuple[str, ...]) -> tuple[ParseStep, PrintStep]:
    """One type for the total and every offset."""

    def parse(p: Parser, state: OpState) -> None:
        state.types[0] = [p.type()] * (len(state.groups[0]) + 1)

    def show(printer: Printer, op: Operation) -> None:
        printer.out.append(printer.type(op.results[0].type))

    return parse, show


register_directive("pack_type", Directive(_make_pack_type))


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


register_directive("cases", Directive(_make_cases))


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


register_directive("rows", Directive(_make_rows))


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


register_directive("config_type", Directive(_make_config_type))


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
        values = _entry(op, "body").arguments
        parts = []
        for side in ("actual", "expected"):
            chosen = [v for v, s in zip(values, sides, strict=True) if s == side]
            if chosen:
                parts.append(f"{side}({_typed(printer, chosen)})")
        printer.out.append(f"[{', '.join(parts)}]")

    return parse, show


register_directive("compare_results", Directive(_make_compare_results))


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


register_directive("low_target", Directive(_make_low_target))


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


register_directive(
    "imported",
    Directive(_make_imported, lambda token: token[0] in "[@", lambda op, arguments: bool(op.attributes.get("symbols"))),
)


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


register_directive("low_key", Directive(_make_low_key))


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


register_directive("low_results", Directive(_make_low_results, present=lambda op, arguments: bool(op.results)))


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


register_directive("immediates", Directive(_make_immediates, lambda token: token == "{"))


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


register_directive("low_body", Directive(_make_low_body))
