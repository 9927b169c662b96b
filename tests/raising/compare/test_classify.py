from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loom.diagnostics import LoomError
from loom.raising.compare.classify import Policy, compare
from loom.raising.compare.evidence import Evidence, load_evidence
from loom.raising.compare.numbers import compare_output
from loom.store.workload import Argument, Workload


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


Make = Callable[..., Evidence]


@pytest.fixture
def evidence(workload: Workload) -> Make:
    def make(
        big: bytes = floats(1, 2, 3, 4),
        odd: bytes = floats(1, 2, 3),
        code: str = "a" * 64,
        instructions: int = 100,
        waits: int = 4,
        read: int = 64,
        vgprs: int = 8,
        identity: str | None = None,
        fault: bool = False,
    ) -> Evidence:
        counts = {
            "instructions": instructions + waits,
            "useful_instructions": instructions,
            "by_class": {"valu": instructions, "wait": waits},
            "bytes_read": {"global.b32": read, "lds.b32": 0},
            "bytes_written": {"global.b32": 16},
        }
        runs: dict[str, Any] = {
            name: {"shape": name, "outcome": "completed", "counts": counts} for name in ("big", "odd")
        }
        outputs = {("big", "y"): big, ("odd", "y"): odd}
        if fault:
            runs["odd"] = {
                "shape": "odd",
                "outcome": "faulted",
                "fault": {"kind": "out_of_bounds", "message": "lane 3"},
            }
            del outputs["odd", "y"]
        resources = {"instructions": code, "vector registers": vgprs, "code": 400, "scratch": 0}
        return Evidence(identity or workload.identity, {}, runs, outputs, resources)

    return make


def test_the_same_bytes_are_identical(workload: Workload, evidence: Make) -> None:
    document = compare(workload, "oracle", evidence(), evidence())
    assert document["class"] == "identical"
    assert document["bytes_equal"] is True and document["numerically_equal"] is True
    assert {row["verdict"] for row in document["compiler"]} == {"equal"}


def test_another_program_with_the_same_results(workload: Workload, evidence: Make) -> None:
    document = compare(workload, "f", evidence(), evidence(code="b" * 64, instructions=90))
    assert document["class"] == "alternative_schedule"
    assert document["bytes_equal"] is False
    row = next(
        row for row in document["compiler"] if row["metric"] == "executed instructions" and row["shape"] == "big"
    )
    assert (row["native"], row["form"], row["verdict"]) == (100, 90, "better")


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ({"instructions": 111}, "scheduling"),
        ({"waits": 5}, "waits"),
        ({"read": 71}, "memory_traffic"),
        ({"vgprs": 17}, "allocation"),
    ],
)
def test_a_worse_metric_is_a_regression_with_its_question(
    workload: Workload, evidence: Make, change: dict[str, int], about: str
) -> None:
    document = compare(workload, "f", evidence(), evidence(code="b" * 64, **change))
    assert document["class"] == "regression"
    assert [question["about"] for question in document["questions"]] == [about]


def test_within_the_tolerance_is_no_regression(workload: Workload, evidence: Make) -> None:
    close = evidence(code="b" * 64, instructions=110, vgprs=16)
    assert compare(workload, "f", evidence(), close)["class"] == "alternative_schedule"
    assert compare(workload, "f", evidence(), close, policy=Policy(1.05))["class"] == "regression"


def test_a_form_is_held_against_the_one_before_it_too(workload: Workload, evidence: Make) -> None:
    native, before, now = evidence(), evidence(code="b" * 64, instructions=50), evidence(code="c" * 64, instructions=80)
    document = compare(workload, "now", native, now, "before", before)
    assert document["class"] == "regression"
    assert "previous" in document["questions"][0]["text"]


def test_a_different_result_is_a_divergence_with_the_first_elements(workload: Workload, evidence: Make) -> None:
    document = compare(workload, "f", evidence(), evidence(code="b" * 64, odd=floats(1, 2.5, 3)))
    assert document["class"] == "semantic_divergence"
    assert document["numerically_equal"] is False
    output = document["shapes"][1]["outputs"]["y"]
    assert output["mismatches"] == 1
    assert output["first"][0]["index"] == [1]
    assert "shape 'odd': 1 of 3 elements of y differ, first at [1]" in document["reason"]


def test_a_divergence_outranks_worse_numbers(workload: Workload, evidence: Make) -> None:
    document = compare(workload, "f", evidence(), evidence(code="b" * 64, big=floats(0, 0, 0, 0), instructions=999))
    assert document["class"] == "semantic_divergence"
    assert document["questions"] == []


def test_a_fault_is_a_divergence(workload: Workload, evidence: Make) -> None:
    document = compare(workload, "f", evidence(), evidence(code="b" * 64, fault=True))
    assert document["class"] == "semantic_divergence"
    assert "out_of_bounds" in document["reason"]


