"""Descriptor sets: what Low text may say of AMDGPU instructions, joined with the instruction table.

Two spellings lead to one row:

* **Table form** (lifted code, lowering): LLVM's mnemonic; registers in slot order, constants as immediates named
after their slot
  (docs/lift.md).
* **Reference form** (section 5.7 of the language reference): the public mnemonics, where a suffix says which source
is an immediate
  (``v_add_f32_lit``, ``v_lshlrev_b32_src0_inline``), which address parts there are (``_saddr``, ``_vaddr``,
  ``_offset_only``), or which
  register is written (``s_mov_b32_m0``).

:func:`resolve` turns either into rows with constants in place; :func:`amdgpu_descriptor_set` gives parser and
verifier their view.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from loom.diagnostics import Location, error
from loom.ir.targets import (
    Descriptor,
    DescriptorImmediate,
    DescriptorOperand,
    DescriptorResult,
    RegisterClass,
)
from loom.target.amdgpu.abi import LIVE_IN_CLASSES
from loom.target.amdgpu.instruction import InstructionRow, OperandSlot
from loom.target.amdgpu.machine import OFF, Immediate, Inline, Literal, Operand, Register
from loom.target.amdgpu.tables import find_row, table

SETS: dict[str, str] = {
    "amdgpu.rdna3.core": "gfx11",
    "amdgpu.rdna3_5.core": "gfx11",
    "amdgpu.gfx11.generic.core": "gfx11",
    "amdgpu.rdna4.core": "gfx12",
    "amdgpu.gfx12.generic.core": "gfx12",
    "amdgpu.cdna3.core": "gfx9.4",
    "amdgpu.cdna4.core": "gfx9.4",
}
"""Generation of every descriptor set."""

#: The scalar file ends in VCC, which code that was written elsewhere also uses as two plain registers.
_CLASS_COUNTS = {"sgpr": 108, "vgpr": 256, "agpr": 256, "ttmp": 16}
_SINGLE = ("scc", "vcc", "exec", "m0", "mode", "null", "vccz", "execz")

#: Older spellings that rewrite word by word: (pattern, replacement), applied in order.
_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^ds_read2st64_", "ds_load_2addr_stride64_"),
        (r"^ds_write2st64_", "ds_store_2addr_stride64_"),
        (r"^ds_read2_", "ds_load_2addr_"),
        (r"^ds_write2_", "ds_store_2addr_"),
        (r"^ds_read_", "ds_load_"),
        (r"^ds_write_", "ds_store_"),
        (r"_wrxchg_", "_storexchg_"),
        (r"_cmpst_", "_cmpstore_"),
        (r"_dwordx16$", "_b512"),
        (r"_dwordx8$", "_b256"),
        (r"_dwordx4$", "_b128"),
        (r"_dwordx3$", "_b96"),
        (r"_dwordx2$", "_b64"),
        (r"_dword$", "_b32"),
        (r"_load_ushort$", "_load_u16"),
        (r"_load_sshort$", "_load_i16"),
        (r"_load_ubyte$", "_load_u8"),
        (r"_load_sbyte$", "_load_i8"),
        (r"_load_short_d16$", "_load_d16_b16"),
        (r"_store_short$", "_store_b16"),
        (r"_store_byte$", "_store_b8"),
        (r"^v_add_u32$", "v_add_nc_u32"),
        (r"^v_sub_u32$", "v_sub_nc_u32"),
        (r"^v_subrev_u32$", "v_subrev_nc_u32"),
        (r"^v_addc_co_u32$", "v_add_co_ci_u32"),
        (r"^v_subb_co_u32$", "v_sub_co_ci_u32"),
        (r"^v_cmp_s(lt|le|gt|ge)_i32$", r"v_cmp_\1_i32"),
        (r"_atomic_swap$", "_atomic_swap_b32"),
        (r"^v_dot2_f32_bf16$", "v_dot2_f32_bf16"),
    )
)

#: Back from gfx11 names to those that gfx9.4 keeps.
_OLDER: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^ds_load_2addr_stride64_", "ds_read2st64_"),
        (r"^ds_store_2addr_stride64_", "ds_write2st64_"),
        (r"^ds_load_2addr_", "ds_read2_"),
        (r"^ds_store_2addr_", "ds_write2_"),
        (r"^ds_load_", "ds_read_"),
        (r"^ds_store_", "ds_write_"),
        (r"_load_b512$", "_load_dwordx16"),
        (r"_load_b256$", "_load_dwordx8"),
        (r"_(load|store)_b128$", r"_\1_dwordx4"),
        (r"_(load|store)_b96$", r"_\1_dwordx3"),
        (r"_(load|store)_b64$", r"_\1_dwordx2"),
        (r"_(load|store)_b32$", r"_\1_dword"),
        (r"^v_add_nc_u32$", "v_add_u32"),
        (r"^v_sub_nc_u32$", "v_sub_u32"),
        (r"^v_add_co_ci_u32$", "v_addc_co_u32"),
    )
)


#: Where the reference lists another mnemonic than LLVM's for gfx11 and gfx12: LLVM's name (with the reference's
#: suffix) and the listed one. Names that it lists in both spellings print as LLVM has them.
_LISTED: dict[str, str] = {
    "buffer_load_b32": "buffer_load_dword",
    "buffer_load_b32_off_zero": "buffer_load_dword_off_zero",
    "buffer_load_b64_off_zero": "buffer_load_dwordx2_off_zero",
    "buffer_load_d16_b16": "buffer_load_short_d16",
    "buffer_store_b32": "buffer_store_dword",
    "buffer_store_b32_off_zero": "buffer_store_dword_off_zero",
    "buffer_store_b16": "buffer_store_short",
    "ds_cmpstore_rtn_b32": "ds_cmpst_rtn_b32",
    "ds_load_2addr_b32": "ds_read2_b32",
    "ds_load_2addr_b64": "ds_read2_b64",
    "ds_load_2addr_stride64_b32": "ds_read2st64_b32",
    "ds_load_2addr_stride64_b64": "ds_read2st64_b64",
    "ds_load_addtid_b32": "ds_read_addtid_b32",
    "ds_load_b128": "ds_read_b128",
    "ds_load_b32": "ds_read_b32",
    "ds_load_b64": "ds_read_b64",
    "ds_load_b96": "ds_read_b96",
    "ds_load_u16": "ds_read_u16",
    "ds_store_2addr_b32": "ds_write2_b32",
    "ds_store_2addr_b64": "ds_write2_b64",
    "ds_store_2addr_stride64_b32": "ds_write2st64_b32",
    "ds_store_2addr_stride64_b64": "ds_write2st64_b64",
    "ds_store_addtid_b32": "ds_write_addtid_b32",
    "ds_store_b128": "ds_write_b128",
    "ds_store_b16": "ds_write_b16",
    "ds_store_b32": "ds_write_b32",
    "ds_store_b64": "ds_write_b64",
    "ds_store_b96": "ds_write_b96",
    "ds_storexchg_rtn_b32": "ds_wrxchg_rtn_b32",
    "flat_load_b32": "flat_load_dword",
    "global_load_d16_b16_saddr": "global_load_short_d16_saddr",
    "global_load_d16_b16_vaddr": "global_load_short_d16_vaddr",
    "global_store_b16_saddr": "global_store_short_saddr",
    "global_store_b16_vaddr": "global_store_short_vaddr",
    "s_buffer_load_b32": "s_buffer_load_dword",
    "s_load_b32": "s_load_dword",
    "s_load_b32_offset_only": "s_load_dword_offset_only",
    "s_load_b512": "s_load_dwordx16",
    "s_load_b512_offset_only": "s_load_dwordx16_offset_only",
    "s_load_b64": "s_load_dwordx2",
    "s_load_b64_offset_only": "s_load_dwordx2_offset_only",
    "s_load_b128": "s_load_dwordx4",
    "s_load_b128_offset_only": "s_load_dwordx4_offset_only",
    "s_load_b256": "s_load_dwordx8",
    "s_load_b256_offset_only": "s_load_dwordx8_offset_only",
    "v_add_nc_u32": "v_add_u32",
    "v_add_nc_u32_lit": "v_add_u32_lit",
    "v_add_nc_u32_src0_inline": "v_add_u32_src0_inline",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """A reference-form mnemonic.

    Attributes:
        row: Its row.
        immediates: Immediate name to (slot, how): ``lit`` a literal, ``inline`` an inline constant, ``any``
            whichever fits, ``field``.
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


