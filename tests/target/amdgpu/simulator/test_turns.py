"""Workgroups that wait for each other, and launches in which they wait for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from loom.device.protocol import Completed, Faulted
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.turns import COMPUTING, Stopped, Together, take_turns
from tests.target.amdgpu.simulator.asm import Assembler

GROUPS = 12
ROUNDS = 3


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


# Three rounds: each workgroup adds its number + 1 to in[32 + round], joins a barrier of the whole grid (a count in in[0]
# that must reach GROUPS * round), and reads the sum. Registers, LDS and scratch have to outlive the waiting.
GRID_BARRIER = {
    "gfx1100": """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  v_add_nc_u32 v3, s2, 1
  v_lshlrev_b32 v8, 2, v0
  v_mad_u32_u24 v9, s2, 1000, v0
  ds_store_b32 v8, v9
  scratch_store_b32 off, v9, off
  s_mov_b32 s8, 0
  v_mov_b32 v10, 0
  s_waitcnt lgkmcnt(0)
  s_waitcnt_vscnt null, 0x0
.Lround:
  s_lshl_b32 s9, s8, 2
  v_mov_b32 v4, s9
  s_mov_b32 exec_lo, 1
  global_atomic_add_u32 v4, v3, s[4:5] offset:128
  s_waitcnt_vscnt null, 0x0
  global_atomic_add_u32 v1, v2, s[4:5]
  s_waitcnt_vscnt null, 0x0
  s_add_u32 s8, s8, 1
  s_mul_i32 s10, s8, {groups}
.Lspin:
{poll}
  v_readfirstlane_b32 s11, v5
  s_cmp_lt_u32 s11, s10
  s_cbranch_scc1 .Lspin
  s_mov_b32 exec_lo, -1
  global_load_b32 v6, v4, s[4:5] offset:128 glc
  s_waitcnt vmcnt(0)
  v_add_nc_u32 v10, v10, v6
  s_cmp_lt_u32 s8, {rounds}
  s_cbranch_scc1 .Lround
  ds_load_b32 v11, v8
  scratch_load_b32 v12, off, off
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_add3_u32 v10, v10, v11, v12
  s_lshl_b32 s12, s2, 7
  v_add_nc_u32 v7, s12, v8
  global_store_b32 v7, v10, s[6:7]
  s_endpgm
""",
    "gfx942": """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32 v0, 63, v0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_add_u32 s3, s2, 1
  v_mov_b32 v3, s3
  v_lshlrev_b32 v8, 2, v0
  s_mul_i32 s3, s2, 1000
  v_add_u32 v9, s3, v0
  ds_write_b32 v8, v9
  s_mov_b32 s8, 0
  v_mov_b32 v10, 0
  s_waitcnt lgkmcnt(0)
.Lround:
  s_lshl_b32 s9, s8, 2
  v_mov_b32 v4, s9
  s_mov_b64 exec, 1
  global_atomic_add v4, v3, s[4:5] offset:128 sc1
  s_waitcnt vmcnt(0)
  global_atomic_add v1, v2, s[4:5] sc1
  s_waitcnt vmcnt(0)
  s_add_u32 s8, s8, 1
  s_mul_i32 s10, s8, {groups}
.Lspin:
{poll}
  v_readfirstlane_b32 s11, v5
  s_cmp_lt_u32 s11, s10
  s_cbranch_scc1 .Lspin
  s_mov_b64 exec, -1
  global_load_dword v6, v4, s[4:5] offset:128 sc1
  s_waitcnt vmcnt(0)
  v_add_u32 v10, v10, v6
  s_cmp_lt_u32 s8, {rounds}
  s_cbranch_scc1 .Lround
  ds_read_b32 v11, v8
  s_waitcnt lgkmcnt(0)
  v_add3_u32 v10, v10, v11, v11
  s_lshl_b32 s12, s2, 8
  v_add_u32 v7, s12, v8
  global_store_dword v7, v10, s[6:7]
  s_endpgm
