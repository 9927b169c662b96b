"""Rooms import only the rooms before them; only tools read command lines; targets are reached through registries."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "loom"

#: docs/contracts.md, "Rooms and direction".
ORDER = [
    "diagnostics",
    "store",
    "ir",
    "text",
    "dialect",
    "transform",
    "low",
    "target",
    "simulator",
    "device",
    "reference",
    "check",
    "report",
    "raising",
    "tools",
]
FAMILIES = ("amdgpu", "x86", "nvptx")
#: Scripts that make committed data anew; they are run by hand and no tool calls them.
GENERATORS = {"loom.target.amdgpu.tables.generate.__main__"}


def modules() -> list[tuple[str, Path]]:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append((name, path))
    return found


def room_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "loom" or len(parts) == 1:
        return None
    if parts[1] == "target" and "simulator" in parts:
        return "simulator"
    return parts[1]


def imports(name: str, path: Path) -> Iterator[tuple[int, str]]:
    """Every import at any depth, those for type checkers included, as absolute module names."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
            for alias in node.names:
                # ``from loom.target.amdgpu import simulator`` imports the module of that name.
                whole = f"{base}.{alias.name}"
                is_module = (ROOT.parent / Path(*whole.split("."))).with_suffix(".py").exists()
                is_package = (ROOT.parent / Path(*whole.split(".")) / "__init__.py").exists()
                yield node.lineno, whole if is_module or is_package else base


def test_every_room_is_in_the_order() -> None:
    rooms = {room_of(name) for name, _ in modules()} - {None}
    assert rooms <= set(ORDER), f"unknown rooms: {sorted(str(room) for room in rooms - set(ORDER))}"


@pytest.mark.parametrize("room", ORDER)
def test_a_room_imports_only_rooms_before_it(room: str) -> None:
    wrong = []
    for name, path in modules():
        if room_of(name) != room:
            continue
        for line, imported in imports(name, path):
            other = room_of(imported)
            if other is not None and other in ORDER and ORDER.index(other) > ORDER.index(room):
                wrong.append(f"{path.relative_to(ROOT.parent)}:{line} imports {imported}")
    assert not wrong, "\n".join(wrong)


def test_only_tools_read_command_lines() -> None:
    wrong = [
        f"{path.relative_to(ROOT.parent)}:{line}"
        for name, path in modules()
        if room_of(name) != "tools" and name not in GENERATORS
        for line, imported in imports(name, path)
        if imported == "argparse"
    ]
    assert not wrong, "\n".join(wrong)


def test_target_neutral_rooms_import_no_target_family() -> None:
    """Rooms before ``target`` never import one of the families, whatever the registries name."""
    wrong = []
    for name, path in modules():
        room = room_of(name)
        if room is None or ORDER.index(room) >= ORDER.index("target"):
            continue
        for line, imported in imports(name, path):
            if any(imported.startswith(f"loom.target.{family}") for family in FAMILIES):
                wrong.append(f"{path.relative_to(ROOT.parent)}:{line} imports {imported}")
    assert not wrong, "\n".join(wrong)


def test_the_walk_sees_imports_at_any_depth(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("def f():\n    if True:\n        from ..check import plan\n    import loom.tools.common\n")
    found = {room_of(imported) for _, imported in imports("loom.store.m", path)}
    assert found == {"check", "tools"}


def _at_import(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module is imported: not those in functions, nor those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        yield from _at_import(child)


def _imported_at_import(path: Path, known: Mapping[str, Path]) -> set[str]:
    found = set()
    for node in _at_import(ast.parse(path.read_text(encoding="utf-8"))):
        base = node.module if isinstance(node, ast.ImportFrom) else None
        for alias in node.names:
            whole = f"{base}.{alias.name}" if base else alias.name
            found.add(whole if whole in known else base or whole)
    return found & known.keys()


def test_no_module_imports_itself_through_others() -> None:
    """Modules that import one another when they are imported work or fail by the order they are asked for."""
    known = dict(modules())
    graph = {name: _imported_at_import(path, known) - {name} for name, path in known.items()}
    assert sum(len(targets) for targets in graph.values()) > 1000
    while True:  # take away what imports nothing that is left; a circle is what stays
        free = {name for name, targets in graph.items() if not targets & graph.keys()}
        if not free:
            break
        graph = {name: targets for name, targets in graph.items() if name not in free}
    assert not graph, f"in circles, or behind one: {sorted(graph)}"
