"""Missing no-ops as faults: the hazards of the target's table, found on the final code."""

from __future__ import annotations

from collections.abc import Sequence

from loom.target.amdgpu.hazards import HazardScan
from loom.target.amdgpu.machine import BranchTarget, MachineBlock, MachineInstruction, MachineProgram
from loom.target.amdgpu.processors import processor
from loom.target.amdgpu.scalar_reads import scalar_read_waits
from loom.target.amdgpu.simulator.flow import (
    instructions_before,
    long_branches,
    starting_blocks,
    successors_within_functions,
)
from loom.target.amdgpu.simulator.hazards_gfx9 import Gfx9Hazards
from loom.target.amdgpu.simulator.hazards_rdna import forwards_partially, missing_waits, unguarded_messages
from loom.target.amdgpu.simulator.jumps import target_of
from loom.target.amdgpu.simulator.translate import StaticFault, split_blocks
from loom.target.amdgpu.waits import successors_of

CERTAIN = frozenset(("valu_trans_use", "valu_partial_forwarding", "wmma"))
"""Hazards of the table's scan that are faults as they stand. For writes over lane masks the scan asks for a wait right
behind the write, where refusing foreign code must ask for it in front of the read; for gfx12's scalar reads it does not
see the calls."""

KNOWN_SINCE = {"valu_read_sgpr": 22, "valu_mask_write": 22}
"""Major version of LLVM from which on compilers resolve a hazard by the rule that is checked here. Objects of older
compilers are not checked for it: they lack waits in places where the hardware rarely needs them."""


def hazard_faults(
    code: Sequence[MachineInstruction],
    entries: Sequence[int],
    processor_name: str,
    wave: int,
    compiler: int | None = None,
) -> dict[int, StaticFault]:
    """For each instruction that needs a no-op (or a wait) in front and has none, the fault.

    Args:
        code: The kernel and what it calls.
        entries: Byte offsets where control may enter, the kernel's first.
        processor_name: Processor that runs it.
        wave: Lanes of a wave.
        compiler: Major version of LLVM that the object says it was compiled with.
    """
    blocks = split_blocks(code, entries)
    generation = processor(processor_name).generation
    if generation == "gfx9.4":
        return Gfx9Hazards(code, blocks, processor_name, entries).run()
    unknown = {name for name, since in KNOWN_SINCE.items() if compiler is not None and compiler < since}
    masked = generation == "gfx11" and wave == 64 and "valu_mask_write" not in unknown
    successors = successors_within_functions(code, blocks, entries)
    starts = starting_blocks(code, blocks, entries)
    missing = missing_waits(code, blocks, successors, starts, masked)
    missing |= unguarded_messages(code)
    found = {number: StaticFault("missing_nop", what) for number, what in missing.items()}
    before = instructions_before(blocks, successors)
    labels = {code[first].pc: f"b{code[first].pc:x}" for first, _ in blocks}
    program = MachineProgram(
        "kernel", processor_name, wave, [_block(code, first, last, labels) for first, last in blocks]
    )
    branches = long_branches(code, entries)
    at = {code[first].pc: block for block, (first, _) in enumerate(blocks)}
    following = successors_of(program)
    for block, (_, last) in enumerate(blocks):
        if branches.get(last - 1) in at:
            following[block] = [at[branches[last - 1]]]
    scan = HazardScan(program, generation, starts, following).run()
    for number, hazard in enumerate(h for hazards in scan for h in hazards):
        if hazard is None or hazard.name not in CERTAIN:
            continue
        if hazard.name != "valu_partial_forwarding" or forwards_partially(code, number, before):
            found[number] = _missing(hazard.name, hazard.fix)
    if generation == "gfx12" and "valu_read_sgpr" not in unknown:
        called = [n for n, (first, _) in enumerate(blocks) if code[first].pc in tuple(entries)[1:]]
        jumps = {id(code[number]) for number in branches}
        waits = scalar_read_waits(program, called, following, jumps)
        for number, fields in enumerate(f for one in waits for f in one):
            if fields:
                found[number] = _missing("valu_read_sgpr", "+".join(fields))
    return found


def _missing(hazard: str, fix: str) -> StaticFault:
    return StaticFault("missing_nop", f"the hazard '{hazard}' needs {fix} in front of this instruction")


def _block(code: Sequence[MachineInstruction], first: int, last: int, labels: dict[int, str]) -> MachineBlock:
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
