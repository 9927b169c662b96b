"""Matrix fragments: which lane holds which element, collective loads and stores, and the matrix product.

Layouts are those of AMD's ISA manuals (RDNA 3 and 4: "WMMA", CDNA 3 and 4: "MFMA matrix register layouts").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from loom.ir import Operation, Value
from loom.reference.execution import Frame, Interpreter, form_of, handles
from loom.reference.formats import FORMATS, Array, ElementFormat, decode, encode, round_to
from loom.reference.numerics import float_to_float
from loom.reference.operations_memory import Access, index_values, lane_values
from loom.reference.operations_vector import from_bits, to_bits, vector_shape
from loom.reference.values import EncodingValue, Mask, ViewValue

_PACKED_FORMATS = {
    "i8": ("i8", 8, True),
    "s8": ("i8", 8, True),
    "u8": ("i8", 8, False),
    "i4": ("i8", 4, True),
    "s4": ("i8", 4, True),
    "u4": ("i8", 4, False),
    "f8E4M3": ("f8E4M3", 8, True),
    "fp8": ("f8E4M3", 8, True),
    "f8E5M2": ("f8E5M2", 8, True),
    "bf8": ("f8E5M2", 8, True),
}


@dataclass(frozen=True, slots=True)
class Payload:
    """How a lane's payload holds matrix elements: element format, bits of each (packed in i32 words if ``packed``)."""

    form: ElementFormat
    bits: int
    signed: bool
    packed: bool
    count: int


