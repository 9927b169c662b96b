"""Stores that another workgroup reads although no wait covers them: a release without its wait, found as the code runs.

On gfx11, and on gfx12 in device scope, a release is a wait for all stores in front of an atomic or a store, and
nothing else: without the wait nothing in the code tells it from a relaxed access, which publishes nothing. What tells
is the other side. A workgroup that invalidates the caches of its device scope acquires what others released; when it
then reads, with a plain load, bytes that another workgroup has stored before the acquire, and the storing wave has
executed no wait for its stores since, that store was not released. Where the waves of a workgroup share a compute
unit's cache, a barrier goes without the wait and one wave may release what another one stored: there a wait of any wave
of the workgroup counts.

Only kernels that hold such an invalidation are translated to remember their stores and to look at their loads, and all
their workgroups run in one thread of the host. Not looked at: loads that bypass the caches, as atomic loads do (a wave
may poll what is not published yet).

An entry stands for four bytes, at a place that their address gives; a later store to another address may take it, so a
store may be forgotten but none is made up. A slot counts the waits of one wave of one workgroup, and is shared in the
same way: a wave whose slot another one has taken is believed.
"""

from __future__ import annotations

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.publication import waits_for_all
from loom.target.amdgpu.simulator.watched_access import conflict_text, header, walk_text

LOAD, STORE = range(2)
_ENTRIES = 1 << 16
_ENTRY_BYTES = 48
_SLOTS = 1 << 14
_SLOT_BYTES = 32
_CLOCK_BYTES = 64
TABLE_BYTES = _CLOCK_BYTES + _SLOTS * _SLOT_BYTES + _ENTRIES * _ENTRY_BYTES
"""A clock of stores and acquires, the slots, the entries."""

_DEVICE_SCOPE = 2
_MEMORY = ("global", "flat", "buffer")


def acquires(instruction: MachineInstruction) -> bool:
    """Whether the instruction lets its wave see what other workgroups have released."""
    name = instruction.row.mnemonic
    return name == "buffer_gl1_inv" or (
        name in ("global_inv", "global_wbinv") and instruction.modifiers.get("scope", 0) >= _DEVICE_SCOPE
    )


def watched_kind(instruction: MachineInstruction) -> int | None:
    """How an access takes part: :data:`STORE`, :data:`LOAD` where it is plain, else not at all."""
    memory = instruction.row.memory
    if memory is None or memory.space not in _MEMORY:
        return None
    if memory.kind == "store":
        return STORE
    coherent = instruction.modifiers.get("glc", 0) or instruction.modifiers.get("scope", 0) >= _DEVICE_SCOPE
    return LOAD if memory.kind == "load" and not coherent else None


def covers_stores(instruction: MachineInstruction, generation: str) -> bool:
    """Whether the instruction waits until all stores of its wave are finished."""
    return any(offsets[0] == L.STORE_WAITS for offsets in waits_for_all(instruction, generation))


def declarations(wave: int) -> str:
    """Declarations of :func:`release_text`, for the kernel's module."""
    return (
        f"declare void @loom.release(ptr, i64, <{wave} x i32>, i{wave}, i32, i32, i32)\n"
        f"declare void @loom.release.wide(ptr, <{wave} x i64>, i{wave}, i32, i32, i32)\n"
        "declare void @loom.release.wait(ptr)\n"
        "declare void @loom.release.acquire(ptr)\n"
    )