""",
}
POLLS = {
    ("gfx1100", "load"): "  global_load_b32 v5, v1, s[4:5] glc dlc\n  s_waitcnt vmcnt(0)",
    ("gfx1100", "atomic"): "  global_atomic_add_u32 v5, v1, v1, s[4:5] glc\n  s_waitcnt vmcnt(0)",
    # Counts in s13 how long it waits, so that no state of its registers comes back.
    ("gfx1100", "counted"): "  s_add_u32 s13, s13, 1\n  global_load_b32 v5, v1, s[4:5] glc dlc\n  s_waitcnt vmcnt(0)",
    ("gfx942", "load"): "  global_load_dword v5, v1, s[4:5] sc1\n  s_waitcnt vmcnt(0)",
    ("gfx942", "atomic"): "  global_atomic_add v5, v1, v1, s[4:5] sc0 sc1\n  s_waitcnt vmcnt(0)",
}


@pytest.mark.parametrize(("processor", "poll"), [p for p in POLLS if p[1] != "counted"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_barrier_of_the_whole_grid(asm: Assembler, processor: str, poll: str, threads: int) -> None:
    wave = 32 if processor == "gfx1100" else 64
    text = GRID_BARRIER[processor].format(groups=GROUPS, rounds=ROUNDS, poll=POLLS[processor, poll])
    outcome, out = asm.run(
        text, np.zeros(64, np.uint32), GROUPS * wave, processor=processor, groups=(GROUPS,), size=(wave,), wave=wave, lds=4 * wave,
        scratch=16 if processor == "gfx1100" else 0, device_options={"threads": threads},
    )  # fmt: skip
    assert isinstance(outcome, Completed), outcome
    group, lane = np.divmod(np.arange(GROUPS * wave), wave)
    assert np.array_equal(out, ROUNDS * GROUPS * (GROUPS + 1) // 2 + 2 * (group * 1000 + lane))


def test_a_barrier_of_more_workgroups_than_compute_at_first(asm: Assembler) -> None:
    """Each counts how long it polls, so that no state of its registers comes back: it seems to compute."""
    assert GROUPS > COMPUTING
    text = GRID_BARRIER["gfx1100"].format(groups=GROUPS, rounds=1, poll=POLLS["gfx1100", "counted"])
    outcome, out = asm.run(text, np.zeros(64, np.uint32), GROUPS * 32, groups=(GROUPS,), lds=128, scratch=16)
    assert isinstance(outcome, Completed), outcome
    group, lane = np.divmod(np.arange(GROUPS * 32), 32)
    assert np.array_equal(out, GROUPS * (GROUPS + 1) // 2 + 2 * (group * 1000 + lane))


# The first workgroup waits for a word that the last one stores.
BACKWARDS = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 7
  s_mov_b32 s13, 0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, {last}
  s_cbranch_scc1 .Lnot_last
  global_store_b32 v1, v2, s[4:5] glc slc dlc
  s_endpgm
.Lnot_last:
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Ldone
.Lspin:
{poll}
  v_readfirstlane_b32 s11, v5
  s_cmp_eq_u32 s11, 0
  s_cbranch_scc1 .Lspin
  global_store_b32 v1, v5, s[6:7]
.Ldone:
  s_endpgm
"""


@pytest.mark.parametrize("poll", ["load", "atomic", "counted"])
def test_a_workgroup_may_wait_for_a_later_one(asm: Assembler, poll: str) -> None:
    text = BACKWARDS.format(last=40, poll=POLLS["gfx1100", poll].replace("s[6:7]", "s[4:5]"))
    outcome, out = asm.run(text, np.zeros(1, np.uint32), 1, groups=(41,))
    assert isinstance(outcome, Completed) and out[0] == 7


