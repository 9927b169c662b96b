"""The ABI of a kernel that was not laid out here: what ``abi_layout`` of a lifted kernel says (docs/lift.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loom.diagnostics import Location, error
from loom.target.amdgpu.abi import KERNARG_ALIGNMENT, KernargEntry, KernargLayout

DESCRIPTOR_FIELDS = (
    "compute_pgm_rsrc1",
    "compute_pgm_rsrc2",
    "compute_pgm_rsrc3",
    "group_segment_fixed_size",
    "kernarg_preload",
    "kernarg_size",
    "kernel_code_properties",
    "private_segment_fixed_size",
)
"""Fields of the kernel descriptor that a lifted kernel keeps (LLVM, AMDGPUUsage, "Kernel Descriptor")."""


def _layout(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    layout = attributes.get("abi_layout")
    return layout if isinstance(layout, dict) else {}


def foreign_kernarg(attributes: Mapping[str, Any], location: Location | None = None) -> KernargLayout | None:
    """The kernarg layout that a kernel op states, ``None`` where it states none.

    Raises:
        LoomError: ``BACKEND/060`` for an argument without offset, size or kind.
    """
    layout = _layout(attributes)
    arguments = layout.get("arguments")
    if not isinstance(arguments, dict):
        return None
    entries = []
    for key, argument in arguments.items():
        try:
            entries.append(
                KernargEntry(
                    int(argument["offset"]), int(argument["size"]), str(argument["kind"]), str(argument.get("name", ""))
                )
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise error(
                f"abi_layout: argument '{key}' needs offset, size and kind",
                "BACKEND/060",
                location,
                hint='for example {kind = "global_buffer", name = "x", offset = 0, size = 8}',
            ) from None
    entries.sort(key=lambda entry: entry.offset)
    end = max((entry.offset + entry.size for entry in entries), default=0)
    size = int(layout.get("kernarg_size", end))
    return KernargLayout(tuple(entries), size, int(layout.get("kernarg_alignment", KERNARG_ALIGNMENT)))


def foreign_descriptor(attributes: Mapping[str, Any]) -> Mapping[str, int] | None:
    """The kernel descriptor's fields as found, ``None`` for a kernel of our own."""
    descriptor = _layout(attributes).get("descriptor")
    if not isinstance(descriptor, dict):
        return None
    return {name: int(descriptor.get(name, 0)) for name in DESCRIPTOR_FIELDS}


def foreign_modes(attributes: Mapping[str, Any]) -> Mapping[str, int] | None:
    """``dx10_clamp``, ``float_mode`` and ``ieee_mode`` that a relaxed kernel was written for, else ``None``."""
    modes = _layout(attributes).get("modes")
    if not isinstance(modes, dict):
        return None
    return {name: int(value) for name, value in modes.items()}


def foreign_storage(attributes: Mapping[str, Any]) -> tuple[int, int]:
    """Bytes of work-group and of private storage that a foreign kernel addresses by itself."""
    layout = _layout(attributes)
    for key in ("descriptor", "modes"):
        found = layout.get(key)
        if isinstance(found, dict):
            return int(found.get("group_segment_fixed_size", 0)), int(found.get("private_segment_fixed_size", 0))
    return 0, 0


def foreign_resources(attributes: Mapping[str, Any]) -> Mapping[str, int]:
    """Counts that only the metadata holds (``vgpr_count``, ``dynamic_lds`` …)."""
    found = _layout(attributes).get("resources")
    return {name: int(value) for name, value in found.items()} if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class ForeignCode:
    """Where a lifted kernel's own code lies in what is emitted, and the functions that it calls beside it.

    Attributes:
        entry: Offset of the kernel's code.
        size: Bytes of the kernel's code.
        functions: Offset and bytes of every function.
    """

    entry: int
    size: int
    functions: tuple[tuple[int, int], ...]


def foreign_code(attributes: Mapping[str, Any]) -> ForeignCode | None:
    """The layout of a lifted kernel that calls functions, ``None`` for one that is alone."""
    found = _layout(attributes).get("code")
    if not isinstance(found, dict):
        return None
    offsets, sizes = found.get("function_offsets", ()), found.get("function_sizes", ())
    functions = tuple((int(at), int(size)) for at, size in zip(offsets, sizes, strict=True))
    return ForeignCode(int(found["entry"]), int(found["size"]), functions)
