"""``loom-compile-report``: show a compile report, compare two, or say what to look at next."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from loom.diagnostics import ExitCode
from loom.tools.common import make_parser, print_json, read_text, run_tool, write_output

DESCRIPTION = """Work with the reports that loom-compile --compile-report=details writes.

  show FILE        the report as text, or as JSON with --format=json
  diff BEFORE AFTER  what changed; exit code 1 where anything got worse
  suggest FILE     what the evidence asks to be tried

Reports are compared only where their identity (target, kernel, arguments, work-group size) agrees; --force compares
them anyway."""


def run(argv: Sequence[str]) -> int:
    """Parse the command line and do what it says; returns the exit code."""
    parser = make_parser("loom-compile-report", DESCRIPTION)
    parser.add_argument("action", choices=("show", "diff", "suggest"))
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--force", action="store_true", help="compare reports of different identity")
    parser.add_argument("--summary", action="store_true", help="show: without the row tables")
    parser.add_argument(
        "--include-experimental", action="store_true", help="suggest: rules that guess more than they know"
    )
    args = parser.parse_args(list(argv))
    from loom.report.read import parse_report, require_same_identity

    wanted = 2 if args.action == "diff" else 1
    if len(args.files) != wanted:
        parser.error(f"{args.action} takes {wanted} file{'s' * (wanted > 1)}, {len(args.files)} given")
    documents = [parse_report(read_text(path), path) for path in args.files]
    as_json = args.format == "json"
    if args.action == "show":
        from loom.report.show import render_text
        from loom.report.summary import summary_of

        if as_json:
            print_json(summary_of(documents[0]) if args.summary else documents[0])
        else:
            write_output(None, render_text(documents[0], details=not args.summary))
        return int(ExitCode.SUCCESS)
    if args.action == "suggest":
        from loom.report.suggest import render_suggestions, suggest

        found = suggest(documents[0], args.include_experimental)
        if as_json:
            print_json({"suggestions": [s.to_json() for s in found]})
        else:
            write_output(None, render_suggestions(found))
        return int(ExitCode.SUCCESS)
    from loom.report.diff import diff_reports, render_diff

    differences = require_same_identity(documents[0], documents[1], args.force)
    changes = diff_reports(documents[0], documents[1])
    worse = any(change.worse for change in changes)
    if as_json:
        print_json({"identity_differences": differences, "changes": [c.to_json() for c in changes], "worse": worse})
    else:
        for difference in differences:
            print(f"identity differs: {difference}", file=sys.stderr)
        write_output(None, render_diff(changes))
    return int(ExitCode.EVIDENCE_FAILED if worse else ExitCode.SUCCESS)


def main() -> int:
    """Entry point of the console script."""
    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())
