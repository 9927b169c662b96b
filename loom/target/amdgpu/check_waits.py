"""Independent check of a machine program's waits: outstanding operations are followed one by one.

Nothing here is shared with the wait analysis.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Set

from loom.target.amdgpu.check_allocation import Finding, Place, places_of
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import BranchTarget, Immediate, MachineInstruction, MachineProgram, Register

_HALVES = ("vgpr", "vgpr.hi")
"""Banks under which the lower and upper halves of vector registers are kept apart."""


def _parts(instruction: MachineInstruction, slot: str, register: Register) -> Iterator[Place]:
    """What an operand stands for where waits are concerned: both halves of vector registers, or, for the data of a
    16-bit or shorter memory instruction of gfx11 and gfx12, the one half that it moves."""
    row = instruction.row
    memory = row.memory
    chosen: tuple[str, ...] = _HALVES
    if memory is not None and memory.bytes <= 2 and row.generation != "gfx9.4" and "format" not in row.mnemonic:
        loads = memory.kind == "load" and "_d16" in row.mnemonic and slot == memory.result
        if loads or (memory.kind == "store" and slot in memory.data):
            chosen = (_HALVES["_d16_hi" in row.mnemonic],)
    for bank, index in places_of(register):
        if bank != "vgpr":
            yield bank, index
        else:
            for half in chosen:
                yield half, index


def _wait_values(instruction: MachineInstruction, generation: str) -> dict[str, int]:
    name = instruction.row.mnemonic
    number = next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0)
    if name == "s_waitcnt":
        if generation == "gfx9.4":
            return {
                "vmcnt": (number & 15) + (number >> 14 << 4),
                "lgkmcnt": number >> 8 & 15,
                "expcnt": number >> 4 & 7,
            }
        return {"vmcnt": number >> 10, "lgkmcnt": number >> 4 & 63, "expcnt": number & 7}
    if name in ("s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt"):
        return {name[7:].split("_", 1)[0]: number >> 8, "dscnt": number & 63}
    if name.startswith("s_waitcnt_") and name != "s_waitcnt_depctr":
        return {name[10:]: number}
    if name.startswith("s_wait_") and name.endswith("cnt"):
        return {name[7:]: number}
    return {}


def flow_of(program: MachineProgram) -> list[list[int]]:
    """By block the numbers of the blocks that control may go to."""
    number: dict[str, int] = {}
    for i, block in enumerate(program.blocks):
        number.setdefault(block.label, i)
    result = []
    for i, block in enumerate(program.blocks):
        out = []
        last = block.instructions[-1].row.mnemonic if block.instructions else ""
        for instruction in block.instructions:
            for operand in instruction.operands:
                if isinstance(operand, BranchTarget) and operand.label in number:
                    out.append(number[operand.label])
        if last not in ("s_endpgm", "s_branch", "s_setpc_b64") and i + 1 < len(program.blocks):
            out.append(i + 1)
        result.append(out)
    return result


Token = int | str
"""An operation under way: the number of the instruction, or, where no register waits for it, its mnemonic alone."""

_UNREAD_COUNTERS = ("vscnt", "storecnt", "expcnt")
"""Counters of operations that write no registers."""


class _UnderWay:
    """Operations that are under way, by counter, and by the registers that they write.

    Ages are the numbers of younger operations of the counter; they are kept as the number of operations issued so far
    at the time, so that an operation that is issued does not touch those before it.
    """

    __slots__ = ("issued", "writers", "written", "youngest")

    def __init__(self, ages: Mapping[tuple[Token, str], int], written: Mapping[int, frozenset[Place]]) -> None:
        self.issued: dict[str, int] = {}
        self.youngest: dict[str, dict[Token, int]] = {}
        self.writers: dict[Place, dict[tuple[int, str], None]] = {}
        self.written = written
        for (token, counter), age in ages.items():
            self._add(token, counter, -age)

    def ages(self) -> dict[tuple[Token, str], int]:
        """Every operation with its age, of those that are not told apart the least."""
        return {
            (token, counter): self.issued.get(counter, 0) - moment
            for counter, moments in self.youngest.items()
            for token, moment in moments.items()
        }

    def issue(self, token: Token, counter: str) -> None:
        """An operation starts."""
        self.issued[counter] = self.issued.get(counter, 0) + 1
        self._add(token, counter, self.issued[counter])

    def _add(self, token: Token, counter: str, moment: int) -> None:
        self.youngest.setdefault(counter, {})[token] = moment
        if not isinstance(token, str):
            for place in self.written[token]:
                self.writers.setdefault(place, {})[token, counter] = None

    def wait(self, counter: str, value: int, in_order: bool) -> None:
        """Wait until a counter has come down to a value."""
        moments = self.youngest.get(counter, {})
        last = self.issued.get(counter, 0) - value
        for token in [t for t, moment in moments.items() if value == 0 or (in_order and moment <= last)]:
            del moments[token]
            if not isinstance(token, str):
                for place in self.written[token]:
                    del self.writers[place][token, counter]

    def writers_of(self, places: Set[Place]) -> set[tuple[int, str]]:
        """The operations that are to write any of the places, by instruction and counter."""
        return {writer for place in places for writer in self.writers.get(place, ())}


def check_waits(
    program: MachineProgram, generation: str, barrier_memory: Mapping[int, str] | None = None
) -> list[Finding]:
    """Every register that an outstanding operation writes is waited for before it is touched; every barrier covers
    the stores."""
    barrier_memory = barrier_memory or {}
    findings: dict[tuple[str, int], Finding] = {}
    flow = flow_of(program)
    # Ages on entry to each block: of an operation the youngest that any path allows.
    entry: dict[int, dict[tuple[Token, str], int]] = {0: {}}
    numbered: list[MachineInstruction] = []
    base: list[int] = []
    for block in program.blocks:
        base.append(len(numbered))
        numbered.extend(block.instructions)
    written: dict[int, frozenset[Place]] = {}
    rows: dict[str, InstructionRow] = {instruction.row.mnemonic: instruction.row for instruction in numbered}

    def results(number: int) -> frozenset[Place]:
        found = written.get(number)
        if found is None:
            instruction = numbered[number]
            memory = instruction.row.memory
            places: set[Place] = set()
            if memory is None or memory.kind in ("load", "atomic"):
                for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True):
                    if slot.is_def and isinstance(operand, Register):
                        places.update(_parts(instruction, slot.name, operand))
            found = written[number] = frozenset(places)
        return found

    def row_of(token: Token) -> InstructionRow:
        return rows[token] if isinstance(token, str) else numbered[token].row

    def kind_of(token: Token) -> str:
        row = row_of(token)
        return row.memory.space if row.memory is not None else row.issue_class

    def step(index: int) -> dict[tuple[Token, str], int]:
        under_way = _UnderWay(entry[index], written)
        for number, instruction in enumerate(program.blocks[index].instructions, base[index]):
            waits = _wait_values(instruction, generation)
            if waits:
                for counter, value in waits.items():
                    kinds = {kind_of(token) for token in under_way.youngest.get(counter, ())}
                    under_way.wait(counter, value, _keeps_order(generation, counter, kinds))
                continue
            name = instruction.row.mnemonic
            read: set[Place] = set()
            replaced: set[Place] = set()
            for half in (instruction, instruction.y):
                if half is not None:
                    for slot, operand in zip(half.row.slots, half.operands, strict=True):
                        if isinstance(operand, Register):
                            found = replaced if slot.is_def and not slot.is_use else read
                            found.update(_parts(half, slot.name, operand))
                    if "vcc" in half.row.implicit_uses or "vcc" in half.row.implicit_defs:
                        read.update((("sgpr", 106), ("sgpr", 107)))
            early = under_way.writers_of(read)
            for writer in under_way.writers_of(replaced - read):
                if not _written_in_order(numbered[writer[0]].row, instruction.row):
                    early.add(writer)
            if early:
                producer, counter = min(early)
                bank, at = min(written[producer] & (read | replaced))
                register = f"{bank.partition('.')[0]}{at}"
                findings.setdefault(
                    (name, number),
                    Finding(
                        "wait",
                        program.blocks[index].label,
                        str(name),
                        f"{register} is used while {numbered[producer].row.mnemonic} is under way ({counter})",
                    ),
                )
            if name == "s_barrier" or name.startswith("s_barrier_signal"):
                wanted = barrier_memory.get(id(instruction))
                for token, counter in under_way.ages():
                    memory = row_of(token).memory
                    if memory is None or memory.kind == "cache":
                        continue
                    lds = memory.space == "lds"
                    store = counter in ("vscnt", "storecnt")
                    if (lds and wanted != "global") or (store and wanted != "workgroup"):
                        findings.setdefault(
                            (name, number),
                            Finding(
                                "wait",
                                program.blocks[index].label,
                                name,
                                f"{row_of(token).mnemonic} is under way at the barrier ({counter})",
                            ),
                        )
            for counter in _raised(instruction):
                seen = counter not in _UNREAD_COUNTERS and results(number)
                under_way.issue(number if seen else name, counter)
        return under_way.ages()

    work = [0]
    queued = {0}
    while work:
        index = heapq.heappop(work)
        queued.discard(index)
        out = step(index)
        for successor in flow[index]:
            known = entry.get(successor)
            merged = dict(out) if known is None else dict(known)
            if known is not None:
                for token, age in out.items():
                    if token not in merged or merged[token] > age:
                        merged[token] = age
            capped = {token: min(age, 64) for token, age in merged.items()}
            if capped != known:
                entry[successor] = capped
                if successor not in queued:
                    queued.add(successor)
                    heapq.heappush(work, successor)
    return list(findings.values())


def _keeps_order(generation: str, counter: str, kinds: set[str]) -> bool:
    if kinds & {"constant", "message"} or ("flat" in kinds and generation == "gfx9.4"):
        return False
    own = "lds" if counter in ("lgkmcnt", "dscnt") else "vmem"
    shared = ("flat", "global", "buffer", "scratch") if own == "vmem" else ("flat", "lds")
    return len({own if kind in shared else kind for kind in kinds}) <= 1


def _written_in_order(first: InstructionRow, second: InstructionRow) -> bool:
    """Whether the results of two instructions arrive one behind the other, so that the second may write the first's
    registers while it is under way: loads of memory and atomics, flat ones left out, on all but gfx12.

    This is what llc 22 relies on: without a wait, ``global_load`` follows ``global_load``, ``scratch_load`` or an
    atomic to the same register on gfx942, gfx950 and gfx1100, not on gfx1201; ``ds_load`` and ``s_load`` never do.
    """
    return first.generation != "gfx12" and all(
        row.memory is not None
        and row.memory.space in ("global", "buffer", "scratch")
        and row.memory.kind in ("load", "atomic")
        for row in (first, second)
    )


def _raised(instruction: MachineInstruction) -> tuple[str, ...]:
    row = instruction.row
    memory = row.memory
    if memory is not None and memory.kind == "atomic" and memory.space in ("global", "buffer", "flat", "scratch"):
        modifiers = instruction.modifiers
        returning = bool(modifiers.get("glc") or modifiers.get("sc0") or modifiers.get("th", 0) & 1)
        unwanted = ("vscnt", "storecnt") if returning else ("vmcnt", "loadcnt")
        left = tuple(c for c in row.counters if c not in unwanted)
        return left or row.counters
    return row.counters
