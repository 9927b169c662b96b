"""What workitems know about themselves and do together: ids, barriers, subgroup and workgroup collectives, async
copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from loom.ir import Operation, Value
from loom.reference.async_copies import AsyncCopies, movement
from loom.reference.execution import Batch, Frame, Interpreter, form_of, handles
from loom.reference.formats import Array, ElementFormat, encode
from loom.reference.numerics import either
from loom.reference.operations_memory import Access, allocate, combine, lane_values
from loom.reference.values import BufferValue, Mask, ViewValue, column

_AXIS = {"x": 0, "y": 1, "z": 2}


def _axis(op: Operation) -> int:
    return _AXIS[str(op.attributes["dimension"])]


# --- geometry ---------------------------------------------------------------------------------------------------------


@handles("kernel.workitem.id", "kernel.workgroup.id")
def _coordinate(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    kind = "workitem" if op.name == "kernel.workitem.id" else "workgroup"
    frame.set(op.results[0], frame.batch.coordinate(kind, _axis(op)))


@handles("kernel.workgroup.size", "kernel.workgroup.count")
def _extent(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    geometry = frame.batch.geometry
    extents = geometry.workgroup_size if op.name == "kernel.workgroup.size" else geometry.workgroups
    frame.set(op.results[0], np.array([extents[_axis(op)]], np.int64))


@handles("kernel.workitem.dispatch.id")
def _dispatch(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    axis, batch = _axis(op), frame.batch
    size = batch.geometry.workgroup_size[axis]
    frame.set(op.results[0], batch.coordinate("workgroup", axis) * size + batch.coordinate("workitem", axis))


@handles("kernel.subgroup.id", "kernel.subgroup.count", "kernel.subgroup.size", "kernel.subgroup.lane.id")
def _subgroup(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    batch = frame.batch
    if op.name == "kernel.subgroup.id":
        value = batch.subgroup
    elif op.name == "kernel.subgroup.lane.id":
        value = batch.lane_id
    else:
        count = batch.subgroups if op.name == "kernel.subgroup.count" else batch.subgroup_size
        value = np.array([count], np.int64)
    frame.set(op.results[0], value)


@handles("target.subgroup.size")
def _target_subgroup(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    frame.set(op.results[0], np.array([frame.batch.subgroup_size], np.int64))


@handles(
    "kernel.cluster.id",
    "kernel.cluster.size",
    "kernel.cluster.count",
    "kernel.cluster.workgroup.id",
    "kernel.cluster.workgroup.size",
    "kernel.cluster.workgroup.count",
)
def _cluster(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    axis, batch = _axis(op), frame.batch
    size = batch.geometry.cluster[axis]
    place = batch.coordinate("workgroup", axis)
    count = -(-batch.geometry.workgroups[axis] // size)
    value = {
        "kernel.cluster.id": place // size,
        "kernel.cluster.workgroup.id": place % size,
        "kernel.cluster.count": np.array([count], np.int64),
    }.get(op.name, np.array([size], np.int64))
    frame.set(op.results[0], value)


@handles("kernel.cluster.workgroup.flat_id")
def _cluster_flat(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    batch = frame.batch
    x, y, _ = batch.geometry.cluster
    places = [batch.coordinate("workgroup", axis) % batch.geometry.cluster[axis] for axis in range(3)]
    frame.set(op.results[0], places[0] + x * (places[1] + y * places[2]))


# --- barriers and control ---------------------------------------------------------------------------------------------


def _active(batch: Batch, mask: Mask) -> Array:
    active = np.ones(batch.lanes, np.bool_) if mask is None else np.broadcast_to(mask, (batch.lanes,))
    return active


def require_uniform(interp: Interpreter, frame: Frame, op: Operation, mask: Mask, scope: str) -> None:
    """All workitems of each workgroup (or subgroup) that takes part must have reached ``op``; those that left do not
    count."""
    batch = frame.batch
    if mask is None:
        return
    active = _active(batch, mask)
    present = active if batch.exited is None else active | batch.exited
    if scope == "workgroup":
        groups = present.reshape(batch.groups, batch.size)
        divided = groups.any(1) & ~groups.all(1) & active.reshape(groups.shape).any(1)
    else:
        slots = batch.slots()
        rows = np.where(slots >= 0, present[slots], True)
        some = (np.where(slots >= 0, active[slots], False)).any(1)
        divided = some & ~rows.all(1)
    if divided.any():
        missing = (
            int(np.argmax(~present & np.repeat(divided, batch.lanes // divided.size))) if scope == "workgroup" else 0
        )
        interp.fail(
            op,
            "REFERENCE/004",
            f"{op.name} is reached by some workitems of the {scope} only",
            frame=frame,
            lane=missing,
            hint="move it out of the divergent branch or loop",
        )


@handles("kernel.barrier")
def _barrier(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    scope = str(op.attributes.get("scope") or "workgroup")
    require_uniform(interp, frame, op, mask, scope)
    active = _active(frame.batch, mask)
    frame.batch.subgroup_interval[active] += 1
    if scope == "workgroup":
        frame.batch.interval[active] += 1


def _synchronize(frame: Frame, mask: Mask) -> None:
    """Workgroup collectives order memory as a barrier does."""
    active = _active(frame.batch, mask)
    frame.batch.interval[active] += 1
    frame.batch.subgroup_interval[active] += 1


@handles("kernel.exit")
def _exit(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    condition = interp.defined(frame, op.operands[0], op, mask, "condition")
    leaving = np.broadcast_to(condition, (frame.batch.lanes,)) & _active(frame.batch, mask)
    if leaving.any():
        frame.batch.exited = leaving if frame.batch.exited is None else frame.batch.exited | leaving


@handles("kernel.assert")
def _assert(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    condition = interp.defined(frame, op.operands[0], op, mask, "condition")
    failed = ~condition if mask is None else ~condition & mask
    if failed.any():
        message = op.attributes.get("message")
        text = f": {message}" if message else ""
        interp.fail(op, "REFERENCE/009", f"kernel.assert failed{text}", frame=frame, lane=int(np.argmax(failed)))


# --- subgroup collectives ---------------------------------------------------------------------------------------------


class _Rows:
    """A value arranged in rows (subgroups, or whole workgroups) × positions, with the active places."""

    __slots__ = ("active", "lanes", "slots")

    def __init__(self, frame: Frame, mask: Mask, level: str) -> None:
        batch = frame.batch
        self.lanes = batch.lanes
        self.slots = batch.slots() if level == "subgroup" else np.arange(batch.lanes).reshape(batch.groups, batch.size)
        self.active: Array = (self.slots >= 0) & _active(batch, mask)[self.slots]

    def spread(self, values: Array) -> Array:
        """Lane array → rows × positions (garbage where no workitem is)."""
        return np.asarray(values[self.slots])

    def collect(self, rows: Array) -> Array:
        """Rows × positions → lane array."""
        result = np.zeros((self.lanes, *rows.shape[2:]), rows.dtype)
        used = self.slots >= 0
        result[self.slots[used]] = rows[used]
        return result


def _identity(kind: str, form: ElementFormat) -> Array:
    """The identity of a combining kind."""
    if form.is_float:
        value: Any = {
            "addf": 0.0,
            "mulf": 1.0,
            "minimumf": np.inf,
            "minnumf": np.inf,
            "maximumf": -np.inf,
            "maxnumf": -np.inf,
        }[kind]
        if form.name == "f8E4M3" and np.isinf(value):
            value = np.copysign(448.0, value)
        return np.asarray(value, form.carrier)
    low, high = -(1 << (form.bits - 1)), (1 << (form.bits - 1)) - 1
    value = {
        "addi": 0,
        "muli": 1,
        "minsi": high,
        "maxsi": low,
        "minui": -1,
        "maxui": 0,
        "andi": -1,
        "ori": 0,
        "xori": 0,
    }[kind]
    return np.asarray(bool(value) if form.name == "i1" else value, form.carrier)


def _clusters(interp: Interpreter, frame: Frame, op: Operation, width: int) -> tuple[int, int]:
    size: Any = op.attributes.get("cluster_size")
    stride: Any = op.attributes.get("cluster_stride") or 1
    size = width if size is None else int(size)
    if size * int(stride) > width or width % (size * int(stride)):
        interp.fail(
            op,
            "REFERENCE/013",
            f"{op.name}: clusters of {size} lanes with stride {stride} do not divide the {width} lanes of the subgroup",
            frame=frame,
        )
    return size, int(stride)


def _fold(kind: str, form: ElementFormat, rows: Array, active: Array, reverse: bool) -> tuple[Array, Array]:
    """Inclusive running combination along axis 2 of rows × blocks × members × stride (× elements), active ones only."""
    count = rows.shape[2]
    order = range(count - 1, -1, -1) if reverse else range(count)
    running = np.array(np.broadcast_to(_identity(kind, form), rows[:, :, 0].shape))
    seen = np.zeros(active[:, :, 0].shape, np.bool_)
    result = np.empty_like(rows)
    for place in order:
        present = active[:, :, place]
        value = rows[:, :, place]
        rank = value.ndim
        spread_present = present.reshape(*present.shape, *([1] * (rank - present.ndim)))
        spread_seen = seen.reshape(*seen.shape, *([1] * (rank - seen.ndim)))
        running = np.where(spread_present, np.where(spread_seen, combine(kind, running, value, form), value), running)
        seen = seen | present
        result[:, :, place] = running
    return result, running


def _arrange(rows: Array, size: int, stride: int) -> Array:
    """Rows × positions (× elements) → rows × blocks × members × stride (× elements)."""
    return rows.reshape(rows.shape[0], -1, size, stride, *rows.shape[2:])


@handles("kernel.subgroup.reduce", "kernel.workgroup.reduce", "kernel.subgroup.scan", "kernel.workgroup.scan")
def _reduce(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    level = "subgroup" if op.name.startswith("kernel.subgroup") else "workgroup"
    if level == "workgroup":
        require_uniform(interp, frame, op, mask, "workgroup")
        _synchronize(frame, mask)
    value = op.operands[0]
    form, kind = form_of(value.type), str(op.attributes["kind"])
    rows = _Rows(frame, mask, level)
    width = rows.slots.shape[1]
    size, stride = _clusters(interp, frame, op, width) if level == "subgroup" else (width, 1)
    values = _arrange(rows.spread(lane_values(frame, value)), size, stride)
    active = _arrange(rows.active, size, stride)
    scans = op.name.endswith("scan")
    reverse = scans and op.attributes["direction"] == "reverse"
    running, total = _fold(kind, form, values, active, reverse)
    if not scans:
        spread = np.broadcast_to(total[:, :, None], running.shape)
    elif op.attributes["mode"] == "inclusive":
        spread = running
    else:
        identity = np.broadcast_to(_identity(kind, form), running[:, :, :1].shape)
        parts = (running[:, :, 1:], identity) if reverse else (identity, running[:, :, :-1])
        spread = np.concatenate(parts, axis=2)
    merged = spread.reshape(rows.slots.shape[0], width, *values.shape[4:])
    poison = _scan_poison(frame, op, rows, size, stride) if scans else _row_poison(frame, value, rows, size, stride)
    frame.set(op.results[0], rows.collect(merged), poison)


def _scan_poison(frame: Frame, op: Operation, rows: _Rows, size: int, stride: int) -> Array | None:
    """A poisoned active member poisons, element by element, its own result (inclusive) and those behind it."""
    value = op.operands[0]
    undefined = frame.poison.get(value)
    if undefined is None:
        return None
    spread = np.broadcast_to(undefined, (rows.lanes, *frame.values[value].shape[1:]))
    marks = rows.spread(spread)
    marks = _arrange(marks & _column_of(rows.active, marks.ndim), size, stride)
    if op.attributes["direction"] == "reverse":
        behind = np.logical_or.accumulate(marks[:, :, ::-1], axis=2)[:, :, ::-1]
        before, first = behind[:, :, 1:], np.zeros_like(marks[:, :, :1])
        shifted = np.concatenate([before, first], axis=2)
    else:
        behind = np.logical_or.accumulate(marks, axis=2)
        shifted = np.concatenate([np.zeros_like(marks[:, :, :1]), behind[:, :, :-1]], axis=2)
    found = behind if op.attributes["mode"] == "inclusive" else shifted
    return rows.collect(found.reshape(rows.slots.shape[0], rows.slots.shape[1], *marks.shape[4:]))


def _column_of(rows: Array, rank: int) -> Array:
    """Rows × positions reshaped to broadcast against an array of ``rank`` that starts with these two axes."""
    return rows.reshape(*rows.shape, *([1] * (rank - 2)))


def _row_poison(frame: Frame, value: Value, rows: _Rows, size: int, stride: int) -> Array | None:
    """A poisoned active member poisons its whole cluster."""
    undefined = frame.poison.get(value)
    if undefined is None:
        return None
    lanes = np.broadcast_to(undefined.reshape(undefined.shape[0], -1).any(1), (rows.lanes,))
    marks = _arrange(rows.spread(lanes) & rows.active, size, stride).any(2, keepdims=True)
    spread = np.broadcast_to(marks, (marks.shape[0], marks.shape[1], size, stride)).reshape(rows.slots.shape)
    poison = rows.collect(spread)
    return column(poison, frame.values[value].ndim)


def _from_lane(
    interp: Interpreter, frame: Frame, value: Value, source: Array, valid: Array, mask: Mask
) -> tuple[Array, Array | None]:
    """Each lane's value read from lane ``source`` of its subgroup; undefined where not ``valid`` or the source is not
    active."""
    batch = frame.batch
    content = lane_values(frame, value)
    target = batch.subgroup * batch.subgroup_size + source
    inside = valid & (source >= 0) & (source < batch.subgroup_size) & (target < batch.size)
    position = batch.group_index * batch.size + np.where(inside, target, batch.local)
    readable = inside & _active(batch, mask)[position]
    undefined: Array | None = None if readable.all() else column(~readable, content.ndim)
    known = frame.poison.get(value)
    if known is not None:
        spread = np.broadcast_to(known, (batch.lanes, *known.shape[1:]))
        undefined = either(undefined, spread[position])
    return content[position], undefined


@handles("kernel.subgroup.shuffle")
def _shuffle(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value, offset_value, width_value = op.operands
    width = interp.defined(frame, width_value, op, mask, "cluster width").astype(np.int64)
    offset = interp.defined(frame, offset_value, op, mask, "lane offset").astype(np.int64)
    size = frame.batch.subgroup_size
    wrong = (width <= 0) | ((width & (width - 1)) != 0) | (width > size)
    if (wrong if mask is None else wrong & mask).any():
        shown = int(width.ravel()[int(np.argmax(wrong))])
        interp.fail(
            op, "REFERENCE/013", f"the width {shown} is not a power of two up to the subgroup size {size}", frame=frame
        )
    lane = frame.batch.lane_id
    place, base = lane % width, lane - lane % width
    mode = str(op.attributes["mode"])
    target = {"xor": place ^ offset, "up": place - offset, "down": place + offset, "index": offset + 0 * place}[mode]
    valid = (target >= 0) & (target < width)
    content, undefined = _from_lane(interp, frame, value, base + np.where(valid, target, place), valid, mask)
    frame.set(op.results[0], content, undefined)
    frame.set(op.results[1], valid)


@handles("kernel.subgroup.broadcast")
def _broadcast(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    lane = interp.defined(frame, op.operands[1], op, mask, "lane").astype(np.int64)
    source = np.broadcast_to(lane, (frame.batch.lanes,))
    valid = np.ones(frame.batch.lanes, np.bool_)
    frame.set(op.results[0], *_from_lane(interp, frame, op.operands[0], source, valid, mask))


@handles("kernel.subgroup.broadcast.first")
def _broadcast_first(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    rows = _Rows(frame, mask, "subgroup")
    first = np.argmax(rows.active, axis=1)
    source = rows.collect(np.broadcast_to(first[:, None], rows.slots.shape))
    valid = np.ones(frame.batch.lanes, np.bool_)
    frame.set(op.results[0], *_from_lane(interp, frame, op.operands[0], source, valid, mask))


def _vote_rows(
    interp: Interpreter, frame: Frame, op: Operation, mask: Mask, level: str
) -> tuple[_Rows, Array, Array | None]:
    if level == "workgroup":
        require_uniform(interp, frame, op, mask, "workgroup")
        _synchronize(frame, mask)
    rows = _Rows(frame, mask, level)
    votes = rows.spread(lane_values(frame, op.operands[0])) & rows.active
    undefined = _row_poison(frame, op.operands[0], rows, rows.slots.shape[1], 1)
    return rows, votes, undefined


@handles(
    "kernel.subgroup.vote.any", "kernel.subgroup.vote.all", "kernel.workgroup.vote.any", "kernel.workgroup.vote.all"
)
def _vote(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    level = "subgroup" if op.name.startswith("kernel.subgroup") else "workgroup"
    rows, votes, undefined = _vote_rows(interp, frame, op, mask, level)
    outcome = np.asarray(votes.any(1) if op.name.endswith("any") else (votes | ~rows.active).all(1))
    frame.set(op.results[0], rows.collect(np.broadcast_to(outcome[:, None], rows.slots.shape)), undefined)


@handles("kernel.workgroup.vote.count")
def _vote_count(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    rows, votes, undefined = _vote_rows(interp, frame, op, mask, "workgroup")
    count = votes.sum(1).astype(np.int32)
    frame.set(op.results[0], rows.collect(np.broadcast_to(count[:, None], rows.slots.shape)), undefined)


def _mask_words(bits: Array, form: ElementFormat) -> Array:
    """Rows × positions of booleans → a mask word a row, in the carrier of ``form`` (lanes beyond its width are
    lost)."""
    places = np.arange(bits.shape[-1], dtype=np.uint64)
    words = (bits.astype(np.uint64) << places).sum(-1, dtype=np.uint64)
    return np.asarray(words.astype(form.storage).view(form.carrier))


@handles("kernel.subgroup.vote.ballot", "kernel.subgroup.active.mask")
def _ballot(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    form = form_of(op.results[0].type)
    undefined: Array | None = None
    if op.operands:
        rows, votes, undefined = _vote_rows(interp, frame, op, mask, "subgroup")
    else:
        rows = _Rows(frame, mask, "subgroup")
        votes = rows.active
    words = _mask_words(votes, form)
    frame.set(op.results[0], rows.collect(np.broadcast_to(words[:, None], rows.slots.shape)), undefined)


@handles("kernel.subgroup.match.any", "kernel.subgroup.match.all")
def _match(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = op.operands[0]
    rows = _Rows(frame, mask, "subgroup")
    bits = rows.spread(encode(np.ascontiguousarray(lane_values(frame, value)), form_of(value.type)))
    same = (bits[:, :, None] == bits[:, None, :]) & rows.active[:, None, :]
    undefined = _row_poison(frame, value, rows, rows.slots.shape[1], 1)
    form = form_of(op.results[0].type)
    if op.name.endswith("any"):
        frame.set(op.results[0], rows.collect(_mask_words(same, form)), undefined)
        return
    everyone = (same | ~rows.active[:, None, :]).all(2)
    words = _mask_words(same, form)
    frame.set(op.results[0], rows.collect(np.where(everyone, words, words.dtype.type(0))), undefined)
    frame.set(op.results[1], rows.collect(everyone), undefined)


# --- storage and asynchronous copies ----------------------------------------------------------------------------------


@handles("kernel.workgroup.storage")
def _storage(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    size = interp.uniform_int(frame, op.operands[0], op, mask, "size")
    alignment: Any = op.attributes.get("alignment") or 16
    available = frame.batch.geometry.dynamic_storage
    if size > available:
        interp.fail(
            op,
            "REFERENCE/002",
            f"kernel.workgroup.storage asks for {size} bytes, the launch gives {available}",
            frame=frame,
            hint="raise dynamic_workgroup_storage in kernel.launch.config",
        )
    known: BufferValue | None = frame.batch.dynamic_storage
    if known is None:
        known = allocate(frame, "dynamic workgroup storage", "workgroup", available, int(alignment), None)
        frame.batch.dynamic_storage = known
    frame.set(op.results[0], BufferValue(known.arena, known.base, np.array([size], np.int64)))


def _issue(frame: Frame, op: Operation, read: Access, write: Access, lanes: Mask) -> None:
    """Enter a copy as in flight; its token is its number."""
    batch = frame.batch
    if batch.copies is None:
        batch.copies = AsyncCopies()
    number = batch.copies.issue(op, movement(read), movement(write), _active(batch, lanes))
    frame.set(op.results[0], np.array([number], np.int64))


@handles("kernel.async.copy", "kernel.async.copy.mask")
def _copy(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    source: ViewValue = frame.values[op.operand("source")]
    target: ViewValue = frame.values[op.operand("destination")]
    lanes = _copying_lanes(interp, frame, op, mask)
    shapes = []
    for view in (source, target):
        if not all(isinstance(dim, int) for dim in view.dims):
            interp.fail(op, "REFERENCE/014", f"{op.name} needs views of static extents", frame=frame)
        shapes.append(tuple(int(dim) for dim in view.dims))
    read = Access(interp, frame, op, source, [0] * len(shapes[0]), shapes[0], lanes)
    values, undefined = read.load()
    write = Access(interp, frame, op, target, [0] * len(shapes[1]), shapes[1], lanes)
    full = (values.shape[0], *shapes[1])
    write.store(
        values.reshape(full), None if undefined is None else np.broadcast_to(undefined, values.shape).reshape(full)
    )
    _issue(frame, op, read, write, lanes)


def _copying_lanes(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> Mask:
    """The lanes that copy: the active ones, less those that the ``.mask`` forms switch off."""
    if not op.name.endswith("mask"):
        return mask
    chosen = interp.defined(frame, op.operand("mask"), op, mask, "mask")
    return np.broadcast_to(chosen if mask is None else chosen & mask, (frame.batch.lanes,))


@handles("kernel.async.gather", "kernel.async.gather.mask")
def _gather(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    """Lane ``i`` of the subgroup copies its source view to row ``i`` of the destination."""
    source: ViewValue = frame.values[op.operand("source")]
    target: ViewValue = frame.values[op.operand("destination")]
    lanes = _copying_lanes(interp, frame, op, mask)
    shape = tuple(int(dim) for dim in source.dims)
    read = Access(interp, frame, op, source, [0] * len(shape), shape, lanes)
    values, undefined = read.load()
    rest = tuple(int(dim) for dim in target.dims[1:])
    write = Access(interp, frame, op, target, [frame.batch.lane_id, *([0] * len(rest))], rest, lanes)
    full = (values.shape[0], *rest)
    write.store(
        values.reshape(full), None if undefined is None else np.broadcast_to(undefined, values.shape).reshape(full)
    )
    _issue(frame, op, read, write, lanes)


@handles("kernel.async.group")
def _async_group(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    batch = frame.batch
    if batch.copies is None:
        batch.copies = AsyncCopies()
    number, twice = batch.copies.group([frame.values[token] for token in op.operands], _active(batch, mask))
    if twice is not None:
        interp.fail(op, "REFERENCE/005", "kernel.async.group: a token is in another group already", frame=frame)
    frame.set(op.results[0], np.array([number], np.int64))


@handles("kernel.async.wait")
def _async_wait(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    """Groups that are younger may stay in flight, so nothing but this group and older ones is known to be complete."""
    batch = frame.batch
    if batch.copies is not None:
        batch.copies.wait(frame.values[op.operands[0]], _active(batch, mask), batch.actors())
