"""Full and partial unrolling: the copies, the remainder, and the order that a schedule asks for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loom.diagnostics import LoomError

Body = Callable[..., list[str]]


def loop(bounds: str, clauses: str) -> str:
    lower, upper, step = bounds.split()
    return f"""%l = index.constant {lower} : index
%u = {upper if upper.startswith("index") else f"index.constant {upper} : index"}
%s = index.constant {step} : index
%f = index.constant 2 : index
%r = scf.for %i = [%l to %u step %s](%a = %x : i32) -> (i32) {clauses} {{
  %k = index.cast %i : index to i32
  %b = scalar.addi %a, %k : i32
  scf.yield %b : i32
}}
func.return %r : i32"""


def test_full_unroll_writes_every_round_with_its_own_position(body_after: Body) -> None:
    # Rounds of [3, 10) by 3: 3, 6, 9; folding leaves one addition each.
    lines = body_after("(%x: i32) -> (i32)", loop("3 10 3", "unroll"), "unroll", "simplify")
    assert [line for line in lines if "addi" in line] == [
        "%b = scalar.addi %x, %k : i32",
        "%b_0 = scalar.addi %b, %k_0 : i32",
        "%b_1 = scalar.addi %b_0, %k_1 : i32",
    ]
    assert [line.split("= ")[1] for line in lines if "scalar.constant" in line] == [
        "scalar.constant 3 : i32",
        "scalar.constant 6 : i32",
        "scalar.constant 9 : i32",
    ]


def test_a_factor_that_does_not_divide_leaves_a_remainder_behind(body_after: Body) -> None:
    # Seven rounds by two: three groups, then one round alone, which folds to its body.
    lines = body_after("(%x: i32) -> (i32)", loop("0 7 1", "unroll(%f)"), "unroll", "simplify")
    text = "\n".join(lines)
    assert text.count("scf.for") == 1
    assert text.count("scalar.addi") == 3
    header = next(line for line in lines if "scf.for" in line)
    assert "step %f" in header
    upper = header.split(" to ")[1].split(" ")[0]
    assert f"{upper} = index.constant 6 : index" in lines


@pytest.mark.parametrize("factor", [0, 1])
def test_factors_zero_and_one_leave_the_loop(factor: int, body_after: Body) -> None:
    body = loop("0 7 1", "unroll(%f)").replace("%f = index.constant 2", f"%f = index.constant {factor}")
    lines = body_after("(%x: i32) -> (i32)", body, "unroll")
    header = next(line for line in lines if "scf.for" in line)
    assert header == "%r = scf.for %i = [%l to %u step %s](%a = %x : i32) -> (i32) {"


def test_an_unprovable_trip_count_is_refused_at_the_loop(body_after: Body) -> None:
    body = loop("0 7 1", "unroll").replace("%u = index.constant 7 : index", "%u = index.add %n, %n : index")
    with pytest.raises(LoomError) as refused:
        body_after("(%x: i32, %n: index) -> (i32)", body, "unroll")
    diagnostic = refused.value.diagnostics[0]
    assert diagnostic.code == "UNROLL/001"
    assert diagnostic.location is not None and diagnostic.location.line == 6


MEMORY_LOOP = """%o = index.constant 0 : offset
%l = index.constant 0 : index
%u = index.constant 2 : index
%s = index.constant 1 : index
%v = buffer.view %p[%o] : buffer -> view<4xf32>
%r = scf.for %i = [%l to %u step %s](%a = %x : f32) -> (f32) unroll SCHEDULE {
  %e = view.load %v[%i] : view<4xf32> -> f32
  %b = scalar.addf %a, %e : f32
  STORE
  scf.yield %b : f32
}
func.return %r : f32"""


def order(body_after: Body, schedule: str, store: str = "") -> list[str]:
    body = MEMORY_LOOP.replace("SCHEDULE", schedule).replace("STORE", store)
    lines = body_after("(%p: buffer, %x: f32) -> (f32)", body, "unroll")
    names = ("view.load", "scalar.addf", "view.store")
    return [name.split(".")[1] for line in lines for name in names if name in line]


def test_schedules_order_the_copies(body_after: Body) -> None:
    assert order(body_after, "") == ["load", "addf", "load", "addf"]
    assert order(body_after, "schedule(linear)") == ["load", "addf", "load", "addf"]
    assert order(body_after, "schedule(interleaved)") == ["load", "load", "addf", "addf"]
    assert order(body_after, "schedule(recurrence)") == ["load", "load", "addf", "addf"]


def test_no_schedule_moves_a_load_over_a_store(body_after: Body) -> None:
    store = "view.store %b, %v[%i] : f32, view<4xf32>"
    expected = ["load", "addf", "store", "load", "addf", "store"]
    assert order(body_after, "schedule(interleaved)", store) == expected
    assert order(body_after, "schedule(recurrence)", store) == expected


def test_a_factor_that_no_program_memory_holds_is_refused(body_after: Body) -> None:
    text = loop("0 1000000 1", "unroll(%f)").replace("%f = index.constant 2", "%f = index.constant 500000")
    with pytest.raises(LoomError) as refused:
        body_after("(%x: i32) -> (i32)", text, "unroll")
    assert refused.value.diagnostics[0].code == "UNROLL/003"


@pytest.mark.parametrize("last", ["load", "store"])
def test_no_schedule_moves_a_store_over_an_earlier_access(last: str, body_after: Body) -> None:
    """Interleaved, the second copy's store would pass the first copy's last access, which may be of the same element."""
    access = {
        "load": "%e = view.load %v[%j] : view<4xf32> -> f32\n  %b = scalar.addf %a, %e : f32",
        "store": "view.store %a, %v[%j] : f32, view<4xf32>\n  %b = scalar.addf %a, %x : f32",
    }[last]
    body = MEMORY_LOOP.replace("SCHEDULE", "schedule(interleaved)").replace("%v[%i]", "%v[%j]")
    body = body.replace("%e = view.load %v[%j] : view<4xf32> -> f32", "view.store %x, %v[%i] : f32, view<4xf32>")
    body = body.replace("%b = scalar.addf %a, %e : f32", access).replace("STORE", "")
    body = body.replace("%s = ", "%j = index.constant 3 : index\n%s = ", 1)
    lines = body_after("(%p: buffer, %x: f32) -> (f32)", body, "unroll")
    accesses = [line for line in lines if "view.load" in line or "view.store" in line]
    assert ["%v[%j]" in line for line in accesses] == [False, True, False, True]


def from_a_lane(first: int, last: int, upper: int, step: int) -> str:
    return f"""%i0 = index.assume %n [range(%n, {first}, {last})] : index
