"""Columns that follow from an instruction's name: roles, implicit registers, memory, counters, issue class, semantic
name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from loom.target.amdgpu.tables.generate.found import Found

_IMMEDIATES = (
    (r"^s_(cbranch_\w+|branch|call_b64|subvector_loop_\w+)$", "br", "label"),
    (r"^s_waitcnt$", "u16", "waitcnt"),
    (r"^s_waitcnt_depctr$|^s_wait_alu$", "u16", "depctr"),
    (r"^s_sendmsg(halt)?$", "u16", "sendmsg"),
    (r"^s_sendmsg_rtn_", "u8", "sendmsg"),
    (r"^s_(getreg|setreg)", "u16", "hwreg"),
    (r"^s_delay_alu$", "u16", "delay_alu"),
    (r"^s_(movk|cmovk|addk|mulk)_|^s_addk_co_i32$|^s_cmpk_\w+_i32$", "i16", "i16"),
)


def immediate_codec(mnemonic: str) -> str:
    """Codec of the 16-bit immediate of a scalar instruction."""
    for pattern, codec, _ in _IMMEDIATES:
        if re.match(pattern, mnemonic):
            return codec
    return "u16"


def immediate_type(mnemonic: str, body: str) -> str:
    """Slot type of an immediate: what its number means."""
    if body == "lit":
        return "simm32"
    for pattern, _, kind in _IMMEDIATES:
        if re.match(pattern, mnemonic):
            return kind
    return "simm16"


def guess_type(mnemonic: str, units: int, half: bool) -> str:
    """Type of an operand AMD's table does not have, from the last type in the name."""
    types: list[str] = re.findall(r"(?<![a-z0-9])((?:bf|[fiub])\d+)(?![a-z0-9])", mnemonic.replace("_", " "))
    if half:
        return types[-1] if types and types[-1].endswith("16") else "b16"
    if types and int(re.sub(r"\D", "", types[-1])) == 32 * units:
        return types[-1]
    return f"b{32 * units}"


_ACCUMULATES = re.compile(
    r"^(v|v_dual|s|v_pk)_(fmac|mac)_|^v_dot\dc|^v_dot2acc|^v_dual_dot2acc|^v_dot\d+c_|^v_swmmac|^v_smfmac|^v_pk_fmac|^v_fmac"
    r"|^v_writelane|^s_cmov|^s_bitset|^v_cvt_pkaccum|^s_mulk|^s_addk|^s_fmac|^v_movreld|^v_cvt_sr_(fp8|bf8)"
)
# gfx9.4: conversions that put bytes or a half beside what the register holds (LLVM ties their old value to the result).
# On gfx12 these name a half of the register, as every result of 16 bits does.
_KEEPS_THE_REST = re.compile(
    r"^v_cvt_pk_(fp8|bf8)_f32$|^v_cvt_sr_b?f16_f32$"
    r"|^v_cvt_scalef32_((sr_)?pk_fp4_\w+|(sr|pk)_(fp8|bf8)_\w+|f16_(fp8|bf8))$"
)


def role(mnemonic: str, slot: str, generation: str) -> str:
    """Role of an operand slot."""
    if slot in ("vdst", "sdst", "sdata"):
        if mnemonic.startswith(("s_store", "s_buffer_store", "s_scratch_store", "s_prefetch", "s_buffer_prefetch")):
            return "use"
        if re.match(r"^s_cmpk_|^s_setreg|^s_waitcnt_", mnemonic):
            return "use"
        if slot != "sdst" or mnemonic.startswith("s_"):
            if _ACCUMULATES.match(mnemonic) or (generation == "gfx9.4" and _KEEPS_THE_REST.match(mnemonic)):
                return "def_use"
            if re.match(r"^(global|flat|scratch|buffer|ds)_(load|read)_(\w*_)?d16|_d16(_hi)?_", mnemonic):
                return "def_use"
            if (
                re.match(r"^(v|v_permlane\d+)_swap", mnemonic)
                or "permlane16_swap" in mnemonic
                or "permlane32_swap" in mnemonic
            ):
                return "def_use"
        return "def"
    if slot == "vdata":
        if re.match(r"^t?buffer_load", mnemonic):
            return "def_use" if "d16" in mnemonic else "def"
        if mnemonic.startswith("buffer_atomic"):
            return "def_use"
    if slot == "src0" and re.match(r"^v_swap|^v_permlane(16|32)_swap|^v_swaprel", mnemonic):
        return "def_use"
    if slot == "ssrc0" and mnemonic.startswith(("s_swappc",)):
        return "use"
    return "use"


