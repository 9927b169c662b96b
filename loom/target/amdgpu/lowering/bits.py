"""Counting bits: leading and trailing zeros, population."""

from __future__ import annotations

from loom.target.amdgpu.lowering.context import Lowering
from loom.target.amdgpu.lowering.emitter import Operand, is_vector
from loom.target.amdgpu.lowering.integers import Pair


def count32(lw: Lowering, name: str, word: Operand, width: int = 32) -> Operand:
    """``ctlzi``, ``cttzi`` or ``ctpopi`` of the low ``width`` bits."""
    i, e = lw.i, lw.e
    if width < 32:
        # A bit above the width stops the count of trailing zeros.
        word = i.or_(word, 1 << width) if name == "cttzi" else i.zero_extend(word, width)
    if isinstance(word, int):
        if name == "ctpopi":
            return word.bit_count()
        if name == "ctlzi":
            return width - word.bit_length()
        return (word & -word).bit_length() - 1 if word else width
    if name == "ctpopi":
        if is_vector(word):
            return e.op("v_bcnt_u32_b32", word, 0)[0]
        return e.op("s_bcnt1_i32_b32", word)[0]
    # The find-first instructions give -1 for zero; as an unsigned number that is more than any count.
    if is_vector(word):
        found: Operand = e.op("v_clz_i32_u32" if name == "ctlzi" else "v_ctz_i32_b32", word)[0]
    else:
        found = e.op("s_clz_i32_u32" if name == "ctlzi" else "s_ctz_i32_b32", word)[0]
    if name == "ctlzi":
        found = i.binary("min_u", found, 32)
        return i.sub(found, 32 - width) if width < 32 else found
    return i.binary("min_u", found, width)


def count64(lw: Lowering, name: str, pair: Pair) -> Operand:
    """The same of 64 bits."""
    i = lw.i
    if name == "ctpopi":
        if is_vector(pair[0]) or is_vector(pair[1]):
            first = lw.e.op("v_bcnt_u32_b32", pair[0], 0)[0]
            return lw.e.op("v_bcnt_u32_b32", pair[1], first)[0]
        return i.add(count32(lw, name, pair[0]), count32(lw, name, pair[1]))
    near, far = (pair[1], pair[0]) if name == "ctlzi" else (pair[0], pair[1])
    beyond = i.add(count32(lw, name, far), 32)
    return lw.t.select_word(lw.t.compare32("eq", near, 0, signed=False), beyond, count32(lw, name, near))
