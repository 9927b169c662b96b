"""The scheduler as LLVM IR text: starts the waves of a workgroup, lets them meet at barriers, stops at the first fault.

``loom.run(launch, begin, end)`` runs the workgroups with linear numbers begin … end - 1 one after the other, or goes on
with one that was put aside. In a workgroup, waves run in order of their numbers until a barrier, their end, or the end
of a time slice; a barrier opens when every wave that has not ended waits at it, or (gfx12) has signalled that it will.
So the order of atomics is fixed within a thread: by workgroup, then by wave, then by lane.

A workgroup may wait for another one to write memory. At the end of each time slice a fingerprint is taken of the
registers of its waves and of the counters that rise when memory changes; when an earlier one comes back (Brent's
algorithm: it is compared with one kept one, replaced after 1, 2, 4, … passes), or when several slices have passed, the
workgroup is put aside with all its state, so that others can run (:mod:`loom.target.amdgpu.simulator.turns`).
"""

from __future__ import annotations

from loom.target.amdgpu.simulator import layout as L

SHORT_SLICE = 1 << 16
"""Instructions of the first time slice of a workgroup that goes on, and of the second one otherwise."""


def scheduler_text() -> str:
    """IR of ``loom.run``."""
    return f"""
declare i32 @loom.dispatch(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)

define void @loom.fill(ptr %from, ptr %to, i32 %word) {{
entry:
  %some = icmp ult ptr %from, %to
  br i1 %some, label %head, label %done
head:
  %i0 = insertelement <16 x i32> poison, i32 %word, i64 0
  %pattern = shufflevector <16 x i32> %i0, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %loop
loop:
  %p = phi ptr [ %from, %head ], [ %n, %loop ]
  store <16 x i32> %pattern, ptr %p, align 4
  %n = getelementptr i8, ptr %p, i64 64
  %more = icmp ult ptr %n, %to
  br i1 %more, label %loop, label %done
done:
  ret void
}}

define void @loom.put(ptr %st, i32 %register, i32 %value) {{
  %none = icmp slt i32 %register, 0
  br i1 %none, label %done, label %write
write:
  %base = getelementptr i8, ptr %st, i64 {L.SGPRS}
  %p = getelementptr i32, ptr %base, i32 %register
  store i32 %value, ptr %p
  br label %done
done:
  ret void
}}

define void @loom.start(ptr %launch, ptr %st, i32 %wave, i32 %x, i32 %y, i32 %z) {{
  %tp = getelementptr i8, ptr %launch, i64 {L.L_TEMPLATE}
  %template = load ptr, ptr %tp
  call void @llvm.memcpy.p0.p0.i64(ptr %st, ptr %template, i64 {L.VGPRS}, i1 false)
  %wp = getelementptr i8, ptr %st, i64 {L.WAVE}
  store i32 %wave, ptr %wp
  %g0 = getelementptr i8, ptr %st, i64 {L.GROUP}
  store i32 %x, ptr %g0
  %g1 = getelementptr i8, ptr %st, i64 {L.GROUP + 4}
  store i32 %y, ptr %g1
  %g2 = getelementptr i8, ptr %st, i64 {L.GROUP + 8}
  store i32 %z, ptr %g2
  %wave64 = zext i32 %wave to i64
  ; EXEC
  %ep = getelementptr i8, ptr %launch, i64 {L.L_EXECS}
  %execs = load ptr, ptr %ep
  %e = getelementptr i64, ptr %execs, i64 %wave64
  %exec = load i64, ptr %e
  %xp = getelementptr i8, ptr %st, i64 {L.SGPRS + 4 * L.EXEC}
  store i64 %exec, ptr %xp
  ; scratch
  %cp = getelementptr i8, ptr %launch, i64 {L.L_SCRATCH}
  %scratch = load i64, ptr %cp
  %cwp = getelementptr i8, ptr %launch, i64 {L.L_SCRATCH_WAVE}
  %cw = load i64, ptr %cwp
  %co = mul i64 %cw, %wave64
  %mine = add i64 %scratch, %co
  %sbp = getelementptr i8, ptr %st, i64 {L.SCRATCH_BASE}
  store i64 %mine, ptr %sbp
  %sfrom = inttoptr i64 %mine to ptr
  %sto = getelementptr i8, ptr %sfrom, i64 %cw
  call void @loom.fill(ptr %sfrom, ptr %sto, i32 {L.POISON_WORD - (1 << 32)})
  ; workgroup ids
  %xr = getelementptr i8, ptr %launch, i64 {L.L_GROUP_X}
  %xi = load i32, ptr %xr
  call void @loom.put(ptr %st, i32 %xi, i32 %x)
  %kr = getelementptr i8, ptr %launch, i64 {L.L_PACKED_YZ}
  %packed = load i32, ptr %kr
  %ispacked = icmp ne i32 %packed, 0
  %zs = shl i32 %z, 16
  %yz = or i32 %y, %zs
  %yv = select i1 %ispacked, i32 %yz, i32 %y
  %yr = getelementptr i8, ptr %launch, i64 {L.L_GROUP_Y}
  %yi = load i32, ptr %yr
  call void @loom.put(ptr %st, i32 %yi, i32 %yv)
  %zr = getelementptr i8, ptr %launch, i64 {L.L_GROUP_Z}
  %zi = load i32, ptr %zr
  call void @loom.put(ptr %st, i32 %zi, i32 %z)
  %wr = getelementptr i8, ptr %launch, i64 {L.L_WAVE_ID_REGISTER}
  %wi = load i32, ptr %wr
  %wsh = shl i32 %wave, 25
  call void @loom.put(ptr %st, i32 %wi, i32 %wsh)
  ; vector registers: work-item ids, then poison
  %ip = getelementptr i8, ptr %launch, i64 {L.L_LANE_IDS}
  %ids = load ptr, ptr %ip
  %bp = getelementptr i8, ptr %launch, i64 {L.L_LANE_ID_BYTES}
  %bytes = load i64, ptr %bp
  %io = mul i64 %bytes, %wave64
  %from = getelementptr i8, ptr %ids, i64 %io
  %vgprs = getelementptr i8, ptr %st, i64 {L.VGPRS}
  call void @llvm.memcpy.p0.p0.i64(ptr %vgprs, ptr %from, i64 %bytes, i1 false)
  %pf = getelementptr i8, ptr %vgprs, i64 %bytes
  %pep = getelementptr i8, ptr %launch, i64 {L.L_POISON_END}
  %pe = load i64, ptr %pep
  %pt = getelementptr i8, ptr %st, i64 %pe
  call void @loom.fill(ptr %pf, ptr %pt, i32 {L.POISON_WORD - (1 << 32)})
  ret void
}}

define i64 @loom.mix(i64 %h, i64 %v) alwaysinline {{
  %x = xor i64 %h, %v
  %m = mul i64 %x, -7046029254386353131
  %r = call i64 @llvm.fshl.i64(i64 %m, i64 %m, i64 29)
  ret i64 %r
}}
declare i64 @llvm.fshl.i64(i64, i64, i64)

define i32 @loom.spins(ptr %launch, ptr %states, i64 %ss, i32 %nw) {{
entry:
  %lp = getelementptr i8, ptr %launch, i64 {L.L_PROGRESS}
  %list = load ptr, ptr %lp
  %np = getelementptr i8, ptr %launch, i64 {L.L_PROGRESS_COUNT}
  %n = load i64, ptr %np
  br label %waves
waves:
  %w = phi i32 [ 0, %entry ], [ %wn, %wavedone ]
  %hw = phi i64 [ 1, %entry ], [ %hd, %wavedone ]
  %wmore = icmp ult i32 %w, %nw
  br i1 %wmore, label %wave, label %counters
wave:
  %w64 = zext i32 %w to i64
  %o = mul i64 %w64, %ss
  %st = getelementptr i8, ptr %states, i64 %o
  %resume = load i32, ptr %st
  %statusp = getelementptr i8, ptr %st, i64 {L.STATUS}
  %status = load i32, ptr %statusp
  %sccp = getelementptr i8, ptr %st, i64 {L.SCC}
  %scc = load i32, ptr %sccp
  %sgp = getelementptr i8, ptr %st, i64 {L.SIGNALLED}
  %sg = load i32, ptr %sgp
  %r64 = zext i32 %resume to i64
  %s64 = zext i32 %status to i64
  %c64 = zext i32 %scc to i64
  %g64 = zext i32 %sg to i64
  %h3 = call i64 @loom.mix(i64 %hw, i64 %r64)
  %h4 = call i64 @loom.mix(i64 %h3, i64 %s64)
  %h5 = call i64 @loom.mix(i64 %h4, i64 %c64)
  %h6 = call i64 @loom.mix(i64 %h5, i64 %g64)
  %lives = icmp ne i32 %status, {L.ENDED}
  br i1 %lives, label %words, label %wavedone
words:
  %k = phi i64 [ {L.SGPRS}, %wave ], [ %kn, %words ]
  %hk = phi i64 [ %h6, %wave ], [ %hkn, %words ]
  %kp = getelementptr i8, ptr %st, i64 %k
  %kv = load i64, ptr %kp
  %hkn = call i64 @loom.mix(i64 %hk, i64 %kv)
  %kn = add i64 %k, 8
  %kmore = icmp ult i64 %kn, %ss
  br i1 %kmore, label %words, label %wavedone
wavedone:
  %hd = phi i64 [ %h6, %wave ], [ %hkn, %words ]
  %wn = add i32 %w, 1
  br label %waves
counters:
  %i = phi i64 [ 0, %waves ], [ %i2, %counter ]
  %h = phi i64 [ %hw, %waves ], [ %h2, %counter ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %counter, label %compare
counter:
  %ap = getelementptr ptr, ptr %list, i64 %i
  %a = load ptr, ptr %ap
  %v = load i64, ptr %a
  %h2 = call i64 @loom.mix(i64 %h, i64 %v)
  %i2 = add i64 %i, 1
  br label %counters
compare:
  %sp = getelementptr i8, ptr %launch, i64 {L.L_SEEN}
  %seen = load i64, ptr %sp
  %srp = getelementptr i8, ptr %launch, i64 {L.L_SEEN_REGISTERS}
  %seenr = load i64, ptr %srp
  %agep = getelementptr i8, ptr %launch, i64 {L.L_SEEN_AGE}
  %age = load i64, ptr %agep
  %limitp = getelementptr i8, ptr %launch, i64 {L.L_SEEN_LIMIT}
  %limit = load i64, ptr %limitp
  %same = icmp eq i64 %seen, %h
  br i1 %same, label %stalled, label %changed
stalled:
  ret i32 {L.STALLED}
changed:
  %samer = icmp eq i64 %seenr, %hw
  br i1 %samer, label %polls, label %computes
polls:
  ret i32 {L.POLLS}
computes:
  %older = add i64 %age, 1
  %old = icmp uge i64 %older, %limit
  %twice = shl i64 %limit, 1
  %nage = select i1 %old, i64 0, i64 %older
  %nlimit = select i1 %old, i64 %twice, i64 %limit
  %nseen = select i1 %old, i64 %h, i64 %seen
  %nseenr = select i1 %old, i64 %hw, i64 %seenr
  store i64 %nseen, ptr %sp
  store i64 %nseenr, ptr %srp
  store i64 %nage, ptr %agep
  store i64 %nlimit, ptr %limitp
  ret i32 {L.COMPUTES}
}}

define void @loom.forget(ptr %launch) {{
  %seenp = getelementptr i8, ptr %launch, i64 {L.L_SEEN}
  store i64 0, ptr %seenp
  %seenrp = getelementptr i8, ptr %launch, i64 {L.L_SEEN_REGISTERS}
  store i64 0, ptr %seenrp
  %seenagep = getelementptr i8, ptr %launch, i64 {L.L_SEEN_AGE}
  store i64 0, ptr %seenagep
  %seenlimitp = getelementptr i8, ptr %launch, i64 {L.L_SEEN_LIMIT}
  store i64 1, ptr %seenlimitp
  ret void
}}

define i32 @loom.run(ptr %launch, i64 %begin, i64 %end) {{
entry:
  %nwp = getelementptr i8, ptr %launch, i64 {L.L_WAVES}
  %nw = load i32, ptr %nwp
  %ssp = getelementptr i8, ptr %launch, i64 {L.L_STATE_SIZE}
  %ss = load i64, ptr %ssp
  %stp = getelementptr i8, ptr %launch, i64 {L.L_STATES}
  %states = load ptr, ptr %stp
  %gxp = getelementptr i8, ptr %launch, i64 {L.L_GROUPS}
  %gx = load i32, ptr %gxp
  %gyp = getelementptr i8, ptr %launch, i64 {L.L_GROUPS + 4}
  %gy = load i32, ptr %gyp
  %ldsp = getelementptr i8, ptr %launch, i64 {L.L_LDS}
  %lds = load ptr, ptr %ldsp
  %ldssp = getelementptr i8, ptr %launch, i64 {L.L_LDS_SIZE}
  %ldssize = load i64, ptr %ldssp
  %ldsend = getelementptr i8, ptr %lds, i64 %ldssize
  %gx64 = zext i32 %gx to i64
  %gy64 = zext i32 %gy to i64
  %longestp = getelementptr i8, ptr %launch, i64 {L.L_SLICE}
  %longest = load i64, ptr %longestp
  %shortest = call i64 @llvm.umin.i64(i64 %longest, i64 {SHORT_SLICE})
  %slicep = getelementptr i8, ptr %launch, i64 {L.L_NEXT_SLICE}
  %firstp = getelementptr i8, ptr %launch, i64 {L.L_FIRST_SLICE}
  %currentp = getelementptr i8, ptr %launch, i64 {L.L_CURRENT}
  %barriersp = getelementptr i8, ptr %launch, i64 {L.L_BARRIERS}
  %limitp = getelementptr i8, ptr %launch, i64 {L.L_LIMIT}
  %limit = load i64, ptr %limitp
  %usedp = getelementptr i8, ptr %launch, i64 {L.L_EXECUTED}
  %used = load ptr, ptr %usedp
  %current = load i64, ptr %currentp
  %goeson = icmp ne i64 %current, {L.NO_GROUP}
  br i1 %goeson, label %resume, label %group
resume:
  call void @loom.forget(ptr %launch)
  store i64 %shortest, ptr %slicep
  %passed = load i64, ptr %barriersp
  br label %pass
group:
  %gs = phi i64 [ %begin, %entry ], [ %gn, %groupend ]
  %gmore = icmp ult i64 %gs, %end
  br i1 %gmore, label %groupstart, label %finished
finished:
  ret i32 {L.RUN_COMPLETED}
groupstart:
  store i64 %gs, ptr %currentp
  store i64 %longest, ptr %slicep
  store i32 1, ptr %firstp
  call void @loom.fill(ptr %lds, ptr %ldsend, i32 {L.POISON_WORD - (1 << 32)})
  %shp = getelementptr i8, ptr %launch, i64 {L.L_SHADOW}
  %shadow = load ptr, ptr %shp
  %shsp = getelementptr i8, ptr %launch, i64 {L.L_SHADOW_SIZE}
  %shsize = load i64, ptr %shsp
  %shend = getelementptr i8, ptr %shadow, i64 %shsize
  call void @loom.fill(ptr %shadow, ptr %shend, i32 0)
  call void @loom.forget(ptr %launch)
  br label %pass
pass:
  ; one pass over all waves; the first pass also starts them
  %firstpass = phi i1 [ true, %groupstart ], [ false, %again ], [ false, %open ], [ false, %resume ]
  %epoch = phi i64 [ 0, %groupstart ], [ %epoch, %again ], [ %epochn, %open ], [ %passed, %resume ]
  %slice = load i64, ptr %slicep
  %g = load i64, ptr %currentp
  br label %wave
wave:
  %w = phi i32 [ 0, %pass ], [ %wn, %waveend ]
  %running = phi i32 [ 0, %pass ], [ %running2, %waveend ]
  %waiting = phi i32 [ 0, %pass ], [ %waiting2, %waveend ]
  %w64 = zext i32 %w to i64
  %so = mul i64 %ss, %w64
  %st = getelementptr i8, ptr %states, i64 %so
  %statusp = getelementptr i8, ptr %st, i64 {L.STATUS}
  %budgetp = getelementptr i8, ptr %st, i64 {L.BUDGET}
  %up = getelementptr i64, ptr %used, i64 %w64
  br i1 %firstpass, label %init, label %look
init:
  %x = urem i64 %g, %gx64
  %q = udiv i64 %g, %gx64
  %y = urem i64 %q, %gy64
  %z = udiv i64 %q, %gy64
  %x32 = trunc i64 %x to i32
  %y32 = trunc i64 %y to i32
  %z32 = trunc i64 %z to i32
  call void @loom.start(ptr %launch, ptr %st, i32 %w, i32 %x32, i32 %y32, i32 %z32)
  store i64 0, ptr %up
  br label %execute
look:
  %status = load i32, ptr %statusp
  %isrunning = icmp eq i32 %status, {L.RUNNING}
  br i1 %isrunning, label %execute, label %waveend
execute:
  store i64 %slice, ptr %budgetp
  %ep = getelementptr i8, ptr %st, i64 {L.EPOCH}
  store i64 %epoch, ptr %ep
  %rc = call i32 @loom.dispatch(ptr %st)
  store i32 %rc, ptr %statusp
  %isfault = icmp eq i32 %rc, {L.FAULTED}
  br i1 %isfault, label %fault, label %account
account:
  %left = load i64, ptr %budgetp
  %spent = sub i64 %slice, %left
  %sofar = load i64, ptr %up
  %total = add i64 %sofar, %spent
  store i64 %total, ptr %up
  %over = icmp ugt i64 %total, %limit
  %still = icmp eq i32 %rc, {L.RUNNING}
  %exceeded = and i1 %over, %still
  br i1 %exceeded, label %budget, label %waveend
waveend:
  %rcw = phi i32 [ %status, %look ], [ %rc, %account ]
  %r = icmp eq i32 %rcw, {L.RUNNING}
  %rz = zext i1 %r to i32
  %running2 = add i32 %running, %rz
  %b = icmp eq i32 %rcw, {L.AT_BARRIER}
  %bz = zext i1 %b to i32
  %waiting2 = add i32 %waiting, %bz
  %wn = add i32 %w, 1
  %wmore = icmp ult i32 %wn, %nw
  br i1 %wmore, label %wave, label %passend
passend:
  %anyrunning = icmp ne i32 %running2, 0
  br i1 %anyrunning, label %nextpass, label %barrier
nextpass:
  ; some waves used up their time slice: the barrier opens still where all of them have signalled (gfx12)
  %blocked = icmp ne i32 %waiting2, 0
  br i1 %blocked, label %sloop, label %watch
sloop:
  %sw = phi i64 [ 0, %nextpass ], [ %swn, %snext ]
  %swo = mul i64 %ss, %sw
  %swst = getelementptr i8, ptr %states, i64 %swo
  %swsp = getelementptr i8, ptr %swst, i64 {L.STATUS}
  %sws = load i32, ptr %swsp
  %swr = icmp eq i32 %sws, {L.RUNNING}
  %swgp = getelementptr i8, ptr %swst, i64 {L.SIGNALLED}
  %swg = load i32, ptr %swgp
  %swn0 = icmp ne i32 %swg, {L.SIGNALLED_IT}
  %swbad = and i1 %swr, %swn0
  br i1 %swbad, label %watch, label %snext
snext:
  %swn = add i64 %sw, 1
  %nws = zext i32 %nw to i64
  %swmore = icmp ult i64 %swn, %nws
  br i1 %swmore, label %sloop, label %release
watch:
  %spins = call i32 @loom.spins(ptr %launch, ptr %states, i64 %ss, i32 %nw)
  %computes = icmp eq i32 %spins, {L.COMPUTES}
  br i1 %computes, label %lengthen, label %aside
lengthen:
  ; short slices behind the first one, so that a loop that waits is soon found, then longer ones
  %isfirst = load i32, ptr %firstp
  %first = icmp ne i32 %isfirst, 0
  %full = icmp uge i64 %slice, %longest
  %notfirst = xor i1 %first, true
  %enough = and i1 %full, %notfirst
  br i1 %enough, label %aside, label %again
again:
  store i32 0, ptr %firstp
  %double = shl i64 %slice, 1
  %longer = call i64 @llvm.umin.i64(i64 %double, i64 %longest)
  %nextslice = select i1 %first, i64 %shortest, i64 %longer
  store i64 %nextslice, ptr %slicep
  br label %pass
aside:
  %outp = getelementptr i8, ptr %launch, i64 {L.L_SPINS}
  store i32 %spins, ptr %outp
  store i64 %epoch, ptr %barriersp
  store i32 0, ptr %firstp
  ret i32 {L.RUN_PUT_ASIDE}
barrier:
  %anywaiting = icmp ne i32 %waiting2, 0
  br i1 %anywaiting, label %release, label %groupend
release:
  br label %rloop
rloop:
  %rw = phi i64 [ 0, %release ], [ %rwn, %rnext ]
  %ro = mul i64 %ss, %rw
  %rst = getelementptr i8, ptr %states, i64 %ro
  %rsp = getelementptr i8, ptr %rst, i64 {L.STATUS}
  %rs = load i32, ptr %rsp
  %rb = icmp eq i32 %rs, {L.AT_BARRIER}
  br i1 %rb, label %rset, label %rpass
rpass:
  ; a wave that runs here has signalled: it will not stop at the wait
  %rr = icmp eq i32 %rs, {L.RUNNING}
  br i1 %rr, label %rmark, label %rnext
rmark:
  %rmp = getelementptr i8, ptr %rst, i64 {L.SIGNALLED}
  store i32 {L.OPEN_ALREADY}, ptr %rmp
  br label %rnext
rset:
  store i32 {L.RUNNING}, ptr %rsp
  br label %rnext
rnext:
  %rwn = add i64 %rw, 1
  %nw64 = zext i32 %nw to i64
  %rmore = icmp ult i64 %rwn, %nw64
  br i1 %rmore, label %rloop, label %open
open:
  %epochn = add i64 %epoch, 1
  br label %pass
groupend:
  %gn = add i64 %g, 1
  store i64 {L.NO_GROUP}, ptr %currentp
  br label %group
fault:
  %fwp = getelementptr i8, ptr %launch, i64 {L.L_FAULT_WAVE}
  store i32 %w, ptr %fwp
  %fgp = getelementptr i8, ptr %launch, i64 {L.L_FAULT_GROUP}
  %g32 = trunc i64 %g to i32
  store i32 %g32, ptr %fgp
  ret i32 {L.RUN_FAULTED}
budget:
  %bwp = getelementptr i8, ptr %launch, i64 {L.L_FAULT_WAVE}
  store i32 %w, ptr %bwp
  %bgp = getelementptr i8, ptr %launch, i64 {L.L_FAULT_GROUP}
  %bg32 = trunc i64 %g to i32
  store i32 %bg32, ptr %bgp
  ret i32 {L.RUN_OVER_BUDGET}
}}
"""


