"""Memory instructions of Low: address forms, loads, stores and atomics, each lane by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from loom.diagnostics import error
from loom.ir import Operation
from loom.reference.formats import Array
from loom.reference.memory import Actors, Arena

if TYPE_CHECKING:
    from loom.reference.execution import Interpreter
    from loom.reference.low import Wave, Words

#: The device address of the first byte of the global arena.
GLOBAL_BASE = 1 << 40


#: Generic addresses of LDS and of private memory: the upper half tells the space, the lower one is the offset in it.
SHARED_APERTURE, PRIVATE_APERTURE = 1 << 48, 2 << 48


@dataclass(slots=True)
class _Place:
    """Where some lanes of an access go: the bytes, offsets by lane, and how far they may reach.

    ``label`` is ``global``, ``LDS`` or ``scratch``; the lanes' memories of scratch lie ``lane_stride`` bytes apart.
    """

    label: str
    store: Array
    offsets: list[Array]
    active: Array
    limit: int
    lane_stride: int = 0


def _lds(wave: Wave, offsets: list[Array], active: Array) -> _Place:
    return _Place("LDS", wave.lds, offsets, active, wave.machine.lds_bytes)


def _scratch(wave: Wave, offsets: Array, active: Array) -> _Place:
    private = wave.private_memory()
    return _Place("scratch", private.reshape(-1), [offsets], active, private.shape[1], private.shape[1])


class MemoryUnit:
    """Executes the memory instructions of waves over one global arena and each workgroup's LDS."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def access(
        self,
        interp: Interpreter,
        op: Operation,
        row: Any,
        operands: dict[str, Words | None],
        modifiers: dict[str, int],
        wave: Wave,
    ) -> Words | None:
        """Perform one instruction; returns the words of its result, None where it has none."""
        from loom.low.semantics.memory import memory_operation

        memory = row.memory
        semantic = memory_operation(row.semantic)
        if semantic is None:
            raise error(f"memory instruction '{row.mnemonic}' cannot be interpreted", "REFERENCE/001", op.location)
        if memory.space == "constant":
            return self._scalar_load(interp, op, operands, modifiers, semantic)
        active = wave.lanes()
        if memory.space == "buffer":
            active &= self._buffer_in_range(operands, modifiers, semantic.bytes, wave.machine.wave)
        data = [operands.get(name) for name in memory.data]
        words: Words | None = None
        for place in self._places(row, operands, modifiers, semantic, wave, active):
            found = self._perform(interp, op, row, operands, semantic, data, wave, place)
            if words is None or found is None:
                words = found
            else:  # the lanes of a generic access lie in different spaces
                words = [np.where(place.active, new, old) for new, old in zip(found, words, strict=True)]
        return words

    def _places(
        self,
        row: Any,
        operands: dict[str, Words | None],
        modifiers: dict[str, int],
        semantic: Any,
        wave: Wave,
        active: Array,
    ) -> list[_Place]:
        """Where the active lanes access memory: one place, or for generic addresses one of each space that is met."""
        space, size = row.memory.space, wave.machine.wave
        if space in ("lds", "gds"):
            return [_lds(wave, self._lds_offsets(operands, modifiers, semantic, size), active)]
        if space == "scratch":
            return [_scratch(wave, self._scratch_offsets(operands, modifiers, size), active)]
        offsets = self._global_offsets(operands, modifiers, space, wave)
        if space != "flat":
            return [_Place("global", self.arena.data, [offsets], active, self.arena.data.size)]
        aperture = (offsets + GLOBAL_BASE) >> 48
        inside = (offsets + GLOBAL_BASE) & 0xFFFFFFFF
        shared, private = (active & (aperture == base >> 48) for base in (SHARED_APERTURE, PRIVATE_APERTURE))
        places = [
            _Place("global", self.arena.data, [offsets], active & ~shared & ~private, self.arena.data.size),
            _lds(wave, [inside], shared),
            _scratch(wave, inside, private),
        ]
        return [place for place in places if place.active.any()] or places[:1]

    def _perform(
        self,
        interp: Interpreter,
        op: Operation,
        row: Any,
        operands: dict[str, Words | None],
        semantic: Any,
        data: list[Words | None],
        wave: Wave,
        place: _Place,
    ) -> Words | None:
        """Check and perform an access of some lanes in one space."""
        lanes, size = np.flatnonzero(place.active), wave.machine.wave
        for offsets in place.offsets:
            self._check(interp, op, offsets[lanes], semantic.bytes, place, lanes)
        at = [offsets + place.lane_stride * np.arange(size) for offsets in place.offsets]
        if place.label == "LDS" and wave.detector is not None:
            written = self._new_bytes(semantic, lanes, data, size)
            self._watch(interp, op, wave, [offsets[lanes] for offsets in at], semantic, written, lanes)
        if semantic.kind == "load":
            return self._load(place.store, at, semantic, lanes, size, operands, row.memory)
        if semantic.kind == "store":
            self._store(place.store, at, lanes, self._new_bytes(semantic, lanes, data, size), semantic.bytes)
            return None
        return self._atomic(place.store, at[0], semantic, lanes, data, wave, row.mnemonic.startswith("ds_cmpst_"))

    # --- addresses ----------------------------------------------------------------------------------------------------

    def _global_offsets(
        self, operands: dict[str, Words | None], modifiers: dict[str, int], space: str, wave: Wave
    ) -> Array:
        """Byte offsets into the arena, one a lane."""
        size = wave.machine.wave
        offset = modifiers.get("offset", 0)
        vaddr, saddr = operands.get("vaddr") or operands.get("addr"), operands.get("saddr")
        if space == "buffer":
            return self._buffer_offsets(operands, modifiers, size)
        total = np.full(size, offset, np.int64)
        if saddr is not None:
            total += _wide(saddr, size)
            if vaddr is not None:
                total += np.broadcast_to(vaddr[0], (size,)).astype(np.int64)
        elif vaddr is not None:
            total += _wide(vaddr, size)
        return total - GLOBAL_BASE

    def _buffer_offsets(self, operands: dict[str, Words | None], modifiers: dict[str, int], size: int) -> Array:
        """Raw buffers: base + offset (+ vector offset) + scalar offset; structured ones add index * stride."""
        descriptor = operands.get("srsrc")
        assert descriptor is not None
        base = int(descriptor[0][0]) | (int(descriptor[1][0]) & 0xFFFF) << 32
        stride = int(descriptor[1][0]) >> 16 & 0x3FFF
        scalar = operands.get("soffset")
        total = np.full(size, base + modifiers.get("offset", 0), np.int64)
        if scalar is not None:
            total += int(scalar[0][0])
        vector = list(operands.get("vaddr") or [])
        if modifiers.get("idxen") and vector:
            total += np.broadcast_to(vector.pop(0), (size,)).astype(np.int64) * stride
        if vector and (modifiers.get("offen") or not modifiers.get("idxen")):
            total += np.broadcast_to(vector[0], (size,)).astype(np.int64)
        return total - GLOBAL_BASE

    def _buffer_in_range(
        self, operands: dict[str, Words | None], modifiers: dict[str, int], bytes_: int, size: int
    ) -> Array:
        """Lanes within the descriptor's extent; outside, a load gives zero and a store is dropped (RDNA3 ISA)."""
        descriptor = operands.get("srsrc")
        assert descriptor is not None
        stride = int(descriptor[1][0]) >> 16 & 0x3FFF
        records = int(descriptor[2][0])
        vector = list(operands.get("vaddr") or [])
        if stride and modifiers.get("idxen") and vector:
            return np.asarray(np.broadcast_to(vector[0], (size,)) < records)
        offset = np.full(size, modifiers.get("offset", 0), np.int64)
        if vector:
            offset += np.broadcast_to(vector[-1], (size,)).astype(np.int64)
        return np.asarray(offset + bytes_ <= records)

    def _lds_offsets(
        self, operands: dict[str, Words | None], modifiers: dict[str, int], semantic: Any, size: int
    ) -> list[Array]:
        address = operands.get("addr") or operands.get("vaddr")
        base = np.zeros(size, np.int64)
        if address is not None:
            base = np.broadcast_to(address[0], (size,)).astype(np.int64)
        if semantic.elements == 2:
            scale = semantic.bytes * semantic.stride
            return [base + modifiers.get(name, 0) * scale for name in ("offset0", "offset1")]
        return [base + modifiers.get("offset", 0)]

    def _scratch_offsets(self, operands: dict[str, Words | None], modifiers: dict[str, int], size: int) -> Array:
        """Byte offsets into each lane's own scratch: vector address + scalar address + immediate (RDNA3 ISA,
        "Scratch"; the interleaving of lanes in memory is not visible to a kernel)."""
        total = np.full(size, modifiers.get("offset", 0), np.int64)
        for name in ("vaddr", "saddr"):
            words = operands.get(name)
            if words is not None:
                total += np.broadcast_to(words[0], (size,)).astype(np.int64)
        return total

    def _check(self, interp: Interpreter, op: Operation, at: Array, size: int, place: _Place, lanes: Array) -> None:
        """Every access must lie inside one root (global), or in the bytes of LDS or of the lane's private memory."""
        if place.label == "global":
            wrong = np.ones(at.shape, np.bool_)
            for root in self.arena.roots:
                wrong &= ~((at >= root.start) & (at + size <= root.start + root.size))
        else:
            wrong = (at < 0) | (at + size > place.limit)
        if not wrong.any():
            return
        position = int(np.argmax(wrong))
        where, lane = int(at[position]), int(lanes[position])
        hint = None
        if place.label == "global":
            nearest = self.arena.root_at(where)
            near = f"; nearest buffer: {nearest.size} bytes at {GLOBAL_BASE + nearest.start:#x}" if nearest else ""
            message = (
                f"{size} bytes at global address {where + GLOBAL_BASE:#x} are outside every buffer (lane {lane}){near}"
            )
        elif place.label == "LDS":
            message = (
                f"{size} bytes at LDS address {where:#x} are outside the workgroup's {place.limit} bytes (lane {lane})"
            )
            hint = "reserve them with low.storage.reserve … : low.storage<workgroup>"
        else:
            message = (
                f"{size} bytes at scratch offset {where:#x} are outside the {place.limit} bytes of private memory "
                f"(lane {lane})"
            )
            hint = "reserve them with low.storage.reserve … : low.storage<private>"
        interp.fail(op, "REFERENCE/002", message, hint=hint)

    def _watch(
        self,
        interp: Interpreter,
        op: Operation,
        wave: Wave,
        offsets: list[Array],
        semantic: Any,
        written: list[Array],
        lanes: Array,
    ) -> None:
        """Two waves that touch the same LDS, one of them writing, need a barrier in between. Lanes of one wave are in
        order. Writing what is there already changes nothing and is let pass."""
        assert wave.detector is not None
        piece = min(semantic.bytes, 4)
        steps = np.arange(0, semantic.bytes, piece)
        for number, places in enumerate(offsets):
            at = (places[:, None] + steps).ravel()
            by = _as_actors(wave, at.size)
            if semantic.kind == "load":
                conflict = wave.detector.read(at, piece, by)
            else:
                atomic = semantic.kind != "store"
                changes = np.ones(at.size, np.bool_)
                if not atomic:
                    new = written[number].reshape(at.size, piece)
                    changes = (wave.lds[at[:, None] + np.arange(piece)] != new).any(1)
                conflict = wave.detector.write(at, piece, by, changes, atomic)
            if conflict is not None:
                lane, byte = int(lanes[conflict.position // steps.size]), int(at[conflict.position])
                verb = "reads" if semantic.kind == "load" else "writes"
                done = "written" if conflict.kind == "write" else "read"
                interp.fail(
                    op,
                    "REFERENCE/003",
                    f"wave {wave.number} {verb} LDS (byte {byte}, lane {lane}) that another wave has {done} "
                    "with no barrier in between",
                    hint="place s_barrier between the two accesses",
                )

    def _new_bytes(self, semantic: Any, lanes: Array, data: list[Words | None], size: int) -> list[Array]:
        """The bytes that a store writes, one row a lane, for each of its places."""
        if semantic.kind != "store":
            return []
        rows = []
        for words in data:
            if words is None:
                continue
            stacked = np.stack([np.broadcast_to(word, (size,)) for word in words], axis=1).astype(np.uint32)
            if semantic.half:
                stacked = stacked >> np.uint32(16)
            raw = np.ascontiguousarray(stacked[lanes]).view(np.uint8)
            rows.append(raw.reshape(len(lanes), 4 * len(words))[:, : semantic.bytes])
        return rows

    # --- data ---------------------------------------------------------------------------------------------------------

    def _load(
        self,
        store: Array,
        offsets: list[Array],
        semantic: Any,
        lanes: Array,
        size: int,
        operands: dict[str, Words | None],
        memory: Any,
    ) -> Words:
        words: Words = []
        for places in offsets:
            element = np.zeros((size, semantic.words), np.uint32)
            raw = store[places[lanes][:, None] + np.arange(semantic.bytes)]
            element[lanes] = _extend(raw, semantic)
            words += [np.ascontiguousarray(element[:, word]) for word in range(semantic.words)]
        if semantic.half is not None:
            old = operands.get(memory.result or "") or [np.zeros(size, np.uint32)]
            kept = np.broadcast_to(old[0], (size,))
            value = words[0] & np.uint32(0xFFFF)
            if semantic.half:
                words = [(kept & np.uint32(0xFFFF)) | value << np.uint32(16)]
            else:
                words = [(kept & np.uint32(0xFFFF0000)) | value]
        return words

    def _store(self, store: Array, offsets: list[Array], lanes: Array, rows: list[Array], size: int) -> None:
        for places, raw in zip(offsets, rows, strict=False):
            store[places[lanes][:, None] + np.arange(size)] = raw

    def _atomic(
        self,
        store: Array,
        places: Array,
        semantic: Any,
        lanes: Array,
        data: list[Words | None],
        wave: Wave,
        compare_first: bool,
    ) -> Words:
        """Lanes one after the other, in order. The older LDS forms give the comparison value first."""
        from loom.low.semantics.expression import arg
        from loom.low.semantics.numpy_backend import evaluate_expressions
        from loom.low.semantics.operation import Context

        size, count = wave.machine.wave, semantic.words
        kind = f"i{8 * semantic.bytes}"
        dtype = np.uint32 if semantic.bytes == 4 else np.uint64
        flat = [word for words in data if words is not None for word in words]
        values = _joined(flat[:count], size, dtype)
        compare = _joined(flat[count : 2 * count], size, dtype) if len(flat) >= 2 * count else values
        if compare_first:
            values, compare = compare, values
        context = Context(size, generation=wave.machine.generation)
        names = [arg(name, kind, False) for name in ("old", "data", "compare")]
        expression = semantic.update(context, *names)
        old = np.zeros(size, dtype)
        for lane in lanes:
            at = int(places[lane])
            window = store[at : at + semantic.bytes]
            before = np.ascontiguousarray(window).view(dtype)
            arguments = {"old": before, "data": values[lane : lane + 1], "compare": compare[lane : lane + 1]}
            after = evaluate_expressions([expression], arguments, size)[0]
            old[lane] = before[0]
            store[at : at + semantic.bytes] = after.astype(dtype).view(np.uint8)
        raw = old.view(np.uint32).reshape(size, count)
        return [np.ascontiguousarray(raw[:, word]) for word in range(count)]

    def _scalar_load(
        self,
        interp: Interpreter,
        op: Operation,
        operands: dict[str, Words | None],
        modifiers: dict[str, int],
        semantic: Any,
    ) -> Words:
        base = operands.get("sbase")
        assert base is not None
        address = int(base[0][0]) | (int(base[1][0]) & (0xFFFF if len(base) == 4 else 0xFFFFFFFF)) << 32
        scalar = operands.get("soffset")
        place = address + modifiers.get("offset", 0) + (int(scalar[0][0]) if scalar is not None else 0) - GLOBAL_BASE
        place &= ~3 if semantic.bytes >= 4 else ~0
        everything = _Place("global", self.arena.data, [], np.ones(1, np.bool_), self.arena.data.size)
        self._check(interp, op, np.array([place]), semantic.bytes, everything, np.array([0]))
        raw = self.arena.data[place : place + semantic.bytes][None, :]
        words = _extend(raw, semantic)
        return [words[0, word : word + 1].copy() for word in range(semantic.words)]


def _as_actors(wave: Wave, count: int) -> Actors:
    """The wave as one actor, ``count`` times: its accesses are in order, those of other waves are not."""
    number, barriers = np.full(count, wave.number, np.int64), np.full(count, wave.barriers, np.int64)
    nothing = np.zeros(count, np.int64)
    return Actors(number, nothing, number, barriers, nothing)


def _wide(words: Words, size: int) -> Array:
    """Two words as a 64-bit number a lane."""
    low = np.broadcast_to(words[0], (size,)).astype(np.int64)
    high = np.broadcast_to(words[1], (size,)).astype(np.int64)
    return low | high << np.int64(32)


def _joined(words: Words, size: int, dtype: Any) -> Array:
    total = np.zeros(size, np.uint64)
    for place, word in enumerate(words):
        total |= np.broadcast_to(word, (size,)).astype(np.uint64) << np.uint64(32 * place)
    return total.astype(dtype)


def _extend(raw: Array, semantic: Any) -> Array:
    """Bytes as words; narrow elements are sign- or zero-extended."""
    if semantic.bytes >= 4:
        return np.ascontiguousarray(raw).view(np.uint32)
    kind = f"{'i' if semantic.signed else 'u'}{semantic.bytes}"
    narrow = np.ascontiguousarray(raw).view(kind)
    return narrow.astype(np.int64).astype(np.uint32)
