"""Formats of typed buffer accesses: where a component lies, and what it means in a register.

Two numberings: the *unified* one of gfx11 and gfx12 (one number for layout and type, in LLVM's order of ``BUF_FMT_*``)
and the *split* one of gfx9.4 (data format in bits 3:0, number format in bits 6:4). A packed layout's name lists its
fields from the highest bits down: X of ``10_11_11`` is bits 10:0.

Conversions follow AMD's RDNA3 and CDNA4 ISA ("Buffer instructions", "D16 instructions") and, where these are silent,
the Direct3D 11 rules that the texture unit implements:

* loads: ``unorm`` divides by ``2^n - 1``, ``snorm`` by ``2^(n-1) - 1`` and stops at -1; scaled numbers and integers are
  extended. As 16 bits, single-precision numbers are truncated and all others rounded to nearest even.
* stores: normalized numbers are clamped and rounded to nearest even, NaN gives 0; integers saturate; scaled numbers
  saturate and are rounded to nearest even (no source tells the rounding); floats are truncated, and the formats of 10
  and 11 bits, which have no sign, turn negative numbers into 0.
* components that the format lacks are 0 in a register, and a store that supplies too few repeats the first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loom.low.semantics.expression import (
    Expr,
    ashr,
    bitcast,
    bits,
    const,
    fcmp,
    icmp,
    node,
    select,
    smax,
    smin,
    trunc,
    umin,
    zext,
)
from loom.low.semantics.floats import (
    extend_half,
    float_to_int,
    is_nan,
    narrow_half,
    narrow_half_f64,
    number,
    to_f64,
    widen,
)

FLOAT_KINDS = ("unorm", "snorm", "uscaled", "sscaled", "float")


@dataclass(frozen=True, slots=True)
class BufferFormat:
    """One format. ``fields``: for each component X, Y, Z, W its lowest bit and its width."""

    name: str
    kind: str
    fields: tuple[tuple[int, int], ...]

    @property
    def bytes(self) -> int:
        """Bytes of one element."""
        return sum(width for _, width in self.fields) // 8

    @property
    def is_integer(self) -> bool:
        """Whether registers hold integers."""
        return self.kind in ("uint", "sint")


def _format(layout: str, kind: str) -> BufferFormat:
    at = 0
    fields = []
    for width in reversed([int(w) for w in layout.split("_")]):
        fields.append((at, width))
        at += width
    return BufferFormat(f"{layout}_{kind}", kind, tuple(fields))


_ALL = "unorm snorm uscaled sscaled uint sint"
#: Layouts of the unified numbering and their number types, format numbers counting from 1.
_UNIFIED = (
    ("8", _ALL), ("16", _ALL + " float"), ("8_8", _ALL), ("32", "uint sint float"), ("16_16", _ALL + " float"),
    ("10_11_11", "float"), ("11_11_10", "float"), ("10_10_10_2", "unorm snorm uint sint"), ("2_10_10_10", _ALL),
    ("8_8_8_8", _ALL), ("32_32", "uint sint float"), ("16_16_16_16", _ALL + " float"), ("32_32_32", "uint sint float"),
    ("32_32_32_32", "uint sint float"),
)  # fmt: skip
_SPLIT_LAYOUTS = (
    "", "8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2", "2_10_10_10", "8_8_8_8", "32_32",
    "16_16_16_16", "32_32_32", "32_32_32_32", "",
)  # fmt: skip
_SPLIT_TYPES = ("unorm", "snorm", "uscaled", "sscaled", "uint", "sint", "", "float")

INVALID = BufferFormat("invalid", "uint", ())
"""Format 0: the buffer is not bound; loads give 0, stores do nothing."""

UNIFIED: tuple[BufferFormat, ...] = (
    INVALID,
    *(_format(layout, kind) for layout, kinds in _UNIFIED for kind in kinds.split()),
)
"""Formats of gfx11 and gfx12 by number."""


def _split(value: int) -> BufferFormat | None:
    layout, kind = _SPLIT_LAYOUTS[value & 15], _SPLIT_TYPES[value >> 4]
    if value & 15 == 0:
        return INVALID
    if not layout or not kind:
        return None
    made = _format(layout, kind)
    widths = {width for _, width in made.fields}
    if kind == "float":
        return made if widths in ({16}, {32}, {10, 11}) else None
    if widths == {10, 11} or (widths == {32} and not made.is_integer):
        return None
    return made


SPLIT: tuple[BufferFormat | None, ...] = tuple(_split(value) for value in range(128))
"""Formats of gfx9.4 by number; None where the combination means nothing."""


def formats_of(generation: str) -> Sequence[BufferFormat | None]:
    """The formats of a generation by their number."""
    return SPLIT if generation == "gfx9.4" else UNIFIED


def _raw(words: Sequence[Expr], low: int, width: int) -> Expr:
    word = words[low // 32] >> (low % 32)
    return word if width == 32 else word & ((1 << width) - 1)


def _signed(raw: Expr, width: int) -> Expr:
    return raw if width == 32 else ashr(raw << (32 - width), 32 - width)


def _small_to_half(raw: Expr, width: int) -> Expr:
    """An unsigned float of 10 or 11 bits (5 bits of exponent) to half precision, exactly."""
    return bitcast(trunc(raw << (15 - width), "i16"), "f16")


def load_component(format_: BufferFormat, component: int, words: Sequence[Expr], short: bool) -> Expr | None:
    """A component as a register's ``i32`` (``short``: the 16 bits of a D16 form, zero-extended).

    ``words`` are the element's 32-bit words. None where the ISA does not tell the result: 32-bit integers as 16 bits.
    """
    if component >= len(format_.fields):
        return const("i32", 0)
    low, width = format_.fields[component]
    raw = _raw(words, low, width)
    kind = format_.kind
    if kind in ("uint", "sint"):
        if short and width == 32:
            return None
        value = _signed(raw, width) if kind == "sint" else raw
        return value & 0xFFFF if short else value
    if kind == "float":
        if width == 32:
            single = bitcast(raw, "f32")
            return zext(bits(narrow_half(single, 3)), "i32") if short else raw
        half = bitcast(trunc(raw, "i16"), "f16") if width == 16 else _small_to_half(raw, width)
        return zext(bits(half), "i32") if short else bits(extend_half(half))
    signed = kind in ("snorm", "sscaled")
    integer = _signed(raw, width) if signed else raw
    convert = "sitofp" if signed else "uitofp"
    precision = "f64" if short else "f32"
    value = node(convert, precision, integer)
    if kind in ("unorm", "snorm"):
        most = (1 << (width - signed)) - 1
        value = node("fdiv", precision, value, number(precision, float(most)))
        if signed:
            minus_one = number(precision, -1.0)
            value = select(fcmp("olt", value, minus_one), minus_one, value)
    if short:
        return zext(bits(narrow_half_f64(value)), "i32")
    return bits(value)


def one_of(format_: BufferFormat, short: bool) -> int:
    """The bits of the constant 1 that a resource's destination selector can ask for."""
    if format_.is_integer:
        return 1
    return 0x3C00 if short else 0x3F800000


