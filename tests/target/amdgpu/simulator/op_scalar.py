"""Scalar instructions: s[20:21], s[22:23], s[24:25] are x, y, z of the wave's first lane; results go to s[30:31] and SCC."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.target.amdgpu.simulator.op_families import (
    Define,
    Family,
    Op,
    i16,
    i32,
    i64,
    integers,
    leading,
    popcount,
    sign_bits,
    u32,
    u64,
    view,
)  # fmt: skip

_SCC = "s_cselect_b32 s32, 1, 0"
_OUT = "v_mov_b32 v10, s30; v_mov_b32 v11, s31; v_mov_b32 v12, s32"


def _op(text: str, define: Define, scc: Define | None, kind: Any) -> Op:
    """``define`` and ``scc`` take x, y, z as ``kind``; SCC is looked at where ``scc`` is given."""
    results = [
        (10, u64 if np.dtype(kind).itemsize == 8 else u32, lambda x, y, z: define(*(view(w, kind) for w in (x, y, z))))
    ]
    if scc is not None:
        results.append((12, u32, lambda x, y, z: scc(*(view(w, kind) for w in (x, y, z)))))
    return Op(f"s_mov_b64 s[30:31], 0; {text}; {_SCC}; {_OUT}", tuple(results))


def s(text: str, define: Define, scc: Define | None = None, kind: Any = u32) -> Op:
    """An instruction of 32-bit words."""
    return _op(text, define, scc, kind)


def nonzero(text: str, define: Define, kind: Any = u32) -> Op:
    """An instruction whose SCC says whether the result is not zero."""
    return _op(text, define, lambda a, b, c: define(a, b, c) != 0, kind)


def _mask(amount: Any, bits: int = 64) -> Any:
    return np.where(amount >= bits, ~u64(0), (u64(1) << amount.astype(u64) % u64(64)) - u64(1))


def _extract64(a: Any, b: Any, signed: bool) -> Any:
    offset, width = (b & u64(63)), np.minimum(b >> u64(16) & u64(127), u64(64))
    found = (a >> offset) & _mask(width)
    if not signed:
        return found
    width = np.minimum(width, u64(64) - offset)
    top = np.where(width == 0, 0, (found >> (np.maximum(width, u64(1)) - u64(1))) & u64(1))
    return np.where(top == 1, found | ~_mask(width), found)


def replicate(a: Any, b: Any, c: Any) -> Any:
    """Every bit twice."""
    return np.array([sum((int(v) >> k & 1) * (3 << 2 * k) for k in range(32)) for v in a.tolist()], u64)


def quads(values: Any, whole: bool) -> Any:
    """A bit for each four bits that are not all zero; ``whole``: four bits each."""
    found = []
    for v in values.tolist():
        r = 0
        for k in range(values.dtype.itemsize * 2):
            if int(v) >> 4 * k & 15:
                r |= 15 << 4 * k if whole else 1 << k
        found.append(r)
    return np.array(found, u64).astype(values.dtype)


def reverse(values: Any) -> Any:
    bits = values.dtype.itemsize * 8
    return np.array([int(f"{int(v):0{bits}b}"[::-1], 2) for v in values.tolist()], values.dtype)


def zeros(values: Any) -> Any:
    return u32(values.dtype.itemsize * 8) - popcount(values)


def as_signed(define: Define) -> Define:
    return lambda a, b, c: define(
        *(w.view(i32 if w.dtype.itemsize == 4 else i64) for w in (np.ascontiguousarray(v) for v in (a, b, c)))
    )


def _low(v: Any) -> Any:
    return v & u32(0xFFFF)


_SHORT = [(f"{a}{b}", a, b) for a in "lh" for b in "lh"]
_COMPARES = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}  # fmt: skip
_LOGIC: dict[str, Define] = {
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}

ARITHMETIC = [
    s("s_abs_i32 s30, s20", lambda a, b, c: np.where(a.view(i32) < 0, -a, a), lambda a, b, c: a != 0),
    s("s_absdiff_i32 s30, s20, s22", lambda a, b, c: np.abs((a - b).view(i32)), lambda a, b, c: a != b),
    nonzero("s_bcnt0_i32_b32 s30, s20", lambda a, b, c: zeros(a)), s("s_brev_b32 s30, s20", lambda a, b, c: reverse(a)),
    s("s_clz_i32_u32 s30, s20", lambda a, b, c: leading(a, 32)), s("s_cls_i32 s30, s20", as_signed(lambda a, b, c: sign_bits(a, 32))),
    nonzero("s_not_b32 s30, s20", lambda a, b, c: ~a), nonzero("s_quadmask_b32 s30, s20", lambda a, b, c: quads(a, False)),
    nonzero("s_wqm_b32 s30, s20", lambda a, b, c: quads(a, True)),
    s("s_sext_i32_i8 s30, s20", lambda a, b, c: a.astype(np.int8).astype(i32)), s("s_sext_i32_i16 s30, s20", lambda a, b, c: a.astype(i16).astype(i32)),
    s("s_mov_b32 s30, s22; s_bitset0_b32 s30, s20", lambda a, b, c: b & ~(u32(1) << (a & u32(31)))),
    s("s_mov_b32 s30, s22; s_bitset1_b32 s30, s20", lambda a, b, c: b | u32(1) << (a & u32(31))),
    s("s_bfm_b32 s30, s20, s22", lambda a, b, c: (((u64(1) << (a & u32(31)).astype(u64)) - u64(1)) << (b & u32(31)).astype(u64))),
    *[s(f"s_lshl{k}_add_u32 s30, s20, s22", lambda a, b, c, k=k: (a.astype(u64) << u64(k)) + b, lambda a, b, c, k=k: (a.astype(u64) << u64(k)) + b > u64(0xFFFFFFFF)) for k in (1, 3, 4)],
    s("s_max_i32 s30, s20, s22", as_signed(lambda a, b, c: np.maximum(a, b)), as_signed(lambda a, b, c: a >= b)),
    s("s_min_i32 s30, s20, s22", as_signed(lambda a, b, c: np.minimum(a, b)), as_signed(lambda a, b, c: a < b)),
    s("s_mul_hi_i32 s30, s20, s22", as_signed(lambda a, b, c: (a.astype(i64) * b) >> 32)),
    *[nonzero(f"s_{n}_b32 s30, s20, s22", lambda a, b, c, f=f: f(a, b)) for n, f in _LOGIC.items()],
    *[s(f"s_pack_{n}_b32_b16 s30, s20, s22", lambda a, b, c, i=i, j=j: _low(a if i == "l" else a >> u32(16)) | _low(b if j == "l" else b >> u32(16)) << u32(16)) for n, i, j in _SHORT],
    s("s_cmp_lt_u32 s20, s22; s_subb_u32 s30, s20, s24", lambda a, b, c: a - c - (a < b), lambda a, b, c: c.astype(u64) + (a < b) > a),
    s("s_mov_b32 s30, s24; s_cmp_lt_u32 s20, s22; s_cmov_b32 s30, s20", lambda a, b, c: np.where(a < b, a, c)),
    s("s_mov_b32 s30, s24; s_cmp_lt_u32 s20, s22; s_cmovk_i32 s30, -5", lambda a, b, c: np.where(a < b, u32(0xFFFFFFFB), c)),
    s("s_movk_i32 s30, -300", lambda a, b, c: np.full(len(a), 0xFFFFFED4, u32)), s("s_mov_b32 s30, s20; s_mulk_i32 s30, -3", lambda a, b, c: a * u32(0xFFFFFFFD)),
    s("s_movk_i32 s30, 7; s_mov_b32 s40, s20; s_mov_b32 s41, s22; s_mov_b32 m0, 1; s_movrels_b32 s30, s40", lambda a, b, c: b),
    s("s_mov_b32 m0, 3; s_movreld_b32 s40, s22; s_mov_b32 s30, s43", lambda a, b, c: b),
    s("s_getreg_b32 s30, hwreg(HW_REG_MODE, 4, 4)", lambda a, b, c: np.full(len(a), 15, u32)),
    s("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0x5; s_getreg_b32 s30, hwreg(HW_REG_MODE, 0, 4); s_round_mode 0x0; s_denorm_mode 0xf", lambda a, b, c: np.full(len(a), 5, u32)),
    s("s_movk_i32 s33, 0; s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s33; s_getreg_b32 s30, hwreg(HW_REG_MODE, 0, 2)", lambda a, b, c: np.zeros(len(a), u32)),
    s("s_sleep 0x0; s_setprio 0x1; s_setprio 0x0; s_icache_inv; s_wait_idle; s_incperflevel 0x0; s_decperflevel 0x0; s_wakeup; v_nop; ds_nop; "
      "s_waitcnt_vmcnt null, 0x0; s_waitcnt_lgkmcnt null, 0x0; s_waitcnt_expcnt null, 0x0; s_mov_b32 s30, s20", lambda a, b, c: a),
    s("s_cmp_eq_u32 0, 0; s_mov_b32 s30, src_scc", lambda a, b, c: np.ones(len(a), u32)),
    *[s(f"s_cmp_{n}_i32 s20, s22", lambda a, b, c: u32(0) * a, as_signed(lambda a, b, c, f=f: f(a, b))) for n, f in _COMPARES.items()],
    *[s(f"s_cmp_{n}_u32 s20, s22", lambda a, b, c: u32(0) * a, lambda a, b, c, f=f: f(a, b)) for n, f in _COMPARES.items()],
    *[s(f"s_cmpk_{n}_i32 s20, -1", lambda a, b, c: u32(0) * a, as_signed(lambda a, b, c, f=f: f(a, -1))) for n, f in _COMPARES.items()],
    *[s(f"s_cmpk_{n}_u32 s20, 0x1f", lambda a, b, c: u32(0) * a, lambda a, b, c, f=f: f(a, u32(31))) for n, f in _COMPARES.items()],
    s("s_bitcmp0_b32 s20, s22", lambda a, b, c: u32(0) * a, lambda a, b, c: a >> (b & u32(31)) & u32(1) == 0),
    s("s_movk_i32 s30, 1; v_cmp_eq_u32 vcc_lo, v0, v0; s_cbranch_vccnz .Lvccnz%=; s_movk_i32 s30, 0; .Lvccnz%=:", lambda a, b, c: np.ones(len(a), u32)),
    s("s_movk_i32 s30, 1; v_cmp_ne_u32 vcc_lo, v0, v0; s_cbranch_vccz .Lvccz%=; s_movk_i32 s30, 0; .Lvccz%=:", lambda a, b, c: np.ones(len(a), u32)),
    s("s_movk_i32 s30, 3; s_call_b64 s[40:41], .Lcalled%=; s_branch .Lback%=; .Lcalled%=:; s_add_u32 s30, s30, s20; s_setpc_b64 s[40:41]; .Lback%=:", lambda a, b, c: a + u32(3)),
]  # fmt: skip

WIDE = [
    nonzero("s_bcnt0_i32_b64 s30, s[20:21]", lambda a, b, c: zeros(a).astype(u64), u64), s("s_brev_b64 s[30:31], s[20:21]", lambda a, b, c: reverse(a), kind=u64),
    s("s_clz_i32_u64 s30, s[20:21]", lambda a, b, c: leading(a, 64).view(u32).astype(u64), kind=u64),
    s("s_cls_i32_i64 s30, s[20:21]", as_signed(lambda a, b, c: sign_bits(a, 64).view(u32).astype(u64)), kind=u64),
    nonzero("s_not_b64 s[30:31], s[20:21]", lambda a, b, c: ~a, u64), nonzero("s_quadmask_b64 s[30:31], s[20:21]", lambda a, b, c: quads(a, False), u64),
    nonzero("s_wqm_b64 s[30:31], s[20:21]", lambda a, b, c: quads(a, True), u64),
    Op(f"s_bitreplicate_b64_b32 s[30:31], s20; {_OUT}", ((10, u64, lambda x, y, z: replicate(view(x, u32), y, z)),)),
    s("s_mov_b64 s[30:31], s[22:23]; s_bitset0_b64 s[30:31], s20", lambda a, b, c: b & ~(u64(1) << (a & u64(63))), kind=u64),
    s("s_mov_b64 s[30:31], s[22:23]; s_bitset1_b64 s[30:31], s20", lambda a, b, c: b | u64(1) << (a & u64(63)), kind=u64),
    s("s_bfm_b64 s[30:31], s20, s22", lambda a, b, c: ((u64(1) << (a & u64(63))) - u64(1)) << (b & u64(63)), kind=u64),
    s("s_bfe_u64 s[30:31], s[20:21], s22", lambda a, b, c: _extract64(a, b, False), kind=u64), s("s_bfe_i64 s[30:31], s[20:21], s22", lambda a, b, c: _extract64(a, b, True), kind=u64),
    s("s_ashr_i64 s[30:31], s[20:21], s22", lambda a, b, c: a.view(i64) >> (b & u64(63)).astype(i64), kind=u64),
    nonzero("s_lshr_b64 s[30:31], s[20:21], s22", lambda a, b, c: a >> (b & u64(63)), u64),
    *[nonzero(f"s_{n}_b64 s[30:31], s[20:21], s[22:23]", lambda a, b, c, f=f: f(a, b), u64) for n, f in _LOGIC.items()],
    s("s_cmp_lt_u32 s20, s22; s_cselect_b64 s[30:31], s[20:21], s[22:23]", lambda a, b, c: np.where(a.astype(u32) < b.astype(u32), a, b), kind=u64),
    s("s_mov_b64 s[30:31], s[24:25]; s_cmp_lt_u32 s20, s22; s_cmov_b64 s[30:31], s[20:21]", lambda a, b, c: np.where(a.astype(u32) < b.astype(u32), a, c), kind=u64),
    s("s_cmp_eq_u64 s[20:21], s[22:23]", lambda a, b, c: u64(0) * a, lambda a, b, c: a == b, u64), s("s_cmp_lg_u64 s[20:21], s[22:23]", lambda a, b, c: u64(0) * a, lambda a, b, c: a != b, u64),
    s("s_bitcmp0_b64 s[20:21], s22", lambda a, b, c: u64(0) * a, lambda a, b, c: a >> (b & u64(63)) & u64(1) == 0, u64),
    s("s_bitcmp1_b64 s[20:21], s22", lambda a, b, c: u64(0) * a, lambda a, b, c: a >> (b & u64(63)) & u64(1) == 1, u64),
    s("s_mov_b64 s[42:43], s[22:23]; s_mov_b32 m0, 2; s_movrels_b64 s[30:31], s[40:41]", lambda a, b, c: b, kind=u64),
    s("s_mov_b32 m0, 2; s_movreld_b64 s[40:41], s[20:21]; s_mov_b64 s[30:31], s[42:43]", lambda a, b, c: a, kind=u64),
]  # fmt: skip

_EXEC: dict[str, Define] = {
    "and_not0_saveexec": lambda s, e: ~s & e, "or_not0_saveexec": lambda s, e: ~s | e, "or_not1_saveexec": lambda s, e: s | ~e,
    "nand_saveexec": lambda s, e: ~(s & e), "nor_saveexec": lambda s, e: ~(s | e), "xnor_saveexec": lambda s, e: ~(s ^ e),
}  # fmt: skip
_WRITE_EXEC: dict[str, Define] = {"and_not0_wrexec": lambda s, e: ~s & e, "and_not1_wrexec": lambda s, e: s & ~e}


def _exec_op(name: str, define: Define, saves: bool) -> Op:
    """EXEC is the first word of y before; lanes say whether they are in it afterwards."""

    def after(x: Any, y: Any, z: Any) -> Any:
        return define(view(x, u32), view(y, u32))

    def lanes(x: Any, y: Any, z: Any) -> Any:
        return after(x, y, z) >> (np.arange(len(x)) % 32).astype(u32) & u32(1)

    return Op(
        f"v_mov_b32 v10, 0; s_mov_b32 exec_lo, s22; s_{name}_b32 s30, s20; {_SCC}; v_mov_b32 v10, 1; s_mov_b32 exec_lo, -1; "
        "v_mov_b32 v12, s30; v_mov_b32 v13, s32",
        ((10, u32, lanes), (12, u32, (lambda x, y, z: view(y, u32)) if saves else after), (13, u32, lambda x, y, z: after(x, y, z) != 0)),
    )  # fmt: skip


EXECUTION = [_exec_op(n, f, True) for n, f in _EXEC.items()] + [_exec_op(n, f, False) for n, f in _WRITE_EXEC.items()]

LOADS = [Op("v_add3_u32 v10, v2, v4, v6", ((10, u32, lambda x, y, z: view(x, u32) + view(y, u32) + view(z, u32)),))] + [
    Op(
        "s_mov_b32 s36, s4; s_mov_b32 s37, s5; s_movk_i32 s38, 0x200; s_mov_b32 s39, 0x31016000; "
        f"s_buffer_load_b{32 * n} s[40:{39 + n}], s[36:39], 0x20; s_waitcnt lgkmcnt(0); v_mov_b32 v10, s{39 + n}"
        if n > 1 else
        "s_mov_b32 s36, s4; s_mov_b32 s37, s5; s_movk_i32 s38, 0x200; s_mov_b32 s39, 0x31016000; s_movk_i32 s33, 0x10; "
        "s_buffer_load_b32 s40, s[36:39], s33 offset:0x10; s_waitcnt lgkmcnt(0); v_mov_b32 v10, s40",
        ((10, u32, lambda x, y, z, n=n: np.full(len(x), x.view(u32)[8 + n - 1], u32)),),
    )
    for n in (1, 2, 4, 8)
] + [
    Op("s_load_b512 s[36:51], s[4:5], 0x40; s_waitcnt lgkmcnt(0); s_dcache_inv; s_gl1_inv; v_mov_b32 v10, s51",
       ((10, u32, lambda x, y, z: np.full(len(x), x.view(u32)[31], u32)),)),
    Op("s_movk_i32 s33, 0x40; s_load_b32 s40, s[4:5], s33 offset:0x4; s_waitcnt lgkmcnt(0); v_mov_b32 v10, s40",
       ((10, u32, lambda x, y, z: np.full(len(x), x.view(u32)[17], u32)),)),
]  # fmt: skip

SCALAR_FAMILIES = [
    Family("scalar_32", ARITHMETIC, integers, scalar=True), Family("scalar_64", WIDE, integers, scalar=True),
    Family("execution_masks", EXECUTION, integers, scalar=True), Family("scalar_loads", LOADS, integers),
]  # fmt: skip
