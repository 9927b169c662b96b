"""``.npy`` files from anywhere: whatever is wrong with one is a sentence, not an exception of NumPy's parser."""

from __future__ import annotations

from tokenize import TokenError
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import numpy

#: What NumPy 2 raises for a header that is damaged, besides ValueError: it is read as a Python literal.
_DAMAGED = (EOFError, TokenError, SyntaxError, TypeError, KeyError, OverflowError, RecursionError)


def read_npy(stream: BinaryIO) -> numpy.ndarray[Any, Any]:
    """The array of an ``.npy`` file, with the shape and element type of the file.

    Not ``numpy.load``, which also takes archives and pickles for arrays.

    Raises:
        ValueError: The file is empty, damaged or cut off, is no ``.npy`` file, or holds Python objects.
        MemoryError: The array does not fit in memory.
        OSError: The file cannot be read.
    """
    import numpy

    try:
        array: numpy.ndarray[Any, Any] = numpy.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, *_DAMAGED) as problem:
        reason = "its elements are Python objects" if "Object arrays" in str(problem) else str(problem)
        raise ValueError(f"this is no .npy file of numbers ({reason}); numpy.save writes one") from None
    return array


def little_endian(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The same values as a device holds them: little-endian elements in row-major order. The shape stays."""
    import numpy

    ordered = numpy.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return ordered.reshape(array.shape)
