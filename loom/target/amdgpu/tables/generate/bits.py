"""Every free bit flipped: it belongs to an operand or to a modifier, or nobody cares."""

from __future__ import annotations

from loom.target.amdgpu.tables.generate import llvm
from loom.target.amdgpu.tables.generate.families import WHOLE_MODIFIERS
from loom.target.amdgpu.tables.generate.found import Found, strip_suffix


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
        answers = llvm.decode(processor, generation, questions)
        for (found, bit), answer in zip(keys, answers, strict=True):
            _classify(found, bit, answer)


def _classify(found: Found, bit: int, answer: llvm.Answer | None) -> None:
    form = found.format
    half = None
    if form.name in ("VOPDX", "VOPDY"):
        half = form.name == "VOPDY"
    owner = next((fld for fld in form.fields.values() if fld.mask >> bit & 1), None)
    if answer is None:
        if owner is not None and owner.is_modifier and owner.name in WHOLE_MODIFIERS:
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
    mnemonic = strip_suffix(llvm.split(text)[0], form)[0]
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
