"""Writes the lanewise programs of ``tests/corpus/checks`` and the values that all programs there must give.

Run it by hand after changing a table: ``python -m tests.corpus.write_checks``. Expected values come from NumPy and
Python's ``math``; nothing of ``loom`` is imported.
"""

from __future__ import annotations

from tests.corpus import handwritten_checks, lanewise_checks
from tests.corpus.check_values import HERE


def main() -> None:
    HERE.mkdir(exist_ok=True)
    lanewise_checks.write()
    handwritten_checks.write()


if __name__ == "__main__":
    main()
