"""The registry of devices: names to device factories, imported only when a device is opened.

A factory is named by an import string, so that listing devices costs nothing and nothing here names a target's
internals.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from loom.device.protocol import Device
from loom.diagnostics import ExitCode, error


@dataclass(frozen=True, slots=True)
class DeviceEntry:
    """A device name: ``factory`` is ``module:callable`` returning a :class:`Device`; ``probe`` tells whether it
    exists here.
    """

    name: str
    factory: str
    summary: str
    probe: str | None = None


#: A name that stands for the first available of others: the fallbacks in order of preference.
ALIASES: dict[str, tuple[str, ...]] = {"amdgpu": ("amdgpu-hip", "amdgpu-sim")}

_ENTRIES: dict[str, DeviceEntry] = {}


def register_device(entry: DeviceEntry) -> None:
    """Add or replace a device name."""
    _ENTRIES[entry.name] = entry


register_device(
    DeviceEntry("amdgpu-sim", "loom.device.amdgpu_sim:open_simulator", "functional simulator of AMDGPU machine code")
)
register_device(
    DeviceEntry(
        "amdgpu-hip",
        "loom.device.amdgpu_hip:open_hip",
        "AMD GPU through the HIP runtime",
        "loom.device.amdgpu_hip:hip_is_present",
    )
)


def device_names() -> list[str]:
    """All names that :func:`open_device` takes, aliases included, sorted."""
    return sorted([*_ENTRIES, *ALIASES])


def is_available(name: str) -> bool:
    """Whether the concrete device ``name`` is registered and present on this machine."""
    entry = _ENTRIES.get(name)
    if entry is None:
        return False
    return entry.probe is None or bool(_import(entry.probe)())


def check_name(name: str, *further: str) -> None:
    """Refuse a name that no device has.

    Raises :class:`loom.diagnostics.LoomError` (exit code 3). ``further`` are names that the caller knows besides those
    of the registry, for the hint.
    """
    known = sorted([*device_names(), *further])
    if name not in known:
        raise error(
            f"unknown device '{name}'",
            "DEVICE/001",
            hint=f"known devices: {', '.join(known)}",
            exit_code=ExitCode.UNAVAILABLE,
        )


def resolve_device(name: str) -> str:
    """The concrete device that ``name`` means on this machine.

    Raises :class:`loom.diagnostics.LoomError` (exit code 3) when the name is unknown or nothing it stands for is
    present.
    """
    candidates = ALIASES.get(name, (name,))
    for candidate in candidates:
        if is_available(candidate):
            return candidate
    check_name(name)
    raise error(f"device '{name}' is not present on this machine", "DEVICE/002", exit_code=ExitCode.UNAVAILABLE)


def open_device(name: str, on_fallback: Callable[[str], None] | None = None, **options: Any) -> Device:
    """Open a device by name. ``options`` go to the device's factory (the simulator takes ``threads``, ``budget``,
    ``sanitizers``).

    An alias such as ``amdgpu`` opens the first device that is present; ``on_fallback`` then receives one line that
    says which, for stderr.
    """
    concrete = resolve_device(name)
    if concrete != name and on_fallback is not None:
        preferred = ALIASES[name][0]
        reason = "" if concrete == preferred else f" ({preferred} is not present)"
        on_fallback(f"device '{name}' is {concrete}{reason}")
    return cast(Device, _import(_ENTRIES[concrete].factory)(**options))


def _import(path: str) -> Callable[..., Any]:
    module, _, attribute = path.partition(":")
    return cast(Callable[..., Any], getattr(importlib.import_module(module), attribute))
