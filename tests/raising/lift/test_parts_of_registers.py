"""Results that fill a part of their register, or some lanes only: what the rest held must survive the choice of registers."""

from __future__ import annotations

import numpy as np
import pytest

import loom
from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Completed
from loom.raising.lift import LiftOptions, lift
from loom.target.amdgpu import code_object
from loom.target.amdgpu.assembler import assemble
from loom.target.amdgpu.compile import CompileOptions, compile_module

KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--PROCESSOR"
k:
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  v_cvt_f32_u32 v3, v0
BODY
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[8:9]
  s_endpgm
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  EXTRA
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
- {.name: k, .symbol: k.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
   .private_segment_fixed_size: 0, .wavefront_size: WAVE, .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 64,
   .args: [{.size: 8, .offset: 0, .value_kind: by_value}]}
.end_amdgpu_metadata
"""


def _pairs(first: str, second: str, more: str = "") -> str:
    """Two conversions of ``v3`` and a constant; other registers are written in between."""
    return f"  {first}\n  v_mov_b32 v5, 0x55555555\n{more}  {second}"


#: Processor, lanes, body that ends with its result in ``v4``, and what lanes 0 and 1 hold then. As e4m3, 1.0 is 0x38 and
#: 2.0 is 0x40, on gfx942 0x40 and 0x48; as e5m2, 0x3c and 0x40; as e2m1, 2 and 4.
CASES = {
    "cvt_pk_fp8": (
        "gfx942", 64,
        _pairs("v_cvt_pk_fp8_f32 v4, v3, 1.0", "v_cvt_pk_fp8_f32 v4, 2.0, v3 op_sel:[0,0,1]"),
        (0x00484000, 0x40484040),
    ),
    "cvt_pk_bf8": (
        "gfx950", 64,
        _pairs("v_cvt_pk_bf8_f32 v4, v3, 2.0 op_sel:[0,0,1]", "v_cvt_pk_bf8_f32 v4, 1.0, v3"),
        (0x4000003C, 0x403C3C3C),
    ),
    "cvt_pk_fp8 of gfx12": (
        "gfx1200", 32,
        _pairs("v_cvt_pk_fp8_f32 v4, v3, 1.0", "v_cvt_pk_fp8_f32 v4, 2.0, v3 op_sel:[0,0,1]"),
        (0x00403800, 0x38403838),
    ),
    "cvt_scalef32_pk_fp8": (
        "gfx950", 64,
        _pairs("v_cvt_scalef32_pk_fp8_f32 v4, v3, 1.0, 1.0", "v_cvt_scalef32_pk_fp8_f32 v4, 2.0, v3, 1.0 op_sel:[0,0,0,1]"),
        (0x00403800, 0x38403838),
    ),
    "cvt_scalef32_pk_fp4": (
        "gfx950", 64,
        _pairs("v_mov_b32 v4, 0x11223344", "v_cvt_scalef32_pk_fp4_f32 v4, v3, 2.0, 1.0 op_sel:[0,0,1,1]"),
        (0x40223344, 0x42223344),
    ),
    "ashr_pk_u8": (
        "gfx950", 64,
        _pairs("v_mov_b32 v4, 0x11223344", "v_ashr_pk_u8_i32 v4, v0, 5, 0 op_sel:[0,0,0,1]"),
        (0x05003344, 0x05013344),
    ),
    # Lanes 16 to 31 are absent from the launch, so that nothing replaces the old value.
    "permlanex16": (
        "gfx1100", 16,
        _pairs("v_add_nc_u32 v4, 40, v0", "v_permlanex16_b32 v4, v3, 0, 0"),
        (40, 41),
    ),
}  # fmt: skip


def _kernel(processor: str, body: str) -> str:
    cdna = processor in ("gfx942", "gfx950")
    text = KERNEL.replace("PROCESSOR", processor).replace("BODY", body).replace("WAVE", "64" if cdna else "32")
    text = text.replace("EXTRA", ".amdhsa_accum_offset 8" if cdna else ".amdhsa_wavefront_size32 1")
    if not cdna:
        text = text.replace("s_load_dwordx2", "s_load_b64").replace("global_store_dword", "global_store_b32")
    return text.replace("s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0x0") if processor == "gfx1200" else text


@pytest.mark.parametrize("relax", ["allocation", "schedule"])
@pytest.mark.parametrize("case", CASES)
def test_the_rest_of_a_register_survives(case: str, relax: str) -> None:
    processor, lanes, body, expected = CASES[case]
    native = code_object.write(assemble(_kernel(processor, body), "k.s"))
    module = loom.parse(loom.print_module(lift(native, "k", LiftOptions(relax=relax)).module))
    module.symbol("k").attributes.setdefault("workgroup_size", (lanes, 1, 1))
    again = compile_module(module, CompileOptions(pipeline="none")).code_object
    for code in (native, again):
        device = SimulatorDevice(threads=1)
        buffer = device.allocate(4 * lanes, "out")
        kernarg = buffer.address.to_bytes(8, "little")
        outcome = device.launch(device.load(code), "k", (1,), (lanes,), kernarg, 0)
        assert isinstance(outcome, Completed), outcome
        got = np.frombuffer(device.read(buffer), np.uint32)[:2]
        device.close()
        assert [hex(word) for word in got] == [hex(word) for word in expected]
