"""Codecs: how an operand stands in its field. The tables name for every slot a field and a codec, ``"field:codec"``.

=============  ======================================================================================================
``vN``         VGPR field, N registers
``aN``         AGPR field, N registers
``vaN vcN``    VGPR or AGPR; the format's ``acc`` bit chooses, or ``acc_cd`` (matrix results and addends)
``vh``         true16: seven bits of VGPR number, bit 7 selects the half
``vo.B``       true16: eight bits of VGPR number, the half is bit B of ``op_sel``
``bN rN qN``   scalar registers, N of them, by the number of a pair, a quad, or a register
``sN@C``       source field, N registers, legal source codes in acceptance class C
``saN.B scN``  the same, VGPR or AGPR by bit B of ``acc``, or by ``acc_cd``
``sh@C``       the same, true16 with the half in bit 7 of a VGPR number
``so.B@C``     the same, true16 with the half in bit B of ``op_sel``
``sm@C dm``    source and destination that hold a lane mask: one register in wave32, two in wave64
``sxN.B``      A or B of an f8f6f4 matrix instruction, as long as its number format says
``wN wd``      SDWA source of N registers, and destination of a compare
``rvN raN``    what an atomic returns, N registers, VGPR only or either
``tN lN``      buffer data, N registers, that a status may follow or that may go to LDS instead
``uN iN``      immediate of N bits, unsigned or signed
``br``         branch offset in words, relative to the next instruction
``lit``        the mandatory literal
``vdsty``      destination of the second half of a dual-issue pair
``=NAME``      a register that is always the same one and takes no bits: ``=vcc``, ``=exec``, ``=m0`` …
=============  ======================================================================================================

Parts of addresses (``global_vaddr``, ``soffset`` …) are in :mod:`.addresses`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from loom.target.amdgpu.encoding import conditional, value_lists
from loom.target.amdgpu.encoding.addresses import ADDRESS_PARTS
from loom.target.amdgpu.encoding.refusals import CannotEncode, describe, describe_refusal
from loom.target.amdgpu.encoding.slots import Computed, Listed, Place, Values
from loom.target.amdgpu.machine import BranchTarget, Immediate, Operand

Slot = Listed | Computed
Arguments = tuple[str, ...]
Make = Callable[[Place, Arguments], Slot]

#: Where a fixed operand is: in no bits at all.
_NOWHERE = ((0, 0),)
_OP_SEL = 11
"""Position of ``op_sel`` in the formats whose operands select halves by it."""

# Wait and delay counts repeat: one object a value, made when a program first has it.
_shared_immediate = cache(Immediate)


def make_slot(place: Place) -> Slot:
    """The slot that a codec describes at a place."""
    make, arguments = _maker(place.text.partition("@")[0])
    made = make(place, arguments)
    if isinstance(made, Listed) and "DPP" in place.format.name:
        return Listed(value_lists.without_literal(made.values), made.pieces)
    return made


@cache
def _maker(body: str) -> tuple[Make, Arguments]:
    for pattern, make in _CODECS:
        match = pattern.fullmatch(body)
        if match is not None:
            return make, match.groups()
    raise AssertionError(f"unknown codec {body}")


def _fixed(place: Place, arguments: Arguments) -> Slot:
    return Listed((value_lists.fixed_operand(arguments[0], place.wave_size),), _NOWHERE)


def _literal(place: Place, arguments: Arguments) -> Slot:
    return Listed((value_lists.LITERAL_MARK,), _NOWHERE)


def _address_part(place: Place, arguments: Arguments) -> Slot:
    return ADDRESS_PARTS[arguments[0]](place)


def _immediate(place: Place, arguments: Arguments) -> Slot:
    signed, bits = arguments[0] == "i", int(arguments[1])
    shift = place.shift(place.name)
    mask = (1 << bits) - 1
    sign = 1 << (bits - 1)

    def decode(word: int) -> Operand:
        value = word >> shift & mask
        return Immediate(value - (sign << 1)) if signed and value & sign else _shared_immediate(value)

    def encode(operand: Operand) -> int:
        if not isinstance(operand, Immediate):
            raise CannotEncode(f"an immediate of {bits} bits is wanted here, not {describe(operand)}")
        if not -sign <= operand.value <= mask:
            raise CannotEncode(f"{operand.value} does not fit the {bits}-bit immediate")
        return (operand.value & mask) << shift

    return Computed(decode, encode, place.field.mask)


def _branch(place: Place, arguments: Arguments) -> Slot:
    shift = place.shift(place.name)

    def decode(word: int) -> Operand:
        value = word >> shift & 0xFFFF
        return BranchTarget(None, (value - 0x10000 if value & 0x8000 else value) * 4)

    def encode(operand: Operand) -> int:
        # Offsets here are relative to the next instruction; the encoder resolves labels before it asks.
        if not isinstance(operand, BranchTarget):
            raise CannotEncode(f"a branch target is wanted here, not {describe(operand)}")
        if operand.offset % 4:
            raise CannotEncode(f"the branch distance {operand.offset} is not a multiple of 4")
        words = operand.offset // 4
        if not -0x8000 <= words < 0x8000:
            raise CannotEncode(f"the branch target is {operand.offset} bytes away; a branch reaches 131068 bytes")
        return (words & 0xFFFF) << shift

    return Computed(decode, encode, place.field.mask)


def _vector(place: Place, arguments: Arguments) -> Slot:
    bank = {"v": "vgpr", "a": "agpr"}[arguments[0]]
    values: Values = value_lists.vector_list(place.generation, bank, int(arguments[1]))
    if bank == "agpr" and place.field.width == 9:
        values = (*([None] * 256), *values)
    return Listed(values, place.pieces)


def _either_vector(place: Place, arguments: Arguments) -> Slot:
    choice = place.format.fields["acc" if arguments[0] == "a" else "acc_cd"]
    values = value_lists.accumulator_list(place.generation, int(arguments[1]))
    return Listed(values, (*place.pieces, *choice.pieces))


def _source(place: Place, arguments: Arguments) -> Slot:
    values = value_lists.source_list(place.generation, int(arguments[0]), place.accept, place.field.width)
    return Listed(values, place.pieces)


def _lane_mask(place: Place, arguments: Arguments) -> Slot:
    return _source(place, (str(place.wave_size // 32),))


def _either_source(place: Place, arguments: Arguments) -> Slot:
    units, which = arguments
    shift = place.shift("acc_cd") if which is None else place.shift("acc") + int(which)
    values = value_lists.accumulator_source_list(place.generation, int(units), place.accept)
    return Listed(values, (*place.pieces, (shift, 1)))


def _scaled(place: Place, arguments: Arguments) -> Slot:
    shift = {"b": 1, "r": 2, "q": 0}[arguments[0]]
    units, width = int(arguments[1]), place.field.width
    return Listed(value_lists.shifted_list(place.generation, units, shift, width, place.accept), place.pieces)


def _half(place: Place, arguments: Arguments) -> Slot:
    return Listed(value_lists.half_list(), place.pieces)


def _half_source(place: Place, arguments: Arguments) -> Slot:
    return Listed(value_lists.half_source_list(place.generation, place.accept), place.pieces)


def _selected_half(place: Place, arguments: Arguments) -> Slot:
    return Listed(value_lists.selected_half_list(), (*place.pieces, (_OP_SEL + int(arguments[0]), 1)))


def _selected_half_source(place: Place, arguments: Arguments) -> Slot:
    """A source whose half is an ``op_sel`` bit that belongs to the operand for VGPRs and is a plain modifier for
    scalars."""
    values = value_lists.selected_half_source_list(place.generation, place.accept)
    if "DPP" in place.format.name:
        values = value_lists.without_literal(values)
    shift, at = place.shift(place.name), _OP_SEL + int(arguments[0])
    codes = {
        operand: (value & 511) << shift | (value >> 9) << at
        for value, operand in reversed(list(enumerate(values)))
        if operand is not None
    }

    def decode(word: int) -> Operand | None:
        return values[(word >> shift & 511) | (word >> at & 1) << 9]

    def encode(operand: Operand) -> int:
        bits = codes.get(operand)
        if bits is None:
            raise CannotEncode(describe_refusal(place.row, place.index, operand, place.text))
        return bits

    return Computed(decode, encode, 511 << shift)


_CODECS: tuple[tuple[re.Pattern[str], Make], ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"=(\w+)", _fixed),
        (r"lit", _literal),
        (r"([ui])(\d+)", _immediate),
        (r"br", _branch),
        (f"({'|'.join(ADDRESS_PARTS)})", _address_part),
        (r"vdsty", lambda place, _: conditional.second_destination(place)),
        (r"r([va])(\d+)", lambda place, found: conditional.returned(place, int(found[1]), found[0] == "a")),
        (r"t(\d+)", lambda place, found: conditional.status_data(place, int(found[0]))),
        (r"l(\d+)", lambda place, found: conditional.lds_data(place, int(found[0]))),
        (r"sx\d+\.\d", lambda place, _: conditional.sized_source(place)),
        (r"vh", _half),
        (r"sh", _half_source),
        (r"vo\.(\d+)", _selected_half),
        (r"so\.(\d+)", _selected_half_source),
        (r"[sd]m", _lane_mask),
        (r"v([ac])(\d+)", _either_vector),
        (r"s(?:c|a)(\d+)(?:\.(\d+))?", _either_source),
        (r"wd", lambda place, _: Listed(value_lists.sdwa_destination_list(place.generation), place.pieces)),
        (r"w(\d+)", lambda place, n: Listed(value_lists.sdwa_source_list(place.generation, int(n[0])), place.pieces)),
        (r"([brq])(\d+)", _scaled),
        (r"([va])(\d+)", _vector),
        (r"s(\d+)", _source),
    )
)
