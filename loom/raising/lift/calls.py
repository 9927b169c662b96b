"""Calls through s_swappc: which functions a kernel reaches, and the stretch of code that holds them all.

A call is followed where its target is computed in front of it from the program counter (``s_getpc``, ``s_add``,
``s_addc``), which is what compilers write. A function with one call site returns to one place, so call and return are
plain jumps; a function that is called from several places would return to several, which blocks cannot express, and is
refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loom.diagnostics import error
from loom.target.amdgpu.decoder import decoder
from loom.target.amdgpu.machine import BranchTarget, Literal, MachineInstruction, Register

_ADD = frozenset(("s_add_u32", "s_add_co_u32"))
_ADD_WITH_CARRY = frozenset(("s_addc_u32", "s_add_co_ci_u32"))

CALL = "s_swappc_b64"
DIRECT_CALL = "s_call_b64"
"""A call that names its target; followed in relaxed kernels only."""
RETURN = "s_setpc_b64"
PROGRAM_COUNTER = "s_getpc_b64"

INLINE_HINT = "compile the kernel with every callee inlined (clang: -O1 or higher, or __attribute__((always_inline)))"


@dataclass(slots=True)
class CodeRegion:
    """A kernel together with the functions it calls.

    Offsets are from the start of the region.

    Attributes:
        start: Where the region begins in ``.text``.
        size: Bytes.
        entry: Offset of the kernel's first instruction.
        jumps: Offset of every call and return → where control goes.
        getpc: Offsets of the instructions that take the program counter for a call.
        functions: Offset and bytes of every function.
    """

    start: int
    size: int
    entry: int = 0
    jumps: dict[int, int] = field(default_factory=dict)
    getpc: frozenset[int] = frozenset()
    functions: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class _Function:
    start: int
    end: int = 0
    calls: list[tuple[int, int, int]] = field(default_factory=list)  # call, target, continuation
    returns: list[int] = field(default_factory=list)
    getpc: set[int] = field(default_factory=set)


class _Pair:
    """A 64-bit value in a scalar pair that began as the program counter."""

    __slots__ = ("carry", "high", "low", "origin")

    def __init__(self, value: int, origin: int) -> None:
        self.low = value & 0xFFFFFFFF
        self.high = value >> 32 & 0xFFFFFFFF
        self.carry = 0
        self.origin = origin


def _step(instruction: MachineInstruction, at: int, pairs: dict[int, _Pair]) -> None:
    """Follow program-counter arithmetic over one instruction; ``pairs`` is keyed by the pair's first register."""
    mnemonic = instruction.row.mnemonic
    operands = instruction.operands
    first = operands[0] if operands else None
    if not isinstance(first, Register) or first.bank != "sgpr":
        return
    index = first.index
    if mnemonic == PROGRAM_COUNTER:
        pairs[index] = _Pair(at + instruction.size, at)
        return
    literal = next((o.bits for o in operands[1:] if isinstance(o, Literal)), None)
    if mnemonic in _ADD and operands[1] is first and index in pairs and literal is not None:
        total = pairs[index].low + literal
        pairs[index].low, pairs[index].carry = total & 0xFFFFFFFF, total >> 32
        return
    if mnemonic in _ADD_WITH_CARRY and operands[1] is first and index - 1 in pairs and literal is not None:
        pair = pairs[index - 1]
        pair.high = (pair.high + literal + pair.carry) & 0xFFFFFFFF
        return
    if mnemonic == "s_sext_i32_i16" and operands[1] is first and index - 1 in pairs:
        return  # gfx12 gives 48 bits of the program counter; code extends them
    if mnemonic == "s_mov_b64" and isinstance(operands[1], Register) and operands[1].bank == "sgpr":
        source = pairs.get(operands[1].index)
        if source is not None:
            pairs[index] = source
            return
    for written in range(index - 1, index + first.units):
        pairs.pop(written, None)


def _explore(text: bytes, start: int, processor: str, wave_size: int, kernel: str, base: int) -> _Function:
    """Follow a function's control flow from ``start`` to its ends."""
    decode = decoder(processor, wave_size).decode
    function = _Function(start)
    seen: set[int] = set()
    pending = [start]
    while pending:
        at = pending.pop()
        pairs: dict[int, _Pair] = {}
        while at not in seen and at < len(text):
            seen.add(at)
            instruction = decode(text, at)
            following = at + instruction.size
            function.end = max(function.end, following)
            mnemonic = instruction.row.mnemonic
            if mnemonic == CALL:
                source = instruction.operands[1]
                pair = pairs.get(source.index) if isinstance(source, Register) and source.bank == "sgpr" else None
                target = None if pair is None else pair.high << 32 | pair.low
                if target is not None and target >> 63:
                    target -= 1 << 64
                if pair is None or target is None or not 0 <= target < len(text):
                    raise error(
                        f"kernel '{kernel}' cannot be lifted: {CALL} at pc {at - base:#x}: "
                        "the target of the call is not known",
                        "LIFT/002",
                        hint=INLINE_HINT,
                    )
                function.calls.append((at, target, following))
                function.getpc.add(pair.origin)
                pairs = {}
            elif mnemonic == RETURN:
                function.returns.append(at)
                break
            elif mnemonic.startswith("s_endpgm"):
                break
            else:
                _step(instruction, at, pairs)
            target_operand = next((o for o in instruction.operands if isinstance(o, BranchTarget)), None)
            if target_operand is not None:
                destination = following + target_operand.offset
                if mnemonic == "s_branch":
                    at = destination
                    continue
                pending.append(destination)
            at = following
    return function


def resolve_calls(text: bytes, offset: int, size: int, processor: str, wave_size: int, kernel: str) -> CodeRegion:
    """Find the functions that the kernel at ``offset`` of ``text`` calls, directly and indirectly.

    Raises:
        LoomError: ``LIFT/002`` for a call whose target is not known, recursion, or a function with several call sites,
            with the pc of the call.
    """
    kernel_function = _explore(text, offset, processor, wave_size, kernel, offset)
    functions: dict[int, tuple[_Function, int]] = {}
    order = [kernel_function]
    returns: dict[int, int] = {}
    pending = [kernel_function]
    while pending:
        caller = pending.pop()
        for call, target, continuation in caller.calls:
            if target in functions or target == offset:
                raise error(
                    f"kernel '{kernel}' cannot be lifted: {CALL} at pc {call - offset:#x}: the function at pc "
                    f"{target - offset:#x} is called from several places, so it returns to several",
                    "LIFT/002",
                    hint=INLINE_HINT,
                )
            callee = _explore(text, target, processor, wave_size, kernel, offset)
            functions[target] = (callee, continuation)
            returns.update((at, continuation) for at in callee.returns)
            order.append(callee)
            pending.append(callee)
    start = min(offset, *(f.start for f in order))
    end = max(offset + size, *(f.end for f in order))
    jumps = {call: target for f in order for call, target, _ in f.calls}
    jumps.update(returns)
    return CodeRegion(
        start,
        end - start,
        offset - start,
        {at - start: to - start for at, to in jumps.items()},
        frozenset(at - start for f in order for at in f.getpc),
        tuple(sorted((f.start - start, f.end - f.start) for f in order[1:])),
    )
