"""Buffer loads whose data goes to LDS: names of their own in Low, with the address in M0 as an operand."""

from __future__ import annotations

import pytest

import loom
from loom.raising.lift import LiftOptions, lift
from loom.target.amdgpu import code_object
from loom.target.amdgpu.assembler import assemble
from loom.target.amdgpu.compile import CompileOptions, compile_module
from loom.target.amdgpu.decoder import decode_program

KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
k:
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_mov_b32 s3, 0
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  buffer_load_dword off, s[8:11], s3 lds
  s_mov_b32 m0, 0x100
  s_nop 0
  buffer_load_dwordx3 v0, s[8:11], s3 offen offset:16 lds
  s_waitcnt vmcnt(0)
  s_endpgm
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
- {.name: k, .symbol: k.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
   .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 64,
   .args: [{.size: 16, .offset: 0, .value_kind: by_value}]}
.end_amdgpu_metadata
"""


READ_BACK = """
  v_lshlrev_b32 v2, 2, v0
  LOAD
  s_waitcnt vmcnt(0)
  ds_read_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[8:9]
  s_endpgm
.amdhsa_kernel k"""


def _compiled(module: loom.Module) -> code_object.CodeObject:
    return code_object.read(compile_module(module, CompileOptions(pipeline="none")).code_object)


def _loads(module: loom.Module) -> list[loom.Operation]:
    return [op for op in module.walk() if "load_lds" in str(op.attributes.get("key", ""))]


def test_the_oracle_names_m0_and_is_the_kernel() -> None:
    native = code_object.write(assemble(KERNEL, "k.s"))
    module = loom.parse(loom.print_module(lift(native, "k").module))
    loom.verify(module)
    loads = _loads(module)
    assert [str(op.attributes["key"]) for op in loads] == [
        "amdgpu.buffer_load_lds_dword",
        "amdgpu.buffer_load_lds_dwordx3",
    ]
    written = [op.results[0] for op in module.walk() if op.results and str(op.results[0].type) == "reg<amdgpu.m0>"]
    assert [op.operands[-1] for op in loads] == written
    assert all(not op.results for op in loads)
    assert _compiled(module).kernel("k").code == code_object.read(native).kernel("k").code


def test_a_freed_schedule_keeps_each_load_behind_its_address() -> None:
    native = code_object.write(assemble(KERNEL, "k.s"))
    module = loom.parse(loom.print_module(lift(native, "k", LiftOptions(relax="schedule")).module))
    code = decode_program(_compiled(module), "k")
    order = [str(i).split()[0] for i in code.instructions() if "m0" in str(i) or str(i).endswith("lds")]
    assert order == ["s_mov_b32", "buffer_load_dword", "s_mov_b32", "buffer_load_dwordx3"]


@pytest.mark.parametrize("relax", ["allocation", "schedule"])
@pytest.mark.parametrize(
    "load",
    ["buffer_load_dword v2, s[8:11], s3 offen lds", "global_load_lds_dword v2, s[8:9]"],
    ids=["buffer", "global"],
)
def test_what_was_loaded_is_waited_for_before_it_is_read(load: str, relax: str) -> None:
    """A wave that reads LDS which its own load fills waits with vmcnt, and never reads before it loads."""
    start = KERNEL.index("  buffer_load_dword off")
    end = KERNEL.index(".amdhsa_kernel k") + len(".amdhsa_kernel k")
    source = KERNEL[:start] + READ_BACK.replace("LOAD", load) + KERNEL[end:]
    native = code_object.write(assemble(source, "k.s"))
    module = loom.parse(loom.print_module(lift(native, "k", LiftOptions(relax=relax)).module))
    code = [str(i) for i in decode_program(_compiled(module), "k").instructions()]
    names = [text.split()[0] for text in code]
    loaded, read = names.index(load.split()[0]), names.index("ds_read_b32")
    assert loaded < read
    assert any(text.startswith("s_waitcnt vmcnt(0)") for text in code[loaded:read]), code
