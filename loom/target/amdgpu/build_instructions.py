"""One ``low.op`` as an instruction of a table row: slots, ties, machine state, old values, hints for the allocator."""

from __future__ import annotations

from typing import Any, cast

from loom.diagnostics import LoomError
from loom.ir import Operation as IrOperation
from loom.ir import RegisterType
from loom.low.code import OP, Instruction, Ref, Traits
from loom.target.amdgpu.build_state import BuildState
from loom.target.amdgpu.descriptor_set.resolution import Resolved, resolve
from loom.target.amdgpu.dual_issue import keep_pair
from loom.target.amdgpu.instruction import InstructionRow, OperandSlot
from loom.target.amdgpu.machine import OFF, Operand, Register
from loom.target.amdgpu.operation import DEFINITION, USE, Operation, RegisterSlot, row_traits
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


EXACT = ("salu", "valu", "trans")
"""Issue classes whose instructions take registers of exactly one size in each slot."""


class InstructionBuilder:
    """Builds the instructions of one kernel.

    Attributes:
        exec_written: Whether any of them writes EXEC.
    """

    def __init__(self, state: BuildState) -> None:
        self.state = state
        self.exec_written = False
        self._accumulating: list[tuple[Instruction, int]] = []

    def build(self, op: IrOperation) -> Instruction:
        """The instruction of a ``low.op`` or ``low.const``."""
        key = str(op.attributes["key"])
        immediates = immediates_of(op)
        types = [value.type for value in op.operands]
        return self._resolved(op, resolve(self.state.generation, key, immediates, op.location, types), immediates)

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
                self._check_units(op, row, slot, results[taken_results].type)
                defs.append(self.state.define(results[taken_results]))
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
                self._check_units(op, row, slot, operands[taken_operands].type)
                use = self.state.use(operands[taken_operands], op)
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
            defs.append(self.state.define(value))
        # Read state, EXEC, then the old values of results.
        pass_through: list[Ref] = []
        while taken_operands < len(operands):
            value = operands[taken_operands]
            taken_operands += 1
            register_class = cast(RegisterType, value.type).register_class
            ref = self.state.use(value, op)
            if register_class in STATE_CLASSES and not pass_through:
                uses.append(ref)
            else:
                pass_through.append(ref)
        if pass_through:
            targets = [d for d in registers_of_results if defs[d][0].register_class not in STATE_CLASSES]
            _tie_old_values(op, pass_through, targets, uses, ties)
        for refs, named in ((defs, state_defs), (uses, state_uses)):
            named.update(STATE_CLASSES[r.register_class] for r, _, _ in refs if r.register_class in STATE_CLASSES)
        has_vcc = any(register.register_class == "amdgpu.vcc" for register, _, _ in defs)
        if "vcc" in state_defs and not has_vcc and not self.state.fixed:
            register = self.state.code.new_register("amdgpu.vcc", self.state.mask_units, "vcc_clobber")
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
        if not self.state.fixed:
            self._hint(made)
            if payload.y is not None:
                keep_pair(made)
        return made

    def _check_units(self, op: IrOperation, row: InstructionRow, slot: OperandSlot, given: Any) -> None:
        """Refuse a tuple of registers of another size than the instruction takes; addresses, data and matrices vary."""
        if row.memory is not None or row.issue_class not in EXACT or not isinstance(given, RegisterType):
            return
        if given.register_class not in ("amdgpu.sgpr", "amdgpu.vgpr"):
            return
        units = self.state.mask_units if slot.type == "mask" else slot.units
        if given.units != units:
            raise rejection(
                op,
                f"{op.attributes.get('key')} takes {units} register{'s' if units > 1 else ''} as {slot.name}, "
                f"{given.units} given",
                "BACKEND/008",
                "lane masks are one scalar register in waves of 32 lanes and two in waves of 64",
            )

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
                if register.register_class == "amdgpu.sgpr" and register.units == self.state.mask_units:
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

    def tie_accumulators(self) -> None:
        """Let matrix operations write their accumulator, where nothing else reads it; others get registers apart."""
        if not self._accumulating:
            return
        uses: dict[int, int] = {}
        for instruction in self.state.code.instructions():
            for register, _, _ in instruction.uses:
                uses[register.index] = uses.get(register.index, 0) + 1
        for made, index in self._accumulating:
            if uses.get(made.uses[index][0].index, 0) == 1:
                made.ties = ((0, index),)


def _tie_old_values(
    op: IrOperation, old: list[Ref], targets: list[int], uses: list[Ref], ties: list[tuple[int, int]]
) -> None:
    """Tie the old values of results, which lanes that are off keep, to the results among ``targets``: to those that
    are tied to nothing yet where the numbers fit, else from the first on.
    """
    tied = {d for d, _ in ties}
    free = [d for d in targets if d not in tied]
    wanted = free if len(old) == len(free) else targets
    if len(old) > len(wanted):
        raise _count_error(op, "operands")
    for d, ref in zip(wanted, old, strict=False):
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


def immediates_of(op: IrOperation) -> dict[str, Any]:
    """Everything a ``low.op`` says in braces, and its encoding choices, by name."""
    attributes: dict[str, Any] = dict(op.attributes)
    inner = attributes.pop("immediates", None)
    if isinstance(inner, dict):
        attributes.update(inner)
    attributes.pop("ties", None)
    return attributes


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
