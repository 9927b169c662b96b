"""Buffers, views and encodings: compile-time descriptions, and which memory may overlap which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loom.ir import Block, EncodingAttribute, Operation, Type, Value, ViewType
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import Operand
from loom.target.amdgpu.lowering.values import (
    BufferValue,
    EncodingValue,
    Lowered,
    Root,
    Truth,
    ViewValue,
    element_bits,
)
from loom.transform.rejection import NoForm

_TRANSPARENT = (
    "buffer.assume.alignment",
    "buffer.assume.memory_space",
    "buffer.view",
    "view.subview",
    "view.refine",
)
_LAYOUTS = "use #dense or encoding.layout.strided"
_WRITERS = ("store", "scatter", "atomic", "store.mask", "compress")


class MemoryMap:
    """Which roots a kernel writes and which are proven disjoint."""

    def __init__(self, body: Block) -> None:
        self.written: set[Value] = set()
        self.accessed: set[Value] = set()
        self.everything_written = False
        self.group: dict[Value, Operation] = {}
        region = body.parent
        assert region is not None
        for op in region.walk():
            self._visit(op)
        globals_ = [r for r in self.accessed if not self.is_local(r)]
        groups = {self.group.get(r) for r in globals_}
        self.disjoint = len(groups) == 1 and None not in groups

    @staticmethod
    def is_local(root: Value) -> bool:
        """Whether a root is workgroup or private memory."""
        op = root.defining_op
        return op is not None and op.name in ("buffer.alloca", "kernel.workgroup.storage")

    @staticmethod
    def root(value: Value) -> Value | None:
        """The value a buffer or view was derived from, None when it is chosen at run time."""
        while True:
            op = value.defining_op
            if op is None:
                block = value.owner
                parent = block.parent_op if isinstance(block, Block) else None
                return value if parent is not None and parent.name == "kernel.def" else None
            if op.name in _TRANSPARENT:
                value = op.operands[value.index if op.name == "buffer.assume.alignment" else 0]
            elif op.name == "buffer.assume.same_root":
                value = op.operands[1]
            elif op.name in ("buffer.assume.noalias", "buffer.alloca", "kernel.workgroup.storage"):
                return value
            else:
                return None

    def _visit(self, op: Operation) -> None:
        name = op.name
        if name == "buffer.assume.noalias":
            for result in op.results:
                self.group[result] = op
            return
        if name == "low.invoke" and "pure" not in op.attributes:
            self.everything_written = True
            return
        views = [v for v in op.operands if isinstance(v.type, ViewType)]
        if not views or name in _TRANSPARENT or name == "scf.select":
            return
        writes = any(part in name for part in _WRITERS) or op.definition.has_trait("writes")
        for view in views:
            found = self.root(view)
            if found is None:
                if writes:
                    self.everything_written = True
                continue
            self.accessed.add(found)
            if writes and not (name.startswith("kernel.async") and view is op.operands[0]):
                self.written.add(found)

    def is_written(self, root: Value) -> bool:
        """Whether anything that may overlap ``root`` is written."""
        if self.everything_written or root in self.written:
            return True
        if self.is_local(root):
            return False
        return any(
            not self.is_local(other) and not self.are_disjoint(root, other)
            for other in self.written
            if other is not root
        )

    def are_disjoint(self, a: Value, b: Value) -> bool:
        """Whether two roots are proven not to overlap."""
        group = self.group.get(a)
        return a is not b and group is not None and group is self.group.get(b)


def layout_strides(lw: Lowering, type_: ViewType) -> tuple[object, ...]:
    """Element strides of a view type: integers, values, or (integer, value …) for products of dimensions."""
    layout = type_.layout
    if isinstance(layout, Value):
        found = lw.encoding(layout)
        if found.strides is not None:
            return found.strides
        if found.attribute is not None and found.attribute.family != "dense":
            raise NoForm(f"a view with layout #{found.attribute.family}", _LAYOUTS)
    elif isinstance(layout, EncodingAttribute) and layout.family != "dense":
        raise NoForm(f"a view with layout #{layout.family}", _LAYOUTS)
    strides: list[object] = []
    number = 1
    factors: list[Value] = []
    for dim in reversed(type_.dims):
        strides.append((number, *factors) if factors else number)
        known = dim if isinstance(dim, int) else lw.ranges.constant(dim)
        if known is not None:
            number *= known
        else:
            assert isinstance(dim, Value)
            factors.append(dim)
    return tuple(reversed(strides))


def _view(lw: Lowering, op: Operation) -> None:
    root = lw.buffer(op.operand("buffer")).root
    result = op.results[0]
    type_ = result.type
    assert isinstance(type_, ViewType)
    offset = op.operand("offset")
    known = lw.ranges.constant(offset)
    terms: list[tuple[object, int]] = [] if known is not None else [(offset, 1)]
    alignment = type_.alignment or max(1, element_bits(type_.element) // 8)
    lw.set(
        result,
        ViewValue(root, type_.element, terms, known or 0, layout_strides(lw, type_), tuple(type_.dims), int(alignment)),
    )


def _subview(lw: Lowering, op: Operation) -> None:
    view = lw.view(op.operand("view"))
    type_ = op.results[0].type
    assert isinstance(type_, ViewType)
    size = max(1, element_bits(view.element) // 8)
    terms = list(view.terms)
    constant = view.constant
    for index, stride in zip(op.index_list("indices"), view.strides, strict=True):
        if isinstance(stride, int):
            if isinstance(index, int):
                constant += index * stride * size
            else:
                terms.append((index, stride * size))
            continue
        number, *values = stride if isinstance(stride, tuple) else (1, stride)
        if index == 0:
            continue
        if isinstance(index, int):
            number *= index
        else:
            values = [index, *values]
        if len(values) > 2:
            raise NoForm(
                "a subview with more than two dynamic factors in one axis", "give the view an encoding.layout.strided"
            )
        terms.append((values[0] if len(values) == 1 else (values[0], values[1]), number * size))
    lw.set(op.results[0], replace(view, terms=terms, constant=constant, dims=tuple(type_.dims)))


def _refine(lw: Lowering, op: Operation) -> None:
    view = lw.view(op.operand("view"))
    type_ = op.results[0].type
    assert isinstance(type_, ViewType)
    strides = view.strides
    if not any(isinstance(s, Value) for s in strides) and type_.layout is None:
        strides = layout_strides(lw, type_)
    lw.set(op.results[0], replace(view, dims=tuple(type_.dims), strides=strides))


def _alloca(lw: Lowering, op: Operation) -> None:
    size = lw.constant_index(op, op.operand("size"), "the size")
    alignment = op.attributes.get("base_alignment")
    align = int(alignment) if isinstance(alignment, int) else 16
    space = str(op.attributes["memory_space"])
    make_frame(lw, op, op.results[0], space, size, align)


def make_frame(lw: Lowering, op: Operation, result: Value, space: str, size: int, align: int) -> None:
    """Reserve workgroup or private memory for a buffer."""
    align = max(align, 4)
    written = lw.memory.is_written(result)
    if space == "workgroup":
        offset = -(-lw.lds_bytes // align) * align
        lw.lds_bytes = offset + size
        if lw.lds_bytes > lw.lds_limit:
            raise lw.reject(
                op,
                f"workgroup memory of {lw.lds_bytes} bytes; {lw.target.processor} has {lw.lds_limit}",
                5,
                "allocate less, or reuse one allocation",
            )
    else:
        offset = -(-lw.scratch_bytes // align) * align
        lw.scratch_bytes = offset + size
    name = f"{space}{offset}"
    lw.set(result, BufferValue(Root(space, None, offset, align, name, written, size=size)))


def _noalias(lw: Lowering, op: Operation) -> None:
    for value, result in zip(op.operands, op.results, strict=True):
        root = lw.buffer(value).root
        if root.space != "global":
            lw.set(result, BufferValue(root))
            continue
        alias = (result.name or f"binding{root.index}") if lw.memory.disjoint else None
        lw.set(result, BufferValue(replace(root, alias=alias, written=lw.memory.is_written(result))))


def _alignment(lw: Lowering, op: Operation) -> None:
    minimum = op.attributes["minimum_alignment"]
    for value, result in zip(op.operands, op.results, strict=True):
        root = lw.buffer(value).root
        lw.set(result, BufferValue(replace(root, alignment=max(root.alignment, int(minimum)))))  # type: ignore[arg-type]


def _memory_space(lw: Lowering, op: Operation) -> None:
    space = str(op.attributes["memory_space"])
    root = lw.buffer(op.operands[0]).root
    expected = {"workgroup": "workgroup", "private": "private"}.get(space, "global")
    if expected != root.space and space not in ("unknown", "generic"):
        raise lw.reject(
            op,
            f"a buffer in {root.space} memory is asserted to lie in {space} memory",
            6,
            f"assert {root.space}, or leave the assume out",
        )
    lw.set(op.results[0], BufferValue(root))


def _same_root(lw: Lowering, op: Operation) -> None:
    mine, other = lw.buffer(op.operands[0]).root, lw.buffer(op.operands[1]).root
    lw.set(op.results[0], BufferValue(replace(mine, alias=other.alias, written=mine.written or other.written)))


def select_memory(lw: Lowering, condition: Truth, x: Lowered, y: Lowered) -> Lowered:
    """A buffer or view chosen at run time; both lie in the same memory space."""
    a, b = (v.root for v in (x, y) if isinstance(v, BufferValue | ViewValue))
    if a.space != b.space:
        raise NoForm(f"a selection between {a.space} and {b.space} memory", "load from each and select the values")
    written = a.written or b.written
    alignment = min(a.alignment, b.alignment)
    alias = a.alias if a.alias == b.alias else None
    if isinstance(x, ViewValue) and isinstance(y, ViewValue):
        if x.strides != y.strides:
            raise NoForm("a selection of views with different strides", "load from each and select the values")
        dims = x.dims if x.dims == y.dims else tuple(p if p == q else None for p, q in zip(x.dims, y.dims, strict=True))
        same = x.terms == y.terms and x.constant == y.constant
        if a.space == "global":
            p = view_base(lw, x) if not same else lw.i.split(_base(a))
            q = view_base(lw, y) if not same else lw.i.split(_base(b))
            base = lw.e.join(list(lw.t.select(condition, p, q)))
            root = Root("global", base, alignment=1 if not same else alignment, alias=alias, written=written)
        else:
            word = lw.t.select_word(condition, _frame_word(lw, x, same), _frame_word(lw, y, same))
            root = Root(a.space, None, 0, 1 if not same else alignment, alias, written, dynamic=word)
        return replace(x, root=root, dims=dims, terms=x.terms if same else [], constant=x.constant if same else 0)
    if a.space == "global":
        base = lw.e.join(list(lw.t.select(condition, lw.i.split(_base(a)), lw.i.split(_base(b)))))
        return BufferValue(Root("global", base, alignment=alignment, alias=alias, written=written))
    first = lw.i.add(a.dynamic, a.offset)
    second = lw.i.add(b.dynamic, b.offset)
    return BufferValue(
        Root(a.space, None, 0, alignment, alias, written, dynamic=lw.t.select_word(condition, first, second))
    )


def _base(root: Root) -> Value:
    assert root.base is not None
    return root.base


def view_base(lw: Lowering, view: ViewValue) -> tuple[Operand, Operand]:
    """The 64-bit address of a global view's first element."""
    from loom.target.amdgpu.lowering.addressing import Affine, add_view_terms, sum64

    affine = Affine(constant=view.constant)
    add_view_terms(lw, view, affine)
    return lw.i.add64(lw.i.split(_base(view.root)), sum64(lw, affine.terms, affine.constant))


