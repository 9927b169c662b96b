"""Instructions in LLVM's AMDGPU assembly syntax.

    print_instruction(instruction)      one line, without indentation

The text is what ``llvm-mc --disassemble`` writes; true16 operands are written with their halves (``v1.l``). On gfx12
LLVM 22 does so only under
``-mattr=+real-true16``; ``halves=False`` writes the older form without halves, where the encoding has one.
"""

from __future__ import annotations

from collections.abc import Callable

from loom.target.amdgpu.formats import formats
from loom.target.amdgpu.immediates import print_immediate, spell, swizzle_offset
from loom.target.amdgpu.instruction import Encoding, InstructionRow, OperandSlot
from loom.target.amdgpu.machine import (
    OFF,
    BranchTarget,
    Immediate,
    Inline,
    Literal,
    MachineInstruction,
    Operand,
    Register,
)
from loom.target.amdgpu.tables import table

_FLOATS = {240: "0.5", 241: "-0.5", 242: "1.0", 243: "-1.0", 244: "2.0", 245: "-2.0", 246: "4.0", 247: "-4.0"}
_SOURCES = {"src0": 0, "src1": 1, "src2": 2}
_SELECTS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_UNUSED = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")
_SCOPES = ("SCOPE_CU", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS")
_TH_LOAD = ("RT", "NT", "HT", "LU", "NT_RT", "RT_NT", "NT_HT")
_TH_STORE = ("RT", "NT", "HT", "WB", "NT_RT", "RT_NT", "NT_HT", "NT_WB")
_INTEGER_16 = ("i16", "u16", "b16")


def print_instruction(
    instruction: MachineInstruction, *, halves: bool = True, labels: Callable[[BranchTarget], str] | None = None
) -> str:
    """One instruction as LLVM writes it.

    Args:
        instruction: With ``form`` set (else the form is taken to be the first one).
        halves: Write true16 halves.
        labels: How to write a branch target; by default its label, or the distance in words where there is none.
    """
    text = _half(instruction, halves, labels)
    if instruction.y is not None:
        text += " :: " + _half(instruction.y, halves, labels)
    return text


def _half(instruction: MachineInstruction, halves: bool, labels: Callable[[BranchTarget], str] | None) -> str:
    row = instruction.row
    encoding = instruction.encoding or row.encodings[0]
    modifiers = instruction.modifiers
    kind = _family(encoding)
    if kind == "smem":
        operands = _smem_operands(instruction)
    else:
        operands = []
        for slot, operand in zip(row.slots, instruction.operands, strict=True):
            if operand is OFF and (slot.name == "vdst" or (slot.name == "vdata" and modifiers.get("lds"))):
                continue
            if row.mnemonic == "s_endpgm" and isinstance(operand, Immediate):
                if operand.value:
                    operands.append(str(operand.value))
                continue
            operands.append(_operand(instruction, slot, operand, halves, labels))
    name = row.mnemonic + encoding.suffix
    text = f"{name} {', '.join(operands)}" if operands else name
    return text + "".join(_MODIFIERS[kind](instruction, encoding))


def _family(encoding: Encoding) -> str:
    fmt = encoding.format
    if fmt in ("SMEM", "SMEMS"):
        return "smem"
    if fmt.startswith("VOP3P"):
        return "vop3p"
    if fmt in ("MAI", "MAIX2"):
        return "mai"
    if fmt.startswith("VOP"):
        return "vop"
    if fmt in ("MUBUF", "MTBUF"):
        return "buffer"
    if fmt in ("FLAT", "GLOBAL", "SCRATCH"):
        return "flat"
    return "ds" if fmt.startswith("DS") else "other"


def _operand(
    instruction: MachineInstruction,
    slot: OperandSlot,
    operand: Operand,
    halves: bool,
    labels: Callable[[BranchTarget], str] | None,
) -> str:
    row = instruction.row
    if isinstance(operand, Immediate):
        return print_immediate(row.mnemonic, slot.type, operand.value, row.generation)
    if isinstance(operand, BranchTarget):
        if labels is not None:
            return labels(operand)
        if operand.label is not None:
            return operand.label
        distance = operand.offset - (
            instruction.pc + instruction.size if instruction.pc >= 0 and instruction.size else 0
        )
        return str((distance // 4) & 0xFFFF)
    text = _value(row, slot, operand, halves)
    source = _SOURCES.get(slot.name)
    if source is None:
        return text
    return _with_modifiers(text, operand, source, instruction.modifiers)


def _value(row: InstructionRow, slot: OperandSlot, operand: Operand, halves: bool) -> str:
    if isinstance(operand, Register):
        if not halves and operand.half is not None:
            return f"v{operand.index}"
        return str(operand)
    if isinstance(operand, Inline):
        if operand.is_float and (
            (slot.type in _INTEGER_16 and row.mnemonic.startswith("v_"))
            or (row.mnemonic.startswith("s_cmp_") and slot.type == "f16")
        ):
            return f"0x{operand.bits('f16'):x}"
        if operand.code == 248:
            wide = (slot.units == 2 and not row.mnemonic.startswith("v_pk_")) or row.mnemonic.startswith(
                ("v_wmma_f16", "v_wmma_bf16")
            )
            return "0.15915494309189532" if wide else "0.15915494"
        return _FLOATS.get(operand.code) or str(operand.value)
    assert isinstance(operand, Literal)
    return _literal(slot, operand.bits)


_INLINE_32 = {
    0x3F000000,
    0xBF000000,
    0x3F800000,
    0xBF800000,
    0x40000000,
    0xC0000000,
    0x40800000,
    0xC0800000,
    0x3E22F983,
}
_INLINE_16 = {0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000, 0xC000, 0x4400, 0xC400, 0x3118}


def _literal(slot: OperandSlot, bits: int) -> str:
    """A literal; marked where the plain number would be taken for an inline constant."""
    if slot.kinds == ("literal",):
        return f"0x{bits:x}"
    signed = bits - (1 << 32) if bits >> 31 else bits
    inline = -16 <= signed <= 64
    if slot.units == 1 and "16" not in slot.type:
        inline = inline or bits in _INLINE_32
    elif slot.type in ("f16",):
        inline = inline or bits in _INLINE_16
    return f"lit(0x{bits:x})" if inline else f"0x{bits:x}"


def _with_modifiers(text: str, operand: Operand, source: int, modifiers: dict[str, int]) -> str:
    if not modifiers:
        return text
    bit = 1 << source
    if modifiers.get("sext", 0) & bit:
        return f"sext({text})"
    negative = modifiers.get("neg", 0) & bit
    if modifiers.get("abs", 0) & bit:
        text = f"|{text}|"
        return f"-{text}" if negative else text
    if negative:
        return f"-{text}" if isinstance(operand, Register) else f"neg({text})"
    return text


def _bits(value: int, count: int) -> str:
    return "[" + ",".join(str(value >> index & 1) for index in range(count)) + "]"


def _smem_operands(instruction: MachineInstruction) -> list[str]:
    row = instruction.row
    offset = instruction.modifiers.get("offset", 0)
    result = []
    for slot, operand in zip(row.slots, instruction.operands, strict=True):
        if slot.name != "soffset":
            result.append(
                str(operand)
                if isinstance(operand, Register)
                else spell(operand.value)
                if isinstance(operand, Immediate)
                else ""
            )
            continue
        constant = f"-0x{-offset:x}" if offset < 0 else f"0x{offset:x}"
        if "prefetch" in row.mnemonic:
            result.append(constant)
            result.append("null" if operand is OFF else str(operand))
        elif operand is OFF:
            result.append("null" if offset == 0 and row.generation == "gfx11" else constant)
        elif offset or (row.generation != "gfx11" and instruction.form != "sgpr"):
            result.append(f"{operand} offset:{constant}")
        else:
            result.append(str(operand))
    return result


def _cache(instruction: MachineInstruction) -> list[str]:
    modifiers = instruction.modifiers
    if instruction.row.generation != "gfx12":
        names = ("sc0", "nt", "sc1") if instruction.row.generation == "gfx9.4" else ("glc", "slc", "dlc")
        return [f" {name}" for name in names if modifiers.get(name)]
    result = []
    hint, scope = modifiers.get("th", 0), modifiers.get("scope", 0)
    memory = instruction.row.memory
    kind = memory.kind if memory is not None else "load"
    if hint:
        result.append(f" th:{_temporal_hint(kind, hint, scope)}")
    if scope:
        result.append(f" scope:{_SCOPES[scope]}")
    if modifiers.get("nv"):
        result.append(" nv")
    return result


def _temporal_hint(kind: str, hint: int, scope: int) -> str:
    if kind == "atomic":
        if hint & 4:
            if scope >= 2:
                return "TH_ATOMIC_CASCADE_" + ("NT" if hint & 2 else "RT")
            return f"TH_ATOMIC_0x{hint:x}"
        return ("TH_ATOMIC_NT" if hint & 2 else "TH_ATOMIC") + ("_RETURN" if hint & 1 else "")
    if kind == "store":
        return "TH_STORE_BYPASS" if hint == 3 and scope == 3 else f"TH_STORE_{_TH_STORE[hint]}"
    if hint == 7:
        return "0x7"
    return "TH_LOAD_BYPASS" if hint == 3 and scope == 3 else f"TH_LOAD_{_TH_LOAD[hint]}"


def _smem_modifiers(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    if instruction.row.generation == "gfx12":
        return _cache(instruction)
    return [f" {name}" for name in ("glc", "dlc", "nv") if instruction.modifiers.get(name)]


def _flat_modifiers(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    offset = instruction.modifiers.get("offset", 0)
    return ([f" offset:{offset}"] if offset else []) + _cache(instruction)


def _buffer_modifiers(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    modifiers = instruction.modifiers
    result = []
    if encoding.format == "MTBUF":
        names = table(instruction.row.generation).names["format"]
        value = instruction.modifier("format")
        if value != 1:
            result.append(f" format:{names[value] or value}")
    result += [f" {name}" for name in ("idxen", "offen") if modifiers.get(name)]
    if modifiers.get("offset"):
        result.append(f" offset:{modifiers['offset']}")
    result += _cache(instruction)
    result += [f" {name}" for name in ("tfe", "lds") if modifiers.get(name)]
    return result


def _ds_modifiers(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    modifiers = instruction.modifiers
    if instruction.row.mnemonic == "ds_swizzle_b32" and modifiers.get("offset"):
        result = [f" offset:{swizzle(modifiers['offset'])}"]
    else:
        result = [f" {name}:{modifiers[name]}" for name in ("offset", "offset0", "offset1") if modifiers.get(name)]
    return result + ([" gds"] if modifiers.get("gds") or always_gds(encoding, instruction.row.generation) else [])


def always_gds(encoding: Encoding, generation: str) -> bool:
    """Whether the encoding has its ``gds`` bit set and no choice about it."""
    field = formats(generation)[encoding.format].fields.get("gds")
    return field is not None and encoding.base & field.mask != 0


def swizzle(offset: int) -> str:
    """The pattern of ``ds_swizzle_b32`` as LLVM writes it (all three generations know rotation and FFT modes)."""
    if offset >= 0xC000:
        direction, amount = offset >> 10 & 1, offset >> 5 & 31
        if 0xC000 <= offset < 0xC800 and not offset & 31:
            return f"swizzle(ROTATE,{direction},{amount})"
        return f"swizzle(FFT,{offset & 31})" if 0xE000 <= offset < 0xE020 else str(offset)
    if offset & 0xFF00 == 0x8000:
        return "swizzle(QUAD_PERM," + ",".join(str(offset >> 2 * lane & 3) for lane in range(4)) + ")"
    if offset & 0x8000:
        return str(offset)
    and_mask, or_mask, xor_mask = offset & 31, offset >> 5 & 31, offset >> 10 & 31
    if (and_mask, or_mask) == (31, 0) and xor_mask and xor_mask & (xor_mask - 1) == 0:
        return f"swizzle(SWAP,{xor_mask})"
    if (and_mask, or_mask) == (31, 0) and xor_mask and xor_mask & (xor_mask + 1) == 0:
        return f"swizzle(REVERSE,{xor_mask + 1})"
    group = 32 - and_mask
    if group > 1 and group & (group - 1) == 0 and or_mask < group and xor_mask == 0:
        return f"swizzle(BROADCAST,{group},{or_mask})"
    text = ""
    for bit in range(4, -1, -1):
        zero = (or_mask >> bit & 1) ^ (xor_mask >> bit & 1)
        one = ((and_mask | or_mask) >> bit & 1) ^ (xor_mask >> bit & 1)
        text += {(0, 1): "p", (1, 0): "i", (0, 0): "0", (1, 1): "1"}[zero, one]
    return f'swizzle(BITMASK_PERM,"{text}")' if swizzle_offset("BITMASK_PERM", [], text) == offset else str(offset)


def _dpp(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    modifiers = instruction.modifiers
    if encoding.form.endswith("dpp8"):
        lanes = modifiers.get("dpp8", 0)
        text = ",".join(str(lanes >> 3 * lane & 7) for lane in range(8))
        return [f" dpp8:[{text}]"] + ([" fi:1"] if modifiers.get("fi") else [])
    control = instruction.modifier("dpp_ctrl")
    result = [" " + dpp_control(control, instruction.row.generation)]
    result += [f" {name}:0x{instruction.modifier(name):x}" for name in ("row_mask", "bank_mask")]
    result += [f" {name}:1" for name in ("bound_ctrl", "fi") if modifiers.get(name)]
    return result


def dpp_control(control: int, generation: str) -> str:
    """A DPP control as LLVM writes it."""
    if control < 0x100:
        return "quad_perm:[" + ",".join(str(control >> 2 * lane & 3) for lane in range(4)) + "]"
    names = {
        0x130: "wave_shl:1",
        0x134: "wave_rol:1",
        0x138: "wave_shr:1",
        0x13C: "wave_ror:1",
        0x140: "row_mirror",
        0x141: "row_half_mirror",
        0x142: "row_bcast:15",
        0x143: "row_bcast:31",
    }
    if control in names:
        return names[control]
    kinds = {
        0x10: "row_shl",
        0x11: "row_shr",
        0x12: "row_ror",
        0x15: "row_share" if generation != "gfx9.4" else "row_newbcast",
        0x16: "row_xmask",
    }
    return f"{kinds[control >> 4]}:{control & 15}"


def _source_count(row: InstructionRow) -> int:
    return sum(slot.name in _SOURCES for slot in row.slots)


def _op_sel(instruction: MachineInstruction, encoding: Encoding) -> int:
    """All ``op_sel`` bits, those that operands carry as halves included."""
    value = instruction.modifiers.get("op_sel", 0)
    for text, operand in zip(encoding.slot_fields, instruction.operands, strict=True):
        codec = text.partition(":")[2]
        if codec[:3] in ("vo.", "so.") and isinstance(operand, Register) and operand.half:
            value |= 1 << int(codec[3])
    return value


def _vop_modifiers(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    modifiers = instruction.modifiers
    row = instruction.row
    result: list[str] = []
    if encoding.form == "vopd" or (not modifiers and encoding.form in ("e32",)):
        return result
    if modifiers.get("bitop3"):
        value = modifiers["bitop3"]
        result.append(f" bitop3:{value}" if value <= 9 else f" bitop3:0x{value:x}")
    selected = _op_sel(instruction, encoding) if encoding.form.startswith("e64") else 0
    if selected:
        result += _vop3_selection(row, encoding, selected)
    if modifiers.get("clamp"):
        late = row.mnemonic.startswith("v_cvt") and any(m.startswith(" byte_sel") for m in result)
        result.insert(0 if late else len(result), " clamp")
    if modifiers.get("omod"):
        result.append((" mul:2", " mul:4", " div:2")[modifiers["omod"] - 1])
    if "dpp" in encoding.form:
        result += _dpp(instruction, encoding)
    if encoding.form == "sdwa":
        names = {modifier.name for modifier in encoding.modifiers}
        if "dst_sel" in names and not row.mnemonic.startswith("v_cmp"):
            result.append(f" dst_sel:{_SELECTS[instruction.modifier('dst_sel')]}")
        if "dst_unused" in names:
            result.append(f" dst_unused:{_UNUSED[instruction.modifier('dst_unused')]}")
        result += [
            f" {name}:{_SELECTS[instruction.modifier(name)]}" for name in ("src0_sel", "src1_sel") if name in names
        ]
    return result


# Written with three source entries though they have two sources: LLVM counts the tied destination.
_THREE_SELECTIONS = frozenset(
    ("v_fmac_f16", "v_cvt_scalef32_pk_fp4_f16", "v_cvt_scalef32_pk_fp4_bf16", "v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32")
)
_BYTE_SELECT_LOW = ("v_cvt_f32_fp8", "v_cvt_f32_bf8")
_BYTE_SELECT_HIGH = ("v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32")


def _vop3_selection(row: InstructionRow, encoding: Encoding, selected: int) -> list[str]:
    if row.mnemonic.startswith(("v_permlane16_swap", "v_permlane32_swap")):
        return ([" bound_ctrl:1"] if selected & 2 else []) + ([" fi:1"] if selected & 1 else [])
    if row.mnemonic.startswith(("v_permlane16", "v_permlanex16")):
        return [f" op_sel:{_bits(selected, 2)}"]
    if row.generation == "gfx12":
        if row.mnemonic in _BYTE_SELECT_LOW:
            return [f" byte_sel:{(selected & 1) << 1 | selected >> 1 & 1}"]
        if row.mnemonic in _BYTE_SELECT_HIGH:
            return [f" byte_sel:{selected >> 2}"]
    if row.mnemonic == "v_cndmask_b16":
        return []
    count = 3 if row.mnemonic in _THREE_SELECTIONS else _source_count(row)
    text = [selected >> index & 1 for index in range(count)]
    if row.slot_index("vdst") >= 0 or (row.slot_index("sdst") >= 0 and encoding.form == "e64"):
        text.append(selected >> 3 & 1)
    return [" op_sel:[" + ",".join(map(str, text)) + "]"]


def _vop3p_modifiers(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    modifiers = instruction.modifiers
    row = instruction.row
    count = _source_count(row)
    if row.mnemonic.startswith(("v_wmma", "v_swmmac")):
        count = 3
    result: list[str] = []
    if modifiers.get("index_key"):
        result.append(f" index_key:{modifiers['index_key']}")
    for name in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi"):
        if name in modifiers:
            value = modifiers[name]
            result.append(f" {name}:{_bits(value, count)}")
    if modifiers.get("clamp"):
        result.append(" clamp")
    if "dpp" in encoding.form:
        result += _dpp(instruction, encoding)
    return result


def _mai_modifiers(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    modifiers = instruction.modifiers
    result: list[str] = []
    if encoding.format == "MAIX2":
        for name in ("op_sel", "op_sel_hi"):
            value = modifiers.get(name, 0)
            if value or name == "op_sel_hi":
                result.append(f" {name}:[{value & 1},{value >> 1 & 1},0]")
    for name in ("cbsz", "abid"):
        if modifiers.get(name):
            result.append(f" {name}:{modifiers[name]}")
    if modifiers.get("blgp"):
        if "_f64" in instruction.row.mnemonic:
            result.append(f" neg:{_bits(modifiers['blgp'], 3)}")
        else:
            result.append(f" blgp:{modifiers['blgp']}")
    return result


def _other_modifiers(instruction: MachineInstruction, encoding: Encoding) -> list[str]:
    if encoding.format in ("LDSDIR", "VDSDIR"):
        return [f" {modifier.name}:{instruction.modifier(modifier.name)}" for modifier in encoding.modifiers]
    return []


_MODIFIERS: dict[str, Callable[[MachineInstruction, Encoding], list[str]]] = {
    "smem": _smem_modifiers,
    "vop3p": _vop3p_modifiers,
    "mai": _mai_modifiers,
    "vop": _vop_modifiers,
    "buffer": _buffer_modifiers,
    "flat": _flat_modifiers,
    "ds": _ds_modifiers,
    "other": _other_modifiers,
}
