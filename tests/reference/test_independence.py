"""The interpreter stands alone: no code generation library, nothing of the compiler's lowering."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_runs_without_llvmlite() -> None:
    program = ROOT / "tests/corpus/appendix/06_bump.loom"
    script = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "from loom.tools.iree_test_loom import run\n"
        f"code = run([{str(program)!r}, '--device=reference'])\n"
        "assert not any(name.startswith('llvmlite.') for name in sys.modules)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_shares_nothing_with_the_lowering() -> None:
    # What an instruction key means: the instruction table's names.
    allowed = {f"loom.target.amdgpu.descriptor_set.{part}" for part in ("resolution", "sets")}
    for path in (ROOT / "loom/reference").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            for name in names:
                assert not name.startswith(("loom.transform", "llvmlite")), (path.name, name)
                assert not name.startswith("loom.target") or name in allowed, (path.name, name)
                assert not name.startswith("loom.low") or name.startswith("loom.low.semantics"), (path.name, name)
