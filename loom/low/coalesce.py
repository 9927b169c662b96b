"""Coalescing: which values share a register, so that copies, tuples and ties cost nothing.

Every register starts as a *compound* of its own. Merging puts one compound inside another at an offset; what ends up
at the same unit
shares a physical register. Two values may share one where their live ranges are disjoint, or where they are the same
value (a
copy of the other): a *value number* says so.

Order: ties first, in dominance order, since an unsatisfied tie needs a copy in front of the instruction; then the
arguments of
branches, deepest loops first; then tuples.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from loom.diagnostics import error
from loom.low.code import COPY, CodeBlock, Instruction, LowCode, Ref, VirtualRegister, reverse_postorder
from loom.low.interface import BackendTarget, FileOf
from loom.low.liveness import COPY_READ, COPY_WRITE, READ, SLOTS, Liveness, Runs, contains, run_of, united

MAXIMUM_COMPOUND = 32
"""Units a compound may grow to by coalescing; tuples of the target are never longer."""


class LabelledRuns:
    """Disjoint runs of slots ``(first, one behind the last)``, in order, each with a number.

    Runs of one number may overlap when they are added, and become one; runs of different numbers must not. All
    operations take time by the logarithm of the number of runs, and by the runs that they meet.
    """

    __slots__ = ("first", "label", "stop")

    def __init__(self, runs: Runs = (), label: int = 0) -> None:
        self.first = [first for first, _ in runs]
        self.stop = [stop for _, stop in runs]
        self.label = [label] * len(runs)

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return zip(self.first, self.stop, self.label, strict=True)

    def meeting(self, first: int, stop: int) -> Iterator[int]:
        """Numbers of the runs that overlap a run."""
        at = bisect_right(self.stop, first)
        while at < len(self.first) and self.first[at] < stop:
            yield self.label[at]
            at += 1

    def add(self, first: int, stop: int, label: int) -> None:
        """Add a run; what it overlaps must have its number."""
        low = bisect_right(self.stop, first)
        high = bisect_left(self.first, stop, low)
        # Runs of the same number that only touch are joined as well, so that copies of a value stay one run.
        if low and self.stop[low - 1] == first and self.label[low - 1] == label:
            low -= 1
        if high < len(self.first) and self.first[high] == stop and self.label[high] == label:
            high += 1
        if low < high:
            first = min(first, self.first[low])
            stop = max(stop, self.stop[high - 1])
        self.first[low:high] = [first]
        self.stop[low:high] = [stop]
        self.label[low:high] = [label]

    def fused(self) -> Iterator[tuple[int, int]]:
        """The runs whatever their numbers: those that touch are one."""
        start = end = -1
        for first, stop in zip(self.first, self.stop, strict=True):
            if first != end:
                if end >= 0:
                    yield start, end
                start = first
            end = stop
        if end >= 0:
            yield start, end


class Compound:
    """Values that lie at fixed distances from one another in one register file.

    Attributes:
        file: Register file.
        units: For every unit the live ranges there, each with its value number.
        align: ``(location + phase) % align == 0`` must hold for the compound's location.
        location: Pinned location of unit 0, or ``None``.
        members: Registers in it, with the unit of the compound where each begins.
        apart: Other compounds that should lie apart, with a distance and a modulus: ``location + distance`` and the
            other one's location should differ by it.
    """

    __slots__ = (
        "align",
        "apart",
        "file",
        "hints",
        "location",
        "members",
        "phase",
        "register_class",
        "units",
        "weight",
    )

    def __init__(self, file: str, register_class: str, align: int, location: int | None) -> None:
        self.file = file
        self.register_class = register_class
        self.units: list[LabelledRuns] = []
        self.align = align
        self.phase = 0
        self.location = location
        self.members: list[tuple[VirtualRegister, int]] = []
        self.weight = 0.0
        self.hints: list[int] = []
        self.apart: list[tuple[Compound, int, int]] = []

    def total(self) -> list[Runs]:
        """For every unit the slots at which anything is live."""
        return [tuple(unit.fused()) for unit in self.units]

    def conflicts(self) -> dict[int, dict[int, int]]:
        """By modulus and remainder of a location the number of compounds in place that it is not apart from."""
        found: dict[int, dict[int, int]] = {}
        for other, distance, modulus in self.apart:
            if other.location is not None:
                counts = found.setdefault(modulus, {})
                remainder = (other.location - distance) % modulus
                counts[remainder] = counts.get(remainder, 0) + 1
        return found


class PinnedRanges:
    """What is live at pinned locations of one register file, and which compound it belongs to.

    Compounds are named by one of their registers, since merging replaces them.
    """

    __slots__ = ("crowded", "places")

    def __init__(self) -> None:
        self.places: dict[int, LabelledRuns] = {}
        #: Runs that overlap others: values pinned to one register at once, which the allocator may yet refuse.
        self.crowded: dict[int, list[tuple[int, int, int]]] = {}

    def add(self, compound: Compound, location: int) -> None:
        """Take in a compound whose unit 0 lies at ``location``."""
        name = compound.members[0][0].index
        for unit, runs in enumerate(compound.units):
            index = location + unit
            place = self.places.setdefault(index, LabelledRuns())
            for first, stop in runs.fused():
                if any(label != name for label in place.meeting(first, stop)):
                    self.crowded.setdefault(index, []).append((first, stop, name))
                else:
                    place.add(first, stop, name)

    def meeting(self, index: int, first: int, stop: int) -> Iterator[int]:
        """A register of each compound that is live at a location somewhere in a run."""
        place = self.places.get(index)
        if place is not None:
            yield from place.meeting(first, stop)
        for other, end, name in self.crowded.get(index, ()):
            if other < stop and first < end:
                yield name


@dataclass(slots=True)
class TieCopy:
    """A copy that a tie needs in front of its instruction: ``temporary = source``, and the tie goes to
    ``temporary``."""

    instruction: Instruction
    use: int
    source: Ref
    temporary: VirtualRegister


class Coalescer:
    """Merges compounds; afterwards ``place`` tells where each register lies."""

    def __init__(self, code: LowCode, target: BackendTarget, liveness: Liveness) -> None:
        self.code = code
        self.target = target
        self.liveness = liveness
        self.compound: list[Compound | None] = []
        self.offset: list[int] = []
        self.value: list[tuple[int, ...]] = []
        self.tie_copies: list[TieCopy] = []
        self.pinned: dict[str, PinnedRanges] = {}
        self._files: dict[str, FileOf] = {}
        self._next_value = 0
        for _ in code.registers:
            self.compound.append(None)
            self.offset.append(0)
            self.value.append(())
        order = reverse_postorder(code.blocks)
        self._number_values(order)
        for register in code.registers:
            if liveness.definition[register.index] >= 0:
                self._start(register)
        self._merge_ties(order)
        self._merge_copies(order)

    # Values

    def _fresh(self, count: int) -> tuple[int, ...]:
        first = self._next_value
        self._next_value += count
        return tuple(range(first, first + count))

    def _number_values(self, order: list[CodeBlock]) -> None:
        value = self.value
        for block in order:
            for parameter in block.parameters:
                value[parameter.index] = self._fresh(parameter.units)
        parameters = {p.index for block in order for p in block.parameters}
        for block in order:
            for instruction in block.instructions:
                if instruction.kind == COPY:
                    pieces: dict[int, list[int]] = {}
                    for (dst, offset, units), (src, src_offset, _) in zip(
                        instruction.defs, instruction.uses, strict=True
                    ):
                        if dst.index in parameters:
                            continue
                        numbers = pieces.setdefault(dst.index, list(value[dst.index]) or list(self._fresh(dst.units)))
                        source = value[src.index]
                        if source:
                            numbers[offset : offset + units] = source[src_offset : src_offset + units]
                    for index, numbers in pieces.items():
                        value[index] = tuple(numbers)
                else:
                    for register, _, _ in instruction.defs:
                        value[register.index] = self._fresh(register.units)

    def file(self, register_class: str) -> FileOf:
        """Register file of a class, cached."""
        found = self._files.get(register_class)
        if found is None:
            found = self._files[register_class] = self.target.file_of(register_class)
        return found

    def _start(self, register: VirtualRegister) -> Compound:
        file = self.file(register.register_class)
        location = register.location if file.location is None else file.location + (register.location or 0)
        compound = Compound(
            file.file,
            register.register_class,
            self.target.alignment(register.register_class, register.units),
            location,
        )
        live = self.liveness.live[register.index]
        numbers = self.value[register.index]
        compound.units = [LabelledRuns(live[unit], numbers[unit]) for unit in range(register.units)]
        compound.members = [(register, 0)]
        if register.hint is not None:
            compound.hints = [register.hint]
        self.compound[register.index] = compound
        self.offset[register.index] = 0
        if location is not None:
            self.pinned.setdefault(file.file, PinnedRanges()).add(compound, location)
        return compound

    # Merging

    def _fits(self, a: Compound, b: Compound, delta: int) -> bool:
        """Whether ``b``'s unit 0 can lie at ``a``'s unit ``delta``."""
        if a.file != b.file:
            return False
        if a.location is not None and b.location is not None and a.location + delta != b.location:
            return False
        low = min(0, delta)
        high = max(len(a.units), delta + len(b.units))
        if high - low > MAXIMUM_COMPOUND and high - low > max(len(a.units), len(b.units)):
            return False
        common = min(a.align, b.align)
        # a: (location + a.phase) % a.align == 0; b lies at location + delta: (location + delta + b.phase) % b.align
        # == 0.
        if common > 1 and (delta + b.phase - a.phase) % common:
            return False
        for unit in range(max(0, -delta), min(len(b.units), len(a.units) - delta)):
            one, other = a.units[unit + delta], b.units[unit]
            if len(one) < len(other):
                one, other = other, one
            for first, stop, number in other:
                if any(label != number for label in one.meeting(first, stop)):
                    return False
        if a.location is not None:
            return self._place_is_free(a, b, delta, a.location)
        if b.location is not None:
            return self._place_is_free(a, b, delta, b.location - delta)
        return True

    def _place_is_free(self, a: Compound, b: Compound, delta: int, location: int) -> bool:
        """Whether a pinned compound can take another one in: alignment, and the other pinned ones around it."""
        pinned = self.pinned[a.file]
        for compound, at in ((a, location), (b, location + delta)):
            if compound.location is not None:
                continue
            if at < 0 or (at + compound.phase) % compound.align:
                return False
            for unit, runs in enumerate(compound.units):
                for first, stop in runs.fused():
                    for name in pinned.meeting(at + unit, first, stop):
                        other = self.compound[name]
                        if other is not a and other is not b:
                            return False
        return True

    def _join(self, a: Compound, b: Compound, delta: int) -> Compound:
        """Put ``b`` into ``a`` at ``delta``; the caller has asked :meth:`_fits`."""
        if len(b.members) > len(a.members):
            a, b, delta = b, a, -delta
        if delta < 0:
            shift = -delta
            a.units[:0] = [LabelledRuns() for _ in range(shift)]
            a.phase += shift
            if a.location is not None:
                a.location -= shift
            a.members = [(register, at + shift) for register, at in a.members]
            for register, at in a.members:
                self.offset[register.index] = at
            delta = 0
        while len(a.units) < delta + len(b.units):
            a.units.append(LabelledRuns())
        if a.location is None and b.location is not None:
            a.location = b.location - delta
            self.pinned[b.file].add(a, a.location)
        elif a.location is not None and b.location is None:
            self.pinned[a.file].add(b, a.location + delta)
        for unit, runs in enumerate(b.units):
            at = unit + delta
            if len(a.units[at]) < len(runs):
                a.units[at], runs = runs, a.units[at]
            mine = a.units[at]
            for first, stop, number in runs:
                mine.add(first, stop, number)
        for register, at in b.members:
            a.members.append((register, at + delta))
            self.compound[register.index] = a
            self.offset[register.index] = at + delta
        if b.align > a.align:
            # In terms of a's unit 0: (location + delta + b.phase) % b.align == 0.
            a.align, a.phase = b.align, delta + b.phase
        a.hints.extend(hint - delta for hint in b.hints)
        return a

    def try_merge(self, a: Ref, b: Ref) -> bool:
        """Make two references share registers; whether that is possible."""
        register_a, offset_a, _ = a
        register_b, offset_b, _ = b
        compound_a = self.compound[register_a.index]
        compound_b = self.compound[register_b.index]
        if compound_a is None or compound_b is None:
            return False
        at_a = self.offset[register_a.index] + offset_a
        at_b = self.offset[register_b.index] + offset_b
        if compound_a is compound_b:
            return at_a == at_b
        if not self._fits(compound_a, compound_b, at_a - at_b):
            return False
        self._join(compound_a, compound_b, at_a - at_b)
        return True

    def _merge_ties(self, order: list[CodeBlock]) -> None:
        for block in order:
            for instruction in block.instructions:
                for d, u in instruction.ties:
                    definition, use = instruction.defs[d], instruction.uses[u]
                    if self.try_merge(definition, use):
                        continue
                    temporary = self.code.new_register(definition[0].register_class, definition[2], definition[0].name)
                    temporary.spill_temp = True
                    base = SLOTS * instruction.position
                    runs = run_of(base + COPY_WRITE, base + (COPY_WRITE if instruction.traits.early_clobber else READ))
                    numbers = self._fresh(temporary.units)
                    if instruction.traits.masked and block.loop:
                        # The copy may write lanes that have left the loop: nothing else of the loop may lie there.
                        around = (run_of(*self.liveness.block_range[index])[0] for index in block.loop)
                        runs = united((*runs, *around))
                        numbers = self.value[definition[0].index][definition[1] : definition[1] + temporary.units]
                    self.liveness.live.append([runs] * temporary.units)
                    self.liveness.definition.append(base + COPY_WRITE)
                    self.liveness.definition_block.append(block.index)
                    self.compound.append(None)
                    self.offset.append(0)
                    self.value.append(numbers)
                    self._start(temporary)
                    if not self.try_merge(definition, (temporary, 0, temporary.units)):
                        raise error(
                            f"the tie of an instruction in block ^{block.label} cannot be satisfied",
                            "BACKEND/010",
                            instruction.location,
                            hint="two operands are tied to one result, or its register is pinned and in use",
                        )
                    self.tie_copies.append(TieCopy(instruction, u, use, temporary))
                    self._extend_to_copy(use, base + COPY_READ)

    def _extend_to_copy(self, use: Ref, slot: int) -> None:
        """The source of a tie copy is live at the instruction anyway; nothing to extend, but keep the invariant
        visible."""
        register, offset, units = use
        for unit in range(offset, offset + units):
            assert contains(self.liveness.live[register.index][unit], slot), "a source is live where it is read"

    def _merge_copies(self, order: list[CodeBlock]) -> None:
        jobs: list[tuple[float, int, int, Ref, Ref]] = []
        parameters = {p.index for block in order for p in block.parameters}
        for block in order:
            for instruction in block.instructions:
                if instruction.kind != COPY:
                    continue
                for definition, use in zip(instruction.defs, instruction.uses, strict=True):
                    rank = 0 if definition[0].index in parameters else 1
                    jobs.append((-block.frequency * definition[2], rank, len(jobs), definition, use))
        for block in order:
            for instruction in block.instructions:
                for d, u in instruction.preferred_ties:
                    jobs.append((-block.frequency, 2, len(jobs), instruction.defs[d], instruction.uses[u]))
        jobs.sort()
        for _, _, _, definition, use in jobs:
            if self.try_merge(definition, use):
                continue
            # Parts of a tuple that is only partly free may still share a few registers: not pursued, the copy stays.

    def compounds(self) -> list[Compound]:
        """The distinct compounds, in order of their first member."""
        self._keep_apart()
        seen: dict[int, Compound] = {}
        for compound in self.compound:
            if compound is not None:
                seen.setdefault(id(compound), compound)
        return list(seen.values())

    def _keep_apart(self) -> None:
        """Tell compounds which others their registers should lie apart from."""
        for instruction in self.code.instructions():
            for (a, offset_a, _), (b, offset_b, _), modulus in instruction.apart:
                first, second = self.compound[a.index], self.compound[b.index]
                if first is None or second is None or first is second or first.file != second.file:
                    continue
                distance = self.offset[a.index] + offset_a - self.offset[b.index] - offset_b
                first.apart.append((second, distance, modulus))
                second.apart.append((first, -distance, modulus))
