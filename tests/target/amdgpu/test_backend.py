"""Prepared Low to machine programs, read back by LLVM: ABI, allocation, waits, hazards, copies, spills, refusals."""

from __future__ import annotations

import shutil
import struct
import subprocess

import pytest

import loom
import loom.target.amdgpu.merge_memory as merge_memory
from loom.diagnostics import LoomError
from loom.low.code import OP, Instruction
from loom.target.amdgpu.assembler import parse_instruction
from loom.target.amdgpu.backend import CONSTRAINED_REACH
from loom.target.amdgpu.checker import check_pairs
from loom.target.amdgpu.compile import DEFAULT_TARGET
from loom.target.amdgpu.dual_issue import separate_pairs
from loom.target.amdgpu.encoder import encode
from loom.target.amdgpu.kernel import KernelBackend
from loom.target.amdgpu.machine import MachineBlock, MachineProgram
from loom.target.amdgpu.processors import processor
from loom.transform.selection import target_of_record

LLVM_MC = shutil.which("llvm-mc-22") or shutil.which("llvm-mc")


def backend(text: str, name: str | None = None) -> KernelBackend:
    """Compile one kernel of a module with every check on."""
    module = loom.parse(text, "test.loom")
    loom.verify(module)
    kernels = [op for op in module.operations if op.name == "low.kernel.def" and name in (None, op.symbol)]
    record = next(op for op in module.operations if op.name == "amdgpu.target")
    target = target_of_record(record)
    made = KernelBackend(module, kernels[0], target, processor(target.processor))
    made.run(check=True)
    return made


def assembly(text: str) -> list[str]:
    """The kernel's instructions as LLVM's disassembler prints them, delay hints left out; by our own printer where
    LLVM is absent.
    """
    made = backend(text)
    code = encode(made.program)
    if LLVM_MC is None:
        return [str(i) for i in made.program.instructions() if i.row.mnemonic != "s_delay_alu"]
    attributes = ["-mattr=+wavefrontsize64"] if made.wave_size == 64 else []
    done = subprocess.run(
        [LLVM_MC, "-triple=amdgcn", f"-mcpu={made.program.processor}", *attributes, "-disassemble"],
        input=" ".join(f"0x{byte:02x}" for byte in code),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "warning" not in done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    return [line for line in lines if line and not line.startswith((".", "s_delay_alu"))]


def kernel(body: str, arguments: str = "", head: str = "", processor_name: str = DEFAULT_TARGET) -> str:
    """A kernel of 32 lanes around a body."""
    return f"""amdgpu.target<{processor_name}> @t
low.kernel.def {head}target<amdgpu.rdna3.core>(@t) export("k") workgroup_size(32, 1, 1) @k({arguments}) {{
{body}
  low.return
}}
"""


HEAD = """  %id = low.live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %src = low.resource<hal_binding> {index = 0, source_type = hal.buffer} : reg<amdgpu.sgpr x2>
"""
V = "reg<amdgpu.vgpr>"
STORE = f"  low.op<amdgpu.global_store_b32>(%id, %r, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)"


def test_a_prepared_kernel_gets_its_arguments_registers_and_waits() -> None:
    text = """amdgpu.target<gfx11-generic> @gfx11 {subgroup_size = 32}
low.kernel.def target<amdgpu.gfx11.generic.core>(@gfx11) export("bump") workgroup_size(64, 1, 1) @bump(%bias:
reg<amdgpu.sgpr>) asm {
  %lane = live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %words = resource<hal_binding> {index = 0, source_type = hal.buffer, extent = 256} : reg<amdgpu.sgpr x2>
  %address = v_lshlrev_b32_src0_inline %lane, 2
  %before = global_load_b32_saddr %address, %words
  %after = v_add_u32 %bias, %before
  global_store_b32_saddr %address, %after, %words
  return
}
"""
    made = backend(text)
    assert assembly(text) == [
        "s_load_b128 s[0:3], s[0:1], null",
        "v_lshlrev_b32_e32 v0, 2, v0",
        "s_waitcnt lgkmcnt(0)",
        "global_load_b32 v1, v0, s[0:1]",
        "s_waitcnt vmcnt(0)",
        "v_add_nc_u32_e32 v1, s2, v1",
        "global_store_b32 v0, v1, s[0:1]",
        "s_nop 0",
        "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
        "s_endpgm",
    ]
    assert [(e.offset, e.size, e.kind, e.name) for e in made.resources.kernarg.entries] == [
        (0, 8, "global_buffer", "words"),
        (8, 4, "by_value", "bias"),
    ]
    assert (made.resources.kernarg.size, made.resources.vgprs, made.resources.sgprs) == (16, 2, 4)


def test_partial_waits_let_younger_loads_run_on() -> None:
    loads = "\n".join(
        f"  %l{n} = low.op<amdgpu.global_load_b32>(%id, %src) {{offset = {64 * n}}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}"
        for n in range(3)
    )
    uses = f"""
  low.schedule.fence
  low.op<amdgpu.global_store_b32>(%id, %l0, %src) {{offset = 1024}} : ({V}, {V}, reg<amdgpu.sgpr x2>)
  low.schedule.fence
  low.op<amdgpu.global_store_b32>(%id, %l1, %src) {{offset = 2048}} : ({V}, {V}, reg<amdgpu.sgpr x2>)
  low.schedule.fence
  low.op<amdgpu.global_store_b32>(%id, %l2, %src) {{offset = 3072}} : ({V}, {V}, reg<amdgpu.sgpr x2>)"""
    lines = assembly(kernel(HEAD + loads + uses))
    assert [line for line in lines if "waitcnt" in line] == [
        "s_waitcnt lgkmcnt(0)",
        "s_waitcnt vmcnt(2)",
        "s_waitcnt vmcnt(1)",
        "s_waitcnt vmcnt(0)",
    ]


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ("", ["s_waitcnt lgkmcnt(0)", "s_waitcnt_vscnt null, 0x0"]),
        (" {memory = workgroup}", ["s_waitcnt lgkmcnt(0)"]),
        (" {memory = global}", ["s_waitcnt_vscnt null, 0x0"]),
    ],
)
def test_a_barrier_waits_for_what_it_publishes(memory: str, expected: list[str]) -> None:
    body = f"""{HEAD}
  %zero = low.op<amdgpu.v_mov_b32>() {{src0 = 0}} : () -> {V}
  %r = low.op<amdgpu.v_add_nc_u32>(%id) {{src0 = 1}} : ({V}) -> {V}
  low.op<amdgpu.global_store_b32>(%id, %r, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)
  low.op<amdgpu.ds_store_b32>(%zero, %r) : ({V}, {V})
  low.op<amdgpu.s_barrier>(){memory} : ()"""
    lines = assembly(kernel(body, head="schedule(locked) "))
    at = lines.index("s_barrier")
    found = [line for line in lines[at - 2 : at] if "waitcnt" in line]
    assert found == expected


