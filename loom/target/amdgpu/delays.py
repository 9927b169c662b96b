"""``s_delay_alu``: tells the scheduler of the hardware which result an instruction will wait for, so that other
waves issue meanwhile.

A hint without meaning for values (gfx11, gfx12). Encoding (AMD RDNA 3 ISA, "S_DELAY_ALU"): bits 3:0 the dependence
of the next
instruction, bits 6:4 how many instructions to skip, bits 10:7 the dependence of the one behind them. Values 1–4 name
the
1st–4th last vector result, 5–7 the last transcendental ones, 9–11 scalar results by cycles.
"""

from __future__ import annotations

from loom.target.amdgpu.access import reads_and_writes
from loom.target.amdgpu.machine import Immediate, MachineInstruction, MachineProgram
from loom.target.amdgpu.operation import VECTOR_CLASSES
from loom.target.amdgpu.tables import find_row

VALU_DEPENDENCE, TRANS_DEPENDENCE, SALU_CYCLES = 1, 5, 9
"""First value of each kind of dependence."""
VALU_REACH, TRANS_REACH, SALU_REACH = 4, 3, 3
VALU_LATENCY, TRANS_LATENCY, SALU_LATENCY = 5, 10, 2
"""Cycles from issue to a result; behind them there is nothing to wait for."""
LARGEST_SKIP = 5
"""``instskip`` values: 0 the same instruction, 1 the next one, 2–5 one to four in between."""


def _clears(instruction: MachineInstruction) -> bool:
    """Whether all vector results are there once the instruction has issued: memory instructions read them first."""
    memory = instruction.row.memory
    if instruction.row.mnemonic == "s_waitcnt_depctr":
        return True
    return memory is not None and memory.space != "constant"


class _Block:
    """State along one block: for every unit kind, number among its kind, and cycle of its writer."""

    def __init__(self) -> None:
        self.writers: dict[int, tuple[str, int, int]] = {}
        self.counts = {"valu": 0, "trans": 0}
        self.cycle = 0

    def dependences(self, instruction: MachineInstruction) -> list[int]:
        """At most two dependences of a vector instruction, transcendental results first."""
        reads, _ = reads_and_writes(instruction)
        nearest: dict[str, int] = {}
        for unit in reads:
            found = self.writers.get(unit)
            if found is None:
                continue
            kind, number, cycle = found
            elapsed = self.cycle - cycle
            if kind == "salu":
                left = SALU_LATENCY - elapsed + 1
                if 0 < left <= SALU_REACH:
                    nearest[kind] = max(nearest.get(kind, 0), left)
                continue
            latency, reach = (TRANS_LATENCY, TRANS_REACH) if kind == "trans" else (VALU_LATENCY, VALU_REACH)
            distance = self.counts[kind] - number + 1
            if elapsed < latency and distance <= reach:
                nearest[kind] = min(nearest.get(kind, reach), distance)
        base = {"trans": TRANS_DEPENDENCE - 1, "valu": VALU_DEPENDENCE - 1, "salu": SALU_CYCLES - 1}
        return [base[kind] + nearest[kind] for kind in ("trans", "valu", "salu") if kind in nearest][:2]

    def advance(self, instruction: MachineInstruction) -> None:
        """Take note of what the instruction writes."""
        issue = instruction.row.issue_class
        kind = "trans" if issue == "trans" else "valu" if issue in VECTOR_CLASSES else "salu" if issue == "salu" else ""
        if _clears(instruction):
            self.writers.clear()
        if kind:
            if kind in self.counts:
                self.counts[kind] += 1
            _, writes = reads_and_writes(instruction)
            for unit in writes:
                self.writers[unit] = (kind, self.counts.get(kind, 0), self.cycle)
        self.cycle += 1


def insert_delays(program: MachineProgram, generation: str) -> int:
    """Insert the hints; returns how many."""
    row = find_row(generation, "s_delay_alu") if generation in ("gfx11", "gfx12") else None
    if row is None:
        return 0
    made = 0
    for block in program.blocks:
        state = _Block()
        result: list[MachineInstruction] = []
        #: The last hint that has room for a second dependence: its place in ``result``.
        open_hint = -1
        for instruction in block.instructions:
            if instruction.row.issue_class in VECTOR_CLASSES:
                ids = state.dependences(instruction)
                skip = len(result) - open_hint - 1
                if len(ids) == 1 and open_hint >= 0 and skip <= LARGEST_SKIP:
                    hint = result[open_hint]
                    value = next(o.value for o in hint.operands if isinstance(o, Immediate))
                    hint.operands = (Immediate(value | skip << 4 | ids[0] << 7),)
                    open_hint = -1
                elif ids:
                    value = ids[0] | (ids[1] << 7 if len(ids) > 1 else 0)
                    result.append(MachineInstruction(row, None, (Immediate(value),), location=instruction.location))
                    open_hint = len(result) - 1 if len(ids) == 1 else -1
                    made += 1
            state.advance(instruction)
            result.append(instruction)
        block.instructions = result
    return made
