"""Waits for outstanding operations: which counter must have come down to what in front of which instruction.

A counter counts operations that are under way (loads, stores, LDS accesses …). Operations that finish in the order
they were issued let
an instruction wait for *its* producer only: "at most n younger ones are left". Operations that finish in any order,
or kinds that share a counter without sharing an order, allow only "none is left".

The analysis runs over the control-flow graph to a fixed point. At a join the state is the union: for every register
the youngest
age that any path allows, and the larger number of outstanding operations.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

Unit = Hashable
"""A physical register unit, as the target names it."""


@dataclass(frozen=True, slots=True)
class Event:
    """An operation under way.

    Attributes:
        counter: Counter it raises by one.
        kind: Kind of operation; kinds are what shares an order.
        writes: Register units that are not valid before the counter has come down past it.
    """

    counter: str
    kind: str
    writes: tuple[Unit, ...] = ()


@dataclass(slots=True)
class WaitAccess:
    """What one instruction means to the counters.

    Attributes:
        touches: Units it reads or writes; each must have arrived.
        events: Operations that it starts.
        drains: Counters that must come down to a value before it, with the reason (``barrier`` …): ``(counter,
            value, reason, kinds)``;
            ``kinds`` restricts the demand to the operations of these kinds, ``None`` means all.
        waits: Waits it performs itself: counter to value.
        replaces: Further units, which only its own operations write and which it does not read. They need not have
            arrived where what is under way to them is of the same kind and arrives in order
            (:attr:`CounterModel.ordered_results`).
    """

    touches: tuple[Unit, ...] = ()
    events: tuple[Event, ...] = ()
    drains: tuple[tuple[str, int, str, frozenset[str] | None], ...] = ()
    waits: Mapping[str, int] = field(default_factory=dict)
    replaces: tuple[Unit, ...] = ()


@dataclass(slots=True)
class Wait:
    """A wait that an instruction needs in front of it."""

    counters: dict[str, int]
    causes: list[tuple[str, int, str]]
    """(counter, number of the instruction that caused it or -1, reason)."""
    units: list[tuple[str, Unit]] = field(default_factory=list)
    """(counter, unit) of each unit that an operation is still to write."""


@dataclass(frozen=True, slots=True)
class CounterModel:
    """A target's counters.

    Attributes:
        maximum: Largest value of each counter that a wait can name.
        unordered: Kinds whose operations finish in any order.
        shared_order: Sets of kinds of one counter that finish in one common order.
        ordered_results: Kinds whose results arrive in registers in the order of issue: the younger of two operations
            that write one register has the last word, without a wait in between.
    """

    maximum: Mapping[str, int]
    unordered: frozenset[str]
    shared_order: tuple[frozenset[str], ...] = ()
    ordered_results: frozenset[str] = frozenset()


_NOTHING: Mapping[str, tuple[int, int, str]] = {}


class _State:
    """Outstanding operations at one point.

    ``upper[counter]`` counts operations issued so far; ``lower[counter]`` those known to have finished.
    ``units[unit][counter]``
    is the number (as of ``upper``) of the youngest operation that writes the unit, with its producer, for reports, and
    its kind, empty where paths disagree. ``kinds[counter][kind]`` is the number of the
    youngest operation of the kind, with its producer.
    """

    __slots__ = ("kinds", "lower", "units", "upper")

    def __init__(self, counters: Sequence[str]) -> None:
        self.upper = dict.fromkeys(counters, 0)
        self.lower = dict.fromkeys(counters, 0)
        self.units: dict[Unit, dict[str, tuple[int, int, str]]] = {}
        self.kinds: dict[str, dict[str, tuple[int, int]]] = {counter: {} for counter in counters}

    def copy(self) -> _State:
        made = object.__new__(_State)
        made.upper = dict(self.upper)
        made.lower = dict(self.lower)
        made.units = {unit: dict(scores) for unit, scores in self.units.items()}
        made.kinds = {counter: dict(kinds) for counter, kinds in self.kinds.items()}
        return made

    def finish(self, counter: str, value: int) -> None:
        """At most ``value`` operations of the counter are left."""
        done = self.upper[counter] - value
        if done <= self.lower[counter]:
            return
        self.lower[counter] = done
        kinds = self.kinds[counter]
        for kind in [k for k, (score, _) in kinds.items() if score <= done]:
            del kinds[kind]
        empty = []
        for unit, scores in self.units.items():
            found = scores.get(counter)
            if found is not None and found[0] <= done:
                del scores[counter]
                if not scores:
                    empty.append(unit)
        for unit in empty:
            del self.units[unit]

    def canonical(self) -> tuple[object, ...]:
        """Equal for equal situations, whatever the absolute numbers and whoever produced."""
        upper = self.upper
        return (
            tuple(upper[c] - self.lower[c] for c in upper),
            frozenset(
                (unit, c, upper[c] - s[0], s[2]) for unit, scores in self.units.items() for c, s in scores.items()
            ),
            frozenset((c, kind, upper[c] - s[0]) for c, kinds in self.kinds.items() for kind, s in kinds.items()),
        )

    def merge(self, other: _State, maximum: Mapping[str, int]) -> None:
        """Become the union with ``other``."""
        for counter in self.upper:
            mine = self.upper[counter] - self.lower[counter]
            theirs = other.upper[counter] - other.lower[counter]
            pending = min(max(mine, theirs), maximum[counter] + 1)
            # Renumber both so that ``pending`` operations are outstanding and the youngest has number ``pending``.
            shift_mine = pending - self.upper[counter]
            shift_theirs = pending - other.upper[counter]
            self.upper[counter] = pending
            self.lower[counter] = 0
            for scores in self.units.values():
                found = scores.get(counter)
                if found is not None:
                    scores[counter] = (max(found[0] + shift_mine, 1), found[1], found[2])
            for unit, scores in other.units.items():
                found = scores.get(counter)
                if found is not None:
                    score = max(found[0] + shift_theirs, 1)
                    here = self.units.setdefault(unit, {})
                    old = here.get(counter)
                    kind = found[2] if old is None or old[2] == found[2] else ""
                    if old is None or old[0] < score:
                        here[counter] = (score, found[1], kind)
                    elif kind != old[2]:
                        here[counter] = (old[0], old[1], kind)
            kinds = self.kinds[counter]
            for kind, (score, producer) in list(kinds.items()):
                kinds[kind] = (max(score + shift_mine, 1), producer)
            for kind, (score, producer) in other.kinds[counter].items():
                moved = max(score + shift_theirs, 1)
                if kind not in kinds or kinds[kind][0] < moved:
                    kinds[kind] = (moved, producer)


class WaitAnalysis:
    """Runs the analysis; ``waits[block][i]`` is what the instruction needs in front of it, or ``None``."""

    def __init__(
        self,
        blocks: Sequence[Sequence[WaitAccess]],
        successors: Sequence[Sequence[int]],
        model: CounterModel,
    ) -> None:
        self._blocks = blocks
        self._model = model
        self._order_of: dict[str, int] = {}
        for index, group in enumerate(model.shared_order):
            for kind in group:
                self._order_of[kind] = index
        counters = list(model.maximum)
        first_number: list[int] = []
        number = 0
        for block in blocks:
            first_number.append(number)
            number += len(block)
        entry: list[_State | None] = [None] * len(blocks)
        entry[0] = _State(counters)
        work = [0]
        seen_out: dict[int, tuple[object, ...]] = {}
        queued = {0}
        while work:
            index = heapq.heappop(work)
            queued.discard(index)
            start = entry[index]
            assert start is not None
            state = start.copy()
            self._run(index, state, first_number[index], None)
            for successor in successors[index]:
                known = entry[successor]
                if known is None:
                    entry[successor] = state.copy()
                else:
                    before = known.canonical()
                    known.merge(state, model.maximum)
                    if known.canonical() == before:
                        continue
                if successor not in queued:
                    queued.add(successor)
                    heapq.heappush(work, successor)
            seen_out[index] = ()
        self.waits: list[list[Wait | None]] = []
        for index in range(len(blocks)):
            start = entry[index]
            result: list[Wait | None] = []
            if start is None:
                result = [None] * len(blocks[index])
            else:
                self._run(index, start.copy(), first_number[index], result)
            self.waits.append(result)

    def _needed(self, state: _State, counter: str, score: int) -> int:
        """Value that the counter must come down to so that operation number ``score`` is done."""
        if not self._in_order(state, counter):
            return 0
        return min(state.upper[counter] - score, self._model.maximum[counter])

    def _wait_for(self, wait: Wait | None, state: _State, counter: str, unit: Unit, score: int, producer: int) -> Wait:
        """``wait`` with the demand that an operation that writes a unit is done."""
        if wait is None:
            wait = Wait({}, [])
        value = self._needed(state, counter, score)
        if value < wait.counters.get(counter, 1 << 30):
            wait.counters[counter] = value
        wait.causes.append((counter, producer, "data"))
        wait.units.append((counter, unit))
        return wait

    def _in_order(self, state: _State, counter: str) -> bool:
        """Whether everything that is under way on a counter finishes in the order of issue."""
        kinds = state.kinds[counter]
        if any(kind in self._model.unordered for kind in kinds):
            return False
        return len({self._order_of.get(kind, kind) for kind in kinds}) <= 1

    def _run(self, index: int, state: _State, number: int, result: list[Wait | None] | None) -> None:
        units = state.units
        for access in self._blocks[index]:
            wait: Wait | None = None
            if units:
                for unit in access.touches:
                    scores = units.get(unit)
                    if scores is None:
                        continue
                    for counter, (score, producer, _) in scores.items():
                        wait = self._wait_for(wait, state, counter, unit, score, producer)
                for unit in access.replaces:
                    for counter, (score, producer, kind) in units.get(unit, _NOTHING).items():
                        ordered = kind in self._model.ordered_results
                        if not (ordered and any(e.counter == counter and e.kind == kind for e in access.events)):
                            wait = self._wait_for(wait, state, counter, unit, score, producer)
            for counter, value, reason, wanted in access.drains:
                pending = state.upper[counter] - state.lower[counter]
                if pending <= value:
                    continue
                producer = -1
                if wanted is not None:
                    listed = [s for kind, s in state.kinds[counter].items() if kind in wanted]
                    if not listed:
                        continue
                    score, producer = max(listed)
                    value = max(value, self._needed(state, counter, score))
                elif state.kinds[counter]:
                    producer = max(state.kinds[counter].values())[1]
                if wait is None:
                    wait = Wait({}, [])
                if value < wait.counters.get(counter, 1 << 30):
                    wait.counters[counter] = value
                wait.causes.append((counter, producer, reason))
            if wait is not None:
                # What the instruction's own wait does not cover must be waited for in front of it.
                for counter in [c for c, v in wait.counters.items() if access.waits.get(c, 1 << 30) <= v]:
                    del wait.counters[counter]
                if not wait.counters:
                    wait = None
                else:
                    for counter, value in wait.counters.items():
                        state.finish(counter, value)
            for counter, value in access.waits.items():
                # Where operations finish in no common order, only "none is left" says which have.
                if counter in state.upper and (value == 0 or self._in_order(state, counter)):
                    state.finish(counter, value)
            for event in access.events:
                counter = event.counter
                score = state.upper[counter] + 1
                state.upper[counter] = score
                state.kinds[counter][event.kind] = (score, number)
                for unit in event.writes:
                    units.setdefault(unit, {})[counter] = (score, number, event.kind)
                limit = self._model.maximum[counter] + 1
                if score - state.lower[counter] > limit and event.kind not in self._model.unordered:
                    # The counter saturates: the hardware stalls, so the oldest are done where the order is kept.
                    pass
            if result is not None:
                result.append(wait)
            number += 1
