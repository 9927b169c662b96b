"""Device memory on the host: an arena of address space in which buffers never share a page and freed ones never come
back.

Device addresses are host addresses. Each buffer is followed by an unused page, and the address range of a freed
buffer is not used
again, so an access through a stale pointer is told from any other.
"""

from __future__ import annotations

import ctypes
import mmap
from collections import deque
from dataclasses import dataclass

from loom.diagnostics import ExitCode, error

PAGE = 4096
_ARENA_BYTES = 1 << 38
_ARENA_ADDRESS = 0x2000_0000_0000
_ARENA_STEP = 1 << 39
_MAP_NORESERVE = 0x4000
_MAP_FIXED_NOREPLACE = 0x100000
_MADV_DONTNEED = 4


@dataclass(slots=True)
class Allocation:
    """A range of device memory. ``size`` is what was asked for: bytes behind it are out of bounds.

    ``own``: the simulator's, as kernel arguments are, rather than the caller's.
    """

    address: int
    size: int
    name: str
    alive: bool = True
    own: bool = False


class Arena:
    """Address space for one device."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = [
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_long,
        ]
        self._libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self._libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.base, self.size = self._reserve()
        self._next = self.base + PAGE
        self._count = 0
        self._alive: dict[int, Allocation] = {}
        # Freed ranges, for messages; only the latest are kept, as a long session frees many.
        self._freed: deque[Allocation] = deque(maxlen=1024)

    def _reserve(self) -> tuple[int, int]:
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        size = _ARENA_BYTES
        while size >= 1 << 30:
            # A fixed place first: device addresses are then the same in every run.
            for step in range(64):
                wanted = _ARENA_ADDRESS + step * _ARENA_STEP
                found = self._libc.mmap(wanted, size, protection, flags | _MAP_FIXED_NOREPLACE, -1, 0)
                if found == wanted:
                    return wanted, size
                if found not in (None, ctypes.c_void_p(-1).value):
                    self._libc.munmap(found, size)
            size >>= 1
        raise error(
            "the simulator cannot reserve address space for device memory",
            "SIMULATOR/011",
            hint="raise the limit on virtual memory (ulimit -v)",
            exit_code=ExitCode.UNAVAILABLE,
        )

    def allocate(self, size: int, name: str = "", own: bool = False) -> Allocation:
        """Reserve ``size`` bytes at a page boundary, zero filled; ``own``: for the simulator, not for its caller."""
        if not self.size:
            raise error("the device is closed", "SIMULATOR/016", hint="open it again: its buffers are gone")
        if size < 0:
            raise error(f"a buffer of {size} bytes", "SIMULATOR/012")
        pages = -(-max(size, 1) // PAGE) + 1
        if self._next + pages * PAGE > self.base + self.size:
            raise error("the simulator's device memory is used up", "SIMULATOR/013", exit_code=ExitCode.UNAVAILABLE)
        found = Allocation(self._next, size, name or f"buffer {self._count}", own=own)
        self._count += not own
        self._next += pages * PAGE
        self._alive[found.address] = found
        return found

    def ranges(self) -> list[tuple[int, int]]:
        """Begin and end of everything that is allocated, ascending."""
        return [(a.address, a.address + a.size) for a in self._alive.values() if a.size]

    def find(self, address: int) -> Allocation | None:
        """The living allocation that starts at ``address``."""
        return self._alive.get(address)

    def free(self, allocation: Allocation) -> None:
        """Give the pages back; the addresses stay unused."""
        if not allocation.alive:
            raise error(f"{allocation.name} is freed twice", "SIMULATOR/014")
        allocation.alive = False
        del self._alive[allocation.address]
        if not allocation.own:
            self._freed.append(allocation)
        self._libc.madvise(allocation.address, -(-max(allocation.size, 1) // PAGE) * PAGE, _MADV_DONTNEED)

    def nearest(self, address: int) -> Allocation | None:
        """The allocation, freed ones included, that lies nearest to an address; the simulator's own on the next page
        at most."""
        best, distance = None, 0
        for item in (*self._alive.values(), *self._freed):
            away = max(item.address - address, address - (item.address + item.size), 0)
            if item.own and away > PAGE:
                continue
            if best is None or away < distance:
                best, distance = item, away
        return best

    def close(self) -> None:
        """Unmap everything."""
        if self.size:
            self._libc.munmap(self.base, self.size)
            self.size = 0
