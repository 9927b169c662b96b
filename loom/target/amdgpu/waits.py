"""Waits of AMDGPU programs: what each instruction means to the counters, and the instructions that wait.

Facts (LLVM's AMDGPU usage guide, memory model; AMD ISA documents): vector loads return in order; scalar loads do
not; LDS operations
do, but share ``lgkmcnt`` with scalar loads and messages up to gfx11. gfx12 has a counter for each. FLAT may use LDS
and memory, and counts on both; before gfx10 it finishes in any order (LLVM: ``hasFlatLgkmVMemCountInOrder``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loom.low.loop_waits import place_waits
from loom.low.waits import CounterModel, Event, Wait, WaitAccess, WaitAnalysis
from loom.target.amdgpu.access import atomic_returns
from loom.target.amdgpu.halves import halved_registers, units_by_halves, whole_register
from loom.target.amdgpu.immediates import waitcnt_fields, waitcnt_value
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import (
    BranchTarget,
    Immediate,
    MachineBlock,
    MachineInstruction,
    MachineProgram,
    Register,
)
from loom.target.amdgpu.tables import find_row

MODELS: dict[str, CounterModel] = {
    "gfx11": CounterModel(
        {"vmcnt": 63, "lgkmcnt": 63, "expcnt": 7, "vscnt": 63},
        frozenset(("smem", "message")),
        (frozenset(("vmem", "lds", "vscnt", "flat")),),
        frozenset(("vmem",)),
    ),
    "gfx12": CounterModel(
        {"loadcnt": 63, "samplecnt": 63, "bvhcnt": 7, "kmcnt": 31, "dscnt": 63, "expcnt": 7, "storecnt": 63},
        frozenset(("smem", "message")),
        (frozenset(("storecnt", "vmem", "lds", "cache", "flat")),),
    ),
    "gfx9.4": CounterModel(
        {"vmcnt": 63, "lgkmcnt": 15, "expcnt": 7},
        frozenset(("smem", "flat", "message")),
        (),
        frozenset(("vmem",)),
    ),
}
"""Counters of each generation with the largest value a wait can name; kinds that finish in any order; kinds that keep
one order wherever they share a counter (flat accesses, from gfx10 on, with those of memory and those of the LDS); kinds
whose results are written in order of issue (LLVM's feature ``vmem-write-vgpr-in-order``: gfx9 and gfx11 have it, gfx12
has not; it holds for accesses that can only be to memory, not for flat ones, the LDS or scalar loads)."""

_SINGLE_WAITS = {
    "s_waitcnt_vscnt": "vscnt",
    "s_waitcnt_vmcnt": "vmcnt",
    "s_waitcnt_lgkmcnt": "lgkmcnt",
    "s_waitcnt_expcnt": "expcnt",
    "s_wait_loadcnt": "loadcnt",
    "s_wait_storecnt": "storecnt",
    "s_wait_dscnt": "dscnt",
    "s_wait_kmcnt": "kmcnt",
    "s_wait_expcnt": "expcnt",
    "s_wait_samplecnt": "samplecnt",
    "s_wait_bvhcnt": "bvhcnt",
}

_LDS_KINDS = frozenset(("lds", "flat"))

_FILLED_LDS = 1 << 16
"""No register: LDS that a load is filling. Every access of LDS and every barrier waits for it."""


def waits_performed(instruction: MachineInstruction, generation: str) -> Mapping[str, int]:
    """Counters that an instruction itself waits for, with their values; empty for all but waits."""
    name = instruction.row.mnemonic
    if not name.startswith("s_wait"):
        return {}
    value = next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0)
    if name == "s_waitcnt":
        return waitcnt_fields(value, generation)
    if name == "s_wait_loadcnt_dscnt":
        return {"loadcnt": value >> 8 & 63, "dscnt": value & 63}
    if name == "s_wait_storecnt_dscnt":
        return {"storecnt": value >> 8 & 63, "dscnt": value & 63}
    if name == "s_wait_idle":
        return dict.fromkeys(MODELS[generation].maximum, 0)
    counter = _SINGLE_WAITS.get(name)
    return {} if counter is None else {counter: value}


def _kind(instruction: MachineInstruction, counter: str) -> str:
    memory = instruction.row.memory
    if memory is None:
        # Lane exchange through the LDS unit touches no memory but keeps the order of LDS operations.
        return {"message": "message", "lds": "lds"}.get(instruction.row.issue_class, counter)
    if memory.kind == "cache":
        return "cache"
    if memory.space == "constant":
        return "smem"
    if memory.space == "flat":
        return "flat"
    if memory.space in ("lds", "gds"):
        return memory.space if counter not in ("expcnt",) else "gds"
    return "vmem" if counter in ("vmcnt", "loadcnt") else counter


def counters_raised(instruction: MachineInstruction) -> tuple[str, ...]:
    """Counters that the instruction raises; a returning atomic counts as a load, any other as a store."""
    row = instruction.row
    counters = row.counters
    memory = row.memory
    if memory is not None and memory.kind == "atomic" and memory.space not in ("lds", "gds"):
        returns = atomic_returns(instruction)
        drop = {"vscnt", "storecnt"} if returns else {"vmcnt", "loadcnt"}
        kept = tuple(c for c in counters if c not in drop)
        if kept:
            return kept
    return counters


def access_of(
    instruction: MachineInstruction,
    generation: str,
    barrier_memory: str | None,
    halved: frozenset[int] = frozenset(),
) -> WaitAccess:
    """What the instruction means to the counters; halves of ``halved`` registers are told apart."""
    row = instruction.row
    performed = waits_performed(instruction, generation)
    if performed:
        return WaitAccess(waits=performed)
    reads, writes = units_by_halves(instruction, halved)
    counters = counters_raised(instruction)
    drains = _drains(row.mnemonic, generation, barrier_memory)
    events: tuple[Event, ...] = ()
    if counters:
        written: tuple[int, ...] = ()
        if fills_lds(instruction):
            written = (_FILLED_LDS,)
        elif _returns_data(instruction):
            written = tuple(u for u in writes if whole_register(u) < 1300)
        events = tuple(
            Event(
                counter, _kind(instruction, counter), written if counter not in ("vscnt", "storecnt", "expcnt") else ()
            )
            for counter in counters
        )
    filled = (_FILLED_LDS,) if _sees_lds(row) else ()
    replaced: tuple[int, ...] = ()
    if events and events[0].kind in MODELS[generation].ordered_results:
        replaced = tuple(unit for unit in events[0].writes if unit in writes and unit not in reads)
        writes = [unit for unit in writes if unit not in replaced]
    return WaitAccess((*reads, *writes, *filled), events, drains, replaces=replaced)


def fills_lds(instruction: MachineInstruction) -> bool:
    """Whether it is a load whose data goes to LDS."""
    memory = instruction.row.memory
    return memory is not None and (memory.kind == "load_lds" or bool(instruction.modifiers.get("lds")))


def _sees_lds(row: InstructionRow) -> bool:
    if row.memory is None:
        return row.mnemonic == "s_barrier" or row.mnemonic.startswith("s_barrier_signal")
    return row.memory.space in _LDS_KINDS


def _returns_data(instruction: MachineInstruction) -> bool:
    memory = instruction.row.memory
    return memory is None or memory.kind in ("load", "atomic")


def _drains(
    mnemonic: str, generation: str, memory: str | None
) -> tuple[tuple[str, int, str, frozenset[str] | None], ...]:
    """What must be finished before a barrier.

    Without a word from the text, a barrier publishes what the wave has stored, in memory and in LDS, and LDS reads
    are done; loads
    of memory may be under way, which is what software pipelines rely on. ``memory`` says otherwise.
    """
    if not (mnemonic == "s_barrier" or mnemonic.startswith("s_barrier_signal")):
        return ()
    lds = "dscnt" if generation == "gfx12" else "lgkmcnt"
    loads = "loadcnt" if generation == "gfx12" else "vmcnt"
    stores = {"gfx12": "storecnt", "gfx11": "vscnt"}.get(generation)
    result: list[tuple[str, int, str, frozenset[str] | None]] = []
    if memory != "global":
        result.append((lds, 0, "barrier", _LDS_KINDS))
    if memory != "workgroup":
        if stores is not None:
            result.append((stores, 0, "barrier", frozenset((stores, "flat"))))
        if memory is not None or stores is None:
            result.append((loads, 0, "barrier", None))
    return tuple(result)


@dataclass(slots=True)
class WaitReport:
    """What was inserted, or found missing in a program that must have its waits already.

    Attributes:
        inserted: Number of wait instructions.
        rows: One entry a wait: block label, index of the instruction it guards, counters, causes.
    """

    inserted: int = 0
    rows: list[tuple[str, MachineInstruction, dict[str, int], list[tuple[str, MachineInstruction | None, str]]]] = (
        field(default_factory=list)
    )


def successors_of(program: MachineProgram) -> list[list[int]]:
    """Indices of the blocks that control may reach from each block."""
    index_of = {block.label: i for i, block in enumerate(program.blocks)}
    result: list[list[int]] = []
    for i, block in enumerate(program.blocks):
        targets: list[int] = []
        falls = True
        for instruction in block.instructions:
            name = instruction.row.mnemonic
            for operand in instruction.operands:
                if isinstance(operand, BranchTarget) and operand.label is not None and operand.label in index_of:
                    targets.append(index_of[operand.label])
            if name in ("s_branch", "s_endpgm", "s_setpc_b64", "s_endpgm_saved"):
                falls = False
        if falls and i + 1 < len(program.blocks):
            targets.append(i + 1)
        result.append(list(dict.fromkeys(targets)))
    return result


def _accesses(program: MachineProgram, generation: str, barrier_memory: Mapping[int, str]) -> list[list[WaitAccess]]:
    """What each instruction means to the counters."""
    halved = halved_registers(program.instructions())
    return [
        [access_of(i, generation, barrier_memory.get(id(i)), halved) for i in block.instructions]
        for block in program.blocks
    ]


def insert_waits(program: MachineProgram, generation: str, barrier_memory: Mapping[int, str]) -> WaitReport:
    """Put the waits that are needed into the program, and nothing else."""
    placed = place_waits(
        _accesses(program, generation, barrier_memory),
        successors_of(program),
        MODELS[generation],
        [_first_branch(block) for block in program.blocks],
    )
    flat = [instruction for block in program.blocks for instruction in block.instructions]
    report = WaitReport()

    def made(label: str, instruction: MachineInstruction, wait: Wait) -> list[MachineInstruction]:
        """The instructions of a wait that ``instruction`` needs."""
        result = wait_instructions(wait.counters, generation)
        for extra in result:
            extra.location = instruction.location
        report.inserted += len(result)
        causes = [(c, flat[p] if p >= 0 else None, reason) for c, p, reason in wait.causes]
        report.rows.append((label, instruction, dict(wait.counters), causes))
        return result

    listed = [list(block.instructions) for block in program.blocks]
    for index, (block, waits) in enumerate(zip(program.blocks, placed.inside, strict=True)):
        if not any(waits) and index not in placed.front:
            continue
        result: list[MachineInstruction] = []
        end = _first_branch(block)
        for number, wait in enumerate([*waits, None]):
            if number == end and index in placed.front:
                front, (first, at) = placed.front[index]
                result.extend(made(block.label, listed[first][at], front))
            if number < len(waits):
                if wait is not None:
                    result.extend(made(block.label, listed[index][number], wait))
                result.append(listed[index][number])
        block.instructions = result
    return report


def _first_branch(block: MachineBlock) -> int:
    """The number of the first of the branches that end a block, of instructions where none does."""
    end = len(block.instructions)
    while end and any(isinstance(operand, BranchTarget) for operand in block.instructions[end - 1].operands):
        end -= 1
    return end


def missing_waits(program: MachineProgram, generation: str) -> WaitReport:
    """Waits that a program which is emitted as it stands lacks."""
    needed = WaitAnalysis(_accesses(program, generation, {}), successors_of(program), MODELS[generation]).waits
    flat = [instruction for block in program.blocks for instruction in block.instructions]
    report = WaitReport()
    for block, waits in zip(program.blocks, needed, strict=True):
        for instruction, wait in zip(block.instructions, waits, strict=True):
            if wait is not None:
                causes = [(c, flat[p] if p >= 0 else None, reason) for c, p, reason in wait.causes]
                report.rows.append((block.label, instruction, dict(wait.counters), causes))
    return report


def wait_instructions(counters: Mapping[str, int], generation: str) -> list[MachineInstruction]:
    """The instructions that wait for ``counters``."""
    result: list[MachineInstruction] = []

    def make(mnemonic: str, *operands: Register | Immediate) -> None:
        row = find_row(generation, mnemonic)
        assert row is not None, mnemonic
        result.append(MachineInstruction(row, None, tuple(operands)))

    if generation == "gfx12":
        counters = dict(counters)
        for other in ("loadcnt", "storecnt"):
            if other in counters and "dscnt" in counters:
                make(f"s_wait_{other}_dscnt", Immediate(counters.pop(other) << 8 | counters.pop("dscnt")))
        for counter in ("loadcnt", "samplecnt", "bvhcnt", "storecnt", "dscnt", "kmcnt", "expcnt"):
            if counter in counters:
                make(f"s_wait_{counter}", Immediate(counters[counter]))
        return result
    legacy = {c: v for c, v in counters.items() if c in ("vmcnt", "lgkmcnt", "expcnt")}
    if legacy:
        value = waitcnt_value(legacy, generation)
        make("s_waitcnt", Immediate(value))
    if "vscnt" in counters:
        make("s_waitcnt_vscnt", Register("null"), Immediate(counters["vscnt"]))
    return result
