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

OTHERS = """
amdgpu.target<gfx1201> @gfx12
low.func.def target<amdgpu.rdna4.core>(@gfx12) @other(%x: reg<amdgpu.sgpr>) -> (reg<amdgpu.sgpr>) asm {
  return %x
}
low.func.def allocation(fixed) target<amdgpu.gfx11.generic.core>(@gfx11) @fixed(%x: reg<amdgpu.sgpr>) -> (reg<amdgpu.sgpr>) asm {
  return %x
}
low.func.def target<amdgpu.gfx11.generic.core>(@gfx11) @bound() -> (reg<amdgpu.sgpr>) asm {
  %x = live_in<amdgpu.workgroup_id.x> : reg<amdgpu.sgpr>
  return %x
}
low.func.def target<amdgpu.gfx11.generic.core>(@gfx11) @address(%x: reg<amdgpu.sgpr x2>) -> (reg<amdgpu.sgpr>) asm {
  %y = slice %x[0] : reg<amdgpu.sgpr x2> -> reg<amdgpu.sgpr>
  return %y
}
"""

STORE = "  view.store %r, %out[0] : i32, view<64xi32>"
VIEW = "  %out = buffer.view %x[%origin] : buffer -> view<64xi32>\n"

#: The case of a code: the op that is refused (its last line), helpers, and what follows.
CASES = {
    "LOWER/001": ('  llvmir.intrinsic "llvm.trap"() : ()', ""),
    "LOWER/002": (
        "  %n = index.constant 64 : offset\n  %p = buffer.alloca<workgroup> align(4) %n : buffer\n"
        "  %z = scalar.constant 0 : i32\n  %c = scalar.cmpi eq, %w, %z : i32\n"
        "  %q = scf.select %c, %x, %p : buffer",
        "",
        "  %v = buffer.view %q[%origin] : buffer -> view<64xi32>\n  view.store %w, %v[0] : i32, view<64xi32>",
    ),
    "LOWER/006": (
        "  %n = index.constant 64 : offset\n  %p = buffer.alloca<workgroup> align(4) %n : buffer\n"
        "  %q = buffer.assume.memory_space<global> %p : buffer",
        "",
        "  %v = buffer.view %q[%origin] : buffer -> view<64xi32>\n  view.store %w, %v[0] : i32, view<64xi32>",
    ),
    "LOWER/022": (
        "  %c = scalar.constant 0 : i32\n  %t = scalar.cmpi eq, %w, %c : i32\n"
        "  %r = kernel.subgroup.vote.ballot %t : i1 -> i32",
        "",
        STORE,
    ),
    "LOWER/030": (
        "  %e = index.constant 8 : index\n  %h = buffer.view %x[%origin] : buffer -> view<16x16xf16>\n"
        "  %z = index.constant 0 : index\n"
        "  %r = vector.fragment.load<lhs> %h[%z, %z] shape [%e, %e] : view<16x16xf16> -> vector<16xf16>",
        "",
        "  %r0 = vector.extract %r[0] : vector<16xf16> -> f16\n  view.store %r0, %h[%z, %z] : f16, view<16x16xf16>",
    ),
    "LOWER/040": (
        "  %n = index.constant 64 : offset\n  %p = buffer.alloca<workgroup> align(4) %n : buffer\n"
        "  %r = low.invoke @address(%p) : (buffer) -> (i32)",
        "HELPER",
        STORE,
    ),
    "LOWER/044": ("  %r = low.invoke @other(%w) : (i32) -> (i32)", "HELPER", STORE),
    "LOWER/046": ("  %r = low.invoke @fixed(%w) : (i32) -> (i32)", "HELPER", STORE),
    "LOWER/048": ("  %r = low.invoke @bound() : () -> (i32)", "HELPER", STORE),
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
    helpers = HELPER + OTHERS if helpers == "HELPER" else helpers
    text = kernel("\n".join([VIEW + body, *user]), "%w: i32, %x: buffer", helpers=helpers)
    with pytest.raises(LoomError) as caught:
        low_text(text, wave=64 if code == "LOWER/022" else 32)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code, diagnostic
    # The op and its place …
    refused = body.strip().split("\n")[-1].strip()
    assert text.split("\n")[diagnostic.location.line - 1].strip() == refused
    name, _, missing = diagnostic.message.partition(": ")
    assert name == refused.split(" = ", 1)[-1].split()[0].split("<")[0]
    # … what is missing, and what works.
    assert len(missing.split()) > 2
    assert diagnostic.hint is not None and len(diagnostic.hint.split()) > 1


def test_hints_say_what_works():
    with pytest.raises(LoomError) as caught:
        low_text(kernel(CASES["LOWER/043"][0], "%w: i32, %x: buffer", helpers=HELPER))
    diagnostic = caught.value.diagnostics[0]
    assert "range(%w, 0, 100)" in diagnostic.message and "assume" in diagnostic.hint


def test_proven_preconditions_are_stated_inside_of_the_helper():
    import loom

    body = "  %b = scalar.assume %w [range(%w, 5, 50)] : i32\n  %r = low.invoke @twice(%b) : (i32) -> (i32)\n" + STORE
    text = low_text(kernel(VIEW + body, "%w: i32, %x: buffer", helpers=HELPER))
    assert "low.assume %w [range(%w, 0, 100)] : reg<amdgpu.sgpr>" in text
    again = loom.parse(text, "low.loom")
    loom.verify(again)
    assert loom.print_module(again) == text


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
