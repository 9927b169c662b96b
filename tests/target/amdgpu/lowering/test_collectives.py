"""Subgroup and workgroup operations, atomics, barriers, on full and partial waves."""

from __future__ import annotations

import numpy as np
import pytest

from .harness import kernel, low_text, run

REDUCTIONS = {
    "addi": np.add.reduce, "muli": np.multiply.reduce, "minsi": np.minimum.reduce, "maxsi": np.maximum.reduce,
    "andi": np.bitwise_and.reduce, "ori": np.bitwise_or.reduce, "xori": np.bitwise_xor.reduce,
}  # fmt: skip


def one_value(body: str, type_: str, count: int, extra: str = "") -> str:
    return kernel(
        f"""
  %a = buffer.view %x[%origin] : buffer -> view<{count}x{type_}>
  %b = buffer.view %y[%origin] : buffer -> view<{count}x{type_}>
  %v = view.load %a[%item] : view<{count}x{type_}> -> {type_}
{body}
  view.store %r, %b[%item] : {type_}, view<{count}x{type_}>""",
        "%x: buffer, %y: buffer",
        size=(count, 1, 1),
    )


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("kind", sorted(REDUCTIONS))
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int8])
def test_subgroup_reductions(kind, dtype, wave):
    bits = np.dtype(dtype).itemsize * 8
    x = np.random.default_rng(1).integers(-20, 20, 128).astype(dtype)
    text = one_value(f"  %r = kernel.subgroup.reduce<{kind}> %v : i{bits}", f"i{bits}", 128)
    (_, y), _ = run(text, x, np.zeros_like(x), wave=wave, size=(128, 1, 1))
    for start in range(0, 128, wave):
        with np.errstate(all="ignore"):
            expected = REDUCTIONS[kind](x[start : start + wave].astype(np.int64)).astype(dtype)
        assert np.all(y[start : start + wave] == expected)


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("count", [1, 5, 33, 64, 100, 250, 1024])
def test_workgroup_reductions_of_ragged_sizes(count, wave):
    x = np.random.default_rng(count).integers(-1000, 1000, count).astype(np.int32)
    for kind, reference in (("addi", np.sum), ("maxsi", np.max), ("minui", lambda v: np.min(v.view(np.uint32)))):
        text = one_value(f"  %r = kernel.workgroup.reduce<{kind}> %v : i32", "i32", count)
        (_, y), _ = run(text, x, np.zeros_like(x), wave=wave, size=(count, 1, 1))
        assert np.all(y == np.uint32(int(reference(x)) & 0xFFFFFFFF).astype(np.int32)), (kind, y[:4], reference(x))


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("count", [7, 64, 200, 512])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("mode", ["inclusive", "exclusive"])
def test_workgroup_scans(count, direction, mode, wave):
    x = np.random.default_rng(count).integers(-1000, 1000, count).astype(np.int32)
    text = one_value(
        f"  %r = kernel.workgroup.scan<addi> %v {{direction = {direction}, mode = {mode}}} : i32", "i32", count
    )
    (_, y), _ = run(text, x, np.zeros_like(x), wave=wave, size=(count, 1, 1))
    ordered = x if direction == "forward" else x[::-1]
    expected = np.cumsum(ordered)
    if mode == "exclusive":
        expected = expected - ordered
    assert np.array_equal(y, expected if direction == "forward" else expected[::-1])


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("size", [2, 4, 16, 32])
def test_clustered_scans_and_reductions(size, wave):
    x = np.random.default_rng(3).integers(0, 100, 64).astype(np.int32)
    text = one_value(
        f"  %s = kernel.subgroup.scan<maxsi> %v {{cluster_size = {size}, direction = forward, mode = inclusive}} : i32\n"
        f"  %t = kernel.subgroup.reduce<addi> %v {{cluster_size = {size}}} : i32\n"
        "  %k = scalar.constant 10000 : i32\n  %u = scalar.muli %t, %k : i32\n  %r = scalar.addi %s, %u : i32",
        "i32",
        64,
    )
    (_, y), _ = run(text, x, np.zeros_like(x), wave=wave)
    clusters = x.reshape(-1, size)
    expected = np.maximum.accumulate(clusters, axis=1) + 10000 * clusters.sum(1, keepdims=True)
    assert np.array_equal(y, expected.ravel())


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("mode", ["xor", "up", "down", "index"])
@pytest.mark.parametrize("width", [8, 32])
def test_shuffles_by_run_time_offsets(mode, width, wave):
    text = kernel(
        f"""
  %a = buffer.view %x[%origin] : buffer -> view<64xi32>
  %o = buffer.view %f[%origin] : buffer -> view<64xi32>
  %b = buffer.view %y[%origin] : buffer -> view<64xi32>
  %v = view.load %a[%item] : view<64xi32> -> i32
  %off = view.load %o[%item] : view<64xi32> -> i32
  %w = scalar.constant {width} : i32
  %minus = scalar.constant -1 : i32
  %s, %ok = kernel.subgroup.shuffle<{mode}> %v, %off, %w : i32, i32, i32
  %r = scf.select %ok, %s, %minus : i32
  view.store %r, %b[%item] : i32, view<64xi32>""",
        "%x: buffer, %f: buffer, %y: buffer",
    )
    x = np.arange(64, dtype=np.int32) * 10
    off = np.random.default_rng(7).integers(0, width + 4, 64).astype(np.int32)
    (_, _, y), _ = run(text, x, off, np.zeros(64, np.int32), wave=wave)
    for i in range(64):
        at, base = i % width, i - i % width
        place = {"xor": at ^ int(off[i]), "up": at - int(off[i]), "down": at + int(off[i]), "index": int(off[i])}[mode]
        assert y[i] == (x[base + place] if 0 <= place < width else -1)


