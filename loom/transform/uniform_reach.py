"""Workgroup and subgroup meetings in branches that provably part the workitems that have to meet.

A condition made of nothing but workitem ids, constants and pure arithmetic is evaluated for every workitem of
workgroup (0, 0, 0), which every launch has. Where two of them take different ways, a barrier on one of these ways is
refused. What depends on memory, arguments or other unknowns is taken to be uniform, as the author has to know it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from loom.ir import Module, Operation, Value
from loom.transform.folding import constant_of
from loom.transform.passes import PassContext
from loom.transform.rejection import rejection

MEETINGS = frozenset(
    (
        "kernel.barrier",
        "kernel.workgroup.reduce",
        "kernel.workgroup.scan",
        "kernel.workgroup.vote.any",
        "kernel.workgroup.vote.all",
        "kernel.workgroup.vote.count",
    )
)
"""Ops that every workitem of their scope has to reach."""

_ASSUMES = ("index.assume", "scalar.assume")
_LARGEST = 1024


def check_uniform_reach(module: Module, context: PassContext) -> int:
    """Refuse meetings that only some workitems of their scope reach; changes nothing.

    Raises:
        LoomError: ``UNIFORM/001`` with two workitems that part and the branch where they do.
    """
    for kernel in module.operations:
        if kernel.name != "kernel.def":
            continue
        parted: _Workgroup | None = None
        for op in kernel.region("body").walk():
            if op.name not in MEETINGS:
                continue
            if parted is None:
                parted = _Workgroup(kernel, context.target.subgroup_size)
            if not parted.size:
                break
            _check(op, parted)
    return 0


def _check(op: Operation, workgroup: _Workgroup) -> None:
    scope = "subgroup" if str(op.attributes.get("scope", "workgroup")) == "subgroup" else "workgroup"
    outer: Operation | None = op.parent_op
    while outer is not None and outer.name != "kernel.def":
        pair = workgroup.parted_by(outer, scope)
        if pair is not None:
            first, second = (workgroup.name_of(item) for item in pair)
            raise rejection(
                op,
                f"every workitem of the {scope} has to reach it, but {outer.name} parts them: "
                f"workitems {first} and {second} go different ways",
                "UNIFORM/001",
                "move it out of the branch, or make the condition the same for the whole " + scope,
                notes=(f"the branch: {outer.location}",),
            )
        outer = outer.parent_op


class _Workgroup:
    """Workgroup (0, 0, 0), and what its workitems compute."""

    def __init__(self, kernel: Operation, wave: int) -> None:
        config = kernel.region("config").blocks[0].last
        sizes = [constant_of(v) for v in config.operand_group("workgroup_size")] if config is not None else []
        known = len(sizes) == 3 and all(isinstance(s, int) and s > 0 for s in sizes)
        self.extent: tuple[int, int, int] = (sizes[0], sizes[1], sizes[2]) if known else (0, 0, 0)
        self.size = self.extent[0] * self.extent[1] * self.extent[2]
        if self.size > _LARGEST:
            self.size = 0
        self.wave = wave
        self._known: dict[tuple[Value, int], Any] = {}

    def name_of(self, item: int) -> str:
        """The id of a workitem as the author knows it."""
        x, y, z = (self._id(item, axis) for axis in "xyz")
        return f"({x}, {y}, {z})"

    def parted_by(self, op: Operation, scope: str) -> tuple[int, int] | None:
        """Two workitems of one ``scope`` that an op with regions provably sends different ways."""
        for group in self._groups(scope):
            first: tuple[int, Any] | None = None
            for item in group:
                way = self._way(op, item)
                if way is None:
                    return None
                if first is None:
                    first = (item, way)
                elif way != first[1]:
                    return first[0], item
        return None

    def _groups(self, scope: str) -> Iterator[Iterable[int]]:
        step = self.wave if scope == "subgroup" else self.size
        for start in range(0, self.size, step):
            yield range(start, min(start + step, self.size))

    def _way(self, op: Operation, item: int) -> Any:
        """What decides how ``item`` goes through the op: the condition, the case, or the number of rounds."""
        if op.name in ("scf.if", "scf.switch"):
            return self._value(op.operands[0], item)
        if op.name == "scf.for":
            bounds = [self._value(op.operand(name), item) for name in ("lower", "upper", "step")]
            if any(b is None for b in bounds) or bounds[2] <= 0:
                return None
            return max(0, -(-(bounds[1] - bounds[0]) // bounds[2]))
        return None

    def _value(self, value: Value, item: int) -> Any:
        """The value in one workitem, None where it is not known."""
        key = (value, item)
        if key not in self._known:
            self._known[key] = self._compute(value, item)
        return self._known[key]

    def _compute(self, value: Value, item: int) -> Any:
        owner = value.defining_op
        if owner is None:
            return None
        known = constant_of(value)
        if known is not None:
            return known
        name = owner.name
        if name in _ASSUMES:
            return self._value(owner.operands[value.index], item)
        if name.startswith("kernel.") or name == "target.subgroup.size":
            return self._number(owner, item)
        fold = owner.definition.fold
        if fold is None or not owner.operands or owner.regions:
            return None
        operands = [self._value(v, item) for v in owner.operands]
        if any(v is None for v in operands):
            return None
        outcome = fold(owner, operands)
        if outcome is None:
            return None
        found = outcome[value.index]
        return self._value(found, item) if isinstance(found, Value) else found

    def _number(self, op: Operation, item: int) -> int | None:
        axis = str(op.attributes.get("dimension", "x"))
        name = op.name.removeprefix("kernel.")
        if name in ("workitem.id", "workitem.dispatch.id"):
            return self._id(item, axis)
        if name == "workgroup.id":
            return 0
        if name == "workgroup.size":
            return self.extent["xyz".index(axis)]
        if name in ("subgroup.size", "target.subgroup.size"):
            return self.wave
        if name == "subgroup.lane.id":
            return item % self.wave
        if name == "subgroup.id":
            return item // self.wave
        return None

    def _id(self, item: int, axis: str) -> int:
        x, y, _ = self.extent
        return {"x": item % x, "y": item // x % y, "z": item // (x * y)}[axis]
