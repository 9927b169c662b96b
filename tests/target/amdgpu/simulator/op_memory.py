"""Memory instructions: atomics of every space, and loads and stores of every width.

Each lane has a place of its own that holds x: in the LDS (16 bytes, the second half y), in scratch (likewise) and in the buffer of
z, which global, flat and buffer instructions reach. After the instruction the place is read back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.target.amdgpu.simulator.op_families import (
    Define,
    Family,
    Op,
    f32,
    f64,
    i32,
    i64,
    integers,
    singles,
    u16,
    u32,
    u64,
    view,
)

_SETUP = (
    "v_and_b32 v14, 63, v0; v_lshlrev_b32 v14, 4, v14; v_mov_b32 v17, s9; v_add_co_u32 v16, vcc_lo, s8, v1; "
    "v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo; s_mov_b32 s36, s8; s_mov_b32 s37, s9; s_mov_b32 s38, -1; "
    "s_mov_b32 s39, 0x31016000; s_movk_i32 s33, 0x8; v_mov_b32 v26, 0; v_lshrrev_b32 v27, 3, v1"
)
_PUT = {
    "ds": "ds_store_b64 v14, v[2:3]; ds_store_b64 v14, v[4:5] offset:8",
    "scratch": "scratch_store_b64 off, v[2:3], off; scratch_store_b64 off, v[4:5], s33; s_waitcnt_vscnt null, 0x0",
    "": "global_store_b64 v1, v[2:3], s[8:9]; s_waitcnt_vscnt null, 0x0",
}
_GET = {
    "ds": "ds_load_b64 v[10:11], v14; s_waitcnt lgkmcnt(0)",
    "scratch": "s_waitcnt_vscnt null, 0x0; scratch_load_b64 v[10:11], v26, off; s_waitcnt vmcnt(0)",
    "": "s_waitcnt_vscnt null, 0x0; s_waitcnt vmcnt(0) lgkmcnt(0); global_load_b64 v[10:11], v1, s[8:9] glc; s_waitcnt vmcnt(0)",
}
_SPACES = ("ds", "global", "flat", "buffer", "scratch")


def _where(space: str) -> str:
    return space if space in ("ds", "scratch") else ""


Update = Define  # (old, data, second data) of one type → new


def _signed(f: Any) -> Update:
    return lambda o, d, e: f(
        o.view(i32 if o.dtype.itemsize == 4 else i64), d.view(i32 if d.dtype.itemsize == 4 else i64)
    ).view(o.dtype)


def _float(f: Any) -> Update:
    def update(o: Any, d: Any, e: Any) -> Any:
        kind = f32 if o.dtype.itemsize == 4 else f64
        return f(o.view(kind), d.view(kind)).astype(kind).view(o.dtype)

    return update


_UPDATES: dict[str, Update] = {
    "add_u": lambda o, d, e: o + d, "sub_u": lambda o, d, e: o - d, "rsub_u": lambda o, d, e: d - o,
    "inc_u": lambda o, d, e: np.where(o >= d, 0, o + o.dtype.type(1)).astype(o.dtype),
    "dec_u": lambda o, d, e: np.where((o == 0) | (o > d), d, o - o.dtype.type(1)),
    "min_i": _signed(np.minimum), "max_i": _signed(np.maximum), "min_u": lambda o, d, e: np.minimum(o, d), "max_u": lambda o, d, e: np.maximum(o, d),
    "and_b": lambda o, d, e: o & d, "or_b": lambda o, d, e: o | d, "xor_b": lambda o, d, e: o ^ d, "swap_b": lambda o, d, e: d,
    "mskor_b": lambda o, d, e: o & ~d | e, "storexchg_rtn_b": lambda o, d, e: d, "csub_u": lambda o, d, e: np.where(o >= d, o - d, 0).astype(o.dtype),
    "wrap_rtn_b": lambda o, d, e: np.where(o >= d, o - d, o + e),
    # Data is z, the value compared with y.
    "cmpswap_b": lambda o, d, e: np.where(o == d, e, o), "cmpstore_b": lambda o, d, e: np.where(o == d, e, o),
    "cmpswap_f": lambda o, d, e: np.where(o.view(f32) == d.view(f32), e, o), "cmpstore_f": lambda o, d, e: np.where(
        o.view(f32 if o.dtype.itemsize == 4 else f64) == d.view(f32 if o.dtype.itemsize == 4 else f64), e, o),
    "add_f": _float(lambda a, b: a + b), "min_f": _float(np.minimum), "max_f": _float(np.maximum),
}  # fmt: skip


def _low(words: Any, bits: int) -> Any:
    return np.ascontiguousarray(view(words, u32)) if bits == 32 else words.copy()


def atomic(space: str, name: str, bits: int, returns: bool) -> Op:
    """x in memory, data y (z and y where two values are given), the old value in v[12:13], memory in v[10:11]."""
    update = _UPDATES[name]
    ds = space == "ds"
    two = name.startswith(("cmp", "mskor", "wrap"))
    y, z, d = ("v4", "v6", "v12") if bits == 32 else ("v[4:5]", "v[6:7]", "v[12:13]")
    before = ""
    if ds:
        stem, _, letter = name.rpartition("_")
        mnemonic = (
            f"ds_{name}{bits}" if name.endswith("_rtn_b") else f"ds_{stem}{'_rtn' if returns else ''}_{letter}{bits}"
        )
        data = f"{z}, {y}" if name.startswith("cmp") else f"{y}, {z}" if two else y
        text = f"{mnemonic} {d + ', ' if returns else ''}v14, {data}"
    else:
        mnemonic = f"{space}_atomic_{name}{bits}"
        data = y
        if two:
            words = ["v6", "v4"] if bits == 32 else ["v6", "v7", "v4", "v5"]
            before = "".join(f"v_mov_b32 v{20 + k}, {w}; " for k, w in enumerate(words))
            data = f"v[20:{19 + len(words)}]"
        if space == "buffer":
            if not two:
                before = "v_mov_b32 v20, v4; v_mov_b32 v21, v5; "
                data = "v20" if bits == 32 else "v[20:21]"
            text = f"{mnemonic} {data}, v1, s[36:39], 0 offen{' glc' if returns else ''}"
            if returns:
                text += "; s_waitcnt vmcnt(0); v_mov_b32 v12, v20; v_mov_b32 v13, v21"
        else:
            place = "v1, " if space == "global" else "v[16:17], "
            tail = ", s[8:9]" if space == "global" else ""
            text = f"{mnemonic} {d + ', ' if returns else ''}{place}{data}{tail}{' glc' if returns else ''}"
    kind = u32 if bits == 32 else u64

    def after(x: Any, y: Any, z: Any) -> Any:
        new = update(_low(x, bits), _low(y, bits), _low(z, bits))
        return new if bits == 64 else x & ~u64(0xFFFFFFFF) | new.astype(u64)

    results = [(10, u64, after)] + ([(12, kind, lambda x, y, z: _low(x, bits))] if returns else [])
    where = _where(space)
    return Op(f"{before}{_PUT[where]}; {text}; {_GET[where]}", tuple(results))


_INTEGER = ("add_u", "sub_u", "inc_u", "dec_u", "min_i", "max_i", "min_u", "max_u", "and_b", "or_b", "xor_b")
ATOMICS = {
    "lds": [atomic("ds", n, b, r) for n in (*_INTEGER, "rsub_u", "mskor_b", "cmpstore_b") for b in (32, 64) for r in (False, True)]
    + [atomic("ds", "storexchg_rtn_b", b, True) for b in (32, 64)] + [atomic("ds", "wrap_rtn_b", 32, True)],
    **{space: [atomic(space, n, b, r) for n in (*_INTEGER, "swap_b", "cmpswap_b") for b in (32, 64) for r in (False, True)] for space in ("global", "flat", "buffer")},
}  # fmt: skip
for _space in ("global", "buffer"):
    ATOMICS[_space].append(atomic(_space, "csub_u", 32, True))
FLOAT_ATOMICS = [atomic("ds", n, 32, r) for n in ("add_f", "min_f", "max_f", "cmpstore_f") for r in (False, True)] + [
    atomic(s, n, 32, r) for s in ("global", "flat", "buffer") for n in ("add_f", "min_f", "max_f", "cmpswap_f") for r in (False, True)
]  # fmt: skip
DOUBLE_ATOMICS = [atomic("ds", n, 64, r) for n in ("min_f", "max_f", "cmpstore_f") for r in (False, True)]


def _address(space: str, data: str, offset: int, store: bool) -> str:
    """Operands of an access at ``offset`` in the lane's place."""
    tail = f" offset:{offset}" if offset else ""
    if space == "ds":
        return (f"v14, {data}" if store else f"{data}, v14") + tail
    if space == "scratch":
        return (f"off, {data}, off" if store else f"{data}, off, off") + tail
    if space == "global":
        return (f"v1, {data}, s[8:9]" if store else f"{data}, v1, s[8:9]") + tail
    if space == "flat":
        return (f"v[16:17], {data}" if store else f"{data}, v[16:17]") + tail
    return f"{data}, v1, s[36:39], 0 offen" + tail


