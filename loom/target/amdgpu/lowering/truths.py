"""``i1`` values: lane masks, scalar bits, and comparisons that wait for their use."""

from __future__ import annotations

from loom.ir import Value
from loom.target.amdgpu.lowering.emitter import MASK32, VCC, Emitter, Operand, is_vector
from loom.target.amdgpu.lowering.integers import Integers, Pair, signed32
from loom.target.amdgpu.lowering.values import Truth

TRUE = Truth(constant=True)
FALSE = Truth(constant=False)

_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
_SCALAR_NAME = {"eq": "eq", "ne": "lg", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}

# Source predicate → (vector compare, operands swapped, vector compare of the negation). Vector compares: lt eq le gt
# lg ge are
# false on NaN, o and u test for it, the n… forms are the negations.
FLOAT_PREDICATES: dict[str, tuple[str, str]] = {
    "oeq": ("eq", "neq"),
    "ogt": ("gt", "ngt"),
    "oge": ("ge", "nge"),
    "olt": ("lt", "nlt"),
    "ole": ("le", "nle"),
    "one": ("lg", "nlg"),
    "ord": ("o", "u"),
    "ueq": ("nlg", "lg"),
    "ugt": ("nle", "le"),
    "uge": ("nlt", "lt"),
    "ult": ("nge", "ge"),
    "ule": ("ngt", "gt"),
    "une": ("neq", "eq"),
    "uno": ("u", "o"),
}
_FLOAT_SWAPPED = {
    "eq": "eq", "neq": "neq", "lg": "lg", "nlg": "nlg", "o": "o", "u": "u",
    "lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "nlt": "ngt", "ngt": "nlt", "nle": "nge", "nge": "nle",
}  # fmt: skip


def _compare_constants(predicate: str, signed: bool, a: int, b: int) -> bool:
    if signed:
        a, b = signed32(a), signed32(b)
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[predicate]


