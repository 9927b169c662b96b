"""Required wait states of gfx942 and gfx950, as LLVM's hazard recognizer states them; a missing one is a fault.

A wait state is an issued instruction; ``s_nop n`` counts n + 1. The walk keeps for every register the smallest number
of wait states since an event, over all paths. Latencies of matrix operations are in ``matrix_latency``.

Two kinds of jump take longer than their instruction. A call takes what the shortest way through the callee does; what
stands in another function is not looked for, since compilers take one function at a time and wait neither in front of
a call nor of a return. A conditional branch that leaps over the unconditional one right behind it counts as two:
LLVM counts both, and a taken branch, which fetches instructions anew, takes longer than one that falls through.

LLVM is stricter in four places that are no faults here: loads that overwrite the result or C of a matrix operation
(their data arrives far later), memory instructions behind a vector write of EXEC, DPP sources and destinations that a
load wrote, and a result that something else has overwritten since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from loom.target.amdgpu.access import EXEC_UNITS, OTHER, SGPR, reads_and_writes, units_of
from loom.target.amdgpu.machine import Immediate, MachineInstruction, Register
from loom.target.amdgpu.matrix_latency import (
    MOST_STATES,
    MatrixTiming,
    matrix_timing,
    states_to_ab,
    states_to_c,
    states_to_memory,
    states_to_overwrite,
    states_to_overwrite_c,
    states_to_vector,
)
from loom.target.amdgpu.operation import VECTOR_CLASSES
from loom.target.amdgpu.simulator.flow import CALLS, starting_blocks, states_to_return, successors_within_functions
from loom.target.amdgpu.simulator.jumps import register_target, target_of
from loom.target.amdgpu.simulator.translate import StaticFault

_VCC = (SGPR + 106, SGPR + 107)
_EXEC = tuple(sorted(EXEC_UNITS))
_M0 = OTHER + 2
_MODE_REGISTERS = 64
"""Hardware registers that ``s_setreg`` names."""

_LONG_BRANCH = 4
"""Instructions of a branch that computes its target: ``s_getpc_b64``, two additions, ``s_setpc_b64``."""

# Wait states between an event and what depends on it.
VALU_SCALAR_TO_VMEM = 5
VALU_VCC_TO_DIV_FMAS = 4
VALU_SCALAR_TO_LANE_SELECT = 4
VALU_SCALAR_TO_VALU = 2
VALU_EXEC_TO_DPP = 5
VALU_EXEC_TO_LANE = 4
VALU_EXEC_TO_MATRIX = 4
VALU_VECTOR_TO_DPP = 2
VALU_VECTOR_TO_READLANE = 1
VALU_VECTOR_TO_MATRIX = 2
VALU_VECTOR_TO_SWAP = 2
VALU_EXEC_TO_SWAP = 4
TRANS_TO_VALU = 1
PART_TO_VALU = 1
DOT_TO_OTHER = 3
DOUBLE_MATRIX_TO_FMA = 2
WIDE_STORE_TO_VALU_WRITE = 2
SALU_M0_TO_USE = 1
SETREG_TO_SAME = 2

_LANE = ("v_readlane_b32", "v_readfirstlane_b32", "v_writelane_b32")
_SWAP = ("v_permlane16_swap_b32", "v_permlane32_swap_b32")
_M0_READERS = ("s_movrel", "ds_read_addtid", "ds_write_addtid", "s_sendmsg")
_FMA64 = ("v_fma_f64", "v_fmac_f64")

_State = dict[tuple[str, int], dict[int, int]]
"""(event, register) → number of the instruction that was the event → wait states since, at least."""
_States = Callable[[MatrixTiming, int], int]
"""Wait states behind a matrix operation, given its timing and number."""


def _copy(state: _State | None) -> _State:
    return {key: dict(since) for key, since in (state or {}).items()}


def _later(state: _State, passed: int) -> _State:
    """The state some wait states later; what no rule asks for any more is left out."""
    aged = {
        key: {event: age + passed for event, age in since.items() if age + passed < MOST_STATES}
        for key, since in state.items()
    }
    return {key: since for key, since in aged.items() if since}


def _merge(known: _State, state: _State) -> bool:
    """Add another path's events; True when that changed anything."""
    changed = False
    for key, since in state.items():
        mine = known.setdefault(key, {})
        for event, age in since.items():
            if age < mine.get(event, MOST_STATES):
                mine[event] = age
                changed = True
    return changed


