"""Loads, stores and atomics of views: what moves in one instruction, and with which instruction.

``LOADS`` and ``STORES`` are the selection tables: by memory space and bytes. A vector access is cut into the widest
pieces that the space takes at the proven alignment: global memory takes any multiple of four bytes in one piece up
to 16 (unaligned accesses included, which the HSA execution environment enables), workgroup memory wants 8- and
16-byte pieces aligned and pairs others (``2addr``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from loom.ir import IntegerType, Operation, Value
from loom.target.amdgpu.lowering.addressing import (
    Address,
    GlobalForm,
    Shift,
    global_form,
    local_form,
    sum32,
    view_address,
)
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import Operand
from loom.target.amdgpu.lowering.values import (
    Root,
    ViewValue,
    Words,
    element_bits,
    is_truth,
    lane_count,
)

# (space, bytes) → (load, store); sub-word loads zero-extend.
ACCESS: dict[tuple[str, int], tuple[str, str]] = {
    ("global", 1): ("global_load_u8", "global_store_b8"),
    ("global", 2): ("global_load_u16", "global_store_b16"),
    ("global", 4): ("global_load_b32", "global_store_b32"),
    ("global", 8): ("global_load_b64", "global_store_b64"),
    ("global", 12): ("global_load_b96", "global_store_b96"),
    ("global", 16): ("global_load_b128", "global_store_b128"),
    ("workgroup", 1): ("ds_load_u8", "ds_store_b8"),
    ("workgroup", 2): ("ds_load_u16", "ds_store_b16"),
    ("workgroup", 4): ("ds_load_b32", "ds_store_b32"),
    ("workgroup", 8): ("ds_load_b64", "ds_store_b64"),
    ("workgroup", 12): ("ds_load_b96", "ds_store_b96"),
    ("workgroup", 16): ("ds_load_b128", "ds_store_b128"),
    ("private", 1): ("scratch_load_u8", "scratch_store_b8"),
    ("private", 2): ("scratch_load_u16", "scratch_store_b16"),
    ("private", 4): ("scratch_load_b32", "scratch_store_b32"),
    ("private", 8): ("scratch_load_b64", "scratch_store_b64"),
    ("private", 12): ("scratch_load_b96", "scratch_store_b96"),
    ("private", 16): ("scratch_load_b128", "scratch_store_b128"),
}

SIGNED_LOADS = {
    "global_load_u8": "global_load_i8",
    "global_load_u16": "global_load_i16",
    "ds_load_u8": "ds_load_i8",
    "ds_load_u16": "ds_load_i16",
    "scratch_load_u8": "scratch_load_i8",
    "scratch_load_u16": "scratch_load_i16",
}

SCALAR_LOADS = {1: "s_load_b32", 2: "s_load_b64", 4: "s_load_b128", 8: "s_load_b256", 16: "s_load_b512"}
"""Scalar loads by number of words."""

# Alignment that a piece of workgroup memory needs (ISA document, "LDS alignment"; 8-byte pieces of 4-byte alignment go
# by pairs).
_LOCAL_ALIGNMENT = {16: 16, 12: 16, 8: 8, 4: 4, 2: 2, 1: 1}

# cache_temporal → cache bits of gfx11 (AMDGPUUsage, memory model gfx11: slc streams, dlc for non-temporal, glc
# bypasses L0).
CACHE_BITS: dict[str, dict[str, int]] = {
    "regular": {},
    "non_temporal": {"slc": 1, "dlc": 1},
    "high_temporal": {},
    "last_use": {"slc": 1},
    "writeback": {},
    "non_temporal_regular": {"slc": 1},
    "regular_non_temporal": {"slc": 1},
    "non_temporal_high_temporal": {"slc": 1},
    "non_temporal_writeback": {"slc": 1},
    "bypass": {"glc": 1, "slc": 1, "dlc": 1},
}
_SCOPE_BITS = {"cu": {}, "se": {"glc": 1}, "device": {"glc": 1}, "system": {"glc": 1, "dlc": 1}}


def access_flags(op: Operation, root: Root, store: bool) -> dict[str, Any]:
    """Attributes and cache bits of an access."""
    flags: dict[str, Any] = {}
    if root.alias is not None:
        flags["alias"] = root.alias
    volatile = bool(op.attributes.get("volatile"))
    if volatile:
        flags["volatile"] = True
    elif not store and not root.written:
        flags["invariant"] = True
    if root.space == "global":
        temporal = op.attributes.get("cache_temporal")
        scope = op.attributes.get("cache_scope")
        if temporal is not None:
            flags.update(CACHE_BITS.get(str(temporal), {}))
        if scope is not None and not store:
            flags.update(_SCOPE_BITS.get(str(scope), {}))
        if volatile:
            flags.update({"glc": 1, "dlc": 1} if not store else {"dlc": 1})
    return flags


def pieces(size: int, alignment: int, space: str) -> list[tuple[int, int]]:
    """Cut ``size`` bytes into (offset, bytes) pieces that one instruction moves."""
    out = []
    offset = 0
    while offset < size:
        left = size - offset
        here = alignment if offset == 0 else min(alignment, offset & -offset)
        for piece in (16, 12, 8, 4, 2, 1):
            if piece > left:
                continue
            if space == "workgroup" and _LOCAL_ALIGNMENT[piece] > here:
                continue
            break
        out.append((offset, piece))
        offset += piece
    return out


def _local_pieces(size: int, alignment: int, immediate: int) -> Iterator[tuple[int, int, bool]]:
    """The pieces of an access to workgroup memory whose address has the constant part ``immediate``, as (offset,
    bytes, whether the piece and its equal behind it move in one ``2addr`` instruction, which counts in pieces).
    """
    cut = iter(pieces(size, alignment, "workgroup"))
    waiting = next(cut, None)
    while waiting is not None:
        offset, piece = waiting
        following = next(cut, None)
        place = immediate + offset
        paired = (
            piece in (4, 8)
            and following is not None
            and following[1] == piece
            and place % piece == 0
            and place // piece < 255
        )
        yield offset, piece, paired
        waiting = next(cut, None) if paired else following


# Loads


def load_words(lw: Lowering, op: Operation, address: Address, size: int, signed: bool = False) -> Words:
    """Load ``size`` bytes as words (a size under 4 gives one zero- or sign-extended word)."""
    root = address.root
    return issue_load(lw, address, size, access_flags(op, root, store=False), signed)


def issue_load(lw: Lowering, address: Address, size: int, flags: dict[str, Any], signed: bool = False) -> Words:
    """Load with the given attributes and cache bits."""
    root = address.root
    if root.space == "global":
        return _load_global(lw, address, size, signed, flags)
    if root.space == "workgroup":
        return _load_local(lw, address, size, signed, flags)
    return _load_private(lw, address, size, signed, flags)


def _load_global(lw: Lowering, address: Address, size: int, signed: bool, flags: dict[str, Any]) -> Words:
    form = global_form(lw, address, max(0, size - 4))
    if form.uniform and size % 4 == 0 and address.alignment % 4 == 0 and flags.get("invariant") and "glc" not in flags:
        return _load_scalar(lw, form, size, flags)
    out: list[Operand] = []
    for offset, piece in pieces(size, address.alignment, "global"):
        mnemonic = ACCESS["global", piece][0]
        if signed and piece < 4:
            mnemonic = SIGNED_LOADS[mnemonic]
        value = _issue_global(lw, form, mnemonic, offset, flags, max(1, piece // 4))
        _take(lw, out, value, piece, offset, signed)
    return tuple(out)


def _take(lw: Lowering, out: list[Operand], value: Value, piece: int, offset: int, signed: bool) -> None:
    """Add the words of one piece; pieces under 4 bytes are put together."""
    e = lw.e
    if piece >= 4:
        out.extend(e.parts(value))
        return
    if signed:
        e.sign_extended[value] = 8 * piece
    else:
        e.zero_extended[value] = 8 * piece
    if offset % 4 == 0:
        out.append(value)
    else:
        out[-1] = lw.i.or_(lw.i.shl(value, 8 * (offset % 4)), out[-1])


def _issue_global(
    lw: Lowering, form: GlobalForm, mnemonic: str, offset: int, flags: dict[str, Any], units: int
) -> Value:
    immediate = form.immediate + offset
    e = lw.e
    if form.address is not None:
        return e.fresh(mnemonic, form.address, None, units=units, offset=immediate or None, **flags)[0]
    vector = form.offset if form.offset is not None else e.to_vector(form.scalar_offset)
    return e.fresh(mnemonic, vector, form.base, units=units, offset=immediate or None, **flags)[0]


def _load_scalar(lw: Lowering, form: GlobalForm, size: int, flags: dict[str, Any]) -> Words:
    """A uniform load of memory that nobody writes: the scalar unit does it."""
    e = lw.e
    words = size // 4
    out: list[Operand] = []
    done = 0
    assert form.base is not None
    scalar = form.scalar_offset
    extra = 0
    if isinstance(scalar, int):
        extra, scalar = scalar, 0
    immediate = form.immediate + extra
    if not -(1 << 20) <= immediate < (1 << 20) - 64:
        scalar = lw.i.add(scalar, immediate & 0xFFFFFFFF) if immediate >= 0 else scalar
        immediate = 0 if immediate >= 0 else immediate
    kept = {k: v for k, v in flags.items() if k in ("alias", "invariant")}
    while done < words:
        count = next(c for c in (16, 8, 4, 2, 1) if c <= words - done)
        offset_operand = None if isinstance(scalar, int) and scalar == 0 else scalar
        if isinstance(offset_operand, int):
            offset_operand = e.scalar_constant(offset_operand)
        base = form.base
        place = immediate + 4 * done

        def build(
            count: int = count, base: Value = base, soffset: Value | None = offset_operand, place: int = place
        ) -> tuple[Value, ...]:
            return (e.fresh(SCALAR_LOADS[count], base, soffset, units=count, offset=place or None, **kept)[0],)

        operands: list[Operand] = [base] if offset_operand is None else [base, offset_operand]
        # Shared with an equal load before it, but never moved in front of a guard.
        with e.stay():
            value: Value = e.memo(("s_load", count, place), operands, build)[0]
        out.extend(e.parts(value))
        done += count
    return tuple(out)


def _load_local(lw: Lowering, address: Address, size: int, signed: bool, flags: dict[str, Any]) -> Words:
    e = lw.e
    word, immediate = local_form(lw, address, size)
    base = e.to_vector(word)
    out: list[Operand] = []
    for offset, piece, paired in _local_pieces(size, address.alignment, immediate):
        place = immediate + offset
        if paired:
            value = e.fresh(
                f"ds_load_2addr_b{8 * piece}",
                base,
                units=2 * piece // 4,
                offset0=place // piece or None,
                offset1=place // piece + 1,
                **flags,
            )[0]
            out.extend(e.parts(value))
            continue
        mnemonic = ACCESS["workgroup", piece][0]
        if signed and piece < 4:
            mnemonic = SIGNED_LOADS[mnemonic]
        value = e.fresh(mnemonic, base, units=max(1, piece // 4), offset=place or None, **flags)[0]
        _take(lw, out, value, piece, offset, signed)
    return tuple(out)


def private_operands(lw: Lowering, address: Address, spread: int) -> tuple[Value | None, Value | None, int]:
    """``vaddr``, ``saddr`` and immediate of a scratch access."""
    constant = address.root.offset + address.affine.constant
    immediate = constant if constant <= 4095 - spread else 0
    word = lw.i.add(sum32(lw, address.affine.terms, constant - immediate), address.root.dynamic)
    if isinstance(word, int):
        return (None, None if word == 0 else lw.e.scalar_constant(word), immediate)
    return (lw.e.to_vector(word), None, immediate)


def _load_private(lw: Lowering, address: Address, size: int, signed: bool, flags: dict[str, Any]) -> Words:
    vector, scalar, immediate = private_operands(lw, address, size)
    out: list[Operand] = []
    for offset, piece in pieces(size, 4 if size >= 4 else address.alignment, "private"):
        mnemonic = ACCESS["private", piece][0]
        if signed and piece < 4:
            mnemonic = SIGNED_LOADS[mnemonic]
        value = lw.e.fresh(
            mnemonic, vector, scalar, units=max(1, piece // 4), offset=(immediate + offset) or None, **flags
        )[0]
        _take(lw, out, value, piece, offset, signed)
    return tuple(out)


# Stores


def store_words(lw: Lowering, op: Operation, address: Address, words: Words, size: int) -> None:
    """Store the low ``size`` bytes of words."""
    root = address.root
    flags = access_flags(op, root, store=True)
    e = lw.e

    def data(offset: int, piece: int) -> Value:
        first = offset // 4
        if piece >= 4:
            return e.join([words[first + k] for k in range(piece // 4)], vector=True)
        word = words[first]
        return e.to_vector(lw.i.shr(word, 8 * (offset % 4)) if offset % 4 else word)

    if root.space == "global":
        form = global_form(lw, address, max(0, size - 4))
        for offset, piece in pieces(size, address.alignment, "global"):
            mnemonic = ACCESS["global", piece][1]
            immediate = (form.immediate + offset) or None
            value = data(offset, piece)
            if form.address is not None:
                e.fresh(mnemonic, form.address, value, None, offset=immediate, **flags)
            else:
                vector = form.offset if form.offset is not None else e.to_vector(form.scalar_offset)
                e.fresh(mnemonic, vector, value, form.base, offset=immediate, **flags)
        return
    if root.space == "workgroup":
        word, immediate_ = local_form(lw, address, size)
        base = e.to_vector(word)
        for offset, piece, paired in _local_pieces(size, address.alignment, immediate_):
            place = immediate_ + offset
            if paired:
                e.fresh(
                    f"ds_store_2addr_b{8 * piece}",
                    base,
                    data(offset, piece),
                    data(offset + piece, piece),
                    offset0=place // piece or None,
                    offset1=place // piece + 1,
                    **flags,
                )
                continue
            e.fresh(ACCESS["workgroup", piece][1], base, data(offset, piece), offset=place or None, **flags)
        return
    vector_, scalar, immediate2 = private_operands(lw, address, size)
    for offset, piece in pieces(size, 4 if size >= 4 else address.alignment, "private"):
        e.fresh(
            ACCESS["private", piece][1],
            vector_,
            data(offset, piece),
            scalar,
            offset=(immediate2 + offset) or None,
            **flags,
        )


# Ops


def memory_bits(view: ViewValue) -> int:
    """Bits of an element in memory (``i1`` takes a byte)."""
    return max(8, element_bits(view.element))


def wants_sign(value: Value) -> bool:
    """Whether the users of a narrow integer read it as a signed number, and none needs zeros above."""
    names = {user.name for user in value.users}
    return bool(names) and all(n.rsplit(".", 1)[-1] in ("extsi", "sitofp", "cast") for n in names)


def element_address(lw: Lowering, op: Operation) -> Address:
    """Address of the element that an op's view and indices name."""
    return view_address(lw, op, lw.view(op.operand("view")), op.index_list("indices"))


