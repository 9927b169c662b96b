"""Makes the instruction tables ``gfx11.json``, ``gfx12.json`` and ``gfx9_4.json`` beside this file.

    python -m loom.target.amdgpu.tables.generate [--wheel FILE] [--output DIRECTORY] [GENERATION…]

Two sources of facts:

* AMD's machine-readable instruction set data as the ``tinygrad`` wheel on PyPI carries it (pinned below): which
  opcodes exist under which name, the
  operand types and sizes. It holds RDNA 3.5, RDNA 4 and CDNA 4.
* LLVM MC 22: LLVM's mnemonics, operand order and operand classes, which bits are don't-care, and which processor has
  what. It
  is asked by decoding probes: every opcode of every format, then every bit flipped, then every source code in every
  source field.

What neither says (operand roles, implicit registers, memory effects, counters, issue class, semantic name) comes
from :mod:`.rules`.
The result depends on these inputs only; a test regenerates it and compares.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loom.target.amdgpu.formats import Format, formats
from loom.target.amdgpu.processors import of_generation
from loom.target.amdgpu.tables import probe, rules

WHEEL_NAME = "tinygrad-0.14.0-py3-none-any.whl"
WHEEL_SHA256 = "d2a5bea33c637fdf105963632329876b3d3253d38295ac1ffd2ff81646d93be3"
WHEEL_TABLES = {"gfx11": "rdna3", "gfx12": "rdna4", "gfx9.4": "cdna"}
FILES = {"gfx11": "gfx11.json", "gfx12": "gfx12.json", "gfx9.4": "gfx9_4.json"}

# Processors whose probes are merged into one table, richest first.
PRIMARY = {"gfx11": ("gfx1151", "gfx1100"), "gfx12": ("gfx1201",), "gfx9.4": ("gfx950", "gfx942")}

_M0 = {"gfx11": 125, "gfx12": 125, "gfx9.4": 124}
_NULL = {"gfx11": 124, "gfx12": 124, "gfx9.4": 127}
_EXCLUDED = re.compile(
    r"^(image_|exp$|export|v_interp_|lds_param_load|ds_param_load|ds_bvh|s_atc_probe|v_mfma_ld_scale|s_set_gpr_idx_on)"
)
_SUFFIXES = ("_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa")

# The number that stands in a field in the base probe. Distinct, aligned for any tuple, below 128 for true16.
_VGPR = {
    "vdst": 16,
    "src0": 64,
    "src1": 96,
    "src2": 160,
    "vsrc1": 96,
    "addr": 64,
    "vaddr": 64,
    "data0": 96,
    "data1": 112,
    "vdata": 96,
    "scale0": 200,
    "scale1": 208,
}
_SGPR = {
    "sdst": 16,
    "ssrc0": 32,
    "ssrc1": 48,
    "src0": 32,
    "src1": 48,
    "src2": 64,
    "sdata": 16,
    "vdst": 16,
    "saddr": 34,
    "soffset": 36,
    "scale0": 80,
    "scale1": 88,
}
_LITERAL = 0x3456
_IMM16 = 0x0123


@dataclass
class Found:
    """One encoding as LLVM knows it."""

    format: Format
    opcode: int
    word: int
    text: str
    canonical: int
    mnemonic: str
    suffix: str
    operands: list[str]
    literal: bool
    processor: str
    assembled: int = -1
    slot_fields: list[str] = field(default_factory=list)
    codecs: list[str] = field(default_factory=list)
    modifiers: dict[str, int] = field(default_factory=dict)
    dont_care: int = 0
    processors: tuple[str, ...] = ()

    @property
    def bits(self) -> int:
        """Size with the mandatory literal."""
        return self.format.bits + (32 if self.literal else 0)

    def bytes_of(self, word: int) -> bytes:
        """The instruction word, with the mandatory literal behind it if there is one."""
        out = word.to_bytes(self.format.bits // 8, "little")
        return out + (_LITERAL.to_bytes(4, "little") if self.literal else b"")


def _variants(form: Format, generation: str) -> list[dict[str, int]]:
    """Field values worth trying as a base probe, the preferred ones first."""
    choices: list[list[tuple[str, int]]] = []
    for name, fld in form.fields.items():
        if fld.is_modifier:
            values = [fld.default]
            if name == "offen":
                values = [1]
            elif name == "sve":
                values = [1, 0]
            elif name == "imm":
                values = [1]
            elif name == "soe":
                values = [1, 0]
            elif name == "format":
                values = [fld.default, 0]
            elif name == "dst_unused":
                values = [0, 2]
            elif name in ("lds", "gds"):
                values = [0, 1]
            choices.append([(name, value) for value in values])
            continue
        if name == "saddr":
            values = [_SGPR[name], _NULL[generation], 0]
        elif name == "soffset":
            values = [_SGPR[name], 0] if generation == "gfx9.4" else [_SGPR[name], _NULL[generation], 0]
        elif name == "srsrc":
            values = [40 >> 2 if fld.width == 5 else 40]
        elif name == "sbase":
            values = [20]
        elif name == "simm16":
            values = [_IMM16, 0, 0x0823]
        elif form.name == "SOP1" and name == "ssrc0":
            values = [_SGPR[name], 0, _M0[generation]]
        elif name == "attr" or name == "attr_chan":
            values = [0]
        elif fld.width == 9 and form.name.endswith("SDWA"):
            values = [_VGPR[name]]
        elif fld.width == 9:
            values = [256 + _VGPR[name], _SGPR[name]]
        elif form.name == "VOPC_SDWA" and name == "sdst":
            values = [128 + 16, 0]
        elif form.name == "VOPDY" and name == "vdst":
            values = [_VGPR["vdst"] >> 1]
        elif fld.width == 8 and name in _VGPR and not name.startswith("ss"):
            values = [_VGPR[name], 0, 0x7E] if name == "vdst" and form.name.startswith("VOP3") else [_VGPR[name], 0]
        else:
            values = [_SGPR[name], 0]
        choices.append([(name, value) for value in values])
    variants = [dict(combination) for combination in itertools.product(*choices)]
    if form.name in ("MUBUF", "SMEM", "SMEMS", "GLOBAL"):  # cache control: no operands at all
        blank = {name: fld.default if fld.is_modifier else 0 for name, fld in form.fields.items()}
        variants.append(blank)
    # Fewest departures from the preferred values first.
    preferred = variants[0]
    return sorted(variants, key=lambda v: sum(v[k] != preferred[k] for k in v))


def _opcodes(form: Format, generation: str) -> range:
    """Opcodes that do not belong to a format whose longer prefix overlaps this one."""
    limits = {"SOP2": 0x60, "SOPK": 0x1D, "VOP2": 0x3E}
    limit = limits.get(form.name.split("_")[0], 1 << form.opcode.width)
    if generation == "gfx9.4" and form.name.startswith("VOP3") and form.opcode.width == 10:
        limit = 0x380
    return range(limit)


def _word(form: Format, opcode: int, values: dict[str, int]) -> int:
    word = form.fixed_value | form.opcode.insert(opcode)
    for name, value in values.items():
        word |= form.fields[name].insert(value)
    if form.name == "VOPDX":  # the other half: v_dual_mov_b32
        word |= 8 << 17 | (256 + 81) << 32 | 8 << 49
    if form.name == "VOPDY":
        word |= 8 << 22 | (256 + 81) | 17 << 56
    return word


def _belongs(form: Format, generation: str, mnemonic: str, text: str) -> bool:
    """Whether an instruction that decodes under a format is laid out by it, where several share the prefix."""
    if _EXCLUDED.match(mnemonic):
        return False
    sdst = re.match(r"\S+ v[^,]*, s(16|\[16:17\]),", text) is not None
    if form.name.startswith("VOP3SD"):
        return sdst
    if form.name in ("VOP3", "VOP3_DPP16", "VOP3_DPP8"):
        return rules.VOP3SD.match(mnemonic) is None
    if form.name == "MAI":
        return rules.MATRIX.match(mnemonic) is not None
    if form.name == "VOP3P" and generation == "gfx9.4":
        return rules.MATRIX.match(mnemonic) is None
    if form.name == "SMEMS":
        return re.search(r", s36$|, s36 ", text) is not None or "," not in text
    if form.name in ("DS", "DS2"):
        return (form.name == "DS2") == (rules.DS_TWO.match(mnemonic) is not None)
    if form.name in ("MUBUF", "MTBUF"):
        return mnemonic.startswith("tbuffer") == (form.name == "MTBUF")
    return True


def _strip(mnemonic: str, form: Format) -> tuple[str, str]:
    if form.form:
        for suffix in _SUFFIXES:
            if mnemonic.endswith(suffix):
                return mnemonic[: -len(suffix)], suffix
    return mnemonic, ""


def enumerate_encodings(generation: str, only: Sequence[str] = ()) -> list[Found]:
    """Every encoding of a generation that one of its primary processors decodes, in format and opcode order.

    ``only`` restricts it to some formats, for tests.
    """
    result: list[Found] = []
    for form in formats(generation).values():
        if only and form.name not in only:
            continue
        variants = _variants(form, generation)
        taken: dict[int, Found] = {}
        for processor in PRIMARY[generation]:
            trials: list[tuple[int, int, bool]] = []
            for opcode in _opcodes(form, generation):
                if opcode in taken:
                    continue
                for values in variants:
                    word = _word(form, opcode, values)
                    trials.append((opcode, word, False))
                if not form.form.endswith(("dpp16", "dpp8", "sdwa")):
                    trials.append((opcode, _word(form, opcode, variants[0]), True))
            blobs = [
                word.to_bytes(form.bits // 8, "little") + (_LITERAL.to_bytes(4, "little") if literal else b"")
                for _, word, literal in trials
            ]
            answers = probe.decode(processor, generation, blobs)
            known = [answer.text if answer is not None else None for answer in answers]
            texts = sorted({text for text in known if text is not None})
            accepted = dict(zip(texts, probe.assemble(processor, generation, texts), strict=True))
            # A probe that LLVM's assembler takes back is better than one that only its decoder takes.
            for strict in (True, False):
                for (opcode, word, literal), answer in zip(trials, answers, strict=True):
                    if (
                        answer is None
                        or answer.soft
                        or opcode in taken
                        or len(answer.canonical) != form.bits // 8 + 4 * literal
                    ):
                        continue
                    if strict and accepted[answer.text] is None:
                        continue
                    text = answer.text
                    if form.name in ("VOPDX", "VOPDY"):
                        text = text.split(" :: ")[form.name == "VOPDY"]
                    mnemonic, operands, _ = probe.split(text)
                    mnemonic, suffix = _strip(mnemonic, form)
                    if not _belongs(form, generation, mnemonic, text):
                        continue
                    if form.form == "" and mnemonic.startswith("v_"):
                        continue
                    canonical = int.from_bytes(answer.canonical[: form.bits // 8], "little")
                    taken[opcode] = Found(
                        form, opcode, word, text, canonical, mnemonic, suffix, operands, literal, processor
                    )
                    written = accepted[answer.text]
                    if written is not None and len(written) == len(answer.canonical):
                        taken[opcode].assembled = int.from_bytes(written[: form.bits // 8], "little")
        result.extend(taken[opcode] for opcode in sorted(taken))
    return result


def _register_of(token: str) -> tuple[str, int, int] | None:
    """Bank letter, first number and count of a register's text."""
    token = token.strip("-|")
    match = re.fullmatch(r"(v|s|a|ttmp)(\d+)(?:\.[lh])?", token)
    if match:
        return match[1], int(match[2]), 1
    match = re.fullmatch(r"(v|s|a|ttmp)\[(\d+):(\d+)\]", token)
    if match:
        return match[1], int(match[2]), int(match[3]) - int(match[2]) + 1
    return None


