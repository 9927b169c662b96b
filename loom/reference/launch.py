"""Launching kernels and calling functions on the interpreter: arguments in, memory out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loom.diagnostics import LoomError, error
from loom.ir import BufferType, Operation
from loom.reference.execution import HOST_GEOMETRY, Batch, Frame, Geometry, Interpreter, form_of
from loom.reference.formats import Array, parse_number
from loom.reference.low_memory import GLOBAL_BASE
from loom.reference.memory import Arena
from loom.reference.values import BufferValue

#: Workitems that step together; more would only grow the arrays.
BATCH_LANES = 1 << 15


@dataclass(eq=False, slots=True)
class Memory:
    """Bytes that a launch may read and write in place: ``size`` bytes at ``offset`` of ``data``; several may share one.

    ``poison`` (as long as ``data``) is created when a launch leaves bytes undefined.
    """

    data: Array
    offset: int = 0
    size: int = 0
    name: str = ""
    poison: list[Array | None] = field(default_factory=lambda: [None])
    null: bool = False
    """A null pointer: address 0, and no byte that could be touched."""


Argument = Any
"""A :class:`Memory` for a buffer parameter, else a Python number or a one-element carrier array."""


class _Binding:
    """The distinct storages of a launch, copied into the global arena and back."""

    def __init__(self, arguments: Sequence[Argument], detect_races: bool) -> None:
        self.arena = Arena("global", detect_races=detect_races)
        self.places: dict[int, tuple[Array, int, Memory]] = {}
        for argument in arguments:
            if isinstance(argument, Memory) and id(argument.data) not in self.places:
                size = int(argument.data.size)
                if argument.null:
                    self.places[id(argument.data)] = (argument.data, -GLOBAL_BASE, argument)
                    continue
                start = self.arena.allocate(max(size, 1), argument.name, alignment=256)
                self.arena.roots[-1].size = size
                self.arena.data[start : start + size] = argument.data
                poison = argument.poison[0]
                if poison is not None:
                    self.arena.fill_poison(start, 0)
                    assert self.arena.poison is not None
                    self.arena.poison[start : start + size] = poison
                self.places[id(argument.data)] = (argument.data, start, argument)

    def buffer(self, argument: Memory) -> BufferValue:
        start = self.places[id(argument.data)][1] + argument.offset
        return BufferValue(self.arena, np.array([start], np.int64), np.array([argument.size], np.int64))

    def copy_back(self) -> None:
        for data, start, argument in self.places.values():
            if argument.null:
                continue
            data[:] = self.arena.data[start : start + data.size]
            if self.arena.poison is not None:
                marks = self.arena.poison[start : start + data.size]
                argument.poison[0] = marks.copy() if marks.any() else None


def _scalar(value: Any, parameter: Any) -> Array:
    if isinstance(value, np.ndarray):
        return value.reshape(1)
    return parse_number(value, form_of(parameter.type)).reshape(1)


def evaluate_launch(interp: Interpreter, kernel: Operation, workload: Sequence[Any]) -> Geometry:
    """Run a kernel's launch region on the host. Raises ``REFERENCE/009`` for sizes that are not positive."""
    config = kernel.region("config")
    batch = Batch(HOST_GEOMETRY, 0, 1, interp.target.subgroup_size)
    frame = Frame(batch, kernel.symbol or "?")
    entry = config.blocks[0]
    if len(entry.arguments) != len(workload):
        raise error(
            f"kernel '@{kernel.symbol}' takes {len(entry.arguments)} workload values, not {len(workload)}",
            "REFERENCE/009",
            kernel.location,
        )
    for parameter, value in zip(entry.arguments, workload, strict=True):
        frame.set(parameter, _scalar(value, parameter))
    interp.check_where(kernel, entry.arguments, frame, None, kernel)
    interp.run_block(entry, frame, None)
    terminator = entry.last
    assert terminator is not None

    def values(name: str) -> list[int]:
        return [interp.uniform_int(frame, v, terminator, None, name) for v in terminator.operand_group(name)]

    workgroups, size, cluster = values("workgroups"), values("workgroup_size"), values("cluster_size") or [1, 1, 1]
    dynamic = values("dynamic_workgroup_storage")
    for what, extents in (("workgroups", workgroups), ("workgroup_size", size), ("cluster_size", cluster)):
        if any(extent <= 0 for extent in extents):
            interp.fail(
                terminator,
                "REFERENCE/009",
                f"launch of '@{kernel.symbol}': {what}{tuple(extents)} is not positive",
                frame=frame,
            )
    return Geometry(_triple(workgroups), _triple(size), dynamic[0] if dynamic else 0, _triple(cluster))


