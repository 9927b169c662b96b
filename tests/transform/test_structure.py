"""Inlining, template selection, structured control flow from branches, software pipelining, config values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loom.diagnostics import LoomError

Transformed = Callable[..., str]

KERNEL = """kernel.def @k() {{
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
}} launch({arguments}) {{
{body}
  kernel.return
}}
"""


def kernel(body: str, arguments: str = "%x: i32, %n: index, %out: buffer") -> str:
    return KERNEL.format(arguments=arguments, body=body)


STORE = """  %o = index.constant 0 : offset
  %v = buffer.view %out[%o] : buffer -> view<1xi32>
  view.store %r, %v[0] : i32, view<1xi32>"""


def refused(code: str, run: Callable[[], object]) -> LoomError:
    with pytest.raises(LoomError) as caught:
        run()
    assert caught.value.diagnostics[0].code == code
    return caught.value


def test_calls_are_inlined_through_several_levels(transformed: Transformed) -> None:
    text = transformed(
        """func.def pure @twice(%a: i32) -> (i32) {
  %b = scalar.addi %a, %a : i32
  func.return %b : i32
}
func.def pure @four_times(%a: i32) -> (i32) {
  %b = func.call pure @twice(%a) : (i32) -> (i32)
  %c = func.call pure @twice(%b) : (i32) -> (i32)
  func.return %c : i32
}
"""
        + kernel("  %r = func.call pure @four_times(%x) : (i32) -> (i32)\n" + STORE),
        "inline",
    )
    assert "func." not in text
    assert text.count("scalar.addi") == 2


def test_recursion_is_refused(transformed: Transformed) -> None:
    text = """func.def @loop(%a: i32) -> (i32) {
  %b = func.call @loop(%a) : (i32) -> (i32)
  func.return %b : i32
}
""" + kernel("  %r = func.call @loop(%x) : (i32) -> (i32)\n" + STORE)
    refused("INLINE/001", lambda: transformed(text, "inline"))


def test_a_declaration_alone_cannot_be_called(transformed: Transformed) -> None:
    text = "func.decl @other(%a: i32) -> (i32)\n" + kernel("  %r = func.call @other(%x) : (i32) -> (i32)\n" + STORE)
    refused("INLINE/002", lambda: transformed(text, "inline"))


FAMILY = """template.decl @motif.scale(%a: i32, %limit: index) -> (i32)

template.def<@motif.scale> priority({first}) @small(%a: i32, %limit: index) -> (i32) where [le(%limit, 16)] {{
  %c = scalar.constant 2 : i32
  %b = scalar.muli %a, %c : i32
  template.return %b : i32
}}

template.def<@motif.scale> {requires}priority(1) @any(%a: i32, %limit: index) -> (i32) {{
  %c = scalar.constant 4 : i32
  %b = scalar.muli %a, %c : i32
  template.return %b : i32
}}

