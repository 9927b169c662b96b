"""What a launch has executed: block and lane counters turned into counts by class, mnemonic and width."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from loom.target.amdgpu.simulator.engine import CompiledKernel
from loom.target.amdgpu.simulator.launch import RunResult
from loom.target.amdgpu.simulator.memory_forms import counted_bytes


@dataclass(frozen=True, slots=True)
class LaunchCounts:
    """Executed instructions (once a wave) and bytes moved (by active lanes)."""

    instructions: int
    useful: int
    waves: int
    by_class: dict[str, int]
    by_mnemonic: dict[str, int]
    bytes_read: dict[str, int]
    bytes_written: dict[str, int]


def count_launch(compiled: CompiledKernel, result: RunResult) -> LaunchCounts:
    """Turn block counters and lane counters into counts by class, mnemonic and width."""
    from loom.target.amdgpu.simulator.instruction_sets import NOP_CLASSES

    code = compiled.code
    mnemonics: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    useful = 0
    total = 0
    scalar_reads: Counter[str] = Counter()
    for (first, last), times in zip(compiled.translation.blocks, result.counts.tolist(), strict=False):
        if not times:
            continue
        for number in range(first, last):
            instruction = code[number]
            row = instruction.row
            name = row.mnemonic
            total += times
            issue = row.issue_class
            if name in NOP_CLASSES:
                issue = "nop"
            elif name.startswith(("s_waitcnt", "s_wait_")):
                issue = "wait"
            classes[issue] += times
            mnemonics[name if instruction.y is None else f"{name}::{instruction.y.row.mnemonic}"] += times
            if issue not in ("nop", "wait"):
                useful += times
            if row.memory is not None and row.memory.space == "constant" and row.memory.kind == "load":
                scalar_reads[f"constant.b{row.memory.bytes * 8}"] += times * row.memory.bytes
    read: Counter[str] = Counter(scalar_reads)
    written: Counter[str] = Counter()
    for site, lanes in zip(compiled.translation.sites, result.lanes.tolist(), strict=False):
        memory = code[site].row.memory
        if not lanes or memory is None:
            continue
        size = counted_bytes(code[site].row)
        key = f"{memory.space}.b{size * 8}"
        if memory.kind in ("load", "load_lds", "atomic"):
            read[key] += lanes * size
        if memory.kind in ("store", "atomic"):
            written[key] += lanes * size
    return LaunchCounts(
        total, useful, result.waves, dict(sorted(classes.items())), dict(sorted(mnemonics.items())),
        dict(sorted(read.items())), dict(sorted(written.items())),
    )  # fmt: skip
