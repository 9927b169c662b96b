"""Mutation test of every kernel: an instruction that only waits is taken out, and the checks of the final code must find it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.target.amdgpu.machine import Immediate, MachineInstruction
from loom.target.amdgpu.simulator.hazard_check import hazard_faults
from tests.target.amdgpu.simulator import extra_suite, native_suite
from tests.target.amdgpu.simulator.asm import Assembler
from tests.target.amdgpu.simulator.mutation import (
    HAZARDS,
    NATIVE,
    NOPS,
    WAITS,
    Mutant,
    excused,
    judge,
    removals,
    without,
)
from tests.target.amdgpu.simulator.native_suite import Case
from tests.target.amdgpu.simulator.needless import needless

CASES = [*native_suite.CASES, *extra_suite.CASES]
QUICK = [
    c
    for c in CASES
    if (c.file, c.kernel) in (
        ("asm/gfx1100/sgemm_pipe_asm.hsaco", "sgemm_pipe_asm"), ("extra/gfx1100-w32.O2.hsaco", "scan"),
        ("extra/gfx1100-w64.O2.hsaco", "double_math"), ("extra/gfx1201.O2.hsaco", "histogram"), ("extra/gfx942.O2.hsaco", "calls"),
        ("extra/gfx1100-ops.hsaco", "op_widths_ds"),
    )
    or c.file == "extra/gfx950-mma.O2.hsaco"
]  # fmt: skip
"""Kernels of the quick run; all others are the long one."""


@pytest.fixture(scope="module")
def device() -> Iterator[SimulatorDevice]:
    made = SimulatorDevice(threads=1)
    yield made
    made.close()


def pads(code: list[MachineInstruction], number: int) -> bool:
    """Whether a no-op of gfx11 or gfx12 only aligns what follows: it does not guard the message that gives registers back."""
    after = next(i for i in code[number:] if i.row.mnemonic != "s_nop")
    return after.row.mnemonic != "s_sendmsg" or after.operands != (Immediate(3),)


def misses_wait(handle: Any, kernel: str, number: int, code: Sequence[MachineInstruction]) -> bool:
    """Whether the hazard checks of changed code find a fault more without a wait."""
    found, loaded = handle.kernel(kernel), handle.object
    faults = [
        hazard_faults(c, found.entries, loaded.processor.name, found.entry.wave, loaded.compiler)
        for c in (list(code), *without(code, number))
    ]
    return all(set(fault) - set(faults[0]) for fault in faults[1:])


EXCUSES = """
  v_mov_b32 v1, 0
  ds_load_b32 v2, v1
  ds_load_b32 v3, v1 offset:4
  s_waitcnt lgkmcnt({count})
  v_add_nc_u32 v4, v2, v2
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v5, {register}
  s_waitcnt lgkmcnt({again})
  v_mov_b32 v6, v3
  s_endpgm
