"""Rows from what was found: encodings grouped by mnemonic, with codecs, slots, and every other column."""

from __future__ import annotations

import re
from typing import Any

from loom.target.amdgpu.formats import modifier_field
from loom.target.amdgpu.processors import of_generation
from loom.target.amdgpu.tables.generate import columns
from loom.target.amdgpu.tables.generate.families import VOP3SD, WHOLE_MODIFIERS, is_atomic
from loom.target.amdgpu.tables.generate.found import Found, base_word
from loom.target.amdgpu.tables.generate.wheel import WHEEL_NAME, WHEEL_SHA256, AmdTable

# Fields that are part of an operand, not modifiers of their own.
_OPERAND_BITS = frozenset(("acc", "acc_cd", "sve", "imm", "soe"))


def _codecs(found: Found, generation: str) -> list[str]:
    """Final codecs: address parts, accumulator choice, lane masks."""
    name = found.format.name
    gfx9 = generation == "gfx9.4"
    result = []
    for slot, codec in zip(found.slot_fields, found.codecs, strict=True):
        body, _, accept = codec.partition("@")
        tail = f"@{accept}" if accept else ""
        if name in ("SMEM", "SMEMS") and slot == "sbase":
            codec = "b" + body[1:]
        elif name == "SMEM" and slot == "soffset":
            codec = ("soffset9" if gfx9 else "soffset") + tail
        elif name in ("GLOBAL", "SCRATCH") and slot in ("vaddr", "saddr"):
            codec = f"{name.lower()}_{slot}{tail}"
        elif name in ("MUBUF", "MTBUF") and slot == "vaddr":
            codec = "buffer_vaddr"
        elif name in ("MUBUF", "MTBUF") and slot == "srsrc":
            codec = "r4" if found.format.fields[slot].width == 5 else "q4"
        elif "acc" in found.format.fields and slot in ("vdst", "vdata", "data0", "data1") and name != "MAI":
            if name != "MAIX2" and "acc" in found.modifiers:
                codec = "va" + body[1:]
        elif name.endswith("SDWA") and slot in ("src0", "vsrc1"):
            codec = "w" + body[1:]
        elif name == "VOPC_SDWA" and slot == "sdst":
            codec = "wd"
        elif name == "VOPDY" and slot == "vdst":
            codec = "vdsty"
        if name in ("MAI", "MAIX2"):
            if slot == "vdst" and "acc_cd" in found.modifiers:
                codec = "vc" + body[1:]
            elif slot == "src2" and "acc_cd" in found.modifiers and not found.mnemonic.startswith("v_smfmac"):
                codec = "sc" + body[1:] + tail
            elif slot in ("src0", "src1") and "acc" in found.modifiers:
                codec = f"{'sx' if 'f8f6f4' in found.mnemonic else 'sa'}{body[1:]}.{slot[3]}" + tail
        result.append(codec)
    return result


def _slot_name(found: Found, index: int) -> str:
    name = found.slot_fields[index]
    codec = found.codecs[index]
    if name == "":
        return "sdst" if index < 2 and codec == "=vcc" and index == _first_fixed(found) else "src2"
    if name == "vdst" and codec.startswith("s"):
        return "sdst"
    return {"vsrc1": "src1", "literal": "imm", "addr": "addr"}.get(name, name)


def _first_fixed(found: Found) -> int:
    first = found.codecs.index("=vcc")
    return -1 if found.mnemonic.startswith("v_cndmask") else first


def _is_mask(mnemonic: str, slot: str) -> bool:
    """Whether a scalar operand of a vector instruction holds one bit a lane."""
    if slot == "sdst":
        return mnemonic.startswith("v_cmp") or VOP3SD.match(mnemonic) is not None
    if slot == "src2":
        return (
            mnemonic.startswith("v_cndmask_")
            or re.match(r"^v_(add|sub|subrev)_co_ci_|^v_(addc|subb|subbrev)_co", mnemonic) is not None
        )
    return False


