"""Transcendental functions as polynomials in double precision, without fused operations: the same bits on every host.

Each is accurate to well below half a unit in the last place of single precision before its final rounding; the ISA
allows one
unit (RDNA3 ISA, "Transcendental instructions"). Single-precision forms flush subnormal inputs and results, as the
hardware
does; half-precision forms keep them.
"""

from __future__ import annotations

import math

from loom.low.semantics.expression import Expr, bitcast, bits, const, fcmp, icmp, node, resize, select
from loom.low.semantics.floats import (
    INFINITY,
    QUIET_NAN,
    SIGN,
    canonical,
    fabs,
    flush,
    frexp,
    is_infinite,
    is_nan,
    is_zero,
    narrow_half_f64,
    narrow_single,
    number,
    power_of_two,
    to_f64,
)

_EXP2 = [math.log(2) ** k / math.factorial(k) for k in range(10)]
_LOG2 = [2 / (math.log(2) * (2 * k + 1)) for k in range(9)]
_SIN = [(-1) ** k * (2 * math.pi) ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(8)]


def polynomial(x: Expr, coefficients: list[float]) -> Expr:
    """Horner's rule with a rounding after each multiplication and addition."""
    result = number("f64", coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = node("fadd", "f64", node("fmul", "f64", result, x), number("f64", coefficient))
    return result


def finish(value: Expr, type_: str) -> Expr:
    """Round a double-precision result to the operation's type."""
    if type_ == "f64":
        return canonical(value)
    return flush(narrow_single(value)) if type_ == "f32" else narrow_half_f64(value)


def start(a: Expr) -> Expr:
    """An operand in double precision; single precision flushes subnormals first."""
    return to_f64(flush(a) if a.type == "f32" else a)


def exp2(a: Expr) -> Expr:
    """2 to the power ``a``."""
    x = start(a)
    top = number("f64", 300.0)
    bottom = number("f64", -300.0)
    limited = select(fcmp("ogt", x, top), top, select(fcmp("olt", x, bottom), bottom, x))
    limited = select(is_nan(x), number("f64", 0.0), limited)
    whole = node("rint", "f64", limited)
    part = node("fsub", "f64", limited, whole)
    scale = power_of_two(resize(node("fptosi", "i32", whole), "i32"))
    value = node("fmul", "f64", polynomial(part, _EXP2), scale)
    return finish(select(is_nan(x), x, value), a.type)


def log2(a: Expr) -> Expr:
    """Logarithm to base 2; 0 gives -infinity, negative numbers NaN."""
    x = start(a)
    mantissa, exponent = frexp(x)
    small = fcmp("olt", mantissa, number("f64", math.sqrt(0.5)))
    mantissa = select(small, node("fadd", "f64", mantissa, mantissa), mantissa)
    exponent = select(small, exponent - 1, exponent)
    one = number("f64", 1.0)
    s = node("fdiv", "f64", node("fsub", "f64", mantissa, one), node("fadd", "f64", mantissa, one))
    series = node("fmul", "f64", s, polynomial(node("fmul", "f64", s, s), _LOG2))
    value = node("fadd", "f64", series, node("sitofp", "f64", exponent))
    negative = icmp("ne", bits(x) & SIGN["f64"], 0)
    value = select(is_infinite(x), x, value)
    value = select(negative, const("f64", QUIET_NAN["f64"]), value)
    value = select(is_zero(x), const("f64", INFINITY["f64"] | SIGN["f64"]), value)
    return finish(select(is_nan(x), x, value), a.type)


def reciprocal(a: Expr) -> Expr:
    """1 / a."""
    if a.type == "f16":
        return finish(node("fdiv", "f64", number("f64", 1.0), to_f64(a)), "f16")
    if a.type == "f32":
        return flush(canonical(node("fdiv", "f32", number("f32", 1.0), flush(a))))
    return canonical(node("fdiv", "f64", number("f64", 1.0), a))


def reciprocal_sqrt(a: Expr) -> Expr:
    """1 / sqrt(a); -0 gives -infinity."""
    x = start(a) if a.type != "f64" else a
    return finish(node("fdiv", "f64", number("f64", 1.0), node("sqrt", "f64", x)), a.type)


def square_root(a: Expr) -> Expr:
    """sqrt(a)."""
    if a.type == "f16":
        return finish(node("sqrt", "f64", to_f64(a)), "f16")
    return canonical(node("sqrt", a.type, flush(a) if a.type == "f32" else a))


def _sine(turns: Expr) -> Expr:
    """sin(2 pi t) for t in double precision."""
    nearest = node("rint", "f64", turns)
    part = node("fsub", "f64", turns, nearest)
    # Fold to a quarter turn: sin(2 pi (1/2 - t)) = sin(2 pi t).
    magnitude = fabs(part)
    folded = select(
        fcmp("ogt", magnitude, number("f64", 0.25)), node("fsub", "f64", number("f64", 0.5), magnitude), magnitude
    )
    value = node("fmul", "f64", folded, polynomial(node("fmul", "f64", folded, folded), _SIN))
    return bitcast(bits(value) | (bits(part) & SIGN["f64"]), "f64")


def _circular(a: Expr, shift: float) -> Expr:
    x = start(a)
    limit = 256.0 if a.type == "f32" else 1.0e9
    argument = node("fadd", "f64", x, number("f64", shift)) if shift else x
    value = _sine(select(is_infinite(x) | is_nan(x), number("f64", 0.0), argument))
    # Beyond 256 turns the hardware's range reduction gives 0 turns.
    outside = fcmp("ogt", fabs(x), number("f64", limit))
    value = select(outside, number("f64", 1.0 if shift else 0.0), value)
    value = select(is_infinite(x) | is_nan(x), const("f64", QUIET_NAN["f64"]), value)
    return finish(value, a.type)


def sine(a: Expr) -> Expr:
    """sin(2 pi a): the argument counts turns."""
    return _circular(a, 0.0)


def cosine(a: Expr) -> Expr:
    """cos(2 pi a): the argument counts turns."""
    return _circular(a, 0.25)