"""


@pytest.mark.parametrize(
    ("count", "register", "again", "last"),
    [(1, "v3", 0, False), (1, "v1", 0, True), (0, "v3", 0, True), (1, "v1", 1, False)],
)
def test_what_excuses_a_wait(oracle: Callable[[str], str], count: int, register: str, again: int, last: bool) -> None:
    """A wait for all but the last of two loads leaves that one to the next wait, which its use or a later wait makes needless."""
    device = SimulatorDevice(threads=1)
    text = EXCUSES.format(count=count, register=register, again=again)
    code = device.load(Assembler(oracle).build(text, lds=64)).handle.kernel("k").code
    waits = [n for n, i in enumerate(code) if i.row.mnemonic == "s_waitcnt"]
    assert excused(code, waits[1], "gfx11") == last
    assert not excused(code, waits[0], "gfx11")


@pytest.mark.parametrize("count", [1, 2])
def test_a_wait_in_between_says_what_is_left(oracle: Callable[[str], str], count: int) -> None:
    """Behind a wait for all but one access only the store is under way, which nothing waits for; behind one for all but two the load."""
    device = SimulatorDevice(threads=1)
    text = f"  ds_load_b32 v2, v0\n  ds_store_b32 v0, v0\n  s_waitcnt lgkmcnt({count})\n  v_mov_b32 v3, v0\n"
    text += "  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v4, v2\n  s_endpgm\n"
    code = device.load(Assembler(oracle).build(text, lds=64)).handle.kernel("k").code
    assert excused(code, 4, "gfx11") == (count == 1)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_wait_covers_what_it_does_not_leave(oracle: Callable[[str], str], count: int) -> None:
    """Of two loads a wait for all but one covers the first, which a wait in front has covered; a wait for all but two covers none."""
    device = SimulatorDevice(threads=1)
    text = "  ds_load_b32 v2, v0\n  ds_load_b32 v4, v0\n  s_waitcnt lgkmcnt(1)\n  v_mov_b32 v3, v2\n"
    text += f"  s_waitcnt lgkmcnt({count})\n  s_branch on\non:\n  v_mov_b32 v5, v4\n  s_endpgm\n"
    code = device.load(Assembler(oracle).build(text, lds=64)).handle.kernel("k").code
    assert excused(code, 4, "gfx11") == (count > 0)


def check(device: SimulatorDevice, case: Case) -> Counter[tuple[str, str]]:
    """Every removal is found, but for those with a reason; gives how many of each kind had which outcome."""
    data = (NATIVE / case.file).read_bytes()
    handle = device.load(data).handle
    code = handle.kernel(case.kernel).code
    outcomes: Counter[tuple[str, str]] = Counter()
    for removal in removals(device, case):
        outcome = removal.outcome
        at = code[removal.number]
        if outcome == "silent":
            if removal.kind == NOPS:
                assert handle.generation != "gfx9.4" and pads(code, removal.number), (
                    case.name,
                    hex(at.pc),
                    removal.text,
                )
                outcome = "padding"
            elif removal.kind == HAZARDS:
                why = needless(code, removal.number, partial(misses_wait, handle, case.kernel, removal.number))
                assert why is not None, (case.name, hex(at.pc), removal.text)
                outcome = why
            elif excused(code, removal.number, handle.generation):
                outcome = "not needed"
            else:
                # What a barrier orders is found as the code runs.
                word = int.from_bytes(handle.object.text[at.pc : at.pc + 4], "little")
                text_at = data.index(handle.object.text[:256])
                outcome = judge(device, case, data, text_at, Mutant(at.pc, word, 0xBF800000, "deleted")).outcome
                assert outcome != "silent", (case.name, hex(at.pc), removal.text)
        outcomes[removal.kind, outcome] += 1
    return outcomes


@pytest.mark.parametrize("case", QUICK, ids=lambda c: c.name)
def test_removals_in_some_kernels(device: SimulatorDevice, case: Case) -> None:
    counts = check(device, case)
    assert counts[WAITS, "outstanding_load"] > 0
    if case.kernel in ("mfma_f16_32x32", "mfma_f32", "mfma_f64", "mfma_bf16", "mfma_i8"):
        assert counts[NOPS, "missing_nop"] > 0


def test_all_kinds_of_hazard_waits_occur() -> None:
    """The suites hold no-ops of matrix operations, waits for masks, for transcendental results and for gfx12's scalar registers."""
    device = SimulatorDevice(threads=1)
    found: Counter[str] = Counter()
    for file, kernel in (
        ("extra/gfx950-mma.O2.hsaco", "mfma_f64"), ("extra/gfx1100-w64.O2.hsaco", "double_math"),
        ("extra/gfx1100-w32.O2.hsaco", "double_math"), ("extra/gfx1201.O2.hsaco", "single_division"),
    ):  # fmt: skip
        (case,) = [c for c in CASES if (c.file, c.kernel) == (file, kernel)]
        found[f"{file} {kernel}"] = sum(r.outcome == "missing_nop" for r in removals(device, case, (NOPS, HAZARDS)))
    device.close()
    assert all(found.values()) and len(found) == 4, found


@pytest.mark.full
@pytest.mark.parametrize("case", [c for c in CASES if c not in QUICK], ids=lambda c: c.name)
def test_removals_in_every_kernel(device: SimulatorDevice, case: Case) -> None:
    check(device, case)
