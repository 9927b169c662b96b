"""Dot products of vectors, packed ones included, and vector transforms."""

from __future__ import annotations

import numpy as np

from loom.ir import Operation
from loom.reference import numerics
from loom.reference.execution import Frame, Interpreter, form_of, handles
from loom.reference.formats import FORMATS, Array, decode, round_to
from loom.reference.numerics import either
from loom.reference.operations_vector import whole
from loom.reference.values import Mask

F32 = FORMATS["f32"]


@handles("vector.dotf")
def _dotf(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    lhs, rhs, init = op.operands
    form = form_of(init.type)
    a, b = (frame.values[v].reshape(frame.values[v].shape[0], -1) for v in (lhs, rhs))
    total = frame.values[init]
    source = form_of(lhs.type)
    for position in range(a.shape[1]):
        x, y = a[:, position], b[:, position]
        if source.name != form.name:
            x, y = (numerics.float_to_float(v, form) for v in (x, y))
        total = numerics.fused_multiply_add(x, y, total, form)
    frame.set(op.results[0], total, either(either(whole(frame, lhs), whole(frame, rhs)), frame.poison.get(init)))


def _grouped_poison(frame: Frame, op: Operation, ratio: int) -> Array | None:
    """Poison of a packed dot: each result lane depends on ``ratio`` lanes of both operands and on the accumulator's."""
    total = frame.poison.get(op.operands[2])
    for operand in op.operands[:2]:
        undefined = frame.poison.get(operand)
        if undefined is not None:
            shape = np.broadcast_shapes(undefined.shape, frame.values[operand].shape)
            spread: Array = np.asarray(np.broadcast_to(undefined, shape).reshape(shape[0], -1, ratio).any(-1))
            total = either(total, spread)
    return total


@handles("vector.dot2f")
def _dot2f(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    a, b = (frame.values[v].astype(np.float32) for v in op.operands[:2])
    total = frame.values[op.operands[2]]
    for part in (0, 1):
        total = numerics.fused_multiply_add(a[:, part::2], b[:, part::2], total, F32)
    frame.set(op.results[0], total, _grouped_poison(frame, op, 2))


def _fields(words: Array, signed: bool, bits: int) -> Array:
    """Packed little-endian fields of i32 words as int64, one more axis."""
    raw = words.view(np.uint32).astype(np.int64)[..., None] >> (np.arange(32 // bits) * bits)
    raw &= (1 << bits) - 1
    return np.where(signed & (raw >= 1 << (bits - 1)), raw - (1 << bits), raw)


def _wrap32(total: Array) -> Array:
    return (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


@handles("vector.dot4i")
def _dot4i(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    signs = str(op.attributes["signs"])
    parts = []
    for operand, sign in zip(op.operands[:2], (signs[0], signs[2]), strict=True):
        bytes_ = frame.values[operand]
        wide = bytes_.astype(np.int64) if sign == "s" else bytes_.view(np.uint8).astype(np.int64)
        parts.append(wide.reshape(wide.shape[0], -1, 4))
    total = (parts[0] * parts[1]).sum(-1) + frame.values[op.operands[2]].astype(np.int64)
    frame.set(op.results[0], _wrap32(total), _grouped_poison(frame, op, 4))


@handles("vector.dot8i4")
def _dot8i4(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    signs = str(op.attributes["signs"])
    a = _fields(frame.values[op.operands[0]], signs[0] == "s", 4)
    b = _fields(frame.values[op.operands[1]], signs[2] == "s", 4)
    total = (a * b).sum(-1) + frame.values[op.operands[2]].astype(np.int64)
    frame.set(op.results[0], _wrap32(total), _grouped_poison(frame, op, 1))


@handles("vector.dot4f8")
def _dot4f8(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    signs = str(op.attributes["signs"])
    names = {"fp8": "f8E4M3", "bf8": "f8E5M2"}
    parts = []
    for operand, kind in zip(op.operands[:2], (signs[:3], signs[3:]), strict=True):
        words = np.ascontiguousarray(frame.values[operand]).view(np.uint32)
        bytes_ = np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, 4)
        parts.append(decode(bytes_, FORMATS[names[kind]]))
    total = frame.values[op.operands[2]]
    for position in range(4):
        total = numerics.fused_multiply_add(parts[0][..., position], parts[1][..., position], total, F32)
    frame.set(op.results[0], total, _grouped_poison(frame, op, 1))


@handles("vector.transform")
def _transform(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    encoding = frame.values[op.operands[1]]
    family = encoding.attribute.family if encoding.attribute is not None else ""
    if family not in ("transform.hadamard", "hadamard"):
        interp.fail(op, "REFERENCE/001", f"vector.transform knows #transform.hadamard, not #{family}", frame=frame)
    form = form_of(op.results[0].type)
    values = frame.values[op.operands[0]]
    count = values.shape[-1]
    if count & (count - 1):
        interp.fail(
            op, "REFERENCE/013", f"a Hadamard transform needs a power of two of lanes, not {count}", frame=frame
        )
    half = 1
    while half < count:  # fast Walsh–Hadamard butterflies of the last axis, each step rounded; no scale by default
        pairs = values.reshape(*values.shape[:-1], count // (2 * half), 2, half)
        upper, lower = pairs[..., 0, :], pairs[..., 1, :]
        total = numerics.FLOAT["addf"](upper, lower, form)
        difference = numerics.FLOAT["subf"](upper, lower, form)
        values = np.stack([total, difference], axis=-2).reshape(values.shape)
        half *= 2
    attribute = encoding.attribute
    if attribute is not None and str(attribute.parameter("normalization")) == "orthonormal":
        scale = round_to(np.array([count**-0.5]), form)
        values = numerics.FLOAT["mulf"](values, scale, form)
    undefined = whole(frame, op.operands[0])
    frame.set(op.results[0], values, None if undefined is None else undefined.reshape(-1, *([1] * (values.ndim - 1))))
