"""What a kernel takes from the hardware, and how many waves that leaves room for: the target's count, under its old name."""

from __future__ import annotations

from loom.target.amdgpu.occupancy import LDS_GRANULE, Occupancy, occupancy

__all__ = ["LDS_GRANULE", "Occupancy", "occupancy"]
