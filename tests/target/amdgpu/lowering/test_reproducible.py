"""The same source gives the same bytes: whatever else the process did before, and whatever seed strings are hashed with."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import loom
from loom.target.amdgpu.compile import compile_module

ROOT = Path(__file__).parents[4]
SOURCES = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("benchmarks/codegen/*.loom", "workloads/*/raised/*.loom", "tests/corpus/appendix/*.loom")
    for path in ROOT.glob(pattern)
    # One needs a config value, the other has no kernel.
    if path.stem not in ("08_configuration", "12_gcd_scenario")
)


def compiled(name: str) -> str:
    """SHA-256 of the code object."""
    module = loom.parse((ROOT / name).read_text(encoding="utf-8"), name)
    return hashlib.sha256(compile_module(module).code_object).hexdigest()


@pytest.fixture(scope="module")
def first() -> dict[str, str]:
    return {name: compiled(name) for name in SOURCES}


def test_objects_at_other_addresses_change_nothing(first: dict[str, str]) -> None:
    held: list[object] = []
    for number, name in enumerate(SOURCES):
        for again in range(3):
            # Objects of a compiler's sizes, some kept and some given back, move those of the next compile.
            held.append([object() for _ in range(97 * again + 13 * number)])
            held.append(loom.parse((ROOT / SOURCES[(number + again) % len(SOURCES)]).read_text(encoding="utf-8"), "x"))
            del held[:: 2 + again]
            assert compiled(name) == first[name], name


@pytest.mark.parametrize("seed", ["1", "4711"])
def test_the_hash_seed_changes_nothing(first: dict[str, str], seed: str) -> None:
    script = (
        "import json, sys\n"
        "from tests.target.amdgpu.lowering.test_reproducible import SOURCES, compiled\n"
        "json.dump({name: compiled(name) for name in SOURCES}, sys.stdout)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout) == first