def _view_load(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    view = lw.view(op.operand("view"))
    address = element_address(lw, op)
    size = memory_bits(view) // 8
    signed = size < 4 and isinstance(result.type, IntegerType) and wants_sign(result)
    words = load_words(lw, op, address, size, signed)
    if is_truth(result.type):
        lw.set(result, lw.t.compare32("ne", words[0], 0, signed=False))
        return
    lw.set(result, words)


def _view_store(lw: Lowering, op: Operation) -> None:
    value = op.operand("value")
    view = lw.view(op.operand("view"))
    address = element_address(lw, op)
    store_words(lw, op, address, lw.words(value), memory_bits(view) // 8)


def view_runs(
    lw: Lowering,
    op: Operation,
    view: ViewValue,
    indices: list[Value | int],
    shape: tuple[int, ...],
    outer_shifts: Sequence[Shift] = (),
) -> list[tuple[Address, int, int]]:
    """The contiguous runs of an access to the trailing axes of a view: (address, first lane, lanes).

    ``outer_shifts`` adds to the leading indices, which the shape does not cover.
    """
    outer = len(indices) - len(shape)
    # The innermost axes that lie behind one another without gaps form a run.
    run, expected = 1, 1
    for axis in range(len(shape) - 1, -1, -1):
        stride = view.strides[outer + axis]
        if shape[axis] != 1 and not (isinstance(stride, int) and stride == expected):
            break
        run *= shape[axis]
        expected *= shape[axis]
        if view.dims[outer + axis] != shape[axis] and shape[axis] != 1:
            break
    total = 1
    for extent in shape:
        total *= extent
    runs = []
    for first in range(0, total, run):
        position = first
        shifts: list[Shift] = [*outer_shifts, *([0] * (len(indices) - len(outer_shifts)))]
        for axis in range(len(shape) - 1, -1, -1):
            shifts[outer + axis] = position % shape[axis]
            position //= shape[axis]
        runs.append((view_address(lw, op, view, indices, shifts), first, run))
    return runs


def vector_runs(lw: Lowering, op: Operation, value: Value) -> list[tuple[Address, int, int]]:
    """The contiguous runs of a vector access: (address, first lane, lanes)."""
    shape = tuple(int(d) for d in value.type.dims)  # type: ignore[attr-defined]
    return view_runs(lw, op, lw.view(op.operand("view")), op.index_list("indices"), shape)


def _vector_load(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    if lane_count(result.type) == 0:
        lw.set(result, ())
        return
    view = lw.view(op.operand("view"))
    bits = memory_bits(view)
    runs = vector_runs(lw, op, result)
    if is_truth(view.element):
        truths = []
        for address, _, count in runs:
            words = load_words(lw, op, address, count)
            truths += [
                lw.t.compare32("ne", lw.i.bit_field(words[k // 4], 8 * (k % 4), 8), 0, False) for k in range(count)
            ]
        lw.set_truths(result, truths)
        return
    if len(runs) == 1:
        address, _, count = runs[0]
        lw.set(result, load_words(lw, op, address, count * bits // 8))
        return
    elements: list[Words] = []
    for address, _, count in runs:
        words = load_words(lw, op, address, count * bits // 8)
        elements += [lw.element(words, k, bits) for k in range(count)]
    lw.set_elements(result, elements)


def _vector_store(lw: Lowering, op: Operation) -> None:
    value = op.operand("value")
    if lane_count(value.type) == 0:
        return
    view = lw.view(op.operand("view"))
    bits = memory_bits(view)
    runs = vector_runs(lw, op, value)
    if len(runs) == 1 and not is_truth(view.element):
        address, _, count = runs[0]
        store_words(lw, op, address, lw.words(value), count * bits // 8)
        return
    elements = lw.elements(value)
    for address, first, count in runs:
        packed = lw.pack(elements[first : first + count], bits)
        store_words(lw, op, address, packed, count * bits // 8)


HANDLERS: dict[str, Handler] = {
    "view.load": _view_load,
    "view.store": _view_store,
    "vector.load": _vector_load,
    "vector.store": _vector_store,
    "view.prefetch": lambda lw, op: None,
}
