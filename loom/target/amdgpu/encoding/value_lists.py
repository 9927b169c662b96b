"""What every value of a field stands for: lists of operands, indexed by the value.

``None`` is no operand, :data:`LITERAL_MARK` says that a literal follows. Encoding is the inverse. Lists are built on
first use and shared by all encodings.
"""

from __future__ import annotations

from functools import cache

from loom.target.amdgpu.machine import OFF, Operand, Register
from loom.target.amdgpu.registers import LITERAL_CODE, scalar_operand
from loom.target.amdgpu.tables import table

LITERAL_MARK = Register("literal", 0, 0)
"""Stands in decoding lists where the operand is the literal behind the instruction."""

Decoding = list[Operand | None]


def vgpr_alignment(generation: str, units: int) -> int:
    """Alignment of vector register tuples: CDNA wants tuples to start at an even register."""
    return 2 if generation == "gfx9.4" and units > 1 else 1


@cache
def vector_list(generation: str, bank: str, units: int) -> tuple[Operand | None, ...]:
    """The 256 values of a vector register field."""
    alignment = vgpr_alignment(generation, units)
    return tuple(
        Register(bank, index, units) if index + units <= 256 and index % alignment == 0 else None
        for index in range(256)
    )


@cache
def half_list() -> tuple[Operand | None, ...]:
    """True16 field with the half in bit 7."""
    return tuple(Register("vgpr", value & 127, 1, value >> 7) for value in range(256))


@cache
def selected_half_list() -> tuple[Operand | None, ...]:
    """True16 field of eight bits with the half from ``op_sel`` in bit 8."""
    return tuple(Register("vgpr", value & 255, 1, value >> 8) for value in range(512))


def _accepted(generation: str, accept: str) -> int:
    if not accept:
        return (1 << 257) - 1
    mask = table(generation).accept[int(accept.removesuffix("+v"))]
    return mask | 1 << 256 if accept.endswith("+v") else mask


@cache
def source_list(generation: str, units: int, accept: str, bits: int) -> tuple[Operand | None, ...]:
    """A source field of ``bits`` bits (7: destination, 8: scalar, 9: with vector registers)."""
    mask = _accepted(generation, accept)
    result: Decoding = []
    for code in range(min(256, 1 << bits)):
        if not mask >> code & 1:
            result.append(None)
        elif code == LITERAL_CODE and bits > 7:
            result.append(LITERAL_MARK)
        else:
            result.append(scalar_operand(generation, code, units))
    if bits == 9:
        vectors = vector_list(generation, "vgpr", units) if mask >> 256 & 1 else (None,) * 256
        result.extend(vectors)
    return tuple(result)


@cache
def half_source_list(generation: str, accept: str) -> tuple[Operand | None, ...]:
    """A 9-bit true16 source with the half in bit 7 of the vector register number."""
    scalars = source_list(generation, 1, accept, 9)[:256]
    return (*scalars, *half_list())


@cache
def selected_half_source_list(generation: str, accept: str) -> tuple[Operand | None, ...]:
    """A 9-bit true16 source with the half from ``op_sel`` in bit 9; the bit says nothing about scalar sources here."""
    scalars = source_list(generation, 1, accept, 9)[:256]
    low = tuple(Register("vgpr", index, 1, 0) for index in range(256))
    high = tuple(Register("vgpr", index, 1, 1) for index in range(256))
    return (*scalars, *low, *scalars, *high)


@cache
def accumulator_list(generation: str, units: int) -> tuple[Operand | None, ...]:
    """A vector register field with the accumulator bit as bit 8."""
    return (*vector_list(generation, "vgpr", units), *vector_list(generation, "agpr", units))


@cache
def accumulator_source_list(generation: str, units: int, accept: str) -> tuple[Operand | None, ...]:
    """A 9-bit source with the accumulator bit as bit 9."""
    plain = source_list(generation, units, accept, 9)
    return (*plain, *plain[:256], *vector_list(generation, "agpr", units))


@cache
def shifted_list(generation: str, units: int, shift: int, bits: int, accept: str) -> tuple[Operand | None, ...]:
    """A scalar register field that counts pairs or quads."""
    mask = _accepted(generation, accept)
    result: Decoding = []
    for value in range(1 << bits):
        code = value << shift
        legal = code < 128 and mask >> code & 1
        operand = scalar_operand(generation, code, units) if legal else None
        usable = isinstance(operand, Register) and operand.bank not in ("null", "m0", "exec")
        result.append(operand if usable else None)
    return tuple(result)


@cache
def sdwa_source_list(generation: str, units: int) -> tuple[Operand | None, ...]:
    """SDWA source: eight bits and the scalar bit as bit 8."""
    scalars = tuple(scalar_operand(generation, code, units) if code < LITERAL_CODE - 1 else None for code in range(256))
    return (*vector_list(generation, "vgpr", units), *scalars)


@cache
def sdwa_destination_list(generation: str) -> tuple[Operand | None, ...]:
    """SDWA compare destination: bit 7 set means the scalar register in the low bits, clear means VCC."""
    named = tuple(scalar_operand(generation, code, 2) for code in range(128))
    vcc = (Register("vcc", 0, 2), *([None] * 127))
    return (*vcc, *named)


@cache
def without_literal(values: tuple[Operand | None, ...]) -> tuple[Operand | None, ...]:
    """The same list where no literal may follow (DPP)."""
    return tuple(None if operand is LITERAL_MARK else operand for operand in values)


def fixed_operand(name: str, wave_size: int) -> Register:
    """The register a ``=NAME`` codec stands for."""
    if name in ("vcc", "exec"):
        return Register(name, 0, wave_size // 32)
    return Register(name)


@cache
def off_or_scalar_list(generation: str, units: int, accept: str, off_code: int) -> tuple[Operand | None, ...]:
    """A seven-bit scalar register field in which one code means that there is none."""
    plain = list(source_list(generation, units, accept, 7))
    plain[off_code] = OFF
    return tuple(plain)
