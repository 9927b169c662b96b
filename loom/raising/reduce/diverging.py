"""Does a module still diverge: compile it as a form, run it, compare it with the native kernel's results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loom import parse, verify
from loom.device.protocol import Device
from loom.diagnostics import LoomError
from loom.raising.compare.evidence import Evidence
from loom.raising.compare.numbers import compare_output
from loom.raising.execute import form_feeds, run_shape
from loom.store.canonical import sha256
from loom.store.workload import Form, Workload

#: module text, target, root → code object; raises LoomError for what the compiler rejects.
Compile = Callable[[str, str, str], bytes]


@dataclass(slots=True)
class Divergence:
    """How a form goes wrong, in words that survive reduction: a rejection's code, a fault's kind, or the wrong values.

    Wrong values are told by their hash: a module that goes wrong in another way is not the same defect.
    """

    kind: str
    detail: str


def compile_form(text: str, target: str, root: str) -> bytes:
    """Compile a module's root with the default pipeline; return the code object."""
    from loom.target.amdgpu.compile import CompileOptions, compile_module
    from loom.transform.target import parse_target_selector, resolve_target

    options = CompileOptions(target=resolve_target(*parse_target_selector(target)), root=root.lstrip("@"))
    module = parse(text, "<reduce>")
    verify(module)
    return compile_module(module, options).code_object


def divergence(
    text: str, workload: Workload, form: Form, native: Evidence, device: Device, shape_name: str, compiler: Compile
) -> Divergence | None:
    """Compile, run and compare a module on one shape; ``None`` where it agrees with the native kernel."""
    try:
        code = compiler(text, workload.target, form.root)
    except LoomError as failure:
        return Divergence("rejected", failure.diagnostics[0].code)
    shape = workload.shape(shape_name)
    kernel = form.root.lstrip("@")
    run = run_shape(device, code, kernel, workload, shape, form_feeds(form, shape), workload.form_launch(form, shape))
    if run.outcome["outcome"] != "completed":
        return Divergence("faulted", str(run.outcome["fault"].get("kind")))
    for name, policy in workload.outputs.items():
        found = compare_output(shape.argument(name), policy, native.outputs[shape.name, name], run.outputs[name])
        if not found["equal"]:
            return Divergence("differs", f"{name} {sha256(run.outputs[name])}")
    return None


def predicate(
    workload: Workload,
    form: Form,
    native: Evidence,
    device: Device,
    shape_name: str,
    wanted: Divergence,
    compiler: Compile,
) -> Callable[[str], bool]:
    """A test for :func:`loom.raising.reduce.minimize.minimize`: the same kind of divergence, for the same reason."""

    def interesting(text: str) -> bool:
        try:
            found = divergence(text, workload, form, native, device, shape_name, compiler)
        except Exception:
            # A half-eaten module may break a compiler in ways of its own: another defect than the one looked for.
            return False
        return found is not None and (found.kind, found.detail) == (wanted.kind, wanted.detail)

    return interesting
