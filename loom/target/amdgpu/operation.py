"""The payload of an AMDGPU instruction in Low code: its row and what stands in each slot.

A slot holds a constant operand (inline constant, literal, field, ``off``, ``null``), the k-th definition or the k-th
use. Emission puts
physical registers in; nothing else about the instruction changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from loom.diagnostics import Location, error
from loom.low.code import OP, Instruction, Ref, Traits
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import MachineInstruction, Operand, Register
from loom.target.amdgpu.tables import find_row, rows

DEFINITION = 0
USE = 1


@dataclass(frozen=True, slots=True)
class RegisterSlot:
    """A slot that takes a register: definition or use number ``index`` of the instruction; ``half`` of a 16-bit
    operand."""

    kind: int
    index: int
    half: int | None = None


@dataclass(slots=True)
class Operation:
    """What to encode.

    Attributes:
        row: Table row.
        operands: Parallel to ``row.slots``.
        modifiers: Non-default modifiers.
        form: Encoding form that the text demands, ``None`` for the shortest.
        raw: Don't-care bits.
        y: Second half of a dual-issue pair; its register slots count the same definitions and uses.
    """

    row: InstructionRow
    operands: tuple[Operand | RegisterSlot, ...]
    modifiers: dict[str, int] = field(default_factory=dict)
    form: str | None = None
    raw: int = 0
    y: Operation | None = None

    def __str__(self) -> str:
        return self.row.mnemonic

    def machine(
        self, defs: list[Ref], uses: list[Ref], place: Callable[[Ref, int | None], Register]
    ) -> MachineInstruction:
        """The machine instruction, ``place`` giving the physical register of a reference."""
        operands: list[Operand] = []
        for entry in self.operands:
            if isinstance(entry, RegisterSlot):
                ref = defs[entry.index] if entry.kind == DEFINITION else uses[entry.index]
                operands.append(place(ref, entry.half))
            else:
                operands.append(entry)
        y = None if self.y is None else self.y.machine(defs, uses, place)
        return MachineInstruction(self.row, self.form, tuple(operands), dict(self.modifiers), self.raw, y=y)


@cache
def row_named(generation: str, mnemonic: str) -> InstructionRow | None:
    """The row of an instruction that the backend makes itself, by gfx11's name for it; ``None`` if there is none."""
    found = find_row(generation, mnemonic)
    if found is None:
        found = next((row for row in rows(generation) if row.semantic == mnemonic), None)
    return found


VECTOR_CLASSES = frozenset(("valu", "trans", "matrix", "dual"))
"""Issue classes that execute on the vector units."""
SCALAR_CLASSES = frozenset(("salu", "branch", "message"))
"""Issue classes whose scalar results LLVM's hazard recognizer takes for the scalar unit's: ``s_getpc_b64`` and calls
among the branches, ``s_sendmsg_rtn`` among the messages."""

_SPACES = {
    "global": "global",
    "buffer": "global",
    "constant": "global",
    "flat": "flat",
    "scratch": "scratch",
    "lds": "lds",
    "gds": "gds",
}

_ORDERED = frozenset(
    (
        "s_barrier", "s_barrier_signal", "s_barrier_wait", "s_waitcnt", "s_waitcnt_vscnt", "s_waitcnt_vmcnt",
        "s_waitcnt_lgkmcnt", "s_waitcnt_expcnt", "s_wait_idle", "s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt",
        "s_wait_kmcnt", "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt", "s_icache_inv", "s_dcache_inv", "s_gl1_inv",
    )
)  # fmt: skip
"""Instructions that no memory access moves across."""

_STATE = frozenset(("exec", "scc", "vcc", "m0", "mode", "vccz", "execz"))
"""Machine state that orders instructions; the rest (mode, flat_scratch) does not change in a kernel of ours, except
by s_setreg."""

_EARLY_CLOBBER = ("v_wmma_", "v_swmmac_", "v_mad_u64_u32", "v_mad_i64_i32", "v_mad_co_", "v_mqsad_", "v_qsad_")
"""Results that may not overlap sources: the instruction reads sources after it has begun to write."""


def _replayed(row: InstructionRow) -> bool:
    """Whether the instruction may be issued again after some of its result is written: a scalar load of several
    registers on a generation that can replay page faults (XNACK). It must keep its address."""
    return row.generation == "gfx9.4" and row.issue_class == "smem" and any(s.is_def and s.units > 1 for s in row.slots)


