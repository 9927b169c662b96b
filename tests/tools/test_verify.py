"""loom-raise verify: re-encoding and lifting of whole files."""

import json

from loom.tools.common import ArgumentParser
from loom.tools.raise_commands import verify
from tests.raising.native_launches import NATIVE


def call(capsys, *argv):
    parser = ArgumentParser(prog="loom-raise verify")
    verify.add_arguments(parser)
    code = verify.run(parser.parse_args([str(word) for word in argv]))
    return code, capsys.readouterr().out


def test_lifting_is_reported_per_kernel(capsys):
    path = NATIVE / "clang/gfx1100/saxpy.O3.hsaco"
    code, out = call(capsys, "--lift", "--json", path)
    assert code == 0
    rows = json.loads(out)["kernels"]
    # names and instruction counts of tests/native/index.tsv
    assert {(row["kernel"], row["instructions"]) for row in rows} == {("saxpy", 25), ("saxpy4", 28), ("saxpy_grid", 33)}
    for row in rows:
        assert (row["file"], row["reencoded_identical"], row["lifted_identical"]) == (str(path), True, True)
        assert row["reason"] is None


def test_a_refusal_is_evidence_with_its_reason(capsys):
    code, out = call(capsys, "--lift", "--json", NATIVE / "extra/gfx1100-w32.O0.hsaco")
    rows = {row["kernel"]: row for row in json.loads(out)["kernels"]}
    assert code == 1
    assert rows["calls"]["reencoded_identical"] and not rows["calls"]["lifted_identical"]
    assert "s_swappc_b64 at pc " in rows["calls"]["reason"] and "LIFT/002" in rows["calls"]["reason"]
    assert rows["scan"]["lifted_identical"]


def test_without_lift_only_the_encoding_counts(capsys):
    code, out = call(capsys, NATIVE / "extra/gfx1100-w32.O2.hsaco")
    assert code == 0
    assert out.strip().endswith("kernels re-encoded identically")
