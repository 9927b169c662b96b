"""Recursion over nested regions, up to the language's nesting limit."""

from __future__ import annotations

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
