"""Immediates that are written like calls: ``sendmsg(…)``, ``hwreg(…)``, wait counters, delays."""

from __future__ import annotations

from loom.target.amdgpu.assembler.expressions import failure
from loom.target.amdgpu.assembler.reading import Reading
from loom.target.amdgpu.immediates import (
    WAITCNT,
    delay_value,
    depctr_field,
    function_value,
    waitcnt_limit,
    waitcnt_value,
)


def read_function(reading: Reading) -> int:
    """The immediate that the call or the row of calls standing here means.

    Raises:
        LoomError: ``ASM/005``.
    """
    return (_named_value if reading.cursor.token.text in ("sendmsg", "hwreg") else _parts)(reading)


def _named_value(reading: Reading) -> int:
    cursor, generation = reading.cursor, reading.target.generation
    token = cursor.next()
    cursor.expect("(")
    arguments: list[str | int] = []
    while not cursor.accept(")"):
        if cursor.token.kind == "name" and cursor.token.text.startswith(("MSG_", "GS_", "HW_", "SYSMSG_")):
            arguments.append(cursor.next().text)
        else:
            arguments.append(reading.number())
        cursor.accept(",")
    value = function_value(token.text, arguments, generation)
    if value is None:
        raise failure(
            f"these are no arguments for {token.text} on {reading.target.name}",
            cursor.location,
            token.column,
            "ASM/005",
        )
    return value


def _parts(reading: Reading) -> int:
    """Wait counters, dependency counters or delays, as many as stand in a row."""
    cursor, generation = reading.cursor, reading.target.generation
    counters = WAITCNT[generation]
    waits: dict[str, int] = {}
    depctr = 0xFFFF if reading.row.mnemonic in ("s_waitcnt_depctr", "s_wait_alu") else None
    used_depctr = 0
    delay = 0
    while cursor.token.kind == "name" and cursor.tokens[cursor.at + 1].text == "(":
        part = cursor.next()
        cursor.next()
        base = part.text.removesuffix("_sat")
        if part.text.startswith("inst"):
            argument = cursor.next().text
            bits = delay_value(part.text, argument)
            if bits is None:
                raise failure(f"{argument} is no {part.text}", cursor.location, part.column, "ASM/005")
            delay |= bits
        elif base in counters and depctr is None:
            value = reading.number()
            limit = waitcnt_limit(base, generation)
            if (value > limit and not part.text.endswith("_sat")) or value < 0:
                raise failure(f"{base} ranges from 0 to {limit}, not {value}", cursor.location, part.column, "ASM/005")
            waits[base] = value
        elif (place := depctr_field(part.text)) is not None and depctr is not None:
            value = reading.number()
            shift, width = place
            if not 0 <= value < 1 << width:
                raise failure(
                    f"{part.text} ranges from 0 to {(1 << width) - 1}", cursor.location, part.column, "ASM/005"
                )
            depctr = depctr & ~(((1 << width) - 1) << shift) | value << shift
            used_depctr += 1
        else:
            raise failure(f"unknown function '{part.text}'", cursor.location, part.column, "ASM/005")
        cursor.expect(")")
        if cursor.token.text in ("&", "|") or (cursor.token.text == "," and cursor.tokens[cursor.at + 2].text == "("):
            cursor.next()
    if used_depctr:
        return (depctr or 0) & 0xFF9F
    return delay if reading.row.mnemonic == "s_delay_alu" else waitcnt_value(waits, generation)
