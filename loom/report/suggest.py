"""What to look at next: rules over a report, each naming the evidence it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loom.report.summary import kernels_of


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing to try. ``experimental`` rules guess more than they know."""

    kernel: str
    rule: str
    question: str
    evidence: str
    action: str
    experimental: bool = False

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "kernel": self.kernel,
            "rule": self.rule,
            "question": self.question,
            "evidence": self.evidence,
            "action": self.action,
            "experimental": self.experimental,
        }


Rule = Callable[[Mapping[str, Any]], Iterator[tuple[str, str, str]]]


def _spills(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    count = row["allocation"]["spill_count"]
    if count:
        names = ", ".join(str(r["value"]) for r in row.get("spill_rows", [])[:4])
        yield (
            "allocation",
            f"{count} registers spilled" + (f" ({names})" if names else ""),
            ("shorten live ranges: smaller tiles, less unrolling, or recompute addresses near their uses"),
        )


def _residency(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    residency = row["residency"]
    if residency["waves"] * 2 <= residency["slots"]:
        limit = residency["limit"]
        action = {
            "vgpr": "fewer live vector registers: see the rows of what lives at the peak",
            "lds": "less work-group memory, or more waves in a work-group",
        }.get(limit, "see the limits of each resource")
        yield "allocation", f"{residency['waves']} of {residency['slots']} waves a SIMD, limited by {limit}", action


def _narrow_access(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    packets = row["economics"]["memory"]["packets"]
    for key, count in packets.items():
        space, kind, width = key.rsplit(".", 2)
        if space in ("global", "buffer") and kind in ("load", "store") and int(width[1:]) <= 32 and count >= 4:
            yield (
                "memory traffic",
                f"{count} {space} {kind}s of {width[1:]} bits",
                ("give neighbouring elements to one work-item and use vector.load/vector.store with a known alignment"),
            )


def _waits(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    mix = row["static_instruction_mix"]
    loads = mix["vector_memory_count"] + mix["local_memory_count"]
    if loads and mix["wait_count"] > loads:
        yield (
            "waits",
            f"{mix['wait_count']} waits for {loads} vector memory and LDS instructions",
            ("issue independent loads together before the first use (pipeline(depth), unrolling)"),
        )


def _copies(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    copies = row["allocation"]["materialized_copy_count"]
    total = row["emission"]["instruction_count"]
    if copies * 20 > total and copies > 4:
        yield (
            "allocation",
            f"{copies} register copies in {total} instructions",
            ("values that are both carried by a loop and used behind it need a copy; use the carried value"),
        )


def _pressure_gap(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for entry in row.get("allocation_high_water_rows", []):
        if entry["class"] == "vgpr" and entry["fragmentation"] > max(4, entry["peak_live_units"] // 8):
            yield (
                "allocation",
                (f"{entry['register_count']} vector registers for {entry['peak_live_units']} live units"),
                "long tuples fragment the file: split wide loads or accumulators",
            )


def _wide_indices(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    wide = [r for r in row.get("target_legalization", []) if r["strategy"].startswith("two words")]
    low = sum(r["low_count"] for r in wide)
    if low * 10 > row["emission"]["instruction_count"]:
        where = sorted({r["location"]["line"] for r in wide if r["location"]})
        yield (
            "scheduling",
            f"{low} instructions compute indices of 64 bits, at line{'s' * (len(where) > 1)} "
            + ", ".join(map(str, where[:4])),
            "bound the sizes with index.assume [range(..)] or where [..], so that 32 bits are enough",
        )


def _exact_math(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    exact = [r for r in row.get("math_legalization", []) if "sequence" in r["strategy"]]
    low = sum(r["low_count"] for r in exact)
    if low * 5 > row["emission"]["instruction_count"]:
        names = ", ".join(sorted({r["op"] for r in exact}))
        yield (
            "scheduling",
            f"{low} instructions compute {names} accurately",
            "where the result may be a few ULP off, write <afn> (divisions also <arcp>)",
        )


RULES: tuple[tuple[str, Rule, bool], ...] = (
    ("spills", _spills, False),
    ("residency", _residency, False),
    ("narrow-access", _narrow_access, False),
    ("waits", _waits, False),
    ("copies", _copies, False),
    ("wide-indices", _wide_indices, False),
    ("exact-math", _exact_math, False),
    ("fragmentation", _pressure_gap, True),
)


def suggest(document: Mapping[str, Any], experimental: bool = False) -> list[Suggestion]:
    """Suggestions for every kernel of a report, in rule order."""
    result = []
    for row in kernels_of(document):
        for name, rule, is_experimental in RULES:
            if is_experimental and not experimental:
                continue
            for question, evidence, action in rule(row):
                result.append(Suggestion(row["target_export"], name, question, evidence, action, is_experimental))
    return result


def render_suggestions(suggestions: list[Suggestion]) -> str:
    """The suggestions as text."""
    if not suggestions:
        return "nothing to suggest\n"
    return "".join(f"{s.kernel}: [{s.question}] {s.evidence}\n    try: {s.action}\n" for s in suggestions)
