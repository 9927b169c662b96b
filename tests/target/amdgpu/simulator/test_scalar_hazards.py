"""Hazards of scalar registers and lane permutations on gfx11 and gfx12: LLVM's waits are accepted, missing ones are faults."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Completed, Faulted
from loom.target.amdgpu.machine import Immediate, MachineInstruction
from loom.target.amdgpu.simulator.hazard_check import hazard_faults
from tests.target.amdgpu.simulator.asm import Assembler
from tests.target.amdgpu.simulator.mir import function, registers, resolve
from tests.target.amdgpu.simulator.native_suite import CASES, NATIVE, run
from tests.target.amdgpu.simulator.needless import edges, return_address_only, unread_masks, waited_before

INPUT = np.arange(256, dtype=np.uint32)
_EXEC = "implicit $exec"


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def kind(outcome: Any) -> str:
    return outcome.fault.kind if isinstance(outcome, Faulted) else "completed"


@pytest.mark.parametrize(
    ("write", "wait", "read"),
    [
        ("s_mov_b64 s[4:5], 0", "0xfffe", "s_mov_b32 s6, s4"),
        ("s_mov_b64 s[4:5], 0", "0xfffe", "v_mov_b32 v4, s4"),
        ("v_cmp_gt_u32 s[4:5], v0, v1", "0xf1ff", "v_cndmask_b32 v4, v0, v1, s[4:5]"),
        ("v_readfirstlane_b32 s5, v1", "0xf1ff", "v_mov_b32 v4, s5"),
    ],
)
def test_overwritten_lane_mask(asm: Assembler, write: str, wait: str, read: str) -> None:
    body = "  s_mov_b64 s[4:5], -1\n  v_mov_b32 v1, 1\n{first}  {write}\n{wait}  {read}\n  s_endpgm\n"
    first = "  v_cndmask_b32 v2, v0, v1, s[4:5]\n"
    gap = f"  s_waitcnt_depctr {wait}\n"

    def outcome(**parts: str) -> str:
        return kind(asm.run(body.format(**{"write": write, "read": read} | parts), INPUT, 1, wave=64)[0])

    assert outcome(first=first, wait="") == "missing_nop"
    assert outcome(first=first, wait=gap) == "completed"
    assert outcome(first="", wait="") == "completed"
    # The wait for the other unit's results does not help.
    other = "0xf1ff" if wait == "0xfffe" else "0xfffe"
    assert outcome(first=first, wait=f"  s_waitcnt_depctr {other}\n") == "missing_nop"


def test_a_scalar_instruction_may_read_a_vector_instruction_s_mask_at_once(asm: Assembler) -> None:
    body = """
  v_cmp_gt_u32 vcc, 4, v0
  v_cndmask_b32 v2, v0, v0, vcc
  v_cmp_gt_u32 vcc, 8, v0
  s_and_b64 s[4:5], vcc, exec
  s_endpgm
"""
    assert kind(asm.run(body, INPUT, 1, wave=64)[0]) == "completed"


@pytest.mark.parametrize(
    ("first", "second", "read"),
    [
        ("v_readfirstlane_b32 s4, v1", "s_mov_b32 s4, 0", "s_mov_b32 s6, s4"),
        ("v_readfirstlane_b32 s4, v1", "s_mov_b32 s4, 0", "v_mov_b32 v4, s4"),
        ("s_mov_b32 s4, 0", "v_readfirstlane_b32 s4, v1", "v_mov_b32 v4, s4"),
        ("s_mov_b32 s4, 0", "s_mov_b32 s4, 1", "v_mov_b32 v4, s4"),
    ],
)
def test_a_lane_mask_overwritten_twice(
    asm: Assembler, oracle: Callable[[str], str], first: str, second: str, read: str
) -> None:
    """LLVM waits behind the first write and takes the mask's read for settled then; a second write alone settles nothing."""
    body = (
        "  s_mov_b64 s[4:5], -1\n  v_mov_b32 v1, 1\n  v_cndmask_b32 v2, v0, v1, s[4:5]\n"
        "  {first}\n{between}  {second}\n{behind}  {read}\n  s_endpgm\n"
    )

    def outcome(between: str = "", behind: str = "") -> str:
        wait = "  s_waitcnt_depctr {}\n"
        parts = {"between": wait.format(between) if between else "", "behind": wait.format(behind) if behind else ""}
        return kind(asm.run(body.format(first=first, second=second, read=read, **parts), INPUT, 1, wave=64)[0])

    def needs(write: str) -> str:
        return "0xf1ff" if write.startswith("v_") else "0xfffe"

    assert outcome() == "missing_nop"
    assert outcome(between=needs(first)) == "completed"
    assert outcome(behind=needs(second)) == "completed"
    opcodes = {"s": "$sgpr4 = S_MOV_B32 0", "v": f"$sgpr4 = V_READFIRSTLANE_B32 $vgpr1, {_EXEC}"}
    mask = f"$vgpr2 = V_CNDMASK_B32_e64 0, $vgpr0, 0, $vgpr1, $sgpr4_sgpr5, {_EXEC}"
    text = function(
        "f0", [[mask, opcodes[first[0]], "$sgpr6 = S_MOV_B32 $sgpr4", opcodes[second[0]], "$sgpr7 = S_MOV_B32 $sgpr4"]]
    )
    (code,) = resolve(oracle("llc-22"), "gfx1100", [text], 64)
    assert [i.row.mnemonic for i in code].index("s_waitcnt_depctr") == 2
    assert sum(i.row.mnemonic == "s_waitcnt_depctr" for i in code) == 1


