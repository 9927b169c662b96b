"""What long walks over modules ask of the interpreter: recursion up to the nesting limit, and no garbage collection."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NESTING_LIMIT = 1000
_FRAMES = 20 * NESTING_LIMIT


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow the recursion that the nesting limit needs (some Python frames a level; they use no native stack)."""
    before = sys.getrecursionlimit()
    if before < _FRAMES:
        sys.setrecursionlimit(_FRAMES)
    try:
        yield
    finally:
        if before < _FRAMES:
            sys.setrecursionlimit(before)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Build many long-lived objects without the cyclic collector going over all of them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
