"""What all writers of ``tests/corpus/checks`` share: the folder, and rounding to integers and floats of any width,
written out with NumPy and ``math``.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent / "checks"

FLOAT_BITS = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def wrap(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def to_bfloat(values: np.ndarray) -> np.ndarray:
    """float64 → bf16 bits, round to nearest even by looking at both neighbours."""
    out = np.zeros(values.shape, np.uint16)
    for place, value in enumerate(values.ravel()):
        if math.isnan(value):
            out.flat[place] = 0x7FC0
            continue
        down = int(np.array([abs(value)], np.float64).astype(np.float32).view(np.uint32)[0]) >> 16
        best = None
        for code in (down - 1, down, down + 1):
            if code < 0 or code > 0x7F80:
                continue
            number = float(np.array([code << 16], np.uint32).view(np.float32)[0])
            if math.isinf(number):
                number = 2.0**128  # the rounding boundary of overflow
            key = (abs(number - min(abs(value), 2.0**128)), code & 1)
            if best is None or key < best[0]:
                best = (key, code)
        assert best is not None
        out.flat[place] = best[1] | (0x8000 if math.copysign(1.0, value) < 0 else 0)
    return out


def to_bits(values: np.ndarray, kind: str) -> np.ndarray:
    """float64 values → bits of a float type."""
    with np.errstate(all="ignore"):
        if kind == "bf16":
            return to_bfloat(np.asarray(values, np.float64))
        dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind]
        return np.asarray(values, np.float64).astype(dtype).view(FLOAT_BITS[kind])


def from_bits(bits: np.ndarray, kind: str) -> np.ndarray:
    """Bits of a float type → float64."""
    if kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind]
    return bits.view(dtype).astype(np.float64)


def store(name: str, array: np.ndarray) -> None:
    np.save(HERE / name, array)
