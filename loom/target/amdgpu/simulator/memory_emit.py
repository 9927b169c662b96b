"""Emission of memory instructions: addresses to a base and lane offsets, then a call of the helper for the access."""

from __future__ import annotations

from loom.low.semantics.memory import MemoryOperation, memory_operation
from loom.target.amdgpu.access import atomic_returns
from loom.target.amdgpu.machine import Immediate, Literal, MachineInstruction, Operand, Register
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.emit import SCALAR_BASE, Emitter, Unsupported, unsupported_message
from loom.target.amdgpu.simulator.helpers import Helper, data_words, lanes_constant, operation_of
from loom.target.amdgpu.simulator.publication import LDS_WRITE
from loom.target.amdgpu.simulator.special_memory import emit_special


class MemoryEmitter:
    """Emits loads, stores and atomics; collects the helpers they need."""

    def __init__(self, emitter: Emitter, race: bool = False) -> None:
        self.emitter = emitter
        self.values = emitter.values
        self.wave = emitter.wave
        self.race = race
        self.helpers: set[Helper] = set()
        self.generation = emitter.generation
        self.needs_format_sizes = False
        self.watch: int | None = None
        """How ``loom.watch`` sees accesses from here on (``publication.READ`` and its successors); None: not at all."""
        self.release: int | None = None
        """How ``loom.release`` sees them (``release.LOAD`` or ``release.STORE``); None: not at all."""

    # Parts

    def operand(self, instruction: MachineInstruction, *names: str) -> Operand | None:
        """The operand of the first slot that the row has, by name."""
        for name in names:
            index = instruction.row.slot_index(name)
            if index >= 0:
                return instruction.operands[index]
        return None

    @staticmethod
    def present(operand: Operand | None) -> bool:
        """Whether an optional operand is there."""
        if operand is None:
            return False
        return not (isinstance(operand, Register) and operand.bank in ("off", "null"))

    def splat(self, value: str, type_: str = "i32") -> str:
        """A scalar in every lane."""
        kind = f"<{self.wave} x {type_}>"
        if not value.startswith("%"):
            return f"splat ({type_} {value})"
        one = self.values.emit(f"insertelement {kind} poison, {type_} {value}, i64 0")
        return self.values.emit(f"shufflevector {kind} {one}, {kind} poison, <{self.wave} x i32> zeroinitializer")

    def lane_word(self, operand: Operand, word: int = 0) -> str:
        """A 32-bit word of an address or data operand, a lane each."""
        if self.emitter.is_lane(operand):
            assert isinstance(operand, Register)
            return self.values.read_vector(self.emitter.vector_index(operand) + word)
        return self.splat(self.emitter.scalar_word(operand, word, "b32"))

    def _data(self, instruction: MachineInstruction, operation: MemoryOperation) -> list[str]:
        memory = instruction.row.memory
        assert memory is not None
        words: list[str] = []
        operands = [self.operand(instruction, n) for n in memory.data]
        for operand in operands:
            if operand is None:
                continue
            count = operand.units if isinstance(operand, Register) else 1
            words += [self.lane_word(operand, k) for k in range(count)]
        needed = data_words(operation)
        if len(words) < needed:
            raise Unsupported(f"{instruction.mnemonic}: {len(words)} data words of {needed}")
        words = words[:needed]
        if operation.compares and self.generation == "gfx9.4" and instruction.row.semantic.startswith("ds_cmpst"):
            # Up to gfx9 the LDS instruction names the comparison value first.
            half = operation.words
            words = words[half:] + words[:half]
        return words

    def result_pointer(self, instruction: MachineInstruction, word: int = 0) -> tuple[str, list[int]] | None:
        """Where a result register lies in the state block, and the numbers of its registers; None without one."""
        memory = instruction.row.memory
        assert memory is not None
        operand = self.operand(instruction, memory.result) if memory.result else None
        if operand is None or not self.present(operand):
            return None
        assert isinstance(operand, Register)
        first = self.emitter.vector_index(operand)
        indices = list(range(first, first + operand.units))
        return self.values.pointer(self.values.vector_offset(first + word)), indices

    def prepare_result(self, indices: list[int], complete: bool) -> None:
        """Lanes or halves that a load leaves alone must be in memory before the helper writes the others."""
        for index in indices:
            if complete and self.values.full_exec:
                self.values.drop_vector(index)
            else:
                self.values.store_vector(index)

    def call(
        self,
        helper: Helper,
        address: str,
        mask: str,
        site: int,
        target: str | None,
        data: list[str],
    ) -> None:
        """Emit a call of a helper."""
        self.helpers.add(helper)
        v = self.values.vector
        if self.watch is not None and helper.space == ("global" if self.watch < LDS_WRITE else "lds"):
            size = operation_of(helper).bytes
            self.values.lines.append(
                f"  call void @loom.watch{'.wide' if helper.wide else ''}(ptr %st, {address}, i{self.wave} {mask}, "
                f"i32 {size}, i32 {self.watch}, i32 {site})\n"
            )
        if self.release is not None and helper.space == "global":
            self.values.lines.append(
                f"  call void @loom.release{'.wide' if helper.wide else ''}(ptr %st, {address}, i{self.wave} {mask}, "
                f"i32 {operation_of(helper).bytes}, i32 {self.release}, i32 {site})\n"
            )
        text = f"  call void @{helper.name}(ptr %st, {address}, i{self.wave} {mask}, i32 {site}"
        if target is not None:
            text += f", ptr {target}"
        text += "".join(f", {v} {d}" for d in data) + ")\n"
        self.values.lines.append(text)

    def _helper(self, space: str, operation: MemoryOperation, wide: bool, returning: bool) -> Helper:
        mode = self.emitter.mode
        atomic = operation.kind == "atomic"
        suffix = operation.name
        if space == "lds":
            suffix = suffix.replace("_stride64", "").replace("_2addr", "").replace("_rtn", "")
        return Helper(
            space, suffix, self.wave, wide, atomic and returning,
            atomic and mode.denorm32 == 0, atomic and mode.denorm64 == 0, self.race and space == "lds",
        )  # fmt: skip

    # Instructions

    def emit(self, instruction: MachineInstruction, site: int) -> None:
        """Emit one memory instruction."""
        row = instruction.row
        memory = row.memory
        assert memory is not None
        if memory.space == "constant":
            self._scalar(instruction, site)
            return
        if instruction.modifier("tfe"):
            raise Unsupported("the residency status of 'tfe' is not simulated")
        if emit_special(self, instruction, site):
            return
        operation = memory_operation(row.semantic)
        if operation is None:
            raise Unsupported(unsupported_message(row.mnemonic))
        if memory.space in ("lds", "gds"):
            if instruction.modifier("gds"):
                raise Unsupported("global data share is not simulated")
            self._lds(instruction, operation, site)
        elif memory.space == "buffer":
            self._buffer(instruction, operation, site)
        elif memory.space == "scratch":
            self._scratch(instruction, operation, site)
        elif memory.space in ("global", "flat"):
            self._global(instruction, operation, site, memory.space == "flat")
        else:
            raise Unsupported(f"memory space {memory.space}")

    def _returns(self, instruction: MachineInstruction, operation: MemoryOperation) -> bool:
        if operation.kind == "load":
            return True
        if operation.kind == "store":
            return False
        memory = instruction.row.memory
        assert memory is not None
        if memory.result in memory.data:
            return atomic_returns(instruction)
        operand = self.operand(instruction, memory.result) if memory.result else None
        return self.present(operand)

    def access(
        self, instruction: MachineInstruction, operation: MemoryOperation, space: str, wide: bool, address: str,
        mask: str, site: int, first_word: int = 0, data: list[str] | None = None,
    ) -> None:  # fmt: skip
        """Emit one access of every lane of ``mask`` at ``address``."""
        returning = self._returns(instruction, operation)
        target = None
        helper = self._helper(space, operation, wide, returning)
        if data is None:
            data = self._data(instruction, operation) if operation.kind != "load" else []
        if returning:
            found = self.result_pointer(instruction, first_word)
            if found is None:
                raise Unsupported("a load without a result register")
            target, indices = found
            touched = indices[first_word : first_word + operation.words]
            self.prepare_result(touched, operation.half is None and mask == "-1")
            self.call(helper, address, mask, site, target, data)
            for index in touched:
                self.values.drop_vector(index)
            return
        self.call(helper, address, mask, site, None, data)

    def _lds(self, instruction: MachineInstruction, operation: MemoryOperation, site: int) -> None:
        values = self.values
        address = self.operand(instruction, "addr", "vaddr", "addr0")
        if "addtid" in instruction.row.semantic:
            m0 = values.emit(f"and i32 {values.read_scalar(L.M0)}, 65535")
            offset = values.emit(f"add {values.vector} {self.splat(m0)}, {lanes_constant(self.wave, 4)}")
        elif address is None:
            raise Unsupported(f"{instruction.mnemonic}: no address")
        else:
            offset = self.lane_word(address)
        base = values.emit(f"load i64, ptr {values.pointer(L.LDS_BASE)}")
        mask = values.read_exec()
        data = self._data_elements(instruction, operation)
        if operation.elements == 2:
            offsets = [instruction.modifier(n) * operation.bytes * operation.stride for n in ("offset0", "offset1")]
        else:
            offsets = [instruction.modifier("offset")]
        # Both addresses are read before either result is written. The sum wraps in 32 bits: compilers move a constant
        # out of a base that is negative without it (LLVM's hasUsableDSOffset, every generation behind gfx6).
        for element, extra in enumerate(offsets):
            place = values.emit(f"add {values.vector} {offset}, splat (i32 {extra})") if extra else offset
            self.access(
                instruction, operation, "lds", False, f"i64 {base}, {values.vector} {place}", mask, site,
                element * operation.words, data[element] if data else None,
            )  # fmt: skip

    def _data_elements(self, instruction: MachineInstruction, operation: MemoryOperation) -> list[list[str]]:
        if operation.kind == "load" or operation.elements == 1:
            return []
        memory = instruction.row.memory
        assert memory is not None
        result = []
        for name in memory.data[:2]:
            operand = self.operand(instruction, name)
            assert operand is not None
            result.append([self.lane_word(operand, k) for k in range(operation.words)])
        return result

    def _global(self, instruction: MachineInstruction, operation: MemoryOperation, site: int, flat: bool) -> None:
        values = self.values
        vaddr = self.operand(instruction, "vaddr", "addr")
        saddr = self.operand(instruction, "saddr")
        offset = instruction.modifier("offset")
        mask = values.read_exec()
        if "addtid" in instruction.row.semantic:
            assert saddr is not None
            base = self.scalar_base(saddr)
            start = values.emit(f"add i64 {base}, {offset}")
            address = f"i64 {start}, {values.vector} {lanes_constant(self.wave, 4)}"
            self.access(instruction, operation, "global", False, address, mask, site)
            return
        assert vaddr is not None
        if self.present(saddr):
            assert saddr is not None
            base = self.scalar_base(saddr)
            start = values.emit(f"add i64 {base}, {offset}") if offset else base
            address = f"i64 {start}, {values.vector} {self.lane_word(vaddr)}"
            if not flat:
                self.access(instruction, operation, "global", False, address, mask, site)
                return
            wide = self.widen_offsets(start, self.lane_word(vaddr))
        else:
            wide = self.wide_address(vaddr, offset)
        if not flat:
            self.access(instruction, operation, "global", True, f"<{self.wave} x i64> {wide}", mask, site)
            return
        self._flat(instruction, operation, wide, mask, site)

    def global_addresses(self, instruction: MachineInstruction) -> str:
        """64-bit addresses of a global access, a lane each, the instruction's offset included."""
        vaddr, saddr = self.operand(instruction, "vaddr", "addr"), self.operand(instruction, "saddr")
        offset = instruction.modifier("offset")
        assert vaddr is not None
        if saddr is None or not self.present(saddr):
            return self.wide_address(vaddr, offset)
        base = self.scalar_base(saddr)
        start = self.values.emit(f"add i64 {base}, {offset}") if offset else base
        return self.widen_offsets(start, self.lane_word(vaddr))

    def scalar_base(self, operand: Operand) -> str:
        """A 64-bit address in scalar registers."""
        return self.emitter.scalar_pair(operand, "b64")

    def wide_address(self, vaddr: Operand, offset: int) -> str:
        """64-bit addresses from a pair of vector registers."""
        values = self.values
        w = self.wave
        low = values.emit(f"zext {values.vector} {self.lane_word(vaddr, 0)} to <{w} x i64>")
        high = values.emit(f"zext {values.vector} {self.lane_word(vaddr, 1)} to <{w} x i64>")
        up = values.emit(f"shl <{w} x i64> {high}, splat (i64 32)")
        whole = values.emit(f"or <{w} x i64> {low}, {up}")
        return values.emit(f"add <{w} x i64> {whole}, splat (i64 {offset})") if offset else whole

    def widen_offsets(self, base: str, offsets: str) -> str:
        """64-bit addresses from a scalar base and 32-bit offsets."""
        values = self.values
        w = self.wave
        wide = values.emit(f"zext {values.vector} {offsets} to <{w} x i64>")
        return values.emit(f"add <{w} x i64> {wide}, {self.splat(base, 'i64')}")

    def _flat(
        self, instruction: MachineInstruction, operation: MemoryOperation, wide: str, mask: str, site: int
    ) -> None:
        """Split the lanes by aperture: LDS, scratch, and the rest global."""
        values = self.values
        w = self.wave
        upper = values.emit(f"lshr <{w} x i64> {wide}, splat (i64 48)")
        low = values.emit(f"trunc <{w} x i64> {wide} to {values.vector}")
        masks = {}
        for space, aperture in (("lds", L.SHARED_APERTURE >> 48), ("scratch", L.PRIVATE_APERTURE >> 48)):
            hit = values.emit(f"icmp eq <{w} x i64> {upper}, splat (i64 {aperture})")
            bits = values.emit(f"bitcast <{w} x i1> {hit} to i{w}")
            masks[space] = values.emit(f"and i{w} {bits}, {mask}")
        others = values.emit(f"or i{w} {masks['lds']}, {masks['scratch']}")
        not_others = values.emit(f"xor i{w} {others}, -1")
        rest = values.emit(f"and i{w} {mask}, {not_others}")
        data = self._data(instruction, operation) if operation.kind != "load" else []
        self.access(instruction, operation, "global", True, f"<{w} x i64> {wide}", rest, site, 0, data)
        base = values.emit(f"load i64, ptr {values.pointer(L.LDS_BASE)}")
        self.access(
            instruction, operation, "lds", False, f"i64 {base}, {values.vector} {low}", masks["lds"], site, 0, data
        )
        self.private(instruction, operation, low, 0, masks["scratch"], site, data)

    def private(
        self, instruction: MachineInstruction, operation: MemoryOperation, offsets: str, constant: int, mask: str,
        site: int, data: list[str] | None, first_word: int = 0,
    ) -> None:  # fmt: skip
        """Scratch: each lane's bytes are contiguous; an access beyond them is a fault of that lane."""
        values = self.values
        w = self.wave
        v = values.vector
        size64 = values.emit(f"load i64, ptr {values.pointer(L.SCRATCH_SIZE)}")
        size = values.emit(f"trunc i64 {size64} to i32")
        total = values.emit(f"add {v} {offsets}, splat (i32 {constant})") if constant else offsets
        limit = values.emit(f"sub i32 {size}, {operation.bytes}")
        beyond = values.emit(f"icmp ugt {v} {total}, {self.splat(limit)}")
        small = values.emit(f"icmp slt i32 {limit}, 0")
        beyond_bits = values.emit(f"bitcast <{w} x i1> {beyond} to i{w}")
        beyond_any = values.emit(f"select i1 {small}, i{w} -1, i{w} {beyond_bits}")
        bad = values.emit(f"and i{w} {beyond_any}, {mask}")
        values.lines.append(
            f"  call void @loom.scratch.check(ptr %st, i{w} {bad}, {v} {total}, i32 {site}, i32 {operation.bytes})\n"
        )
        good_bits = values.emit(f"xor i{w} {bad}, -1")
        good = values.emit(f"and i{w} {mask}, {good_bits}")
        stride = values.emit(f"mul {v} {lanes_constant(w, 1)}, {self.splat(size)}")
        where = values.emit(f"add {v} {total}, {stride}")
        base = values.emit(f"load i64, ptr {values.pointer(L.SCRATCH_BASE)}")
        self.access(instruction, operation, "scratch", False, f"i64 {base}, {v} {where}", good, site, first_word, data)

    def scratch_offsets(self, instruction: MachineInstruction) -> str:
        """Byte offsets of a scratch access a lane, without the instruction's constant."""
        vaddr = self.operand(instruction, "vaddr", "addr")
        saddr = self.operand(instruction, "saddr")
        values = self.values
        parts: list[str] = []
        if vaddr is not None and self.present(vaddr):
            parts.append(self.lane_word(vaddr))
        if saddr is not None and self.present(saddr):
            parts.append(self.splat(self.emitter.scalar_word(saddr, 0, "b32")))
        total = parts[0] if parts else "zeroinitializer"
        for part in parts[1:]:
            total = values.emit(f"add {values.vector} {total}, {part}")
        return total

    def _scratch(self, instruction: MachineInstruction, operation: MemoryOperation, site: int) -> None:
        values, total = self.values, self.scratch_offsets(instruction)
        self.private(instruction, operation, total, instruction.modifier("offset"), values.read_exec(), site, None)

    def buffer_place(self, instruction: MachineInstruction, size: str, site: int) -> tuple[str, str, str]:
        """Start (``i64``), byte offsets and in-range lanes of a buffer access of ``size`` bytes (``i32``).

        Base, stride and bounds come from a resource of four scalar registers (RDNA3 ISA, "Range checking").
        """
        values, emitter = self.values, self.emitter
        w, v = self.wave, self.values.vector
        resource = self.operand(instruction, "srsrc")
        assert isinstance(resource, Register)
        first = SCALAR_BASE[resource.bank] + resource.index
        word = [values.read_scalar(first + k) for k in range(4)]
        # Swizzling is bit 31 of word 1, on gfx11 and gfx12 bits 31:30; bit 23 of word 3 adds the lane's number.
        swizzle = values.emit(f"and i32 {word[1]}, {-(1 << 31) if self.generation == 'gfx9.4' else -(1 << 30)}")
        add_lane = values.emit(f"and i32 {word[3]}, {1 << 23}")
        asked = values.emit(f"or i32 {swizzle}, {add_lane}")
        values.lines.append(f"  call void @loom.resource.check(ptr %st, i32 {asked}, i32 {site})\n")
        low = values.emit(f"zext i32 {word[0]} to i64")
        high16 = values.emit(f"and i32 {word[1]}, 65535")
        high = values.emit(f"zext i32 {high16} to i64")
        high_up = values.emit(f"shl i64 {high}, 32")
        base = values.emit(f"or i64 {low}, {high_up}")
        stride_up = values.emit(f"lshr i32 {word[1]}, 16")
        stride = values.emit(f"and i32 {stride_up}, 16383")
        records = word[2]
        soffset_operand = self.operand(instruction, "soffset")
        soffset = "0"
        if soffset_operand is not None and self.present(soffset_operand):
            soffset = emitter.scalar_word(soffset_operand, 0, "b32")
        vaddr = self.operand(instruction, "vaddr")
        indexed, offset_enabled = instruction.modifier("idxen"), instruction.modifier("offen")
        index = offset = None
        if vaddr is not None and self.present(vaddr):
            if indexed:
                index = self.lane_word(vaddr, 0)
                if offset_enabled:
                    offset = self.lane_word(vaddr, 1)
            elif offset_enabled:
                offset = self.lane_word(vaddr, 0)
        constant = instruction.modifier("offset")
        within = offset or "zeroinitializer"
        if constant:
            within = values.emit(f"add {v} {within}, splat (i32 {constant})")
        # Raw range check (no stride): the last byte against num_records; structured: the index.
        end = values.emit(f"add {v} {within}, {self.splat(size)}")
        raw_ok = values.emit(f"icmp ule {v} {end}, {self.splat(records)}")
        no_overflow = values.emit(f"icmp uge {v} {end}, {within}")
        raw_good = values.emit(f"and <{w} x i1> {raw_ok}, {no_overflow}")
        if index is not None:
            index_ok = values.emit(f"icmp ult {v} {index}, {self.splat(records)}")
            select_shift = values.emit(f"lshr i32 {word[3]}, 28")
            selector = values.emit(f"and i32 {select_shift}, 3")
            check_offset = values.emit(f"icmp eq i32 {selector}, 0")
            within_stride = values.emit(f"icmp ule {v} {end}, {self.splat(stride)}")
            both = values.emit(f"and <{w} x i1> {index_ok}, {within_stride}")
            structured = values.emit(f"select i1 {check_offset}, <{w} x i1> {both}, <{w} x i1> {index_ok}")
            raw = values.emit(f"icmp eq i32 {stride}, 0")
            good = values.emit(f"select i1 {raw}, <{w} x i1> {raw_good}, <{w} x i1> {structured}")
            scaled = values.emit(f"mul {v} {index}, {self.splat(stride)}")
            place = values.emit(f"add {v} {within}, {scaled}")
        else:
            good = raw_good
            place = within
        wide_soffset = values.emit(f"zext i32 {soffset} to i64")
        return values.emit(f"add i64 {base}, {wide_soffset}"), place, good

    def _buffer(self, instruction: MachineInstruction, operation: MemoryOperation, site: int) -> None:
        """A buffer access without format. Beyond ``num_records`` it loads zero and stores nothing; it is no fault."""
        values = self.values
        w, v = self.wave, self.values.vector
        start, place, good = self.buffer_place(instruction, str(operation.bytes), site)
        good_bits = values.emit(f"bitcast <{w} x i1> {good} to i{w}")
        exec_mask = values.read_exec()
        mask = values.emit(f"and i{w} {good_bits}, {exec_mask}")
        self.access(instruction, operation, "global", False, f"i64 {start}, {v} {place}", mask, site)
        if operation.kind == "load" or self._returns(instruction, operation):
            found = self.result_pointer(instruction)
            assert found is not None
            for register in found[1]:
                old = values.read_vector(register)
                not_good = values.emit(f"xor <{w} x i1> {good}, splat (i1 true)")
                zeroed = not_good
                if not values.full_exec:
                    zeroed = values.emit(f"and <{w} x i1> {not_good}, {values.read_exec_lanes()}")
                empty = "zeroinitializer"
                if operation.half is not None:
                    keep = 0xFFFF0000 if operation.half == 0 else 0xFFFF
                    empty = values.emit(f"and {v} {old}, splat (i32 {keep - (1 << 32) if keep >> 31 else keep})")
                merged = values.emit(f"select <{w} x i1> {zeroed}, {v} {empty}, {v} {old}")
                values.write_vector(register, merged)

    def _scalar(self, instruction: MachineInstruction, site: int) -> None:
        """Scalar loads: the address's two low bits are ignored."""
        values, emitter = self.values, self.emitter
        row = instruction.row
        assert row.memory is not None
        operation = memory_operation(row.semantic)
        if operation is None:
            raise Unsupported(unsupported_message(row.mnemonic))
        base = self.operand(instruction, "sbase")
        target = self.operand(instruction, "sdst", "sdata")
        assert isinstance(base, Register) and isinstance(target, Register)
        buffered = row.semantic.startswith("s_buffer")
        first = SCALAR_BASE[base.bank] + base.index
        if buffered:
            low = values.emit(f"zext i32 {values.read_scalar(first)} to i64")
            masked = values.emit(f"and i32 {values.read_scalar(first + 1)}, 65535")
            high = values.emit(f"zext i32 {masked} to i64")
            up = values.emit(f"shl i64 {high}, 32")
            start = values.emit(f"or i64 {low}, {up}")
        else:
            start = values.read_pair(first)
        offset = instruction.modifier("offset")
        soffset = self.operand(instruction, "soffset", "offset")
        if soffset is not None and self.present(soffset):
            if isinstance(soffset, (Immediate, Literal)):
                offset += soffset.value if isinstance(soffset, Immediate) else soffset.bits
            else:
                register = values.emit(f"zext i32 {emitter.scalar_word(soffset, 0, 'b32')} to i64")
                start = values.emit(f"add i64 {start}, {register}")
        address = values.emit(f"add i64 {start}, {offset}") if offset else start
        index = SCALAR_BASE.get(target.bank)
        if operation.bytes < 4:
            small = values.emit(
                f"call i32 @loom.scalar.load.small(ptr %st, i64 {address}, i32 {operation.bytes}, i32 {site})"
            )
            if operation.signed:
                kind = f"i{8 * operation.bytes}"
                narrow = values.emit(f"trunc i32 {small} to {kind}")
                small = values.emit(f"sext {kind} {narrow} to i32")
            if index is not None:
                values.write_scalar(index + target.index, small)
            return
        aligned = values.emit(f"and i64 {address}, -4")
        if index is None:
            return
        where = index + target.index
        pointer = values.pointer(L.SGPRS + 4 * where)
        for k in range(operation.words):
            values.drop_scalar(where + k)
        values.lines.append(
            f"  call void @loom.scalar.load(ptr %st, ptr {pointer}, i64 {aligned}, i32 {operation.bytes}, i32 {site})\n"
        )
