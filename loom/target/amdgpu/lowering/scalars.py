"""The lanewise half of ``scalar`` and ``vector``: one handler a family, element by element, packed where an
instruction takes two.

The tables say which instruction computes what; the handlers say how elements of each width reach it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from loom.ir import FloatType, Operation, Type, Value
from loom.target.amdgpu.lowering.bits import count32, count64
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.division import (
    divide_signed,
    divide_signed64,
    divide_unsigned,
    divide_unsigned64,
)
from loom.target.amdgpu.lowering.emitter import MASK32, Operand, is_vector
from loom.target.amdgpu.lowering.floats import PACKED, SIGN_BIT, floats
from loom.target.amdgpu.lowering.integers import Pair
from loom.target.amdgpu.lowering.math_lowering import elementary
from loom.target.amdgpu.lowering.values import (
    Lanes,
    Words,
    element_bits,
    element_of,
    is_index,
    is_truth,
    lane_count,
)
from loom.transform.rejection import NoForm


def fast_math(op: Operation) -> frozenset[str]:
    """An op's fast-math flags."""
    flags = op.attributes.get("fastmath")
    found = frozenset(str(f) for f in flags) if isinstance(flags, tuple) else frozenset()
    return found | {"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"} if "fast" in found else found


def base_name(op: Operation) -> str:
    """``addf`` of ``scalar.addf`` and ``vector.addf``."""
    return op.name.split(".", 1)[1]


def constant_words(value: object, type_: Type) -> Words:
    """The words of a constant element."""
    if isinstance(type_, FloatType):
        number = float(value)  # type: ignore[arg-type]
        return float_words(number, type_.name)
    bits = element_bits(type_)
    number_ = int(value)  # type: ignore[call-overload]
    if bits == 64:
        return (number_ & MASK32, (number_ >> 32) & MASK32)
    return (number_ & ((1 << bits) - 1),)


def float_words(number: float, kind: str) -> Words:
    """The words of a float constant, rounded to nearest even (through single precision below it)."""
    if kind == "f64":
        bits = int.from_bytes(struct.pack("<d", number), "little")
        return (bits & MASK32, bits >> 32)
    try:
        single = int.from_bytes(struct.pack("<f", number), "little")
    except OverflowError:
        single = 0x7F800000 if number > 0 else 0xFF800000
    if kind == "f32":
        return (single,)
    if kind == "f16":
        try:
            return (int.from_bytes(struct.pack("<e", struct.unpack("<f", struct.pack("<I", single))[0]), "little"),)
        except OverflowError:
            return (0x7C00 if single >> 31 == 0 else 0xFC00,)
    if kind == "bf16":
        if single & 0x7FFFFFFF > 0x7F800000:
            return ((single >> 16) | 0x40,)
        return (((single + 0x7FFF + ((single >> 16) & 1)) >> 16) & 0xFFFF,)
    from loom.target.amdgpu.lowering.small_floats import encode_constant

    return (encode_constant(struct.unpack("<f", struct.pack("<I", single))[0], kind),)


