"""Drops pass-through values that no lane ever looks at.

A vector write under a partial EXEC keeps the old value in the other lanes. Lifted code says so for every such write;
mostly these lanes
are not read before they are written again. For every value the *regions* (EXEC values) in which it is read are
found, through copies,
branch arguments and further pass-throughs. Where all of them lie inside of the region that writes the value, the old
one
does not matter.
"""

from __future__ import annotations

from loom.low.code import COPY, OP, Instruction, LowCode
from loom.target.amdgpu.operation import Operation, RegisterSlot

ENTRY = -1
"""The region of the EXEC that the kernel was entered with: contains every other one."""

_NARROWING = ("s_and_saveexec", "s_and_b", "s_and_not1_b", "s_andn2_b", "s_and_not1_saveexec", "v_cmpx_")
_ACROSS = ("v_readlane", "v_permlane", "ds_permute", "ds_bpermute", "ds_swizzle", "v_mov_b32_dpp", "v_writelane")


class PassThrough:
    """The analysis of one function."""

    def __init__(self, code: LowCode) -> None:
        self.code = code
        self.parent: dict[int, int] = {}
        self.region: dict[int, int] = {}
        self.needs: dict[int, set[int]] = {}
        for instruction in code.instructions():
            if instruction.kind != OP:
                continue
            here = self._region_of(instruction)
            name = instruction.payload.row.mnemonic
            for register, _, _ in instruction.defs:
                if register.register_class == "amdgpu.exec":
                    if name.startswith(_NARROWING):
                        self.parent[register.index] = here
                else:
                    self.region[register.index] = here

    @staticmethod
    def _region_of(instruction: Instruction) -> int:
        for register, _, _ in instruction.uses:
            if register.register_class == "amdgpu.exec":
                return register.index
        return ENTRY

    def inside(self, inner: int, outer: int) -> bool:
        """Whether every lane of region ``inner`` is one of ``outer``."""
        if outer == ENTRY:
            return True
        seen = 0
        while inner != outer:
            following = self.parent.get(inner)
            if following is None or seen > 64:
                return False
            inner = following
            seen += 1
        return True

    def _passes(self, instruction: Instruction) -> list[tuple[int, int]]:
        """Ties of an instruction that are pass-through values: uses that stand in no slot and accumulate nothing."""
        if not instruction.ties or not instruction.traits.masked:
            return []
        slots = _slot_uses(instruction.payload)
        return [(d, u) for d, u in instruction.ties if u not in slots]

    def solve(self) -> None:
        """Find the regions in which every value is read."""
        edges: dict[int, list[int]] = {}
        work: list[int] = []

        def need(register: int, region: int) -> None:
            found = self.needs.setdefault(register, set())
            if ENTRY in found or region in found:
                return
            if region == ENTRY:
                found.clear()
            found.add(region)
            work.append(register)

        for instruction in self.code.instructions():
            if instruction.kind == COPY:
                for definition, use in zip(instruction.defs, instruction.uses, strict=True):
                    edges.setdefault(definition[0].index, []).append(use[0].index)
                continue
            if instruction.kind != OP:
                for register, _, _ in instruction.uses:
                    need(register.index, ENTRY)
                continue
            region = self._region_of(instruction)
            payload: Operation = instruction.payload
            name = payload.row.mnemonic
            if name.startswith(_ACROSS) or (payload.form is not None and "dpp" in payload.form):
                region = ENTRY
            passed = {u: d for d, u in self._passes(instruction)}
            accumulated = {u: d for d, u in instruction.ties if u not in passed}
            for number, (register, _, _) in enumerate(instruction.uses):
                if number in passed:
                    edges.setdefault(instruction.defs[passed[number]][0].index, []).append(register.index)
                    continue
                need(register.index, region)
                if number in accumulated:
                    # The accumulator's other lanes stay in the result.
                    edges.setdefault(instruction.defs[accumulated[number]][0].index, []).append(register.index)
        while work:
            number = work.pop()
            regions = list(self.needs.get(number, ()))
            for source in edges.get(number, ()):
                for region in regions:
                    need(source, region)

    def drop(self) -> int:
        """Remove what is not needed; returns how many pass-through values went."""
        dropped = 0
        for instruction in self.code.instructions():
            if instruction.kind != OP:
                continue
            passes = self._passes(instruction)
            if not passes:
                continue
            region = self._region_of(instruction)
            gone: set[int] = set()
            for d, u in passes:
                needed = self.needs.get(instruction.defs[d][0].index, set())
                if region != ENTRY and all(self.inside(other, region) for other in needed):
                    gone.add(u)
            if not gone:
                continue
            dropped += len(gone)
            instruction.ties = tuple((d, u) for d, u in instruction.ties if u not in gone)
            # Pass-through values stand behind all slots, so removing them from the end keeps the others' numbers.
            keep = [u for u in range(len(instruction.uses)) if u not in gone]
            renumbered = {old: new for new, old in enumerate(keep)}
            instruction.uses = [instruction.uses[u] for u in keep]
            instruction.ties = tuple((d, renumbered[u]) for d, u in instruction.ties)
        return dropped


def _slot_uses(payload: Operation) -> set[int]:
    """Numbers of the uses that stand in slots, those that an accumulating slot reads included."""
    found: set[int] = set()
    half: Operation | None = payload
    count = 0
    while half is not None:
        for slot, entry in zip(half.row.slots, half.operands, strict=True):
            if isinstance(entry, RegisterSlot) and entry.kind == 1:
                found.add(entry.index)
            elif slot.is_def and slot.is_use:
                count += 1
        half = half.y
    # Uses of slots that are read and written have no slot entry of their own: they are the first ones not listed.
    number = 0
    while count:
        if number not in found:
            found.add(number)
            count -= 1
        number += 1
    return found


def drop_pass_through(code: LowCode) -> int:
    """Drop needless pass-through values of ``code``; returns how many."""
    analysis = PassThrough(code)
    if not analysis.parent:
        return 0
    analysis.solve()
    return analysis.drop()
