"""Faults that are certain from the code alone: uses of registers whose load is still under way, stores that a barrier
publishes too
early, missing no-ops.

A forward walk over the blocks keeps, for every register that a load or returning atomic will write, how many later
operations of the
same ordered kind have been issued on its counter (the smallest number over all paths). ``s_waitcnt`` with value ``n``
finishes what has
at least ``n`` later ones: if the operation were unfinished, these would be too, and the counter above ``n``. Scalar
loads and messages
finish in any order, so only a wait for zero finishes them, and they are not counted for others. Flat accesses take
part in both
orders from gfx11 on; before, they finish in any order.

Calls follow the calling convention of LLVM: a function waits for everything at its entry, so what is under way at a
call is checked in the
function and forgotten behind the call. In return it waits for its own loads before it goes back; stores that it leaves
under way are followed to where it goes back to.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom.target.amdgpu.access import AGPR, SGPR, TTMP, atomic_returns, units_of
from loom.target.amdgpu.halves import halved_registers, units_by_halves, whole_register
from loom.target.amdgpu.machine import MachineInstruction, Register
from loom.target.amdgpu.simulator.flow import CALLS, block_successors, return_successors, starting_blocks
from loom.target.amdgpu.simulator.jumps import RETURN_ADDRESS, register_target
from loom.target.amdgpu.simulator.translate import StaticFault
from loom.target.amdgpu.waits import MODELS, counters_raised, waits_performed

#: (number of the producing instruction, counter) → later ordered operations; -1 marks one that finishes in any order.
_Pending = dict[tuple[int, str], int]

_STORE_COUNTERS = ("vscnt", "storecnt", "vmcnt")
_DEVICE_SCOPE = 2
_INVALIDATIONS = frozenset(("buffer_gl0_inv", "buffer_gl1_inv", "buffer_inv", "buffer_wbinvl1_vol", "global_inv"))
_PASSES_CACHES = ("glc", "sc0", "sc1", "scope")
"""Modifiers of a load that make it see what other waves store: the loads that acquire are among them."""
_UNORDERED = frozenset(("smem", "flat", "message"))


class _State:
    """What is known at a point of the program.

    Attributes:
        operations: Operations under way.
        stored: Whether this wave, or others in front of a barrier, may have stored to memory.
    """

    __slots__ = ("operations", "stored")

    def __init__(self, operations: _Pending | None = None, stored: bool = False) -> None:
        self.operations: _Pending = dict(operations or {})
        self.stored = stored

    def copy(self) -> _State:
        """An independent copy."""
        return _State(self.operations, self.stored)

    def merge(self, other: _State) -> bool:
        """Add another path's operations; True when that changed anything."""
        changed = other.stored and not self.stored
        self.stored |= other.stored
        for key, age in other.operations.items():
            mine = self.operations.get(key)
            if mine is None or age < mine:
                self.operations[key] = age
                changed = True
        return changed


def _kind(instruction: MachineInstruction, counter: str) -> str:
    """Which in-order queue of a counter the instruction goes through (:data:`_UNORDERED`: none)."""
    memory = instruction.row.memory
    if memory is None:
        # Lane crossings through the LDS hardware move no memory, but return in its order.
        return "lds" if instruction.row.issue_class == "lds" else "message"
    if memory.space == "flat":
        if instruction.row.generation == "gfx9.4":
            return "flat"
        return "lds" if counter in ("lgkmcnt", "dscnt") else f"vector-{counter}"
    return {"constant": "smem", "lds": "lds", "gds": "gds"}.get(memory.space, f"vector-{counter}")


def _queues(instruction: MachineInstruction, split: bool) -> tuple[tuple[str, str], ...]:
    """Counters that the instruction raises, each with its queue. A workgroup that is split over compute units has no
    LDS, so that its flat accesses are accesses to memory."""
    memory = instruction.row.memory
    if split and memory is not None and memory.space == "flat" and instruction.row.generation == "gfx9.4":
        return (("vmcnt", "vector-vmcnt"),)
    return tuple((counter, _kind(instruction, counter)) for counter in counters_raised(instruction))


