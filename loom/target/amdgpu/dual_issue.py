"""Pairs of vector instructions as one dual-issue (VOPD) instruction: gfx11 and gfx12, wave32.

Rules (AMD's RDNA 3 and RDNA 4 ISA documents, "Dual issue VALU"): the two halves are independent; one destination is
even and
the other odd; the first sources come from different VGPR banks (index modulo 4), and so do the second ones; at most two
scalar values, one of them a literal that both may use; a third source is the destination itself.

Pairs that the text writes with virtual registers (the author's, or a lifted kernel's) come here as one instruction:
the allocator is asked for registers that suit them (:func:`keep_pair`); where they do not suit, in whichever order of
halves and of operands, the pair becomes two instructions (:func:`separate_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cache

from loom.low.code import Instruction, Ref
from loom.target.amdgpu.access import reads_and_writes
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import Literal, MachineInstruction, MachineProgram, Operand, Register
from loom.target.amdgpu.operation import Operation, RegisterSlot
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


# Pairs of the text


def keep_pair(pair: Instruction) -> None:
    """Ask the allocator for registers that a pair can have: results of different parity, sources of different
    banks."""
    payload = pair.payload
    assert isinstance(payload, Operation) and payload.y is not None

    def reference(half: Operation, slot: str) -> Ref | None:
        index = half.row.slot_index(slot)
        entry = half.operands[index] if index >= 0 else None
        if not isinstance(entry, RegisterSlot):
            return None
        found = (pair.uses if entry.kind else pair.defs)[entry.index]
        return found if found[0].register_class == "amdgpu.vgpr" else None

    apart: list[tuple[Ref, Ref, int]] = []
    for slot, banks in (("vdst", 2), ("src0", 4), ("src1", 4)):
        x, y = reference(payload, slot), reference(payload.y, slot)
        if x is not None and y is not None and x != y:
            apart.append((x, y, banks))
    pair.apart = tuple(apart)


def _plain(half: MachineInstruction, generation: str) -> MachineInstruction | None:
    """A half as an instruction of its own; ``None`` where there is none like it."""
    row = find_row(generation, half.row.mnemonic.replace("v_dual_", "v_", 1))
    if row is None:
        return None
    by_name = {slot.name: operand for slot, operand in zip(half.row.slots, half.operands, strict=True)}
    operands = tuple(by_name.get(slot.name, _LANE_MASK if slot.type == "mask" else None) for slot in row.slots)
    if None in operands:
        return None
    return MachineInstruction(row, None, operands, location=half.location)  # type: ignore[arg-type]


_LANE_MASK = Register("vcc", 0, 1)


def _suits(pair: MachineInstruction) -> bool:
    """Whether the registers of a pair are as the rules want them. One register may be read by both halves."""
    second = pair.y
    assert second is not None
    halves = [{s.name: o for s, o in zip(h.row.slots, h.operands, strict=True)} for h in (pair, second)]
    x, y = (half["vdst"] for half in halves)
    assert isinstance(x, Register) and isinstance(y, Register)
    sources = [tuple(half.get(name) for half in halves) for name in ("src0", "src1")]
    return (x.index ^ y.index) & 1 == 1 and all(a is b or _bank(a) is None or _bank(a) != _bank(b) for a, b in sources)


def _one_by_one(
    x: MachineInstruction, y: MachineInstruction, generation: str, spare: Callable[[], int]
) -> tuple[list[MachineInstruction], int]:
    """Two halves one behind the other, neither reading what the other has written; and the register that this took,
    -1 if none."""
    (x_reads, x_writes), (y_reads, y_writes) = reads_and_writes(x), reads_and_writes(y)
    if not set(x_writes) & set(y_reads):
        return [x, y], -1
    if not set(y_writes) & set(x_reads):
        return [y, x], -1
    row = find_row(generation, "v_mov_b32")
    overwritten = x.operand("vdst")
    assert row is not None and isinstance(overwritten, Register)
    number = spare()
    kept = Register("vgpr", number)
    y.operands = tuple(kept if operand is overwritten else operand for operand in y.operands)
    return [MachineInstruction(row, None, (kept, overwritten)), x, y], number


def separate_pairs(
    program: MachineProgram,
    generation: str,
    origins: dict[int, Instruction],
    spare: Callable[[Instruction], int],
) -> tuple[int, set[int]]:
    """Turn pairs of the text whose registers do not suit into others, or into two instructions.

    Args:
        program: The program, with the registers allocated.
        generation: Instruction table.
        origins: By ``id`` of an instruction what it was made of; the new instructions are added.
        spare: A vector register that holds nothing at an instruction of the text.

    Returns:
        How many became two, and the spare registers that some of them took.
    """
    separated = 0
    taken: set[int] = set()
    for block in program.blocks:
        result: list[MachineInstruction] = []
        for instruction in block.instructions:
            made = [instruction]
            if instruction.y is not None and not _suits(instruction):
                x, y = _plain(instruction, generation), _plain(instruction.y, generation)
                if x is not None and y is not None:
                    pair = _pair(x, y, generation)
                    made = [pair] if pair is not None else []
                    origin = origins[id(instruction)]
                    if pair is None:
                        made, number = _one_by_one(x, y, generation, lambda origin=origin: spare(origin))  # type: ignore[misc]
                        taken |= {number} - {-1}
                        separated += 1
                    for one in made:
                        one.location = instruction.location
                        origins[id(one)] = origin
            result.extend(made)
        block.instructions = result
    return separated, taken