def _expected(found: Found, name: str) -> tuple[str, int] | None:
    """Which register the base probe names in a field."""
    fld = found.format.fields[name]
    value = fld.extract(found.word)
    if name == "sbase":
        return "s", value * 2
    if name == "srsrc":
        return "s", value * 4 if fld.width == 5 else value
    if name in ("saddr", "soffset", "sdst", "ssrc0", "ssrc1", "sdata"):
        return "s", value & 127
    if found.format.name == "VOPDY" and name == "vdst":
        return "v", value * 2  # vdstx of the base probe is odd
    if fld.width == 9 and not found.format.name.endswith("SDWA"):
        return ("v", value - 256) if value >= 256 else ("s", value)
    if name == "vdst" and found.operands and found.operands[0].startswith("s"):
        return "s", value
    return "v", value & 255


_FIXED_TOKENS = {"vcc_lo": "vcc", "vcc": "vcc", "exec_lo": "exec", "exec": "exec", "m0": "m0", "null": "null"}


def assign_slots(found: Found) -> None:
    """Find for every operand in LLVM's text the field that holds it, and a first codec."""
    form = found.format
    registers = {name: _expected(found, name) for name, fld in form.fields.items() if not fld.is_modifier}
    used: set[str] = set()
    for token in found.operands:
        register = _register_of(token)
        name = ""
        codec = ""
        if register is not None:
            bank, index, units = register
            wanted = "v" if bank == "a" else bank
            for candidate, value in registers.items():
                if candidate not in used and value == (wanted, index):
                    name = candidate
                    break
            codec = bank + str(units)
            if token.endswith((".l", ".h")):
                codec = "vt"
        elif token == "m0" and "ssrc0" in form.fields and form.fields["ssrc0"].extract(found.word) in (124, 125):
            name, codec = "ssrc0", "s1"
        elif token == "gds":
            continue
        elif token in ("off",):
            name = next((n for n in ("vaddr", "saddr") if n in registers and n not in used), "")
            codec = "off"
        elif token in _FIXED_TOKENS and not (token == "null" and "soffset" in registers):
            name, codec = "", "=" + _FIXED_TOKENS[token]
        elif token == "null":
            name, codec = "soffset", "s1"
        elif token.startswith("sendmsg(") and "ssrc0" in form.fields:
            name, codec = "ssrc0", "u8"
        elif found.literal and token == f"0x{_LITERAL:x}":
            name, codec = "literal", "lit"
        elif "simm16" in form.fields and "simm16" not in used:
            name, codec = "simm16", "u16"
        elif "prefetch" in found.mnemonic and token == str(_SGPR["sdata"]):
            name, codec = "sdata", "u7"
        elif form.name in ("SMEM", "SMEMS"):
            continue  # a constant offset; a modifier here
        elif token.startswith("attr"):
            continue
        if not name and not codec.startswith("="):
            raise RuntimeError(f"{form.name} {found.opcode:#x}: cannot place operand '{token}' of '{found.text}'")
        if name:
            used.add(name)
        found.slot_fields.append(name)
        found.codecs.append(codec)


