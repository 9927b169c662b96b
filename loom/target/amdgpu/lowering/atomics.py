"""Atomics: one instruction where the hardware has the operation, else a compare-and-swap loop.

Orderings follow LLVM's memory model for gfx11 (AMDGPUUsage, "Memory Model gfx11"): a release waits for earlier
accesses, an acquire invalidates the caches that lie nearer than the scope: L0 for a workgroup (its waves may sit on
two compute units), L0 and L1 beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loom.ir import FloatType, Operation, Type, Value
from loom.target.amdgpu.lowering.addressing import Address, global_form, local_form
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import Scope
from loom.target.amdgpu.lowering.memory import element_address, load_words, store_words
from loom.target.amdgpu.lowering.values import Words, element_bits, element_of

# (kind, bits) → (global instruction, LDS instruction without and with return); the global form returns with glc.
NATIVE: dict[tuple[str, int], tuple[str | None, str | None, str | None]] = {
    ("addi", 32): ("global_atomic_add_u32", "ds_add_u32", "ds_add_rtn_u32"),
    ("subi", 32): ("global_atomic_sub_u32", "ds_sub_u32", "ds_sub_rtn_u32"),
    ("andi", 32): ("global_atomic_and_b32", "ds_and_b32", "ds_and_rtn_b32"),
    ("ori", 32): ("global_atomic_or_b32", "ds_or_b32", "ds_or_rtn_b32"),
    ("xori", 32): ("global_atomic_xor_b32", "ds_xor_b32", "ds_xor_rtn_b32"),
    ("minsi", 32): ("global_atomic_min_i32", "ds_min_i32", "ds_min_rtn_i32"),
    ("maxsi", 32): ("global_atomic_max_i32", "ds_max_i32", "ds_max_rtn_i32"),
    ("minui", 32): ("global_atomic_min_u32", "ds_min_u32", "ds_min_rtn_u32"),
    ("maxui", 32): ("global_atomic_max_u32", "ds_max_u32", "ds_max_rtn_u32"),
    ("xchgi", 32): ("global_atomic_swap_b32", None, "ds_storexchg_rtn_b32"),
    ("xchgf", 32): ("global_atomic_swap_b32", None, "ds_storexchg_rtn_b32"),
    ("addf", 32): ("global_atomic_add_f32", "ds_add_f32", "ds_add_rtn_f32"),
    ("minnumf", 32): ("global_atomic_min_f32", "ds_min_f32", "ds_min_rtn_f32"),
    ("maxnumf", 32): ("global_atomic_max_f32", "ds_max_f32", "ds_max_rtn_f32"),
    ("addi", 64): ("global_atomic_add_u64", "ds_add_u64", "ds_add_rtn_u64"),
    ("subi", 64): ("global_atomic_sub_u64", "ds_sub_u64", "ds_sub_rtn_u64"),
    ("andi", 64): ("global_atomic_and_b64", "ds_and_b64", "ds_and_rtn_b64"),
    ("ori", 64): ("global_atomic_or_b64", "ds_or_b64", "ds_or_rtn_b64"),
    ("xori", 64): ("global_atomic_xor_b64", "ds_xor_b64", "ds_xor_rtn_b64"),
    ("minsi", 64): ("global_atomic_min_i64", "ds_min_i64", "ds_min_rtn_i64"),
    ("maxsi", 64): ("global_atomic_max_i64", "ds_max_i64", "ds_max_rtn_i64"),
    ("minui", 64): ("global_atomic_min_u64", "ds_min_u64", "ds_min_rtn_u64"),
    ("maxui", 64): ("global_atomic_max_u64", "ds_max_u64", "ds_max_rtn_u64"),
    ("xchgi", 64): ("global_atomic_swap_b64", None, "ds_storexchg_rtn_b64"),
    ("xchgf", 64): ("global_atomic_swap_b64", None, "ds_storexchg_rtn_b64"),
}

_RELEASING = ("release", "acq_rel", "seq_cst")
_ACQUIRING = ("acquire", "acq_rel", "seq_cst")


def release(lw: Lowering, ordering: str, scope: str) -> None:
    """What has to be finished before an atomic with release semantics."""
    if ordering in _RELEASING and scope not in ("thread", "subgroup"):
        lw.e.create("low.schedule.fence", [], [])
        lw.e.fresh("s_waitcnt", vmcnt=0, lgkmcnt=0)
        lw.e.fresh("s_waitcnt_vscnt", vscnt=0)


def acquire(lw: Lowering, ordering: str, scope: str, local: bool) -> None:
    """What has to happen after an atomic with acquire semantics."""
    if ordering in _ACQUIRING and scope not in ("thread", "subgroup"):
        lw.e.fresh("s_waitcnt", vmcnt=0, lgkmcnt=0)
        lw.e.fresh("s_waitcnt_vscnt", vscnt=0)
        if not local:
            if scope in ("device", "system"):
                lw.e.fresh("buffer_gl1_inv")
            lw.e.fresh("buffer_gl0_inv")
        lw.e.create("low.schedule.fence", [], [])


def _flags(address: Address) -> dict[str, Any]:
    return {"alias": address.root.alias} if address.root.alias is not None else {}


def _issue(
    lw: Lowering,
    names: tuple[str | None, str | None, str | None],
    address: Address,
    data: Words,
    units: int,
    returns: bool,
) -> Words:
    """One atomic instruction; the old value where it is asked for."""
    e = lw.e
    flags = _flags(address)
    value = e.join([e.to_vector(w) for w in data], vector=True)
    if address.root.space == "workgroup":
        word, immediate = local_form(lw, address, 4 * units)
        place = e.to_vector(word)
        if returns or names[1] is None:
            assert names[2] is not None
            made = e.fresh(names[2], place, value, units=units, offset=immediate or None, **flags)[0]
            return tuple(e.parts(made))
        e.fresh(names[1], place, value, offset=immediate or None, **flags)
        return ()
    assert names[0] is not None
    form = global_form(lw, address)
    immediate = form.immediate
    operands: tuple[Value, Value, Value | None]
    if form.address is not None:
        operands = (form.address, value, None)
    else:
        offset = form.offset if form.offset is not None else e.to_vector(form.scalar_offset)
        operands = (offset, value, form.base)
    if returns:
        made = e.fresh(names[0], *operands, units=units, offset=immediate or None, glc=1, **flags)[0]
        return tuple(e.parts(made))
    e.fresh(names[0], *operands, classes=("off",), offset=immediate or None, **flags)
    return ()


def compare_and_swap(lw: Lowering, address: Address, expected: Words, new: Words) -> Words:
    """The old value; memory becomes ``new`` where it equalled ``expected``."""
    e = lw.e
    units = len(new)
    bits = 32 * units
    flags = _flags(address)
    if address.root.space == "workgroup":
        word, immediate = local_form(lw, address, 4 * units)
        # LDS takes the new value first, then the one compared with.
        made = e.fresh(
            f"ds_cmpstore_rtn_b{bits}",
            e.to_vector(word),
            e.join([e.to_vector(w) for w in new], vector=True),
            e.join([e.to_vector(w) for w in expected], vector=True),
            units=units,
            offset=immediate or None,
            **flags,
        )[0]
        return tuple(e.parts(made))
    return _issue(lw, (f"global_atomic_cmpswap_b{bits}", None, None), address, (*new, *expected), units, True)


def _loop(lw: Lowering, op: Operation, address: Address, units: int, step: Callable[[Words], Words]) -> Words:
    """Compare-and-swap until no lane was overtaken; gives the old value."""
    from loom.target.amdgpu.lowering.control_flow import branch, branch_if, enter, new_block
    from loom.target.amdgpu.lowering.loops import leave_lanes

    lw.note("compare-and-swap loop")
    e = lw.e
    first = load_words(lw, op, address, 4 * units)
    start = [e.to_vector(w) for w in first]
    outer = e.exec
    saved = e.copy_exec()
    loop, latch, done = new_block(lw, "swap"), new_block(lw, "again"), new_block(lw, "exit")
    anchor = branch(lw, loop, start)
    with e.scope(Scope(loop=True, block=e.block, anchor=anchor, exec=outer)), e.stay():
        enter(lw, loop)
        e.exec = object()
        old: Words = tuple(e.define(loop.add_argument(v.type)) for v in start)
        seen = compare_and_swap(lw, address, old, step(old))
        kept = [e.fresh("v_mov_b32", s, old=(o,))[0] for s, o in zip(seen, old, strict=True)]  # type: ignore[arg-type]
        if units == 2:
            differs = lw.t.compare64("ne", (seen[0], seen[1]), (old[0], old[1]), signed=False)
        else:
            differs = lw.t.compare32("ne", seen[0], old[0], signed=False)
        more = leave_lanes(lw, differs)
        branch_if(lw, more, latch, done)
        enter(lw, latch)
        branch(lw, loop, kept)
    enter(lw, done)
    e.restore_exec(saved, outer)
    for value in kept:
        e.depth[value] = len(e.scopes) - 1
    return tuple(kept)


def _step(lw: Lowering, kind: str, old: Words, value: Words, element: Type) -> Words:
    from loom.target.amdgpu.lowering.vectors import combine

    if kind in ("xchgi", "xchgf"):
        return value
    if kind == "subi":
        from loom.target.amdgpu.lowering.scalars import _integer_element

        return _integer_element(lw, "subi", element_bits(element), (old, value))
    return combine(lw, kind, old, value, element)


def atomic(
    lw: Lowering, op: Operation, kind: str, address: Address, value: Words, element: Type, returns: bool
) -> Words:
    """A read-modify-write of one element; the old value where it is asked for."""
    bits = element_bits(element)
    if address.root.space == "private":
        # Nobody else sees private memory.
        lw.note("plain load and store of private memory")
        old = load_words(lw, op, address, bits // 8)
        store_words(lw, op, address, _step(lw, kind, old, value, element), bits // 8)
        return old
    names = NATIVE.get((kind, bits))
    if names is not None and (bits == 32 or not isinstance(element, FloatType) or kind.startswith("xchg")):
        lw.note("one atomic instruction")
        return _issue(lw, names, address, value, bits // 32, returns)
    if bits >= 32:
        return _loop(lw, op, address, bits // 32, lambda old: _step(lw, kind, old, value, element))
    return _narrow(lw, op, address, bits, lambda old: _step(lw, kind, old, value, element))


def _narrow(lw: Lowering, op: Operation, address: Address, bits: int, step: Callable[[Words], Words]) -> Words:
    """An element of 8 or 16 bits: swap the aligned word around it."""
    lw.note(f"{bits}-bit element inside of its aligned word")
    i = lw.i
    aligned, shift = aligned_word(lw, address)
    mask = i.shl((1 << bits) - 1, shift)

    def whole(old: Words) -> Words:
        field = step((i.shr(old[0], shift),))
        placed = i.and_(i.shl(field[0], shift), mask)
        return (i.or_(i.and_(old[0], i.not_(mask)), placed),)

    old = _loop(lw, op, aligned, 1, whole)
    return (i.shr(old[0], shift),)


def aligned_word(lw: Lowering, address: Address) -> tuple[Address, Any]:
    """The aligned word that holds a narrow element, and the element's bit position in it."""
    from loom.target.amdgpu.lowering.addressing import Affine, WordLeaf, sum32, sum64
    from loom.target.amdgpu.lowering.values import IndexValue, Root

    i, root = lw.i, address.root
    if root.space == "workgroup":
        word = i.add(sum32(lw, address.affine.terms, address.affine.constant + root.offset), root.dynamic)
        start = i.and_(word, 0xFFFFFFFC)
        leaf = WordLeaf(IndexValue((start,)), (0, 65535), 4)
        moved = Address(Root("workgroup", None, 0, 4, root.alias), Affine({leaf: 1}), (0, 65535), 4)
        return moved, i.shl(i.and_(word, 3), 3)
    assert root.base is not None
    pair = i.add64(i.split(root.base), sum64(lw, address.affine.terms, address.affine.constant))
    base = lw.e.join([i.and_(pair[0], 0xFFFFFFFC), pair[1]])
    moved = Address(Root("global", base, alignment=4, alias=root.alias), Affine(), (0, 0), 4)
    return moved, i.shl(i.and_(pair[0], 3), 3)


