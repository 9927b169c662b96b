from __future__ import annotations

import pytest

from loom import parse, print_module
from loom.diagnostics import LoomError
from loom.raising.reduce.minimize import count_operations, keep_root, minimize

SOURCE = """
kernel.def export("k") @k(%count: index) {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%count: index, %source: buffer, %target: buffer) {
  %lane = kernel.workitem.id<x> : index
  %origin = index.constant 0 : offset
  %in = buffer.view %source[%origin] : buffer -> view<[%count]xf32>
  %out = buffer.view %target[%origin] : buffer -> view<[%count]xf32>
  %live = index.cmp ult, %lane, %count : index
  scf.if %live {
    %a = view.load %in[%lane] : view<[%count]xf32> -> f32
    %b = scalar.mulf %a, %a : f32
    %c = scalar.addf %b, %a : f32
    %d = scalar.subf %c, %b : f32
    view.store %d, %out[%lane] : f32, view<[%count]xf32>
  }
  kernel.return
}

func.def pure @unused(%a: i32) -> (i32) {
  func.return %a : i32
}

check.case public @k_case {
  %count = check.literal value(3) : index
  %source = check.generate.fill value(1.0) : tensor<3xf32>
  %target = check.generate.fill value(0.0) : tensor<3xf32>
  kernel.launch @k[%count](%count, %source, %target) : [index](index, tensor<3xf32>, tensor<3xf32>)
  check.expect.equal actual(%target) expected(%source) : tensor<3xf32>
  check.return
}
"""


def names(text: str) -> list[str]:
    return [op.name for op in parse(text, "x").walk()]


def test_what_is_not_needed_is_taken_away() -> None:
    found = minimize(SOURCE, lambda text: "scalar.mulf" in text and "kernel.def" in text)
    assert found.before == count_operations(SOURCE)
    assert found.after == count_operations(found.text) < found.before / 2
    left = names(found.text)
    assert "scalar.mulf" in left
    for gone in ("scalar.addf", "scalar.subf", "view.store", "func.def", "check.case"):
        assert gone not in left
    assert print_module(parse(found.text, "x")) == found.text


def test_every_candidate_can_be_read() -> None:
    def interesting(text: str) -> bool:
        parse(text, "candidate")
        return "view.store" in text

    found = minimize(SOURCE, interesting)
    assert "view.store" in names(found.text)
    assert "scalar.mulf" not in names(found.text)


def test_the_budget_is_kept() -> None:
    tried = 0

    def interesting(text: str) -> bool:
        nonlocal tried
        tried += 1
        return "scalar.subf" in text

    found = minimize(SOURCE, interesting, budget=5)
    assert found.tried == 5 and tried == 6
    assert "scalar.subf" in found.text


def test_a_module_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(LoomError):
        minimize("kernel.def", lambda _: True)


def test_checks_go_before_reduction() -> None:
    module = parse(SOURCE, "x")
    keep_root(module, "@k")
    assert [op.name for op in module.operations] == ["kernel.def", "func.def"]
    with pytest.raises(ValueError, match="no '@other'"):
        keep_root(module, "@other")