def flip_bits(generation: str, founds: list[Found]) -> None:
    """Flip every free bit of every encoding; sort the bits into slots, modifiers and don't-care."""
    by_processor: dict[str, list[Found]] = {}
    for found in founds:
        by_processor.setdefault(found.processor, []).append(found)
    for processor, group in by_processor.items():
        questions: list[bytes] = []
        keys: list[tuple[Found, int]] = []
        for found in group:
            form = found.format
            for bit in range(form.bits):
                if (form.fixed_mask | form.opcode.mask) >> bit & 1:
                    continue
                if any(
                    fld.name.endswith("_sel") and fld.width == 3 and fld.extract(found.word ^ (1 << bit)) == 7
                    for fld in form.fields.values()
                ):
                    continue  # no such selection; LLVM 22 aborts on it
                keys.append((found, bit))
                questions.append(found.bytes_of(found.word ^ (1 << bit)))
        answers = probe.decode(processor, generation, questions)
        for (found, bit), answer in zip(keys, answers, strict=True):
            _classify(found, bit, answer)


def _classify(found: Found, bit: int, answer: probe.Answer | None) -> None:
    form = found.format
    half = None
    if form.name in ("VOPDX", "VOPDY"):
        half = form.name == "VOPDY"
    owner = next((fld for fld in form.fields.values() if fld.mask >> bit & 1), None)
    if answer is None:
        if owner is not None and owner.is_modifier and owner.name in rules.WHOLE_MODIFIERS:
            found.modifiers.setdefault(owner.name, 0)
        return
    text = answer.text
    if half is not None:
        parts = text.split(" :: ")
        text = parts[half] if len(parts) == 2 else text
    if text == found.text:
        if half is None:
            found.dont_care |= 1 << bit
        return
    if owner is None or not owner.is_modifier:
        return
    mnemonic = _strip(probe.split(text)[0], form)[0]
    if mnemonic != found.mnemonic:
        return
    # Position of the bit inside the field's value.
    at = 0
    for shift, width in owner.pieces:
        if shift <= bit < shift + width:
            at += bit - shift
            break
        at += width
    found.modifiers[owner.name] = found.modifiers.get(owner.name, 0) | 1 << at


