"""From a ``low.op`` to rows of the instruction table with constants in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loom.diagnostics import Location, error
from loom.target.amdgpu.descriptor_set.constants import reference_constant, table_constant
from loom.target.amdgpu.descriptor_set.names import row_of
from loom.target.amdgpu.descriptor_set.unknown import unknown_instruction
from loom.target.amdgpu.descriptor_set.variants import Variant, variant_of
from loom.target.amdgpu.immediates import waitcnt_value
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import Immediate, Operand


@dataclass(slots=True)
class Half:
    """One half of a resolved instruction: constants by slot index, registers to be taken in ``order``."""

    row: InstructionRow
    fixed: dict[int, Operand] = field(default_factory=dict)
    order: tuple[int, ...] | None = None
    modifiers: dict[str, int] = field(default_factory=dict)
    form: str | None = None
    halves: dict[str, int] = field(default_factory=dict)

    def half_of(self, name: str) -> int | None:
        """Which half of a 16-bit register a slot names; ``None`` where nothing was said."""
        return self.halves.get(name)


@dataclass(slots=True)
class Resolved:
    """An instruction's rows with constants in place; two halves for a dual-issue pair."""

    halves: list[Half]
    state_defs: tuple[str, ...] = ()
    state_uses: tuple[str, ...] = ()


#: Entries of ``low.op`` that are neither slots nor modifiers.
META = frozenset(
    (
        "key", "form", "raw", "alias", "invariant", "volatile", "memory", "message", "literal", "immediates", "ties",
    )
)  # fmt: skip


#: Positions of immediates that are single bits of a modifier.
_BITS = {"bit": 0, "bit1": 1}


def resolve(
    generation: str,
    key: str,
    immediates: Mapping[str, Any],
    location: Location | None,
    operand_types: Sequence[Any] = (),
) -> Resolved:
    """Rows and constants of a ``low.op``.

    Args:
        generation: Instruction table.
        key: The op's key, with or without ``amdgpu.``.
        immediates: The op's immediates, encoding form included.
        location: For diagnostics.
        operand_types: Register types of the operands; they tell the two operand orders of buffer instructions apart.

    Raises:
        LoomError: ``BACKEND/021`` for an unknown instruction, ``BACKEND/020`` for an immediate that does not fit.
    """
    name = key.removeprefix("amdgpu.")
    if name.startswith("v_dual_") and ".v_dual_" in name:
        x, y = name.split(".", 1)
        plain = {k: v for k, v in immediates.items() if not k.startswith("y_")}
        other = {k[2:]: v for k, v in immediates.items() if k.startswith("y_")}
        if "literal" in immediates:
            other.setdefault("literal", immediates["literal"])
        halves = [_table_half(generation, x, plain, location), _table_half(generation, y, other, location)]
        return Resolved(halves)
    name = name.replace(".", "_")
    row = row_of(generation, name)
    variant = variant_of(generation, name)
    if variant is not None and (row is None or any(entry[0] in immediates for entry in variant.immediates)):
        return _reference_form(variant, immediates, location, operand_types, generation)
    if row is None:
        raise unknown_instruction(generation, name, location)
    half = _table_half(generation, name, immediates, location, row)
    _buffer_order(half, operand_types)
    return Resolved([half])


def _table_half(
    generation: str,
    name: str,
    immediates: Mapping[str, Any],
    location: Location | None,
    row: InstructionRow | None = None,
) -> Half:
    row = row if row is not None else row_of(generation, name)
    if row is None:
        raise unknown_instruction(generation, name, location)
    half = Half(row, form=None)
    form = immediates.get("form")
    half.form = None if form is None else str(form)
    literal = int(immediates.get("literal", 0))
    index_of, modifier_names = _names_of(row)
    for entry, value in immediates.items():
        if entry in META:
            continue
        index = index_of.get(entry)
        if index is not None:
            slot = row.slots[index]
            half.fixed[index] = table_constant(value, slot, literal, entry, location)
            continue
        if entry in modifier_names:
            half.modifiers[entry] = int(value)
            continue
        if entry.endswith("_half") and entry[:-5] in index_of:
            half.halves[entry[:-5]] = int(value)
            continue
        raise error(
            f"{row.mnemonic} has no immediate '{entry}'",
            "BACKEND/022",
            location,
            hint="it has: " + ", ".join([*index_of, *sorted(modifier_names)]),
        )
    return half


