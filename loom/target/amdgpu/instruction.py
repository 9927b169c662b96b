"""The row of the instruction table: everything that is known about one AMDGPU instruction of one generation.

One row stands for one instruction, whatever the number of ways to encode it: ``v_add_f32`` is one row with the forms
``e32``, ``e64``, ``dpp16`` …, and its operand slots are the same in each. The rows are data, made once by
:mod:`loom.target.amdgpu.tables.generate` and read through :mod:`loom.target.amdgpu.tables`.

Conventions every reader of a row may rely on
---------------------------------------------
* ``slots`` are the explicit operands in LLVM's assembly order, destinations first. A register that LLVM writes out
  although only one can stand there (``vcc`` in ``v_cmp_gt_u32_e32``, ``v_cndmask_b32_e32``) is a slot, so
  the operands mean the same in every form.
* Address parts that may be absent (``saddr`` of a global load, ``vaddr`` of a buffer load, ``soffset`` of a scalar
  load) are
  slots of their own; absence is the operand :data:`loom.target.amdgpu.machine.OFF`. Constant offsets are the modifier
  ``offset`` (signed, bytes), ``offset0``/``offset1`` for two-address LDS instructions.
* Cache bits, ``neg``, ``abs``, ``clamp``, ``omod``, DPP and SDWA controls are modifiers, integers, see
  :class:`ModifierField`.
"""

from __future__ import annotations

from dataclasses import dataclass

ROLE_DEF = "def"
ROLE_USE = "use"
ROLE_DEF_USE = "def_use"


@dataclass(frozen=True, slots=True)
class OperandSlot:
    """One explicit operand.

    Attributes:
        name: LLVM's name: ``vdst``, ``sdst``, ``src0``, ``vaddr``, ``saddr``, ``data0``, ``simm16`` …
        role: ``def``, ``use`` or ``def_use`` (the register is read and then written: ``v_fmac_f32``'s ``vdst``).
        kinds: What may stand here in the most permissive form, out of ``vgpr agpr sgpr vcc exec m0 null ttmp scc
            special
            inline literal imm branch off``. ``sgpr`` includes ``vcc`` and ``ttmp`` wherever these are encodable.
            A given form may allow less; the encoder knows (for example ``src1`` of ``e32`` is a VGPR only).
        units: Registers of 32 bits the operand occupies. 16-bit operands have 1. Lane masks (``type == "mask"``) have
            2 here and 1 in wave32; addresses that may be one or two registers have the larger number. The operand
            of a
            decoded instruction carries its true number.
        type: Value type: ``f16 bf16 f32 f64 i16 u16 i32 u32 i64 u64 b8 b16 b32 b64 b96 b128 …``, packed ``v2f16`` …,
            ``mask`` for lane masks, and for immediates what they mean: ``simm16 simm32 waitcnt sendmsg hwreg label
            delay_alu`` ….
        tied_to: Name of the slot whose register this one must equal, or ``None``. Role ``def_use`` needs no tie.
    """

    name: str
    role: str
    kinds: tuple[str, ...]
    units: int
    type: str
    tied_to: str | None = None

    @property
    def is_def(self) -> bool:
        """Whether the instruction writes the operand."""
        return self.role != ROLE_USE

    @property
    def is_use(self) -> bool:
        """Whether the instruction reads the operand."""
        return self.role != ROLE_DEF

    def units_for(self, wave_size: int) -> int:
        """Number of 32-bit registers in a wave of ``wave_size`` lanes (differs from ``units`` for lane masks only)."""
        return 1 if self.type == "mask" and wave_size == 32 else self.units


@dataclass(frozen=True, slots=True)
class ModifierField:
    """One modifier that at least one form of the instruction can encode.

    Attributes:
        name: ``offset offset0 offset1 neg abs neg_lo neg_hi op_sel op_sel_hi clamp omod dpp_ctrl row_mask bank_mask
            bound_ctrl fi dpp8 dst_sel dst_unused src0_sel src1_sel sext glc slc dlc sc0 sc1 nt th scope gds offen
            idxen
            format tfe lds cbsz abid blgp wait_exp …``
        width: Bits.
        signed: Whether the value is a two's complement number.
        default: Value that is not written down in ``MachineInstruction.modifiers``.
        mask: Bits of the value that the form looks at; a set bit outside of it is an error.

    ``neg``, ``abs``, ``neg_lo``, ``neg_hi``, ``op_sel``, ``op_sel_hi``, ``sext`` are bit masks: bit *i* belongs to
    source *i*
    (``op_sel`` bit 3 to the destination).
    """

    name: str
    width: int
    signed: bool = False
    default: int = 0
    mask: int = 0