_SCC_DEF = re.compile(
    r"^s_(add|sub|addc|subb|addk|absdiff|abs|and|or|xor|nand|nor|xnor|and_not1|or_not1|andn2|orn2|not|wqm|quadmask|bcnt0|bcnt1|lshl|lshr|ashr"
    r"|lshl[1234]_add|bfe|min|max|cmp|cmpk|bitcmp[01]|and_not0|or_not0)_"
)
_SCC_DEF_EXCEPT = re.compile(
    r"^s_(min|max|add|sub)_(num_)?f(16|32)|^s_add_nc|^s_sub_nc|^s_addc?_f|^s_(minimum|maximum)"
)


def implicit(mnemonic: str, fmt: str) -> tuple[list[str], list[str]]:
    """Registers and state read and written without being operands."""
    uses: list[str] = []
    defs: list[str] = []
    vector = mnemonic.startswith("v_")
    if mnemonic.startswith("s_"):
        if (
            (_SCC_DEF.match(mnemonic) and not _SCC_DEF_EXCEPT.match(mnemonic))
            or "saveexec" in mnemonic
            or "wrexec" in mnemonic
        ):
            defs.append("scc")
        if re.match(r"^s_(addc|subb|cselect|cmov|cmovk|add_co_ci|sub_co_ci|cbranch_scc)", mnemonic):
            uses.append("scc")
        if "saveexec" in mnemonic or "wrexec" in mnemonic:
            uses.append("exec")
            defs.append("exec")
        if "cbranch_exec" in mnemonic:
            uses.append("exec")
        if "cbranch_vcc" in mnemonic:
            uses.append("vcc")
        if (
            mnemonic.startswith(("s_sendmsg", "s_movrel", "s_barrier_init", "s_barrier_signal", "s_barrier_join"))
            and "rtn" not in mnemonic
        ):
            uses.append("m0")
        if re.match(r"^s_(setreg|round_mode|denorm_mode|set_gpr_idx)", mnemonic):
            defs.append("mode")
        if mnemonic.startswith("s_getreg") or re.match(r"^s_\w*_f(16|32)", mnemonic):
            uses.append("mode")
        if mnemonic == "s_barrier_signal_isfirst" or mnemonic == "s_barrier_leave":
            defs.append("scc")
        return uses, defs
    if not re.match(r"^v_(readlane|writelane|nop|pipeflush)", mnemonic):
        uses.append("exec")
    if (
        vector
        and re.search(r"_(pk_)?(bf|f)(16|32|64)", mnemonic)
        and not re.match(r"^v_(mfma|wmma|smfmac|swmmac|cmp_class|cmpx_class)", mnemonic)
    ):
        uses.append("mode")
    if mnemonic.startswith("v_cmpx"):
        defs.append("exec")
    if mnemonic.startswith(("v_div_fmas", "v_dual_cndmask")):
        uses.append("vcc")
    if mnemonic.startswith("v_movrel") or re.match(r"^v_swaprel|^v_interp|^(lds|ds)_(direct|param)", mnemonic):
        uses.append("m0")
    if (
        re.match(r"^ds_(gws|append|consume|ordered|read_addtid|write_addtid|load_addtid|store_addtid)", mnemonic)
        or "load_lds" in mnemonic
    ):
        uses.append("m0")
    if fmt in ("FLAT", "SCRATCH"):
        uses.append("flat_scratch")
    return uses, defs