def _wait(space: str) -> str:
    return "s_waitcnt vmcnt(0) lgkmcnt(0)"


def _bytes(words: Any, offset: int, kind: Any) -> Any:
    """Little-endian value at a byte offset of each word."""
    size = np.dtype(kind).itemsize
    raw = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), 8)
    return np.ascontiguousarray(raw[:, offset : offset + size]).view(kind).reshape(-1)


def _load(space: str, name: str, kind: Any, half: int | None, offset: int) -> Op:
    """A load of 8 or 16 bits; with ``half`` the other half of the register keeps y."""

    def define(x: Any, y: Any, z: Any) -> Any:
        value = _bytes(x, offset, kind)
        if half is None:
            return value.astype(i32 if np.dtype(kind).kind == "i" else u32)
        low = value.astype(np.int16 if np.dtype(kind).kind == "i" else u16).view(u16).astype(u32)
        old = view(y, u32)
        return old & u32(0xFFFF0000) | low if half == 0 else old & u32(0xFFFF) | low << u32(16)

    where = _where(space)
    first = "v_mov_b32 v10, v4; " if half is not None else ""
    return Op(
        f"{_PUT[where]}; {first}{name} {_address(space, 'v10', offset, False)}; {_wait(space)}", ((10, u32, define),)
    )