def release_text(wave: int, shared: bool) -> str:
    """IR of ``loom.release`` (an access of all lanes; ``kind`` as :func:`watched_kind`), ``.wait`` and ``.acquire``.

    ``shared``: whether the waves of a workgroup share a cache; then wave 0 counts the waits of all.
    """
    counter = (
        (
            f"""{header("stride", L.STATE_SIZE, "i64")}  %number = zext i32 %wave to i64
  %apart = mul i64 %stride, %number
  %back = sub i64 0, %apart
  %owner = getelementptr i8, ptr %st, i64 %back
"""
            if shared
            else "  %owner = getelementptr i8, ptr %st, i64 0\n"
        )
        + f"""  %count.p = getelementptr i8, ptr %owner, i64 {L.COVERED}
  %count = load i32, ptr %count.p
"""
    )
    mine, its = ("0", "0") if shared else ("%wave", "%ow")

    def field(name: str, base: str, offset: int) -> str:
        return f"  %{name}.p = getelementptr i8, ptr %{base}, i64 {offset}\n"

    def loaded(name: str, base: str, offset: int, type_: str = "i32") -> str:
        return field(name, base, offset) + f"  %{name} = load {type_}, ptr %{name}.p\n"

    def slot(name: str, x: str, y: str, z: str, w: str) -> str:
        """The slot of a wave, by a mix of its workgroup and number."""
        return f"""  %{name}.0 = mul i32 {x}, 17
  %{name}.1 = mul i32 {y}, 4099
  %{name}.2 = mul i32 {z}, 1031
  %{name}.3 = add i32 %{name}.0, %{name}.1
  %{name}.4 = add i32 %{name}.2, {w}
  %{name}.5 = add i32 %{name}.3, %{name}.4
  %{name}.6 = and i32 %{name}.5, {_SLOTS - 1}
  %{name}.7 = mul i32 %{name}.6, {_SLOT_BYTES}
  %{name}.8 = add i32 %{name}.7, {_CLOCK_BYTES}
  %{name} = getelementptr i8, ptr %table, i32 %{name}.8
"""

    me = (
        header("table", L.RELEASES, "ptr")
        + header("wave", L.WAVE, "i32")
        + header("x", L.GROUP, "i32")
        + header("y", L.GROUP + 4, "i32")
        + header("z", L.GROUP + 8, "i32")
    )
    tick = "  %clock = load i64, ptr %table\n  %now = add i64 %clock, 1\n  store i64 %now, ptr %table\n"
    return f"""
{walk_text(wave, "loom.release")}{conflict_text()}
define void @loom.release.acquire(ptr %st) {{
{header("table", L.RELEASES, "ptr")}{tick}  %at = getelementptr i8, ptr %st, i64 {L.ACQUIRED}
  store i64 %now, ptr %at
  ret void
}}

define void @loom.release.wait(ptr %st) {{
{me}{counter}  %next = add i32 %count, 1
  store i32 %next, ptr %count.p
{slot("at", "%x", "%y", "%z", mine)}{field("sy", "at", 4)}{field("sz", "at", 8)}{field("sw", "at", 12)}\
{field("sn", "at", 16)}  store i32 %x, ptr %at
  store i32 %y, ptr %sy.p
  store i32 %z, ptr %sz.p
  store i32 {mine}, ptr %sw.p
  store i32 %next, ptr %sn.p
  ret void
}}

define void @loom.release.word(ptr %st, i64 %g, i32 %bytes, i32 %lane, i32 %kind, i32 %site) {{
entry:
{me}{counter}{header("acquired", L.ACQUIRED, "i64")}{tick}\
  %store = icmp eq i32 %kind, {STORE}
  %index0 = lshr i64 %g, 2
  %index = and i64 %index0, {_ENTRIES - 1}
  %offset0 = mul i64 %index, {_ENTRY_BYTES}
  %offset = add i64 %offset0, {_CLOCK_BYTES + _SLOTS * _SLOT_BYTES}
  %at = getelementptr i8, ptr %table, i64 %offset
{loaded("og", "at", 0, "i64")}{loaded("ox", "at", 8)}{loaded("oy", "at", 12)}{loaded("oz", "at", 16)}\
{loaded("ow", "at", 20)}{loaded("ot", "at", 24, "i64")}{loaded("on", "at", 32)}{loaded("ob", "at", 36)}\
{loaded("os", "at", 40)}  br i1 %store, label %write, label %read
write:
  store i64 %g, ptr %at
  store i32 %x, ptr %ox.p
  store i32 %y, ptr %oy.p
  store i32 %z, ptr %oz.p
  store i32 %wave, ptr %ow.p
  store i64 %now, ptr %ot.p
  store i32 %count, ptr %on.p
  store i32 %bytes, ptr %ob.p
  store i32 %site, ptr %os.p
  br label %next
read:
  %same = icmp eq i64 %og, %g
  %x0 = icmp ne i32 %ox, %x
  %y0 = icmp ne i32 %oy, %y
  %z0 = icmp ne i32 %oz, %z
  %xy = or i1 %x0, %y0
  %foreign = or i1 %xy, %z0
  %both = and i32 %ob, %bytes
  %overlap = icmp ne i32 %both, 0
  %later = icmp ugt i64 %acquired, %ot
  %u0 = and i1 %same, %foreign
  %u1 = and i1 %overlap, %later
  %acquires = and i1 %u0, %u1
  br i1 %acquires, label %acquiring, label %next
acquiring:
{slot("slot", "%ox", "%oy", "%oz", its)}{loaded("sx", "slot", 0)}{loaded("sy", "slot", 4)}{loaded("sz", "slot", 8)}\
{loaded("sw", "slot", 12)}{loaded("sn", "slot", 16)}  %never = icmp eq i32 %sn, 0
  %ex = icmp eq i32 %sx, %ox
  %ey = icmp eq i32 %sy, %oy
  %ez = icmp eq i32 %sz, %oz
  %ew = icmp eq i32 %sw, {its}
  %e0 = and i1 %ex, %ey
  %e1 = and i1 %ez, %ew
  %its = and i1 %e0, %e1
  %none = icmp ule i32 %sn, %on
  %uncovered0 = and i1 %its, %none
  %uncovered = or i1 %never, %uncovered0
  br i1 %uncovered, label %bad, label %next
bad:
  call void @conflict(ptr %st, i32 {L.FAULT_UNRELEASED}, i32 %site, i32 %lane, i64 %g, i32 %ow, i32 %os)
  br label %next
next:
  ret void
}}
"""
