"""The corpus: valid programs print as they are, invalid ones give exactly the diagnostics written beside their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

import loom
from loom.ir.verifier import check
from tests.text.corpus import CORPUS, VALID, InvalidCase, diagnostics_of, invalid_cases


@pytest.mark.parametrize("path", VALID, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_valid_programs_verify_and_print_as_they_stand(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    module = loom.parse(text, path.name)
    assert check(module) == []
    printed = loom.print_module(module)
    assert printed == text
    again = loom.parse(printed, path.name)
    assert loom.print_module(again) == printed
    assert again.semantic_hash() == module.semantic_hash()
    copy = module.clone()
    assert loom.print_module(copy) == text
    assert check(copy) == []


def test_the_twelve_appendix_programs_are_there() -> None:
    assert len(list((CORPUS / "appendix").glob("*.loom"))) == 12


@pytest.mark.parametrize("path", sorted((CORPUS / "older").glob("*.expected.loom")), ids=lambda p: p.stem)
def test_older_spellings_print_as_the_newest(path: Path) -> None:
    older = path.with_name(path.name.replace(".expected", ""))
    module = loom.parse(older.read_text(encoding="utf-8"), older.name)
    assert check(module) == []
    assert loom.print_module(module) == path.read_text(encoding="utf-8")


ROOT = CORPUS.parents[1]
#: Every other program of the repository: sources of workloads and benchmarks, generated oracles, checked programs.
KEPT = sorted(
    path for folder in ("benchmarks", "workloads", "tests/corpus/checks") for path in (ROOT / folder).rglob("*.loom")
)


@pytest.mark.parametrize("path", KEPT, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_kept_program_is_canonical(path: Path) -> None:
    """``loom-format --check`` has nothing to say of it."""
    text = path.read_text(encoding="utf-8")
    module = loom.parse(text, path.name)
    loom.verify(module)
    assert loom.print_module(module) == text


def test_no_program_is_left_out() -> None:
    ours = {CORPUS / "invalid", CORPUS / "older", *(path.parent for path in [*KEPT, *VALID])}
    folders = ("benchmarks", "docs", "loom", "tests", "workflow", "workloads")
    assert {path.parent for folder in folders for path in (ROOT / folder).rglob("*.loom")} <= ours


@pytest.mark.parametrize("case", list(invalid_cases()), ids=lambda c: c.name)
def test_invalid_programs_give_their_diagnostics(case: InvalidCase) -> None:
    found = diagnostics_of(case.text)
    said = [(d.location.line if d.location else 0, d.code, f"{d.message} {d.hint or ''}") for d in found]
    missing = list(case.expected)
    surplus = []
    for line, code, message in said:
        match = next((e for e in missing if e[0] == line and e[1] == code and e[2] in message), None)
        if match is None:
            surplus.append((line, code, message))
        else:
            missing.remove(match)
    assert not missing and not surplus, f"missing {missing}\nsurplus {surplus}"
    assert case.expected, "a case without an expected diagnostic"
