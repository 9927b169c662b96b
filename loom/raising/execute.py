"""Run a code object on every shape of a workload, through the device protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loom.device.protocol import Completed, Device
from loom.diagnostics import error
from loom.raising.buffers import TypedBuffer
from loom.raising.execution import (
    Argument,
    NullPointer,
    ScalarValue,
    execute,
    explicit_arguments,
    is_pointer,
)
from loom.raising.inputs import scalar_bytes, shape_buffers
from loom.store.canonical import sha256
from loom.store.expression import Number, evaluate
from loom.store.workload import Argument as WorkloadArgument
from loom.store.workload import Form, Launch, Shape, Workload


@dataclass(frozen=True, slots=True)
class Feed:
    """What a launch parameter is fed with: a workload argument, or a number of a type."""

    argument: WorkloadArgument | None
    type: str = ""
    value: Number = 0

    @property
    def is_pointer(self) -> bool:
        """Whether it is an address."""
        return self.argument is not None and self.argument.kind != "scalar"


@dataclass(frozen=True, slots=True)
class ShapeRun:
    """One launch: its outcome as JSON values, and the bytes of every output buffer of a launch that completed."""

    shape: str
    outcome: dict[str, Any]
    outputs: dict[str, bytes]

    def document(self) -> dict[str, Any]:
        """The run without its bytes: outputs by hash."""
        return {
            "shape": self.shape,
            **self.outcome,
            "outputs": {name: sha256(data) for name, data in self.outputs.items()},
        }


def typed(argument: WorkloadArgument, data: bytes) -> TypedBuffer:
    """A buffer argument's bytes with its shape and element type."""
    unsigned = argument.type[0] == "u"
    element = f"i{argument.type[1:]}" if unsigned else argument.type
    return TypedBuffer(argument.shape, element, data, unsigned)


def native_feeds(shape: Shape) -> list[Feed]:
    """The native kernel's explicit arguments in kernarg order."""
    return [Feed(argument, argument.type, argument.value or 0) for argument in shape.arguments]


def form_feeds(form: Form, shape: Shape) -> list[Feed]:
    """A form's launch parameters: buffers first, then scalars, which is their order in its argument segment.

    An entry of ``arguments:`` that names a workload argument takes its buffer, or its value and type; any other is an
    expression: an integer is an ``index``, any other number f32.
    """
    named = {argument.name: argument for argument in shape.arguments}
    feeds = []
    for entry in form.arguments:
        argument = named.get(entry) if isinstance(entry, str) else None
        if argument is not None:
            feeds.append(Feed(argument, argument.type, argument.value or 0))
        else:
            value = evaluate(entry, shape.parameters)
            feeds.append(Feed(None, "i64" if isinstance(value, int) else "f32", value))
    return sorted(feeds, key=lambda feed: not feed.is_pointer)


def _arguments(
    device: Device, code_object: bytes, kernel: str, feeds: Sequence[Feed], buffers: dict[str, bytes]
) -> list[Argument]:
    """Turn feeds into the launch's arguments. Raises ``WORKLOAD/006`` where they do not fit the kernel's."""
    info = device.load(code_object).kernels.get(kernel)
    if info is None:
        raise error(f"the code object has no kernel '{kernel}'", "WORKLOAD/007")
    wanted = explicit_arguments(info)
    if len(wanted) != len(feeds):
        raise error(
            f"kernel '{kernel}' takes {len(wanted)} explicit arguments, the workload gives {len(feeds)}",
            "WORKLOAD/006",
            hint="; ".join(f"offset {a.offset}: {a.size} bytes, {a.kind}" for a in wanted),
        )
    arguments: list[Argument] = []
    for position, (entry, feed) in enumerate(zip(wanted, feeds, strict=True)):
        if is_pointer(entry) != feed.is_pointer:
            kind = "a buffer" if is_pointer(entry) else "a number"
            raise error(f"argument {position} of kernel '{kernel}' is {kind}", "WORKLOAD/006")
        if feed.argument is not None and feed.argument.kind == "null":
            arguments.append(NullPointer())
        elif feed.argument is not None and feed.argument.kind == "buffer":
            arguments.append(typed(feed.argument, buffers[feed.argument.name]))
        else:
            # An integer may travel wider than the workload declares it: an index takes two words.
            wide = feed.type[0] in "iu" and entry.size == 8
            element = f"{feed.type[0]}64" if wide else feed.type
            arguments.append(ScalarValue(element, scalar_bytes(feed.value, element, entry.size)))
    return arguments


def run_shape(
    device: Device,
    code_object: bytes,
    kernel: str,
    workload: Workload,
    shape: Shape,
    feeds: Sequence[Feed],
    launch: Launch,
) -> ShapeRun:
    """Launch a kernel once on fresh buffers and read every output back."""
    arguments = _arguments(device, code_object, kernel, feeds, shape_buffers(workload, shape))
    execution = execute(
        device, code_object, kernel, arguments, launch.workgroups, launch.workgroup_size, launch.dynamic_lds
    )
    outcome = execution.outcome
    if not isinstance(outcome, Completed):
        return ShapeRun(shape.name, {"outcome": "faulted", "fault": outcome.fault.to_json()}, {})
    names = [feed.argument.name for feed in feeds if feed.argument is not None and feed.argument.kind == "buffer"]
    after = dict(zip(names, execution.buffers, strict=True))
    result: dict[str, Any] = {"outcome": "completed"}
    if outcome.counts is not None:
        result["counts"] = outcome.counts.to_json()
    if outcome.duration_ns is not None:
        result["duration_ns"] = outcome.duration_ns
    return ShapeRun(shape.name, result, {name: after[name].data for name in workload.outputs})


def run_workload(
    device: Device, code_object: bytes, kernel: str, workload: Workload, form: Form | None = None
) -> list[ShapeRun]:
    """Run a code object on every shape: as the native kernel, or as a form with its own arguments and launch."""
    runs = []
    for shape in workload.shapes:
        if form is None:
            feeds, launch = native_feeds(shape), shape.launch
        else:
            feeds, launch = form_feeds(form, shape), workload.form_launch(form, shape)
        runs.append(run_shape(device, code_object, kernel, workload, shape, feeds, launch))
    return runs
