"""Encoded payloads: ``vector.decode`` and ``vector.encode``.

A schema says how payload bytes stand for numbers. Two kinds are known: the block formats of the ggml library (public
struct
layouts ``block_q4_0`` … ``block_q6_K``), either as whole records or as payload with the scale given beside it, and
``#encoding.FORMAT<…>`` with affine parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from loom.ir import Operation
from loom.ir.attributes import EncodingAttribute
from loom.reference.execution import Frame, Interpreter, form_of, handles
from loom.reference.formats import FORMATS, Array, ElementFormat, decode, encode, quantize, round_to
from loom.reference.numerics import float_to_integer
from loom.reference.operations_call import keyed_operands
from loom.reference.operations_scalar import poison_of
from loom.reference.operations_vector import from_bits, to_bits, vector_shape
from loom.reference.values import EncodingValue, Mask

F16, F32, F64 = FORMATS["f16"], FORMATS["f32"], FORMATS["f64"]


class SchemaError(ValueError):
    """A schema that is not known, or a payload that does not fit it."""


def _bytes(values: Array, form: ElementFormat) -> Array:
    """A payload's bytes, lanes × bytes."""
    words = np.ascontiguousarray(encode(values.reshape(values.shape[0], -1), form))
    return words.view(np.uint8).reshape(values.shape[0], -1)


def _half(raw: Array) -> Array:
    """Two bytes as f16, widened."""
    return np.ascontiguousarray(raw).view(np.float16)[..., 0].astype(np.float64)


# --- ggml records -----------------------------------------------------------------------------------------------------


def _nibbles(raw: Array) -> Array:
    """Low nibbles of all bytes, then the high ones."""
    return np.concatenate([raw & 15, raw >> 4], axis=-1).astype(np.float64)


def _q8_0(raw: Array, scale: Array) -> Array:
    return np.asarray(raw.view(np.int8).astype(np.float64) * scale[..., None])


def _q4_0(raw: Array, scale: Array) -> Array:
    return (_nibbles(raw) - 8.0) * scale[..., None]


def _six_bit_scales(packed: Array) -> tuple[Array, Array]:
    """Eight scales and eight minimums of six bits from twelve bytes."""
    wide = packed.astype(np.int64)
    first, second, third = wide[..., 0:4], wide[..., 4:8], wide[..., 8:12]
    scales = np.concatenate([first & 63, (third & 15) | (first >> 6) << 4], axis=-1)
    minimums = np.concatenate([second & 63, third >> 4 | (second >> 6) << 4], axis=-1)
    return scales.astype(np.float64), minimums.astype(np.float64)


def _k_values(low: Array, scale: Array, minimum: Array, packed: Array) -> Array:
    """Eight groups of 32: value = d * scale * q - dmin * minimum; all in one rounding of float64."""
    scales, minimums = _six_bit_scales(packed)
    values = scale[..., None, None] * scales[..., None] * low - minimum[..., None, None] * minimums[..., None]
    return np.asarray(values.reshape(*low.shape[:-2], 256))


def _q4_k(record: Array) -> Array:
    quants = record[..., 16:144].reshape(*record.shape[:-1], 4, 32)
    low = np.stack([quants & 15, quants >> 4], axis=-2).reshape(*record.shape[:-1], 8, 32).astype(np.float64)
    return _k_values(low, _half(record[..., 0:2]), _half(record[..., 2:4]), record[..., 4:16])


def _q5_k(record: Array) -> Array:
    high, quants = record[..., 16:48], record[..., 48:176].reshape(*record.shape[:-1], 4, 32)
    low = np.stack([quants & 15, quants >> 4], axis=-2).reshape(*record.shape[:-1], 8, 32)
    bits = (high[..., None, :] >> np.arange(8)[:, None].astype(np.uint8)) & 1
    whole = (low + (bits << 4)).astype(np.float64)
    return _k_values(whole, _half(record[..., 0:2]), _half(record[..., 2:4]), record[..., 4:16])


def _q6_k(record: Array) -> Array:
    low = record[..., 0:128].reshape(*record.shape[:-1], 2, 64)
    high = record[..., 128:192].reshape(*record.shape[:-1], 2, 32)
    scales = record[..., 192:208].view(np.int8).astype(np.float64)
    scale = _half(record[..., 208:210])
    parts = []
    for place in range(4):
        quarter = low[..., 32 * (place & 1) : 32 * (place & 1) + 32]
        nibble = quarter & 15 if place < 2 else quarter >> 4
        parts.append(nibble | ((high >> (2 * place)) & 3) << 4)
    values = np.stack(parts, axis=-2).reshape(*record.shape[:-1], 256).astype(np.float64) - 32.0
    return np.asarray(scale[..., None] * np.repeat(scales, 16, axis=-1) * values)