@pytest.mark.parametrize("wave", [32, 64])
def test_votes_and_matches(wave):
    text = one_value(
        """
  %c = scalar.constant 3 : i32
  %p = scalar.cmpi sgt, %v, %c : i32
  %n = kernel.workgroup.vote.count %p : i1 -> i32
  %any = kernel.workgroup.vote.any %p : i1
  %all = kernel.workgroup.vote.all %p : i1
  %m = kernel.subgroup.match.any %v : i32 -> i64
  %bits = scalar.ctpopi %m : i64
  %bits32 = scalar.trunci %bits : i64 to i32
  %aw = scalar.extui %any : i1 to i32
  %lw = scalar.extui %all : i1 to i32
  %h = scalar.constant 100 : i32
  %k = scalar.constant 1000 : i32
  %t0 = scalar.muli %bits32, %h : i32
  %t1 = scalar.addi %n, %t0 : i32
  %t2 = scalar.muli %aw, %k : i32
  %t3 = scalar.addi %t1, %t2 : i32
  %t4 = scalar.shli %lw, %c : i32
  %r = scalar.addi %t3, %t4 : i32""",
        "i32",
        96,
    )
    x = np.random.default_rng(2).integers(0, 6, 96).astype(np.int32)
    (_, y), _ = run(text, x, np.zeros_like(x), wave=wave, size=(96, 1, 1))
    for i in range(96):
        lanes = x[i // wave * wave : min(96, (i // wave + 1) * wave)]
        expected = (
            int((x > 3).sum()) + 100 * int((lanes == x[i]).sum()) + 1000 * bool((x > 3).any()) + 8 * bool((x > 3).all())
        )
        assert y[i] == expected


KINDS = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "andi": lambda a, b: a & b, "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b, "minsi": min, "maxsi": max,
}  # fmt: skip


