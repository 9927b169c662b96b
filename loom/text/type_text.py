"""Reading types from their text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from loom.ir.attributes import Attribute, EncodingAttribute, SymbolRef, Word
from loom.ir.core import Value
from loom.ir.types import (
    BUFFER,
    ENCODING_ROLES,
    OPAQUE_NAMES,
    SCALAR_TYPES,
    STORAGE_SPACES,
    EncodingType,
    GroupType,
    OpaqueType,
    PoolType,
    RegisterType,
    StorageType,
    TensorType,
    TileType,
    Type,
    VectorType,
    ViewType,
)

# Types whose text is one identifier.
NAMED_TYPES: dict[str, Type] = {
    **SCALAR_TYPES,
    "buffer": BUFFER,
    "encoding": EncodingType(),
    **{name: OpaqueType(name) for name in OPAQUE_NAMES},
}

# Largest number a dimension or unit count may have.
LARGEST_DIM = (1 << 63) - 1
_DEPTH = 64

_DIM = re.compile(r"\s*(?:(\d+)\s*x|\[\s*%([A-Za-z_$](?:[\w$]|-(?!>))*|\d+)\s*\]\s*x)\s*", re.ASCII)
_SIZE = re.compile(r"\s*(?:(\d+)|\[\s*%([\w$-]+)\s*\])\s*", re.ASCII)
_REGISTER = re.compile(
    r"\s*([A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*)*)(?:\s+x\s*(\d+))?(?:\s*@\s*(\d+))?(?:\s*:\s*[^<>]+)?\s*", re.ASCII
)
_ALIGN = re.compile(r"align\s*\(\s*(\d+)\s*\)", re.ASCII)


class TypeTextError(ValueError):
    """What is wrong with a type's text; the parser adds the place and the code."""

    def __init__(self, message: str, code: str = "TYPE/001", hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


Resolve = Callable[[str], Value]


def parse_structured(text: str, resolve: Resolve, aliases: Any) -> Type:
    """Parse ``keyword<…>``. ``resolve`` finds the value of a name; ``aliases`` maps ``#name`` aliases to encodings.

    Raises :class:`TypeTextError`.
    """
    keyword, template = _template(text)
    if keyword == "shaped":
        made_class, dims, element, tail = template
        real: list[Any] = [d if isinstance(d, int) else _dimension(resolve(d), d) for d in dims]
        extra: list[Any] = []
        for kind, item in tail:
            if kind == "value":
                extra.append(resolve(item))
            elif kind == "encoding":
                encoding = aliases.get(item.family, item) if not item.parameters else item
                extra.append(None if encoding.family == "dense" and made_class is ViewType else encoding)
            else:
                extra.append(item)
        return made_class(tuple(real), element, *extra)  # type: ignore[no-any-return]
    if keyword == "pool":
        return PoolType(template if isinstance(template, int) else _dimension(resolve(template), template))
    return template  # type: ignore[no-any-return]


def _dimension(value: Value, name: str) -> Value:
    if value.type is not None and str(value.type) != "index" and value.type is not SCALAR_TYPES["offset"]:
        raise TypeTextError(f"dimension %{name} has type {value.type}; a dimension is an 'index' value", "TYPE/004")
    return value


@lru_cache(maxsize=4096)
def _template(text: str) -> tuple[str, Any]:
    """Split a type's text into its parts, SSA names unresolved; static types come out whole."""
    keyword, _, body = text.partition("<")
    keyword = keyword.strip()
    body = body[:-1]
    if keyword in ("vector", "tensor", "tile", "view"):
        return _shaped(keyword, body)
    if keyword == "reg":
        match = _REGISTER.fullmatch(body)
        if match is None or "." not in match[1]:
            raise TypeTextError(
                f"'{body}' is not a register class", "TYPE/001", "write reg<family.class>, reg<family.class x4>"
            )
        units = _number(match[2]) if match[2] else 1
        if not 1 <= units <= 1024:
            raise TypeTextError(f"a register has 1 to 1024 units, not {units}", "TYPE/003")
        return "done", RegisterType(match[1], units, _number(match[3]) if match[3] else None)
    word = body.strip()
    if keyword == "encoding":
        if word not in ENCODING_ROLES:
            raise TypeTextError(f"unknown encoding role '{word}'", "TYPE/001", f"one of {', '.join(ENCODING_ROLES)}")
        return "done", EncodingType(word)
    if keyword == "low.storage":
        if word not in STORAGE_SPACES:
            raise TypeTextError(f"unknown storage space '{word}'", "TYPE/001", f"one of {', '.join(STORAGE_SPACES)}")
        return "done", StorageType(word)
    if keyword == "pool":
        match = _SIZE.fullmatch(body)
        if match is None:
            raise TypeTextError(f"'{word}' is not a pool size")
        return "pool", _number(match[1]) if match[1] else match[2]
    return "done", GroupType(word)


def _number(digits: str) -> int:
    # Python refuses to convert thousands of digits; such a number is out of range anyway.
    if len(digits) > 19 or int(digits) > LARGEST_DIM:
        raise TypeTextError("a number in a type must be below 2^63", "TYPE/003")
    return int(digits)


def _element_hint(text: str) -> str:
    """What to write instead of something that is no element type."""
    from loom.ir.suggest import did_you_mean

    bare = re.match(r"\[(\w+)\]", text)
    if bare is not None:
        return f"a dynamic dimension names a value: [%{bare[1]}]"
    if re.match(r"-\d", text) is not None:
        return "a dimension is 0 or more"
    joined = re.fullmatch(r"(\d+)([a-z]\w*)", text)
    if joined is not None and joined[2] in SCALAR_TYPES:
        return f"an 'x' follows every dimension: {joined[1]}x{joined[2]}"
    return did_you_mean(text, SCALAR_TYPES) or "an element is a scalar type, as in f32"


def _shaped(keyword: str, body: str) -> tuple[str, Any]:
    dims: list[int | str] = []
    position = 0
    while True:
        match = _DIM.match(body, position)
        if match is None:
            break
        if match[1]:
            dims.append(_number(match[1]))
        else:
            dims.append(match[2])
        position = match.end()
    parts = _split(body[position:])
    element = SCALAR_TYPES.get(parts[0])
    if element is None:
        raise TypeTextError(f"'{parts[0]}' is not an element type", "TYPE/002", _element_hint(parts[0]))
    if len(dims) > 32:
        raise TypeTextError("a shape has at most 32 dimensions", "TYPE/003")
    tail: list[tuple[str, Any]] = []
    alignment: int | None = None
    for part in parts[1:]:
        aligned = _ALIGN.fullmatch(part) if keyword == "view" else None
        if aligned is not None and alignment is None:
            alignment = _number(aligned[1])
            if alignment < 1 or alignment & (alignment - 1):
                raise TypeTextError(f"an alignment must be a power of two, not {alignment}", "TYPE/003")
        elif part.startswith("%") and not tail and alignment is None:
            tail.append(("value", part[1:]))
        elif part.startswith("#") and not tail and alignment is None:
            tail.append(("encoding", parse_encoding(part)))
        else:
            raise TypeTextError(f"'{part}' cannot stand in a {keyword} type")
    if keyword == "vector":
        if not dims:
            raise TypeTextError("a vector has at least one dimension", "TYPE/003")
        if tail:
            raise TypeTextError("a vector has no layout")
    if keyword == "view":
        if element in (SCALAR_TYPES["index"], SCALAR_TYPES["offset"]):
            raise TypeTextError(f"a view's element has a fixed width; {element} has none", "TYPE/002")
        if alignment is not None:
            if not tail:
                tail.append(("plain", None))
            tail.append(("plain", alignment))
    classes: dict[str, Any] = {"vector": VectorType, "tensor": TensorType, "tile": TileType, "view": ViewType}
    made_class = classes[keyword]
    if tail == [] and all(isinstance(d, int) for d in dims):
        return "done", made_class(tuple(dims), element)
    return "shaped", (made_class, tuple(dims), element, tuple(tail))


def _split(text: str) -> list[str]:
    """Split at commas outside of <…> and (…)."""
    parts: list[str] = []
    depth = 0
    start = 0
    for i, c in enumerate(text):
        if c in "<([":
            depth += 1
        elif c in ">)]":
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return parts


_ENCODING = re.compile(r"#([A-Za-z_][\w$-]*(?:\.[A-Za-z_][\w$-]*)*)\s*(?:<(.*)>)?", re.ASCII)
_PARAMETER = re.compile(r"([A-Za-z_][\w.$-]*)\s*=\s*(.+)|(.+)", re.ASCII)


def parse_encoding(text: str) -> EncodingAttribute:
    """Parse ``#family<key=value, …>``; raises :class:`TypeTextError`."""
    if text.count("<") > _DEPTH:
        raise TypeTextError(f"encodings nest deeper than {_DEPTH} levels", "TYPE/005")
    match = _ENCODING.fullmatch(text.strip())
    if match is None:
        raise TypeTextError(f"'{text}' is not an encoding", "TYPE/005", "write #family or #family<key=value>")
    parameters: list[tuple[str, Attribute]] = []
    if match[2] is not None:
        for part in _split(match[2]):
            found = _PARAMETER.fullmatch(part)
            if found is None:
                raise TypeTextError(f"'{part}' is not an encoding parameter", "TYPE/005", "write key=value")
            if found[3] is not None:
                parameters.append(("", _parameter(found[3])))
            else:
                if any(k == found[1] for k, _ in parameters):
                    raise TypeTextError(f"encoding parameter '{found[1]}' is given twice", "TYPE/005")
                parameters.append((found[1], _parameter(found[2])))
    return EncodingAttribute(match[1], tuple(parameters))


def _parameter(text: str) -> Attribute:
    if re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"-?\d+\.\d+(?:[eE][+-]?\d+)?", text, re.ASCII):
        return float(text)
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("#"):
        return parse_encoding(text)
    if text.startswith("@"):
        return SymbolRef(text[1:])
    if re.fullmatch(r"[A-Za-z_][\w.$-]*", text, re.ASCII):
        return Word(text)
    raise TypeTextError(f"'{text}' is not an encoding parameter's value", "TYPE/005")