def test_a_transcendental_result_used_at_once_needs_a_wait_and_late_use_does_not() -> None:
    near = f"{HEAD}  %e = low.op<amdgpu.v_exp_f32>(%id) : ({V}) -> {V}\n  %r = low.op<amdgpu.v_add_f32>(%e, %id) : ({V}, {V}) -> {V}\n{STORE}"
    lines = assembly(kernel(near, head="schedule(locked) "))
    at = next(i for i, line in enumerate(lines) if line.startswith("v_add_f32"))
    # LLVM: va_vdst(0) is 0x0fff on gfx11.
    assert lines[at - 1].startswith("s_waitcnt_depctr") and ("0xfff" in lines[at - 1] or "va_vdst(0)" in lines[at - 1])
    filler = "".join(f"  %f{n} = low.op<amdgpu.v_add_nc_u32>(%id) {{src0 = {n}}} : ({V}) -> {V}\n" for n in range(6))
    keep = "".join(
        f"  low.op<amdgpu.global_store_b32>(%id, %f{n}, %src) {{offset = {8 * n + 64}}} : ({V}, {V}, reg<amdgpu.sgpr x2>)\n"
        for n in range(6)
    )
    far = f"{HEAD}  %e = low.op<amdgpu.v_exp_f32>(%id) : ({V}) -> {V}\n{filler}  %r = low.op<amdgpu.v_add_f32>(%e, %id) : ({V}, {V}) -> {V}\n{keep}{STORE}"
    assert not any("depctr" in line for line in assembly(kernel(far, head="schedule(locked) ")))


def test_a_value_that_a_masked_write_passes_on_and_others_still_read_is_copied_for_all_lanes() -> None:
    body = f"""{HEAD}
  %y = low.op<amdgpu.v_add_nc_u32>(%id) {{src0 = 5}} : ({V}) -> {V}
  %mask = low.op<amdgpu.v_cmp_gt_u32>(%id) {{src0 = 7}} : ({V}) -> reg<amdgpu.sgpr>
  %saved, %any, %inside = low.op<amdgpu.s_and_saveexec_b32>(%mask) : (reg<amdgpu.sgpr>) -> reg<amdgpu.sgpr>, reg<amdgpu.scc>, reg<amdgpu.exec>
  %x = low.op<amdgpu.v_mov_b32>(%inside, %y) {{src0 = 9}} : (reg<amdgpu.exec>, {V}) -> %y as {V}
  %outside = low.op<amdgpu.s_mov_b32>(%saved) : (reg<amdgpu.sgpr>) -> reg<amdgpu.exec>
  low.op<amdgpu.global_store_b32>(%id, %x, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)
  low.op<amdgpu.global_store_b32>(%id, %y, %src) {{offset = 128}} : ({V}, {V}, reg<amdgpu.sgpr x2>)"""
    lines = assembly(kernel(body))
    at = lines.index("s_mov_b32 exec_lo, -1")
    kept = lines[at - 1].split()[1].rstrip(",")
    assert lines[at - 1] == f"s_mov_b32 {kept}, exec_lo"
    assert lines[at + 1].startswith("v_mov_b32_e32")
    assert lines[at + 2] == f"s_mov_b32 exec_lo, {kept}"


def loop(second: str, first: str) -> str:
    """A loop that carries two values and passes them on in the given order."""
    return f"""{HEAD}
  %zero = low.op<amdgpu.v_mov_b32>() {{src0 = 0}} : () -> {V}
  %i0 = low.op<amdgpu.s_mov_b32>() {{ssrc0 = 0}} : () -> reg<amdgpu.sgpr>
  low.br ^body(%i0: reg<amdgpu.sgpr>, %zero: {V}, %id: {V})
^body(%i: reg<amdgpu.sgpr>, %a: {V}, %b: {V}):
  %a1 = low.op<amdgpu.v_add_nc_u32>(%a) {{src0 = 1}} : ({V}) -> {V}
  %b1 = low.op<amdgpu.v_add_nc_u32>(%b) {{src0 = 2}} : ({V}) -> {V}
  %i1, %carry = low.op<amdgpu.s_add_u32>(%i) {{ssrc1 = 1}} : (reg<amdgpu.sgpr>) -> reg<amdgpu.sgpr>, reg<amdgpu.scc>
  %more = low.op<amdgpu.s_cmp_lt_u32>(%i1) {{ssrc1 = 9}} : (reg<amdgpu.sgpr>) -> reg<amdgpu.scc>
  low.cond_br %more, ^again, ^done : reg<amdgpu.scc>
^again:
  low.br ^body(%i1: reg<amdgpu.sgpr>, {first}: {V}, {second}: {V})
^done:
  %r = low.op<amdgpu.v_xor_b32>(%a1, %b1) : ({V}, {V}) -> {V}
{STORE}"""


