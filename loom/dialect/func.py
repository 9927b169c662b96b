"""The func and module dialects: callable definitions and the files a file depends on."""

from __future__ import annotations

from loom.dialect.common import ABI_KINDS, attribute, define, group, region, results, word
from loom.dialect.rules import control, functions
from loom.ir.definition import AttributeDef

CONVENTIONS = ("host", "device", "initializer", "deinitializer")
TEMPERATURES = ("hot", "cold")
INLINING = ("inline", "noinline")

MODIFIERS = (
    attribute("public", "keyword", optional=True),
    attribute("retain", "keyword", optional=True),
    word("convention", CONVENTIONS, optional=True),
    attribute("pure", "keyword", optional=True),
    word("temperature", TEMPERATURES, optional=True),
    word("inlining", INLINING, optional=True),
)
SIGNATURE = (
    attribute("sym_name", "symbol_name"),
    attribute("result_types", "result_types", optional=True),
    attribute("where", "predicates", optional=True),
    AttributeDef("result_values", "internal", True),
    AttributeDef("result_ties", "internal", True),
)
TIES = AttributeDef("ties", "internal", True)
_INTERFACE = (
    attribute("target", "symbol", optional=True),
    word("abi", ABI_KINDS, optional=True),
    attribute("abi_attributes", "dict", optional=True),
    attribute("export", "string", optional=True),
    attribute("export_attributes", "dict", optional=True),
)
EXPORT = "(? export($export(?, $export_attributes?))?)"
ABI = "(? abi($abi(?, $abi_attributes?))?)"
TAIL = " $sym_name!arguments({region})(? -> !result_types?)(? where [$where]?)"
_MIDDLE = f"(? $convention?)(? $pure?)(? $temperature?)(? $inlining?)(? target($target)?){ABI}{EXPORT}"

define(
    "func.def",
    "A",
    "A callable definition. Its body sees nothing of the outside; it may consist of several blocks. "
    "`pure`: deterministic, without memory effects.",
    f"(? $public?)(? $retain?){_MIDDLE}{TAIL.format(region='body')} &body",
    attributes=(*MODIFIERS, *_INTERFACE, *SIGNATURE),
    regions=(region("body", ("func.return",), isolated=True, blocks="any"),),
    traits="symbol module_level function",
    verify=functions.function,
    example=(
        "func.def public pure @twice(%x: i32) -> (i32) {\n  %y = scalar.addi %x, %x : i32\n  func.return %y : i32\n}"
    ),
)
define(
    "func.decl",
    "A",
    "A dependency on a function of another module.",
    "(? $public?)(? $retain?)(? import($import_module(?, $import_symbol?))?)"
    f"{_MIDDLE}{TAIL.format(region='signature')}",
    attributes=(
        *MODIFIERS,
        attribute("import_module", "string", optional=True),
        attribute("import_symbol", "string", optional=True),
        *_INTERFACE,
        *SIGNATURE,
    ),
    regions=(region("signature", (), isolated=True),),
    traits="symbol module_level function declaration",
    verify=functions.function,
    example='func.decl import("lib", "twice") @twice(%x: i32) -> (i32)',
)
define(
    "func.call",
    "A",
    "Calls the function of that symbol; the signature must match.",
    "(? $pure?)(? $temperature?)(? $inlining?) $callee(%arguments) : (~arguments)(? -> (~results)?)",
    operands=(group("arguments"),),
    results=(results(),),
    attributes=(
        attribute("pure", "keyword", optional=True),
        word("temperature", TEMPERATURES, optional=True),
        word("inlining", INLINING, optional=True),
        attribute("callee", "symbol"),
        TIES,
    ),
    traits="call",
    example="%y = func.call pure @twice(%x) : (i32) -> (i32)",
)
define(
    "func.return",
    "A",
    "Ends a function and gives its results.",
    "(? %values : ~values?)",
    operands=(group("values"),),
    traits="terminator",
    parents=("func.def",),
    verify=control.function_return,
    example="func.return %y : i32",
)
