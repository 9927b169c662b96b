"""gfx12: a read of a scalar register may see the old value where a vector instruction has read the register before.

Facts from LLVM (``AMDGPUWaitSGPRHazards``): once a vector instruction has read a register of an aligned pair, the pair
stays suspect. A read behind a scalar instruction's write of a suspect register needs ``s_wait_alu`` with
``sa_sdst(0)``; a vector read behind a vector instruction's write ``va_sdst(0)``, for VCC ``va_vcc(0)``. Scalar and
buffer memory instructions wait for all of it, and a scalar read of a suspect register waits for vector results. EXEC,
M0 and NULL are exempt. A call or return waits for everything, and behind it every register is suspect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from loom.target.amdgpu.access import SGPR, TTMP, reads_and_writes
from loom.target.amdgpu.machine import Immediate, MachineInstruction, MachineProgram
from loom.target.amdgpu.operation import SCALAR_CLASSES, VECTOR_CLASSES
from loom.target.amdgpu.waits import successors_of

_VCC = 3 << 106
_ALL = (1 << 128) - 1
_CALLS = frozenset(("s_swappc_b64", "s_setpc_b64", "s_call_b64"))


@dataclass(frozen=True, slots=True)
class _State:
    """Sets of scalar registers, as bits: suspect ones, written by scalar and by vector instructions not waited for."""

    suspect: int = 0
    scalar: int = 0
    vector: int = 0

    def __or__(self, other: _State) -> _State:
        return _State(self.suspect | other.suspect, self.scalar | other.scalar, self.vector | other.vector)


def _registers(units: Iterable[int]) -> int:
    """The scalar registers among units, as bits; VCC as a whole."""
    found = 0
    for unit in units:
        if SGPR <= unit < TTMP:
            found |= 1 << (unit - SGPR)
    return found | _VCC if found & _VCC else found


def _pairs(registers: int) -> int:
    """The registers with their neighbours in aligned pairs."""
    low = registers & ((1 << 128) - 1) // 3
    high = registers & ~low
    return registers | low << 1 | high >> 1


def _after_wait(state: _State, fields: Iterable[str]) -> _State:
    for field in fields:
        if field == "sa_sdst":
            state = replace(state, scalar=0)
        elif field == "va_vcc":
            state = replace(state, vector=state.vector & ~_VCC)
        elif field == "va_sdst":
            state = replace(state, vector=state.vector & _VCC)
    return state


def _step(state: _State, instruction: MachineInstruction, stays: bool = False) -> tuple[_State, tuple[str, ...]]:
    """The state behind an instruction, and the fields that it has to wait for; ``stays``: it jumps within the
    function."""
    row = instruction.row
    kind = row.issue_class
    if row.mnemonic == "s_wait_alu":
        value = next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0xFFFF)
        fields = (("sa_sdst", 1), ("va_vcc", 2), ("va_sdst", 0x0E00))
        return _after_wait(state, [name for name, mask in fields if value & mask == 0]), ()
    if kind == "smem" or (row.memory is not None and row.memory.space == "buffer"):
        return _State(state.suspect), ()
    if row.mnemonic in _CALLS and not stays:
        late = (("sa_sdst", state.scalar), ("va_vcc", state.vector & _VCC), ("va_sdst", state.vector & ~_VCC))
        return _State(_ALL), tuple(name for name, registers in late if registers)
    vector = kind in VECTOR_CLASSES
    if not vector and kind not in SCALAR_CLASSES:
        return state, ()
    reads, writes = reads_and_writes(instruction)
    read, written = _registers(reads), _registers(writes)
    if not read and not written:
        return state, ()
    waits: list[str] = []
    old = read & state.suspect
    if old:
        if not vector:
            if old & _VCC and state.vector & _VCC:
                state = replace(state, vector=state.vector & ~_VCC, scalar=state.scalar & ~_VCC)
            if old & ~_VCC:
                state = replace(state, vector=state.vector & _VCC)
        if old & state.scalar:
            waits.append("sa_sdst")
        if old & state.vector & _VCC:
            waits.append("va_vcc")
        if vector and old & state.vector & ~_VCC:
            waits.append("va_sdst")
        state = _after_wait(state, waits)
    suspect = state.suspect | _pairs(read) if vector else state.suspect
    new = written & suspect
    scalar, pending = state.scalar, state.vector
    if new & _VCC:
        scalar, pending = scalar & ~_VCC, pending & ~_VCC
    if vector:
        pending |= new
    else:
        scalar |= new
    return _State(suspect, scalar, pending), tuple(waits)


def scalar_read_waits(
    program: MachineProgram,
    called: Iterable[int] = (),
    successors: Sequence[Sequence[int]] | None = None,
    jumps: Collection[int] = (),
) -> list[list[tuple[str, ...]]]:
    """For every instruction the ``s_wait_alu`` fields that have to be zero in front of it.

    Args:
        program: The code.
        called: Blocks besides the first where control may arrive by a call or return.
        successors: For each block those that control may reach next; by default what branches say.
        jumps: Jumps through a register that stay within their function, by ``id``.
    """
    if successors is None:
        successors = successors_of(program)
    entry: list[_State | None] = [None] * len(program.blocks)
    for index in called:
        entry[index] = _State(_ALL)
    entry[0] = _State()
    work = [index for index, state in enumerate(entry) if state is not None]
    while work:
        index = work.pop()
        state = entry[index] or _State()
        for instruction in program.blocks[index].instructions:
            state, _ = _step(state, instruction, id(instruction) in jumps)
        for successor in successors[index]:
            known = entry[successor]
            merged = state if known is None else known | state
            if merged != known:
                entry[successor] = merged
                work.append(successor)
    result: list[list[tuple[str, ...]]] = []
    for block, start in zip(program.blocks, entry, strict=True):
        state = start or _State()
        found: list[tuple[str, ...]] = []
        for instruction in block.instructions:
            state, waits = _step(state, instruction, id(instruction) in jumps)
            found.append(waits)
        result.append(found)
    return result
