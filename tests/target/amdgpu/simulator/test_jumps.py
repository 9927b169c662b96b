"""Jumps through registers whose address the code computes: long branches, calls and tail calls."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Completed, Faulted
from loom.target.amdgpu.simulator.calls import call_targets
from loom.target.amdgpu.simulator.flow import block_successors, long_branches, successors_within_functions
from loom.target.amdgpu.simulator.hazard_check import hazard_faults
from loom.target.amdgpu.simulator.jumps import jump_targets
from loom.target.amdgpu.simulator.translate import split_blocks
from tests.target.amdgpu.simulator.asm import Assembler
from tests.target.amdgpu.simulator.mir import function, resolve

INPUT = np.arange(256, dtype=np.uint32)


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def kind(outcome: Any) -> str:
    return outcome.fault.kind if isinstance(outcome, Faulted) else "completed"


def far(target: str, register: int = 20) -> str:
    """LLVM's sequence for a branch that a branch instruction cannot reach, with its waits for hazards."""
    low, high = f"s{register}", f"s{register + 1}"
    return (
        f"  s_getpc_b64 s[{register}:{register + 1}]\n  s_waitcnt_depctr 0xfffe\n"
        f"  s_add_u32 {low}, {low}, {target}-.+4\n  s_addc_u32 {high}, {high}, ({target}-.+12)>>32\n"
        f"  s_waitcnt_depctr 0xfffe\n  s_setpc_b64 s[{register}:{register + 1}]\n"
    )


HEAD = "  s_load_b64 s[2:3], s[0:1], 0x8\n  s_waitcnt lgkmcnt(0)\n  v_lshlrev_b32 v1, 2, v0\n"
LOOP = (
    HEAD
    + """
  v_mov_b32 v2, 0
  s_mov_b32 s4, 5
  v_add_nc_u32 v2, v2, 1
again:
  v_add_nc_u32 v2, v2, v0
  s_sub_u32 s4, s4, 1
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc1 out
{back}
out:
{over}
  v_mov_b32 v2, 77
  s_nop 0
over:
  global_store_b32 v1, v2, s[2:3]
  s_endpgm
"""
)


@pytest.mark.parametrize("processor", ["gfx1100", "gfx1201"])
def test_long_branches(asm: Assembler, processor: str) -> None:
    """Backwards into the middle of straight code, and forwards to where nothing else branches to."""
    text = LOOP.format(back=far("again"), over=far("over"))
    if processor == "gfx1201":
        text = text.replace("s_waitcnt_depctr", "s_wait_alu").replace("s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0")
    outcome, got = asm.run(text, INPUT, 32, processor=processor)
    assert isinstance(outcome, Completed), outcome
    assert got.tolist() == [1 + 5 * lane for lane in range(32)]


def test_a_load_under_way_at_a_long_branch(asm: Assembler) -> None:
    body = (
        HEAD
        + "  global_load_b32 v3, v1, s[2:3]\n{first}{jump}  v_mov_b32 v4, 0\nthere:\n{second}  v_add_nc_u32 v2, v3, v3\n  s_endpgm\n"
    )
    wait = "  s_waitcnt vmcnt(0)\n"

    def outcome(first: str, second: str) -> str:
        return kind(asm.run(body.format(first=first, second=second, jump=far("there")), INPUT, 32)[0])

    assert outcome("", "") == "outstanding_load"
    assert outcome(wait, "") == outcome("", wait) == "completed"


@pytest.mark.parametrize(
    ("write", "read", "gap"),
    [
        ("v_exp_f32 v3, v0", "v_add_f32 v4, v3, v3", "s_waitcnt_depctr 0xfff"),
        ("v_cndmask_b32 v3, v0, v0, s[4:5]\n  s_mov_b64 s[4:5], 0", "s_mov_b32 s6, s4", "s_waitcnt_depctr 0xfffe"),
    ],
)
def test_a_hazard_across_a_long_branch(asm: Assembler, write: str, read: str, gap: str) -> None:
    """The jump's own waits are left out: it writes no lane mask."""
    jump = far("there").replace("  s_waitcnt_depctr 0xfffe\n", "").replace("-.+4", "-.").replace("-.+12", "-.+8")

    def outcome(gap: str) -> str:
        body = f"  s_mov_b64 s[4:5], -1\n  {write}\n{jump}there:\n{gap}  {read}\n  s_endpgm\n"
        return kind(asm.run(body, INPUT, 1, wave=64)[0])

    assert outcome("") == "missing_nop"
    assert outcome(f"  {gap}\n") == "completed"


