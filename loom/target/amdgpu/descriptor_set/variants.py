"""The reference form: what the public mnemonics with suffixes mean (section 5.7 of the language reference)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from loom.target.amdgpu.descriptor_set.names import listed, row_of
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import OFF, Inline, Operand, Register
from loom.target.amdgpu.tables import find_row


@dataclass(frozen=True, slots=True)
class Variant:
    """A reference-form mnemonic.

    Attributes:
        row: Its row.
        immediates: Immediate name to (slot, how): ``lit`` a literal, ``inline`` an inline constant, ``any``
            whichever fits, ``field`` a number, ``wait`` a counter of ``simm16``, ``bit`` the lowest bit of a modifier
            and ``bit1`` the one above it.
        fixed: Slots with a constant of their own.
        modifiers: Modifiers that the name implies.
        form: Encoding form that the name implies.
        positional: Whether the immediates follow the operands (else they are named in braces).
        state_defs: State written through a fixed slot.
        state_uses: State read through a fixed slot.
    """

    row: InstructionRow
    immediates: tuple[tuple[str, str, str], ...] = ()
    fixed: tuple[tuple[str, Operand], ...] = ()
    modifiers: tuple[tuple[str, int], ...] = ()
    form: str | None = None
    positional: bool = True
    state_defs: tuple[str, ...] = ()
    state_uses: tuple[str, ...] = ()


Make = Callable[[InstructionRow], Variant | None]


def _source(row: InstructionRow, number: int) -> str:
    """Name of source slot ``number``: ``src0``/``ssrc0``; source 1 of the short vector forms is ``vsrc1``."""
    for name in (f"src{number}", f"ssrc{number}", f"vsrc{number}"):
        if row.slot_index(name) >= 0:
            return name
    return ""


def _has(row: InstructionRow, *names: str) -> bool:
    return all(row.slot_index(name) >= 0 for name in names)


def _no_offset(row: InstructionRow, slot: str) -> Operand:
    """The constant for an absent scalar offset: zero where a constant can stand there, else absence."""
    kinds = row.slots[row.slot_index(slot)].kinds
    return Inline(128) if "inline" in kinds and "off" not in kinds else OFF if "off" in kinds else Register("null")


def _saddr(row: InstructionRow) -> Variant | None:
    return Variant(row) if _has(row, "saddr") else None


def _vaddr(row: InstructionRow) -> Variant | None:
    return Variant(row, fixed=(("saddr", OFF),)) if _has(row, "saddr") else None


def _returning(variant: Variant, name: str) -> Variant:
    """Memory atomics: ``_rtn`` sets the bit that returns the old value, its absence leaves the result slot empty."""
    row = variant.row
    if row.memory is None or row.memory.kind != "atomic" or row.memory.space in ("lds", "gds"):
        return variant
    if "_rtn" in name:
        bit = next((m.name for m in row.modifiers if m.name in ("glc", "sc0", "th")), None)
        extra = ((bit, 1),) if bit is not None else ()
        return replace(variant, modifiers=variant.modifiers + extra)
    if row.memory.result is not None and "off" in row.slots[row.slot_index(row.memory.result)].kinds:
        return replace(variant, fixed=((row.memory.result, OFF), *variant.fixed))
    return variant


def _offset_only(row: InstructionRow) -> Variant | None:
    if _has(row, "vaddr", "saddr"):
        return Variant(row, fixed=(("vaddr", OFF), ("saddr", OFF)))
    return Variant(row, fixed=(("soffset", OFF),)) if _has(row, "soffset") else None


def _off_zero(row: InstructionRow) -> Variant | None:
    if not _has(row, "vaddr", "soffset"):
        return None
    return Variant(row, fixed=(("vaddr", OFF), ("soffset", _no_offset(row, "soffset"))))


def _imm(number: int, how: str, name: str = "imm32", positional: bool = True) -> Make:
    def make(row: InstructionRow) -> Variant | None:
        slot = _source(row, number)
        return Variant(row, ((name, slot, how),), positional=positional) if slot else None

    return make


def _pair(*entries: tuple[int, str, str]) -> Make:
    def make(row: InstructionRow) -> Variant | None:
        slots = [(name, _source(row, number), how) for number, name, how in entries]
        return Variant(row, tuple(slots), positional=False) if all(s for _, s, _ in slots) else None

    return make


def _acc_zero(row: InstructionRow) -> Variant | None:
    return Variant(row, fixed=(("src2", Inline(128)),)) if _has(row, "src2") else None


def _dpp16(row: InstructionRow) -> Variant | None:
    return Variant(row, form="dpp16", positional=False) if row.encoding("dpp16") is not None else None


#: Sign extension of a source: one bit a source in one modifier.
_SIGN_EXTENSIONS = (("src0_sext", "sext", "bit"), ("src1_sext", "sext", "bit1"))


def _sdwa(row: InstructionRow) -> Variant | None:
    encoding = row.encoding("sdwa")
    if encoding is None:
        return None
    bits = max((m.width for m in encoding.modifiers if m.name == "sext"), default=0)
    return Variant(row, _SIGN_EXTENSIONS[:bits], form="sdwa", positional=False)


def _exec_write(row: InstructionRow) -> Variant | None:
    return Variant(row, fixed=(("sdst", Register("exec", 0, 2)),), state_defs=("exec",)) if _has(row, "sdst") else None


def _exec_read(row: InstructionRow) -> Variant | None:
    slot = _source(row, 0)
    return Variant(row, fixed=((slot, Register("exec", 0, 2)),), state_uses=("exec",)) if slot else None


def _exec_xor(row: InstructionRow) -> Variant | None:
    exec_register = Register("exec", 0, 2)
    if not _has(row, "sdst", "ssrc0"):
        return None
    return Variant(
        row, fixed=(("sdst", exec_register), ("ssrc0", exec_register)), state_defs=("exec",), state_uses=("exec",)
    )


def _shared_base(row: InstructionRow) -> Variant | None:
    """The start of the LDS aperture."""
    return Variant(row, fixed=((_source(row, 0), Register("shared_base")),))


def _prefetch(row: InstructionRow) -> Variant:
    return Variant(row, (("count", "sdata", "field"),), positional=False)


def _identity(row: InstructionRow) -> Variant | None:
    return Variant(row)


_SUFFIXES: tuple[tuple[re.Pattern[str], Make], ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"(s_mov_b32)_m0_imm", _imm(0, "any")),
        (r"(s_mov_b32)_m0", _identity),
        (r"(s_mov_b(?:32|64))_exec_read", _exec_read),
        (r"(s_mov_b(?:32|64))_exec", _exec_write),
        (r"(s_xor_b(?:32|64))_exec", _exec_xor),
        (r"(s_mov_b64)_shared_base", _shared_base),
        (r"(v_cndmask_b32)_src0_lit_src1_inline", _pair((0, "imm32", "lit"), (1, "true_value", "inline"))),
        (r"(v_cndmask_b32)_src1_lit_src0_inline", _pair((1, "imm32", "lit"), (0, "false_value", "inline"))),
        (r"(v_cndmask_b32)_src0_inline", _imm(0, "inline", "false_value", False)),
        (r"(v_cndmask_b32)_src1_inline", _imm(1, "inline", "true_value", False)),
        (r"(v_cmp\w*)_src1_inline", _imm(1, "inline", "rhs", False)),
        (r"(v_cmp\w*)_src0_inline", _imm(0, "inline", "lhs", False)),
        (r"(v_lshl_add_u32)_shift_imm", _imm(1, "any", "shift")),
        (r"(\w+)_vop3_imm", _imm(0, "inline")),
        (r"(\w+)_src0_lit", _imm(0, "lit")),
        (r"(\w+)_src1_lit", _imm(1, "lit")),
        (r"(\w+)_src2_lit", _imm(2, "lit")),
        (r"(\w+)_src0_inline", _imm(0, "inline")),
        (r"(\w+)_src1_inline", _imm(1, "inline")),
        (r"(\w+)_rhs_inline", _imm(1, "any")),
        (r"(\w+)_lit", _imm(0, "lit")),
        (r"(\w+)_copy", _identity),
        (r"(\w+)_acc_zero", _acc_zero),
        (r"(\w+)_dpp16", _dpp16),
        (r"(\w+)_sdwa", _sdwa),
        (r"(\w+?)(?:_rtn)?_saddr", _saddr),
        (r"(\w+?)(?:_rtn)?_vaddr", _vaddr),
        (r"(\w+)_offset_only", _offset_only),
        (r"(\w+)_off_zero", _off_zero),
        (r"(\w+)_rtn", _identity),
    )
)


def _waits(*counters: str) -> Make:
    def make(row: InstructionRow) -> Variant:
        return Variant(row, tuple((counter, "simm16", "wait") for counter in counters), positional=False)

    return make


def _field(row: InstructionRow) -> Variant:
    """One number under the name of the counter that the mnemonic ends in."""
    fixed = (("sdst", Register("null")),) if _has(row, "sdst") else ()
    name = re.sub(r"^s_wait(cnt)?_", "", row.mnemonic)
    return Variant(row, ((name, "simm16", "field"),), fixed, positional=False)


def _literal(row: InstructionRow) -> Variant:
    slot = next(slot.name for slot in row.slots if slot.is_use and slot.kinds == ("literal",))
    return Variant(row, (("imm32", slot, "lit"),))


#: Mnemonics without a suffix whose immediates have names of their own in the reference form.
_PLAIN: tuple[tuple[re.Pattern[str], Make], ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"s_mov_b32|v_mov_b32", _imm(0, "any")),
        (r"v_fma(?:ak|mk)_f(?:32|16)", _literal),
        (r"s_waitcnt", _waits("vmcnt", "lgkmcnt", "expcnt")),
        (r"s_waitcnt_(?:vscnt|vmcnt|lgkmcnt|expcnt|depctr)", _field),
        (r"s_wait_\w+cnt", _field),
        (r"s_(?:buffer_)?prefetch_\w+", _prefetch),
    )
)

#: Dot products of gfx11 and gfx12 that choose the signs of their factors: the row, and its ``neg_lo`` bits.
_DOTS: dict[str, tuple[str, int]] = {
    "v_dot4_i32_i8": ("v_dot4_i32_iu8", 3),
    "v_dot8_i32_i4": ("v_dot8_i32_iu4", 3),
    "v_dot4_i32_iu8_s8u8": ("v_dot4_i32_iu8", 1),
    "v_dot4_i32_iu8_u8s8": ("v_dot4_i32_iu8", 2),
    "v_dot8_i32_iu4_s4u4": ("v_dot8_i32_iu4", 1),
    "v_dot8_i32_iu4_u4s4": ("v_dot8_i32_iu4", 2),
}


@cache
def variant_of(generation: str, name: str) -> Variant | None:
    """The reference-form meaning of a mnemonic, or ``None`` where it has none besides its row."""
    direct = row_of(generation, name)
    if direct is not None:
        for pattern, make in _PLAIN:
            if pattern.fullmatch(direct.mnemonic):
                return make(direct)
    if direct is None and name.startswith(LOAD_LDS):
        return _into_lds(generation, name)
    if direct is None and name in _DOTS:
        mnemonic, signs = _DOTS[name]
        row = find_row(generation, mnemonic)
        if row is not None:
            return Variant(row, modifiers=(("neg_lo", signs),))
    made = _suffixed(generation, name)
    return _returning(made[0], name) if made is not None else None


LOAD_LDS = "buffer_load_lds_"
"""Prefix of the buffer loads whose data goes to LDS, at the address in M0, and to no register. LLVM writes the plain
mnemonic with ``lds`` behind it."""


def _plain_load(name: str) -> str:
    return "buffer_load_" + name.removeprefix(LOAD_LDS)


def _into_lds(generation: str, name: str) -> Variant | None:
    plain = _plain_load(name)
    row = row_of(generation, plain)
    found = Variant(row) if row is not None else variant_of(generation, plain)
    if found is None or not any(modifier.name == "lds" for modifier in found.row.modifiers):
        return None
    return replace(
        found,
        fixed=(*found.fixed, ("vdata", OFF)),
        modifiers=(*found.modifiers, ("lds", 1)),
        positional=False,
        state_uses=("m0",),
    )


def _suffixed(generation: str, name: str) -> tuple[Variant, str] | None:
    """The meaning of a mnemonic with a suffix, and the mnemonic without it."""
    for pattern, make in _SUFFIXES:
        match = pattern.fullmatch(name)
        row = row_of(generation, match[1]) if match is not None else None
        made = make(row) if row is not None else None
        if match is not None and made is not None:
            return made, match[1]
    return None


@cache
def spelling_of(generation: str, name: str) -> tuple[str, str]:
    """How an instruction is written, whichever accepted spelling ``name`` is: (key without family, asm mnemonic).

    The key is LLVM's mnemonic, with the reference's suffix behind a dot; the asm mnemonic is the listed one.
    """
    row = row_of(generation, name)
    if row is not None:
        return row.mnemonic, listed(generation, row.mnemonic)
    if name.startswith(LOAD_LDS) and variant_of(generation, name) is not None:
        key, mnemonic = spelling_of(generation, _plain_load(name))
        return LOAD_LDS + key.removeprefix("buffer_load_"), LOAD_LDS + mnemonic.removeprefix("buffer_load_")
    dot = _DOTS.get(name, ("", 0))[0]
    if dot and name.startswith(dot):
        return f"{dot}.{name[len(dot) + 1 :]}", name
    found = _suffixed(generation, name)
    if found is None:
        return name, name
    variant, base = found
    suffix = name[len(base) :]
    mnemonic = listed(generation, variant.row.mnemonic + suffix)
    return f"{mnemonic.removesuffix(suffix)}.{suffix[1:]}", mnemonic
