"""What the ops say of their results: one transfer rule an op, over ranges, multiples and powers of two."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from loom.ir.attributes import Predicate, Ref
from loom.ir.core import Operation, Value
from loom.ir.types import I1, IndexType, IntegerType, OffsetType, Type

I64 = (-(1 << 63), (1 << 63) - 1)


@dataclass(frozen=True, slots=True)
class Facts:
    """Knowledge of one integer value: ``low <= value <= high``; a multiple of ``multiple_of`` (0: it is zero)."""

    low: int = I64[0]
    high: int = I64[1]
    multiple_of: int = 1
    power_of_two: bool = False

    @property
    def constant(self) -> int | None:
        """The value when only one is possible."""
        return self.low if self.low == self.high else None

    @property
    def non_negative(self) -> bool:
        """Whether the value is at least zero."""
        return self.low >= 0

    def meet(self, other: Facts) -> Facts:
        """Both hold."""
        return Facts(
            max(self.low, other.low),
            min(self.high, other.high),
            math.lcm(self.multiple_of, other.multiple_of) if self.multiple_of and other.multiple_of else 0,
            self.power_of_two or other.power_of_two,
        )

    def join(self, other: Facts) -> Facts:
        """One of the two holds."""
        return Facts(
            min(self.low, other.low),
            max(self.high, other.high),
            math.gcd(self.multiple_of, other.multiple_of),
            self.power_of_two and other.power_of_two,
        )


UNKNOWN = Facts()


def exactly(value: int) -> Facts:
    """The facts of a known value."""
    return Facts(value, value, abs(value), value > 0 and not value & (value - 1))


def range_of_type(type_: Type) -> Facts:
    """What the type alone says."""
    if isinstance(type_, IntegerType):
        if type_.width == 1:
            return Facts(0, 1)
        return Facts(-(1 << (type_.width - 1)), (1 << (type_.width - 1)) - 1)
    if isinstance(type_, OffsetType):
        return Facts(0, I64[1])
    return UNKNOWN


def clip(facts: Facts, type_: Type) -> Facts:
    """Arithmetic that may leave the type's range wraps: then only what survives wrapping is kept."""
    limits = range_of_type(type_)
    if facts.low < limits.low or facts.high > limits.high:
        # A wrapped value keeps the divisibility by powers of two.
        return Facts(limits.low, limits.high, _twos(facts))
    return facts


class Analysis(Protocol):
    """What a rule asks for the facts of operands."""

    def facts_of(self, value: Value | int) -> Facts:
        """Return the facts of a value."""
        ...


def from_predicates(predicates: Sequence[Predicate], index: int, facts_of: Callable[[Ref], Facts]) -> Facts:
    """Return what predicates say of the value they call ``Ref(index)``."""
    facts = UNKNOWN

    def known(argument: int | float | Ref) -> Facts:
        if isinstance(argument, Ref):
            return facts_of(argument) if argument.index != index else UNKNOWN
        return exactly(int(argument)) if isinstance(argument, int) else UNKNOWN

    for p in predicates:
        arguments = p.arguments
        position = next((i for i, a in enumerate(arguments) if isinstance(a, Ref) and a.index == index), None)
        if position is None:
            continue
        if p.name == "pow2":
            facts = facts.meet(Facts(1, I64[1], 1, True))
        elif p.name == "mul" and position == 0:
            multiple = known(arguments[1]).constant
            if multiple is not None and multiple > 0:
                facts = facts.meet(Facts(multiple_of=multiple))
        elif p.name == "range" and position == 0:
            facts = facts.meet(Facts(known(arguments[1]).low, known(arguments[2]).high))
        elif len(arguments) == 2:
            other = known(arguments[1 - position])
            name = p.name if position == 0 else _SWAPPED.get(p.name, p.name)
            if name == "eq":
                facts = facts.meet(other)
            elif name in ("ge", "min"):
                facts = facts.meet(Facts(low=other.low))
            elif name == "gt":
                facts = facts.meet(Facts(low=other.low + 1))
            elif name in ("le", "max"):
                facts = facts.meet(Facts(high=other.high))
            elif name == "lt":
                facts = facts.meet(Facts(high=other.high - 1))
    return facts


