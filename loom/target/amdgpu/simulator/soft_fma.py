"""Fused multiply-add for hosts without the instruction: the same bits as with it.

Single precision goes through double precision: the product is exact, the sum is rounded to odd, the conversion then
rounds once (Boldo
and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008). Double precision calls the C library's ``fma``,
whose result IEEE
754 defines bit for bit.
"""

from __future__ import annotations

from loom.low.semantics.expression import Expr, arg, bitcast, bits, const, fcmp, icmp, node, select
from loom.low.semantics.floats import INFINITY, fabs, number, to_f64
from loom.low.semantics.llvm_backend import compile_template


def soft_fma32(a: Expr, b: Expr, c: Expr) -> Expr:
    """Correctly rounded single-precision ``a * b + c`` from double-precision operations."""
    product = node("fmul", "f64", to_f64(a), to_f64(b))
    addend = to_f64(c)
    total = node("fadd", "f64", product, addend)
    virtual = node("fsub", "f64", total, product)
    error = node(
        "fadd", "f64",
        node("fsub", "f64", product, node("fsub", "f64", total, virtual)), node("fsub", "f64", addend, virtual),
    )  # fmt: skip
    nothing = number("f64", 0.0)
    pattern = bits(total)
    finite = icmp("ult", bits(fabs(total)), INFINITY["f64"])
    inexact = finite & fcmp("one", error, nothing) & icmp("eq", pattern & 1, 0)
    away = icmp("eq", (bits(error) ^ pattern) >> 63, 0)
    odd = pattern + select(away, const("i64", 1), const("i64", -1))
    return node("fptrunc", "f32", bitcast(select(inexact, odd, pattern), "f64"))


def soft_fma_text(wave: int) -> str:
    """Definitions of ``@loom.fma.*`` for scalars and vectors of both precisions."""
    parts = ["declare double @fma(double, double, double)\n"]
    declarations: set[str] = set()
    for lane in (False, True):
        kind = f"<{wave} x float>" if lane else "float"
        suffix = f"v{wave}f32" if lane else "f32"
        names = ("a", "b", "c")
        template = compile_template([soft_fma32(*(arg(n, "f32", lane) for n in names))], wave)
        text, (result,) = template.instantiate("t", [(n, f"%{n}") for n in names])
        declarations |= template.declarations
        parts.append(
            f"define {kind} @loom.fma.{suffix}({kind} %a, {kind} %b, {kind} %c) {{\n{text}  ret {kind} {result}\n}}\n"
        )
    parts.append(
        "define double @loom.fma.f64(double %a, double %b, double %c) {\n"
        "  %r = call double @fma(double %a, double %b, double %c)\n  ret double %r\n}\n"
    )
    v = f"<{wave} x double>"
    lines = [f"define {v} @loom.fma.v{wave}f64({v} %a, {v} %b, {v} %c) {{\n"]
    previous = "poison"
    for i in range(wave):
        lines += [f"  %{n}{i} = extractelement {v} %{n}, i64 {i}\n" for n in "abc"]
        lines.append(f"  %f{i} = call double @fma(double %a{i}, double %b{i}, double %c{i})\n")
        lines.append(f"  %r{i} = insertelement {v} {previous}, double %f{i}, i64 {i}\n")
        previous = f"%r{i}"
    lines.append(f"  ret {v} {previous}\n}}\n")
    return "".join(sorted(f"{d}\n" for d in declarations)) + "".join(parts) + "".join(lines)