@pytest.mark.parametrize("side", ["native", "form"])
def test_a_shape_that_was_not_run_is_no_verdict(workload: Workload, evidence: Make, side: str) -> None:
    """Neither a pass nor a divergence; but what did run and differs still is one."""
    whole, partial = evidence(), evidence(code="b" * 64)
    del partial.runs["odd"], partial.outputs["odd", "y"]
    pair = (partial, whole) if side == "native" else (whole, partial)
    document = compare(workload, "f", *pair)
    assert document["class"] == "unavailable" and document["numerically_equal"] is None
    assert document["reason"] == "shape 'odd' was not run on both sides"
    pair[1].outputs["big", "y"] = floats(0, 2, 3, 4)
    assert compare(workload, "f", *pair)["class"] == "semantic_divergence"


def test_an_unknown_program_is_not_the_same_bytes(workload: Workload, evidence: Make) -> None:
    unknown = evidence()
    del unknown.resources["instructions"]
    for pair in ((unknown, evidence()), (evidence(), unknown)):
        document = compare(workload, "f", *pair)
        assert document["bytes_equal"] is None and document["class"] == "alternative_schedule"


def test_no_program_is_unavailable(workload: Workload, evidence: Make) -> None:
    document = compare(workload, "f", evidence(), None, rejection="no such op")
    assert document["class"] == "unavailable"
    assert document["reason"] == "no such op"


def test_evidence_of_another_workload_is_refused(workload: Workload, evidence: Make) -> None:
    with pytest.raises(LoomError) as failure:
        compare(workload, "f", evidence(), evidence(identity="0" * 64))
    assert failure.value.diagnostics[0].code == "WORKLOAD/004"


def test_a_simulator_has_no_times(workload: Workload, evidence: Make) -> None:
    physical = compare(workload, "f", evidence(), evidence())["physical"]
    assert physical["status"] == "unavailable" and "no clock" in physical["reason"]


def argument(element: str, count: int) -> Argument:
    return Argument("y", "buffer", element, (count,))


@pytest.mark.parametrize(
    ("policy", "expected", "actual", "equal"),
    [
        ({"policy": "bitwise"}, floats(0.0), floats(-0.0), False),
        ({"policy": "close"}, floats(0.0), floats(-0.0), True),
        ({"policy": "close", "rtol": 1e-6}, floats(1e6), floats(1e6 + 1), True),
        ({"policy": "close", "rtol": 1e-7}, floats(1e6), floats(1e6 + 1), False),
        ({"policy": "close", "atol": 0.5}, floats(1.0), floats(1.5), True),
        ({"policy": "close", "atol": 1e9}, floats(1.0), floats(float("nan")), False),
        ({"policy": "close"}, floats(float("nan")), floats(float("nan")), True),
        ({"policy": "ulp", "ulp": 1}, floats(1.0), floats(1.0 + 2**-23), True),
        ({"policy": "ulp", "ulp": 1}, floats(1.0), floats(1.0 + 2**-22), False),
        ({"policy": "ulp", "ulp": 0}, floats(0.0), floats(-0.0), True),
        ({"policy": "ulp", "ulp": 9}, floats(1.0), floats(float("nan")), False),
    ],
)
def test_policies(policy: dict[str, Any], expected: bytes, actual: bytes, equal: bool) -> None:
    assert compare_output(argument("f32", 1), policy, expected, actual)["equal"] is equal


def test_the_histogram_counts_every_element_once() -> None:
    expected = floats(1, 1, 1, 1, 1)
    actual = floats(1, 1 + 2**-23, 1 + 3 * 2**-23, 2, float("nan"))
    bins = compare_output(argument("f32", 5), {"policy": "close", "atol": 9}, expected, actual)["histogram"]
    counts = {row["ulps"]: row["elements"] for row in bins if row["elements"]}
    # 2 is 2**23 units above 1.
    assert counts == {"0": 1, "1": 1, "≤ 4": 1, "> 64k": 1, "NaN": 1}
    assert sum(row["elements"] for row in bins) == 5


def test_integers_are_compared_exactly() -> None:
    one, two = struct.pack("<2I", 1, 0xFFFFFFFF), struct.pack("<2I", 1, 0xFFFFFFFE)
    assert compare_output(argument("u32", 2), {"policy": "close"}, one, one)["equal"]
    output = compare_output(argument("u32", 2), {"policy": "close"}, one, two)
    assert output["mismatches"] == 1 and output["largest_error"] == 1
    assert output["first"][0]["expected"] == "4294967295"


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoomError) as failure:
        load_evidence(tmp_path)
    assert failure.value.diagnostics[0].code == "COMPARE/001"
