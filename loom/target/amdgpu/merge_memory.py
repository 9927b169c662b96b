"""Joins neighbouring narrow memory accesses of one base address into wide ones, before scheduling.

Loads move up to the first of their group, stores down to the last; nothing that may touch the same bytes lies in
between, and EXEC
does not change. LDS accesses that are not neighbours, or whose alignment is not known, still share an instruction in
pairs
(``ds_load_2addr_b32``). Alignment is found from the arithmetic that makes the address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from loom.low.code import COPY, FENCE, OP, CodeBlock, Instruction, LowCode, Ref
from loom.low.dependence import may_overlap
from loom.target.amdgpu.backend import AmdgpuTarget
from loom.target.amdgpu.machine import OFF, Inline, Literal, Operand
from loom.target.amdgpu.operation import Operation, RegisterSlot

_LOADS = {"global_load_b32": "global", "ds_load_b32": "lds"}
_STORES = {"global_store_b32": "global", "ds_store_b32": "lds"}
_WIDEST = 4
_OFFSET_LIMIT = {"global": 4095, "lds": 65535}
MAXIMUM_GROUP = 64


@dataclass(slots=True)
class _Group:
    """Accesses of one base: (position in the block, byte offset, instruction); ``number`` counts the groups."""

    space: str
    store: bool
    number: int
    members: list[tuple[int, int, Instruction]] = field(default_factory=list)


class _OpenGroups:
    """The groups that accesses may still join, found by key, and by what an access may overlap."""

    def __init__(self) -> None:
        self._made = 0
        self._by_key: dict[Any, _Group] = {}
        #: By kind of access, space and class of memory the groups by key. All in one place, but those of its own base,
        #: conflict with an access of that class, and are closed then: looking at them costs no more than making them.
        self._places: dict[tuple[bool, str | None, Any], dict[Any, _Group]] = {}

    def get(self, key: Any) -> _Group | None:
        """The group of a key."""
        return self._by_key.get(key)

    def open(self, key: Any, first: Instruction) -> _Group:
        """A new group for a key."""
        group = self._by_key[key] = _Group(key[0], key[1], self._made)
        self._made += 1
        self._places.setdefault((key[1], first.traits.memory_space, key[3]), {})[key] = group
        return group

    def close(self, key: Any) -> _Group:
        """Take the group of a key out."""
        group = self._by_key.pop(key)
        del self._places[key[1], group.members[0][2].traits.memory_space, key[3]][key]
        return group

    def close_all(self) -> list[_Group]:
        """Take all groups out, the oldest first."""
        groups = list(self._by_key.values())
        self._by_key.clear()
        self._places.clear()
        return groups

    def conflicting(self, key: Any, instruction: Instruction) -> list[Any]:
        """Keys of the groups whose accesses may not move across an instruction, the oldest first."""
        found: list[tuple[int, Any]] = []
        mine = instruction.traits.memory_space
        memory = instruction.address[3] if instruction.address is not None else None
        for (store, space, other), groups in self._places.items():
            if not store and not instruction.traits.writes_memory:
                continue
            if space != mine and "flat" not in (space, mine):
                continue
            if memory is not None and other is not None and memory != other:
                continue
            found.extend((g.number, k) for k, g in groups.items() if _conflicts(g, instruction, k == key))
        return [k for _, k in sorted(found, key=lambda entry: entry[0])]


def _conflicts(group: _Group, instruction: Instruction, same_key: bool) -> bool:
    """Whether a group's accesses may not move across ``instruction``."""
    if not group.store and not instruction.traits.writes_memory:
        return False
    if same_key and group.store:
        assert instruction.address is not None
        return any(offset == instruction.address[1] for _, offset, _ in group.members)
    return any(may_overlap(member, instruction) for _, _, member in group.members)


