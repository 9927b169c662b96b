"""``pipeline(depth)``: the reads of a loop, and what makes their addresses, run ``depth - 1`` rounds ahead.

The body is split into an early part (reads whose addresses do not depend on carried values, with their pure
producers) and the rest. What the rest needs of the early part travels through a queue of carried values; a prologue
fills it, an epilogue drains it.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom.ir import I1, INDEX, Block, Builder, Module, Operation, Region, Type, Value
from loom.transform.control_flow import trip_count, yielded
from loom.transform.folding import constant_of
from loom.transform.passes import PassContext
from loom.transform.rejection import rejection
from loom.transform.structurize import placeholder

_DEEPEST = 65535


def pipeline_loops(module: Module, context: PassContext) -> int:
    """Pipeline every ``scf.for`` that asks for it, innermost first; return how many.

    Raises:
        LoomError: ``PIPELINE/001`` for a depth that is no constant in 1..65535, ``PIPELINE/002`` for an op that may
            not stand in a
            pipelined loop.
    """
    count = 0
    for symbol in module.operations:
        for loop in reversed([op for op in symbol.walk() if op.name == "scf.for"]):
            depth_value = loop.optional_operand("pipeline_depth")
            if depth_value is None:
                continue
            depth = constant_of(depth_value)
            if not isinstance(depth, int) or not 1 <= depth <= _DEEPEST:
                raise rejection(
                    loop,
                    "the pipeline depth is not a constant in 1..65535",
                    "PIPELINE/001",
                    "use an index.constant or a config value",
                )
            loop.set_operand_group("pipeline_depth", [])
            if depth > 1:
                _reject_effects(loop)
                count += _pipeline(loop, depth)
    return count


def _reject_effects(loop: Operation) -> None:
    for op in loop.region("body").walk():
        traits = op.definition.traits
        reason = None
        if op.name == "scf.while":
            reason = "scf.while"
        elif op.name == "scf.schedule.fence":
            reason = "a schedule fence"
        elif "writes" in traits:
            reason = "a write"
        elif op.attributes.get("volatile"):
            reason = "a volatile access"
        elif op.name.startswith("kernel.barrier"):
            reason = "a barrier"
        if reason is not None:
            raise rejection(
                op,
                f"{reason} cannot stand in a loop with pipeline(depth > 1)",
                "PIPELINE/002",
                "move it out of the loop, or drop pipeline(..)",
            )


def _early_part(body: Block) -> list[Operation]:
    """Reads that need no carried value, and the pure ops that make their addresses, in order."""
    induction = body.arguments[0]
    ready: set[Operation] = set()
    for op in body.operations:
        if op.regions or op.definition.is_terminator or "convergent" in op.definition.traits:
            continue
        if not (op.definition.is_pure or "reads" in op.definition.traits):
            continue
        needs = [v for v in op.operands if v.block is body]
        if all(v is induction or (isinstance(v.owner, Operation) and v.owner in ready) for v in needs):
            ready.add(op)
    wanted: set[Operation] = set()
    work = [op for op in ready if "reads" in op.definition.traits]
    while work:
        op = work.pop()
        if op not in wanted:
            wanted.add(op)
            work.extend(v.owner for v in op.operands if isinstance(v.owner, Operation) and v.owner in ready)
    return [op for op in body.operations if op in wanted]


def _copy(ops: Sequence[Operation], at: Builder, mapping: dict[Value, Value]) -> None:
    for op in ops:
        at.insert(op.clone(mapping))


def _pipeline(loop: Operation, depth: int) -> int:
    body = loop.body("body")
    early = _early_part(body)
    reads = [op for op in early if "reads" in op.definition.traits]
    if not reads:
        return 0
    early_set = set(early)
    late = [op for op in body.operations if op not in early_set and not op.definition.is_terminator]
    # Pure producers are cheap and are written again in the late part; only what was read travels through the queue.
    producers = [op for op in early if op not in reads]
    queue_values = [r for op in reads for r in op.results]
    kind = loop.operand("lower").type
    lower, upper, step = (loop.operand(name) for name in ("lower", "upper", "step"))
    trips = trip_count(loop)
    builder = Builder.before(loop)
    ahead = depth - 1

    def at_round(b: Builder, number: int) -> Value:
        """The induction value of round ``number``."""
        constant, start = constant_of(step), constant_of(lower)
        if isinstance(constant, int) and isinstance(start, int):
            return b.constant(start + number * constant, kind)
        value = lower
        for _ in range(number):
            value = b.create("index.add", [value, step], [kind]).results[0]
        return value

    def read(b: Builder, induction: Value, guard: Value | None) -> list[Value]:
        """Run the early part for one round, unless ``guard`` says there is no such round."""
        if guard is None:
            mapping: dict[Value, Value] = {body.arguments[0]: induction}
            _copy(early, b, mapping)
            return [mapping[v] for v in queue_values]
        then_block, else_block = Block(), Block()
        inner = Builder.at_end(then_block, loop._location)
        mapping = {body.arguments[0]: induction}
        _copy(early, inner, mapping)
        inner.create("scf.yield", [mapping[v] for v in queue_values])
        other = Builder.at_end(else_block, loop._location)
        other.create("scf.yield", [placeholder(other, v.type, body) for v in queue_values])
        types: list[Type] = [v.type for v in queue_values]
        made = b.create("scf.if", [guard], types, {}, [Region([then_block]), Region([else_block])])
        return list(made.results)

    def below(b: Builder, induction: Value, limit: Value) -> Value:
        predicate = "slt" if kind is INDEX else "ult"
        return b.create("index.cmp", [induction, limit], [I1], {"predicate": predicate}).results[0]

    def compute(b: Builder, induction: Value, carried: Sequence[Value], loaded: Sequence[Value]) -> list[Value]:
        """Run the late part for one round; return the next carried values."""
        mapping: dict[Value, Value] = {body.arguments[0]: induction}
        mapping.update(zip(body.arguments[1:], carried, strict=True))
        _copy(producers, b, mapping)
        mapping.update(zip(queue_values, loaded, strict=True))
        _copy(late, b, mapping)
        return [mapping.get(v, v) for v in yielded(body)]

    queue: list[list[Value]] = []
    for k in range(ahead):
        if trips is not None:
            if k < trips:
                queue.append(read(builder, at_round(builder, k), None))
            else:
                queue.append([placeholder(builder, v.type, body) for v in queue_values])
        else:
            induction = at_round(builder, k)
            queue.append(read(builder, induction, below(builder, induction, upper)))
    distance = at_round(builder, 0)
    if trips is not None:
        main_upper = at_round(builder, max(0, trips - ahead))
    else:
        # The last ``ahead`` rounds have nothing more to read: the main loop ends before them.
        distance = builder.constant(0, kind)
        for _ in range(ahead):
            distance = builder.create("index.add", [distance, step], [kind]).results[0]
        main_upper = builder.create("index.sub", [upper, distance], [kind]).results[0]
        if kind is not INDEX:
            # Byte counts do not go below zero.
            enough = below(builder, distance, upper)
            main_upper = builder.create("scf.select", [enough, main_upper, lower], [kind]).results[0]
    inits = loop.operand_group("inits")
    flat = [v for entry in queue for v in entry]
    main_body = Block()
    main_induction = main_body.add_argument(kind, body.arguments[0].name)
    carried = [main_body.add_argument(v.type, a.name) for v, a in zip(inits, body.arguments[1:], strict=True)]
    slots = [main_body.add_argument(v.type) for v in flat]
    inside = Builder.at_end(main_body, loop._location)
    width = len(queue_values)
    future = main_induction
    for _ in range(ahead):
        future = inside.create("index.add", [future, step], [kind]).results[0]
    fresh = read(inside, future, None)
    following = compute(inside, main_induction, carried, slots[:width])
    inside.create("scf.yield", [*following, *slots[width:], *fresh])
    attributes = {k: v for k, v in loop.attributes.items() if k != "unroll"}
    main = builder.create(
        "scf.for",
        {"lower": lower, "upper": main_upper, "step": step, "inits": [*inits, *flat],
         "unroll_factor": loop.optional_operand("unroll_factor")},
        [v.type for v in [*inits, *flat]],
        attributes,
        [Region([main_body])],
    )  # fmt: skip
    state: list[Value] = list(main.results[: len(inits)])
    drained = list(main.results[len(inits) :])
    reached = main_upper
    if trips is None:
        # A loop shorter than the queue never enters the main loop: draining starts at the lower bound then.
        entered = below(builder, lower, main_upper)
        rounded = _first_not_below(builder, lower, main_upper, step, kind)
        reached = builder.create("scf.select", [entered, rounded, lower], [kind]).results[0]
    for k in range(ahead):
        if trips is not None:
            number = max(0, trips - ahead) + k
            if number >= trips:
                break
            state = compute(builder, at_round(builder, number), state, drained[k * width : (k + 1) * width])
            continue
        then_block, else_block = Block(), Block()
        inner = Builder.at_end(then_block, loop._location)
        inner.create("scf.yield", compute(inner, reached, state, drained[k * width : (k + 1) * width]))
        Builder.at_end(else_block, loop._location).create("scf.yield", state)
        made = builder.create(
            "scf.if",
            [below(builder, reached, upper)],
            [v.type for v in state],
            {},
            [Region([then_block]), Region([else_block])],
        )
        state = list(made.results)
        reached = builder.create("index.add", [reached, step], [kind]).results[0]
    loop.replace_with(state)
    return 1


def _first_not_below(builder: Builder, lower: Value, limit: Value, step: Value, kind: Type) -> Value:
    """The first ``lower + k * step`` that is at least ``limit``, for ``limit > lower``."""
    if constant_of(step) == 1:
        return limit
    span = builder.create("index.sub", [limit, lower], [kind]).results[0]
    one = builder.constant(1, kind)
    less = builder.create("index.sub", [step, one], [kind]).results[0]
    sum_ = builder.create("index.add", [span, less], [kind]).results[0]
    if kind is not INDEX:
        sum_ = builder.create("index.cast", [sum_], [INDEX]).results[0]
    wide_step = step if kind is INDEX else builder.create("index.cast", [step], [INDEX]).results[0]
    rounds = builder.create("index.div", [sum_, wide_step]).results[0]
    length = builder.create("index.mul", [rounds, wide_step]).results[0]
    if kind is not INDEX:
        length = builder.create("index.cast", [length], [kind]).results[0]
    return builder.create("index.add", [lower, length], [kind]).results[0]
