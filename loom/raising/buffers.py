"""Typed buffers as command lines and workloads write them: ``64xf32=0``, ``4xi32=1,2,3,4``, ``128xf16=@x.npy``.

A buffer is little-endian bytes with a shape and an element type. Types that NumPy lacks (``bf16``, the two 8-bit
floats) are kept as their bit patterns and decoded for arithmetic.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loom.diagnostics import error
from loom.store.npy import little_endian, read_npy

if TYPE_CHECKING:
    import numpy

#: element type → (bytes, NumPy storage type)
ELEMENT_TYPES: dict[str, tuple[int, str]] = {
    "i1": (1, "u1"),
    "i8": (1, "i1"),
    "i16": (2, "<i2"),
    "i32": (4, "<i4"),
    "i64": (8, "<i8"),
    "f16": (2, "<f2"),
    "bf16": (2, "<u2"),
    "f32": (4, "<f4"),
    "f64": (8, "<f8"),
    "f8E4M3": (1, "u1"),
    "f8E5M2": (1, "u1"),
}

#: Spellings that other tools use for the same storage.
_SYNONYMS = {
    **{f"{sign}{width}": f"i{width}" for sign in ("u", "s", "si", "ui") for width in (8, 16, 32, 64)},
    "f8E4M3FN": "f8E4M3",
}

_UNSIGNED = frozenset(f"{sign}{width}" for sign in ("u", "ui") for width in (8, 16, 32, 64))

#: Types that NumPy lacks, kept as bit patterns.
_SMALL_FLOATS = frozenset(("bf16", "f8E4M3", "f8E5M2"))

MAXIMUM_BYTES = 1 << 34
"""Largest buffer a command line may ask for: 16 GiB."""


@dataclass(frozen=True, slots=True)
class TypedBuffer:
    """Bytes with a shape (row-major) and an element type.

    Attributes:
        shape: Extent of each axis; empty for one scalar.
        element: A key of :data:`ELEMENT_TYPES`.
        data: Little-endian bytes, ``count * element size`` of them.
        unsigned: Whether integers are shown without sign.
    """

    shape: tuple[int, ...]
    element: str
    data: bytes
    unsigned: bool = False

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def type_text(self) -> str:
        """``64x2xf32``."""
        return "x".join([*map(str, self.shape), self.element])

    def with_data(self, data: bytes) -> TypedBuffer:
        """The same shape and type over other bytes."""
        return TypedBuffer(self.shape, self.element, data, self.unsigned)

    def storage(self) -> numpy.ndarray[Any, Any]:
        """The elements as stored, flat: native NumPy types, bit patterns for types that NumPy lacks."""
        import numpy

        kind = ELEMENT_TYPES[self.element][1]
        if self.unsigned and kind[-2:-1] == "i":
            kind = kind.replace("i", "u")
        return numpy.frombuffer(self.data, dtype=kind)

    def values(self) -> numpy.ndarray[Any, Any]:
        """The elements as numbers, flat: integers as they are, small floats widened to f32."""
        stored = self.storage()
        if self.element not in _SMALL_FLOATS:
            return stored
        from loom.reference.formats import FORMATS, decode

        return decode(stored, FORMATS[self.element])

    def element_text(self, index: int) -> str:
        """Element ``index`` (flat) as a user reads it: enough digits to tell neighbours apart."""
        return format_value(self.values()[index], self.element)


def format_value(value: Any, element: str) -> str:
    """A number of element type ``element`` as text, with enough digits to tell neighbours apart."""
    if element in ("i1", "i8", "i16", "i32", "i64"):
        return str(int(value))
    if element == "f32":
        import numpy

        return str(numpy.float32(value))
    return repr(float(value))


def parse_type(text: str, what: str) -> tuple[tuple[int, ...], str, bool]:
    """Split ``64x2xf32`` into shape, element type and whether the spelling was unsigned.

    Raises:
        LoomError: ``BUFFER/001`` for an unknown type or a shape that is not positive integers.
    """
    *dims, name = text.strip().split("x")
    element = _SYNONYMS.get(name, name)
    if element not in ELEMENT_TYPES:
        raise error(
            f"{what}: unknown element type '{name}' in '{text}'",
            "BUFFER/001",
            hint="SHAPExTYPE with one of " + " ".join(ELEMENT_TYPES) + ", for example 64x16xf32",
        )
    shape = []
    for dim in dims:
        if not dim.isdecimal():
            raise error(f"{what}: '{dim}' is no extent in '{text}'", "BUFFER/001", hint="for example 64x16xf32")
        shape.append(int(dim))
    if math.prod(shape) * ELEMENT_TYPES[element][0] > MAXIMUM_BYTES:
        raise error(f"{what}: '{text}' is larger than {MAXIMUM_BYTES >> 30} GiB", "BUFFER/001")
    return tuple(shape), element, name in _UNSIGNED


def parse_number(text: str, element: str, what: str) -> int:
    """The bit pattern of one written value: decimal, ``0x`` hexadecimal for integers, ``inf``/``nan`` for floats.

    Raises:
        LoomError: ``BUFFER/002`` for text that is no number or does not fit.
    """
    size = ELEMENT_TYPES[element][0]
    word = text.strip()
    try:
        if element[0] == "i":
            if element == "i1" and word in ("true", "false"):
                return int(word == "true")
            number = int(word, 0)
            width = 1 if element == "i1" else size * 8
            if not -(1 << (width - 1)) <= number < 1 << width and not (width == 1 and number in (0, 1)):
                raise error(f"{what}: {word} does not fit {element}", "BUFFER/002")
            return number & ((1 << (size * 8)) - 1)
        value = float(int(word, 16)) if word.lower().startswith(("0x", "-0x")) else float(word)
    except (ValueError, OverflowError):
        raise error(f"{what}: '{word}' is no {element} value", "BUFFER/002") from None
    if element in _SMALL_FLOATS:
        from loom.reference.formats import FORMATS, encode
        from loom.reference.formats import parse_number as parse_float

        return int(encode(parse_float(value, FORMATS[element]), FORMATS[element]).reshape(-1)[0])
    code = {"f16": "<e", "f32": "<f", "f64": "<d"}[element]
    try:
        raw = struct.pack(code, value)
    except OverflowError:
        raw = struct.pack(code, math.copysign(math.inf, value))
    return int.from_bytes(raw, "little")


def parse_buffer(text: str, what: str = "buffer") -> TypedBuffer:
    """Parse ``SHAPExTYPE``, ``SHAPExTYPE=value``, ``SHAPExTYPE=v,v,…``, ``SHAPExTYPE=@file.npy`` or ``@file.npy``.

    Without values the buffer is zero; one value fills it. ``what`` names the flag in messages.

    Raises:
        LoomError: ``BUFFER/001`` (type), ``BUFFER/002`` (values), ``BUFFER/003`` (file).
    """
    if text.startswith("@"):
        return load_npy(text[1:], None, what)
    type_text, _, value_text = text.partition("=")
    shape, element, unsigned = parse_type(type_text, what)
    size = ELEMENT_TYPES[element][0]
    count = math.prod(shape)
    value_text = value_text.strip()
    if value_text.startswith("@"):
        return load_npy(value_text[1:], (shape, element, unsigned), what)
    if not value_text:
        return TypedBuffer(shape, element, bytes(count * size), unsigned)
    words = value_text.strip("[]").replace(",", " ").split()
    if len(words) not in (1, count):
        raise error(
            f"{what}: {len(words)} values for {count} elements of '{type_text}'",
            "BUFFER/002",
            hint="give one value to fill the buffer, or one for each element",
        )
    patterns = [parse_number(word, element, what).to_bytes(size, "little") for word in words]
    data = b"".join(patterns) if len(words) == count else patterns[0] * count
    return TypedBuffer(shape, element, data, unsigned)


def load_npy(path: str, expected: tuple[tuple[int, ...], str, bool] | None, what: str) -> TypedBuffer:
    """Read a ``.npy`` file; with ``expected`` its element count and element size must agree.

    ``bf16`` and 8-bit floats are stored as ``uint16`` and ``uint8`` patterns.

    Raises:
        LoomError: ``BUFFER/003`` where the file is absent, no ``.npy`` array, or of another shape or type.
    """
    try:
        with open(path, "rb") as stream:
            array = read_npy(stream)
    except OSError as failure:
        raise error(f"{what}: cannot read '{path}': {failure.strerror or failure}", "BUFFER/003") from None
    except MemoryError:
        raise error(f"{what}: '{path}' does not fit in memory", "BUFFER/003") from None
    except ValueError as failure:
        raise error(f"{what}: '{path}': {failure}", "BUFFER/003") from None
    kind, width = array.dtype.kind, array.dtype.itemsize
    name = {"f": f"f{width * 8}", "i": f"i{width * 8}", "u": f"i{width * 8}", "b": "i1"}.get(kind, "?")
    if name not in ELEMENT_TYPES:
        raise error(f"{what}: '{path}' has elements of type {array.dtype}", "BUFFER/003")
    data = little_endian(array).tobytes()
    if expected is None:
        return TypedBuffer(tuple(array.shape), name, data, kind == "u")
    shape, element, unsigned = expected
    same_kind = name == element or (element in _SMALL_FLOATS and kind == "u" and width == ELEMENT_TYPES[element][0])
    if (tuple(array.shape) != shape and array.size != math.prod(shape)) or not same_kind:
        found = "x".join([*map(str, array.shape), str(array.dtype)])
        wanted = "x".join([*map(str, shape), element])
        raise error(f"{what}: '{path}' holds {found}, not {wanted}", "BUFFER/003")
    return TypedBuffer(shape, element, data, unsigned)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One element that differs.

    Attributes:
        index: Coordinates, one per axis.
        expected: Expected value as text.
        actual: Actual value as text.
        ulps: Distance in units in the last place of the element type; ``None`` where one side is NaN or for integers.
    """

    index: tuple[int, ...]
    expected: str
    actual: str
    ulps: int | None


