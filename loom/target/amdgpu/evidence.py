"""What a compile tells about itself: the compile report of every kernel.

Counts are static counts of the final program unless a name says otherwise; bytes are bytes a work-item (a lane)
moves, scalar loads counted
once a wave. Every row that stems from the text carries its location.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from loom.low.code import COPY, OP, Instruction
from loom.low.liveness import SLOTS
from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.occupancy import occupancy

if TYPE_CHECKING:
    from loom.target.amdgpu.kernel import KernelBackend

SCHEMA = "loom.compile-report.v0"

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
    "barrier": "barrier_count",
    "other": "other_count",
}
"""Issue class to the name of its count."""

_HINTS = ("s_delay_alu", "s_nop", "s_clause", "s_set_inst_prefetch_distance", "s_inst_prefetch")
"""Instructions of the class ``wait`` that wait for no counter: they are counted as hints."""


def collect_report(
    backends: Sequence[KernelBackend], code_object: bytes, times: Mapping[str, float], pipeline: str, details: bool
) -> dict[str, Any]:
    """The report of a compilation.

    With one kernel its fields stand at the top too; ``entries.rows`` has one entry a kernel. ``details`` adds the
    row tables.
    """
    rows = [kernel_report(backend, details) for backend in backends]
    report: dict[str, Any] = {
        "schema": SCHEMA,
        "identity": {
            "target": backends[0].processor.name,
            "wave_size": backends[0].wave_size,
            "pipeline": pipeline,
            "functions": [backend.name for backend in backends],
            "kernarg": [
                [[e.offset, e.size, e.kind] for e in backend.resources.kernarg.entries] for backend in backends
            ],
            "workgroup_size": [list(b.resources.workgroup_size or ()) for b in backends],
        },
        "artifact": {"sha256": hashlib.sha256(code_object).hexdigest(), "byte_count": len(code_object)},
        "compile_seconds": {name: round(value, 6) for name, value in times.items()},
        "entries": {"rows": rows},
    }
    if len(rows) == 1:
        report.update({k: v for k, v in rows[0].items() if k not in report})
    return report


def kernel_report(backend: KernelBackend, details: bool) -> dict[str, Any]:
    """The report of one kernel."""
    program = backend.program
    instructions = list(program.instructions())
    resources = backend.resources
    trace = backend.trace
    allocation = trace.allocation
    items = 1
    for extent in resources.workgroup_size or ():
        items *= extent
    residency = occupancy(
        backend.processor,
        backend.wave_size,
        resources.vgprs,
        resources.sgprs + 2 * resources.uses_vcc,
        resources.lds_bytes,
        items if resources.workgroup_size else None,
    )
    report: dict[str, Any] = {
        "function": backend.symbol,
        "target_export": backend.name,
        "lowered": True,
        "allocation_mode": backend.allocation_mode,
        "schedule_mode": backend.schedule_mode,
        "emission": {
            "code_byte_count": program.code_size or sum(i.size for i in instructions),
            "instruction_count": len(instructions),
            "block_count": len(program.blocks),
            "added_by_emitter": dict(backend.added),
        },
        "static_instruction_mix": instruction_mix(instructions),
        "allocation": {
            "spill_count": resources.vgpr_spills + resources.sgpr_spills,
            "spill_plan_count": len(allocation.spilled) if allocation is not None else 0,
            "materialized_copy_count": trace.emitted.copies if trace.emitted is not None else 0,
            "materialized_spill_store_count": allocation.slots.stores if allocation is not None else 0,
            "materialized_reload_count": allocation.slots.reloads if allocation is not None else 0,
            "coalesced_unit_count": allocation.coalesced if allocation is not None else 0,
            "round_count": allocation.rounds if allocation is not None else 0,
        },
        "economics": {"memory": memory_economics(backend, instructions, items)},
        "target_resources": _target_resources(backend),
        "memory": {
            "private_bytes": resources.scratch_bytes,
            "workgroup_bytes": resources.lds_bytes,
            "kernarg_bytes": resources.kernarg.size,
        },
        "residency": residency.to_json(),
        "schedule": _schedule(backend),
        "wait_reason_summary_rows": _wait_reasons(backend),
    }
    if details:
        report.update(_details(backend, instructions))
    return report


def _issue_class(instruction: MachineInstruction) -> str:
    """The issue class, with hints and barriers told from waits."""
    if instruction.row.mnemonic in _HINTS:
        return "hint"
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


def memory_economics(backend: KernelBackend, instructions: Sequence[MachineInstruction], items: int) -> dict[str, Any]:
    """Bytes by space and kind: as Low says, as the program issues them, and for the whole dispatch where its size is
    known."""
    issued: Counter[str] = Counter()
    packets: Counter[str] = Counter()
    for instruction in instructions:
        memory = instruction.row.memory
        if memory is None or not memory.bytes:
            continue
        issued[f"{memory.space}.{memory.kind}"] += memory.bytes
        packets[f"{memory.space}.{memory.kind}.b{8 * memory.bytes}"] += 1
    source: Counter[str] = Counter()
    built = backend.trace.built
    if built is not None:
        for low in built.code.instructions():
            if low.kind == OP and low.payload.row.memory is not None and low.origin not in (None, "spill", "reload"):
                memory = low.payload.row.memory
                source[f"{memory.space}.{memory.kind}"] += memory.bytes
    count = backend.resources.workgroup_count
    dispatch = None
    if count is not None:
        lanes = items * count[0] * count[1] * count[2]
        waves = -(-items // backend.wave_size) * count[0] * count[1] * count[2]
        dispatch = {
            key: value * (waves if key.startswith("constant") else lanes) for key, value in sorted(issued.items())
        }
    return {
        "source_low": dict(sorted(source.items())),
        "per_workitem_issued": dict(sorted(issued.items())),
        "dispatch_issued": dispatch,
        "packets": dict(sorted(packets.items())),
    }


def _target_resources(backend: KernelBackend) -> dict[str, Any]:
    resources = backend.resources
    peaks = _peaks(backend)
    return {
        "scalar": {
            "final": {"register_count": resources.sgprs, "uses_vcc": resources.uses_vcc},
            "scheduled_pressure": {"peak_live_units": peaks.get("sgpr", (0, -1))[0]},
        },
        "vector": {
            "final": {"register_count": resources.vgprs},
            "scheduled_pressure": {"peak_live_units": peaks.get("vgpr", (0, -1))[0]},
        },
    }


def _levels(backend: KernelBackend, file: str) -> list[int]:
    """Live units of a register file at every position of the allocated code."""
    allocation = backend.trace.allocation
    if allocation is None:
        return []
    positions = allocation.liveness.slots // SLOTS
    delta = [0] * (positions + 1)
    for compound in allocation.compounds:
        if compound.file != file:
            continue
        for mask in compound.total:
            while mask:
                first = (mask & -mask).bit_length() - 1
                run = mask >> first
                stop = first + ((run + 1) & ~run).bit_length() - 1
                delta[first // SLOTS] += 1
                delta[(stop - 1) // SLOTS + 1] -= 1
                mask = (mask >> stop) << stop
    level = 0
    result = []
    for value in delta[:positions]:
        level += value
        result.append(level)
    return result


def _peaks(backend: KernelBackend) -> dict[str, tuple[int, int]]:
    """By file the most live units and the position where they live."""
    result = {}
    for file in ("sgpr", "vgpr"):
        levels = _levels(backend, file)
        if levels:
            peak = max(levels)
            result[file] = (peak, levels.index(peak))
    return result


def _schedule(backend: KernelBackend) -> dict[str, Any]:
    summary = backend.trace.schedule
    return {
        "run_count": summary.runs if summary else 0,
        "moved_count": summary.moved if summary else 0,
        "dual_issue_pair_count": backend.trace.pairs,
        "clause_count": backend.trace.clauses,
        "hazard_count": backend.trace.hazards,
    }


def _wait_reasons(backend: KernelBackend) -> list[dict[str, Any]]:
    counts: Counter[tuple[str, str, str]] = Counter()
    for _, _, _, causes in backend.trace.waits.rows:
        # A wait counts once for every kind of producer, whatever the number of registers it covers.
        counts.update({(c, reason, p.row.mnemonic if p is not None else "") for c, p, reason in causes})
    return [
        {"counter": counter, "reason": reason, "producer": producer, "count": count}
        for (counter, reason, producer), count in sorted(counts.items())
    ]


def _location(low: Instruction | MachineInstruction | None) -> dict[str, Any] | None:
    location = low.location if low is not None else None
    if location is None:
        return None
    return {"file": location.file, "line": location.line, "column": location.column}


def _details(backend: KernelBackend, instructions: Sequence[MachineInstruction]) -> dict[str, Any]:
    """The row tables."""
    return {
        "wait_action_rows": _wait_rows(backend),
        "pressure_rows": _pressure_rows(backend),
        "pressure_origin_rows": _pressure_origins(backend),
        "allocation_high_water_rows": _high_water(backend),
        "spill_rows": _spill_rows(backend),
        "schedule_band_summary_rows": _bands(backend),
        "source_low": _source_low(backend),
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
            part = levels[first // SLOTS : last // SLOTS + 1]
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
    for file, (peak, position) in _peaks(backend).items():
        window = 0xF << (SLOTS * position)
        found = []
        for compound in allocation.compounds:
            if compound.file != file:
                continue
            for register, at in compound.members:
                live = allocation.liveness.live[register.index]
                units = sum(1 for mask in live if mask & window)
                if units:
                    found.append(
                        (max(m.bit_count() for m in live), register, units, allocation.location[register.index], at)
                    )
        found.sort(key=lambda entry: -entry[0])
        rows.extend(
            {
                "class": file,
                "peak_live_units": peak,
                "value": register.name or f"v{register.index}",
                "units": units,
                "live_positions": span // SLOTS,
                "location": place,
            }
            for span, register, units, place, _ in found[:16]
        )
    return rows


def _high_water(backend: KernelBackend) -> list[dict[str, Any]]:
    allocation = backend.trace.allocation
    if allocation is None:
        return []
    rows = []
    peaks = _peaks(backend)
    for file, mark in sorted(allocation.high_water.items()):
        if file in ("sgpr", "vgpr"):
            top = [c for c in allocation.compounds if c.file == file and (c.location or 0) + len(c.units) == mark]
            rows.append(
                {
                    "class": file,
                    "register_count": mark,
                    "peak_live_units": peaks.get(file, (0, 0))[0],
                    "fragmentation": mark - peaks.get(file, (0, 0))[0],
                    "highest": [r.name or f"v{r.index}" for c in top for r, _ in c.members][:4],
                }
            )
    return rows


def _spill_rows(backend: KernelBackend) -> list[dict[str, Any]]:
    allocation = backend.trace.allocation
    if allocation is None:
        return []
    return [
        {"value": r.name or f"v{r.index}", "class": r.register_class.removeprefix("amdgpu."), "units": r.units}
        for r in allocation.spilled
    ]


def _bands(backend: KernelBackend) -> list[dict[str, Any]]:
    """Instructions by class in every block of the final program."""
    return [
        {"block": block.label, "instruction_count": len(block.instructions)}
        | {k: v for k, v in instruction_mix(block.instructions).items() if v and k != "total_count"}
        for block in backend.program.blocks
    ]


def _source_low(backend: KernelBackend) -> dict[str, Any]:
    """Which source line became which Low and machine instructions."""
    emitted = backend.trace.emitted
    built = backend.trace.built
    if emitted is None or built is None:
        return {"rows": [], "memory_rows": []}
    made: Counter[int] = Counter()
    for key, low in emitted.source.items():
        made[id(low)] += 1
        _ = key
    groups: dict[tuple[str, int], dict[str, Any]] = {}
    memory_rows = []
    for low in built.code.instructions():
        if low.kind not in (OP, COPY):
            continue
        location = low.location
        key_ = (location.file, location.line) if location is not None else ("", 0)
        row = groups.setdefault(
            key_, {"file": key_[0], "line": key_[1], "low_count": 0, "machine_count": 0, "mnemonics": Counter()}
        )
        row["low_count"] += 1
        row["machine_count"] += made.get(id(low), 0)
        if low.kind == OP:
            row["mnemonics"][low.payload.row.mnemonic] += 1
            memory = low.payload.row.memory
            if memory is not None and memory.bytes:
                memory_rows.append(
                    {
                        "location": _location(low),
                        "mnemonic": low.payload.row.mnemonic,
                        "space": memory.space,
                        "kind": memory.kind,
                        "bytes": memory.bytes,
                        "alias": low.address[3] if low.address is not None else None,
                    }
                )
    rows = [{**row, "mnemonics": dict(sorted(row["mnemonics"].items()))} for row in groups.values()]
    strategies = Counter(f"{row['space']}.{row['kind']}.b{8 * row['bytes']}" for row in memory_rows)
    return {
        "rows": rows,
        "memory_rows": memory_rows,
        "memory": {
            "strategies": dict(sorted(strategies.items())),
            "arguments": [
                {"name": e.name, "offset": e.offset, "size": e.size, "kind": e.kind}
                for e in backend.resources.kernarg.entries
            ],
            "roots": sorted({str(row["alias"]) for row in memory_rows if row["alias"] is not None}),
            "argument_packets": backend.trace.built.added_abi if backend.trace.built is not None else 0,
        },
        "selection_summaries": dict(
            sorted(Counter(i.payload.row.mnemonic for i in built.code.instructions() if i.kind == OP).items())
        ),
    }


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