def _is_valu(instruction: MachineInstruction) -> bool:
    return instruction.row.issue_class in VECTOR_CLASSES


def _wait_states(instruction: MachineInstruction) -> int:
    if instruction.row.mnemonic == "s_nop":
        return (_immediate(instruction) & 15) + 1
    return 1


def _immediate(instruction: MachineInstruction) -> int:
    return next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0)


def _is_dot(instruction: MachineInstruction) -> bool:
    return instruction.row.mnemonic.startswith("v_dot")


def _slot_units(instruction: MachineInstruction, *names: str) -> tuple[int, ...]:
    """Vector units of some slots' registers."""
    found: list[int] = []
    for name in names:
        at = instruction.row.slot_index(name)
        operand = instruction.operands[at] if at >= 0 else None
        if isinstance(operand, Register) and operand.bank in ("vgpr", "agpr"):
            found.extend(units_of(operand))
    return tuple(found)


def _vector_reads(instruction: MachineInstruction, *but: str) -> list[int]:
    """Vector units that the slots read, but for some slots."""
    found: list[int] = []
    for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True):
        if slot.is_use and slot.name not in but and isinstance(operand, Register) and operand.bank in ("vgpr", "agpr"):
            found.extend(units_of(operand))
    return found


def _matrix_c(instruction: MachineInstruction) -> tuple[int, ...]:
    """Units of a matrix operation's C; that of a sparse one is its destination."""
    return _slot_units(instruction, "vdst" if instruction.row.mnemonic.startswith("v_smfmac") else "src2")


def _writes_a_part(instruction: MachineInstruction) -> bool:
    """Whether the result is shifted into a part of the destination, which forwarding does not see."""
    name = instruction.row.mnemonic
    modifiers = instruction.modifiers
    if "sdwa" in (instruction.form or ""):
        # Conversions of small floats have no choice of the part, and write the whole register.
        return modifiers.get("dst_sel", 6) != 6  # DWORD
    if name.startswith("v_cvt_scalef32_") and "fp4" in name and "_sr_" in name:
        return True
    selects = modifiers.get("op_sel", 0)
    if selects & 8:
        return True
    return bool(selects & 4) and name.startswith(("v_cvt_sr_fp8", "v_cvt_sr_bf8", "v_cvt_scalef32_sr_"))