def dispatch_text(total: int) -> str:
    """IR of a kernel module's entry points: ``loom.dispatch`` resumes a wave, ``loom.jump`` goes to an address."""
    return f"""
define i32 @loom.dispatch(ptr %st) {{
  %rp = getelementptr i8, ptr %st, i64 {L.RESUME}
  %resume = load i32, ptr %rp
  %p = getelementptr [{total} x ptr], ptr @loom.chunks, i64 0, i32 %resume
  %f = load ptr, ptr %p
  %r = call i32 %f(ptr %st, i32 %resume)
  ret i32 %r
}}

define i32 @loom.jump(ptr noalias %st, i32 %site) {{
  %tp = getelementptr i8, ptr %st, i64 {L.SAVED_MODE}
  %target = load i64, ptr %tp
  %bp = getelementptr i8, ptr %st, i64 {L.CODE_BASE}
  %base = load i64, ptr %bp
  %off = sub i64 %target, %base
  %sp = getelementptr i8, ptr %st, i64 {L.CODE_SIZE}
  %size = load i64, ptr %sp
  %in = icmp ult i64 %off, %size
  %low = and i64 %off, 3
  %al = icmp eq i64 %low, 0
  %ok = and i1 %in, %al
  br i1 %ok, label %look, label %bad
look:
  %ep = getelementptr i8, ptr %st, i64 {L.ENTRY_TABLE}
  %table = load ptr, ptr %ep
  %index = lshr i64 %off, 2
  %e = getelementptr i32, ptr %table, i64 %index
  %block = load i32, ptr %e
  %known = icmp sge i32 %block, 0
  br i1 %known, label %pay, label %bad
pay:
  ; an indirect jump pays for a whole chunk: calls have no backward branch of their own
  %gp = getelementptr i8, ptr %st, i64 {L.BUDGET}
  %left = load i64, ptr %gp
  %rest = sub i64 %left, 16
  store i64 %rest, ptr %gp
  %spent = icmp slt i64 %rest, 0
  br i1 %spent, label %stop, label %go
stop:
  %rp = getelementptr i8, ptr %st, i64 {L.RESUME}
  store i32 %block, ptr %rp
  ret i32 {L.RUNNING}
go:
  %p = getelementptr [{total} x ptr], ptr @loom.chunks, i64 0, i32 %block
  %f = load ptr, ptr %p
  %r = musttail call i32 %f(ptr noalias %st, i32 %block)
  ret i32 %r
bad:
  call void @loom.fault(ptr %st, i32 {L.FAULT_BAD_PC}, i32 %site, i32 -1, i64 %target, i32 4)
  ret i32 {L.FAULTED}
}}

attributes #0 = {{ "prefer-vector-width"="512" nounwind }}
!0 = !{{!"branch_weights", i32 1, i32 100000}}
!1 = !{{!"branch_weights", i32 100000, i32 1}}
"""
