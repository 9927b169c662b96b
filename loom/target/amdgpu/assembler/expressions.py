"""Lexer and expressions of the assembly language."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from loom.diagnostics import Location, LoomError, error

_TOKEN = re.compile(
    r"""(?P<space>[ \t]+)
      |(?P<float>\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.\d+(?:[eE][-+]?\d+)?)
      |(?P<local>\d+[fb](?![0-9a-zA-Z_]))
      |(?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)
      |(?P<string>"(?:[^"\\]|\\.)*")
      |(?P<name>[A-Za-z_.$@][\w.$@]*)
      |(?P<symbol><<|>>|==|!=|<=|>=|&&|\|\||::|[-+*/%&|^~!<>()\[\],:=])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token: kind (``float local number string name symbol end``), text, zero-based column."""

    kind: str
    text: str
    column: int


def failure(message: str, location: Location, column: int, code: str = "ASM/001", hint: str | None = None) -> LoomError:
    """An error at a zero-based column of a line."""
    return error(message, code, Location(location.file, location.line, column + 1), hint=hint)


def tokenize(text: str, location: Location, start: int = 0) -> list[Token]:
    """The tokens of a line from column ``start``, an ``end`` token last.

    Raises:
        LoomError: ``ASM/001`` for a character that begins no token.
    """
    tokens = []
    at = start
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise failure(f"unexpected character {text[at]!r}", location, at)
        if match.lastgroup != "space":
            tokens.append(Token(str(match.lastgroup), match.group(), at))
        at = match.end()
    tokens.append(Token("end", "", len(text)))
    return tokens


class Unresolved(Exception):
    """An expression names a symbol that has no value yet."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


Lookup = Callable[[str], int]
"""Value of a symbol; raises :class:`Unresolved`."""

_BINARY: list[dict[str, Callable[[int, int], int]]] = [
    {"||": lambda a, b: int(bool(a) or bool(b)), "&&": lambda a, b: int(bool(a) and bool(b))},
    {
        "==": lambda a, b: -int(a == b),
        "!=": lambda a, b: -int(a != b),
        "<": lambda a, b: -int(a < b),
        ">": lambda a, b: -int(a > b),
        "<=": lambda a, b: -int(a <= b),
        ">=": lambda a, b: -int(a >= b),
    },
    {"|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "&": lambda a, b: a & b},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": lambda a, b: _divide(a, b), "%": lambda a, b: a - b * _divide(a, b),
     "<<": lambda a, b: _shift(a, b), ">>": lambda a, b: (a & (1 << 64) - 1) >> min(b, 64) if b >= 0 else 0},
]  # fmt: skip


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise ZeroDivisionError
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _shift(a: int, b: int) -> int:
    return a << b & (1 << 64) - 1 if 0 <= b < 64 else 0


class Cursor:
    """A position in a line's tokens, and the expression parser over it."""

    def __init__(self, tokens: list[Token], location: Location) -> None:
        self.tokens = tokens
        self.location = location
        self.at = 0
        self._depth = 0

    @property
    def token(self) -> Token:
        """The token to read next."""
        return self.tokens[self.at]

    def next(self) -> Token:
        """Read a token."""
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, text: str) -> bool:
        """Read the next token if it is ``text``."""
        if self.token.text == text and self.token.kind in ("symbol", "name"):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Read ``text`` or fail."""
        token = self.token
        if not self.accept(text):
            raise self.fail(
                f"expected '{text}'" + (f", found '{token.text}'" if token.text else " at the end of the line")
            )
        return token

    def fail(self, message: str, code: str = "ASM/001", hint: str | None = None) -> LoomError:
        """An error at the next token."""
        return failure(message, self.location, self.token.column, code, hint)

    @property
    def done(self) -> bool:
        """Whether the line is read to its end."""
        return self.token.kind == "end"

    def expression(self, lookup: Lookup, level: int = 0) -> int:
        """Parse and evaluate an integer expression.

        Raises:
            LoomError: ``ASM/001`` syntax, ``ASM/002`` division by zero. Unresolved: from ``lookup``.
        """
        self._depth += 1
        if self._depth > 200:
            raise self.fail("the expression is nested too deeply")
        try:
            if level == len(_BINARY):
                return self._unary(lookup)
            value = self.expression(lookup, level + 1)
            while self.token.kind == "symbol" and self.token.text in _BINARY[level]:
                operator = self.next()
                other = self.expression(lookup, level + 1)
                try:
                    value = _BINARY[level][operator.text](value, other)
                except ZeroDivisionError:
                    raise failure("division by zero", self.location, operator.column, "ASM/002") from None
            return value
        finally:
            self._depth -= 1

    def _unary(self, lookup: Lookup) -> int:
        token = self.next()
        if token.text == "-":
            return -self.expression(lookup, len(_BINARY))
        if token.text == "+":
            return self.expression(lookup, len(_BINARY))
        if token.text == "~":
            return ~self.expression(lookup, len(_BINARY))
        if token.text == "!":
            return int(not self.expression(lookup, len(_BINARY)))
        if token.text == "(":
            value = self.expression(lookup)
            self.expect(")")
            return value
        if token.kind == "number":
            return int(token.text, 0) if not re.fullmatch(r"0\d+", token.text) else int(token.text, 8)
        if token.kind in ("name", "local"):
            return lookup(token.text)
        self.at -= token.kind != "end"
        raise self.fail(f"expected an expression, found '{token.text}'" if token.text else "expected an expression")


def float_bits(text: str, width: int) -> int:
    """A decimal number as IEEE bits of 16, 32 or 64 bits; overflow becomes infinity."""
    number = float(text)
    letter, size = {16: ("e", 2), 32: ("f", 4), 64: ("d", 8)}[width]
    try:
        packed = struct.pack("<" + letter, number)
    except OverflowError:
        packed = struct.pack("<" + letter, float("inf") if number > 0 else float("-inf"))
    return int.from_bytes(packed[:size], "little")


def unquote(text: str) -> bytes:
    """The bytes of a string token."""
    escapes = {"n": 10, "t": 9, "r": 13, "\\": 92, '"': 34, "b": 8, "f": 12}
    out = bytearray()
    at = 1
    while at < len(text) - 1:
        char = text[at]
        if char != "\\":
            out += char.encode()
            at += 1
            continue
        following = text[at + 1]
        if following in escapes:
            out.append(escapes[following])
            at += 2
            continue
        match = re.match(r"\\([0-7]{1,3})|\\x([0-9a-fA-F]{1,2})", text[at:])
        if match is None:
            out += following.encode()
            at += 2
            continue
        out.append(int(match[1], 8) & 255 if match[1] else int(match[2], 16))
        at += match.end()
    return bytes(out)
