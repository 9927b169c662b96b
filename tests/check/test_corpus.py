"""Every program of the corpus passes on the reference executor, and together they reach every common operation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loom.check.execute import Files
from loom.check.executor import ReferenceExecutor, RunOptions
from loom.check.testing import run_tests
from loom.text import parse_module

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
PROGRAMS = sorted([*(CORPUS / "appendix").glob("*.loom"), *(CORPUS / "checks").glob("*.loom")])
CONFIG: dict[str, Any] = {"tuning.repeat": 4}

#: Common ops that no case can reach: they are records or belong to another target.
NOT_EXECUTABLE = frozenset({"x86.target"})


def run(path: Path) -> dict[str, Any]:
    module = parse_module(path.read_text(), str(path))
    libraries = tuple(
        parse_module(other.read_text(), str(other)) for other in path.parent.glob(f"{path.stem}.library/*.loom")
    )
    options = RunOptions(config=CONFIG, libraries=libraries)
    files = Files(path.parent, path.parent)
    return run_tests(module, lambda: ReferenceExecutor(module, options), options, files).to_json()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_program_passes(path: Path) -> None:
    document = run(path)
    assert document["planning_issues"] == []
    assert [sample for sample in document["samples"] if not sample["passed"]] == []
    assert document["sample_count"] > 0


def test_every_common_operation_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each op of the first tier runs in a case that passes; those that are no steps (definitions, terminators, records,
    and the check language's own) stand in a module whose cases pass."""
    import importlib
    import pkgutil
    from collections.abc import Callable

    import loom.dialect
    from loom.ir.registry import all_definitions
    from loom.reference import execution, low

    for entry in pkgutil.iter_modules(loom.dialect.__path__):
        importlib.import_module(f"loom.dialect.{entry.name}")
    common = {definition.name for definition in all_definitions() if definition.tier == "A"}
    assert len(common) == 264
    executed: set[str] = set()

    def noting(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            executed.add(name)
            return step(*arguments)

        return noted

    execution.load_operations()
    steps = set()
    for table in (execution.HANDLERS, low._SIMPLE, low._STRUCTURED):
        for name, step in list(table.items()):
            monkeypatch.setitem(table, name, noting(name, step))  # type: ignore[arg-type]
            steps.add(name)
    present: set[str] = set()
    for path in PROGRAMS:
        document = run(path)
        assert document["failed_sample_count"] == document["planning_issue_count"] == 0
        for source in (path, *path.parent.glob(f"{path.stem}.library/*.loom")):
            present |= {op.name for op in parse_module(source.read_text(), str(source)).walk()}
    assert sorted(common & steps - executed) == []
    assert sorted(common - steps - present - NOT_EXECUTABLE) == []
