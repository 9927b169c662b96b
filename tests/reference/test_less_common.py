"""Operations that programs use now and then: each against a value worked out by hand or NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loom.check.executor import ReferenceExecutor, RunOptions
from loom.reference.launch import Memory, launch
from loom.text import parse_module

CONSTANTS = """  %i = kernel.workitem.id<x> : index
  %origin = index.constant 0 : offset
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %two = index.constant 2 : index
"""


def run(body: str, *arrays: np.ndarray, lanes: int = 1, groups: int = 1, tail: str = "") -> list[np.ndarray]:
    """Run a kernel body over buffers ``%b0``, ``%b1`` …; returns their contents."""
    buffers = ", ".join(f"%b{n}: buffer" for n in range(len(arrays)))
    text = f"""kernel.def @k() {{
  %one = index.constant 1 : index
  %two = index.constant 2 : index
  %lanes = index.constant {lanes} : index
  %groups = index.constant {groups} : index
  %dynamic = index.constant 64 : offset
  kernel.launch.config workgroups(%groups, %one, %one) workgroup_size(%lanes, %one, %one){tail} : index
}} launch({buffers}) {{
{CONSTANTS}{body}
  kernel.return
}}
"""
    module = parse_module(text, "k.loom")
    kernel = module.symbol("k")
    assert kernel is not None
    memories = [Memory(a.copy().view(np.uint8).ravel(), 0, a.nbytes, f"b{n}") for n, a in enumerate(arrays)]
    launch(ReferenceExecutor(module, RunOptions()).interpreter(), kernel, [], memories)
    return [m.data.view(a.dtype).reshape(a.shape) for m, a in zip(memories, arrays, strict=True)]


def words(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_switch_and_lookup() -> None:
    body = """  %v = buffer.view %b0[%origin] : buffer -> view<2x6xi32>
  %a = scalar.constant 10 : i32
  %b = scalar.constant 20 : i32
  %c = scalar.constant 30 : i32
  %r = scf.switch %i -> (i32) {
    case 0 {
      scf.yield %a : i32
    }
    case 3 {
      scf.yield %b : i32
    }
    default {
      scf.yield %c : i32
    }
  }
  view.store %r, %v[0, %i] : i32, view<2x6xi32>
  %s = scf.lookup %i {
    1 = (%a),
    4 = (%b)
  } default(%c) : i32
  view.store %s, %v[1, %i] : i32, view<2x6xi32>"""
    (out,) = run(body, np.zeros((2, 6), np.int32), lanes=6)
    assert out.tolist() == [[10, 30, 30, 20, 30, 30], [30, 10, 30, 30, 20, 30]]


def test_expand_and_compress() -> None:
    body = """  %s = buffer.view %b0[%origin] : buffer -> view<8xi32>
  %d = buffer.view %b1[%origin] : buffer -> view<8xi32>
  %e = buffer.view %b2[%origin] : buffer -> view<8xi32>
  %v = vector.load %s[0] : view<8xi32> -> vector<8xi32>
  %limit = vector.constant 4 : vector<8xi32>
  %mask = vector.cmpi sgt, %v, %limit : vector<8xi32> -> vector<8xi1>
  vector.store.compress %v, %d[0], %mask : vector<8xi32>, view<8xi32>, vector<8xi1>
  %pass = vector.constant -1 : vector<8xi32>
  %x = vector.load.expand %s[0], %mask, %pass : view<8xi32>, vector<8xi1>, vector<8xi32>
  vector.store %x, %e[0] : vector<8xi32>, view<8xi32>"""
    values = words(9, 1, 8, 2, 7, 3, 6, 4)
    _, packed, spread = run(body, values, np.zeros(8, np.int32), np.zeros(8, np.int32))
    assert packed.tolist() == [9, 8, 7, 6, 0, 0, 0, 0]
    assert spread.tolist() == [9, -1, 1, -1, 8, -1, 2, -1]


def test_masked_gather_scatter_and_atomics() -> None:
    body = """  %v = buffer.view %b0[%origin] : buffer -> view<8xi32>
  %o = buffer.view %b1[%origin] : buffer -> view<4xi32>
  %offsets = vector.iota %zero step %two : vector<4xindex>
  %four = index.constant 4 : index
  %mask = vector.mask.range [%one to %four step %one] : index -> vector<4xi1>
  %pass = vector.constant 100 : vector<4xi32>
  %g = vector.gather.mask %v[1][%offsets], %mask, %pass : view<8xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32>
  %old = vector.atomic.rmw.mask<addi> %g, %v[0][%offsets], %mask, %pass {ordering = relaxed, scope = device} : vector<4xi32>, view<8xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32>
  vector.scatter.mask %old, %o[0][%offsets2], %mask : vector<4xi32>, view<4xi32>, vector<4xindex>, vector<4xi1>
  %new = vector.atomic.cmpxchg %old, %pass, %v[0][%offsets] {failure_ordering = relaxed, scope = device, success_ordering = relaxed} : vector<4xi32>, view<8xi32>, vector<4xindex> -> vector<4xi32>"""
    body = body.replace("  %four", "  %offsets2 = vector.iota %zero step %one : vector<4xindex>\n  %four", 1)
    memory, old = run(body, np.arange(8, dtype=np.int32), words(-1, -1, -1, -1))
    # Active lanes 0 to 2 add elements 1, 3, 5 to elements 0, 2, 4.
    assert old.tolist() == [0, 2, 4, -1]
    assert memory.tolist() == [1, 1, 5, 3, 9, 5, 6, 7]


def test_bit_fields_and_tables() -> None:
    body = """  %v = buffer.view %b0[%origin] : buffer -> view<4xi32>
  %o = buffer.view %b1[%origin] : buffer -> view<4x4xi32>
  %f = buffer.view %b2[%origin] : buffer -> view<4xf32>
  %x = vector.load %v[0] : view<4xi32> -> vector<4xi32>
  %u = vector.bitfield.extractu %x {offset = 4, width = 4} : vector<4xi32> -> vector<4xi32>
  %s = vector.bitfield.extracts %x {offset = 4, width = 4} : vector<4xi32> -> vector<4xi32>
  %n = vector.bitfield.insert %u into %x {offset = 8, width = 4} : vector<4xi32>, vector<4xi32>
  vector.store %u, %o[0, 0] : vector<4xi32>, view<4x4xi32>
  vector.store %s, %o[1, 0] : vector<4xi32>, view<4x4xi32>
  vector.store %n, %o[2, 0] : vector<4xi32>, view<4x4xi32>
  %y = vector.load %f[0] : view<4xf32> -> vector<4xf32>
  %a = scalar.constant 1.0 : f32
  %b = scalar.constant 2.0 : f32
  %limits = vector.from_elements %a, %b : vector<2xf32>
  %q = vector.table.quantize %y, %limits {nan = max, tie = upper} : vector<4xf32>, vector<2xf32> -> vector<4xi32>
  vector.store %q, %o[3, 0] : vector<4xi32>, view<4x4xi32>"""
    values = words(0x1F0, 0x070, 0x123, -1)
    floats = np.array([0.5, 1.0, 2.5, math.nan], np.float32)
    _, out, _ = run(body, values, np.zeros((4, 4), np.int32), floats)
    assert out[0].tolist() == [15, 7, 2, 15]
    assert out[1].tolist() == [-1, 7, 2, -1]
    assert out[2].tolist() == [0xFF0, 0x770, 0x223, -1]
    assert out[3].tolist() == [0, 1, 2, 2]


def test_packed_f8_dot() -> None:
    body = """  %v = buffer.view %b0[%origin] : buffer -> view<1xi32>
  %o = buffer.view %b1[%origin] : buffer -> view<1xf32>
  %x = vector.load %v[0] : view<1xi32> -> vector<1xi32>
  %acc = vector.constant 0.5 : vector<1xf32>
  %d = vector.dot4f8<fp8fp8> %x, %x, %acc : vector<1xi32>, vector<1xf32>
  vector.store %d, %o[0] : vector<1xf32>, view<1xf32>"""
    # f8E4M3: 0x38 is 1.0, 0x40 is 2.0, 0xC4 is -3.0, 0x00 is 0.
    packed = np.array([0x38 | 0x40 << 8 | 0xC4 << 16], np.uint32).view(np.int32)
    _, out = run(body, packed, np.zeros(1, np.float32))
    assert out.tolist() == [0.5 + 1 + 4 + 9]


def test_asynchronous_copies_and_dynamic_storage() -> None:
    body = """  %eight = index.constant 8 : offset
  %bytes = index.constant 64 : offset
  %shared = kernel.workgroup.storage align(16) %bytes : buffer
  %tile = buffer.view %shared[%origin] : buffer -> view<4x4xi32>
  %s = buffer.view %b0[%origin] : buffer -> view<4x4xi32>
  %o = buffer.view %b1[%origin] : buffer -> view<4x4xi32>
  %row = view.subview %s[%i, 0] : view<4x4xi32> -> view<1x4xi32>
  %place = view.subview %tile[%i, 0] : view<4x4xi32> -> view<1x4xi32>
  %t = kernel.async.copy %row to %place {direction = global_to_workgroup} : view<1x4xi32> to view<1x4xi32> -> kernel.async.token
  %g = kernel.async.group %t : kernel.async.token -> kernel.async.group
  kernel.async.wait %g {newer_groups = 0} : kernel.async.group
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %column = vector.iota %zero step %one : vector<4xindex>
  scf.for %k = [%zero to %limit step %one] {
    %x = view.load %tile[%k, %i] : view<4x4xi32> -> i32
    view.store %x, %o[%i, %k] : i32, view<4x4xi32>
  }"""
    body = body.replace("  %column", "  %limit = index.constant 4 : index\n  %column", 1)
    matrix = np.arange(16, dtype=np.int32).reshape(4, 4)
    _, out = run(body, matrix, np.zeros((4, 4), np.int32), lanes=4, tail=" dynamic_workgroup_storage(%dynamic)")
    assert out.tolist() == matrix.T.tolist()


def test_workgroup_votes() -> None:
    body = """  %o = buffer.view %b0[%origin] : buffer -> view<3x48xi32>
  %limit = index.constant 40 : index
  %p = index.cmp ult, %i, %limit : index
  %count = kernel.workgroup.vote.count %p : i1 -> i32
  %any = kernel.workgroup.vote.any %p : i1
  %all = kernel.workgroup.vote.all %p : i1
  %any_word = scalar.extui %any : i1 to i32
  %all_word = scalar.extui %all : i1 to i32
  view.store %count, %o[0, %i] : i32, view<3x48xi32>
  view.store %any_word, %o[1, %i] : i32, view<3x48xi32>
  view.store %all_word, %o[2, %i] : i32, view<3x48xi32>"""
    (out,) = run(body, np.zeros((3, 48), np.int32), lanes=48)
    assert out.tolist() == [[40] * 48, [1] * 48, [0] * 48]


def test_clusters() -> None:
    body = """  %o = buffer.view %b0[%origin] : buffer -> view<4x4xi32>
  %g = kernel.workgroup.id<x> : index
  %c = kernel.cluster.id<x> : index
  %w = kernel.cluster.workgroup.id<x> : index
  %n = kernel.cluster.count<x> : index
  %f = kernel.cluster.workgroup.flat_id : index
  %c32 = index.cast %c : index to i32
  %w32 = index.cast %w : index to i32
  %n32 = index.cast %n : index to i32
  %f32 = index.cast %f : index to i32
  view.store %c32, %o[%g, 0] : i32, view<4x4xi32>
  view.store %w32, %o[%g, 1] : i32, view<4x4xi32>
  view.store %n32, %o[%g, 2] : i32, view<4x4xi32>
  view.store %f32, %o[%g, 3] : i32, view<4x4xi32>"""
    (out,) = run(body, np.zeros((4, 4), np.int32), groups=4, tail=" cluster_size(%two, %one, %one)")
    assert out.tolist() == [[0, 0, 2, 0], [0, 1, 2, 1], [1, 0, 2, 0], [1, 1, 2, 1]]


def test_kernel_exit_and_assert() -> None:
    body = """  %o = buffer.view %b0[%origin] : buffer -> view<8xi32>
  %limit = index.constant 3 : index
  %done = index.cmp uge, %i, %limit : index
  kernel.exit %done : i1
  %word = index.cast %i : index to i32
  view.store %word, %o[%i] : i32, view<8xi32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)"""
    (out,) = run(body, np.full(8, -1, np.int32), lanes=8)
    assert out.tolist() == [0, 1, 2, -1, -1, -1, -1, -1]
    from loom.diagnostics import LoomError

    with pytest.raises(LoomError, match="too far"):
        run('  %c = index.cmp eq, %i, %zero : index\n  kernel.assert %c "too far" : i1', words(0), lanes=2)


def test_buffers() -> None:
    body = """  %o = buffer.view %b0[%origin] : buffer -> view<4xi64>
  %n = buffer.length %b0
  %n64 = index.cast %n : offset to i64
  view.store %n64, %o[0] : i64, view<4xi64>
  %ten = index.constant 10 : offset
  %six = index.constant 6 : offset
  %total, %first, %second = buffer.pack [align(16) %ten, align(8) %six] : offset
  %t = index.cast %total : offset to i64
  %s = index.cast %second : offset to i64
  view.store %t, %o[1] : i64, view<4xi64>
  view.store %s, %o[2] : i64, view<4xi64>
  view.prefetch %o[0] {intent = read, locality = l2} : view<4xi64>"""
    (out,) = run(body, np.zeros(4, np.int64))
    assert out.tolist() == [32, 32, 16, 0]


def test_atomic_load_and_store() -> None:
    body = """  %o = buffer.view %b0[%origin] : buffer -> view<2xi32>
  %x = view.atomic.load %o[0] {ordering = acquire, scope = device} : view<2xi32> -> i32
  view.atomic.store %x, %o[1] {ordering = release, scope = device} : i32, view<2xi32>"""
    (out,) = run(body, words(7, 0))
    assert out.tolist() == [7, 7]


def test_gelu() -> None:
    body = """  %o = buffer.view %b0[%origin] : buffer -> view<4xf32>
  %x = view.load %o[0] : view<4xf32> -> f32
  %a = scalar.geluf<erf> %x : f32
  %b = scalar.geluf<tanh> %x : f32
  %c = scalar.geluf<logistic> %x {scale = 2.0} : f32
  view.store %a, %o[1] : f32, view<4xf32>
  view.store %b, %o[2] : f32, view<4xf32>
  view.store %c, %o[3] : f32, view<4xf32>"""
    (out,) = run(body, np.array([0.75, 0, 0, 0], np.float32))
    x = 0.75
    exact = x * 0.5 * (1 + math.erf(x / math.sqrt(2)))
    tanh = 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    assert out[1:].tolist() == pytest.approx([exact, tanh, x / (1 + math.exp(-2 * x))], rel=1e-6)


@pytest.mark.parametrize(
    ("schema", "count", "record"),
    [
        ("#ggml.q8_0", 32, [0x00, 0x38, *range(32)]),
        ("#ggml.q4_0", 32, [0x00, 0x40, *[0x10 + n for n in range(16)]]),
    ],
)
def test_block_records(schema: str, count: int, record: list[int]) -> None:
    body = f"""  %schema = encoding.define {schema} : encoding<schema>
  %p = buffer.view %b0[%origin] : buffer -> view<{len(record)}xi8>
  %o = buffer.view %b1[%origin] : buffer -> view<{count}xf32>
  %raw = vector.load %p[0] : view<{len(record)}xi8> -> vector<{len(record)}xi8>
  %x = vector.decode %raw using %schema : vector<{len(record)}xi8>, encoding<schema> -> vector<{count}xf32>
  vector.store %x, %o[0] : vector<{count}xf32>, view<{count}xf32>"""
    _, out = run(body, np.array(record, np.uint8).view(np.int8), np.zeros(count, np.float32))
    if schema.endswith("q8_0"):  # scale 0.5
        assert out.tolist() == [0.5 * n for n in range(32)]
    else:  # scale 2.0, low nibbles 0 … 15, high nibbles 1
        assert out.tolist() == [2.0 * (n - 8) for n in range(16)] + [2.0 * (1 - 8)] * 16


def q4_k_record() -> tuple[list[int], np.ndarray]:
    """A block_q4_K with d = 1, dmin = 0.5, and its values by the format's definition (scales 1…8, minimums 8…1)."""
    scales, minimums = list(range(1, 9)), list(range(8, 0, -1))
    packed = [0] * 12
    for j in range(4):
        packed[j] = scales[j] | (scales[j + 4] >> 4) << 6
        packed[j + 4] = minimums[j] | (minimums[j + 4] >> 4) << 6
        packed[j + 8] = (scales[j + 4] & 15) | (minimums[j + 4] & 15) << 4
    quants = [(37 * n) % 256 for n in range(128)]
    record = [0x00, 0x3C, 0x00, 0x38, *packed, *quants]
    values = []
    for group in range(4):
        chunk = quants[32 * group : 32 * group + 32]
        values += [scales[2 * group] * (q & 15) - 0.5 * minimums[2 * group] for q in chunk]
        values += [scales[2 * group + 1] * (q >> 4) - 0.5 * minimums[2 * group + 1] for q in chunk]
    return record, np.array(values, np.float32)


