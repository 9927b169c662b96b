"""Words of messages: suggestions for misspelled names, counted nouns."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(written: str, names: Iterable[str]) -> str | None:
    """Return ``did you mean 'x'?`` for the name nearest to what was written, None when nothing is near."""
    if len(written) > 80:
        return None
    import difflib

    pool = [n for n in names if abs(len(n) - len(written)) <= 8]
    if len(pool) > 3000:
        pool = [n for n in pool if n[:2] == written[:2]]
    found = difflib.get_close_matches(written, pool, 1, 0.6)
    return f"did you mean '{found[0]}'?" if found else None


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 index`` or ``2 indices``."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
