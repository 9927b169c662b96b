"""The row tables of a detailed compile report. Every row that stems from the text carries its location."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from loom.low.code import Instruction, VirtualRegister
from loom.low.liveness import SLOTS, contains, slots_in
from loom.target.amdgpu.backend import VCC_LOCATION
from loom.target.amdgpu.evidence_source import definitions_of, place_of, source_low
from loom.target.amdgpu.lowering.legalization import Legalizations
from loom.target.amdgpu.machine import MachineInstruction

if TYPE_CHECKING:
    from loom.target.amdgpu.kernel import KernelBackend

_MIX = {
    "salu": "scalar_alu_count",
    "smem": "scalar_memory_count",
    "valu": "vector_alu_count",
    "trans": "transcendental_count",
    "matrix": "matrix_count",
    "dual": "dual_issue_count",
    "vmem": "vector_memory_count",
    "flat": "flat_memory_count",
    "lds": "local_memory_count",
    "branch": "branch_count",
    "message": "message_count",
    "wait": "wait_count",
    "hint": "hint_count",
    "hazard": "hazard_count",
    "barrier": "barrier_count",
    "other": "other_count",
}
"""Issue class to the name of its count."""

_HINTS = ("s_delay_alu", "s_nop", "s_clause", "s_set_inst_prefetch_distance", "s_inst_prefetch")
"""Instructions of the class ``wait`` that wait for no counter: they are counted as hints."""

_HAZARDS = ("s_waitcnt_depctr", "s_wait_alu", "s_wait_idle")
"""Waits for the pipeline itself, which resolve hazards; no memory operation is behind them."""


def _issue_class(instruction: MachineInstruction) -> str:
    """The issue class, with hints, hazards and barriers told from waits."""
    if instruction.row.mnemonic in _HINTS:
        return "hint"
    if instruction.row.mnemonic in _HAZARDS:
        return "hazard"
    return "barrier" if instruction.row.mnemonic.startswith("s_barrier") else instruction.row.issue_class


def instruction_mix(instructions: Sequence[MachineInstruction]) -> dict[str, int]:
    """Counts by issue class, and of matrix instructions by family."""
    classes = (_issue_class(i) for i in instructions)
    counts = Counter(_MIX.get(name, "other_count") for name in classes)
    mix = {name: counts.get(name, 0) for name in dict.fromkeys(_MIX.values())}
    mix["dual_issue_count"] = sum(i.y is not None for i in instructions)
    mix["wmma_count"] = sum(i.row.mnemonic.startswith(("v_wmma", "v_swmmac")) for i in instructions)
    mix["mfma_count"] = sum(i.row.mnemonic.startswith(("v_mfma", "v_smfmac")) for i in instructions)
    mix["dot_count"] = sum(i.row.mnemonic.startswith("v_dot") for i in instructions)
    mix["atomic_count"] = sum(i.row.memory is not None and i.row.memory.kind == "atomic" for i in instructions)
    mix["total_count"] = len(instructions)
    return mix


def _levels(backend: KernelBackend, file: str) -> list[int]:
    """Live units of a register file at every slot of the allocated code, VCC left out, which no count of registers
    holds. An instruction has several slots: what it reads for the last time and what it writes may share a register."""
    allocation = backend.trace.allocation
    if allocation is None:
        return []
    delta = [0] * (allocation.liveness.slots + 1)
    for compound in allocation.compounds:
        if compound.file != file or (file == "sgpr" and (compound.location or 0) >= VCC_LOCATION):
            continue
        for runs in compound.total():
            for first, stop in runs:
                delta[first] += 1
                delta[stop] -= 1
    return list(accumulate(delta[:-1]))


def peaks_of(backend: KernelBackend) -> dict[str, tuple[int, int]]:
    """By file the most live units and the slot at which they live."""
    result = {}
    for file in ("sgpr", "vgpr"):
        levels = _levels(backend, file)
        if levels:
            peak = max(levels)
            result[file] = (peak, levels.index(peak))
    return result


def _location(low: Instruction | MachineInstruction | None) -> dict[str, Any] | None:
    return place_of(low.location if low is not None else None)


def _origin(backend: KernelBackend, register: VirtualRegister) -> dict[str, Any]:
    """What a register holds: its name, the instruction that makes it and that one's place in the text."""
    known = backend.trace.definitions.get(register.index)
    if known is None and backend.trace.allocation is not None:
        # A register that the backend made: a reload, a merged access.
        known = definitions_of(backend.trace.allocation.code).get(register.index)
    op, location = known if known is not None else ("", None)
    return {"value": register.name or f"v{register.index}", "op": op, "location": place_of(location)}


def detail_tables(backend: KernelBackend, instructions: Sequence[MachineInstruction]) -> dict[str, Any]:
    """The row tables."""
    legalizations = backend.trace.legalizations
    return {
        "wait_action_rows": _wait_rows(backend),
        "pressure_rows": _pressure_rows(backend),
        "pressure_origin_rows": _pressure_origins(backend),
        "allocation_high_water_rows": _high_water(backend),
        "spill_rows": _spill_rows(backend),
        "schedule_band_summary_rows": _bands(backend),
        "source_low": source_low(backend),
        **(legalizations if legalizations is not None else Legalizations()).tables(),
        "access_proofs": _access_proofs(backend),
        "target_capability_rows": _capabilities(backend, instructions),
        "listing": listing(backend),
    }


