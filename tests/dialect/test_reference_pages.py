"""The generated reference is what the declarations give, and its examples are Loom text."""

from __future__ import annotations

from pathlib import Path

import pytest

import loom
from loom.diagnostics import LoomError
from loom.dialect.reference_pages import example_of, pages
from loom.ir import OpDefinition, all_definitions

FOLDER = Path(__file__).resolve().parents[2] / "docs/reference"
DEFINITIONS = list(all_definitions())


def test_the_pages_are_not_stale() -> None:
    made = pages()
    found = {p.name: p.read_text(encoding="utf-8") for p in FOLDER.glob("*.md")}
    stale = sorted(n for n in made.keys() | found.keys() if made.get(n) != found.get(n))
    assert stale == [], "run: python -m loom.dialect.reference_pages docs/reference"


def test_every_op_has_a_section() -> None:
    text = "".join(pages().values())
    for definition in DEFINITIONS:
        assert f"### {definition.name}\n" in text


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.name)
def test_examples_parse(definition: OpDefinition) -> None:
    text = example_of(definition)
    assert text
    if "module_level" not in definition.traits:
        text = f"func.def @example() {{\n{text}\n  func.return\n}}\n"
    try:
        module = loom.parse(text)
    except LoomError as failure:
        # Values that the example only mentions are undefined; nothing else may be wrong.
        assert {d.code for d in failure.diagnostics} <= {"NAME/001", "NAME/003"}, failure
    else:
        assert any(op.name == definition.name for op in module.walk())


def test_tiers_are_as_the_reference_counts_them() -> None:
    tiers = [d.tier for d in DEFINITIONS]
    assert set(tiers) == {"A", "B", "C"}
    assert len(tiers) == len(set(d.name for d in DEFINITIONS))
