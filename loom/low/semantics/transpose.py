"""Transposing loads: what the lanes of a group exchange after each has read its own bytes.

Each lane reads ``count`` elements of ``bits`` bits. The lanes of a group of ``group`` together hold a matrix of
``count`` rows and ``group`` columns, row by row; afterwards lane ``c`` of the group holds column ``c``. Sources: the
CDNA4 ISA ("MFMA Transpose Load from LDS") for the matrix fragments, whose addresses every lane supplies itself, and
for gfx12's 16-bit form, which the ISA leaves open, published measurements on gfx1201 (8 by 8 elements in 8 lanes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loom.low.semantics.expression import Expr, const, icmp, lane_number, select, shuffle, trunc, zext
from loom.low.semantics.operation import Context, define


@dataclass(frozen=True, slots=True)
class Transpose:
    """A transposing load: the plain load that each lane performs, bits of an element, lanes of a group."""

    load: str
    bits: int
    group: int

    @property
    def words(self) -> int:
        """Registers of a lane."""
        return int(self.load.rpartition("_b")[2]) // 32


TRANSPOSES = {
    "ds_load_b64_tr_b16": Transpose("load_b64", 16, 16),
    "ds_load_b64_tr_b8": Transpose("load_b64", 8, 16),
    "ds_load_b64_tr_b4": Transpose("load_b64", 4, 16),
    "ds_load_b96_tr_b6": Transpose("load_b96", 6, 16),
    "global_load_tr_b128": Transpose("load_b128", 16, 8),
}
"""By semantic name; the operation of the same name moves the elements between registers."""


def _element(words: list[Expr], position: Expr, bits: int) -> Expr:
    """The element that begins at bit ``position`` (differs by lane)."""
    word = position >> 5
    chosen: Expr = const("i64", 0)
    for k in range(len(words)):
        pair = zext(words[k], "i64")
        if k + 1 < len(words):
            pair = pair | (zext(words[k + 1], "i64") << 32)
        chosen = select(icmp("eq", word, k), pair, chosen) if k else pair
    return trunc(chosen >> (position & 31), "i32") & ((1 << bits) - 1)


def _exchange(shape: Transpose) -> Callable[..., list[Expr]]:
    count = shape.words * 32 // shape.bits
    lanes_per_row = shape.group // count

    def build(c: Context, words: list[Expr]) -> list[Expr]:
        column = lane_number() & (shape.group - 1)
        position = (column & (count - 1)) * shape.bits
        total: list[Expr] = [const("i32", 0)] * shape.words
        for row in range(count):
            sources = tuple(
                lane - lane % shape.group + row * lanes_per_row + lane % shape.group // count for lane in range(c.wave)
            )
            element = _element([shuffle(w, sources) for w in words], position, shape.bits)
            at, shift = divmod(row * shape.bits, 32)
            total[at] = total[at] | (element << shift)
            if shift + shape.bits > 32:
                total[at + 1] = total[at + 1] | (element >> (32 - shift))
        return total

    return build


for _name, _shape in TRANSPOSES.items():
    define(_name, f"i32x{_shape.words} = i32x{_shape.words}", _exchange(_shape))