def test_loop_carried_values_that_stay_in_place_cost_no_copy() -> None:
    made = backend(kernel(loop("%b1", "%a1")))
    # One copy: the loop starts from the work-item id, which is still needed behind it.
    assert made.added["copies"] == 1
    lines = assembly(kernel(loop("%b1", "%a1")))
    assert any(line.startswith("s_cbranch_scc1") for line in lines)
    assert not any(line.startswith("s_branch") for line in lines)


def test_loop_carried_values_that_change_places_are_exchanged() -> None:
    made = backend(kernel(loop("%a1", "%b1")))
    # Two pairs of copies, one in front of the loop and one in it, or a copy of the start and an exchange.
    assert made.added["copies"] >= 2


def test_more_live_vectors_than_registers_spill_to_scratch() -> None:
    count = 270
    body = [HEAD]
    for n in range(count):
        body.append(
            f"  %v{n} = low.op<amdgpu.v_add_nc_u32>(%id) {{src0 = literal, literal = {n + 100}}} : ({V}) -> {V}"
        )
    body.append("  low.schedule.fence")
    for n in range(count):
        body.append(
            f"  low.op<amdgpu.global_store_b32>(%id, %v{n}, %src) {{offset = {4 * n}, glc = 1}} : ({V}, {V}, reg<amdgpu.sgpr x2>)"
        )
    made = backend(kernel("\n".join(body), head="schedule(locked) "))
    assert made.resources.vgprs <= 256
    assert made.resources.vgpr_spills >= count - 254
    assert made.resources.scratch_bytes == 4 * made.resources.vgpr_spills
    assert made.added["spills"] == made.added["reloads"] == made.resources.vgpr_spills


def test_more_live_scalars_than_registers_spill_to_lanes() -> None:
    count = 120
    body = [HEAD]
    for n in range(count):
        body.append(
            f"  %s{n} = low.op<amdgpu.s_load_b32>(%src) {{soffset = off, offset = {4 * n}}} : (reg<amdgpu.sgpr x2>) -> reg<amdgpu.sgpr>"
        )
    previous = "%id"
    for n in range(count):
        body.append(f"  %a{n} = low.op<amdgpu.v_add_nc_u32>(%s{n}, {previous}) : (reg<amdgpu.sgpr>, {V}) -> {V}")
        previous = f"%a{n}"
    body.append(f"  low.op<amdgpu.global_store_b32>(%id, {previous}, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)")
    made = backend(kernel("\n".join(body), head="schedule(locked) "))
    names = [i.row.mnemonic for i in made.program.instructions()]
    assert made.resources.sgpr_spills > 0
    assert names.count("v_writelane_b32") == names.count("v_readlane_b32") == made.resources.sgpr_spills
    assert made.resources.scratch_bytes == 0


def test_neighbouring_loads_become_one() -> None:
    loads = "\n".join(
        f"  %l{n} = low.op<amdgpu.global_load_b32>(%id, %src) {{offset = {4 * n}}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}"
        for n in range(4)
    )
    sums = f"""
  %a = low.op<amdgpu.v_add_f32>(%l0, %l1) : ({V}, {V}) -> {V}
  %b = low.op<amdgpu.v_add_f32>(%l2, %l3) : ({V}, {V}) -> {V}
  %r = low.op<amdgpu.v_add_f32>(%a, %b) : ({V}, {V}) -> {V}
{STORE}"""
    names = [i.row.mnemonic for i in backend(kernel(HEAD + loads + sums)).program.instructions()]
    assert names.count("global_load_b128") == 1 and "global_load_b32" not in names


TWICE = "  %a = low.live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (kernel(HEAD + STORE.replace("%r", "%id")).replace("workgroup_size(32, 1, 1) ", ""), ("BACKEND/043",)),
        (kernel(TWICE + TWICE.replace("%a", "%b")), ("BACKEND/005", "LOW/007")),
        (
            kernel("  %a = low.resource<hal_binding> {index = 1, source_type = hal.buffer} : reg<amdgpu.sgpr x2>"),
            ("BACKEND/006", "LOW/007"),
        ),
        (kernel(TWICE + TWICE.replace("%a", "%b").replace("id.x", "id.packed.xy")), ("BACKEND/005", "LOW/007")),
    ],
)
def test_what_breaks_the_contract_is_refused_with_its_place(text: str, code: tuple[str, ...]) -> None:
    with pytest.raises(LoomError) as caught:
        backend(text)
    diagnostic = caught.value.diagnostics[0]
    # The verifier (LOW/…) sees most of this before the backend does.
    assert diagnostic.code in code
    assert diagnostic.location is not None and diagnostic.location.file == "test.loom"


