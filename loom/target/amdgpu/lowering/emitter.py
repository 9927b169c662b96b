"""Making Low ops: constants in slots, operand legality, value numbering and hoisting as ops are made.

The emitter is driven by the instruction table. :meth:`Emitter.op` takes the operands an instruction reads, in slot
order; an operand is a Low value or a Python integer (the bit pattern of a constant). It decides whether a constant
can stand in its slot, moves what cannot, keeps to the number of scalar sources a vector instruction may have, and
finds an equal op made before.

Scopes mirror the source's regions. A pure op whose operands were all defined outside of the enclosing loops is
placed in front of the outermost of these loops; the source's own invariant code was moved before, so what moves
here is what lowering makes: addresses, conversions, constants.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from loom.ir import Block, Operation, RegisterType, StorageType, Type, Value, Word, lookup
from loom.target.amdgpu.instruction import InstructionRow, OperandSlot
from loom.target.amdgpu.tables import find_row

Operand: TypeAlias = "Value | int"
"""A Low value, or the bit pattern of a constant as wide as the slot that reads it."""

_EXEC_TEXT = Word("exec")

EXEC_WORD: Any = _EXEC_TEXT
"""Stands for EXEC in a source slot."""

SGPR = "amdgpu.sgpr"
VGPR = "amdgpu.vgpr"
SCC = "amdgpu.scc"
VCC = "amdgpu.vcc"
EXEC = "amdgpu.exec"
M0 = "amdgpu.m0"


MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF

_STATE_ORDER = ("scc", "vcc", "exec", "m0")
"""Order of state results behind the slots' results (docs/lift.md)."""

_SCALAR_CLASSES = ("salu", "smem", "branch", "message", "wait")


def _float_bits(value: float, width: int) -> int:
    code = {16: "e", 32: "f", 64: "d"}[width]
    return int.from_bytes(struct.pack("<" + code, value), "little")


_INLINE_FLOATS = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0)
_INLINE_BITS: dict[int, dict[int, float]] = {
    width: {_float_bits(v, width): v for v in _INLINE_FLOATS} for width in (16, 32, 64)
}
_INLINE_BITS[32][0x3E22F983] = 0.15915494309189532
_INLINE_BITS[64][0x3FC45F306DC9C882] = 0.15915494309189532


def slot_width(slot: OperandSlot) -> int:
    """Width in bits of what a slot reads: 16, 32 or 64."""
    if slot.type.startswith("v2"):
        return 32
    if slot.type == "mask":
        return 32 * slot.units
    digits = "".join(c for c in slot.type if c.isdigit())
    return int(digits) if digits in ("16", "32", "64") else 32 * max(1, slot.units)


def inline_constant(bits: int, slot: OperandSlot) -> int | float | None:
    """The inline constant that reads as ``bits`` in ``slot``, or None.

    Integers -16 to 64 in any slot but packed ones (these take 0 only); the eight floats and 1/2π where width and
    type agree.
    """
    if slot.type.startswith("v2"):
        return 0 if bits == 0 else None
    width = slot_width(slot)
    bits &= (1 << width) - 1
    signed = bits - (1 << width) if bits >> (width - 1) else bits
    if -16 <= signed <= 64:
        return signed
    if width == 16 and slot.type not in ("f16",):
        return None
    if width == 64 and slot.type not in ("f64",):
        return None
    return _INLINE_BITS[width].get(bits)


@dataclass(slots=True)
class Scope:
    """One level of source regions while it is lowered.

    Attributes:
        loop: Whether code may be placed in front of it.
        block: Low block that holds the place in front.
        anchor: Op in that block before which hoisted code goes.
        exec: What stands for EXEC there.
        table: Ops made in this scope, for value numbering.
    """

    loop: bool = False
    block: Block | None = None
    anchor: Operation | None = None
    exec: object = None
    table: dict[Any, tuple[Value, ...]] = field(default_factory=dict)


def is_vector(value: Operand) -> bool:
    """Whether the operand is a vector register."""
    return isinstance(value, Value) and value.type.register_class == VGPR  # type: ignore[attr-defined]


def is_scalar(value: Operand) -> bool:
    """Whether the operand is a scalar register or a constant."""
    return not is_vector(value)


def units_of(value: Value) -> int:
    """Number of 32-bit registers of a Low value."""
    units: int = value.type.units  # type: ignore[attr-defined]
    return units