class MemoryMerger:
    """Merges in one function."""

    def __init__(self, code: LowCode, target: AmdgpuTarget) -> None:
        self.code = code
        self.target = target
        self.merged = 0
        self.renamed: dict[int, Ref] = {}
        self.definition: dict[int, Instruction] = {}
        self._alignment: dict[tuple[int, int], int] = {}
        self._based: dict[tuple[int, int, int], Ref] = {}
        self._inserted: dict[int, list[Instruction]] = {}
        for instruction in code.instructions():
            if instruction.kind == OP:
                for register, _, _ in instruction.defs:
                    self.definition[register.index] = instruction

    def run(self) -> int:
        """Merge; returns the number of instructions that went."""
        for block in self.code.blocks:
            self._block(block)
        if self._inserted:
            for block in self.code.blocks:
                result: list[Instruction] = []
                for instruction in block.instructions:
                    result.append(instruction)
                    result.extend(self._inserted.get(id(instruction), ()))
                block.instructions = result
        if self.renamed:
            renamed = self.renamed
            for instruction in self.code.instructions():
                for position, (register, offset, units) in enumerate(instruction.uses):
                    found = renamed.get(register.index)
                    if found is not None:
                        instruction.uses[position] = (found[0], found[1] + offset, units)
        return self.merged

    # Groups

    def _block(self, block: CodeBlock) -> None:
        groups = _OpenGroups()
        drop: set[int] = set()
        place: dict[int, list[Instruction]] = {}
        for position, instruction in enumerate(block.instructions):
            traits = instruction.traits
            if instruction.kind == FENCE:
                self._close(groups, drop, place)
                continue
            if instruction.kind != OP:
                continue
            if traits.barrier or "exec" in traits.state_defs or instruction.locked or instruction.limited:
                self._close(groups, drop, place)
                continue
            if traits.memory_space is None:
                continue
            key = self._key(instruction)
            for other_key in groups.conflicting(key, instruction):
                self._finish(groups.close(other_key), drop, place)
            if key is not None:
                group = groups.get(key)
                if group is not None and len(group.members) >= MAXIMUM_GROUP:
                    self._finish(groups.close(key), drop, place)
                    group = None
                if group is None:
                    group = groups.open(key, instruction)
                assert instruction.address is not None
                group.members.append((position, instruction.address[1], instruction))
        self._close(groups, drop, place)
        if drop:
            result: list[Instruction] = []
            for position, instruction in enumerate(block.instructions):
                if position in place:
                    result.extend(place[position])
                elif position not in drop:
                    result.append(instruction)
            block.instructions = result

    def _key(self, instruction: Instruction) -> Any:
        """What accesses of one group have in common; ``None`` for an access that stays as it is."""
        payload: Operation = instruction.payload
        name = payload.row.mnemonic
        store = name in _STORES
        space = _STORES.get(name) or _LOADS.get(name)
        if space is None or instruction.address is None or instruction.address[0] is None:
            return None
        if instruction.ties or instruction.traits.side_effects or payload.form is not None or payload.raw:
            return None
        if instruction.defs and instruction.defs[0][0].location is not None:
            return None
        others = tuple(sorted((k, v) for k, v in payload.modifiers.items() if k != "offset"))
        return space, store, instruction.address[0], instruction.address[3], others, instruction.phase

    def _close(self, groups: _OpenGroups, drop: set[int], place: dict[int, list[Instruction]]) -> None:
        for group in groups.close_all():
            self._finish(group, drop, place)

    # Merging

    def _finish(self, group: _Group, drop: set[int], place: dict[int, list[Instruction]]) -> None:
        members = sorted(
            {offset: (position, offset, i) for position, offset, i in group.members}.values(), key=lambda m: m[1]
        )
        if len(members) < 2 or len(members) != len(group.members):
            return
        singles: list[tuple[int, int, Instruction]] = []
        k = 0
        while k < len(members):
            run = 1
            while k + run < len(members) and run < _WIDEST and members[k + run][1] == members[k][1] + 4 * run:
                run += 1
            width = self._width(group.space, members[k], run)
            if width > 1:
                self._emit(group, members[k : k + width], drop, place)
                k += width
            else:
                singles.append(members[k])
                k += 1
        if group.space == "lds":
            self._pairs(group, singles, drop, place)

    def _width(self, space: str, member: tuple[int, int, Instruction], run: int) -> int:
        """Dwords that one instruction may move from here."""
        if run < 2:
            return 1
        if space == "global":
            return run if run in (2, 3, 4) else 1
        alignment = self._base_alignment(member[2])
        offset = member[1]
        known = min(alignment, offset & -offset) if offset else alignment
        if run >= 4 and known >= 16:
            return 4
        return 2 if known >= 8 else 1

    def _base_alignment(self, instruction: Instruction) -> int:
        payload: Operation = instruction.payload
        entry = payload.operands[payload.row.slot_index("addr")]
        if not isinstance(entry, RegisterSlot):
            return 1
        return self.alignment(instruction.uses[entry.index], 0)

    def _emit(
        self,
        group: _Group,
        members: Sequence[tuple[int, int, Instruction]],
        drop: set[int],
        place: dict[int, list[Instruction]],
    ) -> None:
        width = len(members)
        first = members[0][2]
        prefix = "global" if group.space == "global" else "ds"
        what = "store" if group.store else "load"
        row_name = f"{prefix}_{what}_b{32 * width}"
        modifiers = {**first.payload.modifiers, "offset": members[0][1]}
        self._replace(group, [m[0] for m in members], [m[2] for m in members], row_name, modifiers, None, drop, place)

    def _pairs(
        self,
        group: _Group,
        singles: list[tuple[int, int, Instruction]],
        drop: set[int],
        place: dict[int, list[Instruction]],
    ) -> None:
        """Two LDS accesses of one base in one instruction: offsets in units of 4 or of 256 bytes, eight bits each."""
        what = "store" if group.store else "load"
        left = [m for m in singles if m[1] % 4 == 0]
        far = [m for m in left if m[1] > 255 * 4]
        base: Ref | None = None
        origin = 0
        if len(far) >= 4:
            origin = far[0][1]
            base = self._moved_base(far[0][2], origin)
        for listed, start, register in ((far, origin, base), ([m for m in left if m not in far], 0, None)):
            if listed is far and register is None:
                continue
            k = 0
            while k + 1 < len(listed):
                a, b = listed[k], listed[k + 1]
                x, y = a[1] - start, b[1] - start
                if y <= 255 * 4:
                    name, unit = f"ds_{what}_2addr_b32", 4
                elif x % 256 == 0 and y % 256 == 0 and y // 256 <= 255:
                    name, unit = f"ds_{what}_2addr_stride64_b32", 256
                else:
                    k += 1
                    continue
                modifiers = {m: v for m, v in a[2].payload.modifiers.items() if m != "offset"}
                modifiers.update({"offset0": x // unit, "offset1": y // unit})
                self._replace(group, [a[0], b[0]], [a[2], b[2]], name, modifiers, register, drop, place)
                k += 2

    def _moved_base(self, instruction: Instruction, offset: int) -> Ref | None:
        """``base + offset``, made right behind the base's definition so that it is outside of the loops around."""
        payload: Operation = instruction.payload
        entry = payload.operands[payload.row.slot_index("addr")]
        if not isinstance(entry, RegisterSlot):
            return None
        base = instruction.uses[entry.index]
        key = (base[0].index, base[1], offset)
        found = self._based.get(key)
        if found is not None:
            return found
        definition = self.definition.get(base[0].index)
        if definition is None or definition.traits.memory_space is not None or definition.locked:
            return None
        register = self.code.new_register("amdgpu.vgpr", 1, base[0].name)
        constant: Operand = Inline.integer(offset) or Literal(offset)
        made = self.target.instruction("v_add_nc_u32", [(register, 0, 1)], [base], {"src0": constant})
        made.location = instruction.location
        made.origin = instruction.origin
        made.phase = definition.phase
        self._inserted.setdefault(id(definition), []).append(made)
        ref: Ref = (register, 0, 1)
        self._based[key] = ref
        return ref

    def _replace(
        self,
        group: _Group,
        positions: Sequence[int],
        instructions: Sequence[Instruction],
        row_name: str,
        modifiers: dict[str, int],
        base: Ref | None,
        drop: set[int],
        place: dict[int, list[Instruction]],
    ) -> None:
        first = instructions[0]
        payload: Operation = first.payload
        width = len(instructions)
        by_name = {slot.name: entry for slot, entry in zip(payload.row.slots, payload.operands, strict=True)}
        fixed: dict[str, Operand] = {}
        uses: list[Ref] = []
        extra: list[Instruction] = []
        address_names = [n for n in ("vaddr", "addr") if n in by_name]

        def take(name: str) -> None:
            entry = by_name[name]
            if isinstance(entry, RegisterSlot):
                uses.append(base if base is not None and name == "addr" else first.uses[entry.index])
            else:
                fixed[name] = entry

        two = "2addr" in row_name
        defs: list[Ref] = []
        if group.store:
            data_slot = "data0" if group.space == "lds" else "vdata"
            values: list[Ref] = []
            for instruction in instructions:
                entry = instruction.payload.operands[instruction.payload.row.slot_index(data_slot)]
                if not isinstance(entry, RegisterSlot):
                    return
                values.append(instruction.uses[entry.index])
            take(address_names[0])
            if two:
                uses.extend(values)
            else:
                whole = self.code.new_register("amdgpu.vgpr", width, values[0][0].name)
                extra.append(
                    Instruction(COPY, "concat", [(whole, k, 1) for k in range(width)], values, location=first.location)
                )
                uses.append((whole, 0, width))
            if "saddr" in by_name:
                take("saddr")
        else:
            whole = self.code.new_register("amdgpu.vgpr", width, first.defs[0][0].name)
            defs.append((whole, 0, width))
            take(address_names[0])
            if "saddr" in by_name:
                take("saddr")
        made = self.target.instruction(row_name, defs, uses, fixed, **modifiers)
        # Operands beyond the slots (EXEC as a value) stay.
        slots = {entry.index for entry in payload.operands if isinstance(entry, RegisterSlot) and entry.kind == 1}
        for number, use in enumerate(first.uses):
            if number not in slots:
                made.uses.append(use)
        made.traits = _widened(made, first)
        made.location, made.origin, made.phase = first.location, first.origin, first.phase
        assert first.address is not None
        low = min(i.address[1] for i in instructions if i.address is not None)
        high = max(i.address[1] for i in instructions if i.address is not None)
        made.address = (first.address[0], low, high - low + 4, first.address[3])
        at = max(positions) if group.store else min(positions)
        place[at] = [*extra, made]
        drop.update(positions)
        self.merged += width - 1
        if not group.store:
            for k, instruction in enumerate(instructions):
                self.renamed[instruction.defs[0][0].index] = (whole, k, 1)

    # Alignment

    def alignment(self, ref: Ref, depth: int) -> int:
        """Largest power of two, up to 256, that certainly divides a 32-bit value."""
        key = (ref[0].index, ref[1])
        known = self._alignment.get(key)
        if known is not None:
            return known
        result = self._compute_alignment(ref, depth)
        self._alignment[key] = result
        return result

    def _compute_alignment(self, ref: Ref, depth: int) -> int:
        instruction = self.definition.get(ref[0].index)
        if instruction is None or depth > 12 or ref[0].units != 1:
            return 1
        payload: Operation = instruction.payload
        name = payload.row.mnemonic
        sources = [
            (slot, entry)
            for slot, entry in zip(payload.row.slots, payload.operands, strict=True)
            if slot.is_use and not slot.is_def
        ]

        def of(entry: Any) -> int:
            if isinstance(entry, RegisterSlot):
                return self.alignment(instruction.uses[entry.index], depth + 1)
            value = _number(entry)
            if value is None:
                return 1
            return 256 if value == 0 else min(256, value & -value)

        def number(entry: Any) -> int | None:
            return None if isinstance(entry, RegisterSlot) else _number(entry)

        entries = [entry for _, entry in sources]
        if payload.modifiers:
            return 1
        if name in ("v_mov_b32", "s_mov_b32"):
            return of(entries[0])
        if name in ("v_lshlrev_b32",):
            shift = number(entries[0])
            return min(256, of(entries[1]) << shift) if shift is not None and shift < 32 else of(entries[1])
        if name in ("s_lshl_b32",):
            shift = number(entries[1])
            return min(256, of(entries[0]) << shift) if shift is not None and shift < 32 else of(entries[0])
        if name in (
            "v_add_nc_u32",
            "v_or_b32",
            "v_sub_nc_u32",
            "s_add_u32",
            "s_add_i32",
            "s_or_b32",
            "v_add3_u32",
            "v_or3_b32",
            "v_xor_b32",
        ):
            return min(of(entry) for entry in entries)
        if name in ("v_and_b32", "s_and_b32"):
            return max(of(entry) for entry in entries)
        if name in ("v_mul_u32_u24", "v_mul_lo_u32", "s_mul_i32"):
            return min(256, of(entries[0]) * of(entries[1]))
        if name == "v_mad_u32_u24":
            return min(of(entries[0]) * of(entries[1]), of(entries[2]), 256)
        if name in ("v_lshl_add_u32", "v_lshl_or_b32"):
            shift = number(entries[1])
            shifted = of(entries[0]) << shift if shift is not None and shift < 32 else of(entries[0])
            return min(256, shifted, of(entries[2]))
        if name == "v_add_lshl_u32":
            shift = number(entries[2])
            total = min(of(entries[0]), of(entries[1]))
            return min(256, total << shift) if shift is not None and shift < 32 else total
        return 1


def _number(entry: Any) -> int | None:
    if isinstance(entry, Literal):
        return entry.bits
    if isinstance(entry, Inline) and not entry.is_float:
        return int(entry.value) & 0xFFFFFFFF
    return None


def _widened(made: Instruction, first: Instruction) -> Any:
    """Traits of the wide access with the state of the narrow one."""
    from dataclasses import replace

    return replace(made.traits, state_uses=first.traits.state_uses, state_defs=first.traits.state_defs)


def merge_memory(code: LowCode, target: AmdgpuTarget) -> int:
    """Merge narrow accesses of ``code``; returns how many instructions went."""
    if target.generation not in ("gfx11", "gfx12"):
        return 0
    return MemoryMerger(code, target).run()


__all__ = ["OFF", "merge_memory"]
