"""The encoding dialect: compile-time descriptions of layouts, schemas and transforms."""

from __future__ import annotations

from loom.dialect.common import ENCODING, INDEX_ONLY, LAYOUT, attribute, define, group, indices, one, result
from loom.dialect.rules import values
from loom.ir import I1, EncodingType

_LAYOUT = EncodingType("layout")

define(
    "encoding.layout.dense",
    "A",
    "The row-major layout.",
    " : ~result",
    results=(result("result", LAYOUT, _LAYOUT),),
    traits="pure",
    example="%l = encoding.layout.dense : encoding<layout>",
)
define(
    "encoding.layout.strided",
    "A",
    "The layout with an element stride for each axis.",
    " [@strides] : ~result",
    operands=(group("strides", INDEX_ONLY),),
    results=(result("result", LAYOUT, _LAYOUT),),
    attributes=(indices("strides"),),
    traits="pure",
    example="%l = encoding.layout.strided [1, %ld] : encoding<layout>",
)
define(
    "encoding.define",
    "A",
    "A descriptor value of an encoding family, with the values its parameters take at run time.",
    " $encoding(? !keyed?) : ~result",
    operands=(group("auxiliary"),),
    results=(result("result", ENCODING),),
    attributes=(attribute("encoding", "encoding"), attribute("auxiliary_keys", "words", optional=True)),
    traits="pure",
    verify=values.encoding_definition,
    example=(
        "%s = encoding.define #matrix_operand<element_format=i8, payload_elements=16, "
        "payload_registers=4> : encoding<schema>"
    ),
)
define(
    "encoding.assume.spec",
    "B",
    "The encoding with its static description asserted.",
    " %operand, $encoding : ~result",
    operands=(one("operand", ENCODING),),
    results=(result("result", ENCODING, "operand"),),
    attributes=(attribute("encoding", "encoding"),),
    same=("result operand",),
    traits="pure",
    example="%t = encoding.assume.spec %s, #q8_0<block=32> : encoding<schema>",
)
define(
    "encoding.isa",
    "C",
    "Whether the encoding belongs to the category.",
    " %operand, $category : ~operand",
    operands=(one("operand", ENCODING),),
    results=(result("result", infer=I1),),
    attributes=(attribute("category", "bare"),),
    traits="pure",
    example="%c = encoding.isa %e, dense : encoding",
)
define(
    "encoding.layout.assume.dense",
    "C",
    "The layout with the fact that it is dense.",
    " %operand : ~result",
    operands=(one("operand", LAYOUT),),
    results=(result("result", LAYOUT, "operand"),),
    same=("result operand",),
    traits="pure",
    example="%m = encoding.layout.assume.dense %l : encoding<layout>",
)
define(
    "encoding.layout.assume.strided",
    "C",
    "The layout with the fact that it has these strides.",
    " %operand [@strides] : ~result",
    operands=(one("operand", LAYOUT), group("strides", INDEX_ONLY)),
    results=(result("result", LAYOUT, "operand"),),
    attributes=(indices("strides"),),
    same=("result operand",),
    traits="pure",
    example="%m = encoding.layout.assume.strided %l [1, %ld] : encoding<layout>",
)
