"""The object model: use-def chains, lists of operations, types that name values, cloning, dominance."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import loom
from loom.ir import (
    F32,
    I32,
    INDEX,
    Block,
    BufferType,
    Builder,
    EncodingAttribute,
    Operation,
    RegisterType,
    ScalarType,
    TensorType,
    Value,
    VectorType,
    ViewType,
    lookup,
)
from loom.ir.dominance import dominates, immediate_dominators

LOOP = """
func.def @f(%a: i32, %n: index, %b: buffer, %o: offset) -> (i32) {
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %v = buffer.view %b[%o] : buffer -> view<[%n]xi32>
  %s = scf.for %i = [%zero to %n step %one](%acc = %a : i32) -> (i32) {
    %x = view.load %v[%i] : view<[%n]xi32> -> i32
    %y = scalar.addi %acc, %x : i32
    scf.yield %y : i32
  }
  func.return %s : i32
}
"""


def ops_of(text: str) -> dict[str, Operation]:
    return {op.name: op for op in loom.parse(text).walk()}


def test_types_are_interned() -> None:
    n = Value(INDEX, name="n")
    assert ViewType((n, 4), F32) is ViewType((n, 4), F32)
    assert ViewType((Value(INDEX), 4), F32) is not ViewType((n, 4), F32)
    assert VectorType((4,), F32) is VectorType((4,), F32)
    assert RegisterType("amdgpu.vgpr", 2, 4) is not RegisterType("amdgpu.vgpr", 2)
    assert RegisterType("amdgpu.vgpr", 2, 4).at(None) is RegisterType("amdgpu.vgpr", 2)
    encoding = EncodingAttribute("q8_0", (("block", 32),))
    assert TensorType((2,), F32, encoding) is TensorType((2,), F32, EncodingAttribute("q8_0", (("block", 32),)))
    assert not issubclass(BufferType, ScalarType)


def test_types_that_name_values_do_not_keep_other_modules_alive() -> None:
    import gc
    import weakref

    class Probe(Value):
        __slots__ = ("__weakref__",)

    n = Probe(INDEX)
    ViewType((n,), F32)
    gone = weakref.ref(n)
    del n
    gc.collect()
    assert gone() is None


def test_replacing_a_value_reaches_operands_and_types() -> None:
    module = loom.parse(LOOP)
    function = module.symbol("f")
    assert function is not None
    n = function.body().arguments[1]
    m = Builder.at_start(function.body()).constant(64, INDEX, "m")
    n.replace_all_uses_with(m)
    assert not n.has_uses
    loom.verify(module)
    text = loom.print_module(module)
    assert "[%n]" not in text and text.count("[%m]xi32") == 2
    assert "[%zero to %m step %one]" in text


def test_uses_follow_every_change() -> None:
    ops = ops_of(LOOP)
    add = ops["scalar.addi"]
    acc, x = add.operands
    assert acc.uses == [(add, 0)]
    add.set_operand(0, x)
    assert acc.uses == [] and sorted(i for _, i in x.uses) == [0, 1]
    add.set_operands([acc, acc])
    assert x.uses == [] and acc.users[add] == 2
    with pytest.raises(ValueError):
        ops["view.load"].parent.parent.parent.erase()  # type: ignore[union-attr]


def test_operand_groups_by_name() -> None:
    ops = ops_of(LOOP)
    loop = ops["scf.for"]
    assert [v.name for v in loop.operand_group("inits")] == ["a"]
    assert loop.optional_operand("unroll_factor") is None
    loop.set_operand_group("unroll_factor", [loop.operand("step")])
    factor = loop.optional_operand("unroll_factor")
    assert factor is not None and factor.name == "one"
    load = ops["view.load"]
    assert load.operand("view").name == "v"
    assert [v.name for v in load.index_list("indices")] == ["i"]  # type: ignore[union-attr]
    with pytest.raises(KeyError):
        load.operand("nothing")


def test_a_block_is_safe_against_erasing_the_current_op() -> None:
    module = loom.parse(
        "func.def @f(%a: i32) {\n" + "  %x = scalar.negi %a : i32\n".replace("%x", "%x") + "  func.return\n}\n"
    )
    block = module.symbol("f").body()  # type: ignore[union-attr]
    builder = Builder.before(block.last)  # type: ignore[arg-type]
    for _ in range(9):
        builder.create("scalar.negi", [block.arguments[0]])
    seen = 0
    for op in block.operations:
        seen += 1
        if op.name == "scalar.negi":
            op.erase()
    assert seen == 11 and len(block.operations) == 1
    assert block.first is block.last


def test_order_survives_random_edits() -> None:
    rng = random.Random(3)
    definition = lookup("scf.schedule.fence")
    assert definition is not None
    block = Block()
    mirror: list[Operation] = []
    for step in range(600):
        choice = rng.random()
        if mirror and choice < 0.3:
            op = mirror.pop(rng.randrange(len(mirror)))
            op.erase()
        elif len(mirror) > 1 and choice < 0.5:
            op = mirror.pop(rng.randrange(len(mirror)))
            at = rng.randrange(len(mirror))
            op.move_before(mirror[at])
            mirror.insert(at, op)
        else:
            op = Operation(definition)
            at = rng.randrange(len(mirror) + 1)
            block.insert_before(mirror[at] if at < len(mirror) else None, op)
            mirror.insert(at, op)
        if step % 20 == 0 and len(mirror) > 1:
            assert list(block.operations) == mirror
            assert list(reversed(block.operations)) == mirror[::-1]
            a, b = rng.randrange(len(mirror)), rng.randrange(len(mirror))
            assert mirror[a].is_before(mirror[b]) is (a < b)
    assert block.operations[0] is mirror[0] and block.operations[-1] is mirror[-1]


def lines_executed(work: Callable[[], None]) -> int:
    """Lines of Python that ``work`` executes, in whatever it calls too."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_editing_is_linear() -> None:
    definition = lookup("scf.schedule.fence")
    assert definition is not None

    def edit(count: int) -> None:
        block = Block()
        for _ in range(count):
            block.insert_before(block.first, Operation(definition))
        for op in block.operations:
            op.erase()

    edit(1)
    assert lines_executed(lambda: edit(2000)) < 2.1 * lines_executed(lambda: edit(1000))


