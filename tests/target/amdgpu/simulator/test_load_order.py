"""Loads and what comes behind them: loads of the same register, as LLVM's wait-count insertion has it, and cache invalidations, as
the memory model of LLVM's AMDGPU usage guide has it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.target.amdgpu.simulator.static_check import StaticChecker
from loom.target.amdgpu.simulator.translate import split_blocks
from loom.target.amdgpu.waits import counters_raised, waits_performed
from tests.target.amdgpu.simulator.asm import Assembler
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
QUEUES = {
    "global": "vector memory",
    "scratch": "vector memory",
    "returning atomic": "vector memory",
    "lds": "LDS",
    "bpermute": "LDS",
}
"""Where results come back in order, on gfx12 from the LDS alone (LLVM's feature ``vmem-write-vgpr-in-order``). A flat load may come
back from either memory, so it is in order with nothing behind it."""


@pytest.mark.parametrize(("processor", "generation"), [("gfx1100", "gfx11"), ("gfx1201", "gfx12")])
def test_a_load_over_a_load(oracle: Callable[[str], str], processor: str, generation: str) -> None:
    """The checks ask for a wait where LLVM puts one, but for two loads that come back through one memory in order."""
    pairs = [(a, b) for a in LOADS for b in LOADS]
    texts = [
        function(
            f"f{n}", [[f"$vgpr2 = {LOADS[a]}", f"$vgpr2 = {LOADS[b]}", "$vgpr3 = V_MOV_B32_e32 $vgpr2, implicit $exec"]]
        )
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
        assert found == (a is None or a != b or (processor == "gfx1201" and a != "LDS")), pair
        assert between or not found, pair


READERS = {
    "address of a load": "$vgpr2 = GLOBAL_LOAD_DWORD_SADDR $sgpr2_sgpr3, $vgpr2, 0, 0, implicit $exec",
    "address of an LDS load": "$vgpr2 = DS_READ_B32_gfx9 $vgpr2, 0, 0, implicit $exec",
    "data of an atomic": "$vgpr2 = GLOBAL_ATOMIC_ADD_RTN $vgpr10_vgpr11, $vgpr2, 0, 1, implicit $exec",
    "data of an LDS atomic": "$vgpr2 = DS_ADD_RTN_U32_gfx9 $vgpr12, $vgpr2, 0, 0, implicit $exec",
    "data of a permutation": "$vgpr2 = DS_BPERMUTE_B32 $vgpr12, $vgpr2, 0, implicit $exec",
    "data of a store": "GLOBAL_STORE_DWORD $vgpr10_vgpr11, $vgpr2, 0, 0, implicit $exec",
}


@pytest.mark.parametrize(
    ("processor", "generation"), [("gfx1100", "gfx11"), ("gfx1201", "gfx12"), ("gfx942", "gfx9.4")]
)
def test_an_access_that_reads_what_it_writes(oracle: Callable[[str], str], processor: str, generation: str) -> None:
    """An address or data must be there, even where the result goes to the same register and would come in order."""
    pairs = [(a, b) for a in LOADS for b in READERS]
    texts = [function(f"f{n}", [[f"$vgpr2 = {LOADS[a]}", READERS[b]]]) for n, (a, b) in enumerate(pairs)]
    for pair, code in zip(pairs, resolve(oracle("llc-22"), processor, texts, 32, "si-insert-waitcnts"), strict=True):
        code = [i for i in code if i.row.mnemonic not in ("s_clause", "s_delay_alu")]
        first, second = (n for n, i in enumerate(code) if counters_raised(i))
        between = [n for n in range(first, second) if waits_performed(code[n], generation)]
        without = [i for n, i in enumerate(code) if n not in between]
        assert between and StaticChecker(code, split_blocks(code, ()), generation).run() == {}, pair
        assert StaticChecker(without, split_blocks(without, ()), generation).run(), pair


ACQUIRES = {
    "gfx1100": (
        "global_load_b32 v2, v[0:1], off glc", "global_load_b32 v2, v[0:1], off", "global_atomic_add_u32 v2, v[0:1], v3, off glc",
        "global_atomic_add_u32 v[0:1], v3, off", "s_waitcnt vmcnt(0)", "buffer_gl1_inv\n  buffer_gl0_inv",
    ),
    "gfx1201": (
        "global_load_b32 v2, v[0:1], off scope:SCOPE_DEV", "global_load_b32 v2, v[0:1], off",
        "global_atomic_add_u32 v2, v[0:1], v3, off th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
        "global_atomic_add_u32 v[0:1], v3, off scope:SCOPE_DEV", "s_wait_loadcnt 0x0", "global_inv scope:SCOPE_DEV",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("processor", "generation"), [("gfx1100", "gfx11"), ("gfx1201", "gfx12")])
def test_an_invalidation_while_what_acquires_is_under_way(
    oracle: Callable[[str], str], processor: str, generation: str
) -> None:
    """An acquire is a load past the caches, or an atomic, a wait for it, and then the invalidation; a plain load acquires nothing.
    Behind an atomic that returns nothing the wait is one for stores."""
    atomic_load, load, returning, silent, wait, invalidate = ACQUIRES[processor]
    device = SimulatorDevice(threads=1)

    def faults(*lines: str) -> list[str]:
        body = "".join(f"  {line}\n" for line in (*lines, invalidate, "s_endpgm"))
        code = device.load(Assembler(oracle).build(body, processor)).handle.kernel("k").code
        return list({fault.kind for fault in StaticChecker(code, split_blocks(code, ()), generation).run().values()})

    for acquiring in (atomic_load, returning):
        assert faults(acquiring) == faults(acquiring, load) == ["outstanding_load"]
        assert faults(acquiring, wait) == faults(acquiring, wait, load) == faults(acquiring, silent) == []
    assert faults(load) == []
