"""Matrix operations of CDNA3 and CDNA4 (gfx942, gfx950): V_MFMA in all dense shapes.

Layout (AMD's CDNA3 ISA and matrix instruction calculator), wave64, blocks ``b``, ``kpl`` values of k a lane:

* A, row ``i``: lane ``i + M (b + B g)`` holds ``k = g kpl … g kpl + kpl - 1``, ``g`` counting what is left of the 64
lanes; B likewise by column.
* Results: column ``lane mod N``. With 32 rows register ``r`` holds row ``(r mod 4) + 8 (r div 4) + 4 (lane div 32)``;
with 16 rows
  ``r + 4 (lane div 16)``; with 4 rows ``r``, the block being ``lane div 4``. Blocks of 32 and 16 rows follow one
  another in the registers.
  Double precision: register pair ``r`` holds row ``4 r + lane div 16``.

Sums run over ascending k, beginning with C, by fused multiply-adds (integers wrap). EXEC is ignored. ``cbsz`` and
``abid`` broadcast blocks of A, ``blgp`` permutes the lanes of B; for double precision ``blgp`` holds negations.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loom.low.semantics.expression import Expr, bitcast, halves, sext, shuffle, trunc, zext
from loom.low.semantics.floats import bfloat_to_single, ffma, fneg, widen
from loom.low.semantics.operation import Context, define
from loom.low.semantics.small_floats import decode_small

_NAME = re.compile(r"^v_mfma_(f32|f64|i32)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_([a-z0-9]+?)(?:_([a-z0-9]+))?$")
_BITS = {"f16": 16, "bf16": 16, "i8": 8, "f32": 32, "f64": 64, "fp8": 8, "bf8": 8}

SHAPES = """
v_mfma_f32_32x32x1_2b_f32 v_mfma_f32_16x16x1_4b_f32 v_mfma_f32_4x4x1_16b_f32 v_mfma_f32_32x32x2_f32
v_mfma_f32_16x16x4_f32 v_mfma_f32_32x32x4_2b_f16 v_mfma_f32_16x16x4_4b_f16 v_mfma_f32_4x4x4_16b_f16
v_mfma_f32_32x32x8_f16 v_mfma_f32_16x16x16_f16 v_mfma_f32_32x32x4_2b_bf16 v_mfma_f32_16x16x4_4b_bf16
v_mfma_f32_4x4x4_16b_bf16 v_mfma_f32_32x32x8_bf16 v_mfma_f32_16x16x16_bf16 v_mfma_i32_32x32x4_2b_i8
v_mfma_i32_16x16x4_4b_i8 v_mfma_i32_4x4x4_16b_i8 v_mfma_i32_32x32x16_i8 v_mfma_i32_16x16x32_i8
v_mfma_f64_16x16x4_f64 v_mfma_f64_4x4x4_4b_f64 v_mfma_f32_16x16x32_bf8_bf8 v_mfma_f32_16x16x32_bf8_fp8
v_mfma_f32_16x16x32_fp8_bf8 v_mfma_f32_16x16x32_fp8_fp8 v_mfma_f32_32x32x16_bf8_bf8 v_mfma_f32_32x32x16_bf8_fp8
v_mfma_f32_32x32x16_fp8_bf8 v_mfma_f32_32x32x16_fp8_fp8 v_mfma_f32_16x16x32_f16 v_mfma_f32_32x32x16_f16
v_mfma_f32_16x16x32_bf16 v_mfma_f32_32x32x16_bf16 v_mfma_i32_16x16x64_i8 v_mfma_i32_32x32x32_i8
"""


def unpack(c: Context, words: list[Expr], kind: str) -> list[Expr]:
    """A lane's values of k."""
    values: list[Expr] = []
    if kind == "f64":
        return [bitcast(zext(words[0], "i64") | (zext(words[1], "i64") << 32), "f64")]
    for word in words:
        if kind == "f32":
            values.append(bitcast(word, "f32"))
        elif kind == "f16":
            values.extend(widen(bitcast(h, "f16")) for h in halves(word))
        elif kind == "bf16":
            values.extend(bfloat_to_single(h) for h in halves(word))
        elif kind == "i8":
            values.extend(sext(trunc(word >> (8 * i), "i8"), "i32") for i in range(4))
        else:
            values.extend(decode_small(c, word >> (8 * i), kind) for i in range(4))
    return values


