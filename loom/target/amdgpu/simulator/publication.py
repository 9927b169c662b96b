"""Accesses that a barrier orders before a wait covers them, found as the code runs: stores to memory, reads of the LDS.

A barrier does not say which stores it publishes: whether a store that is still under way there matters depends on
whether another wave of the workgroup reads those bytes behind the barrier. So where some path leads from a store to a
barrier with no wait between (:class:`~loom.target.amdgpu.simulator.static_check.StaticChecker`), and only there, the
kernel is translated to remember these stores and to look at every load. Kernels that wait, which are nearly all, pay
nothing. Loads of the LDS are the same with the sides changed: one that is still under way at a barrier must not meet
what another wave stores behind it.

The table has an entry for each four bytes, at a place that their address gives; a later store to another address may
take it, so a store may be forgotten but none is made up. An entry holds the workgroup, the wave, the number of barriers
it had passed, the number of waits for all its stores (LDS accesses) that it had executed, and which bytes it means.
"""

from __future__ import annotations

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.watched_access import conflict_text, header, walk_text
from loom.target.amdgpu.waits import waits_performed

ENTRY_BYTES = 48
ENTRIES = 1 << 16
READ, WRITE, LDS_WRITE, LDS_READ = range(4)
"""How ``loom.watch`` sees an access: the second and fourth are remembered, the first and third compared with them."""
_STORE_COUNTERS = {"gfx11": "vscnt", "gfx12": "storecnt", "gfx9.4": "vmcnt"}
_LDS_COUNTERS = {"gfx11": "lgkmcnt", "gfx12": "dscnt", "gfx9.4": "lgkmcnt"}
_COUNTS = (
    (_STORE_COUNTERS, (L.STORE_WAITS, L.STORE_WAITS_BEFORE, L.STORE_WAITS_EPOCH)),
    (_LDS_COUNTERS, (L.LDS_WAITS, L.LDS_WAITS_BEFORE, L.LDS_WAITS_EPOCH)),
)


def waits_for_all(instruction: MachineInstruction, generation: str) -> list[tuple[int, int, int]]:
    """Where the state block counts (offsets of ``…_WAITS``, ``…_BEFORE``, ``…_EPOCH``) what an instruction waits for
    until all is finished."""
    waits = waits_performed(instruction, generation)
    return [offsets for names, offsets in _COUNTS if waits.get(names[generation]) == 0]


def declarations(wave: int) -> str:
    """Declarations of :func:`publication_text`, for the kernel's module."""
    return (
        f"declare void @loom.watch(ptr, i64, <{wave} x i32>, i{wave}, i32, i32, i32)\n"
        f"declare void @loom.watch.wide(ptr, <{wave} x i64>, i{wave}, i32, i32, i32)\n"
        "declare void @loom.watch.wait(ptr, i64, i64, i64)\n"
    )


