"""Names and comments that tell a reader what a value of a lifted kernel is, where that is known.

Arguments are known by what is loaded from the kernarg segment, addresses by their place in memory instructions,
accumulators by a loop that carries them, masks by the comparisons that make them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loom.ir import Block, Operation, RegisterType, Value
from loom.raising.lift.build import LiftedBody
from loom.target.amdgpu.abi import KernargEntry
from loom.target.amdgpu.immediates import waitcnt_fields
from loom.target.amdgpu.machine import Immediate, MachineInstruction, Register

_ACCUMULATES = re.compile(r"v_(fmac|fma|mac|mad|wmma|mfma|dot|pk_fma|add_f|add_nc|add_u|max|min|dual_fmac|dual_dot)")


#: Values followed from one block argument before it is left unnamed.
_LONGEST_CHAIN = 4096

#: Address parts with a name of their own.
_ADDRESS_NAMES = {("buffer", "srsrc"): "descriptor", ("buffer", "soffset"): "offset"}


@dataclass(frozen=True, slots=True)
class ArgumentName:
    """An argument with the name that the text uses."""

    name: str
    offset: int
    size: int
    pointer: bool


def argument_names(entries: Sequence[KernargEntry]) -> list[ArgumentName]:
    """Identifiers for the arguments: their own names where they have any, else ``arg0``, ``arg1`` …"""
    names: list[ArgumentName] = []
    taken: set[str] = set()
    for index, entry in enumerate(entries):
        base = re.sub(r"[^A-Za-z0-9_]", "_", entry.name)
        if not base or not (base[0].isalpha() or base[0] == "_"):
            base = entry.kind if entry.kind.startswith("hidden_") else f"arg{index}"
        name = base
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(ArgumentName(name, entry.offset, entry.size, entry.kind == "global_buffer"))
    return names


class Namer:
    """Names the values of one lifted body."""

    def __init__(self, body: LiftedBody, entries: Sequence[KernargEntry], kernarg: Value | None) -> None:
        self.body = body
        self.arguments = argument_names(entries)
        self.kernarg = kernarg
        self.pieces: dict[Value, int] = {}
        self.pointers: dict[Value, str] = {}
        self._given: dict[str, int] = {}

    def run(self) -> None:
        """Give names and comments; what is already named stays."""
        for block in self.body.region.blocks:
            for op in block.operations:
                instruction = self.body.operations.get(op)
                if instruction is not None:
                    self._instruction(op, instruction)
                elif op.name == "low.slice" and op.operands[0] in self.pieces:
                    unit = op.attributes["unit"]
                    assert isinstance(unit, int)
                    self._argument_value(op.results[0], self.pieces[op.operands[0]] + 4 * unit)
        for block in _on_cycles(self.body.region.blocks):
            self._carried(block)

    def _give(self, value: Value, name: str) -> None:
        """Name a value that has no name; names that were given before get a number."""
        if value.name is not None:
            return
        count = self._given.get(name, 0)
        self._given[name] = count + 1
        value.name = f"{name}_{count}" if count else name

    def _argument_value(self, value: Value, offset: int) -> None:
        """Name a value that holds kernarg bytes from ``offset``; remember which bytes."""
        assert isinstance(value.type, RegisterType)
        self.pieces[value] = offset
        size = 4 * value.type.units
        covered = [a for a in self.arguments if a.offset < offset + size and a.offset + a.size > offset]
        if len(covered) == 1:
            argument = covered[0]
            if argument.size <= size:
                self._give(value, argument.name)
                if argument.pointer and argument.offset == offset:
                    self.pointers[value] = argument.name
            else:
                half = "lo" if offset == argument.offset else "hi"
                self._give(value, f"{argument.name}_{half}")
                if argument.pointer:
                    self.pointers[value] = argument.name
        elif covered:
            self._give(value, "arguments")

    def _instruction(self, op: Operation, instruction: MachineInstruction) -> None:
        row = instruction.row
        memory = row.memory
        mnemonic = row.mnemonic
        if memory is not None:
            if memory.space == "constant" and memory.kind == "load" and op.operands[0] is self.kernarg:
                self._kernarg_load(op, instruction)
                return
            self._memory(op, instruction)
            return
        if mnemonic.endswith(("_saveexec_b32", "_saveexec_b64")):
            self._give(op.results[0], "saved_exec")
        elif mnemonic.startswith("v_cmp_"):
            self._give(op.results[0], "mask")
        elif mnemonic == "s_waitcnt":
            self._waits(op, instruction)
        elif mnemonic.startswith("s_barrier"):
            op.comments = (*op.comments, "// work-group barrier")

    @staticmethod
    def _waits(op: Operation, instruction: MachineInstruction) -> None:
        """Say which counters a wait is about; those at their largest value wait for nothing."""
        generation = instruction.row.generation
        largest = {"vmcnt": 63, "expcnt": 7, "lgkmcnt": 15 if generation == "gfx9.4" else 63}
        operand = instruction.operands[0]
        if isinstance(operand, Immediate):
            counters = waitcnt_fields(operand.value & 0xFFFF, generation)
            named = [f"{name}({value})" for name, value in counters.items() if value != largest[name]]
            if named:
                op.comments = (*op.comments, f"// wait for {' '.join(named)}")

    def _kernarg_load(self, op: Operation, instruction: MachineInstruction) -> None:
        soffset = instruction.row.slot_index("soffset")
        if soffset >= 0:
            operand = instruction.operands[soffset]
            if not isinstance(operand, Register) or operand.bank not in ("off", "null"):
                return
        offset = instruction.modifier("offset")
        result = op.results[0]
        self._argument_value(result, offset)
        assert isinstance(result.type, RegisterType)
        end = offset + 4 * result.type.units
        names = [a.name for a in self.arguments if a.offset < end and a.offset + a.size > offset]
        if names:
            op.comments = (*op.comments, f"// arguments {', '.join(names)}")

    def _memory(self, op: Operation, instruction: MachineInstruction) -> None:
        """Name addresses and loaded data; say which argument is accessed where the base is one."""
        row = instruction.row
        memory = row.memory
        assert memory is not None
        if memory.kind == "cache":
            return
        target = ""
        position = 0
        for slot, operand in zip(row.slots, instruction.operands, strict=True):
            if slot.role == "def" or not isinstance(operand, Register):
                continue
            if operand.bank in ("off", "null"):
                continue
            value = op.operands[position]
            position += 1
            if slot.name in memory.address:
                if value in self.pointers:
                    target = self.pointers[value]
                else:
                    plain = "lds_address" if memory.space == "lds" else "address"
                    self._give(value, _ADDRESS_NAMES.get((memory.space, slot.name), plain))
        if memory.result is not None and op.results and memory.kind in ("load", "atomic"):
            self._give(op.results[0], f"{target}_data" if target else "lds_data" if memory.space == "lds" else "data")
        if target:
            what = {"load": "from", "store": "to"}.get(memory.kind, "at")
            op.comments = (*op.comments, f"// {memory.kind} {memory.bytes} bytes {what} {target}")

    def _carried(self, block: Block) -> None:
        """Name what a loop accumulates: a block argument that comes back to its block through accumulating ops."""
        for argument in block.arguments:
            if argument.name is not None or not _vector(argument):
                continue
            chain = self._accumulation(argument, block)
            if chain is None:
                continue
            for value in (argument, *chain):
                self._give(value, "accumulator")

    @staticmethod
    def _accumulation(argument: Value, block: Block) -> list[Value] | None:
        """Values on the way from a block argument back to its own place, ``None`` where nothing accumulates.

        The way leads through parts and tuples, through ops that write where they read, and through arguments of other
        blocks; a register that is merely kept is no accumulator.
        """
        seen = {argument}
        pending = [argument]
        chain: list[Value] = []
        returned = accumulated = False
        while pending and len(seen) < _LONGEST_CHAIN:
            value = pending.pop()
            place = value.type
            for user in value.users:
                found: list[Value] = []
                if user.name in ("low.slice", "low.concat"):
                    found = user.results
                elif user.name == "low.op" and _ACCUMULATES.match(str(user.attributes["key"])[7:]):
                    found = [result for result in user.results if result.type is place]
                    accumulated = accumulated or bool(found)
                elif user.name == "low.br":
                    target = user.successors[0]
                    for position, operand in enumerate(user.operands):
                        if operand is value:
                            if target is block and position == argument.index:
                                returned = True
                            elif target is not block:
                                found = [*found, target.arguments[position]]
                for result in found:
                    if result not in seen:
                        seen.add(result)
                        pending.append(result)
                        chain.append(result)
        return chain if returned and accumulated else None


def _on_cycles(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that control may come back to, in the order given: no other block carries anything.

    Strongly connected components in one depth-first walk; R. Tarjan, "Depth-first search and linear graph algorithms",
    SIAM Journal on Computing 1 (1972).
    """
    number: dict[Block, int] = {}
    low: dict[Block, int] = {}
    path: list[Block] = []
    closed: set[Block] = set()
    found: set[Block] = set()
    for root in blocks:
        walk: list[tuple[Block, Iterator[Block]]] = []
        if root not in number:
            number[root] = low[root] = len(number)
            path.append(root)
            walk.append((root, iter(root.successors)))
        while walk:
            block, rest = walk[-1]
            following = next(rest, None)
            if following is None:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[block])
                if low[block] == number[block]:
                    component = [path.pop()]
                    while component[-1] is not block:
                        component.append(path.pop())
                    closed.update(component)
                    if len(component) > 1 or block in block.successors:
                        found.update(component)
            elif following not in number:
                number[following] = low[following] = len(number)
                path.append(following)
                walk.append((following, iter(following.successors)))
            elif following not in closed:
                low[block] = min(low[block], number[following])
    return [block for block in blocks if block in found]


def _vector(value: Value) -> bool:
    """Whether a value lies in vector registers."""
    return isinstance(value.type, RegisterType) and value.type.register_class in ("amdgpu.vgpr", "amdgpu.agpr")
