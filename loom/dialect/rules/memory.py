"""Rules about views, buffers and access to memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loom.dialect.rules.values import Report, Rule
from loom.ir import FloatType, IntegerType, Operation, Type, VectorType, ViewType
from loom.ir.suggest import counted


def element_of(name: str) -> Callable[[Operation], Type | None]:
    """Inference: the element type of a view operand."""

    def infer(op: Operation) -> Type | None:
        t = op.operand(name).type
        return t.element if isinstance(t, ViewType) else None

    return infer


def _view(op: Operation) -> ViewType:
    t = op.operand("view").type
    assert isinstance(t, ViewType)
    return t


def full_rank(op: Operation, report: Report) -> bool:
    """One index for each axis of the view; return whether that holds."""
    view = _view(op)
    pattern: Any = op.attributes["indices"]
    if len(pattern) != view.rank:
        report("OP/018", f"{op.name} needs {counted(view.rank, 'index', 'indices')} for {view}, {len(pattern)} given")
        return False
    return _pattern_fits(op, "indices", report)


def _pattern_fits(op: Operation, name: str, report: Report) -> bool:
    pattern: Any = op.attributes[name]
    values = op.operand_group(name)
    if sum(p is None for p in pattern) != len(values):
        report("OP/018", f"the index list '{name}' of {op.name} and its operands disagree")
        return False
    return True


def _payload(op: Operation) -> Type:
    for name in ("value", "expected"):
        if name in op.definition.operand_positions:
            return op.operand(name).type
    return op.results[0].type


def element_access(op: Operation, report: Report) -> None:
    """Full-rank index; the value is an element of the view."""
    if not full_rank(op, report):
        return
    view, payload = _view(op), _payload(op)
    if payload is not view.element:
        report("OP/003", f"{op.name} moves elements of {view}; the value is {payload}, not {view.element}")


def kind_fits(op: Operation, element: Type, report: Report) -> None:
    """A combining kind ends in f for floats and not for integers."""
    kind = str(op.attributes["kind"])
    if kind.endswith("f") is not isinstance(element, FloatType):
        report("OP/020", f"'{kind}' does not combine {element}")


def atomic_access(op: Operation, report: Report) -> None:
    """An element access whose kind fits the element."""
    element_access(op, report)
    kind_fits(op, _view(op).element, report)


def exchange_access(op: Operation, report: Report) -> None:
    """The order of a failed exchange has no release."""
    element_access(op, report)
    if op.attributes["failure_ordering"] in ("release", "acq_rel"):
        report("OP/021", "a failed exchange stores nothing; its ordering cannot be a release")


def atomic_load(op: Operation, report: Report) -> None:
    """A load does not release."""
    element_access(op, report)
    if op.attributes["ordering"] in ("release", "acq_rel"):
        report("OP/021", f"a load cannot be '{op.attributes['ordering']}'", "relaxed, acquire or seq_cst")


def atomic_store(op: Operation, report: Report) -> None:
    """A store does not acquire."""
    element_access(op, report)
    if op.attributes["ordering"] in ("acquire", "acq_rel"):
        report("OP/021", f"a store cannot be '{op.attributes['ordering']}'", "relaxed, release or seq_cst")


def subview(op: Operation, report: Report) -> None:
    """Rank, element and layout stay."""
    if not full_rank(op, report):
        return
    view, made = _view(op), op.results[0].type
    assert isinstance(made, ViewType)
    if made.rank != view.rank or made.element is not view.element or made.layout != view.layout:
        report("OP/019", f"a subview of {view} has its rank, element and layout; {made} differs")
        return
    pattern: Any = op.attributes["indices"]
    for axis, (start, whole, part) in enumerate(zip(pattern, view.dims, made.dims, strict=True)):
        if isinstance(whole, int) and isinstance(part, int) and (start or 0) + part > whole:
            report("OP/019", f"axis {axis} of the subview ends at {(start or 0) + part}, behind the view's {whole}")


def refine(op: Operation, report: Report) -> None:
    """Only facts change: rank and element stay, static dims do not contradict."""
    view, made = _view(op), op.results[0].type
    assert isinstance(made, ViewType)
    if made.rank != view.rank or made.element is not view.element:
        report("OP/019", f"view.refine keeps rank and element; {view} and {made} differ")
        return
    for a, b in zip(view.dims, made.dims, strict=True):
        if isinstance(a, int) and isinstance(b, int) and a != b:
            report("OP/019", f"view.refine cannot turn a dimension of {a} into {b}")


def pack(op: Operation, report: Report) -> None:
    """One alignment an entry; one result more than entries."""
    alignments: Any = op.attributes["alignments"]
    if len(alignments) != len(op.operands) or len(op.results) != len(op.operands) + 1:
        report("OP/025", f"{op.name} has {len(op.operands)} entries; it gives the total and one offset each")
    for a in alignments:
        if a < 1 or a & (a - 1):
            report("OP/006", f"an alignment must be a power of two, not {a}")


def _footprint(op: Operation, vector: VectorType, report: Report) -> bool:
    if not full_rank(op, report):
        return False
    view = _view(op)
    if vector.element is not view.element:
        report("OP/003", f"{op.name} moves elements of {view}; {vector} has another element type")
        return False
    if vector.rank > view.rank:
        report("OP/019", f"{vector} has more axes than {view}")
        return False
    return True


def vector_access(name: str) -> Rule:
    """The vector's axes are trailing axes of the view, its element the view's."""

    def rule(op: Operation, report: Report) -> None:
        t = op.results[0].type if name == "result" else op.operand(name).type
        assert isinstance(t, VectorType)
        _footprint(op, t, report)

    return rule


def mask_fits(op: Operation, vector: VectorType, report: Report) -> None:
    """The mask has the vector's shape."""
    mask = op.operand("mask").type
    if isinstance(mask, VectorType) and mask.dims != vector.dims:
        report("OP/019", f"the mask {mask} does not have the shape of {vector}")


