"""Names of instructions: accepted spellings, the row that answers to them, and the spelling that is printed."""

from __future__ import annotations

import re
from functools import cache

from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.tables import find_row

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


def listed(generation: str, mnemonic: str) -> str:
    """The mnemonic as it is printed: the reference's where it lists another than LLVM's."""
    return _LISTED.get(mnemonic, mnemonic) if generation != "gfx9.4" else mnemonic
