"""The elementary functions as instructions: :class:`loom.target.amdgpu.lowering.math.MathOps` over a lowering."""

from __future__ import annotations

import struct
from collections.abc import Callable

from loom.target.amdgpu.lowering import math as functions
from loom.target.amdgpu.lowering.context import Lowering
from loom.target.amdgpu.lowering.emitter import Operand
from loom.target.amdgpu.lowering.floats import Floats, floats
from loom.target.amdgpu.lowering.values import Truth, Words
from loom.transform.rejection import NoForm


class LoweredMath:
    """Operations on words: one for ``f32``, two for ``f64``; integers are one word."""

    def __init__(self, lw: Lowering, kind: str) -> None:
        self.lw = lw
        self.kind = kind
        self.f: Floats = floats(lw)

    def const(self, value: float) -> Words:
        """A constant's bits."""
        if self.kind == "f32":
            try:
                return (int.from_bytes(struct.pack("<f", value), "little"),)
            except OverflowError:
                return (0x7F800000 if value > 0 else 0xFF800000,)
        bits = int.from_bytes(struct.pack("<d", value), "little")
        return (bits & 0xFFFFFFFF, bits >> 32)

    def op(self, name: str, *sources: Words) -> Words:
        """A float operation; ``div`` and ``sqrt`` are the exact sequences."""
        if name == "div":
            return self.f.divide(sources[0], sources[1], self.kind)
        if name == "sqrt":
            return self.f.sqrt(sources[0], self.kind)
        return self.f.op(name, self.kind, *sources)

    def neg(self, a: Words) -> Words:
        """-a."""
        return self.f.neg(a, self.kind)

    def abs(self, a: Words) -> Words:
        """|a|."""
        return self.f.abs(a, self.kind)

    def ldexp(self, a: Words, exponent: Operand) -> Words:
        """a * 2^exponent."""
        made = self.lw.e.op(f"v_ldexp_{self.kind}", self.f.operand(a), exponent)[0]
        return self.f.words(made)

    def exponent(self, a: Words) -> Operand:
        """Exponent of the fraction form."""
        return self.lw.e.op(f"v_frexp_exp_i32_{self.kind}", self.f.operand(a))[0]

    def to_int(self, a: Words) -> Operand:
        """Integer part."""
        return self.lw.e.op(f"v_cvt_i32_{self.kind}", self.f.operand(a))[0]

    def from_int(self, a: Operand) -> Words:
        """An integer as a float."""
        return self.f.words(self.lw.e.op(f"v_cvt_{self.kind}_i32", a)[0])

    def integer(self, name: str, a: Operand, b: Operand) -> Operand:
        """Integer arithmetic."""
        return self.lw.i.binary(name, a, b)

    def test(self, predicate: str, a: Words, b: Words) -> Truth:
        """A float comparison."""
        return self.lw.t.compare_float(predicate, self.f.operand(a), self.f.operand(b), self.kind)

    def test_int(self, predicate: str, a: Operand, b: Operand) -> Truth:
        """An integer comparison, unsigned with a leading ``u``."""
        unsigned = predicate[0] == "u"
        return self.lw.t.compare32(predicate[1:] if unsigned else predicate, a, b, signed=not unsigned)

    def select(self, truth: Truth, a: Words | Operand, b: Words | Operand) -> Words | Operand:
        """One of two floats or integers."""
        if isinstance(a, tuple) and isinstance(b, tuple):
            return self.lw.t.select(truth, a, b)
        assert not isinstance(a, tuple) and not isinstance(b, tuple)
        return self.lw.t.select_word(truth, a, b)

    def bits(self, a: Words) -> Operand:
        """The high word."""
        return a[-1]

    def with_bits(self, a: Words, high: Operand) -> Words:
        """The high word replaced."""
        return (*a[:-1], high)

    def copysign(self, magnitude: Words, sign: Words) -> Words:
        """Magnitude of one, sign of the other."""
        return (*magnitude[:-1], self.lw.i.merge_bits(0x7FFFFFFF, magnitude[-1], sign[-1]))

    def wider(self) -> LoweredMath:
        """Double precision."""
        return LoweredMath(self.lw, "f64")

    def widen(self, a: Words) -> Words:
        """To double precision."""
        return self.f.convert(a, self.kind, "f64")

    def round(self, a: Words) -> Words:
        """From double precision."""
        return self.f.convert(a, "f64", self.kind)


