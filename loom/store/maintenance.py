"""Looking after a store: what is damaged, what nothing refers to, and moving evidence between stores."""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from loom.diagnostics import LoomError, error
from loom.store.actions import Store
from loom.store.blobs import write_atomically
from loom.store.canonical import canonical_json, sha256
from loom.store.records import parse_record

#: A temporary file older than this belongs to a writer that is gone.
STALE_SECONDS = 3600.0


@dataclass(slots=True)
class Findings:
    """What :func:`verify` found: names of damaged blobs, records and action entries, and of blobs that records miss."""

    blobs: list[str] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    checked: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.blobs or self.records or self.actions or self.missing)


def verify(store: Store, remove: bool = False) -> Findings:
    """Read everything and compare hashes; with ``remove`` what is damaged is deleted, so that it is made again."""
    findings = Findings()
    for digest in store.blobs:
        findings.checked += 1
        try:
            store.blobs.get(digest)
        except LoomError:
            findings.blobs.append(digest)
    for name in store.records:
        findings.checked += 1
        try:
            record = store.records.get(name)
        except LoomError:
            findings.records.append(name)
            continue
        findings.missing.extend(sorted(digest for digest in record.blobs if digest not in store.blobs))
    for key, target in store.actions():
        findings.checked += 1
        if target is None or target not in store.records:
            findings.actions.append(key)
    if remove:
        for digest in findings.blobs:
            store.blobs.remove(digest)
        for name in findings.records:
            (store.records.folder / f"{name}.json").unlink(missing_ok=True)
        for key in findings.actions:
            (store.folder / f"{key}.json").unlink(missing_ok=True)
    return findings


@dataclass(slots=True)
class Collected:
    """What :func:`collect_garbage` removed: counts and bytes."""

    blobs: int = 0
    records: int = 0
    temporary: int = 0
    bytes: int = 0


def collect_garbage(store: Store, keep: Iterable[str] = (), records: bool = False, dry_run: bool = False) -> Collected:
    """Remove blobs that no record and no name in ``keep`` refers to, and what dead writers left.

    With ``records``, a record (and its action) goes too unless ``keep`` names it; its blobs follow. A damaged record
    keeps nothing alive but is itself left for :func:`verify`.
    """
    collected = Collected()
    kept = set(keep)
    if records:
        for name in list(store.records):
            if name not in kept:
                collected.records += 1
                if not dry_run:
                    (store.records.folder / f"{name}.json").unlink(missing_ok=True)
        for key, target in list(store.actions()):
            if target not in kept and not dry_run:
                (store.folder / f"{key}.json").unlink(missing_ok=True)
    alive = set(kept)
    for name in store.records:
        if records and name not in kept:
            continue
        try:
            alive |= store.records.get(name).blobs
        except LoomError:
            continue
    for digest in list(store.blobs):
        if digest not in alive:
            collected.blobs += 1
            collected.bytes += store.blobs.size(digest)
            if not dry_run:
                store.blobs.remove(digest)
    if store.blobs.temporary.is_dir():
        for path in store.blobs.temporary.iterdir():
            try:
                stale = path.stat().st_mtime < time.time() - STALE_SECONDS
            except OSError:
                continue
            if stale:
                collected.temporary += 1
                if not dry_run:
                    path.unlink(missing_ok=True)
    return collected


def export_archive(store: Store, names: Iterable[str], destination: Path) -> int:
    """Write records with their blobs and actions as one tar file; return the number of records.

    The bytes depend only on the content. Raises ``STORE/007`` for a name that is no record.
    """
    records = {}
    for name in names:
        record = store.records.get(name)
        records[record.id] = record
    members: dict[str, bytes] = {}
    for name, record in records.items():
        members[f"records/{name}.json"] = canonical_json(record.document()) + b"\n"
        for digest in record.blobs:
            members[f"blobs/{digest}"] = store.blobs.get(digest)
    for key, target in store.actions():
        if target in records:
            members[f"actions/{key}.json"] = (store.folder / f"{key}.json").read_bytes()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(members):
            info = tarfile.TarInfo(path)
            info.size = len(members[path])
            archive.addfile(info, io.BytesIO(members[path]))
    write_atomically(destination, buffer.getvalue(), destination.parent, 0o644)
    return len(records)


def import_archive(store: Store, source: Path) -> int:
    """Read what :func:`export_archive` wrote; return the number of records.

    Everything is checked before anything is stored. Raises ``STORE/009`` for a file that is no such archive or is
    damaged.
    """
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(source, "r:") as archive:
            for info in archive:
                stream = archive.extractfile(info) if info.isreg() else None
                if stream is None:
                    raise error(f"'{source}' holds '{info.name}', which is no file", "STORE/009")
                members[info.name] = stream.read()
    except (tarfile.TarError, OSError, EOFError) as failure:
        raise error(f"'{source}' is no evidence archive: {failure}", "STORE/009") from None
    records = {}
    for path, data in members.items():
        kind, _, name = path.partition("/")
        if kind == "blobs" and sha256(data) != name:
            raise error(f"the blob {name} in '{source}' is damaged", "STORE/009")
        if kind == "records":
            records[name] = parse_record(data, name)
        if kind not in ("blobs", "records", "actions"):
            raise error(f"'{source}' holds the foreign file '{path}'", "STORE/009")
    for path, data in members.items():
        if path.startswith("blobs/"):
            store.blobs.put(data)
    for record in records.values():
        store.records.put(record)
    for path, data in members.items():
        kind, _, name = path.partition("/")
        if kind == "actions" and len(name) == 69 and "/" not in name:
            write_atomically(store.folder / name, data, store.blobs.temporary)
    return len(records)
