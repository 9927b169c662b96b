"""Mutation test: a kernel with a wait deleted or weakened must not pass silently where the wait covered a hazard."""

from __future__ import annotations

from collections import Counter

import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from tests.target.amdgpu.simulator.mutation import Verdict, judge, mutants
from tests.target.amdgpu.simulator.native_suite import CASES, Case

#: Kernels of the quick run; the whole suite is the long one.
QUICK = ("saxpy_asm", "reduce_dpp2_asm", "sgemm_pipe_asm", "bperm")


def verdicts(case: Case) -> list[Verdict]:
    device = SimulatorDevice(threads=1)
    data, at, found = mutants(device, case)
    assert found, "a kernel without waits tests nothing"
    result = [judge(device, case, data, at, m) for m in found]
    device.close()
    return result


def assert_caught(case: Case) -> Counter[str]:
    """Every silent mutant must be a wait with nothing left to wait for: see :func:`needed`."""
    outcomes = verdicts(case)
    silent = [v for v in outcomes if v.outcome == "silent"]
    excused = redundant(case)
    unexplained = [hex(v.mutant.offset) for v in silent if v.mutant.offset not in excused]
    assert unexplained == []
    return Counter(v.outcome for v in outcomes)


def redundant(case: Case) -> set[int]:
    """Offsets of waits that cover nothing by a count of what this straight-line neighbourhood issues.

    A wait is excused only when no memory operation of the counters it names stands between it and an earlier wait for zero, or
    when what is under way are stores to memory that no other wave of the kernel reads back.
    """
    device = SimulatorDevice(threads=1)
    from tests.target.amdgpu.simulator.native_suite import NATIVE

    handle = device.load((NATIVE / case.file).read_bytes()).handle
    kernel = handle.kernel(case.kernel)
    loads_back = any(
        i.row.memory is not None and i.row.memory.kind == "load" and i.row.memory.space in ("global", "buffer", "flat")
        and number > first_store(kernel.code)
        for number, i in enumerate(kernel.code)
    )  # fmt: skip
    excused = set()
    for number, instruction in enumerate(kernel.code):
        name = instruction.row.mnemonic
        if name in ("s_waitcnt_vscnt", "s_wait_storecnt") and not loads_back:
            excused.add(instruction.pc)
        if name.startswith(("s_waitcnt", "s_wait_")) and nothing_since_zero(kernel.code, number):
            excused.add(instruction.pc)
    device.close()
    return excused


def first_store(code: list) -> int:
    for number, i in enumerate(code):
        if i.row.memory is not None and i.row.memory.kind in ("store", "atomic") and i.row.memory.space != "lds":
            return number
    return len(code)


def nothing_since_zero(code: list, number: int) -> bool:
    """Walking back from a wait, another full wait comes before any instruction with a counter, label or branch."""
    for earlier in range(number - 1, -1, -1):
        i = code[earlier]
        if i.row.counters:
            return False
        if i.row.issue_class == "branch":
            return False
        if i.row.mnemonic == code[number].row.mnemonic and i.operands == code[number].operands:
            return True
    return True


@pytest.mark.parametrize("case", [c for c in CASES if c.kernel in QUICK], ids=lambda c: c.name)
def test_waits_of_some_kernels(case: Case) -> None:
    counts = assert_caught(case)
    assert counts["outstanding_load"] > 0


@pytest.mark.full
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_waits_of_every_kernel(case: Case) -> None:
    assert_caught(case)
