"""Canonical text: spacing, names, numbers, blank lines, labels."""

from __future__ import annotations

import pytest

import loom
from loom.ir import I32, Builder
from loom.ir.attributes import format_float, format_string
from loom.text.printer import print_operation


def canonical(text: str) -> str:
    module = loom.parse(text)
    loom.verify(module)
    return loom.print_module(module)


def test_spacing_is_canonical() -> None:
    text = """
func.def   public   @f(%x:i32,%v : view<4 x f32 , align( 16 )>, %i:index)->(  i32,f32 )where[ min(%x,0) ]{
%y=scalar.addi< nsw | nuw >%x ,%x:i32
%z = view.load %v [ %i ]{cache_temporal=bypass,cache_scope=cu}:view<4xf32,align(16)>->f32
func.return %y,%z:i32,f32}
"""
    assert canonical(text) == (
        "func.def public @f(%x: i32, %v: view<4xf32, align(16)>, %i: index) -> (i32, f32) where [min(%x, 0)] {\n"
        "  %y = scalar.addi<nuw|nsw> %x, %x : i32\n"
        "  %z = view.load %v[%i] {cache_scope = cu, cache_temporal = bypass} : view<4xf32, align(16)> -> f32\n"
        "  func.return %y, %z : i32, f32\n"
        "}\n"
    )


def test_numbers_are_given_anew_and_names_are_kept() -> None:
    text = """func.def @f(%7: i32, %name: i32) -> (i32) {
  %9 = scalar.addi %7, %name : i32
  %3 = scalar.addi %9, %9 : i32
  func.return %3 : i32
}
"""
    assert (
        canonical(text)
        == """func.def @f(%0: i32, %name: i32) -> (i32) {
  %1 = scalar.addi %0, %name : i32
  %2 = scalar.addi %1, %1 : i32
  func.return %2 : i32
}
"""
    )


def test_names_that_collide_get_a_suffix() -> None:
    module = loom.parse("func.def @f(%x: i32, %c: i1) {\n  scf.if %c {\n  }\n  func.return\n}\n")
    body = module.symbol("f").body()  # type: ignore[union-attr]
    condition = body.first
    assert condition is not None
    Builder.before(condition).constant(1, I32, "x")
    Builder.at_start(condition.body()).constant(2, I32, "x")
    Builder.after(condition).constant(3, I32, "x")
    text = loom.print_module(module)
    assert [line.split()[0] for line in text.split("\n") if "constant" in line] == ["%x_0", "%x_1", "%x_1"]
    loom.verify(loom.parse(text))


def test_sibling_regions_share_names() -> None:
    text = """func.def @f(%c: i1) {
  scf.if %c {
    %a = scalar.constant 1 : i32
  } else {
    %a = scalar.constant 2 : i32
  }
  func.return
}
"""
    assert canonical(text) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"), (0.0001, "0.0001"), (1e20, "1e+20"), (0.1, "0.10000000000000001"), (-0.0, "-0.0"), (1 / 3, "0.33333333333333331"),
        (float("inf"), "inf"), (float("-inf"), "-inf"), (float("nan"), "nan"), (5e-324, "4.9406564584124654e-324"), (123456789.0, "123456789.0"),
    ],
)  # fmt: skip
def test_floats_print_with_seventeen_digits(value: float, text: str) -> None:
    assert format_float(value) == text


def test_strings_are_escaped_as_json() -> None:
    assert format_string('a"b\\c\n\t\x01é') == '"a\\"b\\\\c\\n\\t\\u0001é"'
    text = 'func.decl import("a\\"\\u0041\\ud83d\\ude00\\/b") @f()\n'
    assert canonical(text) == 'func.decl import("a\\"A😀/b") @f()\n'


def test_integers_print_in_decimal() -> None:
    assert "constant 255 : i32" in canonical("func.def @f() {\n  %x = scalar.constant 0xff : i32\n  func.return\n}\n")


def test_blank_lines_are_kept_as_one() -> None:
    text = """


func.decl @a()
func.decl @b()



func.decl @c()
func.def @f(%x: i32) {

  %y = scalar.negi %x : i32



  %z = scalar.negi %x : i32
  func.return

}
func.decl @d()
"""
    assert (
        canonical(text)
        == """func.decl @a()
func.decl @b()

func.decl @c()

func.def @f(%x: i32) {
  %y = scalar.negi %x : i32

  %z = scalar.negi %x : i32
  func.return
}

func.decl @d()
"""
    )


def test_labels_stand_one_level_out() -> None:
    text = """func.def @f(%c: i1) {
  cfg.cond_br %c, ^a, ^b
^a:
  cfg.br ^b
^b:
  func.return
}
"""
    assert canonical(text) == text
    entry = text.replace("{\n", "{\n^start:\n", 1)
    assert canonical(entry) == entry


def test_blocks_without_labels_get_some() -> None:
    module = loom.parse("func.def @f() {\n  func.return\n}\n")
    function = module.symbol("f")
    assert function is not None
    ender = function.body().last
    assert ender is not None
    for _ in range(2):
        block = function.regions[0].add_block()
        Builder.at_end(block).create("func.return")
    ender.erase()
    Builder.at_end(function.body()).create("cfg.br", [], successors=[function.regions[0].blocks[2]])
    text = loom.print_module(module)
    assert "cfg.br ^bb2\n^bb1:" in text
    assert loom.print_module(loom.parse(text)) == text


def test_one_operation_prints_with_its_function_s_names() -> None:
    module = loom.parse("func.def @f(%x: i32) {\n  %y = scalar.negi %x : i32\n  func.return\n}\n")
    op = module.symbol("f").body().first  # type: ignore[union-attr]
    assert op is not None
    assert print_operation(op) == "%y = scalar.negi %x : i32"


def test_the_mode_of_an_ordering_scope_survives() -> None:
    text = """low.func.def target<test.low.core> @f() {
  low.schedule.begin {mode = locked}
  low.schedule.begin {mode = phased}
  low.schedule.end
  low.schedule.end
  low.return
}
"""
    # Phased is what a scope is where it says nothing.
    assert canonical(text) == text.replace(" {mode = phased}", "")
