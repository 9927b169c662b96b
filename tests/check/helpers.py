"""Running check modules in tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loom.check.execute import Files
from loom.check.executor import Executor, ReferenceExecutor, RunOptions
from loom.check.testing import Selection, TestRun, run_tests
from loom.text import parse_module

TestRun.__test__ = False  # type: ignore[attr-defined]


def run_text(
    text: str,
    folder: Path | None = None,
    config: Mapping[str, Any] | None = None,
    selection: Selection | None = None,
    options: RunOptions | None = None,
    name: str = "test.loom",
) -> dict[str, Any]:
    """Run all checks of a module's text on the reference executor; returns the ``loom.test.v0`` document."""
    module = parse_module(text, name)
    chosen = options or RunOptions(config=dict(config or {}))

    def open_executor() -> Executor:
        return ReferenceExecutor(module, chosen)

    place = folder or Path()
    run = run_tests(module, open_executor, chosen, Files(place, place), selection)
    document = run.to_json()
    document["exit_code"] = int(run.exit_code)
    return document


def only_issue(document: Mapping[str, Any]) -> dict[str, Any]:
    """The one issue of the one sample."""
    (sample,) = document["samples"]
    (issue,) = sample["issues"]
    return dict(issue)


def kernel(body: str, parameters: str = "%out: buffer", lanes: int = 4, groups: int = 1, extra: str = "") -> str:
    """A kernel ``@k`` over ``groups`` workgroups of ``lanes`` workitems with the usual constants."""
    return f"""{extra}
kernel.def @k() {{
  %one = index.constant 1 : index
  %lanes = index.constant {lanes} : index
  %groups = index.constant {groups} : index
  kernel.launch.config workgroups(%groups, %one, %one) workgroup_size(%lanes, %one, %one) : index
}} launch({parameters}) {{
  %i = kernel.workitem.id<x> : index
  %origin = index.constant 0 : offset
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
{body}
  kernel.return
}}
"""


def launch_case(tensor: str = "tensor<4xi32>", expected: int | None = None) -> str:
    """A case that launches ``@k`` on one tensor of zeros."""
    check = ""
    if expected is not None:
        check = f"""  %e = check.generate.fill value({expected}) : {tensor}
  check.expect.equal actual(%t) expected(%e) : {tensor}
"""
    return f"""
check.case public @c {{
  %t = check.generate.fill value(0) : {tensor}
  kernel.launch @k(%t) : ({tensor})
{check}  check.return
}}
"""
