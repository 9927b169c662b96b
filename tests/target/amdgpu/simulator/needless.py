"""Why a wait for a hazard guards nothing although a compiler put it in: arguments over the paths of the code, made without the checks.

LLVM puts a wait behind every write of a register that was a lane mask, whatever reads it; it looks for a transcendental result
around a loop before it has put the waits of that loop in; it takes every trap register for ``s0``; and it waits at a call for the
return address that the call before has written (see ``test_scalar_hazards.py``, which asks LLVM for all four).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from loom.target.amdgpu.access import SGPR, reads_and_writes, units_of
from loom.target.amdgpu.machine import BranchTarget, Immediate, MachineInstruction, Register
from loom.target.amdgpu.operation import SCALAR_CLASSES, VECTOR_CLASSES

FIELDS = {"va_vdst": 0xF000, "va_sdst": 0x0E00, "va_vcc": 0x0002, "sa_sdst": 0x0001}
"""Bits of the operand of ``s_waitcnt_depctr`` and ``s_wait_alu`` that are zero where it waits."""
MASK_READERS = ("v_cndmask", "v_add_co_ci", "v_sub_co_ci", "v_subrev_co_ci", "v_div_fmas")
"""Instructions whose lane mask LLVM's rule is about."""
_VCC = (SGPR + 106, SGPR + 107)
_CALLS = ("s_swappc_b64", "s_setpc_b64", "s_call_b64")
Edges = tuple[list[list[int]], list[list[int]]]


def edges(code: Sequence[MachineInstruction]) -> Edges:
    """For each instruction those that may come right before and right behind it, within the function; a call goes on behind itself."""
    at = {instruction.pc: n for n, instruction in enumerate(code)}
    before: list[list[int]] = [[] for _ in code]
    after: list[list[int]] = [[] for _ in code]
    for n, instruction in enumerate(code):
        name = instruction.row.mnemonic
        target = next((o.offset for o in instruction.operands if isinstance(o, BranchTarget)), None)
        following = [at[target]] if target is not None and target in at and name != "s_call_b64" else []
        falls = name not in ("s_branch", "s_endpgm", "s_setpc_b64", "s_code_end")
        if falls and n + 1 < len(code) and code[n + 1].pc == instruction.pc + instruction.size:
            following.append(n + 1)
        for m in following:
            before[m].append(n)
            after[n].append(m)
    return before, after


def fields_of(instruction: MachineInstruction) -> frozenset[str]:
    """What a wait of this kind waits for; nothing for other instructions."""
    if instruction.row.mnemonic not in ("s_waitcnt_depctr", "s_wait_alu"):
        return frozenset()
    value = next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0xFFFF)
    return frozenset(name for name, bits in FIELDS.items() if not value & bits)


def _is_vector(instruction: MachineInstruction) -> bool:
    return instruction.row.issue_class in VECTOR_CLASSES


def _field(instruction: MachineInstruction, unit: int) -> str:
    """What a read of a scalar register that an instruction writes may have to wait for."""
    if not _is_vector(instruction):
        return "sa_sdst"
    return "va_vcc" if unit in _VCC else "va_sdst"


def _masks_read(instruction: MachineInstruction) -> frozenset[int]:
    if not instruction.row.mnemonic.startswith(MASK_READERS):
        return frozenset()
    slots = zip(instruction.row.slots, instruction.operands, strict=True)
    explicit = [o for slot, o in slots if slot.type == "mask" and slot.is_use and isinstance(o, Register)]
    implicit = _VCC if "vcc" in instruction.row.implicit_uses else ()
    return frozenset((*implicit, *(unit for o in explicit for unit in units_of(o))))


def first_writes(code: Sequence[MachineInstruction], paths: Edges) -> set[tuple[int, int]]:
    """Instructions, with the scalar unit, that are the first to write it behind a read of it as a lane mask, on some path."""
    found: set[tuple[int, int]] = set()
    work = [(m, unit) for n, i in enumerate(code) for unit in _masks_read(i) for m in paths[1][n]]
    seen = set(work)
    while work:
        n, unit = work.pop()
        written = unit in reads_and_writes(code[n])[1]
        if written and (code[n].row.issue_class in SCALAR_CLASSES or _is_vector(code[n])):
            found.add((n, unit))
        if written:
            continue
        fresh = {(m, unit) for m in paths[1][n]} - seen
        seen |= fresh
        work += fresh
    return found