@dataclass(slots=True)
class Half:
    """One half of a resolved instruction: constants by slot index, registers to be taken in ``order``."""

    row: InstructionRow
    fixed: dict[int, Operand] = field(default_factory=dict)
    order: tuple[int, ...] | None = None
    modifiers: dict[str, int] = field(default_factory=dict)
    form: str | None = None
    halves: dict[str, int] = field(default_factory=dict)

    def half_of(self, name: str) -> int | None:
        """Which half of a 16-bit register a slot names; ``None`` where nothing was said."""
        return self.halves.get(name)


@dataclass(slots=True)
class Resolved:
    """An instruction's rows with constants in place; two halves for a dual-issue pair."""

    halves: list[Half]
    state_defs: tuple[str, ...] = ()
    state_uses: tuple[str, ...] = ()


@cache
def row_of(generation: str, name: str) -> InstructionRow | None:
    """The row of a mnemonic in any accepted spelling, without reference-form suffixes."""
    found = find_row(generation, name)
    if found is not None:
        return found
    rewritten = name
    for pattern, replacement in _REWRITES:
        rewritten = pattern.sub(replacement, rewritten)
    found = find_row(generation, rewritten)
    if found is not None:
        return found
    for pattern, replacement in _OLDER:
        rewritten = pattern.sub(replacement, rewritten)
    return find_row(generation, rewritten)


def _source(row: InstructionRow, number: int) -> str:
    """Name of source slot ``number``: ``src0``/``ssrc0``; source 1 of the short vector forms is ``vsrc1``."""
    for name in (f"src{number}", f"ssrc{number}", f"vsrc{number}"):
        if row.slot_index(name) >= 0:
            return name
    return ""


