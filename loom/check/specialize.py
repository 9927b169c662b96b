"""Kernels for one sample: the scalar values of a launch become constants, so that the compiler may use them as facts.

The device interface stays as it was: the arguments are still passed, and no longer read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loom.check.tensor import Tensor
from loom.ir import Module, Value
from loom.ir.builder import Builder
from loom.reference.formats import Array


def specialized_key(symbol: str, workload: Sequence[Array], arguments: Sequence[Any]) -> str:
    """A name of a kernel with these scalar values: equal bits give equal names."""
    scalars = [value for value in (*workload, *arguments) if not isinstance(value, Tensor)]
    return f"{symbol}#" + "_".join(value.ravel()[:1].tobytes().hex() for value in scalars)


def bind_launch(module: Module, symbol: str, workload: Sequence[Array], arguments: Sequence[Any]) -> None:
    """Replace the scalar parameters of a ``kernel.def``, in its launch region and its body, by their values."""
    kernel = module.symbol(symbol)
    assert kernel is not None
    for region, values in (("config", workload), ("body", arguments)):
        entry = kernel.region(region).blocks[0]
        builder = Builder.at_start(entry, kernel.location)
        for parameter, value in zip(entry.arguments, values, strict=True):
            if not isinstance(value, Tensor):
                _bind(builder, parameter, value)


def _bind(builder: Builder, parameter: Value, value: Array) -> None:
    number = value.ravel()[0].item()
    parameter.replace_all_uses_with(builder.constant(number, parameter.type, parameter.name))
