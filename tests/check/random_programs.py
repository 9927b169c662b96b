"""Random programs with nested, divergent control flow over every scalar type, vectors, memory and collectives.

A program is a tree of steps, each a few integers; every choice is taken modulo what is possible, so any tree is a program
whose behaviour is defined, and a tree with fewer steps is a smaller one. Collectives and barriers stand only where control
flow is uniform.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.check.random_builder import EDGE_I, TOTAL, VECS, Builder, Step, parts
from tests.check.random_far import s_backwards, s_far, s_float_atomic, s_pipelined
from tests.check.random_memory import (
    s_atomic,
    s_carried_buffer,
    s_exchange,
    s_gather,
    s_narrow_mem,
    s_private,
    s_reduce,
    s_scan,
    s_scatter,
    s_shuffle,
    s_vote,
    s_wreduce,
)
from tests.check.random_values import (
    s_bitcast,
    s_bits,
    s_div,
    s_dot,
    s_fbin,
    s_fcast,
    s_fconst,
    s_fma,
    s_fmai,
    s_ftoi,
    s_fun,
    s_ibin,
    s_icast,
    s_iconst,
    s_index,
    s_index_cast,
    s_index_shift,
    s_isx,
    s_itobits,
    s_itof,
    s_iun,
    s_select,
    s_shift,
    s_vcmp,
    s_vec_misc,
    s_vreduce,
)


def nested(b: Builder, body: Sequence[Step], extra: Sequence[tuple[str, str]] = (), uniform: bool = False) -> None:
    """Enter a region with its own scope and run its steps in it."""
    b.uniform = b.uniform and uniform
    b.pools.append({})
    b.indent += 1
    for t, v in extra:
        b.push(t, v)
    for st in body:
        run(b, st)


def leave(b: Builder, old: bool) -> None:
    b.pools.pop()
    b.indent -= 1
    b.uniform = old


RT = ["i32", "f32", "i64", "f64", "f16", "i16", "vector<4xi32>", "vector<2xf16>", "index", "i8", "vector<3xf32>"]


def s_if(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    ts = [RT[q % len(RT)], RT[(q // 11) % len(RT)]]
    u = q % 5 == 0
    c = b.emit(f"scalar.cmpi slt, {'%u0'}, {b.const('i32', EDGE_I[j % len(EDGE_I)])} : i32") if u else b.cond(i, j, k)
    for t in ts:
        b.get(t, i)
    r = [b.fresh(), b.fresh()]
    h = len(body) // 2
    old = b.uniform
    b.raw(f"{', '.join(r)} = scf.if {c} -> ({', '.join(ts)}) {{")
    nested(b, body[:h], uniform=u)
    vals = [b.get(t, j) for t in ts]
    b.raw(f"scf.yield {', '.join(vals)} : {', '.join(ts)}")
    leave(b, old)
    b.raw("} else {")
    nested(b, body[h:], uniform=u)
    vals = [b.get(t, k + 1) for t in ts]
    b.raw(f"scf.yield {', '.join(vals)} : {', '.join(ts)}")
    leave(b, old)
    b.raw("}")
    for t, v in zip(ts, r, strict=True):
        b.push(t, v)


def s_for(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    ts = [RT[q % len(RT)], RT[(q // 11) % len(RT)]]
    init = [b.get(t, j + x) for x, t in enumerate(ts)]
    u = q % 3 == 0
    clause = ""
    if u:
        lo = b.const("index", k % 4)
        hi = b.const("index", k % 4 + (i % 6))
        step = b.const("index", 1 + j % 3)
        f = b.const("index", 2 + i % 3)
        clause = (
            "",
            " unroll",
            f" unroll({f})",
            f" unroll({f}) schedule(interleaved)",
            f" unroll({f}) schedule(recurrence)",
        )[k % 5]
    else:
        m = b.emit(f"scalar.andi {b.get('i32', i)}, {b.const('i32', 3)} : i32")
        hi = b.emit(f"index.cast {m} : i32 to index")
        lo = b.const("index", k % 3 - 1)
        step = b.const("index", 1 + j % 2)
        f = b.const("index", 2)
        clause = ("", "", f" unroll({f})")[k % 3]
    r = [b.fresh(), b.fresh()]
    iv = b.fresh()
    car = [b.fresh(), b.fresh()]
    old = b.uniform
    b.raw(
        f"{', '.join(r)} = scf.for {iv} = [{lo} to {hi} step {step}]({', '.join(f'{c} = {x} : {t}' for c, x, t in zip(car, init, ts, strict=True))}) -> ({', '.join(ts)}){clause} {{"
    )
    nested(b, body, [(t, c) for t, c in zip(ts, car, strict=True)] + [("index", iv)], uniform=u)
    vals = [b.get(t, x) for x, t in enumerate(ts)]
    b.raw(f"scf.yield {', '.join(vals)} : {', '.join(ts)}")
    leave(b, old)
    b.raw("}")
    for t, v in zip(ts, r, strict=True):
        b.push(t, v)


def s_while(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    ts = ["i32", RT[q % len(RT)]]
    x0 = b.emit(f"scalar.andi {b.get('i32', i)}, {b.const('i32', 7)} : i32")
    init = [x0, b.get(ts[1], j)]
    r = [b.fresh(), b.fresh()]
    a = [b.fresh(), b.fresh()]
    d = [b.fresh(), b.fresh()]
    zero = b.const("i32", 0)
    one = b.const("i32", 1)
    old = b.uniform
    T = ", ".join(ts)
    b.raw(f"{r[0]}, {r[1]} = scf.while({a[0]} = {init[0]} : {ts[0]}, {a[1]} = {init[1]} : {ts[1]}) -> ({T}) {{")
    nested(b, body[:1] if k % 2 else [], [(ts[1], a[1])])
    c = b.emit(f"scalar.cmpi sgt, {a[0]}, {zero} : i32")
    v = b.get(ts[1], k)
    b.raw(f"scf.condition {c}, {a[0]}, {v} : i1, {T}")
    leave(b, old)
    b.raw(f"}} do({d[0]}: {ts[0]}, {d[1]}: {ts[1]}) {{")
    nested(b, body[1:] if k % 2 else body, [("i32", d[0]), (ts[1], d[1])])
    v = b.get(ts[1], 0)
    n = b.emit(f"scalar.subi {d[0]}, {one} : i32")
    b.raw(f"scf.yield {n}, {v} : {T}")
    leave(b, old)
    b.raw("}")
    for t, v in zip(ts, r, strict=True):
        b.push(t, v)


def s_switch(b: Builder, i: int, j: int, k: int, q: int, body: Sequence[Step]) -> None:
    t = RT[q % len(RT)]
    b.get(t, j)
    m = b.emit(f"scalar.andi {b.get('i32', i)}, {b.const('i32', 7)} : i32")
    s = b.emit(f"index.cast {m} : i32 to index")
    if k % 3 == 0:
        r = b.fresh()
        r2 = b.fresh()
        rows = [(b.get(t, x), b.get("i32", x + 1)) for x in range(4)]
        b.raw(
            f"{r}, {r2} = scf.lookup {s} {{ 0 = ({rows[0][0]}, {rows[0][1]}), 2 = ({rows[1][0]}, {rows[1][1]}), 5 = ({rows[2][0]}, {rows[2][1]}) }} default({rows[3][0]}, {rows[3][1]}) : {t}, i32"
        )
        b.push(t, r)
        b.push("i32", r2)
        return
    r = b.fresh()
    old = b.uniform
    b.raw(f"{r} = scf.switch {s} -> ({t}) {{")
    keys = [0, 1, 3, 6][: 1 + k % 4]
    for x, key in enumerate([*keys, None]):
        b.raw(f"case {key} {{" if key is not None else "default {")
        nested(b, body[x :: len(keys) + 1])
        b.raw(f"scf.yield {b.get(t, x)} : {t}")
        leave(b, old)
        b.raw("}")
    b.raw("}")
    b.push(t, r)


OPS = [
    s_ibin,
    s_ibin,
    s_iconst,
    s_iconst,
    s_shift,
    s_shift,
    s_div,
    s_iun,
    s_fmai,
    s_fbin,
    s_fbin,
    s_fconst,
    s_fun,
    s_fma,
    s_isx,
    s_vcmp,
    s_select,
    s_icast,
    s_icast,
    s_fcast,
    s_itof,
    s_ftoi,
    s_bitcast,
    s_itobits,
    s_vec_misc,
    s_vec_misc,
    s_vreduce,
    s_dot,
    s_dot,
    s_bits,
    s_index,
    s_index,
    s_index_shift,
    s_index_cast,
    s_if,
    s_if,
    s_for,
    s_for,
    s_while,
    s_switch,
    s_private,
    s_exchange,
    s_atomic,
    s_reduce,
    s_scan,
    s_wreduce,
    s_shuffle,
    s_vote,
    s_gather,
    s_narrow_mem,
    s_carried_buffer,
    s_scatter,
    s_pipelined,
    s_float_atomic,
    s_backwards,
    s_far,
]


def run(b: Builder, st: Step) -> None:
    op, i, j, k, q, body = st
    OPS[op % len(OPS)](b, i, j, k, q, body)


def random_step(rng: random.Random, depth: int) -> Step:
    op = rng.randrange(len(OPS))
    f = OPS[op]
    body = []
    if f in (s_if, s_for, s_while, s_switch):
        if depth >= 3:
            op = rng.randrange(34)
        else:
            body = [random_step(rng, depth + 1) for _ in range(rng.randrange(5))]
    return (op, rng.randrange(24), rng.randrange(24), rng.randrange(240), rng.randrange(2520), body)


def random_program(rng: random.Random, most: int = 14) -> list[Step]:
    return [random_step(rng, 0) for _ in range(rng.randint(1, most))]


REALS_OUT = 24


def text(name: str, program: Sequence[Step], size: int, target: str = "") -> str:
    b = Builder(size)
    for v in ("%u0", "%u1", "%item_word", "%b", "%a"):
        b.push("i32", v)
    for v in ("%uf", "%y", "%x"):
        b.push("f32", v)
    b.push("index", "%global")
    b.push("index", "%item")
    for st in program:
        run(b, st)
    h = "%a"
    for t in ("i32", "i64", "i16", "i8", "index", *[v for v in VECS if parts(v)[1][0] == "i"]):
        for v in b.all(t)[-4:]:
            n, e = parts(t)
            if n:
                z = b.const(e, 17)
                v = b.emit(f"vector.reduce<xori> {v}, {z} : {t}, {e}")
                w = b.emit(f"vector.extract {b.all(t)[-1]}[{n - 1}] : {t} -> {e}")
                v = b.emit(f"scalar.fmai {v}, {b.const(e, 3)}, {w} : {e}")
            if e == "i64" or e == "index":
                if e == "index":
                    v = b.emit(f"index.cast {v} : index to i64")
                s = b.emit(f"scalar.shrui {v}, {b.const('i64', 32)} : i64")
                x = b.emit(f"scalar.xori {v}, {s} : i64")
                v = b.emit(f"scalar.trunci {x} : i64 to i32")
            elif e != "i32":
                v = b.emit(f"scalar.extui {v} : {e} to i32")
            r = b.emit(f"scalar.rotli {h}, {b.const('i32', 5)} : i32")
            h = b.emit(f"scalar.xori {r}, {v} : i32")
    b.raw(f"view.store {h}, %wo[%global] : i32, view<{TOTAL}xi32>")
    vals = []
    for t in ("f32", "f16", "bf16", "f64", *[v for v in VECS if parts(v)[1][0] != "i"]):
        n, e = parts(t)
        for v in b.all(t)[-2:]:
            es = [v] if not n else [b.emit(f"vector.extract {v}[{x}] : {t} -> {e}") for x in {0, n - 1, n // 2}]
            vals += [(x, e) for x in es]
    for row, (v, e) in enumerate(vals[:REALS_OUT]):
        if e != "f64":
            v = b.emit(f"scalar.extf {v} : {e} to f64")
        b.raw(f"view.store {v}, %ro[{row}, %global] : f64, view<{REALS_OUT}x{TOTAL}xf64>")
    body = "\n".join(b.lines)
    groups = TOTAL // size
    tgt = f" target(@{target})" if target else ""
    return f"""kernel.def{tgt} @{name}() {{
  %one = index.constant 1 : index
  %lanes = index.constant {size} : index
  %groups = index.constant {groups} : index
  kernel.launch.config workgroups(%groups, %one, %one) workgroup_size(%lanes, %one, %one) : index
}} launch(%words: buffer, %reals: buffer, %short: buffer, %word_out: buffer, %real_out: buffer, %extra: buffer) {{
  %item = kernel.workitem.id<x> : index
  %global = kernel.workitem.dispatch.id<x> : index
  %item_word = index.cast %item : index to i32
  %origin = index.constant 0 : offset
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %wv = buffer.view %words[%origin] : buffer -> view<2x{TOTAL}xi32>
  %rv = buffer.view %reals[%origin] : buffer -> view<2x{TOTAL}xf32>
  %wo = buffer.view %word_out[%origin] : buffer -> view<{TOTAL}xi32>
  %ro = buffer.view %real_out[%origin] : buffer -> view<{REALS_OUT}x{TOTAL}xf64>
  %scratch = buffer.view %extra[%origin] : buffer -> view<{TOTAL}x4xi32>
  %a = view.load %wv[0, %global] : view<2x{TOTAL}xi32> -> i32
  %b = view.load %wv[1, %global] : view<2x{TOTAL}xi32> -> i32
  %u0 = view.load %wv[0, 9] : view<2x{TOTAL}xi32> -> i32
  %u1 = view.load %wv[1, 3] : view<2x{TOTAL}xi32> -> i32
  %uf = view.load %rv[0, 20] : view<2x{TOTAL}xf32> -> f32
  %x = view.load %rv[0, %global] : view<2x{TOTAL}xf32> -> f32
  %y = view.load %rv[1, %global] : view<2x{TOTAL}xf32> -> f32
{body}
  kernel.return
}}
"""