def drop_fixed_modifiers(founds: list[Found]) -> None:
    """Forget modifiers no bit of which may change."""
    for found in founds:
        found.modifiers = {name: bits for name, bits in found.modifiers.items() if bits or name == "fi8"}


def true16_halves(generation: str, founds: list[Found]) -> None:
    """Tell the two true16 codecs apart and find the ``op_sel`` bit of each operand."""
    for found in founds:
        name = found.format.name
        for index, codec in enumerate(found.codecs):
            if codec != "vt":
                continue
            slot = found.slot_fields[index]
            is_source = found.format.fields[slot].width == 9
            if name.startswith("VOP3"):
                bit = {"vdst": 3, "src0": 0, "src1": 1, "src2": 2}[slot]
                if not found.modifiers.get("op_sel", 0) >> bit & 1:
                    raise RuntimeError(f"{found.text}: op_sel bit {bit} does not move the half of {slot}")
                found.codecs[index] = f"so.{bit}" if is_source else f"vo.{bit}"
            else:
                found.codecs[index] = "sh" if is_source else "vh"


# Edges of every range of source codes; what one plain register may do, all may (alignment is a rule of its own).
_SAMPLE_CODES = (
    0,
    4,
    102,
    104,
    106,
    107,
    112,
    124,
    125,
    126,
    127,
    128,
    129,
    193,
    *range(209, 240),
    240,
    248,
    *range(249, 256),
)
_PROBED = ("src0", "src1", "src2", "ssrc0", "ssrc1", "sdst", "vdst", "sdata", "soffset", "saddr", "scale0", "scale1")