def _has(row: InstructionRow, *names: str) -> bool:
    return all(row.slot_index(name) >= 0 for name in names)


_DOT_SIGNS = {"s8u8": 1, "u8s8": 2, "s4u4": 1, "u4s4": 2}


def _no_offset(row: InstructionRow, slot: str) -> Operand:
    """The constant for an absent scalar offset: zero where a constant can stand there, else absence."""
    kinds = row.slots[row.slot_index(slot)].kinds
    return Inline(128) if "inline" in kinds and "off" not in kinds else OFF if "off" in kinds else Register("null")


@cache
def variant_of(generation: str, name: str) -> Variant | None:
    """The reference-form meaning of a mnemonic, or ``None`` where it has none besides its row."""
    direct = row_of(generation, name)
    if direct is not None:
        mnemonic = direct.mnemonic
        if mnemonic in ("s_mov_b32", "v_mov_b32"):
            return Variant(direct, (("imm32", _source(direct, 0), "any"),))
        if mnemonic in ("v_fmaak_f32", "v_fmaak_f16", "v_fmamk_f32", "v_fmamk_f16"):
            literal = next(slot.name for slot in direct.slots if slot.is_use and slot.kinds == ("literal",))
            return Variant(direct, (("imm32", literal, "lit"),))
        if mnemonic == "s_waitcnt":
            return Variant(
                direct,
                (("vmcnt", "simm16", "wait"), ("lgkmcnt", "simm16", "wait"), ("expcnt", "simm16", "wait")),
                positional=False,
            )
        if mnemonic in ("s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_lgkmcnt", "s_waitcnt_expcnt"):
            fixed = (("sdst", Register("null")),) if _has(direct, "sdst") else ()
            return Variant(direct, ((mnemonic.removeprefix("s_waitcnt_"), "simm16", "field"),), fixed, positional=False)
        if mnemonic == "s_waitcnt_depctr":
            return Variant(direct, (("depctr", "simm16", "field"),), positional=False)
        if re.fullmatch(r"s_wait_\w+cnt", mnemonic):
            return Variant(direct, ((mnemonic.removeprefix("s_wait_"), "simm16", "field"),), positional=False)
    if generation in ("gfx11", "gfx12"):
        for old, new in (("v_dot4_i32_i8", "v_dot4_i32_iu8"), ("v_dot8_i32_i4", "v_dot8_i32_iu4")):
            row = find_row(generation, new)
            if name == old and direct is None and row is not None:
                return Variant(row, modifiers=(("neg_lo", 3),))
        match = re.fullmatch(r"(v_dot[48]_i32_iu[48])_(s8u8|u8s8|s4u4|u4s4)", name)
        row = find_row(generation, match[1]) if match else None
        if match and row is not None:
            return Variant(row, modifiers=(("neg_lo", _DOT_SIGNS[match[2]]),))
    for pattern, make in _SUFFIXES:
        match = pattern.fullmatch(name)
        if match is None:
            continue
        row = row_of(generation, match[1])
        if row is None:
            continue
        made: Variant | None = make(row)
        if made is not None:
            return _returning(made, name)
    return None


@cache
def spelling_of(generation: str, name: str) -> tuple[str, str]:
    """How an instruction is written, whichever accepted spelling ``name`` is: (key without family, asm mnemonic).

    The key is LLVM's mnemonic, with the reference's suffix behind a dot; the asm mnemonic is the listed one.
    """
    row = row_of(generation, name)
    if row is not None:
        return row.mnemonic, _listed(generation, row.mnemonic)
    match = re.fullmatch(r"(v_dot[48]_i32_iu[48])_(s8u8|u8s8|s4u4|u4s4)", name)
    if match:
        return f"{match[1]}.{match[2]}", name
    for pattern, make in _SUFFIXES:
        match = pattern.fullmatch(name)
        base = row_of(generation, match[1]) if match else None
        if match is None or base is None or make(base) is None:
            continue
        suffix = name[len(match[1]) :]
        mnemonic = _listed(generation, base.mnemonic + suffix)
        return f"{mnemonic.removesuffix(suffix)}.{suffix[1:]}", mnemonic
    return name, name


def _listed(generation: str, mnemonic: str) -> str:
    return _LISTED.get(mnemonic, mnemonic) if generation != "gfx9.4" else mnemonic


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


def _imm(number: int, how: str, name: str = "imm32", positional: bool = True) -> Any:
    def make(row: InstructionRow) -> Variant | None:
        slot = _source(row, number)
        return Variant(row, ((name, slot, how),), positional=positional) if slot else None

    return make


def _pair(*entries: tuple[int, str, str]) -> Any:
    def make(row: InstructionRow) -> Variant | None:
        slots = [(name, _source(row, number), how) for number, name, how in entries]
        return Variant(row, tuple(slots), positional=False) if all(s for _, s, _ in slots) else None

    return make


def _acc_zero(row: InstructionRow) -> Variant | None:
    return Variant(row, fixed=(("src2", Inline(128)),)) if _has(row, "src2") else None


