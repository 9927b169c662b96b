"""What every test shares: test oracles that may be absent, and the long sweeps of ``make test-full``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

# Every compile of the tests is checked independently: values, waits, hazards (docs/backend.md).
os.environ.setdefault("LOOM_CHECK_COMPILES", "1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long sweeps to ``make test-full``: they are deselected, not skipped."""
    if os.environ.get("LOOM_TEST_FULL") == "1":
        return
    long = [item for item in items if item.get_closest_marker("full")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


@pytest.fixture
def repository() -> Path:
    """Root of the source tree."""
    return REPOSITORY


@pytest.fixture
def oracle() -> Callable[[str], str]:
    """``oracle("llvm-mc-22")`` gives the path of a test oracle.

    Where it is absent the test is listed as ``not verified here``, or fails under ``LOOM_REQUIRE_ORACLES=1``.
    """

    def find(command: str) -> str:
        path = shutil.which(command)
        if path is not None:
            return path
        if os.environ.get("LOOM_REQUIRE_ORACLES") == "1":
            pytest.fail(f"the test oracle {command} is absent and LOOM_REQUIRE_ORACLES=1")
        pytest.skip(f"not verified here: {command} is absent")

    return find


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what absent oracles left unverified."""
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if "not verified here" in reason:
            key = reason.partition("not verified here")[2].strip(" :")
            reasons[key] = reasons.get(key, 0) + 1
    if reasons:
        terminalreporter.section("not verified here")
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count} tests: {reason}")