def probe_sources(generation: str, founds: list[Found]) -> list[int]:
    """Find which source codes every source field takes; returns the acceptance classes as 256-bit sets."""
    classes: list[int] = []
    index_of: dict[int, int] = {}
    by_processor: dict[str, list[Found]] = {}
    for found in founds:
        by_processor.setdefault(found.processor, []).append(found)
    results: dict[tuple[int, int], int] = {}
    for processor, group in by_processor.items():
        keys: list[tuple[Found, int, int]] = []
        questions: list[bytes] = []
        for found in group:
            for slot, (name, codec) in enumerate(zip(found.slot_fields, found.codecs, strict=True)):
                if name not in _PROBED or found.format.name.endswith("SDWA"):
                    continue
                fld = found.format.fields[name]
                scalar_destination = name == "vdst" and codec[0] == "s"
                if fld.width == 8 and not scalar_destination and name not in ("ssrc0", "ssrc1", "soffset"):
                    continue
                for code in _SAMPLE_CODES:
                    if code >> fld.width:
                        continue
                    word = (found.word & ~fld.mask) | fld.insert(code)
                    blob = found.bytes_of(word)
                    if code == 255 and not found.literal and fld.width >= 8 and not scalar_destination:
                        blob += _LITERAL.to_bytes(4, "little")
                    keys.append((found, slot, code))
                    questions.append(blob)
        answers = probe.decode(processor, generation, questions)
        texts = sorted({answer.text for answer in answers if answer is not None})
        legal = dict(zip(texts, probe.assemble(processor, generation, texts), strict=True))
        for (found, slot, code), answer in zip(keys, answers, strict=True):
            key = (id(found), slot)
            results.setdefault(key, 0)
            if answer is None or answer.soft or not _accepts(found, slot, code, answer.text, generation):
                continue
            written = legal[answer.text]
            # Special registers must come back as the same bytes; LLVM takes some names for numbers.
            if written is not None and (code < 209 or code >= 240 or written == answer.canonical):
                results[key] |= rules.spread(code)
    for found in founds:
        for slot in range(len(found.codecs)):
            accepted = results.get((id(found), slot))
            if accepted is None:
                continue
            fld = found.format.fields[found.slot_fields[slot]]
            if fld.width == 9 and found.word & fld.mask and fld.extract(found.word) >= 256:
                accepted |= 1 << 256
            if accepted not in index_of:
                index_of[accepted] = len(classes)
                classes.append(accepted)
            codec = found.codecs[slot]
            if codec[0] == "v" and fld.width == 9:
                codec = "s" + codec[1:]
            found.codecs[slot] = f"{codec}@{index_of[accepted]}"
    return classes


