"""The vector dialect: what only aggregates have. The lanewise twins of the scalar ops are in ``vector_lanewise``."""

from __future__ import annotations

from loom.dialect import folding
from loom.dialect.common import (
    ANY,
    ATOMIC_KINDS,
    BYTE_VECTOR,
    CACHE,
    COMBINING_KINDS,
    F32_VECTOR,
    FAST_MATH,
    FLOAT,
    FLOAT_VECTOR,
    HALF_VECTOR,
    INDEX_ONLY,
    INTEGER_OR_INDEX,
    INTEGER_OR_INDEX_VECTOR,
    INTEGER_VECTOR,
    MASK,
    ORDERINGS,
    SCALAR,
    SCHEMA,
    SCOPES,
    TRANSFORM,
    VECTOR,
    VIEW,
    WORD_VECTOR,
    attribute,
    define,
    flags,
    group,
    indices,
    integer,
    maybe,
    one,
    result,
    word,
)
from loom.dialect.rules import memory, shapes, values

DOT_SIGNS = ("s8s8", "u8s8", "s8u8", "u8u8")
DOT8_SIGNS = ("s4s4", "u4s4", "s4u4", "u4u4")
DOT_F8 = ("fp8fp8", "fp8bf8", "bf8fp8", "bf8bf8")
ROLES = ("lhs", "rhs", "init", "result")

_INDEX = group("indices", INDEX_ONLY)
_VOLATILE = flags("volatile", ("volatile",))
_FAST = flags("fastmath", FAST_MATH)


