"""The target a module is specialised for, as facts that carry no target's name in code above ``loom/target``.

A family registers a resolver by import string; the resolver turns a selector and the overrides of a target record
(section 3.8 of the language reference) into a :class:`TargetConfiguration`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from loom.diagnostics import Location, error


@dataclass(frozen=True, slots=True)
class TargetConfiguration:
    """Everything target-neutral passes may know of a target.

    ``satisfies`` holds ``family:selector`` names whose code this target may use, itself included (``gfx1151`` may use
    ``gfx11-generic`` code, not the reverse). ``capabilities`` are facts that ``requires [#cap<..>]`` is proven from:
    the key is the capability's name without ``#``, the value its parameter.
    """

    family: str
    selector: str
    processor: str
    descriptor_set: str
    subgroup_size: int
    satisfies: frozenset[str] = field(default_factory=frozenset)
    capabilities: Mapping[str, object] = field(default_factory=dict)
    overrides: Mapping[str, object] = field(default_factory=dict)

    def can_use(self, family: str, selector: str) -> bool:
        """Whether code written for ``family:selector`` may be used by a kernel of this target."""
        return (family, selector) == (self.family, self.selector) or f"{family}:{selector}" in self.satisfies


Resolver = Callable[[str, Mapping[str, object], "Location | None"], TargetConfiguration]

_RESOLVERS: dict[str, str] = {}


def register_target_family(family: str, resolver: str) -> None:
    """Name the resolver of a family as ``module:function``; it is imported when first used."""
    _RESOLVERS[family] = resolver


def resolve_target(
    family: str,
    selector: str,
    overrides: Mapping[str, object] | None = None,
    location: Location | None = None,
) -> TargetConfiguration:
    """Look up a target.

    Raises:
        LoomError: ``TARGET/001`` for an unknown family; the family's own errors for an unknown selector or override.
    """
    name = _RESOLVERS.get(family)
    if name is None:
        known = ", ".join(sorted(_RESOLVERS)) or "none"
        raise error(f"unknown target family '{family}'", "TARGET/001", location, hint=f"known families: {known}")
    module, function = name.split(":")
    resolver = cast(Resolver, getattr(importlib.import_module(module), function))
    return resolver(selector, overrides or {}, location)


def parse_target_selector(text: str) -> tuple[str, str]:
    """Split ``family:selector``.

    A bare selector (an older spelling) belongs to the family that was registered first, so that no target is named
    here.

    Raises:
        LoomError: ``TARGET/002`` when the text is empty or has more than one colon.
    """
    parts = text.split(":")
    if len(parts) == 2 and all(parts):
        return parts[0], parts[1]
    if len(parts) == 1 and text and _RESOLVERS:
        return next(iter(_RESOLVERS)), text
    raise error(f"'{text}' is not a target", "TARGET/002", hint="write family:selector, for example amdgpu:gfx1100")
