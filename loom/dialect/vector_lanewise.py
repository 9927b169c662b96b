"""The lanewise half of the vector dialect: the twins of the scalar ops."""

from __future__ import annotations

from loom.dialect import folding, scalar
from loom.dialect.common import (
    FAST_MATH,
    FLOAT_PREDICATES,
    FLOAT_VECTOR,
    INTEGER_OR_INDEX_VECTOR,
    INTEGER_PREDICATES,
    INTEGER_VECTOR,
    MASK,
    OVERFLOW,
    VECTOR,
    attribute,
    define,
    flags,
    one,
    result,
    word,
)
from loom.dialect.rules import shapes, values

_FAST = flags("fastmath", FAST_MATH)


def _declare_lanewise() -> None:
    for table, extra in ((scalar.INTEGER_BINARY_WRAPPING, True), (scalar.INTEGER_BINARY, False)):
        for name, (tier, doc) in table.items():
            define(
                f"vector.{name}",
                tier,
                f"Lanewise. {doc}",
                ("(?<$overflow>?)" if extra else "") + " %lhs, %rhs : ~result",
                operands=(one("lhs", INTEGER_VECTOR), one("rhs", INTEGER_VECTOR)),
                results=(result("result", INTEGER_VECTOR, "lhs"),),
                attributes=(flags("overflow", OVERFLOW),) if extra else (),
                same=("result lhs rhs",),
                traits="pure commutative" if name in scalar.COMMUTATIVE else "pure",
                fold=folding.lanewise(name),
                example=f"%r = vector.{name} %a, %b : vector<4xi32>",
            )
    for name, (tier, doc) in scalar.INTEGER_UNARY.items():
        define(
            f"vector.{name}",
            tier,
            f"Lanewise. {doc}",
            " %operand : ~result",
            operands=(one("operand", INTEGER_VECTOR),),
            results=(result("result", INTEGER_VECTOR, "operand"),),
            same=("result operand",),
            traits="pure",
            fold=folding.lanewise(name),
            example=f"%r = vector.{name} %a : vector<4xi32>",
        )
    for name, constraint, flag, words, doc in (
        ("fmai", INTEGER_VECTOR, "overflow", OVERFLOW, "Lanewise integer a * b + c modulo 2^n."),
        ("fmaf", FLOAT_VECTOR, "fastmath", FAST_MATH, "Lanewise float a * b + c with one rounding."),
    ):
        define(
            f"vector.{name}",
            "A" if name == "fmaf" else "B",
            doc,
            f"(?<${flag}>?) %a, %b, %c : ~result",
            operands=(one("a", constraint), one("b", constraint), one("c", constraint)),
            results=(result("result", constraint, "a"),),
            attributes=(flags(flag, words),),
            same=("result a b c",),
            traits="pure",
            fold=folding.lanewise(name),
        )
    for name, (tier, doc) in scalar.FLOAT_BINARY.items():
        define(
            f"vector.{name}",
            tier,
            f"Lanewise. {doc}",
            "(?<$fastmath>?) %lhs, %rhs : ~result",
            operands=(one("lhs", FLOAT_VECTOR), one("rhs", FLOAT_VECTOR)),
            results=(result("result", FLOAT_VECTOR, "lhs"),),
            attributes=(_FAST,),
            same=("result lhs rhs",),
            traits="pure commutative" if name in scalar.COMMUTATIVE else "pure",
            fold=folding.lanewise(name),
            example=f"%r = vector.{name} %x, %y : vector<4xf32>",
        )
    for name, (tier, doc) in scalar.FLOAT_UNARY.items():
        define(
            f"vector.{name}",
            tier,
            f"Lanewise. {doc}",
            "(?<$fastmath>?) %operand : ~result",
            operands=(one("operand", FLOAT_VECTOR),),
            results=(result("result", FLOAT_VECTOR, "operand"),),
            attributes=(_FAST,),
            same=("result operand",),
            traits="pure",
            fold=folding.lanewise(name),
            example=f"%r = vector.{name}<afn> %x : vector<4xf32>",
        )
    define(
        "vector.clampf",
        "A",
        "Lanewise. The value held between two bounds.",
        "<$mode(?, $fastmath?)> %value, %lower, %upper : ~result",
        operands=(one("value", FLOAT_VECTOR), one("lower", FLOAT_VECTOR), one("upper", FLOAT_VECTOR)),
        results=(result("result", FLOAT_VECTOR, "value"),),
        attributes=(word("mode", scalar.CLAMP_MODES), _FAST),
        same=("result value lower upper",),
        traits="pure",
        fold=folding.clamp,
        example="%r = vector.clampf<ieee> %x, %lo, %hi : vector<4xf32>",
    )
    define(
        "vector.geluf",
        "B",
        "Lanewise. Gaussian error linear unit.",
        "<$form(?, $fastmath?)> %operand {} : ~result",
        operands=(one("operand", FLOAT_VECTOR),),
        results=(result("result", FLOAT_VECTOR, "operand"),),
        attributes=(word("form", scalar.GELU_FORMS), _FAST, attribute("scale", "float", optional=True)),
        same=("result operand",),
        traits="pure",
        verify=values.gelu,
        example="%r = vector.geluf<erf> %x : vector<4xf32>",
    )
    for name, constraint, predicates, fold in (
        ("cmpi", INTEGER_OR_INDEX_VECTOR, INTEGER_PREDICATES, folding.compare_integers),
        ("cmpf", FLOAT_VECTOR, FLOAT_PREDICATES, folding.compare_floats),
    ):
        define(
            f"vector.{name}",
            "A",
            "Lanewise comparison.",
            " $predicate, %lhs, %rhs : ~lhs -> ~result",
            operands=(one("lhs", constraint), one("rhs", constraint)),
            results=(result("result", MASK, shapes.mask_of("lhs")),),
            attributes=(word("predicate", predicates),),
            same=("lhs rhs",),
            traits="pure",
            fold=fold,
            verify=shapes.mask_result("lhs"),
        )
    for name, (tier, doc) in scalar.FLOAT_TESTS.items():
        define(
            f"vector.{name}",
            tier,
            f"Lanewise. {doc}",
            " %operand : ~operand -> ~result",
            operands=(one("operand", FLOAT_VECTOR),),
            results=(result("result", MASK, shapes.mask_of("operand")),),
            traits="pure",
            fold=folding.lanewise(name),
            verify=shapes.mask_result("operand"),
        )
    vectors = {"an integer": INTEGER_VECTOR, "a float": FLOAT_VECTOR, "an integer or float": VECTOR}
    for name, (source, target, doc) in scalar.CONVERSIONS.items():
        define(
            f"vector.{name}",
            "A",
            f"Lanewise. {doc}" if name != "bitcast" else "The same bits as another vector; lanes are little-endian.",
            " %operand : ~operand to ~result",
            operands=(one("operand", vectors[source.description]),),
            results=(result("result", vectors[target.description]),),
            traits="pure",
            fold=folding.convert(name),
            verify=values.conversion(name),
        )
    define(
        "vector.constant",
        "A",
        "A vector with the constant in every lane.",
        " $value : ~result",
        results=(result("result", VECTOR),),
        attributes=(attribute("value", "number"),),
        traits="pure constant",
        verify=values.scalar_constant,
        example="%c = vector.constant 0.0 : vector<8xf32>",
    )
    define(
        "vector.poison",
        "C",
        "A vector without meaning; it must be gone before lowering.",
        " : ~result",
        results=(result("result", VECTOR),),
        traits="pure",
        example="%p = vector.poison : vector<4xi32>",
    )


_declare_lanewise()
