"""The anatomy of a lifted kernel: its loops, and in each block the instructions that mean something to its source."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from loom.diagnostics import error
from loom.ir import Block, Module, Operation
from loom.raising.recover.patterns import Pattern, classify

#: What says a loop in source.
LOOP_SOURCE = "scf.for or scf.while"


@dataclass(slots=True)
class Finding:
    """Instructions of one pattern in one block: how many of which key, and the line of the first."""

    pattern: Pattern
    block: str
    loop: str | None
    line: int
    keys: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON values."""
        return {
            "question": self.pattern.question,
            "meaning": self.pattern.meaning,
            "source": self.pattern.source,
            "block": self.block,
            "loop": self.loop,
            "line": self.line,
            "instructions": dict(sorted(self.keys.items())),
        }


@dataclass(slots=True)
class Anatomy:
    """A kernel's loops (head → blocks) and findings in program order."""

    kernel: str
    loops: dict[str, list[str]]
    findings: list[Finding]

    def to_json(self) -> dict[str, Any]:
        """The anatomy as JSON values."""
        loops = [{"head": head, "blocks": blocks, "source": LOOP_SOURCE} for head, blocks in self.loops.items()]
        return {
            "schema": "loom.anatomy.v0",
            "kernel": self.kernel,
            "loops": loops,
            "findings": [finding.to_json() for finding in self.findings],
        }


def anatomy(module: Module, kernel: str | None = None) -> Anatomy:
    """Read a lifted kernel's anatomy. Raises ``RECOVER/001`` where the module has no such ``low.kernel.def``."""
    kernels = [op for op in module.operations if op.name == "low.kernel.def"]
    chosen = [op for op in kernels if kernel is None or op.symbol == kernel.lstrip("@")]
    if len(chosen) != 1:
        names = ", ".join(f"@{op.symbol}" for op in kernels) or "none"
        raise error(f"choose one lifted kernel; the module has: {names}", "RECOVER/001", hint="--kernel=NAME")
    blocks = list(chosen[0].regions[0].blocks)
    labels = {id(block): block.label or f"block{index}" if index else "entry" for index, block in enumerate(blocks)}
    loops = _loops(blocks, labels)
    inside = {label: head for head, members in loops.items() for label in members}
    findings: list[Finding] = []
    for block in blocks:
        label = labels[id(block)]
        here: dict[str, Finding] = {}
        for op in block.operations:
            key = op.attributes.get("key") if op.name == "low.op" else None
            pattern = (
                classify(f"{key}_{op.attributes.get('form', '')}" if _moves_lanes(op) else str(key)) if key else None
            )
            if pattern is None:
                continue
            if pattern.meaning not in here:
                here[pattern.meaning] = Finding(pattern, label, inside.get(label), _line(op))
                findings.append(here[pattern.meaning])
            here[pattern.meaning].keys[str(key).partition(".")[2]] += 1
    return Anatomy(str(chosen[0].symbol), loops, findings)


def _moves_lanes(op: Operation) -> bool:
    """Whether an operand comes from another lane (data-parallel primitives)."""
    return str(op.attributes.get("form", "")).startswith("dpp")


def _line(op: Operation) -> int:
    return op.location.line if op.location is not None else 0


def _loops(blocks: list[Block], labels: dict[int, str]) -> dict[str, list[str]]:
    """Natural loops by layout: an edge to an earlier block closes one; every block between belongs to it."""
    position = {id(block): index for index, block in enumerate(blocks)}
    loops: dict[str, list[str]] = {}
    for index, block in enumerate(blocks):
        for target in block.successors:
            start = position[id(target)]
            if start <= index:
                members = [labels[id(member)] for member in blocks[start : index + 1]]
                known = loops.get(labels[id(target)], [])
                loops[labels[id(target)]] = members if len(members) > len(known) else known
    return loops
