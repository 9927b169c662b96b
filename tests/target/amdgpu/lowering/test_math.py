"""The elementary functions' sequences, computed with NumPy and measured against wider arithmetic.

The sequences are those that are compiled (``loom.target.amdgpu.lowering.math``); only their operations are NumPy's here. The hardware's base-2
instructions are taken as correctly rounded: their own error of one unit comes on top.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from loom.target.amdgpu.lowering import math as functions

WIDE = np.longdouble


class NumpyMath:
    """Operations on arrays; fused multiply-add by way of wider arithmetic."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.type = np.float32 if kind == "f32" else np.float64
        self.wide = np.float64 if kind == "f32" else WIDE

    def const(self, value):
        with np.errstate(all="ignore"):
            return self.type(value)

    def op(self, name, *sources):
        with np.errstate(all="ignore"):
            a = [np.asarray(s, self.type) for s in sources]
            if name == "fma":
                return self._fma(*a)
            table = {
                "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.fmin, "max": np.fmax,
                "rint": np.rint, "floor": np.floor, "trunc": np.trunc, "sqrt": np.sqrt,
            }  # fmt: skip
            if name in table:
                return table[name](*a).astype(self.type)
            wide = a[0].astype(self.wide)
            if name == "exp2":
                return np.where(np.exp2(wide) < np.finfo(np.float32).tiny, 0, np.exp2(wide)).astype(self.type)
            if name == "log2":
                return np.where(wide < np.finfo(np.float32).tiny, np.log2(np.zeros_like(wide)), np.log2(wide)).astype(
                    self.type
                )
            if name == "frexp_mant":
                return np.frexp(a[0])[0].astype(self.type)
            if name == "rcp":
                return (1 / wide).astype(self.type)
            raise AssertionError(name)

    def _fma(self, x, y, z):
        if self.kind == "f32":
            return (x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)).astype(np.float32)
        # The product's two halves by Dekker's splitting, then sums whose rounding errors are kept.
        x, y, z = np.broadcast_arrays(x, y, z)
        product = x * y
        xh, yh = x * 134217729.0, y * 134217729.0
        xh, yh = xh - (xh - x), yh - (yh - y)
        xl, yl = x - xh, y - yh
        rest = ((xh * yh - product) + xh * yl + xl * yh) + xl * yl
        total = product + z
        back = total - product
        error = (product - (total - back)) + (z - back)
        out = total + (error + rest)
        return np.where(np.isfinite(rest) & np.isfinite(total), out, product + z)

    def neg(self, a):
        return -np.asarray(a, self.type)

    def abs(self, a):
        return np.abs(np.asarray(a, self.type))

    def ldexp(self, a, exponent):
        with np.errstate(all="ignore"):
            return np.ldexp(np.asarray(a, self.wide), np.asarray(exponent, np.int64)).astype(self.type)

    def exponent(self, a):
        return np.frexp(np.asarray(a, self.type))[1].astype(np.int64)

    def to_int(self, a):
        with np.errstate(all="ignore"):
            return np.clip(np.nan_to_num(np.trunc(np.asarray(a, np.float64)), nan=0.0), -(2.0**31), 2.0**31 - 1).astype(
                np.int64
            )

    def from_int(self, a):
        return self._signed(a).astype(self.type)

    @staticmethod
    def _unsigned(a):
        return np.asarray(a).astype(np.int64) & 0xFFFFFFFF

    @classmethod
    def _signed(cls, a):
        a = cls._unsigned(a)
        return np.where(a >= 1 << 31, a - (1 << 32), a)

    def integer(self, name, a, b):
        x, y = self._unsigned(a), self._unsigned(b)
        if name == "mulhi_u":
            return (x.astype(np.uint64) * y.astype(np.uint64) >> np.uint64(32)).astype(np.int64)
        if name == "mul":
            return (x.astype(np.uint64) * y.astype(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.int64)
        table = {
            "add": lambda: x + y, "sub": lambda: x - y, "and": lambda: x & y, "or": lambda: x | y, "xor": lambda: x ^ y,
            "shl": lambda: x << (y & 31), "shr": lambda: x >> (y & 31),
        }  # fmt: skip
        return table[name]() & 0xFFFFFFFF

    def test(self, predicate, a, b):
        x, y = np.asarray(a, self.type), np.asarray(b, self.type)
        table = {
            "olt": x < y,
            "ogt": x > y,
            "ole": x <= y,
            "oge": x >= y,
            "oeq": x == y,
            "uno": np.isnan(x) | np.isnan(y),
        }
        return table[predicate]

    def test_int(self, predicate, a, b):
        x, y = (self._unsigned(a), self._unsigned(b)) if predicate[0] == "u" else (self._signed(a), self._signed(b))
        name = predicate[1:] if predicate[0] == "u" else predicate
        return {"eq": x == y, "ne": x != y, "lt": x < y, "ge": x >= y, "gt": x > y, "le": x <= y}[name]

    def select(self, truth, a, b):
        return np.where(truth, a, b)

    def bits(self, a):
        if self.kind == "f32":
            return np.ascontiguousarray(np.asarray(a, np.float32)).view(np.uint32).astype(np.int64)
        return (np.ascontiguousarray(np.asarray(a, np.float64)).view(np.uint64) >> np.uint64(32)).astype(np.int64)

    def with_bits(self, a, high):
        if self.kind == "f32":
            return self._unsigned(high).astype(np.uint32).view(np.float32)
        low = np.ascontiguousarray(np.asarray(a, np.float64)).view(np.uint64) & np.uint64(0xFFFFFFFF)
        return (low | (self._unsigned(high).astype(np.uint64) << np.uint64(32))).view(np.float64)

    def copysign(self, magnitude, sign):
        return np.copysign(np.asarray(magnitude, self.type), np.asarray(sign, self.type))

    def wider(self):
        return NumpyMath("f64")

    def widen(self, a):
        return np.asarray(a, np.float32).astype(np.float64)

    def round(self, a):
        with np.errstate(all="ignore"):
            return np.asarray(a, np.float64).astype(np.float32)


def units(actual, exact, kind):
    """Error in units in the last place of the exact result; special values must agree."""
    type_ = np.float32 if kind == "f32" else np.float64
    with np.errstate(all="ignore"):
        rounded = exact.astype(type_)
        special = ~np.isfinite(rounded) | ~np.isfinite(actual)
        same = (np.isnan(actual) & np.isnan(rounded)) | (actual == rounded)
        # Overflow on one side of the threshold only is an error of one unit.
        near = np.isinf(rounded) != np.isinf(actual)
        assert np.all(same | near | ~special), (
            actual[special & ~same & ~near][:4],
            rounded[special & ~same & ~near][:4],
        )
        unit = np.spacing(np.abs(rounded)).astype(WIDE)
        error = np.abs(actual.astype(WIDE) - exact) / unit
        return float(np.max(np.where(special, 0, error)))


def samples(kind, low, high, count=20000):
    rng = np.random.default_rng(7)
    type_ = np.float32 if kind == "f32" else np.float64
    linear = rng.uniform(low, high, count)
    small = rng.uniform(-1, 1, count) * np.exp2(rng.uniform(-30, 0, count))
    out = np.concatenate([linear, small[(small > low) & (small < high)]])
    return out.astype(type_)


SINGLE = [
    # function, reference, range, bound in units
    (functions.exp32, np.exp, (-104, 89), 1.0),
    (functions.exp2_32, np.exp2, (-148, 128), 1.0),
    (functions.log32, np.log, (0.0, 1e30), 1.0),
    (functions.log2_32, np.log2, (0.0, 1e30), 1.0),
    (functions.log32, np.log, (0.5, 2.0), 1.0),
    (lambda m, x: functions.sin_cos32(m, x, False), np.sin, (-65000, 65000), 1.0),
    (lambda m, x: functions.sin_cos32(m, x, True), np.cos, (-65000, 65000), 1.0),
    (lambda m, x: functions.sin_cos32(m, x, False), np.sin, (-4, 4), 1.0),
    (lambda m, x: functions.sin_cos32(m, x, True), np.cos, (-4, 4), 1.0),
]


@pytest.mark.parametrize("case", range(len(SINGLE)))
def test_single_precision_stays_within_one_unit(case):
    function, reference, (low, high), bound = SINGLE[case]
    x = samples("f32", low, high)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(WIDE))
    assert units(function(NumpyMath("f32"), x), exact, "f32") <= bound


