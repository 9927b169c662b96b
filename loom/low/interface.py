"""What the target-neutral backend asks of a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from loom.low.code import Instruction, LowCode, Ref


@dataclass(frozen=True, slots=True)
class FileOf:
    """Register file of a class; ``location`` is set for classes whose register exists once."""

    file: str
    location: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A move of physical registers: ``units`` consecutive ones of ``file`` from ``source`` to ``target``."""

    file: str
    target: int
    source: int
    units: int = 1


@dataclass(frozen=True, slots=True)
class ScheduleLimits:
    """What a target lets scheduling do to code that asks for a constrained order.

    Attributes:
        reach: Places that an instruction may move ahead of the one it stood behind.
        keeps_order: Instructions that stay in the order of the text among themselves.
    """

    reach: int
    keeps_order: Callable[[Instruction], bool]


class BackendTarget(Protocol):
    """A target as the allocator sees it."""

    def file_of(self, register_class: str) -> FileOf:
        """Register file of a register class; classes of one file share storage."""
        ...

    def alignment(self, register_class: str, units: int) -> int:
        """Number that the location of a tuple of ``units`` units must be a multiple of."""
        ...

    def allocatable(self, file: str) -> Sequence[int]:
        """Physical indices that may be given out, best first; empty for files of single registers."""
        ...

    def spillable(self, file: str) -> bool:
        """Whether values of the file can be kept in memory."""
        ...

    def spill_store(self, code: LowCode, value: Ref, slot: int, at: Instruction) -> list[Instruction]:
        """Instructions that keep ``value`` in spill slot ``slot`` (4 bytes a unit)."""
        ...

    def spill_reload(self, code: LowCode, value: Ref, slot: int, at: Instruction) -> list[Instruction]:
        """Instructions that define ``value`` from spill slot ``slot``."""
        ...


def describe(payload: Any) -> str:
    """A short name of an instruction's payload for messages."""
    return str(payload)
