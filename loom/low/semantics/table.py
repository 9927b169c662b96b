"""The whole table of semantic operations: importing this module declares them all.

:func:`evaluate` runs one operation with the NumPy back end; the reference interpreter and the tests use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loom.low.semantics import (  # noqa: F401 - each import declares a family of operations
    matrix_cdna,
    matrix_scaled,
    matrix_sparse,
    scalar,
    transpose,
    vector_float,
    vector_integer,
    vector_lanes,
    vector_packed,
    vector_small,
)
from loom.low.semantics.operation import (
    OPERATIONS,
    Assembled,
    Context,
    Mode,
    Operation,
    assemble,
    input_names,
    words_of,
)

__all__ = ["OPERATIONS", "Context", "Mode", "Operation", "evaluate", "find_operation"]


def find_operation(semantic: str, wave: int = 32, generation: str = "gfx11") -> Operation | None:
    """The operation of a semantic name; matrix operations differ by generation and wave size. None if there is none."""
    if generation == "gfx12":
        found = OPERATIONS.get(f"{semantic}.gfx12.w{wave}")
        if found is not None:
            return found
        if semantic.startswith("v_wmma"):
            return None  # waves of 64 lanes lay matrices out in a way of their own
    return OPERATIONS.get(semantic) or OPERATIONS.get(f"{semantic}.w{wave}")


def evaluate(
    semantic: str,
    inputs: Sequence[Any],
    *,
    wave: int = 32,
    exec_mask: int | None = None,
    modifiers: Mapping[str, int] | None = None,
    mode: Mode | None = None,
    state: Mapping[str, int] | None = None,
    old: Sequence[Any] = (),
    generation: str = "gfx11",
    input_halves: Sequence[int | None] = (),
    result_halves: Sequence[int | None] = (),
) -> dict[str, Any]:
    """Evaluate one operation on operand words with NumPy.

    Args:
        semantic: Name of the operation (``v_fmac_f32``, ``s_add_u32``).
        inputs: One entry for each input of the operation's signature. A lane-wise 32-bit input is a ``uint32`` array
        of ``wave``
            elements, a uniform one an ``int``; inputs of several words are lists of these; masks are ``int``.
        exec_mask: EXEC, default all lanes.
        modifiers: Instruction modifiers that differ from 0 (``op_sel_hi`` from 7).
        state: ``scc``, ``m0``, ``vcc`` where the operation reads them.
        old: Previous words of the destination, one for each result, for 16-bit results that keep the other half.

    Returns:
        ``results``: a list for each result of its words (arrays of ``wave`` elements or one-element arrays where
        uniform),
        ``state``: values of the state results by name, ``write_mask``: the lanes that vector results reach, EXEC
        included, as an
        integer.

    Raises:
        KeyError: when there is no such operation.
    """
    import numpy as np

    from loom.low.semantics.numpy_backend import evaluate_expressions

    operation = find_operation(semantic, wave, generation)
    if operation is None:
        raise KeyError(semantic)
    context = Context(wave, mode or Mode(), dict(modifiers or {}), generation)
    full = (1 << wave) - 1
    mask = full if exec_mask is None else exec_mask
    arguments: dict[str, Any] = {"exec": np.array([mask], dtype=np.uint64 if wave == 64 else np.uint32)}
    lanes = []
    for type_, names, value in zip(operation.inputs, input_names(operation, wave), inputs, strict=True):
        words = value if isinstance(value, (list, tuple)) else [value]
        if len(words) != words_of(type_, wave):
            raise ValueError(f"{semantic}: input of type {type_} takes {words_of(type_, wave)} words, got {len(words)}")
        lane = any(isinstance(w, np.ndarray) and w.size > 1 for w in words)
        lanes.append(lane)
        for name, word in zip(names, words, strict=True):
            kind = np.uint64 if type_ == "mask" and wave == 64 else np.uint32
            array = np.atleast_1d(np.asarray(word)).astype(kind)
            arguments[name] = np.broadcast_to(array, (wave,)).copy() if lane else array
    for name, number in (state or {}).items():
        arguments[name] = np.array([number])
    for index, word in enumerate(old):
        arguments[f"old{index}"] = np.broadcast_to(np.asarray(word, dtype=np.uint32), (wave,)).copy()
    built: Assembled = assemble(operation, context, lanes, input_halves, result_halves)
    roots = [w for r in built.results for w in r] + list(built.state_results)
    if built.write_mask is not None:
        roots.append(built.write_mask)
    values = evaluate_expressions(roots, arguments, wave)
    results = []
    position = 0
    for words_ in built.results:
        results.append(values[position : position + len(words_)])
        position += len(words_)
    named = {n: int(values[position + i][0]) for i, n in enumerate(operation.state_results)}
    written = mask
    if built.write_mask is not None:
        allowed = np.broadcast_to(values[-1], (wave,))
        written &= sum(1 << int(i) for i in np.flatnonzero(allowed))
    return {"results": results, "state": named, "write_mask": written}
