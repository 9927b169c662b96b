"""Native kernels of three producers through the emitter: as they stand, and allocated and scheduled anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.raising.lift import lift
from loom.raising.lift.relax import relax
from loom.target.amdgpu.assembler import parse_instruction
from loom.target.amdgpu.checker import check_hazards
from loom.target.amdgpu.code_object import read
from loom.target.amdgpu.compile import CompileOptions, compile_module
from loom.target.amdgpu.hazards import HazardScan, resolve_hazards
from loom.target.amdgpu.machine import Immediate, MachineBlock, MachineProgram
from loom.target.amdgpu.processors import processor

NATIVE = Path(__file__).parents[2] / "native"
KERNELS = [
    (path, kernel.name) for path in sorted(NATIVE.glob("*/gfx*/*.hsaco")) for kernel in read(path.read_bytes()).kernels
]


@pytest.mark.parametrize(
    ("path", "name"), KERNELS, ids=lambda value: value if isinstance(value, str) else value.parent.name
)
def test_a_fixed_kernel_is_encoded_as_it_stands_and_lacks_no_wait(path: Path, name: str) -> None:
    data = path.read_bytes()
    compilation = compile_module(lift(data, name).module, CompileOptions(pipeline="none"))
    ours, original = read(compilation.code_object).kernel(), read(data).kernel(name)
    assert ours.code == original.code
    assert ours.descriptor.compute_pgm_rsrc1 == original.descriptor.compute_pgm_rsrc1
    # The producers' compilers put every wait and nop in; the analysis must not ask for more than they did. The compiler
    # of the gfx1201 kernels is older than LLVM's knowledge of one hazard, in which LLVM 22 waits.
    known = "valu_read_sgpr" if "gfx1201" in path.parts else "nothing"
    assert [d.message for d in compilation.diagnostics if not d.message.endswith(known)] == []


@pytest.mark.parametrize("what", ["allocation", "schedule"])
@pytest.mark.parametrize(
    ("path", "name"), KERNELS, ids=lambda value: value if isinstance(value, str) else value.parent.name
)
def test_a_relaxed_kernel_passes_the_independent_checker(path: Path, name: str, what: str) -> None:
    data = path.read_bytes()
    original = read(data).kernel(name)
    module = lift(data, name).module
    op = next(o for o in module.operations if o.name == "low.kernel.def")
    relax(op, processor(read(data).processor).generation, original.wave_size, what)
    compilation = compile_module(module, CompileOptions(pipeline="none", check=True))
    kernel = compilation.kernels[0]
    assert kernel.resources.vgpr_spills == kernel.resources.sgpr_spills == 0
    if what == "allocation":
        # The native allocation is a witness that so many registers are enough; fragmentation may cost a few more.
        assert kernel.resources.vgprs <= original.vgpr_count * 1.1 + 2


EXTRA = {"gfx11": NATIVE / "extra" / "gfx1100-w64.O2.hsaco", "gfx12": NATIVE / "extra" / "gfx1201.O2.hsaco"}
NOT_LIFTED = ("calls", "generic_pointer")
MORE_IN_LLVM = {
    # LLVM waits once more for a register that a wait covers already.
    ("gfx11", "long_math"): 1,
    # ttmp9 counts as s0 in LLVM's pass, so that s[0:1] are taken for read.
    ("gfx12", "long_math"): 3,
    ("gfx12", "histogram"): 1,
}


@pytest.mark.parametrize(
    ("generation", "name"),
    [(g, k.name) for g, path in EXTRA.items() for k in read(path.read_bytes()).kernels if k.name not in NOT_LIFTED],
)
def test_hazards_of_scalar_registers_are_the_ones_that_llvm_resolves(generation: str, name: str) -> None:
    compilation = compile_module(lift(EXTRA[generation].read_bytes(), name).module, CompileOptions(pipeline="none"))
    assert [d.message for d in compilation.diagnostics] == []
    program = compilation.programs[0]
    assert check_hazards(program, generation) == []
    unseen = 0
    unchecked = 0
    for block in program.blocks:
        original = block.instructions
        for wait in (i for i in original if i.row.mnemonic in ("s_waitcnt_depctr", "s_wait_alu")):
            block.instructions = [i for i in original if i is not wait]
            unseen += not any(hazard for hazards in HazardScan(program, generation).run() for hazard in hazards)
            unchecked += not check_hazards(program, generation)
        block.instructions = original
    assert unseen == MORE_IN_LLVM.get((generation, name), 0)
    assert generation == "gfx11" or unchecked == unseen


def test_results_from_both_sides_of_an_exec_write_are_not_forwarded() -> None:
    lines = ["v_mov_b32 v1, v0", "s_mov_b64 exec, s[2:3]", "v_mov_b32 v2, v0", "v_add_f32 v3, v1, v2"]
    instructions = [parse_instruction(line, "gfx1100", wave_size=64) for line in lines]
    program = MachineProgram("k", "gfx1100", 64, [MachineBlock("entry", instructions)])
    assert [f.message for f in check_hazards(program, "gfx11")] == ["reads results from both sides of a write of EXEC"]
    assert resolve_hazards(program, "gfx11") == 1
    wait = list(program.instructions())[3]
    assert wait.row.mnemonic == "s_waitcnt_depctr" and wait.operands == (Immediate(0x0FFF),)
    assert check_hazards(program, "gfx11") == []


def test_two_hazards_at_one_instruction_are_both_resolved() -> None:
    """The sum reads results from both sides of a write of EXEC, and overwrites VCC, which was read as a lane mask."""
    lines = [
        "v_cndmask_b32 v4, v5, v6, vcc",
        "v_mov_b32 v1, v0",
        "s_mov_b64 exec, s[2:3]",
        "v_mov_b32 v2, v0",
        "v_add_co_u32 v3, vcc, v1, v2",
    ]
    instructions = [parse_instruction(line, "gfx1100", wave_size=64) for line in lines]
    program = MachineProgram("k", "gfx1100", 64, [MachineBlock("entry", instructions)])
    assert resolve_hazards(program, "gfx11") == 2
    made = list(program.instructions())
    # va_vdst(0) in front of the sum, va_vcc(0) behind it.
    assert [i.operands for i in (made[4], made[6])] == [(Immediate(0x0FFF),), (Immediate(0xFFFD),)]
    assert check_hazards(program, "gfx11") == []
