"""AMDGPU as the target-neutral allocator sees it: register files, alignment, spill code, and what scheduling may
spend."""

from __future__ import annotations

from collections.abc import Sequence

from loom.diagnostics import error
from loom.low.code import COPY, OP, Instruction, LowCode, Ref
from loom.low.interface import FileOf, ScheduleLimits
from loom.target.amdgpu.dual_issue import WINDOW
from loom.target.amdgpu.machine import OFF, Immediate, Inline, Literal, Operand, Register
from loom.target.amdgpu.operation import row_instruction
from loom.target.amdgpu.processors import Processor

VCC_LOCATION = 106
"""VCC as the last pair of the scalar file: the same source codes, so that lane masks can be given VCC."""

SCRATCH_OFFSET_LIMIT = 4096
"""Bytes that a scratch instruction's signed 13-bit offset reaches upwards."""

_FILES = {
    "amdgpu.sgpr": FileOf("sgpr"),
    "amdgpu.vgpr": FileOf("vgpr"),
    "amdgpu.agpr": FileOf("agpr"),
    "amdgpu.ttmp": FileOf("ttmp"),
    "amdgpu.vcc": FileOf("sgpr", VCC_LOCATION),
    "amdgpu.exec": FileOf("exec", 0),
    "amdgpu.scc": FileOf("scc", 0),
    "amdgpu.m0": FileOf("m0", 0),
    "amdgpu.mode": FileOf("mode", 0),
    "amdgpu.null": FileOf("null", 0),
    "amdgpu.vccz": FileOf("vccz", 0),
    "amdgpu.execz": FileOf("execz", 0),
}


