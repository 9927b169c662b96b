"""What the lanes of a wave do together: exchange by DPP, permlane and bpermute, reductions, scans, votes.

``DPP_OPERATIONS`` lists the combining instructions that can fetch one source from another lane themselves. A
collective that may run with lanes switched off (a ragged workgroup, a divergent region) is wrapped: all lanes are
switched on, those that were off contribute the identity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from loom.ir import I32, FloatType, Operation, Type, Value
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import EXEC_WORD, MASK32, Operand, Scope, is_vector
from loom.target.amdgpu.lowering.ids import lane_id
from loom.target.amdgpu.lowering.scalars import float_words
from loom.target.amdgpu.lowering.values import Truth, Words, element_bits, element_of, is_truth
from loom.target.amdgpu.lowering.vectors import combine
from loom.transform.rejection import NoForm

# DPP controls (ISA document, "DPP data routing"): row_shl 0x100+n, row_shr 0x110+n, row_ror 0x120+n, row_xmask
# 0x160+n.
ROW_SHL, ROW_SHR, ROW_XMASK = 0x100, 0x110, 0x160

DPP_OPERATIONS: dict[tuple[str, str], str] = {
    ("addf", "f32"): "v_add_f32",
    ("mulf", "f32"): "v_mul_f32",
    ("minnumf", "f32"): "v_min_f32",
    ("maxnumf", "f32"): "v_max_f32",
    ("addi", "i32"): "v_add_nc_u32",
    ("minsi", "i32"): "v_min_i32",
    ("maxsi", "i32"): "v_max_i32",
    ("minui", "i32"): "v_min_u32",
    ("maxui", "i32"): "v_max_u32",
    ("andi", "i32"): "v_and_b32",
    ("ori", "i32"): "v_or_b32",
    ("xori", "i32"): "v_xor_b32",
}

_IDENTITY_INTEGERS: dict[str, Callable[[int], int]] = {
    "addi": lambda n: 0,
    "muli": lambda n: 1,
    "minsi": lambda n: (1 << (n - 1)) - 1,
    "maxsi": lambda n: 1 << (n - 1),
    "minui": lambda n: (1 << n) - 1,
    "maxui": lambda n: 0,
    "andi": lambda n: (1 << n) - 1,
    "ori": lambda n: 0,
    "xori": lambda n: 0,
}
_IDENTITY_FLOATS = {
    "addf": -0.0, "mulf": 1.0, "minimumf": math.inf, "maximumf": -math.inf, "minnumf": math.inf, "maxnumf": -math.inf,
}  # fmt: skip


def identity_words(kind: str, element: Type) -> Words:
    """The value that changes nothing."""
    if isinstance(element, FloatType):
        return float_words(_IDENTITY_FLOATS[kind], element.name)
    bits = element_bits(element)
    number = _IDENTITY_INTEGERS[kind](bits)
    return (number & MASK32, number >> 32) if bits == 64 else (number,)


def dpp(lw: Lowering, word: Operand, control: int, old: Operand | None = None) -> Value:
    """A word of another lane of the row; ``old`` is given to lanes without a source, else they get zero."""
    e = lw.e
    source = e.to_vector(word)
    if old is None:
        return e.op("v_mov_b32", source, form="dpp16", dpp_ctrl=control, row_mask=15, bank_mask=15, bound_ctrl=1)[0]
    return e.fresh(
        "v_mov_b32", source, old=(e.to_vector(old),), form="dpp16", dpp_ctrl=control, row_mask=15, bank_mask=15
    )[0]


def exchange(lw: Lowering, word: Operand, distance: int) -> Value:
    """The word of lane ``id ^ distance`` (a power of two, or any number below 16)."""
    e = lw.e
    source = e.to_vector(word)
    if distance < 16:
        lw.note("DPP moves")
        return dpp(lw, source, ROW_XMASK + distance)
    lw.note("permlane across rows")
    if distance == 16:
        return e.op("v_permlanex16_b32", source, 0x76543210, 0xFEDCBA98)[0]
    if distance == 32:
        return e.op("v_permlane64_b32", source)[0]
    raise NoForm(f"an exchange over {distance} lanes", "use kernel.subgroup.shuffle with a distance below 16")


def whole_wave(lw: Lowering, words: Words, identity: Words, build: Callable[[Words], Words]) -> Words:
    """Run a collective with every lane on; lanes that were off contribute ``identity``."""
    e = lw.e
    if all_on(lw):
        return build(words)
    active = e.copy_exec()
    before = [e.to_vector(w) for w in words]

    def filled() -> Words:
        return build(tuple(e.op("v_cndmask_b32", i, w, active)[0] for w, i in zip(before, identity, strict=True)))

    return with_all_lanes(lw, filled)


def all_on(lw: Lowering) -> bool:
    """Whether every lane of the wave is on here."""
    return lw.whole_wave_lane is not None or (lw.full_exec and lw.e.exec is None)


def with_all_lanes(lw: Lowering, build: Callable[[], Words]) -> Words:
    """Run ``build`` with every lane on."""
    e = lw.e
    if all_on(lw):
        return build()
    lw.note("all lanes switched on")
    outer = e.exec
    saved = e.fresh(f"s_or_saveexec_{e.mask_suffix}", MASK32 if e.wave == 32 else (1 << 64) - 1)[0]
    e.exec = object()
    with e.scope(Scope()), e.stay():
        # Ids that the launch fills in are unknown in lanes that were off.
        number = e.fresh("v_mbcnt_lo_u32_b32", MASK32, 0)[0]
        if e.wave == 64:
            number = e.fresh("v_mbcnt_hi_u32_b32", MASK32, number)[0]
        e.zero_extended[number] = (e.wave - 1).bit_length()
        lw.whole_wave_lane = number
        result = build()
        lw.whole_wave_lane = None
    e.restore_exec(saved, outer)
    return result


def kind_name(element: Type) -> str:
    """``f32``, ``i32`` … of an element type."""
    return element.name if isinstance(element, FloatType) else f"i{element_bits(element)}"


def _combine_with(lw: Lowering, kind: str, words: Words, distance: int, element: Type) -> Words:
    mnemonic = DPP_OPERATIONS.get((kind, kind_name(element)))
    if mnemonic is not None and distance < 16:
        lw.note("DPP operands")
        source = lw.e.to_vector(words[0])
        return (
            lw.e.op(
                mnemonic,
                source,
                source,
                form="dpp16",
                dpp_ctrl=ROW_XMASK + distance,
                row_mask=15,
                bank_mask=15,
                bound_ctrl=1,
            )[0],
        )
    other = tuple(exchange(lw, w, distance) for w in words)
    return combine(lw, kind, words, other, element)


def reduce_words(lw: Lowering, kind: str, words: Words, element: Type, size: int, stride: int = 1) -> Words:
    """Butterfly over clusters of ``size`` lanes, ``stride`` apart."""

    def build(value: Words) -> Words:
        distance = stride
        while distance < size * stride:
            value = _combine_with(lw, kind, value, distance, element)
            distance *= 2
        return value

    return whole_wave(lw, words, identity_words(kind, element), build)


def _cluster(lw: Lowering, op: Operation) -> tuple[int, int]:
    size = op.attributes.get("cluster_size")
    stride = op.attributes.get("cluster_stride")
    s = int(size) if isinstance(size, int) else lw.wave
    d = int(stride) if isinstance(stride, int) else 1
    if s & (s - 1) or d & (d - 1) or s * d > lw.wave:
        raise lw.reject(
            op,
            f"a cluster of {s} lanes, {d} apart, in a subgroup of {lw.wave}",
            20,
            "sizes and strides are powers of two whose product is at most the subgroup size",
        )
    return s, d


def small_truths(lw: Lowering, op: Operation) -> list[Words] | None:
    """The lanes of an ``i1`` collective as words, None for data."""
    value = op.operand("value")
    if not is_truth(element_of(value.type)):
        return None
    return [(lw.t.as_word(t),) for t in lw.lanes_of_truth(value)]


def _reduce(lw: Lowering, op: Operation) -> None:
    size, stride = _cluster(lw, op)
    value, result = op.operand("value"), op.results[0]
    kind = str(op.attributes["kind"])
    element = element_of(value.type)
    truths = small_truths(lw, op)
    if truths is not None:
        words = [reduce_words(lw, _truth_kind(kind), t, I32, size, stride) for t in truths]
        lw.set_truths(result, [lw.t.from_bit(lw.i.and_(w[0], 1)) for w in words])
        return
    lanes = [reduce_words(lw, kind, extend(lw, w, kind, element), element, size, stride) for w in lw.elements(value)]
    lw.set_elements(result, lanes)


def _truth_kind(kind: str) -> str:
    return {"addi": "xori", "muli": "andi", "minui": "andi", "maxui": "ori", "minsi": "ori", "maxsi": "andi"}.get(
        kind, kind
    )


def extend(lw: Lowering, words: Words, kind: str, element: Type) -> Words:
    """A small integer as the combining step of its kind wants it."""
    bits = element_bits(element)
    if isinstance(element, FloatType) or bits >= 32 or kind not in ("minsi", "maxsi", "minui", "maxui"):
        return words
    signed = kind.endswith("si")
    return (lw.i.sign_extend(words[0], bits) if signed else lw.i.zero_extend(words[0], bits),)


# Scans


def scan_words(
    lw: Lowering, kind: str, words: Words, element: Type, size: int, stride: int, reverse: bool, exclusive: bool
) -> Words:
    """Running combination over clusters."""
    identity = identity_words(kind, element)

    def build(value: Words) -> Words:
        lane = lane_id(lw)
        position = lw.i.and_(lw.i.shr(lane, stride.bit_length() - 1), size - 1)
        distance = 1
        current = value
        while distance < size:
            other = shifted(lw, current, distance * stride, reverse)
            inside = _inside(lw, position, distance, size, reverse)
            other = lw.t.select(inside, other, identity)
            current = (
                combine(lw, kind, current, other, element) if reverse else combine(lw, kind, other, current, element)
            )
            distance *= 2
        if exclusive:
            moved = shifted(lw, current, stride, reverse)
            current = lw.t.select(_inside(lw, position, 1, size, reverse), moved, identity)
        return current

    return whole_wave(lw, words, identity, build)


def _inside(lw: Lowering, position: Operand, distance: int, size: int, reverse: bool) -> Truth:
    if reverse:
        return lw.t.compare32("lt", position, size - distance, signed=False)
    return lw.t.compare32("ge", position, distance, signed=False)


def shifted(lw: Lowering, words: Words, distance: int, reverse: bool) -> Words:
    """The words of lane ``id - distance`` (``id + distance`` in reverse)."""
    lane = lane_id(lw)
    source = lw.i.add(lane, distance) if reverse else lw.i.sub(lane, distance)
    return tuple(fetch(lw, w, source) for w in words)


def fetch(lw: Lowering, word: Operand, lane: Operand) -> Operand:
    """The word of any lane, by LDS permutation hardware. In wave64 it moves data within halves, so both halves are
    asked.
    """
    lw.note("ds_bpermute")
    e, i = lw.e, lw.i
    data = e.to_vector(word)
    if e.wave == 32:
        return e.fresh("ds_bpermute_b32", e.to_vector(i.shl(lane, 2)), data)[0]
    own = lane_id(lw)
    near = e.fresh("ds_bpermute_b32", e.to_vector(i.shl(lane, 2)), data)[0]
    swapped = e.op("v_permlane64_b32", data)[0]
    place = i.or_(i.and_(lane, 31), i.and_(own, 32))
    far = e.fresh("ds_bpermute_b32", e.to_vector(i.shl(place, 2)), swapped)[0]
    crossing = lw.t.compare32("ne", i.and_(i.xor(lane, own), 32), 0, signed=False)
    return lw.t.select_word(crossing, far, near)


def _scan(lw: Lowering, op: Operation) -> None:
    size, stride = _cluster(lw, op)
    value, result = op.operand("value"), op.results[0]
    kind = str(op.attributes["kind"])
    reverse = str(op.attributes["direction"]) == "reverse"
    exclusive = str(op.attributes["mode"]) == "exclusive"
    element = element_of(value.type)
    truths = small_truths(lw, op)
    if truths is not None:
        words = [scan_words(lw, _truth_kind(kind), t, I32, size, stride, reverse, exclusive) for t in truths]
        lw.set_truths(result, [lw.t.from_bit(lw.i.and_(w[0], 1)) for w in words])
        return
    lanes = [
        scan_words(lw, kind, extend(lw, w, kind, element), element, size, stride, reverse, exclusive)
        for w in lw.elements(value)
    ]
    lw.set_elements(result, lanes)


# Shuffles and broadcasts


def _payload(lw: Lowering, value: Value) -> tuple[list[Operand], bool]:
    """The words to move, and whether they are truths."""
    if is_truth(element_of(value.type)):
        return [lw.t.as_word(t) for t in lw.lanes_of_truth(value)], True
    return list(lw.words(value)), False


def _deliver(lw: Lowering, result: Value, words: Sequence[Operand], truths: bool) -> None:
    if truths:
        lw.set_truths(result, [lw.t.from_bit(w) for w in words])
    else:
        lw.set(result, tuple(words))


def _shuffle(lw: Lowering, op: Operation) -> None:
    mode = str(op.attributes["mode"])
    value, offset, width = op.operands
    words, truths = _payload(lw, value)
    size = lw.ranges.constant(width)
    if size is None or size < 1 or size & (size - 1) or size > lw.wave:
        raise lw.reject(
            op,
            "a shuffle whose width is not a constant power of two up to the subgroup size",
            21,
            "use a constant width",
        )
    known = lw.ranges.constant(offset)
    result, valid = op.results
    i, t = lw.i, lw.t
    if mode == "xor" and known is not None:
        if not 0 <= known < size:
            lw.set(valid, t.constant(False))
            _deliver(lw, result, words, truths)
            return
        lw.set(valid, t.constant(True))
        moved = words
        for bit in _exchange_steps(known):
            moved = [exchange(lw, w, bit) for w in moved]
        _deliver(lw, result, moved, truths)
        return
    off = lw.word(offset)
    if mode == "index" and size == lw.wave and not is_vector(off):
        lw.set(valid, t.compare32("lt", off, size, signed=False))
        _deliver(lw, result, [read_lane(lw, w, off) for w in words], truths)
        return
    lane = lane_id(lw)
    position = i.and_(lane, size - 1)
    base = i.and_(lane, (~(size - 1)) & (lw.wave - 1))
    if mode == "xor":
        source = i.xor(lane, off)
        inside = t.compare32("lt", off, size, signed=False)
    elif mode == "up":
        source = i.sub(lane, off)
        inside = t.compare32("ge", position, off, signed=False)
    elif mode == "down":
        source = i.add(lane, off)
        inside = t.compare32("lt", off, i.sub(size, position), signed=False)
    else:
        source = i.or_(base, off) if base != 0 else off
        inside = t.compare32("lt", off, size, signed=False)
    lw.set(valid, inside)
    row = _row_shift(lw, mode, known, size, words)
    if row is not None:
        _deliver(lw, result, row, truths)
        return
    _deliver(lw, result, [fetch(lw, w, source) for w in words], truths)


def _row_shift(lw: Lowering, mode: str, known: int | None, size: int, words: Sequence[Operand]) -> list[Operand] | None:
    """Shifts by a constant within clusters of a row: one DPP move."""
    if mode not in ("up", "down") or known is None or not 0 < known < 16 or size > 16:
        return None
    control = (ROW_SHR if mode == "up" else ROW_SHL) + known
    return [dpp(lw, w, control) for w in words]


def _exchange_steps(distance: int) -> list[int]:
    steps = [distance & 15] if distance & 15 else []
    return steps + [bit for bit in (16, 32) if distance & bit]


def read_lane(lw: Lowering, word: Operand, lane: Operand) -> Operand:
    """The word of a uniform lane, in a scalar register."""
    if not is_vector(word):
        return word
    return lw.e.fresh("v_readlane_b32", word, lane if isinstance(lane, int) else lw.e.to_scalar(lane))[0]


def _broadcast(lw: Lowering, op: Operation) -> None:
    words, truths = _payload(lw, op.operand("value"))
    lane = lw.word(op.operand("lane"))
    _deliver(lw, op.results[0], [read_lane(lw, w, lane) for w in words], truths)


def _broadcast_first(lw: Lowering, op: Operation) -> None:
    words, truths = _payload(lw, op.operand("value"))
    made = [lw.e.fresh("v_readfirstlane_b32", w)[0] if is_vector(w) else w for w in words]
    _deliver(lw, op.results[0], made, truths)


# Votes and masks


def any_lane(lw: Lowering, truth: Truth) -> Truth:
    """Whether any active lane is true."""
    if truth.is_uniform:
        return truth
    mask = lw.t.clean_mask(truth)
    return Truth(compare=("s_cmp_lg_u32" if lw.wave == 32 else "s_cmp_lg_u64", mask, 0))


def all_lanes(lw: Lowering, truth: Truth) -> Truth:
    """Whether every active lane is true."""
    if truth.is_uniform:
        return truth
    e = lw.e
    missing = e.fresh(f"s_and_not1_{e.mask_suffix}", EXEC_WORD, lw.t.as_mask(truth))[0]
    return Truth(compare=("s_cmp_eq_u32" if lw.wave == 32 else "s_cmp_eq_u64", missing, 0))


def _any(lw: Lowering, op: Operation) -> None:
    lw.set(op.results[0], any_lane(lw, lw.truth(op.operands[0])))


def _all(lw: Lowering, op: Operation) -> None:
    lw.set(op.results[0], all_lanes(lw, lw.truth(op.operands[0])))


def mask_words(lw: Lowering, mask: Value, result: Value) -> Words:
    """A lane mask as an ``i32`` or ``i64``."""
    parts: list[Operand] = list(lw.e.parts(mask))
    wanted = element_bits(result.type) // 32
    return tuple(([*parts, 0, 0])[:wanted])


def active_truth_mask(lw: Lowering, truth: Truth) -> Value:
    """The mask of active lanes that are true."""
    if truth.constant:
        return lw.e.copy_exec()
    return lw.t.clean_mask(truth)


def _ballot(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    if lw.wave == 64 and element_bits(result.type) == 32:
        raise lw.reject(op, "a 32-bit ballot of 64 lanes", 22, "use an i64 mask")
    lw.set(result, mask_words(lw, active_truth_mask(lw, lw.truth(op.operands[0])), result))


def _active_mask(lw: Lowering, op: Operation) -> None:
    lw.set(op.results[0], mask_words(lw, lw.e.copy_exec(), op.results[0]))


def _match(lw: Lowering, op: Operation) -> None:
    from loom.target.amdgpu.lowering.control_flow import branch, branch_if, enter, new_block

    value = op.operand("value")
    words, _ = _payload(lw, value)
    result = op.results[0]
    e, t = lw.e, lw.t
    bits = element_bits(value.type)
    if bits < 32 and not is_truth(value.type):
        words = [lw.i.zero_extend(words[0], bits)]
    vectors = [e.to_vector(w) for w in words]
    count = element_bits(result.type) // 32
    outer = e.exec
    saved = e.copy_exec()
    if len(op.results) > 1:
        # match.all: the active lanes where all agree, no lane otherwise.
        first = [e.fresh("v_readfirstlane_b32", v)[0] for v in vectors]
        alike = all_lanes(lw, _equal(lw, vectors, first))
        lw.set(op.results[1], alike)
        members = mask_words(lw, e.copy_exec(), result)
        lw.set(result, t.select(alike, members, (0,) * len(members)))
        return
    loop, latch, done = new_block(lw, "match"), new_block(lw, "again"), new_block(lw, "exit")
    start = [e.vector_constant(0) for _ in range(count)]
    anchor = branch(lw, loop, start)
    with e.scope(Scope(loop=True, block=e.block, anchor=anchor, exec=outer)), e.stay():
        enter(lw, loop)
        e.exec = object()
        kept = [e.define(loop.add_argument(v.type)) for v in start]
        leader = [e.fresh("v_readfirstlane_b32", v)[0] for v in vectors]
        truth = _equal(lw, vectors, leader)
        mask = t.as_mask(truth)
        parts: list[Operand] = [*e.parts(mask), 0, 0]
        following = [e.fresh("v_cndmask_b32", old, parts[k], mask, old=(old,))[0] for k, old in enumerate(kept)]
        more = e.fresh(f"s_and_not1_{e.mask_suffix}", EXEC_WORD, mask, classes=("amdgpu.exec",))[1]
        branch_if(lw, more, latch, done)
        enter(lw, latch)
        branch(lw, loop, following)
    enter(lw, done)
    e.restore_exec(saved, outer)
    lw.set(result, tuple(following))


def _equal(lw: Lowering, vectors: Sequence[Value], scalars: Sequence[Value]) -> Truth:
    if len(vectors) == 1:
        return lw.t.compare32("eq", vectors[0], scalars[0], signed=False)
    return lw.t.compare64("eq", (vectors[0], vectors[1]), (scalars[0], scalars[1]), signed=False)


HANDLERS: dict[str, Handler] = {
    "kernel.subgroup.reduce": _reduce,
    "kernel.subgroup.scan": _scan,
    "kernel.subgroup.shuffle": _shuffle,
    "kernel.subgroup.broadcast": _broadcast,
    "kernel.subgroup.broadcast.first": _broadcast_first,
    "kernel.subgroup.vote.any": _any,
    "kernel.subgroup.vote.all": _all,
    "kernel.subgroup.vote.ballot": _ballot,
    "kernel.subgroup.active.mask": _active_mask,
    "kernel.subgroup.match.any": _match,
    "kernel.subgroup.match.all": _match,
}
