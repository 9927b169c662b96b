"""From a ``kernel.def`` to a ``low.kernel.def``: launch sizes, arguments, body, clean-up."""

from __future__ import annotations

from typing import Any

from loom.ir import (
    Block,
    BufferType,
    FloatType,
    IntegerType,
    Module,
    OpaqueType,
    Operation,
    Region,
    RegisterType,
    SymbolRef,
    Type,
    Value,
    Word,
    lookup,
)
from loom.ir.recursion import collection_paused
from loom.target.amdgpu.lowering.cleanup import clean
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import SGPR, Emitter
from loom.target.amdgpu.lowering.legalization import Legalizations
from loom.target.amdgpu.lowering.ranges import Ranges
from loom.target.amdgpu.lowering.uniformity import Uniformity
from loom.target.amdgpu.lowering.values import BufferValue, IndexValue, Root, is_index, is_truth
from loom.target.amdgpu.lowering.views import MemoryMap
from loom.target.amdgpu.processors import processor as processor_of
from loom.transform.rejection import NoForm, rejection
from loom.transform.target import TargetConfiguration

_HANDLERS: dict[str, Handler] = {}


def handlers() -> dict[str, Handler]:
    """The handler of every op that can be lowered."""
    if not _HANDLERS:
        from loom.target.amdgpu.lowering import (
            assertion,
            async_copy,
            atomics,
            comparisons,
            control_flow,
            conversions,
            decode,
            gather,
            ids,
            index,
            loops,
            low_invoke,
            matrix,
            memory,
            scalars,
            selection,
            subgroup,
            vectors,
            views,
            workgroup,
        )

        for module in (
            assertion,
            async_copy,
            atomics,
            comparisons,
            control_flow,
            conversions,
            decode,
            gather,
            ids,
            index,
            low_invoke,
            loops,
            matrix,
            memory,
            scalars,
            selection,
            subgroup,
            vectors,
            views,
            workgroup,
        ):
            _HANDLERS.update(module.HANDLERS)
    return _HANDLERS


def constant_of(value: Value) -> int | None:
    """The number that a value of the launch region is, when it folds."""
    op = value.defining_op
    if op is None:
        return None
    if op.name in ("index.constant", "scalar.constant"):
        number = op.attributes["value"]
        return int(number) if isinstance(number, int) else None
    operands = [constant_of(v) for v in op.operands]
    if any(v is None for v in operands):
        return None
    numbers = [v for v in operands if v is not None]
    name = op.name
    if name == "index.add":
        return numbers[0] + numbers[1]
    if name == "index.sub":
        return numbers[0] - numbers[1]
    if name == "index.mul":
        return numbers[0] * numbers[1]
    if name == "index.madd":
        return numbers[0] * numbers[1] + numbers[2]
    if name == "index.div" and numbers[1] > 0:
        return numbers[0] // numbers[1]
    if name == "index.rem" and numbers[1] > 0:
        return numbers[0] % numbers[1]
    if name == "index.assume":
        return numbers[value.index]
    return None


def launch_sizes(
    kernel: Operation, wave: int
) -> tuple[tuple[int, int, int], tuple[int | None, int | None, int | None], Operation]:
    """Static workgroup size, the workgroup count as far as it is known, and the launch configuration.

    Raises:
        LoomError: ``LOWER/010`` when the size is not known, ``LOWER/011`` when it is out of bounds.
    """
    config = kernel.region("config").blocks[0].last
    if config is None or config.name != "kernel.launch.config":
        raise rejection(
            kernel, "it has no launch configuration", "LOWER/010", "end its first region in kernel.launch.config"
        )
    sizes = [_launch_constant(v, wave) for v in config.operand_group("workgroup_size")]
    if any(s is None for s in sizes):
        raise rejection(
            config,
            "workgroup_size is no constant after specialization",
            "LOWER/010",
            "use index.constant or a config.get that is bound",
        )
    x, y, z = (int(s) for s in sizes if s is not None)
    if min(x, y, z) < 1 or x * y * z > 1024:
        raise rejection(config, f"a workgroup of {x}x{y}x{z} workitems", "LOWER/011", "use 1 to 1024 workitems in all")
    clusters = [_launch_constant(v, wave) for v in config.operand_group("cluster_size")]
    if any(c != 1 for c in clusters):
        raise rejection(
            config,
            "clusters of more than one workgroup; gfx11 has none",
            "LOWER/016",
            "leave cluster_size out, or make it 1 on every axis",
        )
    count = [_launch_constant(v, wave) for v in config.operand_group("workgroups")]
    return (x, y, z), (count[0], count[1], count[2]), config


def _launch_constant(value: Value, wave: int) -> int | None:
    op = value.defining_op
    if op is not None and op.name == "target.subgroup.size":
        return wave
    return constant_of(value)


