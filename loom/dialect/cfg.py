"""The cfg dialect: branches between the blocks of a function."""

from __future__ import annotations

from loom.dialect.common import BOOL, define, group, one
from loom.dialect.rules import control

define(
    "cfg.br",
    "A",
    "Branches to a block, passing its arguments.",
    " ^0(?!typed(arguments)?)",
    operands=(group("arguments"),),
    successors="one",
    traits="terminator",
    verify=control.branch_arguments,
    example="cfg.br ^next(%x: i32)",
)
define(
    "cfg.cond_br",
    "A",
    "Branches to the first block when the condition is true, else to the second; passes no arguments.",
    " %condition, ^0, ^1",
    operands=(one("condition", BOOL),),
    successors="two",
    traits="terminator",
    verify=control.branch_arguments,
    example="cfg.cond_br %c, ^then, ^else",
)
