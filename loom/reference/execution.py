"""Execution of IR over a batch of workitems in lockstep: frames, masks, control flow, calls and errors.

All workitems of a batch (one or more whole workgroups) step through the program together. A branch on which they
disagree
runs both sides, each under a mask; loops run until the last active lane has left. Operations are looked up by name in
:data:`HANDLERS`, which the ``operations_*`` modules fill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from loom.diagnostics import Diagnostic, ExitCode, LoomError, Severity, error
from loom.ir import Block, FloatType, IndexType, IntegerType, Module, OffsetType, Operation, Region, Type, Value
from loom.ir.graph import reverse_postorder
from loom.reference.async_copies import AsyncCopies
from loom.reference.formats import FORMATS, Array, ElementFormat
from loom.reference.memory import Actors, Arena
from loom.reference.values import Mask, both, column, merge

Handler = Callable[["Interpreter", "Frame", Operation, Mask], None]

HANDLERS: dict[str, Handler] = {}

#: Operations a launch may execute (each counts once for all lanes of a batch) before it is taken for endless.
DEFAULT_BUDGET = 5_000_000


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for operations by name."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


def form_of(type_: Type) -> ElementFormat:
    """The element format of a scalar type, or of a shaped type's elements."""
    scalar = getattr(type_, "element", type_)
    return FORMATS[str(scalar)]


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What the interpreter must know of the target: subgroup size, and which matrix instruction family it has."""

    subgroup_size: int = 32
    family: str = "gfx11"
    name: str = "reference"


def target_facts(selector: str, subgroup_size: int | None, default: TargetFacts) -> TargetFacts:
    """Facts of a processor or generic selector (``gfx1151``, ``gfx11-generic``); other selectors keep the default's
    family.

    Subgroups have 64 lanes on CDNA and 32 on RDNA unless ``subgroup_size`` says otherwise.
    """
    families = (("gfx9", "cdna", 64), ("gfx10", "gfx11", 32), ("gfx11", "gfx11", 32), ("gfx12", "gfx12", 32))
    for prefix, family, size in families:
        if selector.startswith(prefix):
            return TargetFacts(subgroup_size or size, family, selector)
    return TargetFacts(subgroup_size or default.subgroup_size, default.family, selector or default.name)


@dataclass(frozen=True, slots=True)
class Geometry:
    """A launch: number of workgroups and their size, each (x, y, z); bytes of dynamic workgroup storage; cluster
    size."""

    workgroups: tuple[int, int, int]
    workgroup_size: tuple[int, int, int]
    dynamic_storage: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)

    @property
    def group_lanes(self) -> int:
        """Workitems of a workgroup."""
        x, y, z = self.workgroup_size
        return x * y * z

    @property
    def group_count(self) -> int:
        """Workgroups of the launch."""
        x, y, z = self.workgroups
        return x * y * z


HOST_GEOMETRY = Geometry((1, 1, 1), (1, 1, 1))


class Batch:
    """Some consecutive workgroups of a launch, executed together.

    ``local`` is the linear workitem number within its workgroup, ``group`` the linear workgroup number within the
    launch;
    x varies fastest in both.
    """

    __slots__ = (
        "_slots",
        "allocations",
        "copies",
        "dynamic_storage",
        "exited",
        "first_group",
        "geometry",
        "group",
        "group_index",
        "groups",
        "interval",
        "lanes",
        "local",
        "private",
        "size",
        "subgroup_interval",
        "subgroup_size",
        "workgroup",
    )

    def __init__(self, geometry: Geometry, first_group: int, groups: int, subgroup_size: int) -> None:
        self.geometry = geometry
        self.first_group = first_group
        self.groups = groups
        self.size = geometry.group_lanes
        self.lanes = groups * self.size
        self.subgroup_size = subgroup_size
        lane = np.arange(self.lanes, dtype=np.int64)
        self.local: Array = lane % self.size
        self.group_index: Array = lane // self.size
        self.group: Array = self.group_index + first_group
        self.exited: Array | None = None
        self.interval: Array = np.zeros(self.lanes, np.int64)
        self.subgroup_interval: Array = np.zeros(self.lanes, np.int64)
        self.workgroup = Arena("workgroup", detect_races=True)
        self.private = Arena("private")
        self.allocations: dict[Any, Any] = {}
        self.dynamic_storage: Any = None
        self.copies: AsyncCopies | None = None
        self._slots: Array | None = None

    @property
    def subgroups(self) -> int:
        """Subgroups of a workgroup; the last may be partial."""
        return -(-self.size // self.subgroup_size)

    @property
    def lane_id(self) -> Array:
        """Lane number within the subgroup."""
        return self.local % self.subgroup_size

    @property
    def subgroup(self) -> Array:
        """Subgroup number within the workgroup."""
        return self.local // self.subgroup_size

    def coordinate(self, kind: str, axis: int) -> Array:
        """``workitem`` or ``workgroup`` coordinate on an axis (0 = x)."""
        shape = self.geometry.workgroup_size if kind == "workitem" else self.geometry.workgroups
        number = self.local if kind == "workitem" else self.group
        for dim in shape[:axis]:
            number = number // dim
        return number % shape[axis]

    def slots(self) -> Array:
        """Subgroups × lanes → position in the batch, -1 where a partial subgroup has no workitem."""
        if self._slots is None:
            lane = np.arange(self.subgroups * self.subgroup_size)
            table = np.where(lane < self.size, lane, -1).reshape(self.subgroups, self.subgroup_size)
            start = (np.arange(self.groups) * self.size)[:, None, None]
            self._slots = np.where(table >= 0, table + start, -1).reshape(-1, self.subgroup_size)
        return self._slots

    def actors(self) -> Actors:
        """Who the lanes are, for the race detector."""
        lane = np.arange(self.lanes, dtype=np.int64) + self.first_group * self.size
        return Actors(lane, self.group, self.subgroup, self.interval, self.subgroup_interval)

    def name_lane(self, position: int) -> str:
        """Workgroup and workitem of a lane, for messages."""
        if self.geometry is HOST_GEOMETRY:
            return ""
        place = [int(self.coordinate("workgroup", axis)[position]) for axis in range(3)]
        item = [int(self.coordinate("workitem", axis)[position]) for axis in range(3)]
        return f" (workgroup {tuple(place)}, workitem {tuple(item)})"


class Frame:
    """The values of one function activation."""

    __slots__ = ("batch", "escaping", "function", "masked", "poison", "values")

    def __init__(self, batch: Batch, function: str) -> None:
        self.batch = batch
        self.function = function
        self.values: dict[Value, Any] = {}
        self.poison: dict[Value, Array] = {}
        self.masked: Mask = None
        self.escaping: frozenset[Value] | None = None

    def set(self, value: Value, content: Any, undefined: Array | None = None) -> None:
        """Define a value; inside a divergent CFG block, lanes outside the block keep what they had."""
        if self.masked is not None and self.escaping is not None and value in self.escaping and value in self.values:
            content, undefined = self._kept(value, content, undefined)
        self.values[value] = content
        if undefined is not None and undefined.any():
            self.poison[value] = undefined
        elif self.poison:
            self.poison.pop(value, None)

    def _kept(self, value: Value, content: Any, undefined: Array | None) -> tuple[Any, Array | None]:
        assert self.masked is not None
        old = self.poison.get(value)
        if undefined is not None or old is not None:
            new_poison = np.zeros((1,) * content.ndim, np.bool_) if undefined is None else undefined
            old_poison = np.zeros((1,) * content.ndim, np.bool_) if old is None else old
            undefined = merge(self.masked, new_poison, old_poison)
        return merge(self.masked, content, self.values[value]), undefined


@dataclass
class Interpreter:
    """Executes functions and kernels of one module.

    ``config`` holds the configuration values by key; ``libraries`` are searched for symbols the module only declares;
    ``race_checks`` extends race detection to global memory; ``target_forced`` makes ``target`` override the kernels'
    own.
    """

    module: Module
    config: Mapping[str, Any] = field(default_factory=dict)
    libraries: Sequence[Module] = ()
    target: TargetFacts = field(default_factory=TargetFacts)
    budget: int = DEFAULT_BUDGET
    race_checks: bool = False
    target_forced: bool = False

    def __post_init__(self) -> None:
        load_operations()
        self.executed = 0
        self._blocks: dict[Block, list[tuple[Handler, Operation]]] = {}
        self._symbols: dict[str, Operation] = dict(self.module.symbols)
        self._escaping: dict[Region, frozenset[Value]] = {}
        self._order: dict[Region, dict[Block, int]] = {}
        self.depth = 0
        self.caches: dict[Any, Any] = {}
        for library in self.libraries:
            for name, op in library.symbols.items():
                known = self._symbols.get(name)
                if known is None or known.name.endswith(".decl"):
                    self._symbols[name] = op

    # --- symbols and errors -------------------------------------------------------------------------------------------

    def symbol(self, name: str, op: Operation) -> Operation:
        """The definition of a symbol. Raises ``REFERENCE/010`` where only a declaration is known."""
        found = self._symbols.get(name)
        if found is None or (found.name.endswith(".decl") and not found.name.startswith("template")):
            what = "is only declared" if found is not None else "is not defined"
            raise error(f"symbol '@{name}' {what} here", "REFERENCE/010", op.location, hint="pass --library=FILE")
        return found

    def symbols(self) -> Mapping[str, Operation]:
        """All symbols that the interpreter sees."""
        return self._symbols

    def fail(
        self,
        op: Operation,
        code: str,
        message: str,
        *,
        frame: Frame | None = None,
        lane: int | None = None,
        hint: str | None = None,
    ) -> NoReturn:
        """Raise undefined behaviour or another run-time error at ``op`` (exit code 1)."""
        where = frame.batch.name_lane(lane) if frame is not None and lane is not None else ""
        notes = (f"in @{frame.function}",) if frame is not None else ()
        diagnostic = Diagnostic(f"{message}{where}", code, op.location, Severity.ERROR, hint, notes)
        raise LoomError(diagnostic, ExitCode.EVIDENCE_FAILED)

    # --- operands -----------------------------------------------------------------------------------------------------

    def defined(self, frame: Frame, value: Value, op: Operation, mask: Mask, role: str) -> Array:
        """A lane array that control flow or an address depends on: poison in an active lane is an error."""
        content: Array = frame.values[value]
        undefined = frame.poison.get(value)
        if undefined is not None:
            lanes = undefined.reshape(undefined.shape[0], -1).any(1)
            active = lanes if mask is None else lanes & mask
            if active.any():
                self.fail(
                    op,
                    "REFERENCE/006",
                    f"{op.name}: the {role} depends on an undefined value",
                    frame=frame,
                    lane=int(np.argmax(active)),
                    hint="a value is undefined after reading memory that nothing wrote, a division by zero, a shift by "
                    "the width or more, a conversion out of range, or a shuffle from outside",
                )
        return content

    def uniform_int(self, frame: Frame, value: Value, op: Operation, mask: Mask, role: str) -> int:
        """An integer that must agree in all active lanes."""
        content = self.defined(frame, value, op, mask, role).ravel()
        if content.shape[0] > 1 and mask is not None:
            content = content[mask]
        if content.shape[0] > 1 and not (content == content[0]).all():
            self.fail(op, "REFERENCE/011", f"{op.name}: the {role} differs between workitems", frame=frame)
        return int(content[0])

    # --- regions ------------------------------------------------------------------------------------------------------

    def _compiled(self, block: Block) -> list[tuple[Handler, Operation]]:
        steps = self._blocks.get(block)
        if steps is None:
            steps = []
            for op in block.operations:
                if op.definition.is_terminator:
                    break
                handler = HANDLERS.get(op.name)
                if handler is None:
                    raise error(
                        f"the reference interpreter does not implement '{op.name}'", "REFERENCE/001", op.location
                    )
                steps.append((handler, op))
            self._blocks[block] = steps
        return steps

    def run_block(self, block: Block, frame: Frame, mask: Mask) -> Mask:
        """Execute a block up to its terminator; returns the lanes that are still there (all but those that exited)."""
        steps = self._compiled(block)
        self.executed += len(steps) + 1
        if self.executed > self.budget:
            op = block.first if block.first is not None else block.parent_op
            assert op is not None
            self.fail(
                op,
                "REFERENCE/007",
                f"the operation budget of {self.budget} is spent: this program may never end",
                frame=frame,
                hint="a program that is only long needs a larger one: --operation-budget of the check tools",
            )
        batch = frame.batch
        for handler, op in steps:
            handler(self, frame, op, mask)
            if batch.exited is not None:
                mask = both(mask, ~batch.exited)
        return mask

    def terminator_values(self, block: Block, frame: Frame, skip: int = 0) -> list[tuple[Any, Array | None]]:
        """Operands of the block's terminator with their poison, from the ``skip``-th on."""
        terminator = block.last
        if terminator is None or not terminator.definition.is_terminator:
            return []
        return [(frame.values[value], frame.poison.get(value)) for value in terminator.operands[skip:]]

    def run_region(self, region: Region, frame: Frame, mask: Mask) -> list[tuple[Any, Array | None]]:
        """Execute a function body, of one block or a CFG, and return what it returns."""
        if len(region.blocks) == 1:
            self.run_block(region.blocks[0], frame, mask)
            return self.terminator_values(region.blocks[0], frame)
        return self._run_graph(region, frame, mask)

    def _run_graph(self, region: Region, frame: Frame, mask: Mask) -> list[tuple[Any, Array | None]]:
        """Run a CFG: of the blocks that lanes wait for, always the first in program order, with all its lanes."""
        order = self._order.get(region)
        if order is None:
            blocks = reverse_postorder(region.blocks[0], lambda block: block.successors)
            order = self._order[region] = {block: position for position, block in enumerate(blocks)}
            self._escaping[region] = _escaping_values(region)
        outer = frame.masked, frame.escaping
        frame.escaping = self._escaping[region]
        everyone = np.ones(frame.batch.lanes, np.bool_) if mask is None else mask
        waiting: dict[Block, Array] = {region.blocks[0]: everyone}
        returned: list[tuple[Any, Array | None]] | None = None
        while waiting:
            block = min(waiting, key=order.__getitem__)
            lanes = waiting.pop(block)
            partial = None if bool(lanes.all()) else lanes
            frame.masked = partial
            after = self.run_block(block, frame, partial)
            if after is not partial and after is not None:
                lanes = lanes & after
            terminator = block.last
            assert terminator is not None
            if terminator.name in ("cfg.br", "low.br"):
                self._enter(terminator.successors[0], terminator.operands, frame, lanes, waiting)
            elif terminator.name in ("cfg.cond_br", "low.cond_br"):
                condition = self.defined(frame, terminator.operands[0], terminator, lanes, "condition")
                taken = truth(condition)
                for successor, chosen in zip(terminator.successors, (taken, ~taken), strict=True):
                    self._enter(successor, (), frame, lanes & chosen, waiting)
            else:
                values = self.terminator_values(block, frame)
                returned = values if returned is None else merge_all(lanes, values, returned)
        frame.masked, frame.escaping = outer
        return returned if returned is not None else []

    def _enter(
        self,
        block: Block,
        operands: Sequence[Value],
        frame: Frame,
        lanes: Array,
        waiting: dict[Block, Array],
    ) -> None:
        if not lanes.any():
            return
        incoming = [(frame.values[value], frame.poison.get(value)) for value in operands]
        partial = not bool(lanes.all())
        masked, frame.masked = frame.masked, None
        for argument, (content, undefined) in zip(block.arguments, incoming, strict=True):
            if partial and argument in frame.values:
                old = (frame.values[argument], frame.poison.get(argument))
                content, undefined = merge_value(lanes, (content, undefined), old)
            frame.set(argument, content, undefined)
        frame.masked = masked
        known = waiting.get(block)
        waiting[block] = lanes if known is None else known | lanes

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(
        self,
        function: Operation,
        arguments: Sequence[tuple[Any, Array | None]],
        batch: Batch,
        mask: Mask,
        op: Operation,
    ) -> list[tuple[Any, Array | None]]:
        """Call a function-like symbol with run-time values and return its results."""
        if self.depth >= 200:
            self.fail(op, "REFERENCE/007", "calls are nested more than 200 deep: this program may never end")
        frame = Frame(batch, function.symbol or "?")
        region = function.regions[-1]
        entry = region.blocks[0]
        for parameter, (content, undefined) in zip(entry.arguments, arguments, strict=True):
            frame.set(parameter, content, undefined)
        self.check_where(function, entry.arguments, frame, mask, op)
        self.depth += 1
        try:
            return self.run_region(region, frame, mask)
        finally:
            self.depth -= 1

    def check_launch_where(self, kernel: Operation, parameters: Sequence[Value], frame: Frame) -> None:
        """Check the ``where`` behind a kernel's device interface."""
        from loom.reference.predicates import check_predicates

        predicates = kernel.attributes.get("launch_where")
        if isinstance(predicates, tuple) and predicates:
            what = f"where clause of the launch of @{kernel.symbol}"
            check_predicates(self, frame, kernel, predicates, list(parameters), None, what)

    def facts_of(self, kernel: Operation) -> TargetFacts:
        """The target a kernel runs as: the run's where it was forced, else the kernel's own record, else the run's."""
        record = self._symbols.get(str(kernel.attributes.get("target")))
        if self.target_forced or record is None:
            return self.target
        size = record.attributes.get("subgroup_size")
        selector = str(record.attributes.get("selector") or "")
        return target_facts(selector, size if isinstance(size, int) else None, self.target)

    def accepts_target(self, symbol: str) -> bool:
        """Whether the target of the run satisfies a target record of the module."""
        record = self._symbols.get(symbol)
        if record is None:
            return False
        selector = str(record.attributes.get("selector") or "")
        if selector.endswith("-generic"):
            return target_facts(selector, None, self.target).family == self.target.family
        return selector in ("", self.target.name)

    def check_where(
        self, function: Operation, arguments: Sequence[Value], frame: Frame, mask: Mask, op: Operation
    ) -> None:
        """Check the ``where`` of a signature, as far as it speaks of arguments only."""
        from loom.reference.predicates import check_predicates

        predicates = function.attributes.get("where")
        if isinstance(predicates, tuple) and predicates:
            check_predicates(self, frame, op, predicates, list(arguments), mask, f"where clause of @{function.symbol}")


