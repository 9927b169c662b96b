"""What formats ask of the parser: tokens of each kind, values, types, attributes, and errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

from loom.diagnostics import Diagnostic, Location
from loom.ir.attributes import (
    PREDICATES,
    Attribute,
    EncodingAttribute,
    Predicate,
    Ref,
    SymbolRef,
    Word,
)
from loom.ir.core import Block, Module, Value
from loom.ir.definition import OpDefinition
from loom.ir.suggest import did_you_mean
from loom.ir.types import INDEX, FunctionType, Type
from loom.text.attribute_kinds import attribute_parser
from loom.text.lexer import END, Source
from loom.text.literals import StringError, parse_float, parse_integer, parse_string
from loom.text.steps import OpState
from loom.text.type_text import NAMED_TYPES, TypeTextError, parse_encoding, parse_structured

if TYPE_CHECKING:
    from loom.text.parser import Parser

DICTIONARY_LIMIT = 16
TYPE_LIMIT = 64
ERROR_LIMIT = 20
# Words that stand between an op's name and its symbol.
CLAUSES = frozenset((
    "public", "retain", "host", "device", "initializer", "deinitializer", "pure", "hot", "cold", "inline",
    "noinline", "allocation", "schedule", "import", "target", "abi", "abi_layout", "requires", "priority", "export",
    "linkage", "workgroup_size", "workgroup_count", "cluster_size", "configure",
))  # fmt: skip
PUNCTUATION = frozenset((":", ",", "->", "=", ")", "]", ">"))

_STRUCTURED = ("vector<", "view<", "tensor<", "tile<", "reg<", "encoding<", "low.storage<", "pool<", "group<")
_STRUCTURED_WORDS = frozenset(s[:-1] for s in _STRUCTURED)


class ParseFailure(Exception):
    """Ends the reading of one op; carries its diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class UnclosedRegion(ParseFailure):
    """A new symbol begins at the margin while regions are open: reading goes on there, at module level."""


class TooManyErrors(Exception):
    """Ends the reading of a file that has reached the limit of diagnostics."""


class Reader:
    """The parser's lower half. Formats call its methods; ``i`` is the index of the next token."""

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
        self.openings: list[int] = []
        self.diagnostics: list[Diagnostic] = []
        self.aliases: dict[str, EncodingAttribute] = {}
        self.older = False
        self.asm: Any = None
        self.type_depth = 0
        # Indices of the comments that have found their place.
        self.kept: set[int] = set()
        # Result names of the op being read, and the stand-ins of those that its own types name.
        self.own_names: list[str] = []
        self.early: dict[str, Value] | None = None

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
            raise TooManyErrors

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
            self.fail("PARSE/005", f"the file ends inside of a region; '{what}' was expected", hint=self._opened())
        if token[0] == '"' and len(token) == 1:
            self.fail("LEX/003", "the string does not end on its line", hint='close it with "')
        if len(token) == 1 and (not token.isprintable() or token in "!&*+;?\\^`~'@#$%./-" or ord(token) > 126):
            hint = {";": "an op ends by itself; leave the ';' out", "/": "comments begin with '//'"}.get(token)
            if not token.isascii() and token.isalnum():
                hint = "names consist of the letters A to Z, digits, '_', '$' and '-'"
            shown = f"'{token}'" if token.isprintable() else ascii(token)
            self.fail("LEX/002", f"unexpected character {shown}", hint=hint)
        named = what if what.startswith(("a ", "an ")) else f"'{what}'"
        message, hint = f"expected {named}, found {self.shown()}", self._way_out(what, token)
        if what in PUNCTUATION and self.i and token != END and self.source.starts_line(self.i):
            # What is missing belongs to the line before.
            before = self.source.span(self.i - 1)
            place = Location(before.file, before.end_line, before.end_column, before.end_line, before.end_column)
            raise ParseFailure(Diagnostic(f"expected {named} at the end of the line", "PARSE/001", place, hint=hint))
        self.fail("PARSE/001", message, hint=hint)

    def _way_out(self, what: str, token: str) -> str | None:
        """What to do about a token that is not the expected one, where that is known."""
        if what == "a symbol" and token in CLAUSES:
            return f"'{token}' cannot stand here: modifiers and clauses have a fixed order"
        if what == "a symbol" and (token[0].isalpha() or token[0] == "_"):
            return f"symbols begin with '@': @{token}"
        if what == "a value" and (parse_integer(token) is not None or parse_float(token) is not None):
            return f"constants are values of their own: %c = index.constant {token} : index"
        if what in ("a value", "an argument", "a result name") and token[0].isalpha():
            return f"values begin with '%': %{token}"
        if what == "an operation" and token == "}":
            return "no region is open here; is there a '}' too many?"
        if what == "(" and self.tokens[self.i - 1] == "->":
            return f"result types stand in parentheses: -> ({token})"
        if what == "target":
            return "a Low function names its descriptor set: target<set.key>"
        if what == "{" and token == "launch":
            return "the region that computes the launch comes first: {… kernel.launch.config …} launch(…)"
        return None

    def _opened(self) -> str | None:
        """Where the innermost open region begins."""
        return f"the '{{' at line {self.source.line_of(self.openings[-1]) + 1} is not closed" if self.openings else None

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
        return self._finite(value)

    def _finite(self, value: float) -> float:
        """Move on behind a float; digits never mean an infinity."""
        token = self.tokens[self.i]
        if value in (float("inf"), float("-inf")) and token[-1].isdigit():
            self.fail("PARSE/008", f"the float {self.shown()} does not fit 64 bits", hint="an infinity is written inf")
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
        return self._finite(value)

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
        if token in self.own_names:
            if self.early is None:
                self.early = {}
            return self.early.setdefault(token, Value(INDEX, None, 0, name))
        self.i -= 1
        try:
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
        """Whether a bracket closes the list of types the parser is in (so a further type is one too many)."""
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
                state.attributes[key] = attribute_parser(declared)(cast("Parser", self), state)
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
