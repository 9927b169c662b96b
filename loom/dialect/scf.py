"""The scf dialect: structured control flow."""

from __future__ import annotations

from loom.dialect.common import (
    ANY,
    BOOL,
    INDEX_LIKE,
    INDEX_ONLY,
    attribute,
    define,
    group,
    maybe,
    one,
    region,
    result,
    results,
    word,
)
from loom.dialect.rules import control, values

SCHEDULES = ("linear", "interleaved", "recurrence")
YIELD = ("scf.yield",)

define(
    "scf.for",
    "A",
    "A counted loop over [lower, upper) by a positive step. The values after `=` in the parentheses "
    "start the carried values; `scf.yield` gives the next ones; the results are the last ones. "
    "`unroll`, `pipeline` and `schedule` never change results.",
    " !loop(body)(? -> (~results)?)(? pipeline(%pipeline_depth)?)(? unroll(%unroll_factor)?)(? "
    "$unroll?)(? schedule($schedule)?) &body",
    operands=(
        one("lower", INDEX_LIKE),
        one("upper", INDEX_LIKE),
        one("step", INDEX_LIKE),
        group("inits"),
        maybe("pipeline_depth", INDEX_ONLY),
        maybe("unroll_factor", INDEX_ONLY),
    ),
    results=(results("results", ANY, infer=values.like_group("inits")),),
    attributes=(attribute("unroll", "keyword", optional=True), word("schedule", SCHEDULES, optional=True)),
    regions=(region("body", YIELD, implicit="scf.yield"),),
    same=("lower upper step",),
    verify=control.loop,
    example="%r = scf.for %i = [%lo to %hi step %st](%a = %x : f32) -> (f32) unroll(%four) {\n  scf.yield %a : f32\n}",
)
define(
    "scf.if",
    "A",
    "Runs the first region when the condition is true, else the second; with results both yield them.",
    " %condition(? -> (~results)?) &then(? else &else?)",
    operands=(one("condition", BOOL),),
    results=(results(),),
    regions=(
        region("then", YIELD, implicit="scf.yield"),
        region("else", YIELD, implicit="scf.yield", optional=True),
    ),
    verify=control.conditional,
    example="%r = scf.if %c -> (f32) {\n  scf.yield %x : f32\n} else {\n  scf.yield %y : f32\n}",
)
define(
    "scf.while",
    "A",
    "Runs the first region; while its `scf.condition` is true the forwarded values enter the `do` "
    "region, whose yield starts the next round. When false they are the results.",
    "(?(!bindings(before, inits))?)(? -> (~results)?) &before do(?!arguments(after)?) &after",
    operands=(group("inits"),),
    results=(results("results", ANY, infer=values.like_group("inits")),),
    regions=(region("before", ("scf.condition",)), region("after", YIELD, implicit="scf.yield")),
    verify=control.while_loop,
    example=(
        "%r = scf.while(%p = %a : i32) -> (i32) {\n  scf.condition %c, %p : i1, i32\n} do(%q: i32) "
        "{\n  scf.yield %q : i32\n}"
    ),
)
define(
    "scf.condition",
    "A",
    "Ends the first region of `scf.while`.",
    " %condition(?, %values?) : ~condition(?, ~values?)",
    operands=(one("condition", BOOL), group("values")),
    traits="terminator",
    parents=("scf.while",),
    example="scf.condition %c, %p : i1, i32",
)
define(
    "scf.yield",
    "A",
    "Ends a region of `scf.for`, `scf.if`, `scf.while` or `scf.switch` and gives its values.",
    "(? %values : ~values?)",
    operands=(group("values"),),
    traits="terminator",
    parents=("scf.for", "scf.if", "scf.while", "scf.switch"),
    example="scf.yield %x : f32",
)
define(
    "scf.select",
    "A",
    "The first value when the condition is true, else the second; both are whole values of any type.",
    " %condition, %true_value, %false_value : ~result",
    operands=(one("condition", BOOL), one("true_value"), one("false_value")),
    results=(result("result", ANY, "true_value"),),
    same=("result true_value false_value",),
    traits="pure",
    fold=values.fold_select,
    example="%r = scf.select %c, %a, %b : buffer",
)
define(
    "scf.switch",
    "B",
    "Runs the region of the key that equals the selector, else the default one.",
    " %selector(? -> (~results)?) !cases",
    operands=(one("selector", INDEX_ONLY),),
    results=(results(),),
    attributes=(attribute("keys", "ints"),),
    regions=(
        region("cases", YIELD, implicit="scf.yield"),
        region("default", YIELD, implicit="scf.yield"),
    ),
    verify=control.switch,
    example=(
        "%r = scf.switch %i -> (f32) {\n  case 0 {\n    scf.yield %x : f32\n  }\n  default "
        "{\n    scf.yield %y : f32\n  }\n}"
    ),
)
define(
    "scf.lookup",
    "B",
    "The row of values whose key equals the selector, else the default row.",
    " %selector !rows default(%defaults) : ~results",
    operands=(one("selector", INDEX_ONLY), group("rows"), group("defaults")),
    results=(results("results", ANY, infer=values.like_group("defaults")),),
    attributes=(attribute("keys", "ints"),),
    traits="pure",
    verify=control.lookup,
    example="%r = scf.lookup %i {\n  0 = (%a),\n  2 = (%b)\n} default(%d) : f32",
)
define(
    "scf.schedule.fence",
    "A",
    "A boundary in source order for the scheduler within its region; it emits nothing and waits for nothing.",
    "",
    traits="scheduling",
    example="scf.schedule.fence",
)
