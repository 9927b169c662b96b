"""Memory operations: how many bytes an instruction moves, how it extends or packs them, how an atomic combines them.

The address forms (global, buffer, LDS …) are the target's; what happens to the bytes is stated here, once for all
spaces, and keyed by
the part of the mnemonic behind the space: ``load_b32``, ``store_d16_hi_b16``, ``add_rtn_u32``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from loom.low.semantics.expression import Expr, bitcast, const, halves, icmp, select, smax, smin, umax, umin, zext
from loom.low.semantics.floats import bfloat_to_single, fadd, maximum_number, minimum_number, single_to_bfloat
from loom.low.semantics.operation import Context


@dataclass(frozen=True, slots=True)
class MemoryOperation:
    """What a load, store or atomic does with one lane's memory.

    Attributes:
        kind: ``load``, ``store`` or ``atomic``.
        bytes: Bytes of one element.
        words: 32-bit registers of one element.
        elements: 2 for the two-address LDS forms, else 1.
        stride: Multiplier of the two-address forms' offsets: 1 or 64 elements.
        signed: Sub-dword loads: sign extension.
        half: 16-bit register half that a ``d16`` form reads or writes (0 low, 1 high), None for whole registers.
        update: Atomics: (memory, data, compare) → new memory value, on integers of ``8 * bytes`` bits.
        returns: Whether an atomic always returns the old value (``rtn`` forms); others decide by a cache bit.
        compares: Whether an atomic takes a comparison value.
    """

    kind: str
    bytes: int
    words: int
    elements: int = 1
    stride: int = 1
    signed: bool = False
    half: int | None = None
    update: Callable[[Context, Expr, Expr, Expr], Expr] | None = None
    returns: bool = False
    compares: bool = False
    name: str = ""


_BYTES = {"b8": 1, "i8": 1, "u8": 1, "b16": 2, "i16": 2, "u16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16}
_PLAIN = re.compile(r"^(load|store)_(?:(2addr)_(stride64_)?)?(?:(d16)_(hi_)?)?([biu]\d+)$")
_LDS_SHORT = re.compile(r"^(load|store)_([biu]\d+)_(d16)(_hi)?$")
_SCALAR = re.compile(r"^s_(?:buffer_)?load_([biu]\d+)$")


def _exchange(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
    return data


def _compare_exchange(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
    return select(icmp("eq", old, compare), data, old)


def _float(function: Callable[[Context, Expr, Expr], Expr]) -> Callable[[Context, Expr, Expr, Expr], Expr]:
    def build(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
        kind = f"f{old.width}"
        return bitcast(function(c, bitcast(old, kind), bitcast(data, kind)), old.type)

    return build


def _compare_exchange_float(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
    from loom.low.semantics.floats import compare as float_compare

    kind = f"f{old.width}"
    return select(float_compare(c, "oeq", bitcast(old, kind), bitcast(compare, kind)), data, old)


def _packed_half(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
    words = [
        zext(bitcast(fadd(c, bitcast(o, "f16"), bitcast(d, "f16")), "i16"), "i32")
        for o, d in zip(halves(old), halves(data), strict=True)
    ]
    return words[0] | (words[1] << 16)


def _packed_bfloat(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
    words = [
        zext(single_to_bfloat(fadd(c, bfloat_to_single(o), bfloat_to_single(d))), "i32")
        for o, d in zip(halves(old), halves(data), strict=True)
    ]
    return words[0] | (words[1] << 16)


def _increment(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
    return select(icmp("uge", old, data), const(old.type, 0), old + 1)


def _decrement(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
    return select(icmp("eq", old, 0) | icmp("ugt", old, data), data, old - 1)


def _exchange_flagged(c: Context, old: Expr, data: Expr, compare: Expr) -> Expr:
    """DS_CONDXCHG32: of two words each is replaced where the new one has its top bit set, which is not stored."""
    words = [
        zext(select(icmp("ne", d >> 31, 0), d & 0x7FFFFFFF, o), "i64")
        for o, d in zip(halves(old), halves(data), strict=True)
    ]
    return words[0] | (words[1] << 32)


_UPDATES: dict[str, Callable[[Context, Expr, Expr, Expr], Expr]] = {
    "add_u": lambda c, o, d, k: o + d,
    "sub_u": lambda c, o, d, k: o - d,
    "rsub_u": lambda c, o, d, k: d - o,
    "csub_u": lambda c, o, d, k: select(icmp("ult", o, d), const(o.type, 0), o - d),
    "sub_clamp_u": lambda c, o, d, k: select(icmp("ult", o, d), const(o.type, 0), o - d),
    "cond_sub_u": lambda c, o, d, k: select(icmp("ult", o, d), o, o - d),
    "inc_u": _increment,
    "dec_u": _decrement,
    "min_i": lambda c, o, d, k: smin(o, d),
    "max_i": lambda c, o, d, k: smax(o, d),
    "min_u": lambda c, o, d, k: umin(o, d),
    "max_u": lambda c, o, d, k: umax(o, d),
    "and_b": lambda c, o, d, k: o & d,
    "or_b": lambda c, o, d, k: o | d,
    "xor_b": lambda c, o, d, k: o ^ d,
    "swap_b": _exchange,
    "storexchg_b": _exchange,
    "add_f": _float(fadd),
    "min_f": _float(minimum_number),
    "max_f": _float(maximum_number),
    "min_num_f": _float(minimum_number),
    "max_num_f": _float(maximum_number),
    "wrap_b": lambda c, o, d, k: select(icmp("uge", o, d), o - d, o + k),
    "mskor_b": lambda c, o, d, k: (o & ~d) | k,
}
_COMPARING = {
    "cmpswap_b": _compare_exchange,
    "cmpstore_b": _compare_exchange,
    "cmpswap_f": _compare_exchange_float,
    "cmpstore_f": _compare_exchange_float,
}
#: LDS atomics whose second data operand is not a comparison value but takes part all the same.
_TWO_DATA = frozenset(("wrap_b", "mskor_b"))


def memory_operation(semantic: str) -> MemoryOperation | None:
    """The memory operation of a semantic name such as ``global_load_b32``; None where the name states none."""
    scalar = _SCALAR.match(semantic)
    if scalar:
        size = _scalar_bytes(scalar.group(1))
        if size is None:
            return None
        return MemoryOperation("load", size, max(1, size // 4), signed=scalar.group(1)[0] == "i")
    space, _, rest = semantic.partition("_")
    if space not in ("global", "flat", "scratch", "buffer", "ds"):
        return None
    rest = rest.replace("_addtid", "")
    short_form = _LDS_SHORT.match(rest)
    if short_form:
        # The LDS spelling puts the half last.
        rest = f"{short_form.group(1)}_d16_{'hi_' if short_form.group(4) else ''}{short_form.group(2)}"
    found = _PLAIN.match(rest)
    if found:
        kind, two, far, short, high, type_ = found.groups()
        if type_ not in _BYTES:
            return None
        size = _BYTES[type_]
        half = None
        if short:
            half = 1 if high else 0
        return MemoryOperation(
            kind, size, max(1, size // 4), 2 if two else 1, 64 if far else 1, type_[0] == "i", half, name=rest
        )
    return _atomic(rest)


def _scalar_bytes(type_: str) -> int | None:
    bits = int(type_[1:])
    return bits // 8 if bits in (8, 16, 32, 64, 96, 128, 256, 512) else None


_ATOMIC = re.compile(r"^(?:atomic_)?([a-z_]+?)(_2addr)?(_stride64)?(_rtn)?_([biuf])(32|64)$")


def _atomic(rest: str) -> MemoryOperation | None:
    # "store" forms of 8 and 16 bits are plain; what is left is an atomic or unknown.
    packed = re.match(r"^(?:atomic_)?pk_add(_rtn)?_(f16|bf16)$", rest)
    if packed:
        update = _packed_half if packed.group(2) == "f16" else _packed_bfloat
        return MemoryOperation("atomic", 4, 1, update=update, returns=bool(packed.group(1)), name=rest)
    if rest.startswith("condxchg32"):
        return MemoryOperation("atomic", 8, 2, update=_exchange_flagged, returns="_rtn" in rest, name=rest)
    found = _ATOMIC.match(rest)
    if not found:
        return None
    operation, two, far, returns, kind, bits = found.groups()
    key = f"{operation}_{kind}"
    compares = key in _COMPARING
    function = _COMPARING.get(key) or _UPDATES.get(key)
    if function is None and kind in "iu":
        function = _UPDATES.get(f"{operation}_b")
    if function is None:
        return None
    size = int(bits) // 8
    return MemoryOperation(
        "atomic", size, size // 4, 2 if two else 1, 64 if far else 1, update=function, returns=bool(returns),
        compares=compares or key in _TWO_DATA, name=rest,
    )  # fmt: skip
