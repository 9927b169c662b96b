"""Low text to Low code: one ``low.kernel.def`` as blocks of instructions with table rows.

Slices, copies and assumptions become references; tuples and branch arguments become copies; resources and arguments
become scalar loads
of the kernarg segment (the ABI step). The instructions that the text gives are never changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from loom.diagnostics import LoomError, error
from loom.ir import Block, RegisterType, Value
from loom.ir import Operation as IrOperation
from loom.low.code import (
    BRANCH,
    COPY,
    ENTRY,
    FENCE,
    JUMP,
    OP,
    RETURN,
    CodeBlock,
    Instruction,
    LowCode,
    Ref,
    Traits,
    VirtualRegister,
)
from loom.target.amdgpu.abi import LIVE_IN_CLASSES, EntryState, KernargLayout, entry_state, layout_kernarg
from loom.target.amdgpu.descriptor_set.resolution import Resolved, resolve
from loom.target.amdgpu.dual_issue import keep_pair
from loom.target.amdgpu.foreign_abi import foreign_kernarg, foreign_storage
from loom.target.amdgpu.machine import OFF, Immediate, Inline, Literal, Operand, Register
from loom.target.amdgpu.operation import DEFINITION, USE, Operation, RegisterSlot, row_named, row_traits
from loom.target.amdgpu.peephole import ACCUMULATING
from loom.transform.rejection import rejection

STATE_CLASSES = {
    "amdgpu.scc": "scc",
    "amdgpu.vcc": "vcc",
    "amdgpu.exec": "exec",
    "amdgpu.m0": "m0",
    "amdgpu.mode": "mode",
}
"""Classes whose register exists once, with the name of the state."""

ENTRY_TRAITS = Traits(latency=1, issue="entry", side_effects=True)
KERNARG_KEY = "amdgpu.kernarg_segment_ptr"
_IDS = ("amdgpu.workitem_id.x", "amdgpu.workitem_id.y", "amdgpu.workitem_id.z")

BUFFER_FORMAT = {"gfx11": 0x30016FAC, "gfx12": 0x30016FAC, "gfx9.4": 0x00027000}
"""Last word of a raw buffer descriptor: 32-bit float elements, channels in order, and bounds checked by byte offset
(gfx11, gfx12: OOB_SELECT 3). LLVM's default resource word for HSA is the same without the channel selects."""


@dataclass(slots=True)
class BuiltKernel:
    """Low code with what the descriptor and the report need besides."""

    code: LowCode
    kernarg: KernargLayout
    entry: EntryState
    lds_bytes: int = 0
    private_bytes: int = 0
    wave_size: int = 32
    added_abi: int = 0
    exec_written: bool = False
    argument_loads: int = 0
    origins: dict[int, IrOperation] = field(default_factory=dict)


