"""Machine code to instructions, never guessing.

    decode_instruction(data, offset, processor, wave_size)   one instruction
    decode_code(code, processor, …)                          bytes → MachineProgram
    decode_program(data, kernel)                             a code object (bytes or CodeObject) → MachineProgram of
    one kernel

A word that is no instruction of the processor is a :class:`LoomError` with its offset (``DECODE/001``), as are
truncated
instructions (``DECODE/002``). Don't-care bits that differ from what LLVM writes are kept in
``MachineInstruction.raw``, so encoding gives the same bytes.

Decoding remembers the encodings of words it has seen (code repeats itself a lot); operands, modifiers and forms are
shared, instructions are not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from loom.diagnostics import LoomError, error
from loom.target.amdgpu.encoding.compiled import CompiledEncoding, CompiledSet, compiled
from loom.target.amdgpu.encoding.legality import LEGAL_VALUES, processors_of_modifier
from loom.target.amdgpu.encoding.value_lists import LITERAL_MARK
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import (
    BranchTarget,
    Inline,
    Literal,
    MachineBlock,
    MachineInstruction,
    MachineProgram,
    Operand,
    Register,
)
from loom.target.amdgpu.processors import Processor, processor

if TYPE_CHECKING:
    from loom.target.amdgpu.code_object import CodeObject

# row, form, operands, modifiers, raw, size, second half (row, form, operands) or None
Decoded = tuple[InstructionRow, str, tuple[Operand, ...], dict[str, int], int, int, "Decoded | None"]

_CACHE_LIMIT = 1 << 17


class Decoder:
    """Decodes instructions of one processor in one wave size."""

    def __init__(self, target: Processor, wave_size: int) -> None:
        self.target = target
        self.wave_size = wave_size
        self.set: CompiledSet = compiled(target.generation, wave_size)
        self._cache: dict[bytes, Decoded] = {}

    def decode(self, data: bytes, offset: int) -> MachineInstruction:
        """The instruction at ``offset`` of ``data``; its ``pc`` is ``offset``.

        Raises:
            LoomError: ``DECODE/001`` no such instruction, ``DECODE/002`` the data ends within the instruction.
        """
        cache = self._cache
        found = cache.get(data[offset : offset + 4])
        if found is None or found[5] != 4:
            found = cache.get(data[offset : offset + 8])
            if found is None or found[5] != 8:
                found = cache.get(data[offset : offset + 12]) or self._miss(data, offset)
        row, form, operands, modifiers, raw, size, y = found
        second = None if y is None else MachineInstruction(y[0], y[1], y[2], dict(y[3]), 0, None, offset, 0)
        return MachineInstruction(row, form, operands, dict(modifiers), raw, None, offset, size, second)

    def _miss(self, data: bytes, offset: int) -> Decoded:
        found = self.decode_words(data, offset)
        if found is None:
            word = data[offset : offset + 4]
            if len(word) < 4:
                raise error(f"code ends within an instruction at offset {offset:#x}", "DECODE/002")
            shown = int.from_bytes(word, "little")
            raise error(
                f"no instruction of {self.target.name} is encoded as {shown:#010x} at offset {offset:#x}", "DECODE/001"
            )
        if len(self._cache) > _CACHE_LIMIT:
            self._cache.clear()
        if found[5] <= 12:
            self._cache[data[offset : offset + found[5]]] = found
        return found

    def decode_words(self, data: bytes, offset: int) -> Decoded | None:
        """Decode without the cache; ``None`` if it is no instruction."""
        head = data[offset : offset + 16]
        if len(head) < 4:
            return None
        word = int.from_bytes(head, "little")
        available = len(head)
        owner = self.set
        for fixed_mask, fixed_value, shift, mask, fmt in owner.buckets[word >> 23 & 511]:
            if word & fixed_mask != fixed_value:
                continue
            encoding = owner.resolve(fmt, word >> shift & mask)
            if encoding is None or encoding.size > available:
                continue
            found = self._pair(encoding, word, head) if fmt == "VOPDX" else self._single(encoding, word, head)
            if found is not None:
                return found
        return None

    def _single(self, encoding: CompiledEncoding, word: int, head: bytes) -> Decoded | None:
        if self.target.name not in encoding.encoding.processors:
            return None
        size = encoding.size
        word &= (1 << (size << 3)) - 1
        difference = word ^ encoding.base
        if difference & encoding.check:
            return None
        operands = decode_operands(encoding, word)
        if operands is None:
            return None
        if LITERAL_MARK in operands:
            if len(head) < size + 4:
                return None
            literal = Literal(int.from_bytes(head[size : size + 4], "little"))
            operands = [literal if operand is LITERAL_MARK else operand for operand in operands]
            size += 4
        modifiers: dict[str, int] = {}
        if (word ^ encoding.default_bits) & encoding.modifier_mask:
            found = decode_modifiers(encoding, word, operands)
            if found is None or not self._available(encoding, found):
                return None
            modifiers = found
        return (encoding.row, encoding.form, tuple(operands), modifiers, difference & encoding.dont_care, size, None)

    def _available(self, encoding: CompiledEncoding, modifiers: dict[str, int]) -> bool:
        """Whether the processor has these modifiers of an instruction that it has."""
        return all(
            self.target.name in (processors_of_modifier(encoding.row.mnemonic, name) or (self.target.name,))
            for name in modifiers
        )

    def _pair(self, x: CompiledEncoding, word: int, head: bytes) -> Decoded | None:
        y = self.set.resolve("VOPDY", word >> 17 & 31)
        name = self.target.name
        if y is None or name not in x.encoding.processors or name not in y.encoding.processors:
            return None
        word &= (1 << 64) - 1
        first = decode_operands(x, word)
        second = decode_operands(y, word)
        if first is None or second is None:
            return None
        unused = ((1 << 64) - 1) & ~(
            x.owned | y.owned | x.format.fixed_mask | x.format.opcode.mask | y.format.opcode.mask
        )
        size = 8
        if LITERAL_MARK in first or LITERAL_MARK in second:
            if len(head) < 12:
                return None
            literal = Literal(int.from_bytes(head[8:12], "little"))
            first = [literal if operand is LITERAL_MARK else operand for operand in first]
            second = [literal if operand is LITERAL_MARK else operand for operand in second]
            size = 12
        half: Decoded = (y.row, "vopd", tuple(second), {}, 0, 0, None)
        return (x.row, "vopd", tuple(first), {}, word & unused, size, half)


def decode_operands(encoding: CompiledEncoding, word: int) -> list[Operand] | None:
    """Operands of an instruction word, ``None`` if one of them is illegal."""
    operands: list[Operand | None]
    if encoding.simple:
        operands = [values[word >> shift & mask] for shift, mask, values in encoding.extract]  # type: ignore[misc]
    else:
        operands = []
        for lookup, special in zip(encoding.extract, encoding.special, strict=True):
            if lookup is not None:
                operands.append(lookup[2][word >> lookup[0] & lookup[1]])
            else:
                operands.append(special(word))  # type: ignore[misc]
    return None if None in operands else operands  # type: ignore[return-value]


def decode_modifiers(encoding: CompiledEncoding, word: int, operands: list[Operand]) -> dict[str, int] | None:
    """The non-default modifiers of an instruction word, ``None`` if a value is illegal."""
    modifiers: dict[str, int] = {}
    free = word & ~encoding.owned
    for name, field, modifier in encoding.modifiers:
        value = field.extract(free) & (modifier.mask if name != "fi" else 3)
        if name == "fi" and field.name == "fi8":
            if value not in (1, 2):
                return None
            value -= 1
        elif name == "op_sel" and encoding.half_bits:
            for codec, operand in zip(encoding.codecs, operands, strict=True):
                if codec.startswith("so.") and type(operand) is Register and operand.half is not None:
                    value &= ~(1 << int(codec[3]))
        if modifier.signed and value >> (modifier.width - 1) & 1:
            value -= 1 << modifier.width
        if value != modifier.default:
            legal = LEGAL_VALUES.get(name)
            if legal is not None and not legal(value, encoding):
                return None
            modifiers[name] = value
    return modifiers


@lru_cache(maxsize=32)
def decoder(name: str, wave_size: int) -> Decoder:
    """The decoder for a processor and wave size, shared."""
    return Decoder(processor(name), wave_size)


def decode_instruction(
    data: bytes, offset: int = 0, processor: str = "gfx1100", wave_size: int | None = None
) -> MachineInstruction:
    """Decode one instruction; see :meth:`Decoder.decode`. ``wave_size`` defaults to the processor's default."""
    return decoder(processor, wave_size or _default_wave(processor)).decode(data, offset)