_SIZES = {
    "b8": 1,
    "u8": 1,
    "i8": 1,
    "b16": 2,
    "u16": 2,
    "i16": 2,
    "f16": 2,
    "bf16": 2,
    "b32": 4,
    "u32": 4,
    "i32": 4,
    "f32": 4,
    "b64": 8,
    "u64": 8,
    "i64": 8,
    "f64": 8,
    "b96": 12,
    "b128": 16,
    "b256": 32,
    "b512": 64,
    "ubyte": 1,
    "sbyte": 1,
    "byte": 1,
    "ushort": 2,
    "sshort": 2,
    "short": 2,
    "dword": 4,
    "dwordx2": 8,
    "dwordx3": 12,
    "dwordx4": 16,
    "dwordx8": 32,
    "dwordx16": 64,
    "x2": 8,
    "block": 128,
}


def _memory_bytes(mnemonic: str) -> int:
    words = mnemonic.split("_")
    if "tr" in words:
        # Transposing loads: the width of an element follows ``tr`` where it is told apart (``ds_read_b64_tr_b16``).
        words = words[: words.index("tr")] if words[words.index("tr") - 1] in _SIZES else words
    for word in reversed(words):
        if word in _SIZES:
            return _SIZES[word]
        if word in ("x", "xy", "xyz", "xyzw"):
            return len(word) * (2 if "d16" in words else 4)
    return 4


def memory(mnemonic: str, fmt: str, slots: list[list[Any]]) -> list[Any] | None:
    """``[space, kind, bytes, address slots, data slots, result slot]``, or ``None``."""
    names = [slot[0] for slot in slots]
    base = fmt.split("_")[0]
    space = {
        "SMEM": "constant",
        "SMEMS": "constant",
        "DS": "lds",
        "DS2": "lds",
        "FLAT": "flat",
        "GLOBAL": "global",
        "SCRATCH": "scratch",
        "MUBUF": "buffer",
        "MTBUF": "buffer",
    }.get(base)
    if space is None:
        return None
    if "_gws_" in mnemonic:
        space = "gds"
    address = [n for n in ("addr", "vaddr", "saddr", "sbase", "srsrc", "soffset") if n in names]
    result = next((n for n in ("vdst", "sdata") if n in names), None)
    data = [n for n in ("vdata", "data0", "data1") if n in names]
    size = _memory_bytes(mnemonic)
    if re.search(r"_(inv|inv_vol|wb|wbinv|wbl2|wbl1|discard|wb_vol|gl[01]_inv)(_\w+)?$", mnemonic) or re.search(
        r"(gl[01]_inv|cache_inv|dcache)", mnemonic
    ):
        return [space, "cache", 0, address, [], None]
    if "prefetch" in mnemonic:
        return [space, "prefetch", 0, address, [], None]
    if base in ("DS", "DS2") and re.match(r"^ds_(nop|swizzle|permute|bpermute|bvh|gws|ordered)", mnemonic):
        return None
    if "load_lds" in mnemonic:
        return [space, "load_lds", size, address, [], None]
    if re.match(r"^(ds|s|s_buffer|s_scratch|global|flat|scratch|t?buffer)_(load|read)", mnemonic):
        if "2addr" in mnemonic or "read2" in mnemonic:
            size *= 2
        if base in ("MUBUF", "MTBUF"):
            return [space, "load", size, address, [], "vdata"]
        return [space, "load", size, address, [], result]
    if re.match(r"^(ds|s|s_buffer|s_scratch|global|flat|scratch|t?buffer)_(store|write)(?!xchg)", mnemonic):
        if "2addr" in mnemonic or "write2" in mnemonic:
            size *= 2
        if not data and "sdata" in names:
            data, result = ["sdata"], None
        return [space, "store", size, address, data, None]
    if base in ("MUBUF", "MTBUF"):
        return [space, "atomic", size, address, data, "vdata"]
    return [space, "atomic", size, address, data, result]


