"""Executors: what runs the calls and launches of a sample. The reference interpreter, or compiled code on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from loom.check.requirements import Surroundings, host_memory_bytes
from loom.check.tensor import Tensor
from loom.diagnostics import LoomError, error
from loom.ir import Module, Operation
from loom.reference.formats import Array

if TYPE_CHECKING:
    from loom.reference.execution import Interpreter, TargetFacts
    from loom.transform.target import TargetConfiguration

Value = Any
"""A :class:`Tensor`, or a scalar as a one-element carrier array."""


@dataclass(slots=True)
class LaunchRecord:
    """One launch as it happened: kernel, geometry, and what the device can tell (counts; nanoseconds by its own
    clock)."""

    kernel: str
    workload: list[int | float]
    workgroups: tuple[int, int, int]
    workgroup_size: tuple[int, int, int]
    counts: Mapping[str, Any] | None = None
    duration_ns: int | None = None
    entry: str = ""
    """Key of the compiled kernel among those of the executor; empty where nothing is compiled."""

    def to_json(self) -> dict[str, Any]:
        """The launch as plain JSON values."""
        return {
            "kernel": self.kernel,
            "workload": self.workload,
            "launch_config": {
                "workgroup_count": list(self.workgroups),
                "workgroup_size": list(self.workgroup_size),
            },
        }


class Executor(Protocol):
    """What a sample needs of the device it runs on."""

    name: str
    events: dict[str, int]
    specialize: bool
    """Whether a kernel is compiled anew for the scalar values of each launch, as facts; else once for all."""

    def launch(self, op: Operation, workload: Sequence[Array], arguments: Sequence[Value]) -> LaunchRecord:
        """Perform a ``kernel.launch``; tensors are written in place. Raises :class:`LoomError` for faults and
        refusals."""
        ...

    def call(self, op: Operation, callee: str, arguments: Sequence[Value]) -> list[Value]:
        """Call a function with scalars and tensors; returns its scalar results."""
        ...

    def surroundings(self) -> Surroundings:
        """What requirement providers ask about."""
        ...

    def identity(self) -> dict[str, Any]:
        """Who ran, for records."""
        ...

    def close(self) -> None:
        """Release the device."""
        ...


@dataclass(slots=True)
class RunOptions:
    """What a run is asked for, as the command line says it."""

    config: Mapping[str, Any] = field(default_factory=dict)
    libraries: tuple[Module, ...] = ()
    target: TargetConfiguration | None = None
    pipeline: str = "default"
    sanitizer: frozenset[str] = frozenset()
    sanitizer_reporting: str = "default"
    budget: int | None = None
    report: bool = False
    """Whether compiles collect the rows of a detailed report."""


def find_callee(
    module: Module, libraries: Sequence[Module], op: Operation, name: str, kinds: Sequence[str]
) -> Operation:
    """The definition that ``op`` calls, in the module or in a library. Raises ``CHECK/010`` where there is none."""
    declared: Operation | None = None
    for candidate in (module, *libraries):
        found = candidate.symbol(name)
        if found is not None:
            if found.name in kinds:
                return found
            declared = found
    if declared is None:
        raise error(f"symbol '@{name}' is not defined", "CHECK/010", op.location, hint="pass --library=FILE")
    what = "is only declared" if declared.name.endswith(".decl") else f"is a {declared.name}"
    raise error(f"'@{name}' {what}, expected {' or '.join(kinds)}", "CHECK/010", op.location)


KERNELS = ("kernel.def", "low.kernel.def")
FUNCTIONS = ("func.def", "low.func.def", "template.def")

#: The sanitizer that a finding belongs to and the event that it is recorded as, by diagnostic code.
_EVENTS = {
    "REFERENCE/002": ("access", "asan_report"),
    "REFERENCE/008": ("access", "asan_report"),
    "REFERENCE/003": ("race", "tsan_report"),
    "REFERENCE/005": ("value", "value_report"),
    "REFERENCE/006": ("value", "value_report"),
    "REFERENCE/009": ("operation", "operation_report"),
    "FAULT/out_of_bounds": ("access", "asan_report"),
    "FAULT/lds_out_of_bounds": ("access", "asan_report"),
    "FAULT/misaligned": ("access", "asan_report"),
    "FAULT/lds_race": ("race", "tsan_report"),
    "FAULT/access_check": ("access", "asan_report"),
    "FAULT/value_check": ("value", "value_report"),
    "FAULT/operation_check": ("operation", "operation_report"),
    "FAULT/assert": ("operation", "operation_report"),
}


def record_event(failure: LoomError, options: RunOptions, events: dict[str, int]) -> bool:
    """Turn a finding into a device event, so that the sample goes on; whether that happened.

    It happens where the sanitizer of its kind is on and either only reports (``report-only``), or, by default, the case
    expects events of the kind: ``events`` has an entry for each kind that it expects. Otherwise the finding fails the
    sample.
    """
    kind, event = _EVENTS.get(failure.diagnostics[0].code, ("", ""))
    if not kind or not options.sanitizer & {kind, "all"} or options.sanitizer_reporting == "trap":
        return False
    if options.sanitizer_reporting == "default" and event not in events:
        return False
    events[event] = events.get(event, 0) + 1
    return True


def facts_of_target(target: TargetConfiguration | None) -> TargetFacts:
    """What the interpreter must know of a target; the default is a gfx11 device in wave32."""
    from loom.reference.execution import TargetFacts, target_facts

    if target is None:
        return TargetFacts()
    return target_facts(target.processor, target.subgroup_size, TargetFacts())


class ReferenceExecutor:
    """Runs everything on the NumPy interpreter."""

    name = "reference"

    def __init__(self, module: Module, options: RunOptions) -> None:
        self.module = module
        self.options = options
        self.events: dict[str, int] = {}
        self.specialize = False  # nothing is compiled: the interpreter sees concrete values anyway
        self.facts = facts_of_target(options.target)

    def interpreter(self) -> Interpreter:
        """A fresh interpreter for one launch or call."""
        from loom.reference.execution import DEFAULT_BUDGET, Interpreter

        return Interpreter(
            self.module,
            self.options.config,
            self.options.libraries,
            self.facts,
            self.options.budget or DEFAULT_BUDGET,
            bool(self.options.sanitizer & {"race", "all"}),
            self.options.target is not None,
        )

    def launch(self, op: Operation, workload: Sequence[Array], arguments: Sequence[Value]) -> LaunchRecord:
        """Interpret the kernel over its whole grid."""
        from loom.reference.launch import launch

        kernel = find_callee(self.module, self.options.libraries, op, str(op.attributes["callee"]), KERNELS)
        memories, adopt = _as_memories(arguments)
        try:
            geometry = launch(self.interpreter(), kernel, workload, memories)
        except LoomError as failure:
            if not record_event(failure, self.options, self.events):
                raise
            return LaunchRecord(kernel.symbol or "?", plain_numbers(workload), (0, 0, 0), (0, 0, 0))
        finally:
            adopt()
        return LaunchRecord(kernel.symbol or "?", plain_numbers(workload), geometry.workgroups, geometry.workgroup_size)

    def call(self, op: Operation, callee: str, arguments: Sequence[Value]) -> list[Value]:
        """Interpret a function on the host."""
        from loom.reference.launch import call_function

        function = find_callee(self.module, self.options.libraries, op, callee, FUNCTIONS)
        memories, adopt = _as_memories(arguments)
        try:
            outcome = call_function(self.interpreter(), function, memories)
        finally:
            adopt()
        if any(outcome.undefined):
            position = outcome.undefined.index(True)
            raise error(
                f"result {position} of '@{callee}' is undefined",
                "REFERENCE/006",
                op.location,
                hint="it depends on an operation without a defined value (division by zero, wide shift, …)",
            )
        return list(outcome.values)

    def surroundings(self) -> Surroundings:
        """The host's memory and the target's facts."""
        return target_surroundings("reference", host_memory_bytes(), self.options.target, self.facts)

    def identity(self) -> dict[str, Any]:
        """Host execution: times of this device are host times."""
        import platform

        import numpy

        return {
            "kind": "host",
            "name": "reference",
            "machine": platform.machine(),
            "numpy": numpy.__version__,
            "timing": "host",
        }

    def close(self) -> None:
        """Nothing to release."""


def target_surroundings(
    device: str, memory: int, target: TargetConfiguration | None, facts: TargetFacts
) -> Surroundings:
    """Surroundings of a target; what it may use counts among its descriptor sets."""
    sets = {
        "gfx11": {"amdgpu.rdna3.core", "amdgpu.gfx11.generic.core"},
        "gfx12": {"amdgpu.rdna4.core"},
        "cdna": {"amdgpu.cdna3.core"},
    }[facts.family]
    processor = facts.name
    if target is not None:
        sets = {target.descriptor_set}
        if facts.family == "gfx11":
            sets.add("amdgpu.gfx11.generic.core")
        processor = target.processor
    features = {facts.family, f"wave{facts.subgroup_size}", "wmma" if facts.family != "cdna" else "mfma"}
    return Surroundings(device, memory, processor, facts.subgroup_size, frozenset(sets), frozenset(features))


def plain_numbers(values: Sequence[Array]) -> list[int | float]:
    """One-element arrays as Python numbers."""
    return [value.ravel()[0].item() for value in values]


def _as_memories(arguments: Sequence[Value]) -> tuple[list[Any], Any]:
    """Tensors as interpreter memories, and a function that takes the poison marks back to their storages."""
    from loom.reference.launch import Memory

    marks: dict[int, list[Array | None]] = {}
    storages: dict[int, Any] = {}
    converted: list[Any] = []
    for argument in arguments:
        if isinstance(argument, Tensor):
            storage = argument.storage
            key = id(storage)
            storages[key] = storage
            marks.setdefault(key, [storage.poison])
            converted.append(Memory(storage.data, argument.offset, argument.size, argument.name, marks[key]))
        else:
            converted.append(argument)

    def adopt() -> None:
        for key, storage in storages.items():
            storage.poison = marks[key][0]

    return converted, adopt


class HostExecutor(ReferenceExecutor):
    """What runs where no device was named: functions on the interpreter, and no launches."""

    name = "host"

    def launch(self, op: Operation, workload: Sequence[Array], arguments: Sequence[Value]) -> LaunchRecord:
        """Refuse: a launch needs a device."""
        raise error(
            "a case that launches a kernel needs a device",
            "CHECK/014",
            op.location,
            hint="pass --device=reference, --device=amdgpu-sim or --device=amdgpu",
        )