def test_the_callee_s_writes_of_a_caller_s_lane_masks(asm: Assembler) -> None:
    """A compiler that takes one function at a time waits where the read as a mask and the write stand in one function, whatever
    is called in between, and cannot know of it in a callee."""
    body = """
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, callee-.
  s_addc_u32 s9, s9, 0
  v_mov_b32 v1, 1
  v_cmp_gt_u32 vcc, 4, v0
  v_cndmask_b32 v2, v0, v1, vcc
  s_swappc_b64 s[10:11], s[8:9]
  {write}
{gap}  v_cndmask_b32 v2, v0, v1, vcc
  s_endpgm
callee:
  v_cmp_lt_u32 vcc, 4, v0
  v_cndmask_b32 v2, v0, v1, vcc
  s_setpc_b64 s[10:11]
"""
    write, gap = "v_cmp_gt_u32 vcc, 8, v0", "  s_waitcnt_depctr 0xfffd\n"

    def outcome(gap: str) -> str:
        return kind(asm.run(body.format(write=write, gap=gap), INPUT, 1, wave=64)[0])

    assert outcome(gap) == "completed"
    assert outcome("") == "missing_nop"


@pytest.mark.parametrize("processor", ["gfx1100", "gfx1201"])
def test_permutation_right_behind_cmpx(asm: Assembler, processor: str) -> None:
    body = "  v_mov_b32 v1, v0\n  v_cmpx_gt_u32 64, v0\n{gap}  v_permlane64_b32 v2, v1\n  s_endpgm\n"

    def outcome(gap: str) -> str:
        return kind(asm.run(body.format(gap=gap), INPUT, 1, processor=processor, wave=64)[0])

    assert outcome("") == outcome("  v_nop\n") == outcome("  s_nop 3\n") == "missing_nop"
    assert outcome("  v_mov_b32 v1, v1\n") == "completed"


def test_scalar_register_that_a_vector_instruction_has_read(asm: Assembler) -> None:
    body = "  s_mov_b32 s4, 1\n  v_mov_b32 v1, s4\n  s_mov_b32 s4, 2\n{gap}  v_mov_b32 v2, s4\n  s_endpgm\n"

    def outcome(gap: str) -> str:
        return kind(asm.run(body.format(gap=gap), INPUT, 1, processor="gfx1201")[0])

    assert outcome("") == outcome("  s_wait_alu 0xf1fd\n") == "missing_nop"
    assert outcome("  s_wait_alu 0xfffe\n") == "completed"


def test_objects_of_compilers_that_do_not_know_a_hazard_are_not_checked_for_it() -> None:
    """clang 19 does not wait for gfx1201's scalar registers; the same code under a newer name is refused."""
    case = next(c for c in CASES if c.file == "clang/gfx1201/softmax.O3.hsaco")
    data = (NATIVE / case.file).read_bytes()
    newer = data.replace(b"clang version 19", b"clang version 22")
    assert data.count(b"clang version 19") == 1
    device = SimulatorDevice(threads=1)
    outcomes = [
        run(device, device.load(code), case.kernel, case.make(case.sizes[0], np.random.default_rng(1)))[0]
        for code in (data, newer)
    ]
    assert isinstance(outcomes[0], Completed)
    assert kind(outcomes[1]) == "missing_nop" and "valu_read_sgpr" in outcomes[1].fault.message