_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "min": "le", "max": "ge"}

# Transfer rules, one an op

_Rule: TypeAlias = "Callable[[Analysis, Operation, Value], Facts]"


def _constant(analysis: Analysis, op: Operation, value: Value) -> Facts:
    literal = op.attributes["value"]
    if isinstance(literal, bool):
        return exactly(int(literal))
    if not isinstance(literal, int) or not isinstance(value.type, IntegerType | IndexType | OffsetType):
        return UNKNOWN
    if isinstance(value.type, IntegerType):
        width = value.type.width
        literal &= (1 << width) - 1
        if width > 1 and literal >> (width - 1):
            literal -= 1 << width
    return exactly(literal)


def _binary(function: Callable[[Facts, Facts], Facts]) -> _Rule:
    def rule(analysis: Analysis, op: Operation, value: Value) -> Facts:
        a, b = analysis.facts_of(op.operands[0]), analysis.facts_of(op.operands[1])
        return clip(function(a, b), value.type)

    return rule


def _add(a: Facts, b: Facts) -> Facts:
    return Facts(a.low + b.low, a.high + b.high, math.gcd(a.multiple_of, b.multiple_of))


def _subtract(a: Facts, b: Facts) -> Facts:
    return Facts(a.low - b.high, a.high - b.low, math.gcd(a.multiple_of, b.multiple_of))


def _multiply(a: Facts, b: Facts) -> Facts:
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Facts(min(corners), max(corners), a.multiple_of * b.multiple_of, a.power_of_two and b.power_of_two)