def test_packed_work_item_ids_are_taken_apart() -> None:
    body = f"""  %x = low.live_in<amdgpu.workitem_id.x> : {V}
  %y = low.live_in<amdgpu.workitem_id.y> : {V}
  %src = low.resource<hal_binding> {{index = 0, source_type = hal.buffer}} : reg<amdgpu.sgpr x2>
  low.op<amdgpu.global_store_b32>(%x, %y, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)"""
    lines = assembly(kernel(body))
    assert any(line.startswith("v_and_b32_e32") and "0x3ff, v0" in line for line in lines)
    assert any(line.startswith("v_bfe_u32") and "v0, 10, 10" in line for line in lines)


def test_lane_masks_take_two_registers_in_wave64() -> None:
    body = f"""{HEAD}
  %mask = low.op<amdgpu.v_cmp_gt_u32>(%id) {{src0 = 7}} : ({V}) -> reg<amdgpu.sgpr x2>
  %r = low.op<amdgpu.v_cndmask_b32>(%id, %mask) {{src0 = 3}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}
{STORE}"""
    text = kernel(body).replace("@t\n", "@t {subgroup_size = 64}\n", 1)
    lines = assembly(text)
    assert "v_cmp_gt_u32_e32 vcc, 7, v0" in lines
    assert any(line.startswith("v_cndmask_b32_e32") and line.endswith("vcc") for line in lines)


def test_assigned_registers_are_kept_and_waits_still_inserted() -> None:
    body = f"""{HEAD}
  %l = low.op<amdgpu.global_load_b32>(%id, %src) : ({V}, reg<amdgpu.sgpr x2>) -> reg<amdgpu.vgpr @ 9>
  %r = low.op<amdgpu.v_add_nc_u32>(%l) {{src0 = 1}} : (reg<amdgpu.vgpr @ 9>) -> reg<amdgpu.vgpr @ 20>
  low.op<amdgpu.global_store_b32>(%id, %r, %src) : ({V}, reg<amdgpu.vgpr @ 20>, reg<amdgpu.sgpr x2>)"""
    lines = assembly(kernel(body, head="allocation(assigned) "))
    assert "global_load_b32 v9, v0, s[0:1]" in lines
    assert lines[lines.index("v_add_nc_u32_e32 v20, 1, v9") - 1] == "s_waitcnt vmcnt(0)"


HELPER = f"""low.func.def MODE target<amdgpu.rdna3.core>(@t) @twice(%x: {V}) -> ({V}) {{
  %a = low.op<amdgpu.v_add_nc_u32>(%x) {{src0 = 1}} : ({V}) -> {V}
  %b = low.op<amdgpu.v_xor_b32>(%x) {{src0 = 7}} : ({V}) -> {V}
  %c = low.op<amdgpu.v_mul_lo_u32>(%a, %b) : ({V}, {V}) -> {V}
  low.return %c : {V}
}}
"""


@pytest.mark.parametrize("mode", ["", "schedule(locked)", "schedule(phased)"])
def test_helpers_are_inlined_with_their_contract(mode: str) -> None:
    body = f"{HEAD}  %r = low.func.call @twice(%id) : ({V}) -> ({V})\n{STORE}"
    text = kernel(body) + HELPER.replace("MODE", mode).replace("def  ", "def ")
    lines = assembly(text)
    at = next(i for i, line in enumerate(lines) if line.startswith("v_mul_lo_u32"))
    if mode == "schedule(locked)":
        # The authored order, with nothing in between and nothing merged.
        assert lines[at - 2].startswith("v_add_nc_u32_e32") and lines[at - 1].startswith("v_xor_b32_e32")
    assert sum(line.startswith(("v_add_nc_u32", "v_xor_b32", "v_dual")) for line in lines) in (1, 2)


def test_a_recursive_helper_is_refused() -> None:
    helper = HELPER.replace("MODE ", "").replace(
        f"  low.return %c : {V}", f"  %d = low.func.call @twice(%c) : ({V}) -> ({V})\n  low.return %d : {V}"
    )
    body = f"{HEAD}  %r = low.func.call @twice(%id) : ({V}) -> ({V})\n{STORE}"
    with pytest.raises(LoomError) as caught:
        backend(kernel(body) + helper)
    assert caught.value.diagnostics[0].code == "INLINE/001"


def on_simulator(text: str, buffer: list[int], values: list[int], lanes: int = 32) -> list[int]:
    """Run a kernel of one work-group on one buffer of 32-bit words and scalar arguments."""
    from loom.device.protocol import Completed
    from loom.device.registry import open_device
    from loom.target.amdgpu.package import package_kernels

    made = backend(text)
    device = open_device("amdgpu-sim", lambda line: None)
    try:
        executable = device.load(package_kernels([made]))
        held = device.allocate(4 * len(buffer))
        device.write(held, struct.pack(f"<{len(buffer)}i", *buffer))
        kernarg = held.address.to_bytes(8, "little") + struct.pack(f"<{len(values)}i", *values)
        outcome = device.launch(
            executable, "k", (1, 1, 1), (lanes, 1, 1), kernarg.ljust(made.resources.kernarg.size, b"\0")
        )
        assert isinstance(outcome, Completed), outcome
        return list(struct.unpack(f"<{len(buffer)}i", device.read(held)))
    finally:
        device.close()


S = "reg<amdgpu.sgpr>"


