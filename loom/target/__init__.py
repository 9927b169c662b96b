"""The targets, registered by import string so that nothing above this room names one."""

from __future__ import annotations

from loom.ir.targets import register_descriptor_sets, register_selectors
from loom.transform.target import register_target_family


def register_targets() -> None:
    """Register every target family; cheap, since the families themselves are imported when first used."""
    register_target_family("amdgpu", "loom.target.amdgpu.target:resolve_amdgpu_target")
    sets = "loom.target.amdgpu.descriptor_set.sets"
    register_descriptor_sets("amdgpu", f"{sets}:amdgpu_descriptor_set", f"{sets}:SETS")
    register_selectors("amdgpu", "loom.target.amdgpu.target:descriptor_set_name")