def _accepts(found: Found, slot: int, code: int, text: str, generation: str) -> bool:
    """Whether the answer is the same instruction with just this operand changed to what ``code`` means."""
    if found.format.name in ("VOPDX", "VOPDY"):
        parts = text.split(" :: ")
        if len(parts) != 2:
            return False
        text = parts[found.format.name == "VOPDY"]
    mnemonic, operands, _ = probe.split(text)
    if _strip(mnemonic, found.format)[0] != found.mnemonic or len(operands) != len(found.operands):
        return False
    if not found.format.name.startswith("SMEM") and any(
        operands[i] != found.operands[i] for i in range(len(operands)) if i != slot
    ):
        return False
    if code >= 128 or slot >= len(operands):
        return True
    token = operands[slot]
    units = _token_units(found.operands[slot])
    return token == rules.scalar_name(code, units, generation)


def _token_units(token: str) -> int:
    register = _register_of(token)
    return register[2] if register else 1


def vgpr_limits(generation: str, founds: list[Found]) -> None:
    """Extend acceptance to VGPRs: source fields whose base probe used an SGPR are asked whether a VGPR may stand
    there too."""
    for processor in {found.processor for found in founds}:
        keys: list[tuple[Found, int, int]] = []
        questions: list[bytes] = []
        for found in founds:
            if found.processor != processor:
                continue
            for slot, name in enumerate(found.slot_fields):
                fld = found.format.fields.get(name)
                if fld is None or fld.width != 9 or name not in _PROBED or "SDWA" in found.format.name:
                    continue
                if fld.extract(found.word) < 256:
                    keys.append((found, slot, 0))
                    questions.append(found.bytes_of((found.word & ~fld.mask) | fld.insert(256 + _VGPR[name])))
        answers = probe.decode(processor, generation, questions)
        texts = sorted({answer.text for answer in answers if answer is not None})
        legal = dict(zip(texts, probe.assemble(processor, generation, texts), strict=True))
        for (found, slot, _), answer in zip(keys, answers, strict=True):
            if answer is None or legal[answer.text] is None:
                continue
            if _accepts(found, slot, 255, answer.text, generation):
                found.codecs[slot] += "+v"


def availability(generation: str, founds: list[Found]) -> None:
    """Which processors decode an encoding to the same text."""
    for processor in of_generation(generation):
        answers = probe.decode(processor.name, generation, [found.bytes_of(found.word) for found in founds])
        for found, answer in zip(founds, answers, strict=True):
            if answer is None:
                continue
            text = answer.text
            if found.format.name in ("VOPDX", "VOPDY"):
                text = text.split(" :: ")[found.format.name == "VOPDY"]
            if text == found.text:
                found.processors += (processor.name,)


def base_word(found: Found) -> int:
    """The canonical bits outside slots and active modifiers: fixed bits, opcode, don't-care bits as LLVM writes
    them."""
    word = found.canonical
    if found.assembled >= 0 and not (found.assembled ^ word) & ~found.dont_care:
        word = found.assembled  # don't-care bits as the assembler writes them
    for name, fld in found.format.fields.items():
        if name in found.slot_fields:
            word &= ~fld.mask
        elif fld.is_modifier and name in found.modifiers:
            active = found.modifiers[name]
            if name in rules.WHOLE_MODIFIERS or active == 0:
                active = (1 << fld.width) - 1
            word &= ~fld.insert(active)
    if found.format.name in ("VOPDX", "VOPDY"):
        word = found.format.fixed_value | found.format.opcode.insert(found.opcode)
    return word


