from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from toy import LOAD, PLAIN, STORE, ToyTarget, random_code, run_registers, run_values

from loom.low import schedule as scheduling
from loom.low.allocate import allocate
from loom.low.code import (
    COPY,
    ENTRY,
    FENCE,
    OP,
    RETURN,
    CodeBlock,
    Instruction,
    LowCode,
    Ref,
    Traits,
    VirtualRegister,
)
from loom.low.dependence import DependenceGraph
from loom.low.interface import ScheduleLimits
from loom.low.schedule import schedule


@pytest.mark.parametrize("seed", range(40))
def test_scheduled_program_computes_the_same(seed: int) -> None:
    expected = run_values(random_code(seed))
    code = random_code(seed)
    target = ToyTarget(400)
    schedule(code, target, {"r": 12})
    assert run_values(code) == expected
    allocation = allocate(code, target)
    assert run_registers(code, allocation, target) == expected


class Straight:
    """Builds one block."""

    def __init__(self) -> None:
        self.code = LowCode("straight")
        self.block = CodeBlock("entry")
        self.code.blocks = [self.block]
        self.block.instructions.append(Instruction(ENTRY, "entry"))

    def op(self, name: str, *uses: VirtualRegister, traits: Traits = PLAIN, units: int = 1) -> VirtualRegister:
        result = self.code.new_register("toy.r", units, name)
        made = Instruction(OP, name, [(result, 0, units)], [(u, 0, u.units) for u in uses], (), traits)
        self.block.instructions.append(made)
        return result

    def effect(self, name: str, *uses: VirtualRegister, traits: Traits = STORE) -> Instruction:
        made = Instruction(OP, name, [], [(u, 0, u.units) for u in uses], (), traits)
        self.block.instructions.append(made)
        return made

    def order(self, budget: int = 100, target: ToyTarget | None = None) -> list[str]:
        self.block.instructions.append(Instruction(RETURN, "return"))
        self.code.link()
        schedule(self.code, target or ToyTarget(400), {"r": budget})
        return [str(i.payload) for i in self.block.instructions if i.kind == OP]


def test_loads_go_ahead_of_the_arithmetic_of_earlier_ones() -> None:
    s = Straight()
    a = s.op("a")
    first = s.op("load1", a, traits=LOAD)
    one = s.op("one", first)
    second = s.op("load2", a, traits=LOAD)
    s.effect("store", s.op("two", one, second))
    order = s.order()
    assert order.index("load2") < order.index("one")


def test_a_store_keeps_its_place_between_loads_that_may_overlap() -> None:
    s = Straight()
    a = s.op("a")
    s.op("before", a, traits=LOAD)
    s.effect("store", a)
    after = s.op("after", a, traits=LOAD)
    s.effect("keep", after, traits=Traits(side_effects=True))
    order = s.order()
    assert order.index("before") < order.index("store") < order.index("after")


def test_accesses_of_different_memory_classes_may_pass_each_other() -> None:
    s = Straight()
    a = s.op("a")
    slow = s.op("slow", a)
    store = s.effect("store", slow)
    store.address = (None, 0, 4, "out")
    load = s.op("load", a, traits=LOAD)
    s.block.instructions[-1].address = (None, 0, 4, "in")
    s.effect("keep", load, traits=Traits(side_effects=True))
    order = s.order()
    assert order.index("load") < order.index("store")


def test_known_offsets_of_one_base_do_not_overlap() -> None:
    s = Straight()
    a = s.op("a")
    s.effect("store", s.op("slow", a)).address = ("base", 0, 4, None)
    load = s.op("load", a, traits=LOAD)
    s.block.instructions[-1].address = ("base", 4, 4, None)
    s.effect("keep", load, traits=Traits(side_effects=True))
    order = s.order()
    assert order.index("load") < order.index("store")


def test_nothing_crosses_a_fence() -> None:
    s = Straight()
    a = s.op("a")
    one = s.op("one", a)
    s.block.instructions.append(Instruction(FENCE, "fence"))
    load = s.op("load", a, traits=LOAD)
    s.effect("keep", one, load, traits=Traits(side_effects=True))
    order = s.order()
    assert order.index("one") < order.index("load")