def _default_wave(name: str) -> int:
    return processor(name).wave_sizes[0]


def decode_list(code: bytes, name: str, wave_size: int) -> list[MachineInstruction]:
    """Decode ``code`` from its first to its last byte, branch targets as offsets from the start of ``code``.

    Raises:
        LoomError: ``DECODE/001``, ``DECODE/002``.
    """
    decode = decoder(name, wave_size).decode
    result = []
    at = 0
    end = len(code)
    while at < end:
        instruction = decode(code, at)
        at += instruction.size
        if instruction.operands and type(instruction.operands[-1]) is BranchTarget:
            instruction.operands = tuple(
                BranchTarget(None, at + operand.offset) if type(operand) is BranchTarget else operand
                for operand in instruction.operands
            )
        result.append(instruction)
    return result


def decode_code(code: bytes, processor: str, wave_size: int | None = None, kernel: str = "kernel") -> MachineProgram:
    """Decode a kernel's code into blocks.

    A block starts at every branch target and behind every branch and end of program. Blocks are labelled ``bb0``,
    ``bb1`` … in layout
    order. Trailing padding (``s_code_end`` words) behind the last instruction that can be reached is kept as
    instructions.

    Raises:
        LoomError: ``DECODE/001``, ``DECODE/002``; ``DECODE/003`` when a branch goes into the middle of an instruction.
    """
    size = wave_size or _default_wave(processor)
    instructions = decode_list(code, processor, size)
    leaders = {0}
    for instruction in instructions:
        for operand in instruction.operands:
            if type(operand) is BranchTarget and 0 <= operand.offset < len(code):
                leaders.add(operand.offset)
        if ends_block(instruction):
            leaders.add(instruction.pc + instruction.size)
    label_of: dict[int, str] = {}
    blocks: list[MachineBlock] = []
    for instruction in instructions:
        if instruction.pc in leaders:
            label_of[instruction.pc] = f"bb{len(blocks)}"
            blocks.append(MachineBlock(f"bb{len(blocks)}"))
        blocks[-1].instructions.append(instruction)
    for instruction in instructions:
        if not instruction.operands or type(instruction.operands[-1]) is not BranchTarget:
            continue
        resolved: list[Operand] = []
        for operand in instruction.operands:
            if type(operand) is BranchTarget:
                label = label_of.get(operand.offset)
                if label is None and 0 <= operand.offset < len(code):
                    raise error(
                        f"the branch at offset {instruction.pc:#x} goes to "
                        f"{operand.offset:#x}, the middle of an instruction",
                        "DECODE/003",
                    )
                operand = BranchTarget(label, operand.offset)
            resolved.append(operand)
        instruction.operands = tuple(resolved)
    return MachineProgram(kernel, processor, size, blocks, None, len(code), b"")