def test_large_angles_reduce_exactly():
    rng = np.random.default_rng(3)
    x = (rng.uniform(1, 2, 3000) * np.exp2(rng.integers(16, 127, 3000))).astype(np.float32)
    m = NumpyMath("f32")
    quadrant, high, low = functions.reduce_large(m, x)
    sine = functions.sin_cos_of_quadrant(m, quadrant, high, low, False)
    # Exact by integers: x is m * 2^e; its multiple of pi/2 comes from many bits of 2/pi.
    for value, actual in zip(x[:600], sine[:600], strict=True):
        mantissa, exponent = math.frexp(float(value))
        scaled = int(mantissa * 2**24) * functions.TWO_OVER_PI
        point = 320 - (exponent - 24)
        whole, rest = scaled >> point, scaled & ((1 << point) - 1)
        angle = WIDE(rest >> (point - 80)) / WIDE(2) ** 80 * WIDE(math.pi) / 2 if point > 80 else WIDE(0)
        angle = WIDE(rest >> max(0, point - 63)) / WIDE(2.0**63) * (WIDE(math.pi) / 2 + WIDE(6.123233995736766e-17))
        s, c = np.sin(angle), np.cos(angle)
        exact = (s, c, -s, -c)[whole % 4]
        assert abs(WIDE(actual) - exact) <= WIDE(np.spacing(np.float32(abs(exact))))


