"""Workloads: what a native kernel computes, on which inputs, and which source forms raise it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loom.diagnostics import Diagnostic, Location, LoomError, error
from loom.store.canonical import differing_fields, document_hash, sha256
from loom.store.expression import Number, evaluate
from loom.store.schema import load_yaml, pointer, validate

Locations = Mapping[tuple[str | int, ...], Location]

#: Bytes of an element of each argument type.
ELEMENT_BYTES = {
    "i8": 1,
    "u8": 1,
    "i16": 2,
    "u16": 2,
    "f16": 2,
    "bf16": 2,
    "i32": 4,
    "u32": 4,
    "f32": 4,
    "i64": 8,
    "u64": 8,
    "f64": 8,
}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the native kernel for one shape.

    ``shape`` counts elements per axis (buffers); ``value`` is a scalar's number; ``generate`` says what fills a buffer.
    """

    name: str
    kind: str
    type: str
    shape: tuple[int, ...] = ()
    value: Number | None = None
    generate: Mapping[str, Any] = field(default_factory=dict)

    @property
    def elements(self) -> int:
        """Number of elements of a buffer."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def bytes(self) -> int:
        """Bytes of a buffer."""
        return self.elements * ELEMENT_BYTES[self.type]


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch geometry: workgroups and work-items per workgroup along x, y, z, and bytes of dynamic LDS."""

    workgroups: tuple[int, int, int]
    workgroup_size: tuple[int, int, int]
    dynamic_lds: int = 0


@dataclass(frozen=True, slots=True)
class Shape:
    """One production shape or tail with its arguments and launch resolved to numbers."""

    name: str
    kind: str
    parameters: Mapping[str, Number]
    arguments: tuple[Argument, ...]
    launch: Launch
    case: str
    benchmark: str

    def argument(self, name: str) -> Argument:
        """Return the argument ``name``; raises :class:`KeyError`."""
        for argument in self.arguments:
            if argument.name == name:
                return argument
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Form:
    """A source form: which one responsibility it raises, and how workload arguments feed its launch parameters."""

    name: str
    source: str
    root: str
    raises: str
    workload: tuple[str | Number, ...]
    arguments: tuple[str | Number, ...]
    launch: Mapping[str, Any]
    config: Mapping[str, Any]