def _form(form: str) -> Any:
    def make(row: InstructionRow) -> Variant | None:
        return Variant(row, form=form, positional=False) if row.encoding(form) is not None else None

    return make


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


def _identity(row: InstructionRow) -> Variant | None:
    return Variant(row)


def _m0(row: InstructionRow) -> Variant | None:
    return Variant(row)


def _m0_imm(row: InstructionRow) -> Variant | None:
    return Variant(row, (("imm32", _source(row, 0), "any"),))


_SUFFIXES: tuple[tuple[re.Pattern[str], Any], ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"(s_mov_b32)_m0_imm", _m0_imm),
        (r"(s_mov_b32)_m0", _m0),
        (r"(s_mov_b(?:32|64))_exec_read", _exec_read),
        (r"(s_mov_b(?:32|64))_exec", _exec_write),
        (r"(s_xor_b(?:32|64))_exec", _exec_xor),
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
        (r"(\w+)_dpp16", _form("dpp16")),
        (r"(\w+)_sdwa", _form("sdwa")),
        (r"(\w+?)(?:_rtn)?_saddr", _saddr),
        (r"(\w+?)(?:_rtn)?_vaddr", _vaddr),
        (r"(\w+)_offset_only", _offset_only),
        (r"(\w+)_off_zero", _off_zero),
        (r"(\w+)_rtn", _identity),
    )
)


_FLOAT_INLINE = {struct.unpack("<I", struct.pack("<f", value))[0]: code for value, code in (
    (0.5, 240), (-0.5, 241), (1.0, 242), (-1.0, 243), (2.0, 244), (-2.0, 245), (4.0, 246), (-4.0, 247))}  # fmt: skip
_FLOAT_INLINE[0x3E22F983] = 248
_FLOAT_VALUES = {0.5: 240, -0.5: 241, 1.0: 242, -1.0: 243, 2.0: 244, -2.0: 245, 4.0: 246, -4.0: 247}


def inline_of(value: int | float, slot: OperandSlot | None = None) -> Inline | None:
    """The inline constant for a number: an integer -16…64, a float constant, or the bits of one in single precision."""
    if isinstance(value, float):
        if value in _FLOAT_VALUES:
            return Inline(_FLOAT_VALUES[value])
        if abs(value - 0.15915494309189532) < 1e-7:
            return Inline(248)
        return Inline(128) if value == 0.0 and str(value) == "0.0" else None
    if -16 <= value <= 64:
        return Inline.integer(value)
    value &= 0xFFFFFFFF
    if value >= 0xFFFFFFF0:
        return Inline.integer(value - (1 << 32))
    return Inline(_FLOAT_INLINE[value]) if value in _FLOAT_INLINE else None


def _constant(value: Any, how: str, slot: OperandSlot, name: str, location: Location | None) -> Operand:
    """An immediate's operand in the reference form."""
    if how == "field":
        return Immediate(int(value))
    if how == "lit":
        return Literal(int(value) & 0xFFFFFFFF)
    found = inline_of(value, slot)
    if found is not None:
        return found
    if how == "inline":
        raise error(
            f"{value} is no inline constant",
            "BACKEND/020",
            location,
            hint="inline constants are the integers -16 to 64 and ±0.5, ±1, ±2, ±4, 1/(2π) as raw bits; or use _lit",
        )
    return Literal(int(value) & 0xFFFFFFFF)


def encode_waitcnt(generation: str, vmcnt: int, expcnt: int, lgkmcnt: int) -> int:
    """The ``simm16`` of ``s_waitcnt``. Field positions: AMDGPUUsage / LLVM's AMDGPU base information, per
    generation."""
    if generation == "gfx9.4":
        vm = min(vmcnt, 63)
        return (vm & 15) | (vm >> 4 << 14) | (min(expcnt, 7) << 4) | (min(lgkmcnt, 15) << 8)
    return (min(expcnt, 7)) | (min(lgkmcnt, 63) << 4) | (min(vmcnt, 63) << 10)


def decode_waitcnt(generation: str, simm16: int) -> dict[str, int]:
    """Counters and values of an ``s_waitcnt``."""
    if generation == "gfx9.4":
        return {
            "vmcnt": (simm16 & 15) | (simm16 >> 14 & 3) << 4,
            "expcnt": simm16 >> 4 & 7,
            "lgkmcnt": simm16 >> 8 & 15,
        }
    return {"vmcnt": simm16 >> 10 & 63, "expcnt": simm16 & 7, "lgkmcnt": simm16 >> 4 & 63}


#: Entries of ``low.op`` that are neither slots nor modifiers.
META = frozenset(("key", "form", "raw", "alias", "invariant", "volatile", "memory", "literal", "immediates", "ties"))

_WORDS = {
    "null": Register("null"),
    "off": OFF,
    "exec_lo": Register("exec", 0, 1),
    "exec_hi": Register("exec", 1, 1),
}


