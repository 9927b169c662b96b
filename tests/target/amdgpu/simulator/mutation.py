"""Deleting and weakening waits and no-ops, and what the simulator says about the result.

:func:`judge` changes a code object's bytes and runs it. :func:`removals` changes the decoded code and asks the checks of the final
code, which is fast enough for every kernel; what these find at an instruction that the case executes is a fault there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Faulted
from loom.target.amdgpu.access import reads_and_writes
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import BranchTarget, Immediate, MachineInstruction
from loom.target.amdgpu.simulator.hazard_check import hazard_faults
from loom.target.amdgpu.simulator.static_check import StaticChecker
from loom.target.amdgpu.simulator.translate import StaticFault, split_blocks
from loom.target.amdgpu.tables import find_row
from loom.target.amdgpu.waits import MODELS, counters_raised, waits_performed
from tests.target.amdgpu.simulator.native_suite import NATIVE, Case, run

S_NOP = 0xBF800000
_SOPP = 0b101111111 << 23
#: SOPP opcodes of waits by generation; their effect is a number in the low 16 bits.
_WAITS = {
    "gfx11": {9: "s_waitcnt"},
    "gfx12": {
        0x40: "loadcnt",
        0x41: "storecnt",
        0x46: "dscnt",
        0x47: "kmcnt",
        0x48: "loadcnt_dscnt",
        0x49: "storecnt_dscnt",
    },
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


WAITS, NOPS, HAZARDS = "wait", "no-op", "hazard wait"
_NAMED = {
    "s_waitcnt_depctr": HAZARDS,
    "s_wait_alu": HAZARDS,
    "s_nop": NOPS,
    "v_nop": NOPS,
}


@dataclass(frozen=True)
class Removal:
    """An instruction that only waits, taken out of a kernel: its number in the code, its kind, what then happens.

    ``outcome``: the kind of fault that the checks of the final code find at an instruction that the case executes, or ``silent``.
    """

    number: int
    kind: str
    text: str
    outcome: str


def kind_of(instruction: MachineInstruction) -> str | None:
    """What an instruction is for, if it only waits."""
    name = instruction.row.mnemonic
    if name in _NAMED:
        return _NAMED[name]
    if name.startswith(("s_waitcnt", "s_wait_")) and name not in ("s_wait_event", "s_wait_idle"):
        return WAITS
    return None


def removals(device: SimulatorDevice, case: Case, kinds: tuple[str, ...] = (WAITS, NOPS, HAZARDS)) -> list[Removal]:
    """Take each instruction that only waits, and that the case executes, out in turn."""
    from tests.target.amdgpu.simulator.reach import executed

    handle = device.load((NATIVE / case.file).read_bytes()).handle
    kernel = handle.kernel(case.kernel)
    code = kernel.code
    done = {instruction.pc for instruction, _ in executed(case, device)}
    found = []
    for number, instruction in enumerate(code):
        kind = kind_of(instruction)
        if kind not in kinds or instruction.pc not in done:
            continue
        for changed in without(code, number):
            faults = static_faults(handle, kernel, changed)
            reached = [fault.kind for at, fault in sorted(faults.items()) if changed[at].pc in done]
            found.append(Removal(number, kind, str(instruction), reached[0] if reached else "silent"))
    return found


def without(code: Sequence[MachineInstruction], number: int) -> Iterator[list[MachineInstruction]]:
    """The code without an instruction; a no-op of several wait states also with one less."""
    instruction = code[number]
    nothing = MachineInstruction(_row("s_nop", instruction), None, (Immediate(0),), {}, pc=instruction.pc, size=4)
    if instruction.row.mnemonic != "s_nop":
        # A wait is itself a wait state, so that another takes its place.
        yield [*code[:number], nothing, *code[number + 1 :]]
        return
    value = instruction.operands[0].value  # type: ignore[union-attr]
    if value:
        less = MachineInstruction(
            instruction.row, instruction.form, (Immediate(value - 1),), {}, pc=instruction.pc, size=4
        )
        yield [*code[:number], less, *code[number + 1 :]]
    yield [*code[:number], *code[number + 1 :]]


def _row(name: str, like: MachineInstruction) -> InstructionRow:
    row = find_row(like.row.generation, name)
    assert row is not None
    return row


def static_faults(handle: Any, kernel: Any, code: list[MachineInstruction]) -> dict[int, StaticFault]:
    """Everything that the checks of the final code find, by instruction number."""
    loaded = handle.object
    faults = dict(hazard_faults(code, kernel.entries, loaded.processor.name, kernel.entry.wave, loaded.compiler))
    blocks = split_blocks(code, kernel.entries)
    split = kernel.entry.workgroup_processor_mode
    faults.update(StaticChecker(code, blocks, handle.generation, kernel.entries, split).run())
    return faults


def excused(code: Sequence[MachineInstruction], number: int, generation: str) -> bool:
    """Whether a wait covers nothing that matters: no path leads to it from an instruction that raises one of its counters, other than
    stores to scratch, stores that no barrier follows, loads that another wait covers before their result is used, and what a wait in
    between for all but the latest few has covered.

    Control flow is followed backwards over branches, to the beginning of the function.
    """
    at = {instruction.pc: n for n, instruction in enumerate(code)}
    before: dict[int, list[int]] = {n: [] for n in range(len(code))}
    for n, instruction in enumerate(code):
        target = next((o.offset for o in instruction.operands if isinstance(o, BranchTarget)), None)
        if target is not None and target in at and instruction.row.mnemonic != "s_call_b64":
            before[at[target]].append(n)
        falls = instruction.row.mnemonic not in ("s_branch", "s_endpgm", "s_setpc_b64", "s_code_end")
        if falls and n + 1 < len(code) and code[n + 1].pc == instruction.pc + instruction.size:
            before[n + 1].append(n)
    ahead = _reached(number, before)
    alone = not any(code[n].row.mnemonic.startswith("s_barrier") for n in ahead)
    limits = MODELS[generation].maximum
    covered = {c: v for c, v in waits_performed(code[number], generation).items() if v < limits.get(c, 0)}
    # Each counter with how many of the latest accesses this wait leaves under way, and how many a wait in between has left.
    start: frozenset[tuple[str, int, int | None]] = frozenset((c, v, None) for c, v in covered.items())
    work = [(n, start) for n in before[number]]
    seen: set[tuple[int, frozenset[tuple[str, int, int | None]]]] = set()
    while work:
        n, wanted = work.pop()
        if (n, wanted) in seen:
            continue
        seen.add((n, wanted))
        instruction = code[n]
        done = waits_performed(instruction, generation)
        ordered = _in_order(instruction, generation)
        raises = counters_raised(instruction)
        left: set[tuple[str, int, int | None]] = set()
        raised: set[str] = set()
        for counter, leaves, rest in wanted:
            if done.get(counter) == 0:
                continue
            rest = _fewer(rest, done.get(counter))
            if counter in raises and ordered:
                if not leaves and rest != 0:
                    raised.add(counter)
                leaves, rest = max(0, leaves - 1), rest - 1 if rest else rest
            elif counter in raises and not covered[counter]:
                raised.add(counter)
            left.add((counter, leaves, rest))
        memory = instruction.row.memory
        stores = memory is not None and memory.kind in ("store", "atomic", "cache")
        own = memory is not None and (alone or memory.space == "scratch")
        if (
            raised
            and not (stores and own)
            and not _covered_later(code, number, instruction, frozenset(raised), generation)
        ):
            return False
        if left:
            work += [(p, frozenset(left)) for p in before[n]]
    return True


def _fewer(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _in_order(instruction: MachineInstruction, generation: str) -> bool:
    """Whether what an access returns comes after what those of its counter in front of it return."""
    memory = instruction.row.memory
    if memory is None:
        return instruction.row.issue_class == "lds"
    return memory.space != "constant" and (memory.space != "flat" or generation != "gfx9.4")


def _reached(number: int, before: dict[int, list[int]]) -> set[int]:
    """Instructions that control may come to from one, given which may come before each."""
    after: dict[int, list[int]] = {}
    for n, earlier in before.items():
        for m in earlier:
            after.setdefault(m, []).append(n)
    found: set[int] = set()
    work = [number]
    while work:
        for n in after.get(work.pop(), ()):
            if n not in found:
                found.add(n)
                work.append(n)
    return found


def _covered_later(
    code: Sequence[MachineInstruction], number: int, load: MachineInstruction, counters: frozenset[str], generation: str
) -> bool:
    """Whether, straight ahead of a wait, another one for zero comes before anything touches a load's result; a function that is
    called waits for everything."""
    _, results = reads_and_writes(load)
    for instruction in code[number + 1 :]:
        waits = waits_performed(instruction, generation)
        if any(waits.get(counter) == 0 for counter in counters):
            return True
        reads, writes = reads_and_writes(instruction)
        if set(results) & {*reads, *writes}:
            return False
        if instruction.row.issue_class == "branch" and instruction.row.mnemonic != "s_getpc_b64":
            return instruction.row.mnemonic in ("s_swappc_b64", "s_call_b64")
    return False
