"""Rules about vector shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loom.dialect.rules.memory import kind_fits
from loom.dialect.rules.values import Report, Rule
from loom.ir import I1, FloatType, IntegerType, Operation, Type, VectorType, element_type


def _vector(type_: Type) -> VectorType:
    assert isinstance(type_, VectorType)
    return type_


def mask_of(name: str) -> Callable[[Operation], Type | None]:
    """Inference: the vector of i1 of an operand's shape."""

    def infer(op: Operation) -> Type | None:
        t = op.operand(name).type
        return VectorType(t.dims, I1) if isinstance(t, VectorType) else None

    return infer


def mask_result(name: str) -> Rule:
    """The result is a mask of the operand's shape."""

    def rule(op: Operation, report: Report) -> None:
        source, made = _vector(op.operand(name).type), _vector(op.results[0].type)
        if source.dims != made.dims:
            report("OP/019", f"the mask of {op.name} must have the shape of {source}; it is {made}")

    return rule


def mask_shape(mask: str, vector: str) -> Rule:
    """A mask operand has the shape of a vector operand."""

    def rule(op: Operation, report: Report) -> None:
        a, b = _vector(op.operand(mask).type), _vector(op.operand(vector).type)
        if a.dims != b.dims:
            report("OP/019", f"the mask {a} does not have the shape of {b}")

    return rule


def from_elements(op: Operation, report: Report) -> None:
    """As many elements as lanes, of the element type."""
    made = _vector(op.results[0].type)
    if not made.is_static:
        report("OP/019", "vector.from_elements makes a vector of a static shape")
        return
    if made.element_count != len(op.operands):
        report("OP/001", f"{made} has {made.element_count} lanes, {len(op.operands)} elements given")
        return
    for v in op.operands:
        if v.type is not made.element:
            report("OP/003", f"an element of {made} must be {made.element}, not {v.type}")
            return


def _sub_type(vector: VectorType, count: int) -> Type:
    return VectorType(vector.dims[count:], vector.element) if count < vector.rank else vector.element


def extracted(op: Operation) -> Type | None:
    """Inference: what stands behind the index list."""
    t = op.operand("vector").type
    pattern: Any = op.attributes["indices"]
    return _sub_type(t, len(pattern)) if isinstance(t, VectorType) and len(pattern) <= t.rank else None


def _leading(op: Operation, vector: VectorType, report: Report) -> bool:
    pattern: Any = op.attributes["indices"]
    if not 1 <= len(pattern) <= vector.rank:
        report("OP/018", f"{op.name} takes 1 to {vector.rank} indices for {vector}, {len(pattern)} given")
        return False
    if sum(p is None for p in pattern) != len(op.operand_group("indices")):
        report("OP/018", f"the index list of {op.name} and its operands disagree")
        return False
    return True


def extract(op: Operation, report: Report) -> None:
    """The result is what stands behind the leading indices."""
    vector = _vector(op.operand("vector").type)
    if not _leading(op, vector, report):
        return
    pattern: Any = op.attributes["indices"]
    expected = _sub_type(vector, len(pattern))
    if op.results[0].type is not expected:
        report("OP/003", f"{op.name} gives {expected} here, not {op.results[0].type}")


def insert(op: Operation, report: Report) -> None:
    """The value is what stands behind the leading indices; a constant index is in range."""
    vector = _vector(op.operand("vector").type)
    if not _leading(op, vector, report):
        return
    pattern: Any = op.attributes["indices"]
    expected = _sub_type(vector, len(pattern))
    if op.operand("value").type is not expected:
        report("OP/003", f"{op.name} takes {expected} here, not {op.operand('value').type}")
    for axis, (i, d) in enumerate(zip(pattern, vector.dims, strict=False)):
        if i is not None and isinstance(d, int) and i >= d:
            report("OP/018", f"index {i} of axis {axis} is outside of {vector}")


def vector_slice(op: Operation, report: Report) -> None:
    """Rank and element stay; a static part lies inside."""
    vector, made = _vector(op.operand("vector").type), _vector(op.results[0].type)
    pattern: Any = op.attributes["indices"]
    if len(pattern) != vector.rank:
        report("OP/018", f"{op.name} needs {vector.rank} origins, {len(pattern)} given")
        return
    if made.rank != vector.rank or made.element is not vector.element:
        report("OP/019", f"a slice of {vector} has its rank and element; {made} differs")
        return
    for start, whole, part in zip(pattern, vector.dims, made.dims, strict=True):
        if isinstance(whole, int) and isinstance(part, int) and (start or 0) + part > whole:
            report("OP/019", f"the slice ends at {(start or 0) + part}, behind the extent {whole}")
            return


