"""What is known of integer values: ranges, multiples, powers of two, and order between values.

Facts are computed on demand over the definitions of a value; an analysis object caches them, so make a new one after a
change (the module-level functions do). Nothing here is speculative: whatever a fact says holds in every execution in
which assumptions are true.

    facts_of(value)              → Facts(low, high, multiple_of, power_of_two)
    prove("le", [a, 16])         → True, False, or None when neither follows; a, b: values or integers
    prove("ult", [i, n], at=op)  → … using the conditions of the ``scf.if`` and loops around ``op``
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from loom.ir.attributes import Predicate, Ref
from loom.ir.core import Operation, Value
from loom.ir.fact_rules import I64, RULES, UNKNOWN, Facts, clip, exactly, from_predicates, range_of_type
from loom.ir.types import I1, IndexType, IntegerType, OffsetType

Subject: TypeAlias = "Value | int"

# How far back definitions are followed, how many linear terms are kept, and how deep a proof by known inequalities
# may go.
_DEPTH = 64
# Trips that a guess about a carried value may grow for.
_GUESSES = 5
_TERMS = 16
_STEPS = 4
_COORDINATE = 1 << 48


# Linear forms: constant + sum of coefficient * value


@dataclass(frozen=True, slots=True)
class Linear:
    """``constant + Σ coefficient · value``, exact as mathematics (only built where nothing wraps)."""

    constant: int
    terms: tuple[tuple[Value, int], ...]

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """Return self + factor · other."""
        table: dict[Value, int] = dict(self.terms)
        for value, coefficient in other.terms:
            table[value] = table.get(value, 0) + factor * coefficient
        terms = tuple((v, c) for v, c in table.items() if c)
        return Linear(self.constant + factor * other.constant, terms)


class FactAnalysis:
    """Facts of values, cached. ``configuration`` gives known values of configuration keys."""

    def __init__(self, configuration: dict[str, int] | None = None) -> None:
        self.configuration = configuration or {}
        self._facts: dict[Value, Facts] = {}
        self._linear: dict[Value, Linear] = {}
        self._active: set[Value] = set()
        # Whether facts are being derived from a guess: they are kept apart then.
        self._guessing = False
        # The assumptions that a value's linear form was seen through: they hold wherever the value is used.
        self._through: dict[Value, frozenset[Operation]] = {}
        self._assumed_here: frozenset[Operation] = frozenset()

    # Facts of a value

    def facts_of(self, value: Subject) -> Facts:
        """Return the facts of an integer, index or offset value (or of a plain integer)."""
        if isinstance(value, int):
            return exactly(value)
        known = self._facts.get(value)
        if known is not None:
            return known
        if value in self._active or len(self._active) > _DEPTH:
            return range_of_type(value.type)
        self._active.add(value)
        try:
            found = self._compute(value).meet(range_of_type(value.type))
            if found.low > found.high:
                # Contradictory assumptions: the code never runs; say nothing beyond the type.
                found = range_of_type(value.type)
            elif found.low == found.high:
                found = exactly(found.low)
        finally:
            self._active.discard(value)
        # What was cut short at a cycle is weaker than possible, but true.
        self._facts[value] = found
        return found

    def _compute(self, value: Value) -> Facts:
        op = value.defining_op
        if op is None:
            return self._argument(value)
        name = op.definition.name
        rule = RULES.get(name)
        if rule is not None:
            return rule(self, op, value)
        if name in ("index.assume", "scalar.assume", "low.assume"):
            return self._assumed(op, value)
        if name == "scf.for":
            return self._carried(op, value.index)
        if name == "config.get":
            known = self.configuration.get(str(op.attributes["key"]))
            if known is not None:
                return exactly(known)
            return self._configured(op)
        if name in ("scf.if", "scf.switch"):
            return self._yielded(op, value.index)
        return UNKNOWN

    def _yielded(self, op: Operation, index: int) -> Facts:
        """What the regions of a branch agree on."""
        found: Facts | None = None
        for region in op.regions:
            ender = region.blocks[0].last if region.blocks else None
            if ender is None or index >= len(ender.operands):
                return UNKNOWN
            side = self.facts_of(ender.operands[index])
            found = side if found is None else found.join(side)
        return found if found is not None else UNKNOWN

    def _configured(self, op: Operation) -> Facts:
        module = op.module
        key = module.symbol(str(op.attributes["key"])) if module is not None else None
        if key is None:
            return UNKNOWN
        value = key.attributes.get("value")
        if key.name == "config.def" and isinstance(value, int) and not isinstance(value, bool):
            return exactly(value)
        where: Any = key.attributes.get("where", ())
        return from_predicates(where, 0, lambda ref: UNKNOWN)

    def _argument(self, value: Value) -> Facts:
        block = value.block
        if block is None or block.parent is None:
            return UNKNOWN
        op = block.parent.parent
        if op is None:
            return UNKNOWN
        name = op.definition.name
        if name in ("scf.for", "low.scf.for") and block.parent is op.regions[0]:
            if value.index == 0:
                return self._induction(op)
            return self._carried(op, value.index - 1)
        if "module_level" in op.definition.traits and block is block.parent.blocks[0]:
            which = "launch_where" if block.parent is not op.regions[0] else "where"
            where: Any = op.attributes.get(which, ())
            facts = from_predicates(where, value.index, lambda ref: self._bound(block.arguments, ref))
            return facts
        return UNKNOWN

    def _bound(self, arguments: Sequence[Value], ref: Ref) -> Facts:
        if ref.index < len(arguments):
            return self.facts_of(arguments[ref.index])
        return UNKNOWN

    def _induction(self, op: Operation) -> Facts:
        low, high, step = (self.facts_of(op.operand(n)) for n in ("lower", "upper", "step"))
        multiple = math.gcd(low.multiple_of, step.multiple_of)
        top = high.high - 1
        constants = (low.constant, high.constant, step.constant)
        if None not in constants and step.low > 0:
            count = max(0, -(-(high.low - low.low) // step.low))
            if count:
                top = low.low + (count - 1) * step.low
        elif multiple > 1 and top >= 0:
            top -= top % multiple
        return Facts(low.low, max(top, low.low), multiple)

    def _carried(self, op: Operation, index: int) -> Facts:
        """Facts of a loop's carried value, which are also those of the result."""
        inits = op.operand_group("inits")
        ender = op.regions[0].blocks[0].last
        if index >= len(inits) or ender is None or index >= len(ender.operands):
            return UNKNOWN
        start = self.facts_of(inits[index])
        following = ender.operands[index]
        argument = op.regions[0].blocks[0].arguments[index + 1]
        if following is argument:
            return start
        step = self._step_of(argument, following)
        trips = self._trip_bound(op) if step is not None else None
        if step is not None and trips is not None:
            # A running sum: each trip adds at least the step's least and at most its greatest value.
            multiple = math.gcd(start.multiple_of, step.multiple_of)
            low, high = start.low + min(0, trips * step.low), start.high + max(0, trips * step.high)
            return clip(Facts(low, high, multiple), argument.type)
        found = None if self._guessing else self._inductive(argument, start, following)
        if found is not None:
            return found
        # Where the definition leads back to the argument, only its type is used, so the join holds in every trip.
        return start.join(self.facts_of(following))

    def _inductive(self, argument: Value, start: Facts, following: Value) -> Facts | None:
        """Facts that hold in the first trip and, if they hold in one, in the next; None where no such are found.

        A guess grows by what one trip makes of it; what still grows in the third is taken down to zero and up to a
        power of two.
        """
        guess = start
        kept, self._active, self._guessing = (self._facts, self._active), set(), True
        try:
            for attempt in range(_GUESSES):
                self._facts = {argument: guess}
                grown = guess.join(self.facts_of(following))
                if grown == guess:
                    return guess
                if attempt > 1 and grown.low >= 0:
                    high = (1 << grown.high.bit_length()) - 1 if grown.high > guess.high else grown.high
                    grown = Facts(0 if grown.low < guess.low else grown.low, high, grown.multiple_of)
                guess = grown
        finally:
            (self._facts, self._active), self._guessing = kept, False
        return None

    def _step_of(self, argument: Value, following: Value) -> Facts | None:
        """What a trip adds to a carried value, None where it does something else."""
        op = following.defining_op
        if op is None or argument not in op.operands or op.operands[0] is op.operands[1]:
            return None
        if op.name in ("index.add", "scalar.addi"):
            return self.facts_of(op.operands[1] if op.operands[0] is argument else op.operands[0])
        if op.name in ("index.sub", "scalar.subi") and op.operands[0] is argument:
            less = self.facts_of(op.operands[1])
            return Facts(-less.high, -less.low, less.multiple_of)
        return None

    def _trip_bound(self, op: Operation) -> int | None:
        low, high, step = (self.facts_of(op.operand(n)) for n in ("lower", "upper", "step"))
        if high.high >= I64[1] or low.low <= I64[0] or step.low <= 0:
            return None
        return max(0, -(-(high.high - low.low) // step.low))

    def _assumed(self, op: Operation, value: Value) -> Facts:
        source = op.operands[value.index]
        predicates: Any = op.attributes.get("predicates", ())
        said = from_predicates(predicates, value.index, lambda ref: self.facts_of(op.operands[ref.index]))
        return self.facts_of(source).meet(said)

    # Linear forms

    def linear(self, value: Subject) -> Linear:
        """Return the value as a linear form over values that are opaque here. Looks through assumptions.

        Index arithmetic wraps at 64 bits. A form is built only where nothing wraps as long as values of which
        nothing is known stay within ±2^48, as coordinates of memory that exists do.
        """
        if isinstance(value, int):
            return Linear(value, ())
        known = self._linear.get(value)
        if known is not None:
            return known
        self._linear[value] = Linear(0, ((value, 1),))
        made = self._linearize(value)
        if len(made.terms) > _TERMS or not self._stays_small(made):
            made = Linear(0, ((value, 1),))
        self._linear[value] = made
        return made

    def _stays_small(self, form: Linear) -> bool:
        reach = abs(form.constant)
        for value, coefficient in form.terms:
            facts = self.facts_of(value)
            largest = max(abs(facts.low), abs(facts.high))
            reach += abs(coefficient) * (largest if largest < _COORDINATE else _COORDINATE)
        return reach < 1 << 63

    def _linearize(self, value: Value) -> Linear:
        itself = Linear(0, ((value, 1),))
        op = value.defining_op
        facts = self.facts_of(value)
        if facts.constant is not None:
            return Linear(facts.constant, ())
        if op is None:
            return itself
        name = op.definition.name
        if isinstance(value.type, IntegerType):
            return self._linearize_integer(op, itself)
        if not isinstance(value.type, IndexType | OffsetType):
            return itself
        if name == "index.assume":
            source = op.operands[value.index]
            form = self.linear(source)
            self._through[value] = self._through.get(source, frozenset()) | {op}
            return form
        if name == "index.cast":
            source = op.operands[0]
            if (
                isinstance(source.type, IntegerType)
                and isinstance(value.type, OffsetType)
                and self.facts_of(source).low < 0
            ):
                return itself
            self._through[value] = self._through.get(source, frozenset())
            return self.linear(source)
        if name not in ("index.add", "index.sub", "index.mul", "index.scale", "index.madd", "index.shli"):
            return itself
        forms = [self.linear(v) for v in op.operands]
        self._through[value] = frozenset().union(*(self._through.get(v, frozenset()) for v in op.operands))
        if name in ("index.add", "index.sub"):
            return forms[0].plus(forms[1], 1 if name == "index.add" else -1)
        if name == "index.shli":
            count = self.facts_of(op.operands[1]).constant
            return Linear(0, ()).plus(forms[0], 1 << count) if count is not None and 0 <= count < 62 else itself
        a, b = forms[0], forms[1]
        if a.terms and b.terms:
            return itself
        base, factor = (a, b.constant) if not b.terms else (b, a.constant)
        product = Linear(0, ()).plus(base, factor)
        return product.plus(forms[2]) if name == "index.madd" else product

    def _linearize_integer(self, op: Operation, itself: Linear) -> Linear:
        """Fixed-width integers: only where nothing wraps for sure."""
        name = op.definition.name
        source = op.operands[0] if op.operands else None
        if name in ("index.cast", "scalar.trunci") and source is not None:
            limits, facts = range_of_type(op.results[0].type), self.facts_of(source)
            fits = limits.low <= facts.low and facts.high <= limits.high
            return self.linear(source) if fits else itself
        if name == "scalar.extsi" and source is not None and source.type is not I1:
            return self.linear(source)
        flags = op.attributes.get("overflow")
        if name in ("scalar.addi", "scalar.subi") and isinstance(flags, tuple) and "nsw" in flags:
            a, b = (self.linear(v) for v in op.operands)
            return a.plus(b, 1 if name == "scalar.addi" else -1)
        return itself

    def linear_facts(self, form: Linear) -> Facts:
        """Return the facts of a linear form, by interval arithmetic over its terms."""
        low = high = form.constant
        multiple = abs(form.constant)
        for value, coefficient in form.terms:
            f = self.facts_of(value)
            a, b = f.low * coefficient, f.high * coefficient
            low += min(a, b)
            high += max(a, b)
            multiple = math.gcd(multiple, f.multiple_of * coefficient)
        return Facts(low, high, multiple)

    # Proofs

    def prove(self, predicate: str, arguments: Sequence[Subject], at: Operation | None = None) -> bool | None:
        """Decide a predicate.

        ``predicate`` is one of the language's (``le``, ``range``, ``mul``, …), or an unsigned comparison (``ult``,
        ``ule``, ``ugt``, ``uge``). ``at`` names an operation whose surroundings may be used: conditions of
        ``scf.if`` and loop bounds.
        """
        if predicate in ("min", "max"):
            predicate = "ge" if predicate == "min" else "le"
        if predicate == "range":
            low = self.prove("ge", (arguments[0], arguments[1]), at)
            high = self.prove("le", (arguments[0], arguments[2]), at)
            if low is False or high is False:
                return False
            return True if low and high else None
        if predicate == "pow2":
            return self._power(arguments[0])
        if predicate == "mul":
            return self._multiple(arguments[0], arguments[1])
        if predicate == "finite":
            return self._finite(arguments[0])
        a, b = arguments[0], arguments[1]
        if predicate[0] == "u":
            signed_a, signed_b = self.prove("ge", (a, 0), at), self.prove("ge", (b, 0), at)
            if not (signed_a and signed_b):
                return None
            predicate = predicate[1:]
        if predicate == "ne":
            equal = self.prove("eq", (a, b), at)
            return None if equal is None else not equal
        if predicate == "eq":
            difference = self.linear(a).plus(self.linear(b), -1)
            if not difference.terms:
                return difference.constant == 0
            if self.at_least(b, a, 1, at) or self.at_least(a, b, 1, at):
                return False
            facts = self.linear_facts(difference)
            if facts.multiple_of and difference.constant and difference.terms:
                step = self.linear_facts(Linear(0, difference.terms)).multiple_of
                if step and difference.constant % step:
                    return False
            return True if self.at_least(a, b, 0, at) and self.at_least(b, a, 0, at) else None
        if predicate in ("gt", "ge"):
            a, b = b, a
            predicate = "lt" if predicate == "gt" else "le"
        margin = 1 if predicate == "lt" else 0
        if self.at_least(b, a, margin, at):
            return True
        if self.at_least(a, b, 1 - margin, at):
            return False
        return None

    def _power(self, a: Subject) -> bool | None:
        facts = self.facts_of(a)
        if facts.constant is not None:
            return facts.constant > 0 and not facts.constant & (facts.constant - 1)
        if facts.power_of_two:
            return True
        return False if facts.high <= 0 else None

    def _finite(self, a: Subject) -> bool | None:
        op = a.defining_op if isinstance(a, Value) else None
        if op is not None and op.name == "scalar.constant":
            literal = op.attributes["value"]
            return isinstance(literal, int | float) and math.isfinite(literal)
        if op is not None and op.name == "scalar.assume" and isinstance(a, Value):
            predicates: Any = op.attributes.get("predicates", ())
            if any(p.name == "finite" and p.arguments[0] == Ref(a.index) for p in predicates):
                return True
        return None

    def _multiple(self, a: Subject, n: Subject) -> bool | None:
        number = self.facts_of(n).constant
        if number is None or number <= 0:
            return None
        facts = self.facts_of(a)
        form = self.linear_facts(self.linear(a))
        multiple = math.lcm(facts.multiple_of, form.multiple_of) if facts.multiple_of and form.multiple_of else 0
        if multiple % number == 0:
            return True
        if facts.constant is not None:
            return facts.constant % number == 0
        return None

    def at_least(self, a: Subject, b: Subject, margin: int = 0, at: Operation | None = None) -> bool:
        """Whether a >= b + margin follows."""
        difference = self.linear(a).plus(self.linear(b), -1)
        seen = [self._through.get(v, frozenset()) for v in (a, b) if isinstance(v, Value)]
        self._assumed_here = frozenset().union(*seen)
        return self._positive(Linear(difference.constant - margin, difference.terms), at, _STEPS)

    def _positive(self, form: Linear, at: Operation | None, steps: int) -> bool:
        """Whether the form is at least zero: by ranges, or after replacing a value by one that bounds it."""
        if self.linear_facts(form).low >= 0:
            return True
        if not steps:
            return False
        for value, coefficient in form.terms:
            for bound in self._bounds(value, at):
                weight = next((c for v, c in bound.terms if v is value), 0)
                if weight == 0 or (weight > 0) != (coefficient > 0) or coefficient % weight:
                    continue
                # form = factor * bound + rest, and bound >= 0: it is enough that the rest is at least zero.
                rest = form.plus(bound, -(coefficient // weight))
                if len(rest.terms) <= len(form.terms) + 2 and self._positive(rest, at, steps - 1):
                    return True
        return False

    def _bounds(self, value: Value, at: Operation | None) -> list[Linear]:
        """Return forms that are known to be at least zero and contain the value."""
        found: list[Linear] = []
        itself = Linear(0, ((value, 1),))
        block = value.block
        holder = block.parent.parent if block is not None and block.parent is not None else None
        if value.is_block_argument and holder is not None and holder.name == "scf.for" and value.index == 0:
            lower, upper = self.linear(holder.operand("lower")), self.linear(holder.operand("upper"))
            found.append(itself.plus(lower, -1))
            found.append(upper.plus(itself, -1).plus(Linear(-1, ())))
            step = self.facts_of(holder.operand("step")).constant
            ends = (self.facts_of(holder.operand(n)).multiple_of for n in ("lower", "upper"))
            span = self.linear_facts(upper.plus(lower, -1)).multiple_of
            if step and step > 1 and (span % step == 0 or math.gcd(*ends) % step == 0):
                # The range is a whole number of steps: the last value is a step below the end.
                found.append(upper.plus(itself, -1).plus(Linear(-step, ())))
        if value.defining_op is not None:
            self._definition_bounds(value, value.defining_op, itself, found)
        for user in value.users:
            if user.name == "index.assume" and (
                user in self._assumed_here or (at is not None and _dominates(user, at))
            ):
                predicates: Any = user.attributes.get("predicates", ())
                found.extend(self._predicate_forms(predicates, user.operands))
        if value.is_block_argument and holder is not None and "module_level" in holder.definition.traits:
            assert block is not None
            which = "launch_where" if block.parent is not holder.regions[0] else "where"
            where: Any = holder.attributes.get(which, ())
            arguments = block.arguments
            found.extend(self._predicate_forms(where, arguments))
        if at is not None:
            found.extend(self._conditions(at))
        return [form for form in found if any(v is value for v, _ in form.terms)]

    def _definition_bounds(self, value: Value, op: Operation, itself: Linear, found: list[Linear]) -> None:
        if op.name == "index.min":
            found.extend(self.linear(o).plus(itself, -1) for o in op.operands)
        elif op.name == "index.max":
            found.extend(itself.plus(self.linear(o), -1) for o in op.operands)
        elif op.name == "index.rem":
            # The op's conditions: dividend at least 0, divisor greater than 0.
            found.append(self.linear(op.operands[1]).plus(itself, -1).plus(Linear(-1, ())))
            found.append(self.linear(op.operands[0]).plus(itself, -1))
        elif op.name == "index.div":
            divisor = self.facts_of(op.operands[1]).constant
            if divisor is not None and divisor > 0:
                scaled = Linear(0, ((value, divisor),))
                found.append(self.linear(op.operands[0]).plus(scaled, -1))
                found.append(scaled.plus(self.linear(op.operands[0]), -1).plus(Linear(divisor - 1, ())))

    def _predicate_forms(self, predicates: Sequence[Predicate], values: Sequence[Value]) -> list[Linear]:
        """Return the forms of predicates over values; what speaks of an absent value or of floats is left out."""
        forms: list[Linear] = []
        for p in predicates:
            arguments: list[Linear] = []
            for a in p.arguments:
                if isinstance(a, float) or (isinstance(a, Ref) and a.index >= len(values)):
                    break
                arguments.append(self.linear(values[a.index] if isinstance(a, Ref) else int(a)))
            else:
                forms.extend(_comparison_forms(p.name, arguments))
        return forms

    def _conditions(self, at: Operation) -> list[Linear]:
        """Return forms that are at least zero where ``at`` stands, from the conditions around it."""
        forms: list[Linear] = []
        inner: Operation = at
        outer = inner.parent_op
        while outer is not None:
            if outer.name == "scf.if" and inner.parent is not None:
                negated = inner.parent.parent is not outer.regions[0]
                forms.extend(self._condition_forms(outer.operands[0], negated))
            inner, outer = outer, outer.parent_op
        return forms

    def _condition_forms(self, condition: Value, negated: bool) -> list[Linear]:
        op = condition.defining_op
        if op is None:
            return []
        if op.name == "scalar.andi" and not negated:
            return self._condition_forms(op.operands[0], False) + self._condition_forms(op.operands[1], False)
        if op.name == "scalar.ori" and negated:
            return self._condition_forms(op.operands[0], True) + self._condition_forms(op.operands[1], True)
        if op.name not in ("index.cmp", "scalar.cmpi"):
            return []
        predicate = str(op.attributes["predicate"])
        if negated:
            predicate = NEGATED[predicate]
        a, b = op.operands
        if predicate[0] == "u" and predicate not in ("eq", "ne"):
            # Below a bound that is not negative, unsigned means: neither negative nor beyond it.
            lower, upper = (a, b) if predicate in ("ult", "ule") else (b, a)
            if self.facts_of(upper).low < 0:
                return []
            margin = 1 if predicate in ("ult", "ugt") else 0
            low, high = self.linear(lower), self.linear(upper)
            return [high.plus(low, -1).plus(Linear(-margin, ())), low]
        return _comparison_forms(predicate.removeprefix("s"), [self.linear(a), self.linear(b)])


NEGATED = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sle": "sgt", "sgt": "sle", "sge": "slt",
    "ult": "uge", "ule": "ugt", "ugt": "ule", "uge": "ult",
}  # fmt: skip


def _comparison_forms(name: str, arguments: Sequence[Linear]) -> list[Linear]:
    """Return the forms that are at least zero when the predicate holds."""
    if name == "range":
        a, low, high = arguments
        return [a.plus(low, -1), high.plus(a, -1)]
    if len(arguments) != 2:
        return []
    a, b = arguments
    if name == "eq":
        return [a.plus(b, -1), b.plus(a, -1)]
    if name in ("ge", "min"):
        return [a.plus(b, -1)]
    if name in ("le", "max"):
        return [b.plus(a, -1)]
    if name == "gt":
        return [a.plus(b, -1).plus(Linear(-1, ()))]
    if name == "lt":
        return [b.plus(a, -1).plus(Linear(-1, ()))]
    return []


def _dominates(a: Operation, b: Operation) -> bool:
    """Whether ``a`` stands before ``b`` in its block or in one around it."""
    inner: Operation | None = b
    while inner is not None:
        if inner.parent is a.parent:
            return inner is not a and a.is_before(inner)
        inner = inner.parent_op
    return False


def facts_of(value: Subject, analysis: FactAnalysis | None = None) -> Facts:
    """Return the facts of a value, computed afresh unless an analysis is given."""
    return (analysis or FactAnalysis()).facts_of(value)


def prove(
    predicate: str, arguments: Sequence[Subject], at: Operation | None = None, analysis: FactAnalysis | None = None
) -> bool | None:
    """Decide a predicate over values and integers: True, False, or None; see :meth:`FactAnalysis.prove`."""
    return (analysis or FactAnalysis()).prove(predicate, arguments, at)


def linear_of(value: Subject, analysis: FactAnalysis | None = None) -> Linear:
    """Return a value as a linear form; see :meth:`FactAnalysis.linear`."""
    return (analysis or FactAnalysis()).linear(value)