def _constant(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    type_ = result.type
    element = element_of(type_)
    value = op.attributes["value"]
    count = lane_count(type_)
    if is_truth(element):
        lw.set_truths(result, [lw.t.constant(bool(value))] * count)
    elif is_index(element):
        lw.set(result, Lanes(tuple(lw.index_constant(int(value)) for _ in range(count))))  # type: ignore[arg-type]
    else:
        lw.set_elements(result, [constant_words(value, element)] * count)


# Integers


def _integer_element(lw: Lowering, name: str, bits: int, operands: Sequence[Words]) -> Words:
    """One integer operation on elements of ``bits`` bits."""
    if bits == 64:
        return _integer64(lw, name, [(o[0], o[1]) for o in operands])
    return (_integer32(lw, name, bits, [o[0] for o in operands]),)


_LOW_BITS_ONLY = {"addi": "add", "subi": "sub", "muli": "mul", "andi": "and", "ori": "or", "xori": "xor"}
_EXTREMES = {"minsi": ("min_s", True), "maxsi": ("max_s", True), "minui": ("min_u", False), "maxui": ("max_u", False)}


def _integer32(lw: Lowering, name: str, bits: int, o: list[Operand]) -> Operand:
    i = lw.i

    def signed(word: Operand) -> Operand:
        return i.sign_extend(word, bits) if bits < 32 else word

    def unsigned(word: Operand) -> Operand:
        return i.zero_extend(word, bits) if bits < 32 else word

    if name in _LOW_BITS_ONLY:
        return i.binary(_LOW_BITS_ONLY[name], o[0], o[1])
    if name == "fmai":
        return i.add(i.mul(o[0], o[1]), o[2])
    if name == "shli":
        return i.shl(o[0], unsigned(o[1]))
    if name == "shrui":
        return i.shr(unsigned(o[0]), unsigned(o[1]))
    if name == "shrsi":
        return i.sar(signed(o[0]), unsigned(o[1]))
    if name in _EXTREMES:
        operation, as_signed = _EXTREMES[name]
        extend = signed if as_signed else unsigned
        return i.binary(operation, extend(o[0]), extend(o[1]))
    if name in ("divui", "remui", "ceildivui"):
        a, b = unsigned(o[0]), unsigned(o[1])
        q, r = divide_unsigned(lw, a, b, name != "remui", name != "divui")
        if name == "ceildivui":
            return i.add(q, lw.t.as_word(lw.t.compare32("ne", r, 0, signed=False)))
        return q if name == "divui" else r
    if name in ("divsi", "remsi", "ceildivsi", "floordivsi"):
        a, b = signed(o[0]), signed(o[1])
        q, r = divide_signed(lw, a, b, name != "remsi", name != "divsi")
        if name in ("ceildivsi", "floordivsi"):
            inexact = lw.t.compare32("ne", r, 0, signed=False)
            differ = lw.t.compare32("lt", i.xor(a, b), 0, signed=True)
            if name == "ceildivsi":
                return i.add(q, lw.t.as_word(lw.t.binary("and", inexact, lw.t.not_(differ))))
            return i.sub(q, lw.t.as_word(lw.t.binary("and", inexact, differ)))
        return q if name == "divsi" else r
    if name in ("rotli", "rotri"):
        return _rotate(lw, name, bits, unsigned(o[0]), unsigned(o[1]))
    if name == "negi":
        return i.negate(o[0])
    if name == "absi":
        a = signed(o[0])
        return i.binary("max_s", a, i.negate(a))
    if name in ("ctlzi", "cttzi", "ctpopi"):
        return count32(lw, name, o[0], bits)
    if name == "signi":
        a = signed(o[0])
        return i.binary("max_s", i.binary("min_s", a, 1), MASK32)
    raise NoForm(f"no sequence computes {name} on 32 bits or less", "build it of shifts, logic and arithmetic")


def _rotate(lw: Lowering, name: str, bits: int, a: Operand, amount: Operand) -> Operand:
    i = lw.i
    if bits == 32:
        if name == "rotli":
            amount = i.sub(32, amount)
        if is_vector(a) or is_vector(amount):
            # Funnel shift of a register with itself; the count is taken modulo 32.
            return lw.e.op("v_alignbit_b32", a, a, i.and_(amount, 31))[0]
        amount = i.and_(amount, 31)
        back = i.and_(i.sub(32, amount), 31)
        return i.or_(i.shr(a, amount), i.shl(a, back))
    amount = i.and_(amount, bits - 1)
    back = i.and_(i.sub(bits, amount), bits - 1)
    left, right = (amount, back) if name == "rotli" else (back, amount)
    return i.or_(i.shl(a, left), i.shr(a, right))


def _integer64(lw: Lowering, name: str, o: list[Pair]) -> Words:
    i = lw.i
    if name == "addi":
        return i.add64(o[0], o[1])
    if name == "subi":
        return i.sub64(o[0], o[1])
    if name == "muli":
        return i.mul64(o[0], o[1])
    if name == "fmai":
        return i.add64(i.mul64(o[0], o[1]), o[2])
    if name in ("andi", "ori", "xori"):
        return i.bitwise64(name[:-1], o[0], o[1])
    if name in ("shli", "shrui", "shrsi"):
        return i.shift64({"shli": "shl", "shrui": "shr", "shrsi": "sar"}[name], o[0], o[1][0])
    if name in _EXTREMES:
        less = lw.t.compare64("lt", o[0], o[1], signed=_EXTREMES[name][1])
        return lw.t.select(less, o[0], o[1]) if name.startswith("min") else lw.t.select(less, o[1], o[0])
    if name in ("divui", "remui", "ceildivui"):
        q, r = divide_unsigned64(lw, o[0], o[1], name != "divui", _known64(o[1]))
        if name == "ceildivui":
            extra = lw.t.as_word(lw.t.compare64("ne", r, (0, 0), signed=False))
            return i.add64(q, (extra, 0))
        return q if name == "divui" else r
    if name in ("divsi", "remsi", "ceildivsi", "floordivsi"):
        q, r = divide_signed64(lw, o[0], o[1], name != "divsi")
        if name in ("ceildivsi", "floordivsi"):
            inexact = lw.t.compare64("ne", r, (0, 0), signed=False)
            differ = lw.t.compare32("lt", i.xor(o[0][1], o[1][1]), 0, signed=True)
            if name == "ceildivsi":
                step = lw.t.binary("and", inexact, lw.t.not_(differ))
                return i.add64(q, (lw.t.as_word(step), 0))
            step = lw.t.binary("and", inexact, differ)
            return i.sub64(q, (lw.t.as_word(step), 0))
        return q if name == "divsi" else r
    if name in ("rotli", "rotri"):
        amount = i.and_(o[1][0], 63)
        back = i.and_(i.sub(64, amount), 63)
        left, right = (amount, back) if name == "rotli" else (back, amount)
        return i.bitwise64("or", i.shift64("shl", o[0], left), i.shift64("shr", o[0], right))
    if name == "negi":
        return i.sub64((0, 0), o[0])
    if name == "absi":
        sign = i.sign_word(o[0][1])
        return i.sub64((i.xor(o[0][0], sign), i.xor(o[0][1], sign)), (sign, sign))
    if name in ("ctlzi", "cttzi", "ctpopi"):
        return (count64(lw, name, o[0]), 0)
    if name == "signi":
        negative = i.sign_word(o[0][1])
        nonzero = lw.t.as_word(lw.t.compare64("ne", o[0], (0, 0), signed=False))
        return (i.or_(negative, nonzero), negative)
    raise NoForm(f"no sequence computes {name} on i64", "build it of shifts, logic and arithmetic")


def _known64(pair: Pair) -> int | None:
    return pair[0] | pair[1] << 32 if isinstance(pair[0], int) and isinstance(pair[1], int) else None


# (operation) → packed instruction on two 16-bit integers; shifts take the count first.
_PACKED_INTEGERS = {
    "addi": ("v_pk_add_u16", False),
    "subi": ("v_pk_sub_i16", False),
    "muli": ("v_pk_mul_lo_u16", False),
    "minsi": ("v_pk_min_i16", False),
    "maxsi": ("v_pk_max_i16", False),
    "minui": ("v_pk_min_u16", False),
    "maxui": ("v_pk_max_u16", False),
    "shli": ("v_pk_lshlrev_b16", True),
    "shrui": ("v_pk_lshrrev_b16", True),
    "shrsi": ("v_pk_ashrrev_i16", True),
}
_WHOLE_WORDS = ("andi", "ori", "xori")


def _integer(lw: Lowering, op: Operation) -> None:
    name = base_name(op)
    result = op.results[0]
    type_ = result.type
    element = element_of(type_)
    if is_truth(element):
        _truth_arithmetic(lw, op, name)
        return
    bits = element_bits(type_)
    count = lane_count(type_)
    operands = [lw.words(v) for v in op.operands]
    if bits < 32 and count > 1 and name in _WHOLE_WORDS:
        lw.set(result, tuple(lw.i.binary(_LOW_BITS_ONLY[name], a, b) for a, b in zip(*operands, strict=True)))
        return
    if bits == 16 and count > 1 and any(is_vector(w) for o in operands for w in o):
        packed = _PACKED_INTEGERS.get(name)
        if packed is not None:
            mnemonic, swapped = packed
            words = []
            for a, b in zip(*operands, strict=True):
                first, second = (b, a) if swapped else (a, b)
                words.append(lw.e.op(mnemonic, lw.e.to_vector(first), lw.e.to_vector(second))[0])
            lw.set(result, tuple(words))
            return
        if name == "fmai":
            lw.set(
                result,
                tuple(
                    lw.e.op("v_pk_mad_u16", *(lw.e.to_vector(w) for w in words3))[0]
                    for words3 in zip(*operands, strict=True)
                ),
            )
            return
    columns = [lw.elements(v) for v in op.operands]
    made = [_integer_element(lw, name, bits, row) for row in zip(*columns, strict=True)]
    if count == 1 and not lw.is_divergent(result) and name in ("divsi", "divui", "remsi", "remui"):
        made = [tuple(lw.e.to_scalar(w) if isinstance(w, Value) else w for w in made[0])]
    lw.set_elements(result, made)


def _truth_arithmetic(lw: Lowering, op: Operation, name: str) -> None:
    columns = [lw.lanes_of_truth(v) for v in op.operands]
    table = {
        "andi": "and", "muli": "and", "minui": "and", "maxsi": "and",
        "ori": "or", "maxui": "or", "minsi": "or",
        "xori": "xor", "addi": "xor", "subi": "xor",
    }  # fmt: skip
    if name in table:
        lw.set_truths(op.results[0], [lw.t.binary(table[name], a, b) for a, b in zip(*columns, strict=True)])
    elif name in ("negi", "absi"):
        lw.set_truths(op.results[0], list(columns[0]))
    else:
        raise NoForm(f"{name} on i1", "use andi, ori, xori or a select, or extend to i32 first")


# Floats

_DIRECT = {"addf": "add", "subf": "sub", "mulf": "mul", "fmaf": "fma", "minnumf": "min", "maxnumf": "max",
           "ceilf": "ceil", "floorf": "floor", "truncf": "trunc", "roundevenf": "rint"}  # fmt: skip
NATIVE_FLOATS = ("f16", "f32", "f64")


def float_element(lw: Lowering, name: str, kind: str, flags: frozenset[str], o: Sequence[Words]) -> Words:
    """One float operation on values of one format."""
    f = floats(lw)
    if name == "negf":
        return f.neg(o[0], kind) if kind in SIGN_BIT else (lw.i.xor(o[0][0], 0x80),)
    if name == "absf":
        return f.abs(o[0], kind) if kind in SIGN_BIT else (lw.i.and_(o[0][0], 0x7F),)
    if name == "copysignf":
        mask = {"f32": 0x7FFFFFFF, "f64": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}.get(kind, 0x7F)
        return (*o[0][:-1], lw.i.merge_bits(mask, o[0][-1], o[1][-1]))
    if kind not in NATIVE_FLOATS:
        wide = [f.to_f32(v, kind) for v in o]
        return f.from_f32(float_element(lw, name, "f32", flags, wide), kind)
    if name in _DIRECT:
        if name == "addf" and "contract" in flags:
            fused = _contract(lw, kind, o)
            if fused is not None:
                return fused
        if name == "fmaf":
            return _fma(lw, kind, o)
        return f.op(_DIRECT[name], kind, *o)
    if name in ("minimumf", "maximumf"):
        return f.minimum("min" if name == "minimumf" else "max", o[0], o[1], kind, "nnan" in flags)
    if name == "divf":
        return _divide(lw, kind, flags, o)
    if name == "sqrtf":
        exact = "afn" not in flags or kind == "f64"
        lw.note("correctly rounded sequence" if exact else "hardware approximation")
        if kind == "f16":
            return f.from_f32(
                f.op("sqrt", "f32", f.to_f32(o[0], kind)) if "afn" in flags else f.sqrt(f.to_f32(o[0], kind), "f32"),
                kind,
            )
        if kind == "f32" and "afn" in flags:
            return f.op("sqrt", kind, o[0])
        return f.sqrt(o[0], kind)
    if name == "roundf":
        # Half away from zero: truncate, then add the sign where the dropped part is at least a half.
        whole = f.op("trunc", kind, o[0])
        rest = f.abs(f.op("sub", kind, o[0], whole), kind)
        half = float_words(0.5, kind)
        up = lw.t.compare_float("oge", f.operand(rest), f.operand(half), kind)
        one = float_words(1.0, kind)
        step = lw.t.select(up, one, float_words(0.0, kind))
        mask = 0x7FFF if kind == "f16" else 0x7FFFFFFF
        signed = (*step[:-1], lw.i.merge_bits(mask, step[-1], o[0][-1]))
        total = f.op("add", kind, whole, signed)
        return (*total[:-1], lw.i.merge_bits(mask, total[-1], o[0][-1]))
    if name == "signf":
        mask = 0x7FFF if kind == "f16" else 0x7FFFFFFF
        one = float_words(1.0, kind)
        signed = (*one[:-1], lw.i.merge_bits(mask, one[-1], o[0][-1]))
        special = lw.t.compare_float("ueq", f.operand(o[0]), f.operand(float_words(0.0, kind)), kind)
        return lw.t.select(special, o[0], signed)
    if name == "remf":
        return _remainder(lw, kind, o)
    return elementary(lw, name, kind, flags, *o)


def _fma(lw: Lowering, kind: str, o: Sequence[Words]) -> Words:
    f = floats(lw)
    return f.op("fma", kind, *o)


def _contract(lw: Lowering, kind: str, o: Sequence[Words]) -> Words | None:
    """``a * b + c`` with a product made by a contractible multiplication."""
    f = floats(lw)
    for product, addend in ((o[0], o[1]), (o[1], o[0])):
        origin = lw.contractible.get(product)
        if origin is not None:
            return f.op("fma", kind, origin[0], origin[1], addend)
    return None


def _divide(lw: Lowering, kind: str, flags: frozenset[str], o: Sequence[Words]) -> Words:
    f = floats(lw)
    fast = bool(flags & {"afn", "arcp"})
    if kind == "f32" and not fast and isinstance(o[1][0], int):
        # Division by a power of two is exact as a multiplication, unless the reciprocal leaves the normal range.
        bits = o[1][0]
        exponent = (bits >> 23) & 0xFF
        if bits & 0x7FFFFF == 0 and 2 <= exponent <= 252:
            lw.note("product with the exact reciprocal")
            return f.op("mul", kind, o[0], ((bits & 0x80000000) | ((254 - exponent) << 23),))
    approximate = fast and kind != "f64"
    lw.note("product with the approximate reciprocal" if approximate else "correctly rounded sequence")
    if kind == "f16":
        a, b = f.to_f32(o[0], kind), f.to_f32(o[1], kind)
        if fast:
            return f.from_f32(f.op("mul", "f32", a, f.op("rcp", "f32", b)), kind)
        return f.from_f32(f.divide(a, b, "f32"), kind)
    if kind == "f32" and fast:
        if all(isinstance(w, int) for w in o[0]) and o[0][0] == 0x3F800000:
            return f.op("rcp", kind, o[1])
        return f.op("mul", kind, o[0], f.op("rcp", kind, o[1]))
    return f.divide(o[0], o[1], kind)


def _remainder(lw: Lowering, kind: str, o: Sequence[Words]) -> Words:
    """C's fmod: subtract the divisor's multiples, largest first; exact at every step."""
    from loom.target.amdgpu.lowering.remainder import fmod

    lw.note("exact, by subtracting multiples of the divisor")

    return fmod(lw, kind, o[0], o[1])


def _float(lw: Lowering, op: Operation) -> None:
    name = base_name(op)
    result = op.results[0]
    element = element_of(result.type)
    assert isinstance(element, FloatType)
    kind = element.name
    flags = fast_math(op)
    count = lane_count(result.type)
    if kind == "f16" and count > 1 and name in _DIRECT and _DIRECT[name] in PACKED:
        mnemonic = PACKED[_DIRECT[name]]
        columns = [lw.words(v) for v in op.operands]
        lw.set(
            result,
            tuple(lw.e.op(mnemonic, *(_packed_operand(lw, w) for w in row))[0] for row in zip(*columns, strict=True)),
        )
        return
    if kind == "f16" and count > 1 and name == "subf":
        first, second = (lw.words(v) for v in op.operands)
        words: list[Operand] = []
        for a, b in zip(first, second, strict=True):
            words.append(lw.e.op("v_pk_add_f16", _packed_operand(lw, a), _packed_operand(lw, b), neg_lo=2, neg_hi=2)[0])
        lw.set(result, tuple(words))
        return
    if kind in ("f16", "bf16") and count > 1 and name in ("negf", "absf"):
        mask = 0x80008000 if name == "negf" else 0x7FFF7FFF
        operation = "xor" if name == "negf" else "and"
        lw.set(result, tuple(lw.i.binary(operation, w, mask) for w in lw.words(op.operands[0])))
        return
    columns_ = [lw.elements(v) for v in op.operands]
    made = []
    for row in zip(*columns_, strict=True):
        element_words = float_element(lw, name, kind, flags, row)
        if name == "mulf" and "contract" in flags and len(result.users) == 1:
            lw.contractible[element_words] = (row[0], row[1])
        made.append(element_words)
    lw.set_elements(result, made)


def _packed_operand(lw: Lowering, word: Operand) -> Operand:
    return lw.e.to_vector(word) if isinstance(word, int) and word != 0 else word


def _clamp(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    element = element_of(result.type)
    assert isinstance(element, FloatType)
    kind, mode, flags = element.name, str(op.attributes["mode"]), fast_math(op)
    f = floats(lw)
    made = []
    for value, low, high in zip(*(lw.elements(v) for v in op.operands), strict=True):
        work = kind if kind in NATIVE_FLOATS else "f32"
        v, lo, hi = (x if work == kind else f.to_f32(x, kind) for x in (value, low, high))
        if mode == "number":
            out = f.op("min", work, f.op("max", work, v, lo), hi)
        elif mode == "ieee":
            out = f.minimum("min", f.minimum("max", v, lo, work, "nnan" in flags), hi, work, "nnan" in flags)
        else:
            below = lw.t.compare_float("olt", f.operand(v), f.operand(lo), work)
            out = lw.t.select(below, lo, v)
            above = lw.t.compare_float("ogt", f.operand(out), f.operand(hi), work)
            out = lw.t.select(above, hi, out)
        made.append(out if work == kind else f.from_f32(out, kind))
    lw.set_elements(result, made)


def _gelu(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    element = element_of(result.type)
    assert isinstance(element, FloatType)
    kind, form, flags = element.name, str(op.attributes["form"]), fast_math(op)
    scale = op.attributes.get("scale")
    factor = float(scale) if isinstance(scale, int | float) else 1.702
    f = floats(lw)
    work = kind if kind in ("f32", "f64") else "f32"
    made = []
    for value in lw.elements(op.operands[0]):
        x = value if work == kind else f.to_f32(value, kind)

        def c(number: float) -> Words:
            return float_words(number, work)

        if form == "erf":
            # x * Phi(x) = x/2 * erfc(-x / sqrt 2)
            inner = f.op("mul", work, x, c(-0.7071067811865476))
            out = f.op("mul", work, f.op("mul", work, x, c(0.5)), elementary(lw, "erfcf", work, flags, inner))
        elif form == "tanh":
            square = f.op("mul", work, x, x)
            cubic = f.op("fma", work, f.op("mul", work, square, c(0.044715)), x, x)
            t = elementary(lw, "tanhf", work, flags, f.op("mul", work, cubic, c(0.7978845608028654)))
            half = f.op("mul", work, x, c(0.5))
            out = f.op("fma", work, half, t, half)
        else:
            gate = elementary(lw, "logisticf", work, flags, f.op("mul", work, x, c(factor)))
            out = f.op("mul", work, x, gate)
        made.append(out if work == kind else f.from_f32(out, kind))
    lw.set_elements(result, made)


def _assume(lw: Lowering, op: Operation) -> None:
    for value, result in zip(op.operand_group("values"), op.results, strict=True):
        lw.set(result, lw.get(value))


def _poison(lw: Lowering, op: Operation) -> None:
    raise lw.reject(op, "a value that is poison", 8, "a constant index is out of range; correct it")


_INTEGER_NAMES = [
    "addi",
    "subi",
    "muli",
    "shli",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "ceildivsi",
    "ceildivui",
    "floordivsi",
    "minsi",
    "maxsi",
    "minui",
    "maxui",
    "andi",
    "ori",
    "xori",
    "shrsi",
    "shrui",
    "rotli",
    "rotri",
    "negi",
    "absi",
    "ctlzi",
    "cttzi",
    "ctpopi",
    "signi",
    "fmai",
]
_FLOAT_NAMES = [
    "addf",
    "subf",
    "mulf",
    "divf",
    "minimumf",
    "maximumf",
    "minnumf",
    "maxnumf",
    "remf",
    "powf",
    "copysignf",
    "atan2f",
    "negf",
    "absf",
    "sqrtf",
    "expf",
    "logisticf",
    "siluf",
    "ceilf",
    "floorf",
    "roundf",
    "roundevenf",
    "truncf",
    "exp2f",
    "logf",
    "log2f",
    "log10f",
    "log1pf",
    "expm1f",
    "rsqrtf",
    "sinf",
    "cosf",
    "tanhf",
    "erff",
    "sinturnsf",
    "costurnsf",
    "softplusf",
    "signf",
    "cbrtf",
    "tanf",
    "asinf",
    "acosf",
    "atanf",
    "sinhf",
    "coshf",
    "asinhf",
    "acoshf",
    "atanhf",
    "erfcf",
    "fmaf",
]
_CONVERSIONS = ["sitofp", "uitofp", "fptosi", "fptoui", "extf", "fptrunc", "extsi", "extui", "trunci"]

_FAMILIES: dict[Callable[[Lowering, Operation], None], Sequence[str]] = {
    _integer: _INTEGER_NAMES,
    _float: _FLOAT_NAMES,
    _clamp: ("clampf",),
    _gelu: ("geluf",),
    _constant: ("constant",),
    _poison: ("poison",),
}

HANDLERS: dict[str, Handler] = {
    f"{dialect}.{name}": handler
    for handler, names in _FAMILIES.items()
    for name in names
    for dialect in ("scalar", "vector")
}
HANDLERS["scalar.assume"] = _assume