_NAMES: dict[int, tuple[InstructionRow, dict[str, int], frozenset[str]]] = {}


def _names_of(row: InstructionRow) -> tuple[dict[str, int], frozenset[str]]:
    """Slot numbers by name, and the names of the modifiers; kept by identity, since hashing a row is slow."""
    found = _NAMES.get(id(row))
    if found is None:
        slots = {slot.name: i for i, slot in enumerate(row.slots)}
        found = _NAMES[id(row)] = (row, slots, frozenset(m.name for m in row.modifiers))
    return found[1], found[2]


def _reference_form(
    variant: Variant,
    immediates: Mapping[str, Any],
    location: Location | None,
    operand_types: Sequence[Any],
    generation: str,
) -> Resolved:
    row = variant.row
    half = Half(row, form=variant.form, modifiers=dict(variant.modifiers))
    for slot_name, operand in variant.fixed:
        half.fixed[row.slot_index(slot_name)] = operand
    named = {entry[0]: entry for entry in variant.immediates}
    waits: dict[str, int] = {}
    _, modifier_names = _names_of(row)
    for name, value in immediates.items():
        if name in META:
            if name == "form":
                half.form = str(value)
            continue
        found = named.get(name)
        if found is not None:
            if found[2] == "wait":
                waits[name] = int(value)
                continue
            if found[2] in _BITS:
                half.modifiers[found[1]] = half.modifiers.get(found[1], 0) | int(value) << _BITS[found[2]]
                continue
            index = row.slot_index(found[1])
            half.fixed[index] = reference_constant(value, found[2], location)
        elif name in modifier_names:
            half.modifiers[name] = int(value)
        elif row.slot_index(name) >= 0:
            index = row.slot_index(name)
            literal = int(immediates.get("literal", 0))
            half.fixed[index] = table_constant(value, row.slots[index], literal, name, location)
        else:
            raise error(
                f"{row.mnemonic} has no immediate '{name}'",
                "BACKEND/022",
                location,
                hint="it has: " + ", ".join(slot.name for slot in row.slots),
            )
    if waits:
        half.fixed[row.slot_index("simm16")] = Immediate(waitcnt_value(waits, generation))
    _buffer_order(half, operand_types)
    return Resolved([half], variant.state_defs, variant.state_uses)


def _buffer_order(half: Half, operand_types: Sequence[Any]) -> None:
    """Buffer instructions: the reference puts the descriptor before the vector offset, and implies ``offen``."""
    row = half.row
    at = row.slot_index("srsrc")
    if at < 0:
        return
    vaddr = row.slot_index("vaddr")
    registers = [i for i, slot in enumerate(row.slots) if slot.is_use and i not in half.fixed]
    if vaddr >= 0 and vaddr in registers and at in registers and operand_types:
        position = registers.index(at)
        listed = operand_types[position] if position < len(operand_types) else None
        units = getattr(listed, "units", 0)
        if units != 4:
            swapped = [i for i in registers if i != at]
            swapped.insert(registers.index(vaddr), at)
            half.order = tuple(swapped + [i for i in half.fixed if i not in swapped])
            if not half.modifiers.get("idxen"):
                half.modifiers.setdefault("offen", 1)
    # Slots that are constant need no place in the order, but ``order`` must not lose def_use slots.
    if half.order is not None:
        rest = [i for i, slot in enumerate(row.slots) if slot.is_use and i not in half.order]
        half.order = half.order + tuple(rest)
