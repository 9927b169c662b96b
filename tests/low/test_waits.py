"""The wait analysis against an exhaustive walk of all paths up to a length."""

from __future__ import annotations

import itertools
import random

import pytest

from loom.low.waits import CounterModel, Event, WaitAccess, WaitAnalysis

MODEL = CounterModel({"load": 7, "mixed": 7}, frozenset(("any",)), (), frozenset(("vmem",)))


def waits_of(*accesses: WaitAccess) -> list[dict[str, int] | None]:
    result = WaitAnalysis([list(accesses)], [[]], MODEL).waits[0]
    return [None if wait is None else wait.counters for wait in result]


def load(*units: int) -> WaitAccess:
    return WaitAccess(units, (Event("load", "vmem", units),))


def fill(*units: int, kind: str = "vmem") -> WaitAccess:
    """A load that needs nothing of the registers that it writes."""
    return WaitAccess((), (Event("load", kind, units),), replaces=units)


def test_the_use_of_an_older_load_leaves_the_younger_ones_under_way() -> None:
    assert waits_of(load(1), load(2), load(3), WaitAccess((1,)), WaitAccess((2,)), WaitAccess((3,))) == [
        None, None, None, {"load": 2}, {"load": 1}, {"load": 0},
    ]  # fmt: skip


def test_a_use_after_a_wait_needs_no_other() -> None:
    assert waits_of(load(1), load(2), WaitAccess((2,)), WaitAccess((1,))) == [None, None, {"load": 0}, None]


def test_overwriting_a_register_under_way_waits_too() -> None:
    assert waits_of(load(1), load(1))[1] == {"load": 0}


def test_loads_whose_results_come_in_order_follow_one_another_into_a_register() -> None:
    assert waits_of(fill(1), fill(1), WaitAccess((1,))) == [None, None, {"load": 0}]
    assert waits_of(fill(1), fill(2), fill(1), WaitAccess((1,)), WaitAccess((2,))) == [
        None, None, None, {"load": 0}, None,
    ]  # fmt: skip
    # Another kind, an operation of another counter and arithmetic do wait.
    assert waits_of(fill(1), fill(1, kind="flat"))[1] == {"load": 0}
    assert waits_of(fill(1, kind="flat"), fill(1, kind="flat"))[1] == {"load": 0}
    assert waits_of(fill(1), WaitAccess((), (Event("mixed", "lds", (1,)),), replaces=(1,)))[1] == {"load": 0}
    assert waits_of(fill(1), WaitAccess((1,)))[1] == {"load": 0}


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_what_only_one_path_loads_in_another_order_is_waited_for(order: tuple[int, int]) -> None:
    # 0 → 1 | 2 → 3: one arm loads the register by a kind whose results come in order, the other does not.
    arms: dict[int, list[WaitAccess]] = {order[0]: [fill(1)], order[1]: [fill(1, kind="flat")]}
    flow = [[1, 2], [3], [3], []]
    waits = WaitAnalysis([[WaitAccess()], arms[1], arms[2], [fill(1)]], flow, MODEL).waits
    assert waits[3][0] is not None and waits[3][0].counters == {"load": 0}
    waits = WaitAnalysis([[WaitAccess()], [fill(1)], [fill(2)], [fill(1)]], flow, MODEL).waits
    assert waits[3] == [None]


def test_operations_without_order_are_waited_for_completely() -> None:
    scalar = WaitAccess((5,), (Event("mixed", "any", (5,)),))
    other = WaitAccess((6,), (Event("mixed", "any", (6,)),))
    assert waits_of(scalar, other, WaitAccess((5,)))[2] == {"mixed": 0}


def test_kinds_that_share_a_counter_without_an_order() -> None:
    a = WaitAccess((5,), (Event("mixed", "lds", (5,)),))
    b = WaitAccess((6,), (Event("mixed", "message", (6,)),))
    assert waits_of(a, b, WaitAccess((5,)))[2] == {"mixed": 0}
    assert waits_of(a, WaitAccess((7,), (Event("mixed", "lds", (7,)),)), WaitAccess((5,)))[2] == {"mixed": 1}