def counters(mnemonic: str, fmt: str, mem: list[Any] | None, generation: str) -> list[str]:
    """Wait counters the instruction raises."""
    base = fmt.split("_")[0]
    kind = mem[1] if mem else ""
    if generation == "gfx12":
        if base in ("SMEM", "SMEMS"):
            return ["kmcnt"]
        if base in ("DS", "DS2"):
            return ["dscnt"] if mnemonic != "ds_nop" else []
        if base in ("LDSDIR", "VDSDIR"):
            return ["expcnt"]
        if mnemonic.startswith(("s_sendmsg_rtn", "s_get_barrier_state")):
            return ["kmcnt"]
        if base in ("FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF"):
            if kind == "cache":
                return ["storecnt"] if "wb" in mnemonic else ["loadcnt"]
            main = "storecnt" if kind == "store" else "loadcnt"
            result = [main] if kind != "atomic" else ["loadcnt", "storecnt"]
            return [*result, "dscnt"] if base == "FLAT" else result
        return []
    if base in ("SMEM", "SMEMS"):
        return ["lgkmcnt"]
    if base in ("DS", "DS2"):
        return ["lgkmcnt"] if mnemonic != "ds_nop" else []
    if base == "LDSDIR":
        return ["expcnt"]
    if mnemonic.startswith("s_sendmsg"):
        return ["lgkmcnt"]
    if base in ("FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF"):
        if generation == "gfx9.4":
            result = ["vmcnt"]
        elif kind == "cache":
            return []
        elif kind == "atomic":
            result = ["vmcnt", "vscnt"]  # with a returned value vmcnt, without vscnt
        else:
            result = ["vscnt"] if kind == "store" else ["vmcnt"]
        return [*result, "lgkmcnt"] if base == "FLAT" else result
    return []


_TRANSCENDENTAL = re.compile(r"^v_(s_)?(rcp|rsq|sqrt|exp|log|sin|cos|rcp_iflag|tanh)_")


def issue(mnemonic: str, fmt: str, generation: str) -> tuple[str, int]:
    """Issue class and a planning latency in cycles."""
    base = fmt.split("_")[0]
    if re.match(r"^v_(wmma|swmmac|mfma|smfmac)", mnemonic):
        match = re.match(r"^v_s?mf?mac?_\w+?_(\d+)x(\d+)x(\d+)", mnemonic)
        if match and generation == "gfx9.4":
            return "matrix", {"32": 64, "16": 32}.get(match[1], 16)
        return "matrix", 32
    if base in ("VOPDX", "VOPDY"):
        return "dual", 5
    if base in ("SMEM", "SMEMS"):
        return "smem", 200
    if base in ("DS", "DS2", "LDSDIR", "VDSDIR"):
        return "lds", 64
    if base in ("MUBUF", "MTBUF", "GLOBAL", "SCRATCH"):
        return "vmem", 500
    if base == "FLAT":
        return "flat", 500
    if re.match(r"^s_(branch|cbranch|endpgm|setpc|swappc|call|rfe|getpc|trap)", mnemonic):
        return "branch", 16
    if re.match(
        r"^s_(wait|waitcnt|sleep|delay_alu|barrier|nop|clause|wait_alu|set_inst|inst_prefetch|code_end)", mnemonic
    ):
        return "wait", 1
    if mnemonic.startswith("s_sendmsg"):
        return "message", 16
    if mnemonic.startswith("s_"):
        return "salu", 2
    if mnemonic.startswith("v_"):
        if _TRANSCENDENTAL.match(mnemonic):
            return "trans", 10 if generation != "gfx9.4" else 16
        wide = re.search(r"_(f64|i64|u64)", mnemonic) is not None
        if generation == "gfx9.4":
            return "valu", 8 if wide else 4
        return "valu", 16 if wide else 5
    return "other", 1


@cache
def semantic(mnemonic: str) -> str:
    """The gfx11 name of what an instruction of any generation does."""
    name = mnemonic
    if name.startswith("v_dual_"):
        name = "v_" + name.removeprefix("v_dual_")
    for pattern, replacement in _SEMANTIC:
        name = re.sub(pattern, replacement, name)
    return _SEMANTIC_EXACT.get(name, name)


