"""Records: what was executed, by which tool, on what, with what result. A record's id is the hash of its
deterministic part.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loom.diagnostics import LoomError, error
from loom.store.blobs import BlobStore, write_atomically
from loom.store.canonical import canonical_json, document_hash
from loom.store.schema import validate


@dataclass(frozen=True, slots=True)
class Record:
    """One executed stage step.

    ``deterministic`` is what the id covers; ``observed`` is what another run may see differently (times, host, exact
    input text).
    """

    deterministic: Mapping[str, Any]
    observed: Mapping[str, Any]

    @property
    def id(self) -> str:
        """SHA-256 of the canonical JSON of the deterministic part."""
        return document_hash(self.deterministic)

    def document(self) -> dict[str, Any]:
        """The record as it is stored: its id, both parts, and a checksum over all of it."""
        body = {"id": self.id, "deterministic": dict(self.deterministic), "observed": dict(self.observed)}
        return {**body, "checksum": document_hash(body)}

    @property
    def blobs(self) -> set[str]:
        """Every blob that the record names."""
        named = {item["blob"] for item in self.observed.get("inputs", {}).values()}
        named |= set(self.deterministic["outputs"].values())
        return named


def parse_record(data: bytes, name: str) -> Record:
    """Read a stored record. Raises ``STORE/006`` for one that is damaged and ``SCHEMA/001`` for one of another form."""
    try:
        document = json.loads(data)
        checksum = document.pop("checksum")
    except (ValueError, KeyError, AttributeError):
        raise error(f"the record {name} is damaged: not a JSON record", "STORE/006") from None
    if document_hash(document) != checksum or document_hash(document["deterministic"]) != document["id"]:
        raise error(f"the record {name} is damaged: its checksum is wrong", "STORE/006")
    validate(document, "record", name)
    return Record(document["deterministic"], document["observed"])


class RecordStore:
    """Records under ``root/records/ID.json``."""

    def __init__(self, blobs: BlobStore) -> None:
        self.blobs = blobs
        self.folder = blobs.root / "records"

    def put(self, record: Record) -> str:
        """Check and store a record, its blobs being there already; return its id."""
        document = record.document()
        validate({key: value for key, value in document.items() if key != "checksum"}, "record", record.id)
        for digest in record.blobs:
            if digest not in self.blobs:
                raise error(f"the record names the blob {digest}, which is not stored", "STORE/001")
        write_atomically(self.folder / f"{record.id}.json", canonical_json(document) + b"\n", self.blobs.temporary)
        return record.id

    def get(self, prefix: str) -> Record:
        """Return the record whose id starts with ``prefix`` (at least four digits).

        Raises ``STORE/007`` where none or several do and ``STORE/006`` where it is damaged.
        """
        path = self.folder / f"{prefix}.json"
        if not path.is_file():
            found = [name for name in self if name.startswith(prefix)] if len(prefix) >= 4 else []
            if len(found) != 1:
                what = f"{len(found)} records start" if found else "no record starts"
                raise error(f"{what} with '{prefix}'", "STORE/007", hint="see 'loom-raise store ls'")
            path = self.folder / f"{found[0]}.json"
        record = parse_record(path.read_bytes(), path.stem)
        if record.id != path.stem:
            raise error(f"the record {path.stem} is damaged: it holds {record.id}", "STORE/006")
        return record

    def __contains__(self, name: str) -> bool:
        return (self.folder / f"{name}.json").is_file()

    def __iter__(self) -> Iterator[str]:
        """Yield the id of every record, sorted."""
        if self.folder.is_dir():
            yield from sorted(path.stem for path in self.folder.glob("*.json"))

    def damaged(self) -> Iterator[str]:
        """Yield the ids of records that cannot be read."""
        for name in self:
            try:
                self.get(name)
            except LoomError:
                yield name
