"""Independent check of an allocation: every value is followed symbolically through the registers of the machine code.

Nothing here is shared with the allocator.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Set
from dataclasses import dataclass

from loom.low.code import COPY, OP, Instruction, LowCode, reverse_postorder
from loom.target.amdgpu.emit import Emitted
from loom.target.amdgpu.machine import MachineInstruction, Register

Place = tuple[str, int]
Symbol = tuple[int, int]
State = dict[Place, frozenset[Symbol]]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong: ``kind`` is ``allocation``, ``wait`` or ``hazard``."""

    kind: str
    block: str
    instruction: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: ^{self.block}: {self.instruction}: {self.message}"


def places_of(register: Register) -> Iterator[Place]:
    """The places that a register names: VCC is the scalar registers 106 and 107, and there is no place for nothing."""
    bank, index = register.bank, register.index
    if bank == "vcc":
        bank, index = "sgpr", 106 + index
    if bank in ("off", "null"):
        return
    for unit in range(max(1, register.units)):
        yield bank, index + unit


_CLASS_BANKS = {"amdgpu.scc": "scc", "amdgpu.m0": "m0", "amdgpu.exec": "exec", "amdgpu.vcc": "sgpr"}


class _Values:
    """What every place holds, and where every value is: one instruction changes few of either."""

    __slots__ = ("holders", "state")

    def __init__(self, state: State) -> None:
        self.state: State = {}
        self.holders: dict[Symbol, set[Place]] = {}
        for place, symbols in state.items():
            self.put(place, symbols)

    def at(self, place: Place) -> frozenset[Symbol]:
        """The values that a place holds."""
        return self.state.get(place, frozenset())

    def put(self, place: Place, symbols: frozenset[Symbol]) -> None:
        """Let a place hold these values and no other."""
        for symbol in self.state.pop(place, ()):
            self.holders[symbol].discard(place)
        if symbols:
            self.state[place] = symbols
            for symbol in symbols:
                self.holders.setdefault(symbol, set()).add(place)

    def holding(self, symbols: Set[Symbol]) -> set[Place]:
        """The places that hold any of the values."""
        return {place for symbol in symbols for place in self.holders.get(symbol, ())}


