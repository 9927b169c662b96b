"""Assembly formats: the picture of an op's text, compiled into parsing steps and printing steps on first use.

The picture's language is described in ``loom/dialect/common.py``. A parsing step is ``step(parser, state)``; a
printing step is ``step(printer, op)`` and appends to ``printer.out``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loom.ir.core import Operation
from loom.ir.definition import OpDefinition
from loom.text.attribute_kinds import attribute_parser, attribute_printer, attribute_starts
from loom.text.directives.table import DIRECTIVES
from loom.text.lexer import _TOKEN as LITERAL_TOKEN
from loom.text.steps import OpState, ParseStep, PrintStep

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer


@dataclass(slots=True)
class Program:
    """The compiled form of an op's format."""

    parse: tuple[ParseStep, ...]
    print: tuple[PrintStep, ...]


_PIECE = re.compile(
    r"(?P<open>\(\?)|(?P<close>\?\))|(?P<dict>\{(?P<order>=?)\})"
    r"|%(?P<operand>\w+)|~(?P<type>\w+)(?P<first>\[0\])?|\$(?P<attribute>\w+)|@(?P<index>[a-z_]\w*)"
    r"|\^(?P<successor>\d)|&(?P<region>\w+)|!(?P<directive>\w+)(?:\((?!\?)(?P<arguments>[^)]*)\))?"
    r"|(?P<space>\s+)|(?P<literal>.)"
)


@dataclass(slots=True)
class _Element:
    kind: str
    value: str = ""
    extra: Any = None


def _parse_picture(text: str) -> list[_Element]:
    """Split a format into elements; optional parts become nested lists, literal runs one element with its tokens."""
    stack: list[list[_Element]] = [[]]
    literal = ""

    def flush() -> None:
        nonlocal literal
        if literal:
            tokens = LITERAL_TOKEN.findall(literal)
            stack[-1].append(_Element("literal", literal, tokens))
            literal = ""

    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        if match["space"] is not None or match["literal"] is not None:
            literal += match[0]
            continue
        if match["dict"] is not None:
            literal = literal.rstrip()
        flush()
        if match["open"] is not None:
            stack.append([])
        elif match["close"] is not None:
            inner = stack.pop()
            stack[-1].append(_Element("optional", "", inner))
        elif match["dict"] is not None:
            stack[-1].append(_Element("dict", match["order"]))
        elif match["operand"] is not None:
            stack[-1].append(_Element("operand", match["operand"]))
        elif match["type"] is not None:
            stack[-1].append(_Element("type", match["type"], match["first"] is not None))
        elif match["attribute"] is not None:
            stack[-1].append(_Element("attribute", match["attribute"]))
        elif match["index"] is not None:
            stack[-1].append(_Element("index", match["index"]))
        elif match["successor"] is not None:
            stack[-1].append(_Element("successor", match["successor"]))
        elif match["region"] is not None:
            stack[-1].append(_Element("region", match["region"]))
        elif match["directive"] is not None:
            arguments = tuple(a.strip() for a in (match["arguments"] or "").split(",") if a.strip())
            stack[-1].append(_Element("directive", match["directive"], arguments))
        else:
            raise AssertionError(f"format {text!r}: {kind}")
    flush()
    if len(stack) != 1:
        raise ValueError(f"unbalanced optional part in format {text!r}")
    return stack[0]


def inline_attributes(definition: OpDefinition) -> set[str]:
    """Names of attributes that the format places itself (all others go to the dictionary)."""
    cached = definition.compiled.get("inline")
    if cached is None:
        found: set[str] = set()

        def collect(elements: Sequence[_Element]) -> None:
            for e in elements:
                if e.kind in ("attribute", "index"):
                    found.add(e.value)
                elif e.kind == "optional":
                    collect(e.extra)
                elif e.kind == "directive":
                    found.update(DIRECTIVE_ATTRIBUTES.get(e.value, ()))

        collect(_parse_picture(definition.format))
        found.update(a.name for a in definition.attributes if a.kind == "internal")
        definition.compiled["inline"] = cached = found
    return cached


# Attributes that a directive reads and prints by itself.
DIRECTIVE_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "result_types": ("result_types",),
    "keyed": ("auxiliary_keys",),
    "pack": ("alignments",),
    "cases": ("keys",),
    "rows": ("keys",),
    "config_type": ("type", "value_name", "where"),
    "compare_results": ("bindings",),
    "low_target": ("descriptor_set", "target"),
    "low_key": ("key",),
    "imported": ("symbols",),
}


