"""Low text to Low code: one ``low.kernel.def`` as blocks of instructions with table rows.

Slices, copies and assumptions become references; tuples and branch arguments become copies; resources and arguments
become scalar loads of the kernarg segment (:mod:`build_entry`, the ABI step). The instructions that the text gives
(:mod:`build_instructions`) are never changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from loom.ir import Block, RegisterType, Value
from loom.ir import Operation as IrOperation
from loom.low.code import BRANCH, COPY, FENCE, JUMP, RETURN, CodeBlock, Instruction, LowCode, Ref
from loom.target.amdgpu.abi import EntryState, KernargLayout
from loom.target.amdgpu.build_entry import EntryBuilder
from loom.target.amdgpu.build_instructions import InstructionBuilder, immediates_of
from loom.target.amdgpu.build_state import BuildState
from loom.target.amdgpu.foreign_abi import foreign_storage
from loom.target.amdgpu.machine import OFF, Inline, Literal, Operand
from loom.transform.rejection import rejection

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
    origins: dict[int, IrOperation] = field(default_factory=dict)


class CodeBuilder:
    """Builds one kernel."""

    def __init__(self, op: IrOperation, generation: str, processor: str, wave_size: int) -> None:
        self.state = BuildState(op, generation, processor, wave_size)
        self.instructions = InstructionBuilder(self.state)
        self.storage: dict[Value, tuple[str, int]] = {}
        self.lds_bytes, self.private_bytes = foreign_storage(op.attributes)
        self.current: CodeBlock
        self.blocks: dict[Block, CodeBlock] = {}
        self._scope = 0
        self._scopes: list[list[int]] = []
        self._locked = 0
        self._limited = 0

    # Kernel

    def build(self) -> BuiltKernel:
        """Build the kernel.

        Raises:
            LoomError: ``BACKEND/…`` naming the first op that is not prepared Low, or breaks a rule of its instruction.
        """
        region = self.state.op.regions[-1] if self.state.op.regions else None
        if region is None or not region.blocks:
            raise rejection(self.state.op, "it has no body", "BACKEND/001", "end its block in low.return")
        taken: set[str] = set()
        for number, block in enumerate(region.blocks):
            # Branches name their target by its label, and inlining or flattening may have made one twice.
            label = block.label or f"b{number}"
            while label in taken:
                label = f"{label}_{number}"
            taken.add(label)
            made = CodeBlock(label)
            self.blocks[block] = made
            self.state.code.blocks.append(made)
        entry_builder = EntryBuilder(self.state)
        kernarg, entry = entry_builder.build(region.blocks[0])
        for block in region.blocks:
            made = self.blocks[block]
            if block is not region.blocks[0]:
                for argument in block.arguments:
                    register = self.state.register(argument)
                    made.parameters.append(register)
        if self.state.code.schedule == "phased":
            self._begin_scope()
        if self.state.code.schedule == "locked":
            self._locked = 1
        if self.state.code.schedule == "constrained":
            self._limited = 1
        for block in region.blocks:
            self.current = self.blocks[block]
            for op in block.operations:
                self._operation(op)
            if not self.current.instructions or self.current.instructions[-1].kind not in (JUMP, BRANCH, RETURN):
                missing = f"^{self.current.label} does not end in a branch"
                raise rejection(self.state.op, missing, "BACKEND/002", "end it in low.br, low.cond_br or low.return")
        first = self.state.code.blocks[0]
        first.instructions[:0] = entry_builder.instructions
        self.state.code.link()
        if not self.state.fixed:
            self.state.code.drop_unreachable()
            self.instructions.tie_accumulators()
        return BuiltKernel(
            self.state.code,
            kernarg,
            entry,
            self.lds_bytes,
            self.private_bytes,
            self.state.wave_size,
            self.state.added_abi,
            self.instructions.exec_written,
        )

    def emit(self, instruction: Instruction) -> Instruction:
        """Append an instruction to the current block."""
        instruction.locked = self._locked
        instruction.limited = self._limited
        if self._scopes:
            instruction.phase = tuple(number for scope in self._scopes if scope[0] > 0 for number in scope)
        self.current.instructions.append(instruction)
        return instruction

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
        self.emit(self.instructions.build(op))

    def _buffer_descriptor(self, op: IrOperation) -> None:
        """The four words of a raw buffer descriptor: base address, number of bytes, format word."""
        immediates = immediates_of(op)
        binding = self.state.use(op.operands[0], op)
        result = self.state.define(op.results[0])
        words: list[Ref] = []

        def word(mnemonic: str, uses: list[Ref], operands: dict[str, Operand]) -> Ref:
            register = self.state.code.new_register("amdgpu.sgpr", 1)
            made = self.state.row_instruction(mnemonic, [(register, 0, 1)], uses, operands, op.location)
            made.origin = op
            self.state.added_abi += 1
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
            words.append(self.state.use(op.operands[1], op))
        else:
            extent = int(immediates.get("extent") or 0xFFFFFFFF)
            words.append(word("s_mov_b32", [], {"ssrc0": Inline.integer(extent) or Literal(extent & 0xFFFFFFFF)}))
        words.append(word("s_mov_b32", [], {"ssrc0": Literal(BUFFER_FORMAT[self.state.generation])}))
        self.emit(Instruction(COPY, "concat", [(result[0], unit, 1) for unit in range(4)], words, location=op.location))

    def _assume(self, op: IrOperation) -> None:
        for result, value in zip(op.results, op.operands, strict=False):
            self._same(result, self.state.use(value, op))

    def _alias(self, op: IrOperation) -> None:
        source = self.state.use(op.operands[0], op)
        result = op.results[0]
        source_type, result_type = cast(RegisterType, op.operands[0].type), cast(RegisterType, result.type)
        if source_type == result_type or (result_type.location is None and not self.state.fixed):
            self._same(result, source)
        else:
            self.emit(Instruction(COPY, "copy", [self.state.define(result)], [source], location=op.location))

    def _same(self, result: Value, ref: Ref) -> None:
        """Make a value another name of a reference, also where a use was seen before."""
        known = self.state.refs.get(result)
        if known is not None:
            # Seen in a block laid out earlier: keep its register and copy.
            self.emit(Instruction(COPY, "copy", [known], [ref]))
            return
        self.state.refs[result] = ref

    def _slice(self, op: IrOperation) -> None:
        register, offset, _ = self.state.use(op.operands[0], op)
        at = int(cast(int, op.attributes.get("unit", op.attributes.get("offset", 0))))
        units = cast(RegisterType, op.results[0].type).units
        location = cast(RegisterType, op.results[0].type).location
        ref: Ref = (register, offset + at, units)
        if location is not None and register.location is not None and location != register.location + offset + at:
            self.emit(Instruction(COPY, "slice", [self.state.define(op.results[0])], [ref], location=op.location))
        else:
            self._same(op.results[0], ref)

    def _concat(self, op: IrOperation) -> None:
        result = self.state.define(op.results[0])
        defs: list[Ref] = []
        uses: list[Ref] = []
        at = 0
        for value in op.operands:
            ref = self.state.use(value, op)
            defs.append((result[0], at, ref[2]))
            uses.append(ref)
            at += ref[2]
        if at != result[2]:
            missing = f"it joins {at} units into a register of {result[2]}"
            raise rejection(op, missing, "BACKEND/009", f"give the result {at} units")
        self.emit(Instruction(COPY, "concat", defs, uses, location=op.location))

    def _live_in(self, op: IrOperation) -> None:
        if op.results[0] not in self.state.refs and op.results[0].has_uses:
            self.state.register(op.results[0])

    def _resource(self, op: IrOperation) -> None:
        if self.state.fixed:
            raise rejection(
                op,
                "it needs the ABI step, which a kernel with allocation(fixed) does not get",
                "BACKEND/006",
                "take amdgpu.kernarg_segment_ptr as a live-in and load the address",
            )

    def _branch(self, op: IrOperation) -> None:
        target = self.blocks[op.successors[0]]
        if op.operands:
            defs = [self.state.define(argument) for argument in op.successors[0].arguments]
            uses = [self.state.use(value, op) for value in op.operands]
            self.emit(Instruction(COPY, "branch", defs, uses, location=op.location))
        made = Instruction(JUMP, "s_branch", location=op.location, targets=(target,))
        made.origin = op
        self.emit(made)

    def _conditional(self, op: IrOperation) -> None:
        condition = self.state.use(op.operands[0], op)
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
        result = self.state.define(op.results[0])
        scalar = result[0].register_class == "amdgpu.sgpr"
        constant: Operand = Inline.integer(offset) or Literal(offset)
        made = self.state.row_instruction(
            "s_mov_b32" if scalar else "v_mov_b32",
            [result],
            [],
            {"ssrc0" if scalar else "src0": constant},
            op.location,
        )
        made.origin = op
        self.state.added_abi += 1
        self.emit(made)

    def _spill(self, op: IrOperation) -> None:
        value = self.state.use(op.operands[0], op)
        _, offset = self.storage[op.operands[1]]
        for unit in range(value[2]):
            made = self.state.row_instruction(
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
        result = self.state.define(op.results[0])
        _, offset = self.storage[op.operands[0]]
        if result[2] == 1:
            made = self.state.row_instruction(
                "scratch_load_b32", [result], [], {"vaddr": OFF, "saddr": OFF}, op.location, offset=offset
            )
            made.origin = op
            self.emit(made)
            return
        parts = []
        for unit in range(result[2]):
            part = self.state.code.new_register(result[0].register_class, 1)
            parts.append((part, 0, 1))
            made = self.state.row_instruction(
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


_HANDLERS: dict[str, Any] = {
    "low.op": CodeBuilder._low_op,
    "low.const": CodeBuilder._low_op,
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
