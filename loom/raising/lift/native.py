"""What lifting and capturing need of a kernel in a code object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loom.diagnostics import LoomError, error
from loom.raising.lift.calls import CALL, DIRECT_CALL, CodeRegion, resolve_calls
from loom.raising.lift.inline_calls import check_calls, inline_calls
from loom.target.amdgpu.abi import KERNARG_ALIGNMENT, KernargEntry
from loom.target.amdgpu.machine import MachineProgram
from loom.target.amdgpu.processors import processor

#: Counts of the metadata that the descriptor does not hold.
_RESOURCES = (
    "agpr_count",
    "max_flat_workgroup_size",
    "sgpr_count",
    "sgpr_spill_count",
    "vgpr_count",
    "vgpr_spill_count",
)


@dataclass(slots=True)
class NativeKernel:
    """One kernel as its code object holds it.

    Attributes:
        name: Kernel name.
        processor: ``gfx1100`` …
        wave_size: 32 or 64.
        code: Instruction bytes of the kernel's symbol.
        descriptor: The 64-byte kernel descriptor.
        program: The decoded instructions.
        arguments: Kernarg entries, hidden ones included.
        kernarg_size: Bytes of the kernarg segment.
        kernarg_alignment: Bytes.
        workgroup_size: Required work-group size, where the metadata states one.
        resources: Counts that only the metadata holds.
        metadata: The kernel's metadata.
        producer: What the object says about the compiler that made it.
        region: The stretch of code that holds the kernel and the functions it calls; ``None`` where it calls none.
        region_code: Its bytes; the same as ``code`` where the kernel calls nothing.
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
    region: CodeRegion | None = None
    region_code: bytes = b""

    @property
    def generation(self) -> str:
        """Instruction table of the processor."""
        return processor(self.processor).generation


def kernel_names(code_object: bytes) -> list[str]:
    """Names of the kernels of a code object, in code order."""
    from loom.target.amdgpu.code_object import read

    return [kernel.name for kernel in read(code_object).kernels]


def native_kernel(
    code_object: bytes, name: str | None = None, inlined: bool = False, followed: bool = False
) -> NativeKernel:
    """Read and decode one kernel of a code object.

    Args:
        code_object: Bytes of the ELF file.
        name: Kernel name; ``None`` where the object has one kernel only.
        inlined: Whether functions that the kernel calls are put in the place of the calls (``program`` is no longer
            the code as found) rather than decoded beside the kernel.
        followed: Whether jumps are held against where they lead, so that a program whose control flow is stated tells
            no tail call for a return. Bytes and instructions need no such proof.

    Raises:
        LoomError: ``LIFT/001`` where the kernel is absent or the choice is open; what reading and decoding refuse;
            ``LIFT/002``, ``LIFT/011`` for calls that cannot be followed.
    """
    from loom.target.amdgpu.code_object import read
    from loom.target.amdgpu.decoder import decode_code, decode_program

    found = read(code_object)
    names = [kernel.name for kernel in found.kernels]
    if name is not None and name.removesuffix(".kd") not in names:
        raise error(
            f"the code object has no kernel '{name}'", "LIFT/001", hint=f"kernels: {', '.join(names) or 'none'}"
        )
    if name is None and len(names) != 1:
        raise error(
            f"the code object has {len(names)} kernels", "LIFT/001", hint=f"choose with --kernel: {', '.join(names)}"
        )
    kernel = found.kernel(name)
    program = decode_program(found, kernel.name)
    region, region_code = None, kernel.code
    mnemonics = {instruction.row.mnemonic for instruction in program.instructions()}
    if inlined and mnemonics & {CALL, DIRECT_CALL}:
        generation = processor(found.processor).generation
        program = inline_calls(found.text, kernel.offset, found.processor, generation, kernel.wave_size, kernel.name)
    elif CALL in mnemonics:
        wave_size = kernel.wave_size
        region = resolve_calls(found.text, kernel.offset, len(kernel.code), found.processor, wave_size, kernel.name)
        if followed:
            check_calls(region, found.text, kernel.offset, found.processor, wave_size, kernel.name)
        region_code = found.text[region.start : region.start + region.size]
        program = decode_code(region_code, found.processor, wave_size, kernel.name)
    metadata = kernel.metadata
    return NativeKernel(
        name=kernel.name,
        processor=found.processor,
        wave_size=kernel.wave_size,
        code=kernel.code,
        descriptor=kernel.descriptor.to_bytes(),
        program=program,
        arguments=[KernargEntry(a.offset, a.size, a.kind, a.name) for a in kernel.arguments],
        kernarg_size=kernel.kernarg_size,
        kernarg_alignment=int(metadata.get(".kernarg_segment_align", KERNARG_ALIGNMENT)),
        workgroup_size=kernel.workgroup_size,
        resources={key: metadata[f".{key}"] for key in _RESOURCES if isinstance(metadata.get(f".{key}"), int)},
        metadata=metadata,
        producer=_producer(code_object, found.metadata),
        region=region,
        region_code=region_code,
    )


def _producer(code_object: bytes, metadata: Mapping[str, Any]) -> list[str]:
    """What the object says of its compiler: the strings of ``.comment``, and the metadata's target and version."""
    from loom.target.amdgpu import elf

    notes: list[str] = []
    try:
        section = elf.parse(code_object).section(".comment")
    except LoomError:  # a bundle has no sections of its own
        section = None
    if section is not None:
        notes.extend(text.decode("utf-8", "replace") for text in section.data.split(b"\0") if text)
    for key in ("amdhsa.target", "amdhsa.version", "amdhsa.printf"):
        if key in metadata:
            value = metadata[key]
            notes.append(f"{key}: {'.'.join(map(str, value)) if isinstance(value, list) else value}")
    return notes