def test_scalar_registers_at_a_long_branch(asm: Assembler) -> None:
    """On gfx12 the jump reads a register pair that a vector instruction may have read, and what it reaches may read another."""
    wait = "  s_wait_alu 0xfffe\n"
    jump = far("there").replace("s_waitcnt_depctr", "s_wait_alu")
    assert jump.count(wait) == 2

    def outcome(jump: str, gap: str, read: str = "s[20:21]") -> str:
        last = read.rpartition(":")[2].strip("s[]")
        body = f"  s_mov_b64 s[20:21], 0\n  v_mov_b32 v2, s{last}\n  s_nop 0\n"
        body += f"  s_mov_b32 s4, 1\n  v_mov_b32 v1, s4\n  s_mov_b32 s4, 2\n{jump}there:\n{gap}  v_mov_b32 v2, s4\n  s_endpgm\n"
        return kind(asm.run(body, INPUT, 1, processor="gfx1201")[0])

    assert outcome(jump, "") == "completed"
    head, _, tail = jump.rpartition(wait)
    assert outcome(head + tail, wait) == "missing_nop" and outcome(head + tail, wait, "s22") == "completed"
    # Without both waits only the one in front of the last read is left.
    bare = jump.replace(wait, "").replace("-.+4", "-.").replace("-.+12", "-.+8")
    assert outcome(bare, "", "s22") == "missing_nop" and outcome(bare, wait, "s22") == "completed"


CALLS = """
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, first-.
  s_addc_u32 s9, s9, (first-.+8)>>32
  s_swappc_b64 s[30:31], s[8:9]
  s_endpgm
first:
  {write}
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, second-.
  s_addc_u32 s9, s9, (second-.+8)>>32
  s_setpc_b64 s[8:9]
second:
  {read}
  s_setpc_b64 s[30:31]
"""


def test_tail_calls(asm: Assembler) -> None:
    """A tail call is control flow, but no compiler that takes one function at a time looks beyond it for lane masks."""
    body = HEAD + CALLS.format(write="v_add_nc_u32 v2, v0, 5", read="global_store_b32 v1, v2, s[2:3]")
    outcome, got = asm.run(body, INPUT, 32)
    assert isinstance(outcome, Completed) and got.tolist() == [lane + 5 for lane in range(32)]
    load = CALLS.format(write="global_load_b32 v2, v1, s[2:3]", read="v_mov_b32 v3, v2")
    assert kind(asm.run(HEAD + load, INPUT, 32)[0]) == "outstanding_load"
    device = SimulatorDevice(threads=1)
    kernel = device.load(asm.build(body)).handle.kernel("k")
    code, entries = kernel.code, kernel.entries
    number = next(n for n, i in enumerate(code) if i.row.mnemonic == "s_setpc_b64")
    second = code[number + 1].pc
    assert jump_targets(code) == {number: second}
    # As a function of its own, the caller's code leads out of it; the object names no function there.
    first = next(n for n, i in enumerate(code) if i.pc == entries[1])
    assert call_targets(code[first : number + 1]) == {second}
    functions = [*entries, second]
    assert long_branches(code, functions) == {} and long_branches(code, entries) == {number: second}
    blocks = split_blocks(code, functions)
    at = {code[begin].pc: n for n, (begin, _) in enumerate(blocks)}
    assert block_successors(code, blocks, functions)[at[second] - 1] == [at[second]]
    assert successors_within_functions(code, blocks, functions)[at[second] - 1] == []


@pytest.mark.parametrize(
    ("source", "known"),
    [("s_mov_b64 s[8:9], s[12:13]", False), ("s_load_b64 s[8:9], s[0:1], 0x8", False), ("v_mov_b32 v1, v0", True)],
)
def test_where_a_jump_may_go(asm: Assembler, source: str, known: bool) -> None:
    """To any function when the code makes the address some other way; a register that nothing writes is where a caller goes on."""
    device = SimulatorDevice(threads=1)
    code = device.load(asm.build(f"  {source}\n  s_setpc_b64 s[8:9]\n  s_endpgm\n")).handle.kernel("k").code
    assert call_targets(code) == (set() if known else None)


