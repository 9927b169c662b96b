"""The cache of compiled objects on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loom.target.amdgpu.simulator.compile import read_cached, write_cached


def test_what_cannot_be_cached_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk would otherwise fill up further with every run."""
    monkeypatch.setenv("LOOM_CACHE_DIR", str(tmp_path))
    folder = tmp_path / "simulator" / "ab"
    write_cached("abcd", b"object")
    assert read_cached("abcd") == b"object" and os.listdir(folder) == ["abcd"]

    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    write_cached("abef", b"another")
    assert read_cached("abef") is None and os.listdir(folder) == ["abcd"]
