"""Shorter forms of allocated instructions: what becomes possible once registers are known."""

from __future__ import annotations

from loom.target.amdgpu.machine import MachineInstruction, MachineProgram, Operand, Register
from loom.target.amdgpu.tables import find_row

ACCUMULATING = {"v_fma_f32": "v_fmac_f32", "v_fma_f16": "v_fmac_f16"}
"""Three-source multiply-add to the two-source form whose destination is the addend."""


def shorten(program: MachineProgram, generation: str, keep: set[int], renamed: dict[int, int]) -> int:
    """Use the accumulating form where the destination is the addend; returns how many instructions changed.

    ``keep`` holds the ``id`` of instructions that stay as they are. ``renamed`` gets, by ``id`` of a new
    instruction, the ``id`` of the one it replaces.
    """
    if generation not in ("gfx11", "gfx12"):
        return 0
    changed = 0
    for block in program.blocks:
        for position, instruction in enumerate(block.instructions):
            name = ACCUMULATING.get(instruction.row.mnemonic)
            if (
                name is None
                or id(instruction) in keep
                or instruction.modifiers
                or instruction.raw
                or instruction.form not in (None, "e64")
            ):
                continue
            made = _accumulate(instruction, name, generation)
            if made is not None:
                renamed[id(made)] = id(instruction)
                block.instructions[position] = made
                changed += 1
    return changed


def _is_vector(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.bank == "vgpr" and not operand.half


def _accumulate(instruction: MachineInstruction, name: str, generation: str) -> MachineInstruction | None:
    destination, first, second, addend = instruction.operands
    if destination is not addend or not _is_vector(destination):
        return None
    if not _is_vector(second):
        first, second = second, first
    if not _is_vector(second):
        return None
    row = find_row(generation, name)
    if row is None:
        return None
    return MachineInstruction(row, None, (destination, first, second), location=instruction.location)
