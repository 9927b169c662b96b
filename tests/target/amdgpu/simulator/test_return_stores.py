"""Stores that a function leaves under way when it returns: its caller's barrier publishes them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from loom.device.protocol import Faulted
from tests.target.amdgpu.simulator.asm import Assembler

BODY = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, {callee}-.
  s_addc_u32 s9, s9, 0
  s_swappc_b64 s[30:31], s[8:9]
{behind}  s_barrier
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, stores-.
  s_addc_u32 s9, s9, 0
  s_swappc_b64 s[30:31], s[8:9]
  s_endpgm
tail:
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, stores-.
  s_addc_u32 s9, s9, 0
  s_setpc_b64 s[8:9]
stores:
  s_cbranch_execz unused
  ds_write_b32 v1, v0
{wait}unused:
  s_setpc_b64 s[30:31]
nothing:
  s_setpc_b64 s[30:31]
"""
WAIT = "  s_waitcnt lgkmcnt(0)\n"


@pytest.mark.parametrize(
    ("callee", "wait", "behind", "faults"),
    [
        ("stores", "", "", True),
        ("tail", "", "", True),
        ("stores", WAIT, "", False),
        ("stores", "", WAIT, False),
        ("nothing", "", "", False),
    ],
)
@pytest.mark.parametrize("processor", ["gfx942", "gfx1100"])
def test_a_barrier_behind_a_call_publishes_what_the_callee_stored(
    oracle: Callable[[str], str], processor: str, callee: str, wait: str, behind: str, faults: bool
) -> None:
    """clang waits at the end of a function, and then for nothing at the caller's barrier."""
    body = BODY.format(callee=callee, wait=wait, behind=behind)
    if processor == "gfx1100":
        body = body.replace("s_load_dwordx4", "s_load_b128").replace("ds_write_b32", "ds_store_b32")
    outcome, _ = Assembler(oracle).run(body, np.zeros(64, np.uint32), 64, processor=processor, wave=64, lds=256)
    found = outcome.fault if isinstance(outcome, Faulted) else None
    assert (found is not None) == faults, outcome
    if found is not None:
        assert found.kind == "uncovered_store" and "LDS" in found.message


MEMORY = {
    "gfx1100": (
        "  s_load_b128 s[4:7], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n", "  s_waitcnt_vscnt null, 0x0\n", "  s_barrier\n  buffer_gl0_inv\n",
        "  s_waitcnt vmcnt(0)\n",
    ),
    "gfx1201": (
        "  s_load_b128 s[4:7], s[0:1], 0x0\n  s_wait_kmcnt 0x0\n", "  s_wait_storecnt 0x0\n",
        "  s_barrier_signal -1\n  s_barrier_wait 0xffff\n  global_inv scope:SCOPE_SE\n", "  s_wait_loadcnt 0x0\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("processor", MEMORY)
def test_stores_with_a_counter_of_their_own_stay_under_way(oracle: Callable[[str], str], processor: str) -> None:
    """At the end of a function clang does not wait for them; the caller's barrier needs the wait."""
    load, wait, barrier, loaded = MEMORY[processor]
    body = f"""
{load}  v_lshlrev_b32 v1, 2, v0
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, stores-.
  s_addc_u32 s9, s9, 0
  s_swappc_b64 s[30:31], s[8:9]
WAIT{barrier}  v_xor_b32 v1, 0x80, v1
  global_load_b32 v2, v1, s[6:7]
{loaded}  s_endpgm
stores:
  global_store_b32 v1, v0, s[6:7]
  s_setpc_b64 s[30:31]
"""
    for gap, kind in (("", "uncovered_store"), (wait, None)):
        outcome, _ = Assembler(oracle).run(
            body.replace("WAIT", gap), np.zeros(64, np.uint32), 64, processor=processor, size=(64,)
        )
        assert (outcome.fault.kind if isinstance(outcome, Faulted) else None) == kind, outcome


def test_a_far_branch_may_use_the_register_of_the_return_address(oracle: Callable[[str], str]) -> None:
    """Loads may be under way at a branch, and what they write is not forgotten at its target."""
    body = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_getpc_b64 s[30:31]
  s_add_u32 s30, s30, far-.
  s_addc_u32 s31, s31, 0
  s_setpc_b64 s[30:31]
  s_endpgm
far:
{wait}  global_store_dword v1, v2, s[6:7]
  s_endpgm
"""
    data = np.arange(64, dtype=np.uint32)
    for wait in ("", "  s_waitcnt vmcnt(0)\n"):
        outcome, result = Assembler(oracle).run(body.format(wait=wait), data, 64, processor="gfx942", wave=64)
        if wait:
            assert not isinstance(outcome, Faulted), outcome
            np.testing.assert_array_equal(result, data)
        else:
            assert isinstance(outcome, Faulted) and outcome.fault.instruction is not None
            assert outcome.fault.instruction.startswith("global_store_dword"), outcome