def _in_passes(row: InstructionRow) -> bool:
    """Whether it is a matrix operation of gfx9.4 that writes some rows of its result before it has read all operands
    (LLVM: results of more than four registers may not overlap A and B, and C only where they are it)."""
    return (
        row.issue_class == "matrix" and row.generation == "gfx9.4" and any(s.is_def and s.units > 4 for s in row.slots)
    )


_TRAITS: dict[tuple[int, bool, bool, bool], tuple[InstructionRow, Traits]] = {}


def row_traits(row: InstructionRow, invariant: bool, volatile: bool, into_lds: bool = False) -> Traits:
    """Traits of a row; ``invariant`` loads read memory that nobody writes, ``volatile`` accesses keep their order,
    buffer loads ``into_lds`` write there."""
    # By identity, since hashing a row is slow; the row is kept so that its identity stays its own.
    key = (id(row), invariant, volatile, into_lds)
    found = _TRAITS.get(key)
    if found is None:
        found = _TRAITS[key] = (row, _make_traits(row, invariant, volatile, into_lds))
    return found[1]


def _make_traits(row: InstructionRow, invariant: bool, volatile: bool, into_lds: bool) -> Traits:
    memory = row.memory
    issue = row.issue_class
    mnemonic = row.mnemonic
    space = None
    reads = writes = barrier = effects = False
    into_lds = into_lds or (memory is not None and memory.kind == "load_lds")
    if memory is not None and memory.kind != "prefetch":
        if memory.kind == "cache":
            barrier = effects = True
        elif into_lds or not (invariant and memory.kind == "load"):
            # A load into LDS touches both memories, as a flat access may.
            space = "flat" if into_lds else _SPACES.get(memory.space, "flat")
            reads = memory.kind in ("load", "atomic", "load_lds")
            writes = into_lds or memory.kind != "load"
    if mnemonic in _ORDERED or mnemonic.startswith(("s_barrier", "s_wait", "buffer_gl", "global_inv", "global_wb")):
        barrier = effects = True
    elif issue in ("message", "wait", "branch") or mnemonic.startswith(
        (
            "s_setreg",
            "s_sleep",
            "s_setprio",
            "s_sendmsg",
            "s_trap",
            "s_sethalt",
            "s_set_inst",
            "s_memtime",
            "s_getreg",
            "s_nop",
        )
    ):
        effects = True
    state_uses = tuple(name for name in row.implicit_uses if name in _STATE)
    state_defs = tuple(name for name in row.implicit_defs if name in _STATE)
    has_vector_result = any(slot.is_def and ("vgpr" in slot.kinds or "agpr" in slot.kinds) for slot in row.slots)
    return Traits(
        latency=max(1, row.latency),
        issue=issue,
        memory_space=space,
        reads_memory=reads,
        writes_memory=writes,
        barrier=barrier,
        side_effects=effects or volatile,
        state_uses=state_uses,
        state_defs=state_defs,
        early_clobber=mnemonic.startswith(_EARLY_CLOBBER) or _replayed(row) or _in_passes(row),
        masked=has_vector_result and "exec" in row.implicit_uses,
    )


def row_instruction(
    generation: str,
    processor: str,
    mnemonic: str,
    defs: list[Ref],
    uses: list[Ref],
    fixed: Mapping[str, Operand],
    modifiers: Mapping[str, int],
    location: Location | None = None,
) -> Instruction:
    """An instruction that the backend makes itself: slots named in ``fixed`` hold constants, the others take ``defs``
    and ``uses`` in order.

    Raises:
        LoomError: ``BACKEND/004`` if the generation has no such instruction.
    """
    row = row_named(generation, mnemonic)
    if row is None:
        raise error(
            f"{processor} has no instruction {mnemonic}",
            "BACKEND/004",
            location,
            hint="compile for a processor of another generation, or write the kernel without it",
        )
    slots: list[Operand | RegisterSlot] = []
    d = u = 0
    for slot in row.slots:
        if slot.name in fixed:
            slots.append(fixed[slot.name])
        elif slot.is_def:
            slots.append(RegisterSlot(DEFINITION, d))
            d += 1
            if slot.is_use:
                u += 1
        else:
            slots.append(RegisterSlot(USE, u))
            u += 1
    payload = Operation(row, tuple(slots), {name: value for name, value in modifiers.items() if value})
    return Instruction(OP, payload, defs, uses, (), row_traits(row, False, False), location)