_WHEEL_FIELDS = {
    "vdata": ("data", "vdata", "vsrc"),
    "vsrc1": ("vsrc1", "src1"),
    "addr": ("addr",),
    "vaddr": ("addr", "vaddr"),
}
WHEEL_FORMATS = {
    "MAI": ("VOP3P",),
    "MAIX2": ("VOP3PX2",),
    "DS2": ("DS",),
    "VOPDX": ("VOPD",),
    "VOPDY": ("VOPD",),
    "FLAT": ("FLAT", "VFLAT"),
    "GLOBAL": ("GLOBAL", "VGLOBAL"),
    "SCRATCH": ("SCRATCH", "VSCRATCH"),
    "MUBUF": ("MUBUF", "VBUFFER"),
    "MTBUF": ("MTBUF", "VBUFFER"),
    "VDSDIR": ("VDSDIR",),
}


def _amd_entry(found: Found, amd: AmdTable) -> tuple[str, dict[str, tuple[str, int]]] | None:
    base = found.format.name.split("_")[0]
    for name in WHEEL_FORMATS.get(base, (base,)):
        entry = amd.get((name, found.opcode))
        if entry is not None:
            return entry
    return None


def _type_name(amd_type: str, bits: int) -> str:
    body = amd_type.removeprefix("FMT_").removeprefix("NUM_")
    match = re.fullmatch(r"PK(\d*)_([A-Z]+\d+)", body)
    if match:
        return f"v{match[1] or '2'}{match[2].lower()}"
    if re.fullmatch(r"[BFIU]\d+|BF\d+|FP\d+|IU\d+", body):
        return body.lower()
    if body == "M64":
        return "mask"
    matrix = re.fullmatch(r"WMMA_\w+?_([A-Z]+\d+)(_\w+)?", body)
    if matrix:
        return matrix[1].lower()
    return f"b{bits}"


def _units(codec: str) -> int:
    body = codec.partition("@")[0].partition(".")[0]
    match = re.search(r"(\d+)$", body)
    if match and body[0] in "vsbrqwad":
        return int(match[1])
    return 1


_ADDRESS_UNITS = {"global_vaddr": 2, "global_saddr": 2, "scratch_vaddr": 1, "scratch_saddr": 1, "buffer_vaddr": 2}


def _kinds(codecs: list[str], classes: list[int]) -> list[str]:
    """Operand kinds allowed in any form."""
    kinds: list[str] = []

    def add(*names: str) -> None:
        kinds.extend(name for name in names if name not in kinds)

    for codec in codecs:
        body, _, accept = codec.partition("@")
        if body.startswith("="):
            add(body[1:])
        elif body == "lit":
            add("literal")
        elif body == "br":
            add("branch")
        elif re.fullmatch(r"[ui]\d+", body):
            add("imm")
        elif body in ("global_vaddr",):
            add("vgpr")
        elif body in ("scratch_vaddr", "buffer_vaddr"):
            add("vgpr", "off")
        elif body in ("global_saddr", "scratch_saddr", "soffset", "soffset9"):
            add("sgpr", "off")
        elif body.startswith("w"):
            add("sgpr") if body == "wd" else add("vgpr", "sgpr")
        elif body.startswith(("va", "vc")):
            add("vgpr", "agpr")
        elif body[0] == "v":
            add("vgpr")
        elif body[0] == "a":
            add("agpr")
        elif body[0] in "brqd":
            add("sgpr")
        if accept:
            mask = classes[int(accept.removesuffix("+v"))]
            if mask & 1:
                add("sgpr")
            if mask >> 106 & 1:
                add("vcc")
            if mask >> 126 & 1:
                add("exec")
            if mask >> 124 & 3:
                add("m0", "null")
            if mask >> 128 & 1:
                add("inline")
            if mask >> 235 & 1 or mask >> 253 & 1:
                add("special")
            if mask >> 255 & 1:
                add("literal")
            if mask >> 256 & 1 or accept.endswith("+v"):
                add("vgpr")
                if body.startswith(("sa", "sc", "sx")):
                    add("agpr")
    return kinds


