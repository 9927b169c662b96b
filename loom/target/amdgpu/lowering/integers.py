"""Integer arithmetic on 32-bit words and pairs of words: scalar or vector unit, constants folded, fused forms found.

Whether an operation runs on the scalar or the vector unit follows from where its operands are: one vector operand
makes it a vector operation. ``OPERATIONS`` and ``FUSIONS`` are the selection tables; a reader looking for the
reason of an instruction finds it there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from loom.ir import Value
from loom.target.amdgpu.lowering.emitter import MASK32, MASK64, Emitter, Operand, is_vector, units_of

Pair: TypeAlias = "tuple[Operand, Operand]"


def signed32(value: int) -> int:
    """Read 32 bits as a signed number."""
    value &= MASK32
    return value - (1 << 32) if value >> 31 else value


# name → (scalar instruction, vector instruction, reversed operands of the vector form, commutative, folding of two
# constants)
OPERATIONS: dict[str, tuple[str | None, str, bool, bool, Callable[[int, int], int]]] = {
    "add": ("s_add_i32", "v_add_nc_u32", False, True, lambda a, b: a + b),
    "sub": ("s_sub_i32", "v_sub_nc_u32", False, False, lambda a, b: a - b),
    "mul": ("s_mul_i32", "v_mul_lo_u32", False, True, lambda a, b: a * b),
    "mul24": ("s_mul_i32", "v_mul_u32_u24", False, True, lambda a, b: a * b),
    "mulhi_u": ("s_mul_hi_u32", "v_mul_hi_u32", False, True, lambda a, b: (a * b) >> 32),
    "mulhi_s": ("s_mul_hi_i32", "v_mul_hi_i32", False, True, lambda a, b: (signed32(a) * signed32(b)) >> 32),
    "and": ("s_and_b32", "v_and_b32", False, True, lambda a, b: a & b),
    "or": ("s_or_b32", "v_or_b32", False, True, lambda a, b: a | b),
    "xor": ("s_xor_b32", "v_xor_b32", False, True, lambda a, b: a ^ b),
    "shl": ("s_lshl_b32", "v_lshlrev_b32", True, False, lambda a, b: a << (b & 31)),
    "shr": ("s_lshr_b32", "v_lshrrev_b32", True, False, lambda a, b: a >> (b & 31)),
    "sar": ("s_ashr_i32", "v_ashrrev_i32", True, False, lambda a, b: signed32(a) >> (b & 31)),
    "min_s": ("s_min_i32", "v_min_i32", False, True, lambda a, b: min(signed32(a), signed32(b))),
    "max_s": ("s_max_i32", "v_max_i32", False, True, lambda a, b: max(signed32(a), signed32(b))),
    "min_u": ("s_min_u32", "v_min_u32", False, True, min),
    "max_u": ("s_max_u32", "v_max_u32", False, True, max),
}

# (outer operation, inner operation of one of its operands) → instruction of three operands; "k": the inner operands
# come first,
# then the outer one; "outer-first" is not needed by any. For shifts only the shifted value may be the inner operation.
FUSIONS: dict[tuple[str, str], str] = {
    ("add", "shl"): "v_lshl_add_u32",  # (a << b) + c
    ("add", "add"): "v_add3_u32",  # a + b + c
    ("add", "mul24"): "v_mad_u32_u24",  # a * b + c, 24-bit factors
    ("add", "xor"): "v_xad_u32",  # (a ^ b) + c
    ("or", "shl"): "v_lshl_or_b32",  # (a << b) | c
    ("or", "and"): "v_and_or_b32",  # (a & b) | c
    ("or", "or"): "v_or3_b32",  # a | b | c
    ("xor", "xor"): "v_xor3_b32",  # a ^ b ^ c
    ("shl", "add"): "v_add_lshl_u32",  # (a + b) << c
    ("min_s", "min_s"): "v_min3_i32",
    ("min_u", "min_u"): "v_min3_u32",
    ("max_s", "max_s"): "v_max3_i32",
    ("max_u", "max_u"): "v_max3_u32",
}

# (operation, constant) → result when the second operand is that constant: "left" the other operand, an integer: that
# constant.
IDENTITIES: dict[tuple[str, int], str | int] = {
    ("add", 0): "left",
    ("sub", 0): "left",
    ("mul", 0): 0,
    ("mul", 1): "left",
    ("mul24", 0): 0,
    ("mul24", 1): "left",
    ("mulhi_u", 0): 0,
    ("mulhi_u", 1): 0,
    ("mulhi_s", 0): 0,
    ("and", 0): 0,
    ("and", MASK32): "left",
    ("or", 0): "left",
    ("or", MASK32): MASK32,
    ("xor", 0): "left",
    ("shl", 0): "left",
    ("shr", 0): "left",
    ("sar", 0): "left",
    ("min_u", 0): 0,
    ("max_u", 0): "left",
    ("min_u", MASK32): "left",
    ("max_u", MASK32): MASK32,
}


class Integers:
    """Arithmetic on words; results are words (constants fold to Python integers)."""

    def __init__(self, emitter: Emitter) -> None:
        self.e = emitter
        self._origin: dict[Value, tuple[str, Operand, Operand]] = {}

    # One word

    def binary(self, name: str, a: Operand, b: Operand) -> Operand:
        """The operation ``name`` of :data:`OPERATIONS` on two words."""
        scalar, vector, reversed_, commutative, fold = OPERATIONS[name]
        if isinstance(a, int) and isinstance(b, int):
            return fold(a & MASK32, b & MASK32) & MASK32
        if commutative and isinstance(a, int):
            a, b = b, a
        if isinstance(b, int):
            b &= MASK32
            identity = IDENTITIES.get((name, b))
            if identity is not None:
                return a if identity == "left" else int(identity)
            if name == "mul" or name == "mul24":
                reduced = self._multiply_by_constant(a, b)
                if reduced is not None:
                    return reduced
            if name == "and":
                reduced = self._mask(a, b)
                if reduced is not None:
                    return reduced
            if name == "sub":
                return self.binary("add", a, -b & MASK32)
            origin = self._origin.get(a) if isinstance(a, Value) else None
            if (
                name in ("and", "or", "xor", "add")
                and origin is not None
                and origin[0] == name
                and isinstance(origin[2], int)
            ):
                # Two constants of the same operation are one.
                return self.binary(name, origin[1], fold(origin[2], b) & MASK32)
        if not is_vector(a) and not is_vector(b) and scalar is not None:
            made = self.e.op(scalar, a, b)[0]
        else:
            if name == "mul" and self.bits(a) <= 24 and self.bits(b) <= 24:
                return self.binary("mul24", a, b)
            fused = self._fuse(name, a, b, commutative)
            if fused is not None:
                made = fused
            else:
                first, second = a, b
                if commutative and is_vector(a) and not is_vector(b):
                    first, second = b, a
                if reversed_:
                    first, second = b, a
                made = self.e.op(vector, first, second)[0]
        self._origin[made] = (name, a, b)
        self._note_bits(name, a, b, made)
        return made

    def bits(self, a: Operand) -> int:
        """Number of low bits outside of which the word is known to be zero."""
        if isinstance(a, int):
            return (a & MASK32).bit_length()
        return self.e.zero_extended.get(a, 32)

    def _note_bits(self, name: str, a: Operand, b: Operand, made: Value) -> None:
        known: int | None = None
        if name == "and":
            known = min(self.bits(a), self.bits(b))
        elif name in ("or", "xor", "max_u"):
            known = max(self.bits(a), self.bits(b))
        elif name == "min_u":
            known = min(self.bits(a), self.bits(b))
        elif name == "shr" and isinstance(b, int):
            known = max(0, self.bits(a) - b)
        elif name == "shl" and isinstance(b, int):
            known = self.bits(a) + b
        elif name == "add":
            known = max(self.bits(a), self.bits(b)) + 1
        elif name in ("mul", "mul24"):
            known = self.bits(a) + self.bits(b)
        if known is not None and known < 32:
            self.e.zero_extended[made] = min(known, self.e.zero_extended.get(made, 32))

    def _multiply_by_constant(self, a: Operand, b: int) -> Operand | None:
        if b & (b - 1) == 0:
            return self.binary("shl", a, b.bit_length() - 1)
        if is_vector(a):
            low = b - 1
            if low & (low - 1) == 0 and b < (1 << 31):
                # a * (2^k + 1) = (a << k) + a
                return self.e.op("v_lshl_add_u32", a, low.bit_length() - 1, a)[0]
        return None

    def _mask(self, a: Operand, b: int) -> Operand | None:
        """``a & b``: nothing where the bits are known, a bit-field extract for a shifted value."""
        if isinstance(a, int):
            return None
        known = self.bits(a)
        if (b + 1) & b == 0:
            width = b.bit_length()
            if known <= width:
                return a
            origin = self._origin.get(a)
            if origin is not None and origin[0] == "shr" and isinstance(origin[2], int) and self._same_place(a):
                source, shift = origin[1], origin[2]
                if is_vector(source):
                    made = self.e.op("v_bfe_u32", source, shift, width)[0]
                else:
                    made = self.e.op("s_bfe_u32", source, (width << 16) | shift)[0]
                self.e.zero_extended[made] = width
                return made
        return None

    def _loops(self, value: Operand) -> int:
        """Number of loops around the place where a value is made."""
        if not isinstance(value, Value):
            return 0
        depth = self.e.depth.get(value, 0)
        return sum(scope.loop for scope in self.e.scopes[: depth + 1])

    def _same_place(self, value: Operand) -> bool:
        return self._loops(value) == sum(scope.loop for scope in self.e.scopes)

    def _fuse(self, name: str, a: Operand, b: Operand, commutative: bool) -> Value | None:
        """A three-operand form of ``name`` over the operation that made one of its operands."""
        candidates = [(a, b), (b, a)] if commutative else [(a, b)]
        # Prefer an inner operation of the vector unit: it disappears for sure when nothing else uses it.
        candidates.sort(key=lambda pair: not is_vector(pair[0]))
        for inner, outer in candidates:
            if not isinstance(inner, Value):
                continue
            origin = self._origin.get(inner)
            if origin is None:
                continue
            mnemonic = FUSIONS.get((name, origin[0]))
            if mnemonic is None:
                continue
            x, y = origin[1], origin[2]
            if self._loops(inner) < max(self._loops(outer), self._loops(inner)):
                continue
            if origin[0] == "shl" and not isinstance(y, int):
                continue
            if not is_vector(inner) and origin[0] != "shl":
                continue
            if name == "shl" and not isinstance(outer, int):
                continue
            scalars = {id(o) if isinstance(o, Value) else o for o in (x, y, outer) if self._takes_scalar_port(o)}
            if (
                len(scalars) > 2
                or sum(isinstance(s, int) and not self._is_register(s, (x, y, outer)) for s in scalars) > 1
            ):
                continue
            return self.e.op(mnemonic, x, y, outer)[0]
        return None

    @staticmethod
    def _is_register(key: int, operands: tuple[Operand, ...]) -> bool:
        return any(isinstance(o, Value) and id(o) == key for o in operands)

    @staticmethod
    def _takes_scalar_port(operand: Operand) -> bool:
        if isinstance(operand, int):
            return not -16 <= signed32(operand) <= 64
        return not is_vector(operand)

    def add(self, a: Operand, b: Operand) -> Operand:
        """a + b."""
        return self.binary("add", a, b)

    def sub(self, a: Operand, b: Operand) -> Operand:
        """a - b."""
        return self.binary("sub", a, b)

    def mul(self, a: Operand, b: Operand) -> Operand:
        """Low word of a * b."""
        return self.binary("mul", a, b)

    def and_(self, a: Operand, b: Operand) -> Operand:
        """a & b."""
        return self.binary("and", a, b)

    def or_(self, a: Operand, b: Operand) -> Operand:
        """a | b."""
        return self.binary("or", a, b)

    def xor(self, a: Operand, b: Operand) -> Operand:
        """a ^ b."""
        return self.binary("xor", a, b)

    def shl(self, a: Operand, b: Operand) -> Operand:
        """a << b."""
        if isinstance(b, int) and isinstance(a, Value):
            origin = self._origin.get(a)
            if origin is not None and origin[0] == "shl" and isinstance(origin[2], int) and origin[2] + b < 32:
                return self.binary("shl", origin[1], origin[2] + b)
        return self.binary("shl", a, b)

    def shr(self, a: Operand, b: Operand) -> Operand:
        """a >> b, zeros from the left."""
        if isinstance(b, int) and self.bits(a) <= (b & 31):
            return 0
        return self.binary("shr", a, b)

    def sar(self, a: Operand, b: Operand) -> Operand:
        """a >> b, sign from the left."""
        return self.binary("sar", a, b)

    def not_(self, a: Operand) -> Operand:
        """~a."""
        if isinstance(a, int):
            return ~a & MASK32
        return self.e.op("v_not_b32" if is_vector(a) else "s_not_b32", a)[0]

    def bit_field(self, a: Operand, offset: int, width: int, signed: bool = False) -> Operand:
        """``width`` bits of ``a`` from ``offset``, zero- or sign-extended."""
        if isinstance(a, int):
            field = (a >> offset) & ((1 << width) - 1)
            return (field - (1 << width)) & MASK32 if signed and field >> (width - 1) else field
        if width == 32 and offset == 0:
            return a
        if not signed:
            if offset + width == 32:
                return self.shr(a, offset)
            if offset == 0:
                return self.and_(a, (1 << width) - 1)
            if self.bits(a) <= offset + width:
                return self.shr(a, offset)
        elif offset + width == 32:
            return self.sar(a, offset)
        kind = "i32" if signed else "u32"
        if is_vector(a):
            made = self.e.op(f"v_bfe_{kind}", a, offset, width)[0]
        elif signed and offset == 0 and width in (8, 16):
            made = self.e.op(f"s_sext_i32_i{width}", a)[0]
        else:
            made = self.e.op(f"s_bfe_{kind}", a, (width << 16) | offset)[0]
        if signed:
            self.e.sign_extended[made] = width
        else:
            self.e.zero_extended[made] = width
        return made

    def zero_extend(self, a: Operand, width: int) -> Operand:
        """The low ``width`` bits with zeros above."""
        return self.bit_field(a, 0, width)

    def sign_extend(self, a: Operand, width: int) -> Operand:
        """The low ``width`` bits with the sign above."""
        if isinstance(a, Value) and (
            self.e.sign_extended.get(a, 33) <= width or self.e.zero_extended.get(a, 33) < width
        ):
            return a
        return self.bit_field(a, 0, width, signed=True)

    def negate(self, a: Operand) -> Operand:
        """-a."""
        return self.sub(0, a)

    def merge_bits(self, mask: int, a: Operand, b: Operand) -> Operand:
        """``(a & mask) | (b & ~mask)``."""
        if isinstance(a, int) and isinstance(b, int):
            return (a & mask) | (b & ~mask & MASK32)
        if is_vector(a) or is_vector(b):
            if mask == 0xFFFF0000 and isinstance(b, Value):
                # High half of a above the low half of b.
                return self.e.op("v_bfi_b32", 0xFFFF, b, a)[0]
            return self.e.op("v_bfi_b32", mask, a, b)[0]
        return self.or_(self.and_(a, mask), self.and_(b, ~mask & MASK32))

    def pack16(self, low: Operand, high: Operand) -> Operand:
        """Two 16-bit values (their low halves) in a word."""
        if isinstance(low, int) and isinstance(high, int):
            return (low & 0xFFFF) | ((high & 0xFFFF) << 16)
        if isinstance(low, Value) and isinstance(high, Value):
            # The two halves of one register put together again are that register.
            b = self._origin.get(high)
            if b is not None and b[0] == "shr" and b[2] == 16 and (b[1] is low or self._keeps_low_half(low, b[1])):
                return b[1]
        if is_vector(low) or is_vector(high):
            if isinstance(low, int) and low & 0xFFFF == 0:
                return self.shl(high, 16)
            if self.bits(low) <= 16:
                return self.or_(self.shl(high, 16), low)
            return self.e.op("v_perm_b32", high, low, 0x05040100)[0]
        return self.e.op("s_pack_ll_b32_b16", low, high)[0]

    def _keeps_low_half(self, a: Value, source: Operand) -> bool:
        """Whether ``a`` is ``source`` with some of its high half cleared."""
        origin = self._origin.get(a)
        return (
            origin is not None
            and origin[0] == "and"
            and origin[1] is source
            and isinstance(origin[2], int)
            and origin[2] & 0xFFFF == 0xFFFF
        )

    # Two words

    def is_pair_vector(self, *pairs: Pair) -> bool:
        """Whether any word of the pairs is in a vector register."""
        return any(is_vector(w) for pair in pairs for w in pair)

    def join(self, pair: Pair) -> Operand:
        """A pair as one operand of a 64-bit slot: a constant or a register tuple."""
        low, high = pair
        if isinstance(low, int) and isinstance(high, int):
            return (low & MASK32) | ((high & MASK32) << 32)
        return self.e.join([low, high])

    def split(self, value: Operand) -> Pair:
        """A 64-bit operand as its two words."""
        if isinstance(value, int):
            return value & MASK32, (value >> 32) & MASK32
        assert units_of(value) == 2
        return self.e.part(value, 0), self.e.part(value, 1)

    def add64(self, a: Pair, b: Pair) -> Pair:
        """a + b on 64 bits."""
        return self._carry("add", a, b)

    def sub64(self, a: Pair, b: Pair) -> Pair:
        """a - b on 64 bits."""
        return self._carry("sub", a, b)

    def _carry(self, name: str, a: Pair, b: Pair) -> Pair:
        if all(isinstance(w, int) for w in (*a, *b)):
            x = int(a[0]) | int(a[1]) << 32  # type: ignore[arg-type]
            y = int(b[0]) | int(b[1]) << 32  # type: ignore[arg-type]
            r = (x + y if name == "add" else x - y) & MASK64
            return r & MASK32, r >> 32
        if name == "add" and isinstance(a[0], int) and a[0] == 0:
            a, b = b, a
        if isinstance(b[0], int) and b[0] == 0:
            return a[0], self.binary(name, a[1], b[1])
        e = self.e
        if not self.is_pair_vector(a, b):
            low_op, high_op = ("s_add_u32", "s_addc_u32") if name == "add" else ("s_sub_u32", "s_subb_u32")

            def scalar() -> tuple[Value, ...]:
                low, carry = e.fresh(low_op, a[0], b[0])
                high, _ = e.fresh(high_op, a[1], b[1], state=(carry,))
                return (low, high)

            made: tuple[Value, Value] = e.memo(name + "64", (*a, *b), scalar)
            return made
        kind = "add" if name == "add" else "sub"

        def vector() -> tuple[Value, ...]:
            low, carry = e.fresh(f"v_{kind}_co_u32", a[0], b[0])
            high = e.fresh(f"v_{kind}_co_ci_u32", a[1], b[1], carry, classes=(None, "null"))[0]
            return (low, high)

        result: tuple[Value, Value] = e.memo("v" + name + "64", (*a, *b), vector)
        return result

    def mul64(self, a: Pair, b: Pair) -> Pair:
        """Low 64 bits of a * b."""
        if all(isinstance(w, int) for w in (*a, *b)):
            x = int(a[0]) | int(a[1]) << 32  # type: ignore[arg-type]
            y = int(b[0]) | int(b[1]) << 32  # type: ignore[arg-type]
            r = (x * y) & MASK64
            return r & MASK32, r >> 32
        if all(isinstance(w, int) for w in a):
            a, b = b, a
        if isinstance(b[0], int) and isinstance(b[1], int):
            constant = (b[0] & MASK32) | (b[1] & MASK32) << 32
            if constant == 0:
                return 0, 0
            if constant & (constant - 1) == 0:
                return self.shift64("shl", a, constant.bit_length() - 1)
        if self.is_pair_vector(a, b):
            low, high = self.split(self.e.op("v_mad_u64_u32", a[0], b[0], 0, classes=(None, "null"))[0])
        else:
            low, high = self.mul(a[0], b[0]), self.binary("mulhi_u", a[0], b[0])
        if not (isinstance(b[1], int) and b[1] == 0):
            high = self.add(self.mul(a[0], b[1]), high)
        if not (isinstance(a[1], int) and a[1] == 0):
            high = self.add(self.mul(a[1], b[0]), high)
        return low, high

    def multiply_wide(self, a: Operand, b: Operand, addend: Pair = (0, 0)) -> Pair:
        """a * b + addend: two unsigned words to 64 bits."""
        if not is_vector(a) and not is_vector(b) and not self.is_pair_vector(addend):
            pair = (self.mul(a, b), self.binary("mulhi_u", a, b))
            return self.add64(pair, addend) if addend != (0, 0) else pair
        return self.split(self.e.op("v_mad_u64_u32", a, b, self.join(addend), classes=(None, "null"))[0])

    def shift64(self, name: str, a: Pair, amount: Operand) -> Pair:
        """``shl``, ``shr`` or ``sar`` of 64 bits."""
        if isinstance(amount, int):
            amount &= 63
            if amount == 0:
                return a
            if amount >= 32:
                rest = amount - 32
                if name == "shl":
                    return 0, self.shl(a[0], rest)
                if name == "shr":
                    return self.shr(a[1], rest), 0
                return self.sar(a[1], rest), self.sar(a[1], 31)
            if all(isinstance(w, int) for w in a):
                x = int(a[0]) | int(a[1]) << 32  # type: ignore[arg-type]
                if name == "sar" and x >> 63:
                    x -= 1 << 64
                x = (x << amount if name == "shl" else x >> amount) & MASK64
                return x & MASK32, x >> 32
            if name == "shl" and self.bits(a[0]) + amount <= 32 and isinstance(a[1], int) and a[1] == 0:
                return self.shl(a[0], amount), 0
            if name == "shr" and isinstance(a[1], int) and a[1] == 0:
                return self.shr(a[0], amount), 0
        if self.is_pair_vector(a) or is_vector(amount):
            vector = {"shl": "v_lshlrev_b64", "shr": "v_lshrrev_b64", "sar": "v_ashrrev_i64"}[name]
            return self.split(self.e.op(vector, amount, self.join(a))[0])
        scalar = {"shl": "s_lshl_b64", "shr": "s_lshr_b64", "sar": "s_ashr_i64"}[name]
        return self.split(self.e.op(scalar, self.join(a), amount)[0])

    def bitwise64(self, name: str, a: Pair, b: Pair) -> Pair:
        """``and``, ``or`` or ``xor`` of 64 bits."""
        if not self.is_pair_vector(a, b) and not any(isinstance(w, int) for w in (*a, *b)):
            return self.split(self.e.op(f"s_{name}_b64", self.join(a), self.join(b))[0])
        return self.binary(name, a[0], b[0]), self.binary(name, a[1], b[1])

    def sign_word(self, a: Operand) -> Operand:
        """The sign of a word in all bits: the high word of its sign extension."""
        return self.sar(a, 31)
