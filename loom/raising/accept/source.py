"""What a form's source must be, and must have beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loom.ir import Module, RegisterType
from loom.store.workload import Shape


@dataclass(frozen=True, slots=True)
class LowUse:
    """An operation that keeps a decision from the compiler: its name, line, and what it fixes."""

    operation: str
    line: int
    reason: str


def low_uses(module: Module) -> list[LowUse]:
    """Every ``low.*`` operation, pinned register and locked region of a module, in source order."""
    found = []
    for op in module.walk():
        line = op.location.line if op.location is not None else 0
        if op.name.startswith("low."):
            found.append(LowUse(op.name, line, _what(op)))
        elif any(isinstance(value.type, RegisterType) for value in (*op.operands, *op.results)):
            found.append(LowUse(op.name, line, "names a register"))
    return found


def _what(op: Any) -> str:
    schedule, allocation = op.attributes.get("schedule"), op.attributes.get("allocation")
    fixed = [f"{key}({value})" for key, value in (("schedule", schedule), ("allocation", allocation)) if value]
    return " ".join(fixed) or "is target code"


def missing_checks(module: Module, shapes: tuple[Shape, ...]) -> list[str]:
    """What a source lacks: a sentence for each shape without its case or its benchmark."""
    missing = []
    for shape in shapes:
        case = module.symbol(shape.case.lstrip("@"))
        if case is None or case.name not in ("check.case", "check.scenario"):
            missing.append(f"shape '{shape.name}' has no case {shape.case}")
        benchmark = module.symbol(shape.benchmark.lstrip("@"))
        if benchmark is None or benchmark.name != "check.benchmark":
            missing.append(f"shape '{shape.name}' has no benchmark {shape.benchmark}")
    return missing
