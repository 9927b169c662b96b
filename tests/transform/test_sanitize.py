"""Checks compiled into kernels by ``--sanitizer=access``, and asserts."""

from __future__ import annotations

import loom
from loom.transform.passes import PassContext, run_passes
from tests.transform.conftest import TARGET

KERNEL = """kernel.def @k(%n: index) {{
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
}} launch(%n: index, %in: buffer) {{
  %lane = kernel.workitem.id<x> : index
  %o = index.constant 0 : offset
  %v = buffer.view %in[%o] : buffer -> view<[%n]xi32>
  %w = buffer.view %in[%o] : buffer -> view<64xi32>
{body}
  kernel.return
}}
"""


def checked(body: str, sanitizer: frozenset[str] = frozenset({"access"})) -> str:
    module = loom.parse(KERNEL.format(body=body), "test.loom")
    run_passes(module, ("check-accesses", "guard-asserts"), PassContext(target=TARGET, sanitizer=sanitizer))
    loom.verify(module)
    return loom.print_module(module)


def test_an_unproven_access_is_checked_in_front() -> None:
    lines = [line.strip() for line in checked("  %x = view.load %v[%lane] : view<[%n]xi32> -> i32").split("\n")]
    at = next(i for i, line in enumerate(lines) if line.startswith("%x = view.load"))
    # The lane is never negative: only the upper side is left to check.
    assert lines[at - 5] == "%0 = index.cmp sge, %lane, %n : index"
    assert lines[at - 4 : at] == [
        "scf.if %0 {",
        "%1 = scalar.constant false : i1",
        'kernel.assert %1 "view.load leaves its view on axis 0" : i1',
        "}",
    ]


def test_a_proven_access_and_a_kernel_without_the_sanitizer_have_no_check() -> None:
    assert "kernel.assert" not in checked("  %x = view.load %w[%lane] : view<64xi32> -> i32")
    assert "kernel.assert" not in checked("  %x = view.load %v[%lane] : view<[%n]xi32> -> i32", frozenset())


def test_a_guard_is_a_proof() -> None:
    body = """  %inside = index.cmp slt, %lane, %n : index
  scf.if %inside {
    %x = view.load %v[%lane] : view<[%n]xi32> -> i32
  }"""
    assert "kernel.assert" not in checked(body)


def test_a_vector_is_checked_to_its_last_element() -> None:
    text = checked("  %x = vector.load %w[%lane] : view<64xi32> -> vector<4xi32>")
    # The last of four elements from lane 61 on lies outside of 64.
    assert "index.constant 3 : index" in text and "index.constant 64 : index" in text
    assert "vector.load leaves its view on axis 0" in text


def test_asserts_become_guarded_traps() -> None:
    body = """  %c = index.cmp slt, %lane, %n : index
  kernel.assert %c "lane below n" : i1"""
    text = checked(body, frozenset())
    assert text.count("kernel.assert") == 1
    assert 'kernel.assert %2 "lane below n" : i1' in text
    assert "scalar.xori %c" in text
