"""Matrix operations of gfx950 on floats of 8, 6 and 4 bits, with and without block scales: V_MFMA*_F8F6F4.

``cbsz`` and ``blgp`` name the formats of A and B (0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4). A lane holds 32 values of k:
those of 6 and 4 bits in one run, those of 8 bits in two runs of 16, half the depth apart (CDNA4 ISA, "Dense Matrix
Layouts: 8-bit and Smaller"). A scale belongs to 32 values of k of one row: lane ``row + size * (k div 32)`` of the
scale register holds it, in the byte that ``op_sel_hi``, ``op_sel`` name.

Sums run over ascending k, beginning with C, by fused multiply-adds of the scaled product.
"""

from __future__ import annotations

from collections.abc import Callable

from loom.low.semantics.expression import Expr, bitcast, const, icmp, node, select, shuffle, smax, smin
from loom.low.semantics.floats import ffma
from loom.low.semantics.matrix_cdna import result_place
from loom.low.semantics.operation import Context, define
from loom.low.semantics.small_floats import FORMATS, decode_small

KINDS = ("fp8", "bf8", "fp6", "bf6", "fp4")
"""Formats by their number in ``cbsz`` and ``blgp``."""

BLOCK = 32
"""Values of k that share a scale."""

_LIMIT = 110
"""A factor of a product scaled by 2^±110 stays a normal number; two of them cover what single precision has."""


def _values(c: Context, words: list[Expr], number: int) -> list[Expr]:
    if number >= len(KINDS):
        raise ValueError(f"matrix format {number} does not exist")
    kind = KINDS[number]
    width = FORMATS[kind].bits
    values = []
    for item in range(32):
        at, shift = divmod(item * width, 32)
        code = words[at] >> shift
        if shift + width > 32:
            code = code | (words[at + 1] << (32 - shift))
        values.append(decode_small(c, code, kind))
    return values


def _holder(k: int, depth: int, groups: int, wide: bool) -> tuple[int, int]:
    """Group of lanes and item that hold ``k``; ``wide``: values of 8 bits."""
    if not wide:
        return divmod(k, 32)
    run, rest = divmod(k, depth // 2)
    return rest // 16, 16 * run + rest % 16


def _byte(word: Expr, c: Context, source: int) -> Expr:
    place = (c.modifier("op_sel") >> source & 1) | (c.modifier("op_sel_hi") >> source & 1) << 1
    return (word >> (8 * place)) & 255


def _power(exponent: Expr) -> Expr:
    """2^exponent as single precision, for exponents of normal numbers."""
    return bitcast((exponent + 127) << 23, "f32")


def _matrix(size: int, depth: int) -> Callable[..., list[Expr]]:
    groups = 64 // size

    def build(
        c: Context,
        a: list[Expr],
        b: list[Expr],
        d: list[Expr],
        scale_a: Expr | None = None,
        scale_b: Expr | None = None,
    ) -> list[Expr]:
        kinds = c.modifier("cbsz"), c.modifier("blgp")
        x, y = _values(c, a, kinds[0]), _values(c, b, kinds[1])
        results = []
        for register in range(len(d)):
            places = [result_place(register, lane, size, False) for lane in range(64)]
            total = bitcast(d[register], "f32")
            factors: tuple[Expr, Expr] | None = None
            for k in range(depth):
                if scale_a is not None and scale_b is not None and k % BLOCK == 0:
                    factors = _factors(c, scale_a, scale_b, places, size * (k // BLOCK))
                sides = []
                for values, kind, side in ((x, kinds[0], 0), (y, kinds[1], 1)):
                    group, item = _holder(k, depth, groups, kind < 2)
                    value = shuffle(values[item], tuple(place[side] + size * group for place in places))
                    sides.append(node("fmul", "f32", value, factors[side]) if factors else value)
                total = ffma(Context(c.wave), sides[0], sides[1], total)
            results.append(bitcast(total, "i32"))
        return results

    return build


def _factors(
    c: Context, scale_a: Expr, scale_b: Expr, places: list[tuple[int, int, int]], first: int
) -> tuple[Expr, Expr]:
    """Two powers of two whose product is that of the blocks' scales; NaN where a scale is."""
    left = shuffle(_byte(scale_a, c, 0), tuple(row + first for row, _, _ in places))
    right = shuffle(_byte(scale_b, c, 1), tuple(column + first for _, column, _ in places))
    exponent = left + right - 254
    low = smin(smax(exponent, const("i32", -_LIMIT)), const("i32", _LIMIT))
    high = smin(smax(exponent - low, const("i32", -_LIMIT)), const("i32", _LIMIT))
    invalid = icmp("eq", left, 255) | icmp("eq", right, 255)
    return select(invalid, const("f32", 0x7FC00000), _power(low)), _power(high)


for _size, _depth in ((16, 128), (32, 64)):
    _count = _size * _size // 64
    _shape = f"{_size}x{_size}x{_depth}"
    _signature = f"i32x{_count} = i32x8 i32x8 i32x{_count}"
    define(f"v_mfma_f32_{_shape}_f8f6f4", _signature, _matrix(_size, _depth))
    define(f"v_mfma_scale_f32_{_shape}_f8f6f4", f"{_signature} i32 i32", _matrix(_size, _depth))
