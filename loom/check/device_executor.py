"""Running checks on a device: compile once a kernel, place the tensors in its memory, launch, read them back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from loom.check.executor import (
    FUNCTIONS,
    KERNELS,
    LaunchRecord,
    RunOptions,
    Value,
    facts_of_target,
    find_callee,
    plain_numbers,
    record_event,
    target_surroundings,
)
from loom.check.requirements import Surroundings, host_memory_bytes
from loom.check.specialize import bind_launch, specialized_key
from loom.check.tensor import Tensor, empty
from loom.diagnostics import Diagnostic, ExitCode, LoomError, error
from loom.ir import BufferType, IntegerType, Module, Operation, Type, VectorType
from loom.reference.execution import Geometry, Interpreter, form_of
from loom.reference.formats import Array, encode
from loom.reference.launch import evaluate_launch, low_order
from loom.reference.low_entry import captured_dynamic_lds

if TYPE_CHECKING:
    from loom.device.protocol import Device, DeviceBuffer, Executable, Fault
    from loom.target.amdgpu.compile import Compilation, CompiledKernel
    from loom.transform.target import TargetConfiguration


#: Code of the refusal to compile a kernel for any workload, where its workgroup size depends on the workload.
SIZE_IS_NO_CONSTANT = "LOWER/010"


#: How the sanitizers' checks say what they found (loom/transform/sanitize.py), and the code that a finding gets.
_CHECKS = (
    (re.compile(r"[a-z.]+ leaves its view on axis [\d, ]+"), "access_check"),
    (re.compile(r"[a-z.]+ does not hold"), "value_check"),
    (re.compile(r"[a-z.]+ (divides by zero|shifts by its width)"), "operation_check"),
)


class FaultError(LoomError):
    """A launch that a device stopped. ``fault`` says where and why.

    The diagnostic stands at the source of the instruction that faulted where the compiler knows it, else at the
    launch. What a check that was compiled in says takes the place of the fault that it provoked, in the message and in
    the code: ``access_check``, ``value_check``, ``operation_check``, or ``assert`` for an assertion of the source.
    """

    def __init__(self, fault: Fault, op: Operation, compiled: CompiledKernel | None = None) -> None:
        self.fault = fault
        source, check = compiled.source_of(fault.pc) if compiled is not None and fault.pc is not None else (None, None)
        notes = [f"{key}: {value}" for key, value in fault.to_json().items() if value is not None and key != "message"]
        if source is not None:
            notes.append(f"launched at: {op.location}")
        diagnostic = Diagnostic(
            f"kernel '{fault.kernel}' faulted: {check or fault.message}",
            f"FAULT/{fault.kind if check is None else _kind_of_check(check)}",
            source or op.location,
            notes=tuple(notes),
        )
        super().__init__(diagnostic, ExitCode.EVIDENCE_FAILED)


def _kind_of_check(says: str) -> str:
    return next((kind for pattern, kind in _CHECKS if pattern.fullmatch(says)), "assert")


@dataclass(slots=True)
class CompiledEntry:
    """A kernel that is loaded on the device, ready to launch."""

    executable: Executable
    kernel: str
    code_object: bytes
    report: dict[str, Any]
    manifest: dict[str, Any]
    static_counts: dict[str, int]
    workgroup_size: tuple[int, int, int] | None
    compiled: CompiledKernel


def _entry(compilation: Compilation, kernel: CompiledKernel, executable: Executable) -> CompiledEntry:
    counts: dict[str, int] = {}
    for block in kernel.program.blocks:
        for instruction in block.instructions:
            counts[instruction.row.issue_class] = counts.get(instruction.row.issue_class, 0) + 1
    return CompiledEntry(
        executable,
        kernel.name,
        compilation.code_object,
        compilation.report,
        compilation.manifest,
        counts,
        kernel.resources.workgroup_size,
        kernel,
    )


class DeviceExecutor:
    """Runs kernels through the compiler on a device; functions run as generated kernels of one workitem."""

    def __init__(self, module: Module, options: RunOptions, device: Device) -> None:
        self.module = module
        self.options = options
        self.device = device
        self.name = device.name
        self.events: dict[str, int] = {}
        self.specialize = False
        self.compiled: dict[str, CompiledEntry] = {}
        self.facts = facts_of_target(options.target)
        self._wrapped: dict[str, tuple[Module, str]] = {}
        self._by_value: set[str] = set()

    # --- compiling ----------------------------------------------------------------------------------------------------

    def compile(self, module: Module, symbol: str, target: TargetConfiguration | None) -> CompiledEntry:
        """Compile and load one kernel. Raises the compiler's :class:`LoomError`."""
        from loom.target.amdgpu.compile import CompileOptions, compile_module

        options = CompileOptions(
            target=target,
            pipeline=self.options.pipeline,
            root=symbol,
            config=self.options.config,
            libraries=self.options.libraries,
            sanitizer=self.options.sanitizer,
            report=self.options.report,
        )
        compilation = compile_module(module, options)
        kernel = next((k for k in compilation.kernels if k.symbol == symbol), compilation.kernels[0])
        return _entry(compilation, kernel, self.device.load(compilation.code_object))

    def compile_all(self) -> None:
        """Compile every kernel of the module into one code object, once, instead of each on its first launch."""
        from loom.target.amdgpu.compile import CompileOptions, compile_module

        options = CompileOptions(
            target=self.options.target,
            pipeline=self.options.pipeline,
            config=self.options.config,
            libraries=self.options.libraries,
            sanitizer=self.options.sanitizer,
            report=self.options.report,
        )
        compilation = compile_module(self.module, options)
        executable = self.device.load(compilation.code_object)
        for kernel in compilation.kernels:
            self.compiled[kernel.symbol] = _entry(compilation, kernel, executable)

    def entry(self, kernel: Operation, workload: Sequence[Array], arguments: Sequence[Value]) -> str:
        """Key of the loaded kernel in :attr:`compiled`, compiled on first use: once for all values, or, where
        :attr:`specialize` is set or the workgroup size depends on the workload, once for each set of scalar values."""
        symbol = kernel.symbol or ""
        if kernel.name != "kernel.def" or not (self.specialize or symbol in self._by_value):
            try:
                if symbol not in self.compiled:
                    self.compiled[symbol] = self.compile(self.module, symbol, self.options.target)
                return symbol
            except LoomError as failure:
                if failure.diagnostics[0].code != SIZE_IS_NO_CONSTANT or not workload:
                    raise
                self._by_value.add(symbol)
        key = specialized_key(symbol, workload, arguments)
        if key not in self.compiled:
            module = next(m for m in (self.module, *self.options.libraries) if m.symbol(symbol) is kernel).clone()
            bind_launch(module, symbol, workload, arguments)
            self.compiled[key] = self.compile(module, symbol, self.options.target)
        return key

    # --- launching ----------------------------------------------------------------------------------------------------

    def launch(self, op: Operation, workload: Sequence[Array], arguments: Sequence[Value]) -> LaunchRecord:
        """Compile and launch a kernel; tensors are copied to the device and back."""
        kernel = find_callee(self.module, self.options.libraries, op, str(op.attributes["callee"]), KERNELS)
        key = self.entry(kernel, workload, arguments)
        entry = self.compiled[key]
        geometry = self._geometry(kernel, workload)
        parameters: list[Type | None]
        if kernel.name == "kernel.def":
            parameters = [parameter.type for parameter in kernel.region("body").blocks[0].arguments]
        else:
            parameters = [None] * len(arguments)
        try:
            outcome = self.run(entry, geometry, low_order(kernel, arguments), parameters, op)
        except LoomError as failure:
            if not record_event(failure, self.options, self.events):
                raise
            return LaunchRecord(
                kernel.symbol or "?", plain_numbers(workload), geometry.workgroups, geometry.workgroup_size, entry=key
            )
        return LaunchRecord(
            kernel.symbol or "?",
            plain_numbers(workload),
            geometry.workgroups,
            geometry.workgroup_size,
            outcome.counts.to_json() if outcome.counts is not None else None,
            outcome.duration_ns,
            key,
        )

    def _geometry(self, kernel: Operation, workload: Sequence[Array]) -> Geometry:
        if kernel.name == "kernel.def":
            interpreter = Interpreter(self.module, self.options.config, self.options.libraries, self.facts)
            interpreter.target_forced = self.options.target is not None
            interpreter.target = interpreter.facts_of(kernel)
            return evaluate_launch(interpreter, kernel, workload)
        return low_geometry(kernel, workload)

    def run(
        self,
        entry: CompiledEntry,
        geometry: Geometry,
        arguments: Sequence[Value],
        parameters: Sequence[Type | None],
        op: Operation,
    ) -> Any:
        """Launch a loaded kernel on tensors and scalars. Raises :class:`FaultError` where it faults."""
        from loom.device.protocol import Faulted

        placed = _Placement(self.device, arguments)
        try:
            kernarg = self._pack(entry, arguments, parameters, placed, op)
            outcome = self.device.launch(
                entry.executable,
                entry.kernel,
                geometry.workgroups,
                geometry.workgroup_size,
                kernarg,
                geometry.dynamic_storage,
            )
            if isinstance(outcome, Faulted):
                placed.abandon()
                raise FaultError(outcome.fault, op, entry.compiled)
            placed.read_back()
        finally:
            placed.release()
        return outcome

    def _pack(
        self,
        entry: CompiledEntry,
        arguments: Sequence[Value],
        parameters: Sequence[Type | None],
        placed: _Placement,
        op: Operation,
    ) -> bytes:
        """The kernarg segment: buffers in order into the bindings, scalars in order into the direct arguments."""
        info = entry.executable.kernels[entry.kernel]
        explicit = [entry for entry in info.arguments if not entry.kind.startswith("hidden")]
        segment = bytearray(max([info.kernarg_size, *(a.offset + a.size for a in explicit)], default=0))
        slots = {
            "buffer": iter([a for a in explicit if a.kind == "global_buffer"]),
            "value": iter([a for a in explicit if a.kind != "global_buffer"]),
        }
        for argument, parameter in zip(arguments, parameters, strict=True):
            kind = "buffer" if isinstance(argument, Tensor) else "value"
            slot = next(slots[kind], None)
            if slot is None:
                raise error(
                    f"kernel '{entry.kernel}' has fewer {kind} arguments than the launch gives",
                    "CHECK/011",
                    op.location,
                )
            if isinstance(argument, Tensor):
                data = placed.address(argument).to_bytes(8, "little")
            else:
                data = scalar_bytes(argument, parameter, slot.size)
            segment[slot.offset : slot.offset + slot.size] = data[: slot.size].ljust(slot.size, b"\0")
        for kind, rest in slots.items():
            if next(rest, None) is not None:
                raise error(
                    f"kernel '{entry.kernel}' has more {kind} arguments than the launch gives", "CHECK/011", op.location
                )
        return bytes(segment)

    # --- calling functions --------------------------------------------------------------------------------------------

    def call(self, op: Operation, callee: str, arguments: Sequence[Value]) -> list[Value]:
        """Run a function as a kernel of one workitem that stores its results."""
        function = find_callee(self.module, self.options.libraries, op, callee, FUNCTIONS)
        module, symbol = self._wrapper(function, op)
        entry = self.compiled.get(symbol)
        if entry is None:
            entry = self.compiled[symbol] = self.compile(module, symbol, self.options.target)
        result_types = _result_types(function)
        results = [empty(_shape(type_), form_of(type_)) for type_ in result_types]
        kernel = module.symbol(symbol)
        assert kernel is not None
        parameters = [parameter.type for parameter in kernel.region("body").blocks[0].arguments]
        self.run(entry, Geometry((1, 1, 1), (1, 1, 1)), [*arguments, *results], parameters, op)
        return [
            tensor.values if isinstance(type_, VectorType) else tensor.values.reshape(1)
            for tensor, type_ in zip(results, result_types, strict=True)
        ]

    def _wrapper(self, function: Operation, op: Operation) -> tuple[Module, str]:
        """The module with a kernel around the function, and the kernel's symbol."""
        name = function.symbol or ""
        known = self._wrapped.get(name)
        if known is not None:
            return known
        from loom.text import parse_module, print_module

        symbol = f"call.{name}"
        text = print_module(self.module) + "\n" + wrapper_text(function, symbol, op)
        for library in self.options.libraries:
            if library.symbol(name) is function:
                text = print_module(library) + "\n" + wrapper_text(function, symbol, op)
        module = parse_module(text, self.module.filename)
        self._wrapped[name] = (module, symbol)
        return module, symbol

    # --- about --------------------------------------------------------------------------------------------------------

    def surroundings(self) -> Surroundings:
        """The device's memory where it tells it, and the target's facts."""
        memory = self.device.identity().get("memory_bytes")
        return target_surroundings(
            self.name, memory if isinstance(memory, int) else host_memory_bytes(), self.options.target, self.facts
        )

    def identity(self) -> dict[str, Any]:
        """The device's identity."""
        return {"device": self.name, **self.device.identity()}

    def close(self) -> None:
        """Release the device."""
        self.device.close()


