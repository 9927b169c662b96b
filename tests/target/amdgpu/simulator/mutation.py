"""Deleting and weakening waits in a code object's bytes, and what the simulator says about the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Faulted
from tests.target.amdgpu.simulator.native_suite import NATIVE, Case, run

S_NOP = 0xBF800000
_SOPP = 0b101111111 << 23
#: SOPP opcodes of waits by generation; their effect is a number in the low 16 bits.
_WAITS = {
    "gfx11": {9: "s_waitcnt"},
    "gfx12": {0x40: "loadcnt", 0x41: "storecnt", 0x46: "dscnt", 0x47: "kmcnt", 0x48: "loadcnt_dscnt", 0x49: "storecnt_dscnt"},
    "gfx9.4": {12: "s_waitcnt"},
}


@dataclass(frozen=True)
class Mutant:
    """A wait at byte ``offset`` of the text section, replaced."""

    offset: int
    original: int
    replacement: int
    what: str


@dataclass(frozen=True)
class Verdict:
    """What happened to a mutant: ``fault`` kind, ``wrong`` result, or ``silent``."""

    mutant: Mutant
    outcome: str


def vscnt_wait(word: int) -> bool:
    """S_WAITCNT_VSCNT null, n: SOPK opcode 24 with destination 124 (gfx11)."""
    return word >> 16 == (0b1011 << 12 | 24 << 7 | 124)


def mutants(device: SimulatorDevice, case: Case) -> tuple[bytes, int, list[Mutant]]:
    """The code object, the file offset of its text, and one deletion and one weakening for each wait of the kernel."""
    data = (NATIVE / case.file).read_bytes()
    handle = device.load(data).handle
    kernel = handle.kernel(case.kernel)
    text = handle.object.text
    at = data.index(text[:256])
    found = []
    for instruction in kernel.code:
        word = int.from_bytes(text[instruction.pc : instruction.pc + 4], "little")
        opcodes = _WAITS[handle.generation]
        opcode = word >> 16 & 0x7F
        is_wait = word & 0xFF800000 == _SOPP and opcode in opcodes
        if not is_wait and not (handle.generation == "gfx11" and vscnt_wait(word)):
            continue
        found.append(Mutant(instruction.pc, word, S_NOP, "deleted"))
        weaker = weaken(word, handle.generation, opcodes.get(opcode, "vscnt"))
        if weaker is not None:
            found.append(Mutant(instruction.pc, word, weaker, "weakened"))
    return data, at, found


def weaken(word: int, generation: str, kind: str) -> int | None:
    """The same wait with every count that it waits for raised by one; None when none can be."""
    value = word & 0xFFFF
    if kind == "s_waitcnt" and generation == "gfx11":
        fields = [(10, 63), (4, 63), (0, 7)]  # vmcnt, lgkmcnt, expcnt
    elif kind == "s_waitcnt":
        vm = value & 15 | (value >> 14 & 3) << 4
        lgkm = value >> 8 & 15
        new_vm = min(vm + 1, 63) if vm < 63 else vm
        new_lgkm = min(lgkm + 1, 15) if lgkm < 15 else lgkm
        new = value & ~(0xC00F | 0xF00) | new_vm & 15 | (new_vm >> 4) << 14 | new_lgkm << 8
        return None if new == value else word & 0xFFFF0000 | new
    elif kind.endswith("_dscnt"):
        fields = [(8, 63), (0, 63)]
    else:
        fields = [(0, 63)]
    new = value
    for shift, top in fields:
        current = value >> shift & top
        if current < top:
            new = new & ~(top << shift) | (current + 1) << shift
    return None if new == value else word & 0xFFFF0000 | new


def judge(device: SimulatorDevice, case: Case, data: bytes, text_at: int, mutant: Mutant) -> Verdict:
    """Run a mutant at the case's last size."""
    changed = bytearray(data)
    at = text_at + mutant.offset
    assert int.from_bytes(changed[at : at + 4], "little") == mutant.original
    changed[at : at + 4] = mutant.replacement.to_bytes(4, "little")
    executable = device.load(bytes(changed))
    n = case.sizes[-1]
    launch = case.make(n, np.random.default_rng(n))
    outcome, after = run(device, executable, case.kernel, launch)
    if isinstance(outcome, Faulted):
        return Verdict(mutant, outcome.fault.kind)
    for position, want in launch.expected.items():
        got: Any = after[position]
        reference = np.asarray(want).reshape(got.shape)
        same = (
            np.allclose(got.astype(float), reference.astype(float), rtol=launch.tolerance, atol=launch.tolerance)
            if launch.tolerance
            else np.array_equal(got, reference.astype(got.dtype))
        )
        if not same:
            return Verdict(mutant, "wrong")
    return Verdict(mutant, "silent")
