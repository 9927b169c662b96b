"""Compiled encodings: the two directions between an instruction's bits and a :class:`MachineInstruction`.

``compiled(generation, wave_size)`` gives the set for a generation; :class:`CompiledEncoding` holds, for one encoding
of one row,
where every operand and modifier is and how it is translated. The decoder and the encoder are loops over these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from loom.target.amdgpu import operands as codec
from loom.target.amdgpu.formats import Field, Format, formats
from loom.target.amdgpu.instruction import Encoding, InstructionRow, ModifierField
from loom.target.amdgpu.machine import OFF, BranchTarget, Immediate, Literal, Operand, Register
from loom.target.amdgpu.tables import Table, table
from loom.target.amdgpu.tables.naming import modifier_field

Extract = tuple[int, int, tuple[Operand | None, ...]]
Special = Callable[[int], Operand | None]
Rule = Callable[[Operand], int]


class CannotEncode(Exception):
    """Why an operand or modifier does not fit an encoding; the encoder turns it into a diagnostic."""


class SlotCodec:
    """One operand of one encoding.

    ``values`` lists what each field value means; ``pieces`` says where the value's bits are, lowest first.
    """

    __slots__ = ("bits_of", "name", "pieces", "text", "values")

    def __init__(
        self, name: str, text: str, pieces: tuple[tuple[int, int], ...], values: tuple[Operand | None, ...]
    ) -> None:
        self.name = name
        self.text = text
        self.pieces = pieces
        self.values = values
        self.bits_of: dict[Operand, int] = {}
        for value, operand in enumerate(values):
            if operand is not None and operand not in self.bits_of:
                self.bits_of[operand] = self.insert(value)

    def insert(self, value: int) -> int:
        """The field's value in place."""
        word = 0
        for shift, width in self.pieces:
            word |= (value & ((1 << width) - 1)) << shift
            value >>= width
        return word

    def extract(self, word: int) -> int:
        """The field's value in ``word``."""
        value = 0
        at = 0
        for shift, width in self.pieces:
            value |= ((word >> shift) & ((1 << width) - 1)) << at
            at += width
        return value


#: Operands of a matrix instruction whose elements are spread over all lanes: 64 lanes hold them in half as many
#: registers as 32 lanes. (The tables give the size for 32 lanes.)
_SPREAD = {"gfx11": ("vdst", "src2"), "gfx12": ("vdst", "src0", "src1", "src2")}


def _halved(text: str) -> str:
    """The codec ``v8`` or ``s8@17`` for half as many registers."""
    body, mark, accept = text.partition("@")
    return f"{body[0]}{max(1, int(body[1:]) // 2)}{mark}{accept}"


