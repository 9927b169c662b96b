"""The device protocol: what every device offers, and how a launch ends.

A device takes finished code objects only; it never sees source or IR. All sizes are bytes, all addresses are device
addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class DeviceBuffer:
    """Memory of a device: ``size`` bytes at ``address``. ``name`` only serves messages."""

    address: int
    size: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One entry of a kernel's argument segment, as the code object states it.

    ``kind`` is the metadata's ``value_kind``: ``global_buffer``, ``by_value``, ``hidden_block_count_x`` and so on.
    """

    offset: int
    size: int
    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """What a launch needs to know about one kernel of a loaded code object."""

    name: str
    arguments: tuple[KernelArgument, ...]
    kernarg_size: int
    wave_size: int
    static_lds: int
    scratch: int
    required_workgroup_size: tuple[int, int, int] | None = None
    max_workgroup_size: int = 1024


@dataclass(frozen=True, slots=True)
class Executable:
    """A code object loaded on a device. ``handle`` belongs to the device; ``hash`` is the SHA-256 of the bytes."""

    hash: str
    kernels: Mapping[str, KernelInfo]
    handle: Any = None


@dataclass(frozen=True, slots=True)
class ExecutionCounts:
    """Instructions that a launch executed, counted once a wave, and the bytes its lanes moved.

    ``instructions`` counts all, ``useful_instructions`` leaves out those without effect on values (nops, waits, delay
    hints,
    clauses); ``by_class`` counts by issue class (``valu``, ``salu``, ``vmem`` …, ``nop`` and ``wait`` among them).
    ``bytes_read`` and ``bytes_written`` map ``space.width`` (``global.b32``: four bytes for each active lane) to bytes.
    """

    instructions: int = 0
    useful_instructions: int = 0
    waves: int = 0
    by_class: Mapping[str, int] = field(default_factory=dict)
    by_mnemonic: Mapping[str, int] = field(default_factory=dict)
    bytes_read: Mapping[str, int] = field(default_factory=dict)
    bytes_written: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The counts as plain JSON values."""
        return {
            "instructions": self.instructions,
            "useful_instructions": self.useful_instructions,
            "waves": self.waves,
            "by_class": dict(self.by_class),
            "by_mnemonic": dict(self.by_mnemonic),
            "bytes_read": dict(self.bytes_read),
            "bytes_written": dict(self.bytes_written),
        }


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a launch stopped, and where.

    ``kind`` is a stable word (``out_of_bounds``, ``outstanding_load``, ``instruction_budget`` …). ``pc`` is the byte
    offset of the
    instruction in the code object's text section. ``workgroup`` and ``wave`` name who, ``lane`` the first lane
    concerned.
    """

    kind: str
    message: str
    kernel: str
    pc: int | None = None
    instruction: str | None = None
    workgroup: tuple[int, int, int] | None = None
    wave: int | None = None
    lane: int | None = None
    address: int | None = None
    nearest_buffer: Mapping[str, Any] | None = None
    register: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fault as plain JSON values; addresses as hexadecimal strings, absent facts as null."""
        record = asdict(self)
        record["workgroup"] = None if self.workgroup is None else list(self.workgroup)
        record["address"] = None if self.address is None else f"{self.address:#x}"
        record["pc"] = None if self.pc is None else f"{self.pc:#x}"
        return record


@dataclass(frozen=True, slots=True)
class Completed:
    """The launch ran to its end. ``counts`` is None on a device that cannot count; ``duration_ns`` where no clock
    exists.
    """

    counts: ExecutionCounts | None = None
    duration_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Faulted:
    """The launch stopped at a fault; memory holds whatever was written until then."""

    fault: Fault
    counts: ExecutionCounts | None = None


Outcome = Completed | Faulted


@runtime_checkable
class Device(Protocol):
    """A device that loads code objects, holds memory and launches kernels, one launch after the other."""

    name: str

    def load(self, code_object: bytes) -> Executable:
        """Load a code object. Raises :class:`loom.diagnostics.LoomError` for bytes that the device cannot run."""
        ...

    def allocate(self, size: int, name: str = "") -> DeviceBuffer:
        """Allocate ``size`` bytes, aligned to at least 256 bytes."""
        ...

    def read(self, buffer: DeviceBuffer, offset: int = 0, size: int | None = None) -> bytes:
        """Copy ``size`` bytes (default: the rest) at ``offset`` to the host."""
        ...

    def write(self, buffer: DeviceBuffer, data: bytes | bytearray | memoryview, offset: int = 0) -> None:
        """Copy ``data`` to ``offset`` of the buffer."""
        ...

    def free(self, buffer: DeviceBuffer) -> None:
        """Release a buffer; a later access to it by a kernel is a fault where the device can tell."""
        ...

    def launch(
        self,
        executable: Executable,
        kernel: str,
        workgroups: Sequence[int],
        workgroup_size: Sequence[int],
        kernarg: bytes,
        dynamic_lds: int = 0,
    ) -> Outcome:
        """Run ``kernel`` over ``workgroups`` (one to three counts) of ``workgroup_size`` work items and wait for its
        end.

        ``kernarg`` holds the explicit arguments in the executable's layout; the device fills the hidden ones, which
        it may be shorter
        than. Raises :class:`loom.diagnostics.LoomError` for an impossible launch (unknown kernel, sizes out of range).
        """
        ...

    @property
    def events(self) -> Sequence[Mapping[str, Any]] | None:
        """Timestamps of past launches in nanoseconds, oldest first; None where the device has no clock of its own."""
        ...

    def identity(self) -> dict[str, Any]:
        """What runs here: ``kind`` (``simulator``, ``gpu``, ``cpu``), ``name``, versions; stable JSON values for
        records.
        """
        ...

    def close(self) -> None:
        """Release everything the device holds."""
        ...
