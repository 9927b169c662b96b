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


def test_a_file_under_another_name_counts_as_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All kernels define the same symbols, so the wrong object would link and run."""
    monkeypatch.setenv("LOOM_CACHE_DIR", str(tmp_path))
    write_cached("aa01", b"one kernel")
    write_cached("aa02", b"another")
    os.replace(tmp_path / "simulator/aa/aa01", tmp_path / "simulator/aa/aa02")
    assert read_cached("aa01") is None and read_cached("aa02") is None
    write_cached("aa02", b"another")
    assert read_cached("aa02") == b"another"


@pytest.mark.parametrize("damage", [b"", b"LOOMOBJ1", b"LOOMOBJ1" + bytes(32) + b"one kernel"])
def test_a_damaged_file_counts_as_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    monkeypatch.setenv("LOOM_CACHE_DIR", str(tmp_path))
    write_cached("aa01", b"one kernel")
    (tmp_path / "simulator/aa/aa01").write_bytes(damage)
    assert read_cached("aa01") is None
