"""Host tensors of the check language: a typed window on a storage of bytes.

``check.tensor.view`` shares the storage of its base; every other tensor has its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loom.reference.formats import FORMATS, Array, ElementFormat, decode, encode


@dataclass(eq=False, slots=True)
class Storage:
    """Bytes that one or several tensors look at; ``poison`` marks bytes that a run left undefined."""

    data: Array
    name: str = ""
    poison: Array | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.data.size)


@dataclass(eq=False, slots=True)
class Tensor:
    """A dense row-major tensor at ``offset`` bytes of its storage."""

    storage: Storage
    shape: tuple[int, ...]
    form: ElementFormat
    offset: int = 0
    name: str = field(default="")

    @property
    def count(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.form.bytes

    @property
    def bytes(self) -> Array:
        """The tensor's bytes, a writable window."""
        return self.storage.data[self.offset : self.offset + self.size]

    @property
    def values(self) -> Array:
        """The elements in carrier representation, in the tensor's shape (a copy)."""
        words = np.ascontiguousarray(self.bytes).view(self.form.storage)
        return decode(words, self.form).reshape(self.shape)

    @property
    def undefined(self) -> Array | None:
        """Where an element has poison bytes, in the tensor's shape; None when nothing has."""
        if self.storage.poison is None:
            return None
        window = self.storage.poison[self.offset : self.offset + self.size]
        marked: Array = np.asarray(window.reshape(*self.shape, self.form.bytes).any(-1))
        return marked if marked.any() else None

    def assign(self, values: Array) -> None:
        """Overwrite all elements with carrier values."""
        flat = np.ascontiguousarray(np.broadcast_to(values, self.shape)).ravel()
        self.bytes[:] = encode(flat, self.form).view(np.uint8)

    def copy(self) -> Tensor:
        """The same contents in a storage of its own."""
        return from_values(self.values, self.form, self.name) if self.count else empty(self.shape, self.form, self.name)


def empty(shape: tuple[int, ...], form: ElementFormat, name: str = "") -> Tensor:
    """A tensor of zeros in a fresh storage."""
    count = int(np.prod(shape, dtype=np.int64))
    return Tensor(Storage(np.zeros(count * form.bytes, np.uint8), name), tuple(shape), form, 0, name)


def from_values(values: Array, form: ElementFormat, name: str = "") -> Tensor:
    """A tensor of carrier values in a fresh storage."""
    tensor = empty(tuple(values.shape), form, name)
    tensor.assign(values)
    return tensor


#: numpy dtypes of ``.npy`` files for element types that have one; the others are stored as words of their bits.
NPY_DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": np.uint16,
    "f8E4M3": np.uint8,
    "f8E5M2": np.uint8,
}


def to_npy_array(tensor: Tensor) -> Array:
    """The tensor as an array that ``numpy.save`` stores; bf16 and the 8-bit floats as their bits."""
    words = np.ascontiguousarray(tensor.bytes)
    array: Array = words.view(NPY_DTYPES[tensor.form.name]).reshape(tensor.shape).copy()
    return array


def from_npy_array(array: Array, form: ElementFormat, name: str = "") -> Tensor:
    """A tensor of an array read from a file; raises ``ValueError`` where its dtype does not hold the element type.

    Unsigned integers are taken for signless ones of their width, and words of the width for the bits of any type.
    """
    accepted = {np.dtype(NPY_DTYPES[form.name]), form.storage}
    if form.kind == "integer" and form.bits > 1:
        accepted.add(form.carrier)
    little = array.astype(array.dtype.newbyteorder("="), copy=False)
    if little.dtype not in accepted:
        wanted = ", ".join(sorted(str(dtype) for dtype in accepted))
        raise ValueError(f"the file holds {array.dtype}, elements of {form.name} need {wanted}")
    tensor = empty(tuple(array.shape), form, name)
    tensor.bytes[:] = np.ascontiguousarray(little).reshape(-1).view(np.uint8)
    return tensor


def format_of(name: str) -> ElementFormat:
    """The element format of a type's text."""
    return FORMATS[name]
