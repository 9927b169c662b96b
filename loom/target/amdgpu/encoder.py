"""Instructions to machine code.

    encode_instruction(instruction, processor, wave_size)   bytes of one instruction
    encode(program)                                         bytes of a program; lays out blocks, sets ``pc`` and
    ``size``

Where ``form`` is ``None`` the shortest legal encoding is chosen, DPP and SDWA only when their modifiers are there.
What does not fit is a
:class:`LoomError` that says the rule: ``ENCODE/001`` operand, ``ENCODE/002`` modifier, ``ENCODE/003`` constant bus,
``ENCODE/004`` literal,
``ENCODE/005`` not on this processor, ``ENCODE/006`` branch, ``ENCODE/007`` dual issue.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from loom.diagnostics import error
from loom.target.amdgpu.encoding.compiled import CompiledEncoding, CompiledSet, compiled
from loom.target.amdgpu.encoding.conditional import MATRIX_UNITS
from loom.target.amdgpu.encoding.legality import LEGAL_VALUES, processors_of_modifier
from loom.target.amdgpu.encoding.refusals import CannotEncode, describe_refusal
from loom.target.amdgpu.encoding.value_lists import LITERAL_MARK
from loom.target.amdgpu.instruction import Encoding
from loom.target.amdgpu.machine import (
    PAIRED,
    SOURCE_NAMES,
    BranchTarget,
    Literal,
    MachineInstruction,
    MachineProgram,
    Operand,
    Register,
)
from loom.target.amdgpu.processors import Processor, processor

#: Banks that are read over the constant bus. (LDS direct has a path of its own.)
_SCALAR_BANKS = frozenset(("sgpr", "ttmp", "m0", *PAIRED, *SOURCE_NAMES)) - {"lds_direct"}

_DPP_MODIFIERS = frozenset(("dpp_ctrl", "row_mask", "bank_mask", "bound_ctrl", "fi"))
_SDWA_MODIFIERS = frozenset(("dst_sel", "dst_unused", "src0_sel", "src1_sel", "sext"))

# 64-bit shifts read one scalar operand only, also where two are allowed (RDNA ISA documents, "scalar operands").
_ONE_SCALAR = frozenset(("v_lshlrev_b64", "v_lshrrev_b64", "v_ashrrev_i64"))


class _Refused(Exception):
    """An encoding does not fit; carries code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def _only_literal(known: int | None, bits: int) -> int:
    """The literal of an instruction that has ``known`` already."""
    if known is not None and known != bits:
        raise _Refused("ENCODE/004", f"two different literals, {known:#x} and {bits:#x}: an instruction carries one")
    return bits