def _modifiers(found: Found, mnemonic: str) -> list[list[Any]]:
    """Modifier entries ``[name, mask, default]`` of one encoding."""
    result: list[list[Any]] = []
    mix = re.match(r"^v_(fma|mad)_mix", mnemonic) is not None
    for name, fld in found.format.fields.items():
        if not fld.is_modifier or name not in found.modifiers or name in _OPERAND_BITS:
            continue
        mask = found.modifiers[name]
        if name in WHOLE_MODIFIERS or mask == 0:
            mask = (1 << fld.width) - 1
        default = fld.default
        if mix:
            name = {"neg_lo": "neg", "neg_hi": "abs"}.get(name, name)
            default = 0 if name == "op_sel_hi" else default
        if name == "op_sel_hi":
            default &= mask
        halves = [int(codec[3]) for codec in found.codecs if codec[:3] in ("vo.", "so.")]
        if name == "op_sel" and halves:  # LLVM reads any other bit as a reason to fall back to its older decoding
            mask = sum({1 << bit for bit in halves})
        if name == "op_sel" and found.mnemonic.startswith("v_swmmac"):
            name = "index_key"
        if name == "fi8":
            name, mask, default = "fi", 1, 0
        result.append([name, mask, default])
    return result


def _share_lane_sources(founds: list[Found]) -> None:
    """Give the sources of ``v_writelane_b32`` what the lane of ``v_readlane_b32`` may be.

    Where one scalar register is all an instruction may read, a probe with a scalar in one of its sources tells nothing
    about the other one.
    """
    by_name = {found.mnemonic: found for found in founds if found.format.name == "VOP3"}
    reading, writing = by_name.get("v_readlane_b32"), by_name.get("v_writelane_b32")
    if reading is not None and writing is not None and writing.assembled < 0:
        writing.codecs[1:] = [reading.codecs[2]] * 2


def assemble_table(
    generation: str,
    founds: list[Found],
    classes: list[int],
    amd: AmdTable,
) -> dict[str, Any]:
    """Group encodings by mnemonic and add every column."""
    processors = [row.name for row in of_generation(generation)]
    groups: dict[str, list[Found]] = {}
    _share_lane_sources(founds)
    for found in founds:
        key = found.mnemonic
        groups.setdefault(key, []).append(found)
    rows: list[list[Any]] = []
    for mnemonic, group in groups.items():
        by_form: dict[tuple[str, str], Found] = {}
        for found in group:
            by_form.setdefault((found.format.form, found.format.name), found)
        members = list(by_form.values())
        members.sort(key=lambda f: (f.bits, _FORM_ORDER.index(f.format.form)))
        richest = next((f for f in members if f.format.form == "e64"), members[0])
        count = len(richest.codecs)
        final = {id(f): _codecs(f, generation) for f in members}
        names = [_slot_name(richest, index) for index in range(count)]
        atomic = is_atomic(mnemonic) and not mnemonic.startswith("buffer")
        encodings = []
        for found in members:
            if len(found.codecs) != count:
                raise RuntimeError(f"{mnemonic}: {found.text} and {richest.text} differ in operands")
            encodings.append(_encoding(found, mnemonic, final[id(found)], names, generation, processors, atomic))
        slots = []
        entry = _amd_entry(richest, amd)
        for index, name in enumerate(names):
            slots.append(_slot(mnemonic, name, index, members, final, classes, entry, richest, generation))
        if atomic and "vdst" not in names:
            data = next(slot for slot in slots if slot[0] == "vdata")
            units = data[3] // 2 if "cmpswap" in mnemonic else data[3]
            slots.insert(
                0,
                [
                    "vdst",
                    "def",
                    ["vgpr", "agpr", "off"] if generation == "gfx9.4" else ["vgpr", "off"],
                    units,
                    data[4],
                    None,
                ],
            )
        rows.append(columns.finish_row(generation, mnemonic, richest, encodings, slots))
    return {
        "provenance": (
            "Made by loom.target.amdgpu.tables.generate from the AMD "
            f"instruction tables in {WHEEL_NAME} (SHA-256 {WHEEL_SHA256}) "
            "and probes of LLVM MC 22. Do not edit."
        ),
        "generation": generation,
        "processors": processors,
        "accept": [f"{mask:x}" for mask in classes],
        "rows": sorted(rows, key=lambda row: row[0]),
    }