def test_a_written_wait_is_taken_into_account() -> None:
    assert waits_of(load(1), WaitAccess(waits={"load": 0}), WaitAccess((1,))) == [None, None, None]
    assert waits_of(load(1), load(2), WaitAccess(waits={"load": 1}), WaitAccess((1,)), WaitAccess((2,))) == [
        None, None, None, None, {"load": 0},
    ]  # fmt: skip


def test_barriers_drain_only_what_they_publish() -> None:
    barrier = WaitAccess(drains=(("mixed", 0, "barrier", frozenset(("lds",))),))
    lds = WaitAccess((), (Event("mixed", "lds"),))
    assert waits_of(load(1), lds, barrier) == [None, None, {"mixed": 0}]
    assert waits_of(load(1), barrier) == [None, None]


def test_a_load_of_the_last_iteration_is_waited_for_in_the_next() -> None:
    # 0 → 1 → 1 … → 2: the loop uses unit 1 and loads it again.
    blocks = [[load(1)], [WaitAccess((1,)), load(1), load(2)], [WaitAccess((2,))]]
    waits = WaitAnalysis(blocks, [[1], [1, 2], []], MODEL).waits
    assert waits[1][0] is not None and waits[1][0].counters == {"load": 0}
    assert waits[2][0] is not None and waits[2][0].counters == {"load": 0}


def random_program(seed: int) -> tuple[list[list[WaitAccess]], list[list[int]]]:
    rng = random.Random(seed)
    count = rng.randint(2, 4)
    blocks = []
    for _ in range(count):
        block = []
        for _ in range(rng.randint(1, 5)):
            kind = rng.random()
            units = tuple(rng.sample(range(5), rng.randint(1, 2)))
            if kind < 0.15:
                block.append(load(*units))
            elif kind < 0.3:
                block.append(fill(*units, kind=rng.choice(("vmem", "vmem", "flat"))))
            elif kind < 0.45:
                block.append(WaitAccess(units, (Event("mixed", rng.choice(("lds", "any")), units),)))
            else:
                block.append(WaitAccess(units))
        blocks.append(block)
    successors = [sorted(set(rng.sample(range(count), rng.randint(1, 2)))) for _ in range(count - 1)] + [[]]
    return blocks, successors


@pytest.mark.parametrize("seed", range(80))
def test_no_path_uses_a_unit_that_may_be_under_way(seed: int) -> None:
    blocks, successors = random_program(seed)
    waits = WaitAnalysis(blocks, successors, MODEL).waits
    paths = [(0,)]
    complete = []
    for _ in range(6):
        longer = []
        for path in paths:
            if not successors[path[-1]]:
                complete.append(path)
            longer.extend((*path, s) for s in successors[path[-1]])
        paths = longer[:400]
    for path in itertools.chain(complete, paths):
        outstanding: list[tuple[str, str, tuple[int, ...]]] = []
        for b in path:
            for access, wait in zip(blocks[b], waits[b], strict=True):
                if wait is not None:
                    for counter, value in wait.counters.items():
                        mine = [o for o in outstanding if o[0] == counter]
                        ordered = len({o[1] for o in mine}) == 1 and mine[0][1] != "any"
                        # Without an order only "none left" is certain.
                        done = mine[: len(mine) - value] if ordered else (mine if value == 0 else [])
                        outstanding = [o for o in outstanding if o not in done]
                for counter, kind, units in outstanding:
                    assert not set(units) & set(access.touches), (path, counter)
                    follows = kind == "vmem" and any(e.kind == kind for e in access.events)
                    assert follows or not set(units) & set(access.replaces), (path, counter)
                for event in access.events:
                    outstanding.append((event.counter, event.kind, event.writes))  # type: ignore[arg-type]