def _order(op: Operation) -> tuple[str, str]:
    ordering = op.attributes.get("ordering", op.attributes.get("success_ordering", "relaxed"))
    return str(ordering), str(op.attributes.get("scope", "device"))


def _fenced(lw: Lowering, op: Operation, local: bool, build: Callable[[], None]) -> None:
    ordering, scope = _order(op)
    release(lw, ordering, scope)
    build()
    acquire(lw, ordering, scope, local)


def _read_modify_write(lw: Lowering, op: Operation) -> None:
    value = op.operand("value")
    address = element_address(lw, op)
    returns = bool(op.results) and op.results[0].has_uses

    def build() -> None:
        old = atomic(lw, op, str(op.attributes["kind"]), address, lw.words(value), value.type, returns)
        if op.results:
            lw.set(op.results[0], old)

    _fenced(lw, op, address.root.space == "workgroup", build)


def _exchange(lw: Lowering, op: Operation) -> None:
    expected, new = lw.words(op.operand("expected")), lw.words(op.operand("replacement"))
    address = element_address(lw, op)

    def build() -> None:
        lw.set(op.results[0], exchange_element(lw, op, address, expected, new, op.results[0].type))

    _fenced(lw, op, address.root.space == "workgroup", build)


def exchange_element(
    lw: Lowering, op: Operation, address: Address, expected: Words, new: Words, element: Type
) -> Words:
    """Compare and exchange one element of any width; the old value."""
    bits = element_bits(element)
    if bits >= 32:
        return compare_and_swap(lw, address, expected, new)
    i = lw.i

    def step(old: Words) -> Words:
        same = lw.t.compare32("eq", i.zero_extend(old[0], bits), i.zero_extend(expected[0], bits), signed=False)
        return (lw.t.select_word(same, new[0], old[0]),)

    return _narrow(lw, op, address, bits, step)


