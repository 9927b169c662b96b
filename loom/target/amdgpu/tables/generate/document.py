"""A table as the JSON document that is committed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loom.target.amdgpu.tables.generate import llvm
from loom.target.amdgpu.tables.generate.bits import drop_fixed_modifiers, flip_bits
from loom.target.amdgpu.tables.generate.enumeration import PRIMARY, availability, enumerate_encodings
from loom.target.amdgpu.tables.generate.rows import assemble_table
from loom.target.amdgpu.tables.generate.slots import assign_slots, true16_halves
from loom.target.amdgpu.tables.generate.sources import probe_sources, vgpr_limits
from loom.target.amdgpu.tables.generate.wheel import load_wheel


def build(generation: str, wheel: Path, only: Sequence[str] = ()) -> dict[str, Any]:
    """The table of a generation as the JSON document that is committed; ``only`` restricts it to some formats."""
    founds = enumerate_encodings(generation, only)
    for found in founds:
        assign_slots(found)
    flip_bits(generation, founds)
    drop_fixed_modifiers(founds)
    true16_halves(founds)
    classes = probe_sources(generation, founds)
    vgpr_limits(generation, founds)
    availability(generation, founds)
    amd = load_wheel(wheel, generation)
    document = assemble_table(generation, founds, classes, amd)
    document["names"] = symbolic_names(generation)
    return document


def symbolic_names(generation: str) -> dict[str, Any]:
    """LLVM's names for hardware registers, messages and buffer formats."""
    processor = PRIMARY[generation][0]

    def ask(words: list[int], size: int) -> list[str]:
        answers = llvm.decode(processor, generation, [word.to_bytes(size, "little") for word in words])
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


def render(document: dict[str, Any]) -> str:
    """The document as text, one row a line."""
    head = {key: value for key, value in document.items() if key != "rows"}
    lines = [json.dumps(head, separators=(",", ":"))[:-1] + ',"rows":[']
    rows = [json.dumps(row, separators=(",", ":")) for row in document["rows"]]
    return lines[0] + "\n" + ",\n".join(rows) + "\n]}\n"
