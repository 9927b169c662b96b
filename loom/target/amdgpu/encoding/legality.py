"""Modifiers that an encoding has bits for and that are illegal all the same: holes in their range, other processors."""

from __future__ import annotations

from collections.abc import Callable

from loom.target.amdgpu.encoding.compiled import CompiledEncoding

#: Modifiers that only some processors take on an instruction that others have too. Loads of more than a word into LDS
#: came with gfx950 (LLVM MC 22 refuses them on gfx942 and gfx9-4-generic).
_PROCESSORS = {
    ("buffer_load_dwordx3", "lds"): ("gfx950",),
    ("buffer_load_dwordx4", "lds"): ("gfx950",),
}


def processors_of_modifier(mnemonic: str, modifier: str) -> tuple[str, ...] | None:
    """The processors that take a modifier on an instruction; ``None``: all that have the instruction."""
    return _PROCESSORS.get((mnemonic, modifier))


def _legal_dpp(value: int, encoding: CompiledEncoding) -> bool:
    if value <= 0xFF:
        return True
    gfx9 = encoding.generation == "gfx9.4"
    if gfx9:
        shifts = 0x101 <= value <= 0x10F or 0x111 <= value <= 0x11F or 0x121 <= value <= 0x12F
        return shifts or value in (0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143) or 0x150 <= value <= 0x15F
    shifts = 0x101 <= value <= 0x10F or 0x111 <= value <= 0x11F or 0x121 <= value <= 0x12F
    return shifts or value in (0x140, 0x141) or 0x150 <= value <= 0x16F


LEGAL_VALUES: dict[str, Callable[[int, CompiledEncoding], bool]] = {
    "dpp_ctrl": _legal_dpp,
    "dst_sel": lambda value, _: value <= 6,
    "src0_sel": lambda value, _: value <= 6,
    "src1_sel": lambda value, _: value <= 6,
    "dst_unused": lambda value, _: value <= 2,
}
"""For modifiers with holes in their range: whether a value is legal."""
