"""Where things lie in the simulator's memory: the state block of a wave, the context of a thread, the launch block.

A wave's registers live in its state block; compiled code caches them as SSA values inside a basic block only. Offsets
are bytes.
"""

from __future__ import annotations

# State block of a wave.
RESUME = 0  # i32: block number where the wave continues
STATUS = 4  # i32: see RUNNING and its successors
SCC = 8  # i32: 0 or 1
WAVE = 12  # i32: number of the wave in its workgroup
LDS_BASE = 16  # i64: host address of the workgroup's LDS
LDS_SIZE = 24  # i64: its bytes
SCRATCH_BASE = 32  # i64: host address of the wave's scratch
SCRATCH_SIZE = 40  # i64: scratch bytes of one lane
CODE_BASE = 48  # i64: address of the text section in device memory
BUDGET = 56  # i64: instructions the wave may still execute in its time slice
FAULT_KIND = 64  # i32: 0 while there is none
FAULT_SITE = 68  # i32: number of the instruction
FAULT_LANE = 72  # i32
FAULT_SIZE = 76  # i32: bytes of the access
FAULT_ADDRESS = 80  # i64
HINTS = 88  # ptr: last buffer found, {i64 base, i64 end} for each memory instruction
COUNTS = 96  # ptr: i64 for each block: times entered
LANES = 104  # ptr: i64 for each memory instruction: active lanes summed up
BUFFERS = 112  # ptr: sorted {i64 base, i64 end}
BUFFER_COUNT = 120  # i64
SHADOW = 128  # ptr: LDS shadow of the race sanitizer, or null
EPOCH = 136  # i64: barriers passed by the workgroup
GROUP = 160  # 3 x i32: workgroup id
ENTRY_TABLE = 176  # ptr: block number for each four bytes of code, -1 where none starts
CODE_SIZE = 184  # i64
SAVED_MODE = 192
STORE_WAITS = 200  # i32: waits for all stores that the wave has executed (publication)
STORE_WAITS_BEFORE = 204  # i32: of these, before the epoch of the last one
STORE_WAITS_EPOCH = 208  # i64: epoch of the last one
WATCHED = 216  # ptr: table of accesses that may still be under way at a barrier (publication)
STATE_SIZE = 224  # i64: bytes from one wave's state block to the next
FAULT_OTHER_WAVE = 232  # i32: the wave whose access may still be under way
FAULT_OTHER_SITE = 236  # i32: number of that access
SIGNALLED = 240  # i32: see NOT_SIGNALLED and its successors
LDS_WAITS = 244  # i32: the same as STORE_WAITS for waits for all LDS accesses
LDS_WAITS_BEFORE = 248  # i32
LDS_WAITS_EPOCH = 256  # i64
FIRST_SIGNAL = 264  # i64, in wave 0: number of the last barrier that somebody signalled, plus one (gfx12)
RELEASES = 272  # ptr: table of stores that another workgroup might acquire too early (release)
ACQUIRED = 280  # i64: when the wave last acquired what other workgroups released, by the table's clock
COVERED = 288  # i32: waits for all stores that the wave, or in wave 0 the workgroup, has executed (release)
SGPRS = 512  # 128 x i32
VGPRS = 1024  # registers x wave x i32, then accumulation registers

VCC = 106
TTMP = 108
M0 = 125
EXEC = 126
FLAT_SCRATCH = 102
XNACK_MASK = 104

# Values of STATUS, which compiled code also returns.
RUNNING = 0  # time slice used up
AT_BARRIER = 1
ENDED = 2
FAULTED = 3

# Values of SIGNALLED: what the wave did for the barrier that it will wait at (gfx12).
NOT_SIGNALLED = 0
SIGNALLED_IT = 1
OPEN_ALREADY = 2  # the others came, too, while the wave was on its way to the wait

# Fault kinds that are found while code runs; the static ones are numbered from STATIC_FAULT.
FAULT_OUT_OF_BOUNDS = 1
FAULT_LDS = 2
FAULT_SCRATCH = 3
FAULT_MISALIGNED = 4
FAULT_BAD_PC = 5
FAULT_RACE = 6
FAULT_REGISTER = 7
FAULT_FORMAT = 8
FAULT_RESOURCE = 9
FAULT_UNCOVERED = 10
FAULT_UNRELEASED = 11
STATIC_FAULT = 16

# Launch block, read by the scheduler.
L_GROUPS = 0  # 3 x i32: workgroup counts
L_WAVES = 12  # i32: waves of a workgroup
L_STATE_SIZE = 16  # i64
L_STATES = 24  # ptr: state blocks of one workgroup
L_TEMPLATE = 32  # ptr: state header and scalar registers, copied into each wave
L_LANE_IDS = 40  # ptr: for each wave the first vector registers
L_LANE_ID_BYTES = 48  # i64: bytes of these for a wave
L_EXECS = 56  # ptr: i64 for each wave: initial EXEC
L_LDS = 64  # ptr
L_LDS_SIZE = 72  # i64
L_GROUP_X = 80  # i32: scalar register that takes the workgroup id x, or -1
L_GROUP_Y = 84
L_GROUP_Z = 88
L_PACKED_YZ = 92  # i32: 1 where y and z share the register of y (ttmp7 of gfx12)
L_POISON_END = 96  # i64: end offset of the vector registers in a state block
L_SCRATCH = 104  # ptr
L_SCRATCH_WAVE = 112  # i64: scratch bytes of a wave
L_FAULT_WAVE = 120  # i32, out: the wave that faulted
L_FAULT_GROUP = 124  # i32, out: linear id of its workgroup
L_SLICE = 128  # i64: instructions of a time slice, at most
L_LIMIT = 136  # i64: instructions a wave may execute in all
L_WAVE_ID_REGISTER = (
    144  # i32: scalar register with the wave's number in the workgroup (ttmp8 of gfx12, bits 25-29), or -1
)
L_EXECUTED = 152  # i64 array: slices used, a wave each
L_SHADOW = 160  # ptr: shadow of the race sanitizer
L_SHADOW_SIZE = 168  # i64: its bytes, 0 without the sanitizer
L_PROGRESS = 176  # ptr to addresses of i64 counters that rise when a wave changes memory
L_PROGRESS_COUNT = 184  # i64
L_SPINS = 192  # i32, out: how the workgroup that was put aside spends its time, see COMPUTES and its successors
L_FIRST_SLICE = 196  # i32: 1 during a workgroup's first time slice
L_SEEN = 200  # i64: fingerprint of an earlier state of the workgroup
L_SEEN_REGISTERS = 208  # i64: the part of it without memory
L_SEEN_AGE = 216  # i64: passes since
L_SEEN_LIMIT = 224  # i64: passes after which a later one takes its place
L_CURRENT = 232  # i64: the workgroup that runs; in: one to go on with, or NO_GROUP
L_BARRIERS = 240  # i64: barriers that a workgroup put aside has passed
L_NEXT_SLICE = 248  # i64: instructions of the present time slice
L_SIZE = 256

NO_GROUP = -1

# What the scheduler returns.
RUN_COMPLETED = 0
RUN_FAULTED = 1
RUN_OVER_BUDGET = 2
RUN_PUT_ASIDE = 3

# Values of L_SPINS.
COMPUTES = 0  # the registers change
POLLS = 1  # a state of the registers has come back
STALLED = 2  # and nothing has been stored since

POISON_WORD = 0xDEADBEEF
"""Pattern of vector registers that nobody has written, of LDS and of scratch."""

SHARED_APERTURE = 1 << 48
PRIVATE_APERTURE = 2 << 48
"""Flat addresses with these upper 16 bits are LDS and scratch."""