class CompiledEncoding:
    """One encoding of one row, ready to decode and encode. Built lazily per encoding."""

    def __init__(self, owner: CompiledSet, row: InstructionRow, encoding: Encoding) -> None:
        self.row = row
        self.encoding = encoding
        self.form = encoding.form
        self.format: Format = owner.formats[encoding.format]
        self.size = self.format.bits // 8
        self.has_literal = False
        self.literal_slot = -1
        generation = owner.generation
        names = [text.partition(":")[0] for text in encoding.slot_fields]
        codecs = [text.partition(":")[2] for text in encoding.slot_fields]
        self.codecs = codecs
        self.names = names
        #: Per slot: ``(shift, mask, list)`` for the common case, else ``None`` and an entry in ``special``.
        self.extract: list[Extract | None] = []
        self.special: list[Special | None] = []
        self.rules: list[Rule | None] = []
        self.slot_codecs: list[SlotCodec | None] = []
        owned = 0
        to_lds = any(modifier.name == "lds" for modifier in encoding.modifiers)
        #: Slots whose registers share the bit that chooses accumulators: all or none of them.
        self.shared_choice = tuple(
            index
            for index, text in enumerate(codecs)
            if (text[:2] in ("va", "vc", "sc", "ra") and text[2:3].isdigit()) or (to_lds and names[index] == "vdata")
        )
        with_status = any(modifier.name == "tfe" for modifier in encoding.modifiers)
        for index, (name, text) in enumerate(zip(names, codecs, strict=True)):
            if with_status and name == "vdata":
                codecs[index] = text = "t" + text[1:]
            if to_lds and name == "vdata":
                codecs[index] = text = "l" + text[2:]
            if owner.wave_size == 64 and row.mnemonic.startswith("v_wmma_") and name in _SPREAD.get(generation, ()):
                codecs[index] = text = _halved(text)
            owned |= self._add_slot(owner, index, name, text)
        self.modifiers: list[tuple[str, Field, ModifierField]] = []
        modifier_mask = 0
        default_bits = 0
        for modifier in encoding.modifiers:
            field = modifier_field(self.format, modifier.name)
            self.modifiers.append((modifier.name, field, modifier))
            modifier_mask |= field.mask if field.name == "fi8" else field.insert(modifier.mask)
            default = modifier.default
            if modifier.name == "fi" and field.name == "fi8":
                default_bits |= field.insert(1)
            else:
                default_bits |= field.insert(default)
        self.modifier_by_name = {name: (field, modifier) for name, field, modifier in self.modifiers}
        halves = 0
        for text in codecs:
            if text.startswith(("vo.", "so.")):
                halves |= 1 << int(text[3:].partition("@")[0])
        self.half_bits = halves
        self.modifier_mask = modifier_mask & ~owned
        self.default_bits = default_bits & ~owned
        self.owned = owned
        every = (1 << self.format.bits) - 1
        self.dont_care = encoding.dont_care & ~owned
        self.base = encoding.base & ~owned & ~modifier_mask
        self.check = every & ~owned & ~modifier_mask & ~self.dont_care
        self.start = self.base | self.default_bits
        self.simple = all(item is not None for item in self.extract)
        self.generation = generation

    def _add_slot(self, owner: CompiledSet, index: int, name: str, text: str) -> int:
        """Set up slot ``index``; returns the bits it owns."""
        body, _, accept = text.partition("@")
        generation = owner.generation
        field = self.format.fields.get(name)
        pieces: tuple[tuple[int, int], ...] = field.pieces if field is not None else ()
        values: tuple[Operand | None, ...] | None = None
        special: Special | None = None
        rule: Rule | None = None
        wave_units = owner.wave_size // 32
        if body.startswith("="):
            fixed = codec.fixed_operand(body[1:], owner.wave_size)
            values, pieces = (fixed,), ((0, 0),)
        elif body == "lit":
            self.literal_slot = index
            values, pieces = (codec.LITERAL_MARK,), ((0, 0),)
        elif body[0] in "ui" and body[1:].isdigit():
            special, rule = _immediate(field, int(body[1:]), body[0] == "i")  # type: ignore[arg-type]
        elif body == "br":
            special, rule = _branch(field)  # type: ignore[arg-type]
        elif body in _ADDRESS or (body[0] in "tl" and name == "vdata") or body.startswith("sx"):
            if body in _ADDRESS:
                made = _ADDRESS[body](self, owner, accept)
            elif body.startswith("sx"):
                made = _sized_source(self, owner, name)
            else:
                made = (_status_data if body[0] == "t" else _lds_data)(self, owner, int(body[1:]))
            special, rule, bits = made
            self.extract.append(None)
            self.special.append(special)
            self.rules.append(rule)
            self.slot_codecs.append(None)
            return bits
        elif body == "vh":
            values = codec.half_list()
        elif body == "sh":
            values = codec.half_source_list(generation, accept)
        elif body.startswith("vo."):
            values, pieces = codec.selected_half_list(), (*pieces, (11 + int(body[3:]), 1))
        elif body.startswith("so."):
            values = codec.selected_half_source_list(generation, accept)
            if "DPP" in self.format.name:
                values = codec.without_literal(values)
            return self._half_source(index, name, text, pieces, values, 11 + int(body[3:]))
        elif body in ("sm", "dm"):
            bits = field.width  # type: ignore[union-attr]
            values = codec.source_list(generation, wave_units, accept, bits)
        elif body.startswith("va") or body.startswith("vc"):
            acc = self.format.fields["acc" if body[1] == "a" else "acc_cd"]
            values = codec.accumulator_list(generation, int(body[2:]))
            pieces = (*pieces, *acc.pieces)
        elif body.startswith("sc"):
            values = codec.accumulator_source_list(generation, int(body[2:]), accept)
            pieces = (*pieces, *self.format.fields["acc_cd"].pieces)
        elif body.startswith("sa"):
            units, _, which = body[2:].partition(".")
            shift = self.format.fields["acc"].pieces[0][0] + int(which)
            values = codec.accumulator_source_list(generation, int(units), accept)
            pieces = (*pieces, (shift, 1))
        elif body == "wd":
            values = codec.sdwa_destination_list(generation)
        elif body[0] == "w":
            values = codec.sdwa_source_list(generation, int(body[1:]))
        elif body[0] in "bq" or body[0] == "r":
            shift = {"b": 1, "r": 2, "q": 0}[body[0]]
            values = codec.shifted_list(generation, int(body[1:]), shift, field.width, accept)  # type: ignore[union-attr]
        elif body[0] == "a":
            values = codec.vector_list(generation, "agpr", int(body[1:]))
            if field is not None and field.width == 9:
                values = (*([None] * 256), *values)
        elif body[0] == "v":
            values = codec.vector_list(generation, "vgpr", int(body[1:]))
        elif body[0] == "s":
            bits = field.width  # type: ignore[union-attr]
            values = codec.source_list(generation, int(body[1:]), accept, bits)
        else:
            raise AssertionError(f"unknown codec {text}")
        if values is not None and "DPP" in self.format.name:
            values = codec.without_literal(values)
        self.special.append(special)
        self.rules.append(rule)
        if values is None:
            self.extract.append(None)
            self.slot_codecs.append(None)
        else:
            slot = owner.slot_codec(name, text, pieces, values)
            self.slot_codecs.append(slot)
            if len(pieces) == 1:
                shift, width = pieces[0]
                self.extract.append((shift, (1 << width) - 1, values))
            else:
                self.extract.append(None)
                self.special[-1] = _pieces(slot)
        bits = 0
        for shift, width in pieces:
            bits |= ((1 << width) - 1) << shift
        return bits

    def _half_source(
        self,
        index: int,
        name: str,
        text: str,
        pieces: tuple[tuple[int, int], ...],
        values: tuple[Operand | None, ...],
        at: int,
    ) -> int:
        """A source whose half is an ``op_sel`` bit that belongs to the operand for VGPRs and is a plain modifier for
        scalars."""
        shift = pieces[0][0]

        def decode(word: int) -> Operand | None:
            return values[(word >> shift & 511) | (word >> at & 1) << 9]

        codes = {
            operand: (value & 511) << shift | (value >> 9) << at
            for value, operand in reversed(list(enumerate(values)))
            if operand is not None
        }

        def encode(operand: Operand) -> int:
            bits = codes.get(operand)
            if bits is None:
                raise CannotEncode(describe_refusal(self.row, index, operand, text))
            return bits

        self.extract.append(None)
        self.special.append(decode)
        self.rules.append(encode)
        self.slot_codecs.append(None)
        return 511 << shift


