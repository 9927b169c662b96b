"""Constant folding against NumPy (integers, f16 to f64), and against values worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import loom
from loom.ir import Operation
from loom.ir.numbers import float_bits, float_of_bits, round_float

INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def fold(line: str, arguments: str, *constants: Any) -> Any:
    """Fold the op of one line, its operands (in order of the arguments) being constants."""
    module = loom.parse(f"func.def @f({arguments}) {{\n  {line}\n  func.return\n}}\n")
    function = module.symbol("f")
    assert function is not None
    op = function.body().first
    assert isinstance(op, Operation) and op.definition.fold is not None
    loom.verify(module)
    values = dict(zip(function.body().arguments, constants, strict=True))
    outcome = op.definition.fold(op, [values[v] for v in op.operands])
    return None if outcome is None else outcome[0]


def binary(name: str, type_: str, a: Any, b: Any) -> Any:
    return fold(f"%r = scalar.{name} %a, %b : {type_}", f"%a: {type_}, %b: {type_}", a, b)


ARRAY: dict[str, Any] = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and, "ori": np.bitwise_or,
    "xori": np.bitwise_xor, "minsi": np.minimum, "maxsi": np.maximum,
}  # fmt: skip


@given(st.sampled_from(sorted(INTEGERS)), st.sampled_from(sorted(ARRAY)), st.data())
@settings(max_examples=150, deadline=None)
def test_integers_fold_as_numpy_computes(type_: str, name: str, data: st.DataObject) -> None:
    info = np.iinfo(INTEGERS[type_])
    a, b = (data.draw(st.integers(int(info.min), int(info.max))) for _ in range(2))
    with np.errstate(over="ignore"):
        expected = int(ARRAY[name](INTEGERS[type_](a), INTEGERS[type_](b)))
    assert binary(name, type_, a, b) == expected


@given(st.sampled_from(sorted(FLOATS)), st.sampled_from(["addf", "subf", "mulf", "divf"]), st.data())
@settings(max_examples=250, deadline=None)
def test_floats_fold_as_numpy_computes(type_: str, name: str, data: st.DataObject) -> None:
    width = FLOATS[type_](0).itemsize * 8
    a, b = (data.draw(st.floats(width=width)) for _ in range(2))  # type: ignore[arg-type]
    function = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}[name]
    with np.errstate(all="ignore"):
        expected = float(function(FLOATS[type_](a), FLOATS[type_](b)))
    found = binary(name, type_, a, b)
    if math.isnan(expected):
        assert math.isnan(found)
    else:
        assert found == expected
        assert math.copysign(1, found) == math.copysign(1, expected)


@given(st.floats(width=64), st.sampled_from(["f16", "f32"]))
@settings(max_examples=250, deadline=None)
def test_truncation_rounds_as_numpy(value: float, target: str) -> None:
    with np.errstate(all="ignore"):
        expected = float(FLOATS[target](value))
    found = fold(f"%r = scalar.fptrunc %a : f64 to {target}", "%a: f64", value)
    assert found == expected or (math.isnan(found) and math.isnan(expected))


@pytest.mark.parametrize("name", ["f16", "f32", "f64", "bf16", "f8E5M2", "f8E4M3"])
def test_bit_patterns_survive(name: str) -> None:
    width = {"f16": 16, "f32": 32, "f64": 64, "bf16": 16, "f8E5M2": 8, "f8E4M3": 8}[name]
    step = 1 if width <= 16 else (1 << width) // 50_000 + 12345
    for bits in range(0, 1 << width, step):
        value = float_of_bits(bits, name)
        if not math.isnan(value):
            assert float_bits(value, name) == bits
            assert round_float(value, name) == value
        if name == "f16":
            expected = float(np.array(bits, dtype=np.uint16).view(np.float16))
            assert value == expected or (math.isnan(value) and math.isnan(expected))


@pytest.mark.parametrize(
    ("name", "type_", "a", "b", "expected"),
    [
        ("divsi", "i32", -7, 2, -3),
        ("divsi", "i32", 7, 0, None),
        ("divsi", "i8", -128, -1, None),
        ("remsi", "i32", -7, 2, -1),
        ("divui", "i8", -1, 2, 127),
        ("remui", "i8", -1, 10, 5),
        ("ceildivsi", "i32", 7, 2, 4),
        ("ceildivsi", "i32", -7, 2, -3),
        ("ceildivui", "i8", -1, 2, -128),
        ("floordivsi", "i32", -7, 2, -4),
        ("minui", "i8", -1, 1, 1),
        ("maxui", "i8", -1, 1, -1),
        ("shli", "i8", 1, 7, -128),
        ("shli", "i8", 1, 8, None),
        ("shrsi", "i8", -128, 7, -1),
        ("shrui", "i8", -128, 7, 1),
        ("rotli", "i8", -127, 1, 3),
        ("rotri", "i8", 3, 1, -127),
        ("minimumf", "f32", 0.0, -0.0, -0.0),
        ("maximumf", "f32", -0.0, 0.0, 0.0),
        ("minnumf", "f32", math.nan, 2.0, 2.0),
        ("remf", "f32", -7.5, 2.0, -1.5),
        ("copysignf", "f32", 3.0, -0.0, -3.0),
    ],
)
def test_values_by_hand(name: str, type_: str, a: Any, b: Any, expected: Any) -> None:
    found = binary(name, type_, a, b)
    assert found == expected
    if isinstance(expected, float):
        assert math.copysign(1, found) == math.copysign(1, expected)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("negi", -128, -128), ("absi", -128, -128), ("ctlzi", 0, 8), ("ctlzi", 1, 7), ("cttzi", 0, 8), ("cttzi", -128, 7),
        ("ctpopi", -1, 8), ("signi", -5, -1), ("signi", 0, 0),
    ],
)  # fmt: skip
def test_integer_functions_by_hand(name: str, value: int, expected: int) -> None:
    assert fold(f"%r = scalar.{name} %a : i8", "%a: i8", value) == expected


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("roundf", 2.5, 3.0), ("roundf", -0.4, -0.0), ("roundevenf", 2.5, 2.0), ("ceilf", -0.5, -0.0), ("floorf", -0.5, -1.0),
        ("truncf", -1.5, -1.0), ("sqrtf", 2.0, 1.41421353816986083984375), ("signf", -3.0, -1.0), ("absf", -0.0, 0.0),
    ],
)  # fmt: skip
def test_float_functions_by_hand(name: str, value: float, expected: float) -> None:
    found = fold(f"%r = scalar.{name} %a : f32", "%a: f32", value)
    assert found == expected
    assert math.copysign(1, found) == math.copysign(1, expected)


def test_a_fused_product_rounds_once() -> None:
    # (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24, which two roundings to f32 lose.
    a = 1 + 2.0**-12
    found = fold("%r = scalar.fmaf %a, %a, %b : f32", "%a: f32, %b: f32", a, -(1 + 2.0**-11))
    assert found == 2.0**-24


def test_f8_saturates_on_truncation() -> None:
    for value, expected in ((1000.0, 448.0), (-math.inf, -448.0), (0.0009765625, 0.0), (447.0, 448.0), (17.0, 16.0)):
        assert fold("%r = scalar.fptrunc %a : f32 to f8E4M3", "%a: f32", value) == expected
    assert fold("%r = scalar.fptrunc %a : f32 to f8E5M2", "%a: f32", 61440.0) == math.inf


def test_comparisons_and_conversions() -> None:
    assert fold("%r = scalar.cmpi ult, %a, %b : i8", "%a: i8, %b: i8", -1, 1) is False
    assert fold("%r = scalar.cmpi slt, %a, %b : i8", "%a: i8, %b: i8", 255, 1) is True
    assert fold("%r = scalar.cmpf ult, %a, %b : f32", "%a: f32, %b: f32", math.nan, 1.0) is True
    assert fold("%r = scalar.cmpf one, %a, %b : f32", "%a: f32, %b: f32", math.nan, 1.0) is False
    assert fold("%r = scalar.extui %a : i8 to i32", "%a: i8", -1) == 255
    assert fold("%r = scalar.extsi %a : i1 to i32", "%a: i1", True) == -1
    assert fold("%r = scalar.trunci %a : i32 to i8", "%a: i32", 300) == 44
    assert fold("%r = scalar.uitofp %a : i32 to f32", "%a: i32", -1) == 4294967296.0
    assert fold("%r = scalar.fptosi %a : f32 to i8", "%a: f32", 200.0) is None
    assert fold("%r = scalar.bitcast %a : f32 to i32", "%a: f32", 1.0) == 0x3F800000
    assert fold("%r = scalar.bitcast %a : i32 to f32", "%a: i32", 0x40490FDB) == float(np.float32(math.pi))
    assert fold("%r = index.cast %a : i32 to index", "%a: i32", -5) == -5
    assert fold("%r = index.cast %a : i32 to offset", "%a: i32", -1) == (1 << 32) - 1
    assert fold("%r = index.cast %a : index to i8", "%a: index", 300) == 44
    assert fold("%r = index.sub %a, %b : offset", "%a: offset, %b: offset", 1, 2) is None
    assert fold("%r = index.div %a, %b : index", "%a: index, %b: index", -1, 2) is None


def test_clamps_follow_their_mode() -> None:
    for mode, expected in (("ordered", math.nan), ("number", 1.0), ("ieee", math.nan)):
        found = fold(f"%r = scalar.clampf<{mode}> %a, %b, %c : f32", "%a: f32, %b: f32, %c: f32", math.nan, 1.0, 2.0)
        assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_neutral_operands_fold_to_the_other() -> None:
    module = loom.parse("func.def @f(%a: i32, %b: i32) {\n  %r = scalar.addi %a, %b : i32\n  func.return\n}\n")
    op = next(o for o in module.walk() if o.name == "scalar.addi")
    assert op.definition.fold is not None
    assert op.definition.fold(op, [None, 0]) == [op.operands[0]]
    assert op.definition.fold(op, [0, None]) == [op.operands[1]]
    assert op.definition.fold(op, [None, 1]) is None
