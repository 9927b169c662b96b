"""Which values are the same in all active lanes of a wave.

A value is *divergent* when it may differ between lanes that are active together; everything else is uniform and may
live in scalar registers. Data dependence carries divergence; so does control: what a divergent ``scf.if`` yields,
and what leaves a loop that lanes leave at different times, is divergent.
"""

from __future__ import annotations

from loom.ir import Block, Operation, Value

_DIVERGENT_SOURCES = frozenset(
    (
        "kernel.workitem.dispatch.id",
        "kernel.subgroup.lane.id",
        "kernel.subgroup.shuffle",
        "kernel.subgroup.scan",
        "kernel.subgroup.match.any",
        "kernel.workgroup.scan",
        "view.atomic.rmw",
        "view.atomic.cmpxchg",
        "vector.atomic.rmw",
        "vector.atomic.rmw.mask",
        "vector.atomic.cmpxchg",
        "vector.fragment.load",
        "vector.fragment.repack",
        "vector.mma",
    )
)
"""Ops whose results differ between lanes whatever their operands."""

_UNIFORM_RESULTS = frozenset(
    (
        "kernel.subgroup.broadcast",
        "kernel.subgroup.broadcast.first",
        "kernel.subgroup.vote.any",
        "kernel.subgroup.vote.all",
        "kernel.subgroup.vote.ballot",
        "kernel.subgroup.match.all",
        "kernel.subgroup.active.mask",
        "kernel.subgroup.id",
        "kernel.subgroup.count",
        "kernel.subgroup.size",
        "kernel.workgroup.reduce",
        "kernel.workgroup.vote.any",
        "kernel.workgroup.vote.all",
        "kernel.workgroup.vote.count",
    )
)
"""Ops that give every lane the same, whatever their operands."""


class Uniformity:
    """The divergent values of a kernel body.

    Args:
        body: Entry block of the device body.
        workgroup_size: Static size; decides whether ids of the outer axes are the same across a wave.
        wave: Lanes in a wave.
    """

    def __init__(self, body: Block, workgroup_size: tuple[int, int, int], wave: int) -> None:
        self.divergent: set[Value] = set()
        self.divergent_branches: set[Operation] = set()
        self._size = workgroup_size
        self._wave = wave
        region = body.parent
        assert region is not None
        changed = True
        while changed:
            before = (len(self.divergent), len(self.divergent_branches))
            for block in region.blocks:
                self._block(block)
            changed = (len(self.divergent), len(self.divergent_branches)) != before

    def is_divergent(self, value: Value) -> bool:
        """Whether lanes may hold different values."""
        return value in self.divergent

    def axis_is_divergent(self, axis: str) -> bool:
        """Whether ``kernel.workitem.id<axis>`` differs within a wave."""
        x, y, z = self._size
        inner = {"x": 1, "y": x, "z": x * y}[axis]
        extent = {"x": x, "y": y, "z": z}[axis]
        if extent == 1:
            return False
        return inner % self._wave != 0

    def _any(self, values: list[Value]) -> bool:
        divergent = self.divergent
        return any(v in divergent for v in values)

    def _block(self, block: Block) -> None:
        for op in block.operations:
            self._op(op)

    def _op(self, op: Operation) -> None:
        name = op.name
        if op.regions:
            self._region_op(op, name)
            return
        if name == "kernel.workitem.id":
            divergent = self.axis_is_divergent(str(op.attributes["axis"] if "axis" in op.attributes else _axis(op)))
        elif name in _DIVERGENT_SOURCES:
            divergent = True
        elif name in _UNIFORM_RESULTS:
            divergent = False
        elif name == "kernel.subgroup.reduce":
            divergent = "cluster_size" in op.attributes
        elif name == "buffer.alloca":
            divergent = str(op.attributes.get("memory_space")) == "private"
        elif name == "low.invoke":
            divergent = self._invoke(op)
            return
        elif name in ("cfg.br", "cfg.cond_br"):
            self._branch(op, name)
            return
        else:
            divergent = self._any(op.operands) or any(
                r.type is not None and any(v in self.divergent for v in r.type.values) for r in op.results
            )
        if divergent:
            self.divergent.update(op.results)

    def _invoke(self, op: Operation) -> bool:
        module = op.module
        callee = module.symbol(str(op.attributes.get("callee", ""))) if module is not None else None
        types = callee.attributes.get("result_types") if callee is not None else None
        for index, result in enumerate(op.results):
            declared = types[index] if isinstance(types, tuple) and index < len(types) else None
            if declared is None or getattr(declared, "register_class", "") == "amdgpu.vgpr":
                self.divergent.add(result)
        return True

    def _branch(self, op: Operation, name: str) -> None:
        if name == "cfg.br":
            for value, argument in zip(op.operands, op.successors[0].arguments, strict=False):
                if value in self.divergent:
                    self.divergent.add(argument)
        elif self._any(op.operands):
            self.divergent_branches.add(op)
            # Without structure every argument of a block that a divergent branch can reach counts as divergent.
            work, seen = list(op.successors), set()
            while work:
                block = work.pop()
                if id(block) in seen:
                    continue
                seen.add(id(block))
                self.divergent.update(block.arguments)
                work.extend(block.successors)

    def _region_op(self, op: Operation, name: str) -> None:
        divergent = self.divergent
        if name == "scf.if" or name == "scf.switch":
            condition = op.operands[0] in divergent
            if condition:
                self.divergent_branches.add(op)
            for region in op.regions:
                for block in region.blocks:
                    self._block(block)
                    self._yields(block.last, op.results, condition)
        elif name == "scf.for":
            block = op.regions[0].blocks[0]
            bounds = [op.operand("lower"), op.operand("upper"), op.operand("step")]
            trip = self._any(bounds)
            induction, *carried = block.arguments
            if bounds[0] in divergent or bounds[2] in divergent:
                divergent.add(induction)
            if trip:
                self.divergent_branches.add(op)
            inits = op.operand_group("inits")
            for init, argument in zip(inits, carried, strict=True):
                if init in divergent:
                    divergent.add(argument)
            self._block(block)
            last = block.last
            if last is not None:
                for value, argument in zip(last.operands, carried, strict=False):
                    if value in divergent:
                        divergent.add(argument)
            for argument, result in zip(carried, op.results, strict=True):
                if trip or argument in divergent:
                    divergent.add(result)
        elif name == "scf.while":
            before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
            for init, argument in zip(op.operands, before.arguments, strict=True):
                if init in divergent:
                    divergent.add(argument)
            self._block(before)
            condition_op = before.last
            assert condition_op is not None
            trip = condition_op.operands[0] in divergent
            if trip:
                self.divergent_branches.add(op)
            for value, argument, result in zip(condition_op.operands[1:], after.arguments, op.results, strict=True):
                if value in divergent:
                    divergent.add(argument)
                if trip or value in divergent:
                    divergent.add(result)
            self._block(after)
            last = after.last
            if last is not None:
                for value, argument in zip(last.operands, before.arguments, strict=False):
                    if value in divergent:
                        divergent.add(argument)
        else:
            for region in op.regions:
                for block in region.blocks:
                    self._block(block)

    def _yields(self, last: Operation | None, results: list[Value], condition: bool) -> None:
        if condition:
            self.divergent.update(results)
        elif last is not None:
            for value, result in zip(last.operands, results, strict=False):
                if value in self.divergent:
                    self.divergent.add(result)


def _axis(op: Operation) -> str:
    for key in ("dimension", "dim", "axis"):
        if key in op.attributes:
            return str(op.attributes[key])
    return "x"
