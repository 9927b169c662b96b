"""What one machine instruction reads and writes, in register units.

The rows say which slots and which implicit state an instruction touches; this module adds what depends on the operands
at hand: parts of registers that stay as they were (16-bit halves, data-parallel primitives with disabled sources).
"""

from __future__ import annotations

from loom.raising.lift.units import (
    EXEC,
    M0,
    SCC,
    VCC,
    VGPR,
    first_unit,
    mask_of,
)
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import MachineInstruction, Register

#: Source words that read state: ``src_vccz`` reads VCC.
_STATE_WORDS = {"vccz": VCC, "execz": EXEC}

_PART_OF_A_WORD = frozenset(
    ("f16", "bf16", "i16", "u16", "b16", "v2i8", "v2u8", "fp8", "bf8", "v2fp8", "v2bf8", "v2fp4")
)
"""Types of results that fill one part of a register, which the row does not name as a source."""


class Access:
    """One register access of an instruction.

    Attributes:
        unit: First unit.
        count: Number of units.
        slot: Index of the operand slot, -1 for implicit state.
    """

    __slots__ = ("count", "slot", "unit")

    def __init__(self, unit: int, count: int, slot: int) -> None:
        self.unit = unit
        self.count = count
        self.slot = slot


class Effects:
    """The register accesses of one instruction (both halves of a dual-issue pair).

    Attributes:
        uses: Registers read through slots, in slot order.
        defs: Registers written through slots, in slot order.
        state_uses: State read without being written out, EXEC excepted.
        state_defs: State written without being written out, EXEC included.
        uses_exec: Whether the EXEC mask is read implicitly.
        kept: Written vector registers (first unit, count) that keep part of their old value whatever EXEC says.
        vector_defs: Written vector registers whose inactive lanes stay as they were, in slot order.
        tied: Accesses that are both: slots that are read and then written.
        use_mask: Units read by ``uses`` and ``state_uses``.
        def_mask: Units written.
    """

    __slots__ = (
        "def_mask",
        "defs",
        "kept",
        "state_defs",
        "state_uses",
        "tied",
        "use_mask",
        "uses",
        "uses_exec",
        "vector_defs",
    )

    def __init__(self) -> None:
        self.uses: list[Access] = []
        self.defs: list[Access] = []
        self.state_uses: list[Access] = []
        self.state_defs: list[Access] = []
        self.uses_exec = False
        self.kept: list[Access] = []
        self.vector_defs: list[Access] = []
        self.tied: list[Access] = []
        self.use_mask = 0
        self.def_mask = 0


#: State that is a register, in the order in which it stands among operands and results. ``mode`` is none, and the
#: scratch base is set up by the hardware and stays.
_USE_ORDER = ("scc", "vcc", "m0")
_DEF_ORDER = ("scc", "vcc", "exec", "m0")


def state_units(name: str, wave_size: int) -> tuple[int, int]:
    """Units of an implicit register by the name the rows use."""
    pair = 2 if wave_size == 64 else 1
    return {
        "scc": (SCC, 1),
        "m0": (M0, 1),
        "vcc": (VCC, pair),
        "exec": (EXEC, pair),
    }[name]


class EffectAnalyzer:
    """Computes :class:`Effects`, remembering per row what does not depend on operands."""

    def __init__(self, wave_size: int) -> None:
        self.wave_size = wave_size
        self._rows: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]], bool]] = {}

    def _row_state(self, row: InstructionRow) -> tuple[list[tuple[int, int]], list[tuple[int, int]], bool]:
        found = self._rows.get(id(row))
        if found is None:
            uses, defs = [], []
            for name in _USE_ORDER:
                if name in row.implicit_uses:
                    uses.append(state_units(name, self.wave_size))
            for name in _DEF_ORDER:
                if name in row.implicit_defs:
                    defs.append(state_units(name, self.wave_size))
            found = (uses, defs, "exec" in row.implicit_uses)
            self._rows[id(row)] = found
        return found

    def analyze(self, instruction: MachineInstruction) -> Effects:
        """The accesses of ``instruction``."""
        effects = Effects()
        self._add(effects, instruction)
        if instruction.y is not None:
            self._add(effects, instruction.y)
        return effects

    def _add(self, effects: Effects, instruction: MachineInstruction) -> None:
        row = instruction.row
        state_uses, state_defs, uses_exec = self._row_state(row)
        use_mask = effects.use_mask
        def_mask = effects.def_mask
        form = instruction.form or ""
        keeps = _keeps_old(instruction, form)
        explicit_use = explicit_def = 0
        for index, (slot, operand) in enumerate(zip(row.slots, instruction.operands, strict=True)):
            if operand.__class__ is not Register:
                continue
            unit = first_unit(operand)
            if unit < 0:
                state = _STATE_WORDS.get(operand.bank)
                if state is not None:
                    count = 2 if self.wave_size == 64 else 1
                    effects.state_uses.append(Access(state, count, -1))
                    use_mask |= mask_of(state, count)
                continue
            count = operand.units
            if EXEC <= unit <= EXEC + 1 and count != self.wave_size // 32:
                self._half_of_exec(effects, slot.role)
                use_mask |= mask_of(EXEC, 2) if slot.role != "def" or count == 1 else 0
                def_mask |= mask_of(EXEC, 2) if slot.role != "use" else 0
                continue
            access = Access(unit, count, index)
            mask = mask_of(unit, count)
            if slot.role != "def":
                effects.uses.append(access)
                use_mask |= mask
                explicit_use |= mask
                if slot.role != "use":
                    effects.tied.append(access)
            if slot.role != "use":
                effects.defs.append(access)
                def_mask |= mask
                explicit_def |= mask
                if unit >= VGPR:
                    if keeps or operand.half is not None or slot.type in _PART_OF_A_WORD:
                        effects.kept.append(access)
                    effects.vector_defs.append(access)
        if instruction.modifiers.get("lds"):
            state_uses = [*state_uses, (M0, 1)]  # the address in LDS
        for unit, count in state_uses:
            mask = mask_of(unit, count)
            if not explicit_use & mask:
                if not any(access.unit == unit for access in effects.state_uses):
                    effects.state_uses.append(Access(unit, count, -1))
                use_mask |= mask
        for unit, count in state_defs:
            mask = mask_of(unit, count)
            if not explicit_def & mask:
                if not any(access.unit == unit for access in effects.state_defs):
                    effects.state_defs.append(Access(unit, count, -1))
                def_mask |= mask
        effects.uses_exec = effects.uses_exec or uses_exec
        effects.use_mask = use_mask
        effects.def_mask = def_mask

    @staticmethod
    def _half_of_exec(effects: Effects, role: str) -> None:
        """One half of a 64-lane EXEC, named by a word: the whole mask is read, and written where the half is."""
        if not any(access.unit == EXEC for access in effects.state_uses):
            effects.state_uses.append(Access(EXEC, 2, -1))
        if role != "use":
            effects.state_defs.append(Access(EXEC, 2, -1))


def _keeps_old(instruction: MachineInstruction, form: str) -> bool:
    """Whether lanes or bits of a vector result may keep their old value for reasons other than EXEC."""
    if "dpp" in form:
        return True
    if form == "sdwa":
        return True
    mnemonic = instruction.row.mnemonic
    if mnemonic.startswith(("v_permlane16_", "v_permlanex16_")) and "swap" not in mnemonic:
        # Unless op_sel says what an absent source lane gives: its old value (bit 0) or zero (bit 1).
        return not instruction.modifiers.get("op_sel", 0) & 3
    return "_d16" in mnemonic or mnemonic == "v_writelane_b32"