def publication_text(wave: int) -> str:
    """IR of ``loom.watch`` (an access of all lanes; ``kind`` as :data:`READ` and its successors) and of
    ``loom.watch.wait``."""

    fields = (("gx", 8), ("gy", 12), ("gz", 16), ("w", 20), ("e", 24), ("n", 32), ("b", 36), ("s", 40))
    pointers = "".join(f"  %{f}.p = getelementptr i8, ptr %at, i64 {o}\n" for f, o in fields)
    return f"""
{walk_text(wave, "loom.watch")}{conflict_text()}
define void @loom.watch.wait(ptr %st, i64 %at, i64 %at.before, i64 %at.epoch) {{
  %count.p = getelementptr i8, ptr %st, i64 %at
  %count = load i32, ptr %count.p
  %before.p = getelementptr i8, ptr %st, i64 %at.before
  %before = load i32, ptr %before.p
  %last.p = getelementptr i8, ptr %st, i64 %at.epoch
  %last = load i64, ptr %last.p
{header("epoch", L.EPOCH, "i64")}
  %same = icmp eq i64 %epoch, %last
  %kept = select i1 %same, i32 %before, i32 %count
  %next = add i32 %count, 1
  store i32 %kept, ptr %before.p
  store i64 %epoch, ptr %last.p
  store i32 %next, ptr %count.p
  ret void
}}

define void @loom.watch.word(ptr %st, i64 %g, i32 %bytes, i32 %lane, i32 %kind, i32 %site) {{
entry:
{header("table", L.WATCHED, "ptr")}{header("epoch", L.EPOCH, "i64")}{header("wave", L.WAVE, "i32")}\
{header("swaits", L.STORE_WAITS, "i32")}{header("lwaits", L.LDS_WAITS, "i32")}\
{header("x", L.GROUP, "i32")}{header("y", L.GROUP + 4, "i32")}\
{header("z", L.GROUP + 8, "i32")}
  %lds = icmp uge i32 %kind, {LDS_WRITE}
  %waits = select i1 %lds, i32 %lwaits, i32 %swaits
  %odd = and i32 %kind, 1
  %store = icmp eq i32 %odd, 1
  %index0 = lshr i64 %g, 2
  %index = and i64 %index0, {ENTRIES - 1}
  %offset = mul i64 %index, {ENTRY_BYTES}
  %at = getelementptr i8, ptr %table, i64 %offset
{pointers}
  br i1 %store, label %write, label %read
write:
  store i64 %g, ptr %at
  store i32 %x, ptr %gx.p
  store i32 %y, ptr %gy.p
  store i32 %z, ptr %gz.p
  store i32 %wave, ptr %w.p
  store i64 %epoch, ptr %e.p
  store i32 %waits, ptr %n.p
  store i32 %bytes, ptr %b.p
  store i32 %site, ptr %s.p
  br label %next
read:
  %og = load i64, ptr %at
  %ox = load i32, ptr %gx.p
  %oy = load i32, ptr %gy.p
  %oz = load i32, ptr %gz.p
  %ow = load i32, ptr %w.p
  %oe = load i64, ptr %e.p
  %on = load i32, ptr %n.p
  %ob = load i32, ptr %b.p
  %os = load i32, ptr %s.p
  %t0 = icmp eq i64 %og, %g
  %t1 = icmp eq i32 %ox, %x
  %t2 = icmp eq i32 %oy, %y
  %t3 = icmp eq i32 %oz, %z
  %t4 = icmp ne i32 %ow, %wave
  %t5 = icmp ult i64 %oe, %epoch
  %both = and i32 %ob, %bytes
  %t6 = icmp ne i32 %both, 0
  %u0 = and i1 %t0, %t1
  %u1 = and i1 %t2, %t3
  %u2 = and i1 %t4, %t5
  %u3 = and i1 %u0, %u1
  %u4 = and i1 %u2, %t6
  %published = and i1 %u3, %u4
  br i1 %published, label %covered, label %next
covered:
  ; waits of the other wave up to the barrier that the present epoch began with
{header("stride", L.STATE_SIZE, "i64")}
  %apart = sub i32 %ow, %wave
  %apart64 = sext i32 %apart to i64
  %distance = mul i64 %apart64, %stride
  %other = getelementptr i8, ptr %st, i64 %distance
  %co = select i1 %lds, i64 {L.LDS_WAITS}, i64 {L.STORE_WAITS}
  %cp = getelementptr i8, ptr %other, i64 %co
  %c = load i32, ptr %cp
  %bo = select i1 %lds, i64 {L.LDS_WAITS_BEFORE}, i64 {L.STORE_WAITS_BEFORE}
  %bp = getelementptr i8, ptr %other, i64 %bo
  %b = load i32, ptr %bp
  %eo = select i1 %lds, i64 {L.LDS_WAITS_EPOCH}, i64 {L.STORE_WAITS_EPOCH}
  %lp = getelementptr i8, ptr %other, i64 %eo
  %le = load i64, ptr %lp
  %now = icmp eq i64 %le, %epoch
  %had = select i1 %now, i32 %b, i32 %c
  %fine = icmp ugt i32 %had, %on
  br i1 %fine, label %next, label %bad
bad:
  call void @conflict(ptr %st, i32 {L.FAULT_UNCOVERED}, i32 %site, i32 %lane, i64 %g, i32 %ow, i32 %os)
  br label %next
next:
  ret void
}}
"""