def program_of(definition: OpDefinition) -> Program:
    """Return the compiled format of a definition."""
    compiled = definition.compiled.get("program")
    if compiled is None:
        compiled = _compile(definition)
        definition.compiled["program"] = compiled
    return compiled


def _compile(definition: OpDefinition) -> Program:
    parse: list[ParseStep] = []
    show: list[PrintStep] = []
    _compile_elements(definition, _parse_picture(definition.format), parse, show)
    return Program(tuple(parse), tuple(show))


def _compile_elements(
    definition: OpDefinition, elements: Sequence[_Element], parse: list[ParseStep], show: list[PrintStep]
) -> None:
    for element in elements:
        p, s = _COMPILERS[element.kind](definition, element)
        if p is not None:
            parse.append(p)
        if s is not None:
            show.append(s)


def _literal(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    text, tokens = e.value, e.extra

    def show(printer: Printer, op: Operation) -> None:
        printer.out.append(text)

    if not tokens:
        return None, show
    if len(tokens) == 1:
        token = tokens[0]

        def parse_one(p: Parser, state: OpState) -> None:
            i = p.i
            if p.tokens[i] != token:
                p.expected(token)
            p.i = i + 1

        return parse_one, show

    def parse(p: Parser, state: OpState) -> None:
        for token in tokens:
            if p.tokens[p.i] != token:
                p.expected(token)
            p.i += 1

    return parse, show


def _operand(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    position = definition.operand_positions[e.value]
    name = e.value
    count = definition.operands[position].count
    if count == "one":

        def parse_one(p: Parser, state: OpState) -> None:
            token = p.tokens[p.i]
            value = p.scope.get(token)
            if value is None:
                value = p.find_value(token)
            p.i += 1
            state.groups[position] = value

        fixed = all(o.count == "one" for o in definition.operands[:position])
        if fixed:

            def show_fixed(printer: Printer, op: Operation) -> None:
                printer.out.append(printer.names[op.operands[position]])

            return parse_one, show_fixed

        def show_one(printer: Printer, op: Operation) -> None:
            printer.out.append(printer.names[op.operand(name)])

        return parse_one, show_one

    if count == "optional":

        def parse_optional(p: Parser, state: OpState) -> None:
            state.groups[position] = [p.value()]

        def show_optional(printer: Printer, op: Operation) -> None:
            value = op.optional_operand(name)
            if value is not None:
                printer.out.append(printer.names[value])

        return parse_optional, show_optional

    def parse(p: Parser, state: OpState) -> None:
        state.groups[position] = p.value_list()

    def show(printer: Printer, op: Operation) -> None:
        printer.out.append(", ".join([printer.names[v] for v in op.operand_group(name)]))

    return parse, show


def _type(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    if e.value in definition.result_positions:
        return _result_type(definition, definition.result_positions[e.value])
    return _operand_type(definition, e)


def _result_type(definition: OpDefinition, position: int) -> tuple[ParseStep | None, PrintStep | None]:
    if definition.results[position].count == "one":

        def parse_result(p: Parser, state: OpState) -> None:
            state.types[position] = p.type()

        def show_result(printer: Printer, op: Operation) -> None:
            printer.out.append(printer.type(op.results[position].type))

        return parse_result, show_result

    def parse_results(p: Parser, state: OpState) -> None:
        p.result_type_list(state, position)

    def show_results(printer: Printer, op: Operation) -> None:
        ties: Any = op.attributes.get("ties") or ()
        parts = []
        for i, r in enumerate(op.results):
            text = printer.type(r.type)
            tie = ties[i] if i < len(ties) else None
            parts.append(text if tie is None else f"{printer.names[op.operands[tie]]} as {text}")
        printer.out.append(", ".join(parts))

    return parse_results, show_results


def _operand_type(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    name = e.value
    position = definition.operand_positions[name]
    if definition.operands[position].count == "one":

        def parse_operand(p: Parser, state: OpState) -> None:
            at = p.i
            t = p.type()
            value = state.groups[position]
            if value is not None and value.type is not t:
                p.operand_type(value, t, at, name)

        def show_operand(printer: Printer, op: Operation) -> None:
            printer.out.append(printer.type(op.operand(name).type))

        return parse_operand, show_operand

    if e.extra:

        def parse_first(p: Parser, state: OpState) -> None:
            at = p.i
            t = p.type()
            for value in state.groups[position] or ():
                if value.type is not t:
                    p.operand_type(value, t, at, name)

        def show_first(printer: Printer, op: Operation) -> None:
            values = op.operand_group(name)
            printer.out.append(printer.type(values[0].type) if values else "index")

        return parse_first, show_first

    def parse_group(p: Parser, state: OpState) -> None:
        values = state.groups[position] or []
        at = p.i
        types = p.type_list(values=values, name=name)
        if len(types) != len(values):
            p.fail(
                "PARSE/012",
                f"{definition.name} has {len(values)} operand{'s' * (len(values) != 1)} in '{name}' "
                f"but {len(types)} type{'s' * (len(types) != 1)}",
                at,
            )

    def show_group(printer: Printer, op: Operation) -> None:
        printer.out.append(", ".join([printer.type(v.type) for v in op.operand_group(name)]))

    return parse_group, show_group


def _attribute(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    declared = definition.attribute_table[e.value]
    name = declared.name
    reader = attribute_parser(declared)
    writer = attribute_printer(declared)

    def parse(p: Parser, state: OpState) -> None:
        state.attributes[name] = reader(p, state)

    def show(printer: Printer, op: Operation) -> None:
        value = op.attributes.get(name)
        if value is not None:
            printer.out.append(writer(printer, op, value))

    return parse, show


def _index(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    name = e.value
    position = definition.operand_positions[name]

    def parse(p: Parser, state: OpState) -> None:
        tokens = p.tokens
        pattern: list[int | None] = []
        values: list[Any] = []
        i = p.i
        while True:
            token = tokens[i]
            if token[0] == "%":
                value = p.scope.get(token)
                if value is None:
                    p.i = i
                    value = p.find_value(token)
                values.append(value)
                pattern.append(None)
            elif token == "]" and not pattern:
                break
            else:
                p.i = i
                pattern.append(p.index_constant())
            i += 1
            if tokens[i] != ",":
                break
            i += 1
        p.i = i
        state.groups[position] = values
        state.attributes[name] = tuple(pattern)

    def show(printer: Printer, op: Operation) -> None:
        values = iter(op.operand_group(name))
        pattern = op.attributes.get(name)
        if pattern is None:
            pattern = (None,) * len(op.operand_group(name))
        printer.out.append(
            ", ".join([printer.names[next(values)] if d is None else str(d) for d in pattern])  # type: ignore[union-attr]
        )

    return parse, show


def _dict(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    ordered = e.value == "="
    inline = inline_attributes(definition)
    extra = definition.attribute_table.get("attributes")
    takes_any = extra is not None and extra.kind == "extra"
    mine = [a for a in definition.attributes if a.name not in inline and a.kind != "extra"]
    writers = [
        (a.name, a.default, attribute_printer(a)) for a in (mine if ordered else sorted(mine, key=lambda a: a.name))
    ]

    def parse(p: Parser, state: OpState) -> None:
        if p.tokens[p.i] == "{":
            p.attribute_dictionary(state, takes_any)

    def show(printer: Printer, op: Operation) -> None:
        attributes = op.attributes
        if not attributes:
            return
        parts: list[tuple[str, str]] = []
        for name, default, writer in writers:
            value = attributes.get(name)
            if value is not None and (default is None or value != default):
                parts.append((name, writer(printer, op, value)))
        more = attributes.get("attributes") if takes_any else None
        if isinstance(more, dict):
            parts.extend((k, printer.attribute(v)) for k, v in more.items())
            parts.sort()
        if parts:
            printer.out.append(" {" + ", ".join([f"{k} = {v}" for k, v in parts]) + "}")

    return parse, show


def _successor(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    index = int(e.value)

    def parse(p: Parser, state: OpState) -> None:
        state.successors.append(p.successor())

    def show(printer: Printer, op: Operation) -> None:
        printer.out.append("^" + printer.labels[op.successors[index]])

    return parse, show


def _region(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    position = definition.region_positions[e.value]

    def parse(p: Parser, state: OpState) -> None:
        p.region(state, position)

    def show(printer: Printer, op: Operation) -> None:
        printer.region(op, op.regions[position], definition.regions[position])

    return parse, show


def _directive(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    return DIRECTIVES[e.value].make(definition, e.extra)


def _presence(definition: OpDefinition, elements: Sequence[_Element]) -> Callable[[Operation], bool]:
    """Whether the optional part is printed: its first operand, attribute, type, region or directive decides."""
    for e in elements:
        name = e.value
        if e.kind == "attribute":
            default = definition.attribute_table[name].default
            if definition.attribute_table[name].kind == "sizes":
                return lambda op, name=name: op.attributes.get(name) is not None  # type: ignore[misc]

            def has_attribute(op: Operation, name: str = name, default: Any = default) -> bool:
                value = op.attributes.get(name)
                return value is not None and value is not False and value != default and value != ()

            return has_attribute
        if e.kind == "operand" or (e.kind == "type" and name in definition.operand_positions):

            def has_operand(op: Operation, name: str = name) -> bool:
                start, end = op.operand_range(name)
                return end > start

            return has_operand
        if e.kind == "type":
            return lambda op: bool(op.results)
        if e.kind == "index":

            def has_indices(op: Operation, name: str = name) -> bool:
                return bool(op.attributes.get(name))

            return has_indices
        if e.kind == "region":
            position = definition.region_positions[name]
            return lambda op: bool(op.regions[position].blocks)
        if e.kind == "directive":
            directive, arguments = DIRECTIVES[name], e.extra
            return lambda op: directive.present(op, arguments)
        if e.kind == "optional":
            return _presence(definition, e.extra)
        if e.kind == "dict":
            inline = inline_attributes(definition)
            return lambda op: any(k not in inline for k in op.attributes)
    raise ValueError(f"{definition.name}: an optional part without anything to decide its presence")


def _starts(definition: OpDefinition, elements: Sequence[_Element]) -> Callable[[Sequence[str], int], bool]:
    """Whether the optional part stands at a token: its first literal, operand, attribute or directive decides."""
    for position, e in enumerate(elements):
        if e.kind == "literal" and e.extra:
            first = e.extra[0]
            if len(e.extra) > 1:
                second = e.extra[1]
                if first == "->":
                    return lambda tokens, i: tokens[i] == first
                return lambda tokens, i: tokens[i] == first and tokens[i + 1] == second
            # A single comma is followed by what decides (`, $flags` or `, %more`).
            if first == "," and position + 1 < len(elements):
                rest = _starts(definition, elements[position + 1 :])
                return lambda tokens, i: tokens[i] == "," and rest(tokens, i + 1)
            return lambda tokens, i: tokens[i] == first
        if e.kind == "operand":
            # `%x = …` begins the next op.
            return lambda tokens, i: tokens[i][0] == "%" and tokens[i + 1] != "="
        if e.kind == "attribute":
            test = attribute_starts(definition.attribute_table[e.value])
            return lambda tokens, i: test(tokens[i])
        if e.kind == "type":
            return lambda tokens, i: True
        if e.kind == "directive":
            directive = DIRECTIVES[e.value]
            return lambda tokens, i: directive.starts(tokens[i])
        if e.kind == "dict":
            return lambda tokens, i: tokens[i] == "{"
        if e.kind == "optional":
            return _starts(definition, e.extra)
    raise ValueError(f"{definition.name}: an optional part without a start")


def _optional(definition: OpDefinition, e: _Element) -> tuple[ParseStep | None, PrintStep | None]:
    parse_steps: list[ParseStep] = []
    print_steps: list[PrintStep] = []
    _compile_elements(definition, e.extra, parse_steps, print_steps)
    starts = _starts(definition, e.extra)
    present = _presence(definition, e.extra)

    def parse(p: Parser, state: OpState) -> None:
        if starts(p.tokens, p.i):
            for step in parse_steps:
                step(p, state)

    def show(printer: Printer, op: Operation) -> None:
        if present(op):
            for step in print_steps:
                step(printer, op)

    return parse, show


_COMPILERS: dict[str, Callable[[OpDefinition, _Element], tuple[ParseStep | None, PrintStep | None]]] = {
    "literal": _literal,
    "operand": _operand,
    "type": _type,
    "attribute": _attribute,
    "index": _index,
    "dict": _dict,
    "successor": _successor,
    "region": _region,
    "directive": _directive,
    "optional": _optional,
}