def random_scalars(name: str, rng: random.Random, wave: int, loop: bool) -> str:
    """Vector and scalar instructions over few scalar registers, in up to three blocks; ``loop``: one of them loops."""
    units = wave // 32
    whole = "$vcc" if wave == 64 else "$vcc_lo"
    width = f"B{wave}"

    def mask() -> str:
        return registers("sgpr", 2 * rng.randrange(2, 5), units)

    def s() -> str:
        return f"$sgpr{rng.randrange(4, 10)}"

    def v() -> str:
        return f"$vgpr{rng.randrange(4)}"

    def one() -> str:
        return rng.choice((
            lambda: f"{v()} = V_CNDMASK_B32_e64 0, {v()}, 0, {v()}, {mask()}, {_EXEC}",
            lambda: f"{v()} = V_CNDMASK_B32_e32 {v()}, {v()}, implicit $vcc, {_EXEC}",
            lambda: f"{mask()} = V_CMP_GT_U32_e64 {v()}, {v()}, {_EXEC}",
            lambda: f"V_CMP_GT_U32_e32 {v()}, {v()}, implicit-def $vcc, {_EXEC}",
            lambda: f"{s()} = V_READFIRSTLANE_B32 {v()}, {_EXEC}",
            lambda: f"{s()} = V_READLANE_B32 {v()}, {rng.randrange(32)}",
            lambda: f"{v()}, {mask()} = V_ADD_CO_U32_e64 {v()}, {v()}, 0, {_EXEC}",
            lambda: f"{v()}, {mask()} = V_ADDC_U32_e64 {v()}, {v()}, {mask()}, 0, {_EXEC}",
            lambda: f"$vgpr8_vgpr9_vgpr10_vgpr11, {mask()} = V_DIV_SCALE_F64_e64 0, $vgpr0_vgpr1, 0, $vgpr0_vgpr1, 0, $vgpr2_vgpr3, 0, 0, implicit $mode, {_EXEC}".replace("_vgpr10_vgpr11", ""),
            lambda: f"$vgpr8_vgpr9, {mask()} = V_MAD_U64_U32_gfx11_e64 {v()}, {v()}, 0, 0, {_EXEC}",
            lambda: f"{v()} = V_DIV_FMAS_F32_e64 0, {v()}, 0, {v()}, 0, {v()}, 0, 0, implicit $mode, implicit $vcc, {_EXEC}",
            lambda: f"{v()} = V_MOV_B32_e32 {s()}, {_EXEC}",
            lambda: f"{v()} = V_ADD_F32_e32 {v()}, {v()}, implicit $mode, {_EXEC}",
            lambda: f"{s()} = S_MOV_B32 {s()}",
            lambda: f"{registers('sgpr', 2 * rng.randrange(2, 5), 2)} = S_GETPC_B64",
            lambda: f"{registers('sgpr', 2 * rng.randrange(2, 5), 2)} = S_SENDMSG_RTN_B64 131, implicit $m0",
            lambda: f"{mask()} = S_AND_{width} {mask()}, {mask()}, implicit-def $scc",
            lambda: f"{whole} = S_AND_{width} {mask()}, {whole}, implicit-def $scc",
            lambda: f"{rng.choice((s(), '$sgpr20'))} = S_LOAD_DWORD_IMM $sgpr22_sgpr23, 0, 0",
            lambda: f"{registers('sgpr', 2 * rng.randrange(2, 5), 2)} = S_LOAD_DWORDX2_IMM $sgpr22_sgpr23, 0, 0",
            lambda: "S_NOP 0",
        ))()  # fmt: skip

    count = rng.choice((1, 2, 3))
    blocks = [[one() for _ in range(rng.randrange(2, 14))] for _ in range(count)]
    return function(name, blocks, [count - 2] if count > 1 and loop else [])


