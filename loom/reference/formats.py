"""Element formats: how scalars are carried in NumPy arrays, stored in bytes and rounded.

Integers are carried in signed arrays of their width, ``i1`` in ``bool``, ``index`` and ``offset`` in ``int64``.
``f16``,
``f32`` and ``f64`` are carried natively; ``bf16`` and the 8-bit floats in ``float32`` arrays that hold only
representable
values. All rounding is to nearest, ties to even.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class FloatParameters:
    """Precision (significand bits with the hidden one), smallest normal exponent and largest finite value."""

    precision: int
    minimum_exponent: int
    maximum: float
    saturates: bool


@dataclass(frozen=True, slots=True)
class ElementFormat:
    """One scalar element type: bits of the type, bytes in memory and the dtype that carries it."""

    name: str
    kind: str
    bits: int
    bytes: int
    carrier: np.dtype[Any]
    storage: np.dtype[Any]
    parameters: FloatParameters | None = None

    @property
    def is_float(self) -> bool:
        """Whether values are floating-point numbers."""
        return self.kind == "float"


def _integer(name: str, bits: int) -> ElementFormat:
    carrier = np.dtype(np.bool_) if bits == 1 else np.dtype(f"i{bits // 8}")
    storage = np.dtype("u1") if bits == 1 else np.dtype(f"u{bits // 8}")
    return ElementFormat(name, "integer", bits, max(bits // 8, 1), carrier, storage)


def _float(name: str, bits: int, carrier: str, parameters: FloatParameters) -> ElementFormat:
    return ElementFormat(name, "float", bits, bits // 8, np.dtype(carrier), np.dtype(f"u{bits // 8}"), parameters)


# f8E4M3 is the finite variant of the OCP 8-bit formats (no infinity, one NaN a sign); f8E5M2 is the upper half of f16.
FORMATS: dict[str, ElementFormat] = {
    form.name: form
    for form in (
        _integer("i1", 1),
        _integer("i8", 8),
        _integer("i16", 16),
        _integer("i32", 32),
        _integer("i64", 64),
        ElementFormat("index", "index", 64, 8, np.dtype("i8"), np.dtype("u8")),
        ElementFormat("offset", "index", 64, 8, np.dtype("i8"), np.dtype("u8")),
        _float("f16", 16, "f2", FloatParameters(11, -14, 65504.0, False)),
        _float("bf16", 16, "f4", FloatParameters(8, -126, 3.3895313892515355e38, False)),
        _float("f32", 32, "f4", FloatParameters(24, -126, 3.4028234663852886e38, False)),
        _float("f64", 64, "f8", FloatParameters(53, -1022, 1.7976931348623157e308, False)),
        _float("f8E4M3", 8, "f4", FloatParameters(4, -6, 448.0, True)),
        _float("f8E5M2", 8, "f4", FloatParameters(3, -14, 57344.0, False)),
    )
}


def quantize(values: Array, parameters: FloatParameters) -> Array:
    """Round float64 ``values`` once to a narrow format; the result is float64 with representable values only.

    Subnormals are kept. Above the largest finite value a saturating format keeps that value, others give infinity.
    """
    values = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(values)
        unit = np.maximum(exponent - 1, parameters.minimum_exponent) - (parameters.precision - 1)
        rounded = np.ldexp(np.rint(np.ldexp(values, -unit)), unit)
        rounded = np.where(np.isfinite(values), np.copysign(rounded, values), values)
        over = np.abs(rounded) > parameters.maximum
        limit = parameters.maximum if parameters.saturates else np.inf
        return np.where(over, np.copysign(limit, values), rounded)


def _bfloat_from_f32(values: Array) -> Array:
    """Round float32 to bf16 in place of its low 16 bits; NaN stays NaN with its sign and upper payload."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) & np.uint32(0xFFFF0000)
    quiet = (bits & np.uint32(0xFFFF0000)) | np.uint32(0x00400000)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint32).view(np.float32)


def round_to(values: Array, form: ElementFormat) -> Array:
    """Round float64 or float32 ``values`` once to ``form`` and return its carrier array."""
    with np.errstate(all="ignore"):
        if form.name in ("f16", "f32", "f64"):
            return values.astype(form.carrier)
        if form.name == "bf16" and values.dtype == np.float32:
            return _bfloat_from_f32(values)
        assert form.parameters is not None
        return quantize(values, form.parameters).astype(np.float32)


def encode(values: Array, form: ElementFormat) -> Array:
    """Carrier values → storage words (unsigned integers of the element's width)."""
    if form.name == "i1":
        return values.astype(np.uint8)
    if form.name == "bf16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        return (bits >> np.uint32(16)).astype(np.uint16)
    if form.name == "f8E5M2":
        with np.errstate(all="ignore"):
            half = np.ascontiguousarray(values.astype(np.float16)).view(np.uint16)
        return (half >> np.uint16(8)).astype(np.uint8)
    if form.name == "f8E4M3":
        return _encode_e4m3(values)
    return np.ascontiguousarray(values, form.carrier).view(form.storage)


def _encode_e4m3(values: Array) -> Array:
    magnitude = np.abs(values.astype(np.float64))
    finite = np.where(np.isfinite(magnitude), magnitude, 0.0)
    _, exponent = np.frexp(finite)
    normal = finite >= 2.0**-6
    scale = np.where(normal, exponent - 1, -6)
    mantissa = np.rint(np.ldexp(finite, 3 - scale)).astype(np.int64)
    code = np.where(normal, ((scale + 7) << 3) + mantissa - 8, mantissa)
    code = np.where(np.isnan(values), 0x7F, code)
    return (code | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


def _decode_e4m3_table() -> Array:
    code = np.arange(256)
    exponent, mantissa = (code >> 3) & 15, code & 7
    magnitude = np.where(exponent == 0, mantissa * 2.0**-9, (8 + mantissa) * np.exp2(exponent - 10.0))
    magnitude = np.where((code & 0x7F) == 0x7F, np.nan, magnitude)
    return np.where(code & 0x80, np.copysign(magnitude, -1.0), magnitude).astype(np.float32)


_E4M3_VALUES = _decode_e4m3_table()


def decode(words: Array, form: ElementFormat) -> Array:
    """Storage words → carrier values."""
    if form.name == "i1":
        return (words & np.uint8(1)).astype(np.bool_)
    if form.name == "bf16":
        return (words.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if form.name == "f8E5M2":
        with np.errstate(all="ignore"):
            return (words.astype(np.uint16) << np.uint16(8)).view(np.float16).astype(np.float32)
    if form.name == "f8E4M3":
        return _E4M3_VALUES[words]
    return np.ascontiguousarray(words, form.storage).view(form.carrier)


def parse_number(value: Any, form: ElementFormat) -> Array:
    """A literal of a program → a 0-d carrier array; floats narrower than f32 are rounded through f32."""
    if form.kind != "float":
        if form.name == "i1":
            return np.asarray(bool(value), np.bool_)
        wrapped = int(value) & ((1 << form.bits) - 1)
        return np.asarray(wrapped, form.storage).view(form.carrier)
    wide = np.asarray(float(value), np.float64)
    if form.bits < 32:
        with np.errstate(all="ignore"):
            return round_to(wide.astype(np.float32), form)
    return round_to(wide, form)
