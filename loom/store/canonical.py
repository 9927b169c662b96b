"""Canonical JSON and content hashes: the one way in which evidence is named."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any


def canonical_json(document: Any) -> bytes:
    """Return the canonical JSON of a document: sorted keys, no spaces, UTF-8, shortest round-trip numbers.

    Raises :class:`ValueError` for NaN, infinities and keys that are not strings: they have no JSON form.
    """
    _refuse_foreign(document)
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(
        "utf-8"
    )


def _refuse_foreign(value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} has no JSON form")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"key {key!r} is not a string")
            _refuse_foreign(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_foreign(item)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def document_hash(document: Any) -> str:
    """Return the SHA-256 of a document's canonical JSON."""
    return sha256(canonical_json(document))


def differing_fields(left: Any, right: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, left value, right value) for every leaf that differs; an absent leaf is ``None``."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right}):
            yield from differing_fields(left.get(key), right.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        for index in range(max(len(left), len(right))):
            a = left[index] if index < len(left) else None
            b = right[index] if index < len(right) else None
            yield from differing_fields(a, b, f"{path}[{index}]")
    elif left != right or type(left) is not type(right):
        yield path, left, right
