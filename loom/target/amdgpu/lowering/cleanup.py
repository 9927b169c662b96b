"""After lowering: dead ops, unused state results, and blocks that nothing reaches."""

from __future__ import annotations

from loom.ir import Block, Operation
from loom.ir.dominance import remove_unreachable
from loom.target.amdgpu.lowering.context import Lowering
from loom.target.amdgpu.lowering.emitter import EXEC, M0, SCC, VCC

_STRUCTURAL = frozenset(("low.slice", "low.concat", "low.live_in", "low.copy", "low.assume", "low.storage.address"))


def clean(lw: Lowering, kernel: Operation) -> None:
    """Remove what has no use."""
    region = kernel.regions[0]
    remove_unreachable(region)
    pure: dict[str, bool] = {}
    changed = True
    while changed:
        changed = _dead(lw, region.blocks, pure)
        changed |= _dead_arguments(region.blocks)
    for block in region.blocks:
        for op in block.operations:
            if op.name == "low.op":
                _trim(op)
    for number, block in enumerate(region.blocks):
        if number == 0:
            block.label = None
        else:
            block.label = f"{(block.label or 'b').rstrip('0123456789')}{number}"


def _is_dead(lw: Lowering, op: Operation, pure: dict[str, bool]) -> bool:
    if any(r.has_uses for r in op.results):
        return False
    if op.name in _STRUCTURAL:
        return True
    if op.name != "low.op":
        return False
    key = str(op.attributes["key"])
    known = pure.get(key)
    if known is None:
        row = lw.e.row(key.removeprefix("amdgpu."))
        load = row.memory is not None and row.memory.kind == "load"
        known = pure[key] = (
            (row.memory is None or load)
            and row.issue_class in ("salu", "valu", "trans", "dual", "matrix", "smem", "vmem", "flat", "lds", "other")
            and not any(name in row.implicit_defs for name in ("exec", "m0", "mode"))
            and not row.mnemonic.startswith(("s_barrier", "s_waitcnt", "v_cmpx", "s_sendmsg"))
        )
    if not known:
        return False
    immediates = op.attributes.get("immediates")
    if isinstance(immediates, dict) and immediates.get("volatile"):
        return False
    return not any(r.type.register_class in (EXEC, M0) for r in op.results)  # type: ignore[attr-defined]


def _dead(lw: Lowering, blocks: list[Block], pure: dict[str, bool]) -> bool:
    changed = False
    for block in reversed(blocks):
        for op in reversed(list(block.operations)):
            if op.results and _is_dead(lw, op, pure):
                op.erase()
                changed = True
    return changed


def _dead_arguments(blocks: list[Block]) -> bool:
    """Remove block arguments that only feed themselves around a loop."""
    changed = False
    for block in blocks[1:]:
        for index in range(len(block.arguments) - 1, -1, -1):
            argument = block.arguments[index]
            users = [user for user in argument.users if not _feeds_itself(user, block, argument, index)]
            if users:
                continue
            for predecessor in block.predecessors:
                branch = predecessor.last
                assert branch is not None
                operands = list(branch.operands)
                del operands[index]
                branch.set_operands(operands)
            block.erase_argument(index)
            changed = True
    return changed


def _feeds_itself(user: Operation, block: Block, argument: object, index: int) -> bool:
    return (
        user.name == "low.br"
        and user.successors[0] is block
        and all(v is not argument or i == index for i, v in enumerate(user.operands))
    )


def _trim(op: Operation) -> None:
    """Drop state results at the end that nobody reads."""
    while (
        len(op.results) > 1
        and op.results[-1].type.register_class in (SCC, VCC)  # type: ignore[attr-defined]
        and not op.results[-1].has_uses
    ):
        op.results.pop()
