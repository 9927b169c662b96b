"""A new workload from a native kernel: what its metadata says is filled in, what only its author knows is marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loom.diagnostics import error
from loom.raising.resources import kernel_metadata, kernel_names

_QUESTIONS = (
    ("Output ownership", "Which work-item writes which element, and can two of them meet?"),
    ("Memory traffic", "Which bytes are read and written how often, and how wide are the accesses?"),
    ("Fragment representation", "Which lane and register holds which part of a tile?"),
    ("Dependency latency", "Which result is awaited by what, and what runs meanwhile?"),
    ("Synchronization", "Who waits for whom, where, and which memory does it publish?"),
    ("Resource lifetime", "From where to where do registers, LDS and outstanding loads live?"),
)

_TYPE_OF_SIZE = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """An explicit argument of the kernel: name, whether it is a pointer, and its size in bytes."""

    name: str
    pointer: bool
    size: int


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Files of a new workload by relative name, and what remains to be done by hand."""

    files: dict[str, bytes]
    todo: tuple[str, ...]


def workload_name(text: str) -> str:
    """A legal workload name made of a kernel's."""
    name = re.sub(r"[^a-z0-9_]+", "_", text.lower()).strip("_") or "kernel"
    return name if name[0].isalpha() else f"k_{name}"


def choose_kernel(code_object: bytes, kernel: str | None) -> str:
    """The kernel that was asked for, or the only one. Raises ``NEW/001`` naming those there are."""
    names = kernel_names(code_object)
    if kernel is None and len(names) == 1:
        return names[0]
    if kernel in names:
        return str(kernel)
    what = f"no kernel '{kernel}'" if kernel else f"{len(names)} kernels"
    raise error(f"the code object has {what}", "NEW/001", hint=f"--kernel= one of: {', '.join(names)}")


def parameters(entry: dict[str, Any]) -> list[Parameter]:
    """The explicit arguments of a kernel's metadata, in order of their offsets."""
    found: list[Parameter] = []
    for argument in sorted(entry.get(".args", ()), key=lambda item: int(item[".offset"])):
        kind = argument[".value_kind"]
        if kind.startswith("hidden_"):
            continue
        name = workload_name(argument.get(".name") or f"arg{len(found)}")
        found.append(Parameter(name, kind != "by_value", int(argument[".size"])))
    return found


def scaffold(source: Path, code_object: bytes, kernel: str, name: str, target: str) -> Scaffold:
    """Make a workload's files for ``kernel`` of a code object."""
    entry = kernel_metadata(code_object, kernel)
    if not entry:
        raise error(f"kernel '{kernel}' has no metadata: its arguments are unknown", "NEW/002")
    items = parameters(entry)
    largest = entry.get(".max_flat_workgroup_size", 256)
    size = [int(extent) for extent in entry.get(".reqd_workgroup_size") or (largest, 1, 1)]
    buffers = [item for item in items if item.pointer]
    if not buffers:
        raise error(f"kernel '{kernel}' takes no buffer", "NEW/002", hint="a workload needs an output to compare")
    artifact = f"native/{source.name}"
    files = {
        "workload.yaml": _workload(name, kernel, target, artifact, items, size, buffers[-1]).encode(),
        artifact: code_object,
        "raised/first.loom": _source(name, items, size, buffers).encode(),
        "README.md": _readme(name, kernel).encode(),
    }
    todo = (
        "workload.yaml: element types and shapes of the buffers, values of the scalars, what the kernel computes",
        "workload.yaml: which buffers are outputs, and when two results are equal",
        "workload.yaml: production shapes and tails",
        "raised/first.loom: what the kernel computes; the skeleton copies a buffer",
        "README.md: the six questions",
    )
    return Scaffold(files, todo)