@dataclass(frozen=True, slots=True)
class BufferComparison:
    """How an actual buffer agrees with the expected one.

    Attributes:
        count: Elements compared.
        mismatches: How many differ beyond the tolerance.
        first: The first few that do, in row-major order.
        largest_ulps: Largest ULP distance among all elements, ``None`` for integers or where NaN stands alone.
        largest_error: Largest absolute difference among finite elements.
    """

    count: int
    mismatches: int
    first: tuple[Mismatch, ...]
    largest_ulps: int | None
    largest_error: float

    @property
    def passed(self) -> bool:
        """Whether every element agrees."""
        return self.mismatches == 0


def _ordered(buffer: TypedBuffer) -> numpy.ndarray[Any, Any]:
    """Map float bit patterns to integers that are in the order of the numbers; neighbours differ by one, -0 is +0."""
    import numpy

    size = ELEMENT_TYPES[buffer.element][0]
    bits = numpy.frombuffer(buffer.data, dtype=f"<i{size}").astype(numpy.int64)
    low = numpy.int64(-(1 << (size * 8 - 1)) if size < 8 else numpy.iinfo(numpy.int64).min)
    return numpy.asarray(numpy.where(bits < 0, low - bits, bits))


def ulp_distances(actual: TypedBuffer, expected: TypedBuffer) -> numpy.ndarray[Any, Any]:
    """ULP distance of each pair of elements (u64); meaningless where one is NaN."""
    import numpy

    a, e = _ordered(actual), _ordered(expected)
    distance = numpy.where(a >= e, a - e, e - a)
    return numpy.asarray(distance, dtype=numpy.uint64)


