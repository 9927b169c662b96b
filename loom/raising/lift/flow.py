"""Control flow of a machine program: blocks, edges, dominators, liveness, and where values merge.

Everything works on bit masks of register units (:mod:`loom.raising.lift.units`), so the cost grows with the number of
instructions and blocks, not with the number of registers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loom.diagnostics import LoomError, error
from loom.ir import graph
from loom.raising.lift.calls import CodeRegion
from loom.raising.lift.effects import EffectAnalyzer, Effects
from loom.target.amdgpu.machine import BranchTarget, MachineInstruction, MachineProgram

#: What a conditional branch tests, by mnemonic: register name and whether it is taken when the register is non-zero.
CONDITIONAL_BRANCHES: dict[str, tuple[str, bool]] = {
    "s_cbranch_scc0": ("scc", False),
    "s_cbranch_scc1": ("scc", True),
    "s_cbranch_vccz": ("vcc", False),
    "s_cbranch_vccnz": ("vcc", True),
    "s_cbranch_execz": ("exec", False),
    "s_cbranch_execnz": ("exec", True),
}

UNCONDITIONAL_BRANCH = "s_branch"
ENDS = frozenset(("s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done"))

#: Control transfers that a block structure cannot show, with the reason for a user.
REFUSED: dict[str, str] = {
    "s_getpc_b64": "it computes the address of data or code outside of the kernel",
    "s_setpc_b64": "the target of an indirect jump is not known",
    "s_swappc_b64": "a call through a register leaves the kernel",
    "s_call_b64": "a call leaves the kernel",
    "s_rfe_b64": "a return from a trap handler is no kernel code",
    "s_subvector_loop_begin": "sub-vector loops are not modelled",
    "s_subvector_loop_end": "sub-vector loops are not modelled",
    "s_cbranch_cdbgsys": "branches on debug state are not modelled",
    "s_cbranch_cdbguser": "branches on debug state are not modelled",
    "s_cbranch_cdbgsys_or_user": "branches on debug state are not modelled",
    "s_cbranch_cdbgsys_and_user": "branches on debug state are not modelled",
    "s_cbranch_i_fork": "forks are not modelled",
    "s_cbranch_g_fork": "forks are not modelled",
    "s_cbranch_join": "forks are not modelled",
}


#: Refused instructions behind which control goes on.
_FALLS_THROUGH = frozenset(("s_getpc_b64",))

_INLINE = "compile the kernel with every callee inlined (clang: -O1 or higher, or __attribute__((always_inline)))"

#: What a user can do about a refusal.
_WAY_OUT = {
    "s_getpc_b64": _INLINE + ", and pass constant tables as buffer arguments",
    "s_setpc_b64": _INLINE + ", and without computed jumps (clang: -fno-jump-tables)",
    "s_swappc_b64": _INLINE,
    "s_call_b64": _INLINE,
}


@dataclass(slots=True, eq=False)
class FlowBlock:
    """A basic block.

    Attributes:
        index: Position in layout order.
        label: Label of the machine block it begins, unique.
        instructions: All instructions, the branch included.
        effects: Parallel to ``instructions``.
        branch: The branch that ends it, or ``None``.
        taken: Index of the block the branch goes to, -1 if none.
        next: Index of the block control falls into, -1 if none.
        successors: Distinct successor indices, taken first.
        predecessors: Distinct predecessor indices.
        upward: Units read before they are written.
        written: Units written.
        live_in: Units live at entry.
        live_out: Units live at exit.
        merged: Units that need a block argument.
        jump: Index of the block that a call or return goes to, -1 if it ends otherwise.
    """

    index: int
    label: str
    instructions: list[MachineInstruction]
    effects: list[Effects] = field(default_factory=list)
    branch: MachineInstruction | None = None
    taken: int = -1
    next: int = -1
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    upward: int = 0
    written: int = 0
    live_in: int = 0
    live_out: int = 0
    merged: int = 0
    jump: int = -1


@dataclass(slots=True)
class Flow:
    """The control flow graph of a kernel, in layout order.

    Attributes:
        blocks: Basic blocks; the first is the entry.
        order: Reachable blocks in reverse postorder.
        idom: Immediate dominator by block index, -1 for the entry and unreachable blocks.
        children: Dominator tree.
        wave_size: 32 or 64.
        entry: Index of the block that the kernel begins with; others may lie in front of it (functions it calls).
    """

    blocks: list[FlowBlock]
    order: list[int]
    idom: list[int]
    children: list[list[int]]
    wave_size: int
    entry: int = 0


def _refuse(instruction: MachineInstruction, kernel: str, reason: str, base: int) -> LoomError:
    return error(
        f"kernel '{kernel}' cannot be lifted: {instruction.mnemonic} at pc {instruction.pc - base:#x}: {reason}",
        "LIFT/002",
        hint=_WAY_OUT.get(instruction.mnemonic),
    )


def _cut(program: MachineProgram, leaders: set[int]) -> tuple[list[FlowBlock], dict[str, int]]:
    """Pieces that end at control transfers or in front of leaders, and the piece that each label begins."""
    labels: dict[str, int] = {}
    pieces: list[FlowBlock] = []
    for machine_block in program.blocks:
        runs: list[list[MachineInstruction]] = [[]]
        for instruction in machine_block.instructions:
            if instruction.pc in leaders and runs[-1]:
                runs.append([])
            runs[-1].append(instruction)
            mnemonic = instruction.row.mnemonic
            if (
                mnemonic in CONDITIONAL_BRANCHES
                or mnemonic == UNCONDITIONAL_BRANCH
                or mnemonic in ENDS
                or (mnemonic in REFUSED and mnemonic not in _FALLS_THROUGH)
            ):
                runs.append([])
        if len(runs) > 1 and not runs[-1]:
            runs.pop()
        labels[machine_block.label] = len(pieces)
        for number, run in enumerate(runs):
            index = len(pieces)
            pieces.append(
                FlowBlock(index, machine_block.label if not number else f"{machine_block.label}_{index}", run)
            )
    return pieces, labels


def split_blocks(program: MachineProgram, region: CodeRegion | None = None) -> tuple[list[FlowBlock], int]:
    """Cut the program into basic blocks at branches, calls, returns and their targets, and connect them.

    Returns:
        The blocks and the index of the one that the kernel begins with.

    Raises:
        LoomError: ``LIFT/002`` for control transfers that blocks cannot express, ``LIFT/003`` for a branch to the
            middle of an instruction or outside of the kernel. Code that no path reaches is not looked at.
    """
    jumps = region.jumps if region is not None else {}
    entry_pc = region.entry if region is not None else 0
    pieces, labels = _cut(program, {entry_pc, *jumps.values()} if region is not None else set())
    at_pc = {block.instructions[0].pc: block.index for block in pieces if block.instructions}
    entry = at_pc.get(entry_pc, 0) if region is not None else 0
    problems: dict[int, LoomError] = {}
    for block in pieces:
        last = block.instructions[-1] if block.instructions else None
        mnemonic = last.row.mnemonic if last is not None else ""
        falls = True
        for instruction in block.instructions:
            reason = REFUSED.get(instruction.row.mnemonic)
            known = instruction.pc in jumps or (region is not None and instruction.pc in region.getpc)
            if reason is not None and not known and block.index not in problems:
                problems[block.index] = _refuse(instruction, program.kernel, reason, entry_pc)
        if last is not None and last.pc in jumps:
            block.jump = at_pc[jumps[last.pc]]
            falls = False
        elif last is not None and (mnemonic in CONDITIONAL_BRANCHES or mnemonic == UNCONDITIONAL_BRANCH):
            block.branch = last
            target = next((operand for operand in last.operands if isinstance(operand, BranchTarget)), None)
            if target is None or target.label is None or target.label not in labels:
                problems.setdefault(
                    block.index,
                    error(
                        f"kernel '{program.kernel}' cannot be lifted: {mnemonic} at pc {last.pc - entry_pc:#x} leaves "
                        "the kernel or jumps between instructions",
                        "LIFT/003",
                    ),
                )
                block.branch = None
                falls = False
            else:
                block.taken = labels[target.label]
                falls = mnemonic != UNCONDITIONAL_BRANCH
        elif mnemonic in ENDS or (mnemonic in REFUSED and mnemonic not in _FALLS_THROUGH):
            falls = False
        if falls and block.index + 1 == len(pieces):
            where = f" at pc {last.pc - entry_pc:#x}" if last is not None else ""
            problems.setdefault(
                block.index, error(f"kernel '{program.kernel}' runs past its last instruction{where}", "LIFT/003")
            )
        elif falls:
            block.next = block.index + 1
    for block in pieces:
        for successor in (block.jump, block.taken, block.next):
            if successor >= 0 and successor not in block.successors:
                block.successors.append(successor)
                pieces[successor].predecessors.append(block.index)
    reached = {entry}
    pending = [entry]
    while pending:
        index = pending.pop()
        if index in problems:
            raise problems[index]
        for successor in pieces[index].successors:
            if successor not in reached:
                reached.add(successor)
                pending.append(successor)
    return pieces, entry


def build_flow(program: MachineProgram, wave_size: int, region: CodeRegion | None = None) -> Flow:
    """Split, connect and order the blocks; compute effects and dominators (:func:`solve_liveness` comes later)."""
    blocks, entry = split_blocks(program, region)
    analyzer = EffectAnalyzer(wave_size)
    for block in blocks:
        block.effects = [analyzer.analyze(instruction) for instruction in block.instructions]
    order = graph.reverse_postorder(entry, lambda index: blocks[index].successors)
    above = graph.immediate_dominators(order, lambda index: blocks[index].successors)
    idom = [-1] * len(blocks)
    children: list[list[int]] = [[] for _ in blocks]
    for index, position in zip(order[1:], above[1:], strict=True):
        idom[index] = order[position]
        children[order[position]].append(index)
    return Flow(blocks, order, idom, children, wave_size, entry)


def solve_liveness(flow: Flow) -> None:
    """Compute ``live_in``, ``live_out`` from ``upward`` and ``written`` of every block (classic backward data flow)."""
    blocks = flow.blocks
    pending = list(flow.order)
    queued = set(pending)
    while pending:
        index = pending.pop()
        queued.discard(index)
        block = blocks[index]
        out = 0
        for successor in block.successors:
            out |= blocks[successor].live_in
        block.live_out = out
        live_in = block.upward | (out & ~block.written)
        if live_in != block.live_in:
            block.live_in = live_in
            for predecessor in block.predecessors:
                if predecessor not in queued:
                    queued.add(predecessor)
                    pending.append(predecessor)


def place_merges(flow: Flow) -> None:
    """Set ``merged`` of every block: units whose value depends on the way control came (pruned SSA form)."""
    blocks = flow.blocks
    frontier: list[set[int]] = [set() for _ in blocks]
    reachable = set(flow.order)
    for index in flow.order:
        block = blocks[index]
        if len(block.predecessors) < 2:
            continue
        for predecessor in block.predecessors:
            runner = predecessor
            while runner in reachable and runner != flow.idom[index] and runner >= 0:
                frontier[runner].add(index)
                runner = flow.idom[runner]
    pending = list(flow.order)
    while pending:
        index = pending.pop()
        written = blocks[index].written | blocks[index].merged
        for target in frontier[index]:
            block = blocks[target]
            new = written & block.live_in & ~block.merged
            if new:
                block.merged |= new
                pending.append(target)
