"""Bounds and divisibility of integer values, as needed to choose 32-bit carriers and address forms.

The analysis is that of :mod:`loom.ir.facts`; what is added is what lowering knows besides: the launch, the conditions
of the branch it is in, and facts that it states itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from loom.ir import Operation, Value
from loom.ir.fact_rules import Facts, exactly, range_of_type
from loom.ir.facts import NEGATED, FactAnalysis

Interval = tuple[int, int]

INDEX_RANGE: Interval = (-(1 << 63), (1 << 63) - 1)
_GRID = (1 << 32) - 1
"""Largest number of work items along one axis: a dispatch packet holds it in 32 bits (HSA system architecture, AQL
packet).
"""

_IDS = ("workitem.id", "workgroup.id", "workgroup.size", "workgroup.count", "workitem.dispatch.id")


def fits_unsigned(interval: Interval, bits: int = 32) -> bool:
    """Whether every value is in [0, 2^bits)."""
    return interval[0] >= 0 and interval[1] < (1 << bits)


def fits_signed(interval: Interval, bits: int = 32) -> bool:
    """Whether every value is in [-2^(bits-1), 2^(bits-1))."""
    return interval[0] >= -(1 << (bits - 1)) and interval[1] < (1 << (bits - 1))


class Ranges(FactAnalysis):
    """Facts of one kernel's values while it is lowered.

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
        super().__init__()
        self.size = workgroup_size
        self.count = workgroup_count
        self.wave = wave
        self._stated: dict[Value, Facts] = {}

    # Facts from outside

    def refine(self, value: Value, interval: Interval) -> None:
        """Add a fact that holds wherever ``value`` is visible (or while a condition is assumed)."""
        found = self._stated.get(value, range_of_type(value.type)).meet(Facts(*interval))
        if found.low <= found.high:
            self._stated[value] = found
            self._facts.clear()

    @contextmanager
    def assuming(self, condition: Value, truth: bool) -> Iterator[None]:
        """Facts that hold while ``condition`` is known to be ``truth``."""
        stated, facts = dict(self._stated), dict(self._facts)
        try:
            self._assume(condition, truth)
            yield
        finally:
            self._stated, self._facts = stated, facts

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
            predicate = NEGATED[predicate]
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
        facts = self.facts_of(value)
        return facts.low, facts.high

    def constant(self, value: Value) -> int | None:
        """The value when only one is possible."""
        return self.facts_of(value).constant

    def multiple(self, value: Value) -> int:
        """A number that divides the value (0 for a value that is zero)."""
        return self.facts_of(value).multiple_of

    def _compute(self, value: Value) -> Facts:
        op = value.defining_op
        found = self._launched(op) if op is not None else None
        if found is None:
            found = super()._compute(value)
        stated = self._stated.get(value)
        if stated is None:
            return found
        both = found.meet(stated)
        return both if both.low <= both.high else found

    def _carried(self, op: Operation, index: int) -> Facts:
        """Facts of every trip: what is assumed of a value of the loop holds in the trip that is being lowered only."""
        lasting = {value: said for value, said in self._stated.items() if not _is_within(value, op)}
        if len(lasting) == len(self._stated):
            return super()._carried(op, index)
        kept, self._stated, self._facts = (self._stated, self._facts), lasting, {}
        try:
            return super()._carried(op, index)
        finally:
            self._stated, self._facts = kept

    def _launched(self, op: Operation) -> Facts | None:
        """What the launch says of an id, None for any other op."""
        name = op.name
        if name == "target.subgroup.size" or name == "kernel.subgroup.size":
            return exactly(self.wave)
        if not name.startswith("kernel."):
            return None
        kind = name.removeprefix("kernel.")
        if kind in _IDS:
            return Facts(*self._id_interval(kind, axis_of(op)))
        x, y, z = self.size
        waves = -(-x * y * z // self.wave)
        if kind == "subgroup.lane.id":
            return Facts(0, self.wave - 1)
        if kind == "subgroup.id":
            return Facts(0, waves - 1)
        return exactly(waves) if kind == "subgroup.count" else None

    def _id_interval(self, kind: str, axis: str) -> Interval:
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


def _is_within(value: Value, op: Operation) -> bool:
    """Whether ``value`` is made by the regions of ``op``."""
    block = value.block if value.is_block_argument else value.defining_op.parent if value.defining_op else None
    while block is not None and block.parent is not None:
        holder = block.parent.parent
        if holder is op:
            return True
        block = holder.parent if holder is not None else None
    return False


def axis_of(op: Operation) -> str:
    """The axis parameter of an id op."""
    return str(op.attributes.get("dimension", "x"))
