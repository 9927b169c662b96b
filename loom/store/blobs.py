"""Immutable blobs named by their SHA-256.

A blob is written under a temporary name, flushed to the disk and renamed, so that a reader sees all of it or nothing.
A damaged blob is detected when it is read, reported, and never used; putting the same bytes again repairs it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from loom.diagnostics import ExitCode, LoomError, error
from loom.store.canonical import sha256

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomically(path: Path, data: bytes, temporary_folder: Path, mode: int = 0o444) -> None:
    """Write ``data`` to ``path`` so that it is there as a whole or not at all, even after a crash.

    Raises ``STORE/003`` (exit code 3) where the disk is full and ``STORE/004`` (2) where the place cannot be written;
    nothing is left behind then.
    """
    try:
        temporary_folder.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=temporary_folder)
    except OSError as failure:
        raise _refusal(path, failure) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
        _sync_folder(path.parent)
    except BaseException as failure:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if isinstance(failure, OSError):
            raise _refusal(path, failure) from None
        raise


def _refusal(path: Path, failure: OSError) -> LoomError:
    reason = failure.strerror or str(failure)
    if failure.errno in _FULL:
        return error(
            f"cannot store '{path.name}': {reason}",
            "STORE/003",
            hint="free space, or run 'loom-raise store gc'",
            exit_code=ExitCode.UNAVAILABLE,
        )
    return error(f"cannot store '{path.name}' in '{path.parent}': {reason}", "STORE/004")


def _sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename survives a crash."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        with contextlib.suppress(OSError):  # some file systems refuse to sync a folder
            os.fsync(handle)
    finally:
        os.close(handle)


class BlobStore:
    """Blobs under ``root/blobs/ab/cdef…``; ``root/tmp`` holds what is being written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "blobs"
        self.temporary = root / "tmp"

    def path(self, digest: str) -> Path:
        """Where the blob ``digest`` is or would be. Raises ``STORE/005`` for text that is no SHA-256."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise error(f"'{digest}' is no SHA-256", "STORE/005", hint="64 lower-case hexadecimal digits")
        return self.folder / digest[:2] / digest[2:]

    def __contains__(self, digest: str) -> bool:
        return self.path(digest).is_file()

    def put(self, data: bytes) -> str:
        """Store bytes and return their SHA-256; a damaged blob of the same name is replaced."""
        digest = sha256(data)
        path = self.path(digest)
        try:
            if sha256(path.read_bytes()) == digest:
                return digest
        except OSError:
            pass
        write_atomically(path, data, self.temporary)
        return digest

    def get(self, digest: str) -> bytes:
        """Return a blob's bytes.

        Raises ``STORE/001`` where it is absent and ``STORE/002`` where its bytes do not have this hash.
        """
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise error(f"the store holds no blob {digest}", "STORE/001") from None
        except OSError as failure:
            raise error(f"cannot read the blob {digest}: {failure.strerror}", "STORE/002") from None
        if sha256(data) != digest:
            raise error(
                f"the blob {digest} is damaged: its bytes have another hash",
                "STORE/002",
                hint="it is not used; repeat the stage that made it, or 'loom-raise store verify --remove'",
            )
        return data

    def __iter__(self) -> Iterator[str]:
        """Yield the name of every blob, sorted."""
        if not self.folder.is_dir():
            return
        for prefix in sorted(self.folder.iterdir()):
            if len(prefix.name) == 2 and prefix.is_dir():
                for entry in sorted(prefix.iterdir()):
                    if len(entry.name) == 62:
                        yield prefix.name + entry.name

    def size(self, digest: str) -> int:
        """Bytes of a blob as it lies on the disk."""
        return self.path(digest).stat().st_size

    def damaged(self) -> Iterator[str]:
        """Yield the names of blobs whose bytes do not have their hash."""
        for digest in self:
            try:
                self.get(digest)
            except LoomError:
                yield digest

    def remove(self, digest: str) -> None:
        """Remove a blob; nothing happens where it is absent."""
        self.path(digest).unlink(missing_ok=True)
