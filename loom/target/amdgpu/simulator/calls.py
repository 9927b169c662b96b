"""Which functions a kernel may call: the targets of its calls, where the code shows them.

Compilers call through ``s_getpc_b64``, ``s_add_u32`` with the distance, ``s_addc_u32``, ``s_swappc_b64``. A call whose
register comes from anywhere else (a function pointer) may reach any function.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom.target.amdgpu.machine import Inline, Literal, MachineInstruction, Register
from loom.target.amdgpu.simulator.translate import target_of

_LOOK_BACK = 400


def call_targets(code: Sequence[MachineInstruction]) -> set[int] | None:
    """Text offsets that calls and tail calls of straight code go to; None when one of them cannot be told."""
    found: set[int] = set()
    for number, instruction in enumerate(code):
        name = instruction.row.mnemonic
        if name == "s_call_b64":
            target = target_of(instruction)
            if target is not None:
                found.add(target)
        elif name == "s_swappc_b64":
            source = instruction.operands[-1]
            resolved = _resolve(code, number, source) if isinstance(source, Register) else None
            if resolved is None:
                return None
            found.add(resolved)
    return found


def _resolve(code: Sequence[MachineInstruction], number: int, register: Register) -> int | None:
    """The address in a register pair at an instruction, when the nearest writes are the compiler's sequence."""
    distance: int | None = None
    low, high = Register(register.bank, register.index), Register(register.bank, register.index + 1)
    for earlier in range(number - 1, max(-1, number - _LOOK_BACK), -1):
        instruction = code[earlier]
        name = instruction.row.mnemonic
        if target_of(instruction) is not None or name in ("s_swappc_b64", "s_setpc_b64"):
            return None
        written = [
            o
            for s, o in zip(instruction.row.slots, instruction.operands, strict=True)
            if s.is_def and _touches(o, register)
        ]
        if not written:
            continue
        if name == "s_add_u32" and written == [low] and instruction.operands[1] == low and distance is None:
            constant = instruction.operands[2]
            if isinstance(constant, Literal):
                distance = constant.bits - (1 << 32) if constant.bits >> 31 else constant.bits
                continue
            if isinstance(constant, Inline):
                distance = int(constant.value)
                continue
            return None
        if name == "s_addc_u32" and written == [high] and instruction.operands[1] == high and distance is None:
            continue
        if name == "s_getpc_b64" and written == [register] and distance is not None:
            return instruction.pc + instruction.size + distance
        return None
    return None


def _touches(operand: object, register: Register) -> bool:
    return (
        isinstance(operand, Register)
        and operand.bank == register.bank
        and operand.index < register.index + register.units
        and register.index < operand.index + operand.units
    )
