"""Mutation test of every kernel: an instruction that only waits is taken out, and the checks of the final code must find it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.target.amdgpu.machine import Immediate, MachineInstruction
from tests.target.amdgpu.simulator import extra_suite, native_suite
from tests.target.amdgpu.simulator.mutation import (
    HAZARDS,
    NATIVE,
    NOPS,
    WAITS,
    Mutant,
    excused,
    judge,
    removals,
    static_faults,
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
    """Whether the checks of changed code find nothing as it stands, and a fault without a wait."""
    faults = [static_faults(handle, handle.kernel(kernel), c) for c in (list(code), *without(code, number))]
    return not faults[0] and all(faults[1:])


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
