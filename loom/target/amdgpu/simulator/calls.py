"""Which functions a kernel may call: the targets of its calls and tail calls, where the code shows them.

A call or tail call whose register comes from anywhere else (a function pointer) may reach any function.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator.jumps import goes_anywhere, jump_targets, register_target, target_of


def call_targets(code: Sequence[MachineInstruction]) -> set[int] | None:
    """Text offsets that the calls and tail calls of a function go to; None when one of them cannot be told."""
    if not code:
        return set()
    within = range(code[0].pc, code[-1].pc + code[-1].size)
    found = {target for target in jump_targets(code).values() if target not in within}
    for number, instruction in enumerate(code):
        name = instruction.row.mnemonic
        if name == "s_call_b64":
            target = target_of(instruction)
            if target is not None:
                found.add(target)
        elif name == "s_swappc_b64":
            resolved = register_target(code, number)
            if resolved is None:
                return None
            found.add(resolved)
        elif name == "s_setpc_b64" and register_target(code, number) is None and goes_anywhere(code, number):
            return None
    return found
