"""Float arithmetic: one table of instructions, exact division and square root, conversions.

Single and double precision run natively. Half precision runs natively where an instruction exists. ``bf16`` and the
8-bit formats are computed in single precision and rounded, which for add, subtract, multiply, divide and square
root is the correctly rounded result (24 bits are at least twice 11 plus 2).
"""

from __future__ import annotations

from collections.abc import Sequence

from loom.ir import Value
from loom.target.amdgpu.lowering.context import Lowering
from loom.target.amdgpu.lowering.emitter import VCC, Operand, is_vector
from loom.target.amdgpu.lowering.values import Truth, Words

# (operation, format) → instruction; all take sources in order.
INSTRUCTIONS: dict[tuple[str, str], str] = {
    ("add", "f32"): "v_add_f32",
    ("sub", "f32"): "v_sub_f32",
    ("mul", "f32"): "v_mul_f32",
    ("fma", "f32"): "v_fma_f32",
    ("min", "f32"): "v_min_f32",
    ("max", "f32"): "v_max_f32",
    ("floor", "f32"): "v_floor_f32",
    ("ceil", "f32"): "v_ceil_f32",
    ("trunc", "f32"): "v_trunc_f32",
    ("rint", "f32"): "v_rndne_f32",
    ("fract", "f32"): "v_fract_f32",
    ("rcp", "f32"): "v_rcp_f32",
    ("rsq", "f32"): "v_rsq_f32",
    ("sqrt", "f32"): "v_sqrt_f32",
    ("exp2", "f32"): "v_exp_f32",
    ("log2", "f32"): "v_log_f32",
    ("sin", "f32"): "v_sin_f32",
    ("cos", "f32"): "v_cos_f32",
    ("ldexp", "f32"): "v_ldexp_f32",
    ("frexp_mant", "f32"): "v_frexp_mant_f32",
    ("frexp_exp", "f32"): "v_frexp_exp_i32_f32",
    ("med3", "f32"): "v_med3_f32",
    ("add", "f16"): "v_add_f16",
    ("sub", "f16"): "v_sub_f16",
    ("mul", "f16"): "v_mul_f16",
    ("fma", "f16"): "v_fma_f16",
    ("min", "f16"): "v_min_f16",
    ("max", "f16"): "v_max_f16",
    ("floor", "f16"): "v_floor_f16",
    ("ceil", "f16"): "v_ceil_f16",
    ("trunc", "f16"): "v_trunc_f16",
    ("rint", "f16"): "v_rndne_f16",
    ("rcp", "f16"): "v_rcp_f16",
    ("rsq", "f16"): "v_rsq_f16",
    ("sqrt", "f16"): "v_sqrt_f16",
    ("exp2", "f16"): "v_exp_f16",
    ("log2", "f16"): "v_log_f16",
    ("add", "f64"): "v_add_f64",
    ("mul", "f64"): "v_mul_f64",
    ("fma", "f64"): "v_fma_f64",
    ("min", "f64"): "v_min_f64",
    ("max", "f64"): "v_max_f64",
    ("floor", "f64"): "v_floor_f64",
    ("ceil", "f64"): "v_ceil_f64",
    ("trunc", "f64"): "v_trunc_f64",
    ("rint", "f64"): "v_rndne_f64",
    ("fract", "f64"): "v_fract_f64",
    ("rcp", "f64"): "v_rcp_f64",
    ("rsq", "f64"): "v_rsq_f64",
    ("ldexp", "f64"): "v_ldexp_f64",
    ("frexp_mant", "f64"): "v_frexp_mant_f64",
    ("frexp_exp", "f64"): "v_frexp_exp_i32_f64",
}

PACKED: dict[str, str] = {
    "add": "v_pk_add_f16",
    "mul": "v_pk_mul_f16",
    "fma": "v_pk_fma_f16",
    "min": "v_pk_min_f16",
    "max": "v_pk_max_f16",
}
"""Two half-precision operations in one."""

# (outer, inner) → three-operand instruction, for chains of minima and maxima.
MINMAX3 = {
    ("min", "min", "f32"): "v_min3_f32",
    ("max", "max", "f32"): "v_max3_f32",
    ("min", "min", "f16"): "v_min3_f16",
    ("max", "max", "f16"): "v_max3_f16",
}

_COMMUTATIVE = ("add", "mul", "min", "max")

