"""Loads, stores, addresses and private memory through the whole pipeline."""

from __future__ import annotations

import numpy as np
import pytest

from .harness import kernel, low_text, run


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize(
    ("type_", "dtype"),
    [
        ("i8", np.int8),
        ("i16", np.int16),
        ("i32", np.int32),
        ("i64", np.int64),
        ("f16", np.float16),
        ("f64", np.float64),
    ],
)
def test_copies_every_width(type_, dtype, wave):
    text = kernel(
        f"""
  %a = buffer.view %x[%origin] : buffer -> view<64x{type_}>
  %b = buffer.view %y[%origin] : buffer -> view<64x{type_}>
  %v = view.load %a[%item] : view<64x{type_}> -> {type_}
  view.store %v, %b[%item] : {type_}, view<64x{type_}>""",
        "%x: buffer, %y: buffer",
    )
    x = np.arange(64).astype(dtype)
    (_, y), _ = run(text, x, np.zeros(64, dtype), wave=wave)
    assert np.array_equal(x, y)


@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 5, 7, 8, 16])
@pytest.mark.parametrize(
    ("type_", "dtype"), [("i8", np.int8), ("f16", np.float16), ("f32", np.float32), ("i64", np.int64)]
)
def test_vectors_of_every_length(type_, dtype, lanes):
    text = kernel(
        f"""
  %n = index.constant {lanes} : index
  %at = index.mul %item, %n : index
  %a = buffer.view %x[%origin] : buffer -> view<{64 * lanes}x{type_}>
  %b = buffer.view %y[%origin] : buffer -> view<{64 * lanes}x{type_}>
  %v = vector.load %a[%at] : view<{64 * lanes}x{type_}> -> vector<{lanes}x{type_}>
  vector.store %v, %b[%at] : vector<{lanes}x{type_}>, view<{64 * lanes}x{type_}>""",
        "%x: buffer, %y: buffer",
    )
    x = (np.arange(64 * lanes) % 100).astype(dtype)
    (_, y), _ = run(text, x, np.zeros_like(x))
    assert np.array_equal(x, y)


def test_wide_loads_take_one_instruction():
    text = kernel(
        """
  %n = index.constant 4 : index
  %at = index.mul %item, %n : index
  %a = buffer.view %x[%origin] : buffer -> view<256xf32>
  %b = buffer.view %y[%origin] : buffer -> view<256xf32>
  %v = vector.load %a[%at] : view<256xf32> -> vector<4xf32>
  vector.store %v, %b[%at] : vector<4xf32>, view<256xf32>""",
        "%x: buffer, %y: buffer",
    )
    low = low_text(text)
    assert low.count("global_load_b128") == 1 and low.count("global_store_b128") == 1
    assert "v_lshlrev_b32" in low and "v_add_co_u32" not in low


def test_constant_offsets_go_into_the_instruction():
    text = kernel(
        """
  %a = buffer.view %x[%origin] : buffer -> view<1024xf32>
  %one = index.constant 3 : index
  %at = index.add %item, %one : index
  %v = view.load %a[%at] : view<1024xf32> -> f32
  %far = index.constant 128 : index
  %to = index.add %item, %far : index
  view.store %v, %a[%to] : f32, view<1024xf32>""",
        "%x: buffer",
    )
    low = low_text(text)
    assert "offset = 12" in low and "offset = 512" in low
    x = np.arange(1024, dtype=np.float32)
    (y,), _ = run(text, x)
    assert np.array_equal(y[128:192], x[3:67]) and np.array_equal(y[:128], x[:128])


def test_negative_offsets_and_large_constants():
    text = kernel(
        """
  %a = buffer.view %x[%origin] : buffer -> view<100000xi32>
  %base = index.constant 90000 : index
  %here = index.add %item, %base : index
  %one = index.constant 1 : index
  %before = index.sub %here, %one : index
  %v = view.load %a[%before] : view<100000xi32> -> i32
  view.store %v, %a[%item] : i32, view<100000xi32>""",
        "%x: buffer",
    )
    x = np.arange(100000, dtype=np.int32)
    (y,), _ = run(text, x)
    assert np.array_equal(y[:64], x[89999 : 89999 + 64])


def test_dynamic_strides_and_offsets():
    text = kernel(
        """
  %row = kernel.workgroup.id<x> : index
  %a = buffer.view %x[%origin] : buffer -> view<[%rows]x[%columns]xf32>
  %start = index.constant 256 : offset
  %b = buffer.view %y[%start] : buffer -> view<[%rows]x[%columns]xf32>
  %inside = index.cmp slt, %item, %columns : index
  scf.if %inside {
    %v = view.load %a[%row, %item] : view<[%rows]x[%columns]xf32> -> f32
    view.store %v, %b[%row, %item] : f32, view<[%rows]x[%columns]xf32>
  }""",
        "%rows: index, %columns: index, %x: buffer, %y: buffer",
        groups=(3, 1, 1),
    )
    x = np.arange(3 * 50, dtype=np.float32).reshape(3, 50)
    y = np.full(64 + 150, -1, np.float32)
    (_, out), _ = run(text, x, y, np.int64(3), np.int64(50), groups=(3, 1, 1))
    assert np.array_equal(out[64:].reshape(3, 50), x) and np.all(out[:64] == -1)