def _axis(op: Operation, rank: int, report: Report) -> int | None:
    axis = op.attributes["axis"]
    assert isinstance(axis, int)
    if axis >= rank:
        report("OP/018", f"axis {axis} of a vector of rank {rank}")
        return None
    return axis


def concat(op: Operation, report: Report) -> None:
    """Extents along the axis add up; the other axes agree."""
    made = _vector(op.results[0].type)
    parts = [_vector(v.type) for v in op.operands]
    axis = _axis(op, made.rank, report)
    if axis is None:
        return
    if not parts:
        report("OP/001", "vector.concat needs a vector")
        return
    total = 0
    for t in parts:
        same = t.rank == made.rank and t.element is made.element
        if not same or any(i != axis and a != b for i, (a, b) in enumerate(zip(t.dims, made.dims, strict=True))):
            report("OP/019", f"{t} cannot be a part of {made} along axis {axis}")
            return
        extent = t.dims[axis]
        if not isinstance(extent, int):
            return
        total += extent
    if isinstance(made.dims[axis], int) and total != made.dims[axis]:
        report("OP/019", f"the parts have {total} lanes along axis {axis}, {made} has {made.dims[axis]}")


def shuffle(op: Operation, report: Report) -> None:
    """A rank-1 vector; every lane names a lane of the source; as many lanes as the result has."""
    t = _vector(op.operands[0].type)
    lanes: Any = op.attributes["lanes"]
    if t.rank != 1 or not t.is_static:
        report("OP/019", f"vector.shuffle takes a static rank-1 vector, not {t}")
        return
    if len(lanes) != t.element_count:
        report("OP/018", f"{len(lanes)} lanes listed for {t}")
    elif any(not 0 <= lane < t.element_count for lane in lanes):
        report("OP/018", f"a lane outside of {t}")
    if op.results[0].type is not t:
        report("OP/003", f"vector.shuffle gives {t}, not {op.results[0].type}")


def transpose(op: Operation, report: Report) -> None:
    """The permutation is one, and the result's axes follow it."""
    source, made = _vector(op.operands[0].type), _vector(op.results[0].type)
    permutation: Any = op.attributes["permutation"]
    if sorted(permutation) != list(range(source.rank)):
        report("OP/018", f"{list(permutation)} is not a permutation of {source.rank} axes")
        return
    expected = VectorType(tuple(source.dims[i] for i in permutation), source.element)
    if made is not expected:
        report("OP/019", f"the transpose is {expected}, not {made}")


def _halves(op: Operation, whole: VectorType, half: VectorType, report: Report) -> None:
    axis = _axis(op, whole.rank, report)
    if axis is None:
        return
    extent = half.dims[axis] if half.rank == whole.rank else None
    if not isinstance(extent, int) or not isinstance(whole.dims[axis], int):
        if half.rank != whole.rank:
            report("OP/019", f"{half} is not half of {whole}")
        return
    expected = VectorType((*half.dims[:axis], 2 * extent, *half.dims[axis + 1 :]), half.element)
    if whole is not expected:
        report("OP/019", f"two times {half} along axis {axis} is {expected}, not {whole}")


def interleave(op: Operation, report: Report) -> None:
    """The result is twice as long along the axis."""
    _halves(op, _vector(op.results[0].type), _vector(op.operands[0].type), report)


def deinterleave(op: Operation, report: Report) -> None:
    """The results are half as long along the axis."""
    _halves(op, _vector(op.operands[0].type), _vector(op.results[0].type), report)


def broadcast(op: Operation, report: Report) -> None:
    """Trailing axes agree, or the source's extent is one."""
    source, made = _vector(op.operands[0].type), _vector(op.results[0].type)
    if source.element is not made.element or source.rank > made.rank:
        report("OP/019", f"{source} cannot be broadcast to {made}")
        return
    for a, b in zip(source.dims, made.dims[made.rank - source.rank :], strict=True):
        if a not in (b, 1):
            report("OP/019", f"{source} cannot be broadcast to {made}")
            return


def empty_vector(op: Operation, report: Report) -> None:
    """Some extent is zero."""
    if 0 not in _vector(op.results[0].type).dims:
        report("OP/019", f"vector.empty makes a vector without lanes, not {op.results[0].type}")


