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

from loom.low.code import OP
from loom.target.amdgpu.evidence_rows import detail_tables, instruction_mix, peaks_of
from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.occupancy import occupancy

if TYPE_CHECKING:
    from loom.target.amdgpu.kernel import KernelBackend

SCHEMA = "loom.compile-report.v0"


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
        report.update(detail_tables(backend, instructions))
    return report


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
    peaks = peaks_of(backend)
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