def test_a_locked_region_keeps_its_order_and_stays_together() -> None:
    s = Straight()
    a = s.op("a")
    s.op("x", a)
    first = s.op("l1", a)
    second = s.op("l2", a, traits=LOAD)
    third = s.op("l3", first)
    for instruction in s.block.instructions[-3:]:
        instruction.locked = 1
    late = s.op("late", a, traits=LOAD)
    s.effect("keep", second, third, late, traits=Traits(side_effects=True))
    order = s.order()
    at = order.index("l1")
    assert order[at : at + 3] == ["l1", "l2", "l3"]


def test_phases_of_a_scope_are_ordered_and_other_code_is_free() -> None:
    s = Straight()
    a = s.op("a")
    p0 = s.op("p0", s.op("slow", a, traits=Traits(latency=30)))
    s.block.instructions[-1].phase = (1, 0)
    p1 = s.op("p1", a, traits=LOAD)
    s.block.instructions[-1].phase = (1, 1)
    free = s.op("free", a, traits=LOAD)
    s.effect("keep", p0, p1, free, traits=Traits(side_effects=True))
    order = s.order()
    assert order.index("p0") < order.index("p1")
    assert order.index("free") < order.index("p1")


def test_under_pressure_values_are_consumed_before_more_are_made() -> None:
    s = Straight()
    a = s.op("a")
    sums = []
    for n in range(12):
        loaded = s.op(f"load{n}", a, traits=LOAD, units=1)
        sums.append(s.effect(f"use{n}", loaded, traits=Traits(side_effects=True)))
    code = s.code
    s.order(budget=2)
    assert allocate(code, ToyTarget(64)).high_water["r"] <= 4


def test_state_between_its_writer_and_its_reader_is_not_overwritten() -> None:
    s = Straight()
    a = s.op("a")
    s.block.instructions.append(Instruction(OP, "compare", [], [(a, 0, 1)], (), Traits(state_defs=("flag",))))
    slow = s.op("slow", a)
    s.op("clobber", a, traits=Traits(latency=50, state_defs=("flag",)))
    s.block.instructions.append(
        Instruction(OP, "select", [], [(slow, 0, 1)], (), Traits(state_uses=("flag",), side_effects=True))
    )
    s.op("compare2", a, traits=Traits(state_defs=("flag",)))
    s.block.instructions.append(Instruction(OP, "select2", [], [], (), Traits(state_uses=("flag",), side_effects=True)))
    order = s.order()
    # The select of the text reads what "clobber" wrote, since that stands between it and "compare".
    assert order.index("compare") < order.index("clobber") < order.index("select") < order.index("compare2")


def test_a_constrained_region_moves_within_the_limits_of_the_target() -> None:
    """Loads keep their order and the first use waits behind arithmetic: at most two places ahead."""
    limits = ScheduleLimits(2, lambda i: i.traits.memory_space is not None)

    def build() -> Straight:
        s = Straight()
        a = s.op("a")
        late = s.op("slow", a, traits=LOAD)
        use = s.op("use", late)
        others = [s.op(f"free{n}", a) for n in range(5)]
        second = s.op("second", others[0], traits=LOAD)
        s.effect("keep", use, second, *others, traits=Traits(side_effects=True))
        return s

    def order(s: Straight, constrained: bool) -> list[str]:
        s.block.instructions.append(Instruction(RETURN, "return"))
        s.code.link()
        for instruction in s.block.instructions:
            instruction.limited = int(constrained and instruction.kind == OP)
        schedule(s.code, ToyTarget(400), {"r": 100}, limits)
        return [str(i.payload) for i in s.block.instructions if i.kind == OP]

    text = ["a", "slow", "use", "free0", "free1", "free2", "free3", "free4", "second", "keep"]
    free, constrained = order(build(), False), order(build(), True)
    # Left alone, the second load goes as early as its address allows, ahead of much of the arithmetic.
    assert free.index("second") < free.index("use") - 1 and free.index("use") > free.index("free3")
    # Something moves into the shadow of the load, and nothing moves farther than it may.
    assert constrained.index("use") > text.index("use")
    for name in text:
        overtaken = [other for other in text[: text.index(name)] if constrained.index(other) > constrained.index(name)]
        assert len(overtaken) <= 2, (name, constrained)
    assert constrained.index("slow") < constrained.index("second")


