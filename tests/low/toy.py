"""A small register machine for tests of the target-neutral backend: random programs, and their execution before and
after allocation.

Every instruction computes a hash of its number and its operands, so a value in a wrong register changes everything
behind it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from loom.low.allocate import Allocation, copy_moves, sequentialize
from loom.low.code import (
    BRANCH,
    COPY,
    ENTRY,
    JUMP,
    OP,
    RETURN,
    CodeBlock,
    Instruction,
    LowCode,
    Ref,
    Traits,
    VirtualRegister,
)
from loom.low.interface import FileOf, Move

PLAIN = Traits(latency=3, issue="alu")
LOAD = Traits(latency=20, issue="memory", memory_space="memory", reads_memory=True)
STORE = Traits(latency=1, issue="memory", memory_space="memory", writes_memory=True)


class ToyTarget:
    """One file ``r`` of ``count`` registers; pairs are even, quads start at multiples of four."""

    def __init__(self, count: int) -> None:
        self.count = count

    def file_of(self, register_class: str) -> FileOf:
        return FileOf("flag", 0) if register_class == "toy.flag" else FileOf("r")

    def alignment(self, register_class: str, units: int) -> int:
        return {1: 1, 2: 2}.get(units, 4)

    def allocatable(self, file: str) -> Sequence[int]:
        return range(self.count) if file == "r" else ()

    def spillable(self, file: str) -> bool:
        return file == "r"

    def spill_store(self, code: LowCode, value: Ref, slot: int, at: Instruction) -> list[Instruction]:
        return [Instruction(OP, ("spill", slot), [], [value], (), Traits(side_effects=True))]

    def spill_reload(self, code: LowCode, value: Ref, slot: int, at: Instruction) -> list[Instruction]:
        return [Instruction(OP, ("reload", slot), [value], [], (), Traits(side_effects=True))]


def random_code(seed: int, length: int = 30, blocks: int = 4, ties: bool = True) -> LowCode:
    """A program of ``blocks`` basic blocks: a chain with a loop and an if, all values reachable."""
    rng = random.Random(seed)
    code = LowCode(f"random{seed}")
    made = [CodeBlock(f"b{i}") for i in range(blocks + 1)]
    code.blocks = made
    counter = 0

    def new(units: int, name: str | None = None) -> VirtualRegister:
        return code.new_register("toy.r", units, name)

    entry = [new(1), new(2)]
    made[0].instructions.append(Instruction(ENTRY, "entry", [(r, 0, r.units) for r in entry]))
    dominating: list[VirtualRegister] = list(entry)
    parameters_of: list[list[VirtualRegister]] = []
    for block in made:
        parameters: list[VirtualRegister] = []
        if block is not made[0]:
            parameters = [new(rng.choice((1, 1, 2, 4))) for _ in range(rng.randint(0, 3))]
            block.parameters = parameters
        parameters_of.append(parameters)

    def pick(pool: list[VirtualRegister], units: int) -> Ref | None:
        fits = [r for r in pool if r.units >= units]
        if not fits:
            return None
        register = rng.choice(fits)
        return register, rng.randint(0, register.units - units), units

    for number, block in enumerate(made):
        pool = dominating + block.parameters
        for _ in range(length):
            counter += 1
            kind = rng.random()
            if kind < 0.15:
                parts = [pick(pool, 1), pick(pool, 1)] if rng.random() < 0.6 else [pick(pool, 2), pick(pool, 2)]
                if any(p is None for p in parts):
                    continue
                units = sum(p[2] for p in parts if p)
                whole = new(units)
                at = 0
                defs: list[Ref] = []
                for part in parts:
                    assert part is not None
                    defs.append((whole, at, part[2]))
                    at += part[2]
                block.instructions.append(Instruction(COPY, "concat", defs, [p for p in parts if p]))
                pool.append(whole)
                continue
            uses = [p for p in (pick(pool, rng.choice((1, 1, 2))) for _ in range(rng.randint(1, 3))) if p]
            result = new(rng.choice((1, 1, 1, 2, 4)))
            tied: tuple[tuple[int, int], ...] = ()
            if ties and uses and rng.random() < 0.3 and result.units == uses[0][2]:
                tied = ((0, 0),)
            made_op = Instruction(OP, counter, [(result, 0, result.units)], uses, tied, PLAIN)
            block.instructions.append(made_op)
            pool.append(result)
        if number == len(made) - 1:
            kept = [(r, 0, r.units) for r in pool[-6:]]
            block.instructions.append(Instruction(OP, "observe", [], kept, (), Traits(side_effects=True)))
            block.instructions.append(Instruction(RETURN, "return"))
            break
        following = made[number + 1]
        loop_back = number > 0 and rng.random() < 0.5
        if loop_back:
            # b → (edge to itself) or (edge on): both edges are blocks of their own.
            back, on = CodeBlock(f"back{number}"), CodeBlock(f"on{number}")
            flag = code.new_register("toy.flag", 1)
            block.instructions.append(
                Instruction(OP, ("flag", number), [(flag, 0, 1)], [], (), Traits(state_defs=("flag",)))
            )
            block.instructions.append(Instruction(BRANCH, "flag", [], [(flag, 0, 1)], targets=(back, on)))
            _edge(back, block, pool, pick)
            _edge(on, following, pool, pick)
            code.blocks = [b for b in code.blocks if b not in (back, on)]
            at_index = code.blocks.index(block)
            code.blocks[at_index + 1 : at_index + 1] = [back, on]
        else:
            _edge(block, following, pool, pick)
        dominating = pool
    code.link()
    return code


def _edge(block: CodeBlock, target: CodeBlock, pool: list[VirtualRegister], pick) -> None:  # type: ignore[no-untyped-def]
    if target.parameters:
        uses = []
        defs = []
        for parameter in target.parameters:
            ref = pick(pool, parameter.units)
            if ref is None:
                # Nothing is wide enough: pass the parts of something narrow.
                for unit in range(parameter.units):
                    part = pick(pool, 1)
                    defs.append((parameter, unit, 1))
                    uses.append(part)
                continue
            defs.append((parameter, 0, parameter.units))
            uses.append(ref)
        block.instructions.append(Instruction(COPY, "branch", defs, uses))
    block.instructions.append(Instruction(JUMP, "jump", targets=(target,)))


LOOPS = 2
"""Times each loop is entered again."""


def run_values(code: LowCode) -> list[object]:
    """Observations of a program, run on values."""
    values: dict[tuple[int, int], object] = {}

    def read(ref: Ref) -> tuple[object, ...]:
        register, offset, units = ref
        return tuple(values[register.index, offset + unit] for unit in range(units))

    def write(ref: Ref, content: Sequence[object]) -> None:
        register, offset, units = ref
        for unit in range(units):
            values[register.index, offset + unit] = content[unit]

    return _run(code, read, write, None)


def run_registers(code: LowCode, allocation: Allocation, target: ToyTarget) -> list[object]:
    """Observations of an allocated program, run on physical registers and memory."""
    registers: dict[int, object] = {}

    def read(ref: Ref) -> tuple[object, ...]:
        register, offset, units = ref
        place = allocation.location[register.index] + offset
        return tuple(registers[place + unit] for unit in range(units))

    def write(ref: Ref, content: Sequence[object]) -> None:
        register, offset, units = ref
        if allocation.file[register.index] != "r":
            return
        place = allocation.location[register.index] + offset
        assert place + units <= target.count, "a register beyond the file"
        assert place % target.alignment(register.register_class, register.units) == offset % max(
            1, target.alignment(register.register_class, register.units)
        ), "a misaligned tuple"
        for unit in range(units):
            registers[place + unit] = content[unit]

    return _run(code, read, write, (allocation, registers, target))


def _run(code, read, write, allocated) -> list[object]:  # type: ignore[no-untyped-def]
    block = code.blocks[0]
    observed: list[object] = []
    memory: dict[int, object] = {}
    entered: dict[str, int] = {}

    def moves(listed: Sequence[Move], position: int) -> None:
        allocation, registers, target = allocated

        def scratch(file: str) -> int:
            found = allocation.free_register(file, position, list(target.allocatable(file)))
            assert found >= 0, "no register to break a cycle with"
            return int(found)

        for move in sequentialize(listed, scratch):
            registers[move.target] = registers[move.source]

    while True:
        for instruction in block.instructions:
            if allocated is not None:
                allocation = allocated[0]
                listed = []
                for copy in allocation.tie_copies.get(instruction.position, ()):
                    source = allocation.location[copy.source[0].index] + copy.source[1]
                    place = allocation.location[copy.temporary.index]
                    listed.extend(Move("r", place + u, source + u) for u in range(copy.source[2]))
                if listed:
                    moves(listed, instruction.position)
            if instruction.kind == ENTRY:
                for n, ref in enumerate(instruction.defs):
                    write(ref, [("entry", n, unit) for unit in range(ref[2])])
            elif instruction.kind == COPY:
                if allocated is None:
                    contents = [read(use) for use in instruction.uses]
                    for definition, content in zip(instruction.defs, contents, strict=True):
                        write(definition, content)
                else:
                    moves(copy_moves(allocated[0], instruction), instruction.position)
            elif instruction.kind == OP:
                payload = instruction.payload
                if payload == "observe":
                    observed.append(tuple(read(use) for use in instruction.uses))
                elif isinstance(payload, tuple) and payload[0] == "spill":
                    for unit, value in enumerate(read(instruction.uses[0])):
                        memory[payload[1] + unit] = value
                elif isinstance(payload, tuple) and payload[0] == "reload":
                    ref = instruction.defs[0]
                    write(ref, [memory[payload[1] + unit] for unit in range(ref[2])])
                else:
                    term = hash((payload, tuple(read(use) for use in instruction.uses)))
                    if allocated is not None:
                        for d, u in instruction.ties:
                            allocation = allocated[0]
                            listed_copies = allocation.tie_copies.get(instruction.position, ())
                            target_place = allocation.location[instruction.defs[d][0].index] + instruction.defs[d][1]
                            if not any(c.use == u for c in listed_copies):
                                use = instruction.uses[u]
                                assert allocation.location[use[0].index] + use[1] == target_place, "an unsatisfied tie"
                    for ref in instruction.defs:
                        write(ref, [(term, unit) for unit in range(ref[2])])
            elif instruction.kind == JUMP:
                block = instruction.targets[0]
                break
            elif instruction.kind == BRANCH:
                count = entered.get(block.label, 0)
                entered[block.label] = count + 1
                block = instruction.targets[0] if count < LOOPS else instruction.targets[1]
                break
            elif instruction.kind == RETURN:
                return observed
