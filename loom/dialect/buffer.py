"""The buffer dialect: storage roots."""

from __future__ import annotations

from loom.dialect.common import (
    BUFFER_ONLY,
    MEMORY_SPACES,
    OFFSET_ONLY,
    VIEW,
    attribute,
    define,
    group,
    integer,
    one,
    result,
    results,
    word,
)
from loom.dialect.rules import memory, values
from loom.ir import BUFFER, OFFSET

ALLOCA_SPACES = ("workgroup", "private")

define(
    "buffer.alloca",
    "A",
    "Scratch memory of the workgroup or the work item; a new root on each execution, contents "
    "undefined. The byte count must be provable.",
    "(?<$memory_space>?)(? align($base_alignment)?) %size {} : ~result",
    operands=(one("size", OFFSET_ONLY),),
    results=(result("result", BUFFER_ONLY, BUFFER),),
    attributes=(
        word("memory_space", ALLOCA_SPACES),
        integer("base_alignment", optional=True, minimum=1, power_of_two=True),
    ),
    traits="allocates",
    example="%b = buffer.alloca<workgroup> align(16) %bytes : buffer",
)
define(
    "buffer.view",
    "A",
    "A typed window on a buffer, starting at a byte offset.",
    " %buffer[%offset] : ~buffer -> ~result",
    operands=(one("buffer", BUFFER_ONLY), one("offset", OFFSET_ONLY)),
    results=(result("result", VIEW),),
    traits="pure",
    example="%v = buffer.view %b[%origin] : buffer -> view<[%n]xf32>",
)
define(
    "buffer.assume.noalias",
    "A",
    "The results are disjoint roots.",
    " %buffers : ~results",
    operands=(group("buffers", BUFFER_ONLY),),
    results=(results("results", BUFFER_ONLY, infer=values.like_group("buffers")),),
    traits="pure",
    verify=values.as_many_results("buffers"),
    example="%a2, %b2 = buffer.assume.noalias %a, %b : buffer, buffer",
)
define(
    "buffer.assume.alignment",
    "A",
    "The buffers start at multiples of the alignment in bytes.",
    " %buffers {} : ~results",
    operands=(group("buffers", BUFFER_ONLY),),
    results=(results("results", BUFFER_ONLY, infer=values.like_group("buffers")),),
    attributes=(integer("minimum_alignment", minimum=1, power_of_two=True),),
    traits="pure",
    verify=values.as_many_results("buffers"),
    example="%b2 = buffer.assume.alignment %b {minimum_alignment = 16} : buffer",
)
define(
    "buffer.assume.memory_space",
    "A",
    "The buffer lies in the memory space.",
    "<$memory_space> %buffer : ~result",
    operands=(one("buffer", BUFFER_ONLY),),
    results=(result("result", BUFFER_ONLY, "buffer"),),
    attributes=(word("memory_space", MEMORY_SPACES),),
    traits="pure",
    example="%b2 = buffer.assume.memory_space<global> %b : buffer",
)
define(
    "buffer.assume.same_root",
    "C",
    "The first buffer is the same root as the second.",
    " %buffer, %root : ~result",
    operands=(one("buffer", BUFFER_ONLY), one("root", BUFFER_ONLY)),
    results=(result("result", BUFFER_ONLY, "buffer"),),
    traits="pure",
    example="%b2 = buffer.assume.same_root %b, %root : buffer",
)
define(
    "buffer.length",
    "B",
    "The buffer's length in bytes.",
    " %buffer",
    operands=(one("buffer", BUFFER_ONLY),),
    results=(result("result", OFFSET_ONLY, OFFSET),),
    traits="pure",
    example="%n = buffer.length %b",
)
define(
    "buffer.pack",
    "B",
    "Sequential aligned packing: the total length, then the offset of each entry.",
    " [!pack] : !pack_type",
    operands=(group("sizes", OFFSET_ONLY),),
    results=(results("results", OFFSET_ONLY),),
    attributes=(attribute("alignments", "ints"),),
    traits="pure",
    verify=memory.pack,
    example="%total, %o0, %o1 = buffer.pack [align(16) %n0, align(256) %n1] : offset",
)
