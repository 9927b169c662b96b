"""Files of checks that are absent or hold something else, and values that no machine has room for."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.check.helpers import only_issue, run_text


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def _archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.npy", _npy(np.arange(4, dtype=np.float32)))
    return stream.getvalue()


#: What ``x.npy`` holds, by what is wrong with it.
CONTENTS = {
    "empty": b"",
    "text": b"0 1 2 3\n",
    "an archive, as numpy.savez writes one": _archive(),
    "a pickle": pickle.dumps([0.0, 1.0, 2.0, 3.0]),
    "objects": _npy(np.array([1, "a", None, 2.0], dtype=object)),
    "cut off": _npy(np.arange(4, dtype=np.float32))[:-3],
    "other elements": _npy(np.arange(4, dtype=np.int32)),
    "another shape": _npy(np.zeros((2, 2), np.float32)),
    "a header that promises more": _npy(np.zeros(4, np.float32)).replace(b"(4,)", b"(9,)"),
}

READ = """
check.case @reads {
  %t = check.file.read.npy path("x.npy") : tensor<4xf32>
  check.expect.equal actual(%t) expected(%t) : tensor<4xf32>
  check.return
}
check.case @after {
  %t = check.literal value(1) : i32
  check.expect.equal actual(%t) expected(%t) : i32
  check.return
}
"""


@pytest.mark.parametrize("wrong", CONTENTS)
def test_what_is_no_tensor_of_the_type_is_an_issue_and_the_next_case_runs(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(CONTENTS[wrong])
    document = run_text(READ, tmp_path)
    assert document["exit_code"] == 1
    first, second = document["samples"]
    (issue,) = first["issues"]
    assert (issue["kind"], issue["code"], issue["location"]["line"]) == ("file", "CHECK/025", 3)
    assert "x.npy" in issue["message"]
    assert second["passed"]


def test_byte_order_memory_order_and_rank_0_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "big.npy", np.arange(6, dtype=">i2"))
    np.save(tmp_path / "columns.npy", np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
    np.save(tmp_path / "one.npy", np.array(5, dtype=np.int32))
    text = """
check.case @c {
  %a = check.file.read.npy path("big.npy") : tensor<6xi16>
  %b = check.file.read.npy path("columns.npy") : tensor<2x3xf32>
  %c = check.file.read.npy path("one.npy") : tensor<i32>
  %ae = check.generate.iota offset(0) step(1) : tensor<6xi16>
  %be = check.generate.iota offset(0.0) step(1.0) : tensor<2x3xf32>
  %ce = check.generate.fill value(5) : tensor<i32>
  check.expect.bitwise actual(%a) expected(%ae) : tensor<6xi16>
  check.expect.bitwise actual(%b) expected(%be) : tensor<2x3xf32>
  check.expect.bitwise actual(%c) expected(%ce) : tensor<i32>
  check.return
}
"""
    assert run_text(text, tmp_path)["exit_code"] == 0


@pytest.mark.parametrize("extents", [(1 << 62,), (1 << 32, 1 << 32), (10**6, 10**6)])
def test_what_no_memory_holds_is_an_issue(extents: tuple[int, ...]) -> None:
    """2^32 by 2^32 elements are 0 modulo 2^64."""
    literals = "".join(f"  %n{k} = check.literal value({n}) : index\n" for k, n in enumerate(extents))
    tensor = f"tensor<{''.join(f'[%n{k}]x' for k in range(len(extents)))}i64>"
    for generator in ("fill value(5)", "iota offset(0) step(0)", "iota offset(0) step(1) period(3)"):
        text = f"check.case @c {{\n{literals}  %t = check.generate.{generator} : {tensor}\n  check.return\n}}\n"
        document = run_text(text)
        assert document["exit_code"] == 1
        assert only_issue(document)["code"] == "CHECK/022"
