"""Semantic operations that move values between lanes (AMD RDNA3 ISA, "Cross-lane operations").

Those whose inactive sources matter read EXEC. ``ds_bpermute_b32`` and its relatives are listed here too: they use the
LDS hardware's
crossbar, not its memory.
"""

from __future__ import annotations

from loom.low.semantics.expression import (
    Expr,
    as_lane,
    const,
    icmp,
    lane_bit,
    lane_number,
    node,
    permute,
    read_lane,
    resize,
    select,
    shuffle,
    zext,
)
from loom.low.semantics.operation import Context, define


def _first_active(c: Context, exec_mask: Expr) -> Expr:
    index = resize(node("cttz", c.mask_type, exec_mask), "i32")
    return select(icmp("eq", exec_mask, 0), const("i32", 0), index)


def _active(c: Context, exec_mask: Expr, sources: tuple[int, ...]) -> Expr:
    return icmp("ne", shuffle(zext(lane_bit(exec_mask), "i32"), sources), 0)


def _permlane16(c: Context, old: Expr, value: Expr, low: Expr, high: Expr, exec_mask: Expr, across: bool) -> Expr:
    """Each lane reads a lane of its own row of 16 (``across``: of the neighbouring row), chosen by 4-bit selectors."""
    lane = lane_number()
    position = lane & 15
    selectors = zext(as_lane(low), "i64") | (zext(as_lane(high), "i64") << 32)
    chosen = resize(selectors >> (zext(position, "i64") << 2), "i32") & 15
    row = lane & 0xFFFFFFF0
    source = ((row ^ 16) if across else row) + chosen
    routed = permute(value, source)
    fetch_inactive = c.modifier("op_sel") & 1 or c.modifier("fi")
    bound_control = c.modifier("op_sel") & 2 or c.modifier("bound_ctrl")
    if fetch_inactive:
        return routed
    active = icmp("ne", permute(zext(lane_bit(exec_mask), "i32"), source), 0)
    return select(active, routed, 0 if bound_control else old)


def _permlane_var(c: Context, old: Expr, value: Expr, selector: Expr, exec_mask: Expr, across: bool) -> Expr:
    lane = lane_number()
    row = lane & 0xFFFFFFF0
    source = ((row ^ 16) if across else row) + (selector & 15)
    routed = permute(value, source)
    if c.modifier("op_sel") & 1:
        return routed
    active = icmp("ne", permute(zext(lane_bit(exec_mask), "i32"), source), 0)
    return select(active, routed, 0 if c.modifier("op_sel") & 2 else old)


def _permuted(c: Context, address: Expr) -> Expr:
    """The lane that a permutation through the LDS hardware names: ``(address + offset) / 4``, modulo the wave.

    gfx11 stays within 32 lanes, gfx12 does not (ISA documents of RDNA3 and RDNA4; LLVM's ``supportsWaveWideBPermute``).
    """
    index = ((as_lane(address) + c.modifier("offset")) >> 2) & (c.wave - 1)
    if c.wave == 64 and c.generation == "gfx11":
        index = (index & 31) | (lane_number() & 32)
    return index


def _bpermute(c: Context, address: Expr, data: Expr, exec_mask: Expr) -> Expr:
    """Backward permute: lane i reads lane :func:`_permuted`; inactive sources give 0."""
    index = _permuted(c, address)
    active = icmp("ne", permute(zext(lane_bit(exec_mask), "i32"), index), 0)
    return select(active, permute(data, index), 0)


def _permute(c: Context, address: Expr, data: Expr, exec_mask: Expr) -> Expr:
    """Forward permute: lane i writes lane :func:`_permuted`; the highest writer wins, unwritten lanes get 0."""
    index = _permuted(c, address)
    lane = lane_number()
    active = lane_bit(exec_mask)
    result: Expr = select(lane_bit(const(c.mask_type, 0)), const("i32", 0), as_lane(const("i32", 0)))
    for writer in range(c.wave):
        at = const("i32", writer)
        hit = icmp("eq", read_lane(index, at), lane) & icmp("ne", read_lane(zext(active, "i32"), at), 0)
        result = select(hit, read_lane(data, at), result)
    return result