def ends_block(instruction: MachineInstruction) -> bool:
    """Whether control does not simply go on to the next instruction."""
    if instruction.row.mnemonic.startswith("s_subvector_loop"):
        return True
    return instruction.row.issue_class == "branch" and not instruction.row.mnemonic.startswith(("s_getpc", "s_trap"))


def decode_program(data: bytes | CodeObject, kernel: str | None = None) -> MachineProgram:
    """Decode one kernel of a code object.

    Args:
        data: A code object, as bytes (ELF, offload bundle or fat binary with one matching code object) or already read.
        kernel: The kernel's name; may be left out when there is only one.

    Raises:
        LoomError: what reading and decoding raise; ``OBJECT/…`` when the kernel is missing or the choice is ambiguous.
    """
    from loom.target.amdgpu.code_object import CodeObject, read

    code_object = data if isinstance(data, CodeObject) else read(data)
    chosen = code_object.kernel(kernel)
    try:
        program = decode_code(chosen.code, code_object.processor, chosen.wave_size, chosen.name)
    except LoomError as failure:
        first = failure.diagnostics[0]
        raise error(f"kernel '{chosen.name}': {first.message}", first.code, first.location, hint=first.hint) from None
    program.descriptor = chosen
    return program


__all__ = [
    "Decoder",
    "Inline",
    "decode_code",
    "decode_instruction",
    "decode_list",
    "decode_program",
    "decoder",
    "ends_block",
]
