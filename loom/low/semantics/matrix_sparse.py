"""Sparse matrix operations: V_SMFMAC (gfx942, gfx950) and V_SWMMAC (gfx12).

Of every four neighbouring values of k in a row of A two are stored; an index register holds two bits for each stored
value, which tell where it belongs (CDNA3 and CDNA4 ISA, "Sparse Matrices"). The lane that holds stored values holds
their indices too: stored value ``j`` of a lane belongs to value ``4 (j div 2) + index`` of the k that the same lane
of B holds.

Which k a lane holds: V_SMFMAC as the dense V_MFMA with the same B; the shapes that gfx950 added hold two runs, the
second half the depth above the first. V_SWMMAC: lanes 16 to 31 hold the upper half. Sums run over ascending k,
beginning with the accumulator, by fused multiply-adds (integers wrap).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loom.low.semantics.expression import Expr, bitcast, halves, icmp, select, sext, shuffle, zext
from loom.low.semantics.floats import bfloat_to_single, ffma, widen
from loom.low.semantics.matrix_cdna import result_place, unpack
from loom.low.semantics.operation import Context, define
from loom.low.semantics.vector_integer import saturated
from loom.low.semantics.vector_packed import modified_words, narrow_element, unpack_k

_SMFMAC = re.compile(r"^v_smfmac_(f32|i32)_(\d+)x(\d+)x(\d+)_([a-z0-9]+?)(?:_([a-z0-9]+))?$")
_BITS = {"f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8}
_SMALL = [f"{a}_{b}" for a in ("fp8", "bf8") for b in ("fp8", "bf8")]

SMFMAC = [
    *(f"v_smfmac_f32_{s}_{kind}" for s in ("16x16x32", "32x32x16", "16x16x64", "32x32x32") for kind in ("f16", "bf16")),
    *(f"v_smfmac_i32_{shape}_i8" for shape in ("16x16x64", "32x32x32", "16x16x128", "32x32x64")),
    *(f"v_smfmac_f32_{shape}_{kind}" for shape in ("16x16x64", "32x32x32", "16x16x128", "32x32x64") for kind in _SMALL),
]  # fmt: skip
"""All shapes; those with twice the depth exist on gfx950 only."""

SWMMAC = {
    "v_swmmac_f32_16x16x32_f16": ("f16", "f16", "f32", 4),
    "v_swmmac_f32_16x16x32_bf16": ("bf16", "bf16", "f32", 4),
    "v_swmmac_f16_16x16x32_f16": ("f16", "f16", "f16", 4),
    "v_swmmac_bf16_16x16x32_bf16": ("bf16", "bf16", "bf16", 4),
    "v_swmmac_i32_16x16x32_iu8": ("i8", "i8", "i32", 2),
    "v_swmmac_i32_16x16x32_iu4": ("i4", "i4", "i32", 1),
    "v_swmmac_i32_16x16x64_iu4": ("i4", "i4", "i32", 2),
    **{f"v_swmmac_f32_16x16x32_{a}_{b}": (a, b, "f32", 2) for a in ("fp8", "bf8") for b in ("fp8", "bf8")},
}
"""Kinds of A, B and the accumulator, words of A."""


class _Products:
    """The pairs of A and B that belong to a result element, by group of lanes and stored value."""

    def __init__(self, a: list[Expr], b: list[Expr], index: Expr) -> None:
        self.a, self.b, self.index = a, b, index
        self._columns: dict[tuple[int, tuple[int, ...]], Expr] = {}

    def pair(self, stored: int, rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[Expr, Expr]:
        """Stored value ``stored`` of the lanes ``rows`` and the value of the lanes ``columns`` that it meets."""
        place = (shuffle(self.index, rows) >> (2 * stored)) & 3
        first = 4 * (stored // 2)
        chosen = self._column(first, columns)
        for k in (1, 2, 3):
            chosen = select(icmp("eq", place, k), self._column(first + k, columns), chosen)
        return shuffle(self.a[stored], rows), chosen

    def _column(self, value: int, columns: tuple[int, ...]) -> Expr:
        found = self._columns.get((value, columns))
        if found is None:
            found = self._columns[value, columns] = shuffle(self.b[value], columns)
        return found


def _smfmac(size: int, depth: int, kinds: tuple[str, str], accumulate: str) -> Callable[..., list[Expr]]:
    groups = 64 // size
    stored = depth // 2 // groups
    # The base shapes hold 8 values of 16 bits or 16 of 8 bits of B in one run.
    runs = depth // groups // (128 // _BITS[kinds[0]])
    set_bits = 2 * stored

    def build(c: Context, d: list[Expr], a: list[Expr], b: list[Expr], index: Expr) -> list[Expr]:
        sets = 32 // set_bits
        chosen = c.modifier("abid") % sets if sets > 1 and not c.modifier("cbsz") & 3 else 0
        products = _Products(unpack(c, a, kinds[0]), unpack(c, b, kinds[1]), index >> (set_bits * chosen))
        results = []
        for register in range(len(d)):
            places = [result_place(register, lane, size, False) for lane in range(64)]
            total = bitcast(d[register], "f32") if accumulate == "f32" else d[register]
            for run in range(runs):
                for group in range(groups):
                    rows = tuple(row + size * group for row, _, _ in places)
                    columns = tuple(column + size * group for _, column, _ in places)
                    for j in range(run * stored // runs, (run + 1) * stored // runs):
                        x, y = products.pair(j, rows, columns)
                        total = total + x * y if accumulate == "i32" else ffma(Context(c.wave), x, y, total)
            results.append(bitcast(total, "i32"))
        return results

    return build


def _swmmac(kind_a: str, kind_b: str, accumulate: str, key_bits: int) -> Callable[..., list[Expr]]:
    def build(c: Context, d: list[Expr], a: list[Expr], b: list[Expr], index: Expr) -> list[Expr]:
        flags = c.modifier("neg_lo")
        products = _Products(
            unpack_k(c, modified_words(a, 0, c, kind_a), kind_a, bool(flags & 1)),
            unpack_k(c, modified_words(b, 1, c, kind_b), kind_b, bool(flags & 2)),
            index >> (key_bits * c.modifier("index_key")),
        )

        def element(row: int, start: Expr) -> Expr:
            """The element of row ``row + 8 (lane div 16)`` and column ``lane mod 16``."""
            total = start
            for half in range(2):
                rows = tuple(row + 8 * (lane // 16) + 16 * half for lane in range(32))
                columns = tuple(lane % 16 + 16 * half for lane in range(32))
                for j in range(len(products.a)):
                    x, y = products.pair(j, rows, columns)
                    if accumulate == "i32":
                        product = x * y
                        total = total + (sext(product, "i64") if total.type == "i64" else product)
                    else:
                        total = ffma(Context(c.wave), x, y, total)
            return total

        results = []
        for register, old in enumerate(d):
            if accumulate == "f32":
                results.append(bitcast(element(register, bitcast(old, "f32")), "i32"))
            elif accumulate == "i32":
                clamp = c.modifier("clamp")
                total = element(register, sext(old, "i64") if clamp else old)
                results.append(saturated(total, "i32", True) if clamp else total)
            else:
                pair = []
                for half, part in enumerate(halves(old)):
                    start = widen(bitcast(part, "f16")) if accumulate == "f16" else bfloat_to_single(part)
                    pair.append(narrow_element(element(2 * register + half, start), accumulate))
                results.append(zext(pair[0], "i32") | (zext(pair[1], "i32") << 16))
        return results

    return build


def _declare() -> None:
    for name in SMFMAC:
        found = _SMFMAC.match(name)
        assert found is not None, name
        accumulate, rows, _, depth, first, second = found.groups()
        size, k = int(rows), int(depth)
        words = k // 2 // (64 // size) * _BITS[first] // 32
        count = size * size // 64
        define(
            name, f"i32x{count} = i32x{count} i32x{words} i32x{2 * words} i32",
            _smfmac(size, k, (first, second or first), accumulate),
        )  # fmt: skip
    for name, (kind_a, kind_b, accumulator, words) in SWMMAC.items():
        results = 4 if accumulator in ("f16", "bf16") else 8
        define(
            f"{name}.gfx12.w32", f"i32x{results} = i32x{results} i32x{words} i32x{2 * words} i32",
            _swmmac(kind_a, kind_b, accumulator, 16),
        )  # fmt: skip


_declare()