def _writes_memory(instruction: MachineInstruction) -> bool:
    memory = instruction.row.memory
    return memory is not None and memory.kind in ("store", "atomic")


def _leaves_something(instruction: MachineInstruction) -> bool:
    """Whether what others see depends on when the instruction is done: stores, and write-backs of the caches."""
    return _writes_memory(instruction) or _writes_back(instruction)


def _writes_back(instruction: MachineInstruction) -> bool:
    """Whether the instruction writes caches back for other workgroups to see; within one it has no effect."""
    name = instruction.row.mnemonic
    if name == "buffer_wbl2":
        return bool(instruction.modifiers.get("sc1", 0))
    return name in ("global_wb", "global_wbinv") and instruction.modifiers.get("scope", 0) >= _DEVICE_SCOPE


def _passes_caches(instruction: MachineInstruction) -> bool:
    memory = instruction.row.memory
    if memory is None or memory.space not in ("global", "flat", "buffer"):
        return False
    if memory.kind == "atomic":
        return atomic_returns(instruction)
    return memory.kind == "load" and any(instruction.modifiers.get(name, 0) for name in _PASSES_CACHES)


def _writes_global(instruction: MachineInstruction) -> bool:
    memory = instruction.row.memory
    return memory is not None and _writes_memory(instruction) and memory.space in ("global", "flat", "buffer")


