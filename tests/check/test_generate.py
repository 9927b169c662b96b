"""Generators: exact values, and refusals of what does not fit the type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loom.check.generate import GeneratorError, fill, iota, random_uniform
from loom.ir.verifier import verify
from loom.reference.formats import FORMATS, encode
from loom.text import parse_module
from tests.check.helpers import run_text

I8, I32, I64, F16, BF16, F32 = (FORMATS[name] for name in ("i8", "i32", "i64", "f16", "bf16", "f32"))


def test_fill_keeps_integer_range() -> None:
    assert fill(3, I8, -128).tolist() == [-128] * 3
    with pytest.raises(GeneratorError, match="outside of the signed range"):
        fill(3, I8, 128)
    with pytest.raises(GeneratorError, match="must be an integer"):
        fill(3, I32, 1.5)


def test_narrow_floats_go_through_f32() -> None:
    # 1 + 2^-11 + 2^-30 rounds to 1 + 2^-11 in f32, then to even in f16; one rounding would go up.
    value = 1.0 + 2.0**-11 + 2.0**-30
    assert float(fill(1, F16, value)[0]) == 1.0
    assert encode(fill(1, BF16, 1.0 + 2.0**-8), BF16).tolist() == [0x3F80]


def test_iota_is_exact_in_64_bits() -> None:
    assert iota(3, I64, (1 << 62), 1).tolist() == [1 << 62, (1 << 62) + 1, (1 << 62) + 2]
    assert iota(5, I32, 10, -3, 2).tolist() == [10, 7, 10, 7, 10]
    with pytest.raises(GeneratorError, match="element 255"):
        iota(256, I8, -127, 1)
    assert iota(256, I8, -128, 1).tolist() == list(range(-128, 128))


def test_float_iota_multiplies_before_rounding() -> None:
    expected = (0.1 + np.arange(100) * 0.3).astype(np.float32)
    assert iota(100, F32, 0.1, 0.3).tolist() == expected.tolist()


def test_uniform_integers_include_both_bounds() -> None:
    values = random_uniform(2000, I8, 3, -2, 2)
    assert set(values.tolist()) == {-2, -1, 0, 1, 2}
    with pytest.raises(GeneratorError, match="below"):
        random_uniform(1, I8, 0, 2, 1)


def test_uniform_over_the_whole_type_is_refused_only_beyond_64_bits() -> None:
    with pytest.raises(GeneratorError, match="more than"):
        random_uniform(1, I64, 0, -(1 << 63), (1 << 63) - 1)
    assert random_uniform(4, I32, 1, -(1 << 31), (1 << 31) - 1).dtype == np.int32


def test_f8_equals_the_f32_tensor_after_rounding() -> None:
    wide = random_uniform(256, F32, 9, -500.0, 500.0)
    narrow = random_uniform(256, FORMATS["f8E4M3"], 9, -500.0, 500.0)
    magnitude = np.abs(narrow)
    assert magnitude.max() == 448.0
    step = np.exp2(np.floor(np.log2(np.maximum(magnitude, 2.0**-6))) - 3)
    inside = np.abs(wide) < 448.0
    assert (np.abs(wide - narrow)[inside] <= step[inside] / 2).all()


@pytest.mark.parametrize(
    ("type_", "value", "bits"),
    [
        ("f16", "65519.0", 0x7BFF),
        ("f16", "65520.0", 0x7C00),
        ("f16", "-1.0e30", 0xFC00),
        ("bf16", "3.4e38", 0x7F80),
        ("f32", "3.5e38", 0x7F800000),
        ("f8E5M2", "61439.0", 0x7B),
        ("f8E5M2", "61440.0", 0x7C),
        ("f8E4M3", "1.0e30", 0x7E),
        ("f8E4M3", "-449.0", 0xFE),
    ],
)
@pytest.mark.parametrize("generator", ["fill value({})", "iota offset({}) step(0.0)"])
def test_generators_round_numbers_beyond_the_largest(
    generator: str, type_: str, value: str, bits: int, tmp_path: Path
) -> None:
    """To nearest even, which is an infinity from half a unit above the largest on; the finite 8-bit format saturates."""
    text = f"""check.case @c {{
  %t = check.generate.{generator.format(value)} : tensor<3x{type_}>
  %n = check.file.read.npy path("expected.npy") : tensor<3x{type_}>
  check.expect.bitwise actual(%t) expected(%n) : tensor<3x{type_}>
  check.return
}}
"""
    width = {"bf16": 2, "f16": 2, "f32": 4}.get(type_, 1)
    np.save(tmp_path / "expected.npy", np.full(3, bits, f"u{width}"))  # the bits of any type are read
    verify(parse_module(text, "round.loom"))
    assert run_text(text, tmp_path)["exit_code"] == 0