def _declare_shape() -> None:
    define(
        "vector.splat",
        "A",
        "A vector with the scalar in every lane.",
        " %scalar : ~result",
        operands=(one("scalar", SCALAR),),
        results=(result("result", VECTOR),),
        traits="pure",
        fold=folding.splat,
        verify=values.element_is("scalar"),
        example="%v = vector.splat %x : vector<4xf32>",
    )
    define(
        "vector.iota",
        "A",
        "Lane i = base + i * step, row-major.",
        " %base step %step : ~result",
        operands=(one("base", INTEGER_OR_INDEX), one("step", INTEGER_OR_INDEX)),
        results=(result("result", INTEGER_OR_INDEX_VECTOR),),
        same=("base step",),
        traits="pure",
        verify=values.element_is("base"),
        example="%v = vector.iota %zero step %one : vector<8xi32>",
    )
    define(
        "vector.from_elements",
        "A",
        "A vector of a static shape, lane by lane.",
        " %elements : ~result",
        operands=(group("elements", SCALAR),),
        results=(result("result", VECTOR),),
        traits="pure",
        verify=shapes.from_elements,
        example="%v = vector.from_elements %a, %b : vector<2xf32>",
    )
    define(
        "vector.extract",
        "A",
        "A lane, or the subvector behind fewer than rank indices.",
        " %vector[@indices] : ~vector -> ~result",
        operands=(one("vector", VECTOR), _INDEX),
        results=(result("result", ANY, shapes.extracted),),
        attributes=(indices(),),
        traits="pure",
        verify=shapes.extract,
        example="%x = vector.extract %v[0] : vector<4xf32> -> f32",
    )
    define(
        "vector.insert",
        "A",
        "The vector with a lane, or the subvector behind fewer than rank indices, replaced.",
        " %value into %vector[@indices] : ~value, ~vector",
        operands=(one("value"), one("vector", VECTOR), _INDEX),
        results=(result("result", VECTOR, "vector"),),
        attributes=(indices(),),
        traits="pure",
        verify=shapes.insert,
        example="%w = vector.insert %x into %v[%i] : f32, vector<4xf32>",
    )
    define(
        "vector.slice",
        "A",
        "A rank-preserving part of the vector, starting at the origin.",
        " %vector[@indices] : ~vector -> ~result",
        operands=(one("vector", VECTOR), _INDEX),
        results=(result("result", VECTOR),),
        attributes=(indices(),),
        traits="pure",
        verify=shapes.vector_slice,
        example="%s = vector.slice %v[4] : vector<8xf32> -> vector<4xf32>",
    )
    define(
        "vector.concat",
        "A",
        "The vectors one behind the other along an axis.",
        "<$axis> %vectors : ~vectors -> ~result",
        operands=(group("vectors", VECTOR),),
        results=(result("result", VECTOR),),
        attributes=(integer("axis", minimum=0),),
        traits="pure",
        verify=shapes.concat,
        example="%c = vector.concat<0> %a, %b : vector<2xf32>, vector<2xf32> -> vector<4xf32>",
    )
    define(
        "vector.shuffle",
        "A",
        "Lanes of one source, permuted or repeated.",
        "<$lanes> %vector : ~result",
        operands=(one("vector", VECTOR),),
        results=(result("result", VECTOR, "vector"),),
        attributes=(attribute("lanes", "ints"),),
        traits="pure",
        verify=shapes.shuffle,
        example="%s = vector.shuffle<[1, 0, 3, 2]> %v : vector<4xf32>",
    )
    define(
        "vector.transpose",
        "A",
        "Axes permuted: axis i of the result is axis perm[i] of the source.",
        "<$permutation> %vector : ~vector -> ~result",
        operands=(one("vector", VECTOR),),
        results=(result("result", VECTOR),),
        attributes=(attribute("permutation", "ints"),),
        traits="pure",
        verify=shapes.transpose,
        example="%t = vector.transpose<[1, 0]> %v : vector<2x4xf32> -> vector<4x2xf32>",
    )
    define(
        "vector.interleave",
        "A",
        "Lanes of two vectors in turn along an axis.",
        "<$axis> %even, %odd : ~even, ~odd -> ~result",
        operands=(one("even", VECTOR), one("odd", VECTOR)),
        results=(result("result", VECTOR),),
        attributes=(integer("axis", minimum=0),),
        same=("even odd",),
        traits="pure",
        verify=shapes.interleave,
        example="%i = vector.interleave<0> %a, %b : vector<4xf32>, vector<4xf32> -> vector<8xf32>",
    )
    define(
        "vector.deinterleave",
        "A",
        "The even and the odd lanes along an axis.",
        "<$axis> %vector : ~vector -> ~even, ~odd",
        operands=(one("vector", VECTOR),),
        results=(result("even", VECTOR), result("odd", VECTOR)),
        attributes=(integer("axis", minimum=0),),
        same=("even odd",),
        traits="pure",
        verify=shapes.deinterleave,
        example="%e, %o = vector.deinterleave<0> %v : vector<8xf32> -> vector<4xf32>, vector<4xf32>",
    )
    define(
        "vector.broadcast",
        "B",
        "The vector repeated along new leading axes and axes of extent one.",
        " %vector : ~vector -> ~result",
        operands=(one("vector", VECTOR),),
        results=(result("result", VECTOR),),
        traits="pure",
        verify=shapes.broadcast,
        example="%b = vector.broadcast %v : vector<4xf32> -> vector<2x4xf32>",
    )
    define(
        "vector.mask.range",
        "B",
        "Mask lane i = lower + i * step < upper, signed.",
        " [%lower to %upper step %step] : ~lower -> ~result",
        operands=(one("lower", INTEGER_OR_INDEX), one("upper", INTEGER_OR_INDEX), one("step", INTEGER_OR_INDEX)),
        results=(result("result", MASK),),
        same=("lower upper step",),
        traits="pure",
        example="%m = vector.mask.range [%i to %n step %one] : index -> vector<8xi1>",
    )
    define(
        "vector.empty",
        "B",
        "The vector without lanes.",
        " : ~result",
        results=(result("result", VECTOR),),
        traits="pure",
        verify=shapes.empty_vector,
        example="%v = vector.empty : vector<0xf32>",
    )
    define(
        "vector.select",
        "A",
        "Lanes of the first vector where the mask is set, else of the second.",
        " %mask, %true_value, %false_value : ~result",
        operands=(one("mask", MASK), one("true_value", VECTOR), one("false_value", VECTOR)),
        results=(result("result", VECTOR, "true_value"),),
        same=("result true_value false_value",),
        traits="pure",
        verify=shapes.mask_shape("mask", "true_value"),
        example="%r = vector.select %m, %a, %b : vector<4xf32>",
    )


