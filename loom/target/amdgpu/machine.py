"""The machine program: what the decoder gives, the encoder takes, the simulator runs and the lifter reads.

Operands
--------
``Register``      a register tuple; interned, so equality is identity and it is a cheap dictionary key
``Inline``        an inline constant, by its source code (128…208 integers, 240…248 floats); interned
``Literal``       the 32-bit literal that follows the instruction
``Immediate``     a number in a field of the instruction (``simm16`` …)
``BranchTarget``  a block label, or a byte offset from the start of the kernel's code

Register banks
--------------
``vgpr agpr sgpr ttmp``     indexed. ``half`` is 0 or 1 (``v1.l``, ``v1.h``) for true16 operands, else ``None``
``vcc exec``                index 0 with units 2, or units 1 with index 0 (``vcc_lo``) or 1 (``vcc_hi``)
``flat_scratch xnack_mask`` gfx9.4 only, like ``vcc``
``m0 null scc vccz execz``  index 0, units 1 (``null`` takes the units of its slot)
``shared_base shared_limit private_base private_limit pops_exiting_wave_id`` aperture registers, index 0
``lds_direct``              source 254, where a generation has it
``off``                     no register: an absent part of an address; see :data:`OFF`

Modifiers are a dictionary from name to integer that holds only values which differ from their default
(:class:`loom.target.amdgpu.instruction.ModifierField`); ``instruction.modifier("offset")`` gives the value or the
default.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Union

from loom.diagnostics import Location
from loom.target.amdgpu.instruction import Encoding, InstructionRow

if TYPE_CHECKING:
    from loom.target.amdgpu.code_object import Kernel


class Register:
    """A register or a tuple of consecutive registers. Instances are interned: compare with ``is`` or ``==`` alike."""

    __slots__ = ("bank", "half", "index", "units")

    bank: str
    index: int
    units: int
    half: int | None

    _interned: ClassVar[dict[tuple[str, int, int, int | None], Register]] = {}

    def __new__(cls, bank: str, index: int = 0, units: int = 1, half: int | None = None) -> Register:
        """Give the one instance for these four values. ``units`` counts 32-bit registers."""
        key = (bank, index, units, half)
        found = cls._interned.get(key)
        if found is None:
            found = object.__new__(cls)
            object.__setattr__(found, "bank", bank)
            object.__setattr__(found, "index", index)
            object.__setattr__(found, "units", units)
            object.__setattr__(found, "half", half)
            cls._interned[key] = found
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Register cannot be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Register, (self.bank, self.index, self.units, self.half))

    def __copy__(self) -> Register:
        return self

    def __deepcopy__(self, memo: object) -> Register:
        return self

    def __repr__(self) -> str:
        return f"Register({self})"

    def __str__(self) -> str:
        """LLVM's spelling: ``v3``, ``s[4:7]``, ``vcc_lo``, ``v1.h``, ``off``."""
        letter = _LETTERS.get(self.bank)
        if letter is not None:
            if self.units == 1:
                half = "" if self.half is None else (".l", ".h")[self.half]
                return f"{letter}{self.index}{half}"
            return f"{letter}[{self.index}:{self.index + self.units - 1}]"
        if self.bank in PAIRED:
            return self.bank if self.units == 2 else f"{self.bank}_{('lo', 'hi')[self.index]}"
        return SOURCE_NAMES.get(self.bank, self.bank)


_LETTERS = {"vgpr": "v", "agpr": "a", "sgpr": "s", "ttmp": "ttmp"}
PAIRED = ("vcc", "exec", "flat_scratch", "xnack_mask")
"""Registers of two halves that exist once."""

SOURCE_NAMES = {
    "scc": "src_scc",
    "lds_direct": "src_lds_direct",
    "vccz": "src_vccz",
    "execz": "src_execz",
    "shared_base": "src_shared_base",
    "shared_limit": "src_shared_limit",
    "private_base": "src_private_base",
    "private_limit": "src_private_limit",
    "pops_exiting_wave_id": "src_pops_exiting_wave_id",
}
"""LLVM's names of single registers that are not called as their bank is."""

OFF = Register("off", 0, 0)
"""The operand of an address part that is absent."""

NULL = Register("null")
"""The null register in a 32-bit slot."""


class Inline:
    """An inline constant by its nine-bit source code. Interned like :class:`Register`."""

    __slots__ = ("code",)

    code: int

    _interned: ClassVar[dict[int, Inline]] = {}

    def __new__(cls, code: int) -> Inline:
        """Give the one instance for ``code``: 128…192 are 0…64, 193…208 are -1…-16, 240…248 are floats."""
        found = cls._interned.get(code)
        if found is None:
            found = object.__new__(cls)
            object.__setattr__(found, "code", code)
            cls._interned[code] = found
        return found

    @classmethod
    def integer(cls, value: int) -> Inline | None:
        """The inline constant for an integer in -16…64, else ``None``."""
        if 0 <= value <= 64:
            return cls(128 + value)
        return cls(192 - value) if -16 <= value < 0 else None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an Inline cannot be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Inline, (self.code,))

    def __copy__(self) -> Inline:
        return self

    def __deepcopy__(self, memo: object) -> Inline:
        return self

    @property
    def is_float(self) -> bool:
        """Whether the code names a floating-point constant (its bits then depend on the operand's type)."""
        return self.code >= 240

    @property
    def value(self) -> int | float:
        """The number: an ``int`` for integer codes, a ``float`` for 240…248 (248 is 1/(2π))."""
        if self.code <= 192:
            return self.code - 128
        if self.code <= 208:
            return 192 - self.code
        return INLINE_FLOATS[self.code]

    def bits(self, kind: str) -> int:
        """The bit pattern a source of type ``kind`` reads.

        Args:
            kind: ``f16``, ``bf16``, ``f32``, ``f64`` or an integer type ``i16 … u64``, ``b16 … b64``. Integer types
                read float
                constants as single precision (16-bit integer types: as half precision, 64-bit: as double).

        Returns:
            The pattern, 16, 32 or 64 bits wide as ``kind`` says.
        """
        width = int("".join(c for c in kind if c.isdigit()) or "32")
        if not self.is_float:
            return int(self.value) & ((1 << width) - 1)
        number = INLINE_FLOATS[self.code]
        if kind == "bf16":
            return int(struct.unpack("<I", struct.pack("<f", number))[0]) >> 16 if self.code != 248 else 0x3E22
        if width == 16:
            return 0x3118 if self.code == 248 else int(struct.unpack("<H", struct.pack("<e", number))[0])
        if width == 64:
            return int(struct.unpack("<Q", struct.pack("<d", number))[0]) if self.code != 248 else 0x3FC45F306DC9C882
        return 0x3E22F983 if self.code == 248 else int(struct.unpack("<I", struct.pack("<f", number))[0])

    def __repr__(self) -> str:
        return f"Inline({self.code})"


