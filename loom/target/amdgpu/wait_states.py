"""Wait states of gfx9.4: how many issued instructions must lie between two that depend on one another.

gfx942 and gfx950 resolve fewer dependences in hardware than their successors; software keeps a distance, with ``s_nop``
where it has nothing better to do. Every issued instruction is one wait state, ``s_nop n`` is n + 1. :data:`RULES` is
the table: what an instruction leaves behind, who must keep away from it, and for how long. The walk over the
control-flow graph keeps for each of these traces the smallest distance that any path allows.

Facts: LLVM's hazard recognizer for the AMDGPU target (all distances but one; ``tests`` hold its pass against ours),
AMD's CDNA 3 ISA document, "Manually inserted wait states" (reads of VCCZ and EXECZ as data). Matrix operations:
:mod:`loom.target.amdgpu.matrix_latency`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field

from loom.target.amdgpu.access import EXEC_UNITS, SGPR, reads_and_writes, state_units, units_of
from loom.target.amdgpu.machine import BranchTarget, Immediate, MachineInstruction, MachineProgram, Operand, Register
from loom.target.amdgpu.matrix_latency import (
    DGEMM,
    MOST_STATES,
    XDL,
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
from loom.target.amdgpu.processors import processor

LONGEST_NOP = 16
"""Wait states of one ``s_nop``."""

_VECTOR_SPACES = frozenset(("global", "flat", "scratch", "buffer"))
_MODE_READERS = frozenset(("s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32"))
_READS_LANE = frozenset(("v_readlane_b32", "v_readfirstlane_b32"))
_SELECTS_LANE = frozenset(("v_readlane_b32", "v_writelane_b32"))
_READS_M0 = ("s_sendmsg", "s_ttracedata", "s_movrel", "ds_gws_")
_DOUBLE_FMA = frozenset(("v_fma_f64", "v_fmac_f64"))
_NO_FALL_THROUGH = frozenset(("s_branch", "s_endpgm", "s_endpgm_saved", "s_setpc_b64", "s_swappc_b64"))
_WHOLE_WORD = 6
"""``dst_sel`` of an SDWA instruction that writes a whole register, as those do that have no choice of the part."""

_VCC = state_units(("vcc",))
_M0 = state_units(("m0",))
_ALWAYS = (-1,)
"""The unit of traces that no register carries."""
_VCCZ, _EXECZ = -2, -3
_HARDWARE = -10


@dataclass(slots=True)
class Facts:
    """What the rules ask of an instruction; unit numbers as in :mod:`loom.target.amdgpu.access`."""

    instruction: MachineInstruction
    name: str
    vector: bool
    matrix: MatrixTiming | None
    memory: bool
    """Whether it accesses memory through vector registers, the LDS included."""
    vmem: bool
    """Whether it is a vector memory instruction: all of ``memory`` but the LDS."""
    reads: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)

    @property
    def vector_reads(self) -> list[int]:
        """VGPRs and AGPRs read."""
        return [unit for unit in self.reads if unit < SGPR]

    @property
    def vector_writes(self) -> list[int]:
        """VGPRs and AGPRs written."""
        return [unit for unit in self.writes if unit < SGPR]

    @property
    def scalar_reads(self) -> list[int]:
        """Scalar registers read, VCC, EXEC and M0 among them."""
        return [unit for unit in self.reads if unit >= SGPR]

    @property
    def scalar_writes(self) -> list[int]:
        """Scalar registers written, VCC, EXEC and M0 among them."""
        return [unit for unit in self.writes if unit >= SGPR]

    def operand(self, slot: str) -> Operand | None:
        """What stands in a slot; ``None`` where the instruction has no such slot."""
        index = self.instruction.row.slot_index(slot)
        return self.instruction.operands[index] if index >= 0 else None

    def units(self, slot: str) -> tuple[int, ...]:
        """Units of a slot's register."""
        operand = self.operand(slot)
        return units_of(operand) if isinstance(operand, Register) else ()


def facts_of(instruction: MachineInstruction, processor_name: str) -> Facts:
    """The facts of one instruction."""
    row = instruction.row
    reads, writes = reads_and_writes(instruction)
    memory = row.memory
    space = memory.space if memory is not None and memory.kind != "cache" else ""
    vmem = space in _VECTOR_SPACES
    # A load to LDS goes through the vector units like an instruction of theirs.
    to_lds = memory is not None and (memory.kind == "load_lds" or bool(instruction.modifiers.get("lds")))
    return Facts(
        instruction,
        row.mnemonic,
        row.issue_class in VECTOR_CLASSES or to_lds,
        matrix_timing(row, instruction.modifiers, processor_name),
        vmem or row.issue_class == "lds",
        vmem,
        reads,
        writes,
    )


