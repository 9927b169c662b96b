"""Two reports side by side: what changed, and which question each change raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loom.report.summary import kernels_of

#: (path in a kernel's report, label, question it raises, whether more is worse)
METRICS: tuple[tuple[tuple[str, ...], str, str, bool], ...] = (
    (("emission", "instruction_count"), "instructions", "scheduling", True),
    (("emission", "code_byte_count"), "code bytes", "scheduling", True),
    (("static_instruction_mix", "vector_alu_count"), "vector ALU", "scheduling", True),
    (("static_instruction_mix", "scalar_alu_count"), "scalar ALU", "scheduling", True),
    (("static_instruction_mix", "vector_memory_count"), "vector memory", "memory traffic", True),
    (("static_instruction_mix", "local_memory_count"), "LDS", "memory traffic", True),
    (("static_instruction_mix", "scalar_memory_count"), "scalar memory", "memory traffic", True),
    (("static_instruction_mix", "matrix_count"), "matrix", "scheduling", True),
    (("static_instruction_mix", "wait_count"), "waits", "waits", True),
    (("static_instruction_mix", "hazard_count"), "waits for the pipeline", "scheduling", True),
    (("target_resources", "vector", "final", "register_count"), "VGPRs", "allocation", True),
    (("target_resources", "scalar", "final", "register_count"), "SGPRs", "allocation", True),
    (("allocation", "spill_count"), "spills", "allocation", True),
    (("allocation", "materialized_copy_count"), "copies", "allocation", True),
    (("memory", "private_bytes"), "scratch bytes", "allocation", True),
    (("memory", "workgroup_bytes"), "LDS bytes", "allocation", True),
    (("residency", "waves"), "waves a SIMD", "allocation", False),
)


@dataclass(frozen=True, slots=True)
class Change:
    """One metric of one kernel that differs."""

    kernel: str
    metric: str
    before: Any
    after: Any
    question: str
    worse: bool

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "kernel": self.kernel,
            "metric": self.metric,
            "before": self.before,
            "after": self.after,
            "question": self.question,
            "worse": self.worse,
        }


def _value(row: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    current: Any = row
    for name in path:
        if not isinstance(current, Mapping) or name not in current:
            return None
        current = current[name]
    return current


def diff_reports(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Every metric that differs, kernel by kernel, in a fixed order; memory traffic by space and kind included."""
    changes: list[Change] = []
    old = {row["target_export"]: row for row in kernels_of(before)}
    new = {row["target_export"]: row for row in kernels_of(after)}
    pairs = [(name, old[name], new[name]) for name in old if name in new]
    if not pairs and len(old) == len(new) == 1:
        (first,), (second,) = old.values(), new.values()
        pairs = [(second["target_export"], first, second)]
    for name, a, b in pairs:
        for path, label, question, more_is_worse in METRICS:
            x, y = _value(a, path), _value(b, path)
            if x != y and x is not None and y is not None:
                changes.append(Change(name, label, x, y, question, (y > x) == more_is_worse))
        moved_a = _value(a, ("economics", "memory", "per_workitem_issued")) or {}
        moved_b = _value(b, ("economics", "memory", "per_workitem_issued")) or {}
        for key in sorted({*moved_a, *moved_b}):
            x, y = moved_a.get(key, 0), moved_b.get(key, 0)
            if x != y:
                changes.append(Change(name, f"bytes {key}", x, y, "memory traffic", y > x))
    for name in sorted(set(old) ^ set(new)) if not pairs or len(pairs) < max(len(old), len(new)) else ():
        if (name in old) != (name in new) and pairs and name not in {p[0] for p in pairs}:
            changes.append(Change(name, "kernel", name in old, name in new, "scheduling", name in old))
    return changes


def render_diff(changes: list[Change]) -> str:
    """The changes as a table."""
    if not changes:
        return "no difference\n"
    width = max(len(f"{c.kernel} {c.metric}") for c in changes)
    lines = []
    for change in changes:
        label = f"{change.kernel} {change.metric}".ljust(width)
        ratio = ""
        if isinstance(change.before, int | float) and isinstance(change.after, int | float) and change.before:
            ratio = f" ({change.after / change.before:.3f}x)"
        mark = "worse " if change.worse else "better"
        lines.append(f"{mark} {label}  {change.before} -> {change.after}{ratio}  [{change.question}]")
    return "\n".join(lines) + "\n"
