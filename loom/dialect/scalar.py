"""The scalar dialect, and the tables that the lanewise half of the vector dialect shares."""

from __future__ import annotations

from loom.dialect import folding
from loom.dialect.common import (
    ARITHMETIC,
    BOOL,
    FAST_MATH,
    FLOAT,
    FLOAT_PREDICATES,
    INTEGER,
    INTEGER_PREDICATES,
    OVERFLOW,
    SCALAR,
    attribute,
    define,
    flags,
    group,
    one,
    result,
    results,
    word,
)
from loom.dialect.rules import values
from loom.ir import I1

# name → (tier, meaning). One table a form; the vector dialect declares the lanewise twin of every row.
INTEGER_BINARY_WRAPPING = {
    "addi": ("A", "Sum modulo 2^n."),
    "subi": ("A", "Difference modulo 2^n."),
    "muli": ("A", "Product modulo 2^n."),
    "shli": ("A", "Left shift; a count of the bit width or more has no defined result."),
}
INTEGER_BINARY = {
    "divsi": ("A", "Signed quotient, rounded toward zero."),
    "divui": ("A", "Unsigned quotient."),
    "remsi": ("A", "Signed remainder; it has the dividend's sign."),
    "remui": ("A", "Unsigned remainder."),
    "ceildivsi": ("A", "Signed quotient, rounded up."),
    "ceildivui": ("A", "Unsigned quotient, rounded up."),
    "floordivsi": ("A", "Signed quotient, rounded down."),
    "minsi": ("A", "Signed minimum."),
    "maxsi": ("A", "Signed maximum."),
    "minui": ("A", "Unsigned minimum."),
    "maxui": ("A", "Unsigned maximum."),
    "andi": ("A", "Bitwise and."),
    "ori": ("A", "Bitwise or."),
    "xori": ("A", "Bitwise exclusive or."),
    "shrsi": ("A", "Arithmetic right shift."),
    "shrui": ("A", "Logical right shift."),
    "rotli": ("B", "Rotate left; the count is taken modulo the bit width."),
    "rotri": ("B", "Rotate right; the count is taken modulo the bit width."),
}
INTEGER_UNARY = {
    "negi": ("A", "Negation modulo 2^n."),
    "absi": ("A", "Absolute value; the least value maps to itself."),
    "ctlzi": ("B", "Number of leading zero bits; the bit width for zero."),
    "cttzi": ("B", "Number of trailing zero bits; the bit width for zero."),
    "ctpopi": ("B", "Number of one bits."),
    "signi": ("B", "-1, 0 or 1, as the signed value is negative, zero or positive."),
}
FLOAT_BINARY = {
    "addf": ("A", "Sum."),
    "subf": ("A", "Difference."),
    "mulf": ("A", "Product."),
    "divf": ("A", "Quotient."),
    "minimumf": ("A", "Minimum; propagates NaN, -0 is less than +0."),
    "maximumf": ("A", "Maximum; propagates NaN, -0 is less than +0."),
    "minnumf": ("A", "Minimum; one NaN is ignored."),
    "maxnumf": ("A", "Maximum; one NaN is ignored."),
    "remf": ("B", "Remainder of the quotient rounded toward zero (C fmod)."),
    "powf": ("B", "The first operand to the power of the second."),
    "copysignf": ("B", "Magnitude of the first operand, sign of the second."),
    "atan2f": ("C", "Angle of the point (second, first)."),
}
FLOAT_UNARY = {
    "negf": ("A", "Sign flipped."),
    "absf": ("A", "Sign cleared."),
    "sqrtf": ("A", "Square root."),
    "expf": ("A", "e^x."),
    "logisticf": ("A", "1 / (1 + e^-x)."),
    "siluf": ("A", "x * logistic(x)."),
    "ceilf": ("A", "Rounded up to an integer."),
    "floorf": ("A", "Rounded down to an integer."),
    "roundf": ("A", "Rounded to the nearest integer, ties away from zero."),
    "roundevenf": ("A", "Rounded to the nearest integer, ties to even."),
    "truncf": ("A", "Rounded toward zero to an integer."),
    "exp2f": ("B", "2^x."),
    "logf": ("B", "Natural logarithm."),
    "log2f": ("B", "Logarithm to base 2."),
    "log10f": ("B", "Logarithm to base 10."),
    "log1pf": ("B", "log(1 + x)."),
    "expm1f": ("B", "e^x - 1."),
    "rsqrtf": ("B", "1 / sqrt(x)."),
    "sinf": ("B", "Sine."),
    "cosf": ("B", "Cosine."),
    "tanhf": ("B", "Hyperbolic tangent."),
    "erff": ("B", "Error function."),
    "sinturnsf": ("B", "sin(2 pi x)."),
    "costurnsf": ("B", "cos(2 pi x)."),
    "softplusf": ("B", "log(1 + e^x)."),
    "signf": ("B", "-1, a zero or 1, as the value is negative, a zero or positive."),
    "cbrtf": ("C", "Cube root."),
    "tanf": ("C", "Tangent."),
    "asinf": ("C", "Arc sine."),
    "acosf": ("C", "Arc cosine."),
    "atanf": ("C", "Arc tangent."),
    "sinhf": ("C", "Hyperbolic sine."),
    "coshf": ("C", "Hyperbolic cosine."),
    "asinhf": ("C", "Inverse hyperbolic sine."),
    "acoshf": ("C", "Inverse hyperbolic cosine."),
    "atanhf": ("C", "Inverse hyperbolic tangent."),
    "erfcf": ("C", "1 - erf(x)."),
}
FLOAT_TESTS = {
    "isnanf": ("B", "Whether the value is a NaN."),
    "isinff": ("B", "Whether the value is an infinity."),
    "isfinitef": ("B", "Whether the value is neither NaN nor infinite."),
}
# name → (operand constraint, result constraint, meaning)
CONVERSIONS = {
    "sitofp": (INTEGER, FLOAT, "Signed integer to float, rounded to nearest even."),
    "uitofp": (INTEGER, FLOAT, "Unsigned integer to float, rounded to nearest even."),
    "fptosi": (FLOAT, INTEGER, "Float to signed integer, truncated; out of range has no defined value."),
    "fptoui": (FLOAT, INTEGER, "Float to unsigned integer, truncated; out of range has no defined value."),
    "extf": (FLOAT, FLOAT, "Float to a wider float, exact."),
    "fptrunc": (FLOAT, FLOAT, "Float to a narrower float, rounded to nearest even; f8E4M3 saturates."),
    "extsi": (INTEGER, INTEGER, "Sign extension."),
    "extui": (INTEGER, INTEGER, "Zero extension."),
    "trunci": (INTEGER, INTEGER, "The low bits."),
    "bitcast": (ARITHMETIC, ARITHMETIC, "The same bits as another type of the same width."),
}
CLAMP_MODES = ("ordered", "number", "ieee")
GELU_FORMS = ("erf", "tanh", "logistic")
COMMUTATIVE = frozenset(
    (
        "addi",
        "muli",
        "minsi",
        "maxsi",
        "minui",
        "maxui",
        "andi",
        "ori",
        "xori",
        "addf",
        "mulf",
        "minimumf",
        "maximumf",
        "minnumf",
        "maxnumf",
    )
)

