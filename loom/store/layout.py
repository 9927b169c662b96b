"""Where things lie below the results folder, and the small documents that name blobs. Only this room writes there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loom.diagnostics import error
from loom.store.actions import Store
from loom.store.blobs import write_atomically


class Results:
    """``store/`` (blobs, records, actions), ``workloads/NAME/STAGE[.FORM].json``, ``report/``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = Store(root / "store")
        self.report = root / "report"

    def stage_file(self, workload: str, stage: str, form: str | None = None) -> Path:
        """The document of a stage, of one form where the stage runs for each."""
        folder = self.root / "workloads" / workload
        return folder / "forms" / form / f"{stage}.json" if form else folder / f"{stage}.json"

    def write_stage(self, document: Mapping[str, Any]) -> Path:
        """Write a stage's document; a reader sees the old one or the new one."""
        path = self.stage_file(document["workload"], document["stage"], document.get("form"))
        text = json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n"
        write_atomically(path, text.encode("utf-8"), self.store.blobs.temporary, 0o644)
        return path

    def read_stage(self, workload: str, stage: str, form: str | None = None) -> dict[str, Any]:
        """Read a stage's document. Raises ``LAYOUT/001`` where it is absent or damaged."""
        path = self.stage_file(workload, stage, form)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as failure:
            raise error(f"no result of stage '{stage}' of '{workload}': {failure}", "LAYOUT/001") from None
        if not isinstance(document, dict):
            raise error(f"'{path}' is no stage document", "LAYOUT/001")
        return document

    def write_report(self, name: str, data: bytes) -> Path:
        """Write a file of the HTML report."""
        path = self.report / name
        write_atomically(path, data, self.store.blobs.temporary, 0o644)
        return path
