"""Matrix fragments and WMMA (gfx11): 16x16 tiles whose elements lie across a wave.

Layouts (RDNA 3 ISA document, "WMMA"): an operand fragment holds, in lane l, row (lhs) or column (rhs) l mod 16 with
all its 16 elements along k; the other half-waves repeat it. A 32-bit accumulator holds in lane l, register r, row r
* (wave / 16) + l / 16 of column l mod 16; a 16-bit accumulator the same in the low half of each register.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loom.ir import EncodingAttribute, FloatType, IntegerType, Operation, Type, Value, VectorType
from loom.target.amdgpu.lowering.addressing import Shift, WordLeaf, view_address
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import Operand
from loom.target.amdgpu.lowering.floats import floats
from loom.target.amdgpu.lowering.ids import lane_id
from loom.target.amdgpu.lowering.memory import load_words, store_words
from loom.target.amdgpu.lowering.values import IndexValue, Words, element_bits, element_of, lane_count

TILE = 16

# (operand format, accumulator format) → instruction.
WMMA: dict[tuple[str, str], str] = {
    ("f16", "f32"): "v_wmma_f32_16x16x16_f16",
    ("bf16", "f32"): "v_wmma_f32_16x16x16_bf16",
    ("f16", "f16"): "v_wmma_f16_16x16x16_f16",
    ("bf16", "bf16"): "v_wmma_bf16_16x16x16_bf16",
    ("i8", "i32"): "v_wmma_i32_16x16x16_iu8",
    ("i4", "i32"): "v_wmma_i32_16x16x16_iu4",
}


@dataclass(frozen=True, slots=True)
class Role:
    """What a fragment is: its place in the product and, for packed integers, the element format (``i8 u8 i4 u4``)."""

    role: str
    element: str | None = None


def _schema_element(lw: Lowering, op: Operation) -> str | None:
    keys = op.attributes.get("auxiliary_keys")
    if not isinstance(keys, tuple):
        return None
    for key, value in zip(keys, op.operand_group("auxiliary"), strict=True):
        if str(key) == "schema":
            attribute = lw.encoding(value).attribute
            if isinstance(attribute, EncodingAttribute):
                found = attribute.parameter("element_format")
                return str(found) if found is not None else None
    return None


def _shape(lw: Lowering, op: Operation) -> tuple[int, int]:
    rows = lw.constant_index(op, op.operand("rows"), "the shape")
    columns = lw.constant_index(op, op.operand("columns"), "the shape")
    if (rows, columns) != (TILE, TILE):
        raise lw.reject(
            op,
            f"a fragment of {rows}x{columns} elements; {lw.target.selector} multiplies 16x16 tiles",
            30,
            "use 16x16 tiles",
        )
    return rows, columns


def _fragment(lw: Lowering, op: Operation) -> None:
    _shape(lw, op)
    source, result = op.operand("vector"), op.results[0]
    lw.set(result, lw.get(source))
    lw.fragment_info[result] = Role(str(op.attributes["role"]), _schema_element(lw, op))


def _leaf(lw: Lowering, name: str, word: Operand, limit: int, multiple: int = 1) -> WordLeaf:
    """A lane's coordinate as an address term, the same object each time."""
    found = lw.leaves.get((name, word))
    if found is None:
        found = lw.leaves[name, word] = WordLeaf(IndexValue((word,)), (0, limit), multiple)
    assert isinstance(found, WordLeaf)
    return found


def _row_in_tile(lw: Lowering) -> WordLeaf:
    return _leaf(lw, "tile", lw.i.and_(lane_id(lw), TILE - 1), TILE - 1)


