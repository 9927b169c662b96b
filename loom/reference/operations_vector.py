"""What only vectors have: shape changes, memory access of whole vectors, reductions, bit streams and packed dot
products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from loom.ir import Operation, Type, Value, VectorType
from loom.reference.execution import Frame, Interpreter, form_of, handles
from loom.reference.formats import FORMATS, Array, ElementFormat, decode, encode, parse_number
from loom.reference.numerics import either
from loom.reference.operations_memory import (
    Access,
    atomic_update,
    combine,
    exchange,
    index_values,
    require_defined_operands,
)
from loom.reference.operations_scalar import poison_of
from loom.reference.values import Mask, ViewValue

I32, F32 = FORMATS["i32"], FORMATS["f32"]


def vector_shape(interp: Interpreter, frame: Frame, op: Operation, type_: Type, mask: Mask) -> tuple[int, ...]:
    """The extents of a vector type, dynamic ones read from the values it names (they must be uniform)."""
    assert isinstance(type_, VectorType)
    return tuple(
        dim if isinstance(dim, int) else interp.uniform_int(frame, dim, op, mask, "dimension") for dim in type_.dims
    )


def _move(interp: Interpreter, frame: Frame, op: Operation, function: Any) -> None:
    """Apply a pure data movement to the operand and to its poison."""
    source = frame.values[op.operands[0]]
    undefined = frame.poison.get(op.operands[0])
    moved = (
        None
        if undefined is None
        else function(np.broadcast_to(undefined, np.broadcast_shapes(undefined.shape, source.shape)))
    )
    frame.set(op.results[0], function(source), moved)


# --- making vectors ---------------------------------------------------------------------------------------------------


@handles("vector.constant")
def _constant(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    value = parse_number(op.attributes["value"], form_of(op.results[0].type))
    frame.set(op.results[0], np.full((1, *shape), value))


@handles("vector.poison", "vector.empty")
def _poison(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = (1, *vector_shape(interp, frame, op, op.results[0].type, mask))
    undefined = np.ones(shape, np.bool_) if op.name == "vector.poison" else None
    frame.set(op.results[0], np.zeros(shape, form_of(op.results[0].type).carrier), undefined)


@handles("vector.splat")
def _splat(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)

    def spread(values: Array) -> Array:
        lanes = values.shape[0]
        return np.broadcast_to(values.reshape(lanes, *([1] * len(shape))), (lanes, *shape))

    _move(interp, frame, op, spread)


@handles("vector.iota")
def _iota(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    form = form_of(op.results[0].type)
    ramp = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(1, *shape).astype(form.carrier)
    base, step = (frame.values[operand].reshape(-1, *([1] * len(shape))) for operand in op.operands)
    with np.errstate(over="ignore"):
        values = (base + ramp * step).astype(form.carrier, copy=False)
    undefined = poison_of(frame, op)
    frame.set(op.results[0], values, None if undefined is None else undefined.reshape(-1, *([1] * len(shape))))


@handles("vector.from_elements")
def _from_elements(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    parts = [frame.values[operand] for operand in op.operands]
    if not parts:
        frame.set(op.results[0], np.zeros((1, *shape), form_of(op.results[0].type).carrier))
        return
    stacked = np.stack(np.broadcast_arrays(*parts), axis=1)
    undefined = None
    if any(operand in frame.poison for operand in op.operands):
        blank = np.zeros(1, np.bool_)
        marks = np.broadcast_arrays(*(frame.poison.get(operand, blank) for operand in op.operands))
        undefined = np.stack(marks, axis=1).reshape(-1, *shape)
    frame.set(op.results[0], stacked.reshape(-1, *shape), undefined)


@handles("vector.mask.range")
def _mask_range(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    low, high, step = (frame.values[operand].reshape(-1, *([1] * len(shape))) for operand in op.operands)
    ramp = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(1, *shape)
    undefined = poison_of(frame, op)
    result = low.astype(np.int64) + ramp * step.astype(np.int64) < high.astype(np.int64)
    frame.set(op.results[0], result, None if undefined is None else undefined.reshape(-1, *([1] * len(shape))))


@handles("vector.broadcast")
def _broadcast(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)

    def spread(values: Array) -> Array:
        lead = len(shape) - (values.ndim - 1)
        widened = values.reshape(values.shape[0], *([1] * lead), *values.shape[1:])
        return np.broadcast_to(widened, (values.shape[0], *shape))

    _move(interp, frame, op, spread)


# --- moving lanes -----------------------------------------------------------------------------------------------------


def _select_positions(
    interp: Interpreter, frame: Frame, op: Operation, mask: Mask, extents: Sequence[int]
) -> tuple[list[Any], Array | None]:
    """Leading indices, clamped into range, and where one of them was outside."""
    outside: Array | None = None
    places: list[Any] = []
    for place, extent in zip(index_values(interp, frame, op, mask), extents, strict=False):
        wrong = np.atleast_1d((np.asarray(place) < 0) | (np.asarray(place) >= extent))
        if wrong.any():
            outside = either(outside, wrong)
        places.append(np.clip(place, 0, max(extent - 1, 0)))
    return places, outside


@handles("vector.extract")
def _extract(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    source = frame.values[op.operands[0]]
    undefined = frame.poison.get(op.operands[0])
    places, outside = _select_positions(interp, frame, op, mask, source.shape[1:])
    lanes = np.broadcast_shapes((source.shape[0],), *(np.atleast_1d(place).shape for place in places))[0]

    def take(values: Array) -> Array:
        spread = np.broadcast_to(values, (lanes if lanes > 1 else values.shape[0], *source.shape[1:]))
        rows = np.arange(spread.shape[0])
        return np.asarray(spread[(rows, *(np.broadcast_to(place, rows.shape) for place in places))])

    result = take(source)
    poison = None if undefined is None else take(undefined)
    if outside is not None:
        poison = either(poison, outside.reshape(-1, *([1] * (result.ndim - 1))))
    frame.set(op.results[0], result, poison)


@handles("vector.insert")
def _insert(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value_name, vector_name = op.operand("value"), op.operand("vector")
    value, base = frame.values[value_name], frame.values[vector_name]
    places, outside = _select_positions(interp, frame, op, mask, base.shape[1:])
    lanes = np.broadcast_shapes((base.shape[0],), (value.shape[0],), *(np.atleast_1d(place).shape for place in places))[
        0
    ]

    def put(target: Array, part: Array) -> Array:
        result = np.array(np.broadcast_to(target, (lanes, *base.shape[1:])))
        rows = np.arange(lanes)
        result[(rows, *(np.broadcast_to(place, rows.shape) for place in places))] = part
        return result

    poison: Array | None = None
    if value_name in frame.poison or vector_name in frame.poison:
        blank = np.zeros((1,) * base.ndim, np.bool_)
        mark = frame.poison.get(value_name, np.zeros((1,) * value.ndim, np.bool_))
        poison = put(frame.poison.get(vector_name, blank), mark)
    if outside is not None:
        poison = either(poison, outside.reshape(-1, *([1] * (base.ndim - 1))))
    frame.set(op.results[0], put(base, value), poison)


@handles("vector.slice")
def _slice(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    source = frame.values[op.operands[0]]
    undefined = frame.poison.get(op.operands[0])
    outside: Array | None = None
    starts: list[Any] = []
    for place, extent, length in zip(index_values(interp, frame, op, mask), source.shape[1:], shape, strict=True):
        wrong = np.atleast_1d((np.asarray(place) < 0) | (np.asarray(place) + length > extent))
        if wrong.any():
            outside = either(outside, wrong)
        starts.append(np.clip(place, 0, extent - length))
    lanes = np.broadcast_shapes((source.shape[0],), *(np.atleast_1d(start).shape for start in starts))[0]

    def take(values: Array) -> Array:
        spread = np.broadcast_to(values, (lanes, *source.shape[1:]))
        rank = len(shape)
        rows = np.arange(lanes).reshape(-1, *([1] * rank))
        positions = []
        for axis, (start, length) in enumerate(zip(starts, shape, strict=True)):
            ramp = np.arange(length).reshape(1, *([1] * axis), -1, *([1] * (rank - axis - 1)))
            positions.append(np.atleast_1d(start).reshape(-1, *([1] * rank)) + ramp)
        return np.asarray(spread[(rows, *positions)])

    poison = None if undefined is None else take(undefined)
    if outside is not None:
        poison = either(poison, outside.reshape(-1, *([1] * len(shape))))
    frame.set(op.results[0], take(source), poison)


@handles("vector.concat")
def _concat(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    axis = int(op.attributes["axis"]) + 1  # type: ignore[arg-type]
    _join(frame, op, lambda parts: np.concatenate(parts, axis=axis))


@handles("vector.interleave")
def _interleave(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    axis = int(op.attributes["axis"]) + 1  # type: ignore[arg-type]

    def join(parts: list[Array]) -> Array:
        stacked = np.stack(parts, axis=axis + 1)
        shape = list(parts[0].shape)
        shape[axis] *= 2
        return stacked.reshape(shape)

    _join(frame, op, join)


def _join(frame: Frame, op: Operation, function: Any) -> None:
    parts = [frame.values[operand] for operand in op.operands]
    lanes = max(part.shape[0] for part in parts)
    spread = [np.broadcast_to(part, (lanes, *part.shape[1:])) for part in parts]
    poison: Array | None = None
    if any(operand in frame.poison for operand in op.operands):
        blank = np.zeros(1, np.bool_)
        marks = [
            frame.poison.get(operand, blank.reshape((1,) * part.ndim))
            for operand, part in zip(op.operands, parts, strict=True)
        ]
        poison = function([np.broadcast_to(mark, part.shape) for mark, part in zip(marks, spread, strict=True)])
    frame.set(op.results[0], function(spread), poison)


@handles("vector.deinterleave")
def _deinterleave(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    axis = int(op.attributes["axis"]) + 1  # type: ignore[arg-type]
    source = frame.values[op.operands[0]]
    undefined = frame.poison.get(op.operands[0])
    for result, start in zip(op.results, (0, 1), strict=True):
        chosen = np.arange(start, source.shape[axis], 2)
        spread = (
            None
            if undefined is None
            else np.broadcast_to(undefined, np.broadcast_shapes(undefined.shape, source.shape))
        )
        frame.set(result, source.take(chosen, axis), None if spread is None else spread.take(chosen, axis))


@handles("vector.shuffle")
def _shuffle(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    lanes: Any = op.attributes["lanes"]
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)

    def move(values: Array) -> Array:
        flat = values.reshape(values.shape[0], -1)
        return np.asarray(flat[:, list(lanes)].reshape(values.shape[0], *shape))

    _move(interp, frame, op, move)


@handles("vector.transpose")
def _transpose(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    permutation: Any = op.attributes["permutation"]
    _move(interp, frame, op, lambda values: np.transpose(values, (0, *(axis + 1 for axis in permutation))))


@handles("vector.select")
def _select(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    condition, new, old = (frame.values[operand] for operand in op.operands)
    poison: Array | None = None
    if frame.poison:
        marks = [frame.poison.get(operand) for operand in op.operands]
        if any(mark is not None for mark in marks):
            blank = np.zeros((1,) * new.ndim, np.bool_)
            chosen, first, second = (blank if mark is None else mark for mark in marks)
            poison = np.where(condition, first, second) | chosen
    frame.set(op.results[0], np.where(condition, new, old), poison)


@handles("vector.table.lookup")
def _lookup(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    table, places = (frame.values[operand] for operand in op.operands)
    count = table.shape[1]
    wide = places.astype(np.int64)
    outside = (wide < 0) | (wide >= count)
    lanes = max(table.shape[0], places.shape[0])
    safe = np.broadcast_to(np.clip(wide, 0, count - 1), (lanes, *places.shape[1:])).reshape(lanes, -1)

    def take(values: Array) -> Array:
        spread = np.broadcast_to(values, (lanes, count))
        return np.take_along_axis(spread, safe, axis=1).reshape(lanes, *places.shape[1:])

    poison: Array | None = outside if outside.any() else None
    if op.operands[0] in frame.poison:
        poison = either(poison, take(frame.poison[op.operands[0]]))
    poison = either(poison, frame.poison.get(op.operands[1]))
    frame.set(op.results[0], take(table), poison)


@handles("vector.table.quantize")
def _quantize(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    values, thresholds = (frame.values[operand] for operand in op.operands)
    limits = thresholds.reshape(thresholds.shape[0], *([1] * (values.ndim - 1)), -1)
    passed = values[..., None] > limits if op.attributes["tie"] == "lower" else values[..., None] >= limits
    count = passed.sum(-1)
    count = np.where(np.isnan(values), thresholds.shape[1] if op.attributes["nan"] == "max" else 0, count)
    form = form_of(op.results[0].type)
    undefined = frame.poison.get(op.operands[0])
    if op.operands[1] in frame.poison:
        spread = frame.poison[op.operands[1]].any(-1).reshape(-1, *([1] * (values.ndim - 1)))
        undefined = either(undefined, spread)
    frame.set(op.results[0], count.astype(form.carrier), undefined)


# --- memory -----------------------------------------------------------------------------------------------------------


def _access(
    interp: Interpreter, frame: Frame, op: Operation, mask: Mask, shape: tuple[int, ...], lane_mask: Array | None = None
) -> Access:
    view: ViewValue = frame.values[op.operand("view")]
    origin = index_values(interp, frame, op, mask)
    return Access(interp, frame, op, view, origin, shape, mask, lane_mask=lane_mask)


def _gather_access(interp: Interpreter, frame: Frame, op: Operation, mask: Mask, shape: tuple[int, ...]) -> Access:
    view: ViewValue = frame.values[op.operand("view")]
    origin = index_values(interp, frame, op, mask)
    lane_mask: Array | None = None
    if "mask" in op.definition.operand_positions:
        lane_mask = interp.defined(frame, op.operand("mask"), op, mask, "mask")
    offsets_name = op.operand("offsets")
    offsets = frame.values[offsets_name].astype(np.int64)
    undefined = frame.poison.get(offsets_name)
    if undefined is not None:
        relevant = undefined if lane_mask is None else undefined & lane_mask
        frame_mask = relevant.reshape(relevant.shape[0], -1).any(1)
        if (frame_mask if mask is None else frame_mask & mask).any():
            interp.fail(op, "REFERENCE/006", f"{op.name}: an offset is undefined", frame=frame)
    return Access(interp, frame, op, view, origin, shape, mask, offsets=offsets, lane_mask=lane_mask)


@handles("vector.load")
def _load(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    frame.set(op.results[0], *_access(interp, frame, op, mask, shape).load())


@handles("vector.store")
def _store(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = op.operand("value")
    content = frame.values[value]
    _access(interp, frame, op, mask, content.shape[1:]).store(content, frame.poison.get(value))


def _with_passthrough(frame: Frame, op: Operation, loaded: Array, undefined: Array | None, lanes: Array) -> None:
    through = op.operand("passthrough")
    poison: Array | None = None
    if undefined is not None or through in frame.poison:
        blank = np.zeros((1,) * loaded.ndim, np.bool_)
        poison = np.where(lanes, blank if undefined is None else undefined, frame.poison.get(through, blank))
    frame.set(op.results[0], np.where(lanes, loaded, frame.values[through]), poison)


@handles("vector.load.mask")
def _load_mask(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    lanes = interp.defined(frame, op.operand("mask"), op, mask, "mask")
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    loaded, undefined = _access(interp, frame, op, mask, shape, lanes).load()
    _with_passthrough(frame, op, loaded, undefined, lanes)


@handles("vector.store.mask")
def _store_mask(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    lanes = interp.defined(frame, op.operand("mask"), op, mask, "mask")
    value = op.operand("value")
    content = frame.values[value]
    _access(interp, frame, op, mask, content.shape[1:], lanes).store(content, frame.poison.get(value))


def _packed_places(lanes: Array) -> Array:
    """For each active lane its place among the active ones."""
    return np.cumsum(lanes, axis=1) - 1


@handles("vector.load.expand")
def _load_expand(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    lanes = interp.defined(frame, op.operand("mask"), op, mask, "mask")
    access = _consecutive(interp, frame, op, mask, lanes)
    loaded, undefined = access.load()
    _with_passthrough(frame, op, loaded, undefined, lanes)


@handles("vector.store.compress")
def _store_compress(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    lanes = interp.defined(frame, op.operand("mask"), op, mask, "mask")
    value = op.operand("value")
    _consecutive(interp, frame, op, mask, lanes).store(frame.values[value], frame.poison.get(value))


def _consecutive(interp: Interpreter, frame: Frame, op: Operation, mask: Mask, lanes: Array) -> Access:
    view: ViewValue = frame.values[op.operand("view")]
    origin = index_values(interp, frame, op, mask)
    return Access(
        interp, frame, op, view, origin, lanes.shape[1:], mask, offsets=_packed_places(lanes), lane_mask=lanes
    )


@handles("vector.gather")
def _gather(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    frame.set(op.results[0], *_gather_access(interp, frame, op, mask, shape).load())


@handles("vector.gather.mask")
def _gather_mask(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    loaded, undefined = _gather_access(interp, frame, op, mask, shape).load()
    _with_passthrough(frame, op, loaded, undefined, frame.values[op.operand("mask")])


@handles("vector.scatter", "vector.scatter.mask")
def _scatter(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = op.operand("value")
    content = frame.values[value]
    access = _gather_access(interp, frame, op, mask, content.shape[1:])
    addresses, lane, _ = access._flat()
    pairs = addresses + lane * np.int64(access.view.buffer.arena.capacity)
    if np.unique(pairs).size != pairs.size:
        interp.fail(
            op,
            "REFERENCE/005",
            f"{op.name}: two lanes of the vector address the same element",
            frame=frame,
            hint="lanes of a scatter must be distinct",
        )
    access.store(content, frame.poison.get(value))


@handles("vector.atomic.reduce", "vector.atomic.reduce.mask", "vector.atomic.rmw", "vector.atomic.rmw.mask")
def _atomic(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = op.operand("value")
    require_defined_operands(interp, frame, op, mask, value)
    content = frame.values[value]
    access = _gather_access(interp, frame, op, mask, content.shape[1:])
    kind, form = str(op.attributes["kind"]), access.form
    old = atomic_update(access, lambda o, v: combine(kind, o, v, form), [content])
    if not op.results:
        return
    if "passthrough" in op.definition.operand_positions:
        _with_passthrough(frame, op, old, None, frame.values[op.operand("mask")])
    else:
        frame.set(op.results[0], old)


@handles("vector.atomic.cmpxchg")
def _compare_exchange(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    expected, replacement = op.operand("expected"), op.operand("replacement")
    require_defined_operands(interp, frame, op, mask, expected, replacement)
    content = frame.values[expected]
    access = _gather_access(interp, frame, op, mask, content.shape[1:])
    form = access.form
    old = atomic_update(access, lambda o, e, r: exchange(o, e, r, form), [content, frame.values[replacement]])
    frame.set(op.results[0], old)


# --- reductions -------------------------------------------------------------------------------------------------------


def whole(frame: Frame, value: Value) -> Array | None:
    """Poison of any element of a vector, one boolean a workitem."""
    undefined = frame.poison.get(value)
    return None if undefined is None else np.asarray(undefined.reshape(undefined.shape[0], -1).any(1))


@handles("vector.reduce")
def _reduce(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    vector, init = op.operands
    kind, form = str(op.attributes["kind"]), form_of(vector.type)
    flat = frame.values[vector].reshape(frame.values[vector].shape[0], -1)
    total = frame.values[init]
    for position in range(flat.shape[1]):
        total = combine(kind, total, flat[:, position], form)
    frame.set(op.results[0], total, either(whole(frame, vector), frame.poison.get(init)))


@handles("vector.reduce.axes")
def _reduce_axes(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    vector, init = op.operands
    kind, form = str(op.attributes["kind"]), form_of(vector.type)
    axes: Any = op.attributes["axes"]
    source, total = frame.values[vector], frame.values[init]
    kept = [axis for axis in range(source.ndim - 1) if axis not in axes]
    ordered = np.transpose(source, (0, *(axis + 1 for axis in axes), *(axis + 1 for axis in kept)))
    rest = [source.shape[axis + 1] for axis in kept]
    lines = ordered.reshape(source.shape[0], -1, *rest)
    for position in range(lines.shape[1]):
        total = combine(kind, total, lines[:, position], form)
    undefined = whole(frame, vector)
    if undefined is not None:
        undefined = undefined.reshape(-1, *([1] * len(rest)))
    frame.set(op.results[0], total, either(undefined, frame.poison.get(init)))


# --- bits -------------------------------------------------------------------------------------------------------------


def to_bits(words: Array, width: int) -> Array:
    """Unsigned words → their low ``width`` bits, least significant first, as a new last axis."""
    places = np.arange(width).astype(words.dtype)
    return np.asarray(((words[..., None] >> places) & words.dtype.type(1)).astype(np.bool_))


def from_bits(bits: Array, form: ElementFormat, signed: bool = False) -> Array:
    """The inverse of :func:`to_bits` into carriers of ``form``; fewer bits than the type's are extended."""
    weights = np.uint64(1) << np.arange(bits.shape[-1], dtype=np.uint64)
    words = (bits.astype(np.uint64) * weights).sum(-1, dtype=np.uint64)
    if signed and 0 < bits.shape[-1] < 64:
        top = np.uint64((-1 << bits.shape[-1]) & 0xFFFFFFFFFFFFFFFF)
        words = np.where(bits[..., -1], words | top, words)
    if form.name == "i1":
        return np.asarray((words & np.uint64(1)).astype(np.bool_))
    return decode(words.astype(form.storage), form)


