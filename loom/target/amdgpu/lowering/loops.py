"""``scf.for`` and ``scf.while``.

A loop's test stands in its header block, which is laid out behind the body: the entry jumps to the test, each round
runs body, test and one branch. Carried values are the header's arguments. In a loop that lanes leave at different
times the next value of each is merged with the present one, so that lanes that have left keep what they left with:
by a pass-through on the op that makes it, or by mask arithmetic.
"""

from __future__ import annotations

from loom.ir import Block, Operation, RegisterType, Value
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.control_flow import (
    Shape,
    add_arguments,
    all_registers,
    branch,
    branch_if,
    enter,
    from_registers,
    grouped,
    mark_mask,
    merge,
    merge_registers,
    needs_rest,
    new_block,
    registers_of,
    shape_of,
    undefined_registers,
    yielded_values,
)
from loom.target.amdgpu.lowering.emitter import EXEC, EXEC_WORD, VGPR, Operand, Scope
from loom.target.amdgpu.lowering.ranges import Interval, fits_signed, fits_unsigned
from loom.target.amdgpu.lowering.values import IndexValue, Truth


def leave_lanes(lw: Lowering, truth: Truth) -> Value:
    """EXEC &= truth; returns what to branch on while lanes are left."""
    e = lw.e
    mask = truth.mask
    compare = lw.t.compare_of.get(mask) if mask is not None else None
    if mask is not None and compare is not None and not mask.users and e.made_under.get(mask, lw) is e.exec:
        # The compare itself narrows EXEC.
        name, a, b = compare
        result = e.fresh(name.replace("v_cmp_", "v_cmpx_"), a, b)[-1]
        e.exec = object()
        return result
    result = e.fresh(f"s_and_{e.mask_suffix}", EXEC_WORD, lw.t.as_mask(truth), classes=(EXEC,))[1]
    e.exec = object()
    return result


def _carried_shape(lw: Lowering, argument: Value, result: Value | None, init: Value) -> Shape:
    divergent = lw.is_divergent(argument)
    if result is not None and result.has_uses and lw.is_divergent(result):
        divergent = True
    shape = shape_of(lw, argument, divergent, lw.get(init))
    return mark_mask(shape) if divergent else shape


def _step_interval(lw: Lowering, op: Operation) -> Interval:
    """Bounds of the counter including the value that ends the loop."""
    low, high = lw.interval(op.operand("lower")), lw.interval(op.operand("upper"))
    step = lw.interval(op.operand("step"))
    return (low[0], max(low[1], high[1] - 1 + step[1]))


def _for(lw: Lowering, op: Operation) -> None:
    e = lw.e
    lower, upper, step = op.operand("lower"), op.operand("upper"), op.operand("step")
    body = op.regions[0].blocks[0]
    counter, *carried = body.arguments
    inits = op.operand_group("inits")
    divergent = op in lw.uniformity.divergent_branches
    span = _step_interval(lw, op)
    top = lw.interval(upper)
    narrow32 = fits_unsigned(span) and fits_unsigned(top)
    signed32 = not narrow32 and fits_signed(span) and fits_signed(top)
    single = narrow32 or signed32
    bank = VGPR if lw.is_divergent(counter) else "amdgpu.sgpr"
    counter_shape = Shape("index", counter.type, [RegisterType(bank, 1)] * (1 if single else 2), signed=signed32)
    shapes = [counter_shape] + [_carried_shape(lw, a, r, i) for a, r, i in zip(carried, op.results, inits, strict=True)]
    start = all_registers(lw, [lower, *inits], shapes)
    limit = lw.words(upper)[:1] if single else lw.index_pair(upper)
    stride = lw.words(step)[:1] if single else lw.index_pair(step)
    outer = e.exec
    saved = e.copy_exec() if divergent else None
    header, body_block, exit_block = new_block(lw, "test"), new_block(lw, "loop"), new_block(lw, "exit")
    anchor = branch(lw, header, start)
    home = e.block
    scope = Scope(loop=True, block=home, anchor=anchor, exec=outer)
    with e.scope(scope):
        enter(lw, header)
        if divergent:
            e.exec = object()
        arguments = add_arguments(lw, header, shapes)
        groups = grouped(arguments, shapes)
        for value, group, shape in zip(carried, groups[1:], shapes[1:], strict=True):
            lw.set(value, from_registers(lw, group, shape))
        count_words: tuple[Operand, ...] = tuple(groups[0])
        _set_counter(lw, counter, count_words, signed32)
        with e.stay():
            if single:
                test = lw.t.compare32("lt", count_words[0], limit[0], signed=signed32)
            else:
                test = lw.t.compare64("lt", (count_words[0], count_words[1]), (limit[0], limit[1]), signed=True)
            more = leave_lanes(lw, test) if divergent else lw.t.as_branch(test)
        branch_if(lw, more, body_block, exit_block)
        enter(lw, body_block)
        lw.run_block(body)
        yielded = yielded_values(body)
        with e.stay():
            if single:
                following: list[Value] = [_in_bank(lw, lw.i.add(count_words[0], stride[0]), bank)]
            else:
                pair = lw.i.add64((count_words[0], count_words[1]), (stride[0], stride[1]))
                following = [_in_bank(lw, w, bank) for w in pair]
            following += all_registers(lw, yielded, shapes[1:])
            if divergent:
                following = merge_registers(lw, following, arguments, shapes)
        branch(lw, header, following)
    move_last(header)
    enter(lw, exit_block)
    _rejoin(lw, op, saved, outer)
    for argument in arguments:
        e.depth[argument] = len(e.scopes) - 1
    for result, group, shape in zip(op.results, groups[1:], shapes[1:], strict=True):
        lw.set(result, from_registers(lw, group, shape))


