"""Why an operand does not fit its place, in words."""

from __future__ import annotations

from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import BranchTarget, Immediate, Literal, Operand, Register


class CannotEncode(Exception):
    """Why an operand or modifier does not fit an encoding; the encoder turns it into a diagnostic."""


def describe(operand: Operand) -> str:
    """An operand in words, for messages."""
    if isinstance(operand, Literal):
        return f"the literal {operand.bits:#x}"
    if isinstance(operand, Immediate):
        return f"the immediate {operand.value}"
    if isinstance(operand, BranchTarget):
        return "a branch target"
    return f"the inline constant {operand.value}" if not isinstance(operand, Register) else str(operand)


def describe_refusal(row: InstructionRow, index: int, operand: Operand, text: str) -> str:
    """Say which rule an operand breaks in the slot with codec ``text``."""
    slot = row.slots[index]
    body = text.partition("@")[0]
    if isinstance(operand, Literal):
        return f"no literal fits {slot.name} of {row.mnemonic} in this encoding"
    if isinstance(operand, Register):
        digits = body.lstrip("vsabrqwco")
        units = int(digits.partition(".")[0]) if digits[:1].isdigit() else slot.units
        if body in ("sm", "dm"):
            units = operand.units
        if operand.bank in ("sgpr", "vgpr", "agpr", "ttmp") and operand.units != units and body not in ("vh", "sh"):
            return f"{slot.name} of {row.mnemonic} takes {units} registers, {operand} has {operand.units}"
        if operand.bank in ("sgpr", "ttmp") and operand.units > 1:
            alignment = 2 if operand.units == 2 else 4
            if operand.index % alignment:
                return (
                    f"{operand} is misaligned: a tuple of {operand.units} "
                    f"scalar registers starts at a multiple of {alignment}"
                )
        if operand.bank in ("vgpr", "agpr") and operand.units > 1 and operand.index % 2 and row.generation == "gfx9.4":
            return f"{operand} is misaligned: tuples of vector registers start at an even register on {row.generation}"
        if operand.bank in ("sgpr", "vgpr", "agpr") and operand.index + operand.units > (
            106 if operand.bank == "sgpr" else 256
        ):
            return f"{operand} runs past the last register"
        if body == "vh" and operand.half is not None and operand.index > 127:
            return f"{operand} is not available here: this encoding names the halves of v0 to v127 only"
    return f"{describe(operand)} is not available for {slot.name} of {row.mnemonic} in this encoding"
