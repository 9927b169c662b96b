"""Hostile texts that no readable file can hold, and the codes that they must give."""

from __future__ import annotations


def nested(depth: int) -> str:
    """A function with that many nested conditionals."""
    opening = "".join("scf.if %c {\n" for _ in range(depth))
    return f"func.def @f(%c: i1) {{\n{opening}{'}' * depth}\nfunc.return\n}}\n"


HOSTILE: dict[str, tuple[str, list[str]]] = {
    "control character": ('func.decl import("a\x01b") @f()', ["LEX/003"]),
    "escaped text with a control character": ('func.decl import("a\\n\x01b") @f()', ["LEX/003"]),
    "nul": ("func.def @f() {\n  \0\n  func.return\n}\n", ["LEX/002"]),
    "nesting": (nested(1001), ["PARSE/004"]),
    "deep nesting": (nested(10_000), ["PARSE/004"]),
    "function types": ("func.decl @f(%a: " + "(" * 10_000 + ")", ["TYPE/003"]),
    "encodings": ("config.def @c = #a" + "<b=#a" * 70 + ">" * 70 + " : encoding", ["TYPE/005"]),
    "dictionaries": (
        "check.case @c {\n  check.requires<x> " + "{a = " * 10_000 + "}\n  check.return\n}\n",
        ["PARSE/004"],
    ),
    "unterminated string": ('func.decl import("lib', ["LEX/003"]),
    "unterminated region": ("func.def @f() {", ["PARSE/005"]),
    "unterminated list": ("func.def @f(", ["PARSE/001"]),
}
