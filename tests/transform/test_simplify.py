"""Folding, sharing, identities, known control flow, dead code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Body = Callable[..., list[str]]

# (signature, body, what is left), each worked out by hand.
CASES = {
    "constants fold": (
        "() -> (i32)",
        "%a = scalar.constant 6 : i32\n%b = scalar.constant 7 : i32\n%c = scalar.muli %a, %b : i32\nfunc.return %c : i32",
        ["%c = scalar.constant 42 : i32", "func.return %c : i32"],
    ),
    "adding zero": (
        "(%x: i32) -> (i32)",
        "%z = scalar.constant 0 : i32\n%y = scalar.addi %z, %x : i32\nfunc.return %y : i32",
        ["func.return %x : i32"],
    ),
    "equal operations are one, whichever way round": (
        "(%x: i32, %y: i32) -> (i32)",
        "%a = scalar.addi %x, %y : i32\n%b = scalar.addi %y, %x : i32\n%c = scalar.muli %a, %b : i32\nfunc.return %c : i32",
        ["%a = scalar.addi %x, %y : i32", "%c = scalar.muli %a, %a : i32", "func.return %c : i32"],
    ),
    "subtraction is not commutative": (
        "(%x: i32, %y: i32) -> (i32)",
        "%a = scalar.subi %x, %y : i32\n%b = scalar.subi %y, %x : i32\n%c = scalar.muli %a, %b : i32\nfunc.return %c : i32",
        [
            "%a = scalar.subi %x, %y : i32",
            "%b = scalar.subi %y, %x : i32",
            "%c = scalar.muli %a, %b : i32",
            "func.return %c : i32",
        ],
    ),
    "positive and negative zero are two constants": (
        "() -> (f32, f32)",
        "%a = scalar.constant 0.0 : f32\n%b = scalar.constant -0.0 : f32\nfunc.return %a, %b : f32, f32",
        ["%a = scalar.constant 0.0 : f32", "%b = scalar.constant -0.0 : f32", "func.return %a, %b : f32, f32"],
    ),
    "adding positive zero changes negative zero, so it stays": (
        "(%x: f32) -> (f32)",
        "%z = scalar.constant 0.0 : f32\n%y = scalar.addf %x, %z : f32\nfunc.return %y : f32",
        ["%z = scalar.constant 0.0 : f32", "%y = scalar.addf %x, %z : f32", "func.return %y : f32"],
    ),
    "adding negative zero changes nothing": (
        "(%x: f32) -> (f32)",
        "%z = scalar.constant -0.0 : f32\n%y = scalar.addf %x, %z : f32\nfunc.return %y : f32",
        ["func.return %x : f32"],
    ),
    "division by a power of two is exact multiplication": (
        "(%x: f32) -> (f32)",
        "%d = scalar.constant 8.0 : f32\n%y = scalar.divf %x, %d : f32\nfunc.return %y : f32",
        ["%0 = scalar.constant 0.125 : f32", "%y = scalar.mulf %x, %0 : f32", "func.return %y : f32"],
    ),
    "division by three is not": (
        "(%x: f32) -> (f32)",
        "%d = scalar.constant 3.0 : f32\n%y = scalar.divf %x, %d : f32\nfunc.return %y : f32",
        ["%d = scalar.constant 3.0 : f32", "%y = scalar.divf %x, %d : f32", "func.return %y : f32"],
    ),
    "index division by a power of two is a shift": (
        "(%x: index) -> (index)",
        "%d = index.constant 16 : index\n%y = index.div %x, %d : index\nfunc.return %y : index",
        ["%0 = index.constant 4 : index", "%y = index.shrui %x, %0 : index", "func.return %y : index"],
    ),
    "a known condition takes its branch": (
        "(%x: i32) -> (i32)",
        "%c = scalar.constant false : i1\n%r = scf.if %c -> (i32) {\n%a = scalar.addi %x, %x : i32\nscf.yield %a : i32\n}"
        " else {\nscf.yield %x : i32\n}\nfunc.return %r : i32",
        ["func.return %x : i32"],
    ),
    "a loop that runs once is its body": (
        "(%x: i32) -> (i32)",
        "%l = index.constant 5 : index\n%u = index.constant 6 : index\n%s = index.constant 4 : index\n"
        "%r = scf.for %i = [%l to %u step %s](%a = %x : i32) -> (i32) {\n%b = scalar.muli %a, %a : i32\nscf.yield %b : i32\n}\n"
        "func.return %r : i32",
        ["%b = scalar.muli %x, %x : i32", "func.return %b : i32"],
    ),
    "a loop that never runs gives what it starts with": (
        "(%x: i32) -> (i32)",
        "%l = index.constant 5 : index\n%u = index.constant 5 : index\n%s = index.constant 4 : index\n"
        "%r = scf.for %i = [%l to %u step %s](%a = %x : i32) -> (i32) {\n%b = scalar.muli %a, %a : i32\nscf.yield %b : i32\n}\n"
        "func.return %r : i32",
        ["func.return %x : i32"],
    ),
    "an unused chain goes as a whole": (
        "(%x: i32) -> (i32)",
        "%a = scalar.addi %x, %x : i32\n%b = scalar.muli %a, %a : i32\n%c = scalar.subi %b, %a : i32\nfunc.return %x : i32",
        ["func.return %x : i32"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_simplify(name: str, body_after: Body) -> None:
    signature, body, expected = CASES[name]
    assert body_after(signature, body, "simplify") == expected


def test_a_store_is_never_dead_but_an_unused_load_is(transformed: Callable[..., str]) -> None:
    text = transformed(
        """func.def @f(%b: buffer, %x: f32) {
  %o = index.constant 0 : offset
  %v = buffer.view %b[%o] : buffer -> view<4xf32>
  %unused = view.load %v[1] : view<4xf32> -> f32
  view.store %x, %v[0] : f32, view<4xf32>
  func.return
}
""",
        "simplify",
    )
    assert "view.load" not in text
    assert "view.store %x, %v[0]" in text


def test_a_volatile_load_stays(transformed: Callable[..., str]) -> None:
    text = transformed(
        """func.def @f(%b: buffer) {
  %o = index.constant 0 : offset
  %v = buffer.view %b[%o] : buffer -> view<4xf32>
  %unused = view.load<volatile> %v[1] : view<4xf32> -> f32
  func.return
}
""",
        "simplify",
    )
    assert "view.load<volatile>" in text


def test_hoisting_takes_what_does_not_change_and_leaves_what_does(transformed: Callable[..., str]) -> None:
    text = transformed(
        """func.def @f(%n: index, %x: i32) -> (i32) {
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %r = scf.for %i = [%zero to %n step %one](%a = %x : i32) -> (i32) {
    %square = scalar.muli %x, %x : i32
    %b = scalar.addi %a, %square : i32
    scf.yield %b : i32
  }
  func.return %r : i32
}
""",
        "hoist",
    )
    lines = [line.strip() for line in text.split("\n")]
    loop = next(i for i, line in enumerate(lines) if "scf.for" in line)
    assert lines.index("%square = scalar.muli %x, %x : i32") < loop
    assert lines.index("%b = scalar.addi %a, %square : i32") > loop


def test_loads_are_shared_until_something_may_write(transformed: Callable[..., str]) -> None:
    def count(middle: str, arguments: str = "%b: buffer, %c: buffer") -> int:
        text = transformed(
            f"""func.def @f({arguments}) -> (f32) {{
  %o = index.constant 0 : offset
  %p, %q = buffer.assume.noalias %b, %c : buffer, buffer
  %v = buffer.view %p[%o] : buffer -> view<4xf32>
  %w = buffer.view %q[%o] : buffer -> view<4xf32>
  %u = buffer.view %b[%o] : buffer -> view<4xf32>
  %x = view.load %v[1] : view<4xf32> -> f32
  {middle}
  %y = view.load %v[1] : view<4xf32> -> f32
  %s = scalar.mulf %x, %y : f32
  func.return %s : f32
}}
""",
            "share-loads",
        )
        return text.count("view.load %v[1]")

    assert count("") == 1
    assert count("view.store %x, %w[1] : f32, view<4xf32>") == 1  # the other noalias root
    assert count("view.store %x, %u[1] : f32, view<4xf32>") == 2  # may be the same memory
    assert count("view.store %x, %v[2] : f32, view<4xf32>") == 2  # same root, maybe the same element
