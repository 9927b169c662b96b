"""``loom-raise compare``: hold a form's evidence against the native kernel's and the previous form's."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from loom.diagnostics import ExitCode
from loom.tools.common import print_json

HELP = """Compare a form with the native kernel, and with the form before it.

NATIVE, CANDIDATE and PREVIOUS are folders that 'loom-raise execute' wrote. The class is one of identical,
alternative_schedule, semantic_divergence, regression, unavailable. Exit code 1: semantic_divergence or unavailable."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--workload", required=True, metavar="FILE", help="workload.yaml")
    parser.add_argument("--form", required=True, metavar="NAME", help="name of the form")
    parser.add_argument("--native", required=True, metavar="DIR", help="the native kernel's evidence")
    parser.add_argument("--candidate", metavar="DIR", help="the form's evidence")
    parser.add_argument("--rejected", default="", metavar="WHY", help="why the form gave no evidence")
    parser.add_argument("--previous-form", metavar="NAME", help="name of the form before it")
    parser.add_argument("--previous", metavar="DIR", help="that form's evidence")
    parser.add_argument(
        "--tolerance", type=float, default=1.10, metavar="FACTOR", help="how much worse a metric may be (default: 1.1)"
    )
    parser.add_argument("--output", metavar="FILE", help="where the comparison goes (default: stdout)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.raising.compare.classify import Policy, compare, summary
    from loom.raising.compare.evidence import load_evidence
    from loom.store.workload import load_workload

    document = compare(
        load_workload(args.workload, check_files=False),
        args.form,
        load_evidence(Path(args.native)),
        load_evidence(Path(args.candidate)) if args.candidate else None,
        args.previous_form,
        load_evidence(Path(args.previous)) if args.previous else None,
        Policy(args.tolerance),
        args.rejected,
    )
    print_json(document, args.output)
    if document["class"] in ("semantic_divergence", "unavailable"):
        print(summary(document), file=sys.stderr)
        return int(ExitCode.EVIDENCE_FAILED)
    return int(ExitCode.SUCCESS)
