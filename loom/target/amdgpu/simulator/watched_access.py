"""What the tables of earlier accesses share: an access word by word, and the fault that names the earlier one."""

from __future__ import annotations

from loom.target.amdgpu.simulator import layout as L


def walk_text(wave: int, name: str) -> str:
    """IR of ``name`` and ``name.wide``, which call ``name.word`` for every four bytes that an active lane accesses.

    The first takes a common base and 32-bit offsets, the second 64-bit addresses. ``name.word(state, address of the
    four bytes, mask of those meant, lane, kind, site)`` gets ``kind`` and ``site`` handed on.
    """
    m = f"i{wave}"
    narrow = f"<{wave} x i32>"
    wide = f"<{wave} x i64>"
    lane = "add i32 %l, 0" if wave == 32 else "trunc i64 %l to i32"
    walks = "".join(
        f"""
define void @{name}{suffix}({parameters}, {m} %mask, i32 %size, i32 %kind, i32 %site) {{
entry:
  %none = icmp eq {m} %mask, 0
  br i1 %none, label %done, label %lane
lane:
  %left = phi {m} [ %mask, %entry ], [ %rest, %lane ]
  %l = call {m} @llvm.cttz.{m}({m} %left, i1 true)
  %l32 = {lane}
{address}  call void @{name}.lane(ptr %st, i64 %a, i32 %l32, i32 %size, i32 %kind, i32 %site)
  %less = sub {m} %left, 1
  %rest = and {m} %left, %less
  %more = icmp ne {m} %rest, 0
  br i1 %more, label %lane, label %done
done:
  ret void
}}
"""
        for suffix, parameters, address in (
            ("", f"ptr %st, i64 %base, {narrow} %off",
             f"  %o = extractelement {narrow} %off, {m} %l\n  %o64 = zext i32 %o to i64\n  %a = add i64 %base, %o64\n"),
            (".wide", f"ptr %st, {wide} %address", f"  %a = extractelement {wide} %address, {m} %l\n"),
        )
    )  # fmt: skip
    return f"""
declare {m} @llvm.cttz.{m}({m}, i1)
{walks}
define void @{name}.lane(ptr %st, i64 %a, i32 %lane, i32 %size, i32 %kind, i32 %site) {{
entry:
  %size64 = zext i32 %size to i64
  %end = add i64 %a, %size64
  %first = and i64 %a, -4
  br label %word
word:
  %g = phi i64 [ %first, %entry ], [ %gn, %word ]
  %gn = add i64 %g, 4
  %below = icmp ult i64 %g, %a
  %start = select i1 %below, i64 %a, i64 %g
  %above = icmp ugt i64 %gn, %end
  %stop = select i1 %above, i64 %end, i64 %gn
  %lo = sub i64 %start, %g
  %hi = sub i64 %stop, %g
  %lo32 = trunc i64 %lo to i32
  %hi32 = trunc i64 %hi to i32
  %lob = shl i32 1, %lo32
  %hib = shl i32 1, %hi32
  %bytes = sub i32 %hib, %lob
  call void @{name}.word(ptr %st, i64 %g, i32 %bytes, i32 %lane, i32 %kind, i32 %site)
  %again = icmp ult i64 %gn, %end
  br i1 %again, label %word, label %out
out:
  ret void
}}
"""


def header(name: str, offset: int, type_: str) -> str:
    """IR that loads ``%name`` (and ``%name.p``, where it is) from the wave's state block."""
    return f"  %{name}.p = getelementptr i8, ptr %st, i64 {offset}\n  %{name} = load {type_}, ptr %{name}.p\n"


def conflict_text() -> str:
    """IR of ``conflict``: a fault and the earlier access that it is about, unless the wave has a fault already."""
    return f"""
declare void @loom.fault(ptr, i32, i32, i32, i64, i32)
define internal void @conflict(ptr %st, i32 %fault, i32 %site, i32 %lane, i64 %g, i32 %wave, i32 %other) {{
entry:
{header("old", L.FAULT_KIND, "i32")}  %first = icmp eq i32 %old, 0
  br i1 %first, label %record, label %done
record:
  %fw = getelementptr i8, ptr %st, i64 {L.FAULT_OTHER_WAVE}
  store i32 %wave, ptr %fw
  %fs = getelementptr i8, ptr %st, i64 {L.FAULT_OTHER_SITE}
  store i32 %other, ptr %fs
  call void @loom.fault(ptr %st, i32 %fault, i32 %site, i32 %lane, i64 %g, i32 4)
  br label %done
done:
  ret void
}}
"""
