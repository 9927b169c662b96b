"""How each kind of attribute is read, printed, and recognised by its first token."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loom.ir.attributes import Ref, Word, format_float
from loom.ir.core import Operation
from loom.ir.definition import AttributeDef

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer
    from loom.text.steps import OpState

Reader = Callable[["Parser", "OpState"], Any]
Writer = Callable[["Printer", Operation, Any], str]


def _word_reader(declared: AttributeDef) -> Reader:
    words = frozenset(declared.words)
    name = declared.name

    def read(p: Parser, state: OpState) -> Any:
        token = p.tokens[p.i]
        if token not in words:
            p.bad_word(name, token, declared.words)
        p.i += 1
        return Word(token)

    return read


def _flags_reader(declared: AttributeDef) -> Reader:
    words = frozenset(declared.words)

    def read(p: Parser, state: OpState) -> Any:
        found: list[Word] = []
        while True:
            token = p.tokens[p.i]
            if token not in words:
                p.bad_word(declared.name, token, declared.words)
            if token in found:
                p.fail("PARSE/010", f"flag '{token}' is given twice")
            found.append(Word(token))
            p.i += 1
            if p.tokens[p.i] != "|":
                break
            p.i += 1
        found.sort(key=declared.words.index)
        return tuple(found)

    return read


def _keyword_reader(declared: AttributeDef) -> Reader:
    def read(p: Parser, state: OpState) -> Any:
        p.accept_literal(declared.name)
        return True

    return read


def _simple(method: str) -> Callable[[AttributeDef], Reader]:
    def make(declared: AttributeDef) -> Reader:
        def read(p: Parser, state: OpState) -> Any:
            return getattr(p, method)()

        return read

    return make


def _int_reader(declared: AttributeDef) -> Reader:
    def read(p: Parser, state: OpState) -> Any:
        return p.integer(declared.name)

    return read


def _predicates_reader(declared: AttributeDef) -> Reader:
    def read(p: Parser, state: OpState) -> Any:
        return p.predicate_list(state)

    return read


def _list_reader(element: str, brackets: bool) -> Callable[[AttributeDef], Reader]:
    def make(declared: AttributeDef) -> Reader:
        def read(p: Parser, state: OpState) -> Any:
            items: list[Any] = []
            if brackets:
                p.accept_literal("[")
            if p.tokens[p.i] not in ("]", ")"):
                while True:
                    items.append(getattr(p, element)())
                    if p.tokens[p.i] != ",":
                        break
                    p.i += 1
            if brackets:
                p.accept_literal("]")
            return tuple(items)

        return read

    return make


_READERS: dict[str, Callable[[AttributeDef], Reader]] = {
    "word": _word_reader,
    "flags": _flags_reader,
    "keyword": _keyword_reader,
    "int": _int_reader,
    "float": _simple("float_literal"),
    "number": _simple("number"),
    "bool": _simple("boolean"),
    "string": _simple("string"),
    "symbol": _simple("symbol_reference"),
    "symbol_name": _simple("symbol_name"),
    "type": _simple("type"),
    "encoding": _simple("encoding"),
    "dict": _simple("dictionary"),
    "any": _simple("attribute_value"),
    "bare": _simple("bare_word"),
    "text": _simple("text_value"),
    "ints": _list_reader("integer", True),
    "sizes": _list_reader("integer", False),
    "numbers": _list_reader("number", True),
    "symbols": _list_reader("symbol_reference", False),
    "encodings": _list_reader("encoding", False),
    "words": _list_reader("bare_word", True),
    "predicates": _predicates_reader,
}


def attribute_parser(declared: AttributeDef) -> Reader:
    """Return the function that reads an attribute of that declaration."""
    return _READERS[declared.kind](declared)


def _plain(printer: Printer, op: Operation, value: Any) -> str:
    return printer.attribute(value)


def _text(printer: Printer, op: Operation, value: Any) -> str:
    return str(value)


def _float(printer: Printer, op: Operation, value: Any) -> str:
    return format_float(float(value))


def _symbol_name(printer: Printer, op: Operation, value: Any) -> str:
    return f"@{value}"


def _flags(printer: Printer, op: Operation, value: Any) -> str:
    return "|".join(value)


def _type(printer: Printer, op: Operation, value: Any) -> str:
    return printer.type(value)


def _separated(printer: Printer, op: Operation, value: Any) -> str:
    return ", ".join(printer.attribute(v) for v in value)


def predicates_text(printer: Printer, op: Operation, value: Any, names: list[str] | None = None) -> str:
    """Return the predicates of ``value``, comma separated; ``names`` gives the texts of referenced values."""
    if names is None:
        names = predicate_names(printer, op)
    parts = []
    for predicate in value:
        arguments = [names[a.index] if isinstance(a, Ref) else printer.attribute(a) for a in predicate.arguments]
        parts.append(f"{predicate.name}({', '.join(arguments)})")
    return ", ".join(parts)


def predicate_names(printer: Printer, op: Operation) -> list[str]:
    """Return the texts that the predicates of an op refer to by index: its operands, or its signature's values."""
    if op.definition.has_trait("module_level"):
        return [printer.names[v] for v in printer.signature_values(op)]
    return [printer.names[v] for v in op.operands]


def _predicates(printer: Printer, op: Operation, value: Any) -> str:
    return predicates_text(printer, op, value)


def _launch_predicates(printer: Printer, op: Operation, value: Any) -> str:
    return predicates_text(printer, op, value, [printer.names[v] for v in op.regions[1].blocks[0].arguments])


def _keyword_writer(declared: AttributeDef) -> Writer:
    return lambda printer, op, value: declared.name if value else ""


_WRITERS: dict[str, Writer] = {
    "word": _text,
    "bare": _text,
    "flags": _flags,
    "float": _float,
    "symbol_name": _symbol_name,
    "type": _type,
    "sizes": _separated,
    "symbols": _separated,
    "encodings": _separated,
    "predicates": _predicates,
}


def attribute_printer(declared: AttributeDef) -> Writer:
    """Return the function that gives the text of an attribute of that declaration."""
    if declared.kind == "keyword":
        return _keyword_writer(declared)
    if declared.name == "launch_where":
        return _launch_predicates
    return _WRITERS.get(declared.kind, _plain)


def attribute_starts(declared: AttributeDef) -> Callable[[str], bool]:
    """Return the test whether a token may begin an attribute of that declaration."""
    kind = declared.kind
    if kind in ("word", "flags"):
        words = frozenset(declared.words)
        return lambda token: token in words
    if kind == "keyword":
        name = declared.name
        return lambda token: token == name
    first = {
        "string": '"',
        "symbol": "@",
        "symbol_name": "@",
        "dict": "{",
        "encoding": "#",
        "ints": "[",
    }.get(kind)
    if first is not None:
        return lambda token: token[0] == first
    if kind == "int":
        return lambda token: token[0] in "-0123456789"
    return lambda token: token[0] not in ",:()[]{}<>=|\0"


__all__ = [
    "attribute_parser",
    "attribute_printer",
    "attribute_starts",
    "predicate_names",
    "predicates_text",
]
