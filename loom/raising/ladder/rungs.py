"""The rungs that a lifted kernel gives without anyone writing them, in the order in which freedom grows."""

from __future__ import annotations

LOW_RUNGS = ("oracle", "relaxed_allocation", "relaxed_schedule")
