"""The JSON Schemas of everything that is stored or configured, and validation with locations."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loom.diagnostics import Diagnostic, Location, LoomError, error

_FOLDER = Path(__file__).parent / "schemas"


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema ``name`` (a file under ``schemas``)."""
    document: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document


@functools.cache
def _validator(name: str) -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(schema(name))


def pointer(path: Sequence[str | int]) -> str:
    """Write a path into a document the way messages name it: ``forms[2].source``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text or "the document"


def _explain(failure: Any) -> tuple[str, str | None]:
    """Turn a jsonschema error into a message and a hint that name the key and what is allowed."""
    where = pointer(list(failure.absolute_path))
    kind = failure.validator
    if kind == "additionalProperties":
        import difflib

        allowed = sorted(failure.schema.get("properties", {}))
        unknown = sorted(set(failure.instance) - set(allowed))
        close = difflib.get_close_matches(str(unknown[0]), allowed, 1) if unknown else []
        hint = (f"did you mean '{close[0]}'? " if close else "") + f"allowed keys: {', '.join(allowed)}"
        return f"unknown key '{unknown[0]}' in {where}" if unknown else failure.message, hint
    if kind == "required":
        missing = sorted(set(failure.validator_value) - set(failure.instance))
        return f"{where} lacks the key '{missing[0]}'", None
    if kind == "enum":
        return f"{where} is {failure.instance!r}", f"allowed values: {', '.join(map(str, failure.validator_value))}"
    if kind == "const":
        return f"{where} is {failure.instance!r}", f"the only allowed value is {failure.validator_value!r}"
    if kind == "type":
        wanted = failure.validator_value
        names = wanted if isinstance(wanted, str) else " or ".join(wanted)
        return f"{where} is {failure.instance!r}, which is not of type {names}", None
    if kind == "pattern":
        return f"{where} is {failure.instance!r}", failure.schema.get(
            "description"
        ) or f"it must match {failure.validator_value}"
    return f"{where}: {failure.message}", None


def validate(
    document: Any, name: str, file: str = "", locations: Mapping[tuple[str | int, ...], Location] | None = None
) -> None:
    """Check a document against schema ``name``.

    Raises ``SCHEMA/001`` with one diagnostic for each error; ``locations`` maps paths in the document to source places.
    """
    failures = sorted(_validator(name).iter_errors(document), key=lambda f: [str(part) for part in f.absolute_path])
    if not failures:
        return
    diagnostics = []
    for failure in failures:
        message, hint = _explain(failure)
        path = tuple(failure.absolute_path)
        location = Location(file) if file else None
        if locations is not None:
            if failure.validator == "additionalProperties":
                unknown = sorted(set(failure.instance) - set(failure.schema.get("properties", {})))
                path = (*path, unknown[0]) if unknown else path
            while path and path not in locations:
                path = path[:-1]
            location = locations.get(path, location)
        diagnostics.append(Diagnostic(message, "SCHEMA/001", location, hint=hint))
    raise LoomError(diagnostics)


@functools.cache
def _loader_class() -> Any:
    """A safe loader that reads numbers as YAML 1.2 does: ``1e-6`` is a number there, and dates are text."""
    import re

    import yaml

    class Loader(yaml.SafeLoader):
        """Its table of plain scalars is replaced below."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":float", ":timestamp"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    number = re.compile(
        r"^[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    )
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+0123456789."))
    return Loader


def load_yaml(path: Path) -> tuple[Any, dict[tuple[str | int, ...], Location]]:
    """Read a YAML file; return the document and the source place of every path in it.

    Raises ``SCHEMA/002`` with the place for text that is not YAML, repeats a key, or has a key that is not a string.
    """
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise error(f"cannot read '{path}': {failure}", "SCHEMA/002", Location(str(path))) from None
    locations: dict[tuple[str | int, ...], Location] = {}

    def place(mark: Any) -> Location:
        return Location(str(path), mark.line + 1, mark.column + 1)

    def walk(node: Any, at: tuple[str | int, ...]) -> Any:
        locations.setdefault(at, place(node.start_mark))
        if isinstance(node, yaml.MappingNode):
            result: dict[str, Any] = {}
            for key_node, value_node in node.value:
                key = loader.construct_object(key_node)
                if not isinstance(key, str):
                    raise error(f"the key {key!r} is not a string", "SCHEMA/002", place(key_node.start_mark))
                if key in result:
                    raise error(f"the key '{key}' is repeated", "SCHEMA/002", place(key_node.start_mark))
                locations[(*at, key)] = place(key_node.start_mark)
                result[key] = walk(value_node, (*at, key))
            return result
        if isinstance(node, yaml.SequenceNode):
            return [walk(item, (*at, index)) for index, item in enumerate(node.value)]
        return loader.construct_object(node)

    loader: Any = None
    try:
        loader = _loader_class()(text)
        node = loader.get_single_node()
        return (walk(node, ()) if node is not None else None), locations
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        message = getattr(failure, "problem", None) or str(failure)
        raise error(f"not YAML: {message}", "SCHEMA/002", place(mark) if mark else Location(str(path))) from None
    finally:
        if loader is not None:
            loader.dispose()
