"""Small programs around a body, and passes run on them by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import loom
from loom.transform.passes import PassContext, run_passes
from loom.transform.target import TargetConfiguration

TARGET = TargetConfiguration(
    family="test",
    selector="wave32",
    processor="wave32",
    descriptor_set="test.low.core",
    subgroup_size=32,
    satisfies=frozenset({"test:wave32", "test:any"}),
    capabilities={"target.subgroup.size": 32},
)


@pytest.fixture
def transformed() -> Callable[..., str]:
    """Parse a module, run passes on it, verify it and return its text."""

    def run(text: str, *passes: str, config: dict[str, object] | None = None) -> str:
        module = loom.parse(text, "test.loom")
        context = PassContext(target=TARGET, config=config or {})
        run_passes(module, passes, context)
        loom.verify(module)
        return loom.print_module(module)

    return run


@pytest.fixture
def body_after(transformed: Callable[..., str]) -> Callable[..., list[str]]:
    """Run passes on a function with that signature and body; return the body's lines without indentation."""

    def run(signature: str, body: str, *passes: str) -> list[str]:
        text = transformed(f"func.def @f{signature} {{\n{body}\n}}\n", *passes)
        return [line.strip() for line in text.strip().split("\n")[1:-1] if line.strip()]

    return run
