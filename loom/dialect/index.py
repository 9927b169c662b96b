"""The index dialect: coordinates (`index`) and byte counts (`offset`)."""

from __future__ import annotations

from loom.dialect import folding
from loom.dialect.common import (
    BOOL,
    INDEX_LIKE,
    INDEX_ONLY,
    INTEGER_PREDICATES,
    OFFSET_ONLY,
    SCALAR,
    attribute,
    define,
    group,
    one,
    result,
    results,
    word,
)
from loom.dialect.rules import values
from loom.ir import I1

# name → (tier, operands take offset as well, meaning)
BINARY = {
    "add": ("A", True, "Sum; offsets must stay below 2^63."),
    "sub": ("A", True, "Difference; offsets must not go below zero."),
    "mul": ("A", False, "Product."),
    "min": ("A", False, "Signed minimum."),
    "max": ("A", False, "Signed maximum."),
    "div": ("A", False, "Quotient; dividend at least 0, divisor greater than 0."),
    "rem": ("A", False, "Remainder; dividend at least 0, divisor greater than 0."),
    "andi": ("A", False, "Bitwise and."),
    "ori": ("B", False, "Bitwise or."),
    "xori": ("A", False, "Bitwise exclusive or."),
    "shli": ("A", False, "Left shift."),
    "shrui": ("A", False, "Logical right shift."),
    "shrsi": ("B", False, "Arithmetic right shift."),
    "rotli": ("C", False, "Rotate left."),
    "rotri": ("C", False, "Rotate right."),
}
UNARY = {
    "ctlzi": "Number of leading zero bits.",
    "cttzi": "Number of trailing zero bits.",
    "ctpopi": "Number of one bits.",
}
COMMUTATIVE = ("add", "mul", "min", "max", "andi", "ori", "xori")

define(
    "index.constant",
    "A",
    "A constant coordinate or byte count.",
    " $value : ~result",
    results=(result("result", INDEX_LIKE),),
    attributes=(attribute("value", "int"),),
    traits="pure constant",
    verify=values.index_constant,
    example="%c = index.constant 7 : index",
)
define(
    "index.cast",
    "A",
    "Between index or offset and integers, or between the two: into index sign-extends (i1: 0 or 1), "
    "into offset zero-extends, out of either keeps the low bits.",
    " %operand : ~operand to ~result",
    operands=(one("operand", SCALAR),),
    results=(result("result", SCALAR),),
    traits="pure",
    fold=folding.index_cast,
    verify=values.index_cast,
    example="%i = index.cast %x : i32 to index",
)
define(
    "index.assume",
    "A",
    "Identity that states facts about its operands; a wrong fact is undefined behaviour.",
    " %values [$predicates] : ~results",
    operands=(group("values", INDEX_LIKE), group("bounds", INDEX_LIKE)),
    results=(results("results", INDEX_LIKE, infer=values.assume_results),),
    attributes=(attribute("predicates", "predicates"),),
    traits="pure",
    verify=values.assume,
    example="%b = index.assume %a [range(%a, 0, 63), mul(%a, 4)] : index",
)
for _name, (_tier, _offsets, _doc) in BINARY.items():
    _type = INDEX_LIKE if _offsets else INDEX_ONLY
    define(
        f"index.{_name}",
        _tier,
        _doc,
        " %lhs, %rhs : ~result",
        operands=(one("lhs", _type), one("rhs", _type)),
        results=(result("result", _type, "lhs"),),
        same=("result lhs rhs",),
        traits="pure commutative" if _name in COMMUTATIVE else "pure",
        fold=folding.index_binary(_name),
        example=f"%r = index.{_name} %a, %b : index",
    )
for _name, _doc in UNARY.items():
    define(
        f"index.{_name}",
        "C",
        _doc,
        " %operand : ~result",
        operands=(one("operand", INDEX_ONLY),),
        results=(result("result", INDEX_ONLY, "operand"),),
        same=("result operand",),
        traits="pure",
        fold=folding.index_unary(_name),
        example=f"%r = index.{_name} %a : index",
    )
define(
    "index.madd",
    "A",
    "a * b + c.",
    " %a, %b, %c : ~result",
    operands=(one("a", INDEX_ONLY), one("b", INDEX_ONLY), one("c", INDEX_ONLY)),
    results=(result("result", INDEX_ONLY, "a"),),
    same=("result a b c",),
    traits="pure",
    fold=folding.index_madd,
    example="%r = index.madd %a, %b, %c : index",
)
define(
    "index.scale",
    "A",
    "Bytes = coordinate * stride; the coordinate is at least 0.",
    " %index, %stride : ~index, ~stride -> ~result",
    operands=(one("index", INDEX_ONLY), one("stride", OFFSET_ONLY)),
    results=(result("result", OFFSET_ONLY, "stride"),),
    traits="pure",
    fold=folding.index_scale,
    example="%o = index.scale %i, %stride : index, offset -> offset",
)
define(
    "index.cmp",
    "A",
    "Comparison; unsigned predicates see the coordinate as 64 unsigned bits.",
    " $predicate, %lhs, %rhs : ~lhs",
    operands=(one("lhs", INDEX_LIKE), one("rhs", INDEX_LIKE)),
    results=(result("result", BOOL, I1),),
    attributes=(word("predicate", INTEGER_PREDICATES),),
    same=("lhs rhs",),
    traits="pure",
    fold=folding.compare_index,
    example="%c = index.cmp ult, %a, %b : index",
)
