"""Hash of the sources that a tool consists of: its module and everything of this package that it can reach.

The closure is read from the syntax trees: imports at any depth, and strings that name a module of the package, which
is how registries refer to what they load on demand. Data files beside a reached module count too. A change elsewhere
leaves the hash alone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from loom.store.canonical import document_hash, sha256

PACKAGE = "loom"
ROOT = Path(__file__).resolve().parents[1]

_FROM = re.compile(r"^[ \t]*from[ \t]+(?P<base>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+(?P<names>[^\n#]+)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
_NAME = re.compile(r"\w+")
_QUOTED = re.compile(r"""["'](?P<name>loom(?:\.[A-Za-z_]\w*)+)(?::[A-Za-z_][\w.]*)?["']""")
_FORMATTED = re.compile(r"""["']\{[A-Za-z_]\w*\}\.(?P<name>[A-Za-z_][\w.]*)(?::[A-Za-z_][\w.]*)?["']""")
_FOREIGN = ("numpy", "llvmlite", "msgpack", "pyelftools")


def module_file(name: str) -> Path | None:
    """The source file of a module of this package, or ``None`` where there is no such module."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return None
    base = ROOT.joinpath(*parts[1:])
    for candidate in (base / "__init__.py", base.with_suffix(".py")) if parts[1:] else (base / "__init__.py",):
        if candidate.is_file():
            return candidate
    return None


def _packages(name: str) -> Iterator[str]:
    """A module and the packages around it, whose ``__init__`` runs before it."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])


def _mentions(source: str, module: str, is_package: bool) -> Iterator[str]:
    """Names that a source may import: modules, or a module's attribute that may be a module.

    Import statements and quoted names are found by their text, some twenty times faster than by the syntax tree; a
    test holds the
    two against each other.
    """
    for match in _FROM.finditer(source):
        base = match["base"]
        level = len(base) - len(base.lstrip("."))
        if level:
            parts = module.split(".")
            parts = parts[: len(parts) - level + (1 if is_package else 0)]
            base = ".".join([*parts, base[level:]] if base[level:] else parts)
        yield base
        for name in _NAME.findall(_COMMENT.sub("", match["names"])):
            yield f"{base}.{name}"
    for match in _IMPORT.finditer(source):
        yield from (word.split()[0] for word in match["names"].split(",") if word.strip())
    for match in _QUOTED.finditer(source):
        yield match["name"]
    for match in _FORMATTED.finditer(source):
        # f"{_HERE}.name:attribute": a module of the same package
        yield f"{module if is_package else module.rpartition('.')[0]}.{match['name']}"


@functools.cache
def _reached_from(module: str) -> tuple[str, ...]:
    """Modules of the package that a module mentions and that exist."""
    path = module_file(module)
    if path is None:
        return ()
    found = set()
    for name in _mentions(path.read_text(encoding="utf-8"), module, path.name == "__init__.py"):
        if name.split(".")[0] == PACKAGE:
            for part in _packages(_DOORS.get(name, name)):
                if module_file(part) is not None:
                    found.add(part)
    return tuple(sorted(found - {module}))


#: The front door: whoever takes one of these from the package itself reads text, and with it every dialect and target.
_DOORS = {f"{PACKAGE}.{name}": f"{PACKAGE}.text.parser" for name in ("parse", "print_module", "verify")}
#: The package's own ``__init__`` names all dialects; it counts for those only who read text.
_READER = f"{PACKAGE}.text.parser"

#: Registries that name every tool or subcommand: following them from one tool would reach all of them.
BOUNDARIES = frozenset({"loom.tools.raise_commands", "loom.tools.loom_raise"})


@functools.cache
def closure(module: str) -> tuple[str, ...]:
    """Every module of the package that ``module`` can reach, itself included, sorted."""
    seen: set[str] = set()
    pending = [name for name in _packages(module) if module_file(name) is not None]
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        if name == _READER:
            pending.extend(_reached_from(PACKAGE))
        if name not in BOUNDARIES and name != PACKAGE:
            pending.extend(_reached_from(name))
    return tuple(sorted(seen))


@functools.cache
def source_hash(module: str) -> str:
    """SHA-256 that changes when a source or data file that ``module`` can reach changes, or a library it computes
    with.
    """
    files: dict[str, str] = {}
    folders: set[Path] = set()
    for name in closure(module):
        path = module_file(name)
        assert path is not None
        if name in BOUNDARIES:
            continue
        files[name] = sha256(path.read_bytes())
        folders.add(path.parent)
    for folder in folders:
        for data in sorted(folder.iterdir()):
            if data.is_file() and data.suffix not in (".py", ".pyc", ".tmp") and not data.name.startswith("."):
                files[str(data.relative_to(ROOT))] = sha256(data.read_bytes())
    versions = {}
    for library in _FOREIGN:
        try:
            versions[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            versions[library] = ""
    return document_hash({"files": files, "libraries": versions})


def package_hash() -> str:
    """SHA-256 over every source and data file of the package: cheap, and different whenever any tool's could be."""
    files = {
        str(path.relative_to(ROOT)): sha256(path.read_bytes())
        for path in sorted(ROOT.rglob("*"))
        if path.is_file() and path.suffix not in (".pyc", ".tmp") and "__pycache__" not in path.parts
    }
    return document_hash(files)
