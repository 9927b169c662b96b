"""The journal: a line for every step that was asked for, saying whether it executed or came from the action cache."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Journal:
    """``root/journal.jsonl``; appending is atomic, so parallel jobs share it."""

    def __init__(self, root: Path) -> None:
        self.path = root / "journal.jsonl"

    def append(self, workload: str, form: str | None, stage: str, step: str, executed: bool, seconds: float) -> None:
        """Add a line; ``executed`` is false for an action-cache hit, ``seconds`` is the wall time of the execution."""
        line = {
            "time": time.time(),
            "workload": workload,
            "form": form,
            "stage": stage,
            "step": step,
            "executed": executed,
            "seconds": round(seconds, 3),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, (json.dumps(line) + "\n").encode())
        finally:
            os.close(handle)

    def size(self) -> int:
        """Bytes so far: a mark that :meth:`since` starts from."""
        return self.path.stat().st_size if self.path.exists() else 0

    def since(self, mark: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the lines after a mark; a line that a crash cut short is left out."""
        if not self.path.exists():
            return
        with open(self.path, "rb") as stream:
            stream.seek(mark)
            for raw in stream:
                try:
                    line = json.loads(raw)
                except ValueError:
                    continue
                if isinstance(line, dict):
                    yield line
