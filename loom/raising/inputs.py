"""The inputs of a workload as bytes: the same on every machine, whatever its libm or NumPy."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loom.diagnostics import error
from loom.raising.buffers import load_npy
from loom.store.expression import Number
from loom.store.workload import Argument, Shape, Workload

if TYPE_CHECKING:
    import numpy

_STORAGE = {
    "i8": "<i1",
    "u8": "<u1",
    "i16": "<i2",
    "u16": "<u2",
    "i32": "<i4",
    "u32": "<u4",
    "i64": "<i8",
    "u64": "<u8",
    "f16": "<f2",
    "f32": "<f4",
    "f64": "<f8",
}
_SCALAR = {
    "i8": "<b",
    "u8": "<B",
    "i16": "<h",
    "u16": "<H",
    "i32": "<i",
    "u32": "<I",
    "i64": "<q",
    "u64": "<Q",
    "f16": "<e",
    "f32": "<f",
    "f64": "<d",
}


def splitmix64(seed: int, count: int) -> numpy.ndarray[Any, Any]:
    """The first ``count`` outputs (u64) of the splitmix64 generator started at ``seed``.

    Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014); constants as in the public
    domain code of S. Vigna. The state advances by a constant, so element i needs no other element.
    """
    import numpy

    with numpy.errstate(over="ignore"):
        z = numpy.uint64(seed) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return numpy.asarray(z ^ (z >> numpy.uint64(31)))


def _encode(values: numpy.ndarray[Any, Any], element: str) -> bytes:
    """Round f64 or integer values to the element type, to nearest even."""
    import numpy

    if element == "bf16":
        bits = values.astype(numpy.float32).view(numpy.uint32).astype(numpy.uint64)
        rounded = (bits + numpy.uint64(0x7FFF) + ((bits >> numpy.uint64(16)) & numpy.uint64(1))) >> numpy.uint64(16)
        return rounded.astype("<u2").tobytes()
    if element == "f16":
        values = values.astype(numpy.float32)
    return values.astype(_STORAGE[element]).tobytes()


def buffer_bytes(argument: Argument, folder: Path) -> bytes:
    """Return the initial content of a buffer argument; one without a generator is zero.

    ``fill``: every element is ``value``. ``iota``: offset + (i mod period) * step. ``uniform``: low + u * (high -
    low) in f64 with u = (splitmix64 >> 11) * 2**-53 for floats; low + splitmix64 mod (high - low + 1) for integers.
    ``file``: a ``.npy`` file.
    Raises ``BUFFER/003`` for a file that does not fit.
    """
    import numpy

    generate, count = argument.generate, argument.elements
    kind = generate.get("kind")
    if kind is None:
        return bytes(argument.bytes)
    if kind == "file":
        element = "i" + argument.type[1:] if argument.type[0] == "u" else argument.type
        path = str(folder / generate["path"])
        return load_npy(path, (argument.shape, element, argument.type[0] == "u"), argument.name).data
    integral = argument.type[0] in "iu"
    if kind == "fill":
        values = numpy.full(count, int(generate["value"]) if integral else float(generate["value"]))
    elif kind == "iota":
        position = numpy.arange(count, dtype=numpy.int64) % int(generate.get("period", max(count, 1)))
        if integral:
            values = int(generate["offset"]) + position * int(generate["step"])
        else:
            values = float(generate["offset"]) + position.astype(numpy.float64) * float(generate["step"])
    else:
        draws = splitmix64(int(generate["seed"]), count)
        if integral:
            low, high = int(generate["low"]), int(generate["high"])
            values = low + (draws % numpy.uint64(high - low + 1)).astype(numpy.int64)
        else:
            low_f, high_f = float(generate["low"]), float(generate["high"])
            unit = (draws >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53
            values = low_f + unit * (high_f - low_f)
    return _encode(values, argument.type)


def shape_buffers(workload: Workload, shape: Shape) -> dict[str, bytes]:
    """Return the initial bytes of every buffer argument of a shape, by name, in argument order."""
    return {a.name: buffer_bytes(a, workload.folder) for a in shape.arguments if a.kind == "buffer"}


def scalar_bytes(value: Number, element: str, size: int) -> bytes:
    """Encode a scalar as ``size`` little-endian bytes; integers are extended with their sign.

    Raises ``WORKLOAD/005`` for a value that does not fit.
    """
    try:
        if element[0] == "f":
            raw = struct.pack(_SCALAR[element], float(value))
            return raw.ljust(size, b"\0")[:size]
        if element == "bf16":
            import numpy

            return _encode(numpy.array([float(value)]), "bf16").ljust(size, b"\0")
        struct.pack(_SCALAR[element], int(value))
        return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    except (struct.error, OverflowError) as failure:
        raise error(f"{value} does not fit {element}: {failure}", "WORKLOAD/005") from None