def _declare_memory() -> None:
    define(
        "vector.load",
        "A",
        "Reads the vector's footprint from the origin on; vector axes are the trailing axes of the view.",
        "(?<$volatile>?) %view[@indices] {} : ~view -> ~result",
        operands=(one("view", VIEW), _INDEX),
        results=(result("result", VECTOR),),
        attributes=(_VOLATILE, indices(), *CACHE),
        traits="reads",
        verify=memory.vector_access("result"),
        example="%x = vector.load %v[%i] : view<64xf32> -> vector<4xf32>",
    )
    define(
        "vector.store",
        "A",
        "Writes the vector's footprint from the origin on.",
        "(?<$volatile>?) %value, %view[@indices] {} : ~value, ~view",
        operands=(one("value", VECTOR), one("view", VIEW), _INDEX),
        attributes=(_VOLATILE, indices(), *CACHE),
        traits="writes",
        verify=memory.vector_access("value"),
        example="vector.store %x, %v[%i] : vector<4xf32>, view<64xf32>",
    )
    for name, tier, doc in (
        ("load.mask", "A", "Reads the active lanes; the others come from the pass-through and touch no memory."),
        ("load.expand", "B", "Active lanes read consecutive elements; the others come from the pass-through."),
    ):
        define(
            f"vector.{name}",
            tier,
            doc,
            " %view[@indices], %mask, %passthrough {} : ~view, ~mask, ~passthrough",
            operands=(one("view", VIEW), _INDEX, one("mask", MASK), one("passthrough", VECTOR)),
            results=(result("result", VECTOR, "passthrough"),),
            attributes=(indices(), *CACHE),
            traits="reads",
            verify=memory.masked_access("passthrough"),
            example=f"%x = vector.{name} %v[%i], %m, %p : view<64xf32>, vector<4xi1>, vector<4xf32>",
        )
    for name, tier, doc in (
        ("store.mask", "A", "Writes the active lanes; the others touch no memory."),
        ("store.compress", "B", "Active lanes write consecutive elements."),
    ):
        define(
            f"vector.{name}",
            tier,
            doc,
            " %value, %view[@indices], %mask {} : ~value, ~view, ~mask",
            operands=(one("value", VECTOR), one("view", VIEW), _INDEX, one("mask", MASK)),
            attributes=(indices(), *CACHE),
            traits="writes",
            verify=memory.masked_access("value"),
            example=f"vector.{name} %x, %v[%i], %m : vector<4xf32>, view<64xf32>, vector<4xi1>",
        )
    offsets = one("offsets", INTEGER_OR_INDEX_VECTOR)
    define(
        "vector.gather",
        "A",
        "Reads one element a lane, at signed element offsets on the last axis.",
        " %view[@indices][%offsets] {} : ~view, ~offsets -> ~result",
        operands=(one("view", VIEW), _INDEX, offsets),
        results=(result("result", VECTOR),),
        attributes=(indices(), *CACHE),
        traits="reads",
        verify=memory.gather("result"),
        example="%x = vector.gather %v[%i][%o] : view<64xf32>, vector<4xindex> -> vector<4xf32>",
    )
    define(
        "vector.gather.mask",
        "B",
        "Gather of the active lanes; the others come from the pass-through.",
        " %view[@indices][%offsets], %mask, %passthrough {} : ~view, ~offsets, ~mask, ~passthrough",
        operands=(one("view", VIEW), _INDEX, offsets, one("mask", MASK), one("passthrough", VECTOR)),
        results=(result("result", VECTOR, "passthrough"),),
        attributes=(indices(), *CACHE),
        traits="reads",
        verify=memory.gather("passthrough"),
        example="%x = vector.gather.mask %v[%i][%o], %m, %p : view<64xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>",
    )
    define(
        "vector.scatter",
        "A",
        "Writes one element a lane; lanes must address distinct elements.",
        " %value, %view[@indices][%offsets] {} : ~value, ~view, ~offsets",
        operands=(one("value", VECTOR), one("view", VIEW), _INDEX, offsets),
        attributes=(indices(), *CACHE),
        traits="writes",
        verify=memory.gather("value"),
        example="vector.scatter %x, %v[%i][%o] : vector<4xf32>, view<64xf32>, vector<4xindex>",
    )
    define(
        "vector.scatter.mask",
        "B",
        "Scatter of the active lanes.",
        " %value, %view[@indices][%offsets], %mask {} : ~value, ~view, ~offsets, ~mask",
        operands=(one("value", VECTOR), one("view", VIEW), _INDEX, offsets, one("mask", MASK)),
        attributes=(indices(), *CACHE),
        traits="writes",
        verify=memory.gather("value"),
        example="vector.scatter.mask %x, %v[%i][%o], %m : vector<4xf32>, view<64xf32>, vector<4xindex>, vector<4xi1>",
    )
    order = (word("ordering", ORDERINGS), word("scope", SCOPES))
    kind = word("kind", ATOMIC_KINDS)
    for name, masked, fetch, doc in (
        ("reduce", False, False, "Each lane combines into its element atomically."),
        ("reduce.mask", True, False, "Each active lane combines into its element atomically."),
        ("rmw", False, True, "Each lane combines into its element atomically and gives the old element."),
        ("rmw.mask", True, True, "As rmw for the active lanes; the others come from the pass-through."),
    ):
        operands = [one("value", VECTOR), one("view", VIEW), _INDEX, offsets]
        text = "<$kind> %value, %view[@indices][%offsets]"
        types = "~value, ~view, ~offsets"
        if masked:
            operands.append(one("mask", MASK))
            text += ", %mask"
            types += ", ~mask"
            if fetch:
                operands.append(one("passthrough", VECTOR))
                text += ", %passthrough"
                types += ", ~passthrough"
        define(
            f"vector.atomic.{name}",
            "B",
            doc,
            f"{text} {{}} : {types}",
            operands=operands,
            results=(result("result", VECTOR, "value"),) if fetch else (),
            attributes=(kind, indices(), *order),
            same=("result value",) if fetch else (),
            traits="reads writes atomic",
            verify=memory.gather("value"),
        )
    define(
        "vector.atomic.cmpxchg",
        "B",
        "Each lane compares and exchanges its element atomically and gives the old element.",
        " %expected, %replacement, %view[@indices][%offsets] {} : ~expected, ~view, ~offsets -> ~result",
        operands=(one("expected", VECTOR), one("replacement", VECTOR), one("view", VIEW), _INDEX, offsets),
        results=(result("result", VECTOR, "expected"),),
        attributes=(
            indices(),
            word("failure_ordering", ORDERINGS),
            word("scope", SCOPES),
            word("success_ordering", ORDERINGS),
        ),
        same=("result expected replacement",),
        traits="reads writes atomic",
        verify=memory.gather("expected"),
    )


