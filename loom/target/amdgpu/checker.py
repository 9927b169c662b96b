"""Independent check of a final machine program: hazards, and the meaning of pairs.

Nothing here is shared with the hazard walk or the pairing: hazards are searched backwards from each instruction, blocks
are run symbolically before and after pairing. Values and waits: :mod:`check_allocation`, :mod:`check_waits`.
"""

from __future__ import annotations

from collections.abc import Set

from loom.target.amdgpu.check_allocation import Finding, Place, places_of
from loom.target.amdgpu.check_wait_states import wait_state_problems
from loom.target.amdgpu.check_waits import flow_of
from loom.target.amdgpu.machine import Immediate, MachineInstruction, MachineProgram, Register
from loom.target.amdgpu.processors import processor

# Hazards


def check_hazards(program: MachineProgram, generation: str) -> list[Finding]:
    """Search backwards from every vector instruction for a transcendental or WMMA result that comes too close; on
    gfx9.4 for whatever is issued too close behind what it depends on."""
    if generation == "gfx9.4":
        names = processor(program.processor).members or (program.processor,)
        return [Finding("hazard", *problem) for problem in wait_state_problems(program, names)]
    flow = flow_of(program)
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
            return tuple(state.get(place, place) for place in places_of(operand))
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
                    old = tuple(state.get(place, place) for place in places_of(operand))
                    results.append(
                        (
                            operand,
                            (term, slot.name.replace("vsrc", "src"), old if "exec" in half.row.implicit_uses else None),
                        )
                    )
            for state_name in half.row.implicit_defs:
                state[(state_name, 0) if state_name != "vcc" else ("sgpr", 106)] = (term, state_name)
        for register, value in results:
            for unit, place in enumerate(places_of(register)):
                state[place] = number((value, unit))
    return state, effects