@pytest.mark.parametrize("poll", ["load", "atomic"])
def test_workgroups_that_wait_in_vain(asm: Assembler, poll: str) -> None:
    """One workgroup of the grid is missing at its barrier; where atomics poll, memory is written all the time."""
    text = GRID_BARRIER["gfx1100"].format(groups=GROUPS + 1, rounds=ROUNDS, poll=POLLS["gfx1100", poll])
    outcome, _ = asm.run(
        text, np.zeros(64, np.uint32), GROUPS * 32, groups=(GROUPS,), lds=128, scratch=16, device_options={"threads": 1}
    )
    assert isinstance(outcome, Faulted)
    fault = outcome.fault
    assert fault.kind == "instruction_budget" and fault.workgroup == (0, 0, 0)
    assert f"without changing a register or memory (so do waves of {GROUPS - 1} other workgroups)" in fault.message


@pytest.mark.parametrize("threads", [2, 4])
def test_workgroups_that_wait_in_vain_on_several_threads(asm: Assembler, threads: int) -> None:
    text = GRID_BARRIER["gfx1100"].format(groups=GROUPS + 1, rounds=ROUNDS, poll=POLLS["gfx1100", "load"])
    outcome, _ = asm.run(
        text,
        np.zeros(64, np.uint32),
        GROUPS * 32,
        groups=(GROUPS,),
        lds=128,
        scratch=16,
        device_options={"threads": threads},
    )
    assert isinstance(outcome, Faulted) and outcome.fault.workgroup == (0, 0, 0)
    assert f"(so do waves of {GROUPS - 1} other workgroups)" in outcome.fault.message


def test_a_wave_that_counts_at_a_barrier_that_opens_is_not_stalled(asm: Assembler) -> None:
    """Wave 0 computes the same for several time slices between barriers; only wave 1 counts the rounds."""
    body = """
  v_readfirstlane_b32 s2, v0
  s_mov_b32 s3, 0
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lcounter
.Lwork:
  s_mov_b32 s4, 0x480000
.Lloop:
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .Lloop
  s_barrier
  v_mov_b32 v1, 0
  ds_load_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s5, v2
  v_mov_b32 v2, 0
  s_mov_b32 s6, s5
  s_mov_b32 s5, 0
  s_cmp_lg_u32 s6, 1
  s_mov_b32 s6, 0
  s_cbranch_scc1 .Lwork
  s_endpgm
.Lcounter:
  s_add_u32 s3, s3, 1
  s_cmp_lt_u32 s3, 5
  s_cbranch_scc1 .Lmeet
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  ds_store_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_endpgm
.Lmeet:
  s_barrier
  s_branch .Lcounter
"""
    outcome, _ = asm.run(body, np.zeros(1, np.uint32), 1, size=(64,), lds=64)
    assert isinstance(outcome, Completed), outcome


class Scripted:
    """A workgroup memory that plays what each workgroup does in each of its turns; ``log`` gets the workgroups in order."""

    def __init__(self, script: dict[int, list[int]], log: list[int]) -> None:
        self.script = script
        self.log = log
        self.current = -1
        self.spins = L.COMPUTES

    def run(self, begin: int, end: int) -> int:
        """Each entry is a value of ``spins``, for a workgroup that is put aside; behind the last one it ends."""
        for group in range(begin, end):
            self.log.append(group)
            self.current = group
            turns = self.script.get(group, [])
            if turns:
                self.spins = turns.pop(0)
                return L.RUN_PUT_ASIDE
        return L.RUN_COMPLETED

    def state(self) -> Sequence[Any]:
        return [self.current.to_bytes(4, "little"), len(self.script.get(self.current, [])).to_bytes(4, "little")]

    def changes(self) -> int:
        return len(self.log)


def play(script: dict[int, list[int]], groups: int, limit: int = 100) -> tuple[Stopped | None, list[int], int]:
    log: list[int] = []
    made = []

    def make() -> Scripted:
        made.append(Scripted(script, log))
        return made[-1]

    return take_turns(make, 0, groups, limit, Together(1, [])), log, len(made)


def test_workgroups_run_in_order_and_those_put_aside_in_rounds() -> None:
    stopped, log, made = play({1: [L.POLLS, L.POLLS], 2: [L.STALLED]}, 5)
    assert stopped is None and log == [0, 1, 2, 3, 4, 1, 2, 1] and made == 3