@pytest.mark.parametrize(("processor", "wave"), [("gfx1100", 64), ("gfx1201", 32), ("gfx1201", 64)])
def test_random_code_with_llvm_s_waits(oracle: Callable[[str], str], processor: str, wave: int) -> None:
    rng = random.Random(11)
    start = "post-RA-hazard-rec" if processor == "gfx1100" else "amdgpu-wait-sgpr-hazards"
    texts = [random_scalars(f"f{n}", rng, wave, n % 2 == 0) for n in range(400)]
    needed = 0
    for text, code in zip(texts, resolve(oracle("llc-22"), processor, texts, wave, start), strict=True):
        entries = (code[0].pc,)
        assert hazard_faults(code, entries, processor, wave) == {}, text
        for number, wait in enumerate(code):
            if wait.row.mnemonic not in ("s_waitcnt_depctr", "s_wait_alu"):
                continue
            nothing = MachineInstruction(wait.row, wait.form, (Immediate(0xFFFF),), {}, pc=wait.pc, size=4)
            found = hazard_faults([*code[:number], nothing, *code[number + 1 :]], entries, processor, wave)
            needed += bool(found)
            if processor == "gfx1100":
                # LLVM waits behind the first write of every mask, whether or not something reads the register.
                assert bool(found) != unread_masks(code, number, edges(code)), (text, number)
            else:
                # On gfx12 it waits more often than it must where a loop closes.
                assert found or "S_CBRANCH" in text, (text, number)
    assert needed > 200


@pytest.mark.parametrize("source", ["$ttmp7", "$ttmp8", "$ttmp9"])
def test_llvm_takes_trap_registers_for_s0(oracle: Callable[[str], str], source: str) -> None:
    """Behind a vector instruction that reads a trap register LLVM 22 waits for ``s0`` and ``s1``, as if those had been read."""

    def waits(source: str, register: str) -> int:
        lines = [
            f"$vgpr0 = V_MOV_B32_e32 {source}, {_EXEC}",
            f"{register} = S_MOV_B32 1",
            f"$sgpr8 = S_MOV_B32 {register}",
        ]
        (code,) = resolve(oracle("llc-22"), "gfx1201", [function("f0", [lines])], 32, "amdgpu-wait-sgpr-hazards")
        return sum(i.row.mnemonic == "s_wait_alu" for i in code)

    assert [waits(source, f"$sgpr{n}") for n in range(3)] == [1, 1, 0]
    assert [waits("$sgpr4", f"$sgpr{n}") for n in (0, 1, 2, 4, 5)] == [0, 0, 0, 1, 1]


def test_llvm_waits_at_a_call_for_the_return_address_of_the_last(oracle: Callable[[str], str]) -> None:
    """The function that was called has read it: the wait in front of the next call guards nothing, which the checks agree with. Where
    anything else has been written the wait guards that."""
    call = "$sgpr30_sgpr31 = S_SWAPPC_B64 $sgpr4_sgpr5"
    use = f"$vgpr0 = V_MOV_B32_e32 $vgpr1, {_EXEC}"

    def code(*lines: str) -> list[MachineInstruction]:
        return resolve(oracle("llc-22"), "gfx1201", [function("f0", [list(lines)])], 32, "amdgpu-wait-sgpr-hazards")[0]

    def waits(found: list[MachineInstruction]) -> list[int]:
        return [n for n, i in enumerate(found) if i.row.mnemonic == "s_wait_alu"]

    assert waits(code(use, call)) == []
    for between in ((), ("$sgpr9 = S_MOV_B32 1",)):
        found = code(call, use, *between, call)
        (number,) = waits(found)
        assert return_address_only(found, number, edges(found)) != bool(between)
        nothing = MachineInstruction(found[number].row, None, (Immediate(0xFFFF),), {}, pc=found[number].pc, size=4)
        changed = [*found[:number], nothing, *found[number + 1 :]]
        assert bool(hazard_faults(changed, (found[0].pc,), "gfx1201", 32)) == bool(between)


