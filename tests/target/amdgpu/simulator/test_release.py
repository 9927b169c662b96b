"""A release without its wait: what the last workgroup reads of the others' stores is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from loom.device.protocol import Completed, Faulted
from tests.target.amdgpu.simulator.asm import Assembler

GROUPS = 4
BODIES = {
    "gfx1100": """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_lshl_b32 s3, s2, 7
  v_add_nc_u32 v2, s3, v1
  v_mov_b32 v3, 0
  v_mov_b32 v4, 1
  v_add_nc_u32 v5, s2, v0
  s_waitcnt lgkmcnt(0)
  global_store_b32 v2, v5, s[6:7]
{wait}  s_mov_b32 exec_lo, 1
  global_atomic_add_u32 v6, v3, v4, s[4:5] glc
  s_waitcnt vmcnt(0)
  s_mov_b32 exec_lo, -1
{acquire}{late}  v_readfirstlane_b32 s8, v6
  s_cmp_lg_u32 s8, 3
  s_cbranch_scc1 .Lnot_last
  global_load_b32 v7, {address}, s[6:7]{bits}
  s_waitcnt vmcnt(0)
  global_store_b32 v1, v7, s[6:7] offset:512
.Lnot_last:
  s_endpgm
""",
    "gfx1201": """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_lshl_b32 s3, ttmp9, 7
  v_add_nc_u32 v2, s3, v1
  v_mov_b32 v3, 0
  v_mov_b32 v4, 1
  v_add_nc_u32 v5, ttmp9, v0
  s_wait_kmcnt 0x0
  global_store_b32 v2, v5, s[6:7]
{wait}  s_mov_b32 exec_lo, 1
  global_atomic_add_u32 v6, v3, v4, s[4:5] th:TH_ATOMIC_RETURN scope:SCOPE_DEV
  s_wait_loadcnt 0x0
  s_mov_b32 exec_lo, -1
{acquire}{late}  v_readfirstlane_b32 s8, v6
  s_wait_alu 0xf1ff
  s_cmp_lg_u32 s8, 3
  s_cbranch_scc1 .Lnot_last
  global_load_b32 v7, {address}, s[6:7]{bits}
  s_wait_loadcnt 0x0
  global_store_b32 v1, v7, s[6:7] offset:512
.Lnot_last:
  s_endpgm