def test_structured_low_runs_as_blocks() -> None:
    # Sum of 0, 2, 4, … below n, then doubled where it exceeds 50, then halved while it exceeds 20.
    body = f"""{HEAD}
  %lo = low.op<amdgpu.s_mov_b32>() {{ssrc0 = 0}} : () -> {S}
  %two = low.op<amdgpu.s_mov_b32>() {{ssrc0 = 2}} : () -> {S}
  %sum = low.scf.for [%lo to %n step %two] iter_args(%lo: {S}) -> ({S}) do(%i: {S}, %acc: {S}) {{
    %next, %c = low.op<amdgpu.s_add_u32>(%acc, %i) : ({S}, {S}) -> {S}, reg<amdgpu.scc>
    low.scf.yield %next : {S}
  }}
  %big = low.op<amdgpu.s_cmp_gt_u32>(%sum) {{ssrc1 = 50}} : ({S}) -> reg<amdgpu.scc>
  %picked = low.scf.if %big -> ({S}) {{
    %double, %d = low.op<amdgpu.s_add_u32>(%sum, %sum) : ({S}, {S}) -> {S}, reg<amdgpu.scc>
    low.scf.yield %double : {S}
  }} else {{
    low.scf.yield %sum : {S}
  }}
  %small = low.scf.while(%x = %picked : {S}) -> ({S}) {{
    %more = low.op<amdgpu.s_cmp_gt_u32>(%x) {{ssrc1 = 20}} : ({S}) -> reg<amdgpu.scc>
    low.scf.condition %more, %x : reg<amdgpu.scc>, {S}
  }} do(%y: {S}) {{
    %half, %e = low.op<amdgpu.s_lshr_b32>(%y) {{ssrc1 = 1}} : ({S}) -> {S}, reg<amdgpu.scc>
    low.scf.yield %half : {S}
  }}
  %r = low.op<amdgpu.v_mov_b32>(%small) : ({S}) -> {V}
  %at = low.op<amdgpu.v_lshlrev_b32>(%id) {{src0 = 2}} : ({V}) -> {V}
  low.op<amdgpu.global_store_b32>(%at, %r, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)"""
    for n in (0, 3, 9, 20):
        expected = sum(range(0, n, 2))
        expected = 2 * expected if expected > 50 else expected
        while expected > 20:
            expected >>= 1
        assert on_simulator(kernel(body, f"%n: {S}"), [-1] * 32, [n]) == [expected] * 32


def test_storage_and_spills_of_the_text_keep_their_values() -> None:
    body = f"""{HEAD}
  %at = low.op<amdgpu.v_lshlrev_b32>(%id) {{src0 = 2}} : ({V}) -> {V}
  %lds = low.storage.reserve {{byte_alignment = 16, byte_length = 128}} : low.storage<workgroup>
  %slot = low.storage.reserve {{byte_alignment = 4, byte_length = 8}} : low.storage<private>
  %base = low.storage.address %lds : low.storage<workgroup> -> {V}
  %where = low.op<amdgpu.v_add_nc_u32>(%base, %at) : ({V}, {V}) -> {V}
  low.op<amdgpu.ds_store_b32>(%where, %id) : ({V}, {V})
  %more = low.op<amdgpu.v_add_nc_u32>(%id) {{src0 = 7}} : ({V}) -> {V}
  low.spill %more, %slot : {V}, low.storage<private>
  low.op<amdgpu.s_barrier>() {{memory = workgroup}} : ()
  %back = low.op<amdgpu.ds_load_b32>(%where) : ({V}) -> {V}
  %again = low.reload %slot : low.storage<private> -> {V}
  %r = low.op<amdgpu.v_mul_lo_u32>(%back, %again) : ({V}, {V}) -> {V}
  low.op<amdgpu.global_store_b32>(%at, %r, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)"""
    assert on_simulator(kernel(body), [0] * 32, []) == [n * (n + 7) for n in range(32)]


def test_buffer_descriptors_bound_their_accesses() -> None:
    body = f"""{HEAD}
  %d = low.op<amdgpu.hal.buffer_descriptor>(%src) {{extent = 64}} : (reg<amdgpu.sgpr x2>) -> reg<amdgpu.sgpr x4>
  %at = low.op<amdgpu.v_lshlrev_b32>(%id) {{src0 = 2}} : ({V}) -> {V}
  %zero = low.op<amdgpu.s_mov_b32>() {{ssrc0 = 0}} : () -> {S}
  low.op<amdgpu.buffer_store_b32>(%id, %at, %d, %zero) {{offen = 1}} : ({V}, {V}, reg<amdgpu.sgpr x4>, {S})"""
    # The last sixteen lanes lie outside of the 64 bytes: their stores are dropped.
    assert on_simulator(kernel(body), [-1] * 32, []) == [*range(16), *([-1] * 16)]


def test_spilled_values_come_back() -> None:
    count = 280
    body = [HEAD, f"  %at = low.op<amdgpu.v_lshlrev_b32>(%id) {{src0 = 2}} : ({V}) -> {V}"]
    for n in range(count):
        body.append(
            f"  %v{n} = low.op<amdgpu.v_add_nc_u32>(%id) {{src0 = literal, literal = {3 * n + 100}}} : ({V}) -> {V}"
        )
    body.append("  low.schedule.fence")
    previous = "%id"
    for n in range(count):
        body.append(f"  %x{n} = low.op<amdgpu.v_xor_b32>(%v{n}, {previous}) : ({V}, {V}) -> {V}")
        previous = f"%x{n}"
    body.append(f"  low.op<amdgpu.global_store_b32>(%at, {previous}, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)")
    text = kernel("\n".join(body), head="schedule(locked) ")
    assert backend(text).resources.vgpr_spills > 0
    expected = []
    for lane in range(32):
        value = lane
        for n in range(count):
            value ^= lane + 3 * n + 100
        expected.append(value)
    assert on_simulator(text, [0] * 32, []) == expected


