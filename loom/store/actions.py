"""The action cache: (tool source hash, command, input hashes) → outputs, so that nothing is computed twice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loom.diagnostics import Diagnostic, LoomError, Severity
from loom.store.blobs import BlobStore, write_atomically
from loom.store.canonical import canonical_json, document_hash
from loom.store.records import Record, RecordStore


@dataclass(frozen=True, slots=True)
class Action:
    """A command before it runs.

    ``inputs`` maps the file name that the command uses to the hash that stands for the file's meaning: the SHA-256 of
    its bytes, or a semantic hash where a comment makes no difference.
    """

    tool: str
    tool_hash: str
    command: tuple[str, ...]
    inputs: Mapping[str, str]
    configuration: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What the cache files the action under."""
        return document_hash(
            {
                "tool": self.tool,
                "tool_hash": self.tool_hash,
                "command": list(self.command),
                "inputs": dict(self.inputs),
                "configuration": dict(self.configuration),
            }
        )


class Store:
    """Blobs, records and the action cache under one folder (``results/store``)."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.blobs = BlobStore(self.root)
        self.records = RecordStore(self.blobs)
        self.folder = self.root / "actions"

    def lookup(self, action: Action, warnings: list[Diagnostic] | None = None) -> Record | None:
        """Return the record of an action that ran before and whose outputs are all there, else ``None``.

        What is damaged counts as absent and is added to ``warnings``.
        """
        path = self.folder / f"{action.key}.json"
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            entry = json.loads(data)
            checksum = entry.pop("checksum")
            sound = document_hash(entry) == checksum and entry["key"] == action.key
        except (ValueError, KeyError, AttributeError, TypeError):
            sound = False
        if not sound:
            _warn(warnings, f"the action {action.key} is damaged; it runs again", "STORE/008")
            return None
        try:
            record = self.records.get(entry["record"])
            for digest in sorted(record.blobs):
                self.blobs.get(digest)
        except LoomError as failure:
            _warn(warnings, f"{failure}; the action runs again", "STORE/008")
            return None
        return record

    def commit(self, action: Action, record: Record) -> str:
        """Store a record and file the action under its key; return the record's id.

        The record's blobs are stored before, the action entry after it: whatever the moment of a crash, an entry that
        exists names things that exist.
        """
        name = self.records.put(record)
        entry = {"key": action.key, "record": name}
        document = {**entry, "checksum": document_hash(entry)}
        write_atomically(self.folder / f"{action.key}.json", canonical_json(document) + b"\n", self.blobs.temporary)
        return name

    def actions(self) -> Iterator[tuple[str, str | None]]:
        """Yield (action key, record id) for every entry; the id is ``None`` where the entry is damaged."""
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob("*.json")):
            try:
                entry = json.loads(path.read_bytes())
                checksum = entry.pop("checksum")
                yield path.stem, str(entry["record"]) if document_hash(entry) == checksum else None
            except (ValueError, KeyError, AttributeError, TypeError):
                yield path.stem, None


def _warn(warnings: list[Diagnostic] | None, message: str, code: str) -> None:
    if warnings is not None:
        warnings.append(Diagnostic(message, code, severity=Severity.WARNING))


def relative_command(command: Sequence[str]) -> tuple[str, ...]:
    """A command as records keep it; absolute paths have no place there, they differ between machines."""
    for word in command:
        value = word.partition("=")[2] or word
        if value.startswith("/"):
            raise ValueError(f"'{word}' names an absolute path")
    return tuple(command)
