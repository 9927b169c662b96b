"""From the source to Low to the program, for a detailed report: which line became what, and what memory it touches."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from loom.diagnostics import Location
from loom.low.code import COPY, OP, Instruction, LowCode, Ref, VirtualRegister
from loom.target.amdgpu.build import BuiltKernel
from loom.target.amdgpu.operation import USE, RegisterSlot

if TYPE_CHECKING:
    from loom.target.amdgpu.kernel import KernelBackend


def place_of(location: Location | None) -> dict[str, Any] | None:
    """A location as a report row has it."""
    if location is None:
        return None
    return {"file": location.file, "line": location.line, "column": location.column}


def definitions_of(code: LowCode) -> dict[int, tuple[str, Location | None]]:
    """By register index the instruction (or ``argument of ^block``) that defines it, and its place in the text."""
    found: dict[int, tuple[str, Location | None]] = {}
    for block in code.blocks:
        for parameter in block.parameters:
            arrives = next((i for i in block.instructions if i.location is not None), None)
            found[parameter.index] = (f"argument of ^{block.label}", arrives.location if arrives is not None else None)
        for instruction in block.instructions:
            name = instruction.payload.row.mnemonic if instruction.kind == OP else str(instruction.payload)
            for register, _, _ in instruction.defs:
                found.setdefault(register.index, (name, instruction.location))
    return found


def checks_of(backend: KernelBackend) -> dict[int, str]:
    """By byte offset in the kernel's code what the checks compiled into it say; their stores fault on purpose."""
    emitted = backend.trace.emitted
    found: dict[int, str] = {}
    for instruction in backend.program.instructions():
        low = emitted.source.get(id(instruction)) if emitted is not None else None
        immediates = getattr(low.origin, "attributes", {}).get("immediates") if low is not None else None
        if isinstance(immediates, dict) and isinstance(immediates.get("message"), str):
            found[instruction.pc] = immediates["message"]
    return found


def source_low(backend: KernelBackend) -> dict[str, Any]:
    """Which source line became which Low and machine instructions, and what of memory they touch."""
    emitted = backend.trace.emitted
    built = backend.trace.built
    if emitted is None or built is None:
        return {"rows": [], "memory_rows": [], "memory": _memory(backend, None, []), "selection_summaries": []}
    made = Counter(id(low) for low in emitted.source.values())
    arguments = _Arguments(backend, built)
    groups: dict[tuple[str, int], dict[str, Any]] = {}
    memory_rows = []
    for low in built.code.instructions():
        if low.kind not in (OP, COPY):
            continue
        location = low.location
        key = (location.file, location.line) if location is not None else ("", 0)
        row = groups.setdefault(
            key, {"file": key[0], "line": key[1], "low_count": 0, "machine_count": 0, "mnemonics": Counter()}
        )
        row["low_count"] += 1
        row["machine_count"] += made.get(id(low), 0)
        if low.kind == OP:
            row["mnemonics"][low.payload.row.mnemonic] += 1
            if low.payload.row.memory is not None and low.payload.row.memory.bytes:
                memory_rows.append(_memory_row(low, arguments))
    return {
        "rows": [{**row, "mnemonics": dict(sorted(row["mnemonics"].items()))} for row in groups.values()],
        "memory_rows": memory_rows,
        "memory": _memory(backend, built, memory_rows),
        "selection_summaries": _selections(backend, built),
    }


def _selections(backend: KernelBackend, built: BuiltKernel) -> list[dict[str, Any]]:
    """By source op how many there are and what Low ops they became; by instruction where the source is Low itself."""
    if backend.trace.legalizations is not None:
        return backend.trace.legalizations.selections()
    rows: dict[str, dict[str, Any]] = {}
    for low in built.code.instructions():
        if low.kind == OP:
            name = low.payload.row.mnemonic
            row = rows.setdefault(name, {"source_op": f"low.op<amdgpu.{name}>", "count": 0, "low_count": 0})
            row["count"] += 1
            row["low_count"] += 1
    return [rows[name] for name in sorted(rows)]


KERNARG = "kernarg"
"""Root of the kernarg segment."""

SPILLS = "spills"
"""Root of what the allocator stores and reloads."""

Bindings = dict[tuple[int, int], str]
"""(register index, unit) of a 64-bit base address → name of the kernel argument it was loaded from."""


def _is_argument_load(low: Instruction, pointer: VirtualRegister | None) -> bool:
    return (
        low.kind == OP
        and low.origin is None
        and pointer is not None
        and any(register is pointer for register, _, _ in low.uses)
        and low.payload.row.memory is not None
    )


def _kernarg_pointer(built: BuiltKernel) -> VirtualRegister | None:
    for low in built.code.instructions():
        for register, _, _ in low.defs:
            if register.name == "kernarg_segment_ptr":
                return register
    return None


def _argument_loads(built: BuiltKernel) -> list[tuple[Instruction, int, int]]:
    """The loads of the kernarg segment that the ABI step made, each with its offset and size in bytes."""
    pointer = _kernarg_pointer(built)
    return [
        (low, int(low.payload.modifiers.get("offset", 0)), low.payload.row.memory.bytes)
        for low in built.code.instructions()
        if _is_argument_load(low, pointer)
    ]