def test_memory_of_workgroups_is_limited_and_used_again() -> None:
    stopped, log, made = play({0: [L.POLLS], 1: [L.POLLS], 2: [L.POLLS], 3: []}, 4, limit=2)
    assert stopped is None and log == [0, 1, 0, 1, 2, 3, 2] and made == 2


def test_few_workgroups_are_put_aside_while_they_compute() -> None:
    _, log, made = play({n: [L.COMPUTES] for n in range(30)}, 30)
    assert made == COMPUTING and log[: COMPUTING + 1] == [*range(COMPUTING), 0]


def test_a_limit_that_keeps_the_awaited_workgroup_from_beginning_is_named() -> None:
    forever = [L.POLLS] * 1000
    stopped, _, _ = play({0: list(forever), 1: list(forever)}, 9, limit=2)
    assert stopped is None
    stuck: dict[int, Any] = {n: _Endless([L.POLLS]) for n in range(2)}
    stopped, _, made = play(stuck, 9, limit=2)
    assert stopped is not None and stopped.stalled and stopped.workgroup.current == 0
    assert (stopped.others, stopped.not_started, made) == (1, 7, 2)


class _Endless(list[int]):
    def pop(self, index: Any = -1) -> int:  # type: ignore[override]
        return self[0]


def test_all_idle_means_at_one_version() -> None:
    """Two threads are idle together only when nothing has changed between the rounds that each of them made."""
    together = Together(2, [])

    def other(version: int) -> bool:
        found: list[bool] = []
        thread = threading.Thread(target=lambda: found.append(together.all_idle(version)))
        thread.start()
        thread.join()
        return found[0]

    assert not other(0)
    together.changed()
    assert not together.all_idle(0)
    assert not together.all_idle(1)
    assert other(1)


def test_a_loop_that_changes_memory_only_goes_on(asm: Assembler) -> None:
    """At the end of every time slice the registers are the same; the count is in memory."""
    body = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  v_mov_b32 v5, 0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 exec_lo, 1
.Lloop:
  global_atomic_add_u32 v1, v2, s[4:5]
  s_waitcnt_vscnt null, 0x0
  global_load_b32 v5, v1, s[4:5] glc dlc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v5
  v_mov_b32 v5, 0
  s_cmp_lt_u32 s8, 0x180000
  s_mov_b32 s8, 0
  s_cbranch_scc1 .Lloop
  global_store_b32 v1, v2, s[6:7]
  s_endpgm
"""
    outcome, out = asm.run(body, np.zeros(1, np.uint32), 1)
    assert isinstance(outcome, Completed) and out[0] == 1, outcome


def test_a_barrier_passed_before_the_waiting_is_remembered(asm: Assembler) -> None:
    """A store that the barrier publishes without a wait is read behind a loop that waits for another workgroup."""
    body = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 7
  v_lshlrev_b32 v3, 2, v0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 1
  s_cbranch_scc1 .Lfirst
  global_store_b32 v1, v2, s[4:5]
  s_endpgm
.Lfirst:
  v_cmp_gt_u32 vcc_lo, 32, v0
  s_cbranch_vccz .Lmeet
  global_store_b32 v3, v2, s[6:7]
{wait}.Lmeet:
  s_barrier
.Lspin:
  global_load_b32 v5, v1, s[4:5] glc dlc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s11, v5
  s_cmp_eq_u32 s11, 0
  s_cbranch_scc1 .Lspin
  v_and_b32 v3, 0x7c, v3
  global_load_b32 v5, v3, s[6:7]
  s_waitcnt vmcnt(0)
  s_endpgm
"""
    for wait, kind in (("  s_waitcnt_vscnt null, 0x0\n", None), ("", "uncovered_store")):
        outcome, _ = asm.run(body.format(wait=wait), np.zeros(1, np.uint32), 64, size=(64,), groups=(2,))
        assert (outcome.fault.kind if isinstance(outcome, Faulted) else None) == kind
