"""Entering Low: ``low.invoke`` from source functions, and launches of ``low.kernel.def``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from loom.diagnostics import error
from loom.ir import Operation, RegisterType, Value, VectorType
from loom.reference.execution import Batch, Frame, Geometry, Interpreter, form_of, handles
from loom.reference.formats import FORMATS, Array, encode
from loom.reference.low import LowFunction, Machine, Steps, Wave, Words, split_integer, uniform
from loom.reference.low_memory import GLOBAL_BASE, PRIVATE_APERTURE, SHARED_APERTURE, MemoryUnit
from loom.reference.memory import Arena, RaceDetector
from loom.reference.operations_vector import from_bits, to_bits
from loom.reference.values import BufferValue, Mask

# --- low.invoke -------------------------------------------------------------------------------------------------------


def generation_of(op: Operation) -> str:
    """The instruction table that a Low function is written in."""
    from loom.target.amdgpu.descriptor_set.sets import SETS

    name = str(op.attributes.get("descriptor_set") or "")
    generation = SETS.get(name)
    if generation is None:
        raise error(f"descriptor set '{name}' cannot be interpreted", "REFERENCE/001", op.location)
    return generation


@handles("low.invoke")
def _invoke(interp: Interpreter, frame: Frame, op: Operation, mask: Mask) -> None:
    helper = interp.symbol(str(op.attributes["callee"]), op)
    batch = frame.batch
    slots = batch.slots()
    size = slots.shape[1]
    arena = next(
        (value.arena for value in (frame.values[o] for o in op.operands) if isinstance(value, BufferValue)),
        Arena("global"),
    )
    machine = Machine(generation_of(helper), size, MemoryUnit(arena))
    active = np.ones(batch.lanes, np.bool_) if mask is None else np.broadcast_to(mask, (batch.lanes,))
    collected: list[list[Array]] | None = None
    for row in slots:
        chosen = (row >= 0) & active[row]
        if not chosen.any():
            continue
        wave = Wave(machine, sum(1 << int(lane) for lane in np.flatnonzero(chosen)))
        arguments = [_to_words(interp, frame, op, value, row, chosen) for value in op.operands]
        steps = LowFunction(interp, helper, wave).run(arguments)
        try:
            while True:
                next(steps)
        except StopIteration as finished:
            results: list[Words] = finished.value
        if collected is None:
            collected = [[np.zeros(batch.lanes, np.uint32) for _ in words] for words in results]
        for kept, words in zip(collected, results, strict=True):
            for target, word in zip(kept, words, strict=True):
                spread = np.broadcast_to(word, (size,))
                target[row[chosen]] = spread[chosen]
    for result, kept_words in zip(op.results, collected or [], strict=False):
        frame.set(result, _from_words(result, kept_words))


def _to_words(interp: Interpreter, frame: Frame, op: Operation, value: Value, row: Array, chosen: Array) -> Words:
    """A source value as register words: vectors lane by lane, scalars uniform (they must agree)."""
    content = frame.values[value]
    if isinstance(content, BufferValue):
        return split_integer(GLOBAL_BASE + int(content.base.ravel()[0]), 2)
    spread = np.broadcast_to(content, (frame.batch.lanes, *content.shape[1:]))[np.maximum(row, 0)]
    form = form_of(value.type)
    bits = to_bits(encode(np.ascontiguousarray(spread.reshape(spread.shape[0], -1)), form), form.bits)
    stream = bits.reshape(spread.shape[0], -1)
    padding = -stream.shape[1] % 32
    if padding:
        stream = np.concatenate([stream, np.zeros((stream.shape[0], padding), np.bool_)], axis=1)
    words = from_bits(stream.reshape(stream.shape[0], -1, 32), FORMATS["i32"]).view(np.uint32)
    if isinstance(value.type, VectorType):
        return [np.ascontiguousarray(words[:, place]) for place in range(words.shape[1])]
    seen = words[chosen]
    if not (seen == seen[0]).all():
        interp.fail(
            op,
            "REFERENCE/011",
            f"low.invoke: the scalar argument %{value.name or '?'} differs between lanes of a subgroup",
            frame=frame,
            hint="pass values that differ between lanes as vectors, such as vector<1xi32>",
        )
    return [seen[0, place : place + 1].copy() for place in range(words.shape[1])]


def _from_words(value: Value, words: list[Array]) -> Array:
    """Register words as a source value."""
    form = form_of(value.type)
    stacked = np.stack(words, axis=1)
    bits = to_bits(stacked, 32).reshape(stacked.shape[0], -1)
    shape: tuple[Any, ...] = value.type.dims if isinstance(value.type, VectorType) else ()
    count = int(np.prod(shape, dtype=np.int64))
    fields = bits[:, : count * form.bits].reshape(stacked.shape[0], count, form.bits)
    values = from_bits(fields, form)
    return values.reshape(stacked.shape[0], *shape)


# --- kernels ----------------------------------------------------------------------------------------------------------


def launch_low(interp: Interpreter, kernel: Operation, arguments: Sequence[Any], geometry: Geometry | None) -> Geometry:
    """Launch a ``low.kernel.def``: buffers bind to its resources in order, scalars to its entry arguments in order.

    Raises ``REFERENCE/009`` for arguments that do not fit and for a kernel without a workgroup size.
    """
    from loom.reference.launch import Memory, _Binding

    if geometry is None:
        geometry = static_geometry(kernel)
    binding = _Binding(arguments, False)
    buffers = [binding.buffer(argument) for argument in arguments if isinstance(argument, Memory)]
    scalars = [argument for argument in arguments if not isinstance(argument, Memory)]
    addresses = [GLOBAL_BASE + int(buffer.base[0]) for buffer in buffers]
    layout: Any = kernel.attributes.get("abi_layout")
    entry: list[Words] = []
    if isinstance(layout, dict) and isinstance(layout.get("arguments"), dict):
        kernarg = _foreign_kernarg(binding.arena, kernel, layout, addresses, scalars, geometry)
    else:
        parameters = kernel.regions[-1].blocks[0].arguments
        if len(scalars) != len(parameters):
            raise error(
                f"kernel '@{kernel.symbol}' takes {len(parameters)} scalars, not {len(scalars)}",
                "REFERENCE/009",
                kernel.location,
            )
        entry = [_scalar_words(value, parameter) for value, parameter in zip(scalars, parameters, strict=True)]
        kernarg = _kernarg(binding.arena, addresses, entry)
    machine = Machine(generation_of(kernel), interp.target.subgroup_size, MemoryUnit(binding.arena))
    machine.private_bytes = _stated(layout, "private_segment_fixed_size")
    machine.lds_bytes = _stated(layout, "group_segment_fixed_size") + geometry.dynamic_storage
    packet = _dispatch_packet(binding.arena, geometry, kernarg)
    queue = _queue(binding.arena)
    try:
        for group in range(geometry.group_count):
            batch = Batch(geometry, group, 1, machine.wave)
            _run_group(interp, kernel, machine, batch, entry, addresses, kernarg, packet, queue)
    finally:
        binding.copy_back()
    return geometry


def _stated(layout: Any, field: str) -> int:
    """A size in bytes that a lifted kernel's header states; other kernels reserve what they use."""
    header = layout.get("descriptor") if isinstance(layout, dict) else None
    stated = header.get(field, 0) if isinstance(header, dict) else 0
    return int(stated) if isinstance(stated, int) else 0


