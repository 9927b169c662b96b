"""Matrix fragments on both wave sizes, dot products, and helpers on registers."""

from __future__ import annotations

import numpy as np
import pytest

from .harness import kernel, low_text, run


def product(element: str, accumulator: str, wave: int, layout: str = "", columns: str = "") -> str:
    count = (8 if wave == 32 else 4) * (2 if accumulator in ("f16", "bf16") else 1)
    zero = "0" if accumulator == "i32" else "0.0"
    lhs = "vector<4xi32>" if element == "i8" else f"vector<16x{element}>"
    schema = (
        "  %s = encoding.define #matrix_operand<element_format=i8, payload_elements=16, payload_registers=4> : encoding<schema>\n"
        if element == "i8"
        else ""
    )
    using = " using {schema = %s : encoding<schema>}" if element == "i8" else ""
    return kernel(
        f"""{schema}{layout}
  %sixteen = index.constant 16 : index
  %av = buffer.view %a[%origin] : buffer -> view<16x16x{element}>
  %bv = buffer.view %b[%origin] : buffer -> view<16x16x{element}{columns}>
  %dv = buffer.view %d[%origin] : buffer -> view<16x16x{accumulator}>
  %z = vector.constant {zero} : vector<{count}x{accumulator}>
  %c = vector.fragment<init> %z shape [%sixteen, %sixteen] : vector<{count}x{accumulator}>
  %x = vector.fragment.load<lhs> %av[0, 0] shape [%sixteen, %sixteen]{using} : view<16x16x{element}> -> {lhs}
  %y = vector.fragment.load<rhs> %bv[0, 0] shape [%sixteen, %sixteen]{using} : view<16x16x{element}{columns}> -> {lhs}
  %r = vector.mma %x, %y, %c : {lhs}, {lhs}, vector<{count}x{accumulator}>
  vector.fragment.store<result> %r, %dv[0, 0] shape [%sixteen, %sixteen] : vector<{count}x{accumulator}>, view<16x16x{accumulator}>""",
        "%a: buffer, %b: buffer, %d: buffer",
        size=(wave, 1, 1),
    )


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize(("element", "accumulator"), [("f16", "f32"), ("f16", "f16"), ("i8", "i32")])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_of_tiles(element, accumulator, transposed, wave):
    layout = "  %l = encoding.layout.strided [1, 16] : encoding<layout>\n" if transposed else ""
    text = product(element, accumulator, wave, layout, ", %l" if transposed else "")
    rng = np.random.default_rng(1)
    dtype = {"f16": np.float16, "i8": np.int8}[element]
    out = {"f32": np.float32, "f16": np.float16, "i32": np.int32}[accumulator]
    a, b = rng.integers(-8, 8, (16, 16)).astype(dtype), rng.integers(-8, 8, (16, 16)).astype(dtype)
    (_, _, d), _ = run(text, a, b.T.copy() if transposed else b, np.zeros((16, 16), out), wave=wave, size=(wave, 1, 1))
    assert np.array_equal(d, (a.astype(np.int64) @ b.astype(np.int64)).astype(out))


def test_contiguous_fragments_load_wide():
    low = low_text(product("f16", "f32", 32, "  %l = encoding.layout.strided [1, 16] : encoding<layout>\n", ", %l"))
    assert low.count("global_load_b128") == 4 and low.count("v_wmma_f32_16x16x16_f16") == 1


