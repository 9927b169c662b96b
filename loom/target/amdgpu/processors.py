"""Processors of the three generations: code-object flags, wave sizes, register files.

Facts from LLVM's AMDGPU usage guide (``EF_AMDGPU_MACH`` values, generic targets, kernel descriptor granules) and
AMD's ISA documents.
"""

from __future__ import annotations

from dataclasses import dataclass

from loom.diagnostics import error


@dataclass(frozen=True, slots=True)
class Processor:
    """What a processor is, as far as machine code and code objects are concerned.

    Attributes:
        name: LLVM's processor name.
        generation: ``gfx11``, ``gfx12`` or ``gfx9.4``: the instruction table.
        mach: ``EF_AMDGPU_MACH`` value in the low byte of ``e_flags``.
        wave_sizes: Legal wave sizes, the default first.
        generic_version: Version written in ``e_flags`` for generic targets, 0 otherwise.
        xnack: Whether the target ID has an ``xnack`` setting.
        sramecc: Whether the target ID has a ``sramecc`` setting.
        total_vgprs: VGPRs of a SIMD per lane of a wave32 (gfx9.4: wave64, VGPRs and AGPRs together).
        lds_bytes: LDS a work-group may allocate.
        members: For a generic target the processors it stands for.
    """

    name: str
    generation: str
    mach: int
    wave_sizes: tuple[int, ...]
    generic_version: int = 0
    xnack: bool = False
    sramecc: bool = False
    total_vgprs: int = 1024
    lds_bytes: int = 65536
    members: tuple[str, ...] = ()

    @property
    def is_generic(self) -> bool:
        """Whether the name stands for a family (``gfx11-generic``)."""
        return self.generic_version != 0

    @property
    def addressable_sgprs(self) -> int:
        """Highest number of SGPRs a wave can name, VCC not counted."""
        return 102 if self.generation == "gfx9.4" else 106

    def vgpr_encoding_granule(self, wave_size: int) -> int:
        """VGPRs per step of the kernel descriptor's granulated count."""
        return 8 if self.generation == "gfx9.4" or wave_size == 32 else 4

    def vgpr_allocation_granule(self, wave_size: int) -> int:
        """VGPRs per step of the hardware's allocation."""
        if self.generation == "gfx9.4":
            return 8
        granule = 24 if self.total_vgprs == 1536 else 16
        return granule if wave_size == 32 else granule // 2


def _table() -> dict[str, Processor]:
    rdna = (32, 64)
    rows = [
        Processor("gfx1100", "gfx11", 0x041, rdna, total_vgprs=1536),
        Processor("gfx1101", "gfx11", 0x046, rdna, total_vgprs=1536),
        Processor("gfx1102", "gfx11", 0x047, rdna),
        Processor("gfx1103", "gfx11", 0x044, rdna),
        Processor("gfx1150", "gfx11", 0x043, rdna),
        Processor("gfx1151", "gfx11", 0x04A, rdna, total_vgprs=1536),
        Processor(
            "gfx11-generic",
            "gfx11",
            0x054,
            rdna,
            generic_version=1,
            members=("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151"),
        ),
        Processor("gfx1200", "gfx12", 0x048, rdna, total_vgprs=1536),
        Processor("gfx1201", "gfx12", 0x04E, rdna, total_vgprs=1536),
        Processor(
            "gfx12-generic", "gfx12", 0x059, rdna, generic_version=1, total_vgprs=1536, members=("gfx1200", "gfx1201")
        ),
        Processor("gfx942", "gfx9.4", 0x04C, (64,), xnack=True, sramecc=True, total_vgprs=512),
        Processor("gfx950", "gfx9.4", 0x04F, (64,), xnack=True, sramecc=True, total_vgprs=512, lds_bytes=163840),
        Processor(
            "gfx9-4-generic",
            "gfx9.4",
            0x05F,
            (64,),
            generic_version=1,
            xnack=True,
            sramecc=True,
            total_vgprs=512,
            members=("gfx942", "gfx950"),
        ),
    ]
    return {row.name: row for row in rows}


PROCESSORS: dict[str, Processor] = _table()
"""Every processor this target knows, by LLVM's name."""

BY_MACH: dict[int, Processor] = {row.mach: row for row in PROCESSORS.values()}
"""The same by ``EF_AMDGPU_MACH`` value."""


def processor(name: str) -> Processor:
    """The processor called ``name``.

    Raises:
        LoomError: ``AMDGPU/001`` when it is unknown; the message lists the known ones.
    """
    found = PROCESSORS.get(name)
    if found is None:
        raise error(
            f"unknown AMDGPU processor '{name}'", "AMDGPU/001", hint="known processors: " + ", ".join(PROCESSORS)
        )
    return found


def of_generation(generation: str) -> tuple[Processor, ...]:
    """All processors of a generation, in table order."""
    return tuple(row for row in PROCESSORS.values() if row.generation == generation)
