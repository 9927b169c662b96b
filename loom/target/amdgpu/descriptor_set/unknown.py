"""Instructions that a set does not have: where they exist, and what may have been meant."""

from __future__ import annotations

import difflib

from loom.diagnostics import Location, LoomError, error
from loom.target.amdgpu.descriptor_set.names import row_of
from loom.target.amdgpu.descriptor_set.variants import variant_of
from loom.target.amdgpu.tables import FILES, table

#: Instructions that the language reference lists and no table has, with the processor that has them (LLVM MC 22).
_OTHER_PROCESSORS = {
    "v_swmmac_f32_16x16x64_f16": "gfx1250",
    "v_wmma_f32_16x16x32_f16": "gfx1250",
    "v_wmma_scale_f32_16x16x128_f8f6f4": "gfx1250",
    "v_wmma_scale_f32_16x16x128_f8f6f4_f8_f8": "gfx1250",
}


def elsewhere(generation: str, name: str) -> str | None:
    """Where an instruction that ``generation`` does not have exists, as a hint; ``None`` where nothing is known of it.

    Args:
        generation: Instruction table.
        name: The mnemonic or the key without family, in any spelling.
    """
    name = name.replace(".", "_")
    processor = _OTHER_PROCESSORS.get(name)
    if processor is not None:
        return f"it is an instruction of {processor}, which is none of the targets here"
    others = [g for g in FILES if g != generation and (row_of(g, name) or variant_of(g, name)) is not None]
    return f"it exists on {' and '.join(others)}" if others else None


def unknown_instruction(generation: str, name: str, location: Location | None) -> LoomError:
    """The error for a key that no row answers to, with where it exists or the nearest names."""
    near = difflib.get_close_matches(name, table(generation).mnemonics(), 3)
    hint = elsewhere(generation, name) or ("nearest: " + ", ".join(near) if near else None)
    return error(f"{generation} has no instruction '{name}'", "BACKEND/021", location, hint=hint)