def _bindings(backend: KernelBackend, built: BuiltKernel) -> Bindings:
    buffers = {e.offset: e.name for e in backend.resources.kernarg.entries if e.kind == "global_buffer"}
    found: Bindings = {}
    for low, offset, size in _argument_loads(built):
        register = low.defs[0][0]
        for unit in range(0, size // 4, 2):
            name = buffers.get(offset + 4 * unit)
            if name is not None:
                found[register.index, unit] = found[register.index, unit + 1] = name
    return found


class _Arguments:
    """Which kernel argument an address is made from."""

    def __init__(self, backend: KernelBackend, built: BuiltKernel) -> None:
        self.bindings = _bindings(backend, built)
        self.loads = {id(low) for low, _, _ in _argument_loads(built)}
        self.producers: dict[int, list[Instruction]] = {}
        for low in built.code.instructions():
            for register, _, _ in low.defs:
                self.producers.setdefault(register.index, []).append(low)

    def of(self, low: Instruction) -> str | None:
        """The buffer argument of a memory instruction, :data:`KERNARG` for the segment itself, None where unclear.

        The address is followed back through arithmetic and copies, not through memory.
        """
        if id(low) in self.loads:
            return KERNARG
        names: set[str] = set()
        work = _address_uses(low)
        seen: set[tuple[int, int]] = set()
        while work:
            register, unit, units = work.pop()
            for at in range(unit, unit + units):
                name = self.bindings.get((register.index, at))
                if name is not None:
                    names.add(name)
            if (register.index, unit) in seen:
                continue
            seen.add((register.index, unit))
            for producer in self.producers.get(register.index, ()):
                if producer.kind == COPY:
                    work += [
                        use
                        for (made, first, count), use in zip(producer.defs, producer.uses, strict=False)
                        if made is register and first < unit + units and unit < first + count
                    ]
                elif producer.kind == OP and producer.payload.row.memory is None:
                    work += producer.uses
        return names.pop() if len(names) == 1 else None


def _address_uses(low: Instruction) -> list[Ref]:
    row = low.payload.row
    return [
        low.uses[operand.index]
        for slot, operand in zip(row.slots, low.payload.operands, strict=True)
        if slot.name in row.memory.address and isinstance(operand, RegisterSlot) and operand.kind == USE
    ]


def _memory_row(low: Instruction, arguments: _Arguments) -> dict[str, Any]:
    row = low.payload.row
    memory = row.memory
    alias = low.address[3] if low.address is not None else None
    argument = SPILLS if low.origin in ("spill", "reload") else arguments.of(low)
    return {
        "location": place_of(low.location),
        "mnemonic": row.mnemonic,
        "space": memory.space,
        "kind": memory.kind,
        "bytes": memory.bytes,
        "address": _address_form(low),
        "argument": None if argument in (KERNARG, SPILLS) else argument,
        "root": str(alias or argument or "unknown"),
    }


def _address_form(low: Instruction) -> str:
    """What makes the address: ``scalar_base`` (plus a vector offset), ``vector_address``, ``scalar``, ``local``,
    ``buffer``."""
    row = low.payload.row
    if row.memory.space == "lds":
        return "local"
    if row.issue_class == "smem":
        return "scalar"
    for slot, operand in zip(row.slots, low.payload.operands, strict=True):
        if slot.name == "saddr" and isinstance(operand, RegisterSlot) and operand.kind == USE:
            return "scalar_base"
        if slot.name == "srsrc":
            return "buffer"
    return "vector_address"


def _memory(backend: KernelBackend, built: BuiltKernel | None, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Summaries of the memory rows: by strategy, by kernel argument, by root; and how arguments are fetched."""
    strategies: dict[tuple[str, str, int, str], list[int]] = {}
    roots: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        key = (row["space"], row["kind"], 8 * row["bytes"], row["address"])
        total = strategies.setdefault(key, [0, 0])
        total[0] += 1
        total[1] += row["bytes"]
        root = roots.setdefault(
            (row["space"], row["root"]),
            {"root": row["root"], "space": row["space"], "argument": row["argument"], "packets": 0, "bytes": {}},
        )
        root["argument"] = root["argument"] or row["argument"]
        root["packets"] += 1
        root["bytes"][row["kind"]] = root["bytes"].get(row["kind"], 0) + row["bytes"]
    entries = backend.resources.kernarg.entries
    by_argument: dict[str, Counter[str]] = {}
    for row in rows:
        if row["argument"] is not None:
            by_argument.setdefault(row["argument"], Counter())[row["kind"]] += row["bytes"]
    return {
        "strategies": [
            {"space": space, "kind": kind, "bits": bits, "address": form, "count": count, "bytes": total}
            for (space, kind, bits, form), (count, total) in sorted(strategies.items())
        ],
        "arguments": [
            {
                "name": e.name,
                "offset": e.offset,
                "size": e.size,
                "kind": e.kind,
                "bytes": dict(by_argument.get(e.name, {})),
            }
            for e in entries
        ],
        "roots": [roots[key] for key in sorted(roots)],
        "argument_packets": [
            {
                "mnemonic": low.payload.row.mnemonic,
                "offset": offset,
                "bytes": size,
                "arguments": [e.name for e in entries if offset <= e.offset and e.offset + e.size <= offset + size],
            }
            for low, offset, size in (_argument_loads(built) if built is not None else [])
        ],
    }
