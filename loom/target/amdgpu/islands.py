"""Branches that reach farther than their field: by way of islands.

A branch reaches 32,767 words. Where a target lies farther away, a branch goes to an island in reach, which branches
on; control that falls
into an island's place jumps over it. Islands stand at instruction boundaries, so no register is needed, and EXEC and
SCC stay as
they are.
"""

from __future__ import annotations

from dataclasses import replace

from loom.diagnostics import LoomError
from loom.target.amdgpu.encoder import encoder
from loom.target.amdgpu.machine import BranchTarget, MachineBlock, MachineInstruction, MachineProgram
from loom.target.amdgpu.tables import find_row

REACH = 32_767 * 4
"""Bytes that a branch's signed 16-bit word offset covers in either direction."""

SPACING = 96_000
"""Bytes between places for islands: less than the reach by what islands themselves may take."""

_ROUNDS = 16


def _sizes(program: MachineProgram) -> dict[int, int]:
    made = encoder(program.processor, program.wave_size)
    sizes: dict[int, int] = {}
    for instruction in program.instructions():
        if any(isinstance(operand, BranchTarget) for operand in instruction.operands):
            sizes[id(instruction)] = 4
        else:
            sizes[id(instruction)] = len(made.encode(instruction))
    return sizes


def _target_of(instruction: MachineInstruction) -> str | None:
    for operand in instruction.operands:
        if isinstance(operand, BranchTarget):
            return operand.label
    return None


def _retarget(instruction: MachineInstruction, label: str) -> MachineInstruction:
    operands = tuple(BranchTarget(label) if isinstance(o, BranchTarget) else o for o in instruction.operands)
    return replace(instruction, operands=operands)


def _split(program: MachineProgram, sizes: dict[int, int]) -> list[int]:
    """Split blocks so that a block begins about every :data:`SPACING` bytes; returns the indices of these blocks."""
    result: list[MachineBlock] = []
    places: list[int] = []
    since = 0
    number = 0
    for block in program.blocks:
        current = MachineBlock(block.label)
        result.append(current)
        for instruction in block.instructions:
            if since >= SPACING:
                number += 1
                current = MachineBlock(f"{block.label}_far{number}")
                result.append(current)
                places.append(len(result) - 1)
                since = 0
            current.instructions.append(instruction)
            since += sizes[id(instruction)]
    program.blocks = result
    return places


def needs_islands(failure: LoomError) -> bool:
    """Whether encoding failed because a branch does not reach its target."""
    return any(d.code == "ENCODE/006" for d in failure.diagnostics)


def insert_islands(program: MachineProgram, generation: str) -> int:
    """Give every branch that does not reach its target a way over islands; returns how many islands were made."""
    branch = find_row(generation, "s_branch")
    assert branch is not None
    sizes = _sizes(program)
    places = _split(program, sizes)
    if not places:
        return 0
    #: Islands by the label of the block they stand in front of: final target → island label.
    islands: dict[str, dict[str, str]] = {program.blocks[p].label: {} for p in places}
    made = 0
    for _ in range(_ROUNDS):
        start: dict[str, int] = {}
        position = 0
        for block in program.blocks:
            listed = islands.get(block.label)
            if listed:
                position += 4  # the jump over the islands
                for label in listed.values():
                    start[label] = position
                    position += 4
            start[block.label] = position
            position += sum(sizes[id(i)] for i in block.instructions)
        changed = False
        sources: list[tuple[int, str, MachineBlock, int]] = []
        for block in program.blocks:
            at = start[block.label]
            for index, instruction in enumerate(block.instructions):
                target = _target_of(instruction)
                if target is not None and abs(start[target] - at - 4) > REACH:
                    sources.append((at, target, block, index))
                at += sizes[id(instruction)]
        for listed in list(islands.values()):
            for target, label in list(listed.items()):
                at = start[label]
                goal = _resolved(islands, start, target, at)
                if abs(start[goal] - at - 4) > REACH:
                    made += _nearest(islands, start, target, at, made)[1]
                    changed = True
        for at, target, source, index in sources:
            label, fresh = _nearest(islands, start, target, at, made)
            made += fresh
            changed = True
            old = source.instructions[index]
            new = _retarget(old, label)
            sizes[id(new)] = 4
            source.instructions[index] = new
        if not changed:
            break
    result: list[MachineBlock] = []
    for block in program.blocks:
        listed = islands.get(block.label)
        if listed:
            result.append(
                MachineBlock(f"{block.label}_over", [MachineInstruction(branch, None, (BranchTarget(block.label),))])
            )
            for target, label in listed.items():
                goal = _resolved(islands, start, target, start.get(label, 0))
                result.append(MachineBlock(label, [MachineInstruction(branch, None, (BranchTarget(goal),))]))
        result.append(block)
    program.blocks = result
    return made


def _resolved(islands: dict[str, dict[str, str]], start: dict[str, int], target: str, at: int) -> str:
    """Where an island at ``at`` branches to: the target, or the next island for it on the way."""
    goal = start[target]
    if abs(goal - at - 4) <= REACH:
        return target
    best = target
    for listed in islands.values():
        label = listed.get(target)
        if label is None or label not in start:
            continue
        here = start[label]
        closer = abs(goal - here) < abs(goal - at)
        if closer and abs(here - at - 4) <= REACH and (best == target or abs(goal - here) < abs(goal - start[best])):
            best = label
    return best


def _nearest(
    islands: dict[str, dict[str, str]], start: dict[str, int], target: str, at: int, number: int
) -> tuple[str, int]:
    """The island for ``target`` that is nearest to it and in reach of ``at``, made if need be; and how many were
    made."""
    goal = start[target]
    best: str | None = None
    for place in islands:
        here = start[place]
        toward = abs(here - at) < REACH - 4096 and abs(goal - here) < abs(goal - at)
        if toward and (best is None or abs(goal - here) < abs(goal - start[best])):
            best = place
    assert best is not None, "islands stand closer than a branch reaches"
    known = islands[best].get(target)
    if known is not None:
        return known, 0
    label = f"{target}_island{number + 1}"
    islands[best][target] = label
    start[label] = start[best]
    return label, 1
