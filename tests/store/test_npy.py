"""Reading ``.npy`` files that are damaged, foreign or laid out differently."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from loom.store.npy import little_endian, read_npy


def saved(array: np.ndarray, **options: bool) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


GOOD = saved(np.arange(100, dtype=np.float32))


def archive() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(3))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "EOF"), (GOOD[:8], "EOF"), (GOOD[:60], "EOF"), (GOOD[:150], "100"), (b"hello, world", "magic"),
        (archive(), "magic"), (GOOD[:10] + b"(" * 60 + GOOD[70:], ""), (GOOD.replace(b"(100,)", b"(1**9)"), ""),
        (GOOD.replace(b"(100,)", b"(-10,)"), ""), (GOOD.replace(b"'<f4'", b"'<zz'"), ""),
        (saved(np.array([1, "a"], dtype=object), allow_pickle=True), "Python objects"),
    ],
)  # fmt: skip
def test_what_is_no_array_is_refused_with_a_reason(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    with path.open("rb") as stream, pytest.raises(ValueError, match=r"no \.npy file of numbers") as caught:
        read_npy(stream)
    assert says in str(caught.value)


def test_an_array_that_does_not_fit_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(GOOD.replace(b"(100,), }" + b" " * 13, b"(1000000000000000,), }"))  # 4 PB
    assert path.stat().st_size == len(GOOD)
    with path.open("rb") as stream, pytest.raises(MemoryError):
        read_npy(stream)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([1, 258], ">u2"), b"\x01\x00\x02\x01"), (np.array([[1, 2], [3, 4]], "u1", order="F"), b"\1\2\3\4"),
        (np.arange(8, dtype="u1")[::2], b"\0\2\4\6"), (np.array(513, ">u2"), b"\x01\x02"), (np.zeros(0, ">f8"), b""),
        (np.array([(1, 2)], dtype=[("a", ">u2"), ("b", "u1")]), b"\x01\x00\x02"),
    ],
)  # fmt: skip
def test_values_as_a_device_holds_them(array: np.ndarray, expected: bytes) -> None:
    stored = little_endian(array)
    assert stored.shape == array.shape and stored.tobytes() == expected
    assert stored.dtype.kind == array.dtype.kind and (stored == array).all()
