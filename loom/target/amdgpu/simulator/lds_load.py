"""The out-of-line helper of loads from memory straight into LDS, as LLVM IR text."""

from __future__ import annotations

from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.runtime import vector


def lds_load_signature(name: str, wave: int) -> str:
    """Return type, name and parameter types of the helper, for a declaration."""
    return f"void @{name}(ptr, {vector(wave, 'i64')}, i{wave}, i{wave}, i32, i32)"


def lds_load_text(name: str, suffix: str, wave: int, race: bool) -> str:
    """The helper's definition. ``suffix``: bytes read, ``s`` behind them for sign extension.

    ``%place`` is the LDS offset of lane 0. Lanes of ``%mask`` that are not in ``%inside`` (beyond a buffer) put zeros.
    """
    size, signed = int(suffix.rstrip("s")), suffix.endswith("s")
    m, v64, v = f"i{wave}", vector(wave, "i64"), vector(wave)
    words = max(1, size // 4)
    stride = 16 if words >= 3 else 4
    lane32 = "add i32 %lane, 0" if wave == 32 else "trunc i64 %lane to i32"
    if size < 4:
        extend = "sext" if signed else "zext"
        copy = (
            f"  %n = load i{8 * size}, ptr %pl, align 1\n  %e = {extend} i{8 * size} %n to i32\n"
            "  store i32 %e, ptr %b\n"
        )
    else:
        copy = f"  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %pl, i64 {size}, i1 false)\n"
    watch = ""
    if race:
        lanes = "<" + ", ".join(f"i32 {i * stride}" for i in range(wave)) + ">"
        watch = f"""  %pi = insertelement {v} poison, i32 %place, i64 0
  %ps = shufflevector {v} %pi, {v} poison, <{wave} x i32> zeroinitializer
  %places = add {v} %ps, {lanes}
  call void @loom.race(ptr %st, i64 %lds, {v} %places, {m} %mask, i32 {4 * words}, i32 1, i32 %site)
"""
    return f"""
define void @{name}(ptr %st, {v64} %address, {m} %mask, {m} %inside, i32 %site, i32 %place) {{
entry:
  %b = alloca [4 x i32]
  call void @loom.count(ptr %st, {m} %mask, i32 %site)
  %bp = getelementptr i8, ptr %st, i64 {L.LDS_BASE}
  %lds = load i64, ptr %bp
{watch}  %none = icmp eq {m} %mask, 0
  br i1 %none, label %done, label %loop
loop:
  %left = phi {m} [ %mask, %entry ], [ %rest, %next ]
  %lane = call {m} @llvm.cttz.{m}({m} %left, i1 true)
  %lane32 = {lane32}
  store [4 x i32] zeroinitializer, ptr %b
  %bit = shl {m} 1, %lane
  %in0 = and {m} %inside, %bit
  %in = icmp ne {m} %in0, 0
  br i1 %in, label %check, label %put
check:
  %al = extractelement {v64} %address, i32 %lane32
  %ae = add i64 %al, {size}
  %ok = call i1 @loom.bounds.global(ptr %st, i64 %al, i64 %ae, i32 %site)
  br i1 %ok, label %access, label %bad
bad:
  call void @loom.fault(ptr %st, i32 {L.FAULT_OUT_OF_BOUNDS}, i32 %site, i32 %lane32, i64 %al, i32 {size})
  br label %next
access:
  %pl = inttoptr i64 %al to ptr
{copy}  br label %put
put:
  %skip = mul i32 %lane32, {stride}
  %at = add i32 %place, %skip
  %at64 = zext i32 %at to i64
  %dl = add i64 %lds, %at64
  %de = add i64 %dl, {4 * words}
  %fits = call i1 @loom.bounds.lds(ptr %st, i64 %dl, i64 %de, i32 %site)
  br i1 %fits, label %store, label %beyond
beyond:
  call void @loom.fault(ptr %st, i32 {L.FAULT_LDS}, i32 %site, i32 %lane32, i64 %dl, i32 {4 * words})
  br label %next
store:
  %dp = inttoptr i64 %dl to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %dp, ptr %b, i64 {4 * words}, i1 false)
  br label %next
next:
  %less = sub {m} %left, 1
  %rest = and {m} %left, %less
  %more = icmp ne {m} %rest, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}}
declare {m} @llvm.cttz.{m}({m}, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