#: Name → (values of a record, bytes of a record, decoder of whole records).
RECORDS: dict[str, tuple[int, int, Callable[[Array], Array]]] = {
    "q4_0": (32, 18, lambda record: _q4_0(record[..., 2:18], _half(record[..., 0:2]))),
    "q8_0": (32, 34, lambda record: _q8_0(np.ascontiguousarray(record[..., 2:34]), _half(record[..., 0:2]))),
    "q4_K": (256, 144, _q4_k),
    "q5_K": (256, 176, _q5_k),
    "q6_K": (256, 210, _q6_k),
}

#: Block formats whose scale may stand beside the payload: (payload bytes a block, decoder).
SPLIT: dict[str, tuple[int, Callable[[Array, Array], Array]]] = {"q4_0": (16, _q4_0), "q8_0": (32, _q8_0)}

_RECORD_NAME = re.compile(r"^(?:ggml[._])?(q\d_[0Kk])$")


def record_name(family: str) -> str | None:
    """The block format of a family name (``ggml.q4_K``, ``ggml_q8_0``, ``q8_0``), or None."""
    found = _RECORD_NAME.match(family)
    if found is None:
        return None
    name = found.group(1).replace("k", "K")
    return name if name in RECORDS else None


def _decode_record(name: str, raw: Array, count: int, auxiliary: dict[str, Any]) -> Array:
    values, size, decoder = RECORDS[name]
    lanes = raw.shape[0]
    if count % values:
        raise SchemaError(f"{name} decodes multiples of {values} values, not {count}")
    blocks = count // values
    if "scale" in auxiliary:
        if name not in SPLIT:
            raise SchemaError(f"{name} keeps its scales in the record")
        payload_size, split = SPLIT[name]
        if raw.shape[1] != blocks * payload_size:
            raise SchemaError(
                f"{name} needs {blocks * payload_size} payload bytes for {count} values, not {raw.shape[1]}"
            )
        scale = block_scales(auxiliary["scale"], blocks, "f16")
        payload = raw.reshape(lanes, blocks, payload_size)
        return split(np.ascontiguousarray(payload), scale).reshape(max(lanes, scale.shape[0]), count)
    if raw.shape[1] != blocks * size:
        raise SchemaError(f"{name} needs {blocks * size} record bytes for {count} values, not {raw.shape[1]}")
    return decoder(np.ascontiguousarray(raw.reshape(lanes, blocks, size))).reshape(lanes, count)