class Encoder:
    """Encodes instructions for one processor in one wave size."""

    def __init__(self, target: Processor, wave_size: int) -> None:
        self.target = target
        self.wave_size = wave_size
        self.set: CompiledSet = compiled(target.generation, wave_size)
        self._by_form: dict[tuple[int, str], CompiledEncoding] = {}

    def encode(self, instruction: MachineInstruction) -> bytes:
        """Bytes of an instruction. Branch targets must be offsets relative to the next instruction; :func:`encode`
        sees to it.

        Raises:
            LoomError: ``ENCODE/…``, see the module's text.
        """
        form = instruction.form
        if form is None:
            return self._choose(instruction)[1]
        try:
            return self._with(self._encoding(instruction, form), instruction)
        except _Refused as refusal:
            raise error(refusal.message, refusal.code, instruction.location) from None

    def choose(self, instruction: MachineInstruction) -> str:
        """The form :meth:`encode` picks for an instruction whose form is open."""
        return self._choose(instruction)[0]

    def _encoding(self, instruction: MachineInstruction, form: str) -> CompiledEncoding:
        key = (id(instruction.row), form)
        found = self._by_form.get(key)
        if found is None:
            encoding = instruction.row.encoding(form)
            if encoding is None:
                have = ", ".join(repr(e.form) for e in instruction.row.encodings)
                raise _Refused("ENCODE/005", f"{instruction.row.mnemonic} has no encoding '{form}' (it has {have})")
            self._check_available(instruction, encoding)
            found = self.set.of(instruction.row, encoding)
            self._by_form[key] = found
        return found

    def _check_available(self, instruction: MachineInstruction, encoding: Encoding) -> None:
        if self.target.name not in encoding.processors:
            where = ", ".join(encoding.processors) or "no processor"
            raise _Refused(
                "ENCODE/005",
                f"{instruction.row.mnemonic}{encoding.suffix} is not available on {self.target.name}; it is on {where}",
            )

    def _choose(self, instruction: MachineInstruction) -> tuple[str, bytes]:
        row = instruction.row
        if row.generation != self.target.generation:
            raise error(
                f"{row.mnemonic} is a {row.generation} row; {self.target.name} is {self.target.generation}",
                "ENCODE/005",
                instruction.location,
            )
        modifiers = instruction.modifiers.keys()
        wants_dpp8 = "dpp8" in modifiers
        wants_dpp = not wants_dpp8 and bool(modifiers & _DPP_MODIFIERS)
        wants_sdwa = bool(modifiers & _SDWA_MODIFIERS)
        best: tuple[str, bytes] | None = None
        refusal: _Refused | None = None
        for encoding in row.encodings:
            form = encoding.form
            if (
                form.endswith("dpp8") != wants_dpp8
                or form.endswith("dpp16") != wants_dpp
                or (form == "sdwa") != wants_sdwa
            ):
                continue
            try:
                self._check_available(instruction, encoding)
                code = self._with(self.set.of(row, encoding), instruction)
            except _Refused as failed:
                refusal = failed
                continue
            if best is None or len(code) < len(best[1]):
                best = (form, code)
        if best is not None:
            return best
        if refusal is None:
            raise error(
                f"{row.mnemonic} has no encoding for these modifiers: {', '.join(modifiers)}",
                "ENCODE/002",
                instruction.location,
            )
        raise error(refusal.message, refusal.code, instruction.location)

    def _with(self, encoding: CompiledEncoding, instruction: MachineInstruction) -> bytes:
        operands = instruction.operands
        if len(operands) != len(encoding.codecs):
            raise _Refused(
                "ENCODE/001", f"{instruction.row.mnemonic} takes {len(encoding.codecs)} operands, not {len(operands)}"
            )
        if instruction.y is not None:
            return self._pair(instruction)
        word, literal = self._operands(encoding, operands, instruction.modifiers)
        word |= encoding.start
        if instruction.modifiers:
            word = self._modifiers(encoding, instruction, word)
        if instruction.raw:
            word ^= instruction.raw & encoding.dont_care
        code = word.to_bytes(encoding.size, "little")
        return code if literal is None else code + literal.to_bytes(4, "little")

    def _operands(
        self, encoding: CompiledEncoding, operands: Sequence[Operand], modifiers: dict[str, int]
    ) -> tuple[int, int | None]:
        word = 0
        literal: int | None = None
        scalars = 0
        for index, operand in enumerate(operands):
            slot = encoding.slot_codecs[index]
            if slot is not None:
                bits = slot.bits_of.get(operand)
                if bits is not None:
                    word |= bits
                    if type(operand) is Register and operand.bank in _SCALAR_BANKS:
                        scalars += 1
                    continue
                if type(operand) is Literal and LITERAL_MARK in slot.bits_of:
                    word |= slot.bits_of[LITERAL_MARK]
                    literal = _only_literal(literal, operand.bits)
                    scalars += 1
                    continue
                fallback = self._lenient(encoding, index, operand)
                if fallback is None:
                    code = "ENCODE/004" if type(operand) is Literal else "ENCODE/001"
                    raise _Refused(code, describe_refusal(encoding.row, index, operand, slot.text))
                word |= fallback
                continue
            rule = encoding.rules[index]
            assert rule is not None
            if type(operand) is Literal:
                text = encoding.codecs[index]
                if not text.startswith("so."):
                    raise _Refused("ENCODE/004", describe_refusal(encoding.row, index, operand, text))
                try:
                    word |= rule(LITERAL_MARK)
                except CannotEncode:
                    raise _Refused("ENCODE/004", describe_refusal(encoding.row, index, operand, text)) from None
                literal = _only_literal(literal, operand.bits)
                scalars += 1
                continue
            if (
                type(operand) is Register
                and operand.half is None
                and operand.bank == "vgpr"
                and encoding.codecs[index].startswith("so.")
            ):
                operand = Register("vgpr", operand.index, operand.units, 0)
            try:
                word |= rule(operand)
            except CannotEncode as reason:
                code = "ENCODE/006" if type(operand) is BranchTarget else "ENCODE/001"
                raise _Refused(code, str(reason)) from None
            if type(operand) is Register and operand.bank in _SCALAR_BANKS:
                scalars += 1
        if len(encoding.shared_choice) > 1:
            banks = {
                o.bank
                for i in encoding.shared_choice
                if type(o := operands[i]) is Register and o.bank in ("vgpr", "agpr")
            }
            if len(banks) > 1:
                names = " and ".join(encoding.row.slots[index].name for index in encoding.shared_choice)
                raise _Refused(
                    "ENCODE/001",
                    f"{names} of {encoding.row.mnemonic} must all be vector "
                    "registers or all accumulators: one bit chooses",
                )
        if "f8f6f4" in encoding.row.mnemonic:
            self._check_matrix_sizes(encoding, operands, modifiers)
        if scalars > 1 and encoding.row.mnemonic.startswith("v_"):
            self._constant_bus(encoding, operands)
        return word, literal

    @staticmethod
    def _check_matrix_sizes(encoding: CompiledEncoding, operands: Sequence[Operand], modifiers: dict[str, int]) -> None:
        for name, selector in (("src0", "cbsz"), ("src1", "blgp")):
            operand = operands[encoding.row.slot_index(name)]
            units = MATRIX_UNITS.get(modifiers.get(selector, 0))
            if units is None or (isinstance(operand, Register) and operand.units != units):
                raise _Refused(
                    "ENCODE/001",
                    f"{name} of {encoding.row.mnemonic} has {units} registers "
                    f"when {selector} is {modifiers.get(selector, 0)}",
                )

    def _lenient(self, encoding: CompiledEncoding, index: int, operand: Operand) -> int | None:
        """Operands that mean a listed one: a true16 operand without a half is the low half; ``null`` of another
        width."""
        slot = encoding.slot_codecs[index]
        assert slot is not None
        if type(operand) is not Register:
            return None
        if operand.half is None and operand.bank == "vgpr" and operand.units == 1:
            return slot.bits_of.get(Register("vgpr", operand.index, 1, 0))
        if operand.bank not in ("sgpr", "vgpr", "agpr", "ttmp", "vcc", "exec"):
            for units in (1, 2, 4, 8, 16):
                bits = slot.bits_of.get(Register(operand.bank, 0, units))
                if bits is not None:
                    return bits
        return None

    def _constant_bus(self, encoding: CompiledEncoding, operands: Sequence[Operand]) -> None:
        """At most so many different scalar registers and literals may be read by one vector instruction."""
        row = encoding.row
        distinct: set[str] = set()
        for slot, operand in zip(row.slots, operands, strict=True):
            if slot.role == "def":
                continue
            if type(operand) is Register and operand.bank in _SCALAR_BANKS:
                distinct.add(str(Register(operand.bank, operand.index)))
            elif type(operand) is Literal:
                distinct.add("a literal")
        limit = 1 if self.target.generation == "gfx9.4" or row.mnemonic in _ONE_SCALAR else 2
        if row.mnemonic.startswith(("v_readlane", "v_writelane")):
            if self.target.generation != "gfx9.4":
                return
            distinct.discard("m0")  # a lane number in M0 is free
        if len(distinct) > limit:
            names = ", ".join(sorted(distinct))
            raise _Refused(
                "ENCODE/003",
                f"{row.mnemonic} reads {len(distinct)} scalar values "
                f"over the constant bus ({names}); the limit is {limit}",
            )

    def _modifiers(self, encoding: CompiledEncoding, instruction: MachineInstruction, word: int) -> int:
        for name, value in instruction.modifiers.items():
            entry = encoding.modifier_by_name.get(name)
            if entry is None:
                if value == 0 and name != "dpp_ctrl":
                    continue
                label = encoding.row.mnemonic + encoding.encoding.suffix
                raise _Refused("ENCODE/002", f"{label} has no modifier '{name}' in this encoding")
            field, modifier = entry
            only = processors_of_modifier(encoding.row.mnemonic, name)
            if value and only is not None and self.target.name not in only:
                raise _Refused(
                    "ENCODE/005",
                    f"'{name}' of {encoding.row.mnemonic} is not available on {self.target.name}; "
                    f"it is on {', '.join(only)}",
                )
            low = -(1 << (modifier.width - 1)) if modifier.signed else 0
            high = (1 << (modifier.width - 1)) - 1 if modifier.signed else (1 << modifier.width) - 1
            if not low <= value <= high:
                raise _Refused(
                    "ENCODE/002", f"{name} of {encoding.row.mnemonic} ranges from {low} to {high}, not {value}"
                )
            if not modifier.signed and value & ~modifier.mask:
                raise _Refused(
                    "ENCODE/002", f"{name} of {encoding.row.mnemonic} has no bits {value & ~modifier.mask:#x} here"
                )
            legal = LEGAL_VALUES.get(name)
            if legal is not None and not legal(value, encoding):
                raise _Refused("ENCODE/002", f"{value:#x} is no legal {name} on {self.target.name}")
            if name == "fi" and field.name == "fi8":
                word = word & ~field.mask | field.insert(value + 1)
            else:
                width = field.width
                kept = field.insert(modifier.mask if not modifier.signed else (1 << width) - 1) & ~encoding.owned
                word = word & ~(kept & ~self._halves(encoding, name)) | field.insert(value)
        return word

    @staticmethod
    def _halves(encoding: CompiledEncoding, name: str) -> int:
        """Bits of ``op_sel`` that operands set themselves."""
        return encoding.half_bits << 11 if name == "op_sel" else 0

    def _pair(self, instruction: MachineInstruction) -> bytes:
        """A dual-issue pair."""
        second = instruction.y
        assert second is not None
        entry = self._vopd_half(second, "VOPDY")
        first_entry = self._vopd_half(instruction, "VOPDX")
        word, literal = self._operands(first_entry, instruction.operands, {})
        word_y, literal_y = self._operands(entry, second.operands, {})
        if literal is not None and literal_y is not None and literal != literal_y:
            raise _Refused(
                "ENCODE/004",
                f"the halves carry different literals, {literal:#x} and {literal_y:#x}: a pair carries one",
            )
        literal = literal_y if literal is None else literal
        self._check_banks(instruction, second)
        form = first_entry.format
        word |= word_y | form.fixed_value | form.opcode.insert(first_entry.encoding.opcode)
        word |= entry.format.opcode.insert(entry.encoding.opcode) | instruction.raw
        code = word.to_bytes(8, "little")
        return code if literal is None else code + literal.to_bytes(4, "little")

    def _vopd_half(self, instruction: MachineInstruction, fmt: str) -> CompiledEncoding:
        for encoding in instruction.row.encodings:
            if encoding.format == fmt:
                self._check_available(instruction, encoding)
                return self.set.of(instruction.row, encoding)
        side = "first" if fmt == "VOPDX" else "second"
        raise _Refused("ENCODE/007", f"{instruction.row.mnemonic} cannot be the {side} half of a dual-issue pair")

    @staticmethod
    def _check_banks(first: MachineInstruction, second: MachineInstruction) -> None:
        """Dual issue reads each source position from different register banks, and writes an even and an odd
        register."""
        x, y = first.operands[0], second.operands[0]
        if isinstance(x, Register) and isinstance(y, Register) and (x.index ^ y.index) & 1 == 0:
            raise _Refused("ENCODE/007", f"a pair writes one even and one odd register, not {x} and {y}")