def _loads(space: str) -> list[Op]:
    ops = []
    for t, kind in (("u8", np.uint8), ("i8", np.int8), ("u16", np.uint16), ("i16", np.int16)):
        ops.append(_load(space, f"{space}_load_{t}", kind, None, 1 if "8" in t else 2))
    for t, kind in (("u8", np.uint8), ("i8", np.int8), ("b16", np.uint16)):
        for half, hi in ((0, ""), (1, "_hi")):
            name = f"ds_load_{t.replace('b', 'u')}_d16{hi}" if space == "ds" else f"{space}_load_d16{hi}_{t}"
            ops.append(_load(space, name, kind, half, 3 if "8" in t else 4))
    return ops


def _store(space: str, bits: int, half: int, offset: int) -> Op:
    hi = half == 1
    if space == "ds":
        name = f"ds_store_b{bits}{'_d16_hi' if hi else ''}"
    else:
        name = f"{space}_store_{'d16_hi_' if hi else ''}b{bits}"

    def define(x: Any, y: Any, z: Any) -> Any:
        value = (view(y, u32) >> u32(16 * half)).astype(u64) & u64((1 << bits) - 1)
        mask = u64(((1 << bits) - 1) << 8 * offset)
        return x & ~mask | value << u64(8 * offset)

    where = _where(space)
    return Op(f"{_PUT[where]}; {name} {_address(space, 'v4', offset, True)}; {_GET[where]}", ((10, u64, define),))


def _pairs(words: Any, odd: bool) -> Any:
    """The word of the even (odd) one of each two lanes, for both."""
    return words.reshape(-1, 2)[:, int(odd)].repeat(2)


