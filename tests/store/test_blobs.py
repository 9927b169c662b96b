from __future__ import annotations

import errno
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from loom.diagnostics import ExitCode, LoomError
from loom.store.blobs import BlobStore


def test_a_blob_is_named_by_its_sha256(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digest = store.put(b"abc")
    # FIPS 180-4, example B.1
    assert digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert store.get(digest) == b"abc"
    assert digest in store
    assert list(store) == [digest]
    assert store.path(digest) == tmp_path / "blobs" / "ba" / digest[2:]


def test_equal_bytes_are_stored_once(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    store.put(b"x" * 1000)
    inode = store.path(hashlib.sha256(b"x" * 1000).hexdigest()).stat().st_ino
    digest = store.put(b"x" * 1000)
    assert store.path(digest).stat().st_ino == inode


def test_an_absent_blob_and_a_name_that_is_none(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    with pytest.raises(LoomError) as absent:
        store.get("0" * 64)
    assert absent.value.diagnostics[0].code == "STORE/001"
    for name in ("", "../../etc/passwd", "A" * 64, "0" * 63):
        with pytest.raises(LoomError) as bad:
            store.get(name)
        assert bad.value.diagnostics[0].code == "STORE/005"


@pytest.mark.parametrize("bit", [0, 7, 4095, 8 * 1000 - 1])
def test_a_flipped_bit_is_detected_reported_and_repaired(tmp_path: Path, bit: int) -> None:
    store = BlobStore(tmp_path)
    data = bytes(range(250)) * 4
    digest = store.put(data)
    path = store.path(digest)
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << (bit % 8)
    os.chmod(path, 0o644)
    path.write_bytes(damaged)
    with pytest.raises(LoomError) as failure:
        store.get(digest)
    assert failure.value.diagnostics[0].code == "STORE/002"
    assert list(store.damaged()) == [digest]
    store.put(data)
    assert store.get(digest) == data
    assert list(store.damaged()) == []


def test_a_truncated_blob_is_detected(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digest = store.put(b"0123456789")
    os.chmod(store.path(digest), 0o644)
    os.truncate(store.path(digest), 4)
    with pytest.raises(LoomError, match="damaged"):
        store.get(digest)


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_failing_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    store = BlobStore(tmp_path)
    kept = store.put(b"kept")

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(f"loom.store.blobs.os.{call}", fail)
        with pytest.raises(LoomError) as failure:
            store.put(b"lost")
    full = number in (errno.ENOSPC, errno.EDQUOT)
    assert failure.value.diagnostics[0].code == ("STORE/003" if full else "STORE/004")
    assert failure.value.exit_code == (ExitCode.UNAVAILABLE if full else ExitCode.BAD_INPUT)
    assert list(store) == [kept]
    assert list(store.temporary.iterdir()) == []
    assert store.get(store.put(b"lost")) == b"lost"


def test_a_full_disk_in_the_middle_of_the_data(tmp_path: Path) -> None:
    """A real full disk: the file size limit of a child process stands for it."""
    script = f"""
import resource, signal, sys
from pathlib import Path
from loom.diagnostics import LoomError
from loom.store.blobs import BlobStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = BlobStore(Path({str(tmp_path)!r}))
kept = store.put(b"kept")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    store.put(bytes(100000))
except LoomError as failure:
    print(failure.diagnostics[0].code, int(failure.exit_code))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["STORE/003", "3"]
    store = BlobStore(tmp_path)
    assert [store.get(name) for name in store] == [b"kept"]
    assert list(store.temporary.iterdir()) == []


def test_two_writers_of_one_blob_at_once(tmp_path: Path) -> None:
    data = os.urandom(1 << 16)
    start = threading.Barrier(8)
    names: list[str] = []

    def write() -> None:
        store = BlobStore(tmp_path)
        start.wait()
        for _ in range(10):
            names.append(store.put(data))

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(names) == {hashlib.sha256(data).hexdigest()}
    store = BlobStore(tmp_path)
    assert store.get(names[0]) == data
    assert list(store) == [names[0]]


@pytest.mark.parametrize("delay", [0.02, 0.05, 0.11])
def test_kill_9_of_a_writer_loses_nothing_that_was_committed(tmp_path: Path, delay: float) -> None:
    script = f"""
import sys
from pathlib import Path
from loom.store.blobs import BlobStore
store = BlobStore(Path({str(tmp_path)!r}))
print("ready", flush=True)
for i in range(1000000):
    print(store.put(i.to_bytes(8, "little") * 5000), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    committed = [line.decode().strip() for line in process.stdout.read().splitlines()]
    process.wait()
    store = BlobStore(tmp_path)
    for digest in committed:
        if len(digest) == 64:
            assert len(store.get(digest)) == 40000
    assert list(store.damaged()) == []
    # The writer may have died between its rename and its report, never more than one blob ahead.
    assert len(list(store)) - len([digest for digest in committed if len(digest) == 64]) <= 1
