"""Every semantic operation is evaluated by a test that has its value from elsewhere than the code under test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from loom.low.semantics.table import OPERATIONS

HERE = Path(__file__).parent
#: These compare implementations with one another, or names; all other files here state values of their own.
COMPARING = {"test_backends_agree.py", "test_completeness.py"}


def test_every_operation_has_a_value_of_its_own(tmp_path: Path) -> None:
    files = sorted(str(p) for p in HERE.glob("test_*.py") if p.name not in COMPARING)
    seen = tmp_path / "seen.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.low.semantics.recorder",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
    ]
    run = subprocess.run(
        [*command, *files], cwd=HERE.parents[2], env={**os.environ, "OPERATIONS_SEEN": str(seen)}, capture_output=True, text=True,
        timeout=1200,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-2000:]
    assert sorted(set(OPERATIONS) - set(json.loads(seen.read_text(encoding="utf-8")))) == []