def _words(values: Array, form: ElementFormat) -> Array:
    return encode(values.reshape(values.shape[0], -1), form)


@handles("vector.bitcast")
def _bitcast(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    source_form, target_form = form_of(op.operands[0].type), form_of(op.results[0].type)
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    source = frame.values[op.operands[0]]
    undefined = frame.poison.get(op.operands[0])
    lanes = source.shape[0]
    if source_form.name != "i1" and target_form.name != "i1":
        raw = np.ascontiguousarray(_words(source, source_form)).view(np.uint8).reshape(lanes, -1)
        words = np.ascontiguousarray(raw).view(target_form.storage)
        values = decode(words, target_form).reshape(lanes, *shape)
    else:
        stream = to_bits(_words(source, source_form), source_form.bits).reshape(lanes, -1, target_form.bits)
        values = from_bits(stream, target_form).reshape(lanes, *shape)
    poison: Array | None = None
    if undefined is not None:
        spread = np.broadcast_to(undefined, np.broadcast_shapes(undefined.shape, source.shape))
        marks = np.repeat(spread.reshape(spread.shape[0], -1), source_form.bits, axis=1)
        poison = marks.reshape(spread.shape[0], -1, target_form.bits).any(-1).reshape(spread.shape[0], *shape)
    frame.set(op.results[0], values, poison)


@handles("vector.bitpack", "vector.bitunpacku", "vector.bitunpacks")
def _bit_stream(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    width = int(op.attributes["width"])  # type: ignore[arg-type]
    source_form, target_form = form_of(op.operands[0].type), form_of(op.results[0].type)
    shape = vector_shape(interp, frame, op, op.results[0].type, mask)
    source = frame.values[op.operands[0]]
    packs = op.name == "vector.bitpack"
    stream = to_bits(_words(source, source_form), width if packs else source_form.bits).reshape(source.shape[0], -1)
    field = target_form.bits if packs else width
    count = int(np.prod(shape, dtype=np.int64))
    needed = count * field
    if stream.shape[1] < needed:
        stream = np.concatenate([stream, np.zeros((stream.shape[0], needed - stream.shape[1]), np.bool_)], axis=1)
    fields = stream[:, :needed].reshape(source.shape[0], count, field)
    values = from_bits(fields, target_form, op.name == "vector.bitunpacks").reshape(source.shape[0], *shape)
    undefined = whole(frame, op.operands[0])
    frame.set(op.results[0], values, None if undefined is None else undefined.reshape(-1, *([1] * len(shape))))


@handles("vector.bitfield.extractu", "vector.bitfield.extracts")
def _bit_field(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    offset, width = int(op.attributes["offset"]), int(op.attributes["width"])  # type: ignore[arg-type]
    source_form, target_form = form_of(op.operands[0].type), form_of(op.results[0].type)
    source = frame.values[op.operands[0]]
    bits = to_bits(encode(source, source_form), source_form.bits)[..., offset : offset + width]
    frame.set(
        op.results[0],
        from_bits(bits, target_form, op.name.endswith("extracts")),
        frame.poison.get(op.operands[0]),
    )


@handles("vector.bitfield.insert")
def _bit_insert(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    offset, width = int(op.attributes["offset"]), int(op.attributes["width"])  # type: ignore[arg-type]
    field_form, base_form = form_of(op.operands[0].type), form_of(op.operands[1].type)
    field, base = np.broadcast_arrays(*(frame.values[operand] for operand in op.operands))
    bits = to_bits(encode(base, base_form), base_form.bits)
    new = to_bits(encode(field, field_form), min(width, field_form.bits))
    bits = np.array(bits)
    bits[..., offset : offset + width] = False
    bits[..., offset : offset + new.shape[-1]] = new
    frame.set(op.results[0], from_bits(bits, base_form), poison_of(frame, op))
