"""Places of diagnostics, going on behind an error, and asm lines."""

from __future__ import annotations

import pytest

import loom
from loom.diagnostics import LoomError, render_text
from loom.ir.targets import register_descriptor_sets
from tests.text.corpus import diagnostics_of

register_descriptor_sets("test", "tests.text.low_core:provide")


def places(text: str) -> list[tuple[int, int, str]]:
    return [(d.location.line, d.location.column, d.code) for d in diagnostics_of(text) if d.location is not None]


def test_all_errors_of_a_file_are_reported_in_order_without_followers() -> None:
    text = """func.def @f(%x: i32) {
  %a = scalar.nothing %x : i32
  %b = scalar.addi %a, %x : i32
  %c = scalar.addi %b, %missing : i32
  scf.if %c {
    %d = scalar.addi %x %x : i32
    %e = scalar.addi %d, %x : i32
  }
  func.return %e : i32
}

func.def @g( {
  func.return
}

func.def @h() {
  %y = scalar.constant 1 : i33
  func.return
}
"""
    assert places(text) == [
        (2, 8, "PARSE/002"),
        (4, 24, "NAME/001"),
        (6, 25, "PARSE/001"),
        (9, 15, "NAME/001"),
        (12, 14, "PARSE/001"),
        (17, 28, "TYPE/001"),
    ]


def test_columns_count_characters() -> None:
    text = '// é\nfunc.decl import("é", "ü") @f(%x: i33)\n'
    assert places(text) == [(2, 35, "TYPE/001")]
    assert places("func.def @f() {\n\t%x = scalar.constant 1 : i33\n\tfunc.return\n}\n") == [(2, 27, "TYPE/001")]


def test_windows_line_ends_are_white_space() -> None:
    text = "func.def @f() {\r\n  func.return\r\n}\r\n"
    assert loom.print_module(loom.parse(text)) == "func.def @f() {\n  func.return\n}\n"


def test_the_caret_marks_the_whole_token() -> None:
    text = "func.def @f(%x: i32) {\n  %y = scalar.addi %x, %wrong : i32\n  func.return\n}\n"
    shown = render_text(diagnostics_of(text), {"case.loom": text})
    assert shown.split("\n")[1:3] == [
        "    %y = scalar.addi %x, %wrong : i32",
        "                         ^~~~~~",
    ]


def test_operations_know_where_they_stand() -> None:
    text = "func.def @f(%x: i32) {\n  %y = scalar.addi %x,\n      %x : i32\n  func.return\n}\n"
    module = loom.parse(text, "f.loom")
    add = next(op for op in module.walk() if op.name == "scalar.addi")
    assert add.location is not None
    place = add.location
    assert (place.line, place.column, place.end_line, place.end_column) == (2, 3, 3, 15)


def test_types_may_span_lines() -> None:
    text = "func.decl @f(%n: index, %v: view<[%n]x\n    4xf32, #strided<order=\n  column>>)\n"
    assert (
        loom.print_module(loom.parse(text)) == "func.decl @f(%n: index, %v: view<[%n]x4xf32, #strided<order=column>>)\n"
    )


def test_hexadecimal_does_not_reach_into_shapes() -> None:
    text = "func.decl @f(%v: vector<0xf32>, %w: vector<0x0xi8>)\n"
    assert loom.print_module(loom.parse(text)) == text


def test_uses_may_stand_before_definitions_where_blocks_do() -> None:
    text = """func.def @f(%n: index) {
  cfg.br ^first
^second:
  %v = vector.splat %n : vector<[%m]xindex>
  %w = vector.extract %v[0] : vector<[%m]xindex> -> index
  func.return
^first:
  %m = index.add %n, %n : index
  cfg.br ^second
}
"""
    module = loom.parse(text)
    loom.verify(module)
    assert loom.print_module(module) == text


def test_asm_ends_with_its_line() -> None:
    head = "low.func.def target<test.low.core> @f(%a: reg<test.r>, %p: reg<test.r x2>) asm {\n"
    text = head + "  %b = load %a, %p\n  store %a, %b, %p\n  return\n}\n"
    assert loom.print_module(loom.parse(text)) == text
    split = head + "  %b = load %a,\n    %p\n  return\n}\n"
    with pytest.raises(LoomError):
        loom.parse(split)


def test_asm_defaults_that_were_written_stay() -> None:
    head = "low.func.def target<test.low.core> @f(%a: reg<test.r>, %p: reg<test.r x2>) asm {\n"
    text = head + "  %b = load %a, %p {offset = 0}\n  %c = load %a, %p\n  return\n}\n"
    assert loom.print_module(loom.parse(text)) == text


def test_canonical_instructions_may_stand_in_asm_bodies() -> None:
    text = """low.func.def target<test.low.core> @f(%a: reg<test.r>) -> (reg<test.r>) asm {
  %b = low.op<test.hidden>(%a) : (reg<test.r>) -> reg<test.r>
  %c = low.const<test.constant> {value = 4} : reg<test.r>
  return %b
}
"""
    module = loom.parse(text)
    loom.verify(module)
    printed = loom.print_module(module)
    assert printed == text


def test_a_missing_brace_is_one_error_and_the_rest_is_read() -> None:
    text = """func.def @f(%c: i1) {
  scf.if %c {
    scf.schedule.fence
  func.return
}

func.def @g(%c: i1) {
  %x = scalar.nothing %c : i1
  func.return
}
"""
    assert places(text) == [(7, 1, "PARSE/003"), (8, 8, "PARSE/002")]


def test_loop_bounds_may_be_defined_in_a_later_block() -> None:
    text = """func.def @f(%n: index) {
  cfg.br ^first
^second:
  scf.for %i = [%m to %n step %n] {
    %x = index.add %i, %m : index
  }
  func.return
^first:
  %m = index.add %n, %n : index
  cfg.br ^second
}
"""
    module = loom.parse(text)
    loom.verify(module)
    assert loom.print_module(module) == text
    wrong = text.replace("%m = index.add %n, %n : index", "%m = scalar.constant 1 : i32")
    assert places(wrong) == [(4, 17, "PARSE/013")]
