"""Continuous integration installs every command that the tests compare with."""

from __future__ import annotations

import re
from pathlib import Path

_COMMAND = re.compile(r"\b[a-z][a-z.-]*-22\b")


def test_every_oracle_is_installed_by_continuous_integration(repository: Path) -> None:
    script = (repository / ".ci" / "run").read_text()
    installed = dict(re.findall(r"\b[a-z0-9-]+:([a-z0-9.-]+)()", script))
    assert {"clang-22", "chromium"} <= set(installed)
    asked = {
        command: str(path.relative_to(repository))
        for path in sorted((repository / "tests").rglob("*.py"))
        for command in _COMMAND.findall(path.read_text())
        if path != Path(__file__)
    }
    assert {"llvm-mc-22", "clang-offload-bundler-22"} <= set(asked)
    assert {command: where for command, where in asked.items() if command not in installed} == {}
