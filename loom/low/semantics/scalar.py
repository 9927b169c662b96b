"""Semantic operations of the scalar unit (AMD RDNA3 ISA, "Scalar ALU operations"); control flow is elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from loom.low.semantics.expression import (
    Expr,
    ashr,
    bitcast,
    const,
    icmp,
    node,
    resize,
    select,
    sext,
    smax,
    smin,
    trunc,
    umax,
    umin,
    zext,
)
from loom.low.semantics.floats import (
    compare,
    extend_half,
    fadd,
    ffma,
    float_to_int,
    fmul,
    fsub,
    integral,
    maximum_number,
    minimum_number,
    single_to_half,
    single_to_half_truncated,
)
from loom.low.semantics.operation import ACCUMULATING, Context, define


def nonzero(value: Expr) -> Expr:
    """SCC of most logical operations: whether the result differs from zero."""
    return icmp("ne", value, 0)


def with_nonzero(function: Callable[..., Expr]) -> Callable[..., tuple[Expr, Expr]]:
    """A result together with whether it is nonzero."""

    def build(c: Context, *values: Expr) -> tuple[Expr, Expr]:
        result = function(*values)
        return result, nonzero(result)

    return build


def plain(function: Callable[..., Expr]) -> Callable[..., Expr]:
    """An operation that does not depend on the context."""
    return lambda c, *values: function(*values)


def carry_add(a: Expr, b: Expr, carry: Expr | None = None) -> tuple[Expr, Expr]:
    """32-bit sum and carry out."""
    total = zext(a, "i64") + zext(b, "i64")
    if carry is not None:
        total = total + zext(carry, "i64")
    return trunc(total, "i32"), icmp("ne", total >> 32, 0)


def borrow_sub(a: Expr, b: Expr, borrow: Expr | None = None) -> tuple[Expr, Expr]:
    """32-bit difference and borrow out."""
    total = zext(a, "i64") - zext(b, "i64")
    if borrow is not None:
        total = total - zext(borrow, "i64")
    return trunc(total, "i32"), icmp("ne", total >> 63, 0)


def overflow_add(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Signed 32-bit sum and overflow."""
    total = a + b
    return total, icmp("ne", (total ^ a) & (total ^ b) & 0x80000000, 0)


