"""Instructions that have several names: every accepted one gives the same module, and one is printed.

Expected names: section 5.7 of the language reference where it lists one, else LLVM's (`llvm-mc -mcpu=gfx1100`).
"""

from __future__ import annotations

import pytest

import loom

PAIR = "low.func.def target<{set}> @f(%a: reg<amdgpu.vgpr>, %p: reg<amdgpu.sgpr x2>, %m: reg<amdgpu.sgpr x2>) asm {{\n"


def _asm(line: str, descriptor_set: str = "amdgpu.rdna3.core") -> loom.Module:
    module = loom.parse(PAIR.format(set=descriptor_set) + f"  {line}\n  return\n}}\n")
    loom.verify(module)
    return module


def _line(module: loom.Module) -> str:
    return loom.print_module(module).split("\n")[1].strip()


@pytest.mark.parametrize(
    ("printed", "names"),
    [
        ("v_sub_nc_u32", ["v_sub_u32", "v_sub_nc_u32"]),
        ("v_add_u32", ["v_add_u32", "v_add_nc_u32"]),
        ("v_cmp_lt_i32", ["v_cmp_lt_i32", "v_cmp_slt_i32"]),
    ],
)
def test_two_operands(printed: str, names: list[str]) -> None:
    modules = [_asm(f"%x = {name} %a, %a") for name in names]
    assert {_line(m) for m in modules} == {f"%x = {printed} %a, %a"}
    assert len({m.semantic_hash() for m in modules}) == 1


@pytest.mark.parametrize(
    ("printed", "spellings"),
    [
        (
            "%x = v_add_u32_lit %a, 70000",
            ["v_add_u32_lit %a, 70000", "v_add_nc_u32_lit %a, 70000", "v_add_u32.lit %a, 70000"],
        ),
        (
            "%x = v_cmp_lt_i32_src1_inline %a {rhs = 3}",
            ["v_cmp_lt_i32_src1_inline %a {rhs = 3}", "v_cmp_slt_i32_src1_inline %a {rhs = 3}"],
        ),
        ("%x = ds_read_b32 %a {offset = 8}", ["ds_read_b32 %a {offset = 8}", "ds_load_b32 %a {offset = 8}"]),
        (
            "%x = global_load_b32_saddr %a, %p",
            ["global_load_b32_saddr %a, %p", "global_load_dword_saddr %a, %p", "global_load_b32.saddr %a, %p"],
        ),
        ("%x = s_load_dword_offset_only %p", ["s_load_dword_offset_only %p", "s_load_b32_offset_only %p"]),
    ],
)
def test_suffixes(printed: str, spellings: list[str]) -> None:
    modules = [_asm(f"%x = {s}") for s in spellings]
    assert {_line(m) for m in modules} == {printed}
    assert len({m.semantic_hash() for m in modules}) == 1


def test_the_older_generation_has_its_own_names() -> None:
    modules = [_asm(f"%x = {name} %a, %a", "amdgpu.cdna3.core") for name in ("v_sub_u32", "v_sub_nc_u32")]
    assert {_line(m) for m in modules} == {"%x = v_sub_u32 %a, %a"}
    assert len({m.semantic_hash() for m in modules}) == 1


def _canonical(key: str, head: str = "", register: str = "reg<amdgpu.vgpr>") -> loom.Module:
    module = loom.parse(
        f"low.func.def {head}target<amdgpu.rdna3.core> @f(%a: {register}) {{\n"
        f"  %x = low.op<{key}>(%a, %a) : ({register}, {register}) -> {register}\n  low.return\n}}\n"
    )
    loom.verify(module)
    return module


def test_keys() -> None:
    """In canonical text the key follows the same rule, and every name means the same."""
    modules = [_canonical(f"amdgpu.{name}") for name in ("v_add_u32", "v_add_nc_u32")]
    assert {_line(m).split("(")[0] for m in modules} == {"%x = low.op<amdgpu.v_add_u32>"}
    assert len({m.semantic_hash() for m in modules}) == 1
    op = next(o for o in modules[0].walk() if o.name == "low.op")
    assert op.attributes["key"] == "amdgpu.v_add_nc_u32"


def test_code_read_from_a_machine_keeps_the_names_of_the_disassembly() -> None:
    modules = [
        _canonical(f"amdgpu.{name}", "allocation(fixed) ", "reg<amdgpu.vgpr @ 1>")
        for name in ("v_add_u32", "v_add_nc_u32")
    ]
    assert {_line(m).split("(")[0] for m in modules} == {"%x = low.op<amdgpu.v_add_nc_u32>"}


def test_dotted_and_underscored_keys_of_a_variant() -> None:
    texts = []
    for key in ("amdgpu.v_add_f32.lit", "amdgpu.v_add_f32_lit"):
        module = loom.parse(
            "low.func.def target<amdgpu.rdna3.core> @f(%a: reg<amdgpu.vgpr>) {\n"
            f"  %x = low.op<{key}>(%a) {{imm32 = 5}} : (reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>\n  low.return\n}}\n"
        )
        loom.verify(module)
        texts.append(loom.print_module(module))
    assert texts[0] == texts[1]
    assert "low.op<amdgpu.v_add_f32.lit>" in texts[0]


def test_a_load_of_the_matrix_generation_goes_to_a_vector_register() -> None:
    """The reference lists one class for its result; accumulators are asked for by the written type."""
    module = _asm("%x = ds_read_b32 %a", "amdgpu.cdna3.core")
    assert str(next(o for o in module.walk() if o.name == "low.op").results[0].type) == "reg<amdgpu.vgpr>"