def _pieces(slot: SlotCodec) -> Special:
    values = slot.values
    if len(slot.pieces) == 2:
        (shift, width), (shift2, width2) = slot.pieces
        mask, mask2 = (1 << width) - 1, (1 << width2) - 1

        def decode(word: int) -> Operand | None:
            return values[(word >> shift & mask) | (word >> shift2 & mask2) << width]

        return decode

    def decode_many(word: int) -> Operand | None:
        return values[slot.extract(word)]

    return decode_many


_IMMEDIATES = tuple(Immediate(value) for value in range(65536))


def _immediate(field: Field, bits: int, signed: bool) -> tuple[Special, Rule]:
    shift = field.pieces[0][0]
    mask = (1 << bits) - 1
    sign = 1 << (bits - 1)

    def decode(word: int) -> Operand:
        value = word >> shift & mask
        return Immediate(value - (sign << 1)) if signed and value & sign else _IMMEDIATES[value]

    def encode(operand: Operand) -> int:
        if not isinstance(operand, Immediate):
            raise CannotEncode(f"an immediate of {bits} bits is wanted here, not {describe(operand)}")
        if not -sign <= operand.value <= mask:
            raise CannotEncode(f"{operand.value} does not fit the {bits}-bit immediate")
        return (operand.value & mask) << shift

    return decode, encode


