"""What lifting and capturing need of a kernel in a code object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loom.target.amdgpu.abi import KernargEntry
from loom.target.amdgpu.machine import MachineProgram
from loom.target.amdgpu.processors import processor


@dataclass(slots=True)
class NativeKernel:
    """One kernel as its code object holds it.

    Attributes:
        name: Kernel name.
        processor: ``gfx1100`` …
        wave_size: 32 or 64.
        code: Instruction bytes.
        descriptor: The 64-byte kernel descriptor.
        program: The decoded instructions.
        arguments: Kernarg entries, hidden ones included.
        kernarg_size: Bytes of the kernarg segment.
        kernarg_alignment: Bytes.
        workgroup_size: Required work-group size, where the metadata states one.
        resources: Counts that only the metadata holds.
        metadata: The kernel's metadata.
        producer: What the object says about the compiler that made it.
    """

    name: str
    processor: str
    wave_size: int
    code: bytes
    descriptor: bytes
    program: MachineProgram
    arguments: Sequence[KernargEntry]
    kernarg_size: int
    kernarg_alignment: int
    workgroup_size: tuple[int, int, int] | None
    resources: Mapping[str, int]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    producer: Sequence[str] = ()

    @property
    def generation(self) -> str:
        """Instruction table of the processor."""
        return processor(self.processor).generation