def merge_value(lanes: Array, new: tuple[Any, Array | None], old: tuple[Any, Array | None]) -> tuple[Any, Array | None]:
    """Merge a value with its poison: ``new`` in ``lanes``, else ``old``."""
    content = merge(lanes, new[0], old[0])
    if new[1] is None and old[1] is None:
        return content, None
    rank = max(p.ndim for p in (new[1], old[1]) if p is not None)
    blank = np.zeros((1,) * rank, np.bool_)
    left = blank if new[1] is None else new[1]
    right = blank if old[1] is None else old[1]
    return content, np.where(column(lanes, rank), left, right)


def merge_all(
    lanes: Array, new: Sequence[tuple[Any, Array | None]], old: Sequence[tuple[Any, Array | None]]
) -> list[tuple[Any, Array | None]]:
    """Merge lists of values with their poison."""
    return [merge_value(lanes, a, b) for a, b in zip(new, old, strict=True)]


def truth(condition: Array) -> Array:
    """A branch condition as booleans: ``i1``, or a register word that is not zero."""
    return condition if condition.dtype == np.bool_ else np.asarray(condition.reshape(condition.shape[0], -1).any(1))


def _escaping_values(region: Region) -> frozenset[Value]:
    """Values of a CFG's blocks that are used in another block than the one that defines them (or named by its
    types)."""
    escaping: set[Value] = set()
    for block in region.blocks:
        for op in block.operations:
            for result in op.results:
                if result.type_users or any(_home(user, region) is not block for user in result.users):
                    escaping.add(result)
    return frozenset(escaping)


def _home(op: Operation, region: Region) -> Block | None:
    """The block of ``region`` that holds ``op``, directly or inside nested regions."""
    current: Operation | None = op
    while current is not None:
        block = current.parent
        if block is None or block.parent is region:
            return block
        current = block.parent_op
    return None


def is_scalar(type_: Type) -> bool:
    """Whether values of the type are lane arrays of rank one."""
    return isinstance(type_, IntegerType | FloatType | IndexType | OffsetType)


_loaded = False


def load_operations() -> None:
    """Import the modules that fill :data:`HANDLERS`."""
    global _loaded
    if _loaded:
        return
    import importlib

    for name in OPERATION_MODULES:
        importlib.import_module(f"loom.reference.{name}")
    _loaded = True


OPERATION_MODULES = (
    "operations_control",
    "operations_scalar",
    "operations_vector",
    "operations_dot",
    "operations_memory",
    "operations_kernel",
    "operations_fragment",
    "operations_call",
    "operations_encoding",
    "low_entry",
)
