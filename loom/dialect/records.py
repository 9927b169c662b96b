"""Module-level records of rarer use: globals, command programs, pools, pass pipelines, LLVM, sanitizer checks."""

from __future__ import annotations

from loom.dialect.common import (
    ANY,
    OFFSET_ONLY,
    SCALAR,
    attribute,
    define,
    group,
    one,
    region,
    result,
    results,
)
from loom.dialect.rules import values
from loom.ir.definition import AttributeDef

for _name, _doc in (("constant", "A module-wide constant."), ("variable", "A module-wide variable.")):
    define(
        f"global.{_name}",
        "C",
        _doc,
        " $sym_name : $type(? where [$where]?)(? = $value?)",
        attributes=(
            attribute("sym_name", "symbol_name"),
            attribute("type", "type"),
            attribute("where", "predicates", optional=True),
            attribute("value", "any", optional=True),
        ),
        traits="symbol module_level",
        verify=values.config_value,
        example=f"global.{_name} @g : i32 = 4",
    )
define(
    "global.load",
    "C",
    "Reads a global.",
    " $global : ~result",
    results=(result("result", ANY),),
    attributes=(attribute("global", "symbol"),),
    traits="reads",
    example="%v = global.load @g : i32",
)
define(
    "global.store",
    "C",
    "Writes a global variable.",
    " %value, $global : ~value",
    operands=(one("value"),),
    attributes=(attribute("global", "symbol"),),
    traits="writes",
    example="global.store %v, @g : i32",
)
define(
    "command.program.def",
    "B",
    "A program of dispatches: workload parameters first, bindings second.",
    "(? $public?)(? $retain?) $sym_name!program_arguments(body) &body",
    attributes=(
        attribute("public", "keyword", optional=True),
        attribute("retain", "keyword", optional=True),
        attribute("sym_name", "symbol_name"),
        AttributeDef("workload_count", "internal", True),
    ),
    regions=(region("body", ("command.return",), isolated=True),),
    traits="symbol module_level command",
)
define(
    "command.program.decl",
    "B",
    "A dependency on a command program of another module.",
    " $sym_name!program_arguments(body)",
    attributes=(attribute("sym_name", "symbol_name"), AttributeDef("workload_count", "internal", True)),
    regions=(region("body", (), isolated=True),),
    traits="symbol module_level command declaration",
)
define(
    "command.program.launch",
    "B",
    "Runs a command program.",
    " $callee(?[%workload]?)(%arguments) : (?[~workload]?)(~arguments)",
    operands=(group("workload"), group("arguments")),
    attributes=(attribute("callee", "symbol"),),
    traits="call",
)
for _name, _doc in (("serial", "Dispatches one after the other."), ("concurrent", "Dispatches that may overlap.")):
    define(
        f"command.{_name}",
        "B",
        _doc,
        " &body",
        regions=(region("body", ("command.return",), implicit="command.return"),),
        parents=("command.program.def", "command.serial", "command.concurrent"),
    )
define(
    "command.return",
    "B",
    "Ends a command program or a group of dispatches.",
    "",
    traits="terminator",
    parents=("command.program.def", "command.serial", "command.concurrent"),
    example="command.return",
)
define(
    "pass.pipeline",
    "B",
    "A named list of passes.",
    "<$anchor> $sym_name &body",
    attributes=(attribute("anchor", "bare"), attribute("sym_name", "symbol_name")),
    regions=(region("body", ("pass.end",), implicit="pass.end", isolated=True),),
    traits="symbol module_level",
    example="pass.pipeline<module> @p {\n  pass.run<canonicalize>\n}",
)
define(
    "pass.run",
    "C",
    "Runs a pass with its options.",
    "<$pass> {}",
    attributes=(attribute("pass", "bare"), attribute("attributes", "extra", optional=True)),
    parents=("pass.pipeline",),
    example="pass.run<canonicalize>",
)
define("pass.end", "C", "Ends a pipeline.", "", traits="terminator", parents=("pass.pipeline",), example="pass.end")
define(
    "pool.allocate",
    "C",
    "A buffer of a pool.",
    " %pool, %size : ~pool, ~size -> ~result",
    operands=(one("pool"), one("size", OFFSET_ONLY)),
    results=(result("result"),),
    traits="reads writes",
)
define(
    "llvmir.inline_asm",
    "C",
    "Assembly text of an LLVM target.",
    " $text, $constraints(%arguments) : (~arguments)(? -> (~results)?)",
    operands=(group("arguments"),),
    results=(results(),),
    attributes=(attribute("text", "string"), attribute("constraints", "string")),
    traits="reads writes",
)
define(
    "llvmir.intrinsic",
    "C",
    "An LLVM intrinsic by its name.",
    " $text(%arguments) : (~arguments)(? -> (~results)?)",
    operands=(group("arguments"),),
    results=(results(),),
    attributes=(attribute("text", "string"),),
    traits="reads writes",
)
define(
    "sanitizer.assert.value",
    "C",
    "Reports when a value breaks a predicate.",
    " %values [$predicates] : ~values",
    operands=(group("values", SCALAR), group("bounds", SCALAR)),
    attributes=(attribute("predicates", "predicates"),),
    traits="control",
    example="sanitizer.assert.value %x [range(%x, 0, 7)] : i32",
)
