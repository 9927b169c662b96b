"""One launch of one kernel: pack the arguments, run it on a device, read the buffers back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loom.device.protocol import Completed, Device, DeviceBuffer, Faulted, KernelArgument, KernelInfo, Outcome
from loom.diagnostics import ExitCode, Location, LoomError, error
from loom.raising.buffers import ELEMENT_TYPES, TypedBuffer, parse_number


@dataclass(frozen=True, slots=True)
class ScalarValue:
    """A direct argument: element type and little-endian bytes."""

    element: str
    data: bytes


@dataclass(frozen=True, slots=True)
class NullPointer:
    """A pointer argument that the kernel never follows."""


Argument = TypedBuffer | ScalarValue | NullPointer


def parse_scalar(text: str, what: str) -> ScalarValue:
    """Parse ``i32=5``, ``f32=1.5``, ``u64=0x10``.

    Raises:
        LoomError: ``BUFFER/001`` or ``BUFFER/002``.
    """
    from loom.raising.buffers import parse_type

    type_text, separator, value = text.partition("=")
    if not separator:
        raise error(f"{what}: '{text}' has no value", "BUFFER/002", hint="for example i32=5")
    shape, element, _ = parse_type(type_text, what)
    if shape:
        raise error(f"{what}: '{type_text}' is no scalar type", "BUFFER/001", hint="for example i32=5")
    size = ELEMENT_TYPES[element][0]
    return ScalarValue(element, parse_number(value, element, what).to_bytes(size, "little"))


@dataclass(frozen=True, slots=True)
class Execution:
    """What a launch left behind.

    Attributes:
        buffers: Final contents of every buffer argument, in argument order.
        outcome: How the launch ended.
        kernarg: Explicit argument bytes; buffer addresses in them are the device's.
    """

    buffers: tuple[TypedBuffer, ...]
    outcome: Outcome
    kernarg: bytes

    @property
    def hashes(self) -> tuple[str, ...]:
        """SHA-256 of every buffer."""
        return tuple(hashlib.sha256(buffer.data).hexdigest() for buffer in self.buffers)


def explicit_arguments(info: KernelInfo) -> list[KernelArgument]:
    """The arguments a launch supplies: all but the hidden ones, in order of their offsets."""
    return sorted((a for a in info.arguments if not a.kind.startswith("hidden_")), key=lambda a: a.offset)


def is_pointer(argument: KernelArgument) -> bool:
    """Whether the argument is an address of memory."""
    return argument.kind in ("global_buffer", "dynamic_shared_pointer", "image", "sampler", "pipe", "queue")


def match_arguments(
    info: KernelInfo, buffers: Sequence[TypedBuffer | NullPointer], values: Sequence[ScalarValue]
) -> tuple[Argument, ...]:
    """Give buffers to the pointers and values to the direct arguments, each in order.

    Pointers behind the last direct argument may stay without a buffer; they are null (compilers append such pointers).

    Raises:
        LoomError: ``LAUNCH/001`` where the numbers do not agree.
    """
    wanted = explicit_arguments(info)
    pointers = [a for a in wanted if is_pointer(a)]
    scalars = [a for a in wanted if not is_pointer(a)]
    signature = ", ".join(
        f"{a.name or f'argument {i}'}: {'buffer' if is_pointer(a) else f'{a.size}-byte value'}"
        for i, a in enumerate(wanted)
    )
    last_scalar = max((a.offset for a in scalars), default=-1)
    needed = sum(1 for a in pointers if a.offset < last_scalar or last_scalar < 0)
    if not needed <= len(buffers) <= len(pointers):
        raise error(
            f"kernel '{info.name}' takes {len(pointers)} buffers, {len(buffers)} given",
            "LAUNCH/001",
            hint=f"arguments: {signature or 'none'}; give one --kernel-input-buffer for each buffer, in order",
        )
    if len(values) != len(scalars):
        raise error(
            f"kernel '{info.name}' takes {len(scalars)} values, {len(values)} given",
            "LAUNCH/001",
            hint=f"arguments: {signature or 'none'}; give one --kernel-input-value for each value, in order",
        )
    buffer_queue, value_queue = list(buffers), list(values)
    matched: list[Argument] = []
    for argument in wanted:
        if not is_pointer(argument):
            matched.append(value_queue.pop(0))
        else:
            matched.append(buffer_queue.pop(0) if buffer_queue else NullPointer())
    return tuple(matched)


def _store(kernarg: bytearray, entry: KernelArgument, data: bytes, kernel: str) -> None:
    if len(data) > entry.size:
        raise error(
            f"argument '{entry.name or entry.offset}' of kernel '{kernel}' has {entry.size} bytes, {len(data)} given",
            "LAUNCH/002",
            hint="choose the type that the kernel declares",
        )
    kernarg[entry.offset : entry.offset + len(data)] = data


def _extended(value: ScalarValue, size: int) -> bytes:
    """The bytes of a value; an integer that is shorter than its place keeps its sign."""
    data = value.data
    if value.element[0] == "i" and len(data) < size:
        data += (b"\xff" if data[-1] & 0x80 and value.element != "i1" else b"\0") * (size - len(data))
    return data


def execute(
    device: Device,
    code_object: bytes,
    kernel: str,
    arguments: Sequence[Argument],
    workgroups: Sequence[int],
    workgroup_size: Sequence[int],
    dynamic_lds: int = 0,
) -> Execution:
    """Load, launch once, and read every buffer back.

    Args:
        device: An open device.
        code_object: Bytes of a code object.
        kernel: Kernel name.
        arguments: One for every explicit argument, in order.
        workgroups: Work-groups along x, y, z.
        workgroup_size: Work-items per work-group along x, y, z.
        dynamic_lds: Bytes of LDS added to the static allocation.

    Raises:
        LoomError: ``LAUNCH/003`` for an unknown kernel, ``LAUNCH/001`` and ``LAUNCH/002`` for arguments that do not
            fit; what the device refuses.
    """
    executable = device.load(code_object)
    info = executable.kernels.get(kernel)
    if info is None:
        raise error(
            f"the code object has no kernel '{kernel}'",
            "LAUNCH/003",
            hint=f"kernels: {', '.join(executable.kernels) or 'none'}",
        )
    wanted = explicit_arguments(info)
    if len(wanted) != len(arguments):
        names = ", ".join(a.name or a.kind for a in wanted)
        raise error(
            f"kernel '{kernel}' takes {len(wanted)} arguments, {len(arguments)} given",
            "LAUNCH/001",
            hint=f"arguments: {names}",
        )
    explicit_end = max((a.offset + a.size for a in wanted), default=0)
    kernarg = bytearray(explicit_end)
    held: list[tuple[DeviceBuffer, TypedBuffer]] = []
    try:
        for position, (entry, argument) in enumerate(zip(wanted, arguments, strict=True)):
            name = entry.name or f"argument {position}"
            if isinstance(argument, TypedBuffer):
                if not is_pointer(entry):
                    raise error(f"'{name}' of kernel '{kernel}' is no buffer", "LAUNCH/002")
                buffer = device.allocate(max(len(argument.data), 1), name)
                held.append((buffer, argument))
                device.write(buffer, argument.data)
                _store(kernarg, entry, buffer.address.to_bytes(8, "little"), kernel)
            elif isinstance(argument, ScalarValue):
                if is_pointer(entry):
                    raise error(f"'{name}' of kernel '{kernel}' is a buffer", "LAUNCH/002")
                _store(kernarg, entry, _extended(argument, entry.size), kernel)
        outcome = device.launch(
            executable, kernel, tuple(workgroups), tuple(workgroup_size), bytes(kernarg), dynamic_lds
        )
        results = _read_back(device, held, isinstance(outcome, Faulted))
    finally:
        for buffer, _ in held:
            device.free(buffer)
    return Execution(results, outcome, bytes(kernarg))


def _read_back(
    device: Device, held: Sequence[tuple[DeviceBuffer, TypedBuffer]], faulted: bool
) -> tuple[TypedBuffer, ...]:
    """The buffers after the launch. After a fault a device may answer no more: they then stay as they were given, so
    that the fault is what is reported."""
    try:
        return tuple(argument.with_data(device.read(buffer)[: len(argument.data)]) for buffer, argument in held)
    except LoomError:
        if not faulted:
            raise
        return tuple(argument for _, argument in held)


SourceOf = Callable[[int], tuple[Location | None, str | None]]
"""From a fault's pc to the source of the instruction, and to what its check says where it is one."""


def require_completed(execution: Execution, source_of: SourceOf | None = None) -> Completed:
    """The outcome of a launch that must not fault; ``source_of`` tells where a fault comes from, where that is known.

    Raises:
        LoomError: ``LAUNCH/004`` (exit code 1) with what the device says about the fault.
    """
    outcome = execution.outcome
    if isinstance(outcome, Faulted):
        fault = outcome.fault
        notes = [f"{key}: {value}" for key, value in fault.to_json().items() if value is not None and key != "message"]
        source, check = source_of(fault.pc) if source_of is not None and fault.pc is not None else (None, None)
        raise error(
            f"kernel '{fault.kernel}' faulted: {check or fault.message}",
            "LAUNCH/004",
            source,
            notes=notes,
            exit_code=ExitCode.EVIDENCE_FAILED,
        )
    return outcome