def test_uniform_loads_of_unwritten_memory_use_the_scalar_unit():
    text = kernel(
        """
  %in, %out = buffer.assume.noalias %x, %y : buffer, buffer
  %a = buffer.view %in[%origin] : buffer -> view<16xf32>
  %b = buffer.view %out[%origin] : buffer -> view<64xf32>
  %v = view.load %a[5] : view<16xf32> -> f32
  view.store %v, %b[%item] : f32, view<64xf32>""",
        "%x: buffer, %y: buffer",
    )
    assert "s_load_b32" in low_text(text)
    x = np.arange(16, dtype=np.float32)
    (_, y), _ = run(text, x, np.zeros(64, np.float32))
    assert np.all(y == 5)


def test_private_memory_with_run_time_indices():
    text = kernel(
        """
  %bytes = index.constant 32 : offset
  %p = buffer.alloca<private> align(4) %bytes : buffer
  %v = buffer.view %p[%origin] : buffer -> view<8xi32>
  %b = buffer.view %y[%origin] : buffer -> view<64xi32>
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %eight = index.constant 8 : index
  scf.for %k = [%zero to %eight step %one] {
    %s = index.mul %k, %item : index
    %w = index.cast %s : index to i32
    view.store %w, %v[%k] : i32, view<8xi32>
  }
  %at = index.rem %item, %eight : index
  %r = view.load %v[%at] : view<8xi32> -> i32
  view.store %r, %b[%item] : i32, view<64xi32>""",
        "%y: buffer",
    )
    (y,), _ = run(text, np.zeros(64, np.int32))
    item = np.arange(64)
    assert np.array_equal(y, item % 8 * item)


