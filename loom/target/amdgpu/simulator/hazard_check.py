"""Missing no-ops as faults: the hazards of the target's table, found on the final code."""

from __future__ import annotations

from collections.abc import Sequence

from loom.target.amdgpu.hazards import HazardScan
from loom.target.amdgpu.machine import MachineBlock, MachineInstruction, MachineProgram
from loom.target.amdgpu.processors import processor
from loom.target.amdgpu.simulator.hazards_gfx9 import Gfx9Hazards
from loom.target.amdgpu.simulator.translate import StaticFault, split_blocks, target_of

CERTAIN = frozenset(("valu_trans_use", "valu_partial_forwarding", "wmma"))
"""Hazards of the table that are faults. Of the others, writes over lane masks end by more events than the table's scan
knows, which is right for inserting a wait and not for refusing foreign code; scalar registers that vector instructions
have read (gfx12) are a hazard that released compilers did not know.
"""


def hazard_faults(
    code: Sequence[MachineInstruction], entries: Sequence[int], processor_name: str, wave: int
) -> dict[int, StaticFault]:
    """For each instruction that needs a no-op (or a wait) in front and has none, the fault."""
    blocks = split_blocks(code, entries)
    if processor(processor_name).generation == "gfx9.4":
        return Gfx9Hazards(code, blocks, processor_name).run()
    labels = {code[first].pc: f"b{code[first].pc:x}" for first, _ in blocks}
    program = MachineProgram(
        "kernel", processor_name, wave, [_block(code, first, last, labels) for first, last in blocks]
    )
    found: dict[int, StaticFault] = {}
    scan = HazardScan(program, processor(processor_name).generation)
    for (first, _), hazards in zip(blocks, scan.run(), strict=True):
        for position, hazard in enumerate(hazards):
            if hazard is None or hazard.name not in CERTAIN:
                continue
            number = first + position
            found[number] = StaticFault(
                "missing_nop", f"the hazard '{hazard.name}' needs {hazard.fix} in front of this instruction"
            )
    return found


def _block(code: Sequence[MachineInstruction], first: int, last: int, labels: dict[int, str]) -> MachineBlock:
    from loom.target.amdgpu.machine import BranchTarget

    instructions = []
    for number in range(first, last):
        instruction = code[number]
        target = target_of(instruction)
        if target is not None:
            operands = tuple(
                BranchTarget(labels.get(target), target) if isinstance(o, BranchTarget) else o
                for o in instruction.operands
            )
            instruction = MachineInstruction(
                instruction.row,
                instruction.form,
                operands,
                instruction.modifiers,
                pc=instruction.pc,
                size=instruction.size,
            )
        instructions.append(instruction)
    return MachineBlock(labels[code[first].pc], instructions)
