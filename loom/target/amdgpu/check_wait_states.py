"""Independent check of gfx9.4's wait states: from each instruction backwards, pair by pair.

Nothing is shared with :mod:`loom.target.amdgpu.wait_states` but the latencies of matrix operations: registers are
followed by bank and index, and :func:`_needed` says of two instructions how far apart they must be issued.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from loom.target.amdgpu import matrix_latency as latency
from loom.target.amdgpu.machine import BranchTarget, Immediate, MachineInstruction, MachineProgram, Register

Place = tuple[str, int]

_FARTHEST = 20
_VECTOR = ("vgpr", "agpr")
_STATE = {"vcc": (("sgpr", 106), ("sgpr", 107)), "exec": (("exec", 0), ("exec", 1)), "m0": (("m0", 0),)}
_VCC, _EXEC = frozenset(_STATE["vcc"]), frozenset(_STATE["exec"])
_M0 = frozenset(_STATE["m0"])
_APART = (
    "s_setreg",
    "s_getreg",
    "v_fma_f64",
    "v_fmac_f64",
    "v_readlane",
    "v_readfirstlane",
    "v_writelane",
    "s_sendmsg",
)


@dataclass(frozen=True, slots=True)
class _View:
    """What an instruction touches, by slot."""

    instruction: MachineInstruction
    name: str
    issue: str
    timing: latency.MatrixTiming | None
    uses: frozenset[Place]
    defs: frozenset[Place]
    by_slot: dict[str, frozenset[Place]]
    states: int
    vector_uses: frozenset[Place]
    vector_defs: frozenset[Place]
    scalar_defs: frozenset[Place]
    touched: frozenset[Place]
    apart: bool
    """Whether it may be in another one's way without sharing a register."""

    @property
    def alu(self) -> bool:
        """Whether a vector unit executes it; loads to LDS pass through one."""
        memory = self.instruction.row.memory
        direct = memory is not None and (memory.kind == "load_lds" or self.instruction.modifiers.get("lds", 0) == 1)
        return self.issue in ("valu", "trans", "matrix") or direct

    @property
    def vmem(self) -> bool:
        """Whether it is a vector memory instruction (not of the LDS)."""
        memory = self.instruction.row.memory
        return self.issue in ("vmem", "flat") and memory is not None and memory.kind != "cache"

    def slot(self, name: str) -> frozenset[Place]:
        """Registers of a slot."""
        return self.by_slot.get(name, frozenset())


def _view(instruction: MachineInstruction, processor: str) -> _View:
    row = instruction.row
    by_slot: dict[str, frozenset[Place]] = {}
    uses: set[Place] = set()
    defs: set[Place] = set()
    for slot, operand in zip(row.slots, instruction.operands, strict=True):
        if not isinstance(operand, Register) or operand.bank in ("off", "null"):
            continue
        bank, first = ("sgpr", 106 + operand.index) if operand.bank == "vcc" else (operand.bank, operand.index)
        places = frozenset((bank, first + unit) for unit in range(max(1, operand.units)))
        by_slot[slot.name] = places
        uses |= places if slot.is_use else frozenset()
        defs |= places if slot.is_def else frozenset()
    for name in row.implicit_uses:
        uses.update(_STATE.get(name, ()))
    for name in row.implicit_defs:
        defs.update(_STATE.get(name, ()))
    states = 1
    if row.mnemonic == "s_nop":
        states += next((o.value % 16 for o in instruction.operands if isinstance(o, Immediate)), 0)
    timing = latency.matrix_timing(row, instruction.modifiers, processor)
    banks = {o.bank for o in instruction.operands if isinstance(o, Register)}
    return _View(
        instruction,
        row.mnemonic,
        row.issue_class,
        timing,
        frozenset(uses),
        frozenset(defs),
        by_slot,
        states,
        _vectors(uses),
        _vectors(defs),
        frozenset(place for place in defs if place[0] not in _VECTOR and place[0] != "scc"),
        frozenset(uses | defs),
        timing is not None or row.mnemonic.startswith(_APART) or not banks.isdisjoint(("vccz", "execz")),
    )


def _vectors(places: Set[Place]) -> frozenset[Place]:
    return frozenset(place for place in places if place[0] in _VECTOR)


def _is_dpp(view: _View) -> bool:
    return "dpp" in (view.instruction.form or "") or "dpp_ctrl" in view.instruction.modifiers


def _is_swap(view: _View) -> bool:
    return view.name.startswith("v_permlane") and "_swap_" in view.name


