"""Loads that write a register which another load may still write: LLVM's wait-count insertion says which need a wait."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loom.target.amdgpu.simulator.static_check import StaticChecker
from loom.target.amdgpu.simulator.translate import split_blocks
from loom.target.amdgpu.waits import counters_raised, waits_performed
from tests.target.amdgpu.simulator.mir import function, resolve

_FLAT = "implicit $exec, implicit $flat_scr"
LOADS = {
    "global": "GLOBAL_LOAD_DWORD $vgpr10_vgpr11, 0, 0, implicit $exec",
    "flat": f"FLAT_LOAD_DWORD $vgpr10_vgpr11, 0, 0, {_FLAT}",
    "scratch": f"SCRATCH_LOAD_DWORD $vgpr12, 0, 0, {_FLAT}",
    "lds": "DS_READ_B32_gfx9 $vgpr12, 0, 0, implicit $exec",
    "returning atomic": "GLOBAL_ATOMIC_ADD_RTN $vgpr10_vgpr11, $vgpr13, 0, 1, implicit $exec",
    "bpermute": "DS_BPERMUTE_B32 $vgpr12, $vgpr13, 0, implicit $exec",
}  # fmt: skip
QUEUES = {"global": "vector memory", "scratch": "vector memory", "returning atomic": "vector memory", "lds": "LDS", "bpermute": "LDS"}
"""Where results come back in order. A flat load may come back from either memory, so it is in order with nothing behind it."""


@pytest.mark.parametrize(("processor", "generation"), [("gfx1100", "gfx11"), ("gfx1201", "gfx12")])
def test_a_load_over_a_load(oracle: Callable[[str], str], processor: str, generation: str) -> None:
    """The checks ask for a wait where LLVM puts one, but for two loads that come back through one memory in order."""
    pairs = [(a, b) for a in LOADS for b in LOADS]
    texts = [
        function(f"f{n}", [[f"$vgpr2 = {LOADS[a]}", f"$vgpr2 = {LOADS[b]}", "$vgpr3 = V_MOV_B32_e32 $vgpr2, implicit $exec"]])
        for n, (a, b) in enumerate(pairs)
    ]
    for pair, code in zip(pairs, resolve(oracle("llc-22"), processor, texts, 32, "si-insert-waitcnts"), strict=True):
        code = [i for i in code if i.row.mnemonic not in ("s_clause", "s_delay_alu")]
        first, second = (n for n, i in enumerate(code) if counters_raised(i))
        assert StaticChecker(code, split_blocks(code, ()), generation).run() == {}, pair
        between = [n for n in range(first, second) if waits_performed(code[n], generation)]
        without = [i for n, i in enumerate(code) if n not in between]
        found = bool(StaticChecker(without, split_blocks(without, ()), generation).run())
        a, b = (QUEUES.get(name) for name in pair)
        assert found == (a is None or a != b), pair
        assert between or not found, pair
