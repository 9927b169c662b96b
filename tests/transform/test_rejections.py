"""Every refusal of the compile path names the op, its place, what is missing, and the nearest form that works.

The sites are read from the source: what cannot be said through :func:`loom.transform.rejection.rejection` needs a
reason in ``WITHOUT_OP``. That a refusal arrives with all four parts is tried in test_refusals.py, site by site.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import loom as package
from loom.text import parse_module
from loom.transform.rejection import NoForm, rejection

ROOT = Path(package.__file__).parent
PLACES = (
    *sorted((ROOT / "transform").glob("*.py")),
    *sorted((ROOT / "target" / "amdgpu" / "lowering").glob("*.py")),
    ROOT / "low" / "inline.py",
    ROOT / "target" / "amdgpu" / "structured.py",
    ROOT / "target" / "amdgpu" / "compile.py",
    ROOT / "target" / "amdgpu" / "build.py",
)

#: Files that see an instruction or a value, not its op: their errors name it, its place, and what to do.
BACKEND = (
    *(ROOT / "target" / "amdgpu" / f"{name}.py" for name in ("emit", "kernel")),
    *sorted((ROOT / "target" / "amdgpu" / "descriptor_set").glob("*.py")),
    *(ROOT / "low" / f"{name}.py" for name in ("allocate", "coalesce")),
)

#: Errors about something that is no op of the text.
WITHOUT_OP = {
    "LINK/002": "--root names nothing",
    "TARGET/001": "--target names no family",
    "TARGET/002": "--target is malformed",
    "TARGET/006": "neither the module nor the command line names a target",
    "PASS/001": "--pipeline names no pass",
    "PASS/002": "--dump-before or --dump-after names no pass of the pipeline",
    "PASS/003": "--pipeline names no pass.pipeline",
    "BACKEND/004": "an instruction that the ABI step makes, of which the processor has none",
    "BACKEND/040": "the module has no kernel",
}


def calls(path: Path, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
            if name in names:
                yield node


def codes(node: ast.AST) -> list[str]:
    return [
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str) and "/" in n.value
    ]


def says_something(node: ast.expr) -> bool:
    """Whether an argument is a text of at least two words, as far as the source shows; a value in it is a word."""
    nodes = list(ast.walk(node))
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    if not texts:
        return True
    values = sum(isinstance(n, ast.FormattedValue) for n in nodes)
    return sum(len(text.split()) for text in texts) + values > 1


def sites() -> list[tuple[Path, ast.Call]]:
    return [(path, call) for path in PLACES for call in calls(path, "rejection", "reject")]


def test_there_are_many_sites() -> None:
    assert len(sites()) > 60


@pytest.mark.parametrize("path", PLACES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_nothing_is_refused_without_an_op(path: Path) -> None:
    for call in calls(path, "error"):
        if path.name == "rejection.py":
            continue
        found = [c for c in codes(call) if c.split("/")[-1].isdigit()]
        assert found and found[0] in WITHOUT_OP, f"{path.name}:{call.lineno}: use rejection(), or give a reason"
        assert any(keyword.arg == "hint" for keyword in call.keywords), f"{path.name}:{call.lineno}: no hint"


@pytest.mark.parametrize("path", BACKEND, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_the_backend_says_what_to_do(path: Path) -> None:
    for call in calls(path, "error"):
        found = [c for c in codes(call) if c.split("/")[-1].isdigit()]
        if found[:1] == ["BACKEND/004"]:
            continue  # A table without an instruction that the compiler itself asks for: a defect, not a refusal.
        hints = [keyword.value for keyword in call.keywords if keyword.arg == "hint"]
        assert hints and says_something(hints[0]), f"{path.name}:{call.lineno}: no hint"


def test_every_site_says_what_is_missing_and_what_works() -> None:
    for path, call in sites():
        place = f"{path.name}:{call.lineno}"
        assert len(call.args) >= 4, place
        assert says_something(call.args[1]), place
        assert says_something(call.args[3]), place


def test_every_table_without_an_entry_says_what_works() -> None:
    for path in PLACES:
        for call in calls(path, "NoForm"):
            assert len(call.args) == 2 and all(says_something(a) for a in call.args), f"{path.name}:{call.lineno}"


def test_the_four_parts() -> None:
    module = parse_module("func.def @f(%x: i32) {\n  %y = scalar.negi %x : i32\n  func.return\n}\n", "f.loom")
    op = module.operations[0].body().first
    assert op is not None
    (diagnostic,) = rejection(op, "it is not there", "GROUP/001", "write another").diagnostics
    assert diagnostic.message == "scalar.negi: it is not there"
    assert diagnostic.location is not None and (diagnostic.location.file, diagnostic.location.line) == ("f.loom", 2)
    assert (diagnostic.code, diagnostic.hint) == ("GROUP/001", "write another")
    (named,) = rejection(module.operations[0], "it is not there", "GROUP/001", "write another").diagnostics
    assert named.message == "func.def @f: it is not there"
    assert NoForm("no", "yes").nearest == "yes"