def _branch(field: Field) -> tuple[Special, Rule]:
    shift = field.pieces[0][0]

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

    return decode, encode


Address = tuple[Special, Rule, int]


def _table_codec(encoding: CompiledEncoding, name: str, values: tuple[Operand | None, ...], extra: int = 0) -> Address:
    """An address part that is a list lookup in its own field; ``extra`` are further bits set for real registers."""
    field = encoding.format.fields[name]
    shift = field.pieces[0][0]
    mask = (1 << field.width) - 1
    codes: dict[Operand, int] = {}
    for value, operand in enumerate(values):
        if operand is not None and operand not in codes:
            codes[operand] = value << shift | (extra if operand is not OFF else 0)

    def decode(word: int) -> Operand | None:
        return values[word >> shift & mask]

    def encode(operand: Operand) -> int:
        bits = codes.get(operand)
        if bits is None:
            raise CannotEncode(f"{describe(operand)} cannot be the {name}")
        return bits

    return decode, encode, mask << shift | extra


def _off_code(owner: CompiledSet) -> int:
    return 127 if owner.generation == "gfx9.4" else 124


def _global_saddr(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
    return _table_codec(encoding, "saddr", codec.off_or_scalar_list(owner.generation, 2, accept, _off_code(owner)))


def _global_vaddr(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
    """One register where ``saddr`` is given, else a pair."""
    shift = encoding.format.fields["vaddr"].pieces[0][0]
    scalar = encoding.format.fields["saddr"].pieces[0][0]
    off = _off_code(owner)
    single = codec.vector_list(owner.generation, "vgpr", 1)
    pair = codec.vector_list(owner.generation, "vgpr", 2)

    def decode(word: int) -> Operand | None:
        return (pair if word >> scalar & 127 == off else single)[word >> shift & 255]

    def encode(operand: Operand) -> int:
        if not isinstance(operand, Register) or operand.bank != "vgpr" or operand.units > 2 or operand.half is not None:
            raise CannotEncode(
                f"{describe(operand)} cannot be the vaddr: a vector register or a pair of them is wanted"
            )
        if operand.units == 2 and operand.index % codec.vgpr_alignment(owner.generation, 2):
            raise CannotEncode(f"{operand} is misaligned: register pairs start at an even register")
        return operand.index << shift

    return decode, encode, 255 << shift


def _scratch_saddr(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
    return _table_codec(encoding, "saddr", codec.off_or_scalar_list(owner.generation, 1, accept, _off_code(owner)))


def _scratch_vaddr(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
    """A register where the ``sve`` bit is set, else off."""
    shift = encoding.format.fields["vaddr"].pieces[0][0]
    enable = encoding.format.fields["sve"].pieces[0][0]
    single = codec.vector_list(owner.generation, "vgpr", 1)

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

    return decode, encode, 255 << shift | 1 << enable


def _buffer_vaddr(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
    """Off, an offset or an index, or a pair, as ``offen`` and ``idxen`` say."""
    shift = encoding.format.fields["vaddr"].pieces[0][0]
    offen = encoding.format.fields["offen"].pieces[0][0]
    idxen = encoding.format.fields["idxen"].pieces[0][0]
    single = codec.vector_list(owner.generation, "vgpr", 1)
    pair = codec.vector_list(owner.generation, "vgpr", 2)

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
        if operand.units == 2 and operand.index % codec.vgpr_alignment(owner.generation, 2):
            raise CannotEncode(f"{operand} is misaligned: register pairs start at an even register")
        return operand.index << shift

    return decode, encode, 255 << shift


def _soffset(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
    """Scalar offset of a scalar load; ``null`` means none."""
    return _table_codec(encoding, "soffset", codec.off_or_scalar_list(owner.generation, 1, accept, 124))


def _soffset9(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
    """gfx9: the soffset field counts where the ``soe`` bit is set."""
    values = codec.source_list(owner.generation, 1, accept, 7)
    fields = encoding.format.fields
    soffset, soe = (fields[name].pieces[0][0] for name in ("soffset", "soe"))
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

    return decode, encode, 127 << soffset | 1 << soe


def _returned(units: int, accumulators: bool) -> Callable[[CompiledEncoding, CompiledSet, str], Address]:
    """The register an atomic returns the old value in; off unless the cache bits ask for it."""

    def make(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
        shift = encoding.format.fields["vdst"].pieces[0][0]
        fields = encoding.format.fields
        flag = fields["glc"] if "glc" in fields else fields["sc0"] if "sc0" in fields else fields["th"]
        returns = 1 << flag.pieces[0][0]
        acc = fields["acc"].pieces[0][0] if accumulators else 0
        vectors = codec.vector_list(owner.generation, "vgpr", units)
        accumulator = codec.vector_list(owner.generation, "agpr", units)

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

        return decode, encode, 255 << shift

    return make


def _lds_data(encoding: CompiledEncoding, owner: CompiledSet, units: int) -> Address:
    """Data of a buffer load that may go to LDS instead (``lds``): then there is no register."""
    shift = encoding.format.fields["vdata"].pieces[0][0]
    acc = encoding.format.fields["acc"].pieces[0][0]
    to_lds = encoding.format.fields["lds"].pieces[0][0]
    values = codec.accumulator_list(owner.generation, units)

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

    return decode, encode, 255 << shift | 1 << acc


MATRIX_UNITS = {0: 8, 1: 8, 2: 6, 3: 6, 4: 4}
"""Registers of an A or B operand by number format (``cbsz``, ``blgp``): FP8, BF8, FP6, BF6, FP4."""


def _sized_source(encoding: CompiledEncoding, owner: CompiledSet, name: str) -> Address:
    """A or B of an f8f6f4 matrix instruction: its size follows from the number format in ``cbsz`` or ``blgp``."""
    fields = encoding.format.fields
    shift = fields[name].pieces[0][0]
    format_shift = fields["cbsz" if name == "src0" else "blgp"].pieces[0][0]
    acc = fields["acc"].pieces[0][0] + (name == "src1")
    lists = {
        (bank, units): codec.vector_list(owner.generation, bank, units)
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

    return decode, encode, 511 << shift | 1 << acc


def _status_data(encoding: CompiledEncoding, owner: CompiledSet, units: int) -> Address:
    """Data of a buffer load that may be followed by a status register (``tfe``)."""
    shift = encoding.format.fields["vdata"].pieces[0][0]
    enable = encoding.format.fields["tfe"].pieces[0][0]
    plain = codec.vector_list(owner.generation, "vgpr", units)
    longer = codec.vector_list(owner.generation, "vgpr", units + 1)

    def decode(word: int) -> Operand | None:
        return (longer if word >> enable & 1 else plain)[word >> shift & 255]

    def encode(operand: Operand) -> int:
        if not isinstance(operand, Register) or operand.bank != "vgpr" or operand.units not in (units, units + 1):
            raise CannotEncode(
                f"{describe(operand)} cannot be the vdata: {units} vector registers are wanted, {units + 1} with tfe"
            )
        return operand.index << shift

    return decode, encode, 255 << shift


def _vdsty(encoding: CompiledEncoding, owner: CompiledSet, accept: str) -> Address:
    """Destination of the second half: its lowest bit is the opposite of the first half's."""
    vectors = codec.vector_list(owner.generation, "vgpr", 1)

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

    return decode, encode, 127 << 49


_ADDRESS: dict[str, Callable[[CompiledEncoding, CompiledSet, str], Address]] = {
    "global_saddr": _global_saddr,
    "global_vaddr": _global_vaddr,
    "scratch_saddr": _scratch_saddr,
    "scratch_vaddr": _scratch_vaddr,
    "buffer_vaddr": _buffer_vaddr,
    "soffset": _soffset,
    "soffset9": _soffset9,
    "vdsty": _vdsty,
    **{f"rv{units}": _returned(units, False) for units in (1, 2, 3, 4)},
    **{f"ra{units}": _returned(units, True) for units in (1, 2, 3, 4)},
}


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


class CompiledSet:
    """All encodings of a generation for one wave size, and the dispatch from an instruction's first words to them."""

    def __init__(self, generation: str, wave_size: int) -> None:
        self.generation = generation
        self.wave_size = wave_size
        self.table: Table = table(generation)
        self.formats = formats(generation)
        self._slot_codecs: dict[tuple[object, ...], SlotCodec] = {}
        self._compiled: dict[tuple[str, str, str], CompiledEncoding] = {}
        self._by_opcode: dict[str, dict[int, tuple[str, int]]] = {}
        for mnemonic, index, fmt, opcode in self.table.encodings():
            self._by_opcode.setdefault(fmt, {})[opcode] = (mnemonic, index)
        self._resolved: dict[str, dict[int, CompiledEncoding]] = {name: {} for name in self.formats}
        order = sorted(self.formats.values(), key=lambda f: (-f.fixed_mask.bit_count(), f.name))
        order = [f for f in order if f.name != "VOPDY"]
        #: For every value of the top nine bits: the formats that may stand there, most specific first.
        self.buckets: list[list[tuple[int, int, int, int, str]]] = [[] for _ in range(512)]
        for form in order:
            top_mask, top_value = form.fixed_mask >> 23 & 511, form.fixed_value >> 23 & 511
            shift, width = form.opcode.pieces[0]
            entry = (form.fixed_mask, form.fixed_value, shift, (1 << width) - 1, form.name)
            for value in range(512):
                if value & top_mask == top_value:
                    self.buckets[value].append(entry)

    def slot_codec(
        self, name: str, text: str, pieces: tuple[tuple[int, int], ...], values: tuple[Operand | None, ...]
    ) -> SlotCodec:
        """A slot codec, shared between the encodings that have the same field and list."""
        key = (name, text, pieces, id(values))
        found = self._slot_codecs.get(key)
        if found is None:
            found = SlotCodec(name, text, pieces, values)
            self._slot_codecs[key] = found
        return found

    def resolve(self, fmt: str, opcode: int) -> CompiledEncoding | None:
        """The encoding with an opcode in a format."""
        known = self._resolved[fmt]
        found = known.get(opcode)
        if found is None:
            entry = self._by_opcode.get(fmt, {}).get(opcode)
            if entry is None:
                return None
            row = self.table.row(entry[0])
            found = self.of(row, row.encodings[entry[1]])
            known[opcode] = found
        return found

    def of(self, row: InstructionRow, encoding: Encoding) -> CompiledEncoding:
        """The compiled form of an encoding of a row."""
        key = (row.mnemonic, encoding.format, encoding.form)
        found = self._compiled.get(key)
        if found is None:
            found = CompiledEncoding(self, row, encoding)
            self._compiled[key] = found
        return found


@cache
def compiled(generation: str, wave_size: int) -> CompiledSet:
    """The compiled set for a generation and wave size."""
    return CompiledSet(generation, wave_size)
