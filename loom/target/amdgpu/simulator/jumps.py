"""Where branches go, and jumps through registers whose address the code computes right in front.

LLVM computes an address with ``s_getpc_b64`` and an addition of the distance to both halves (gfx12: behind a sign
extension of the upper half), and jumps there: to call a function (``s_swappc_b64``), to call it in tail position, or to
branch farther than a branch instruction reaches (both ``s_setpc_b64``).
"""

from __future__ import annotations

from collections.abc import Sequence

from loom.target.amdgpu.machine import BranchTarget, Inline, Literal, MachineInstruction, Register

RETURN_ADDRESS = Register("sgpr", 30, 2)
"""Where LLVM's calling convention keeps it."""

_LOOK_BACK = 400
_ADDS = frozenset(("s_add_u32", "s_add_co_u32"))
_CARRIES = frozenset(("s_addc_u32", "s_add_co_ci_u32"))
_JUMPS = frozenset(("s_swappc_b64", "s_setpc_b64"))


def target_of(instruction: MachineInstruction) -> int | None:
    """Byte offset that a direct branch goes to."""
    for operand in instruction.operands:
        if isinstance(operand, BranchTarget):
            return operand.offset
    return None


def register_target(code: Sequence[MachineInstruction], number: int) -> int | None:
    """Byte offset that a jump through a register goes to, when the nearest writes of it are the compiler's sequence."""
    register = code[number].operands[-1]
    if not isinstance(register, Register):
        return None
    distance: int | None = None
    low, high = Register(register.bank, register.index), Register(register.bank, register.index + 1)
    for earlier in range(number - 1, max(-1, number - _LOOK_BACK), -1):
        instruction = code[earlier]
        name = instruction.row.mnemonic
        if target_of(instruction) is not None or name in _JUMPS:
            return None
        written = _written(instruction, register)
        if not written:
            continue
        if name in _ADDS and written == [low] and instruction.operands[1] == low and distance is None:
            constant = instruction.operands[2]
            if isinstance(constant, Literal):
                distance = constant.bits - (1 << 32) if constant.bits >> 31 else constant.bits
                continue
            if isinstance(constant, Inline):
                distance = int(constant.value)
                continue
            return None
        if name in _CARRIES and written == [high] and instruction.operands[1] == high and distance is None:
            continue
        if name == "s_sext_i32_i16" and written == [high] and instruction.operands[1] == high:
            continue
        if name == "s_getpc_b64" and written == [register] and distance is not None:
            return instruction.pc + instruction.size + distance
        return None
    return None


def jump_targets(code: Sequence[MachineInstruction]) -> dict[int, int]:
    """For each ``s_setpc_b64`` whose target the code shows, by number of the instruction, that byte offset."""
    found: dict[int, int] = {}
    for number, instruction in enumerate(code):
        if instruction.row.mnemonic == "s_setpc_b64":
            # Also through the register of the return address: a far branch takes any that is free.
            target = register_target(code, number)
            if target is not None:
                found[number] = target
    return found


def goes_anywhere(code: Sequence[MachineInstruction], number: int) -> bool:
    """Whether ``s_setpc_b64`` jumps to an address that the code in front made or loaded, other than a return address.

    A register that nothing in front writes, or a call, holds where the caller goes on.
    """
    register = code[number].operands[-1]
    if not isinstance(register, Register) or register == RETURN_ADDRESS:
        return False
    for earlier in range(number - 1, -1, -1):
        instruction = code[earlier]
        if instruction.pc + instruction.size != code[earlier + 1].pc:
            return False
        if _written(instruction, register):
            return instruction.row.mnemonic not in ("s_swappc_b64", "s_call_b64")
    return False


def _written(instruction: MachineInstruction, register: Register) -> list[object]:
    """Results of an instruction that share units with a register."""
    return [
        operand
        for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True)
        if slot.is_def and _touches(operand, register)
    ]


def _touches(operand: object, register: Register) -> bool:
    return (
        isinstance(operand, Register)
        and operand.bank == register.bank
        and operand.index < register.index + register.units
        and register.index < operand.index + operand.units
    )
