"""Diagnostics as a user sees them."""

import json

from loom.diagnostics import Diagnostic, ExitCode, Location, error, render_json, render_text


def test_text_shows_line_caret_hint_and_note() -> None:
    location = Location("k.loom", 2, 8, 2, 12)
    diagnostic = Diagnostic("unknown op", "PARSE/001", location, hint="did you mean 'addf'?", notes=("see section 3",))
    text = render_text([diagnostic], {"k.loom": "first\n  %a = adff %x\nthird"})
    assert text.split("\n") == [
        "k.loom:2:8: error: unknown op [PARSE/001]",
        "    %a = adff %x",
        "         ^~~~",
        "  hint: did you mean 'addf'?",
        "  note: see section 3",
    ]


def test_tabs_before_the_caret_are_kept_so_that_it_lines_up() -> None:
    text = render_text([Diagnostic("bad", "X/001", Location("f", 1, 3))], {"f": "\t\tx"})
    assert text.split("\n")[2] == "  \t\t^"


def test_a_very_long_line_is_cut_around_the_caret() -> None:
    text = render_text(
        [Diagnostic("bad", "X/001", Location("f", 1, 500_001))], {"f": "a" * 500_000 + "B" + "c" * 500_000}
    )
    excerpt, caret = text.split("\n")[1:3]
    assert len(excerpt) < 200
    assert excerpt[caret.index("^")] == "B"


def test_json_is_one_document_with_the_location() -> None:
    document = json.loads(render_json([Diagnostic("bad", "X/001", Location("f", 3, 4, 3, 9))]))
    assert document == {
        "diagnostics": [
            {
                "severity": "error",
                "code": "X/001",
                "message": "bad",
                "file": "f",
                "line": 3,
                "column": 4,
                "end_line": 3,
                "end_column": 9,
            }
        ]
    }


def test_error_defaults_to_bad_input() -> None:
    raised = error("no", "X/002")
    assert raised.exit_code is ExitCode.BAD_INPUT
    assert raised.diagnostics[0].code == "X/002"
