"""Private memory of Low on the interpreter: native kernels that use it against NumPy, and hand-written ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loom.target
from loom.diagnostics import LoomError
from loom.raising.lift import LiftOptions, lift
from loom.reference.execution import Geometry, Interpreter, TargetFacts
from loom.reference.launch import Memory, launch
from loom.text import parse_module
from tests.target.amdgpu.simulator import extra_suite

EXTRA = Path(__file__).resolve().parents[1] / "native" / "extra"

#: Kernels that sort an array in private memory, and that reach LDS, private and global memory by one generic pointer, for
#: every generation and both wave sizes.
CASES = [
    ("gfx1100-w32.O2", "generic_pointer", 32),
    ("gfx1100-w64.O2", "generic_pointer", 64),
    ("gfx1201.O2", "generic_pointer", 32),
    ("gfx942.O2", "generic_pointer", 64),
    ("gfx1100-w32.O2", "scratch_sort", 32),
    ("gfx1100-w64.O2", "scratch_sort", 64),
    ("gfx1201.O2", "scratch_sort", 32),
    ("gfx942.O2", "scratch_sort", 64),
]


@pytest.mark.parametrize(("file", "kernel", "wave"), CASES, ids=lambda value: str(value))
def test_native_kernels_with_private_memory(file: str, kernel: str, wave: int) -> None:
    loom.target.register_targets()
    case = getattr(extra_suite, kernel)(64, np.random.default_rng(5))
    module = lift((EXTRA / f"{file}.hsaco").read_bytes(), kernel, LiftOptions()).module
    op = next(op for op in module.operations if op.name == "low.kernel.def")
    memories: dict[int, Memory] = {}
    arguments: list[Any] = []
    for place, value in enumerate(case.arguments):
        if isinstance(value, np.ndarray):
            data = np.frombuffer(value.tobytes(), np.uint8).copy()
            memories[place] = Memory(data, 0, data.size, f"argument {place}")
        arguments.append(memories.get(place, value if isinstance(value, np.ndarray) else np.array([value])))
    launch(Interpreter(module, target=TargetFacts(wave)), op, [], arguments, geometry(case))
    for place, want in case.expected.items():
        given = case.arguments[place]
        actual = memories[place].data.view(given.dtype).reshape(want.shape)
        if case.tolerance:
            np.testing.assert_allclose(actual, want, rtol=case.tolerance)
        else:
            np.testing.assert_array_equal(actual, want)


def geometry(case: Any) -> Geometry:
    groups, block = (*case.groups, 1, 1)[:3], (*case.size, 1, 1)[:3]
    return Geometry(groups, block)


LOW = """amdgpu.target<gfx11-generic> @t {subgroup_size = 32}

low.kernel.def target<amdgpu.gfx11.generic.core>(@t) workgroup_size(32, 1, 1) @k() asm {
  %lane = live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %out = resource<hal_binding> {index = 0, source_type = hal.buffer, extent = 128} : reg<amdgpu.sgpr x2>
  %first = storage {byte_alignment = 4, byte_length = 8} : low.storage<private>
  %second = storage {byte_alignment = 16, byte_length = 16} : low.storage<scratch>
  %a = storage_address %first : low.storage<private> -> reg<amdgpu.vgpr>
  %b = storage_address %second {offset = 4} : low.storage<scratch> -> reg<amdgpu.vgpr>
  %seven = v_mov_b32 7
  scratch_store_b32_vaddr %a, %lane
  scratch_store_b32_vaddr %b, %seven
  %x = scratch_load_b32_vaddr %a
  %y = scratch_load_b32_vaddr %b
  %sum = v_add_u32 %x, %y
  %at = v_lshlrev_b32_src0_inline %lane, 2
  global_store_b32_saddr %at, %sum, %out
  return
}
"""


def run_low(text: str) -> np.ndarray:
    loom.target.register_targets()
    module = parse_module(text, "low.loom")
    op = module.symbol("k")
    assert op is not None
    data = np.zeros(128, np.uint8)
    launch(Interpreter(module), op, [], [Memory(data, 0, 128, "out")])
    return data.view(np.int32)


def test_private_and_scratch_storage_lie_side_by_side() -> None:
    """Eight bytes, then sixteen aligned to sixteen: a lane's two words do not meet, nor do two lanes'."""
    assert run_low(LOW).tolist() == [lane + 7 for lane in range(32)]


def test_beyond_the_private_memory() -> None:
    text = LOW.replace("{offset = 4}", "{offset = 16}")
    with pytest.raises(LoomError) as failure:
        run_low(text)
    (diagnostic,) = failure.value.diagnostics
    assert (diagnostic.code, failure.value.exit_code) == ("REFERENCE/002", 1)
    assert "4 bytes at scratch offset 0x20 are outside the 32 bytes of private memory (lane 0)" in diagnostic.message
    assert diagnostic.location is not None and diagnostic.location.line == 12


def test_a_callee_has_storage_of_its_own() -> None:
    helper = """
low.func.def target<amdgpu.gfx11.generic.core>(@t) @clobber(%v: reg<amdgpu.vgpr>) -> (reg<amdgpu.vgpr>) asm {
  %s = storage {byte_alignment = 4, byte_length = 4} : low.storage<private>
  %at = storage_address %s : low.storage<private> -> reg<amdgpu.vgpr>
  scratch_store_b32_vaddr %at, %v
  %r = scratch_load_b32_vaddr %at
  return %r
}
"""
    call = "  %seven2 = low.func.call @clobber(%seven) : (reg<amdgpu.vgpr>) -> (reg<amdgpu.vgpr>)\n"
    text = LOW.replace("  %x = scratch", call + "  %x = scratch") + helper
    assert run_low(text).tolist() == [lane + 7 for lane in range(32)]
