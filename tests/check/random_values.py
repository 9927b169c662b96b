"""Steps of random programs that compute: integers, floats, conversions, vectors, packed dots, coordinates."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.check.random_builder import (
    BITS,
    EDGE_F,
    EDGE_I,
    FLOATS,
    INTS,
    VECS,
    Builder,
    Step,
    float_type,
    int_type,
    parts,
    pre,
    vec,
)


def s_ibin(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = int_type(q)
    n = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")[k % 10]
    b.push(t, b.emit(f"{pre(t)}.{n} {b.get(t, i)}, {b.get(t, j)} : {t}"))


def s_iconst(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = int_type(q)
    n = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")[k % 10]
    c = b.const(t, EDGE_I[j % len(EDGE_I)])
    x = b.get(t, i)
    if k % 3 == 0:
        x, c = c, x
    b.push(t, b.emit(f"{pre(t)}.{n} {x}, {c} : {t}"))


def s_shift(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = int_type(q)
    w = BITS[parts(t)[1]]
    n = ("shli", "shrsi", "shrui", "rotli", "rotri")[k % 5]
    a = b.const(t, j * 7 % w) if i % 2 else b.emit(f"{pre(t)}.andi {b.get(t, j)}, {b.const(t, w - 1)} : {t}")
    b.push(t, b.emit(f"{pre(t)}.{n} {b.get(t, i)}, {a} : {t}"))


def s_div(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = int_type(q)
    w = BITS[parts(t)[1]]
    n = ("divui", "remui", "divsi", "remsi", "floordivsi", "ceildivui", "ceildivsi", "floordivsi")[k % 8]
    if i % 3 == 0:
        d = b.const(t, (1, 2, 3, 7, 10, 16, 100, 127, 64, 5, 60)[j % 11])
    else:
        s = b.emit(f"{pre(t)}.andi {b.get(t, j)}, {b.const(t, 2 ** (w - 1) - 1)} : {t}")
        d = b.emit(f"{pre(t)}.ori {s}, {b.const(t, 1)} : {t}")
    b.push(t, b.emit(f"{pre(t)}.{n} {b.get(t, i)}, {d} : {t}"))


def s_iun(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = int_type(q)
    n = ("negi", "absi", "ctpopi", "ctlzi", "cttzi", "signi")[k % 6]
    b.push(t, b.emit(f"{pre(t)}.{n} {b.get(t, i)} : {t}"))


def s_fmai(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = int_type(q)
    b.push(t, b.emit(f"{pre(t)}.fmai {b.get(t, i)}, {b.get(t, j)}, {b.get(t, k)} : {t}"))


def s_fbin(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = float_type(q)
    n = ("addf", "subf", "mulf", "divf", "minimumf", "maximumf")[k % 6]
    b.push(t, b.emit(f"{pre(t)}.{n} {b.get(t, i)}, {b.get(t, j)} : {t}"))


def s_fconst(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = float_type(q)
    n = ("addf", "subf", "mulf", "divf", "minimumf", "maximumf")[k % 6]
    x, c = b.get(t, i), b.const(t, EDGE_F[j % len(EDGE_F)])
    if k % 3 == 0:
        x, c = c, x
    b.push(t, b.emit(f"{pre(t)}.{n} {x}, {c} : {t}"))


def s_fun(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = float_type(q)
    n = ("negf", "absf", "sqrtf", "floorf", "ceilf", "truncf", "roundevenf", "roundf")[k % 8]
    b.push(t, b.emit(f"{pre(t)}.{n} {b.get(t, i)} : {t}"))


def s_fma(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = float_type(q)
    x = b.get(t, k)
    if i % 3 == 0:
        x = b.emit(f"{pre(t)}.negf {x} : {t}")
    b.push(t, b.emit(f"{pre(t)}.fmaf {b.get(t, i)}, {b.get(t, j)}, {x} : {t}"))


def s_isx(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = float_type(q)
    n, _e = parts(t)
    o = ("isnanf", "isinff", "isfinitef")[k % 3]
    if n:
        m = b.emit(f"vector.{o} {b.get(t, i)} : {t} -> vector<{n}xi1>")
        b.push(t, b.emit(f"vector.select {m}, {b.get(t, j)}, {b.get(t, k)} : {t}"))
    else:
        m = b.emit(f"scalar.{o} {b.get(t, i)} : {t}")
        b.push(t, b.emit(f"scf.select {m}, {b.get(t, j)}, {b.get(t, k)} : {t}"))


def s_vcmp(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    if k % 2:
        t = VECS[q % len(VECS)]
        if parts(t)[1][0] != "i":
            return
        p = ("eq", "ne", "slt", "sle", "ult", "uge")[j % 6]
        o = "cmpi"
    else:
        t = VECS[q % len(VECS)]
        if parts(t)[1][0] == "i":
            return
        p = ("olt", "ole", "oeq", "ugt", "uno", "one")[j % 6]
        o = "cmpf"
    n, _e = parts(t)
    m = b.emit(f"vector.{o} {p}, {b.get(t, i)}, {b.get(t, j)} : {t} -> vector<{n}xi1>")
    b.push(t, b.emit(f"vector.select {m}, {b.get(t, k)}, {b.get(t, i + 1)} : {t}"))


def s_select(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    ts = list(INTS + FLOATS) + VECS + ["index"]
    t = ts[q % len(ts)]
    c = b.cond(i, j, k)
    b.push(t, b.emit(f"scf.select {c}, {b.get(t, j)}, {b.get(t, k)} : {t}"))


def s_icast(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    s, d = INTS[i % 4], INTS[j % 4]
    if s == d:
        return
    n = (0, 0, 2, 4, 8, 3)[q % 6]
    S, D = (vec(n, s), vec(n, d)) if n else (s, d)
    if D not in VECS + list(INTS):
        return
    o = "trunci" if BITS[s] > BITS[d] else ("extsi" if k % 2 else "extui")
    b.push(D, b.emit(f"{pre(S)}.{o} {b.get(S, i)} : {S} to {D}"))


def s_fcast(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    s, d = FLOATS[i % 4], FLOATS[j % 4]
    if BITS[s] == BITS[d]:
        return
    n = (0, 0, 2, 4, 8, 3)[q % 6]
    S, D = (vec(n, s), vec(n, d)) if n else (s, d)
    o = "fptrunc" if BITS[s] > BITS[d] else "extf"
    b.push(D, b.emit(f"{pre(S)}.{o} {b.get(S, i)} : {S} to {D}"))


def s_itof(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    s, d = INTS[i % 4], FLOATS[j % 4]
    n = (0, 0, 2, 4, 8, 3)[q % 6]
    S, D = (vec(n, s), vec(n, d)) if n else (s, d)
    b.push(D, b.emit(f"{pre(S)}.{'sitofp' if k % 2 else 'uitofp'} {b.get(S, i)} : {S} to {D}"))


def s_ftoi(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    s, d = FLOATS[i % 4], INTS[j % 4]
    lim = {"i8": 100, "i16": 30000, "i32": 2000000000, "i64": 9000000000000000000}[d]
    if s == "f16":
        lim = min(lim, 60000)
    uns = k % 2
    lo = b.const(s, 0.0 if uns else -float(lim))
    hi = b.const(s, float(lim))
    x = b.get(s, i)
    o = b.emit(f"scalar.cmpf ord, {x}, {x} : {s}")
    x = b.emit(f"scf.select {o}, {x}, {lo} : {s}")
    x = b.emit(f"scalar.maximumf {x}, {lo} : {s}")
    x = b.emit(f"scalar.minimumf {x}, {hi} : {s}")
    b.push(d, b.emit(f"scalar.{'fptoui' if uns else 'fptosi'} {x} : {s} to {d}"))


def s_bitcast(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    S = (
        "vector<4xi8>",
        "vector<2xi16>",
        "vector<8xi8>",
        "vector<2xi32>",
        "vector<4xi16>",
        "vector<16xi8>",
        "vector<8xi16>",
        "vector<4xi32>",
        "vector<2xi64>",
        "vector<1xi32>",
    )
    W = [32, 32, 64, 64, 64, 128, 128, 128, 128, 32]
    s = i % len(S)
    c = [x for x in range(len(S)) if W[x] == W[s] and x != s]
    d = S[c[j % len(c)]]
    b.push(d, b.emit(f"vector.bitcast {b.get(S[s], k)} : {S[s]} to {d}"))


def s_itobits(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    d = ("f32", "f64", "f16")[q % 3]
    s = f"i{BITS[d]}"
    x = b.emit(f"scalar.bitcast {b.get(s, i)} : {s} to {d}")
    # quiet
    o = b.emit(f"scalar.cmpf ord, {x}, {x} : {d}")
    b.push(d, b.emit(f"scf.select {o}, {x}, {b.get(d, j)} : {d}"))


def s_vec_misc(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = VECS[q % len(VECS)]
    n, e = parts(t)
    c = k % 8
    v = b.get(t, i)
    if c == 0:
        b.push(e, b.emit(f"vector.extract {v}[{j % n}] : {t} -> {e}"))
    elif c == 1:
        b.push(t, b.emit(f"vector.insert {b.get(e, j)} into {v}[{k // 8 % n}] : {e}, {t}"))
    elif c == 2:
        p = random.Random(j * 1000 + k)
        b.push(t, b.emit(f"vector.shuffle<[{', '.join(str(p.randrange(n)) for _ in range(n))}]> {v} : {t}"))
    elif c == 3:
        b.push(t, b.emit(f"vector.splat {b.get(e, j)} : {t}"))
    elif c == 4:
        # dynamic extract
        x = b.emit(f"scalar.andi {b.get('i32', j)}, {b.const('i32', 2 ** (n.bit_length() - 1) - 1)} : i32")
        y = b.emit(f"index.cast {x} : i32 to index")
        b.push(e, b.emit(f"vector.extract {v}[{y}] : {t} -> {e}"))
    elif c == 5:
        x = b.emit(f"scalar.andi {b.get('i32', j)}, {b.const('i32', 2 ** (n.bit_length() - 1) - 1)} : i32")
        y = b.emit(f"index.cast {x} : i32 to index")
        b.push(t, b.emit(f"vector.insert {b.get(e, j)} into {v}[{y}] : {e}, {t}"))
    elif c == 6 and n in (2, 4, 8) and vec(2 * n, e) in VECS:
        t2 = vec(2 * n, e)
        o = ("vector.concat<0>", "vector.interleave<0>")[j % 2]
        r = b.emit(f"{o} {v}, {b.get(t, j)} : {t}, {t} -> {t2}")
        b.push(t2, r)
    elif c == 7 and n in (4, 8, 16) and vec(n // 2, e) in VECS:
        t2 = vec(n // 2, e)
        if j % 2:
            b.push(t2, b.emit(f"vector.slice {v}[{j % (n // 2 + 1)}] : {t} -> {t2}"))
        else:
            x, y = b.fresh(), b.fresh()
            b.raw(f"{x}, {y} = vector.deinterleave<0> {v} : {t} -> {t2}, {t2}")
            b.push(t2, x)
            b.push(t2, y)


def s_vreduce(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = VECS[q % len(VECS)]
    _n, e = parts(t)
    kinds = (
        ("addi", "maxsi", "minui", "xori", "muli", "andi", "ori", "minsi", "maxui")
        if e[0] == "i"
        else ("addf", "mulf", "minimumf", "maximumf")
    )
    b.push(e, b.emit(f"vector.reduce<{kinds[k % len(kinds)]}> {b.get(t, i)}, {b.get(e, j)} : {t}, {e}"))


def s_dot(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    c = k % 4
    if c == 0:
        m = (1, 2, 4)[q % 3]
        s = ("s8s8", "u8u8", "s8u8", "u8s8")[j % 4]
        A, R = vec(4 * m, "i8"), vec(m, "i32")
        b.push(R, b.emit(f"vector.dot4i<{s}> {b.get(A, i)}, {b.get(A, j)}, {b.get(R, k)} : {A}, {A}, {R}"))
    elif c == 1:
        R = vec((1, 2, 4)[q % 3], "i32")
        s = ("s4s4", "u4u4", "s4u4", "u4s4")[j % 4]
        b.push(R, b.emit(f"vector.dot8i4<{s}> {b.get(R, i)}, {b.get(R, j)}, {b.get(R, k)} : {R}"))
    elif c == 2:
        m = (2, 4)[q % 2]
        e = ("f16", "bf16")[j % 2]
        A, R = vec(2 * m, e), vec(m, "f32")
        b.push(R, b.emit(f"vector.dot2f {b.get(A, i)}, {b.get(A, j)}, {b.get(R, k)} : {A}, {A}, {R}"))
    else:
        t = float_type(q)
        n, e = parts(t)
        if not n:
            return
        b.push(e, b.emit(f"vector.dotf {b.get(t, i)}, {b.get(t, j)}, {b.get(e, k)} : {t}, {t}, {e}"))


def s_bits(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = ("vector<2xi32>", "vector<4xi32>", "vector<4xi8>", "vector<4xi16>")[q % 4]
    _n, e = parts(t)
    w = BITS[e]
    off = j % w
    width = 1 + k % (w - off)
    c = i % 5
    if c < 2:
        b.push(
            t,
            b.emit(f"vector.bitfield.extract{'us'[c]} {b.get(t, i)} {{offset = {off}, width = {width}}} : {t} -> {t}"),
        )
    elif c == 2:
        b.push(
            t,
            b.emit(
                f"vector.bitfield.insert {b.get(t, j)} into {b.get(t, i)} {{offset = {off}, width = {width}}} : {t}, {t}"
            ),
        )
    elif c == 3:
        b.push(
            "vector<8xi8>",
            b.emit(f"vector.bitunpack{'us'[j % 2]}<4> {b.get('vector<1xi32>', i)} : vector<1xi32> -> vector<8xi8>"),
        )
    else:
        b.push("vector<1xi32>", b.emit(f"vector.bitpack<4> {b.get('vector<8xi8>', i)} : vector<8xi8> -> vector<1xi32>"))


def s_index(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    c = k % 8
    x, y = b.get("index", i), b.get("index", j)
    if c < 5:
        r = b.emit(f"index.{('add', 'sub', 'mul', 'min', 'max')[c]} {x}, {y} : index")
    elif c == 5:
        r = b.emit(f"index.madd {x}, {y}, {b.get('index', q)} : index")
    elif c == 6:
        r = b.emit(f"index.{('andi', 'ori', 'xori')[q % 3]} {x}, {y} : index")
    else:
        m = b.emit(f"index.andi {x}, {b.const('index', 2**62 - 1)} : index")
        d = b.const("index", (3, 8, 1, 10, 4294967296, 60)[q % 6]) if j % 2 else b.small_divisor(y)
        r = b.emit(f"index.{('div', 'rem')[i % 2]} {m}, {d} : index")
    b.push("index", r)


def s_index_shift(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    x = b.get("index", i)
    s = (
        b.const("index", (1, 4, 31, 32, 33, 63, 0)[j % 7])
        if q % 2
        else b.emit(f"index.andi {b.get('index', j)}, {b.const('index', 63)} : index")
    )
    b.push("index", b.emit(f"index.{('shli', 'shrui', 'shrsi', 'rotli', 'rotri')[k % 5]} {x}, {s} : index"))


def s_index_cast(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = INTS[j % 4]
    if k % 2:
        b.push("index", b.emit(f"index.cast {b.get(t, i)} : {t} to index"))
    else:
        b.push(t, b.emit(f"index.cast {b.get('index', i)} : index to {t}"))