def static_geometry(kernel: Operation) -> Geometry:
    """The launch that a ``low.kernel.def`` states; one workgroup where it states no count.

    Raises ``REFERENCE/009`` for a kernel without a workgroup size.
    """
    size: Any = kernel.attributes.get("workgroup_size")
    if size is None:
        raise error(f"kernel '@{kernel.symbol}' states no workgroup_size", "REFERENCE/009", kernel.location)
    count: Any = kernel.attributes.get("workgroup_count") or (1, 1, 1)
    sizes, counts = [*size, 1, 1][:3], [*count, 1, 1][:3]
    return Geometry((counts[0], counts[1], counts[2]), (sizes[0], sizes[1], sizes[2]), captured_dynamic_lds(kernel))


def captured_dynamic_lds(kernel: Operation) -> int:
    """Bytes of dynamic LDS that a lifted kernel was captured with; 0 for others."""
    layout: Any = kernel.attributes.get("abi_layout")
    resources = layout.get("resources") if isinstance(layout, dict) else None
    found = resources.get("dynamic_lds", 0) if isinstance(resources, dict) else 0
    return found if isinstance(found, int) else 0


def _scalar_words(value: Any, parameter: Value) -> Words:
    """A scalar as the words of an entry argument; sub-word integers are zero-extended."""
    assert isinstance(parameter.type, RegisterType)
    return split_integer(_scalar_bits(value), parameter.type.units)


