"""The documented check vectors of entropy, and the generator against a second writing of its rule."""

from __future__ import annotations

from loom.check.entropy import MASK, Entropy, as_signed, seed_state, trial_stream, uniform_words


def test_documented_vectors() -> None:
    root = Entropy.root(0x4C6F6F6D)
    assert (root.lo, root.hi) == (0xAA5409DB0D124E7D, 0x5A04156236E3CC7B)
    stream = root.fork("input")
    assert (stream.lo, stream.hi) == (0x9AF282807833E29A, 0x9F9A7FF237537A11)
    assert [stream.read(n) for n in (0, 1, 17)] == [0x1A9D7A7CB2D83838, 0x9D679215B4C854E2, 0x2A1655B1581E659A]


def test_reading_and_forking_leave_the_stream_alone() -> None:
    root = Entropy.root(1)
    before = (root.read(5), root.fork("x").read(0), root.at(3).read(0))
    assert before == (root.read(5), root.fork("x").read(0), root.at(3).read(0))
    assert len(set(before)) == 3


def test_trials_have_streams_of_their_own() -> None:
    scenario = Entropy.root(0).fork("s")
    words = {trial_stream(scenario, c, t, n).read(0) for c in range(3) for t in range(3) for n in range(3)}
    assert len(words) == 27


def test_splitmix_seeding() -> None:
    # The first outputs of splitmix64 from state 0 (reference implementation by Vigna).
    assert seed_state(0) == (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4)


def test_generator_follows_its_rule() -> None:
    def rotate(value: int, places: int) -> int:
        return ((value << places) | (value >> (64 - places))) & MASK

    s0, s1 = seed_state(7)
    expected = []
    for _ in range(50):
        expected.append((rotate((s0 * 5) & MASK, 7) * 9) & MASK)
        t = s0 ^ s1
        s0 = (rotate(s0, 24) ^ t ^ (t << 16)) & MASK
        s1 = rotate(t, 37)
    assert uniform_words(7, 50).tolist() == expected


def test_signed_words() -> None:
    assert as_signed(MASK) == -1
    assert as_signed(1 << 63) == -(1 << 63)
    assert as_signed(5) == 5