class Gfx9Hazards:
    """Finds missing wait states in the code of one kernel; ``blocks`` are ranges of instruction numbers."""

    def __init__(
        self,
        code: Sequence[MachineInstruction],
        blocks: Sequence[tuple[int, int]],
        processor: str,
        entries: Sequence[int] = (),
    ) -> None:
        self.code = code
        self.blocks = blocks
        self.processor = processor
        self.entries = entries
        self.successors = self._edges(entries)
        self.faults: dict[int, StaticFault] = {}
        self._access = [reads_and_writes(i) for i in code]
        self._timing = [matrix_timing(i.row, i.modifiers, processor) for i in code]

    def _edges(self, entries: Sequence[int]) -> list[list[tuple[int, int]]]:
        """For each block those that control may reach next, with the wait states on the way besides instructions."""
        code, blocks = self.code, self.blocks
        returns = states_to_return(code, blocks, entries, _wait_states)
        shortest = min(returns.values(), default=0)
        successors = successors_within_functions(code, blocks, entries)
        # Blocks that are one unconditional branch; a far one computes its target first.
        branches = {
            first
            for number, (first, last) in enumerate(blocks)
            if code[first].row.mnemonic == "s_branch"
            or (code[first].row.mnemonic == "s_getpc_b64" and successors[number] and last - first == _LONG_BRANCH)
        }
        result: list[list[tuple[int, int]]] = []
        for (_, last), following in zip(blocks, successors, strict=True):
            target = target_of(code[last - 1])
            if code[last - 1].row.mnemonic in CALLS:
                callee = register_target(code, last - 1) if target is None else target
                passed = shortest if callee is None else returns.get(callee, shortest)
                result.append([(n, passed) for n in following])
            else:
                leaps = target is not None and last in branches
                result.append([(n, int(leaps and code[blocks[n][0]].pc == target)) for n in following])
        return result

    def run(self) -> dict[int, StaticFault]:
        """For each instruction that comes too early, the fault."""
        entry: list[_State | None] = [None] * len(self.blocks)
        called = (n for n, (first, _) in enumerate(self.blocks) if self.code[first].pc in self.entries)
        work = sorted({*starting_blocks(self.code, self.blocks), *called})
        for block in work:
            entry[block] = {}
        while work:
            block = work.pop()
            state = _copy(entry[block])
            self._walk(block, state, False)
            for successor, passed in self.successors[block]:
                known = entry[successor]
                if known is None:
                    entry[successor] = _later(state, passed)
                    work.append(successor)
                elif _merge(known, _later(state, passed)):
                    work.append(successor)
        for block in range(len(self.blocks)):
            if entry[block] is not None:
                self._walk(block, _copy(entry[block]), True)
        return self.faults

    def _walk(self, block: int, state: _State, report: bool) -> None:
        first, last = self.blocks[block]
        for number in range(first, last):
            instruction = self.code[number]
            if report and state:
                self._check(number, instruction, state)
            aged = _later(state, _wait_states(instruction))
            state.clear()
            state.update(aged)
            self._record(number, instruction, state)

    def _record(self, number: int, instruction: MachineInstruction, state: _State) -> None:
        _, writes = self._access[number]
        timing = self._timing[number]
        for unit in writes:
            for event in ("matrix", "trans", "part", "dot", "scalar"):
                state.pop((event, unit), None)
        if timing is not None:
            events: tuple[str, ...] = ("vector", "matrix")
            if timing.kind == "dgemm":
                state["double", 0] = {number: 0}
            for unit in _matrix_c(instruction) if states_to_overwrite_c(timing) else ():
                state["c", unit] = {number: 0}
        elif _is_valu(instruction):
            events = ("vector", "dot") if _is_dot(instruction) else ("vector", "plain")
            if instruction.row.issue_class == "trans":
                events += ("trans",)
            if _writes_a_part(instruction):
                events += ("part",)
        else:
            events = ()
            if instruction.row.issue_class == "salu":
                if _M0 in writes:
                    state["m0", _M0] = {number: 0}
                if instruction.row.mnemonic.startswith("s_setreg"):
                    state["setreg", _immediate(instruction) % _MODE_REGISTERS] = {number: 0}
        for unit in writes if events else ():
            if unit >= SGPR:
                state["scalar", unit] = {number: 0}
            else:
                for event in events:
                    state[event, unit] = {number: 0}
        for unit in self._wide_data(instruction):
            state["store", unit] = {number: 0}

    @staticmethod
    def _wide_data(instruction: MachineInstruction) -> tuple[int, ...]:
        """Data registers of a store of more than 8 bytes, which it reads late. A buffer store with a register offset
        does not."""
        memory = instruction.row.memory
        if memory is None or memory.kind != "store" or memory.bytes <= 8:
            return ()
        if memory.space not in ("global", "flat", "buffer", "scratch"):
            return ()
        at = instruction.row.slot_index("soffset")
        if at >= 0 and isinstance(instruction.operands[at], Register):
            return ()
        return _slot_units(instruction, *memory.data)

    def _check(self, number: int, instruction: MachineInstruction, state: _State) -> None:
        reads, writes = self._access[number]
        name = instruction.row.mnemonic
        memory = instruction.row.memory
        scalars = [u for u in reads if SGPR <= u < OTHER]
        vectors = [u for u in reads if u < SGPR]

        def early(event: str, units: Iterable[int], needed: int, what: str) -> None:
            self._need(number, state, event, units, needed, what)

        if memory is not None and memory.space in ("global", "flat", "buffer", "scratch"):
            early("scalar", scalars, VALU_SCALAR_TO_VMEM, "a vector memory instruction reads a VALU's scalar result")
        if name.startswith(_M0_READERS) or (memory is not None and memory.kind == "load_lds"):
            early("m0", (_M0,), SALU_M0_TO_USE, "M0 is used right behind its write")
        if name.startswith(("s_setreg", "s_getreg")):
            register = _immediate(instruction) % _MODE_REGISTERS
            early("setreg", (register,), SETREG_TO_SAME, "a hardware register is used behind its s_setreg")
        if self._timing[number] is not None:
            self._check_matrix(number, instruction, state)
            return
        valu = _is_valu(instruction)
        if valu or memory is not None or instruction.row.issue_class == "lds":
            self._check_after_matrix(number, valu, vectors, [u for u in writes if u < SGPR], state)
        if valu:
            self._check_vector(number, instruction, scalars, vectors, state)

    def _check_vector(
        self,
        number: int,
        instruction: MachineInstruction,
        scalars: Sequence[int],
        vectors: Sequence[int],
        state: _State,
    ) -> None:
        name = instruction.row.mnemonic
        written = [u for u in self._access[number][1] if u < SGPR]

        def early(event: str, units: Iterable[int], needed: int, what: str) -> None:
            self._need(number, state, event, units, needed, what)

        if "dpp" in (instruction.form or ""):
            early("scalar", _EXEC, VALU_EXEC_TO_DPP, "a DPP instruction follows a VALU write of EXEC")
            early("vector", vectors, VALU_VECTOR_TO_DPP, "a DPP instruction reads a VALU result")
        if name in _SWAP and self.processor == "gfx950":
            early("vector", vectors, VALU_VECTOR_TO_SWAP, "a lane exchange reads a VALU result")
            early("scalar", _EXEC, VALU_EXEC_TO_SWAP, "a lane exchange follows a VALU write of EXEC")
        if name.startswith("v_div_fmas"):
            early("scalar", _VCC, VALU_VCC_TO_DIV_FMAS, "v_div_fmas reads a VALU's VCC")
        if name in _LANE:
            early("scalar", _EXEC, VALU_EXEC_TO_LANE, "a lane access follows a VALU write of EXEC")
            if name != "v_readfirstlane_b32":
                select = self._select_units(instruction)
                early("scalar", select, VALU_SCALAR_TO_LANE_SELECT, "the lane select is a VALU's scalar result")
            if name != "v_writelane_b32":
                early("vector", vectors, VALU_VECTOR_TO_READLANE, "a lane is read from a VALU result")
        early("scalar", scalars, VALU_SCALAR_TO_VALU, "a VALU reads a VALU's scalar result")
        self._check_any_vector(number, instruction, vectors, state)
        self._check_dot(number, instruction, vectors, written, state)
        if name in _FMA64:
            early(
                "double",
                (0,),
                DOUBLE_MATRIX_TO_FMA,
                "a double-precision FMA follows a double-precision matrix operation",
            )

    def _check_any_vector(
        self, number: int, instruction: MachineInstruction, vectors: Sequence[int], state: _State
    ) -> None:
        """What holds for matrix operations and all other vector instructions."""
        written = [u for u in self._access[number][1] if u < SGPR]

        def early(event: str, units: Iterable[int], needed: int, what: str) -> None:
            self._need(number, state, event, units, needed, what)

        if instruction.row.issue_class != "trans":
            early("trans", vectors, TRANS_TO_VALU, "a VALU reads a transcendental result")
        early("part", [*vectors, *written], PART_TO_VALU, "a VALU touches a register of which a part was just written")
        early("store", written, WIDE_STORE_TO_VALU_WRITE, "a VALU overwrites the data of a wide store")

    @staticmethod
    def _select_units(instruction: MachineInstruction) -> tuple[int, ...]:
        operand = instruction.operands[instruction.row.slot_index("src1")]
        return units_of(operand) if isinstance(operand, Register) else ()

    def _check_dot(
        self,
        number: int,
        instruction: MachineInstruction,
        vectors: Sequence[int],
        written: Sequence[int],
        state: _State,
    ) -> None:
        """A dot product's result goes to another product of the same kind as C at once, to anything else later."""
        same = instruction.row
        operands = _slot_units(instruction, "src0", "src1")
        for what, units in (("reads", vectors), ("overwrites", written)):
            for unit in units:
                since = state.get(("dot", unit))
                for event, age in (since or {}).items():
                    alike = self.code[event].row is same and (what == "overwrites" or unit not in operands)
                    if age < DOT_TO_OTHER and not alike:
                        self._fault(number, f"a VALU {what} a dot product's result", DOT_TO_OTHER, age, event)

    def _check_matrix(self, number: int, instruction: MachineInstruction, state: _State) -> None:
        timing = self._timing[number]
        assert timing is not None
        c = _matrix_c(instruction)
        if instruction.row.mnemonic.startswith("v_smfmac"):
            rest = _slot_units(instruction, "src0", "src1", "src2")
        else:
            rest = tuple(_vector_reads(instruction, "vdst", "src2"))
        self._check_any_vector(number, instruction, (*c, *rest), state)
        self._need(number, state, "scalar", _EXEC, VALU_EXEC_TO_MATRIX, "a matrix operation follows a write of EXEC")
        self._need(number, state, "plain", (*c, *rest), VALU_VECTOR_TO_MATRIX, "a matrix operation reads a VALU result")

        def after_c(first: MatrixTiming, event: int) -> int:
            result = _slot_units(self.code[event], "vdst")
            return states_to_c(first, timing, result == c, self.processor)

        self._need_matrix(number, c, state, after_c, "C is another matrix operation's result")
        self._need_matrix(
            number,
            rest,
            state,
            lambda first, _: states_to_ab(first, self.processor),
            "a source is another matrix operation's result",
        )

    def _check_after_matrix(
        self, number: int, valu: bool, vectors: Sequence[int], written: Sequence[int], state: _State
    ) -> None:
        """Instructions of other kinds that touch the registers of a matrix operation."""
        states = states_to_vector if valu else states_to_memory
        self._need_matrix(
            number,
            vectors,
            state,
            lambda first, _: states(first, self.processor),
            "it reads a matrix operation's result",
        )
        if not valu:
            return
        self._need_matrix(
            number,
            written,
            state,
            lambda first, _: states_to_overwrite(first, self.processor),
            "it overwrites a matrix operation's result",
        )
        for unit in written:
            for event, age in state.get(("c", unit), {}).items():
                first = self._timing[event]
                assert first is not None
                needed = states_to_overwrite_c(first)
                if age < needed:
                    self._fault(number, "it overwrites a matrix operation's C", needed, age, event)

    def _need_matrix(self, number: int, units: Iterable[int], state: _State, states: _States, what: str) -> None:
        for unit in units:
            for event, age in state.get(("matrix", unit), {}).items():
                first = self._timing[event]
                assert first is not None
                needed = states(first, event)
                if age < needed:
                    self._fault(number, what, needed, age, event)
                    return

    def _need(self, number: int, state: _State, event: str, units: Iterable[int], needed: int, what: str) -> None:
        for unit in units:
            since = state.get((event, unit))
            if since:
                producer, age = min(since.items(), key=lambda item: item[1])
                if age < needed:
                    self._fault(number, what, needed, age, producer)
                    return

    def _fault(self, number: int, what: str, needed: int, age: int, event: int) -> None:
        source = self.code[event]
        self.faults.setdefault(
            number,
            StaticFault(
                "missing_nop",
                f"{what}: {needed} wait states are required behind '{source.mnemonic}' at {source.pc:#x}, "
                f"{age} stand between",
            ),
        )
