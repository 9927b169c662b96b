"""What a kernel takes from the hardware, and how many waves that leaves room for.

Occupancy is counted as LLVM counts it: waves a SIMD can hold, limited by vector registers, scalar registers, LDS and
the wave slots of the hardware. It is a bound from static resources, not a measurement.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from loom.target.amdgpu.processors import Processor

LDS_GRANULE = 512
"""Bytes in which LDS is allocated to a work-group (128 dwords, the granule of the descriptor's LDS_SIZE field)."""

_MAX_WAVES = {"gfx9.4": 8, "gfx11": 16, "gfx12": 16}
"""Wave slots of a SIMD (LLVM, AMDGPUBaseInfo: getMaxWavesPerEU)."""

_SGPRS_PER_SIMD = 800
"""Scalar registers of a SIMD on gfx9; later generations give every wave a full set."""

_SGPR_GRANULE = 16
"""Scalar registers are allocated in steps of 16 on gfx9."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Waves per SIMD.

    Attributes:
        waves: What all limits leave.
        limit: The resource that sets it: ``vgpr sgpr lds slots`` (first in this order where several do).
        by_vgpr: What vector registers alone allow.
        by_sgpr: What scalar registers alone allow.
        by_lds: What LDS alone allows; ``None`` where the work-group size is unknown or no LDS is used.
        slots: Wave slots of a SIMD.
        waves_per_workgroup: Waves of one work-group, ``None`` where its size is unknown.
    """

    waves: int
    limit: str
    by_vgpr: int
    by_sgpr: int
    by_lds: int | None
    slots: int
    waves_per_workgroup: int | None

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON values."""
        return asdict(self)


def _round_up(value: int, granule: int) -> int:
    return -(-value // granule) * granule


def occupancy(
    processor: Processor,
    wave_size: int,
    vgprs: int,
    sgprs: int,
    lds_bytes: int,
    workgroup_items: int | None,
    workgroup_processor_mode: bool = True,
) -> Occupancy:
    """Waves per SIMD for a kernel's static resources.

    Args:
        processor: Where it runs.
        wave_size: 32 or 64.
        vgprs: Vector registers a wave uses; on gfx9.4 vector and accumulation registers together.
        sgprs: Scalar registers a wave uses, VCC and the like included.
        lds_bytes: Static plus dynamic LDS of a work-group.
        workgroup_items: Work-items of a work-group, where known.
        workgroup_processor_mode: gfx11 and later: whether a work-group may use both compute units of a WGP.
    """
    slots = _MAX_WAVES[processor.generation]
    granule = processor.vgpr_allocation_granule(wave_size)
    total = processor.total_vgprs
    if processor.generation != "gfx9.4" and wave_size == 64:
        total //= 2
    by_vgpr = min(slots, total // _round_up(max(vgprs, 1), granule))
    by_sgpr = slots
    if processor.generation == "gfx9.4":
        by_sgpr = min(slots, _SGPRS_PER_SIMD // _round_up(max(sgprs, 1), _SGPR_GRANULE))
    waves_per_workgroup = None if workgroup_items is None else -(-workgroup_items // wave_size)
    by_lds = None
    if lds_bytes and waves_per_workgroup is not None:
        shared = processor.generation != "gfx9.4" and workgroup_processor_mode
        pool = processor.lds_bytes * (2 if shared else 1)
        simds = 4 if processor.generation == "gfx9.4" or shared else 2
        groups = pool // _round_up(lds_bytes, LDS_GRANULE)
        by_lds = min(slots, -(-groups * waves_per_workgroup // simds)) if groups else 0
    candidates = [("vgpr", by_vgpr), ("sgpr", by_sgpr), ("lds", slots if by_lds is None else by_lds), ("slots", slots)]
    waves = min(value for _, value in candidates)
    limit = "slots" if waves == slots else next(name for name, value in candidates if value == waves)
    return Occupancy(waves, limit, by_vgpr, by_sgpr, by_lds, slots, waves_per_workgroup)