def _triple(extents: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = [*extents, 1, 1][:3]
    return (x, y, z)


def launch(
    interp: Interpreter,
    kernel: Operation,
    workload: Sequence[Any],
    arguments: Sequence[Argument],
    geometry: Geometry | None = None,
) -> Geometry:
    """Launch a kernel; memory arguments are written in place. Returns the geometry that the launch region gave.

    Undefined behaviour raises :class:`LoomError` with exit code 1; memory then holds what was written until there.
    """
    outer = interp.target
    interp.target = interp.facts_of(kernel)
    try:
        if kernel.name == "low.kernel.def":
            from loom.reference.low_entry import launch_low

            return launch_low(interp, kernel, low_order(kernel, arguments), geometry)
        return _launch(interp, kernel, workload, arguments, geometry)
    finally:
        interp.target = outer


def low_order(kernel: Operation, arguments: Sequence[Argument]) -> list[Argument]:
    """Launch arguments in the order in which a Low kernel binds them: resources, then direct arguments.

    ``abi_layout`` may say at which place of the launch's list each stands; without it buffers and scalars keep their
    order.
    """
    layout: Any = kernel.attributes.get("abi_layout")
    if kernel.name != "low.kernel.def" or not isinstance(layout, dict):
        return list(arguments)
    places: list[int] = []
    for key in ("resource_parameter_indices", "direct_arg_parameter_indices"):
        listed = layout.get(key)
        if isinstance(listed, tuple):
            places += [place for place in listed if isinstance(place, int)]
    if sorted(places) != list(range(len(arguments))):
        return list(arguments)
    return [arguments[place] for place in places]


def _launch(
    interp: Interpreter,
    kernel: Operation,
    workload: Sequence[Any],
    arguments: Sequence[Argument],
    geometry: Geometry | None,
) -> Geometry:
    if geometry is None:
        geometry = evaluate_launch(interp, kernel, workload)
    body = kernel.region("body")
    parameters = body.blocks[0].arguments
    if len(parameters) != len(arguments):
        raise error(
            f"kernel '@{kernel.symbol}' takes {len(parameters)} arguments, not {len(arguments)}",
            "REFERENCE/009",
            kernel.location,
        )
    binding = _Binding(arguments, interp.race_checks)
    groups_at_once = max(1, BATCH_LANES // max(geometry.group_lanes, 1))
    try:
        for first in range(0, geometry.group_count, groups_at_once):
            count = min(groups_at_once, geometry.group_count - first)
            batch = Batch(geometry, first, count, interp.target.subgroup_size)
            frame = Frame(batch, kernel.symbol or "?")
            for parameter, argument in zip(parameters, arguments, strict=True):
                if isinstance(parameter.type, BufferType):
                    frame.set(parameter, binding.buffer(argument))
                else:
                    frame.set(parameter, _scalar(argument, parameter))
            interp.check_launch_where(kernel, parameters, frame)
            interp.run_region(body, frame, None)
            if batch.copies is not None:
                batch.copies.finish()
    finally:
        binding.copy_back()
    return geometry


@dataclass(slots=True)
class CallResult:
    """A function's results as carrier arrays of one element, or of a vector's shape, with their poison."""

    values: list[Array]
    undefined: list[bool]


def call_function(interp: Interpreter, function: Operation, arguments: Sequence[Argument]) -> CallResult:
    """Call a function once on the host. Results must be scalars or vectors."""
    region = function.regions[-1]
    parameters = region.blocks[0].arguments
    if len(parameters) != len(arguments):
        raise error(
            f"function '@{function.symbol}' takes {len(parameters)} arguments, not {len(arguments)}",
            "REFERENCE/009",
            function.location,
        )
    binding = _Binding(arguments, False)
    batch = Batch(HOST_GEOMETRY, 0, 1, interp.target.subgroup_size)
    values: list[tuple[Any, Array | None]] = []
    for parameter, argument in zip(parameters, arguments, strict=True):
        content = binding.buffer(argument) if isinstance(argument, Memory) else _scalar(argument, parameter)
        values.append((content, None))
    try:
        results = interp.call(function, values, batch, None, function)
    finally:
        binding.copy_back()
    for content, _ in results:
        if not isinstance(content, np.ndarray):
            raise error(
                f"function '@{function.symbol}' returns a value that is neither scalar nor vector",
                "REFERENCE/009",
                function.location,
            )
    return CallResult(
        [content[0] if content.ndim > 1 else content.reshape(1) for content, _ in results],
        [undefined is not None and bool(undefined.any()) for _, undefined in results],
    )


__all__ = ["Argument", "CallResult", "LoomError", "Memory", "call_function", "evaluate_launch", "launch"]