class AllocationChecker:
    """Follows every value of the Low code through the registers of the machine program."""

    def __init__(self, code: LowCode, emitted: Emitted) -> None:
        self.code = code
        self.emitted = emitted
        self.findings: list[Finding] = []
        self.machine = {block.label: block.instructions for block in emitted.program.blocks}

    def run(self) -> list[Finding]:
        """Check the program; returns what is wrong."""
        entry: dict[int, State] = {0: {}}
        # In reverse postorder, so that a block follows all that lead to it but for loops.
        order = [block.index for block in reverse_postorder(self.code.blocks)]
        rank = {index: k for k, index in enumerate(order)}
        work = [0]
        queued = {0}
        while work:
            index = order[heapq.heappop(work)]
            queued.discard(index)
            values = _Values(entry[index])
            self._block(index, values, False)
            state = values.state
            for successor in self.code.blocks[index].successors:
                known = entry.get(successor.index)
                if known is None:
                    entry[successor.index] = dict(state)
                else:
                    merged = {
                        place: known[place] & state[place]
                        for place in known
                        if place in state and known[place] & state[place]
                    }
                    if merged == known:
                        continue
                    entry[successor.index] = merged
                if successor.index not in queued:
                    queued.add(successor.index)
                    heapq.heappush(work, rank[successor.index])
        for index in sorted(entry):
            self._block(index, _Values(entry[index]), True)
        return self.findings

    def _block(self, index: int, state: _Values, report: bool) -> None:
        block = self.code.blocks[index]
        stream = [i for i in self.machine.get(block.label, []) if id(i) in self.emitted.source]
        at = 0
        for low in block.instructions:
            while at < len(stream) and self.emitted.source[id(stream[at])] is low:
                made = stream[at]
                at += 1
                if id(made) in self.emitted.moves:
                    self._move(made, state)
                elif low.kind == OP:
                    self._operation(block.label, low, made, state, report)
            if low.kind == COPY:
                self._copy(low, state)
            elif low.kind != OP and low.defs:
                for register, offset, units in low.defs:
                    for unit in range(units):
                        place = self._pinned(register.register_class, register.location, offset + unit)
                        if place is not None:
                            state.put(place, frozenset(((register.index, offset + unit),)))
        if report and at != len(stream):
            self._say(block.label, stream[at], "is out of the order of the Low code")

    @staticmethod
    def _pinned(register_class: str, location: int | None, unit: int) -> Place | None:
        bank = _CLASS_BANKS.get(register_class)
        if bank is not None:
            return bank, unit + (106 if register_class == "amdgpu.vcc" else 0)
        if location is None:
            return None
        return register_class.removeprefix("amdgpu."), location + unit

    def _say(self, block: str, instruction: MachineInstruction, message: str) -> None:
        self.findings.append(Finding("allocation", block, instruction.row.mnemonic, message))

    def _move(self, made: MachineInstruction, state: _Values) -> None:
        target, source = made.operands[0], made.operands[1]
        if not isinstance(target, Register):
            return
        if isinstance(source, Register):
            values = [state.at(place) for place in places_of(source)]
        else:
            values = [frozenset()] * max(1, target.units)
        for place, value in zip(places_of(target), values, strict=True):
            if place[0] != "exec":
                state.put(place, value)

    def _copy(self, low: Instruction, state: _Values) -> None:
        renamed: dict[Symbol, list[Symbol]] = {}
        dropped: set[Symbol] = set()
        for (target, d, units), (source, s, _) in zip(low.defs, low.uses, strict=True):
            for unit in range(units):
                dropped.add((target.index, d + unit))
                renamed.setdefault((source.index, s + unit), []).append((target.index, d + unit))
        for place in state.holding(dropped | renamed.keys()):
            symbols = state.at(place)
            fresh = {new for symbol in symbols for new in renamed.get(symbol, ())}
            state.put(place, (symbols - dropped) | fresh)

    def _operation(self, label: str, low: Instruction, made: MachineInstruction, state: _Values, report: bool) -> None:
        defs: list[tuple[int, Register]] = []
        uses: list[tuple[int, Register]] = []
        self._pair_operands(low.payload, made, defs, uses)
        register_of = dict(defs)
        for d, u in low.ties:
            if d in register_of:
                uses.append((u, register_of[d]))
        seen = {u for u, _ in uses}
        for number, use in enumerate(low.uses):
            bank = _CLASS_BANKS.get(use[0].register_class)
            if number not in seen and bank is not None:
                base = 106 if use[0].register_class == "amdgpu.vcc" else 0
                for unit in range(use[2]):
                    self._expect(label, made, state, (bank, base + use[1] + unit), use, unit, report)
        for number, register in uses:
            use = low.uses[number]
            for unit, place in enumerate(places_of(register)):
                self._expect(label, made, state, place, use, unit, report)
        written: State = {}
        for number, register in defs:
            definition = low.defs[number]
            for unit, place in enumerate(places_of(register)):
                written[place] = frozenset(((definition[0].index, definition[1] + unit),))
        for number, definition in enumerate(low.defs):
            bank = _CLASS_BANKS.get(definition[0].register_class)
            if number not in register_of and bank is not None:
                base = 106 if definition[0].register_class == "amdgpu.vcc" else 0
                for unit in range(definition[2]):
                    written[bank, base + unit] = frozenset(((definition[0].index, unit),))
        for name in made.row.implicit_defs:
            bank = "sgpr" if name == "vcc" else name
            for unit in range(2):
                place = (bank, unit + (106 if name == "vcc" else 0))
                if place not in written and name in ("scc", "vcc", "m0"):
                    state.put(place, frozenset())
        # A name may be written once more in a loop: older copies of it are stale.
        names = {symbol for symbols in written.values() for symbol in symbols}
        for place in state.holding(names):
            state.put(place, state.at(place) - names)
        for place, symbols in written.items():
            state.put(place, symbols)

    def _pair_operands(
        self,
        payload: object,
        made: MachineInstruction,
        defs: list[tuple[int, Register]],
        uses: list[tuple[int, Register]],
    ) -> None:
        entries = payload.operands  # type: ignore[attr-defined]
        for entry, operand in zip(entries, made.operands, strict=True):
            kind = getattr(entry, "kind", None)
            if kind is None or not isinstance(operand, Register):
                continue
            (defs if kind == 0 else uses).append((entry.index, operand))
        if made.y is not None:
            self._pair_operands(payload.y, made.y, defs, uses)  # type: ignore[attr-defined]

    def _expect(
        self,
        label: str,
        made: MachineInstruction,
        state: _Values,
        place: Place,
        use: tuple[object, int, int],
        unit: int,
        report: bool,
    ) -> None:
        register = use[0]
        index = register.index  # type: ignore[attr-defined]
        if (index, use[1] + unit) not in state.at(place) and report:
            name = getattr(register, "name", None) or index
            self._say(label, made, f"{place[0]}{place[1]} does not hold %{name} (unit {use[1] + unit})")
