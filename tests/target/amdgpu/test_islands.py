"""Branches over more than 128 KiB: the branch or an island chain arrives, and every step is in reach."""

from __future__ import annotations

import pytest

from loom.diagnostics import LoomError
from loom.target.amdgpu.decoder import decode_code
from loom.target.amdgpu.encoder import encode
from loom.target.amdgpu.islands import REACH, insert_islands
from loom.target.amdgpu.machine import (
    BranchTarget,
    Immediate,
    Literal,
    MachineBlock,
    MachineInstruction,
    MachineProgram,
    Register,
)
from loom.target.amdgpu.tables import find_row


def make(mnemonic: str, *operands: object) -> MachineInstruction:
    row = find_row("gfx11", mnemonic)
    assert row is not None
    return MachineInstruction(row, None, tuple(operands))  # type: ignore[arg-type]


def body(count: int) -> list[MachineInstruction]:
    """8 bytes each."""
    return [make("v_add_nc_u32", Register("vgpr", 1), Literal(0x12345 + n), Register("vgpr", 1)) for n in range(count)]


def program(count: int) -> MachineProgram:
    """entry: skip to the end, or run through ``count`` instructions and start again."""
    blocks = [
        MachineBlock("entry", [make("s_cbranch_scc1", BranchTarget("end")), *body(10)]),
        MachineBlock("loop", body(count)),
        MachineBlock("back", [make("s_cbranch_scc0", BranchTarget("loop"))]),
        MachineBlock("end", [make("s_endpgm", Immediate(0))]),
    ]
    return MachineProgram("far", "gfx1100", 32, blocks)


def arrival(code: bytes, at: int) -> int:
    """Where the branch at byte ``at`` ends up when unconditional branches are followed."""
    instructions = {i.pc: i for block in decode_code(code, "gfx1100", 32).blocks for i in block.instructions}
    while True:
        instruction = instructions[at]
        target = next(o for o in instruction.operands if isinstance(o, BranchTarget))
        assert abs(target.offset - at - 4) <= REACH
        if instructions[target.offset].row.mnemonic != "s_branch":
            return target.offset
        at = target.offset


@pytest.mark.parametrize("count", [17_000, 34_000, 60_000])
def test_far_branches_arrive_over_islands(count: int) -> None:
    with pytest.raises(LoomError) as caught:
        encode(program(count))
    assert caught.value.diagnostics[0].code == "ENCODE/006"
    far = program(count)
    assert insert_islands(far, "gfx11") >= 2
    code = encode(far)
    listed = [i for block in far.blocks for i in block.instructions]
    forward = next(i for i in listed if i.row.mnemonic == "s_cbranch_scc1")
    backward = next(i for i in listed if i.row.mnemonic == "s_cbranch_scc0")
    end = next(i for i in listed if i.row.mnemonic == "s_endpgm")
    first = far.block("loop").instructions[0]
    assert arrival(code, forward.pc) == end.pc
    assert arrival(code, backward.pc) == first.pc
    # Control that comes along from above meets the same arithmetic in the same order.
    path = []
    at = far.blocks[0].instructions[1].pc
    by_pc = {i.pc: i for i in listed}
    while at != backward.pc:
        instruction = by_pc[at]
        if instruction.row.mnemonic == "s_branch":
            label = next(o.label for o in instruction.operands if isinstance(o, BranchTarget))
            assert label is not None
            at = far.block(label).instructions[0].pc
            continue
        path.append(next(o.bits for o in instruction.operands if isinstance(o, Literal)))
        at += instruction.size
    assert path == [0x12345 + n for n in range(10)] + [0x12345 + n for n in range(count)]


def test_near_branches_stay_as_they_are() -> None:
    near = program(100)
    assert insert_islands(near, "gfx11") == 0
    assert [block.label for block in near.blocks] == ["entry", "loop", "back", "end"]