def test_cloning_maps_what_it_is_told_and_what_it_defines() -> None:
    module = loom.parse(LOOP)
    loop = next(op for op in module.walk() if op.name == "scf.for")
    zero, one = loop.operand("lower"), loop.operand("step")
    # A swap must not be applied twice.
    mapping = {zero: one, one: zero}
    copy = loop.clone(mapping)
    assert (copy.operand("lower"), copy.operand("step")) == (one, zero)
    inner = list(copy.body().operations)
    assert inner[1].operands == [copy.body().arguments[1], inner[0].results[0]]
    assert mapping[loop.results[0]] is copy.results[0]
    assert loop.operand("lower") is zero
    copy.drop_uses()
    assert all(copy not in v.users for v in loop.operands)


def test_module_clones_are_independent() -> None:
    module = loom.parse(LOOP)
    copy = module.clone()
    assert loom.print_module(copy) == loom.print_module(module)
    next(op for op in copy.walk() if op.name == "index.constant").attributes["value"] = 5
    assert copy.semantic_hash() != module.semantic_hash()
    loom.verify(copy)
    for op in copy.walk():
        for operand in op.operands:
            home = operand.block
            while home is not None and home.parent is not None and home.parent.parent is not None:
                home = home.parent.parent.parent
            assert home is copy.body


def test_walking_skips_what_was_erased() -> None:
    module = loom.parse(LOOP)
    names = []
    for op in module.walk():
        names.append(op.name)
        if op.name == "scf.for":
            op.results[0].replace_all_uses_with(op.operand_group("inits")[0])
            op.erase()
    assert "view.load" not in names and names[-1] == "func.return"


def test_building_needs_what_the_declaration_needs() -> None:
    module = loom.parse(LOOP)
    function = module.symbol("f")
    assert function is not None
    builder = Builder.at_start(function.body())
    a, n = function.body().arguments[:2]
    with pytest.raises(ValueError, match="unknown operation"):
        builder.create("scalar.nothing", [a])
    with pytest.raises(ValueError, match="needs one operand 'upper'"):
        builder.create("scf.for", {"lower": n, "step": n})
    with pytest.raises(ValueError, match="has no operand"):
        builder.create("scalar.negi", {"value": a})
    with pytest.raises(ValueError, match="several operand groups"):
        builder.create("scf.for", [n, n, n])
    with pytest.raises(ValueError, match="must be given"):
        builder.create("scalar.extsi", [a])
    made = builder.create("scalar.addi", {"lhs": a, "rhs": a}, result_names=["twice"])
    assert made.results[0].type is I32 and made.location is None


def test_splitting_a_block() -> None:
    module = loom.parse(
        "func.def @f(%a: i32) {\n  %x = scalar.negi %a : i32\n  %y = scalar.negi %x : i32\n  func.return\n}\n"
    )
    body = module.symbol("f").body()  # type: ignore[union-attr]
    rest = body.split_before(body.operations[1], "rest")
    Builder.at_end(body).create("cfg.br", [], successors=[rest])
    loom.verify(module)
    assert [len(b.operations) for b in module.symbol("f").regions[0].blocks] == [2, 2]  # type: ignore[union-attr]
    assert rest.predecessors == [body]


