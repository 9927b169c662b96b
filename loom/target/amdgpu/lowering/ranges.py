"""Intervals and divisibility of integer values, as needed to choose 32-bit carriers and address forms.

An interval is a pair of Python integers that bound the value as a signed number (``index``, integers) or a byte
count (``offset``). It is found by walking definitions, with what the op, its predicates, and the conditions of the
enclosing regions say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import gcd

from loom.ir import Block, IntegerType, OffsetType, Operation, Predicate, Ref, Type, Value

Interval = tuple[int, int]

INDEX_RANGE: Interval = (-(1 << 63), (1 << 63) - 1)
OFFSET_RANGE: Interval = (0, (1 << 63) - 1)
_GRID = (1 << 32) - 1
"""Largest number of work items along one axis: a dispatch packet holds it in 32 bits (HSA system architecture, AQL
packet).
"""

_DEPTH = 48


def type_range(type_: Type) -> Interval:
    """The values a type can hold."""
    if isinstance(type_, OffsetType):
        return OFFSET_RANGE
    if isinstance(type_, IntegerType):
        if type_.width == 1:
            return (0, 1)
        return (-(1 << (type_.width - 1)), (1 << (type_.width - 1)) - 1)
    return INDEX_RANGE


def fits_unsigned(interval: Interval, bits: int = 32) -> bool:
    """Whether every value is in [0, 2^bits)."""
    return interval[0] >= 0 and interval[1] < (1 << bits)


def fits_signed(interval: Interval, bits: int = 32) -> bool:
    """Whether every value is in [-2^(bits-1), 2^(bits-1))."""
    return interval[0] >= -(1 << (bits - 1)) and interval[1] < (1 << (bits - 1))


def _clamp(interval: Interval, limit: Interval) -> Interval:
    # A computed interval outside the type's range may have wrapped: then nothing is known.
    if interval[0] < limit[0] or interval[1] > limit[1]:
        return limit
    return interval


def _meet(a: Interval, b: Interval) -> Interval:
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


class Ranges:
    """Answers for one kernel.

    Args:
        workgroup_size: Static size.
        workgroup_count: Static count, or None for each axis that is not known.
        wave: Lanes in a wave.
    """

    def __init__(
        self,
        workgroup_size: tuple[int, int, int],
        workgroup_count: tuple[int | None, int | None, int | None],
        wave: int,
    ) -> None:
        self.size = workgroup_size
        self.count = workgroup_count
        self.wave = wave
        self._known: dict[Value, Interval] = {}
        self._multiple: dict[Value, int] = {}
        self._refined: dict[Value, Interval] = {}
        self._active: set[Value] = set()

    # Facts from outside

    def refine(self, value: Value, interval: Interval) -> None:
        """Add a fact that holds wherever ``value`` is visible."""
        self._refined[value] = _meet(self._refined.get(value, type_range(value.type)), interval)
        self._known.clear()

    def predicates(self, values: list[Value], predicates: object) -> None:
        """Add the facts of a ``where`` list or an ``assume``."""
        for predicate in predicates if isinstance(predicates, tuple) else ():
            if isinstance(predicate, Predicate):
                self._predicate(values, predicate)

    def _predicate(self, values: list[Value], predicate: Predicate) -> None:
        def value_of(argument: object) -> Value | None:
            return values[argument.index] if isinstance(argument, Ref) and argument.index < len(values) else None

        def bounds(argument: object) -> Interval:
            if isinstance(argument, Ref):
                found = value_of(argument)
                return self.interval(found) if found is not None else INDEX_RANGE
            return (int(argument), int(argument)) if isinstance(argument, int) else INDEX_RANGE

        first = value_of(predicate.arguments[0])
        name = predicate.name
        if name == "pow2":
            if first is not None:
                self.refine(first, (1, type_range(first.type)[1]))
            return
        if name == "finite" or len(predicate.arguments) < 2:
            return
        second = bounds(predicate.arguments[1])
        if first is not None:
            full = type_range(first.type)
            table: dict[str, Interval] = {
                "eq": second,
                "lt": (full[0], second[1] - 1),
                "le": (full[0], second[1]),
                "gt": (second[0] + 1, full[1]),
                "ge": (second[0], full[1]),
                "min": (second[0], full[1]),
                "max": (full[0], second[1]),
            }
            if name in table:
                self.refine(first, table[name])
            elif name == "range":
                self.refine(first, (second[0], bounds(predicate.arguments[2])[1]))
            elif name == "mul" and isinstance(predicate.arguments[1], int):
                self._multiple[first] = max(self._multiple.get(first, 1), abs(predicate.arguments[1]) or 1)
        other = value_of(predicate.arguments[1])
        if other is not None and name in ("lt", "le", "gt", "ge"):
            mine = bounds(predicate.arguments[0])
            full = type_range(other.type)
            flipped: dict[str, Interval] = {
                "lt": (mine[0] + 1, full[1]),
                "le": (mine[0], full[1]),
                "gt": (full[0], mine[1] - 1),
                "ge": (full[0], mine[1]),
            }
            self.refine(other, flipped[name])

    @contextmanager
    def assuming(self, condition: Value, truth: bool) -> Iterator[None]:
        """Facts that hold while ``condition`` is known to be ``truth``."""
        saved_refined, saved_known = dict(self._refined), dict(self._known)
        try:
            self._assume(condition, truth)
            yield
        finally:
            self._refined, self._known = saved_refined, saved_known

    def _assume(self, condition: Value, truth: bool) -> None:
        op = condition.defining_op
        if op is None:
            return
        if (op.name == "scalar.andi" and truth) or (op.name == "scalar.ori" and not truth):
            self._assume(op.operands[0], truth)
            self._assume(op.operands[1], truth)
            return
        if op.name not in ("index.cmp", "scalar.cmpi"):
            return
        predicate = str(op.attributes["predicate"])
        if not truth:
            predicate = _NEGATED[predicate]
        left, right = op.operands[0], op.operands[1]
        a, b = self.interval(left), self.interval(right)
        if predicate[0] == "u":
            # As unsigned numbers; usable where the signs are known.
            if b[0] >= 0 and predicate in ("ult", "ule"):
                self.refine(left, (0, b[1] - (predicate == "ult")))
                if a[0] >= 0:
                    self.refine(right, (a[0] + (predicate == "ult"), b[1]))
            elif a[0] >= 0 and predicate in ("ugt", "uge"):
                self.refine(right, (0, a[1] - (predicate == "ugt")))
                if b[0] >= 0:
                    self.refine(left, (b[0] + (predicate == "ugt"), a[1]))
            return
        if predicate == "eq":
            self.refine(left, b)
            self.refine(right, a)
        elif predicate in ("slt", "sle"):
            strict = predicate == "slt"
            self.refine(left, (a[0], b[1] - strict))
            self.refine(right, (a[0] + strict, b[1]))
        elif predicate in ("sgt", "sge"):
            strict = predicate == "sgt"
            self.refine(left, (b[0] + strict, a[1]))
            self.refine(right, (b[0], a[1] - strict))

    # Questions

    def interval(self, value: Value) -> Interval:
        """Bounds of ``value``, as tight as known."""
        known = self._known.get(value)
        if known is not None:
            return known
        limit = type_range(value.type)
        refined = self._refined.get(value, limit)
        if value in self._active or len(self._active) > _DEPTH:
            return refined
        self._active.add(value)
        try:
            found = _meet(_clamp(self._compute(value), limit), refined)
        finally:
            self._active.discard(value)
        self._known[value] = found
        return found

    def constant(self, value: Value) -> int | None:
        """The value when only one is possible."""
        low, high = self.interval(value)
        return low if low == high else None

    def multiple(self, value: Value, depth: int = 0) -> int:
        """A number that divides the value (0 for a value that is zero)."""
        best = self._multiple.get(value, 1)
        constant = self.constant(value)
        if constant is not None:
            return abs(constant)
        op = value.defining_op
        if op is None or depth > 24:
            return best
        name = op.name
        operands = op.operands

        def of(index: int) -> int:
            return self.multiple(operands[index], depth + 1)

        if name in ("index.mul", "scalar.muli", "index.scale"):
            best = max(best, of(0) * of(1))
        elif name in ("index.add", "index.sub", "scalar.addi", "scalar.subi"):
            best = max(best, gcd(of(0), of(1)))
        elif name == "index.madd":
            best = max(best, gcd(of(0) * of(1), of(2)))
        elif name in ("index.shli", "scalar.shli"):
            shift = self.constant(operands[1])
            if shift is not None and 0 <= shift < 63:
                best = max(best, of(0) << shift)
        elif name in ("index.assume", "scalar.assume"):
            best = max(best, self.multiple(operands[value.index], depth + 1))
            for predicate in _predicate_list(op):
                reference = predicate.arguments[0]
                if (
                    predicate.name == "mul"
                    and isinstance(reference, Ref)
                    and reference.index == value.index
                    and isinstance(predicate.arguments[1], int)
                ):
                    best = max(best, abs(predicate.arguments[1]))
        elif name == "index.cast":
            best = max(best, of(0))
        elif name in ("index.andi", "scalar.andi"):
            mask = self.constant(operands[1])
            if mask:
                best = max(best, mask & -mask)
        return best

    def _compute(self, value: Value) -> Interval:
        owner = value.owner
        limit = type_range(value.type)
        if isinstance(owner, Block):
            return self._argument(value, owner, limit)
        if owner is None:
            return limit
        rule = _RULES.get(owner.name)
        return rule(self, owner, value) if rule is not None else limit

    def _argument(self, value: Value, block: Block, limit: Interval) -> Interval:
        loop = block.parent_op
        if loop is None or loop.name != "scf.for":
            return limit
        low, high = self.interval(loop.operand("lower")), self.interval(loop.operand("upper"))
        step = self.interval(loop.operand("step"))
        if value.index == 0:
            if high[1] - 1 < low[0]:
                return (low[0], low[0])
            return (low[0], max(low[0], high[1] - 1))
        # A carried value that only grows by a bounded amount per trip stays bounded by trips times that amount.
        init = loop.operand_group("inits")[value.index - 1]
        last = block.last
        if last is None or value.index - 1 >= len(last.operands):
            return limit
        start = self.interval(init)
        following = last.operands[value.index - 1]
        trips = max(0, -(-(high[1] - low[0]) // max(1, step[0]))) if step[0] >= 1 else None
        op = following.defining_op
        if op is not None and trips is not None and trips < (1 << 40):
            if op.name in ("index.add", "scalar.addi") and value in op.operands[:2]:
                other = op.operands[1] if op.operands[0] is value else op.operands[0]
                if other is not value:
                    delta = self.interval(other)
                    return _clamp((start[0] + min(0, trips * delta[0]), start[1] + max(0, trips * delta[1])), limit)
            if op.name in ("index.sub", "scalar.subi") and op.operands[0] is value:
                delta = self.interval(op.operands[1])
                return _clamp((start[0] - max(0, trips * delta[1]), start[1] - min(0, trips * delta[0])), limit)
        if following is value:
            return start
        return limit

    def id_interval(self, kind: str, axis: str) -> Interval:
        """Bounds of a dispatch id, ``kind`` without the ``kernel.`` prefix."""
        a = "xyz".index(axis)
        size, count = self.size[a], self.count[a]
        groups = count if count is not None else _GRID // size
        return {
            "workitem.id": (0, size - 1),
            "workgroup.id": (0, max(0, groups - 1)),
            "workgroup.size": (size, size),
            "workgroup.count": (1, groups) if count is None else (count, count),
            "workitem.dispatch.id": (0, max(0, groups * size - 1)),
        }[kind]


def _predicate_list(op: Operation) -> list[Predicate]:
    found = op.attributes.get("predicates")
    return [p for p in found if isinstance(p, Predicate)] if isinstance(found, tuple) else []


_NEGATED = {
    "eq": "ne",
    "ne": "eq",
    "slt": "sge",
    "sge": "slt",
    "sgt": "sle",
    "sle": "sgt",
    "ult": "uge",
    "uge": "ult",
    "ugt": "ule",
    "ule": "ugt",
}

Rule = Callable[[Ranges, Operation, Value], Interval]


def _binary(combine: Callable[[Interval, Interval], Interval]) -> Rule:
    def rule(ranges: Ranges, op: Operation, value: Value) -> Interval:
        return combine(ranges.interval(op.operands[0]), ranges.interval(op.operands[1]))

    return rule


def _product(a: Interval, b: Interval) -> Interval:
    corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return (min(corners), max(corners))


def _div(a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return (a[0] // max(1, b[1]), a[1] // max(1, b[0]))
    bound = max(abs(a[0]), abs(a[1]))
    return (-bound, bound)


def _rem(a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return (0, max(0, min(a[1], b[1] - 1)))
    bound = max(abs(b[0]), abs(b[1]))
    return (-bound, bound)


def _and(a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return (0, min(a[1], b[1]))
    if a[0] >= 0:
        return (0, a[1])
    if b[0] >= 0:
        return (0, b[1])
    return INDEX_RANGE


def _or(a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return (max(a[0], b[0]), (1 << max(a[1].bit_length(), b[1].bit_length())) - 1)
    return INDEX_RANGE


def _xor(a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return (0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1)
    return INDEX_RANGE


def _shl(a: Interval, b: Interval) -> Interval:
    if b[0] < 0 or b[1] > 63:
        return INDEX_RANGE
    return (min(a[0] << b[0], a[0] << b[1]), max(a[1] << b[0], a[1] << b[1]))


def _shr_unsigned(ranges: Ranges, op: Operation, value: Value) -> Interval:
    a, b = ranges.interval(op.operands[0]), ranges.interval(op.operands[1])
    width = value.type.width if isinstance(value.type, IntegerType) else 64
    if b[0] < 0 or b[1] > 63:
        return type_range(value.type)
    if a[0] >= 0:
        return (a[0] >> b[1], a[1] >> b[0])
    return (0, ((1 << width) - 1) >> b[0]) if b[0] > 0 else type_range(value.type)


def _shr_signed(a: Interval, b: Interval) -> Interval:
    if b[0] < 0 or b[1] > 63:
        return a
    return (min(a[0] >> b[0], a[0] >> b[1]), max(a[1] >> b[0], a[1] >> b[1]))


def _constant(ranges: Ranges, op: Operation, value: Value) -> Interval:
    number = op.attributes["value"]
    if not isinstance(number, int):
        return type_range(value.type)
    number = int(number)
    _low, high = type_range(value.type)
    if number > high and isinstance(value.type, IntegerType):
        number -= 1 << value.type.width
    return (number, number)


def _assume(ranges: Ranges, op: Operation, value: Value) -> Interval:
    found = ranges.interval(op.operands[value.index])

    def bound(argument: object) -> Interval:
        if isinstance(argument, Ref):
            return ranges.interval(op.operands[argument.index])
        return (argument, argument) if isinstance(argument, int) else INDEX_RANGE

    for predicate in _predicate_list(op):
        arguments = predicate.arguments
        reference = arguments[0]
        mine = isinstance(reference, Ref) and reference.index == value.index
        if mine and predicate.name == "range":
            found = _meet(found, (bound(arguments[1])[0], bound(arguments[2])[1]))
        elif mine and predicate.name in ("lt", "le", "max", "gt", "ge", "min", "eq"):
            b = bound(arguments[1])
            limits: dict[str, Interval] = {
                "lt": (found[0], b[1] - 1),
                "le": (found[0], b[1]),
                "max": (found[0], b[1]),
                "gt": (b[0] + 1, found[1]),
                "ge": (b[0], found[1]),
                "min": (b[0], found[1]),
                "eq": b,
            }
            found = _meet(found, limits[predicate.name])
        elif mine and predicate.name == "pow2":
            found = _meet(found, (1, found[1]))
    return found


def _cast(ranges: Ranges, op: Operation, value: Value) -> Interval:
    source = ranges.interval(op.operands[0])
    target = value.type
    from_type = op.operands[0].type
    if isinstance(target, OffsetType) and isinstance(from_type, IntegerType):
        return source if source[0] >= 0 else (0, (1 << from_type.width) - 1)
    if isinstance(from_type, IntegerType) and from_type.width == 1:
        return (0, 1)
    limit = type_range(target)
    if not isinstance(from_type, IntegerType) and not isinstance(target, IntegerType):
        # Between coordinates and byte counts the value is representable.
        return _meet(source, limit)
    return source if source[0] >= limit[0] and source[1] <= limit[1] else limit


def _extend_unsigned(ranges: Ranges, op: Operation, value: Value) -> Interval:
    source = ranges.interval(op.operands[0])
    type_ = op.operands[0].type
    width = type_.width if isinstance(type_, IntegerType) else 64
    return source if source[0] >= 0 else (0, (1 << width) - 1)


def _madd(ranges: Ranges, op: Operation, value: Value) -> Interval:
    a, b, c = (ranges.interval(o) for o in op.operands)
    p = _product(a, b)
    return (p[0] + c[0], p[1] + c[1])


def _select(ranges: Ranges, op: Operation, value: Value) -> Interval:
    a, b = ranges.interval(op.operands[1]), ranges.interval(op.operands[2])
    return (min(a[0], b[0]), max(a[1], b[1]))


def _yielded(ranges: Ranges, op: Operation, value: Value) -> Interval:
    low: int | None = None
    high: int | None = None
    for region in op.regions:
        for block in region.blocks:
            last = block.last
            if last is None or value.index >= len(last.operands):
                return type_range(value.type)
            found = ranges.interval(last.operands[value.index])
            low = found[0] if low is None else min(low, found[0])
            high = found[1] if high is None else max(high, found[1])
    return (low, high) if low is not None and high is not None else type_range(value.type)


def _loop_result(ranges: Ranges, op: Operation, value: Value) -> Interval:
    argument = op.regions[0].blocks[0].arguments[value.index + 1]
    found = ranges.interval(argument)
    last = op.regions[0].blocks[0].last
    if last is None:
        return found
    following = ranges.interval(last.operands[value.index])
    return (min(found[0], following[0]), max(found[1], following[1]))


def _dispatch_id(kind: str) -> Rule:
    def rule(ranges: Ranges, op: Operation, value: Value) -> Interval:
        return ranges.id_interval(kind, axis_of(op))

    return rule


def _subgroup(ranges: Ranges, op: Operation, value: Value) -> Interval:
    x, y, z = ranges.size
    waves = -(-x * y * z // ranges.wave)
    return {
        "kernel.subgroup.lane.id": (0, ranges.wave - 1),
        "kernel.subgroup.size": (ranges.wave, ranges.wave),
        "kernel.subgroup.id": (0, waves - 1),
        "kernel.subgroup.count": (waves, waves),
        "target.subgroup.size": (ranges.wave, ranges.wave),
    }[op.name]


def axis_of(op: Operation) -> str:
    """The axis parameter of an id op."""
    for key in ("axis", "dimension", "dim"):
        if key in op.attributes:
            return str(op.attributes[key])
    return "x"


def _population(ranges: Ranges, op: Operation, value: Value) -> Interval:
    type_ = op.operands[0].type
    width = type_.width if isinstance(type_, IntegerType) else 64
    return (0, width)


def _absolute(ranges: Ranges, op: Operation, value: Value) -> Interval:
    a = ranges.interval(op.operands[0])
    bound = max(abs(a[0]), abs(a[1]))
    return (0, bound) if bound <= type_range(value.type)[1] else type_range(value.type)


_ADD = _binary(lambda a, b: (a[0] + b[0], a[1] + b[1]))
_SUB = _binary(lambda a, b: (a[0] - b[1], a[1] - b[0]))
_MIN = _binary(lambda a, b: (min(a[0], b[0]), min(a[1], b[1])))
_MAX = _binary(lambda a, b: (max(a[0], b[0]), max(a[1], b[1])))

_RULES: dict[str, Rule] = {
    "index.constant": _constant,
    "scalar.constant": _constant,
    "index.assume": _assume,
    "scalar.assume": _assume,
    "index.cast": _cast,
    "index.madd": _madd,
    "scalar.fmai": _madd,
    "scf.select": _select,
    "scf.if": _yielded,
    "scf.switch": _yielded,
    "scf.for": _loop_result,
    "scalar.extui": _extend_unsigned,
    "scalar.extsi": lambda r, op, v: r.interval(op.operands[0]),
    "scalar.trunci": _cast,
    "scalar.absi": _absolute,
    "index.shrui": _shr_unsigned,
    "scalar.shrui": _shr_unsigned,
    "index.scale": _binary(_product),
    "target.subgroup.size": _subgroup,
    **{f"kernel.subgroup.{k}": _subgroup for k in ("lane.id", "size", "id", "count")},
    **{
        f"kernel.{kind}": _dispatch_id(kind)
        for kind in ("workitem.id", "workgroup.id", "workgroup.size", "workgroup.count", "workitem.dispatch.id")
    },
    **{f"{d}.{n}": _population for d in ("index", "scalar") for n in ("ctlzi", "cttzi", "ctpopi")},
    **{
        name: rule
        for rule, names in (
            (_ADD, ("index.add", "scalar.addi")),
            (_SUB, ("index.sub", "scalar.subi")),
            (_binary(_product), ("index.mul", "scalar.muli")),
            (_MIN, ("index.min", "scalar.minsi")),
            (_MAX, ("index.max", "scalar.maxsi")),
            (_binary(_div), ("index.div", "scalar.divsi")),
            (_binary(_rem), ("index.rem", "scalar.remsi")),
            (_binary(_and), ("index.andi", "scalar.andi")),
            (_binary(_or), ("index.ori", "scalar.ori")),
            (_binary(_xor), ("index.xori", "scalar.xori")),
            (_binary(_shl), ("index.shli", "scalar.shli")),
            (_binary(_shr_signed), ("index.shrsi", "scalar.shrsi")),
        )
        for name in names
    },
}
"""Transfer functions by op name."""