@dataclass(frozen=True)
class Workload:
    """A loaded and checked ``workload.yaml``."""

    path: Path
    document: Mapping[str, Any]
    locations: Locations

    @property
    def folder(self) -> Path:
        """The folder that relative paths in the file start from."""
        return self.path.parent

    @property
    def name(self) -> str:
        """The workload's name, the same as its folder's in ``workloads/``."""
        return str(self.document["name"])

    @property
    def target(self) -> str:
        """``family:processor`` of the native artifact."""
        return str(self.document["target"])

    @property
    def kernel(self) -> str:
        """Name of the native kernel in its artifact."""
        return str(self.document["native"]["kernel"])

    @property
    def artifact(self) -> Path:
        """Path of the native artifact."""
        return self.folder / str(self.document["native"]["artifact"])

    @property
    def outputs(self) -> Mapping[str, Mapping[str, Any]]:
        """Output buffer name → comparison policy."""
        outputs: Mapping[str, Mapping[str, Any]] = self.document["outputs"]
        return outputs

    @functools.cached_property
    def forms(self) -> tuple[Form, ...]:
        """The source forms in raising order."""
        return tuple(
            Form(
                form["name"],
                form["source"],
                form["root"],
                form["raises"],
                tuple(form.get("workload", ())),
                tuple(form["arguments"]),
                form.get("launch", {}),
                form.get("config", {}),
            )
            for form in self.document["forms"]
        )

    def form(self, name: str) -> Form:
        """Return the form ``name``; raises ``WORKLOAD/002`` naming the forms there are."""
        for form in self.forms:
            if form.name == name:
                return form
        hint = f"forms: {', '.join(form.name for form in self.forms)}"
        raise error(f"workload '{self.name}' has no form '{name}'", "WORKLOAD/002", Location(str(self.path)), hint=hint)

    @functools.cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Every shape, resolved; the first one is what single runs use."""
        return tuple(self._shape(index) for index in range(len(self.document["shapes"])))

    def shape(self, name: str | None = None) -> Shape:
        """Return the shape ``name``, or the first one; raises ``WORKLOAD/002`` naming the shapes there are."""
        if name is None:
            return self.shapes[0]
        for shape in self.shapes:
            if shape.name == name:
                return shape
        hint = f"shapes: {', '.join(shape.name for shape in self.shapes)}"
        raise error(
            f"workload '{self.name}' has no shape '{name}'", "WORKLOAD/002", Location(str(self.path)), hint=hint
        )

    def place(self, *path: str | int) -> Location:
        """Source place of a path in the file."""
        at = path
        while at and at not in self.locations:
            at = at[:-1]
        return self.locations.get(at, Location(str(self.path)))

    def _integer(self, text: str | Number, names: Mapping[str, Number], *path: str | int) -> int:
        value = evaluate(text, names, self.place(*path))
        if not isinstance(value, int):
            raise error(f"{pointer(path)} is {value}, which is not an integer", "WORKLOAD/003", self.place(*path))
        return value

    def _triple(self, values: Any, names: Mapping[str, Number], *path: str | int) -> tuple[int, int, int]:
        numbers = [self._integer(value, names, *path, index) for index, value in enumerate(values)]
        for number in numbers:
            if number < 1:
                raise error(
                    f"{pointer(path)} is {numbers}; every extent must be positive", "WORKLOAD/003", self.place(*path)
                )
        return numbers[0], numbers[1], numbers[2]

    def _shape(self, index: int) -> Shape:
        entry = self.document["shapes"][index]
        names: dict[str, Number] = {**self.document["parameters"], **entry.get("parameters", {})}
        arguments = []
        for position, argument in enumerate(self.document["arguments"]):
            at = ("arguments", position)
            shape = tuple(
                self._integer(extent, names, *at, "shape", axis)
                for axis, extent in enumerate(argument.get("shape", ()))
            )
            value = evaluate(argument["value"], names, self.place(*at, "value")) if "value" in argument else None
            arguments.append(
                Argument(
                    argument["name"],
                    argument["kind"],
                    argument.get("type", ""),
                    shape,
                    value,
                    argument.get("generate", {}),
                )
            )
        launch = self.document["launch"]
        geometry = Launch(
            self._triple(launch["workgroups"], names, "launch", "workgroups"),
            self._triple(launch["workgroup_size"], names, "launch", "workgroup_size"),
            self._integer(launch.get("dynamic_lds", 0), names, "launch", "dynamic_lds"),
        )
        return Shape(entry["name"], entry["kind"], names, tuple(arguments), geometry, entry["case"], entry["benchmark"])

    def form_launch(self, form: Form, shape: Shape) -> Launch:
        """Launch geometry of a form: its own where it says so, else the native one without dynamic LDS."""
        workgroups, size = shape.launch.workgroups, shape.launch.workgroup_size
        if "workgroups" in form.launch:
            workgroups = self._triple(form.launch["workgroups"], shape.parameters, "forms")
        if "workgroup_size" in form.launch:
            size = self._triple(form.launch["workgroup_size"], shape.parameters, "forms")
        return Launch(workgroups, size)

    @functools.cached_property
    def identity_document(self) -> dict[str, Any]:
        """What the identity covers: cut, inputs, outputs and policy, launch geometry, target, timing boundary."""
        files = {
            generate["path"]: sha256((self.folder / generate["path"]).read_bytes())
            for generate in (argument.get("generate", {}) for argument in self.document["arguments"])
            if generate.get("kind") == "file"
        }
        shapes = [
            {
                "name": shape.name,
                "kind": shape.kind,
                "parameters": dict(shape.parameters),
                "arguments": [
                    {
                        "name": a.name,
                        "kind": a.kind,
                        "type": a.type,
                        "shape": list(a.shape),
                        "value": a.value,
                        "generate": dict(a.generate),
                    }
                    for a in shape.arguments
                ],
                "workgroups": list(shape.launch.workgroups),
                "workgroup_size": list(shape.launch.workgroup_size),
                "dynamic_lds": shape.launch.dynamic_lds,
            }
            for shape in self.shapes
        ]
        return {
            "semantic_cut": " ".join(self.document["semantic_cut"].split()),
            "kernel": self.kernel,
            "target": self.target,
            "shapes": shapes,
            "files": files,
            "outputs": {name: dict(policy) for name, policy in self.outputs.items()},
            "timing_boundary": self.document["timing_boundary"],
        }

    @property
    def identity(self) -> str:
        """SHA-256 of the canonical JSON of :attr:`identity_document`."""
        return document_hash(self.identity_document)


def load_workload(path: str | Path, check_files: bool = True) -> Workload:
    """Read and check a ``workload.yaml``; with ``check_files`` its native artifact must be there.

    Raises ``SCHEMA/001`` and ``SCHEMA/002`` for what the schema refuses and ``WORKLOAD/001`` for what contradicts
    itself, each with its line and column.
    """
    where = Path(path)
    document, locations = load_yaml(where)
    if not isinstance(document, dict):
        raise error("a workload is a mapping", "SCHEMA/001", Location(str(where)))
    validate(document, "workload", str(where), locations)
    workload = Workload(where, document, locations)
    found = list(_contradictions(workload, check_files))
    if found:
        raise LoomError(found)
    _ = workload.shapes
    return workload


def _contradictions(workload: Workload, check_files: bool) -> list[Diagnostic]:
    found: list[Diagnostic] = []

    def report(message: str, *path: str | int, hint: str | None = None) -> None:
        found.append(Diagnostic(message, "WORKLOAD/001", workload.place(*path), hint=hint))

    document = workload.document
    seen: set[str] = set()
    for index, argument in enumerate(document["arguments"]):
        name, kind, at = argument["name"], argument["kind"], ("arguments", index)
        if name in seen:
            report(f"argument '{name}' is repeated", *at)
        seen.add(name)
        needed = {"buffer": ("type", "shape"), "scalar": ("type", "value"), "null": ()}[kind]
        for key in needed:
            if key not in argument:
                report(f"{kind} argument '{name}' lacks '{key}'", *at)
        for key in set(argument) - {"name", "kind", *needed} - ({"generate"} if kind == "buffer" else set()):
            report(f"'{key}' has no meaning for the {kind} argument '{name}'", *at, key)
        generate = argument.get("generate", {})
        wanted = {"fill": ("value",), "iota": ("offset", "step"), "uniform": ("seed", "low", "high"), "file": ("path",)}
        for key in wanted.get(generate.get("kind", ""), ()):
            if key not in generate:
                report(f"generator '{generate['kind']}' of '{name}' lacks '{key}'", *at, "generate")
        if generate.get("kind") == "file" and "path" in generate and not (workload.folder / generate["path"]).is_file():
            report(f"the input file '{generate['path']}' is absent", *at, "generate", "path")
    buffers = {a["name"] for a in document["arguments"] if a["kind"] == "buffer"}
    for name, policy in document["outputs"].items():
        if name not in buffers:
            report(
                f"output '{name}' is no buffer argument", "outputs", name, hint=f"buffers: {', '.join(sorted(buffers))}"
            )
        if policy["policy"] == "ulp" and "ulp" not in policy:
            report(f"the policy of '{name}' lacks 'ulp'", "outputs", name)
    for group in ("shapes", "forms"):
        names: set[str] = set()
        for index, entry in enumerate(document[group]):
            if entry["name"] in names:
                report(f"{group[:-1]} '{entry['name']}' is repeated", group, index, "name")
            names.add(entry["name"])
    for index, shape in enumerate(document["shapes"]):
        for key in set(shape.get("parameters", {})) - set(document["parameters"]):
            report(f"shape '{shape['name']}' sets the unknown parameter '{key}'", "shapes", index, "parameters", key)
    if not any(shape["kind"] == "production" for shape in document["shapes"]):
        report("no shape has the kind 'production'", "shapes")
    artifact = document["native"]["artifact"]
    if check_files and not (workload.folder / artifact).is_file():
        report(f"the native artifact '{artifact}' is absent", "native", "artifact")
    return found


def refuse_foreign_identity(left: Mapping[str, Any], right: Mapping[str, Any], what: str = "these records") -> None:
    """Refuse to join two identity documents that differ, naming each such field (``WORKLOAD/004``)."""
    fields = list(differing_fields(left, right))
    if fields:
        notes = [f"{path}: {a!r} against {b!r}" for path, a, b in fields[:20]]
        raise error(
            f"{what} belong to different workloads",
            "WORKLOAD/004",
            notes=notes,
            hint="capture both for one workload.yaml",
        )
