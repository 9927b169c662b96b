"""The launch that ``workload.yaml`` gives a form, held against the form's own launch region."""

from __future__ import annotations

from loom.diagnostics import Location, LoomError, error
from loom.ir import Module, Operation
from loom.reference.execution import Interpreter, TargetFacts, target_facts
from loom.reference.launch import evaluate_launch
from loom.reference.low_entry import static_geometry
from loom.store.expression import evaluate
from loom.store.workload import Form, Launch, Shape, Workload
from loom.transform.target import parse_target_selector, resolve_target


def check_launch(workload: Workload, form: Form, module: Module) -> None:
    """Refuse a form that is launched with another geometry than its source states, on any shape.

    The device launches what ``workload.yaml`` says, so a difference would run the form on a part of its data, or beyond
    it, and would be blamed on the form.

    Args:
        workload: The workload.
        form: One of its forms; ``workload:`` gives the values of its launch region.
        module: The form's verified source.

    Raises:
        LoomError: ``WORKLOAD/008`` for a root that is no kernel of the source, for workload values that its launch
            region does not take, and for a difference, naming both places.
    """
    kernel = module.symbol(form.root.lstrip("@"))
    if kernel is None or kernel.name not in ("kernel.def", "low.kernel.def"):
        raise error(
            f"form '{form.name}': the source has no kernel {form.root}", "WORKLOAD/008", workload.place("forms")
        )
    for shape in workload.shapes:
        given = workload.form_launch(form, shape)
        stated = _stated(workload, form, module, kernel, shape)
        for what, mine, theirs in (
            ("workgroups", given.workgroups, stated.workgroups),
            ("workgroup_size", given.workgroup_size, stated.workgroup_size),
            ("dynamic_lds", given.dynamic_lds, stated.dynamic_lds),
        ):
            if mine != theirs:
                raise error(
                    f"form '{form.name}' is launched with {what} {_text(mine)} on shape '{shape.name}', "
                    f"its source states {_text(theirs)}",
                    "WORKLOAD/008",
                    _place(workload, form, what),
                    hint="correct 'launch' (of the workload or of the form), 'workload' of the form, or the source",
                    notes=(f"the source states it at {_where(_launch_region(kernel))}",),
                )


def _stated(workload: Workload, form: Form, module: Module, kernel: Operation, shape: Shape) -> Launch:
    """What the form's source says for a shape."""
    if kernel.name == "low.kernel.def":
        found = static_geometry(kernel)
    else:
        target = resolve_target(*parse_target_selector(workload.target))
        facts = target_facts(target.processor, target.subgroup_size, TargetFacts())
        interpreter = Interpreter(module, dict(form.config), target=facts, target_forced=True)
        values = [evaluate(entry, shape.parameters) for entry in form.workload]
        try:
            found = evaluate_launch(interpreter, kernel, values)
        except LoomError as failure:
            reason = failure.diagnostics[0]
            raise error(
                f"form '{form.name}' cannot be launched on shape '{shape.name}' with workload {_text(values)}: "
                f"{reason.message}",
                "WORKLOAD/008",
                workload.place("forms", _number(workload, form), "workload"),
                notes=(f"the source says so at {_where(reason.location or kernel.location)}",),
            ) from None
    return Launch(found.workgroups, found.workgroup_size, found.dynamic_storage)


def _launch_region(kernel: Operation) -> Location | None:
    if kernel.name == "low.kernel.def":
        return kernel.location
    terminator = kernel.region("config").blocks[0].last
    return terminator.location if terminator is not None else kernel.location


def _number(workload: Workload, form: Form) -> int:
    return next(i for i, entry in enumerate(workload.document["forms"]) if entry["name"] == form.name)


def _place(workload: Workload, form: Form, what: str) -> Location:
    """Where the file says what a form is launched with."""
    own = ("forms", _number(workload, form)) if what in form.launch else ()
    return workload.place(*own, "launch", what)


def _where(location: Location | None) -> str:
    return f"{location.file}:{location.line}:{location.column}" if location is not None else "its kernel"


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
