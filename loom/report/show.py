"""A report as text: a page a kernel, and the listing with its source lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loom.report.summary import kernels_of


def render_text(document: Mapping[str, Any], details: bool = False) -> str:
    """The report as text; ``details`` adds the tables."""
    lines: list[str] = []
    identity = document.get("identity", {})
    lines.append(
        f"target {identity.get('target')} wave{identity.get('wave_size')}, pipeline {identity.get('pipeline')}"
    )
    for row in kernels_of(document):
        lines.extend(_kernel(row, details))
    return "\n".join(lines) + "\n"


def _kernel(row: Mapping[str, Any], details: bool) -> list[str]:
    emission = row["emission"]
    resources = row["target_resources"]
    residency = row["residency"]
    mix = {k.removesuffix("_count"): v for k, v in row["static_instruction_mix"].items() if v and k != "total_count"}
    vector, scalar = resources["vector"], resources["scalar"]
    allocation, memory = row["allocation"], row["memory"]
    modes = f"allocation {row['allocation_mode']}, schedule {row['schedule_mode']}"
    limits = f"vgpr {residency['by_vgpr']}, sgpr {residency['by_sgpr']}, lds {residency['by_lds'] or 'any'}"
    added = {k: v for k, v in emission["added_by_emitter"].items() if v}
    lines = [
        "",
        f"kernel {row['target_export']} (@{row['function']}, {modes})",
        f"  code        {emission['instruction_count']} instructions, {emission['code_byte_count']} bytes, "
        f"{emission['block_count']} blocks",
        f"  mix         {_pairs(mix)}",
        f"  registers   {vector['final']['register_count']} VGPR "
        f"(peak {vector['scheduled_pressure']['peak_live_units']}), "
        f"{scalar['final']['register_count']} SGPR (peak {scalar['scheduled_pressure']['peak_live_units']})",
        f"  spills      {allocation['spill_count']} registers, {allocation['materialized_spill_store_count']} stores, "
        f"{allocation['materialized_reload_count']} reloads",
        f"  residency   {residency['waves']} of {residency['slots']} waves a SIMD, "
        f"limit {residency['limit']} ({limits})",
        f"  memory      LDS {memory['workgroup_bytes']}, scratch {memory['private_bytes']}, "
        f"kernarg {memory['kernarg_bytes']} bytes",
        f"  moved       {_pairs(row['economics']['memory']['per_workitem_issued']) or 'nothing'}",
        f"  added       {_pairs(added) or 'nothing'}",
    ]
    for entry in row["wait_reason_summary_rows"]:
        what = f"{entry['counter']} for {entry['producer'] or 'memory'} ({entry['reason']})"
        lines.append(f"  wait        {entry['count']} x {what}")
    if details:
        lines.extend(_tables(row))
    return lines


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _table(title: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    if not rows:
        return []
    cells = [[str(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(len(column), *(len(line[i]) for line in cells)) for i, column in enumerate(columns)]
    lines = ["", f"  {title}", "    " + "  ".join(c.ljust(w) for c, w in zip(columns, widths, strict=True)).rstrip()]
    lines.extend("    " + "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells)
    return lines


def _place(location: Mapping[str, Any] | None) -> str:
    return f"{location['file']}:{location['line']}" if location else "-"


def _tables(row: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    source = row.get("source_low", {}).get("rows", [])
    lines += _table(
        "source to Low",
        [
            {**entry, "source": f"{entry['file']}:{entry['line']}", "mnemonics": _pairs(entry["mnemonics"])}
            for entry in source
        ],
        ("source", "low_count", "machine_count", "mnemonics"),
    )
    lines += _table(
        "waits",
        [
            {
                "block": entry["block"],
                "before": entry["before"],
                "at": _place(entry["location"]),
                "counters": _pairs(entry["counters"]),
                "for": ", ".join(sorted({f"{c['producer']} {_place(c['location'])}" for c in entry["causes"]})),
            }
            for entry in row.get("wait_action_rows", [])
        ],
        ("block", "before", "at", "counters", "for"),
    )
    lines += _table(
        "pressure",
        row.get("pressure_rows", []),
        ("class", "block", "loop_depth", "entry_live_units", "peak_live_units", "exit_live_units"),
    )
    lines += _table(
        "live at the peak",
        [{**entry, "at": _place(entry["location"])} for entry in row.get("pressure_origin_rows", [])],
        ("class", "value", "op", "at", "units", "live_positions", "register"),
    )
    for title, key in (("math legalization", "math_legalization"), ("target legalization", "target_legalization")):
        lines += _table(
            title,
            [
                {**entry, "at": _place(entry["location"]), "flags": "|".join(entry["flags"])}
                for entry in row.get(key, [])
            ],
            ("at", "op", "type", "flags", "strategy", "count", "low_count"),
        )
    lines += _table(
        "memory by root",
        [
            {**entry, "bytes": _pairs(entry["bytes"])}
            for entry in row.get("source_low", {}).get("memory", {}).get("roots", [])
        ],
        ("root", "space", "argument", "packets", "bytes"),
    )
    proofs = row.get("access_proofs")
    if proofs and proofs["unproven_rows"]:
        lines += _table(
            f"accesses without a proof of their bounds, of {proofs['access_count']}",
            [{**entry, "at": _place(entry["location"])} for entry in proofs["unproven_rows"]],
            ("at", "op", "view", "axis", "side"),
        )
    lines += _table(
        "spills",
        [{**entry, "at": _place(entry["location"])} for entry in row.get("spill_rows", [])],
        ("value", "op", "at", "class", "units"),
    )
    return lines


def render_listing(document: Mapping[str, Any]) -> str:
    """The final instructions of every kernel, each run headed by the source line it stems from."""
    sources: dict[str, list[str]] = {}
    lines: list[str] = []
    for row in kernels_of(document):
        lines.append(f"{row['target_export']}:")
        block = None
        last: tuple[str, int] | None = None
        for entry in row.get("listing", []):
            if entry["block"] != block:
                block = entry["block"]
                lines.append(f"{block}:")
            location = entry["location"]
            if location is not None:
                here = (location["file"], location["line"])
                if here != last:
                    last = here
                    lines.append(f"  // {here[0]}:{here[1]}  {_line(sources, *here)}".rstrip())
            pc = "" if entry["pc"] is None or entry["pc"] < 0 else f"{entry['pc']:6x}  "
            lines.append(f"    {pc}{entry['text']}")
        lines.append("")
    return "\n".join(lines)


def _line(sources: dict[str, list[str]], file: str, line: int) -> str:
    known = sources.get(file)
    if known is None:
        try:
            known = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError, ValueError):
            known = []
        sources[file] = known
    return known[line - 1].strip() if 0 < line <= len(known) else ""