@pytest.mark.parametrize("seed", range(40))
def test_constrained_programs_keep_their_meaning_and_the_limits(seed: int) -> None:
    expected = run_values(random_code(seed))
    code, target = random_code(seed), ToyTarget(400)
    limits = ScheduleLimits(3, lambda i: i.traits.side_effects)
    before = [[i for i in block.instructions if i.kind == OP] for block in code.blocks]
    for instructions in before:
        for instruction in instructions:
            instruction.limited = 1
    schedule(code, target, {"r": 12}, limits)
    assert run_values(code) == expected
    for old, block in zip(before, code.blocks, strict=True):
        place = {id(i): n for n, i in enumerate(i for i in block.instructions if i.kind == OP)}
        for n, instruction in enumerate(old):
            assert sum(place[id(other)] > place[id(instruction)] for other in old[:n]) <= 3
        ordered = [i for i in old if i.traits.side_effects]
        assert [place[id(i)] for i in ordered] == sorted(place[id(i)] for i in ordered)


Unit = tuple[int, int]
"""A register's number and the number of one of its units."""


def units_of(refs: Sequence[Ref]) -> set[Unit]:
    return {(register.index, offset + k) for register, offset, units in refs for k in range(units)}


def random_straight(random: Random) -> Straight:
    """Loads of tuples, of which later operations use parts, or the whole, or make others by copies."""
    s = Straight()
    made = [s.op(f"v{i}", traits=LOAD, units=random.choice([1, 2, 4])) for i in range(12)]
    for i in range(60):
        used: list[Ref] = []
        for register in random.sample(made[-20:], random.randint(1, 3)):
            units = random.choice([u for u in (1, 2, 4) if u <= register.units])
            used.append((register, random.randrange(0, register.units - units + 1), units))
        if random.random() < 0.2:
            whole = s.code.new_register("toy.r", sum(units for _, _, units in used), f"c{i}")
            pieces = [(whole, sum(u for _, _, u in used[:k]), units) for k, (_, _, units) in enumerate(used)]
            s.block.instructions.append(Instruction(COPY, "concat", pieces, used))
            made.append(whole)
        else:
            made.append(s.op(f"w{i}", units=random.choice([1, 1, 2])))
            s.block.instructions[-1].uses = used
    s.effect("end", *made[-4:])
    return s


def most_live(run: Sequence[Instruction]) -> int:
    """Most units that are live at once: from definition to last use, results next to operands, but for copies."""
    last = {unit: i for i, instruction in enumerate(run) for unit in units_of(instruction.uses)}
    live: set[Unit] = set()
    peak = 0
    for i, instruction in enumerate(run):
        ended = {unit for unit in live if last[unit] == i}
        started = {unit for unit in units_of(instruction.defs) if unit in last}
        peak = max(peak, len(live | started) - (len(ended) if instruction.kind == COPY else 0))
        live = (live | started) - ended
    return peak


@pytest.mark.parametrize("budget", [4, 12, 100])
@pytest.mark.parametrize("seed", range(12))
def test_each_step_takes_what_the_rule_says(seed: int, budget: int) -> None:
    """The rule of the module's head, spelled out over all ready instructions at every step, without heaps."""
    s = random_straight(Random(seed))
    run = list(s.block.instructions[1:])
    position = {id(instruction): i for i, instruction in enumerate(run)}

    graph = DependenceGraph(run)
    height, waiting = graph.heights(), list(graph.predecessors)
    users: dict[Unit, set[int]] = {}
    for i, instruction in enumerate(run):
        for unit in units_of(instruction.uses):
            users.setdefault(unit, set()).add(i)
    size = {register.index: register.units for register in s.code.registers}

    def live(issued: set[int]) -> int:
        return sum(bool(users.get(unit, set()) - issued) for i in issued for unit in units_of(run[i].defs))

    limit = max(budget, most_live(run))
    issued: set[int] = set()
    earliest = [0] * len(run)
    cycle, expected = 0, []
    while len(issued) < len(run):
        ready = text = [i for i in range(len(run)) if i not in issued and not waiting[i]]
        now = live(issued)
        crowded = now + 2 > limit
        if not crowded:
            ready = sorted(ready, key=lambda i: (-height[i], i))[:12]

        def key(i: int, now: int = now, crowded: bool = crowded, cycle: int = cycle) -> tuple[int, ...]:
            results = [size[index] for index in {r.index for r, _, _ in run[i].defs}]
            grown = sum(results)
            over = sum(units for units in results if now + units > limit)
            freed = sum(users[unit] - issued == {i} for unit in units_of(run[i].uses))
            over -= freed if crowded else 0
            stall = max(0, earliest[i] - cycle)
            if crowded or over > 0:
                return (over, grown - freed if crowded else 0, stall, i)
            return (0, 0, stall, -height[i], grown - freed, i)

        chosen = min(ready, key=key)
        if crowded and key(chosen)[0] > 0:
            chosen = min(text)
        cycle = max(cycle, earliest[chosen]) + 1
        issued.add(chosen)
        expected.append(chosen)
        for j, latency in graph.successors[chosen]:
            waiting[j] -= 1
            earliest[j] = max(earliest[j], cycle - 1 + latency)
    s.order(budget)
    assert [position[id(i)] for i in s.block.instructions if id(i) in position] == expected


