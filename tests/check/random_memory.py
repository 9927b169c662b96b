"""Steps of random programs that touch memory or other lanes."""

from __future__ import annotations

from collections.abc import Sequence

from tests.check.random_builder import BITS, TOTAL, VECS, Builder, Step, parts, vec


def s_private(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    e = ("i32", "f32", "i64", "i8", "i16", "f16", "f64")[q % 7]
    n = (4, 8, 16)[k % 3]
    by = b.emit(f"index.constant {n * BITS[e] // 8} : offset")
    buf = b.emit(f"buffer.alloca<private> align(16) {by} : buffer")
    V = f"view<{n}x{e}>"
    v = b.emit(f"buffer.view {buf}[%origin] : buffer -> {V}")
    x = b.get(e, i)
    iv = b.fresh()
    N = b.const("index", n)
    b.raw(f"scf.for {iv} = [%zero to {N} step %one] {{")
    b.indent += 1
    b.raw(f"view.store {x}, {v}[{iv}] : {e}, {V}")
    b.indent -= 1
    b.raw("}")
    for z in range(3):
        m = b.emit(f"scalar.andi {b.get('i32', j + z)}, {b.const('i32', n - 1)} : i32")
        at = b.emit(f"index.cast {m} : i32 to index")
        b.raw(f"view.store {b.get(e, j + z)}, {v}[{at}] : {e}, {V}")
    if n * 1 and k % 2 and e in ("i32", "f32"):
        b.raw(f"vector.store {b.get(vec(4, e), j)}, {v}[0] : {vec(4, e)}, {V}")
        b.push(vec(2, e), b.emit(f"vector.load {v}[1] : {V} -> {vec(2, e)}"))
    for z in range(2):
        m = b.emit(f"scalar.andi {b.get('i32', k + z)}, {b.const('i32', n - 1)} : i32")
        at = b.emit(f"index.cast {m} : i32 to index")
        b.push(e, b.emit(f"view.load {v}[{at}] : {V} -> {e}"))


def s_exchange(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    if not b.uniform:
        return
    e = ("i32", "f32", "i64", "i8", "i16", "f16", "f64", "vector<4xi32>", "vector<2xf16>", "vector<3xi32>")[q % 10]
    n, s = parts(e)
    byt = b.size * BITS[s] // 8 * (n or 1)
    by = b.emit(f"index.constant {byt} : offset")
    buf = b.emit(f"buffer.alloca<workgroup> align(16) {by} : buffer")
    V = f"view<{b.size}x{n}x{s}>" if n else f"view<{b.size}x{s}>"
    v = b.emit(f"buffer.view {buf}[%origin] : buffer -> {V}")
    t = b.emit(f"index.add %item, {b.const('index', j % b.size)} : index")
    o = b.emit(f"index.rem {t}, {b.const('index', b.size)} : index")
    x = b.get(e, i)
    if n:
        b.raw(f"vector.store {x}, {v}[%item, 0] : {e}, {V}")
    else:
        b.raw(f"view.store {x}, {v}[%item] : {e}, {V}")
    b.raw("kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)")
    b.push(e, b.emit(f"vector.load {v}[{o}, 0] : {V} -> {e}" if n else f"view.load {v}[{o}] : {V} -> {e}"))
    b.raw("kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)")


def s_atomic(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    if not b.uniform:
        return
    by = b.emit("index.constant 32 : offset")
    buf = b.emit(f"buffer.alloca<workgroup> align(16) {by} : buffer")
    e = ("i32", "i64")[q % 2]
    V = f"view<4x{e}>"
    v = b.emit(f"buffer.view {buf}[%origin] : buffer -> {V}")
    z = b.const("index", 4)
    f = b.emit(f"index.cmp ult, %item, {z} : index")
    x = b.const(e, 5)
    b.raw(f"scf.if {f} {{")
    b.raw(f"  view.store {x}, {v}[%item] : {e}, {V}")
    b.raw("}")
    b.raw("kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)")
    kind = ("addi", "xori", "maxsi", "minui", "ori", "andi", "minsi", "maxui")[k % 8]
    m = b.emit(f"scalar.andi {b.get('i32', j)}, {b.const('i32', 3)} : i32")
    at = b.emit(f"index.cast {m} : i32 to index")
    at = at if j % 2 else "1"
    b.raw(f"view.atomic.reduce<{kind}> {b.get(e, i)}, {v}[{at}] {{ordering = relaxed, scope = workgroup}} : {e}, {V}")
    b.raw("kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)")
    b.push(e, b.emit(f"view.load {v}[{at}] : {V} -> {e}"))
    b.raw("kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)")


def s_reduce(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    e = ("i32", "i64", "i16", "i32", "vector<2xi32>", "i8")[q % 6]
    kind = ("addi", "maxsi", "minui", "xori", "andi", "ori", "minsi", "maxui", "muli")[k % 9]
    if b.uniform and b.size % 32 == 0 and j % 2:
        size = 1 << (j // 2 % 6)
        st = ", cluster_stride = 2" if j % 3 == 0 and size < 16 else ""
        b.push(e, b.emit(f"kernel.subgroup.reduce<{kind}> {b.get(e, i)} {{cluster_size = {size}{st}}} : {e}"))
    else:
        b.push(e, b.emit(f"kernel.subgroup.reduce<{kind}> {b.get(e, i)} : {e}"))


def s_scan(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    e = ("i32", "i64", "i16", "i32")[q % 4]
    kind = ("addi", "maxsi", "minui", "xori", "andi", "ori", "minsi", "maxui")[k % 8]
    b.push(
        e,
        b.emit(
            f"kernel.subgroup.scan<{kind}> {b.get(e, i)} {{direction = {('forward', 'reverse')[j % 2]}, mode = {('inclusive', 'exclusive')[j // 2 % 2]}}} : {e}"
        ),
    )


def s_wreduce(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    if not b.uniform:
        return
    kind = ("addi", "maxsi", "minui", "xori")[k % 4]
    e = ("i32", "i64")[q % 2]
    if j % 2:
        b.push(e, b.emit(f"kernel.workgroup.reduce<{kind}> {b.get(e, i)} : {e}"))
    else:
        b.push(
            e,
            b.emit(
                f"kernel.workgroup.scan<{kind}> {b.get(e, i)} {{direction = {('forward', 'reverse')[j // 2 % 2]}, mode = {('inclusive', 'exclusive')[j // 4 % 2]}}} : {e}"
            ),
        )


def s_shuffle(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    if not b.uniform or b.size % 32:
        return
    e = ("i32", "f32", "i64", "i16", "f64", "vector<2xi32>")[q % 6]
    w = 1 << (1 + k % 5)
    kind = ("xor", "up", "down", "index")[j % 4]
    width = b.const("i32", w)
    off = b.const("i32", i % w) if i % 2 else b.emit(f"scalar.andi {b.get('i32', j)}, {b.const('i32', w - 1)} : i32")
    x = b.get(e, i)
    r, ok = b.fresh(), b.fresh()
    b.raw(f"{r}, {ok} = kernel.subgroup.shuffle<{kind}> {x}, {off}, {width} : {e}, i32, i32")
    b.push(e, b.emit(f"scf.select {ok}, {r}, {x} : {e}"))


def s_vote(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    c = b.cond(i, j, k)
    z = q % 6
    if z < 2:
        p = b.emit(f"kernel.subgroup.vote.{('any', 'all')[z]} {c} : i1")
        b.push("i32", b.emit(f"scf.select {p}, {b.get('i32', i)}, {b.get('i32', j)} : i32"))
    elif z == 2:
        b.push("i64", b.emit(f"kernel.subgroup.vote.ballot {c} : i1 -> i64"))
    elif z == 3:
        b.push("i64", b.emit("kernel.subgroup.active.mask : i64"))
    elif z == 4:
        b.push("i64", b.emit(f"kernel.subgroup.match.any {b.get('i32', i)} : i32 -> i64"))
    else:
        b.push("i32", b.emit(f"kernel.subgroup.broadcast.first {b.get('i32', i)} : i32"))


def s_gather(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    n = (2, 4, 8)[k % 3]
    o = vec(n, "i32")
    m = b.emit(f"vector.andi {b.get(o, i)}, {b.const(o, 31)} : {o}")
    R = vec(n, "i32")
    c = q % 5
    V = f"view<2x{TOTAL}xi32>"
    if c == 0:
        b.push(R, b.emit(f"vector.gather %wv[{j % 2}, {k % 64}][{m}] : {V}, {o} -> {R}"))
    elif c == 1:
        mask = b.emit(f"vector.cmpi slt, {b.get(o, j)}, {m} : {o} -> vector<{n}xi1>")
        b.push(
            R,
            b.emit(
                f"vector.gather.mask %wv[{j % 2}, {k % 64}][{m}], {mask}, {b.get(R, k)} : {V}, {o}, vector<{n}xi1>, {R}"
            ),
        )
    elif c == 2:
        mask = b.emit(f"vector.cmpi slt, {b.get(o, j)}, {m} : {o} -> vector<{n}xi1>")
        b.push(
            R,
            b.emit(
                f"vector.load.{('mask', 'expand')[i % 2]} %wv[{j % 2}, {k % 64}], {mask}, {b.get(R, k)} : {V}, vector<{n}xi1>, {R}"
            ),
        )
    elif c == 3:
        s = b.emit(f"index.rem %global, {b.const('index', 100)} : index")
        e = vec(n, "f32")
        b.push(e, b.emit(f"vector.load %rv[{j % 2}, {s}] : view<2x{TOTAL}xf32> -> {e}"))
    else:
        T = vec(n, "i32")
        b.push(
            T,
            b.emit(
                f"vector.table.lookup {b.get(vec(8, 'i32'), i)}[{b.emit(f'vector.andi {b.get(T, j)}, {b.const(T, 7)} : {T}')}] : vector<8xi32>, {T} -> {T}"
            ),
        )


def s_narrow_mem(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    """Loads of narrow types from the words as bytes, strided, subview, reversed."""
    e = ("i8", "i16", "i64", "f16", "i32")[q % 5]
    size = BITS[e] // 8
    n = 2 * TOTAL * 4 // size
    c = k % 4
    src = "%short" if e == "f16" else "%words"
    if e == "f16":
        n = 2 * TOTAL
    V = f"view<{n}x{e}>"
    if c < 2:
        v = b.emit(f"buffer.view {src}[%origin] : buffer -> {V}")
        m = b.emit(f"scalar.andi {b.get('i32', i)}, {b.const('i32', 63)} : i32")
        at = b.emit(f"index.cast {m} : i32 to index")
        if c:
            b.push(e, b.emit(f"view.load {v}[{at}] : {V} -> {e}"))
        else:
            t = vec((2, 4, 8)[j % 3], e)
            if t not in VECS:
                return
            b.push(t, b.emit(f"vector.load {v}[{at}] : {V} -> {t}"))
    elif c == 2:
        layout = b.emit("encoding.layout.strided [1, 4] : encoding<layout>")
        v = b.emit(f"buffer.view {src}[%origin] : buffer -> view<4x8x{e}, {layout}>")
        m = b.emit(f"scalar.andi {b.get('i32', i)}, {b.const('i32', 3)} : i32")
        at = b.emit(f"index.cast {m} : i32 to index")
        t = vec(4, e)
        if t in VECS:
            b.push(t, b.emit(f"vector.load {v}[{at}, {j % 4}] : view<4x8x{e}, {layout}> -> {t}"))
    else:
        off = b.emit(f"index.constant {size * (j % 8)} : offset")
        v = b.emit(f"buffer.view {src}[{off}] : buffer -> view<16x4x{e}>")
        m = b.emit(f"scalar.andi {b.get('i32', i)}, {b.const('i32', 7)} : i32")
        at = b.emit(f"index.cast {m} : i32 to index")
        w = b.emit(f"view.subview {v}[{at}, 1] : view<16x4x{e}> -> view<4x2x{e}>")
        b.push(e, b.emit(f"view.load {w}[{j % 4}, {i % 2}] : view<4x2x{e}> -> {e}"))


def s_carried_buffer(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    """Selected view carried through a loop; loads within."""
    c = b.cond(i, j, k)
    s = b.emit(f"scf.select {c}, %words, %reals : buffer")
    m = b.emit(f"scalar.andi {b.get('i32', i)}, {b.const('i32', 3)} : i32")
    hi = b.emit(f"index.cast {m} : i32 to index")
    r, r2, cb, acc, iv = (b.fresh() for _ in range(5))
    b.raw(
        f"{r}, {r2} = scf.for {iv} = [%zero to {hi} step %one]({cb} = {s} : buffer, {acc} = {b.get('i32', j)} : i32) -> (buffer, i32) {{"
    )
    b.indent += 1
    v = b.emit(f"buffer.view {cb}[%origin] : buffer -> view<64xi16>")
    x = b.emit(f"view.load {v}[{iv}] : view<64xi16> -> i16")
    y = b.emit(f"scalar.extui {x} : i16 to i32")
    z = b.emit(f"scalar.addi {acc}, {y} : i32")
    cc = b.emit(f"scalar.cmpi slt, {z}, {b.get('i32', k)} : i32")
    nb = b.emit(f"scf.select {cc}, %words, {cb} : buffer")
    b.raw(f"scf.yield {nb}, {z} : buffer, i32")
    b.indent -= 1
    b.raw("}")
    b.push("i32", r2)


def s_scatter(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    """Own row of the scratch output: four words per item."""
    V = f"view<{TOTAL}x4xi32>"
    t = "vector<4xi32>"
    c = k % 4
    v = b.get(t, i)
    if c == 0:
        b.raw(f"vector.store {v}, %scratch[%global, 0] : {t}, {V}")
    else:
        mask = b.emit(f"vector.cmpi slt, {b.get(t, j)}, {b.get(t, i + 1)} : {t} -> vector<4xi1>")
        if c == 1:
            b.raw(f"vector.store.mask {v}, %scratch[%global, 0], {mask} : {t}, {V}, vector<4xi1>")
        elif c == 2:
            b.raw(f"vector.store.compress {v}, %scratch[%global, 0], {mask} : {t}, {V}, vector<4xi1>")
        else:
            o = b.emit(f"vector.iota {b.const('i32', 0)} step {b.const('i32', -1)} : {t}")
            b.raw(f"vector.scatter.mask {v}, %scratch[%global, 3][{o}], {mask} : {t}, {V}, {t}, vector<4xi1>")
    b.push(t, b.emit(f"vector.load %scratch[%global, 0] : {V} -> {t}"))
