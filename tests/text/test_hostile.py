"""Hostile input ends in diagnostics, quickly and with bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import loom
from loom.diagnostics import LoomError
from tests.text.corpus import CORPUS, diagnostics_of
from tests.text.hostile_inputs import HOSTILE, nested


def codes(text: str | bytes) -> list[str]:
    try:
        module = loom.parse(text, "hostile.loom")
        loom.verify(module)
    except LoomError as failure:
        return [d.code for d in failure.diagnostics]
    return []


def test_invalid_utf8_names_the_line_of_the_first_bad_byte() -> None:
    with pytest.raises(LoomError) as caught:
        loom.parse(b"// \xc3\xa9\nfunc.decl @f()\n// \xff\n", "bad.loom")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "LEX/001"
    assert diagnostic.location is not None
    assert (diagnostic.location.line, diagnostic.location.column) == (3, 4)


def test_nul_bytes_are_unexpected_characters() -> None:
    assert codes("func.def @f() {\n  \0\n  func.return\n}\n") == ["LEX/002"]
    assert codes(b"\0" * 1000)[0] == "LEX/002"


def test_nesting_up_to_the_limit_is_read_printed_and_verified() -> None:
    module = loom.parse(nested(990))
    loom.verify(module)
    assert loom.print_module(loom.parse(loom.print_module(module))) == loom.print_module(module)
    assert loom.print_module(module.clone()) == loom.print_module(module)
    assert len(module.semantic_hash()) == 64


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_texts_give_their_codes(name: str) -> None:
    text, expected = HOSTILE[name]
    assert codes(text) == expected


def test_deep_dictionaries_and_brackets_are_errors() -> None:
    assert codes("check.case @c {\n  check.requires<x> {a = " + "[" * 10_000 + "}\n  check.return\n}\n") == [
        "PARSE/001"
    ]
    assert codes("func.decl @f(%a: " + "(" * 10_000 + ")") != []
    assert codes("func.decl @f(%a: " + "view<" * 10_000 + ")") != []
    assert codes("config.def @c = #a" + "<b=#a" * 5_000 + ">" * 5_000 + " : encoding") != []


def test_a_megabyte_on_one_line() -> None:
    for text in (
        "x" * 1_000_000,
        '"' + "x" * 1_000_000,
        "vector<" * 150_000,
        "%a = " * 200_000,
        "func.def @" + "f" * 1_000_000 + "() {",
        "[" * 1_000_000,
        "1" * 1_000_000,
        "-" * 1_000_000,
        "a." * 500_000,
        "vector<" + "4x" * 500_000 + "f32>",
    ):
        assert len(codes(text)) == 1, text[:20]
    assert codes("// " + "x" * 1_000_000) == []


def test_absurd_dimensions() -> None:
    big = "9" * 5000
    assert codes(f"func.decl @f(%a: tensor<{big}xf32>)") == ["TYPE/003"]
    assert codes(f"func.decl @f(%a: reg<a.b x{big}>)")[0].startswith("TYPE/")
    assert codes("func.decl @f(%a: tensor<9223372036854775807x9223372036854775807xf32>)") == []
    assert codes(f"func.def @f() {{\n  %x = index.constant {big} : index\n  func.return\n}}") == ["PARSE/008"]
    assert codes(
        "check.case @c {\n  %t = check.generate.iota offset(0) step(1) : tensor<9223372036854775807xi8>\n  check.return\n}"
    ) == ["CHECK/006"]
    assert (
        codes(
            "check.case @c {\n  %p = check.param.range po2 bounds(1 to 9223372036854775807) : index\n  check.return\n}"
        )
        == []
    )
    assert (
        codes(
            "check.case @c {\n  %p = check.param.range linear bounds(0 to 9223372036854775806) : index\n  check.return\n}"
        )
        == []
    )


def test_errors_do_not_pile_up_beyond_the_limit() -> None:
    text = "func.def @f() {\n" + "  bad.op\n" * 1000 + "  func.return\n}\n"
    found = codes(text)
    assert len(found) == 20
    assert set(found) == {"PARSE/002"}


def test_one_mistake_gives_one_diagnostic() -> None:
    text = (
        (CORPUS / "appendix/01_axpy.loom")
        .read_text(encoding="utf-8")
        .replace("index.constant 127", "index.constnt 127")
    )
    assert [d.code for d in diagnostics_of(text)] == ["PARSE/002"]


def test_a_recursive_alias_is_no_loop() -> None:
    assert codes("#a = #a\n#b = #a\nconfig.def @c = #b : encoding\n") == []


def test_the_command_never_shows_a_traceback(tmp_path: Path) -> None:
    inputs = {
        "utf8.loom": b"\xff\xfe\x00",
        "nul.loom": b"\0\0\0",
        "deep.loom": nested(10_000).encode(),
        "line.loom": b"[" * 1_000_000,
        "string.loom": b'func.decl import("',
        "empty.loom": b"",
    }
    for name, data in inputs.items():
        (tmp_path / name).write_bytes(data)
        run = subprocess.run(
            [sys.executable, "-m", "loom.tools.loom_format", str(tmp_path / name)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in run.stderr
        assert run.returncode == (0 if name == "empty.loom" else 2), (name, run.stderr[:500])


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_any_line_end_ends_lines_and_comments(line_end: str) -> None:
    text = line_end.join(["// note", "func.def @f() {", "  func.return // end", "}", ""])
    module = loom.parse(text)
    assert loom.print_module(module) == "// note\nfunc.def @f() {\n  func.return\n  // end\n}\n"
    found = diagnostics_of(text.replace("func.return", "func.retrun"))
    assert [(d.code, d.location.line) for d in found if d.location] == [("PARSE/002", 3)]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    module = loom.parse("\ufefffunc.def @f() {\n  func.return\n}\n".encode())
    assert loom.print_module(module) == "func.def @f() {\n  func.return\n}\n"


@pytest.mark.parametrize(
    ("literal", "type_name", "code"),
    [
        ("1.0e999", "f64", "PARSE/008"),
        ("-1" + "0" * 400 + ".5", "f64", "PARSE/008"),
        ("3.5e38", "f32", "OP/016"),
        ("65520.0", "f16", "OP/016"),
    ],
)
def test_digits_never_mean_an_infinity(literal: str, type_name: str, code: str) -> None:
    text = f"func.def @f() {{\n  %x = scalar.constant {literal} : {type_name}\n  func.return\n}}\n"
    assert [d.code for d in diagnostics_of(text)] == [code]


def test_the_largest_values_are_values() -> None:
    text = (
        "func.def @f() {\n  %a = scalar.constant 65519.0 : f16\n  %b = scalar.constant inf : f16\n"
        "  %c = scalar.constant 3.4028235677973362e+38 : f32\n  func.return\n}\n"
    )
    assert diagnostics_of(text) == []


def test_a_lone_percent_sign_names_no_result() -> None:
    assert codes("func.decl @f(%a: i32) -> (%: index)\n") == ["TYPE/001"]


def test_a_return_of_an_asm_body_ends_with_its_line() -> None:
    text = "low.func.def target<test.low.core> @f(%a: reg<test.r>) asm {\n  return\n  %b = add %a, %a\n  return\n}\n"
    assert codes(text) == ["OP/010"]
