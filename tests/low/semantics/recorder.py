"""A pytest plugin that notes which semantic operations a run evaluates; it writes them to the file ``OPERATIONS_SEEN`` names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import loom.low.semantics.table as table

_seen: set[str] = set()
_evaluate = table.evaluate


def _recording(semantic: str, *arguments: Any, **options: Any) -> dict[str, Any]:
    found = table.find_operation(semantic, options.get("wave", 32), options.get("generation", "gfx11"))
    if found is not None:
        _seen.add(found.name)
    return _evaluate(semantic, *arguments, **options)


table.evaluate = _recording  # before the test modules import it


def pytest_sessionfinish() -> None:
    Path(os.environ["OPERATIONS_SEEN"]).write_text(json.dumps(sorted(_seen)), encoding="utf-8")