def test_dominators_of_a_diamond_with_a_loop() -> None:
    module = loom.parse("""
func.def @f(%c: i1) {
  cfg.br ^head
^head:
  cfg.cond_br %c, ^left, ^right
^left:
  cfg.br ^join
^right:
  cfg.br ^join
^join:
  cfg.cond_br %c, ^head, ^exit
^exit:
  func.return
^island:
  cfg.br ^exit
}
""")
    region = module.symbol("f").regions[0]  # type: ignore[union-attr]
    block = {b.label or "entry": b for b in region.blocks}
    found = immediate_dominators(region)
    names = {b.label or "entry": d.label or "entry" for b, d in found.items()}
    assert names == {
        "entry": "entry", "head": "entry", "left": "head", "right": "head", "join": "head", "exit": "join",
    }  # fmt: skip
    assert dominates(block["head"], block["exit"], found)
    assert not dominates(block["left"], block["join"], found)


def test_locations_and_comments_are_kept() -> None:
    module = loom.parse("// About f.\n\nfunc.def @f() {\n  // The end.\n  func.return\n}\n// Last words.\n", "f.loom")
    function = module.symbol("f")
    assert function is not None and function.location is not None
    assert (function.location.file, function.location.line, function.location.end_line) == ("f.loom", 3, 6)
    assert function.comments == ("// About f.", "")
    ender = function.body().last
    assert ender is not None and ender.comments == ("// The end.",) and str(ender.location) == "f.loom:5:3"
    assert module.trailing_comments == ("// Last words.",)
    text = loom.print_module(module)
    assert text == "// About f.\n\nfunc.def @f() {\n  // The end.\n  func.return\n}\n\n// Last words.\n"
    assert loom.print_module(loom.parse(text)) == text


def test_written_locations_are_read_and_printed_on_request() -> None:
    text = 'func.def @f() {\n  func.return loc("a.py":3:7 to 4:2)\n}\n'
    module = loom.parse(text)
    ender = module.symbol("f").body().last  # type: ignore[union-attr]
    assert ender is not None and str(ender.location) == "a.py:3:7"
    assert "loc" not in loom.print_module(module)
    with_locations = loom.print_module(module, locations=True)
    assert 'func.return loc("a.py":3:7 to 4:2)' in with_locations
    again = loom.parse(with_locations)
    assert loom.print_module(again, locations=True) == with_locations


def test_comments_survive_wherever_they_stand() -> None:
    text = """#q = #dense // one
func.def @f( // two
    %c: i1) {
  scf.if %c {
    // three
  } // four
  else { // five
  }
  scf.if /* no block comments */ %c {
  }
  func.return
  // six
}
// seven
"""
    text = text.replace("/* no block comments */ ", "// eight\n")
    printed = loom.print_module(loom.parse(text))
    for word in ("one", "two", "three", "four", "five", "six", "seven", "eight"):
        assert printed.count(f"// {word}\n") == 1, word
    assert loom.print_module(loom.parse(printed)) == printed


def test_the_hash_does_not_see_the_spelling_of_a_body() -> None:
    body = "{\n  low.return %a : reg<amdgpu.vgpr>\n}"
    asm = "asm {\n  return %a\n}"
    head = "low.func.def target<amdgpu.gfx11.generic.core> @f(%a: reg<amdgpu.vgpr>) -> (reg<amdgpu.vgpr>) "
    first, second = loom.parse(head + body), loom.parse(head + asm)
    assert first.semantic_hash() == second.semantic_hash()
    labelled = loom.parse("func.def @f() {\n^entry:\n  func.return\n}\n")
    assert labelled.semantic_hash() == loom.parse("func.def @f() {\n  func.return\n}\n").semantic_hash()


def test_types_may_name_results_of_their_own_op() -> None:
    text = """
func.decl @make(%n: index) -> (%m: index, tensor<[%m]xf32>) where [le(%m, %n)]

func.def @f(%n: index) -> (index) {
  %m, %t = func.call @make(%n) : (index) -> (index, tensor<[%m]xf32>)
  func.return %m : index
}
"""
    module = loom.parse(text)
    loom.verify(module)
    assert loom.print_module(module) == text.lstrip()
    call = next(op for op in module.walk() if op.name == "func.call")
    assert call.results[1].type.values == (call.results[0],)
