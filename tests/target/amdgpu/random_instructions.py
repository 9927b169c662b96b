"""Random legal instructions of every encoding, seeded."""

from __future__ import annotations

import random
from collections.abc import Iterator

from loom.diagnostics import LoomError
from loom.target.amdgpu.encoder import Encoder
from loom.target.amdgpu.encoding.compiled import CompiledEncoding, CompiledSet
from loom.target.amdgpu.encoding.conditional import MATRIX_UNITS
from loom.target.amdgpu.encoding.legality import processors_of_modifier
from loom.target.amdgpu.encoding.value_lists import LITERAL_MARK, vector_list
from loom.target.amdgpu.instruction import ModifierField
from loom.target.amdgpu.machine import OFF, BranchTarget, Immediate, Literal, MachineInstruction, Operand, Register

SPECIAL_VALUES = {
    "dst_sel": range(7),
    "src0_sel": range(7),
    "src1_sel": range(7),
    "dst_unused": range(3),
    "th": range(4),
    "dpp_ctrl": (0, 0x1B, 0xE4, 0x4E, 0x101, 0x10F, 0x111, 0x11A, 0x121, 0x12F, 0x140, 0x141, 0x150, 0x15F),
}


class Generator:
    """Makes random instructions of one processor."""

    def __init__(self, encoder: Encoder, seed: int) -> None:
        self.encoder = encoder
        self.set: CompiledSet = encoder.set
        self.random = random.Random(seed)
        self.processor = encoder.target.name

    def encodings(self) -> Iterator[CompiledEncoding]:
        for row in self.set.table.rows():
            for encoding in row.encodings:
                if self.processor in encoding.processors:
                    yield self.set.of(row, encoding)

    def instruction(self, encoding: CompiledEncoding) -> tuple[MachineInstruction, bytes] | None:
        """A random instruction with its bytes; ``None`` if a few dozen tries broke rules like the constant bus limit."""
        for _ in range(60):
            made = self._attempt(encoding)
            try:
                return made, self.encoder.encode(made)
            except LoomError as failure:
                if failure.diagnostics[0].code not in ("ENCODE/003", "ENCODE/004", "ENCODE/007"):
                    raise
        return None

    def _attempt(self, encoding: CompiledEncoding) -> MachineInstruction:
        operands = tuple(self._operand(encoding, index) for index in range(len(encoding.codecs)))
        modifiers = {}
        if encoding.form != "vopd":
            for modifier in (m for _, _, m in encoding.modifiers):
                only = processors_of_modifier(encoding.row.mnemonic, modifier.name)
                if only is not None and self.processor not in only:
                    continue
                if self.random.random() < 0.5:
                    value = self._modifier(encoding, modifier, operands)
                    if encoding.row.mnemonic == "ds_swizzle_b32" and modifier.name == "offset" and value & 0x8000:
                        value &= 0x80FF  # further bits have no text of their own
                    if value != modifier.default:
                        modifiers[modifier.name] = value
        operands = self._fit_address(encoding, operands, modifiers)
        return MachineInstruction(encoding.row, encoding.form, operands, modifiers)

    def _operand(self, encoding: CompiledEncoding, index: int) -> Operand:
        slot = encoding.slot_codecs[index]
        text = encoding.codecs[index]
        kind = encoding.row.slots[index].type
        if slot is not None:
            if "_mix" in encoding.row.mnemonic:
                kind = "f16"  # LLVM prints 16 bits of the literal here
            return self._pick([value for value in slot.values if value is not None], kind)
        body = text.partition("@")[0]
        if body.startswith("so."):
            decode = encoding.special[index]
            field = encoding.format.fields[encoding.names[index]]
            values = []
            for code in self.random.sample(range(512), 40):
                for half in (0, 1):
                    operand = decode(field.insert(code) | half << 11 + int(body[3:]))
                    if operand is not None:
                        values.append(operand)
            return self._pick(values, kind)
        if body[0] in "ui" and body[1:].isdigit():
            bits = int(body[1:])
            if kind == "delay_alu":
                return Immediate(
                    self.random.randrange(12) | self.random.randrange(6) << 4 | self.random.randrange(12) << 7
                )
            if kind == "depctr":
                return Immediate(self.random.randrange(65536) & 0xFF9F)
            if bits == 8:
                return Immediate(self.random.randrange(128, 135))
            if bits == 7:
                return Immediate(self.random.randrange(32))
            value = self.random.randrange(1 << bits)
            return Immediate(value - (1 << bits) if body[0] == "i" and value >> (bits - 1) else value)
        if body == "br":
            return BranchTarget(None, 4 * self.random.randrange(-0x8000, 0x8000))
        return self._address(encoding, index, body)

    def _pick(self, values: list[Operand], kind: str) -> Operand:
        chosen = self.random.choice(values)
        if chosen is LITERAL_MARK:
            if "16" in kind:
                return Literal(self.random.choice((0x1234, 0x7FFE, self.random.randrange(0x100, 0x3000))))
            return Literal(self.random.randrange(0x100, 0xF0000000) | 0x80)
        return chosen

    def _address(self, encoding: CompiledEncoding, index: int, body: str) -> Operand:
        decode = encoding.special[index]
        vgpr = self.random.randrange(0, 250, 2)
        if body in ("global_vaddr", "buffer_vaddr", "scratch_vaddr"):
            return Register("vgpr", vgpr, 1)
        if body[0] == "l":
            return Register("vgpr", vgpr, int(body[1:]))
        if body.startswith("sx"):
            return Register("vgpr", vgpr, 8)
        if body[0] == "t":
            return Register("vgpr", vgpr, int(body[1:]))
        if body == "vdsty":
            return Register("vgpr", self.random.randrange(1, 255, 2), 1)
        if body[0] == "r":
            return self.random.choice((OFF, *[v for v in vector_list(self.set.generation, "vgpr", int(body[2:])) if v]))
        field = encoding.format.fields[encoding.names[index]]
        word = 0
        if body == "soffset9":
            word = encoding.format.fields["soe"].insert(1)
        values = [v for v in (decode(field.insert(code) | word) for code in range(128)) if v is not None]
        return self.random.choice((OFF, *values))

    def _fit_address(
        self, encoding: CompiledEncoding, operands: tuple[Operand, ...], modifiers: dict[str, int]
    ) -> tuple[Operand, ...]:
        """Make the parts of an address agree: widths, enables, cache bits of returning atomics."""
        result = list(operands)
        for index, text in enumerate(encoding.codecs):
            body = text.partition("@")[0]
            vaddr = result[index]
            if body == "global_vaddr" and OFF in (
                result[i] for i, c in enumerate(encoding.codecs) if c.startswith("global_saddr")
            ):
                result[index] = Register("vgpr", vaddr.index, 2)
            if body == "scratch_vaddr" and self.random.random() < 0.3:
                result[index] = OFF
            if body == "buffer_vaddr":
                count = modifiers.get("offen", 0) + modifiers.get("idxen", 0)
                result[index] = OFF if count == 0 else Register("vgpr", vaddr.index, count)
            if body[:2] in ("rv", "ra"):
                flag = next(name for name in ("glc", "sc0", "th") if name in encoding.modifier_by_name)
                returns = vaddr is not OFF
                value = modifiers.get(flag, 0) & ~1 | returns
                modifiers.pop(flag, None)
                if value:
                    modifiers[flag] = value
        if modifiers.get("tfe"):
            index = encoding.row.slot_index("vdata")
            data = result[index]
            result[index] = Register("vgpr", min(data.index, 250), data.units + 1)
        if modifiers.get("lds") and encoding.row.slot_index("vdata") == 0:
            result[0] = OFF
        banks = {"vgpr": "agpr", "agpr": "vgpr"}
        shared = [i for i in encoding.shared_choice if isinstance(result[i], Register) and result[i].bank in banks]
        for index in shared[1:]:
            if result[index].bank != result[shared[0]].bank:
                operand = result[index]
                result[index] = Register(banks[operand.bank], operand.index, operand.units)
        if "f8f6f4" in encoding.row.mnemonic:
            for name, selector in (("src0", "cbsz"), ("src1", "blgp")):
                modifiers.pop(selector, None)
                value = self.random.randrange(5)
                if value:
                    modifiers[selector] = value
                index = encoding.row.slot_index(name)
                result[index] = Register(
                    self.random.choice(("vgpr", "agpr")), 2 * self.random.randrange(100), MATRIX_UNITS[value]
                )
        if encoding.format.name == "VOPDX" or encoding.format.name == "VOPDY":
            result[0] = Register("vgpr", result[0].index & ~1 | (encoding.format.name == "VOPDY"), 1)
        return tuple(result)

    def _modifier(self, encoding: CompiledEncoding, modifier: ModifierField, operands: tuple[Operand, ...]) -> int:
        if modifier.name == "th" and encoding.row.memory is not None and encoding.row.memory.kind == "atomic":
            return self.random.randrange(4)
        if modifier.name == "op_sel" and encoding.half_bits:
            value = 0
            for text, operand in zip(encoding.codecs, operands, strict=True):
                if text.startswith("so.") and not (isinstance(operand, Register) and operand.half is not None):
                    value |= self.random.randrange(2) << int(text[3])
            return value
        if modifier.name in SPECIAL_VALUES:
            return self.random.choice(list(SPECIAL_VALUES[modifier.name]))
        if modifier.signed:
            return self.random.randrange(-(1 << (modifier.width - 1)), 1 << (modifier.width - 1))
        return self.random.randrange(1 << modifier.width) & modifier.mask