def _frame_word(lw: Lowering, view: ViewValue, base_only: bool) -> Operand:
    from loom.target.amdgpu.lowering.addressing import Affine, add_view_terms, sum32

    start = lw.i.add(view.root.dynamic, view.root.offset)
    if base_only:
        return start
    affine = Affine(constant=view.constant)
    add_view_terms(lw, view, affine)
    return lw.i.add(sum32(lw, affine.terms, affine.constant), start)


def memory_words(lw: Lowering, value: BufferValue | ViewValue) -> tuple[Operand, ...]:
    """A buffer or view as words: its 64-bit address, or its offset in the frame."""
    root = value.root
    if root.space == "global":
        return view_base(lw, value) if isinstance(value, ViewValue) else lw.i.split(_base(root))
    if isinstance(value, ViewValue):
        return (_frame_word(lw, value, False),)
    return (lw.i.add(root.dynamic, root.offset),)


def memory_from_words(
    lw: Lowering, sample: BufferValue | ViewValue, words: Sequence[Value], type_: Type
) -> BufferValue | ViewValue:
    """The buffer or view that words from :func:`memory_words` stand for; nothing is known of what it overlaps."""
    if sample.root.space == "global":
        root = Root("global", lw.e.join(list(words)), written=True)
    else:
        root = Root(sample.root.space, None, 0, 1, None, True, dynamic=words[0])
    if isinstance(sample, BufferValue):
        return BufferValue(root)
    assert isinstance(type_, ViewType)
    return replace(sample, root=root, terms=[], constant=0, strides=layout_strides(lw, type_), dims=tuple(type_.dims))


