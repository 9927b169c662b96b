"""Control flow, EXEC and SSA form on programs small enough to say what must come out."""

import pytest

import loom
from loom.diagnostics import LoomError
from loom.raising.lift import LiftOptions, lift_difference, lift_native
from loom.raising.lift.flow import build_flow
from loom.raising.lift.masks import partial_points
from loom.raising.lift.units import units_in
from tests.raising.lift.programs import native, program


def partial(text):
    """Mnemonic and whether EXEC may differ from the entry mask in front of it, in layout order."""
    flow = build_flow(program(text), 32)
    rows = partial_points(flow)
    return [
        (instruction.mnemonic, known)
        for block, row in zip(flow.blocks, rows, strict=True)
        for instruction, known in zip(block.instructions, row, strict=True)
    ]


def test_exec_is_the_entry_mask_again_behind_its_restoration():
    found = partial("""
        v_mov_b32 v1, 0
        s_and_saveexec_b32 s4, vcc_lo
        v_mov_b32 v2, 0
        s_or_b32 exec_lo, exec_lo, s4
        v_mov_b32 v3, 0
        s_endpgm #0
    """)
    assert [known for name, known in found if name == "v_mov_b32"] == [False, True, False]


def test_a_copy_of_exec_and_v_cmpx_are_followed():
    found = partial("""
        s_mov_b32 s4, exec_lo
        v_cmpx_gt_u32 s3, v0
        v_mov_b32 v2, 0
        s_or_b32 exec_lo, exec_lo, s4
        v_mov_b32 v3, 0
        s_endpgm #0
    """)
    assert [known for name, known in found if name == "v_mov_b32"] == [True, False]


def test_exec_is_unknown_behind_all_ones_and_behind_an_overwritten_copy():
    ones = partial("""
        s_mov_b32 exec_lo, -1
        v_mov_b32 v2, 0
        s_endpgm #0
    """)
    assert ("v_mov_b32", True) in ones
    overwritten = partial("""
        s_and_saveexec_b32 s4, vcc_lo
        s_mov_b32 s4, 1
        s_or_b32 exec_lo, exec_lo, s4
        v_mov_b32 v3, 0
        s_endpgm #0
    """)
    assert ("v_mov_b32", True) in overwritten


def test_both_arms_of_a_branch_meet():
    found = partial("""
        s_and_saveexec_b32 s4, vcc_lo
        s_cbranch_execz @join
        v_mov_b32 v2, 0
        join:
        v_mov_b32 v3, 0
        s_or_b32 exec_lo, exec_lo, s4
        v_mov_b32 v4, 0
        s_endpgm #0
    """)
    assert [known for name, known in found if name == "v_mov_b32"] == [True, True, False]


DIAMOND = """
    s_load_b64 s[4:5], s[0:1], off
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 @other
    v_mov_b32 v1, 1
    s_branch @join
    other:
    v_mov_b32 v1, 2
    join:
    s_waitcnt #0
    global_store_b32 v0, v1, s[4:5]
    s_endpgm #0
"""


def text_of(source, **options):
    return loom.print_module(lift_native(native(source), LiftOptions(**options)).module)


def test_what_differs_by_path_is_a_block_argument_and_nothing_else_is():
    text = text_of(DIAMOND)
    assert text.count("low.br ^bb3(") == 2
    header = next(line for line in text.splitlines() if line.startswith("^bb3("))
    assert header.count("reg<") == 1 and "reg<amdgpu.vgpr @ 1>" in header


