# ruff: noqa: E501 - one line a format
"""Bit layouts of the instruction formats, per generation.

A format is written as one line: name, size in bits, form, then ``fixed`` bits, the opcode field, operand fields and modifier fields.
A field is ``name=shift:width``; a field in several pieces is ``name=shift:width+shift:width``, lowest piece first. A leading
``!`` marks a modifier, a trailing ``s`` in its width a signed one, and ``~n`` a default other than 0.

Facts: AMD's instruction set documents (RDNA 3, RDNA 3.5, RDNA 4, CDNA 3, CDNA 4), chapter "microcode formats".

How operands stand in the fields is said in :mod:`loom.target.amdgpu.encoding.codecs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

Pieces = tuple[tuple[int, int], ...]


class Bits:
    """A number in pieces of an instruction word, the lowest piece first."""

    __slots__ = ()

    pieces: Pieces

    def extract(self, word: int) -> int:
        """The number in ``word``, unsigned."""
        value = 0
        at = 0
        for shift, width in self.pieces:
            value |= ((word >> shift) & ((1 << width) - 1)) << at
            at += width
        return value

    def insert(self, value: int) -> int:
        """``value`` (taken modulo the width) in place."""
        word = 0
        for shift, width in self.pieces:
            word |= (value & ((1 << width) - 1)) << shift
            value >>= width
        return word


@dataclass(frozen=True, slots=True)
class Field(Bits):
    """A field of a format: where its bits are, and for a modifier whether it is signed and its default."""

    name: str
    pieces: Pieces
    is_modifier: bool
    signed: bool
    default: int

    @property
    def width(self) -> int:
        """Bits."""
        return sum(width for _, width in self.pieces)

    @property
    def mask(self) -> int:
        """The field's bits in place."""
        return sum(((1 << width) - 1) << shift for shift, width in self.pieces)


@dataclass(frozen=True, slots=True)
class Format:
    """A bit layout. ``fixed_mask``/``fixed_value`` are its constant bits, opcode not included; ``bits`` its size without literal."""

    name: str
    form: str
    bits: int
    fixed_mask: int
    fixed_value: int
    opcode: Field
    fields: dict[str, Field]


_DPP16 = "!dpp_ctrl={b8}:9~228 !bound_ctrl={b19}:1 !bank_mask={b24}:4~15 !row_mask={b28}:4~15"

_GFX11_SCALAR = """
SOP1 32 - fix=23:9:0x17d op=8:8 sdst=16:7 ssrc0=0:8
SOP2 32 - fix=30:2:2 op=23:7 sdst=16:7 ssrc0=0:8 ssrc1=8:8
SOPC 32 - fix=23:9:0x17e op=16:7 ssrc0=0:8 ssrc1=8:8
SOPK 32 - fix=28:4:0xb op=23:5 sdst=16:7 simm16=0:16
SOPP 32 - fix=23:9:0x17f op=16:7 simm16=0:16
"""

