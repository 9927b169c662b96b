"""The MODE register of a wave, as static floating-point modes and as bits."""

from __future__ import annotations

from loom.low.semantics.operation import Mode


def mode_word(mode: Mode) -> int:
    """The MODE register: rounding (bits 3:0), denormals (7:4), DX10 clamp (8), IEEE (9), FP16_OVFL (23)."""
    return (
        mode.round32 | mode.round64 << 2 | mode.denorm32 << 4 | mode.denorm64 << 6 | int(mode.dx10_clamp) << 8
        | int(mode.ieee) << 9 | int(mode.fp16_overflow) << 23
    )  # fmt: skip


def mode_from_word(word: int, fnuz: bool = False) -> Mode:
    """The mode that MODE register bits stand for."""
    return Mode(
        word & 3, word >> 2 & 3, word >> 4 & 3, word >> 6 & 3, bool(word >> 8 & 1), bool(word >> 9 & 1), fnuz,
        bool(word >> 23 & 1),
    )  # fmt: skip


def hardware_register(register: int, mode: Mode) -> int:
    """What s_getreg_b32 reads: MODE as it is, everything else zero (no wave placement is modelled)."""
    return mode_word(mode) if register == 1 else 0