@pytest.mark.parametrize("signs", ["s8s8", "u8s8", "s8u8", "u8u8"])
def test_byte_dot_products(signs):
    text = kernel(
        f"""
  %n = index.constant 8 : index
  %at = index.mul %item, %n : index
  %av = buffer.view %a[%origin] : buffer -> view<512xi8>
  %bv = buffer.view %b[%origin] : buffer -> view<512xi8>
  %ov = buffer.view %o[%origin] : buffer -> view<64x2xi32>
  %x = vector.load %av[%at] : view<512xi8> -> vector<8xi8>
  %y = vector.load %bv[%at] : view<512xi8> -> vector<8xi8>
  %c = vector.constant 7 : vector<2xi32>
  %r = vector.dot4i<{signs}> %x, %y, %c : vector<8xi8>, vector<8xi8>, vector<2xi32>
  vector.store %r, %ov[%item, 0] : vector<2xi32>, view<64x2xi32>""",
        "%a: buffer, %b: buffer, %o: buffer",
    )
    assert low_text(text).count("v_dot4_") == 2
    rng = np.random.default_rng(2)
    a, b = rng.integers(-128, 128, (2, 64, 2, 4)).astype(np.int8)
    (_, _, o), _ = run(text, a, b, np.zeros((64, 2), np.int32))
    left = a.astype(np.int64) if signs.startswith("s8") else a.view(np.uint8).astype(np.int64)
    right = b.astype(np.int64) if signs.endswith("s8") else b.view(np.uint8).astype(np.int64)
    assert np.array_equal(o, (left * right).sum(-1) + 7)


HELPERS = """
amdgpu.target<gfx11-generic> @gfx11
low.func.def schedule(locked) target<amdgpu.gfx11.generic.core>(@gfx11) @mixed(%x: reg<amdgpu.vgpr>, %s: reg<amdgpu.sgpr>) -> (reg<amdgpu.vgpr>) where [range(%s, 1, 31)] asm {
  %a = v_add_u32 %s, %x
  %b = v_xor_b32 %a, %x
  %c = v_add_u32 %s, %b
  return %c
}
low.func.def target<amdgpu.gfx11.generic.core>(@gfx11) @blocks(%x: reg<amdgpu.vgpr>, %n: reg<amdgpu.sgpr>) -> (reg<amdgpu.vgpr>) asm {
  %zero = s_mov_b32 0
  low.br ^head(%x: reg<amdgpu.vgpr>, %zero: reg<amdgpu.sgpr>)
^head(%v: reg<amdgpu.vgpr>, %k: reg<amdgpu.sgpr>):
  %w = v_add_u32 %v, %v
  %next = s_add_u32_rhs_inline %k, 1
  %more = s_cmp_lt_i32 %next, %n
  low.cond_br %more, ^again, ^done : reg<amdgpu.scc>
^again:
  low.br ^head(%w: reg<amdgpu.vgpr>, %next: reg<amdgpu.sgpr>)
^done:
  return %w
}
"""


@pytest.mark.parametrize("wave", [32, 64])
def test_helpers_on_registers(wave):
    text = kernel(
        """
  %a = buffer.view %x[%origin] : buffer -> view<64xi32>
  %v = view.load %a[%item] : view<64xi32> -> i32
  %s = scalar.assume %n [range(%n, 1, 31)] : i32
  %m = low.invoke @mixed(%v, %s) : (i32, i32) -> (i32)
  %three = scalar.constant 3 : i32
  %r = low.invoke @blocks(%m, %three) : (i32, i32) -> (i32)
  view.store %r, %a[%item] : i32, view<64xi32>""",
        "%x: buffer, %n: i32",
        helpers=HELPERS,
    )
    x = np.arange(64, dtype=np.int32) * 7
    (y,), _ = run(text, x, np.int32(9), wave=wave)
    assert np.array_equal(y, (((x + 9) ^ x) + 9) * 8)


def test_locked_helpers_keep_their_order():
    text = kernel(
        """
  %a = buffer.view %x[%origin] : buffer -> view<64xi32>
  %v = view.load %a[%item] : view<64xi32> -> i32
  %five = scalar.constant 5 : i32
  %m = low.invoke @mixed(%v, %five) : (i32, i32) -> (i32)
  view.store %m, %a[%item] : i32, view<64xi32>""",
        "%x: buffer",
        helpers=HELPERS,
    )
    low = low_text(text)
    inside = low[low.index("low.schedule.begin") : low.index("low.schedule.end")]
    assert [line.split("amdgpu.")[1].split(">")[0] for line in inside.split("\n") if "low.op" in line] == [
        "v_add_u32",
        "v_xor_b32",
        "v_add_u32",
    ]
