"""Scenarios: streams, copies, comparisons against the reference executor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loom.check.entropy import Entropy
from loom.tools.common import run_tool
from loom.tools.iree_test_loom import run
from tests.check.helpers import run_text

FUNCTIONS = """
func.def pure @good(%x: i32) -> (i32) {
  func.return %x : i32
}

func.def pure @wrong(%x: i32) -> (i32) {
  %bit = scalar.constant 1 : i32
  %zero = scalar.constant 0 : i32
  %low = scalar.andi %x, %bit : i32
  %odd = scalar.cmpi ne, %low, %zero : i32
  %plus = scalar.addi %x, %bit : i32
  %y = scf.select %odd, %plus, %x : i32
  func.return %y : i32
}

func.def @add_one(%data: buffer) {
  %origin = index.constant 0 : offset
  %v = buffer.view %data[%origin] : buffer -> view<2xi32>
  %x = view.load %v[0] : view<2xi32> -> i32
  %one = scalar.constant 1 : i32
  %y = scalar.addi %x, %one : i32
  view.store %y, %v[0] : i32, view<2xi32>
  func.return
}

func.def @add_two(%data: buffer) {
  %origin = index.constant 0 : offset
  %v = buffer.view %data[%origin] : buffer -> view<2xi32>
  %x = view.load %v[0] : view<2xi32> -> i32
  %two = scalar.constant 2 : i32
  %y = scalar.addi %x, %two : i32
  view.store %y, %v[0] : i32, view<2xi32>
  func.return
}
"""


def test_trials_draw_the_documented_words() -> None:
    text = (
        FUNCTIONS
        + """
check.scenario @s {
  check.trial[8](%trial: index, %entropy: check.entropy) {
    %w = check.entropy.read %entropy[3] : check.entropy -> i64
    %x = scalar.trunci %w : i64 to i32
    check.compare<@wrong, @good>(%x) : (i32) -> [actual(%a: i32), expected(%b: i32)] {
      check.expect.equal actual(%a) expected(%b) : i32
    }
  }
  check.return
}
"""
    )
    document = run_text(text)
    trials = Entropy.root(0).fork("s").fork("loom.check.trial").at(0).at(0)
    odd = [bool(trials.at(n).read(3) & 1) for n in range(8)]
    assert any(odd) and not all(odd)
    assert [sample["passed"] for sample in document["samples"]] == [not o for o in odd]
    assert [sample["trial_ordinal"] for sample in document["samples"]] == list(range(8))


def test_configurations_repeat_all_trials() -> None:
    text = (
        FUNCTIONS
        + """
check.scenario @s configure[3](%c: index, %e: check.entropy) {
  %bias = check.literal value(5) : i32
  check.trial[2](%trial: index, %own: check.entropy) {
    check.compare<@good>(%bias) : (i32) -> [actual(%a: i32), expected(%b: i32)] {
      check.expect.equal actual(%a) expected(%b) : i32
    }
  }
  check.trial[1](%trial: index, %own: check.entropy) {
    check.invoke<@good>(%bias) : (i32) -> (i32)
  }
  check.return
}
"""
    )
    document = run_text(text)
    assert document["sample_count"] == 9
    places = [(s["configuration"], s["trial"], s["trial_ordinal"]) for s in document["samples"]]
    assert places[:4] == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert [s["sample_ordinal"] for s in document["samples"]] == list(range(9))


def test_both_sides_get_disjoint_copies() -> None:
    text = (
        FUNCTIONS
        + """
check.scenario @s {
  check.trial[1](%trial: index, %entropy: check.entropy) {
    %t = check.generate.fill value(10) : tensor<2xi32>
    check.compare<@add_one, @add_two>(%t) : (tensor<2xi32>) -> () {
      check.expect.equal actual(%t) expected(%t) : tensor<2xi32>
    }
  }
  check.return
}
"""
    )
    (sample,) = run_text(text)["samples"]
    (issue,) = sample["issues"]
    (difference,) = issue["details"]["first_differences"]
    assert (difference["actual"], difference["expected"]) == (11, 12)


def test_misplaced_ops_are_planning_issues() -> None:
    text = (
        FUNCTIONS
        + """
check.scenario @s {
  %t = check.generate.fill value(10) : tensor<2xi32>
  check.trial[1](%trial: index, %entropy: check.entropy) {
    check.invoke<@add_one>(%t) : (tensor<2xi32>) -> ()
  }
  check.return
}
"""
    )
    document = run_text(text)
    assert document["planning_issues"][0]["code"] == "CHECK/001"
    assert document["exit_code"] == 1


def test_a_tensor_that_shares_storage_with_an_argument_is_compared_too() -> None:
    """The oracle adds twice: what the comparison sees through the whole tensor differs where the view was changed."""
    text = (
        FUNCTIONS
        + """
check.scenario @s {
  check.trial[1](%trial: index, %entropy: check.entropy) {
    %t = check.generate.fill value(10) : tensor<4xi32>
    %v = check.tensor.view %t offset(8) : tensor<4xi32> -> tensor<2xi32>
    check.compare<@add_one, @add_two>(%v) : (tensor<2xi32>) -> () {
      check.expect.equal actual(%t) expected(%t) : tensor<4xi32>
    }
  }
  check.return
}
"""
    )
    (sample,) = run_text(text)["samples"]
    (issue,) = sample["issues"]
    found = [(d["index"], d["actual"], d["expected"]) for d in issue["details"]["first_differences"]]
    assert found == [([2], 11, 12)]


@pytest.mark.parametrize("device", ["reference", "amdgpu-sim"])
def test_checks_pass_tensors_for_buffers(device: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Calls, comparisons and invocations through the command, which verifies the module first."""
    text = (
        FUNCTIONS
        + """
check.case @c {
  %t = check.generate.fill value(10) : tensor<2xi32>
  %e = check.generate.iota offset(11) step(-1) : tensor<2xi32>
  func.call @add_one(%t) : (tensor<2xi32>)
  check.expect.equal actual(%t) expected(%e) : tensor<2xi32>
  check.return
}
check.scenario @s {
  check.trial[2](%trial: index, %entropy: check.entropy) {
    %t = check.generate.fill value(10) : tensor<2xi32>
    check.compare<@add_one>(%t) : (tensor<2xi32>) -> () {
      check.expect.equal actual(%t) expected(%t) : tensor<2xi32>
    }
  }
  check.trial[1](%trial: index, %entropy: check.entropy) {
    %t = check.generate.fill value(10) : tensor<2xi32>
    check.invoke<@add_one>(%t) : (tensor<2xi32>) -> ()
  }
  check.return
}
"""
    )
    path = tmp_path / "tensors.loom"
    path.write_text(text)
    assert run_tool(run, [str(path), f"--device={device}"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert [sample["passed"] for sample in document["samples"]] == [True] * 4
    path.write_text(text.replace("tensor<2xi32>", "tensor<0xi32>"))
    assert run_tool(run, [str(path), f"--device={device}"]) == 1
    codes = {i["code"] for s in json.loads(capfd.readouterr().out)["samples"] for i in s["issues"]}
    assert codes == ({"REFERENCE/002"} if device == "reference" else {"FAULT/out_of_bounds"})
