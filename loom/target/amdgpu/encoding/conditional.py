"""Data operands that another field decides on: whether there is one, how long it is, which bank it is in."""

from __future__ import annotations

from loom.target.amdgpu.encoding import value_lists
from loom.target.amdgpu.encoding.refusals import CannotEncode, describe
from loom.target.amdgpu.encoding.slots import Computed, Place
from loom.target.amdgpu.machine import OFF, Operand, Register


def returned(place: Place, units: int, accumulators: bool) -> Computed:
    """The register an atomic returns the old value in; off unless the cache bits ask for it."""
    shift = place.shift("vdst")
    fields = place.format.fields
    flag = fields["glc"] if "glc" in fields else fields["sc0"] if "sc0" in fields else fields["th"]
    returns = 1 << flag.pieces[0][0]
    acc = fields["acc"].pieces[0][0] if accumulators else 0
    vectors = value_lists.vector_list(place.generation, "vgpr", units)
    accumulator = value_lists.vector_list(place.generation, "agpr", units)

    def decode(word: int) -> Operand | None:
        value = word >> shift & 255
        if not word & returns:
            return OFF if value == 0 else None
        return (accumulator if accumulators and word >> acc & 1 else vectors)[value]

    def encode(operand: Operand) -> int:
        if operand is OFF:
            return 0
        if isinstance(operand, Register) and operand in (*vectors, *accumulator):
            return operand.index << shift | returns | (1 << acc if operand.bank == "agpr" else 0)
        raise CannotEncode(f"{describe(operand)} cannot be the vdst: {units} vector registers or off are wanted")

    return Computed(decode, encode, 255 << shift)


def lds_data(place: Place, units: int) -> Computed:
    """Data of a buffer load that may go to LDS instead (``lds``): then there is no register."""
    shift = place.shift("vdata")
    acc = place.shift("acc")
    to_lds = place.shift("lds")
    values = value_lists.accumulator_list(place.generation, units)

    def decode(word: int) -> Operand | None:
        value = word >> shift & 255 | (word >> acc & 1) << 8
        if word >> to_lds & 1:
            return OFF if value == 0 else None
        return values[value]

    def encode(operand: Operand) -> int:
        if operand is OFF:
            return 1 << to_lds
        if not isinstance(operand, Register) or operand not in values:
            raise CannotEncode(f"{describe(operand)} cannot be the vdata: {units} vector registers are wanted")
        return operand.index << shift | (operand.bank == "agpr") << acc

    return Computed(decode, encode, 255 << shift | 1 << acc)


MATRIX_UNITS = {0: 8, 1: 8, 2: 6, 3: 6, 4: 4}
"""Registers of an A or B operand by number format (``cbsz``, ``blgp``): FP8, BF8, FP6, BF6, FP4."""


def sized_source(place: Place) -> Computed:
    """A or B of an f8f6f4 matrix instruction: its size follows from the number format in ``cbsz`` or ``blgp``."""
    name = place.name
    shift = place.shift(name)
    format_shift = place.shift("cbsz" if name == "src0" else "blgp")
    acc = place.shift("acc") + (name == "src1")
    lists = {
        (bank, units): value_lists.vector_list(place.generation, bank, units)
        for bank in ("vgpr", "agpr")
        for units in (4, 6, 8)
    }

    def decode(word: int) -> Operand | None:
        code = word >> shift & 511
        units = MATRIX_UNITS.get(word >> format_shift & 7)
        if code < 256 or units is None:
            return None
        return lists["agpr" if word >> acc & 1 else "vgpr", units][code - 256]

    def encode(operand: Operand) -> int:
        if not isinstance(operand, Register) or operand not in lists.get((operand.bank, operand.units), ()):
            raise CannotEncode(f"{describe(operand)} cannot be {name}: 4, 6 or 8 vector registers are wanted")
        return (operand.index + 256) << shift | (operand.bank == "agpr") << acc

    return Computed(decode, encode, 511 << shift | 1 << acc)


def status_data(place: Place, units: int) -> Computed:
    """Data of a buffer load that may be followed by a status register (``tfe``)."""
    shift = place.shift("vdata")
    enable = place.shift("tfe")
    plain = value_lists.vector_list(place.generation, "vgpr", units)
    longer = value_lists.vector_list(place.generation, "vgpr", units + 1)

    def decode(word: int) -> Operand | None:
        return (longer if word >> enable & 1 else plain)[word >> shift & 255]

    def encode(operand: Operand) -> int:
        if not isinstance(operand, Register) or operand.bank != "vgpr" or operand.units not in (units, units + 1):
            raise CannotEncode(
                f"{describe(operand)} cannot be the vdata: {units} vector registers are wanted, {units + 1} with tfe"
            )
        return operand.index << shift

    return Computed(decode, encode, 255 << shift)


def second_destination(place: Place) -> Computed:
    """Destination of the second half of a dual-issue pair: its lowest bit is the opposite of the first half's."""
    vectors = value_lists.vector_list(place.generation, "vgpr", 1)

    def decode(word: int) -> Operand | None:
        return vectors[(word >> 49 & 127) << 1 | (word >> 56 & 1) ^ 1]

    def encode(operand: Operand) -> int:
        if (
            not isinstance(operand, Register)
            or operand.bank != "vgpr"
            or operand.units != 1
            or operand.half is not None
        ):
            raise CannotEncode(f"{describe(operand)} cannot be the vdst: one vector register is wanted")
        return operand.index >> 1 << 49

    return Computed(decode, encode, 127 << 49)
