"""Run a code object on every shape of a workload, through the device protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loom.device.protocol import Completed, Device, Executable, KernelArgument
from loom.diagnostics import error
from loom.raising.inputs import scalar_bytes, shape_buffers
from loom.store.canonical import sha256
from loom.store.expression import evaluate
from loom.store.workload import Form, Launch, Shape, Workload

#: What a launch parameter is fed with: ("buffer", name), ("scalar", type, value) or ("null",).
Feed = tuple[Any, ...]


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


def native_feeds(shape: Shape) -> list[Feed]:
    """The native kernel's explicit arguments in kernarg order."""
    feeds: list[Feed] = []
    for argument in shape.arguments:
        if argument.kind == "buffer":
            feeds.append(("buffer", argument.name))
        elif argument.kind == "scalar":
            feeds.append(("scalar", argument.type, argument.value))
        else:
            feeds.append(("null",))
    return feeds


def form_feeds(form: Form, shape: Shape) -> list[Feed]:
    """A form's launch parameters: buffers first, then scalars, which is their order in its argument segment.

    An entry of ``arguments:`` that names a workload argument takes its buffer or value and type; any other is an
    integer expression.
    """
    named = {argument.name: argument for argument in shape.arguments}
    buffers: list[Feed] = []
    scalars: list[Feed] = []
    for entry in form.arguments:
        argument = named.get(entry) if isinstance(entry, str) else None
        if argument is not None and argument.kind == "buffer":
            buffers.append(("buffer", argument.name))
        elif argument is not None and argument.kind == "scalar":
            scalars.append(("scalar", argument.type, argument.value))
        else:
            value = evaluate(entry, shape.parameters)
            scalars.append(("scalar", "i64" if isinstance(value, int) else "f32", value))
    return buffers + scalars


def kernarg(
    arguments: Sequence[KernelArgument], size: int, feeds: Sequence[Feed], addresses: dict[str, int], kernel: str
) -> bytes:
    """Lay out an argument segment of ``size`` bytes; hidden arguments stay zero, the device fills them.

    Raises ``WORKLOAD/006`` where the workload's arguments do not fit the kernel's explicit ones.
    """
    explicit = [argument for argument in arguments if not argument.kind.startswith("hidden_")]
    if len(explicit) != len(feeds):
        raise error(
            f"kernel '{kernel}' takes {len(explicit)} explicit arguments, the workload gives {len(feeds)}",
            "WORKLOAD/006",
            hint="; ".join(f"offset {a.offset}: {a.size} bytes, {a.kind}" for a in explicit),
        )
    segment = bytearray(size)
    for position, (argument, feed) in enumerate(zip(explicit, feeds, strict=True)):
        pointer = argument.kind != "by_value"
        if pointer != (feed[0] != "scalar") and not (feed[0] == "null" and argument.size == 8):
            wanted = "a buffer" if pointer else "a scalar"
            raise error(f"argument {position} of kernel '{kernel}' is {wanted}", "WORKLOAD/006")
        if feed[0] == "buffer":
            data = addresses[feed[1]].to_bytes(8, "little")
        elif feed[0] == "null":
            data = bytes(8)
        else:
            data = scalar_bytes(feed[2], _fitting(feed[1], argument.size), argument.size)
        segment[argument.offset : argument.offset + argument.size] = data
    return bytes(segment)


def _fitting(element: str, size: int) -> str:
    """An integer may travel wider than it is declared in the workload (an ``index`` takes two words)."""
    return f"{element[0]}64" if element[0] in "iu" and size == 8 else element


def run_shape(
    device: Device,
    executable: Executable,
    kernel: str,
    workload: Workload,
    shape: Shape,
    feeds: Sequence[Feed],
    launch: Launch,
) -> ShapeRun:
    """Launch a kernel once on fresh buffers and read every output back."""
    info = executable.kernels.get(kernel)
    if info is None:
        hint = f"kernels: {', '.join(sorted(executable.kernels))}"
        raise error(f"the code object has no kernel '{kernel}'", "WORKLOAD/007", hint=hint)
    buffers = {}
    for name, data in shape_buffers(workload, shape).items():
        buffer = device.allocate(max(len(data), 4), name)
        device.write(buffer, data)
        buffers[name] = (buffer, len(data))
    try:
        addresses = {name: buffer.address for name, (buffer, _) in buffers.items()}
        segment = kernarg(info.arguments, info.kernarg_size, feeds, addresses, kernel)
        outcome = device.launch(
            executable, kernel, launch.workgroups, launch.workgroup_size, segment, launch.dynamic_lds
        )
        if not isinstance(outcome, Completed):
            return ShapeRun(shape.name, {"outcome": "faulted", "fault": outcome.fault.to_json()}, {})
        outputs = {name: device.read(buffers[name][0], 0, buffers[name][1]) for name in workload.outputs}
        result: dict[str, Any] = {"outcome": "completed"}
        if outcome.counts is not None:
            result["counts"] = outcome.counts.to_json()
        if outcome.duration_ns is not None:
            result["duration_ns"] = outcome.duration_ns
        return ShapeRun(shape.name, result, outputs)
    finally:
        for buffer, _ in buffers.values():
            device.free(buffer)


def run_workload(
    device: Device, code_object: bytes, kernel: str, workload: Workload, form: Form | None = None
) -> list[ShapeRun]:
    """Run a code object on every shape: as the native kernel, or as a form with the form's own arguments and launch."""
    executable = device.load(code_object)
    runs = []
    for shape in workload.shapes:
        if form is None:
            feeds, launch = native_feeds(shape), shape.launch
        else:
            feeds, launch = form_feeds(form, shape), workload.form_launch(form, shape)
        runs.append(run_shape(device, executable, kernel, workload, shape, feeds, launch))
    return runs
