"""Masked, gathered and scattered accesses: lane by lane, under EXEC where a mask decides."""

from __future__ import annotations

from collections.abc import Callable

from loom.ir import Operation, Value
from loom.target.amdgpu.lowering.addressing import Address, WordLeaf, view_address
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.control_flow import branch, branch_if, enter, merge, narrow, new_block
from loom.target.amdgpu.lowering.emitter import Operand, Scope
from loom.target.amdgpu.lowering.memory import load_words, memory_bits, store_words, vector_runs
from loom.target.amdgpu.lowering.ranges import INDEX_RANGE
from loom.target.amdgpu.lowering.values import IndexValue, Truth, Words, element_bits, is_truth, lane_count


def under(lw: Lowering, truth: Truth, old: Words, build: Callable[[], Words]) -> Words:
    """``build`` in the lanes where ``truth`` holds, ``old`` in the others; a branch skips it when no lane needs it."""
    if truth.constant is not None:
        return build() if truth.constant else old
    e = lw.e
    before = [e.to_vector(w) for w in old]
    outer = e.exec
    if truth.is_uniform:
        work, join = new_block(lw, "active"), new_block(lw, "join")
        skip = new_block(lw, "skip")
        branch_if(lw, lw.t.as_scc(truth), work, skip)
        enter(lw, work)
        with e.scope(Scope()), e.stay():
            made = [e.to_vector(w) for w in build()]
        branch(lw, join, made)
        enter(lw, skip)
        branch(lw, join, before)
        enter(lw, join)
        return tuple(e.define(join.add_argument(v.type)) for v in before)
    saved, any_lane = narrow(lw, lw.t.as_mask(truth))
    work, skip, join = new_block(lw, "active"), new_block(lw, "skip"), new_block(lw, "join")
    branch_if(lw, any_lane, work, skip)
    enter(lw, work)
    with e.scope(Scope()), e.stay():
        made = [merge(lw, e.to_vector(n), o) for n, o in zip(build(), before, strict=True)]
    e.restore_exec(saved, outer)
    branch(lw, join, made)
    enter(lw, skip)
    e.restore_exec(saved, outer)
    branch(lw, join, before)
    enter(lw, join)
    return tuple(e.define(join.add_argument(v.type)) for v in before)


def _element_addresses(lw: Lowering, op: Operation, value: Value) -> list[Address]:
    """The address of every lane of a contiguous vector access."""
    view = lw.view(op.operand("view"))
    indices = op.index_list("indices")
    dims = tuple(int(d) for d in value.type.dims)  # type: ignore[attr-defined]
    outer = len(indices) - len(dims)
    out = []
    for lane in range(lane_count(value.type)):
        position = lane
        shifts = [0] * len(indices)
        for axis in range(len(dims) - 1, -1, -1):
            shifts[outer + axis] = position % dims[axis]
            position //= dims[axis]
        out.append(view_address(lw, op, view, indices, shifts))
    return out