@pytest.mark.parametrize(
    "source",
    [
        DIAMOND,
        # a loop with an accumulator, tested at the bottom
        """
            s_mov_b32 s3, 4
            v_mov_b32 v1, 0
            head:
            v_add_f32 v1, v1, v0
            s_add_u32 s3, s3, -1
            s_cmp_lg_u32 s3, 0
            s_cbranch_scc1 @head
            v_mov_b32 v2, v1
            s_endpgm #0
        """,
        # the entry block itself is a loop
        """
            s_add_u32 s2, s2, 1
            s_cmp_lt_u32 s2, 9
            s_cbranch_scc1 @entry2
            s_endpgm #0
            entry2:
            s_branch @back
            back:
            s_endpgm #0
        """,
        # a block of nothing but a branch, reached with values that merge behind it
        """
            v_mov_b32 v1, 1
            s_cmp_lg_u32 s2, 0
            s_cbranch_scc0 @hop
            v_mov_b32 v1, 2
            s_branch @join
            hop:
            s_branch @join
            v_mov_b32 v1, 3
            join:
            v_mov_b32 v2, v1
            s_endpgm #0
        """,
        # branches to where control goes anyway
        """
            s_cbranch_execz @next
            next:
            s_branch @last
            last:
            s_endpgm #0
        """,
        # parts and tuples that overlap
        """
            v_mov_b32 v4, 1
            v_mov_b32 v5, 2
            v_lshlrev_b64 v[6:7], 3, v[4:5]
            v_mov_b32 v7, v6
            v_add_f64 v[8:9], v[6:7], v[4:5]
            s_endpgm #0
        """,
        # an end in the middle, and code behind the last end
        """
            s_cmp_lg_u32 s2, 0
            s_cbranch_scc1 @on
            s_endpgm #0
            on:
            v_mov_b32 v1, 0
            s_endpgm #0
            v_mov_b32 v2, 0
            s_endpgm #0
        """,
    ],
)
def test_emits_the_same_bytes(source):
    lifted = lift_native(native(source))
    text = loom.print_module(lifted.module)
    loom.verify(loom.parse(text, "k.loom"))
    assert lift_difference(lifted, text) is None


def test_writes_under_a_narrowed_mask_pass_the_old_value_through():
    text = text_of("""
        v_mov_b32 v1, 1
        v_mov_b32 v2, 1
        s_and_saveexec_b32 s4, vcc_lo
        v_mov_b32 v1, 2
        v_fmac_f32 v2, v1, v1
        v_mov_b32 v9, v1
        s_or_b32 exec_lo, exec_lo, s4
        v_add_f32 v3, v1, v2
        s_endpgm #0
    """)
    lines = [line.strip() for line in text.splitlines() if "low.op<amdgpu.v_" in line]
    first, second, narrowed, accumulated, fresh, wide = lines
    assert "exec" not in first + second + wide
    old = first.split(" = ")[0]
    assert f", {old}) {{src0 = 2}}" in narrowed and f"-> {old} as reg<amdgpu.vgpr @ 1>" in narrowed
    # the accumulator is an operand already; it is not passed through twice
    assert accumulated.count("reg<amdgpu.vgpr @ 2>") == 2
    # nothing wrote v9 before, so there is nothing to pass through
    assert "as reg" not in fresh


def test_dead_code_goes_only_when_asked():
    source = """
        s_endpgm #0
        v_mov_b32 v2, 0
        s_endpgm #0
    """
    assert "v_mov_b32" in text_of(source)
    assert "v_mov_b32" not in text_of(source, drop_dead_code=True)


def test_natural_tuples_are_one_block_argument():
    text = text_of("""
        s_load_b64 s[4:5], s[0:1], off
        s_mov_b32 s3, 4
        v_mov_b32 v4, 0
        v_mov_b32 v5, 0
        head:
        v_add_f64 v[4:5], v[4:5], v[4:5]
        s_add_u32 s3, s3, -1
        s_cmp_lg_u32 s3, 0
        s_cbranch_scc1 @head
        global_store_b64 v0, v[4:5], s[4:5]
        s_endpgm #0
    """)
    header = next(line for line in text.splitlines() if line.startswith("^bb1("))
    assert "reg<amdgpu.vgpr x2 @ 4>" in header


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [
        ("s_swappc_b64 s[30:31], s[4:5]\ns_endpgm #0", "LIFT/002", ["s_swappc_b64 at pc 0x0", "leaves the kernel"]),
        ("v_mov_b32 v0, 0\ns_setpc_b64 s[30:31]", "LIFT/002", ["s_setpc_b64 at pc 0x4", "indirect jump"]),
        ("s_getpc_b64 s[4:5]\ns_endpgm #0", "LIFT/002", ["s_getpc_b64 at pc 0x0", "outside of the kernel"]),
        ("v_mov_b32 v0, 0", "LIFT/003", ["runs past its last instruction at pc 0x0"]),
    ],
)
def test_refusals_name_instruction_and_pc(source, code, words):
    with pytest.raises(LoomError) as caught:
        lift_native(native(source))
    first = caught.value.diagnostics[0]
    assert first.code == code
    for word in ["kernel 'k'", *words]:
        assert word in first.message
    if code == "LIFT/002":
        assert first.hint


