"""Delay hints: which dependences they name, and that LLVM reads them as meant."""

from __future__ import annotations

import pytest

from loom.target.amdgpu.delays import insert_delays
from loom.target.amdgpu.machine import Immediate, Inline, MachineBlock, MachineInstruction, MachineProgram, Register
from loom.target.amdgpu.tables import find_row


def make(mnemonic: str, *operands: object) -> MachineInstruction:
    row = find_row("gfx11", mnemonic)
    assert row is not None
    return MachineInstruction(row, None, tuple(operands))  # type: ignore[arg-type]


def v(index: int) -> Register:
    return Register("vgpr", index)


def add(target: int, source: int) -> MachineInstruction:
    return make("v_add_nc_u32", v(target), Inline(129), v(source))


def hints(*instructions: MachineInstruction) -> list[tuple[int, int]]:
    """(position, value) of every hint that is inserted."""
    program = MachineProgram("k", "gfx1100", 32, [MachineBlock("b", list(instructions))])
    insert_delays(program, "gfx11")
    return [
        (position, next(o.value for o in i.operands if isinstance(o, Immediate)))
        for position, i in enumerate(program.blocks[0].instructions)
        if i.row.mnemonic == "s_delay_alu"
    ]


# Values as llvm-mc encodes them: instid0 | instskip << 4 | instid1 << 7.
@pytest.mark.parametrize(
    ("instructions", "expected"),
    [
        ([add(1, 0), add(2, 1)], [(1, 1)]),  # instid0(VALU_DEP_1)
        ([add(1, 0), add(3, 0), add(2, 1)], [(2, 2)]),  # instid0(VALU_DEP_2)
        ([add(1, 0), add(2, 1), add(3, 2)], [(1, 0x91)]),  # VALU_DEP_1 | instskip(NEXT) | VALU_DEP_1
        ([make("v_exp_f32", v(1), v(0)), add(2, 1)], [(1, 5)]),  # instid0(TRANS32_DEP_1)
        (
            [make("s_mov_b32", Register("sgpr", 4), Inline(129)), make("v_mov_b32", v(1), Register("sgpr", 4))],
            [(1, 10)],
        ),
        ([add(1, 0), add(5, 0), add(6, 0), add(7, 0), add(8, 0), add(2, 1)], []),  # far enough away
    ],
)
def test_dependences_are_named(instructions: list[MachineInstruction], expected: list[tuple[int, int]]) -> None:
    assert hints(*instructions) == expected


def test_memory_instructions_wait_for_vector_results_themselves() -> None:
    store = make("ds_store_b32", v(0), v(1))
    assert hints(add(1, 0), store, add(2, 1)) == []
