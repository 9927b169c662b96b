"""``kernel.exit``: who leaves early does no more, the rest goes on; where it cannot be compiled it is refused."""

from __future__ import annotations

import numpy as np
import pytest

import loom
from loom.diagnostics import LoomError
from loom.ir.facts import FactAnalysis
from loom.transform.bounds import accessed_view, unproven_sides
from loom.transform.pipeline import PipelineOptions, run_default_pipeline
from loom.transform.target import resolve_target

from .harness import kernel, low_text, run

VIEW = "  %out = buffer.view %x[%origin] : buffer -> view<64xi32>\n"


@pytest.mark.parametrize("wave", [32, 64])
def test_the_rest_of_the_workgroup_still_meets(wave):
    # Workitems from %n on leave; the others still exchange through workgroup memory behind a barrier.
    body = (
        VIEW
        + """
  %bytes = index.constant 256 : offset
  %shared = buffer.alloca<workgroup> align(16) %bytes : buffer
  %s = buffer.view %shared[%origin] : buffer -> view<64xi32>
  %limit = index.cast %n : i32 to index
  %gone = index.cmp sge, %item, %limit : index
  kernel.exit %gone : i1
  %w = index.cast %item : index to i32
  view.store %w, %s[%item] : i32, view<64xi32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %c1 = index.constant 1 : index
  %last = index.sub %limit, %c1 : index
  %mirror = index.sub %last, %item : index
  %v = view.load %s[%mirror] : view<64xi32> -> i32
  view.store %v, %out[%item] : i32, view<64xi32>"""
    )
    for n in (1, 20, 32, 40, 64):
        (out,), _ = run(kernel(body, "%n: i32, %x: buffer"), np.full(64, -1, np.int32), np.int32(n), wave=wave)
        expected = [n - 1 - k if k < n else -1 for k in range(64)]
        assert out.tolist() == expected


def test_a_guard_proves_accesses():
    # Behind the exit the index is below the extent, so nothing is left to check.
    body = """
  %limit = index.cast %n : i32 to index
  %view = buffer.view %x[%origin] : buffer -> view<[%limit]xi32>
  %gone = index.cmp sge, %item, %limit : index
  kernel.exit %gone : i1
  view.store %n, %view[%item] : i32, view<[%limit]xi32>"""
    module = loom.parse(kernel(body, "%n: i32, %x: buffer"))
    found = run_default_pipeline(module, PipelineOptions(target=resolve_target("amdgpu", "gfx1100"))).module
    analysis = FactAnalysis()
    accesses = [op for symbol in found.operations for op in symbol.walk() if accessed_view(op) is not None]
    assert len(accesses) == 1
    assert list(unproven_sides(accesses[0], analysis)) == []


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("  scf.for %i = [%zero to %c8 step %c1] {\n    kernel.exit %flag : i1\n  }", "scf.for"),
        (
            "  %r = scf.if %flag -> (index) {\n    kernel.exit %flag : i1\n    scf.yield %c1 : index\n  } else {\n"
            "    scf.yield %c8 : index\n  }\n  %w = index.cast %r : index to i32\n"
            "  view.store %w, %out[0] : i32, view<64xi32>",
            "a branch that yields values",
        ),
    ],
)
def test_what_cannot_be_left_is_refused(body, word):
    constants = "".join(f"  %{n} = index.constant {v} : index\n" for n, v in (("zero", 0), ("c1", 1), ("c8", 8)))
    text = kernel(VIEW + constants + body, "%flag: i1, %x: buffer")
    with pytest.raises(LoomError) as caught:
        low_text(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "EXIT/001" and word in diagnostic.message
    assert "kernel.exit" in text.split("\n")[diagnostic.location.line - 1]