_SEMANTIC: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"^((?:global|flat|scratch|buffer|s|s_buffer)_(?:load|store)(?:_lds)?)_dword$", r"\1_b32"),
    (r"^((?:global|flat|scratch|buffer|s|s_buffer)_(?:load|store)(?:_lds)?)_dwordx2$", r"\1_b64"),
    (r"^((?:global|flat|scratch|buffer|s|s_buffer)_(?:load|store)(?:_lds)?)_dwordx3$", r"\1_b96"),
    (r"^((?:global|flat|scratch|buffer|s|s_buffer)_(?:load|store)(?:_lds)?)_dwordx4$", r"\1_b128"),
    (r"^((?:s|s_buffer)_load)_dwordx8$", r"\1_b256"),
    (r"^((?:s|s_buffer)_load)_dwordx16$", r"\1_b512"),
    (r"^((?:global|flat|scratch|buffer)_load(?:_lds)?)_ubyte$", r"\1_u8"),
    (r"^((?:global|flat|scratch|buffer)_load(?:_lds)?)_sbyte$", r"\1_i8"),
    (r"^((?:global|flat|scratch|buffer)_load(?:_lds)?)_ushort$", r"\1_u16"),
    (r"^((?:global|flat|scratch|buffer)_load(?:_lds)?)_sshort$", r"\1_i16"),
    (r"^((?:global|flat|scratch|buffer)_load)_ubyte_d16(_hi)?$", r"\1_d16\2_u8"),
    (r"^((?:global|flat|scratch|buffer)_load)_sbyte_d16(_hi)?$", r"\1_d16\2_i8"),
    (r"^((?:global|flat|scratch|buffer)_load)_short_d16(_hi)?$", r"\1_d16\2_b16"),
    (r"^((?:global|flat|scratch|buffer)_store)_byte$", r"\1_b8"),
    (r"^((?:global|flat|scratch|buffer)_store)_short$", r"\1_b16"),
    (r"^((?:global|flat|scratch|buffer)_store)_byte_d16_hi$", r"\1_d16_hi_b8"),
    (r"^((?:global|flat|scratch|buffer)_store)_short_d16_hi$", r"\1_d16_hi_b16"),
    (r"^((?:global|flat|buffer)_atomic_(?:swap|and|or|xor|cmpswap))$", r"\1_b32"),
    (r"^((?:global|flat|buffer)_atomic_(?:swap|and|or|xor|cmpswap))_x2$", r"\1_b64"),
    (r"^((?:global|flat|buffer)_atomic_(?:add|sub|inc|dec))$", r"\1_u32"),
    (r"^((?:global|flat|buffer)_atomic_(?:add|sub|inc|dec))_x2$", r"\1_u64"),
    (r"^((?:global|flat|buffer)_atomic)_([su])(min|max)$", lambda m: f"{m[1]}_{m[3]}_{'i' if m[2] == 's' else 'u'}32"),
    (
        r"^((?:global|flat|buffer)_atomic)_([su])(min|max)_x2$",
        lambda m: f"{m[1]}_{m[3]}_{'i' if m[2] == 's' else 'u'}64",
    ),
    (r"^ds_(read|write)(?=_|2)", lambda m: "ds_load" if m[1] == "read" else "ds_store"),
    (r"^ds_(load|store)2_", r"ds_\1_2addr_"),
    (r"^ds_(load|store)2st64_", r"ds_\1_2addr_stride64_"),
    (r"^ds_wrxchg", "ds_storexchg"),
    (r"^ds_storexchg2_rtn", "ds_storexchg_2addr_rtn"),
    (r"^ds_storexchg2st64_rtn", "ds_storexchg_2addr_stride64_rtn"),
    (r"^ds_cmpst_", "ds_cmpstore_"),
    (r"^(v_cmpx?)_(lg|nlg|neq|o|u|nge|ngt|nle|nlt|eq|lt|le|gt|ge|ne|class|f|t|tru)_", r"\1_\2_"),
    (r"_num_f(16|32|64)", r"_f\1"),
    (r"^s_(and|or)n2_", r"s_\1_not1_"),
    (r"^s_(and|or)n2_(saveexec|wrexec)", r"s_\1_not1_\2"),
    (r"^s_(and|or)n1_(saveexec|wrexec)", r"s_\1_not0_\2"),
    (r"^s_andn1_wrexec", "s_and_not0_wrexec"),
    (r"^s_ff([01])_i32_b(32|64)$", lambda m: f"s_ctz_i32_b{m[2]}" if m[1] == "1" else f"s_ctz_not_i32_b{m[2]}"),
    (r"^s_flbit_i32_b(32|64)$", r"s_clz_i32_u\1"),
    (r"^s_flbit_i32$", "s_cls_i32"),
    (r"^s_flbit_i32_i64$", "s_cls_i32_i64"),
)