class _Placement:
    """The distinct storages of a launch in device memory."""

    def __init__(self, device: Device, arguments: Sequence[Value]) -> None:
        self.device = device
        self.buffers: dict[int, tuple[Any, DeviceBuffer]] = {}
        for argument in arguments:
            if isinstance(argument, Tensor) and id(argument.storage) not in self.buffers:
                storage = argument.storage
                buffer = device.allocate(max(storage.size, 1), storage.name)
                if storage.size:
                    device.write(buffer, storage.data.tobytes())
                self.buffers[id(storage)] = (storage, buffer)

    def address(self, tensor: Tensor) -> int:
        return self.buffers[id(tensor.storage)][1].address + tensor.offset

    def read_back(self) -> None:
        for storage, buffer in self.buffers.values():
            if storage.size:
                storage.data[:] = np.frombuffer(self.device.read(buffer, 0, storage.size), np.uint8)

    def abandon(self) -> None:
        """Read back what can be read after a fault; a device that no longer answers must not hide the fault."""
        with suppress(LoomError):
            self.read_back()

    def release(self) -> None:
        for _, buffer in self.buffers.values():
            self.device.free(buffer)


def scalar_bytes(value: Array, parameter: Type | None, size: int) -> bytes:
    """A scalar as kernel argument words: sub-word integers zero-extended, ``index`` and ``offset`` in 64 bits."""
    scalar = value.ravel()[:1]
    if parameter is not None:
        word = encode(np.ascontiguousarray(scalar), form_of(parameter))
    elif scalar.dtype == np.bool_:
        word = scalar.astype(np.uint8)
    else:
        word = np.ascontiguousarray(scalar).view(f"u{scalar.dtype.itemsize}")
    return bytes(int(word[0]).to_bytes(8, "little")[:size])


