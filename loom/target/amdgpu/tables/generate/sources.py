"""Which source codes every source field takes."""

from __future__ import annotations

from loom.target.amdgpu.registers import scalar_operand
from loom.target.amdgpu.tables.generate import llvm
from loom.target.amdgpu.tables.generate.found import BASE_LITERAL, BASE_VGPR, Found, strip_suffix
from loom.target.amdgpu.tables.generate.slots import register_of

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
                        blob += BASE_LITERAL.to_bytes(4, "little")
                    keys.append((found, slot, code))
                    questions.append(blob)
        answers = llvm.decode(processor, generation, questions)
        texts = sorted({answer.text for answer in answers if answer is not None})
        legal = dict(zip(texts, llvm.assemble(processor, generation, texts), strict=True))
        for (found, slot, code), answer in zip(keys, answers, strict=True):
            key = (id(found), slot)
            results.setdefault(key, 0)
            if answer is None or answer.soft or not _accepts(found, slot, code, answer.text, generation):
                continue
            written = legal[answer.text]
            # Special registers must come back as the same bytes; LLVM takes some names for numbers.
            if written is not None and (code < 209 or code >= 240 or written == answer.canonical):
                results[key] |= _spread(code)
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
    mnemonic, operands, _ = llvm.split(text)
    if strip_suffix(mnemonic, found.format)[0] != found.mnemonic or len(operands) != len(found.operands):
        return False
    position = found.positions[slot]
    if not found.format.name.startswith("SMEM") and any(
        operands[i] != found.operands[i] for i in range(len(operands)) if i != position
    ):
        return False
    if code >= 128:
        return True
    token = operands[position]
    units = _token_units(found.operands[position])
    return token == _scalar_name(code, units, generation)


def _token_units(token: str) -> int:
    register = register_of(token)
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
                    questions.append(found.bytes_of((found.word & ~fld.mask) | fld.insert(256 + BASE_VGPR[name])))
        answers = llvm.decode(processor, generation, questions)
        texts = sorted({answer.text for answer in answers if answer is not None})
        legal = dict(zip(texts, llvm.assemble(processor, generation, texts), strict=True))
        for (found, slot, _), answer in zip(keys, answers, strict=True):
            if answer is None or legal[answer.text] is None:
                continue
            if _accepts(found, slot, 255, answer.text, generation):
                found.codecs[slot] += "+v"


def _scalar_name(code: int, units: int, generation: str) -> str | None:
    """LLVM's name of a scalar source code, ``None`` if there is no such register."""
    operand = scalar_operand(generation, code, units)
    return None if operand is None else str(operand)


def _spread(code: int) -> int:
    """The set of source codes that behave like a sampled one, as bits."""
    ranges = {
        4: range(0, 102),
        102: range(102, 104),
        104: range(104, 106),
        112: range(108, 124),
        129: range(129, 193),
        193: range(193, 209),
        240: range(240, 248),
    }
    return sum(1 << c for c in ranges.get(code, (code,)))