def _half_to_small(half: Expr, width: int) -> Expr:
    """Half precision to an unsigned float of 10 or 11 bits: truncated, negative numbers to 0, NaN kept quiet."""
    pattern = zext(bits(half), "i32")
    negative = icmp("ne", pattern & 0x8000, 0)
    cut = pattern >> (15 - width)
    nan = const("i32", (0x7E00 >> (15 - width)) & ((1 << width) - 1))
    return select(is_nan(half), nan, select(negative, const("i32", 0), cut))


def store_component(format_: BufferFormat, component: int, value: Expr, short: bool) -> Expr:
    """A register's ``i32`` (``short``: 16 bits) as the bits of a component, in the low bits of an ``i32``."""
    _, width = format_.fields[component]
    kind = format_.kind
    mask = (1 << width) - 1
    if kind == "uint":
        raw = value & 0xFFFF if short else value
        return raw if width == 32 else umin(raw, const("i32", mask))
    if kind == "sint":
        raw = ashr(value << 16, 16) if short else value
        most = (1 << (width - 1)) - 1
        return raw if width == 32 else smin(smax(raw, const("i32", -most - 1)), const("i32", most)) & mask
    single = widen(bitcast(trunc(value, "i16"), "f16")) if short else bitcast(value, "f32")
    if kind == "float":
        if width == 32:
            if short:
                return bits(extend_half(bitcast(trunc(value, "i16"), "f16")))
            return value
        half = bitcast(trunc(value, "i16"), "f16") if short else narrow_half(single, 3)
        return zext(bits(half), "i32") if width == 16 else _half_to_small(half, width)
    signed = kind in ("snorm", "sscaled")
    most = (1 << (width - signed)) - 1
    wide = to_f64(single)
    if kind in ("unorm", "snorm"):
        one = number("f64", 1.0)
        least = number("f64", -1.0 if signed else 0.0)
        wide = select(fcmp("ogt", wide, one), one, select(fcmp("olt", wide, least), least, wide))
        wide = node("fmul", "f64", wide, number("f64", float(most)))
    else:
        least = number("f64", -float(most + 1) if signed else 0.0)
        top = number("f64", float(most))
        wide = select(fcmp("ogt", wide, top), top, select(fcmp("olt", wide, least), least, wide))
    return float_to_int(node("rint", "f64", wide), 32, True) & mask


def store_words(format_: BufferFormat, values: Sequence[Expr], short: bool) -> list[Expr]:
    """The 32-bit words of an element from its components' registers."""
    words: list[Expr] = [const("i32", 0)] * max(1, -(-format_.bytes // 4))
    for component, (low, width) in enumerate(format_.fields):
        part = store_component(format_, component, values[component], short)
        at, shift = divmod(low, 32)
        words[at] = words[at] | (part << shift)
        if shift + width > 32:  # no layout has a field across words
            raise AssertionError(format_.name)
    return words


_ACCESS = re.compile(r"^(t?)buffer_(load|store)_(?:d16_(hi_)?)?format_(?:d16_(hi_)?)?(xyzw|xyz|xy|x)$")


@dataclass(frozen=True, slots=True)
class FormatAccess:
    """What ``buffer_load_d16_hi_format_x`` and its relatives say.

    Attributes:
        store: Store or load.
        components: Components in registers.
        short: Two components a register.
        high: The one component is in the upper half.
        typed: The instruction names the format (MTBUF), else the resource does.
    """

    store: bool
    components: int
    short: bool
    high: bool
    typed: bool


def format_access(semantic: str) -> FormatAccess | None:
    """The access of a semantic name such as ``tbuffer_load_format_xyz``; None where it is none."""
    found = _ACCESS.match(semantic)
    if found is None:
        return None
    typed, kind, high, high_last, components = found.groups()
    return FormatAccess(kind == "store", len(components), "d16" in semantic, bool(high or high_last), bool(typed))