@lru_cache(maxsize=32)
def encoder(name: str, wave_size: int) -> Encoder:
    """The encoder for a processor and wave size, shared."""
    return Encoder(processor(name), wave_size)


def encode_instruction(instruction: MachineInstruction, processor_name: str, wave_size: int | None = None) -> bytes:
    """Bytes of one instruction; branch targets are offsets relative to the next instruction. See
    :meth:`Encoder.encode`."""
    size = wave_size or processor(processor_name).wave_sizes[0]
    return encoder(processor_name, size).encode(instruction)


def encode(program: MachineProgram) -> bytes:
    """Lay out a program and encode it. Sets ``form`` where it was open, and ``pc`` and ``size`` of every
    instruction, and ``code_size``.

    A :class:`BranchTarget` with a label goes to that block; one without keeps its byte offset from the start of the
    code.

    Raises:
        LoomError: ``ENCODE/…``; ``ENCODE/006`` for an unknown label or a target out of reach.
    """
    coder = encoder(program.processor, program.wave_size)
    pieces: list[bytes] = []
    starts: dict[str, int] = {}
    pending: list[tuple[int, MachineInstruction]] = []
    at = 0
    for block in program.blocks:
        starts[block.label] = at
        for instruction in block.instructions:
            branches = any(type(operand) is BranchTarget for operand in instruction.operands)
            if instruction.form is None:
                trial = _with_offset(instruction, 0) if branches else instruction
                instruction.form = coder.choose(trial)
            instruction.pc = at
            if branches:
                pending.append((len(pieces), instruction))
                pieces.append(b"\0\0\0\0")
                instruction.size = 4
            else:
                code = coder.encode(instruction)
                instruction.size = len(code)
                pieces.append(code)
            at += instruction.size
    for index, instruction in pending:
        offset = 0
        for operand in instruction.operands:
            if type(operand) is BranchTarget:
                if operand.label is not None:
                    if operand.label not in starts:
                        raise error(f"branch to unknown block '{operand.label}'", "ENCODE/006", instruction.location)
                    offset = starts[operand.label]
                else:
                    offset = operand.offset
        pieces[index] = coder.encode(_with_offset(instruction, offset - instruction.pc - 4))
    program.code_size = at
    return b"".join(pieces)


def _with_offset(instruction: MachineInstruction, offset: int) -> MachineInstruction:
    operands = tuple(BranchTarget(None, offset) if type(o) is BranchTarget else o for o in instruction.operands)
    return MachineInstruction(
        instruction.row, instruction.form, operands, instruction.modifiers, instruction.raw, instruction.location
    )
