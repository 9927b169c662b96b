"""Typed semantic expressions: what an instruction computes, written once, target-neutral, evaluated by two back ends.

An expression is a directed acyclic graph of :class:`Expr` nodes. A node has a scalar type (``i1 i8 i16 i32 i64 f16
f32 f64``)
and is either *uniform* (one value a wave) or *lane-wise* (one value a lane); a uniform operand of a lane-wise node is
broadcast.
Every node is exact: integers wrap, ``f32`` and ``f64`` arithmetic rounds to nearest even as IEEE 754 says, and
nothing depends on
the host's mathematical library. Where a host operation leaves a case open (NaN payloads, out-of-range conversions,
shift
amounts), the functions of :mod:`loom.low.semantics.floats` and the operators here close it with explicit nodes.

Node operations
---------------
``arg`` ``const``                                       leaves; ``attr`` is the name, or the bit pattern
``add sub mul and or xor shl lshr ashr umin umax smin smax``   integer; shift amounts must be below the width
``icmp fcmp``                                           ``attr`` is LLVM's predicate
``select``                                              condition, then, else
``trunc zext sext bitcast``                             integer and bit conversions
``fpext fptrunc sitofp uitofp fptosi fptoui``           ``fpto*`` must be guarded: out of range is undefined
``fadd fsub fmul fdiv fma sqrt floor ceil ftrunc rint`` IEEE 754, round to nearest even
``ctpop ctlz cttz bitreverse``                          ``ctlz``/``cttz`` of zero give the width
``lane``                                                the lane's number, ``i32``
``ballot``                                              lane-wise ``i1`` → uniform integer with one bit a lane
``lane_bit``                                            uniform integer → lane-wise ``i1``
``shuffle``                                             ``attr`` is a tuple of source lanes, one a lane
``permute``                                             lane ``i`` takes lane ``index[i]`` (index below the wave size)
``read_lane``                                           lane-wise value, uniform index → uniform
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "f32": 32, "f64": 64}


class Expr:
    """One node of a semantic expression. Build nodes with the functions and operators of this module."""

    __slots__ = ("args", "attr", "lane", "op", "type")

    lane: bool

    def __init__(
        self, op: str, type_: str, args: tuple[Expr, ...] = (), attr: Any = None, lane: bool | None = None
    ) -> None:
        self.op = op
        self.type = type_
        self.args = args
        self.attr = attr
        self.lane = any(a.lane for a in args) if lane is None else lane

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.args))
        return f"{self.op}.{self.type}({inner}{'' if self.attr is None else f'; {self.attr}'})"

    def _binary(self, op: str, other: Expr | int) -> Expr:
        right = const(self.type, other) if isinstance(other, int) else other
        if right.type != self.type:
            raise TypeError(f"{op}: {self.type} against {right.type}")
        return Expr(op, self.type, (self, right))

    def __add__(self, other: Expr | int) -> Expr:
        return self._binary("add", other)

    def __sub__(self, other: Expr | int) -> Expr:
        return self._binary("sub", other)

    def __mul__(self, other: Expr | int) -> Expr:
        return self._binary("mul", other)

    def __and__(self, other: Expr | int) -> Expr:
        return self._binary("and", other)

    def __or__(self, other: Expr | int) -> Expr:
        return self._binary("or", other)

    def __xor__(self, other: Expr | int) -> Expr:
        return self._binary("xor", other)

    def __invert__(self) -> Expr:
        return self._binary("xor", -1)

    def __lshift__(self, other: Expr | int) -> Expr:
        """Shift left; the amount is taken modulo the width."""
        return Expr("shl", self.type, (self, _amount(self, other)))

    def __rshift__(self, other: Expr | int) -> Expr:
        """Logical shift right; the amount is taken modulo the width."""
        return Expr("lshr", self.type, (self, _amount(self, other)))

    @property
    def width(self) -> int:
        """Bits of the type."""
        return WIDTHS[self.type]


def _amount(value: Expr, amount: Expr | int) -> Expr:
    mask = value.width - 1
    if isinstance(amount, int):
        return const(value.type, amount & mask)
    if amount.op == "const":
        return const(value.type, amount.attr & mask)
    return resize(amount, value.type) & mask


def arg(name: str, type_: str, lane: bool) -> Expr:
    """A named input."""
    return Expr("arg", type_, (), name, lane)


def const(type_: str, bits: int) -> Expr:
    """A constant by its bit pattern (negative numbers wrap)."""
    return Expr("const", type_, (), bits & ((1 << WIDTHS[type_]) - 1), False)


def ashr(value: Expr, amount: Expr | int) -> Expr:
    """Arithmetic shift right; the amount is taken modulo the width."""
    return Expr("ashr", value.type, (value, _amount(value, amount)))


def umin(a: Expr, b: Expr | int) -> Expr:
    """Unsigned minimum."""
    return a._binary("umin", b)


def umax(a: Expr, b: Expr | int) -> Expr:
    """Unsigned maximum."""
    return a._binary("umax", b)


def smin(a: Expr, b: Expr | int) -> Expr:
    """Signed minimum."""
    return a._binary("smin", b)


def smax(a: Expr, b: Expr | int) -> Expr:
    """Signed maximum."""
    return a._binary("smax", b)


def icmp(predicate: str, a: Expr, b: Expr | int) -> Expr:
    """Integer comparison; predicates ``eq ne ult ule ugt uge slt sle sgt sge``."""
    right = const(a.type, b) if isinstance(b, int) else b
    if right.type != a.type:
        raise TypeError(f"icmp: {a.type} against {right.type}")
    return Expr("icmp", "i1", (a, right), predicate)


def fcmp(predicate: str, a: Expr, b: Expr) -> Expr:
    """Floating-point comparison, LLVM's predicates (``oeq olt ole ogt oge one ord ueq ult … une uno``)."""
    return Expr("fcmp", "i1", (a, b), predicate)


