"""The template dialect: families of implementations, selected at compile time."""

from __future__ import annotations

from loom.dialect.common import attribute, define, group, integer, region, results, word
from loom.dialect.func import MODIFIERS, SIGNATURE, TAIL, TEMPERATURES, TIES
from loom.dialect.rules import control, functions

_SELECTION = (
    attribute("target", "symbol", optional=True),
    attribute("requires", "encodings", optional=True),
)
_PRIORITY = integer("priority", optional=True)
_MODIFIERS = (
    "(? $public?)(? $retain?)(? $convention?)(? $pure?)(? $temperature?)(? target($target)?)(? requires [$requires]?)"
)
_ATTRIBUTES = (*(m for m in MODIFIERS if m.name != "inlining"), *_SELECTION)

define(
    "template.decl",
    "A",
    "Names a family and its signature.",
    f"{_MODIFIERS}{TAIL.format(region='signature')}",
    attributes=(*_ATTRIBUTES, *SIGNATURE),
    regions=(region("signature", (), isolated=True),),
    traits="symbol module_level function declaration",
    verify=functions.function,
    example="template.decl @motif.squash(%x: f32, %limit: index) -> (f32)",
)
define(
    "template.def",
    "A",
    "One implementation of a family. `where` and `requires` are conditions of its selection; of those "
    "that remain the highest priority wins.",
    f"<$family>{_MODIFIERS}(? priority($priority)?){TAIL.format(region='body')} &body",
    attributes=(attribute("family", "symbol"), *_ATTRIBUTES, _PRIORITY, *SIGNATURE),
    regions=(region("body", ("template.return",), isolated=True, blocks="any"),),
    traits="symbol module_level function",
    verify=functions.function,
    example=(
        "template.def<@motif.squash> priority(1) @squash_any(%x: f32, %limit: index) -> (f32) "
        "{\n  template.return %x : f32\n}"
    ),
)
define(
    "template.ukernel",
    "C",
    "An implementation of a family that lies outside of the module.",
    f"<$family>{_MODIFIERS}(? priority($priority)?){TAIL.format(region='signature')}",
    attributes=(attribute("family", "symbol"), *_ATTRIBUTES, _PRIORITY, *SIGNATURE),
    regions=(region("signature", (), isolated=True),),
    traits="symbol module_level function declaration",
    verify=functions.function,
    example="template.ukernel<@motif.squash> @squash_native(%x: f32, %limit: index) -> (f32)",
)
define(
    "template.apply",
    "A",
    "A call of the implementation that is selected from the family at compile time.",
    "<$family>(%arguments)(? $pure?)(? $temperature?) : (~arguments)(? -> (~results)?)",
    operands=(group("arguments"),),
    results=(results(),),
    attributes=(
        attribute("family", "symbol"),
        attribute("pure", "keyword", optional=True),
        word("temperature", TEMPERATURES, optional=True),
        TIES,
    ),
    traits="call",
    example="%y = template.apply<@motif.squash>(%x, %n) : (f32, index) -> (f32)",
)
define(
    "template.call",
    "B",
    "A call of one exact implementation.",
    "(? $pure?) $callee(%arguments) : (~arguments)(? -> (~results)?)",
    operands=(group("arguments"),),
    results=(results(),),
    attributes=(attribute("pure", "keyword", optional=True), attribute("callee", "symbol"), TIES),
    traits="call",
    example="%y = template.call @squash_any(%x, %n) : (f32, index) -> (f32)",
)
define(
    "template.return",
    "A",
    "Ends an implementation and gives its results.",
    "(? %values : ~values?)",
    operands=(group("values"),),
    traits="terminator",
    parents=("template.def",),
    verify=control.function_return,
    example="template.return %y : f32",
)
