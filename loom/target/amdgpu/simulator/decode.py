"""Decoding for the simulator: a word that is no instruction becomes one that faults when it is reached."""

from __future__ import annotations

from loom.diagnostics import LoomError
from loom.target.amdgpu.decoder import decoder
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import BranchTarget, MachineInstruction
from loom.target.amdgpu.processors import Processor

UNKNOWN = "unknown instruction"


def _unknown(word: int, offset: int, generation: str) -> MachineInstruction:
    row = InstructionRow(UNKNOWN, (), generation, (), (), (), (), None, (), "other", 0, (), UNKNOWN)
    return MachineInstruction(row, None, (), {"word": word}, pc=offset, size=4)


def decode_range(text: bytes, start: int, size: int, processor: Processor, wave: int) -> list[MachineInstruction]:
    """Decode ``size`` bytes from ``start``; ``pc`` and branch targets are offsets in ``text``."""
    decode = decoder(processor.name, wave).decode
    end = min(start + size, len(text))
    at = start
    result: list[MachineInstruction] = []
    while at + 4 <= end:
        try:
            instruction = decode(text, at)
        except LoomError:
            instruction = _unknown(int.from_bytes(text[at : at + 4], "little"), at, processor.generation)
        instruction.pc = at
        at += instruction.size
        if instruction.row.issue_class == "branch" and instruction.operands:
            instruction.operands = tuple(
                BranchTarget(None, at + o.offset) if type(o) is BranchTarget else o for o in instruction.operands
            )
        result.append(instruction)
    return result


__all__ = ["UNKNOWN", "decode_range"]