def low_geometry(kernel: Operation, workload: Sequence[Array]) -> Geometry:
    """Geometry of a Low kernel: its static sizes; workload values, where given, are the workgroup counts.

    Raises ``CHECK/012`` where the kernel states no workgroup size.
    """
    size: Any = kernel.attributes.get("workgroup_size")
    if size is None:
        raise error(f"kernel '@{kernel.symbol}' states no workgroup_size", "CHECK/012", kernel.location)
    count: Any = kernel.attributes.get("workgroup_count")
    if workload:
        count = [int(value.ravel()[0]) for value in workload]
    counts = [*(count or ()), 1, 1, 1][:3]
    sizes = [*size, 1, 1][:3]
    size_xyz = (sizes[0], sizes[1], sizes[2])
    return Geometry((counts[0], counts[1], counts[2]), size_xyz, captured_dynamic_lds(kernel))


def _result_types(function: Operation) -> list[Type]:
    listed: Any = function.attributes.get("result_types") or ()
    return [getattr(entry, "type", entry) for entry in listed]


def _shape(type_: Type) -> tuple[int, ...]:
    if isinstance(type_, VectorType):
        return tuple(dim for dim in type_.dims if isinstance(dim, int))
    return (1,)


def wrapper_text(function: Operation, symbol: str, op: Operation) -> str:
    """Text of a kernel that calls ``function`` once and stores each result in a buffer of its own.

    ``i1`` results are stored as one byte. Raises ``CHECK/013`` for functions whose results are no scalars or vectors.
    """
    parameters = function.regions[-1].blocks[0].arguments
    results = _result_types(function)
    for type_ in [*results]:
        if isinstance(type_, BufferType) or not (
            isinstance(type_, VectorType) or hasattr(type_, "width") or str(type_) in ("index", "offset")
        ):
            raise error(
                f"'@{function.symbol}' returns {type_}: only scalars and vectors come back from a device",
                "CHECK/013",
                op.location,
            )
    names = [f"%p{i}" for i in range(len(parameters))]
    signature = [f"{name}: {parameter.type}" for name, parameter in zip(names, parameters, strict=True)]
    signature += [f"%out{i}: buffer" for i in range(len(results))]
    target = function.attributes.get("target")
    clause = f" target(@{target})" if target else ""
    lines = [
        f"kernel.def{clause} @{symbol}() {{",
        "  %one = index.constant 1 : index",
        "  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index",
        f"}} launch({', '.join(signature)}) {{",
        "  %origin = index.constant 0 : offset",
    ]
    types = ", ".join(str(parameter.type) for parameter in parameters)
    produced = ", ".join(f"%r{i}" for i in range(len(results)))
    listed = f" -> ({', '.join(map(str, results))})" if results else ""
    pure = " pure" if function.attributes.get("pure") else ""
    call = "template.call" if function.name == "template.def" else f"func.call{pure}"
    if function.name == "low.func.def":
        call = "low.invoke"
    lines.append(
        f"  {produced + ' = ' if produced else ''}{call} @{function.symbol}({', '.join(names)}) : ({types}){listed}"
    )
    for position, type_ in enumerate(results):
        lines += _store_lines(position, type_)
    return "\n".join([*lines, "  kernel.return", "}", ""])