def overflow_sub(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Signed 32-bit difference and overflow."""
    total = a - b
    return total, icmp("ne", (a ^ b) & (total ^ a) & 0x80000000, 0)


def multiply_high(a: Expr, b: Expr, signed: bool) -> Expr:
    """Upper half of the 32 x 32-bit product."""
    extend = sext if signed else zext
    return trunc((extend(a, "i64") * extend(b, "i64")) >> 32, "i32")


def bit_field(value: Expr, offset: Expr, width: Expr, signed: bool) -> Expr:
    """``width`` bits from ``offset``; a field that passes the top is cut off; width 0 gives 0."""
    bits_ = value.width
    type_ = value.type
    amount = resize(offset, type_) & (bits_ - 1)
    count = resize(width, type_)
    moved = ashr(value, amount) if signed else value >> amount
    full = icmp("uge", count, bits_)
    if signed:
        drop = (const(type_, bits_) - count) & (bits_ - 1)
        field_value = ashr(moved << drop, drop)
    else:
        field_value = moved & ((const(type_, 1) << count) - 1)
    return select(icmp("eq", count, 0), 0, select(full, moved, field_value))


def bit_field_mask(width: Expr, offset: Expr, type_: str) -> Expr:
    """``((1 << width) - 1) << offset``."""
    ones = (const(type_, 1) << resize(width, type_)) - 1
    return ones << resize(offset, type_)


def _scalar_field(signed: bool, type_: str) -> Callable[..., tuple[Expr, Expr]]:
    def build(c: Context, value: Expr, control: Expr) -> tuple[Expr, Expr]:
        limit = 31 if type_ == "i32" else 63
        result = bit_field(value, control & limit, (control >> 16) & 0x7F, signed)
        return result, nonzero(result)

    return build


def find_leading(value: Expr, type_: str) -> Expr:
    """Zeros above the first one; -1 when there is no one."""
    return select(icmp("eq", value, 0), const("i32", -1), resize(node("ctlz", type_, value), "i32"))


def find_trailing(value: Expr, type_: str) -> Expr:
    """Position of the lowest one; -1 when there is none."""
    return select(icmp("eq", value, 0), const("i32", -1), resize(node("cttz", type_, value), "i32"))


def find_sign(value: Expr, type_: str) -> Expr:
    """Bits below the sign that equal it, counted from the top; -1 when all do."""
    sign = ashr(value, value.width - 1)
    return find_leading(value ^ sign, type_)


def wide_quad_mask(value: Expr, spread: bool) -> Expr:
    """Bit i: whether any bit of the i-th group of four is set; whole-quad mode spreads it to all four."""
    any_ = value | (value >> 1) | (value >> 2) | (value >> 3)
    low_bits = 0x1111111111111111 & ((1 << value.width) - 1)
    groups = any_ & low_bits
    if spread:
        return groups * 15
    result = const(value.type, 0)
    for group in range(value.width // 4):
        result = result | (((groups >> (4 * group)) & 1) << group)
    return result


def replicate_bits(value: Expr) -> Expr:
    """Every bit of 32 doubled."""
    wide = zext(value, "i64")
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333), (1, 0x5555555555555555),
    ):  # fmt: skip
        wide = (wide | (wide << shift)) & mask
    return wide | (wide << 1)


_LOGIC: dict[str, Callable[[Expr, Expr], Expr]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
    "and_not1": lambda a, b: a & ~b,
    "or_not1": lambda a, b: a | ~b,
}
_LOGIC_NOT0: dict[str, Callable[[Expr, Expr], Expr]] = {
    "and_not0": lambda s, e: ~s & e,
    "or_not0": lambda s, e: ~s | e,
}
_SHIFT_ALIASES = {"and_not1": "andn2", "or_not1": "orn2", "and_not0": "andn1", "or_not0": "orn1"}


def _spellings(name: str, rest: str) -> str:
    older = _SHIFT_ALIASES.get(name)
    return f"s_{name}{rest}" + (f" s_{older}{rest}" if older else "")


def _declare_logic() -> None:
    for bits_ in (32, 64):
        type_ = f"i{bits_}"
        for name, function in _LOGIC.items():
            define(_spellings(name, f"_b{bits_}"), f"{type_} | scc = {type_} {type_}", with_nonzero(function))
        for name, function in {**_LOGIC, **_LOGIC_NOT0}.items():
            # D is the old EXEC, EXEC becomes the combination of the source and the old EXEC.
            def save(c: Context, s: Expr, e: Expr, f: Callable[[Expr, Expr], Expr] = function) -> tuple[Expr, ...]:
                new = f(s, e)
                return e, nonzero(new), new

            define(_spellings(name, f"_saveexec_b{bits_}"), f"{type_} | scc exec = {type_} | exec", save)
        for name in ("and_not0", "and_not1"):
            combine = _LOGIC_NOT0[name] if name == "and_not0" else _LOGIC[name]

            def write(c: Context, s: Expr, e: Expr, f: Callable[[Expr, Expr], Expr] = combine) -> tuple[Expr, ...]:
                new = f(s, e)
                return new, nonzero(new), new

            define(_spellings(name, f"_wrexec_b{bits_}"), f"{type_} | scc exec = {type_} | exec", write)
        define(f"s_not_b{bits_}", f"{type_} | scc = {type_}", with_nonzero(lambda a: ~a))
        define(f"s_wqm_b{bits_}", f"{type_} | scc = {type_}", with_nonzero(lambda a: wide_quad_mask(a, True)))
        define(f"s_quadmask_b{bits_}", f"{type_} | scc = {type_}", with_nonzero(lambda a: wide_quad_mask(a, False)))
        define(f"s_mov_b{bits_}", f"{type_} = {type_}", plain(lambda a: a))
        define(f"s_cmov_b{bits_}", f"{type_} = {type_} {type_} | scc", lambda c, old, a, scc: select(scc, a, old))
        ACCUMULATING.add(f"s_cmov_b{bits_}")
        define(f"s_brev_b{bits_}", f"{type_} = {type_}", lambda c, a: node("bitreverse", a.type, a))
        define(f"s_lshl_b{bits_}", f"{type_} | scc = {type_} i32", with_nonzero(lambda a, n: a << (n & (a.width - 1))))
        define(f"s_lshr_b{bits_}", f"{type_} | scc = {type_} i32", with_nonzero(lambda a, n: a >> (n & (a.width - 1))))
        define(f"s_ashr_i{bits_}", f"{type_} | scc = {type_} i32", with_nonzero(lambda a, n: ashr(a, n)))
        define(f"s_bfe_u{bits_}", f"{type_} | scc = {type_} i32", _scalar_field(False, type_))
        define(f"s_bfe_i{bits_}", f"{type_} | scc = {type_} i32", _scalar_field(True, type_))
        define(
            f"s_bfm_b{bits_}",
            f"{type_} = i32 i32",
            lambda c, w, o, t=type_: bit_field_mask(w, o, t),
        )
        define(f"s_cselect_b{bits_}", f"{type_} = {type_} {type_} | scc", lambda c, a, b, scc: select(scc, a, b))
        define(
            f"s_bcnt0_i32_b{bits_}",
            f"i32 | scc = {type_}",
            with_nonzero(lambda a: resize(node("ctpop", a.type, ~a), "i32")),
        )
        define(
            f"s_bcnt1_i32_b{bits_}",
            f"i32 | scc = {type_}",
            with_nonzero(lambda a: resize(node("ctpop", a.type, a), "i32")),
        )
        define(f"s_ff1_i32_b{bits_} s_ctz_i32_b{bits_}", f"i32 = {type_}", lambda c, a: find_trailing(a, a.type))
        define(f"s_flbit_i32_b{bits_} s_clz_i32_u{bits_}", f"i32 = {type_}", lambda c, a: find_leading(a, a.type))
        sign_names = "s_cls_i32 s_flbit_i32" if bits_ == 32 else "s_cls_i32_i64 s_flbit_i32_i64"
        define(sign_names, f"i32 = {type_}", lambda c, a: find_sign(a, a.type))
        define(
            f"s_bitset0_b{bits_}",
            f"{type_} = {type_} i32",
            lambda c, old, n: old & ~(const(old.type, 1) << (n & (old.width - 1))),
        )
        define(
            f"s_bitset1_b{bits_}",
            f"{type_} = {type_} i32",
            lambda c, old, n: old | (const(old.type, 1) << (n & (old.width - 1))),
        )
        ACCUMULATING.update((f"s_bitset0_b{bits_}", f"s_bitset1_b{bits_}"))
        define(
            f"s_bitcmp0_b{bits_}",
            f"| scc = {type_} i32",
            lambda c, a, n: (icmp("eq", (a >> (n & (a.width - 1))) & 1, 0),),
        )
        define(
            f"s_bitcmp1_b{bits_}",
            f"| scc = {type_} i32",
            lambda c, a, n: (icmp("ne", (a >> (n & (a.width - 1))) & 1, 0),),
        )


def _declare_arithmetic() -> None:
    for bits_ in (32, 64):
        define(f"s_ctz_not_i32_b{bits_} s_ff0_i32_b{bits_}", f"i32 = i{bits_}", lambda c, a: find_trailing(~a, a.type))
    define("s_add_u32 s_add_co_u32", "i32 | scc = i32 i32", lambda c, a, b: carry_add(a, b))
    define("s_sub_u32 s_sub_co_u32", "i32 | scc = i32 i32", lambda c, a, b: borrow_sub(a, b))
    define("s_addc_u32 s_add_co_ci_u32", "i32 | scc = i32 i32 | scc", lambda c, a, b, k: carry_add(a, b, k))
    define("s_subb_u32 s_sub_co_ci_u32", "i32 | scc = i32 i32 | scc", lambda c, a, b, k: borrow_sub(a, b, k))
    define("s_add_i32 s_add_co_i32", "i32 | scc = i32 i32", lambda c, a, b: overflow_add(a, b))
    define("s_sub_i32 s_sub_co_i32", "i32 | scc = i32 i32", lambda c, a, b: overflow_sub(a, b))
    define("s_add_u64 s_add_nc_u64", "i64 = i64 i64", plain(lambda a, b: a + b))
    define("s_sub_u64 s_sub_nc_u64", "i64 = i64 i64", plain(lambda a, b: a - b))
    define("s_mul_u64", "i64 = i64 i64", plain(lambda a, b: a * b))
    define("s_mul_i32", "i32 = i32 i32", plain(lambda a, b: a * b))
    define("s_mul_hi_u32", "i32 = i32 i32", plain(lambda a, b: multiply_high(a, b, False)))
    define("s_mul_hi_i32", "i32 = i32 i32", plain(lambda a, b: multiply_high(a, b, True)))
    define("s_abs_i32", "i32 | scc = i32", with_nonzero(lambda a: select(icmp("slt", a, 0), const("i32", 0) - a, a)))

    def difference(c: Context, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        value = a - b
        value = select(icmp("slt", value, 0), const("i32", 0) - value, value)
        return value, nonzero(value)

    define("s_absdiff_i32", "i32 | scc = i32 i32", difference)
    for name, choose, predicate in (
        ("s_min_i32", smin, "slt"), ("s_min_u32", umin, "ult"), ("s_max_i32", smax, "sge"), ("s_max_u32", umax, "uge"),
    ):  # fmt: skip
        define(
            name,
            "i32 | scc = i32 i32",
            lambda c, a, b, f=choose, p=predicate: (f(a, b), icmp(p, a, b)),
        )
    for shift in (1, 2, 3, 4):

        def shifted(c: Context, a: Expr, b: Expr, n: int = shift) -> tuple[Expr, Expr]:
            total = (zext(a, "i64") << n) + zext(b, "i64")
            return trunc(total, "i32"), icmp("ugt", total, 0xFFFFFFFF)

        define(f"s_lshl{shift}_add_u32", "i32 | scc = i32 i32", shifted)
    define("s_sext_i32_i8", "i32 = i32", plain(lambda a: sext(trunc(a, "i8"), "i32")))
    define("s_sext_i32_i16", "i32 = i32", plain(lambda a: sext(trunc(a, "i16"), "i32")))
    define("s_bitreplicate_b64_b32", "i64 = i32", plain(replicate_bits))
    for name, low_half, high_half in (("ll", 0, 0), ("lh", 0, 1), ("hh", 1, 1), ("hl", 1, 0)):
        define(
            f"s_pack_{name}_b32_b16",
            "i32 = i32 i32",
            lambda c, a, b, x=low_half, y=high_half: ((a >> (16 * x)) & 0xFFFF) | (((b >> (16 * y)) & 0xFFFF) << 16),
        )
    # SOPK: the old destination, then the sign-extended constant.
    define("s_movk_i32", "i32 = i32", plain(lambda k: k))
    define("s_cmovk_i32", "i32 = i32 i32 | scc", lambda c, old, k, scc: select(scc, k, old))
    define("s_addk_i32 s_addk_co_i32", "i32 | scc = i32 i32", lambda c, old, k: overflow_add(old, k))
    define("s_mulk_i32", "i32 = i32 i32", plain(lambda old, k: old * k))
    ACCUMULATING.update(("s_cmovk_i32", "s_addk_i32", "s_addk_co_i32", "s_mulk_i32"))


def _declare_compares() -> None:
    for name, signed, unsigned in (
        ("eq", "eq", "eq"), ("lg", "ne", "ne"), ("gt", "sgt", "ugt"),
        ("ge", "sge", "uge"), ("lt", "slt", "ult"), ("le", "sle", "ule"),
    ):  # fmt: skip
        for kind, predicate in (("i32", signed), ("u32", unsigned)):
            define(f"s_cmp_{name}_{kind}", "| scc = i32 i32", lambda c, a, b, p=predicate: (icmp(p, a, b),))
            define(f"s_cmpk_{name}_{kind}", "| scc = i32 i32", lambda c, a, b, p=predicate: (icmp(p, a, b),))
    define("s_cmp_eq_u64", "| scc = i64 i64", lambda c, a, b: (icmp("eq", a, b),))
    define("s_cmp_lg_u64", "| scc = i64 i64", lambda c, a, b: (icmp("ne", a, b),))


FLOAT_COMPARES = {
    "f": None, "lt": "olt", "eq": "oeq", "le": "ole", "gt": "ogt", "lg": "one", "ge": "oge", "o": "ord",
    "u": "uno", "nge": "ult", "nlg": "ueq", "ngt": "ule", "nle": "ugt", "neq": "une", "nlt": "uge", "t": "true",
}  # fmt: skip
"""Comparison names of the ISA and LLVM's predicates."""


def _declare_floats() -> None:
    """Scalar floating point (gfx11.5 and later)."""
    for kind in ("f32", "f16"):
        define(f"s_add_{kind}", f"{kind} = {kind} {kind}", fadd)
        define(f"s_sub_{kind}", f"{kind} = {kind} {kind}", fsub)
        define(f"s_mul_{kind}", f"{kind} = {kind} {kind}", fmul)
        define(f"s_min_{kind} s_min_num_{kind}", f"{kind} = {kind} {kind}", minimum_number)
        define(f"s_max_{kind} s_max_num_{kind}", f"{kind} = {kind} {kind}", maximum_number)
        define(f"s_fmac_{kind}", f"{kind} = {kind} {kind} {kind}", lambda c, d, a, b: ffma(c, a, b, d))
        ACCUMULATING.add(f"s_fmac_{kind}")
        for name, op in (("floor", "floor"), ("ceil", "ceil"), ("trunc", "ftrunc"), ("rndne", "rint")):
            define(f"s_{name}_{kind}", f"{kind} = {kind}", lambda c, a, o=op: integral(c, o, a))
        for name, predicate in FLOAT_COMPARES.items():
            if predicate in (None, "true"):
                continue
            define(
                f"s_cmp_{name}_{kind}",
                f"| scc = {kind} {kind}",
                lambda c, a, b, p=predicate: (compare(c, p, a, b),),
            )
    define("s_fmaak_f32", "f32 = f32 f32 f32", ffma)
    define("s_fmamk_f32", "f32 = f32 f32 f32", lambda c, a, k, b: ffma(c, a, k, b))
    define("s_cvt_f32_i32", "f32 = i32", lambda c, a: node("sitofp", "f32", a))
    define("s_cvt_f32_u32", "f32 = i32", lambda c, a: node("uitofp", "f32", a))
    define("s_cvt_i32_f32", "i32 = f32", lambda c, a: float_to_int(a, 32, True))
    define("s_cvt_u32_f32", "i32 = f32", lambda c, a: float_to_int(a, 32, False))
    define("s_cvt_f16_f32", "f16 = f32", single_to_half)
    define("s_cvt_f32_f16", "f32 = f16", lambda c, a: extend_half(a))
    define("s_cvt_hi_f32_f16", "f32 = i32", lambda c, a: extend_half(bitcast(trunc(a >> 16, "i16"), "f16")))
    halved = single_to_half_truncated
    define("s_cvt_pk_rtz_f16_f32", "v2f16 = f32 f32", lambda c, a, b: (halved(c, a), halved(c, b)))


_declare_logic()
_declare_arithmetic()
_declare_compares()
_declare_floats()