def resolve(
    generation: str,
    key: str,
    immediates: Mapping[str, Any],
    wave_size: int,
    location: Location | None,
    operand_types: Sequence[Any] = (),
) -> Resolved:
    """Rows and constants of a ``low.op``.

    Args:
        generation: Instruction table.
        key: The op's key, with or without ``amdgpu.``.
        immediates: The op's immediates, encoding form included.
        wave_size: Lanes of a wave.
        location: For diagnostics.
        operand_types: Register types of the operands; they tell the two operand orders of buffer instructions apart.

    Raises:
        LoomError: ``BACKEND/021`` for an unknown instruction, ``BACKEND/020`` for an immediate that does not fit.
    """
    name = key.removeprefix("amdgpu.")
    if name.startswith("v_dual_") and ".v_dual_" in name:
        x, y = name.split(".", 1)
        plain = {k: v for k, v in immediates.items() if not k.startswith("y_")}
        other = {k[2:]: v for k, v in immediates.items() if k.startswith("y_")}
        if "literal" in immediates:
            other.setdefault("literal", immediates["literal"])
        halves = [_table_half(generation, x, plain, location), _table_half(generation, y, other, location)]
        return Resolved(halves)
    name = name.replace(".", "_")
    row = row_of(generation, name)
    variant = variant_of(generation, name)
    if variant is not None and (row is None or any(entry[0] in immediates for entry in variant.immediates)):
        return _reference_form(variant, immediates, location, operand_types, generation)
    if row is None:
        raise unknown_instruction(generation, name, location)
    half = _table_half(generation, name, immediates, location, row)
    _buffer_order(half, operand_types)
    return Resolved([half])


def unknown_instruction(generation: str, name: str, location: Location | None) -> Exception:
    """The error for a key that no row answers to, with the nearest names."""
    import difflib

    near = difflib.get_close_matches(name, table(generation).mnemonics(), 3)
    hint = "nearest: " + ", ".join(near) if near else None
    return error(f"{generation} has no instruction '{name}'", "BACKEND/021", location, hint=hint)


def _table_half(
    generation: str,
    name: str,
    immediates: Mapping[str, Any],
    location: Location | None,
    row: InstructionRow | None = None,
) -> Half:
    row = row if row is not None else row_of(generation, name)
    if row is None:
        raise unknown_instruction(generation, name, location)
    half = Half(row, form=None)
    form = immediates.get("form")
    half.form = None if form is None else str(form)
    literal = int(immediates.get("literal", 0))
    index_of, modifier_names = _names_of(row)
    for entry, value in immediates.items():
        if entry in META:
            continue
        index = index_of.get(entry)
        if index is not None:
            slot = row.slots[index]
            half.fixed[index] = _slot_constant(value, slot, literal, entry, location)
            continue
        if entry in modifier_names:
            half.modifiers[entry] = int(value)
            continue
        if entry.endswith("_half") and entry[:-5] in index_of:
            half.halves[entry[:-5]] = int(value)
            continue
        raise error(
            f"{row.mnemonic} has no immediate '{entry}'",
            "BACKEND/022",
            location,
            hint="it has: " + ", ".join([*index_of, *sorted(modifier_names)]),
        )
    return half


_NAMES: dict[int, tuple[InstructionRow, dict[str, int], frozenset[str]]] = {}


def _names_of(row: InstructionRow) -> tuple[dict[str, int], frozenset[str]]:
    """Slot numbers by name, and the names of the modifiers; kept by identity, since hashing a row is slow."""
    found = _NAMES.get(id(row))
    if found is None:
        slots = {slot.name: i for i, slot in enumerate(row.slots)}
        found = _NAMES[id(row)] = (row, slots, frozenset(m.name for m in row.modifiers))
    return found[1], found[2]


def _slot_constant(value: Any, slot: OperandSlot, literal: int, entry: str, location: Location | None) -> Operand:
    """A slot's constant in the table form."""
    if isinstance(value, str):
        if value == "literal":
            return Literal(literal & 0xFFFFFFFF)
        if value in _WORDS:
            found = _WORDS[value]
            return Register("null", 0, max(1, slot.units)) if value == "null" else found
        if value in ("exec", "vcc"):
            return Register(value, 0, 2)
        return Register(value, 0, max(1, slot.units))
    if isinstance(value, bool):
        value = int(value)
    if "imm" in slot.kinds and "inline" not in slot.kinds:
        return Immediate(int(value))
    found_inline = inline_of(value, slot)
    if found_inline is not None:
        return found_inline
    if "literal" in slot.kinds and isinstance(value, int):
        return Literal(value & 0xFFFFFFFF)
    if "imm" in slot.kinds:
        return Immediate(int(value))
    raise error(f"{value} cannot stand in {entry} as an inline constant", "BACKEND/020", location)


