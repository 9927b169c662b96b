"""Dependences between the instructions of a straight run: data, machine state, memory, order that the text demands."""

from __future__ import annotations

from collections.abc import Sequence

from loom.low.code import FENCE, Instruction
from loom.low.interface import ScheduleLimits

MEMORY_WINDOW = 48
"""Memory accesses of one space that are compared one by one; older ones are summed up by an edge to all of them."""

STATE_WINDOW = 48
"""Readers of machine state that each write which nobody reads gets an edge from; where there are more, only the first
such write does, and the others follow it."""


def may_overlap(a: Instruction, b: Instruction) -> bool:
    """Whether two memory accesses may touch the same byte."""
    space_a, space_b = a.traits.memory_space, b.traits.memory_space
    if space_a != space_b and space_a != "flat" and space_b != "flat":
        return False
    first, second = a.address, b.address
    if first is None or second is None:
        return True
    base_a, offset_a, bytes_a, class_a = first
    base_b, offset_b, bytes_b, class_b = second
    if class_a is not None and class_b is not None and class_a != class_b:
        return False
    if base_a is not None and base_a == base_b and bytes_a and bytes_b:
        return offset_a < offset_b + bytes_b and offset_b < offset_a + bytes_a
    return True


class DependenceGraph:
    """Edges between the instructions of one run, by their index in it.

    Attributes:
        successors: For every instruction pairs (later instruction, latency).
        predecessors: Number of edges into every instruction.
    """

    __slots__ = ("instructions", "predecessors", "successors")

    def __init__(self, instructions: Sequence[Instruction], limits: ScheduleLimits | None = None) -> None:
        self.instructions = instructions
        count = len(instructions)
        self.successors: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self.predecessors: list[int] = [0] * count
        self._build()
        if limits is not None:
            self._limit(limits)

    def _limit(self, limits: ScheduleLimits) -> None:
        """Edges between what keeps its order in regions of constrained order."""
        ordered: dict[int, int] = {}
        for i, instruction in enumerate(self.instructions):
            if instruction.limited and limits.keeps_order(instruction):
                if instruction.limited in ordered:
                    self._edge(ordered[instruction.limited], i, 0)
                ordered[instruction.limited] = i

    def _edge(self, before: int, after: int, latency: int) -> None:
        self.successors[before].append((after, latency))
        self.predecessors[after] += 1

    def _build(self) -> None:
        instructions = self.instructions
        edge = self._edge
        definer: dict[int, int] = {}
        # Machine state: the instruction that wrote it last, and those that read it since.
        state_writer: dict[str, int] = {}
        state_live_writer: dict[str, bool] = {}
        state_readers: dict[str, list[int]] = {}
        state_dead_writers: dict[str, list[int]] = {}
        loads: dict[str, list[int]] = {}
        stores: dict[str, list[int]] = {}
        last_barrier = -1
        since_barrier: list[int] = []
        last_effect = -1
        last_fence = -1
        phase_node: dict[int, tuple[int, int]] = {}
        phase_members: dict[int, list[int]] = {}
        live_state = self._live_state_writes()
        for i, instruction in enumerate(instructions):
            traits = instruction.traits
            if instruction.kind == FENCE:
                for j in range(last_fence + 1 if last_fence >= 0 else 0, i):
                    edge(j, i, 0)
                if last_fence >= 0:
                    edge(last_fence, i, 0)
                last_fence = i
                continue
            if last_fence >= 0:
                edge(last_fence, i, 0)
            seen: set[int] = set()
            for register, _, _ in instruction.uses:
                source = definer.get(register.index, -1)
                if source >= 0 and source not in seen:
                    seen.add(source)
                    edge(source, i, instructions[source].traits.latency)
            for register, _, _ in instruction.defs:
                definer[register.index] = i
            for state in traits.state_uses:
                writer = state_writer.get(state, -1)
                if writer >= 0 and writer not in seen:
                    edge(writer, i, 1)
                state_readers.setdefault(state, []).append(i)
            for state in traits.state_defs:
                live = live_state[i]
                if live is not None and state in live:
                    # A write that somebody reads: after the readers of the old value and after every write since.
                    for reader in state_readers.pop(state, ()):
                        if reader != i:
                            edge(reader, i, 0)
                    for writer in state_dead_writers.pop(state, ()):
                        edge(writer, i, 0)
                    writer = state_writer.get(state, -1)
                    if writer >= 0:
                        edge(writer, i, 0)
                    state_writer[state] = i
                    state_live_writer[state] = True
                else:
                    # A write nobody reads must only stay out of the range between a live write and its readers.
                    readers = state_readers.get(state, [])
                    for reader in readers:
                        if reader != i:
                            edge(reader, i, 0)
                    if len(readers) > STATE_WINDOW:
                        # What follows waits for this one instead of for all of them.
                        state_readers[state] = [i]
                    writer = state_writer.get(state, -1)
                    if writer >= 0:
                        edge(writer, i, 0)
                    state_dead_writers.setdefault(state, []).append(i)
            space = traits.memory_space
            if traits.barrier:
                for j in since_barrier:
                    edge(j, i, 0)
                if last_barrier >= 0:
                    edge(last_barrier, i, 0)
                last_barrier = i
                since_barrier = []
                loads, stores = {}, {}
            elif space is not None and (traits.reads_memory or traits.writes_memory):
                if last_barrier >= 0:
                    edge(last_barrier, i, 0)
                since_barrier.append(i)
                spaces = [s for s in dict.fromkeys((*loads, *stores)) if s == space or "flat" in (s, space)]
                for other in spaces:
                    for j in stores.get(other, ()):
                        if may_overlap(instructions[j], instruction):
                            edge(j, i, 1)
                    if traits.writes_memory:
                        for j in loads.get(other, ()):
                            if may_overlap(instructions[j], instruction):
                                edge(j, i, 0)
                mine = stores if traits.writes_memory else loads
                listed = mine.setdefault(space, [])
                listed.append(i)
                if len(listed) > MEMORY_WINDOW:
                    for j in listed[:-1]:
                        edge(j, i, 0)
                    del listed[:-1]
            if traits.side_effects:
                if last_effect >= 0:
                    edge(last_effect, i, 0)
                last_effect = i
            for scope, phase in _pairs(instruction.phase):
                known = phase_node.get(scope)
                if known is None or known[0] != phase:
                    # The first instruction of a phase waits for the whole phase before it.
                    for j in phase_members.get(scope, ()):
                        edge(j, i, 0)
                    phase_node[scope] = (phase, i)
                    phase_members[scope] = [i]
                else:
                    edge(known[1], i, 0)
                    phase_members[scope].append(i)

    def _live_state_writes(self) -> list[frozenset[str] | None]:
        """For every instruction the state it writes that a later one of the run, or the code behind it, reads."""
        wanted: set[str] = set()
        result: list[frozenset[str] | None] = [None] * len(self.instructions)
        # State that is live behind the run cannot be told from here: the last write of each state counts as read.
        last_seen: set[str] = set()
        for i in range(len(self.instructions) - 1, -1, -1):
            traits = self.instructions[i].traits
            if traits.state_defs:
                live = []
                for state in traits.state_defs:
                    if state in wanted or state not in last_seen:
                        live.append(state)
                    wanted.discard(state)
                    last_seen.add(state)
                if live:
                    result[i] = frozenset(live)
            wanted.update(traits.state_uses)
        return result

    def heights(self) -> list[int]:
        """Longest latency from each instruction to the end of the run."""
        successors = self.successors
        height = [0] * len(successors)
        for i in range(len(successors) - 1, -1, -1):
            best = self.instructions[i].traits.latency if not successors[i] else 0
            for j, latency in successors[i]:
                if height[j] + latency > best:
                    best = height[j] + latency
            height[i] = best
        return height


def _pairs(phase: tuple[int, ...]) -> list[tuple[int, int]]:
    """``(scope, phase, scope, phase, …)`` as pairs."""
    return [(phase[k], phase[k + 1]) for k in range(0, len(phase), 2)]
