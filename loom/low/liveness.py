"""Live ranges as runs of program slots.

Each instruction has four slots: a copy in front of it reads (0) and writes (1), the instruction itself reads (2) and
writes
(3). A live range is a sorted tuple of runs, ``(first slot, one behind the last)``, that neither overlap nor touch; slot
``4 * position + slot`` in a run says "this value occupies its register here". Most ranges are a single run, so that
memory and time grow with the number of values, not with its product with the length of the code.

Ranges are kept per *unit* (one 32-bit register of a tuple), so a tuple whose parts die early frees these parts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from loom.low.code import COPY, CodeBlock, LowCode

SLOTS = 4
COPY_READ, COPY_WRITE, READ, WRITE = range(SLOTS)

Runs = tuple[tuple[int, int], ...]
"""A set of slots: sorted runs ``(first, one behind the last)`` with a gap between any two."""


def run_of(first: int, last: int) -> Runs:
    """The set of slots ``first`` … ``last``, both included."""
    return ((first, last + 1),)


def united(runs: Iterable[tuple[int, int]]) -> Runs:
    """The union of any runs."""
    result: list[tuple[int, int]] = []
    start = stop = -1
    for first, end in sorted(runs):
        if first > stop:
            if start >= 0:
                result.append((start, stop))
            start, stop = first, end
        elif end > stop:
            stop = end
    if start >= 0:
        result.append((start, stop))
    return tuple(result)


def contains(runs: Runs, slot: int) -> bool:
    """Whether a slot is in a set."""
    at = bisect_right(runs, (slot, 1 << 62)) - 1
    return at >= 0 and slot < runs[at][1]


def slots_in(runs: Runs) -> int:
    """Number of slots in a set."""
    return sum(stop - first for first, stop in runs)


def live_anywhere(units: list[Runs]) -> Runs:
    """Where any unit of a register is live."""
    first = units[0]
    if all(other is first for other in units):
        return first
    return united(run for runs in units for run in runs)


class Liveness:
    """Live ranges of every register of a function.

    Attributes:
        live: By register index a list of one set of slots per unit.
        block_range: By block index the first and the last slot.
        slots: Number of slots.
        definition: By register index the slot of its definition (block parameters: first slot of the block).
    """

    __slots__ = ("block_range", "code", "definition", "definition_block", "live", "slots")

    def __init__(self, code: LowCode) -> None:
        self.code = code
        position = 0
        self.block_range: list[tuple[int, int]] = []
        for block in code.blocks:
            first = position
            for instruction in block.instructions:
                instruction.position = position
                position += 1
            self.block_range.append((SLOTS * first, SLOTS * position - 1))
        self.slots = SLOTS * position
        self.live: list[list[Runs]] = [[] for _ in code.registers]
        self.definition: list[int] = [-1] * len(code.registers)
        self.definition_block: list[int] = [-1] * len(code.registers)
        self._compute()

    def _compute(self) -> None:
        code = self.code
        count = len(code.registers)
        uses: list[list[tuple[int, int, int, int]] | None] = [None] * count
        extra: list[list[tuple[int, int]] | None] = [None] * count
        for block in code.blocks:
            b = block.index
            start, end = self.block_range[b]
            passed = {parameter.index for successor in block.successors for parameter in successor.parameters}
            for parameter in block.parameters:
                self.definition[parameter.index] = start
                self.definition_block[parameter.index] = b
            for instruction in block.instructions:
                base = SLOTS * instruction.position
                # Where results are written early, the old value of a tied result is taken before that.
                early = [u for _, u in instruction.ties] if instruction.traits.early_clobber else ()
                for position, (register, offset, units) in enumerate(instruction.uses):
                    at = base + (COPY_WRITE if position in early else READ)
                    found = uses[register.index]
                    if found is None:
                        uses[register.index] = [(b, at, offset, units)]
                    else:
                        found.append((b, at, offset, units))
                slot = base + (READ if instruction.traits.early_clobber else WRITE)
                is_copy = instruction.kind == COPY
                for register, _offset, _units in instruction.defs:
                    index = register.index
                    if is_copy and index in passed:
                        listed = extra[index]
                        if listed is None:
                            extra[index] = [(slot, end + 1)]
                        else:
                            listed.append((slot, end + 1))
                    else:
                        self.definition[index] = slot
                        self.definition_block[index] = b
        for register in code.registers:
            index = register.index
            if self.definition[index] < 0:
                self.live[index] = [()] * register.units
                continue
            always = [(self.definition[index], self.definition[index] + 1), *(extra[index] or ())]
            found = uses[index]
            if found is None:
                self.live[index] = [united(always)] * register.units
            elif register.units == 1 or all(o == 0 and n == register.units for _, _, o, n in found):
                runs = self._range(index, [(b, s) for b, s, _, _ in found])
                self.live[index] = [united(runs + always)] * register.units
            else:
                by_use: dict[tuple[tuple[int, int], ...], Runs] = {}
                live: list[Runs] = []
                for unit in range(register.units):
                    key = tuple((b, s) for b, s, o, n in found if o <= unit < o + n)
                    known = by_use.get(key)
                    if known is None:
                        known = by_use[key] = united(self._range(index, list(key)) + always) if key else united(always)
                    live.append(known)
                self.live[index] = live

    def _range(self, index: int, uses: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Runs of one definition and these uses, as (block index, slot)."""
        slot, home = self.definition[index], self.definition_block[index]
        blocks = self.code.blocks
        block_range = self.block_range
        last_by_block: dict[int, int] = {}
        for b, s in uses:
            if last_by_block.get(b, -1) < s:
                last_by_block[b] = s
        runs: list[tuple[int, int]] = []
        work: list[CodeBlock] = []
        for b, s in last_by_block.items():
            if b == home and s >= slot:
                runs.append((slot, s + 1))
                if any(u < slot for ub, u in uses if ub == b):
                    runs.append((block_range[b][0], max(u for ub, u in uses if ub == b and u < slot) + 1))
                    work.extend(blocks[b].predecessors)
            else:
                runs.append((block_range[b][0], s + 1))
                work.extend(blocks[b].predecessors)
        seen: set[int] = set()
        while work:
            block = work.pop()
            b = block.index
            if b in seen:
                continue
            seen.add(b)
            first, last = block_range[b]
            if b == home:
                runs.append((slot, last + 1))
            else:
                runs.append((first, last + 1))
                work.extend(block.predecessors)
        return runs

    def live_at_ends(self) -> list[dict[int, int]]:
        """By block the registers that are live at its last slot, each with the set of its units that are, as bits."""
        ends = [end for _, end in self.block_range]
        found: list[dict[int, int]] = [{} for _ in ends]
        for index, units in enumerate(self.live):
            by_runs: dict[int, int] = {}
            for unit, runs in enumerate(units):
                by_runs[id(runs)] = by_runs.get(id(runs), 0) | 1 << unit
            for bits in by_runs.values():
                for first, stop in units[bits.bit_length() - 1]:
                    for b in range(bisect_left(ends, first), bisect_left(ends, stop)):
                        found[b][index] = found[b].get(index, 0) | bits
        return found
