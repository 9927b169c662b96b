"""Spilling: keep a value in memory between its definition and its uses."""

from __future__ import annotations

from collections.abc import Sequence

from loom.low.code import COPY, Instruction, LowCode, VirtualRegister
from loom.low.interface import BackendTarget


class SpillSlots:
    """Numbers spill slots, one per unit, separately for each register file.

    ``size(file)`` is the number of slots in use.
    """

    __slots__ = ("reloads", "stores", "used")

    def __init__(self) -> None:
        self.used: dict[str, int] = {}
        self.stores = 0
        self.reloads = 0

    def take(self, file: str, units: int) -> int:
        """Reserve ``units`` consecutive slots and return the first."""
        first = self.used.get(file, 0)
        self.used[file] = first + units
        return first

    def size(self, file: str) -> int:
        """Slots in use for a file."""
        return self.used.get(file, 0)


def spill_registers(
    code: LowCode, registers: Sequence[VirtualRegister], slots: SpillSlots, target: BackendTarget
) -> None:
    """Rewrite ``code`` so that ``registers`` live in memory.

    A value is stored behind its definition and loaded in front of each use. A block parameter is stored by the
    ``COPY`` of each
    predecessor, so it needs no register at all.
    """
    chosen = {register.index: register for register in registers}
    slot: dict[int, int] = {}
    for register in registers:
        slot[register.index] = slots.take(target.file_of(register.register_class).file, register.units)
    parameters: set[int] = set()
    for block in code.blocks:
        kept = []
        for parameter in block.parameters:
            if parameter.index in chosen:
                parameters.add(parameter.index)
            else:
                kept.append(parameter)
        block.parameters = kept
    for block in code.blocks:
        result: list[Instruction] = []
        for instruction in block.instructions:
            before: list[Instruction] = []
            after: list[Instruction] = []
            loaded: dict[int, VirtualRegister] = {}
            for position, (register, offset, units) in enumerate(instruction.uses):
                if register.index not in chosen:
                    continue
                if instruction.kind == COPY:
                    # Each piece reloads what it needs, so a wide copy does not need all its sources at once.
                    fresh = code.new_register(register.register_class, units, register.name)
                    fresh.spill_temp = True
                    before.extend(
                        target.spill_reload(code, (fresh, 0, units), slot[register.index] + offset, instruction)
                    )
                    slots.reloads += 1
                    instruction.uses[position] = (fresh, 0, units)
                    continue
                temporary = loaded.get(register.index)
                if temporary is None:
                    temporary = loaded[register.index] = code.new_register(
                        register.register_class, register.units, register.name
                    )
                    temporary.spill_temp = True
                    before.extend(
                        target.spill_reload(code, (temporary, 0, register.units), slot[register.index], instruction)
                    )
                    slots.reloads += 1
                instruction.uses[position] = (temporary, offset, units)
            if instruction.kind == COPY:
                kept_defs, kept_uses = [], []
                for definition, use in zip(instruction.defs, instruction.uses, strict=True):
                    register, offset, _units = definition
                    if register.index in parameters:
                        after.extend(target.spill_store(code, use, slot[register.index] + offset, instruction))
                        slots.stores += 1
                    else:
                        kept_defs.append(definition)
                        kept_uses.append(use)
                # A parameter's slot may be read by another piece of this copy: reloads stand in front, stores behind.
                instruction.defs, instruction.uses = kept_defs, kept_uses
            for position, (register, offset, units) in enumerate(instruction.defs):
                if register.index in chosen and register.index not in parameters:
                    # An instruction defines a whole register, a copy may define it piece by piece.
                    temporary = code.new_register(register.register_class, units, register.name)
                    temporary.spill_temp = True
                    temporary.location = register.location
                    instruction.defs[position] = (temporary, 0, units)
                    store = target.spill_store(code, (temporary, 0, units), slot[register.index] + offset, instruction)
                    after.extend(store)
                    slots.stores += 1
            result.extend(before)
            if instruction.kind != COPY or instruction.defs:
                result.append(instruction)
            result.extend(after)
        block.instructions = result
    code.link()
