"""``python -m loom.tools.loom_stage``: what the Snakemake rules call: plan, one stage of one workload, report,
verdict.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loom.diagnostics import ExitCode, LoomError, error
from loom.tools.common import make_parser, print_json, run_tool, write_output

if TYPE_CHECKING:
    from loom.raising.ladder.verdict import Row
    from loom.store.config import Config

DESCRIPTION = """The stages of the migration workflow. The rules under workflow/ call this; so may you.

  plan      the chosen workloads and their forms, as JSON
  run       one stage of one workload
  oracles   the kept oracles, lifted again (after a change of the lifter, or of a native artifact)
  report    the HTML report
  verdict   the table of everything, and exit code 1 with a line for each failure"""


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("loom-stage", DESCRIPTION)
    parser.add_argument("--root", default=".", metavar="DIR", help="folder that holds config/ (default: .)")
    parser.add_argument(
        "--config-json",
        default=os.environ.get("LOOM_CONFIG_JSON"),
        metavar="JSON",
        help="use this configuration instead of config/config.yaml (default: $LOOM_CONFIG_JSON)",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("plan", help="the chosen workloads and their forms, as JSON")
    run = verbs.add_parser("run", help="one stage of one workload")
    run.add_argument("workload", help="name of the workload")
    run.add_argument("stage", help="capture oracle relaxed raise compare packet benchmark accept")
    run.add_argument("--form", metavar="NAME", help="the form or rung, for a stage that runs for each")
    verbs.add_parser("oracles", help="lift every chosen workload's kept oracle again")
    verbs.add_parser("report", help="the HTML report")
    verdict = verbs.add_parser("verdict", help="the table, and exit code 1 with a line for each failure")
    verdict.add_argument("--json", action="store_true", help="one JSON document")
    verdict.add_argument("--since", type=int, metavar="BYTES", help="journal mark: count the steps since then")
    return parser


def run(argv: Sequence[str]) -> int:
    """Parse the arguments and do what they ask."""
    from loom.store.config import check_config, load_config

    args = _parser().parse_args(list(argv))
    root = Path(args.root)
    if args.config_json:
        try:
            config = check_config(json.loads(args.config_json), root)
        except ValueError as failure:
            raise error(f"--config-json is not JSON: {failure}", "TOOL/001") from None
    else:
        config = load_config(root)
    return int(
        {"plan": _plan, "run": _run, "oracles": _oracles, "report": _report, "verdict": _verdict}[args.verb](
            args, config
        )
    )


def _plan(args: argparse.Namespace, config: Config) -> int:
    from loom.store.journal import Journal
    from loom.store.layout import Results
    from loom.store.source_hash import package_hash
    from loom.store.workload import load_workload

    workloads = {}
    for name in config.workloads:
        workload = load_workload(config.workload_folder / name / "workload.yaml")
        if workload.name != name:
            raise error(
                f"the workload in '{name}' calls itself '{workload.name}'", "CONFIG/002", workload.place("name")
            )
        workloads[name] = {
            "native": str(workload.artifact),
            "forms": {form.name: str(workload.folder / form.source) for form in workload.forms},
        }
    from loom.raising.ladder.rungs import LOW_RUNGS

    print_json(
        {
            "workloads": workloads,
            "low_rungs": list(LOW_RUNGS),
            "results": str(config.results),
            "device": config.device,
            "sources": package_hash(),
            "journal": Journal(Results(config.results).store.root).size(),
        }
    )
    return 0


def _run(args: argparse.Namespace, config: Config) -> int:
    from loom.raising.ladder.stages import STAGES, Ladder
    from loom.store.layout import Results
    from loom.store.workload import load_workload

    if args.stage not in STAGES:
        raise error(f"no stage '{args.stage}'", "TOOL/001", hint=f"stages: {' '.join(STAGES)}")
    per_form, method = STAGES[args.stage]
    if per_form != (args.form is not None):
        raise error(f"stage '{args.stage}' {'needs' if per_form else 'takes no'} --form", "TOOL/001")
    workload = load_workload(config.workload_folder / args.workload / "workload.yaml")
    results = Results(config.results)
    ladder = Ladder(workload, results, config)
    document = method(ladder, args.form) if per_form else method(ladder)
    results.write_stage(document)
    return 0


def _oracles(args: argparse.Namespace, config: Config) -> int:
    from loom.raising.ladder.stages import Ladder
    from loom.store.layout import Results
    from loom.store.workload import load_workload

    results = Results(config.results)
    for name in config.workloads:
        workload = load_workload(config.workload_folder / name / "workload.yaml")
        path = workload.folder / "oracle.loom"
        text = Ladder(workload, results, config).lifted_oracle()
        before = path.read_bytes() if path.is_file() else b""
        if text != before:
            write_output(str(path), text)
        print(f"{path}: {'as it was' if text == before else 'lifted again'}")
    return 0


def _report(args: argparse.Namespace, config: Config) -> int:
    from loom.raising.page.build import build_report
    from loom.store.layout import Results

    index = build_report(config, Results(config.results))
    print(f"report: {index}")
    return 0


def _verdict(args: argparse.Namespace, config: Config) -> int:
    from loom.raising.ladder.stages import Ladder
    from loom.raising.ladder.verdict import failures, rows_of
    from loom.store.journal import Journal
    from loom.store.layout import Results
    from loom.store.workload import load_workload

    results = Results(config.results)
    rows: list[Row] = []
    lines: list[str] = []
    gates: dict[str, Any] = {}
    for name in config.workloads:
        workload = load_workload(config.workload_folder / name / "workload.yaml")
        own = rows_of(Ladder(workload, results, config))
        acceptance = None
        with contextlib.suppress(LoomError):
            acceptance = results.read_stage(name, "accept")["acceptance"]
        rows.extend(own)
        gates[name] = acceptance
        lines.extend(failures(own, acceptance, name))
    journal = Journal(results.store.root)
    steps = list(journal.since(args.since if args.since is not None else 0))
    executed = sum(1 for step in steps if step["executed"])
    if args.json:
        print_json(
            {
                "rows": [row.to_json() for row in rows],
                "acceptance": gates,
                "failures": lines,
                "steps": {"executed": executed, "cached": len(steps) - executed},
            }
        )
    else:
        _print_table(rows, gates)
        if args.since is not None:
            print(f"{executed} steps executed, {len(steps) - executed} from the action cache")
        page = results.report / "index.html"
        if page.exists():
            print(f"report: {page}")
    for line in lines:
        print(f"failed: {line}", file=sys.stderr)
    return int(ExitCode.EVIDENCE_FAILED if lines else ExitCode.SUCCESS)


_STYLES = {"passed": "green", "failed": "bold red", "unavailable": "yellow", "different": "dim", "regression": "yellow"}


def _print_table(rows: list[Row], gates: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Migration: workload × form", title_justify="left")
    for heading in ("workload", "form", "bytes equal", "numerically equal", "compiler evidence", "physical"):
        table.add_column(heading, no_wrap=True)
    for heading in ("executed native", "form", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    last = None
    for row in rows:
        if last is not None and row.workload != last:
            table.add_section()
        counts = ["–", "–", "–"]
        if row.executed:
            native, form = row.executed
            counts = [f"{native:,.0f}", f"{form:,.0f}", f"{form / native:.2f}" if native else "–"]
        cells = [Text(word, _STYLES.get(word, "")) for word in (row.bytes, row.numerical, row.compiler, row.physical)]
        table.add_row(row.workload if row.workload != last else "", row.rung, *cells, *counts)
        last = row.workload
    width = None if sys.stdout.isatty() else 150
    console = Console(width=width)
    console.print(table)
    for name, acceptance in gates.items():
        if acceptance is None:
            console.print(f"{name}: no acceptance yet", highlight=False)
            continue
        gates_in_order = [(gate, acceptance["gates"][gate]) for gate in ("numerical", "compiler", "physical")]
        words = "; ".join(f"{gate} {item['status']} ({item['reason']})" for gate, item in gates_in_order)
        head = "accepted" if acceptance["accepted"] else "not accepted"
        console.print(f"{name}: {head}: {words}", highlight=False, soft_wrap=True)


def main() -> int:
    """Entry point."""
    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())