# What instructions are, beyond their facts


def _is_dot(name: str) -> bool:
    return name.startswith("v_dot")


def _is_dpp(facts: Facts) -> bool:
    return "dpp" in (facts.instruction.form or "") or "dpp_ctrl" in facts.instruction.modifiers


def _is_swap(name: str) -> bool:
    return name.startswith("v_permlane") and "_swap_" in name


def _writes_part(facts: Facts) -> bool:
    """Whether a vector instruction moves its result to a part of the register: SDWA, or ``op_sel`` of the
    destination."""
    modifiers = facts.instruction.modifiers
    if "sdwa" in (facts.instruction.form or "") or "dst_sel" in modifiers:
        return modifiers.get("dst_sel", _WHOLE_WORD) != _WHOLE_WORD
    if "op_sel_hi" in {m.name for m in facts.instruction.row.modifiers}:
        # Packed arithmetic. LLVM takes the upper half of its first source for one of the result: kept, to be safe.
        return bool(facts.instruction.modifier("op_sel_hi") & 1)
    return bool(modifiers.get("op_sel", 0) & 0xC if "cvt" in facts.name else modifiers.get("op_sel", 0) & 8)


def _wide_store_data(facts: Facts) -> tuple[int, ...]:
    """Data of a store of more than two registers, which the memory unit fetches late. A buffer store with a scalar
    offset is slow enough itself."""
    memory = facts.instruction.row.memory
    if memory is None or not facts.vmem or memory.kind not in ("store", "atomic"):
        return ()
    if memory.space == "buffer" and isinstance(facts.operand("soffset"), Register):
        return ()
    return tuple(unit for name in memory.data for unit in facts.units(name) if len(facts.units(name)) > 2)


def _mode_register(facts: Facts) -> Sequence[int]:
    """The hardware register that ``s_setreg`` and ``s_getreg`` name, as a unit."""
    operand = facts.operand("simm16")
    return [_HARDWARE - (operand.value & 63)] if isinstance(operand, Immediate) else ()


def _needs_m0(facts: Facts) -> bool:
    return (
        facts.name.startswith(_READS_M0)
        or (facts.memory and "m0" in facts.instruction.row.implicit_uses)
        or bool(facts.instruction.modifiers.get("lds"))
    )


def _zero_flags(facts: Facts) -> Sequence[int]:
    banks = {o.bank for o in facts.instruction.operands if isinstance(o, Register)}
    return [unit for bank, unit in (("vccz", _VCCZ), ("execz", _EXECZ)) if bank in banks]


# Matrix operations: the trace is the timing and the registers it is of


@dataclass(frozen=True, slots=True)
class _Result:
    timing: MatrixTiming
    register: Register


def _addend_slot(facts: Facts) -> str:
    """Slot of C of a matrix operation; a sparse one adds to its destination."""
    return "vdst" if facts.name.startswith("v_smfmac") else "src2"


def _addend(facts: Facts) -> tuple[int, ...]:
    """Units of C."""
    return facts.units(_addend_slot(facts))


def _factors(facts: Facts) -> list[int]:
    """Units of A, B and what else a matrix operation reads besides C."""
    return _read_besides(facts, _addend_slot(facts))


def _read_besides(facts: Facts, left_out: str) -> list[int]:
    """Vector registers read through all slots but one."""
    return [
        unit
        for slot in facts.instruction.row.slots
        if slot.is_use and slot.name != left_out
        for unit in facts.units(slot.name)
        if unit < SGPR
    ]


def _matrix_result(facts: Facts) -> _Result | None:
    operand = facts.operand("vdst")
    return _Result(facts.matrix, operand) if facts.matrix is not None and isinstance(operand, Register) else None


def _states_to_c(trace: object, facts: Facts, name: str) -> int:
    assert isinstance(trace, _Result) and facts.matrix is not None
    return states_to_c(trace.timing, facts.matrix, trace.register is facts.operand(_addend_slot(facts)), name)


def _states_to_read(trace: object, facts: Facts, name: str) -> int:
    assert isinstance(trace, _Result)
    return (states_to_memory if facts.memory else states_to_vector)(trace.timing, name)


def _after_matrix(function: Callable[[MatrixTiming, str], int]) -> Callable[[object, Facts, str], int]:
    def states(trace: object, facts: Facts, name: str) -> int:
        assert isinstance(trace, _Result)
        return function(trace.timing, name)

    return states


