"""``scf.select``, ``vector.select``, ``scf.switch`` and ``scf.lookup``."""

from __future__ import annotations

from loom.ir import Block, Operation, Value
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.control_flow import (
    Shape,
    add_arguments,
    all_registers,
    bind_results,
    branch,
    branch_if,
    enter,
    merge_registers,
    new_block,
    result_shapes,
    run_chosen,
    select_into,
    select_lowered,
    undefined_registers,
    yielded_values,
)
from loom.target.amdgpu.lowering.emitter import Scope
from loom.target.amdgpu.lowering.values import Lanes, Lowered, Truth, element_bits, element_of, is_index, is_truth


def _select(lw: Lowering, op: Operation) -> None:
    select_into(
        lw, op.results[0], lw.truth(op.operand("condition")), op.operand("true_value"), op.operand("false_value")
    )


def _vector_select(lw: Lowering, op: Operation) -> None:
    mask, yes, no = op.operands
    result = op.results[0]
    truths = lw.lanes_of_truth(mask)
    element = element_of(result.type)
    if is_truth(element) or is_index(element):
        x, y = lw.get(yes), lw.get(no)
        assert isinstance(x, Lanes) and isinstance(y, Lanes)
        lanes = [select_lowered(lw, c, a, b, None) for c, a, b in zip(truths, x.lanes, y.lanes, strict=True)]
        lw.set(result, Lanes(tuple(lanes)))  # type: ignore[arg-type]
        return
    if element_bits(element) >= 32 or all(t is truths[0] for t in truths):
        elements = [lw.t.select(c, a, b) for c, a, b in zip(truths, lw.elements(yes), lw.elements(no), strict=True)]
    else:
        elements = [lw.t.select(c, a, b) for c, a, b in zip(truths, lw.elements(yes), lw.elements(no), strict=True)]
    lw.set_elements(result, elements)


def _lookup(lw: Lowering, op: Operation) -> None:
    selector = op.operand("selector")
    rows, defaults = op.operand_group("rows"), op.operand_group("defaults")
    keys = op.attributes["keys"]
    assert isinstance(keys, tuple)
    width = len(defaults)
    current: list[Lowered] = [lw.get(v) for v in defaults]
    for number, key in enumerate(keys):
        truth = equals_key(lw, selector, int(key))  # type: ignore[arg-type]
        row = rows[number * width : (number + 1) * width]
        current = [
            select_lowered(lw, truth, lw.get(value), other, result)
            for value, other, result in zip(row, current, op.results, strict=True)
        ]
    for result, lowered in zip(op.results, current, strict=True):
        lw.set(result, lowered)


def equals_key(lw: Lowering, selector: Value, key: int) -> Truth:
    """Whether an index equals a constant."""
    low, high = lw.interval(selector)
    if not low <= key <= high:
        return lw.t.constant(False)
    if lw.index_words(selector) == 1:
        return lw.t.compare32("eq", lw.word(selector), key & 0xFFFFFFFF, signed=False)
    return lw.t.compare64("eq", lw.index_pair(selector), (key & 0xFFFFFFFF, (key >> 32) & 0xFFFFFFFF), signed=False)


def _switch(lw: Lowering, op: Operation) -> None:
    """A chain of tests, one case after the other; the default region is last."""
    keys = op.attributes["keys"]
    assert isinstance(keys, tuple)
    selector = op.operand("selector")
    cases = [region.blocks[0] for region in op.regions]
    known = lw.ranges.constant(selector)
    if known is not None:
        chosen = next((cases[k] for k, key in enumerate(keys) if key == known), cases[-1])
        run_chosen(lw, op, chosen)
        return
    if lw.is_divergent(selector):
        _divergent_switch(lw, op, cases, [int(k) for k in keys])  # type: ignore[arg-type]
    else:
        _uniform_switch(lw, op, cases, [int(k) for k in keys])  # type: ignore[arg-type]


def _uniform_switch(lw: Lowering, op: Operation, cases: list[Block], keys: list[int]) -> None:
    e = lw.e
    join = new_block(lw, "join")
    shapes: list[Shape] | None = None
    for number, block in enumerate(cases):
        following = None
        if number < len(keys):
            case_block, following = new_block(lw, "case"), new_block(lw, "next")
            truth = equals_key(lw, op.operand("selector"), keys[number])
            branch_if(lw, lw.t.as_scc(truth), case_block, following)
            enter(lw, case_block)
        with e.scope(Scope()):
            lw.run_block(block)
            values = yielded_values(block)
            if shapes is None:
                shapes = result_shapes(lw, op, values)
            with e.stay():
                registers = all_registers(lw, values, shapes)
        branch(lw, join, registers)
        if following is not None:
            enter(lw, following)
    enter(lw, join)
    assert shapes is not None
    bind_results(lw, op, shapes, add_arguments(lw, join, shapes))


def _divergent_switch(lw: Lowering, op: Operation, cases: list[Block], keys: list[int]) -> None:
    e = lw.e
    outer = e.exec
    saved = e.copy_exec()
    truths = [equals_key(lw, op.operand("selector"), key) for key in keys]
    rest = lw.t.constant(True)
    for truth in truths:
        rest = lw.t.binary("and", rest, lw.t.not_(truth))
    masks = [lw.t.as_mask(t) for t in (*truths, rest)]
    shapes: list[Shape] | None = None
    current: list[Value] = []
    for block, mask in zip(cases, masks, strict=True):
        work, skip, join = new_block(lw, "case"), new_block(lw, "skip"), new_block(lw, "join")
        _, any_lane = e.fresh(f"s_and_{e.mask_suffix}", saved, mask, classes=("amdgpu.exec",))
        e.exec = object()
        branch_if(lw, any_lane, work, skip)
        enter(lw, work)
        with e.scope(Scope()):
            lw.run_block(block)
            values = yielded_values(block)
            first = shapes is None
            if shapes is None:
                shapes = result_shapes(lw, op, values)
            with e.stay():
                new = all_registers(lw, values, shapes)
                if not first:
                    new = merge_registers(lw, new, current, shapes)
        e.restore_exec(saved, outer)
        branch(lw, join, new)
        enter(lw, skip)
        e.restore_exec(saved, outer)
        if first:
            with e.scope(Scope()), e.stay():
                current = undefined_registers(lw, shapes)
        branch(lw, join, current)
        enter(lw, join)
        current = add_arguments(lw, join, shapes)
    assert shapes is not None
    bind_results(lw, op, shapes, current)


def _fence(lw: Lowering, op: Operation) -> None:
    lw.e.create("low.schedule.fence", [], [])


def _nothing(lw: Lowering, op: Operation) -> None:
    return


HANDLERS: dict[str, Handler] = {
    "scf.select": _select,
    "vector.select": _vector_select,
    "scf.lookup": _lookup,
    "scf.switch": _switch,
    "scf.schedule.fence": _fence,
    "kernel.return": _nothing,
}
