"""Faults: each kind, with what the record must name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Completed, Fault, Faulted
from tests.target.amdgpu.simulator.asm import Assembler

LOAD = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""
INPUT = np.arange(256, dtype=np.uint32)


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def fault_of(outcome: Any) -> Fault:
    assert isinstance(outcome, Faulted), outcome
    fault = outcome.fault
    record = json.loads(json.dumps(fault.to_json()))
    assert record["kernel"] == "k" and record["message"] and record["workgroup"] is not None
    return fault


def test_out_of_bounds_names_lane_address_and_nearest_buffer(asm: Assembler) -> None:
    body = (
        LOAD
        + """
  v_mul_u32_u24 v2, 0x100, v0
  global_load_b32 v3, v2, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_b32 v1, v3, s[6:7]
  s_endpgm
"""
    )
    fault = fault_of(asm.run(body, INPUT, 32)[0])
    assert fault.kind == "out_of_bounds"
    assert fault.lane == 4  # 4 * 256 bytes is the buffer's size
    assert fault.instruction is not None and "global_load_b32" in fault.instruction
    assert fault.nearest_buffer is not None
    assert fault.nearest_buffer["name"] == "in" and fault.nearest_buffer["size"] == 1024
    assert fault.address == int(fault.nearest_buffer["begin"], 16) + 1024


def test_freed_memory(asm: Assembler) -> None:
    code = asm.build(LOAD + "  global_load_b32 v3, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n  s_endpgm\n")
    device = SimulatorDevice(threads=1)
    executable = device.load(code)
    buffer = device.allocate(1024, "gone")
    kernarg = buffer.address.to_bytes(8, "little") * 2
    assert isinstance(device.launch(executable, "k", (1,), (32,), kernarg), Completed)
    device.free(buffer)
    fault = fault_of(device.launch(executable, "k", (1,), (32,), kernarg))
    assert fault.kind == "freed_memory"
    assert fault.nearest_buffer is not None and fault.nearest_buffer["freed"] is True


def test_lds_beyond_its_allocation(asm: Assembler) -> None:
    body = "  v_lshlrev_b32 v1, 3, v0\n  ds_store_b32 v1, v0\n  s_endpgm\n"
    fault = fault_of(asm.run(body, INPUT, 1, lds=128)[0])
    assert (fault.kind, fault.lane, fault.address) == ("lds_out_of_bounds", 16, 128)
    assert isinstance(asm.run(body, INPUT, 1, lds=128, dynamic_lds=128)[0], Completed)


def test_scratch_beyond_its_allocation(asm: Assembler) -> None:
    body = "  v_mov_b32 v1, 16\n  scratch_store_b32 v1, v0, off\n  s_endpgm\n"
    fault = fault_of(asm.run(body, INPUT, 1, scratch=16)[0])
    assert fault.kind == "scratch_out_of_bounds"
    assert isinstance(asm.run(body, INPUT, 1, scratch=32)[0], Completed)


@pytest.mark.parametrize(("count", "read"), [(10, "s15"), (11, "s31"), (94, "s101")])
def test_scalar_registers_of_gfx9_are_allocated_in_pieces_of_16(asm: Assembler, count: int, read: str) -> None:
    """LLVM's usage guide, GRANULATED_WAVEFRONT_SGPR_COUNT: 2 * max(0, ceil(used / 16) - 1); six of those used are VCC and others."""

    def outcome(register: str) -> Any:
        body = f"  v_mov_b32 v1, {register}\n  s_endpgm\n"
        return asm.run(body, INPUT, 1, processor="gfx942", wave=64, sgprs=count)[0]

    assert isinstance(outcome(read), Completed)
    last = int(read[1:]) // 16 * 16 + 16
    if last < 102:
        fault = fault_of(outcome(f"s{last}"))
        assert (fault.kind, fault.register) == ("unallocated_register", f"s{last}")
    assert isinstance(asm.run("  v_mov_b32 v1, s101\n  s_endpgm\n", INPUT, 1)[0], Completed)


def test_unallocated_register(asm: Assembler) -> None:
    fault = fault_of(asm.run("  v_mov_b32 v40, 0\n  s_endpgm\n", INPUT, 1, vgprs=32)[0])
    assert (fault.kind, fault.register) == ("unallocated_register", "v40")


