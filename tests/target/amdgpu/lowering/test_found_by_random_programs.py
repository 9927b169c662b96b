"""Faults that random programs have found, each as a kernel whose result is worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from loom.diagnostics import LoomError
from tests.target.amdgpu.lowering.harness import kernel, run


def test_two_copies_of_a_high_half_are_not_their_word() -> None:
    """Both elements are the rounded upper half of the input; the input's lower half must not come back."""
    body = """
  %in = buffer.view %a[%origin] : buffer -> view<64xf32>
  %out = buffer.view %o[%origin] : buffer -> view<64x2xbf16>
  %x = view.load %in[%item] : view<64xf32> -> f32
  %h = scalar.fptrunc %x : f32 to bf16
  %p = vector.from_elements %h, %h : vector<2xbf16>
  vector.store %p, %out[%item, 0] : vector<2xbf16>, view<64x2xbf16>
"""
    words = (np.arange(64, dtype=np.uint32) * 0x01234567 & 0x7F7FFFFF) | 0x00101234
    (_, out), _ = run(kernel(body, "%a: buffer, %o: buffer"), words.view(np.float32), np.zeros((64, 2), np.uint16))
    rounded = (words + 0x7FFF + ((words >> 16) & 1)) >> 16
    np.testing.assert_array_equal(out, np.stack([rounded, rounded], 1).astype(np.uint16))


def test_a_word_is_not_taken_for_a_sum_and_its_high_half() -> None:
    """The low half of the packed word is that of x + 5, not that of x."""
    body = """
  %in = buffer.view %a[%origin] : buffer -> view<64xi32>
  %out = buffer.view %o[%origin] : buffer -> view<64x2xi16>
  %x = view.load %in[%item] : view<64xi32> -> i32
  %five = scalar.constant 5 : i32
  %sixteen = scalar.constant 16 : i32
  %sum = scalar.addi %x, %five : i32
  %upper = scalar.shrui %x, %sixteen : i32
  %low = scalar.trunci %sum : i32 to i16
  %high = scalar.trunci %upper : i32 to i16
  %p = vector.from_elements %low, %high : vector<2xi16>
  vector.store %p, %out[%item, 0] : vector<2xi16>, view<64x2xi16>
"""
    words = np.arange(64, dtype=np.uint32) * np.uint32(0x04030201)
    (_, out), _ = run(kernel(body, "%a: buffer, %o: buffer"), words, np.zeros((64, 2), np.uint16))
    np.testing.assert_array_equal(out, np.stack([(words + 5) & 0xFFFF, words >> 16], 1).astype(np.uint16))


def test_copysign_behind_a_divergent_loop() -> None:
    """The magnitude is loaded before the loop; the sign alternates with the lane."""
    body = """
  %in = buffer.view %a[%origin] : buffer -> view<64xf32>
  %out = buffer.view %o[%origin] : buffer -> view<64xf32>
  %count = buffer.view %n[%origin] : buffer -> view<64xi32>
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %unit = scalar.constant 1 : i32
  %half = scalar.constant 0.5 : f32
  %x = view.load %in[%item] : view<64xf32> -> f32
  %trips = index.rem %item, %seven : index
  %sum = scf.for %k = [%zero to %trips step %one](%s = %unit : i32) -> (i32) {
    %t = scalar.addi %s, %s : i32
    scf.yield %t : i32
  }
  %word = index.cast %item : index to i32
  %bit = scalar.andi %word, %unit : i32
  %sign = scalar.sitofp %bit : i32 to f32
  %signed = scalar.subf %sign, %half : f32
  %y = scalar.copysignf %x, %signed : f32
  view.store %sum, %count[%item] : i32, view<64xi32>
  view.store %y, %out[%item] : f32, view<64xf32>
""".replace("  %zero =", "  %seven = index.constant 7 : index\n  %zero =", 1)
    x = np.linspace(-3, 3, 64).astype(np.float32)
    text = kernel(body, "%a: buffer, %o: buffer, %n: buffer")
    (_, out, count), _ = run(text, x, np.zeros(64, np.float32), np.zeros(64, np.int32))
    lanes = np.arange(64)
    np.testing.assert_array_equal(out, np.copysign(x, np.where(lanes % 2, 1.0, -1.0)).astype(np.float32))
    np.testing.assert_array_equal(count, 1 << (lanes % 7))


def test_collectives_keep_their_lanes_in_an_unrolled_loop() -> None:
    """Round k sums over the lanes that run it; unrolling by two must not take a last round apart from the others'."""
    body = """
  %out = buffer.view %o[%origin] : buffer -> view<64xi32>
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %two = index.constant 2 : index
  %four = index.constant 4 : index
  %none = scalar.constant 0 : i32
  %unit = scalar.constant 1 : i32
  %trips = index.rem %item, %four : index
  %sum = scf.for %k = [%zero to %trips step %one](%s = %none : i32) -> (i32) unroll(%two) {
    %lanes = kernel.subgroup.reduce<addi> %unit : i32
    %t = scalar.addi %s, %lanes : i32
    scf.yield %t : i32
  }
  view.store %sum, %out[%item] : i32, view<64xi32>
"""
    # Of 32 lanes 24 run round 0, 16 round 1 and 8 round 2.
    expected = np.array([0, 24, 40, 48], np.int32)[np.arange(64) % 4]
    (out,), _ = run(kernel(body, "%o: buffer"), np.zeros(64, np.int32))
    np.testing.assert_array_equal(out, expected)


def test_private_memory_that_no_wave_has_is_refused() -> None:
    """gfx11 gives a wave 32767 times 256 bytes of scratch: 262136 bytes for each of 32 lanes."""
    body = """
  %out = buffer.view %o[%origin] : buffer -> view<64xi32>
  %bytes = index.constant 262140 : offset
  %own = buffer.alloca<private> align(16) %bytes : buffer
  %mine = buffer.view %own[%origin] : buffer -> view<65535xi32>
  %unit = scalar.constant 1 : i32
  view.store %unit, %mine[%item] : i32, view<65535xi32>
  %x = view.load %mine[%item] : view<65535xi32> -> i32
  view.store %x, %out[%item] : i32, view<64xi32>
"""
    with pytest.raises(LoomError, match="262136") as refused:
        run(kernel(body, "%o: buffer"), np.zeros(64, np.int32))
    assert refused.value.diagnostics[0].code == "BACKEND/045"


@pytest.mark.parametrize("wave", [32, 64])
def test_a_sign_extended_bit_is_minus_one_as_an_index_too(wave) -> None:
    """The bounds of a bit's sign extension were those of the bit: the index got 32 bits and lost its sign."""
    body = """
  %out = buffer.view %o[%origin] : buffer -> view<64xi64>
  %five = index.constant 5 : index
  %low = index.cmp slt, %item, %five : index
  %w = scalar.extsi %low : i1 to i32
  %i = index.cast %w : i32 to index
  %j = index.mul %i, %five : index
  %l = index.cast %j : index to i64
  view.store %l, %out[%item] : i64, view<64xi64>
"""
    (out,), _ = run(kernel(body, "%o: buffer"), np.zeros(64, np.int64), wave=wave)
    assert out.tolist() == [-5 if k < 5 else 0 for k in range(64)]
