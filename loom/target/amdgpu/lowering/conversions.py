"""Conversions between element types of ``scalar`` and ``vector`` values, and reinterpretation of bits."""

from __future__ import annotations

from loom.ir import FloatType, IntegerType, Operation, Type
from loom.target.amdgpu.lowering.bits import count64
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import MASK32, Operand, is_vector
from loom.target.amdgpu.lowering.floats import floats
from loom.target.amdgpu.lowering.integers import Pair
from loom.target.amdgpu.lowering.scalars import base_name, float_words
from loom.target.amdgpu.lowering.values import (
    Truth,
    Words,
    element_bits,
    element_of,
    is_truth,
    lane_count,
)


def _bitcast(lw: Lowering, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    words = lw.words(source)
    if is_truth(element_of(result.type)):
        lw.set_truths(
            result,
            [
                lw.t.compare32("ne", lw.i.bit_field(words[k // 32], k % 32, 1), 0, False)
                for k in range(lane_count(result.type))
            ],
        )
        return
    if is_truth(element_of(source.type)) and lane_count(source.type) > 1:
        out: list[Operand] = []
        for first in range(0, len(words), 32):
            word: Operand = 0
            for k, bit in enumerate(words[first : first + 32]):
                word = lw.i.or_(word, lw.i.shl(bit, k))
            out.append(word)
        lw.set(result, tuple(out))
        return
    lw.set(result, words)


def _convert(lw: Lowering, op: Operation) -> None:
    name = base_name(op)
    source, result = op.operands[0], op.results[0]
    from_type, to_type = element_of(source.type), element_of(result.type)
    if is_truth(from_type):
        _from_truths(lw, op, name, to_type)
        return
    elements = lw.elements(source)
    if is_truth(to_type):
        lw.set_truths(result, [_to_truth(lw, name, e, from_type) for e in elements])
        return
    lw.set_elements(result, [convert_element(lw, name, e, from_type, to_type) for e in elements])


def _from_truths(lw: Lowering, op: Operation, name: str, to_type: Type) -> None:
    out: list[Words] = []
    bits = element_bits(to_type)
    for truth in lw.lanes_of_truth(op.operands[0]):
        if name in ("sitofp", "uitofp"):
            assert isinstance(to_type, FloatType)
            yes = float_words(-1.0 if name == "sitofp" else 1.0, to_type.name)
            out.append(lw.t.select(truth, yes, float_words(0.0, to_type.name)))
        elif name == "extsi":
            word = lw.t.as_word(truth, MASK32)
            out.append((word, word) if bits == 64 else (word,))
        else:
            word = lw.t.as_word(truth)
            out.append((word, 0) if bits == 64 else (word,))
    lw.set_elements(op.results[0], out)


def _to_truth(lw: Lowering, name: str, words: Words, from_type: Type) -> Truth:
    if name == "trunci":
        return lw.t.from_bit(lw.i.and_(words[0], 1))
    word = convert_element(lw, "fptosi", words, from_type, IntegerType(32))[0]
    return lw.t.compare32("ne", word, 0, signed=False)


def convert_element(lw: Lowering, name: str, words: Words, from_type: Type, to_type: Type) -> Words:
    """One conversion of a data element."""
    f, i = floats(lw), lw.i
    source_bits, target_bits = element_bits(from_type), element_bits(to_type)
    if name == "trunci":
        return words[:1] if target_bits <= 32 else words
    if name in ("extsi", "extui"):
        if source_bits == 64:
            return words
        low = words[0]
        if source_bits < 32:
            low = i.sign_extend(low, source_bits) if name == "extsi" else i.zero_extend(low, source_bits)
        if target_bits == 64:
            return (low, i.sign_word(low) if name == "extsi" else 0)
        return (low,)
    if name in ("extf", "fptrunc"):
        assert isinstance(from_type, FloatType) and isinstance(to_type, FloatType)
        return f.convert(words, from_type.name, to_type.name)
    if name in ("sitofp", "uitofp"):
        assert isinstance(to_type, FloatType)
        return _to_float(lw, words, source_bits, name == "sitofp", to_type.name)
    assert isinstance(from_type, FloatType)
    return _to_integer(lw, words, from_type.name, target_bits, name == "fptosi")


def _to_float(lw: Lowering, words: Words, bits: int, signed: bool, kind: str) -> Words:
    f, i, e = floats(lw), lw.i, lw.e
    if bits < 32:
        word = i.sign_extend(words[0], bits) if signed else i.zero_extend(words[0], bits)
        if kind == "f16" and bits == 16:
            return (e.op("v_cvt_f16_i16" if signed else "v_cvt_f16_u16", words[0])[0],)
        if not signed and bits == 8 and kind == "f32" and is_vector(word):
            return (e.op("v_cvt_f32_ubyte0", word)[0],)
        words, bits = (word,), 32
    letter = "i" if signed else "u"
    if bits == 32:
        if kind == "f64":
            return f.words(e.op(f"v_cvt_f64_{letter}32", words[0])[0])
        if kind == "f32":
            return (e.op(f"v_cvt_f32_{letter}32", words[0])[0],)
        # Through double precision, which holds every 32-bit integer, so that one rounding remains.
        return f.convert(f.words(e.op(f"v_cvt_f64_{letter}32", words[0])[0]), "f64", kind)
    if kind == "f64":
        high = f.words(e.op(f"v_cvt_f64_{letter}32", words[1])[0])
        low = f.words(e.op("v_cvt_f64_u32", words[0])[0])
        return f.op("fma", "f64", high, float_words(4294967296.0, "f64"), low)
    # 64 bits to single precision and below: keep 32 significant bits, the rest as a sticky bit, then scale.
    if signed:
        sign = i.sign_word(words[1])
        pair = i.sub64((i.xor(words[0], sign), i.xor(words[1], sign)), (sign, sign))
    else:
        sign = 0
        pair = (words[0], words[1])
    zeros = count64(lw, "ctlzi", pair)
    capped = i.binary("min_u", zeros, 32)
    moved = i.shift64("shl", pair, capped)
    sticky = i.binary("min_u", moved[0], 1)
    top = i.or_(moved[1], sticky)
    value: Words = (e.op("v_cvt_f32_u32", top)[0],)
    value = (e.op("v_ldexp_f32", value[0], i.sub(32, capped))[0],)
    if signed:
        value = (i.or_(value[0], i.and_(sign, 0x80000000)),)
    return f.from_f32(value, kind)


def _to_integer(lw: Lowering, words: Words, kind: str, bits: int, signed: bool) -> Words:
    f, i, e = floats(lw), lw.i, lw.e
    letter = "i" if signed else "u"
    if bits <= 32:
        if kind == "f64":
            return (e.op(f"v_cvt_{letter}32_f64", f.operand(words))[0],)
        single = f.to_f32(words, kind)
        return (e.op(f"v_cvt_{letter}32_f32", single[0])[0],)
    wide = words if kind == "f64" else f.convert(words, kind, "f64")
    whole = f.op("trunc", "f64", wide)
    magnitude = f.abs(whole, "f64") if signed else whole
    high = f.op("floor", "f64", f.op("mul", "f64", magnitude, float_words(2.0**-32, "f64")))
    low = f.op("fma", "f64", high, float_words(-4294967296.0, "f64"), magnitude)
    pair: Pair = (e.op("v_cvt_u32_f64", f.operand(low))[0], e.op("v_cvt_u32_f64", f.operand(high))[0])
    if signed:
        sign = i.sign_word(whole[1])
        pair = i.sub64((i.xor(pair[0], sign), i.xor(pair[1], sign)), (sign, sign))
    return pair


_CONVERSIONS = ("sitofp", "uitofp", "fptosi", "fptoui", "extf", "fptrunc", "extsi", "extui", "trunci")

HANDLERS: dict[str, Handler] = {
    f"{dialect}.{name}": handler
    for handler, names in ((_convert, _CONVERSIONS), (_bitcast, ("bitcast",)))
    for name in names
    for dialect in ("scalar", "vector")
}
