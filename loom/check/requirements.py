"""Requirements of a case: providers that say whether this machine, device and target can run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loom.check.plan import extra_attributes
from loom.ir import Operation


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What providers may ask: the device's name and memory in bytes, the target's processor, subgroup size and sets."""

    device: str
    memory_bytes: int
    processor: str
    subgroup_size: int
    descriptor_sets: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Skip:
    """Why a case is not run."""

    reason_code: str
    provider: str
    message: str
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The skip as plain JSON values."""
        return {"reason_code": self.reason_code, "provider": self.provider, "message": self.message}


Provider = Callable[[Mapping[str, Any], Surroundings], "bool | None"]
"""True: the requirement is met; False: it is not; None: this provider cannot tell here."""


def _target_feature(wanted: Mapping[str, Any], here: Surroundings) -> bool | None:
    """``feature``/``name``: a feature word; ``processor``; ``subgroup_size``. All that are given must hold."""
    known = {"feature", "name", "processor", "subgroup_size"}
    if not wanted or not set(wanted) <= known:
        return None
    met = True
    for key in ("feature", "name"):
        if key in wanted:
            met = met and str(wanted[key]) in here.features
    if "processor" in wanted:
        met = met and str(wanted["processor"]) == here.processor
    if "subgroup_size" in wanted:
        met = met and wanted["subgroup_size"] == here.subgroup_size
    return met


def _device_memory(wanted: Mapping[str, Any], here: Surroundings) -> bool | None:
    """``max_bytes``: bytes that the case needs at most at once."""
    needed = wanted.get("max_bytes", wanted.get("min_bytes"))
    return None if not isinstance(needed, int) else needed <= here.memory_bytes


def _descriptor_set(wanted: Mapping[str, Any], here: Surroundings) -> bool | None:
    """``descriptor_set``: the set that the target's code is written in, or one that it may use."""
    name = wanted.get("descriptor_set")
    return None if not isinstance(name, str) else name in here.descriptor_sets


def _nothing(wanted: Mapping[str, Any], here: Surroundings) -> bool | None:
    return None


PROVIDERS: dict[str, Provider] = {
    "target.feature": _target_feature,
    "device.memory": _device_memory,
    "hal.amdgpu.descriptor_set": _descriptor_set,
    "hal.vulkan.feature": _nothing,
}


def evaluate(requirements: list[Operation], here: Surroundings) -> Skip | None:
    """Evaluate ``check.requires`` and ``check.skip_if`` in source order; the first that stops the case is returned."""
    for op in requirements:
        provider = str(op.attributes["provider"])
        wanted = extra_attributes(op)
        function = PROVIDERS.get(provider)
        if function is None:
            return Skip("provider_not_registered", provider, f"no provider '{provider}' is registered", wanted)
        met = function(wanted, here)
        if met is None:
            return Skip("provider_unavailable", provider, f"provider '{provider}' cannot answer {wanted} here", wanted)
        if op.name == "check.requires" and not met:
            return Skip("requirement_not_satisfied", provider, f"{provider} {wanted} is not satisfied", wanted)
        if op.name == "check.skip_if" and met:
            given = op.attributes.get("reason")
            return Skip(
                "skip_predicate_matched", provider, str(given) if given else f"{provider} {wanted} matches", wanted
            )
    return None


def host_memory_bytes() -> int:
    """Physical memory of this machine."""
    import os

    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
