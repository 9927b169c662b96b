"""``kernel.assert`` of a false condition: the lanes that reach it stop the kernel."""

from __future__ import annotations

from loom.ir import Operation
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.transform.folding import constant_of


def _assert(lw: Lowering, op: Operation) -> None:
    if constant_of(op.operand("condition")) is not False:
        raise lw.reject(
            op, "a condition that is no branch yet", 90, "run the pass guard-asserts, as the default pipeline does"
        )
    # A store to address zero faults on every device, and unlike s_trap it does nothing where no lane is active.
    # What it says stays with the store, so that whoever sees the fault can say it.
    e = lw.e
    zero = e.vector_constant(0)
    message = op.attributes.get("message")
    e.fresh(
        "global_store_b32",
        e.join([zero, zero], vector=True),
        zero,
        None,
        message=message if isinstance(message, str) else "kernel.assert fails",
    )


HANDLERS: dict[str, Handler] = {"kernel.assert": _assert}
