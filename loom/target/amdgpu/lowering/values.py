"""How source values look while a kernel is lowered.

* Data (integers, floats, index, offset, vectors) is a tuple of 32-bit *words*: Low values of one register, or
  Python integers for constants. Elements are packed little-endian: two 16-bit or four 8-bit elements in a word,
  64-bit elements in two. The unused high bits of an 8- or 16-bit scalar are unspecified.
* ``index`` and ``offset`` have one word where facts bound them to 32 bits, else two (:class:`IndexValue`).
* ``i1`` is a :class:`Truth`; a vector of ``i1`` or of ``index`` is a tuple of its lanes (:class:`Lanes`).
* Buffers, views and encodings exist at compile time (:class:`BufferValue`, :class:`ViewValue`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from loom.ir import EncodingAttribute, FloatType, IndexType, IntegerType, OffsetType, Type, Value, VectorType
from loom.target.amdgpu.lowering.emitter import Operand
from loom.transform.rejection import NoForm

Words: TypeAlias = "tuple[Operand, ...]"


@dataclass(slots=True)
class IndexValue:
    """An ``index`` or ``offset``: ``words`` has one or two entries; ``signed`` tells how one extends to 64 bits."""

    words: Words
    signed: bool = False


@dataclass(slots=True, eq=False)
class Truth:
    """An ``i1``.

    Exactly one of these is set:
        constant: known at compile time.
        mask: one bit a lane in scalar registers (bits of inactive lanes are unspecified unless ``clean_for`` is the
            present EXEC).
        bit: 0 or 1 in a scalar register, the same for all lanes.
        compare: a scalar comparison ``(mnemonic, left, right)`` that is made anew in front of each use.
    """

    constant: bool | None = None
    mask: Value | None = None
    bit: Operand | None = None
    compare: tuple[str, Operand, Operand] | None = None
    clean_for: object = None

    @property
    def is_uniform(self) -> bool:
        """Whether the truth is the same in all lanes by construction."""
        return self.mask is None


@dataclass(slots=True)
class Lanes:
    """A vector whose lanes are not packed words: of ``i1`` or of ``index``."""

    lanes: tuple[Truth | IndexValue, ...]


@dataclass(slots=True, eq=False)
class Root:
    """A piece of memory.

    Attributes:
        space: ``global``, ``workgroup`` or ``private``.
        base: For global memory the 64-bit base address.
        offset: For workgroup and private memory the byte offset in the frame.
        alignment: Bytes that divide the start.
        alias: Alias class written on accesses, None: may overlap anything of its space.
        written: Whether any access of the kernel writes it or what it may overlap.
        index: Binding number, -1 for none.
        size: Bytes, where known.
        dynamic: For workgroup and private memory chosen at run time, a word to add to the offset.
    """

    space: str
    base: Value | None = None
    offset: int = 0
    alignment: int = 1
    alias: str | None = None
    written: bool = True
    index: int = -1
    size: int | None = None
    dynamic: Operand = 0


@dataclass(slots=True)
class BufferValue:
    """A buffer: its root, or for a buffer chosen at run time the base address and a root that stands for the choice."""

    root: Root


@dataclass(slots=True, eq=False)
class ViewValue:
    """A view: a root, a byte offset as a sum of source values, and the element strides of its axes.

    ``terms`` maps source values to byte coefficients. ``products`` lists (factor, factor, coefficient) for products
    of two source values. ``strides`` has one entry an axis: an integer, or a source value.
    """

    root: Root
    element: Type
    terms: list[tuple[object, int]] = field(default_factory=list)
    constant: int = 0
    strides: tuple[object, ...] = ()
    dims: tuple[object, ...] = ()
    alignment: int = 1


@dataclass(slots=True)
class EncodingValue:
    """An encoding known at compile time; ``strides`` for a strided layout (integers or source values)."""

    attribute: EncodingAttribute | None = None
    strides: tuple[object, ...] | None = None
    operands: dict[str, Value] = field(default_factory=dict)


Lowered: TypeAlias = "Words | IndexValue | Truth | Lanes | BufferValue | ViewValue | EncodingValue"


def element_of(type_: Type) -> Type:
    """The element type of a vector, any other type itself."""
    return type_.element if isinstance(type_, VectorType) else type_


def element_bits(type_: Type) -> int:
    """Bits of an element in registers and memory (``i1``: 8 in memory)."""
    element = element_of(type_)
    if isinstance(element, IntegerType):
        return element.width
    if isinstance(element, FloatType):
        return {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f8E4M3": 8, "f8E5M2": 8}[element.name]
    return 64


def lane_count(type_: Type) -> int:
    """Number of elements of a vector, 1 for scalars."""
    if not isinstance(type_, VectorType):
        return 1
    count = 1
    for dim in type_.dims:
        if not isinstance(dim, int):
            raise NoForm("a vector whose shape is not static", "give every dimension of the vector as a number")
        count *= dim
    return count


def word_count(type_: Type) -> int:
    """Number of words of a data value."""
    return max(1, -(-element_bits(type_) * lane_count(type_) // 32)) if lane_count(type_) else 0


def is_index(type_: Type) -> bool:
    """Whether the type is ``index`` or ``offset``."""
    return isinstance(type_, IndexType | OffsetType)


def is_truth(type_: Type) -> bool:
    """Whether the type is ``i1``."""
    return isinstance(type_, IntegerType) and type_.width == 1
