"""The independent checker: it accepts what the compiler makes and finds what is broken on purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest

import loom
from loom.target.amdgpu.assembler import parse_instruction
from loom.target.amdgpu.check_allocation import AllocationChecker
from loom.target.amdgpu.check_waits import check_waits
from loom.target.amdgpu.checker import check_hazards, check_pairs
from loom.target.amdgpu.kernel import KernelBackend
from loom.target.amdgpu.machine import MachineBlock, MachineInstruction, MachineProgram, Register
from loom.target.amdgpu.processors import processor
from loom.target.amdgpu.waits import missing_waits
from loom.transform.target import resolve_target

V = "reg<amdgpu.vgpr>"
TEXT = f"""amdgpu.target<gfx1100> @t
low.kernel.def schedule(locked) target<amdgpu.rdna3.core>(@t) export("k") workgroup_size(64, 1, 1) @k(%n: reg<amdgpu.sgpr>) {{
  %id = low.live_in<amdgpu.workitem_id.x> : {V}
  %src = low.resource<hal_binding> {{index = 0, source_type = hal.buffer}} : reg<amdgpu.sgpr x2>
  %a = low.op<amdgpu.global_load_b32>(%id, %src) : ({V}, reg<amdgpu.sgpr x2>) -> {V}
  %b = low.op<amdgpu.global_load_b32>(%id, %src) {{offset = 256}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}
  %zero = low.op<amdgpu.v_mov_b32>() {{src0 = 0}} : () -> {V}
  low.op<amdgpu.ds_store_b32>(%zero, %a) : ({V}, {V})
  low.op<amdgpu.s_barrier>() : ()
  %l = low.op<amdgpu.ds_load_b32>(%zero) : ({V}) -> {V}
  %e = low.op<amdgpu.v_exp_f32>(%b) : ({V}) -> {V}
  %f = low.op<amdgpu.v_add_f32>(%n, %e) : (reg<amdgpu.sgpr>, {V}) -> {V}
  %r = low.op<amdgpu.v_mul_f32>(%f, %l) : ({V}, {V}) -> {V}
  low.op<amdgpu.global_store_b32>(%id, %r, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)
  low.return
}}
"""


@pytest.fixture
def compiled() -> KernelBackend:
    module = loom.parse(TEXT)
    op = next(o for o in module.operations if o.name == "low.kernel.def")
    made = KernelBackend(module, op, resolve_target("amdgpu", "gfx1100"), processor("gfx1100"))
    made.run()
    return made


def checkers(made: KernelBackend) -> list[str]:
    """Kinds of everything that is found."""
    emitted, built = made.trace.emitted, made.trace.built
    assert emitted is not None and built is not None
    findings = [
        *AllocationChecker(built.code, emitted).run(),
        *check_waits(made.program, "gfx11", emitted.barrier_memory),
        *check_hazards(made.program, "gfx11"),
    ]
    return [finding.kind for finding in findings]


def positions(made: KernelBackend, prefix: str) -> list[int]:
    return [i for i, x in enumerate(made.program.blocks[0].instructions) if x.row.mnemonic.startswith(prefix)]


def test_what_the_compiler_makes_is_accepted(compiled: KernelBackend) -> None:
    assert checkers(compiled) == []


def test_every_wait_is_needed(compiled: KernelBackend) -> None:
    instructions = compiled.program.blocks[0].instructions
    waits = [i for i in instructions if i.row.mnemonic in ("s_waitcnt", "s_waitcnt_vscnt")]
    assert len(waits) >= 4
    for wait in waits:
        compiled.program.blocks[0].instructions = [i for i in instructions if i is not wait]
        assert "wait" in checkers(compiled), str(wait)
    compiled.program.blocks[0].instructions = instructions


def test_a_missing_hazard_wait_is_found(compiled: KernelBackend) -> None:
    (at,) = positions(compiled, "s_waitcnt_depctr")
    del compiled.program.blocks[0].instructions[at]
    assert set(checkers(compiled)) == {"hazard"}


@pytest.mark.parametrize("mnemonic", ["v_mul_f32", "v_exp_f32", "global_store_b32", "ds_store_b32"])
def test_every_source_in_a_wrong_register_is_found(compiled: KernelBackend, mnemonic: str) -> None:
    at = positions(compiled, mnemonic)[0]
    block = compiled.program.blocks[0]
    original = block.instructions[at]
    emitted = compiled.trace.emitted
    assert emitted is not None
    for index, slot in enumerate(original.row.slots):
        operand = original.operands[index]
        if not slot.is_use or not isinstance(operand, Register) or operand.bank != "vgpr":
            continue
        operands = list(original.operands)
        operands[index] = Register("vgpr", operand.index + 40, operand.units)
        broken = replace(original, operands=tuple(operands))
        emitted.source[id(broken)] = emitted.source[id(original)]
        block.instructions[at] = broken
        assert "allocation" in checkers(compiled), slot.name
    block.instructions[at] = original


def test_a_result_that_lands_on_a_live_value_is_found(compiled: KernelBackend) -> None:
    at = positions(compiled, "v_mov_b32")[0]
    block = compiled.program.blocks[0]
    emitted = compiled.trace.emitted
    assert emitted is not None
    original = block.instructions[at]
    # v0 holds the work-item id, which the last store still needs.
    broken = replace(original, operands=(Register("vgpr", 0), original.operands[1]))
    emitted.source[id(broken)] = emitted.source[id(original)]
    block.instructions[at] = broken
    assert "allocation" in checkers(compiled)


def test_pairing_that_changes_an_operand_is_found(compiled: KernelBackend) -> None:
    before = [list(compiled.program.blocks[0].instructions)]
    after: list[list[MachineInstruction]] = [list(before[0])]
    at = positions(compiled, "v_mul_f32")[0]
    original = after[0][at]
    after[0][at] = replace(original, operands=(original.operands[0], original.operands[1], Register("vgpr", 7)))
    assert check_pairs(before, before) == []
    assert len(check_pairs(before, after)) == 1


@pytest.mark.parametrize(
    ("lines", "waits_missing"),
    [
        # LLVM 22 puts no wait between two loads into the halves of one register, nor in front of a store of the other half
        # (``si-insert-waitcnts`` on gfx1100 and gfx1201, real true16), and one in front of a vector instruction.
        (["global_load_d16_b16 v3, v0, s[2:3]", "global_load_d16_hi_b16 v3, v0, s[4:5]"], False),
        (["global_load_d16_hi_b16 v3, v0, s[2:3]", "ds_store_b16 v0, v3"], False),
        (["global_load_d16_hi_b16 v3, v0, s[2:3]", "ds_store_b16_d16_hi v0, v3"], True),
        (["global_load_d16_hi_b16 v3, v0, s[2:3]", "ds_store_b32 v0, v3"], True),
        (["global_load_d16_hi_b16 v3, v0, s[2:3]", "v_mov_b16 v4.l, v3.l"], True),
        (["ds_permute_b32 v3, v0, v1", "ds_store_b32 v0, v3"], True),
        (["ds_permute_b32 v3, v0, v1", "ds_load_b32 v4, v0", "s_waitcnt lgkmcnt(1)", "ds_store_b32 v0, v3"], False),
        (["ds_swizzle_b32 v3, v0 offset:0x401f", "s_load_b32 s4, s[2:3], 0x0", "s_waitcnt lgkmcnt(1)",
          "ds_store_b32 v0, v3"], True),
        (["buffer_atomic_add_u32 v3, v0, s[4:7], 0 offen", "v_mov_b32 v3, v0"], False),
        (["buffer_atomic_add_u32 v3, v0, s[4:7], 0 offen glc", "v_mov_b32 v3, v0"], True),
    ],
)  # fmt: skip
def test_waits_of_single_instructions(lines: list[str], waits_missing: bool) -> None:
    instructions = [parse_instruction(line, "gfx1100", wave_size=32) for line in lines]
    program = MachineProgram("k", "gfx1100", 32, [MachineBlock("entry", instructions)])
    assert bool(check_waits(program, "gfx11")) == waits_missing
    assert bool(missing_waits(program, "gfx11").rows) == waits_missing


def test_the_order_of_the_text_is_kept_where_the_scheduled_one_finds_no_registers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("loom.target.amdgpu.kernel.SCHEDULED_ROUNDS", 0)
    module = loom.parse(TEXT.replace("schedule(locked)", "schedule(free)"))
    op = next(o for o in module.operations if o.name == "low.kernel.def")
    made = KernelBackend(module, op, resolve_target("amdgpu", "gfx1100"), processor("gfx1100"))
    made.run(check=True)
    assert [d.code for d in made.diagnostics] == ["BACKEND/055"]
    text = [line.split("low.op<amdgpu.")[1].split(">")[0] for line in TEXT.splitlines() if "low.op<" in line]
    emitted = [i.row.mnemonic for i in made.program.instructions() if not i.row.mnemonic.startswith(("s_", "v_lshl"))]
    assert emitted == [name for name in text if not name.startswith("s_")]
