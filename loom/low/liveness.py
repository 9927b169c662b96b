"""Live ranges as bit sets over program slots.

Each instruction has four slots: a copy in front of it reads (0) and writes (1), the instruction itself reads (2) and
writes
(3). A live range is an integer whose bit ``4 * position + slot`` says "this value occupies its register here"; two
values
interfere where the conjunction of their ranges is not zero. Python's integers make that test a few nanoseconds per
thousand instructions.

Ranges are kept per *unit* (one 32-bit register of a tuple), so a tuple whose parts die early frees these parts.
"""

from __future__ import annotations

from loom.low.code import COPY, CodeBlock, LowCode, VirtualRegister

SLOTS = 4
COPY_READ, COPY_WRITE, READ, WRITE = range(SLOTS)


def bits(first: int, last: int) -> int:
    """The set of slots ``first`` … ``last``, both included."""
    return ((1 << (last - first + 1)) - 1) << first


class Liveness:
    """Live ranges of every register of a function.

    Attributes:
        live: By register index a list of one bit set per unit.
        block_range: By block index the first and the last slot.
        slots: Number of slots.
        definition: By register index the slot of its definition (block parameters: first slot of the block).
    """

    __slots__ = ("block_range", "code", "definition", "definition_block", "live", "slots")

    def __init__(self, code: LowCode) -> None:
        self.code = code
        position = 0
        self.block_range: list[tuple[int, int]] = []
        for block in code.blocks:
            first = position
            for instruction in block.instructions:
                instruction.position = position
                position += 1
            self.block_range.append((SLOTS * first, SLOTS * position - 1))
        self.slots = SLOTS * position
        self.live: list[list[int]] = [[] for _ in code.registers]
        self.definition: list[int] = [-1] * len(code.registers)
        self.definition_block: list[int] = [-1] * len(code.registers)
        self._compute()

    def _compute(self) -> None:
        code = self.code
        count = len(code.registers)
        uses: list[list[tuple[int, int, int, int]] | None] = [None] * count
        extra: list[list[tuple[int, int]] | None] = [None] * count
        for block in code.blocks:
            b = block.index
            start, end = self.block_range[b]
            for parameter in block.parameters:
                self.definition[parameter.index] = start
                self.definition_block[parameter.index] = b
            for instruction in block.instructions:
                base = SLOTS * instruction.position
                # Where results are written early, the old value of a tied result is taken before that.
                early = [u for _, u in instruction.ties] if instruction.traits.early_clobber else ()
                for position, (register, offset, units) in enumerate(instruction.uses):
                    at = base + (COPY_WRITE if position in early else READ)
                    found = uses[register.index]
                    if found is None:
                        uses[register.index] = [(b, at, offset, units)]
                    else:
                        found.append((b, at, offset, units))
                slot = base + (READ if instruction.traits.early_clobber else WRITE)
                is_copy = instruction.kind == COPY
                for register, _offset, _units in instruction.defs:
                    index = register.index
                    if is_copy and self._is_parameter(register, block):
                        listed = extra[index]
                        if listed is None:
                            extra[index] = [(slot, end)]
                        else:
                            listed.append((slot, end))
                    else:
                        self.definition[index] = slot
                        self.definition_block[index] = b
        for register in code.registers:
            index = register.index
            if self.definition[index] < 0:
                self.live[index] = [0] * register.units
                continue
            base_mask = bits(self.definition[index], self.definition[index])
            for first, last in extra[index] or ():
                base_mask |= bits(first, last)
            found = uses[index]
            if found is None:
                self.live[index] = [base_mask] * register.units
            elif register.units == 1 or all(o == 0 and n == register.units for _, _, o, n in found):
                mask = self._range(index, [(b, s) for b, s, _, _ in found]) | base_mask
                self.live[index] = [mask] * register.units
            else:
                by_use: dict[tuple[tuple[int, int], ...], int] = {}
                masks = []
                for unit in range(register.units):
                    key = tuple((b, s) for b, s, o, n in found if o <= unit < o + n)
                    mask = by_use.get(key, -1)
                    if mask < 0:
                        mask = by_use[key] = (self._range(index, list(key)) | base_mask) if key else base_mask
                    masks.append(mask)
                self.live[index] = masks

    @staticmethod
    def _is_parameter(register: VirtualRegister, block: CodeBlock) -> bool:
        return any(register in successor.parameters for successor in block.successors)

    def _range(self, index: int, uses: list[tuple[int, int]]) -> int:
        """The range of one definition and these uses, as (block index, slot)."""
        slot, home = self.definition[index], self.definition_block[index]
        blocks = self.code.blocks
        block_range = self.block_range
        last_by_block: dict[int, int] = {}
        for b, s in uses:
            if last_by_block.get(b, -1) < s:
                last_by_block[b] = s
        mask = 0
        work: list[CodeBlock] = []
        for b, s in last_by_block.items():
            if b == home and s >= slot:
                mask |= bits(slot, s)
                if any(u < slot for ub, u in uses if ub == b):
                    mask |= bits(block_range[b][0], max(u for ub, u in uses if ub == b and u < slot))
                    work.extend(blocks[b].predecessors)
            else:
                mask |= bits(block_range[b][0], s)
                work.extend(blocks[b].predecessors)
        seen: set[int] = set()
        while work:
            block = work.pop()
            b = block.index
            if b in seen:
                continue
            seen.add(b)
            first, last = block_range[b]
            if b == home:
                mask |= bits(slot, last)
            else:
                mask |= bits(first, last)
                work.extend(block.predecessors)
        return mask


def unit_pressure(liveness: Liveness, registers: list[VirtualRegister]) -> list[int]:
    """Number of units of ``registers`` that are live at each instruction's read slot, by position."""
    count = liveness.slots // SLOTS
    delta = [0] * (count + 1)
    for register in registers:
        for mask in liveness.live[register.index]:
            while mask:
                first = (mask & -mask).bit_length() - 1
                run = mask >> first
                length = ((run + 1) & ~run).bit_length() - 1
                start, stop = first // SLOTS, (first + length - 1) // SLOTS
                delta[start] += 1
                delta[stop + 1] -= 1
                mask = (run >> length) << (first + length)
    total = 0
    pressure = []
    for value in delta[:count]:
        total += value
        pressure.append(total)
    return pressure
