"""Low code as the backend works on it: blocks of instructions over virtual registers, in SSA form.

The form is target-neutral. An instruction's ``payload`` belongs to the target; everything that dependences, scheduling,
liveness and allocation need is in ``defs``, ``uses``, ``ties`` and ``traits``.

* A *reference* is ``(register, offset, units)``: some consecutive units of a virtual register. ``low.slice`` and
``low.copy`` are
  references and have no instruction; ``low.concat`` and the arguments of a branch are ``COPY`` instructions, which the
  allocator removes where source and destination share a register.
* Every register has one definition: an instruction, an entry of a block's ``parameters``, or the pieces of one
``COPY``. Block
  parameters are written by the ``COPY`` at the end of each predecessor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loom.ir import graph

if TYPE_CHECKING:
    from loom.diagnostics import Location

OP = 0
"""An instruction of the target."""
COPY = 1
"""A parallel copy: ``defs[i] = uses[i]`` for all i at once."""
JUMP = 2
"""Unconditional branch to ``targets[0]``."""
BRANCH = 3
"""Conditional branch: ``targets[0]`` where it is taken, ``targets[1]`` otherwise."""
RETURN = 4
"""End of the function."""
ENTRY = 5
"""Defines the registers that are live on entry; first instruction of the entry block."""
FENCE = 6
"""Schedule fence: nothing moves across; emits nothing."""


class VirtualRegister:
    """A value: ``units`` consecutive registers of one class.

    ``location`` is the physical index of the first unit where the text pins it. ``index`` is unique in the function.
    ``spill_temp`` marks the short-lived registers that spilling itself makes; these are never spilled again.
    """

    __slots__ = ("hint", "index", "location", "name", "register_class", "spill_temp", "units")

    def __init__(
        self, index: int, register_class: str, units: int, name: str | None = None, location: int | None = None
    ) -> None:
        self.index = index
        self.register_class = register_class
        self.units = units
        self.name = name
        self.location = location
        self.hint: Any = None
        self.spill_temp = False

    def __repr__(self) -> str:
        place = "" if self.location is None else f"@{self.location}"
        return f"%{self.name or ''}.{self.index}:{self.register_class}x{self.units}{place}"


Ref = tuple[VirtualRegister, int, int]
"""(register, offset, units)."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What scheduling and allocation need to know of an instruction.

    Attributes:
        latency: Cycles from issue to a usable result.
        issue: Issue class, a name for reports (``valu``, ``smem`` …).
        memory_space: Name of the memory the instruction touches, ``None`` for none.
        reads_memory: Whether it reads that memory.
        writes_memory: Whether it writes that memory.
        barrier: Whether no memory access may move across it (work-group barriers, cache maintenance).
        side_effects: Whether it must stay in order with all other instructions that have side effects, and is never
            dead.
        state_uses: Machine state read without being written out (``exec``, ``scc`` …).
        state_defs: Machine state written without being written out.
        early_clobber: Whether results may not share a register with any source.
        rematerializable: Whether it may be repeated anywhere: no operands but constants, no state.
        masked: Whether results change only in lanes that a mask register enables.
    """

    latency: int = 1
    issue: str = "other"
    memory_space: str | None = None
    reads_memory: bool = False
    writes_memory: bool = False
    barrier: bool = False
    side_effects: bool = False
    state_uses: tuple[str, ...] = ()
    state_defs: tuple[str, ...] = ()
    early_clobber: bool = False
    rematerializable: bool = False
    masked: bool = False


NO_TRAITS = Traits()


class Instruction:
    """One instruction.

    ``ties`` are pairs (index of a definition, index of a use) that must get the same register; ``preferred_ties``
    should. ``address`` is what
    two memory
    accesses are compared by: ``(base key, offset, bytes, alias root)`` or ``None`` for unknown. ``apart`` lists pairs
    of references with a modulus by which their locations should differ (register banks). ``limited`` is the number of
    the region, 0 for none, in which the target limits how far scheduling may reorder. ``locked`` is the
    number of the locked region the
    instruction belongs to, 0 for none.
    """

    __slots__ = (
        "address",
        "apart",
        "defs",
        "kind",
        "limited",
        "location",
        "locked",
        "origin",
        "payload",
        "phase",
        "position",
        "preferred_ties",
        "run",
        "targets",
        "ties",
        "traits",
        "uses",
    )

    def __init__(
        self,
        kind: int,
        payload: Any = None,
        defs: Sequence[Ref] = (),
        uses: Sequence[Ref] = (),
        ties: tuple[tuple[int, int], ...] = (),
        traits: Traits = NO_TRAITS,
        location: Location | None = None,
        targets: tuple[CodeBlock, ...] = (),
    ) -> None:
        self.kind = kind
        self.payload = payload
        self.defs: list[Ref] = list(defs)
        self.uses: list[Ref] = list(uses)
        self.ties = ties
        self.traits = traits
        self.location = location
        self.targets = targets
        self.address: tuple[Any, int, int, Any] | None = None
        self.locked = 0
        self.limited = 0
        self.phase: tuple[int, ...] = ()
        self.position = -1
        self.origin: Any = None
        self.preferred_ties: tuple[tuple[int, int], ...] = ()
        self.apart: tuple[tuple[Ref, Ref, int], ...] = ()
        #: Number of the straight run that scheduling put the instruction in; nothing may move to another one.
        self.run = 0

    def __repr__(self) -> str:
        return f"<{self.kind} {self.payload} defs={self.defs} uses={self.uses}>"


class CodeBlock:
    """A straight run of instructions that ends in ``JUMP``, ``BRANCH`` or ``RETURN``."""

    __slots__ = (
        "depth",
        "frequency",
        "index",
        "instructions",
        "label",
        "loop",
        "parameters",
        "predecessors",
        "successors",
    )

    def __init__(self, label: str) -> None:
        self.label = label
        self.instructions: list[Instruction] = []
        self.parameters: list[VirtualRegister] = []
        self.predecessors: list[CodeBlock] = []
        self.successors: list[CodeBlock] = []
        self.index = 0
        self.depth = 0
        self.frequency = 1.0
        #: Indices of the blocks of the outermost loop around this one; empty outside of loops.
        self.loop: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        return f"<CodeBlock {self.label}>"


class LowCode:
    """One function. ``blocks`` are in layout order, the entry first."""

    __slots__ = ("allocation", "blocks", "name", "registers", "schedule")

    def __init__(self, name: str, allocation: str = "virtual", schedule: str = "free") -> None:
        self.name = name
        self.allocation = allocation
        self.schedule = schedule
        self.blocks: list[CodeBlock] = []
        self.registers: list[VirtualRegister] = []

    def new_register(
        self, register_class: str, units: int, name: str | None = None, location: int | None = None
    ) -> VirtualRegister:
        """Make a register."""
        register = VirtualRegister(len(self.registers), register_class, units, name, location)
        self.registers.append(register)
        return register

    def instructions(self) -> Iterator[Instruction]:
        """Every instruction in layout order."""
        for block in self.blocks:
            yield from block.instructions

    def drop_unreachable(self) -> None:
        """Remove blocks that control never reaches. The code must be linked, and is afterwards."""
        reached = {block.index for block in reverse_postorder(self.blocks)}
        if len(reached) != len(self.blocks):
            self.blocks = [block for block in self.blocks if block.index in reached]
            self.link()

    def link(self) -> None:
        """Recompute block indices, successors, predecessors, loop depths and frequencies from the terminators."""
        for index, block in enumerate(self.blocks):
            block.index = index
            block.predecessors = []
            block.successors = []
        for block in self.blocks:
            for target in block.instructions[-1].targets:
                if target not in block.successors:
                    block.successors.append(target)
                    target.predecessors.append(block)
        _loop_depths(self.blocks)


def reverse_postorder(blocks: Sequence[CodeBlock]) -> list[CodeBlock]:
    """Blocks reachable from the first one, in reverse postorder."""
    return graph.reverse_postorder(blocks[0], lambda block: block.successors)


def _loop_depths(blocks: Sequence[CodeBlock]) -> None:
    """Natural loops by back edges to a dominator; ten executions a level are assumed."""
    order = reverse_postorder(blocks)
    number = {block.index: i for i, block in enumerate(order)}
    idom = graph.immediate_dominators(order, lambda block: block.successors)
    for block in blocks:
        block.depth = 0
        block.loop = frozenset()
    loops: dict[int, set[int]] = {}
    for i, block in enumerate(order):
        for successor in block.successors:
            header = number[successor.index]
            node = i
            while node > header:
                node = idom[node]
            if node != header:
                continue
            body = loops.setdefault(header, {header})
            work = [i]
            while work:
                member = work.pop()
                if member not in body:
                    body.add(member)
                    work.extend(number[p.index] for p in order[member].predecessors if p.index in number)
    for body in loops.values():
        indices = frozenset(order[member].index for member in body)
        for member in body:
            order[member].depth += 1
            if len(indices) > len(order[member].loop):
                order[member].loop = indices
    for block in blocks:
        block.frequency = 10.0 ** min(block.depth, 6)
