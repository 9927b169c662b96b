"""One kernel through the backend: build, schedule, allocate, emit, pair, wait, resolve hazards, check.

``allocation(fixed)`` is encoded as it stands: a wait or a nop that is missing is a warning, nothing is inserted.
Every other mode gets waits and
hazard nops; ``schedule(free)`` and ``phased`` are scheduled, ``constrained`` within the target's limits; ``locked``
keeps the text's order.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loom.diagnostics import Diagnostic, Location, LoomError, Severity, error
from loom.low.allocate import MAXIMUM_ROUNDS, Allocation, allocate
from loom.low.code import OP, Instruction, LowCode
from loom.low.inline import inline_low_calls
from loom.low.schedule import ScheduleSummary, schedule
from loom.target.amdgpu.abi import KernelResources
from loom.target.amdgpu.access import SGPR, reads_and_writes
from loom.target.amdgpu.backend import AmdgpuTarget, preferred_pressure, schedule_limits
from loom.target.amdgpu.build import BuiltKernel, CodeBuilder
from loom.target.amdgpu.check_allocation import AllocationChecker, Finding
from loom.target.amdgpu.check_waits import check_waits
from loom.target.amdgpu.checker import check_hazards, check_pairs
from loom.target.amdgpu.clauses import insert_clauses, release_registers
from loom.target.amdgpu.delays import insert_delays
from loom.target.amdgpu.dual_issue import pair_instructions, separate_pairs
from loom.target.amdgpu.emit import Emitted, Emitter
from loom.target.amdgpu.evidence_source import definitions_of
from loom.target.amdgpu.foreign_abi import foreign_kernarg
from loom.target.amdgpu.hazards import HazardScan, resolve_hazards
from loom.target.amdgpu.merge_memory import merge_memory
from loom.target.amdgpu.pass_through import drop_pass_through
from loom.target.amdgpu.peephole import shorten
from loom.target.amdgpu.processors import Processor
from loom.target.amdgpu.structured import expand
from loom.target.amdgpu.waits import WaitReport, insert_waits, missing_waits

if TYPE_CHECKING:
    from loom.ir import Module, Operation
    from loom.target.amdgpu.lowering.legalization import Legalizations
    from loom.target.amdgpu.machine import MachineProgram
    from loom.transform.target import TargetConfiguration

Size = tuple[int, int, int]


@dataclass(slots=True)
class Trace:
    """What the stages leave for reports."""

    built: BuiltKernel | None = None
    schedule: ScheduleSummary | None = None
    allocation: Allocation | None = None
    emitted: Emitted | None = None
    waits: WaitReport = field(default_factory=WaitReport)
    pairs: int = 0
    separated: int = 0
    pair_sources: dict[int, tuple[int, int]] = field(default_factory=dict)
    shortened: dict[int, int] = field(default_factory=dict)
    merged: int = 0
    hazards: int = 0
    clauses: int = 0
    findings: list[Finding] = field(default_factory=list)
    accesses: tuple[int, list[dict[str, Any]]] | None = None
    legalizations: Legalizations | None = None
    definitions: dict[int, tuple[str, Location | None]] = field(default_factory=dict)
    """By register index what the text makes it with and where; only for a detailed report."""
    times: dict[str, float] = field(default_factory=dict)


SCHEDULED_ROUNDS = 12
"""Rounds of spilling that a scheduled kernel gets before the order of the text, which is its author's, is tried."""

#: Most private memory of a wave, in bytes: the wave size field of the scratch ring, 13 bits of 256 dwords on gfx9, 15
#: and 18 bits of 64 dwords on gfx11 and gfx12 (LLVM, ``GCNSubtarget::getMaxWaveScratchSize``).
WAVE_SCRATCH_BYTES = {"gfx9.4": 1024 * ((1 << 13) - 1), "gfx11": 256 * ((1 << 15) - 1), "gfx12": 256 * ((1 << 18) - 1)}


