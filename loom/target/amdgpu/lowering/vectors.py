"""Vectors: building, taking apart, moving lanes, reductions, dot products and bit streams. Lanes move at compile time;
no code where none is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from loom.ir import FloatType, Operation, Type, Value, VectorType
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import Operand
from loom.target.amdgpu.lowering.floats import floats
from loom.target.amdgpu.lowering.scalars import fast_math, float_element, float_words
from loom.target.amdgpu.lowering.values import (
    IndexValue,
    Lanes,
    Lowered,
    Truth,
    Words,
    element_bits,
    element_of,
    is_index,
    is_truth,
    lane_count,
)


def shape(type_: Type) -> tuple[int, ...]:
    """Static shape of a vector type, () for scalars."""
    if not isinstance(type_, VectorType):
        return ()
    return tuple(int(d) for d in type_.dims)  # type: ignore[arg-type]


def lanes_of(lw: Lowering, value: Value) -> list[Lowered]:
    """The lanes of a vector, or the one lane of a scalar, each as a value of the element type."""
    found = lw.get(value)
    if isinstance(found, Lanes):
        return list(found.lanes)
    if isinstance(found, Truth | IndexValue):
        return [found]
    return list(lw.elements(value))


def set_lanes(lw: Lowering, value: Value, lanes: Sequence[Lowered]) -> None:
    """Record a vector or scalar from its lanes."""
    element = element_of(value.type)
    if is_truth(element):
        lw.set_truths(value, [x for x in lanes if isinstance(x, Truth)])
    elif is_index(element):
        found = [x for x in lanes if isinstance(x, IndexValue)]
        lw.set(value, Lanes(tuple(found)) if isinstance(value.type, VectorType) else found[0])
    else:
        lw.set_elements(value, [x for x in lanes if isinstance(x, tuple)])


def _strides(extents: Sequence[int]) -> list[int]:
    out = []
    number = 1
    for extent in reversed(extents):
        out.append(number)
        number *= extent
    return list(reversed(out))


def _splat(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    set_lanes(lw, result, lanes_of(lw, op.operands[0]) * lane_count(result.type))


def _from_elements(lw: Lowering, op: Operation) -> None:
    set_lanes(lw, op.results[0], [lane for v in op.operands for lane in lanes_of(lw, v)])


def _iota(lw: Lowering, op: Operation) -> None:
    base, step = op.operands
    result = op.results[0]
    count = lane_count(result.type)
    element = element_of(result.type)
    if is_index(element):
        start, stride = lw.index_pair(base), lw.index_pair(step)
        low_range, step_range = lw.interval(base), lw.interval(step)
        out: list[Lowered] = []
        for k in range(count):
            low, high = low_range[0] + k * step_range[0], low_range[1] + k * step_range[1]
            if low >= 0 and high < (1 << 32) and len(lw.words(base)) == 1 and step_range[0] >= 0:
                out.append(IndexValue((lw.i.add(start[0], lw.i.mul(stride[0], k)),)))
            else:
                out.append(IndexValue(lw.i.add64(start, lw.i.mul64(stride, (k, 0)))))
        set_lanes(lw, result, out)
        return
    bits = element_bits(element)
    a, s = lw.words(base), lw.words(step)
    elements: list[Words] = []
    for k in range(count):
        if bits == 64:
            elements.append(lw.i.add64((a[0], a[1]), lw.i.mul64((s[0], s[1]), (k, 0))))
        else:
            elements.append((lw.i.add(a[0], lw.i.mul(s[0], k)),))
    lw.set_elements(result, elements)


def _constants(lw: Lowering, op: Operation) -> list[int] | None:
    out = []
    for index in op.index_list("indices"):
        known = index if isinstance(index, int) else lw.ranges.constant(index)
        if known is None:
            return None
        out.append(known)
    return out


def _extract(lw: Lowering, op: Operation) -> None:
    source, result = op.operand("vector"), op.results[0]
    extents = shape(source.type)
    lanes = lanes_of(lw, source)
    known = _constants(lw, op)
    strides = _strides(extents)
    width = lane_count(result.type)
    if known is not None:
        first = sum(i * s for i, s in zip(known, strides, strict=False))
        if not 0 <= first <= len(lanes) - width:
            raise lw.reject(op, "a constant lane out of range gives no value (poison)", 8, "use a lane of the vector")
        set_lanes(lw, result, lanes[first : first + width])
        return
    groups = [lanes[k : k + width] for k in range(0, len(lanes), width)]
    position = _flat_index(lw, op, strides, width)
    set_lanes(lw, result, _pick(lw, groups, position))


def _flat_index(lw: Lowering, op: Operation, strides: Sequence[int], width: int) -> Operand:
    total: Operand = 0
    for index, stride in zip(op.index_list("indices"), strides, strict=False):
        word: Operand = index if isinstance(index, int) else lw.word(index)
        total = lw.i.add(total, lw.i.mul(word, stride // width))
    return total


def _pick(lw: Lowering, groups: list[list[Lowered]], position: Operand) -> list[Lowered]:
    """One of several groups by a run-time position: a binary tree of selections."""
    from loom.target.amdgpu.lowering.control_flow import select_lowered

    bit = 0
    while len(groups) > 1:
        truth = lw.t.compare32("ne", lw.i.and_(position, 1 << bit), 0, signed=False)
        paired = []
        for k in range(0, len(groups), 2):
            if k + 1 < len(groups):
                paired.append(
                    [select_lowered(lw, truth, b, a, None) for a, b in zip(groups[k], groups[k + 1], strict=True)]
                )
            else:
                paired.append(groups[k])
        groups = paired
        bit += 1
    return groups[0]


def _insert(lw: Lowering, op: Operation) -> None:
    from loom.target.amdgpu.lowering.control_flow import select_lowered

    source, base, result = op.operand("value"), op.operand("vector"), op.results[0]
    extents = shape(base.type)
    lanes = lanes_of(lw, base)
    new = lanes_of(lw, source)
    known = _constants(lw, op)
    strides = _strides(extents)
    width = len(new)
    if known is not None:
        first = sum(i * s for i, s in zip(known, strides, strict=False))
        if not 0 <= first <= len(lanes) - width:
            raise lw.reject(op, "a constant lane out of range gives no value (poison)", 8, "use a lane of the vector")
        set_lanes(lw, result, [*lanes[:first], *new, *lanes[first + width :]])
        return
    position = _flat_index(lw, op, strides, width)
    out: list[Lowered] = []
    for k in range(0, len(lanes), width):
        truth = lw.t.compare32("eq", position, k // width, signed=False)
        out += [select_lowered(lw, truth, n, o, None) for n, o in zip(new, lanes[k : k + width], strict=True)]
    set_lanes(lw, result, out)


def _rearrange(lw: Lowering, result: Value, places: Sequence[int], lanes: Sequence[Lowered]) -> None:
    set_lanes(lw, result, [lanes[p] for p in places])


def _slice(lw: Lowering, op: Operation) -> None:
    source, result = op.operand("vector"), op.results[0]
    known = _constants(lw, op)
    if known is None:
        raise lw.reject(op, "an origin that is not constant", 9, "use vector.extract of single lanes")
    strides = _strides(shape(source.type))
    places = [
        sum((o + i) * s for o, i, s in zip(known, index, strides, strict=True))
        for index in product(*(range(d) for d in shape(result.type)))
    ]
    _rearrange(lw, result, places, lanes_of(lw, source))


def _concat(lw: Lowering, op: Operation) -> None:
    axis = int(op.attributes["axis"])  # type: ignore[arg-type]
    result = op.results[0]
    sources = [(lanes_of(lw, v), shape(v.type)) for v in op.operands]
    out: list[Lowered] = []
    for index in product(*(range(d) for d in shape(result.type))):
        at = index[axis]
        for lanes, extents in sources:
            if at < extents[axis]:
                place = list(index)
                place[axis] = at
                out.append(lanes[sum(i * s for i, s in zip(place, _strides(extents), strict=True))])
                break
            at -= extents[axis]
    set_lanes(lw, result, out)


def _shuffle(lw: Lowering, op: Operation) -> None:
    places = [int(p) for p in op.attributes["lanes"]]  # type: ignore[union-attr, arg-type]
    _rearrange(lw, op.results[0], places, lanes_of(lw, op.operands[0]))


def _transpose(lw: Lowering, op: Operation) -> None:
    permutation = [int(p) for p in op.attributes["permutation"]]  # type: ignore[union-attr, arg-type]
    source, result = op.operands[0], op.results[0]
    strides = _strides(shape(source.type))
    places = [
        sum(index[i] * strides[permutation[i]] for i in range(len(permutation)))
        for index in product(*(range(d) for d in shape(result.type)))
    ]
    _rearrange(lw, result, places, lanes_of(lw, source))


def _interleave(lw: Lowering, op: Operation) -> None:
    axis = int(op.attributes["axis"])  # type: ignore[arg-type]
    even, odd = lanes_of(lw, op.operands[0]), lanes_of(lw, op.operands[1])
    strides = _strides(shape(op.operands[0].type))
    out = []
    for index in product(*(range(d) for d in shape(op.results[0].type))):
        place = list(index)
        place[axis] //= 2
        lane = sum(i * s for i, s in zip(place, strides, strict=True))
        out.append((odd if index[axis] % 2 else even)[lane])
    set_lanes(lw, op.results[0], out)


def _deinterleave(lw: Lowering, op: Operation) -> None:
    axis = int(op.attributes["axis"])  # type: ignore[arg-type]
    lanes = lanes_of(lw, op.operands[0])
    strides = _strides(shape(op.operands[0].type))
    for parity, result in enumerate(op.results):
        places = []
        for index in product(*(range(d) for d in shape(result.type))):
            place = list(index)
            place[axis] = 2 * place[axis] + parity
            places.append(sum(i * s for i, s in zip(place, strides, strict=True)))
        _rearrange(lw, result, places, lanes)


def _broadcast(lw: Lowering, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    inner, outer = shape(source.type), shape(result.type)
    strides = _strides(inner)
    places = []
    for index in product(*(range(d) for d in outer)):
        tail = index[len(outer) - len(inner) :]
        places.append(sum((i if d != 1 else 0) * s for i, d, s in zip(tail, inner, strides, strict=True)))
    _rearrange(lw, result, places, lanes_of(lw, source))


def _mask_range(lw: Lowering, op: Operation) -> None:
    lower, upper, step = op.operands
    result = op.results[0]
    truths = []
    low, high, stride = lw.interval(lower), lw.interval(upper), lw.interval(step)
    count = lane_count(result.type)
    last = (low[0] + min(0, (count - 1) * stride[0]), low[1] + max(0, (count - 1) * stride[1]))
    narrow = min(last[0], high[0]) >= -(1 << 31) and max(last[1], high[1], low[1]) < (1 << 31)
    integers = not is_index(lower.type)
    for k in range(count):
        if narrow or (integers and element_bits(lower.type) <= 32):
            bits = element_bits(lower.type)
            a, b, s = lw.word(lower), lw.word(upper), lw.word(step)
            if bits < 32:
                a, b, s = (lw.i.sign_extend(w, bits) for w in (a, b, s))
            truths.append(lw.t.compare32("lt", lw.i.add(a, lw.i.mul(s, k)), b, signed=True))
        else:
            value = lw.i.add64(lw.index_pair(lower), lw.i.mul64(lw.index_pair(step), (k, 0)))
            truths.append(lw.t.compare64("lt", value, lw.index_pair(upper), signed=True))
    lw.set_truths(result, truths)


def _empty(lw: Lowering, op: Operation) -> None:
    lw.set(op.results[0], ())


# Reductions


def combine(lw: Lowering, kind: str, a: Words, b: Words, type_: Type, flags: frozenset[str] = frozenset()) -> Words:
    """One combining step of a reduction kind (``addf`` …)."""
    if kind.endswith("f"):
        assert isinstance(type_, FloatType)
        return float_element(lw, kind, type_.name, flags, (a, b))
    from loom.target.amdgpu.lowering.scalars import _integer_element

    return _integer_element(lw, kind, element_bits(type_), (a, b))


def _tree(lw: Lowering, kind: str, parts: list[Words], type_: Type, flags: frozenset[str]) -> Words:
    while len(parts) > 1:
        parts = [
            combine(lw, kind, parts[k], parts[k + 1], type_, flags) if k + 1 < len(parts) else parts[k]
            for k in range(0, len(parts), 2)
        ]
    return parts[0]


def reduce_lanes(lw: Lowering, kind: str, lanes: list[Words], init: Words, type_: Type, flags: frozenset[str]) -> Words:
    """All lanes into init: in lane order, or as a tree where the order does not matter."""
    free = not kind.endswith("f") or "reassoc" in flags or kind.startswith(("min", "max"))
    if free and len(lanes) > 2:
        return combine(lw, kind, init, _tree(lw, kind, list(lanes), type_, flags), type_, flags)
    total = init
    for lane in lanes:
        total = combine(lw, kind, total, lane, type_, flags)
    return total


def _reduce(lw: Lowering, op: Operation) -> None:
    vector, init = op.operands
    result = op.results[0]
    kind, flags = str(op.attributes["kind"]), fast_math(op)
    element = result.type
    if is_truth(element):
        _reduce_truths(lw, op, kind)
        return
    zero = _neutral_init(lw, kind, init, flags)
    lanes = lw.elements(vector)
    if zero and lanes:
        lw.set(result, reduce_lanes(lw, kind, lanes[1:], lanes[0], element, flags))
        return
    lw.set(result, reduce_lanes(lw, kind, lanes, lw.words(init), element, flags))


def _neutral_init(lw: Lowering, kind: str, init: Value, flags: frozenset[str]) -> bool:
    words = lw.words(init)
    if not all(isinstance(w, int) for w in words):
        return False
    if kind in ("addi", "ori", "xori", "maxui"):
        return all(w == 0 for w in words)
    return kind == "addf" and "nsz" in flags and all(w == 0 for w in words)


def _reduce_truths(lw: Lowering, op: Operation, kind: str) -> None:
    table = {"andi": "and", "muli": "and", "ori": "or", "xori": "xor", "addi": "xor", "minui": "and", "maxui": "or",
             "minsi": "or", "maxsi": "and"}  # fmt: skip
    total = lw.truth(op.operands[1])
    for lane in lw.lanes_of_truth(op.operands[0]):
        total = lw.t.binary(table[kind], total, lane)
    lw.set(op.results[0], total)


def _reduce_axes(lw: Lowering, op: Operation) -> None:
    vector, init = op.operands
    result = op.results[0]
    kind, flags = str(op.attributes["kind"]), fast_math(op)
    axes = {int(a) for a in op.attributes["axes"]}  # type: ignore[union-attr, arg-type]
    extents = shape(vector.type)
    kept = [a for a in range(len(extents)) if a not in axes]
    strides = _strides(extents)
    lanes, inits = lw.elements(vector), lw.elements(init)
    out = []
    for number, index in enumerate(product(*(range(extents[a]) for a in kept))):
        base = sum(i * strides[a] for i, a in zip(index, kept, strict=True))
        members = [
            lanes[base + sum(i * strides[a] for i, a in zip(inner, sorted(axes), strict=True))]
            for inner in product(*(range(extents[a]) for a in sorted(axes)))
        ]
        out.append(reduce_lanes(lw, kind, members, inits[number], element_of(result.type), flags))
    lw.set_elements(result, out)


# Dot products


def _dotf(lw: Lowering, op: Operation) -> None:
    a, b, init = op.operands
    element = element_of(op.results[0].type)
    assert isinstance(element, FloatType)
    source = element_of(a.type)
    assert isinstance(source, FloatType)
    f = floats(lw)
    flags = fast_math(op)
    total = lw.words(init)
    left, right = lw.elements(a), lw.elements(b)
    for x, y in zip(left, right, strict=True):
        p, q = f.convert(x, source.name, element.name), f.convert(y, source.name, element.name)
        total = float_element(lw, "fmaf", element.name, flags, (p, q, total))
    lw.set(op.results[0], total)


def _dot2f(lw: Lowering, op: Operation) -> None:
    a, b, acc = op.operands
    source = element_of(a.type)
    assert isinstance(source, FloatType)
    f = floats(lw)
    out: list[Words] = []
    left, right = lw.elements(a), lw.elements(b)
    for k, total in enumerate(lw.elements(acc)):
        for lane in (2 * k, 2 * k + 1):
            p, q = f.to_f32(left[lane], source.name), f.to_f32(right[lane], source.name)
            if source.name == "f16" and lw.e.has("v_fma_mix_f32"):
                total = (_mix(lw, lw.words(a)[k], lw.words(b)[k], total[0], lane & 1),)
            else:
                total = f.op("fma", "f32", p, q, total)
        out.append(total)
    lw.set_elements(op.results[0], out)


def _mix(lw: Lowering, a: Operand, b: Operand, c: Operand, high: int) -> Operand:
    """fma of two halves (low or high) and a single, in single precision."""
    select = 3 if high else 0
    return lw.e.op(
        "v_fma_mix_f32", lw.e.to_vector(a), lw.e.to_vector(b), lw.e.to_vector(c), op_sel=select or None, op_sel_hi=3
    )[0]


_SIGNS = {"s8s8": 3, "s8u8": 1, "u8s8": 2, "u8u8": 0, "s4s4": 3, "s4u4": 1, "u4s4": 2, "u4u4": 0}
"""``neg_lo`` of the mixed-sign dot instructions: bit i says that source i is signed."""


def _dot4i(lw: Lowering, op: Operation) -> None:
    _packed_dot(lw, op, "v_dot4_i32_iu8", "v_dot4_u32_u8")


def _dot8i4(lw: Lowering, op: Operation) -> None:
    _packed_dot(lw, op, "v_dot8_i32_iu4", "v_dot8_u32_u4")


def _packed_dot(lw: Lowering, op: Operation, mixed: str, unsigned: str) -> None:
    a, b, acc = (lw.words(v) for v in op.operands)
    signs = str(op.attributes["signs"])
    out = []
    for x, y, z in zip(a, b, acc, strict=True):
        operands = (lw.e.to_vector(x), lw.e.to_vector(y), lw.e.to_vector(z) if z != 0 else 0)
        if _SIGNS[signs] == 0:
            out.append(lw.e.op(unsigned, *operands)[0])
        else:
            out.append(lw.e.op(mixed, *operands, neg_lo=_SIGNS[signs])[0])
    lw.set(op.results[0], tuple(out))


def _dot4f8(lw: Lowering, op: Operation) -> None:
    from loom.target.amdgpu.lowering.small_floats import f8_to_f32

    signs = str(op.attributes["signs"])
    names = {"fp8": "f8E4M3", "bf8": "f8E5M2"}
    first, second = names[signs[:3]], names[signs[3:]]
    a, b, acc = (lw.words(v) for v in op.operands)
    f = floats(lw)
    out = []
    for x, y, z in zip(a, b, acc, strict=True):
        total: Words = (z,)
        for k in range(4):
            p = f8_to_f32(lw, lw.i.bit_field(x, 8 * k, 8), first)
            q = f8_to_f32(lw, lw.i.bit_field(y, 8 * k, 8), second)
            total = f.op("fma", "f32", (p,), (q,), total)
        out.append(total[0])
    lw.set(op.results[0], tuple(out))


# Bits


def _bitpack(lw: Lowering, op: Operation) -> None:
    width = int(op.attributes["width"])  # type: ignore[arg-type]
    result = op.results[0]
    total_bits = element_bits(result.type) * lane_count(result.type)
    words: list[Operand] = [0] * max(1, -(-total_bits // 32))
    for k, element in enumerate(lw.elements(op.operands[0])):
        field = lw.i.zero_extend(element[0], width) if width < 32 else element[0]
        place = k * width
        word, offset = place // 32, place % 32
        words[word] = lw.i.or_(words[word], lw.i.shl(field, offset))
        if offset + width > 32:
            words[word + 1] = lw.i.or_(words[word + 1], lw.i.shr(field, 32 - offset))
    lw.set(result, tuple(words))


def _bitunpack(lw: Lowering, op: Operation) -> None:
    width = int(op.attributes["width"])  # type: ignore[arg-type]
    signed = op.name.endswith("bitunpacks")
    result = op.results[0]
    bits = element_bits(result.type)
    words = lw.words(op.operands[0])
    out: list[Words] = []
    for k in range(lane_count(result.type)):
        place = k * width
        word, offset = place // 32, place % 32
        if offset + width <= 32:
            field = lw.i.bit_field(words[word], offset, width, signed)
        else:
            field = lw.i.or_(lw.i.shr(words[word], offset), lw.i.shl(words[word + 1], 32 - offset))
            field = lw.i.bit_field(field, 0, width, signed)
        out.append((field, lw.i.sign_word(field) if signed else 0) if bits == 64 else (field,))
    lw.set_elements(result, out)


def _field_extract(lw: Lowering, op: Operation) -> None:
    offset, width = int(op.attributes["offset"]), int(op.attributes["width"])  # type: ignore[arg-type]
    signed = op.name.endswith("extracts")
    bits = element_bits(op.results[0].type)
    source_bits = element_bits(op.operands[0].type)
    out: list[Words] = []
    for element in lw.elements(op.operands[0]):
        if source_bits == 64:
            up = lw.i.shift64("shl", (element[0], element[1]), 64 - offset - width)
            pair = lw.i.shift64("sar" if signed else "shr", up, 64 - width)
            out.append(pair if bits == 64 else (pair[0],))
        else:
            field = lw.i.bit_field(element[0], offset, width, signed)
            out.append((field, lw.i.sign_word(field) if signed else 0) if bits == 64 else (field,))
    lw.set_elements(op.results[0], out)


def _field_insert(lw: Lowering, op: Operation) -> None:
    offset, width = int(op.attributes["offset"]), int(op.attributes["width"])  # type: ignore[arg-type]
    field, base = op.operands
    bits = element_bits(base.type)
    mask = ((1 << width) - 1) << offset
    out: list[Words] = []
    for value, old in zip(lw.elements(field), lw.elements(base), strict=True):
        if bits == 64:
            pair = (value[0], value[1] if len(value) > 1 else 0)
            moved = lw.i.shift64("shl", pair, offset)
            out.append(
                (
                    lw.i.merge_bits(mask & 0xFFFFFFFF, moved[0], old[0]),
                    lw.i.merge_bits(mask >> 32, moved[1], old[1]),
                )
            )
        else:
            out.append((lw.i.merge_bits(mask & 0xFFFFFFFF, lw.i.shl(value[0], offset), old[0]),))
    lw.set_elements(op.results[0], out)


def _table_lookup(lw: Lowering, op: Operation) -> None:
    table, lanes = op.operands
    result = op.results[0]
    entries = [[lane] for lane in lanes_of(lw, table)]
    out: list[Lowered] = []
    for index in lw.index_lanes(lanes):
        word = index.words[0]
        if isinstance(word, int):
            out += entries[min(word, len(entries) - 1)]
        else:
            out += _pick(lw, entries, word)
    set_lanes(lw, result, out)


def _table_quantize(lw: Lowering, op: Operation) -> None:
    vector, thresholds = op.operands
    result = op.results[0]
    element = element_of(vector.type)
    assert isinstance(element, FloatType)
    f = floats(lw)
    lower = str(op.attributes["tie"]) == "lower"
    nan_max = str(op.attributes["nan"]) == "max"
    limits = [f.to_f32(t, element.name) if element.name not in ("f32", "f64") else t for t in lw.elements(thresholds)]
    kind = element.name if element.name in ("f32", "f64") else "f32"
    out: list[Words] = []
    for value in lw.elements(vector):
        x = value if kind == element.name else f.to_f32(value, element.name)
        count: Operand = 0
        for limit in limits:
            # A tie stays in the lower bin or goes to the upper one; NaN passes all or none.
            name = {(True, False): "ogt", (False, False): "oge", (True, True): "ugt", (False, True): "uge"}[
                lower, nan_max
            ]
            passed = lw.t.compare_float(name, f.operand(x), f.operand(limit), kind)
            count = lw.i.add(count, lw.t.as_word(passed))
        out.append((count, 0) if element_bits(result.type) == 64 else (count,))
    lw.set_elements(result, out)


def _transform(lw: Lowering, op: Operation) -> None:
    """``#transform.hadamard``: the Walsh-Hadamard butterfly of the last axis, unscaled unless
    ``normalization=orthonormal`` is given."""
    schema = lw.encoding(op.operands[1]).attribute
    if schema is None or "hadamard" not in schema.family:
        raise lw.reject(op, "only #transform.hadamard is supported", 13, "use encoding.define #transform.hadamard")
    element = element_of(op.results[0].type)
    assert isinstance(element, FloatType)
    values = lw.elements(op.operands[0])
    extent = getattr(op.results[0].type, "dims", (len(values),))[-1]
    count = extent if isinstance(extent, int) else len(values)
    if count & (count - 1):
        raise lw.reject(op, f"a Hadamard transform of {count} lanes", 13, "use a power of two")
    width = 1
    while width < count:
        following = list(values)
        for first in range(0, len(values), 2 * width):
            for k in range(first, first + width):
                a, b = values[k], values[k + width]
                following[k] = float_element(lw, "addf", element.name, frozenset(), (a, b))
                following[k + width] = float_element(lw, "subf", element.name, frozenset(), (a, b))
        values = following
        width *= 2
    if str(schema.parameter("normalization")) == "orthonormal":
        scale = float_words(count**-0.5, element.name)
        values = [float_element(lw, "mulf", element.name, frozenset(), (v, scale)) for v in values]
    lw.set_elements(op.results[0], values)


HANDLERS: dict[str, Handler] = {
    "vector.splat": _splat,
    "vector.iota": _iota,
    "vector.from_elements": _from_elements,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.slice": _slice,
    "vector.concat": _concat,
    "vector.shuffle": _shuffle,
    "vector.transpose": _transpose,
    "vector.interleave": _interleave,
    "vector.deinterleave": _deinterleave,
    "vector.broadcast": _broadcast,
    "vector.mask.range": _mask_range,
    "vector.empty": _empty,
    "vector.reduce": _reduce,
    "vector.reduce.axes": _reduce_axes,
    "vector.dotf": _dotf,
    "vector.dot2f": _dot2f,
    "vector.dot4i": _dot4i,
    "vector.dot8i4": _dot8i4,
    "vector.dot4f8": _dot4f8,
    "vector.bitpack": _bitpack,
    "vector.bitunpacku": _bitunpack,
    "vector.bitunpacks": _bitunpack,
    "vector.bitfield.extractu": _field_extract,
    "vector.bitfield.extracts": _field_extract,
    "vector.bitfield.insert": _field_insert,
    "vector.table.lookup": _table_lookup,
    "vector.table.quantize": _table_quantize,
    "vector.transform": _transform,
}