def swizzle_sources(offset: int, wave: int) -> tuple[int, ...]:
    """Source lanes of DS_SWIZZLE_B32 for its offset field (bit 15: quads; else and/or/xor masks within 32 lanes)."""
    sources = []
    for lane in range(wave):
        base = lane & ~31
        position = lane & 31
        if offset >= 0xE000:  # FFT mode: bit reversal of the low bits, spelled by the field
            mask = offset & 31
            reversed_ = int(f"{position:05b}"[::-1], 2) if mask == 0 else position
            sources.append(base + reversed_)
        elif offset >= 0xC000:  # rotate
            amount = offset >> 5 & 31
            keep = offset & 31
            moved = position - amount if offset >> 10 & 1 else position + amount
            sources.append(base + ((position & keep) | (moved & ~keep & 31)))
        elif offset & 0x8000:
            sources.append((lane & ~3) + (offset >> (2 * (lane & 3)) & 3))
        else:
            and_mask, or_mask, xor_mask = offset & 31, offset >> 5 & 31, offset >> 10 & 31
            sources.append(base + (((position & and_mask) | or_mask) ^ xor_mask))
    return tuple(sources)


def _swizzle(c: Context, data: Expr, exec_mask: Expr) -> Expr:
    sources = swizzle_sources(c.modifier("offset") & 0xFFFF, c.wave)
    return select(_active(c, exec_mask, sources), shuffle(data, sources), 0)


def _writelane(c: Context, old: Expr, value: Expr, index: Expr) -> Expr:
    return select(icmp("eq", lane_number(), index & (c.wave - 1)), value, old)


def _swap_rows(c: Context, first: Expr, second: Expr, width: int) -> tuple[Expr, Expr]:
    """V_PERMLANE16_SWAP and V_PERMLANE32_SWAP: odd rows of the first register change places with even rows of the
    second.
    """
    lanes = range(c.wave)
    odd = tuple(lane for lane in lanes)
    up = tuple(lane - width if lane & width else lane for lane in odd)
    down = tuple(lane if lane & width else (lane + width) % c.wave for lane in odd)
    is_odd = lane_bit(const(c.mask_type, sum(1 << lane for lane in lanes if lane & width)))
    return (
        select(is_odd, shuffle(second, up), as_lane(first)),
        select(is_odd, as_lane(second), shuffle(first, down)),
    )


define("v_readlane_b32", "i32 = i32 i32", lambda c, a, index: read_lane(a, index & (c.wave - 1)))
define("v_readfirstlane_b32", "i32 = i32 | exec", lambda c, a, e: read_lane(a, _first_active(c, e)))
define("v_writelane_b32", "i32 = i32 i32 i32", _writelane)
define(
    "v_permlane16_b32", "i32 = i32 i32 i32 i32 | exec", lambda c, o, a, x, y, e: _permlane16(c, o, a, x, y, e, False)
)
define(
    "v_permlanex16_b32", "i32 = i32 i32 i32 i32 | exec", lambda c, o, a, x, y, e: _permlane16(c, o, a, x, y, e, True)
)
define("v_permlane16_var_b32", "i32 = i32 i32 i32 | exec", lambda c, o, a, s, e: _permlane_var(c, o, a, s, e, False))
define("v_permlanex16_var_b32", "i32 = i32 i32 i32 | exec", lambda c, o, a, s, e: _permlane_var(c, o, a, s, e, True))
define(
    "v_permlane64_b32", "i32 = i32",
    lambda c, a: shuffle(a, tuple((lane + 32) % 64 for lane in range(64))) if c.wave == 64 else a,
)  # fmt: skip
define("v_permlane16_swap_b32", "i32 i32 = i32 i32", lambda c, a, b: _swap_rows(c, a, b, 16))
define("v_permlane32_swap_b32", "i32 i32 = i32 i32", lambda c, a, b: _swap_rows(c, a, b, 32))
define("v_swap_b32", "i32 i32 = i32 i32", lambda c, a, b: (b, a))
define("v_swap_b16", "i16 i16 = i16 i16", lambda c, a, b: (b, a))
define("ds_bpermute_b32", "i32 = i32 i32 | exec", _bpermute)
define(
    "ds_bpermute_fi_b32",
    "i32 = i32 i32",
    lambda c, a, d: permute(d, _permuted(c, a)),
)
define("ds_permute_b32", "i32 = i32 i32 | exec", _permute)
define("ds_swizzle_b32", "i32 = i32 | exec", _swizzle)
