"""Buffers and views: allocation, addressing with bounds checks, element and vector access, atomics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from loom.ir import Operation, Value, ViewType
from loom.ir.attributes import EncodingAttribute
from loom.reference import numerics
from loom.reference.execution import Frame, Interpreter, form_of, handles, is_scalar
from loom.reference.formats import Array, ElementFormat, decode, encode
from loom.reference.memory import Actors
from loom.reference.operations_scalar import poison_of
from loom.reference.values import (
    BufferValue,
    EncodingValue,
    Mask,
    ViewValue,
    column,
    dense_strides,
)

# --- buffers and views ------------------------------------------------------------------------------------------------


@handles("buffer.alloca")
def _alloca(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    space = str(op.attributes["memory_space"])
    alignment: Any = op.attributes.get("base_alignment") or 16
    size = interp.uniform_int(frame, op.operands[0], op, mask, "size")
    frame.set(op.results[0], allocate(frame, op, space, size, int(alignment), mask))


def allocate(frame: Frame, key: Any, space: str, size: int, alignment: int, mask: Mask) -> BufferValue:
    """Scratch memory for ``key`` (an op or a name): the same place each time, undefined anew for the active lanes."""
    batch = frame.batch
    name = f"{space} allocation of {size} bytes"
    arena = batch.workgroup if space == "workgroup" else batch.private
    count = batch.groups if space == "workgroup" else batch.lanes
    owner = batch.group_index if space == "workgroup" else np.arange(batch.lanes)
    known = batch.allocations.get((frame.function, key))
    if known is None or known[1] < size:
        stride = -(-max(size, 1) // alignment) * alignment
        start = arena.allocate(stride * count, name, alignment, poisoned=True)
        batch.allocations[(frame.function, key)] = (start, size, stride)
    else:
        start, _, stride = known
        if mask is None:
            arena.fill_poison(start, stride * count)
        else:
            for place in np.unique(owner[mask]):
                arena.fill_poison(start + int(place) * stride, stride)
    base = start + owner.astype(np.int64) * stride
    return BufferValue(arena, base, np.array([size], np.int64))


@handles("buffer.view")
def _view(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    buffer: BufferValue = frame.values[op.operands[0]]
    offset = interp.defined(frame, op.operands[1], op, mask, "byte offset")
    view_type = op.results[0].type
    assert isinstance(view_type, ViewType)
    frame.set(op.results[0], make_view(interp, frame, op, mask, buffer, offset, view_type))


def make_view(
    interp: Interpreter,
    frame: Frame,
    op: Operation,
    mask: Mask,
    buffer: BufferValue,
    offset: Array,
    view_type: ViewType,
) -> ViewValue:
    """The run-time view of a type: its dims and strides read from the values the type names."""
    dims = tuple(_extent(interp, frame, op, mask, dim) for dim in view_type.dims)
    layout = view_type.layout
    strides = dense_strides(dims)
    if isinstance(layout, Value):
        encoding: EncodingValue = frame.values[layout]
        strides = layout_strides(interp, op, encoding, dims)
    elif isinstance(layout, EncodingAttribute):
        strides = layout_strides(interp, op, EncodingValue(layout, {}), dims)
    form = form_of(view_type)
    return ViewValue(buffer, offset, dims, strides, form, view_type.alignment or form.bytes)


def _extent(interp: Interpreter, frame: Frame, op: Operation, mask: Mask, dim: Any) -> Any:
    if isinstance(dim, int):
        return dim
    extent = interp.defined(frame, dim, op, mask, "dimension")
    return int(extent[0]) if extent.shape[0] == 1 else extent


def layout_strides(
    interp: Interpreter, op: Operation, encoding: EncodingValue, dims: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Element strides of a layout encoding for the given extents."""
    if encoding.strides is not None:
        return encoding.strides
    attribute = encoding.attribute
    if attribute is None or attribute.family in ("dense", "layout.dense"):
        return dense_strides(dims)
    if attribute.family in ("strided", "layout.strided"):
        listed = next((v for _, v in attribute.parameters if isinstance(v, tuple)), None)
        if listed is not None and len(listed) == len(dims):
            return tuple(listed)
    interp.fail(op, "REFERENCE/014", f"layout {attribute} has no element strides")