def _declare_arithmetic() -> None:
    kind = word("kind", COMBINING_KINDS)
    define(
        "vector.reduce",
        "A",
        "Combines all lanes into the initial value, in lane order unless `reassoc` is given.",
        "<$kind(?, $fastmath?)> %vector, %init : ~vector, ~init",
        operands=(one("vector", VECTOR), one("init", SCALAR)),
        results=(result("result", SCALAR, "init"),),
        attributes=(kind, _FAST),
        traits="pure",
        verify=shapes.reduce,
        example="%r = vector.reduce<addf, reassoc> %v, %zero : vector<8xf32>, f32",
    )
    define(
        "vector.reduce.axes",
        "A",
        "Combines the lanes along some axes into the initial vector.",
        "<$kind(?, $fastmath?)> %vector, %init axes $axes : ~vector, ~init",
        operands=(one("vector", VECTOR), one("init", ANY)),
        results=(result("result", ANY, "init"),),
        attributes=(kind, _FAST, attribute("axes", "ints")),
        traits="pure",
        verify=shapes.reduce_axes,
        example="%r = vector.reduce.axes<addf> %v, %init axes [0] : vector<4x8xf32>, vector<8xf32>",
    )
    define(
        "vector.table.lookup",
        "A",
        "Lanes of a table, chosen by index lanes.",
        " %table[%lanes] : ~table, ~lanes -> ~result",
        operands=(one("table", VECTOR), one("lanes", INTEGER_OR_INDEX_VECTOR)),
        results=(result("result", VECTOR),),
        traits="pure",
        verify=shapes.table_lookup,
        example="%r = vector.table.lookup %t[%i] : vector<16xf32>, vector<4xi32> -> vector<4xf32>",
    )
    define(
        "vector.table.quantize",
        "B",
        "For each lane the number of thresholds it passes.",
        " %vector, %thresholds {} : ~vector, ~thresholds -> ~result",
        operands=(one("vector", FLOAT_VECTOR), one("thresholds", FLOAT_VECTOR)),
        results=(result("result", INTEGER_VECTOR),),
        attributes=(word("nan", ("zero", "max")), word("tie", ("lower", "upper"))),
        traits="pure",
        example=(
            "%r = vector.table.quantize %x, %t {nan = zero, tie = lower} : vector<4xf32>, vector<15xf32> "
            "-> vector<4xi32>"
        ),
    )
    for name, doc in (
        ("bitpack", "The low bits of each lane as one little-endian bit stream."),
        ("bitunpacku", "Fields of a little-endian bit stream, zero-extended."),
        ("bitunpacks", "Fields of a little-endian bit stream, sign-extended."),
    ):
        define(
            f"vector.{name}",
            "A",
            doc,
            "<$width> %vector : ~vector -> ~result",
            operands=(one("vector", INTEGER_VECTOR),),
            results=(result("result", INTEGER_VECTOR),),
            attributes=(integer("width", minimum=1, maximum=64),),
            traits="pure",
            verify=shapes.bit_stream(name),
            example=f"%r = vector.{name}<4> %v : "
            + ("vector<8xi8> -> vector<1xi32>" if name == "bitpack" else "vector<1xi32> -> vector<8xi8>"),
        )
    field = (integer("offset", minimum=0, maximum=63), integer("width", minimum=1, maximum=64))
    for name, doc in (("extractu", "zero-extended"), ("extracts", "sign-extended")):
        define(
            f"vector.bitfield.{name}",
            "B",
            f"A bit field of each lane, {doc}.",
            " %vector {} : ~vector -> ~result",
            operands=(one("vector", INTEGER_VECTOR),),
            results=(result("result", INTEGER_VECTOR),),
            attributes=field,
            traits="pure",
            verify=shapes.bit_field,
            example=f"%r = vector.bitfield.{name} %v {{offset = 4, width = 3}} : vector<4xi32> -> vector<4xi32>",
        )
    define(
        "vector.bitfield.insert",
        "B",
        "Each lane of the base with a bit field replaced.",
        " %field into %base {} : ~field, ~base",
        operands=(one("field", INTEGER_VECTOR), one("base", INTEGER_VECTOR)),
        results=(result("result", INTEGER_VECTOR, "base"),),
        attributes=field,
        traits="pure",
        verify=shapes.bit_field,
        example="%r = vector.bitfield.insert %f into %b {offset = 4, width = 3} : vector<4xi32>, vector<4xi32>",
    )
    define(
        "vector.dotf",
        "A",
        "Dot product by fused multiply-adds in lane order.",
        "(?<$fastmath>?) %lhs, %rhs, %init : ~lhs, ~rhs, ~init",
        operands=(one("lhs", FLOAT_VECTOR), one("rhs", FLOAT_VECTOR), one("init", FLOAT)),
        results=(result("result", FLOAT, "init"),),
        attributes=(_FAST,),
        same=("lhs rhs",),
        traits="pure",
        verify=shapes.dot,
        example="%r = vector.dotf %a, %b, %zero : vector<8xf32>, vector<8xf32>, f32",
    )
    for name, tier, signs, operand, accumulator, ratio, doc in (
        ("dot2f", "A", (), HALF_VECTOR, F32_VECTOR, 2, "Each result lane adds two products of 16-bit floats in f32."),
        (
            "dot4i",
            "A",
            DOT_SIGNS,
            BYTE_VECTOR,
            WORD_VECTOR,
            4,
            "Each result lane adds four products of bytes, modulo 2^32.",
        ),
        (
            "dot8i4",
            "A",
            DOT8_SIGNS,
            WORD_VECTOR,
            WORD_VECTOR,
            1,
            "Each result lane adds eight products of packed nibbles.",
        ),
        (
            "dot4f8",
            "B",
            DOT_F8,
            WORD_VECTOR,
            F32_VECTOR,
            1,
            "Each result lane adds four products of packed 8-bit floats.",
        ),
    ):
        tail = "~result" if name == "dot8i4" else "~lhs, ~acc" if name == "dot4f8" else "~lhs, ~rhs, ~acc"
        define(
            f"vector.{name}",
            tier,
            doc,
            f"{'<$signs>' if signs else ''} %lhs, %rhs, %acc : {tail}",
            operands=(one("lhs", operand), one("rhs", operand), one("acc", accumulator)),
            results=(result("result", accumulator, "acc"),),
            attributes=(word("signs", signs),) if signs else (),
            same=("lhs rhs", "result acc"),
            traits="pure",
            verify=shapes.packed_dot(ratio),
        )