INLINE_FLOATS = {
    240: 0.5,
    241: -0.5,
    242: 1.0,
    243: -1.0,
    244: 2.0,
    245: -2.0,
    246: 4.0,
    247: -4.0,
    248: 0.15915494309189532,
}
"""Inline floating-point constants by source code (AMD ISA documents, table of scalar operands)."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A 32-bit literal constant. How a 64-bit operand reads it depends on the operand's type (``f64``: the upper
    half)."""

    bits: int


@dataclass(frozen=True, slots=True)
class Immediate:
    """A number in a field of the instruction, sign-extended where its slot is signed."""

    value: int


@dataclass(frozen=True, slots=True)
class BranchTarget:
    """Where a branch goes.

    ``label`` names a block of the program; if it is ``None``, ``offset`` is the byte offset of the target from the
    start of the kernel's code.
    The decoder gives both where the target is the start of a block.
    """

    label: str | None
    offset: int = 0


Operand = Union[Register, Inline, Literal, Immediate, BranchTarget]  # noqa: UP007 - read at run time too


@dataclass(slots=True)
class MachineInstruction:
    """One instruction with physical operands.

    Attributes:
        row: The table row.
        form: Name of one of ``row.encodings``, or ``None``: let the encoder choose the shortest legal one.
        operands: Parallel to ``row.slots``.
        modifiers: Non-default modifiers.
        raw: Don't-care bits as found, in place, over the bits of the encoding; 0 for fresh code.
        location: Source position, if there is one.
        pc: Byte offset from the start of the kernel's code, -1 before layout.
        size: Bytes of the encoding including a literal, 0 before layout.
        y: The second half of a dual-issue pair (its own ``row``, ``operands``; ``size`` 0), else ``None``.
    """

    row: InstructionRow
    form: str | None
    operands: tuple[Operand, ...]
    modifiers: dict[str, int] = field(default_factory=dict)
    raw: int = 0
    location: Location | None = None
    pc: int = -1
    size: int = 0
    y: MachineInstruction | None = None

    @property
    def mnemonic(self) -> str:
        """Mnemonic of the row."""
        return self.row.mnemonic

    @property
    def encoding(self) -> Encoding | None:
        """The chosen encoding, ``None`` while ``form`` is open."""
        return None if self.form is None else self.row.encoding(self.form)

    def operand(self, name: str) -> Operand:
        """The operand in slot ``name``; ``KeyError`` if the row has no such slot."""
        index = self.row.slot_index(name)
        if index < 0:
            raise KeyError(name)
        return self.operands[index]

    def modifier(self, name: str) -> int:
        """Value of a modifier, its default if it is not written down; 0 if the row does not know it."""
        value = self.modifiers.get(name)
        if value is not None:
            return value
        for modifier in self.row.modifiers:
            if modifier.name == name:
                return modifier.default
        return 0

    def __str__(self) -> str:
        from loom.target.amdgpu.printer import print_instruction

        return print_instruction(self)


@dataclass(slots=True)
class MachineBlock:
    """A straight run of instructions. Control enters at the top; it may leave in the middle only by ``s_endpgm``
    and the like.

    ``label`` is unique in the program. The entry block comes first; a block falls through to the next one.
    """

    label: str
    instructions: list[MachineInstruction] = field(default_factory=list)


@dataclass(slots=True)
class MachineProgram:
    """One kernel.

    Attributes:
        kernel: Name (the function symbol, without ``.kd``).
        processor: ``gfx1100`` …
        wave_size: 32 or 64.
        blocks: In layout order.
        descriptor: The kernel as its code object describes it (resources, kernarg segment, arguments); ``None`` for
            code without.
        code_size: Bytes of code decoded, trailing padding not counted; 0 before layout.
        padding: Bytes that follow the last instruction up to the end of the symbol, as found.
    """

    kernel: str
    processor: str
    wave_size: int
    blocks: list[MachineBlock]
    descriptor: Kernel | None = None
    code_size: int = 0
    padding: bytes = b""

    def instructions(self) -> Iterator[MachineInstruction]:
        """Every instruction in layout order."""
        for block in self.blocks:
            yield from block.instructions

    def block(self, label: str) -> MachineBlock:
        """The block named ``label``; ``KeyError`` if there is none."""
        for block in self.blocks:
            if block.label == label:
                return block
        raise KeyError(label)
