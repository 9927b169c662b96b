"""Independent check of a final machine program: values, waits, hazards.

Nothing here is shared with the allocator, the wait analysis or the hazard walk: values are followed symbolically
through the machine code,
outstanding operations are kept one by one, hazards are searched backwards from each instruction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from loom.low.code import COPY, OP, Instruction, LowCode
from loom.target.amdgpu.check_wait_states import wait_state_problems
from loom.target.amdgpu.emit import Emitted
from loom.target.amdgpu.machine import BranchTarget, Immediate, MachineInstruction, MachineProgram, Register
from loom.target.amdgpu.processors import processor

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


def _places(register: Register) -> Iterator[Place]:
    bank, index = register.bank, register.index
    if bank == "vcc":
        bank, index = "sgpr", 106 + index
    if bank in ("off", "null"):
        return
    for unit in range(max(1, register.units)):
        yield bank, index + unit


_CLASS_BANKS = {"amdgpu.scc": "scc", "amdgpu.m0": "m0", "amdgpu.exec": "exec", "amdgpu.vcc": "sgpr"}


class AllocationChecker:
    """Follows every value of the Low code through the registers of the machine program."""

    def __init__(self, code: LowCode, emitted: Emitted) -> None:
        self.code = code
        self.emitted = emitted
        self.findings: list[Finding] = []
        self.machine = {block.label: block.instructions for block in emitted.program.blocks}
        self.wave_units = emitted.program.wave_size // 32

    def run(self) -> list[Finding]:
        """Check the program; returns what is wrong."""
        entry: dict[int, State] = {0: {}}
        work = [0]
        while work:
            index = work.pop(0)
            state = dict(entry[index])
            self._block(index, state, False)
            for successor in self.code.blocks[index].successors:
                known = entry.get(successor.index)
                if known is None:
                    entry[successor.index] = dict(state)
                    work.append(successor.index)
                    continue
                merged = {
                    place: known[place] & state[place]
                    for place in known
                    if place in state and known[place] & state[place]
                }
                if merged != known:
                    entry[successor.index] = merged
                    work.append(successor.index)
        for index in sorted(entry):
            self._block(index, dict(entry[index]), True)
        return self.findings

    def _block(self, index: int, state: State, report: bool) -> None:
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
                            state[place] = frozenset(((register.index, offset + unit),))
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

    def _move(self, made: MachineInstruction, state: State) -> None:
        target, source = made.operands[0], made.operands[1]
        if not isinstance(target, Register):
            return
        if isinstance(source, Register):
            values = [state.get(place, frozenset()) for place in _places(source)]
        else:
            values = [frozenset()] * max(1, target.units)
        for place, value in zip(_places(target), values, strict=True):
            if place[0] != "exec":
                state[place] = value

    def _copy(self, low: Instruction, state: State) -> None:
        renamed: dict[Symbol, list[Symbol]] = {}
        dropped: set[Symbol] = set()
        for (target, d, units), (source, s, _) in zip(low.defs, low.uses, strict=True):
            for unit in range(units):
                dropped.add((target.index, d + unit))
                renamed.setdefault((source.index, s + unit), []).append((target.index, d + unit))
        for place, symbols in list(state.items()):
            fresh = {new for symbol in symbols for new in renamed.get(symbol, ())}
            if fresh or symbols & dropped:
                state[place] = (symbols - dropped) | fresh

    def _operation(self, label: str, low: Instruction, made: MachineInstruction, state: State, report: bool) -> None:
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
            for unit, place in enumerate(_places(register)):
                self._expect(label, made, state, place, use, unit, report)
        written: State = {}
        for number, register in defs:
            definition = low.defs[number]
            for unit, place in enumerate(_places(register)):
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
                    state.pop(place, None)
        # A name may be written once more in a loop: older copies of it are stale.
        names = {symbol for symbols in written.values() for symbol in symbols}
        for place, symbols in list(state.items()):
            if symbols & names:
                state[place] = symbols - names
        state.update(written)

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
        state: State,
        place: Place,
        use: tuple[object, int, int],
        unit: int,
        report: bool,
    ) -> None:
        register = use[0]
        index = register.index  # type: ignore[attr-defined]
        if (index, use[1] + unit) not in state.get(place, frozenset()) and report:
            name = getattr(register, "name", None) or index
            self._say(label, made, f"{place[0]}{place[1]} does not hold %{name} (unit {use[1] + unit})")


# Waits

_HALVES = ("vgpr", "vgpr.hi")
"""Banks under which the lower and upper halves of vector registers are kept apart."""


def _parts(instruction: MachineInstruction, slot: str, register: Register) -> Iterator[Place]:
    """What an operand stands for where waits are concerned: both halves of vector registers, or, for the data of a
    16-bit or shorter memory instruction of gfx11 and gfx12, the one half that it moves."""
    row = instruction.row
    memory = row.memory
    chosen: tuple[str, ...] = _HALVES
    if memory is not None and memory.bytes <= 2 and row.generation != "gfx9.4" and "format" not in row.mnemonic:
        loads = memory.kind == "load" and "_d16" in row.mnemonic and slot == memory.result
        if loads or (memory.kind == "store" and slot in memory.data):
            chosen = (_HALVES["_d16_hi" in row.mnemonic],)
    for bank, index in _places(register):
        if bank != "vgpr":
            yield bank, index
        else:
            for half in chosen:
                yield half, index


def _wait_values(instruction: MachineInstruction, generation: str) -> dict[str, int]:
    name = instruction.row.mnemonic
    number = next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0)
    if name == "s_waitcnt":
        if generation == "gfx9.4":
            return {
                "vmcnt": (number & 15) + (number >> 14 << 4),
                "lgkmcnt": number >> 8 & 15,
                "expcnt": number >> 4 & 7,
            }
        return {"vmcnt": number >> 10, "lgkmcnt": number >> 4 & 63, "expcnt": number & 7}
    if name in ("s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt"):
        return {name[7:].split("_", 1)[0]: number >> 8, "dscnt": number & 63}
    if name.startswith("s_waitcnt_") and name != "s_waitcnt_depctr":
        return {name[10:]: number}
    if name.startswith("s_wait_") and name.endswith("cnt"):
        return {name[7:]: number}
    return {}


def _flow(program: MachineProgram) -> list[list[int]]:
    names = [block.label for block in program.blocks]
    result = []
    for i, block in enumerate(program.blocks):
        out = []
        last = block.instructions[-1].row.mnemonic if block.instructions else ""
        for instruction in block.instructions:
            for operand in instruction.operands:
                if isinstance(operand, BranchTarget) and operand.label in names:
                    out.append(names.index(operand.label))
        if last not in ("s_endpgm", "s_branch", "s_setpc_b64") and i + 1 < len(names):
            out.append(i + 1)
        result.append(out)
    return result


def check_waits(
    program: MachineProgram, generation: str, barrier_memory: Mapping[int, str] | None = None
) -> list[Finding]:
    """Every register that an outstanding operation writes is waited for before it is touched; every barrier covers
    the stores."""
    barrier_memory = barrier_memory or {}
    findings: dict[tuple[str, int], Finding] = {}
    flow = _flow(program)
    # token: (number of the instruction, counter) → youngest age: operations of the counter issued behind it.
    entry: dict[int, dict[tuple[int, str], int]] = {0: {}}
    numbered: list[tuple[MachineInstruction, int]] = []
    base: list[int] = []
    for i, block in enumerate(program.blocks):
        base.append(len(numbered))
        numbered.extend((instruction, i) for instruction in block.instructions)
    details: dict[int, tuple[frozenset[Place], str]] = {}

    def describe(number: int) -> tuple[frozenset[Place], str]:
        found = details.get(number)
        if found is None:
            instruction = numbered[number][0]
            memory = instruction.row.memory
            written: set[Place] = set()
            if memory is None or memory.kind in ("load", "atomic"):
                for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True):
                    if slot.is_def and isinstance(operand, Register):
                        written.update(_parts(instruction, slot.name, operand))
            kind = memory.space if memory is not None else instruction.row.issue_class
            found = details[number] = (frozenset(written), kind)
        return found

    def step(index: int, tokens: dict[tuple[int, str], int]) -> dict[tuple[int, str], int]:
        for offset, instruction in enumerate(program.blocks[index].instructions):
            number = base[index] + offset
            waits = _wait_values(instruction, generation)
            if waits:
                for counter, value in waits.items():
                    mine = [token for token in tokens if token[1] == counter]
                    ordered = _keeps_order(generation, counter, {describe(n)[1] for n, _ in mine})
                    for token in mine:
                        if value == 0 or (ordered and tokens[token] >= value):
                            del tokens[token]
                continue
            name = instruction.row.mnemonic
            touched: set[Place] = set()
            for half in (instruction, instruction.y):
                if half is not None:
                    for slot, operand in zip(half.row.slots, half.operands, strict=True):
                        if isinstance(operand, Register):
                            touched.update(_parts(half, slot.name, operand))
                    if "vcc" in half.row.implicit_uses or "vcc" in half.row.implicit_defs:
                        touched.update((("sgpr", 106), ("sgpr", 107)))
            for producer, counter in tokens:
                hit = describe(producer)[0] & touched
                if hit and counter not in ("vscnt", "storecnt", "expcnt"):
                    bank, at = sorted(hit)[0]
                    register = f"{bank.partition('.')[0]}{at}"
                    findings.setdefault(
                        (name, number),
                        Finding(
                            "wait",
                            program.blocks[index].label,
                            str(name),
                            f"{register} is used while {numbered[producer][0].row.mnemonic} is under way ({counter})",
                        ),
                    )
            if name == "s_barrier" or name.startswith("s_barrier_signal"):
                wanted = barrier_memory.get(id(instruction))
                for producer, counter in tokens:
                    memory = numbered[producer][0].row.memory
                    if memory is None or memory.kind == "cache":
                        continue
                    lds = memory.space == "lds"
                    store = counter in ("vscnt", "storecnt")
                    if (lds and wanted != "global") or (store and wanted != "workgroup"):
                        findings.setdefault(
                            (name, number),
                            Finding(
                                "wait",
                                program.blocks[index].label,
                                name,
                                f"{numbered[producer][0].row.mnemonic} is under way at the barrier ({counter})",
                            ),
                        )
            raised = _raised(instruction)
            for counter in raised:
                for token in tokens:
                    if token[1] == counter:
                        tokens[token] += 1
                tokens[number, counter] = 0
        return tokens

    work = [0]
    while work:
        index = work.pop()
        out = step(index, dict(entry[index]))
        for successor in flow[index]:
            known = entry.get(successor)
            merged = dict(out) if known is None else dict(known)
            if known is not None:
                for token, age in out.items():
                    if token not in merged or merged[token] > age:
                        merged[token] = age
            capped = {token: min(age, 64) for token, age in merged.items()}
            if capped != known:
                entry[successor] = capped
                work.append(successor)
    return list(findings.values())


def _keeps_order(generation: str, counter: str, kinds: set[str]) -> bool:
    if kinds & {"constant", "message"} or ("flat" in kinds and generation == "gfx9.4"):
        return False
    own = "lds" if counter in ("lgkmcnt", "dscnt") else "vmem"
    shared = ("flat", "global", "buffer", "scratch") if own == "vmem" else ("flat", "lds")
    return len({own if kind in shared else kind for kind in kinds}) <= 1


def _raised(instruction: MachineInstruction) -> tuple[str, ...]:
    row = instruction.row
    memory = row.memory
    if memory is not None and memory.kind == "atomic" and memory.space in ("global", "buffer", "flat", "scratch"):
        modifiers = instruction.modifiers
        returning = bool(modifiers.get("glc") or modifiers.get("sc0") or modifiers.get("th", 0) & 1)
        unwanted = ("vscnt", "storecnt") if returning else ("vmcnt", "loadcnt")
        left = tuple(c for c in row.counters if c not in unwanted)
        return left or row.counters
    return row.counters


# Hazards


def check_hazards(program: MachineProgram, generation: str) -> list[Finding]:
    """Search backwards from every vector instruction for a transcendental or WMMA result that comes too close; on
    gfx9.4 for whatever is issued too close behind what it depends on."""
    if generation == "gfx9.4":
        names = processor(program.processor).members or (program.processor,)
        return [Finding("hazard", *problem) for problem in wait_state_problems(program, names)]
    flow = _flow(program)
    before: list[list[int]] = [[] for _ in program.blocks]
    for i, targets in enumerate(flow):
        for target in targets:
            before[target].append(i)
    findings: list[Finding] = []
    if generation == "gfx12":
        findings.extend(_check_scalar_reads(program, flow))
    if generation == "gfx11" and program.wave_size == 64:
        findings.extend(_check_forwarding(program, before))
    trans_matters = generation == "gfx11" and not program.processor.startswith("gfx115")
    if not any(i.row.issue_class in ("trans", "matrix") for i in program.instructions()):
        return findings
    for b, block in enumerate(program.blocks):
        for position, instruction in enumerate(block.instructions):
            if instruction.row.issue_class not in ("valu", "trans", "matrix", "dual"):
                continue
            sources = _vector_sources(instruction)
            matrix = instruction.row.mnemonic.startswith(("v_wmma", "v_swmmac"))
            if not sources:
                continue
            stack = [(b, position - 1, 0, 0)]
            seen: set[tuple[int, int, int]] = set()
            while stack:
                index, at, valus, others = stack.pop()
                ended = False
                while at >= 0:
                    earlier = program.blocks[index].instructions[at]
                    at -= 1
                    if valus > 5 or others > 1 or _vector_idle(earlier):
                        ended = True
                        break
                    kind = earlier.row.issue_class
                    if kind not in ("valu", "trans", "matrix", "dual"):
                        continue
                    written = _vector_results(earlier)
                    if kind == "trans" and trans_matters and written & sources:
                        findings.append(
                            Finding(
                                "hazard",
                                block.label,
                                instruction.row.mnemonic,
                                f"uses the result of {earlier.row.mnemonic} too early",
                            )
                        )
                        ended = True
                        break
                    if matrix and valus == 0 and earlier.row.mnemonic.startswith(("v_wmma", "v_swmmac")):
                        a_and_b: set[int] = set()
                        for name in ("src0", "src1"):
                            operand = instruction.operand(name)
                            if isinstance(operand, Register) and operand.bank == "vgpr":
                                a_and_b.update(_half_numbers(operand, "b32"))
                        if a_and_b & written:
                            findings.append(
                                Finding(
                                    "hazard",
                                    block.label,
                                    instruction.row.mnemonic,
                                    "multiplies the result of the WMMA in front",
                                )
                            )
                    valus += 1
                    others += kind == "trans"
                if not ended:
                    for previous in before[index]:
                        key = (previous, valus, others)
                        if key not in seen:
                            seen.add(key)
                            stack.append((previous, len(program.blocks[previous].instructions) - 1, valus, others))
    return findings


def _check_scalar_reads(program: MachineProgram, flow: list[list[int]]) -> list[Finding]:
    """gfx12: follow every scalar register that vector instructions read and something writes through its conditions:
    unread, read by a vector instruction, written again by a scalar or by a vector instruction."""
    roles: dict[int, list[tuple[set[int], set[int]]]] = {}
    read_anywhere: set[int] = set()
    written_anywhere: set[int] = set()
    for block in program.blocks:
        for instruction in block.instructions:
            uses, defs = _scalar_numbers(instruction)
            roles.setdefault(id(block), []).append((uses, defs))
            if instruction.row.issue_class in ("valu", "trans", "matrix", "dual"):
                read_anywhere.update(number ^ other for number in uses for other in (0, 1))
            written_anywhere.update(defs)
    findings: list[Finding] = []
    for number in sorted(read_anywhere & written_anywhere):
        entry: list[set[str]] = [set() for _ in program.blocks]
        entry[0] = {"unread"}
        work = [0]
        reported: set[tuple[int, int]] = set()
        while work:
            index = work.pop()
            block = program.blocks[index]
            conditions = set(entry[index])
            for position, instruction in enumerate(block.instructions):
                uses, defs = roles[id(block)][position]
                kind = instruction.row.issue_class
                vector = kind in ("valu", "trans", "matrix", "dual")
                memory = instruction.row.memory
                cleared: set[str] = set()
                if instruction.row.mnemonic == "s_wait_alu":
                    value = next((o.value for o in instruction.operands if isinstance(o, Immediate)), -1)
                    cleared |= {"scalar"} if not value & 1 else set()
                    cleared |= {"vector"} if not value & (2 if number in (106, 107) else 0x0E00) else set()
                elif kind == "smem" or (memory is not None and memory.space == "buffer"):
                    cleared = {"scalar", "vector"}
                elif not vector and uses:
                    cleared = {"vector"}
                if conditions & cleared:
                    conditions = (conditions - cleared) | {"read"}
                if kind in ("smem", "vmem", "lds", "wait"):
                    continue
                late = conditions & ({"scalar", "vector"} if vector else {"scalar"})
                if number in uses and late and (index, position) not in reported:
                    reported.add((index, position))
                    text = f"reads scalar register {number} without waiting for its last write"
                    findings.append(Finding("hazard", block.label, instruction.row.mnemonic, text))
                if vector and (number in uses or number ^ 1 in uses) and "unread" in conditions:
                    conditions = (conditions - {"unread"}) | {"read"}
                if number in defs and conditions - {"unread"}:
                    conditions = (conditions & {"unread"}) | {"vector" if vector else "scalar"}
            for successor in flow[index]:
                if not conditions <= entry[successor]:
                    entry[successor] |= conditions
                    work.append(successor)
    return findings


def _scalar_numbers(instruction: MachineInstruction) -> tuple[set[int], set[int]]:
    """Numbers of the scalar registers that an instruction reads and writes; VCC is 106 and 107."""
    uses: set[int] = set()
    defs: set[int] = set()
    for half in (instruction, instruction.y):
        if half is None:
            continue
        uses.update((106, 107) if "vcc" in half.row.implicit_uses else ())
        defs.update((106, 107) if "vcc" in half.row.implicit_defs else ())
        for slot, operand in zip(half.row.slots, half.operands, strict=True):
            if not isinstance(operand, Register) or operand.bank not in ("sgpr", "vcc"):
                continue
            first = operand.index + (106 if operand.bank == "vcc" else 0)
            numbers = set(range(first, first + max(1, operand.units)))
            if numbers & {106, 107}:
                numbers |= {106, 107}
            uses.update(numbers if slot.is_use else ())
            defs.update(numbers if slot.is_def else ())
    return uses, defs


_Search = tuple[int, int, int, frozenset[tuple[int, int]], int, bool]
"""Block, position, VALUs passed, sources not met yet, place of a met source, whether EXEC is written in front of it."""


def _check_forwarding(program: MachineProgram, before: list[list[int]]) -> list[Finding]:
    """Search backwards for two sources of a vector instruction written on either side of a scalar write of EXEC."""
    findings: list[Finding] = []
    changes = {
        id(i)
        for i in program.instructions()
        if i.row.issue_class == "salu"
        and (
            "exec" in i.row.implicit_defs
            or any(
                s.is_def and isinstance(o, Register) and o.bank == "exec"
                for s, o in zip(i.row.slots, i.operands, strict=True)
            )
        )
    }
    if not changes:
        return findings
    for b, block in enumerate(program.blocks):
        for position, instruction in enumerate(block.instructions):
            if instruction.row.issue_class not in ("valu", "trans", "matrix"):
                continue
            sources = frozenset(
                (o.index, o.units)
                for s, o in zip(instruction.row.slots, instruction.operands, strict=True)
                if s.is_use and isinstance(o, Register) and o.bank == "vgpr"
            )
            if len(sources) < 2:
                continue
            start: tuple[int, int, int, frozenset[tuple[int, int]], int, bool] = (
                b,
                position - 1,
                0,
                sources,
                -1,
                False,
            )
            stack = [start]
            seen = {start}
            while stack:
                index, at, passed, open_sources, late, crossed = stack.pop()
                ended = False
                while at >= 0 and not ended:
                    earlier = program.blocks[index].instructions[at]
                    at -= 1
                    if _vector_idle(earlier) or passed > 7 or (late < 0 and passed > 4):
                        ended = True
                    elif id(earlier) in changes:
                        crossed = crossed or late >= 0
                    elif earlier.row.issue_class in ("valu", "trans", "matrix"):
                        written = {half // 2 for half in _vector_results(earlier)}
                        met = frozenset(x for x in open_sources if not written.isdisjoint(range(x[0], x[0] + x[1])))
                        if met and crossed and passed - late - 1 <= 2:
                            findings.append(
                                Finding(
                                    "hazard",
                                    block.label,
                                    instruction.row.mnemonic,
                                    "reads results from both sides of a write of EXEC",
                                )
                            )
                            stack.clear()
                            ended = True
                        elif met:
                            open_sources -= met
                            if not crossed:
                                late = passed
                        passed += 1
                if not ended:
                    for previous in before[index]:
                        last = len(program.blocks[previous].instructions) - 1
                        key = (previous, last, passed, open_sources, late, crossed)
                        if key not in seen:
                            seen.add(key)
                            stack.append(key)
    return findings


def _vector_idle(instruction: MachineInstruction) -> bool:
    memory = instruction.row.memory
    if memory is not None and memory.space != "constant":
        return True
    if instruction.row.mnemonic == "s_waitcnt_depctr":
        return all(o.value >> 12 == 0 for o in instruction.operands if isinstance(o, Immediate))
    return False


def _vector_sources(instruction: MachineInstruction) -> set[int]:
    found: set[int] = set()
    for half in (instruction, instruction.y):
        if half is None:
            continue
        for slot, operand in zip(half.row.slots, half.operands, strict=True):
            if slot.is_use and isinstance(operand, Register) and operand.bank == "vgpr":
                found.update(_half_numbers(operand, slot.type))
    return found


def _vector_results(instruction: MachineInstruction) -> set[int]:
    found: set[int] = set()
    for half in (instruction, instruction.y):
        if half is None:
            continue
        for slot, operand in zip(half.row.slots, half.operands, strict=True):
            if slot.is_def and isinstance(operand, Register) and operand.bank == "vgpr":
                found.update(_half_numbers(operand, slot.type))
    return found


def _half_numbers(register: Register, kind: str) -> range:
    """Both halves of every register of a tuple, or the one half that a 16-bit operand names (the lower one unless
    told)."""
    if register.half is not None or kind in ("f16", "bf16", "i16", "u16", "b16"):
        number = 2 * register.index + (register.half or 0)
        return range(number, number + 1)
    return range(2 * register.index, 2 * (register.index + register.units))


# Dual issue


def check_pairs(
    before: list[list[MachineInstruction]], after: list[list[MachineInstruction]], spare: Set[int] = frozenset()
) -> list[Finding]:
    """Whether merging instructions into pairs, and taking pairs apart, kept every block's meaning; what becomes of the
    ``spare`` VGPRs, which hold nothing, does not count.

    Both versions of a block are run symbolically, each instruction an unknown function of what it reads; registers
    at the end
    and the sequence of instructions that are not plain vector arithmetic must agree.
    """
    findings = []
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        numbers: dict[object, int] = {}
        states = []
        for version in (old, new):
            state, effects = _symbolic(version, numbers, spare)
            kept = {place: value for place, value in state.items() if place[0] != "vgpr" or place[1] not in spare}
            states.append((kept, effects))
        if states[0] != states[1]:
            findings.append(Finding("allocation", str(number), "v_dual", "pairing changed the meaning of the block"))
    return findings


_SYMMETRIC = frozenset(("fmac_f32", "fmac_f16", "mul_f32", "add_f32", "max_f32", "min_f32", "add_nc_u32", "and_b32"))


def _symbolic(
    block: list[MachineInstruction], numbers: dict[object, int], spare: Set[int]
) -> tuple[dict[Place, object], list[object]]:
    state: dict[Place, object] = {}
    effects: list[object] = []

    def number(term: object) -> int:
        return numbers.setdefault(term, len(numbers))

    def read(operand: object) -> object:
        if isinstance(operand, Register):
            return tuple(state.get(place, place) for place in _places(operand))
        return operand

    for instruction in block:
        target = instruction.operands[0] if instruction.row.mnemonic == "v_mov_b32" else None
        if isinstance(target, Register) and target.bank == "vgpr" and target.index in spare:
            # A copy aside, for the instructions right behind it under the same EXEC: another name of the value.
            [state[target.bank, target.index]] = read(instruction.operands[1])  # type: ignore[misc]
            continue
        halves = [instruction] if instruction.y is None else [instruction, instruction.y]
        results: list[tuple[Register, object]] = []
        for half in halves:
            name = half.row.mnemonic.removeprefix("v_").removeprefix("dual_")
            values = []
            for slot, operand in zip(half.row.slots, half.operands, strict=True):
                if slot.is_use and not slot.is_def:
                    values.append(read(operand))
                elif slot.is_use:
                    values.insert(0, ("old", read(operand)))
            uses = half.row.implicit_uses
            if name == "cndmask_b32" and "vcc" in uses:
                # The dual form reads VCC without naming it.
                values.append((state.get(("sgpr", 106), ("sgpr", 106)),))
                uses = tuple(u for u in uses if u != "vcc")
            if name in ("fma_f32", "fma_f16") and not half.modifiers:
                name = name.replace("fma", "fmac")
                values = [("old", values[2]), values[0], values[1]]
            if name in _SYMMETRIC:
                values.sort(key=repr)
            implicit = tuple(
                state.get(place, place)
                for state_name in uses
                for place in ((("sgpr", 106),) if state_name == "vcc" else ((state_name, 0),))
            )
            modifiers = tuple(sorted(half.modifiers.items()))
            term = number((name, tuple(values), implicit, modifiers))
            plain = half.row.issue_class in ("valu", "dual") and half.row.memory is None
            if not plain:
                effects.append(term)
            for slot, operand in zip(half.row.slots, half.operands, strict=True):
                if slot.is_def and isinstance(operand, Register):
                    old = tuple(state.get(place, place) for place in _places(operand))
                    results.append(
                        (
                            operand,
                            (term, slot.name.replace("vsrc", "src"), old if "exec" in half.row.implicit_uses else None),
                        )
                    )
            for state_name in half.row.implicit_defs:
                state[(state_name, 0) if state_name != "vcc" else ("sgpr", 106)] = (term, state_name)
        for register, value in results:
            for unit, place in enumerate(_places(register)):
                state[place] = number((value, unit))
    return state, effects
