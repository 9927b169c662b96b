"""Unrolling of counted loops, full and partial, with the order of the copies that ``schedule(…)`` asks for."""

from __future__ import annotations

from loom.ir import INDEX, Block, Builder, Module, Operation, Region, Type, Value
from loom.ir.facts import facts_of
from loom.transform.control_flow import trip_count, yielded
from loom.transform.folding import constant_of
from loom.transform.passes import PassContext
from loom.transform.rejection import rejection
from loom.transform.simplify import simplify_body

# A guard against a typing mistake in a bound, far above what any kernel's instruction cache could hold.
_LARGEST_FULL_UNROLL = 4096


def unroll(module: Module, context: PassContext) -> int:
    """Unroll every ``scf.for`` that asks for it, innermost first; return how many loops were unrolled.

    Raises:
        LoomError: ``UNROLL/001`` when a full unroll has no provable trip count, ``UNROLL/002`` for a factor that is no
            constant, ``UNROLL/003`` for a trip count that is too large to write out.
    """
    count = 0
    for symbol in list(module.operations):
        loops = [op for op in symbol.walk() if op.name == "scf.for"]
        for loop in reversed(loops):
            if loop.parent is None:
                continue
            if loop.optional_operand("unroll_factor") is not None:
                count += _unroll_by_factor(loop)
            elif loop.attributes.get("unroll"):
                # Bounds of an inner loop are often known only once what is around it is folded.
                count += _unroll_fully(loop)
        if count:
            simplify_body(symbol)
    return count


def _unroll_fully(loop: Operation) -> int:
    trips = _proven_trips(loop)
    if trips is None:
        raise rejection(
            loop,
            "the trip count of this 'unroll' loop cannot be proven",
            "UNROLL/001",
            "make the step and both bounds constants, or state ranges (index.assume) that leave one count; or write "
            "unroll(%factor), which keeps a loop",
        )
    if trips > _LARGEST_FULL_UNROLL:
        raise rejection(
            loop,
            f"a full unroll would write this loop's body {trips} times",
            "UNROLL/003",
            f"the limit is {_LARGEST_FULL_UNROLL}; write unroll(%factor)",
        )
    builder = Builder.before(loop)
    induction = _positions(builder, loop.operand("lower"), constant_of(loop.operand("step")), trips)
    values = _write_copies(loop, loop.body("body"), loop, induction, loop.operand_group("inits"))
    loop.replace_with(values)
    return 1


