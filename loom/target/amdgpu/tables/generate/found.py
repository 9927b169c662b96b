"""One encoding as the probes find it, and the numbers that its first probe puts into the fields."""

from __future__ import annotations

from dataclasses import dataclass, field

from loom.target.amdgpu.formats import Format
from loom.target.amdgpu.tables.generate.families import WHOLE_MODIFIERS

_SUFFIXES = ("_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa")

# The number that stands in a field in the base probe. Distinct, aligned for any tuple, below 128 for true16.
BASE_VGPR = {
    "vdst": 16,
    "src0": 64,
    "src1": 96,
    "src2": 160,
    "vsrc1": 96,
    "addr": 64,
    "vaddr": 64,
    "data0": 96,
    "data1": 112,
    "vdata": 96,
    "scale0": 200,
    "scale1": 208,
}
BASE_SGPR = {
    "sdst": 16,
    "ssrc0": 32,
    "ssrc1": 48,
    "src0": 32,
    "src1": 48,
    "src2": 64,
    "sdata": 16,
    "vdst": 16,
    "saddr": 34,
    "soffset": 36,
    "scale0": 80,
    "scale1": 88,
}
BASE_LITERAL = 0x3456
BASE_IMM16 = 0x0123


@dataclass
class Found:
    """One encoding as LLVM knows it.

    ``positions`` says for every slot which of the text's ``operands`` it is: a constant offset is one that is no slot.
    """

    format: Format
    opcode: int
    word: int
    text: str
    canonical: int
    mnemonic: str
    suffix: str
    operands: list[str]
    literal: bool
    processor: str
    assembled: int = -1
    slot_fields: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    codecs: list[str] = field(default_factory=list)
    modifiers: dict[str, int] = field(default_factory=dict)
    dont_care: int = 0
    processors: tuple[str, ...] = ()

    @property
    def bits(self) -> int:
        """Size with the mandatory literal."""
        return self.format.bits + (32 if self.literal else 0)

    def bytes_of(self, word: int) -> bytes:
        """The instruction word, with the mandatory literal behind it if there is one."""
        out = word.to_bytes(self.format.bits // 8, "little")
        return out + (BASE_LITERAL.to_bytes(4, "little") if self.literal else b"")


def strip_suffix(mnemonic: str, form: Format) -> tuple[str, str]:
    """A mnemonic without the suffix of its encoding, and the suffix."""
    if form.form:
        for suffix in _SUFFIXES:
            if mnemonic.endswith(suffix):
                return mnemonic[: -len(suffix)], suffix
    return mnemonic, ""


def base_word(found: Found) -> int:
    """The canonical bits outside slots and active modifiers: fixed bits, opcode, don't-care bits as LLVM writes
    them."""
    word = found.canonical
    if found.assembled >= 0 and not (found.assembled ^ word) & ~found.dont_care:
        word = found.assembled  # don't-care bits as the assembler writes them
    for name, fld in found.format.fields.items():
        if name in found.slot_fields:
            word &= ~fld.mask
        elif fld.is_modifier and name in found.modifiers:
            active = found.modifiers[name]
            if name in WHOLE_MODIFIERS or active == 0:
                active = (1 << fld.width) - 1
            word &= ~fld.insert(active)
    if found.format.name in ("VOPDX", "VOPDY"):
        word = found.format.fixed_value | found.format.opcode.insert(found.opcode)
    return word