def test_super_blocks() -> None:
    record, expected = q4_k_record()
    body = """  %schema = encoding.define #ggml.q4_K : encoding<schema>
  %p = buffer.view %b0[%origin] : buffer -> view<144xi8>
  %o = buffer.view %b1[%origin] : buffer -> view<256xf32>
  %raw = vector.load %p[0] : view<144xi8> -> vector<144xi8>
  %x = vector.decode %raw using %schema : vector<144xi8>, encoding<schema> -> vector<256xf32>
  vector.store %x, %o[0] : vector<256xf32>, view<256xf32>"""
    _, out = run(body, np.array(record, np.uint8).view(np.int8), np.zeros(256, np.float32))
    assert out.tolist() == expected.tolist()


def test_wave64_fragments() -> None:
    """MFMA layout: lane l holds row l % 16 and columns 4 * (l // 16) … of A."""
    text = """
amdgpu.target<gfx942> @cdna

kernel.def target(@cdna) @k() {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%a: buffer, %d: buffer) {
  %origin = index.constant 0 : offset
  %tile = index.constant 16 : index
  %av = buffer.view %a[%origin] : buffer -> view<16x16xf16>
  %dv = buffer.view %d[%origin] : buffer -> view<16x16xf32>
  %empty = vector.constant 0.0 : vector<4xf32>
  %x = vector.fragment.load<lhs> %av[0, 0] shape [%tile, %tile] : view<16x16xf16> -> vector<4xf16>
  %y = vector.fragment.load<rhs> %av[0, 0] shape [%tile, %tile] : view<16x16xf16> -> vector<4xf16>
  %init = vector.fragment<init> %empty shape [%tile, %tile] : vector<4xf32>
  %r = vector.mma %x, %y, %init : vector<4xf16>, vector<4xf16>, vector<4xf32>
  vector.fragment.store<result> %r, %dv[0, 0] shape [%tile, %tile] : vector<4xf32>, view<16x16xf32>
  kernel.return
}
"""
    module = parse_module(text, "k.loom")
    kernel = module.symbol("k")
    assert kernel is not None
    matrix = np.random.default_rng(4).integers(-4, 5, (16, 16)).astype(np.float16)
    data, out = matrix.view(np.uint8).ravel().copy(), np.zeros(1024, np.uint8)
    launch(
        ReferenceExecutor(module, RunOptions()).interpreter(),
        kernel,
        [],
        [Memory(data, 0, 512, "a"), Memory(out, 0, 1024, "d")],
    )
    expected = matrix.astype(np.float32) @ matrix.astype(np.float32)
    assert out.view(np.float32).reshape(16, 16).tolist() == expected.tolist()