@pytest.mark.parametrize("space", ["global", "workgroup"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_atomic_kinds_of_every_width(kind, dtype, space):
    bits = np.dtype(dtype).itemsize * 8
    if space == "global":
        place, setup, finish = "%b", "", ""
    else:
        place = "%l"
        setup = f"""
  %bytes = index.constant {4 * bits // 8} : offset
  %m = buffer.alloca<workgroup> align(16) %bytes : buffer
  %l = buffer.view %m[%origin] : buffer -> view<4xi{bits}>
  %four = index.constant 4 : index
  %few = index.cmp ult, %item, %four : index
  scf.if %few {{
    %init = view.load %b[%item] : view<4xi{bits}> -> i{bits}
    view.store %init, %l[%item] : i{bits}, view<4xi{bits}>
  }}
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)"""
        finish = f"""
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  scf.if %few {{
    %done = view.load %l[%item] : view<4xi{bits}> -> i{bits}
    view.store %done, %b[%item] : i{bits}, view<4xi{bits}>
  }}"""
    text = kernel(
        f"""
  %a = buffer.view %x[%origin] : buffer -> view<64xi{bits}>
  %b = buffer.view %y[%origin] : buffer -> view<4xi{bits}>
{setup}
  %v = view.load %a[%item] : view<64xi{bits}> -> i{bits}
  %f = index.constant 4 : index
  %at = index.rem %item, %f : index
  view.atomic.reduce<{kind}> %v, {place}[%at] {{ordering = relaxed, scope = workgroup}} : i{bits}, view<4xi{bits}>
{finish}""",
        "%x: buffer, %y: buffer",
    )
    x = np.random.default_rng(5).integers(-50, 50, 64).astype(dtype)
    start = np.array([1, -2, 77, 5], dtype)
    (_, y), _ = run(text, x, start)
    for k in range(4):
        total = int(start[k])
        for v in x[k::4].tolist():
            total = KINDS[kind](total, v)
        assert (int(y[k]) - total) & ((1 << bits) - 1) == 0


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("addf", np.float32),
        ("maxnumf", np.float32),
        ("addf", np.float64),
        ("minimumf", np.float32),
        ("addf", np.float16),
    ],
)
def test_float_atomics(kind, dtype):
    name = {np.float32: "f32", np.float64: "f64", np.float16: "f16"}[dtype]
    text = kernel(
        f"""
  %a = buffer.view %x[%origin] : buffer -> view<64x{name}>
  %b = buffer.view %y[%origin] : buffer -> view<2x{name}>
  %v = view.load %a[%item] : view<64x{name}> -> {name}
  %old = view.atomic.rmw<{kind}> %v, %b[1] {{ordering = acq_rel, scope = device}} : {name}, view<2x{name}> -> {name}
  view.store %old, %a[%item] : {name}, view<64x{name}>""",
        "%x: buffer, %y: buffer",
    )
    x = np.random.default_rng(8).integers(-8, 8, 64).astype(dtype)
    (old, y), _ = run(text, x, np.array([5, 0], dtype))
    reference = {"addf": np.sum, "maxnumf": lambda v: max(0, v.max()), "minimumf": lambda v: min(0, v.min())}[kind]
    assert y[0] == 5 and y[1] == reference(x)
    assert 0 in old


def test_compare_and_exchange_elects_one():
    text = kernel(
        """
  %b = buffer.view %y[%origin] : buffer -> view<2xi32>
  %w = index.cast %item : index to i32
  %one = scalar.constant 1 : i32
  %id = scalar.addi %w, %one : i32
  %zero = scalar.constant 0 : i32
  %old = view.atomic.cmpxchg %zero, %id, %b[0] {failure_ordering = relaxed, scope = device, success_ordering = acq_rel} : i32, view<2xi32> -> i32
  %won = scalar.cmpi eq, %old, %zero : i32
  %n = scalar.extui %won : i1 to i32
  view.atomic.reduce<addi> %n, %b[1] {ordering = relaxed, scope = device} : i32, view<2xi32>""",
        "%y: buffer",
        size=(256, 1, 1),
    )
    (y,), _ = run(text, np.zeros(2, np.int32), size=(256, 1, 1))
    assert y[1] == 1 and 1 <= y[0] <= 256


def test_reductions_fetch_lanes_inside_the_operation():
    low = low_text(one_value("  %r = kernel.subgroup.reduce<addf> %v : f32", "f32", 64))
    assert low.count('form = "dpp16"') == 4 and low.count("v_permlanex16_b32") == 1 and "ds_bpermute" not in low
    assert "saveexec" not in low


def test_single_wave_workgroups_need_no_barrier():
    text = kernel(
        """
  %bytes = index.constant 128 : offset
  %m = buffer.alloca<workgroup> align(16) %bytes : buffer
  %l = buffer.view %m[%origin] : buffer -> view<32xi32>
  %b = buffer.view %y[%origin] : buffer -> view<32xi32>
  %w = index.cast %item : index to i32
  view.store %w, %l[%item] : i32, view<32xi32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %last = index.constant 31 : index
  %at = index.sub %last, %item : index
  %v = view.load %l[%at] : view<32xi32> -> i32
  view.store %v, %b[%item] : i32, view<32xi32>""",
        "%y: buffer",
        size=(32, 1, 1),
    )
    assert "s_barrier" not in low_text(text)
    (y,), _ = run(text, np.zeros(32, np.int32), size=(32, 1, 1))
    assert y.tolist() == list(range(31, -1, -1))
