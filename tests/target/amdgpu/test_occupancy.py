"""Occupancy against the figures that clang 22 prints for the same resources ("; Occupancy:" of its assembly output)."""

import pytest

from loom.target.amdgpu.occupancy import occupancy
from loom.target.amdgpu.processors import processor

CASES = [
    # processor, wave, VGPRs, SGPRs, LDS, work-items, waves per SIMD
    ("gfx1100", 32, 95, 18, 8448, 256, 16),  # sgemm64 -O3
    ("gfx1100", 32, 43, 18, 2176, 256, 16),  # sgemm16 -O3
    ("gfx942", 64, 73, 20, 8448, 256, 6),  # sgemm64 -O3
    ("gfx942", 64, 44, 20, 2176, 256, 8),  # sgemm16 -O3
    ("gfx1201", 32, 95, 14, 8448, 256, 16),  # sgemm64 -O3
]


@pytest.mark.parametrize(("name", "wave", "vgprs", "sgprs", "lds", "items", "waves"), CASES)
def test_agrees_with_clang(name, wave, vgprs, sgprs, lds, items, waves):
    assert occupancy(processor(name), wave, vgprs, sgprs, lds, items).waves == waves


@pytest.mark.parametrize(("vgprs", "waves"), [(96, 16), (97, 12), (120, 12), (121, 10), (192, 8), (193, 7), (256, 5)])
def test_vector_registers_in_steps_of_24(vgprs, waves):
    # 1,536 registers a SIMD lane in wave32, allocated 24 at a time
    found = occupancy(processor("gfx1100"), 32, vgprs, 16, 0, 256)
    assert (found.by_vgpr, found.waves) == (waves, waves)
    assert found.limit == ("slots" if waves == 16 else "vgpr")


def test_local_memory_limits_work_groups():
    # 65,536 bytes in CU mode, one group of 4 waves on 2 SIMDs: 2 waves each; WGP mode has twice the memory and SIMDs
    found = occupancy(processor("gfx1100"), 32, 32, 16, 65536, 128, workgroup_processor_mode=False)
    assert (found.waves, found.limit, found.by_lds) == (2, "lds", 2)
    assert occupancy(processor("gfx1100"), 32, 32, 16, 65536, 128).by_lds == 2
    assert occupancy(processor("gfx942"), 64, 32, 16, 65536, 256).by_lds == 1
