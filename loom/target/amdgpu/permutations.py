"""gfx11, gfx12: a lane permutation behind a ``v_cmpx`` needs a vector instruction in between.

Facts from LLVM's hazard recognizer for the AMDGPU target (``fixVcmpxPermlaneHazards``): a ``v_nop`` does not count.
What is put in between is a move of the permutation's own source onto itself, which is alive and waited for.
"""

from __future__ import annotations

from loom.target.amdgpu.machine import MachineInstruction, MachineProgram, Register
from loom.target.amdgpu.operation import VECTOR_CLASSES
from loom.target.amdgpu.waits import successors_of

PERMUTATIONS = ("v_permlane16_", "v_permlanex16_", "v_permlane64_")


def permuted_source(instruction: MachineInstruction) -> Register | None:
    """The vector register that a lane permutation reads, None for other instructions."""
    row = instruction.row
    if not row.mnemonic.startswith(PERMUTATIONS):
        return None
    for slot, operand in zip(row.slots, instruction.operands, strict=True):
        if slot.name == "src0" and isinstance(operand, Register):
            return operand
    return None


def permutations_behind_compares(program: MachineProgram) -> list[list[Register | None]]:
    """For every instruction the register to move onto itself in front of it, or None."""
    found: list[list[Register | None]] = [[None] * len(block.instructions) for block in program.blocks]
    if not any(permuted_source(instruction) for instruction in program.instructions()):
        return found
    successors = successors_of(program)
    entry: list[bool | None] = [None] * len(program.blocks)
    entry[0] = False
    work = [0]
    while work:
        index = work.pop()
        compared = bool(entry[index])
        for place, instruction in enumerate(program.blocks[index].instructions):
            if instruction.row.issue_class not in VECTOR_CLASSES:
                continue
            source = permuted_source(instruction)
            if compared and source is not None:
                found[index][place] = source
            if instruction.row.mnemonic != "v_nop":
                compared = instruction.row.mnemonic.startswith("v_cmpx")
        for successor in successors[index]:
            known = entry[successor]
            if known is None or (compared and not known):
                entry[successor] = compared
                work.append(successor)
    return found