"""


def selected(transformed: Transformed, limit: str, first: int = 10, requires: str = "") -> str:
    """Which factor the chosen implementation multiplies by."""
    body = f"  {limit}\n  %r = template.apply<@motif.scale>(%x, %limit) : (i32, index) -> (i32)\n{STORE}"
    text = transformed(FAMILY.format(first=first, requires=requires) + kernel(body), "inline")
    assert "template." not in text
    return text.split("scalar.constant ")[1].split(" ")[0]


def test_facts_choose_the_implementation(transformed: Transformed) -> None:
    assert selected(transformed, "%limit = index.constant 16 : index") == "2"
    assert selected(transformed, "%limit = index.constant 17 : index") == "4"
    # Nothing is known of %n: an unproven condition does not select.
    assert selected(transformed, "%limit = index.assume %n [range(%n, 0, 100)] : index") == "4"
    assert selected(transformed, "%limit = index.assume %n [range(%n, 0, 9)] : index") == "2"


def test_capabilities_are_required_of_the_target(transformed: Transformed) -> None:
    large = "%limit = index.constant 17 : index"
    assert selected(transformed, large, requires="requires [#target.subgroup.size<32>] ") == "4"
    failure = refused(
        "SELECT/001", lambda: selected(transformed, large, requires="requires [#target.subgroup.size<64>] ")
    )
    notes = "\n".join(failure.diagnostics[0].notes)
    assert "@small: where le(%limit, 16) is false" in notes
    assert "@any: requires #target.subgroup.size<64>" in notes


def test_equal_priorities_are_ambiguous(transformed: Transformed) -> None:
    refused("SELECT/002", lambda: selected(transformed, "%limit = index.constant 3 : index", first=1))


def test_a_loop_of_blocks_becomes_a_while(transformed: Transformed) -> None:
    text = transformed(
        """func.def pure @gcd(%a: i32, %b: i32) -> (i32) {
  %zero = scalar.constant 0 : i32
  cfg.br ^head(%a: i32, %b: i32)
^head(%x: i32, %y: i32):
  %more = scalar.cmpi ne, %y, %zero : i32
  cfg.cond_br %more, ^body, ^exit
^body:
  %r = scalar.remui %x, %y : i32
  cfg.br ^head(%y: i32, %r: i32)
^exit:
  func.return %x : i32
}
""",
        "inline",
    )
    assert [line.strip() for line in text.strip().split("\n")] == [
        "func.def pure @gcd(%a: i32, %b: i32) -> (i32) {",
        "%zero = scalar.constant 0 : i32",
        "%x, %y = scf.while(%x = %a : i32, %y = %b : i32) -> (i32, i32) {",
        "%more = scalar.cmpi ne, %y, %zero : i32",
        "scf.condition %more, %x, %y : i1, i32, i32",
        "} do(%x: i32, %y: i32) {",
        "%r = scalar.remui %x, %y : i32",
        "scf.yield %y, %r : i32, i32",
        "}",
        "func.return %x : i32",
        "}",
    ]


SEARCH = """func.def pure @find(%n: index, %f: i32) -> (i32) {
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %none = scalar.constant -1 : i32
  cfg.br ^head(%zero: index)
^head(%i: index):
  %more = index.cmp slt, %i, %n : index
  cfg.cond_br %more, ^body, ^missing
^body:
  %v = index.cast %i : index to i32
  %square = scalar.muli %v, %v : i32
  %hit = scalar.cmpi sge, %square, %f : i32
  cfg.cond_br %hit, ^found, ^latch
^latch:
  %next = index.add %i, %one : index
  cfg.br ^head(%next: index)
^found:
  func.return %v : i32
^missing:
  func.return %none : i32
}
"""


def test_a_loop_left_from_two_places_stays_one_loop(transformed: Transformed) -> None:
    text = transformed(SEARCH, "inline", "simplify")
    assert text.count("scf.while") == 1
    # Nothing walks over block numbers: no switch, and the loop tests its own two conditions only.
    assert "scf.switch" not in text and "scf.for" not in text
    assert text.count(".cmp") == 2


def test_a_short_circuit_condition_becomes_branches(transformed: Transformed) -> None:
    text = transformed(
        """func.def pure @both(%a: i1, %b: i1, %x: i32) -> (i32) {
  cfg.cond_br %a, ^second, ^no
^second:
  cfg.cond_br %b, ^yes, ^no
^yes:
  %y = scalar.muli %x, %x : i32
  cfg.br ^join(%y: i32)
^no:
  %z = scalar.addi %x, %x : i32
  cfg.br ^join(%z: i32)
^join(%r: i32):
  func.return %r : i32
}
""",
        "inline",
        "simplify",
    )
    assert "cfg." not in text and "scf.while" not in text and "scf.switch" not in text
    # Neither arm is written twice.
    assert text.count("scalar.muli") == text.count("scalar.addi") == 1


def test_a_graph_with_two_entries_to_a_cycle_walks_over_block_numbers(transformed: Transformed) -> None:
    text = transformed(
        """func.def pure @twisted(%a: i1, %x: i32) -> (i32) {
  %one = scalar.constant 1 : i32
  %ten = scalar.constant 10 : i32
  cfg.cond_br %a, ^left_in, ^right_in
^left_in:
  cfg.br ^left(%x: i32)
^right_in:
  cfg.br ^right(%x: i32)
^left(%l: i32):
  %l2 = scalar.addi %l, %one : i32
  cfg.br ^right(%l2: i32)
^right(%r: i32):
  %more = scalar.cmpi slt, %r, %ten : i32
  cfg.cond_br %more, ^again, ^done
^again:
  cfg.br ^left(%r: i32)
^done:
  func.return %r : i32
}
""",
        "inline",
    )
    assert text.count("scf.while") == 1 and text.count("scf.switch") == 1


def test_config_values_are_bound_and_checked(transformed: Transformed) -> None:
    text = "config.decl @tuning.n : %value: index where [range(%value, 1, 32)]\n" + kernel(
        "  %k = config.get @tuning.n : index\n  %r = index.cast %k : index to i32\n" + STORE
    )
    bound = transformed(text, "specialize", config={"tuning.n": "0x10"})
    assert "%k = index.constant 16 : index" in bound
    refused("CONFIG/001", lambda: transformed(text, "specialize"))
    refused("CONFIG/002", lambda: transformed(text, "specialize", config={"tuning.n": "many"}))
    refused("CONFIG/003", lambda: transformed(text, "specialize", config={"tuning.n": "33"}))


PIPELINED = """  %o = index.constant 0 : offset
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %upper = {upper}
  %depth = index.constant {depth} : index
  %in = buffer.view %out[%o] : buffer -> view<[%n]xi32>
  %r = scf.for %i = [%zero to %upper step %one](%a = %x : i32) -> (i32) pipeline(%depth) {{
    %e = view.load %in[%i] : view<[%n]xi32> -> i32
    {extra}
    %b = scalar.addi %a, %e : i32
    scf.yield %b : i32
  }}
  %v = buffer.view %out[%o] : buffer -> view<1xi32>
  view.store %r, %v[0] : i32, view<1xi32>"""


def pipelined(transformed: Transformed, upper: str, depth: int, extra: str = "") -> list[str]:
    text = transformed(kernel(PIPELINED.format(upper=upper, depth=depth, extra=extra)), "pipeline-loops", "simplify")
    return [line.strip() for line in text.split("\n")]


def test_reads_of_a_pipelined_loop_run_ahead(transformed: Transformed) -> None:
    lines = pipelined(transformed, "index.constant 5 : index", 3)
    loop = next(i for i, line in enumerate(lines) if "scf.for" in line)
    end = lines.index("}", loop)
    # Two reads before the loop, one inside for each of the three rounds, the last two rounds behind it without a read.
    assert sum("view.load" in line for line in lines[:loop]) == 2
    assert sum("view.load" in line for line in lines[loop:end]) == 1
    assert sum("view.load" in line for line in lines[end:]) == 0
    assert sum("scalar.addi" in line for line in lines[end:]) == 2
    upper = lines[loop].split(" to ")[1].split(" ")[0]
    assert f"{upper} = index.constant 3 : index" in lines


def test_depth_one_is_serial(transformed: Transformed) -> None:
    lines = pipelined(transformed, "index.constant 5 : index", 1)
    assert sum("view.load" in line for line in lines) == 1


@pytest.mark.parametrize("depth", [0, 65536])
def test_depths_out_of_range_are_refused(depth: int, transformed: Transformed) -> None:
    refused("PIPELINE/001", lambda: pipelined(transformed, "index.constant 5 : index", depth))


@pytest.mark.parametrize(
    "extra",
    [
        "scf.schedule.fence",
        "view.store %a, %in[%i] : i32, view<[%n]xi32>",
        "%q = view.load<volatile> %in[%i] : view<[%n]xi32> -> i32",
        "kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)",
    ],
)
def test_what_may_not_run_ahead_is_refused_where_it_stands(extra: str, transformed: Transformed) -> None:
    failure = refused("PIPELINE/002", lambda: pipelined(transformed, "index.constant 5 : index", 2, extra))
    location = failure.diagnostics[0].location
    assert location is not None and location.line == 13
