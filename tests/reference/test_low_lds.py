"""LDS of Low on the interpreter: bounds, and waves that meet without a barrier."""

from __future__ import annotations

import numpy as np
import pytest

import loom.target
from loom.diagnostics import Diagnostic, LoomError
from loom.reference.execution import Interpreter
from loom.reference.launch import Memory, launch
from loom.text import parse_module

LANES = 128

#: Every workitem stores its number, then reads that of the workitem whose number differs in bit MASK.
KERNEL = """amdgpu.target<gfx11-generic> @t {{subgroup_size = {wave}}}

low.kernel.def target<amdgpu.gfx11.generic.core>(@t) workgroup_size(128, 1, 1) @k() asm {{
  %lane = live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %out = resource<hal_binding> {{index = 0, source_type = hal.buffer, extent = 512}} : reg<amdgpu.sgpr x2>
  %tile = storage {{byte_alignment = 16, byte_length = {bytes}}} : low.storage<workgroup>
  %base = storage_address %tile : low.storage<workgroup> -> reg<amdgpu.vgpr>
  %at = v_lshlrev_b32_src0_inline %lane, 2
  %mine = v_add_u32 %base, %at
{store}
{barrier}
  %bit = v_mov_b32 {mask}
  %theirs = v_xor_b32 %mine, %bit
  %x = ds_read_b32 %theirs
  global_store_b32_saddr %at, %x, %out
  return
}}
"""
STORE = "  ds_write_b32 %mine, %lane"
#: Seven to every element: whoever comes first or last, memory holds the same.
SAME = "  %seven = v_mov_b32 7\n  %first = v_mov_b32 0\n  ds_write_b32 %first, %seven"
BARRIER = "  s_barrier"


def run(wave: int = 32, mask: int = 0, store: str = STORE, barrier: str = "", size: int = 4 * LANES) -> np.ndarray:
    loom.target.register_targets()
    text = KERNEL.format(wave=wave, mask=4 * mask, store=store, barrier=barrier, bytes=size)
    module = parse_module(text, "low.loom")
    kernel = module.symbol("k")
    assert kernel is not None
    data = np.zeros(4 * LANES, np.uint8)
    launch(Interpreter(module), kernel, [], [Memory(data, 0, data.size, "out")])
    return data.view(np.int32)


def failure(**settings: object) -> Diagnostic:
    with pytest.raises(LoomError) as caught:
        run(**settings)  # type: ignore[arg-type]
    assert caught.value.exit_code == 1
    return caught.value.diagnostics[0]


@pytest.mark.parametrize(("wave", "mask"), [(32, 32), (32, 64), (64, 64)])
def test_waves_that_meet_need_a_barrier(wave: int, mask: int) -> None:
    diagnostic = failure(wave=wave, mask=mask)
    assert diagnostic.code == "REFERENCE/003"
    # Wave 0 has read what this wave, the first one behind it that meets it, now writes.
    meets = mask // wave
    assert f"wave {meets} writes LDS (byte {4 * mask}, lane 0) that another wave has read" in diagnostic.message
    assert diagnostic.location is not None and diagnostic.location.line == 10
    assert run(wave, mask, barrier=BARRIER).tolist() == [lane ^ mask for lane in range(LANES)]


@pytest.mark.parametrize(("wave", "mask"), [(32, 1), (32, 16), (64, 32)])
def test_lanes_of_one_wave_need_none(wave: int, mask: int) -> None:
    assert run(wave, mask).tolist() == [lane ^ mask for lane in range(LANES)]


def test_equal_values_from_several_waves_are_no_race() -> None:
    """All waves write the same word; the barrier orders the reads, here of element 0 by workitem 0."""
    assert run(store=SAME, barrier=BARRIER)[0] == 7
    assert failure(store=SAME.replace("%seven = v_mov_b32 7", "%seven = v_mov_b32_copy %lane")).code == "REFERENCE/003"


def test_beyond_the_reserved_lds() -> None:
    diagnostic = failure(size=256)
    assert diagnostic.code == "REFERENCE/002"
    assert "4 bytes at LDS address 0x100 are outside the workgroup's 256 bytes (lane 0)" in diagnostic.message
    assert diagnostic.location is not None and diagnostic.location.line == 10