def test_merges_are_pruned_to_what_is_read():
    from loom.raising.lift.build import BodyBuilder
    from loom.raising.lift.header import entry_live_ins

    kernel = native("""
        s_cmp_lg_u32 s2, 0
        s_cbranch_scc1 @other
        v_mov_b32 v1, 1
        v_mov_b32 v2, 1
        s_branch @join
        other:
        v_mov_b32 v1, 2
        v_mov_b32 v2, 2
        join:
        v_mov_b32 v3, v2
        s_endpgm #0
    """)
    flow = build_flow(kernel.program, 32)
    BodyBuilder(flow, entry_live_ins(kernel.descriptor, "gfx11")[1]).build()
    merged = {block.label: units_in(block.merged) for block in flow.blocks}
    assert merged == {"bb0": [], "bb1": [], "bb2": [], "bb3": [256 + 2]}  # v2 is read behind the join, v1 is not


CALLER = """
    v_mov_b32 v1, 5
    s_getpc_b64 s[4:5]
    s_add_u32 s4, s4, literal:{low}
    s_addc_u32 s5, s5, literal:0
    s_swappc_b64 s[30:31], s[4:5]
    v_add_f32 v2, v1, v1
    s_endpgm #0
    double:
    v_add_f32 v1, v1, v1
    s_setpc_b64 s[30:31]
"""


def test_a_function_with_one_call_site_is_part_of_the_flow():
    from loom.raising.lift.calls import resolve_calls
    from tests.raising.lift.programs import assemble

    # behind s_getpc: two additions of 8 bytes, the call, an addition and the end of 4 bytes each
    code = assemble(CALLER.format(low=28))
    kernel_bytes = len(code) - 8
    region = resolve_calls(code, 0, kernel_bytes, "gfx1100", 32, "k")
    call = next(at for at, to in region.jumps.items() if to > at)
    assert region.jumps == {call: kernel_bytes, kernel_bytes + 4: call + 4}
    assert region.functions == ((kernel_bytes, 8),)
    assert (region.entry, region.size) == (0, len(code))


@pytest.mark.parametrize("name", ["gfx1100-w32.O0", "gfx1100-w64.O0"])
def test_kernels_that_call_emit_themselves_and_their_functions(name):
    from loom.raising.lift import lift, native_kernel
    from tests.raising.native_launches import NATIVE

    data = (NATIVE / f"extra/{name}.hsaco").read_bytes()
    kernel = "scratch_sort"
    lifted = lift(data, kernel)
    assert lifted.native.region is not None and lifted.native.region.functions
    text = loom.print_module(lifted.module)
    assert "low.op<amdgpu.s_swappc_b64>" in text and "low.op<amdgpu.s_setpc_b64>" in text
    assert lift_difference(lifted, text) is None
    assert native_kernel(data, kernel).code == lifted.native.code


def test_calls_without_an_end_are_refused():
    """A function that calls itself: every way leads one call deeper."""
    from loom.raising.lift.inline_calls import inline_calls
    from tests.raising.lift.programs import assemble

    code = assemble(
        """
    k:
        s_getpc_b64 s[4:5]
        s_add_u32 s4, s4, literal:28
        s_addc_u32 s5, s5, literal:0
        s_swappc_b64 s[30:31], s[4:5]
        v_add_f32 v2, v1, v1
        s_endpgm #0
    again:
        s_swappc_b64 s[30:31], s[4:5]
        s_endpgm #0
    """
    )
    with pytest.raises(LoomError, match=r"s_swappc_b64 at pc 0x20: calls nest more than 24 deep") as caught:
        inline_calls(code, 0, "gfx1100", "gfx11", 32, "k")
    assert caught.value.diagnostics[0].code == "LIFT/011"
