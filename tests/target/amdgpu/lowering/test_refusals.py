"""What cannot be compiled is refused with the op's place, a stable code and a way out."""

from __future__ import annotations

import pytest

from loom.diagnostics import LoomError

from .harness import kernel, low_text

HELPER = """
amdgpu.target<gfx11-generic> @gfx11
low.func.def target<amdgpu.gfx11.generic.core>(@gfx11) @twice(%x: reg<amdgpu.sgpr>) -> (reg<amdgpu.sgpr>) where [range(%x, 0, 100)] asm {
  %y = s_add_u32 %x, %x
  return %y
}
low.func.def target<amdgpu.gfx11.generic.core>(@gfx11) @wide(%x: reg<amdgpu.vgpr x2>) -> (reg<amdgpu.vgpr x2>) asm {
  return %x
}
"""

STORE = "  view.store %r, %out[0] : i32, view<64xi32>"
VIEW = "  %out = buffer.view %x[%origin] : buffer -> view<64xi32>\n"

CASES = {
    "LOWER/003": (
        "  %n = index.cast %w : i32 to index\n  %o = index.cast %n : index to offset\n  %p = buffer.alloca<private> align(4) %o : buffer",
        "",
    ),
    "LOWER/005": ("  %n = index.constant 70000 : offset\n  %p = buffer.alloca<workgroup> align(4) %n : buffer", ""),
    "LOWER/007": (
        "  %n = buffer.length %x",
        "",
        "  %nw = index.cast %n : offset to i32\n  view.store %nw, %out[0] : i32, view<64xi32>",
    ),
    "LOWER/020": ("  %r = kernel.subgroup.reduce<addi> %w {cluster_size = 12} : i32", "", STORE),
    "LOWER/021": ("  %r, %v = kernel.subgroup.shuffle<xor> %w, %w, %w : i32, i32, i32", "", STORE),
    "LOWER/041": ("  %r = low.invoke @wide(%w) : (i32) -> (i32)", HELPER),
    "LOWER/042": ("  %d = index.cast %item : index to i32\n  %r = low.invoke @twice(%d) : (i32) -> (i32)", HELPER),
    "LOWER/043": ("  %r = low.invoke @twice(%w) : (i32) -> (i32)", HELPER),
}


@pytest.mark.parametrize("code", sorted(CASES))
def test_refusals_name_the_op_and_its_place(code):
    body, helpers, *user = CASES[code]
    text = kernel("\n".join([VIEW + body, *user]), "%w: i32, %x: buffer", helpers=helpers)
    with pytest.raises(LoomError) as caught:
        low_text(text)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == code, diagnostic
    line = diagnostic.location.line
    assert text.split("\n")[line - 1].strip() == body.strip().split("\n")[-1].strip()


def test_hints_say_what_works():
    with pytest.raises(LoomError) as caught:
        low_text(kernel(CASES["LOWER/043"][0], "%w: i32, %x: buffer", helpers=HELPER))
    diagnostic = caught.value.diagnostics[0]
    assert "range(%w, 0, 100)" in diagnostic.message and "assume" in diagnostic.hint


def test_workgroup_sizes_must_be_known():
    text = """
kernel.def @k(%n: index) {
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%n, %one, %one) : index
} launch(%x: buffer) {
  kernel.return
}
"""
    with pytest.raises(LoomError) as caught:
        low_text(text)
    assert caught.value.diagnostics[0].code == "LOWER/010"