def _length(lw: Lowering, op: Operation) -> None:
    size = lw.buffer(op.operand("buffer")).root.size
    if size is not None:
        lw.ranges.refine(op.results[0], (size, size))
        lw.set(op.results[0], lw.index_constant(size))
        return
    raise lw.reject(
        op,
        "the kernel interface does not carry the length of a binding",
        7,
        "pass the length as an index argument of the kernel",
    )


def _pack(lw: Lowering, op: Operation) -> None:
    alignments = op.attributes["alignments"]
    assert isinstance(alignments, tuple)
    total = 0
    offsets = []
    for size, alignment in zip(op.operands, alignments, strict=True):
        bytes_ = lw.constant_index(op, size, "a size")
        total = -(-total // int(alignment)) * int(alignment)  # type: ignore[arg-type]
        offsets.append(total)
        total += bytes_
    for result, number in zip(op.results, [total, *offsets], strict=True):
        lw.ranges.refine(result, (number, number))
        lw.set(result, lw.index_constant(number))


# Encodings


def _dense(lw: Lowering, op: Operation) -> None:
    lw.set(op.results[0], EncodingValue(EncodingAttribute("dense")))


def _strided(lw: Lowering, op: Operation) -> None:
    strides: list[object] = []
    for stride in op.index_list("strides"):
        known = stride if isinstance(stride, int) else lw.ranges.constant(stride)
        strides.append(known if known is not None else stride)
    lw.set(op.results[0], EncodingValue(strides=tuple(strides)))


def _define(lw: Lowering, op: Operation) -> None:
    attribute = op.attributes["encoding"]
    assert isinstance(attribute, EncodingAttribute)
    keys = op.attributes.get("auxiliary_keys")
    operands = (
        dict(zip((str(k) for k in keys), op.operand_group("auxiliary"), strict=True)) if isinstance(keys, tuple) else {}
    )
    lw.set(op.results[0], EncodingValue(attribute, operands=operands))


def _is_a(lw: Lowering, op: Operation) -> None:
    """Whether an encoding belongs to a category: its family, or what its family's name begins with."""
    found = lw.encoding(op.operands[0])
    family = "strided" if found.strides is not None else found.attribute.family if found.attribute else ""
    category = str(op.attributes["category"])
    lw.set(op.results[0], lw.t.constant(family == category or family.startswith(category + ".")))


def _same_encoding(lw: Lowering, op: Operation) -> None:
    found = lw.encoding(op.operands[0])
    attribute = op.attributes.get("encoding")
    if isinstance(attribute, EncodingAttribute):
        found = EncodingValue(attribute, found.strides, found.operands)
    lw.set(op.results[0], found)


HANDLERS: dict[str, Handler] = {
    "buffer.view": _view,
    "buffer.alloca": _alloca,
    "buffer.assume.noalias": _noalias,
    "buffer.assume.alignment": _alignment,
    "buffer.assume.memory_space": _memory_space,
    "buffer.assume.same_root": _same_root,
    "buffer.length": _length,
    "buffer.pack": _pack,
    "view.subview": _subview,
    "view.refine": _refine,
    "encoding.layout.dense": _dense,
    "encoding.layout.strided": _strided,
    "encoding.define": _define,
    "encoding.assume.spec": _same_encoding,
    "encoding.isa": _is_a,
    "encoding.layout.assume.dense": _same_encoding,
    "encoding.layout.assume.strided": _strided,
}
