"""Operands in LLVM's syntax, before the row says what they must be."""

from __future__ import annotations

import re
from collections.abc import Callable

from loom.diagnostics import Location
from loom.target.amdgpu.assembler.expressions import Cursor, Token, Unresolved
from loom.target.amdgpu.assembler.functions import read_function
from loom.target.amdgpu.assembler.reading import Deferred, Lookup, Parsed, Reading
from loom.target.amdgpu.assembler.registers import read_register, read_register_list, register_follows


def read_operand(reading: Reading) -> Parsed:
    """The operand that stands here, with what negates, extends or takes its absolute value."""
    cursor = reading.cursor
    parsed = Parsed(cursor.token.column)
    token = cursor.token
    if (token.text == "-" and cursor.tokens[cursor.at + 1].text in ("|", "abs")) or (
        token.text == "-" and register_follows(cursor)
    ):
        cursor.next()
        parsed.negate = True
        token = cursor.token
    if token.text == "|":
        cursor.next()
        _value(reading, parsed, level=3)
        cursor.expect("|")
        parsed.absolute = True
        return parsed
    if (
        token.kind == "name"
        and token.text in ("neg", "abs", "sext", "lit")
        and cursor.tokens[cursor.at + 1].text == "("
    ):
        cursor.next()
        cursor.next()
        inner = read_operand(reading)
        cursor.expect(")")
        if token.text == "neg":
            inner.negate = True
        elif token.text == "abs":
            inner.absolute = True
        elif token.text == "sext":
            inner.extend = True
        else:
            inner.forced_literal = True
        inner.negate = inner.negate or parsed.negate
        return inner
    _value(reading, parsed)
    return parsed


def _value(reading: Reading, parsed: Parsed, level: int = 0) -> None:
    cursor, lookup, target = reading.cursor, reading.lookup, reading.target
    token = cursor.token
    if token.kind == "name":
        register = read_register(cursor, lookup, target)
        if register is not None:
            parsed.operand = register
            return
        if cursor.tokens[cursor.at + 1].text == "(":
            parsed.symbolic = read_function(reading)
            return
    if token.text == "[" and cursor.tokens[cursor.at + 1].kind == "name":
        parsed.operand = read_register_list(cursor, lookup, target)
        return
    negative = token.text == "-" and cursor.tokens[cursor.at + 1].kind == "float"
    if token.kind == "float" or negative:
        if negative:
            cursor.next()
        parsed.real = ("-" if negative else "") + cursor.next().text
        return
    start = cursor.at
    try:
        parsed.integer = cursor.expression(lookup, level)
    except Unresolved as missing:
        parsed.name = missing.name
        cursor.at = start
        _skip_expression(cursor)
        tokens = [*cursor.tokens[start : cursor.at]]
        parsed.label = _later(tokens, cursor.location)
        parsed.deferred = _relocation(tokens, cursor.location)


def _skip_expression(cursor: Cursor) -> None:
    depth = 0
    while not cursor.done:
        text = cursor.token.text
        if depth == 0 and text in (",", "::", "|", ")"):
            return
        depth += (text == "(") - (text == ")")
        cursor.next()


def _later(tokens: list[Token], location: Location) -> Callable[[Lookup], int]:
    def evaluate(lookup: Lookup) -> int:
        cursor = Cursor([*tokens, _end(tokens)], location)
        return cursor.expression(lookup)

    return evaluate


def _end(tokens: list[Token]) -> Token:
    last = tokens[-1]
    return Token("end", "", last.column + len(last.text))


def _relocation(tokens: list[Token], location: Location) -> Deferred:
    """A literal from an expression over labels; ``symbol@rel32@lo+4`` is relative to the literal's own address."""
    first = tokens[0]
    match = re.fullmatch(r"([\w.$]+)@rel32@(lo|hi)", first.text)

    def evaluate(lookup: Lookup, address: int) -> int:
        if match is None:
            return _later(tokens, location)(lookup) & 0xFFFFFFFF
        rest = 0
        if len(tokens) > 1:
            cursor = Cursor([*tokens[1:], _end(tokens)], location)
            rest = cursor.expression(lookup)
        value = lookup(match[1]) + rest - address
        return (value if match[2] == "lo" else value >> 32) & 0xFFFFFFFF

    return Deferred(evaluate)
