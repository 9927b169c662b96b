"""C's ``fmod`` for floats: the remainder is exact, found by removing multiples of the divisor from the top."""

from __future__ import annotations

from loom.target.amdgpu.lowering.context import Lowering
from loom.target.amdgpu.lowering.floats import floats
from loom.target.amdgpu.lowering.values import Words


def fmod(lw: Lowering, kind: str, x: Words, y: Words) -> Words:
    """The remainder of x / y with the quotient truncated.

    Half precision computes in double precision, where the quotient of any two finite halves is below 2^41 and one
    step is exact. For the others the quotient is taken off in chunks that a float holds exactly, in a loop that
    runs until no lane has more.
    """
    f = floats(lw)
    if kind == "f16":
        wide = _chunks(lw, "f32", f.to_f32(x, kind), f.to_f32(y, kind))
        return f.from_f32(wide, kind)
    return _chunks(lw, kind, x, y)


def _chunks(lw: Lowering, kind: str, x: Words, y: Words) -> Words:
    from loom.target.amdgpu.lowering.control_flow import branch, branch_if, enter, merge, new_block
    from loom.target.amdgpu.lowering.emitter import Scope
    from loom.target.amdgpu.lowering.loops import leave_lanes, move_last
    from loom.target.amdgpu.lowering.scalars import float_words

    f, e, t = floats(lw), lw.e, lw.t
    mask = 0x7FFFFFFF
    ax, ay = f.abs(x, kind), f.abs(y, kind)
    # |x| reduced round by round: scale the divisor up to just below the rest and subtract what fits, at most 2^digits
    # times it.
    digits = 12 if kind == "f32" else 26
    start = [e.to_vector(w) for w in (*ax,)]
    outer = e.exec
    saved = e.copy_exec()
    header, body, done = new_block(lw, "test"), new_block(lw, "loop"), new_block(lw, "exit")
    anchor = branch(lw, header, start)
    with e.scope(Scope(loop=True, block=e.block, anchor=anchor, exec=outer)):
        enter(lw, header)
        e.exec = object()
        arguments = [e.define(header.add_argument(v.type)) for v in start]
        rest: Words = tuple(arguments)
        with e.stay():
            more = t.compare_float("oge", f.operand(rest), f.operand(ay), kind)
            # An infinite rest or a zero divisor never ends; both give NaN below.
            sane = t.class_test(f.operand(rest), kind, 0x1F8)
            positive = t.compare_float("ogt", f.operand(ay), f.operand(float_words(0.0, kind)), kind)
            go = t.binary("and", t.binary("and", more, sane), positive)
            condition = leave_lanes(lw, go)
        branch_if(lw, condition, body, done)
        enter(lw, body)
        with e.stay():
            exponent_rest = e.op(f"v_frexp_exp_i32_{kind}", f.operand(rest))[0]
            exponent_y = e.op(f"v_frexp_exp_i32_{kind}", f.operand(ay))[0]
            gap = lw.i.sub(exponent_rest, exponent_y)
            lift = lw.i.binary("max_s", lw.i.sub(gap, digits), 0)
            scaled = f.words(e.op(f"v_ldexp_{kind}", f.operand(ay), lift)[0])
            estimate = f.op("mul", kind, rest, f.op("rcp", kind, scaled))
            count = f.op("trunc", kind, estimate)
            following = f.op("fma", kind, f.neg(count, kind), scaled, rest)
            # The estimate may be one too large or too small.
            under = t.compare_float("olt", f.operand(following), f.operand(float_words(0.0, kind)), kind)
            following = t.select(under, f.op("add", kind, following, scaled), following)
            over = t.compare_float("oge", f.operand(following), f.operand(scaled), kind)
            following = t.select(over, f.op("sub", kind, following, scaled), following)
            merged = [merge(lw, e.to_vector(w), old) for w, old in zip(following, arguments, strict=True)]
        branch(lw, header, merged)
    move_last(header)
    enter(lw, done)
    e.restore_exec(saved, outer)
    for argument in arguments:
        e.depth[argument] = len(e.scopes) - 1
    result: Words = tuple(arguments)
    nan = float_words(float("nan"), kind)
    bad_x = t.class_test(f.operand(x), kind, 0x207)
    bad_y = t.class_test(f.operand(y), kind, 0x063)
    chosen = t.select(t.binary("or", bad_x, bad_y), nan, result)
    return (*chosen[:-1], lw.i.merge_bits(mask, chosen[-1], x[-1]))