def _reference_form(
    variant: Variant,
    immediates: Mapping[str, Any],
    location: Location | None,
    operand_types: Sequence[Any],
    generation: str,
) -> Resolved:
    row = variant.row
    half = Half(row, form=variant.form, modifiers=dict(variant.modifiers))
    for slot_name, operand in variant.fixed:
        half.fixed[row.slot_index(slot_name)] = operand
    named = {entry[0]: entry for entry in variant.immediates}
    waits: dict[str, int] = {}
    _, modifier_names = _names_of(row)
    for name, value in immediates.items():
        if name in META:
            if name == "form":
                half.form = str(value)
            continue
        found = named.get(name)
        if found is not None:
            if found[2] == "wait":
                waits[name] = int(value)
                continue
            index = row.slot_index(found[1])
            half.fixed[index] = _constant(value, found[2], row.slots[index], name, location)
        elif name in modifier_names:
            half.modifiers[name] = int(value)
        elif row.slot_index(name) >= 0:
            index = row.slot_index(name)
            literal = int(immediates.get("literal", 0))
            half.fixed[index] = _slot_constant(value, row.slots[index], literal, name, location)
        else:
            raise error(f"{row.mnemonic} has no immediate '{name}'", "BACKEND/022", location)
    if waits:
        encoded = encode_waitcnt(generation, waits.get("vmcnt", 63), waits.get("expcnt", 7), waits.get("lgkmcnt", 63))
        half.fixed[row.slot_index("simm16")] = Immediate(encoded)
    _buffer_order(half, operand_types)
    return Resolved([half], variant.state_defs, variant.state_uses)


def _buffer_order(half: Half, operand_types: Sequence[Any]) -> None:
    """Buffer instructions: the reference puts the descriptor before the vector offset, and implies ``offen``."""
    row = half.row
    at = row.slot_index("srsrc")
    if at < 0:
        return
    vaddr = row.slot_index("vaddr")
    registers = [i for i, slot in enumerate(row.slots) if slot.is_use and i not in half.fixed]
    if vaddr >= 0 and vaddr in registers and at in registers and operand_types:
        position = registers.index(at)
        listed = operand_types[position] if position < len(operand_types) else None
        units = getattr(listed, "units", 0)
        if units != 4:
            swapped = [i for i in registers if i != at]
            swapped.insert(registers.index(vaddr), at)
            half.order = tuple(swapped + [i for i in half.fixed if i not in swapped])
            if not half.modifiers.get("idxen"):
                half.modifiers.setdefault("offen", 1)
    # Slots that are constant need no place in the order, but ``order`` must not lose def_use slots.
    if half.order is not None:
        rest = [i for i, slot in enumerate(row.slots) if slot.is_use and i not in half.order]
        half.order = half.order + tuple(rest)


# The view of parser and verifier


class AmdgpuDescriptorSet:
    """A descriptor set of one generation."""

    def __init__(self, name: str, generation: str) -> None:
        self._name = name
        self._generation = generation
        self._cache: dict[str, Descriptor | None] = {}
        classes = {
            f"amdgpu.{bank}": RegisterClass(f"amdgpu.{bank}", count)
            for bank, count in _CLASS_COUNTS.items()
            if bank != "agpr" or generation == "gfx9.4"
        }
        for bank in _SINGLE:
            classes[f"amdgpu.{bank}"] = RegisterClass(f"amdgpu.{bank}", 1, special=True, spillable=False)
        self._classes = classes

    @property
    def name(self) -> str:
        """The key written in ``target<…>``."""
        return self._name

    @property
    def generation(self) -> str:
        """Instruction table the set is made of."""
        return self._generation

    @property
    def register_classes(self) -> Mapping[str, RegisterClass]:
        """Register classes by name."""
        return self._classes

    def lookup(self, key: str) -> Descriptor | None:
        """The instruction of a key; see :class:`loom.ir.targets.DescriptorSet`."""
        name = key.removeprefix("amdgpu.")
        if name in ("hal.buffer_descriptor", "hal.buffer_descriptor.extent"):
            return _buffer_descriptor(name)
        if name.startswith("v_dual_") and ".v_dual_" in name:
            return self._cached(name)
        return self._cached(name.replace(".", "_"))

    def by_mnemonic(self, mnemonic: str) -> Descriptor | None:
        """The instruction of an asm mnemonic: the reference form, whose results and immediates are exact."""
        return self._cached(mnemonic.replace(".", "_"), True)

    def mnemonics(self) -> Iterable[str]:
        """All mnemonics of the table, for suggestions."""
        return list(table(self._generation).mnemonics())

    def live_ins(self) -> Mapping[str, tuple[str, int]]:
        """Keys that ``low.live_in`` accepts, with the register class and unit count in which they arrive."""
        return LIVE_IN_CLASSES

    def _cached(self, name: str, asm: bool = False) -> Descriptor | None:
        key = f"asm {name}" if asm else name
        if key not in self._cache:
            self._cache[key] = self._make(name, asm)
        return self._cache[key]

    def _make(self, name: str, asm: bool) -> Descriptor | None:
        if name.startswith("v_dual_") and "." in name:
            x, _, y = name.partition(".")
            first, second = row_of(self._generation, x), row_of(self._generation, y)
            if first is None or second is None:
                return None
            return _dual_descriptor(f"{first.mnemonic}.{second.mnemonic}", first, second)
        row = row_of(self._generation, name)
        variant = variant_of(self._generation, name)
        if row is None and variant is None:
            return None
        made = _describe(name, variant.row if variant is not None else row, variant, row is not None, asm)  # type: ignore[arg-type]
        key, mnemonic = spelling_of(self._generation, name)
        return replace(made, key=f"amdgpu.{key}", mnemonic=mnemonic)