class Truths:
    """Operations on ``i1`` values."""

    def __init__(self, emitter: Emitter, integers: Integers) -> None:
        self.e = emitter
        self.i = integers
        # How a mask was made, so that its negation is another compare: mask → (negated mnemonic, left, right).
        self._negation: dict[Value, tuple[str, Operand, Operand]] = {}
        self._of_mask: dict[Value, Truth] = {}
        self.compare_of: dict[Value, tuple[str, Operand, Operand]] = {}

    @staticmethod
    def constant(value: bool) -> Truth:
        """A known truth."""
        return TRUE if value else FALSE

    def of_mask(self, mask: Value, clean: bool = False) -> Truth:
        """A truth held in a lane mask; ``clean``: the bits of lanes that are inactive now are zero."""
        found = self._of_mask.get(mask)
        if found is None:
            found = self._of_mask[mask] = Truth(mask=mask, clean_for=(self.e.made_under.get(mask),) if clean else None)
        return found

    @staticmethod
    def values(truth: Truth) -> tuple[Operand, ...]:
        """The Low values a truth depends on."""
        if truth.mask is not None:
            return (truth.mask,)
        if truth.bit is not None:
            return (truth.bit,)
        return truth.compare[1:] if truth.compare is not None else ()

    @staticmethod
    def key(truth: Truth) -> object:
        """What makes two truths the same."""
        return (truth.constant, truth.mask, truth.bit, truth.compare)

    # Making truths

    def compare32(self, predicate: str, a: Operand, b: Operand, signed: bool) -> Truth:
        """``eq ne lt le gt ge`` of two words."""
        if isinstance(a, int) and isinstance(b, int):
            return self.constant(_compare_constants(predicate, signed, a & MASK32, b & MASK32))
        kind = "i32" if signed else "u32"
        if predicate in ("eq", "ne"):
            kind = "u32"
        if not is_vector(a) and not is_vector(b):
            return Truth(compare=(f"s_cmp_{_SCALAR_NAME[predicate]}_{kind}", a, b))
        return self._vector_compare(predicate, _NEGATED[predicate], _SWAPPED[predicate], kind, a, b)

    def compare64(self, predicate: str, a: Pair, b: Pair, signed: bool) -> Truth:
        """The same of two pairs."""
        kind = "i64" if signed else "u64"
        if predicate in ("eq", "ne"):
            kind = "u64"
        x, y = self.i.join(a), self.i.join(b)
        if isinstance(x, int) and isinstance(y, int):
            if signed:
                x, y = (v - (1 << 64) if v >> 63 else v for v in (x, y))
            known = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
            return self.constant(known[predicate])
        if not is_vector(x) and not is_vector(y) and predicate in ("eq", "ne"):
            return Truth(compare=(f"s_cmp_{_SCALAR_NAME[predicate]}_u64", x, y))
        return self._vector_compare(predicate, _NEGATED[predicate], _SWAPPED[predicate], kind, x, y)

    def compare_float(self, predicate: str, a: Operand, b: Operand, kind: str) -> Truth:
        """A source float predicate on two operands of ``f16``, ``f32`` or ``f64``."""
        positive, negative = FLOAT_PREDICATES[predicate]
        return self._vector_compare(positive, negative, _FLOAT_SWAPPED[positive], kind, a, b)

    def _vector_compare(self, name: str, negated: str, swapped: str, kind: str, a: Operand, b: Operand) -> Truth:
        if is_vector(a) and not is_vector(b):
            # The short encoding wants the vector operand second.
            a, b, name = b, a, swapped
            table = _FLOAT_SWAPPED if kind.startswith("f") else _SWAPPED
            negated = table[negated]
        mask = self.e.op(f"v_cmp_{name}_{kind}", a, b)[0]
        self._negation[mask] = (f"v_cmp_{negated}_{kind}", a, b)
        self.compare_of[mask] = (f"v_cmp_{name}_{kind}", a, b)
        return self.of_mask(mask, clean=True)

    def class_test(self, a: Operand, kind: str, classes: int) -> Truth:
        """Whether a float is in one of the classes (bits: 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -subnormal, 5 -0, 6 … 9
        the positive ones).
        """
        mask = self.e.op(f"v_cmp_class_{kind}", a, classes)[0]
        self._negation[mask] = (f"v_cmp_class_{kind}", a, ~classes & 0x3FF)
        return self.of_mask(mask, clean=True)

    def from_bit(self, word: Operand) -> Truth:
        """The truth of the lowest bit of a word that holds 0 or 1."""
        if isinstance(word, int):
            return self.constant(bool(word & 1))
        if is_vector(word):
            return self.compare32("ne", word, 0, signed=False)
        return Truth(bit=word)

    # Forms

    def as_mask(self, truth: Truth) -> Value:
        """The truth as a lane mask."""
        if truth.mask is not None:
            return truth.mask
        e = self.e
        ones = MASK32 if e.wave == 32 else (1 << 64) - 1
        if truth.constant is not None:
            words = [MASK32 if truth.constant else 0] * e.mask_units
            if e.wave == 32:
                return e.scalar_constant(words[0])
            return e.op("s_mov_b64", ones if truth.constant else 0)[0]

        def build() -> tuple[Value, ...]:
            scc = self.as_scc(truth)
            return (e.fresh(f"s_cselect_{e.mask_suffix}", ones, 0, state=(scc,))[0],)

        made: Value = e.memo(("as_mask", self.key(truth)), self.values(truth), build)[0]
        return made

    def as_scc(self, truth: Truth) -> Value:
        """The truth of a uniform value in SCC; to be used by the very next scalar op or the branch."""
        e = self.e
        if truth.constant is not None:
            return e.fresh("s_cmp_eq_u32", 0, 0 if truth.constant else 1)[0]
        if truth.compare is not None:
            return e.fresh(*truth.compare)[0]
        if truth.bit is not None:
            return e.fresh("s_cmp_lg_u32", truth.bit, 0)[0]
        assert truth.mask is not None
        mask = truth.mask
        if truth.clean_for is None:
            # Lanes that are inactive may hold anything.
            return e.fresh(f"s_and_{e.mask_suffix}", mask, e.read_exec())[1]
        return e.fresh("s_cmp_lg_u32" if e.wave == 32 else "s_cmp_lg_u64", mask, 0)[0]

    def as_branch(self, truth: Truth) -> Value:
        """The truth of a uniform value to branch on: SCC, or VCC where a vector compare can write it."""
        mask = truth.mask
        compare = self.compare_of.get(mask) if mask is not None else None
        if mask is not None and compare is not None and not mask.users:
            return self.e.fresh(*compare, classes=(VCC,))[0]
        return self.as_scc(truth)

    def as_bit(self, truth: Truth) -> Operand:
        """A uniform truth as 0 or 1 in a scalar register."""
        if truth.constant is not None:
            return int(truth.constant)
        if truth.bit is not None:
            return truth.bit
        e = self.e

        def build() -> tuple[Value, ...]:
            scc = self.as_scc(truth)
            return (e.fresh("s_cselect_b32", 1, 0, state=(scc,))[0],)

        made: Value = e.memo(("as_bit", self.key(truth)), self.values(truth), build)[0]
        e.zero_extended[made] = 1
        return made

    def as_word(self, truth: Truth, true_value: int = 1) -> Operand:
        """``true_value`` or 0 as a word, in a vector register for divergent truths."""
        if truth.constant is not None:
            return true_value if truth.constant else 0
        if truth.is_uniform and true_value == 1:
            return self.as_bit(truth)
        made = self.select_word(truth, true_value, 0)
        if isinstance(made, Value) and true_value == 1:
            self.e.zero_extended[made] = 1
        return made

    def clean_mask(self, truth: Truth) -> Value:
        """The truth as a lane mask whose bits of inactive lanes are zero."""
        mask = self.as_mask(truth)
        if truth.mask is not None and truth.clean_for == (self.e.exec,):
            return mask
        return self.e.op(f"s_and_{self.e.mask_suffix}", mask, self.e.read_exec())[0]

    # Logic

    def not_(self, truth: Truth) -> Truth:
        """The negation."""
        if truth.constant is not None:
            return self.constant(not truth.constant)
        if truth.compare is not None:
            name, a, b = truth.compare
            return Truth(compare=(_NEGATED_SCALAR[name], a, b))
        if truth.bit is not None:
            return Truth(compare=("s_cmp_eq_u32", truth.bit, 0))
        assert truth.mask is not None
        negation = self._negation.get(truth.mask)
        if negation is not None:
            mask = self.e.op(*negation)[0]
            self.compare_of[mask] = negation
            return self.of_mask(mask, clean=True)
        return self.of_mask(self.e.op(f"s_not_{self.e.mask_suffix}", truth.mask)[0])

    def binary(self, name: str, a: Truth, b: Truth) -> Truth:
        """``and``, ``or``, ``xor``."""
        if b.constant is not None:
            a, b = b, a
        if a.constant is not None:
            if name == "and":
                return b if a.constant else FALSE
            if name == "or":
                return TRUE if a.constant else b
            return self.not_(b) if a.constant else b
        if a.is_uniform and b.is_uniform:
            return Truth(bit=self.i.binary(name, self.as_bit(a), self.as_bit(b)))
        clean = a.clean_for == b.clean_for == (self.e.exec,) or (
            name == "and" and (self.e.exec,) in (a.clean_for, b.clean_for)
        )
        made = self.e.op(f"s_{name}_{self.e.mask_suffix}", self.as_mask(a), self.as_mask(b))[0]
        return self.of_mask(made, clean=clean)

    # Choice

    def select_word(self, truth: Truth, true_value: Operand, false_value: Operand) -> Operand:
        """One of two words."""
        if truth.constant is not None:
            return true_value if truth.constant else false_value
        if true_value is false_value or (isinstance(true_value, int) and true_value == false_value):
            return true_value
        e = self.e
        if truth.is_uniform and not is_vector(true_value) and not is_vector(false_value):

            def build() -> tuple[Value, ...]:
                scc = self.as_scc(truth)
                return (e.fresh("s_cselect_b32", true_value, false_value, state=(scc,))[0],)

            operands = (*self.values(truth), true_value, false_value)
            made: Value = e.memo(("select", self.key(truth)), operands, build)[0]
            return made
        return e.op("v_cndmask_b32", false_value, true_value, self.as_mask(truth))[0]

    def select(
        self, truth: Truth, true_words: tuple[Operand, ...], false_words: tuple[Operand, ...]
    ) -> tuple[Operand, ...]:
        """One of two tuples of words."""
        return tuple(self.select_word(truth, a, b) for a, b in zip(true_words, false_words, strict=True))

    def select_truth(self, condition: Truth, a: Truth, b: Truth) -> Truth:
        """One of two truths."""
        if condition.constant is not None:
            return a if condition.constant else b
        return self.binary("or", self.binary("and", condition, a), self.binary("and", self.not_(condition), b))


_NEGATED_SCALAR: dict[str, str] = {}
for _kind in ("i32", "u32"):
    for _name, _other in (("eq", "lg"), ("lt", "ge"), ("gt", "le")):
        _NEGATED_SCALAR[f"s_cmp_{_name}_{_kind}"] = f"s_cmp_{_other}_{_kind}"
        _NEGATED_SCALAR[f"s_cmp_{_other}_{_kind}"] = f"s_cmp_{_name}_{_kind}"
_NEGATED_SCALAR["s_cmp_eq_u64"] = "s_cmp_lg_u64"
_NEGATED_SCALAR["s_cmp_lg_u64"] = "s_cmp_eq_u64"
