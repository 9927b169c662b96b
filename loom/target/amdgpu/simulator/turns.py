"""Workgroups that wait for each other: which of them runs next, and when none of them will ever end.

A thread runs its workgroups one after the other. One that does not end within some time slices is put aside, and the
next one begins; when none is left to begin, or there is no memory for more, those put aside take turns. So a workgroup
may wait for any other one of the launch, as on a device that holds them all.

Nothing will ever happen again when a round of all workgroups has changed nothing and in each a state of its registers
has come back; or, where atomics or stores write the same for ever, when the whole state, memory included, comes back
after some rounds. The latter can be told by the last thread that runs only.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from loom.target.amdgpu.simulator import layout as L

COMPUTING = 8
"""Workgroups put aside at first that do not wait for anything as far as one can see, to save memory. They may wait all
the same (and count how long): twice as many are allowed after each round in which none has ended."""
_PAUSE_SECONDS = 0.001
_CALL_SECONDS = 0.05
"""As many workgroups run in one call as end within about that time, so that an interrupt and a report come through."""
_FIRST_STATE = 4
_STATES = 8
"""Behind rounds 4, 8, 16, … without an end the whole state is kept, and compared with that of the next eight rounds."""


class Workgroup(Protocol):
    """Memory for one workgroup at a time, that may be put aside with it."""

    @property
    def current(self) -> int:
        """The workgroup that was put aside or stopped."""

    @property
    def spins(self) -> int:
        """``COMPUTES``, ``POLLS`` or ``STALLED``."""

    def run(self, begin: int, end: int) -> int:
        """Run workgroups one after the other, or go on with the one put aside."""

    def state(self) -> Sequence[Any]:
        """All that its further course depends on, memory aside."""

    def changes(self) -> int:
        """A number that rises when a workgroup of the thread changes memory."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why a thread stopped: a workgroup with a fault, over its budget, or the first of those that wait for ever.

    ``others``: how many more of the thread wait for ever; ``not_started``: how many it could not begin meanwhile.
    """

    workgroup: Workgroup
    status: int
    stalled: bool = False
    others: int = 0
    not_started: int = 0


class Together:
    """What the threads of a launch tell each other: how many run, whether one has stopped or something changed."""

    def __init__(self, threads: int, memory: Sequence[Any]) -> None:
        """``memory``: the buffers of the launch."""
        self.lock = threading.Lock()
        self.running = threads
        self.begun = 0
        self.cancelled = False
        self.stopped = False
        self.dead = False
        self.version = 0
        self.idle: dict[int, int] = {}
        self.memory = memory

    def began(self, workgroups: int) -> None:
        """Workgroups have begun, and most of them ended."""
        with self.lock:
            self.begun += workgroups
            self.version += 1

    def changed(self) -> None:
        """Something happened that others may wait for."""
        with self.lock:
            self.version += 1

    def left(self, stopped: bool) -> None:
        """A thread has finished its share, or stopped."""
        with self.lock:
            self.running -= 1
            self.version += 1
            self.stopped |= stopped

    def all_idle(self, version: int) -> bool:
        """Whether all that run, this thread with them, have made a round in which nothing changed since a version."""
        with self.lock:
            if self.version != version:
                return False
            self.idle[threading.get_ident()] = version
            self.dead |= sum(v == version for v in self.idle.values()) >= self.running
            return self.dead


class _Rounds:
    """Whole states of a thread's workgroups and the memory, to find one that comes back."""

    def __init__(self) -> None:
        self.count = 0
        self.kept = b""
        self.kept_at = 0

    def comes_back(self, aside: Sequence[Workgroup], memory: Sequence[Any]) -> bool:
        """Whether the state behind one more round has been there before."""
        self.count += 1
        keep = self.count >= _FIRST_STATE and self.count & (self.count - 1) == 0
        if not keep and not (self.kept and self.count - self.kept_at <= _STATES):
            return False
        digest = hashlib.blake2b()
        for part in (*(p for workgroup in aside for p in workgroup.state()), *memory):
            digest.update(part)
        state = digest.digest()
        if state == self.kept:
            return True
        if keep:
            self.kept, self.kept_at = state, self.count
        return False


def take_turns(
    make: Callable[[], Workgroup],
    begin: int,
    end: int,
    limit: int,
    together: Together,
    report: Callable[[], None] = lambda: None,
) -> Stopped | None:
    """Run a thread's workgroups to their end; gives what stopped it, if anything but ``together.cancelled`` did.

    Args:
        make: Memory for one more workgroup.
        begin: The first workgroup.
        end: The one behind the last.
        limit: Workgroups that there is memory for.
        together: Common to all threads of the launch.
        report: Called now and then.
    """
    stopped: Stopped | None = None
    try:
        stopped = _turns(make, begin, end, limit, together, report)
    finally:
        together.left(stopped is not None)
    return stopped


def _turns(
    make: Callable[[], Workgroup], begin: int, end: int, limit: int, together: Together, report: Callable[[], None]
) -> Stopped | None:
    aside: list[Workgroup] = []
    spare: list[Workgroup] = []
    following = begin
    rounds = _Rounds()
    several, computing = 1, COMPUTING
    while (following < end or aside) and not together.cancelled:
        report()
        if following < end and len(aside) < limit and sum(w.spins == L.COMPUTES for w in aside) < computing:
            workgroup = spare.pop() if spare else make()
            last = min(end, following + several)
            start = time.perf_counter()
            status = workgroup.run(following, last)
            several = max(1, several * 2 if time.perf_counter() - start < _CALL_SECONDS else several // 2)
            stop = last if status == L.RUN_COMPLETED else workgroup.current + 1
            together.began(stop - following)
            following = stop
            if status == L.RUN_COMPLETED:
                spare.append(workgroup)
            elif status == L.RUN_PUT_ASIDE:
                aside.append(workgroup)
            else:
                return Stopped(workgroup, status)
            continue
        version, changes = together.version, aside[0].changes()
        ended = False
        for workgroup in tuple(aside):
            status = workgroup.run(workgroup.current, workgroup.current + 1)
            if status == L.RUN_COMPLETED:
                aside.remove(workgroup)
                spare.append(workgroup)
                ended = True
            elif status != L.RUN_PUT_ASIDE:
                return Stopped(workgroup, status)
        if ended:
            together.changed()
            continue
        computing = min(2 * computing, limit)
        states = {workgroup.spins for workgroup in aside}
        dead = together.dead
        if dead:
            pass
        elif together.stopped:
            return None
        elif L.COMPUTES in states:
            together.changed()
        elif states == {L.STALLED} and aside[0].changes() == changes:
            dead = together.all_idle(version)
        else:
            together.changed()
            dead = together.running == 1 and rounds.comes_back(aside, together.memory)
        if dead:
            first = min(aside, key=lambda workgroup: workgroup.current)
            return Stopped(first, L.RUN_OVER_BUDGET, True, len(aside) - 1, end - following)
        if together.running > 1:
            time.sleep(_PAUSE_SECONDS)
    return None
