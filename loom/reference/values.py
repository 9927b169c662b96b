"""What an SSA value is at run time: lane arrays, buffers, views, encodings.

Scalars and vectors are NumPy arrays whose first axis runs over the workitems of the batch. A value that is the same for
all of them may have a first axis of length one and broadcasts. Poison is a boolean array of the same rank beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from loom.ir.attributes import EncodingAttribute
from loom.reference.formats import Array, ElementFormat
from loom.reference.memory import Arena

Mask = Array | None


@dataclass(eq=False, slots=True)
class BufferValue:
    """A storage root as each workitem sees it: first address and size in bytes, within one arena."""

    arena: Arena
    base: Array
    size: Array

    def merge(self, condition: Array, other: BufferValue) -> BufferValue:
        """This where ``condition``, else ``other``; both must live in one arena."""
        if other.arena is not self.arena:
            raise MixedSpacesError(self.arena.space, other.arena.space)
        return BufferValue(
            self.arena, np.where(condition, self.base, other.base), np.where(condition, self.size, other.size)
        )


class MixedSpacesError(Exception):
    """A buffer or view that would be in different memory spaces for different workitems."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"candidates lie in {first} and {second} memory")


Extent = Any
"""A dimension or stride: an ``int`` or a lane array."""


@dataclass(eq=False, slots=True)
class ViewValue:
    """A typed window: byte offset into its buffer, extents, element strides (None: dense row-major), element format."""

    buffer: BufferValue
    offset: Array
    dims: tuple[Extent, ...]
    strides: tuple[Extent, ...]
    form: ElementFormat
    alignment: int

    def merge(self, condition: Array, other: ViewValue) -> ViewValue:
        """This where ``condition``, else ``other``."""
        return ViewValue(
            self.buffer.merge(condition, other.buffer),
            np.where(condition, self.offset, other.offset),
            tuple(_merge_extent(condition, a, b) for a, b in zip(self.dims, other.dims, strict=True)),
            tuple(_merge_extent(condition, a, b) for a, b in zip(self.strides, other.strides, strict=True)),
            self.form,
            min(self.alignment, other.alignment),
        )


def _merge_extent(condition: Array, a: Extent, b: Extent) -> Extent:
    if isinstance(a, int) and isinstance(b, int) and a == b:
        return a
    return np.where(condition, a, b)


def dense_strides(dims: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """Row-major element strides."""
    strides: list[Extent] = []
    step: Extent = 1
    for dim in reversed(dims):
        strides.append(step)
        step = step * dim
    return tuple(reversed(strides))


@dataclass(eq=False, slots=True)
class EncodingValue:
    """A compile-time descriptor: its family with static parameters, the operands it was defined with, or layout
    strides."""

    attribute: EncodingAttribute | None
    operands: dict[str, Any]
    strides: tuple[Extent, ...] | None = None


def column(condition: Array, rank: int) -> Array:
    """A lane condition reshaped to broadcast against a value of ``rank`` (first axis included)."""
    return condition.reshape(condition.shape[0], *([1] * (rank - 1))) if rank > 1 else condition


def merge(condition: Array, new: Any, old: Any) -> Any:
    """``new`` where ``condition`` (one boolean a lane), else ``old``, for any run-time value."""
    if new is old:
        return new
    if isinstance(new, np.ndarray) and isinstance(old, np.ndarray):
        return np.where(column(condition, new.ndim), new, old)
    if isinstance(new, BufferValue | ViewValue):
        return new.merge(condition, old)
    return new


def both(first: Mask, second: Mask) -> Mask:
    """The conjunction of two lane masks; None means all lanes."""
    if first is None:
        return second
    return first if second is None else first & second


def any_lane(mask: Mask) -> bool:
    """Whether any lane is active."""
    return True if mask is None else bool(mask.any())


def all_lanes(condition: Array, mask: Mask) -> bool:
    """Whether ``condition`` holds for all active lanes."""
    return bool((condition if mask is None else condition | ~mask).all())
