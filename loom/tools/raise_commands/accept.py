"""``loom-raise accept``: the numerical, compiler and physical gates of a workload."""

from __future__ import annotations

import argparse
import json
import sys

from loom.diagnostics import ExitCode, LoomError, error
from loom.tools.common import print_json, read_text, report

HELP = """Judge the last form of a workload by its numerical, compiler and physical gates.

Each gate is passed, failed or unavailable with a reason. Exit code 1: the form is not accepted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--workload", required=True, metavar="FILE", help="workload.yaml")
    parser.add_argument("--form", metavar="NAME", help="name of the form (none yet: leave out)")
    parser.add_argument("--source", metavar="FILE", help="the form's .loom source")
    parser.add_argument("--comparison", metavar="FILE", help="what 'loom-raise compare' wrote")
    parser.add_argument("--test", metavar="FILE", help="what iree-test-loom printed (loom.test.v0)")
    parser.add_argument("--output", metavar="FILE", help="where the verdict goes (default: stdout)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom import parse
    from loom.raising.accept.gates import accept
    from loom.store.workload import load_workload

    module = None
    if args.source:
        try:
            module = parse(read_text(args.source), args.source)
        except LoomError as failure:
            # A source that cannot be read is a verdict, not an obstacle to one.
            report(failure.diagnostics)
    document = accept(
        load_workload(args.workload, check_files=False),
        args.form,
        module,
        _document(args.comparison),
        _document(args.test),
    )
    print_json(document, args.output)
    if not document["accepted"]:
        for name, gate in document["gates"].items():
            print(f"{name}: {gate['status']}: {gate['reason']}", file=sys.stderr)
        return int(ExitCode.EVIDENCE_FAILED)
    return int(ExitCode.SUCCESS)


def _document(path: str | None) -> dict[str, object] | None:
    if path is None:
        return None
    try:
        document = json.loads(read_text(path))
    except ValueError as failure:
        raise error(f"'{path}' is not JSON: {failure}", "TOOL/003") from None
    if not isinstance(document, dict):
        raise error(f"'{path}' holds no JSON object", "TOOL/003")
    return document