_IN_DOUBLE: dict[str, Callable[..., object]] = {
    "expm1f": functions.expm1_64,
    "log1pf": functions.log1p_64,
    "tanhf": functions.tanh64,
    "sinhf": functions.sinh64,
    "coshf": functions.cosh64,
    "atanf": functions.atan64,
    "atan2f": functions.atan2_64,
    "asinf": functions.asin64,
    "acosf": functions.acos64,
    "asinhf": functions.asinh64,
    "acoshf": functions.acosh64,
    "atanhf": functions.atanh64,
    "erff": functions.erf64,
    "erfcf": functions.erfc64,
    "powf": functions.pow64,
    "cbrtf": functions.cbrt64,
    "expf": functions.exp64,
    "logf": functions.log64,
}
"""Functions with a double-precision sequence."""


_IN_SINGLE = frozenset(
    ("expf", "exp2f", "logf", "log2f", "sinf", "cosf", "sinturnsf", "costurnsf", "logisticf", "siluf")
)
_APPROXIMATED = frozenset(
    ("expf", "exp2f", "logf", "log2f", "log10f", "rsqrtf", "logisticf", "siluf", "softplusf", "tanhf", "powf")
)
_TURNS = frozenset(("sinf", "cosf", "sinturnsf", "costurnsf"))


def _way(name: str, kind: str, flags: frozenset[str]) -> str:
    """How :func:`elementary` computes a function, for the report."""
    if kind == "f64":
        return "double-precision sequence"
    allowed = bool(flags & {"afn", "fast"})
    narrow = kind != "f32"
    if (name in _APPROXIMATED and (allowed or narrow)) or (name in _TURNS and allowed):
        way = "hardware approximation"
    elif name in _IN_SINGLE:
        way = "single-precision sequence within 1 ULP"
    else:
        way = "double-precision sequence, rounded once"
    return f"{way}, in single precision and rounded once to {kind}" if narrow else way