def lower_kernel(
    module: Module, kernel: Operation, target: TargetConfiguration, legalizations: Legalizations | None = None
) -> Operation:
    """Lower one kernel whose body is inlined and free of templates and configuration.

    Args:
        module: Module that holds the kernel and the ``low.func.def`` helpers it invokes.
        kernel: The ``kernel.def``.
        target: What to compile for.
        legalizations: Where to leave what source ops were made of, for the report.

    Returns:
        A ``low.kernel.def``, alone in a new module (``operation.module``), with virtual registers and a free schedule.

    Raises:
        LoomError: ``LOWER/…`` naming the op that cannot be compiled, its location, and the nearest form that works.
    """
    wave = target.subgroup_size
    generation = processor_of(target.processor).generation
    if generation != "gfx11":
        raise rejection(
            kernel,
            f"source kernels are not lowered for {target.selector}",
            "LOWER/015",
            "use a gfx11 target (gfx1100, gfx11-generic), or write the kernel as low.kernel.def",
        )
    size, count, config = launch_sizes(kernel, wave)
    body = kernel.region("body")
    entry = body.blocks[0]
    ranges = Ranges(size, count, wave)
    uniformity = Uniformity(entry, size, wave)
    definition = lookup("low.kernel.def")
    assert definition is not None
    attributes: dict[str, Any] = {
        "descriptor_set": Word(target.descriptor_set),
        "sym_name": kernel.symbol or "kernel",
        "export": str(kernel.attributes.get("export") or kernel.symbol or "kernel"),
        "workgroup_size": size,
    }
    if all(c is not None and c > 0 for c in count):
        attributes["workgroup_count"] = tuple(int(c) for c in count if c is not None)
    if kernel.attributes.get("target") is not None:
        attributes["target"] = SymbolRef(str(kernel.attributes["target"]))
    if kernel.attributes.get("linkage") is not None:
        attributes["linkage"] = kernel.attributes["linkage"]
    low_body = Region()
    first = low_body.add_block(Block())
    lowered = Operation(definition, (), (), attributes, [low_body], (), kernel.location)
    holder = Module(module.filename)
    holder.source = module.source
    for op in module.operations:
        # The record that `target(@t)` names comes along, so that the result stands on its own.
        if op.symbol is not None and op.symbol == attributes.get("target"):
            holder.body.append(op.clone())
    holder.body.append(lowered)
    emitter = Emitter(generation, wave, target.processor, first)
    emitter.location = kernel.location
    memory = MemoryMap(entry)
    lw = Lowering(
        module,
        kernel,
        target,
        emitter,
        uniformity,
        ranges,
        size,
        count,
        handlers(),
        memory,
        processor_of(target.processor).lds_bytes,
        legalizations,
    )
    lw.entry = first
    lw.entry_anchor = emitter.create("low.schedule.fence", [], [])
    lw.entry_end = emitter.create("low.schedule.fence", [], [])
    with collection_paused():
        _arguments(lw, entry, first)
        _dynamic_storage(lw, config)
        lw.run_body(body)
        _frames(lw, lw.entry_anchor)
        lw.entry_anchor.erase()
        lw.entry_end.erase()
        clean(lw, lowered)
    return lowered


def _dynamic_storage(lw: Lowering, config: Operation) -> None:
    tail = config.optional_operand("dynamic_workgroup_storage")
    lw.dynamic_lds = constant_of(tail) if tail is not None else 0


def _frames(lw: Lowering, marker: Operation) -> None:
    """Reserve the frame in front of everything else."""
    e = lw.e
    e.block, e.anchor = lw.entry, marker  # type: ignore[assignment]
    if lw.tail_start is not None:
        # The tail starts where the fixed allocations end, so their size is a multiple of its alignment.
        lw.lds_bytes = -(-lw.lds_bytes // lw.tail_alignment) * lw.tail_alignment
        start = e.fresh("s_mov_b32", lw.lds_bytes)[0]
        start.name = "tail"
        lw.tail_start.results[0].replace_all_uses_with(start)
        lw.tail_start.erase()
    if lw.lds_bytes:
        e.storage("workgroup", lw.lds_bytes, 16)
    if lw.scratch_bytes:
        e.storage("private", lw.scratch_bytes, 16)


def _words_of(type_: Type) -> int:
    if is_index(type_):
        return 2
    if isinstance(type_, IntegerType):
        return 2 if type_.width == 64 else 1
    if isinstance(type_, FloatType):
        return 2 if type_.name == "f64" else 1
    raise NoForm(f"an argument of type {type_}", "pass buffers, index, offset, integers and floats")


def _arguments(lw: Lowering, entry: Block, first: Block) -> None:
    """Bindings become resources, everything else entry arguments (docs/contracts.md, kernarg layout)."""
    e = lw.e
    binding = 0
    anchor, block = e.anchor, e.block
    for argument in entry.arguments:
        type_ = argument.type
        if isinstance(type_, BufferType):
            e.block, e.anchor = first, lw.entry_anchor
            op = e.create(
                "low.resource",
                [],
                [RegisterType(SGPR, 2)],
                {"kind": Word("hal_binding"), "index": binding, "source_type": OpaqueType("hal.buffer")},
            )
            op.results[0].name = argument.name
            e.block, e.anchor = block, anchor
            root = Root("global", op.results[0], alignment=1, written=lw.memory.is_written(argument), index=binding)
            lw.set(argument, BufferValue(root))
            binding += 1
            continue
        try:
            words = _words_of(type_)
        except NoForm as problem:
            raise rejection(lw.kernel, str(problem), "LOWER/012", problem.nearest) from None
        value = first.add_argument(RegisterType(SGPR, words), argument.name)
        e.depth[value] = 0
        if is_truth(type_):
            e.zero_extended[value] = 1
            lw.set(argument, lw.t.from_bit(value))
        elif is_index(type_):
            if lw.index_words(argument) == 1:
                word = e.part(value, 0)
                lw.set_index(argument, (word,))
            else:
                lw.set(argument, IndexValue(tuple(e.parts(value))))
        else:
            if isinstance(type_, IntegerType) and type_.width < 32:
                e.zero_extended[value] = type_.width
            lw.set(argument, tuple(e.parts(value)))