class KernelBackend:
    """Compiles one ``low.kernel.def``.

    Attributes after :meth:`run`: ``program``, ``resources``, ``added``, ``diagnostics``, ``trace``, ``low_text``;
    after packaging also ``code_offset``, the bytes in front of the kernel's code in the text section.
    """

    def __init__(self, module: Module, op: Operation, target: TargetConfiguration, processor: Processor) -> None:
        self.module = module
        self.op = op
        self.target = target
        self.processor = processor
        self.wave_size = target.subgroup_size
        self.symbol = op.symbol or "kernel"
        self.name = str(op.attributes.get("export") or self.symbol)
        self.allocation_mode = str(op.attributes.get("allocation") or "virtual")
        self.schedule_mode = str(op.attributes.get("schedule") or "free")
        self.trace = Trace()
        self.diagnostics: list[Diagnostic] = []
        self.added: dict[str, int] = {}
        self.low_text = ""
        self.report = False
        self.code_offset = 0
        self.resources = KernelResources()
        self.program: MachineProgram

    # Driver

    def run(self, report: bool = False, check: bool = False) -> None:
        """Compile.

        Raises:
            LoomError: what the builder or the allocator refuses; ``BACKEND/050`` (internal) where ``check`` finds
                the result wrong.
        """
        clock = time.perf_counter
        start = clock()
        self.report = report
        if report:
            from loom.text.printer import print_module

            self.low_text = print_module(self.module)
        if self.allocation_mode != "fixed":
            expand(self.module, self.op)
        else:
            inline_low_calls(self.module, self.op)
        built = self.trace.built = self._build()
        self.trace.times["build"] = clock() - start
        self._geometry(built)
        if self.allocation_mode == "fixed":
            self._fixed(built)
        else:
            built = self._virtual_in_some_order(built, check)
        self._resources(built)
        if check:
            self._check()

    def _build(self) -> BuiltKernel:
        built = CodeBuilder(self.op, self.processor.generation, self.processor.name, self.wave_size).build()
        if self.report:
            self.trace.definitions = definitions_of(built.code)
        return built

    def _fixed(self, built: BuiltKernel) -> None:
        target = AmdgpuTarget(self.processor, self.wave_size, built.private_bytes)
        emitted = Emitter(built.code, target, None, self.processor.name).emit()
        self.trace.emitted = emitted
        self.program = emitted.program
        self.program.kernel = self.name
        self._diagnose_fixed()

    def _diagnose_fixed(self) -> None:
        generation = self.processor.generation
        for block, instruction, counters, causes in missing_waits(self.program, generation).rows:
            listed = ", ".join(f"{counter}({value})" for counter, value in sorted(counters.items()))
            producers = sorted({p.row.mnemonic for _, p, _ in causes if p is not None})
            self.diagnostics.append(
                Diagnostic(
                    f"{instruction.row.mnemonic} in ^{block} uses a result of {', '.join(producers) or 'memory'} "
                    f"without waiting for {listed}",
                    "BACKEND/051",
                    instruction.location,
                    Severity.WARNING,
                    "allocation(fixed) is emitted as it stands; insert the wait, or use allocation(virtual)",
                )
            )
        found = HazardScan(self.program, generation).run()
        for block_, hazards in zip(self.program.blocks, found, strict=True):
            for instruction, hazard in zip(block_.instructions, hazards, strict=True):
                if hazard is not None:
                    self.diagnostics.append(
                        Diagnostic(
                            f"{instruction.row.mnemonic} in ^{block_.label} meets the hazard {hazard.name}",
                            "BACKEND/052",
                            instruction.location,
                            Severity.WARNING,
                            f"insert {hazard.remedy} {'behind' if hazard.behind else 'in front of'} it",
                        )
                    )

    def _virtual_in_some_order(self, built: BuiltKernel, check: bool) -> BuiltKernel:
        """Schedule and allocate; where the scheduled order finds no registers, keep the order of the text."""
        if built.code.schedule == "locked":
            self._virtual(built, check)
            return built
        try:
            self._virtual(built, check, SCHEDULED_ROUNDS)
        except LoomError as failed:
            if failed.diagnostics[0].code != "BACKEND/012":
                raise
            self.diagnostics.append(
                Diagnostic(
                    "the scheduled order needs more registers than there are; the order of the text is kept",
                    "BACKEND/055",
                    self.op.location,
                    Severity.NOTE,
                    "tile smaller, or write schedule(locked) to keep this order without a search",
                )
            )
            built = self.trace.built = self._build()
            self._virtual(built, check, reorder=False)
        return built

    def _virtual(self, built: BuiltKernel, check: bool, rounds: int = MAXIMUM_ROUNDS, reorder: bool = True) -> None:
        clock = time.perf_counter
        code = built.code
        generation = self.processor.generation
        target = AmdgpuTarget(self.processor, self.wave_size, built.private_bytes)
        start = clock()
        drop_pass_through(code)
        if reorder and code.schedule != "locked":
            self.trace.merged = merge_memory(code, target)
            pressure = preferred_pressure(self.processor, self.wave_size)
            self.trace.schedule = schedule(code, target, pressure, schedule_limits())
        self.trace.times["schedule"] = clock() - start
        start = clock()
        allocation = self._allocate(code, target, built, rounds)
        self.trace.allocation = allocation
        self.trace.times["allocate"] = clock() - start
        start = clock()
        lifted = foreign_kernarg(self.op.attributes) is not None
        emitted = Emitter(code, target, allocation, self.processor.name, lifted).emit()
        self.trace.emitted = emitted
        self.program = emitted.program
        self.program.kernel = self.name
        self.trace.times["emit"] = clock() - start
        start = clock()
        before = [list(block.instructions) for block in self.program.blocks]
        if check:
            self.trace.findings.extend(AllocationChecker(code, emitted).run())
        self.trace.separated, spare = separate_pairs(
            self.program, generation, emitted.source, lambda low: self._spare_register(low, target, allocation)
        )
        keep = {
            key for key, low in emitted.source.items() if low.locked or (low.kind == OP and code.schedule == "locked")
        }
        if code.schedule != "locked":
            shorten(self.program, generation, keep, self.trace.shortened)
            runs = {key: (low.run, low.phase) for key, low in emitted.source.items()}
            for new, old in self.trace.shortened.items():
                runs[new] = runs.get(old, (0, ()))
            self.trace.pairs = pair_instructions(self.program, generation, keep, runs, self.trace.pair_sources)
        if check:
            self.trace.findings.extend(
                check_pairs(before, [block.instructions for block in self.program.blocks], spare)
            )
        self.trace.waits = insert_waits(self.program, generation, emitted.barrier_memory)
        self.trace.hazards = resolve_hazards(self.program, generation)
        if code.schedule != "locked":
            self.trace.clauses = insert_clauses(self.program, generation)
        delays = insert_delays(self.program, generation)
        released = 0
        if not allocation.slots.size("vgpr") and not built.private_bytes:
            released = release_registers(self.program, generation)
        self.trace.times["waits"] = clock() - start
        spills = allocation.slots
        self.added = {
            "abi": built.added_abi,
            "copies": emitted.copies,
            "spills": spills.stores,
            "reloads": spills.reloads,
            "waits": self.trace.waits.inserted,
            "hazards": self.trace.hazards,
            "clauses": self.trace.clauses,
            "delays": delays,
            "release": released,
        }

    def _spare_register(self, low: Instruction, target: AmdgpuTarget, allocation: Allocation) -> int:
        """A VGPR that holds nothing at an instruction, and no spilled scalars."""
        high = allocation.high_water.get("vgpr", 0)
        reserved = range(high, high + -(-allocation.slots.size("sgpr") // self.wave_size))
        found = allocation.free_register(
            "vgpr", low.position, [index for index in target.allocatable("vgpr") if index not in reserved]
        )
        if found < 0:
            raise error(
                "no vgpr register is free to issue a pair one by one",
                "BACKEND/034",
                low.location,
                hint="keep fewer vector values alive here, or write the pair as two instructions",
            )
        return found

    def _allocate(self, code: LowCode, target: AmdgpuTarget, built: BuiltKernel, rounds: int) -> Allocation:
        """Allocate; scalar values that spill need lanes of vector registers, which are taken from the top."""
        allocation = allocate(code, target, rounds)
        while True:
            lanes = -(-allocation.slots.size("sgpr") // self.wave_size)
            if not lanes or allocation.high_water.get("vgpr", 0) + lanes <= 256:
                return allocation
            # The vectors that spill for these registers may need scalars, and these more lanes.
            smaller = AmdgpuTarget(self.processor, self.wave_size, built.private_bytes, 256 - lanes - 1)
            allocation = allocate(code, smaller, rounds, allocation)

    # Resources

    def _geometry(self, built: BuiltKernel) -> None:
        attributes = self.op.attributes
        size = _size(attributes.get("workgroup_size"))
        if size is None and foreign_kernarg(attributes) is None:
            raise error(
                f"kernel @{self.symbol} has no workgroup_size, which emission needs",
                "BACKEND/043",
                self.op.location,
                hint="write workgroup_size(x, y, z) in front of its name",
            )
        self.resources.workgroup_size = size
        self.resources.workgroup_count = _size(attributes.get("workgroup_count"))
        self.resources.kernarg = built.kernarg
        self.resources.lds_bytes = built.lds_bytes
        if built.lds_bytes > self.processor.lds_bytes:
            raise error(
                f"kernel @{self.symbol} needs {built.lds_bytes} bytes of work-group memory; "
                f"{self.processor.name} has {self.processor.lds_bytes}",
                "BACKEND/044",
                self.op.location,
                hint="use smaller tiles",
            )

    def _resources(self, built: BuiltKernel) -> None:
        resources = self.resources
        vgprs = agprs = sgprs = 0
        vcc = False
        for instruction in self.program.instructions():
            reads, writes = reads_and_writes(instruction)
            for unit in (*reads, *writes):
                if unit < 512:
                    vgprs = max(vgprs, unit + 1)
                elif unit < SGPR:
                    agprs = max(agprs, unit - 512 + 1)
                elif unit < SGPR + 106:
                    sgprs = max(sgprs, unit - SGPR + 1)
                elif unit < SGPR + 108:
                    vcc = True
        entry = built.entry
        for bank, index, units in entry.registers.values():
            if bank == "sgpr":
                sgprs = max(sgprs, index + units)
            elif bank == "vgpr":
                vgprs = max(vgprs, index + units)
        resources.vgprs = max(vgprs, 1)
        resources.agprs = agprs
        resources.sgprs = sgprs
        resources.uses_vcc = vcc
        allocation = self.trace.allocation
        spill_bytes = 4 * allocation.slots.size("vgpr") if allocation is not None else 0
        private = -(-built.private_bytes // 4) * 4
        resources.scratch_bytes = private + spill_bytes
        limit = WAVE_SCRATCH_BYTES[self.processor.generation] // self.wave_size
        if resources.scratch_bytes > limit:
            raise error(
                f"kernel @{self.symbol} needs {resources.scratch_bytes} bytes of private memory per workitem "
                f"({spill_bytes} of them spilled); a wave of {self.wave_size} on {self.processor.name} has {limit}",
                "BACKEND/045",
                self.op.location,
                hint="keep large arrays in a buffer argument or in workgroup memory",
            )
        if allocation is not None:
            resources.vgpr_spills = sum(r.units for r in allocation.spilled if r.register_class == "amdgpu.vgpr")
            resources.sgpr_spills = sum(r.units for r in allocation.spilled if r.register_class == "amdgpu.sgpr")

    # Check

    def _check(self) -> None:
        generation = self.processor.generation
        assert self.trace.emitted is not None
        findings = list(self.trace.findings)
        if self.allocation_mode != "fixed":
            findings.extend(check_waits(self.program, generation, self.trace.emitted.barrier_memory))
            findings.extend(check_hazards(self.program, generation))
        self.trace.findings = findings
        if findings:
            shown = "; ".join(str(finding) for finding in findings[:5])
            raise error(
                f"the checker rejects the compiled kernel @{self.symbol} ({len(findings)} findings): {shown}",
                "BACKEND/050",
                self.op.location,
                hint="this is a defect of the compiler, please report it",
            )


def _size(value: Any) -> Size | None:
    if isinstance(value, tuple) and value and all(isinstance(v, int) for v in value):
        padded = (*value, 1, 1)
        return int(padded[0]), int(padded[1]), int(padded[2])
    return None
