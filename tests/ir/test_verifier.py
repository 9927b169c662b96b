"""Rules that only modules built in code can break, each with the code that it must give."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import loom
from loom.diagnostics import LoomError
from loom.ir import F32, I1, I32, INDEX, Block, Builder, Module, Operation, Region, Value, VectorType
from loom.ir.targets import register_descriptor_sets
from loom.ir.verifier import check

CASES: dict[str, tuple[str, str]] = {}
BROKEN: dict[str, Callable[[], list[str]]] = {}

FUNCTION = """
func.def @f(%a: i32, %c: i1, %v: vector<4xf32>, %i: index, %b: view<4xf32>) -> (i32) {
  %x = scalar.negi %a : i32
  %k = scalar.constant 1 : i32
  %y = vector.extract %v[%i] : vector<4xf32> -> f32
  %z = view.load %b[%i] : view<4xf32> -> f32
  func.return %x : i32
}

func.decl @g(%a: i32)
"""


COMPARISON = """
func.decl @f(%a: index) -> (index)

check.scenario @s {
  check.trial[1](%t: index, %e: check.entropy) {
    check.compare<@f>(%t) : (index) -> [actual(%x: index), expected(%y: index)] {
    }
  }
  check.return
}
"""

TIED = """
low.func.def target<test.low.core> @f(%a: reg<test.r>) {
  %b = low.op<test.add>(%a, %a) : (reg<test.r>, reg<test.r>) -> %a as reg<test.r>
  low.return
}
"""
register_descriptor_sets("test", "tests.text.low_core:provide")


def function() -> tuple[Module, dict[str, Operation]]:
    module = loom.parse(FUNCTION, "built.loom")
    found = {op.name: op for op in module.walk()}
    return module, found


def broken(code: str) -> Callable[[Callable[[], Module]], Callable[[], list[str]]]:
    """Register a builder of a broken module; the module must give the code."""

    def register(build: Callable[[], Module]) -> Callable[[], list[str]]:
        def run() -> list[str]:
            return [d.code for d in check(build())]

        CASES[build.__name__] = (code, build.__name__)
        BROKEN[build.__name__] = run
        return run

    return register


@broken("OP/001")
def too_few_operands() -> Module:
    module, ops = function()
    ops["scalar.negi"].set_operands([])
    return module


@broken("OP/001")
def no_room_for_single_operands() -> Module:
    module, ops = function()
    ops["vector.extract"].set_operands([])
    return module


@broken("OP/004")
def too_many_results() -> Module:
    module, ops = function()
    ops["scalar.negi"].add_result(I32)
    return module


@broken("OP/006")
def word_outside_of_the_enum() -> Module:
    module, ops = function()
    ops["view.load"].attributes["cache_scope"] = "moon"
    return module


@broken("OP/006")
def flag_outside_of_the_set() -> Module:
    module, ops = function()
    ops["view.load"].attributes["volatile"] = ("often",)
    return module


@broken("OP/007")
def undeclared_attribute() -> Module:
    module, ops = function()
    ops["scalar.negi"].attributes["colour"] = 3
    return module


@broken("OP/008")
def body_op_at_module_level() -> Module:
    module, ops = function()
    module.body.append(ops["scalar.constant"].clone())
    return module


@broken("OP/008")
def symbol_in_a_body() -> Module:
    module, ops = function()
    ops["func.def"].body().insert_before(ops["scalar.negi"], ops["func.decl"].clone())
    return module


@broken("OP/013")
def missing_region() -> Module:
    module, ops = function()
    ops["func.def"].regions = []
    return module


@broken("OP/013")
def region_without_blocks() -> Module:
    module, ops = function()
    ops["func.def"].regions = [Region()]
    ops["func.def"].regions[0].parent = ops["func.def"]
    return module


@broken("OP/013")
def two_blocks_in_a_structured_region() -> Module:
    module, ops = function()
    builder = Builder.before(ops["scalar.negi"])
    loop = builder.create("scf.if", [ops["func.def"].body().arguments[1]], [])
    Builder.at_end(loop.body()).create("scf.yield")
    loop.regions[0].add_block()
    return module


@broken("OP/013")
def declaration_with_a_body() -> Module:
    module, ops = function()
    ops["func.decl"].body().append(ops["scalar.constant"].clone())
    return module


@broken("OP/013")
def switch_without_a_region_for_a_key() -> Module:
    module, ops = function()
    region = Region([Block()])
    builder = Builder.before(ops["scalar.negi"])
    builder.create("scf.switch", [ops["func.def"].body().arguments[3]], [], {"keys": (0,)}, [region])
    Builder.at_end(region.blocks[0]).create("scf.yield")
    return module


@broken("SSA/001")
def use_of_a_value_without_owner() -> Module:
    module, ops = function()
    ops["scalar.negi"].set_operand(0, Value(I32))
    return module


@broken("SSA/001")
def use_before_the_definition() -> Module:
    module, ops = function()
    ops["scalar.negi"].set_operand(0, ops["scalar.constant"].results[0])
    return module


@broken("SSA/001")
def argument_type_that_names_a_foreign_value() -> Module:
    module, ops = function()
    ops["func.decl"].body().add_argument(VectorType((Value(INDEX, name="n"),), F32), "late")
    return module


@broken("SSA/002")
def value_of_another_function() -> Module:
    module, ops = function()
    other = loom.parse("func.def @h(%q: i32) {\n  %n = scalar.negi %q : i32\n  func.return\n}\n").symbol("h")
    assert other is not None
    module.body.append(other.remove())
    ops["scalar.negi"].set_operand(0, other.body().arguments[0])
    return module


@broken("NAME/003")
def branch_into_another_function() -> Module:
    module, ops = function()
    body = ops["func.def"].body()
    ops["func.return"].erase()
    ops["func.def"].attributes.pop("result_types")
    Builder.at_end(body).create("cfg.br", [], successors=[ops["func.decl"].body()])
    return module


@broken("OP/011")
def branch_without_a_target() -> Module:
    module, ops = function()
    body = ops["func.def"].body()
    ops["func.return"].erase()
    Builder.at_end(body).create("cfg.br", [])
    second = ops["func.def"].regions[0].add_block()
    Builder.at_end(second).create("func.return", [body.arguments[0]])
    return module


@broken("OP/015")
def loop_without_an_induction_variable() -> Module:
    module, ops = function()
    i = ops["func.def"].body().arguments[3]
    loop = Builder.before(ops["scalar.negi"]).create("scf.for", {"lower": i, "upper": i, "step": i}, [])
    Builder.at_end(loop.body()).create("scf.yield")
    return module


@broken("OP/015")
def loop_whose_region_takes_too_much() -> Module:
    module, ops = function()
    i = ops["func.def"].body().arguments[3]
    loop = Builder.before(ops["scalar.negi"]).create("scf.for", {"lower": i, "upper": i, "step": i}, [])
    loop.body().add_argument(INDEX)
    loop.body().add_argument(F32)
    Builder.at_end(loop.body()).create("scf.yield")
    return module


@broken("OP/018")
def index_list_that_disagrees_with_the_operands() -> Module:
    module, ops = function()
    ops["view.load"].attributes["indices"] = (0,)
    return module


@broken("OP/018")
def extract_list_that_disagrees_with_the_operands() -> Module:
    module, ops = function()
    ops["vector.extract"].attributes["indices"] = (0,)
    return module


@broken("OP/001")
def concatenation_of_nothing() -> Module:
    module, ops = function()
    Builder.before(ops["scalar.negi"]).create("vector.concat", [], [VectorType((4,), F32)], {"axis": 0})
    return module


@broken("OP/025")
def packing_without_offsets() -> Module:
    module, ops = function()
    Builder.before(ops["scalar.negi"]).create("buffer.pack", [], [], {"alignments": ()})
    return module


@broken("OP/003")
def shuffle_into_another_type() -> Module:
    module, ops = function()
    v = ops["func.def"].body().arguments[2]
    Builder.before(ops["scalar.negi"]).create("vector.shuffle", [v], [VectorType((2,), F32)], {"lanes": (0, 1, 2, 3)})
    return module


@broken("OP/022")
def predicate_about_nothing() -> Module:
    from loom.ir import Predicate, Ref

    module, ops = function()
    ops["func.decl"].attributes["where"] = (Predicate("pow2", (Ref(7),)),)
    return module


@broken("OP/024")
def keyed_operands_without_keys() -> Module:
    module, ops = function()
    body = ops["func.def"].body()
    Builder.before(ops["scalar.negi"]).create(
        "vector.fragment",
        {
            "vector": body.arguments[2],
            "rows": body.arguments[3],
            "columns": body.arguments[3],
            "auxiliary": [body.arguments[0]],
        },
        attributes={"role": "lhs"},
    )
    return module


@broken("OP/015")
def comparison_with_too_few_sides() -> Module:
    module = loom.parse(COMPARISON)
    compare = next(op for op in module.walk() if op.name == "check.compare")
    compare.attributes["bindings"] = ("actual",)
    return module


@broken("LOW/003")
def tie_to_an_operand_that_is_not_there() -> Module:
    module = loom.parse(TIED)
    op = next(op for op in module.walk() if op.name == "low.op")
    op.attributes["ties"] = (7,)
    return module


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_broken_modules_give_their_code(name: str) -> None:
    assert CASES[name][0] in BROKEN[name]()


def test_the_function_itself_is_valid() -> None:
    module, _ = function()
    assert check(module) == []


def test_verify_raises_with_at_most_twenty_diagnostics() -> None:
    lines = "\n".join(f"  %x{i} = scalar.constant 300 : i8" for i in range(50))
    module = loom.parse(f"func.def @f() {{\n{lines}\n  func.return\n}}\n")
    with pytest.raises(LoomError) as caught:
        loom.verify(module)
    assert len(caught.value.diagnostics) == 20
    assert caught.value.exit_code == 2


def test_conditions_are_checked_with_the_condition_type() -> None:
    module, ops = function()
    assert ops["func.def"].body().arguments[1].type is I1
    ops["func.def"].body().arguments[1].retype(I32)
    assert check(module) == []
