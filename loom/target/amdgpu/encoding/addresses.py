"""Parts of a memory address: a register, a pair or none, as other fields of the instruction say."""

from __future__ import annotations

from collections.abc import Callable

from loom.target.amdgpu.encoding import value_lists
from loom.target.amdgpu.encoding.refusals import CannotEncode, describe
from loom.target.amdgpu.encoding.slots import Computed, Place, Values
from loom.target.amdgpu.machine import OFF, Operand, Register


def _looked_up(place: Place, name: str, values: Values) -> Computed:
    """An address part that is a list lookup in its own field."""
    field = place.format.fields[name]
    shift = field.pieces[0][0]
    mask = (1 << field.width) - 1
    codes = {operand: value << shift for value, operand in reversed([*enumerate(values)]) if operand is not None}

    def decode(word: int) -> Operand | None:
        return values[word >> shift & mask]

    def encode(operand: Operand) -> int:
        bits = codes.get(operand)
        if bits is None:
            raise CannotEncode(f"{describe(operand)} cannot be the {name}")
        return bits

    return Computed(decode, encode, mask << shift)


def _off_code(place: Place) -> int:
    return 127 if place.generation == "gfx9.4" else 124


def _global_saddr(place: Place) -> Computed:
    return _looked_up(
        place, "saddr", value_lists.off_or_scalar_list(place.generation, 2, place.accept, _off_code(place))
    )


def _global_vaddr(place: Place) -> Computed:
    """One register where ``saddr`` is given, else a pair."""
    shift = place.shift("vaddr")
    scalar = place.shift("saddr")
    off = _off_code(place)
    single = value_lists.vector_list(place.generation, "vgpr", 1)
    pair = value_lists.vector_list(place.generation, "vgpr", 2)

    def decode(word: int) -> Operand | None:
        return (pair if word >> scalar & 127 == off else single)[word >> shift & 255]

    def encode(operand: Operand) -> int:
        if not isinstance(operand, Register) or operand.bank != "vgpr" or operand.units > 2 or operand.half is not None:
            raise CannotEncode(
                f"{describe(operand)} cannot be the vaddr: a vector register or a pair of them is wanted"
            )
        if operand.units == 2 and operand.index % value_lists.vgpr_alignment(place.generation, 2):
            raise CannotEncode(f"{operand} is misaligned: register pairs start at an even register")
        return operand.index << shift

    return Computed(decode, encode, 255 << shift)


def _scratch_saddr(place: Place) -> Computed:
    return _looked_up(
        place, "saddr", value_lists.off_or_scalar_list(place.generation, 1, place.accept, _off_code(place))
    )


def _scratch_vaddr(place: Place) -> Computed:
    """A register where the ``sve`` bit is set, else off."""
    shift = place.shift("vaddr")
    enable = place.shift("sve")
    single = value_lists.vector_list(place.generation, "vgpr", 1)

    def decode(word: int) -> Operand | None:
        if word >> enable & 1:
            return single[word >> shift & 255]
        return OFF if not word >> shift & 255 else None

    def encode(operand: Operand) -> int:
        if operand is OFF:
            return 0
        if not isinstance(operand, Register) or operand.bank != "vgpr" or operand.units != 1:
            raise CannotEncode(f"{describe(operand)} cannot be the vaddr: one vector register or off is wanted")
        return operand.index << shift | 1 << enable

    return Computed(decode, encode, 255 << shift | 1 << enable)


def _buffer_vaddr(place: Place) -> Computed:
    """Off, an offset or an index, or a pair, as ``offen`` and ``idxen`` say."""
    shift = place.shift("vaddr")
    offen = place.shift("offen")
    idxen = place.shift("idxen")
    single = value_lists.vector_list(place.generation, "vgpr", 1)
    pair = value_lists.vector_list(place.generation, "vgpr", 2)

    def decode(word: int) -> Operand | None:
        count = (word >> offen & 1) + (word >> idxen & 1)
        value = word >> shift & 255
        if count == 0:
            return OFF if value == 0 else None
        return (single if count == 1 else pair)[value]

    def encode(operand: Operand) -> int:
        if operand is OFF:
            return 0
        if not isinstance(operand, Register) or operand.bank != "vgpr" or operand.units > 2 or operand.half is not None:
            raise CannotEncode(f"{describe(operand)} cannot be the vaddr: a vector register, a pair or off is wanted")
        if operand.units == 2 and operand.index % value_lists.vgpr_alignment(place.generation, 2):
            raise CannotEncode(f"{operand} is misaligned: register pairs start at an even register")
        return operand.index << shift

    return Computed(decode, encode, 255 << shift)


def _soffset(place: Place) -> Computed:
    """Scalar offset of a scalar load; ``null`` means none."""
    return _looked_up(place, "soffset", value_lists.off_or_scalar_list(place.generation, 1, place.accept, 124))


def _soffset9(place: Place) -> Computed:
    """gfx9: the soffset field counts where the ``soe`` bit is set."""
    values = value_lists.source_list(place.generation, 1, place.accept, 7)
    soffset, soe = place.shift("soffset"), place.shift("soe")
    codes = {operand: value for value, operand in reversed(list(enumerate(values))) if operand is not None}

    def decode(word: int) -> Operand | None:
        if word >> soe & 1:
            return values[word >> soffset & 127]
        return OFF if not word >> soffset & 127 else None

    def encode(operand: Operand) -> int:
        if operand is OFF:
            return 0
        code = codes.get(operand)
        if code is None:
            raise CannotEncode(f"{describe(operand)} cannot be the soffset")
        return code << soffset | 1 << soe

    return Computed(decode, encode, 127 << soffset | 1 << soe)


ADDRESS_PARTS: dict[str, Callable[[Place], Computed]] = {
    "global_saddr": _global_saddr,
    "global_vaddr": _global_vaddr,
    "scratch_saddr": _scratch_saddr,
    "scratch_vaddr": _scratch_vaddr,
    "buffer_vaddr": _buffer_vaddr,
    "soffset": _soffset,
    "soffset9": _soffset9,
}
"""Makers by codec."""