@dataclass(frozen=True, slots=True)
class Encoding:
    """One way to encode a row.

    Attributes:
        form: ``e32 e64 dpp16 dpp8 e64_dpp16 e64_dpp8 sdwa vopd``, or ``""`` where the instruction has one encoding
            only and LLVM knows no
            suffix (SOP, SMEM, DS, FLAT, …). VOP3-only instructions have ``e64``.
        format: Bit layout: ``SOP1 SOP2 SOPC SOPK SOPP SMEM VOP1 VOP2 VOPC VOP3 VOP3SD VOP3P DS FLAT GLOBAL SCRATCH
            MUBUF …``
        opcode: Value of the format's opcode field.
        suffix: What LLVM appends to the mnemonic when printing this form: ``_e32``, ``_e64``, ``_dpp``,
            ``_e64_dpp``, ``_sdwa`` or ``""``.
        slot_fields: For every slot the field of the format that holds it and the codec that translates it,
            ``"field:codec"``; see
            :mod:`loom.target.amdgpu.formats`.
        modifiers: Modifiers this form can encode.
        processors: Processors of the generation that have this form.
        base: Bits outside operands and modifiers as LLVM writes them: fixed bits, opcode, don't-care bits.
        dont_care: Bits the hardware ignores.
    """

    form: str
    format: str
    opcode: int
    suffix: str
    slot_fields: tuple[str, ...]
    modifiers: tuple[ModifierField, ...]
    processors: tuple[str, ...]
    base: int = 0
    dont_care: int = 0


@dataclass(frozen=True, slots=True)
class MemoryEffect:
    """What an instruction does to memory.

    Attributes:
        space: ``global`` (GLOBAL), ``flat``, ``scratch``, ``buffer`` (MUBUF/MTBUF), ``constant`` (SMEM), ``lds``,
            ``gds``.
        kind: ``load``, ``store``, ``atomic``, ``load_lds`` (memory to LDS), ``prefetch``, ``cache``
            (write-back/invalidate).
        bytes: Bytes moved per lane (per wave for SMEM), 0 for cache operations. Two-address LDS: the sum of both.
        address: Names of the slots that form the address.
        data: Names of the slots that are stored, or combined by an atomic.
        result: Name of the slot that receives loaded data or, for a returning atomic, the old value; ``None`` if
            there is none.
    """

    space: str
    kind: str
    bytes: int
    address: tuple[str, ...]
    data: tuple[str, ...] = ()
    result: str | None = None


@dataclass(frozen=True, slots=True)
class InstructionRow:
    """One instruction of one generation. See the module's text for the conventions.

    Attributes:
        mnemonic: LLVM's name without encoding suffix.
        aliases: Other names the assembler accepts (older LLVM names, the names of other generations).
        generation: ``gfx11``, ``gfx12`` or ``gfx9.4``.
        encodings: Ways to encode it, shortest first.
        slots: Explicit operands.
        implicit_uses: Registers and state read without being written out: ``exec vcc scc m0 mode flat_scratch …``.
        implicit_defs: The same for writes: ``exec vcc scc m0 mode …``.
        memory: Memory effect, or ``None``.
        counters: Wait counters the instruction raises: ``vmcnt vscnt lgkmcnt expcnt`` (gfx9.4: no ``vscnt``), gfx12:
            ``loadcnt storecnt dscnt kmcnt expcnt``.
        issue_class: ``salu smem valu trans matrix dual vmem flat lds branch message wait other``.
        latency: Cycles from issue to a usable result, a planning figure, not a measurement; memory: typical hit.
        processors: Processors of the generation that have it in any form.
        semantic: Name of the semantic operation: the gfx11 mnemonic where generations name the same thing
            differently.
    """

    mnemonic: str
    aliases: tuple[str, ...]
    generation: str
    encodings: tuple[Encoding, ...]
    slots: tuple[OperandSlot, ...]
    implicit_uses: tuple[str, ...]
    implicit_defs: tuple[str, ...]
    memory: MemoryEffect | None
    counters: tuple[str, ...]
    issue_class: str
    latency: int
    processors: tuple[str, ...]
    semantic: str

    def encoding(self, form: str) -> Encoding | None:
        """The encoding named ``form``, or ``None``."""
        for encoding in self.encodings:
            if encoding.form == form:
                return encoding
        return None

    def slot_index(self, name: str) -> int:
        """Position of the slot ``name``, -1 if there is none."""
        for index, slot in enumerate(self.slots):
            if slot.name == name:
                return index
        return -1

    @property
    def modifiers(self) -> tuple[ModifierField, ...]:
        """Every modifier that some form can encode, each once."""
        seen: dict[str, ModifierField] = {}
        for encoding in self.encodings:
            for modifier in encoding.modifiers:
                seen.setdefault(modifier.name, modifier)
        return tuple(seen.values())