_RDNA_VECTOR = """
VOP1 32 e32 fix=25:7:0x3f op=9:8 vdst=17:8 src0=0:9
VOP2 32 e32 fix=31:1:0 op=25:6 vdst=17:8 src0=0:9 vsrc1=9:8
VOPC 32 e32 fix=25:7:0x3e op=17:8 src0=0:9 vsrc1=9:8
VOP1_DPP16 64 dpp16 fix=25:7:0x3f,0:9:250 op=9:8 vdst=17:8 src0=32:8 DPP32 !fi=50:1 !neg=52:1+54:1 !abs=53:1+55:1
VOP2_DPP16 64 dpp16 fix=31:1:0,0:9:250 op=25:6 vdst=17:8 src0=32:8 vsrc1=9:8 DPP32 !fi=50:1 !neg=52:1+54:1 !abs=53:1+55:1
VOPC_DPP16 64 dpp16 fix=25:7:0x3e,0:9:250 op=17:8 src0=32:8 vsrc1=9:8 DPP32 !fi=50:1 !neg=52:1+54:1 !abs=53:1+55:1
VOP1_DPP8 64 dpp8 fix=25:7:0x3f,2:7:58 op=9:8 vdst=17:8 src0=32:8 !dpp8=40:24 !fi8=0:2~1
VOP2_DPP8 64 dpp8 fix=31:1:0,2:7:58 op=25:6 vdst=17:8 src0=32:8 vsrc1=9:8 !dpp8=40:24 !fi8=0:2~1
VOPC_DPP8 64 dpp8 fix=25:7:0x3e,2:7:58 op=17:8 src0=32:8 vsrc1=9:8 !dpp8=40:24 !fi8=0:2~1
VOP3 64 e64 fix=26:6:0x35 op=16:10 vdst=0:8 src0=32:9 src1=41:9 src2=50:9 VOP3M !abs=8:3 !op_sel=11:4
VOP3SD 64 e64 fix=26:6:0x35 op=16:10 vdst=0:8 sdst=8:7 src0=32:9 src1=41:9 src2=50:9 VOP3M
VOP3_DPP16 96 e64_dpp16 fix=26:6:0x35,32:9:250 op=16:10 vdst=0:8 src0=64:8 src1=41:9 src2=50:9 VOP3M !abs=8:3 !op_sel=11:4 DPP64 !fi=82:1
VOP3SD_DPP16 96 e64_dpp16 fix=26:6:0x35,32:9:250 op=16:10 vdst=0:8 sdst=8:7 src0=64:8 src1=41:9 src2=50:9 VOP3M DPP64 !fi=82:1
VOP3_DPP8 96 e64_dpp8 fix=26:6:0x35,34:7:58 op=16:10 vdst=0:8 src0=64:8 src1=41:9 src2=50:9 VOP3M !abs=8:3 !op_sel=11:4 !dpp8=72:24 !fi8=32:2~1
VOP3SD_DPP8 96 e64_dpp8 fix=26:6:0x35,34:7:58 op=16:10 vdst=0:8 sdst=8:7 src0=64:8 src1=41:9 src2=50:9 VOP3M !dpp8=72:24 !fi8=32:2~1
VOP3P 64 e64 fix=24:8:0xcc op=16:7 vdst=0:8 src0=32:9 src1=41:9 src2=50:9 VOP3PM
VOP3P_DPP16 96 e64_dpp16 fix=24:8:0xcc,32:9:250 op=16:7 vdst=0:8 src0=64:8 src1=41:9 src2=50:9 VOP3PM DPP64 !fi=82:1
VOP3P_DPP8 96 e64_dpp8 fix=24:8:0xcc,34:7:58 op=16:7 vdst=0:8 src0=64:8 src1=41:9 src2=50:9 VOP3PM !dpp8=72:24 !fi8=32:2~1
VOPDX 64 vopd fix=26:6:0x32 op=22:4 vdst=56:8 src0=0:9 vsrc1=9:8
VOPDY 64 vopd fix=26:6:0x32 op=17:5 vdst=49:7 src0=32:9 vsrc1=41:8
"""