DOUBLE = [
    (functions.exp64, np.exp, (-740, 709), 1.0),
    (functions.expm1_64, np.expm1, (-40, 709), 2.0),
    (functions.log64, np.log, (0.0, 1e300), 1.0),
    (functions.log1p_64, np.log1p, (-0.999, 1e30), 2.0),
    (functions.tanh64, np.tanh, (-25, 25), 3.0),
    (functions.sinh64, np.sinh, (-700, 700), 3.0),
    (functions.cosh64, np.cosh, (-700, 700), 2.5),
    (functions.atan64, np.arctan, (-1e6, 1e6), 4.0),
    (functions.asinh64, np.arcsinh, (-1e6, 1e6), 3.0),
    (functions.atanh64, np.arctanh, (-0.9999, 0.9999), 4.0),
    (functions.asin64, np.arcsin, (-1, 1), 5.0),
    (functions.acos64, np.arccos, (-1, 1), 5.0),
    (functions.cbrt64, np.cbrt, (-1e30, 1e30), 2.0),
    (lambda m, x: functions.sin_cos64(m, x, False), np.sin, (-1e5, 1e5), 1.0),
    (lambda m, x: functions.sin_cos64(m, x, True), np.cos, (-1e5, 1e5), 1.0),
]


@pytest.mark.parametrize("case", range(len(DOUBLE)))
def test_double_precision_stays_within_its_bound(case):
    function, reference, (low, high), bound = DOUBLE[case]
    x = samples("f64", low, high, 4000)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(WIDE))
    assert units(function(NumpyMath("f64"), x), exact, "f64") <= bound