""",
}
"""Workgroup g of four stores lane + g at its place of ``out``; the last to count itself copies what the first stored."""

WAIT = {"gfx1100": "  s_waitcnt_vscnt null, 0x0\n", "gfx1201": "  s_wait_storecnt 0x0\n"}
ACQUIRE = {
    "gfx1100": "  buffer_gl1_inv\n  buffer_gl0_inv\n",
    "gfx1201": "  global_inv scope:SCOPE_DEV\n  s_wait_loadcnt 0x0\n",
}
WORKGROUP_ACQUIRE = {"gfx1100": "  buffer_gl0_inv\n", "gfx1201": "  global_inv scope:SCOPE_SE\n  s_wait_loadcnt 0x0\n"}
COHERENT = {"gfx1100": " glc", "gfx1201": " scope:SCOPE_DEV"}


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def run(asm: Assembler, processor: str, options: dict[str, Any] | None = None, **parts: str) -> Any:
    text = BODIES[processor].format(
        **{"wait": "", "acquire": ACQUIRE[processor], "late": "", "address": "v1", "bits": ""} | parts
    )
    return asm.run(
        text, np.zeros(1, np.uint32), 32 * GROUPS + 32, processor=processor, groups=(GROUPS,), **(options or {})
    )


@pytest.mark.parametrize("processor", BODIES)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("mode", [0, 1], ids=["compute-unit", "workgroup-processor"])
def test_stores_that_were_not_released_are_read_too_early(
    asm: Assembler, processor: str, threads: int, mode: int
) -> None:
    options = {"device_options": {"threads": threads}, "directives": (f".amdhsa_workgroup_processor_mode {mode}",)}
    outcome, _ = run(asm, processor, options)
    assert isinstance(outcome, Faulted)
    fault = outcome.fault
    assert fault.kind == "uncovered_store" and "wave 0 of another workgroup with 'global_store_b32'" in fault.message
    assert fault.instruction is not None and "global_load_b32" in fault.instruction
    assert fault.workgroup == (GROUPS - 1, 0, 0) and (fault.wave, fault.lane) == (0, 0)


@pytest.mark.parametrize("processor", BODIES)
def test_released_stores_are_read(asm: Assembler, processor: str) -> None:
    outcome, out = run(asm, processor, wait=WAIT[processor])
    assert isinstance(outcome, Completed)
    assert np.array_equal(out[: 32 * GROUPS].reshape(GROUPS, 32), np.arange(32) + np.arange(GROUPS)[:, None])
    assert np.array_equal(out[32 * GROUPS :], np.arange(32))


@pytest.mark.parametrize("processor", BODIES)
@pytest.mark.parametrize(
    "what",
    ["relaxed", "workgroup acquire", "coherent load", "own bytes", "wait behind the atomic", "acquire passed by"],
)
def test_what_acquires_nothing_is_no_fault(asm: Assembler, processor: str, what: str) -> None:
    parts = {
        "relaxed": {"acquire": ""},
        # The kernel holds an acquire, so it is looked at, and never executes it.
        "acquire passed by": {"acquire": f"  s_branch .Lpast\n{ACQUIRE[processor]}.Lpast:\n"},
        "workgroup acquire": {"acquire": WORKGROUP_ACQUIRE[processor]},
        "coherent load": {"bits": COHERENT[processor]},
        "own bytes": {"address": "v2"},
        "wait behind the atomic": {"late": WAIT[processor]},
    }[what]
    outcome, _ = run(asm, processor, **parts)
    assert isinstance(outcome, Completed)


SECOND_WAVE_RELEASES = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_lshl_b32 s3, s2, 8
  v_add_nc_u32 v2, s3, v1
  v_mov_b32 v3, 0
  v_mov_b32 v4, 1
  v_mov_b32 v6, 0
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_u32 vcc_lo, 32, v0
  s_cbranch_vccz .Lsecond
  s_waitcnt_vscnt null, 0x0
  s_waitcnt_vscnt null, 0x0
  global_store_b32 v2, v0, s[6:7]
  s_barrier
  s_endpgm
.Lsecond:
  s_barrier
{wait}  s_mov_b32 exec_lo, 1
  global_atomic_add_u32 v6, v3, v4, s[4:5] glc
  s_waitcnt vmcnt(0)
  s_mov_b32 exec_lo, -1
  buffer_gl1_inv
  buffer_gl0_inv
  v_readfirstlane_b32 s8, v6
  s_cmp_lg_u32 s8, 1
  s_cbranch_scc1 .Lnot_last
  v_add_nc_u32 v1, -128, v1
  global_load_b32 v7, v1, s[6:7]
  s_waitcnt vmcnt(0)
.Lnot_last:
  s_endpgm
"""


@pytest.mark.parametrize(
    ("mode", "wait", "kind"), [(0, "", "uncovered_store"), (0, "wait", None), (1, "wait", "uncovered_store")]
)
def test_another_wave_releases(asm: Assembler, mode: int, wait: str, kind: str | None) -> None:
    """A wave stores, a barrier follows, and the next wave releases: enough where the two share a compute unit's cache."""
    outcome, _ = asm.run(
        SECOND_WAVE_RELEASES.format(wait=WAIT["gfx1100"] if wait else ""), np.zeros(1, np.uint32), 128, groups=(2,), size=(64,),
        directives=(f".amdhsa_workgroup_processor_mode {mode}",),
    )  # fmt: skip
    assert (outcome.fault.kind if isinstance(outcome, Faulted) else None) == kind
