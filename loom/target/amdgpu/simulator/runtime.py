"""Run-time functions, as LLVM IR text: fault records, bounds checks, scalar loads, lane permutation, races."""

from __future__ import annotations

from loom.target.amdgpu.simulator import layout as L


def vector(wave: int, element: str = "i32") -> str:
    """``<wave x element>``."""
    return f"<{wave} x {element}>"


def runtime_text(wave: int) -> str:
    """Functions every kernel needs: fault recording, bounds checks, lane permutation, scalar loads."""
    v, m = vector(wave), f"i{wave}"
    permutes = []
    for kind, element in (
        ("i32", "i32"),
        ("f32", "float"),
        ("i16", "i16"),
        ("f16", "half"),
        ("i64", "i64"),
        ("f64", "double"),
    ):
        t = vector(wave, element)
        size = {"i32": 4, "float": 4, "i16": 2, "half": 2, "i64": 8, "double": 8}[element]
        lines = [
            f"define {t} @loom.permute.v{wave}{kind}({t} %value, {v} %index) {{",
            f"  %a = alloca [{wave} x {element}], align 64",
            f"  store {t} %value, ptr %a, align {size}",
        ]
        previous = "poison"
        for i in range(wave):
            lines += [
                f"  %i{i} = extractelement {v} %index, i64 {i}",
                f"  %p{i} = getelementptr {element}, ptr %a, i32 %i{i}",
                f"  %v{i} = load {element}, ptr %p{i}",
                f"  %r{i} = insertelement {t} {previous}, {element} %v{i}, i64 {i}",
            ]
            previous = f"%r{i}"
        lines += [f"  ret {t} {previous}", "}"]
        permutes.append("\n".join(lines))
    return f"""
define void @loom.fault(ptr %st, i32 %kind, i32 %site, i32 %lane, i64 %address, i32 %size) noinline {{
  %kp = getelementptr i8, ptr %st, i64 {L.FAULT_KIND}
  %old = load i32, ptr %kp
  %first = icmp eq i32 %old, 0
  br i1 %first, label %record, label %done
record:
  store i32 %kind, ptr %kp
  %sp = getelementptr i8, ptr %st, i64 {L.FAULT_SITE}
  store i32 %site, ptr %sp
  %lp = getelementptr i8, ptr %st, i64 {L.FAULT_LANE}
  store i32 %lane, ptr %lp
  %zp = getelementptr i8, ptr %st, i64 {L.FAULT_SIZE}
  store i32 %size, ptr %zp
  %ap = getelementptr i8, ptr %st, i64 {L.FAULT_ADDRESS}
  store i64 %address, ptr %ap
  br label %done
done:
  ret void
}}

define i1 @loom.bounds.global(ptr %st, i64 %lo, i64 %hi, i32 %site) {{
entry:
  %hp = getelementptr i8, ptr %st, i64 {L.HINTS}
  %hints = load ptr, ptr %hp
  %h = getelementptr {{i64, i64}}, ptr %hints, i32 %site
  %base = load i64, ptr %h
  %he = getelementptr i8, ptr %h, i64 8
  %end = load i64, ptr %he
  %a = icmp uge i64 %lo, %base
  %b = icmp ule i64 %hi, %end
  %c = icmp ule i64 %lo, %hi
  %ab = and i1 %a, %b
  %ok = and i1 %ab, %c
  br i1 %ok, label %yes, label %search
yes:
  ret i1 true
search:
  %bp = getelementptr i8, ptr %st, i64 {L.BUFFERS}
  %table = load ptr, ptr %bp
  %cp = getelementptr i8, ptr %st, i64 {L.BUFFER_COUNT}
  %count = load i64, ptr %cp
  br label %loop
loop:
  %low = phi i64 [ 0, %search ], [ %low2, %next ]
  %high = phi i64 [ %count, %search ], [ %high2, %next ]
  %more = icmp ult i64 %low, %high
  br i1 %more, label %probe, label %found
probe:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %e = getelementptr {{i64, i64}}, ptr %table, i64 %mid
  %eb = load i64, ptr %e
  %above = icmp ule i64 %eb, %lo
  br label %next
next:
  %mid1 = add i64 %mid, 1
  %low2 = select i1 %above, i64 %mid1, i64 %low
  %high2 = select i1 %above, i64 %high, i64 %mid
  br label %loop
found:
  %none = icmp eq i64 %low, 0
  br i1 %none, label %no, label %test
test:
  %at = sub i64 %low, 1
  %f = getelementptr {{i64, i64}}, ptr %table, i64 %at
  %fb = load i64, ptr %f
  %fep = getelementptr i8, ptr %f, i64 8
  %fe = load i64, ptr %fep
  %in = icmp ule i64 %hi, %fe
  %order = icmp ule i64 %lo, %hi
  %both = and i1 %in, %order
  br i1 %both, label %remember, label %no
remember:
  store i64 %fb, ptr %h
  store i64 %fe, ptr %he
  ret i1 true
no:
  ret i1 false
}}

define i1 @loom.bounds.lds(ptr %st, i64 %lo, i64 %hi, i32 %site) alwaysinline {{
  %bp = getelementptr i8, ptr %st, i64 {L.LDS_BASE}
  %base = load i64, ptr %bp
  %sp = getelementptr i8, ptr %st, i64 {L.LDS_SIZE}
  %size = load i64, ptr %sp
  %end = add i64 %base, %size
  %a = icmp uge i64 %lo, %base
  %b = icmp ule i64 %hi, %end
  %ok = and i1 %a, %b
  ret i1 %ok
}}

define i1 @loom.bounds.scratch(ptr %st, i64 %lo, i64 %hi, i32 %site) alwaysinline {{
  %bp = getelementptr i8, ptr %st, i64 {L.SCRATCH_BASE}
  %base = load i64, ptr %bp
  %sp = getelementptr i8, ptr %st, i64 {L.SCRATCH_SIZE}
  %size = load i64, ptr %sp
  %total = mul i64 %size, {wave}
  %end = add i64 %base, %total
  %a = icmp uge i64 %lo, %base
  %b = icmp ule i64 %hi, %end
  %ok = and i1 %a, %b
  ret i1 %ok
}}

define void @loom.scalar.load(ptr %st, ptr %to, i64 %address, i32 %bytes, i32 %site) {{
  %wide = zext i32 %bytes to i64
  %end = add i64 %address, %wide
  %ok = call i1 @loom.bounds.global(ptr %st, i64 %address, i64 %end, i32 %site)
  br i1 %ok, label %copy, label %bad
copy:
  %from = inttoptr i64 %address to ptr
  br label %loop
loop:
  %i = phi i64 [ 0, %copy ], [ %n, %loop ]
  %fp = getelementptr i8, ptr %from, i64 %i
  %value = load i32, ptr %fp, align 1
  %tp = getelementptr i8, ptr %to, i64 %i
  store i32 %value, ptr %tp
  %n = add i64 %i, 4
  %more = icmp ult i64 %n, %wide
  br i1 %more, label %loop, label %done
bad:
  call void @loom.fault(ptr %st, i32 {L.FAULT_OUT_OF_BOUNDS}, i32 %site, i32 -1, i64 %address, i32 %bytes)
  br label %done
done:
  ret void
}}

define i32 @loom.scalar.load.small(ptr %st, i64 %address, i32 %bytes, i32 %site) {{
  %wide = zext i32 %bytes to i64
  %end = add i64 %address, %wide
  %ok = call i1 @loom.bounds.global(ptr %st, i64 %address, i64 %end, i32 %site)
  br i1 %ok, label %copy, label %bad
copy:
  %from = inttoptr i64 %address to ptr
  %one = icmp eq i32 %bytes, 1
  br i1 %one, label %byte, label %half
byte:
  %b = load i8, ptr %from
  %be = zext i8 %b to i32
  ret i32 %be
half:
  %h = load i16, ptr %from, align 1
  %hx = zext i16 %h to i32
  ret i32 %hx
bad:
  call void @loom.fault(ptr %st, i32 {L.FAULT_OUT_OF_BOUNDS}, i32 %site, i32 -1, i64 %address, i32 %bytes)
  ret i32 0
}}

define void @loom.count(ptr %st, {m} %mask, i32 %site) alwaysinline {{
  %lp = getelementptr i8, ptr %st, i64 {L.LANES}
  %lanes = load ptr, ptr %lp
  %p = getelementptr i64, ptr %lanes, i32 %site
  %old = load i64, ptr %p
  %pop = call {m} @llvm.ctpop.{m}({m} %mask)
  %wide = {f"zext {m} %pop to i64" if wave == 32 else "add i64 %pop, 0"}
  %new = add i64 %old, %wide
  store i64 %new, ptr %p
  ret void
}}
declare {m} @llvm.ctpop.{m}({m})

define void @loom.resource.check(ptr %st, i32 %asked, i32 %site) {{
  %fine = icmp eq i32 %asked, 0
  br i1 %fine, label %done, label %report
report:
  call void @loom.fault(ptr %st, i32 {L.FAULT_RESOURCE}, i32 %site, i32 -1, i64 0, i32 0)
  br label %done
done:
  ret void
}}

define void @loom.scratch.check(ptr %st, {m} %bad, {v} %offset, i32 %site, i32 %bytes) {{
  %none = icmp eq {m} %bad, 0
  br i1 %none, label %done, label %report
report:
  %lane = call {m} @llvm.cttz.{m}({m} %bad, i1 true)
  %lane32 = {"add i32 %lane, 0" if wave == 32 else "trunc i64 %lane to i32"}
  %o = extractelement {v} %offset, {m} %lane
  %o64 = zext i32 %o to i64
  call void @loom.fault(ptr %st, i32 {L.FAULT_SCRATCH}, i32 %site, i32 %lane32, i64 %o64, i32 %bytes)
  br label %done
done:
  ret void
}}
declare {m} @llvm.cttz.{m}({m}, i1)

; Race sanitizer. Each LDS byte has 64 bits: the waves that read it (31:0), the wave that wrote it plus one,
; or 255 for atomics (39:32), and the number of barriers passed (63:40). Conflicting accesses of two waves
; between two barriers are a race.
define void @loom.race(ptr %st, i64 %base, {v} %off, {m} %mask, i32 %size, i32 %kind, i32 %site) {{
entry:
  %none = icmp eq {m} %mask, 0
  br i1 %none, label %done, label %begin
begin:
  %shp = getelementptr i8, ptr %st, i64 {L.SHADOW}
  %shadow = load ptr, ptr %shp
  %bp = getelementptr i8, ptr %st, i64 {L.LDS_BASE}
  %lds = load i64, ptr %bp
  %zp = getelementptr i8, ptr %st, i64 {L.LDS_SIZE}
  %limit = load i64, ptr %zp
  %ep = getelementptr i8, ptr %st, i64 {L.EPOCH}
  %epoch = load i64, ptr %ep
  %wp = getelementptr i8, ptr %st, i64 {L.WAVE}
  %wave = load i32, ptr %wp
  %wave64 = zext i32 %wave to i64
  %me = shl i64 1, %wave64
  %writer = add i64 %wave64, 1
  %atomic = icmp eq i32 %kind, 2
  %store = icmp eq i32 %kind, 1
  %code = select i1 %atomic, i64 255, i64 %writer
  %size64 = zext i32 %size to i64
  br label %lane
lane:
  %left = phi {m} [ %mask, %begin ], [ %rest, %nextlane ]
  %l = call {m} @llvm.cttz.{m}({m} %left, i1 true)
  %o = extractelement {v} %off, {m} %l
  %o64 = zext i32 %o to i64
  %a = add i64 %base, %o64
  %r = sub i64 %a, %lds
  %rend = add i64 %r, %size64
  %inside = icmp ule i64 %rend, %limit
  br i1 %inside, label %byte, label %nextlane
byte:
  %k = phi i64 [ 0, %lane ], [ %kn, %good ]
  %at = add i64 %r, %k
  %p = getelementptr i64, ptr %shadow, i64 %at
  %old = load i64, ptr %p
  %oldepoch = lshr i64 %old, 40
  %same = icmp eq i64 %oldepoch, %epoch
  %e = select i1 %same, i64 %old, i64 0
  %readers = and i64 %e, 4294967295
  %ws = lshr i64 %e, 32
  %w = and i64 %ws, 255
  %notme = xor i64 %me, -1
  %others = and i64 %readers, %notme
  %otherread = icmp ne i64 %others, 0
  %written = icmp ne i64 %w, 0
  %bycode = icmp eq i64 %w, %code
  %byme = icmp eq i64 %w, %writer
  %mine = or i1 %bycode, %byme
  %notmine = xor i1 %mine, true
  %otherwrote = and i1 %written, %notmine
  %writes = or i1 %store, %atomic
  %readconflict = and i1 %writes, %otherread
  %conflict = or i1 %otherwrote, %readconflict
  br i1 %conflict, label %bad, label %good
bad:
  %l32 = {"add i32 %l, 0" if wave == 32 else "trunc i64 %l to i32"}
  call void @loom.fault(ptr %st, i32 {L.FAULT_RACE}, i32 %site, i32 %l32, i64 %at, i32 %size)
  br label %done
good:
  %addreader = select i1 %writes, i64 0, i64 %me
  %newreaders = or i64 %readers, %addreader
  %neww = select i1 %writes, i64 %code, i64 %w
  %nw = shl i64 %neww, 32
  %ne = shl i64 %epoch, 40
  %n0 = or i64 %newreaders, %nw
  %n1 = or i64 %n0, %ne
  store i64 %n1, ptr %p
  %kn = add i64 %k, 1
  %bytes = icmp ult i64 %kn, %size64
  br i1 %bytes, label %byte, label %nextlane
nextlane:
  %less = sub {m} %left, 1
  %rest = and {m} %left, %less
  %more = icmp ne {m} %rest, 0
  br i1 %more, label %lane, label %done
done:
  ret void
}}
""" + "\n".join(permutes)


def runtime_declarations(wave: int) -> str:
    """Declarations of :func:`runtime_text`, for other modules."""
    return f"""
declare void @loom.fault(ptr, i32, i32, i32, i64, i32)
declare i1 @loom.bounds.global(ptr, i64, i64, i32)
declare i1 @loom.bounds.lds(ptr, i64, i64, i32)
declare i1 @loom.bounds.scratch(ptr, i64, i64, i32)
declare void @loom.count(ptr, i{wave}, i32)
declare void @loom.race(ptr, i64, <{wave} x i32>, i{wave}, i32, i32, i32)
"""