def select(condition: Expr, then: Expr | int, otherwise: Expr | int) -> Expr:
    """``then`` where ``condition`` holds, else ``otherwise``; one of the two may be an integer."""
    if isinstance(then, int):
        assert isinstance(otherwise, Expr)
        then = const(otherwise.type, then)
    if isinstance(otherwise, int):
        otherwise = const(then.type, otherwise)
    if then.type != otherwise.type:
        raise TypeError(f"select: {then.type} against {otherwise.type}")
    return Expr("select", then.type, (condition, then, otherwise))


def zext(value: Expr, type_: str) -> Expr:
    """Zero extension (or the value itself when it has the type)."""
    return value if value.type == type_ else Expr("zext", type_, (value,))


def sext(value: Expr, type_: str) -> Expr:
    """Sign extension (or the value itself when it has the type)."""
    return value if value.type == type_ else Expr("sext", type_, (value,))


def trunc(value: Expr, type_: str) -> Expr:
    """The low bits (or the value itself when it has the type)."""
    return value if value.type == type_ else Expr("trunc", type_, (value,))


def resize(value: Expr, type_: str) -> Expr:
    """Zero extension or truncation to an integer type."""
    return zext(value, type_) if WIDTHS[type_] > value.width else trunc(value, type_)


def bitcast(value: Expr, type_: str) -> Expr:
    """The same bits as another type of the same width."""
    if value.type == type_:
        return value
    if value.op == "const":
        return const(type_, value.attr)
    if value.op == "bitcast":
        return bitcast(value.args[0], type_)
    return Expr("bitcast", type_, (value,))


def bits(value: Expr) -> Expr:
    """A floating-point value's bit pattern as an integer."""
    return bitcast(value, f"i{value.width}")


def node(op: str, type_: str, *args: Expr, attr: Any = None) -> Expr:
    """A node by its operation's name."""
    return Expr(op, type_, args, attr)


def lane_number() -> Expr:
    """The lane's own number, ``i32``."""
    return Expr("lane", "i32", (), None, True)


def as_lane(value: Expr) -> Expr:
    """The value as a lane-wise one: the same in every lane where it is uniform."""
    return value if value.lane else Expr("splat", value.type, (value,), None, True)


def ballot(condition: Expr, wave: int) -> Expr:
    """One bit a lane of a lane-wise condition, as an integer of ``wave`` bits."""
    return Expr("ballot", f"i{wave}", (as_lane(condition),), None, False)


def lane_bit(mask: Expr) -> Expr:
    """Each lane's bit of a uniform mask whose width is the wave size."""
    return Expr("lane_bit", "i1", (mask,), None, True)


def shuffle(value: Expr, sources: tuple[int, ...]) -> Expr:
    """Lane ``i`` takes the value of lane ``sources[i]``."""
    return Expr("shuffle", value.type, (as_lane(value),), sources, True)


def permute(value: Expr, index: Expr) -> Expr:
    """Lane ``i`` takes the value of lane ``index[i]``, which must be below the wave size."""
    return Expr("permute", value.type, (as_lane(value), as_lane(index)), None, True)


def read_lane(value: Expr, index: Expr) -> Expr:
    """The value of one lane; ``index`` is uniform and below the wave size."""
    return Expr("read_lane", value.type, (as_lane(value), index), None, False)


def concat(low: Expr, high: Expr) -> Expr:
    """An integer of twice the width from its halves."""
    wide = f"i{low.width * 2}"
    return zext(low, wide) | (zext(high, wide) << low.width)


def halves(value: Expr) -> tuple[Expr, Expr]:
    """The low and the high half of an integer."""
    narrow = f"i{value.width // 2}"
    return trunc(value, narrow), trunc(value >> (value.width // 2), narrow)


def topological(roots: list[Expr]) -> list[Expr]:
    """All nodes below ``roots``, operands before users, each node object once."""
    order: list[Expr] = []
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(r, False) for r in reversed(roots)]
    while stack:
        current, done = stack.pop()
        if done:
            order.append(current)
            continue
        if id(current) in seen:
            continue
        seen.add(id(current))
        stack.append((current, True))
        stack.extend((a, False) for a in current.args if id(a) not in seen)
    return order


Builder = Callable[..., Any]
