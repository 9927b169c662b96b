"""Divergent and uniform control flow of lowered kernels."""

from __future__ import annotations

import numpy as np
import pytest

from .harness import compiled, kernel, low_text, run

OUT = "  %o = buffer.view %y[%origin] : buffer -> view<64xi32>\n  %word = index.cast %item : index to i32\n"


@pytest.mark.parametrize("wave", [32, 64])
def test_divergent_loops_keep_what_lanes_left_with(wave):
    text = kernel(
        OUT
        + """
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %none = scalar.constant 0 : i32
  %unit = scalar.constant 1 : i32
  %a, %b, %c = scf.for %k = [%zero to %item step %one](%s = %none : i32, %p = %unit : i32, %t = %none : i32) -> (i32, i32, i32) {
    %kw = index.cast %k : index to i32
    %next = scalar.addi %s, %kw : i32
    scf.yield %next, %s, %unit : i32, i32, i32
  }
  %ten = scalar.constant 10 : i32
  %m = scalar.muli %b, %ten : i32
  %u = scalar.addi %a, %m : i32
  %r = scalar.addi %u, %c : i32
  view.store %r, %o[%item] : i32, view<64xi32>""",
        "%y: buffer",
    )
    (y,), _ = run(text, np.zeros(64, np.int32), wave=wave)
    for item in range(64):
        s, p, t = 0, 1, 0
        for k in range(item):
            s, p, t = s + k, s, 1
        assert y[item] == s + 10 * p + t


@pytest.mark.parametrize("wave", [32, 64])
def test_loops_inside_divergent_branches(wave):
    text = kernel(
        OUT
        + """
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %bit = index.andi %item, %one : index
  %odd = index.cmp eq, %bit, %one : index
  %none = scalar.constant 0 : i32
  %r = scf.if %odd -> (i32) {
    %sum = scf.for %k = [%zero to %item step %one](%s = %none : i32) -> (i32) {
      %two = index.constant 2 : index
      %m = index.rem %k, %two : index
      %even = index.cmp eq, %m, %zero : index
      %n = scf.if %even -> (i32) {
        %kw = index.cast %k : index to i32
        %v = scalar.addi %s, %kw : i32
        view.store %v, %o[%item] : i32, view<64xi32>
        scf.yield %v : i32
      } else {
        scf.yield %s : i32
      }
      scf.yield %n : i32
    }
    scf.yield %sum : i32
  } else {
    %n = scalar.negi %word : i32
    view.store %n, %o[%item] : i32, view<64xi32>
    scf.yield %n : i32
  }
  view.store %r, %o[%item] : i32, view<64xi32>""",
        "%y: buffer",
    )
    (y,), _ = run(text, np.zeros(64, np.int32), wave=wave)
    expected = [sum(k for k in range(i) if k % 2 == 0) if i % 2 else -i for i in range(64)]
    assert y.tolist() == expected


@pytest.mark.parametrize("wave", [32, 64])
def test_divergent_switch_with_results(wave):
    text = kernel(
        OUT
        + """
  %five = index.constant 5 : index
  %sel = index.rem %item, %five : index
  %r, %f = scf.switch %sel -> (i32, f32) {
    case 0 {
      %a = scalar.constant 100 : i32
      %x = scalar.constant 1.0 : f32
      scf.yield %a, %x : i32, f32
    }
    case 3 {
      %a = scalar.addi %word, %word : i32
      %x = scalar.constant 2.0 : f32
      view.store %a, %o[%item] : i32, view<64xi32>
      scf.yield %a, %x : i32, f32
    }
    default {
      %x = scalar.constant 3.0 : f32
      scf.yield %word, %x : i32, f32
    }
  }
  %fi = scalar.fptosi %f : f32 to i32
  %t = scalar.addi %r, %fi : i32
  view.store %t, %o[%item] : i32, view<64xi32>""",
        "%y: buffer",
    )
    (y,), _ = run(text, np.zeros(64, np.int32), wave=wave)
    expected = [101 if i % 5 == 0 else 2 * i + 2 if i % 5 == 3 else i + 3 for i in range(64)]
    assert y.tolist() == expected