@pytest.mark.parametrize(
    "name", ["expm1", "log1p", "tanh", "sinh", "cosh", "atan", "asinh", "atanh", "asin", "acos", "cbrt"]
)
def test_single_results_of_double_sequences_are_rounded_once(name):
    table = {
        "expm1": (functions.expm1_64, np.expm1, (-100, 88)), "log1p": (functions.log1p_64, np.log1p, (-0.99, 1e30)),
        "tanh": (functions.tanh64, np.tanh, (-10, 10)), "sinh": (functions.sinh64, np.sinh, (-88, 88)),
        "cosh": (functions.cosh64, np.cosh, (-88, 88)), "atan": (functions.atan64, np.arctan, (-1e6, 1e6)),
        "asinh": (functions.asinh64, np.arcsinh, (-1e6, 1e6)), "atanh": (functions.atanh64, np.arctanh, (-0.999, 0.999)),
        "asin": (functions.asin64, np.arcsin, (-1, 1)), "acos": (functions.acos64, np.arccos, (-1, 1)),
        "cbrt": (functions.cbrt64, np.cbrt, (-1e30, 1e30)),
    }  # fmt: skip
    function, reference, (low, high) = table[name]
    x = samples("f32", low, high)
    m = NumpyMath("f32")
    actual = m.round(function(m.wider(), m.widen(x)))
    with np.errstate(all="ignore"):
        exact = reference(x.astype(WIDE))
    assert units(actual, exact, "f32") <= 0.51


def test_error_function_and_its_complement():
    x = np.concatenate([samples("f64", -6, 6, 1500), np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 27.0])])
    m = NumpyMath("f64")
    for function, reference in ((functions.erf64, math.erf), (functions.erfc64, math.erfc)):
        exact = np.array([reference(v) for v in x], WIDE)
        actual = function(m, x)
        single = m.round(actual)
        assert units(single, exact, "f32") <= 0.51


@pytest.mark.parametrize(
    ("x", "y"),
    [(2.0, 10.0), (-2.0, 3.0), (-2.0, 2.0), (0.0, 3.0), (0.0, -2.0), (-0.0, 3.0), (1.0, math.inf), (-1.0, math.inf),
     (2.0, math.inf), (0.5, math.inf), (math.inf, -1.0), (-math.inf, 3.0), (-math.inf, 2.0), (3.0, 0.0), (math.nan, 0.0), (1.0, math.nan)],
)  # fmt: skip
def test_power_follows_c(x, y):
    m = NumpyMath("f64")
    with np.errstate(all="ignore"):
        exact = np.float64(x) ** np.float64(y)
        actual = m.round(functions.pow64(m, np.array([x]), np.array([y])))[0]
    assert (np.isnan(exact) and np.isnan(actual)) or np.float32(exact) == actual


def test_power_of_ordinary_numbers():
    rng = np.random.default_rng(11)
    x = rng.uniform(0.01, 50, 4000).astype(np.float32)
    y = rng.uniform(-10, 10, 4000).astype(np.float32)
    m = NumpyMath("f32")
    actual = m.round(functions.pow64(m.wider(), m.widen(x), m.widen(y)))
    exact = x.astype(WIDE) ** y.astype(WIDE)
    assert units(actual, exact, "f32") <= 0.51


def test_angle_of_a_point():
    rng = np.random.default_rng(5)
    y, x = rng.normal(size=(2, 4000)).astype(np.float32)
    m = NumpyMath("f32")
    actual = m.round(functions.atan2_64(m.wider(), m.widen(y), m.widen(x)))
    assert units(actual, np.arctan2(y.astype(WIDE), x.astype(WIDE)), "f32") <= 0.51
    axes = [
        (0.0, 1.0),
        (-0.0, 1.0),
        (0.0, -1.0),
        (-0.0, -1.0),
        (1.0, 0.0),
        (-1.0, -0.0),
        (0.0, 0.0),
        (0.0, -0.0),
        (math.inf, math.inf),
    ]
    for b, a in axes:
        found = m.round(functions.atan2_64(m.wider(), m.widen([b]), m.widen([a])))[0]
        assert found == np.float32(math.atan2(b, a)) and math.copysign(1, found) == math.copysign(1, math.atan2(b, a))