def _wide(space: str) -> list[Op]:
    """96 and 128 bits at the places of two neighbours (LDS, scratch: x and y of one)."""
    own = space in ("ds", "scratch")
    ops = []
    where = _where(space)
    for bits in (64, 96, 128):
        words = bits // 32
        registers = f"v[20:{19 + words}]"
        if own:
            text = f"{_PUT[where]}; {space}_load_b{bits} {_address(space, registers, 0, False)}; {_wait(space)}; v_mov_b32 v10, v{19 + words}"
            ops.append(Op(text, ((10, u32, lambda x, y, z, k=words - 1: view((x, x, y, y)[k], u32, k & 1)),)))
            data = f"v[4:{3 + words}]"  # y, then z
            ops.append(
                Op(
                    f"{_PUT[where]}; {space}_store_b{bits} {_address(space, data, 0, True)}; {_GET[where]}",
                    ((10, u64, lambda x, y, z: y),),
                )
            )
            continue
        first = "v_and_b32 v22, -16, v1; " if space != "flat" else "v_and_b32 v22, -16, v16; v_mov_b32 v23, v17; "
        place = {"global": "v22, {0}, s[8:9]", "buffer": "{0}, v22, s[36:39], 0 offen", "flat": "v[22:23], {0}"}[space]
        load = {"global": "{0}, v22, s[8:9]", "buffer": "{0}, v22, s[36:39], 0 offen", "flat": "{0}, v[22:23]"}[space]
        wide = f"v[28:{27 + words}]"
        ops.append(Op(
            f"{first}{_PUT['']}; {space}_load_b{bits} {load.format(wide)}; {_wait(space)}; v_mov_b32 v10, v{27 + words}",
            ((10, u32, lambda x, y, z, k=words - 1: view(_pairs(x, k >= 2), u32, k & 1)),),
        ))  # fmt: skip

        def after(x: Any, y: Any, z: Any, words: int = words) -> Any:
            even, second = _pairs(x, False), _pairs(y, False)
            odd = {2: x, 3: x & ~u64(0xFFFFFFFF) | second & u64(0xFFFFFFFF), 4: second}[words]
            return np.where(np.arange(len(x)) % 2 == 0, even, odd)

        ops.append(Op(
            f"{first}{_PUT['']}; s_mov_b32 exec_lo, 0x55555555; {space}_store_b{bits} {place.format(f'v[2:{1 + words}]')}; s_mov_b32 exec_lo, -1; {_GET['']}",
            ((10, u64, after),),
        ))  # fmt: skip
    return ops


def widths(space: str) -> list[Op]:
    """Loads and stores of all widths in a space."""
    return [*_loads(space), *(_store(space, b, h, o) for b, o in ((8, 3), (16, 4)) for h in (0, 1)), *_wide(space)]


