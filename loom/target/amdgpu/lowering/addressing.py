"""Addresses: from a view and indices to base, offset register and immediate.

An address is a sum of terms, each a source value (or a product of two) times a byte coefficient, plus a constant.
Forms, best first:

* the whole sum fits 32 unsigned bits: scalar base plus a 32-bit vector offset (``saddr``), no 64-bit arithmetic at
  all;
* the terms that differ between lanes fit 32 unsigned bits: the others are added to the scalar base;
* otherwise a 64-bit vector address.

The constant goes into the immediate offset as far as it fits. Accesses stay in bounds, so a view of known extents
bounds its offsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from loom.ir import IntegerType, Operation, Value
from loom.target.amdgpu.lowering.context import Lowering
from loom.target.amdgpu.lowering.emitter import Operand, is_vector
from loom.target.amdgpu.lowering.integers import Pair
from loom.target.amdgpu.lowering.ranges import Interval, fits_unsigned
from loom.target.amdgpu.lowering.values import IndexValue, Root, ViewValue, element_bits
from loom.transform.rejection import NoForm


@dataclass(frozen=True, eq=False, slots=True)
class WordLeaf:
    """A term that lowering made itself (a lane's coordinate, a gathered offset): its carrier and bounds."""

    value: IndexValue
    interval: Interval
    multiple: int = 1


Factor: TypeAlias = "Value | WordLeaf"
Shift: TypeAlias = "int | WordLeaf | tuple[int, WordLeaf]"
Leaf: TypeAlias = "Value | WordLeaf | tuple[Value | WordLeaf, Value | WordLeaf]"


def factor_interval(lw: Lowering, factor: Factor) -> Interval:
    """Bounds of a factor."""
    return factor.interval if isinstance(factor, WordLeaf) else lw.interval(factor)


def factor_multiple(lw: Lowering, factor: Factor) -> int:
    """A number that divides a factor."""
    return factor.multiple if isinstance(factor, WordLeaf) else lw.ranges.multiple(factor)


def factor_word(lw: Lowering, factor: Factor) -> Operand:
    """The low word of a factor."""
    return factor.value.words[0] if isinstance(factor, WordLeaf) else lw.word(factor)


def factor_pair(lw: Lowering, factor: Factor) -> Pair:
    """The 64 bits of a factor."""
    return lw.extend_index(factor.value) if isinstance(factor, WordLeaf) else lw.index_pair(factor)


IMMEDIATE_RANGE = {"gfx11": (-4096, 4095), "gfx12": (-(1 << 23), (1 << 23) - 1), "gfx9.4": (-4096, 4095)}
"""Bytes that fit the offset field of global instructions (ISA documents, FLAT encodings)."""

_SPLIT_LIMIT = 4


@dataclass(slots=True)
class Affine:
    """A sum of leaves times coefficients plus a constant."""

    terms: dict[Leaf, int] = field(default_factory=dict)
    constant: int = 0

    def add(self, leaf: Leaf, coefficient: int) -> None:
        """Add a term."""
        total = self.terms.get(leaf, 0) + coefficient
        if total:
            self.terms[leaf] = total
        else:
            self.terms.pop(leaf, None)


def decompose(lw: Lowering, value: Factor | int, coefficient: int, into: Affine, depth: int = 0) -> None:
    """Add ``coefficient * value`` to an affine sum, following index arithmetic."""
    if isinstance(value, int):
        into.constant += coefficient * value
        return
    if isinstance(value, WordLeaf):
        into.add(value, coefficient)
        return
    constant = lw.ranges.constant(value)
    if constant is not None:
        into.constant += coefficient * constant
        return
    op = value.defining_op
    if op is None or depth > 16:
        into.add(value, coefficient)
        return
    name, operands = op.name, op.operands
    if name == "index.add":
        decompose(lw, operands[0], coefficient, into, depth + 1)
        decompose(lw, operands[1], coefficient, into, depth + 1)
    elif name == "index.sub":
        decompose(lw, operands[0], coefficient, into, depth + 1)
        decompose(lw, operands[1], -coefficient, into, depth + 1)
    elif name in ("index.mul", "index.scale"):
        _product(lw, value, operands[0], operands[1], coefficient, into, depth)
    elif name == "index.madd":
        _product(lw, None, operands[0], operands[1], coefficient, into, depth)
        decompose(lw, operands[2], coefficient, into, depth + 1)
    elif name == "index.shli":
        shift = lw.ranges.constant(operands[1])
        if shift is not None and 0 <= shift < 32:
            decompose(lw, operands[0], coefficient << shift, into, depth + 1)
        else:
            into.add(value, coefficient)
    elif name == "index.cast" and not isinstance(operands[0].type, IntegerType):
        decompose(lw, operands[0], coefficient, into, depth + 1)
    elif name == "index.assume":
        source = operands[value.index].defining_op
        if source is not None and source.name in ("index.add", "index.sub", "index.mul", "index.madd", "index.shli"):
            inner = Affine()
            decompose(lw, operands[value.index], 1, inner, depth + 1)
            if _mixed(lw, inner) and not fits_unsigned(lw.interval(value), 29):
                for leaf, c in inner.terms.items():
                    into.add(leaf, c * coefficient)
                into.constant += inner.constant * coefficient
                return
        into.add(value, coefficient)
    else:
        into.add(value, coefficient)


def _product(
    lw: Lowering, whole: Value | None, a: Factor, b: Factor, coefficient: int, into: Affine, depth: int
) -> None:
    for x, y in ((a, b), (b, a)):
        known = lw.ranges.constant(y) if isinstance(y, Value) else None
        if known is not None:
            decompose(lw, x, coefficient * known, into, depth + 1)
            return
    # A sum that mixes uniform and divergent parts times a uniform factor: multiply the parts.
    for x, y in ((a, b), (b, a)):
        if leaf_is_divergent(lw, y):
            continue
        inner = Affine()
        decompose(lw, x, 1, inner, depth + 1)
        if (
            _mixed(lw, inner)
            and len(inner.terms) <= _SPLIT_LIMIT
            and not any(isinstance(t, tuple) for t in inner.terms)
        ):
            for leaf, c in inner.terms.items():
                assert not isinstance(leaf, tuple)
                into.add(_ordered(lw, leaf, y), c * coefficient)
            if inner.constant:
                into.add(y, inner.constant * coefficient)
            return
    if whole is not None:
        into.add(whole, coefficient)
    else:
        into.add(_ordered(lw, a, b), coefficient)


def _ordered(lw: Lowering, a: Factor, b: Factor) -> tuple[Factor, Factor]:
    """The factors of a product as they first came up, so that a * b and b * a are one term and the code is always the
    same."""
    first, second = (lw.factors.setdefault(factor, len(lw.factors)) for factor in (a, b))
    return (a, b) if first <= second else (b, a)


def _mixed(lw: Lowering, inner: Affine) -> bool:
    kinds = {leaf_is_divergent(lw, leaf) for leaf in inner.terms}
    return len(kinds) == 2 or (kinds == {True} and inner.constant != 0)


def leaf_is_divergent(lw: Lowering, leaf: Leaf) -> bool:
    """Whether a term differs between lanes, or lies in vector registers anyway."""
    for value in leaf if isinstance(leaf, tuple) else (leaf,):
        if isinstance(value, WordLeaf):
            if any(is_vector(w) for w in value.value.words):
                return True
            continue
        if lw.is_divergent(value):
            return True
        found = lw.values.get(value)
        if isinstance(found, IndexValue) and any(is_vector(w) for w in found.words):
            return True
    return False


def leaf_interval(lw: Lowering, leaf: Leaf) -> Interval:
    """Bounds of a term's leaf."""
    if isinstance(leaf, tuple):
        a, b = factor_interval(lw, leaf[0]), factor_interval(lw, leaf[1])
        corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
        return (min(corners), max(corners))
    return factor_interval(lw, leaf)


def _scaled(interval: Interval, coefficient: int) -> Interval:
    a, b = interval[0] * coefficient, interval[1] * coefficient
    return (min(a, b), max(a, b))


def _sum(intervals: list[Interval]) -> Interval:
    return (sum(i[0] for i in intervals), sum(i[1] for i in intervals))


@dataclass(slots=True)
class Address:
    """Where an access goes.

    Attributes:
        root: What it is in.
        affine: Byte offset from the root's start.
        total: Bounds of that offset, its constant included.
        alignment: Bytes that divide the address.
    """

    root: Root
    affine: Affine
    total: Interval
    alignment: int


def view_address(
    lw: Lowering, op: Operation, view: ViewValue, indices: list[Value | int], shifts: Sequence[Shift] = ()
) -> Address:
    """The address of one element of a view; ``shifts`` adds a constant, a word, or both to each index."""
    if len(indices) != len(view.strides):
        raise lw.reject(
            op,
            f"{len(indices)} indices for a view of {len(view.strides)} axes",
            4,
            "give one index for each axis of the view",
        )
    size = max(1, element_bits(view.element) // 8)
    affine = Affine(constant=view.constant)
    add_view_terms(lw, view, affine)
    bound: int | None = view.constant
    for leaf, coefficient in view.terms:
        assert isinstance(leaf, Value | WordLeaf | tuple)
        bound = bound + _scaled(leaf_interval(lw, leaf), coefficient)[1] if bound is not None else None
    for axis, (index, stride, dim) in enumerate(zip(indices, view.strides, view.dims, strict=True)):
        shift: Shift = shifts[axis] if shifts else 0
        for part in (index, *(shift if isinstance(shift, tuple) else (shift,))):
            if isinstance(stride, int):
                decompose(lw, part, stride * size, affine)
            elif isinstance(part, int):
                if part:
                    for leaf, c in _stride_terms(stride):
                        _add_product(lw, leaf, c * part * size, affine)
            else:
                for leaf, c in _stride_terms(stride):
                    _index_times(lw, part, leaf, c * size, affine)
        extent = _extent(lw, dim)
        step = _stride_bound(lw, stride)
        if bound is not None and extent is not None and step is not None:
            bound += max(0, extent - 1) * step * size
        else:
            bound = None
    total = _sum([_scaled(leaf_interval(lw, leaf), c) for leaf, c in affine.terms.items()])
    total = (total[0] + affine.constant, total[1] + affine.constant)
    # An access in bounds has an offset of at least zero, and of at most what the extents allow.
    low, high = max(0, total[0]), total[1]
    if bound is not None:
        high = min(high, bound)
    if view.root.size is not None:
        high = min(high, view.root.size)
    alignment = view.root.alignment
    for leaf, c in affine.terms.items():
        factor = (
            factor_multiple(lw, leaf[0]) * factor_multiple(lw, leaf[1])
            if isinstance(leaf, tuple)
            else factor_multiple(lw, leaf)
        )
        alignment = _gcd_power(alignment, abs(c) * factor)
    alignment = _gcd_power(alignment, affine.constant)
    alignment = max(alignment, min(size, 8), view.alignment if view.alignment > size else 1)
    return Address(view.root, affine, (low, max(low, high)), alignment)


def add_view_terms(lw: Lowering, view: ViewValue, affine: Affine) -> None:
    """Add a view's own byte offset to a sum."""
    for leaf, coefficient in view.terms:
        if isinstance(leaf, tuple):
            _product(lw, None, leaf[0], leaf[1], coefficient, affine, 0)
        else:
            assert isinstance(leaf, Value)
            decompose(lw, leaf, coefficient, affine)


def _gcd_power(alignment: int, number: int) -> int:
    number = abs(number)
    return alignment if number == 0 else min(alignment, number & -number)


def _extent(lw: Lowering, dim: object) -> int | None:
    if isinstance(dim, int):
        return dim
    if isinstance(dim, Value):
        high = lw.interval(dim)[1]
        return high if high < (1 << 40) else None
    return None


def _stride_terms(stride: object) -> list[tuple[Leaf | None, int]]:
    """A stride as a list of (leaf or None for the constant, coefficient)."""
    if isinstance(stride, Value):
        return [(stride, 1)]
    assert isinstance(stride, tuple)
    # (integer, value …): a product of dimensions.
    number, *values = stride
    if not values:
        return [(None, number)]
    if len(values) == 1:
        return [(values[0], number)]
    return [((values[0], values[1]), number)]


def _stride_bound(lw: Lowering, stride: object) -> int | None:
    if isinstance(stride, int):
        return abs(stride)
    if isinstance(stride, Value):
        high = lw.interval(stride)[1]
        return high if high < (1 << 40) else None
    assert isinstance(stride, tuple)
    number, *values = stride
    result = int(number)
    for value in values:
        high = lw.interval(value)[1]
        if high >= (1 << 40):
            return None
        result *= high
    return result


def _add_product(lw: Lowering, leaf: Leaf | None, coefficient: int, into: Affine) -> None:
    if leaf is None:
        into.constant += coefficient
    elif isinstance(leaf, tuple):
        into.add(leaf, coefficient)
    else:
        decompose(lw, leaf, coefficient, into)


def _index_times(lw: Lowering, index: Factor, stride: Leaf | None, coefficient: int, into: Affine) -> None:
    if stride is None:
        decompose(lw, index, coefficient, into)
        return
    if isinstance(stride, tuple):
        raise NoForm(
            "a view with more than two dynamic inner dimensions", "give it an explicit encoding.layout.strided"
        )
    _product(lw, None, index, stride, coefficient, into, 0)


# Forms


@dataclass(slots=True)
class GlobalForm:
    """A global address ready for an instruction: ``saddr`` with a 32-bit offset register, or a 64-bit vector address.

    ``scalar_offset`` is the offset as a scalar word when the whole address is uniform.
    """

    base: Value | None
    offset: Value | None
    address: Value | None
    immediate: int
    uniform: bool
    scalar_offset: Operand = 0


def _leaf_word(lw: Lowering, leaf: Leaf) -> Operand:
    if isinstance(leaf, tuple):
        return lw.i.mul(factor_word(lw, leaf[0]), factor_word(lw, leaf[1]))
    return factor_word(lw, leaf)


def _leaf_pair(lw: Lowering, leaf: Leaf) -> Pair:
    if isinstance(leaf, tuple):
        a, b = factor_pair(lw, leaf[0]), factor_pair(lw, leaf[1])
        if fits_unsigned(factor_interval(lw, leaf[0])) and fits_unsigned(factor_interval(lw, leaf[1])):
            return lw.i.multiply_wide(a[0], b[0])
        return lw.i.mul64(a, b)
    return factor_pair(lw, leaf)


def _loop_level(lw: Lowering, word: Operand) -> int:
    if not isinstance(word, Value):
        return 0
    depth = lw.e.depth.get(word, 0)
    return sum(scope.loop for scope in lw.e.scopes[: depth + 1])


def sum32(lw: Lowering, terms: dict[Leaf, int], constant: int = 0) -> Operand:
    """The sum of the terms modulo 2^32; uniform terms are added first, and invariant ones before others."""
    if not terms:
        return constant & 0xFFFFFFFF
    shift = 32
    for c in terms.values():
        shift = min(shift, (c & -c).bit_length() - 1)
    shift = min(shift, (constant & -constant).bit_length() - 1) if constant else shift
    scalar: Operand = constant >> shift
    vectors: list[Operand] = []
    for leaf, c in terms.items():
        word = lw.i.mul(_leaf_word(lw, leaf), (c >> shift) & 0xFFFFFFFF)
        if is_vector(word):
            vectors.append(word)
        else:
            scalar = lw.i.add(word, scalar)
    parts = sorted(vectors, key=lambda w: _loop_level(lw, w))
    if not (isinstance(scalar, int) and scalar == 0):
        level = _loop_level(lw, scalar)
        position = sum(_loop_level(lw, w) <= level for w in parts)
        parts.insert(position, scalar)
    if not parts:
        return 0
    total = parts[0]
    for index, part in enumerate(parts[1:], 1):
        outer = _loop_level(lw, part) > _loop_level(lw, total)
        if outer and shift and index == len(parts) - 1 and not is_vector(part):
            # The invariant part is shifted once in front of the loop.
            return lw.i.add(lw.i.shl(total, shift), lw.i.shl(part, shift))
        total = lw.i.add(total, part)
    return lw.i.shl(total, shift)


def sum64(lw: Lowering, terms: dict[Leaf, int], constant: int) -> Pair:
    """The sum of the terms on 64 bits."""
    total: Pair = (constant & 0xFFFFFFFF, (constant >> 32) & 0xFFFFFFFF)
    scalars: Pair = total
    vectors: list[Pair] = []
    for leaf, c in terms.items():
        pair = lw.i.mul64(_leaf_pair(lw, leaf), (c & 0xFFFFFFFF, (c >> 32) & 0xFFFFFFFF))
        if lw.i.is_pair_vector(pair):
            vectors.append(pair)
        else:
            scalars = lw.i.add64(pair, scalars)
    total = scalars
    for pair in sorted(vectors, key=lambda p: max(_loop_level(lw, w) for w in p)):
        total = lw.i.add64(pair, total) if total != (0, 0) else pair
    return total


def global_form(lw: Lowering, address: Address, spread: int = 0) -> GlobalForm:
    """Choose the form of a global access; ``spread``: bytes that later parts of the access add to the immediate."""
    root, affine = address.root, address.affine
    assert root.base is not None
    low, high = IMMEDIATE_RANGE[lw.e.generation]
    immediate = affine.constant
    rest = 0
    if not low <= immediate <= high - spread:
        # Keep the low bits that fit; the rest is added once.
        immediate = affine.constant % 2048
        rest = affine.constant - immediate
    divergent = {leaf: c for leaf, c in affine.terms.items() if leaf_is_divergent(lw, leaf)}
    uniform = {leaf: c for leaf, c in affine.terms.items() if leaf not in divergent}
    if is_vector(root.base):
        total = lw.i.add64(lw.i.split(root.base), sum64(lw, affine.terms, rest))
        return GlobalForm(None, None, lw.e.join(total, vector=True), immediate, False)
    register_part = (address.total[0] - immediate, address.total[1] - immediate)
    if register_part[0] < 0 and not _non_negative(lw, affine, rest):
        # The register part alone might be negative, the sum is not.
        immediate, rest, register_part = 0, affine.constant, address.total
    if fits_unsigned((0, register_part[1])):
        word = sum32(lw, affine.terms, rest)
        if not divergent:
            return GlobalForm(root.base, None, None, immediate, True, word)
        return GlobalForm(root.base, lw.e.to_vector(word), None, immediate, False)
    moving = _sum([_scaled(leaf_interval(lw, leaf), c) for leaf, c in divergent.items()]) if divergent else (0, 0)
    if fits_unsigned(moving):
        offset = sum64(lw, uniform, rest)
        base = root.base if offset == (0, 0) else lw.e.join(lw.i.add64(lw.i.split(root.base), offset))
        if not divergent:
            return GlobalForm(base, None, None, immediate, True, 0)
        return GlobalForm(base, lw.e.to_vector(sum32(lw, divergent)), None, immediate, False)
    total64 = lw.i.add64(lw.i.split(root.base), sum64(lw, uniform, rest))
    full = lw.i.add64(sum64(lw, divergent, 0), total64)
    return GlobalForm(None, None, lw.e.join(full, vector=True), immediate, False)


def _non_negative(lw: Lowering, affine: Affine, rest: int) -> bool:
    """Whether the register part of the offset is known to be at least zero."""
    low = sum(_scaled(leaf_interval(lw, leaf), c)[0] for leaf, c in affine.terms.items()) + rest
    return low >= 0


def local_form(lw: Lowering, address: Address, spread: int = 0) -> tuple[Operand, int]:
    """Offset word and immediate of an access to workgroup memory (the immediate is 16 bits, unsigned).

    The hardware does not wrap the sum of both, so the register part must not be negative.
    """
    constant = address.root.offset + address.affine.constant
    fits = 0 <= constant <= 0xFFFF - spread and _non_negative(lw, address.affine, 0)
    immediate = constant if fits else 0
    word = sum32(lw, address.affine.terms, constant - immediate)
    return lw.i.add(word, address.root.dynamic), immediate