def _moves_result(view: _View) -> bool:
    """Whether a result lands in another part of its register than it is computed in."""
    instruction = view.instruction
    if "sdwa" in (instruction.form or "") or "dst_sel" in instruction.modifiers:
        return instruction.modifiers.get("dst_sel", 6) != 6
    names = {modifier.name for modifier in instruction.row.modifiers}
    if "op_sel_hi" in names:  # LLVM counts packed arithmetic in where its first source is taken from the upper half
        return instruction.modifier("op_sel_hi") % 2 == 1
    return instruction.modifiers.get("op_sel", 0) >> (2 if "_cvt_" in view.name else 3) > 0


def _hardware_register(view: _View) -> int | None:
    if view.name.startswith(("s_setreg", "s_getreg")):
        return next((o.value & 63 for o in view.instruction.operands if isinstance(o, Immediate)), None)
    return None


def _scalar_hazard(first: _View, second: _View) -> Iterator[tuple[int, str]]:
    """Distances from scalar registers, EXEC and M0 that ``first`` writes."""
    if first.alu:
        written = first.scalar_defs
        if second.vmem and written & second.uses:
            yield 5, "its scalar operand"
        if second.name.startswith("v_div_fmas") and written & _VCC:
            yield 4, "VCC"
        if second.name in ("v_readlane_b32", "v_writelane_b32") and written & second.slot("src1"):
            yield 4, "the lane it selects"
        if second.alu and (written - _EXEC) & second.uses:
            yield 2, "its scalar operand"
        if written & _EXEC:
            if _is_dpp(second):
                yield 5, "EXEC"
            lanes = second.name in ("v_readlane_b32", "v_writelane_b32", "v_readfirstlane_b32")
            if lanes or second.timing is not None or _is_swap(second):
                yield 4, "EXEC"
        banks = {o.bank for o in second.instruction.operands if isinstance(o, Register)}
        if second.alu and (("vccz" in banks and written & _VCC) or ("execz" in banks and written & _EXEC)):
            yield 5, "a zero flag"
    elif first.issue == "salu" and first.defs & _M0:
        reader = second.name.startswith(("s_sendmsg", "s_movrel", "s_ttracedata"))
        vector = second.issue in ("vmem", "flat", "lds")
        if reader or (vector and (_M0 & second.uses or second.instruction.modifiers.get("lds"))):
            yield 1, "M0"
    register = _hardware_register(first) if first.name.startswith("s_setreg") else None
    if register is not None and register == _hardware_register(second):
        yield 2, "the hardware register"


def _vector_hazard(first: _View, second: _View) -> Iterator[tuple[int, str]]:
    """Distances from vector registers that ``first`` writes or stores."""
    written = first.vector_defs
    read = second.vector_uses
    overwritten = written & second.vector_defs
    if _is_dpp(second) and (written & read or overwritten):
        yield 2, "a register of a DPP instruction"
    if first.alu:
        if second.name in ("v_readlane_b32", "v_readfirstlane_b32") and written & second.slot("src0"):
            yield 1, "the register it takes a lane from"
        if first.issue == "trans" and second.alu and second.issue != "trans" and written & read:
            yield 1, "a transcendental result"
        if _moves_result(first) and second.alu and (written & read or overwritten):
            yield 1, "a result in part of a register"
        if _is_swap(second) and written & read:
            yield 2, "a register it swaps"
        if first.timing is None and not first.name.startswith("v_dot") and second.timing is not None and written & read:
            yield 2, "an operand of a matrix operation"
    if first.name.startswith("v_dot") and second.timing is None and (second.alu or second.issue in _MEMORY):
        same = second.name == first.name
        addend = second.slot("src2" if "src2" in second.by_slot else "vdst") if same else frozenset()
        factors = frozenset().union(*(p for name, p in second.by_slot.items() if name in ("src0", "src1")))
        if (not same and (written & read or overwritten)) or (same and written & (factors | (read - addend))):
            yield 3, "a dot product's result"
    memory = first.instruction.row.memory
    if first.vmem and second.alu and memory is not None and memory.kind in ("store", "atomic"):
        scalar_offset = memory.space == "buffer" and bool(first.slot("soffset"))
        data = [first.slot(name) for name in memory.data]
        if not scalar_offset and any(len(d) > 2 and d & second.defs for d in data):
            yield 2, "the data of a wide store"


_MEMORY = ("vmem", "flat", "lds")


