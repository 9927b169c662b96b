"""The config dialect: values that are fixed when a module is compiled or linked."""

from __future__ import annotations

from loom.dialect.common import ANY, attribute, define, result
from loom.dialect.rules import values

define(
    "config.decl",
    "A",
    "A value that must be given by compile or link time, and what it must satisfy.",
    " $sym_name : !config_type",
    attributes=(
        attribute("sym_name", "symbol_name"),
        attribute("type", "type"),
        attribute("value_name", "string", optional=True),
        attribute("where", "predicates", optional=True),
    ),
    traits="symbol module_level declaration",
    example="config.decl @tuning.repeat : %value: index where [range(%value, 1, 32)]",
)
define(
    "config.def",
    "A",
    "A configuration value.",
    " $sym_name = $value : $type",
    attributes=(attribute("sym_name", "symbol_name"), attribute("value", "any"), attribute("type", "type")),
    traits="symbol module_level",
    verify=values.config_value,
    example="config.def @tuning.lanes = 64 : index",
)
define(
    "config.get",
    "A",
    "The configuration value of that key: a constant once it is known.",
    " $key : ~result",
    results=(result("result", ANY),),
    attributes=(attribute("key", "symbol"),),
    traits="pure",
    example="%n = config.get @tuning.lanes : index",
)