def _classes_of(slot: OperandSlot) -> tuple[str, ...]:
    order = ("vgpr", "agpr", "sgpr", "vcc", "exec", "m0", "ttmp", "scc")
    return tuple(f"amdgpu.{kind}" for kind in order if kind in slot.kinds)


def _registers(slot: OperandSlot) -> bool:
    return bool(_classes_of(slot))


def _part(slot: OperandSlot) -> str | None:
    return "low16" if slot.type in ("f16", "bf16", "i16", "u16", "b16") and "vgpr" in slot.kinds else None


_STATE_RESULTS = ("s_cmp", "s_cmpk", "s_bitcmp")
"""Scalar instructions whose asm form names SCC as its result; other writers of SCC leave it unnamed."""


_STATE_READERS = ("s_cselect", "s_addc", "s_subb", "s_add_co_ci", "v_div_fmas")
"""Instructions whose asm form names the state it reads."""


def _unit_choices(row: InstructionRow, slot: OperandSlot) -> tuple[int, ...]:
    """Register counts an operand may have: lane masks depend on the wave, vector addresses on the scalar one beside
    them."""
    if slot.type == "mask":
        return (1, 2)
    if slot.name == "vaddr" and slot.units == 2 and row.memory is not None and row.memory.space in ("global", "buffer"):
        return (2, 1)
    return (max(1, slot.units),)


def _table_immediates(row: InstructionRow, known: set[str]) -> Iterator[DescriptorImmediate]:
    """What the table form may say besides: the literal's bits, halves of 16-bit registers, absent results."""
    if any("literal" in slot.kinds for slot in row.slots):
        yield DescriptorImmediate("literal", 32, False, default=0)
    for slot in row.slots:
        if _part(slot) is not None:
            yield DescriptorImmediate(f"{slot.name}_half", 1, default=0)
        if slot.is_def and slot.name not in known:
            yield DescriptorImmediate(slot.name, 32, default=0, words=("null", "off"))


def _describe(name: str, row: InstructionRow, variant: Variant | None, with_row: bool, asm: bool) -> Descriptor:
    """A descriptor.

    The asm view has exactly the results that the reference's text names. The view by key takes the table form too:
    sources
    may be immediates, state may be results.
    """
    constant = {entry[1] for entry in variant.immediates} if variant is not None else set()
    fixed = {slot for slot, _ in variant.fixed} if variant is not None else set()
    operands: list[DescriptorOperand] = []
    results: list[DescriptorResult] = []
    immediates: list[DescriptorImmediate] = []
    for slot in row.slots:
        if slot.name in fixed:
            if not asm:
                immediates.append(DescriptorImmediate(slot.name, 32, default=0))
            continue
        classes = _classes_of(slot)
        if not asm and "amdgpu.sgpr" in classes:
            classes = (*classes, "amdgpu.ttmp")  # named by the same codes
        choices = _unit_choices(row, slot)
        if slot.is_def:
            tied = slot.name if slot.role == "def_use" else None
            if asm:
                shown = ("amdgpu.sgpr",) if "amdgpu.sgpr" in classes and "amdgpu.vgpr" not in classes else classes
                if "amdgpu.vgpr" in shown and not row.mnemonic.startswith(("v_mfma", "v_smfmac")):
                    shown = ("amdgpu.vgpr",)  # accumulators must be asked for, by the written type
                if name.endswith(("_m0", "_m0_imm")):
                    shown = ("amdgpu.m0",)
                results.append(DescriptorResult(slot.name, shown, max(choices), _part(slot), False, tied))
            else:
                loose = len(choices) > 1 or "null" in slot.kinds or "off" in slot.kinds
                # An atomic that is not asked for the old value gives none.
                loose = loose or (row.memory is not None and row.memory.kind == "atomic")
                results.extend(DescriptorResult(slot.name, classes, n, _part(slot), loose, tied) for n in choices)
        if slot.is_use and not (slot.name in constant and (asm or not with_row)):
            if not classes:
                if slot.name not in constant or not asm:
                    default = None if asm else 0
                    immediates.append(DescriptorImmediate(slot.name, 32, True, default=default, positional=True))
            elif asm:
                # What a load into the low half leaves of the high half need not be named.
                optional = "off" in slot.kinds or (slot.role == "def_use" and row.mnemonic.endswith("_d16"))
                operands.append(DescriptorOperand(slot.name, classes, choices[-1], _part(slot), False, optional))
            else:
                optional = not _strict(slot) or len(choices) > 1
                optional = optional or (slot.is_def and row.mnemonic.endswith("_d16"))
                operands.extend(DescriptorOperand(slot.name, classes, n, _part(slot), False, optional) for n in choices)
    at = next((n for n, o in enumerate(operands) if o.name == "srsrc"), None)
    if at is not None:
        # The reference puts the resource before the vector address, LLVM behind it; keys take either order.
        addresses = [o for o in operands if o.name == "vaddr"]
        if asm:
            operands = [o for o in operands if o.name != "vaddr"]
            at -= len(addresses)
        operands[at + 1 : at + 1] = addresses if asm else [replace(o, optional=True) for o in addresses]
    for state in ("scc", "vcc", "exec", "m0"):
        if state not in row.implicit_defs and not (variant is not None and state in variant.state_defs):
            continue
        named = row.mnemonic.startswith(_STATE_RESULTS) or "saveexec" in name or name.startswith("s_xor_b")
        if not asm or (named and state == "scc" and (name.endswith("_exec") or not name.startswith("s_xor_b"))):
            results.append(DescriptorResult(state, (f"amdgpu.{state}",), 1, None, True))
    for state in ("scc", "vcc", "m0", "exec"):
        if state in row.implicit_uses and (
            not asm or (state in ("scc", "vcc") and row.mnemonic.startswith(_STATE_READERS))
        ):
            operands.append(DescriptorOperand(state, (f"amdgpu.{state}",), 1, None, True, True))
    if variant is not None:
        for imm_name, _slot, how in variant.immediates:
            unless: int | None = {"vmcnt": 63, "lgkmcnt": 63, "expcnt": 7}.get(imm_name) if how == "wait" else None
            if not asm and unless is None:
                unless = 0
            immediates.append(DescriptorImmediate(imm_name, 32, True, default=unless, positional=variant.positional))
    for modifier in row.modifiers:
        immediates.append(DescriptorImmediate(modifier.name, modifier.width, modifier.signed, default=modifier.default))
    if not asm:
        immediates.extend(_table_immediates(row, {i.name for i in immediates}))
    if not asm and row.mnemonic.startswith("s_barrier"):
        # What the barrier publishes; docs/lowering.md.
        immediates.append(DescriptorImmediate("memory", words=("workgroup", "global", "all"), default="all"))
    if not asm and row.memory is not None:
        immediates.extend(DescriptorImmediate(name, 1, default=0) for name in ("alias", "invariant", "volatile"))
    effects: set[str] = set()
    if row.memory is not None:
        if row.memory.kind in ("load", "atomic", "load_lds"):
            effects.add("read")
        if row.memory.kind in ("store", "atomic", "load_lds"):
            effects.add("write")
        if row.memory.kind == "cache":
            effects.add("barrier")
    if row.issue_class == "branch":
        effects.add("control")
    if row.mnemonic.startswith(("s_barrier", "s_wait", "s_sendmsg", "s_sleep", "s_nop", "s_setprio")):
        effects.add("barrier")
    if (variant is not None and variant.state_defs) or "exec" in row.implicit_defs:
        effects.add("write")
    return Descriptor(
        f"amdgpu.{name}",
        name,
        tuple(operands),
        tuple(results),
        tuple(immediates),
        tuple(row.implicit_uses),
        tuple(row.implicit_defs),
        frozenset(effects),
    )