def test_uniform_branches_use_scalar_compares():
    text = kernel(
        OUT
        + """
  %limit = index.constant 3 : index
  %big = index.cmp sgt, %n, %limit : index
  scf.if %big {
    view.store %word, %o[%item] : i32, view<64xi32>
  } else {
    %minus = scalar.negi %word : i32
    view.store %minus, %o[%item] : i32, view<64xi32>
  }""",
        "%n: index, %y: buffer",
    ).replace("launch(%n: index, %y: buffer)", "launch(%n: index, %y: buffer) where [range(%n, 0, 100)]")
    low = low_text(text)
    assert "s_cmp_gt" in low and "saveexec" not in low
    for n in (2, 5):
        (y,), _ = run(text, np.zeros(64, np.int32), np.int64(n))
        assert y.tolist() == [i if n > 3 else -i for i in range(64)]


@pytest.mark.parametrize("wave", [32, 64])
def test_carried_truths(wave):
    text = kernel(
        OUT
        + """
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %no = scalar.constant false : i1
  %yes = scalar.constant true : i1
  %seven = index.constant 7 : index
  %last = scf.for %k = [%zero to %item step %one](%flag = %no : i1) -> (i1) {
    %m = index.rem %k, %seven : index
    %hit = index.cmp eq, %m, %seven : index
    %three = index.constant 3 : index
    %is3 = index.cmp eq, %m, %three : index
    %t = scalar.xori %flag, %is3 : i1
    scf.yield %t : i1
  }
  %r = scalar.extui %last : i1 to i32
  view.store %r, %o[%item] : i32, view<64xi32>""",
        "%y: buffer",
    )
    (y,), _ = run(text, np.zeros(64, np.int32), wave=wave)
    assert y.tolist() == [sum(k % 7 == 3 for k in range(i)) % 2 for i in range(64)]


@pytest.mark.parametrize("wave", [32, 64])
def test_while_with_forwarded_values(wave):
    text = kernel(
        OUT
        + """
  %zero = scalar.constant 0 : i32
  %one = scalar.constant 1 : i32
  %ten = scalar.constant 10 : i32
  %r, %q = scf.while(%n = %word : i32, %c = %zero : i32) -> (i32, i32) {
    %more = scalar.cmpi sgt, %n, %zero : i32
    %twice = scalar.muli %c, %ten : i32
    scf.condition %more, %twice, %n : i1, i32, i32
  } do(%t: i32, %m: i32) {
    %less = scalar.shrui %m, %one : i32
    %up = scalar.shrui %t, %zero : i32
    %count = scalar.addi %up, %one : i32
    scf.yield %less, %count : i32, i32
  }
  %sum = scalar.addi %r, %q : i32
  view.store %sum, %o[%item] : i32, view<64xi32>""",
        "%y: buffer",
    )
    (y,), _ = run(text, np.zeros(64, np.int32), wave=wave)
    for i in range(64):
        n, c = i, 0
        while True:
            t = c * 10
            if n <= 0:
                break
            n, c = n >> 1, t + 1
        assert y[i] == t + n


def test_nothing_is_restored_in_front_of_the_end():
    text = kernel(
        OUT
        + """
  %ten = index.constant 10 : index
  %few = index.cmp ult, %item, %ten : index
  scf.if %few {
    view.store %word, %o[%item] : i32, view<64xi32>
  }""",
        "%y: buffer",
    )
    low = low_text(text)
    assert "s_and_saveexec_b32" in low and "-> reg<amdgpu.exec>" not in low
    (y,), _ = run(text, np.full(64, -1, np.int32))
    assert y.tolist() == [i if i < 10 else -1 for i in range(64)]


