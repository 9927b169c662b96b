"""Occupied registers and labelled live ranges against the same kept slot by slot in NumPy arrays."""

from itertools import pairwise

import numpy as np
import pytest

from loom.low.coalesce import LabelledRuns
from loom.low.liveness import contains, slots_in, united
from loom.low.occupancy import Occupancy

REGISTERS = 9


@pytest.mark.parametrize("slots", [1, 2, 3, 7, 8, 64, 100])
def test_taken_is_what_was_taken_slot_by_slot(slots):
    rng = np.random.default_rng(slots)
    tree = Occupancy(slots)
    plain = np.zeros((REGISTERS, slots), bool)
    for step in range(200):
        first, last = sorted(int(v) for v in rng.integers(0, slots, 2))
        register = int(rng.integers(REGISTERS))
        if step % 3 == 0 and plain[register].mean() < 0.8:
            tree.take(register, first, last + 1)
            plain[register, first : last + 1] = True
        other = int(rng.integers(slots))
        runs = [(first, last + 1), (other, other + 1)]
        expected = plain[:, first : last + 1].any(axis=1) | plain[:, other]
        assert tree.taken(runs) == sum(1 << int(r) for r in np.flatnonzero(expected))
    assert tree.taken([]) == 0


def test_a_copy_is_independent():
    tree = Occupancy(10)
    tree.take(3, 2, 5)
    other = tree.copy()
    other.take(4, 0, 10)
    assert tree.taken([(0, 10)]) == 1 << 3
    assert other.taken([(0, 10)]) == 1 << 3 | 1 << 4
    assert other.taken([(5, 10)]) == 1 << 4


def test_labelled_runs_are_what_was_written_slot_by_slot():
    rng = np.random.default_rng(1)
    runs = LabelledRuns()
    plain = np.full(400, -1)
    for _ in range(600):
        first = int(rng.integers(0, 390))
        stop = first + int(rng.integers(1, 10))
        label = int(rng.integers(3))
        present = set(plain[first:stop].tolist()) - {-1}
        assert set(runs.meeting(first, stop)) == present
        if present <= {label}:
            runs.add(first, stop, label)
            plain[first:stop] = label
    found = np.full(400, -1)
    previous = (-1, -1)
    for first, stop, label in runs:
        assert (found[first:stop] == -1).all()
        assert (first, label) != previous  # what touches and has one number is one run
        found[first:stop] = label
        previous = (stop, label)
    np.testing.assert_array_equal(found, plain)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], plain >= 0, [False])).astype(int)))
    assert list(runs.fused()) == [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def test_union_of_runs():
    rng = np.random.default_rng(2)
    for _ in range(50):
        plain = np.zeros(60, bool)
        pieces = []
        for first in rng.integers(0, 50, 6):
            stop = int(first) + int(rng.integers(1, 8))
            pieces.append((int(first), stop))
            plain[first:stop] = True
        union = united(pieces)
        assert all(a[1] < b[0] for a, b in pairwise(union))
        assert [contains(union, slot) for slot in range(60)] == plain.tolist()
        assert slots_in(union) == plain.sum()
    assert united([]) == () and not contains((), 0)