def block_scales(values: Array, blocks: int, bits_are: str) -> Array:
    """Scales, one a block: floats, or integers that hold the bits of ``bits_are`` or an e8m0 exponent byte."""
    flat = values.reshape(values.shape[0], -1)
    if flat.dtype.kind == "i":
        words = flat.view(f"u{flat.dtype.itemsize}")
        if bits_are == "e8m0":
            flat = np.ldexp(1.0, (words & 255).astype(np.int64) - 127)
        else:
            form = FORMATS[bits_are]
            flat = decode((words & ((1 << form.bits) - 1)).astype(form.storage), form).astype(np.float64)
    wide = flat.astype(np.float64)
    if wide.shape[1] == blocks:
        return wide
    if blocks % wide.shape[1]:
        raise SchemaError(f"{wide.shape[1]} scales do not divide {blocks} groups")
    return np.repeat(wide, blocks // wide.shape[1], axis=1)


# --- #encoding.FORMAT<…> ----------------------------------------------------------------------------------------------

_INTEGER = re.compile(r"^([iu])(\d+)$")
_FLOATS = {
    "f8e4m3fn": "f8E4M3",
    "f8e5m2": "f8E5M2",
    "f16": "f16",
    "bf16": "bf16",
    "f32": "f32",
}
#: Values of the 4-bit float: sign, two exponent bits, one mantissa bit (OCP microscaling formats, "E2M1").
_E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def _element_bits(name: str) -> int:
    found = _INTEGER.match(name)
    if found is not None:
        return int(found.group(2))
    if name == "f4e2m1fn":
        return 4
    if name in _FLOATS:
        return FORMATS[_FLOATS[name]].bits
    raise SchemaError(f"no element format '{name}' is known")


def _fields(raw: Array, bits: int, packing: str) -> Array:
    """Packed little-endian fields of a byte stream as integers; big-endian nibbles take the high half first."""
    if packing == "big_endian_nibbles":
        raw = (raw >> 4) | (raw << 4)
    stream = to_bits(raw, 8).reshape(raw.shape[0], -1)
    usable = stream.shape[1] - stream.shape[1] % bits
    return from_bits(stream[:, :usable].reshape(raw.shape[0], -1, bits), FORMATS["i64"])


def _numbers(name: str, fields: Array) -> Array:
    """Fields → the numbers they stand for."""
    found = _INTEGER.match(name)
    if found is not None:
        bits = int(found.group(2))
        if found.group(1) == "i":
            fields = np.where(fields >= 1 << (bits - 1), fields - (1 << bits), fields)
        return fields.astype(np.float64)
    if name == "f4e2m1fn":
        return np.asarray(np.where(fields & 8, -_E2M1[fields & 7], _E2M1[fields & 7]))
    form = FORMATS[_FLOATS[name]]
    return decode(fields.astype(form.storage), form).astype(np.float64)


def _codes(name: str, numbers: Array) -> Array:
    """The inverse of :func:`_numbers`: round to nearest even, saturate to the largest finite value."""
    found = _INTEGER.match(name)
    if found is not None:
        bits, signed = int(found.group(2)), found.group(1) == "i"
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        rounded = np.clip(np.rint(np.where(np.isnan(numbers), 0.0, numbers)), low, high)
        return np.asarray(float_to_integer(rounded, FORMATS["i64"], True)[0] & ((1 << bits) - 1))
    if name == "f4e2m1fn":
        magnitude = np.minimum(np.abs(numbers), 6.0)
        distance = np.abs(magnitude[..., None] - _E2M1)
        nearest = distance.min(-1, keepdims=True)
        tied = distance == nearest
        even = tied & (np.arange(8) % 2 == 0)
        code = np.where(even.any(-1), even.argmax(-1), tied.argmax(-1))
        return np.asarray(code | np.where(np.signbit(numbers), 8, 0))
    form = FORMATS[_FLOATS[name]]
    assert form.parameters is not None
    limited = np.where(np.isnan(numbers), numbers, np.clip(numbers, -form.parameters.maximum, form.parameters.maximum))
    return encode(quantize(limited, form.parameters).astype(form.carrier), form).astype(np.int64)


def _affine(attribute: EncodingAttribute, auxiliary: dict[str, Any], count: int) -> tuple[Array, Array]:
    """Scale and addend of every value: value = number * scale + addend."""
    kind = str(attribute.parameter("affine") or "none")
    bits_are = "e8m0" if str(attribute.parameter("scale_format") or "") == "e8m0" else "f32"
    group: Any = attribute.parameter("scale_group_elements")

    def spread(key: str) -> Array:
        if key not in auxiliary:
            raise SchemaError(f"affine={kind} needs the operand '{key}'")
        groups = count // int(group) if group else 1
        given = auxiliary[key].reshape(auxiliary[key].shape[0], -1)
        groups = max(groups, given.shape[1])
        values = block_scales(given, groups, bits_are if key == "scale" else "f32")
        return np.repeat(values, count // groups, axis=1)

    one, zero = np.ones((1, count)), np.zeros((1, count))
    if kind == "none":
        return one, zero
    scale = spread("scale")
    if kind == "scale_only":
        return scale, zero
    if kind == "scale_plus_min":
        return scale, spread("minimum")
    if kind == "scale_plus_bias":
        return scale, spread("bias")
    if kind == "scale_plus_zero_point":
        return scale, -spread("zero_point") * scale
    raise SchemaError(f"affine={kind} is not known")


# --- operations -------------------------------------------------------------------------------------------------------


def _schema(interp: Interpreter, frame: Frame, op: Operation) -> EncodingAttribute:
    schema: EncodingValue = frame.values[op.operand("schema")]
    if schema.attribute is None:
        interp.fail(op, "REFERENCE/018", f"{op.name}: the schema has no family", frame=frame)
    return schema.attribute


@handles("vector.decode")
def _decode(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    attribute = _schema(interp, frame, op)
    payload = op.operand("payload")
    auxiliary = {**frame.values[op.operand("schema")].operands, **keyed_operands(frame, op)}
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    form = form_of(op.results[0].type)
    count = int(np.prod(shape, dtype=np.int64))
    raw = _bytes(frame.values[payload], form_of(payload.type))
    try:
        name = record_name(attribute.family)
        if name is not None:
            numbers = _decode_record(name, raw, count, auxiliary)
        else:
            element = attribute.family.removeprefix("encoding.")
            if element == "matrix_operand":
                element = str(attribute.parameter("element_format"))
            packing = str(attribute.parameter("payload_packing") or "")
            fields = _fields(raw, _element_bits(element), packing)
            if fields.shape[1] < count:
                raise SchemaError(f"the payload holds {fields.shape[1]} values, not {count}")
            scale, addend = _affine(attribute, auxiliary, count)
            numbers = _numbers(element, fields[:, :count]) * scale + addend
    except SchemaError as problem:
        interp.fail(op, "REFERENCE/018", f"vector.decode #{attribute.family}: {problem}", frame=frame)
    if form.is_float:
        values = round_to(round_to(numbers, F32), form) if form.bits < 32 else round_to(numbers, form)
    else:
        values = numbers.astype(form.carrier)
    undefined = poison_of_any(frame, op, len(shape))
    frame.set(op.results[0], values.reshape(-1, *shape), undefined)


@handles("vector.encode")
def _encode(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    attribute = _schema(interp, frame, op)
    source = op.operand("payload")
    auxiliary = {**frame.values[op.operand("schema")].operands, **keyed_operands(frame, op)}
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    form = form_of(op.results[0].type)
    values = frame.values[source]
    numbers = values.reshape(values.shape[0], -1).astype(np.float64)
    try:
        raw = _encoded(attribute, numbers, auxiliary)
        needed = int(np.prod(shape, dtype=np.int64)) * form.bytes
        if raw.shape[1] != needed:
            raise SchemaError(f"{numbers.shape[1]} values make {raw.shape[1]} bytes, the result holds {needed}")
    except SchemaError as problem:
        interp.fail(op, "REFERENCE/018", f"vector.encode #{attribute.family}: {problem}", frame=frame)
    words = np.ascontiguousarray(raw).view(form.storage)
    frame.set(op.results[0], decode(words, form).reshape(-1, *shape), poison_of_any(frame, op, len(shape)))


def _encoded(attribute: EncodingAttribute, numbers: Array, auxiliary: dict[str, Any]) -> Array:
    """Payload bytes, lanes × bytes."""
    count = numbers.shape[1]
    name = record_name(attribute.family)
    with np.errstate(all="ignore"):
        if name is not None:
            if name not in SPLIT or "scale" not in auxiliary:
                raise SchemaError(f"{name} is encoded with a scale beside the payload, for q4_0 and q8_0 only")
            if count % 32:
                raise SchemaError(f"{name} encodes multiples of 32 values, not {count}")
            scale = block_scales(auxiliary["scale"], count // 32, "f16")
            quotient = numbers.reshape(numbers.shape[0], -1, 32) / scale[..., None]
            if name == "q8_0":
                return _codes("i8", quotient).astype(np.uint8).reshape(quotient.shape[0], -1)
            codes = _codes("u4", quotient + 8.0).astype(np.uint8)
            return (codes[..., :16] | codes[..., 16:] << 4).reshape(quotient.shape[0], -1)
        element = attribute.family.removeprefix("encoding.")
        if element == "matrix_operand":
            element = str(attribute.parameter("element_format"))
        bits = _element_bits(element)
        scale, addend = _affine(attribute, auxiliary, count)
        codes = _codes(element, (numbers - addend) / scale)
    stream = to_bits(codes.astype(np.uint64), bits).reshape(codes.shape[0], -1)
    raw: Array = from_bits(stream.reshape(codes.shape[0], -1, 8), FORMATS["i8"]).view(np.uint8)
    if str(attribute.parameter("payload_packing") or "") == "big_endian_nibbles":
        raw = (raw >> 4) | (raw << 4)
    return raw


def poison_of_any(frame: Frame, op: Operation, rank: int) -> Array | None:
    """Any undefined element of an operand makes the whole result undefined."""
    if not frame.poison:
        return None
    total: Array | None = None
    for operand in op.operands:
        undefined = frame.poison.get(operand)
        if undefined is not None:
            lanes: Array = np.asarray(undefined.reshape(undefined.shape[0], -1).any(1))
            total = lanes if total is None else total | lanes
    return None if total is None else total.reshape(-1, *([1] * rank))


__all__ = ["RECORDS", "SchemaError", "block_scales", "poison_of", "record_name"]