SIGN_BIT = {"f16": 0x8000, "bf16": 0x8000, "f32": 0x80000000, "f64": 0x80000000}
"""Sign bit in the (high) word."""

NAN = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF80000}
"""Quiet NaN: the (high) word."""


class Floats:
    """Arithmetic on float values given as words; a value is a tuple of one word, or two for ``f64``."""

    def __init__(self, lw: Lowering) -> None:
        self.lw = lw
        self._modified: dict[Value, tuple[Value, bool, bool]] = {}
        self._origin: dict[Value, tuple[str, Operand, Operand]] = {}

    # Operands

    def operand(self, words: Words) -> Operand:
        """One operand of an instruction."""
        return words[0] if len(words) == 1 else self.lw.i.join((words[0], words[1]))

    def words(self, value: Value) -> Words:
        """The words of a result."""
        return tuple(self.lw.e.parts(value))

    def op(self, name: str, kind: str, *sources: Words, clamp: bool = False) -> Words:
        """An operation of :data:`INSTRUCTIONS` with sign modifiers folded into its sources."""
        if (name, kind) == ("sub", "f64"):
            return self.op("add", kind, sources[0], self.neg(sources[1], kind))
        mnemonic = INSTRUCTIONS[name, kind]
        operands = [self.operand(s) for s in sources]
        if name in ("min", "max"):
            fused = self._three(name, kind, operands)
            if fused is not None:
                return self.words(fused)
        neg = absolute = 0
        plain: list[Operand] = []
        for index, operand in enumerate(operands):
            if isinstance(operand, Value) and operand in self._modified and not name.startswith(("ldexp",)):
                operand, negated, magnitude = self._modified[operand]
                neg |= negated << index
                absolute |= magnitude << index
            plain.append(operand)
        if name in _COMMUTATIVE and len(plain) == 2 and is_vector(plain[0]) and not is_vector(plain[1]):
            # The short encoding wants the vector register second.
            plain.reverse()
            neg = (neg >> 1) | (neg & 1) << 1
            absolute = (absolute >> 1) | (absolute & 1) << 1
        if name == "sub" and not neg and not absolute and is_vector(plain[0]) and not is_vector(plain[1]):
            plain.reverse()
            mnemonic = mnemonic.replace("v_sub_", "v_subrev_")
        made = self.lw.e.op(mnemonic, *plain, neg=neg or None, abs=absolute or None, clamp=1 if clamp else None)[0]
        if len(operands) == 2:
            self._origin[made] = (name, operands[0], operands[1])
        return self.words(made)

    def _three(self, name: str, kind: str, operands: Sequence[Operand]) -> Value | None:
        for inner, outer in ((operands[0], operands[1]), (operands[1], operands[0])):
            if not isinstance(inner, Value):
                continue
            origin = self._origin.get(inner)
            if origin is None:
                continue
            mnemonic = MINMAX3.get((name, origin[0], kind))
            if mnemonic is None or inner.users:
                continue
            if any(isinstance(o, Value) and o in self._modified for o in (*origin[1:], outer)):
                continue
            if self.lw.i._loops(inner) < self.lw.i._loops(outer):
                continue
            return self.lw.e.op(mnemonic, origin[1], origin[2], outer)[0]
        return None

    def neg(self, a: Words, kind: str) -> Words:
        """The sign flipped."""
        return self._sign(a, kind, flip=True)

    def abs(self, a: Words, kind: str) -> Words:
        """The sign cleared."""
        return self._sign(a, kind, flip=False)

    def _sign(self, a: Words, kind: str, flip: bool) -> Words:
        i = self.lw.i
        bit = SIGN_BIT[kind]
        mask = 0xFFFF if bit == 0x8000 else 0xFFFFFFFF
        high = a[-1]
        made = i.xor(high, bit) if flip else i.and_(high, mask & ~bit)
        result: Words = (*a[:-1], made)
        operand = self.operand(result) if not all(isinstance(w, int) for w in result) else None
        source = self.operand(a)
        if isinstance(operand, Value) and isinstance(source, Value) and kind in ("f16", "f32", "f64"):
            base, negated, magnitude = self._modified.get(source, (source, False, False))
            self._modified[operand] = (base, not negated, magnitude) if flip else (base, False, True)
        return result

    # Exact division and square root

    def divide(self, a: Words, b: Words, kind: str) -> Words:
        """a / b, correctly rounded (``f32``, ``f64``): scale, reciprocal, Newton steps, fix-up.

        The sequence is the one the ISA documents give for V_DIV_SCALE, V_DIV_FMAS and V_DIV_FIXUP.
        """
        e = self.lw.e
        x, y = self.operand(a), self.operand(b)
        one: Operand = 0x3F800000 if kind == "f32" else 0x3FF0000000000000

        def fma(p: Operand, q: Operand, r: Operand, neg: int = 0) -> Value:
            return e.op(f"v_fma_{kind}", p, q, r, neg=neg or None)[0]

        x, y = e.to_vector_pair(x) if kind == "f64" else x, e.to_vector_pair(y) if kind == "f64" else y
        denominator = e.op(f"v_div_scale_{kind}", y, y, x, classes=(None, "null"))[0]
        numerator, scaled = e.fresh(f"v_div_scale_{kind}", x, y, x, classes=(None, VCC))
        reciprocal = e.op(f"v_rcp_{kind}", denominator)[0]
        error = fma(denominator, reciprocal, one, 1)
        reciprocal = fma(error, reciprocal, reciprocal)
        if kind == "f64":
            error = fma(denominator, reciprocal, one, 1)
            reciprocal = fma(error, reciprocal, reciprocal)
            quotient = e.op("v_mul_f64", numerator, reciprocal)[0]
            rest = fma(denominator, quotient, numerator, 1)
        else:
            quotient = e.op("v_mul_f32", numerator, reciprocal)[0]
            rest = fma(denominator, quotient, numerator, 1)
            quotient = fma(rest, reciprocal, quotient)
            rest = fma(denominator, quotient, numerator, 1)
        combined = e.fresh(f"v_div_fmas_{kind}", rest, reciprocal, quotient, state=(scaled,))[0]
        return self.words(e.op(f"v_div_fixup_{kind}", combined, y, x)[0])

    def sqrt(self, a: Words, kind: str) -> Words:
        """Square root, correctly rounded."""
        return self._sqrt32(a) if kind == "f32" else self._sqrt64(a)

    def _sqrt32(self, a: Words) -> Words:
        # v_sqrt_f32 is within one unit; the neighbours are tried with an exact residual. Inputs that the instruction
        # would flush are scaled.
        lw, i = self.lw, self.lw.i
        small = lw.t.compare_float("olt", a[0], 0x0F800000, "f32")  # 2^-96
        x = lw.t.select_word(small, self.op("mul", "f32", a, (0x4F800000,))[0], a[0])  # * 2^32
        root = self.op("sqrt", "f32", (x,))[0]
        below, above = i.add(root, 0xFFFFFFFF), i.add(root, 1)
        too_big = self.op("fma", "f32", self.neg((below,), "f32"), (root,), (x,))[0]
        too_small = self.op("fma", "f32", self.neg((above,), "f32"), (root,), (x,))[0]
        result = lw.t.select_word(lw.t.compare_float("ole", too_big, 0, "f32"), below, root)
        result = lw.t.select_word(lw.t.compare_float("ogt", too_small, 0, "f32"), above, result)
        result = lw.t.select_word(small, self.op("mul", "f32", (result,), (0x37800000,))[0], result)  # * 2^-16
        # Zeros and positive infinity are their own roots.
        return (lw.t.select_word(lw.t.class_test(x, "f32", 0x260), x, result),)

    def _sqrt64(self, a: Words) -> Words:
        # Goldschmidt iteration on the reciprocal square root (as AMD's device libraries do), scaled away from the
        # subnormals.
        lw = self.lw
        value = self.operand(a)
        small = lw.t.compare_float("olt", value, 0x1000000000000000, "f64")  # 2^-767
        up = lw.t.select_word(small, 256, 0)
        down = lw.t.select_word(small, 0xFFFFFF80, 0)
        x = self.op("ldexp", "f64", a, (up,))
        estimate = self.op("rsq", "f64", x)
        half = (0, 0x3FE00000)
        g = self.op("mul", "f64", x, estimate)
        h = self.op("mul", "f64", estimate, half)
        r = self.op("fma", "f64", self.neg(h, "f64"), g, half)
        g = self.op("fma", "f64", g, r, g)
        h = self.op("fma", "f64", h, r, h)
        d = self.op("fma", "f64", self.neg(g, "f64"), g, x)
        g = self.op("fma", "f64", d, h, g)
        d = self.op("fma", "f64", self.neg(g, "f64"), g, x)
        g = self.op("fma", "f64", d, h, g)
        result = self.op("ldexp", "f64", g, (down,))
        special = lw.t.class_test(self.operand(x), "f64", 0x260)
        return lw.t.select(special, x, result)

    # Minimum and maximum that propagate NaN

    def minimum(self, name: str, a: Words, b: Words, kind: str, nan_free: bool) -> Words:
        """``minimumf`` or ``maximumf``; the instructions order -0 below +0 but drop a NaN."""
        found = self.op(name, kind, a, b)
        if nan_free:
            return found
        unordered = self.lw.t.compare_float("uno", self.operand(a), self.operand(b), kind)
        nan: Words = (NAN[kind],) if kind != "f64" else (0, NAN[kind])
        return self.lw.t.select(unordered, nan, found)

    # Conversions

    def to_f32(self, a: Words, kind: str) -> Words:
        """Any format to single precision."""
        if kind == "f32":
            return a
        if kind == "f16":
            if isinstance(a[0], int):
                import struct

                number = struct.unpack("<e", struct.pack("<H", a[0] & 0xFFFF))[0]
                return (int.from_bytes(struct.pack("<f", number), "little"),)
            return (self.lw.e.op("v_cvt_f32_f16", a[0])[0],)
        if kind == "bf16":
            return (self.lw.i.shl(a[0], 16),)
        if kind == "f64":
            return (self.lw.e.op("v_cvt_f32_f64", self.operand(a))[0],)
        from loom.target.amdgpu.lowering.small_floats import f8_to_f32

        return (f8_to_f32(self.lw, a[0], kind),)

    def from_f32(self, a: Words, kind: str) -> Words:
        """Single precision to any format, round to nearest even."""
        if kind == "f32":
            return a
        if kind == "f16":
            return (self.lw.e.op("v_cvt_f16_f32", a[0])[0],)
        if kind == "f64":
            return self.words(self.lw.e.op("v_cvt_f64_f32", a[0])[0])
        if kind == "bf16":
            return (self._round_bf16(a[0]),)
        from loom.target.amdgpu.lowering.small_floats import f32_to_f8

        return (f32_to_f8(self.lw, a[0], kind),)

    def _round_bf16(self, word: Operand) -> Operand:
        # Add just under half of the dropped part, plus the lowest kept bit; a NaN keeps its quiet bit instead.
        lw, i = self.lw, self.lw.i
        lowest = i.bit_field(word, 16, 1)
        rounded = i.add(i.add(word, lowest), 0x7FFF)
        quiet = i.or_(word, 0x400000)
        chosen = lw.t.select_word(lw.t.compare_float("uno", word, word, "f32"), quiet, rounded)
        return i.shr(chosen, 16)

    def convert(self, a: Words, source: str, target: str) -> Words:
        """Between float formats."""
        if source == target:
            return a
        if source == "f64" and target != "f32":
            # Round to odd in single precision first, so that the second rounding is the only one.
            single = self._f64_to_odd(a)
            return self.from_f32((single,), target)
        return self.from_f32(self.to_f32(a, source), target)

    def _f64_to_odd(self, a: Words) -> Operand:
        lw, i = self.lw, self.lw.i
        near = self.lw.e.op("v_cvt_f32_f64", self.operand(a))[0]
        back = self.lw.e.op("v_cvt_f64_f32", near)[0]
        exact = lw.t.compare_float("ueq", back, self.operand(a), "f64")
        # Rounded away from zero: step back first; then set the lowest bit.
        away = lw.t.compare_float(
            "ogt", self.operand(self.abs(self.words(back), "f64")), self.operand(self.abs(a, "f64")), "f64"
        )
        stepped = lw.t.select_word(away, i.sub(near, 1), near)
        return lw.t.select_word(exact, near, i.or_(stepped, 1))

    def select(self, truth: Truth, a: Words, b: Words) -> Words:
        """One of two values."""
        return self.lw.t.select(truth, a, b)


def floats(lw: Lowering) -> Floats:
    """The float arithmetic of a lowering, made once."""
    found = lw.float_arithmetic
    if found is None:
        found = lw.float_arithmetic = Floats(lw)
    assert isinstance(found, Floats)
    return found
