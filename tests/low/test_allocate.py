from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from toy import ToyTarget, random_code, run_registers, run_values

from loom.diagnostics import LoomError
from loom.low.allocate import allocate, sequentialize
from loom.low.code import ENTRY, OP, RETURN, CodeBlock, Instruction, LowCode, Traits
from loom.low.interface import Move


@pytest.mark.parametrize("seed", range(60))
def test_allocated_program_computes_what_the_values_compute(seed: int) -> None:
    expected = run_values(random_code(seed))
    code = random_code(seed)
    target = ToyTarget(400)
    allocation = allocate(code, target)
    assert run_registers(code, allocation, target) == expected
    assert not allocation.spilled


@pytest.mark.parametrize("seed", range(40))
def test_spilled_program_computes_the_same(seed: int) -> None:
    expected = run_values(random_code(seed, length=24))
    code = random_code(seed, length=24)
    target = ToyTarget(20)
    allocation = allocate(code, target)
    assert run_registers(code, allocation, target) == expected


def test_spilling_happens_in_the_small_file() -> None:
    spilled = 0
    for seed in range(20):
        spilled += len(allocate(random_code(seed, length=24), ToyTarget(20)).spilled)
    assert spilled > 20


def straight(count: int) -> LowCode:
    """``count`` values that all live at once, then are consumed."""
    code = LowCode("straight")
    block = CodeBlock("entry")
    code.blocks = [block]
    values = [code.new_register("toy.r", 1) for _ in range(count)]
    block.instructions.append(Instruction(ENTRY, "entry"))
    for number, value in enumerate(values):
        block.instructions.append(Instruction(OP, number, [(value, 0, 1)]))
    block.instructions.append(
        Instruction(OP, "observe", [], [(v, 0, 1) for v in values], (), Traits(side_effects=True))
    )
    block.instructions.append(Instruction(RETURN, "return"))
    code.link()
    return code


def test_values_lie_apart_where_there_is_room() -> None:
    """Neighbouring values of a chain want locations of different parity: two registers alternate, or one more is taken."""
    code = straight(6)
    block = code.blocks[0]
    defined = [i.defs[0] for i in block.instructions if i.kind == OP and i.defs]
    observe = block.instructions[-2]
    # 0 and 1 even and odd by themselves; 0 and 2, 1 and 3 not.
    observe.apart = tuple((defined[a], defined[b], 2) for a, b in ((0, 2), (1, 3), (4, 5)))
    allocation = allocate(code, ToyTarget(400))
    places = [allocation.location[register.index] for register, _, _ in defined]
    assert [(places[a] - places[b]) % 2 for a, b in ((0, 2), (1, 3), (4, 5))] == [1, 1, 1]
    assert sorted(places) == [0, 1, 2, 3, 4, 5]


def test_a_wish_that_cannot_be_met_costs_nothing() -> None:
    code = straight(3)
    block = code.blocks[0]
    defined = [i.defs[0] for i in block.instructions if i.kind == OP and i.defs]
    block.instructions[-2].apart = tuple((defined[a], defined[b], 2) for a, b in ((0, 1), (1, 2), (0, 2)))
    allocation = allocate(code, ToyTarget(3))
    assert sorted(allocation.location[register.index] for register, _, _ in defined) == [0, 1, 2]


def test_a_straight_run_needs_as_many_registers_as_live_at_once() -> None:
    assert allocate(straight(17), ToyTarget(64)).high_water["r"] == 17


def test_more_operands_of_one_instruction_than_registers_is_an_error() -> None:
    with pytest.raises(LoomError) as caught:
        allocate(straight(9), ToyTarget(8))
    assert caught.value.diagnostics[0].code == "BACKEND/012"


def test_two_pinned_values_in_one_register_are_refused() -> None:
    code = LowCode("pinned")
    block = CodeBlock("entry")
    code.blocks = [block]
    a = code.new_register("toy.r", 1, "a", 3)
    b = code.new_register("toy.r", 1, "b", 3)
    block.instructions = [
        Instruction(OP, 1, [(a, 0, 1)]),
        Instruction(OP, 2, [(b, 0, 1)]),
        Instruction(OP, "observe", [], [(a, 0, 1), (b, 0, 1)], (), Traits(side_effects=True)),
        Instruction(RETURN, "return"),
    ]
    code.link()
    with pytest.raises(LoomError) as caught:
        allocate(code, ToyTarget(8))
    assert caught.value.diagnostics[0].code == "BACKEND/011"
    assert "r 3" in caught.value.diagnostics[0].message


def apply(moves: list[Move], start: dict[int, int]) -> dict[int, int]:
    state = dict(start)
    for move in moves:
        state[move.target] = state[move.source]
    return state


def test_parallel_moves_with_a_cycle_and_a_chain() -> None:
    moves = [Move("r", 0, 1), Move("r", 1, 2), Move("r", 2, 0), Move("r", 5, 0), Move("r", 6, 5)]
    ordered = sequentialize(moves, lambda _: 9)
    after = apply(ordered, {i: i * 11 for i in range(10)})
    assert [after[i] for i in (0, 1, 2, 5, 6)] == [11, 22, 0, 0, 55]
    assert len(ordered) == 6
