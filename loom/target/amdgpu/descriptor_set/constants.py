"""Numbers and words in Low text as constant operands of an instruction."""

from __future__ import annotations

from typing import Any

from loom.diagnostics import Location, error
from loom.target.amdgpu.instruction import OperandSlot
from loom.target.amdgpu.machine import INLINE_FLOATS, OFF, Immediate, Inline, Literal, Operand, Register

#: 1/(2π), code 248, is compared by its bits or with a tolerance: no decimal number is it exactly.
_CODE_OF_VALUE = {value: code for code, value in INLINE_FLOATS.items() if code != 248}
_CODE_OF_BITS = {Inline(code).bits("f32"): code for code in INLINE_FLOATS}

_WORDS = {
    "null": Register("null"),
    "off": OFF,
    "exec_lo": Register("exec", 0, 1),
    "exec_hi": Register("exec", 1, 1),
}


def inline_of(value: int | float) -> Inline | None:
    """The inline constant for a number: an integer -16…64, a float constant, or the bits of one in single precision."""
    if isinstance(value, float):
        if value in _CODE_OF_VALUE:
            return Inline(_CODE_OF_VALUE[value])
        if abs(value - INLINE_FLOATS[248]) < 1e-7:
            return Inline(248)
        return Inline(128) if value == 0.0 and str(value) == "0.0" else None
    if -16 <= value <= 64:
        return Inline.integer(value)
    value &= 0xFFFFFFFF
    if value >= 0xFFFFFFF0:
        return Inline.integer(value - (1 << 32))
    return Inline(_CODE_OF_BITS[value]) if value in _CODE_OF_BITS else None


def reference_constant(value: Any, how: str, location: Location | None) -> Operand:
    """An immediate's operand in the reference form."""
    if how == "field":
        return Immediate(int(value))
    if how == "lit":
        return Literal(int(value) & 0xFFFFFFFF)
    found = inline_of(value)
    if found is not None:
        return found
    if how == "inline":
        raise error(
            f"{value} is no inline constant",
            "BACKEND/020",
            location,
            hint="inline constants are the integers -16 to 64 and ±0.5, ±1, ±2, ±4, 1/(2π) as raw bits; or use _lit",
        )
    return Literal(int(value) & 0xFFFFFFFF)


def table_constant(value: Any, slot: OperandSlot, literal: int, entry: str, location: Location | None) -> Operand:
    """A slot's constant in the table form."""
    if isinstance(value, str):
        if value == "literal":
            return Literal(literal & 0xFFFFFFFF)
        if value in _WORDS:
            found = _WORDS[value]
            return Register("null", 0, max(1, slot.units)) if value == "null" else found
        if value in ("exec", "vcc"):
            return Register(value, 0, 2)
        return Register(value, 0, max(1, slot.units))
    if isinstance(value, bool):
        value = int(value)
    if "imm" in slot.kinds and "inline" not in slot.kinds:
        return Immediate(int(value))
    found_inline = inline_of(value)
    if found_inline is not None:
        return found_inline
    if "literal" in slot.kinds and isinstance(value, int):
        return Literal(value & 0xFFFFFFFF)
    if "imm" in slot.kinds:
        return Immediate(int(value))
    raise error(
        f"{value} cannot stand in {entry} as an inline constant",
        "BACKEND/020",
        location,
        hint="move it to a register first, or use the literal where the instruction takes one",
    )
