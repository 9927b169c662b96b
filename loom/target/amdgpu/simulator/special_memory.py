"""Emission of the rarer memory instructions: typed buffers, LDS counters, loads straight into LDS, transposing loads,
block transfers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loom.low.semantics.buffer_formats import FormatAccess, format_access
from loom.low.semantics.memory import memory_operation
from loom.low.semantics.transpose import TRANSPOSES
from loom.target.amdgpu.machine import MachineInstruction, Register
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.emit import SCALAR_BASE, Unsupported
from loom.target.amdgpu.simulator.format_helpers import SUFFIXES
from loom.target.amdgpu.simulator.helpers import Helper
from loom.target.amdgpu.simulator.memory_forms import BLOCK, BLOCK_REGISTERS, COUNTERS, lds_load_kind

if TYPE_CHECKING:
    from loom.target.amdgpu.simulator.memory_emit import MemoryEmitter

IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9
"""Destination selectors X, Y, Z, W: what an instruction with its own format uses."""


def emit_special(memory: MemoryEmitter, instruction: MachineInstruction, site: int) -> bool:
    """Emit an instruction of this module; False where it is none."""
    semantic = instruction.row.semantic
    typed = format_access(semantic)
    if instruction.modifier("lds") or lds_load_kind(semantic) is not None:
        _load_to_lds(memory, instruction, site)
    elif typed is not None:
        _typed_buffer(memory, instruction, typed, site)
    elif semantic in COUNTERS:
        _counter(memory, instruction, site)
    elif semantic in TRANSPOSES:
        _transposing(memory, instruction, site)
    elif BLOCK.match(semantic):
        _block(memory, instruction, site)
    else:
        return False
    return True


def _typed_buffer(memory: MemoryEmitter, instruction: MachineInstruction, access: FormatAccess, site: int) -> None:
    values = memory.values
    w, v = memory.wave, memory.values.vector
    if access.typed:
        number, select = str(instruction.modifier("format")), str(IDENTITY)
    else:
        resource = memory.operand(instruction, "srsrc")
        assert isinstance(resource, Register)
        word = values.read_scalar(SCALAR_BASE[resource.bank] + resource.index + 3)
        select = values.emit(f"and i32 {word}, 4095")
        if memory.generation == "gfx9.4":
            # Number format in bits 14:12, data format in bits 18:15.
            kind = values.emit(f"lshr i32 {word}, 8")
            kind_bits = values.emit(f"and i32 {kind}, 112")
            layout = values.emit(f"lshr i32 {word}, 15")
            layout_bits = values.emit(f"and i32 {layout}, 15")
            number = values.emit(f"or i32 {kind_bits}, {layout_bits}")
        else:
            moved = values.emit(f"lshr i32 {word}, 12")
            number = values.emit(f"and i32 {moved}, 63")
    suffix = SUFFIXES[2 * access.store + access.short]
    helper = Helper(f"format.{memory.generation}", suffix, w, False)
    memory.helpers.add(helper)
    memory.needs_format_sizes = True
    size = values.emit(f"call i32 @loom.format.bytes(i32 {number})")
    start, place, good = memory.buffer_place(instruction, size, site)
    mask = values.read_exec()
    good_bits = values.emit(f"bitcast <{w} x i1> {good} to i{w}")
    inside = values.emit(f"and i{w} {good_bits}, {mask}")
    data = memory.operand(instruction, "vdata")
    assert isinstance(data, Register)
    first = memory.emitter.vector_index(data)
    registers = range(first, first + (-(-access.components // 2) if access.short else access.components))
    for register in registers:
        values.store_vector(register)
    pointer = values.pointer(values.vector_offset(first))
    reached = inside if access.store else mask
    values.lines.append(
        f"  call void @{helper.name}(ptr %st, i64 {start}, {v} {place}, i{w} {reached}, i{w} {inside}, i32 {site}, "
        f"i32 {number}, i32 {select}, i32 {access.components}, i32 {int(access.high)}, ptr {pointer})\n"
    )
    if not access.store:
        for register in registers:
            values.drop_vector(register)


def _counter(memory: MemoryEmitter, instruction: MachineInstruction, site: int) -> None:
    """DS_APPEND and DS_CONSUME: the first active lane does the atomic for all."""
    values = memory.values
    w, v = memory.wave, memory.values.vector
    if instruction.modifier("gds"):
        raise Unsupported("global data share is not simulated")
    mask = values.read_exec()
    count = values.emit(f"call i{w} @llvm.ctpop.i{w}(i{w} {mask})")
    memory.emitter.declarations.add(f"declare i{w} @llvm.ctpop.i{w}(i{w})")
    amount = count if w == 32 else values.emit(f"trunc i64 {count} to i32")
    negated = values.emit(f"sub i{w} 0, {mask}")
    lowest = values.emit(f"and i{w} {mask}, {negated}")
    operation = memory_operation(f"ds_{COUNTERS[instruction.row.semantic]}_rtn_u32")
    assert operation is not None
    m0 = values.emit(f"and i32 {values.read_scalar(L.M0)}, 65535")
    base = values.emit(f"load i64, ptr {values.pointer(L.LDS_BASE)}")
    start = values.emit(f"add i64 {base}, {instruction.modifier('offset')}")
    memory.access(
        instruction, operation, "lds", False, f"i64 {start}, {v} {memory.splat(m0)}", lowest, site, 0,
        [memory.splat(amount)],
    )  # fmt: skip
    _broadcast_result(memory, instruction, mask)


def _broadcast_result(memory: MemoryEmitter, instruction: MachineInstruction, mask: str) -> None:
    """Give every active lane what the first one has in the result register."""
    values = memory.values
    w, v = memory.wave, memory.values.vector
    result = memory.operand(instruction, "vdst")
    assert isinstance(result, Register)
    index = memory.emitter.vector_index(result)
    lane = values.emit(f"call i{w} @llvm.cttz.i{w}(i{w} {mask}, i1 false)")
    memory.emitter.declarations.add(f"declare i{w} @llvm.cttz.i{w}(i{w}, i1)")
    safe = values.emit(f"and i{w} {lane}, {w - 1}")
    old = values.emit(f"extractelement {v} {values.read_vector(index)}, i{w} {safe}")
    memory.emitter.write_vector_word(index, old, False, False, None)


def emit_direct_load(memory: MemoryEmitter, instruction: MachineInstruction, site: int) -> None:
    """LDS_DIRECT_LOAD: one value for all lanes; M0 holds its address (15:0) and its type (18:16).

    Types: 0 unsigned byte, 1 unsigned half, 2 word, 4 signed byte, 5 signed half (RDNA3 ISA, "LDS direct load").
    """
    values = memory.values
    w, v = memory.wave, memory.values.vector
    mask = values.read_exec()
    negated = values.emit(f"sub i{w} 0, {mask}")
    lowest = values.emit(f"and i{w} {mask}, {negated}")
    m0 = values.read_scalar(L.M0)
    address = values.emit(f"and i32 {m0}, 65532")
    base = values.emit(f"load i64, ptr {values.pointer(L.LDS_BASE)}")
    result = memory.operand(instruction, "vdst")
    assert isinstance(result, Register)
    index = memory.emitter.vector_index(result)
    values.store_vector(index)
    helper = Helper("lds", "load_b32", w, False, race=memory.race)
    pointer = values.pointer(values.vector_offset(index))
    memory.call(helper, f"i64 {base}, {v} {memory.splat(address)}", lowest, site, pointer, [])
    values.drop_vector(index)
    lane = values.emit(f"call i{w} @llvm.cttz.i{w}(i{w} {mask}, i1 false)")
    memory.emitter.declarations.add(f"declare i{w} @llvm.cttz.i{w}(i{w}, i1)")
    safe = values.emit(f"and i{w} {lane}, {w - 1}")
    word = values.emit(f"extractelement {v} {values.read_vector(index)}, i{w} {safe}")
    low = values.emit(f"and i32 {m0}, 3")
    shift = values.emit(f"shl i32 {low}, 3")
    moved = values.emit(f"lshr i32 {word}, {shift}")
    type_bits = values.emit(f"lshr i32 {m0}, 16")
    type_ = values.emit(f"and i32 {type_bits}, 7")
    chosen = word
    for number, bits, signed in ((0, 8, False), (1, 16, False), (4, 8, True), (5, 16, True)):
        narrow = values.emit(f"trunc i32 {moved} to i{bits}")
        wide = values.emit(f"{'sext' if signed else 'zext'} i{bits} {narrow} to i32")
        hit = values.emit(f"icmp eq i32 {type_}, {number}")
        chosen = values.emit(f"select i1 {hit}, i32 {wide}, i32 {chosen}")
    memory.emitter.write_vector_word(index, chosen, False, False, None)


def _transposing(memory: MemoryEmitter, instruction: MachineInstruction, site: int) -> None:
    """Each lane loads its own bytes, then the lanes of a group exchange elements."""
    values = memory.values
    shape = TRANSPOSES[instruction.row.semantic]
    operation = memory_operation(f"global_{shape.load}")
    assert operation is not None
    mask = values.read_exec()
    if instruction.row.semantic.startswith("ds_"):
        address = memory.operand(instruction, "addr")
        assert address is not None
        base = values.emit(f"load i64, ptr {values.pointer(L.LDS_BASE)}")
        constant = f"splat (i32 {instruction.modifier('offset')})"
        offset = values.emit(f"add {values.vector} {memory.lane_word(address)}, {constant}")
        place = f"i64 {base}, {values.vector} {offset}"
        memory.access(instruction, operation, "lds", False, place, mask, site)
    else:
        place = f"<{memory.wave} x i64> {memory.global_addresses(instruction)}"
        memory.access(instruction, operation, "global", True, place, mask, site)
    memory.emitter.commit(memory.emitter.apply(instruction, instruction.operands[:1], instruction.operands[:1]))


def _block(memory: MemoryEmitter, instruction: MachineInstruction, site: int) -> None:
    """Block transfers of gfx12: 32 registers, each moved where M0 has its bit."""
    found = BLOCK.match(instruction.row.semantic)
    assert found is not None
    space, kind = found.groups()
    values = memory.values
    w = memory.wave
    operation = memory_operation(f"{space}_{kind}_b32")
    assert operation is not None
    m0 = values.read_scalar(L.M0)
    data = memory.operand(instruction, "vdst" if kind == "load" else "vdata")
    assert isinstance(data, Register)
    # Addresses are read before the first result may overwrite them.
    offsets = memory.scratch_offsets(instruction) if space == "scratch" else memory.global_addresses(instruction)
    mask = values.read_exec()
    for k in range(BLOCK_REGISTERS):
        bit = values.emit(f"and i32 {m0}, {1 << k if k < 31 else -(1 << 31)}")
        wanted = values.emit(f"icmp ne i32 {bit}, 0")
        lanes = values.emit(f"select i1 {wanted}, i{w} {mask}, i{w} 0")
        stored = [memory.lane_word(data, k)] if kind == "store" else []
        if space == "scratch":
            constant = instruction.modifier("offset") + 4 * k
            memory.private(instruction, operation, offsets, constant, lanes, site, stored, k)
        else:
            place = values.emit(f"add <{w} x i64> {offsets}, splat (i64 {4 * k})")
            memory.access(instruction, operation, "global", True, f"<{w} x i64> {place}", lanes, site, k, stored)


def _load_to_lds(memory: MemoryEmitter, instruction: MachineInstruction, site: int) -> None:
    """Loads that put each lane's data at LDS base + M0 + the instruction's offset + lane * 4, or lane * 16 for 3 and
    4 words (CDNA3 and CDNA4 ISA, "Memory Buffer Load to LDS"). Bytes and halves are extended to a word.
    """
    values = memory.values
    w = memory.wave
    semantic = instruction.row.semantic
    operation = memory_operation(lds_load_kind(semantic) or semantic)
    if operation is None or operation.kind != "load" or operation.half is not None:
        raise Unsupported(f"'{instruction.mnemonic}' into LDS is not simulated")
    mask = values.read_exec()
    inside = mask
    if semantic.startswith("buffer"):
        start, place, good = memory.buffer_place(instruction, str(operation.bytes), site)
        good_bits = values.emit(f"bitcast <{w} x i1> {good} to i{w}")
        inside = values.emit(f"and i{w} {good_bits}, {mask}")
        addresses = memory.widen_offsets(start, place)
    elif semantic.startswith("scratch"):
        raise Unsupported("loads from scratch into LDS are not simulated")
    else:
        addresses = memory.global_addresses(instruction)
    helper = Helper("tolds", f"{operation.bytes}{'s' if operation.signed else ''}", w, False, race=memory.race)
    memory.helpers.add(helper)
    m0 = values.emit(f"and i32 {values.read_scalar(L.M0)}, 262143")
    moved = values.emit(f"add i32 {m0}, {instruction.modifier('offset')}")
    values.lines.append(
        f"  call void @{helper.name}(ptr %st, <{w} x i64> {addresses}, i{w} {mask}, i{w} {inside}, i32 {site}, "
        f"i32 {moved})\n"
    )
