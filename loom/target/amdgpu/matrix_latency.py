"""Latencies of the matrix operations of gfx942 and gfx950: what may follow one, and after how many wait states.

The hardware does not hold back an instruction that touches the registers of a matrix operation under way; software
puts wait states (issued instructions, or ``s_nop``) between. How many follows from the kind of the operation and its
number of passes.

Facts: LLVM 22's hazard recognizer for the AMDGPU target (wait states), its scheduling model (passes; 8-bit sources of
the f8f6f4 operations need twice the passes) and its instruction records (which operations are XDL). gfx950 needs one
more behind XDL operations of four passes and more, and its double-precision 16x16 has 16 passes rather than 8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from loom.target.amdgpu.instruction import InstructionRow

XDL, SGEMM, DGEMM = "xdl", "sgemm", "dgemm"
"""Kinds: all types of 32 bits and less but one; single precision (``…_f32`` sources); double precision."""

MOST_STATES = 20
"""No rule needs more wait states than this."""

_NAME = re.compile(r"v_s?mfmac?_(?:scale_)?(?:f32|f64|i32)_(\d+)x\d+x\d+_(?:(\d+)b_)?(\w+)")
_EIGHT_BITS = (0, 1)
"""Codes of ``cbsz`` and ``blgp`` that mean 8-bit elements, where 2 and 3 are 6-bit and 4 is 4-bit ones."""


@dataclass(frozen=True, slots=True)
class MatrixTiming:
    """What the wait states behind a matrix operation depend on."""

    kind: str
    passes: int


def matrix_timing(row: InstructionRow, modifiers: Mapping[str, int], processor: str) -> MatrixTiming | None:
    """The timing of a matrix operation of gfx9.4 (``v_mfma_…``, ``v_smfmac_…``); None for any other instruction."""
    if row.generation != "gfx9.4":
        return None
    found = _NAME.fullmatch(row.mnemonic)
    if found is None:
        return None
    rows, blocks, source = int(found[1]), found[2], found[3]
    if source == "f64":
        long = 16 if processor == "gfx950" else 8
        return MatrixTiming(DGEMM, 4 if rows == 4 else long)
    if source == "f32":
        return MatrixTiming(SGEMM, {4: 2, 16: 8, 32: 16}[rows])
    passes = {4: 2, 16: 4, 32: 8}[rows]
    twice = blocks is not None and rows > 4
    if source == "f8f6f4":
        twice = any(modifiers.get(name, 0) in _EIGHT_BITS for name in ("cbsz", "blgp"))
    return MatrixTiming(XDL, 2 * passes if twice else passes)


def _xdl_extra(first: MatrixTiming, processor: str) -> int:
    return int(processor == "gfx950" and first.passes > 2)


def states_to_c(first: MatrixTiming, second: MatrixTiming, same: bool, processor: str) -> int:
    """Wait states between a matrix operation and one whose C overlaps its result.

    ``same``: C is exactly the result's registers, which the hardware forwards.
    """
    if same:
        if first.kind == DGEMM and first.passes == 4:
            return 4 if second == first else 0
        return 2 if first.passes == 2 else 0
    if first.kind == XDL:
        if second.kind == XDL:
            return first.passes + 1 + int(processor == "gfx950")
        return first.passes + 1 + _xdl_extra(first, processor)
    if second.kind == XDL:
        return 0
    if first.kind == DGEMM:
        return 4 if first.passes == 4 else first.passes + 1
    return first.passes


def states_to_ab(first: MatrixTiming, processor: str) -> int:
    """Wait states between a matrix operation and one that reads its result as A, B or sparse index."""
    if first.kind == DGEMM:
        return 6 if first.passes == 4 else first.passes + 3
    return _states_behind(first, processor)


def states_to_vector(first: MatrixTiming, processor: str) -> int:
    """Wait states between a matrix operation and a vector instruction that reads its result."""
    return states_to_ab(first, processor)


def states_to_memory(first: MatrixTiming, processor: str) -> int:
    """Wait states between a matrix operation and a memory instruction or export that reads its result."""
    if first.kind == DGEMM:
        return 9 if first.passes == 4 else 18
    return _states_behind(first, processor)


def states_to_overwrite(first: MatrixTiming, processor: str) -> int:
    """Wait states between a matrix operation and another instruction, no matrix operation, that writes its result's
    registers."""
    if first.kind == DGEMM:
        return 6 if first.passes == 4 else 11
    return _states_behind(first, processor)


def states_to_overwrite_c(first: MatrixTiming) -> int:
    """Wait states between a matrix operation and another instruction, no matrix operation, that writes the registers
    of its C."""
    return first.passes - 1 if first.kind == XDL else 0


def _states_behind(first: MatrixTiming, processor: str) -> int:
    if first.kind == XDL:
        return first.passes + 3 + _xdl_extra(first, processor)
    return first.passes + 2