def load_wheel(wheel: Path, generation: str) -> dict[tuple[str, int], tuple[str, dict[str, tuple[str, int]]]]:
    """AMD's data: (format, opcode) → (name, {field: (type, bits)})."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise SystemExit(f"{wheel}: SHA-256 is {digest}, the tables are made from {WHEEL_SHA256} ({WHEEL_NAME})")
    package = WHEEL_TABLES[generation]
    with tempfile.TemporaryDirectory() as directory, zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("tinygrad/runtime/autogen/amd/") and name.endswith(
                ("common.py", "enum.py", "operands.py")
            ):
                archive.extract(name, directory)
        sys.path.insert(0, directory)
        try:
            for module in [name for name in sys.modules if name.startswith("tinygrad")]:
                del sys.modules[module]
            namespace: dict[str, Any] = {}
            exec(f"from tinygrad.runtime.autogen.amd.{package}.operands import OPERANDS", namespace)
        finally:
            sys.path.remove(directory)
    table: dict[tuple[str, int], tuple[str, dict[str, tuple[str, int]]]] = {}
    for op, operands in namespace["OPERANDS"].items():
        form = type(op).__name__.removesuffix("Op")
        fields = {name: (entry[0].name, entry[1]) for name, entry in operands.items()}
        table[form, op.value] = (op.name, fields)
    return table


def build(generation: str, wheel: Path, only: Sequence[str] = ()) -> dict[str, Any]:
    """The table of a generation as the JSON document that is committed; ``only`` restricts it to some formats."""
    founds = enumerate_encodings(generation, only)
    for found in founds:
        assign_slots(found)
    flip_bits(generation, founds)
    drop_fixed_modifiers(founds)
    true16_halves(generation, founds)
    classes = probe_sources(generation, founds)
    vgpr_limits(generation, founds)
    availability(generation, founds)
    amd = load_wheel(wheel, generation)
    document = rules.assemble_table(generation, founds, classes, amd, base_word)
    document["names"] = symbolic_names(generation)
    return document


def symbolic_names(generation: str) -> dict[str, Any]:
    """LLVM's names for hardware registers, messages and buffer formats."""
    processor = PRIMARY[generation][0]

    def ask(words: list[int], size: int) -> list[str]:
        answers = probe.decode(processor, generation, [word.to_bytes(size, "little") for word in words])
        return [answer.text if answer is not None else "" for answer in answers]

    getreg = {"gfx11": 0xB8800000, "gfx12": 0xB8800000, "gfx9.4": 0xB8800000}[generation]
    registers = {}
    for number, text in enumerate(ask([getreg | number for number in range(64)], 4)):
        match = re.search(r"hwreg\((HW_REG_\w+)", text)
        if match:
            registers[str(number)] = match[1]
    messages = {}
    if generation == "gfx9.4":
        codes = [0xBF900000 | number for number in (*range(16), 0x12, 0x1F)]
    else:
        codes = [0xBFB60000 | number for number in range(256)]
    for code, text in zip(codes, ask(codes, 4), strict=True):
        match = re.search(r"sendmsg\((MSG_\w+)", text)
        if match:
            messages[str(code & (15 if generation == "gfx9.4" else 255))] = match[1]
    if generation == "gfx12":
        texts = ask([0xC420007C | number << 55 for number in range(128)], 12)
    else:
        texts = ask(
            [0xE8000000 | number << 19 | (124 << 56 if generation == "gfx11" else 0) for number in range(128)], 8
        )
    found = [re.search(r"format:(\[[^\]]*\])", text) for text in texts]
    return {"hwreg": registers, "message": messages, "format": [match[1] if match else "" for match in found]}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("generations", nargs="*", default=list(FILES))
    parser.add_argument("--wheel", type=Path, default=Path(WHEEL_NAME))
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    arguments = parser.parse_args()
    for generation in arguments.generations:
        document = build(generation, arguments.wheel)
        path = arguments.output / FILES[generation]
        path.write_text(render(document), encoding="utf-8")
        print(f"{path}: {len(document['rows'])} rows")
    return 0


def render(document: dict[str, Any]) -> str:
    """The document as text, one row a line."""
    head = {key: value for key, value in document.items() if key != "rows"}
    lines = [json.dumps(head, separators=(",", ":"))[:-1] + ',"rows":[']
    rows = [json.dumps(row, separators=(",", ":")) for row in document["rows"]]
    return lines[0] + "\n" + ",\n".join(rows) + "\n]}\n"


if __name__ == "__main__":
    raise SystemExit(main())
