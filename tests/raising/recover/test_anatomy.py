from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loom import parse
from loom.diagnostics import LoomError
from loom.raising.recover.anatomy import anatomy
from loom.raising.recover.patterns import classify
from loom.tools.loom_raise import run


def found(repository: Path, name: str) -> dict[str, Any]:
    path = repository / "workloads" / name / "oracle.loom"
    return anatomy(parse(path.read_text(), str(path))).to_json()


def count(document: dict[str, Any], meaning: str, looped: bool | None = None) -> int:
    return sum(
        sum(row["instructions"].values())
        for row in document["findings"]
        if row["meaning"] == meaning and (looped is None or (row["loop"] is not None) is looped)
    )


def test_the_pipelined_gemm(repository: Path) -> None:
    """Counts from its assembly: a prefetch of two loads before the loop and one in it, 8 x 16 pairs of fma."""
    document = found(repository, "sgemm")
    assert len(document["loops"]) == 1
    assert (count(document, "global load", False), count(document, "global load", True)) == (2, 2)
    assert count(document, "local load", True) == 32
    assert count(document, "multiply-add", True) == 128
    assert (count(document, "barrier", False), count(document, "barrier", True)) == (1, 1)
    assert count(document, "global store") == 4


def test_other_kernels(repository: Path) -> None:
    assert count(found(repository, "reduce"), "barrier") == 9
    wmma = found(repository, "wmma")
    assert count(wmma, "matrix instruction", True) == 1 and len(wmma["loops"]) == 1
    saxpy = found(repository, "saxpy")
    assert saxpy["loops"] == [] and count(saxpy, "lanes masked off") == 1
    assert count(found(repository, "softmax"), "exchange between lanes") >= 10


@pytest.mark.parametrize(
    ("key", "meaning"),
    [
        ("amdgpu.v_wmma_f32_16x16x16_f16", "matrix instruction"),
        ("amdgpu.global_load_b128", "global load"),
        ("amdgpu.ds_store_b32", "local store"),
        ("amdgpu.ds_bpermute_b32", "exchange between lanes"),
        ("amdgpu.v_dual_fmac_f32.v_dual_mov_b32", "multiply-add"),
        ("amdgpu.s_waitcnt", "wait"),
        ("amdgpu.global_atomic_add_u32", "atomic"),
        ("amdgpu.v_add_f32", None),
        ("amdgpu.s_mov_b32", None),
    ],
)
def test_patterns(key: str, meaning: str | None) -> None:
    pattern = classify(key)
    assert (pattern.meaning if pattern else None) == meaning


def test_the_command(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    oracle = str(repository / "workloads/sgemm/oracle.loom")
    assert run(["recover", oracle]) == 0
    out = capsys.readouterr().out
    assert out.startswith("@sgemm_pipe_asm\n") and "synchronization\n" in out
    assert run(["recover", oracle, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "loom.anatomy.v0"
    with pytest.raises(LoomError):
        run(["recover", oracle, "--kernel=other"])
