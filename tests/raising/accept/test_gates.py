from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loom import parse
from loom.diagnostics import LoomError
from loom.raising.accept.gates import accept
from loom.raising.accept.source import low_uses, missing_checks
from loom.store.workload import Workload

SOURCE = """
func.def pure @f(%a: i32) -> (i32) {
  func.return %a : i32
}

check.case public @c {
  %a = check.param.choice values([1, 2]) name("a") : i32
  %b = func.call @f(%a) : (i32) -> (i32)
  check.expect.equal actual(%b) expected(%a) : i32
  check.return
}

check.benchmark<@c> @b {a = 1}
check.benchmark<@c> @t {a = 2}
"""
TEST = {"schema": "loom.test.v0", "failed_sample_count": 0, "sample_count": 2, "planning_issue_count": 0}


def comparison(workload: Workload, **changes: Any) -> dict[str, Any]:
    row = {
        "metric": "executed instructions",
        "unit": "instructions",
        "shape": "big",
        "previous": None,
        "verdict": "worse",
    }
    output = {"y": {"equal": True}}
    return {
        "identity": workload.identity,
        "class": "alternative_schedule",
        "reason": "another program with the same results",
        "numerically_equal": True,
        "shapes": [{"name": "big", "outputs": output}, {"name": "odd", "outputs": output}],
        "compiler": [{**row, "native": 100, "form": 105}],
        "physical": {"status": "unavailable", "reason": "no clock"},
        "questions": [],
        **changes,
    }


def gates(document: dict[str, Any]) -> tuple[str, str, str]:
    found = document["gates"]
    return found["numerical"]["status"], found["compiler"]["status"], found["physical"]["status"]


def test_a_good_form_is_accepted(workload: Workload) -> None:
    document = accept(workload, "f", parse(SOURCE, "x"), comparison(workload), TEST)
    assert document["accepted"] is True
    assert gates(document) == ("passed", "passed", "unavailable")
    assert "1.05 times" in document["gates"]["compiler"]["reason"]
    assert [row["status"] for row in document["shapes"]] == ["passed", "passed"]
    assert document["executed"] == [{"shape": "big", "native": 100, "form": 105}]


@pytest.mark.parametrize(
    ("changes", "test", "expected"),
    [
        (
            {"numerically_equal": False, "class": "semantic_divergence", "reason": "y differs"},
            TEST,
            ("failed", "passed"),
        ),
        ({"class": "regression", "questions": [{"text": "Why?"}]}, TEST, ("passed", "failed")),
        ({"class": "unavailable", "numerically_equal": None, "compiler": [], "shapes": []}, TEST, ("failed", "failed")),
        ({}, {**TEST, "failed_sample_count": 1}, ("failed", "passed")),
        ({}, {**TEST, "sample_count": 0}, ("failed", "passed")),
        ({}, {**TEST, "planning_issue_count": 1}, ("failed", "passed")),
        ({}, None, ("unavailable", "passed")),
        ({"compiler": []}, TEST, ("passed", "unavailable")),
    ],
)
def test_what_stands_in_the_way(
    workload: Workload, changes: dict[str, Any], test: dict[str, Any] | None, expected: tuple[str, str]
) -> None:
    document = accept(workload, "f", parse(SOURCE, "x"), comparison(workload, **changes), test)
    assert document["accepted"] is False
    assert gates(document)[:2] == expected


def test_times_decide_where_there_are_any(workload: Workload) -> None:
    for form_ns, status, accepted in ((104.0, "passed", True), (106.0, "failed", False)):
        physical = {"status": "measured", "reason": "", "native_ns": 100.0, "form_ns": form_ns}
        document = accept(workload, "f", parse(SOURCE, "x"), comparison(workload, physical=physical), TEST)
        assert gates(document)[2] == status and document["accepted"] is accepted


def test_spills_are_a_failure(workload: Workload) -> None:
    row = {
        "metric": "scratch",
        "unit": "bytes",
        "shape": None,
        "native": 0,
        "previous": None,
        "form": 16,
        "verdict": "worse",
    }
    good = comparison(workload)
    document = accept(workload, "f", parse(SOURCE, "x"), {**good, "compiler": [*good["compiler"], row]}, TEST)
    assert gates(document)[1] == "failed" and "16 bytes of scratch" in document["gates"]["compiler"]["reason"]


def test_a_shape_without_a_count_on_one_side_says_nothing(workload: Workload) -> None:
    row = comparison(workload)["compiler"][0]
    half = {**row, "shape": "odd", "native": None}
    document = accept(workload, "f", parse(SOURCE, "x"), comparison(workload, compiler=[row, half]), TEST)
    assert "at most 1.05 times" in document["gates"]["compiler"]["reason"]
    document = accept(workload, "f", parse(SOURCE, "x"), comparison(workload, compiler=[half]), TEST)
    assert gates(document)[1] == "unavailable"


def test_low_in_the_source_is_a_rung(workload: Workload) -> None:
    """The first use is named with its line; further ones are counted."""
    helper = "\nlow.func.def target(@t) @h%d() {\n  low.return\n}\n"
    line = SOURCE.count("\n") + 2
    for helpers, more in ((1, 1), (2, 3)):
        module = parse(SOURCE + "".join(helper % n for n in range(helpers)), "x")
        document = accept(workload, "f", module, comparison(workload), TEST)
        assert gates(document)[1] == "failed"
        reason = document["gates"]["compiler"]["reason"]
        assert f"low.func.def (line {line}: is target code) and {more} more: a rung" in reason


def test_every_shape_needs_its_case_and_benchmark(workload: Workload) -> None:
    source = SOURCE.replace("check.benchmark<@c> @t {a = 2}\n", "")
    assert missing_checks(parse(source, "x"), workload.shapes) == ["shape 'odd' has no benchmark @t"]
    document = accept(workload, "f", parse(source, "x"), comparison(workload), TEST)
    assert gates(document)[0] == "failed"
    assert [row["status"] for row in document["shapes"]] == ["passed", "failed"]


def test_a_case_is_no_benchmark(workload: Workload) -> None:
    assert missing_checks(parse(SOURCE.replace("@t {", "@tt {"), "x"), workload.shapes) == [
        "shape 'odd' has no benchmark @t"
    ]


def test_low_code_is_a_rung_and_no_source(workload: Workload, repository: Path) -> None:
    text = (repository / "workloads/pkswap/raised/invoked.loom").read_text()
    uses = low_uses(parse(text, "invoked.loom"))
    assert {use.operation for use in uses} >= {"low.func.def", "low.invoke"}
    document = accept(workload, "f", parse(text, "invoked.loom"), comparison(workload), TEST)
    assert gates(document)[1] == "failed"
    assert "a rung, not source" in document["gates"]["compiler"]["reason"]
    for path in sorted((repository / "workloads").glob("*/raised/*.loom")):
        if path.stem != "invoked":
            assert low_uses(parse(path.read_text(), str(path))) == [], path


def test_no_form_yet(workload: Workload) -> None:
    document = accept(workload, None, None, None, None)
    assert document["accepted"] is False
    assert gates(document) == ("unavailable", "unavailable", "unavailable")


def test_evidence_of_another_workload_is_refused(workload: Workload) -> None:
    with pytest.raises(LoomError):
        accept(workload, "f", parse(SOURCE, "x"), comparison(workload, identity="0" * 64), TEST)
