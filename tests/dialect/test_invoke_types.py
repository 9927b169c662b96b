"""A helper's parameter that a source value cannot travel in: the error names one that it can, by the language's table."""

from __future__ import annotations

import pytest

import loom
from loom.diagnostics import LoomError


@pytest.mark.parametrize(
    ("source", "wrong", "hint"),
    [
        ("vector<1xi32>", "amdgpu.sgpr", "declare it as reg<amdgpu.vgpr>"),
        ("vector<2xi32>", "amdgpu.vgpr", "declare it as reg<amdgpu.vgpr x2>"),
        ("vector<4xf16>", "amdgpu.vgpr", "declare it as reg<amdgpu.vgpr x2>"),
        ("vector<8xf32>", "amdgpu.vgpr x4", "declare it as reg<amdgpu.vgpr x8>"),
        ("i64", "amdgpu.sgpr", "declare it as reg<amdgpu.vgpr x2> or reg<amdgpu.sgpr x2>"),
        ("f32", "amdgpu.sgpr x2", "declare it as reg<amdgpu.vgpr> or reg<amdgpu.sgpr>"),
        ("buffer", "amdgpu.vgpr x2", "declare it as reg<amdgpu.sgpr x2>"),
        ("vector<3xi8>", "amdgpu.vgpr", "pass scalars, buffers, or vectors that fill whole 32-bit registers"),
    ],
)
def test_a_wrong_register_is_refused_with_the_right_one(source: str, wrong: str, hint: str) -> None:
    text = f"""amdgpu.target<gfx11-generic> @t

low.func.def target<amdgpu.gfx11.generic.core>(@t) @h(%a: reg<{wrong}>) asm {{
  return
}}

func.def @f(%v: {source}) {{
  low.invoke @h(%v) : ({source})
  func.return
}}
"""
    with pytest.raises(LoomError) as caught:
        loom.verify(loom.parse(text, "invoke.loom"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == f"{source} does not travel in reg<{wrong}>"
    assert diagnostic.code == "SYMBOL/004" and diagnostic.hint == hint
    assert diagnostic.location is not None and diagnostic.location.line == 8