def _store_lines(position: int, type_: Type) -> list[str]:
    value, element = f"%r{position}", str(getattr(type_, "element", type_))
    lines: list[str] = []
    if isinstance(type_, VectorType):
        dims = "x".join(map(str, type_.dims))
        zeros = ", ".join("0" for _ in type_.dims)
        view = f"view<{dims}x{element}>"
        lines.append(f"  %view{position} = buffer.view %out{position}[%origin] : buffer -> {view}")
        lines.append(f"  vector.store {value}, %view{position}[{zeros}] : {type_}, {view}")
        return lines
    stored = element
    if element in ("index", "offset"):
        lines.append(f"  %w{position} = index.cast {value} : {element} to i64")
        value, stored = f"%w{position}", "i64"
    elif isinstance(type_, IntegerType) and type_.width == 1:
        lines.append(f"  %w{position} = scalar.extui {value} : i1 to i8")
        value, stored = f"%w{position}", "i8"
    view = f"view<1x{stored}>"
    lines.append(f"  %view{position} = buffer.view %out{position}[%origin] : buffer -> {view}")
    lines.append(f"  view.store {value}, %view{position}[0] : {stored}, {view}")
    return lines


#: Instructions of a wave after which a checked launch on the simulator is endless; seconds of host time.
LAUNCH_BUDGET = 1 << 30


def open_executor(
    name: str, module: Module, options: RunOptions, on_fallback: Callable[[str], None] | None = None
) -> DeviceExecutor:
    """Open a device by name. Raises :class:`LoomError` with exit code 3 where it is absent."""
    from loom.device.registry import open_device, resolve_device

    settings: dict[str, Any] = {}
    if resolve_device(name) == "amdgpu-sim":
        settings["budget"] = options.budget or LAUNCH_BUDGET
        if options.sanitizer & {"race", "all"}:
            settings["sanitizers"] = ("race",)
    return DeviceExecutor(module, options, open_device(name, on_fallback, **settings))