class AmdgpuTarget:
    """Register files of a processor.

    Args:
        processor: The processor.
        wave_size: Lanes of a wave.
        private_bytes: Bytes of private storage that the kernel itself uses; spill slots lie behind it.
        vgpr_limit: VGPRs that may be given out.
    """

    def __init__(
        self, processor: Processor, wave_size: int, private_bytes: int = 0, vgpr_limit: int | None = None
    ) -> None:
        self.processor = processor
        self.generation = processor.generation
        self.wave_size = wave_size
        self.private_bytes = -(-private_bytes // 4) * 4
        scalars = processor.addressable_sgprs
        limit = 256 if vgpr_limit is None else vgpr_limit
        self._order = {
            "sgpr": list(range(scalars)),
            "vgpr": list(range(limit)),
            "agpr": list(range(256)) if processor.generation == "gfx9.4" else [],
        }
        self._even_vectors = processor.generation == "gfx9.4"

    def file_of(self, register_class: str) -> FileOf:
        """Register file of a class; see :class:`loom.low.interface.BackendTarget`."""
        found = _FILES.get(register_class)
        if found is None:
            raise error(
                f"AMDGPU has no register class {register_class}", "BACKEND/030", hint="known: " + ", ".join(_FILES)
            )
        return found

    def alignment(self, register_class: str, units: int) -> int:
        """Scalar pairs are even, longer scalar tuples start at a multiple of four; gfx9.4 wants even vector tuples."""
        if register_class in ("amdgpu.sgpr", "amdgpu.ttmp"):
            return 1 if units == 1 else 2 if units == 2 else 4
        if self._even_vectors and units > 1:
            return 2
        return 1

    def allocatable(self, file: str) -> Sequence[int]:
        """Indices that may be given out, lowest first."""
        return self._order.get(file, [])

    def spillable(self, file: str) -> bool:
        """Vector registers spill to scratch, scalar ones to lanes of a vector register."""
        return file in ("vgpr", "sgpr")

    def instruction(
        self, mnemonic: str, defs: list[Ref], uses: list[Ref], fixed: dict[str, Operand], **modifiers: int
    ) -> Instruction:
        """An instruction of a row: ``fixed`` slots hold constants, the others take ``defs`` and ``uses`` in order."""
        return row_instruction(self.generation, self.processor.name, mnemonic, defs, uses, fixed, modifiers)

    # Spills

    def _scratch(self, code: LowCode, slot: int) -> tuple[list[Instruction], dict[str, Operand], list[Ref], int]:
        """Address of a spill slot in scratch: instructions in front, constant operands, the register of ``saddr``
        where it is none of them, and the offset.
        """
        offset = self.private_bytes + 4 * slot
        if offset + 4 <= SCRATCH_OFFSET_LIMIT:
            return [], {"vaddr": OFF, "saddr": OFF}, [], offset
        base = code.new_register("amdgpu.sgpr", 1)
        base.spill_temp = True
        high = offset // SCRATCH_OFFSET_LIMIT * SCRATCH_OFFSET_LIMIT
        move = self.instruction("s_mov_b32", [(base, 0, 1)], [], {"ssrc0": Literal(high)})
        return [move], {"vaddr": OFF}, [(base, 0, 1)], offset - high

    def _lane(self, slot: int) -> tuple[Operand, Operand]:
        """The vector register (numbered from -1 downwards) and the lane of a spill slot for a scalar."""
        register, lane = divmod(slot, self.wave_size)
        return Register("vgpr", -1 - register), lane_select(lane)

    def spill_store(self, code: LowCode, value: Ref, slot: int, at: Instruction) -> list[Instruction]:
        """Keep a value: vector registers in scratch, scalar ones in lanes."""
        register, first, units = value
        result: list[Instruction] = []
        for unit in range(units):
            ref: Ref = (register, first + unit, 1)
            if register.register_class == "amdgpu.sgpr":
                lane_register, lane = self._lane(slot + unit)
                fixed: dict[str, Operand] = {"vdst": lane_register, "src1": lane}
                made = self.instruction("v_writelane_b32", [], [ref], fixed)
            else:
                front, fixed, refs, offset = self._scratch(code, slot + unit)
                result.extend(front)
                made = self.instruction("scratch_store_b32", [], [ref, *refs], fixed, offset=offset)
            result.append(_on_behalf_of(at, made, "spill"))
        return result

    def spill_reload(self, code: LowCode, value: Ref, slot: int, at: Instruction) -> list[Instruction]:
        """Define a value from where :meth:`spill_store` kept it."""
        register, first, units = value
        result: list[Instruction] = []
        parts: list[Ref] = []
        for unit in range(units):
            if units == 1:
                target: Ref = (register, first, 1)
            else:
                part = code.new_register(register.register_class, 1, register.name)
                part.spill_temp = True
                target = (part, 0, 1)
            parts.append(target)
            if register.register_class == "amdgpu.sgpr":
                lane_register, lane = self._lane(slot + unit)
                fixed: dict[str, Operand] = {"src0": lane_register, "src1": lane}
                made = self.instruction("v_readlane_b32", [target], [], fixed)
            else:
                front, fixed, refs, offset = self._scratch(code, slot + unit)
                result.extend(front)
                made = self.instruction("scratch_load_b32", [target], refs, fixed, offset=offset)
            result.append(_on_behalf_of(at, made, "reload"))
        if units > 1:
            join = Instruction(
                COPY, "reload", [(register, first + unit, 1) for unit in range(units)], parts, location=at.location
            )
            join.locked = at.locked
            result.append(join)
        return result


def _on_behalf_of(at: Instruction, made: Instruction, origin: str) -> Instruction:
    """Spill code stands where the instruction stands that it is made for, and moves no further."""
    made.location = at.location
    made.origin = origin
    made.locked = at.locked
    made.phase = at.phase
    return made


def lane_select(lane: int) -> Operand:
    """A lane number as a source."""
    found = Inline.integer(lane)
    return found if found is not None else Immediate(lane)


CONSTRAINED_REACH = 16
"""Places that ``schedule(constrained)`` lets an instruction move ahead: enough to cover the latency of vector and
scalar arithmetic, while memory accesses stay near where they are written."""


def schedule_limits() -> ScheduleLimits:
    """What scheduling may do to ``schedule(constrained)``: accesses to memory, matrix operations and side effects keep
    the order of the text among themselves (the author's balance of the units), and nothing moves farther than
    :data:`CONSTRAINED_REACH`; pairing brings the second half of a pair forward, which counts in."""
    return ScheduleLimits(CONSTRAINED_REACH - WINDOW, _keeps_order)


def _keeps_order(instruction: Instruction) -> bool:
    traits = instruction.traits
    accesses = instruction.kind == OP and instruction.payload.row.memory is not None
    return accesses or traits.side_effects or traits.barrier or traits.issue in ("matrix", "lds")


def preferred_pressure(processor: Processor, wave_size: int) -> dict[str, int]:
    """Live units up to which scheduling follows latency alone, by file.

    Half of what still allows eight waves on a SIMD: the scheduler sees one block at a time, and what lives across it
    counts too.
    """
    per_wave = processor.total_vgprs // 16 if wave_size == 32 else processor.total_vgprs // 32
    return {"vgpr": max(24, min(64, per_wave // 2)), "sgpr": 56}
