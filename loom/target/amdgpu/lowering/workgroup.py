"""What the waves of a workgroup do together: barriers, reductions, scans and votes through workgroup memory, dynamic
storage.
"""

from __future__ import annotations

from loom.ir import I32, Operation, Type, Value
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import Operand
from loom.target.amdgpu.lowering.ids import at_entry, lane_id, subgroup_id
from loom.target.amdgpu.lowering.subgroup import (
    active_truth_mask,
    extend,
    identity_words,
    read_lane,
    reduce_words,
    scan_words,
    small_truths,
    with_all_lanes,
)
from loom.target.amdgpu.lowering.values import BufferValue, Root, Words, element_of
from loom.target.amdgpu.lowering.vectors import combine
from loom.transform.early_exit import is_guarded

UNPLACED = 0x5A5A5A
"""Stands for the start of the dynamic tail until all workgroup memory has been placed; any literal will do."""


def waves(lw: Lowering) -> int:
    """Number of waves in a workgroup."""
    x, y, z = lw.size
    return -(-x * y * z // lw.wave)


def barrier(lw: Lowering, memory: str) -> None:
    """All waves of the workgroup meet; earlier accesses to ``memory`` are finished first."""
    lw.e.fresh("s_barrier", memory=memory)


def _barrier(lw: Lowering, op: Operation) -> None:
    space = str(op.attributes["memory_space"])
    if str(op.attributes.get("scope", "workgroup")) == "subgroup" or (space == "workgroup" and waves(lw) == 1):
        # One wave runs in step: its accesses to workgroup memory finish in order.
        lw.e.create("low.schedule.fence", [], [])
        if space == "workgroup":
            return
    if space == "global":
        barrier(lw, "all")
        # Other waves' stores may sit in another cache of the workgroup processor.
        lw.e.fresh("buffer_gl0_inv")
        return
    barrier(lw, "workgroup")


# Reductions: every wave leaves its part in workgroup memory, all waves read all parts.


def _frame(lw: Lowering, words: int) -> int:
    offset = -(-lw.lds_bytes // 16) * 16
    lw.lds_bytes = offset + 4 * words * _slots(lw)
    return offset


def _slots(lw: Lowering) -> int:
    return 1 << (waves(lw) - 1).bit_length()


def _in_loop(lw: Lowering) -> bool:
    return any(scope.loop for scope in lw.e.scopes)


def _publish(lw: Lowering, words: Words, offset: int) -> None:
    """Store this wave's words at its place."""
    lw.note("the waves meet in workgroup memory")
    e, i = lw.e, lw.i
    if _in_loop(lw):
        # The previous round's readers must be done.
        barrier(lw, "workgroup")
    place = e.to_vector(i.shl(subgroup_id(lw), (2 * len(words)).bit_length()))
    data = e.join([e.to_vector(w) for w in words], vector=True)
    e.fresh(
        "ds_store_b32" if len(words) == 1 else "ds_store_b64",
        place,
        data,
        offset=offset or None,
        alias=f"collective{offset}",
    )
    barrier(lw, "workgroup")


def _collect(lw: Lowering, count: int, offset: int) -> Words:
    """Lane k gets the words of wave k modulo the number of slots."""
    e, i = lw.e, lw.i
    index = i.and_(lane_id(lw), _slots(lw) - 1)
    place = e.to_vector(i.shl(index, (2 * count).bit_length()))
    made = e.fresh(
        "ds_load_b32" if count == 1 else "ds_load_b64",
        place,
        units=count,
        offset=offset or None,
        alias=f"collective{offset}",
    )[0]
    return tuple(e.parts(made))


def _parts(lw: Lowering, count: int, offset: int, identity: Words) -> Words:
    """The words of every wave across the lanes, the identity in slots that no wave has."""
    collected = _collect(lw, count, offset)
    slots = _slots(lw)
    if slots == waves(lw):
        return collected
    used = lw.t.compare32("lt", lw.i.and_(lane_id(lw), slots - 1), waves(lw), signed=False)
    return lw.t.select(used, collected, identity)


def reduce_workgroup(lw: Lowering, kind: str, words: Words, element: Type) -> Words:
    """Combine over the whole workgroup; every lane gets the result."""
    size = min(lw.wave, 1 << (lw.size[0] * lw.size[1] * lw.size[2] - 1).bit_length())
    part = reduce_words(lw, kind, words, element, size)
    number = waves(lw)
    if number == 1:
        return part
    offset = _frame(lw, len(part))
    _publish(lw, part, offset)

    def across() -> Words:
        return reduce_words(lw, kind, _parts(lw, len(part), offset, identity_words(kind, element)), element, _slots(lw))

    return with_all_lanes(lw, across)


def _reduce(lw: Lowering, op: Operation) -> None:
    value, result = op.operand("value"), op.results[0]
    kind = str(op.attributes["kind"])
    element = element_of(value.type)
    truths = small_truths(lw, op)
    if truths is not None:
        words = [reduce_workgroup(lw, kind, t, I32) for t in truths]
        lw.set_truths(result, [lw.t.from_bit(lw.i.and_(w[0], 1)) for w in words])
        return
    lw.set_elements(
        result, [reduce_workgroup(lw, kind, extend(lw, w, kind, element), element) for w in lw.elements(value)]
    )


def _scan(lw: Lowering, op: Operation) -> None:
    value, result = op.operand("value"), op.results[0]
    kind = str(op.attributes["kind"])
    reverse = str(op.attributes["direction"]) == "reverse"
    exclusive = str(op.attributes["mode"]) == "exclusive"
    element = element_of(value.type)
    out = []
    for words in lw.elements(value):
        out.append(_scan_element(lw, kind, extend(lw, words, kind, element), element, reverse, exclusive))
    lw.set_elements(result, out)


def _scan_element(lw: Lowering, kind: str, words: Words, element: Type, reverse: bool, exclusive: bool) -> Words:
    inside = scan_words(lw, kind, words, element, lw.wave, 1, reverse, exclusive)
    number = waves(lw)
    if number == 1:
        return inside
    total = reduce_words(lw, kind, words, element, lw.wave)
    offset = _frame(lw, len(total))
    _publish(lw, total, offset)

    def across() -> Words:
        collected = _parts(lw, len(total), offset, identity_words(kind, element))
        return scan_words(lw, kind, collected, element, _slots(lw), 1, reverse, True)

    before = with_all_lanes(lw, across)
    mine: Words = tuple(read_lane(lw, w, subgroup_id(lw)) for w in before)
    return combine(lw, kind, inside, mine, element) if reverse else combine(lw, kind, mine, inside, element)


# Votes


def _count(lw: Lowering, value: Value) -> Operand:
    """Number of active lanes of this wave that are true, in a scalar register."""
    mask = active_truth_mask(lw, lw.truth(value))
    return lw.e.op("s_bcnt1_i32_b32" if lw.wave == 32 else "s_bcnt1_i32_b64", mask)[0]


def _vote(lw: Lowering, op: Operation) -> None:
    value, result = op.operands[0], op.results[0]
    counted = _count(lw, value)
    if waves(lw) > 1:
        counted = reduce_across_waves(lw, counted)
    if op.name.endswith("count"):
        lw.set(result, (counted,))
    elif op.name.endswith("any"):
        lw.set(result, lw.t.compare32("ne", counted, 0, signed=False))
    else:
        x, y, z = lw.size
        lw.set(result, lw.t.compare32("eq", counted, x * y * z, signed=False))


def reduce_across_waves(lw: Lowering, word: Operand) -> Operand:
    """The sum of one scalar word of every wave."""
    offset = _frame(lw, 1)
    _publish(lw, (word,), offset)

    def across() -> Words:
        return reduce_words(lw, "addi", _parts(lw, 1, offset, (0,)), I32, _slots(lw))

    return lw.e.to_scalar(with_all_lanes(lw, across)[0])


def _storage(lw: Lowering, op: Operation) -> None:
    """The dynamic tail: an ordinary allocation where its size is known, else what follows all allocations."""
    from loom.target.amdgpu.lowering.views import make_frame

    given = op.attributes.get("alignment")
    alignment = int(given) if isinstance(given, int) else 16
    size = lw.ranges.constant(op.operand("size"))
    if size is None:
        size = lw.dynamic_lds
    if size is not None:
        make_frame(lw, op, op.results[0], "workgroup", size, alignment)
        return
    if lw.tail_start is None:
        lw.tail_start = at_entry(lw, lambda: lw.e.fresh("s_mov_b32", UNPLACED)[0]).defining_op  # type: ignore[union-attr]
    assert lw.tail_start is not None
    lw.tail_alignment = max(lw.tail_alignment, alignment)
    written = lw.memory.is_written(op.results[0])
    start = lw.tail_start.results[0]
    lw.set(op.results[0], BufferValue(Root("workgroup", None, 0, alignment, "tail", written, dynamic=start)))


def _exit(lw: Lowering, op: Operation) -> None:
    if is_guarded(op):
        return
    raise lw.reject(op, "an exit that is no branch yet", 24, "run the pass early-exit, as the default pipeline does")


HANDLERS: dict[str, Handler] = {
    "kernel.barrier": _barrier,
    "kernel.workgroup.reduce": _reduce,
    "kernel.workgroup.scan": _scan,
    "kernel.workgroup.vote.any": _vote,
    "kernel.workgroup.vote.all": _vote,
    "kernel.workgroup.vote.count": _vote,
    "kernel.workgroup.storage": _storage,
    "kernel.exit": _exit,
}