@handles("buffer.assume.noalias")
def _noalias(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    buffers: list[BufferValue] = [frame.values[operand] for operand in op.operands]
    for first in range(len(buffers)):
        for second in range(first):
            a, b = buffers[first], buffers[second]
            if a.arena is not b.arena:
                continue
            overlap = (a.base < b.base + b.size) & (b.base < a.base + a.size) & (a.size > 0) & (b.size > 0)
            active = overlap if mask is None else overlap & mask
            if active.any():
                interp.fail(
                    op,
                    "REFERENCE/005",
                    f"buffer.assume.noalias: operands {second} and {first} overlap",
                    frame=frame,
                    hint="pass disjoint tensors, or drop the assumption",
                )
    for result, operand in zip(op.results, op.operands, strict=True):
        frame.set(result, frame.values[operand])


@handles("buffer.assume.alignment")
def _alignment(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    alignment: Any = op.attributes["minimum_alignment"]
    for result, operand in zip(op.results, op.operands, strict=True):
        buffer: BufferValue = frame.values[operand]
        wrong = (buffer.base % alignment) != 0
        if (wrong if mask is None else wrong & mask).any():
            interp.fail(
                op,
                "REFERENCE/005",
                f"buffer.assume.alignment: a buffer is not aligned to {alignment} bytes",
                frame=frame,
            )
        frame.set(result, buffer)


@handles("buffer.assume.memory_space", "buffer.assume.same_root")
def _space(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    buffer: BufferValue = frame.values[op.operands[0]]
    if op.name == "buffer.assume.memory_space":
        claimed = str(op.attributes["memory_space"])
        if claimed in ("global", "workgroup", "private") and claimed != buffer.arena.space:
            interp.fail(
                op,
                "REFERENCE/005",
                f"buffer.assume.memory_space: the buffer lies in {buffer.arena.space} memory, not {claimed}",
                frame=frame,
            )
    frame.set(op.results[0], buffer)


@handles("buffer.length")
def _length(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    frame.set(op.results[0], frame.values[op.operands[0]].size.astype(np.int64))


@handles("buffer.pack")
def _pack(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    alignments: Any = op.attributes["alignments"]
    place: Array = np.zeros(1, np.int64)
    for result, operand, alignment in zip(op.results[1:], op.operands, alignments, strict=True):
        place = -(-place // alignment) * alignment
        frame.set(result, place)
        place = place + frame.values[operand]
    largest = max(alignments, default=1)
    frame.set(op.results[0], -(-place // largest) * largest)


@handles("view.subview")
def _subview(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    source: ViewValue = frame.values[op.operand("view")]
    origin = index_values(interp, frame, op, mask)
    view_type = op.results[0].type
    assert isinstance(view_type, ViewType)
    shift: Any = 0
    for place, stride in zip(origin, source.strides, strict=True):
        shift = shift + place * stride
    dims = tuple(_extent(interp, frame, op, mask, dim) for dim in view_type.dims)
    offset = source.offset + shift * source.form.bytes
    frame.set(
        op.results[0],
        ViewValue(source.buffer, np.atleast_1d(offset), dims, source.strides, source.form, source.alignment),
    )


@handles("view.refine")
def _refine(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    source: ViewValue = frame.values[op.operands[0]]
    view_type = op.results[0].type
    assert isinstance(view_type, ViewType)
    for position, (dim, actual) in enumerate(zip(view_type.dims, source.dims, strict=True)):
        claimed = _extent(interp, frame, op, mask, dim)
        if np.any(np.asarray(claimed) != np.asarray(actual)):
            interp.fail(op, "REFERENCE/005", f"view.refine: extent {position} is {actual}, not {claimed}", frame=frame)
    layout = view_type.layout
    strides = source.strides
    if isinstance(layout, Value):
        strides = layout_strides(interp, op, frame.values[layout], source.dims)
    frame.set(
        op.results[0],
        ViewValue(
            source.buffer, source.offset, source.dims, strides, source.form, view_type.alignment or source.alignment
        ),
    )


@handles("view.prefetch")
def _prefetch(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    """A hint without effect on values."""


# --- addressing -------------------------------------------------------------------------------------------------------


def index_values(interp: Interpreter, frame: Frame, op: Operation, mask: Mask, name: str = "indices") -> list[Any]:
    """A mixed index list as integers and lane arrays; an undefined index is an error."""
    return [
        entry if isinstance(entry, int) else interp.defined(frame, entry, op, mask, "index")
        for entry in op.index_list(name)
    ]


class Access:
    """The elements that an operation touches: addresses by lane and element, and which of them are active."""

    __slots__ = ("active", "addresses", "form", "frame", "interp", "op", "shape", "view")

    def __init__(
        self,
        interp: Interpreter,
        frame: Frame,
        op: Operation,
        view: ViewValue,
        origin: Sequence[Any],
        shape: tuple[int, ...],
        mask: Mask,
        *,
        offsets: Array | None = None,
        lane_mask: Array | None = None,
    ) -> None:
        """``origin``: an index per axis; ``shape``: elements of the vector on the trailing axes (empty: one element).

        ``offsets`` (lanes × elements) are added to the last axis, and the elements then have no place of their own;
        ``lane_mask`` (lanes × shape) deactivates elements. An origin may be lanes × elements as well.
        """
        self.interp, self.frame, self.op, self.view, self.form = interp, frame, op, view, view.form
        self.shape = shape
        rank = len(shape)
        active: Mask = None if mask is None else column(mask, rank + 1)
        if lane_mask is not None:
            active = lane_mask if active is None else active & lane_mask
        self.active = active
        bytes_ = view.form.bytes
        linear: Any = 0
        bad: Any = None
        first_axis = len(view.dims) - (rank if offsets is None else 0)
        for axis, (place, dim, stride) in enumerate(zip(origin, view.dims, view.strides, strict=True)):
            at = _spread(place, rank)
            if offsets is None and axis >= first_axis:
                position = axis - first_axis
                ramp = np.arange(shape[position]).reshape(1, *([1] * position), -1, *([1] * (rank - position - 1)))
                at = at + ramp
            elif offsets is not None and axis == len(view.dims) - 1:
                at = at + offsets
            outside = np.asarray((at < 0) | (at >= _spread(dim, rank)))
            if outside.any() and self._faults(outside):
                self._out_of_view(axis, at, dim, outside)
            linear = linear + at * _spread(stride, rank)
        base = _spread(view.buffer.base + view.offset, rank)
        addresses = base + linear * bytes_
        relative = _spread(view.offset, rank) + linear * bytes_
        bad = (relative < 0) | (relative + bytes_ > _spread(view.buffer.size, rank))
        addresses = np.broadcast_to(addresses, np.broadcast_shapes(addresses.shape, (1, *shape)))
        if bad.any() and self._faults(bad):
            self._out_of_buffer(relative, bad)
        if view.alignment > 1:
            low = (
                (addresses & (view.alignment - 1)) != 0 if bytes_ == view.alignment else (addresses & (bytes_ - 1)) != 0
            )
            if view.alignment < bytes_:
                low = (addresses & (view.alignment - 1)) != 0
            if low.any() and self._faults(low):
                lane, _ = self._first(low)
                interp.fail(
                    op,
                    "REFERENCE/008",
                    f"{op.name}: an element of {bytes_} bytes is not aligned to {min(view.alignment, bytes_)} bytes",
                    frame=frame,
                    lane=lane,
                )
        if active is not None:
            addresses = np.where(active, addresses, 0)
        self.addresses: Array = addresses

    def _faults(self, wrong: Array) -> bool:
        return bool(wrong.any() if self.active is None else (wrong & self.active).any())

    def _first(self, wrong: Array) -> tuple[int, int]:
        full = np.broadcast_shapes(wrong.shape, () if self.active is None else self.active.shape, (1, *self.shape))
        active = wrong if self.active is None else wrong & self.active
        flat = int(np.argmax(np.broadcast_to(active, full).ravel()))
        elements = int(np.prod(full[1:], dtype=np.int64))
        return flat // elements, flat

    def _out_of_view(self, axis: int, at: Any, dim: Any, wrong: Array) -> None:
        lane, flat = self._first(wrong)
        full = np.broadcast_shapes(wrong.shape, () if self.active is None else self.active.shape, (1, *self.shape))
        index = int(np.broadcast_to(at, full).ravel()[flat])
        extent = int(np.broadcast_to(_spread(dim, len(self.shape)), full).ravel()[flat])
        self.interp.fail(
            self.op,
            "REFERENCE/002",
            f"{self.op.name}: element index {index} of axis {axis} is outside [0, {extent})",
            frame=self.frame,
            lane=lane,
        )

    def _out_of_buffer(self, relative: Any, wrong: Array) -> None:
        lane, flat = self._first(wrong)
        full = np.broadcast_shapes(wrong.shape, () if self.active is None else self.active.shape, (1, *self.shape))
        place = int(np.broadcast_to(relative, full).ravel()[flat])
        buffer = self.view.buffer
        size = int(buffer.size[lane if buffer.size.shape[0] > 1 else 0])
        base = int(buffer.base[lane if buffer.base.shape[0] > 1 else 0])
        root = buffer.arena.root_at(base)
        name = f" '{root.name}'" if root is not None and root.name else ""
        self.interp.fail(
            self.op,
            "REFERENCE/002",
            f"{self.op.name}: bytes [{place}, {place + self.form.bytes}) lie outside the {size} bytes of "
            f"buffer{name} (element {place // self.form.bytes})",
            frame=self.frame,
            lane=lane,
        )

    # reading and writing

    def _flat(self) -> tuple[Array, Array, Array]:
        """For every active element of every lane: address, lane, and position in the full lanes × shape array."""
        lanes = self.frame.batch.lanes
        full = (lanes, *self.shape)
        addresses = np.broadcast_to(self.addresses, full).ravel()
        elements = int(np.prod(self.shape, dtype=np.int64))
        if self.active is None:
            chosen = np.arange(addresses.size)
        else:
            chosen = np.flatnonzero(np.broadcast_to(self.active, full).ravel())
            addresses = addresses[chosen]
        return addresses, chosen // max(elements, 1), chosen

    def load(self) -> tuple[Array, Array | None]:
        """The elements in carrier form, shaped lanes × shape; inactive ones hold anything."""
        arena = self.view.buffer.arena
        self.require_arrived(writes=False)
        if arena.detector is not None:
            addresses, lane, _ = self._flat()
            if addresses.size:
                conflict = arena.detector.read(addresses, self.form.bytes, self.frame.batch.actors().select(lane))
                if conflict is not None:
                    self._race("reads", conflict, addresses, lane)
        values, undefined = arena.load(self.addresses, self.form)
        if undefined is not None and self.active is not None:
            undefined = undefined & self.active
        return values, undefined

    def store(self, values: Array, undefined: Array | None) -> None:
        """Write the active elements."""
        arena = self.view.buffer.arena
        self.require_arrived(writes=True)
        shape = (self.frame.batch.lanes, *self.shape)
        words_needed = np.broadcast_shapes(self.addresses.shape, values.shape)
        if self.active is None and words_needed[0] == 1 and arena.detector is None:
            shape = (1, *self.shape)  # all lanes write the same bytes to the same place
            addresses = np.broadcast_to(self.addresses, shape).ravel()
            lane = chosen = np.arange(addresses.size)
        else:
            addresses, lane, chosen = self._flat()
        if not addresses.size:
            return
        flat = np.broadcast_to(values, shape).ravel()[chosen]
        poison = None if undefined is None else np.broadcast_to(undefined, shape).ravel()[chosen]
        words = encode(flat, self.form)
        if arena.detector is not None:
            changes = arena.peek(addresses, self.form) != words
            by = self.frame.batch.actors().select(lane)
            conflict = arena.detector.write(addresses, self.form.bytes, by, changes, atomic=False)
            if conflict is not None:
                self._race("writes", conflict, addresses, lane)
        arena.store_words(addresses, words, self.form.bytes, poison)
        if arena.detector is not None:
            lost = arena.peek(addresses, self.form) != words
            if lost.any():
                position = int(np.argmax(lost))
                self._overlap(addresses, lane, position)

    def require_arrived(self, writes: bool) -> None:
        """No asynchronous copy may be writing what is read, or reading or writing what is written."""
        arena = self.view.buffer.arena
        if arena.flight is None:
            return
        addresses, lane, _ = self._flat()
        for copy_writes in (True, False) if writes else (True,):
            table = arena.in_flight(copy_writes)
            for byte in range(self.form.bytes):
                busy = table[addresses + byte] != 0
                if busy.any():
                    position = int(np.argmax(busy))
                    self._too_early(int(addresses[position]) + byte, int(lane[position]), writes, copy_writes)

    def _too_early(self, address: int, lane: int, writes: bool, copy_writes: bool) -> None:
        copies = self.frame.batch.copies
        copy = None if copies is None else copies.culprit(self.view.buffer.arena, address, copy_writes)
        place = copy.op.location if copy is not None else None
        issued = f" (issued at {place.file}:{place.line}:{place.column})" if place is not None else ""
        self.interp.fail(
            self.op,
            "REFERENCE/019",
            f"{self.op.name} {'writes' if writes else 'reads'} {self.view.buffer.arena.space} memory (byte "
            f"{self._where(address)}) that an asynchronous copy is still {'writing' if copy_writes else 'reading'}"
            f"{issued};",
            frame=self.frame,
            lane=lane,
            hint="put the copy's token into a kernel.async.group and kernel.async.wait for it before the access",
        )

    def _overlap(self, addresses: Array, lane: Array, position: int) -> None:
        self.interp.fail(
            self.op,
            "REFERENCE/003",
            f"{self.op.name}: two workitems write different values to byte {self._where(int(addresses[position]))}",
            frame=self.frame,
            lane=int(lane[position]),
        )

    def _where(self, address: int) -> str:
        root = self.view.buffer.arena.root_at(address)
        if root is None:
            return str(address)
        start = int(self.view.buffer.base.min())
        return f"{address - max(root.start, 0)} of {root.name}" if start >= 0 else str(address)

    def _race(self, verb: str, conflict: Any, addresses: Array, lane: Array) -> None:
        address = int(addresses[conflict.position])
        space = self.view.buffer.arena.space
        other = ""
        if conflict.other_lane >= 0:
            first = self.frame.batch.first_group * self.frame.batch.size
            position = conflict.other_lane - first
            if 0 <= position < self.frame.batch.lanes:
                other = f", last accessed by{self.frame.batch.name_lane(position)}"
        done = "written" if conflict.kind == "write" else "read"
        self.interp.fail(
            self.op,
            "REFERENCE/003",
            f"{self.op.name} {verb} {space} memory (byte {self._where(address)}) that another workitem has {done} "
            f"with no barrier in between{other};",
            frame=self.frame,
            lane=int(lane[conflict.position]),
            hint="place kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel) between the two accesses",
        )

    def by(self, lane: Array) -> Actors:
        """The actors of the given lanes."""
        return self.frame.batch.actors().select(lane)


def _spread(value: Any, rank: int) -> Any:
    """An int, or a lane array with ``rank`` element axes added where it has none yet."""
    if isinstance(value, int) or value.ndim > 1:
        return value
    return column(value, rank + 1)


# --- loads and stores of one element ----------------------------------------------------------------------------------


def _element_access(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> Access:
    view: ViewValue = frame.values[op.operand("view")]
    return Access(interp, frame, op, view, index_values(interp, frame, op, mask), (), mask)


@handles("view.load", "view.atomic.load")
def _load(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    access = _element_access(interp, frame, op, mask)
    if op.name == "view.atomic.load":
        access.require_arrived(writes=False)
        values, undefined = access.view.buffer.arena.load(access.addresses, access.form)
        if undefined is not None and access.active is not None:
            undefined = undefined & access.active
        frame.set(op.results[0], values, undefined)
        return
    frame.set(op.results[0], *access.load())


@handles("view.store")
def _store(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = op.operand("value")
    _element_access(interp, frame, op, mask).store(frame.values[value], frame.poison.get(value))


# --- atomics ----------------------------------------------------------------------------------------------------------


def combine(kind: str, old: Array, value: Array, form: ElementFormat) -> Array:
    """One step of a combining kind; the exchange kinds give the new value."""
    if kind in ("xchgi", "xchgf"):
        return value
    table: Any = numerics.FLOAT if form.is_float else numerics.INTEGER
    outcome = table[kind](old, value, form)
    return np.asarray(outcome[0] if isinstance(outcome, tuple) else outcome)


def atomic_update(access: Access, update: Any, operands: Sequence[Array]) -> Array:
    """Apply ``update(old, *operands) -> new`` to each active element, lane after lane; returns the old elements.

    Elements at the same address take turns in lane order; distinct addresses are updated together. The result has the
    shape lanes × elements.
    """
    arena = access.view.buffer.arena
    addresses, lane, chosen = access._flat()
    shape = (access.frame.batch.lanes, *access.shape)
    flat = [np.broadcast_to(operand, shape).ravel()[chosen] for operand in operands]
    result = np.zeros(int(np.prod(shape, dtype=np.int64)), access.form.carrier)
    if not addresses.size:
        return result.reshape(shape)
    access.require_arrived(writes=True)
    if arena.detector is not None:
        changes = np.ones(addresses.size, np.bool_)
        conflict = arena.detector.write(addresses, access.form.bytes, access.by(lane), changes, atomic=True)
        if conflict is not None:
            access._race("atomically updates", conflict, addresses, lane)
    _check_atomic_poison(access, addresses, lane)
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    group_start = np.maximum.accumulate(np.where(starts, np.arange(ordered.size), 0))
    turn = np.arange(ordered.size) - group_start
    by_turn = np.argsort(turn, kind="stable")
    bounds = np.searchsorted(turn[by_turn], np.arange(int(turn.max()) + 2))
    old_values = np.zeros(addresses.size, access.form.carrier)
    for round_number in range(len(bounds) - 1):
        members = order[by_turn[bounds[round_number] : bounds[round_number + 1]]]
        at = addresses[members]
        old = decode(arena.peek(at, access.form), access.form)
        new = update(old, *(operand[members] for operand in flat))
        arena.store(at, new, access.form, None)
        old_values[members] = old
    result[chosen] = old_values
    return result.reshape(shape)


def _check_atomic_poison(access: Access, addresses: Array, lane: Array) -> None:
    poison = access.view.buffer.arena.poison
    if poison is None:
        return
    marked = poison[addresses]
    if marked.any():
        position = int(np.argmax(marked))
        access.interp.fail(
            access.op,
            "REFERENCE/006",
            f"{access.op.name}: the element was never written",
            frame=access.frame,
            lane=int(lane[position]),
        )


def require_defined_operands(interp: Interpreter, frame: Frame, op: Operation, mask: Mask, *values: Value) -> None:
    """Operands of an atomic must be defined in active lanes: their effect cannot be taken back."""
    for value in values:
        interp.defined(frame, value, op, mask, "operand")


@handles("view.atomic.reduce", "view.atomic.rmw")
def _atomic(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = op.operand("value")
    require_defined_operands(interp, frame, op, mask, value)
    kind = str(op.attributes["kind"])
    access = _element_access(interp, frame, op, mask)
    form = access.form
    old = atomic_update(access, lambda o, v: combine(kind, o, v, form), [frame.values[value]])
    if op.results:
        frame.set(op.results[0], old)


@handles("view.atomic.cmpxchg")
def _compare_exchange(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    expected, replacement = op.operand("expected"), op.operand("replacement")
    require_defined_operands(interp, frame, op, mask, expected, replacement)
    access = _element_access(interp, frame, op, mask)
    form = access.form
    old = atomic_update(
        access, lambda o, e, r: exchange(o, e, r, form), [frame.values[expected], frame.values[replacement]]
    )
    frame.set(op.results[0], old)


def exchange(old: Array, expected: Array, replacement: Array, form: ElementFormat) -> Array:
    """Bitwise compare-and-exchange of carrier values."""
    return np.where(encode(old, form) == encode(expected, form), replacement, old)


@handles("view.atomic.store")
def _atomic_store(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    value = op.operand("value")
    require_defined_operands(interp, frame, op, mask, value)
    access = _element_access(interp, frame, op, mask)
    addresses, lane, chosen = access._flat()
    if not addresses.size:
        return
    access.require_arrived(writes=True)
    arena = access.view.buffer.arena
    if arena.detector is not None:
        changes = np.ones(addresses.size, np.bool_)
        conflict = arena.detector.write(addresses, access.form.bytes, access.by(lane), changes, atomic=True)
        if conflict is not None:
            access._race("atomically writes", conflict, addresses, lane)
    flat = np.broadcast_to(frame.values[value], (frame.batch.lanes,))[chosen]
    arena.store(addresses, flat, access.form, None)


def lane_values(frame: Frame, value: Value) -> Array:
    """A value with its first axis expanded to the batch."""
    content: Array = frame.values[value]
    return np.broadcast_to(content, (frame.batch.lanes, *content.shape[1:]))


__all__ = [
    "Access",
    "allocate",
    "atomic_update",
    "combine",
    "exchange",
    "index_values",
    "is_scalar",
    "lane_values",
    "layout_strides",
    "make_view",
    "poison_of",
    "require_defined_operands",
]
