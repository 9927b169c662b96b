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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from loom.diagnostics import error
from loom.low.coalesce import Coalescer, Compound, TieCopy
from loom.low.code import COPY, Instruction, LowCode, VirtualRegister
from loom.low.interface import BackendTarget, Move
from loom.low.liveness import COPY_READ, SLOTS, WRITE, Liveness, bits
from loom.low.spill import SpillSlots, spill_registers

MAXIMUM_ROUNDS = 40
"""Rounds of spilling before the allocator gives up."""


@dataclass(slots=True)
class Allocation:
    """Where everything lies.

    Attributes:
        code: The code, rewritten where values were spilled.
        location: By register index the physical index of unit 0, -1 for registers without definition.
        file: By register index the register file.
        tie_copies: Copies in front of instructions, by position of the instruction.
        occupied: By file and physical index the union of live ranges.
        high_water: By file the number of registers used (highest index plus one).
        spilled: Registers that were spilled.
        spill_bytes: Bytes of memory per lane that spilling needs.
        lane_slots: Spill slots that are lanes of reserved vector registers (scalar values), by their number.
        coalesced: Number of copies (units) that sharing a register saved.
        copies: Number of copies (units) that are left.
    """

    code: LowCode
    location: list[int]
    file: list[str]
    tie_copies: dict[int, list[TieCopy]]
    occupied: dict[str, dict[int, int]]
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
        window = bits(SLOTS * position + COPY_READ, SLOTS * position + WRITE)
        occupied = self.occupied.setdefault(file, {})
        allowed = set(candidates)
        for index in candidates:
            if index % units == 0 and all(
                index + u in allowed and not occupied.get(index + u, 0) & window for u in range(units)
            ):
                return index
        return -1


class _OutOfRegistersError(Exception):
    def __init__(self, compound: Compound) -> None:
        super().__init__()
        self.compound = compound


def allocate(code: LowCode, target: BackendTarget, rounds: int = MAXIMUM_ROUNDS) -> Allocation:
    """Give every register of ``code`` a place.

    Raises:
        LoomError: ``BACKEND/011`` when pinned registers overlap, ``BACKEND/012`` when not even spilling helps.
    """
    slots = SpillSlots()
    spilled: list[VirtualRegister] = []
    for attempt in range(rounds):
        liveness = Liveness(code)
        coalescer = Coalescer(code, target, liveness)
        compounds = coalescer.compounds()
        failed: list[Compound] = []
        occupied: dict[str, dict[int, int]] = {}
        for compound in compounds:
            if compound.location is not None:
                _pin(compound, compound.location, occupied)
        by_file: dict[str, list[Compound]] = {}
        for compound in compounds:
            if compound.location is None:
                by_file.setdefault(compound.file, []).append(compound)
        for file, group in by_file.items():
            outcome = _assign_file(group, target.allocatable(file), occupied.setdefault(file, {}), target, file)
            if outcome is not None:
                failed.append(outcome)
        if not failed:
            return _result(code, coalescer, compounds, occupied, slots, spilled, attempt + 1)
        for compound in failed:
            victims = _victims(code, coalescer, compounds, compound, target)
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


def _pin(compound: Compound, location: int, occupied: dict[str, dict[int, int]]) -> None:
    file = occupied.setdefault(compound.file, {})
    for unit, total in enumerate(compound.total):
        other = file.get(location + unit, 0)
        if other & total:
            names = ", ".join(f"%{register.name or register.index}" for register, _ in compound.members[:4])
            raise error(
                f"{names} and another value are pinned to the same register ({compound.file} {location + unit}) "
                "while both live",
                "BACKEND/011",
                hint="move the use of one before the definition of the other, or copy it",
            )
        file[location + unit] = other | total


def _assign_file(
    group: list[Compound], order: Sequence[int], occupied: dict[int, int], target: BackendTarget, file: str
) -> Compound | None:
    """Place a file's compounds; the best of several orders. Returns a compound that found no place, or ``None``."""
    first_slot = {id(c): min(((m & -m).bit_length() for m in c.total if m), default=0) for c in group}
    length = {id(c): sum(m.bit_count() for m in c.total) for c in group}
    keys: list[Callable[[Compound], tuple[int, ...]]] = [
        lambda c: (-len(c.units) if len(c.units) > 1 else 0, first_slot[id(c)]),
        lambda c: (first_slot[id(c)], -length[id(c)]),
        lambda c: (-length[id(c)],),
    ]
    best: tuple[tuple[int, int], list[tuple[Compound, int]], dict[int, int]] | None = None
    failure: Compound | None = None
    floor = _pressure_floor(group, occupied)
    if floor > len(order):
        return max(group, key=lambda c: length[id(c)])
    for key in keys:
        state = dict(occupied)
        placed: list[tuple[Compound, int]] = []
        lost: Compound | None = None
        for compound in sorted(group, key=key):
            location = _place(compound, order, state)
            if location < 0:
                lost = compound
                break
            for unit, total in enumerate(compound.total):
                state[location + unit] = state.get(location + unit, 0) | total
            placed.append((compound, location))
            compound.location = location  # for those that should lie apart from it
        # Each conflict was counted from both sides.
        conflicts = sum(compound.conflicts(location) for compound, location in placed if compound.apart) // 2
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
        return failure
    occupied.clear()
    occupied.update(best[2])
    for compound, location in best[1]:
        compound.location = location
    return None


