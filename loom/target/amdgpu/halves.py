"""16-bit halves of vector registers that memory instructions use, for the rules of waits.

On gfx11 and gfx12 a memory instruction that loads or stores 16 bits or less depends on one half of its data register
only: ``ds_store_b16_d16_hi v1`` may follow a load into the lower half of ``v1`` that is still under way. Vector ALU
instructions depend on the whole register, whatever half they name. (Source: LLVM's insertion of waits, which tracks
halves, and its feature ``d16-write-vgpr32``.) On gfx9.4 the whole register counts always.
"""

from __future__ import annotations

from collections.abc import Iterable

from loom.target.amdgpu.access import AGPR, reads_and_writes, units_of
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import MachineInstruction, Register

UPPER = 4096
"""Added to a VGPR's unit number to name its upper half, where halves are told apart; the plain number is the lower."""


def data_half(row: InstructionRow) -> int | None:
    """Which half of its data register a memory instruction loads or stores (0, 1); ``None`` for whole registers."""
    memory = row.memory
    if memory is None or row.generation == "gfx9.4" or memory.bytes > 2 or memory.space == "constant":
        return None
    words = row.semantic.split("_")
    if "format" in words or (memory.kind == "load" and "d16" not in words) or memory.kind not in ("load", "store"):
        return None
    return int("hi" in words)


def halved_registers(instructions: Iterable[MachineInstruction]) -> frozenset[int]:
    """VGPRs of which some load writes one half."""
    found: set[int] = set()
    for instruction in instructions:
        memory = instruction.row.memory
        if memory is not None and memory.kind == "load" and data_half(instruction.row) is not None:
            found.update(reads_and_writes(instruction)[1])
    return frozenset(unit for unit in found if unit < AGPR)


def units_by_halves(instruction: MachineInstruction, halved: frozenset[int]) -> tuple[list[int], list[int]]:
    """Units read and written, like :func:`reads_and_writes`, with the halves of ``halved`` registers told apart."""
    reads, writes = reads_and_writes(instruction)
    if not halved or (halved.isdisjoint(reads) and halved.isdisjoint(writes)):
        return reads, writes
    half = data_half(instruction.row)
    memory = instruction.row.memory
    if half is None or memory is None:
        return _both(reads, halved), _both(writes, halved)
    names = (memory.result,) if memory.kind == "load" else memory.data
    data = [
        unit
        for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True)
        if slot.name in names and isinstance(operand, Register)
        for unit in units_of(operand)
    ]
    part = [unit + UPPER * half if unit in halved else unit for unit in data]
    if memory.kind == "load":
        # The other half stays as it is: the old value is no input of the instruction.
        address = [
            unit
            for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True)
            if slot.name not in names and slot.is_use and isinstance(operand, Register)
            for unit in units_of(operand)
        ]
        return _both(address, halved), part
    rest = list(reads)
    for unit in data:
        rest.remove(unit)
    return [*_both(rest, halved), *part], _both(writes, halved)


def whole_register(unit: int) -> int:
    """The unit number of the register that a half belongs to."""
    return unit - UPPER if unit >= UPPER else unit


def _both(units: list[int], halved: frozenset[int]) -> list[int]:
    return [*units, *(unit + UPPER for unit in units if unit in halved)]
