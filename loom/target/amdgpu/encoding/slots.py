"""The two kinds of operand slot: listed, where a table says what each value means, and computed, where code does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loom.target.amdgpu.formats import Bits, Field, Format, Pieces
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import Operand

Values = tuple[Operand | None, ...]
Decode = Callable[[int], Operand | None]
Encode = Callable[[Operand], int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a slot of an encoding is, for the codec that is made for it.

    Attributes:
        row: The instruction.
        index: The slot's number.
        name: The field that holds it.
        text: Its codec as the table has it.
        accept: Acceptance class of source codes, from the codec's text; empty for all.
        format: The encoding's format.
        generation: Instruction table.
        wave_size: Lanes of a wave.
    """

    row: InstructionRow
    index: int
    name: str
    text: str
    accept: str
    format: Format
    generation: str
    wave_size: int

    @property
    def field(self) -> Field:
        """The field that holds the slot."""
        return self.format.fields[self.name]

    @property
    def pieces(self) -> Pieces:
        """Where the field's bits are, lowest first."""
        return self.field.pieces

    def shift(self, name: str) -> int:
        """Position of the lowest bit of a field of the format."""
        return self.format.fields[name].pieces[0][0]


@dataclass(frozen=True, slots=True)
class Listed:
    """A slot whose operands are listed by the value of its bits."""

    values: Values
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Computed:
    """A slot that is decoded from the whole word and encoded by a rule.

    Attributes:
        decode: The operand in an instruction word, ``None`` where the bits mean none.
        encode: An operand's bits in place; raises :class:`~loom.target.amdgpu.encoding.refusals.CannotEncode`.
        bits: The bits that the slot owns.
    """

    decode: Decode
    encode: Encode
    bits: int


class SlotCodec(Bits):
    """A listed slot in use, with both directions.

    ``values`` lists what each field value means; ``pieces`` says where the value's bits are, lowest first.
    """

    __slots__ = ("bits_of", "name", "pieces", "text", "values")

    def __init__(self, name: str, text: str, pieces: Pieces, values: Values) -> None:
        self.name = name
        self.text = text
        self.pieces = pieces
        self.values = values
        self.bits_of: dict[Operand, int] = {}
        for value, operand in enumerate(values):
            if operand is not None and operand not in self.bits_of:
                self.bits_of[operand] = self.insert(value)