_FORM_ORDER = ("sgpr", "", "e32", "vopd", "dpp16", "dpp8", "sdwa", "e64", "e64_dpp16", "e64_dpp8")


def _encoding(
    found: Found,
    mnemonic: str,
    codecs: list[str],
    names: list[str],
    generation: str,
    processors: list[str],
    atomic: bool,
) -> list[Any]:
    form = found.format
    fields: list[str] = []
    used = 0
    for slot, codec in zip(found.slot_fields, codecs, strict=True):
        if generation != "gfx9.4" and _is_mask(mnemonic, names[len(fields)]):
            body, _, accept = codec.partition("@")
            if body in ("s1", "d1"):
                codec = f"sm@{accept}" if accept else "dm"
        if codec == "u16":
            codec = columns.immediate_codec(mnemonic)
        fields.append(f"{slot}:{codec}")
        if slot in form.fields:
            used |= form.fields[slot].mask
    if atomic and "vdst" not in found.slot_fields:
        data = codecs[found.slot_fields.index("vdata")]
        units = _units(data) // 2 if "cmpswap" in mnemonic else _units(data)
        fields.insert(0, f"vdst:{'ra' if generation == 'gfx9.4' else 'rv'}{units}")
        used |= form.fields["vdst"].mask
    for name in _OPERAND_BITS:
        if name in found.modifiers:
            used |= form.fields[name].mask
    base = base_word(found) & ~used
    dont_care = found.dont_care & ~used
    if any(codec[:3] in ("vo.", "so.") for codec in codecs):
        dont_care |= form.fields["op_sel"].mask
    if mnemonic.startswith("v_bitop3"):
        modifiers = [["bitop3", 255, 0]] + [m for m in _modifiers(found, mnemonic) if m[0] == "op_sel"]
    else:
        modifiers = _modifiers(found, mnemonic)
    for name, mask, _ in modifiers:
        field = modifier_field(form, name)
        dont_care &= ~(field.mask if field.name == "fi8" else field.insert(mask))
    mask = sum(1 << processors.index(p) for p in found.processors)
    return [form.form, form.name, found.opcode, found.suffix, f"{base:x}", f"{dont_care:x}", fields, modifiers, mask]


def _slot(
    mnemonic: str,
    name: str,
    index: int,
    members: list[Found],
    final: dict[int, list[str]],
    classes: list[int],
    entry: tuple[str, dict[str, tuple[str, int]]] | None,
    richest: Found,
    generation: str,
) -> list[Any]:
    codecs = [final[id(found)][index] for found in members]
    own = final[id(richest)][index]
    body = own.partition("@")[0]
    units = _ADDRESS_UNITS.get(body, _units(own))
    kinds = _kinds(codecs, classes)
    if _is_mask(mnemonic, name):
        return [name, "def" if name == "sdst" else "use", kinds, 2, "mask", None]
    field = richest.slot_fields[index]
    type_name = ""
    if entry is not None:
        for candidate in _WHEEL_FIELDS.get(field, (field,)):
            if candidate in entry[1]:
                type_name = _type_name(*entry[1][candidate])
                break
    if re.fullmatch(r"[ui]\d+|br", body) or body == "lit":
        type_name = columns.immediate_type(mnemonic, body)
    elif not type_name:
        half = body in ("vh", "sh") or body.startswith(("vo", "so."))
        type_name = columns.guess_type(mnemonic, units, half)
    role = columns.role(mnemonic, name, generation)
    return [name, role, kinds, units, type_name, None]