class CodeBuilder:
    """Builds one kernel."""

    def __init__(self, op: IrOperation, generation: str, processor: str, wave_size: int) -> None:
        self.op = op
        self.generation = generation
        self.processor = processor
        self.wave_size = wave_size
        self.mask_units = wave_size // 32
        attributes = op.attributes
        self.code = LowCode(
            op.symbol or "kernel",
            str(attributes.get("allocation") or "virtual"),
            str(attributes.get("schedule") or "free"),
        )
        self.fixed = self.code.allocation == "fixed"
        self.refs: dict[Value, Ref] = {}
        self.storage: dict[Value, tuple[str, int]] = {}
        self.lds_bytes, self.private_bytes = foreign_storage(attributes)
        self.current: CodeBlock
        self.blocks: dict[Block, CodeBlock] = {}
        self.exec_written = False
        self.pending_entry: list[Instruction] = []
        self.added_abi = 0
        self._scope = 0
        self._scopes: list[list[int]] = []
        self._locked = 0
        self._limited = 0
        self._accumulating: list[tuple[Instruction, int]] = []

    # Kernel

    def build(self) -> BuiltKernel:
        """Build the kernel.

        Raises:
            LoomError: ``BACKEND/…`` naming the first op that is not prepared Low, or breaks a rule of its instruction.
        """
        region = self.op.regions[-1] if self.op.regions else None
        if region is None or not region.blocks:
            raise rejection(self.op, "it has no body", "BACKEND/001", "end its block in low.return")
        taken: set[str] = set()
        for number, block in enumerate(region.blocks):
            # Branches name their target by its label, and inlining or flattening may have made one twice.
            label = block.label or f"b{number}"
            while label in taken:
                label = f"{label}_{number}"
            taken.add(label)
            made = CodeBlock(label)
            self.blocks[block] = made
            self.code.blocks.append(made)
        kernarg, entry = self._entry(region.blocks[0])
        for block in region.blocks:
            made = self.blocks[block]
            if block is not region.blocks[0]:
                for argument in block.arguments:
                    register = self._register(argument)
                    made.parameters.append(register)
        if self.code.schedule == "phased":
            self._begin_scope()
        if self.code.schedule == "locked":
            self._locked = 1
        if self.code.schedule == "constrained":
            self._limited = 1
        for block in region.blocks:
            self.current = self.blocks[block]
            for op in block.operations:
                self._operation(op)
            if not self.current.instructions or self.current.instructions[-1].kind not in (JUMP, BRANCH, RETURN):
                missing = f"^{self.current.label} does not end in a branch"
                raise rejection(self.op, missing, "BACKEND/002", "end it in low.br, low.cond_br or low.return")
        first = self.code.blocks[0]
        first.instructions[:0] = self.pending_entry
        self.code.link()
        if not self.fixed:
            self.code.drop_unreachable()
            self._tie_accumulators()
        return BuiltKernel(
            self.code,
            kernarg,
            entry,
            self.lds_bytes,
            self.private_bytes,
            self.wave_size,
            self.added_abi,
            self.exec_written,
        )

    def _tie_accumulators(self) -> None:
        """Let matrix operations write their accumulator, where nothing else reads it; others get registers apart."""
        if not self._accumulating:
            return
        uses: dict[int, int] = {}
        for instruction in self.code.instructions():
            for register, _, _ in instruction.uses:
                uses[register.index] = uses.get(register.index, 0) + 1
        for made, index in self._accumulating:
            if uses.get(made.uses[index][0].index, 0) == 1:
                made.ties = ((0, index),)

    def _register(self, value: Value) -> VirtualRegister:
        """The register of a value, made on first sight."""
        found = self.refs.get(value)
        if found is not None:
            return found[0]
        type_ = value.type
        if not isinstance(type_, RegisterType):
            raise rejection(
                value.defining_op or self.op,
                f"%{value.name or '?'} is not a register",
                "BACKEND/003",
                "hold values in reg<…>, or compile with --pipeline=default",
            )
        units = type_.units
        if type_.register_class in ("amdgpu.vcc", "amdgpu.exec"):
            units = self.mask_units
        made = self.code.new_register(type_.register_class, units, value.name, type_.location)
        self.refs[value] = (made, 0, units)
        return made

    def _define(self, value: Value) -> Ref:
        register = self._register(value)
        return register, 0, register.units

    def use(self, value: Value, op: IrOperation) -> Ref:
        """Reference to an operand's value."""
        found = self.refs.get(value)
        if found is None:
            if value.is_block_argument or value.defining_op is not None:
                self._register(value)
                return self.refs[value]
            raise rejection(
                op, f"%{value.name or '?'} has no register", "BACKEND/003", "define it before its use, in this kernel"
            )
        return found

    def emit(self, instruction: Instruction) -> Instruction:
        """Append an instruction to the current block."""
        instruction.locked = self._locked
        instruction.limited = self._limited
        if self._scopes:
            instruction.phase = tuple(number for scope in self._scopes if scope[0] > 0 for number in scope)
        self.current.instructions.append(instruction)
        return instruction

    def row_instruction(
        self,
        mnemonic: str,
        defs: list[Ref],
        uses: list[Ref],
        operands: dict[str, Operand],
        location: Any,
        **modifiers: int,
    ) -> Instruction:
        """An instruction of a table row: ``operands`` fill slots by name, the rest takes defs and uses in order."""
        row = row_named(self.generation, mnemonic)
        if row is None:
            raise error(
                f"{self.processor} has no instruction {mnemonic}",
                "BACKEND/004",
                location,
                hint="compile for a processor of another generation, or write the kernel without it",
            )
        slots: list[Operand | RegisterSlot] = []
        d = u = 0
        for slot in row.slots:
            if slot.name in operands:
                slots.append(operands[slot.name])
            elif slot.is_def:
                slots.append(RegisterSlot(DEFINITION, d))
                d += 1
                if slot.is_use:
                    u += 1
            else:
                slots.append(RegisterSlot(USE, u))
                u += 1
        made = Instruction(
            OP,
            Operation(row, tuple(slots), {k: v for k, v in modifiers.items() if v}),
            defs,
            uses,
            (),
            row_traits(row, False, False),
            location,
        )
        return made

    # ABI

    def _entry(self, block: Block) -> tuple[KernargLayout, EntryState]:
        live_ins: dict[str, IrOperation] = {}
        resources: dict[int, IrOperation] = {}
        for op in block.parent.walk() if block.parent is not None else ():
            name = op.name
            if name == "low.live_in":
                key = str(op.attributes.get("key") or "")
                if key in live_ins:
                    raise rejection(op, f"live-in {key} is taken twice", "BACKEND/005", "use the first result")
                if key not in LIVE_IN_CLASSES and not self.fixed:
                    known = ", ".join(sorted(LIVE_IN_CLASSES))
                    raise rejection(op, f"unknown live-in '{key}'", "BACKEND/005", f"known: {known}")
                live_ins[key] = op
            elif name == "low.resource":
                index = int(cast(int, op.attributes.get("index", 0)))
                kind = str(op.attributes.get("kind") or op.attributes.get("resource_kind") or "hal_binding")
                if kind not in ("hal_binding", "native_pointer"):
                    missing = f"a {kind} has no meaning in an AMDGPU kernel"
                    raise rejection(op, missing, "BACKEND/006", "use low.resource<hal_binding>")
                if index in resources:
                    missing = f"resource index {index} is taken twice"
                    raise rejection(op, missing, "BACKEND/006", "use the first result, or the next free index")
                resources[index] = op
        packed = {k for k in live_ins if "workitem_id.packed." in k}
        if packed and any(k in live_ins for k in _IDS):
            raise rejection(
                live_ins[next(iter(packed))],
                "packed and unpacked workitem ids cannot be mixed",
                "BACKEND/005",
                "take all ids from the packed register, or none",
            )
        if resources and sorted(resources) != list(range(len(resources))):
            hole = next(i for i in range(len(resources) + 1) if i not in resources)
            raise rejection(
                self.op,
                f"resource index {hole} is missing",
                "BACKEND/006",
                "number the resources from 0, without a hole",
            )
        arguments = [(a.name or f"arg{i}", cast(RegisterType, a.type).units) for i, a in enumerate(block.arguments)]
        kernarg = layout_kernarg([resources[i].results[0].name or f"binding{i}" for i in sorted(resources)], arguments)
        kernarg = foreign_kernarg(self.op.attributes, self.op.location) or kernarg
        self.lds_bytes, self.private_bytes = foreign_storage(self.op.attributes)
        keys = set(live_ins)
        if (resources or block.arguments) and not self.fixed:
            keys.add(KERNARG_KEY)
        entry = entry_state(self.generation, sorted(keys))
        head = Instruction(ENTRY, "entry", traits=ENTRY_TRAITS, location=self.op.location)
        self.pending_entry.append(head)
        if self.fixed:
            for argument in block.arguments:
                head.defs.append(self._define(argument))
            for op in live_ins.values():
                head.defs.append(self._define(op.results[0]))
            return kernarg, entry
        made: dict[tuple[str, int], VirtualRegister] = {}
        for key in sorted(keys):
            bank, index, units = entry.registers.get(key, ("sgpr", 0, 1))
            register = made.get((bank, index))
            if register is None:
                single = bank in ("m0", "exec")
                register = made[bank, index] = self.code.new_register(
                    f"amdgpu.{bank}",
                    self.mask_units if bank == "exec" else units,
                    key.removeprefix("amdgpu.").replace(".", "_"),
                    None if single else index,
                )
                head.defs.append((register, 0, register.units))
            units = register.units
            ref: Ref = (register, 0, units)
            if key in live_ins:
                self._bind_live_in(key, live_ins[key], ref, entry)
        if resources or block.arguments:
            bank, index, _ = entry.registers[KERNARG_KEY]
            pointer = made[bank, index]
            values = [(resources[i].results[0], 8 * i, 2) for i in sorted(resources)]
            offset = 8 * len(resources)
            for argument in block.arguments:
                units = cast(RegisterType, argument.type).units
                values.append((argument, offset, units))
                offset += 4 * units
            self._load_kernarg(pointer, values, kernarg.size)
        return kernarg, entry

    def _bind_live_in(self, key: str, op: IrOperation, ref: Ref, entry: EntryState) -> None:
        """Give a live-in's result its register, or the instructions that take it out of a packed one."""
        result = op.results[0]
        location = op.location
        if key in _IDS and entry.packed_workitem_ids:
            target = self._define(result)
            axis = _IDS.index(key)
            if axis == 0:
                made = self.row_instruction("v_and_b32", [target], [ref], {"src0": Literal(0x3FF)}, location)
            else:
                made = self.row_instruction(
                    "v_bfe_u32",
                    [target],
                    [ref],
                    {"src1": _inline(10 * axis), "src2": _inline(10)},
                    location,
                )
            self.added_abi += 1
            self.pending_entry.append(made)
        elif key in ("amdgpu.workgroup_id.y", "amdgpu.workgroup_id.z") and entry.group_ids_in_ttmp:
            target = self._define(result)
            if key.endswith("y"):
                made = self.row_instruction("s_and_b32", [target], [ref], {"ssrc1": Literal(0xFFFF)}, location)
            else:
                made = self.row_instruction("s_lshr_b32", [target], [ref], {"ssrc1": _inline(16)}, location)
            self.added_abi += 1
            self.pending_entry.append(made)
        elif entry.group_ids_in_ttmp and key == "amdgpu.workgroup_id.x":
            target = self._define(result)
            self.added_abi += 1
            self.pending_entry.append(self.row_instruction("s_mov_b32", [target], [ref], {}, location))
        else:
            self.refs[result] = ref
            ref[0].name = result.name or ref[0].name

    def _load_kernarg(self, pointer: VirtualRegister, values: list[tuple[Value, int, int]], size: int) -> None:
        """Load what is used of the kernarg segment with as few scalar loads as alignment of the parts allows."""
        used = [(value, offset, units) for value, offset, units in values if value.has_uses]
        for value, _, _ in values:
            if not value.has_uses:
                self.refs.pop(value, None)
        position = 0
        while position < len(used):
            start = used[position][1]
            best = (1, position + 1, used[position][2])
            end_at = position
            while end_at < len(used):
                value, offset, units = used[end_at]
                words = (offset - start) // 4
                if units == 2 and words % 2:
                    break
                # A hole of more than two unused words is not worth loading.
                if end_at > position and offset - (used[end_at - 1][1] + 4 * used[end_at - 1][2]) > 8:
                    break
                total = words + units
                width = 1 << (total - 1).bit_length()
                if total > 16:
                    break
                if start + 4 * width <= size or width == total:
                    best = (width, end_at + 1, total)
                end_at += 1
            width, stop, _total = best
            if width < used[position][2]:
                width = used[position][2]
            tuple_register = self.code.new_register("amdgpu.sgpr", width, used[position][0].name)
            made = self.row_instruction(
                f"s_load_b{32 * width}",
                [(tuple_register, 0, width)],
                [(pointer, 0, 2)],
                {"soffset": self._no_soffset()},
                self.op.location,
                offset=start,
            )
            made.traits = row_traits(made.payload.row, True, False)
            made.address = None
            self.added_abi += 1
            self.pending_entry.append(made)
            for value, offset, units in used[position:stop]:
                self.refs[value] = (tuple_register, (offset - start) // 4, units)
            position = stop

    def _no_soffset(self) -> Operand:
        return OFF

    # Operations

    def _operation(self, op: IrOperation) -> None:
        handler = _HANDLERS.get(op.name)
        if handler is None:
            raise rejection(
                op,
                "it is not prepared Low, which is all that --pipeline=none takes",
                "BACKEND/007",
                "write it with low.op and branches"
                if op.name.startswith("low.")
                else "compile it with --pipeline=default",
            )
        handler(self, op)

    def _low_op(self, op: IrOperation) -> None:
        if str(op.attributes["key"]).startswith("amdgpu.hal.buffer_descriptor"):
            self._buffer_descriptor(op)
            return
        self.emit(self.low_instruction(op))

    def _buffer_descriptor(self, op: IrOperation) -> None:
        """The four words of a raw buffer descriptor: base address, number of bytes, format word."""
        immediates = immediates_of(op)
        binding = self.use(op.operands[0], op)
        result = self._define(op.results[0])
        words: list[Ref] = []

        def word(mnemonic: str, uses: list[Ref], operands: dict[str, Operand]) -> Ref:
            register = self.code.new_register("amdgpu.sgpr", 1)
            made = self.row_instruction(mnemonic, [(register, 0, 1)], uses, operands, op.location)
            made.origin = op
            self.added_abi += 1
            self.emit(made)
            return register, 0, 1

        words.append((binding[0], binding[1], 1))
        swizzle = int(immediates.get("cache_swizzle_stride", 0) or 0)
        high = word("s_and_b32", [(binding[0], binding[1] + 1, 1)], {"ssrc1": Literal(0xFFFF)})
        if swizzle:
            # Bits 61:48 of the descriptor hold the stride; swizzling is enabled beside it.
            high = word("s_or_b32", [high], {"ssrc1": Literal((swizzle & 0x3FFF) << 16 | 1 << 31)})
        words.append(high)
        if len(op.operands) > 1:
            words.append(self.use(op.operands[1], op))
        else:
            extent = int(immediates.get("extent") or 0xFFFFFFFF)
            words.append(word("s_mov_b32", [], {"ssrc0": Inline.integer(extent) or Literal(extent & 0xFFFFFFFF)}))
        words.append(word("s_mov_b32", [], {"ssrc0": Literal(BUFFER_FORMAT[self.generation])}))
        self.emit(Instruction(COPY, "concat", [(result[0], unit, 1) for unit in range(4)], words, location=op.location))

    def low_instruction(self, op: IrOperation) -> Instruction:
        """The instruction of a ``low.op`` or ``low.const``."""
        key = str(op.attributes["key"])
        immediates = immediates_of(op)
        types = [value.type for value in op.operands]
        return self._resolved(
            op, resolve(self.generation, key, immediates, self.wave_size, op.location, types), immediates
        )

    def _resolved(self, op: IrOperation, resolved: Resolved, attributes: dict[str, Any]) -> Instruction:
        location = op.location
        defs: list[Ref] = []
        uses: list[Ref] = []
        ties: list[tuple[int, int]] = []
        operands = list(op.operands)
        results = list(op.results)
        taken_operands = taken_results = 0
        halves: list[Operation] = []
        registers_of_results: list[int] = []
        for half_index, half in enumerate(resolved.halves):
            row = half.row
            slots: list[Operand | RegisterSlot] = [OFF] * len(row.slots)
            definition_of: dict[str, int] = {}
            # Results first, so that ties know their numbers.
            for index, slot in enumerate(row.slots):
                if not slot.is_def or index in half.fixed:
                    continue
                if taken_results >= len(results):
                    # An atomic without a result only reads its data.
                    if "off" in slot.kinds or (slot.is_use and row.memory is not None and row.memory.kind == "atomic"):
                        continue
                    raise _count_error(op, "results")
                definition_of[slot.name] = len(defs)
                slots[index] = RegisterSlot(DEFINITION, len(defs), half.half_of(slot.name))
                registers_of_results.append(len(defs))
                defs.append(self._define(results[taken_results]))
                taken_results += 1
            order = half.order if half.order is not None else range(len(row.slots))
            for index in order:
                slot = row.slots[index]
                if index in half.fixed:
                    if not (slot.is_def and slot.is_use):
                        slots[index] = half.fixed[index]
                    continue
                if not slot.is_use:
                    continue
                if slot.is_def and len(operands) == 1 and row.mnemonic.endswith("_d16"):
                    continue  # nobody asked for the other half's old value
                if taken_operands >= len(operands):
                    raise _count_error(op, "operands")
                use = self.use(operands[taken_operands], op)
                taken_operands += 1
                if slot.name in definition_of:
                    ties.append((definition_of[slot.name], len(uses)))
                else:
                    slots[index] = RegisterSlot(USE, len(uses), half.half_of(slot.name))
                    if slot.tied_to is not None and slot.tied_to in definition_of:
                        ties.append((definition_of[slot.tied_to], len(uses)))
                uses.append(use)
            for index, constant in half.fixed.items():
                slots[index] = constant
            halves.append(Operation(row, tuple(slots), dict(half.modifiers), half.form if half_index == 0 else None, 0))
        payload = halves[0]
        payload.raw = int(cast(int, attributes.get("raw", 0) or 0))
        if len(halves) > 1:
            payload.y = halves[1]
        invariant, volatile = bool(attributes.get("invariant")), bool(attributes.get("volatile"))
        traits = row_traits(payload.row, invariant, volatile, bool(payload.modifiers.get("lds")))
        state_uses = {*traits.state_uses, *resolved.state_uses}
        state_defs = {*traits.state_defs, *resolved.state_defs}
        for part in resolved.halves:
            for index, constant in part.fixed.items():
                # EXEC and the like written out as a constant operand are state all the same.
                if isinstance(constant, Register) and constant.bank in ("exec", "vcc", "scc", "m0"):
                    (state_defs if part.row.slots[index].is_def else state_uses).add(constant.bank)
        if payload.y is not None:
            other = row_traits(payload.y.row, False, False)
            state_uses.update(other.state_uses)
            state_defs.update(other.state_defs)
        # Written state: results behind those of the slots; state that nobody asked for is a result nobody uses.
        while taken_results < len(results):
            value = results[taken_results]
            taken_results += 1
            register_class = cast(RegisterType, value.type).register_class
            if register_class not in STATE_CLASSES:
                raise _count_error(op, "results")
            defs.append(self._define(value))
        # Read state, EXEC, then the old values of results.
        pass_through: list[Ref] = []
        while taken_operands < len(operands):
            value = operands[taken_operands]
            taken_operands += 1
            register_class = cast(RegisterType, value.type).register_class
            ref = self.use(value, op)
            if register_class in STATE_CLASSES and not (
                pass_through or (registers_of_results and self._is_old_state(op, taken_operands, register_class, defs))
            ):
                uses.append(ref)
            else:
                pass_through.append(ref)
        if pass_through:
            tied = {d for d, _ in ties}
            targets = [d for d in registers_of_results if defs[d][0].register_class not in STATE_CLASSES]
            free = [d for d in targets if d not in tied]
            wanted = free if len(pass_through) == len(free) else targets
            if len(pass_through) > len(wanted):
                raise _count_error(op, "operands")
            for d, ref in zip(wanted, pass_through, strict=False):
                existing = [uses[u] for t, u in ties if t == d]
                if existing:
                    if existing[0] != ref:
                        raise rejection(
                            op,
                            "the pass-through value is not the value that the result is tied to already",
                            "BACKEND/008",
                            "pass the tied operand through, or copy it first",
                        )
                    continue
                ties.append((d, len(uses)))
                uses.append(ref)
        for register, _, _ in defs:
            state = STATE_CLASSES.get(register.register_class)
            if state is not None:
                state_defs.add(state)
        for register, _, _ in uses:
            state = STATE_CLASSES.get(register.register_class)
            if state is not None:
                state_uses.add(state)
        if "vcc" in state_defs and not any(r.register_class == "amdgpu.vcc" for r, _, _ in defs) and not self.fixed:
            register = self.code.new_register("amdgpu.vcc", self.mask_units, "vcc_clobber")
            defs.append((register, 0, register.units))
        if "exec" in state_defs:
            self.exec_written = True
        made = Instruction(OP, payload, defs, uses, tuple(ties), traits, location)
        if state_uses != set(traits.state_uses) or state_defs != set(traits.state_defs):
            made.traits = _with_state(traits, tuple(sorted(state_uses)), tuple(sorted(state_defs)))
        made.origin = op
        memory = payload.row.memory
        if memory is not None and made.traits.memory_space is not None:
            made.address = self._address(payload, uses, attributes)
        if not self.fixed:
            self._hint(made)
            if payload.y is not None:
                keep_pair(made)
        return made

    @staticmethod
    def _is_old_state(op: IrOperation, taken: int, register_class: str, defs: list[Ref]) -> bool:
        return False

    def _hint(self, made: Instruction) -> None:
        """Lane masks that a compare or a carry writes go to VCC where that is free: the short encodings can name
        only VCC."""
        row = made.payload.row
        if made.traits.issue not in ("valu", "trans", "matrix"):
            return
        if row.mnemonic.startswith(("v_wmma_", "v_mfma_")):
            addend = made.payload.operands[row.slot_index("src2")]
            if isinstance(addend, RegisterSlot) and not made.ties:
                if made.traits.early_clobber:
                    # The result is written before all sources are read: it may be the accumulator itself, or apart
                    # from every source.
                    self._accumulating.append((made, addend.index))
                else:
                    made.preferred_ties = ((0, addend.index),)
        if row.mnemonic in ACCUMULATING and not made.payload.modifiers:
            addend = made.payload.operands[3]
            if isinstance(addend, RegisterSlot) and made.uses[addend.index][0].register_class == "amdgpu.vgpr":
                made.preferred_ties = ((0, addend.index),)
        for slot, entry in zip(row.slots, made.payload.operands, strict=True):
            if slot.type == "mask" and slot.is_def and isinstance(entry, RegisterSlot):
                register = made.defs[entry.index][0]
                if register.register_class == "amdgpu.sgpr" and register.units == self.mask_units:
                    register.hint = 106

    def _address(self, payload: Operation, uses: list[Ref], attributes: Any) -> tuple[Any, int, int, Any]:
        memory = payload.row.memory
        assert memory is not None
        parts: list[Any] = []
        for name in memory.address:
            index = payload.row.slot_index(name)
            entry = payload.operands[index] if index >= 0 else OFF
            if isinstance(entry, RegisterSlot):
                register, offset, units = uses[entry.index]
                parts.append((register.index, offset, units))
            else:
                parts.append(entry)
        alias = attributes.get("alias")
        offset = payload.modifiers.get("offset", 0)
        if "offset0" in payload.modifiers or "offset1" in payload.modifiers or "2addr" in payload.row.mnemonic:
            return None, 0, 0, alias
        key: Any = tuple(parts)
        if "addtid" in payload.row.mnemonic:
            key = None
        return key, offset, memory.bytes, alias

    def _const(self, op: IrOperation) -> None:
        self._low_op(op)

    def _assume(self, op: IrOperation) -> None:
        for result, value in zip(op.results, op.operands, strict=False):
            self._same(result, self.use(value, op))

    def _alias(self, op: IrOperation) -> None:
        source = self.use(op.operands[0], op)
        result = op.results[0]
        source_type, result_type = cast(RegisterType, op.operands[0].type), cast(RegisterType, result.type)
        if source_type == result_type or (result_type.location is None and not self.fixed):
            self._same(result, source)
        else:
            self.emit(Instruction(COPY, "copy", [self._define(result)], [source], location=op.location))

    def _same(self, result: Value, ref: Ref) -> None:
        """Make a value another name of a reference, also where a use was seen before."""
        known = self.refs.get(result)
        if known is not None:
            # Seen in a block laid out earlier: keep its register and copy.
            self.emit(Instruction(COPY, "copy", [known], [ref]))
            return
        self.refs[result] = ref

    def _slice(self, op: IrOperation) -> None:
        register, offset, _ = self.use(op.operands[0], op)
        at = int(cast(int, op.attributes.get("unit", op.attributes.get("offset", 0))))
        units = cast(RegisterType, op.results[0].type).units
        location = cast(RegisterType, op.results[0].type).location
        ref: Ref = (register, offset + at, units)
        if location is not None and register.location is not None and location != register.location + offset + at:
            self.emit(Instruction(COPY, "slice", [self._define(op.results[0])], [ref], location=op.location))
        else:
            self._same(op.results[0], ref)

    def _concat(self, op: IrOperation) -> None:
        result = self._define(op.results[0])
        defs: list[Ref] = []
        uses: list[Ref] = []
        at = 0
        for value in op.operands:
            ref = self.use(value, op)
            defs.append((result[0], at, ref[2]))
            uses.append(ref)
            at += ref[2]
        if at != result[2]:
            missing = f"it joins {at} units into a register of {result[2]}"
            raise rejection(op, missing, "BACKEND/009", f"give the result {at} units")
        self.emit(Instruction(COPY, "concat", defs, uses, location=op.location))

    def _live_in(self, op: IrOperation) -> None:
        if op.results[0] not in self.refs and op.results[0].has_uses:
            self._register(op.results[0])

    def _resource(self, op: IrOperation) -> None:
        if self.fixed:
            raise rejection(
                op,
                "it needs the ABI step, which a kernel with allocation(fixed) does not get",
                "BACKEND/006",
                "take amdgpu.kernarg_segment_ptr as a live-in and load the address",
            )

    def _branch(self, op: IrOperation) -> None:
        target = self.blocks[op.successors[0]]
        if op.operands:
            defs = [self._define(argument) for argument in op.successors[0].arguments]
            uses = [self.use(value, op) for value in op.operands]
            self.emit(Instruction(COPY, "branch", defs, uses, location=op.location))
        made = Instruction(JUMP, "s_branch", location=op.location, targets=(target,))
        made.origin = op
        self.emit(made)

    def _conditional(self, op: IrOperation) -> None:
        condition = self.use(op.operands[0], op)
        mnemonic = str(immediates_of(op).get("branch") or "")
        register_class = condition[0].register_class
        if not mnemonic:
            mnemonic = {
                "amdgpu.scc": "s_cbranch_scc1",
                "amdgpu.vcc": "s_cbranch_vccnz",
                "amdgpu.exec": "s_cbranch_execnz",
            }.get(register_class, "")
        if not mnemonic:
            raise rejection(
                op,
                f"a branch needs a condition in reg<amdgpu.scc>, not in reg<{register_class}>",
                "BACKEND/002",
                "compare with s_cmp_…, or branch on the scc of s_and_saveexec",
            )
        made = Instruction(
            BRANCH,
            mnemonic,
            [],
            [condition],
            location=op.location,
            targets=(self.blocks[op.successors[0]], self.blocks[op.successors[1]]),
        )
        made.origin = op
        self.emit(made)

    def _return(self, op: IrOperation) -> None:
        if op.operands:
            raise rejection(op, "a kernel returns no values", "BACKEND/002", "store them to a buffer")
        made = Instruction(RETURN, "s_endpgm", location=op.location)
        made.origin = op
        self.emit(made)

    # Storage

    def _reserve(self, op: IrOperation) -> None:
        space = str(getattr(op.results[0].type, "space", "workgroup"))
        length = int(cast(int, op.attributes.get("byte_length", 0)))
        alignment = int(cast(int, op.attributes.get("byte_alignment", 4) or 4))
        if space == "workgroup":
            offset = -(-self.lds_bytes // alignment) * alignment
            self.lds_bytes = offset + length
        else:
            offset = -(-self.private_bytes // max(alignment, 4)) * max(alignment, 4)
            self.private_bytes = offset + length
        self.storage[op.results[0]] = (space, offset)

    def _storage_view(self, op: IrOperation) -> None:
        space, offset = self.storage[op.operands[0]]
        self.storage[op.results[0]] = (space, offset + int(cast(int, op.attributes.get("offset", 0))))

    def _storage_address(self, op: IrOperation) -> None:
        _, offset = self.storage[op.operands[0]]
        offset += int(cast(int, op.attributes.get("offset", 0)))
        result = self._define(op.results[0])
        scalar = result[0].register_class == "amdgpu.sgpr"
        constant: Operand = Inline.integer(offset) or Literal(offset)
        made = self.row_instruction(
            "s_mov_b32" if scalar else "v_mov_b32",
            [result],
            [],
            {"ssrc0" if scalar else "src0": constant},
            op.location,
        )
        made.origin = op
        self.added_abi += 1
        self.emit(made)

    def _spill(self, op: IrOperation) -> None:
        value = self.use(op.operands[0], op)
        _, offset = self.storage[op.operands[1]]
        for unit in range(value[2]):
            made = self.row_instruction(
                "scratch_store_b32",
                [],
                [(value[0], value[1] + unit, 1)],
                {"vaddr": OFF, "saddr": OFF},
                op.location,
                offset=offset + 4 * unit,
            )
            made.origin = op
            self.emit(made)

    def _reload(self, op: IrOperation) -> None:
        result = self._define(op.results[0])
        _, offset = self.storage[op.operands[0]]
        if result[2] == 1:
            made = self.row_instruction(
                "scratch_load_b32", [result], [], {"vaddr": OFF, "saddr": OFF}, op.location, offset=offset
            )
            made.origin = op
            self.emit(made)
            return
        parts = []
        for unit in range(result[2]):
            part = self.code.new_register(result[0].register_class, 1)
            parts.append((part, 0, 1))
            made = self.row_instruction(
                "scratch_load_b32",
                [(part, 0, 1)],
                [],
                {"vaddr": OFF, "saddr": OFF},
                op.location,
                offset=offset + 4 * unit,
            )
            made.origin = op
            self.emit(made)
        self.emit(
            Instruction(
                COPY, "concat", [(result[0], unit, 1) for unit in range(result[2])], parts, location=op.location
            )
        )

    # Scheduling marks

    def _begin_scope(self) -> None:
        self._scope += 1
        self._scopes.append([self._scope, 0])

    def _fence(self, op: IrOperation) -> None:
        self.emit(Instruction(FENCE, "fence", location=op.location))

    def _phase(self, op: IrOperation) -> None:
        if not self._scopes:
            self._begin_scope()
        if self._scopes[-1][0] < 0:
            self._fence(op)  # a scope without phases: in order, or within limits
            return
        self._scopes[-1][1] += 1

    def _begin(self, op: IrOperation) -> None:
        if op.attributes.get("mode") == "locked":
            self._scopes.append([-1, self._locked])
            self._scope += 1
            self._locked = self._scope
            return
        if op.attributes.get("mode") == "constrained":
            self._scopes.append([-2, self._limited])
            self._scope += 1
            self._limited = self._scope + 1  # 1 is the kernel's own
            return
        self._begin_scope()

    def _end(self, op: IrOperation) -> None:
        if not self._scopes:
            raise rejection(op, "no scope is open", "BACKEND/013", "open it with low.schedule.begin, or leave it out")
        scope = self._scopes.pop()
        if scope[0] == -1:
            self._locked = scope[1]
        elif scope[0] == -2:
            self._limited = scope[1]

    def _nothing(self, op: IrOperation) -> None:
        return


def immediates_of(op: IrOperation) -> dict[str, Any]:
    """Everything a ``low.op`` says in braces, and its encoding choices, by name."""
    attributes: dict[str, Any] = dict(op.attributes)
    inner = attributes.pop("immediates", None)
    if isinstance(inner, dict):
        attributes.update(inner)
    attributes.pop("ties", None)
    return attributes


def _inline(value: int) -> Inline:
    found = Inline.integer(value)
    assert found is not None
    return found


def _with_state(traits: Traits, uses: tuple[str, ...], defs: tuple[str, ...]) -> Traits:
    key = (id(traits), uses, defs)
    found = _STATE_TRAITS.get(key)
    if found is None:
        found = _STATE_TRAITS[key] = Traits(
            traits.latency,
            traits.issue,
            traits.memory_space,
            traits.reads_memory,
            traits.writes_memory,
            traits.barrier,
            traits.side_effects,
            uses,
            defs,
            traits.early_clobber,
            traits.rematerializable,
            traits.masked,
        )
    return found


_STATE_TRAITS: dict[Any, Traits] = {}


def _count_error(op: IrOperation, what: str) -> LoomError:
    return rejection(
        op,
        f"{op.attributes.get('key')} does not take these {what}",
        "BACKEND/008",
        "registers stand in the order of the instruction's slots; constants are immediates named after their slot",
    )


_HANDLERS: dict[str, Any] = {
    "low.op": CodeBuilder._low_op,
    "low.const": CodeBuilder._const,
    "low.copy": CodeBuilder._alias,
    "low.move": CodeBuilder._alias,
    "low.assume": CodeBuilder._assume,
    "low.slice": CodeBuilder._slice,
    "low.concat": CodeBuilder._concat,
    "low.live_in": CodeBuilder._live_in,
    "low.resource": CodeBuilder._resource,
    "low.br": CodeBuilder._branch,
    "low.cond_br": CodeBuilder._conditional,
    "low.return": CodeBuilder._return,
    "low.storage.reserve": CodeBuilder._reserve,
    "low.storage.view": CodeBuilder._storage_view,
    "low.storage.address": CodeBuilder._storage_address,
    "low.spill": CodeBuilder._spill,
    "low.reload": CodeBuilder._reload,
    "low.schedule.fence": CodeBuilder._fence,
    "low.schedule.phase": CodeBuilder._phase,
    "low.schedule.begin": CodeBuilder._begin,
    "low.schedule.end": CodeBuilder._end,
}


def register_of(file: str, index: int, units: int, half: int | None = None) -> Register:
    """The machine register of a physical location."""
    if file == "sgpr" and index >= 106:
        return Register("vcc", index - 106, units)
    if file in ("scc", "m0"):
        return Register(file)
    if file == "null":
        return Register("null", 0, units)
    return Register(file, index, units, half)


def immediate(value: int) -> Immediate:
    """A field's number."""
    return Immediate(value)
