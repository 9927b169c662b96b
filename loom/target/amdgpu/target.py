"""AMDGPU target selectors: which processor, descriptor set and wave size a selector stands for."""

from __future__ import annotations

from collections.abc import Mapping

from loom.diagnostics import Location, error
from loom.transform.target import TargetConfiguration

# selector → (processor assumed for code generation, descriptor set, default wave size, generic target to borrow from).
# Wave sizes: AMDGPUUsage, "Processors" (wavefront size defaults to 64 on GFX9, 32 on GFX10 and newer).
_SELECTORS: dict[str, tuple[str, str, int, str | None]] = {
    "gfx942": ("gfx942", "amdgpu.cdna3.core", 64, "gfx9-4-generic"),
    "gfx950": ("gfx950", "amdgpu.cdna4.core", 64, "gfx9-4-generic"),
    "gfx9-4-generic": ("gfx9-4-generic", "amdgpu.cdna3.core", 64, None),
    "gfx1100": ("gfx1100", "amdgpu.rdna3.core", 32, "gfx11-generic"),
    "gfx1101": ("gfx1101", "amdgpu.rdna3.core", 32, "gfx11-generic"),
    "gfx1102": ("gfx1102", "amdgpu.rdna3.core", 32, "gfx11-generic"),
    "gfx1103": ("gfx1103", "amdgpu.rdna3.core", 32, "gfx11-generic"),
    "gfx1150": ("gfx1150", "amdgpu.rdna3_5.core", 32, "gfx11-generic"),
    "gfx1151": ("gfx1151", "amdgpu.rdna3_5.core", 32, "gfx11-generic"),
    "gfx11-generic": ("gfx11-generic", "amdgpu.gfx11.generic.core", 32, None),
    "gfx1200": ("gfx1200", "amdgpu.rdna4.core", 32, "gfx12-generic"),
    "gfx1201": ("gfx1201", "amdgpu.rdna4.core", 32, "gfx12-generic"),
    "gfx12-generic": ("gfx12-generic", "amdgpu.rdna4.core", 32, None),
}


def descriptor_set_name(selector: str) -> str | None:
    """The descriptor set of a target record's selector, None for an unknown one."""
    known = _SELECTORS.get(selector)
    return known[1] if known is not None else None


def resolve_amdgpu_target(
    selector: str, overrides: Mapping[str, object], location: Location | None
) -> TargetConfiguration:
    """Resolve a selector (a processor or a generic target) with the overrides of a target record.

    Raises:
        LoomError: ``TARGET/003`` for an unknown selector or processor, ``TARGET/004`` for a wave size it does not have.
    """
    known = ", ".join(sorted(_SELECTORS))
    if selector not in _SELECTORS:
        raise error(f"unknown AMDGPU target '{selector}'", "TARGET/003", location, hint=f"known: {known}")
    processor, descriptor_set, wave_size, generic = _SELECTORS[selector]
    chosen = overrides.get("processor", processor)
    if chosen not in _SELECTORS:
        raise error(f"unknown AMDGPU processor '{chosen}'", "TARGET/003", location, hint=f"known: {known}")
    size = overrides.get("subgroup_size", wave_size)
    allowed = (64,) if wave_size == 64 else (32, 64)
    if size not in allowed:
        raise error(
            f"{selector} has no wave of {size} lanes",
            "TARGET/004",
            location,
            hint=f"subgroup_size is one of {', '.join(map(str, allowed))}",
        )
    satisfies = {f"amdgpu:{name}" for name in (selector, str(chosen), generic, _SELECTORS[str(chosen)][3]) if name}
    return TargetConfiguration(
        family="amdgpu",
        selector=selector,
        processor=str(chosen),
        descriptor_set=descriptor_set,
        subgroup_size=int(str(size)),
        satisfies=frozenset(satisfies),
        capabilities={"target.subgroup.size": int(str(size))},
        overrides=dict(overrides),
    )
