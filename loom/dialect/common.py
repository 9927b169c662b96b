"""What the declarations of all dialects share: type constraints, enum words, and short constructors.

A declaration's ``format`` is a picture of the text behind the op name. In it ``%x`` stands for an operand (a group:
comma separated), ``~x`` for the type of an operand or result, ``$x`` for an attribute's value, ``@x`` for the inside
of a mixed index list, ``^0`` for a successor, ``&x`` for a region, ``{}`` for the dictionary of the attributes that
appear nowhere else (``{=}``: in declaration order), ``!name(arguments)`` for a construct with code of its own,
``(?…?)`` for an optional part. Everything else stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from loom.ir import (
    BUFFER,
    I1,
    I32,
    I64,
    INDEX,
    OFFSET,
    Attribute,
    EncodingType,
    FloatType,
    IndexType,
    IntegerType,
    OffsetType,
    OpaqueType,
    RegisterType,
    ScalarType,
    StorageType,
    TensorType,
    Type,
    VectorType,
    ViewType,
)
from loom.ir.definition import (
    AttributeDef,
    Inference,
    OpDefinition,
    OperandDef,
    RegionDef,
    ResultDef,
    TypeConstraint,
)
from loom.ir.registry import register_operation


def _instance(description: str, *classes: type[Type]) -> TypeConstraint:
    return TypeConstraint(description, lambda t: isinstance(t, classes))


def exactly(*types: Type) -> TypeConstraint:
    """The constraint that admits just these types."""
    return TypeConstraint(" or ".join(f"'{t}'" for t in types), lambda t: t in types)


def vector_of(description: str, accepts: Callable[[Type], bool]) -> TypeConstraint:
    """The constraint that admits vectors whose element type ``accepts`` takes."""
    return TypeConstraint(description, lambda t: isinstance(t, VectorType) and accepts(t.element))


ANY = TypeConstraint("any type", lambda t: True)
INTEGER = _instance("an integer", IntegerType)
FLOAT = _instance("a float", FloatType)
ARITHMETIC = _instance("an integer or float", IntegerType, FloatType)
SCALAR = _instance("a scalar", ScalarType)
INDEX_LIKE = _instance("'index' or 'offset'", IndexType, OffsetType)
INDEX_ONLY = exactly(INDEX)
OFFSET_ONLY = exactly(OFFSET)
INTEGER_OR_INDEX = _instance("an integer or 'index'", IntegerType, IndexType)
BOOL = exactly(I1)
WORD32 = exactly(I32)
WORD64 = exactly(I64)
MASK_WORD = exactly(I32, I64)
BUFFER_ONLY = exactly(BUFFER)
VIEW = _instance("a view", ViewType)
VECTOR = _instance("a vector", VectorType)
VIEW_ELEMENT = TypeConstraint("a fixed-width scalar", lambda t: isinstance(t, IntegerType | FloatType))
INTEGER_VECTOR = vector_of("a vector of integers", lambda e: isinstance(e, IntegerType))
INTEGER_OR_INDEX_VECTOR = vector_of("a vector of integers or 'index'", lambda e: isinstance(e, IntegerType | IndexType))
FLOAT_VECTOR = vector_of("a vector of floats", lambda e: isinstance(e, FloatType))
MASK = vector_of("a vector of 'i1'", lambda e: e is I1)
BYTE_VECTOR = vector_of("a vector of 'i8'", lambda e: isinstance(e, IntegerType) and e.width == 8)
WORD_VECTOR = vector_of("a vector of 'i32'", lambda e: e is I32)
F32_VECTOR = vector_of("a vector of 'f32'", lambda e: isinstance(e, FloatType) and e.name == "f32")
HALF_VECTOR = vector_of("a vector of 'f16' or 'bf16'", lambda e: isinstance(e, FloatType) and e.name in ("f16", "bf16"))
LANES = TypeConstraint(
    "a scalar or rank-1 vector", lambda t: isinstance(t, ScalarType) or (isinstance(t, VectorType) and t.rank == 1)
)
TENSOR = _instance("a tensor", TensorType)
CHECK_VALUE = _instance("a scalar or tensor", ScalarType, TensorType)
ENCODING = _instance("an encoding", EncodingType)
SCHEMA = TypeConstraint("'encoding<schema>'", lambda t: isinstance(t, EncodingType) and t.role in (None, "schema"))
TRANSFORM = TypeConstraint(
    "'encoding<transform>'", lambda t: isinstance(t, EncodingType) and t.role in (None, "transform")
)
LAYOUT = TypeConstraint("'encoding<layout>'", lambda t: isinstance(t, EncodingType) and t.role in (None, "layout"))
REGISTER = _instance("a register", RegisterType)
STORAGE = _instance("a Low storage", StorageType)
ASYNC_TOKEN = exactly(OpaqueType("kernel.async.token"))
ASYNC_GROUP = exactly(OpaqueType("kernel.async.group"))
ENTROPY = exactly(OpaqueType("check.entropy"))
LDS_DESCRIPTOR = exactly(OpaqueType("kernel.tensor.lds.descriptor"))

FAST_MATH = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast")
OVERFLOW = ("nuw", "nsw")
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
)  # fmt: skip
INTEGER_KINDS = ("addi", "muli", "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori")
FLOAT_KINDS = ("addf", "mulf", "minimumf", "maximumf", "minnumf", "maxnumf")
COMBINING_KINDS = (*INTEGER_KINDS, *FLOAT_KINDS)
ATOMIC_INTEGER_KINDS = ("xchgi", "addi", "subi", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
ATOMIC_FLOAT_KINDS = ("xchgf", "addf", "minimumf", "maximumf", "minnumf", "maxnumf")
ATOMIC_KINDS = (*ATOMIC_INTEGER_KINDS, *ATOMIC_FLOAT_KINDS)
ORDERINGS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
SCOPES = ("thread", "subgroup", "workgroup", "device", "system")
MEMORY_SPACES = ("unknown", "global", "workgroup", "private", "constant", "host", "descriptor", "generic")
CACHE_SCOPES = ("cu", "se", "device", "system")
CACHE_TEMPORAL = (
    "regular", "non_temporal", "high_temporal", "last_use", "writeback", "non_temporal_regular",
    "regular_non_temporal", "non_temporal_high_temporal", "non_temporal_writeback", "bypass",
)  # fmt: skip
AXES = ("x", "y", "z")
ABI_KINDS = (
    "unknown", "object_function", "hal_kernel", "vm_module_function", "shader_entry_point", "wasm_function",
    "command_program",
)  # fmt: skip


def one(name: str, constraint: TypeConstraint = ANY) -> OperandDef:
    """An operand that is always there."""
    return OperandDef(name, constraint)


def maybe(name: str, constraint: TypeConstraint = ANY) -> OperandDef:
    """An operand that may be absent."""
    return OperandDef(name, constraint, "optional")


def group(name: str, constraint: TypeConstraint = ANY) -> OperandDef:
    """A group of any number of operands."""
    return OperandDef(name, constraint, "any")


def result(name: str, constraint: TypeConstraint = ANY, infer: Inference | None = None) -> ResultDef:
    """A result that is always there."""
    return ResultDef(name, constraint, "one", infer)


def results(name: str = "results", constraint: TypeConstraint = ANY, infer: Inference | None = None) -> ResultDef:
    """A group of any number of results."""
    return ResultDef(name, constraint, "any", infer)


def word(name: str, words: Sequence[str], *, optional: bool = False, default: Attribute = None) -> AttributeDef:
    """An enum attribute."""
    return AttributeDef(name, "word", optional or default is not None, tuple(words), default)


def flags(name: str, words: Sequence[str]) -> AttributeDef:
    """An optional set of flags, written ``a|b``; a tuple of words."""
    return AttributeDef(name, "flags", True, tuple(words))


def integer(
    name: str,
    *,
    optional: bool = False,
    default: Attribute = None,
    minimum: int | None = None,
    maximum: int | None = None,
    power_of_two: bool = False,
) -> AttributeDef:
    """An integer attribute with bounds."""
    return AttributeDef(name, "int", optional or default is not None, (), default, minimum, maximum, power_of_two)


def attribute(name: str, kind: str, *, optional: bool = False, default: Attribute = None) -> AttributeDef:
    """An attribute of another kind."""
    return AttributeDef(name, kind, optional or default is not None, (), default)


def indices(name: str = "indices") -> AttributeDef:
    """The pattern of a mixed index list: an integer, or None for the next operand of the group of the same name."""
    return AttributeDef(name, "indices")


def region(
    name: str,
    terminators: Sequence[str],
    *,
    implicit: str | None = None,
    isolated: bool = False,
    blocks: str = "one",
    optional: bool = False,
) -> RegionDef:
    """A region."""
    return RegionDef(name, tuple(terminators), implicit, isolated, blocks, optional)


CACHE = (word("cache_scope", CACHE_SCOPES, optional=True), word("cache_temporal", CACHE_TEMPORAL, optional=True))


def define(
    name: str,
    tier: str,
    doc: str,
    format: str,
    *,
    operands: Sequence[OperandDef] = (),
    results: Sequence[ResultDef] = (),
    attributes: Sequence[AttributeDef] = (),
    regions: Sequence[RegionDef] = (),
    traits: str = "",
    same: Sequence[str] = (),
    **more: Any,
) -> OpDefinition:
    """Declare an op. ``traits`` is separated by spaces; each of ``same`` names operands and results of one type."""
    return register_operation(
        OpDefinition(
            name,
            tier,
            doc,
            tuple(operands),
            tuple(results),
            tuple(attributes),
            tuple(regions),
            format=format,
            traits=frozenset(traits.split()),
            same=tuple(tuple(s.split()) for s in same),
            **more,
        )
    )