def _overwrites_c(timing: MatrixTiming, _: str) -> int:
    return states_to_overwrite_c(timing)


def _accumulator(facts: Facts) -> str:
    """Slot of what a dot product adds to; an instruction of another kind has none."""
    if not _is_dot(facts.name):
        return ""
    return "src2" if facts.instruction.row.slot_index("src2") >= 0 else "vdst"


def _after_dot(trace: object, facts: Facts, _: str) -> int:
    """The same dot product may accumulate onto the result at once."""
    return 0 if trace == facts.name else 3


# The table

_Leaves = Callable[[Facts], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One dependence that software keeps apart.

    Attributes:
        name: Name for reports.
        leaves: Units on which an instruction leaves its trace.
        meets: Units on which an instruction must not meet it.
        states: Wait states between, from the trace, the instruction that meets it and the processor; or a number.
        trace: What of the first instruction ``states`` wants to know.
    """

    name: str
    leaves: _Leaves
    meets: _Leaves
    states: int | Callable[[object, Facts, str], int]
    trace: Callable[[Facts], object] = lambda facts: None


def _when(condition: Callable[[Facts], bool], units: _Leaves) -> _Leaves:
    return lambda facts: units(facts) if condition(facts) else ()


def _is_valu(facts: Facts) -> bool:
    return facts.vector


def _is_plain(facts: Facts) -> bool:
    """A vector instruction, but no matrix operation."""
    return facts.vector and facts.matrix is None


def _is_matrix(facts: Facts) -> bool:
    return facts.matrix is not None


def _uses_vectors(facts: Facts) -> bool:
    return facts.matrix is None and (facts.vector or facts.memory)


def _among(units: Sequence[int], wanted: Container[int]) -> list[int]:
    return [unit for unit in units if unit in wanted]


_scalars_written = _when(_is_valu, lambda f: f.scalar_writes)
_vectors_written = _when(_is_valu, lambda f: f.vector_writes)
_exec_written = _when(_is_valu, lambda f: _among(f.writes, EXEC_UNITS))

RULES: tuple[Rule, ...] = (
    Rule("vmem_scalar", _scalars_written, _when(lambda f: f.vmem, lambda f: f.scalar_reads), 5),
    Rule("div_fmas_vcc", _scalars_written, _when(lambda f: f.name.startswith("v_div_fmas"), lambda f: _VCC), 4),
    Rule("lane_select", _scalars_written, _when(lambda f: f.name in _SELECTS_LANE, lambda f: f.units("src1")), 4),
    Rule(
        "valu_scalar",
        _scalars_written,
        _when(_is_valu, lambda f: [unit for unit in f.scalar_reads if unit not in EXEC_UNITS]),
        2,
    ),
    Rule("dpp_vector", lambda f: f.vector_writes, _when(_is_dpp, lambda f: f.vector_reads + f.vector_writes), 2),
    Rule("dpp_exec", _exec_written, _when(_is_dpp, lambda f: list(EXEC_UNITS)), 5),
    Rule("readlane_vector", _vectors_written, _when(lambda f: f.name in _READS_LANE, lambda f: f.units("src0")), 1),
    Rule(
        "lane_exec",
        _exec_written,
        _when(lambda f: f.name in _READS_LANE or f.name in _SELECTS_LANE, lambda f: list(EXEC_UNITS)),
        4,
    ),
    Rule(
        "trans_result",
        _when(lambda f: f.instruction.row.issue_class == "trans", lambda f: f.vector_writes),
        _when(lambda f: f.vector and f.instruction.row.issue_class != "trans", lambda f: f.vector_reads),
        1,
    ),
    Rule(
        "part_result",
        _when(lambda f: f.vector and _writes_part(f), lambda f: f.vector_writes),
        _when(_is_valu, lambda f: f.vector_reads + f.vector_writes),
        1,
    ),
    Rule("wide_store", _wide_store_data, _vectors_written, 2),
    Rule(
        "mode_register",
        _when(lambda f: f.name.startswith("s_setreg"), _mode_register),
        _when(lambda f: f.name in _MODE_READERS, _mode_register),
        2,
    ),
    Rule(
        "m0",
        _when(lambda f: f.instruction.row.issue_class == "salu", lambda f: _among(f.writes, _M0)),
        _when(_needs_m0, lambda f: _M0),
        1,
    ),
    Rule(
        "zero_flag",
        _when(
            _is_valu,
            lambda f: [_VCCZ] * any(u in _VCC for u in f.writes) + [_EXECZ] * any(u in EXEC_UNITS for u in f.writes),
        ),
        _when(_is_valu, _zero_flags),
        5,
    ),
    Rule("swap_vector", _vectors_written, _when(lambda f: _is_swap(f.name), lambda f: f.vector_reads), 2),
    Rule("swap_exec", _exec_written, _when(lambda f: _is_swap(f.name), lambda f: list(EXEC_UNITS)), 4),
    Rule(
        "dot_result",
        _when(lambda f: _is_dot(f.name), lambda f: f.vector_writes),
        _when(_uses_vectors, lambda f: _read_besides(f, _accumulator(f)) if _is_dot(f.name) else f.vector_reads),
        3,
    ),
    Rule(
        "dot_accumulated",
        _when(lambda f: _is_dot(f.name), lambda f: f.vector_writes),
        _when(_uses_vectors, lambda f: [*f.units(_accumulator(f)), *f.vector_writes]),
        _after_dot,
        lambda f: f.name,
    ),
    Rule("matrix_exec", _when(_is_plain, _exec_written), _when(_is_matrix, lambda f: list(EXEC_UNITS)), 4),
    Rule(
        "matrix_operand",
        _when(lambda f: _is_plain(f) and not _is_dot(f.name), lambda f: f.vector_writes),
        _when(_is_matrix, lambda f: f.vector_reads),
        2,
    ),
    Rule(
        "matrix_to_c",
        _when(_is_matrix, lambda f: f.vector_writes),
        _when(_is_matrix, _addend),
        _states_to_c,
        _matrix_result,
    ),
    Rule(
        "matrix_to_ab",
        _when(_is_matrix, lambda f: f.vector_writes),
        _when(_is_matrix, _factors),
        _after_matrix(states_to_ab),
        _matrix_result,
    ),
    Rule(
        "matrix_read",
        _when(_is_matrix, lambda f: f.vector_writes),
        _when(_uses_vectors, lambda f: f.vector_reads),
        _states_to_read,
        _matrix_result,
    ),
    Rule(
        "matrix_overwritten",
        _when(_is_matrix, lambda f: f.vector_writes),
        _when(_uses_vectors, lambda f: f.vector_writes),
        _after_matrix(states_to_overwrite),
        _matrix_result,
    ),
    Rule(
        "matrix_c_overwritten",
        _when(lambda f: f.matrix is not None and f.matrix.kind == XDL, _addend),
        _when(_uses_vectors, lambda f: f.vector_writes),
        _after_matrix(_overwrites_c),
        _matrix_result,
    ),
    Rule(
        "double_fma",
        _when(lambda f: f.matrix is not None and f.matrix.kind == DGEMM, lambda f: _ALWAYS),
        _when(lambda f: f.name in _DOUBLE_FMA, lambda f: _ALWAYS),
        2,
    ),
)
"""Every distance that software keeps, but for clauses."""


# Clauses


def _clause(facts: Facts) -> str:
    """Kind of clause that an instruction is part of, or nothing."""
    if facts.vmem:
        return "vector"
    return "scalar" if facts.instruction.row.issue_class == "smem" else ""


@dataclass(slots=True)
class _Clause:
    """Memory instructions in a row. Where page faults are replayed (XNACK), the whole row may be issued again, so
    nothing in it may overwrite what another one of it reads; and a store must not follow loads."""

    kind: str = ""
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)

    def breaks(self, facts: Facts) -> bool:
        """Whether the instruction must not continue the row."""
        if _clause(facts) != self.kind or not self.writes:
            return False
        memory = facts.instruction.row.memory
        if memory is not None and (memory.kind in ("store", "atomic") or facts.vector):
            return True
        return not (self.writes | set(facts.writes)).isdisjoint(self.reads | set(facts.reads))

    def issue(self, facts: Facts, broken: bool) -> None:
        """Continue the row, or begin another one."""
        kind = _clause(facts)
        if kind != self.kind or broken:
            self.kind, self.reads, self.writes = kind, set(), set()
        if kind:
            self.reads.update(facts.reads)
            self.writes.update(facts.writes)


# The walk

_Key = tuple[int, int, object]
"""Number of the rule, unit, trace."""
_State = dict[_Key, int]
"""Wait states since each trace was left."""


def _traces(facts: Facts) -> list[tuple[int, Sequence[int], object]]:
    """What an instruction leaves behind: number of the rule, units, trace."""
    return [(number, units, rule.trace(facts)) for number, rule in enumerate(RULES) if (units := rule.leaves(facts))]


@dataclass(frozen=True, slots=True)
class Distance:
    """Wait states that an instruction lacks in front of it, and the rule that asks for them."""

    rule: str
    states: int


class WaitStateScan:
    """Finds where a gfx9.4 program lacks wait states."""

    def __init__(self, program: MachineProgram) -> None:
        self.program = program
        known = processor(program.processor)
        #: A generic target's code runs on all its members: the slowest counts.
        self.names = known.members or (program.processor,)
        self.xnack = known.xnack
        self._index_of: dict[str | None, int] = {block.label: i for i, block in enumerate(program.blocks)}
        self._facts = [
            [facts_of(instruction, self.names[-1]) for instruction in block.instructions] for block in program.blocks
        ]
        left = [[_traces(facts) for facts in block] for block in self._facts]
        present = {number for block in left for traces in block for number, _, _ in traces}
        self._left = left
        self._met = [
            [[(number, units) for number in present if (units := RULES[number].meets(facts))] for facts in block]
            for block in self._facts
        ]

    def run(self) -> list[list[Distance | None]]:
        """For every instruction the wait states to insert in front of it, in order, or ``None``."""
        blocks = self.program.blocks
        entry: list[_State | None] = [None] * len(blocks)
        entry[0] = {}
        work = [0]
        while work:
            index = work.pop()
            for successor, out in self._walk(index, entry[index] or {}, None):
                known = entry[successor]
                if known is None:
                    entry[successor] = out
                    work.append(successor)
                    continue
                changed = False
                for key, age in out.items():
                    if age < known.get(key, MOST_STATES):
                        known[key] = age
                        changed = True
                if changed:
                    work.append(successor)
        result: list[list[Distance | None]] = []
        for index in range(len(blocks)):
            found: list[Distance | None] = []
            self._walk(index, entry[index] or {}, found)
            result.append(found)
        return result

    def _walk(self, index: int, entry: _State, result: list[Distance | None] | None) -> list[tuple[int, _State]]:
        """Walk a block; gives the state on each edge out of it, branches in its middle among them."""
        clock = 0
        # Traces by rule and unit: what was left, and when.
        traces: dict[tuple[int, int], dict[object, int]] = {}
        for (number, unit, trace), age in entry.items():
            traces.setdefault((number, unit), {})[trace] = -age
        clause = _Clause()
        edges: list[tuple[int, _State]] = []

        def state() -> _State:
            return {
                (number, unit, trace): clock - moment
                for (number, unit), left in traces.items()
                for trace, moment in left.items()
                if clock - moment < MOST_STATES
            }

        for facts, met, left in zip(self._facts[index], self._met[index], self._left[index], strict=True):
            lacking, name = 0, ""
            for number, units in met:
                rule = RULES[number]
                for unit in units:
                    for trace, moment in traces.get((number, unit), {}).items():
                        needed = self._states(rule, trace, facts) - (clock - moment)
                        if needed > lacking:
                            lacking, name = needed, rule.name
            if not lacking and self.xnack and clause.breaks(facts):
                lacking, name = 1, "clause"
            if result is not None:
                result.append(Distance(name, lacking) if lacking else None)
            clause.issue(facts, lacking > 0)
            clock += lacking + wait_states(facts.instruction)
            for number, units, trace in left:
                for unit in units:
                    traces[number, unit] = {trace: clock}
            for operand in facts.instruction.operands:
                if isinstance(operand, BranchTarget) and operand.label in self._index_of:
                    edges.append((self._index_of[operand.label], state()))
        block = self.program.blocks[index].instructions
        if index + 1 < len(self.program.blocks) and not (block and block[-1].row.mnemonic in _NO_FALL_THROUGH):
            edges.append((index + 1, state()))
        return edges

    def _states(self, rule: Rule, trace: object, facts: Facts) -> int:
        if isinstance(rule.states, int):
            return rule.states
        return max(rule.states(trace, facts, name) for name in self.names)


def wait_states(instruction: MachineInstruction) -> int:
    """Wait states that an instruction itself is."""
    if instruction.row.mnemonic != "s_nop":
        return 1
    return next((o.value & 15 for o in instruction.operands if isinstance(o, Immediate)), 0) + 1


def nops(states: int) -> Iterator[int]:
    """Operands of the ``s_nop`` instructions that make ``states`` wait states."""
    while states > 0:
        yield min(states, LONGEST_NOP) - 1
        states -= LONGEST_NOP