def elementary(lw: Lowering, name: str, kind: str, flags: frozenset[str], *sources: Words) -> Words:
    """A source function (``expf`` …) of values of format ``kind``.

    Formats narrower than single precision compute in single precision and round once.
    """
    f = floats(lw)
    if "narrow" not in flags:
        lw.note(_way(name, kind, flags))
    if kind not in ("f32", "f64"):
        singles = [f.to_f32(s, kind) for s in sources]
        return f.from_f32(elementary(lw, name, "f32", flags | {"narrow"}, *singles), kind)
    if kind == "f64":
        return _double(lw, name, *sources)
    fast = bool(flags & {"afn", "fast", "narrow"})
    m = LoweredMath(lw, "f32")
    x = sources[0]
    result: object
    wide: Words
    if name == "expf":
        result = functions.exp_fast(m, x) if fast else functions.exp32(m, x)
    elif name == "exp2f":
        result = m.op("exp2", x) if fast else functions.exp2_32(m, x)
    elif name in ("logf", "log10f"):
        if fast:
            factor = 0.6931471805599453 if name == "logf" else 0.30102999566398120
            result = functions.log_fast(m, x, factor)
        elif name == "logf":
            result = functions.log32(m, x)
        else:
            d = LoweredMath(lw, "f64")
            wide = functions.log64(d, m.widen(x))
            result = m.round(d.op("mul", wide, d.const(0.4342944819032518)))
    elif name == "log2f":
        result = m.op("log2", x) if fast else functions.log2_32(m, x)
    elif name in ("sinf", "cosf"):
        if flags & {"afn", "fast"}:
            turns = m.op("mul", x, m.const(0.15915494309189535))
            result = m.op("sin" if name == "sinf" else "cos", turns)
        else:
            result = functions.sin_cos32(m, x, name == "cosf", lambda n, b, s: _rarely(lw, n, b, s))
    elif name in ("sinturnsf", "costurnsf"):
        if flags & {"afn", "fast"}:
            result = m.op("sin" if name == "sinturnsf" else "cos", x)
        else:
            result = functions.turns32(m, x, name == "costurnsf")
    elif name == "tanf":
        d = LoweredMath(lw, "f64")
        wide = m.widen(x)
        sine, cosine = functions.sin_cos64(d, wide, False), functions.sin_cos64(d, wide, True)
        result = m.round(d.op("div", sine, cosine))
    elif name == "rsqrtf":
        if fast:
            result = m.op("rsq", x)
        else:
            d = LoweredMath(lw, "f64")
            wide = m.widen(x)
            result = m.round(_rsqrt64(d, wide))
            special = lw.t.class_test(x[0], "f32", 0x3 | 0x4 | 0x20 | 0x40 | 0x200)
            result = lw.t.select(special, m.op("rsq", x), result)
    elif name == "logisticf":
        result = _logistic(m, x, fast)
    elif name == "siluf":
        result = _silu(m, x, fast)
    elif name == "softplusf":
        result = _softplus(m, x, fast)
    elif name in _IN_DOUBLE:
        if fast and name == "tanhf":
            # 1 - 2 / (e^2x + 1)
            e = functions.exp_fast(m, m.op("add", x, x))
            result = m.op("fma", m.op("rcp", m.op("add", e, m.const(1.0))), m.const(-2.0), m.const(1.0))
        elif fast and name == "powf":
            result = m.op("exp2", m.op("mul", sources[1], m.op("log2", x)))
        else:
            d = LoweredMath(lw, "f64")
            result = m.round(_IN_DOUBLE[name](d, *(m.widen(s) for s in sources)))  # type: ignore[arg-type]
    else:
        raise NoForm(f"no sequence computes {name}", "build it of the functions that docs/lowering.md names")
    assert isinstance(result, tuple)
    return result


def _rsqrt64(d: LoweredMath, x: Words) -> Words:
    y = d.op("rsq", x)
    # One Newton step of the 1/sqrt estimate.
    half = d.op("mul", d.const(0.5), y)
    error = d.op("fma", d.op("mul", d.neg(x), y), y, d.const(1.0))
    return d.op("fma", half, error, y)


def _logistic(m: LoweredMath, x: Words, fast: bool) -> Words:
    if fast:
        e = functions.exp_fast(m, m.neg(x))
        made = m.op("rcp", m.op("add", e, m.const(1.0)))
    else:
        e = functions.exp32(m, m.neg(x))
        made = m.op("div", m.const(1.0), m.op("add", e, m.const(1.0)))
    return made


def _silu(m: LoweredMath, x: Words, fast: bool) -> Words:
    if fast:
        return m.op("mul", x, _logistic(m, x, True))
    e = functions.exp32(m, m.neg(x))
    result = m.op("div", x, m.op("add", e, m.const(1.0)))
    # -inf / inf is not a number; the limit is -0.
    low = m.test("oeq", x, m.const(float("-inf")))
    return m.select(low, m.const(-0.0), result)  # type: ignore[return-value]


def _softplus(m: LoweredMath, x: Words, fast: bool) -> Words:
    # max(x, 0) + log1p(e^-|x|)
    if fast:
        e = functions.exp_fast(m, m.neg(m.abs(x)))
        tail = functions.log_fast(m, m.op("add", e, m.const(1.0)))
        return m.op("add", m.op("max", x, m.const(0.0)), tail)
    d = m.wider()
    wide = m.widen(x)
    tail = functions.log1p_64(d, functions.exp64(d, d.neg(d.abs(wide))))
    result = m.round(d.op("add", d.op("max", wide, d.const(0.0)), tail))
    return m.select(m.test("uno", x, x), x, result)  # type: ignore[return-value]


