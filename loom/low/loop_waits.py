"""Waits in front of loops: once, instead of in every iteration for what has long arrived.

What was loaded in front of a loop and is first used in it is waited for where it is used, in every iteration. Where
every path through the loop, and out of it, comes to that wait within a few instructions, none of which starts an
operation, the wait goes to the end of the block in front of the loop: nothing but these few instructions could have
been done in the meantime, and each iteration is one instruction shorter. It stays where the loop loads the same
registers again, since it would still be needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from loom.ir import graph
from loom.low.waits import CounterModel, Unit, Wait, WaitAccess, WaitAnalysis

NEAR = 8
"""Instructions of a loop within which each path must come to the wait: less than the ten iterations that the backend
takes a loop to have, so that what no longer overlaps is soon made up for."""

Site = tuple[int, int]
"""Block and number of an instruction."""


@dataclass(slots=True)
class PlacedWaits:
    """Waits of a program.

    Attributes:
        inside: By block and instruction the wait in front of it, or ``None``.
        front: By block the wait in front of its last branch, and the first instruction of the loop that needed it.
    """

    inside: list[list[Wait | None]]
    front: dict[int, tuple[Wait, Site]] = field(default_factory=dict)


@dataclass(slots=True)
class _Demand:
    """What the paths through a loop wait for first on one counter."""

    value: int
    units: set[Unit]
    sites: list[Site]


def place_waits(
    blocks: Sequence[Sequence[WaitAccess]],
    successors: Sequence[Sequence[int]],
    model: CounterModel,
    ends: Sequence[int],
) -> PlacedWaits:
    """The waits that a program needs, those of loops in front of them where that is possible.

    Args:
        blocks: What every instruction means to the counters.
        successors: By block those that control may go to.
        model: The target's counters.
        ends: By block the number of the instruction that a wait at its end goes in front of: the first of its branches.
    """
    placed = PlacedWaits(WaitAnalysis(blocks, successors, model).waits)
    entries = _entries(successors)
    accepted: dict[tuple[int, str], _Demand] = {}
    for _ in model.maximum:
        wanted = {
            (block, counter): demand
            for block, header in entries.items()
            for counter, demand in _first_demands(header, blocks, successors, placed.inside).items()
            if (block, counter) not in accepted
        }
        while wanted:
            trial = _analyze(blocks, successors, model, ends, {**accepted, **wanted})
            kept = {key: demand for key, demand in wanted.items() if _helps(key, demand, trial)}
            if len(kept) == len(wanted):
                accepted.update(wanted)
                placed = trial
                break
            wanted = kept
        if not wanted:
            break
    return placed


def _entries(successors: Sequence[Sequence[int]]) -> dict[int, int]:
    """By block that does nothing but enter a loop, and through which alone the loop is entered, the loop's header."""
    order = graph.reverse_postorder(0, lambda block: successors[block])
    above = graph.immediate_dominators(order, lambda block: successors[block])
    number = {block: position for position, block in enumerate(order)}
    outside: dict[int, list[int]] = {}
    headers: set[int] = set()
    for block in order:
        for target in successors[block]:
            at, header = number[block], number[target]
            while at > header:
                at = above[at]
            if at == header:
                headers.add(target)
            else:
                outside.setdefault(target, []).append(block)
    return {
        outside[header][0]: header
        for header in headers
        if len(outside.get(header, ())) == 1 and list(successors[outside[header][0]]) == [header]
    }


def _first_demands(
    header: int,
    blocks: Sequence[Sequence[WaitAccess]],
    successors: Sequence[Sequence[int]],
    waits: Sequence[Sequence[Wait | None]],
) -> dict[str, _Demand]:
    """By counter what every path from the start of a loop waits for first, if it comes to it soon."""

    def walk(block: int, left: int) -> dict[str, _Demand]:
        for number, (access, wait) in enumerate(zip(blocks[block], waits[block], strict=True)):
            if not left:
                return {}
            if wait is not None:
                return _demands(wait, (block, number))
            if access.events or access.drains or access.waits:
                return {}
            left -= 1
        common: dict[str, _Demand] | None = None
        for target in successors[block]:
            found = walk(target, left - (not blocks[block])) if left else {}
            if common is None:
                common = found
            else:
                for counter in [c for c in common if c not in found or found[c].value != common[c].value]:
                    del common[counter]
                for counter, demand in common.items():
                    demand.units |= found[counter].units
                    demand.sites += found[counter].sites
            if not common:
                break
        return common or {}

    return walk(header, NEAR)


def _demands(wait: Wait, site: Site) -> dict[str, _Demand]:
    """By counter what a wait is for, where that is operations that write registers and count on one counter only."""
    pending = set(wait.units)
    if len(pending) != len({unit for _, unit in pending}):
        return {}  # flat accesses: what the loop waits for is not told apart
    return {
        counter: _Demand(value, {unit for c, unit in pending if c == counter}, [site])
        for counter, value in wait.counters.items()
        if all(reason == "data" for c, _, reason in wait.causes if c == counter)
    }


def _analyze(
    blocks: Sequence[Sequence[WaitAccess]],
    successors: Sequence[Sequence[int]],
    model: CounterModel,
    ends: Sequence[int],
    demands: dict[tuple[int, str], _Demand],
) -> PlacedWaits:
    """The waits where the blocks of ``demands`` end with a use of its units."""
    units: dict[int, list[Unit]] = {}
    sites: dict[int, Site] = {}
    for (block, _), demand in demands.items():
        units.setdefault(block, []).extend(demand.units)
        sites[block] = min(sites.get(block, demand.sites[0]), *demand.sites)
    longer = [list(block) for block in blocks]
    for entering, used in units.items():
        longer[entering].insert(ends[entering], WaitAccess(tuple(used)))
    waits = WaitAnalysis(longer, successors, model).waits
    # Producers are numbered through the program: without the uses at the ends of blocks.
    numbers: list[int] = []
    first = 0
    for index, instructions in enumerate(blocks):
        here = list(range(first, first + len(instructions)))
        if index in units:
            here.insert(ends[index], -1)
        numbers.extend(here)
        first += len(instructions)
    for listed in waits:
        for wait in listed:
            if wait is not None:
                wait.causes = [(c, numbers[p] if p >= 0 else p, reason) for c, p, reason in wait.causes]
    placed = PlacedWaits(waits)
    for index in units:
        wait = waits[index].pop(ends[index])
        if wait is not None:
            placed.front[index] = wait, sites[index]
    return placed


def _helps(key: tuple[int, str], demand: _Demand, trial: PlacedWaits) -> bool:
    """Whether a wait in front of a loop takes the place of those in it."""
    block, counter = key
    if block not in trial.front or counter not in trial.front[block][0].counters:
        return False
    inside = (trial.inside[b][number] for b, number in demand.sites)
    return all(wait is None or counter not in wait.counters for wait in inside)
