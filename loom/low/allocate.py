"""Register allocation: coalesced live ranges into physical registers, spilling where they do not fit.

A compound goes to the first location, in the target's order, where none of its units meets the live range of another
one. Long
tuples go first, since they are the hardest to place; single registers then fill the gaps in order of their start,
which for
single registers alone needs as few registers as are live at once. Three orders are tried, and the one with the lowest
high-water mark is taken.

Where nothing fits, the cheapest live values (uses weighted by loop depth, per unit of range) are spilled, the code
is rewritten and
everything starts again; spill temporaries are never spilled, so this ends.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from loom.diagnostics import error
from loom.low.coalesce import Coalescer, Compound, TieCopy
from loom.low.code import COPY, Instruction, LowCode, VirtualRegister
from loom.low.interface import BackendTarget, Move
from loom.low.liveness import COPY_READ, SLOTS, WRITE, Liveness, Runs, contains, live_anywhere, slots_in, united
from loom.low.occupancy import Occupancy
from loom.low.spill import SpillSlots, spill_registers

MAXIMUM_ROUNDS = 40
"""Rounds of spilling before the allocator gives up."""

EXACT_ROUNDS = 6
"""Rounds that free just what a compound needs. In a large function at the limit what is freed is soon scattered among
others and the next compound fails near by, so that the rounds needed would grow with the function: from then on, every
round frees twice as much as the one before."""

MOST_ROOM = 16
"""Most times the registers of a compound that a round frees for it."""


@dataclass(slots=True)
class Allocation:
    """Where everything lies.

    Attributes:
        code: The code, rewritten where values were spilled.
        location: By register index the physical index of unit 0, -1 for registers without definition.
        file: By register index the register file.
        tie_copies: Copies in front of instructions, by position of the instruction.
        occupied: By file which physical registers are taken when.
        high_water: By file the number of registers used (highest index plus one).
        liveness: When each register is live.
        compounds: Registers that were placed together.
        spilled: Registers that were spilled.
        slots: The slots that spilled values are kept in.
        coalesced: Number of copies (units) that sharing a register saved.
        copies: Number of copies (units) that are left.
        rounds: Times that allocation began, the last of them without anything left to spill.
    """

    code: LowCode
    location: list[int]
    file: list[str]
    tie_copies: dict[int, list[TieCopy]]
    occupied: dict[str, Occupancy]
    high_water: dict[str, int]
    liveness: Liveness
    compounds: list[Compound]
    spilled: list[VirtualRegister] = field(default_factory=list)
    slots: SpillSlots = field(default_factory=SpillSlots)
    coalesced: int = 0
    copies: int = 0
    rounds: int = 1

    def free_register(self, file: str, position: int, candidates: Sequence[int], units: int = 1) -> int:
        """A location of ``units`` registers free around the instruction at ``position``, among ``candidates``; -1 if
        there is none."""
        first = SLOTS * position
        occupied = self.occupied.get(file)
        taken = occupied.taken([(first + COPY_READ, first + WRITE + 1)]) if occupied is not None else 0
        allowed = set(candidates)
        for index in candidates:
            if index % units == 0 and all(index + u in allowed and not taken >> (index + u) & 1 for u in range(units)):
                return index
        return -1


def allocate(
    code: LowCode, target: BackendTarget, rounds: int = MAXIMUM_ROUNDS, before: Allocation | None = None
) -> Allocation:
    """Give every register of ``code`` a place.

    Args:
        code: Linked code in SSA form; rewritten where values are spilled.
        target: Tells the register files, and makes the spills.
        rounds: Rounds of spilling before it gives up.
        before: An earlier allocation of ``code``, whose spills are in it.

    Raises:
        LoomError: ``BACKEND/011`` when pinned registers overlap, ``BACKEND/012`` when not even spilling helps.
    """
    slots = SpillSlots() if before is None else before.slots
    spilled: list[VirtualRegister] = [] if before is None else before.spilled
    for attempt in range(rounds):
        liveness = Liveness(code)
        coalescer = Coalescer(code, target, liveness)
        compounds = coalescer.compounds()
        failed: list[Compound] = []
        occupied: dict[str, Occupancy] = {}
        for compound in compounds:
            if compound.file not in occupied:
                occupied[compound.file] = Occupancy(liveness.slots)
            if compound.location is not None:
                _pin(compound, compound.location, occupied[compound.file])
        by_file: dict[str, list[Compound]] = {}
        for compound in compounds:
            if compound.location is None:
                by_file.setdefault(compound.file, []).append(compound)
        for file, group in by_file.items():
            places = _Places(target.allocatable(file))
            placed = _assign_file(group, places, occupied[file])
            if isinstance(placed, Compound):
                failed.append(placed)
            else:
                occupied[file] = placed
        if not failed:
            return _result(code, coalescer, compounds, occupied, slots, spilled, attempt + 1)
        for compound in failed:
            victims = _victims(code, coalescer, compounds, compound, target, _room(attempt))
            if not victims:
                raise error(
                    f"{code.name} needs more {compound.file} registers than there are, and nothing that lives there "
                    "can be spilled",
                    "BACKEND/012",
                    code.blocks[0].instructions[0].location,
                    hint=f"{len(compound.units)} consecutive registers found no place; pin or keep fewer registers",
                )
            spilled.extend(victims)
            spill_registers(code, victims, slots, target)
    raise error(
        f"{code.name} keeps more values at once than there are registers; {rounds} rounds of spilling were not enough",
        "BACKEND/012",
        code.blocks[0].instructions[0].location,
        hint="tile smaller, load later, or (for a lifted kernel) relax less: --relax=allocation keeps the order, and "
        "without --relax the registers stay as they are",
    )


def _room(attempt: int) -> int:
    """How many times what a compound needs a round of spilling frees for it."""
    return min(MOST_ROOM, 1 << max(0, attempt - EXACT_ROUNDS))


def _pin(compound: Compound, location: int, occupied: Occupancy) -> None:
    for index, runs in enumerate(compound.total(), location):
        if occupied.taken(runs) >> index & 1:
            names = ", ".join(f"%{register.name or register.index}" for register, _ in compound.members[:4])
            raise error(
                f"{names} and another value are pinned to the same register ({compound.file} {index}) while both live",
                "BACKEND/011",
                hint="move the use of one before the definition of the other, or copy it",
            )
        for first, stop in runs:
            occupied.take(index, first, stop)


class _Places:
    """The locations that a file has, and which of them suit an alignment."""

    def __init__(self, order: Sequence[int]) -> None:
        self.order = order
        self.ascending = all(a < b for a, b in pairwise(order))
        self._registers = sum(1 << index for index in order)
        self._aligned: dict[tuple[int, int, int], int] = {}

    def __len__(self) -> int:
        return len(self.order)

    def all_for(self, units: int, align: int, phase: int) -> int:
        """The locations, as a set, at which ``units`` registers follow and ``(location + phase) % align == 0``."""
        key = (units, align, phase % align)
        found = self._aligned.get(key)
        if found is None:
            found = sum(1 << index for index in self.order if (index + phase) % align == 0)
            for unit in range(1, units):
                found &= self._registers >> unit
            self._aligned[key] = found
        return found

    def each(self, chosen: int) -> Iterator[int]:
        """The locations of a set, best first."""
        if self.ascending:
            while chosen:
                yield (chosen & -chosen).bit_length() - 1
                chosen &= chosen - 1
        elif chosen:
            for index in self.order:
                if chosen >> index & 1:
                    yield index


def _assign_file(group: list[Compound], places: _Places, occupied: Occupancy) -> Compound | Occupancy:
    """Place a file's compounds; the best of several orders. Returns a compound that found no place, or which registers
    are taken then."""
    total = {id(c): c.total() for c in group}
    first_slot = {id(c): min((runs[0][0] + 1 for runs in total[id(c)] if runs), default=0) for c in group}
    length = {id(c): sum(map(slots_in, total[id(c)])) for c in group}
    keys: list[Callable[[Compound], tuple[int, ...]]] = [
        lambda c: (-len(c.units) if len(c.units) > 1 else 0, first_slot[id(c)]),
        lambda c: (first_slot[id(c)], -length[id(c)]),
        lambda c: (-length[id(c)],),
    ]
    best: tuple[tuple[int, int], list[tuple[Compound, int]], Occupancy] | None = None
    failure: Compound | None = None
    floor = _pressure_floor(total.values())
    if floor > len(places):
        return max(group, key=lambda c: length[id(c)])
    for key in keys:
        state = occupied.copy()
        placed: list[tuple[Compound, int]] = []
        lost: Compound | None = None
        for compound in sorted(group, key=key):
            location = _place(compound, total[id(compound)], places, state)
            if location < 0:
                lost = compound
                break
            for unit, runs in enumerate(total[id(compound)]):
                for first, stop in runs:
                    state.take(location + unit, first, stop)
            placed.append((compound, location))
            compound.location = location  # for those that should lie apart from it
        # Each conflict was counted from both sides.
        conflicts = sum(_count(compound.conflicts(), location) for compound, location in placed if compound.apart) // 2
        for compound, _ in placed:
            compound.location = None
        if lost is not None:
            failure = failure or lost
            continue
        mark = max((location + len(c.units) for c, location in placed), default=0)
        if best is None or (conflicts, mark) < best[0]:
            best = ((conflicts, mark), placed, state)
        if not conflicts and mark <= floor:
            break
    if best is None:
        assert failure is not None
        return failure
    for compound, location in best[1]:
        compound.location = location
    return best[2]


def _pressure_floor(totals: Iterable[list[Runs]]) -> int:
    """Most units that are live at once: no allocation needs fewer registers."""
    events: dict[int, int] = {}
    for total in totals:
        for runs in total:
            for first, stop in runs:
                events[first] = events.get(first, 0) + 1
                events[stop] = events.get(stop, 0) - 1
    level = peak = 0
    for slot in sorted(events):
        level += events[slot]
        peak = max(peak, level)
    return peak


def _count(conflicts: dict[int, dict[int, int]], location: int) -> int:
    """Number of compounds that a location is not apart from, of :meth:`Compound.conflicts`."""
    return sum(counts.get(location % modulus, 0) for modulus, counts in conflicts.items())


def _place(compound: Compound, total: list[Runs], places: _Places, state: Occupancy) -> int:
    """A free location for a compound, -1 if there is none: the first, or the first that is apart from all others that
    it should be apart from."""
    free = _free_places(compound, total, places, state)
    if not compound.apart:
        return next(free, -1)
    conflicts = compound.conflicts()
    best, fewest = -1, 0
    for location in free:
        count = _count(conflicts, location)
        if best < 0 or count < fewest:
            best, fewest = location, count
        if not count:
            break
    return best


def _free_places(compound: Compound, total: list[Runs], places: _Places, state: Occupancy) -> Iterator[int]:
    taken = [state.taken(runs) for runs in total]
    for hint in compound.hints:
        free = hint >= 0 and not any(registers >> (hint + unit) & 1 for unit, registers in enumerate(taken))
        if free and (hint + compound.phase) % compound.align == 0:
            yield hint
    chosen = places.all_for(len(total), compound.align, compound.phase)
    for unit, registers in enumerate(taken):
        chosen &= ~(registers >> unit)
    yield from places.each(chosen)


def _victims(
    code: LowCode, coalescer: Coalescer, compounds: list[Compound], failed: Compound, target: BackendTarget, room: int
) -> list[VirtualRegister]:
    """Cheapest registers to spill so that ``failed`` may fit: those that live across its most crowded point.

    Args:
        code: The function.
        coalescer: Its live ranges.
        compounds: Everything that needs a place.
        failed: What found none.
        target: Tells what can be spilled.
        room: How many times its registers to free.
    """
    file = failed.file
    if not target.spillable(file):
        return []
    capacity = len(target.allocatable(file))
    liveness = coalescer.liveness
    weight = [0.0] * len(code.registers)
    for block in code.blocks:
        for instruction in block.instructions:
            for register, _, _ in instruction.defs:
                weight[register.index] += block.frequency
            for register, _, _ in instruction.uses:
                weight[register.index] += block.frequency
    candidates: list[tuple[float, VirtualRegister, Runs]] = []
    pinned = {register.index for c in compounds if _is_pinned(c) for register, _ in c.members}
    for register in code.registers:
        if register.index >= len(liveness.live) or liveness.definition[register.index] < 0 or register.spill_temp:
            continue
        if coalescer.file(register.register_class).file != file or register.index in pinned:
            continue
        live = live_anywhere(liveness.live[register.index])
        span = slots_in(live)
        if span <= SLOTS * 2:
            continue
        candidates.append((weight[register.index] / (span * register.units), register, live))
    if not candidates:
        return []
    candidates.sort(key=lambda entry: entry[0])
    differences = [0] * (liveness.slots + 1)
    for compound in compounds:
        if compound.file == file:
            for runs in compound.total():
                for first, stop in runs:
                    differences[first] += 1
                    differences[stop] -= 1
    chosen = _relieve(candidates, differences, capacity)
    if chosen:
        return chosen
    # Nothing is overcrowded: tuples find no room between the others. Free the failed one's most crowded place.
    levels = list(accumulate(differences))
    mine = united(run for runs in failed.total() for run in runs)
    crowded = max((slot for first, stop in mine for slot in range(first, stop)), key=lambda s: levels[s], default=0)
    needed = room * len(failed.units)
    for _, register, live in candidates:
        if contains(live, crowded):
            chosen.append(register)
            needed -= register.units
            if needed <= 0:
                break
    if not chosen:
        chosen = [register for _, register, live in candidates if _meet(live, mine)][:1]
    return chosen


def _relieve(
    candidates: list[tuple[float, VirtualRegister, Runs]], differences: list[int], capacity: int
) -> list[VirtualRegister]:
    """Everywhere at once: the cheapest values that live at overcrowded slots, until none is overcrowded.

    Args:
        candidates: Values that may be spilled, the cheapest first.
        differences: Change of the number of live units at each slot.
        capacity: Registers of the file.
    """
    chosen: list[VirtualRegister] = []
    taken: set[int] = set()
    changes = list(differences)
    starts = sorted((first, stop, rank) for rank, (_, _, live) in enumerate(candidates) for first, stop in live)
    alive: list[tuple[int, int]] = []
    level = following = 0
    for slot in range(len(changes) - 1):
        level += changes[slot]
        if slot % SLOTS or level <= capacity:
            continue
        while following < len(starts) and starts[following][0] <= slot:
            _, stop, rank = starts[following]
            following += 1
            if stop > slot:
                heapq.heappush(alive, (rank, stop))
        while level > capacity and alive:
            rank, stop = heapq.heappop(alive)
            if stop <= slot or rank in taken:
                continue
            taken.add(rank)
            _, register, live = candidates[rank]
            chosen.append(register)
            level -= register.units
            for first, end in live:
                if end > slot:
                    if first > slot:
                        changes[first] -= register.units
                    changes[end] += register.units
    return chosen


def _meet(a: Runs, b: Runs) -> bool:
    """Whether two sets of slots have one in common."""
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i][0] < b[j][1] and b[j][0] < a[i][1]:
            return True
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return False


def _is_pinned(compound: Compound) -> bool:
    return any(register.location is not None for register, _ in compound.members)


def _result(
    code: LowCode,
    coalescer: Coalescer,
    compounds: list[Compound],
    occupied: dict[str, Occupancy],
    slots: SpillSlots,
    spilled: list[VirtualRegister],
    rounds: int,
) -> Allocation:
    location = [-1] * len(code.registers)
    files = [""] * len(code.registers)
    high: dict[str, int] = {}
    for compound in compounds:
        assert compound.location is not None
        for register, at in compound.members:
            location[register.index] = compound.location + at
            files[register.index] = compound.file
        high[compound.file] = max(high.get(compound.file, 0), compound.location + len(compound.units))
    tie_copies: dict[int, list[TieCopy]] = {}
    for copy in coalescer.tie_copies:
        tie_copies.setdefault(copy.instruction.position, []).append(copy)
    allocation = Allocation(
        code, location, files, tie_copies, occupied, high, coalescer.liveness, compounds, spilled, slots, rounds=rounds
    )
    for instruction in code.instructions():
        if instruction.kind == COPY:
            for (dst, d_at, units), (src, s_at, _) in zip(instruction.defs, instruction.uses, strict=True):
                if location[dst.index] + d_at == location[src.index] + s_at:
                    allocation.coalesced += units
                else:
                    allocation.copies += units
    allocation.copies += sum(c.source[2] for c in coalescer.tie_copies)
    return allocation


def copy_moves(allocation: Allocation, instruction: Instruction) -> list[Move]:
    """The moves of a ``COPY`` as one parallel move, a unit each; those that stay in place are left out."""
    moves: list[Move] = []
    for (dst, d_at, units), (src, s_at, _) in zip(instruction.defs, instruction.uses, strict=True):
        file = allocation.file[dst.index]
        target = allocation.location[dst.index] + d_at
        source = allocation.location[src.index] + s_at
        if target != source or file != allocation.file[src.index]:
            moves.extend(Move(file, target + unit, source + unit) for unit in range(units))
    return moves


def sequentialize(moves: Sequence[Move], scratch: Callable[[str], int]) -> list[Move]:
    """Order parallel single-register moves so that no source is overwritten before it is read.

    A cycle is broken through ``scratch(file)``, which gives a free register's index. Moves of the same file to
    adjacent registers
    are joined afterwards by the target, not here.
    """
    result: list[Move] = []
    by_file: dict[str, dict[int, int]] = {}
    for move in moves:
        by_file.setdefault(move.file, {})[move.target] = move.source
    for file, pending in by_file.items():
        readers: dict[int, int] = {}
        for source in pending.values():
            readers[source] = readers.get(source, 0) + 1
        ready = [target for target in pending if not readers.get(target)]
        while pending:
            while ready:
                target = ready.pop()
                source = pending.pop(target)
                result.append(Move(file, target, source))
                readers[source] -= 1
                if not readers[source] and source in pending:
                    ready.append(source)
            if pending:
                target = next(iter(pending))
                spare = scratch(file)
                # ``target`` is read by exactly one other move of the cycle: let that one read the spare register.
                result.append(Move(file, spare, target))
                for other, source in pending.items():
                    if source == target:
                        pending[other] = spare
                readers[spare] = readers.pop(target)
                ready.append(target)
    return result