def _pressure_floor(group: list[Compound], occupied: dict[int, int]) -> int:
    """Most units that are live at once: no allocation needs fewer registers."""
    events: dict[int, int] = {}
    for compound in group:
        for mask in compound.total:
            while mask:
                first = (mask & -mask).bit_length() - 1
                run = mask >> first
                stop = first + ((run + 1) & ~run).bit_length() - 1
                events[first] = events.get(first, 0) + 1
                events[stop] = events.get(stop, 0) - 1
                mask = (mask >> stop) << stop
    level = peak = 0
    for slot in sorted(events):
        level += events[slot]
        peak = max(peak, level)
    return peak


def _place(compound: Compound, order: Sequence[int], state: dict[int, int]) -> int:
    """A free location for a compound, -1 if there is none: the first, or the first that is apart from all others that
    it should be apart from."""
    if not compound.apart:
        return next(_free_places(compound, order, state), -1)
    best, fewest = -1, 0
    for location in _free_places(compound, order, state):
        conflicts = compound.conflicts(location)
        if best < 0 or conflicts < fewest:
            best, fewest = location, conflicts
        if not conflicts:
            break
    return best


def _free_places(compound: Compound, order: Sequence[int], state: dict[int, int]) -> Iterator[int]:
    totals = compound.total
    get = state.get
    align, phase = compound.align, compound.phase
    for hint in compound.hints:
        if not any(get(hint + unit, 0) & total for unit, total in enumerate(totals)) and (hint + phase) % align == 0:
            yield hint
    if len(totals) == 1:
        mask = totals[0]
        for index in order:
            if not get(index, 0) & mask and (index + phase) % align == 0:
                yield index
        return
    allowed = set(order)
    count = len(totals)
    for index in order:
        if (index + phase) % align:
            continue
        for unit in range(count):
            at = index + unit
            if at not in allowed or get(at, 0) & totals[unit]:
                break
        else:
            yield index


def _victims(
    code: LowCode, coalescer: Coalescer, compounds: list[Compound], failed: Compound, target: BackendTarget
) -> list[VirtualRegister]:
    """Cheapest registers to spill so that ``failed`` may fit: those that live across its most crowded point."""
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
    candidates: list[tuple[float, VirtualRegister, int]] = []
    pinned = {register.index for c in compounds if _is_pinned(c) for register, _ in c.members}
    for register in code.registers:
        if register.index >= len(liveness.live) or liveness.definition[register.index] < 0 or register.spill_temp:
            continue
        if coalescer.file(register.register_class).file != file or register.index in pinned:
            continue
        mask = 0
        for unit_mask in liveness.live[register.index]:
            mask |= unit_mask
        span = mask.bit_count()
        if span <= SLOTS * 2:
            continue
        candidates.append((weight[register.index] / (span * register.units), register, mask))
    if not candidates:
        return []
    candidates.sort(key=lambda entry: entry[0])
    levels = [0] * (liveness.slots + 1)
    for compound in compounds:
        if compound.file == file:
            for mask in compound.total:
                _add_range(levels, mask, 1)
    # ``levels`` holds differences; sum them up.
    for slot in range(1, len(levels)):
        levels[slot] += levels[slot - 1]
    mine = 0
    for mask in failed.total:
        mine |= mask
    chosen: list[VirtualRegister] = []
    taken: set[int] = set()
    # Everywhere at once: take the cheapest value that lives at an overcrowded slot until none is overcrowded.
    for slot in range(0, liveness.slots, SLOTS):
        if levels[slot] <= capacity:
            continue
        for _, register, mask in candidates:
            if levels[slot] <= capacity:
                break
            if register.index in taken or not mask >> slot & 1:
                continue
            taken.add(register.index)
            chosen.append(register)
            _subtract(levels, mask, register.units)
    if chosen:
        return chosen
    # Nothing is overcrowded: tuples find no room between the others. Free the failed one's most crowded place.
    crowded = max(
        (slot for slot in range(liveness.slots) if mine >> slot & 1), key=lambda slot: levels[slot], default=0
    )
    needed = len(failed.units)
    for _, register, mask in candidates:
        if mask >> crowded & 1:
            chosen.append(register)
            needed -= register.units
            if needed <= 0:
                break
    if not chosen:
        chosen = [register for _, register, mask in candidates if mask & mine][:1]
    return chosen


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """Maximal runs of set bits as (first, one behind the last)."""
    while mask:
        first = (mask & -mask).bit_length() - 1
        run = mask >> first
        stop = first + ((run + 1) & ~run).bit_length() - 1
        yield first, stop
        mask = (mask >> stop) << stop


def _add_range(differences: list[int], mask: int, amount: int) -> None:
    for first, stop in _runs(mask):
        differences[first] += amount
        differences[stop] -= amount


def _subtract(levels: list[int], mask: int, amount: int) -> None:
    for first, stop in _runs(mask):
        for slot in range(first, stop):
            levels[slot] -= amount


def _is_pinned(compound: Compound) -> bool:
    return any(register.location is not None for register, _ in compound.members)


def _result(
    code: LowCode,
    coalescer: Coalescer,
    compounds: list[Compound],
    occupied: dict[str, dict[int, int]],
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