def reduce(op: Operation, report: Report) -> None:
    """The initial value is an element; the kind fits."""
    vector, init = _vector(op.operand("vector").type), op.operand("init").type
    if init is not vector.element:
        report("OP/003", f"the initial value of a reduction of {vector} must be {vector.element}, not {init}")
        return
    kind_fits(op, vector.element, report)


def reduce_axes(op: Operation, report: Report) -> None:
    """The initial vector has the axes that remain."""
    vector, init = _vector(op.operand("vector").type), op.operand("init").type
    axes: Any = op.attributes["axes"]
    if sorted(set(axes)) != list(axes) or not axes or any(not 0 <= a < vector.rank for a in axes):
        report("OP/018", f"{list(axes)} is not a sorted list of axes of {vector}")
        return
    rest = tuple(d for i, d in enumerate(vector.dims) if i not in axes)
    expected: Type = VectorType(rest, vector.element) if rest else vector.element
    if init is not expected:
        report("OP/003", f"the initial value must be {expected}, not {init}")
        return
    kind_fits(op, vector.element, report)


def table_lookup(op: Operation, report: Report) -> None:
    """A rank-1 table; the result has the lanes' shape and the table's element."""
    table, lanes, made = (_vector(t) for t in (op.operands[0].type, op.operands[1].type, op.results[0].type))
    if table.rank != 1:
        report("OP/019", f"a table has one axis, {table} has {table.rank}")
    elif made.dims != lanes.dims or made.element is not table.element:
        report("OP/019", f"looking {lanes} up in {table} gives {VectorType(lanes.dims, table.element)}, not {made}")


def bit_stream(name: str) -> Rule:
    """The fields fit the words, and an element."""

    def rule(op: Operation, report: Report) -> None:
        width = op.attributes["width"]
        assert isinstance(width, int)
        source, made = _vector(op.operands[0].type), _vector(op.results[0].type)
        fields, words = (source, made) if name == "bitpack" else (made, source)
        assert isinstance(fields.element, IntegerType) and isinstance(words.element, IntegerType)
        if width > fields.element.width:
            report("OP/006", f"a field of {width} bits does not fit {fields.element}")
        elif fields.is_static and words.is_static:
            needed, there = fields.element_count * width, words.element_count * words.element.width
            if needed != there:
                report(
                    "OP/019", f"{fields.element_count} fields of {width} bits are {needed} bits; {words} has {there}"
                )

    return rule


def bit_field(op: Operation, report: Report) -> None:
    """The field lies inside of the element; the shapes agree."""
    offset, width = op.attributes["offset"], op.attributes["width"]
    assert isinstance(offset, int) and isinstance(width, int)
    whole = _vector(op.operands[-1].type)
    other = _vector(op.operands[0].type if len(op.operands) > 1 else op.results[0].type)
    assert isinstance(whole.element, IntegerType)
    if offset + width > whole.element.width:
        report("OP/006", f"bits {offset} to {offset + width - 1} are outside of {whole.element}")
    elif whole.dims != other.dims:
        report("OP/019", f"{whole} and {other} must have one shape")


def dot(op: Operation, report: Report) -> None:
    """The initial value is an element."""
    vector = _vector(op.operands[0].type)
    if op.operand("init").type is not vector.element:
        report("OP/003", f"the initial value must be {vector.element}, not {op.operand('init').type}")


def packed_dot(ratio: int) -> Rule:
    """The operands have ``ratio`` times the accumulator's lanes."""

    def rule(op: Operation, report: Report) -> None:
        operand, acc = _vector(op.operands[0].type), _vector(op.operand("acc").type)
        if operand.is_static and acc.is_static and operand.element_count != ratio * acc.element_count:
            report("OP/019", f"{op.name} needs {ratio} operand lanes a result lane; {operand} and {acc} do not fit")

    return rule


def matrix_multiply(op: Operation, report: Report) -> None:
    """Integer accumulators belong to integer operands."""
    lhs, rhs, init = (element_type(v.type) for v in op.operands)
    if (isinstance(init, IntegerType) and not (isinstance(lhs, IntegerType) and isinstance(rhs, IntegerType))) or (
        isinstance(lhs, FloatType) and not isinstance(init, FloatType)
    ):
        report("OP/019", f"an accumulator of {init} does not take operands of {lhs} and {rhs}")
