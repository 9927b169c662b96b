"""Compiled kernels by what they are made from, so that a known one is neither translated nor checked again.

The object cache (:mod:`loom.target.amdgpu.simulator.compile`) is keyed by IR text, which takes the translation to know.
A record here is keyed by the code's bytes, what else translation and checks depend on, and the state of this package;
it names the objects and holds the tables that go with them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from loom.target.amdgpu.simulator.compile import host_identity, read_cached, write_cached
from loom.target.amdgpu.simulator.translate import StaticFault, Translation

FORMAT = "loom-simulator-kernel-1"
_PACKAGE = Path(__file__).resolve().parents[3]
_SOURCES = ("target/amdgpu", "low/semantics")
"""Folders that translation, the checks of the final code and the meaning of instructions come from."""


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """A compiled kernel without its code: the tables of the translation, what it watches, the keys of its objects."""

    translation: Translation
    watched: bool
    releases: bool
    objects: list[str]


@lru_cache(maxsize=1)
def _package_state() -> str:
    """Changes whenever a file does that compiled kernels depend on: names, sizes and times."""
    files = sorted(path for folder in _SOURCES for path in (_PACKAGE / folder).rglob("*") if path.suffix != ".pyc")
    stats = ((str(path.relative_to(_PACKAGE)), path.stat()) for path in files)
    return repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])


def identity(code: bytes, *others: Any) -> str:
    """The key of a kernel.

    Args:
        code: Bytes of the text section.
        others: Whatever else decides how it is translated and checked, with a ``repr`` that tells all of it.
    """
    digest = hashlib.sha256(repr((FORMAT, host_identity(), _package_state(), others)).encode())
    digest.update(code)
    return digest.hexdigest()


def find(key: str) -> tuple[KernelRecord, list[bytes]] | None:
    """A kernel's record and its objects; None where one of them is absent or damaged."""
    data = read_cached(key)
    if data is None:
        return None
    fields = json.loads(data)
    objects = [read_cached(name) for name in fields["objects"]]
    if any(found is None for found in objects):
        return None
    translation = Translation(
        blocks=[(first, last) for first, last in fields["blocks"]],
        sites=fields["sites"],
        faults={site: StaticFault(*fault) for site, *fault in fields["faults"]},
    )
    record = KernelRecord(translation, fields["watched"], fields["releases"], fields["objects"])
    return record, [found for found in objects if found is not None]


def keep(key: str, record: KernelRecord) -> None:
    """Write a record; a cache that cannot be written is no error."""
    table = record.translation
    fields = {
        "blocks": table.blocks,
        "sites": table.sites,
        "faults": [(site, fault.kind, fault.message, fault.register) for site, fault in table.faults.items()],
        "watched": record.watched,
        "releases": record.releases,
        "objects": record.objects,
    }
    write_cached(key, json.dumps(fields).encode())