def _declare_fragments() -> None:
    role = word("role", ROLES)
    define(
        "vector.fragment",
        "A",
        "Gives a payload its matrix role: lhs is [m, k], rhs [k, n], init and result [m, n].",
        "<$role> %vector shape [(?blocks(%blocks), ?)%rows, %columns](? using !keyed?)(? where [$where]?) : ~result",
        operands=(
            one("vector", VECTOR),
            maybe("blocks", INDEX_ONLY),
            one("rows", INDEX_ONLY),
            one("columns", INDEX_ONLY),
            group("auxiliary"),
        ),
        results=(result("result", VECTOR, "vector"),),
        attributes=(
            role,
            attribute("auxiliary_keys", "words", optional=True),
            attribute("where", "predicates", optional=True),
        ),
        same=("result vector",),
        traits="pure",
        verify=values.keyed,
        example="%f = vector.fragment<init> %v shape [%m, %n] : vector<8xf32>",
    )
    define(
        "vector.fragment.load",
        "A",
        "Wave-collective load of a view tile into per-lane payloads.",
        "<$role> %view[@indices] shape [%rows, %columns](? using !keyed?) {} : ~view -> ~result",
        operands=(one("view", VIEW), _INDEX, one("rows", INDEX_ONLY), one("columns", INDEX_ONLY), group("auxiliary")),
        results=(result("result", VECTOR),),
        attributes=(role, indices(), attribute("auxiliary_keys", "words", optional=True), *CACHE),
        traits="reads convergent",
        verify=memory.fragment_access,
        example="%f = vector.fragment.load<lhs> %v[0, %k] shape [%m, %k16] : view<16x32xf16> -> vector<16xf16>",
    )
    define(
        "vector.fragment.store",
        "A",
        "Wave-collective store of per-lane payloads into a view tile; the element type may be converted.",
        "<$role> %value, %view[@indices] shape [%rows, %columns] {} : ~value, ~view",
        operands=(one("value", VECTOR), one("view", VIEW), _INDEX, one("rows", INDEX_ONLY), one("columns", INDEX_ONLY)),
        attributes=(role, indices(), *CACHE),
        traits="writes convergent",
        verify=memory.fragment_access,
        example="vector.fragment.store<result> %f, %v[0, 0] shape [%m, %n] : vector<8xf32>, view<16x16xf32>",
    )
    define(
        "vector.fragment.repack",
        "A",
        "A result fragment as an operand fragment, in registers.",
        "<$role> %vector shape [%rows, %columns] : ~vector -> ~result",
        operands=(one("vector", VECTOR), one("rows", INDEX_ONLY), one("columns", INDEX_ONLY)),
        results=(result("result", VECTOR),),
        attributes=(role,),
        traits="pure convergent",
        example="%f = vector.fragment.repack<lhs> %acc shape [%m, %k] : vector<8xf32> -> vector<16xbf16>",
    )
    define(
        "vector.mma",
        "A",
        "D = A * B + C over matrix fragments.",
        "(?<$saturate>?) %lhs, %rhs, %init : ~lhs, ~rhs, ~init",
        operands=(one("lhs", VECTOR), one("rhs", VECTOR), one("init", VECTOR)),
        results=(result("result", VECTOR, "init"),),
        attributes=(flags("saturate", ("saturate",)),),
        traits="pure convergent",
        verify=shapes.matrix_multiply,
        example="%d = vector.mma %a, %b, %c : vector<16xf16>, vector<16xf16>, vector<8xf32>",
    )
    for name, doc in (
        ("decode", "The numbers that an encoded payload stands for."),
        ("encode", "Numbers encoded by a schema: round to nearest even, saturate."),
    ):
        define(
            f"vector.{name}",
            "A",
            doc,
            " %payload using %schema(? !keyed?) : ~payload, ~schema -> ~result",
            operands=(one("payload", VECTOR), one("schema", SCHEMA), group("auxiliary")),
            results=(result("result", VECTOR),),
            attributes=(attribute("auxiliary_keys", "words", optional=True),),
            traits="pure",
            verify=values.keyed,
            example=(
                f"%r = vector.{name} %p using %s {{scale = %v : vector<1xi32>}} : vector<4xi32>, "
                "encoding<schema> -> vector<16xf32>"
            ),
        )
    define(
        "vector.transform",
        "B",
        "A transform of the vector described by an encoding.",
        " %vector, %transform : ~vector, ~transform -> ~result",
        operands=(one("vector", VECTOR), one("transform", TRANSFORM)),
        results=(result("result", VECTOR),),
        same=("vector result",),
        traits="pure",
        example="%r = vector.transform %v, %t : vector<8xf32>, encoding<transform> -> vector<8xf32>",
    )


_declare_shape()
_declare_memory()
_declare_arithmetic()
_declare_fragments()