def test_llvm_s_long_branches(oracle: Callable[[str], str]) -> None:
    """LLVM looks for hazards before it makes branches long: what the target finds comes from in front of the branch."""
    exec_ = "implicit $exec"
    filler = [f"$vgpr{n % 4 + 10} = V_MOV_B32_e32 $vgpr{n % 4 + 20}, {exec_}" for n in range(40000)]
    mask = f"$vgpr2 = V_CNDMASK_B32_e64 0, $vgpr0, 0, $vgpr1, $sgpr4_sgpr5, {exec_}"
    text = function(
        "f0",
        [[mask], [*filler, "$sgpr4 = S_MOV_B32 1", "$sgpr6 = S_MOV_B32 $sgpr4"], ["$sgpr7 = S_MOV_B32 $sgpr4"]],
        [1],
    )
    (code,) = resolve(oracle("llc-22"), "gfx1100", [text], 64)
    (number,) = jump_targets(code)
    assert code[number].row.mnemonic == "s_setpc_b64" and jump_targets(code)[number] == code[1].pc
    assert hazard_faults(code, (code[0].pc,), "gfx1100", 64) == {}


SILENT = """
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, {callee}
  s_addc_u32 s9, s9, 0
again:
  s_swappc_b64 s[30:31], s[8:9]
  s_cbranch_scc1 again
  s_endpgm
  s_branch again
callee:
{code}
  s_setpc_b64 s[30:31]
"""


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("  v_cndmask_b32 v3, v0, v0, vcc\n  v_cmp_gt_u32 vcc, 4, v0\n{gap}  v_cndmask_b32 v4, v0, v0, vcc", "  s_waitcnt_depctr 0xfffd\n"),
        ("  v_exp_f32 v3, v0\n  s_cbranch_scc0 on\n  v_nop\non:\n{gap}  v_add_f32 v4, v3, v3", "  s_waitcnt_depctr 0xfff\n"),
    ],
)  # fmt: skip
def test_hazards_in_a_function_that_follows_a_branch(asm: Assembler, body: str, missing: str) -> None:
    """Nothing falls or branches into a function, whatever stands in front of it: the code before it may end with a branch."""

    def outcome(gap: str) -> str:
        text = SILENT.format(callee="callee-.", code=body.format(gap=gap))
        return kind(asm.run(text, INPUT, 1, wave=64)[0])

    assert outcome("") == "missing_nop"
    assert outcome(missing) == "completed"


CHAIN = """
__attribute__((noinline)) static void last(__global unsigned *p) { *p = *p * 3u + 1u; }
__attribute__((noinline)) static void first(__global unsigned *p) { *p += 5u; last(p); }
__kernel void k(__global unsigned *p, __global unsigned *q) { first(p + __builtin_amdgcn_workitem_id_x()); }
"""


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201", "gfx942"])
def test_a_function_that_does_nothing_but_tail_calls(oracle: Callable[[str], str], tmp_path: Path, target: str) -> None:
    """clang -O2 turns the call at the end of ``first`` into a jump; nothing else in it calls."""
    (tmp_path / "k.cl").write_text(CHAIN)
    subprocess.run(
        [oracle("clang-22"), "--target=amdgcn-amd-amdhsa", "-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header",
         "-nogpulib", "-O2", f"-mcpu={target}", "-o", str(tmp_path / "k.hsaco"), str(tmp_path / "k.cl")],
        check=True, capture_output=True,
    )  # fmt: skip
    device = SimulatorDevice(threads=1)
    executable = device.load((tmp_path / "k.hsaco").read_bytes())
    buffer = device.allocate(128)
    device.write(buffer, np.arange(32, dtype=np.uint32).tobytes())
    outcome = device.launch(executable, "k", (1,), (32,), buffer.address.to_bytes(8, "little") * 2)
    assert isinstance(outcome, Completed), outcome
    assert any(i.row.mnemonic == "s_setpc_b64" for i in executable.handle.kernel("k").code)
    assert np.array_equal(np.frombuffer(device.read(buffer), np.uint32), (np.arange(32) + 5) * 3 + 1)
