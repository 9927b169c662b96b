"""Reading numbers and strings."""

from __future__ import annotations

import re

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)", re.ASCII)
_FLOAT = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORDS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan"), "-nan": float("nan")}

# Integers of more digits cannot fit any type; Python also refuses to convert thousands of digits.
_LONGEST = 80


class StringError(ValueError):
    """What is wrong with a string literal."""


def parse_integer(token: str) -> int | None:
    """Return the integer a token stands for, None when it is not one. Absurdly long ones give a huge value."""
    if _INTEGER.fullmatch(token) is None:
        return None
    if len(token) > _LONGEST:
        return -(1 << 200) if token[0] == "-" else 1 << 200
    if token[:2].lower() == "0x" or token[:3].lower() == "-0x":
        return int(token, 16)
    return int(token)


def parse_float(token: str) -> float | None:
    """Return the float a token stands for, None when it is not one."""
    word = _WORDS.get(token)
    if word is not None:
        return word
    if _FLOAT.fullmatch(token) is None:
        integer = parse_integer(token)
        return float(integer) if integer is not None and abs(integer) < 1 << 200 else None
    return float(token)


def parse_string(token: str) -> str:
    """Return the text of a string token; raise :class:`StringError` for a bad escape or one that does not end."""
    if len(token) < 2 or token[-1] != '"':
        raise StringError("the string does not end on its line")
    body = token[1:-1]
    if "\\" not in body:
        _check_control(body)
        return body
    _check_control(body)

    def replace(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[:1] == "u" and len(escape) == 5:
            return chr(int(escape[1:], 16))
        known = _ESCAPES.get(escape)
        if known is None:
            raise StringError(f"unknown escape \\{escape} in a string")
        return known

    text = _ESCAPE.sub(replace, body)
    # Escaped surrogate pairs stand for one character; halves on their own are errors.
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise StringError("a lone surrogate in a string") from None


def _check_control(body: str) -> None:
    for c in body:
        if c < " " and c != "\t":
            raise StringError(f"control character {c!a} in a string must be escaped")
