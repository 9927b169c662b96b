"""Op definitions by name. Dialects are loaded when the first of their ops is met."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from loom.ir.definition import OpDefinition

_DEFINITIONS: dict[str, OpDefinition] = {}
_PROVIDERS: dict[str, list[str]] = {}
_LOADED: set[str] = set()


def register_dialect(prefix: str, module: str) -> None:
    """Say that ops named ``prefix.…`` are declared by the Python module ``module``, to be imported on first use."""
    modules = _PROVIDERS.setdefault(prefix, [])
    if module not in modules:
        modules.append(module)


def register_operation(definition: OpDefinition) -> OpDefinition:
    """Add a definition; a second one of the same name is a programming error."""
    if definition.name in _DEFINITIONS:
        raise ValueError(f"{definition.name} is declared twice")
    _DEFINITIONS[definition.name] = definition
    return definition


def load_dialect(prefix: str) -> bool:
    """Import the declarations behind ``prefix``; return whether there are any."""
    modules = _PROVIDERS.get(prefix)
    if modules is None:
        return False
    if prefix not in _LOADED:
        _LOADED.add(prefix)
        for module in list(modules):
            importlib.import_module(module)
    return True


def lookup(name: str) -> OpDefinition | None:
    """Return the definition of that op, or None."""
    found = _DEFINITIONS.get(name)
    if found is not None:
        return found
    prefix = name.partition(".")[0]
    if prefix not in _LOADED and load_dialect(prefix):
        return _DEFINITIONS.get(name)
    return None


def all_definitions() -> Iterator[OpDefinition]:
    """Load every dialect and yield all definitions, sorted by name."""
    for prefix in sorted(_PROVIDERS):
        load_dialect(prefix)
    for name in sorted(_DEFINITIONS):
        yield _DEFINITIONS[name]


def dialect_prefixes() -> list[str]:
    """All registered op name prefixes."""
    return sorted(_PROVIDERS)