_GFX11_MEMORY = """
SMEM 64 - fix=26:6:0x3d op=18:8 sdata=6:7 sbase=0:6 soffset=57:7 !offset=32:21s !glc=14:1 !dlc=13:1
DS 64 - fix=26:6:0x36 op=18:8 vdst=56:8 addr=32:8 data0=40:8 data1=48:8 !offset=0:16 !gds=17:1
DS2 64 - fix=26:6:0x36 op=18:8 vdst=56:8 addr=32:8 data0=40:8 data1=48:8 !offset0=0:8 !offset1=8:8 !gds=17:1
FLAT 64 - fix=26:6:0x37,16:2:0 op=18:7 vdst=56:8 vaddr=32:8 vdata=40:8 saddr=48:7 !offset=0:12 !glc=14:1 !slc=15:1 !dlc=13:1
SCRATCH 64 - fix=26:6:0x37,16:2:1 op=18:7 vdst=56:8 vaddr=32:8 vdata=40:8 saddr=48:7 !sve=55:1 !offset=0:13s !glc=14:1 !slc=15:1 !dlc=13:1
GLOBAL 64 - fix=26:6:0x37,16:2:2 op=18:7 vdst=56:8 vaddr=32:8 vdata=40:8 saddr=48:7 !offset=0:13s !glc=14:1 !slc=15:1 !dlc=13:1
MUBUF 64 - fix=26:6:0x38 op=18:8 vdata=40:8 vaddr=32:8 srsrc=48:5 soffset=56:8 !offset=0:12 !offen=54:1 !idxen=55:1 !glc=14:1 !slc=12:1 !dlc=13:1 !tfe=53:1
MTBUF 64 - fix=26:6:0x3a op=15:4 vdata=40:8 vaddr=32:8 srsrc=48:5 soffset=56:8 !offset=0:12 !format=19:7~1 !offen=54:1 !idxen=55:1 !glc=14:1 !slc=12:1 !dlc=13:1 !tfe=53:1
LDSDIR 32 - fix=24:8:0xce op=20:2 vdst=0:8 attr=10:6 attr_chan=8:2 !wait_vdst=16:4
"""

_GFX12_MEMORY = """
SMEM 64 - fix=26:6:0x3d op=13:6 sdata=6:7 sbase=0:6 soffset=57:7 !offset=32:24s !scope=21:2 !th=23:2 !nv=20:1
DS 64 - fix=26:6:0x36 op=18:8 vdst=56:8 addr=32:8 data0=40:8 data1=48:8 !offset=0:16
DS2 64 - fix=26:6:0x36 op=18:8 vdst=56:8 addr=32:8 data0=40:8 data1=48:8 !offset0=0:8 !offset1=8:8
FLAT 96 - fix=24:8:0xec op=14:8 vdst=32:8 vaddr=64:8 vdata=55:8 saddr=0:7 !offset=72:24s !scope=50:2 !th=52:3 !nv=7:1
SCRATCH 96 - fix=24:8:0xed op=14:8 vdst=32:8 vaddr=64:8 vdata=55:8 saddr=0:7 !sve=49:1 !offset=72:24s !scope=50:2 !th=52:3 !nv=7:1
GLOBAL 96 - fix=24:8:0xee op=14:8 vdst=32:8 vaddr=64:8 vdata=55:8 saddr=0:7 !offset=72:24s !scope=50:2 !th=52:3 !nv=7:1
MUBUF 96 - fix=26:6:0x31 op=14:8 vdata=32:8 vaddr=64:8 srsrc=41:9 soffset=0:7 !offset=72:23 !offen=62:1 !idxen=63:1 !scope=50:2 !th=52:3 !nv=7:1 !tfe=22:1
MTBUF 96 - fix=26:6:0x31 op=14:8 vdata=32:8 vaddr=64:8 srsrc=41:9 soffset=0:7 !offset=72:23 !format=55:7~1 !offen=62:1 !idxen=63:1 !scope=50:2 !th=52:3 !nv=7:1 !tfe=22:1
VDSDIR 32 - fix=24:8:0xce op=20:2 vdst=0:8 attr=10:6 attr_chan=8:2 !wait_va_vdst=16:4 !wait_vm_vsrc=23:1
"""

