"""Releases on gfx942 and gfx950: the write-back of the caches must be done before what publishes, unless there is nothing to write back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from loom.device.protocol import Faulted
from tests.target.amdgpu.simulator.asm import Assembler

HEAD = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  v_lshlrev_b32 v1, 2, v0\n  s_waitcnt lgkmcnt(0)\n"
STORE = "  global_store_dword v1, v0, s[6:7]\n  s_waitcnt vmcnt(0)\n"
CALL = """
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, callee-.
  s_addc_u32 s9, s9, 0
  s_swappc_b64 s[30:31], s[8:9]
"""
CALLEE = "callee:\n  s_setpc_b64 s[30:31]\n"
SKIPPED = f"  s_cmp_eq_u32 s4, 0\n  s_cbranch_scc1 skip\n{STORE}skip:\n"
RELEASE = "  buffer_wbl2 sc1\n{wait}  global_atomic_add v1, v0, s[4:5]\n"
WAIT = "  s_waitcnt vmcnt(0)\n"


@pytest.mark.parametrize(
    ("front", "faults"),
    [
        ("", False),
        ("  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n", False),
        (STORE, True),
        (SKIPPED, True),
        ("  s_barrier\n", True),
        (CALL, True),
    ],
    ids=["nothing", "load", "store", "store on one path", "barrier", "call"],
)
def test_a_release_waits_for_its_write_back_where_something_was_stored(
    oracle: Callable[[str], str], front: str, faults: bool
) -> None:
    """LLVM 22 leaves the wait out where this wave has nothing under way (mended in LLVM by pull request 178316). Nothing is lost
    where nobody has stored; this wave, those in front of a barrier and functions may have."""
    asm = Assembler(oracle)
    for wait in ("", WAIT):
        body = HEAD + front + RELEASE.format(wait=wait) + "  s_endpgm\n" + CALLEE
        outcome, _ = asm.run(body, np.zeros(64, np.uint32), 64, processor="gfx942", wave=64)
        kind = outcome.fault.kind if isinstance(outcome, Faulted) else "completed"
        assert kind == ("uncovered_store" if faults and not wait else "completed"), (front, wait, outcome)


def test_a_release_in_a_function_does_not_know_what_was_stored(oracle: Callable[[str], str]) -> None:
    body = HEAD + CALL + "  s_endpgm\ncallee:\n" + RELEASE + "  s_setpc_b64 s[30:31]\n"
    for wait, kind in (("", "uncovered_store"), (WAIT, "completed")):
        outcome, _ = Assembler(oracle).run(
            body.format(wait=wait), np.zeros(64, np.uint32), 64, processor="gfx950", wave=64
        )
        found = outcome.fault.kind if isinstance(outcome, Faulted) else "completed"
        assert found == kind, outcome