@pytest.mark.parametrize("registers", [20, 30, 40])
@pytest.mark.parametrize("seed", range(12))
def test_an_order_needs_no_more_registers_than_there_are_or_the_text_needs(seed: int, registers: int) -> None:
    s = random_straight(Random(seed))
    text = list(s.block.instructions[1:])
    s.order(400, ToyTarget(registers))
    run = [i for i in s.block.instructions if i.kind in (OP, COPY)]
    assert {id(i) for i in run} == {id(i) for i in text}
    assert most_live(run) <= max(registers, most_live(text))


def test_the_parts_of_a_copy_count_once() -> None:
    """Four loads become one tuple of four: eight units at the most, however many pieces the copy has."""
    s = Straight()
    wholes = []
    for k in range(2):
        parts = [s.op(f"load{k}{i}", traits=LOAD) for i in range(4)]
        whole = s.code.new_register("toy.r", 4, f"whole{k}")
        made = [(whole, i, 1) for i in range(4)], [(part, 0, 1) for part in parts]
        s.block.instructions.append(Instruction(COPY, "concat", *made))
        wholes.append(whole)
    s.effect("end", *wholes)
    # With room for all eight, every load is issued before the first copy waits for one.
    s.order(10)
    kinds = [i.kind for i in s.block.instructions if i.kind in (OP, COPY)]
    assert kinds == [OP] * 8 + [COPY] * 2 + [OP]


def test_effort_of_a_crowded_schedule_grows_with_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the instructions, all ready at once and over the budget: about twice the comparisons, not four times."""

    def comparisons(count: int) -> int:
        calls = 0
        judge = scheduling._pressure_delta

        def counted(*given: Any) -> tuple[int, int]:
            nonlocal calls
            calls += 1
            return judge(*given)

        s = Straight()
        made = [s.op(f"v{i}") for i in range(count)]
        for i in range(0, count, 2):
            s.effect(f"store{i}", made[i], made[i + 1], traits=PLAIN)
        monkeypatch.setattr(scheduling, "_pressure_delta", counted)
        s.order(2)
        monkeypatch.undo()
        return calls

    small, large = comparisons(200), comparisons(400)
    assert small >= 200, "every step compares something"
    assert large <= 2.2 * small


@pytest.mark.parametrize("count", [20, 400])
def test_writes_that_nobody_reads_stay_behind_all_readers_with_few_edges(count: int) -> None:
    """One write of a flag, ``count`` readers of it, then ``count`` writes that nobody reads, and one that is read."""
    s = Straight()
    a = s.op("a")
    writes, reads = Traits(state_defs=("flag",)), Traits(state_uses=("flag",))
    s.op("set", a, traits=writes)
    readers = [s.op(f"read{i}", a, traits=reads) for i in range(count)]
    s.effect("keep", *readers)
    for i in range(count):
        s.op(f"dead{i}", a, traits=writes)
    s.op("set again", a, traits=writes)
    s.op("read again", a, traits=reads)
    run = s.block.instructions[1:]
    names = [str(i.payload) for i in run]
    graph = DependenceGraph(run)
    assert sum(map(len, graph.successors)) <= 50 * 2 * count + 10
    reached: list[set[int]] = [set() for _ in run]
    for i in range(len(run) - 1, -1, -1):
        for j, _ in graph.successors[i]:
            reached[i] |= {j} | reached[j]
    dead = {i for i, name in enumerate(names) if name.startswith("dead")}
    for i, name in enumerate(names):
        if name.startswith("read") and name != "read again":
            assert dead <= reached[i], name
    assert all(names.index("set again") in reached[i] for i in dead)
