"""Lift: a native kernel as prepared Low, and the proof that it is the same program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loom.diagnostics import LoomError
from loom.ir import Attribute, Module, Operation, SymbolRef, Word
from loom.ir.dominance import remove_unreachable
from loom.ir.recursion import collection_paused
from loom.ir.registry import lookup
from loom.raising.lift.build import BodyBuilder, LiftedBody
from loom.raising.lift.flow import build_flow
from loom.raising.lift.header import abi_layout, entry_live_ins
from loom.raising.lift.naming import Namer
from loom.raising.lift.native import NativeKernel, native_kernel
from loom.raising.lift.relax import relax
from loom.target.amdgpu.abi import KernargEntry

if TYPE_CHECKING:
    from loom.store.workload import Launch

DESCRIPTOR_SETS = {
    "gfx942": "amdgpu.cdna3.core",
    "gfx950": "amdgpu.cdna4.core",
    "gfx9-4-generic": "amdgpu.cdna3.core",
    "gfx1100": "amdgpu.rdna3.core",
    "gfx1101": "amdgpu.rdna3.core",
    "gfx1102": "amdgpu.rdna3.core",
    "gfx1103": "amdgpu.rdna3.core",
    "gfx1150": "amdgpu.rdna3_5.core",
    "gfx1151": "amdgpu.rdna3_5.core",
    "gfx11-generic": "amdgpu.gfx11.generic.core",
    "gfx1200": "amdgpu.rdna4.core",
    "gfx1201": "amdgpu.rdna4.core",
    "gfx12-generic": "amdgpu.rdna4.core",
}


@dataclass(frozen=True, slots=True)
class LiftOptions:
    """What a lift is asked for.

    Attributes:
        relax: ``None``, ``allocation`` or ``schedule``; see :mod:`loom.raising.lift.relax`.
        drop_dead_code: Leave out blocks that no path reaches.
        names: Name and comment what is recognised.
        launch: Geometry to write into the kernel, so that it runs without further flags.
        argument_names: Names of the explicit arguments, for objects whose metadata has none.
    """

    relax: str | None = None
    drop_dead_code: bool = False
    names: bool = True
    launch: Launch | None = None
    argument_names: tuple[str, ...] = ()


@dataclass(slots=True)
class Lifted:
    """A lifted kernel.

    Attributes:
        module: The module: a target record and the kernel.
        kernel: The kernel's op.
        native: What it was lifted from.
        instructions: Machine instructions translated.
        undefined: Register units that the kernel reads before anything wrote them.
    """

    module: Module
    kernel: Operation
    native: NativeKernel
    instructions: int
    undefined: list[int]


def lift(code_object: bytes, kernel: str | None = None, options: LiftOptions | None = None) -> Lifted:
    """Lift one kernel of a code object.

    Args:
        code_object: Bytes of the ELF file.
        kernel: Kernel name; ``None`` where the object has one kernel only.
        options: See :class:`LiftOptions`.

    Raises:
        LoomError: ``LIFT/001`` for an unknown kernel, ``LIFT/002`` and ``LIFT/003`` for control flow that cannot be
            expressed, naming instruction and pc; what the reader and the decoder refuse.
    """
    with collection_paused():
        relaxed = options is not None and options.relax is not None
        native = native_kernel(code_object, kernel, inlined=relaxed, followed=True)
    return lift_native(native, options)


def lift_native(native: NativeKernel, options: LiftOptions | None = None) -> Lifted:
    """Lift a kernel that was read already; see :func:`lift`."""
    with collection_paused():
        return _lift(native, options or LiftOptions())


def _named_arguments(native: NativeKernel, names: tuple[str, ...]) -> list[KernargEntry]:
    """The arguments with the names given in place of those the metadata lacks."""
    remaining = iter(names)
    entries = []
    for entry in native.arguments:
        if not entry.kind.startswith("hidden_"):
            given = next(remaining, "")
            if given and not entry.name:
                entry = KernargEntry(entry.offset, entry.size, entry.kind, given)
        entries.append(entry)
    return entries


def _lift(native: NativeKernel, options: LiftOptions) -> Lifted:
    native.arguments = _named_arguments(native, options.argument_names)
    generation = native.generation
    flow = build_flow(native.program, native.wave_size, native.region)
    _, live_ins = entry_live_ins(native.descriptor, generation)
    body = BodyBuilder(flow, live_ins).build()
    if options.drop_dead_code or options.relax is not None:  # the backend has no use for code that never runs
        remove_unreachable(body.region)
    if options.names:
        entry = body.region.blocks[0]
        kernarg = next(
            (
                op.results[0]
                for op in entry.operations
                if op.attributes.get("key") == "amdgpu.kernarg_segment_ptr" and op.results
            ),
            None,
        )
        Namer(body, native.arguments, kernarg).run()
    module, kernel = _module(native, body, options)
    if options.relax is not None:
        relax(kernel, generation, options.relax)
    return Lifted(module, kernel, native, body.instruction_count, body.undefined)


def _module(native: NativeKernel, body: LiftedBody, options: LiftOptions) -> tuple[Module, Operation]:
    module = Module(native.name + ".loom")
    target = lookup("amdgpu.target")
    kernel_definition = lookup("low.kernel.def")
    assert target is not None and kernel_definition is not None
    record: dict[str, Attribute] = {
        "selector": Word(native.processor),
        "sym_name": _symbol(native.processor),
        "subgroup_size": native.wave_size,
    }
    module.body.append(Operation(target, (), (), record))
    resources = dict(native.resources)
    if options.launch is not None and options.launch.dynamic_lds:
        resources["dynamic_lds"] = options.launch.dynamic_lds
    layout = abi_layout(native.descriptor, native.arguments, native.kernarg_size, native.kernarg_alignment, resources)
    if native.region is not None:
        layout["code"] = {
            "entry": native.region.entry,
            "function_offsets": tuple(offset for offset, _ in native.region.functions),
            "function_sizes": tuple(size for _, size in native.region.functions),
            "size": len(native.code),
        }
    attributes: dict[str, Attribute] = {
        "allocation": Word("fixed"),
        "schedule": Word("locked"),
        "descriptor_set": Word(DESCRIPTOR_SETS[native.processor]),
        "target": SymbolRef(_symbol(native.processor)),
        "abi_layout": layout,
        "export": native.name,
        "sym_name": _symbol(native.name),
    }
    size = options.launch.workgroup_size if options.launch is not None else native.workgroup_size
    if size is not None:
        attributes["workgroup_size"] = tuple(size)
    if options.launch is not None:
        attributes["workgroup_count"] = tuple(options.launch.workgroups)
    kernel = Operation(kernel_definition, (), (), attributes, [body.region])
    kernel.blank_before = True
    module.body.append(kernel)
    return module, kernel


def _symbol(name: str) -> str:
    """A name as a symbol: characters that symbols do not have become underscores."""
    clean = "".join(c if c.isalnum() or c in "_$.-" else "_" for c in name)
    return clean if clean[:1].isalpha() or clean[:1] in "_$" else f"_{clean}"


def lift_difference(lifted: Lifted, text: str | None = None) -> str | None:
    """Emit a lifted kernel and compare it with the original.

    Args:
        lifted: A lift without relaxation.
        text: The text to emit; ``None``: the module as it is in memory.

    Returns:
        ``None`` where instruction bytes and kernel descriptor agree, else the first difference in words.
    """
    from loom import parse
    from loom.target.amdgpu.compile import CompileOptions, compile_module

    module = lifted.module if text is None else parse(text, f"{lifted.native.name}.loom")
    emitted = compile_module(module, CompileOptions(pipeline="none"))
    return native_difference(lifted.native, native_kernel(emitted.code_object, lifted.native.name))


def lift_status(code_object: bytes, kernel: str) -> dict[str, object]:
    """Whether a kernel lifts and emits its own bytes, for reports.

    Returns:
        ``lifted_identical``; ``reason`` says why not (a refusal names instruction and pc), ``None`` where it does.
    """
    from loom import print_module

    try:
        lifted = lift(code_object, kernel)
        difference = lift_difference(lifted, print_module(lifted.module))
    except LoomError as failure:
        first = failure.diagnostics[0]
        return {"lifted_identical": False, "reason": f"{first.message} [{first.code}]"}
    return {"lifted_identical": difference is None, "reason": difference}


def native_difference(original: NativeKernel, emitted: NativeKernel) -> str | None:
    """The first difference between two kernels' instruction bytes and descriptors, ``None`` where they agree."""
    a, b = original.region_code or original.code, emitted.region_code or emitted.code
    if a != b:
        sizes = f" ({len(a)} bytes, {len(b)} emitted)" if len(a) != len(b) else ""
        at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        place = next(
            (i for i in original.program.instructions() if i.pc <= at < i.pc + i.size),
            None,
        )
        what = f", in {place.mnemonic} at pc {place.pc:#x}" if place is not None else ""
        return f"byte {at:#x} differs{what}{sizes}"
    if original.code != emitted.code:
        return f"the kernel's symbol covers {len(original.code)} bytes, {len(emitted.code)} emitted, or others"
    x, y = dict(_comparable(original.descriptor)), dict(_comparable(emitted.descriptor))
    for name, value in x.items():
        if y[name] != value:
            return f"descriptor field {name}: {value:#x} originally, {y[name]:#x} emitted"
    return None


def _comparable(descriptor: bytes) -> dict[str, int]:
    """All fields of a kernel descriptor but the code offset, reserved bytes included."""
    from loom.raising.lift.header import descriptor_fields

    fields = {name: int(str(value)) for name, value in descriptor_fields(descriptor).items()}
    fields["reserved0"] = int.from_bytes(descriptor[12:16], "little")
    fields["reserved1"] = int.from_bytes(descriptor[24:44], "little")
    fields["reserved2"] = int.from_bytes(descriptor[60:64], "little")
    return fields


__all__ = [
    "LiftOptions",
    "Lifted",
    "lift",
    "lift_difference",
    "lift_native",
    "lift_status",
    "native_difference",
    "native_kernel",
]