def _strict(slot: OperandSlot) -> bool:
    """Whether only a register can stand in a slot."""
    return not any(kind in slot.kinds for kind in ("inline", "literal", "imm", "off", "null"))


def _dual_descriptor(name: str, first: InstructionRow, second: InstructionRow) -> Descriptor:
    x = _describe(name, first, None, True, False)
    y = _describe(name, second, None, True, False)
    y_immediates = tuple(
        DescriptorImmediate(f"y_{i.name}", i.bits, i.signed, i.words, i.values, i.default) for i in y.immediates
    )
    # Slots of X, slots of Y, then the state that either reads.
    slots = tuple(o for o in (*x.operands, *y.operands) if not o.special)
    state = {o.name: o for o in (*x.operands, *y.operands) if o.special}
    ordered = tuple(state[key] for key in ("scc", "vcc", "m0", "exec") if key in state)
    return Descriptor(
        f"amdgpu.{name}",
        None,
        slots + ordered,
        x.results + y.results,
        x.immediates + y_immediates,
        tuple(dict.fromkeys((*x.implicit_reads, *y.implicit_reads))),
        tuple(dict.fromkeys((*x.implicit_writes, *y.implicit_writes))),
    )


def _buffer_descriptor(name: str) -> Descriptor:
    operands = [DescriptorOperand("binding", ("amdgpu.sgpr",), 2)]
    immediates = [DescriptorImmediate("cache_swizzle_stride", default=0)]
    if name.endswith("extent"):
        operands.append(DescriptorOperand("extent", ("amdgpu.sgpr",), 1))
    else:
        immediates.append(DescriptorImmediate("extent", default=None))
    return Descriptor(
        f"amdgpu.{name}",
        None,
        tuple(operands),
        (DescriptorResult("descriptor", ("amdgpu.sgpr",), 4),),
        tuple(immediates),
    )


def amdgpu_descriptor_set(name: str) -> AmdgpuDescriptorSet | None:
    """The descriptor set of that name, ``None`` if this target has none."""
    generation = SETS.get(name)
    return None if generation is None else AmdgpuDescriptorSet(name, generation)


def all_reference_names() -> Iterator[str]:
    """Names of every set."""
    yield from SETS
