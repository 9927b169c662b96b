"""List scheduling of straight runs by latency, with an eye on register pressure.

A run ends at a fence, at a locked region and at the end of its block. Within a run, an instruction is ready when all
it depends on has
been issued. Of the ready ones, the scheduler takes the one with the longest path of latencies behind it that need not
stall; once more units of a register file are live than its budget allows, it prefers the one that frees most. The
budget of a file is what the order of the text needs anyway, or the target's preferred number where that is more.

Regions of constrained order are scheduled like the rest, within what the target declares (:class:`ScheduleLimits`),
and with the registers that the order of the text needs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from loom.low.code import COPY, ENTRY, FENCE, JUMP, Instruction, LowCode
from loom.low.dependence import DependenceGraph
from loom.low.interface import BackendTarget, ScheduleLimits
from loom.low.liveness import Liveness

CANDIDATES = 12
"""Ready instructions that are compared in full; the rest waits in the heap."""

Effect = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]
"""What issuing an instruction does to register files: units that it defines and units that it frees, by file."""


@dataclass(slots=True)
class ScheduleSummary:
    """What scheduling did: runs looked at, instructions whose order changed, peak pressure by file before and after."""

    runs: int = 0
    moved: int = 0
    peak_before: dict[str, int] | None = None
    peak_after: dict[str, int] | None = None


def schedule(
    code: LowCode, target: BackendTarget, budgets: dict[str, int], limits: ScheduleLimits | None = None
) -> ScheduleSummary:
    """Reorder the instructions of ``code`` in place.

    Args:
        code: Linked code in SSA form.
        target: Tells the register files.
        budgets: By file the number of live units up to which latency alone decides.
        limits: How far regions of constrained order may be reordered; ``None``: not limited.
    """
    liveness = Liveness(code)
    summary = ScheduleSummary()
    files = [target.file_of(register.register_class).file for register in code.registers]
    units = [register.units for register in code.registers]
    number = 0
    live_out = liveness.live_at_ends()
    for block in code.blocks:
        tail = block.instructions[-1:]
        body = block.instructions[:-1]
        tail_start = len(body)
        while tail_start and body[tail_start - 1].kind == COPY and tail[0].kind == JUMP:
            tail_start -= 1
        tail = body[tail_start:] + tail
        body = body[:tail_start]
        runs: list[tuple[bool, list[Instruction]]] = []
        for instruction in body:
            movable = not instruction.locked and instruction.kind not in (ENTRY, FENCE)
            if runs and runs[-1][0] == movable:
                runs[-1][1].append(instruction)
            else:
                runs.append((movable, [instruction]))
        result: list[Instruction] = []
        # Uses behind a run keep a register alive in it.
        later: list[dict[int, int]] = [{} for _ in runs]
        pending: dict[int, int] = dict.fromkeys(live_out[block.index], 1)
        for instruction in tail:
            for register, _, _ in instruction.uses:
                pending[register.index] = 1
        for k in range(len(runs) - 1, -1, -1):
            later[k] = dict(pending)
            for instruction in runs[k][1]:
                for register, _, _ in instruction.uses:
                    pending[register.index] = 1
        live_in = set(pending) - {r.index for i in body for r, _, _ in i.defs}
        for (movable, run), keep in zip(runs, later, strict=True):
            number += 1
            for instruction in run:
                instruction.run = number
            if movable and len(run) > 1:
                ordered = _schedule_run(run, keep, live_in, files, units, budgets, limits)
                summary.runs += 1
                summary.moved += sum(a is not b for a, b in zip(run, ordered, strict=True))
            else:
                ordered = run
            result.extend(i for i in ordered if i.kind != FENCE)
            live_in = live_in | {r.index for i in run for r, _, _ in i.defs if r.index in keep}
        for instruction in tail:
            instruction.run = number
        block.instructions = result + tail
    return summary


def _schedule_run(
    run: Sequence[Instruction],
    keep: dict[int, int],
    live_in: set[int],
    files: Sequence[str],
    units: Sequence[int],
    budgets: dict[str, int],
    limits: ScheduleLimits | None,
) -> list[Instruction]:
    graph = DependenceGraph(run, limits)
    if any(instruction.limited for instruction in run):
        budgets = dict.fromkeys(budgets, 0)  # no more than the order of the text needs
    height = graph.heights()
    count = len(run)
    waiting = list(graph.predecessors)
    uses_left: dict[int, int] = {}
    distinct: list[list[int]] = []
    for instruction in run:
        used = list({register.index for register, _, _ in instruction.uses})
        distinct.append(used)
        for index in used:
            uses_left[index] = uses_left.get(index, 0) + 1
    budget, start_pressure = _budget(run, distinct, uses_left, keep, live_in, files, units, budgets)
    pressure = dict(start_pressure)
    earliest = [0] * count
    window = _Window(run, limits)
    candidates = _Candidates(run, height, earliest)
    effects = _Effects(run, distinct, uses_left, keep, files, units)
    for i in range(count):
        if not waiting[i] and window.admits(i):
            candidates.add(i, effects.of(i))
    order: list[Instruction] = []
    cycle = 0
    while len(candidates):
        # Under pressure the instruction that frees registers may have a short path: look at every one.
        crowded = any(pressure.get(file, 0) + 2 > limit for file, limit in budget.items())
        pool = candidates.first_by_effect(cycle) if crowded else candidates.first_by_height()
        deltas: dict[Effect, tuple[int, int]] = {}
        best: tuple[int, ...] = ()
        for i in pool:
            effect = candidates.effect[i]
            delta = deltas.get(effect)
            if delta is None:
                delta = deltas[effect] = _pressure_delta(effect, pressure, budget)
            over, total = delta
            stall = max(0, earliest[i] - cycle)
            if crowded or over > 0:
                key: tuple[int, ...] = (over, total if crowded else 0, stall, i)
            else:
                key = (0, 0, stall, -height[i], total, i)
            if not best or key < best:
                best = key
        chosen = best[-1]
        candidates.remove(chosen)
        instruction = run[chosen]
        cycle = max(cycle, earliest[chosen]) + 1
        order.append(instruction)
        for index in distinct[chosen]:
            uses_left[index] -= 1
            if not uses_left[index] and index not in keep:
                pressure[files[index]] = pressure.get(files[index], 0) - units[index]
        for index in effects.defined[chosen]:
            if uses_left.get(index, 0) or index in keep:
                pressure[files[index]] = pressure.get(files[index], 0) + units[index]
        for last in effects.issue(chosen):
            if last in candidates:
                candidates.add(last, effects.of(last))
        for j, latency in graph.successors[chosen]:
            waiting[j] -= 1
            moment = cycle - 1 + latency
            if moment > earliest[j]:
                earliest[j] = moment
            if not waiting[j] and window.admits(j):
                candidates.add(j, effects.of(j))
        for j in window.advance(chosen):
            candidates.add(j, effects.of(j))
    assert len(order) == count, "the dependence graph has a cycle"
    return order


def _pressure_delta(effect: Effect, pressure: dict[str, int], budget: dict[str, int]) -> tuple[int, int]:
    """Change in files over budget, and change in all files."""
    over = total = 0
    defined, freed = effect
    for file, change in defined:
        total += change
        if pressure.get(file, 0) + change > budget.get(file, 1 << 30):
            over += change
    for file, change in freed:
        total -= change
        if pressure.get(file, 0) + 2 > budget.get(file, 1 << 30):
            over -= change
    return over, total


class _Effects:
    """What issuing an instruction does to register files: it changes when another use of an operand is issued."""

    def __init__(
        self,
        run: Sequence[Instruction],
        distinct: Sequence[Sequence[int]],
        uses_left: dict[int, int],
        keep: dict[int, int],
        files: Sequence[str],
        units: Sequence[int],
    ) -> None:
        self.distinct = distinct
        self.uses_left = uses_left
        self.keep = keep
        self.files = files
        self.units = units
        self.defined = [[register.index for register, _, _ in instruction.defs] for instruction in run]
        self.made = [tuple((files[index], units[index]) for index in defined) for defined in self.defined]
        #: By register the sum of the numbers of the instructions that are still to use it: of the last, its number.
        self.users: dict[int, int] = {}
        for i, used in enumerate(distinct):
            for index in used:
                self.users[index] = self.users.get(index, 0) + i

    def of(self, i: int) -> Effect:
        """The effect of issuing ``i`` next."""
        left, keep, files, units = self.uses_left, self.keep, self.files, self.units
        freed = [(files[index], units[index]) for index in self.distinct[i] if left[index] == 1 and index not in keep]
        return self.made[i], tuple(sorted(freed))

    def issue(self, i: int) -> list[int]:
        """Take note of an issue, once ``uses_left`` has; gives the instructions whose effect may be another now."""
        changed = []
        for index in self.distinct[i]:
            self.users[index] -= i
            if self.uses_left[index] == 1 and index not in self.keep:
                changed.append(self.users[index])
        return changed


class _Candidates:
    """The instructions that may be issued, found by the length of their path or by their effect on registers.

    Instructions of equal effect differ in nothing but the cycle that they can start at and their place in the text, so
    under pressure one of each effect is enough to look at. Entries of removed instructions, and of instructions whose
    effect has changed, stay in the heaps until they are met.
    """

    def __init__(self, run: Sequence[Instruction], height: Sequence[int], earliest: Sequence[int]) -> None:
        self.height = height
        self.earliest = earliest
        self.effect: dict[int, Effect] = {}
        self.by_height: list[tuple[int, int]] = []
        #: By effect the instructions that would stall, by cycle, and those that would not, by place.
        self.by_effect: dict[Effect, tuple[list[tuple[int, int]], list[int]]] = {}

    def __len__(self) -> int:
        return len(self.effect)

    def __contains__(self, i: int) -> bool:
        return i in self.effect

    def add(self, i: int, effect: Effect) -> None:
        """Make ``i`` a candidate, or change its effect."""
        if i not in self.effect:
            heapq.heappush(self.by_height, (-self.height[i], i))
        self.effect[i] = effect
        stalled, _ = self.by_effect.setdefault(effect, ([], []))
        heapq.heappush(stalled, (self.earliest[i], i))

    def remove(self, i: int) -> None:
        """``i`` is issued."""
        del self.effect[i]

    def first_by_height(self) -> list[int]:
        """The candidates with the longest paths behind them, at most :data:`CANDIDATES`."""
        found: list[tuple[int, int]] = []
        while self.by_height and len(found) < CANDIDATES:
            entry = heapq.heappop(self.by_height)
            if entry[1] in self.effect:
                found.append(entry)
        for entry in found:
            heapq.heappush(self.by_height, entry)
        return [i for _, i in found]

    def first_by_effect(self, cycle: int) -> list[int]:
        """Of each effect the candidate to issue first: without a stall the first of the text, else the least stall."""
        found = []
        for effect, (stalled, startable) in list(self.by_effect.items()):
            while stalled and stalled[0][0] <= cycle:
                heapq.heappush(startable, heapq.heappop(stalled)[1])
            while startable and self.effect.get(startable[0]) != effect:
                heapq.heappop(startable)
            while not startable and stalled and self.effect.get(stalled[0][1]) != effect:
                heapq.heappop(stalled)
            if startable:
                found.append(startable[0])
            elif stalled:
                found.append(stalled[0][1])
            else:
                del self.by_effect[effect]
        return found


class _Window:
    """Holds back instructions of constrained regions that would overtake more than the limits let them."""

    def __init__(self, run: Sequence[Instruction], limits: ScheduleLimits | None) -> None:
        self.reach = limits.reach if limits is not None else len(run)
        self.members: dict[int, list[int]] = {}
        self.rank = [0] * len(run)
        self.region = [instruction.limited if limits is not None else 0 for instruction in run]
        for i, region in enumerate(self.region):
            if region:
                listed = self.members.setdefault(region, [])
                self.rank[i] = len(listed)
                listed.append(i)
        #: By region the rank of the first instruction that is not issued.
        self.first = dict.fromkeys(self.members, 0)
        self.issued: set[int] = set()
        self.held: dict[int, list[int]] = {region: [] for region in self.members}

    def admits(self, i: int) -> bool:
        """Whether a ready instruction may be issued now; if not, :meth:`advance` gives it later."""
        region = self.region[i]
        if not region or self.rank[i] <= self.first[region] + self.reach:
            return True
        self.held[region].append(i)
        return False

    def advance(self, i: int) -> list[int]:
        """Take note of an issue; gives the held instructions that may follow now."""
        region = self.region[i]
        if not region:
            return []
        self.issued.add(i)
        members = self.members[region]
        while self.first[region] < len(members) and members[self.first[region]] in self.issued:
            self.first[region] += 1
        waiting = self.held[region]
        self.held[region] = []
        return [j for j in waiting if self.admits(j)]


def _budget(
    run: Sequence[Instruction],
    distinct: Sequence[Sequence[int]],
    uses_left: dict[int, int],
    keep: dict[int, int],
    live_in: set[int],
    files: Sequence[str],
    units: Sequence[int],
    budgets: dict[str, int],
) -> tuple[dict[str, int], dict[str, int]]:
    """Per file the larger of the preferred number and the peak of the given order; and the pressure at the start."""
    start: dict[str, int] = {}
    alive = {index for index in live_in if index in keep or index in uses_left}
    for index in alive:
        start[files[index]] = start.get(files[index], 0) + units[index]
    level = dict(start)
    peak = dict(start)
    left = dict(uses_left)
    for position, instruction in enumerate(run):
        for register, _, _ in instruction.defs:
            if left.get(register.index, 0) or register.index in keep:
                file = files[register.index]
                level[file] = level.get(file, 0) + units[register.index]
                if level[file] > peak.get(file, 0):
                    peak[file] = level[file]
        for index in distinct[position]:
            left[index] -= 1
            if not left[index] and index not in keep:
                level[files[index]] = level.get(files[index], 0) - units[index]
    return {file: max(preferred, peak.get(file, 0)) for file, preferred in budgets.items()}, start