class Emitter:
    """Places Low ops; see the module's text.

    Attributes:
        generation: Instruction table in use.
        wave: Lanes in a wave.
        block: Block that ops are appended to.
        exec: What stands for the present EXEC: None for the entry's, else an object of its own.
        location: Source location given to ops.
        made: Number of ops made so far.
    """

    def __init__(self, generation: str, wave: int, processor: str, block: Block) -> None:
        self.generation = generation
        self.wave = wave
        self.processor = processor
        self.block = block
        self.anchor: Operation | None = None
        self.exec: object = None
        self.location: Any = None
        self.scopes: list[Scope] = [Scope()]
        self.depth: dict[Value, int] = {}
        self.mask_units = wave // 32
        self.mask_type = RegisterType(SGPR, self.mask_units)
        self.mask_suffix = "b32" if wave == 32 else "b64"
        self._rows: dict[str, InstructionRow] = {}
        self._low_op = lookup("low.op")
        self._hoisting = True
        self._pinned = 0
        self.made = 0
        # Known contents of registers, so that extensions of clean values cost nothing: value → number of significant
        # bits.
        self.zero_extended: dict[Value, int] = {}
        self.sign_extended: dict[Value, int] = {}
        # Parts and wholes: slice → (whole, first unit); tuple of parts → whole.
        self.part_of: dict[Value, tuple[Value, int]] = {}
        # EXEC under which a value was made: the bits of a compare's mask are zero outside of it.
        self.pass_through: dict[Operation, bool] = {}
        self.made_under: dict[Value, object] = {}

    # Rows

    def row(self, mnemonic: str) -> InstructionRow:
        """The table row of ``mnemonic`` in this generation."""
        found = self._rows.get(mnemonic)
        if found is None:
            row = find_row(self.generation, mnemonic)
            if row is None:
                raise KeyError(f"{self.generation} has no instruction {mnemonic}")
            found = self._rows[mnemonic] = row
        return found

    def has(self, mnemonic: str) -> bool:
        """Whether the processor has the instruction."""
        row = find_row(self.generation, mnemonic)
        return row is not None and (self.processor in row.processors or not row.processors)

    # Raw creation

    def create(
        self,
        name: str,
        operands: Sequence[Value],
        types: Sequence[Type],
        attributes: dict[str, Any] | None = None,
        successors: Sequence[Block] = (),
        segments: tuple[int, ...] | None = None,
    ) -> Operation:
        """Make any op at the insertion point."""
        definition = lookup(name)
        assert definition is not None, name
        op = Operation(definition, operands, types, attributes or {}, (), successors, self.location, segments)
        self.block.insert_before(self.anchor, op)
        self.made += 1
        level = len(self.scopes) - 1
        for result in op.results:
            self.depth[result] = level
        return op

    # Scopes

    @contextmanager
    def scope(self, scope: Scope) -> Iterator[Scope]:
        """Enter a region; value numbering made inside is forgotten at its end."""
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    def forget(self, value: Value) -> None:
        """Take a value out of value numbering: its inactive lanes now mean something."""
        for scope in self.scopes:
            for key in [k for k, v in scope.table.items() if v and v[0] is value]:
                del scope.table[key]
        op = value.defining_op
        if op is not None:
            self.pass_through[op] = True

    def define(self, value: Value) -> Value:
        """Say that a block argument belongs to the present scope."""
        self.depth[value] = len(self.scopes) - 1
        return value

    def memo(self, key: Any, operands: Sequence[Operand], build: Callable[[], Any]) -> Any:
        """Return what ``build`` made for the same key and operands before, else build it at the best place.

        ``build`` makes only pure ops that depend on nothing but ``operands``; it returns anything hashable built of
        values.
        """
        full = (key, *operands)
        for scope in reversed(self.scopes):
            found = scope.table.get(full)
            if found is not None:
                return found
        level = self._placement(operands)
        if level is None:
            result = build()
            self.scopes[-1].table[full] = result
            return result
        target = self.scopes[level]
        saved = (self.block, self.anchor, self.exec, self.scopes)
        assert target.block is not None
        self.block, self.anchor, self.exec = target.block, target.anchor, target.exec
        self.scopes = self.scopes[:level]
        try:
            result = build()
            self.scopes[-1].table[full] = result
        finally:
            self.block, self.anchor, self.exec, self.scopes = saved
        return result

    def _placement(self, operands: Sequence[Operand]) -> int | None:
        """Index of the loop scope to place code in front of; None for here."""
        if not self._hoisting:
            return None
        deepest = 0
        depth = self.depth
        for operand in operands:
            if isinstance(operand, Value):
                level = depth.get(operand, 0)
                if level > deepest:
                    deepest = level
        for level in range(deepest + 1, len(self.scopes)):
            if self.scopes[level].loop:
                return level
        return None

    @contextmanager
    def stay(self) -> Iterator[None]:
        """Keep code where it is asked for (no hoisting) while inside."""
        saved, self._hoisting = self._hoisting, False
        try:
            yield
        finally:
            self._hoisting = saved

    # Instructions

    def op(
        self,
        mnemonic: str,
        *operands: Operand | None,
        state: Sequence[Value] = (),
        old: Sequence[Value] = (),
        units: int | None = None,
        classes: Sequence[str | None] = (),
        **immediates: Any,
    ) -> tuple[Value, ...]:
        """Make one instruction and return its results (slots, then written state).

        Args:
            mnemonic: LLVM's mnemonic without encoding suffix.
            operands: One per slot that is read, in slot order; ``None``: the slot is absent (``off``).
            state: ``scc``, ``vcc`` or ``m0`` values that are read beside the slots.
            old: Pass-through values of inactive lanes; their registers become the results'.
            units: Registers of the first result where the row leaves it open.
            classes: Register classes of the results where the default (vector, else scalar) is not wanted.
            immediates: Modifiers and other attributes.
        """
        row = self.row(mnemonic)
        pure = not old and row.memory is None and self._is_pure(row) and EXEC_WORD not in operands
        if not pure:
            return self._build(row, operands, state, old, units, classes, immediates)
        key = (row.mnemonic, units, tuple(classes), tuple(state), tuple(sorted(immediates.items())))
        result: tuple[Value, ...] = self.memo(
            key,
            [o if o is not None else -1 for o in operands],
            lambda: self._build(row, operands, state, (), units, classes, immediates),
        )
        return result

    @staticmethod
    def _is_pure(row: InstructionRow) -> bool:
        if row.issue_class not in ("salu", "valu", "trans", "dual", "matrix", "other"):
            return False
        if any(name in row.implicit_defs for name in ("exec", "m0", "mode")):
            return False
        if "scc" in row.implicit_defs or "scc" in row.implicit_uses:
            # The result proper may be shared; whoever needs SCC itself asks for a fresh op with `fresh`.
            return "scc" not in row.implicit_uses and not row.mnemonic.startswith("s_cmp")
        return not row.mnemonic.startswith(
            ("v_readfirstlane", "s_barrier", "s_sendmsg", "v_cmpx", "s_getreg", "s_memtime")
        )

    def fresh(
        self,
        mnemonic: str,
        *operands: Operand | None,
        state: Sequence[Value] = (),
        old: Sequence[Value] = (),
        units: int | None = None,
        classes: Sequence[str | None] = (),
        **immediates: Any,
    ) -> tuple[Value, ...]:
        """Make an instruction right here, never shared and never moved."""
        return self._build(self.row(mnemonic), operands, state, old, units, classes, immediates)

    def _build(
        self,
        row: InstructionRow,
        operands: Sequence[Operand | None],
        state: Sequence[Value],
        old: Sequence[Value],
        units: int | None,
        classes: Sequence[str | None],
        immediates: dict[str, Any],
    ) -> tuple[Value, ...]:
        attributes: dict[str, Any] = {}
        values: list[Value] = []
        vector = row.issue_class not in _SCALAR_CLASSES
        scalars: list[Value] = []
        literal: int | None = None
        dpp = "dpp" in str(immediates.get("form", ""))
        position = 0
        uses = [slot for slot in row.slots if slot.is_use]
        for slot, operand in zip(uses, operands, strict=False):
            # A lane mask has to stay in scalar registers: it takes its port before the other sources do.
            if slot.type == "mask" and isinstance(operand, Value):
                scalars.append(operand)
        for slot in uses:
            if slot.name in immediates and position >= len(operands):
                continue
            if position >= len(operands):
                # Field slots (simm16, waitcnt …) come in as immediates, absent addresses as off.
                if slot.name not in immediates and "off" in slot.kinds:
                    attributes[slot.name] = Word("off")
                continue
            operand = operands[position]
            position += 1
            if operand is EXEC_WORD:
                attributes[slot.name] = _EXEC_TEXT
                continue
            if operand is None:
                attributes[slot.name] = Word("null" if "null" in slot.kinds and "off" not in slot.kinds else "off")
                continue
            if isinstance(operand, Value):
                values.append(self._legal_register(operand, slot, vector, scalars, literal, dpp))
                continue
            constant = inline_constant(operand, slot) if "inline" in slot.kinds else None
            if constant is not None and not (dpp and slot.name == "src0"):
                attributes[slot.name] = constant
                continue
            width = slot_width(slot)
            bits = operand & ((1 << width) - 1)
            room = len(scalars) + (literal is not None) < 2 if vector else True
            if (
                "literal" in slot.kinds
                and width <= 32
                and not dpp
                and not slot.type.startswith("v2")
                and (literal == bits or (literal is None and room))
            ):
                attributes[slot.name] = Word("literal")
                attributes["literal"] = bits
                literal = bits
                continue
            values.append(self._constant_register(bits, slot, scalars, literal, dpp))
        assert position == len(operands), f"{row.mnemonic}: {len(operands)} operands given, {position} taken"
        values.extend(state)
        values.extend(old)
        types: list[Type] = []
        defs = [slot for slot in row.slots if slot.is_def]
        for index, slot in enumerate(defs):
            wanted = classes[index] if index < len(classes) else None
            if wanted is None:
                wanted = VGPR if "vgpr" in slot.kinds else SGPR
            if wanted in ("null", "off"):
                attributes[slot.name] = Word(wanted)
                continue
            count = units if units is not None and index == 0 else slot.units_for(self.wave)
            if wanted in (VCC, EXEC, SCC, M0):
                count = 1
            types.append(RegisterType(wanted, count))
        for name in _STATE_ORDER:
            if name in row.implicit_defs:
                types.append(RegisterType(f"amdgpu.{name}", 1))
        for name, value in immediates.items():
            if value is not None:
                attributes[name] = value
        definition = self._low_op
        assert definition is not None
        op = Operation(
            definition,
            values,
            types,
            {"key": Word(f"amdgpu.{row.mnemonic}"), "immediates": attributes}
            if attributes
            else {"key": Word(f"amdgpu.{row.mnemonic}")},
            (),
            (),
            self.location,
            None,
        )
        self.block.insert_before(self.anchor, op)
        self.made += 1
        if old:
            self.pass_through[op] = True
        level = len(self.scopes) - 1
        for result in op.results:
            self.depth[result] = level
            self.made_under[result] = self.exec
        return tuple(op.results)

    def _legal_register(
        self, operand: Value, slot: OperandSlot, vector: bool, scalars: list[Value], literal: int | None, dpp: bool
    ) -> Value:
        """The operand itself, or a copy in a bank that the slot takes."""
        register_class = operand.type.register_class  # type: ignore[attr-defined]
        if register_class == VGPR:
            if "vgpr" in slot.kinds:
                return operand
            return self.to_scalar(operand)
        if register_class != SGPR:
            return operand
        if "sgpr" not in slot.kinds or (dpp and "vgpr" in slot.kinds):
            return self.to_vector(operand)
        if vector and "vgpr" in slot.kinds:
            if operand in scalars:
                return operand
            if len(scalars) + (literal is not None) >= 2:
                return self.to_vector(operand)
            scalars.append(operand)
        return operand

    def _constant_register(
        self, bits: int, slot: OperandSlot, scalars: list[Value], literal: int | None, dpp: bool
    ) -> Value:
        """A register that holds a constant which cannot stand in its slot."""
        words = max(1, slot.units_for(self.wave))
        if "sgpr" in slot.kinds and "vgpr" not in slot.kinds:
            return self.join([self.scalar_constant((bits >> (32 * i)) & MASK32) for i in range(words)])
        if "sgpr" in slot.kinds and words == 1 and not dpp and len(scalars) + (literal is not None) < 2:
            made = self.scalar_constant(bits)
            scalars.append(made)
            return made
        return self.join([self.vector_constant((bits >> (32 * i)) & MASK32) for i in range(words)])

    # Constants, moves between banks, parts and wholes

    def scalar_constant(self, bits: int) -> Value:
        """A scalar register that holds 32 bits."""
        return self.op("s_mov_b32", bits & MASK32)[0]

    def vector_constant(self, bits: int) -> Value:
        """A vector register that holds 32 bits in every active lane."""
        return self.op("v_mov_b32", bits & MASK32)[0]

    def to_vector(self, operand: Operand) -> Value:
        """The operand (of any width) in vector registers."""
        if isinstance(operand, int):
            return self.vector_constant(operand)
        if is_vector(operand):
            return operand
        count = units_of(operand)
        if count == 1:
            made = self.op("v_mov_b32", operand)[0]
            self._copy_knowledge(operand, made)
            return made
        return self.join([self.to_vector(self.part(operand, i)) for i in range(count)])

    def to_vector_pair(self, operand: Operand) -> Value:
        """A 64-bit operand in vector registers."""
        if isinstance(operand, int):
            return self.join([self.vector_constant(operand & MASK32), self.vector_constant(operand >> 32)])
        return self.to_vector(operand)

    def to_scalar(self, operand: Operand) -> Value:
        """The operand, the same in all active lanes, in scalar registers."""
        if isinstance(operand, int):
            return self.scalar_constant(operand)
        if not is_vector(operand):
            return operand
        count = units_of(operand)
        if count == 1:
            made: Value = self.memo("readfirstlane", (operand,), lambda: self.fresh("v_readfirstlane_b32", operand))[0]
            self._copy_knowledge(operand, made)
            return made
        return self.join([self.to_scalar(self.part(operand, i)) for i in range(count)])

    def _copy_knowledge(self, source: Value, copy: Value) -> None:
        for table in (self.zero_extended, self.sign_extended):
            known = table.get(source)
            if known is not None:
                table[copy] = known

    def part(self, value: Value, index: int, count: int = 1) -> Value:
        """Units ``index`` … of a register tuple."""
        whole = units_of(value)
        if index == 0 and count == whole:
            return value
        origin = self.part_of.get(value)
        if origin is not None:
            return self.part(origin[0], origin[1] + index, count)
        register_class = value.type.register_class  # type: ignore[attr-defined]

        def build() -> tuple[Value, ...]:
            op = self.create("low.slice", [value], [RegisterType(register_class, count)], {"unit": index})
            made = op.results[0]
            self.part_of[made] = (value, index)
            return (made,)

        result: Value = self.memo(("part", index, count), (value,), build)[0]
        return result

    def parts(self, value: Value) -> list[Value]:
        """All units of a register tuple."""
        return [self.part(value, i) for i in range(units_of(value))]

    def join(self, words: Sequence[Operand], vector: bool | None = None) -> Value:
        """The words as one register tuple, in vector registers when any is or ``vector`` says so."""
        if vector is None:
            vector = any(is_vector(w) for w in words)
        registers = [self.to_vector(w) if vector else self.to_scalar(w) for w in words]
        if len(registers) == 1:
            return registers[0]
        first = self.part_of.get(registers[0])
        if first is not None:
            whole, start = first
            position = start
            consecutive = True
            for register in registers:
                if self.part_of.get(register) != (whole, position):
                    consecutive = False
                    break
                position += units_of(register)
            if consecutive:
                return self.part(whole, start, position - start)
        total = sum(units_of(r) for r in registers)
        register_class = VGPR if vector else SGPR

        def build() -> tuple[Value, ...]:
            op = self.create("low.concat", registers, [RegisterType(register_class, total)])
            return (op.results[0],)

        result: Value = self.memo("join", tuple(registers), build)[0]
        return result

    # EXEC

    def restore_exec(self, saved: Value, token: object) -> None:
        """Write a saved mask back to EXEC, which ``token`` stands for."""
        self.fresh(f"s_mov_{self.mask_suffix}", saved, classes=(EXEC,))
        self.exec = token

    def read_exec(self) -> Operand:
        """EXEC as an operand of a scalar instruction."""
        made: Operand = EXEC_WORD
        return made

    def copy_exec(self) -> Value:
        """EXEC as an ordinary mask value."""
        key = ("read_exec", self.exec)
        for scope in reversed(self.scopes):
            found = scope.table.get(key)
            if found is not None:
                return found[0]
        made = self.fresh(f"s_mov_{self.mask_suffix}", self.read_exec())[0]
        self.scopes[-1].table[key] = (made,)
        return made

    def uses_exec(self, *operands: Operand) -> bool:
        """Whether an operand list names EXEC itself; such ops are neither shared nor moved."""
        return any(o is EXEC_WORD for o in operands)

    def storage(self, space: str, length: int, alignment: int) -> Value:
        """Reserve frame storage."""
        op = self.create(
            "low.storage.reserve", [], [StorageType(space)], {"byte_alignment": alignment, "byte_length": length}
        )
        return op.results[0]