def _proven_trips(loop: Operation) -> int | None:
    """How often the loop runs, where facts leave one answer (a start of 0 … 7 does, with steps of 8 up to 32)."""
    trips = trip_count(loop)
    step = constant_of(loop.operand("step"))
    if trips is not None or not isinstance(step, int) or step <= 0:
        return trips
    lower, upper = facts_of(loop.operand("lower")), facts_of(loop.operand("upper"))
    least, most = (max(0, -(-span // step)) for span in (upper.low - lower.high, upper.high - lower.low))
    return least if least == most else None


def _positions(builder: Builder, lower: Value, step: int, trips: int) -> list[Value]:
    """The induction variable of each round."""
    start = constant_of(lower)
    if isinstance(start, int):
        return [builder.constant(start + i * step, lower.type) for i in range(trips)]
    following = [builder.constant(i * step, lower.type) for i in range(1, trips)]
    return [lower, *(builder.create("index.add", [lower, by], [lower.type]).results[0] for by in following)][:trips]


def _unroll_by_factor(loop: Operation) -> int:
    factor_value = loop.optional_operand("unroll_factor")
    assert factor_value is not None
    factor = constant_of(factor_value)
    if not isinstance(factor, int) or factor < 0:
        raise rejection(
            loop,
            "the unroll factor is not a constant that is at least zero",
            "UNROLL/002",
            "use an index.constant or a config value",
        )
    loop.set_operand_group("unroll_factor", [])
    trips = trip_count(loop)
    if trips is not None and 1 < trips <= factor:
        return _unroll_fully(loop)
    if factor > _LARGEST_FULL_UNROLL:
        raise rejection(
            loop,
            f"a factor of {factor} would write this loop's body {factor} times",
            "UNROLL/003",
            f"the limit is {_LARGEST_FULL_UNROLL}",
        )
    if factor <= 1:
        return 0
    if trips is None and _counts_lanes(loop):
        # Lanes with one round left would take it behind the main loop, apart from the lanes they shared it with.
        return 0
    lower, upper, step = (loop.operand(name) for name in ("lower", "upper", "step"))
    builder = Builder.before(loop)
    kind = lower.type
    one_step = constant_of(step)
    if isinstance(one_step, int):
        wide_step = builder.constant(one_step * factor, kind)
    else:
        wide_step = step
        for _ in range(factor - 1):
            wide_step = builder.create("index.add", [wide_step, step], [kind]).results[0]
    # The main loop runs while a whole group of rounds fits; the rest runs one by one behind it.
    if trips is not None:
        lower_constant = constant_of(lower)
        main_upper = builder.constant(lower_constant + (trips - trips % factor) * one_step, kind)
    else:
        span = builder.create("index.sub", [upper, lower], [kind]).results[0]
        zero = builder.constant(0, kind)
        whole = _positive(builder, span, zero, kind)
        groups = builder.create("index.div", [_as_index(builder, whole), _as_index(builder, wide_step)]).results[0]
        length = builder.create("index.mul", [groups, _as_index(builder, wide_step)]).results[0]
        main_upper = builder.create("index.add", [lower, _as_type(builder, length, kind)], [kind]).results[0]
    main = loop.clone()
    loop.parent.insert_before(loop, main)  # type: ignore[union-attr]
    main.set_operand(1, main_upper)
    main.set_operand(2, wide_step)
    body = main.body("body")
    original = Region([Block()])
    source = original.blocks[0]
    for argument in body.arguments:
        source.add_argument(argument.type, argument.name)
    for old, new in zip(body.arguments, source.arguments, strict=True):
        old.replace_all_uses_with(new)
    for op in body.operations:
        op.remove()
        source.append(op)
    terminator = Builder.at_end(body, loop._location).create("scf.yield", [])
    inner = Builder.before(terminator)
    induction = [body.arguments[0]]
    for _ in range(factor - 1):
        induction.append(inner.create("index.add", [induction[-1], step], [kind]).results[0])
    values = _write_copies(loop, source, terminator, induction, body.arguments[1:])
    terminator.set_operand_group("values", values)
    for op in reversed(source.operations):
        op.drop_uses()
        op.remove()
    if trips is not None and trips % factor == 0:
        loop.replace_with(main.results)
    else:
        loop.set_operand(0, main_upper)
        loop.set_operand_group("inits", main.results)
    return 1


def _counts_lanes(loop: Operation) -> bool:
    """Whether the loop holds a collective, and its lanes may leave it in different rounds."""
    if not any("convergent" in op.definition.traits for op in loop.walk()):
        return False
    return not all(_is_alike_in_all_lanes(loop.operand(name)) for name in ("lower", "upper", "step"))


def _is_alike_in_all_lanes(value: Value) -> bool:
    """Whether a value is made of constants, kernel arguments and the place of the workgroup alone."""
    seen: set[Value] = set()
    work = [value]
    while work:
        current = work.pop()
        if current in seen:
            continue
        seen.add(current)
        owner = current.owner
        if isinstance(owner, Block):
            region = owner.parent
            kernel = region.parent if region is not None else None
            if region is None or kernel is None or kernel.name != "kernel.def" or region.blocks[0] is not owner:
                return False
        elif owner is None:
            return False
        elif owner.name.startswith("kernel."):
            if not owner.name.startswith(("kernel.workgroup.id", "kernel.workgroup.size", "kernel.workgroup.count")):
                return False
        elif not owner.definition.is_pure or owner.regions:
            return False
        else:
            work.extend(owner.operands)
    return True


def _positive(builder: Builder, span: Value, zero: Value, kind: Type) -> Value:
    if kind is INDEX:
        return builder.create("index.max", [span, zero], [INDEX]).results[0]
    return span


def _as_index(builder: Builder, value: Value) -> Value:
    if value.type is INDEX:
        return value
    return builder.create("index.cast", [value], [INDEX]).results[0]


def _as_type(builder: Builder, value: Value, kind: Type) -> Value:
    if value.type is kind:
        return value
    return builder.create("index.cast", [value], [kind]).results[0]


def _write_copies(
    loop: Operation, source: Block, anchor: Operation, induction: list[Value], inits: list[Value]
) -> list[Value]:
    """Write one copy of ``source`` before ``anchor`` for each induction value; return the values carried out."""
    carried = list(inits)
    copies: list[list[Operation]] = []
    for position in induction:
        mapping: dict[Value, Value] = {source.arguments[0]: position}
        mapping.update(zip(source.arguments[1:], carried, strict=True))
        copy: list[Operation] = []
        for op in source.operations:
            if op.definition.is_terminator:
                continue
            made = op.clone(mapping)
            anchor.parent.insert_before(anchor, made)  # type: ignore[union-attr]
            copy.append(made)
        copies.append(copy)
        carried = [mapping.get(v, v) for v in yielded(source)]
    schedule = loop.attributes.get("schedule")
    if schedule == "interleaved":
        _interleave(copies, anchor, set())
    elif schedule == "recurrence":
        _interleave(copies, anchor, _recurrent_positions(source))
    return carried


def _interleave(copies: list[list[Operation]], anchor: Operation, recurrent: set[int]) -> None:
    """Reorder the copies within what data and effects allow.

    Interleaved (``recurrent`` empty): operation k of every copy together. Recurrence: the positions in ``recurrent``,
    those
    that carried values reach, come last, copy by copy, so that the chain through the carried values stands alone.
    Ordered
    effects keep their order in both; where they cannot, the copies stay as they are.
    """
    order: list[Operation] = []
    if recurrent:
        order = [op for copy in copies for i, op in enumerate(copy) if i not in recurrent]
        order += [op for copy in copies for i, op in enumerate(copy) if i in recurrent]
    else:
        for row in range(max(map(len, copies), default=0)):
            order += [copy[row] for copy in copies if row < len(copy)]
    if not _order_is_legal(order, [op for copy in copies for op in copy]):
        return
    for op in order:
        op.move_before(anchor)


def _recurrent_positions(source: Block) -> set[int]:
    """Positions of the body's operations that a carried value reaches, directly or through others, or that have
    effects."""
    carried: set[Value] = set(source.arguments[1:])
    positions: set[int] = set()
    for i, op in enumerate(source.operations):
        inner_operands = (v for inner in op.walk() for v in inner.operands)
        if not _may_move(op) or op.regions or any(v in carried for v in inner_operands):
            positions.add(i)
            carried.update(op.results)
    return positions


def _may_move(op: Operation) -> bool:
    return op.definition.is_pure or ("reads" in op.definition.traits and "writes" not in op.definition.traits)


def _order_is_legal(order: list[Operation], before: list[Operation]) -> bool:
    """Definitions stay before uses, and no op with effects passes another one unless both only read."""
    place = {op: i for i, op in enumerate(order)}
    for op in order:
        for inner in op.walk():
            for v in inner.operands:
                if isinstance(v.owner, Operation) and place.get(v.owner, -1) > place[op]:
                    return False
    effects = [op for op in before if not op.definition.is_pure or op.regions]
    last_write = -1
    last_any = -1
    for op in effects:
        if _may_move(op) and not op.regions:
            if place[op] < last_write:
                return False
        else:
            if place[op] < last_any:
                return False
            last_write = place[op]
        last_any = max(last_any, place[op])
    return True