_TWO = [
    Op("ds_store_2addr_b64 v14, v[2:3], v[4:5] offset0:0 offset1:1; ds_load_2addr_b64 v[10:13], v14 offset0:1 offset1:0; s_waitcnt lgkmcnt(0)",
       ((10, u64, lambda x, y, z: y), (12, u64, lambda x, y, z: x))),
    Op("ds_store_2addr_b32 v14, v2, v4 offset0:0 offset1:2; ds_storexchg_2addr_rtn_b32 v[12:13], v14, v6, v7 offset0:2 offset1:0; ds_load_2addr_b32 v[10:11], v14 "
       "offset0:0 offset1:2; s_waitcnt lgkmcnt(0)", ((12, u64, lambda x, y, z: y & u64(0xFFFFFFFF) | x << u64(32)), (10, u64, lambda x, y, z: z >> u64(32) | z << u64(32)))),
    Op("ds_store_2addr_b64 v14, v[2:3], v[4:5] offset1:1; ds_storexchg_2addr_rtn_b64 v[10:13], v14, v[6:7], v[2:3] offset0:1 offset1:0; "
       "ds_load_b64 v[20:21], v14 offset:8; s_waitcnt lgkmcnt(0); v_mov_b32 v10, v20; v_mov_b32 v11, v21", ((10, u64, lambda x, y, z: z), (12, u64, lambda x, y, z: x))),
    Op("v_lshrrev_b32 v22, 2, v14; ds_store_2addr_stride64_b32 v22, v2, v4 offset0:8 offset1:9; ds_load_2addr_stride64_b32 v[10:11], v22 offset0:9 offset1:8; "
       "s_waitcnt lgkmcnt(0)", ((10, u64, lambda x, y, z: y & u64(0xFFFFFFFF) | x << u64(32)),)),
    Op("v_lshrrev_b32 v22, 1, v14; ds_store_2addr_stride64_b64 v22, v[2:3], v[4:5] offset0:4 offset1:5; ds_load_2addr_stride64_b64 v[10:13], v22 offset0:5 offset1:4; "
       "s_waitcnt lgkmcnt(0)", ((10, u64, lambda x, y, z: y), (12, u64, lambda x, y, z: x))),
    Op("s_mov_b32 m0, 0x1000; s_nop 0; ds_store_addtid_b32 v2 offset:16; ds_load_addtid_b32 v10 offset:16; s_waitcnt lgkmcnt(0)", ((10, u32, lambda x, y, z: view(x, u32)),)),
]  # fmt: skip
ADDRESSES = [
    Op(f"{_PUT['']}; v_add_nc_u32 v22, 32, v1; global_load_b32 v10, v22, s[8:9] offset:-32 slc; s_waitcnt vmcnt(0)", ((10, u32, lambda x, y, z: view(x, u32)),)),
    Op(f"{_PUT['']}; global_load_b32 v10, v[16:17], off offset:4; s_waitcnt vmcnt(0)", ((10, u32, lambda x, y, z: view(x, u32, 1)),)),
    Op(f"{_PUT['']}; s_mov_b32 s40, s36; s_or_b32 s41, s37, 0x80000; s_mov_b32 s42, s38; s_mov_b32 s43, s39; buffer_load_b32 v10, v27, s[40:43], 0 idxen; s_waitcnt vmcnt(0)",
       ((10, u32, lambda x, y, z: view(x, u32)),)),
    Op(f"{_PUT['']}; s_mov_b32 s40, s36; s_or_b32 s41, s37, 0x80000; s_mov_b32 s42, s38; s_mov_b32 s43, s39; v_mov_b32 v22, v27; v_mov_b32 v23, 4; "
       "buffer_load_b32 v10, v[22:23], s[40:43], 0 idxen offen; s_waitcnt vmcnt(0)", ((10, u32, lambda x, y, z: view(x, u32, 1)),)),
    Op("buffer_load_b32 v10, off, s[4:7], 0 offset:0; s_waitcnt vmcnt(0)" if False else
       "s_mov_b32 s40, s4; s_mov_b32 s41, s5; s_mov_b32 s42, s38; s_mov_b32 s43, s39; buffer_load_b32 v10, off, s[40:43], 0 offset:8; s_waitcnt vmcnt(0)",
       ((10, u32, lambda x, y, z: np.full(len(x), x.view(u32)[2], u32)),)),
    Op("scratch_store_b32 v26, v2, s33 offset:4; s_waitcnt_vscnt null, 0x0; scratch_load_b32 v10, off, s33 offset:4; s_waitcnt vmcnt(0)", ((10, u32, lambda x, y, z: view(x, u32)),)),
]  # fmt: skip

MEMORY_FAMILIES = [
    *[Family(f"atomics_{n}", ops, integers, lds=8192, before=_SETUP) for n, ops in ATOMICS.items()],
    Family("atomics_single", FLOAT_ATOMICS, singles, lds=8192, before=_SETUP),
    Family("atomics_double", DOUBLE_ATOMICS, lambda rng, n: [(rng.standard_normal(n)).view(u64) for _ in range(3)], lds=8192, before=_SETUP),
    *[Family(f"widths_{s}", widths(s), integers, lds=8192, scratch=64 if s == "scratch" else 0, before=_SETUP) for s in _SPACES],
    Family("lds_pairs", _TWO, integers, lds=8192, before=_SETUP), Family("addresses", ADDRESSES, integers, scratch=64, before=_SETUP),
]  # fmt: skip