def test_spilled_scalars_come_back() -> None:
    count = 124
    body = [HEAD, f"  %at = low.op<amdgpu.v_lshlrev_b32>(%id) {{src0 = 2}} : ({V}) -> {V}"]
    for n in range(count):
        body.append(
            f"  %s{n} = low.op<amdgpu.s_load_b32>(%src) {{soffset = off, offset = {4 * n}}} : (reg<amdgpu.sgpr x2>) -> {S}"
        )
    previous = "%id"
    for n in range(count):
        body.append(f"  %x{n} = low.op<amdgpu.v_xor_b32>(%s{n}, {previous}) : ({S}, {V}) -> {V}")
        previous = f"%x{n}"
    body.append(f"  low.op<amdgpu.global_store_b32>(%at, {previous}, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)")
    text = kernel("\n".join(body), head="schedule(locked) ")
    assert backend(text).resources.sgpr_spills > 0
    words = [17 * n * n + 5 for n in range(count)]
    folded = 0
    for word in words:
        folded ^= word
    assert on_simulator(text, words, [])[:32] == [folded ^ lane for lane in range(32)]


def test_effort_of_merging_grows_with_the_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the bases, all open at once: twice the accesses that are compared, not four times."""

    def compared(bases: int) -> int:
        body = [HEAD]
        for n in range(bases):
            body += [
                f"  %a{n} = low.op<amdgpu.v_add_nc_u32>(%id) {{src0 = literal, literal = {4096 * n + 256}}} : ({V}) -> {V}",
                f'  %l{n} = low.op<amdgpu.global_load_b32>(%a{n}, %src) {{alias = "a"}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}',
                f'  %m{n} = low.op<amdgpu.global_load_b32>(%a{n}, %src) {{offset = 4, alias = "a"}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}',
                f'  low.op<amdgpu.global_store_b32>(%a{n}, %l{n}, %src) {{alias = "b"}} : ({V}, {V}, reg<amdgpu.sgpr x2>)',
                f'  low.op<amdgpu.global_store_b32>(%a{n}, %m{n}, %src) {{alias = "c"}} : ({V}, {V}, reg<amdgpu.sgpr x2>)',
            ]
        calls = 0
        overlap = merge_memory.may_overlap

        def counted(a: Instruction, b: Instruction) -> bool:
            nonlocal calls
            calls += 1
            return overlap(a, b)

        monkeypatch.setattr(merge_memory, "may_overlap", counted)
        names = [i.row.mnemonic for i in backend(kernel("\n".join(body))).program.instructions()]
        monkeypatch.undo()
        assert names.count("global_load_b64") == bases, "every pair of loads is merged"
        return calls

    small, large = compared(40), compared(80)
    assert small > 0
    assert large <= 2.2 * small


def test_vectors_and_scalars_that_spill_at_once_come_back() -> None:
    """Scalars spill to lanes of a vector register, for which one more vector must spill: to a place of its own."""
    vectors, scalars = 262, 124
    body = [HEAD, f"  %at = low.op<amdgpu.v_lshlrev_b32>(%id) {{src0 = 2}} : ({V}) -> {V}"]
    for n in range(vectors):
        body.append(
            f"  %v{n} = low.op<amdgpu.v_add_nc_u32>(%id) {{src0 = literal, literal = {3 * n + 100}}} : ({V}) -> {V}"
        )
    body.append("  low.schedule.fence")
    for n in range(scalars):
        body.append(
            f"  %s{n} = low.op<amdgpu.s_load_b32>(%src) {{soffset = off, offset = {4 * n}}} : (reg<amdgpu.sgpr x2>) -> {S}"
        )
    body.append("  low.schedule.fence")
    previous = "%id"
    for bank, count in (("s", scalars), ("v", vectors)):
        for n in range(count):
            body.append(
                f"  %x{bank}{n} = low.op<amdgpu.v_xor_b32>(%{bank}{n}, {previous}) : ({S if bank == 's' else V}, {V}) -> {V}"
            )
            previous = f"%x{bank}{n}"
    body.append(f"  low.op<amdgpu.global_store_b32>(%at, {previous}, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)")
    text = kernel("\n".join(body), head="schedule(locked) ")
    made = backend(text)
    assert made.resources.vgpr_spills > vectors - 256 and made.resources.sgpr_spills > 0
    assert made.resources.scratch_bytes == 4 * made.resources.vgpr_spills
    words = [17 * n * n + 5 for n in range(scalars)]
    expected = []
    for lane in range(32):
        value = lane
        for word in words:
            value ^= word
        for n in range(vectors):
            value ^= lane + 3 * n + 100
        expected.append(value)
    assert on_simulator(text, words, [])[:32] == expected


def test_nothing_is_merged_or_paired_across_a_fence() -> None:
    def load(n: int) -> str:
        return f"  %l{n} = low.op<amdgpu.global_load_b32>(%id, %src) {{offset = {4 * n}}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}\n"

    sums = f"""  %a = low.op<amdgpu.v_mul_f32>(%l0, %l0) : ({V}, {V}) -> {V}
  FENCE
  %b = low.op<amdgpu.v_mul_f32>(%l1, %l1) : ({V}, {V}) -> {V}
  %r = low.op<amdgpu.v_add_f32>(%a, %b) : ({V}, {V}) -> {V}
{STORE}"""
    free = [
        i.row.mnemonic
        for i in backend(kernel(HEAD + load(0) + load(1) + sums.replace("FENCE\n", ""))).program.instructions()
    ]
    assert "global_load_b64" in free and "v_dual_mul_f32" in free
    fenced = kernel(HEAD + load(0) + "  low.schedule.fence\n" + load(1) + sums.replace("FENCE", "low.schedule.fence"))
    kept = [i.row.mnemonic for i in backend(fenced).program.instructions()]
    assert kept.count("global_load_b32") == 2 and kept.count("v_mul_f32") == 2


LIMITED = (
    HEAD
    + "".join(
        f"  %l{n} = low.op<amdgpu.global_load_b32>(%id, %src) {{offset = {4 * n}}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}\n"
        for n in range(2)
    )
    + f"  %u = low.op<amdgpu.v_mul_f32>(%l0, %l0) : ({V}, {V}) -> {V}\n"
    + "".join(f"  %m{n} = low.op<amdgpu.v_mul_lo_u32>(%id, %id) : ({V}, {V}) -> {V}\n" for n in range(24))
    + f"  %x0 = low.op<amdgpu.v_add_nc_u32>(%u, %l1) : ({V}, {V}) -> {V}\n"
    + "".join(f"  %x{n + 1} = low.op<amdgpu.v_xor_b32>(%x{n}, %m{n}) : ({V}, {V}) -> {V}\n" for n in range(24))
    + STORE.replace("%r", "%x24")
)


def test_a_constrained_order_is_scheduled_within_limits() -> None:
    """What waits for memory goes behind arithmetic, by no more than the reach; accesses stay what and where they are."""

    def names(mode: str) -> list[str]:
        made = backend(kernel(LIMITED, head=f"schedule({mode}) ")).program.instructions()
        return [i.row.mnemonic for i in made if not i.row.mnemonic.startswith(("s_delay", "s_wait"))]

    locked, constrained, free = names("locked"), names("constrained"), names("free")
    assert "global_load_b64" in free and "s_clause" not in locked
    use = locked.index("v_mul_f32")
    assert locked[use - 2 : use] == ["global_load_b32"] * 2
    assert [n for n in constrained if n.startswith("global_")] == [n for n in locked if n.startswith("global_")]
    ahead = constrained[: constrained.index("v_mul_f32")].count("v_mul_lo_u32")
    assert 0 < ahead <= CONSTRAINED_REACH
    assert free[: free.index("v_mul_f32")].count("v_mul_lo_u32") == 24


def test_a_constrained_helper_brings_its_limits_along() -> None:
    loads = "".join(
        f"  %l{n} = low.op<amdgpu.global_load_b32>(%at, %src) {{offset = {4 * n}}} : ({V}, reg<amdgpu.sgpr x2>) -> {V}\n"
        for n in range(2)
    )
    helper = (
        f"low.func.def MODEtarget<amdgpu.rdna3.core>(@t) @both(%at: {V}, %src: reg<amdgpu.sgpr x2>) -> ({V}) {{\n{loads}"
        f"  %s = low.op<amdgpu.v_add_nc_u32>(%l0, %l1) : ({V}, {V}) -> {V}\n  low.return %s : {V}\n}}\n"
    )
    body = f"{HEAD}  %r = low.func.call @both(%id, %src) : ({V}, reg<amdgpu.sgpr x2>) -> ({V})\n{STORE}"
    for mode, expected in (("", ["global_load_b64"]), ("schedule(constrained) ", ["global_load_b32"] * 2)):
        made = backend(kernel(body) + helper.replace("MODE", mode)).program.instructions()
        assert [i.row.mnemonic for i in made if i.row.mnemonic.startswith("global_load")] == expected


def test_an_accumulator_that_several_products_start_from_is_not_copied() -> None:
    """The results lie apart from it, and each is the accumulator of the next product."""
    a, acc = "reg<amdgpu.vgpr x8>", "reg<amdgpu.vgpr x8>"
    zeros = "".join(f"  %z{n} = low.op<amdgpu.v_mov_b32>() {{src0 = 0}} : () -> {V}\n" for n in range(8))
    joined = f"  %z = low.concat({', '.join(f'%z{n}' for n in range(8))}) : ({', '.join([V] * 8)}) -> {acc}\n"
    load = f"  %q{{0}} = low.op<amdgpu.global_load_b128>(%id, %src) {{{{offset = {{1}}}}}} : ({V}, reg<amdgpu.sgpr x2>) -> reg<amdgpu.vgpr x4>\n"
    loads = "".join(load.format(n, 16 * n) for n in range(2))
    factor = f"  %a = low.concat(%q0, %q1) : (reg<amdgpu.vgpr x4>, reg<amdgpu.vgpr x4>) -> {a}\n"
    product = f"  %{{0}} = low.op<amdgpu.v_wmma_f32_16x16x16_f16>(%a, %a, %{{1}}) : ({a}, {a}, {acc}) -> {acc}\n"
    products = "".join(product.format(*pair) for pair in (("d0", "z"), ("d1", "z"), ("e0", "d0"), ("e1", "d1")))
    stores = "".join(
        f"  %s{n} = low.slice %e{n}[0] : {acc} -> {V}\n"
        f"  low.op<amdgpu.global_store_b32>(%id, %s{n}, %src) {{offset = {64 * n}}} : ({V}, {V}, reg<amdgpu.sgpr x2>)\n"
        for n in range(2)
    )
    made = backend(kernel(HEAD + zeros + joined + loads + factor + products + stores))
    assert made.added["copies"] == 0
    written = [str(i.operands[0]) for i in made.program.instructions() if i.row.mnemonic.startswith("v_wmma")]
    assert len(written) == 4 and len(set(written)) == 2


def test_halves_that_read_each_other_s_result_are_issued_over_a_spare_register() -> None:
    """Two moves that exchange v0 and v2, which are no pair since both are even."""
    pair = parse_instruction("v_dual_mov_b32 v0, v2 :: v_dual_mov_b32 v2, v0", DEFAULT_TARGET, wave_size=32)
    block = MachineBlock("entry", [pair])
    program = MachineProgram("k", DEFAULT_TARGET, 32, [block])
    origins = {id(pair): Instruction(OP, None)}
    assert separate_pairs(program, "gfx11", origins, lambda low: 7) == (1, {7})
    assert [str(i).replace("_e32", "") for i in block.instructions] == [
        "v_mov_b32 v7, v0",
        "v_mov_b32 v0, v2",
        "v_mov_b32 v2, v7",
    ]
    assert check_pairs([[pair]], [block.instructions], {7}) == []
    assert check_pairs([[pair]], [block.instructions[1:]], {7}) != []


def gfx942(body: str) -> str:
    """A kernel of 64 lanes around a body, for gfx942."""
    text = kernel(body, processor_name="gfx942").replace("amdgpu.rdna3.core", "amdgpu.cdna3.core")
    return text.replace("workgroup_size(32, 1, 1)", "workgroup_size(64, 1, 1)")


def test_accumulation_registers_are_allocated_copied_and_kept_apart_in_time() -> None:
    """All factors are 1, so each element of a product is 4 more than its addend, the number of the lane."""
    a = "reg<amdgpu.agpr>"
    product = (
        f"  %{{0}} = low.op<amdgpu.v_mfma_f32_16x16x4_f32>(%one, %one, %c) : ({V}, {V}, {a[:-1]} x4>) -> {a[:-1]} x4>\n"
    )
    body = (
        HEAD
        + f"  %one = low.op<amdgpu.v_mov_b32>() {{src0 = 1.0}} : () -> {V}\n"
        + f"  %f = low.op<amdgpu.v_cvt_f32_u32>(%id) : ({V}) -> {V}\n"
        + f"  %z = low.op<amdgpu.v_accvgpr_write_b32>(%f) : ({V}) -> {a}\n"
        + f"  %c = low.concat(%z, %z, %z, %z) : ({a}, {a}, {a}, {a}) -> {a[:-1]} x4>\n"
        + product.format("d")
        + product.format("e")
        + f"  %d3 = low.slice %d[3] : {a[:-1]} x4> -> {a}\n  %e1 = low.slice %e[1] : {a[:-1]} x4> -> {a}\n"
        + f"  %p = low.op<amdgpu.v_accvgpr_read_b32>(%d3) : ({a}) -> {V}\n"
        + f"  %q = low.op<amdgpu.v_accvgpr_read_b32>(%e1) : ({a}) -> {V}\n"
        + f"  %s = low.op<amdgpu.v_add_f32>(%p, %q) : ({V}, {V}) -> {V}\n"
        + f"  %u = low.op<amdgpu.v_cvt_u32_f32>(%s) : ({V}) -> {V}\n"
        + f"  %at = low.op<amdgpu.v_lshlrev_b32>(%id) {{src0 = 2}} : ({V}) -> {V}\n"
        + f"  low.op<amdgpu.global_store_dword>(%at, %u, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)\n"
    )
    made = backend(gfx942(body))
    assert made.resources.agprs == 8 and made.added["copies"] == 3 and made.added["hazards"] > 0
    assert on_simulator(gfx942(body), [0] * 64, [], 64) == [2 * (lane + 4) for lane in range(64)]


def test_vector_registers_spill_on_gfx942_too() -> None:
    count = 300
    lines = [HEAD + f"  %at = low.op<amdgpu.v_lshlrev_b32>(%id) {{src0 = 2}} : ({V}) -> {V}"]
    lines += [f"  %v{n} = low.op<amdgpu.v_mad_u32_u24>(%id, %id, %id) {{}} : ({V}, {V}, {V}) -> {V}" for n in range(1)]
    lines += [f"  %v{n} = low.op<amdgpu.v_add_u32>(%v{n - 1}, %id) : ({V}, {V}) -> {V}" for n in range(1, count)]
    total = "%v0"
    for n in range(count - 1, 0, -1):
        lines.append(f"  %t{n} = low.op<amdgpu.v_xor_b32>(%v{n}, {total}) : ({V}, {V}) -> {V}")
        total = f"%t{n}"
    lines.append(f"  low.op<amdgpu.global_store_dword>(%at, {total}, %src) : ({V}, {V}, reg<amdgpu.sgpr x2>)\n")
    text = gfx942("\n".join(lines)).replace("low.kernel.def ", "low.kernel.def schedule(locked) ")
    made = backend(text)
    assert made.resources.vgpr_spills > 0 and made.added["reloads"] > 0

    def expected(lane: int) -> int:
        result = 0
        for n in range(count):
            result ^= lane * lane + lane + n * lane
        return result

    assert on_simulator(text, [0] * 64, [], 64) == [expected(lane) for lane in range(64)]


def test_a_lane_mask_of_another_size_is_refused() -> None:
    """In waves of 32 lanes it is one register; an instruction of 64 bits would read a register beside it. The descriptors
    declare the larger size, which the verifier takes."""
    types = f"({V}, {V}) -> reg<amdgpu.sgpr x2>"
    with pytest.raises(LoomError) as caught:
        backend(kernel(f"{HEAD}  %x = low.op<amdgpu.v_cmp_lt_i32>(%id, %id) : {types}"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "BACKEND/008" and "takes 1 register as sdst, 2 given" in diagnostic.message
    assert diagnostic.location is not None and diagnostic.location.file == "test.loom"