def result_place(register: int, lane: int, size: int, double: bool) -> tuple[int, int, int]:
    """Row, column and block of an element, by register (pair) and lane."""
    if size == 32:
        inner = register % 16
        return inner % 4 + 8 * (inner // 4) + 4 * (lane // 32), lane % 32, register // 16
    if size == 16:
        if double:
            return 4 * register + lane // 16, lane % 16, 0
        return register % 4 + 4 * (lane // 16), lane % 16, register // 4
    if double:
        return lane // 16, lane % 4, lane // 4 % 4
    return register, lane % 4, lane // 4


def source_lane_a(lane: int, cbsz: int, abid: int) -> int:
    """The lane whose A is used in place of ``lane``'s: one of 2^cbsz blocks of lanes, ``abid``, serves all."""
    block = 64 >> cbsz
    return lane % block + block * abid


def source_lane_b(lane: int, blgp: int) -> int:
    """The lane whose B is used in place of ``lane``'s (CDNA4 ISA, "Permutations corresponding to BLGP values")."""
    if blgp == 3:
        return (lane + 16) % 64
    if blgp >= 4:
        return lane % 16 + 16 * (blgp - 4)
    return lane % 32 + 32 * (blgp - 1) if blgp else lane


def _matrix(size: int, depth: int, blocks: int, kinds: tuple[str, str], accumulate: str) -> Callable[..., list[Expr]]:
    groups = 64 // (size * blocks)
    per_lane = depth // groups
    double = accumulate == "f64"

    def build(c: Context, a: list[Expr], b: list[Expr], d: list[Expr]) -> list[Expr]:
        broadcast = (0, 0, 0) if double else (c.modifier("cbsz"), c.modifier("abid"), c.modifier("blgp"))
        x, y = unpack(c, a, kinds[0]), unpack(c, b, kinds[1])
        if double:
            # The broadcast field of double-precision forms holds negations of A, B and C.
            flips = c.modifier("blgp")
            x = [fneg(v) for v in x] if flips & 1 else x
            y = [fneg(v) for v in y] if flips & 2 else y
        count = len(d) // 2 if double else len(d)
        results: list[Expr] = []
        for register in range(count):
            places = [result_place(register, lane, size, double) for lane in range(64)]
            if double:
                low, high = d[2 * register], d[2 * register + 1]
                total = bitcast(zext(low, "i64") | (zext(high, "i64") << 32), "f64")
                if c.modifier("blgp") & 4:
                    total = fneg(total)
            elif accumulate == "f32":
                total = bitcast(d[register], "f32")
            else:
                total = d[register]
            for k in range(depth):
                group, element = divmod(k, per_lane)
                rows = tuple(source_lane_a(row + size * (b_ + blocks * group), *broadcast[:2]) for row, _, b_ in places)
                columns = tuple(
                    source_lane_b(col + size * (b_ + blocks * group), broadcast[2]) for _, col, b_ in places
                )
                left, right = shuffle(x[element], rows), shuffle(y[element], columns)
                integer = accumulate == "i32"
                total = total + left * right if integer else ffma(Context(c.wave), left, right, total)
            if double:
                results.extend(halves(bitcast(total, "i64")))
            else:
                results.append(bitcast(total, "i32"))
        return results

    return build


def _declare() -> None:
    for name in SHAPES.split():
        found = _NAME.match(name)
        assert found is not None, name
        accumulate, rows, _, depth, blocks, first, second = found.groups()
        size, k, count = int(rows), int(depth), int(blocks or 1)
        kinds = (first, second or first)
        per_lane = k // (64 // (size * count))
        words = max(1, per_lane * _BITS[first] // 32)
        results = size * size * count // 64 * (2 if accumulate == "f64" else 1)
        define(
            name,
            f"i32x{results} = i32x{words} i32x{words} i32x{results}",
            _matrix(size, k, count, kinds, accumulate),
        )


_declare()