def test_unknown_instruction(asm: Assembler) -> None:
    fault = fault_of(asm.run("  s_nop 0\n  .long 0xfffffff0\n  s_endpgm\n", INPUT, 1)[0])
    assert (fault.kind, fault.pc) == ("unknown_instruction", 4)


def test_unknown_instruction_that_is_not_reached_is_no_fault(asm: Assembler) -> None:
    assert isinstance(asm.run("  s_branch .Lover\n  .long 0xfffffff0\n.Lover:\n  s_endpgm\n", INPUT, 1)[0], Completed)


def test_endless_loop_exceeds_the_budget(asm: Assembler) -> None:
    outcome, _ = asm.run(".Lloop:\n  s_branch .Lloop\n", INPUT, 1, device_options={"budget": 100_000})
    assert fault_of(outcome).kind == "instruction_budget"


def test_barrier_that_not_all_waves_reach(asm: Assembler) -> None:
    """Wave 1 spins for a value that wave 0 would write behind the barrier."""
    body = """
  v_cmp_gt_u32 vcc_lo, 32, v0
  s_cbranch_vccz .Lspin
  s_barrier
  s_endpgm
.Lspin:
  s_branch .Lspin
"""
    outcome, _ = asm.run(body, INPUT, 1, size=(64,), device_options={"budget": 100_000})
    fault = fault_of(outcome)
    assert fault.kind == "barrier_not_reached" and fault.wave == 1
    assert (
        "waiting: wave 0 at the barrier at 0x8" in fault.message and "wave 1 executed more than 100000" in fault.message
    )


def test_a_barrier_that_is_not_reached_names_all_waves(asm: Assembler) -> None:
    """Waves 1 and 3 wait, wave 2 has ended, wave 0 spins, over several time slices."""
    body = """
  v_readfirstlane_b32 s2, v0
  s_cmp_eq_u32 s2, 64
  s_cbranch_scc1 .Lout
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 .Lspin
  s_barrier
.Lout:
  s_endpgm
.Lspin:
  s_branch .Lspin
"""
    outcome, _ = asm.run(body, INPUT, 1, size=(128,), device_options={"budget": 5_000_000})
    fault = fault_of(outcome)
    assert fault.kind == "barrier_not_reached" and fault.wave == 0
    assert "waiting: waves 1, 3 at the barrier at 0x14; ended: wave 2" in fault.message


SPINNERS = {
    # Wave 1 polls a word of the LDS that wave 0 writes behind the barrier.
    "lds": """
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  v_cmp_gt_u32 vcc_lo, 32, v0
  s_cbranch_vccz .Lspin
  s_barrier
  ds_store_b32 v1, v0
  s_endpgm
.Lspin:
  ds_load_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_cmp_ne_u32 vcc_lo, 1, v2
  s_cbranch_vccnz .Lspin
  s_endpgm
""",
    # The same in memory; and the way round is two loops, which alternate.
    "memory": LOAD
    + """
  v_mov_b32 v2, 0
  s_mov_b32 s8, 0
  v_cmp_gt_u32 vcc_lo, 32, v0
  s_cbranch_vccz .Lspin
  s_barrier
  global_store_b32 v2, v0, s[6:7]
  s_endpgm
.Lspin:
  s_mov_b32 s9, 3
.Linner:
  global_load_b32 v3, v2, s[6:7] glc
  s_waitcnt vmcnt(0)
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Linner
  s_xor_b32 s8, s8, 1
  s_branch .Lspin
""",
}


@pytest.mark.parametrize("where", SPINNERS)
def test_a_wave_that_polls_in_vain_is_found_long_before_its_budget_is_spent(asm: Assembler, where: str) -> None:
    # A thousandth of the default budget, which takes a minute and more.
    options = {"budget": 1 << 24}
    outcome, _ = asm.run(SPINNERS[where], INPUT, 1, size=(64,), lds=64, device_options=options)
    fault = fault_of(outcome)
    assert fault.kind == "barrier_not_reached" and fault.wave == 1
    assert "waiting: wave 0 at the barrier" in fault.message
    assert "wave 1 loops without changing a register or memory" in fault.message


