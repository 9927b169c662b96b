"""Instructions that help the hardware and mean nothing: load clauses, and giving registers back before the end."""

from __future__ import annotations

from loom.target.amdgpu.access import reads_and_writes
from loom.target.amdgpu.machine import Immediate, MachineInstruction, MachineProgram
from loom.target.amdgpu.tables import find_row
from loom.target.amdgpu.waits import counters_raised

MAXIMUM_CLAUSE = 32
"""Memory instructions in one clause (``s_clause`` takes 63; LLVM forms up to 32 to keep other waves running)."""

DEALLOC_VGPRS = 3
"""Message number of ``MSG_DEALLOC_VGPRS`` (AMD RDNA 3 ISA, table of messages)."""


def _clause_kind(instruction: MachineInstruction) -> str | None:
    """Kind of clause an instruction may be part of; loads only."""
    memory = instruction.row.memory
    if memory is None or memory.kind != "load":
        return None
    if memory.space == "constant":
        return "smem"
    if memory.space in ("global", "buffer", "scratch"):
        return "vmem"
    return "flat" if memory.space == "flat" else None


def insert_clauses(program: MachineProgram, generation: str) -> int:
    """Put ``s_clause`` in front of runs of two or more loads of one kind that do not feed one another; returns how
    many."""
    if generation not in ("gfx11", "gfx12"):
        return 0
    row = find_row(generation, "s_clause")
    if row is None:
        return 0
    made = 0
    for block in program.blocks:
        runs: list[tuple[str | None, list[MachineInstruction]]] = []
        written: set[int] = set()
        for instruction in block.instructions:
            kind = _clause_kind(instruction)
            reads, writes = reads_and_writes(instruction) if kind is not None else ([], [])
            fits = (
                kind is not None
                and bool(runs)
                and runs[-1][0] == kind
                and len(runs[-1][1]) < MAXIMUM_CLAUSE
                and written.isdisjoint(reads)
            )
            if fits:
                runs[-1][1].append(instruction)
            else:
                runs.append((kind, [instruction]))
                written = set()
            written.update(writes)
        result: list[MachineInstruction] = []
        for kind, run in runs:
            if kind is not None and len(run) > 1:
                result.append(MachineInstruction(row, None, (Immediate(len(run) - 1),), location=run[0].location))
                made += 1
            result.extend(run)
        block.instructions = result
    return made


def release_registers(program: MachineProgram, generation: str) -> int:
    """Give the vector registers back in front of each end of the program that stores are still under way at; returns
    how many."""
    if generation != "gfx11":
        return 0
    send, nop = find_row(generation, "s_sendmsg"), find_row(generation, "s_nop")
    if send is None or nop is None:
        return 0
    made = 0
    for block in program.blocks:
        if not block.instructions or block.instructions[-1].row.mnemonic != "s_endpgm":
            continue
        if not any("vscnt" in counters_raised(i) for b in program.blocks for i in b.instructions):
            continue
        end = block.instructions[-1]
        block.instructions[-1:-1] = [
            MachineInstruction(nop, None, (Immediate(0),), location=end.location),
            MachineInstruction(send, None, (Immediate(DEALLOC_VGPRS),), location=end.location),
        ]
        made += 1
    return made
