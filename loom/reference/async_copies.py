"""Asynchronous copies in flight: which bytes they still read or write, until their group is waited for.

A copy is made when it is issued, which is one of the orders that the hardware may choose; every access that could tell
another order, before the wait, is an error. Groups form one ordered stream for each workitem.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from loom.ir import Operation
from loom.reference.formats import Array

if TYPE_CHECKING:
    from loom.reference.memory import Actors, Arena

_NO_GROUP = -1


@dataclass(eq=False, slots=True)
class Movement:
    """One side of a copy: the first bytes of its elements, the lane of each, and the element's size."""

    arena: Arena
    addresses: Array
    lanes: Array
    size: int

    def count(self, chosen: Array, by: int, writes: bool) -> None:
        """Enter (1) or take back (-1) the chosen elements in the arena's table of bytes in flight."""
        table = self.arena.in_flight(writes)
        for byte in range(self.size):
            np.add.at(table, self.addresses[chosen] + byte, by)


@dataclass(eq=False, slots=True)
class Copy:
    """A copy of one or more workitems: ``group`` is the number of its group in each lane, ``pending`` where it runs."""

    op: Operation
    source: Movement
    target: Movement
    group: Array
    pending: Array


@dataclass(eq=False, slots=True)
class AsyncCopies:
    """The copies and groups of a batch. Tokens and groups are numbers, so that they can be carried and selected."""

    copies: list[Copy] = field(default_factory=list)
    groups: int = 0

    def issue(self, op: Operation, source: Movement, target: Movement, active: Array) -> int:
        """Enter a copy that the active lanes make; returns its token."""
        copy = Copy(op, source, target, np.full(active.shape, _NO_GROUP, np.int64), active.copy())
        source.count(np.arange(source.lanes.size), 1, False)
        target.count(np.arange(target.lanes.size), 1, True)
        self.copies.append(copy)
        return len(self.copies) - 1

    def group(self, tokens: list[Array], active: Array) -> tuple[int, Copy | None]:
        """Put the copies of the tokens into a new group; its number, and a copy that is in a group already."""
        number = self.groups
        self.groups += 1
        for token in tokens:
            spread = np.broadcast_to(token, active.shape)
            for place in np.unique(spread[active]):
                copy = self.copies[int(place)]
                lanes = active & (spread == place)
                if (copy.group[lanes] != _NO_GROUP).any():
                    return number, copy
                copy.group[lanes] = number
        return number, None

    def wait(self, group: Array, active: Array, by: Actors) -> None:
        """Complete the copies of this group and of older ones, in the active lanes."""
        limit = np.broadcast_to(group, active.shape)
        for copy in self.copies:
            done = copy.pending & active & (copy.group != _NO_GROUP) & (copy.group <= limit)
            if done.any():
                self._complete(copy, done, by)

    def finish(self) -> None:
        """Complete everything: the end of the kernel waits for all copies."""
        for copy in self.copies:
            if copy.pending.any():
                self._complete(copy, copy.pending.copy(), None)

    def _complete(self, copy: Copy, lanes: Array, by: Actors | None) -> None:
        copy.pending &= ~lanes
        copy.source.count(np.flatnonzero(lanes[copy.source.lanes]), -1, False)
        chosen = np.flatnonzero(lanes[copy.target.lanes])
        copy.target.count(chosen, -1, True)
        detector = copy.target.arena.detector
        if detector is not None and by is not None and chosen.size:
            # The bytes arrived by now, not when the copy was issued: a barrier before the wait orders nothing.
            unchanged = np.zeros(chosen.size, np.bool_)
            actors = by.select(copy.target.lanes[chosen])
            detector.write(copy.target.addresses[chosen], copy.target.size, actors, unchanged, atomic=False)

    def culprit(self, arena: Arena, address: int, writes: bool) -> Copy | None:
        """A copy in flight that writes (or, with ``writes`` false, reads) the byte at ``address``."""
        for copy in self.copies:
            side = copy.target if writes else copy.source
            if side.arena is not arena:
                continue
            here = (side.addresses <= address) & (address < side.addresses + side.size) & copy.pending[side.lanes]
            if here.any():
                return copy
        return None


def movement(access: Any) -> Movement:
    """The elements of an :class:`~loom.reference.operations_memory.Access` as one side of a copy."""
    addresses, lanes, _ = access._flat()
    return Movement(access.view.buffer.arena, np.array(addresses), np.array(lanes), access.form.bytes)