_GFX9_VECTOR = """
VOP1 32 e32 fix=25:7:0x3f op=9:8 vdst=17:8 src0=0:9
VOP2 32 e32 fix=31:1:0 op=25:6 vdst=17:8 src0=0:9 vsrc1=9:8
VOPC 32 e32 fix=25:7:0x3e op=17:8 src0=0:9 vsrc1=9:8
VOP1_DPP16 64 dpp16 fix=25:7:0x3f,0:9:250 op=9:8 vdst=17:8 src0=32:8 DPP32 !neg=52:1+54:1 !abs=53:1+55:1
VOP2_DPP16 64 dpp16 fix=31:1:0,0:9:250 op=25:6 vdst=17:8 src0=32:8 vsrc1=9:8 DPP32 !neg=52:1+54:1 !abs=53:1+55:1
VOP1_SDWA 64 sdwa fix=25:7:0x3f,0:9:249 op=9:8 vdst=17:8 src0=32:8+55:1 SDWAD SDWAS
VOP2_SDWA 64 sdwa fix=31:1:0,0:9:249 op=25:6 vdst=17:8 src0=32:8+55:1 vsrc1=9:8+63:1 SDWAD SDWAS !src1_sel=56:3~6
VOPC_SDWA 64 sdwa fix=25:7:0x3e,0:9:249 op=17:8 sdst=40:8 src0=32:8+55:1 vsrc1=9:8+63:1 SDWAS !src1_sel=56:3~6
VOP3 64 e64 fix=26:6:0x34 op=16:10 vdst=0:8 src0=32:9 src1=41:9 src2=50:9 VOP3M !abs=8:3 !op_sel=11:4
VOP3SD 64 e64 fix=26:6:0x34 op=16:10 vdst=0:8 sdst=8:7 src0=32:9 src1=41:9 src2=50:9 VOP3M
VOP3P 64 e64 fix=23:9:0x1a7 op=16:7 vdst=0:8 src0=32:9 src1=41:9 src2=50:9 VOP3PM
MAI 64 e64 fix=23:9:0x1a7 op=16:7 vdst=0:8 src0=32:9 src1=41:9 src2=50:9 !cbsz=8:3 !abid=11:4 !acc_cd=15:1 !acc=59:2 !blgp=61:3
MAIX2 128 e64 fix=16:16:0xd3ac,87:9:0x1a7,75:4:1 op=80:7 vdst=64:8 src0=96:9 src1=105:9 src2=114:9 scale0=32:9 scale1=41:9 MAIXM
"""

_GFX9_MEMORY = """
SMEM 64 - fix=26:6:0x30,17:1:1 op=18:8 sdata=6:7 sbase=0:6 soffset=57:7 !soe=14:1 !offset=32:21s !glc=16:1 !nv=15:1
SMEMS 64 sgpr fix=26:6:0x30,14:1:0,17:1:0 op=18:8 sdata=6:7 sbase=0:6 soffset=32:7 !glc=16:1 !nv=15:1
DS 64 - fix=26:6:0x36 op=17:8 vdst=56:8 addr=32:8 data0=40:8 data1=48:8 !acc=25:1 !offset=0:16 !gds=16:1
DS2 64 - fix=26:6:0x36 op=17:8 vdst=56:8 addr=32:8 data0=40:8 data1=48:8 !acc=25:1 !offset0=0:8 !offset1=8:8 !gds=16:1
FLAT 64 - fix=26:6:0x37,14:2:0 op=18:7 vdst=56:8 vaddr=32:8 vdata=40:8 saddr=48:7 !acc=55:1 !offset=0:12 !sc0=16:1 !nt=17:1 !sc1=25:1
SCRATCH 64 - fix=26:6:0x37,14:2:1 op=18:7 vdst=56:8 vaddr=32:8 vdata=40:8 saddr=48:7 !acc=55:1 !sve=13:1 !offset=0:13s !sc0=16:1 !nt=17:1 !sc1=25:1
GLOBAL 64 - fix=26:6:0x37,14:2:2 op=18:7 vdst=56:8 vaddr=32:8 vdata=40:8 saddr=48:7 !acc=55:1 !offset=0:13s !sc0=16:1 !nt=17:1 !sc1=25:1
MUBUF 64 - fix=26:6:0x38 op=18:7 vdata=40:8 vaddr=32:8 srsrc=48:5 soffset=56:8 !acc=55:1 !offset=0:12 !offen=12:1 !idxen=13:1 !sc0=14:1 !sc1=15:1 !nt=17:1 !lds=16:1
MTBUF 64 - fix=26:6:0x3a op=15:4 vdata=40:8 vaddr=32:8 srsrc=48:5 soffset=56:8 !acc=55:1 !offset=0:12 !format=19:7~1 !offen=12:1 !idxen=13:1 !sc0=14:1 !sc1=53:1 !nt=54:1
"""