@pytest.mark.parametrize("where", ["lds", "memory"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_waves_that_poll_in_vain_are_found_on_any_number_of_threads(asm: Assembler, where: str, threads: int) -> None:
    options = {"threads": threads}
    outcome, _ = asm.run(SPINNERS[where], INPUT, 1, size=(64,), groups=(3,), lds=64, device_options=options)
    fault = fault_of(outcome)
    assert fault.kind == "barrier_not_reached" and fault.workgroup == (0, 0, 0)
    assert "(so do waves of 2 other workgroups)" in fault.message


def test_an_endless_loop_is_found_before_its_budget_is_spent(asm: Assembler) -> None:
    outcome, _ = asm.run(".Lloop:\n  s_nop 0\n  s_branch .Lloop\n", INPUT, 1)
    fault = fault_of(outcome)
    assert fault.kind == "instruction_budget" and "without changing a register or memory, for ever" in fault.message


def test_a_long_loop_that_counts_is_no_endless_one(asm: Assembler) -> None:
    """Six time slices; the other wave waits at a barrier meanwhile."""
    body = """
  v_cmp_gt_u32 vcc_lo, 32, v0
  s_cbranch_vccz .Lmeet
  s_mov_b32 s8, 0x600000
.Lloop:
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lloop
.Lmeet:
  s_barrier
  s_endpgm
"""
    assert isinstance(asm.run(body, INPUT, 1, size=(64,))[0], Completed)


def test_a_loop_that_stores_is_no_endless_one_until_the_budget(asm: Assembler) -> None:
    body = "  v_mov_b32 v1, 0\n.Lloop:\n  ds_add_u32 v1, v0\n  s_branch .Lloop\n"
    outcome, _ = asm.run(body, INPUT, 1, lds=64, device_options={"budget": 20_000_000})
    fault = fault_of(outcome)
    assert fault.kind == "instruction_budget" and "executed more than 20000000" in fault.message


def test_gfx12_waits_need_a_signal(asm: Assembler) -> None:
    body = "{signal}  s_barrier_wait -1\n  s_endpgm\n"
    outcome, _ = asm.run(body.format(signal=""), INPUT, 1, size=(64,), processor="gfx1201")
    fault = fault_of(outcome)
    assert fault.kind == "barrier_not_reached" and "not signalled" in fault.message
    signalled = body.format(signal="  s_barrier_signal -1\n")
    assert isinstance(asm.run(signalled, INPUT, 1, size=(64,), processor="gfx1201")[0], Completed)


def test_gfx12_a_signal_lets_others_pass_before_the_wait(asm: Assembler) -> None:
    """Wave 0 signals and polls what wave 1 writes behind its wait; a second barrier finds both again."""
    body = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 7
  v_cmp_gt_u32 vcc_lo, 32, v0
  s_wait_kmcnt 0x0
  s_cbranch_vccz .Lwriter
  s_barrier_signal -1
.Lpoll:
  global_load_b32 v3, v1, s[6:7] scope:SCOPE_DEV
  s_wait_loadcnt 0x0
  v_cmp_ne_u32 vcc_lo, 7, v3
  s_wait_alu 0xfffd
  s_cbranch_vccnz .Lpoll
  s_barrier_wait -1
  s_branch .Lagain
.Lwriter:
  s_barrier_signal -1
  s_barrier_wait -1
  global_store_b32 v1, v2, s[6:7]
.Lagain:
  s_wait_storecnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
  global_store_b32 v1, v2, s[6:7] offset:4
  s_endpgm
"""
    outcome, out = asm.run(body, INPUT, 2, size=(64,), processor="gfx1201")
    assert isinstance(outcome, Completed), outcome
    assert out.tolist() == [7, 7]


def test_waves_that_end_do_not_block_a_barrier(asm: Assembler) -> None:
    body = "  v_cmp_gt_u32 vcc_lo, 32, v0\n  s_cbranch_vccz .Lend1\n  s_barrier\n.Lend1:\n  s_endpgm\n"
    assert isinstance(asm.run(body, INPUT, 1, size=(64,))[0], Completed)


@pytest.mark.parametrize(
    ("counter", "body"),
    [
        ("vmcnt", LOAD + "  global_load_b32 v3, v1, s[4:5]\n  v_add_nc_u32 v3, v3, v3\n  s_endpgm\n"),
        ("lgkmcnt", "  s_load_b64 s[4:5], s[0:1], 0x0\n  s_add_u32 s4, s4, 1\n  s_endpgm\n"),
        ("lgkmcnt", "  v_mov_b32 v1, 0\n  ds_load_b32 v2, v1\n  v_mov_b32 v3, v2\n  s_endpgm\n"),
        # Only a wait for zero finishes scalar loads, which return in any order.
        ("lgkmcnt", "  s_load_b64 s[4:5], s[0:1], 0x0\n  s_load_b64 s[6:7], s[0:1], 0x8\n  s_waitcnt lgkmcnt(1)\n"
                    "  s_mov_b32 s8, s4\n  s_endpgm\n"),
        # A result overwritten while its load is under way.
        ("vmcnt", LOAD + "  global_load_b32 v3, v1, s[4:5]\n  v_mov_b32 v3, 0\n  s_endpgm\n"),
        ("vmcnt", LOAD + "  global_atomic_add_u32 v3, v1, v0, s[4:5] glc\n  v_mov_b32 v4, v3\n  s_endpgm\n"),
    ],
)  # fmt: skip
def test_use_before_the_wait(asm: Assembler, counter: str, body: str) -> None:
    fault = fault_of(asm.run(body, INPUT, 1, lds=64)[0])
    assert fault.kind == "outstanding_load" and counter in fault.message and fault.register


def test_ordered_loads_need_only_a_count(asm: Assembler) -> None:
    body = (
        LOAD
        + """
  global_load_b32 v3, v1, s[4:5]
  global_load_b32 v4, v1, s[4:5] offset:4
  s_waitcnt vmcnt({count})
  v_add_nc_u32 v5, v3, 1
  s_waitcnt vmcnt(0)
  global_store_b32 v1, v5, s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body.format(count=1), INPUT, 32)
    assert isinstance(outcome, Completed)
    assert np.array_equal(out, INPUT[:32] + 1)
    assert fault_of(asm.run(body.format(count=2), INPUT, 32)[0]).kind == "outstanding_load"


@pytest.mark.parametrize(
    ("use", "faults"),
    [
        # A memory instruction depends on the half that it moves, any other on the whole register.
        ("ds_store_b16 v2, v3", False),
        ("ds_store_b16_d16_hi v2, v3", True),
        ("global_load_d16_b16 v3, v1, s[4:5]", False),
        ("ds_load_u16_d16 v3, v2", False),
        ("ds_load_u16_d16_hi v3, v2", True),
        ("ds_store_b32 v2, v3", True),
        ("v_mov_b16 v4.l, v3.l", True),
    ],
)
def test_halves_of_a_register_are_outstanding_apart(asm: Assembler, use: str, faults: bool) -> None:
    begin = LOAD + "  v_mov_b32 v2, 0\n  v_mov_b32 v3, 0x1234\n  global_load_d16_hi_b16 v3, v1, s[4:5]\n"
    end = "  s_waitcnt vmcnt(0) lgkmcnt(0)\n  v_lshrrev_b32 v5, 16, v3\n  global_store_b32 v1, v5, s[6:7]\n  s_endpgm\n"
    outcome, out = asm.run(f"{begin}  {use}\n{end}", INPUT, 32, lds=64)
    if faults:
        assert fault_of(outcome).kind == "outstanding_load"
    else:
        assert isinstance(outcome, Completed) and np.array_equal(out, INPUT[:32])


def test_an_atomic_that_returns_nothing_leaves_its_data_free(asm: Assembler) -> None:
    begin = LOAD + "  s_mov_b32 s8, s6\n  s_mov_b32 s9, s7\n  s_mov_b32 s10, 0x80\n  s_mov_b32 s11, 0x31016000\n"
    begin += "  v_add_nc_u32 v3, v0, 1\n"
    atomic = "  buffer_atomic_or_b32 v3, v1, s[8:11], 0 offen{glc}\n  v_add_nc_u32 v3, v3, v3\n"
    end = "  s_waitcnt_vscnt null, 0x0\n  s_waitcnt vmcnt(0)\n  s_endpgm\n"
    outcome, out = asm.run(begin + atomic.format(glc="") + end, INPUT, 32)
    assert isinstance(outcome, Completed) and np.array_equal(out & 31, np.arange(1, 33) & 31)
    outcome, _ = asm.run(begin + atomic.format(glc=" glc") + end, INPUT, 32)
    assert fault_of(outcome).kind == "outstanding_load"


def test_store_that_a_barrier_publishes_too_early(asm: Assembler) -> None:
    body = "  v_lshlrev_b32 v1, 2, v0\n  ds_store_b32 v1, v0\n{wait}  s_barrier\n  ds_load_b32 v2, v1\n  s_endpgm\n"
    fault = fault_of(asm.run(body.format(wait=""), INPUT, 1, lds=256, size=(64,))[0])
    assert fault.kind == "uncovered_store" and "lgkmcnt" in fault.message
    waited = body.format(wait="  s_waitcnt lgkmcnt(0)\n")
    assert isinstance(asm.run(waited, INPUT, 1, lds=256, size=(64,))[0], Completed)


def test_a_function_waits_for_its_loads_before_it_returns(asm: Assembler) -> None:
    """The callee reloads ``v2``, as LLVM's functions do with the registers that they save; only its caller reads it."""
    body = (
        LOAD
        + """
  s_getpc_b64 s[8:9]
.Lhere:
  s_add_u32 s8, s8, .Lfunction - .Lhere
  s_addc_u32 s9, s9, 0
  s_swappc_b64 s[30:31], s[8:9]
  v_add_nc_u32 v2, 1, v2
  global_store_b32 v1, v2, s[6:7]
  s_endpgm
.Lfunction:
  s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
  global_load_b32 v2, v1, s[4:5]
{wait}  s_setpc_b64 s[30:31]
"""
    )
    fault = fault_of(asm.run(body.format(wait=""), INPUT, 32)[0])
    assert fault.kind == "outstanding_load" and "the function returns while 'global_load_b32'" in fault.message
    outcome, out = asm.run(body.format(wait="  s_waitcnt vmcnt(0)\n"), INPUT, 32)
    assert isinstance(outcome, Completed) and np.array_equal(out, np.arange(32) + 1)


def test_global_store_before_a_barrier_that_orders_memory(asm: Assembler) -> None:
    body = LOAD + "  global_store_b32 v1, v0, s[6:7]\n{wait}  s_barrier\n  buffer_gl0_inv\n  s_endpgm\n"
    fault = fault_of(asm.run(body.format(wait=""), INPUT, 64, size=(64,))[0])
    assert fault.kind == "uncovered_store" and "vscnt" in fault.message
    waited = body.format(wait="  s_waitcnt_vscnt null, 0x0\n")
    assert isinstance(asm.run(waited, INPUT, 64, size=(64,))[0], Completed)


def test_missing_nop_behind_a_transcendental(asm: Assembler) -> None:
    body = "  v_mov_b32 v1, 1.0\n  v_exp_f32 v2, v1\n{gap}  v_add_f32 v3, v2, v1\n  s_endpgm\n"
    assert fault_of(asm.run(body.format(gap=""), INPUT, 1)[0]).kind == "missing_nop"
    gap = "  s_waitcnt_depctr 0xfff\n"
    assert isinstance(asm.run(body.format(gap=gap), INPUT, 1)[0], Completed)


def test_misaligned_atomic(asm: Assembler) -> None:
    body = LOAD + "  v_add_nc_u32 v1, 2, v1\n  global_atomic_add_u32 v1, v0, s[6:7]\n  s_endpgm\n"
    assert fault_of(asm.run(body, INPUT, 64)[0]).kind == "misaligned_access"


def test_unaligned_loads_are_allowed(asm: Assembler) -> None:
    body = (
        LOAD
        + """
  v_add_nc_u32 v2, 2, v1
  global_load_b32 v3, v2, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_b32 v1, v3, s[6:7]
  s_endpgm
"""
    )
    outcome, out = asm.run(body, INPUT, 32)
    assert isinstance(outcome, Completed)
    data = INPUT.tobytes()
    assert out.tolist() == [int.from_bytes(data[4 * i + 2 : 4 * i + 6], "little") for i in range(32)]


def test_bad_program_counter(asm: Assembler) -> None:
    fault = fault_of(asm.run("  s_mov_b64 s[4:5], 0\n  s_setpc_b64 s[4:5]\n", INPUT, 1)[0])
    assert fault.kind == "bad_program_counter" and fault.address == 0


def test_trap(asm: Assembler) -> None:
    assert fault_of(asm.run("  s_trap 2\n  s_endpgm\n", INPUT, 1)[0]).kind == "trap"


RACE = """
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 7
  ds_store_b32 v1, v2
  s_waitcnt lgkmcnt(0)
{barrier}
  v_xor_b32 v3, 0x80, v1
  ds_load_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
"""


def test_race_sanitizer(asm: Assembler) -> None:
    racy, fine = RACE.format(barrier=""), RACE.format(barrier="  s_barrier")
    watch = {"sanitizers": ("race",)}
    fault = fault_of(asm.run(racy, INPUT, 1, lds=256, size=(64,), device_options=watch)[0])
    assert fault.kind == "lds_race" and fault.wave == 1
    assert isinstance(asm.run(fine, INPUT, 1, lds=256, size=(64,), device_options=watch)[0], Completed)
    # Without the sanitizer the race is not looked for.
    assert isinstance(asm.run(racy, INPUT, 1, lds=256, size=(64,))[0], Completed)


@pytest.mark.parametrize(
    ("needed", "before", "after"),
    [
        (2, "v_cmp_gt_u32 vcc, 8, v0", "v_cndmask_b32 v2, v0, v1, vcc"),
        (4, "v_cmp_gt_u32 vcc, 8, v0", "v_div_fmas_f32 v2, v0, v1, v0"),
        (4, "v_readlane_b32 s8, v0, 3", "v_readlane_b32 s9, v0, s8"),
        (2, "v_mov_b32 v2, v0", "v_mov_b32_dpp v3, v2 row_shr:1 row_mask:0xf bank_mask:0xf"),
        (1, "v_mov_b32 v2, v0", "v_readlane_b32 s8, v2, 3"), (1, "v_exp_f32 v2, v1", "v_add_f32 v3, v2, v1"),
        (5, "v_cmpx_gt_u32 vcc, 64, v0", "v_mov_b32_dpp v3, v1 row_shr:1 row_mask:0xf bank_mask:0xf"),
        (4, "v_cmpx_gt_u32 vcc, 64, v0", "v_readfirstlane_b32 s8, v1"),
        (3, "v_dot4_i32_i8 v2, v1, v1, v1", "v_mov_b32 v3, v2"),
    ],
)  # fmt: skip
def test_required_wait_states_of_gfx942(asm: Assembler, needed: int, before: str, after: str) -> None:
    body = "  v_mov_b32 v1, 1.0\n  s_nop 7\n  {before}\n{gap}  {after}\n  s_endpgm\n"
    for states in range(needed + 1):
        gap = f"  s_nop {states - 1}\n" if states else ""
        text = body.format(before=before, gap=gap, after=after)
        outcome, _ = asm.run(text, INPUT, 1, processor="gfx942", wave=64)
        if states < needed:
            assert fault_of(outcome).kind == "missing_nop", (states, outcome)
        else:
            assert isinstance(outcome, Completed), (states, outcome)


@pytest.mark.parametrize(("needed", "before"), [(2, "v_mov_b32 v2, v0"), (4, "v_cmpx_gt_u32 vcc, 64, v0")])
def test_required_wait_states_of_gfx950_lane_exchanges(asm: Assembler, needed: int, before: str) -> None:
    """As LLVM's ``checkPermlaneHazards``."""
    for states in (needed - 1, needed):
        body = f"  v_mov_b32 v2, 1\n  s_nop 7\n  {before}\n  s_nop {states - 1}\n  v_permlane32_swap_b32 v3, v2\n  s_endpgm\n"
        outcome, _ = asm.run(body, INPUT, 1, processor="gfx950", wave=64)
        assert isinstance(outcome, Completed) == (states == needed), outcome
        if states < needed:
            assert fault_of(outcome).kind == "missing_nop"


def test_results_from_both_sides_of_an_exec_write_need_a_wait(asm: Assembler) -> None:
    """LLVM 22 puts ``s_waitcnt_depctr 0xfff`` between the two in waves of 64 lanes."""
    body = """
  v_mov_b32 v1, v0
  s_mov_b64 exec, -1
  v_mov_b32 v2, v0
{wait}  v_add_nc_u32 v3, v1, v2
  s_endpgm
"""
    fault = fault_of(asm.run(body.format(wait=""), INPUT, 1, wave=64)[0])
    assert fault.kind == "missing_nop" and "va_vdst" in fault.message
    waited = body.format(wait="  s_waitcnt_depctr 0xfff\n")
    assert isinstance(asm.run(waited, INPUT, 1, wave=64)[0], Completed)


READ_OF_OTHERS = (
    LOAD
    + """
  v_xor_b32 v2, 0x80, v1
  global_store_b32 v1, v0, s[6:7]
{wait}  s_barrier
{between}  global_load_b32 v3, {address}, s[6:7]{bits}
  s_waitcnt vmcnt(0)
  s_endpgm
"""
)
"""Each wave of 32 lanes stores its part of 64 words, and reads (``v2``) what the other stored, or (``v1``) its own."""


@pytest.mark.parametrize(
    ("parts", "faults"),
    [
        ({}, True),
        ({"bits": " glc dlc"}, True),
        ({"wait": "  s_waitcnt_vscnt null, 0x1\n"}, True),
        ({"between": "  s_waitcnt_vscnt null, 0x0\n"}, True),
        ({"between": "  s_barrier\n"}, True),
        ({"wait": "  s_waitcnt_vscnt null, 0x0\n"}, False),
        ({"between": "  s_waitcnt_vscnt null, 0x0\n  s_barrier\n"}, False),
        ({"address": "v1"}, False),
    ],
)
def test_a_global_store_that_another_wave_reads_behind_the_barrier(
    asm: Assembler, parts: dict[str, str], faults: bool
) -> None:
    body = READ_OF_OTHERS.format(**{"wait": "", "between": "", "bits": "", "address": "v2"} | parts)
    outcome, _ = asm.run(body, INPUT, 64, size=(64,))
    if not faults:
        assert isinstance(outcome, Completed)
        return
    fault = fault_of(outcome)
    assert fault.kind == "uncovered_store" and fault.instruction is not None and "global_load_b32" in fault.instruction
    assert fault.wave == 0 and "stored by wave 1 with 'global_store_b32'" in fault.message
    assert fault.lane == 0 and fault.address is not None


def test_waves_of_one_compute_unit_see_each_other_s_stores(asm: Assembler) -> None:
    body = READ_OF_OTHERS.format(wait="", between="", bits="", address="v2")
    outcome, _ = asm.run(body, INPUT, 64, size=(64,), directives=(".amdhsa_workgroup_processor_mode 0",))
    assert isinstance(outcome, Completed)


def test_a_store_of_another_workgroup_or_byte_is_not_taken_for_the_other_wave_s(asm: Assembler) -> None:
    """Each lane stores one byte; each wave reads back the byte that it stored, in words that both waves wrote."""
    body = (
        LOAD
        + """
  v_and_b32 v2, 31, v0
  v_lshrrev_b32 v3, 5, v0
  v_lshl_or_b32 v2, v2, 1, v3
  global_store_b8 v2, v0, s[6:7]
  s_barrier
  global_load_u8 v4, v2, s[6:7]
  s_waitcnt vmcnt(0)
  s_endpgm
"""
    )
    outcome, _ = asm.run(body, INPUT, 64, size=(64,), groups=(3,))
    assert isinstance(outcome, Completed)


@pytest.mark.parametrize(
    "publish", ["s_barrier", "global_store_dword v1, v0, s[6:7]", "global_atomic_add v1, v0, s[6:7]"]
)
def test_a_release_waits_for_the_write_back(asm: Assembler, publish: str) -> None:
    """gfx942, device scope: ``buffer_wbl2`` and a wait before what tells others."""
    body = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v0, s[6:7]
  buffer_wbl2 sc1
{wait}  {publish}
  s_endpgm
"""
    fault = fault_of(asm.run(body.format(wait="", publish=publish), INPUT, 64, processor="gfx942", wave=64)[0])
    assert fault.kind == "uncovered_store" and "buffer_wbl2" in fault.message
    waited = body.format(wait="  s_waitcnt vmcnt(0)\n", publish=publish)
    assert isinstance(asm.run(waited, INPUT, 64, processor="gfx942", wave=64)[0], Completed)


@pytest.mark.parametrize(
    ("wait", "between", "faults"),
    [
        ("", "", True),
        ("", "  s_waitcnt lgkmcnt(0)\n", True),
        ("", "  s_waitcnt lgkmcnt(0)\n  s_barrier\n", False),
        ("  s_waitcnt lgkmcnt(0)\n", "", False),
    ],
)
def test_an_lds_load_that_another_wave_overtakes_behind_the_barrier(
    asm: Assembler, wait: str, between: str, faults: bool
) -> None:
    """Each wave reads what the other stored, and stores anew behind a barrier."""
    body = f"""
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x80, v1
  ds_store_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_load_b32 v3, v2
{wait}  s_barrier
{between}  ds_store_b32 v1, v1
  s_waitcnt lgkmcnt(0)
  s_endpgm
"""
    outcome, _ = asm.run(body, INPUT, 1, lds=256, size=(64,))
    if not faults:
        assert isinstance(outcome, Completed)
        return
    fault = fault_of(outcome)
    assert fault.kind == "outstanding_load" and fault.wave == 0 and fault.address == 0
    assert "LDS offset 0x0 was read by wave 1 with 'ds_load_b32'" in fault.message
    assert fault.instruction is not None and "ds_store_b32" in fault.instruction


def test_an_lds_load_may_be_under_way_where_nothing_overtakes_it(asm: Assembler) -> None:
    """Two buffers in turn, as software pipelines have them: what is read in front of the barrier is not written behind it."""
    body = """
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x80, v1
  ds_store_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_load_b32 v3, v2
  ds_store_b32 v1, v1 offset:256
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_load_b32 v4, v2 offset:256
  s_barrier
  ds_store_b32 v1, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
"""
    assert isinstance(asm.run(body, INPUT, 1, lds=512, size=(64,))[0], Completed)


@pytest.mark.parametrize("processor", ["gfx1100", "gfx1201"])
def test_a_wave_that_gives_its_registers_back_needs_a_no_op(asm: Assembler, processor: str) -> None:
    body = "  v_mov_b32 v1, v0\n{gap}  s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n  s_endpgm\n"
    assert fault_of(asm.run(body.format(gap=""), INPUT, 1, processor=processor)[0]).kind == "missing_nop"
    assert isinstance(asm.run(body.format(gap="  s_nop 0\n"), INPUT, 1, processor=processor)[0], Completed)


def test_places_of_faults_that_are_no_memory_addresses(asm: Assembler) -> None:
    """A misaligned LDS access has an LDS offset, a register no address, and an address far from all buffers names none of ours."""
    outcome, _ = asm.run("  v_mov_b32 v3, 2\n  ds_add_u32 v3, v0\n  s_endpgm\n", INPUT, 1, lds=64)
    fault = fault_of(outcome)
    assert (fault.kind, fault.address, fault.nearest_buffer) == ("misaligned_access", 2, None)
    assert "LDS offset 0x2" in fault.message
    outcome, _ = asm.run("  s_movk_i32 m0, 0x7f\n  v_movrels_b32 v3, v2\n  s_endpgm\n", INPUT, 1)
    fault = fault_of(outcome)
    assert (fault.kind, fault.address) == ("unallocated_register", None)
    body = (
        "  v_mov_b32 v1, 0\n  s_mov_b32 s4, 0\n  s_mov_b32 s5, 0x7000\n  global_load_b32 v2, v1, s[4:5]\n  s_endpgm\n"
    )
    fault = fault_of(asm.run(body, INPUT, 1)[0])
    assert fault.kind == "out_of_bounds" and fault.nearest_buffer is not None and fault.nearest_buffer["name"] == "out"
    body = "  v_mov_b32 v1, 0\n  global_load_b32 v2, v1, s[0:1] offset:64\n  s_endpgm\n"
    fault = fault_of(asm.run(body, INPUT, 1)[0])
    assert fault.nearest_buffer is not None and fault.nearest_buffer["name"] == "kernel arguments"


def test_waves_of_workgroups_that_had_not_begun_are_not_counted(asm: Assembler) -> None:
    body = "  s_cmp_eq_u32 s2, 3\n  s_cbranch_scc0 .Ldone\n  v_mov_b32 v40, 0\n.Ldone:\n  s_endpgm\n"
    outcome, _ = asm.run(body, INPUT, 1, groups=(100,), size=(64,))
    assert fault_of(outcome).workgroup == (3, 0, 0)
    assert outcome.counts.waves == 2 * 4
