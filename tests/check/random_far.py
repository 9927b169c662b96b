"""Steps of random programs about unusual addresses and schedules: pipelined loops, float atomics, strides that run backwards
or beyond 4 GiB. All may stand under divergent control flow."""

from __future__ import annotations

from collections.abc import Sequence

from tests.check.random_builder import BITS, TOTAL, Builder, Step

_ELEMENTS = ("i32", "i8", "i16", "i64", "f16")


def _source(e: str) -> tuple[str, int]:
    """A buffer of inputs and its number of elements of the type."""
    return ("%short", 2 * TOTAL) if e == "f16" else ("%words", 2 * TOTAL * 4 // (BITS[e] // 8))


def _masked(b: Builder, i: int, most: int) -> str:
    """A coordinate in [0, most], ``most`` one less than a power of two."""
    low = b.emit(f"scalar.andi {b.get('i32', i)}, {b.const('i32', most)} : i32")
    return b.emit(f"index.cast {low} : i32 to index")


def s_pipelined(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    """Loads up to four turns ahead; the number of turns differs from lane to lane, or is the same, or is zero."""
    e = ("i32", "f32")[q % 2]
    view = ("%wv", "%rv")[q % 2]
    high = _masked(b, i, 7) if k % 3 else b.const("index", k % 9)
    low, step, depth = b.const("index", j % 3), b.const("index", 1 + j % 2), b.const("index", 1 + q // 2 % 4)
    last = b.const("index", TOTAL - 1)
    result, carried, counter = (b.fresh() for _ in range(3))
    start = b.get(e, j)
    b.raw(
        f"{result} = scf.for {counter} = [{low} to {high} step {step}]({carried} = {start} : {e}) -> ({e}) "
        f"pipeline({depth}) {{"
    )
    b.indent += 1
    place = b.emit(f"index.add %global, {counter} : index")
    held = b.emit(f"index.andi {place}, {last} : index")
    value = b.emit(f"view.load {view}[{k % 2}, {held}] : view<2x{TOTAL}x{e}> -> {e}")
    combine = "addf" if e == "f32" else ("addi", "xori", "muli", "maxsi")[k % 4]
    following = b.emit(f"scalar.{combine} {carried}, {value} : {e}")
    b.raw(f"scf.yield {following} : {e}")
    b.indent -= 1
    b.raw("}")
    b.push(e, result)


def s_float_atomic(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    """On the workitem's own word of the scratch output, whose bits are put back afterwards: NaNs are not compared there."""
    kind = ("addf", "minimumf", "maximumf", "minnumf", "maxnumf", "xchgf")[k % 6]
    reals, words = f"view<{TOTAL}x4xf32>", f"view<{TOTAL}x4xi32>"
    view = b.emit(f"buffer.view %extra[%origin] : buffer -> {reals}")
    first, second = b.get("f32", i), b.get("f32", j)
    if kind.endswith("numf"):  # of zeros that differ in sign either may come out: make both positive
        zero = b.const("f32", "0.0")
        first, second = (b.emit(f"scalar.addf {value}, {zero} : f32") for value in (first, second))
    place = f"[%global, {q % 4}]"
    before = b.emit(f"view.load %scratch{place} : {words} -> i32")
    b.raw(f"view.store {first}, {view}{place} : f32, {reals}")
    scope = ("device", "workgroup", "system")[q // 4 % 3]
    how = f"{{ordering = relaxed, scope = {scope}}} : f32, {reals}"
    if j % 2:
        b.push("f32", b.emit(f"view.atomic.rmw<{kind}> {second}, {view}{place} {how} -> f32"))
    else:
        b.raw(f"view.atomic.reduce<{kind}> {second}, {view}{place} {how}")
    b.push("f32", b.emit(f"view.load {view}{place} : {reals} -> f32"))
    b.raw(f"view.store {before}, %scratch{place} : i32, {words}")


def s_backwards(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    """Rows, columns or both of a matrix from the last to the first."""
    e = _ELEMENTS[q % 5]
    source, _ = _source(e)
    size = BITS[e] // 8
    rows, columns = ((-8, 1), (8, -1), (-8, -1))[k % 3]
    first = (7 * 8 if rows < 0 else 0) + (7 if columns < 0 else 0)
    strides = ", ".join(b.const("index", s) if s < 0 else str(s) for s in (rows, columns))
    layout = b.emit(f"encoding.layout.strided [{strides}] : encoding<layout>")
    origin = b.emit(f"index.constant {first * size} : offset")
    kind = f"view<8x8x{e}, {layout}>"
    view = b.emit(f"buffer.view {source}[{origin}] : buffer -> {kind}")
    row = _masked(b, i, 7)
    if j % 2 and e in ("i32", "f16", "i8"):
        t = f"vector<4x{e}>"
        b.push(t, b.emit(f"vector.load {view}[{row}, {j % 5}] : {kind} -> {t}"))
    else:
        b.push(e, b.emit(f"view.load {view}[{row}, {_masked(b, j, 7)}] : {kind} -> {e}"))


def s_far(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    """Element (n, n) of strides (S, 1 - S) is element n, however far S reaches."""
    e = _ELEMENTS[q % 5]
    source, count = _source(e)
    stride = (1 << (29 + k % 5)) + 2 * j + 1
    strides = (stride, 1 - stride) if q // 5 % 2 else (1 - stride, stride)
    layout = b.emit(f"encoding.layout.strided [{', '.join(b.const('index', s) for s in strides)}] : encoding<layout>")
    kind = f"view<{count}x{count}x{e}, {layout}>"
    view = b.emit(f"buffer.view {source}[%origin] : buffer -> {kind}")
    place = _masked(b, i, 127)
    b.push(e, b.emit(f"view.load {view}[{place}, {place}] : {kind} -> {e}"))
