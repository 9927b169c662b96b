"""Asynchronous copies: gfx11 moves data between global and workgroup memory through registers, by loads and stores.

What arrives is ordered by the waits on the data itself; groups and waits have nothing left to do.
"""

from __future__ import annotations

from loom.ir import Operation
from loom.target.amdgpu.lowering.addressing import Shift, WordLeaf
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.gather import under
from loom.target.amdgpu.lowering.ids import lane_id
from loom.target.amdgpu.lowering.memory import load_words, memory_bits, store_words, view_runs
from loom.target.amdgpu.lowering.values import IndexValue, ViewValue, Words


def _shape(lw: Lowering, op: Operation, view: ViewValue) -> tuple[int, ...]:
    dims = [d if isinstance(d, int) else None for d in view.dims]
    if any(d is None for d in dims):
        raise lw.reject(op, "a copy between views whose extents are not static", 60, "narrow them with view.subview")
    return tuple(d for d in dims if d is not None)


def _move(lw: Lowering, op: Operation, lane_axis: bool) -> Words:
    source, target = lw.view(op.operand("source")), lw.view(op.operand("destination"))
    source_shape = _shape(lw, op, source)
    target_shape = _shape(lw, op, target)
    bits = memory_bits(source)
    elements: list[Words] = []
    for address, _, count in view_runs(lw, op, source, [0] * len(source_shape), source_shape):
        words = load_words(lw, op, address, count * bits // 8)
        elements += [lw.element(words, k, bits) for k in range(count)]
    if bits != memory_bits(target):
        raise lw.reject(
            op,
            f"a copy between elements of {bits} and {memory_bits(target)} bits",
            61,
            "view both buffers with elements of one width",
        )
    inner = target_shape[1:] if lane_axis else target_shape
    shifts: list[Shift] = [WordLeaf(IndexValue((lane_id(lw),)), (0, lw.wave - 1))] if lane_axis else []
    for address, first, count in view_runs(lw, op, target, [0] * len(target_shape), inner, shifts):
        store_words(lw, op, address, lw.pack(elements[first : first + count], bits), count * bits // 8)
    return ()


def _copy(lw: Lowering, op: Operation) -> None:
    lane_axis = "gather" in op.name
    if op.name.endswith(".mask"):
        under(lw, lw.truth(op.operand("mask")), (), lambda: _move(lw, op, lane_axis))
    else:
        _move(lw, op, lane_axis)
    lw.set(op.results[0], ())


def _order(lw: Lowering, op: Operation) -> None:
    for result in op.results:
        lw.set(result, ())


HANDLERS: dict[str, Handler] = {
    "kernel.async.copy": _copy,
    "kernel.async.copy.mask": _copy,
    "kernel.async.gather": _copy,
    "kernel.async.gather.mask": _copy,
    "kernel.async.group": _order,
    "kernel.async.wait": _order,
}