def _rejoin(lw: Lowering, op: Operation, saved: Value | None, outer: object) -> None:
    """Bring back the lanes that left a divergent loop (``saved`` is their mask), where anything follows it."""
    if saved is None:
        return
    if op.results or needs_rest(op):
        lw.e.restore_exec(saved, outer)
    else:
        lw.e.exec = outer


def _in_bank(lw: Lowering, word: Operand, bank: str) -> Value:
    return lw.e.to_vector(word) if bank == VGPR else lw.e.to_scalar(word)


def _set_counter(lw: Lowering, counter: Value, words: tuple[Operand, ...], signed: bool) -> None:
    if lw.index_words(counter) == 1:
        lw.set_index(counter, words)
    else:
        lw.set(counter, IndexValue(words, signed=signed and len(words) == 1))


def move_last(block: Block) -> None:
    """Lay a block behind all others."""
    region = block.parent
    assert region is not None
    region.blocks.remove(block)
    region.blocks.append(block)


def _while(lw: Lowering, op: Operation) -> None:
    e = lw.e
    before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
    condition_op = before.last
    assert condition_op is not None
    inits = list(op.operands)
    divergent = op in lw.uniformity.divergent_branches
    shapes = [_carried_shape(lw, a, None, i) for a, i in zip(before.arguments, inits, strict=True)]
    forwarded = condition_op.operands[1:]
    # A forwarded value that lanes leave with at different times is kept in a register of its own, unless it is carried
    # anyway.
    kept_results: list[int] = []
    if divergent:
        for index, (value, result) in enumerate(zip(forwarded, op.results, strict=True)):
            if result.has_uses and not (value in before.arguments and _vector_shape(shapes[value.index])):
                kept_results.append(index)
    kept_shapes = []
    for index in kept_results:
        result = op.results[index]
        kept_shapes.append(mark_mask(shape_of(lw, result, True)))
    all_shapes = [*shapes, *kept_shapes]
    start = all_registers(lw, inits, shapes)
    start += undefined_registers(lw, kept_shapes)
    outer = e.exec
    saved = e.copy_exec() if divergent else None
    header, body_block, exit_block = new_block(lw, "test"), new_block(lw, "loop"), new_block(lw, "exit")
    anchor = branch(lw, header, start)
    scope = Scope(loop=True, block=e.block, anchor=anchor, exec=outer)
    with e.scope(scope):
        enter(lw, header)
        if divergent:
            e.exec = object()
        arguments = add_arguments(lw, header, all_shapes)
        groups = grouped(arguments, all_shapes)
        for value, group, shape in zip(before.arguments, groups, shapes, strict=False):
            lw.set(value, from_registers(lw, group, shape))
        lw.run_block(before)
        old_kept = groups[len(shapes) :]
        new_kept: list[list[Value]] = []
        with e.stay():
            for index, shape, old in zip(kept_results, kept_shapes, old_kept, strict=True):
                registers = registers_of(lw, lw.get(forwarded[index]), shape)
                copies = [
                    merge(lw, r, o) if r.type.register_class == VGPR else r  # type: ignore[attr-defined]
                    for r, o in zip(registers, old, strict=True)
                ]
                new_kept.append(merge_registers_masks(lw, copies, old, shape))
            test = lw.truth(condition_op.operands[0])
            more = leave_lanes(lw, test) if divergent else lw.t.as_branch(test)
        branch_if(lw, more, body_block, exit_block)
        enter(lw, body_block)
        for value, argument in zip(forwarded, after.arguments, strict=True):
            lw.set(argument, lw.get(value))
        lw.run_block(after)
        yielded = yielded_values(after)
        with e.stay():
            following = all_registers(lw, yielded, shapes)
            if divergent:
                carried = [a for g in groups[: len(shapes)] for a in g]
                following = merge_registers(lw, following, carried, shapes)
            following += [r for group in new_kept for r in group]
        branch(lw, header, following)
    if header.last is not None and header.last.name == "low.cond_br":  # one block: lay it behind the body
        move_last(header)
    enter(lw, exit_block)
    _rejoin(lw, op, saved, outer)
    kept_of = dict(zip(kept_results, range(len(kept_results)), strict=True))
    for index, (value, result) in enumerate(zip(forwarded, op.results, strict=True)):
        slot = kept_of.get(index)
        if slot is not None:
            lw.set(result, from_registers(lw, new_kept[slot], kept_shapes[slot]))
        else:
            lw.set(result, lw.get(value))


def merge_registers_masks(lw: Lowering, new: list[Value], old: list[Value], shape: Shape) -> list[Value]:
    """Merge the lane masks among registers; vector registers have been merged already."""
    from loom.target.amdgpu.lowering.control_flow import mask_flags, merge_mask

    return [merge_mask(lw, n, o) if flag else n for n, o, flag in zip(new, old, mask_flags(shape), strict=True)]


def _vector_shape(shape: Shape) -> bool:
    return all(r.register_class == VGPR for r in shape.registers) and shape.kind != "truth"


HANDLERS: dict[str, Handler] = {"scf.for": _for, "scf.while": _while}