def _load(lw: Lowering, op: Operation) -> None:
    address = element_address(lw, op)
    ordering, scope = _order(op)
    size = element_bits(op.results[0].type) // 8
    if ordering == "seq_cst":
        release(lw, ordering, scope)
    lw.set(op.results[0], _uncached(lw, address, size, scope))
    acquire(lw, ordering, scope, address.root.space == "workgroup")


def _uncached(lw: Lowering, address: Address, size: int, scope: str) -> Words:
    from loom.target.amdgpu.lowering.memory import issue_load

    flags = _flags(address)
    flags["volatile"] = True
    if address.root.space == "global" and scope in ("workgroup", "device", "system"):
        flags["glc"] = 1
    return issue_load(lw, address, size, flags)


def _store(lw: Lowering, op: Operation) -> None:
    address = element_address(lw, op)
    ordering, scope = _order(op)
    release(lw, ordering, scope)
    store_words(lw, op, address, lw.words(op.operand("value")), element_bits(op.operand("value").type) // 8)
    if ordering == "seq_cst":
        acquire(lw, ordering, scope, address.root.space == "workgroup")


def _vector_atomic(lw: Lowering, op: Operation) -> None:
    """Lane by lane; each lane is an atomic of its own."""
    from loom.target.amdgpu.lowering.gather import offset_addresses, under

    value = op.operand("value")
    element = element_of(value.type)
    kind = str(op.attributes["kind"])
    masked = ".mask" in op.name
    addresses = offset_addresses(lw, op)
    truths = lw.lanes_of_truth(op.operand("mask")) if masked else (lw.t.constant(True),) * len(addresses)
    old = lw.elements(op.operand("passthrough")) if masked and op.results else None
    returns = bool(op.results)
    ordering, scope = _order(op)
    release(lw, ordering, scope)
    out: list[Words] = []
    for index, (address, truth, words) in enumerate(zip(addresses, truths, lw.elements(value), strict=True)):

        def build(address: Address = address, words: Words = words) -> Words:
            found = atomic(lw, op, kind, address, words, element, returns)
            return found if returns else ()

        before: Words = old[index] if old is not None else ()
        if truth.constant:
            out.append(build())
        else:
            out.append(under(lw, truth, before, build))
    acquire(lw, ordering, scope, addresses[0].root.space == "workgroup")
    if returns:
        lw.set_elements(op.results[0], out)


def _vector_exchange(lw: Lowering, op: Operation) -> None:
    from loom.target.amdgpu.lowering.gather import offset_addresses

    expected, new = lw.elements(op.operand("expected")), lw.elements(op.operand("replacement"))
    element = element_of(op.results[0].type)
    ordering, scope = _order(op)
    release(lw, ordering, scope)
    addresses = offset_addresses(lw, op)
    out = [exchange_element(lw, op, a, e, n, element) for a, e, n in zip(addresses, expected, new, strict=True)]
    acquire(lw, ordering, scope, addresses[0].root.space == "workgroup")
    lw.set_elements(op.results[0], out)


HANDLERS: dict[str, Handler] = {
    "view.atomic.reduce": _read_modify_write,
    "view.atomic.rmw": _read_modify_write,
    "view.atomic.cmpxchg": _exchange,
    "view.atomic.load": _load,
    "view.atomic.store": _store,
    "vector.atomic.reduce": _vector_atomic,
    "vector.atomic.reduce.mask": _vector_atomic,
    "vector.atomic.rmw": _vector_atomic,
    "vector.atomic.rmw.mask": _vector_atomic,
    "vector.atomic.cmpxchg": _vector_exchange,
}