def compare_buffers(
    actual: TypedBuffer, expected: TypedBuffer, atol: float = 0.0, rtol: float = 0.0, keep: int = 10
) -> BufferComparison:
    """Compare element by element: ``|a - e| <= atol + rtol * |e|`` in f64 for floats, equality for integers.

    Equal infinities and two NaNs agree; a NaN on one side never does.

    Raises:
        LoomError: ``BUFFER/004`` when shapes or types differ.
    """
    import numpy

    if actual.element != expected.element or actual.count != expected.count:
        raise error(
            f"cannot compare {actual.type_text} with expected {expected.type_text}",
            "BUFFER/004",
            hint="the expected buffer needs the shape and type of the input buffer",
        )
    a, e = actual.values(), expected.values()
    if expected.element[0] == "i":
        wrong = a != e
        largest_ulps = None
        span = [abs(int(x) - int(y)) for x, y in zip(a[wrong], e[wrong], strict=True)]
        largest_error = float(max(span, default=0))
        distances = None
    else:
        a64, e64 = a.astype(numpy.float64), e.astype(numpy.float64)
        with numpy.errstate(invalid="ignore", over="ignore"):
            difference = numpy.abs(a64 - e64)
            close = (difference <= atol + rtol * numpy.abs(e64)) & numpy.isfinite(a64) & numpy.isfinite(e64)
        nan_a, nan_e = numpy.isnan(a64), numpy.isnan(e64)
        wrong = ~(close | (a64 == e64) | (nan_a & nan_e))
        distances = ulp_distances(actual, expected)
        one_nan = nan_a ^ nan_e
        usable = ~(nan_a | nan_e)
        largest_ulps = None if one_nan.any() else int(distances[usable].max()) if usable.any() else 0
        finite = numpy.isfinite(difference)
        largest_error = float(difference[finite].max()) if finite.any() else 0.0
    positions = numpy.flatnonzero(wrong)
    first = []
    for flat in positions[:keep]:
        index = tuple(int(i) for i in numpy.unravel_index(int(flat), expected.shape)) if expected.shape else ()
        ulps = None
        if distances is not None and not (numpy.isnan(float(a[flat])) or numpy.isnan(float(e[flat]))):
            ulps = int(distances[flat])
        first.append(
            Mismatch(index, format_value(e[flat], expected.element), format_value(a[flat], actual.element), ulps)
        )
    return BufferComparison(expected.count, len(positions), tuple(first), largest_ulps, largest_error)
