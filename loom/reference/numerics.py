"""What every scalar operation computes, as NumPy functions over carrier arrays.

A function takes carrier arrays and the element format and returns ``(result, undefined)``: ``undefined`` is ``None``
or a
boolean array that is set where the language gives no value (division by zero, a shift by the width or more, a
conversion
out of range, a wrapped ``nsw``). Basic float operations round once; elementary functions are evaluated in float64 and
rounded, so their error stays under one unit in the last place of the type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from loom.reference.formats import Array, ElementFormat, round_to

Result = tuple[Array, "Array | None"]


def unsigned(values: Array) -> Array:
    """The same bits as unsigned integers."""
    return values.view(np.uint8) if values.dtype == np.bool_ else values.view(f"u{values.dtype.itemsize}")


def _like(values: Array, form: ElementFormat) -> Array:
    """Bits of an integer array back in the carrier of ``form``."""
    if form.name == "i1":
        return (values & 1).astype(np.bool_)
    return values.astype(form.storage, copy=False).view(form.carrier)


# --- integers ---------------------------------------------------------------------------------------------------------


def _wide(values: Array) -> Array:
    return values.astype(np.int8) * np.int8(-1) if values.dtype == np.bool_ else values


def _overflows(kind: str, a: Array, b: Array, flags: frozenset[str], form: ElementFormat) -> Array | None:
    """Where an add, sub or mul wraps in the sense that its flags exclude; exact by Python integers only when 64
    bits."""
    if not flags & {"nsw", "nuw"}:
        return None
    operation = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[kind]
    wrong: Array = np.zeros(np.broadcast(a, b).shape, np.bool_)
    for flag, low, high in (
        ("nsw", -(1 << (form.bits - 1)), (1 << (form.bits - 1)) - 1),
        ("nuw", 0, (1 << form.bits) - 1),
    ):
        if flag not in flags:
            continue
        left, right = (a, b) if flag == "nsw" else (unsigned(a), unsigned(b))
        exact = operation(left.astype(object), right.astype(object))
        wrong = wrong | ((exact < low) | (exact > high)).astype(np.bool_)
    return wrong


def _wrapping(kind: str, operation: Any) -> Callable[..., Result]:
    def apply(a: Array, b: Array, form: ElementFormat, flags: frozenset[str] = frozenset()) -> Result:
        with np.errstate(over="ignore"):
            return _like(operation(unsigned(a), unsigned(b)), form), _overflows(kind, a, b, flags, form)

    return apply


def _signed_division(a: Array, b: Array, rounding: str, form: ElementFormat) -> Result:
    a, b = _wide(a), _wide(b)
    minimum = -(1 << (form.bits - 1))
    undefined = (b == 0) | ((b == -1) & (a == minimum))
    safe = np.where(undefined, b.dtype.type(1), b)
    floor = np.floor_divide(a, safe)
    inexact = (floor * safe) != a
    if rounding == "trunc":
        quotient = floor + (inexact & ((a < 0) != (safe < 0)))
    elif rounding == "ceil":
        quotient = floor + inexact
    elif rounding == "floor":
        quotient = floor
    else:
        trunc = floor + (inexact & ((a < 0) != (safe < 0)))
        quotient = a - trunc * safe
    return _like(quotient.astype(a.dtype).view(f"u{a.dtype.itemsize}"), form), undefined


def _unsigned_division(a: Array, b: Array, rounding: str, form: ElementFormat) -> Result:
    a, b = unsigned(a), unsigned(b)
    undefined = b == 0
    safe = np.where(undefined, b.dtype.type(1), b)
    quotient = a // safe
    remainder = a - quotient * safe
    if rounding == "ceil":
        quotient = quotient + (remainder != 0).astype(a.dtype)
    return _like(remainder if rounding == "rem" else quotient, form), undefined


def _shift(kind: str) -> Callable[..., Result]:
    def apply(a: Array, b: Array, form: ElementFormat, flags: frozenset[str] = frozenset()) -> Result:
        count = unsigned(b)
        undefined: Array = count >= form.bits
        safe = np.where(undefined, count.dtype.type(0), count)
        if kind == "shrsi":
            signed = _wide(a)
            result = (signed >> safe.astype(signed.dtype)).view(f"u{signed.dtype.itemsize}")
        elif kind == "shrui":
            result = unsigned(a) >> safe
        else:
            result = unsigned(a) << safe
            if "nuw" in flags:
                undefined = undefined | ((result >> safe) != unsigned(a))
            if "nsw" in flags and form.name != "i1":
                signed = result.view(a.dtype)
                undefined = undefined | ((signed >> safe.view(a.dtype)) != a)
        return _like(result, form), undefined

    return apply


def _rotate(a: Array, b: Array, form: ElementFormat, left: bool) -> Result:
    word = unsigned(a)
    count = unsigned(b) % word.dtype.type(form.bits)
    count = count if left else (word.dtype.type(form.bits) - count) % word.dtype.type(form.bits)
    back = (word.dtype.type(form.bits) - count) % word.dtype.type(form.bits)
    return _like((word << count) | (word >> back), form), None


def _count_bits(kind: str) -> Callable[..., Result]:
    def apply(a: Array, form: ElementFormat) -> Result:
        word = unsigned(a)
        bits = (word[..., None] >> np.arange(form.bits).astype(word.dtype)) & word.dtype.type(1)
        if kind == "pop":
            result = bits.sum(-1)
        else:
            ordered = bits[..., ::-1] if kind == "lead" else bits
            result = np.where(word == 0, form.bits, np.argmax(ordered, axis=-1))
        return _like(result.astype(np.uint64), form), None

    return apply


def _unsigned_choice(smaller: bool) -> Callable[..., Result]:
    def apply(a: Array, b: Array, form: ElementFormat) -> Result:
        choose = unsigned(a) < unsigned(b)
        return np.where(choose if smaller else ~choose, a, b), None

    return apply


def _signed_choice(smaller: bool) -> Callable[..., Result]:
    def apply(a: Array, b: Array, form: ElementFormat) -> Result:
        choose = _wide(a) < _wide(b)
        return np.where(choose if smaller else ~choose, a, b), None

    return apply


def _bitwise(operation: Any) -> Callable[..., Result]:
    def apply(a: Array, b: Array, form: ElementFormat) -> Result:
        return operation(a, b), None

    return apply


def _absolute(a: Array, form: ElementFormat) -> Result:
    return np.where(_wide(a) < 0, _like(unsigned(np.zeros_like(a)) - unsigned(a), form), a), None


def _negate(a: Array, form: ElementFormat) -> Result:
    return _like(unsigned(np.zeros_like(a)) - unsigned(a), form), None


def _sign(a: Array, form: ElementFormat) -> Result:
    return _like(np.sign(_wide(a)).astype(np.int64).view(np.uint64), form), None


def _multiply_add(a: Array, b: Array, c: Array, form: ElementFormat, flags: frozenset[str] = frozenset()) -> Result:
    product, wrong = INTEGER["muli"](a, b, form, flags)
    total, also = INTEGER["addi"](product, c, form, flags)
    return total, either(wrong, also)


def either(first: Array | None, second: Array | None) -> Array | None:
    """The union of two optional masks."""
    if first is None:
        return second
    return first if second is None else first | second


INTEGER: dict[str, Callable[..., Result]] = {
    "addi": _wrapping("add", np.add),
    "subi": _wrapping("sub", np.subtract),
    "muli": _wrapping("mul", np.multiply),
    "fmai": _multiply_add,
    "shli": _shift("shli"),
    "shrsi": _shift("shrsi"),
    "shrui": _shift("shrui"),
    "divsi": lambda a, b, form: _signed_division(a, b, "trunc", form),
    "remsi": lambda a, b, form: _signed_division(a, b, "rem", form),
    "ceildivsi": lambda a, b, form: _signed_division(a, b, "ceil", form),
    "floordivsi": lambda a, b, form: _signed_division(a, b, "floor", form),
    "divui": lambda a, b, form: _unsigned_division(a, b, "floor", form),
    "remui": lambda a, b, form: _unsigned_division(a, b, "rem", form),
    "ceildivui": lambda a, b, form: _unsigned_division(a, b, "ceil", form),
    "minsi": _signed_choice(True),
    "maxsi": _signed_choice(False),
    "minui": _unsigned_choice(True),
    "maxui": _unsigned_choice(False),
    "andi": _bitwise(np.bitwise_and),
    "ori": _bitwise(np.bitwise_or),
    "xori": _bitwise(np.bitwise_xor),
    "rotli": lambda a, b, form: _rotate(a, b, form, True),
    "rotri": lambda a, b, form: _rotate(a, b, form, False),
    "negi": _negate,
    "absi": _absolute,
    "ctlzi": _count_bits("lead"),
    "cttzi": _count_bits("trail"),
    "ctpopi": _count_bits("pop"),
    "signi": _sign,
}

#: Operations that take overflow flags.
FLAGGED = frozenset({"addi", "subi", "muli", "shli", "fmai"})

_ORDER: dict[str, Any] = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


def compare_integers(predicate: str, a: Array, b: Array) -> Array:
    """``cmpi``: eq ne slt … uge, as booleans."""
    if predicate == "eq":
        return np.asarray(a == b)
    if predicate == "ne":
        return np.asarray(a != b)
    if predicate[0] == "u":
        return np.asarray(_ORDER[predicate[1:]](unsigned(a), unsigned(b)))
    return np.asarray(_ORDER[predicate[1:]](_wide(a), _wide(b)))


def compare_floats(predicate: str, a: Array, b: Array) -> Array:
    """``cmpf``: ordered predicates are false, unordered ones true, where an operand is NaN."""
    unordered = np.isnan(a) | np.isnan(b)
    if predicate == "ord":
        return ~unordered
    if predicate == "uno":
        return unordered
    relation = predicate[1:]
    if relation == "eq":
        holds = a == b
    elif relation == "ne":
        holds = (a != b) & ~unordered
    else:
        holds = _ORDER[relation](a, b)
    return np.asarray(holds & ~unordered if predicate[0] == "o" else holds | unordered)


# --- floats -----------------------------------------------------------------------------------------------------------


def _to_odd(total: Array, remainder: Array) -> Array:
    """Round to odd: make an inexact float64 sum's last bit one, so that a later rounding is as if from the exact
    sum."""
    bits = np.ascontiguousarray(total).view(np.int64)
    adjust = (remainder != 0) & ((bits & 1) == 0) & np.isfinite(total)
    away = (remainder > 0) == (total > 0)
    return np.where(adjust, np.where(away, bits + 1, bits - 1), bits).view(np.float64)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Knuth's error-free addition."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Dekker's error-free product by Veltkamp splitting; exact while nothing over- or underflows."""
    splitter = 134217729.0
    product = a * b
    ca, cb = a * splitter, b * splitter
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def _exact_fma(a: float, b: float, c: float) -> float:
    """float64 fma by rational arithmetic, for the elements whose error-free transformation is not safe."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c)) if a * b == 0 or c == 0 else 0.0
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def fused_multiply_add(a: Array, b: Array, c: Array, form: ElementFormat) -> Array:
    """a*b + c with one rounding, for every float format (Boldo and Melquiond's method for float64)."""
    with np.errstate(all="ignore"):
        if form.name != "f64":
            product = a.astype(np.float64) * b.astype(np.float64)
            total, remainder = _two_sum(product, c.astype(np.float64))
            rounded = round_to(_to_odd(total, np.where(np.isfinite(remainder), remainder, 0.0)), form)
            return default_nan(rounded, a, b, c)
        a, b, c = np.broadcast_arrays(a, b, c)
        high, low = _two_product(a, b)
        carry, carry_low = _two_sum(c, low)
        value, value_low = _two_sum(high, carry)
        tail, tail_low = _two_sum(carry_low, value_low)
        result = np.array(value + _to_odd(tail, tail_low))
        sizes = [np.abs(x) for x in (a, b, c, high)]
        unsafe = ~np.isfinite(result)
        for size in sizes:
            unsafe |= (size > 1e290) | ((size < 1e-250) & (size != 0))
        unsafe |= (high == 0) & (a != 0) & (b != 0)
        for position in zip(*np.nonzero(unsafe), strict=True):
            result[position] = _exact_fma(float(a[position]), float(b[position]), float(c[position]))
        return default_nan(result, a, b, c)


def _arithmetic(operation: Any) -> Callable[..., Array]:
    """Add, subtract, multiply, divide: one rounding. float32 is wide enough that rounding its result again to a
    narrower
    format equals one rounding (24 >= 2p + 2 for p <= 11)."""

    def apply(a: Array, b: Array, form: ElementFormat) -> Array:
        with np.errstate(all="ignore"):
            if form.bits >= 32:
                return default_nan(np.asarray(operation(a, b)), a, b)
            return default_nan(round_to(operation(a.astype(np.float32), b.astype(np.float32)), form), a, b)

    return apply


def default_nan(result: Array, *operands: Array) -> Array:
    """A NaN that no operand brought is the positive one, whatever sign the host's processor gives it."""
    fresh = np.isnan(result)
    if not fresh.any():
        return result
    for operand in operands:
        fresh = fresh & ~np.isnan(operand)
    return np.where(fresh, np.abs(result), result)


def _through_double(function: Callable[..., Any]) -> Callable[..., Array]:
    def apply(*arguments: Any) -> Array:
        *operands, form = arguments
        with np.errstate(all="ignore"):
            wide = [operand.astype(np.float64) for operand in operands]
            return default_nan(round_to(np.asarray(function(*wide), np.float64), form), *operands)

    return apply


def _elementwise(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of Python's ``math`` over an array; NaN stays NaN."""
    vector = np.vectorize(lambda x: function(x) if x == x else x, otypes=[np.float64])

    def apply(values: Array) -> Array:
        return np.asarray(vector(values)) if values.size else values

    return apply


def _minimum(a: Array, b: Array, form: ElementFormat) -> Array:
    both_zero = (a == 0) & (b == 0)
    return np.where(both_zero, np.where(np.signbit(a), a, b), np.minimum(a, b))


def _maximum(a: Array, b: Array, form: ElementFormat) -> Array:
    both_zero = (a == 0) & (b == 0)
    return np.where(both_zero, np.where(np.signbit(a), b, a), np.maximum(a, b))


def _round_away(values: Array) -> Array:
    whole = np.trunc(values)
    return np.copysign(np.where(np.abs(values - whole) >= 0.5, whole + np.copysign(1.0, values), whole), values)


def _logistic(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def _turns(function: Any) -> Callable[[Array], Array]:
    return lambda x: function(2.0 * np.pi * (x - np.rint(x)))


_erf = _elementwise(math.erf)
_erfc = _elementwise(math.erfc)

_DOUBLE_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrtf": np.sqrt,
    "expf": np.exp,
    "exp2f": np.exp2,
    "expm1f": np.expm1,
    "logf": np.log,
    "log2f": np.log2,
    "log10f": np.log10,
    "log1pf": np.log1p,
    "rsqrtf": lambda x: 1.0 / np.sqrt(x),
    "logisticf": _logistic,
    "siluf": lambda x: x * _logistic(x),
    "softplusf": lambda x: np.logaddexp(0.0, x),
    "sinf": np.sin,
    "cosf": np.cos,
    "tanf": np.tan,
    "asinf": np.arcsin,
    "acosf": np.arccos,
    "atanf": np.arctan,
    "sinhf": np.sinh,
    "coshf": np.cosh,
    "tanhf": np.tanh,
    "asinhf": np.arcsinh,
    "acoshf": np.arccosh,
    "atanhf": np.arctanh,
    "sinturnsf": _turns(np.sin),
    "costurnsf": _turns(np.cos),
    "erff": _erf,
    "erfcf": _erfc,
    "cbrtf": np.cbrt,
    "ceilf": np.ceil,
    "floorf": np.floor,
    "truncf": np.trunc,
    "roundevenf": np.rint,
    "roundf": _round_away,
    "signf": lambda x: np.where(np.isnan(x), x, np.where(x == 0, x, np.sign(x))),
    "remf": np.fmod,
    "powf": np.power,
    "atan2f": np.arctan2,
}


def _bit_sign(change: Callable[[Array], Array]) -> Callable[..., Array]:
    def apply(a: Array, form: ElementFormat) -> Array:
        word = unsigned(np.ascontiguousarray(a))
        return change(word).view(a.dtype)

    return apply


def _sign_bit(word: Array) -> Any:
    return word.dtype.type(1 << (8 * word.dtype.itemsize - 1))


FLOAT: dict[str, Callable[..., Array]] = {
    **{name: _through_double(function) for name, function in _DOUBLE_FUNCTIONS.items()},
    "addf": _arithmetic(np.add),
    "subf": _arithmetic(np.subtract),
    "mulf": _arithmetic(np.multiply),
    "divf": _arithmetic(np.divide),
    "minimumf": _minimum,
    "maximumf": _maximum,
    "minnumf": lambda a, b, form: np.fmin(a, b),
    "maxnumf": lambda a, b, form: np.fmax(a, b),
    "copysignf": lambda a, b, form: np.copysign(a, b),
    "negf": _bit_sign(lambda word: word ^ _sign_bit(word)),
    "absf": _bit_sign(lambda word: word & ~_sign_bit(word)),
    "fmaf": fused_multiply_add,
}


def gelu(kind: str, x: Array, scale: float, form: ElementFormat) -> Array:
    """Gaussian error linear unit: exact (erf), tanh approximation, or x*logistic(scale*x)."""
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        if kind == "erf":
            result = wide * 0.5 * (1.0 + _erf(wide / math.sqrt(2.0)))
        elif kind == "tanh":
            inner = math.sqrt(2.0 / math.pi) * (wide + 0.044715 * wide**3)
            result = 0.5 * wide * (1.0 + np.tanh(inner))
        else:
            result = wide * _logistic(scale * wide)
        return round_to(result, form)


def clamp(kind: str, value: Array, low: Array, high: Array) -> Array:
    """``ordered`` compares and selects, ``number`` ignores NaN in one operand, ``ieee`` propagates it."""
    if kind == "number":
        return np.asarray(np.fmin(np.fmax(value, low), high))
    if kind == "ieee":
        form_unused: Any = None
        return _minimum(_maximum(value, low, form_unused), high, form_unused)
    lifted = np.where(compare_floats("olt", value, low), low, value)
    return np.where(compare_floats("ogt", lifted, high), high, lifted)


# --- conversions ------------------------------------------------------------------------------------------------------


def _integer_to_double_odd(values: Array) -> Array:
    """64-bit integers as float64, rounded to odd so that a second rounding is exact."""
    high = values >> values.dtype.type(11)
    sticky = ((values & values.dtype.type(0x7FF)) != 0).astype(values.dtype)
    large = np.abs(values.astype(np.float64)) >= 2.0**53
    return np.where(large, (high | sticky).astype(np.float64) * 2048.0, values.astype(np.float64))


def integer_to_float(values: Array, target: ElementFormat, signed: bool) -> Array:
    """``sitofp``/``uitofp``, round to nearest even."""
    words = _wide(values) if signed else unsigned(values)
    if target.bits >= 32:
        return words.astype(target.carrier)
    wide = words.astype(np.int64 if signed else np.uint64)
    return round_to(_integer_to_double_odd(wide), target)


def float_to_integer(values: Array, target: ElementFormat, signed: bool) -> Result:
    """``fptosi``/``fptoui``: truncate; NaN and out-of-range values are undefined (carried as the nearest bound, NaN
    as 0)."""
    with np.errstate(all="ignore"):
        whole = np.trunc(values.astype(np.float64))
        low = -(2.0 ** (target.bits - 1)) if signed else 0.0
        limit = 2.0 ** (target.bits - 1) if signed else 2.0**target.bits
        undefined = ~((whole >= low) & (whole < limit))
        inside = np.where(undefined, 0.0, whole)
        bits = inside.astype(np.int64).view(np.uint64) if signed else inside.astype(np.uint64)
        largest = (1 << (target.bits - 1)) - 1 if signed else (1 << target.bits) - 1
        smallest = 1 << (target.bits - 1) if signed else 0
        bits = np.where(whole >= limit, np.uint64(largest), bits)
        bits = np.where(whole < low, np.uint64(smallest), bits)
    return _like(bits, target), undefined


def float_to_float(values: Array, target: ElementFormat) -> Array:
    """``extf``/``fptrunc``: one rounding; f8E4M3 saturates overflow and infinities, NaN stays NaN."""
    if target.bits < 32 and values.dtype == np.float16:
        values = values.astype(np.float32)
    return round_to(values, target)


def resize_integer(values: Array, target: ElementFormat, signed: bool) -> Array:
    """``extsi``/``extui``/``trunci``."""
    if values.dtype == np.bool_:
        words = values.astype(np.int64) * (-1 if signed else 1)
    else:
        words = values.astype(np.int64) if signed else unsigned(values).astype(np.uint64).view(np.int64)
    return _like(words.view(np.uint64), target)