@pytest.mark.parametrize("wave", [32, 64])
def test_a_condition_bounds_its_own_trip_only(wave):
    """``d`` comes from the ``cur`` of the trip before, of which the condition on this trip's ``cur`` says nothing."""
    steps = [100, 0, 5, 1, 900, 2, 0, 7]
    text = kernel(
        """
  %xv = buffer.view %x[%origin] : buffer -> view<8xi32>
  %o = buffer.view %y[%origin] : buffer -> view<8xi64>
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %four = index.constant 4 : index
  %eight = index.constant 8 : index
  %shift = index.constant 26 : index
  %a, %b = scf.for %i = [%zero to %eight step %one](%cur = %zero : index, %d = %zero : index) -> (index, index) {
    %small = index.cmp slt, %cur, %four : index
    scf.if %small {
      %e = index.add %d, %one : index
      %w = index.cast %e : index to i64
      view.store %w, %o[%i] : i64, view<8xi64>
    }
    %v = view.load %xv[%i] : view<8xi32> -> i32
    %vi = index.cast %v : i32 to index
    %nx = index.assume %vi [range(%vi, 0, 1000)] : index
    %nd = index.shli %cur, %shift : index
    scf.yield %nx, %nd : index, index
  }""",
        "%x: buffer, %y: buffer",
        size=(1, 1, 1),
    )
    expected, cur, d = np.full(8, -1, np.int64), 0, 0
    for i, step in enumerate(steps):
        if cur < 4:
            expected[i] = d + 1
        d, cur = cur << 26, step
    assert expected.max() > 1 << 32
    (_, y), _ = run(text, np.array(steps, np.int32), np.full(8, -1, np.int64), wave=wave, size=(1, 1, 1))
    assert y.tolist() == expected.tolist()


def test_the_half_of_a_double_buffer_leaves_constants_to_the_instruction():
    """Eight reads of the half that a loop carries: one address, eight offsets, in four two-address reads."""
    text = kernel(
        """
  %bytes = index.constant 4096 : offset
  %store = buffer.alloca<workgroup> align(16) %bytes : buffer
  %tile = buffer.view %store[%origin] : buffer -> view<2x8x64xf32>
  %o = buffer.view %y[%origin] : buffer -> view<64xf32>
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %eight = index.constant 8 : index
  %nothing = scalar.constant 0.0 : f32
  scf.for %k = [%zero to %eight step %one] unroll {
    %f = index.cast %k : index to i32
    %g = scalar.sitofp %f : i32 to f32
    view.store %g, %tile[0, %k, %item] : f32, view<2x8x64xf32>
    %h = scalar.negf %g : f32
    view.store %h, %tile[1, %k, %item] : f32, view<2x8x64xf32>
  }
  %sum, %half = scf.for %i = [%zero to %n step %one](%s = %nothing : f32, %cur = %zero : index) -> (f32, index) {
    %next = index.xori %cur, %one : index
    kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
    %t = scf.for %k = [%zero to %eight step %one](%u = %s : f32) -> (f32) unroll {
      %v = view.load %tile[%cur, %k, %item] : view<2x8x64xf32> -> f32
      %w = scalar.addf %u, %v : f32
      scf.yield %w : f32
    }
    scf.yield %t, %next : f32, index
  }
  view.store %sum, %o[%item] : f32, view<64xf32>""",
        "%n: index, %y: buffer",
    )
    (y,), _ = run(text, np.zeros(64, np.float32), np.int64(3))
    assert (y == 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7).all(), "28 - 28 + 28"
    listing = [i.row.mnemonic for i in compiled(text, 32).programs[0].instructions()]
    assert sum(name.startswith("ds_load_2addr") for name in listing) == 4, listing
    assert not any(name in ("ds_load_b32",) for name in listing), listing


@pytest.mark.parametrize("wave", [32, 64])
def test_lanes_walk_a_tile_from_their_own_row_unrolled(wave):
    text = kernel(
        """
  %row = kernel.workitem.id<y> : index
  %rows = index.constant 32 : index
  %step = index.constant 8 : index
  %xv = buffer.view %x[%origin] : buffer -> view<32x16xi32>
  %o = buffer.view %y[%origin] : buffer -> view<16x32xi32>
  scf.for %r = [%row to %rows step %step] unroll {
    %v = view.load %xv[%r, %item] : view<32x16xi32> -> i32
    view.store %v, %o[%item, %r] : i32, view<16x32xi32>
  }""",
        "%x: buffer, %y: buffer",
        size=(16, 8, 1),
    )
    x = np.arange(512, dtype=np.int32).reshape(32, 16)
    (_, y), _ = run(text, x, np.zeros((16, 32), np.int32), wave=wave, size=(16, 8, 1))
    assert (y == x.T).all()
    assert not any(i.row.mnemonic.startswith("s_cbranch") for i in compiled(text, wave).programs[0].instructions())