def _workload(
    name: str, kernel: str, target: str, artifact: str, items: list[Parameter], size: list[int], output: Parameter
) -> str:
    lines = []
    for item in items:
        if item.pointer:
            fill = "{kind: fill, value: 0.0}" if item is output else "{kind: uniform, seed: 1, low: -1.0, high: 1.0}"
            lines.append(f"  - {{name: {item.name}, kind: buffer, type: f32, shape: [n], generate: {fill}}}")
        else:
            kind = _TYPE_OF_SIZE.get(item.size, "i32")
            lines.append(f"  - {{name: {item.name}, kind: scalar, type: {kind}, value: n}}")
    passed = ", ".join(["n", *(item.name for item in items)])
    return f"""schema: loom.workload.v0
name: {name}
title: "{kernel}"
# What the kernel computes, and what is left to its caller.
semantic_cut: "to be written"
target: {target}
native:
  artifact: {artifact}
  kernel: {kernel}
  sources: []
  provenance: "to be written: who made it, with which tool and command"
parameters: {{n: 1024}}
# The explicit arguments in kernarg order. Types, shapes and values are guesses: the metadata does not tell them.
arguments:
{chr(10).join(lines)}
launch:
  workgroups: ["cdiv(n, {size[0]})", 1, 1]
  workgroup_size: [{size[0]}, {size[1]}, {size[2]}]
outputs:
  {output.name}: {{policy: bitwise}}
shapes:
  - {{name: full, kind: production, parameters: {{n: 1024}}, case: "@{name}_case", benchmark: "@{name}_full"}}
  - {{name: odd, kind: tail, parameters: {{n: 777}}, case: "@{name}_case", benchmark: "@{name}_odd"}}
timing_boundary: dispatch_complete
forms:
  - name: first
    source: raised/first.loom
    root: "@{name}"
    raises: "to be written: the one responsibility that this form gives to the compiler"
    workload: [n]
    arguments: [{passed}]
"""


def _source(name: str, items: list[Parameter], size: list[int], buffers: list[Parameter]) -> str:
    first, last = buffers[0].name, buffers[-1].name
    declared = ["%count: index"]
    passed = ["%count"]
    types = ["index"]
    values = []
    for item in items:
        if item.pointer:
            declared.append(f"%{item.name}: buffer")
            types.append("tensor<[%count]xf32>")
            values.append(f"  %{item.name} = check.generate.fill value({_fill(item, buffers)}) : tensor<[%count]xf32>")
        else:
            kind = _TYPE_OF_SIZE.get(item.size, "i32")
            declared.append(f"%{item.name}: {kind}")
            types.append(kind)
            values.append(f"  %{item.name} = check.literal value(0) : {kind}")
        passed.append(f"%{item.name}")
    lanes = size[0] * size[1] * size[2]
    head = (
        f"  %src, %dst = buffer.assume.noalias %{first}, %{last} : buffer, buffer\n"
        "  %in = buffer.view %src[%origin] : buffer -> view<[%count]xf32>\n"
        "  %out = buffer.view %dst[%origin] : buffer -> view<[%count]xf32>\n"
    )
    if first == last:
        head = (
            f"  %in = buffer.view %{first}[%origin] : buffer -> view<[%count]xf32>\n"
            f"  %out = buffer.view %{last}[%origin] : buffer -> view<[%count]xf32>\n"
        )
    newline = "\n"
    return f"""// A skeleton that copies a buffer: replace its body with what the native kernel computes.
kernel.def export("{name}") @{name}(%count: index) {{
  %one = index.constant 1 : index
  %lanes = index.constant {lanes} : index
  %pad = index.constant {lanes - 1} : index
  %padded = index.add %count, %pad : index
  %groups = index.div %padded, %lanes : index
  kernel.launch.config workgroups(%groups, %one, %one) workgroup_size(%lanes, %one, %one) : index
}} launch({", ".join(declared)}) {{
  %position = kernel.workitem.dispatch.id<x> : index
  %origin = index.constant 0 : offset
{head}  %live = index.cmp ult, %position, %count : index
  scf.if %live {{
    %value = view.load %in[%position] : view<[%count]xf32> -> f32
    view.store %value, %out[%position] : f32, view<[%count]xf32>
  }}
  kernel.return
}}

check.case public @{name}_case {{
  %count = check.param.choice values([777, 1024]) name("count") : index
{newline.join(values)}
  %expected = check.generate.fill value(1.0) : tensor<[%count]xf32>
  kernel.launch @{name}[%count]({", ".join(passed)}) : [index]({", ".join(types)})
  check.expect.equal actual(%{last}) expected(%expected) : tensor<[%count]xf32>
  check.return
}}

check.benchmark<@{name}_case> @{name}_full {{count = 1024}}
check.benchmark<@{name}_case> @{name}_odd {{count = 777}}
"""


def _fill(item: Parameter, buffers: list[Parameter]) -> str:
    return "0.0" if item is buffers[-1] and len(buffers) > 1 else "1.0"


def _readme(name: str, kernel: str) -> str:
    questions = "\n".join(f"## {title}\n\n{text}\n" for title, text in _QUESTIONS)
    return f"# {name}\n\nWhat `{kernel}` does, and what raising it teaches.\n\n{questions}"
