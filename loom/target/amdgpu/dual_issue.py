"""Pairs of vector instructions as one dual-issue (VOPD) instruction: gfx11 and gfx12, wave32.

Rules (AMD's RDNA 3 and RDNA 4 ISA documents, "Dual issue VALU"): the two halves are independent; one destination is
even and
the other odd; the first sources come from different VGPR banks (index modulo 4), and so do the second ones; at most two
scalar values, one of them a literal that both may use; a third source is the destination itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache

from loom.target.amdgpu.access import reads_and_writes
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import Inline, Literal, MachineInstruction, MachineProgram, Operand, Register
from loom.target.amdgpu.tables import find_row

#: Ordinary mnemonic → dual-issue mnemonic; the last three exist as the second half only.
_HALVES = {
    "v_fmac_f32": "v_dual_fmac_f32",
    "v_fmaak_f32": "v_dual_fmaak_f32",
    "v_fmamk_f32": "v_dual_fmamk_f32",
    "v_mul_f32": "v_dual_mul_f32",
    "v_add_f32": "v_dual_add_f32",
    "v_sub_f32": "v_dual_sub_f32",
    "v_subrev_f32": "v_dual_subrev_f32",
    "v_mov_b32": "v_dual_mov_b32",
    "v_cndmask_b32": "v_dual_cndmask_b32",
    "v_max_f32": "v_dual_max_f32",
    "v_min_f32": "v_dual_min_f32",
    "v_add_nc_u32": "v_dual_add_nc_u32",
    "v_lshlrev_b32": "v_dual_lshlrev_b32",
    "v_and_b32": "v_dual_and_b32",
}
_SECOND_ONLY = frozenset(("v_dual_add_nc_u32", "v_dual_lshlrev_b32", "v_dual_and_b32"))
_COMMUTATIVE = frozenset(
    ("v_fmac_f32", "v_mul_f32", "v_add_f32", "v_max_f32", "v_min_f32", "v_add_nc_u32", "v_and_b32")
)

WINDOW = 6
"""Instructions behind the first half among which a second half is looked for."""


@dataclass(slots=True)
class _Half:
    row: InstructionRow
    operands: tuple[Operand, ...]
    destination: int
    first: Operand
    second: Operand | None
    literal: int | None
    scalars: tuple[Register, ...]


@cache
def _dual_row(generation: str, mnemonic: str) -> InstructionRow | None:
    name = _HALVES.get(mnemonic)
    return None if name is None else find_row(generation, name)


def _half(instruction: MachineInstruction, generation: str, swapped: bool = False) -> _Half | None:
    """The instruction as a half, ``None`` where it cannot be one."""
    row = instruction.row
    dual = _dual_row(generation, row.mnemonic)
    if (
        dual is None
        or instruction.form not in (None, "e32")
        or instruction.modifiers
        or instruction.raw
        or instruction.y
    ):
        return None
    by_name = {slot.name: operand for slot, operand in zip(row.slots, instruction.operands, strict=True)}
    destination = by_name.get("vdst")
    if (
        not isinstance(destination, Register)
        or destination.bank != "vgpr"
        or destination.units != 1
        or destination.half
    ):
        return None
    first = by_name.get("src0")
    second = by_name.get("vsrc1", by_name.get("src1"))
    if swapped:
        if row.mnemonic not in _COMMUTATIVE or second is None:
            return None
        first, second = second, first
    if second is not None and not (isinstance(second, Register) and second.bank == "vgpr"):
        return None
    scalars: list[Register] = []
    literal: int | None = None
    for operand in by_name.values():
        if isinstance(operand, Literal):
            literal = operand.bits
    if isinstance(first, Register) and first.bank != "vgpr":
        if first.bank not in ("sgpr", "vcc", "ttmp", "m0"):
            return None
        scalars.append(first)
    if row.mnemonic == "v_cndmask_b32":
        mask = by_name.get("src2")
        if not (isinstance(mask, Register) and mask.bank == "vcc"):
            return None
        scalars.append(mask)
    operands: list[Operand] = []
    for slot in dual.slots:
        if slot.name == "vdst":
            operands.append(destination)
        elif slot.name == "src0":
            assert first is not None
            operands.append(first)
        elif slot.name in ("vsrc1", "src1"):
            if second is None:
                return None
            operands.append(second)
        elif literal is not None:
            operands.append(Literal(literal))
        else:
            return None
    return _Half(dual, tuple(operands), destination.index, first, second, literal, tuple(scalars))  # type: ignore[arg-type]


def _bank(operand: Operand | None) -> int | None:
    return operand.index % 4 if isinstance(operand, Register) and operand.bank == "vgpr" else None


def _fit(x: _Half, y: _Half) -> bool:
    if x.row.mnemonic in _SECOND_ONLY:
        return False
    if (x.destination ^ y.destination) & 1 == 0:
        return False
    for a, b in ((x.first, y.first), (x.second, y.second)):
        bank_a, bank_b = _bank(a), _bank(b)
        if bank_a is not None and bank_a == bank_b:
            return False
    if x.literal is not None and y.literal is not None and x.literal != y.literal:
        return False
    scalars = set(x.scalars) | set(y.scalars)
    return len(scalars) + (x.literal is not None or y.literal is not None) <= 2


def _pair(a: MachineInstruction, b: MachineInstruction, generation: str) -> MachineInstruction | None:
    """``a`` and ``b`` as one instruction, in whichever order and operand order fits."""
    for first, second in ((a, b), (b, a)):
        for swap_first in (False, True):
            x = _half(first, generation, swap_first)
            if x is None:
                continue
            for swap_second in (False, True):
                y = _half(second, generation, swap_second)
                if y is not None and _fit(x, y):
                    made = MachineInstruction(x.row, "vopd", x.operands, location=a.location)
                    made.y = MachineInstruction(y.row, "vopd", y.operands, location=b.location)
                    return made
    return None


def pair_instructions(
    program: MachineProgram,
    generation: str,
    keep: set[int],
    runs: Mapping[int, Hashable],
    renamed: dict[int, tuple[int, int]],
) -> int:
    """Merge instructions of each block into pairs; returns how many pairs were made.

    Args:
        program: The program, before waits are inserted.
        generation: Instruction table.
        keep: ``id`` of instructions that must stay as and where they are (locked regions).
        runs: By ``id`` of an instruction the ordering region it must stay in (between fences, within its phases).
        renamed: Gets, by ``id`` of a pair, the ``id`` of its two instructions in order of the text.
    """
    if generation not in ("gfx11", "gfx12") or program.wave_size != 32:
        return 0
    made_pairs = 0
    for block in program.blocks:
        instructions = block.instructions
        taken: set[int] = set()
        replacement: dict[int, MachineInstruction] = {}
        access = [reads_and_writes(i) for i in instructions]
        for i, first in enumerate(instructions):
            if i in taken or id(first) in keep or _dual_row(generation, first.row.mnemonic) is None:
                continue
            crossed_reads: set[int] = set()
            crossed_writes: set[int] = set()
            writes_first = access[i][1]
            for j in range(i + 1, min(i + 1 + WINDOW, len(instructions))):
                second = instructions[j]
                reads, writes = access[j]
                blocked = (
                    runs.get(id(second)) != runs.get(id(first))
                    or id(second) in keep
                    or second.row.issue_class in ("branch",)
                    or "exec" in second.row.implicit_defs
                )
                candidate = j not in taken and not blocked and _dual_row(generation, second.row.mnemonic) is not None
                if candidate:
                    independent = not (
                        set(writes_first) & (set(reads) | set(writes))
                        or crossed_writes & (set(reads) | set(writes))
                        or crossed_reads & set(writes)
                    )
                    if independent:
                        pair = _pair(first, second, generation)
                        if pair is not None:
                            taken.update((i, j))
                            replacement[i] = pair
                            renamed[id(pair)] = (id(first), id(second))
                            made_pairs += 1
                            break
                if blocked or any(1300 <= unit < 1302 for unit in writes):
                    break
                crossed_reads.update(reads)
                crossed_writes.update(writes)
        if replacement:
            result: list[MachineInstruction] = []
            for i, instruction in enumerate(instructions):
                if i in replacement:
                    result.append(replacement[i])
                elif i not in taken:
                    result.append(instruction)
            block.instructions = result
    return made_pairs


def is_inline(operand: Operand) -> bool:
    """Whether an operand is an inline constant."""
    return isinstance(operand, Inline)
