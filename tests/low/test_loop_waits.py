"""Waits in front of loops: hand-made loops, and that no path of random ones uses what is under way."""

from __future__ import annotations

import random

import pytest

from loom.low.loop_waits import NEAR, place_waits
from loom.low.waits import CounterModel, Event, WaitAccess

MODEL = CounterModel({"load": 7, "scalar": 7}, frozenset(("any",)))
Counters = dict[str, int]


def load(*units: int) -> WaitAccess:
    return WaitAccess(units, (Event("load", "vmem", units),))


def argument(*units: int) -> WaitAccess:
    return WaitAccess(units, (Event("scalar", "any", units),))


def use(*units: int) -> WaitAccess:
    return WaitAccess(units)


def placed(
    blocks: list[list[WaitAccess]], successors: list[list[int]], ends: list[int] | None = None
) -> tuple[dict[int, Counters], dict[tuple[int, int], Counters]]:
    """By block the waits at ends, and by instruction the others."""
    found = place_waits(blocks, successors, MODEL, ends or [len(block) for block in blocks])
    return {block: wait.counters for block, (wait, _) in found.front.items()}, {
        (b, i): wait.counters
        for b, waits in enumerate(found.inside)
        for i, wait in enumerate(waits)
        if wait is not None
    }


LOOP = [[1], [1, 2], []]
"""0 → 1 → 1 … → 2."""
WHILE = [[1], [2, 3], [1], []]
"""0 → 1 (test) → 2 → 1 … → 3."""


def test_an_argument_that_a_loop_uses_is_waited_for_in_front_of_it() -> None:
    blocks = [[argument(1), use(9)], [use(8), use(1), use(1)], [use(1)]]
    assert placed(blocks, LOOP) == ({0: {"scalar": 0}}, {})
    found = place_waits(blocks, LOOP, MODEL, [1, 3, 1])
    wait, first = found.front[0]
    assert (wait.causes, first) == ([("scalar", 0, "data")], (1, 1))


def test_only_what_the_loop_uses_is_waited_for() -> None:
    blocks = [[load(1), load(2), argument(3)], [use(1, 1)], [use(2, 3)]]
    assert placed(blocks, LOOP) == ({0: {"load": 1}}, {(2, 0): {"load": 0, "scalar": 0}})


def test_waits_for_two_counters_go_together_or_one_behind_the_other() -> None:
    assert placed([[load(1), argument(2)], [use(1, 2)], []], LOOP) == ({0: {"load": 0, "scalar": 0}}, {})
    assert placed([[load(1), argument(2)], [use(1), use(2)], []], LOOP) == ({0: {"load": 0, "scalar": 0}}, {})


def test_a_wait_that_each_iteration_needs_stays_in_the_loop() -> None:
    front, inside = placed([[load(1), argument(2)], [use(1, 2), load(1)], [use(1)]], LOOP)
    assert front == {0: {"scalar": 0}}
    assert inside == {(1, 0): {"load": 0}, (2, 0): {"load": 0}}


@pytest.mark.parametrize(
    ("blocks", "successors"),
    [
        # The loop starts an operation of its own before it waits, or has more to do than a wait may go past.
        ([[argument(1)], [WaitAccess((), (Event("load", "vmem"),)), use(1)], []], LOOP),
        ([[argument(1)], [*[use(9)] * NEAR, use(1)], []], LOOP),
        # The way out does not wait.
        ([[argument(1)], [use(9)], [use(1)], [use(9)]], WHILE),
        # The block in front of the loop may go elsewhere, or there are two of them, or it is no loop.
        ([[argument(1)], [use(1)], []], [[1, 2], [1, 2], []]),
        ([[argument(1)], [use(9)], [use(9)], [use(1)], []], [[1, 2], [3], [3], [3, 4], []]),
        ([[argument(1)], [use(1)], []], [[1], [2], []]),
    ],
)
def test_a_wait_stays_where_moving_it_might_cost_something(
    blocks: list[list[WaitAccess]], successors: list[list[int]]
) -> None:
    front, inside = placed(blocks, successors)
    assert front == {}
    assert {"scalar": 0} in inside.values()


def test_the_ways_of_a_loop_that_wait_for_more_or_less_keep_their_waits() -> None:
    front, inside = placed([[load(1), load(2)], [use(9)], [use(1)], [use(2)]], WHILE)
    assert front == {}
    assert inside == {(2, 0): {"load": 1}, (3, 0): {"load": 0}}


def test_a_loop_that_tests_first_waits_in_front_where_both_ways_wait() -> None:
    blocks = [[argument(1, 2)], [use(9)], [use(1)], [use(9), use(2)]]
    assert placed(blocks, WHILE) == ({0: {"scalar": 0}}, {})


@pytest.mark.parametrize("seed", range(120))
def test_no_path_uses_a_unit_that_may_be_under_way(seed: int) -> None:
    rng = random.Random(seed)
    blocks: list[list[WaitAccess]] = []
    for number in range(5):
        block = []
        for _ in range(rng.randint(0 if number else 2, 4)):
            units = tuple(rng.sample(range(4), rng.randint(1, 2)))
            block.append(rng.choice((load, argument, use, use) if number else (load, argument))(*units))
        blocks.append(block)
    successors = [[1], [2, 4], rng.choice(([1], [3], [2, 1], [2, 3])), rng.choice(([1], [3, 1])), []]
    ends = [rng.randint(max(0, len(block) - 1), len(block)) for block in blocks]
    found = place_waits(blocks, successors, MODEL, ends)
    paths = [[0]]
    for _ in range(9):
        paths += [[*path, s] for path in paths[-200:] for s in successors[path[-1]] if [*path, s] not in paths]
    for path in paths:
        outstanding: list[tuple[str, tuple[int, ...]]] = []

        def wait(counters: Counters, under_way: list[tuple[str, tuple[int, ...]]]) -> list[tuple[str, tuple[int, ...]]]:
            for counter, value in counters.items():
                mine = [o for o in under_way if o[0] == counter]
                done = mine[: max(0, len(mine) - value)] if counter == "load" else (mine if value == 0 else [])
                under_way = [o for o in under_way if not any(o is d for d in done)]
            return under_way

        for b in path:
            for number in range(len(blocks[b]) + 1):
                if number == ends[b] and b in found.front:
                    outstanding = wait(found.front[b][0].counters, outstanding)
                if number == len(blocks[b]):
                    continue
                inside, access = found.inside[b][number], blocks[b][number]
                if inside is not None:
                    outstanding = wait(inside.counters, outstanding)
                assert not any(set(units) & set(access.touches) for _, units in outstanding), path
                outstanding += [(e.counter, e.writes) for e in access.events]  # type: ignore[misc]