_BINARY = "%lhs, %rhs : ~result"


def _traits(name: str) -> str:
    return "pure commutative" if name in COMMUTATIVE else "pure"


def _declare() -> None:
    for table, extra in ((INTEGER_BINARY_WRAPPING, True), (INTEGER_BINARY, False)):
        for name, (tier, doc) in table.items():
            define(
                f"scalar.{name}",
                tier,
                doc,
                ("(?<$overflow>?) " if extra else " ") + _BINARY,
                operands=(one("lhs", INTEGER), one("rhs", INTEGER)),
                results=(result("result", INTEGER, "lhs"),),
                attributes=(flags("overflow", OVERFLOW),) if extra else (),
                same=("result lhs rhs",),
                traits=_traits(name),
                fold=folding.lanewise(name),
                example=f"%r = scalar.{name} %a, %b : i32",
            )
    for name, (tier, doc) in INTEGER_UNARY.items():
        define(
            f"scalar.{name}",
            tier,
            doc,
            " %operand : ~result",
            operands=(one("operand", INTEGER),),
            results=(result("result", INTEGER, "operand"),),
            same=("result operand",),
            traits="pure",
            fold=folding.lanewise(name),
            example=f"%r = scalar.{name} %a : i32",
        )
    define(
        "scalar.fmai",
        "B",
        "Integer a * b + c modulo 2^n.",
        "(?<$overflow>?) %a, %b, %c : ~result",
        operands=(one("a", INTEGER), one("b", INTEGER), one("c", INTEGER)),
        results=(result("result", INTEGER, "a"),),
        attributes=(flags("overflow", OVERFLOW),),
        same=("result a b c",),
        traits="pure",
        fold=folding.lanewise("fmai"),
        example="%r = scalar.fmai %a, %b, %c : i32",
    )
    for name, (tier, doc) in FLOAT_BINARY.items():
        define(
            f"scalar.{name}",
            tier,
            doc,
            "(?<$fastmath>?) " + _BINARY,
            operands=(one("lhs", FLOAT), one("rhs", FLOAT)),
            results=(result("result", FLOAT, "lhs"),),
            attributes=(flags("fastmath", FAST_MATH),),
            same=("result lhs rhs",),
            traits=_traits(name),
            fold=folding.lanewise(name),
            example=f"%r = scalar.{name}<nnan|nsz> %x, %y : f32",
        )
    for name, (tier, doc) in FLOAT_UNARY.items():
        define(
            f"scalar.{name}",
            tier,
            doc,
            "(?<$fastmath>?) %operand : ~result",
            operands=(one("operand", FLOAT),),
            results=(result("result", FLOAT, "operand"),),
            attributes=(flags("fastmath", FAST_MATH),),
            same=("result operand",),
            traits="pure",
            fold=folding.lanewise(name),
            example=f"%r = scalar.{name} %x : f32",
        )
    define(
        "scalar.fmaf",
        "A",
        "Float a * b + c with one rounding.",
        "(?<$fastmath>?) %a, %b, %c : ~result",
        operands=(one("a", FLOAT), one("b", FLOAT), one("c", FLOAT)),
        results=(result("result", FLOAT, "a"),),
        attributes=(flags("fastmath", FAST_MATH),),
        same=("result a b c",),
        traits="pure",
        fold=folding.lanewise("fmaf"),
        example="%r = scalar.fmaf %x, %y, %z : f32",
    )
    define(
        "scalar.clampf",
        "A",
        "The value held between two bounds: `ordered` by compare and select, `number` by minnum and "
        "maxnum, `ieee` propagating NaN.",
        "<$mode(?, $fastmath?)> %value, %lower, %upper : ~result",
        operands=(one("value", FLOAT), one("lower", FLOAT), one("upper", FLOAT)),
        results=(result("result", FLOAT, "value"),),
        attributes=(word("mode", CLAMP_MODES), flags("fastmath", FAST_MATH)),
        same=("result value lower upper",),
        traits="pure",
        fold=folding.clamp,
        example="%r = scalar.clampf<number> %x, %lo, %hi : f32",
    )
    define(
        "scalar.geluf",
        "B",
        "Gaussian error linear unit: `erf` exact, `tanh` approximation, `logistic` x * logistic(scale * x).",
        "<$form(?, $fastmath?)> %operand {} : ~result",
        operands=(one("operand", FLOAT),),
        results=(result("result", FLOAT, "operand"),),
        attributes=(word("form", GELU_FORMS), flags("fastmath", FAST_MATH), attribute("scale", "float", optional=True)),
        same=("result operand",),
        traits="pure",
        verify=values.gelu,
        example="%r = scalar.geluf<logistic> %x {scale = 1.702} : f32",
    )
    define(
        "scalar.cmpi",
        "A",
        "Integer comparison.",
        " $predicate, %lhs, %rhs : ~lhs",
        operands=(one("lhs", INTEGER), one("rhs", INTEGER)),
        results=(result("result", BOOL, I1),),
        attributes=(word("predicate", INTEGER_PREDICATES),),
        same=("lhs rhs",),
        traits="pure",
        fold=folding.compare_integers,
        example="%c = scalar.cmpi slt, %a, %b : i32",
    )
    define(
        "scalar.cmpf",
        "A",
        "Float comparison; `o…` predicates are false and `u…` true when an operand is NaN.",
        "(?<$fastmath>?) $predicate, %lhs, %rhs : ~lhs",
        operands=(one("lhs", FLOAT), one("rhs", FLOAT)),
        results=(result("result", BOOL, I1),),
        attributes=(word("predicate", FLOAT_PREDICATES), flags("fastmath", FAST_MATH)),
        same=("lhs rhs",),
        traits="pure",
        fold=folding.compare_floats,
        example="%c = scalar.cmpf olt, %x, %y : f32",
    )
    for name, (tier, doc) in FLOAT_TESTS.items():
        define(
            f"scalar.{name}",
            tier,
            doc,
            " %operand : ~operand",
            operands=(one("operand", FLOAT),),
            results=(result("result", BOOL, I1),),
            traits="pure",
            fold=folding.lanewise(name),
            example=f"%c = scalar.{name} %x : f32",
        )
    for name, (source, target, doc) in CONVERSIONS.items():
        define(
            f"scalar.{name}",
            "A",
            doc,
            " %operand : ~operand to ~result",
            operands=(one("operand", source),),
            results=(result("result", target),),
            traits="pure",
            fold=folding.convert(name),
            verify=values.conversion(name),
        )
    define(
        "scalar.constant",
        "A",
        "A constant; `true` and `false` for i1, `inf` and `nan` for floats. Not for index and offset.",
        " $value : ~result",
        results=(result("result", ARITHMETIC),),
        attributes=(attribute("value", "number"),),
        traits="pure constant",
        verify=values.scalar_constant,
        example="%c = scalar.constant 1.0 : f32",
    )
    define(
        "scalar.assume",
        "A",
        "Identity that states facts about its operands; a wrong fact is undefined behaviour.",
        " %values [$predicates] : ~results",
        operands=(group("values", SCALAR), group("bounds", SCALAR)),
        results=(results("results", SCALAR, infer=values.assume_results),),
        attributes=(attribute("predicates", "predicates"),),
        traits="pure",
        verify=values.assume,
        example="%b = scalar.assume %a [range(%a, 0, 63)] : i32",
    )
    define(
        "scalar.poison",
        "C",
        "A value without meaning; it must be gone before lowering.",
        " : ~result",
        results=(result("result", SCALAR),),
        traits="pure",
        example="%p = scalar.poison : i32",
    )


_declare()
