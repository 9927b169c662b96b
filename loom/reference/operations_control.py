"""Structured control flow under masks: branches, loops, selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from loom.ir import Block, Operation
from loom.reference.execution import Frame, Interpreter, handles, merge_all, merge_value, truth
from loom.reference.formats import Array
from loom.reference.values import Mask, MixedSpacesError, all_lanes, any_lane, both, column


@handles("scf.if", "low.scf.if")
def _if(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    condition = truth(interp.defined(frame, op.operands[0], op, mask, "condition"))
    blocks = [region.blocks[0] if region.blocks else None for region in op.regions]
    then, other = blocks[0], blocks[1] if len(blocks) > 1 else None
    if all_lanes(condition, mask):
        _take(interp, frame, op, then, mask)
        return
    if all_lanes(~condition, mask):
        _take(interp, frame, op, other, mask)
        return
    chosen = both(condition, mask)
    rejected = both(~condition, mask)
    assert chosen is not None
    first = _side(interp, frame, then, chosen)
    second = _side(interp, frame, other, rejected)
    try:
        for result, new, old in zip(op.results, first, second, strict=True):
            frame.set(result, *merge_value(condition, new, old))
    except MixedSpacesError as problem:
        interp.fail(op, "REFERENCE/012", f"{op.name}: {problem}", frame=frame)


def _side(interp: Interpreter, frame: Frame, block: Block | None, mask: Mask) -> list[tuple[Any, Array | None]]:
    if block is None:
        return []
    outer = frame.masked
    if frame.escaping is not None:
        frame.masked = mask
    interp.run_block(block, frame, mask)
    frame.masked = outer
    return interp.terminator_values(block, frame)


def _take(interp: Interpreter, frame: Frame, op: Operation, block: Block | None, mask: Mask) -> None:
    if block is None:
        return
    interp.run_block(block, frame, mask)
    for result, value in zip(op.results, interp.terminator_values(block, frame), strict=True):
        frame.set(result, *value)


@handles("scf.for", "low.scf.for")
def _for(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    low, high, step = (
        interp.defined(frame, op.operands[position], op, mask, role).reshape(-1)
        for position, role in enumerate(("lower bound", "upper bound", "step"))
    )
    if not all_lanes(step > 0, mask):
        interp.fail(op, "REFERENCE/013", "scf.for: the step is not positive", frame=frame)
    block = op.regions[0].blocks[0]
    counter, carried = block.arguments[0], block.arguments[1:]
    initial = op.operands[3 : 3 + len(carried)]
    state = [(frame.values[value], frame.poison.get(value)) for value in initial]
    uniform = low.shape[0] == high.shape[0] == step.shape[0] == 1
    place = low if uniform else low + np.zeros(frame.batch.lanes, low.dtype)
    live = mask
    while True:
        inside = place < high
        if uniform:
            if not bool(inside[0]) or not any_lane(live):
                break
        else:
            live = both(mask, None if bool(inside.all()) else inside)
            if not any_lane(live):
                break
            if live is not None and mask is not None and bool((live == mask).all()):
                live = mask
        frame.set(counter, place)
        for argument, value in zip(carried, state, strict=True):
            frame.set(argument, *value)
        after = interp.run_block(block, frame, live)
        produced = interp.terminator_values(block, frame)
        if live is not None and live is not mask:
            state = merge_all(live, produced, state)
        else:
            state = produced if carried else state
        if after is not live and frame.batch.exited is not None:
            mask = both(mask, ~frame.batch.exited)
            live = mask
        place = place + step
    for result, value in zip(op.results, state, strict=True):
        frame.set(result, *value)


@handles("scf.while", "low.scf.while")
def _while(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    before, body = op.regions[0].blocks[0], op.regions[1].blocks[0]
    state = [(frame.values[value], frame.poison.get(value)) for value in op.operands]
    results: list[tuple[Any, Array | None]] | None = None
    live = mask
    while True:
        for argument, value in zip(before.arguments, state, strict=True):
            frame.set(argument, *value)
        live = interp.run_block(before, frame, live)
        terminator = before.last
        assert terminator is not None
        condition = truth(interp.defined(frame, terminator.operands[0], terminator, live, "condition"))
        forwarded = interp.terminator_values(before, frame, 1)
        if all_lanes(condition, live) and any_lane(live):
            going = live
        else:
            leaving = both(~condition, live)
            assert leaving is not None
            lanes = np.broadcast_to(leaving, (frame.batch.lanes,)) if leaving.shape[0] == 1 else leaving
            results = forwarded if results is None else merge_all(lanes, forwarded, results)
            going = both(condition, live)
            if not any_lane(going):
                break
            if going is not None and going.shape[0] == 1:
                going = live
        for argument, value in zip(body.arguments, forwarded, strict=True):
            frame.set(argument, *value)
        live = interp.run_block(body, frame, going)
        state = interp.terminator_values(body, frame)
    for result, value in zip(op.results, results or [], strict=True):
        frame.set(result, *value)


@handles("scf.select")
def _select(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    condition_value, if_true, if_false = op.operands
    condition = frame.values[condition_value]
    undefined = frame.poison.get(condition_value)
    new = (frame.values[if_true], frame.poison.get(if_true))
    old = (frame.values[if_false], frame.poison.get(if_false))
    try:
        content, poison = merge_value(condition, new, old)
    except MixedSpacesError as problem:
        interp.fail(op, "REFERENCE/012", f"scf.select: {problem}", frame=frame)
    if undefined is not None and isinstance(content, np.ndarray):
        spread = column(undefined, content.ndim)
        poison = spread if poison is None else poison | spread
    frame.set(op.results[0], content, poison)


@handles("scf.schedule.fence")
def _fence(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    """A boundary for the scheduler only."""