_MACROS = {
    "DPP32": _DPP16.format(b8=40, b19=51, b24=56, b28=60),
    "DPP64": _DPP16.format(b8=72, b19=83, b24=88, b28=92),
    "VOP3M": "!neg=61:3 !clamp=15:1 !omod=59:2",
    "VOP3PM": "!neg_lo=61:3 !neg_hi=8:3 !op_sel=11:3 !op_sel_hi=59:2+14:1~7 !clamp=15:1",
    "SDWAD": "!dst_sel=40:3~6 !dst_unused=43:2~2 !clamp=45:1 !omod=46:2",
    "SDWAS": "!src0_sel=48:3~6 !sext=51:1+59:1 !neg=52:1+60:1 !abs=53:1+61:1",
    "MAIXM": "!op_sel=11:2 !op_sel_hi=59:2 !cbsz=72:3 !acc_cd=79:1 !acc=123:2 !blgp=125:3",
}


def _field(text: str) -> Field:
    is_modifier = text.startswith("!")
    name, _, spec = text.lstrip("!").partition("=")
    spec, _, default = spec.partition("~")
    signed = spec.endswith("s")
    pieces = []
    for piece in spec.rstrip("s").split("+"):
        shift, _, width = piece.partition(":")
        pieces.append((int(shift), int(width)))
    return Field(name, tuple(pieces), is_modifier, signed, int(default or "0"))


def _parse(line: str) -> Format:
    words = line.split()
    name, bits, form = words[:3]
    for macro, text in _MACROS.items():
        if macro in words:
            at = words.index(macro)
            words[at : at + 1] = text.split()
    mask = value = 0
    fields: dict[str, Field] = {}
    opcode: Field | None = None
    for word in words[3:]:
        if word.startswith("fix="):
            for part in word[4:].split(","):
                shift, width, constant = (int(x, 0) for x in part.split(":"))
                mask |= ((1 << width) - 1) << shift
                value |= constant << shift
            continue
        field = _field(word)
        if field.name == "op":
            opcode = field
        else:
            fields[field.name] = field
    assert opcode is not None
    return Format(name, "" if form == "-" else form, int(bits), mask, value, opcode, fields)


_SOURCES = {
    "gfx11": _GFX11_SCALAR + _RDNA_VECTOR + _GFX11_MEMORY,
    "gfx12": _GFX11_SCALAR + _RDNA_VECTOR + _GFX12_MEMORY,
    "gfx9.4": _GFX11_SCALAR + _GFX9_VECTOR + _GFX9_MEMORY,
}


@cache
def formats(generation: str) -> dict[str, Format]:
    """The formats of a generation by name, in the order in which the decoder tries them where prefixes overlap."""
    parsed = [_parse(line) for line in _SOURCES[generation].splitlines() if line.strip()]
    return {item.name: item for item in parsed}


_BITOP3 = Field("bitop3", ((61, 3), (8, 3), (59, 2)), True, False, 0)


def modifier_field(form: Format, name: str) -> Field:
    """The field that holds a modifier, under the name the table gives it."""
    if name == "bitop3":
        return _BITOP3
    if name == "fi" and "fi8" in form.fields:
        return form.fields["fi8"]
    if name == "index_key":
        return form.fields["op_sel"]
    if name in ("neg", "abs") and name not in form.fields:
        return form.fields["neg_lo" if name == "neg" else "neg_hi"]
    return form.fields[name]
