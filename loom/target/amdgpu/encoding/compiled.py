"""Encodings compiled for decoder and encoder, and the dispatch from an instruction's first words to them."""

from __future__ import annotations

from functools import cache

from loom.target.amdgpu.encoding.codecs import make_slot
from loom.target.amdgpu.encoding.slots import Computed, Decode, Encode, Place, SlotCodec, Values
from loom.target.amdgpu.formats import Field, Format, Pieces, formats, modifier_field
from loom.target.amdgpu.instruction import Encoding, InstructionRow, ModifierField
from loom.target.amdgpu.machine import Operand
from loom.target.amdgpu.tables import Table, table

Extract = tuple[int, int, Values]


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
        self.generation = generation = owner.generation
        names = [text.partition(":")[0] for text in encoding.slot_fields]
        codecs = [text.partition(":")[2] for text in encoding.slot_fields]
        self.codecs = codecs
        self.names = names
        #: Per slot: ``(shift, mask, list)`` for the common case, else ``None`` and an entry in ``special``.
        self.extract: list[Extract | None] = []
        self.special: list[Decode | None] = []
        self.rules: list[Encode | None] = []
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

    def _add_slot(self, owner: CompiledSet, index: int, name: str, text: str) -> int:
        """Set up slot ``index``; returns the bits it owns."""
        accept = text.partition("@")[2]
        made = make_slot(Place(self.row, index, name, text, accept, self.format, self.generation, owner.wave_size))
        if isinstance(made, Computed):
            self.extract.append(None)
            self.special.append(made.decode)
            self.rules.append(made.encode)
            self.slot_codecs.append(None)
            return made.bits
        slot = owner.slot_codec(name, text, made.pieces, made.values)
        single = len(made.pieces) == 1
        self.extract.append((made.pieces[0][0], (1 << made.pieces[0][1]) - 1, made.values) if single else None)
        self.special.append(None if single else _from_pieces(slot))
        self.rules.append(None)
        self.slot_codecs.append(slot)
        bits = 0
        for shift, width in made.pieces:
            bits |= ((1 << width) - 1) << shift
        return bits


def _from_pieces(slot: SlotCodec) -> Decode:
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

    def slot_codec(self, name: str, text: str, pieces: Pieces, values: Values) -> SlotCodec:
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
