"""Oracles of ``check.oracle.call``: matrix products computed by NumPy in wide precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from loom.check.tensor import Tensor, from_values
from loom.reference.formats import FORMATS, Array, ElementFormat, round_to


class OracleError(ValueError):
    """An oracle that does not exist, or operands that it cannot take."""


def _kind(attributes: Mapping[str, Any], key: str, tensor_form: ElementFormat) -> ElementFormat:
    """The numeric kind that an attribute names; it must be the tensor's element type."""
    name = attributes.get(key)
    if name is None:
        return tensor_form
    form = FORMATS.get(str(name))
    if form is None:
        raise OracleError(f"'{name}' is no numeric kind")
    if form.name != tensor_form.name and key != "accumulator":
        raise OracleError(f"{key} is {tensor_form.name}, the oracle was asked for {form.name}")
    return form


#: Attributes that an oracle reads: the numeric kinds of its operands, of its sum and of its result.
_KINDS = ("lhs", "rhs", "accumulator", "result")


def _product(lhs: Array, rhs: Array, init: Array, accumulator: ElementFormat, result: ElementFormat) -> Array:
    if accumulator.is_float != result.is_float:
        raise OracleError("kinds must be all float or all integer")
    if accumulator.is_float:
        with np.errstate(all="ignore"):
            total = np.matmul(lhs.astype(np.float64), rhs.astype(np.float64)) + init.astype(np.float64)
            return round_to(round_to(total, accumulator).astype(np.float64), result)
    total = np.matmul(lhs.astype(np.int64), rhs.astype(np.int64)) + init.astype(np.int64)
    return np.asarray(total.astype(accumulator.carrier).astype(result.carrier))


def matmul(attributes: Mapping[str, Any], inputs: Sequence[Tensor], result: ElementFormat) -> Tensor:
    """``result = lhs · rhs + init`` on rank-2 tensors; the sum is rounded to ``accumulator``, then to ``result``."""
    lhs, rhs, init = _operands(attributes, inputs, result, 2)
    if lhs.shape[1] != rhs.shape[0] or init.shape != (lhs.shape[0], rhs.shape[1]):
        raise OracleError(f"shapes {lhs.shape} · {rhs.shape} + {init.shape} do not fit")
    accumulator = _kind(attributes, "accumulator", init.form)
    return from_values(_product(lhs.values, rhs.values, init.values, accumulator, result), result, "oracle")


def tiled_matmul(attributes: Mapping[str, Any], inputs: Sequence[Tensor], result: ElementFormat) -> Tensor:
    """The product of tiled matrices: lhs [M, K, m, k], rhs [K, N, k, n], init and result [M, N, m, n]."""
    lhs, rhs, init = _operands(attributes, inputs, result, 4)
    (rows, depth, m, k), (depth2, columns, k2, n) = lhs.shape, rhs.shape
    if depth != depth2 or k != k2 or init.shape != (rows, columns, m, n):
        raise OracleError(f"shapes {lhs.shape} · {rhs.shape} + {init.shape} do not fit")
    flat_lhs = lhs.values.transpose(0, 2, 1, 3).reshape(rows * m, depth * k)
    flat_rhs = rhs.values.transpose(0, 2, 1, 3).reshape(depth * k, columns * n)
    flat_init = init.values.transpose(0, 2, 1, 3).reshape(rows * m, columns * n)
    accumulator = _kind(attributes, "accumulator", init.form)
    flat = _product(flat_lhs, flat_rhs, flat_init, accumulator, result)
    tiled = flat.reshape(rows, m, columns, n).transpose(0, 2, 1, 3)
    return from_values(tiled, result, "oracle")


def _operands(
    attributes: Mapping[str, Any], inputs: Sequence[Tensor], result: ElementFormat, rank: int
) -> tuple[Tensor, Tensor, Tensor]:
    unknown = sorted(set(attributes) - set(_KINDS))
    if unknown:
        raise OracleError(f"there is no attribute '{unknown[0]}'; the attributes are {', '.join(_KINDS)}")
    _kind(attributes, "result", result)
    if len(inputs) != 3:
        raise OracleError(f"expected lhs, rhs and init, got {len(inputs)} inputs")
    lhs, rhs, init = inputs
    for key, tensor in (("lhs", lhs), ("rhs", rhs)):
        if len(tensor.shape) != rank:
            raise OracleError(f"{key} has rank {len(tensor.shape)}, not {rank}")
        _kind(attributes, key, tensor.form)
    if lhs.form.is_float != rhs.form.is_float or lhs.form.is_float != init.form.is_float:
        raise OracleError("operands must be all float or all integer")
    return lhs, rhs, init


ORACLES = {"reference.matmul": matmul, "reference.tiled_matmul": tiled_matmul}