def random_vectors(name: str, rng: random.Random, wave: int, loop: bool) -> str:
    """Vector instructions over few registers, some transcendental, between writes of EXEC; or lane permutations and v_cmpx.

    Not both: in front of a permutation LLVM 22 puts a move that reads a transcendental result before its wait. Permutations write
    registers of their own, since LLVM takes the old value of what they write for read.
    """
    exec_ = "$exec" if wave == 64 else "$exec_lo"
    permutes = rng.random() < 0.3

    def v() -> str:
        return f"$vgpr{rng.randrange(6)}"

    def permute() -> str:
        d = f"$vgpr{rng.randrange(20, 22)}"
        return f"{d} = V_PERMLANE16_B32_e64 0, {v()}, 0, $sgpr0, 0, $sgpr1, {d}, 0, {_EXEC}"

    plain = (
        lambda: f"{v()} = V_ADD_F32_e32 {v()}, {v()}, implicit $mode, {_EXEC}",
        lambda: f"{v()} = V_FMA_F32_e64 0, {v()}, 0, {v()}, 0, {v()}, 0, 0, implicit $mode, {_EXEC}",
        lambda: f"{v()} = V_MOV_B32_e32 {v()}, {_EXEC}",
        lambda: f"GLOBAL_STORE_DWORD $vgpr10_vgpr11, {v()}, 0, 0, {_EXEC}" if rng.random() < 0.3 else "S_NOP 0",
    )
    some = (
        lambda: f"V_CMPX_GT_U32_nosdst_e32 {v()}, {v()}, implicit-def $exec, {_EXEC}", permute,
    ) if permutes else (
        lambda: f"{v()} = V_EXP_F32_e32 {v()}, implicit $mode, {_EXEC}",
        lambda: f"{exec_} = S_MOV_B{wave} {registers('sgpr', 4, wave // 32)}",
    )  # fmt: skip
    count = rng.choice((1, 2, 3))
    blocks = [[rng.choice((*plain, *some))() for _ in range(rng.randrange(2, 14))] for _ in range(count)]
    return function(name, blocks, [count - 2] if count > 1 and loop else [])


@pytest.mark.parametrize(("processor", "wave"), [("gfx1100", 32), ("gfx1100", 64), ("gfx1150", 64), ("gfx1201", 32)])
def test_random_vector_code_with_llvm_s_waits(oracle: Callable[[str], str], processor: str, wave: int) -> None:
    """Code with LLVM's waits and moves is accepted; without one of the waits, loops aside, it is not.

    Around a loop LLVM goes on from a result that something has overwritten to an older one.
    """
    rng = random.Random(13)
    texts = [random_vectors(f"f{n}", rng, wave, n % 2 == 0) for n in range(400)]
    needed = 0
    for text, code in zip(texts, resolve(oracle("llc-22"), processor, texts, wave), strict=True):
        entries = (code[0].pc,)
        assert hazard_faults(code, entries, processor, wave) == {}, text
        for number, wait in enumerate(code):
            if wait.row.mnemonic != "s_waitcnt_depctr" or "S_CBRANCH" in text:
                continue
            nothing = MachineInstruction(wait.row, wait.form, (Immediate(0xFFFF),), {}, pc=wait.pc, size=4)
            changed = [*code[:number], nothing, *code[number + 1 :]]
            assert hazard_faults(changed, entries, processor, wave), (text, number, str(wait))
            needed += 1
    # gfx1201 needs none; its permutations get moves.
    assert needed > 20 or processor == "gfx1201"


def test_llvm_looks_around_a_loop_before_its_waits_stand(oracle: Callable[[str], str]) -> None:
    """A loop ends by waiting for its transcendental result; LLVM 22 waits for it at the loop's beginning as well, where the same
    code in a row needs one wait only."""
    add = f"$vgpr1 = V_ADD_U32_e32 $vgpr1, $vgpr6, {_EXEC}"
    load = f"$vgpr6 = V_MOV_B32_e32 $vgpr2, {_EXEC}"
    body = [load, add, f"$vgpr6 = V_EXP_F32_e32 $vgpr0, implicit $mode, {_EXEC}", add]

    def waits(blocks: list[list[str]], loops: list[int]) -> list[int]:
        (code,) = resolve(oracle("llc-22"), "gfx1100", [function("f0", blocks, loops)], 32)
        found = [n for n, i in enumerate(code) if i.row.mnemonic == "s_waitcnt_depctr"]
        paths = edges(code)
        assert all(waited_before(code, n, paths) == (n == found[0] and len(found) == 2) for n in found)
        return found

    assert len(waits([body, []], [])) == 1
    assert len(waits([body, []], [0])) == 2