def test_masked_and_gathered_accesses():
    text = kernel(
        """
  %a = buffer.view %x[%origin] : buffer -> view<256xi32>
  %b = buffer.view %y[%origin] : buffer -> view<256xi32>
  %four = index.constant 4 : index
  %one = index.constant 1 : index
  %at = index.mul %item, %four : index
  %limit = index.constant 130 : index
  %mask = vector.mask.range [%at to %limit step %one] : index -> vector<4xi1>
  %minus = vector.constant -7 : vector<4xi32>
  %v = vector.load.mask %a[%at], %mask, %minus : view<256xi32>, vector<4xi1>, vector<4xi32>
  %w = index.cast %item : index to i32
  %neg = scalar.negi %w : i32
  %steps = vector.splat %neg : vector<4xi32>
  %big = index.constant 200 : index
  %g = vector.gather %a[%big][%steps] : view<256xi32>, vector<4xi32> -> vector<4xi32>
  %sum = vector.addi %v, %g : vector<4xi32>
  vector.store.mask %sum, %b[%at], %mask : vector<4xi32>, view<256xi32>, vector<4xi1>""",
        "%x: buffer, %y: buffer",
    )
    x = np.arange(256, dtype=np.int32) * 3
    (_, y), _ = run(text, x, np.full(256, -1, np.int32))
    place = np.arange(256)
    expected = np.where(place < 130, x + x[200 - place // 4], -1)
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("wave", [32, 64])
def test_selected_buffers(wave):
    text = kernel(
        """
  %one = index.constant 1 : index
  %bit = index.andi %item, %one : index
  %odd = index.cmp eq, %bit, %one : index
  %chosen = scf.select %odd, %x, %y : buffer
  %a = buffer.view %chosen[%origin] : buffer -> view<64xi32>
  %b = buffer.view %z[%origin] : buffer -> view<64xi32>
  %v = view.load %a[%item] : view<64xi32> -> i32
  view.store %v, %b[%item] : i32, view<64xi32>""",
        "%x: buffer, %y: buffer, %z: buffer",
    )
    x, y = np.arange(64, dtype=np.int32), -np.arange(64, dtype=np.int32)
    (_, _, z), _ = run(text, x, y, np.zeros(64, np.int32), wave=wave)
    assert np.array_equal(z, np.where(np.arange(64) % 2 == 1, x, y))


@pytest.mark.parametrize("wave", [32, 64])
def test_views_carried_around_a_loop(wave):
    text = kernel(
        """
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %a = buffer.view %x[%origin] : buffer -> view<64xi32>
  %b = buffer.view %y[%origin] : buffer -> view<64xi32>
  %p, %q = scf.for %k = [%zero to %n step %one](%from = %a : view<64xi32>, %to = %b : view<64xi32>) -> (view<64xi32>, view<64xi32>) {
    %v = view.load %from[%item] : view<64xi32> -> i32
    %two = scalar.constant 2 : i32
    %w = scalar.muli %v, %two : i32
    view.store %w, %to[%item] : i32, view<64xi32>
    scf.yield %to, %from : view<64xi32>, view<64xi32>
  }
  %v = view.load %p[%item] : view<64xi32> -> i32
  %o = buffer.view %z[%origin] : buffer -> view<64xi32>
  view.store %v, %o[%item] : i32, view<64xi32>""",
        "%n: index, %x: buffer, %y: buffer, %z: buffer",
    )
    x = np.arange(64, dtype=np.int32)
    (_, _, z), _ = run(text, x, np.zeros(64, np.int32), np.zeros(64, np.int32), np.int64(5), wave=wave)
    assert np.array_equal(z, x * 32)


@pytest.mark.parametrize("wave", [32, 64])
def test_workgroup_views_chosen_by_a_branch(wave):
    text = kernel(
        """
  %bytes = index.constant 256 : offset
  %ma = buffer.alloca<workgroup> align(16) %bytes : buffer
  %mb = buffer.alloca<workgroup> align(16) %bytes : buffer
  %a = buffer.view %ma[%origin] : buffer -> view<64xi32>
  %b = buffer.view %mb[%origin] : buffer -> view<64xi32>
  %w = index.cast %item : index to i32
  %neg = scalar.negi %w : i32
  view.store %w, %a[%item] : i32, view<64xi32>
  view.store %neg, %b[%item] : i32, view<64xi32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %three = index.constant 3 : index
  %r = index.rem %item, %three : index
  %zero = index.constant 0 : index
  %hit = index.cmp eq, %r, %zero : index
  %v = scf.if %hit -> (view<64xi32>) {
    view.store %w, %a[%item] : i32, view<64xi32>
    scf.yield %a : view<64xi32>
  } else {
    scf.yield %b : view<64xi32>
  }
  %last = index.constant 63 : index
  %at = index.sub %last, %item : index
  %got = view.load %v[%at] : view<64xi32> -> i32
  %o = buffer.view %z[%origin] : buffer -> view<64xi32>
  view.store %got, %o[%item] : i32, view<64xi32>""",
        "%z: buffer",
    )
    (z,), _ = run(text, np.zeros(64, np.int32), wave=wave)
    assert z.tolist() == [(63 - i) if i % 3 == 0 else -(63 - i) for i in range(64)]


def test_asynchronous_copies():
    text = kernel(
        """
  %bytes = index.constant 1024 : offset
  %m = buffer.alloca<workgroup> align(16) %bytes : buffer
  %t = buffer.view %m[%origin] : buffer -> view<64x4xi32>
  %a = buffer.view %x[%origin] : buffer -> view<64x4xi32>
  %b = buffer.view %y[%origin] : buffer -> view<64x4xi32>
  %from = view.subview %a[%item, 0] : view<64x4xi32> -> view<1x4xi32>
  %to = view.subview %t[%item, 0] : view<64x4xi32> -> view<1x4xi32>
  %token = kernel.async.copy %from to %to {direction = global_to_workgroup} : view<1x4xi32> to view<1x4xi32> -> kernel.async.token
  %group = kernel.async.group %token : kernel.async.token -> kernel.async.group
  kernel.async.wait %group {newer_groups = 0} : kernel.async.group
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %last = index.constant 63 : index
  %at = index.sub %last, %item : index
  %v = vector.load %t[%at, 0] : view<64x4xi32> -> vector<4xi32>
  vector.store %v, %b[%item, 0] : vector<4xi32>, view<64x4xi32>""",
        "%x: buffer, %y: buffer",
    )
    x = np.arange(256, dtype=np.int32).reshape(64, 4)
    (_, y), _ = run(text, x, np.zeros_like(x))
    assert np.array_equal(y, x[::-1])


def test_guarded_uniform_loads_stay_behind_their_guard():
    # The second buffer has one element; only a guard that never holds would read beyond it.
    text = kernel(
        """
  %in, %out = buffer.assume.noalias %x, %y : buffer, buffer
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %a = buffer.view %in[%origin] : buffer -> view<1048576xi32>
  %b = buffer.view %out[%origin] : buffer -> view<64xi32>
  %none = scalar.constant 0 : i32
  %sum = scf.for %k = [%zero to %n step %one](%s = %none : i32) -> (i32) {
    %far = index.cmp sgt, %n, %limit : index
    %v = scf.if %far -> (i32) {
      %w = view.load %a[%n] : view<1048576xi32> -> i32
      scf.yield %w : i32
    } else {
      scf.yield %none : i32
    }
    %t = scalar.addi %s, %v : i32
    scf.yield %t : i32
  }
  view.store %sum, %b[%item] : i32, view<64xi32>""",
        "%n: index, %limit: index, %x: buffer, %y: buffer",
    )
    (_, y), _ = run(text, np.zeros(1, np.int32), np.full(64, -1, np.int32), np.int64(500000), np.int64(600000))
    assert np.all(y == 0)