class StaticChecker:
    """Checks the code of one kernel.

    ``blocks`` are ranges of instruction numbers. ``split``: waves of a workgroup may run on different compute units.
    """

    def __init__(
        self,
        code: Sequence[MachineInstruction],
        blocks: Sequence[tuple[int, int]],
        generation: str,
        entries: Sequence[int] = (),
        split: bool = False,
    ) -> None:
        self.code = code
        self.blocks = blocks
        self.generation = generation
        self.entries = entries
        self.successors = block_successors(code, blocks, entries)
        self.returns = return_successors(code, blocks, entries)
        self.faults: dict[int, StaticFault] = {}
        self.unpublished: set[int] = set()
        """Stores to memory that some path leads to a barrier with no wait between."""
        self.unread: set[int] = set()
        """Loads of the LDS that some path leads to a barrier with no wait between."""
        self._reads: list[frozenset[int]] = []
        self._writes: list[frozenset[int]] = []
        self._queues = [_queues(instruction, split) for instruction in code]
        halved = halved_registers(code)
        for instruction in code:
            reads, writes = units_by_halves(instruction, halved)
            self._reads.append(frozenset(reads))
            self._writes.append(frozenset(writes))

    def run(self) -> dict[int, StaticFault]:
        """For each instruction that would fault, the fault."""
        entry: list[_State | None] = [None] * len(self.blocks)
        work = starting_blocks(self.code, self.blocks, self.entries)
        for block in work:
            # A function, and what stands behind a call, does not know what was stored before.
            first = self.blocks[block][0]
            called = first > 0 and self.code[first - 1].row.mnemonic in CALLS
            entry[block] = _State(stored=called or self.code[first].pc in self.entries[1:])
        while work:
            block = work.pop()
            start = entry[block]
            assert start is not None
            state = start.copy()
            self._walk(block, state, False)
            for successor in self.successors[block]:
                known = entry[successor]
                if known is None:
                    entry[successor] = state.copy()
                    work.append(successor)
                elif known.merge(state):
                    work.append(successor)
            for successor in self.returns.get(block, ()):
                behind = entry[successor]
                if behind is not None and behind.merge(self._left_to_callers(state)):
                    work.append(successor)
        for block in range(len(self.blocks)):
            found = entry[block]
            if found is not None:
                self._walk(block, found.copy(), True)
        return self.faults

    def _left_to_callers(self, state: _State) -> _State:
        """Stores that a function's end leaves under way. Loads are faults there; for stores with a counter of their
        own compilers do not wait at the end, but in the caller, where a barrier publishes them."""
        return _State(
            {
                (producer, counter): age
                for (producer, counter), age in state.operations.items()
                if _leaves_something(self.code[producer])
            },
            state.stored,
        )

    def _walk(self, block: int, state: _State, report: bool) -> None:
        first, last = self.blocks[block]
        operations = state.operations
        for number in range(first, last):
            instruction = self.code[number]
            name = instruction.row.mnemonic
            waits = waits_performed(instruction, self.generation)
            if waits:
                for key in [k for k in operations if k[1] in waits]:
                    value = waits[key[1]]
                    age = operations[key]
                    if value == 0 or (age >= 0 and age >= value):
                        del operations[key]
                continue
            barrier = name == "s_barrier" or name.startswith("s_barrier_signal")
            state.stored |= barrier or _writes_global(instruction)
            if operations:
                if report:
                    self._check(number, instruction, operations)
                if report and barrier:
                    self._check_barrier(number, operations)
                if report and (barrier or _writes_global(instruction)):
                    self._check_release(number, operations)
                if report and name in _INVALIDATIONS:
                    self._check_acquire(number, operations)
            if _writes_back(instruction) and not state.stored:
                continue  # Nothing can be there to be written back: LLVM leaves out the wait.
            for counter, kind in self._queues[number]:
                if kind in _UNORDERED:
                    operations[number, counter] = -1
                    continue
                for key, age in operations.items():
                    if key[1] == counter and age >= 0 and (counter, kind) in self._queues[key[0]]:
                        operations[key] = age + 1
                operations[number, counter] = 0

    def _check(self, number: int, instruction: MachineInstruction, operations: _Pending) -> None:
        if number in self.faults:
            return
        reads, writes = self._reads[number], self._writes[number]
        jumps = instruction.row.mnemonic == "s_setpc_b64" and register_target(self.code, number) is None
        returns = jumps and instruction.operands[0] == RETURN_ADDRESS
        for (producer, counter), _ in operations.items():
            if counter in ("vscnt", "storecnt", "expcnt"):
                continue
            source = self.code[producer]
            memory = source.row.memory
            if memory is not None and memory.kind not in ("load", "atomic"):
                continue
            pending = _loaded(self._writes[producer], source)
            if returns and pending:
                register = _name(whole_register(min(pending)))
                self.faults[number] = StaticFault(
                    "outstanding_load",
                    f"the function returns while '{source.mnemonic}' at {source.pc:#x}, which writes {register}, may "
                    f"still be under way on {counter}: its caller may use the register",
                    register,
                )
                return
            used = pending & reads
            if used and self._ordered(producer, number, counter):
                # A load into one half passes the other half through; both loads write in order.
                used -= _passed_through(instruction)
            if used:
                register = _name(whole_register(min(used)))
                self.faults[number] = StaticFault(
                    "outstanding_load",
                    f"{register} is read while '{source.mnemonic}' at {source.pc:#x}, which writes it, may still be "
                    f"under way on {counter}",
                    register,
                )
                return
            overwritten = pending & writes
            if overwritten and not self._ordered(producer, number, counter):
                register = _name(whole_register(min(overwritten)))
                self.faults[number] = StaticFault(
                    "outstanding_load",
                    f"{register} is written while '{source.mnemonic}' at {source.pc:#x}, which also writes it, may "
                    f"still be under way on {counter}",
                    register,
                )
                return

    def _ordered(self, earlier: int, later: int, counter: str) -> bool:
        """Whether what an earlier access returns on a counter comes before anything that the later one returns: the
        later result wins then. A flat access may return from either memory, in the order of each; results from memory
        are written in order only where the target says so."""
        kind = dict(self._queues[earlier])[counter]
        if kind in _UNORDERED or (kind != "lds" and "vmem" not in MODELS[self.generation].ordered_results):
            return False
        return {(counter, kind)} == set(self._queues[later])

    def _check_acquire(self, number: int, operations: _Pending) -> None:
        """Caches are invalidated when the load or atomic that acquires is done.

        Which one acquires the code does not say. A compiler waits right behind it, or for all at a fence; behind an
        atomic that returns nothing it need not wait for loads.
        """
        if number in self.faults or self._acquires_by_store(number):
            return
        for producer, counter in operations:
            source = self.code[producer]
            if counter in ("vmcnt", "loadcnt") and _passes_caches(source):
                self.faults[number] = StaticFault(
                    "outstanding_load",
                    f"the caches are invalidated while '{source.mnemonic}' at {source.pc:#x}, which may be what "
                    f"acquires, may still be under way on {counter}",
                )
                return

    def _acquires_by_store(self, number: int) -> bool:
        """Whether the nearest memory access in front is an atomic that returns nothing."""
        for instruction in reversed(self.code[max(0, number - 8) : number]):
            memory = instruction.row.memory
            if memory is not None and memory.kind in ("load", "store", "atomic"):
                return memory.kind == "atomic" and not atomic_returns(instruction)
        return False

    def _check_barrier(self, number: int, operations: _Pending) -> None:
        if number in self.faults:
            return
        publishes_memory = self._acquires_after(number)
        for producer, counter in operations:
            source = self.code[producer]
            if source.row.memory is not None and source.row.memory.space == "lds" and source.row.memory.kind == "load":
                self.unread.add(producer)
            if not _writes_memory(source):
                continue
            memory = source.row.memory
            assert memory is not None
            if memory.space in ("lds", "flat") and counter in ("lgkmcnt", "dscnt"):
                what = "LDS"
            elif memory.space != "scratch" and counter in _STORE_COUNTERS:
                if not publishes_memory:
                    if memory.kind == "store":
                        self.unpublished.add(producer)
                    continue
                what = "memory"
            else:
                continue
            self.faults[number] = StaticFault(
                "uncovered_store",
                f"the barrier publishes {what} that '{source.mnemonic}' at {source.pc:#x} may still be writing: no "
                f"wait on {counter} covers it",
            )
            return

    def _check_release(self, number: int, operations: _Pending) -> None:
        """A barrier, store or atomic behind a write-back of the caches is a release: it must wait for it."""
        for producer, counter in operations:
            source = self.code[producer]
            if _writes_back(source) and number not in self.faults:
                self.faults[number] = StaticFault(
                    "uncovered_store",
                    f"the release publishes memory that '{source.mnemonic}' at {source.pc:#x} may still be writing "
                    f"back: no wait on {counter} covers it",
                )

    def _acquires_after(self, number: int) -> bool:
        """Whether the barrier orders global memory: other waves invalidate their caches right behind it."""
        for instruction in self.code[number + 1 : number + 6]:
            name = instruction.row.mnemonic
            if name in _INVALIDATIONS:
                return True
            if not name.startswith(("s_waitcnt", "s_wait_", "s_nop", "s_barrier_wait", "s_delay_alu")):
                return False
        return False


def _loaded(writes: frozenset[int], source: MachineInstruction) -> frozenset[int]:
    memory = source.row.memory
    if memory is not None and memory.space != "constant":
        return frozenset(u for u in writes if whole_register(u) < SGPR)
    return frozenset(u for u in writes if whole_register(u) < 1300)


def _passed_through(instruction: MachineInstruction) -> frozenset[int]:
    """What a load reads only because it writes a part of it."""
    memory = instruction.row.memory
    if memory is None or memory.kind != "load":
        return frozenset()
    result: set[int] = set()
    read: set[int] = set()
    for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True):
        if isinstance(operand, Register):
            (result if slot.name == memory.result else read).update(units_of(operand))
    return frozenset(result - read)


def _name(unit: int) -> str:
    if unit < AGPR:
        return f"v{unit}"
    if unit < SGPR:
        return f"a{unit - AGPR}"
    if unit in (SGPR + 106, SGPR + 107):
        return ("vcc_lo", "vcc_hi")[unit - SGPR - 106]
    if unit < TTMP:
        return f"s{unit - SGPR}"
    return str(Register("ttmp", unit - TTMP)) if unit < 1300 else "a special register"