def _scalar_bits(value: Any) -> int:
    """The bits of a scalar argument; a Python float counts as f32."""
    if isinstance(value, np.ndarray):
        flat = value.ravel()[:1]
        return int(flat[0]) if flat.dtype == np.bool_ else int(flat.view(f"u{flat.dtype.itemsize}")[0])
    return int(np.float32(value).view(np.uint32)) if isinstance(value, float) else int(value)


def _kernarg(arena: Arena, addresses: Sequence[int], entry: Sequence[Words]) -> int:
    """The kernarg segment in memory (bindings, then arguments by words); returns its address."""
    data = b"".join(address.to_bytes(8, "little") for address in addresses)
    data += b"".join(word.astype(np.uint32).tobytes() for words in entry for word in words)
    data = data.ljust(-(-max(len(data), 8) // 8) * 8, b"\0")
    start = arena.allocate(len(data), "kernarg", alignment=64)
    arena.data[start : start + len(data)] = np.frombuffer(data, np.uint8)
    return GLOBAL_BASE + start


def _foreign_kernarg(
    arena: Arena,
    kernel: Operation,
    layout: dict[str, Any],
    addresses: Sequence[int],
    scalars: Sequence[Any],
    geometry: Geometry,
) -> int:
    """The kernarg segment of a lifted kernel: its ``abi_layout`` states offset, size and kind of every argument.

    Buffers and scalars are taken in the order of their arguments; hidden arguments describe the launch (LLVM's AMDGPU
    usage guide, "Code Object V5 Metadata"), those without a meaning here are zero.
    """
    entries = sorted(layout["arguments"].values(), key=lambda entry: int(entry["offset"]))
    size = max([int(layout.get("kernarg_size", 0)), *(int(e["offset"]) + int(e["size"]) for e in entries)])
    data = bytearray(-(-max(size, 8) // 8) * 8)
    given = {"global_buffer": iter(addresses), "by_value": iter(scalars)}
    hidden = _hidden_values(geometry)
    for entry in entries:
        kind, offset, width = str(entry["kind"]), int(entry["offset"]), int(entry["size"])
        if kind.startswith("hidden"):
            number = hidden.get(kind, 0)
        else:
            source = given["global_buffer" if kind == "global_buffer" else "by_value"]
            value = next(source, None)
            if value is None:
                raise error(
                    f"kernel '@{kernel.symbol}' takes more arguments than the launch gives",
                    "REFERENCE/009",
                    kernel.location,
                )
            number = value if isinstance(value, int) else _scalar_bits(value)
        data[offset : offset + width] = (number & ((1 << (8 * width)) - 1)).to_bytes(width, "little")
    start = arena.allocate(len(data), "kernarg", alignment=64)
    arena.data[start : start + len(data)] = np.frombuffer(bytes(data), np.uint8)
    return GLOBAL_BASE + start


def _hidden_values(geometry: Geometry) -> dict[str, int]:
    values = {
        "hidden_dynamic_lds_size": geometry.dynamic_storage,
        "hidden_grid_dims": 1,
        "hidden_shared_base": SHARED_APERTURE >> 32,
        "hidden_private_base": PRIVATE_APERTURE >> 32,
    }
    for axis, name in enumerate("xyz"):
        values[f"hidden_block_count_{name}"] = geometry.workgroups[axis]
        values[f"hidden_group_size_{name}"] = geometry.workgroup_size[axis]
        if geometry.workgroups[axis] * geometry.workgroup_size[axis] > 1:
            values["hidden_grid_dims"] = axis + 1
    return values


def _dispatch_packet(arena: Arena, geometry: Geometry, kernarg: int) -> int:
    """The AQL packet of the launch (HSA runtime specification, "kernel dispatch packet"); returns its address."""
    packet = np.zeros(64, np.uint8)
    packet[4:10].view(np.uint16)[:] = geometry.workgroup_size
    grid = [count * size for count, size in zip(geometry.workgroups, geometry.workgroup_size, strict=True)]
    packet[12:24].view(np.uint32)[:] = grid
    packet[40:48].view(np.uint64)[:] = kernarg
    start = arena.allocate(64, "dispatch packet", alignment=64)
    arena.data[start : start + 64] = packet
    return GLOBAL_BASE + start


def _queue(arena: Arena) -> int:
    """A queue of 256 zero bytes, for kernels that ask for its address (HSA runtime specification, "queue")."""
    start = arena.allocate(256, "queue", alignment=64)
    arena.data[start : start + 256] = 0
    return GLOBAL_BASE + start


#: Bytes of LDS of the largest target (gfx950); what a kernel may address is in :attr:`Machine.lds_bytes`.
_LDS_BYTES = 163840


def _run_group(
    interp: Interpreter,
    kernel: Operation,
    machine: Machine,
    batch: Batch,
    entry: Sequence[Words],
    addresses: Sequence[int],
    kernarg: int,
    packet: int,
    queue: int,
) -> None:
    """Run the waves of one workgroup, each to its next barrier in turn."""
    lds = np.full(_LDS_BYTES, 0xA5, np.uint8)
    running: list[Steps] = []
    detector = RaceDetector(_LDS_BYTES)
    for number, row in enumerate(batch.slots()):
        present = row >= 0
        safe = np.maximum(row, 0)
        ids = [batch.coordinate("workitem", axis)[safe].astype(np.uint32) for axis in range(3)]
        wave = Wave(machine, sum(1 << int(lane) for lane in np.flatnonzero(present)), lds=lds)
        wave.detector, wave.number = detector, number
        wave.resources = list(addresses)
        wave.live_ins = {
            "amdgpu.kernarg_segment_ptr": split_integer(kernarg, 2),
            "amdgpu.dispatch_ptr": split_integer(packet, 2),
            "amdgpu.queue_ptr": split_integer(queue, 2),
            "amdgpu.dispatch_id": split_integer(0, 2),
            "amdgpu.private_segment_size": [uniform(machine.private_bytes)],
            "amdgpu.m0": [uniform(0)],
            "amdgpu.workitem_id.packed.xy": [ids[0] | ids[1] << np.uint32(10)],
            "amdgpu.workitem_id.packed.xyz": [ids[0] | ids[1] << np.uint32(10) | ids[2] << np.uint32(20)],
        }
        for axis, name in enumerate("xyz"):
            place = int(batch.coordinate("workgroup", axis)[0])
            wave.live_ins[f"amdgpu.workgroup_id.{name}"] = [uniform(place)]
            wave.live_ins[f"amdgpu.workitem_id.{name}"] = [ids[axis]]
        y, z = (int(batch.coordinate("workgroup", axis)[0]) for axis in (1, 2))
        wave.live_ins["amdgpu.workgroup_id.packed.yz"] = [uniform(y & 0xFFFF | z << 16)]
        running.append(LowFunction(interp, kernel, wave).run(entry))
    while running:
        waiting: list[Steps] = []
        for steps in running:
            try:
                next(steps)
                waiting.append(steps)
            except StopIteration:
                continue
        running = waiting