def _matrix_hazard(
    first: _View, second: _View, results: frozenset[Place], addends: frozenset[Place], processor: str
) -> Iterator[tuple[int, str]]:
    """Distances from a matrix operation; ``results`` and ``addends`` are its registers that no later one had."""
    timing = first.timing
    assert timing is not None
    if second.timing is not None:
        slot = "vdst" if second.name.startswith("v_smfmac") else "src2"
        factors = frozenset().union(*(p for n, p in second.by_slot.items() if n not in ("vdst", slot)))
        if results & second.slot(slot):
            same = first.slot("vdst") == second.slot(slot)
            yield latency.states_to_c(timing, second.timing, same, processor), "C"
        if results & factors:
            yield latency.states_to_ab(timing, processor), "A or B"
        return
    memory = second.issue in _MEMORY
    if not second.alu and not memory:
        return
    if timing.kind == latency.DGEMM and second.name in ("v_fma_f64", "v_fmac_f64"):
        yield 2, "the unit"
    if results & second.uses:
        states = latency.states_to_memory if memory else latency.states_to_vector
        yield states(timing, processor), "a matrix result"
    if results & second.defs:
        yield latency.states_to_overwrite(timing, processor), "a matrix result, to overwrite it"
    if addends & second.defs:
        yield latency.states_to_overwrite_c(timing), "C, to overwrite it"


_Step = tuple[int, int, int, frozenset[Place], frozenset[Place]]
"""Block, position, wait states passed, matrix results and addends met on the way."""


def _problems(
    views: Sequence[Sequence[_View]],
    before: Sequence[Sequence[tuple[int, int]]],
    block: int,
    position: int,
    processor: str,
) -> Iterator[str]:
    second = views[block][position]
    start: _Step = (block, position - 1, 0, frozenset(), frozenset())
    stack = [start]
    seen = {start}
    while stack:
        index, at, passed, results, addends = stack.pop()
        while at >= 0 and passed < _FARTHEST:
            first = views[index][at]
            at -= 1
            if not (second.apart or first.timing is not None) and first.touched.isdisjoint(second.touched):
                passed += first.states
                continue
            found = [*_scalar_hazard(first, second), *_vector_hazard(first, second)]
            if first.timing is not None:
                slot = "vdst" if first.name.startswith("v_smfmac") else "src2"
                mine = first.slot(slot) if first.timing.kind == latency.XDL else frozenset()
                found += _matrix_hazard(first, second, first.slot("vdst") - results, mine - addends, processor)
                results |= first.slot("vdst")
                addends |= mine
            for needed, what in found:
                if needed > passed:
                    yield f"needs {what} {needed} wait states behind {first.name}, {passed} stand between"
            passed += first.states
        if passed < _FARTHEST:
            for previous, leaves_at in before[index]:
                step = (previous, leaves_at, passed, results, addends)
                if step not in seen:
                    seen.add(step)
                    stack.append(step)


def _replay_problems(views: Sequence[_View]) -> Iterator[tuple[_View, str]]:
    """Memory instructions in a row are issued again together after a page fault: none may have overwritten what one of
    them reads."""
    kind, read, written = "", frozenset[Place](), frozenset[Place]()
    for view in views:
        current = "vector" if view.vmem else "scalar" if view.issue == "smem" else ""
        if current != kind:
            kind, read, written = current, frozenset(), frozenset()
        if current == "scalar" and len(view.defs) > 1 and view.defs & view.uses:
            yield view, "loads over its own address, which it may need again"
        if current and written:
            memory = view.instruction.row.memory
            writes = view.alu or (memory is not None and memory.kind in ("store", "atomic"))
            if writes or (written | view.defs) & (read | view.uses):
                yield view, "continues a row of memory instructions that must be able to run twice"
        read |= view.uses
        written |= view.defs


def _edges_in(program: MachineProgram) -> list[list[tuple[int, int]]]:
    """For every block where control comes from: block, and the instruction there that it leaves at."""
    names = [block.label for block in program.blocks]
    before: list[list[tuple[int, int]]] = [[] for _ in names]
    for number, block in enumerate(program.blocks):
        for position, instruction in enumerate(block.instructions):
            for operand in instruction.operands:
                if isinstance(operand, BranchTarget) and operand.label in names:
                    before[names.index(operand.label)].append((number, position))
        last = block.instructions[-1].row.mnemonic if block.instructions else ""
        if last not in ("s_branch", "s_endpgm", "s_setpc_b64") and number + 1 < len(names):
            before[number + 1].append((number, len(block.instructions) - 1))
    return before


def wait_state_problems(program: MachineProgram, processors: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """What comes too early: block, instruction, and why.

    Args:
        program: The final program.
        processors: What the code is to run on; a generic target has several.
    """
    before = _edges_in(program)
    for processor in processors:
        views = [[_view(i, processor) for i in block.instructions] for block in program.blocks]
        for block, block_views in zip(program.blocks, views, strict=True):
            for view, text in _replay_problems(block_views):
                yield block.label, view.name, text
        for number, block in enumerate(program.blocks):
            for position, instruction in enumerate(block.instructions):
                for text in _problems(views, before, number, position, processor):
                    yield block.label, instruction.row.mnemonic, text