def _double(lw: Lowering, name: str, *sources: Words) -> Words:
    d = LoweredMath(lw, "f64")
    x = sources[0]
    result: object
    if name in _IN_DOUBLE:
        result = _IN_DOUBLE[name](d, *sources)
    elif name == "exp2f":
        whole = d.op("rint", x)
        fraction = d.op("mul", d.op("sub", x, whole), d.const(0.6931471805599453))
        result = d.ldexp(functions.exp64(d, fraction), d.to_int(whole))
    elif name in ("log2f", "log10f"):
        factor = 1.4426950408889634 if name == "log2f" else 0.4342944819032518
        result = d.op("mul", functions.log64(d, x), d.const(factor))
    elif name in ("sinf", "cosf"):
        result = functions.sin_cos64(d, x, name == "cosf")
    elif name == "tanf":
        result = d.op("div", functions.sin_cos64(d, x, False), functions.sin_cos64(d, x, True))
    elif name in ("sinturnsf", "costurnsf"):
        rest = d.op("sub", x, d.op("rint", x))
        angle = d.op("mul", rest, d.const(6.283185307179586))
        result = functions.sin_cos64(d, angle, name == "costurnsf")
    elif name == "rsqrtf":
        result = d.op("div", d.const(1.0), d.op("sqrt", x))
    elif name == "logisticf":
        e = functions.exp64(d, d.neg(x))
        result = d.op("div", d.const(1.0), d.op("add", e, d.const(1.0)))
    elif name == "siluf":
        e = functions.exp64(d, d.neg(x))
        result = d.op("div", x, d.op("add", e, d.const(1.0)))
    elif name == "softplusf":
        tail = functions.log1p_64(d, functions.exp64(d, d.neg(d.abs(x))))
        result = d.op("add", d.op("max", x, d.const(0.0)), tail)
    else:
        raise NoForm(f"no sequence computes {name} in f64", "compute in f32, or build it of other functions")
    assert isinstance(result, tuple)
    return result


def _rarely(
    lw: Lowering, needed: Truth, build: Callable[[], tuple[object, ...]], usual: tuple[object, ...]
) -> tuple[object, ...]:
    """``build`` where ``needed``, else ``usual``; the code is branched around when no lane needs it."""
    from loom.target.amdgpu.lowering.control_flow import branch, branch_if, enter, merge, narrow, new_block
    from loom.target.amdgpu.lowering.emitter import Scope

    e = lw.e
    flat = [w for part in usual for w in (part if isinstance(part, tuple) else (part,))]
    old = [e.to_vector(w) for w in flat]
    outer = e.exec
    saved, any_lane = narrow(lw, lw.t.as_mask(needed))
    work, skip, join = new_block(lw, "rare"), new_block(lw, "skip"), new_block(lw, "join")
    branch_if(lw, any_lane, work, skip)
    enter(lw, work)
    with e.scope(Scope()), e.stay():
        made = build()
        new = [w for part in made for w in (part if isinstance(part, tuple) else (part,))]
        merged = [merge(lw, e.to_vector(n), o) for n, o in zip(new, old, strict=True)]
    e.restore_exec(saved, outer)
    branch(lw, join, merged)
    enter(lw, skip)
    e.restore_exec(saved, outer)
    branch(lw, join, old)
    enter(lw, join)
    results = [e.define(join.add_argument(v.type)) for v in old]
    out: list[object] = []
    position = 0
    for part in usual:
        if isinstance(part, tuple):
            out.append(tuple(results[position : position + len(part)]))
            position += len(part)
        else:
            out.append(results[position])
            position += 1
    return tuple(out)
