"""Numbers and symbols as the operand that a row's slot takes: inline constant, literal, immediate, branch target."""

from __future__ import annotations

from loom.diagnostics import Location
from loom.target.amdgpu.assembler.expressions import failure, float_bits
from loom.target.amdgpu.assembler.reading import Deferred, Parsed
from loom.target.amdgpu.instruction import InstructionRow, OperandSlot
from loom.target.amdgpu.machine import INLINE_FLOATS, BranchTarget, Immediate, Inline, Literal, Operand, Register

_INLINE_32 = {Inline(code).bits("f32"): code for code in INLINE_FLOATS}
_INLINE_16 = {Inline(code).bits("f16"): code for code in INLINE_FLOATS}
_INLINE_64 = {Inline(code).bits("f64"): code for code in INLINE_FLOATS}


def convert(row: InstructionRow, slot: OperandSlot, item: Parsed, location: Location) -> Operand | Deferred:
    """What an operand means in a slot of a row.

    Raises:
        LoomError: ``ASM/008`` for what cannot stand there, ``ASM/009`` for a symbol without a value.
    """
    kinds = slot.kinds
    if item.operand is not None:
        operand = item.operand
        if (
            isinstance(operand, Register)
            and operand.bank == "off"
            and row.encodings[0].format in ("MUBUF", "MTBUF")
            and slot.name == "soffset"
        ):
            return Register("null")
        return operand
    if slot.type == "label":
        if item.integer is not None:
            words = item.integer - 0x10000 if item.integer & 0x8000 and item.integer <= 0xFFFF else item.integer
            return BranchTarget(None, words * 4)
        return BranchTarget(item.name)
    if item.symbolic is not None:
        return Immediate(item.symbolic)
    if kinds == ("imm",):
        if item.integer is None:
            raise failure(f"{slot.name} of {row.mnemonic} is a number", location, item.column, "ASM/008")
        value = item.integer
        if slot.type == "i16" and value & 0x8000 and 0 <= value <= 0xFFFF:
            value -= 0x10000
        elif slot.type != "i16" and -0x8000 <= value < 0:
            value &= 0xFFFF
        return Immediate(value)
    if item.real is not None:
        return _real(row, slot, item)
    if item.integer is None:
        if item.deferred is not None:
            return item.deferred
        raise failure(f"'{item.name}' has no value here", location, item.column, "ASM/009")
    value = item.integer
    if kinds == ("literal",):
        return Literal(value & 0xFFFFFFFF)
    if not item.forced_literal:
        inline = _inline(slot, value)
        if inline is not None:
            return inline
    if not -(1 << 31) <= value < 1 << 32:
        high = value & (1 << 64) - 1
        if slot.type == "f64" and not high & 0xFFFFFFFF:
            return Literal(high >> 32)
        raise failure(f"{value:#x} does not fit the 32-bit literal", location, item.column, "ASM/008")
    return Literal(value & (0xFFFF if "16" in slot.type and slot.units == 1 and -0x8000 <= value < 0 else 0xFFFFFFFF))


def _inline(slot: OperandSlot, value: int) -> Inline | None:
    found = Inline.integer(value if value < 1 << 31 or value >= 1 << 32 or slot.units == 2 else value - (1 << 32))
    if found is not None:
        return found
    if slot.units == 2:
        code = _INLINE_64.get(value)
    elif slot.type == "f16":
        code = _INLINE_16.get(value)
    elif "16" in slot.type and slot.units == 1 and not slot.type.startswith("v2"):
        code = None
    else:
        code = _INLINE_32.get(value & 0xFFFFFFFF)
    return None if code is None else Inline(code)


def _real(row: InstructionRow, slot: OperandSlot, item: Parsed) -> Operand:
    assert item.real is not None
    number = float(item.real)
    for code, known in INLINE_FLOATS.items():
        if number == known or (code == 248 and abs(number - known) < 1e-8):
            if slot.kinds == ("literal",) or item.forced_literal:
                break
            return Inline(code)
    if number == 0 and not item.real.startswith("-") and slot.kinds != ("literal",):
        return Inline(128)
    if slot.units == 2 and slot.type in ("f64", "b64", "i64", "u64"):
        bits = float_bits(item.real, 64)
        return Literal(bits >> 32)
    if slot.type in ("f16", "i16", "u16", "b16", "v2f16") or (
        slot.kinds == ("literal",) and row.mnemonic.endswith("_f16")
    ):
        return Literal(float_bits(item.real, 16))
    return Literal(float_bits(item.real, 32))
