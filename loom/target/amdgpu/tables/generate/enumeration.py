"""Every encoding that LLVM decodes: each opcode of each format, tried with several values in its fields."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from loom.target.amdgpu.formats import Format, formats
from loom.target.amdgpu.processors import of_generation
from loom.target.amdgpu.tables.generate import llvm
from loom.target.amdgpu.tables.generate.families import DS_TWO, MATRIX, VOP3SD
from loom.target.amdgpu.tables.generate.found import BASE_IMM16, BASE_LITERAL, BASE_SGPR, BASE_VGPR, Found, strip_suffix

# Processors whose probes are merged into one table, richest first.
PRIMARY = {"gfx11": ("gfx1151", "gfx1100"), "gfx12": ("gfx1201",), "gfx9.4": ("gfx950", "gfx942")}

_M0 = {"gfx11": 125, "gfx12": 125, "gfx9.4": 124}
_NULL = {"gfx11": 124, "gfx12": 124, "gfx9.4": 127}
_EXCLUDED = re.compile(
    r"^(image_|exp$|export|v_interp_|lds_param_load|ds_param_load|ds_bvh|s_atc_probe|v_mfma_ld_scale|s_set_gpr_idx_on)"
)


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
            values = [BASE_SGPR[name], _NULL[generation], 0]
        elif name == "soffset":
            values = [BASE_SGPR[name], 0] if generation == "gfx9.4" else [BASE_SGPR[name], _NULL[generation], 0]
        elif name == "srsrc":
            values = [40 >> 2 if fld.width == 5 else 40]
        elif name == "sbase":
            values = [20]
        elif name == "simm16":
            values = [BASE_IMM16, 0, 0x0823]
        elif form.name == "SOP1" and name == "ssrc0":
            values = [BASE_SGPR[name], 0, _M0[generation]]
        elif name == "attr" or name == "attr_chan":
            values = [0]
        elif fld.width == 9 and form.name.endswith("SDWA"):
            values = [BASE_VGPR[name]]
        elif fld.width == 9:
            values = [256 + BASE_VGPR[name], BASE_SGPR[name]]
        elif form.name == "VOPC_SDWA" and name == "sdst":
            values = [128 + 16, 0]
        elif form.name == "VOPDY" and name == "vdst":
            values = [BASE_VGPR["vdst"] >> 1]
        elif fld.width == 8 and name in BASE_VGPR and not name.startswith("ss"):
            values = (
                [BASE_VGPR[name], 0, 0x7E] if name == "vdst" and form.name.startswith("VOP3") else [BASE_VGPR[name], 0]
            )
        else:
            values = [BASE_SGPR[name], 0]
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
        return VOP3SD.match(mnemonic) is None
    if form.name == "MAI":
        return MATRIX.match(mnemonic) is not None
    if form.name == "VOP3P" and generation == "gfx9.4":
        return MATRIX.match(mnemonic) is None
    if form.name == "SMEMS":
        return re.search(r", s36$|, s36 ", text) is not None or "," not in text
    if form.name in ("DS", "DS2"):
        return (form.name == "DS2") == (DS_TWO.match(mnemonic) is not None)
    if form.name in ("MUBUF", "MTBUF"):
        return mnemonic.startswith("tbuffer") == (form.name == "MTBUF")
    return True


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
                word.to_bytes(form.bits // 8, "little") + (BASE_LITERAL.to_bytes(4, "little") if literal else b"")
                for _, word, literal in trials
            ]
            answers = llvm.decode(processor, generation, blobs)
            known = [answer.text if answer is not None else None for answer in answers]
            texts = sorted({text for text in known if text is not None})
            accepted = dict(zip(texts, llvm.assemble(processor, generation, texts), strict=True))
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
                    mnemonic, operands, _ = llvm.split(text)
                    mnemonic, suffix = strip_suffix(mnemonic, form)
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


def availability(generation: str, founds: list[Found]) -> None:
    """Which processors decode an encoding to the same text."""
    for processor in of_generation(generation):
        answers = llvm.decode(processor.name, generation, [found.bytes_of(found.word) for found in founds])
        for found, answer in zip(founds, answers, strict=True):
            if answer is None:
                continue
            text = answer.text
            if found.format.name in ("VOPDX", "VOPDY"):
                text = text.split(" :: ")[found.format.name == "VOPDY"]
            if text == found.text:
                found.processors += (processor.name,)
