"""What a launch has executed: block and lane counters turned into counts by class, mnemonic and width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator.instruction_sets import NOP_CLASSES
from loom.target.amdgpu.simulator.memory_forms import counted_bytes

Counters = npt.NDArray[np.int64]
_IDLE = ("nop", "wait")


@dataclass(frozen=True, slots=True)
class LaunchCounts:
    """Executed instructions (once a wave) and bytes moved (by active lanes)."""

    instructions: int
    useful: int
    waves: int
    by_class: dict[str, int]
    by_mnemonic: dict[str, int]
    bytes_read: dict[str, int]
    bytes_written: dict[str, int]


class _Weights:
    """Sums counters by name: how much each name gets for one of each counter."""

    def __init__(self, entries: Iterable[tuple[int, str, int]], counters: int) -> None:
        """``entries``: counter, name, weight."""
        kept = list(entries)
        self.names = sorted({name for _, name, _ in kept})
        column = {name: number for number, name in enumerate(self.names)}
        self.matrix = np.zeros((counters, len(self.names)), dtype=np.int64)
        for counter, name, weight in kept:
            self.matrix[counter, column[name]] += weight

    def sums(self, counters: Counters) -> dict[str, int]:
        """Each name's sum, where it is not zero."""
        found = counters[: len(self.matrix)] @ self.matrix
        return {name: value for name, value in zip(self.names, found.tolist(), strict=True) if value}


class CountTable:
    """What the counters of a kernel stand for, made once for all its launches."""

    def __init__(
        self, code: Sequence[MachineInstruction], blocks: Sequence[tuple[int, int]], sites: Sequence[int]
    ) -> None:
        """``blocks`` and ``sites``: see :class:`~loom.target.amdgpu.simulator.translate.Translation`."""
        inside = [(block, code[n]) for block, (first, last) in enumerate(blocks) for n in range(first, last)]
        self._classes = _Weights(((block, _issue(i), 1) for block, i in inside), len(blocks))
        self._mnemonics = _Weights(((block, _mnemonic(i), 1) for block, i in inside), len(blocks))
        scalar = ((block, i.row.memory) for block, i in inside)
        self._scalar = _Weights(
            (
                (block, f"constant.b{memory.bytes * 8}", memory.bytes)
                for block, memory in scalar
                if memory is not None and memory.space == "constant" and memory.kind == "load"
            ),
            len(blocks),
        )
        moved = [
            (site, memory.kind, f"{memory.space}.b{8 * (size := counted_bytes(code[number].row))}", size)
            for site, number in enumerate(sites)
            if (memory := code[number].row.memory) is not None
        ]
        self._read, self._written = (
            _Weights(((site, name, size) for site, kind, name, size in moved if kind in kinds), len(sites))
            for kinds in (("load", "load_lds", "atomic"), ("store", "atomic"))
        )

    def counts(self, blocks: Counters, lanes: Counters, waves: int) -> LaunchCounts:
        """The counts of a launch from its counters."""
        classes = self._classes.sums(blocks)
        total = sum(classes.values())
        read = self._read.sums(lanes)
        for name, size in self._scalar.sums(blocks).items():
            read[name] = read.get(name, 0) + size
        return LaunchCounts(
            total, total - sum(classes.get(name, 0) for name in _IDLE), waves, classes, self._mnemonics.sums(blocks),
            dict(sorted(read.items())), self._written.sums(lanes),
        )  # fmt: skip


def _issue(instruction: MachineInstruction) -> str:
    name = instruction.row.mnemonic
    if name in NOP_CLASSES:
        return "nop"
    return "wait" if name.startswith(("s_waitcnt", "s_wait_")) else instruction.row.issue_class


def _mnemonic(instruction: MachineInstruction) -> str:
    name = instruction.row.mnemonic
    return name if instruction.y is None else f"{name}::{instruction.y.row.mnemonic}"