def _load_element(lw: Lowering, op: Operation, address: Address, bits: int) -> Words:
    return load_words(lw, op, address, bits // 8)


def _load_mask(lw: Lowering, op: Operation) -> None:
    result, passed = op.results[0], op.operand("passthrough")
    view = lw.view(op.operand("view"))
    bits = memory_bits(view)
    truths = lw.lanes_of_truth(op.operand("mask"))
    if all(t is truths[0] for t in truths) and not is_truth(view.element):
        runs = vector_runs(lw, op, result)
        if len(runs) == 1:
            address, _, count = runs[0]
            lw.set(
                result, under(lw, truths[0], lw.words(passed), lambda: load_words(lw, op, address, count * bits // 8))
            )
            return
    old = lw.elements(passed)
    out: list[Words] = []
    for address, truth, before in zip(_element_addresses(lw, op, result), truths, old, strict=True):
        out.append(under(lw, truth, before, lambda a=address: _load_element(lw, op, a, bits)))  # type: ignore[misc]
    lw.set_elements(result, out)


def _store_mask(lw: Lowering, op: Operation) -> None:
    value = op.operand("value")
    view = lw.view(op.operand("view"))
    bits = memory_bits(view)
    truths = lw.lanes_of_truth(op.operand("mask"))
    elements = lw.elements(value)
    if all(t is truths[0] for t in truths) and not is_truth(view.element):
        runs = vector_runs(lw, op, value)
        if len(runs) == 1:
            address, _, count = runs[0]

            def whole() -> Words:
                store_words(lw, op, address, lw.words(value), count * bits // 8)
                return ()

            under(lw, truths[0], (), whole)
            return
    for address, truth, words in zip(_element_addresses(lw, op, value), truths, elements, strict=True):

        def single(address: Address = address, words: Words = words) -> Words:
            store_words(lw, op, address, words, bits // 8)
            return ()

        under(lw, truth, (), single)


def _expand_positions(lw: Lowering, truths: tuple[Truth, ...]) -> list[Operand]:
    """For every lane the number of active lanes before it."""
    total: Operand = 0
    out = []
    for truth in truths:
        out.append(total)
        total = lw.i.add(total, lw.t.as_word(truth))
    return out


def _consecutive(lw: Lowering, op: Operation, truths: tuple[Truth, ...]) -> list[Address]:
    view = lw.view(op.operand("view"))
    indices = op.index_list("indices")
    out = []
    for k, position in enumerate(_expand_positions(lw, truths)):
        leaf = WordLeaf(IndexValue((position,)), (0, k))
        out.append(view_address(lw, op, view, indices, [*([0] * (len(indices) - 1)), leaf]))
    return out


def _load_expand(lw: Lowering, op: Operation) -> None:
    result, passed = op.results[0], op.operand("passthrough")
    bits = memory_bits(lw.view(op.operand("view")))
    truths = lw.lanes_of_truth(op.operand("mask"))
    out: list[Words] = []
    for address, truth, before in zip(_consecutive(lw, op, truths), truths, lw.elements(passed), strict=True):
        out.append(under(lw, truth, before, lambda a=address: _load_element(lw, op, a, bits)))  # type: ignore[misc]
    lw.set_elements(result, out)


def _store_compress(lw: Lowering, op: Operation) -> None:
    value = op.operand("value")
    bits = memory_bits(lw.view(op.operand("view")))
    truths = lw.lanes_of_truth(op.operand("mask"))
    for address, truth, words in zip(_consecutive(lw, op, truths), truths, lw.elements(value), strict=True):

        def single(address: Address = address, words: Words = words) -> Words:
            store_words(lw, op, address, words, bits // 8)
            return ()

        under(lw, truth, (), single)


def offset_addresses(lw: Lowering, op: Operation) -> list[Address]:
    """The address of every lane of a gathered access: signed offsets on the last axis."""
    view = lw.view(op.operand("view"))
    indices = op.index_list("indices")
    offsets = op.operand("offsets")
    width = element_bits(offsets.type)
    bounds = INDEX_RANGE if width == 64 else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    out = []
    for lane in lw.index_lanes(offsets):
        word = lane.words[0]
        if len(lane.words) == 1 and isinstance(word, int):
            number = word - (1 << 32) if lane.signed and word >> 31 else word
            out.append(view_address(lw, op, view, indices, [*([0] * (len(indices) - 1)), number]))
            continue
        known = lw.e.zero_extended.get(word, 64) if isinstance(word, Value) else 64
        interval = (0, (1 << known) - 1) if len(lane.words) == 1 and known < 32 else bounds
        if len(lane.words) == 1 and not lane.signed:
            interval = (0, min(interval[1] if interval[0] >= 0 else (1 << 32) - 1, (1 << 32) - 1))
        leaf = WordLeaf(lane, interval)
        out.append(view_address(lw, op, view, indices, [*([0] * (len(indices) - 1)), leaf]))
    return out


def _gather(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    bits = memory_bits(lw.view(op.operand("view")))
    masked = op.name.endswith(".mask")
    addresses = offset_addresses(lw, op)
    if not masked:
        lw.set_elements(result, [_load_element(lw, op, a, bits) for a in addresses])
        return
    truths = lw.lanes_of_truth(op.operand("mask"))
    old = lw.elements(op.operand("passthrough"))
    lw.set_elements(
        result,
        [
            under(lw, t, o, lambda a=a: _load_element(lw, op, a, bits))  # type: ignore[misc]
            for a, t, o in zip(addresses, truths, old, strict=True)
        ],
    )


def _scatter(lw: Lowering, op: Operation) -> None:
    bits = memory_bits(lw.view(op.operand("view")))
    addresses = offset_addresses(lw, op)
    elements = lw.elements(op.operand("value"))
    truths = (
        lw.lanes_of_truth(op.operand("mask")) if op.name.endswith(".mask") else (lw.t.constant(True),) * len(elements)
    )
    for address, truth, words in zip(addresses, truths, elements, strict=True):

        def single(address: Address = address, words: Words = words) -> Words:
            store_words(lw, op, address, words, bits // 8)
            return ()

        under(lw, truth, (), single)


HANDLERS: dict[str, Handler] = {
    "vector.load.mask": _load_mask,
    "vector.store.mask": _store_mask,
    "vector.load.expand": _load_expand,
    "vector.store.compress": _store_compress,
    "vector.gather": _gather,
    "vector.gather.mask": _gather,
    "vector.scatter": _scatter,
    "vector.scatter.mask": _scatter,
}
