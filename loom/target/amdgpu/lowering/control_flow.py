"""Structured control flow as Low blocks: uniform branches on SCC, divergent ones by EXEC.

A divergent region runs under a narrowed EXEC: ``s_and_saveexec`` in front, the saved mask moved back behind. Where
every lane may be off and the region is worth skipping, a branch on the SCC of the narrowing goes around it. Values
that leave the region are merged by pass-through operands (vector registers) or mask arithmetic (``i1``).

`scf.for` and `scf.while` are in :mod:`loops`, `scf.switch` in :mod:`selection`; they share the blocks and shapes here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom.ir import Block, Operation, RegisterType, Type, Value
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import EXEC, VGPR, Operand, Scope, is_vector
from loom.target.amdgpu.lowering.ranges import fits_signed, fits_unsigned
from loom.target.amdgpu.lowering.values import (
    BufferValue,
    EncodingValue,
    IndexValue,
    Lanes,
    Lowered,
    Truth,
    ViewValue,
    element_of,
    is_index,
    is_truth,
    lane_count,
    word_count,
)
from loom.transform.rejection import NoForm

SKIP_THRESHOLD = 12
"""Source ops from which on a branch over an empty EXEC pays (LLVM's ``amdgpu-skip-threshold`` has the same default)."""

_MEMORY = (
    "view.",
    "vector.load",
    "vector.store",
    "vector.gather",
    "vector.scatter",
    "vector.atomic",
    "vector.fragment",
)
_SPECULATABLE = 8
"""Pure ops that are computed on both sides rather than branched around."""


# Regions


def _ops(block: Block) -> list[Operation]:
    last = block.terminator
    return [op for op in block.operations if op is not last]


def touches_memory(op: Operation) -> bool:
    """Whether an op, or anything inside, may touch memory or meet other lanes."""
    for inner in op.walk():
        definition = inner.definition
        if inner.name.startswith(_MEMORY) or definition.has_trait("reads") or definition.has_trait("writes"):
            if inner.name in ("view.subview", "view.refine"):
                continue
            return True
        if inner.name in ("low.invoke", "kernel.barrier") or definition.has_trait("convergent"):
            return True
    return False


def worth_skipping(blocks: Sequence[Block]) -> bool:
    """Whether a branch over a region that no lane enters saves more than it costs."""
    count = 0
    for block in blocks:
        for op in _ops(block):
            if op.regions or touches_memory(op):
                return True
            count += 1
    return count > SKIP_THRESHOLD


def _speculatable(block: Block) -> bool:
    ops = _ops(block)
    if len(ops) > _SPECULATABLE:
        return False
    for op in ops:
        if op.regions or not op.definition.is_pure or op.definition.has_trait("convergent"):
            return False
        if op.name.rsplit(".", 1)[-1] in _EXPENSIVE:
            return False
    return True


_EXPENSIVE = frozenset(
    ("divf", "sqrtf", "expf", "logf", "powf", "sinf", "cosf", "tanhf", "erff", "divsi", "divui", "remsi", "remui",
     "div", "rem", "remf", "atan2f", "log1pf", "expm1f", "geluf", "softplusf", "logisticf", "siluf")
)  # fmt: skip


# What a value looks like when it crosses a block boundary


@dataclass(slots=True)
class Shape:
    """Registers of a source value at a block boundary.

    ``kind`` is ``data``, ``index``, ``truth``, ``lanes``, ``memory`` (a buffer or view by its address) or ``static``.
    """

    kind: str
    type: Type
    registers: list[RegisterType]
    signed: bool = False
    static: Lowered | None = None
    parts: tuple[Shape, ...] = ()


def shape_of(lw: Lowering, value: Value, divergent: bool, sample: Lowered | None = None) -> Shape:
    """Choose registers for a source value that several predecessors define."""
    type_ = value.type
    e = lw.e
    scalar = RegisterType("amdgpu.sgpr", 1)
    vector = RegisterType(VGPR, 1)
    if is_truth(type_):
        return Shape("truth", type_, [e.mask_type if divergent else scalar])
    if is_index(type_):
        interval = lw.ranges.interval(value)
        one = fits_unsigned(interval) or fits_signed(interval)
        return Shape("index", type_, [vector if divergent else scalar] * (1 if one else 2), signed=interval[0] < 0)
    if isinstance(sample, ViewValue | BufferValue):
        bank = vector if divergent else scalar
        return Shape("memory", type_, [bank] * (2 if sample.root.space == "global" else 1), static=sample)
    if isinstance(sample, EncodingValue):
        return Shape("static", type_, [], static=sample)
    if isinstance(sample, Lanes):
        parts = []
        for lane in sample.lanes:
            if isinstance(lane, Truth):
                parts.append(Shape("truth", element_of(type_), [e.mask_type if divergent else scalar]))
            else:
                parts.append(Shape("index", element_of(type_), [vector if divergent else scalar] * 2))
        return Shape("lanes", type_, [r for p in parts for r in p.registers], parts=tuple(parts))
    integer = not hasattr(element_of(type_), "name")
    in_scalar = not divergent and integer and lane_count(type_) == 1
    return Shape("data", type_, [scalar if in_scalar else vector] * word_count(type_))


def registers_of(lw: Lowering, lowered: Lowered, shape: Shape) -> list[Value]:
    """The registers of a value in the form that ``shape`` asks for."""
    e = lw.e
    if shape.kind == "memory":
        from loom.target.amdgpu.lowering.views import memory_words

        assert isinstance(lowered, BufferValue | ViewValue) and isinstance(shape.static, BufferValue | ViewValue)
        if lowered.root.space != shape.static.root.space:
            raise NoForm(
                f"a choice between {lowered.root.space} and {shape.static.root.space} memory",
                "load in each branch and yield the values",
            )
        return [
            e.to_vector(w) if r.register_class == VGPR else e.to_scalar(w)
            for w, r in zip(memory_words(lw, lowered), shape.registers, strict=True)
        ]
    if shape.kind == "static":
        if lowered is not shape.static and lowered != shape.static:
            raise NoForm("an encoding that differs between branches", "use it inside of each branch")
        return []
    if shape.kind == "truth":
        assert isinstance(lowered, Truth)
        if shape.registers[0] is e.mask_type and (e.mask_units != 1 or lowered.mask is not None or shape.signed):
            return [lw.t.as_mask(lowered)]
        if shape.parts:
            return [lw.t.as_mask(lowered)]
        return [e.to_scalar(lw.t.as_bit(lowered))]
    if shape.kind == "lanes":
        assert isinstance(lowered, Lanes)
        out: list[Value] = []
        for lane, part in zip(lowered.lanes, shape.parts, strict=True):
            out += registers_of(lw, lane, part)
        return out
    if shape.kind == "index":
        assert isinstance(lowered, IndexValue)
        words: tuple[Operand, ...] = lowered.words[:1] if len(shape.registers) == 1 else tuple(lw.extend_index(lowered))
    else:
        assert isinstance(lowered, tuple)
        words = lowered
    result = []
    for word, register in zip(words, shape.registers, strict=True):
        result.append(e.to_vector(word) if register.register_class == VGPR else e.to_scalar(word))
    return result


def from_registers(lw: Lowering, registers: Sequence[Value], shape: Shape) -> Lowered:
    """The value that registers of a shape hold."""
    if shape.kind == "memory":
        from loom.target.amdgpu.lowering.views import memory_from_words

        assert isinstance(shape.static, BufferValue | ViewValue)
        return memory_from_words(lw, shape.static, registers, shape.type)
    if shape.kind == "static":
        assert shape.static is not None
        return shape.static
    if shape.kind == "truth":
        if shape.parts or registers[0].type.units != 1 or shape.signed:  # type: ignore[attr-defined]
            return lw.t.of_mask(registers[0])
        return Truth(bit=registers[0])
    if shape.kind == "lanes":
        lanes = []
        position = 0
        for part in shape.parts:
            count = len(part.registers)
            lane = from_registers(lw, registers[position : position + count], part)
            assert isinstance(lane, Truth | IndexValue)
            lanes.append(lane)
            position += count
        return Lanes(tuple(lanes))
    if shape.kind == "index":
        return IndexValue(tuple(registers), signed=shape.signed and len(registers) == 1)
    return tuple(registers)


def mark_mask(shape: Shape) -> Shape:
    """Say that truths of a shape are lane masks (a 32-lane mask has the register type of a scalar bit)."""
    if shape.kind == "truth":
        shape.signed = True
    for part in shape.parts:
        mark_mask(part)
    return shape


# Blocks


def new_block(lw: Lowering, label: str) -> Block:
    """A new block at the end of the kernel's layout."""
    region = lw.entry.parent if lw.entry is not None else None
    assert region is not None
    return region.add_block(Block(label=f"{label}{len(region.blocks)}"))


def enter(lw: Lowering, block: Block) -> None:
    """Continue in ``block``, placing it at the end of the layout."""
    region = block.parent
    assert region is not None
    if region.blocks[-1] is not block:
        region.blocks.remove(block)
        region.blocks.append(block)
    lw.e.block = block
    lw.e.anchor = None


def branch(lw: Lowering, target: Block, values: Sequence[Value] = ()) -> Operation:
    """Leave the present block for ``target``."""
    return lw.e.create("low.br", list(values), [], successors=[target])


def branch_if(lw: Lowering, condition: Value, then: Block, otherwise: Block) -> Operation:
    """Leave the present block on an SCC value."""
    return lw.e.create("low.cond_br", [condition], [], successors=[then, otherwise])


def merge(lw: Lowering, value: Value, old: Value) -> Value:
    """``value`` in active lanes, ``old`` in the others."""
    if value is old:
        return value
    op = value.defining_op
    if (
        op is not None
        and op.name == "low.op"
        and value is op.results[0]
        and _visible(lw, old, op)
        and lw.foldable_old(op, old)
    ):
        # Let the op that made the value keep the old contents of inactive lanes.
        op.set_operands([*op.operands, old])
        lw.e.forget(value)
        return value
    return lw.e.fresh("v_mov_b32", value, old=(old,))[0]


def _visible(lw: Lowering, old: Value, op: Operation) -> bool:
    """Whether ``old`` is defined in front of an op of the present block or of one that it dominates."""
    if old.is_block_argument:
        return True
    definition = old.defining_op
    if definition is None or definition.parent is not op.parent:
        return definition is not None and op.parent is lw.e.block
    return definition.is_before(op)


def merge_mask(lw: Lowering, value: Value, old: Value) -> Value:
    """Mask ``value`` in active lanes, ``old`` in the others."""
    e = lw.e
    if value is old:
        return value
    kept = e.fresh(f"s_and_not1_{e.mask_suffix}", old, e.read_exec())[0]
    taken = e.fresh(f"s_and_{e.mask_suffix}", value, e.read_exec())[0]
    return e.op(f"s_or_{e.mask_suffix}", taken, kept)[0]


def merge_registers(lw: Lowering, new: Sequence[Value], old: Sequence[Value], shapes: Sequence[Shape]) -> list[Value]:
    """Merge register by register: masks by arithmetic, vector registers by pass-through."""
    masks: list[bool] = []
    for shape in shapes:
        masks += mask_flags(shape)
    return [
        merge_mask(lw, n, o) if is_mask else (merge(lw, n, o) if is_vector(n) else n)
        for n, o, is_mask in zip(new, old, masks, strict=True)
    ]


def mask_flags(shape: Shape) -> list[bool]:
    """For each register of a shape, whether it is a lane mask."""
    if shape.kind == "lanes":
        return [f for part in shape.parts for f in mask_flags(part)]
    return [shape.kind == "truth" and shape.signed] * len(shape.registers)


def needs_rest(op: Operation) -> bool:
    """Whether anything runs after the region op before the kernel ends."""
    current: Operation | None = op
    while current is not None:
        following = current.next
        if following is None or following.name == "kernel.return":
            parent = current.parent_op
            if parent is None or parent.name == "kernel.def":
                return False
            if parent.name not in ("scf.if",):
                return True
            current = parent
            continue
        return not (following.name in ("scf.yield",) and following.next is None and not following.operands) or (
            current.parent_op is not None and needs_rest(current.parent_op)
        )
    return True


# Values of region ops: what their blocks yield, and the registers where ways meet


def yielded_values(block: Block) -> list[Value]:
    """What a block gives to the op it belongs to."""
    last = block.last
    return list(last.operands) if last is not None and last.name == "scf.yield" else []


def run_chosen(lw: Lowering, op: Operation, block: Block) -> None:
    """Lower the one region that is known to run; what it yields are the op's results."""
    lw.run_block(block)
    if block.last is not None:
        for value, result in zip(block.last.operands, op.results, strict=False):
            lw.set(result, lw.get(value))


def result_shapes(lw: Lowering, op: Operation, yielded: Sequence[Value]) -> list[Shape]:
    """Registers that the results of a region op take, ``yielded`` being what one of its regions yields."""
    shapes = []
    for result, value in zip(op.results, yielded, strict=True):
        divergent = lw.is_divergent(result)
        shape = shape_of(lw, result, divergent, lw.values.get(value))
        shapes.append(mark_mask(shape) if divergent else shape)
    return shapes


def all_registers(lw: Lowering, values: Sequence[Value], shapes: Sequence[Shape]) -> list[Value]:
    """The registers of all values, in the given shapes."""
    return [r for value, shape in zip(values, shapes, strict=True) for r in registers_of(lw, lw.get(value), shape)]


def add_arguments(lw: Lowering, block: Block, shapes: Sequence[Shape]) -> list[Value]:
    """Block arguments for values of the given shapes."""
    return [lw.e.define(block.add_argument(register)) for shape in shapes for register in shape.registers]


def undefined(lw: Lowering, register: RegisterType) -> Value:
    """A register with any contents."""
    if register.register_class == VGPR:
        return lw.e.vector_constant(0)
    return lw.e.scalar_constant(0) if register.units == 1 else lw.e.join([lw.e.scalar_constant(0)] * register.units)


def undefined_registers(lw: Lowering, shapes: Sequence[Shape]) -> list[Value]:
    """Registers with any contents for values of the given shapes."""
    return [undefined(lw, register) for shape in shapes for register in shape.registers]


def grouped(registers: Sequence[Value], shapes: Sequence[Shape]) -> list[list[Value]]:
    """The registers of each value."""
    out = []
    position = 0
    for shape in shapes:
        count = len(shape.registers)
        out.append(list(registers[position : position + count]))
        position += count
    return out


def bind_results(lw: Lowering, op: Operation, shapes: Sequence[Shape], registers: Sequence[Value]) -> None:
    """Record the registers of all results."""
    for result, shape, group in zip(op.results, shapes, grouped(registers, shapes), strict=True):
        lw.set(result, from_registers(lw, group, shape))


# scf.if


def _if(lw: Lowering, op: Operation) -> None:
    condition = lw.truth(op.operand("condition"))
    then = op.regions[0].blocks[0]
    otherwise = op.regions[1].blocks[0] if len(op.regions) > 1 and op.regions[1].blocks else None
    if condition.constant is not None:
        chosen = then if condition.constant else otherwise
        if chosen is not None:
            run_chosen(lw, op, chosen)
        return
    if op.results and otherwise is not None and _speculatable(then) and _speculatable(otherwise):
        _speculate(lw, op, condition, then, otherwise)
        return
    if condition.is_uniform or not lw.is_divergent(op.operand("condition")):
        _uniform_if(lw, op, condition, then, otherwise)
    else:
        _divergent_if(lw, op, condition, then, otherwise)


def _speculate(lw: Lowering, op: Operation, condition: Truth, then: Block, otherwise: Block) -> None:
    lw.run_block(then)
    lw.run_block(otherwise)
    assert then.last is not None and otherwise.last is not None
    for a, b, result in zip(then.last.operands, otherwise.last.operands, op.results, strict=True):
        select_into(lw, result, condition, a, b)


def select_into(lw: Lowering, result: Value, condition: Truth, a: Value, b: Value) -> None:
    """Record ``condition ? a : b``."""
    x, y = lw.get(a), lw.get(b)
    lw.set(result, select_lowered(lw, condition, x, y, result))


def select_lowered(lw: Lowering, condition: Truth, x: Lowered, y: Lowered, result: Value | None) -> Lowered:
    """``condition ? x : y`` for values of any kind."""
    if condition.constant is not None:
        return x if condition.constant else y
    if isinstance(x, Truth) and isinstance(y, Truth):
        return lw.t.select_truth(condition, x, y)
    if isinstance(x, IndexValue) and isinstance(y, IndexValue):
        if result is not None and lw.index_words(result) == 1:
            word = lw.t.select_word(condition, x.words[0], y.words[0])
            return IndexValue((word,), signed=lw.interval(result)[0] < 0)
        p, q = lw.extend_index(x), lw.extend_index(y)
        return IndexValue(lw.t.select(condition, p, q))
    if isinstance(x, Lanes) and isinstance(y, Lanes):
        lanes = []
        for a, b in zip(x.lanes, y.lanes, strict=True):
            lane = select_lowered(lw, condition, a, b, None)
            assert isinstance(lane, Truth | IndexValue)
            lanes.append(lane)
        return Lanes(tuple(lanes))
    if isinstance(x, tuple) and isinstance(y, tuple):
        return lw.t.select(condition, x, y)
    if isinstance(x, BufferValue | ViewValue):
        from loom.target.amdgpu.lowering.views import select_memory

        return select_memory(lw, condition, x, y)
    raise NoForm(
        "a selection of compile-time values by a run-time condition",
        "use them in the arms of an scf.if, and yield data",
    )


def _uniform_if(lw: Lowering, op: Operation, condition: Truth, then: Block, otherwise: Block | None) -> None:
    then_block, join = new_block(lw, "then"), new_block(lw, "join")
    else_block = new_block(lw, "else") if otherwise is not None else join
    branch_if(lw, lw.t.as_branch(condition), then_block, else_block)
    enter(lw, then_block)
    yielded = _run_arm(lw, op, then, True)
    shapes = result_shapes(lw, op, yielded)
    if otherwise is None:
        branch(lw, join)
    else:
        _leave_arm(lw, yielded, shapes, join)
        enter(lw, else_block)
        yielded = _run_arm(lw, op, otherwise, False)
        _leave_arm(lw, yielded, shapes, join)
    enter(lw, join)
    bind_results(lw, op, shapes, add_arguments(lw, join, shapes))


def _leave_arm(lw: Lowering, yielded: Sequence[Value], shapes: Sequence[Shape], join: Block) -> None:
    with lw.e.scope(Scope()), lw.e.stay():
        registers = all_registers(lw, yielded, shapes)
    branch(lw, join, registers)


def _divergent_if(lw: Lowering, op: Operation, condition: Truth, then: Block, otherwise: Block | None) -> None:
    e = lw.e
    outer = e.exec
    rest = bool(op.results) or needs_rest(op)
    mask = lw.t.as_mask(condition)
    saved, any_lane = narrow(lw, mask)
    if otherwise is None or not (_ops(otherwise) or op.results):
        if not worth_skipping([then]):
            _run_arm(lw, op, then, True)
            e.restore_exec(saved, outer)
            return
        then_block, join = new_block(lw, "then"), new_block(lw, "join")
        branch_if(lw, any_lane, then_block, join)
        enter(lw, then_block)
        _run_arm(lw, op, then, True)
        branch(lw, join)
        enter(lw, join)
        if rest:
            e.restore_exec(saved, outer)
        return
    if not worth_skipping([then, otherwise]):
        first = _run_arm(lw, op, then, True)
        shapes = result_shapes(lw, op, first)
        with e.scope(Scope()):
            kept = all_registers(lw, first, shapes)
        flip(lw, saved, mask)
        with e.scope(Scope()), lw.ranges.assuming(op.operand("condition"), False):
            lw.run_block(otherwise)
            second = yielded_values(otherwise)
            new = all_registers(lw, second, shapes)
            merged = merge_registers(lw, new, kept, shapes)
        e.restore_exec(saved, outer)
        bind_results(lw, op, shapes, merged)
        return
    # Branches: EXEC is put back at the end of each block, so that the copies of branch arguments reach all lanes.
    then_block, then_skip = new_block(lw, "then"), new_block(lw, "skip")
    flow = new_block(lw, "flow")
    branch_if(lw, any_lane, then_block, then_skip)
    enter(lw, then_block)
    first = _run_arm(lw, op, then, True)
    shapes = result_shapes(lw, op, first)
    with e.scope(Scope()), e.stay():
        kept = all_registers(lw, first, shapes)
    e.restore_exec(saved, outer)
    branch(lw, flow, kept)
    enter(lw, then_skip)
    e.restore_exec(saved, outer)
    with e.scope(Scope()), e.stay():
        nothing = undefined_registers(lw, shapes)
    branch(lw, flow, nothing)
    enter(lw, flow)
    kept = add_arguments(lw, flow, shapes)
    any_other = flip(lw, saved, mask)
    else_block, else_skip, join = new_block(lw, "else"), new_block(lw, "skip"), new_block(lw, "join")
    branch_if(lw, any_other, else_block, else_skip)
    enter(lw, else_block)
    with e.scope(Scope()), lw.ranges.assuming(op.operand("condition"), False):
        lw.run_block(otherwise)
        second = yielded_values(otherwise)
        with e.stay():
            new = all_registers(lw, second, shapes)
            merged = merge_registers(lw, new, kept, shapes)
    e.restore_exec(saved, outer)
    branch(lw, join, merged)
    enter(lw, else_skip)
    e.restore_exec(saved, outer)
    branch(lw, join, kept)
    enter(lw, join)
    bind_results(lw, op, shapes, add_arguments(lw, join, shapes))


def narrow(lw: Lowering, mask: Value) -> tuple[Value, Value]:
    """EXEC &= mask; returns the old EXEC and whether any lane is left (SCC)."""
    e = lw.e
    saved, any_lane, _ = e.fresh(f"s_and_saveexec_{e.mask_suffix}", mask)
    e.exec = object()
    return saved, any_lane


def flip(lw: Lowering, saved: Value, mask: Value) -> Value:
    """EXEC = saved & ~mask; returns whether any lane is left (SCC)."""
    e = lw.e
    _, any_lane = e.fresh(f"s_and_not1_{e.mask_suffix}", saved, mask, classes=(EXEC,))
    e.exec = object()
    return any_lane


def _run_arm(lw: Lowering, op: Operation, block: Block, truth: bool) -> list[Value]:
    with lw.e.scope(Scope()), lw.ranges.assuming(op.operand("condition"), truth):
        lw.run_block(block)
    return yielded_values(block)


HANDLERS: dict[str, Handler] = {"scf.if": _if}
