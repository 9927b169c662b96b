"""List scheduling of straight runs by latency, with an eye on register pressure.

A run ends at a fence, at a locked region and at the end of its block. Within a run, an instruction is ready when all
it depends on has
been issued. Of the ready ones, the scheduler takes the one with the longest path of latencies behind it that need not
stall; once more units of a register file are live than its budget allows, it prefers the one that frees most, and
where none goes without more registers, the first of the text. The
budget of a file is what the order of the text needs anyway, or the target's preferred number where that is more.
An order that still needs more registers than the file has is tried again with a smaller budget.

Regions of constrained order are scheduled like the rest, within what the target declares (:class:`ScheduleLimits`),
and with the registers that the order of the text needs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from loom.low.code import COPY, ENTRY, FENCE, JUMP, Instruction, LowCode, VirtualRegister
from loom.low.dependence import DependenceGraph
from loom.low.interface import BackendTarget, ScheduleLimits
from loom.low.liveness import Liveness

CANDIDATES = 12
"""Ready instructions that are compared in full; the rest waits in the heap."""

ATTEMPTS = 3
"""Orders of a run that are tried where one needs more registers than there are and than the text does: with less room
for latency the second time, with none the last."""

Effect = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]
"""What issuing an instruction does to register files: units that it defines and units that it frees, by file."""


@dataclass(slots=True)
class ScheduleSummary:
    """What scheduling did: runs looked at, instructions whose order changed."""

    runs: int = 0
    moved: int = 0


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
    most = {file: len(target.allocatable(file)) for file in budgets}
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
        pending = dict(live_out[block.index])
        _use(pending, tail)
        for k in range(len(runs) - 1, -1, -1):
            later[k] = dict(pending)
            _use(pending, runs[k][1])
        live_in = set(pending) - {r.index for i in body for r, _, _ in i.defs}
        for (movable, run), keep in zip(runs, later, strict=True):
            number += 1
            for instruction in run:
                instruction.run = number
            if movable and len(run) > 1:
                ordered = _schedule_run(run, keep, live_in, files, budgets, most, limits)
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


def _use(pending: dict[int, int], instructions: Sequence[Instruction]) -> None:
    """Add to ``pending`` what instructions use: by register the set of its units, as bits."""
    for instruction in instructions:
        for register, offset, units in instruction.uses:
            pending[register.index] = pending.get(register.index, 0) | ((1 << units) - 1) << offset


class _Values:
    """What a run keeps in registers: registers, or the parts of one that are not all used by the same instructions.

    Args:
        run: The instructions.
        keep: By register the units that are used behind the run, as bits.
        live_in: Registers that hold something in front of the run.
        files: File of every register.

    Attributes:
        used: By instruction the values that it uses.
        defined: By instruction the values that it defines.
        made: By instruction file and number of units of every result.
        file: By value its file.
        units: By value its number of units.
        kept: Values that are used behind the run.
        uses: By value the number of instructions that use it.
        copies: By instruction whether it is a copy.
        across: By file the units that are live throughout and that the run does not touch.
        before: Values that are live in front of the run and used in it or behind it.
    """

    def __init__(
        self, run: Sequence[Instruction], keep: dict[int, int], live_in: set[int], files: Sequence[str]
    ) -> None:
        self.file: list[str] = []
        self.units: list[int] = []
        self.kept: set[int] = set()
        cuts: dict[int, set[int]] = {}
        registers: dict[int, VirtualRegister] = {}
        for instruction in run:
            for register, offset, units in instruction.uses:
                registers[register.index] = register
                if units != register.units:
                    cuts.setdefault(register.index, set()).update((offset, offset + units))
            for register, _, _ in instruction.defs:
                registers[register.index] = register
        parts: dict[int, list[tuple[int, int]]] = {}
        """By register its values, each with the offset behind it."""
        for index, register in registers.items():
            bits = keep.get(index, 0)
            ends = cuts.get(index, set())
            if bits and bits + 1 != 1 << register.units:
                ends |= {unit for unit in range(1, register.units) if (bits >> unit ^ bits >> unit - 1) & 1}
            start = 0
            parts[index] = []
            for end in sorted((ends | {register.units}) - {0}):
                if bits >> start & 1:
                    self.kept.add(len(self.file))
                parts[index].append((len(self.file), end))
                self.file.append(files[index])
                self.units.append(end - start)
                start = end
        self.used: list[list[int]] = []
        self.defined: list[list[int]] = []
        self.made: list[tuple[tuple[str, int], ...]] = []
        self.uses: dict[int, int] = {}
        for instruction in run:
            used: dict[int, None] = {}
            for register, offset, units in instruction.uses:
                start = 0
                for value, end in parts[register.index]:
                    if start < offset + units and offset < end:
                        used[value] = None
                    start = end
            self.used.append(list(used))
            for value in used:
                self.uses[value] = self.uses.get(value, 0) + 1
            distinct = dict.fromkeys(register.index for register, _, _ in instruction.defs)
            self.defined.append([value for index in distinct for value, _ in parts[index]])
            self.made.append(tuple((files[index], registers[index].units) for index in distinct))
        self.before = [
            value
            for index in registers.keys() & live_in
            for value, _ in parts[index]
            if value in self.kept or value in self.uses
        ]
        self.copies = [instruction.kind == COPY for instruction in run]
        self.across: dict[str, int] = {}
        for index in keep.keys() & live_in - registers.keys():
            self.across[files[index]] = self.across.get(files[index], 0) + keep[index].bit_count()


def _schedule_run(
    run: Sequence[Instruction],
    keep: dict[int, int],
    live_in: set[int],
    files: Sequence[str],
    budgets: dict[str, int],
    most: dict[str, int],
    limits: ScheduleLimits | None,
) -> list[Instruction]:
    """The order of a run: by latency, and where that needs more registers than there are, tighter, or as it stands."""
    graph = DependenceGraph(run, limits)
    if any(instruction.limited for instruction in run):
        budgets = dict.fromkeys(budgets, 0)  # no more than the order of the text needs
    height = graph.heights()
    values = _Values(run, keep, live_in, files)
    text = _Pressure(values)
    for i in range(len(run)):
        text.issue(i)
    budget = {file: max(preferred, text.peak.get(file, 0)) for file, preferred in budgets.items()}
    excess: dict[str, int] = {}
    for attempt in range(ATTEMPTS):
        if attempt:
            last = attempt == ATTEMPTS - 1
            budget = {file: 0 if last else limit - 2 * excess.get(file, 0) for file, limit in budget.items()}
        order, peak = _list_schedule(run, graph, height, values, budget, limits)
        excess = {
            file: peak[file] - limit
            for file, limit in most.items()
            if peak.get(file, 0) > max(limit, text.peak.get(file, 0))
        }
        if not excess:
            return order
    return list(run)


def _list_schedule(
    run: Sequence[Instruction],
    graph: DependenceGraph,
    height: Sequence[int],
    values: _Values,
    budget: dict[str, int],
    limits: ScheduleLimits | None,
) -> tuple[list[Instruction], dict[str, int]]:
    """One pass over a run: its order, and by file the most units that are live."""
    count = len(run)
    waiting = list(graph.predecessors)
    pressure = _Pressure(values)
    earliest = [0] * count
    window = _Window(run, limits)
    candidates = _Candidates(height, earliest)
    effects = _Effects(values, pressure.left)
    for i in range(count):
        if not waiting[i] and window.admits(i):
            candidates.add(i, effects.of(i))
    order: list[Instruction] = []
    cycle = 0
    while len(candidates):
        # Under pressure the instruction that frees registers may have a short path: look at every one.
        level = pressure.level
        crowded = any(level.get(file, 0) + 2 > limit for file, limit in budget.items())
        pool = candidates.first_by_effect(cycle) if crowded else candidates.first_by_height()
        deltas: dict[Effect, tuple[int, int]] = {}
        best: tuple[int, ...] = ()
        for i in pool:
            effect = candidates.effect[i]
            delta = deltas.get(effect)
            if delta is None:
                delta = deltas[effect] = _pressure_delta(effect, level, budget)
            over, total = delta
            stall = max(0, earliest[i] - cycle)
            if crowded or over > 0:
                key: tuple[int, ...] = (over, total if crowded else 0, stall, i)
            else:
                key = (0, 0, stall, -height[i], total, i)
            if not best or key < best:
                best = key
        chosen = best[-1]
        if crowded and best[0] > 0:
            # Nothing goes without more registers: what the text does next leads to where it frees some.
            chosen = candidates.first_of_text()
        candidates.remove(chosen)
        cycle = max(cycle, earliest[chosen]) + 1
        order.append(run[chosen])
        pressure.issue(chosen)
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
    return order, pressure.peak


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


class _Pressure:
    """Registers that are live while the instructions of a run are issued one by one.

    Attributes:
        left: By value the number of instructions that use it and are not issued.
        level: By file the units that are live.
        peak: By file the most that were. An operation's results count next to its operands; those of a copy take their
            place.
    """

    def __init__(self, values: _Values) -> None:
        self.values = values
        self.left = dict(values.uses)
        self.level = dict(values.across)
        for value in values.before:
            self.level[values.file[value]] = self.level.get(values.file[value], 0) + values.units[value]
        self.peak = dict(self.level)

    def issue(self, i: int) -> None:
        """Take note of an issue."""
        values, left, level = self.values, self.left, self.level
        ended = []
        for value in values.used[i]:
            left[value] -= 1
            if not left[value] and value not in values.kept:
                ended.append(value)
        if values.copies[i]:
            self._end(ended)
        for value in values.defined[i]:
            if left.get(value, 0) or value in values.kept:
                file = values.file[value]
                level[file] = level.get(file, 0) + values.units[value]
                if level[file] > self.peak.get(file, 0):
                    self.peak[file] = level[file]
        if not values.copies[i]:
            self._end(ended)

    def _end(self, ended: Sequence[int]) -> None:
        for value in ended:
            self.level[self.values.file[value]] -= self.values.units[value]


class _Effects:
    """What issuing an instruction does to register files: it changes when another use of an operand is issued."""

    def __init__(self, values: _Values, left: dict[int, int]) -> None:
        self.values = values
        self.left = left
        #: By value the sum of the numbers of the instructions that are still to use it: of the last, its number.
        self.users: dict[int, int] = {}
        for i, used in enumerate(values.used):
            for value in used:
                self.users[value] = self.users.get(value, 0) + i

    def of(self, i: int) -> Effect:
        """The effect of issuing ``i`` next."""
        values, left, kept = self.values, self.left, self.values.kept
        freed = [(values.file[v], values.units[v]) for v in values.used[i] if left[v] == 1 and v not in kept]
        return values.made[i], tuple(sorted(freed))

    def issue(self, i: int) -> list[int]:
        """Take note of an issue, after :class:`_Pressure`; gives the instructions whose effect may be another now."""
        values = self.values
        changed = []
        for value in values.used[i]:
            self.users[value] -= i
            if self.left[value] == 1 and value not in values.kept:
                changed.append(self.users[value])
        return changed


class _Candidates:
    """The instructions that may be issued, found by the length of their path or by their effect on registers.

    Instructions of equal effect differ in nothing but the cycle that they can start at and their place in the text, so
    under pressure one of each effect is enough to look at. Entries of removed instructions, and of instructions whose
    effect has changed, stay in the heaps until they are met.
    """

    def __init__(self, height: Sequence[int], earliest: Sequence[int]) -> None:
        self.height = height
        self.earliest = earliest
        self.effect: dict[int, Effect] = {}
        self.by_height: list[tuple[int, int]] = []
        self.by_text: list[int] = []
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
            heapq.heappush(self.by_text, i)
        self.effect[i] = effect
        stalled, _ = self.by_effect.setdefault(effect, ([], []))
        heapq.heappush(stalled, (self.earliest[i], i))

    def remove(self, i: int) -> None:
        """``i`` is issued."""
        del self.effect[i]

    def first_of_text(self) -> int:
        """The candidate that stands first in the text."""
        while self.by_text[0] not in self.effect:
            heapq.heappop(self.by_text)
        return self.by_text[0]

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
