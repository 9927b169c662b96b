"""Module to code object: the default pipeline, or none, then the backend.

:func:`compile_module` is the one door through which tools, checks and the raising ladder compile for AMDGPU.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loom.diagnostics import Diagnostic, Location, LoomError, error
from loom.ir.recursion import collection_paused
from loom.target.amdgpu.abi import KernelResources
from loom.target.amdgpu.access_proofs import unproven_accesses
from loom.target.amdgpu.evidence_source import checks_of, place_of
from loom.target.amdgpu.kernel import KernelBackend
from loom.target.amdgpu.processors import processor as processor_named
from loom.transform.rejection import rejection
from loom.transform.target import TargetConfiguration, resolve_target

if TYPE_CHECKING:
    from loom.ir import Module, Operation
    from loom.target.amdgpu.lowering.legalization import Legalizations
    from loom.target.amdgpu.machine import MachineProgram

CHECK_VARIABLE = "LOOM_CHECK_COMPILES"

DEFAULT_TARGET = "gfx1100"
"""What kernels without a target are compiled for."""


@dataclass(slots=True)
class CompileOptions:
    """What a compile is asked for.

    Attributes:
        target: Configuration that overrides the kernels' own target; ``None``: what each kernel names, else
            ``gfx1100``.
        pipeline: ``default``, ``none``, ``@symbol`` or a comma-separated list of passes.
        root: Symbol or export name of the kernel to compile; ``None``: every kernel of the module.
        config: Config bindings by key.
        libraries: Modules to link against.
        report: Whether to collect the rows of a detailed report.
        check: Whether to run the independent checker on the result; what it finds is an internal error. Default:
            whether
            the environment sets ``LOOM_CHECK_COMPILES=1``, as the tests do.
        dump_before: Passes before which the module's text is kept in ``Compilation.dumps``; ``all`` for each.
        dump_after: The same, after.
        sanitizer: Sanitizer checks to compile in (``access`` …), empty for none.
    """

    target: TargetConfiguration | None = None
    pipeline: str = "default"
    root: str | None = None
    config: Mapping[str, object] = field(default_factory=dict)
    libraries: tuple[Module, ...] = ()
    report: bool = False
    check: bool = field(default_factory=lambda: os.environ.get(CHECK_VARIABLE) == "1")
    dump_before: tuple[str, ...] = ()
    dump_after: tuple[str, ...] = ()
    sanitizer: frozenset[str] = frozenset()


@dataclass(slots=True)
class CompiledKernel:
    """One kernel of a compilation.

    Attributes:
        name: Symbol of the function in the code object (the export name where there is one).
        symbol: Symbol in the module.
        program: The final machine program.
        resources: What it needs from the hardware.
        added: What the emitter added to the instructions of the input: counts by ``abi copies spills reloads waits
            hazards
            clauses release``.
        low_text: Text of the Low the backend was given, empty unless a report was asked for.
        code_offset: Bytes in front of its code in the text section.
        checks: By byte offset in its code the instructions that fault on purpose, each with what its check says.
    """

    name: str
    symbol: str
    program: MachineProgram
    resources: KernelResources
    added: dict[str, int] = field(default_factory=dict)
    low_text: str = ""
    code_offset: int = 0
    checks: dict[int, str] = field(default_factory=dict)

    def source_of(self, pc: int) -> tuple[Location | None, str | None]:
        """Where an instruction comes from, and what its check says where it is one.

        Args:
            pc: Byte offset in the text section, as a fault gives it.
        """
        offset = pc - self.code_offset
        found = next((i for i in self.program.instructions() if i.pc == offset), None)
        return (found.location if found is not None else None), self.checks.get(offset)


@dataclass(slots=True)
class Compilation:
    """The result of :func:`compile_module`.

    Attributes:
        code_object: Bytes of the ELF file.
        kernels: The kernels in it, in module order.
        manifest: The artifact manifest as a JSON-able document.
        report: The compile report as a JSON-able document; summary fields are always there.
        low_module: The module of ``low.kernel.def`` that the backend was given.
        dumps: Module text by ``before:PASS`` and ``after:PASS``.
        diagnostics: Warnings, for example waits that a fixed kernel lacks.
    """

    code_object: bytes
    kernels: list[CompiledKernel]
    manifest: dict[str, Any]
    report: dict[str, Any]
    low_module: Module
    dumps: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def programs(self) -> list[MachineProgram]:
        """The machine programs, in kernel order."""
        return [kernel.program for kernel in self.kernels]


def compile_module(module: Module, options: CompileOptions | None = None) -> Compilation:
    """Compile a module's kernels to one code object.

    Raises:
        LoomError: whatever a pass, the lowering or the backend refuses, with op, location and a way out (exit code 2);
            ``BACKEND/040`` where there is no kernel to compile.
    """
    from loom.target.amdgpu.evidence import collect_report
    from loom.target.amdgpu.package import package_kernels

    options = options or CompileOptions()
    times: dict[str, float] = {}
    started = time.perf_counter()
    with collection_paused():
        prepared, target, dumps = _prepare(module, options)
    times["pipeline"] = time.perf_counter() - started
    kernels = _kernels(prepared, options.root)
    if not kernels:
        asked = f" '{options.root}'" if options.root else ""
        raise error(
            f"there is no kernel{asked} to compile",
            "BACKEND/040",
            hint="the module needs a kernel.def or low.kernel.def; --root names one",
        )
    proofs = {op.symbol: unproven_accesses(op) for op in kernels if op.name == "kernel.def"} if options.report else {}
    legalizations: dict[str, Legalizations] = {}
    low_module, low_kernels = _lower(prepared, kernels, target, legalizations)
    times["lowering"] = time.perf_counter() - started - times["pipeline"]
    backends: list[KernelBackend] = []
    for op in low_kernels:
        configuration = _target_of(low_module, op, options.target or target)
        backend = KernelBackend(low_module, op, configuration, processor_named(configuration.processor))
        backend.trace.accesses = proofs.get(op.symbol)
        backend.trace.legalizations = legalizations.get(op.symbol or "")
        with collection_paused():
            backend.run(report=options.report, check=options.check)
        backends.append(backend)
    times["backend"] = time.perf_counter() - started - sum(times.values())
    processors = {backend.processor.name for backend in backends}
    if len(processors) > 1:
        raise rejection(
            low_kernels[-1],
            "kernels of one code object are for different processors: " + ", ".join(sorted(processors)),
            "BACKEND/041",
            "compile them one by one with --root",
        )
    code_object = package_kernels(backends)
    times["encoding"] = time.perf_counter() - started - sum(times.values())
    all_checks = [checks_of(b) for b in backends]
    compiled = [
        CompiledKernel(
            b.name,
            b.symbol,
            b.program,
            b.resources,
            b.added,
            b.low_text if options.report else "",
            b.code_offset,
            checks,
        )
        for b, checks in zip(backends, all_checks, strict=True)
    ]
    manifest = _manifest(backends, all_checks, code_object, options)
    report = collect_report(backends, code_object, times, options.pipeline, options.report)
    diagnostics = [d for b in backends for d in b.diagnostics]
    return Compilation(code_object, compiled, manifest, report, low_module, dumps, diagnostics)


def default_target() -> TargetConfiguration:
    """The configuration of :data:`DEFAULT_TARGET`."""
    return resolve_target("amdgpu", DEFAULT_TARGET)


def _prepare(module: Module, options: CompileOptions) -> tuple[Module, TargetConfiguration | None, dict[str, str]]:
    """Run the passes that the pipeline names; ``none`` runs none."""
    from loom.target import register_targets

    register_targets()
    if options.pipeline == "none":
        for op in module.operations:
            if op.name == "kernel.def" and _wanted(op, options.root):
                raise rejection(
                    op,
                    "it is not prepared Low, which is all that --pipeline=none takes",
                    "BACKEND/007",
                    "compile it with --pipeline=default, or give a low.kernel.def as --root",
                )
        return module, options.target, {}
    from loom.transform.pipeline import PipelineOptions, parse_pipeline, run_default_pipeline

    if not any(op.name == "kernel.def" and _wanted(op, options.root) for op in module.operations) and any(
        op.name == "low.kernel.def" and _wanted(op, options.root) for op in module.operations
    ):
        return module, options.target, {}
    result = run_default_pipeline(
        module,
        PipelineOptions(
            target=options.target,
            default_target=default_target(),
            root=options.root,
            config=options.config,
            libraries=options.libraries,
            passes=parse_pipeline(options.pipeline, module),
            dump_before=options.dump_before,
            dump_after=options.dump_after,
            sanitizer=options.sanitizer,
        ),
    )
    return result.module, result.target, result.dumps


def _wanted(op: Operation, root: str | None) -> bool:
    if root is None:
        return True
    name = root.removeprefix("@")
    return op.symbol == name or op.attributes.get("export") == name


def _kernels(module: Module, root: str | None) -> list[Operation]:
    return [op for op in module.operations if op.name in ("kernel.def", "low.kernel.def") and _wanted(op, root)]


def _lower(
    module: Module,
    kernels: Sequence[Operation],
    target: TargetConfiguration | None,
    legalizations: dict[str, Legalizations],
) -> tuple[Module, list[Operation]]:
    """Turn source kernels into Low kernels; Low kernels stay. ``legalizations`` is filled by symbol."""
    if all(op.name == "low.kernel.def" for op in kernels):
        return module, list(kernels)
    from loom.target.amdgpu.lowering import lower_kernel
    from loom.target.amdgpu.lowering.legalization import Legalizations

    low: list[Operation] = []
    for op in kernels:
        if op.name == "low.kernel.def":
            low.append(op)
            continue
        configuration = _target_of(module, op, target)
        found = legalizations[op.symbol or ""] = Legalizations()
        low.append(lower_kernel(module, op, configuration, found))
    return _gather(low), low


def _gather(kernels: Sequence[Operation]) -> Module:
    """One module that holds all Low kernels with the targets and helpers they name."""
    home = kernels[0].module
    assert home is not None
    for op in kernels[1:]:
        other = op.module
        if other is None or other is home:
            continue
        known = home.symbols
        for moved in list(other.operations):
            if moved.symbol is None or moved.symbol not in known:
                home.body.append(moved.remove())
    return home


def _target_of(module: Module, op: Operation, fallback: TargetConfiguration | None) -> TargetConfiguration:
    """The configuration a kernel is compiled for."""
    from loom.target.amdgpu.descriptor_set.sets import SETS
    from loom.transform.selection import target_of_record, usable

    name = op.attributes.get("target")
    record = module.symbol(str(name)) if name is not None else None
    if fallback is not None:
        if record is not None and record.name == "amdgpu.target" and not usable(record, fallback):
            own = target_of_record(record)
            raise rejection(
                op,
                f"it is written for amdgpu:{own.selector}, which amdgpu:{fallback.selector} does not satisfy",
                "TARGET/005",
                "choose a target that satisfies the kernel's own, or change target(..)",
            )
        return fallback
    if record is not None and record.name == "amdgpu.target":
        return target_of_record(record)
    descriptor_set = str(op.attributes.get("descriptor_set") or "")
    selector = _SET_SELECTORS.get(descriptor_set)
    if selector is not None:
        return resolve_target("amdgpu", selector)
    if descriptor_set and descriptor_set not in SETS:
        raise rejection(
            op,
            f"descriptor set {descriptor_set} belongs to no AMDGPU processor",
            "BACKEND/042",
            "known sets: " + ", ".join(SETS),
        )
    return default_target()


_SET_SELECTORS = {
    "amdgpu.rdna3.core": "gfx1100",
    "amdgpu.rdna3_5.core": "gfx1151",
    "amdgpu.gfx11.generic.core": "gfx11-generic",
    "amdgpu.rdna4.core": "gfx1201",
    "amdgpu.cdna3.core": "gfx942",
    "amdgpu.cdna4.core": "gfx950",
}


def _manifest(
    backends: Sequence[KernelBackend], checks: Sequence[dict[int, str]], code_object: bytes, options: CompileOptions
) -> dict[str, Any]:
    """What is in the artifact, and what the emitter added."""
    import hashlib

    return {
        "schema": "loom.artifact-manifest.v0",
        "format": "amdgpu-hsaco",
        "target": backends[0].processor.name,
        "pipeline": options.pipeline,
        "sha256": hashlib.sha256(code_object).hexdigest(),
        "byte_count": len(code_object),
        "kernels": [
            {
                "name": b.name,
                "symbol": b.symbol,
                "allocation": b.allocation_mode,
                "schedule": b.schedule_mode,
                "workgroup_size": list(b.resources.workgroup_size) if b.resources.workgroup_size else None,
                "workgroup_count": list(b.resources.workgroup_count) if b.resources.workgroup_count else None,
                "kernarg": {
                    "size": b.resources.kernarg.size,
                    "alignment": b.resources.kernarg.alignment,
                    "entries": [
                        {"offset": e.offset, "size": e.size, "kind": e.kind, "name": e.name}
                        for e in b.resources.kernarg.entries
                    ],
                },
                "lds_bytes": b.resources.lds_bytes,
                "scratch_bytes": b.resources.scratch_bytes,
                "vgpr_count": b.resources.vgprs,
                "sgpr_count": b.resources.sgprs,
                "wave_size": b.wave_size,
                "instruction_count": sum(1 for _ in b.program.instructions()),
                "added_by_emitter": dict(b.added),
                "code_offset": b.code_offset,
                "checks": [
                    {"pc": b.code_offset + i.pc, "message": known[i.pc], "location": place_of(i.location)}
                    for i in (b.program.instructions() if known else ())
                    if i.pc in known
                ],
            }
            for b, known in zip(backends, checks, strict=True)
        ],
    }


__all__ = ["Compilation", "CompileOptions", "CompiledKernel", "LoomError", "compile_module", "default_target"]