def payload_of(interp: Interpreter, frame: Frame, value: Value, element: ElementFormat | None = None) -> Payload:
    """The payload of a fragment value: its vector type, or the schema it was given where words hold narrower
    elements."""
    vector = value.type
    form = form_of(vector)
    total = int(np.prod([d for d in vector.dims], dtype=np.int64))  # type: ignore[attr-defined]
    if form.name != "i32":
        return Payload(form, form.bits, True, False, total)
    schema = _schema_of(frame, value)
    name: str | None = None
    if schema is not None:
        name = str(schema.attribute.parameter("element_format")) if schema.attribute is not None else None
    elif element is not None and element.name != "i32":
        name = element.name
    if name is None or name not in _PACKED_FORMATS:
        return Payload(form, 32, True, False, total)
    carrier, bits, signed = _PACKED_FORMATS[name]
    return Payload(FORMATS[carrier], bits, signed, True, total * 32 // bits)


def _schema_of(frame: Frame, value: Value) -> EncodingValue | None:
    """The schema that a fragment value was given: through loops and branches back to the op that made it."""
    seen: set[Value] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        op = current.defining_op
        if op is None:
            block = current.block
            parent = block.parent_op if block is not None else None
            if parent is not None and parent.name == "scf.for" and current.index > 0:
                pending.append(parent.operand_group("inits")[current.index - 1])
            continue
        if op.name in ("vector.fragment", "vector.fragment.load"):
            keys: Any = op.attributes.get("auxiliary_keys") or ()
            for key, auxiliary in zip(keys, op.operand_group("auxiliary"), strict=False):
                if key == "schema":
                    found = frame.values.get(auxiliary)
                    return found if isinstance(found, EncodingValue) else None
            if op.name == "vector.fragment":
                pending.append(op.operand("vector"))
        elif op.name == "scf.for":
            pending.append(op.operand_group("inits")[current.index])
        elif op.name == "scf.if":
            for region in op.regions:
                last = region.blocks[0].last if region.blocks else None
                if last is not None and last.operands:
                    pending.append(last.operands[current.index])
    return None


def unpack(payload: Payload, values: Array) -> Array:
    """Lane payload → elements, one more or the same last axis."""
    flat = values.reshape(values.shape[0], -1)
    if not payload.packed:
        return flat
    words = np.ascontiguousarray(flat).view(np.uint32)
    stream = to_bits(words, 32).reshape(flat.shape[0], -1, payload.bits)
    if payload.form.is_float:
        return decode(from_bits(stream, FORMATS["i8"]).view(np.uint8), payload.form)
    wide = from_bits(stream, FORMATS["i64"], payload.signed)
    return wide


def pack(payload: Payload, elements: Array) -> Array:
    """Elements → lane payload; packed elements go into i32 words, low bits first."""
    if not payload.packed:
        return elements
    words = encode(elements, payload.form) if payload.form.is_float else elements.astype(np.int64).view(np.uint64)
    stream = to_bits(words, payload.bits).reshape(elements.shape[0], -1, 32)
    return from_bits(stream, FORMATS["i32"])


def layout(
    family: str, wave: int, role: str, count: int, rows: int, columns: int, half_accumulator: bool
) -> tuple[Array, Array]:
    """Row and column of every lane's element (each wave × count); -1 where an element of the payload is unused.

    ``half_accumulator``: a gfx11 accumulator of 16-bit floats, which uses every other element.
    """
    lane = np.arange(wave)[:, None]
    element = np.arange(count)[None, :]
    zero = np.zeros((wave, count), np.int64)
    if family == "gfx11":
        if role == "lhs":
            return lane % 16 + zero, element + zero
        if role == "rhs":
            return element + zero, lane % 16 + zero
        step = wave // 16
        if half_accumulator:
            row = (element // 2) * step + lane // 16
            return np.where(element % 2 == 0, row, -1) + zero, lane % 16 + zero
        return element * step + lane // 16 + zero, lane % 16 + zero
    if family == "gfx12":
        if role == "lhs":
            return lane % 16 + zero, (lane // 16) * count + element + zero
        if role == "rhs":
            return (lane // 16) * count + element + zero, lane % 16 + zero
        return (lane // 16) * count + element + zero, lane % 16 + zero
    extent = columns if role != "lhs" else rows
    if role == "lhs":
        return lane % extent + zero, (lane // extent) * count + element + zero
    if role == "rhs":
        return (lane // extent) * count + element + zero, lane % extent + zero
    if extent == 32:
        return (element // 4) * 8 + (lane // 32) * 4 + element % 4 + zero, lane % 32 + zero
    return (lane // extent) * count + element + zero, lane % extent + zero


def _collective(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> Array:
    """The subgroup × lane table; all lanes of every subgroup that takes part must be there."""
    slots = frame.batch.slots()
    partial = bool((slots < 0).any())
    if not partial and mask is not None:
        taking = mask[slots]
        partial = bool((taking.any(1) & ~taking.all(1)).any())
    if partial:
        interp.fail(
            op,
            "REFERENCE/004",
            f"{op.name} needs all {frame.batch.subgroup_size} workitems of the subgroup",
            frame=frame,
            hint="matrix operations are collective: reach them with whole subgroups and no divergence",
        )
    return slots


def _half(interp: Interpreter, payload: Payload, role: str) -> bool:
    return (
        interp.target.family == "gfx11" and role in ("init", "result") and payload.bits == 16 and payload.form.is_float
    )


def _gather_matrix(
    interp: Interpreter, frame: Frame, payload: Payload, values: Array, role: str, rows: int, columns: int
) -> Array:
    """Lane payloads → one matrix a subgroup."""
    slots = frame.batch.slots()
    wave = slots.shape[1]
    row, column = layout(interp.target.family, wave, role, payload.count, rows, columns, _half(interp, payload, role))
    elements = unpack(payload, values)[slots]
    used = row >= 0
    matrix = np.zeros((slots.shape[0], rows, columns), elements.dtype)
    matrix[:, row[used], column[used]] = elements[:, used]
    return matrix


def _scatter_matrix(
    interp: Interpreter, frame: Frame, payload: Payload, matrix: Array, role: str, old: Array | None
) -> Array:
    """One matrix a subgroup → lane payloads; unused elements keep ``old``."""
    slots = frame.batch.slots()
    wave = slots.shape[1]
    rows, columns = matrix.shape[1:]
    row, column = layout(interp.target.family, wave, role, payload.count, rows, columns, _half(interp, payload, role))
    picked = matrix[:, np.maximum(row, 0), column]
    lanes = np.zeros((frame.batch.lanes, payload.count), picked.dtype)
    lanes[slots.ravel()] = picked.reshape(-1, payload.count)
    if old is not None and (row < 0).any():
        unused = (row[0] < 0)[None, :]
        lanes = np.where(unused, unpack(payload, old), lanes)
    return pack(payload, lanes)


@handles("vector.fragment")
def _fragment(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    vector = op.operand("vector")
    frame.set(op.results[0], frame.values[vector], frame.poison.get(vector))


def _tile(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> tuple[int, int]:
    return (
        interp.uniform_int(frame, op.operand("rows"), op, mask, "tile rows"),
        interp.uniform_int(frame, op.operand("columns"), op, mask, "tile columns"),
    )


def _tile_access(
    interp: Interpreter, frame: Frame, op: Operation, mask: Mask, payload: Payload, role: str
) -> tuple[Access, Array]:
    slots = _collective(interp, frame, op, mask)
    rows, columns = _tile(interp, frame, op, mask)
    wave = slots.shape[1]
    row, column = layout(interp.target.family, wave, role, payload.count, rows, columns, _half(interp, payload, role))
    lane_id = frame.batch.lane_id
    view: ViewValue = frame.values[op.operand("view")]
    origin = [
        place if isinstance(place, int) else place.reshape(-1, 1) for place in index_values(interp, frame, op, mask)
    ]
    used = (row >= 0)[lane_id]
    origin[-2] = origin[-2] + np.maximum(row, 0)[lane_id]
    origin[-1] = origin[-1] + column[lane_id]
    nothing = np.zeros((1, 1), np.int64)
    access = Access(
        interp, frame, op, view, origin, (payload.count,), mask, offsets=nothing, lane_mask=None if used.all() else used
    )
    return access, used


@handles("vector.fragment.load")
def _load(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    result = op.results[0]
    view: ViewValue = frame.values[op.operand("view")]
    payload = payload_of(interp, frame, result, view.form)
    access, used = _tile_access(interp, frame, op, mask, payload, str(op.attributes["role"]))
    values, undefined = access.load()
    if not payload.packed and view.form.name != payload.form.name:
        values = float_to_float(values, payload.form)
    values = np.where(used, values, np.zeros((), values.dtype))
    shape = vector_shape(interp, frame, op, result.type, mask)
    poison: Array | None = None
    if undefined is not None:
        poison = undefined
        if payload.packed:
            poison = np.asarray(undefined.reshape(undefined.shape[0], shape[-1], -1).any(-1))
    packed = pack(payload, values)
    frame.set(result, packed.reshape(packed.shape[0], *shape), poison)


@handles("vector.fragment.store")
def _store(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = op.operand("value")
    view: ViewValue = frame.values[op.operand("view")]
    payload = payload_of(interp, frame, value, view.form)
    access, _ = _tile_access(interp, frame, op, mask, payload, str(op.attributes["role"]))
    elements = unpack(payload, lane_values(frame, value))
    if payload.form.name != view.form.name:
        elements = float_to_float(elements, view.form) if view.form.is_float else elements.astype(view.form.carrier)
    elif payload.packed and not payload.form.is_float:
        elements = elements.astype(view.form.carrier)
    undefined = frame.poison.get(value)
    if undefined is not None and payload.packed:
        undefined = np.repeat(undefined, payload.count // undefined.shape[-1], axis=-1)
    access.store(elements, undefined)


@handles("vector.fragment.repack")
def _repack(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    _collective(interp, frame, op, mask)
    rows, columns = _tile(interp, frame, op, mask)
    source, result = op.operand("vector"), op.results[0]
    held = payload_of(interp, frame, source)
    matrix = _gather_matrix(interp, frame, held, lane_values(frame, source), "result", rows, columns)
    wanted = payload_of(interp, frame, result)
    if wanted.form.is_float:
        matrix = float_to_float(matrix, wanted.form)
    shape = vector_shape(interp, frame, op, result.type, mask)
    payload = _scatter_matrix(interp, frame, wanted, matrix, str(op.attributes["role"]), None)
    frame.set(result, payload.reshape(-1, *shape), _subgroup_poison(frame, source))


def _subgroup_poison(frame: Frame, *values: Value) -> Array | None:
    """Any poison in a subgroup's fragments makes all that the subgroup gets undefined."""
    marks: Array | None = None
    for value in values:
        undefined = frame.poison.get(value)
        if undefined is not None:
            lanes = np.broadcast_to(undefined.reshape(undefined.shape[0], -1).any(1), (frame.batch.lanes,))
            marks = lanes if marks is None else marks | lanes
    if marks is None:
        return None
    slots = frame.batch.slots()
    spread = np.zeros(frame.batch.lanes, np.bool_)
    spread[slots.ravel()] = np.repeat(marks[slots].any(1), slots.shape[1])
    return spread[:, None]


@handles("vector.mma")
def _mma(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    slots = _collective(interp, frame, op, mask)
    lhs, rhs, init = (op.operand(name) for name in ("lhs", "rhs", "init"))
    a_payload, b_payload, c_payload = (payload_of(interp, frame, value) for value in (lhs, rhs, init))
    if not c_payload.form.is_float and not a_payload.packed:
        interp.fail(
            op,
            "REFERENCE/014",
            "vector.mma: integer operands need a schema that names their element format",
            frame=frame,
            hint="write vector.fragment<lhs> %v shape [%m, %k] using {schema = %s : encoding<schema>}",
        )
    wave = slots.shape[1]
    if interp.target.family in ("gfx11", "gfx12"):
        m = n = 16
    else:
        m = n = 32 if c_payload.count == 16 else 16
    k = a_payload.count if interp.target.family == "gfx11" else a_payload.count * wave // m
    a = _gather_matrix(interp, frame, a_payload, lane_values(frame, lhs), "lhs", m, k)
    b = _gather_matrix(interp, frame, b_payload, lane_values(frame, rhs), "rhs", k, n)
    old = lane_values(frame, init)
    c = _gather_matrix(interp, frame, c_payload, old, "init", m, n)
    shape = old.shape[1:]
    if c_payload.form.is_float:
        with np.errstate(all="ignore"):
            product = np.matmul(a.astype(np.float64), b.astype(np.float64)) + c.astype(np.float64)
            d = round_to(product, c_payload.form)
    else:
        total = np.matmul(a.astype(np.int64), b.astype(np.int64)) + c.astype(np.int64)
        if op.attributes.get("saturate"):
            total = np.clip(total, -(1 << 31), (1 << 31) - 1)
        d = (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    payload = _scatter_matrix(interp, frame, c_payload, d, "result", old)
    frame.set(op.results[0], payload.reshape(-1, *shape), _subgroup_poison(frame, lhs, rhs, init))
