"""Machine program to SSA over physical registers.

Blocks are visited in dominator-tree order. A state maps every register unit to the value that lies there (and the
offset in it), so a read is a lookup; parts and tuples of values become ``low.slice`` and ``low.concat``, which emit
nothing. Values that merge become block arguments, in tuples where the program always uses them as such.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loom.ir import Attribute, Block, Operation, Region, RegisterType, Value, Word
from loom.ir.definition import OpDefinition
from loom.ir.registry import lookup
from loom.raising.lift.effects import Access, Effects
from loom.raising.lift.flow import (
    CONDITIONAL_BRANCHES,
    ENDS,
    Flow,
    FlowBlock,
    place_merges,
    solve_liveness,
)
from loom.raising.lift.masks import partial_points
from loom.raising.lift.units import (
    EXEC,
    SCC,
    VCC,
    describe,
    mask_of,
    register_type,
    type_units,
    units_in,
)
from loom.target.amdgpu.descriptor_set.variants import LOAD_LDS
from loom.target.amdgpu.machine import BranchTarget, Immediate, Inline, Literal, MachineInstruction, Register

Located = tuple[Value, int]


@dataclass(frozen=True, slots=True)
class LiveIn:
    """A register that the hardware sets before the first instruction: its key, place and a name for the reader."""

    key: str
    unit: int
    count: int
    name: str


@dataclass(slots=True)
class LiftedBody:
    """The result of :class:`BodyBuilder`.

    Attributes:
        region: The body.
        instruction_count: Machine instructions translated.
        undefined: Register units that are read before anything wrote them.
        operations: For every operation that stands for an instruction, the instruction.
    """

    region: Region
    instruction_count: int
    undefined: list[int] = field(default_factory=list)
    operations: dict[Operation, MachineInstruction] = field(default_factory=dict)


def _definition(name: str) -> OpDefinition:
    found = lookup(name)
    if found is None:
        raise ValueError(f"the dialect declares no {name}")
    return found


class BodyBuilder:
    """Builds the body of a lifted kernel from its control flow."""

    def __init__(self, flow: Flow, live_ins: list[LiveIn]) -> None:
        self.flow = flow
        self.live_ins = live_ins
        self.op_definition = _definition("low.op")
        self.slice_definition = _definition("low.slice")
        self.concat_definition = _definition("low.concat")
        self.branch_definition = _definition("low.br")
        self.cond_definition = _definition("low.cond_br")
        self.return_definition = _definition("low.return")
        self.live_in_definition = _definition("low.live_in")
        self.partial = partial_points(flow)
        self.passes: list[list[tuple[Access, ...]]] = []
        self.blocks: list[Block] = []
        self.arguments: list[list[tuple[int, int]]] = []
        self.entry_values: dict[int, Located] = {}
        self.entry_block: Block = Block()
        self.undefined: list[int] = []
        self.operations: dict[Operation, MachineInstruction] = {}
        self._types: dict[tuple[int, int], RegisterType] = {}
        self._keys: dict[str, Word] = {}
        self._places: dict[object, tuple[int, int]] = {}
        self._current: Block = self.entry_block
        self._state: dict[int, Located] = {}
        self._parts: dict[tuple[int, int, int], Value] = {}
        self._tuples: dict[tuple[int, ...], Value] = {}

    # Data flow

    def _solve(self) -> None:
        flow = self.flow
        initial = 0
        for live_in in self.live_ins:
            initial |= mask_of(live_in.unit, live_in.count)
        may = {flow.order[0]: initial}
        pending = list(flow.order)
        while pending:
            following: list[int] = []
            for index in pending:
                block = flow.blocks[index]
                reached = may.get(index, 0)
                for effects in block.effects:
                    reached |= effects.def_mask
                for successor in block.successors:
                    before = may.get(successor, 0)
                    if reached | before != before or successor not in may:
                        may[successor] = reached | before
                        following.append(successor)
            pending = following
        pair = mask_of(EXEC, flow.wave_size // 32)
        for block in flow.blocks:
            reached = may.get(block.index, 0)
            upward = written = 0
            partial = self.partial[block.index]
            passes: list[tuple[Access, ...]] = []
            for position, effects in enumerate(block.effects):
                used = effects.use_mask
                kept = effects.kept
                if effects.uses_exec and partial[position]:
                    used |= pair
                    kept = effects.vector_defs
                if kept:
                    through = tuple(
                        access
                        for access in kept
                        if reached & mask_of(access.unit, access.count) and not _reads_itself(effects, access)
                    )
                    for access in through:
                        used |= mask_of(access.unit, access.count)
                    passes.append(through)
                else:
                    passes.append(())
                upward |= used & ~written
                written |= effects.def_mask
                reached |= effects.def_mask
            if block.branch is not None:
                condition = self._condition(block)
                if condition is not None:
                    upward |= mask_of(*condition) & ~written
            block.upward, block.written = upward, written
            self.passes.append(passes)
        solve_liveness(flow)
        place_merges(flow)

    def _condition(self, block: FlowBlock) -> tuple[int, int] | None:
        assert block.branch is not None
        test = CONDITIONAL_BRANCHES.get(block.branch.row.mnemonic)
        if test is None:
            return None
        return {"scc": (SCC, 1), "vcc": (VCC, self.flow.wave_size // 32), "exec": (EXEC, self.flow.wave_size // 32)}[
            test[0]
        ]

    def _groups(self, mask: int, tuples: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
        """Cut merged units into block arguments: whole natural tuples, else single registers."""
        groups: list[tuple[int, int]] = []
        for unit in units_in(mask):
            if groups and unit < groups[-1][0] + groups[-1][1]:
                continue
            natural = tuples.get(unit)
            if natural is not None and natural[0] == unit and mask & mask_of(*natural) == mask_of(*natural):
                groups.append(natural)
            else:
                groups.append((unit, 1))
        return groups

    def _natural_tuples(self) -> dict[int, tuple[int, int]]:
        """Tuples that every access respects: none of the program's accesses cuts through one."""
        spans: set[tuple[int, int]] = set()
        for block in self.flow.blocks:
            for effects in block.effects:
                for access in effects.uses:
                    spans.add((access.unit, access.count))
                for access in effects.defs:
                    spans.add((access.unit, access.count))
        wide = sorted((s for s in spans if s[1] > 1), key=lambda s: (-s[1], s[0]))
        owner: dict[int, tuple[int, int]] = {}
        broken: set[tuple[int, int]] = set()
        for span in wide:
            owners = {owner.get(unit) for unit in range(span[0], span[0] + span[1])}
            if owners == {None}:
                for unit in range(span[0], span[0] + span[1]):
                    owner[unit] = span
            elif len(owners) > 1:
                broken |= {o for o in owners if o is not None}
        return {unit: span for unit, span in owner.items() if span not in broken}

    # Values

    def _type(self, unit: int, count: int) -> RegisterType:
        found = self._types.get((unit, count))
        if found is None:
            found = self._types[(unit, count)] = register_type(unit, count, self.flow.wave_size)
        return found

    def _append(
        self,
        definition: OpDefinition,
        operands: list[Value],
        types: list[RegisterType],
        attributes: dict[str, Attribute],
        block: Block | None = None,
    ) -> Operation:
        op = Operation(definition, operands, types, attributes)
        (self._current if block is None else block).append(op)
        return op

    def _initial(self, unit: int) -> Located:
        """What a unit holds on entry: a live-in of the hardware, else an undefined value."""
        found = self.entry_values.get(unit)
        if found is None:
            self.undefined.append(unit)
            op = Operation(
                self.live_in_definition,
                (),
                (self._type(unit, 1),),
                {"key": Word(f"amdgpu.undefined.{describe(unit)}")},
            )
            anchor = self.entry_block.first
            while anchor is not None and anchor.definition is self.live_in_definition:
                anchor = anchor.next
            self.entry_block.insert_before(anchor, op)
            found = self.entry_values[unit] = (op.results[0], 0)
        return found

    def _place(self, value: Value) -> tuple[int, int]:
        """First unit and count of a value."""
        type_ = value.type
        found = self._places.get(type_)
        if found is None:
            assert isinstance(type_, RegisterType)
            found = self._places[type_] = type_units(type_, self.flow.wave_size)
        return found

    def _part(self, value: Value, offset: int, count: int) -> Value:
        unit, units = self._place(value)
        if offset == 0 and units == count:
            return value
        key = (id(value), offset, count)
        found = self._parts.get(key)
        if found is None:
            op = self._append(self.slice_definition, [value], [self._type(unit + offset, count)], {"unit": offset})
            found = self._parts[key] = op.results[0]
        return found

    def read(self, unit: int, count: int) -> Value:
        """The value in ``count`` units from ``unit``, putting it together from parts where needed."""
        state = self._state
        value, offset = state.get(unit) or self._initial(unit)
        if count == 1:
            return self._part(value, offset, 1)
        pieces: list[tuple[Value, int, int]] = []
        length = 1
        for following in range(unit + 1, unit + count):
            next_value, next_offset = state.get(following) or self._initial(following)
            if next_value is value and next_offset == offset + length:
                length += 1
            else:
                pieces.append((value, offset, length))
                value, offset, length = next_value, next_offset, 1
        pieces.append((value, offset, length))
        if len(pieces) == 1:
            return self._part(*pieces[0])
        parts = [self._part(*piece) for piece in pieces]
        key = tuple(map(id, parts))
        found = self._tuples.get(key)
        if found is None:
            op = self._append(self.concat_definition, parts, [self._type(unit, count)], {})
            found = self._tuples[key] = op.results[0]
        return found

    def write(self, value: Value, unit: int, count: int) -> None:
        """Record that ``value`` now lies in ``count`` units from ``unit``."""
        state = self._state
        for offset in range(count):
            state[unit + offset] = (value, offset)

    # Instructions

    def immediates(self, instruction: MachineInstruction) -> dict[str, Attribute]:
        """The immediates of an instruction: slots without a register, modifiers, encoding choices."""
        table = _half_immediates(instruction, "", self.flow.wave_size)
        if instruction.y is not None:
            table.update(_half_immediates(instruction.y, "y_", self.flow.wave_size))
        return table

    def _key(self, name: str) -> Word:
        found = self._keys.get(name)
        if found is None:
            found = self._keys[name] = Word(f"amdgpu.{name}")
        return found

    def _instruction(
        self, instruction: MachineInstruction, effects: Effects, partial: bool, through: tuple[Access, ...], live: int
    ) -> None:
        read = self.read
        operands = [read(access.unit, access.count) for access in effects.uses]
        for access in effects.state_uses:
            operands.append(read(access.unit, access.count))
        if partial and effects.uses_exec and not any(access.unit == EXEC for access in effects.state_uses):
            operands.append(read(EXEC, self.flow.wave_size // 32))
        ties = _ties(effects)
        for access in through:
            ties[effects.defs.index(access)] = len(operands)
            operands.append(read(access.unit, access.count))
        defs = effects.defs
        types = [self._type(access.unit, access.count) for access in defs]
        state_defs = [a for a in effects.state_defs if live & mask_of(a.unit, a.count)]
        for access in state_defs:
            types.append(self._type(access.unit, access.count))
        key = instruction.row.mnemonic
        if instruction.y is not None:
            key = f"{key}.{instruction.y.row.mnemonic}"
        immediates = self.immediates(instruction)
        if immediates.pop("lds", 0):
            # The result goes to LDS: a name of its own in Low.
            key = LOAD_LDS + key.removeprefix("buffer_load_")
            del immediates["vdata"]
        attributes: dict[str, Attribute] = {"key": self._key(key)}
        if immediates:
            attributes["immediates"] = immediates
        if instruction.form and instruction.form != instruction.row.encodings[0].form:
            attributes["form"] = Word(instruction.form)
        if instruction.raw:
            attributes["raw"] = instruction.raw
        if ties:
            attributes["ties"] = tuple(ties.get(position) for position in range(len(types)))
        op = self._append(
            self.op_definition,
            operands,
            types,
            attributes,
        )
        results = op.results
        for position, access in enumerate(defs):
            self.write(results[position], access.unit, access.count)
        for position, access in enumerate(state_defs, len(defs)):
            self.write(results[position], access.unit, access.count)
        self.operations[op] = instruction

    # Blocks

    def build(self) -> LiftedBody:
        """Translate all blocks; returns the region with blocks in layout order, edge blocks included."""
        self._solve()
        flow = self.flow
        tuples = self._natural_tuples()
        first = flow.blocks[flow.entry]
        for block in flow.blocks:
            groups = self._groups(block.merged, tuples)
            made = Block([self._type(*group) for group in groups], label=_label(block))
            self.blocks.append(made)
            self.arguments.append(groups)
        looped = bool(first.predecessors) or flow.entry != 0
        if looped:
            self.entry_block = Block(label="entry")
        else:
            self.entry_block = self.blocks[0]
        self._emit_live_ins(first, looped)
        states: dict[int, dict[int, Located]] = {}
        edges: dict[int, list[Block]] = {}
        entry_state = dict(self.entry_values)
        visited = set()
        stack = [flow.order[0]]
        unreachable = [b.index for b in flow.blocks if b.index not in set(flow.order)]
        count = 0
        while stack or unreachable:
            index = stack.pop() if stack else unreachable.pop(0)
            if index in visited:
                continue
            visited.add(index)
            block = flow.blocks[index]
            parent = flow.idom[index]
            self._state = dict(states[parent]) if parent >= 0 else dict(entry_state)
            self._begin(self.blocks[index])
            for value, group in zip(self.blocks[index].arguments, self.arguments[index], strict=True):
                self.write(value, *group)
            count += self._translate(block, edges)
            if flow.children[index]:
                states[index] = self._state
                stack.extend(reversed(flow.children[index]))
        if looped:
            self._begin(self.entry_block)
            self._state = dict(entry_state)
            entry = self.blocks[flow.entry]
            self._append(self.branch_definition, self._arguments(flow.entry), [], {}).successors = [entry]
        region = Region()
        if looped:
            region.add_block(self.entry_block)
        for index, made in enumerate(self.blocks):
            region.add_block(made)
            for edge in edges.get(index, ()):
                region.add_block(edge)
        return LiftedBody(region, count, sorted(set(self.undefined)), self.operations)

    def _begin(self, block: Block) -> None:
        self._current = block
        self._parts = {}
        self._tuples = {}

    def _emit_live_ins(self, first: FlowBlock, looped: bool) -> None:
        needed = first.live_in | (first.merged if looped else 0)
        for live_in in self.live_ins:
            if not needed & mask_of(live_in.unit, live_in.count):
                continue
            op = self._append(
                self.live_in_definition,
                [],
                [self._type(live_in.unit, live_in.count)],
                {"key": Word(live_in.key)},
                self.entry_block,
            )
            op.results[0].name = live_in.name
            for offset in range(live_in.count):
                self.entry_values[live_in.unit + offset] = (op.results[0], offset)

    def _translate(self, block: FlowBlock, edges: dict[int, list[Block]]) -> int:
        partial, passes = self.partial[block.index], self.passes[block.index]
        instructions = block.instructions
        branch = block.branch
        last = instructions[-1] if instructions else None
        ends = last is not None and last.row.mnemonic in ENDS
        # A branch that lands where control would go anyway cannot be told from falling through: it stays an op.
        adjacent = branch is not None and block.taken == block.index + 1
        body = instructions
        if (branch is not None and not adjacent) or (ends and _is_plain_end(last)):
            body = instructions[:-1]
        live = self._state_liveness(block)
        for position, instruction in enumerate(body):
            self._instruction(instruction, block.effects[position], partial[position], passes[position], live[position])
        stops = block.jump < 0 and block.taken < 0 and block.next < 0
        if ends or stops:
            self._append(self.return_definition, [], [], {})
            return len(instructions)
        if block.jump >= 0:
            successors = [self.blocks[block.jump]]
            self._append(self.branch_definition, self._arguments(block.jump), [], {}).successors = successors
            return len(instructions)
        test = CONDITIONAL_BRANCHES.get(branch.row.mnemonic) if branch is not None else None
        if test is None or adjacent:
            target = block.taken if block.taken >= 0 else block.next
            # A block of nothing but an edge emits nothing; a branch that stands alone needs its arguments behind it.
            lone = branch is not None and not body and not adjacent
            successor = self._edge(block, target, edges) if lone else self.blocks[target]
            arguments = [] if successor is not self.blocks[target] else self._arguments(target)
            self._append(self.branch_definition, arguments, [], {}).successors = [successor]
            return len(instructions)
        condition = self._condition(block)
        assert condition is not None
        value = self.read(*condition)
        targets = [self._edge(block, target, edges) for target in (block.taken, block.next)]
        if not test[1]:
            targets.reverse()
        self._append(self.cond_definition, [value], [], {}).successors = targets
        return len(instructions)

    def _edge(self, block: FlowBlock, target: int, edges: dict[int, list[Block]]) -> Block:
        """The block a branch goes to: the target itself, or a block between that passes the target's arguments."""
        if not self.arguments[target]:
            return self.blocks[target]
        inside = self._current, self._parts, self._tuples
        edge = Block(label=f"{self.blocks[block.index].label}_to_{self.blocks[target].label}")
        self._begin(edge)
        self._append(self.branch_definition, self._arguments(target), [], {}).successors = [self.blocks[target]]
        edges.setdefault(block.index, []).append(edge)
        self._current, self._parts, self._tuples = inside
        return edge

    def _arguments(self, target: int) -> list[Value]:
        return [self.read(*group) for group in self.arguments[target]]

    def _state_liveness(self, block: FlowBlock) -> list[int]:
        """Units that are read after each instruction of the block before they are written again; exact for state."""
        live = block.live_out
        if block.branch is not None:
            condition = self._condition(block)
            if condition is not None:
                live |= mask_of(*condition)
        answer = [0] * len(block.effects)
        pair = mask_of(EXEC, self.flow.wave_size // 32)
        partial = self.partial[block.index]
        for position in range(len(block.effects) - 1, -1, -1):
            effects = block.effects[position]
            answer[position] = live
            live = (live & ~effects.def_mask) | effects.use_mask
            if effects.uses_exec and partial[position]:
                live |= pair
        return answer


def _label(block: FlowBlock) -> str:
    return "".join(c if c.isalnum() or c in "_$-" else "_" for c in block.label)


def _is_plain_end(instruction: MachineInstruction | None) -> bool:
    """Whether ``low.return`` gives exactly this ``s_endpgm``."""
    if instruction is None or instruction.row.mnemonic != "s_endpgm" or instruction.raw:
        return False
    return all(isinstance(operand, Immediate) and operand.value == 0 for operand in instruction.operands)


def _ties(effects: Effects) -> dict[int, int]:
    """Results that reuse an operand's register because the instruction reads and writes the slot: index to index."""
    if not effects.tied:
        return {}
    ties = {}
    for position, access in enumerate(effects.defs):
        if access in effects.tied:
            ties[position] = effects.uses.index(access)
    return ties


def _reads_itself(effects: Effects, access: Access) -> bool:
    """Whether the written register is an operand already, tied to the result (``v_fmac``)."""
    return access in effects.tied


def _half_immediates(instruction: MachineInstruction, prefix: str, wave_size: int) -> dict[str, Attribute]:
    """Immediates of one half of an instruction, their names prefixed."""
    table: dict[str, Attribute] = {}
    for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True):
        if isinstance(operand, Register):
            if operand.bank in _WORD_BANKS:
                table[prefix + slot.name] = Word(operand.bank)
            elif operand.bank == "exec" and operand.units != wave_size // 32:
                table[prefix + slot.name] = Word(str(operand))
            elif operand.half:
                table[f"{prefix}{slot.name}_half"] = 1
        elif isinstance(operand, Inline | Immediate):
            table[prefix + slot.name] = operand.value
        elif isinstance(operand, BranchTarget):
            table[prefix + slot.name] = 0  # only branches to the next instruction stay ops
        elif isinstance(operand, Literal):
            table[prefix + slot.name] = Word("literal")
            table[prefix + "literal"] = operand.bits
    for name, value in instruction.modifiers.items():
        table[prefix + name] = value
    return table


#: Operands that are no register of their own: absent addresses, ``null``, apertures, tests of a mask.
_WORD_BANKS = frozenset(
    (
        "off",
        "null",
        "vccz",
        "execz",
        "shared_base",
        "shared_limit",
        "private_base",
        "private_limit",
        "pops_exiting_wave_id",
        "lds_direct",
    )
)