def unread_masks(code: Sequence[MachineInstruction], number: int, paths: Edges) -> bool:
    """Whether no path leads from the first write of a lane mask over a wait, and over no other that waits for the write, to a read
    that must not see the old value: one by a vector instruction, or by a scalar one of what a scalar one wrote last."""
    after = paths[1]
    work = [
        (m, unit, _field(code[n], unit), _field(code[n], unit), False)
        for n, unit in first_writes(code, paths)
        for m in after[n]
    ]  # fmt: skip
    seen = set(work)
    while work:
        n, unit, first, last, passed = work.pop()
        instruction = code[n]
        if n == number:
            passed = True
        elif fields_of(instruction) & {first, last}:
            continue
        if instruction.row.issue_class in SCALAR_CLASSES or _is_vector(instruction):
            reads, writes = reads_and_writes(instruction)
            if passed and unit in reads and (_is_vector(instruction) or last == "sa_sdst"):
                return False
            if unit in writes:
                last = _field(instruction, unit)
        fresh = {(m, unit, first, last, passed) for m in after[n]} - seen
        seen |= fresh
        work += fresh
    return True


def waited_before(code: Sequence[MachineInstruction], number: int, paths: Edges) -> bool:
    """Whether on every path to a wait for vector results another such wait stands behind the last transcendental instruction."""
    before, _ = paths
    work = list(before[number])
    seen = set(work)
    while work:
        n = work.pop()
        if code[n].row.issue_class == "trans":
            return False
        if "va_vdst" not in fields_of(code[n]):
            fresh = set(before[n]) - seen
            seen |= fresh
            work += fresh
    return True


def return_address_only(code: Sequence[MachineInstruction], number: int, paths: Edges) -> bool:
    """Whether a call or return follows a wait for scalar results, and on every path to it nothing has written a scalar register since
    the last call, whose return address the function that it called has read."""
    if not code[number + 1].row.mnemonic.startswith(_CALLS) or fields_of(code[number]) != {"sa_sdst"}:
        return False
    work = list(paths[0][number])
    seen = set(work)
    while work:
        n = work.pop()
        if code[n].row.mnemonic.startswith(_CALLS):
            continue
        writes = reads_and_writes(code[n])[1]
        scalars = any(SGPR <= unit < SGPR + 108 for unit in writes)
        if not paths[0][n] or (scalars and code[n].row.issue_class in SCALAR_CLASSES):
            return False
        fresh = set(paths[0][n]) - seen
        seen |= fresh
        work += fresh
    return True


def with_trap_registers_as_s0(code: Sequence[MachineInstruction]) -> list[MachineInstruction] | None:
    """The code with every trap register that a vector instruction reads replaced by ``s0``; None where none does."""
    changed = [
        replace(i, operands=tuple(_as_s0(o) for o in i.operands)) if _is_vector(i) else i
        for i in code
    ]  # fmt: skip
    return None if all(a is b or a.operands == b.operands for a, b in zip(code, changed, strict=True)) else changed


def _as_s0(operand: object) -> object:
    return Register("sgpr", 0, 1) if isinstance(operand, Register) and operand.bank == "ttmp" else operand


def needless(
    code: Sequence[MachineInstruction], number: int, missed: Callable[[Sequence[MachineInstruction]], bool]
) -> str | None:
    """Why a wait that nothing asks for guards nothing; None where no reason is known.

    Args:
        code: The kernel.
        number: The wait.
        missed: Whether the checks miss the wait in such code.
    """
    paths = edges(code)
    if code[number].row.mnemonic == "s_wait_alu":
        taken = with_trap_registers_as_s0(code)
        if taken is not None and missed(taken):
            return "a trap register taken for s0"
        return "a call's return address" if return_address_only(code, number, paths) else None
    if fields_of(code[number]) == {"va_vdst"}:
        return "waited for already" if waited_before(code, number, paths) else None
    if "va_vdst" not in fields_of(code[number]) and unread_masks(code, number, paths):
        return "not read where it matters"
    return None