def _divide(a: Facts, b: Facts) -> Facts:
    # Dividend at least 0 and divisor greater than 0 are the op's conditions.
    low, high = max(a.low, 0), max(a.high, 0)
    least, most = max(b.low, 1), max(b.high, 1)
    divisor = b.constant
    multiple = a.multiple_of // divisor if divisor and divisor > 0 and a.multiple_of % divisor == 0 else 1
    return Facts(low // most, high // least, multiple)


def _remainder(a: Facts, b: Facts) -> Facts:
    low, high = max(a.low, 0), max(a.high, 0)
    if b.constant and b.constant > 0 and high < b.constant:
        return Facts(low, high, a.multiple_of)
    return Facts(0, min(high, max(b.high, 1) - 1), math.gcd(a.multiple_of, b.multiple_of))


def _minimum(a: Facts, b: Facts) -> Facts:
    return Facts(min(a.low, b.low), min(a.high, b.high), math.gcd(a.multiple_of, b.multiple_of))


def _maximum(a: Facts, b: Facts) -> Facts:
    return Facts(max(a.low, b.low), max(a.high, b.high), math.gcd(a.multiple_of, b.multiple_of))


def _twos(facts: Facts) -> int:
    """The largest power of two that divides the value for sure."""
    return facts.multiple_of & -facts.multiple_of if facts.multiple_of else 1 << 62


def _and(a: Facts, b: Facts) -> Facts:
    twos = max(_twos(a), _twos(b))
    if a.low >= 0 and b.low >= 0:
        return Facts(0, min(a.high, b.high), twos)
    if a.low >= 0 or b.low >= 0:
        return Facts(0, a.high if a.low >= 0 else b.high, twos)
    return Facts(multiple_of=twos)


def _or(a: Facts, b: Facts) -> Facts:
    twos = min(_twos(a), _twos(b))
    if a.low >= 0 and b.low >= 0:
        bits = max(a.high.bit_length(), b.high.bit_length())
        return Facts(max(a.low, b.low), (1 << bits) - 1, twos)
    return Facts(multiple_of=twos)


def _xor(a: Facts, b: Facts) -> Facts:
    either = _or(a, b)
    return (
        Facts(0, either.high, either.multiple_of)
        if a.low >= 0 and b.low >= 0
        else Facts(multiple_of=either.multiple_of)
    )


def _shift_left(a: Facts, b: Facts) -> Facts:
    if not 0 <= b.low <= b.high <= 62:
        return UNKNOWN
    corners = [x << y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Facts(min(corners), max(corners), a.multiple_of << b.low)


def _shift_right(a: Facts, b: Facts) -> Facts:
    if a.low < 0:
        return UNKNOWN
    if not 0 <= b.low <= b.high <= 63:
        return Facts(0, a.high)
    multiple = 1
    if b.constant is not None and a.multiple_of % (1 << b.constant) == 0:
        multiple = a.multiple_of >> b.constant
    return Facts(a.low >> b.high, a.high >> b.low, multiple)


def _shift_right_signed(a: Facts, b: Facts) -> Facts:
    if a.low >= 0:
        return _shift_right(a, b)
    if not 0 <= b.low <= b.high <= 63:
        return Facts(a.low, max(a.high, -1))
    return Facts(a.low >> b.low, max(a.high >> b.low, a.high >> b.high))


def _shift_right_unsigned(analysis: Analysis, op: Operation, value: Value) -> Facts:
    a, b = analysis.facts_of(op.operands[0]), analysis.facts_of(op.operands[1])
    if a.low < 0 and 0 < b.low <= b.high <= 63:
        width = value.type.width if isinstance(value.type, IntegerType) else 64
        return Facts(0, ((1 << width) - 1) >> b.low)
    return clip(_shift_right(a, b), value.type)


def _divide_signed(a: Facts, b: Facts) -> Facts:
    """Toward zero; nothing is required of the signs."""
    if a.low >= 0 and b.low >= 0:
        return _divide(a, b)
    bound = max(abs(a.low), abs(a.high))
    return Facts(-bound, bound)


def _remainder_signed(a: Facts, b: Facts) -> Facts:
    """With the sign of the dividend."""
    if a.low >= 0 and b.low >= 0:
        return _remainder(a, b)
    bound = min(max(abs(a.low), abs(a.high)), max(abs(b.low), abs(b.high), 1) - 1)
    return Facts(-bound if a.low < 0 else 0, bound if a.high > 0 else 0)


def _population(analysis: Analysis, op: Operation, value: Value) -> Facts:
    type_ = op.operands[0].type
    return Facts(0, type_.width if isinstance(type_, IntegerType) else 64)


def _absolute(analysis: Analysis, op: Operation, value: Value) -> Facts:
    a = analysis.facts_of(op.operands[0])
    return clip(Facts(0, max(abs(a.low), abs(a.high)), a.multiple_of), value.type)


def _multiply_add(analysis: Analysis, op: Operation, value: Value) -> Facts:
    a, b, c = (analysis.facts_of(v) for v in op.operands)
    return clip(_add(clip(_multiply(a, b), value.type), c), value.type)


def _cast(analysis: Analysis, op: Operation, value: Value) -> Facts:
    source = op.operands[0]
    facts = analysis.facts_of(source)
    if isinstance(value.type, OffsetType) and isinstance(source.type, IntegerType) and facts.low < 0:
        return Facts(0, (1 << source.type.width) - 1) if source.type.width < 64 else Facts(0, I64[1])
    if not isinstance(source.type, IntegerType) and not isinstance(value.type, IntegerType):
        # Between coordinates and byte counts the value is representable.
        both = facts.meet(range_of_type(value.type))
        return both if both.low <= both.high else range_of_type(value.type)
    return clip(facts, value.type)


def _signed_extend(analysis: Analysis, op: Operation, value: Value) -> Facts:
    facts = analysis.facts_of(op.operands[0])
    # The facts of an i1 are those of 0 and 1; sign extension makes 0 and -1 of it.
    return Facts(-facts.high, -facts.low) if op.operands[0].type is I1 else facts


def _unsigned_extend(analysis: Analysis, op: Operation, value: Value) -> Facts:
    source = op.operands[0]
    facts = analysis.facts_of(source)
    if facts.low >= 0:
        return facts
    assert isinstance(source.type, IntegerType)
    return Facts(0, (1 << source.type.width) - 1)


def _select(analysis: Analysis, op: Operation, value: Value) -> Facts:
    return analysis.facts_of(op.operands[1]).join(analysis.facts_of(op.operands[2]))


def _identifier(analysis: Analysis, op: Operation, value: Value) -> Facts:
    """Ids and counts of the launch, bounded by the workgroup size where it is constant."""
    name = op.definition.name
    size = _workgroup_size(analysis, op)
    axis = "xyz".find(str(op.attributes.get("dimension", "x")))
    extent = size[axis] if size is not None else None
    if name == "kernel.workitem.id":
        return Facts(0, extent.high - 1 if extent is not None else (1 << 31) - 1)
    if name == "kernel.workgroup.size":
        return extent if extent is not None else Facts(1, (1 << 31) - 1)
    if name in ("kernel.subgroup.lane.id",):
        return Facts(0, 63)
    if name in ("kernel.subgroup.size", "target.subgroup.size"):
        return Facts(1, 64, 1, True)
    if name in ("kernel.workgroup.count", "kernel.subgroup.count"):
        return Facts(1, (1 << 32) - 1)
    if name == "kernel.workitem.dispatch.id":
        return Facts(0, (1 << 62))
    return Facts(0, (1 << 32) - 1)


def _workgroup_size(analysis: Analysis, op: Operation) -> list[Facts] | None:
    parent: Operation | None = op.parent_op
    while parent is not None and parent.name != "kernel.def":
        parent = parent.parent_op
    if parent is None or not parent.regions[0].blocks:
        return None
    ender = parent.regions[0].blocks[0].last
    if ender is None or ender.name != "kernel.launch.config":
        return None
    sizes = ender.operand_group("workgroup_size")
    if len(sizes) != 3:
        return None
    return [analysis.facts_of(v).meet(Facts(1, (1 << 31) - 1)) for v in sizes]


RULES: dict[str, _Rule] = {
    "index.constant": _constant,
    "scalar.constant": _constant,
    "check.literal": _constant,
    "index.add": _binary(_add),
    "index.sub": _binary(_subtract),
    "index.mul": _binary(_multiply),
    "index.scale": _binary(_multiply),
    "index.div": _binary(_divide),
    "index.rem": _binary(_remainder),
    "index.min": _binary(_minimum),
    "index.max": _binary(_maximum),
    "index.andi": _binary(_and),
    "index.ori": _binary(_or),
    "index.xori": _binary(_xor),
    "index.shli": _binary(_shift_left),
    "index.shrui": _shift_right_unsigned,
    "index.shrsi": _binary(_shift_right_signed),
    "index.madd": _multiply_add,
    "index.cast": _cast,
    "scalar.addi": _binary(_add),
    "scalar.subi": _binary(_subtract),
    "scalar.muli": _binary(_multiply),
    "scalar.minsi": _binary(_minimum),
    "scalar.maxsi": _binary(_maximum),
    "scalar.andi": _binary(_and),
    "scalar.ori": _binary(_or),
    "scalar.xori": _binary(_xor),
    "scalar.shli": _binary(_shift_left),
    "scalar.shrui": _shift_right_unsigned,
    "scalar.shrsi": _binary(_shift_right_signed),
    "scalar.divsi": _binary(_divide_signed),
    "scalar.remsi": _binary(_remainder_signed),
    "scalar.fmai": _multiply_add,
    "scalar.absi": _absolute,
    **{f"{d}.{n}": _population for d in ("index", "scalar") for n in ("ctlzi", "cttzi", "ctpopi")},
    "scalar.extsi": _signed_extend,
    "scalar.extui": _unsigned_extend,
    "scalar.trunci": lambda analysis, op, value: clip(analysis.facts_of(op.operands[0]), value.type),
    "scf.select": _select,
    "kernel.workitem.id": _identifier,
    "kernel.workgroup.id": _identifier,
    "kernel.workgroup.size": _identifier,
    "kernel.workgroup.count": _identifier,
    "kernel.workitem.dispatch.id": _identifier,
    "kernel.subgroup.id": _identifier,
    "kernel.subgroup.count": _identifier,
    "kernel.subgroup.size": _identifier,
    "kernel.subgroup.lane.id": _identifier,
    "target.subgroup.size": _identifier,
}