def _half(lw: Lowering) -> WordLeaf:
    word = lw.i.shr(lane_id(lw), 4)
    return _leaf(lw, "half", word, lw.wave // 16 - 1)


def _element_name(type_: Type) -> str:
    return type_.name if isinstance(type_, FloatType) else f"i{element_bits(type_)}"


def _payload_count(lw: Lowering, op: Operation, type_: Type, element: str | None) -> tuple[int, int]:
    """Elements a lane holds along k, and their width."""
    assert isinstance(type_, VectorType)
    bits = element_bits(type_)
    if isinstance(type_.element, IntegerType):
        width = int(element[1:]) if element is not None else 32 * lane_count(type_) // TILE
        return TILE, width
    if lane_count(type_) != TILE:
        raise lw.reject(
            op,
            f"an operand fragment of {lane_count(type_)} elements a lane; {lw.target.selector} holds {TILE}",
            31,
            f"use vector<{TILE}x{_element_name(type_.element)}>",
        )
    return TILE, bits


def _load(lw: Lowering, op: Operation) -> None:
    role = str(op.attributes["role"])
    result = op.results[0]
    type_ = result.type
    element = _schema_element(lw, op)
    _shape(lw, op)
    view = lw.view(op.operand("view"))
    indices = op.index_list("indices")
    outer: list[Shift] = [0] * (len(indices) - 2)
    lw.fragment_info[result] = Role(role, element)
    if role in ("lhs", "rhs"):
        count, bits = _payload_count(lw, op, type_, element)
        view_bits = element_bits(view.element)
        if bits != view_bits and not (bits == 4 and view_bits in (8, 32)):
            raise lw.reject(
                op,
                f"a fragment of {bits}-bit elements from a view of {view_bits}-bit elements",
                32,
                "view the buffer with the fragment's elements",
            )
        lane = _row_in_tile(lw)
        along = view.strides[-1] if role == "lhs" else view.strides[-2]
        if along == 1:
            shifts: list[Shift] = [*outer, lane, 0] if role == "lhs" else [*outer, 0, lane]
            address = view_address(lw, op, view, indices, shifts)
            words = load_words(lw, op, address, count * bits // 8)
            lw.set(result, words)
            return
        pieces: list[Words] = []
        for k in range(count):
            shifts = [*outer, lane, k] if role == "lhs" else [*outer, k, lane]
            pieces.append(load_words(lw, op, view_address(lw, op, view, indices, shifts), max(1, bits // 8)))
        lw.set(result, lw.pack(pieces, bits))
        return
    packed = element_bits(type_) == 16
    out: list[Words] = []
    rows = lane_count(type_) // 2 if packed else lane_count(type_)
    for r in range(rows):
        place = (r * (lw.wave // 16), _half(lw))
        address = view_address(lw, op, view, indices, [*outer, place, _row_in_tile(lw)])
        words = load_words(lw, op, address, max(1, element_bits(view.element) // 8))
        out.append(_convert(lw, words, view.element, element_of(type_)))
    lw.set(result, tuple(w for words in out for w in words))


def _convert(lw: Lowering, words: Words, source: Type, target: Type) -> Words:
    if isinstance(source, FloatType) and isinstance(target, FloatType):
        return floats(lw).convert(words, source.name, target.name)
    return words


def _store(lw: Lowering, op: Operation) -> None:
    value = op.operand("value")
    _shape(lw, op)
    view = lw.view(op.operand("view"))
    indices = op.index_list("indices")
    outer: list[Shift] = [0] * (len(indices) - 2)
    role = str(op.attributes["role"])
    element = element_of(value.type)
    size = max(1, element_bits(view.element) // 8)
    if role in ("lhs", "rhs"):
        lane = _row_in_tile(lw)
        for k, words in enumerate(lw.elements(value)):
            shifts = [*outer, lane, k] if role == "lhs" else [*outer, k, lane]
            store_words(
                lw, op, view_address(lw, op, view, indices, shifts), _convert(lw, words, element, view.element), size
            )
        return
    words_of = lw.words(value)
    column = _row_in_tile(lw)
    half = _half(lw)
    step = lw.wave // 16
    for r, word in enumerate(words_of):
        # Row r * step + half: the constant part goes into the immediate offset where the stride is known.
        address = view_address(lw, op, view, indices, [*outer, (r * step, half), column])
        store_words(lw, op, address, _convert(lw, (word,), element, view.element), size)


def _mma(lw: Lowering, op: Operation) -> None:
    lhs, rhs, init = op.operand("lhs"), op.operand("rhs"), op.operand("init")
    result = op.results[0]
    left, right = _operand_format(lw, lhs), _operand_format(lw, rhs)
    accumulator = _element_name(element_of(init.type))
    family = {"u8": "i8", "u4": "i4"}
    key = (family.get(left, left), accumulator)
    mnemonic = WMMA.get(key)
    if mnemonic is None or not lw.e.has(mnemonic) or family.get(right, right) != key[0]:
        raise lw.reject(
            op,
            f"{lw.target.selector} has no 16x16x16 product of {left} and {right} into {accumulator}",
            33,
            "available: " + ", ".join(f"{a} into {b}" for a, b in WMMA),
        )
    expected = (8 if lw.wave == 32 else 4) * (2 if accumulator in ("f16", "bf16") else 1)
    if lane_count(init.type) != expected:
        raise lw.reject(
            op,
            f"an accumulator of {lane_count(init.type)} elements a lane in a subgroup of {lw.wave}",
            34,
            f"use vector<{expected}x{accumulator}>",
        )
    lw.note(mnemonic)
    e = lw.e
    a, b = e.join(list(lw.words(lhs)), vector=True), e.join(list(lw.words(rhs)), vector=True)
    start = lw.words(init)
    c: Operand = 0 if all(isinstance(w, int) and w == 0 for w in start) else e.join(list(start), vector=True)
    modifiers: dict[str, Any] = {}
    if key[0] in ("i8", "i4"):
        signs = (left[0] == "i") | (right[0] == "i") << 1
        if signs:
            modifiers["neg_lo"] = signs
        if op.attributes.get("saturate"):
            modifiers["clamp"] = 1
    made = e.op(mnemonic, a, b, c, units=len(start), **modifiers)[0]
    lw.set(result, tuple(e.parts(made)))
    lw.fragment_info[result] = Role("result")


def _operand_format(lw: Lowering, value: Value) -> str:
    info = lw.fragment_info.get(value)
    element = element_of(value.type)
    if isinstance(info, Role) and info.element is not None:
        return info.element
    if isinstance(element, FloatType):
        return element.name
    return "i8" if lane_count(value.type) * element_bits(value.type) == 128 else "i4"


def _repack(lw: Lowering, op: Operation) -> None:
    """A result fragment as an operand fragment: every lane collects its row (lhs) or column (rhs) from the lanes that
    hold it.
    """
    from loom.target.amdgpu.lowering.subgroup import fetch

    role = str(op.attributes["role"])
    source, result = op.operand("vector"), op.results[0]
    element, target = element_of(source.type), element_of(result.type)
    words = lw.words(source)
    step = lw.wave // 16
    i = lw.i
    own = i.and_(lane_id(lw), TILE - 1)
    pieces: list[Words] = []
    for k in range(TILE):
        if role == "rhs":
            # Element (k, n = own): register k / step, lane half k mod step.
            lane = i.add(own, 16 * (k % step))
            word = fetch(lw, words[k // step], lane)
        else:
            # Element (m = own, k): register m / step, half m mod step, column k; the register differs between lanes.
            lane = i.add(i.shl(i.and_(own, step - 1), 4), k)
            number = i.shr(own, step.bit_length() - 1)
            candidates = [fetch(lw, w, lane) for w in words]
            word = candidates[0]
            for r in range(1, len(candidates)):
                word = lw.t.select_word(lw.t.compare32("eq", number, r, signed=False), candidates[r], word)
        pieces.append(_convert(lw, (word,), element, target))
    lw.set(result, lw.pack(pieces, element_bits(target)))
    lw.fragment_info[result] = Role(role)


HANDLERS: dict[str, Handler] = {
    "vector.fragment": _fragment,
    "vector.fragment.load": _load,
    "vector.fragment.store": _store,
    "vector.fragment.repack": _repack,
    "vector.mma": _mma,
}
