"""Barriers in branches that provably part the workitems that have to meet there."""

from __future__ import annotations

import pytest

import loom
from loom.diagnostics import LoomError
from loom.transform.passes import PassContext, run_passes
from tests.transform.conftest import TARGET


def kernel(body: str, size: tuple[int, int, int] = (64, 1, 1)) -> str:
    return f"""kernel.def @k() {{
  %one = index.constant 1 : index
  %sx = index.constant {size[0]} : index
  %sy = index.constant {size[1]} : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%sx, %sy, %one) : index
}} launch(%n: index, %flag: i1, %b: buffer) {{
  %x = kernel.workitem.id<x> : index
  %y = kernel.workitem.id<y> : index
  %lane = kernel.subgroup.lane.id : index
  %wave = kernel.subgroup.id : index
  %all = kernel.workitem.dispatch.id<x> : index
  %zero = index.constant 0 : index
  %c1 = index.constant 1 : index
  %c2 = index.constant 2 : index
  %c32 = index.constant 32 : index
  %c63 = index.constant 63 : index
  %c64 = index.constant 64 : index
{body}
  kernel.return
}}
"""


BARRIER = "kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)"
WAVE_BARRIER = "kernel.barrier<workgroup> scope(subgroup) ordering(acq_rel)"


def guarded(condition: str, meeting: str = BARRIER) -> str:
    return f"{condition}\n  scf.if %c {{\n    {meeting}\n  }}"


PARTED = {
    "half of a workgroup": (guarded("  %c = index.cmp slt, %x, %c32 : index"), "(0, 0, 0) and (32, 0, 0)"),
    "one workitem": (guarded("  %c = index.cmp eq, %x, %zero : index"), "(0, 0, 0) and (1, 0, 0)"),
    "all but the last": (guarded("  %c = index.cmp ult, %x, %c63 : index"), "(0, 0, 0) and (63, 0, 0)"),
    "every second, by bits": (
        guarded("  %r = index.andi %x, %c1 : index\n  %c = index.cmp eq, %r, %zero : index"),
        "(0, 0, 0) and (1, 0, 0)",
    ),
    "by the number in the dispatch": (guarded("  %c = index.cmp sge, %all, %c2 : index"), "(0, 0, 0) and (2, 0, 0)"),
    "waves": (guarded("  %c = index.cmp eq, %wave, %zero : index"), "(0, 0, 0) and (32, 0, 0)"),
    "lanes meet in a subgroup": (
        guarded("  %c = index.cmp eq, %lane, %zero : index", WAVE_BARRIER),
        "(0, 0, 0) and (1, 0, 0)",
    ),
    "a reduction": (
        guarded("  %c = index.cmp slt, %x, %c32 : index\n  %v = scalar.constant 1 : i32",
                "%s = kernel.workgroup.reduce<addi> %v : i32"),
        "(0, 0, 0) and (32, 0, 0)",
    ),
    "through an integer": (
        guarded("  %w = index.cast %x : index to i32\n  %k = scalar.constant 7 : i32\n"
                "  %c = scalar.cmpi ult, %w, %k : i32"),
        "(0, 0, 0) and (7, 0, 0)",
    ),
    "rounds of a loop": (f"  scf.for %i = [%x to %c64 step %c32] {{\n    {BARRIER}\n  }}", "(0, 0, 0) and (32, 0, 0)"),
    "an outer branch": (
        "  %c = index.cmp slt, %x, %c32 : index\n  scf.if %c {\n    scf.if %flag {\n"
        f"      {BARRIER}\n    }}\n  }}",
        "(0, 0, 0) and (32, 0, 0)",
    ),
    "the cases of a switch": (
        f"  %s = index.andi %x, %c1 : index\n  scf.switch %s {{\n    case 0 {{\n      {BARRIER}\n    }}\n"
        "    default {\n    }\n  }",
        "(0, 0, 0) and (1, 0, 0)",
    ),
}  # fmt: skip

TOGETHER = {
    "no branch": f"  {BARRIER}",
    "an argument": guarded("  %c = index.cmp slt, %zero, %n : index"),
    "the guard of a tail": guarded("  %c = index.cmp slt, %all, %n : index"),
    "always true": guarded("  %c = index.cmp slt, %x, %c64 : index"),
    "never true": guarded("  %c = index.cmp sgt, %x, %c63 : index"),
    "a flag": f"  scf.if %flag {{\n    {BARRIER}\n  }}",
    "a wave of its own": guarded("  %c = index.cmp eq, %wave, %zero : index", WAVE_BARRIER),
    "loaded values": "  %o = index.constant 0 : offset\n  %v = buffer.view %b[%o] : buffer -> view<64xi1>\n"
    + guarded("  %c = view.load %v[%x] : view<64xi1> -> i1"),
    "equal rounds": f"  scf.for %i = [%zero to %c64 step %c2] {{\n    {BARRIER}\n  }}",
    "a round of the loop": f"  scf.for %i = [%zero to %c64 step %c2] {{\n"
    f"    %c = index.cmp eq, %i, %c2 : index\n    scf.if %c {{\n      {BARRIER}\n    }}\n  }}",
    "a subgroup collective": guarded(
        "  %c = index.cmp slt, %x, %c32 : index\n  %v = scalar.constant 1 : i32",
        "%s = kernel.subgroup.reduce<addi> %v : i32",
    ),
    "behind an exit": "  %c = index.cmp sge, %x, %c32 : index\n  kernel.exit %c : i1\n  " + BARRIER,
}


def check(text: str) -> None:
    module = loom.parse(text, "k.loom")
    loom.verify(module)
    run_passes(module, ["check-reach"], PassContext(target=TARGET))


@pytest.mark.parametrize("name", PARTED)
def test_what_workitem_ids_decide_is_refused(name: str) -> None:
    body, pair = PARTED[name]
    text = kernel(body)
    with pytest.raises(LoomError) as caught:
        check(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "UNIFORM/001"
    assert f"workitems {pair} go different ways" in diagnostic.message
    assert diagnostic.location is not None
    line = text.split("\n")[diagnostic.location.line - 1]
    assert "kernel.barrier" in line or "kernel.workgroup.reduce" in line
    assert diagnostic.hint is not None and "move it out of the branch" in diagnostic.hint


@pytest.mark.parametrize("name", TOGETHER)
def test_what_may_be_uniform_is_taken(name: str) -> None:
    check(kernel(TOGETHER[name]))


def test_rows_of_a_flat_workgroup_are_counted_x_first() -> None:
    # 16 x 4: a wave of 32 holds two rows, so y < 2 parts the workgroup but no wave.
    condition = "  %c = index.cmp slt, %y, %c2 : index"
    with pytest.raises(LoomError) as caught:
        check(kernel(guarded(condition), (16, 4, 1)))
    assert "workitems (0, 0, 0) and (0, 2, 0)" in caught.value.diagnostics[0].message
    check(kernel(guarded(condition, WAVE_BARRIER), (16, 4, 1)))


def test_the_default_pipeline_checks() -> None:
    from loom.target.amdgpu.compile import compile_module

    with pytest.raises(LoomError) as caught:
        compile_module(loom.parse(kernel(PARTED["one workitem"][0]), "k.loom"))
    assert caught.value.diagnostics[0].code == "UNIFORM/001"
