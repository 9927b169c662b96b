"""Byte-addressed memory of the interpreter: arenas, poison, and the record of who touched what.

An arena is one address space. Addresses are byte offsets into it; a buffer value carries the bounds of its root, so
every
access is checked before it gets here. Loads and stores take arrays of addresses, one per element.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loom.reference.formats import Array, ElementFormat, decode, encode

#: What an unwritten byte of workgroup or private memory holds: a pattern that is neither zero nor a small number.
POISON_BYTE = 0xA5

_GUARD = 256


@dataclass(slots=True)
class Root:
    """A named range of an arena, for messages."""

    name: str
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """A data race: ``first`` names what happened earlier; ``position`` indexes the access that found it."""

    kind: str
    position: int
    other_lane: int


@dataclass(slots=True)
class Actors:
    """Who performs the elements of one access: run-wide lane number, workgroup, subgroup, and both barrier
    intervals."""

    lane: Array
    group: Array
    subgroup: Array
    interval: Array
    subgroup_interval: Array

    def select(self, chosen: Array) -> Actors:
        """The actors at the chosen elements."""
        return Actors(
            self.lane[chosen],
            self.group[chosen],
            self.subgroup[chosen],
            self.interval[chosen],
            self.subgroup_interval[chosen],
        )

    def repeat(self, count: int) -> Actors:
        """Each actor ``count`` times in a row."""
        return Actors(*(np.repeat(getattr(self, name), count) for name in self.__slots__))


_NOBODY, _SEVERAL = -1, -3

#: Values of :attr:`_Trace.atomic`.
_PLAIN, _ATOMIC = -1, 1


@dataclass(slots=True)
class _Trace:
    """The last access of one kind to every granule; ``atomic`` tells atomic writes from plain ones."""

    lane: Array
    group: Array
    subgroup: Array
    interval: Array
    subgroup_interval: Array
    atomic: Array

    @classmethod
    def empty(cls, size: int) -> _Trace:
        return cls(*(np.full(size, _NOBODY, np.int64) for _ in range(6)))

    def refine(self, factor: int) -> None:
        for name in self.__slots__:
            setattr(self, name, np.repeat(getattr(self, name), factor))

    def clear(self, start: int, end: int) -> None:
        for name in self.__slots__:
            getattr(self, name)[start:end] = _NOBODY

    def grow(self, size: int) -> None:
        for name in self.__slots__:
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.full(size - len(old), _NOBODY, np.int64)]))

    def unordered(self, at: Array, by: Actors) -> Array:
        """Where the recorded access and the new one are by different workitems with no barrier between them."""
        lane = self.lane[at]
        same_group = self.group[at] == by.group
        same_subgroup = same_group & (self.subgroup[at] == by.subgroup)
        barrier_between = same_group & (self.interval[at] < by.interval)
        barrier_between |= same_subgroup & (self.subgroup_interval[at] < by.subgroup_interval)
        return np.asarray((lane != _NOBODY) & (lane != by.lane) & ~barrier_between)

    def record(self, at: Array, by: Actors) -> None:
        """Enter reads: several lanes may have read a granule since the last barrier."""
        previous = self.lane[at]
        joined = (previous != _NOBODY) & (previous != by.lane) & (self.group[at] == by.group)
        joined &= self.interval[at] == by.interval
        self.join(at, by, joined)

    def join(self, at: Array, by: Actors, joined: Array) -> None:
        """Enter an access that leaves more than one lane where ``joined``, or where lanes of this access meet."""
        mixed = joined & (self.subgroup[at] != by.subgroup)
        self.lane[at] = np.where(joined, _SEVERAL, by.lane)
        self.subgroup[at] = np.where(mixed, _SEVERAL, by.subgroup)
        self.group[at], self.interval[at] = by.group, by.interval
        self.subgroup_interval[at] = by.subgroup_interval
        now = self.lane[at]
        met = (now != by.lane) & (now != _SEVERAL)
        if met.any():
            self.lane[at[met]] = _SEVERAL
            other = self.subgroup[at] != by.subgroup
            self.subgroup[at[met & other]] = _SEVERAL


@dataclass(slots=True)
class RaceDetector:
    """Finds accesses to the same memory by different workitems that no barrier orders.

    Memory is tracked in granules of the smallest element accessed so far. Two writes of the same value are let pass:
    every
    order gives the same memory.
    """

    size: int
    granule: int = 0
    writes: _Trace = field(default_factory=lambda: _Trace.empty(0))
    reads: _Trace = field(default_factory=lambda: _Trace.empty(0))

    def _granules(self, addresses: Array, element: int, by: Actors) -> tuple[Array, Actors, int]:
        if not self.granule:
            self.granule = element
            self.writes, self.reads = (_Trace.empty(-(-self.size // element)) for _ in range(2))
        misaligned = addresses.size and int(np.bitwise_or.reduce(addresses)) & (element - 1)
        wanted = 1 if misaligned else element
        if wanted < self.granule:
            factor = self.granule // wanted
            self.writes.refine(factor)
            self.reads.refine(factor)
            self.granule = wanted
        count = element // self.granule
        first = addresses // self.granule
        if count == 1:
            return first, by, 1
        return (first[:, None] + np.arange(count)).ravel(), by.repeat(count), count

    def read(self, addresses: Array, element: int, by: Actors) -> Conflict | None:
        """Check and record plain reads of ``element`` bytes each."""
        at, who, count = self._granules(addresses, element, by)
        racing = self.writes.unordered(at, who)
        if racing.any():
            position = int(np.argmax(racing))
            return Conflict("write", position // count, int(self.writes.lane[at[position]]))
        self.reads.record(at, who)
        return None

    def write(self, addresses: Array, element: int, by: Actors, changes: Array, atomic: bool) -> Conflict | None:
        """Check and record writes; ``changes`` is set where the value differs from what memory holds."""
        at, who, count = self._granules(addresses, element, by)
        differs = np.repeat(changes, count) if count > 1 else changes
        racing = self.reads.unordered(at, who) & (differs if not atomic else True)
        if racing.any():
            position = int(np.argmax(racing))
            return Conflict("read", position // count, int(self.reads.lane[at[position]]))
        other = self.writes.unordered(at, who)
        racing = other & ((self.writes.atomic[at] != _ATOMIC) if atomic else differs)
        if racing.any():
            position = int(np.argmax(racing))
            return Conflict("write", position // count, int(self.writes.lane[at[position]]))
        trace = self.writes
        trace.atomic[at] = _ATOMIC if atomic else _PLAIN
        if atomic:
            trace.join(at, who, other)
            return None
        trace.lane[at], trace.group[at], trace.subgroup[at] = who.lane, who.group, who.subgroup
        trace.interval[at], trace.subgroup_interval[at] = who.interval, who.subgroup_interval
        return None

    def forget(self, start: int, end: int) -> None:
        """A fresh root lives at ``[start, end)``: nobody has touched it."""
        if self.granule:
            self.writes.clear(start // self.granule, -(-end // self.granule))
            self.reads.clear(start // self.granule, -(-end // self.granule))

    def grow(self, size: int) -> None:
        """Track ``size`` bytes from now on."""
        self.size = size
        if self.granule:
            self.writes.grow(-(-size // self.granule))
            self.reads.grow(-(-size // self.granule))


class Arena:
    """One address space: bytes, the bytes that are poison, and optionally a race detector.

    ``flight`` counts for each byte the asynchronous copies that read it and those that write it; None while there were
    none.
    """

    __slots__ = ("capacity", "data", "detector", "flight", "poison", "roots", "space", "used")

    def __init__(self, space: str, detect_races: bool = False) -> None:
        self.space = space
        self.used = 0
        self.capacity = 0
        self.data: Array = np.zeros(0, np.uint8)
        self.poison: Array | None = None
        self.flight: tuple[Array, Array] | None = None
        self.roots: list[Root] = []
        self.detector: RaceDetector | None = RaceDetector(0) if detect_races else None
        self._reserve(_GUARD)

    def allocate(self, size: int, name: str, alignment: int = 16, poisoned: bool = False) -> int:
        """Reserve ``size`` bytes and return their address; new bytes hold the poison pattern."""
        start = -(-self.used // alignment) * alignment
        self._reserve(start + size + _GUARD)
        self.used = start + size
        self.roots.append(Root(name, start, size))
        if poisoned:
            self.fill_poison(start, size)
        return start

    def _reserve(self, size: int) -> None:
        size = -(-size // 64) * 64
        if size <= self.capacity:
            return
        capacity = max(size, 2 * self.capacity)
        grown = np.full(capacity, POISON_BYTE, np.uint8)
        grown[: self.capacity] = self.data
        self.data = grown
        if self.poison is not None:
            self.poison = np.concatenate([self.poison, np.zeros(capacity - self.capacity, np.bool_)])
        if self.flight is not None:
            more = np.zeros(capacity - self.capacity, np.int32)
            self.flight = (np.concatenate([self.flight[0], more]), np.concatenate([self.flight[1], more]))
        if self.detector is not None:
            self.detector.grow(capacity)
        self.capacity = capacity

    def fill_poison(self, start: int, size: int) -> None:
        """Make a range undefined, as a fresh allocation is."""
        self.data[start : start + size] = POISON_BYTE
        if self.poison is None:
            self.poison = np.zeros(self.capacity, np.bool_)
        self.poison[start : start + size] = True
        if self.detector is not None:
            self.detector.forget(start, start + size)

    def in_flight(self, writes: bool) -> Array:
        """For each byte, how many asynchronous copies are writing it (or, with ``writes`` false, reading it)."""
        if self.flight is None:
            self.flight = (np.zeros(self.capacity, np.int32), np.zeros(self.capacity, np.int32))
        return self.flight[int(writes)]

    def root_at(self, address: int) -> Root | None:
        """The root that holds an address, or the nearest one."""
        if not self.roots:
            return None
        return min(
            self.roots,
            key=lambda root: 0 if root.start <= address < root.start + root.size else abs(root.start - address) + 1,
        )

    def load(self, addresses: Array, form: ElementFormat) -> tuple[Array, Array | None]:
        """Read one element at each address (any shape); second, where any byte of it is poison."""
        size = form.bytes
        if size == 1:
            words = self.data[addresses]
        elif not (addresses & (size - 1)).any():
            words = self.data.view(form.storage)[addresses // size]
        else:
            gathered = self.data[addresses[..., None] + np.arange(size)]
            words = np.ascontiguousarray(gathered).view(form.storage)[..., 0]
        undefined: Array | None = None
        if self.poison is not None:
            undefined = self.poison[addresses]
            for byte in range(1, size):
                undefined = undefined | self.poison[addresses + byte]
            if not undefined.any():
                undefined = None
        return decode(words, form), undefined

    def peek(self, addresses: Array, form: ElementFormat) -> Array:
        """Storage words at flat addresses."""
        gathered = self.data[addresses[..., None] + np.arange(form.bytes)]
        return np.ascontiguousarray(gathered).view(form.storage)[..., 0]

    def store(self, addresses: Array, values: Array, form: ElementFormat, undefined: Array | None) -> None:
        """Write one element at each flat address; of equal addresses the last wins."""
        self.store_words(addresses, encode(values, form), form.bytes, undefined)

    def store_words(self, addresses: Array, words: Array, size: int, undefined: Array | None) -> None:
        """Write storage words of ``size`` bytes at flat addresses."""
        if size == 1:
            self.data[addresses] = words
        elif not (addresses & (size - 1)).any():
            self.data.view(words.dtype)[addresses // size] = words
        else:
            self.data[addresses[:, None] + np.arange(size)] = np.ascontiguousarray(words)[:, None].view(np.uint8)
        if undefined is not None and self.poison is None:
            self.poison = np.zeros(self.capacity, np.bool_)
        if self.poison is not None:
            mark: Any = False if undefined is None else undefined
            for byte in range(size):
                self.poison[addresses + byte] = mark
