"""Comparisons and tests of ``scalar`` and ``vector`` values, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loom.ir import FloatType, Operation
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.floats import floats
from loom.target.amdgpu.lowering.scalars import NATIVE_FLOATS, base_name
from loom.target.amdgpu.lowering.values import (
    Truth,
    element_bits,
    element_of,
    is_index,
    is_truth,
)


def _compare_integers(lw: Lowering, op: Operation) -> None:
    predicate = str(op.attributes["predicate"])
    a, b = op.operands
    element = element_of(a.type)
    if is_truth(element):
        lw.set_truths(
            op.results[0],
            [
                _compare_truths(lw, predicate, x, y)
                for x, y in zip(lw.lanes_of_truth(a), lw.lanes_of_truth(b), strict=True)
            ],
        )
        return
    if is_index(element):
        out = []
        for x, y in zip(lw.index_lanes(a), lw.index_lanes(b), strict=True):
            unsigned = predicate[0] == "u"
            name = predicate if predicate in ("eq", "ne") else predicate[1:]
            out.append(lw.t.compare64(name, lw.extend_index(x), lw.extend_index(y), signed=not unsigned))
        lw.set_truths(op.results[0], out)
        return
    bits = element_bits(element)
    signed = predicate[0] == "s"
    name = predicate if predicate in ("eq", "ne") else predicate[1:]
    truths = []
    for first, second in zip(lw.elements(a), lw.elements(b), strict=True):
        if bits == 64:
            truths.append(lw.t.compare64(name, (first[0], first[1]), (second[0], second[1]), signed))
            continue
        p, q = first[0], second[0]
        if bits < 32:
            extend = lw.i.sign_extend if signed else lw.i.zero_extend
            p, q = extend(p, bits), extend(q, bits)
        truths.append(lw.t.compare32(name, p, q, signed))
    lw.set_truths(op.results[0], truths)


def _compare_truths(lw: Lowering, predicate: str, a: Truth, b: Truth) -> Truth:
    t = lw.t
    if predicate == "ne":
        return t.binary("xor", a, b)
    if predicate == "eq":
        return t.not_(t.binary("xor", a, b))
    # As one-bit numbers: unsigned 1 > 0, signed 1 means -1.
    less = predicate in ("ult", "ule", "sgt", "sge")
    strict = predicate in ("ult", "ugt", "slt", "sgt")
    x, y = (a, b) if less else (b, a)
    return t.binary("and", t.not_(x), y) if strict else t.binary("or", t.not_(x), y)


def _compare_floats(lw: Lowering, op: Operation) -> None:
    predicate = str(op.attributes["predicate"])
    element = element_of(op.operands[0].type)
    assert isinstance(element, FloatType)
    kind = element.name
    f = floats(lw)
    truths = []
    for a, b in zip(lw.elements(op.operands[0]), lw.elements(op.operands[1]), strict=True):
        x, y, work = a, b, kind
        if kind not in NATIVE_FLOATS:
            x, y, work = f.to_f32(a, kind), f.to_f32(b, kind), "f32"
        truths.append(lw.t.compare_float(predicate, f.operand(x), f.operand(y), work))
    lw.set_truths(op.results[0], truths)


_CLASSES = {"isnanf": 0x003, "isinff": 0x204, "isfinitef": 0x1F8}
"""v_cmp_class bits: NaNs, infinities, everything else."""


def _test_floats(lw: Lowering, op: Operation) -> None:
    element = element_of(op.operands[0].type)
    assert isinstance(element, FloatType)
    kind = element.name
    f = floats(lw)
    truths = []
    for a in lw.elements(op.operands[0]):
        x, work = (a, kind) if kind in NATIVE_FLOATS else (f.to_f32(a, kind), "f32")
        truths.append(lw.t.class_test(f.operand(x), work, _CLASSES[base_name(op)]))
    lw.set_truths(op.results[0], truths)


_FAMILIES: dict[Callable[[Lowering, Operation], None], Sequence[str]] = {
    _compare_integers: ("cmpi",),
    _compare_floats: ("cmpf",),
    _test_floats: tuple(_CLASSES),
}

HANDLERS: dict[str, Handler] = {
    f"{dialect}.{name}": handler
    for handler, names in _FAMILIES.items()
    for name in names
    for dialect in ("scalar", "vector")
}
