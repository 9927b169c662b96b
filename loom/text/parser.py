"""The parser: a hand-written driver around the compiled formats of the op declarations."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from loom.diagnostics import Diagnostic, Location, LoomError
from loom.ir.attributes import (
    PREDICATES,
    Attribute,
    EncodingAttribute,
    Predicate,
    Ref,
    SymbolRef,
    Word,
)
from loom.ir.core import Block, Module, Operation, Region, Value
from loom.ir.definition import OpDefinition
from loom.ir.registry import dialect_prefixes, lookup
from loom.ir.suggest import did_you_mean
from loom.ir.types import FunctionType, Type
from loom.text.attribute_kinds import attribute_parser
from loom.text.format import OpState, program_of
from loom.text.lexer import END, Source
from loom.text.literals import StringError, parse_float, parse_integer, parse_string
from loom.text.type_text import NAMED_TYPES, TypeTextError, parse_encoding, parse_structured

if TYPE_CHECKING:
    from collections.abc import Iterator

NESTING_LIMIT = 1000
DICTIONARY_LIMIT = 16
TYPE_LIMIT = 64
ERROR_LIMIT = 20

# Older names of ops → what they are called now.
OLDER_NAMES = {
    "func.template": "template.def",
    "func.apply": "template.apply",
    "func.ukernel": "template.ukernel",
    "kernel.launch.serial": "command.serial",
    "kernel.launch.concurrent": "command.concurrent",
    "kernel.launch.yield": "command.return",
}
_STRUCTURED = ("vector<", "view<", "tensor<", "tile<", "reg<", "encoding<", "low.storage<", "pool<", "group<")
_STRUCTURED_WORDS = frozenset(s[:-1] for s in _STRUCTURED)


class ParseFailure(Exception):
    """Ends the reading of one op; carries its diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class _TooManyErrors(Exception):
    pass


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow the recursion that the nesting limit needs (about six Python frames a level, without native stack)."""
    before = sys.getrecursionlimit()
    if before < 20000:
        sys.setrecursionlimit(20000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class Parser:
    """Reads one source into a module. Formats call its methods; ``i`` is the index of the next token."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = source.tokens
        self.i = 0
        self.module = Module(source.filename)
        self.module.source = source
        self.scope: dict[str, Value] = {}
        self.defined: list[str] = []
        self.forward: dict[str, tuple[Value, int]] | None = None
        self.labels: dict[str, Block] = {}
        self.label_uses: dict[str, int] = {}
        self.signature: list[str] = []
        self.nesting = 0
        self.enclosing: list[OpDefinition] = []
        self.diagnostics: list[Diagnostic] = []
        self.aliases: dict[str, EncodingAttribute] = {}
        self.older = False
        self.asm: Any = None
        self.type_depth = 0

    # Errors

    def diagnose(
        self, code: str, message: str, at: int | None = None, hint: str | None = None, notes: Sequence[str] = ()
    ) -> Diagnostic:
        """Make a diagnostic at a token."""
        index = self.i if at is None else at
        return Diagnostic(message, code, self.source.span(index), hint=hint, notes=tuple(notes))

    def fail(
        self, code: str, message: str, at: int | None = None, hint: str | None = None, notes: Sequence[str] = ()
    ) -> NoReturn:
        """Give up on the present op."""
        raise ParseFailure(self.diagnose(code, message, at, hint, notes))

    def report(self, diagnostic: Diagnostic) -> None:
        """Record an error and go on."""
        self.diagnostics.append(diagnostic)
        if len(self.diagnostics) >= ERROR_LIMIT:
            raise _TooManyErrors

    def shown(self, index: int | None = None) -> str:
        """Return a token's text as it appears in messages."""
        token = self.tokens[self.i if index is None else index]
        if token == END:
            return "the end of the file"
        if len(token) > 40:
            token = token[:40] + "…"
        return f"'{token}'" if token.isprintable() else ascii(token)

    def expected(self, what: str) -> NoReturn:
        """Fail because the next token is not ``what``."""
        token = self.tokens[self.i]
        if token == END and self.nesting:
            self.fail("PARSE/005", f"the file ends inside of a region; '{what}' was expected")
        if token[0] == '"' and len(token) == 1:
            self.fail("LEX/003", "the string does not end on its line", hint='close it with "')
        if len(token) == 1 and (not token.isprintable() or token in "!&*+;?\\^`~'@#$%./-" or ord(token) > 126):
            self.fail("LEX/002", f"unexpected character {token!a}")
        self.fail("PARSE/001", f"expected '{what}', found {self.shown()}")

    def accept_literal(self, token: str) -> None:
        """Read exactly this token."""
        if self.tokens[self.i] != token:
            self.expected(token)
        self.i += 1

    def bad_word(self, name: str, token: str, words: Sequence[str]) -> NoReturn:
        """Fail because a token is not a member of an enum."""
        self.fail(
            "PARSE/007",
            f"{self.shown()} is not a value of '{name}'",
            hint=did_you_mean(token, words) or f"one of {', '.join(words)}",
        )

    # Tokens of each kind

    def integer(self, name: str = "integer") -> int:
        """Read an integer."""
        token = self.tokens[self.i]
        value = parse_integer(token)
        if value is None:
            self.fail("PARSE/008", f"'{name}' takes an integer, found {self.shown()}")
        if not -(1 << 63) <= value < (1 << 64):
            self.fail("PARSE/008", f"the integer {self.shown()} does not fit 64 bits")
        self.i += 1
        return value

    def index_constant(self) -> int:
        """Return the constant of an index list that the next token is; the caller moves on."""
        value = parse_integer(self.tokens[self.i])
        if value is None:
            self.expected("an index value or constant")
        if not 0 <= value < (1 << 63):
            self.fail("PARSE/008", f"an index constant must be in [0, 2^63), found {self.shown()}")
        return value

    def float_literal(self) -> float:
        """Read a float (or an integer as one)."""
        value = parse_float(self.tokens[self.i])
        if value is None:
            self.fail("PARSE/008", f"a float was expected, found {self.shown()}")
        self.i += 1
        return value

    def number(self) -> int | float | bool:
        """Read an integer, float, ``true`` or ``false``."""
        token = self.tokens[self.i]
        if token in ("true", "false"):
            self.i += 1
            return token == "true"
        value: int | float | None = parse_integer(token)
        if value is not None:
            return self.integer()
        value = parse_float(token)
        if value is None:
            self.fail("PARSE/008", f"a number was expected, found {self.shown()}")
        self.i += 1
        return value

    def boolean(self) -> bool:
        """Read ``true`` or ``false``."""
        token = self.tokens[self.i]
        if token not in ("true", "false"):
            self.fail("PARSE/007", f"'true' or 'false' was expected, found {self.shown()}")
        self.i += 1
        return token == "true"

    def string(self) -> str:
        """Read a string."""
        token = self.tokens[self.i]
        if token[0] != '"':
            self.expected("a string")
        try:
            value = parse_string(token)
        except StringError as problem:
            self.fail("LEX/003", str(problem))
        self.i += 1
        return value

    def bare_word(self) -> Word:
        """Read an identifier, dotted or not."""
        token = self.tokens[self.i]
        if not (token[0].isalpha() or token[0] in "_$") or token[-1] == ">":
            self.expected("a word")
        self.i += 1
        return Word(token)

    def text_value(self) -> str:
        """Read a string or a word."""
        return self.string() if self.tokens[self.i][0] == '"' else self.bare_word()

    def symbol_reference(self) -> SymbolRef:
        """Read ``@symbol``."""
        token = self.tokens[self.i]
        if token[0] != "@" or len(token) == 1:
            if self.older and token[0].isalpha():
                self.i += 1
                return SymbolRef(token)
            self.expected("a symbol")
        self.i += 1
        return SymbolRef(token[1:])

    def symbol_name(self) -> str:
        """Read ``@symbol`` where it is defined."""
        token = self.tokens[self.i]
        if token[0] != "@" or len(token) == 1:
            self.expected("a symbol")
        self.i += 1
        return token[1:]

    def value(self) -> Value:
        """Read a use of a value."""
        token = self.tokens[self.i]
        found = self.scope.get(token)
        if found is None:
            found = self.find_value(token)
        self.i += 1
        return found

    def find_value(self, token: str) -> Value:
        """Return the value of a name that the scope does not hold (yet), or fail."""
        if token[0] != "%" or len(token) == 1:
            self.expected("a value")
        found = self.scope.get(token)
        if found is not None:
            return found
        if self.forward is not None:
            waiting = self.forward.get(token)
            if waiting is None:
                made = Value(None, None, 0, token[1:])  # type: ignore[arg-type]
                self.forward[token] = waiting = (made, self.i)
            return waiting[0]
        made = Value(None, None, 0, token[1:])  # type: ignore[arg-type]
        self.report(self._undefined(token, self.i))
        self.scope[token] = made
        self.defined.append(token)
        return made

    def _undefined(self, token: str, at: int) -> Diagnostic:
        return self.diagnose("NAME/001", f"use of undefined value {token}", at, hint=did_you_mean(token, [*self.scope]))

    def value_list(self) -> list[Value]:
        """Read values separated by commas; none when the next token is not a value."""
        values: list[Value] = []
        tokens = self.tokens
        if tokens[self.i][0] != "%":
            return values
        while True:
            values.append(self.value())
            if tokens[self.i] != ",":
                return values
            if tokens[self.i + 1][0] != "%":
                return values
            self.i += 1

    # Types

    def type(self) -> Type:
        """Read a type."""
        token = self.tokens[self.i]
        found = NAMED_TYPES.get(token)
        if found is not None:
            self.i += 1
            return found
        return self._structured_type(token)

    def _structured_type(self, token: str) -> Type:
        at = self.i
        if token[-1] == ">" and token.startswith(_STRUCTURED):
            text = token
            self.i += 1
        elif token in _STRUCTURED_WORDS and self.tokens[at + 1] == "<":
            text = self._type_over_tokens()
        elif token == "(":
            return self._function_type()
        else:
            hint = did_you_mean(token, [*NAMED_TYPES, *_STRUCTURED_WORDS])
            if token == END:
                self.expected("a type")
            self.fail("TYPE/001", f"expected a type, found {self.shown()}", hint=hint)
        try:
            return parse_structured(text, self._dimension_value, self.aliases)
        except TypeTextError as problem:
            self.i = at
            self.fail(problem.code, str(problem), at, hint=problem.hint)

    def _dimension_value(self, name: str) -> Value:
        token = "%" + name
        found = self.scope.get(token)
        if found is not None:
            return found
        self.i -= 1
        try:
            if self.forward is not None:
                self.forward.pop(token, None)
                self.fail(
                    "NAME/001",
                    f"use of undefined value {token} in a type",
                    hint=did_you_mean(token, [*self.scope]),
                )
            return self.find_value(token)
        finally:
            self.i += 1

    def _type_over_tokens(self) -> str:
        """Join the tokens of a type that is not one token: it spans lines or nests deeper."""
        start = self.i
        depth = 0
        i = start
        while True:
            token = self.tokens[i]
            if token == "<" or (token[-1] == "<"):
                depth += 1
            elif token == ">":
                depth -= 1
                if not depth:
                    break
            elif token == END or token in "{}" or i - start > 400:
                self.fail("TYPE/001", f"the type that begins with '{self.tokens[start]}<' does not end", start)
            i += 1
        self.i = i + 1
        return self.source.slice(start, i + 1)

    def _function_type(self) -> Type:
        self.type_depth += 1
        if self.type_depth > TYPE_LIMIT:
            self.fail("TYPE/003", f"types nest deeper than {TYPE_LIMIT} levels")
        try:
            return self._function_type_parts()
        finally:
            self.type_depth -= 1

    def _function_type_parts(self) -> Type:
        self.accept_literal("(")
        inputs = self.type_list(")")
        self.accept_literal(")")
        self.accept_literal("->")
        self.accept_literal("(")
        outputs = self.type_list(")")
        self.accept_literal(")")
        return FunctionType(tuple(inputs), tuple(outputs))

    def type_list(self, end: str | None = None, values: Sequence[Value] = (), name: str = "") -> list[Type]:
        """Read types separated by commas. Each must be the type of the value at its position, if there is one."""
        types: list[Type] = []
        if self.tokens[self.i] == end or (end is None and self.tokens[self.i] in ")]"):
            return types
        while True:
            at = self.i
            made = self.type()
            if len(types) < len(values):
                value = values[len(types)]
                if value.type is not made:
                    self.operand_type(value, made, at, name)
            types.append(made)
            if self.tokens[self.i] != ",":
                return types
            if values and len(types) == len(values) and name:
                # What follows the comma belongs to the next part of the format, or is one type too many.
                following = self.tokens[self.i + 1]
                if following not in NAMED_TYPES and not following.startswith(_STRUCTURED):
                    return types
                if not self._closing_bracket_follows():
                    return types
            self.i += 1

    def _closing_bracket_follows(self) -> bool:
        """Whether the list of types that the parser is in is closed by a bracket (so a further type is one too many)."""
        i = self.i
        while self.tokens[i] == "," or self.tokens[i] in NAMED_TYPES or self.tokens[i].startswith(_STRUCTURED):
            i += 1
        return self.tokens[i] in ")]"

    def operand_type(self, value: Value, written: Type, at: int, name: str) -> None:
        """Compare a written operand type with the value's; a value that is not defined yet takes it."""
        if value.type is None:
            value.retype(written)
        elif value.type is not written:
            here = self.type_text(written)
            real = self.type_text(value.type)
            self.report(
                self.diagnose(
                    "PARSE/013",
                    f"operand '{name}' %{value.name or '?'} has type {real}, but {here} is written here",
                    at,
                    hint=f"write {real}" if self._only_type_differs(value) else None,
                )
            )

    def _only_type_differs(self, value: Value) -> bool:
        return value.owner is not None

    def type_text(self, type_: Type) -> str:
        """Return a type's text for messages."""
        return str(type_)

    def result_type_list(self, state: OpState, position: int) -> None:
        """Read the types of a result group, with ``%x as T`` for a result that reuses an operand's storage."""
        types: list[Type] = []
        ties: list[int | None] = []
        if self.tokens[self.i] not in (")", "]"):
            while True:
                tie: int | None = None
                if self.tokens[self.i][0] == "%" and self.tokens[self.i + 1] == "as":
                    operand = self.value()
                    self.i += 1
                    flat = flatten(state.groups)
                    tie = next((i for i, v in enumerate(flat) if v is operand), None)
                    if tie is None:
                        self.fail("PARSE/001", "a tied result must name one of the op's operands", self.i - 2)
                types.append(self.type())
                ties.append(tie)
                if self.tokens[self.i] != ",":
                    break
                self.i += 1
        state.types[position] = types
        if any(t is not None for t in ties):
            state.attributes["ties"] = tuple(ties)

    # Attributes

    def encoding(self) -> EncodingAttribute:
        """Read ``#family<…>`` or an alias."""
        at = self.i
        token = self.tokens[at]
        if token[0] != "#" or len(token) == 1:
            self.expected("an encoding")
        self.i += 1
        text = token
        if self.tokens[self.i] == "<":
            depth = 0
            i = self.i
            while True:
                t = self.tokens[i]
                if t == "<":
                    depth += 1
                elif t == ">":
                    depth -= 1
                    if not depth:
                        break
                elif t == END or t in "{}" or i - at > 400:
                    self.fail("TYPE/005", "the encoding's parameter list does not end", at)
                i += 1
            self.i = i + 1
            text = self.source.slice(at, i + 1)
        elif token[1:] in self.aliases:
            return self.aliases[token[1:]]
        try:
            return parse_encoding(text)
        except TypeTextError as problem:
            self.fail(problem.code, str(problem), at, hint=problem.hint)

    def dictionary(self, depth: int = 1) -> dict[str, Attribute]:
        """Read ``{k = v, …}`` with any keys."""
        at = self.i
        if depth > DICTIONARY_LIMIT:
            self.fail("PARSE/004", f"dictionaries nest deeper than {DICTIONARY_LIMIT} levels", at)
        self.accept_literal("{")
        entries: dict[str, Attribute] = {}
        while self.tokens[self.i] != "}":
            key = self._key(entries)
            self.accept_literal("=")
            entries[key] = self.attribute_value(depth)
            if self.tokens[self.i] != ",":
                break
            self.i += 1
        self.accept_literal("}")
        return dict(sorted(entries.items()))

    def _key(self, entries: Any) -> str:
        token = self.tokens[self.i]
        if not (token[0].isalpha() or token[0] in "_$") or token[-1] == ">":
            self.expected("a key")
        if token in entries:
            self.fail("PARSE/010", f"'{token}' is given twice")
        self.i += 1
        return token

    def attribute_value(self, depth: int = 1) -> Attribute:
        """Read any attribute value."""
        token = self.tokens[self.i]
        first = token[0]
        if first == '"':
            return self.string()
        if first == "@":
            return self.symbol_reference()
        if first == "#":
            return self.encoding()
        if first == "{":
            return self.dictionary(depth + 1)
        if first == "[":
            self.i += 1
            items: list[Attribute] = []
            while self.tokens[self.i] != "]":
                if self.tokens[self.i] in "[{":
                    self.expected("a number, word or string")
                items.append(self.attribute_value(depth))
                if self.tokens[self.i] != ",":
                    break
                self.i += 1
            self.accept_literal("]")
            return tuple(items)
        if token in ("true", "false"):
            self.i += 1
            return token == "true"
        if first.isdigit() or (first == "-" and len(token) > 1 and token != "->") or token in ("inf", "nan"):
            return self.number()
        if token in NAMED_TYPES or token.startswith(_STRUCTURED) or first == "(":
            return self.type()
        return self.bare_word()

    def attribute_dictionary(self, state: OpState, takes_any: bool) -> None:
        """Read an op's attribute dictionary into its state."""
        definition = state.definition
        table = definition.attribute_table
        self.accept_literal("{")
        extra: dict[str, Attribute] = {}
        written: set[str] = set()
        while self.tokens[self.i] != "}":
            key = self._key(written)
            written.add(key)
            declared = table.get(key)
            at = self.i - 1
            if declared is not None and declared.kind not in ("internal", "extra", "indices"):
                if key in state.attributes:
                    self.fail("PARSE/010", f"'{key}' is given twice", at)
                self.accept_literal("=")
                state.attributes[key] = attribute_parser(declared)(self, state)
            elif takes_any:
                self.accept_literal("=")
                extra[key] = self.attribute_value()
            else:
                names = [a.name for a in definition.attributes if a.kind not in ("internal", "extra", "indices")]
                self.fail("PARSE/009", f"{definition.name} has no attribute '{key}'", at, hint=did_you_mean(key, names))
            if self.tokens[self.i] != ",":
                break
            self.i += 1
        self.accept_literal("}")
        if extra:
            state.attributes["attributes"] = dict(sorted(extra.items()))

    def predicate_list(self, state: OpState) -> tuple[Predicate, ...]:
        """Read the inside of ``[p(a, b), …]``."""
        predicates: list[Predicate] = []
        if self.tokens[self.i] == "]":
            return ()
        while True:
            at = self.i
            name = self.tokens[at]
            shape = PREDICATES.get(name)
            if shape is None:
                self.fail(
                    "PARSE/011",
                    f"unknown predicate {self.shown()}",
                    hint=did_you_mean(name, [*PREDICATES]) or f"one of {', '.join(PREDICATES)}",
                )
            self.i += 1
            self.accept_literal("(")
            arguments: list[int | float | Ref] = []
            while self.tokens[self.i] != ")":
                arguments.append(self._predicate_argument(state))
                if self.tokens[self.i] != ",":
                    break
                self.i += 1
            self.accept_literal(")")
            if len(arguments) != shape[0]:
                self.fail("PARSE/011", f"'{name}' takes {shape[0]} arguments, {len(arguments)} given", at)
            predicates.append(Predicate(name, tuple(arguments)))
            if self.tokens[self.i] != ",":
                return tuple(predicates)
            self.i += 1

    def _predicate_argument(self, state: OpState) -> int | float | Ref:
        token = self.tokens[self.i]
        if token[0] != "%":
            return self.number()
        definition = state.definition
        if "module_level" in definition.traits:
            if token not in self.signature:
                self.fail(
                    "NAME/001",
                    f"{token} is not an argument or result of this signature",
                    hint=did_you_mean(token, self.signature),
                )
            self.i += 1
            return Ref(self.signature.index(token))
        value = self.value()
        flat = flatten(state.groups)
        for i, v in enumerate(flat):
            if v is value:
                return Ref(i)
        position = definition.operand_positions.get("bounds")
        if position is None:
            self.fail("NAME/001", f"{token} is not an operand of this op", self.i - 1)
        state.groups[position] = [*(state.groups[position] or ()), value]
        return Ref(len(flat))

    # Blocks and regions

    def successor(self) -> Block:
        """Read ``^label``."""
        token = self.tokens[self.i]
        if token[0] != "^" or len(token) == 1:
            self.expected("a block label")
        label = token[1:]
        block = self.labels.get(label)
        if block is None:
            block = Block(label=label)
            self.labels[label] = block
        self.label_uses.setdefault(label, self.i)
        self.i += 1
        return block

    def open_scope(self) -> tuple[Any, ...]:
        """Begin an isolated scope; return what :meth:`close_scope` needs."""
        saved = (self.scope, self.defined, self.forward, self.labels, self.label_uses, self.signature)
        self.scope, self.defined, self.forward = {}, [], None
        self.labels, self.label_uses, self.signature = {}, {}, []
        return saved

    def close_scope(self, saved: tuple[Any, ...]) -> None:
        """End an isolated scope: values still missing are errors."""
        if self.forward:
            for token, (_, at) in self.forward.items():
                self.report(self._undefined(token, at))
        self.scope, self.defined, self.forward, self.labels, self.label_uses, self.signature = saved

    def define(self, token: str, value: Value, at: int) -> None:
        """Enter a value's definition under ``%name``."""
        value.name = token[1:] if not token[1].isdigit() else None
        if self.forward:
            waiting = self.forward.pop(token, None)
            if waiting is not None:
                placeholder, used_at = waiting
                if placeholder.type is not None and placeholder.type is not value.type and value.type is not None:
                    self.report(
                        self.diagnose(
                            "PARSE/013",
                            f"{token} has type {value.type}, but {placeholder.type} is written where it is used",
                            used_at,
                        )
                    )
                placeholder.replace_all_uses_with(value)
                self.scope[token] = value
                self.defined.append(token)
                return
        if token in self.scope and self.scope[token].type is not None:
            self.report(
                self.diagnose(
                    "NAME/002",
                    f"{token} is already defined in this scope",
                    at,
                    hint="values are assigned once; choose another name",
                )
            )
            return
        self.scope[token] = value
        self.defined.append(token)

    def arguments(self, block: Block, close: str = ")") -> None:
        """Read ``%a: T, %b: U`` up to ``close`` (consumed) as arguments of ``block``, defining them one by one."""
        if self.tokens[self.i] == close:
            self.i += 1
            return
        while True:
            at = self.i
            token = self.tokens[at]
            if token[0] != "%" or len(token) == 1:
                self.expected("an argument")
            self.i += 1
            self.accept_literal(":")
            value = block.add_argument(self.type())
            self.define(token, value, at)
            self.signature.append(token)
            if self.tokens[self.i] != ",":
                break
            self.i += 1
        self.accept_literal(close)

    def region(self, state: OpState, position: int) -> None:
        """Read ``{…}`` as the region at ``position``; a block with arguments may be waiting in the state."""
        definition = state.definition
        declared = definition.regions[position]
        saved = None
        if declared.isolated and not state.scopes:
            saved = self.open_scope()
        elif declared.isolated:
            saved = state.scopes.pop()
        entry = state.regions[position]
        block = entry if isinstance(entry, Block) else Block()
        region = Region([block])
        state.regions[position] = region
        try:
            if declared.blocks == "any" and self.forward is None:
                self.forward = {}
            mark = -1 if declared.isolated else state.mark
            state.mark = -1
            self._region_body(region, definition, declared.blocks == "any", declared.implicit, mark)
        finally:
            if saved is not None:
                self.close_scope(saved)

    def plain_region(self, definition: OpDefinition, implicit: str | None) -> Region:
        """Read ``{…}`` as a region of its own (for ops with a variable number of regions)."""
        region = Region([Block()])
        self._region_body(region, definition, False, implicit)
        return region

    def _region_body(
        self, region: Region, definition: OpDefinition, cfg: bool, implicit: str | None, mark: int = -1
    ) -> None:
        opening = self.i
        self.accept_literal("{")
        if self.nesting >= NESTING_LIMIT:
            self.fail("PARSE/004", f"regions nest deeper than {NESTING_LIMIT} levels", opening)
        self.nesting += 1
        self.enclosing.append(definition)
        if mark < 0:
            mark = len(self.defined)
        closing = self.block_operations(region, cfg)
        self.finish_region(region, implicit, closing)
        for token in self.defined[mark:]:
            self.scope.pop(token, None)
        del self.defined[mark:]
        self.enclosing.pop()
        self.nesting -= 1

    def finish_region(self, region: Region, implicit: str | None, closing: int) -> None:
        """Add the terminators that were left out, and attach comments that stood before the closing brace."""
        if implicit is not None:
            for block in region.blocks:
                last = block.last
                if last is None or not last.definition.is_terminator:
                    ender = lookup(implicit)
                    assert ender is not None
                    op = Operation(ender, location=(self.source, closing, closing + 1))
                    if ender.needs_segments:
                        op.segments = (0,) * len(ender.operands)
                    block.append(op)
            trivia = self.source.trivia.get(closing)
            if trivia is not None and region.blocks[-1].last is not None:
                last = region.blocks[-1].last
                if not last.comments and last._location[1] == closing:
                    last.blank_before, last.comments = trivia

    def block_operations(self, region: Region, cfg: bool) -> int:
        """Read blocks of ops up to the closing brace, which is consumed; return its index."""
        tokens = self.tokens
        block = region.blocks[0]
        trivia = self.source.trivia
        while True:
            token = tokens[self.i]
            if token == "}":
                closing = self.i
                self.i += 1
                for label, at in self.label_uses.items() if cfg else ():
                    if self.labels[label].parent is None:
                        self.report(
                            self.diagnose(
                                "NAME/003",
                                f"branch to undefined block ^{label}",
                                at,
                                hint=did_you_mean(label, [n for n, b in self.labels.items() if b.parent is not None]),
                            )
                        )
                return closing
            if token == END:
                self.fail("PARSE/005", "the file ends inside of a region; '}' was expected")
            start = self.i
            try:
                if token[0] == "^":
                    block = self._label(region, block, cfg)
                    continue
                op = self.operation(False) if self.asm is None else self.asm.statement()
                if start in trivia:
                    op.blank_before, op.comments = trivia[start]
                block.append(op)
            except ParseFailure as failure:
                if failure.diagnostic.code in ("PARSE/004", "PARSE/005"):
                    raise
                self.report(failure.diagnostic)
                self.recover(start)

    def _label(self, region: Region, current: Block, cfg: bool) -> Block:
        at = self.i
        token = self.tokens[at]
        if len(token) == 1:
            self.expected("a block label")
        if not cfg:
            self.fail("OP/013", "this region has one block and takes no label", at)
        label = token[1:]
        self.i += 1
        first = current is region.blocks[0] and current.first is None and not current.label_written
        known = self.labels.get(label)
        if known is not None and known.parent is not None:
            self.fail("NAME/004", f"block ^{label} is already defined", at)
        if first:
            current.label = label
            block = current
            self.labels[label] = block
        else:
            block = known if known is not None else Block(label=label)
            self.labels[label] = block
            region.add_block(block)
        block.label_written = True
        block.location = (self.source, at, at + 1)
        trivia = self.source.trivia.get(at)
        if trivia is not None:
            block.blank_before, block.comments = trivia
        if self.tokens[self.i] == "(":
            if first and block.arguments:
                self.fail("OP/015", "the entry block's arguments are the function's; its label takes none", at)
            self.i += 1
            signature = self.signature
            self.signature = []
            self.arguments(block)
            self.signature = signature
        self.accept_literal(":")
        return block

    def recover(self, start: int) -> None:
        """Skip to where the next op of the same region seems to begin, and give the lost op's names a meaning."""
        tokens = self.tokens
        i = start
        while tokens[i][0] == "%" and tokens[i + 1] in (",", "="):
            token = tokens[i]
            if token not in self.scope:
                self.scope[token] = Value(None, None, 0, token[1:])  # type: ignore[arg-type]
                self.defined.append(token)
            i += 2
        depth = 0
        i = start
        while True:
            token = tokens[i]
            if token == END:
                break
            if token == "{":
                depth += 1
            elif token == "}":
                if depth <= 0:
                    if i > start or self.nesting:
                        break
                else:
                    depth -= 1
            elif i > start and depth == 0 and self.source.starts_line(i) and self._starts_op(i):
                break
            i += 1
        self.i = max(i, start + 1) if tokens[start] != "}" else i

    def _starts_op(self, i: int) -> bool:
        token = self.tokens[i]
        if token[0] == "%":
            return True
        if self.asm is not None and token[0].isalpha():
            return True
        return token[0] == "^" or ("." in token and token[0].isalpha())

    # Operations

    def operation(self, top: bool) -> Operation:
        """Read one op."""
        tokens = self.tokens
        start = self.i
        token = tokens[start]
        names: list[str] = []
        if token[0] == "%":
            i = start
            while True:
                if tokens[i][0] != "%" or len(tokens[i]) == 1:
                    self.i = i
                    self.expected("a result name")
                names.append(tokens[i])
                i += 1
                if tokens[i] != ",":
                    break
                i += 1
            self.i = i
            if tokens[i] != "=":
                self.expected("=")
            self.i = i + 1
            token = tokens[i + 1]
        definition = lookup(token) if token not in OLDER_NAMES else self._older_name(token)
        if definition is None:
            self._unknown_op(token)
        if ("module_level" in definition.traits) is not top:
            self._misplaced(definition, top)
        if definition.name == "func.return" and self.enclosing[-1].name == "template.def":
            found = lookup("template.return")
            assert found is not None
            definition = found
        self.i += 1
        state = OpState(definition, names, start)
        program = definition.compiled.get("program") or program_of(definition)
        older = self.older
        try:
            for step in program.parse:
                step(self, state)
        except ParseFailure:
            while state.scopes:
                saved = state.scopes.pop()
                self.scope, self.defined, self.forward, self.labels, self.label_uses, self.signature = saved
            raise
        finally:
            self.older = older and top is False
        while state.scopes:
            self.close_scope(state.scopes.pop())
        return self.finish(state)

    def finish(self, state: OpState) -> Operation:
        """Make the op of what was read and define its results."""
        definition = state.definition
        groups = state.groups
        segments: tuple[int, ...] | None = None
        if definition.variadic_operand is None and not definition.needs_segments:
            operands = groups
        else:
            operands = flatten(groups)
            if definition.needs_segments:
                segments = tuple([len(g) if g.__class__ is list else 0 if g is None else 1 for g in groups])
        if groups and None in operands:
            operands = [v for v in operands if v is not None]
        regions = state.regions
        if regions:
            regions = [r if isinstance(r, Region) else Region([r] if isinstance(r, Block) else []) for r in regions]
        op = Operation(
            definition,
            operands,
            (),
            state.attributes,
            regions,
            state.successors,
            (self.source, state.start, self.i),
            segments,
        )
        declared = definition.results
        names = state.names
        if declared:
            types = state.types
            if None in types:
                types = self._infer(op, state)
            else:
                types = types if len(declared) == 1 and types[0].__class__ is not list else flatten(types)
            if names and len(names) != len(types):
                self.fail(
                    "PARSE/006",
                    f"{definition.name} has {len(types)} result{'s' * (len(types) != 1)}, "
                    f"{len(names)} name{'s' * (len(names) != 1)} given",
                    state.start,
                )
            results = op.results
            at = state.start
            for i, t in enumerate(types):
                value = Value(t, op, i)
                results.append(value)
                if names:
                    self.define(names[i], value, at)
                    at += 2
        elif names:
            self.fail("PARSE/006", f"{definition.name} has no results", state.start)
        if self.tokens[self.i] == "loc" and self.tokens[self.i + 1] == "(":
            self._written_location(op)
        return op

    def _infer(self, op: Operation, state: OpState) -> list[Type]:
        """Complete the result types that the text does not give: an operand's type, or a fixed one."""
        definition = op.definition
        types: list[Any] = []
        for declared, given in zip(definition.results, state.types, strict=True):
            if given is not None:
                types.extend(given if given.__class__ is list else [given])
            elif declared.count == "one":
                rule = declared.infer
                types.append(op.operand(rule).type if isinstance(rule, str) else rule)
        return types

    def _older_name(self, token: str) -> OpDefinition | None:
        self.older = True
        return lookup(OLDER_NAMES[token])

    def _unknown_op(self, token: str) -> NoReturn:
        if not (token[0].isalpha() or token[0] in "_$"):
            self.expected("an operation")
        prefix = token.partition(".")[0]
        from loom.ir.registry import _DEFINITIONS, load_dialect

        load_dialect(prefix)
        names = [n for n in _DEFINITIONS if n.partition(".")[0] == prefix]
        if not names:
            names, token_part = dialect_prefixes(), prefix
        else:
            token_part = token
        hint = did_you_mean(token_part, names)
        self.fail("PARSE/002", f"unknown operation {self.shown()}", hint=hint)

    def _misplaced(self, definition: OpDefinition, top: bool) -> NoReturn:
        if top:
            self.fail(
                "PARSE/003",
                f"{definition.name} cannot stand at module level",
                hint="put it into a function, kernel or check",
            )
        self.fail(
            "PARSE/003",
            f"{definition.name} can stand at module level only",
            hint="is a '}' missing before it?",
        )

    def _written_location(self, op: Operation) -> None:
        start = self.i
        self.i += 2
        depth = 1
        while depth:
            token = self.tokens[self.i]
            if token == "(":
                depth += 1
            elif token == ")":
                depth -= 1
            elif token == END or token in "{}":
                self.fail("PARSE/001", "the location does not end", start)
            self.i += 1
        t = self.tokens
        if t[start + 2][0] == '"' and t[start + 3] == ":" and t[start + 4].isdigit() and t[start + 6].isdigit():
            line, column = int(t[start + 4]), int(t[start + 6])
            end_line, end_column = line, column
            if t[start + 7] == "to" and t[start + 8].isdigit() and t[start + 10].isdigit():
                end_line, end_column = int(t[start + 8]), int(t[start + 10])
            op.location = Location(parse_string(t[start + 2]), line, column, end_line, end_column)

    # Modules

    def parse_module(self) -> Module:
        """Read the whole file; raise ``LoomError`` with all errors found (up to the limit)."""
        try:
            with deep_recursion():
                self._module()
        except _TooManyErrors:
            pass
        except ParseFailure as failure:
            self.diagnostics.append(failure.diagnostic)
        if self.diagnostics:
            ordered = sorted(
                self.diagnostics, key=lambda d: (d.location.line, d.location.column) if d.location else (0, 0)
            )
            raise LoomError(ordered[:ERROR_LIMIT])
        return self.module

    def _module(self) -> None:
        tokens = self.tokens
        trivia = self.source.trivia
        while tokens[self.i][0] == "#" and tokens[self.i + 1] == "=":
            at = self.i
            name = tokens[at][1:]
            if name in self.aliases:
                self.report(self.diagnose("PARSE/010", f"alias #{name} is given twice", at))
            self.i += 2
            try:
                self.aliases[name] = self.encoding()
            except ParseFailure as failure:
                self.report(failure.diagnostic)
                self.recover(at)
        self.module.aliases = dict(self.aliases)
        while tokens[self.i] != END:
            start = self.i
            try:
                op = self.operation(True)
                if start in trivia:
                    op.blank_before, op.comments = trivia[start]
                self.module.body.append(op)
            except ParseFailure as failure:
                self.nesting = 0
                self.enclosing.clear()
                self.report(failure.diagnostic)
                if failure.diagnostic.code in ("PARSE/004", "PARSE/005"):
                    return
                self.recover(start)
        if self.i in trivia:
            self.module.trailing_comments = trivia[self.i][1]


def flatten(groups: Sequence[Any]) -> list[Any]:
    """Return the operands of groups one after the other; absent ones are left out."""
    flat: list[Any] = []
    for g in groups:
        if g is None:
            continue
        if g.__class__ is list:
            flat.extend(g)
        else:
            flat.append(g)
    return flat


def parse(text: str | bytes, filename: str = "<text>") -> Module:
    """Parse Loom text into a module.

    Older spellings are read as their newest ones. Raises :class:`loom.diagnostics.LoomError` with up to 20
    diagnostics. The module is not verified; see :func:`loom.ir.verifier.verify`.
    """
    from loom.text.lexer import decode
    from loom.text.modernize import modernize

    if isinstance(text, bytes):
        text = decode(text, filename)
    module = Parser(Source(text, filename)).parse_module()
    modernize(module)
    return module
