"""Control flow between the blocks of a kernel, as the checks of the final code walk it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator.jumps import goes_anywhere, jump_targets, register_target, target_of

_ENDS = frozenset(
    ("s_branch", "s_endpgm", "s_endpgm_saved", "s_setpc_b64", "s_swappc_b64", "s_call_b64", "s_code_end", "s_trap")
)
CALLS = frozenset(("s_swappc_b64", "s_call_b64"))
_JUMPS = frozenset((*CALLS, "s_setpc_b64", "s_endpgm", "s_code_end"))


def block_successors(
    code: Sequence[MachineInstruction], blocks: Sequence[tuple[int, int]], entries: Sequence[int] = ()
) -> list[list[int]]:
    """For each block the blocks that control may reach next; a call, or a jump to an unknown address, may reach every
    entry but the kernel's own.

    Args:
        code: Instructions by ascending ``pc``.
        blocks: Ranges of instruction numbers.
        entries: Byte offsets where control may enter, the kernel's first.
    """
    block_at = {code[first].pc: number for number, (first, _) in enumerate(blocks)}
    called = [block_at[entry] for entry in tuple(entries)[1:] if entry in block_at]
    jumps = jump_targets(code)
    result: list[list[int]] = []
    for number, (_, last) in enumerate(blocks):
        instruction = code[last - 1]
        name = instruction.row.mnemonic
        target = jumps.get(last - 1, target_of(instruction))
        found = [block_at[target]] if target is not None and target in block_at else []
        if name in CALLS or (name == "s_setpc_b64" and target is None and goes_anywhere(code, last - 1)):
            found.extend(called)
        elif name not in _ENDS and number + 1 < len(blocks):
            found.append(number + 1)
        result.append(found)
    return result


def successors_within_functions(
    code: Sequence[MachineInstruction], blocks: Sequence[tuple[int, int]], entries: Sequence[int] = ()
) -> list[list[int]]:
    """For each block the blocks of the same function that control may reach next; a call goes on behind itself.

    This is how far a compiler looks that takes one function at a time.
    """
    result = block_successors(code, blocks)
    branches = long_branches(code, entries)
    for number, (_, last) in enumerate(blocks):
        if code[last - 1].row.mnemonic in CALLS and number + 1 < len(blocks):
            result[number] = [number + 1]
        elif code[last - 1].row.mnemonic == "s_setpc_b64" and last - 1 not in branches:
            result[number] = []
    return result


def return_successors(
    code: Sequence[MachineInstruction], blocks: Sequence[tuple[int, int]], entries: Sequence[int]
) -> dict[int, list[int]]:
    """For each block that returns from a function, the blocks behind the calls that it may come back to.

    A call through a register whose address the code does not show may be one of every function.
    """
    after = block_successors(code, blocks, entries)
    names = [code[last - 1].row.mnemonic for _, last in blocks]
    for number, name in enumerate(names):
        if name in CALLS:
            after[number] = [number + 1] if number + 1 < len(blocks) else []
    block_at = {code[first].pc: number for number, (first, _) in enumerate(blocks)}
    returning = {entry: _returns(block_at[entry], after, names) for entry in entries[1:] if entry in block_at}
    found: dict[int, set[int]] = {}
    for number, (_, last) in enumerate(blocks):
        if names[number] in CALLS and after[number]:
            direct = target_of(code[last - 1])
            callee = register_target(code, last - 1) if direct is None else direct
            for entry, ends in returning.items():
                for end in ends if entry == callee or callee not in returning else ():
                    found.setdefault(end, set()).update(after[number])
    return {end: sorted(behind) for end, behind in found.items()}


def _returns(start: int, after: Sequence[Sequence[int]], names: Sequence[str]) -> set[int]:
    """Blocks that return, from a function's first block on, over tail calls."""
    seen, work = {start}, [start]
    while work:
        fresh = set(after[work.pop()]) - seen
        seen |= fresh
        work += fresh
    return {block for block in seen if names[block] == "s_setpc_b64" and not after[block]}


def long_branches(code: Sequence[MachineInstruction], entries: Sequence[int]) -> dict[int, int]:
    """For each jump through a register that stays within its function, by number, the byte offset it goes to."""
    starts = sorted(entries)

    def function(offset: int) -> int:
        return bisect_right(starts, offset)

    return {
        number: target for number, target in jump_targets(code).items() if function(target) == function(code[number].pc)
    }


def starting_blocks(
    code: Sequence[MachineInstruction], blocks: Sequence[tuple[int, int]], entries: Sequence[int] = ()
) -> list[int]:
    """Blocks where control arrives from a jump through a register or from outside: the kernel's first, functions, and
    what stands behind calls. Nothing is known to be under way there.

    A function also begins where the code has a gap; ``entries`` names those that follow upon a branch without one.
    """

    def starts(first: int) -> bool:
        if not first or code[first].pc in entries:
            return True
        before = code[first - 1]
        return before.row.mnemonic in _JUMPS or before.pc + before.size != code[first].pc

    return [number for number, (first, _) in enumerate(blocks) if starts(first)]


def instructions_before(blocks: Sequence[tuple[int, int]], successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each instruction those that control may come from, given the blocks and their successors."""
    before: list[list[int]] = [[] for _ in range(blocks[-1][1])]
    for (first, last), following in zip(blocks, successors, strict=True):
        for number in range(first + 1, last):
            before[number].append(number - 1)
        for block in following:
            before[blocks[block][0]].append(last - 1)
    return before


def states_to_return(
    code: Sequence[MachineInstruction],
    blocks: Sequence[tuple[int, int]],
    entries: Sequence[int],
    states: Callable[[MachineInstruction], int],
) -> dict[int, int]:
    """For each function that a kernel may call the fewest wait states from its entry to a return, tail calls included.

    Args:
        code: Instructions.
        blocks: Ranges of instruction numbers.
        entries: Byte offsets where control may enter, the kernel's first.
        states: Wait states that an instruction is. A call inside a function counts as one instruction.
    """
    successors = successors_within_functions(code, blocks, entries)
    lengths = [sum(states(i) for i in code[first:last]) for first, last in blocks]
    block_at = {code[first].pc: number for number, (first, _) in enumerate(blocks)}
    found: dict[int, int] = {}
    for entry in entries[1:]:
        if entry not in block_at:
            continue
        work = [(0, block_at[entry])]
        done: set[int] = set()
        while work:
            passed, block = heappop(work)
            if block in done:
                continue
            done.add(block)
            passed += lengths[block]
            if code[blocks[block][1] - 1].row.mnemonic == "s_setpc_b64" and not successors[block]:
                found[entry] = passed
                break
            for successor in successors[block]:
                heappush(work, (passed, successor))
    return found
