"""Module to code object: the default pipeline, or none, then the backend.

``compile_module`` is the one door through which tools, checks and the raising ladder compile for AMDGPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loom.target.amdgpu.abi import KernelResources
from loom.transform.target import TargetConfiguration

if TYPE_CHECKING:
    from loom.ir.core import Module
    from loom.target.amdgpu.machine import MachineProgram


@dataclass(slots=True)
class CompileOptions:
    """What a compile is asked for.

    Attributes:
        target: Configuration that overrides the kernels' own target; ``None``: what each kernel names, else ``gfx1100``.
        pipeline: ``default``, ``none``, ``@symbol`` or a comma-separated list of passes.
        root: Symbol or export name of the kernel to compile; ``None``: every kernel of the module.
        config: Config bindings by key.
        libraries: Modules to link against.
        report: Whether to collect the rows of a detailed report.
        dump_before: Passes before which the module's text is kept in ``Compilation.dumps``.
        dump_after: The same, after.
        sanitizer: Sanitizer checks to compile in (``access`` …), empty for none.
    """

    target: TargetConfiguration | None = None
    pipeline: str = "default"
    root: str | None = None
    config: Mapping[str, object] = field(default_factory=dict)
    libraries: tuple[Module, ...] = ()
    report: bool = False
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
        added: What the emitter added to the instructions of the input: counts by ``copies spills reloads waits nops abi``.
        low_text: Text of the Low the backend was given, empty unless a report was asked for.
    """

    name: str
    symbol: str
    program: MachineProgram
    resources: KernelResources
    added: dict[str, int] = field(default_factory=dict)
    low_text: str = ""


@dataclass(slots=True)
class Compilation:
    """The result of :func:`compile_module`.

    Attributes:
        code_object: Bytes of the ELF file.
        kernels: The kernels in it, in module order.
        manifest: The artifact manifest as a JSON-able document.
        report: The compile report as a JSON-able document (``loom.compile-report.v0``); summary fields are always there.
        low_module: The module of ``low.kernel.def`` that the backend was given.
        dumps: Module text by ``before:PASS`` and ``after:PASS``.
    """

    code_object: bytes
    kernels: list[CompiledKernel]
    manifest: dict[str, Any]
    report: dict[str, Any]
    low_module: Module
    dumps: dict[str, str] = field(default_factory=dict)

    @property
    def programs(self) -> list[MachineProgram]:
        """The machine programs, in kernel order."""
        return [kernel.program for kernel in self.kernels]
