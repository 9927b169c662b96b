"""One launch of one kernel, source or Low, on the NumPy interpreter, with buffers as the command line gives them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from loom.diagnostics import ExitCode, error
from loom.ir import BufferType, Module, Operation
from loom.raising.buffers import TypedBuffer
from loom.raising.execution import NullPointer, ScalarValue
from loom.reference.execution import DEFAULT_BUDGET, Geometry, Interpreter, TargetFacts, target_facts
from loom.reference.launch import Memory, evaluate_launch, launch
from loom.reference.low_entry import static_geometry

if TYPE_CHECKING:
    from loom.transform.target import TargetConfiguration


def interpret(
    module: Module,
    kernel: Operation,
    buffers: Sequence[TypedBuffer | NullPointer],
    values: Sequence[ScalarValue],
    workgroups: tuple[int, int, int] | None = None,
    dynamic_lds: int | None = None,
    *,
    target: TargetConfiguration | None = None,
    config: Mapping[str, Any] | None = None,
    races: bool = False,
    unread: Collection[int] = (),
) -> tuple[TypedBuffer, ...]:
    """Launch ``kernel`` once and give the buffers' contents afterwards.

    Args:
        module: The verified module of the kernel.
        kernel: A ``kernel.def`` or ``low.kernel.def``.
        buffers: One for each buffer parameter, in order; of a null pointer no byte can be touched.
        values: One for each other parameter, in order.
        workgroups: Work-groups along x, y, z; default: what the kernel states.
        dynamic_lds: Bytes of workgroup storage added at launch; default: what the kernel states.
        target: Target whose facts hold; default: the kernel's own.
        config: Values of ``config`` declarations.
        races: Whether conflicting accesses of work-items are reported.
        unread: Places of buffers that nobody reads afterwards: those may hold poison.

    Raises:
        LoomError: ``LAUNCH/001`` for arguments that do not fit, ``LAUNCH/005`` for a grid that nothing states; what the
            interpreter refuses, or (exit code 1) what is undefined in the program, ``REFERENCE/006`` for poison that it
            leaves in a buffer.
    """
    facts = TargetFacts()
    if target is not None:
        facts = target_facts(target.processor, target.subgroup_size, facts)
    interpreter = Interpreter(module, dict(config or {}), (), facts, DEFAULT_BUDGET, races, target is not None)
    memories = [_memory(b, f"buffer {i}") for i, b in enumerate(buffers)]
    arguments = _in_order(kernel, memories, values)
    geometry = _geometry(interpreter, kernel, arguments, workgroups, dynamic_lds)
    launch(interpreter, kernel, (), arguments, geometry)
    for place, (buffer, memory) in enumerate(zip(buffers, memories, strict=True)):
        if isinstance(buffer, TypedBuffer) and place not in unread:
            _check_defined(kernel, buffer, memory)
    return tuple(
        b.with_data(m.data.tobytes()) for b, m in zip(buffers, memories, strict=True) if isinstance(b, TypedBuffer)
    )


def _check_defined(kernel: Operation, buffer: TypedBuffer, memory: Memory) -> None:
    """Refuse to give poison for a value."""
    if memory.poison[0] is None or not memory.poison[0].any():
        return
    count = math.prod(buffer.shape)
    undefined = memory.poison[0].reshape(count, -1).any(axis=1)
    first = [int(i) for i in numpy.unravel_index(int(undefined.argmax()), buffer.shape)] if buffer.shape else []
    raise error(
        f"'@{kernel.symbol}' leaves {int(undefined.sum())} of {count} elements of {memory.name} undefined (poison), "
        f"the first at {first}",
        "REFERENCE/006",
        kernel.location,
        hint="it stores what an operation without a defined result gave: a division by zero, a wide shift, …",
        exit_code=ExitCode.EVIDENCE_FAILED,
    )


def _memory(buffer: TypedBuffer | NullPointer, name: str) -> Memory:
    if isinstance(buffer, NullPointer):
        return Memory(numpy.zeros(0, numpy.uint8), name="null", null=True)
    return Memory(numpy.frombuffer(bytearray(buffer.data), numpy.uint8), 0, len(buffer.data), name)


def _in_order(kernel: Operation, memories: Sequence[Memory], values: Sequence[ScalarValue]) -> list[Any]:
    """Arguments as the kernel lists them; scalars as Python numbers for source, as stored bits for Low."""
    if kernel.name == "low.kernel.def":
        scalars = [TypedBuffer((), v.element, v.data).storage() for v in values]
        return _low_order(kernel, [*memories], scalars)
    wanted = [isinstance(p.type, BufferType) for p in kernel.region("body").blocks[0].arguments]
    _expect(kernel, "buffers", wanted.count(True), len(memories))
    _expect(kernel, "values", wanted.count(False), len(values))
    numbers = iter([TypedBuffer((), v.element, v.data).values()[0].item() for v in values])
    storages = iter(memories)
    return [next(storages) if is_buffer else next(numbers) for is_buffer in wanted]


def _low_order(kernel: Operation, memories: list[Any], scalars: list[Any]) -> list[Any]:
    layout: Any = kernel.attributes.get("abi_layout")
    layout = layout if isinstance(layout, dict) else {}
    if isinstance(layout.get("arguments"), dict):
        entries = sorted(layout["arguments"].values(), key=lambda entry: int(entry["offset"]))
        kinds = [str(entry["kind"]) for entry in entries if not str(entry["kind"]).startswith("hidden")]
        pointers = kinds.count("global_buffer")
        behind = next((n for n, kind in enumerate(reversed(kinds)) if kind != "global_buffer"), 0)
        # Compilers append pointers that the kernel never follows.
        missing = min(max(pointers - len(memories), 0), behind)
        memories += [_memory(NullPointer(), "null") for _ in range(missing)]
        _expect(kernel, "buffers", pointers, len(memories))
        _expect(kernel, "values", len(kinds) - pointers, len(scalars))
    places = (layout.get("resource_parameter_indices"), layout.get("direct_arg_parameter_indices"))
    if all(isinstance(listed, tuple) for listed in places):
        given = dict(zip([*places[0], *places[1]], [*memories, *scalars], strict=False))
        if sorted(given) == list(range(len(memories) + len(scalars))):
            return [given[place] for place in sorted(given)]
    return [*memories, *scalars]


def _expect(kernel: Operation, what: str, wanted: int, given: int) -> None:
    if wanted != given:
        raise error(f"kernel '@{kernel.symbol}' takes {wanted} {what}, {given} given", "LAUNCH/001", kernel.location)


def _geometry(
    interpreter: Interpreter,
    kernel: Operation,
    arguments: Sequence[Any],
    workgroups: tuple[int, int, int] | None,
    dynamic_lds: int | None,
) -> Geometry:
    """The launch's geometry: what the kernel states, with what the caller gives in its place.

    A workload value that has the name of an argument is that argument.
    """
    if kernel.name == "low.kernel.def":
        found = static_geometry(kernel)
    else:
        parameters = kernel.region("config").blocks[0].arguments
        names = [p.name for p in kernel.region("body").blocks[0].arguments]
        known = dict(zip(names, arguments, strict=True))
        unknown = [p.name for p in parameters if p.name not in known]
        if unknown and workgroups is None:
            raise error(
                f"the grid of '@{kernel.symbol}' depends on its workload: %{', %'.join(map(str, unknown))}",
                "LAUNCH/005",
                kernel.location,
                hint="give --workgroup-count=x,y,z",
            )
        found, other = (
            evaluate_launch(interpreter, kernel, [known.get(p.name, guess) for p in parameters]) for guess in (1, 4096)
        )
        if found.workgroup_size != other.workgroup_size:
            raise error(
                f"the workgroup size of '@{kernel.symbol}' depends on its workload", "LAUNCH/005", kernel.location
            )
    return Geometry(
        workgroups or found.workgroups,
        found.workgroup_size,
        found.dynamic_storage if dynamic_lds is None else dynamic_lds,
        found.cluster,
    )