def _access_proofs(backend: KernelBackend) -> dict[str, Any] | None:
    """How many source accesses there are, and those whose bounds no fact proves."""
    accesses = backend.trace.accesses
    return None if accesses is None else {"access_count": accesses[0], "unproven_rows": accesses[1]}


_CAPABILITIES = (
    ("wmma", ("v_wmma", "v_swmmac")),
    ("mfma", ("v_mfma", "v_smfmac")),
    ("dot", ("v_dot",)),
    ("dual_issue", ("v_dual",)),
    ("float_atomics", ("global_atomic_add_f32", "ds_add_f32", "ds_add_rtn_f32", "buffer_atomic_add_f32")),
    ("double", ("v_fma_f64", "v_add_f64", "v_mul_f64")),
    ("lane_exchange", ("ds_bpermute", "ds_permute", "ds_swizzle", "v_permlane")),
    ("transcendental", ("v_exp", "v_log", "v_sin", "v_cos", "v_rcp", "v_rsq", "v_sqrt")),
)
"""What a program may use of a processor, by the mnemonics that show it."""


def _capabilities(backend: KernelBackend, instructions: Sequence[MachineInstruction]) -> list[dict[str, Any]]:
    """What of the processor the program uses, with counts; and the wave size it depends on."""
    rows: list[dict[str, Any]] = [{"capability": "subgroup_size", "value": backend.wave_size, "count": None}]
    for name, prefixes in _CAPABILITIES:
        count = sum(i.row.mnemonic.startswith(prefixes) for i in instructions)
        if count:
            rows.append({"capability": name, "value": True, "count": count})
    return rows


def _wait_rows(backend: KernelBackend) -> list[dict[str, Any]]:
    return [
        {
            "block": block,
            "before": instruction.row.mnemonic,
            "location": _location(instruction),
            "counters": counters,
            "causes": [
                {
                    "counter": counter,
                    "reason": reason,
                    "producer": producer.row.mnemonic if producer is not None else None,
                    "location": _location(producer),
                }
                for counter, producer, reason in causes
            ],
        }
        for block, instruction, counters, causes in backend.trace.waits.rows
    ]


def _pressure_rows(backend: KernelBackend) -> list[dict[str, Any]]:
    allocation = backend.trace.allocation
    if allocation is None:
        return []
    rows = []
    for file in ("sgpr", "vgpr"):
        levels = _levels(backend, file)
        for block in allocation.code.blocks:
            first, last = allocation.liveness.block_range[block.index]
            part = levels[first : last + 1]
            if part:
                rows.append(
                    {
                        "class": file,
                        "block": block.label,
                        "loop_depth": block.depth,
                        "entry_live_units": part[0],
                        "peak_live_units": max(part),
                        "exit_live_units": part[-1],
                    }
                )
    return rows


def _pressure_origins(backend: KernelBackend) -> list[dict[str, Any]]:
    """What lives at the most crowded point of each file, longest range first."""
    allocation = backend.trace.allocation
    if allocation is None:
        return []
    rows: list[dict[str, Any]] = []
    for file, (peak, slot) in peaks_of(backend).items():
        found = []
        for compound in allocation.compounds:
            if compound.file != file:
                continue
            for register, at in compound.members:
                live = allocation.liveness.live[register.index]
                units = sum(contains(runs, slot) for runs in live)
                if units:
                    found.append((max(map(slots_in, live)), register, units, allocation.location[register.index], at))
        found.sort(key=lambda entry: -entry[0])
        rows.extend(
            {
                "class": file,
                "peak_live_units": peak,
                **_origin(backend, register),
                "units": units,
                "live_positions": span // SLOTS,
                "register": place,
            }
            for span, register, units, place, _ in found[:16]
        )
    return rows


def _high_water(backend: KernelBackend) -> list[dict[str, Any]]:
    allocation = backend.trace.allocation
    if allocation is None:
        return []
    rows = []
    peaks = peaks_of(backend)
    for file, mark in sorted(allocation.high_water.items()):
        if file in ("sgpr", "vgpr"):
            top = [c for c in allocation.compounds if c.file == file and (c.location or 0) + len(c.units) == mark]
            rows.append(
                {
                    "class": file,
                    "register_count": mark,
                    "peak_live_units": peaks.get(file, (0, 0))[0],
                    "fragmentation": mark - peaks.get(file, (0, 0))[0],
                    "highest": [_origin(backend, r) for c in top for r, _ in c.members[:4]][:4],
                }
            )
    return rows


def _spill_rows(backend: KernelBackend) -> list[dict[str, Any]]:
    allocation = backend.trace.allocation
    if allocation is None:
        return []
    return [
        {**_origin(backend, r), "class": r.register_class.removeprefix("amdgpu."), "units": r.units}
        for r in allocation.spilled
    ]


def _bands(backend: KernelBackend) -> list[dict[str, Any]]:
    """Instructions by class in every block of the final program."""
    return [
        {"block": block.label, "instruction_count": len(block.instructions)}
        | {k: v for k, v in instruction_mix(block.instructions).items() if v and k != "total_count"}
        for block in backend.program.blocks
    ]


def listing(backend: KernelBackend) -> list[dict[str, Any]]:
    """The final program, an entry an instruction, with the source line each stems from."""
    rows = []
    for block in backend.program.blocks:
        for instruction in block.instructions:
            rows.append(
                {
                    "block": block.label,
                    "pc": instruction.pc,
                    "text": str(instruction),
                    "location": _location(instruction),
                }
            )
    return rows
