"""What the corpus reaches: every op, every place that reports a diagnostic, every diagnostic code."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import loom
from loom.ir import all_definitions
from loom.ir.codes import CODES
from tests.text.corpus import CORPUS, VALID, diagnostics_of, invalid_cases
from tests.text.hostile_inputs import HOSTILE

ROOT = Path(loom.__file__).resolve().parent
RULE_FILES = sorted([*(ROOT / "dialect/rules").glob("*.py"), ROOT / "dialect/symbols.py", ROOT / "ir/verifier.py"])
TEXT_FILES = sorted((ROOT / "text").glob("*.py"))
_REPORTING = ("report", "fail", "bad_word", "TypeTextError", "StringError", "expected")


def reporting_lines(path: Path) -> dict[int, str]:
    """Return the first line of every statement that reports, and its text."""
    lines: dict[int, str] = {}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr | ast.Raise) and (call := node.value if isinstance(node, ast.Expr) else node.exc):
            if not isinstance(call, ast.Call):
                continue
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in _REPORTING and call.args:
                lines[node.lineno] = ast.unparse(call)[:100]
    return lines


def trace_lines(paths: list[Path], run: Callable[[], object]) -> set[tuple[str, int]]:
    """Run a function and return the (file, line) pairs executed in the given files."""
    names = {str(p) for p in paths}
    seen: set[tuple[str, int]] = set()

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        return local if frame.f_code.co_filename in names else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return seen


def run_invalid() -> None:
    for case in invalid_cases():
        diagnostics_of(case.text)


def run_hostile() -> None:
    for text, _ in HOSTILE.values():
        diagnostics_of(text)


def run_built() -> None:
    from tests.ir.test_verifier import BROKEN

    for build in BROKEN.values():
        build()


def unreached(paths: list[Path], *runs: Callable[[], object]) -> Iterator[str]:
    seen: set[tuple[str, int]] = set()
    for run in runs:
        seen |= trace_lines(paths, run)
    for path in paths:
        for line, text in reporting_lines(path).items():
            if (str(path), line) not in seen:
                yield f"{path.relative_to(ROOT)}:{line}: {text}"


def test_every_op_stands_in_a_valid_program() -> None:
    used: set[str] = set()
    for path in VALID:
        used.update(op.name for op in loom.parse(path.read_text(encoding="utf-8"), path.name).walk())
    declared = {d.name for d in all_definitions()}
    assert declared - used == set(), f"{len(declared - used)} of {len(declared)} ops are not reached"


def test_every_rule_is_broken_by_some_module() -> None:
    missing = list(unreached(RULE_FILES, run_invalid, run_built))
    total = sum(len(reporting_lines(p)) for p in RULE_FILES)
    assert total > 200
    assert missing == [], f"{len(missing)} of {total} rules are not reached:\n" + "\n".join(missing)


def test_every_syntax_diagnostic_is_given_by_some_text() -> None:
    missing = list(unreached(TEXT_FILES, run_invalid, run_hostile))
    total = sum(len(reporting_lines(p)) for p in TEXT_FILES)
    assert total > 100
    assert missing == [], f"{len(missing)} of {total} places are not reached:\n" + "\n".join(missing)


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_is_expected_somewhere(code: str) -> None:
    texts = [p.read_text(encoding="utf-8") for p in (CORPUS / "invalid").glob("*.loom")]
    texts.append((Path(__file__).parents[1] / "ir/test_verifier.py").read_text(encoding="utf-8"))
    texts.append((Path(__file__).parent / "test_hostile.py").read_text(encoding="utf-8"))
    assert any(code in text for text in texts)


def test_the_corpus_gives_no_undeclared_code() -> None:
    for case in invalid_cases():
        for _, code, _ in case.expected:
            assert code in CODES