_SEMANTIC_EXACT = {
    "v_ffbh_u32": "v_clz_i32_u32",
    "v_ffbl_b32": "v_ctz_i32_b32",
    "v_ffbh_i32": "v_cls_i32",
    "v_add_u32": "v_add_nc_u32",
    "v_sub_u32": "v_sub_nc_u32",
    "v_subrev_u32": "v_subrev_nc_u32",
    "v_add_i32": "v_add_nc_i32",
    "v_sub_i32": "v_sub_nc_i32",
    "v_add_u16": "v_add_nc_u16",
    "v_sub_u16": "v_sub_nc_u16",
    "v_add_i16": "v_add_nc_i16",
    "v_sub_i16": "v_sub_nc_i16",
    "v_addc_co_u32": "v_add_co_ci_u32",
    "v_subb_co_u32": "v_sub_co_ci_u32",
    "v_subbrev_co_u32": "v_subrev_co_ci_u32",
    "v_mad_u64_u32": "v_mad_co_u64_u32",
    "v_mad_i64_i32": "v_mad_co_i64_i32",
    "v_cvt_pkrtz_f16_f32": "v_cvt_pk_rtz_f16_f32",
    "v_cvt_pkrtz_f16_f32_e32": "v_cvt_pk_rtz_f16_f32",
    "v_cvt_pknorm_i16_f32": "v_cvt_pk_norm_i16_f32",
    "v_cvt_pknorm_u16_f32": "v_cvt_pk_norm_u16_f32",
    "v_cvt_pknorm_i16_f16": "v_cvt_pk_norm_i16_f16",
    "v_cvt_pknorm_u16_f16": "v_cvt_pk_norm_u16_f16",
    "v_cvt_rpi_i32_f32": "v_cvt_nearest_i32_f32",
    "v_cvt_flr_i32_f32": "v_cvt_floor_i32_f32",
    "v_mul_legacy_f32": "v_mul_dx9_zero_f32",
    "v_fma_legacy_f32": "v_fma_dx9_zero_f32",
    "v_mad_legacy_f32": "v_mad_dx9_zero_f32",
    "s_add_co_u32": "s_add_u32",
    "s_sub_co_u32": "s_sub_u32",
    "s_add_co_i32": "s_add_i32",
    "s_sub_co_i32": "s_sub_i32",
    "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32",
    "v_min_num_f32": "v_min_f32",
    "v_max_num_f32": "v_max_f32",
    "v_min3_num_f32": "v_min3_f32",
    "s_min_num_f32": "s_min_f32",
    "s_mul_hi_u32": "s_mul_hi_u32",
    "global_atomic_min_num_f32": "global_atomic_min_f32",
    "v_lshl_add_u32": "v_lshl_add_u32",
    "s_bfm_b32": "s_bfm_b32",
    "v_cndmask_b32": "v_cndmask_b32",
    "v_mov_b32": "v_mov_b32",
    "v_accvgpr_mov_b32": "v_mov_b32",
    "v_accvgpr_read_b32": "v_mov_b32",
    "v_accvgpr_write_b32": "v_mov_b32",
    "ds_add_f32": "ds_add_f32",
    "v_cmp_tru_f32": "v_cmp_t_f32",
    "v_pk_min_num_f16": "v_pk_min_f16",
    "v_pk_max_num_f16": "v_pk_max_f16",
}


def finish_row(
    generation: str, mnemonic: str, richest: Found, encodings: list[list[Any]], slots: list[list[Any]]
) -> list[Any]:
    """Put a row together in the order the loader reads it."""
    fmt = richest.format.name
    uses, defs = implicit(mnemonic, fmt)
    mem = memory(mnemonic, fmt, slots)
    issue_class, latency = issue(mnemonic, fmt, generation)
    counts = counters(mnemonic, fmt, mem, generation)
    return [mnemonic, [], encodings, slots, uses, defs, mem, counts, issue_class, latency, semantic(mnemonic)]
