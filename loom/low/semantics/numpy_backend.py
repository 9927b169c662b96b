"""The NumPy back end: evaluates semantic expressions on arrays with one element a lane.

Lane-wise values are arrays of ``wave`` elements, uniform values arrays of one element. Integers are unsigned arrays,
``i1`` is ``bool``.
Fused multiply-add has no NumPy counterpart and is computed exactly: single precision through double precision with a
round-to-odd sum (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008), double precision
through rational numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from loom.low.semantics.expression import Expr, topological

Array = npt.NDArray[Any]

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.uint8,
    "i16": np.uint16,
    "i32": np.uint32,
    "i64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
_SIGNED = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def evaluate_expressions(roots: Sequence[Expr], arguments: Mapping[str, Array], wave: int) -> list[Array]:
    """Evaluate ``roots`` with named ``arguments`` (arrays of the declared type; one element for a uniform argument)."""
    values: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        for node in topological(list(roots)):
            if node.op == "arg":
                values[id(node)] = np.atleast_1d(np.asarray(arguments[node.attr], dtype=DTYPES[node.type]))
            elif node.op == "const":
                values[id(node)] = from_bits(node.type, node.attr)
            elif node.op == "lane":
                values[id(node)] = np.arange(wave, dtype=np.uint32)
            else:
                values[id(node)] = _OPERATIONS[node.op](node, [values[id(a)] for a in node.args], wave)
    return [values[id(r)] for r in roots]


def from_bits(type_: str, pattern: int) -> Array:
    """A one-element array of ``type_`` from a bit pattern."""
    if type_ == "i1":
        return np.array([bool(pattern & 1)])
    width = np.dtype(DTYPES[type_]).itemsize
    return np.frombuffer(pattern.to_bytes(width, "little"), dtype=DTYPES[type_]).copy()


def _signed(node_type: str, value: Array) -> Array:
    return value.view(_SIGNED[node_type])


def _binary(function: Callable[[Array, Array], Array]) -> Callable[[Expr, list[Array], int], Array]:
    return lambda node, a, wave: np.asarray(function(a[0], a[1]), dtype=DTYPES[node.type])


def _signed_binary(function: Callable[[Array, Array], Array]) -> Callable[[Expr, list[Array], int], Array]:
    def run(node: Expr, a: list[Array], wave: int) -> Array:
        kind = _SIGNED[node.type]
        return np.asarray(function(a[0].view(kind), a[1].view(kind))).astype(kind).view(DTYPES[node.type])

    return run


_ICMP: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _icmp(node: Expr, a: list[Array], wave: int) -> Array:
    predicate = node.attr
    kind = node.args[0].type
    if predicate[0] == "s" and kind != "i1":
        return np.asarray(_ICMP[predicate[1:]](_signed(kind, a[0]), _signed(kind, a[1])))
    return np.asarray(_ICMP[predicate[1:] if predicate[0] == "u" else predicate](a[0], a[1]))


def _fcmp(node: Expr, a: list[Array], wave: int) -> Array:
    predicate = node.attr
    unordered = np.isnan(a[0]) | np.isnan(a[1])
    if predicate == "ord":
        return np.asarray(~unordered)
    if predicate == "uno":
        return np.asarray(unordered)
    result = _ICMP[predicate[1:]](a[0], a[1])
    return np.asarray(result | unordered if predicate[0] == "u" else result & ~unordered)


def _fma(node: Expr, a: list[Array], wave: int) -> Array:
    return fma32(*a) if node.type == "f32" else fma64(*a)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """Correctly rounded single-precision ``a * b + c``."""
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    total = product + addend
    # Error of the sum (Knuth's two-sum), exact in double precision.
    virtual = total - product
    error = (product - (total - virtual)) + (addend - virtual)
    pattern = np.atleast_1d(total).view(np.uint64).copy()
    inexact = np.isfinite(total) & (error != 0) & ((pattern & np.uint64(1)) == 0)
    # Round to odd: step towards the error's sign when the last bit is even.
    away = (error > 0) == (total > 0)
    step = np.where(away, np.int64(1), np.int64(-1)).astype(np.int64)
    pattern = np.where(inexact, (pattern.view(np.int64) + step).view(np.uint64), pattern)
    return np.asarray(pattern.view(np.float64).astype(np.float32))


def _fma64_scalar(a: float, b: float, c: float) -> float:
    if np.isfinite(a) and np.isfinite(b) and not np.isfinite(c):
        return c  # the product of finite numbers never reaches infinity, though its rounding may
    if not (np.isfinite(a) and np.isfinite(b)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # Signed zero: the sum of the signed zero product and c decides, except for exact cancellation, which gives +0.
        product_zero = a == 0 or b == 0
        if product_zero and c == 0:
            return float(np.float64(a) * np.float64(b) + np.float64(c))
        return 0.0
    try:
        result = float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
    return result if result != 0 or exact > 0 else -0.0


def fma64(a: Array, b: Array, c: Array) -> Array:
    """Correctly rounded double-precision ``a * b + c``."""
    shape = np.broadcast(a, b, c).shape
    flat = [np.broadcast_to(v, shape).ravel().tolist() for v in (a, b, c)]
    return np.array([_fma64_scalar(*v) for v in zip(*flat, strict=True)], dtype=np.float64).reshape(shape)


def _count(node: Expr, a: list[Array], wave: int) -> Array:
    value = a[0]
    width = node.width
    positions = np.arange(width, dtype=value.dtype)
    found = ((value[..., None] >> positions) & value.dtype.type(1)).astype(np.int64)
    if node.op == "ctpop":
        count = found.sum(axis=-1)
    else:
        if node.op == "ctlz":
            found = found[..., ::-1]
        count = np.where(found.any(axis=-1), found.argmax(axis=-1), width)
    return np.asarray(count).astype(value.dtype)


def _reverse(node: Expr, a: list[Array], wave: int) -> Array:
    value = a[0]
    result = np.zeros_like(value)
    one = value.dtype.type(1)
    for position in range(node.width):
        moved = value.dtype.type(node.width - 1 - position)
        result |= ((value >> value.dtype.type(position)) & one) << moved
    return result


def _ballot(node: Expr, a: list[Array], wave: int) -> Array:
    chosen = np.broadcast_to(a[0], (wave,))
    total = sum(1 << int(i) for i in np.flatnonzero(chosen))
    return np.array([total], dtype=DTYPES[node.type])


def _lane_bit(node: Expr, a: list[Array], wave: int) -> Array:
    mask = int(a[0][0])
    return np.array([bool(mask >> i & 1) for i in range(wave)])


def _convert(node: Expr, a: list[Array], wave: int) -> Array:
    return a[0].astype(DTYPES[node.type])


def _sign_extend(node: Expr, a: list[Array], wave: int) -> Array:
    source = node.args[0].type
    if source == "i1":
        return np.asarray(np.where(a[0], DTYPES[node.type]((1 << node.width) - 1), DTYPES[node.type](0)))
    return _signed(source, a[0]).astype(_SIGNED[node.type]).view(DTYPES[node.type])


def _truncate(node: Expr, a: list[Array], wave: int) -> Array:
    if node.type == "i1":
        return np.asarray((a[0] & a[0].dtype.type(1)).astype(np.bool_))
    return a[0].astype(DTYPES[node.type])


_OPERATIONS: dict[str, Callable[[Expr, list[Array], int], Array]] = {
    "add": _binary(np.add),
    "sub": _binary(np.subtract),
    "mul": _binary(np.multiply),
    "and": _binary(np.bitwise_and),
    "or": _binary(np.bitwise_or),
    "xor": _binary(np.bitwise_xor),
    "shl": _binary(np.left_shift),
    "lshr": _binary(np.right_shift),
    "ashr": lambda node, a, wave: (_signed(node.type, a[0]) >> _signed(node.type, a[1])).view(DTYPES[node.type]),
    "umin": _binary(np.minimum),
    "umax": _binary(np.maximum),
    "smin": _signed_binary(np.minimum),
    "smax": _signed_binary(np.maximum),
    "icmp": _icmp,
    "fcmp": _fcmp,
    "select": lambda node, a, wave: np.where(a[0], a[1], a[2]),
    "trunc": _truncate,
    "zext": _convert,
    "sext": _sign_extend,
    "bitcast": lambda node, a, wave: np.ascontiguousarray(a[0]).view(DTYPES[node.type]),
    "fpext": _convert,
    "fptrunc": _convert,
    "sitofp": lambda node, a, wave: _signed(node.args[0].type, a[0]).astype(DTYPES[node.type]),
    "uitofp": _convert,
    "fptosi": lambda node, a, wave: a[0].astype(_SIGNED[node.type]).view(DTYPES[node.type]),
    "fptoui": _convert,
    "fadd": _binary(np.add),
    "fsub": _binary(np.subtract),
    "fmul": _binary(np.multiply),
    "fdiv": _binary(np.divide),
    "fma": _fma,
    "sqrt": lambda node, a, wave: np.sqrt(a[0]),
    "floor": lambda node, a, wave: np.floor(a[0]),
    "ceil": lambda node, a, wave: np.ceil(a[0]),
    "ftrunc": lambda node, a, wave: np.trunc(a[0]),
    "rint": lambda node, a, wave: np.rint(a[0]),
    "ctpop": _count,
    "ctlz": _count,
    "cttz": _count,
    "bitreverse": _reverse,
    "splat": lambda node, a, wave: np.broadcast_to(a[0], (wave,)),
    "ballot": _ballot,
    "lane_bit": _lane_bit,
    "shuffle": lambda node, a, wave: np.broadcast_to(a[0], (wave,))[list(node.attr)],
    "permute": lambda node, a, wave: np.broadcast_to(a[0], (wave,))[np.broadcast_to(a[1], (wave,)).astype(np.int64)],
    "read_lane": lambda node, a, wave: np.broadcast_to(a[0], (wave,))[int(a[1][0]) : int(a[1][0]) + 1].copy(),
}
