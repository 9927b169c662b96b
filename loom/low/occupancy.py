"""Which registers of a file are taken when: a segment tree over slots whose nodes are sets of registers."""

from __future__ import annotations

from collections.abc import Iterable


class Occupancy:
    """Registers that are taken, by slot.

    A set of registers is an integer, bit ``n`` for register ``n``. Taking a register for a run of slots, and asking
    which registers are taken anywhere in a run, take time by the logarithm of the number of slots.

    Args:
        slots: Number of slots, 0 …; runs end within them.
    """

    __slots__ = ("_anywhere", "_size", "_throughout")

    def __init__(self, slots: int) -> None:
        self._size = 1 << max(0, slots - 1).bit_length()
        #: By node of the tree (1 the root, ``2 n`` and ``2 n + 1`` below ``n``; leaf ``s`` is ``size + s``) the
        #: registers that were taken for all of its slots at once, and those that are taken at any of them.
        self._throughout = [0] * (2 * self._size)
        self._anywhere = [0] * (2 * self._size)

    def copy(self) -> Occupancy:
        """An independent copy."""
        made = object.__new__(Occupancy)
        made._size = self._size
        made._throughout = list(self._throughout)
        made._anywhere = list(self._anywhere)
        return made

    def take(self, register: int, first: int, stop: int) -> None:
        """Take a register for the slots ``first`` … ``stop - 1``."""
        bit = 1 << register
        throughout, anywhere = self._throughout, self._anywhere
        low, high = first + self._size, stop + self._size
        while low < high:
            nodes = []
            if low & 1:
                nodes.append(low)
                low += 1
            if high & 1:
                high -= 1
                nodes.append(high)
            for node in nodes:
                throughout[node] |= bit
                while node and not anywhere[node] & bit:
                    anywhere[node] |= bit
                    node >>= 1
            low >>= 1
            high >>= 1

    def taken(self, runs: Iterable[tuple[int, int]]) -> int:
        """The registers that are taken at any slot of the runs."""
        throughout, anywhere = self._throughout, self._anywhere
        found = 0
        for first, stop in runs:
            low, high = first + self._size, stop + self._size
            # What was taken for a node above covers all that is below it.
            left, right = low >> 1, (high - 1) >> 1
            while left != right:
                found |= throughout[left] | throughout[right]
                left >>= 1
                right >>= 1
            while left:
                found |= throughout[left]
                left >>= 1
            while low < high:
                if low & 1:
                    found |= anywhere[low]
                    low += 1
                if high & 1:
                    high -= 1
                    found |= anywhere[high]
                low >>= 1
                high >>= 1
        return found
