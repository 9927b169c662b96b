"""Deterministic randomness: the generator of ``check.generate.random.uniform`` and the entropy of scenarios.

splitmix64 and xoroshiro128** are the public-domain generators of Blackman and Vigna; the entropy functions are those of
the check language (identities of 128 bits that reading and forking never change).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def mix(value: int) -> int:
    """The finalizer of splitmix64."""
    value &= MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def rotate_left(value: int, count: int) -> int:
    """Rotate a 64-bit word."""
    value &= MASK
    return ((value << count) | (value >> (64 - count))) & MASK


def seed_state(seed: int) -> tuple[int, int]:
    """Two successive splitmix64 outputs of ``seed``; an all-zero state sets the first word to one."""
    first = mix(seed + _GOLDEN)
    second = mix(seed + 2 * _GOLDEN)
    return (first, second) if first or second else (1, 0)


def uniform_words(seed: int, count: int) -> NDArray[np.uint64]:
    """The first ``count`` outputs of xoroshiro128** seeded with ``seed``."""
    s0, s1 = seed_state(seed)
    words: list[int] = []
    append = words.append
    mask = MASK
    for _ in range(count):
        scaled = (s0 * 5) & mask
        append((((scaled << 7) | (scaled >> 57)) * 9) & mask)
        t = s1 ^ s0
        s0 = (((s0 << 24) | (s0 >> 40)) ^ t ^ (t << 16)) & mask
        s1 = ((t << 37) | (t >> 27)) & mask
    return np.array(words, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Entropy:
    """A position in the tree of random streams."""

    lo: int
    hi: int

    @classmethod
    def root(cls, seed: int) -> Entropy:
        """The root stream of a run."""
        return cls(mix(seed ^ 0x524F4F544C4F4F4D), mix(seed ^ 0x6D6F6F6C544F4F52))

    def fork(self, name: str) -> Entropy:
        """The stream named ``name`` below this one."""
        return Entropy(
            _named(self.lo ^ rotate_left(self.hi, 17) ^ 0x464F524B4C4F4F4D, name),
            _named(self.hi ^ rotate_left(self.lo, 41) ^ 0x6D6F6F6C4B524F46, name),
        )

    def at(self, ordinal: int) -> Entropy:
        """The ``ordinal``-th stream below this one."""
        return Entropy(
            mix(self.lo ^ rotate_left(self.hi, 17) ^ mix(ordinal ^ 0x4F5244494E414C30)),
            mix(self.hi ^ rotate_left(self.lo, 41) ^ mix(ordinal ^ 0x314C414E4944524F)),
        )

    def read(self, position: int) -> int:
        """The 64-bit word at ``position``, unsigned."""
        place = self.at(position)
        return mix(place.lo ^ rotate_left(place.hi, 23) ^ 0x524541444C4F4F4D)


def _named(state: int, name: str) -> int:
    data = name.encode()
    state ^= mix(len(data) ^ 0x4E414D45444C4F4F)
    for byte in data:
        state = ((state ^ byte) * 0x100000001B3) & MASK
    return mix(state)


#: The seed that the runners use.
RUN_SEED = 0


def scenario_stream(name: str) -> Entropy:
    """The stream of a scenario (its symbol without ``@``)."""
    return Entropy.root(RUN_SEED).fork(name)


def trial_stream(scenario: Entropy, configuration: int, trial_index: int, ordinal: int) -> Entropy:
    """The stream of one repetition of one trial."""
    return scenario.fork("loom.check.trial").at(configuration).at(trial_index).at(ordinal)


def as_signed(word: int) -> int:
    """A 64-bit word as a signed integer."""
    word &= MASK
    return word - (1 << 64) if word >> 63 else word


def describe(entropy: Entropy) -> dict[str, Any]:
    """The identity as hexadecimal text, for records."""
    return {"lo": f"{entropy.lo:#018x}", "hi": f"{entropy.hi:#018x}"}