%u = index.constant {upper} : index
%s = index.constant {step} : index
%r = scf.for %i = [%i0 to %u step %s](%a = %x : i32) -> (i32) unroll {{
  %k = index.cast %i : index to i32
  %b = scalar.addi %a, %k : i32
  scf.yield %b : i32
}}
func.return %r : i32"""


@pytest.mark.parametrize(
    ("first", "last", "upper", "step"), [(0, 7, 32, 8), (1, 7, 32, 8), (5, 5, 9, 2), (9, 20, 9, 4)]
)
def test_a_count_that_every_start_agrees_on_is_proven(
    body_after: Body, first: int, last: int, upper: int, step: int
) -> None:
    """A tile that lanes walk from their own row on: the rounds are ``len(range(…))``, whichever row it is."""
    (count,) = {len(range(start, upper, step)) for start in range(first, last + 1)}
    lines = body_after("(%x: i32, %n: index) -> (i32)", from_a_lane(first, last, upper, step), "unroll")
    assert sum("addi" in line for line in lines) == count
    assert not any("scf.for" in line for line in lines)


def test_a_count_that_starts_disagree_on_is_refused(body_after: Body) -> None:
    assert {len(range(start, 32, 8)) for start in (0, 8)} == {3, 4}
    with pytest.raises(LoomError) as caught:
        body_after("(%x: i32, %n: index) -> (i32)", from_a_lane(0, 8, 32, 8), "unroll")
    assert caught.value.diagnostics[0].code == "UNROLL/001"
    assert "index.assume" in (caught.value.diagnostics[0].hint or "")
