"""Required wait states of gfx942 and gfx950, as LLVM's hazard recognizer states them; a missing one is a fault.

A wait state is an issued instruction; ``s_nop n`` counts n + 1. The walk keeps for every register the smallest number
of wait
states since an event, over all paths. Matrix operations' own latencies are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom.target.amdgpu.access import AGPR, SGPR, reads_and_writes
from loom.target.amdgpu.machine import Immediate, MachineInstruction, Register
from loom.target.amdgpu.operation import VECTOR_CLASSES
from loom.target.amdgpu.simulator.translate import StaticFault, target_of

_VCC = (SGPR + 106, SGPR + 107)
_EXEC = (1300, 1301)
_FAR = 8

# Wait states between an event and what depends on it.
VALU_SCALAR_TO_VMEM = 5
VALU_VCC_TO_DIV_FMAS = 4
VALU_SCALAR_TO_LANE_SELECT = 4
VALU_SCALAR_TO_VALU = 2
VALU_EXEC_TO_DPP = 5
VALU_VECTOR_TO_DPP = 2
VALU_VECTOR_TO_READLANE = 1
TRANS_TO_VALU = 1
WIDE_STORE_TO_VALU_WRITE = 2

_State = dict[tuple[str, int], int]


def _is_valu(instruction: MachineInstruction) -> bool:
    return instruction.row.issue_class in VECTOR_CLASSES


def _wait_states(instruction: MachineInstruction) -> int:
    if instruction.row.mnemonic == "s_nop":
        value = next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0)
        return (value & 15) + 1
    return 1


class Gfx9Hazards:
    """Finds missing wait states in the code of one kernel; ``blocks`` are ranges of instruction numbers."""

    def __init__(self, code: Sequence[MachineInstruction], blocks: Sequence[tuple[int, int]]) -> None:
        self.code = code
        self.blocks = blocks
        self.block_at = {code[first].pc: n for n, (first, _) in enumerate(blocks)}
        self.faults: dict[int, StaticFault] = {}
        self._access = [reads_and_writes(i) for i in code]

    def run(self) -> dict[int, StaticFault]:
        """For each instruction that comes too early, the fault."""
        entry: list[_State | None] = [None] * len(self.blocks)
        entry[0] = {}
        work = [0]
        while work:
            block = work.pop()
            state = dict(entry[block] or {})
            self._walk(block, state, False)
            for successor in self._successors(block):
                known = entry[successor]
                if known is None:
                    entry[successor] = dict(state)
                    work.append(successor)
                    continue
                changed = False
                for key, age in state.items():
                    if age < known.get(key, _FAR):
                        known[key] = age
                        changed = True
                if changed:
                    work.append(successor)
        for block in range(len(self.blocks)):
            if entry[block] is not None:
                self._walk(block, dict(entry[block] or {}), True)
        return self.faults

    def _successors(self, block: int) -> list[int]:
        _, last = self.blocks[block]
        instruction = self.code[last - 1]
        target = target_of(instruction)
        found = [self.block_at[target]] if target is not None and target in self.block_at else []
        if instruction.row.mnemonic not in (
            "s_branch",
            "s_endpgm",
            "s_setpc_b64",
            "s_swappc_b64",
            "s_code_end",
            "s_trap",
        ) and block + 1 < len(self.blocks):
            found.append(block + 1)
        return found

    def _walk(self, block: int, state: _State, report: bool) -> None:
        first, last = self.blocks[block]
        for number in range(first, last):
            instruction = self.code[number]
            if report and state:
                self._check(number, instruction, state)
            passed = _wait_states(instruction)
            for key in list(state):
                age = state[key] + passed
                if age >= _FAR:
                    del state[key]
                else:
                    state[key] = age
            self._record(number, instruction, state)

    def _record(self, number: int, instruction: MachineInstruction, state: _State) -> None:
        _, writes = self._access[number]
        if _is_valu(instruction):
            for unit in writes:
                if unit < AGPR:
                    state["vector", unit] = 0
                    if instruction.row.issue_class == "trans":
                        state["trans", unit] = 0
                    else:
                        state.pop(("trans", unit), None)
                elif unit >= SGPR:
                    state["scalar", unit] = 0
        else:
            for unit in writes:
                state.pop(("scalar", unit), None)
        memory = instruction.row.memory
        if (
            memory is not None
            and memory.kind == "store"
            and memory.bytes > 8
            and memory.space in ("global", "flat", "buffer")
        ):
            for name in memory.data:
                index = instruction.row.slot_index(name)
                operand = instruction.operands[index] if index >= 0 else None
                if isinstance(operand, Register) and operand.bank == "vgpr":
                    for unit in range(operand.index, operand.index + operand.units):
                        state["store", unit] = 0

    def _check(self, number: int, instruction: MachineInstruction, state: _State) -> None:
        reads, writes = self._access[number]
        name = instruction.row.mnemonic
        valu = _is_valu(instruction)
        form = instruction.form or ""

        def too_early(event: str, units: Sequence[int], needed: int, what: str) -> bool:
            for unit in units:
                age = state.get((event, unit), _FAR)
                if age < needed:
                    self.faults.setdefault(
                        number,
                        StaticFault("missing_nop", f"{what}: {needed} wait states are required, {age} stand between"),
                    )
                    return True
            return False

        scalars = [u for u in reads if SGPR <= u < 1300]
        vectors = [u for u in reads if u < AGPR]
        memory = instruction.row.memory
        if memory is not None and memory.space in ("global", "flat", "buffer", "scratch"):
            too_early(
                "scalar", scalars, VALU_SCALAR_TO_VMEM, "a vector memory instruction reads a VALU's scalar result"
            )
        if not valu:
            return
        if "dpp" in form:
            too_early("scalar", _EXEC, VALU_EXEC_TO_DPP, "a DPP instruction follows a VALU write of EXEC")
            index = instruction.row.slot_index("src0")
            source = instruction.operands[index] if index >= 0 else None
            if isinstance(source, Register) and source.bank == "vgpr":
                too_early("vector", [source.index], VALU_VECTOR_TO_DPP, "a DPP instruction reads a VALU result")
        if name.startswith("v_div_fmas"):
            too_early("scalar", _VCC, VALU_VCC_TO_DIV_FMAS, "v_div_fmas reads a VALU's VCC")
        elif name in ("v_readlane_b32", "v_writelane_b32"):
            too_early("scalar", scalars, VALU_SCALAR_TO_LANE_SELECT, "the lane select is a VALU's scalar result")
        else:
            too_early("scalar", scalars, VALU_SCALAR_TO_VALU, "a VALU reads a VALU's scalar result")
        if name in ("v_readlane_b32", "v_readfirstlane_b32"):
            too_early("vector", vectors, VALU_VECTOR_TO_READLANE, "a lane is read from a VALU result")
        if instruction.row.issue_class != "trans":
            too_early("trans", vectors, TRANS_TO_VALU, "a VALU reads a transcendental result")
        too_early(
            "store",
            [u for u in writes if u < AGPR],
            WIDE_STORE_TO_VALU_WRITE,
            "a VALU overwrites the data of a wide store",
        )