def masked_access(name: str) -> Rule:
    """As a vector access, with a mask of the vector's shape."""

    def rule(op: Operation, report: Report) -> None:
        t = op.operand(name).type
        assert isinstance(t, VectorType)
        if _footprint(op, t, report):
            mask_fits(op, t, report)
            if op.name in ("vector.load.expand", "vector.store.compress") and t.rank != 1:
                report("OP/019", f"{op.name} moves rank-1 vectors, not {t}")

    return rule


def gather(name: str) -> Rule:
    """Lanes, offsets and mask have one shape; elements are the view's."""

    def rule(op: Operation, report: Report) -> None:
        t = op.results[0].type if name == "result" else op.operand(name).type
        assert isinstance(t, VectorType)
        if not full_rank(op, report):
            return
        view = _view(op)
        if t.element is not view.element:
            report("OP/003", f"{op.name} moves elements of {view}; {t} has another element type")
            return
        offsets = op.operand("offsets").type
        if isinstance(offsets, VectorType) and offsets.dims != t.dims:
            report("OP/019", f"the offsets {offsets} do not have the shape of {t}")
        if "mask" in op.definition.operand_positions:
            mask_fits(op, t, report)
        if "passthrough" in op.definition.operand_positions and op.operand("passthrough").type is not t:
            report("OP/003", f"the pass-through of {op.name} must be {t}, not {op.operand('passthrough').type}")
        if "kind" in op.attributes:
            kind_fits(op, view.element, report)
        if op.attributes.get("failure_ordering") in ("release", "acq_rel"):
            report("OP/021", "a failed exchange stores nothing; its ordering cannot be a release")

    return rule


def fragment_access(op: Operation, report: Report) -> None:
    """A tile of a view of at least two axes."""
    if not full_rank(op, report):
        return
    view = _view(op)
    if view.rank < 2:
        report("OP/019", f"a fragment is a tile of at least two axes; {view} has {view.rank}")
        return
    payload = op.results[0].type if op.results else op.operand("value").type
    assert isinstance(payload, VectorType)
    if isinstance(view.element, FloatType) and isinstance(payload.element, IntegerType) and view.element.width > 8:
        report("OP/003", f"a fragment of {view} has float lanes, not {payload}")
    if "auxiliary" in op.definition.operand_positions:
        from loom.dialect.rules.values import keyed

        keyed(op, report)
