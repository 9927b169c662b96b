"""Attribute values that are not plain Python values: words, symbol references, encodings, predicates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from loom.ir.types import Type

if TYPE_CHECKING:
    from collections.abc import Sequence


class Word(str):
    """A bare enum word (``workgroup``); compares and hashes as the string."""

    __slots__ = ()


class SymbolRef(str):
    """A reference to a symbol, without the ``@``; compares and hashes as the string."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class EncodingAttribute:
    """``#family<key=value, …>``: a compile-time encoding. ``parameters`` keeps the written order."""

    family: str
    parameters: tuple[tuple[str, Attribute], ...] = ()

    def parameter(self, name: str, default: Attribute | None = None) -> Attribute | None:
        """Return the parameter of that name, or ``default``."""
        for key, value in self.parameters:
            if key == name:
                return value
        return default

    def __str__(self) -> str:
        if not self.parameters:
            return f"#{self.family}"
        parts = (format_attribute(v) if not k else f"{k}={format_attribute(v)}" for k, v in self.parameters)
        return f"#{self.family}<{', '.join(parts)}>"


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to a value of the op that holds the attribute.

    For ``*.assume`` it counts the op's operands; for the ``where`` of a signature it counts the arguments first,
    then the declared results. Being an index, it survives renaming, replacing and cloning.
    """

    index: int


@dataclass(frozen=True, slots=True)
class Predicate:
    """``range(%a, 0, 63)``: one entry of a predicate list. Arguments are integers, floats or :class:`Ref`."""

    name: str
    arguments: tuple[int | float | Ref, ...]


Attribute: TypeAlias = (
    "bool | int | float | str | Word | SymbolRef | Type | EncodingAttribute | Predicate"
    " | tuple[Attribute, ...] | dict[str, Attribute] | None"
)

PREDICATES: Mapping[str, tuple[int, str]] = {
    "eq": (2, "a equals b"),
    "ne": (2, "a differs from b"),
    "lt": (2, "a < b, signed"),
    "le": (2, "a <= b, signed"),
    "gt": (2, "a > b, signed"),
    "ge": (2, "a >= b, signed"),
    "mul": (2, "a is a multiple of n"),
    "min": (2, "a >= n"),
    "max": (2, "a <= n"),
    "pow2": (1, "a is a power of two"),
    "range": (3, "lo <= a <= hi"),
    "finite": (1, "the float is finite"),
}

_JSON_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def format_string(text: str) -> str:
    """Return the text as a string literal with JSON escapes; control characters become ``\\uXXXX``."""
    return '"' + "".join(_JSON_ESCAPES.get(c) or (c if c >= " " else f"\\u{ord(c):04x}") for c in text) + '"'


def format_float(value: float) -> str:
    """Return the value as ``%.17g``, always with ``.`` or an exponent; ``nan``, ``inf`` and ``-inf`` as words."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = f"{value:.17g}"
    return text if "." in text or "e" in text else text + ".0"


def format_attribute(value: Attribute) -> str:
    """Return the text of an attribute value (values in types print by their own names)."""
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, SymbolRef):
        return f"@{value}"
    if isinstance(value, Word):
        return str(value)
    if isinstance(value, str):
        return format_string(value)
    if isinstance(value, float):
        return format_float(value)
    if isinstance(value, dict):
        return format_dictionary(value)
    if isinstance(value, tuple):
        return f"[{', '.join(format_attribute(v) for v in value)}]"
    return str(value)


def format_dictionary(entries: Mapping[str, Attribute], order: Sequence[str] | None = None) -> str:
    """Return ``{a = 1, b = 2}``, sorted by key, or in ``order`` where one is given."""
    keys = sorted(entries) if order is None else [k for k in order if k in entries] + sorted(set(entries) - set(order))
    return "{" + ", ".join(f"{k} = {format_attribute(entries[k])}" for k in keys) + "}"
